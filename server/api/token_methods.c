#include "token_methods.h"

#include "server/guard/gate.h"
#include "server/guard/tokens.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	TENANT_TOKENS = 256,          /* of one tenant but the operator's, so that none takes up all that there can be */
	LINK_REDEEM_MS = 3600 * 1000, /* a link is good for this long, if nobody says otherwise */
	LINK_LASTS_S = 30 * 24 * 3600 /* and the tokens that one gets by it */
};

static const enum right all_rights[] = {
#define RIGHT(name, bit, text, summary) RIGHT_##name,
	RIGHT_TABLE(RIGHT)
#undef RIGHT
};
enum {
	RIGHTS = sizeof all_rights / sizeof all_rights[0],
	RIGHTS_TO_GIVE = RIGHTS - 1 /* `redeem` is a link's, which has `uses` */
};
static const uint32_t usual_rights = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE;

const struct param token_create_params[] = {
	{"name", PARAM_TEXT, offsetof(struct token_create_args, name), .required = true, .least = 1,
     .most = PRINCIPAL_NAME_BYTES, .summary = "who it is for; shown to others"},
	{"tenant", PARAM_TEXT, offsetof(struct token_create_args, tenant), .least = 1, .most = SESSION_TENANT_BYTES - 1,
     .summary = "the account whose sessions it sees"},
	{"rights", PARAM_STRINGS, offsetof(struct token_create_args, rights), .least = 1, .most = RIGHTS_TO_GIVE,
     .summary = "read, run, manage, admin"},
	{"expires_ms", PARAM_UINT, offsetof(struct token_create_args, expires_ms),
     .most = UINT64_C(100) * 365 * 24 * 3600 * 1000, .summary = "good for this long; 0 = for ever"},
	{"uses", PARAM_UINT, offsetof(struct token_create_args, uses), .most = LINK_USES,
     .summary = "a link, by which so many get a token of their own; 0 = a token"},
	{"redeem_ms", PARAM_OPTIONAL, offsetof(struct token_create_args, redeem_ms), .least = 1, .most = PARAM_TIME_MOST,
     .summary = "of a link: good for this long"},
	{0},
};

const struct param token_params[] = {
	{"id", PARAM_TEXT, offsetof(struct token_args, id), .required = true, .most = TOKEN_ID_BYTES,
     .summary = "the id that token.create gave"},
	{0},
};

/* Whether the caller looks after tokens of TENANT. */
static bool is_its_affair(const struct call *call, const char *tenant)
{
	const struct principal *caller = &call->caller->principal;
	return gate_is_operator(caller) || strcmp(caller->tenant, tenant) == 0;
}

static bool is_tenant_name(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* --- create --------------------------------------------------------------------------------------------------- */

static bool rights_of(struct call *call, const char *const *names, uint32_t *rights)
{
	const struct principal *caller = &call->caller->principal;
	*rights = names ? 0 : usual_rights & caller->rights;
	for (; names && *names; names++) {
		enum right right = right_find(*names);
		if (right == RIGHT_NONE) {
			call_fail(call, CODE_INVALID_PARAMS, "field", "rights",
			          "there is no right `%.64s`; there are: read, run, manage, admin", *names);
			return false;
		}
		if (!gate_allows_right(caller, right)) {
			call_fail(call, CODE_FORBIDDEN, "field", "rights",
			          "this token does not have the right `%s`, and cannot give it", right_name(right));
			return false;
		}
		*rights |= (uint32_t)right;
	}
	return true;
}

static bool tenant_of(struct call *call, const char *asked, struct principal *principal)
{
	const char *tenant = asked ? asked : call->caller->principal.tenant;
	if (!is_tenant_name(tenant)) {
		call_fail(call, CODE_INVALID_PARAMS, "field", "tenant",
		          "the name of a tenant is made of letters, digits, `.`, `_` and `-`");
		return false;
	}
	if (!is_its_affair(call, tenant)) {
		call_fail(call, CODE_FORBIDDEN, "field", "tenant", "this token makes tokens of the tenant `%s` only",
		          call->caller->principal.tenant);
		return false;
	}
	snprintf(principal->tenant, sizeof principal->tenant, "%s", tenant);
	return true;
}

static bool expiry_of(struct call *call, const char *field, uint64_t after_ms, uint64_t now_s, uint64_t *expires_s)
{
	uint64_t own = call->caller->principal.expires_s;
	*expires_s = after_ms == 0 ? 0 : now_s + (after_ms + 999) / 1000;
	if (own == 0 || (*expires_s != 0 && *expires_s <= own))
		return true;
	call_fail(call, CODE_FORBIDDEN, "field", field,
	          "this token expires in %llu s, and cannot make one that lives longer",
	          (unsigned long long)(own > now_s ? own - now_s : 0));
	return false;
}

/* Of a link and of the tokens that one gets by it; what nobody has asked for ends with the caller's own. */
static bool link_times_of(struct call *call, const struct token_create_args *args, uint64_t now_s,
                          struct token_record *link)
{
	uint64_t own = call->caller->principal.expires_s, redeem_ms = LINK_REDEEM_MS, unused;
	link->lasts_s = args->expires_ms > 0 ? (args->expires_ms + 999) / 1000 : LINK_LASTS_S;
	link->until_s = own;
	if (args->redeem_ms.has)
		redeem_ms = args->redeem_ms.value;
	else if (own > 0 && (own - now_s) * 1000 < redeem_ms)
		redeem_ms = (own - now_s) * 1000;
	return (args->expires_ms == 0 || expiry_of(call, "expires_ms", args->expires_ms, now_s, &unused)) &&
	       expiry_of(call, "redeem_ms", redeem_ms, now_s, &link->principal.expires_s);
}

static bool times_of(struct call *call, const struct token_create_args *args, uint64_t now_s,
                     struct token_record *record)
{
	record->uses = (uint32_t)args->uses;
	if (args->uses > 0)
		return link_times_of(call, args, now_s, record);
	if (!args->redeem_ms.has)
		return expiry_of(call, "expires_ms", args->expires_ms, now_s, &record->principal.expires_s);
	call_fail(call, CODE_INVALID_PARAMS, "field", "redeem_ms", "`redeem_ms` is a link's, which has `uses`");
	return false;
}

/* For a token, or a link, more than there are. */
static bool has_room(struct call *call, const char *tenant, uint64_t now_s, bool is_operators)
{
	if (is_operators || tokens_count(call->caller->server->tokens, tenant, now_s) < TENANT_TOKENS)
		return true;
	call_fail(
		call, CODE_LIMIT, NULL, NULL,
		"a tenant may have at most %d tokens and links; what has expired, and a link that was used up, is not counted",
		TENANT_TOKENS);
	return false;
}

/* The token is told this once. */
static void answer_made(struct call *call, const struct principal *principal, char *token)
{
	writer_map(&call->result, 2);
	writer_key_str(&call->result, "id", principal->id);
	writer_key_str(&call->result, "token", token);
	explicit_bzero(token, strlen(token));
	free(token);
	call_answer(call);
}

void handle_token_create(struct call *call, const void *arguments)
{
	const struct token_create_args *args = arguments;
	uint64_t now_s = (uint64_t)time(NULL);
	struct tokens *tokens = call->caller->server->tokens;
	struct token_record record = {.uses = 0};
	struct principal *principal = &record.principal;
	if (!rights_of(call, (const char *const *)args->rights, &principal->rights) ||
	    !tenant_of(call, args->tenant, principal) || !times_of(call, args, now_s, &record) ||
	    !has_room(call, principal->tenant, now_s, gate_is_operator(&call->caller->principal)))
		return;
	snprintf(principal->name, sizeof principal->name, "%s", args->name);
	snprintf(record.by, sizeof record.by, "%s", call->caller->principal.name);
	struct error err;
	char *token = tokens_add(tokens, &record, now_s, &err);
	if (token)
		answer_made(call, principal, token);
	else
		call_fail_to_write(call, &err);
}

/* --- a link ---------------------------------------------------------------------------------------------------- */

bool link_lets_in(const struct caller *caller, enum error_code *code, const char **text)
{
	*code = CODE_UNAUTHENTICATED;
	*text = token_link_fault(tokens_find(caller->server->tokens, caller->principal.id), (uint64_t)time(NULL));
	return !*text;
}

/* Others who have the link, and came before it was used, are told so by the same call: nobody's connection is closed. */
void handle_token_redeem(struct call *call, const void *arguments)
{
	(void)arguments;
	struct tokens *tokens = call->caller->server->tokens;
	const char *id = call->caller->principal.id;
	const struct token_record *link = tokens_find(tokens, id);
	uint64_t now_s = (uint64_t)time(NULL);
	const char *fault = token_link_fault(link, now_s);
	if (fault) {
		call_fail(call, CODE_UNAUTHENTICATED, NULL, NULL, "%s", fault);
		return;
	}
	bool is_last_use = link->used + 1 == link->uses; /* its token takes the link's own place */
	if (!is_last_use && !has_room(call, link->principal.tenant, now_s, gate_is_operator(&link->principal)))
		return;
	struct principal principal;
	struct error err;
	char *token = tokens_redeem(tokens, id, now_s, &principal, &err);
	if (token)
		answer_made(call, &principal, token);
	else
		call_fail_to_write(call, &err);
}

/* --- list and revoke ------------------------------------------------------------------------------------------ */

void token_write_rights(struct writer *writer, const struct principal *principal)
{
	uint32_t count = 0;
	for (size_t i = 0; i < RIGHTS; i++)
		count += gate_allows_right(principal, all_rights[i]);
	writer_str(writer, "rights");
	writer_array(writer, count);
	for (size_t i = 0; i < RIGHTS; i++)
		if (gate_allows_right(principal, all_rights[i]))
			writer_str(writer, right_name(all_rights[i]));
}

static void write_record(struct writer *writer, const struct token_record *record)
{
	const struct principal *principal = &record->principal;
	writer_map(writer, 10);
	writer_key_str(writer, "id", principal->id);
	writer_key_str(writer, "name", principal->name);
	writer_key_str(writer, "tenant", principal->tenant);
	token_write_rights(writer, principal);
	writer_key_uint(writer, "created_us", record->created_s * 1000000);
	if (principal->expires_s > 0)
		writer_key_uint(writer, "expires_us", principal->expires_s * 1000000);
	else
		writer_key_nil(writer, "expires_us");
	writer_key_str(writer, "by", record->by);
	writer_key_bool(writer, "revoked", record->is_revoked);
	writer_key_uint(writer, "uses", record->uses);
	writer_key_uint(writer, "used", record->used);
}

/* One that has expired is not shown; it is forgotten when the next one is made. */
static bool is_shown(const struct call *call, const struct token_record *record, uint64_t now_s)
{
	uint64_t expires_s = record->principal.expires_s;
	return is_its_affair(call, record->principal.tenant) && (expires_s == 0 || expires_s > now_s);
}

void handle_token_list(struct call *call, const void *arguments)
{
	(void)arguments;
	const struct tokens *tokens = call->caller->server->tokens;
	const struct token_record *record;
	uint64_t now_s = (uint64_t)time(NULL);
	uint32_t count = 0;
	for (size_t i = 0; (record = tokens_at(tokens, i)); i++)
		count += is_shown(call, record, now_s);
	writer_map(&call->result, 1);
	writer_str(&call->result, "tokens");
	writer_array(&call->result, count);
	for (size_t i = 0; (record = tokens_at(tokens, i)); i++)
		if (is_shown(call, record, now_s))
			write_record(&call->result, record);
	call_answer(call);
}

/* Idempotent. The caller's own connection closes too when the token is its own, after the answer. */
void handle_token_revoke(struct call *call, const void *arguments)
{
	const struct token_args *args = arguments;
	struct server *server = call->caller->server;
	const struct token_record *record = tokens_find(server->tokens, args->id);
	if (!record || !is_its_affair(call, record->principal.tenant)) {
		call_fail(call, CODE_NOT_FOUND, "field", "id", "there is no token `%s`", args->id);
		return;
	}
	struct error err;
	char id[TOKEN_ID_BYTES + 1];
	memcpy(id, record->principal.id, sizeof id);
	if (tokens_revoke(server->tokens, record, &err) == 0) {
		call_answer_empty(call);
	} else {
		error_prefix(&err, "it is revoked, but only until the server starts anew");
		call_fail_to_write(call, &err);
	}
	if (server->on_revoked)
		server->on_revoked(server, id);
}
