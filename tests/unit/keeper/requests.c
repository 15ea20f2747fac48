/*
 * A hostile gateway: whatever it sends, each request is answered once, what is not allowed is refused, and the keeper
 * lives on. Against real sandboxes.
 */
#include "keeper_process.h"
#include "server/keeper/request.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct keeper_process keeper;

static const char one[] = "aaaaaaaaaaaaaaaa";
static const char other[] = "bbbbbbbbbbbbbbbb";

static void open_keeper(void)
{
	if (!keeper_process_start(&keeper, 2))
		cr_skip_test("no sandbox can be made here: %s", keeper.failure);
}

static void close_keeper(void)
{
	cr_assert(keeper_process_stop(&keeper), "something was left");
}

static void send_bytes(const void *bytes, size_t size)
{
	cr_assert_eq(send(keeper.socket, bytes, size, 0), (ssize_t)size);
}

/* The next reply; what comes with it is closed, and counted. */
static struct keeper_reply receive(size_t *descriptors)
{
	struct keeper_created created;
	char control[CMSG_SPACE(sizeof(int) * 16)];
	struct iovec part = {.iov_base = &created, .iov_len = sizeof created};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct pollfd poll_fd = {.fd = keeper.socket, .events = POLLIN};
	cr_assert_eq(poll(&poll_fd, 1, 15000), 1, "no answer");
	ssize_t size = recvmsg(keeper.socket, &message, MSG_CMSG_CLOEXEC);
	cr_assert(size == (ssize_t)sizeof created || size == (ssize_t)sizeof created.reply);
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	size_t count = header ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	for (size_t i = 0; i < count; i++)
		close(((int *)(void *)CMSG_DATA(header))[i]);
	if (descriptors)
		*descriptors = count;
	return created.reply;
}

static struct keeper_request request_of(uint32_t type, const char *session, uint32_t process)
{
	static uint32_t id;
	struct keeper_request request = {.type = type, .id = ++id, .process = process};
	memcpy(request.session, session, SESSION_ID_LENGTH);
	if (type == KEEPER_CREATE)
		request.limits = sandbox_limits_default();
	return request;
}

static struct keeper_reply ask(const struct keeper_request *request, size_t *descriptors)
{
	send_bytes(request, sizeof *request);
	struct keeper_reply reply = receive(descriptors);
	cr_assert_eq(reply.id, request->id);
	return reply;
}

static void must_be(uint32_t type, const char *session, uint32_t process, enum keeper_reply_status status,
                    const char *why)
{
	struct keeper_request request = request_of(type, session, process);
	struct keeper_reply reply = ask(&request, NULL);
	cr_assert_eq(reply.status, status, "%s: status %u, %s", why, reply.status, reply.message);
	cr_assert(status == KEEPER_OK || reply.message[0] != '\0', "%s: no reason given", why);
}

/* Before any sandbox exists. */
Test(requests, refuses_what_is_malformed, .timeout = 60)
{
	static const struct {
		uint32_t type;
		const char *session;
		uint32_t process;
		const char *why;
	} rows[] = {
		{0, one, 0, "no type"},
		{KEEPER_REQUEST_TYPES, one, 0, "a type behind the last"},
		{UINT32_MAX, one, 0, "the highest type"},
		{KEEPER_DESTROY, one, 0, "destroy of an unknown session"},
		{KEEPER_LEAF, one, 1, "leaf of an unknown session"},
		{KEEPER_KILL, one, 1, "kill in an unknown session"},
		{KEEPER_DROP_LEAF, one, 1, "drop in an unknown session"},
		{KEEPER_USAGE, one, 1, "usage of an unknown session"},
		{KEEPER_FREEZE, one, 1, "freeze of an unknown session"},
		{KEEPER_MEASURE, one, 0, "measuring an unknown session"},
		{KEEPER_CREATE, "AAAAAAAAAAAAAAAA", 0, "a session of capitals"},
		{KEEPER_CREATE, "../../etc/shadow", 0, "a session that is a path"},
		{KEEPER_CREATE, "aaaaaaaa\0aaaaaaa", 0, "a session with a NUL"},
		{KEEPER_CREATE, "aaaaaaaaaaaaaaa1", 0, "a session with a 1"},
		{KEEPER_CREATE, one, 1, "create with a process"},
		{KEEPER_READY, one, 0, "ready with a session"},
		{KEEPER_ADOPT, one, 0, "adopt with a session"},
	};
	unsigned char bytes[4096] = {0};
	open_keeper();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		must_be(rows[i].type, rows[i].session, rows[i].process, KEEPER_REFUSED, rows[i].why);
	for (size_t size = 1; size <= sizeof bytes; size += size < 200 ? 1 : 991) {
		if (size == sizeof(struct keeper_request))
			continue;
		send_bytes(bytes, size);
		cr_assert_eq(receive(NULL).status, KEEPER_REFUSED, "size %zu", size);
	}
	struct keeper_request request = request_of(KEEPER_CREATE, one, 0);
	request.limits.memory = 1;
	cr_assert_eq(ask(&request, NULL).status, KEEPER_REFUSED, "limits out of range");
	request = request_of(KEEPER_CREATE, one, 0);
	request.required_layers = UINT32_MAX;
	cr_assert_eq(ask(&request, NULL).status, KEEPER_REFUSED, "layers that do not exist");
	must_be(KEEPER_READY, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, KEEPER_OK, "ready");
	must_be(KEEPER_READY, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, KEEPER_REFUSED, "ready, again");
	close_keeper();
}

/* A message without a byte is one too, not the end. */
Test(requests, refuses_an_empty_message, .timeout = 60)
{
	open_keeper();
	cr_assert_eq(send(keeper.socket, "", 0, 0), 0);
	cr_assert_eq(receive(NULL).status, KEEPER_REFUSED);
	must_be(KEEPER_DESTROY, one, 0, KEEPER_REFUSED, "still there");
	close_keeper();
}

Test(requests, keeps_order_in_a_sandbox, .timeout = 60)
{
	size_t descriptors;
	open_keeper();
	struct keeper_request create = request_of(KEEPER_CREATE, one, 0);
	struct keeper_reply reply = ask(&create, &descriptors);
	cr_assert_eq(reply.status, KEEPER_OK, "%s", reply.message);
	cr_assert_eq(descriptors, 1);
	must_be(KEEPER_CREATE, one, 0, KEEPER_REFUSED, "create, again");
	must_be(KEEPER_DESTROY, other, 0, KEEPER_REFUSED, "a foreign session");
	must_be(KEEPER_LEAF, one, 0, KEEPER_REFUSED, "leaf 0");
	must_be(KEEPER_LEAF, one, 1, KEEPER_OK, "leaf 1");
	must_be(KEEPER_LEAF, one, 1, KEEPER_OK, "leaf 1, again");
	must_be(KEEPER_LEAF, one, 7, KEEPER_OK, "leaf 7");
	must_be(KEEPER_LEAF, one, 6, KEEPER_OK, "a number that falls");
	must_be(KEEPER_KILL, one, 6, KEEPER_OK, "kill of what is empty");
	must_be(KEEPER_LEAF, one, 6, KEEPER_REFUSED, "a leaf that was killed");
	must_be(KEEPER_ADOPT, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, KEEPER_REFUSED, "adopt, but not first");
	must_be(KEEPER_USAGE, one, 2, KEEPER_REFUSED, "usage without a leaf");
	must_be(KEEPER_FREEZE, one, 2, KEEPER_REFUSED, "neither on nor off");
	must_be(KEEPER_MEASURE, one, 1, KEEPER_REFUSED, "measuring a process");
	must_be(KEEPER_MEASURE, other, 0, KEEPER_REFUSED, "measuring a foreign session");
	must_be(KEEPER_DROP_LEAF, one, 7, KEEPER_OK, "drop");
	must_be(KEEPER_KILL, one, 7, KEEPER_REFUSED, "kill of what was dropped");
	must_be(KEEPER_CREATE, other, 0, KEEPER_OK, "a second sandbox");
	must_be(KEEPER_CREATE, "cccccccccccccccc", 0, KEEPER_FAILED, "one too many");
	must_be(KEEPER_DESTROY, one, 1, KEEPER_REFUSED, "destroy with a process");
	must_be(KEEPER_DESTROY, one, 0, KEEPER_OK, "destroy");
	must_be(KEEPER_DESTROY, one, 0, KEEPER_REFUSED, "destroy, again");
	must_be(KEEPER_CREATE, "cccccccccccccccc", 0, KEEPER_OK, "there is room again");
	close_keeper();
}

/* Requests that are open together are each answered, those of a sandbox before its end. */
Test(requests, answers_what_is_open_before_the_end, .timeout = 60)
{
	open_keeper();
	must_be(KEEPER_CREATE, one, 0, KEEPER_OK, "create");
	must_be(KEEPER_LEAF, one, 1, KEEPER_OK, "leaf");
	struct keeper_request kill_leaf = request_of(KEEPER_KILL, one, 1);
	struct keeper_request destroy = request_of(KEEPER_DESTROY, one, 0);
	struct keeper_request late = request_of(KEEPER_LEAF, one, 2);
	send_bytes(&kill_leaf, sizeof kill_leaf);
	send_bytes(&destroy, sizeof destroy);
	send_bytes(&late, sizeof late);
	unsigned order = 0, killed = 0, destroyed = 0, refused = 0;
	while (order < 3) {
		struct keeper_reply reply = receive(NULL);
		order++;
		if (reply.id == kill_leaf.id)
			killed = order;
		else if (reply.id == destroy.id)
			destroyed = order;
		else
			refused = reply.status == KEEPER_REFUSED;
	}
	cr_assert(refused, "a leaf was made in a sandbox that ends");
	cr_assert(killed > 0 && killed < destroyed);
	close_keeper();
}

/* Within 200 ms. */
static bool is_taken(const struct keeper_request *request)
{
	struct pollfd poll_fd = {.fd = keeper.socket, .events = POLLOUT};
	return send(keeper.socket, request, sizeof *request, 0) > 0 ||
	       (poll(&poll_fd, 1, 200) == 1 && send(keeper.socket, request, sizeof *request, 0) > 0);
}

/* Who does not read its replies is not read any more; once he reads, every request is answered. */
Test(requests, bounds_what_waits, .timeout = 60)
{
	unsigned sent = 0, answered = 0;
	open_keeper();
	struct keeper_request request = request_of(KEEPER_DESTROY, one, 0);
	while (is_taken(&request))
		cr_assert_lt(++sent, 100000, "the keeper takes everything");
	struct pollfd poll_fd = {.fd = keeper.socket, .events = POLLIN};
	while (poll(&poll_fd, 1, 500) == 1) {
		cr_assert_eq(receive(NULL).status, KEEPER_REFUSED);
		answered++;
	}
	cr_assert_eq(answered, sent);
	must_be(KEEPER_DESTROY, one, 0, KEEPER_REFUSED, "still there");
	close_keeper();
}

static size_t count_descriptors(void)
{
	char path[64];
	size_t count = 0;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)keeper.pid);
	DIR *directory = opendir(path);
	if (!directory)
		cr_skip_test("the keeper's descriptors cannot be seen: %s", strerror(errno));
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void send_with_descriptors(const struct keeper_request *request, size_t count)
{
	int fds[16];
	for (size_t i = 0; i < count; i++)
		fds[i] = STDERR_FILENO;
	char control[CMSG_SPACE(sizeof fds)] = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)request, .iov_len = sizeof *request};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(count * sizeof *fds)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof *fds)};
	memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
	cr_assert_eq(sendmsg(keeper.socket, &message, 0), (ssize_t)sizeof *request);
}

/* No request brings descriptors: those that come all the same are not kept, and change nothing. */
Test(requests, takes_no_descriptors, .timeout = 60)
{
	open_keeper();
	must_be(KEEPER_CREATE, one, 0, KEEPER_OK, "create");
	must_be(KEEPER_FREEZE, one, 0, KEEPER_OK, "thaw"); /* what CREATE had open is closed by now */
	size_t before = count_descriptors();
	for (size_t i = 0; i < 64; i++) {
		struct keeper_request request = request_of(i % 2 ? KEEPER_FREEZE : KEEPER_KILL, one, 0);
		send_with_descriptors(&request, 1 + i % 16);
		cr_assert_eq(receive(NULL).status, i % 2 ? KEEPER_OK : KEEPER_REFUSED);
	}
	cr_assert_eq(count_descriptors(), before, "%zu, before %zu", count_descriptors(), before);
	close_keeper();
}

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

/* Most of what is asked is about two sessions and a few processes, so that it is often allowed. */
static struct keeper_request random_request(void)
{
	static const char *const sessions[] = {one, other, "cccccccccccccccc", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"};
	static const uint32_t processes[] = {0, 0, 1, 2, 3, UINT32_MAX};
	uint32_t type = next_random(KEEPER_REQUEST_TYPES + 1);
	if (type == KEEPER_DESTROY && next_random(4) > 0)
		type = KEEPER_CREATE;
	uint32_t session = type < KEEPER_READY ? next_random(3) : 3;
	uint32_t process = processes[next_random(sizeof processes / sizeof processes[0])];
	struct keeper_request request = request_of(type, sessions[session], type == KEEPER_CREATE ? 0 : process);
	if (next_random(8) == 0)
		((unsigned char *)&request)[8 + next_random(sizeof request - 8)] ^= (unsigned char)(1 + next_random(255));
	return request;
}

/* Each is answered by its id, allowed or not, and the keeper is as it was: two sandboxes at most, and nothing is left. */
Test(requests, survives_a_gateway_that_says_anything, .timeout = 120)
{
	enum { REQUESTS = 600 };
	open_keeper();
	random_state = (uint32_t)getpid();
	cr_log_info("seed %u", random_state);
	uint32_t seed = random_state;
	unsigned allowed = 0;
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct keeper_request request = random_request();
		send_bytes(&request, sizeof request);
		struct keeper_reply reply = receive(NULL);
		cr_assert_eq(reply.id, request.id, "seed %u, request %u: an answer to %u", seed, i, reply.id);
		cr_assert(reply.status <= KEEPER_REFUSED, "seed %u, request %u: status %u", seed, i, reply.status);
		allowed += reply.status == KEEPER_OK;
	}
	cr_assert_gt(allowed, REQUESTS / 20, "seed %u: hardly anything was allowed", seed);
	must_be(KEEPER_DESTROY, "dddddddddddddddd", 0, KEEPER_REFUSED, "another's session");
	close_keeper();
}
