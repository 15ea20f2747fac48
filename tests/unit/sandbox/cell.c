#include "cell.h"
#include "story.h"
#include "sandbox/init/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, REPLY_MS = 20000 };

/* Tests run at the same time: each has cgroups of its own. */
static const char *cgroup_name(void)
{
	static char name[32];
	snprintf(name, sizeof name, "sandbar-test-%d", getpid());
	return name;
}

struct sandbox_limits cell_limits(void)
{
	struct sandbox_limits limits = sandbox_limits_default();
	limits.memory = 64 << 20;
	limits.workspace = 8 << 20;
	limits.inodes = 200;
	limits.processes = 24;
	limits.ptys = 4;
	return limits;
}

void cell_host(struct cell *cell)
{
	struct error err = {0};
	snprintf(cell->staging, sizeof cell->staging, "/tmp/sandbar-test-XXXXXX");
	EXPECT(mkdtemp(cell->staging), "%s", strerror(errno));
	int init_fd = open(INIT_PROGRAM, O_PATH | O_CLOEXEC);
	if (init_fd < 0 && errno == EACCES)
		story_skip("a user without rights cannot reach %s", INIT_PROGRAM);
	EXPECT(init_fd >= 0, "%s: %s", INIT_PROGRAM, strerror(errno));
	const struct sandbox_host_options options = {
		.init_fd = init_fd, .cgroup_name = cgroup_name(), .staging = cell->staging};
	cell->host = sandbox_host_create(&options, &err);
	if (!cell->host && (err.errnum == EPERM || err.errnum == ENOSPC))
		story_skip("this host forbids it: %s", err.message);
	EXPECT(cell->host, "%s", err.message);
}

void cell_open(struct cell *cell, const struct sandbox_limits *limits)
{
	struct error err = {0};
	if (!cell->host)
		cell_host(cell);
	struct sandbox_spec spec = {.session = "abcdefghijklmn27", .limits = *limits};
	cell->last = 0;
	cell->box = sandbox_box_create(cell->host, &spec, &cell->socket, &err);
	EXPECT(cell->box, "%s", err.message);
}

static void close_box(struct cell *cell)
{
	sandbox_box_kill(cell->box);
	for (int i = 0; !sandbox_box_is_gone(cell->box); i++) {
		EXPECT(i < PATIENCE_MS, "the sandbox does not go");
		poll(NULL, 0, 1);
	}
	sandbox_box_destroy(cell->box);
	cell->box = NULL;
	close(cell->socket);
}

void cell_close(struct cell *cell)
{
	if (cell->box)
		close_box(cell);
	sandbox_host_destroy(cell->host);
	cell->host = NULL;
	EXPECT(rmdir(cell->staging) == 0, "%s", strerror(errno));
}

static int make_payload(const char *script)
{
	static const char *const strings[] = {"/bin/sh",    "-c",   "", "PATH=/usr/local/bin:/usr/bin:/bin",
	                                      "HOME=/work", "/work"};
	int fd = memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
		const char *text = i == 2 ? script : strings[i];
		EXPECT(write(fd, text, strlen(text) + 1) == (ssize_t)strlen(text) + 1, "%s", strerror(errno));
	}
	EXPECT(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0, "%s",
	       strerror(errno));
	return fd;
}

static void send_start(struct cell *cell, const char *script)
{
	struct error err = {0};
	int fds[INIT_MAX_FDS] = {make_payload(script)};
	int count = sandbox_box_leaf(cell->box, ++cell->last, fds + 1, &err);
	EXPECT(count >= 0, "%s", err.message);
	struct init_message message = {
		.type = INIT_START, .process = cell->last, .argc = 3, .envc = 2, .flags = count == 0 ? INIT_SUBREAPER : 0};
	char control[CMSG_SPACE(sizeof fds)] = {0};
	struct iovec iov = {&message, sizeof message};
	size_t bytes = sizeof(int) * (size_t)(count + 1);
	struct msghdr header = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
	*cmsg = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)};
	memcpy(CMSG_DATA(cmsg), fds, bytes);
	EXPECT(sendmsg(cell->socket, &header, 0) == (ssize_t)sizeof message, "%s", strerror(errno));
	for (int i = 0; i <= count; i++)
		close(fds[i]);
}

/* The next message of init; FDS, if it brings any. */
static struct init_message receive(struct cell *cell, int fds[INIT_MAX_FDS])
{
	struct pollfd pollfd = {.fd = cell->socket, .events = POLLIN};
	EXPECT(poll(&pollfd, 1, REPLY_MS) == 1, "init does not answer");
	struct init_message message = {0};
	char control[CMSG_SPACE(sizeof(int) * INIT_MAX_FDS)];
	struct iovec iov = {&message, sizeof message};
	struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	EXPECT(recvmsg(cell->socket, &header, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof message, "init's message is cut");
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
	if (cmsg)
		memcpy(fds, CMSG_DATA(cmsg), cmsg->cmsg_len - CMSG_LEN(0));
	return message;
}

uint32_t cell_start(struct cell *cell, const char *script, int *stream)
{
	char whole[4096];
	int fds[INIT_MAX_FDS] = {-1, -1};
	snprintf(whole, sizeof whole, "exec 2>&1\n%s", script);
	send_start(cell, whole);
	struct init_message message;
	do {
		message = receive(cell, fds);
	} while (message.process != cell->last); /* of an earlier one: it has exited, or nothing of it lives any more */
	EXPECT(message.type == INIT_STARTED, "type %u, phase %u, %s", message.type, message.phase, strerror(message.value));
	close(fds[1]);
	*stream = fds[0];
	return cell->last;
}

ssize_t cell_read(int stream, char *text, size_t size)
{
	struct pollfd pollfd = {.fd = stream, .events = POLLIN};
	EXPECT(poll(&pollfd, 1, PATIENCE_MS) == 1, "no output");
	return read(stream, text, size);
}

static void read_all(int stream, char *text, size_t size)
{
	size_t length = 0;
	while (length < size - 1) {
		struct pollfd pollfd = {.fd = stream, .events = POLLIN};
		EXPECT(poll(&pollfd, 1, REPLY_MS) == 1, "the output does not end");
		ssize_t n = read(stream, text + length, size - 1 - length);
		if (n <= 0)
			break;
		length += (size_t)n;
	}
	text[length] = '\0';
	close(stream);
}

struct ending cell_run(struct cell *cell, const char *script)
{
	int stream, fds[INIT_MAX_FDS];
	struct ending ending;
	uint32_t process = cell_start(cell, script, &stream);
	read_all(stream, ending.output, sizeof ending.output);
	struct init_message message;
	do {
		message = receive(cell, fds);
	} while (message.process != process);
	EXPECT(message.type == INIT_EXITED, "type %u", message.type);
	ending.status = message.value;
	return ending;
}

void cell_wait_empty(struct cell *cell, uint32_t process)
{
	struct error err = {0};
	for (int i = 0; i < PATIENCE_MS; i++) {
		int empty = sandbox_box_leaf_is_empty(cell->box, process, &err);
		EXPECT(empty >= 0, "%s", err.message);
		if (empty)
			return;
		poll(NULL, 0, 1);
	}
	EXPECT(false, "leaf p%u does not become empty", process);
}

unsigned cell_count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	EXPECT(file, "%s", strerror(errno));
	unsigned lines = 0;
	for (int c; (c = getc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static unsigned found;

static int count_ours(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	found += type == FTW_D && strstr(path, cgroup_name());
	return 0;
}

unsigned cell_count_cgroups(void)
{
	found = 0;
	nftw("/sys/fs/cgroup", count_ours, 16, FTW_PHYS);
	return found;
}
