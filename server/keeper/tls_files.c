#include "tls_files.h"

#include "program.h"
#include "server/gateway/inherit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILE_MOST = 1024 * 1024, PATH_BYTES = 32 };

static void inherit(int fd, bool is_inherited)
{
	fcntl(fd, F_SETFD, is_inherited ? 0 : FD_CLOEXEC);
}

/* What is checked are the very copies. */
static int check(const struct tls_files *files, struct error *err)
{
	char cert[PATH_BYTES], key[PATH_BYTES];
	char *argv[] = {(char *)(uintptr_t) "sandbar-keys", (char *)(uintptr_t) "--check-tls", cert, key, NULL};
	snprintf(cert, sizeof cert, "/proc/self/fd/%d", files->cert);
	snprintf(key, sizeof key, "/proc/self/fd/%d", files->key);
	int program = program_open(argv[0], err);
	if (program < 0)
		return -1;
	inherit(files->cert, true);
	inherit(files->key, true);
	int result = program_run(program, argv, err);
	inherit(files->cert, false);
	inherit(files->key, false);
	close(program);
	return result;
}

static bool copy_file(int from, int to)
{
	char bytes[4096];
	size_t copied = 0;
	ssize_t got;
	while ((got = read(from, bytes, sizeof bytes)) > 0 && (copied += (size_t)got) <= FILE_MOST)
		if (write(to, bytes, (size_t)got) != got)
			return false;
	explicit_bzero(bytes, sizeof bytes);
	return got == 0 && fcntl(to, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

static int read_file(const char *path, struct error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return error_set(err, errno, "open `%.180s`", path);
	int copy = memfd_create("tls", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	errno = 0;
	bool good = copy >= 0 && copy_file(file, copy);
	int failed = errno;
	close(file);
	if (good)
		return copy;
	if (copy >= 0)
		close(copy);
	return error_set(err, failed, "read `%.180s` (at most %d bytes)", path, FILE_MOST);
}

int tls_files_open(struct tls_files *files, const char *cert, const char *key, struct error *err)
{
	*files = (struct tls_files){.cert = read_file(cert, err), .key = -1};
	if (files->cert >= 0)
		files->key = read_file(key, err);
	if (files->key >= 0 && check(files, err) == 0)
		return 0;
	tls_files_close(files);
	return -1;
}

void tls_files_close(struct tls_files *files)
{
	if (files->cert >= 0)
		close(files->cert);
	if (files->key >= 0)
		close(files->key);
	*files = (struct tls_files){.cert = -1, .key = -1};
}

int tls_files_send(const struct tls_files *files, int socket, struct error *err)
{
	struct gateway_news news = {.type = NEWS_TLS};
	int fds[] = {files->cert, files->key};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof fds)];
	} control = {.bytes = {0}};
	struct iovec part = {&news, sizeof news};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(header), fds, sizeof fds);
	if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof news)
		return error_set(err, errno, "hand the files of TLS to the gateway");
	return 0;
}
