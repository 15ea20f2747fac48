/* A cursor into the journal: what a client that attaches, falls behind or comes back must see. */
#include "viewer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct house house;

static void set_up(void)
{
	house_open(&house, 0);
}

static void tear_down(void)
{
	house_close(&house);
}
TestSuite(channel, .init = set_up, .fini = tear_down);

static void write_line(struct process *process, const char *text)
{
	actor_write(house_actor(&house, process)->out, text, strlen(text));
	house_turn(&house);
}

Test(channel, from_now_on_is_only_what_happens_now)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	write_line(process, "before");
	viewer_attach(&viewer, &house, (struct channel_options){0});
	cr_expect(channel_has_more(viewer.channel));
	viewer_read_all(&viewer);
	cr_expect_not(channel_has_more(viewer.channel));
	struct seen joined = viewer_only(&viewer, FRAME_PARTICIPANT), live = viewer_only(&viewer, FRAME_LIVE);
	cr_expect_eq(viewer.frame_count, 2);
	cr_expect(joined.seq == 3 && field_uint(&live) == 3, "LIVE stands behind its own joining");
	cr_expect(field_uint(&joined) == viewer.channel->participant && map_is(joined.fields, "change", "joined"));
	cr_expect(map_is(joined.fields, "name", "ada") && map_is(joined.fields, "role", "owner"));
	viewer_forget(&viewer);
	unsigned wakes = viewer.wakes;
	write_line(process, "after");
	cr_expect_gt(viewer.wakes, wakes);
	viewer_read_all(&viewer);
	struct seen output = viewer_only(&viewer, FRAME_OUTPUT);
	cr_expect(output.seq == 4 && output.output.offset == 6 && output.output.length == 5);
	cr_expect_eq(viewer_count(&viewer, FRAME_LIVE), 0, "LIVE comes once");
	viewer_close(&viewer);
}

static void make_history(struct process *process, unsigned events)
{
	char text[40];
	for (unsigned i = 0; i < events; i++) {
		snprintf(text, sizeof text, "line %u\n", i);
		write_line(process, text);
	}
}

/* Whenever somebody comes, and wherever he goes on from, he gets the same bytes. */
Test(channel, replay_is_exact_from_every_event)
{
	struct viewer first = {0};
	viewer_attach(&first, &house, (struct channel_options){.has_after = true});
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	make_history(process, 40);
	viewer_read_all(&first);
	uint64_t last = journal_last_seq(house.session->journal);
	for (uint64_t after = 0; after <= last + 2; after++) {
		struct viewer again = {0};
		uint64_t newest = journal_last_seq(house.session->journal);
		viewer_attach(&again, &house, (struct channel_options){.has_after = true, .after = after});
		viewer_read_all(&again);
		uint64_t from = (after < newest ? after : newest) + 1;
		cr_assert_eq(viewer_frame(&again, 0).seq, from, "after %llu", (unsigned long long)after);
		cr_assert_eq(viewer_count(&again, FRAME_LIVE), 1);
		viewer_forget(&first);
		viewer_close(&first);
		viewer_attach(&first, &house, (struct channel_options){.has_after = true, .after = from - 1});
		viewer_read_all(&first);
		struct seen live = viewer_only(&again, FRAME_LIVE);
		cr_assert_eq(memcmp(first.bytes, again.bytes, live.at), 0, "after %llu", (unsigned long long)after);
		viewer_close(&again);
	}
	viewer_close(&first);
}

Test(channel, live_comes_once_behind_the_last_event_of_the_replay)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	make_history(process, 100);
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true});
	uint64_t joined = journal_last_seq(house.session->journal);
	make_history(process, 20); /* while the replay is under way */
	while (viewer_read(&viewer, 300) > 0)
		;
	size_t at = 0, before = viewer_only(&viewer, FRAME_LIVE).at;
	struct seen live;
	cr_assert(viewer_find(&viewer, FRAME_LIVE, &at, &live));
	cr_expect_eq(field_uint(&live), joined);
	cr_expect_eq(viewer_frame(&viewer, at - 2).seq, joined, "the frame before it");
	cr_expect_eq(viewer_frame(&viewer, at).seq, joined + 1, "and the one after");
	cr_expect_gt(before, 0);
	cr_expect_eq(viewer.frame_count, joined + 20 + 1);
	viewer_close(&viewer);
}

Test(channel, a_message_is_no_longer_than_asked_but_for_one_frame)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	make_history(process, 200);
	char large[5000];
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	write_line(process, large);
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true});
	size_t frames, before = 0;
	while ((frames = viewer_read(&viewer, 1000)) > 0) {
		cr_assert(frames == 1 || viewer.length - before <= 1000);
		before = viewer.length;
	}
	cr_expect_gt(viewer.messages, 8);
	viewer_close(&viewer);
}

/* --- filter --- */

Test(channel, a_filter_keeps_other_processes_output_out_and_nothing_else)
{
	struct process *processes[4];
	struct viewer viewer = {0}, none = {0};
	for (size_t i = 0; i < 4; i++)
		processes[i] = house_start(&house, (struct process_options){0}, NULL);
	for (size_t i = 0; i < 40; i++)
		write_line(processes[i % 4], "x");
	const uint32_t wanted[] = {2, 4, 77};
	viewer_attach(&viewer, &house,
	              (struct channel_options){.has_after = true, .processes = wanted, .process_count = 3});
	viewer_attach(&none, &house, (struct channel_options){.has_after = true, .processes = wanted});
	for (size_t i = 0; i < 4; i++)
		actor_is_over(&house, house_actor(&house, processes[i]), EXIT_STATUS(0));
	viewer_read_all(&viewer);
	viewer_read_all(&none);
	viewer_expect(&viewer, 1, STREAM_STDOUT, "");
	viewer_expect(&viewer, 2, STREAM_STDOUT, "xxxxxxxxxx");
	viewer_expect(&viewer, 3, STREAM_STDOUT, "");
	viewer_expect(&viewer, 4, STREAM_STDOUT, "xxxxxxxxxx");
	cr_expect_eq(viewer_count(&none, FRAME_OUTPUT), 0);
	const struct viewer *both[] = {&viewer, &none};
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(viewer_count(both[i], FRAME_STARTED), 4);
		cr_expect_eq(viewer_count(both[i], FRAME_EXITED), 4);
		cr_expect_eq(viewer_count(both[i], FRAME_LIVE), 1);
	}
	viewer_close(&viewer);
	viewer_close(&none);
}

/* The replay can be all of it filtered out: LIVE comes all the same, and at once. */
Test(channel, live_comes_although_the_filter_left_nothing)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true});
	make_history(process, 5);
	uint64_t after = journal_last_seq(house.session->journal);
	make_history(process, 50);
	viewer_close(&viewer);
	const uint32_t other = 9;
	viewer_attach(&viewer, &house,
	              (struct channel_options){.has_after = true, .after = after, .processes = &other, .process_count = 1});
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_OUTPUT), 0);
	cr_expect_eq(viewer_count(&viewer, FRAME_LIVE), 1);
	viewer_close(&viewer);
}

/* --- credit --- */

static size_t event_bytes(const struct viewer *viewer, size_t *largest_last)
{
	size_t sum = 0;
	for (size_t i = 0; i < viewer->frame_count; i++) {
		struct seen seen = viewer_frame(viewer, i);
		if (seen.kind >= FRAME_GAP)
			continue;
		sum += seen.length;
		*largest_last = seen.length;
	}
	return sum;
}

Test(channel, credit_is_exact)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	make_history(process, 300);
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true, .has_credit = true, .credit = 0});
	cr_expect_eq(viewer_read_all(&viewer), 0, "no credit, nothing");
	cr_expect_not(channel_has_more(viewer.channel));
	uint64_t credit = 0, whole = journal_tail(house.session->journal) - journal_head(house.session->journal);
	for (uint64_t step = 1; credit < whole; step = step * 3 % 1009) {
		channel_credit(viewer.channel, credit += step);
		channel_credit(viewer.channel, credit / 2); /* a lower number is ignored */
		viewer_read_all(&viewer);
		size_t last = 0, sent = event_bytes(&viewer, &last);
		cr_assert(sent >= credit || sent == whole, "%zu sent, credit %llu", sent, (unsigned long long)credit);
		cr_assert_lt(sent - last, credit, "a frame was sent without credit");
		cr_assert(sent < credit || !channel_has_more(viewer.channel) || sent == whole);
		cr_assert_eq(viewer.channel->sent, sent);
	}
	cr_expect_eq(viewer_count(&viewer, FRAME_LIVE), 1, "it costs no credit");
	viewer_close(&viewer);
}

Test(channel, credit_that_comes_later_counts_from_the_beginning)
{
	struct viewer viewer = {0};
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	viewer_attach(&viewer, &house, (struct channel_options){.has_after = true});
	make_history(process, 50);
	viewer_read_all(&viewer);
	uint64_t sent = viewer.channel->sent;
	channel_credit(viewer.channel, sent); /* used up already */
	viewer_forget(&viewer);
	make_history(process, 3);
	cr_expect_eq(viewer_read_all(&viewer), 0);
	channel_ack(viewer.channel, 1, 5);
	cr_expect(channel_has_more(viewer.channel));
	cr_expect_eq(viewer_read_all(&viewer), 1, "frames made for the channel cost nothing");
	channel_credit(viewer.channel, sent + 1);
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_OUTPUT), 1);
	viewer_close(&viewer);
}

/* --- several viewers --- */

static uint8_t *message_of(struct viewer *viewer, size_t *length)
{
	const uint8_t *message = channel_next(viewer->channel, CHANNEL_MESSAGE, length);
	if (!message)
		return NULL;
	uint8_t *copy = malloc(*length);
	memcpy(copy, message, *length);
	return copy;
}

Test(channel, viewers_at_the_same_place_get_the_same_bytes)
{
	struct viewer viewers[5] = {0}, other = {0};
	viewer_attach(&other, &house, (struct channel_options){0});
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	for (size_t i = 0; i < 5; i++) {
		viewer_attach(&viewers[i], &house, (struct channel_options){0});
		for (size_t k = 0; k <= i; k++)
			viewer_read_all(&viewers[k]);
	}
	for (unsigned round = 0; round < 200; round++) {
		make_history(process, 1 + round % 3);
		size_t lengths[5];
		uint8_t *messages[5];
		for (size_t i = 0; i < 5; i++) {
			uint8_t prefix[CHANNEL_PREFIX_BYTES];
			messages[i] = message_of(&viewers[i], &lengths[i]);
			cr_assert_not_null(messages[i]);
			channel_prefix_write(prefix, viewers[i].channel->number);
			cr_assert_eq(memcmp(messages[i], prefix, sizeof prefix), 0, "the own channel's number");
			cr_assert_eq(lengths[i], lengths[0]);
			cr_assert_eq(memcmp(messages[i] + sizeof prefix, messages[0] + sizeof prefix, lengths[0] - sizeof prefix),
			             0);
			if (i == 2 && round % 2 == 0) { /* somebody else's message is put together in between */
				channel_ack(other.channel, 1, 1);
				viewer_read_all(&other);
			}
		}
		for (size_t i = 0; i < 5; i++)
			free(messages[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		cr_expect_eq(viewers[i].channel->at.seq, viewers[0].channel->at.seq);
		cr_expect_not(channel_has_more(viewers[i].channel));
	}
	for (size_t i = 0; i < 5; i++)
		viewer_close(&viewers[i]);
	viewer_close(&other);
}

Test(channel, who_comes_and_goes_is_told_to_the_others)
{
	struct viewer ada = {0}, bob = {0};
	viewer_attach(&ada, &house, (struct channel_options){0});
	viewer_read_all(&ada);
	viewer_forget(&ada);
	viewer_attach(&bob, &house, (struct channel_options){.name = "bob", .role = ROLE_VIEWER, .client_name = "web"});
	uint32_t participant = bob.channel->participant;
	viewer_close(&bob);
	viewer_read_all(&ada);
	static const char *const changes[] = {"joined", "left"};
	cr_assert_eq(ada.frame_count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct seen seen = viewer_frame(&ada, i);
		cr_expect(seen.kind == FRAME_PARTICIPANT && field_uint(&seen) == participant);
		cr_expect(map_is(seen.fields, "change", changes[i]) && map_is(seen.fields, "name", "bob"));
		cr_expect(map_is(seen.fields, "role", "viewer") && map_is(seen.fields, "client", "web"));
	}
	viewer_attach(&bob, &house, (struct channel_options){0});
	cr_expect_eq(bob.channel->participant, participant + 1, "a number is never used again");
	viewer_close(&bob);
	viewer_close(&ada);
}

/* --- frames made for one channel --- */

Test(channel, errors_and_acknowledgements_say_what_they_must)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	viewer_read_all(&viewer);
	viewer_forget(&viewer);
	channel_ack(viewer.channel, 3, 77);
	channel_error(viewer.channel, 3, CODE_STDIN_GAP, "why", "expected", 12);
	channel_error(viewer.channel, 0, CODE_UNKNOWN_KIND, "what", NULL, 0);
	viewer_read_all(&viewer);
	cr_assert_eq(viewer.frame_count, 3);
	struct seen ack = viewer_frame(&viewer, 0), gap = viewer_frame(&viewer, 1), kind = viewer_frame(&viewer, 2);
	cr_expect(ack.kind == FRAME_STDIN_ACK && field_uint(&ack) == 3 && field_uint(&ack) == 77);
	struct view text;
	cr_expect(gap.kind == FRAME_ERROR && field_uint(&gap) == 3);
	cr_expect(reader_str(&gap.fields, &text) && view_equals(text, "stdin_gap"));
	cr_expect(reader_str(&gap.fields, &text) && view_equals(text, "why") && map_uint(gap.fields, "expected") == 12);
	cr_expect(kind.kind == FRAME_ERROR && field_uint(&kind) == 0);
	cr_expect(reader_skip(&kind.fields) && reader_skip(&kind.fields) && map_count(kind.fields) == 0);
	viewer_close(&viewer);
}

/* A client that provokes errors and never reads them costs a bounded amount of memory, and the connection lives. */
Test(channel, what_waits_for_one_channel_is_bounded)
{
	struct viewer viewer = {0};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	for (uint32_t i = 0; i < 200000; i++) {
		channel_error(viewer.channel, i, CODE_NO_STDIN, "a text that is as long as those that the server tells", NULL,
		              0);
		channel_ack(viewer.channel, i, i);
	}
	cr_expect_leq(viewer.channel->own.length, CHANNEL_OWN_BYTES);
	cr_expect_leq(viewer.channel->own.capacity, CHANNEL_OWN_BYTES);
	size_t length;
	cr_expect_not_null(channel_next(viewer.channel, CHANNEL_MESSAGE, &length));
	viewer_read_all(&viewer);
	cr_expect_eq(viewer_count(&viewer, FRAME_LIVE), 1);
	viewer_close(&viewer);
}
