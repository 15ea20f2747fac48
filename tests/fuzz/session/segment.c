/*
 * A segment of a record that somebody has damaged: each frame that is read lies within the bytes that are there, and the
 * sequence only goes on.
 */
#include "server/session/event_shape.h"
#include "server/session/segment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	assert(bytes);
	memcpy(bytes, input, size);
	uint64_t seq = 1;
	for (size_t at = 0; at < size;) {
		size_t length = 0;
		uint64_t next = 0;
		enum segment_found found = segment_frame(bytes + at, size - at, seq, &length, &next);
		if (found == SEGMENT_PART || found == SEGMENT_WRONG)
			break;
		assert(length > 0 && length <= size - at);
		(void)event_has_shape(bytes + at, length);
		assert(found == SEGMENT_EVENT || next > seq);
		seq = found == SEGMENT_EVENT ? seq + 1 : next;
		at += length;
	}
	free(bytes);
	return 0;
}
