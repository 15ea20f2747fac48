#include "gateway.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void gateway_open(struct gateway *gateway)
{
	const struct settings settings = {
		.uid = getuid(),
		.gid = getgid(),
		.open_files = 256,
		.ptmx = "/dev/ptmx",
	};
	int pair[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int ignored[] = {SIGHUP, SIGINT,
	                       SIGQUIT}; /* by who runs the tests in the background; init's boot does this */
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_DFL);
	cr_assert_eq(dup2(null, STDIN_FILENO), STDIN_FILENO); /* as boot.h says */
	close(null);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0); /* orphans come here, as they come to PID 1 */
	gateway->init = init_create(pair[1], &settings);
	cr_assert_not_null(gateway->init);
	gateway->socket = pair[0];
	gateway->epoch = 1;
	gateway_request(gateway, INIT_SYNC, 0, 0, 0);
	gateway_expect(gateway, INIT_SYNCED, 0);
	gateway_expect(gateway, INIT_SYNC_DONE, 0);
}

void gateway_close(struct gateway *gateway)
{
	close(gateway->socket);
	init_destroy(gateway->init);
}

void gateway_turn(struct gateway *gateway, int timeout_ms)
{
	if (gateway->init)
		init_turn(gateway->init, timeout_ms);
}

int gateway_memfd(const void *bytes, size_t size, int seals)
{
	int fd = memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static uint32_t put_strings(FILE *file, const char *const *strings)
{
	uint32_t count = 0;
	for (; strings[count]; count++)
		fwrite(strings[count], 1, strlen(strings[count]) + 1, file);
	return count;
}

int gateway_payload(const struct command *command, struct init_message *message)
{
	static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};
	const char *const cwd[] = {command->cwd ? command->cwd : "/", NULL};
	char *bytes;
	size_t size;
	FILE *file = open_memstream(&bytes, &size);
	message->argc = put_strings(file, command->argv);
	message->envc = put_strings(file, command->envp ? command->envp : environment);
	put_strings(file, cwd);
	fclose(file);
	int fd = gateway_memfd(bytes, size, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
	free(bytes);
	return fd;
}

void gateway_send(struct gateway *gateway, struct init_message message, const int *fds, size_t count)
{
	struct iovec data = {.iov_base = &message, .iov_len = sizeof message};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} ancillary = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
	if (count > 0) {
		ancillary.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&ancillary.header), fds, count * sizeof(int));
		packet.msg_control = &ancillary;
		packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	cr_assert_eq(sendmsg(gateway->socket, &packet, MSG_NOSIGNAL), (ssize_t)sizeof message);
}

void gateway_request(struct gateway *gateway, enum init_message_type type, uint32_t process, int value, uint32_t flags)
{
	const struct init_message message = {
		.type = type,
		.epoch = gateway->epoch,
		.process = process,
		.value = value,
		.flags = flags,
	};
	gateway_send(gateway, message, NULL, 0);
}

void gateway_start(struct gateway *gateway, const struct command *command)
{
	struct init_message message = {
		.type = INIT_START,
		.epoch = gateway->epoch,
		.process = command->process,
		.flags = command->flags,
		.cols = command->cols,
		.rows = command->rows,
	};
	char path[256] = "/dev/null";
	if (command->leaf)
		snprintf(path, sizeof path, "%s/cgroup.procs", command->leaf);
	int fds[] = {gateway_payload(command, &message), open(path, O_WRONLY | O_CLOEXEC)};
	gateway_send(gateway, message, fds, command->flags & INIT_SUBREAPER ? 1 : 2);
	close(fds[0]);
	close(fds[1]);
}

static bool receive(int socket, struct answer *answer)
{
	*answer = (struct answer){0};
	struct iovec data = {.iov_base = &answer->message, .iov_len = sizeof answer->message};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof answer->fds)];
	} ancillary;
	struct msghdr packet = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
	if (recvmsg(socket, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof answer->message)
		return false;
	struct cmsghdr *part = CMSG_FIRSTHDR(&packet);
	if (part) {
		answer->fd_count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(answer->fds, CMSG_DATA(part), answer->fd_count * sizeof(int));
	}
	return true;
}

struct answer gateway_receive(struct gateway *gateway, int timeout_ms)
{
	struct answer answer;
	int64_t deadline = now_ms() + timeout_ms;
	while (!receive(gateway->socket, &answer) && now_ms() < deadline) {
		struct pollfd state = {.fd = gateway->socket, .events = POLLIN};
		gateway_turn(gateway, 2);
		poll(&state, 1, gateway->init ? 0 : 20);
	}
	return answer;
}

static bool is_passed_over(uint32_t type, enum init_message_type wanted)
{
	return type == INIT_DENIED || (type == INIT_EMPTY && wanted != INIT_EMPTY);
}

struct answer gateway_expect(struct gateway *gateway, enum init_message_type type, uint32_t process)
{
	struct answer answer = gateway_receive(gateway, PATIENCE_MS);
	for (; is_passed_over(answer.message.type, type); answer = gateway_receive(gateway, PATIENCE_MS)) {
		if (answer.message.type != INIT_DENIED)
			continue;
		gateway->denials++;
		gateway->denied = answer.message;
	}
	cr_assert_eq(answer.message.type, type, "process %u: type %u instead of %u (value %d, phase %u, flags %u)", process,
	             answer.message.type, type, answer.message.value, answer.message.phase, answer.message.flags);
	cr_assert_eq(answer.message.process, process);
	return answer;
}

size_t gateway_drain(struct gateway *gateway, int fd, char *text, size_t size)
{
	size_t length = 0;
	int64_t deadline = now_ms() + PATIENCE_MS;
	while (length + 1 < size) {
		ssize_t got = read(fd, text + length, size - 1 - length);
		if (got == 0 || (got < 0 && errno == EIO))
			break;
		cr_assert(got > 0 || errno == EAGAIN);
		cr_assert_lt(now_ms(), deadline, "the stream did not end");
		length += got > 0 ? (size_t)got : 0;
		struct pollfd state = {.fd = fd, .events = POLLIN};
		gateway_turn(gateway, 0);
		poll(&state, 1, 5);
	}
	text[length] = '\0';
	close(fd);
	return length;
}

void answer_close(struct answer *answer)
{
	while (answer->fd_count > 0)
		close(answer->fds[--answer->fd_count]);
}

struct init_message gateway_run(struct gateway *gateway, const struct command *command, char *text, size_t size)
{
	gateway_start(gateway, command);
	struct answer started = gateway_expect(gateway, INIT_STARTED, command->process);
	gateway_drain(gateway, started.fds[0], text, size);
	started.fds[0] = started.fds[--started.fd_count];
	answer_close(&started);
	struct answer exited = gateway_expect(gateway, INIT_EXITED, command->process);
	gateway_request(gateway, INIT_FORGET, command->process, 0, 0);
	return exited.message;
}
