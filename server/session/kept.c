#include "kept.h"

#include "session_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const ev_tstamp sweep_every_s = 60.0; /* for the bound of age */

uint64_t kept_now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	kept_sweep(timer->data);
}

void kept_init(struct sessions *sessions)
{
	struct kept *kept = &sessions->kept;
	TAILQ_INIT(&kept->list);
	ev_timer_init(&kept->sweep, on_sweep, sweep_every_s, sweep_every_s);
	kept->sweep.data = sessions;
}

static void forget(struct kept *kept, struct kept_session *row)
{
	TAILQ_REMOVE(&kept->list, row, link);
	kept->count--;
	kept->bytes -= row->bytes;
	free(row);
}

void kept_finish(struct sessions *sessions)
{
	struct kept *kept = &sessions->kept;
	ev_timer_stop(sessions->loop, &kept->sweep);
	while (!TAILQ_EMPTY(&kept->list))
		forget(kept, TAILQ_FIRST(&kept->list));
}

static int open_directory(const struct sessions *sessions, const char *id)
{
	return openat(sessions->directory, id, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* What its files take on disk. */
static uint64_t bytes_of(const struct sessions *sessions, const char *id)
{
	int fd = open_directory(sessions, id);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t bytes = 0;
	const struct dirent *entry;
	struct stat status;
	if (!folder && fd >= 0)
		close(fd);
	while (folder && (entry = readdir(folder)))
		if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_blocks * 512;
	if (folder)
		closedir(folder);
	return bytes;
}

static void insert_by_end(struct kept *kept, struct kept_session *row)
{
	struct kept_session *before;
	TAILQ_FOREACH_REVERSE(before, &kept->list, kept_sessions, link)
		if (before->ended_us <= row->ended_us)
			break;
	if (before)
		TAILQ_INSERT_AFTER(&kept->list, before, row, link);
	else
		TAILQ_INSERT_HEAD(&kept->list, row, link);
}

void kept_add(struct sessions *sessions, const struct session *session)
{
	struct kept *kept = &sessions->kept;
	struct kept_session *row = calloc(1, sizeof *row);
	if (!row)
		abort();
	bool is_whole = session->recording && recording_is_whole(session->recording);
	*row = (struct kept_session){.end_reason = session->end_reason,
	                             .created_us = session->created_us,
	                             .ended_us = session->ended_us,
	                             .last = session->kept_last,
	                             .recorded = is_whole ? session->kept_last : 0,
	                             .bytes = bytes_of(sessions, session->id),
	                             .is_unsaved = !session->is_saved};
	memcpy(row->id, session->id, sizeof row->id);
	memcpy(row->name, session->name, sizeof row->name);
	memcpy(row->tenant, session->tenant, sizeof row->tenant);
	memcpy(row->template, session->template, sizeof row->template);
	insert_by_end(kept, row);
	kept->count++;
	kept->bytes += row->bytes;
	if (!ev_is_active(&kept->sweep))
		ev_timer_again(sessions->loop, &kept->sweep);
}

void kept_unlink_journal(const struct sessions *sessions, const char *id)
{
	int directory = open_directory(sessions, id);
	if (directory < 0)
		return;
	unlinkat(directory, JOURNAL_NAME, 0);
	close(directory);
}

static bool has_journal(int directory)
{
	return faccessat(directory, JOURNAL_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* What the files say of a session's end. */
static bool load_end(struct session *session, int directory)
{
	if (session_file_load(session, directory, NULL) < 0)
		return false;
	session->is_saved = session->ended_us > 0;
	if (session->is_saved)
		return true;
	session->records = records_open(directory, RECORDS_NAME, NULL);
	session_end_load(session);
	return session->ended_us > 0;
}

/* False where the files do not say whose it was, or hold nothing. */
static bool end_as_lost(struct session *session, int directory)
{
	struct recording *recording = recording_load(directory, 0, NULL);
	uint64_t last = recording ? recording->last : 0;
	recording_destroy(recording);
	if (last == 0 || session_file_load(session, directory, NULL) < 0)
		return false;
	session->kept_last = last;
	session->ended_us = kept_now_us();
	session->end_reason = "lost";
	session->records = records_open(directory, RECORDS_NAME, NULL);
	session_end_store(session);
	return true;
}

static bool restore(struct sessions *sessions, const char *id, bool (*find_end)(struct session *session, int directory))
{
	int directory = open_directory(sessions, id);
	struct session *session = session_allocate(sessions, id);
	bool is_kept = directory >= 0 && !has_journal(directory) && find_end(session, directory);
	if (is_kept)
		kept_add(sessions, session);
	session_release(session);
	if (directory >= 0)
		close(directory);
	return is_kept;
}

bool kept_restore(struct sessions *sessions, const char *id)
{
	return restore(sessions, id, load_end);
}

bool kept_salvage(struct sessions *sessions, const char *id)
{
	kept_unlink_journal(sessions, id);
	return restore(sessions, id, end_as_lost);
}

static void set_end(struct session *session, const struct kept_session *row)
{
	session->end_reason = row->end_reason;
	session->ended_us = row->ended_us;
	session->kept_last = row->last;
}

static bool is_over(const struct kept *kept)
{
	const struct kept_session *oldest = TAILQ_FIRST(&kept->list);
	if (!oldest)
		return false;
	uint64_t now = kept_now_us(), age_us = now > oldest->ended_us ? now - oldest->ended_us : 0;
	return kept->count > kept->most || kept->bytes > kept->most_bytes || age_us / 1000 > kept->most_age_ms;
}

/* There may be room by now. What is not needed any more, such as the environment, leaves the file with that. */
static void save(struct sessions *sessions, struct kept_session *row)
{
	int directory = open_directory(sessions, row->id);
	struct session *session = session_allocate(sessions, row->id);
	if (directory >= 0 && session_file_load(session, directory, NULL) == 0) {
		set_end(session, row);
		row->is_unsaved = session_file_save(session, NULL) < 0;
	}
	session_release(session);
	if (directory >= 0)
		close(directory);
}

void kept_close(struct session *session)
{
	struct kept *kept = &session->home->kept;
	for (size_t i = 0; i < KEPT_OPEN; i++)
		if (kept->open[i] == session)
			kept->open[i] = NULL;
	if (!LIST_EMPTY(&session->channels))
		return;
	LIST_REMOVE(session, link);
	session_release(session);
}

static void close_all(struct kept *kept)
{
	for (size_t i = 0; i < KEPT_OPEN; i++)
		if (kept->open[i])
			kept_close(kept->open[i]);
}

void kept_stays_open(struct session *session)
{
	struct kept *kept = &session->home->kept;
	for (size_t i = 0; i < KEPT_OPEN; i++)
		if (kept->open[i] == session)
			return;
	struct session **place = &kept->open[kept->next_open++ % KEPT_OPEN];
	if (*place)
		kept_close(*place);
	*place = session;
}

void kept_sweep(struct sessions *sessions)
{
	struct kept *kept = &sessions->kept;
	struct kept_session *row;
	TAILQ_FOREACH(row, &kept->list, link)
		if (row->is_unsaved)
			save(sessions, row);
	while (is_over(kept)) {
		close_all(kept);
		session_remove_files(sessions, TAILQ_FIRST(&kept->list)->id);
		forget(kept, TAILQ_FIRST(&kept->list));
	}
	if (kept->count == 0)
		ev_timer_stop(sessions->loop, &kept->sweep);
}

static struct kept_session *find(const struct kept *kept, const char *id, const char *tenant)
{
	struct kept_session *row;
	TAILQ_FOREACH(row, &kept->list, link)
		if (strcmp(row->id, id) == 0 && strcmp(row->tenant, tenant) == 0)
			return row;
	return NULL;
}

bool kept_has(const struct sessions *sessions, const char *id, const char *tenant)
{
	return find(&sessions->kept, id, tenant) != NULL;
}

/* Where the records of its processes cannot be read, its events can all the same. */
static int load(struct session *session, int directory, struct kept_session *row, struct error *err)
{
	if (session_file_load(session, directory, err) < 0)
		return -1;
	session->recording = recording_load(directory, row->recorded, err);
	/* a worker may still write what its session did not wait for */
	bool is_whole = session->recording && session->recording->last >= row->last;
	row->recorded = is_whole ? session->recording->last : 0;
	session->records = records_open(directory, RECORDS_NAME, NULL);
	if (session->recording && session->records)
		session_restore_processes(session);
	return session->recording ? 0 : -1;
}

struct session *kept_open(struct sessions *sessions, const char *id, const char *tenant, struct error *err)
{
	*err = (struct error){0};
	struct kept_session *row = find(&sessions->kept, id, tenant);
	if (!row)
		return NULL;
	int directory = open_directory(sessions, id);
	if (directory < 0)
		return error_set(err, errno, "open the directory of session `%s`", id), NULL;
	struct session *session = session_allocate(sessions, id);
	session->state = SESSION_ENDED;
	session->is_kept = true;
	int result = load(session, directory, row, err);
	set_end(session, row);
	close(directory);
	if (result == 0) {
		LIST_INSERT_HEAD(&sessions->list, session, link);
		return session;
	}
	session_release(session);
	return NULL;
}
