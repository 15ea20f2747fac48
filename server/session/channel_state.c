#include "channel_state.h"

#include "session.h"

#include <stdlib.h>

/* One process that STATE tells of, and the offsets at which its output goes on. */
struct standing {
	const struct process *process;
	struct stream_offset offsets[PROCESS_STREAMS];
	size_t count;
	bool is_seen[PROCESS_STREAMS];
};

struct state {
	struct standing *rows; /* in the order of their numbers */
	size_t count;
	size_t unseen; /* streams whose next OUTPUT was not met yet */
};

/* Whether STATE tells of PROCESS: it had started by AS_OF, and its ending was not told before FROM. */
static bool is_news(const struct process *process, uint64_t from, uint64_t as_of)
{
	bool started = process->started_seq != 0 && process->started_seq <= as_of;
	return started && (process->state != PROCESS_DONE || process->exited_seq >= from);
}

/* Those of now, which hold where no OUTPUT follows. Only the newest, when there are too many. */
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
		state->unseen += row->count;
	}
}

static int compare(const void *number, const void *row)
{
	uint32_t one = *(const uint32_t *)number, other = ((const struct standing *)row)->process->number;
	return one < other ? -1 : one > other;
}

static void take_output(struct state *state, const struct output_header *output)
{
	struct standing *row = bsearch(&output->process, state->rows, state->count, sizeof *state->rows, compare);
	for (size_t i = 0; row && i < row->count; i++) {
		if ((unsigned)row->offsets[i].stream != output->stream || row->is_seen[i])
			continue;
		row->offsets[i].offset = output->offset;
		row->is_seen[i] = true;
		state->unseen--;
	}
}

/* A stream goes on at the offset of its first OUTPUT from event SEQ on. False: not all can be looked at yet. */
static bool look_ahead(struct state *state, struct session *session, uint64_t seq)
{
	struct history ahead;
	const uint8_t *frame;
	size_t length;
	enum history_found found = HISTORY_END;
	history_init(&ahead, session, seq);
	while (state->unseen > 0 && (found = history_look(&ahead, &frame, &length)) != HISTORY_END &&
	       found != HISTORY_LATER) {
		struct output_header output;
		if (found == HISTORY_EVENT && output_header_read(frame, length, &output))
			take_output(state, &output);
		history_step(&ahead);
	}
	history_finish(&ahead);
	return found != HISTORY_LATER;
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

bool channel_state_write(struct writer *writer, struct session *session, uint64_t from, uint64_t next)
{
	struct state state;
	collect(&state, session, from, next - 1);
	bool is_known = look_ahead(&state, session, next);
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
