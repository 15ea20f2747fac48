/*
 * window.h: one terminal of a session in the user's own, which may have another size.
 *
 * A copy of the terminal is kept with the server's own VT core. Where the sizes are the same, nothing else is shown and it
 * is not to be safe, what the program writes passes through (screen.h). Else the copy is drawn, row by row as it changes:
 * then nothing that the program wrote reaches the user's terminal but its characters and their looks. Of a larger terminal
 * the rows around the cursor are shown.
 *
 * The last row may be taken for a line of ours. It is the user's window that gives it: the size that is told to the server
 * is one row less, so the program draws nothing there.
 */
#ifndef SANDBAR_COMMAND_WINDOW_H
#define SANDBAR_COMMAND_WINDOW_H

#include "outlet.h"

struct terminal;

enum { WINDOW_LINE_BYTES = 1024, WINDOW_LIST_MOST = 32 };

struct window {
	struct outlet *outlet; /* its screen is what the user's terminal is like */
	bool is_safe;          /* nothing passes through */
	bool has_status;       /* the last row is ours, always */
	bool takes_keys;       /* the user types: his terminal sends keys and the mouse as the program wants them */
	uint32_t cols, rows;   /* of the user's terminal */

	struct terminal *copy; /* NULL: nothing is known of the terminal yet */
	struct screen program; /* what the program wrote, where it is drawn */
	bool is_drawn, is_dirty;
	int64_t drawn_ms;
	uint32_t first_row; /* of the terminal, that is shown in the first of the window */
	char line[WINDOW_LINE_BYTES];
	const char *list[WINDOW_LIST_MOST]; /* lines shown above the last row; owned */
	size_t list_count;
	char **shown; /* what each row of the window shows now */
	size_t shown_count;
	char *keys, *title; /* what the user's terminal was told */
};

/* OUTLET must have its rules, and live as long. */
void window_init(struct window *window, struct outlet *outlet);
void window_finish(struct window *window);

/* The user's terminal has this size, also at first. */
void window_fit(struct window *window, uint32_t cols, uint32_t rows);
/* What is in it is not known any more (it was left and entered again). */
void window_renew(struct window *window);
/* How many rows the program may have. */
uint32_t window_program_rows(const struct window *window);

/* The session's terminal. */
void window_resized(struct window *window, uint32_t cols, uint32_t rows);
void window_screen(struct window *window, uint32_t cols, uint32_t rows, const void *bytes, size_t length);
void window_output(struct window *window, const void *bytes, size_t length);

/* The line in the last row; without has_status it is there while it is not "". */
void window_line(struct window *window, const char *line);
/* Lines above it; each is copied. COUNT 0 takes them away. */
void window_list(struct window *window, const char *const *lines, size_t count);

/* Draw what has changed, if it is time. Returns after how many milliseconds it wants to be called again; -1: when
 * something has happened. */
int window_turn(struct window *window, int64_t now_ms);

/* The last screen as text, for after the user's terminal was left; for people who want to know how it ended. */
void window_farewell(const struct window *window);

#endif
