#include "scrollback.h"

#include "bytes.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 16384, FIRST_LINES = 64 };

void scrollback_init(struct scrollback *scrollback, uint32_t most)
{
	*scrollback = (struct scrollback){.most = most};
}

void scrollback_finish(struct scrollback *scrollback)
{
	free(scrollback->bytes);
	free(scrollback->lines);
	*scrollback = (struct scrollback){0};
}

void scrollback_clear(struct scrollback *scrollback)
{
	uint32_t most = scrollback->most;
	scrollback_finish(scrollback);
	scrollback_init(scrollback, most);
}

static void drop_oldest(struct scrollback *scrollback)
{
	const struct scrollback_line *line = &scrollback->lines[scrollback->first];
	scrollback->begin = line->begin + line->length;
	if (scrollback->begin >= scrollback->capacity)
		scrollback->begin -= scrollback->capacity;
	scrollback->used -= line->length;
	scrollback->first = (scrollback->first + 1) % scrollback->most;
	scrollback->count--;
}

/* A bigger ring, that begins with the oldest line. */
static void grow(struct scrollback *scrollback, uint32_t capacity)
{
	uint8_t *bytes = terminal_allocate(capacity, 1);
	uint32_t to = 0;
	for (uint32_t i = 0; i < scrollback->count; i++) {
		struct scrollback_line *line = &scrollback->lines[(scrollback->first + i) % scrollback->most];
		struct scrollback_piece pieces[2];
		scrollback_read(scrollback, line, pieces);
		memcpy(bytes + to, pieces[0].at, pieces[0].length);
		if (pieces[1].length > 0)
			memcpy(bytes + to + pieces[0].length, pieces[1].at, pieces[1].length);
		line->begin = to;
		to += line->length;
	}
	free(scrollback->bytes);
	scrollback->bytes = bytes;
	scrollback->capacity = capacity;
	scrollback->begin = 0;
}

static void make_room(struct scrollback *scrollback, uint32_t length)
{
	uint32_t capacity = scrollback->capacity ? scrollback->capacity : FIRST_BYTES;
	while (capacity < TERMINAL_SCROLLBACK_BYTES && capacity - scrollback->used < length)
		capacity *= 2;
	if (capacity > scrollback->capacity)
		grow(scrollback, capacity);
	while (scrollback->count > 0 && scrollback->capacity - scrollback->used < length)
		drop_oldest(scrollback);
}

static void write_ring(struct scrollback *scrollback, uint32_t at, const uint8_t *bytes, size_t length)
{
	size_t first = scrollback->capacity - at;
	if (first > length)
		first = length;
	memcpy(scrollback->bytes + at, bytes, first);
	memcpy(scrollback->bytes, bytes + first, length - first);
}

void scrollback_push(struct scrollback *scrollback, struct scrollback_line line, const uint8_t *bytes, size_t length)
{
	if (scrollback->most == 0)
		return;
	if (!scrollback->lines)
		scrollback->lines = terminal_allocate(scrollback->most, sizeof *scrollback->lines);
	if (length > TERMINAL_SCROLLBACK_BYTES)
		length = 0; /* no line is that long */
	if (scrollback->count == scrollback->most)
		drop_oldest(scrollback);
	make_room(scrollback, (uint32_t)length);
	line.length = (uint32_t)length;
	line.begin = scrollback->begin + scrollback->used;
	if (line.begin >= scrollback->capacity)
		line.begin -= scrollback->capacity;
	if (length > 0)
		write_ring(scrollback, line.begin, bytes, length);
	scrollback->used += line.length;
	scrollback->lines[(scrollback->first + scrollback->count) % scrollback->most] = line;
	scrollback->count++;
}

const struct scrollback_line *scrollback_at(const struct scrollback *scrollback, uint32_t index)
{
	return &scrollback->lines[(scrollback->first + scrollback->count - 1 - index) % scrollback->most];
}

void scrollback_read(const struct scrollback *scrollback, const struct scrollback_line *line,
                     struct scrollback_piece pieces[2])
{
	size_t first = scrollback->capacity - line->begin;
	if (first > line->length)
		first = line->length;
	pieces[0] = (struct scrollback_piece){scrollback->bytes + line->begin, first};
	pieces[1] = (struct scrollback_piece){scrollback->bytes, line->length - first};
}

size_t scrollback_memory(const struct scrollback *scrollback)
{
	return scrollback->capacity + (scrollback->lines ? scrollback->most * sizeof *scrollback->lines : 0);
}
