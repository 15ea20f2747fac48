#include "sharing.h"

#include "session.h"

#include <string.h>

static const char *const modes[] = {"open", "driver"};
_Static_assert(sizeof modes / sizeof *modes == INPUT_MODES, "every mode has a name");

static struct ev_loop *loop_of(const struct sharing *sharing)
{
	return sharing->process->session->home->loop;
}

bool sharing_is_open(const struct sharing *sharing)
{
	const struct process *process = sharing->process;
	return process->terminal && process->source_count > 0 && process->sources[0].fd >= 0;
}

/* --- telling -------------------------------------------------------------------------------------------------- */

static void write_driver(struct writer *writer, const struct sharing *sharing)
{
	writer_key_str(writer, "input", modes[sharing->input]);
	writer_str(writer, "driver");
	if (sharing->driver)
		writer_uint(writer, sharing->driver);
	else
		writer_nil(writer);
	writer_key_bool(writer, "away", sharing->is_away);
	writer_str(writer, "requests");
	writer_array(writer, (uint32_t)sharing->request_count);
	for (size_t i = 0; i < sharing->request_count; i++)
		writer_uint(writer, sharing->requests[i]);
	writer_key_str(writer, "size", size_policy_name(sharing->windows.policy));
}

static void save(const struct sharing *sharing)
{
	struct process_record *record = sharing->process->record;
	record->input_mode = (uint8_t)sharing->input;
	record->size_policy = (uint8_t)sharing->windows.policy;
	record->fixed_cols = sharing->windows.fixed.cols;
	record->fixed_rows = sharing->windows.fixed.rows;
	memcpy(record->driver_client, sharing->client, sizeof record->driver_client);
	record->driver = sharing->driver;
}

static uint64_t tell(struct sharing *sharing, const char *change, uint32_t by)
{
	save(sharing);
	struct writer *event = session_event_begin(sharing->process->session, FRAME_DRIVER, 2);
	writer_uint(event, sharing->process->number);
	writer_map(event, 7);
	writer_key_str(event, "change", change);
	writer_key_uint(event, "by", by);
	write_driver(event, sharing);
	return session_event_commit(sharing->process->session);
}

void sharing_write(struct writer *writer, const struct sharing *sharing)
{
	writer_map(writer, SHARING_KEYS);
	writer_key_uint(writer, "process", sharing->process->number);
	writer_key_uint(writer, "cols", sharing->process->cols);
	writer_key_uint(writer, "rows", sharing->process->rows);
	write_driver(writer, sharing);
}

static uint32_t count_open(const struct session *session)
{
	const struct process *process;
	uint32_t count = 0;
	TAILQ_FOREACH(process, &session->processes, link)
		count += sharing_is_open(&process->sharing);
	return count;
}

void sharing_write_all(struct writer *writer, const struct session *session)
{
	const struct process *process;
	uint32_t count = count_open(session), skip = count > SHARING_SHOWN ? count - SHARING_SHOWN : 0;
	writer_array(writer, count - skip);
	TAILQ_FOREACH(process, &session->processes, link)
		if (sharing_is_open(&process->sharing) && (skip == 0 || skip-- == 0))
			sharing_write(writer, &process->sharing);
}

/* --- who drives ----------------------------------------------------------------------------------------------- */

static bool drop_request(struct sharing *sharing, uint32_t participant)
{
	for (size_t i = 0; i < sharing->request_count; i++) {
		if (sharing->requests[i] != participant)
			continue;
		sharing->request_count--;
		memmove(&sharing->requests[i], &sharing->requests[i + 1],
		        (sharing->request_count - i) * sizeof *sharing->requests);
		return true;
	}
	return false;
}

static void no_driver(struct sharing *sharing)
{
	ev_timer_stop(loop_of(sharing), &sharing->away);
	sharing->driver = 0;
	sharing->is_away = false;
}

uint64_t sharing_drive(struct sharing *sharing, const struct channel *channel, const char *change, uint32_t by)
{
	no_driver(sharing);
	drop_request(sharing, channel->participant);
	sharing->driver = channel->participant;
	memcpy(sharing->client, channel->client, sizeof sharing->client);
	uint64_t seq = tell(sharing, change, by);
	windows_choose(&sharing->windows);
	return seq;
}

bool sharing_release(struct sharing *sharing, uint32_t participant)
{
	if (sharing->driver == participant) {
		no_driver(sharing);
		tell(sharing, "released", participant);
		windows_choose(&sharing->windows);
		return true;
	}
	if (!drop_request(sharing, participant))
		return false;
	tell(sharing, "withdrawn", participant);
	return true;
}

bool sharing_request(struct sharing *sharing, uint32_t participant)
{
	for (size_t i = 0; i < sharing->request_count; i++)
		if (sharing->requests[i] == participant)
			return true;
	if (sharing->request_count == SHARING_REQUESTS)
		return false;
	sharing->requests[sharing->request_count++] = participant;
	tell(sharing, "requested", participant);
	return true;
}

bool sharing_lets_type(const struct sharing *sharing, uint32_t participant)
{
	return sharing->input == INPUT_OPEN || sharing->driver == participant;
}

uint64_t sharing_set(struct sharing *sharing, const struct sharing_changes *changes, uint32_t by)
{
	if (changes->input)
		sharing->input = *changes->input;
	if (changes->size) {
		sharing->windows.policy = *changes->size;
		sharing->windows.fixed = changes->fixed;
	}
	uint64_t seq = tell(sharing, "set", by);
	windows_choose(&sharing->windows);
	return seq;
}

/* --- a driver who is away ------------------------------------------------------------------------------------- */

static void on_away_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct sharing *sharing = timer->data;
	no_driver(sharing);
	tell(sharing, "expired", 0);
	windows_choose(&sharing->windows);
}

static void begin_away(struct sharing *sharing)
{
	sharing->is_away = true;
	ev_timer_stop(loop_of(sharing), &sharing->away);
	ev_timer_set(&sharing->away, SHARING_AWAY, 0.);
	ev_timer_start(loop_of(sharing), &sharing->away);
	tell(sharing, "away", sharing->driver);
}

#define FOR_EACH_TERMINAL(process, session)               \
	TAILQ_FOREACH((process), &(session)->processes, link) \
		if (sharing_is_open(&(process)->sharing))

static bool is_driver_again(const struct sharing *sharing, const struct channel *channel)
{
	return channel->role >= ROLE_EDITOR && memcmp(sharing->client, channel->client, CLIENT_ID_BYTES) == 0;
}

void sharing_joined(struct session *session, const struct channel *channel)
{
	struct process *process;
	FOR_EACH_TERMINAL(process, session)
	{
		struct sharing *sharing = &process->sharing;
		if (sharing->is_away && is_driver_again(sharing, channel))
			sharing_drive(sharing, channel, "back", channel->participant);
	}
}

/* Who was quick can be there again already. */
void sharing_go_on(struct sharing *sharing)
{
	if (!sharing->driver || !sharing_is_open(sharing))
		return;
	const struct channel *channel;
	LIST_FOREACH(channel, &sharing->process->session->channels, link) {
		if (!is_driver_again(sharing, channel))
			continue;
		sharing_drive(sharing, channel, "back", channel->participant);
		return;
	}
	begin_away(sharing);
}

void sharing_left(struct session *session, const struct channel *channel, bool is_lost)
{
	struct process *process;
	FOR_EACH_TERMINAL(process, session)
	{
		struct sharing *sharing = &process->sharing;
		if (sharing->driver == channel->participant && is_lost)
			begin_away(sharing);
		else
			sharing_release(sharing, channel->participant);
		windows_choose(&sharing->windows);
	}
}

void sharing_role_changed(struct session *session, const struct channel *channel)
{
	struct process *process;
	FOR_EACH_TERMINAL(process, session)
	{
		if (channel->role < ROLE_EDITOR)
			sharing_release(&process->sharing, channel->participant);
		windows_choose(&process->sharing.windows);
	}
}

/* --- lifecycle ------------------------------------------------------------------------------------------------ */

void sharing_init(struct sharing *sharing, struct process *process)
{
	*sharing = (struct sharing){.process = process};
	ev_timer_init(&sharing->away, on_away_over, SHARING_AWAY, 0.);
	sharing->away.data = sharing;
	windows_init(&sharing->windows, process);
}

void sharing_stop(struct sharing *sharing)
{
	ev_timer_stop(loop_of(sharing), &sharing->away);
	windows_stop(&sharing->windows);
}

void sharing_restore(struct sharing *sharing, const struct process_record *record)
{
	sharing->input = record->input_mode < INPUT_MODES ? (enum input_mode)record->input_mode : INPUT_OPEN;
	if (record->size_policy < SIZE_POLICIES)
		sharing->windows.policy = (enum size_policy)record->size_policy;
	sharing->windows.fixed = (struct window){record->fixed_cols, record->fixed_rows};
	memcpy(sharing->client, record->driver_client, sizeof sharing->client);
	sharing->driver = record->driver;
}
