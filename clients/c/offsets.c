#include "offsets.h"

#include <stdlib.h>

void offsets_init(struct offsets *offsets)
{
	*offsets = (struct offsets){0};
}

void offsets_finish(struct offsets *offsets)
{
	free(offsets->rows);
	*offsets = (struct offsets){0};
}

static struct offsets_row *find(const struct offsets *offsets, uint32_t process)
{
	for (size_t i = 0; i < offsets->count; i++)
		if (offsets->rows[i].process == process)
			return &offsets->rows[i];
	return NULL;
}

static struct offsets_row *find_or_add(struct offsets *offsets, uint32_t process)
{
	struct offsets_row *row = find(offsets, process);

	if (row)
		return row;
	if (offsets->count == offsets->capacity) {
		offsets->capacity = offsets->capacity ? offsets->capacity * 2 : 8;
		offsets->rows = realloc(offsets->rows, offsets->capacity * sizeof(*offsets->rows));
		if (!offsets->rows)
			abort();
	}
	row = &offsets->rows[offsets->count++];
	*row = (struct offsets_row){.process = process};
	return row;
}

void offsets_start(struct offsets *offsets, uint32_t process)
{
	struct offsets_row *row = find_or_add(offsets, process);

	for (unsigned stream = 0; stream < OFFSETS_STREAMS; stream++) {
		row->known[stream] = true;
		row->next[stream] = 0;
	}
}

void offsets_set(struct offsets *offsets, uint32_t process, unsigned stream, uint64_t next)
{
	struct offsets_row *row = find_or_add(offsets, process);

	row->known[stream % OFFSETS_STREAMS] = true;
	row->next[stream % OFFSETS_STREAMS] = next;
}

bool offsets_next(const struct offsets *offsets, uint32_t process, unsigned stream, uint64_t *next)
{
	const struct offsets_row *row = find(offsets, process);

	if (!row || !row->known[stream % OFFSETS_STREAMS])
		return false;
	*next = row->next[stream % OFFSETS_STREAMS];
	return true;
}

bool offsets_advance(struct offsets *offsets, uint32_t process, unsigned stream, uint64_t offset, uint64_t length)
{
	uint64_t next;
	bool exact = !offsets_next(offsets, process, stream, &next) || next == offset;

	offsets_set(offsets, process, stream, offset + length);
	return exact;
}

void offsets_close(struct offsets *offsets, uint32_t process, unsigned stream)
{
	struct offsets_row *row = find(offsets, process);

	if (!row)
		return;
	row->known[stream % OFFSETS_STREAMS] = false;
	for (unsigned other = 0; other < OFFSETS_STREAMS; other++)
		if (row->known[other])
			return;
	*row = offsets->rows[--offsets->count];
}

void offsets_clear(struct offsets *offsets)
{
	offsets->count = 0;
}
