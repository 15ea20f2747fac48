#include "channel_state.h"

#include "session.h"

#include <stdlib.h>

enum { STATE_AWAITS = 8 /* how often the gap may grow while it is looked how things stand behind it */ };

static const ev_tstamp live_wait_s = 1.0; /* that who is live waits for that at most, rather than for what is new */

/* One process that STATE tells of, and the offsets at which its output goes on. */
struct standing {
	const struct process *process;
	struct stream_offset offsets[PROCESS_STREAMS];
	size_t count;
};

struct state {
	struct standing *rows; /* in the order of their numbers */
	size_t count;
};

/* Whether STATE tells of PROCESS: it had started by AS_OF, and its ending was not told before FROM. */
static bool is_news(const struct process *process, uint64_t from, uint64_t as_of)
{
	bool started = process->started_seq != 0 && process->started_seq <= as_of;
	return started && (process->state != PROCESS_DONE || process->exited_seq >= from);
}

/* Only the newest, when there are too many. */
static void collect(struct state *state, struct session *session, uint64_t from, uint64_t as_of)
{
	const struct process *process;
	size_t count = 0;
	TAILQ_FOREACH(process, &session->processes, link)
		count += is_news(process, from, as_of);
	size_t skip = count > PROCESS_MAPS ? count - PROCESS_MAPS : 0;
	*state = (struct state){.rows = calloc(count - skip + 1, sizeof *state->rows)};
	if (!state->rows)
		abort();
	TAILQ_FOREACH(process, &session->processes, link) {
		if (!is_news(process, from, as_of) || (skip > 0 && skip-- > 0))
			continue;
		struct standing *row = &state->rows[state->count++];
		row->process = process;
		row->count = process_offsets(process, row->offsets);
	}
}

/* False: not all of them are known yet. */
static bool find_offsets(struct state *state, uint64_t next)
{
	bool is_known = true;
	for (size_t row = 0; row < state->count && is_known; row++)
		for (size_t i = 0; i < state->rows[row].count && is_known; i++)
			is_known = lookout_offset(state->rows[row].process, i, next, &state->rows[row].offsets[i].offset);
	return is_known;
}

static void write_state(struct writer *writer, const struct session *session, const struct state *state, uint64_t as_of)
{
	writer_array(writer, 3);
	writer_uint(writer, FRAME_STATE);
	writer_uint(writer, as_of);
	writer_map(writer, 3);
	writer_str(writer, "participants");
	participants_write(writer, session, PARTICIPANTS_SHOWN);
	writer_str(writer, "terminals");
	sharing_write_all(writer, session);
	writer_str(writer, "processes");
	writer_array(writer, (uint32_t)state->count);
	for (size_t i = 0; i < state->count; i++)
		process_write(writer, state->rows[i].process, as_of, state->rows[i].offsets);
}

static bool write_gap(struct channel *channel, uint64_t next)
{
	struct session *session = channel->session;
	struct writer *writer = &channel->own;
	uint64_t from = channel->at.seq;
	struct state state;
	collect(&state, session, from, next - 1);
	bool is_known = find_offsets(&state, next);
	if (!is_known) {
		lookout_ask(session, next);
		is_known = find_offsets(&state, next);
	}
	if (is_known) {
		session->home->counters.gaps++;
		writer_array(writer, 3);
		writer_uint(writer, FRAME_GAP);
		writer_uint(writer, from);
		writer_uint(writer, next - 1);
		write_state(writer, session, &state, next - 1);
	}
	free(state.rows);
	return is_known;
}

/* Others' looks may go first for as long as they fall behind. */
static bool is_overdue(const struct channel *channel)
{
	bool is_live = channel->mode == CHANNEL_LIVE && channel->live_sent;
	return is_live && channel->awaited != 0 && ev_now(channel->session->home->loop) - channel->awaits_s > live_wait_s;
}

bool channel_state_write(struct channel *channel, uint64_t *next)
{
	bool is_told = write_gap(channel, *next);
	if (!is_told && channel->awaited == 0)
		channel->awaits_s = ev_now(channel->session->home->loop);
	if (!is_told && channel->awaited != *next) {
		channel->awaited = *next;
		channel->awaits++;
	}
	/* What is recorded goes away faster than it can be looked through: behind the newest event all is known. */
	if (!is_told && (channel->awaits > STATE_AWAITS || is_overdue(channel))) {
		*next = history_last(channel->session) + 1;
		is_told = write_gap(channel, *next);
	}
	if (is_told)
		channel->awaited = channel->awaits = 0;
	return is_told;
}

bool channel_state_is_awaited(const struct channel *channel)
{
	return channel->awaited != 0 && channel->session->lookout.from == channel->awaited &&
	       lookout_is_under_way(channel->session) && !is_overdue(channel);
}
