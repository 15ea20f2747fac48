/* What the next gateway makes of a session that this one left: its processes from the files, and how they go on. */
#include "house.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

static struct house house;
static struct session *next; /* the same session in the next gateway's eyes */

static void set_up(void)
{
	house_open(&house, 0);
	next = NULL;
}

static void tear_down(void)
{
	if (next)
		session_release(next);
	house_close(&house);
}
TestSuite(restored, .init = set_up, .fini = tear_down);

static struct process *find_again(const struct process *process)
{
	struct error err = {0};
	if (next)
		session_release(next);
	next = session_allocate(&house.sessions, house.session->id);
	int directory = openat(house.sessions.directory, next->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	next->records = records_open(directory, RECORDS_NAME, &err);
	next->journal = journal_open(directory, JOURNAL_NAME, &err);
	close(directory);
	cr_assert(next->records && next->journal, "%s", err.message);
	next->sandbox = house.sandbox;
	session_restore_processes(next);
	struct process *found = session_find_process(next, process->number);
	cr_assert_not_null(found);
	return found;
}

/* Its leader has exited, and something of its tree lives. */
static struct process *leave_survivors(struct process_options options)
{
	struct process *process = house_start(&house, options, NULL);
	struct actor *actor = house_actor(&house, process);
	actor_exited(&house, actor, EXIT_STATUS(0));
	actor_usage(&house, actor, 1);
	house_turn(&house);
	cr_assert_eq(process->state, PROCESS_DONE);
	return process;
}

static void ignore_empty(struct process_watch *watch, struct process *process)
{
	(void)watch, (void)process;
}

static struct process *go_on(const struct process *process)
{
	struct process *again = find_again(process);
	cr_assert_eq(again->state, PROCESS_DONE);
	process_started(again, &PROCESS_STREAMS_NONE);
	return again;
}

/* The gateway dies between the event and the record: what the journal has, counts. */
Test(restored, output_that_only_the_journal_knows_is_counted_against_the_limit)
{
	struct process *process = house_start(&house, (struct process_options){.output_bytes = 100}, NULL);
	struct actor *actor = house_actor(&house, process);
	static const char bytes[60];
	house_produce(&house, process, actor->out, bytes, 60);
	house_produce(&house, process, actor->err, bytes, 7);
	process->record->offsets[0] = 20;
	const struct process *again = find_again(process);
	cr_expect(again->sources[0].offset == 60 && again->sources[1].offset == 7);
	cr_expect_eq(again->output_total, 67);
}

Test(restored, survivors_that_were_sent_term_are_killed_when_their_grace_is_over)
{
	struct process *process = leave_survivors((struct process_options){0});
	struct actor *actor = house_actor(&house, process);
	static struct process_watch watch = {.empty = ignore_empty}; /* for as long as the house */
	process_kill(process, 3000, &watch);
	cr_assert(actor->signal_count == 1 && actor->kills == 0);
	struct process *again = go_on(process);
	cr_assert(ev_is_active(&again->grace));
	cr_expect_eq(actor->kills, 0, "not before");
	house_fire(&house, &again->grace);
	cr_expect_eq(actor->kills, 1);
	process_killed(again);
}

Test(restored, survivors_that_were_being_killed_are_killed_again_unless_they_are_gone)
{
	struct process *process = leave_survivors((struct process_options){0});
	struct actor *actor = house_actor(&house, process);
	static struct process_watch watch = {.empty = ignore_empty}; /* for as long as the house */
	process_kill(process, 0, &watch);
	cr_assert_eq(actor->kills, 1);
	go_on(process);
	cr_expect_eq(actor->kills, 2);
	actor_killed(&house, actor); /* somebody else has its streams, so that it is not forgotten */
	cr_assert_not(process->forgotten);
	const struct process *again = go_on(process);
	cr_expect(actor->kills == 2 && !ev_is_active(&again->grace));
}

Test(restored, survivors_are_ended_with_a_client_that_does_not_come_back)
{
	const struct process_options options = {.kill_on_disconnect = true, .disconnect_ms = 1000, .grace_ms = 0};
	struct process *process = leave_survivors(options);
	const struct actor *actor = house_actor(&house, process);
	struct process *again = go_on(process);
	cr_assert(ev_is_active(&again->disconnect));
	process_client_back(again);
	cr_expect_not(ev_is_active(&again->disconnect));
	again = go_on(process);
	house_fire(&house, &again->disconnect);
	cr_expect_eq(actor->kills, 1);
}
