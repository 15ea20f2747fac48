#include "process.h"

#include "session.h"
#include "shell.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static const struct driver *driver_of(const struct process *process)
{
	return process->session->home->driver;
}

/* Take the watches that wait for a moment out of the list and call them. */
#define TELL(process, moment)                                                    \
	do {                                                                         \
		struct process_watch *watch_, *next_;                                    \
		for (watch_ = LIST_FIRST(&(process)->watches); watch_; watch_ = next_) { \
			next_ = LIST_NEXT(watch_, link);                                     \
			if (!watch_->moment)                                                 \
				continue;                                                        \
			LIST_REMOVE(watch_, link);                                           \
			watch_->moment(watch_, process);                                     \
		}                                                                        \
	} while (0)

void process_tell_empty(struct process *process)
{
	TELL(process, empty);
}

/* --- its end -------------------------------------------------------------------------------------------------- */

void process_forget_if_over(struct process *process)
{
	if (process->state != PROCESS_DONE || process->forgotten)
		return;
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0)
			return;
	if (!process->is_empty) {
		clocks_survivors(process);
		return;
	}
	process->forgotten = true;
	process_save(process);
	clocks_forgotten(process);
	if (process->session->sandbox)
		driver_of(process)->forget(process->session->sandbox, process->number);
}

void process_settle(struct process *process)
{
	bool ready = process->state == PROCESS_REAPED && process->usage_known && sources_are_drained(process) &&
	             (process->is_empty || !process->must_empty);
	if (!ready)
		return;
	process->state = PROCESS_DONE;
	clocks_stop(process);
	process->ending.wall_us = journal_now_us(process->session->journal) - process->started_us;
	if (process->ending.reason != REASON_LOST)
		ending_decide(&process->ending, process->wait_status, &process->intervention);
	input_close(&process->input);
	input_finish(&process->input); /* its places in the journal's header are needed by others */
	process->exited_seq = journal_last_seq(process->session->journal) + 1;
	process_save(process); /* before the event: a later gateway sees by the seq whether it was committed */
	process->session->home->counters.exited[process->ending.reason]++;
	struct writer *event = session_event_begin(process->session, FRAME_EXITED, 2);
	writer_uint(event, process->number);
	process_write_ending(event, process);
	session_event_commit(process->session);
	process_forget_if_over(process);
	if (!sharing_is_open(&process->sharing))
		display_close(&process->display); /* one whose terminal was not found again */
	TELL(process, done);
	session_process_done(process->session);
}

void process_ask_usage(struct process *process)
{
	if (!process->session->sandbox)
		return; /* it is being destroyed: `destroyed` is all that comes, and ends the process */
	process->usage_asked++;
	driver_of(process)->usage(process->session->sandbox, process->number);
}

/* What a process that is over had still written is bounded, and who waits for its end does not wait for a client that holds
 * it back. */
static void let_go(struct process *process)
{
	if (process->held)
		process_hold(process, false);
}

static void begin_drain(struct process *process)
{
	let_go(process);
	sources_measure(process);
	clocks_quiet(process);
	sources_read(process);
}

void process_exited(struct process *process, int wait_status, const struct rusage *usage)
{
	if (process->state != PROCESS_RUNNING)
		return;
	if (wait_status == -1) {
		process_lost(process, "who waited for it was killed");
		return;
	}
	process->state = PROCESS_REAPED;
	process->wait_status = wait_status;
	process->ending.usage = (struct process_usage){
		.user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec,
		.system_us = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec,
		.memory_peak = (uint64_t)usage->ru_maxrss * 1024,
		.oom_kills = UINT64_MAX,
		.populated = UINT64_MAX,
	};
	clocks_reaped(process);
	process_ask_usage(process);
	process->usage_needed = process->usage_asked;
	if (process->kill_on_exit && !process->kill_sent)
		process_end(process, REASON_NONE, NULL, 0);
	begin_drain(process);
	process_settle(process);
}

static void tree_is_empty(struct process *process)
{
	process->is_empty = true;
	process->record->is_ending = false; /* another gateway has nothing to end */
	clocks_empty(process);
	if (process->state == PROCESS_REAPED && process->must_empty)
		begin_drain(process); /* nobody can write any more: all there is, is there */
	TELL(process, empty);
	if (process->state == PROCESS_DONE)
		process_forget_if_over(process);
	else
		process_settle(process);
}

void process_killed(struct process *process)
{
	tree_is_empty(process);
}

static void take_usage(struct process_usage *to, const struct process_usage *from)
{
	uint64_t *const into[] = {&to->user_us, &to->system_us, &to->memory_peak, &to->oom_kills, &to->populated};
	const uint64_t values[] = {from->user_us, from->system_us, from->memory_peak, from->oom_kills, from->populated};
	for (size_t i = 0; i < sizeof into / sizeof *into; i++)
		if (values[i] != UINT64_MAX)
			*into[i] = values[i];
}

void process_usage(struct process *process, const struct process_usage *usage)
{
	process->usage_answered++;
	if (process->state != PROCESS_DONE)
		take_usage(&process->ending.usage, usage);
	uint64_t cpu_us = usage->user_us == UINT64_MAX ? 0 : usage->user_us + usage->system_us;
	if (process->state == PROCESS_RUNNING && process->cpu_ms > 0 && cpu_us / 1000 >= process->cpu_ms)
		process_end(process, REASON_CPU, "cpu", process->grace_ms);
	if (process->state < PROCESS_REAPED)
		return;
	if (!process->usage_known && process->usage_answered >= process->usage_needed)
		process->usage_known = true;
	if (usage->populated == 0 && !process->is_empty)
		tree_is_empty(process);
	else
		process_settle(process);
}

void process_lost(struct process *process, const char *message)
{
	if (process->state == PROCESS_STARTING) {
		process_start_failed(process, 0, "session_ended", message);
		return;
	}
	if (process->state == PROCESS_DONE) {
		process->forgotten = true;
		tree_is_empty(process);
		return;
	}
	if (process->state == PROCESS_RUNNING) {
		process->ending.reason = REASON_LOST;
		process->ending.exit_code = -1;
		snprintf(process->ending.message, sizeof process->ending.message, "%s", message);
		process->ending.usage = (struct process_usage){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	}
	process->state = PROCESS_REAPED;
	process->must_empty = process->usage_known = true;
	tree_is_empty(process);
}

void process_kill_now(struct process *process)
{
	clocks_no_grace(process);
	process->record->grace_until_us = 0;
	process->kill_sent = true;
	let_go(process);
	if (process->session->sandbox)
		driver_of(process)->kill(process->session->sandbox, process->number);
}

void process_end(struct process *process, enum reason reason, const char *control, uint64_t grace_ms)
{
	/* What an exited process had written can still be over its limit: it is cut, and the ending must say so. */
	enum process_state before = reason == REASON_OUTPUT_LIMIT ? PROCESS_DONE : PROCESS_REAPED;
	if (process->state < before && process->intervention.reason == REASON_NONE) {
		process->intervention.reason = reason;
		process->intervention.control = control;
	}
	process->must_empty = true;
	process_save(process);
	if (process->state == PROCESS_STARTING || process->awaits_init) {
		process->kill_sent = true; /* process_started() goes on */
		return;
	}
	if (grace_ms == 0) {
		process_kill_now(process);
		return;
	}
	if (ev_is_active(&process->grace) || process->kill_sent || !process->session->sandbox)
		return;
	driver_of(process)->signal(process->session->sandbox, process->number, SIGTERM, SIGNAL_TREE);
	process->record->grace_until_us = journal_now_us(process->session->journal) + grace_ms * 1000;
	clocks_grace(process, grace_ms);
}

void process_end_goes_on(struct process *process)
{
	uint64_t until_us = process->record->grace_until_us, now_us = journal_now_us(process->session->journal);
	if (until_us > now_us)
		clocks_grace(process, (until_us - now_us) / 1000 + 1);
	else
		process_kill_now(process);
}

void process_kill(struct process *process, uint64_t grace_ms, struct process_watch *watch)
{
	if (process->is_empty) {
		watch->empty(watch, process);
		return;
	}
	LIST_INSERT_HEAD(&process->watches, watch, link);
	process_end(process, REASON_KILLED, NULL, grace_ms);
}

bool process_signal(struct process *process, int signo, enum signal_scope scope)
{
	if (!process->session->sandbox)
		return false;
	process->intervention.signals |= UINT64_C(1) << signo;
	process_save(process);
	driver_of(process)->signal(process->session->sandbox, process->number, signo, scope);
	return true;
}

/* --- its terminal's size ------------------------------------------------------------------------------------------ */

bool process_resize(struct process *process, uint16_t cols, uint16_t rows)
{
	if (!process->terminal || process->source_count == 0 || process->sources[0].fd < 0)
		return false;
	const struct winsize size = {.ws_row = rows, .ws_col = cols};
	if (process->cols == cols && process->rows == rows)
		return true;
	source_catch_up(&process->sources[0]); /* what was drawn for the old size stands before the new one */
	if (process->sources[0].fd < 0)
		return false;
	if (ioctl(process->sources[0].fd, TIOCSWINSZ, &size) < 0)
		return false;
	process->cols = cols;
	process->rows = rows;
	process_save(process);
	display_resize(&process->display, cols, rows);
	struct writer *event = session_event_begin(process->session, FRAME_RESIZED, 3);
	writer_uint(event, process->number);
	writer_uint(event, cols);
	writer_uint(event, rows);
	session_event_commit(process->session);
	return true;
}

void process_free(struct process *process)
{
	shell_close(process->shell);
	assert(LIST_EMPTY(&process->watches));
	process->is_empty = true;
	clocks_stop(process);
	sharing_stop(&process->sharing);
	display_close(&process->display);
	input_close(&process->input);
	input_finish(&process->input);
	for (size_t i = 0; i < process->source_count; i++)
		if (process->sources[i].fd >= 0)
			source_close(&process->sources[i]);
	free(process->first_input);
	free(process->start_map);
	free(process);
}
