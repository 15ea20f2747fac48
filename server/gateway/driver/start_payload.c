#include "start_payload.h"
#include "sandbox/init/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* Strings on their way into the memfd, as many a system call as the kernel takes. */
struct strings {
	int fd;
	size_t total;
	int count;
	struct iovec parts[IOV_MAX];
};

static int flush(struct strings *strings)
{
	size_t bytes = 0;
	for (int i = 0; i < strings->count; i++)
		bytes += strings->parts[i].iov_len;
	ssize_t written = writev(strings->fd, strings->parts, strings->count);
	strings->count = 0;
	if (written < 0)
		return -1;
	errno = ENOSPC;
	return (size_t)written == bytes ? 0 : -1;
}

static int put(struct strings *strings, const char *text)
{
	size_t length = strlen(text) + 1;
	strings->total += length;
	if (strings->total > INIT_PAYLOAD_BYTES) {
		errno = E2BIG;
		return -1;
	}
	if (strings->count == IOV_MAX && flush(strings) < 0)
		return -1;
	strings->parts[strings->count++] = (struct iovec){.iov_base = (void *)(uintptr_t)text, .iov_len = length};
	return 0;
}

static int put_list(struct strings *strings, const char *const *list, uint32_t *count)
{
	for (*count = 0; list[*count]; ++*count)
		if (put(strings, list[*count]) < 0)
			return -1;
	return 0;
}

static int fill(struct start_payload *payload, const struct process_spec *spec)
{
	struct strings strings = {.fd = payload->fd};
	if (put_list(&strings, spec->argv, &payload->argc) < 0 || put_list(&strings, spec->envp, &payload->envc) < 0 ||
	    put(&strings, spec->cwd) < 0 || flush(&strings) < 0)
		return -1;
	return fcntl(payload->fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int start_payload_create(struct start_payload *payload, const struct process_spec *spec, struct error *err)
{
	payload->fd = memfd_create("start", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (payload->fd < 0)
		return error_set(err, errno, "memfd_create");
	if (fill(payload, spec) == 0)
		return 0;
	error_set(err, errno, "pass on the arguments and the environment");
	close(payload->fd);
	payload->fd = -1;
	return -1;
}
