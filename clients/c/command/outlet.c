#include "outlet.h"

#include "json.h"

#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 16 * 1024 };

static void on_changed(struct sink *sink, void *user)
{
	struct outlet *outlet = user;

	if (outlet->channel)
		sandbar_channel_held(outlet->channel, sink_held(&outlet->out) + sink_held(&outlet->err));
	if (sink->failure && !outlet->has_failed) {
		outlet->has_failed = true;
		outlet->failed(sink->failure, outlet->user);
	}
}

void outlet_init(struct outlet *outlet, struct sandbar *sandbar, void (*failed)(int errnum, void *user), void *user)
{
	*outlet = (struct outlet){.failed = failed, .user = user, .is_one = sink_is_same(STDOUT_FILENO, STDERR_FILENO)};
	sink_init(&outlet->out, sandbar, STDOUT_FILENO);
	sink_init(&outlet->err, sandbar, STDERR_FILENO);
	outlet->out.changed = outlet->err.changed = on_changed;
	outlet->out.user = outlet->err.user = outlet;
}

void outlet_finish(struct outlet *outlet)
{
	sink_finish(&outlet->out);
	sink_finish(&outlet->err);
}

static void tell_held(struct outlet *outlet)
{
	size_t held = sink_held(&outlet->out) + sink_held(&outlet->err);

	if (held && outlet->channel)
		sandbar_channel_held(outlet->channel, held);
}

void outlet_screened(struct outlet *outlet, struct screen *screen, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint8_t passed[SCREEN_GROWTH * PIECE_BYTES + SCREEN_HELD];

	while (length > 0) {
		size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;
		sink_write(&outlet->out, passed, screen_feed(screen, bytes, piece, passed));
		bytes += piece;
		length -= piece;
	}
	tell_held(outlet);
}

void outlet_output(struct outlet *outlet, const struct sandbar_output *output)
{
	if (output->stream == SANDBAR_STDERR && !outlet->is_one)
		sink_write(&outlet->err, output->data, output->length);
	else if (outlet->has_screen)
		outlet_screened(outlet, &outlet->screen, output->data, output->length);
	else
		sink_write(&outlet->out, output->data, output->length);
	tell_held(outlet);
}

void outlet_event(struct outlet *outlet, unsigned kind, const void *frame, size_t length)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	json_event(out, kind, frame, length);
	fclose(out);
	sink_write(&outlet->out, text, size);
	free(text);
	tell_held(outlet);
}

void outlet_session(struct outlet *outlet, const char *session)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "{\"event\": \"session\", \"session\": \"%s\"}\n", session);

	sink_write(&outlet->out, line, (size_t)length);
}

void outlet_text(struct outlet *outlet, const char *text, size_t length)
{
	sink_write(&outlet->out, text, length);
}

bool outlet_is_drained(const struct outlet *outlet)
{
	return sink_held(&outlet->out) == 0 && sink_held(&outlet->err) == 0;
}
