/*
 * session.h: one sandbox that lives until it is ended, with its journal, processes and channels; and the registry
 * of all of them (struct sessions), which the gateway makes once.
 *
 * A session is freed by itself after its end, when every channel has fetched the last event and its record is finished.
 */
#ifndef SANDBAR_SESSION_H
#define SANDBAR_SESSION_H

#include "channel.h"
#include "context.h"
#include "counters.h"
#include "holds.h"
#include "kept.h"
#include "lookout.h"
#include "meter.h"
#include "owner.h"
#include "process.h"
#include "recorder.h"
#include "waker.h"
#include "sandbox/driver.h"
#include "server/base/template.h"

enum session_state { SESSION_CREATING, SESSION_RUNNING, SESSION_ENDING, SESSION_ENDED };
enum { SESSION_TENANT_BYTES = 64, SESSION_DONE_KEPT = 1000, SESSION_PROCESSES = 512 };

/* Somebody who waits for a session; owned by the waiter, out of the list before it is called. */
struct session_watch {
	LIST_ENTRY(session_watch) link;
	void (*created)(struct session_watch *watch, struct session *session);
	void (*failed)(struct session_watch *watch, const char *code, const char *message);
	void (*ended)(struct session_watch *watch);
};

struct session {
	LIST_ENTRY(session) link; /* in the registry */
	struct sessions *home;
	char id[SESSION_ID_LENGTH + 1];
	char name[LIMIT_NAME_BYTES + 1];
	char tenant[SESSION_TENANT_BYTES];
	char template[TEMPLATE_NAME_BYTES + 1]; /* that it was made from; "": a server made it that did not note that */
	enum session_state state;
	bool is_restored;        /* from an earlier gateway's files; CREATING until its init was heard */
	const char *end_reason;  /* static; NULL while it lives */
	uint64_t ttl_ms;         /* since it was made; 0 = none */
	struct journal *journal; /* NULL: it has ended, and is read from its record alone */
	struct records *records;
	struct recording *recording;  /* NULL: it is not recorded */
	uint64_t record_bytes;        /* that its record may have; 0 = none */
	uint64_t ended_us, kept_last; /* once it has ended: since 1970, and the last event's seq */
	uint64_t created_us;          /* since 1970 */
	size_t collected;             /* bytes that requests keep until they are answered */
	bool is_counted;              /* in sessions.count */
	bool is_kept;                 /* kept_open() made it */
	bool is_saved, is_late;       /* its file says that it ended; its record is not waited for any more */
	struct sandbox *sandbox;
	struct sandbox_limits limits;
	struct layer_report layers;
	char **env;           /* "NAME=value", ended by NULL; owned */
	char **context;       /* owned; NULL = empty */
	struct access access; /* what its owners decided on who may come */
	uint64_t most_ttl_ms; /* that ttl_ms may become; 0 = no bound */
	struct process_list processes;
	uint32_t next_process, next_participant;
	size_t process_count, running_count;
	uint32_t display_cells; /* of the screens of its terminals */
	uint64_t checkpointed;  /* the journal's position at the last round of checkpoints */
	LIST_HEAD(, channel) channels;
	LIST_HEAD(, channel) holders; /* those of them that are lossless */
	size_t screen_takers;         /* that get screens instead of terminals' output */
	LIST_HEAD(, session_watch) watches;
	struct owner client; /* that it ends with */
	struct meter meter;
	struct waker waker;
	struct lookout lookout;
	unsigned
		awaited;   /* lossless channels that a gateway's end cut, and that may come back: until then nothing runs on */
	ev_timer back; /* until that is given up */
	ev_timer ttl, deadline; /* deadline: of ending, and of its end's being fetched and recorded */
	struct writer event;    /* scratch for the frame that is being written */
};

struct sessions {
	LIST_HEAD(, session) list;
	size_t count, most;
	struct ev_loop *loop;
	const struct driver *driver;
	int directory;   /* STATE/sessions */
	bool is_leaving; /* the next gateway takes over: who leaves now was cut, and comes back to that */
	uint64_t ring_bytes;
	uint64_t default_ttl_ms;
	struct counters counters;
	uint64_t record_bytes; /* most that a session's record may have; 0 = nothing is recorded */
	struct recorder recorder;
	struct kept kept;
	struct lookouts lookouts;
	uint8_t *scratch; /* CHANNEL_ROOM + a message; shared by all channels */
	size_t scratch_bytes;
	struct { /* what stands in the scratch, for the next viewer at the same place */
		const struct session *session;
		uint64_t from, to, next_seq;
		size_t length, most;
	} run;
	ev_timer close; /* closes what stands in closing */
	int *closing;
	size_t closing_count, closing_room;
	void (*on_empty)(void *owner);   /* the last session is gone; NULL = nobody waits */
	void (*on_adopted)(void *owner); /* every session that an earlier gateway left goes on, or has ended */
	size_t unsynced;                 /* restored sessions whose init was not heard yet */
	void *owner;
};

struct session_options {
	const char *name, *tenant, *template;
	char **env; /* ended by NULL; becomes the session's */
	struct sandbox_limits limits;
	uint32_t required_layers;
	uint64_t ttl_ms, most_ttl_ms;
	const uint8_t *client; /* that it ends with, when it was away for AWAY_MS; NULL: with none */
	uint64_t away_ms;
	const char *const *context; /* is copied */
	uint64_t record_bytes;      /* within the server's */
};

void sessions_init(struct sessions *sessions, struct ev_loop *loop, const struct driver *driver, int directory);
void sessions_finish(struct sessions *sessions); /* asserts that no session is left */
struct session *sessions_find(struct sessions *sessions, const char *id, size_t length, const char *tenant);
/* Close FD, whose watcher was stopped, a turn of the loop later. libev takes a descriptor out of the kernel's epoll set
 * only when an event comes that nobody wants. Init holds these, so that a closed one would stay in the set and go on
 * telling of its hang-up, for which libev makes the whole set anew. */
void sessions_close_later(struct sessions *sessions, int fd);
void sessions_end_all(struct sessions *sessions, const char *reason);
/* No connection, or again one, of this client. */
void sessions_client_left(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES]);
void sessions_client_back(struct sessions *sessions, const uint8_t client[CLIENT_ID_BYTES]);

/* NULL on error, with *CODE one of the wire's codes. WATCH hears `created` or `failed`. */
struct session *session_create(struct sessions *sessions, const struct session_options *options,
                               struct session_watch *watch, enum error_code *code, struct error *err);
/* End it for REASON ("ended", "ttl", "disconnect", "stopped", "lost"); WATCH (may be NULL) hears `ended`. */
void session_end(struct session *session, const char *reason, struct session_watch *watch);

/* Change what is not NULL, and write it down. -1: nothing has changed. */
struct session_changes {
	const char *name;
	const char *const *context;
	const uint64_t *ttl_ms; /* since it was made; one that is over ends it soon */
};
int session_update(struct session *session, const struct session_changes *changes, struct error *err);

/* For restore.c: one without anything but an id; frees it again, leaving its files; and its clock. */
struct session *session_allocate(struct sessions *home, const char *id);
void session_release(struct session *session);
void session_arm_ttl(struct session *session);
void session_take_layers(struct session *session, const struct layer_report *layers);
/* A restored session waits for its init, for a bounded time; and has waited. */
void session_await_sync(struct session *session);

/* A restored session whose sandbox nobody has any more: it ends as lost. May free it. */
void session_was_lost(struct session *session);
void session_remove_files(struct sessions *home, const char *id);
void session_restore_processes(struct session *session);
extern const struct sandbox_events session_events;

#define RECORDS_NAME "records"

struct process *session_find_process(struct session *session, uint32_t number);
/* NULL with *CODE when it may not start more. */
struct process *session_start(struct session *session, const struct process_options *options,
                              struct process_watch *watch, enum error_code *code, struct error *err);

/* Append an event of KIND: begin, write FIELDS more values into the writer, commit. Returns its seq. */
struct writer *session_event_begin(struct session *session, enum frame_kind kind, uint32_t fields);
uint64_t session_event_commit(struct session *session);
/* Read a source into the journal as OUTPUT and tell the channels; as journal_read_output(). */
size_t session_read_output(struct session *session, const struct journal_source *source, size_t most,
                           enum journal_read_end *end, const uint8_t **bytes);

/* Input of this client was written up to OFFSET. */
void session_ack(struct session *session, const uint8_t client[CLIENT_ID_BYTES], uint32_t process, uint64_t offset);
/* The process closed its stdin: what this client sent above OFFSET is not delivered. */
void session_refuse_input(struct session *session, const uint8_t client[CLIENT_ID_BYTES], uint32_t process,
                          uint64_t offset);
void session_process_done(struct session *session);
void session_channel_gone(struct session *session); /* may free it (ended.c) */

#endif
