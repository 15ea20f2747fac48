/*
 * sandbard-worker: does for the gateway what would block its loop. It writes the sessions' records. Started by the keeper,
 * as the gateway's user, with the socket to the gateway as its only descriptor beside the standard ones; it leaves when the
 * gateway closes its end.
 */
#include "follower.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GATEWAY = 3, PLACES = 1 << 16, FDS = 2 };

static struct follower *followers[PLACES];
static uint32_t numbers[PLACES]; /* whose they are */

static uint32_t place_of(uint32_t number)
{
	return number % PLACES;
}

static void open_one(const struct recorder_request *request, const int fds[FDS], struct recorder_report *report)
{
	uint32_t place = place_of(request->number);
	struct error err = {0};
	follower_close(followers[place]); /* a lock of our own would never be had */
	followers[place] = follower_open(fds[0], fds[1], request->bytes, &err);
	numbers[place] = request->number;
	if (followers[place])
		follower_report(followers[place], report);
	else
		report->errnum = err.errnum ? err.errnum : EIO;
}

static struct follower *find(uint32_t number)
{
	return numbers[place_of(number)] == number ? followers[place_of(number)] : NULL;
}

static void close_one(uint32_t number)
{
	struct follower *follower = find(number);
	if (!follower)
		return;
	followers[place_of(number)] = NULL;
	follower_close(follower);
}

static void answer(const struct recorder_report *report)
{
	if (send(GATEWAY, report, sizeof *report, MSG_NOSIGNAL) < 0 && errno != EINTR)
		exit(EXIT_SUCCESS);
}

static void handle(const struct recorder_request *request, const int fds[FDS], size_t count)
{
	struct recorder_report report = {.number = request->number};
	struct follower *follower = find(request->number);
	if (request->type == RECORDER_OPEN && count == FDS)
		open_one(request, fds, &report);
	else if (request->type == RECORDER_ADVANCE && follower)
		follower_advance(follower, request->seq, request->position, &report);
	else if (request->type == RECORDER_CLOSE)
		close_one(request->number);
	if (request->type != RECORDER_CLOSE)
		answer(&report);
}

static size_t take_fds(struct msghdr *message, int fds[FDS])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return 0;
	size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(header), (count < FDS ? count : FDS) * sizeof(int));
	return count < FDS ? count : FDS;
}

/* The next request. False: the gateway is gone. */
static bool receive(struct recorder_request *request, int fds[FDS], size_t *count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(FDS * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = request, .iov_len = sizeof *request};
	ssize_t got;
	struct msghdr message;
	do {
		message = (struct msghdr){
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
		got = recvmsg(GATEWAY, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof *request)
		return false;
	*count = take_fds(&message, fds);
	return true;
}

int main(void)
{
	struct recorder_request request;
	int fds[FDS];
	size_t count;
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return EXIT_FAILURE;
	while (receive(&request, fds, &count))
		handle(&request, fds, count);
	for (size_t i = 0; i < PLACES; i++)
		follower_close(followers[i]);
	return EXIT_SUCCESS;
}
