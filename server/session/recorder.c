#include "recorder.h"

#include "recorder_wire.h"
#include "segment.h"
#include "server/base/log.h"
#include "server/base/plain_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PLACE_BITS = 16, URGENT_BYTES = 256 * 1024 };

static const ev_tstamp due_after_s = 0.5;
static const ev_tstamp silent_for_s = 10.0;
static const ev_tstamp rehire_after_s = 1.0;

static uint32_t place_of(uint32_t number)
{
	return number & ((1U << PLACE_BITS) - 1);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static bool send_request(const struct recorder *recorder, const struct recorder_request *request, const int fds[2])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)request, .iov_len = sizeof *request};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fds) {
		message.msg_control = control.space;
		message.msg_controllen = CMSG_SPACE(2 * sizeof(int));
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), fds, 2 * sizeof(int));
	}
	return sendmsg(recorder->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *request;
}

static bool send_open(const struct recording *recording)
{
	const struct recorder *recorder = recording->recorder;
	const struct recorder_request request = {
		.type = RECORDER_OPEN, .number = recording->number, .bytes = recording->limit};
	int fds[2] = {openat(recorder->sessions, recording->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW), -1};
	if (fds[0] >= 0)
		fds[1] = plain_file_open(fds[0], JOURNAL_NAME, O_RDONLY, 0);
	bool sent = fds[1] >= 0 && send_request(recorder, &request, fds);
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return sent;
}

/* Where the record goes on. What the ring has given up cannot be had any more: then in its middle, so that it is not given
 * up too before it was recorded. */
static bool place_cursor(struct recording *recording, uint64_t *seq)
{
	const struct journal *journal = recording->journal;
	*seq = recording->last + 1;
	if (recording->has_position && recording->position >= journal_head(journal))
		return true;
	if (*seq > journal_last_seq(journal) + 1)
		return false; /* it is not the record of this journal */
	if (*seq >= journal_first_seq(journal))
		recording->position = journal_find(journal, *seq);
	else
		recording->position = journal_recent(journal, journal_ring(journal) / 2, seq);
	recording->has_position = *seq == recording->last + 1;
	return true;
}

static bool send_advance(struct recording *recording)
{
	struct recorder_request request = {.type = RECORDER_ADVANCE, .number = recording->number};
	if (!place_cursor(recording, &request.seq)) {
		recording->errnum = EILSEQ;
		return false;
	}
	request.position = recording->position;
	return send_request(recording->recorder, &request, NULL);
}

static void make_due(struct recording *recording)
{
	struct recorder *recorder = recording->recorder;
	if (!recording->is_due)
		TAILQ_INSERT_TAIL(&recorder->due, recording, due_link);
	recording->is_due = true;
	if (!ev_is_active(&recorder->due_timer)) {
		ev_timer_set(&recorder->due_timer, due_after_s, 0.);
		ev_timer_start(recorder->loop, &recorder->due_timer);
	}
}

static void not_due(struct recording *recording)
{
	if (recording->is_due)
		TAILQ_REMOVE(&recording->recorder->due, recording, due_link);
	recording->is_due = false;
}

static void ask(struct recording *recording)
{
	struct recorder *recorder = recording->recorder;
	if (recording->is_asked)
		return; /* its report asks again */
	if (recorder->fd < 0 || !(recording->is_open ? send_advance(recording) : send_open(recording))) {
		make_due(recording);
		return;
	}
	not_due(recording);
	recording->is_asked = true;
	if (recorder->open_requests++ == 0)
		ev_timer_again(recorder->loop, &recorder->watchdog);
}

static void send_closes(struct recorder *recorder)
{
	while (recorder->close_count > 0) {
		struct recorder_request request = {.type = RECORDER_CLOSE,
		                                   .number = recorder->closes[recorder->close_count - 1]};
		if (recorder->fd >= 0 && !send_request(recorder, &request, NULL))
			return;
		recorder->close_count--;
	}
}

static void on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct recorder *recorder = timer->data;
	struct recording *recording, *next;
	send_closes(recorder);
	for (recording = TAILQ_FIRST(&recorder->due); recording && recorder->fd >= 0; recording = next) {
		next = TAILQ_NEXT(recording, due_link);
		ask(recording);
	}
}

/* --- hearing ------------------------------------------------------------------------------------------------------ */

static void tell_stop(const struct recording *recording, int errnum)
{
	if (errnum == recording->errnum)
		return;
	if (errnum)
		log_write(LOG_WARN, recording->id, "the record of a session stopped",
		          LOG_FIELDS(log_text("why", strerror(errnum)), log_number("seq", (int64_t)recording->last)));
	else
		log_write(LOG_INFO, recording->id, "the record of a session goes on",
		          LOG_FIELDS(log_number("seq", (int64_t)recording->last)));
}

static void take_report(struct recorder *recorder, const struct recorder_report *report)
{
	uint32_t place = place_of(report->number);
	struct recording *recording = place < recorder->row_count ? recorder->rows[place] : NULL;
	recorder->reports++;
	if (!recording || recording->number != report->number || !recording->is_asked)
		return; /* it was closed meanwhile */
	recording->is_asked = false;
	if (--recorder->open_requests == 0)
		ev_timer_stop(recorder->loop, &recorder->watchdog);
	if (report->is_open) {
		recording->has_position = recording->is_open && !report->is_overrun && !report->errnum;
		recording->first = report->first;
		recording->last = report->last;
		recording->position = report->position;
		recording->bytes = report->bytes;
	}
	recording->is_open = report->is_open;
	tell_stop(recording, report->errnum);
	recording->errnum = report->errnum;
	if (!recording_is_whole(recording))
		recording_appended(recording);
	recording->changed(recording->owner);
}

static void forget_worker(struct recorder *recorder)
{
	if (recorder->fd < 0)
		return;
	ev_io_stop(recorder->loop, &recorder->io);
	ev_timer_stop(recorder->loop, &recorder->watchdog);
	close(recorder->fd);
	recorder->fd = -1;
	recorder->open_requests = 0;
	recorder->close_count = 0;
	for (uint32_t i = 0; i < recorder->row_count; i++) {
		struct recording *recording = recorder->rows[i];
		if (!recording)
			continue;
		recording->is_open = recording->is_asked = recording->has_position = false;
		make_due(recording);
	}
}

static void hire(struct recorder *recorder)
{
	if (recorder->is_hiring || recorder->fd >= 0 || !recorder->hire)
		return;
	recorder->is_hiring = true;
	recorder->hire(recorder->owner);
}

/* At once, but not again and again: one that dies at its start is tried once a second. */
static void replace_worker(struct recorder *recorder, const char *why)
{
	log_write(LOG_WARN, NULL, why, NULL);
	forget_worker(recorder);
	if (ev_is_active(&recorder->rehire))
		return;
	ev_timer_set(&recorder->rehire, rehire_after_s, 0.);
	ev_timer_start(recorder->loop, &recorder->rehire);
	hire(recorder);
}

static void on_rehire(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	hire(timer->data);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	struct recorder *recorder = io->data;
	struct recorder_report report;
	for (int i = 0; i < 64; i++) {
		ssize_t got = recv(io->fd, &report, sizeof report, MSG_DONTWAIT);
		if (got == (ssize_t)sizeof report) {
			take_report(recorder, &report);
			continue;
		}
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		replace_worker(recorder, "the worker that records is gone");
		return;
	}
}

static void on_silence(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct recorder *recorder = timer->data;
	if (recorder->reports == recorder->reports_seen)
		replace_worker(recorder, "the worker that records does not answer");
	recorder->reports_seen = recorder->reports;
}

void recorder_begin(struct recorder *recorder, void (*begin)(void *owner), void *owner)
{
	recorder->hire = begin;
	recorder->owner = owner;
	if (!TAILQ_EMPTY(&recorder->due))
		hire(recorder);
}

void recorder_hired(struct recorder *recorder, int fd)
{
	recorder->is_hiring = false;
	if (fd < 0) {
		ev_timer_set(&recorder->rehire, rehire_after_s, 0.);
		ev_timer_start(recorder->loop, &recorder->rehire);
		return;
	}
	forget_worker(recorder);
	recorder->fd = fd;
	ev_io_init(&recorder->io, on_readable, fd, EV_READ);
	recorder->io.data = recorder;
	ev_io_start(recorder->loop, &recorder->io);
	struct recording *recording, *next;
	for (recording = TAILQ_FIRST(&recorder->due); recording; recording = next) {
		next = TAILQ_NEXT(recording, due_link);
		ask(recording);
	}
}

void recorder_init(struct recorder *recorder, struct ev_loop *loop, int sessions)
{
	*recorder = (struct recorder){.loop = loop, .sessions = sessions, .fd = -1};
	TAILQ_INIT(&recorder->due);
	ev_timer_init(&recorder->due_timer, on_due, 0., 0.);
	ev_timer_init(&recorder->watchdog, on_silence, 0., silent_for_s);
	ev_timer_init(&recorder->rehire, on_rehire, 0., 0.);
	recorder->due_timer.data = recorder->watchdog.data = recorder->rehire.data = recorder;
}

void recorder_finish(struct recorder *recorder)
{
	for (uint32_t i = 0; i < recorder->row_count; i++)
		assert(!recorder->rows[i]);
	forget_worker(recorder);
	ev_timer_stop(recorder->loop, &recorder->due_timer);
	ev_timer_stop(recorder->loop, &recorder->rehire);
	free(recorder->rows);
	free(recorder->closes);
}

/* --- a recording -------------------------------------------------------------------------------------------------- */

static uint32_t take_place(struct recorder *recorder)
{
	uint32_t place = 0;
	while (place < recorder->row_count && recorder->rows[place])
		place++;
	if (place < recorder->row_count)
		return place;
	uint32_t count = recorder->row_count ? 2 * recorder->row_count : 64;
	recorder->rows = realloc(recorder->rows, count * sizeof(struct recording *));
	if (!recorder->rows)
		abort();
	for (uint32_t i = recorder->row_count; i < count; i++)
		recorder->rows[i] = NULL;
	recorder->row_count = count;
	return place;
}

static struct recording *allocate(void)
{
	struct recording *recording = calloc(1, sizeof *recording);
	if (!recording)
		abort();
	return recording;
}

struct recording *recording_create(struct recorder *recorder, const char *id, const struct journal *journal,
                                   uint64_t limit, void (*changed)(void *owner), void *owner)
{
	struct recording *recording = allocate();
	uint32_t place = take_place(recorder);
	*recording = (struct recording){
		.recorder = recorder, .journal = journal, .limit = limit, .first = 1, .changed = changed, .owner = owner};
	recorder->generation = (recorder->generation + 1) & ((1U << (32 - PLACE_BITS)) - 1);
	recording->number = recorder->generation << PLACE_BITS | place;
	memcpy(recording->id, id, SESSION_ID_LENGTH);
	recorder->rows[place] = recording;
	hire(recorder);
	ask(recording);
	return recording;
}

struct recording *recording_load(int directory, uint64_t last, struct error *err)
{
	struct segments segments;
	if (segments_list(&segments, directory, err) < 0)
		return NULL;
	struct recording *recording = allocate();
	recording->bytes = segments.bytes;
	recording->first = segments.count ? segments.rows[0].first : 1;
	uint64_t bytes, next = last + 1;
	int result = 0;
	if (last == 0 && segments.count > 0)
		result = segment_measure(directory, &segments.rows[segments.count - 1], &bytes, &next, err);
	recording->last = next - 1;
	segments_finish(&segments);
	if (result == 0)
		return recording;
	free(recording);
	return NULL;
}

/* The worker must let go of it; that it hears of this may take a moment. */
static void close_in_worker(struct recorder *recorder, uint32_t number)
{
	recorder->closes = realloc(recorder->closes, (recorder->close_count + 1) * sizeof *recorder->closes);
	if (!recorder->closes)
		abort();
	recorder->closes[recorder->close_count++] = number;
	send_closes(recorder);
}

void recording_destroy(struct recording *recording)
{
	struct recorder *recorder = recording ? recording->recorder : NULL;
	if (recorder) {
		not_due(recording);
		if (recording->is_asked && --recorder->open_requests == 0)
			ev_timer_stop(recorder->loop, &recorder->watchdog);
		recorder->rows[place_of(recording->number)] = NULL;
		if (recording->is_open || recording->is_asked)
			close_in_worker(recorder, recording->number);
	}
	free(recording);
}

void recording_appended(struct recording *recording)
{
	if (!recording || recording->is_asked)
		return;
	const struct journal *journal = recording->journal;
	uint64_t urgent = journal_ring(journal) / 8 < URGENT_BYTES ? journal_ring(journal) / 8 : URGENT_BYTES;
	if (recording->is_open && !recording->errnum &&
	    (!recording->has_position || journal_tail(journal) - recording->position >= urgent))
		ask(recording);
	else if (!recording->is_due)
		make_due(recording);
}

void recording_hurry(struct recording *recording)
{
	if (recording && recording->recorder && !recording_is_whole(recording))
		ask(recording);
}

bool recording_is_coming(const struct recording *recording)
{
	return recording->recorder && !recording->errnum &&
	       (recording->recorder->fd >= 0 || recording->recorder->is_hiring ||
	        ev_is_active(&recording->recorder->rehire));
}

bool recording_is_whole(const struct recording *recording)
{
	return !recording->journal || (recording->is_open && recording->last == journal_last_seq(recording->journal));
}
