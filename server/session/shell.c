#include "shell.h"

#include "session.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

static const ev_tstamp tick_s = 0.5;      /* how often it is looked whether a shell that takes all tells nothing */
static const ev_tstamp again_s = 0.1;     /* what ^C has, until it is repeated */
static const ev_tstamp interrupt_s = 0.4; /* and then, until what the command started is sent TERM */
static const ev_tstamp come_back_s = 1.0; /* what the shell has when its command was killed */
static const ev_tstamp settle_s =
	0.05; /* after an interrupt: init's signals have no answer, and must not hit the next */
static const uint64_t restored_ms = 200; /* what an earlier gateway's command has to end by itself */
static const uint64_t begun_ms = 30000;  /* until a shell that does not come up is ended */
enum { ASKED_MOST = 3 };

const char *const shell_argv[] = {"bash", "--norc", "--noprofile", "--noediting", "-i", NULL};

struct shell {
	struct process *process;
	struct process_watch watch;
	TAILQ_HEAD(, shell_run) runs; /* the first is the current one, if is_running */
	size_t count;
	bool is_running;  /* the first run was begun */
	bool is_sent;     /* all of it was written */
	bool is_draining; /* its status is here, and what it wrote before is being read */
	unsigned asked;   /* how often its status was asked for again, and that was read */
	int stage;        /* of the interruption; -1 = none */
	int last_code;
	int command_fd, status_fd;
	ev_io writable, readable;
	ev_timer tick, clock, settle; /* clock: wall, then the interruption's */
	char piece[SHELL_PIECE_BYTES];
	size_t piece_length; /* of what the pipe has not taken */
	char status[SHELL_STATUS_BYTES];
	size_t status_length;
	struct shell_result result;
	char cwd[SHELL_STATUS_BYTES];
	const char *lost;      /* why it is being ended, static; or NULL */
	struct shell_run sync; /* goes before what clients ask for: synchronise() */
};

static struct ev_loop *loop_of(const struct shell *shell)
{
	return shell->process->session->home->loop;
}

static void restart(struct shell *shell, ev_timer *timer, ev_tstamp seconds)
{
	ev_timer_stop(loop_of(shell), timer);
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(loop_of(shell), timer);
}

const char *shell_state_name(enum shell_state state)
{
	static const char *const names[] = {
		[SHELL_DONE] = "done", [SHELL_INTERRUPTED] = "interrupted", [SHELL_EXITED] = "exited", [SHELL_LOST] = "lost"};
	return names[state];
}

static void make_nonce(char nonce[SHELL_NONCE_BYTES + 1])
{
	uint8_t random[SHELL_NONCE_BYTES / 2];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		abort();
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
}

static uint64_t unread(int fd)
{
	int waiting = 0;
	return fd >= 0 && ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0 ? (uint64_t)waiting : 0;
}

/* --- writing commands ------------------------------------------------------------------------------------------- */

/* Write the current run as far as the pipe takes it. A pipe that is broken is told by the process's end. */
static void write_pieces(struct shell *shell)
{
	struct shell_run *run = TAILQ_FIRST(&shell->runs);
	for (;;) {
		if (shell->piece_length == 0 && shell->is_running && !shell->is_sent)
			shell->piece_length = shell_text_next(&run->text, shell->piece);
		if (shell->piece_length == 0)
			break;
		if (write(shell->command_fd, shell->piece, shell->piece_length) < 0) {
			if (errno == EAGAIN)
				ev_io_start(loop_of(shell), &shell->writable);
			else
				ev_io_stop(loop_of(shell), &shell->writable);
			return;
		}
		shell->piece_length = 0;
	}
	ev_io_stop(loop_of(shell), &shell->writable);
	shell->is_sent = shell->is_running;
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop, (void)events;
	write_pieces(io->data);
}

static void begin_next(struct shell *shell)
{
	struct shell_run *run = TAILQ_FIRST(&shell->runs);
	struct process *process = shell->process;
	if (!run || shell->is_running || ev_is_active(&shell->settle) || process->state != PROCESS_RUNNING)
		return;
	shell->is_running = true;
	shell->is_sent = shell->is_draining = false;
	shell->asked = 0;
	shell->stage = -1;
	shell->result = (struct shell_result){.exit_code = -1};
	for (size_t i = 0; i < SHELL_STREAMS; i++) /* what stands there now is somebody else's */
		shell->result.from[i] = process->sources[i].offset + unread(process->sources[i].fd);
	make_nonce(run->text.nonce);
	run->text.last_code = shell->last_code;
	write_pieces(shell);
	ev_timer_again(loop_of(shell), &shell->tick);
	if (run->wall_ms > 0)
		restart(shell, &shell->clock, (double)run->wall_ms / 1e3);
}

static void on_settled(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	begin_next(timer->data);
}

/* --- the end of a command ---------------------------------------------------------------------------------------- */

static struct shell_run *take_first(struct shell *shell)
{
	struct shell_run *run = TAILQ_FIRST(&shell->runs);
	TAILQ_REMOVE(&shell->runs, run, link);
	shell->count -= run != &shell->sync;
	shell->is_running = shell->is_sent = shell->is_draining = false;
	ev_timer_stop(loop_of(shell), &shell->tick);
	ev_timer_stop(loop_of(shell), &shell->clock);
	return run;
}

static bool is_drained(const struct shell *shell)
{
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		const struct source *source = &shell->process->sources[i];
		if (source->fd >= 0 && source->offset < shell->result.to[i])
			return false;
	}
	return true;
}

static void finish_if_drained(struct shell *shell)
{
	if (!shell->is_draining || !is_drained(shell))
		return;
	bool was_interrupted = shell->stage >= 0;
	shell->last_code = shell->result.exit_code;
	shell->result.state = was_interrupted ? SHELL_INTERRUPTED : SHELL_DONE;
	struct shell_run *run = take_first(shell);
	if (was_interrupted)
		restart(shell, &shell->settle, settle_s);
	run->done(run, &shell->result);
	begin_next(shell);
}

/* What stood in a pipe can be read by others in the sandbox, too, who open it by /proc: that will never come. */
static void give_up_what_is_gone(struct shell *shell)
{
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		const struct source *source = &shell->process->sources[i];
		uint64_t can_come = source->offset + unread(source->fd);
		if (can_come < shell->result.to[i])
			shell->result.to[i] = can_come;
	}
	finish_if_drained(shell);
}

/* What it has written stands in the pipes now. Background jobs may go on: what comes later is no command's. */
static void take_status(struct shell *shell, const struct shell_status *status)
{
	struct process *process = shell->process;
	memcpy(shell->cwd, status->cwd, status->cwd_length);
	shell->result.exit_code = status->exit_code;
	shell->result.cwd = shell->cwd;
	shell->result.cwd_length = status->cwd_length;
	ev_timer_stop(loop_of(shell), &shell->clock);
	for (size_t i = 0; i < SHELL_STREAMS; i++) {
		process->sources[i].drain = unread(process->sources[i].fd);
		shell->result.to[i] = process->sources[i].offset + process->sources[i].drain;
	}
	shell->is_draining = true;
	sources_read(process);
	finish_if_drained(shell);
}

/* A status with another nonce is forged, or of an earlier gateway's command, or one that was asked for twice. */
static void take_message(struct shell *shell, const char *message, size_t length)
{
	struct shell_status status;
	const struct shell_run *run = TAILQ_FIRST(&shell->runs);
	if (shell->is_sent && !shell->is_draining && shell_status_read(message, length, run->text.nonce, &status))
		take_status(shell, &status);
}

static void take_messages(struct shell *shell)
{
	size_t begin = 0;
	const char *end;
	while ((end = memchr(shell->status + begin, '\0', shell->status_length - begin))) {
		size_t length = (size_t)(end - shell->status) - begin;
		take_message(shell, shell->status + begin, length);
		begin += length + 1;
	}
	shell->status_length -= begin;
	memmove(shell->status, shell->status + begin, shell->status_length);
	if (shell->status_length == sizeof shell->status)
		shell->status_length = 0; /* no status is that long */
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	(void)events;
	struct shell *shell = io->data;
	ssize_t got = read(shell->status_fd, shell->status + shell->status_length,
	                   sizeof shell->status - shell->status_length);
	if (got == 0) {
		ev_io_stop(loop, io); /* nobody can write any more: the process's end is told, or what replaced it is asked */
		return;
	}
	if (got < 0)
		return;
	shell->status_length += (size_t)got;
	take_messages(shell);
}

/* --- a command that must end ------------------------------------------------------------------------------------ */

static void lose(struct shell *shell, const char *why)
{
	shell->lost = why;
	ev_timer_stop(loop_of(shell), &shell->tick);
	ev_timer_stop(loop_of(shell), &shell->clock);
	process_end(shell->process, REASON_KILLED, "shell", 0);
}

/* ^C reaches the shell and what it runs in front; its background jobs ignore it. It is repeated, since a child that has
 * not executed yet can miss it: were that ended by TERM, the shell would go on with what follows. Then what is below it
 * is ended, each time with another ^C, since the shell may be in a loop. */
static void interrupt(struct shell *shell)
{
	static const struct {
		int signo;
		enum signal_scope scope;
	} stages[] = {{SIGINT, SIGNAL_TREE}, {SIGINT, SIGNAL_TREE}, {SIGTERM, SIGNAL_BELOW}, {SIGKILL, SIGNAL_BELOW}};
	enum { STAGES = sizeof stages / sizeof *stages };
	const ev_tstamp waits[STAGES] = {again_s, interrupt_s, (double)TAILQ_FIRST(&shell->runs)->grace_ms / 1e3,
	                                 come_back_s};
	if (++shell->stage == STAGES) {
		lose(shell, "the command could not be interrupted, and the shell was ended");
		return;
	}
	process_signal(shell->process, stages[shell->stage].signo, stages[shell->stage].scope);
	if (stages[shell->stage].scope == SIGNAL_BELOW)
		process_signal(shell->process, SIGINT, SIGNAL_LEADER);
	restart(shell, &shell->clock, waits[shell->stage]);
}

static void on_clock(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	interrupt(timer->data);
}

/* The shell has read all, so that it waits for more or runs a command. It is asked for the status again: an answer that is
 * read while a command runs stands unread. Who reads that, and the next, without a word cannot tell any more. */
static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct shell *shell = timer->data;
	if (shell->is_draining) {
		give_up_what_is_gone(shell);
		return;
	}
	if (!shell->is_sent || shell->piece_length > 0 || unread(shell->command_fd) > 0)
		return;
	if (shell->asked++ == ASKED_MOST) {
		lose(shell, "the shell reads commands and does not answer any more, and was ended");
		return;
	}
	shell->piece_length = shell_text_ask(TAILQ_FIRST(&shell->runs)->text.nonce, shell->piece);
	write_pieces(shell);
}

/* --- its process ------------------------------------------------------------------------------------------------- */

static void on_output(struct process_watch *watch, enum stream stream, const uint8_t *bytes, size_t length)
{
	struct shell *shell = (struct shell *)((char *)watch - offsetof(struct shell, watch));
	size_t i = stream == STREAM_STDERR;
	uint64_t end = shell->process->sources[i].offset, begin = end - length;
	const struct shell_result *result = &shell->result;
	if (!shell->is_running)
		return;
	uint64_t from = begin > result->from[i] ? begin : result->from[i];
	uint64_t to = shell->is_draining && end > result->to[i] ? result->to[i] : end;
	struct shell_run *run = TAILQ_FIRST(&shell->runs);
	if (from < to && run->output)
		run->output(run, stream, bytes + (from - begin), (size_t)(to - from));
	finish_if_drained(shell);
}

/* The process is DONE, and all that it wrote was read. */
static void finish_current(struct shell *shell)
{
	const struct process *process = shell->process;
	struct shell_result *result = &shell->result;
	bool is_lost = shell->lost || process->ending.reason == REASON_LOST;
	result->state = is_lost ? SHELL_LOST : SHELL_EXITED;
	result->exit_code = process->ending.exit_code;
	result->cwd = NULL;
	result->message = shell->lost ? shell->lost : process->ending.message[0] ? process->ending.message : NULL;
	for (size_t i = 0; i < SHELL_STREAMS; i++)
		if (!shell->is_draining)
			result->to[i] = process->sources[i].offset;
	for (size_t i = 0; i < SHELL_STREAMS; i++)
		result->from[i] = result->from[i] < result->to[i] ? result->from[i] : result->to[i];
	struct shell_run *run = take_first(shell);
	run->done(run, result);
}

static void on_done(struct process_watch *watch, struct process *process)
{
	struct shell *shell = (struct shell *)((char *)watch - offsetof(struct shell, watch));
	process->shell = NULL; /* who is told does not come back with another command */
	if (shell->is_running)
		finish_current(shell);
	while (!TAILQ_EMPTY(&shell->runs)) {
		struct shell_run *run = take_first(shell);
		run->refused(run);
	}
	watch->done = NULL;
	shell_close(shell);
}

static void sync_is_done(struct shell_run *run, const struct shell_result *result)
{
	(void)run, (void)result;
}

static void sync_is_refused(struct shell_run *run)
{
	(void)run;
}

/* No command is begun before it has told its status once. What runs in a restored one is not known; and one that starts
 * would die of SIGINT, until bash has installed its handlers. */
static void synchronise(struct shell *shell, uint64_t wall_ms)
{
	shell->sync = (struct shell_run){
		.wall_ms = wall_ms, .grace_ms = shell->process->grace_ms, .done = sync_is_done, .refused = sync_is_refused};
	TAILQ_INSERT_HEAD(&shell->runs, &shell->sync, link);
	begin_next(shell);
}

void shell_open(struct process *process, int command_fd, int status_fd, bool is_restored)
{
	struct shell *shell = calloc(1, sizeof *shell);
	if (!shell)
		abort();
	*shell = (struct shell){.process = process, .command_fd = command_fd, .status_fd = status_fd, .stage = -1};
	TAILQ_INIT(&shell->runs);
	process->shell = shell;
	shell->watch = (struct process_watch){.output = on_output, .done = on_done};
	LIST_INSERT_HEAD(&process->watches, &shell->watch, link);
	ev_io_init(&shell->writable, on_writable, command_fd, EV_WRITE);
	ev_io_init(&shell->readable, on_readable, status_fd, EV_READ);
	ev_timer_init(&shell->tick, on_tick, tick_s, tick_s);
	ev_timer_init(&shell->clock, on_clock, 0., 0.);
	ev_timer_init(&shell->settle, on_settled, 0., 0.);
	shell->writable.data = shell->readable.data = shell;
	shell->tick.data = shell->clock.data = shell->settle.data = shell;
	ev_io_start(loop_of(shell), &shell->readable);
	if (!is_restored)
		shell->piece_length = shell_text_begin(shell->piece);
	synchronise(shell, is_restored ? restored_ms : begun_ms);
}

void shell_close(struct shell *shell)
{
	if (!shell)
		return;
	assert(TAILQ_EMPTY(&shell->runs));
	struct ev_loop *loop = loop_of(shell);
	if (shell->watch.done)
		LIST_REMOVE(&shell->watch, link);
	ev_io_stop(loop, &shell->writable);
	ev_io_stop(loop, &shell->readable);
	ev_timer_stop(loop, &shell->tick);
	ev_timer_stop(loop, &shell->clock);
	ev_timer_stop(loop, &shell->settle);
	sessions_close_later(shell->process->session->home, shell->command_fd);
	sessions_close_later(shell->process->session->home, shell->status_fd);
	free(shell);
}

bool shell_take(struct shell *shell, struct shell_run *run)
{
	if (shell->count > SHELL_QUEUE)
		return false;
	TAILQ_INSERT_TAIL(&shell->runs, run, link);
	shell->count++;
	begin_next(shell);
	return true;
}

bool shell_cancel(struct shell *shell, struct shell_run *run)
{
	if (run != TAILQ_FIRST(&shell->runs) || !shell->is_running) {
		TAILQ_REMOVE(&shell->runs, run, link);
		shell->count--;
		return true;
	}
	if (shell->stage < 0 && !shell->is_draining && !shell->lost)
		interrupt(shell);
	return false;
}
