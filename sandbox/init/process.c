#include "process.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int process_table_init(struct process_table *table)
{
	memset(table, 0, sizeof *table);
	void *notes = mmap(NULL, INIT_PROCESSES * sizeof *table->notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                   -1, 0);
	if (notes == MAP_FAILED)
		return -1;
	table->notes = notes;
	return 0;
}

static void close_outcome(struct process *process)
{
	if (process->outcome_fd >= 0)
		close(process->outcome_fd);
	process->outcome_fd = -1;
}

static void release(struct process_table *table, struct process *process)
{
	close_outcome(process);
	streams_close(&process->streams);
	table->wide -= process->is_wide;
	*process = (struct process){.outcome_fd = -1, .streams = STREAMS_NONE};
	while (table->count > 0 && table->rows[table->count - 1].state == PROCESS_FREE)
		table->count--;
}

void process_table_finish(struct process_table *table)
{
	for (size_t i = INIT_PROCESSES; i-- > 0;)
		if (table->rows[i].state != PROCESS_FREE)
			release(table, &table->rows[i]);
	munmap(table->notes, INIT_PROCESSES * sizeof *table->notes);
	table->notes = NULL;
}

struct process *process_add(struct process_table *table, uint32_t number, uint32_t flags)
{
	size_t index = 0;
	while (index < table->count && table->rows[index].state != PROCESS_FREE)
		index++;
	if (index == INIT_PROCESSES)
		return NULL;
	if (index == table->count)
		table->count++;
	assert(table->queue_count < INIT_PROCESSES);
	table->queue[(table->queue_head + table->queue_count++) % INIT_PROCESSES] = (uint16_t)index;
	table->notes[index] = (struct note){0};
	table->rows[index] = (struct process){
		.number = number,
		.state = PROCESS_STARTING,
		.flags = flags,
		.outcome_fd = -1,
		.streams = STREAMS_NONE,
		.note = &table->notes[index],
	};
	return &table->rows[index];
}

struct process *process_find(struct process_table *table, uint32_t number)
{
	for (size_t i = 0; number != 0 && i < table->count; i++)
		if (table->rows[i].number == number)
			return &table->rows[i];
	return NULL;
}

struct process *process_find_child(struct process_table *table, pid_t pid)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].child == pid)
			return &table->rows[i];
	return NULL;
}

uint32_t process_index(const struct process_table *table, const struct process *process)
{
	return (uint32_t)(process - table->rows);
}

struct process *process_next_unanswered(struct process_table *table)
{
	return table->queue_count > 0 ? &table->rows[table->queue[table->queue_head]] : NULL;
}

/* Its subreaper may yet write into the note: the row is free when that is gone, too. */
static void leave(struct process_table *table, struct process *process)
{
	streams_close(&process->streams);
	process->number = 0;
	process->owed = 0;
	process->state = PROCESS_LEFT;
	if (process->child == 0 || !(process->flags & INIT_SUBREAPER))
		release(table, process);
}

void process_set_answered(struct process_table *table, struct process *process)
{
	process->owed &= ~(uint32_t)OWES_ANSWER;
	if (process->is_answered)
		return;
	assert(process == process_next_unanswered(table));
	table->queue_head = (table->queue_head + 1) % INIT_PROCESSES;
	table->queue_count--;
	process->is_answered = true;
	if (process->state == PROCESS_FAILED)
		leave(table, process);
}

void process_fail(struct process *process, enum init_phase phase, int errnum)
{
	note_fail(process->note, phase, errnum);
	process->state = PROCESS_FAILED;
	process->owed = OWES_ANSWER;
	close_outcome(process);
	streams_close(&process->streams);
}

/* The states' transitions. Each returns 0, or an errno with which a request is refused. */

static int nothing(struct process_table *table, struct process *process)
{
	(void)table;
	(void)process;
	return 0;
}

static int end(struct process_table *table, struct process *process)
{
	(void)table;
	process->state = PROCESS_EXITED;
	process->owed |= OWES_EXITED | (process->denials.count > process->denials.told ? (uint32_t)OWES_DENIED : 0);
	return 0;
}

/* The leader's parent was killed, and the leader is init's child now: it ends with what is still to be seen below it. */
static int lose(struct process_table *table, struct process *process)
{
	const struct tree rest = {.root = process->note->leader, .with_root = true};
	if (tree_signal_child(process->note->leader, getpid(), SIGSTOP) == 0)
		(void)tree_kill(&rest, 1);
	process->flags |= INIT_LOST;
	process->note->ending = (struct ending){.status = SIGKILL};
	return end(table, process);
}

static int decide(struct process_table *table, struct process *process)
{
	const struct note *note = process->note;
	close_outcome(process);
	if (note->phase != 0) {
		process_fail(process, note->phase, note->errnum);
	} else if ((process->flags & INIT_SUBREAPER || process->is_spare) && note->leader == 0) {
		/* its parent was killed before it had forked, or the spare was */
		process_fail(process, INIT_PHASE_FORK, ECHILD);
	} else {
		process->state = PROCESS_RUNNING;
		process->owed |= OWES_ANSWER;
		if (process->flags & INIT_LOST)
			return lose(table, process);
	}
	return 0;
}

/* Its ending was seen before its outcome; the note has both. */
static int decide_and_end(struct process_table *table, struct process *process)
{
	int refused = decide(table, process);
	return process->state == PROCESS_RUNNING ? end(table, process) : refused;
}

/* What comes of the start is still to be heard from the leader: decide() then goes on to lose(). */
static int lose_later(struct process_table *table, struct process *process)
{
	(void)table;
	process->flags |= INIT_LOST;
	return 0;
}

static int refuse(struct process_table *table, struct process *process)
{
	(void)table;
	(void)process;
	return EBUSY;
}

static int forget(struct process_table *table, struct process *process)
{
	if (!process->is_answered)
		return EBUSY;
	process->is_killing = true; /* what is left of it, if its subreaper lives */
	leave(table, process);
	return 0;
}

static int empty(struct process_table *table, struct process *process)
{
	(void)table;
	process->is_empty = true;
	process->owed |= OWES_EMPTY;
	return 0;
}

static int depart(struct process_table *table, struct process *process)
{
	leave(table, process);
	return 0;
}

typedef int action(struct process_table *table, struct process *process);

/* clang-format off */
static action *const actions[PROCESS_STATES][PROCESS_EVENTS] = {
	/*                      DECIDED  ENDED           ORPHANED    EMPTIED  FORGET */
	[PROCESS_FREE]     = { nothing, nothing,        nothing,    nothing, nothing },
	[PROCESS_STARTING] = { decide,  decide_and_end, lose_later, nothing, refuse },
	[PROCESS_FAILED]   = { nothing, nothing,        nothing,    nothing, refuse },
	[PROCESS_RUNNING]  = { nothing, end,            lose,       nothing, refuse },
	[PROCESS_EXITED]   = { nothing, nothing,        nothing,    empty,   forget },
	[PROCESS_LEFT]     = { nothing, depart,         depart,     nothing, nothing },
};
/* clang-format on */

int process_handle(struct process_table *table, struct process *process, enum process_event event)
{
	return actions[process->state][event](table, process);
}

void process_settle(struct process_table *table, struct process *process)
{
	char byte;
	if (process->state == PROCESS_STARTING && read(process->outcome_fd, &byte, 1) == 0)
		process_handle(table, process, PROCESS_DECIDED);
}

int process_signal(struct process *process, int signo)
{
	if (process->state != PROCESS_STARTING && process->state != PROCESS_RUNNING)
		return 0;
	/* init alone reaps its own child, so that id cannot be another's; a subreaper's child needs the check. */
	int result = process->flags & INIT_SUBREAPER ? tree_signal_child(process->note->leader, process->child, signo)
	                                             : kill(process->child, signo);
	return result < 0 && errno != ESRCH ? errno : 0;
}

static struct tree tree_of(const struct process *process)
{
	if (process->flags & INIT_SUBREAPER)
		return (struct tree){.root = process->child};
	return (struct tree){.cgroup = process->note->cgroup};
}

/* Init cannot find the tree of a lost process, nor one whose cgroup /proc did not tell. */
static bool has_tree(const struct process *process)
{
	if (process->flags & INIT_SUBREAPER)
		return !(process->flags & INIT_LOST);
	return process->note->cgroup != 0 || process->state == PROCESS_STARTING;
}

int process_signal_tree(struct process *process, int signo)
{
	if (process->state == PROCESS_STARTING)
		return process_signal(process, signo); /* it has started nothing yet */
	if (!has_tree(process))
		return ECHILD;
	struct tree tree = tree_of(process);
	if (process->state == PROCESS_RUNNING && !(process->flags & INIT_SUBREAPER))
		tree.group = process->note->leader; /* it leads a session, and init has not reaped it: the number is its own */
	return tree_signal(&tree, signo) < 0 ? errno : 0;
}

int process_signal_below(struct process *process, int signo)
{
	if (process->state == PROCESS_STARTING)
		return 0;
	if (!has_tree(process))
		return ECHILD;
	struct tree tree = tree_of(process);
	tree.without = process->state == PROCESS_RUNNING ? process->note->leader : 0;
	return tree_signal(&tree, signo) < 0 ? errno : 0;
}

int process_kill_tree(struct process *process)
{
	if (!has_tree(process))
		return ECHILD;
	process->is_killing = true;
	process->attempts = 0;
	return 0;
}

static bool is_leader_alive(const struct process *process)
{
	return process->state == PROCESS_STARTING || process->state == PROCESS_RUNNING;
}

void process_kill_step(struct process *process)
{
	const struct tree tree = tree_of(process);
	bool has_subreaper = process->flags & INIT_SUBREAPER;
	if (!has_subreaper && process->child > 0 && is_leader_alive(process))
		(void)kill(process->child, SIGKILL); /* it may not have reached its leaf */
	int seen = tree_kill(&tree, process->attempts);
	process->attempts++;
	if (has_subreaper ? process->child > 0 : seen != 0 || is_leader_alive(process))
		return;
	process->is_killing = false;
	process->owed |= OWES_KILLED;
}
