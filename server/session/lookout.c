#include "lookout.h"

#include "session.h"

#include <stdlib.h>

struct sought { /* of one process */
	uint32_t process;
	struct {
		bool is_sought;
		struct quiet found; /* UNTIL: the seq of the OUTPUT, or behind all that is looked through */
	} streams[PROCESS_STREAMS];
};

bool lookout_offset(const struct process *process, size_t i, uint64_t next, uint64_t *offset)
{
	const struct quiet *looked = &process->looked[i];
	bool is_past = process->newest[i] < next, is_known = looked->from <= next && next <= looked->until;
	if (is_past)
		*offset = process->sources[i].offset;
	else if (is_known)
		*offset = looked->offset;
	return is_past || is_known;
}

bool lookout_is_under_way(const struct session *session)
{
	return session->lookout.is_queued;
}

/* --- one ---------------------------------------------------------------------------------------------------------- */

static void dequeue(struct lookout *lookout)
{
	if (lookout->is_queued)
		TAILQ_REMOVE(&lookout->session->home->lookouts.queue, lookout, link);
	lookout->is_queued = false;
}

void lookout_stop(struct session *session)
{
	struct lookout *lookout = &session->lookout;
	dequeue(lookout);
	if (lookout->is_looking)
		history_finish(&lookout->at);
	free(lookout->rows);
	*lookout = (struct lookout){.session = session};
}

/* False: all is known of PROCESS, and stays so when it writes meanwhile. */
static bool seek(struct lookout *lookout, struct sought *row, struct process *process)
{
	uint64_t known;
	size_t before = lookout->unseen;
	*row = (struct sought){.process = process->number};
	for (size_t i = 0; i < process->source_count; i++) {
		if (lookout_offset(process, i, lookout->from, &known)) {
			if (process->newest[i] < lookout->from)
				process->looked[i] = (struct quiet){lookout->from, lookout->until + 1, known};
			continue;
		}
		row->streams[i].is_sought = true;
		row->streams[i].found = (struct quiet){lookout->from, lookout->until + 1, process->sources[i].offset};
		lookout->unseen++;
	}
	return lookout->unseen > before;
}

/* What is written meanwhile need not be looked through: before it, a stream stands where it stands now. */
static void begin(struct session *session, uint64_t next)
{
	struct lookout *lookout = &session->lookout;
	*lookout = (struct lookout){.session = session, .from = next, .until = history_last(session), .is_looking = true};
	lookout->rows = calloc(session->process_count + 1, sizeof *lookout->rows);
	if (!lookout->rows)
		abort();
	struct process *process;
	TAILQ_FOREACH(process, &session->processes, link)
		if (seek(lookout, &lookout->rows[lookout->count], process))
			lookout->count++;
	history_init(&lookout->at, session, next);
}

static int compare(const void *number, const void *row)
{
	uint32_t one = *(const uint32_t *)number, other = ((const struct sought *)row)->process;
	return one < other ? -1 : one > other;
}

static void take_output(struct lookout *lookout, const struct output_header *output)
{
	struct sought *row = bsearch(&output->process, lookout->rows, lookout->count, sizeof *lookout->rows, compare);
	size_t i = output->stream == STREAM_STDERR ? 1 : 0; /* a process has stdout and stderr, or a terminal */
	if (!row || !row->streams[i].is_sought || row->streams[i].found.until <= lookout->until)
		return;
	row->streams[i].found.until = output->seq;
	row->streams[i].found.offset = output->offset;
	lookout->unseen--;
}

/* False: it has to go on another time. */
static bool look_through(struct lookout *lookout, size_t *left)
{
	const uint8_t *frame;
	size_t length;
	while (lookout->unseen > 0 && lookout->at.seq <= lookout->until) {
		enum history_found found = *left > 0 ? history_look(&lookout->at, &frame, &length) : HISTORY_LATER;
		struct output_header output;
		if (found == HISTORY_LATER)
			return false;
		if (found == HISTORY_END)
			return true;
		/* What is missing took the reading of a folder. */
		size_t cost = LOOKOUT_EVENT + (found == HISTORY_EVENT ? length : JOURNAL_READ);
		*left -= cost < *left ? cost : *left;
		if (found == HISTORY_EVENT && output_header_read(frame, length, &output))
			take_output(lookout, &output);
		history_step(&lookout->at);
	}
	return true;
}

/* Both are in the order of numbers; a process may have gone meanwhile. */
static void remember(const struct lookout *lookout)
{
	struct process *process = TAILQ_FIRST(&lookout->session->processes);
	for (size_t row = 0; row < lookout->count; row++) {
		while (process && process->number < lookout->rows[row].process)
			process = TAILQ_NEXT(process, link);
		if (!process || process->number != lookout->rows[row].process)
			continue;
		for (size_t i = 0; i < PROCESS_STREAMS; i++)
			if (lookout->rows[row].streams[i].is_sought)
				process->looked[i] = lookout->rows[row].streams[i].found;
	}
}

static size_t *left_of(struct sessions *sessions)
{
	struct lookouts *lookouts = &sessions->lookouts;
	unsigned iteration = ev_iteration(sessions->loop);
	if (iteration != lookouts->iteration)
		lookouts->left = LOOKOUT_TURN;
	lookouts->iteration = iteration;
	return &lookouts->left;
}

static void advance(struct session *session)
{
	struct lookout *lookout = &session->lookout;
	if (!lookout->is_looking || !look_through(lookout, left_of(session->home)))
		return;
	bool is_awaited = lookout->is_awaited;
	remember(lookout);
	lookout_stop(session);
	if (is_awaited)
		waker_tell(session);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static void take_turns(struct sessions *sessions)
{
	struct lookouts *lookouts = &sessions->lookouts;
	if (TAILQ_EMPTY(&lookouts->queue) || ev_is_active(&lookouts->turn))
		return;
	ev_timer_set(&lookouts->turn, 0., 0.);
	ev_timer_start(sessions->loop, &lookouts->turn);
}

/* Where it waits for the record, or for the loop's next turn, who asked asks again, or it goes on by itself. */
static void queue(struct session *session)
{
	struct lookout *lookout = &session->lookout;
	struct lookouts *lookouts = &session->home->lookouts;
	if (!lookout->is_looking || lookouts->left > 0)
		return;
	TAILQ_INSERT_TAIL(&lookouts->queue, lookout, link);
	lookout->is_queued = true;
	take_turns(session->home);
}

void lookout_ask(struct session *session, uint64_t next)
{
	struct lookout *lookout = &session->lookout;
	if (!lookout->is_queued)
		advance(session);
	if (!lookout->is_looking) {
		begin(session, next);
		advance(session);
	}
	lookout->is_awaited = lookout->is_looking;
	if (!lookout->is_queued)
		queue(session);
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct sessions *sessions = timer->data;
	struct lookout *lookout = TAILQ_FIRST(&sessions->lookouts.queue);
	if (!lookout)
		return;
	struct session *session = lookout->session;
	dequeue(lookout);
	if (LIST_EMPTY(&session->channels)) {
		lookout_stop(session);
	} else {
		advance(session);
		queue(session);
	}
	take_turns(sessions);
}

void lookouts_init(struct sessions *sessions)
{
	TAILQ_INIT(&sessions->lookouts.queue);
	ev_timer_init(&sessions->lookouts.turn, on_turn, 0., 0.);
	sessions->lookouts.turn.data = sessions;
	sessions->lookouts.left = LOOKOUT_TURN;
}

void lookouts_finish(struct sessions *sessions)
{
	ev_timer_stop(sessions->loop, &sessions->lookouts.turn);
}
