#include "restore.h"

#include "checkpoint.h"
#include "ended.h"
#include "server/base/plain_file.h"
#include "session_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The session that is being loaded, and how often that was tried: a gateway that dies of one must not die for ever. */
#define LOADING_NAME "loading"
enum { LOADING_TRIES = 2, LOADING_BYTES = SESSION_ID_LENGTH + 1 };

static bool is_id(const char *name)
{
	return strlen(name) == SESSION_ID_LENGTH && strspn(name, "abcdefghijklmnopqrstuvwxyz234567") == SESSION_ID_LENGTH;
}

/* Call EACH for every session's directory. */
static void for_each_directory(struct sessions *sessions,
                               void (*each)(struct sessions *sessions, const char *id, void *context), void *context)
{
	int fd = openat(sessions->directory, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(folder)))
		if (is_id(entry->d_name))
			each(sessions, entry->d_name, context);
	closedir(folder);
}

/* --- loading one ----------------------------------------------------------------------------------------------- */

/* How often the loading of ID was begun and not finished. */
static int tries_of(struct sessions *sessions, const char *id)
{
	char text[LOADING_BYTES + 1] = "";
	int fd = plain_file_open(sessions->directory, LOADING_NAME, O_RDONLY, 0);
	ssize_t got = fd >= 0 ? read(fd, text, LOADING_BYTES) : -1;
	if (fd >= 0)
		close(fd);
	return got == LOADING_BYTES && memcmp(text, id, SESSION_ID_LENGTH) == 0 ? text[SESSION_ID_LENGTH] - '0' : 0;
}

static void note_loading(struct sessions *sessions, const char *id, int tries)
{
	int fd = plain_file_open(sessions->directory, LOADING_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return;
	dprintf(fd, "%s%c", id, '0' + tries);
	close(fd);
}

static int open_files(struct session *session, struct error *err)
{
	int directory = openat(session->home->directory, session->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (directory < 0)
		return error_set(err, errno, "open the directory of session `%s`", session->id);
	int result = session_file_load(session, directory, err);
	const char *complaint = result == 0 ? sandbox_limits_check(&session->limits) : NULL;
	if (complaint)
		result = error_set(err, 0, "`session.json`: %s", complaint);
	if (result == 0 && !(session->records = records_open(directory, RECORDS_NAME, err)))
		result = -1;
	if (result == 0 && !(session->journal = journal_open(directory, JOURNAL_NAME, err)))
		result = -1;
	close(directory);
	session_end_load(session);
	return result;
}

/* The newest events can be in the journal and not yet in the record: what they say of a stream's offset holds. */
static void correct_offsets(struct session *session)
{
	const struct journal *journal = session->journal;
	if (!journal)
		return;
	uint64_t seq, position = journal_recent(journal, 2 * JOURNAL_STRIDE, &seq);
	while (position < journal_tail(journal)) {
		size_t length;
		struct output_header output;
		const uint8_t *frame = journal_frame(journal, position, &length);
		bool is_output = output_header_read(frame, length, &output);
		position += length;
		struct process *process = is_output ? session_find_process(session, output.process) : NULL;
		for (size_t i = 0; process && i < process->source_count; i++) {
			struct source *source = &process->sources[i];
			uint64_t end = output.offset + output.length;
			if ((unsigned)source->stream != output.stream || source->offset >= end)
				continue;
			process->output_total += end - source->offset;
			source->offset = end;
		}
	}
}

static void insert_in_order(struct session *session, struct process *process)
{
	struct process *before = TAILQ_LAST(&session->processes, process_list);
	while (before && before->number > process->number)
		before = TAILQ_PREV(before, process_list, link);
	if (before)
		TAILQ_INSERT_AFTER(&session->processes, before, process, link);
	else
		TAILQ_INSERT_HEAD(&session->processes, process, link);
	session->process_count++;
	session->running_count += process->state != PROCESS_DONE;
}

void session_restore_processes(struct session *session)
{
	session->next_process = *records_next_process(session->records);
	session->next_participant = *records_next_participant(session->records);
	meter_restore(&session->meter);
	for (size_t i = 0; i < records_rows(session->records); i++) {
		struct process_record *record = records_row(session->records, i);
		bool is_cut_off = session->is_kept && record->state != PROCESS_DONE; /* with the journal, its ending was lost */
		if (record->number != 0 && !is_cut_off)
			insert_in_order(session, process_restore(session, record));
	}
	correct_offsets(session);
}

/* Whether its last event is ENDED. */
static bool has_ended(const struct session *session)
{
	const struct journal *journal = session->journal;
	uint64_t last = journal_last_seq(journal), seq, t_us;
	size_t length;
	uint32_t kind;
	if (last < journal_first_seq(journal))
		return false;
	const uint8_t *frame = journal_frame(journal, journal_find(journal, last), &length);
	return event_head_read(frame, length, &kind, &seq, &t_us) && kind == FRAME_ENDED;
}

static int restore(struct sessions *sessions, const char *id, struct error *err)
{
	struct session *session = session_allocate(sessions, id);
	session->is_restored = true;
	if (open_files(session, err) < 0) {
		session_release(session);
		return -1;
	}
	session->created_us = journal_created_us(session->journal);
	if (session->record_bytes > sessions->record_bytes)
		session->record_bytes = sessions->record_bytes;
	session_restore_processes(session);
	checkpoints_restore(session);
	LIST_INSERT_HEAD(&sessions->list, session, link);
	session_record(session);
	if (has_ended(session)) {
		session_ended(session); /* its record is finished, if it was not */
		return 0;
	}
	session->is_counted = true;
	sessions->count++;
	return 0;
}

static void restore_one(struct sessions *sessions, const char *id, void *context)
{
	void (*const *tell)(const char *session, const char *why) = context;
	struct error err = {.message = "gateways died twice while they loaded it"};
	if (kept_restore(sessions, id))
		return;
	int tries = tries_of(sessions, id);
	if (tries < LOADING_TRIES) {
		note_loading(sessions, id, tries + 1);
		if (restore(sessions, id, &err) == 0)
			return;
	}
	if (!kept_salvage(sessions, id))
		session_remove_files(sessions, id);
	if (*tell)
		(*tell)(id, err.message);
}

void sessions_restore(struct sessions *sessions, bool after_failure, void (*tell)(const char *session, const char *why))
{
	if (!after_failure)
		unlinkat(sessions->directory, LOADING_NAME, 0); /* what was being loaded has nothing to do with that death */
	for_each_directory(sessions, restore_one, &tell);
	unlinkat(sessions->directory, LOADING_NAME, 0);
	kept_sweep(sessions);
}

/* --- taking over ------------------------------------------------------------------------------------------------ */

static void *found(void *context, const char *id, struct sandbox *sandbox, const struct layer_report *layers,
                   const struct sandbox_events **events)
{
	struct sessions *sessions = context;
	struct session *session;
	LIST_FOREACH(session, &sessions->list, link) {
		if (!session->is_restored || session->sandbox || session->state == SESSION_ENDED ||
		    strcmp(session->id, id) != 0)
			continue;
		session->sandbox = sandbox;
		session_take_layers(session, layers);
		*events = &session_events;
		session_await_sync(session);
		return session;
	}
	return NULL;
}

static void done(void *context)
{
	struct sessions *sessions = context;
	struct session *session, *next;
	for (session = LIST_FIRST(&sessions->list); session; session = next) {
		next = LIST_NEXT(session, link);
		if (session->is_restored && !session->sandbox && session->state != SESSION_ENDED)
			session_was_lost(session);
	}
	if (sessions->unsynced == 0 && sessions->on_adopted)
		sessions->on_adopted(sessions->owner);
}

const struct sandbox_adoption sessions_adoption = {.found = found, .done = done};
