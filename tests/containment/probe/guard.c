#include "guard.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_LEAST = 16, WORD_MOST = 64 };

/* The file's bytes as text; false if it cannot be read or does not fit. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	ssize_t length = read(fd, text, size);
	close(fd);
	if (length < 0 || (size_t)length >= size)
		return false;
	text[length] = '\0';
	return true;
}

/* The host's first namespace maps everything onto itself. */
static bool is_in_user_namespace(void)
{
	char text[4096];
	unsigned long inside, outside, count;
	if (!read_text("/proc/self/uid_map", text, sizeof text))
		return false;
	if (sscanf(text, "%lu %lu %lu", &inside, &outside, &count) != 3)
		return false;
	return !(inside == 0 && outside == 0 && count == 4294967295ul);
}

static bool has_word(void)
{
	char text[WORD_MOST + 2];
	const char *word = getenv(GUARD_VARIABLE);
	if (!word || strlen(word) < WORD_LEAST || strlen(word) > WORD_MOST)
		return false;
	if (!read_text(GUARD_FILE, text, sizeof text))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, word) == 0;
}

const char *guard_refusal(void)
{
	if (!is_in_user_namespace())
		return "this is no user namespace: it attacks the machine it runs on";
	if (!has_word())
		return "the word in " GUARD_VARIABLE " and that in " GUARD_FILE " must be the same";
	return NULL;
}

const char *guard_refusal_of_grave(void)
{
	static const char *const lines[] = {"\nCapEff:\t0000000000000000\n", "\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n"};
	static const char *const missing[] = {"capabilities are on", "new privileges are not refused", "no filter is on"};
	char text[8192];
	if (guard_refusal())
		return guard_refusal();
	if (!read_text("/proc/self/status", text, sizeof text))
		return "/proc/self/status cannot be read";
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(text, lines[i]))
			return missing[i];
	return NULL;
}
