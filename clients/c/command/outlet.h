/*
 * outlet.h: the two ways out of a command that shows a session: stdout and stderr, or JSON lines on stdout.
 *
 * What a session wrote reaches a terminal only as far as its screen lets it pass, whatever command shows it and whether or not
 * it was written in a terminal; a file or a pipe gets every byte. What it left set is undone when the terminal is left
 * (terminal.h): outlet_finish() does that, too.
 */
#ifndef SANDBAR_COMMAND_OUTLET_H
#define SANDBAR_COMMAND_OUTLET_H

#include "screen.h"
#include "sink.h"

struct outlet_way {
	struct sink sink;
	bool is_terminal;
	struct screen screen; /* what passes of a session's output, where it is one */
};

struct outlet {
	struct outlet_way out, err;
	bool is_one;                            /* both are the same file: all goes through `out`, in order */
	struct sandbar_channel *channel;        /* is told what is held; may be NULL */
	void (*failed)(int errnum, void *user); /* a write failed: told once */
	void *user;
	bool has_failed;
};

void outlet_init(struct outlet *outlet, struct sandbar *sandbar, void (*failed)(int errnum, void *user), void *user);
void outlet_finish(struct outlet *outlet);

/* What more, or less, passes to a terminal: see struct screen. */
void outlet_rules(struct outlet *outlet, bool allows_clipboard, bool only_text);

void outlet_output(struct outlet *outlet, const struct sandbar_output *output);
/* To stdout, by way of SCREEN. */
void outlet_screened(struct outlet *outlet, struct screen *screen, const void *bytes, size_t length);
void outlet_event(struct outlet *outlet, unsigned kind, const void *frame, size_t length); /* as JSON */
/* As JSON, before all else: {"event": "session", "session": "…"}, of a session that was made for what follows. */
void outlet_session(struct outlet *outlet, const char *session);
void outlet_text(struct outlet *outlet, const char *text, size_t length); /* of ours, to stdout */
bool outlet_is_drained(const struct outlet *outlet);

#endif
