#include "method.h"

#include "process_methods.h"
#include "proof_methods.h"
#include "role_methods.h"
#include "session_methods.h"
#include "share_methods.h"
#include "shell_methods.h"
#include "templates.h"
#include "terminal_methods.h"
#include "token_methods.h"

#define ARGS(type) .size = sizeof(struct type)

const struct method methods[] = {
	{"session.create", RIGHT_MANAGE, session_create_params, ARGS(session_create_args),
     .defaults = &session_create_defaults, .handle = handle_session_create, .summary = "make a session"},
	{"session.list", RIGHT_READ, session_list_params, ARGS(session_list_args), .handle = handle_session_list,
     .for_guests = true, .summary = "all sessions, or those that have ended and can be read"},
	{"session.info", RIGHT_READ, session_params, ARGS(session_args), .handle = handle_session_info,
     .summary = "one session, with its limits and layers"},
	{"session.update", RIGHT_MANAGE, session_update_params, ARGS(session_update_args), .handle = handle_session_update,
     .summary = "change a session's name, life or context"},
	{"session.end", RIGHT_MANAGE, session_params, ARGS(session_args), .handle = handle_session_end,
     .summary = "end a session and everything in it"},
	{"session.attach", RIGHT_READ, attach_params, ARGS(attach_args), .defaults = &attach_defaults,
     .handle = handle_session_attach, .summary = "subscribe to a session's events"},
	{"session.detach", RIGHT_READ, detach_params, ARGS(detach_args), .handle = handle_session_detach,
     .summary = "end a subscription"},
	{"session.role", RIGHT_MANAGE, role_params, ARGS(role_args), .handle = handle_session_role,
     .summary = "give a participant another role"},
	{"session.remove", RIGHT_MANAGE, remove_params, ARGS(role_args), .handle = handle_session_remove,
     .summary = "remove a participant, whose token is no longer good here"},
	{"session.note", RIGHT_RUN, note_params, ARGS(note_args), .handle = handle_session_note,
     .summary = "pin a text to this moment"},
	{"session.share", RIGHT_MANAGE, share_params, ARGS(share_args), .defaults = &share_defaults,
     .handle = handle_session_share, .summary = "make a token for a link into this session"},
	{"session.shares", RIGHT_MANAGE, session_params, ARGS(session_args), .handle = handle_session_shares,
     .summary = "the links into this session"},
	{"session.unshare", RIGHT_MANAGE, unshare_params, ARGS(unshare_args), .handle = handle_session_unshare,
     .summary = "make a link worthless, and close its connections"},
	{"terminal.set", RIGHT_MANAGE, terminal_set_params, ARGS(terminal_set_args), .defaults = &terminal_set_defaults,
     .handle = handle_terminal_set, .summary = "who types into a terminal, and whose window gives its size"},
	{"terminal.take", RIGHT_RUN, terminal_params, ARGS(terminal_args), .handle = handle_terminal_take,
     .summary = "drive a terminal"},
	{"terminal.release", RIGHT_RUN, terminal_params, ARGS(terminal_args), .handle = handle_terminal_release,
     .summary = "drive it no more, or take back a request"},
	{"terminal.grant", RIGHT_RUN, terminal_grant_params, ARGS(terminal_args), .handle = handle_terminal_grant,
     .summary = "let another drive"},
	{"terminal.request", RIGHT_RUN, terminal_params, ARGS(terminal_args), .handle = handle_terminal_request,
     .summary = "ask who drives to let you"},
	{"process.start", RIGHT_RUN, start_params, ARGS(start_args), .defaults = &start_defaults,
     .handle = handle_process_start, .summary = "start a command"},
	{"process.run", RIGHT_RUN, run_params, ARGS(start_args), .defaults = &start_defaults, .handle = handle_process_run,
     .summary = "run a command and answer with its output"},
	{"process.list", RIGHT_READ, list_params, ARGS(list_args), .handle = handle_process_list,
     .summary = "a session's processes, also the last ones that ended"},
	{"process.signal", RIGHT_RUN, signal_params, ARGS(process_args), .handle = handle_process_signal,
     .summary = "send a signal to a leader or a whole tree"},
	{"process.kill", RIGHT_RUN, kill_params, ARGS(process_args), .handle = handle_process_kill,
     .summary = "end a process and its whole tree"},
	{"process.wait", RIGHT_READ, process_params, ARGS(process_args), .handle = handle_process_wait,
     .summary = "how a process ended, once it has"},
	{"shell.start", RIGHT_RUN, shell_start_params, ARGS(shell_start_args), .defaults = &shell_start_defaults,
     .handle = handle_shell_start, .summary = "start a shell that keeps its state between commands"},
	{"shell.run", RIGHT_RUN, shell_run_params, ARGS(shell_run_args), .defaults = &shell_run_defaults,
     .handle = handle_shell_run, .summary = "run a command in a shell and answer with its output"},
	{"template.list", RIGHT_READ, no_params, 0, .handle = handle_template_list,
     .summary = "what sessions can be made from"},
	{"proof.keep", RIGHT_ADMIN, proof_keep_params, ARGS(proof_keep_args), .defaults = &proof_keep_defaults,
     .handle = handle_proof_keep, .summary = "the newest proof of a template, which may demand a fresh one"},
	{"token.create", RIGHT_ADMIN, token_create_params, ARGS(token_create_args), .handle = handle_token_create,
     .summary = "make a token"},
	{"token.list", RIGHT_ADMIN, no_params, 0, .handle = handle_token_list,
     .summary = "the tokens that were made here and have not expired"},
	{"token.revoke", RIGHT_ADMIN, token_params, ARGS(token_args), .handle = handle_token_revoke,
     .summary = "make a token worthless, and close its connections"},
	{"token.redeem", RIGHT_REDEEM, no_params, 0, .handle = handle_token_redeem,
     .summary = "by a sign-in link: a token of one's own"},
	{"server.info", RIGHT_ADMIN, no_params, 0, .handle = handle_server_info, .summary = "the server itself"},
	{0},
};

_Static_assert(sizeof(struct session_create_args) <= METHOD_PARAMS_BYTES &&
                   sizeof(struct start_args) <= METHOD_PARAMS_BYTES,
               "the largest arguments fit");

const struct method *method_find(struct view name)
{
	for (const struct method *method = methods; method->name; method++)
		if (view_equals(name, method->name))
			return method;
	return NULL;
}
