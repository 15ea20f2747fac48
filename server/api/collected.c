#include "collected.h"

static size_t room_of(const struct session *session)
{
	return COLLECTED_MOST - session->collected;
}

bool collected_append(struct session *session, struct writer *stream, uint64_t *most, const uint8_t *bytes,
                      size_t length)
{
	size_t room = (size_t)*most - stream->length, kept = length;
	room = room < room_of(session) ? room : room_of(session);
	kept = kept < room ? kept : room;
	session->collected += kept;
	writer_raw(stream, bytes, kept);
	if (kept < length)
		*most = stream->length;
	return kept == length;
}

void collected_finish(struct session *session, struct writer *stream)
{
	collected_give(session, stream->length);
	writer_finish(stream);
}

bool collected_take(struct session *session, size_t length)
{
	if (length > room_of(session))
		return false;
	session->collected += length;
	return true;
}

void collected_give(struct session *session, size_t length)
{
	session->collected -= length;
}
