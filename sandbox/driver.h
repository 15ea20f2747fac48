/*
 * driver.h: a sandbox as the server's sessions see it, whatever its boundary is made of.
 *
 * A driver is a table of functions; `namespaces` is the first. Nothing above it knows which one it is.
 * Every function returns at once; what comes of it is told through the events, from the event loop, never
 * from within the call. A sandbox is owned by the driver: destroy() asks for its end, and after the event
 * `destroyed` (or `create_failed`) the pointer is dead. No callback may be called after that.
 *
 * Descriptors handed to an event belong to the receiver, who closes them.
 */
#ifndef SANDBAR_DRIVER_H
#define SANDBAR_DRIVER_H

#include "error.h"
#include "layer.h"
#include "limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

enum { SESSION_ID_LENGTH = 16 }; /* characters of [a-z2-7]; without a NUL where it stands in a fixed struct */

struct sandbox; /* one sandbox; what is in it is the driver's business */

struct sandbox_spec {
	char session[SESSION_ID_LENGTH + 1]; /* names its cgroup and its host name */
	struct sandbox_limits limits;
	uint32_t required_layers; /* bit n = enum layer n must be on, else create_failed */
};

/* One process to start. All pointers are borrowed until start() returns. */
struct process_spec {
	uint32_t process;        /* its number, from 1, never used again in this sandbox */
	const char *const *argv; /* ended by NULL; argv[0] is looked up in PATH of envp */
	const char *const *envp; /* the whole environment, ended by NULL */
	const char *cwd;         /* absolute, inside */
	bool terminal;
	bool wants_stdin;    /* pipes: a pipe for stdin, else /dev/null */
	bool shell;          /* pipes, and two more: commands at its 0, status at its 9; its stdout is 7, its stderr 8 */
	uint16_t cols, rows; /* of a terminal */
};

/* What a started process gives; -1 where there is none. All non-blocking and close-on-exec. */
struct process_streams {
	int stdin_fd;             /* write end of a pipe */
	int stdout_fd, stderr_fd; /* read ends of pipes */
	int tty_fd;               /* the terminal's master: both ways */
	int command_fd;           /* write end of a shell's commands */
	int status_fd;            /* read end of a shell's status */
};
#define PROCESS_STREAMS_NONE ((struct process_streams){-1, -1, -1, -1, -1, -1})

enum signal_scope { SIGNAL_LEADER, SIGNAL_TREE, SIGNAL_BELOW }; /* BELOW: the tree without its leader */

/* Of a process's whole tree. UINT64_MAX where it cannot be known. */
struct process_usage {
	uint64_t user_us, system_us; /* processor time */
	uint64_t memory_peak;        /* bytes */
	uint64_t oom_kills;          /* processes that the kernel killed for memory */
	uint64_t populated;          /* 1 if anything of the tree lives, 0 if nothing does */
};

/* Of a whole sandbox, now, its own processes aside. UINT64_MAX where it cannot be known. */
struct sandbox_usage {
	uint64_t cpu_us;            /* processor time of all that ran in it */
	uint64_t memory;            /* bytes that its limit counts, but for file pages that nobody looked at for a while */
	uint64_t memory_peak;       /* bytes: the most that the limit has counted */
	uint64_t tasks;             /* processes and threads */
	uint64_t workspace, inodes; /* bytes, and files and directories, on its tmpfs */
	/* Hundredths of a percent of the last 10 s in which some task of it waited for this (PSI, `some avg10`). */
	uint64_t cpu_pressure, memory_pressure, io_pressure;
};

struct sandbox_events {
	void (*created)(void *owner, const struct layer_report *layers);
	void (*create_failed)(void *owner, const char *code, const char *message); /* code: one of table.def's */
	void (*started)(void *owner, uint32_t process, const struct process_streams *streams);
	/* It could not be started: exit_code is 127 (not found) or 126, or 0 if the sandbox itself had no room
	 * (then code is "limit" and nothing was run). */
	void (*start_failed)(void *owner, uint32_t process, int exit_code, const char *code, const char *message);
	/* Its leader was reaped. wait_status is waitpid(2)'s, or -1: how it ended cannot be known. */
	void (*exited)(void *owner, uint32_t process, int wait_status, const struct rusage *usage);
	/* Its tree is empty. Where usage() cannot tell that, also unasked, once, when it has become so after `exited`. */
	void (*killed)(void *owner, uint32_t process);
	void (*usage)(void *owner, uint32_t process, const struct process_usage *usage);
	void (*measured)(void *owner, const struct sandbox_usage *usage);
	/* System calls were refused as a matter of policy: CALL is the newest one's name, THREAD who made it (inside), COUNT
	 * how many of the process's tree by now. The first of a process are told one by one; then some, and the last count
	 * before `exited`. PROCESS 0: it cannot be said whose they were. */
	void (*denied)(void *owner, uint32_t process, const char *call, uint32_t thread, uint64_t count);
	/* The sandbox died by itself (its init is gone); every process in it is lost. destroy() is still to be called. */
	void (*lost)(void *owner, const char *message);
	void (*destroyed)(void *owner); /* nothing of it is left */
	/* Of an adopted sandbox: `started`, and `exited` where it has, were told again for every process that it knows.
	 * A process that was not told is lost, or was never started. */
	void (*synced)(void *owner);
};

/* What is told of the sandboxes that an earlier gateway left (adopt() below). */
struct sandbox_adoption {
	/* The sandbox of SESSION lives, with LAYERS. Return the owner that EVENTS go to from now on, and its events; or
	 * NULL: then it is destroyed without an event. */
	void *(*found)(void *context, const char *session, struct sandbox *sandbox, const struct layer_report *layers,
	               const struct sandbox_events **events);
	/* Every sandbox was told by `found`. */
	void (*done)(void *context);
};

struct driver {
	const char *name;
	void *context; /* the first argument of create */

	/* Make a sandbox. OWNER is handed to every event. */
	struct sandbox *(*create)(void *context, const struct sandbox_spec *spec, const struct sandbox_events *events,
	                          void *owner);
	/* Where a sandbox like SPEC stands ready, write its id into spec->session: create() with that id takes it, and is
	 * quick. False: none does, or the driver keeps none. */
	bool (*offer)(void *context, struct sandbox_spec *spec);
	/* Take over the sandboxes that an earlier gateway left: `found` for each, then `done`; then each sandbox's processes
	 * as `synced` says. To be called once, before anything else. */
	void (*adopt)(void *context, const struct sandbox_adoption *adoption, void *adopter);
	/* End everything in it and remove it. May be called once, at any time. */
	void (*destroy)(struct sandbox *sandbox);

	void (*start)(struct sandbox *sandbox, const struct process_spec *spec);
	void (*signal)(struct sandbox *sandbox, uint32_t process, int signo, enum signal_scope scope);
	/* Kill the process's whole tree; answered by `killed`. May be repeated. */
	void (*kill)(struct sandbox *sandbox, uint32_t process);
	void (*usage)(struct sandbox *sandbox, uint32_t process); /* answered by `usage` */
	void (*measure)(struct sandbox *sandbox);                 /* answered by `measured` */
	/* The sandbox's own copy of the process's stdin is closed too, so that the process sees its end. */
	void (*close_stdin)(struct sandbox *sandbox, uint32_t process);
	/* Its ending is recorded and its streams have ended: the sandbox may drop its descriptors, status and cgroup. */
	void (*forget)(struct sandbox *sandbox, uint32_t process);
};

#endif
