#include "clocks.h"

#include "session.h"

static const ev_tstamp poll_ending_s = 0.02; /* how often emptiness is looked for while a tree is being ended */
static const ev_tstamp poll_cpu_s = 0.1;     /* how often the cpu clock is read */
static const ev_tstamp quiet_s = 0.1;        /* how long an exited leader's terminal must have nothing to be drained */
static const ev_tstamp overdue_s = 2; /* how long a lossless channel may hold back what an exited leader had written */
static const ev_tstamp poll_survivors_s = 1; /* how often it is looked whether an exited leader's descendants live */

static struct ev_loop *loop_of(const struct process *process)
{
	return process->session->home->loop;
}

static void restart(struct process *process, ev_timer *timer, ev_tstamp seconds)
{
	ev_timer_stop(loop_of(process), timer);
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(loop_of(process), timer);
}

static void on_wall(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	process_end(process, REASON_TIMEOUT, "wall", process->grace_ms);
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	struct process *process = timer->data;
	if (process->held) { /* the silence is ours, not the process's */
		ev_timer_again(loop, timer);
		return;
	}
	ev_timer_stop(loop, timer);
	process_end(process, REASON_IDLE, "idle", process->grace_ms);
}

static void on_grace(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	process_kill_now(timer->data);
}

static void on_disconnect(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	process_end(process, REASON_CANCELLED, "disconnect", process->grace_ms);
}

/* The terminal of an exited leader hangs up at once (then its source ends), unless the leader had given it away. */
static void on_quiet(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	if (process->state != PROCESS_REAPED)
		return;
	sources_read(process); /* the loop may have been held up: what came meanwhile stands in its row behind this timer */
	if (process->state != PROCESS_REAPED)
		return;
	if (process->held || !sources_give_up(process))
		restart(process, timer, quiet_s);
	process_settle(process);
}

static void on_overdue(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	process->is_overdue = true;
	if (!process->held)
		return;
	process_hold(process, false);
	sources_read(process);
	process_settle(process);
}

static void on_poll(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct process *process = timer->data;
	if (!process->session->sandbox)
		return;
	process_ask_usage(process);
	bool is_ending = process->must_empty && !process->is_empty;
	if (is_ending)
		restart(process, timer, poll_ending_s);
	else if (process->state == PROCESS_DONE && !process->is_empty)
		restart(process, timer, poll_survivors_s);
	else if (process->state == PROCESS_RUNNING && process->cpu_ms > 0)
		restart(process, timer, poll_cpu_s);
}

void clocks_start(struct process *process)
{
	uint64_t gone_ms = (journal_now_us(process->session->journal) - process->started_us) / 1000;
	uint64_t wall_ms = process->wall_ms > gone_ms ? process->wall_ms - gone_ms : 0;
	if (process->wall_ms > 0)
		restart(process, &process->wall, (double)wall_ms / 1e3);
	if (process->idle_ms > 0)
		ev_timer_again(loop_of(process), &process->idle);
	if (process->cpu_ms > 0)
		restart(process, &process->poll, poll_cpu_s);
}

void clocks_output(struct process *process)
{
	if (process->idle_ms > 0 && process->state == PROCESS_RUNNING)
		ev_timer_again(loop_of(process), &process->idle);
}

void clocks_reaped(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->wall);
	ev_timer_stop(loop_of(process), &process->idle);
	restart(process, &process->overdue, overdue_s);
}

void clocks_grace(struct process *process, uint64_t grace_ms)
{
	restart(process, &process->grace, (double)grace_ms / 1e3);
	restart(process, &process->poll, poll_ending_s);
}

void clocks_no_grace(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->grace);
}

void clocks_empty(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->grace);
	ev_timer_stop(loop_of(process), &process->disconnect);
}

void clocks_quiet(struct process *process)
{
	if (process->terminal)
		restart(process, &process->quiet, quiet_s);
}

void clocks_survivors(struct process *process)
{
	if (!ev_is_active(&process->poll))
		restart(process, &process->poll, poll_survivors_s);
}

void clocks_forgotten(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->poll);
}

void process_client_left(struct process *process)
{
	if (process->state < PROCESS_REAPED || !process->is_empty)
		restart(process, &process->disconnect, (double)process->disconnect_ms / 1e3);
}

void process_client_back(struct process *process)
{
	ev_timer_stop(loop_of(process), &process->disconnect);
}

void clocks_init(struct process *process)
{
	ev_timer_init(&process->wall, on_wall, 0., 0.);
	ev_timer_init(&process->idle, on_idle, 0., (double)process->idle_ms / 1e3);
	ev_timer_init(&process->poll, on_poll, 0., 0.);
	ev_timer_init(&process->grace, on_grace, 0., 0.);
	ev_timer_init(&process->disconnect, on_disconnect, 0., 0.);
	ev_timer_init(&process->quiet, on_quiet, 0., 0.);
	ev_timer_init(&process->overdue, on_overdue, 0., 0.);
	ev_timer *const timers[] = {&process->wall,       &process->idle,  &process->poll,   &process->grace,
	                            &process->disconnect, &process->quiet, &process->overdue};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		timers[i]->data = process;
}

void clocks_stop(struct process *process)
{
	ev_timer *const timers[] = {&process->wall,  &process->idle,  &process->poll,
	                            &process->grace, &process->quiet, &process->overdue};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		ev_timer_stop(loop_of(process), timers[i]);
	if (process->is_empty) /* else it is its survivors' */
		ev_timer_stop(loop_of(process), &process->disconnect);
}
