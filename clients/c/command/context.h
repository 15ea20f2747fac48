/*
 * context.h: what every command needs: the connection, made from the options, and errors in one form.
 */
#ifndef SANDBAR_COMMAND_CONTEXT_H
#define SANDBAR_COMMAND_CONTEXT_H

#include "options.h"

struct context {
	const struct options *options;
	struct sandbar *sandbar;
	char *url, *token;
	int64_t cut_at_ms; /* 0: not cut */
	bool cut_was_told;
	bool is_quiet; /* nothing is said about cuts (a raw terminal) */
};

/* Find the server and its token, and make the connection without opening it. Returns -1, or an exit code after the
 * reason was printed. The caller ends it with context_finish(). */
int context_init(struct context *context, const struct options *options);
/* The same, and connect. */
int context_connect(struct context *context, const struct options *options);
/* The same without a word: for who can do without a server. */
int context_try(struct context *context, const struct options *options);
void context_finish(struct context *context);

/* How long the server should wait for this program after a cut: it tries for less. */
uint64_t context_away_ms(const struct options *options);

/* One turn of the loop. A cut that lasts is told on stderr after two seconds, and its end then, too. */
int context_turn(struct context *context, struct sandbar_error *error);

/* The same, of at most MOST_MS (-1: until something happens). */
int context_turn_within(struct context *context, int most_ms, struct sandbar_error *error);

/* "sandbar: WHAT: message (code)" on stderr; returns the exit code that fits. */
int context_fail(const struct context *context, const char *what, const struct sandbar_error *error);
/* "sandbar: …" on stderr, with what others wrote escaped by the caller. */
void context_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The id of the session that the user named: an id, the name of exactly one session, or by a link (link.h). -1, or an
 * exit code. */
int context_session(struct context *context, const char *name, char id[SANDBAR_SESSION_BYTES]);
/* A process number as the user wrote it. -1, or an exit code. */
int context_process(const char *text, uint32_t *process);

#endif
