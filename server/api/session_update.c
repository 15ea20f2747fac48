/* The method session.update. */
#include "session_methods.h"

#include <stddef.h>

const struct param session_update_params[] = {
	PARAM_SESSION(session_update_args),
	{"name", PARAM_TEXT, offsetof(struct session_update_args, name), .most = LIMIT_NAME_BYTES,
     .summary = "shown in lists"},
	{"ttl_ms", PARAM_OPTIONAL, offsetof(struct session_update_args, ttl_ms), .most = PARAM_TIME_MOST,
     .summary = "it ends this long after it was made; 0 = it does not"},
	{"context", PARAM_CONTEXT, offsetof(struct session_update_args, context), .most = CONTEXT_SESSION_BYTES,
     .summary = "stands for what was noted before"},
	{0},
};

static bool may_live(struct call *call, const struct session *session, const struct optional_uint *ttl_ms)
{
	if (!ttl_ms->has || session->most_ttl_ms == 0 || (ttl_ms->value > 0 && ttl_ms->value <= session->most_ttl_ms))
		return true;
	call_fail(call, CODE_LIMIT, "limit", "ttl_ms", "the session's template allows a `ttl_ms` of at most %llu",
	          (unsigned long long)session->most_ttl_ms);
	return false;
}

void handle_session_update(struct call *call, const void *arguments)
{
	const struct session_update_args *args = arguments;
	struct session *session = call_session(call, args->session);
	if (!session || !may_live(call, session, &args->ttl_ms))
		return;
	const struct session_changes changes = {.name = args->name,
	                                        .context = (const char *const *)args->context,
	                                        .ttl_ms = args->ttl_ms.has ? &args->ttl_ms.value : NULL};
	struct error err;
	if (session_update(session, &changes, &err) == 0)
		call_answer_empty(call);
	else
		call_fail_to_write(call, &err);
}
