#include "share_methods.h"

#include "server/guard/gate.h"
#include "server/guard/tokens.h"
#include "server/session/session_file.h"
#include "session_methods.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct param share_params[] = {
	PARAM_SESSION(share_args),
	{"role", PARAM_CHOICE, offsetof(struct share_args, role), .choices = role_choices,
     .summary = "what who comes by it may be"},
	{"name", PARAM_TEXT, offsetof(struct share_args, name), .least = 1, .most = LIMIT_NAME_BYTES,
     .summary = "the principal that others see"},
	{"expires_ms", PARAM_UINT, offsetof(struct share_args, expires_ms), .most = PARAM_TIME_MOST,
     .summary = "good for this long; 0 = as long as the session"},
	{"uses", PARAM_UINT, offsetof(struct share_args, uses), .least = 1, .most = SHARE_USES,
     .summary = "how many clients may come by it"},
	{0},
};
const struct share_args share_defaults = {.name = "guest", .uses = 1};

const struct param unshare_params[] = {
	PARAM_SESSION(unshare_args),
	{"share", PARAM_TEXT, offsetof(struct unshare_args, share), .required = true, .most = BEARER_TOKEN_BYTES,
     .summary = "the id that session.share gave"},
	{0},
};

static uint64_t now_s(void)
{
	return (uint64_t)time(NULL);
}

/* --- making --------------------------------------------------------------------------------------------------- */

static bool expiry_of(struct call *call, uint64_t expires_ms, uint64_t *expires_s)
{
	uint64_t own = call->caller->principal.expires_s;
	*expires_s = expires_ms == 0 ? own : now_s() + (expires_ms + 999) / 1000;
	if (own == 0 || *expires_s <= own)
		return true;
	call_fail(call, CODE_FORBIDDEN, "field", "expires_ms",
	          "your own token expires before that, and so must what you share");
	return false;
}

static struct principal guest_of(const struct session *session, const struct share_args *args, uint64_t expires_s)
{
	struct principal guest = {.rights = principal_rights_of((enum role)(args->role + 1)), .expires_s = expires_s};
	snprintf(guest.name, sizeof guest.name, "%s", args->name);
	snprintf(guest.tenant, sizeof guest.tenant, "%s", session->tenant);
	snprintf(guest.session, sizeof guest.session, "%s", session->id);
	return guest;
}

/* Written down, or not there. */
static bool keep_share(struct call *call, struct session *session, const struct principal *guest,
                       const struct share_args *args)
{
	struct share row = {.role = (enum role)(args->role + 1),
	                    .created_s = now_s(),
	                    .expires_s = guest->expires_s,
	                    .uses = (uint32_t)args->uses};
	snprintf(row.id, sizeof row.id, "%s", guest->id);
	snprintf(row.name, sizeof row.name, "%s", args->name);
	snprintf(row.by, sizeof row.by, "%s", call->caller->principal.name);
	struct share *share = access_add_share(&session->access, &row, row.created_s);
	struct error err;
	if (!share) {
		call_fail(call, CODE_LIMIT, NULL, NULL, "a session may have at most %d shares that are good", ACCESS_SHARES);
		return false;
	}
	if (session_file_save(session, &err) == 0)
		return true;
	access_drop_share(&session->access, share);
	call_fail_to_write(call, &err);
	return false;
}

void handle_session_share(struct call *call, const void *arguments)
{
	const struct share_args *args = arguments;
	struct session *session = call_session(call, args->session);
	uint64_t expires_s;
	struct error err;
	if (!session || !expiry_of(call, args->expires_ms, &expires_s))
		return;
	struct principal guest = guest_of(session, args, expires_s);
	char *token = tokens_mint(call->caller->server->tokens, &guest, &err);
	if (!token) {
		call_fail_to_write(call, &err);
		return;
	}
	if (keep_share(call, session, &guest, args)) {
		writer_map(&call->result, 2);
		writer_key_str(&call->result, "share", guest.id);
		writer_key_str(&call->result, "token", token);
		call_answer(call);
	}
	explicit_bzero(token, strlen(token));
	free(token);
}

/* --- list and revoke ------------------------------------------------------------------------------------------ */

static void write_share(struct writer *writer, const struct share *share)
{
	writer_map(writer, 10);
	writer_key_str(writer, "share", share->id);
	writer_key_str(writer, "name", share->name);
	writer_key_str(writer, "role", role_name(share->role));
	writer_key_uint(writer, "created_us", share->created_s * 1000000);
	if (share->expires_s > 0)
		writer_key_uint(writer, "expires_us", share->expires_s * 1000000);
	else
		writer_key_nil(writer, "expires_us");
	writer_key_uint(writer, "uses", share->uses);
	writer_key_uint(writer, "used", share->used);
	writer_key_str(writer, "by", share->by);
	writer_key_bool(writer, "open", share_is_open(share, now_s()));
	writer_key_bool(writer, "revoked", share->is_revoked);
}

void handle_session_shares(struct call *call, const void *arguments)
{
	const struct session_args *args = arguments;
	const struct session *session = call_session(call, args->session);
	if (!session)
		return;
	writer_map(&call->result, 1);
	writer_str(&call->result, "shares");
	writer_array(&call->result, (uint32_t)session->access.share_count);
	for (size_t i = 0; i < session->access.share_count; i++)
		write_share(&call->result, &session->access.shares[i]);
	call_answer(call);
}

void handle_session_unshare(struct call *call, const void *arguments)
{
	const struct unshare_args *args = arguments;
	struct session *session = call_session(call, args->session);
	struct share *share = session ? access_find_share(&session->access, args->share) : NULL;
	struct error err;
	if (!session)
		return;
	if (!share) {
		call_fail(call, CODE_NOT_FOUND, "field", "share", "the session has no share `%s`", args->share);
		return;
	}
	share->is_revoked = true;
	struct server *server = call->caller->server;
	char id[TOKEN_ID_BYTES + 1];
	memcpy(id, share->id, sizeof id);
	if (session_file_save(session, &err) == 0) {
		call_answer_empty(call);
	} else {
		error_prefix(&err, "it is revoked, but only until the server starts anew");
		call_fail_to_write(call, &err);
	}
	if (server->on_revoked)
		server->on_revoked(server, id);
}

/* --- coming by one -------------------------------------------------------------------------------------------- */

static bool refuse(enum error_code *code, const char **text, enum error_code why, const char *words)
{
	*code = why;
	*text = words;
	return false;
}

bool share_lets_in(struct caller *caller, enum error_code *code, const char **text)
{
	const struct principal *guest = &caller->principal;
	struct session *session = sessions_find(&caller->server->sessions, guest->session, strlen(guest->session),
	                                        guest->tenant);
	struct share *share = session ? access_find_share(&session->access, guest->id) : NULL;
	bool is_new;
	if (!share || session->state >= SESSION_ENDING)
		return refuse(code, text, CODE_UNAUTHENTICATED, "what was shared is not there any more: the session has ended");
	if (caller_was_removed(caller, session))
		return refuse(code, text, CODE_FORBIDDEN, "an owner removed you from this session");
	if (!share_admit(share, caller->client, now_s(), &is_new))
		return refuse(code, text, CODE_UNAUTHENTICATED, "the share has expired, was revoked or is used up");
	if (!is_new || session_file_save(session, NULL) == 0)
		return true;
	share_forget_last(share); /* a use that is not written down could be used again */
	return refuse(code, text, CODE_NO_SPACE, "that the share is used could not be written down");
}
