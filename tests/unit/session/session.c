/* A session from its making to its last event, also when things come in an order that nobody wants. */
#include "viewer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct house house;

static void set_up(void)
{
	house_open(&house, 4 << 20);
}

static void tear_down(void)
{
	house_close(&house);
}
TestSuite(session, .init = set_up, .fini = tear_down);

static struct session_watch end_watch;
static unsigned ended_told;
static uint64_t last_when_told;

static void heard_ended(struct session_watch *watch)
{
	(void)watch;
	ended_told++;
	last_when_told = journal_last_seq(house.session->journal);
}

static void end(const char *reason)
{
	end_watch = (struct session_watch){.ended = heard_ended};
	session_end(house.session, reason, &end_watch);
}

/* The channel's last frame is ENDED for REASON, and then the channel is over. */
static void expect_ended(struct viewer *viewer, const char *reason)
{
	for (int i = 0; i < 100 && !channel_over(viewer->channel); i++) {
		viewer_read_all(viewer);
		house_turn(&house);
	}
	cr_assert_str_eq(channel_over(viewer->channel), "session_ended");
	struct seen ended = viewer_only(viewer, FRAME_ENDED);
	struct view text;
	cr_expect(reader_str(&ended.fields, &text) && view_equals(text, reason));
	for (size_t i = viewer->frame_count; i-- > 0;) {
		struct seen seen = viewer_frame(viewer, i);
		cr_expect(seen.kind >= FRAME_GAP || seen.seq <= ended.seq, "%s after ENDED", frame_kind_name(seen.kind));
	}
	cr_expect_eq(ended.seq, journal_last_seq(house.session->journal), "ENDED is the last event of a journal");
}

static void leave(struct viewer *viewer)
{
	viewer_close(viewer);
	if (house.sessions.count == 0)
		house.session = NULL;
}

/* --- making --- */

Test(session, what_was_asked_for_reaches_the_driver)
{
	cr_expect_str_eq(house.sandbox->spec.session, house.session->id);
	cr_expect_eq(strspn(house.session->id, "abcdefghijklmnopqrstuvwxyz234567"), SESSION_ID_LENGTH);
	cr_expect_eq(house.sandbox->spec.limits.memory, sandbox_limits_default().memory);
	const char *id = house.session->id;
	cr_expect_eq(sessions_find(&house.sessions, id, 16, "default"), house.session);
	cr_expect_null(sessions_find(&house.sessions, id, 16, "other"), "another tenant does not find it");
	cr_expect_null(sessions_find(&house.sessions, id, 15, "default"));
	cr_expect_null(sessions_find(&house.sessions, "aaaaaaaaaaaaaaaa", 16, "default"));
}

Test(session, a_session_that_cannot_be_made_leaves_nothing)
{
	struct house other;
	struct ear ear = {0};
	house_open_empty(&other, 0);
	house_create(&other, &ear);
	other.sandbox->events->create_failed(other.session, "unsupported", "this host has no user namespaces");
	other.session = NULL;
	cr_expect(ear.failed == 1 && ear.created == 0 && other.sessions.count == 0);
	cr_expect_str_eq(ear.code, "unsupported");
	cr_expect_str_eq(ear.message, "this host has no user namespaces");
	cr_expect_eq(other.sandbox->destroys, 0, "there is nothing to destroy");
	house_close(&other);
}

Test(session, there_is_a_most)
{
	house.sessions.most = 1;
	const struct session_options options = {.name = "", .tenant = "default", .template = TEMPLATE_DEFAULT};
	struct session_watch watch = {0};
	enum error_code code = ERROR_CODE_NONE;
	struct error err = {0};
	cr_expect_null(session_create(&house.sessions, &options, &watch, &code, &err));
	cr_expect_eq(code, CODE_LIMIT);
	cr_expect_not_null(strchr(err.message, '1'), "%s", err.message);
}

/* The server's directory is gone, or full, or its descriptors are: an error of the request, and the others go on. */
Test(session, without_a_place_for_its_journal_it_is_an_error)
{
	int directory = house.sessions.directory, null = open("/dev/null", O_RDONLY);
	const struct session_options options = {.name = "", .tenant = "default", .template = TEMPLATE_DEFAULT};
	struct session_watch watch = {0};
	enum error_code code = ERROR_CODE_NONE;
	struct error err = {0};
	house.sessions.directory = null;
	cr_expect_null(session_create(&house.sessions, &options, &watch, &code, &err));
	cr_expect(code == CODE_INTERNAL && house.sessions.count == 1, "%s", err.message);
	house.sessions.directory = directory;
	close(null);
	house.sessions.ring_bytes = UINT64_C(1) << 60;
	cr_expect_null(session_create(&house.sessions, &options, &watch, &code, &err));
	cr_expect(code == CODE_NO_SPACE || code == CODE_LIMIT, "%s: %s", error_code_name(code), err.message);
}

Test(session, nothing_is_started_before_it_is_ready_nor_after_its_end)
{
	struct house other;
	struct ear ear = {0};
	house_open_empty(&other, 0);
	house_create(&other, &ear);
	static const char *const argv[] = {"sh", NULL};
	const struct process_options options = {.argv = argv, .cwd = "/", .name = "", .by = ""};
	struct process_watch watch = {0};
	enum error_code code = ERROR_CODE_NONE;
	struct error err;
	cr_expect_null(session_start(other.session, &options, &watch, &code, &err));
	cr_expect_eq(code, CODE_CONFLICT);
	house_created(&other);
	session_end(other.session, "ended", NULL);
	cr_expect_null(session_start(other.session, &options, &watch, &code, &err));
	cr_expect_eq(code, CODE_SESSION_ENDED);
	house_destroyed(&other);
	house_close(&other);
}

/* --- ending --- */

Test(session, an_idle_one_ends_at_once)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	end("ended");
	cr_expect(house.sandbox->destroys == 1 && ended_told == 0);
	session_end(house.session, "ttl", NULL);
	cr_expect_eq(ended_told, 0, "nothing is answered before nothing is left");
	house_destroyed(&house);
	cr_expect_eq(ended_told, 1);
	expect_ended(&viewer, "ended");
	cr_expect_eq(last_when_told, journal_last_seq(house.session->journal), "ENDED stands when it is answered");
	cr_expect_eq(house.sessions.count, 1, "its channel has it still");
	leave(&viewer);
	cr_expect_eq(house.sessions.count, 0);
}

Test(session, running_processes_are_killed_and_tell_their_end_before_it)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	struct process *one = house_start(&house, (struct process_options){0}, NULL);
	struct process *two = house_start(&house, (struct process_options){.terminal = true}, NULL);
	struct actor *actors[] = {house_actor(&house, one), house_actor(&house, two)};
	actor_write(actors[0]->out, "last words", 10);
	end("ended");
	cr_expect(actors[0]->kills == 1 && actors[1]->kills == 1 && house.sandbox->destroys == 0);
	for (size_t i = 0; i < 2; i++) {
		actor_close(actors[i]);
		actor_exited(&house, actors[i], SIGKILL);
		actor_usage(&house, actors[i], 0);
	}
	for (int i = 0; i < 1000 && house.sandbox->destroys == 0; i++)
		house_turn(&house);
	cr_assert_eq(house.sandbox->destroys, 1);
	house_destroyed(&house);
	expect_ended(&viewer, "ended");
	viewer_expect(&viewer, 1, STREAM_STDOUT, "last words");
	cr_expect(map_is(viewer_ending(&viewer, 1), "reason", "killed"));
	cr_expect(map_is(viewer_ending(&viewer, 2), "reason", "killed"));
	leave(&viewer);
}

/* Processes that never report: after a while the sandbox is destroyed all the same, and they are lost. */
Test(session, processes_that_do_not_report_are_lost)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	struct ear ear = {0};
	struct process *process = house_start(&house, (struct process_options){0}, &ear);
	actor_write(house_actor(&house, process)->out, "said", 4);
	end("ended");
	house_fire(&house, &house.session->deadline);
	cr_assert_eq(house.sandbox->destroys, 1);
	actor_close(house.sandbox->actors[0]);
	house_destroyed(&house);
	cr_expect_eq(ear.done, 1);
	expect_ended(&viewer, "ended");
	viewer_expect(&viewer, 1, STREAM_STDOUT, "said");
	cr_expect(map_is(viewer_ending(&viewer, 1), "reason", "lost"));
	leave(&viewer);
}

/* A viewer that does not fetch holds a process back: the session ends all the same, in order and with every byte. */
Test(session, a_stalled_lossless_viewer_does_not_put_events_behind_the_end)
{
	static char bytes[65536];
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.mode = CHANNEL_LOSSLESS});
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	uint64_t sent = 0;
	for (ssize_t wrote; (wrote = write(actor->out, bytes, sizeof bytes)) > 0; house_turn(&house))
		sent += (uint64_t)wrote;
	cr_assert(process->held);
	end("ended");
	actor_close(actor);
	actor_exited(&house, actor, SIGKILL);
	actor_usage(&house, actor, 0);
	house_turn(&house);
	house_destroyed(&house);
	expect_ended(&viewer, "ended");
	uint8_t *got;
	cr_expect_eq(viewer_stream(&viewer, 1, STREAM_STDOUT, 0, &got), sent, "output made before a kill is delivered");
	free(got);
	cr_expect_eq(map_uint(map_map(viewer_ending(&viewer, 1), "offsets"), "stdout"), sent);
	leave(&viewer);
}

/* The sandbox is gone before the loop saw that a survivor's stream has ended. */
Test(session, a_survivors_stream_ends_before_the_session)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	cr_assert_eq(process->state, PROCESS_DONE);
	end("ended");
	actor_write(actor->out, "from the grave", 14);
	actor_close(actor);
	house_destroyed(&house);
	expect_ended(&viewer, "ended");
	viewer_expect(&viewer, 1, STREAM_STDOUT, "from the grave");
	cr_expect_eq(viewer_count(&viewer, FRAME_STREAM_CLOSED), 2);
	leave(&viewer);
}

/* The last of a large pipe is more than one read brings. */
Test(session, a_sandbox_that_dies_by_itself_loses_no_output)
{
	static char bytes[300000];
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	struct ear ear = {0};
	struct process *process = house_start(&house, (struct process_options){0}, &ear);
	struct actor *actor = house_actor(&house, process);
	cr_assert_gt(fcntl(actor->out, F_SETPIPE_SZ, 1 << 19), 0);
	actor_write(actor->out, bytes, sizeof bytes);
	actor_close(actor);
	house.sandbox->events->lost(house.session, "its init died");
	for (int i = 0; i < 100 && house.sandbox->destroys == 0; i++)
		house_turn(&house);
	cr_assert_eq(house.sandbox->destroys, 1);
	house_destroyed(&house);
	expect_ended(&viewer, "lost");
	uint8_t *got;
	cr_expect_eq(viewer_stream(&viewer, 1, STREAM_STDOUT, 0, &got), sizeof bytes);
	free(got);
	cr_expect(map_is(viewer_ending(&viewer, 1), "reason", "lost") && ear.done == 1);
	leave(&viewer);
}

Test(session, a_process_that_was_starting_is_not_forgotten_at_the_end)
{
	struct ear ear = {0}, late = {0};
	struct process *process = house_ask_start(&house, (struct process_options){0}, &ear);
	end("ended");
	cr_expect_eq(house.sandbox->destroys, 0);
	actor_started(&house, house_actor(&house, process));
	cr_expect(ear.started == 1 && house_actor(&house, process)->kills == 1, "its end was asked for while it started");
	actor_is_over(&house, house_actor(&house, process), SIGKILL);
	cr_expect(ear.done == 1 && house.sandbox->destroys == 1);
	house_destroyed(&house);
	cr_expect(ended_told == 1 && late.started == 0);
}

Test(session, a_process_that_never_started_is_told_at_the_end)
{
	struct ear ear = {0};
	house_ask_start(&house, (struct process_options){0}, &ear);
	end("ended");
	house_fire(&house, &house.session->deadline);
	house_destroyed(&house);
	cr_expect(ear.not_started == 1 && ended_told == 1);
	cr_expect_str_eq(ear.code, "session_ended");
}

Test(session, an_end_while_it_is_made_answers_both)
{
	struct house other;
	struct ear ear = {0};
	for (int created_meanwhile = 0; created_meanwhile < 2; created_meanwhile++) {
		house_open_empty(&other, 0);
		house_create(&other, &ear);
		end_watch = (struct session_watch){.ended = heard_ended};
		house.session = other.session; /* for heard_ended() */
		session_end(other.session, "ended", &end_watch);
		if (created_meanwhile)
			house_created(&other);
		house_destroyed(&other);
		cr_expect(ear.created == 0 && ear.failed == 1 + (unsigned)created_meanwhile);
		cr_expect_str_eq(ear.code, "session_ended");
		cr_expect_eq(ended_told, 1 + (unsigned)created_meanwhile);
		house_close(&other);
	}
	house.session = house.sandbox->owner;
}

Test(session, its_time_to_live_ends_it)
{
	struct house other;
	house_open_empty(&other, 0);
	other.sessions.default_ttl_ms = 3600000;
	struct ear ear = {0};
	house_create(&other, &ear);
	house_created(&other);
	struct viewer viewer = {0};
	viewer_attach(&viewer, &other, (struct channel_options){0});
	house_fire(&other, &other.session->ttl);
	house_destroyed(&other);
	viewer_read_all(&viewer);
	struct seen ended = viewer_only(&viewer, FRAME_ENDED);
	struct view text;
	cr_expect(reader_str(&ended.fields, &text) && view_equals(text, "ttl"));
	viewer_close(&viewer);
	other.session = NULL;
	house_close(&other);
}

Test(session, who_never_fetches_the_end_is_closed_after_a_while)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_credit = true});
	end("stopped");
	house_destroyed(&house);
	unsigned wakes = viewer.wakes;
	cr_expect_eq(viewer_read_all(&viewer) > 0, true, "what is left is sent although there was no credit");
	viewer_forget(&viewer);
	cr_expect_eq(viewer.wakes, wakes);
	house_fire(&house, &house.session->deadline);
	cr_expect_str_eq(channel_over(viewer.channel), "session_ended");
	cr_expect_gt(viewer.wakes, wakes);
	leave(&viewer);
}

/* A slow one reads on while a faster one finishes and a third does not read at all: only the third is cut off, and is told
 * what it missed. */
Test(session, who_reads_the_end_slowly_reads_all_of_it)
{
	enum { SLOW, FAST, STILL, READERS };
	static const char line[] = "0123456789abcde\n";
	struct viewer viewers[READERS] = {{0}};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	for (size_t i = 0; i < READERS; i++)
		viewer_attach(&viewers[i], &house, (struct channel_options){.has_after = true});
	for (size_t i = 0; i < 20; i++)
		house_produce(&house, process, house_actor(&house, process)->out, line, sizeof line - 1);
	actor_is_over(&house, house_actor(&house, process), EXIT_STATUS(0));
	end("ended");
	house_destroyed(&house);
	uint64_t last = journal_last_seq(house.session->journal);
	viewer_read_all(&viewers[FAST]);
	for (size_t i = 0; i < 2; i++) /* its own PARTICIPANT, and LIVE */
		viewer_read(&viewers[SLOW], 1);
	for (unsigned looks = 0; looks < 4; looks++) {
		viewer_read(&viewers[SLOW], 1);
		house_fire(&house, &house.session->deadline);
		cr_expect_null(channel_over(viewers[SLOW].channel), "look %u", looks);
	}
	viewer_read_all(&viewers[STILL]);
	struct seen gap = viewer_only(&viewers[STILL], FRAME_GAP);
	cr_expect(field_uint(&gap) == 1 && field_uint(&gap) == last);
	cr_expect(viewer_count(&viewers[STILL], FRAME_STATE) == 1 && viewer_count(&viewers[STILL], FRAME_LIVE) == 1);
	cr_expect_str_eq(channel_over(viewers[STILL].channel), "session_ended");
	viewer_read_all(&viewers[SLOW]);
	cr_expect(viewer_count(&viewers[SLOW], FRAME_GAP) == 0 && viewer_count(&viewers[SLOW], FRAME_ENDED) == 1);
	cr_expect_str_eq(channel_over(viewers[SLOW].channel), "session_ended");
	for (size_t i = 0; i < READERS; i++) {
		house.session = i + 1 < READERS ? house.session : NULL;
		viewer_close(&viewers[i]);
	}
}

Test(session, all_sessions_can_be_ended_at_once)
{
	struct ear ears[3] = {{.created = 0}};
	for (size_t i = 0; i < 3; i++) {
		house_create(&house, &ears[i]);
		if (i > 0)
			house_created(&house);
	}
	sessions_end_all(&house.sessions, "stopped");
	for (size_t i = 0; i < house.sandbox_count; i++) {
		cr_assert_eq(house.sandboxes[i]->destroys, 1);
		house.sandboxes[i]->events->destroyed(house.sandboxes[i]->owner);
	}
	house.session = NULL;
	cr_expect_eq(house.sessions.count, 0);
	cr_expect(ears[0].failed == 1 && ears[1].created == 1 && ears[2].created == 1);
}

/* --- many processes --- */

Test(session, the_last_thousand_that_ended_stay_known)
{
	enum { MORE = 40 };
	for (uint32_t i = 1; i <= SESSION_DONE_KEPT + MORE; i++) {
		struct process *process = house_start(&house, (struct process_options){0}, NULL);
		cr_assert_eq(process->number, i);
		actor_is_over(&house, house_actor(&house, process), EXIT_STATUS(0));
		cr_assert_eq(process->state, PROCESS_DONE);
	}
	cr_expect_eq(house.session->running_count, 0);
	cr_expect_leq(house.session->process_count, SESSION_DONE_KEPT + 1);
	cr_expect_null(session_find_process(house.session, MORE - 2));
	cr_expect_not_null(session_find_process(house.session, MORE + 1));
	cr_expect_not_null(session_find_process(house.session, SESSION_DONE_KEPT + MORE));
}

Test(session, there_is_a_most_of_processes)
{
	static struct ear ears[SESSION_PROCESSES];
	for (size_t i = 0; i < SESSION_PROCESSES; i++)
		house_ask_start(&house, (struct process_options){0}, &ears[i]);
	static const char *const argv[] = {"sh", NULL};
	const struct process_options options = {.argv = argv, .cwd = "/", .name = "", .by = ""};
	struct process_watch watch = {0};
	enum error_code code = ERROR_CODE_NONE;
	struct error err;
	cr_expect_null(session_start(house.session, &options, &watch, &code, &err));
	cr_expect_eq(code, CODE_LIMIT);
	cr_expect_not_null(strstr(err.message, "512"), "%s", err.message);
	for (uint32_t i = 1; i <= SESSION_PROCESSES; i++)
		house.sandbox->events->start_failed(house.session, i, 0, "limit", "no room");
	cr_expect(house.session->running_count == 0 && ears[SESSION_PROCESSES - 1].not_started == 1);
}

/* The driver speaks of processes that the session does not know: descriptors are closed, nothing else happens. */
Test(session, what_the_driver_says_of_a_stranger_is_ignored)
{
	int fds[2];
	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	const struct process_streams streams = {-1, fds[0], fds[1], -1, -1, -1};
	const struct sandbox_events *events = house.sandbox->events;
	events->started(house.session, 99, &streams);
	cr_expect(fcntl(fds[0], F_GETFD) < 0 && fcntl(fds[1], F_GETFD) < 0);
	cr_expect_eq(house.sandbox->strangers, 1, "the sandbox need not keep it");
	const struct rusage rusage = {0};
	const struct process_usage usage = {0};
	events->exited(house.session, 99, 0, &rusage);
	events->usage(house.session, 99, &usage);
	events->killed(house.session, 99);
	events->start_failed(house.session, 99, 127, "not_found", "");
	cr_expect_eq(journal_last_seq(house.session->journal), 0);
}
