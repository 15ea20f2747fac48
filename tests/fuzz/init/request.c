/*
 * Init's requests: the whole way from the socket to the answer, with any descriptors and any payload. Nothing that
 * the fuzzer thinks of is executed: a child ends as soon as it is forked.
 *
 * Input: records of struct record, each followed by its payload's bytes.
 */
#include "sandbox/init/init.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FDS = 12, SEALED = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };

struct record {
	struct init_message message;
	uint8_t fds;      /* how many go with it, modulo MOST_FDS */
	uint8_t deafness; /* odd: the answers are not read yet */
	uint8_t seals;    /* 0 = those that are needed, else these */
	uint8_t length;   /* of the message that is sent, less than whole: 0 = whole */
	uint16_t payload; /* bytes that follow */
	uint16_t reserved;
};

pid_t __real_fork(void);
pid_t __wrap_fork(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

pid_t __wrap_fork(void)
{
	pid_t pid = __real_fork();
	if (pid == 0)
		_exit(7);
	return pid;
}

static int make_payload(const uint8_t *bytes, size_t size, uint8_t seals)
{
	int fd = memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fcntl(fd, F_ADD_SEALS, seals ? seals & 0x1f : SEALED) < 0)
		abort();
	return fd;
}

static void send_record(int socket, const struct record *record, int payload)
{
	int fds[MOST_FDS];
	size_t count = record->fds % MOST_FDS;
	for (size_t i = 0; i < count; i++)
		fds[i] = i == 0 ? payload : STDERR_FILENO;
	struct init_message message = record->message;
	size_t length = record->length ? record->length % sizeof message : sizeof message;
	struct iovec data = {.iov_base = &message, .iov_len = length};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fds)];
	} ancillary = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
	if (count > 0) {
		ancillary.header.cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(&ancillary.header), fds, count * sizeof *fds);
		packet.msg_control = &ancillary;
		packet.msg_controllen = CMSG_SPACE(count * sizeof *fds);
	}
	(void)sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void read_answers(int socket)
{
	for (;;) {
		struct init_message message;
		struct iovec data = {.iov_base = &message, .iov_len = sizeof message};
		union {
			struct cmsghdr header;
			char bytes[CMSG_SPACE(4 * sizeof(int))];
		} ancillary;
		struct msghdr packet = {
			.msg_iov = &data, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
		if (recvmsg(socket, &packet, MSG_DONTWAIT) != sizeof message)
			return;
		struct cmsghdr *part = CMSG_FIRSTHDR(&packet);
		for (size_t i = 0; part && i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
			close(fd);
		}
	}
}

static void play(struct init *init, int socket, const uint8_t *data, size_t size)
{
	struct record record;
	while (size >= sizeof record) {
		memcpy(&record, data, sizeof record);
		data += sizeof record;
		size -= sizeof record;
		size_t length = record.payload < size ? record.payload : size;
		int payload = make_payload(data, length, record.seals);
		data += length;
		size -= length;
		send_record(socket, &record, payload);
		close(payload);
		init_turn(init, 0);
		if (!(record.deafness & 1))
			read_answers(socket);
	}
}

static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);
	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct settings settings = {.uid = getuid(), .gid = getgid(), .open_files = 256, .ptmx = "/dev/ptmx"};
	int pair[2], before = lowest_free();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	struct init *init = init_create(pair[1], &settings);
	if (!init)
		abort();
	play(init, pair[0], data, size);
	close(pair[0]);
	while (init_turn(init, 0))
		;
	for (size_t i = 0; i < init->table.count; i++)
		if (init->table.rows[i].child > 0)
			kill(init->table.rows[i].child, SIGKILL); /* it may have been stopped */
	init_destroy(init);
	while (waitpid(-1, NULL, WNOHANG) > 0) /* not waiting: one of them is libFuzzer's symbolizer */
		;
	if (lowest_free() != before)
		abort(); /* a descriptor leaked */
	return 0;
}
