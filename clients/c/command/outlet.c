#include "outlet.h"

#include "json.h"
#include "terminal.h"

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
	screen_init(&outlet->screen);
	screen_init(&outlet->err_screen);
	outlet->out_is_terminal = isatty(STDOUT_FILENO);
	outlet->err_is_terminal = isatty(STDERR_FILENO);
	if (outlet->out_is_terminal)
		terminal_show(STDOUT_FILENO, &outlet->screen);
	if (outlet->err_is_terminal && !outlet->is_one)
		terminal_show(STDERR_FILENO, &outlet->err_screen);
}

void outlet_rules(struct outlet *outlet, bool allows_clipboard, bool only_text)
{
	outlet->screen.allows_clipboard = outlet->err_screen.allows_clipboard = allows_clipboard;
	outlet->screen.only_text = outlet->err_screen.only_text = only_text;
}

void outlet_finish(struct outlet *outlet)
{
	terminal_forget();
	sink_finish(&outlet->out);
	sink_finish(&outlet->err);
}

static void tell_held(struct outlet *outlet)
{
	size_t held = sink_held(&outlet->out) + sink_held(&outlet->err);

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
	pass(&outlet->out, screen, data, length);
	tell_held(outlet);
}

void outlet_output(struct outlet *outlet, const struct sandbar_output *output)
{
	bool is_err = output->stream == SANDBAR_STDERR && !outlet->is_one;
	struct sink *sink = is_err ? &outlet->err : &outlet->out;

	if (is_err ? outlet->err_is_terminal : outlet->out_is_terminal)
		pass(sink, is_err ? &outlet->err_screen : &outlet->screen, output->data, output->length);
	else
		sink_write(sink, output->data, output->length);
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
