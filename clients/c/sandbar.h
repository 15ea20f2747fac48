/*
 * sandbar.h: a client of a Sandbar server, as a C library (libsandbar). The public interface, whole.
 *
 * A `struct sandbar` is one connection, kept over cuts: when the network or the server goes, it connects again by
 * itself (exponential back-off with jitter), attaches its channels where they were, and sends again the input that was
 * not acknowledged. What its user sees is an unbroken series of events, or a `gap` that says what is missing.
 *
 * One thread, one loop: callbacks come only from inside sandbar_run_once() and the functions marked "blocking", which
 * run the loop until their answer is there. A callback may call everything that is not marked blocking, except
 * sandbar_destroy() and sandbar_run_once(). What a callback gets is borrowed until it returns.
 *
 * Functions that can fail return -1 (or NULL) and fill ERROR, which may be NULL. Out of memory aborts. Times are
 * milliseconds unless the name says otherwise; sizes are bytes. Numbers, names and limits: protocol/PROTOCOL.md.
 */
#ifndef SANDBAR_H
#define SANDBAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sandbar;
struct sandbar_channel;

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/*
 * `code` is one of the server's (PROTOCOL.md, section 3.1), or one of the library's own:
 *   connect         the server could not be reached, or does not speak sandbar.v1
 *   cut             the connection went before the answer came: whether the request was carried out is not known
 *   closed          the connection was closed or given up
 *   interrupted     sandbar_interrupt() was called
 *   protocol        the server sent what sandbar.v1 does not allow
 *   stream_offset   output did not start where the output before it ended
 *   repeated_event  an event came twice; it was dropped
 *   stdin_lost      the server asks for input that was acknowledged and is not kept any more
 *   usage           an argument that this library does not accept
 *   system          the operating system refused something
 */
struct sandbar_error {
	char code[32];
	char message[512];
};

/* ---- The connection -------------------------------------------------------------------------------------------- */

enum sandbar_state {
	SANDBAR_CONNECTING, /* for the first time */
	SANDBAR_CONNECTED,  /* for the first time; told once */
	SANDBAR_CUT,        /* told at each cut; `why` says how */
	SANDBAR_RESUMED,    /* connected again after a cut */
	SANDBAR_GIVEN_UP,   /* it will not try again; `why` says why. Open requests have been answered, channels closed */
	SANDBAR_CLOSED,     /* sandbar_close() */
};

struct sandbar_options {
	const char *url;     /* "ws://host:port", "wss://…", or "host:port"; the path defaults to /v1/ws */
	const char *token;   /* who this is */
	const char *client;  /* name and version of the program, at most 64 bytes; may be NULL */
	const char *ca_file; /* wss: certificates to trust, PEM; NULL = the system's */
	uint32_t give_up_ms; /* after a cut: how long to try; 0 = for ever. The first connection is tried once */
	void (*on_state)(struct sandbar *sandbar, enum sandbar_state state, const struct sandbar_error *why, void *user);
	void *user; /* for on_state */
};

/* A connection that is not yet made; strings are copied. NULL on error. The caller ends it with sandbar_destroy(). */
struct sandbar *sandbar_create(const struct sandbar_options *options, struct sandbar_error *error);

/* Close (1000) if it is open, waiting at most half a second, and free everything. Open requests are not answered, no
 * callback is called. NULL is allowed. */
void sandbar_destroy(struct sandbar *sandbar);

/* Begin to connect; the outcome is told to on_state. */
void sandbar_open(struct sandbar *sandbar);

/* Blocking: connect and wait until the server has accepted the token. */
int sandbar_connect(struct sandbar *sandbar, struct sandbar_error *error);

enum sandbar_state sandbar_state(const struct sandbar *sandbar);

/* The one session that the token is for, if it is a share's (a link's); else "". Known once it is connected. */
const char *sandbar_shared_session(const struct sandbar *sandbar);

/* Wait at most TIMEOUT_MS (-1 = for ever) for anything to happen, and handle it. Returns 0, or -1 with the reason once
 * the connection is closed or given up. */
int sandbar_run_once(struct sandbar *sandbar, int timeout_ms, struct sandbar_error *error);

/* Make a blocking function that waits now (or the next one) return with the code `interrupted`. For callbacks. */
void sandbar_interrupt(struct sandbar *sandbar);

/* Cut the connection as a network would, and resume. For tests of programs that must survive it. */
void sandbar_cut(struct sandbar *sandbar);

/* ---- Other descriptors in the same loop ------------------------------------------------------------------------- */

enum { SANDBAR_READABLE = 1, SANDBAR_WRITABLE = 2 };

typedef void (*sandbar_watch_callback)(struct sandbar *sandbar, int fd, unsigned ready, void *user);

/* Call CALLBACK when FD is ready for one of EVENTS (a hang-up or error counts as ready); replaces an earlier watch of
 * FD. EVENTS 0 keeps the watch, silent. Regular files are always ready. */
int sandbar_watch_fd(struct sandbar *sandbar, int fd, unsigned events, sandbar_watch_callback callback, void *user,
                     struct sandbar_error *error);
void sandbar_unwatch_fd(struct sandbar *sandbar, int fd);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* The answer of a request: exactly one of ERROR and RESULT (MessagePack, a map) is not NULL. */
typedef void (*sandbar_answer)(struct sandbar *sandbar, const struct sandbar_error *error, const void *result,
                               size_t length, void *user);

/*
 * Send METHOD with PARAMS (one MessagePack map; NULL = {}). ANSWER (may be NULL) is called once, except by
 * sandbar_destroy(). Without a connection the request waits for one. Requests that may be repeated without harm (lists,
 * info, wait, kill) are sent again after a cut; the others are then answered with `cut`.
 * Returns the request's number, or 0 with ERROR when 64 are open already or PARAMS is too large.
 */
uint32_t sandbar_request(struct sandbar *sandbar, const char *method, const void *params, size_t length,
                         sandbar_answer answer, void *user, struct sandbar_error *error);

/* Ask the server to give a request up; it is still answered. An unknown number is ignored. */
void sandbar_cancel(struct sandbar *sandbar, uint32_t request);

/* Blocking: the result is the caller's (free()). RESULT may be NULL. */
int sandbar_call(struct sandbar *sandbar, const char *method, const void *params, size_t length, void **result,
                 size_t *result_length, struct sandbar_error *error);

/* ---- Sessions ---------------------------------------------------------------------------------------------------- */

enum { SANDBAR_SESSION_BYTES = 17 }; /* 16 characters and NUL */

struct sandbar_limits { /* 0 = the server's default; SANDBAR_NO_LIMIT = none, where the server allows that */
	uint64_t memory, processes, cpu, cpu_weight, workspace, inodes, open_files, file_size;
};
#define SANDBAR_NO_LIMIT UINT64_MAX

struct sandbar_session {
	const char *name;           /* may be NULL */
	const char *template;       /* NULL = the server's default */
	const char *profile;        /* of system calls; NULL = the template's */
	const char *const *env;     /* "NAME=value", ended by NULL; may be NULL */
	const char *const *require; /* layers that must be on, ended by NULL; may be NULL */
	const char *const *context; /* what is noted beside it: "NAME=value", ended by NULL; may be NULL */
	struct sandbar_limits limits;
	uint64_t ttl_ms;        /* 0 = it lives until it is ended */
	uint64_t disconnect_ms; /* it ends when this client was away for so long; 0 = it does not */
	bool for_proof;         /* to make the proof that the template demands */
};

/* Blocking. SESSION may be NULL: all defaults. */
int sandbar_session_create(struct sandbar *sandbar, const struct sandbar_session *session,
                           char id[SANDBAR_SESSION_BYTES], struct sandbar_error *error);
/* What is NULL stays as it is. */
struct sandbar_changes {
	const char *name;
	const char *const *context; /* "NAME=value", ended by NULL: stands for the one before */
	const uint64_t *ttl_ms;     /* it ends this long after it was made; 0 = it does not */
};
/* Blocking. */
int sandbar_session_update(struct sandbar *sandbar, const char *session, const struct sandbar_changes *changes,
                           struct sandbar_error *error);
/* Blocking: returns when nothing of it is left. */
int sandbar_session_end(struct sandbar *sandbar, const char *session, struct sandbar_error *error);

/* ---- Processes --------------------------------------------------------------------------------------------------- */

enum sandbar_stream { SANDBAR_STDOUT = 1, SANDBAR_STDERR = 2, SANDBAR_TTY = 3, SANDBAR_STREAMS = 4 };

struct sandbar_process {
	const char *const *argv;    /* ended by NULL; any bytes */
	const char *const *env;     /* "NAME=value", ended by NULL; may be NULL */
	const char *const *context; /* what is noted beside it: "NAME=value", ended by NULL; may be NULL */
	const char *cwd;            /* NULL = /work */
	const char *name;           /* may be NULL */
	uint32_t cols, rows;        /* both > 0: a terminal of this size; 0: pipes */
	bool with_stdin;            /* pipes: input will be sent */
	bool kill_tree_on_exit;     /* what the leader leaves behind is ended */
	bool kill_on_disconnect;    /* ended when no connection with this client's id has been there for disconnect_ms */
	uint64_t disconnect_ms;     /* 0 = the server's default */
	uint64_t wall_ms, cpu_ms, idle_ms, output_bytes; /* 0 = no limit */
	int64_t grace_ms;                                /* between SIGTERM and SIGKILL; < 0 = the server's default */
};

/* How a process ended. A value type. */
struct sandbar_ending {
	int exit_code;                     /* 0…255; 128+n for signal n; -1 when it cannot be known */
	char signal[24];                   /* "SIGKILL", or "" */
	char reason[24];                   /* "exited", "signal", "timeout", … */
	char control[32];                  /* what did it ("wall", "memory.max"), or "" */
	char message[256];                 /* why it could not be started, or "" */
	uint64_t offsets[SANDBAR_STREAMS]; /* bytes of each stream so far */
	bool has_offset[SANDBAR_STREAMS];
	bool open[SANDBAR_STREAMS];                        /* a descendant still holds this stream */
	uint64_t wall_us, user_us, system_us, memory_peak; /* memory_peak 0 = not known */
};

/* Blocking. SEQ (may be NULL) gets the number of the STARTED event: attach with after = seq-1 to see all of it. */
int sandbar_process_start(struct sandbar *sandbar, const char *session, const struct sandbar_process *process,
                          uint32_t *number, uint64_t *seq, struct sandbar_error *error);
/* Without waiting; ANSWER gets {process, seq}. Returns as sandbar_request(). */
uint32_t sandbar_process_start_request(struct sandbar *sandbar, const char *session,
                                       const struct sandbar_process *process, sandbar_answer answer, void *user,
                                       struct sandbar_error *error);
/* Without waiting: a signal by name ("INT"), to the leader or to the whole tree; ANSWER may be NULL. */
uint32_t sandbar_process_signal(struct sandbar *sandbar, const char *session, uint32_t process, const char *signal,
                                bool tree, sandbar_answer answer, void *user, struct sandbar_error *error);
/* Without waiting: end the tree; SIGTERM first when GRACE_MS > 0. Answered when it is empty; ANSWER may be NULL. */
uint32_t sandbar_process_kill(struct sandbar *sandbar, const char *session, uint32_t process, uint64_t grace_ms,
                              sandbar_answer answer, void *user, struct sandbar_error *error);
/* Blocking: until it is done. */
int sandbar_process_wait(struct sandbar *sandbar, const char *session, uint32_t process, struct sandbar_ending *ending,
                         struct sandbar_error *error);

/* ---- Channels: the events of a session --------------------------------------------------------------------------- */

struct sandbar_output {
	uint64_t seq, t_us; /* t_us: microseconds since the session was made */
	uint32_t process;
	enum sandbar_stream stream;
	uint64_t offset; /* of the first byte in its stream */
	const void *data;
	size_t length;
};

struct sandbar_started {
	uint64_t seq, t_us;
	uint32_t process;
	uint32_t cols, rows; /* 0: pipes */
	const void *map;     /* {argv, cwd, name, …}, MessagePack */
	size_t map_length;
};

enum { SANDBAR_REQUESTS = 16 }; /* most participants who ask for a terminal at once */

struct sandbar_participant {
	uint64_t seq, t_us;
	uint32_t participant;
	bool joined;     /* `change` is "joined" */
	char change[16]; /* "joined", "left", "role", "removed" */
	char name[65], role[16], client[65];
	uint32_t colour; /* 0…7: a place in a palette */
	char by[65];     /* the principal that did it to somebody, or "" */
};

/* How a terminal is shared, after a change of it. */
struct sandbar_driver {
	uint64_t seq, t_us;
	uint32_t process;
	char change[16]; /* "set", "taken", "granted", "released", "requested", "withdrawn", "away", "back", "expired" */
	uint32_t by;     /* the participant who did it; 0: one who is not attached, or the server */
	char input[16];  /* who types: "open" or "driver" */
	char size[16];   /* whose size it has: "driver", "smallest", "largest", "fixed" */
	uint32_t driver; /* a participant; 0: nobody */
	bool away;       /* his connection was lost */
	uint32_t requests[SANDBAR_REQUESTS]; /* participants who ask to drive, the first first */
	uint32_t request_count;
};

struct sandbar_note {
	uint64_t seq, t_us;
	char text[1025];
	char by[65];          /* the name of its author */
	uint32_t participant; /* his number; 0: not attached */
	uint32_t process;     /* what it is about; 0: the session */
};

/* What draws a terminal in an emulator that was just reset and has this size. */
struct sandbar_screen {
	uint64_t seq, t_us; /* of a checkpoint; else 0 */
	uint32_t process, cols, rows;
	uint64_t offset;      /* where the output that follows begins, in the terminal's stream */
	uint32_t part, parts; /* a checkpoint comes in pieces: the first is 1 */
	const void *data;
	size_t length;
};

/* What happens on a channel. Every member may be NULL. USER is the one of struct sandbar_attachment. */
struct sandbar_events {
	/* Each frame of the session as it came, before the callback of its kind: KIND as in protocol/table.def. */
	void (*frame)(struct sandbar_channel *channel, unsigned kind, const void *frame, size_t length, void *user);
	/* What session.attach answered, before `attached`: {participant, colour, role, participants, terminals, …}. */
	void (*joined)(struct sandbar_channel *channel, const void *map, size_t length, void *user);
	/* The server has attached the channel: once, and again after each cut. */
	void (*attached)(struct sandbar_channel *channel, uint64_t first, uint64_t last, void *user);
	void (*output)(struct sandbar_channel *channel, const struct sandbar_output *output, void *user);
	void (*started)(struct sandbar_channel *channel, const struct sandbar_started *started, void *user);
	void (*exited)(struct sandbar_channel *channel, uint32_t process, const struct sandbar_ending *ending, void *user);
	void (*resized)(struct sandbar_channel *channel, uint32_t process, uint32_t cols, uint32_t rows, void *user);
	void (*participant)(struct sandbar_channel *channel, const struct sandbar_participant *participant, void *user);
	void (*driver)(struct sandbar_channel *channel, const struct sandbar_driver *driver, void *user);
	void (*note)(struct sandbar_channel *channel, const struct sandbar_note *note, void *user);
	/* A terminal as it is: at the beginning, after a gap, or (with `screens`) instead of its output. */
	void (*screen)(struct sandbar_channel *channel, const struct sandbar_screen *screen, void *user);
	/* A terminal as it was, from the recording. */
	void (*checkpoint)(struct sandbar_channel *channel, const struct sandbar_screen *screen, void *user);
	/* Somebody else types in a terminal just now. */
	void (*typing)(struct sandbar_channel *channel, uint32_t participant, uint32_t process, void *user);
	/* Events FROM…TO will not come; `state` follows: a map {processes, participants, terminals}, MessagePack. */
	void (*gap)(struct sandbar_channel *channel, uint64_t from, uint64_t to, void *user);
	void (*state)(struct sandbar_channel *channel, uint64_t seq, const void *map, size_t length, void *user);
	void (*live)(struct sandbar_channel *channel, uint64_t seq, void *user); /* the replay is over */
	void (*ended)(struct sandbar_channel *channel, const char *reason, void *user);
	/* There is room for input again, or all of it was acknowledged. */
	void (*input)(struct sandbar_channel *channel, uint32_t process, void *user);
	/* Something was wrong with what this client sent (PROCESS 0 = none named), or with what came. The channel lives. */
	void (*error)(struct sandbar_channel *channel, uint32_t process, const struct sandbar_error *error, void *user);
	/* The last callback: the channel is freed when it returns. WHY: `session_ended`, `removed`, an error of
	 * session.attach, or `closed`. */
	void (*closed)(struct sandbar_channel *channel, const struct sandbar_error *why, void *user);
};

#define SANDBAR_FROM_NOW (-1)

struct sandbar_attachment {
	const char *session;
	int64_t after;             /* the last event that is known; 0 = all there is; SANDBAR_FROM_NOW */
	bool lossless;             /* else `live`: a channel that falls behind skips, with a gap */
	const char *name;          /* shown to others; NULL = the principal's */
	const char *role;          /* NULL = the highest that the token allows */
	const uint32_t *processes; /* only these processes' output; NULL = all */
	size_t process_count;
	uint64_t window;  /* credit: at most so many bytes beyond what was handled; 0 = no limit */
	uint64_t replay;  /* at most so many bytes of the past; 0 = no limit. More: a gap, and a screen */
	uint32_t screens; /* 1…30: of terminals only `screen`, at most so many a second */
	bool paced;       /* for terminals: no more of the window than is drawn in 20 ms (§4.4) */
	const struct sandbar_events *events; /* must live as long as the channel */
	void *user;
};

/* Attach to a session, now or as soon as there is a connection. The channel is the library's; it lives until its
 * `closed` or sandbar_detach(). NULL with ERROR if an argument is wrong. */
struct sandbar_channel *sandbar_attach(struct sandbar *sandbar, const struct sandbar_attachment *attachment,
                                       struct sandbar_error *error);
/* No callback of CHANNEL follows, and it may not be used any more. */
void sandbar_detach(struct sandbar_channel *channel);

/* The last event that was handled; 0 if none. */
uint64_t sandbar_channel_seq(const struct sandbar_channel *channel);
struct sandbar *sandbar_channel_connection(const struct sandbar_channel *channel);

/* Credit: of the output handed to callbacks, BYTES are not written yet where they go. With a window, the server is
 * asked for no more than window - BYTES; so memory stays bounded whoever is slow. */
void sandbar_channel_held(struct sandbar_channel *channel, uint64_t bytes);

/* Take input for a process: as many of LENGTH bytes as have room (1 MiB unacknowledged), copied; returns how many.
 * Input of one process must go through one channel. */
size_t sandbar_input(struct sandbar_channel *channel, uint32_t process, const void *data, size_t length);
size_t sandbar_input_room(struct sandbar_channel *channel, uint32_t process);
/* The end of input, after what was taken. A terminal gets its end-of-file character. */
void sandbar_input_eof(struct sandbar_channel *channel, uint32_t process);
/* Everything that was taken is acknowledged. */
bool sandbar_input_is_done(struct sandbar_channel *channel, uint32_t process);
/* A terminal's size, 1…1000 each. Sent again after a cut. */
void sandbar_resize(struct sandbar_channel *channel, uint32_t process, uint32_t cols, uint32_t rows);

enum sandbar_drive { SANDBAR_TAKE, SANDBAR_RELEASE, SANDBAR_REQUEST, SANDBAR_GRANT };

/* Without waiting: take a terminal, release it (or take a request back), ask for it, let PARTICIPANT (only for
 * SANDBAR_GRANT) drive. ANSWER may be NULL; so may ERROR. Returns as sandbar_request(), and 0 while there is no
 * connection. */
uint32_t sandbar_drive(struct sandbar_channel *channel, uint32_t process, enum sandbar_drive what, uint32_t participant,
                       sandbar_answer answer, void *user, struct sandbar_error *error);

#ifdef __cplusplus
}
#endif

#endif
