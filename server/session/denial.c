#include "denial.h"

#include "session.h"

#include <string.h>

void session_denied(void *owner, uint32_t process, const char *call, uint32_t thread, uint64_t count)
{
	struct session *session = owner;
	if (session->state != SESSION_RUNNING)
		return;
	struct writer *event = session_event_begin(session, FRAME_DENIED, 4);
	writer_uint(event, process);
	writer_str(event, call);
	writer_uint(event, thread);
	writer_uint(event, count);
	session_event_commit(session);
}
