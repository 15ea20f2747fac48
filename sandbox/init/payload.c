#include "payload.h"

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { NEEDED_SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };

/* Exactly COUNT strings, the last of them ended at the last byte. */
static bool has_strings(const char *bytes, size_t size, uint64_t count)
{
	if (bytes[size - 1] != '\0')
		return false;
	uint64_t found = 0;
	for (const char *at = bytes, *end = bytes + size; at < end && found <= count; found++)
		at = (const char *)memchr(at, '\0', (size_t)(end - at)) + 1;
	return found == count;
}

static const char *last_string(const char *bytes, size_t size)
{
	const char *before = memrchr(bytes, '\0', size - 1);
	return before ? before + 1 : bytes;
}

static int check(struct payload *payload)
{
	if (payload->argc == 0 || !has_strings(payload->bytes, payload->size, (uint64_t)payload->argc + payload->envc + 1))
		return EINVAL;
	payload->cwd = last_string(payload->bytes, payload->size);
	return payload->cwd[0] == '/' ? 0 : ENOTDIR;
}

int payload_map(struct payload *payload, int fd, uint32_t argc, uint32_t envc)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	if (seals < 0 || (seals & NEEDED_SEALS) != NEEDED_SEALS || fstat(fd, &status) < 0)
		return EPERM;
	if (status.st_size < 1)
		return EINVAL;
	if (status.st_size > INIT_PAYLOAD_BYTES)
		return EFBIG;
	*payload = (struct payload){.size = (size_t)status.st_size, .argc = argc, .envc = envc};
	void *bytes = mmap(NULL, payload->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return ENOMEM;
	payload->bytes = bytes;
	int wrong = check(payload);
	if (wrong)
		payload_unmap(payload);
	return wrong;
}

void payload_unmap(struct payload *payload)
{
	if (payload->bytes)
		munmap(payload->bytes, payload->size);
	*payload = (struct payload){0};
}

static char *take_strings(char *at, char **vector, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		vector[i] = at;
		at += strlen(at) + 1;
	}
	vector[count] = NULL;
	return at;
}

int payload_vectors(const struct payload *payload, char ***argv, char ***envp)
{
	size_t slots = 1 + (size_t)payload->argc + 1 + payload->envc + 1;
	char **memory = mmap(NULL, slots * sizeof *memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	*argv = memory + 1;
	*envp = *argv + payload->argc + 1;
	take_strings(take_strings(payload->bytes, *argv, payload->argc), *envp, payload->envc);
	return 0;
}
