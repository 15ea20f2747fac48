/* A channel whose place in the ring was overwritten: GAP says what is missing, STATE how things stand behind it. */
#include "viewer.h"
#include "tests/unit/protocol/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORLD_PROCESSES = 200, STREAMS = STREAM_TTY + 1 };

/* The byte that stands at OFFSET of a stream: so every byte of every OUTPUT can be checked. */
static uint8_t byte_at(uint32_t process, unsigned stream, uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 13 + (offset >> 16) * 17 + process * 31 + stream * 3);
}

/* What a client knows of a process. */
struct known {
	bool started, exited;
	uint64_t next[STREAMS];
	uint64_t told_by; /* the event, or the STATE, that told the last of these */
};

struct client {
	struct viewer viewer;
	struct known processes[WORLD_PROCESSES];
	uint64_t last; /* seq */
	unsigned gaps, lives;
};

static void take_output(struct client *client, const struct seen *seen)
{
	const struct output_header *output = &seen->output;
	struct known *known = &client->processes[output->process];
	cr_assert(known->started, "output of process %u, which nobody started", output->process);
	cr_assert_eq(known->next[output->stream], output->offset,
	             "process %u stream %u goes on at %llu (event %llu), not at %llu, as event or STATE %llu told",
	             output->process, output->stream, (unsigned long long)output->offset, (unsigned long long)output->seq,
	             (unsigned long long)known->next[output->stream], (unsigned long long)known->told_by);
	const uint8_t *bytes = client->viewer.bytes + seen->at + OUTPUT_HEADER_BYTES;
	for (uint32_t i = 0; i < output->length; i++)
		if (bytes[i] != byte_at(output->process, output->stream, output->offset + i))
			cr_assert_fail("byte %llu of process %u", (unsigned long long)output->offset + i, output->process);
	known->next[output->stream] += output->length;
	known->told_by = output->seq;
}

static const char *const stream_keys[] = {NULL, "stdout", "stderr", "tty"};

static void take_state(struct client *client, struct seen *seen)
{
	cr_assert_eq(field_uint(seen), client->last, "STATE stands behind the gap's last event");
	uint32_t count, before = 0;
	struct reader maps = map_array(seen->fields, "processes", &count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t process = (uint32_t)map_uint(maps, "process");
		cr_assert(process > before, "in the order of their numbers");
		before = process;
		struct known *known = &client->processes[process];
		cr_assert_not(known->exited, "process %u had told its end before the gap", process);
		cr_assert_leq(map_uint(maps, "seq"), client->last);
		known->started = true;
		known->told_by = client->last;
		known->exited = map_is(maps, "state", "exited");
		cr_assert(known->exited || map_is(maps, "state", "running"));
		cr_assert_eq(known->exited, !map_is_nil(maps, "exited"));
		struct reader offsets = map_map(maps, "offsets"), value;
		for (unsigned stream = 1; stream < STREAMS; stream++) {
			if (!map_find(offsets, stream_keys[stream], &value))
				continue;
			uint64_t offset = map_uint(offsets, stream_keys[stream]);
			cr_assert_geq(offset, known->next[stream], "a stream does not go back");
			known->next[stream] = offset;
		}
		reader_skip(&maps);
	}
}

static void take_exited(struct client *client, struct seen *seen)
{
	struct known *known = &client->processes[field_uint(seen)];
	cr_assert(known->started && !known->exited);
	known->exited = true;
	struct reader offsets = map_map(seen->fields, "offsets"), value;
	for (unsigned stream = 1; stream < STREAMS; stream++)
		if (map_find(offsets, stream_keys[stream], &value))
			cr_assert_eq(map_uint(offsets, stream_keys[stream]), known->next[stream]);
}

static void take_frame(struct client *client, struct seen seen)
{
	if (seen.kind < FRAME_GAP)
		cr_assert_eq(seen.seq, client->last + 1, "event %llu follows %llu", (unsigned long long)seen.seq,
		             (unsigned long long)client->last);
	if (seen.kind < FRAME_GAP)
		client->last = seen.seq;
	switch (seen.kind) {
	case FRAME_OUTPUT:
		take_output(client, &seen);
		break;
	case FRAME_STARTED:
		client->processes[field_uint(&seen)].started = true;
		break;
	case FRAME_EXITED:
		take_exited(client, &seen);
		break;
	case FRAME_GAP:
		cr_assert_eq(field_uint(&seen), client->last + 1);
		uint64_t to = field_uint(&seen);
		cr_assert_gt(to, client->last);
		client->last = to;
		client->gaps++;
		break;
	case FRAME_STATE:
		take_state(client, &seen);
		break;
	case FRAME_LIVE:
		cr_assert_eq(field_uint(&seen), client->last);
		client->lives++;
		break;
	}
}

/* Fetch up to MESSAGES messages and check them; a GAP is followed at once by its STATE. */
static void fetch(struct client *client, unsigned messages, size_t most)
{
	viewer_forget(&client->viewer);
	while (messages-- > 0 && viewer_read(&client->viewer, most) > 0)
		;
	for (size_t i = 0; i < client->viewer.frame_count; i++) {
		struct seen seen = viewer_frame(&client->viewer, i);
		if (seen.kind == FRAME_GAP)
			cr_assert_eq(viewer_frame(&client->viewer, i + 1).kind, FRAME_STATE);
		take_frame(client, seen);
	}
}

/* --- the producer --- */

struct world {
	struct house house;
	struct random random;
	struct process *processes[WORLD_PROCESSES];
	uint64_t sent[WORLD_PROCESSES][STREAMS];
	uint32_t count;
};

static bool is_running(const struct world *world, uint32_t number)
{
	return world->processes[number]->state == PROCESS_RUNNING;
}

static void produce(struct world *world, uint32_t number)
{
	static uint8_t bytes[16384];
	struct actor *actor = house_actor(&world->house, world->processes[number]);
	bool is_error = !actor->terminal && random_below(&world->random, 4) == 0;
	unsigned stream = actor->terminal ? STREAM_TTY : is_error ? STREAM_STDERR : STREAM_STDOUT;
	uint32_t length = 1 + random_below(&world->random, actor->terminal ? 3000 : sizeof bytes);
	uint64_t *sent = &world->sent[number][stream];
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = byte_at(number, stream, *sent + i);
	house_produce(&world->house, world->processes[number], is_error ? actor->err : actor->out, bytes, length);
	*sent += length;
}

static void end_one(struct world *world, uint32_t number)
{
	const struct process *process = world->processes[number];
	actor_is_over(&world->house, house_actor(&world->house, process), EXIT_STATUS((int)number & 255));
	for (int waits = 0; process->state != PROCESS_DONE && waits < 2000;
	     waits++) { /* a terminal hangs up a little later */
		usleep(1000);
		house_turn(&world->house);
	}
	cr_assert_eq(process->state, PROCESS_DONE);
}

static void step(struct world *world)
{
	uint32_t what = random_below(&world->random, 100);
	if (world->count + 1 < WORLD_PROCESSES && (world->count == 0 || what < 4)) {
		const struct process_options options = {
			.terminal = random_below(&world->random, 3) == 0, .cols = 80, .rows = 24};
		struct process *process = house_start(&world->house, options, NULL);
		world->processes[process->number] = process;
		world->count = process->number;
		return;
	}
	uint32_t number = 1 + random_below(&world->random, world->count);
	if (!is_running(world, number))
		return;
	if (what < 8)
		end_one(world, number);
	else
		produce(world, number);
}

static void expect_all_known(const struct world *world, const struct client *client)
{
	cr_assert_eq(client->last, journal_last_seq(world->house.session->journal));
	for (uint32_t number = 1; number <= world->count; number++) {
		const struct known *known = &client->processes[number];
		cr_assert_eq(known->exited, !is_running(world, number), "process %u", number);
		for (unsigned stream = 1; stream < STREAMS; stream++)
			if (is_running(world, number))
				cr_assert_eq(known->next[stream], world->sent[number][stream], "process %u", number);
	}
}

/* Four clients of different patience look at a random world that does not wait for them. Whatever each gets is exact. */
Test(gap, whoever_is_slow_knows_what_is_missing_and_where_it_goes_on)
{
	static struct world world;
	static struct client clients[4];
	world.random.state = 77;
	house_open(&world.house, 0);
	for (size_t i = 0; i < 4; i++) {
		viewer_attach(&clients[i].viewer, &world.house, (struct channel_options){.has_after = true});
	}
	for (unsigned round = 0; round < 3000; round++) {
		step(&world);
		fetch(&clients[0], 100, CHANNEL_MESSAGE);
		if (round % 120 == 0)
			fetch(&clients[1], 1 + random_below(&world.random, 4), CHANNEL_MESSAGE);
		if (round % 7 == 0)
			fetch(&clients[2], 1, 4096);
		if (round % 900 == 899)
			fetch(&clients[3], 1000, CHANNEL_MESSAGE);
	}
	cr_assert_gt(journal_tail(world.house.session->journal), 10 * (uint64_t)JOURNAL_RING_LEAST);
	for (size_t i = 0; i < 4; i++) {
		fetch(&clients[i], 1000, CHANNEL_MESSAGE);
		cr_expect_eq(clients[i].lives, 1, "client %zu: %u LIVE", i, clients[i].lives);
		expect_all_known(&world, &clients[i]);
		cr_expect_eq(clients[i].gaps > 0, i > 0, "client %zu had %u gaps", i, clients[i].gaps);
	}
	for (size_t i = 0; i < 4; i++)
		viewer_close(&clients[i].viewer);
	house_close(&world.house);
}

/* Who comes back after the ring has gone on gets what there is, behind a GAP. */
Test(gap, a_late_client_resumes_behind_a_gap)
{
	static struct world world;
	static struct client client;
	world.random.state = 5;
	house_open(&world.house, 0);
	for (unsigned comes = 0; comes < 12; comes++) {
		viewer_attach(&client.viewer, &world.house, (struct channel_options){.has_after = true, .after = client.last});
		client.lives = 0;
		fetch(&client, comes % 3 == 2 ? 3 : 1000, CHANNEL_MESSAGE);
		cr_assert(comes % 3 == 2 || client.lives == 1);
		viewer_close(&client.viewer);
		unsigned before = client.gaps;
		for (unsigned i = 0; i < (comes % 2 ? 20 : 400); i++)
			step(&world);
		cr_assert_geq(client.gaps, before);
	}
	viewer_attach(&client.viewer, &world.house, (struct channel_options){.has_after = true, .after = client.last});
	fetch(&client, 1000, CHANNEL_MESSAGE);
	expect_all_known(&world, &client);
	cr_expect_gt(client.gaps, 3);
	viewer_close(&client.viewer);
	house_close(&world.house);
}

/* A client that joined after a process's whole life hears nothing made up about it: the gap's end decides. */
Test(gap, state_lists_who_ran_in_the_gap_and_nobody_else)
{
	static struct world world;
	struct client client = {0};
	world.random.state = 9;
	house_open(&world.house, 0);
	viewer_attach(&client.viewer, &world.house, (struct channel_options){0});
	struct process *early = house_start(&world.house, (struct process_options){0}, NULL);
	actor_is_over(&world.house, house_actor(&world.house, early), EXIT_STATUS(0));
	viewer_read_all(&client.viewer);
	viewer_forget(&client.viewer);
	for (int i = 0; i < 3; i++)
		world.processes[2 + i] = house_start(&world.house, (struct process_options){0}, NULL);
	actor_is_over(&world.house, house_actor(&world.house, world.processes[2]), EXIT_STATUS(9));
	while (journal_first_seq(world.house.session->journal) < 20)
		produce(&world, 3);
	struct process *late = house_start(&world.house, (struct process_options){0}, NULL);
	viewer_read_all(&client.viewer);
	struct seen state = viewer_only(&client.viewer, FRAME_STATE);
	field_uint(&state);
	uint32_t count;
	struct reader maps = map_array(state.fields, "processes", &count);
	cr_assert_eq(count, 3, "2, which ended in the gap, 3 and 4; not 1, whose end was told, nor 5, which comes after");
	cr_expect(map_uint(maps, "process") == 2 && map_is(maps, "state", "exited"));
	cr_expect_eq(map_uint(map_map(maps, "exited"), "exit_code"), 9);
	cr_expect_eq(viewer_count(&client.viewer, FRAME_STARTED), 1);
	cr_expect_eq(late->number, 5);
	viewer_close(&client.viewer);
	house_close(&world.house);
}

/* A few bytes, in an OUTPUT of their own. */
static void say(struct world *world, uint32_t number, size_t bytes)
{
	static uint8_t block[16];
	struct actor *actor = house_actor(&world->house, world->processes[number]);
	for (size_t i = 0; i < bytes; i++)
		block[i] = byte_at(number, STREAM_STDOUT, world->sent[number][STREAM_STDOUT] + i);
	house_produce(&world->house, world->processes[number], actor->out, block, bytes);
	world->sent[number][STREAM_STDOUT] += bytes;
}

enum { SILENT = 1, RARE, BUSY, SMALL_EVENTS = 3 * LOOKOUT_TURN / LOOKOUT_EVENT };

/* SILENT and RARE have said something, and BUSY so much since then that the ring has turned. */
static void start_three(struct world *world)
{
	house_open(&world->house, 4 * (uint64_t)LOOKOUT_TURN);
	for (uint32_t number = SILENT; number <= BUSY; number++)
		world->processes[number] = house_start(&world->house, (struct process_options){0}, NULL);
	world->count = BUSY;
	say(world, SILENT, 7);
	say(world, RARE, 11);
	while (journal_first_seq(world->house.session->journal) < 20)
		produce(world, BUSY);
}

/* RARE's next output stands further behind than a turn of the loop looks. */
static void say_much(struct world *world)
{
	for (unsigned i = 0; i < SMALL_EVENTS; i++)
		say(world, BUSY, 1);
	say(world, RARE, 13);
}

/* Where a stream goes on that is silent for good is known; nothing is looked through for it. */
Test(gap, a_silent_process_costs_nothing)
{
	static struct world world;
	static struct client client;
	world.random.state = 3;
	start_three(&world);
	viewer_attach(&client.viewer, &world.house, (struct channel_options){.has_after = true});
	house_turn(&world.house);
	fetch(&client, 1, CHANNEL_MESSAGE);
	cr_expect_eq(client.gaps, 1);
	cr_expect_gt(world.house.sessions.lookouts.left, LOOKOUT_TURN / 2, "only BUSY's next OUTPUTs are looked for");
	fetch(&client, 10000, CHANNEL_MESSAGE);
	expect_all_known(&world, &client);
	viewer_close(&client.viewer);
	house_close(&world.house);
}

/* Its next output stands far behind the gap: it is looked for in as many turns of the loop as that takes, once for all who
 * wait for it; what is said of it then is exact, and who asks later need not wait. */
Test(gap, what_has_to_be_looked_for_takes_no_more_than_its_share_of_a_turn)
{
	static struct world world;
	static struct client clients[3];
	world.random.state = 3;
	start_three(&world);
	say_much(&world);
	for (size_t i = 0; i < 2; i++)
		viewer_attach(&clients[i].viewer, &world.house, (struct channel_options){.has_after = true});
	for (size_t i = 0; i < 2; i++)
		cr_expect_eq(viewer_read(&clients[i].viewer, CHANNEL_MESSAGE), 0, "client %zu has to wait", i);
	cr_expect_eq(world.house.sessions.lookouts.left, 0);
	unsigned wakes = clients[1].viewer.wakes;
	for (unsigned turns = 0; clients[1].viewer.wakes == wakes; turns++) {
		cr_assert_lt(turns, 10, "nobody is woken");
		ev_run(world.house.loop, EVRUN_NOWAIT);
		cr_expect(turns > 0 || clients[1].viewer.wakes == wakes, "it takes more than a turn");
	}
	viewer_attach(&clients[2].viewer, &world.house, (struct channel_options){.has_after = true});
	for (size_t i = 0; i < 3; i++) {
		fetch(&clients[i], 100000, CHANNEL_MESSAGE);
		cr_expect_eq(clients[i].gaps, 1);
		cr_expect_eq(clients[i].lives, 1);
		expect_all_known(&world, &clients[i]);
		viewer_close(&clients[i].viewer);
	}
	house_close(&world.house);
}

/* Everybody leaves while it is looked: nothing goes on, and the session may end. */
Test(gap, nobody_waits_any_more)
{
	static struct world world;
	struct viewer viewer = {0};
	world.random.state = 3;
	start_three(&world);
	say_much(&world);
	for (size_t turns = 0; turns < 2; turns++) {
		viewer_attach(&viewer, &world.house, (struct channel_options){.has_after = true});
		cr_expect_eq(viewer_read(&viewer, CHANNEL_MESSAGE), 0);
		cr_expect(lookout_is_under_way(world.house.session));
		viewer_close(&viewer);
		if (turns == 0)
			house_turn(&world.house);
	}
	house_close(&world.house);
}

/* Much output of a process, which nobody has fetched yet, a second ago. */
static void flood(struct house *house, struct process *process, size_t bytes)
{
	static uint8_t block[2048];
	memset(block, 'x', sizeof block);
	struct actor *actor = house_actor(house, process);
	for (size_t done = 0; done < bytes; done += sizeof block)
		house_produce(house, process, actor->out, block, sizeof block);
}

/* A viewer whose terminal stood still for a second while much came sees what is there now; one that is a little behind,
 * or behind with pipes, or holds the process back, gets every byte. */
Test(gap, a_live_viewer_is_not_shown_an_old_terminal)
{
	static const struct {
		bool terminal, lossless;
		size_t bytes;
		bool skips;
	} table[] = {
		{true, false, LIVE_TTY_BYTES + 8192, true},
		{true, false, LIVE_TTY_BYTES / 2, false},
		{false, false, LIVE_TTY_BYTES + 8192, false},
		{true, true, LOSSLESS_TTY_BYTES / 2, false},
	};
	enum { ROWS = sizeof table / sizeof table[0] };
	static struct house houses[ROWS];
	static struct viewer viewers[ROWS];
	struct process *processes[ROWS];
	for (size_t i = 0; i < ROWS; i++) {
		house_open(&houses[i], 4 * 1024 * 1024);
		processes[i] = house_start(
			&houses[i], (struct process_options){.terminal = table[i].terminal, .cols = 80, .rows = 24}, NULL);
		viewer_attach(&viewers[i], &houses[i],
		              (struct channel_options){.mode = table[i].lossless ? CHANNEL_LOSSLESS : CHANNEL_LIVE});
		viewer_read_all(&viewers[i]);
		flood(&houses[i], processes[i], table[i].bytes);
	}
	usleep(LIVE_TTY_US + 50000);
	for (size_t i = 0; i < ROWS; i++) {
		viewer_forget(&viewers[i]);
		viewer_read_all(&viewers[i]);
		cr_expect_eq(viewer_count(&viewers[i], FRAME_GAP), table[i].skips, "row %zu", i);
		cr_expect_eq(viewer_count(&viewers[i], FRAME_STATE), table[i].skips, "row %zu", i);
		cr_expect_eq(viewer_count(&viewers[i], FRAME_OUTPUT) == 0, table[i].skips, "row %zu", i);
		viewer_forget(&viewers[i]);
		flood(&houses[i], processes[i], 2048);
		viewer_read_all(&viewers[i]);
		cr_expect_eq(viewer_count(&viewers[i], FRAME_OUTPUT), 1, "row %zu: what is new comes", i);
		viewer_close(&viewers[i]);
		house_close(&houses[i]);
	}
}
