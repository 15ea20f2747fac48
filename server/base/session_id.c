#include "session_id.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

void session_id_make(char *id, size_t length)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t random[64];
	assert(length <= sizeof random);
	if (getrandom(random, length, 0) != (ssize_t)length)
		abort();
	for (size_t i = 0; i < length; i++)
		id[i] = alphabet[random[i] & 31];
	id[length] = '\0';
}
