#include "outlet.h"

#include "json.h"
#include "terminal.h"

#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 16 * 1024 };

static size_t held_in(const struct outlet *outlet)
{
	return sink_held(&outlet->out.sink) + sink_held(&outlet->err.sink);
}

static void on_changed(struct sink *sink, void *user)
{
	struct outlet *outlet = user;

	if (outlet->channel)
		sandbar_channel_held(outlet->channel, held_in(outlet));
	if (sink->failure && !outlet->has_failed) {
		outlet->has_failed = true;
		outlet->failed(sink->failure, outlet->user);
	}
}

static void way_init(struct outlet_way *way, struct sandbar *sandbar, int fd, struct outlet *outlet)
{
	sink_init(&way->sink, sandbar, fd);
	way->sink.changed = on_changed;
	way->sink.user = outlet;
	screen_init(&way->screen);
	way->is_terminal = isatty(fd);
}

void outlet_init(struct outlet *outlet, struct sandbar *sandbar, void (*failed)(int errnum, void *user), void *user)
{
	*outlet = (struct outlet){.failed = failed, .user = user, .is_one = sink_is_same(STDOUT_FILENO, STDERR_FILENO)};
	way_init(&outlet->out, sandbar, STDOUT_FILENO, outlet);
	way_init(&outlet->err, sandbar, STDERR_FILENO, outlet);
	if (outlet->out.is_terminal)
		terminal_show(STDOUT_FILENO, &outlet->out.screen);
	if (outlet->err.is_terminal && !outlet->is_one)
		terminal_show(STDERR_FILENO, &outlet->err.screen);
}

void outlet_rules(struct outlet *outlet, bool allows_clipboard, bool only_text)
{
	outlet->out.screen.allows_clipboard = outlet->err.screen.allows_clipboard = allows_clipboard;
	outlet->out.screen.only_text = outlet->err.screen.only_text = only_text;
}

void outlet_finish(struct outlet *outlet)
{
	terminal_forget();
	sink_finish(&outlet->out.sink);
	sink_finish(&outlet->err.sink);
}

static void tell_held(struct outlet *outlet)
{
	size_t held = held_in(outlet);

	if (held && outlet->channel)
		sandbar_channel_held(outlet->channel, held);
}

static void pass(struct sink *sink, struct screen *screen, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint8_t passed[SCREEN_GROWTH * PIECE_BYTES + SCREEN_HELD];

	while (length > 0) {
		size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;
		sink_write(sink, passed, screen_feed(screen, bytes, piece, passed));
		bytes += piece;
		length -= piece;
	}
}

void outlet_screened(struct outlet *outlet, struct screen *screen, const void *data, size_t length)
{
	pass(&outlet->out.sink, screen, data, length);
	tell_held(outlet);
}

void outlet_output(struct outlet *outlet, const struct sandbar_output *output)
{
	struct outlet_way *way = output->stream == SANDBAR_STDERR && !outlet->is_one ? &outlet->err : &outlet->out;

	if (way->is_terminal)
		pass(&way->sink, &way->screen, output->data, output->length);
	else
		sink_write(&way->sink, output->data, output->length);
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
	sink_write(&outlet->out.sink, text, size);
	free(text);
	tell_held(outlet);
}

void outlet_session(struct outlet *outlet, const char *session)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "{\"event\": \"session\", \"session\": \"%s\"}\n", session);

	sink_write(&outlet->out.sink, line, (size_t)length);
}

void outlet_text(struct outlet *outlet, const char *text, size_t length)
{
	sink_write(&outlet->out.sink, text, length);
}

bool outlet_is_drained(const struct outlet *outlet)
{
	return held_in(outlet) == 0;
}
