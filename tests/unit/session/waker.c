/* When those who are attached hear of output: where many are, of several small pieces at once. */
#include "viewer.h"

#include <criterion/criterion.h>
#include <unistd.h>

enum { FEW = 3, MANY = 20, PIECES = 10 };

/* A house with a process, and COUNT viewers, of whom the first is of MODE. */
static struct process *gather(struct house *house, struct viewer *viewers, size_t count, enum channel_mode mode)
{
	house_open(house, 0);
	struct process *process = house_start(house, (struct process_options){0}, NULL);
	for (size_t i = 0; i < count; i++)
		viewer_attach(&viewers[i], house, (struct channel_options){.mode = i == 0 ? mode : CHANNEL_LIVE});
	return process;
}

/* PIECES small pieces of output are told them in how many wakes? */
static void watch(size_t count, enum channel_mode mode, unsigned wakes[MANY])
{
	struct house house;
	struct viewer viewers[MANY] = {0};
	struct process *process = gather(&house, viewers, count, mode);
	struct actor *actor = house_actor(&house, process);
	for (size_t i = 0; i < count; i++)
		viewers[i].wakes = 0;
	for (int piece = 0; piece < PIECES; piece++)
		house_produce(&house, process, actor->out, "piece", 5);
	for (size_t i = 0; i < count; i++) {
		wakes[i] = viewers[i].wakes;
		viewers[i].wakes = 0;
	}
	if (ev_is_active(&house.session->waker.later)) {
		house_fire(&house, &house.session->waker.later);
		for (size_t i = 0; i < count; i++)
			cr_expect_eq(viewers[i].wakes, 1, "all are told in the end");
	}
	for (size_t i = 0; i < count; i++) {
		viewer_read_all(&viewers[i]);
		viewer_expect(&viewers[i], process->number, STREAM_STDOUT,
		              "piecepiecepiecepiecepiecepiecepiecepiecepiecepiece");
		viewer_close(&viewers[i]);
	}
	actor_is_over(&house, actor, EXIT_STATUS(0));
	house_close(&house);
}

Test(waker, few_are_told_at_once)
{
	unsigned wakes[MANY];
	watch(FEW, CHANNEL_LIVE, wakes);
	for (size_t i = 0; i < FEW; i++)
		cr_assert_eq(wakes[i], PIECES);
}

/* How many rounds there are is the clock's; on a machine that stands still between all pieces there were as many as pieces. */
Test(waker, many_are_told_together)
{
	unsigned wakes[MANY], least = PIECES;
	for (int attempt = 0; attempt < 20 && least == PIECES; attempt++) {
		watch(MANY, CHANNEL_LIVE, wakes);
		least = wakes[MANY - 1] < least ? wakes[MANY - 1] : least;
	}
	cr_assert_lt(least, PIECES);
}

Test(waker, a_lossless_one_is_told_at_once)
{
	unsigned wakes[MANY];
	watch(MANY, CHANNEL_LOSSLESS, wakes);
	cr_assert_geq(wakes[0], PIECES);
}

/* A crowd's round of writes may take longer than output is gathered for: what comes behind it is gathered all the same. Whether
 * the machine stood still meanwhile is the clock's, so one of several attempts is enough. */
Test(waker, what_comes_after_a_long_round_is_gathered)
{
	struct house house;
	struct viewer viewers[MANY] = {0};
	struct actor *actor = house_actor(&house, gather(&house, viewers, MANY, CHANNEL_LIVE));
	bool was_gathered = false;
	for (int attempt = 0; attempt < 50 && !was_gathered; attempt++) {
		waker_tell(house.session);
		usleep(10000); /* the round */
		ev_now_update(house.loop);
		waker_output(house.session, 5);
		was_gathered = house.session->waker.untold > 0;
	}
	cr_expect(was_gathered);
	for (size_t i = 0; i < MANY; i++)
		viewer_close(&viewers[i]);
	actor_is_over(&house, actor, EXIT_STATUS(0));
	house_close(&house);
}
