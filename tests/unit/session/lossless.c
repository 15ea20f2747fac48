/* A channel that misses nothing: it holds back the processes that it asked for, and nobody else. */
#include "viewer.h"
#include "tests/unit/protocol/random.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING = 4 * 1024 * 1024, PIPE = 64 * 1024 };

static struct house house;

/* What a process has written, as long as it could. */
struct writing {
	struct process *process;
	struct actor *actor;
	uint64_t sent;
};

static struct writing begin(bool terminal)
{
	struct writing writing = {0};
	writing.process = house_start(&house, (struct process_options){.terminal = terminal, .cols = 80, .rows = 24}, NULL);
	writing.actor = house_actor(&house, writing.process);
	return writing;
}

/* Write until MORE bytes went out or the process is blocked; returns whether it is not. */
static bool write_on(struct writing *writing, uint64_t more)
{
	static uint8_t bytes[8192];
	unsigned blocked = 0;
	while (more > 0 && blocked < 30) {
		size_t length = more < sizeof bytes ? (size_t)more : sizeof bytes;
		for (size_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)((writing->sent + i) * 11 + ((writing->sent + i) >> 9));
		ssize_t wrote = write(writing->actor->out, bytes, length);
		house_turn(&house);
		if (wrote > 0) {
			writing->sent += (uint64_t)wrote;
			more -= (uint64_t)wrote;
			blocked = 0;
		} else {
			blocked++;
			usleep(writing->actor->terminal ? 1000 : 0);
		}
	}
	return more == 0;
}

static void expect_exact(struct viewer *viewer, const struct writing *writing)
{
	uint8_t *bytes;
	cr_assert_eq(viewer_count(viewer, FRAME_GAP), 0, "lossless, and a GAP");
	size_t length = viewer_stream(viewer, writing->process->number,
	                              writing->actor->terminal ? STREAM_TTY : STREAM_STDOUT, 0, &bytes);
	cr_assert_eq(length, writing->sent);
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != (uint8_t)(i * 11 + (i >> 9)))
			cr_assert_fail("byte %zu", i);
	free(bytes);
}

/* Read everything, until nothing more comes although the process could write. */
static void read_until_quiet(struct viewer *viewer)
{
	for (unsigned quiet = 0; quiet < 20;) {
		quiet = viewer_read_all(viewer) > 0 ? 0 : quiet + 1;
		house_turn(&house);
		if (quiet > 5)
			usleep(1000);
	}
}

Test(lossless, a_pipe_is_held_at_one_mebibyte_and_let_go)
{
	house_open(&house, RING);
	struct viewer viewer = {0}, live = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	viewer_attach(&live, &house, (struct channel_options){.has_after = true});
	struct writing writing = begin(false);
	viewer_read_all(&viewer);
	cr_expect_not(write_on(&writing, 64 << 20), "it was never held");
	cr_expect(writing.process->held);
	cr_expect_geq(writing.sent, LOSSLESS_PIPE_BYTES);
	cr_expect_leq(writing.sent, LOSSLESS_PIPE_BYTES + JOURNAL_READ + PIPE);
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 9; k++)
			viewer_read(&viewer, CHANNEL_MESSAGE);
		uint64_t before = writing.sent;
		cr_expect_not(write_on(&writing, 64 << 20));
		cr_expect_gt(writing.sent, before, "what was fetched makes room");
		viewer_read_all(&live);
	}
	read_until_quiet(&viewer);
	viewer_read_all(&live);
	cr_expect_not(writing.process->held);
	expect_exact(&viewer, &writing);
	expect_exact(&live, &writing);
	viewer_close(&viewer);
	viewer_close(&live);
	house_close(&house);
}

Test(lossless, a_terminal_is_held_at_64_kibibytes)
{
	house_open(&house, RING);
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	struct writing writing = begin(true);
	cr_expect_not(write_on(&writing, 8 << 20));
	cr_expect_geq(writing.sent, LOSSLESS_TTY_BYTES);
	cr_expect_leq(writing.sent, LOSSLESS_TTY_BYTES + JOURNAL_READ + PIPE);
	read_until_quiet(&viewer);
	expect_exact(&viewer, &writing);
	viewer_close(&viewer);
	house_close(&house);
}

/* Nobody else is held: neither a process that the channel did not ask for, nor one that started for others. */
Test(lossless, holds_only_what_it_asked_for)
{
	house_open(&house, RING);
	struct writing mine = begin(false), theirs = begin(false);
	const uint32_t wanted = mine.process->number;
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house,
	              (struct channel_options){
					  .has_after = true, .mode = CHANNEL_LOSSLESS, .processes = &wanted, .process_count = 1});
	cr_expect_not(write_on(&mine, 64 << 20));
	cr_expect(write_on(&theirs, 2 << 20), "a process that nobody asked for was held");
	cr_expect_not(theirs.process->held);
	read_until_quiet(&viewer);
	expect_exact(&viewer, &mine);
	cr_expect_not(write_on(&mine, 64 << 20));
	cr_expect(write_on(&theirs, 32 << 20), "a flood goes on; it can cost a GAP, but nobody waits for it");
	viewer_close(&viewer);
	house_close(&house);
}

Test(lossless, who_leaves_lets_go)
{
	house_open(&house, RING);
	struct viewer one = {0}, two = {0};
	viewer_attach(&one, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	viewer_attach(&two, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	struct writing writing = begin(false);
	cr_expect_not(write_on(&writing, 64 << 20));
	viewer_close(&one);
	cr_expect(writing.process->held, "the other one still waits");
	viewer_close(&two);
	cr_expect_not(writing.process->held);
	cr_expect(write_on(&writing, 8 << 20));
	house_close(&house);
}

/* Who comes back lossless has the whole ring before him: that is unsent, too, and must not be overwritten meanwhile. */
Test(lossless, the_replay_counts_as_unsent)
{
	house_open(&house, RING);
	struct writing writing = begin(false);
	cr_assert(write_on(&writing, 3 << 20));
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	for (int i = 0; i < 200; i++) {
		write_on(&writing, 256 << 10);
		viewer_read(&viewer, 16384);
	}
	read_until_quiet(&viewer);
	expect_exact(&viewer, &writing);
	cr_expect_eq(viewer_count(&viewer, FRAME_LIVE), 1);
	viewer_close(&viewer);
	house_close(&house);
}

/* Several flood at once, in a ring that none of them would fill alone; also in the smallest ring there is. */
Test(lossless, many_processes_share_the_ring)
{
	static const uint64_t rings[] = {JOURNAL_RING_LEAST, 1 << 20, RING};
	for (size_t r = 0; r < sizeof rings / sizeof *rings; r++) {
		house_open(&house, rings[r]);
		struct random random = {.state = 3 + r};
		struct viewer viewer = {0};
		viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
		struct writing writings[6];
		size_t count = r == 0 ? 1 : 6;
		for (size_t i = 0; i < count; i++)
			writings[i] = begin(i == 5);
		for (int round = 0; round < 150; round++) {
			write_on(&writings[random_below(&random, (uint32_t)count)], 200000);
			if (round % 3 == 0)
				viewer_read(&viewer, 65536);
		}
		read_until_quiet(&viewer);
		for (size_t i = 0; i < count; i++)
			expect_exact(&viewer, &writings[i]);
		viewer_close(&viewer);
		house_close(&house);
	}
}

/* The leader is gone, its output was held: nobody holds the rest back any more, which is bounded. It comes before EXITED, and
 * nobody who waits for that waits for the viewer. */
Test(lossless, what_was_held_at_the_exit_comes_before_it)
{
	house_open(&house, RING);
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .mode = CHANNEL_LOSSLESS});
	struct writing writing = begin(false);
	cr_expect_not(write_on(&writing, 64 << 20));
	actor_is_over(&house, writing.actor, EXIT_STATUS(0));
	house_turn(&house);
	cr_expect_eq(writing.process->state, PROCESS_DONE, "its end does not wait for the viewer");
	read_until_quiet(&viewer);
	expect_exact(&viewer, &writing);
	cr_expect_eq(map_uint(map_map(viewer_ending(&viewer, 1), "offsets"), "stdout"), writing.sent);
	cr_expect_eq(viewer_frame(&viewer, viewer.frame_count - 1).kind, FRAME_EXITED);
	viewer_close(&viewer);
	house_close(&house);
}
