/* What ends a process before its time: clocks, limits, kills, and clients that leave. */
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
TestSuite(clocks, .init = set_up, .fini = tear_down);

static struct actor *begin(struct process_options options, struct process **process)
{
	*process = house_start(&house, options, NULL);
	return house_actor(&house, *process);
}

static void expect_told(struct process *process, uint64_t code, const char *reason, const char *control)
{
	viewer_read_all(&viewer);
	struct reader ending = viewer_ending(&viewer, process->number);
	cr_expect_eq(map_uint(ending, "exit_code"), code);
	cr_expect(map_is(ending, "reason", reason), "process %u", process->number);
	cr_expect(map_is(ending, "control", control), "process %u", process->number);
}

/* Its leader dies of SIGNAL, and then its tree is empty. */
static void die(struct actor *actor, int signal)
{
	actor_close(actor);
	actor_exited(&house, actor, signal);
	actor_usage(&house, actor, 0);
	house_turn(&house);
}

/* Cases 4 and 5: TERM to the tree, a grace, KILL; EXITED when the tree is empty, with everything that was written. */
Test(clocks, the_wall_clock_ends_the_whole_tree)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.wall_ms = 60000, .grace_ms = 500}, &process);
	actor_write(actor->out, "partial", 7);
	house_turn(&house);
	house_fire(&house, &process->wall);
	cr_assert(actor->signal_count == 1 && actor->kills == 0);
	cr_expect(actor->signals[0].number == SIGTERM && actor->signals[0].scope == SIGNAL_TREE);
	actor_exited(&house, actor, SIGTERM);
	actor_usage(&house, actor, 1);
	actor_write(actor->err, "err", 3);
	house_turn(&house);
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_EXITED), 0, "something of the tree ignores SIGTERM");
	house_fire(&house, &process->grace);
	cr_expect_eq(actor->kills, 1);
	actor_write(actor->out, " and more", 9);
	actor_close(actor);
	actor_killed(&house, actor);
	house_turn(&house);
	expect_told(process, 143, "timeout", "wall");
	viewer_expect(&viewer, 1, STREAM_STDOUT, "partial and more");
	viewer_expect(&viewer, 1, STREAM_STDERR, "err");
}

Test(clocks, without_a_grace_it_is_killed_at_once)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.wall_ms = 60000}, &process);
	house_fire(&house, &process->wall);
	cr_expect(actor->kills == 1 && actor->signal_count == 0);
	die(actor, SIGKILL);
	expect_told(process, 137, "timeout", "wall");
}

Test(clocks, a_tree_that_obeys_is_not_killed)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.wall_ms = 60000, .grace_ms = 500}, &process);
	house_fire(&house, &process->wall);
	cr_assert(ev_is_active(&process->poll), "somebody looks whether the tree is empty");
	actor_close(actor);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 0);
	house_turn(&house);
	expect_told(process, 0, "timeout", "wall");
	cr_expect_eq(actor->kills, 0);
	cr_expect_not(ev_is_active(&process->grace) || ev_is_active(&process->poll));
}

Test(clocks, silence_is_counted_from_the_last_output)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.idle_ms = 60000, .grace_ms = 500}, &process);
	cr_assert(ev_is_active(&process->idle) && !ev_is_active(&process->wall));
	ev_tstamp left = ev_timer_remaining(house.loop, &process->idle);
	usleep(20000);
	ev_now_update(house.loop);
	cr_expect_lt(ev_timer_remaining(house.loop, &process->idle), left - 0.01);
	actor_write(actor->out, "x", 1);
	house_turn(&house);
	cr_expect_gt(ev_timer_remaining(house.loop, &process->idle), left - 0.005, "output starts it anew");
	process->held = true; /* the silence is ours */
	house_fire(&house, &process->idle);
	cr_expect(actor->signal_count == 0 && ev_is_active(&process->idle));
	process->held = false;
	house_fire(&house, &process->idle);
	cr_expect_eq(actor->signal_count, 1);
	die(actor, SIGTERM);
	expect_told(process, 143, "idle", "idle");
}

Test(clocks, the_processor_clock_reads_the_counters)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.cpu_ms = 1000, .grace_ms = 0}, &process);
	static const uint64_t user_ms[] = {0, 500, 999};
	for (size_t i = 0; i < 3; i++) {
		house_fire(&house, &process->poll);
		const struct process_usage usage = {user_ms[i] * 1000, 0, 1, 0, 1};
		house.sandbox->events->usage(house.session, 1, &usage);
		cr_expect_eq(actor->kills, 0, "after %llu ms", (unsigned long long)user_ms[i]);
	}
	house_fire(&house, &process->poll);
	const struct process_usage unknown = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	house.sandbox->events->usage(house.session, 1, &unknown);
	cr_expect_eq(actor->kills, 0, "what is not known ends nothing");
	house_fire(&house, &process->poll);
	const struct process_usage spent = {900 * 1000, 100 * 1000, 1, 0, 1};
	house.sandbox->events->usage(house.session, 1, &spent);
	cr_expect_eq(actor->kills, 1);
	die(actor, SIGKILL);
	expect_told(process, 137, "cpu", "cpu");
}

Test(clocks, none_runs_that_was_not_asked_for)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	ev_timer *const timers[] = {&process->wall, &process->idle, &process->poll, &process->grace, &process->disconnect};
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		cr_expect_not(ev_is_active(timers[i]), "timer %zu", i);
	die(actor, SIGSEGV);
	expect_told(process, 139, "signal", NULL);
	for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
		cr_expect_not(ev_is_active(timers[i]), "timer %zu", i);
}

/* --- output limit --- */

Test(clocks, the_output_limit_is_exact)
{
	static char bytes[100000];
	static const uint64_t limits[] = {1, 10, 4096, 65536, 65537, 70000};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		viewer_forget(&viewer);
		struct process *process;
		struct actor *actor = begin((struct process_options){.output_bytes = limits[i]}, &process);
		cr_assert_gt(fcntl(actor->out, F_SETPIPE_SZ, 1 << 18), 0);
		actor_write(actor->out, bytes, (size_t)limits[i] - 1);
		actor_write(actor->err, "e", 1);
		house_turn(&house);
		cr_expect_eq(process->output_total, limits[i]);
		cr_expect_eq(actor->kills, 0, "exactly the limit is allowed");
		actor_write(actor->out, "x", 1);
		house_turn(&house);
		cr_expect_eq(actor->kills, 1, "one byte more is too much");
		die(actor, SIGKILL);
		expect_told(process, 137, "output_limit", "output_bytes");
		struct reader offsets = map_map(viewer_ending(&viewer, process->number), "offsets");
		cr_expect_eq(map_uint(offsets, "stdout") + map_uint(offsets, "stderr"), limits[i]);
		uint8_t *got;
		cr_expect_eq(viewer_stream(&viewer, process->number, STREAM_STDOUT, 0, &got), limits[i] - 1);
		free(got);
	}
}

Test(clocks, a_process_that_wrote_exactly_its_limit_has_exited)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.output_bytes = 5}, &process);
	actor_write(actor->out, "12345", 5);
	house_turn(&house);
	die(actor, EXIT_STATUS(0));
	expect_told(process, 0, "exited", NULL);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "12345");
}

/* It was faster than we: its output is cut all the same, and the reason says so. */
Test(clocks, the_output_limit_holds_also_for_what_an_exited_process_left)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.output_bytes = 5, .grace_ms = 100}, &process);
	actor_write(actor->out, "123456789", 9);
	actor_close(actor);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 0);
	house_turn(&house);
	viewer_read_all(&viewer);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "12345");
	expect_told(process, 0, "output_limit", "output_bytes");
}

Test(clocks, a_survivor_that_writes_beyond_the_limit_is_ended_and_its_stream_with_it)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){.output_bytes = 5}, &process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	expect_told(process, 0, "exited", NULL);
	actor_write(actor->out, "123456789", 9);
	house_turn(&house);
	cr_expect_eq(actor->kills, 1);
	viewer_read_all(&viewer);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "12345");
	cr_expect_eq(viewer_count(&viewer, FRAME_STREAM_CLOSED), 2, "nothing comes any more, and it is told");
	actor_killed(&house, actor);
	cr_expect_eq(actor->forgets, 1);
}

/* --- kill and signal: case 17 --- */

Test(clocks, the_first_reason_holds_and_the_shortest_grace)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	process_end(process, REASON_KILLED, NULL, 1000);
	cr_expect(actor->signal_count == 1 && actor->kills == 0);
	process_end(process, REASON_KILLED, NULL, 1000);
	cr_expect_eq(actor->signal_count, 1, "asked for again within the grace");
	process_end(process, REASON_TIMEOUT, "wall", 0);
	cr_expect_eq(actor->kills, 1, "at once goes over a grace");
	cr_expect_not(ev_is_active(&process->grace));
	die(actor, SIGKILL);
	expect_told(process, 137, "killed", NULL);
}

static unsigned emptied;

static void heard_empty(struct process_watch *watch, struct process *process)
{
	(void)watch, (void)process;
	emptied++;
}

Test(clocks, a_kill_may_be_repeated_and_comes_too_late_without_harm)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	struct process_watch watches[4] = {
		{.empty = heard_empty}, {.empty = heard_empty}, {.empty = heard_empty}, {.empty = heard_empty}};
	process_kill(process, 0, &watches[0]);
	process_kill(process, 500, &watches[1]);
	cr_expect(emptied == 0 && actor->kills == 1);
	actor_close(actor);
	actor_exited(&house, actor, SIGKILL);
	house_turn(&house);
	cr_expect_eq(emptied, 0, "the leader is dead, its tree is not known to be");
	actor_killed(&house, actor);
	cr_expect_eq(emptied, 2);
	actor_usage(&house, actor, 0);
	expect_told(process, 137, "killed", NULL);
	process_kill(process, 0, &watches[2]);
	process_kill(process, 500, &watches[3]);
	cr_expect(emptied == 4 && actor->kills == 1, "nothing is left that a kill could hit");
}

/* The kill came, but the process had already exited by itself: the wait status decides. */
Test(clocks, who_was_faster_than_the_kill_has_exited)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	struct process_watch watch = {.empty = heard_empty};
	process_kill(process, 0, &watch);
	actor_close(actor);
	actor_exited(&house, actor, EXIT_STATUS(7));
	actor_usage(&house, actor, UINT64_MAX);
	actor_killed(&house, actor);
	house_turn(&house);
	expect_told(process, 7, "exited", NULL);
}

Test(clocks, survivors_of_an_exited_leader_can_be_killed)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	expect_told(process, 0, "exited", NULL);
	struct process_watch watch = {.empty = heard_empty};
	process_kill(process, 200, &watch);
	cr_expect(actor->signal_count == 1 && actor->signals[0].scope == SIGNAL_TREE);
	house_fire(&house, &process->grace);
	cr_expect_eq(actor->kills, 1);
	actor_close(actor);
	actor_killed(&house, actor);
	house_turn(&house);
	cr_expect(emptied == 1 && actor->forgets == 1);
}

Test(clocks, a_signal_goes_where_it_was_sent)
{
	struct process *process;
	struct actor *actor = begin((struct process_options){0}, &process);
	process_signal(process, SIGUSR1, SIGNAL_LEADER);
	process_signal(process, SIGTERM, SIGNAL_TREE);
	cr_expect(actor->signals[0].number == SIGUSR1 && actor->signals[0].scope == SIGNAL_LEADER);
	cr_expect(actor->signals[1].number == SIGTERM && actor->signals[1].scope == SIGNAL_TREE);
	die(actor, SIGUSR1);
	expect_told(process, 138, "killed", NULL);
}

/* --- clients that leave --- */

static const uint8_t ada[CLIENT_ID_BYTES] = "ada", bob[CLIENT_ID_BYTES] = "bob";

static struct process_options of_ada(bool kill)
{
	struct process_options options = {.kill_on_disconnect = kill, .disconnect_ms = 10000, .grace_ms = 0};
	memcpy(options.client, ada, sizeof ada);
	return options;
}

Test(clocks, who_leaves_takes_along_what_was_asked_to_go_with_him)
{
	struct process *kept, *bound;
	struct actor *actor = begin(of_ada(true), &bound);
	begin(of_ada(false), &kept);
	sessions_client_left(&house.sessions, bob);
	cr_expect_not(ev_is_active(&bound->disconnect));
	sessions_client_left(&house.sessions, ada);
	cr_expect(ev_is_active(&bound->disconnect) && !ev_is_active(&kept->disconnect));
	sessions_client_back(&house.sessions, ada);
	cr_expect_not(ev_is_active(&bound->disconnect), "he is there again");
	sessions_client_left(&house.sessions, ada);
	house_fire(&house, &bound->disconnect);
	cr_expect_eq(actor->kills, 1);
	die(actor, SIGKILL);
	expect_told(bound, 137, "cancelled", "disconnect");
	cr_expect_eq(kept->state, PROCESS_RUNNING);
}

/* The leader exits while its client is away: what it left behind goes with the client all the same. */
Test(clocks, survivors_go_with_the_client_too)
{
	struct process *process;
	struct actor *actor = begin(of_ada(true), &process);
	sessions_client_left(&house.sessions, ada);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	expect_told(process, 0, "exited", NULL);
	cr_assert(ev_is_active(&process->disconnect));
	house_fire(&house, &process->disconnect);
	cr_expect_eq(actor->kills, 1);
	actor_close(actor);
	actor_killed(&house, actor);
	house_turn(&house);
	cr_expect_not(ev_is_active(&process->disconnect));
}
