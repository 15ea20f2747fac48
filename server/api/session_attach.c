/* The methods session.attach and session.detach. */
#include "server/guard/gate.h"
#include "session_methods.h"

#include <stddef.h>
#include <string.h>

static const char *const modes[] = {"live", "lossless", NULL};

const struct param attach_params[] = {
	PARAM_SESSION(attach_args),
	{"after", PARAM_OPTIONAL, offsetof(struct attach_args, after), .most = WIRE_INTEGER_MAX,
     .summary = "the last seq that the client has"},
	{"mode", PARAM_CHOICE, offsetof(struct attach_args, mode), .choices = modes},
	{"name", PARAM_TEXT, offsetof(struct attach_args, name), .most = LIMIT_NAME_BYTES, .summary = "shown to others"},
	{"role", PARAM_CHOICE, offsetof(struct attach_args, role), .choices = role_choices},
	{"processes", PARAM_UINTS, offsetof(struct attach_args, processes), .most = 1024,
     .summary = "only these processes' output"},
	{"credit", PARAM_OPTIONAL, offsetof(struct attach_args, credit), .most = WIRE_INTEGER_MAX,
     .summary = "bytes that the channel may be sent"},
	{"replay", PARAM_OPTIONAL, offsetof(struct attach_args, replay), .most = WIRE_INTEGER_MAX,
     .summary = "bytes of events, over which a gap stands for them"},
	{"screens", PARAM_UINT, offsetof(struct attach_args, screens), .most = SCREENS_RATE_MOST,
     .summary = "a second, instead of the output of terminals"},
	{0},
};
const struct attach_args attach_defaults = {.role = -1};

const struct param detach_params[] = {
	{"channel", PARAM_UINT, offsetof(struct detach_args, channel), .required = true, .most = UINT32_MAX},
	{0},
};

static bool options_of(struct call *call, const struct session *session, const struct attach_args *args,
                       struct channel_options *options)
{
	const struct principal there = caller_in_session(call->caller, session), *principal = &there;
	*options = (struct channel_options){
		.has_after = args->after.has,
		.after = args->after.value,
		.mode = args->mode == 1 ? CHANNEL_LOSSLESS : CHANNEL_LIVE,
		.role = gate_role(principal, (enum role)(args->role + 1)),
		.name = args->name ? args->name : call->caller->principal.name,
		.client_name = call->caller->client_name,
		.bearer = caller_bearer(call->caller),
		.processes = args->processes.values,
		.process_count = args->processes.count,
		.has_credit = args->credit.has,
		.credit = args->credit.value,
		.has_replay = args->replay.has,
		.replay = args->replay.value,
		.screens = (uint32_t)args->screens,
	};
	memcpy(options->client, call->caller->client, sizeof options->client);
	if (options->role == ROLE_NONE) {
		const char *highest = role_name(principal_role(principal));
		call_fail(call, CODE_FORBIDDEN, "field", "role", "you may have at most the role `%s` here", highest);
		return false;
	}
	if (options->mode == CHANNEL_LOSSLESS && args->screens > 0) {
		call_fail(call, CODE_INVALID_PARAMS, "field", "screens",
		          "`screens` stand for output, of which `lossless` leaves nothing out");
		return false;
	}
	if (options->mode == CHANNEL_LOSSLESS && !gate_allows_lossless(options->role)) {
		call_fail(call, CODE_FORBIDDEN, "field", "mode", "the mode `lossless` needs the role `editor`");
		return false;
	}
	return true;
}

static void write_stdin_offsets(struct writer *writer, struct session *session, const struct channel *channel)
{
	struct process *process;
	uint32_t count = 0;
	TAILQ_FOREACH(process, &session->processes, link)
		count += input_accepted(&process->input, channel->client) > 0;
	writer_str(writer, "stdin");
	writer_array(writer, count);
	TAILQ_FOREACH(process, &session->processes, link) {
		uint64_t accepted = input_accepted(&process->input, channel->client);
		if (accepted == 0)
			continue;
		writer_array(writer, 2);
		writer_uint(writer, process->number);
		writer_uint(writer, accepted);
	}
}

static const struct channel *attach_to(struct call *call, struct session *session, struct channel_options *options)
{
	const struct channel *channel = call->caller->door->attach(call->caller, session, options);
	if (!channel)
		call_fail(call, CODE_LIMIT, NULL, NULL, "a connection may have at most %d channels", LIMIT_CHANNELS);
	return channel;
}

void handle_session_attach(struct call *call, const void *arguments)
{
	const struct attach_args *args = arguments;
	struct channel_options options;
	struct session *session = call_readable_session(call, args->session);
	if (!session)
		return;
	const struct channel *channel = options_of(call, session, args, &options) ? attach_to(call, session, &options)
	                                                                          : NULL;
	if (!channel) {
		session_channel_gone(session);
		return;
	}
	writer_map(&call->result, 9);
	writer_key_uint(&call->result, "channel", channel->number);
	writer_key_uint(&call->result, "participant", channel->participant);
	writer_key_uint(&call->result, "colour", channel->colour);
	writer_key_uint(&call->result, "first", history_first(session));
	writer_key_uint(&call->result, "last", history_last(session));
	writer_key_str(&call->result, "role", role_name(channel->role));
	write_stdin_offsets(&call->result, session, channel);
	writer_str(&call->result, "participants");
	participants_write(&call->result, session, PARTICIPANTS_SHOWN);
	writer_str(&call->result, "terminals");
	sharing_write_all(&call->result, session);
	call_answer(call);
}

void handle_session_detach(struct call *call, const void *arguments)
{
	const struct detach_args *args = arguments;
	if (call->caller->door->detach(call->caller, (uint32_t)args->channel))
		call_answer_empty(call);
	else
		call_fail(call, CODE_NOT_FOUND, "field", "channel", "this connection has no channel %llu",
		          (unsigned long long)args->channel);
}
