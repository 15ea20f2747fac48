#include "screens.h"

#include "session.h"

#include <stdlib.h>

static struct ev_loop *loop_of(const struct screens *screens)
{
	return screens->channel->session->home->loop;
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	const struct screens *screens = timer->data;
	if (screens_are_due(screens))
		screens->channel->wake(screens->channel->owner);
}

void screens_init(struct screens *screens, struct channel *channel, uint32_t rate)
{
	*screens = (struct screens){.channel = channel, .rate = rate};
	channel->session->screen_takers += rate > 0;
	ev_timer_init(&screens->tick, on_tick, 0., 0.);
	screens->tick.data = screens;
}

void screens_finish(struct screens *screens)
{
	ev_timer_stop(loop_of(screens), &screens->tick);
	screens->channel->session->screen_takers -= screens->rate > 0;
	free(screens->rows);
	screens->rows = NULL;
	screens->count = 0;
}

/* --- wanting --------------------------------------------------------------------------------------------------- */

static struct screens_row *find(const struct screens *screens, uint32_t process)
{
	for (size_t i = 0; i < screens->count; i++)
		if (screens->rows[i].process == process)
			return &screens->rows[i];
	return NULL;
}

/* Rows of terminals that are gone make room. */
static void sweep(struct screens *screens)
{
	size_t kept = 0;
	for (size_t i = 0; i < screens->count; i++) {
		const struct process *process = session_find_process(screens->channel->session, screens->rows[i].process);
		if (process && process->display.terminal)
			screens->rows[kept++] = screens->rows[i];
	}
	screens->count = kept;
}

static struct screens_row *row_of(struct screens *screens, uint32_t process)
{
	struct screens_row *row = find(screens, process);
	if (row)
		return row;
	if (screens->count == SCREENS_MOST)
		sweep(screens);
	if (screens->count == SCREENS_MOST)
		return NULL;
	screens->rows = realloc(screens->rows, (screens->count + 1) * sizeof *screens->rows);
	if (!screens->rows)
		abort();
	row = &screens->rows[screens->count++];
	*row = (struct screens_row){.process = process};
	return row;
}

static bool want(struct screens *screens, const struct process *process)
{
	bool is_for = process->display.terminal && channel_follows(screens->channel, process->number);
	struct screens_row *row = is_for ? row_of(screens, process->number) : NULL;
	if (row)
		row->is_wanted = true;
	return row != NULL;
}

void screens_want(struct screens *screens, const struct process *process)
{
	if (want(screens, process))
		screens->channel->wake(screens->channel->owner);
}

void screens_want_all(struct screens *screens)
{
	const struct process *process;
	TAILQ_FOREACH_REVERSE(process, &screens->channel->session->processes, process_list, link)
		want(screens, process);
}

bool screens_are_due(const struct screens *screens)
{
	if (ev_is_active(&screens->tick))
		return false;
	for (size_t i = 0; i < screens->count; i++)
		if (screens->rows[i].is_wanted)
			return true;
	return false;
}

bool screens_replace_output(const struct screens *screens)
{
	return screens->rate > 0;
}

static void changed(struct screens *screens, const struct process *process)
{
	if (screens->rate > 0 && want(screens, process) && !ev_is_active(&screens->tick))
		screens->channel->wake(screens->channel->owner);
}

void screens_all_changed(const struct process *process)
{
	struct channel *channel;
	if (process->session->screen_takers == 0)
		return; /* most of the time; a walk over all channels for each piece of output would be dear */
	LIST_FOREACH(channel, &process->session->channels, link)
		changed(&channel->screens, process);
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

static void arm(struct screens *screens, ev_tstamp seconds)
{
	ev_timer_stop(loop_of(screens), &screens->tick);
	ev_timer_set(&screens->tick, seconds, 0.);
	ev_timer_start(loop_of(screens), &screens->tick);
}

/* What a large screen costs is spread: false, and the tick runs, where it has to wait for that. */
static bool may_make(struct screens *screens, const struct display *display)
{
	bool is_there = display->made && display->made_version == display->version;
	uint64_t pause_us = display->terminal && !is_there ? display_pause_us(display) : 0;
	if (pause_us > 0)
		arm(screens, (double)pause_us / 1e6);
	return pause_us == 0;
}

/* False: the channel has no room for it now. */
static bool write_one(struct screens *screens, struct process *process)
{
	struct writer *own = &screens->channel->own;
	size_t length;
	const uint8_t *bytes = display_screen(&process->display, &length);
	if (!bytes)
		return true; /* it is gone */
	if (own->length > 0 && own->length + length > CHANNEL_OWN_BYTES / 2)
		return false;
	writer_array(own, 6);
	writer_uint(own, FRAME_SCREEN);
	writer_uint(own, process->number);
	writer_uint(own, process->cols);
	writer_uint(own, process->rows);
	writer_bin(own, bytes, length);
	writer_uint(own, process->display.offset);
	return true;
}

static void write_row(struct screens *screens, struct screens_row *row)
{
	struct process *process = session_find_process(screens->channel->session, row->process);
	if (!process) {
		row->is_wanted = false;
		return;
	}
	bool is_news = screens->rate == 0 || row->version != process->display.version;
	if (is_news && (!may_make(screens, &process->display) || !write_one(screens, process)))
		return;
	row->version = process->display.version;
	row->is_wanted = false;
}

void screens_write(struct screens *screens)
{
	if (!screens_are_due(screens))
		return;
	for (size_t i = 0; i < screens->count; i++)
		if (screens->rows[i].is_wanted)
			write_row(screens, &screens->rows[i]);
	if (screens->rate > 0 && !ev_is_active(&screens->tick))
		arm(screens, 1. / screens->rate);
}

void screens_show_last(struct screens *screens, struct process *process)
{
	if (screens->rate == 0 || !process->display.terminal || !channel_follows(screens->channel, process->number))
		return;
	struct screens_row *row = find(screens, process->number);
	if (!row || row->version != process->display.version)
		write_one(screens, process);
	if (row)
		row->is_wanted = false;
	screens->channel->wake(screens->channel->owner);
}
