#include "channel.h"

#include "connection.h"
#include "decode.h"
#include "failure.h"

#include <stdlib.h>
#include <string.h>

enum { ATTACH_PARAMS_BYTES = 64 * 1024 };

static void on_attach_answered(struct sandbar *sandbar, const struct sandbar_error *error, const void *result,
                               size_t length, void *user);

bool channel_follows(const struct sandbar_channel *channel, uint32_t process)
{
	for (size_t i = 0; i < channel->process_count; i++)
		if (channel->processes[i] == process)
			return true;
	return channel->processes == NULL;
}

void channel_report(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error)
{
	if (!channel->is_gone && channel->events->error)
		channel->events->error(channel, process, error, channel->user);
}

void channel_close(struct sandbar_channel *channel, const struct sandbar_error *why)
{
	if (channel->is_gone)
		return;
	if (channel->events->closed)
		channel->events->closed(channel, why, channel->user);
	channel->is_gone = true;
}

/* ---- Attaching ---- */

static void write_processes(struct writer *params, const struct sandbar_channel *channel)
{
	writer_str(params, "processes");
	writer_array(params, (uint32_t)channel->process_count);
	for (size_t i = 0; i < channel->process_count; i++)
		writer_uint(params, channel->processes[i]);
}

static void write_attach(struct writer *params, struct sandbar_channel *channel)
{
	bool has_role = channel->role[0] != '\0', has_processes = channel->processes != NULL;
	uint32_t count = 2U + channel->has_seq + channel->has_name + has_role + has_processes + (channel->window ? 1U : 0) +
	                 (channel->replay ? 1U : 0) + (channel->screens ? 1U : 0);

	writer_init(params, ATTACH_PARAMS_BYTES);
	writer_map(params, count);
	writer_key_str(params, "session", channel->session);
	writer_key_str(params, "mode", channel->lossless ? "lossless" : "live");
	if (channel->has_seq)
		writer_key_uint(params, "after", channel->seq);
	if (channel->has_name)
		writer_key_str(params, "name", channel->name);
	if (has_role)
		writer_key_str(params, "role", channel->role);
	if (has_processes)
		write_processes(params, channel);
	if (channel->window)
		writer_key_uint(params, "credit", channel->granted);
	if (channel->replay)
		writer_key_uint(params, "replay", channel->replay);
	if (channel->screens)
		writer_key_uint(params, "screens", channel->screens);
}

static void attach(struct sandbar_channel *channel)
{
	struct sandbar *sandbar = channel->sandbar;
	struct sandbar_error error;
	struct writer params;

	channel->received = 0;
	channel->granted = channel_first_grant(channel);
	write_attach(&params, channel);
	struct request *row = params.failed
	                          ? NULL
	                          : requests_add(&sandbar->requests, "session.attach", params.data, params.length, &error);
	if (params.failed)
		failure_set(&error, "too_large", "attach to too many processes");
	writer_finish(&params);
	if (!row) {
		channel_close(channel, &error);
		return;
	}
	row->is_first = channel->was_attached;
	row->answer = on_attach_answered;
	row->user = channel;
	channel->request = row->id;
}

void channels_attach(struct sandbar *sandbar)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		if (!channel->is_gone && !channel->is_attached && !channel->request)
			attach(channel);
}

struct attach_answer {
	uint64_t channel, first, last;
	struct reader stdin_list;
};

#define ANSWER_NUMBER(field)                                                \
	static bool read_##field(struct reader *reader, void *into)             \
	{                                                                       \
		return reader_uint(reader, &((struct attach_answer *)into)->field); \
	}

ANSWER_NUMBER(channel)
ANSWER_NUMBER(first)
ANSWER_NUMBER(last)

static bool read_stdin_list(struct reader *reader, void *into)
{
	struct attach_answer *answer = into;

	answer->stdin_list = *reader;
	return reader_skip(reader);
}

static const struct decode_key ANSWER_KEYS[] = {
	{"channel", read_channel}, {"first", read_first}, {"last", read_last}, {"stdin", read_stdin_list}, {NULL, NULL},
};

/* A channel that only wants what happens from now on can resume from here, too. The last event is its own arrival, and
 * comes. */
static void start_from(struct sandbar_channel *channel, uint64_t last)
{
	if (channel->has_seq)
		return;
	channel->has_seq = true;
	channel->seq = last > 0 ? last - 1 : 0;
}

static void on_attach_answered(struct sandbar *sandbar, const struct sandbar_error *error, const void *result,
                               size_t length, void *user)
{
	struct sandbar_channel *channel = user;
	struct attach_answer answer = {0};
	struct reader reader = reader_over(result, length);

	channel->request = 0;
	if (error) {
		bool will_retry = strcmp(error->code, "cut") == 0 && sandbar->phase != PHASE_OVER;
		if (!will_retry)
			channel_close(channel, error);
		return;
	}
	if (!decode_map(&reader, ANSWER_KEYS, &answer) || answer.channel == 0) {
		connection_violated(sandbar, "the answer to session.attach names no channel");
		return;
	}
	channel->number = answer.channel;
	channel->is_attached = channel->was_attached = true;
	start_from(channel, answer.last);
	channel_resume_inputs(channel, &answer.stdin_list);
	if (channel->events->joined)
		channel->events->joined(channel, result, length, channel->user);
	if (channel->events->attached)
		channel->events->attached(channel, answer.first, answer.last, channel->user);
	channel_grant(channel);
	channel_pump(channel);
}

/* ---- The whole list ---- */

void channels_cut(struct sandbar *sandbar)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		channel->is_attached = false;
}

void channels_close(struct sandbar *sandbar, const struct sandbar_error *why)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		channel_close(channel, why);
}

void channels_error(struct sandbar *sandbar, const struct sandbar_error *error)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		channel_report(channel, 0, error);
}

static void free_channel(struct sandbar_channel *channel)
{
	channel_inputs_free(channel);
	offsets_finish(&channel->offsets);
	free(channel->processes);
	free(channel);
}

void channels_sweep(struct sandbar *sandbar)
{
	struct sandbar_channel **link = &sandbar->channels;

	while (*link) {
		struct sandbar_channel *channel = *link;
		if (channel->is_gone) {
			*link = channel->next;
			free_channel(channel);
		} else {
			link = &channel->next;
		}
	}
}

void channels_free(struct sandbar *sandbar)
{
	for (struct sandbar_channel *channel = sandbar->channels; channel; channel = channel->next)
		channel->is_gone = true;
	channels_sweep(sandbar);
}

/* ---- The public side ---- */

static int check_attachment(const struct sandbar_attachment *attachment, struct sandbar_error *error)
{
	if (!attachment->session || strlen(attachment->session) != SANDBAR_SESSION_BYTES - 1)
		return failure_set(error, "not_found", "`%.64s` is not a session: an id has 16 characters of a-z and 2-7",
		                   attachment->session ? attachment->session : "");
	if (attachment->name && strlen(attachment->name) > LIMIT_NAME_BYTES)
		return failure_set(error, "usage", "a name may have at most %d bytes", LIMIT_NAME_BYTES);
	if (attachment->role && role_find(attachment->role, (uint32_t)strlen(attachment->role)) == ROLE_NONE)
		return failure_set(error, "usage", "`%.64s` is not a role: viewer, editor, owner", attachment->role);
	if (!attachment->events)
		return failure_set(error, "usage", "an attachment needs events");
	return 0;
}

static void copy_processes(struct sandbar_channel *channel, const struct sandbar_attachment *attachment)
{
	size_t bytes = attachment->process_count * sizeof(uint32_t);

	if (!attachment->processes)
		return;
	channel->processes = malloc(bytes + sizeof(uint32_t));
	if (!channel->processes)
		abort();
	memcpy(channel->processes, attachment->processes, bytes);
	channel->process_count = attachment->process_count;
}

static void append(struct sandbar *sandbar, struct sandbar_channel *channel)
{
	struct sandbar_channel **link = &sandbar->channels;

	while (*link)
		link = &(*link)->next;
	*link = channel;
}

struct sandbar_channel *sandbar_attach(struct sandbar *sandbar, const struct sandbar_attachment *attachment,
                                       struct sandbar_error *error)
{
	struct sandbar_channel *channel;

	if (check_attachment(attachment, error) < 0)
		return NULL;
	if (sandbar->phase == PHASE_OVER) {
		failure_set(error, "closed", "the connection is closed");
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		abort();
	channel->sandbar = sandbar;
	strcpy(channel->session, attachment->session);
	if ((channel->has_name = attachment->name != NULL))
		strcpy(channel->name, attachment->name);
	if (attachment->role)
		strcpy(channel->role, attachment->role);
	channel->lossless = attachment->lossless;
	channel->window = attachment->window;
	channel->replay = attachment->replay;
	channel->screens = attachment->screens;
	channel->is_paced = attachment->paced;
	channel->has_seq = attachment->after != SANDBAR_FROM_NOW;
	channel->seq = channel->has_seq ? (uint64_t)attachment->after : 0;
	channel->events = attachment->events;
	channel->user = attachment->user;
	copy_processes(channel, attachment);
	append(sandbar, channel);
	if (connection_is_ready(sandbar)) {
		channels_attach(sandbar);
		requests_send_waiting(&sandbar->requests, sandbar->transport);
	}
	return channel;
}

static void detach_number(struct sandbar *sandbar, uint64_t number)
{
	struct writer params;

	writer_init(&params, ATTACH_PARAMS_BYTES);
	writer_map(&params, 1);
	writer_key_uint(&params, "channel", number);
	sandbar_request(sandbar, "session.detach", params.data, params.length, NULL, NULL, NULL);
	writer_finish(&params);
}

/* The answer to a session.attach whose channel was given up meanwhile. */
static void on_late_answer(struct sandbar *sandbar, const struct sandbar_error *error, const void *result,
                           size_t length, void *user)
{
	struct attach_answer answer = {0};
	struct reader reader = reader_over(result, length);

	(void)user;
	if (!error && decode_map(&reader, ANSWER_KEYS, &answer) && answer.channel)
		detach_number(sandbar, answer.channel);
}

void sandbar_detach(struct sandbar_channel *channel)
{
	struct sandbar *sandbar = channel->sandbar;
	struct request *row = channel->request ? requests_find(&sandbar->requests, channel->request) : NULL;

	if (channel->is_gone)
		return;
	channel->is_gone = true;
	if (row) {
		row->answer = on_late_answer;
		row->user = NULL;
	}
	if (channel->is_attached && connection_is_ready(sandbar))
		detach_number(sandbar, channel->number);
}

uint32_t sandbar_drive(struct sandbar_channel *channel, uint32_t process, enum sandbar_drive what, uint32_t participant,
                       sandbar_answer answer, void *user, struct sandbar_error *error)
{
	static const char *const METHODS[] = {
		[SANDBAR_TAKE] = "terminal.take",
		[SANDBAR_RELEASE] = "terminal.release",
		[SANDBAR_REQUEST] = "terminal.request",
		[SANDBAR_GRANT] = "terminal.grant",
	};
	struct writer params;

	if (!channel->is_attached) {
		failure_set(error, "closed", "there is no connection just now");
		return 0;
	}
	writer_init(&params, ATTACH_PARAMS_BYTES);
	writer_map(&params, what == SANDBAR_GRANT ? 3 : 2);
	writer_key_uint(&params, "channel", channel->number);
	writer_key_uint(&params, "process", process);
	if (what == SANDBAR_GRANT)
		writer_key_uint(&params, "participant", participant);
	uint32_t request = sandbar_request(channel->sandbar, METHODS[what], params.data, params.length, answer, user,
	                                   error);
	writer_finish(&params);
	return request;
}

uint64_t sandbar_channel_seq(const struct sandbar_channel *channel)
{
	return channel->has_seq ? channel->seq : 0;
}

struct sandbar *sandbar_channel_connection(const struct sandbar_channel *channel)
{
	return channel->sandbar;
}
