#include "windows.h"

#include "session.h"

#include <stdlib.h>

static const char *const names[] = {"driver", "smallest", "largest", "fixed"};
_Static_assert(sizeof names / sizeof *names == SIZE_POLICIES, "every policy has a name");

const char *size_policy_name(enum size_policy policy)
{
	return policy < SIZE_POLICIES ? names[policy] : names[SIZE_DRIVER];
}

static struct ev_loop *loop_of(const struct windows *windows)
{
	return windows->process->session->home->loop;
}

/* --- what was told -------------------------------------------------------------------------------------------- */

void told_windows_finish(struct told_windows *told)
{
	free(told->rows);
	*told = (struct told_windows){.rows = NULL};
}

static struct told_window *find_told(const struct told_windows *told, uint32_t process)
{
	for (uint32_t i = 0; i < told->count; i++)
		if (told->rows[i].process == process)
			return &told->rows[i];
	return NULL;
}

static struct told_window *make_told(struct told_windows *told)
{
	if (told->count == WINDOWS_TOLD)
		return &told->rows[told->next++ % WINDOWS_TOLD];
	told->rows = realloc(told->rows, (told->count + 1) * sizeof *told->rows);
	if (!told->rows)
		abort();
	return &told->rows[told->count++];
}

static struct window told_by(const struct channel *channel, const struct process *process)
{
	const struct told_window *row = find_told(&channel->told, process->number);
	return row && channel->role >= ROLE_EDITOR ? row->size : (struct window){0, 0};
}

/* --- the policies --------------------------------------------------------------------------------------------- */

static uint16_t least(uint16_t a, uint16_t b)
{
	return a == 0 || b < a ? b : a;
}

static uint16_t most(uint16_t a, uint16_t b)
{
	return b > a ? b : a;
}

static struct window merged(const struct windows *windows, uint16_t (*merge)(uint16_t a, uint16_t b))
{
	struct window size = {0, 0};
	const struct channel *channel;
	LIST_FOREACH(channel, &windows->process->session->channels, link) {
		struct window told = told_by(channel, windows->process);
		if (told.cols > 0)
			size = (struct window){merge(size.cols, told.cols), merge(size.rows, told.rows)};
	}
	return size;
}

static struct window by_smallest(const struct windows *windows)
{
	return merged(windows, least);
}

static struct window by_largest(const struct windows *windows)
{
	return merged(windows, most);
}

/* The driver's; where nobody drives, that of who has been here longest. */
static struct window by_driver(const struct windows *windows)
{
	uint32_t driver = windows->process->sharing.driver, first = UINT32_MAX;
	struct window size = {0, 0};
	const struct channel *channel;
	LIST_FOREACH(channel, &windows->process->session->channels, link) {
		struct window told = told_by(channel, windows->process);
		bool counts = driver ? channel->participant == driver : channel->participant < first;
		if (told.cols == 0 || !counts)
			continue;
		first = channel->participant;
		size = told;
	}
	return size;
}

static struct window by_fixed(const struct windows *windows)
{
	return windows->fixed;
}

static struct window (*const policies[SIZE_POLICIES])(const struct windows *windows) = {
	[SIZE_DRIVER] = by_driver,
	[SIZE_SMALLEST] = by_smallest,
	[SIZE_LARGEST] = by_largest,
	[SIZE_FIXED] = by_fixed,
};

/* --- setting it ----------------------------------------------------------------------------------------------- */

static bool is_current(const struct windows *windows, struct window size)
{
	return windows->process->cols == size.cols && windows->process->rows == size.rows;
}

static void set(struct windows *windows, struct window size)
{
	windows->detour = (struct window){0, 0};
	if (!process_resize(windows->process, size.cols, size.rows))
		return;
	ev_timer_stop(loop_of(windows), &windows->pause);
	/* The pause begins with the change, which may come late in a long turn of the loop. */
	ev_now_update(loop_of(windows));
	ev_timer_set(&windows->pause, WINDOWS_PAUSE, 0.);
	ev_timer_start(loop_of(windows), &windows->pause);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct windows *windows = timer->data;
	if (!is_current(windows, windows->wanted))
		set(windows, windows->wanted);
	else if (windows->detour.cols > 0)
		set(windows, windows->detour); /* and back, after another pause */
}

static void want(struct windows *windows, struct window size)
{
	windows->wanted = size;
	if (is_current(windows, size))
		return;
	if (ev_is_active(&windows->pause))
		windows->detour = size;
	else
		set(windows, size);
}

void windows_choose(struct windows *windows)
{
	if (!windows->process->terminal)
		return;
	struct window size = policies[windows->policy](windows);
	if (size.cols > 0)
		want(windows, size);
}

void windows_tell(struct windows *windows, struct channel *channel, struct window size)
{
	struct told_window *row = find_told(&channel->told, windows->process->number);
	if (!row)
		row = make_told(&channel->told);
	*row = (struct told_window){windows->process->number, size};
	windows_choose(windows);
}

void windows_init(struct windows *windows, struct process *process)
{
	*windows = (struct windows){.process = process};
	ev_timer_init(&windows->pause, on_pause_over, WINDOWS_PAUSE, 0.);
	windows->pause.data = windows;
}

void windows_stop(struct windows *windows)
{
	ev_timer_stop(loop_of(windows), &windows->pause);
}
