/*
 * What a gateway that was taken over may send to the keeper: any series of messages. The sandboxes below are recorded
 * ones, since a real one takes milliseconds and this wants thousands a second; they check what the keeper must
 * keep to whatever it is asked: no leaf is made twice, used after its removal, or touched in a sandbox that is gone.
 *
 * Input: for each message a byte of its length (0 to 127), then its bytes; the byte 255 lets time pass: what was
 * killed is then gone, and the keeper's loop runs; the byte 254 kills the init of every sandbox; at the byte 253 the
 * gateway dies, and the next one comes. In a message of the right length a session that begins with 0 to 7 becomes an
 * allowed one, so that sessions that exist are hit.
 */
#include "server/base/log.h"
#include "server/keeper/keeper.h"
#include "server/keeper/request.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BOXES = 4, LEAVES = 64, GATEWAY_DIES = 253, INITS_DIE = 254, TIME_PASSES = 255, LENGTHS = 128 };

_Static_assert(sizeof(struct keeper_request) == 96, "the seeds' messages are of this length; others are only refused");

struct sandbox_box {
	struct sandbox_box *next;
	int pidfd;
	bool is_killed, is_gone;
	uint32_t leaves[LEAVES];
	bool was_killed[LEAVES]; /* each */
	size_t leaf_count;
};

struct gateway {
	int socket; /* its end */
	uint64_t epoch;
};

static const struct layer_report layers;
static struct sandbox_box *first;
static unsigned boxes;
static bool time_has_passed;

const struct layer_report *sandbox_host_layers(const struct sandbox_host *host)
{
	(void)host;
	return &layers;
}

struct sandbox_box *sandbox_box_create(struct sandbox_host *host, const struct sandbox_spec *spec, int *init_socket,
                                       struct error *err)
{
	(void)host;
	assert(strspn(spec->session, "abcdefghijklmnopqrstuvwxyz234567") == SESSION_ID_LENGTH);
	assert(!sandbox_limits_check(&spec->limits) && boxes < BOXES);
	if (spec->session[0] == 'z') {
		error_set(err, 0, "this one is never made");
		return NULL;
	}
	struct sandbox_box *box = calloc(1, sizeof *box);
	assert(box);
	box->pidfd = eventfd(0, EFD_CLOEXEC);
	*init_socket = open("/dev/null", O_RDONLY | O_CLOEXEC);
	box->next = first;
	first = box;
	boxes++;
	return box;
}

int sandbox_box_pidfd(const struct sandbox_box *box)
{
	return box->pidfd;
}

void sandbox_box_kill(struct sandbox_box *box)
{
	assert(!box->is_gone);
	box->is_killed = true;
	eventfd_write(box->pidfd, 1);
}

bool sandbox_box_is_gone(struct sandbox_box *box)
{
	assert(box->is_killed && !box->is_gone);
	box->is_gone = time_has_passed;
	return box->is_gone;
}

void sandbox_box_destroy(struct sandbox_box *box)
{
	assert(box->is_gone);
	struct sandbox_box **link = &first;
	while (*link != box)
		link = &(*link)->next;
	*link = box->next;
	close(box->pidfd);
	free(box);
	boxes--;
}

static size_t place_of(const struct sandbox_box *box, uint32_t process)
{
	size_t place = 0;
	while (place < box->leaf_count && box->leaves[place] != process)
		place++;
	return place;
}

static void must_have(const struct sandbox_box *box, uint32_t process)
{
	assert(!box->is_gone && place_of(box, process) < box->leaf_count);
}

int sandbox_box_leaf(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err)
{
	assert(!box->is_killed && process > 0 && place_of(box, process) == box->leaf_count);
	if (box->leaf_count == LEAVES)
		return error_set(err, 0, "no more leaves");
	box->was_killed[box->leaf_count] = false;
	box->leaves[box->leaf_count++] = process;
	fds[0] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return 1;
}

int sandbox_box_leaf_open(struct sandbox_box *box, uint32_t process, int fds[8], struct error *err)
{
	must_have(box, process);
	assert(!box->is_killed && !box->was_killed[place_of(box, process)]);
	if (process % 16 == 13)
		return error_set(err, 0, "this one is never opened again");
	fds[0] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return 1;
}

int sandbox_box_leaf_kill(struct sandbox_box *box, uint32_t process, struct error *err)
{
	must_have(box, process);
	if (process % 16 == 15)
		return error_set(err, 0, "this one is never killed");
	box->was_killed[place_of(box, process)] = true;
	return 0;
}

int sandbox_box_leaf_is_empty(struct sandbox_box *box, uint32_t process, struct error *err)
{
	(void)err;
	must_have(box, process);
	return time_has_passed;
}

int sandbox_box_leaf_events_fd(struct sandbox_box *box, uint32_t process)
{
	must_have(box, process);
	return -1;
}

int sandbox_box_leaf_usage(struct sandbox_box *box, uint32_t process, struct process_usage *usage, struct error *err)
{
	must_have(box, process);
	memset(usage, 0, sizeof *usage);
	return process % 16 == 14 ? error_set(err, 0, "this one cannot be asked") : 0;
}

void sandbox_box_measure(struct sandbox_box *box, struct sandbox_usage *usage)
{
	assert(!box->is_killed);
	memset(usage, 0, sizeof *usage);
}

int sandbox_box_leaf_remove(struct sandbox_box *box, uint32_t process, struct error *err)
{
	(void)err;
	must_have(box, process);
	box->leaf_count--;
	box->was_killed[place_of(box, process)] = box->was_killed[box->leaf_count];
	box->leaves[place_of(box, process)] = box->leaves[box->leaf_count];
	return 0;
}

int sandbox_box_freeze(struct sandbox_box *box, bool frozen, struct error *err)
{
	(void)frozen, (void)err;
	assert(!box->is_killed);
	return 0;
}

/* Replies are read and counted, so that the keeper never waits for room. */
static size_t drain(int socket)
{
	unsigned char bytes[sizeof(struct keeper_created)];
	size_t count = 0;
	while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		count++;
	return count;
}

static void attach(struct keeper *keeper, struct gateway *gateway)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0 ||
	    keeper_attach(keeper, pair[0], ++gateway->epoch, NULL) < 0)
		abort();
	gateway->socket = pair[1];
}

static void detach(struct keeper *keeper, struct gateway *gateway)
{
	keeper_detach(keeper);
	close(gateway->socket);
}

static void pass_time(struct keeper *keeper)
{
	time_has_passed = true;
	while (keeper_deadline(keeper) != UINT64_MAX)
		keeper_run(keeper);
	time_has_passed = false;
}

static void kill_inits(struct keeper *keeper)
{
	for (struct sandbox_box *box = first; box; box = box->next)
		eventfd_write(box->pidfd, 1);
	keeper_run(keeper);
}

/* Take one message, or what happens, from INPUT; returns the bytes that it took. */
static size_t take(struct keeper *keeper, struct gateway *gateway, const uint8_t *input, size_t size)
{
	unsigned char message[LENGTHS];
	size_t length = input[0] % LENGTHS;
	if (input[0] == GATEWAY_DIES) {
		detach(keeper, gateway);
		attach(keeper, gateway);
		return 1;
	}
	if (input[0] >= INITS_DIE) {
		(input[0] == INITS_DIE ? kill_inits : pass_time)(keeper);
		return 1;
	}
	length = length < size - 1 ? length : size - 1;
	memcpy(message, input + 1, length);
	struct keeper_request *request = (struct keeper_request *)(void *)message;
	if (length == sizeof *request && (uint8_t)request->session[0] < 8) {
		memset(request->session, 'a' + request->session[0], sizeof request->session);
		if (request->limits.memory == 0)
			request->limits = sandbox_limits_default();
	}
	keeper_handle(keeper, message, length);
	return 1 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct gateway gateway = {0};
	log_init("fuzz", false, LOG_ERROR);
	struct keeper *keeper = keeper_create(NULL, BOXES, NULL);
	assert(keeper);
	attach(keeper, &gateway);
	while (size > 0) {
		size_t taken = take(keeper, &gateway, input, size);
		drain(gateway.socket);
		input += taken;
		size -= taken;
	}
	detach(keeper, &gateway);
	keeper_end_boxes(keeper);
	pass_time(keeper);
	assert(keeper_boxes(keeper) == 0 && boxes == 0);
	keeper_destroy(keeper);
	return 0;
}
