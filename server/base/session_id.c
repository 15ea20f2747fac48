#include "session_id.h"

#include <stdlib.h>
#include <sys/random.h>

void session_id_make(char id[SESSION_ID_LENGTH + 1])
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t random[SESSION_ID_LENGTH];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		abort();
	for (size_t i = 0; i < SESSION_ID_LENGTH; i++)
		id[i] = alphabet[random[i] & 31];
	id[SESSION_ID_LENGTH] = '\0';
}
