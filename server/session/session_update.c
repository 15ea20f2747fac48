/* Changing a session that lives. */
#include "session.h"
#include "session_file.h"

#include <string.h>

/* What can be changed, as it was. */
struct before {
	char name[LIMIT_NAME_BYTES + 1];
	char **context;
	uint64_t ttl_ms;
};

static void set_name(struct session *session, const char *name)
{
	memset(session->name, 0, sizeof session->name);
	memcpy(session->name, name, strnlen(name, LIMIT_NAME_BYTES));
}

int session_update(struct session *session, const struct session_changes *changes, struct error *err)
{
	struct before before = {.context = session->context, .ttl_ms = session->ttl_ms};
	memcpy(before.name, session->name, sizeof before.name);
	if (changes->name)
		set_name(session, changes->name);
	if (changes->ttl_ms)
		session->ttl_ms = *changes->ttl_ms;
	if (changes->context)
		session->context = context_copy(changes->context);
	bool good = session_file_save(session, err) == 0;
	if (changes->context)
		context_destroy(good ? before.context : session->context);
	if (!good) {
		set_name(session, before.name);
		session->context = before.context;
		session->ttl_ms = before.ttl_ms;
		return -1;
	}
	if (changes->ttl_ms) {
		ev_timer_stop(session->home->loop, &session->ttl);
		session_arm_ttl(session);
	}
	return 0;
}
