#include "input.h"

#include "protocol/wire.h"

#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = LIMIT_STDIN_WINDOW };

void input_init(struct input *input)
{
	*input = (struct input){0};
}

void input_finish(struct input *input)
{
	free(input->ring);
	*input = (struct input){0};
}

void input_start_at(struct input *input, uint64_t offset)
{
	input->base = input->sent = input->end = offset;
}

size_t input_room(const struct input *input)
{
	return input->eof || input->stopped ? 0 : RING_BYTES - (size_t)(input->end - input->base);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t input_take(struct input *input, const void *data, size_t length)
{
	size_t taken = smaller(length, input_room(input));
	size_t at = (size_t)(input->end % RING_BYTES), head = smaller(taken, RING_BYTES - at);

	if (taken == 0)
		return 0;
	if (!input->ring && !(input->ring = malloc(RING_BYTES)))
		abort();
	memcpy(input->ring + at, data, head);
	memcpy(input->ring, (const uint8_t *)data + head, taken - head);
	input->end += taken;
	return taken;
}

void input_end(struct input *input)
{
	input->eof = true;
}

static void frames_clear(struct input *input)
{
	input->frames = input->refusals = 0;
}

static uint64_t frame_start(const struct input *input, unsigned index)
{
	return input->starts[(input->first_frame + index) % INPUT_FRAMES];
}

/* The first frame on its way is written whole when the one behind it begins within what was written. */
static void frames_written(struct input *input, uint64_t offset)
{
	while (input->frames && (input->frames > 1 ? frame_start(input, 1) : input->sent) <= offset) {
		input->first_frame = (input->first_frame + 1) % INPUT_FRAMES;
		input->frames--;
	}
}

bool input_next(struct input *input, size_t most, uint64_t *offset, const uint8_t **data, size_t *length)
{
	size_t at = (size_t)(input->sent % RING_BYTES);
	size_t run = smaller(smaller((size_t)(input->end - input->sent), RING_BYTES - at), most);

	if (run == 0 || input->full || input->refusals || input->frames == INPUT_FRAMES)
		return false;
	input->starts[(input->first_frame + input->frames++) % INPUT_FRAMES] = input->sent;
	*offset = input->sent;
	*data = input->ring + at;
	*length = run;
	input->sent += run;
	return true;
}

bool input_next_eof(struct input *input, uint64_t *offset)
{
	if (!input->eof || input->eof_sent || input->stopped || input->full || input->refusals || input->sent != input->end)
		return false;
	*offset = input->end;
	return input->eof_sent = true;
}

bool input_acknowledge(struct input *input, uint64_t offset)
{
	if (offset > input->sent)
		return false;
	if (offset > input->base)
		input->base = offset;
	input->full = false;
	frames_written(input, offset);
	return true;
}

bool input_resume(struct input *input, uint64_t offset)
{
	if (offset < input->base || offset > input->end)
		return false;
	input->base = input->sent = offset;
	input->eof_sent = false;
	input->full = false;
	frames_clear(input);
	return true;
}

bool input_wait_at(struct input *input, uint64_t offset)
{
	if (offset < input->base || offset > input->end)
		return false;
	input->sent = offset;
	input->eof_sent = false;
	input->full = true;
	frames_clear(input);
	return true;
}

/* Frames behind a refused one stand above the offset at which input goes on, so the server refuses each of them, too,
 * and its word on those must not be taken for one on what is typed now. */
bool input_refuse(struct input *input, uint64_t offset)
{
	unsigned behind = 0;

	if (input->refusals)
		return input->refusals--;
	if (offset < input->base || offset > input->end)
		return false;
	for (unsigned i = 0; i < input->frames; i++)
		behind += frame_start(input, i) > offset;
	frames_clear(input);
	input->refusals = behind;
	input->base = input->sent = input->end = offset;
	input->eof = input->eof_sent = false;
	return true;
}

void input_stop(struct input *input)
{
	input->stopped = true;
	frames_clear(input);
	input->base = input->sent = input->end;
}

bool input_is_done(const struct input *input)
{
	return input->base == input->end && (!input->eof || input->eof_sent || input->stopped);
}
