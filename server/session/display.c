#include "display.h"

#include "server/terminal/terminal.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* Emulators lay out anew what they show when their size changes, each in its own way (terminal.h): once the size rests,
 * whoever watches gets the screen as it is. */
static const ev_tstamp settle_s = 0.3;

static struct ev_loop *loop_of(const struct display *display)
{
	return display->process->session->home->loop;
}

static void on_settled(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	const struct display *display = timer->data;
	struct channel *channel;
	LIST_FOREACH(channel, &display->process->session->channels, link)
		if (channel->mode == CHANNEL_LIVE)
			screens_want(&channel->screens, display->process);
}

void display_init(struct display *display, struct process *process)
{
	*display = (struct display){.process = process};
	ev_timer_init(&display->settled, on_settled, settle_s, 0.);
	display->settled.data = display;
}

/* Take CELLS of the session's instead of what it has. */
static bool take_cells(struct display *display, uint32_t cells)
{
	struct session *session = display->process->session;
	if (session->display_cells - display->cells + cells > DISPLAY_CELLS)
		return false;
	session->display_cells += cells - display->cells;
	display->cells = cells;
	return true;
}

static void drop(struct display *display)
{
	take_cells(display, 0);
	terminal_destroy(display->terminal);
	display->terminal = NULL;
	free(display->made);
	display->made = NULL;
}

void display_open(struct display *display, uint16_t cols, uint16_t rows)
{
	if (display->terminal || !take_cells(display, (uint32_t)cols * rows))
		return;
	display->terminal = terminal_create(cols, rows, TERMINAL_SCROLLBACK_LINES);
	display->version++;
}

void display_close(struct display *display)
{
	ev_timer_stop(loop_of(display), &display->settled);
	drop(display);
}

size_t display_room(const struct display *display)
{
	if (!display->terminal)
		return JOURNAL_READ;
	size_t cells = (size_t)terminal_columns(display->terminal) * terminal_rows(display->terminal);
	size_t room = DISPLAY_TURN / cells;
	return room < DISPLAY_TURN_LEAST ? DISPLAY_TURN_LEAST : room < JOURNAL_READ ? room : JOURNAL_READ;
}

void display_feed(struct display *display, const uint8_t *bytes, size_t length, bool is_live)
{
	struct terminal_answers answers;
	display->offset += length;
	if (!display->terminal)
		return;
	terminal_feed(display->terminal, bytes, length, is_live ? &answers : NULL);
	display->version++;
	if (is_live && answers.length > 0)
		input_answer(&display->process->input, answers.bytes, answers.length);
}

void display_resize(struct display *display, uint16_t cols, uint16_t rows)
{
	if (!display->terminal)
		return;
	if (!take_cells(display, (uint32_t)cols * rows)) {
		drop(display);
		return;
	}
	terminal_resize(display->terminal, cols, rows);
	display->version++;
	ev_timer_stop(loop_of(display), &display->settled);
	ev_timer_set(&display->settled, settle_s, 0.);
	ev_timer_start(loop_of(display), &display->settled);
}

uint8_t *display_make(const struct display *display, uint32_t scrollback, size_t *length)
{
	size_t more;
	uint8_t *screen = terminal_screen(display->terminal, scrollback, length);
	uint8_t *pending = terminal_pending(display->terminal, &more);
	screen = realloc(screen, *length + more + 1);
	if (!screen)
		abort();
	if (more > 0)
		memcpy(screen + *length, pending, more);
	*length += more;
	free(pending);
	return screen;
}

uint64_t display_pause_us(const struct display *display)
{
	uint64_t since_us = journal_now_us(display->process->session->journal) - display->made_us;
	uint64_t pause_us = display->cells / 2; /* several times what it takes */
	bool is_free = display->cells <= DISPLAY_CHEAP_CELLS || display->made_us == 0 || since_us >= pause_us;
	return is_free ? 0 : pause_us - since_us;
}

static void make_anew(struct display *display)
{
	static const char too_large[] = TERMINAL_RESET "This screen is too large to be shown to who was not here.\r\n";
	free(display->made);
	display->made = display_make(display, TERMINAL_SCROLLBACK_LINES, &display->made_length);
	if (display->made_length > DISPLAY_SCREEN_BYTES) {
		free(display->made);
		display->made = display_make(display, 0, &display->made_length);
	}
	if (display->made_length > DISPLAY_SCREEN_BYTES) {
		memcpy(display->made, too_large, sizeof too_large - 1);
		display->made_length = sizeof too_large - 1;
	}
	display->made_version = display->version;
	display->made_us = journal_now_us(display->process->session->journal);
}

const uint8_t *display_screen(struct display *display, size_t *length)
{
	if (!display->terminal)
		return NULL;
	if (!display->made || display->made_version != display->version)
		make_anew(display);
	*length = display->made_length;
	return display->made;
}
