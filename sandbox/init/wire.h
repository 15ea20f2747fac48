/*
 * wire.h: what the gateway and a sandbox's init say to each other over a SOCK_SEQPACKET pair.
 *
 * One message is one struct init_message of fixed size, with descriptors beside it (SCM_RIGHTS). What does not
 * fit travels in a sealed memfd. Init answers START by STARTED or START_FAILED, in the order of the requests;
 * EXITED comes when it has reaped a leader, and is kept until FORGET. A request that is malformed is dropped
 * and answered by REFUSED; init never dies of one.
 *
 * SYNC {epoch} is the first request of each gateway. Init answers SYNCED, then, for each process that it still
 * knows, STARTED (with its descriptors again), EXITED where it has exited, and EMPTY; then SYNC_DONE. A START of an earlier
 * gateway that was not answered yet is answered before that, too. It ignores requests with a lower epoch. Every
 * message carries the epoch in which it was sent: one with a lower epoch is for a gateway that is dead.
 * SYNCED with epoch 0, unasked, is the first message of all: init has confined itself (boot.h).
 *
 * A process is started with its leaf's descriptors or with INIT_SUBREAPER, never with both or neither.
 */
#ifndef SANDBAR_INIT_WIRE_H
#define SANDBAR_INIT_WIRE_H

#include <stdint.h>

enum init_message_type {
	/* requests */
	INIT_SYNC = 1,
	INIT_START,     /* descriptors: the payload memfd, then the cgroup.procs of the leaf (0..INIT_LEAF_FDS) */
	INIT_SIGNAL,    /* value = signal number, flags = INIT_SCOPE_TREE, INIT_SCOPE_BELOW or 0 */
	INIT_KILL_TREE, /* kill what is in its leaf, or below its subreaper, until nothing is left; then KILLED */
	INIT_CLOSE_STDIN,
	INIT_FORGET,
	INIT_PREPARE, /* descriptors: the cgroup.procs of the leaf of a process that START may follow for, with them again:
	               * a hint, so that the child is there by then (spare.h). A higher START ends those that wait */
	/* answers and events */
	INIT_SYNCED = 33,
	INIT_STARTED,      /* descriptors: tty master; or stdout, stderr read ends and, with INIT_STDIN, stdin's write end
	                   * (again after a SYNC, unless it was closed: then the flag is off), with INIT_SHELL the write end
	                   * of its commands and the read end of its status */
	INIT_START_FAILED, /* value = errno, phase = what was tried */
	INIT_EXITED,       /* value = wait status, usage; flags = INIT_LOST or 0 */
	INIT_KILLED,
	INIT_REFUSED,   /* value = the request's type; errno in flags: see request.h. Also the answer to a START refused */
	INIT_SYNC_DONE, /* everything that was known at the time of SYNC has been told */
	INIT_DENIED, /* system calls were refused: value = the newest one's number, phase = the thread that made it, user_us =
	              * how many of this process by now; process 0: it cannot be said whose they were */
	INIT_EMPTY, /* of a process with a subreaper that has exited: nothing of its tree lives; told again after a SYNC */
};

enum { INIT_LEAF_FDS = 8, INIT_MAX_FDS = 1 + INIT_LEAF_FDS };

/* flags of START and STARTED */
enum {
	INIT_TERMINAL = 1u << 0,
	INIT_STDIN = 1u << 1,     /* a pipe for stdin */
	INIT_SUBREAPER = 1u << 2, /* no cgroups: the process gets a parent of its own that adopts its orphans */
	INIT_SHELL = 1u << 3,     /* pipes for commands and status, at the numbers of enum init_shell_fd */
	/* flags of SIGNAL */
	INIT_SCOPE_TREE = 1u << 8,
	INIT_SCOPE_BELOW = 1u << 10, /* its tree without its leader */
	/* flag of EXITED */
	INIT_LOST = 1u << 9, /* its subreaper was killed: how it ended is not known (value then is SIGKILL) */
};

/* What stands where in a shell. Its 1 is /dev/null; its 2 is a terminal that nobody reads, which it leaves at once. */
enum init_shell_fd { INIT_SHELL_COMMANDS = 0, INIT_SHELL_STDOUT = 7, INIT_SHELL_STDERR, INIT_SHELL_STATUS };

/* phase of START_FAILED: what failed. The gateway makes the text. */
enum init_phase {
	INIT_PHASE_PAYLOAD = 1,
	INIT_PHASE_STREAMS,
	INIT_PHASE_FORK,
	INIT_PHASE_CGROUP,
	INIT_PHASE_TERMINAL,
	INIT_PHASE_CONFINE,
	INIT_PHASE_CWD,
	INIT_PHASE_EXEC,
};

struct init_message {
	uint32_t type; /* enum init_message_type */
	uint32_t flags;
	uint64_t epoch;   /* of the gateway */
	uint32_t process; /* from 1; 0 in SYNC and SYNCED */
	int32_t value;
	uint32_t phase; /* enum init_phase */
	uint16_t cols, rows;
	uint32_t argc, envc;         /* of the payload: argc + envc + 1 strings, each ended by NUL: argv, envp, cwd */
	uint64_t user_us, system_us; /* EXITED: rusage of the leader and what it waited for */
	uint64_t max_rss;            /* EXITED: bytes */
};

_Static_assert(sizeof(struct init_message) == 64, "the form of a message is fixed");

enum {
	INIT_PAYLOAD_BYTES = 8 * 1024 * 1024, /* most bytes of a payload memfd; it is sealed against change */
	INIT_PROCESSES = 4096,                /* most processes known at once */
};

#endif
