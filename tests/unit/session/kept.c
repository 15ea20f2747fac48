/* Ended sessions that are read again and again: opening one takes the loop's time, so it is not done for each request. */
#include "server/session/kept.h"

#include "server/session/segment.h"
#include "server/session/session_file.h"
#include "viewer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct house house;

static void set_up(void)
{
	house_open_empty(&house, 0);
	house.sessions.kept.most = 10;
	house.sessions.kept.most_bytes = house.sessions.kept.most_age_ms = UINT64_C(1) << 40;
}

/* The last of them go as they do where more were kept than may be. */
static void tear_down(void)
{
	house.sessions.kept.most = 0;
	kept_sweep(&house.sessions);
	cr_expect_null(LIST_FIRST(&house.sessions.list));
	house_close(&house);
}
TestSuite(kept, .init = set_up, .fini = tear_down);

static const char *const ids[] = {"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc", "dddddddddddddddd",
                                  "eeeeeeeeeeeeeeee"};
enum { IDS = sizeof ids / sizeof *ids, EVENTS = 3 };

static void write_record(int directory)
{
	char name[SEGMENT_NAME_BYTES];
	segment_name(1, name);
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (uint64_t seq = 1; seq <= EVENTS; seq++) {
		struct writer writer;
		writer_init(&writer, 100);
		writer_array(&writer, 4);
		writer_uint(&writer, FRAME_ENDED);
		writer_uint(&writer, seq);
		writer_uint(&writer, 0);
		writer_str(&writer, "ended");
		cr_assert_eq(write(fd, writer.data, writer.length), (ssize_t)writer.length);
		writer_finish(&writer);
	}
	close(fd);
}

static int directory_of(const char *id)
{
	int directory = openat(house.sessions.directory, id, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	cr_assert_geq(directory, 0);
	return directory;
}

/* As a gateway finds it when it starts. */
static void keep(const char *id)
{
	cr_assert_eq(mkdirat(house.sessions.directory, id, 0700), 0);
	int directory = directory_of(id);
	struct session *session = session_allocate(&house.sessions, id);
	snprintf(session->tenant, sizeof session->tenant, "t");
	session->end_reason = "ended";
	session->ended_us = kept_now_us();
	session->kept_last = EVENTS;
	cr_assert_eq(session_file_save(session, NULL), 0);
	session->records = records_create(directory, RECORDS_NAME, NULL);
	cr_assert_not_null(session->records);
	session_release(session);
	write_record(directory);
	close(directory);
	cr_assert(kept_restore(&house.sessions, id));
}

static struct session *find(const char *id)
{
	return sessions_find(&house.sessions, id, SESSION_ID_LENGTH, "t");
}

/* As a request does. */
static struct session *look_at(const char *id)
{
	struct error err;
	struct session *session = find(id);
	if (!session)
		session = kept_open(&house.sessions, id, "t", &err);
	cr_assert_not_null(session);
	cr_expect_eq(session->recording->last, EVENTS);
	session_channel_gone(session);
	return session;
}

Test(kept, it_stays_open_for_a_moment)
{
	keep(ids[0]);
	struct session *session = look_at(ids[0]);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_eq(look_at(ids[0]), session);
	house_fire(&house, &session->deadline);
	cr_expect_null(find(ids[0]));
	cr_expect_not_null(look_at(ids[0]));
}

/* Where its record ends was looked for once. */
Test(kept, the_newest_segment_is_read_once)
{
	keep(ids[0]);
	house_fire(&house, &look_at(ids[0])->deadline);
	char name[SEGMENT_NAME_BYTES];
	segment_name(1, name);
	int directory = directory_of(ids[0]);
	cr_assert_eq(unlinkat(directory, name, 0), 0);
	close(directory);
	look_at(ids[0]);
}

Test(kept, a_few_stay_open)
{
	for (size_t i = 0; i < IDS; i++)
		keep(ids[i]);
	for (size_t i = 0; i < IDS; i++)
		look_at(ids[i]);
	for (size_t i = 0; i < IDS; i++)
		cr_expect_eq(find(ids[i]) != NULL, i >= IDS - KEPT_OPEN, "session %zu", i);
}

/* Somebody attaches in that moment, stays, and leaves. */
Test(kept, who_reads_it_keeps_it_open)
{
	for (size_t i = 0; i < IDS; i++)
		keep(ids[i]);
	struct session *session = house.session = look_at(ids[0]);
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true});
	house_fire(&house, &session->deadline);
	for (size_t i = 1; i < IDS; i++)
		look_at(ids[i]);
	cr_expect_eq(find(ids[0]), session);
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_ENDED), EVENTS);
	cr_expect_str_eq(channel_over(viewer.channel), "session_ended");
	viewer_close(&viewer);
	house.session = NULL;
	cr_expect_eq(find(ids[0]), session);
	house_fire(&house, &session->deadline);
	cr_expect_null(find(ids[0]));
}
