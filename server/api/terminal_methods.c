#include "terminal_methods.h"

#include "server/guard/gate.h"
#include "session_methods.h"

#include <stddef.h>

static const char *const input_choices[] = {"open", "driver", NULL};                        /* enum input_mode */
static const char *const size_choices[] = {"driver", "smallest", "largest", "fixed", NULL}; /* enum size_policy */

#define SET(field) offsetof(struct terminal_set_args, field)

const struct param terminal_set_params[] = {
	PARAM_SESSION(terminal_set_args),
	{"process", PARAM_UINT, SET(process), .required = true, .least = 1, .most = UINT32_MAX},
	{"input", PARAM_CHOICE, SET(input), .choices = input_choices, .summary = "who types"},
	{"size", PARAM_CHOICE, SET(size), .choices = size_choices, .summary = "whose window gives the size"},
	{"cols", PARAM_OPTIONAL, SET(cols), .least = 1, .most = LIMIT_TERMINAL_SIDE, .summary = "of the size `fixed`"},
	{"rows", PARAM_OPTIONAL, SET(rows), .least = 1, .most = LIMIT_TERMINAL_SIDE, .summary = "of the size `fixed`"},
	{0},
};
const struct terminal_set_args terminal_set_defaults = {.input = -1, .size = -1};

#define TERMINAL_ROWS                                                                                 \
	{"channel",        PARAM_UINT,         offsetof(struct terminal_args, channel),                   \
	 .required = true, .most = UINT32_MAX, .summary = "of this connection: as whom"},                 \
	{                                                                                                 \
		"process", PARAM_UINT, offsetof(struct terminal_args, process), .required = true, .least = 1, \
																		.most = UINT32_MAX            \
	}

const struct param terminal_params[] = {TERMINAL_ROWS, {0}};
const struct param terminal_grant_params[] = {
	TERMINAL_ROWS,
	{"participant", PARAM_UINT, offsetof(struct terminal_args, participant), .required = true, .least = 1,
     .most = UINT32_MAX, .summary = "who drives from now on"},
	{0},
};

/* The terminal of the process that is meant; NULL when the call was failed instead. */
static struct sharing *find_terminal(struct call *call, struct session *session, uint64_t number)
{
	struct process *process = session_find_process(session, (uint32_t)number);
	unsigned long long shown = number;
	if (!process || process->state == PROCESS_STARTING)
		call_fail(call, CODE_NOT_FOUND, "field", "process", "session `%s` has no process %llu", session->id, shown);
	else if (!process->terminal)
		call_fail(call, CODE_NOT_TERMINAL, "field", "process", "process %llu has no terminal", shown);
	else if (!sharing_is_open(&process->sharing))
		call_fail(call, CODE_PROCESS_EXITED, "field", "process", "the terminal of process %llu is gone", shown);
	else
		return &process->sharing;
	return NULL;
}

/* --- how it is shared ----------------------------------------------------------------------------------------- */

static bool is_size_whole(struct call *call, const struct terminal_set_args *args)
{
	bool is_fixed = args->size == SIZE_FIXED;
	if (args->cols.has == is_fixed && args->rows.has == is_fixed)
		return true;
	call_fail(call, CODE_INVALID_PARAMS, "field", args->cols.has == is_fixed ? "rows" : "cols",
	          "`cols` and `rows` go with `size: \"fixed\"`, which needs both");
	return false;
}

void handle_terminal_set(struct call *call, const void *arguments)
{
	const struct terminal_set_args *args = arguments;
	struct session *session = call_session(call, args->session);
	struct sharing *sharing = session ? find_terminal(call, session, args->process) : NULL;
	if (!sharing || !is_size_whole(call, args))
		return;
	const enum input_mode input = (enum input_mode)args->input;
	const enum size_policy size = (enum size_policy)args->size;
	const struct sharing_changes changes = {
		.input = args->input >= 0 ? &input : NULL,
		.size = args->size >= 0 ? &size : NULL,
		.fixed = {(uint16_t)args->cols.value, (uint16_t)args->rows.value},
	};
	sharing_set(sharing, &changes, 0);
	call_answer_seq(call, history_last(session));
}

/* --- who drives ----------------------------------------------------------------------------------------------- */

/* The channel and the terminal that a call is about. */
struct seat {
	struct channel *channel;
	struct sharing *sharing;
};

static bool find_seat(struct call *call, const struct terminal_args *args, struct seat *seat)
{
	seat->channel = call->caller->door->channel(call->caller, (uint32_t)args->channel);
	if (!seat->channel) {
		call_fail(call, CODE_NOT_FOUND, "field", "channel", "this connection has no channel %llu",
		          (unsigned long long)args->channel);
		return false;
	}
	seat->sharing = find_terminal(call, seat->channel->session, args->process);
	return seat->sharing != NULL;
}

static bool is_driver(const struct seat *seat)
{
	return seat->sharing->driver == seat->channel->participant;
}

static void fail_driven(struct call *call, const struct sharing *sharing)
{
	call_fail(call, CODE_CONFLICT, NULL, NULL,
	          "participant %u drives this terminal%s; terminal.request asks for it, and an owner can take it",
	          sharing->driver, sharing->is_away ? ", and can come back" : "");
}

void handle_terminal_take(struct call *call, const void *arguments)
{
	struct seat seat;
	if (!find_seat(call, arguments, &seat))
		return;
	const struct sharing *sharing = seat.sharing;
	if (sharing->driver && !is_driver(&seat) && !gate_allows_taking_over(seat.channel->role)) {
		fail_driven(call, sharing);
		return;
	}
	if (!is_driver(&seat))
		sharing_drive(seat.sharing, seat.channel, "taken", seat.channel->participant);
	call_answer_seq(call, history_last(seat.channel->session));
}

void handle_terminal_release(struct call *call, const void *arguments)
{
	struct seat seat;
	if (!find_seat(call, arguments, &seat))
		return;
	if (sharing_release(seat.sharing, seat.channel->participant))
		call_answer_seq(call, history_last(seat.channel->session));
	else
		call_fail(call, CODE_CONFLICT, NULL, NULL, "you neither drive this terminal nor asked to");
}

void handle_terminal_grant(struct call *call, const void *arguments)
{
	const struct terminal_args *args = arguments;
	struct seat seat;
	if (!find_seat(call, args, &seat))
		return;
	struct session *session = seat.channel->session;
	const struct channel *other = participant_find(session, args->participant);
	unsigned long long shown = args->participant;
	if (!is_driver(&seat) && !gate_allows_taking_over(seat.channel->role))
		call_fail(call, CODE_FORBIDDEN, NULL, NULL, "only its driver, or an owner, can hand a terminal over");
	else if (!other)
		call_fail(call, CODE_NOT_FOUND, "field", "participant", "participant %llu is not here", shown);
	else if (!gate_allows_frame(other->role, FRAME_STDIN))
		call_fail(call, CODE_CONFLICT, "field", "participant", "participant %llu is a %s, who cannot drive", shown,
		          role_name(other->role));
	else {
		if (seat.sharing->driver != other->participant)
			sharing_drive(seat.sharing, other, "granted", seat.channel->participant);
		call_answer_seq(call, history_last(session));
	}
}

void handle_terminal_request(struct call *call, const void *arguments)
{
	struct seat seat;
	if (!find_seat(call, arguments, &seat))
		return;
	if (is_driver(&seat))
		call_fail(call, CODE_CONFLICT, NULL, NULL, "you drive this terminal already");
	else if (!sharing_request(seat.sharing, seat.channel->participant))
		call_fail(call, CODE_LIMIT, NULL, NULL, "at most %d may ask for a terminal at once", SHARING_REQUESTS);
	else
		call_answer_seq(call, history_last(seat.channel->session));
}
