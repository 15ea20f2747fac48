#include "viewer.h"

#include "protocol/check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void wake(void *owner)
{
	((struct viewer *)owner)->wakes++;
}

void viewer_attach(struct viewer *viewer, struct house *house, struct channel_options options)
{
	static uint32_t number;
	viewer->channel = NULL;
	options.number = ++number;
	options.wake = wake;
	options.owner = viewer;
	options.role = options.role ? options.role : ROLE_OWNER;
	options.name = options.name ? options.name : "ada";
	options.client_name = options.client_name ? options.client_name : "test/1";
	viewer->channel = channel_attach(house->session, &options);
	cr_assert_not_null(viewer->channel);
}

void viewer_forget(struct viewer *viewer)
{
	viewer->length = viewer->frame_count = viewer->messages = 0;
}

void viewer_close(struct viewer *viewer)
{
	if (viewer->channel)
		channel_detach(viewer->channel);
	free(viewer->bytes);
	free(viewer->frames);
	*viewer = (struct viewer){0};
}

static void keep(struct viewer *viewer, const uint8_t *bytes, size_t length)
{
	if (viewer->length + length > viewer->capacity) {
		viewer->capacity = 2 * (viewer->length + length);
		viewer->bytes = realloc(viewer->bytes, viewer->capacity);
		cr_assert_not_null(viewer->bytes);
	}
	if (viewer->frame_count == viewer->frame_room) {
		viewer->frame_room = 2 * viewer->frame_room + 64;
		viewer->frames = realloc(viewer->frames, viewer->frame_room * sizeof *viewer->frames);
		cr_assert_not_null(viewer->frames);
	}
	memcpy(viewer->bytes + viewer->length, bytes, length);
	viewer->frames[viewer->frame_count++] = viewer->length;
	viewer->length += length;
}

size_t viewer_read(struct viewer *viewer, size_t most)
{
	size_t length = 0, before = viewer->frame_count;
	const uint8_t *message = channel_next(viewer->channel, most, &length);
	if (!message)
		return 0;
	struct check_report report;
	cr_assert(check_message(message, length, &report), "%s at %zu", report.what, report.at);
	struct reader reader = reader_over(message, length);
	uint64_t channel = 0;
	cr_assert(reader_uint(&reader, &channel) && channel == viewer->channel->number);
	memset((uint8_t *)(uintptr_t)message - CHANNEL_ROOM, 0xee, CHANNEL_ROOM); /* as a door writes its header there */
	while (reader_type(&reader) != VALUE_END) {
		const uint8_t *at = reader.at;
		cr_assert(reader_skip(&reader));
		keep(viewer, at, (size_t)(reader.at - at));
	}
	viewer->messages++;
	cr_assert_gt(viewer->frame_count, before, "a message has a frame");
	return viewer->frame_count - before;
}

size_t viewer_read_all(struct viewer *viewer)
{
	size_t frames = 0, got;
	while ((got = viewer_read(viewer, CHANNEL_MESSAGE)) > 0)
		frames += got;
	return frames;
}

struct seen viewer_frame(const struct viewer *viewer, size_t number)
{
	cr_assert_lt(number, viewer->frame_count);
	size_t end = number + 1 < viewer->frame_count ? viewer->frames[number + 1] : viewer->length;
	struct seen seen = {.at = viewer->frames[number], .length = end - viewer->frames[number]};
	const uint8_t *frame = viewer->bytes + seen.at;
	seen.fields = reader_over(frame, seen.length);
	uint32_t count;
	uint64_t kind = 0;
	cr_assert(reader_array(&seen.fields, &count) && reader_uint(&seen.fields, &kind));
	seen.kind = (uint32_t)kind;
	if (event_head_read(frame, seen.length, &seen.kind, &seen.seq, &seen.t_us)) {
		reader_skip(&seen.fields);
		reader_skip(&seen.fields);
	}
	if (kind == FRAME_OUTPUT)
		cr_assert(output_header_read(frame, seen.length, &seen.output));
	return seen;
}

bool viewer_find(const struct viewer *viewer, uint32_t kind, size_t *at, struct seen *seen)
{
	while (*at < viewer->frame_count) {
		*seen = viewer_frame(viewer, (*at)++);
		if (seen->kind == kind)
			return true;
	}
	return false;
}

size_t viewer_count(const struct viewer *viewer, uint32_t kind)
{
	struct seen seen;
	size_t count = 0, at = 0;
	while (viewer_find(viewer, kind, &at, &seen))
		count++;
	return count;
}

struct seen viewer_only(const struct viewer *viewer, uint32_t kind)
{
	struct seen seen = {0};
	size_t at = 0;
	cr_assert_eq(viewer_count(viewer, kind), 1, "%zu frames %s", viewer_count(viewer, kind), frame_kind_name(kind));
	viewer_find(viewer, kind, &at, &seen);
	return seen;
}

size_t viewer_stream(const struct viewer *viewer, uint32_t process, enum stream stream, uint64_t from, uint8_t **bytes)
{
	struct seen seen;
	uint64_t next = from;
	*bytes = malloc(viewer->length + 1);
	cr_assert_not_null(*bytes);
	for (size_t at = 0; viewer_find(viewer, FRAME_OUTPUT, &at, &seen);) {
		if (seen.output.process != process || seen.output.stream != stream)
			continue;
		cr_assert_eq(seen.output.offset, next, "process %u: offset %llu where %llu follows", process,
		             (unsigned long long)seen.output.offset, (unsigned long long)next);
		cr_assert(seen.output.length > 0 && seen.output.length <= JOURNAL_READ);
		memcpy(*bytes + (next - from), viewer->bytes + seen.at + OUTPUT_HEADER_BYTES, seen.output.length);
		next += seen.output.length;
	}
	return (size_t)(next - from);
}

void viewer_expect(const struct viewer *viewer, uint32_t process, enum stream stream, const char *text)
{
	uint8_t *bytes;
	size_t length = viewer_stream(viewer, process, stream, 0, &bytes);
	cr_expect(length == strlen(text) && memcmp(bytes, text, length) == 0, "`%.*s`, wanted `%s`", (int)length, bytes,
	          text);
	free(bytes);
}

uint64_t field_uint(struct seen *seen)
{
	uint64_t value = 0;
	cr_assert(reader_uint(&seen->fields, &value));
	return value;
}

struct reader viewer_ending(const struct viewer *viewer, uint32_t process)
{
	struct seen seen;
	struct reader ending = {0};
	unsigned count = 0;
	for (size_t at = 0; viewer_find(viewer, FRAME_EXITED, &at, &seen);) {
		if (field_uint(&seen) != process)
			continue;
		ending = seen.fields;
		count++;
	}
	cr_assert_eq(count, 1, "process %u has %u EXITED", process, count);
	return ending;
}
