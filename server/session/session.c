#include "denial.h"
#include "ended.h"
#include "holds.h"
#include "segment.h"
#include "session_file.h"
#include "server/base/session_id.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const ev_tstamp sync_grace_s = 5.0; /* until a restored session whose init is silent is lost */
static const ev_tstamp end_grace_s = 5.0;  /* until the sandbox is destroyed although processes did not report */

struct writer *session_event_begin(struct session *session, enum frame_kind kind, uint32_t fields)
{
	struct writer *event = &session->event;
	session->home->counters.events[kind]++;
	writer_reset(event);
	writer_array(event, 3 + fields);
	writer_uint(event, kind);
	writer_uint(event, journal_last_seq(session->journal) + 1);
	writer_uint(event, journal_now_us(session->journal));
	return event;
}

uint64_t session_event_commit(struct session *session)
{
	assert(!session->event.failed);
	journal_append(session->journal, session->event.data, session->event.length);
	recording_appended(session->recording);
	waker_tell(session);
	return journal_last_seq(session->journal);
}

size_t session_read_output(struct session *session, const struct journal_source *source, size_t most,
                           enum journal_read_end *end, const uint8_t **bytes)
{
	uint64_t position = journal_tail(session->journal);
	size_t got = journal_read_output(session->journal, source, most, end);
	if (got == 0)
		return 0;
	session->home->counters.events[FRAME_OUTPUT]++;
	session->home->counters.output_bytes += got;
	size_t length;
	*bytes = journal_frame(session->journal, position, &length) + OUTPUT_HEADER_BYTES;
	struct channel *channel;
	LIST_FOREACH(channel, &session->holders, holder)
		channel_appended(channel, source->process, got);
	recording_appended(session->recording);
	waker_output(session, got);
	return got;
}

void session_ack(struct session *session, const uint8_t client[CLIENT_ID_BYTES], uint32_t process, uint64_t offset)
{
	struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link)
		if (memcmp(channel->client, client, CLIENT_ID_BYTES) == 0)
			channel_ack(channel, process, offset);
}

void session_refuse_input(struct session *session, const uint8_t client[CLIENT_ID_BYTES], uint32_t process,
                          uint64_t offset)
{
	struct channel *channel;
	LIST_FOREACH(channel, &session->channels, link)
		if (memcmp(channel->client, client, CLIENT_ID_BYTES) == 0)
			channel_error(channel, process, CODE_STDIN_CLOSED, "the process closed its stdin", "accepted", offset);
}

struct process *session_find_process(struct session *session, uint32_t number)
{
	struct process *process;
	TAILQ_FOREACH_REVERSE(process, &session->processes, process_list, link)
		if (process->number == number)
			return process;
	return NULL;
}

/* --- making ------------------------------------------------------------------------------------------------- */

static void free_env(char **env)
{
	for (char **entry = env; entry && *entry; entry++)
		free(*entry);
	free(env);
}

enum { REMOVE_ROUNDS = 16 };

static void remove_segments(int directory)
{
	struct segments segments;
	if (segments_list(&segments, directory, NULL) < 0)
		return;
	for (size_t i = 0; i < segments.count; i++) {
		char name[SEGMENT_NAME_BYTES];
		segment_name(segments.rows[i].first, name);
		unlinkat(directory, name, 0);
	}
	segments_finish(&segments);
}

void session_remove_files(struct sessions *home, const char *id)
{
	static const char *const names[] = {JOURNAL_NAME, RECORDS_NAME, SESSION_FILE, SESSION_FILE ".part",
	                                    SESSION_FILE ".spare"};
	int directory = openat(home->directory, id, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (directory < 0)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlinkat(directory, names[i], 0);
	/* The worker may be writing still, and begin one more segment in between. */
	for (int round = 0; round < REMOVE_ROUNDS; round++) {
		remove_segments(directory);
		if (unlinkat(home->directory, id, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			break;
	}
	close(directory);
}

/* The journal and the records. On error nothing of them is left. */
static int make_files(struct session *session, struct error *err)
{
	int home = session->home->directory;
	if (mkdirat(home, session->id, 0700) < 0)
		return error_set(err, errno, "make the directory of session `%s`", session->id);
	int directory = openat(home, session->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory < 0)
		error_set(err, errno, "open the directory of session `%s`", session->id);
	else
		session->journal = journal_create(directory, JOURNAL_NAME, session->home->ring_bytes, err);
	if (session->journal)
		session->records = records_create(directory, RECORDS_NAME, err);
	if (directory >= 0)
		close(directory);
	if (session->records)
		return 0;
	session_remove_files(session->home, session->id);
	return -1;
}

static void on_ttl(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	session_end(timer->data, "ttl", NULL);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events);

struct session *session_allocate(struct sessions *home, const char *id)
{
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		abort();
	session->home = home;
	memcpy(session->id, id, SESSION_ID_LENGTH);
	TAILQ_INIT(&session->processes);
	LIST_INIT(&session->channels);
	LIST_INIT(&session->watches);
	writer_init(&session->event, JOURNAL_EVENT);
	ev_timer_init(&session->ttl, on_ttl, 0., 0.);
	ev_timer_init(&session->deadline, on_deadline, 0., 0.);
	holds_init(session);
	session->ttl.data = session->deadline.data = session;
	owner_init(&session->client, session);
	meter_init(&session->meter, session);
	waker_init(&session->waker, session);
	return session;
}

void session_release(struct session *session)
{
	assert(LIST_EMPTY(&session->channels) && LIST_EMPTY(&session->watches));
	struct process *process;
	while ((process = TAILQ_FIRST(&session->processes))) {
		TAILQ_REMOVE(&session->processes, process, link);
		process_free(process);
	}
	ev_timer_stop(session->home->loop, &session->ttl);
	ev_timer_stop(session->home->loop, &session->deadline);
	ev_timer_stop(session->home->loop, &session->back);
	owner_stop(&session->client);
	meter_stop(&session->meter);
	waker_stop(session);
	lookout_stop(session);
	if (session->home->run.session == session)
		session->home->run.session = NULL;
	recording_destroy(session->recording);
	journal_destroy(session->journal);
	records_destroy(session->records);
	writer_finish(&session->event);
	free_env(session->env);
	context_destroy(session->context);
	access_finish(&session->access);
	free(session);
}

void session_arm_ttl(struct session *session)
{
	if (session->ttl_ms == 0)
		return;
	uint64_t gone_ms = journal_now_us(session->journal) / 1000;
	uint64_t left_ms = session->ttl_ms > gone_ms ? session->ttl_ms - gone_ms : 0;
	ev_timer_set(&session->ttl, (double)left_ms / 1e3, 0.);
	ev_timer_start(session->home->loop, &session->ttl);
}

static enum error_code code_of(const struct error *err)
{
	if (err->errnum == ENOSPC || err->errnum == EDQUOT)
		return CODE_NO_SPACE;
	return err->errnum == EMFILE || err->errnum == ENFILE || err->errnum == EFBIG ? CODE_LIMIT : CODE_INTERNAL;
}

static struct session *make_session(struct sessions *sessions, const struct session_options *options, const char *id,
                                    struct error *err)
{
	struct session *session = session_allocate(sessions, id);
	snprintf(session->name, sizeof session->name, "%s", options->name);
	snprintf(session->tenant, sizeof session->tenant, "%s", options->tenant);
	snprintf(session->template, sizeof session->template, "%s", options->template);
	session->limits = options->limits;
	session->context = context_copy(options->context);
	session->most_ttl_ms = options->most_ttl_ms;
	if (options->client) {
		memcpy(session->client.client, options->client, CLIENT_ID_BYTES);
		session->client.away_ms = options->away_ms;
	}
	session->ttl_ms = options->ttl_ms ? options->ttl_ms : sessions->default_ttl_ms;
	session->record_bytes = options->record_bytes < sessions->record_bytes ? options->record_bytes
	                                                                       : sessions->record_bytes;
	if (make_files(session, err) == 0) {
		session->created_us = journal_created_us(session->journal);
		return session;
	}
	session_release(session);
	return NULL;
}

struct session *session_create(struct sessions *sessions, const struct session_options *options,
                               struct session_watch *watch, enum error_code *code, struct error *err)
{
	if (sessions->count >= sessions->most) {
		*code = CODE_LIMIT;
		return error_set(err, 0, "this server runs at most %zu sessions at once", sessions->most), NULL;
	}
	struct sandbox_spec spec = {.limits = options->limits, .required_layers = options->required_layers};
	if (!sessions->driver->offer(sessions->driver->context, &spec))
		session_id_make(spec.session, SESSION_ID_LENGTH);
	struct session *session = make_session(sessions, options, spec.session, err);
	if (!session) {
		*code = code_of(err);
		return NULL;
	}
	session->env = options->env;
	LIST_INSERT_HEAD(&sessions->list, session, link);
	sessions->count++;
	session->is_counted = true;
	LIST_INSERT_HEAD(&session->watches, watch, link);
	session_arm_ttl(session);
	session->sandbox = sessions->driver->create(sessions->driver->context, &spec, &session_events, session);
	return session;
}

/* --- ending ------------------------------------------------------------------------------------------------- */

static void destroy_sandbox(struct session *session)
{
	struct sandbox *sandbox = session->sandbox;
	if (!sandbox)
		return;
	session->sandbox = NULL;
	ev_timer_stop(session->home->loop, &session->deadline);
	session->home->driver->destroy(sandbox);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	struct session *session = timer->data;
	if (session->state == SESSION_CREATING)
		session_end(session, "lost", NULL); /* its init does not answer a new gateway */
	else if (session->state == SESSION_ENDED)
		session_ended_deadline(session);
	else
		destroy_sandbox(session);
}

static void arm_deadline(struct session *session, ev_tstamp seconds)
{
	ev_timer_stop(session->home->loop, &session->deadline);
	ev_timer_set(&session->deadline, seconds, 0.);
	ev_timer_start(session->home->loop, &session->deadline);
}

static void sync_is_over(struct sessions *sessions)
{
	if (--sessions->unsynced == 0 && sessions->on_adopted)
		sessions->on_adopted(sessions->owner);
}

void session_end(struct session *session, const char *reason, struct session_watch *watch)
{
	if (watch)
		LIST_INSERT_HEAD(&session->watches, watch, link);
	if (session->state >= SESSION_ENDING)
		return;
	bool was_creating = session->state == SESSION_CREATING && !session->is_restored;
	bool was_unsynced = session->state == SESSION_CREATING && session->is_restored;
	session->state = SESSION_ENDING;
	if (!session->end_reason) /* an earlier gateway may have begun it */
		session->end_reason = reason;
	meter_stop(&session->meter);
	session_end_store(session); /* a later gateway goes on with the end */
	if (!was_creating)
		session_file_save(session, NULL);
	ev_timer_stop(session->home->loop, &session->ttl);
	if (was_unsynced)
		sync_is_over(session->home);
	if (was_creating || was_unsynced || session->running_count == 0) {
		destroy_sandbox(session);
		return;
	}
	arm_deadline(session, end_grace_s);
	struct process *process;
	TAILQ_FOREACH(process, &session->processes, link)
		if (process->state != PROCESS_DONE)
			process_end(process, REASON_KILLED, NULL, 0);
}

void session_process_done(struct session *session)
{
	session->running_count--;
	meter_wake(&session->meter);
	if (session->state == SESSION_ENDING && session->running_count == 0)
		destroy_sandbox(session);
}

/* Whatever is not DONE yet ends as lost. A process may leave the list on the way. */
static void lose_processes(struct session *session, const char *message)
{
	struct process *process, *next;
	for (process = TAILQ_FIRST(&session->processes); process; process = next) {
		next = TAILQ_NEXT(process, link);
		process_lost(process, message);
	}
}

/* Nobody can write any more, and no event may stand behind ENDED: a stalled viewer cannot hold anything back now. */
static void finish_process(struct process *process)
{
	sources_finish(process);
	process_settle(process);
}

static void tell_ended(struct session *session)
{
	struct session_watch *watch;
	while ((watch = LIST_FIRST(&session->watches))) {
		LIST_REMOVE(watch, link);
		if (watch->ended)
			watch->ended(watch);
		else
			watch->failed(watch, "session_ended", "the session was ended before it was ready");
	}
}

/* Nothing of the sandbox is left: the last event, and the end of everybody's waiting. May free the session. */
static void on_destroyed(void *owner)
{
	struct session *session = owner;
	lose_processes(session, "the sandbox ended");
	struct process *process;
	TAILQ_FOREACH(process, &session->processes, link)
		finish_process(process);
	struct writer *event = session_event_begin(session, FRAME_ENDED, 1);
	writer_str(event, session->end_reason);
	session_event_commit(session);
	session->state = SESSION_ENDED;
	tell_ended(session);
	session_ended(session);
}

/* --- what the driver tells ----------------------------------------------------------------------------------- */

static void fail_watches(struct session *session, const char *code, const char *message)
{
	struct session_watch *watch;
	while ((watch = LIST_FIRST(&session->watches))) {
		LIST_REMOVE(watch, link);
		if (watch->failed)
			watch->failed(watch, code, message);
		else
			watch->ended(watch);
	}
}

/* What the host gives; and of that what a sandbox has only where it was asked for. */
void session_take_layers(struct session *session, const struct layer_report *layers)
{
	session->layers = *layers;
	struct layer_status *clocks = &session->layers.layers[LAYER_TIME];
	if (clocks->on && !session->limits.own_time)
		*clocks = (struct layer_status){.detail = "was not asked for (`require`)"};
}

static void on_created(void *owner, const struct layer_report *layers)
{
	struct session *session = owner;
	session_take_layers(session, layers);
	if (session->state != SESSION_CREATING)
		return; /* its end was asked for meanwhile */
	struct error err;
	struct session_watch *watch, *next;
	if (session_file_save(session, &err) < 0) { /* it could not be taken over later: it is not promised to anybody */
		fail_watches(session, error_code_name(code_of(&err)), err.message);
		session_end(session, "ended", NULL);
		return;
	}
	session->state = SESSION_RUNNING;
	session_record(session);
	for (watch = LIST_FIRST(&session->watches); watch; watch = next) {
		next = LIST_NEXT(watch, link);
		if (!watch->created)
			continue;
		LIST_REMOVE(watch, link);
		watch->created(watch, session);
	}
}

static void on_create_failed(void *owner, const char *code, const char *message)
{
	struct session *session = owner;
	session->sandbox = NULL;
	session->state = SESSION_ENDED;
	fail_watches(session, code, message);
	session_channel_gone(session);
}

void session_await_sync(struct session *session)
{
	session->home->unsynced++;
	arm_deadline(session, sync_grace_s);
	owner_left(&session->client); /* it connects again, as everybody does */
	holds_await(session);
}

/* A restored session's init has told what it knows. */
static void on_synced(void *owner)
{
	struct session *session = owner;
	struct process *process, *next;
	for (process = TAILQ_FIRST(&session->processes); process; process = next) {
		next = TAILQ_NEXT(process, link);
		process_missed(process);
	}
	participants_left(session);
	TAILQ_FOREACH(process, &session->processes, link)
		sharing_go_on(&process->sharing);
	if (session->state != SESSION_CREATING)
		return;
	ev_timer_stop(session->home->loop, &session->deadline);
	session->state = SESSION_RUNNING;
	if (session->end_reason)
		session_end(session, session->end_reason, NULL);
	else
		session_arm_ttl(session); /* not before: what has not been taken over cannot be ended */
	sync_is_over(session->home);
}

void session_was_lost(struct session *session)
{
	session->state = SESSION_ENDING;
	if (!session->end_reason)
		session->end_reason = "lost";
	participants_left(session);
	on_destroyed(session);
}

static void on_lost(void *owner, const char *message)
{
	struct session *session = owner;
	lose_processes(session, message);
	if (session->state < SESSION_ENDING)
		session_end(session, "lost", NULL);
	else
		destroy_sandbox(session);
}

static void on_measured(void *owner, const struct sandbox_usage *usage)
{
	struct session *session = owner;
	meter_took(&session->meter, usage);
}

#define TO_PROCESS(name, parameters, call)                             \
	static void name parameters                                        \
	{                                                                  \
		struct process *process = session_find_process(owner, number); \
		if (process)                                                   \
			call;                                                      \
	}
TO_PROCESS(on_exited, (void *owner, uint32_t number, int wait_status, const struct rusage *usage),
           process_exited(process, wait_status, usage))
TO_PROCESS(on_killed, (void *owner, uint32_t number), process_killed(process))
TO_PROCESS(on_usage, (void *owner, uint32_t number, const struct process_usage *usage), process_usage(process, usage))
TO_PROCESS(on_start_failed, (void *owner, uint32_t number, int exit_code, const char *code, const char *message),
           process_start_failed(process, exit_code, code, message))
#undef TO_PROCESS

static void on_started(void *owner, uint32_t number, const struct process_streams *streams)
{
	struct session *session = owner;
	struct process *process = session_find_process(session, number);
	if (process && !process->forgotten) {
		process_started(process, streams);
		return;
	}
	/* An earlier gateway had finished with it, and could not say so any more. */
	if (session->sandbox)
		session->home->driver->forget(session->sandbox, number);
	const int fds[] = {streams->stdin_fd, streams->stdout_fd,  streams->stderr_fd,
	                   streams->tty_fd,   streams->command_fd, streams->status_fd};
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

const struct sandbox_events session_events = {
	.created = on_created,
	.create_failed = on_create_failed,
	.started = on_started,
	.start_failed = on_start_failed,
	.exited = on_exited,
	.killed = on_killed,
	.denied = session_denied,
	.usage = on_usage,
	.measured = on_measured,
	.lost = on_lost,
	.destroyed = on_destroyed,
	.synced = on_synced,
};

/* --- processes ----------------------------------------------------------------------------------------------- */

/* Only here is a process that ended dropped, so that none vanishes under the feet of who has just ended it. */
static void forget_oldest_done(struct session *session)
{
	size_t done = session->process_count - session->running_count;
	struct process *process = TAILQ_FIRST(&session->processes);
	while (process && done > SESSION_DONE_KEPT) {
		struct process *next = TAILQ_NEXT(process, link);
		if (process->state == PROCESS_DONE && process->forgotten && LIST_EMPTY(&process->watches)) {
			TAILQ_REMOVE(&session->processes, process, link);
			session->process_count--;
			process->record->number = 0;
			process_free(process);
			done--;
		}
		process = next;
	}
}

struct process *session_start(struct session *session, const struct process_options *options,
                              struct process_watch *watch, enum error_code *code, struct error *err)
{
	if (session->state != SESSION_RUNNING) {
		*code = session->state == SESSION_CREATING ? CODE_CONFLICT : CODE_SESSION_ENDED;
		return error_set(err, 0, "session `%s` is %s", session->id,
		                 session->state == SESSION_CREATING ? "not ready yet" : "ending"),
		       NULL;
	}
	if (session->running_count >= SESSION_PROCESSES) {
		*code = CODE_LIMIT;
		return error_set(err, 0, "a session runs at most %d processes started by clients at once", SESSION_PROCESSES),
		       NULL;
	}
	forget_oldest_done(session);
	uint32_t number = *records_next_process(session->records) = ++session->next_process;
	struct process *process = process_start(session, number, options, watch);
	if (!process) {
		session->next_process = --*records_next_process(session->records);
		*code = CODE_NO_SPACE;
		return error_set(err, 0, "there is no room for the record of one more process"), NULL;
	}
	TAILQ_INSERT_TAIL(&session->processes, process, link);
	session->process_count++;
	session->running_count++;
	meter_wake(&session->meter);
	return process;
}
