/* Requests that are wrong are refused with their reason; nothing leaks, nothing dies; and a new gateway takes over. */
#include "gateway.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEALED = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };

static size_t count_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void expect_refused(struct gateway *gateway, int errnum, const char *what)
{
	struct answer refused = gateway_receive(gateway, PATIENCE_MS);
	cr_expect_eq(refused.message.type, INIT_REFUSED, "%s: type %u", what, refused.message.type);
	cr_expect_eq((int)refused.message.flags, errnum, "%s: errno %u instead of %d", what, refused.message.flags, errnum);
	answer_close(&refused);
}

static const struct {
	const char *what;
	struct init_message message;
	size_t fd_count;
	int errnum;
} wrong_messages[] = {
	{"no type", {.type = 0}, 0, ENOSYS},
	{"a type that is an answer", {.type = INIT_STARTED, .process = 1}, 0, ENOSYS},
	{"a type far out", {.type = 0xffffffff, .process = 1}, 1, ENOSYS},
	{"a higher epoch", {.type = INIT_FORGET, .process = 1, .epoch = 9}, 0, EPROTO},
	{"a process in SYNC", {.type = INIT_SYNC, .process = 1}, 0, EINVAL},
	{"a descriptor in SYNC", {.type = INIT_SYNC}, 1, EBADF},
	{"a flag in SYNC", {.type = INIT_SYNC, .flags = 1}, 0, EINVAL},
	{"START of 0", {.type = INIT_START, .argc = 1}, 2, EINVAL},
	{"START without descriptors", {.type = INIT_START, .process = 5, .argc = 1}, 0, EBADF},
	{"START without a leaf", {.type = INIT_START, .process = 5, .argc = 1}, 1, EINVAL},
	{"START with both", {.type = INIT_START, .process = 5, .argc = 1, .flags = INIT_SUBREAPER}, 2, EINVAL},
	{"START with ten descriptors", {.type = INIT_START, .process = 5, .argc = 1}, 10, EBADF},
	{"START with a strange flag", {.type = INIT_START, .process = 5, .argc = 1, .flags = 1u << 20}, 2, EINVAL},
	{"a terminal without a size", {.type = INIT_START, .process = 5, .argc = 1, .flags = INIT_TERMINAL}, 2, EINVAL},
	{"START of a known one", {.type = INIT_START, .process = 1, .argc = 1}, 2, EEXIST},
	{"SIGNAL 0", {.type = INIT_SIGNAL, .process = 1, .value = 0}, 0, EINVAL},
	{"SIGNAL 65", {.type = INIT_SIGNAL, .process = 1, .value = 65}, 0, EINVAL},
	{"SIGNAL -1", {.type = INIT_SIGNAL, .process = 1, .value = -1}, 0, EINVAL},
	{"SIGNAL to nobody", {.type = INIT_SIGNAL, .process = 77, .value = 15}, 0, ESRCH},
	{"SIGNAL with a descriptor", {.type = INIT_SIGNAL, .process = 1, .value = 15}, 1, EBADF},
	{"KILL_TREE of nobody", {.type = INIT_KILL_TREE, .process = 77}, 0, ESRCH},
	{"KILL_TREE where the leaf is init's own", {.type = INIT_KILL_TREE, .process = 1}, 0, ECHILD},
	{"SIGNAL to a tree whose leaf is init's own",
     {.type = INIT_SIGNAL, .process = 1, .value = 15, .flags = INIT_SCOPE_TREE},
     0,
     ECHILD},
	{"CLOSE_STDIN of nobody", {.type = INIT_CLOSE_STDIN, .process = 77}, 0, ESRCH},
	{"FORGET of nobody", {.type = INIT_FORGET, .process = 77}, 0, ESRCH},
	{"FORGET of a running one", {.type = INIT_FORGET, .process = 1}, 0, EBUSY},
};

static void start_sleeper(struct gateway *gateway)
{
	gateway_start(gateway, &(struct command){.process = 1, .argv = ARGV("sleep", "60"), .flags = INIT_STDIN});
	struct answer started = gateway_expect(gateway, INIT_STARTED, 1);
	answer_close(&started);
}

static void stop_sleeper(struct gateway *gateway)
{
	gateway_request(gateway, INIT_SIGNAL, 1, SIGKILL, 0);
	gateway_expect(gateway, INIT_EXITED, 1);
	gateway_request(gateway, INIT_FORGET, 1, 0, 0);
	gateway_turn(gateway, 0);
}

Test(init_requests, a_wrong_message_is_refused)
{
	struct gateway gateway;
	gateway_open(&gateway);
	start_sleeper(&gateway);
	size_t before = count_descriptors();
	for (size_t i = 0; i < sizeof wrong_messages / sizeof *wrong_messages; i++) {
		struct init_message message = wrong_messages[i].message;
		message.epoch = message.epoch ? message.epoch : gateway.epoch;
		int fds[16] = {gateway_memfd("true\0/", 7, SEALED), open("/dev/null", O_WRONLY | O_CLOEXEC)};
		for (size_t j = 2; j < 16; j++)
			fds[j] = fds[1];
		gateway_send(&gateway, message, fds, wrong_messages[i].fd_count);
		close(fds[0]);
		close(fds[1]);
		expect_refused(&gateway, wrong_messages[i].errnum, wrong_messages[i].what);
	}
	cr_expect_eq(count_descriptors(), before, "a refused request leaves no descriptor open");
	stop_sleeper(&gateway);
	gateway_close(&gateway);
}

static const struct {
	const char *what;
	const char *bytes;
	size_t size;
	int seals;
	uint32_t argc, envc;
	int errnum;
} wrong_payloads[] = {
	{"empty", "", 0, SEALED, 1, 0, EINVAL},
	{"no arguments", "/", 2, SEALED, 0, 0, EINVAL},
	{"one string too few", "true\0/", 7, SEALED, 1, 1, EINVAL},
	{"one string too many", "true\0x\0/", 9, SEALED, 1, 0, EINVAL},
	{"not ended", "true\0/", 6, SEALED, 1, 0, EINVAL},
	{"counts that overflow", "true\0/", 7, SEALED, 0xffffffff, 0xffffffff, EINVAL},
	{"counts whose 32-bit sum fits", "true\0/", 7, SEALED, 0xffffffff, 2, EINVAL},
	{"a relative directory", "true\0tmp", 9, SEALED, 1, 0, ENOTDIR},
	{"an empty directory", "true\0", 6, SEALED, 1, 0, ENOTDIR},
	{"no seal", "true\0/", 7, 0, 1, 0, EPERM},
	{"may shrink", "true\0/", 7, F_SEAL_WRITE | F_SEAL_GROW, 1, 0, EPERM},
	{"may grow", "true\0/", 7, F_SEAL_WRITE | F_SEAL_SHRINK, 1, 0, EPERM},
	{"may be written", "true\0/", 7, F_SEAL_SHRINK | F_SEAL_GROW, 1, 0, EPERM},
};

static void send_start(struct gateway *gateway, int payload, uint32_t argc, uint32_t envc)
{
	const struct init_message message = {
		.type = INIT_START,
		.epoch = gateway->epoch,
		.process = 5,
		.argc = argc,
		.envc = envc,
		.flags = INIT_SUBREAPER,
	};
	gateway_send(gateway, message, &payload, 1);
	close(payload);
}

Test(init_requests, a_wrong_payload_is_refused)
{
	struct gateway gateway;
	gateway_open(&gateway);
	size_t before = count_descriptors();
	for (size_t i = 0; i < sizeof wrong_payloads / sizeof *wrong_payloads; i++) {
		int fd = gateway_memfd(wrong_payloads[i].bytes, wrong_payloads[i].size, wrong_payloads[i].seals);
		send_start(&gateway, fd, wrong_payloads[i].argc, wrong_payloads[i].envc);
		expect_refused(&gateway, wrong_payloads[i].errnum, wrong_payloads[i].what);
	}
	int pipe_ends[2], large = memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_eq(ftruncate(large, INIT_PAYLOAD_BYTES + 1), 0);
	fcntl(large, F_ADD_SEALS, SEALED);
	send_start(&gateway, large, 1, 0);
	expect_refused(&gateway, EFBIG, "too large");
	cr_assert_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
	close(pipe_ends[1]);
	send_start(&gateway, pipe_ends[0], 1, 0);
	expect_refused(&gateway, EPERM, "a pipe");
	cr_expect_eq(count_descriptors(), before);
	gateway_close(&gateway);
}

Test(init_requests, a_message_of_another_size_is_refused)
{
	struct gateway gateway;
	const char bytes[sizeof(struct init_message) + 8] = {0};
	static const size_t sizes[] = {0, 1, sizeof(struct init_message) - 1, sizeof(struct init_message) + 1,
	                               sizeof bytes};
	gateway_open(&gateway);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		cr_assert_eq(send(gateway.socket, bytes, sizes[i], MSG_NOSIGNAL), (ssize_t)sizes[i]);
		expect_refused(&gateway, EMSGSIZE, "size");
	}
	gateway_close(&gateway);
}

Test(init_requests, a_flood_of_wrong_ones_that_nobody_hears_does_not_end_init)
{
	struct gateway gateway;
	gateway_open(&gateway);
	cr_assert_eq(fcntl(gateway.socket, F_SETFL, O_NONBLOCK), 0);
	size_t sent = 0;
	for (int i = 0; i < 5000; i++) {
		sent += send(gateway.socket, "x", 1, MSG_NOSIGNAL) == 1;
		gateway_turn(&gateway, 0);
	}
	cr_expect_lt(sent, 5000, "reading stops while answers are stuck");
	while (sent-- > 0)
		expect_refused(&gateway, EMSGSIZE, "flood");
	start_sleeper(&gateway);
	stop_sleeper(&gateway);
	gateway_close(&gateway);
}

/* The first gateway dies with all that it was told; the second hears everything again. */
Test(init_requests, a_new_gateway_hears_everything_again)
{
	struct gateway gateway;
	char text[64];
	gateway_open(&gateway);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("cat"), .flags = INIT_STDIN});
	gateway_start(&gateway, &(struct command){.process = 2, .argv = SHELL("echo kept; exit 4")});
	struct answer first = gateway_expect(&gateway, INIT_STARTED, 1);
	struct answer second = gateway_expect(&gateway, INIT_STARTED, 2);
	gateway_expect(&gateway, INIT_EXITED, 2);
	answer_close(&first);
	answer_close(&second);

	gateway.epoch = 2;
	gateway_request(&gateway, INIT_SYNC, 0, 0, 0);
	struct answer synced = gateway_expect(&gateway, INIT_SYNCED, 0);
	cr_expect_eq(synced.message.epoch, 2);
	first = gateway_expect(&gateway, INIT_STARTED, 1);
	second = gateway_expect(&gateway, INIT_STARTED, 2);
	cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 2).message.value, 4 << 8);
	gateway_expect(&gateway, INIT_SYNC_DONE, 0);
	cr_assert_eq(first.fd_count, 3);
	cr_assert_eq(second.fd_count, 2);
	gateway_drain(&gateway, second.fds[0], text, sizeof text);
	cr_expect_str_eq(text, "kept\n");
	close(second.fds[1]);

	gateway_request(&gateway, INIT_FORGET, 2, 0, 0);
	gateway.epoch = 1; /* a late word of the first gateway */
	gateway_request(&gateway, INIT_SIGNAL, 1, SIGKILL, 0);
	cr_expect_eq(gateway_receive(&gateway, 50).message.type, 0);
	gateway.epoch = 2;
	answer_close(&first);
	gateway_request(&gateway, INIT_CLOSE_STDIN, 1, 0, 0);
	cr_expect_eq(gateway_expect(&gateway, INIT_EXITED, 1).message.value, 0);
	gateway_close(&gateway);
}

/* A gateway that died right after its request: the process is started, and its successor told, before SYNC_DONE. What
 * init wrote to the dead one has its epoch. */
Test(init_requests, a_start_of_a_dead_gateway_is_told_to_the_next)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_request(&gateway, INIT_KILL_TREE, 9, 0, 0); /* is refused, which nobody reads any more */
	gateway_turn(&gateway, 0);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("sleep", "100")});
	gateway_start(&gateway, &(struct command){.process = 2, .argv = ARGV("/no/such/program")});
	gateway.epoch = 2;
	gateway_request(&gateway, INIT_SYNC, 0, 0, 0);
	struct answer stale = gateway_expect(&gateway, INIT_REFUSED, 9);
	cr_expect_eq(stale.message.epoch, 1);
	cr_expect_eq(gateway_expect(&gateway, INIT_SYNCED, 0).message.epoch, 2);
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	cr_expect_eq(started.message.epoch, 2);
	answer_close(&started);
	gateway_expect(&gateway, INIT_START_FAILED, 2);
	gateway_expect(&gateway, INIT_SYNC_DONE, 0);
	gateway_request(&gateway, INIT_SIGNAL, 1, SIGKILL, 0);
	gateway_expect(&gateway, INIT_EXITED, 1);
	gateway_close(&gateway);
}

/* Ten gateways die one after the other without having read a word: no descriptor is left of what they were sent, and
 * the last one hears everything once. */
Test(init_requests, gateways_that_never_listened_leave_nothing)
{
	struct gateway gateway;
	gateway_open(&gateway);
	gateway_start(&gateway, &(struct command){.process = 1, .argv = ARGV("cat"), .flags = INIT_STDIN});
	struct answer started = gateway_expect(&gateway, INIT_STARTED, 1);
	answer_close(&started);
	size_t before = count_descriptors();
	for (gateway.epoch = 2; gateway.epoch <= 11; gateway.epoch++) {
		gateway_request(&gateway, INIT_SYNC, 0, 0, 0);
		gateway_turn(&gateway, 0);
	}
	gateway.epoch = 11;
	struct answer answer;
	unsigned told = 0;
	do {
		answer = gateway_receive(&gateway, PATIENCE_MS);
		told += answer.message.type == INIT_STARTED && answer.message.epoch == 11;
		cr_expect_eq(answer.fd_count, answer.message.type == INIT_STARTED ? 3 : 0);
		answer_close(&answer);
	} while (answer.message.type != INIT_SYNC_DONE || answer.message.epoch != 11);
	cr_expect_eq(told, 1);
	cr_expect_eq(count_descriptors(), before);
	gateway_close(&gateway);
}
