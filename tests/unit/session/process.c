/* One command from its start to its end, with a driver that tells things in every order that it may. */
#include "viewer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct house house;
static struct viewer viewer;

static void set_up(void)
{
	house_open(&house, 4 << 20);
	viewer_attach(&viewer, &house, (struct channel_options){0});
}

static void tear_down(void)
{
	viewer_close(&viewer);
	house_close(&house);
}
TestSuite(process, .init = set_up, .fini = tear_down);

static size_t exits(void)
{
	viewer_read_all(&viewer);
	return viewer_count(&viewer, FRAME_EXITED);
}

static void expect_ending(uint32_t process, uint64_t code, const char *signal, const char *reason, const char *control)
{
	viewer_read_all(&viewer);
	struct reader ending = viewer_ending(&viewer, process);
	cr_expect_eq(map_uint(ending, "exit_code"), code);
	cr_expect(map_is(ending, "signal", signal) && map_is(ending, "reason", reason), "process %u", process);
	cr_expect(map_is(ending, "control", control));
}

static void expect_open(uint32_t process, const char *first, const char *second)
{
	const char *const wanted[] = {first, second};
	uint32_t count;
	struct view name;
	struct reader names = map_array(viewer_ending(&viewer, process), "streams_open", &count);
	cr_assert_eq(count, (first != NULL) + (second != NULL), "%u streams open", count);
	for (uint32_t i = 0; i < count; i++)
		cr_expect(reader_str(&names, &name) && view_equals(name, wanted[i]));
}

/* --- how it begins --- */

Test(process, started_says_what_was_started)
{
	static const char *const argv[] = {"prog", "two words", "\xff", NULL}, *const env[] = {"OF=process", "X=1", NULL};
	struct ear ear = {0};
	house_start(&house,
	            (struct process_options){.argv = argv, .envp = env, .name = "n", .cwd = "/tmp", .wants_stdin = true},
	            &ear);
	cr_expect_eq(ear.started, 1);
	viewer_read_all(&viewer);
	struct seen started = viewer_only(&viewer, FRAME_STARTED);
	cr_expect_eq(field_uint(&started), 1);
	uint32_t count;
	struct view text;
	struct reader map = started.fields, list = map_array(map, "argv", &count);
	cr_expect(count == 3 && reader_str(&list, &text) && view_equals(text, "prog") && reader_skip(&list));
	cr_expect(reader_bin(&list, &text) && text.length == 1, "what is not UTF-8 is shown as bytes");
	cr_expect(map_is(map, "cwd", "/tmp") && map_is(map, "name", "n") && map_is(map, "by", "tester"));
	cr_expect(map_is_nil(map, "terminal") && map_bool(map, "stdin") && map_count(map) == 8 && !map_bool(map, "shell"));
	char *const *got = house.sandbox->actors[0]->env;
	bool over = false, of_session = false;
	for (; *got; got++) {
		over |= strcmp(*got, "OF=process") == 0;
		of_session |= strcmp(*got, "OF=session") == 0;
	}
	cr_expect(over && !of_session, "the process's environment goes over the session's");
	actor_is_over(&house, house.sandbox->actors[0], EXIT_STATUS(0));
	cr_expect_eq(ear.done, 1);
}

Test(process, a_command_that_cannot_be_started_exits_with_127_or_126)
{
	static const int codes[] = {127, 126};
	for (uint32_t i = 0; i < 2; i++) {
		struct ear ear = {0};
		struct process *process = house_ask_start(&house, (struct process_options){.terminal = i == 1}, &ear);
		house.sandbox->events->start_failed(house.session, process->number, codes[i], "not_found", "no such command");
		cr_expect(ear.started == 1 && ear.done == 1 && ear.not_started == 0);
		expect_ending(i + 1, (uint64_t)codes[i], NULL, "exited", NULL);
		cr_expect(map_is(viewer_ending(&viewer, i + 1), "message", "no such command"));
		expect_open(i + 1, NULL, NULL);
	}
	cr_expect_eq(viewer_count(&viewer, FRAME_STARTED), 2);
	cr_expect_eq(viewer_count(&viewer, FRAME_OUTPUT), 0, "a message is never bytes in a stream");
}

Test(process, one_that_had_no_room_is_as_if_it_had_never_been_asked_for)
{
	struct ear ear = {0};
	struct process *process = house_ask_start(&house, (struct process_options){0}, &ear);
	house.sandbox->events->start_failed(house.session, process->number, 0, "limit", "no pids left");
	cr_expect(ear.not_started == 1 && strcmp(ear.code, "limit") == 0 && strcmp(ear.message, "no pids left") == 0);
	cr_expect_null(session_find_process(house.session, 1));
	cr_expect(house.session->running_count == 0 && house.session->process_count == 0);
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_STARTED) + viewer_count(&viewer, FRAME_EXITED), 0);
	cr_expect_eq(house_start(&house, (struct process_options){0}, NULL)->number, 2, "its number is not used again");
}

/* --- how it ends: cases 1, 2 and 3 --- */

Test(process, exited_comes_after_all_output_and_after_the_counters)
{
	static char bytes[200000];
	static const size_t lengths[] = {0, 1, 4096, 65535, 65536, 65537, 131072, sizeof bytes};
	struct ear ear;
	for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		viewer_forget(&viewer);
		ear = (struct ear){0};
		struct process *process = house_start(&house, (struct process_options){0}, &ear);
		struct actor *actor = house_actor(&house, process);
		cr_assert_gt(fcntl(actor->out, F_SETPIPE_SZ, 1 << 20), 0);
		actor_write(actor->out, bytes, lengths[i]);
		actor_write(actor->err, "E2", 2);
		actor_close(actor);
		actor_exited(&house, actor, EXIT_STATUS(3));
		house_turn(&house);
		cr_assert_eq(exits(), 0, "its counters are not known yet");
		cr_assert_eq(actor->usages, 1);
		actor_usage(&house, actor, UINT64_MAX);
		cr_assert(exits() == 1 && ear.done == 1);
		expect_ending(i + 1, 3, NULL, "exited", NULL);
		expect_open(i + 1, NULL, NULL);
		struct reader offsets = map_map(viewer_ending(&viewer, i + 1), "offsets");
		uint8_t *got;
		cr_expect_eq(viewer_stream(&viewer, i + 1, STREAM_STDOUT, 0, &got), lengths[i]);
		cr_expect(map_uint(offsets, "stdout") == lengths[i] && map_uint(offsets, "stderr") == 2);
		cr_expect_eq(viewer_frame(&viewer, viewer.frame_count - 1).kind, FRAME_EXITED, "length %zu", lengths[i]);
		cr_expect_eq(ear.output, lengths[i] + 2, "a watch heard every byte");
		free(got);
	}
}

/* The usage that was asked for before the end says nothing about the end. */
Test(process, counters_that_were_asked_for_too_early_do_not_count)
{
	struct process *process = house_start(&house, (struct process_options){.cpu_ms = 1000}, NULL);
	struct actor *actor = house_actor(&house, process);
	house_fire(&house, &process->poll);
	cr_assert_eq(actor->usages, 1);
	actor_close(actor);
	actor_exited(&house, actor, SIGKILL);
	house_turn(&house);
	actor_usage(&house, actor, 1); /* the answer to the first question */
	cr_expect_eq(exits(), 0);
	const struct process_usage end = {7000, 3000, 1 << 20, 1, 0};
	house.sandbox->events->usage(house.session, 1, &end);
	expect_ending(1, 137, "SIGKILL", "oom", "memory.max");
	struct reader usage = map_map(viewer_ending(&viewer, 1), "usage");
	cr_expect(map_uint(usage, "user_us") == 7000 && map_uint(usage, "memory_peak") == 1 << 20);
}

Test(process, what_the_counters_do_not_know_the_wait_told)
{
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_close(actor);
	actor_exited(&house, actor, EXIT_STATUS(0));
	const struct process_usage nothing = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	house.sandbox->events->usage(house.session, process->number, &nothing);
	house_turn(&house);
	cr_assert_eq(exits(), 1);
	struct reader usage = map_map(viewer_ending(&viewer, 1), "usage");
	cr_expect(map_uint(usage, "user_us") == 1500 && map_uint(usage, "system_us") == 500);
	cr_expect_eq(map_uint(usage, "memory_peak"), 2048 * 1024);
}

Test(process, a_terminals_last_bytes_come_before_its_end)
{
	for (uint32_t i = 1; i <= 20; i++) {
		struct process *process = house_start(&house,
		                                      (struct process_options){.terminal = true, .cols = 80, .rows = 24}, NULL);
		struct actor *actor = house_actor(&house, process);
		actor_write(actor->out, "LAST", 4);
		actor_close(actor);
		actor_exited(&house, actor, EXIT_STATUS(3));
		actor_usage(&house, actor, 0);
		for (int waits = 0; process->state != PROCESS_DONE && waits < 1000; waits++) {
			house_turn(&house);
			usleep(1000);
		}
		expect_ending(i, 3, NULL, "exited", NULL);
		viewer_expect(&viewer, i, STREAM_TTY, "LAST");
		expect_open(i, NULL, NULL);
	}
}

/* A terminal whose leader has said "bye" and exited, and which somebody else still has. */
static struct actor *leave_behind(struct process **process)
{
	*process = house_start(&house, (struct process_options){.terminal = true, .cols = 80, .rows = 24}, NULL);
	struct actor *actor = house_actor(&house, *process);
	house_produce(&house, *process, actor->out, "bye", 3);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	return actor;
}

/* A descendant has the terminal: nothing hangs up, and a moment of silence is the end. */
Test(process, a_terminal_that_was_given_away_does_not_hold_exited_up)
{
	struct process *process;
	struct actor *actor = leave_behind(&process);
	cr_expect_eq(exits(), 0, "its last bytes can still be on their way");
	house_fire(&house, &process->quiet);
	cr_assert_eq(exits(), 1);
	expect_open(1, "tty", NULL);
	house_produce(&house, process, actor->out, "survivor", 8);
	viewer_read_all(&viewer);
	viewer_expect(&viewer, 1, STREAM_TTY, "byesurvivor");
}

/* The loop was held up, by others or with the machine: the clock has run out, and the last bytes have come. */
Test(process, what_stands_in_a_terminal_comes_before_exited)
{
	struct process *process;
	struct actor *actor = leave_behind(&process);
	actor_write(actor->out, "late", 4);
	house_fire(&house, &process->quiet);
	cr_assert_eq(exits(), 1);
	viewer_read_all(&viewer);
	viewer_expect(&viewer, 1, STREAM_TTY, "byelate");
	cr_expect_eq(process->exited_seq, journal_last_seq(house.session->journal));
}

Test(process, survivors_keep_their_streams_and_exited_does_not_wait)
{
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_write(actor->out, "hi\n", 3);
	close(actor->err);
	actor->err = -1;
	actor_exited(&house, actor, EXIT_STATUS(3));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	cr_assert_eq(exits(), 1);
	expect_ending(1, 3, NULL, "exited", NULL);
	expect_open(1, "stdout", NULL);
	actor_write(actor->out, "tick", 4);
	house_turn(&house);
	viewer_read_all(&viewer);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "hi\ntick");
	cr_expect_eq(viewer_count(&viewer, FRAME_STREAM_CLOSED), 0);
	actor_close(actor);
	house_turn(&house);
	viewer_read_all(&viewer);
	struct seen closed = viewer_only(&viewer, FRAME_STREAM_CLOSED);
	cr_expect(field_uint(&closed) == 1 && field_uint(&closed) == STREAM_STDOUT && field_uint(&closed) == 7);
	cr_expect_eq(actor->forgets, 0, "something of its tree lives");
	house_fire(&house, &process->poll);
	actor_usage(&house, actor, 0);
	cr_expect_eq(actor->forgets, 1);
	cr_expect_eq(exits(), 1);
}

/* Where no counter says what lives (a host without cgroups), the driver says when nothing does any more. */
Test(process, one_that_nothing_counts_is_forgotten_when_it_is_told_empty)
{
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, UINT64_MAX);
	actor_close(actor);
	house_turn(&house);
	cr_assert_eq(exits(), 1);
	cr_expect_eq(actor->kills, 0);
	cr_expect_eq(actor->forgets, 0, "something of its tree may live");
	actor_killed(&house, actor);
	cr_expect_eq(actor->forgets, 1);
	house_turn(&house);
	cr_expect_eq(exits(), 1);
}

/* A survivor may flood: what stood in the pipe at the end is drained, and not more. */
Test(process, a_flooding_survivor_does_not_hold_exited_up)
{
	static char bytes[65536];
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_write(actor->out, bytes, sizeof bytes);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	for (int i = 0; i < 5 && process->state != PROCESS_DONE; i++) {
		cr_assert_geq(write(actor->out, bytes, sizeof bytes), 0);
		ev_run(house.loop, EVRUN_NOWAIT);
	}
	cr_expect_eq(process->state, PROCESS_DONE);
	viewer_read_all(&viewer);
	expect_open(1, "stdout", "stderr");
	cr_expect_eq(viewer_count(&viewer, FRAME_EXITED), 1);
}

Test(process, kill_tree_on_exit_waits_until_nothing_lives)
{
	struct process *process = house_start(&house, (struct process_options){.kill_on_exit = true}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	cr_expect_eq(actor->kills, 1);
	actor_usage(&house, actor, 1);
	house_turn(&house);
	cr_expect_eq(exits(), 0);
	actor_write(actor->out, "until the end", 13);
	actor_close(actor);
	actor_killed(&house, actor);
	house_turn(&house);
	expect_ending(1, 0, NULL, "exited", NULL);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "until the end");
	expect_open(1, NULL, NULL);
	cr_expect_eq(actor->forgets, 1);
}

Test(process, a_lost_one_has_no_made_up_code)
{
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_write(actor->out, "before", 6);
	actor_close(actor);
	actor_exited(&house, actor, -1);
	house_turn(&house);
	cr_assert_eq(exits(), 1);
	struct reader ending = viewer_ending(&viewer, 1);
	cr_expect(map_is_nil(ending, "exit_code") && map_is(ending, "reason", "lost") && !map_is_nil(ending, "message"));
	viewer_expect(&viewer, 1, STREAM_STDOUT, "before");
}

/* --- listing --- */

Test(process, a_process_map_has_every_key_of_the_protocol)
{
	struct process *process = house_start(&house, (struct process_options){.terminal = true, .cols = 132, .rows = 43},
	                                      NULL);
	struct writer writer;
	writer_init(&writer, 8192);
	struct stream_offset offsets[PROCESS_STREAMS];
	process_offsets(process, offsets);
	process_write(&writer, process, UINT64_MAX, offsets);
	struct reader map = reader_over(writer.data, writer.length);
	cr_expect_eq(map_count(map), 15);
	cr_expect(map_uint(map, "process") == 1 && map_uint(map, "seq") == process->started_seq);
	cr_expect(map_is(map, "state", "running") && map_is_nil(map, "exited") && map_bool(map, "stdin_open"));
	cr_expect(map_uint(map_map(map, "terminal"), "cols") == 132 && map_uint(map_map(map, "offsets"), "tty") == 0);
	actor_is_over(&house, house_actor(&house, process), EXIT_STATUS(5));
	for (int waits = 0; process->state != PROCESS_DONE && waits < 1000; waits++)
		house_turn(&house);
	writer_reset(&writer);
	process_write(&writer, process, UINT64_MAX, offsets);
	map = reader_over(writer.data, writer.length);
	cr_expect(map_is(map, "state", "exited") && map_uint(map_map(map, "exited"), "exit_code") == 5);
	cr_expect_not(map_bool(map, "stdin_open"));
	writer_reset(&writer);
	process_write(&writer, process, process->exited_seq - 1, offsets);
	map = reader_over(writer.data, writer.length);
	cr_expect(map_is(map, "state", "running") && map_is_nil(map, "exited"), "as it was before its end");
	writer_finish(&writer);
}

Test(process, a_terminals_size_changes_once)
{
	struct process *tty = house_start(&house, (struct process_options){.terminal = true, .cols = 80, .rows = 24}, NULL);
	struct process *pipes = house_start(&house, (struct process_options){0}, NULL);
	cr_expect(process_resize(tty, 80, 24), "the size that it has is no event");
	cr_expect(process_resize(tty, 120, 40) && process_resize(tty, 120, 40));
	cr_expect_not(process_resize(pipes, 120, 40));
	viewer_read_all(&viewer);
	struct seen resized = viewer_only(&viewer, FRAME_RESIZED);
	cr_expect(field_uint(&resized) == 1 && field_uint(&resized) == 120 && field_uint(&resized) == 40);
	actor_is_over(&house, house_actor(&house, tty), EXIT_STATUS(0));
	for (int waits = 0; tty->sources[0].fd >= 0 && waits < 1000; waits++)
		house_turn(&house);
	cr_expect_not(process_resize(tty, 90, 30), "it has hung up");
}
