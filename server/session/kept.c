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
	*row = (struct kept_session){.end_reason = session->end_reason,
	                             .created_us = session->created_us,
	                             .ended_us = session->ended_us,
	                             .last = session->kept_last,
	                             .bytes = bytes_of(sessions, session->id)};
	memcpy(row->id, session->id, sizeof row->id);
	memcpy(row->name, session->name, sizeof row->name);
	memcpy(row->tenant, session->tenant, sizeof row->tenant);
	insert_by_end(kept, row);
	kept->count++;
	kept->bytes += row->bytes;
	if (!ev_is_active(&kept->sweep))
		ev_timer_again(sessions->loop, &kept->sweep);
}

bool kept_restore(struct sessions *sessions, const char *id)
{
	int directory = open_directory(sessions, id);
	struct session *session = session_allocate(sessions, id);
	bool is_kept = directory >= 0 && faccessat(directory, JOURNAL_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	               errno == ENOENT && session_file_load(session, directory, NULL) == 0 && session->ended_us > 0;
	if (is_kept)
		kept_add(sessions, session);
	session_release(session);
	if (directory >= 0)
		close(directory);
	return is_kept;
}

static bool is_over(const struct kept *kept)
{
	const struct kept_session *oldest = TAILQ_FIRST(&kept->list);
	if (!oldest)
		return false;
	uint64_t now = kept_now_us(), age_us = now > oldest->ended_us ? now - oldest->ended_us : 0;
	return kept->count > kept->most || kept->bytes > kept->most_bytes || age_us / 1000 > kept->most_age_ms;
}

void kept_sweep(struct sessions *sessions)
{
	struct kept *kept = &sessions->kept;
	while (is_over(kept)) {
		session_remove_files(sessions, TAILQ_FIRST(&kept->list)->id);
		forget(kept, TAILQ_FIRST(&kept->list));
	}
	if (kept->count == 0)
		ev_timer_stop(sessions->loop, &kept->sweep);
}

static const struct kept_session *find(const struct kept *kept, const char *id, const char *tenant)
{
	const struct kept_session *row;
	TAILQ_FOREACH(row, &kept->list, link)
		if (strcmp(row->id, id) == 0 && strcmp(row->tenant, tenant) == 0)
			return row;
	return NULL;
}

bool kept_has(const struct sessions *sessions, const char *id, const char *tenant)
{
	return find(&sessions->kept, id, tenant) != NULL;
}

static int load(struct session *session, int directory, struct error *err)
{
	if (session_file_load(session, directory, err) < 0)
		return -1;
	session->records = records_open(directory, RECORDS_NAME, err);
	session->recording = session->records ? recording_load(directory, err) : NULL;
	if (!session->recording)
		return -1;
	session->next_process = *records_next_process(session->records);
	session->next_participant = *records_next_participant(session->records);
	session_restore_processes(session);
	return 0;
}

struct session *kept_open(struct sessions *sessions, const char *id, const char *tenant, struct error *err)
{
	*err = (struct error){0};
	const struct kept_session *row = find(&sessions->kept, id, tenant);
	if (!row)
		return NULL;
	int directory = open_directory(sessions, id);
	if (directory < 0)
		return error_set(err, errno, "open the directory of session `%s`", id), NULL;
	struct session *session = session_allocate(sessions, id);
	session->state = SESSION_ENDED;
	session->is_kept = true;
	int result = load(session, directory, err);
	close(directory);
	if (result == 0) {
		LIST_INSERT_HEAD(&sessions->list, session, link);
		return session;
	}
	session_release(session);
	return NULL;
}
