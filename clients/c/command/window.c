#include "window.h"

#include "escape.h"
#include "server/terminal/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MS = 16 };

/* As a terminal is that nobody has used, but for what is on it. */
static const char RESET[] = "\033[!p\033[r\033[m\033(B\033)B\017\033]8;;\a\033[?7h\033[4l\033[20l\033[?25h";

void window_init(struct window *window, struct outlet *outlet)
{
	*window = (struct window){.outlet = outlet, .cols = 80, .rows = 24};
	screen_init(&window->program);
	window->program.only_sounds = true;
	window->program.allows_clipboard = outlet->out.screen.allows_clipboard;
}

static void forget_shown(struct window *window)
{
	for (size_t i = 0; i < window->shown_count; i++)
		free(window->shown[i]);
	free(window->shown);
	free(window->keys);
	free(window->title);
	window->shown = NULL;
	window->shown_count = 0;
	window->keys = window->title = NULL;
}

static void forget_list(struct window *window)
{
	for (size_t i = 0; i < window->list_count; i++)
		free((char *)window->list[i]);
	window->list_count = 0;
}

void window_finish(struct window *window)
{
	forget_list(window);
	forget_shown(window);
	terminal_destroy(window->copy);
	*window = (struct window){0};
}

static void write_bytes(struct window *window, const void *bytes, size_t length)
{
	outlet_screened(window->outlet, &window->outlet->out.screen, bytes, length);
}

static void write_text(struct window *window, const char *text)
{
	write_bytes(window, text, strlen(text));
}

/* ---- Passing through, or drawing ---- */

static bool must_draw(const struct window *window)
{
	bool has_own = window->has_status || window->line[0] || window->list_count;

	return window->is_safe || has_own || !window->copy || terminal_columns(window->copy) != window->cols ||
	       terminal_rows(window->copy) != window->rows;
}

static void undo_modes(struct window *window)
{
	char undo[SCREEN_RESTORE_BYTES];

	screen_break(&window->outlet->out.screen);
	write_bytes(window, undo, screen_restore(&window->outlet->out.screen, undo));
}

/* The alternate screen is entered first: with it the place is saved to which the cursor returns in the end. */
static void begin_drawing(struct window *window)
{
	undo_modes(window);
	write_text(window, "\033[?1049h");
	write_text(window, RESET);
	write_text(window, "\033[H\033[2J");
	forget_shown(window);
	window->is_drawn = window->is_dirty = true;
}

/* A screen, without what would take the user's scrollback. */
static void pass_screen(struct window *window, const uint8_t *bytes, size_t length)
{
	size_t hard = sizeof(TERMINAL_RESET) - 1;
	bool has_hard = length >= hard && memcmp(bytes, TERMINAL_RESET, hard) == 0;

	undo_modes(window);
	write_text(window, RESET);
	write_text(window, "\033[H\033[2J");
	write_bytes(window, bytes + (has_hard ? hard : 0), length - (has_hard ? hard : 0));
}

static void pass_copy(struct window *window)
{
	size_t length, pending_length;
	uint8_t *bytes = terminal_screen(window->copy, 0, &length);
	uint8_t *pending = terminal_pending(window->copy, &pending_length);

	pass_screen(window, bytes, length);
	write_bytes(window, pending, pending_length);
	free(pending);
	free(bytes);
}

static void choose(struct window *window)
{
	bool draws = must_draw(window);

	window->is_dirty = true;
	if (draws == window->is_drawn)
		return;
	if (draws) {
		begin_drawing(window);
		return;
	}
	forget_shown(window);
	window->is_drawn = false;
	pass_copy(window);
}

void window_fit(struct window *window, uint32_t cols, uint32_t rows)
{
	window->cols = cols;
	window->rows = rows;
	if (window->is_drawn)
		begin_drawing(window);
	choose(window);
}

void window_renew(struct window *window)
{
	if (window->is_drawn)
		begin_drawing(window);
	else if (window->copy)
		pass_copy(window);
}

uint32_t window_program_rows(const struct window *window)
{
	return window->has_status && window->rows > 1 ? window->rows - 1 : window->rows;
}

/* ---- What is known of the terminal ---- */

void window_resized(struct window *window, uint32_t cols, uint32_t rows)
{
	if (!window->copy)
		window->copy = terminal_create(cols, rows, 0);
	else
		terminal_resize(window->copy, cols, rows);
	choose(window);
}

void window_screen(struct window *window, uint32_t cols, uint32_t rows, const void *bytes, size_t length)
{
	terminal_destroy(window->copy);
	window->copy = terminal_create(cols, rows, 0);
	terminal_feed(window->copy, bytes, length, NULL);
	screen_break(&window->program);
	bool was_passing = !window->is_drawn;
	choose(window);
	if (was_passing && !window->is_drawn)
		pass_screen(window, bytes, length);
}

void window_output(struct window *window, const void *bytes, size_t length)
{
	if (!window->copy)
		return; /* it begins with a screen, or a size */
	terminal_feed(window->copy, bytes, length, NULL);
	outlet_screened(window->outlet, window->is_drawn ? &window->program : &window->outlet->out.screen, bytes, length);
	window->is_dirty = true;
}

/* ---- Our own lines ---- */

void window_line(struct window *window, const char *line)
{
	if (strcmp(window->line, line) == 0)
		return;
	snprintf(window->line, sizeof(window->line), "%s", line);
	choose(window);
}

void window_list(struct window *window, const char *const *lines, size_t count)
{
	forget_list(window);
	for (size_t i = 0; i < count && i < WINDOW_LIST_MOST; i++)
		if (!(window->list[window->list_count++] = strdup(lines[i])))
			abort();
	choose(window);
}

/* ---- Drawing ---- */

static bool has_line(const struct window *window)
{
	return (window->has_status || window->line[0] || window->list_count) && window->rows > 1;
}

static uint32_t rows_for_copy(const struct window *window)
{
	return window->rows - (has_line(window) ? 1 : 0);
}

/* The cursor's row is among those that are shown, and as few rows as possible move. */
static void scroll_to_cursor(struct window *window)
{
	uint32_t room = rows_for_copy(window), rows = window->copy ? terminal_rows(window->copy) : 0;
	uint32_t row = window->copy ? terminal_cursor(window->copy).row : 0;

	if (window->first_row + room > rows)
		window->first_row = rows > room ? rows - room : 0;
	if (row < window->first_row)
		window->first_row = row;
	if (row >= window->first_row + room)
		window->first_row = row - room + 1;
}

/* A line of ours: in reverse, never wrapped, and whatever is in it steers nothing. */
static char *own_row(const char *text)
{
	char *row;
	size_t length;
	FILE *out = open_memstream(&row, &length);

	if (!out)
		abort();
	fputs("\033[7m\033[?7l\033[K", out);
	escape_print(out, text, strlen(text));
	fputs("\033[?7h\033[m", out);
	fclose(out);
	return row;
}

static char *copy_row(const struct window *window, uint32_t row)
{
	size_t length;

	if (!window->copy || row >= terminal_rows(window->copy))
		return strdup("");
	uint8_t *bytes = terminal_row(window->copy, row, window->cols, &length);
	char *text = realloc(bytes, length + 1);
	if (text)
		text[length] = '\0';
	return text;
}

static char *window_row(const struct window *window, uint32_t row)
{
	uint32_t room = rows_for_copy(window);
	uint32_t list = window->list_count < room ? (uint32_t)window->list_count : room;
	char *text;

	if (row >= room)
		return own_row(window->line);
	if (row >= room - list)
		return own_row(window->list[row - (room - list)]);
	text = copy_row(window, window->first_row + row);
	if (!text)
		abort();
	return text;
}

static void draw_row(struct window *window, FILE *out, uint32_t row)
{
	char *text = window_row(window, row);

	if (window->shown[row] && strcmp(window->shown[row], text) == 0) {
		free(text);
		return;
	}
	fprintf(out, "\033[%u;1H\033[m\033[K%s", row + 1, text);
	free(window->shown[row]);
	window->shown[row] = text;
}

/* Write TEXT (which becomes the window's) unless the user's terminal was told it already. */
static void tell(FILE *out, char **told, char *text, const char *before, const char *after)
{
	if (!text)
		abort();
	if (*told && strcmp(*told, text) == 0) {
		free(text);
		return;
	}
	fprintf(out, "%s%s%s", before, text, after);
	free(*told);
	*told = text;
}

static void draw_keys(struct window *window, FILE *out)
{
	size_t length;
	uint8_t *bytes = terminal_keys(window->copy, &length);
	char *text = realloc(bytes, length + 1);

	if (text)
		text[length] = '\0';
	tell(out, &window->keys, text, "", "");
}

static void draw_cursor(const struct window *window, FILE *out)
{
	struct terminal_cursor cursor = terminal_cursor(window->copy);
	uint32_t room = rows_for_copy(window) -
	                (uint32_t)(window->list_count < rows_for_copy(window) ? window->list_count : 0);
	bool is_seen = cursor.is_shown && cursor.column < window->cols && cursor.row - window->first_row < room;

	fprintf(out, "\033[%u;%uH\033[%u q", cursor.row - window->first_row + 1, cursor.column + 1, cursor.style);
	fputs(is_seen ? "\033[?25h" : "", out);
}

static void draw(struct window *window)
{
	char *bytes;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);

	if (!window->shown) {
		window->shown_count = window->rows;
		window->shown = calloc(window->rows, sizeof(char *));
	}
	if (!out || !window->shown)
		abort();
	scroll_to_cursor(window);
	fputs("\033[?2026h\033[?25l", out);
	for (uint32_t row = 0; row < window->rows; row++)
		draw_row(window, out, row);
	if (window->copy) {
		if (window->takes_keys)
			draw_keys(window, out);
		tell(out, &window->title, strdup(terminal_title(window->copy)), "\033]2;", "\a");
		draw_cursor(window, out);
	}
	fputs("\033[?2026l", out);
	fclose(out);
	write_bytes(window, bytes, length);
	free(bytes);
}

/* While the user's terminal has not taken the last picture there is no use in another one. */
int window_turn(struct window *window, int64_t now_ms)
{
	if (!window->is_drawn || !window->is_dirty || !outlet_is_drained(window->outlet))
		return -1;
	int64_t left = window->drawn_ms + FRAME_MS - now_ms;
	if (left > 0)
		return (int)left;
	window->is_dirty = false;
	window->drawn_ms = now_ms;
	draw(window);
	return -1;
}

void window_farewell(const struct window *window)
{
	uint32_t last = window->copy ? terminal_cursor(window->copy).row : 0;

	if (!window->copy || !window->is_drawn || terminal_is_alternate(window->copy))
		return;
	for (uint32_t row = 0; row <= last; row++) {
		size_t length;
		uint8_t *bytes = terminal_row(window->copy, row, window->cols, &length);
		fwrite(bytes, 1, length, stdout);
		if (row < last)
			fputs("\r\n", stdout);
		free(bytes);
	}
	fputs("\r\n", stdout);
	fflush(stdout);
}
