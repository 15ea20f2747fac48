/* A shared terminal: whose window gives its size, how a storm becomes few, its screen in the journal, its answers. */
#include "server/session/checkpoint.h"
#include "viewer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static struct house house;
static struct viewer viewers[3];
static struct process *process;
static struct actor *actor;

static void set_up(void)
{
	house_open(&house, 0);
	process = house_start(&house, (struct process_options){.terminal = true, .cols = 80, .rows = 24}, NULL);
	actor = house_actor(&house, process);
	for (size_t i = 0; i < 3; i++)
		viewer_attach(
			&viewers[i], &house,
			(struct channel_options){.role = i == 2 ? ROLE_VIEWER : ROLE_EDITOR, .client = {(uint8_t)(i + 1)}});
}

static void tear_down(void)
{
	for (size_t i = 0; i < 3; i++)
		viewer_close(&viewers[i]);
	house_close(&house);
}
TestSuite(sharing, .init = set_up, .fini = tear_down);

static void tell(size_t who, uint16_t cols, uint16_t rows)
{
	windows_tell(&process->sharing.windows, viewers[who].channel, (struct window){cols, rows});
}

static void expect_size(uint16_t cols, uint16_t rows)
{
	struct winsize size;
	cr_assert_eq(ioctl(actor->out, TIOCGWINSZ, &size), 0);
	cr_assert(size.ws_col == cols && size.ws_row == rows, "%ux%u, not %ux%u", size.ws_col, size.ws_row, cols, rows);
	cr_assert(process->cols == cols && process->rows == rows);
}

static void pause_over(void)
{
	house_fire(&house, &process->sharing.windows.pause);
}

static void rest(void)
{
	while (ev_is_active(&process->sharing.windows.pause))
		pause_over();
}

static void set(enum input_mode input, enum size_policy size)
{
	const struct sharing_changes changes = {.input = &input, .size = &size, .fixed = {50, 10}};
	sharing_set(&process->sharing, &changes, 0);
	rest();
}

/* PROTOCOL.md §3.5. The three have 100×30, 60×40 and, as a viewer, 10×10. */
Test(sharing, the_policy_chooses_the_size)
{
	static const struct {
		enum size_policy policy;
		uint32_t driver; /* 1 + index; 0: nobody */
		uint16_t cols, rows;
	} rows[] = {
		{SIZE_DRIVER, 0, 100, 30},  {SIZE_DRIVER, 2, 60, 40}, {SIZE_SMALLEST, 0, 60, 30},
		{SIZE_LARGEST, 0, 100, 40}, {SIZE_FIXED, 1, 50, 10},  {SIZE_DRIVER, 1, 100, 30},
	};
	tell(0, 100, 30);
	tell(1, 60, 40);
	tell(2, 10, 10); /* the gate would not let it come so far */
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].driver)
			sharing_drive(&process->sharing, viewers[rows[i].driver - 1].channel, "taken", 0);
		else if (process->sharing.driver)
			sharing_release(&process->sharing, process->sharing.driver);
		set(INPUT_OPEN, rows[i].policy);
		expect_size(rows[i].cols, rows[i].rows);
	}
	set(INPUT_OPEN, SIZE_SMALLEST);
	viewer_close(&viewers[1]);
	rest();
	expect_size(100, 30);
	viewer_close(&viewers[0]);
	rest();
	expect_size(100, 30); /* nobody counts any more: it stays */
}

Test(sharing, a_storm_is_few_changes_and_the_last_one_holds)
{
	for (uint16_t i = 0; i < 1000; i++)
		tell(0, (uint16_t)(50 + i % 100), 20);
	expect_size(50, 20); /* the first at once, all others wait */
	pause_over();
	expect_size(149, 20);
	pause_over();
	cr_expect_not(ev_is_active(&process->sharing.windows.pause));
	tell(0, 149, 20);
	cr_expect_not(ev_is_active(&process->sharing.windows.pause), "the same size again is no change");
}

Test(sharing, there_and_back_goes_the_way_round)
{
	tell(0, 100, 30);
	tell(0, 101, 31);
	tell(0, 100, 30);
	expect_size(100, 30);
	pause_over();
	expect_size(101, 31);
	pause_over();
	expect_size(100, 30);
	pause_over();
	cr_expect_not(ev_is_active(&process->sharing.windows.pause));
}

Test(sharing, a_driver_who_is_lost_is_away_and_comes_back)
{
	set(INPUT_DRIVER, SIZE_DRIVER);
	struct sharing *sharing = &process->sharing;
	sharing_drive(sharing, viewers[0].channel, "taken", 0);
	uint32_t first = sharing->driver, second = viewers[1].channel->participant;
	cr_expect(sharing_lets_type(sharing, first) && !sharing_lets_type(sharing, second));
	viewer_close(&viewers[0]);
	cr_expect(sharing->is_away && sharing->driver == first && !sharing_lets_type(sharing, second));
	viewer_attach(&viewers[0], &house, (struct channel_options){.role = ROLE_VIEWER, .client = {1}});
	cr_expect(sharing->is_away, "a viewer does not drive");
	viewer_close(&viewers[0]);
	viewer_attach(&viewers[0], &house, (struct channel_options){.role = ROLE_EDITOR, .client = {1}});
	cr_expect(!sharing->is_away && sharing->driver == viewers[0].channel->participant && sharing->driver != first);
	viewers[0].channel->has_left = true;
	viewer_close(&viewers[0]);
	cr_expect_eq(sharing->driver, 0U, "who leaves on purpose gives it up");
	sharing_drive(sharing, viewers[1].channel, "taken", 0);
	viewer_close(&viewers[1]);
	house_fire(&house, &sharing->away);
	cr_expect(!sharing->is_away && sharing->driver == 0);
}

/* --- its screen ------------------------------------------------------------------------------------------------- */

static void draw(const char *text)
{
	house_produce(&house, process, actor->out, text, strlen(text));
}

static uint8_t *screen_of(size_t *length)
{
	const uint8_t *screen = display_screen(&process->display, length);
	uint8_t *copy = malloc(*length);
	cr_assert(screen && copy);
	memcpy(copy, screen, *length);
	return copy;
}

static uint64_t newest_checkpoint(void)
{
	const struct journal *journal = house.session->journal;
	uint64_t newest = 0;
	for (uint64_t at = journal_head(journal); at < journal_tail(journal);) {
		size_t length;
		uint32_t kind;
		uint64_t seq, t_us;
		const uint8_t *frame = journal_frame(journal, at, &length);
		if (event_head_read(frame, length, &kind, &seq, &t_us) && kind == FRAME_CHECKPOINT)
			newest = at;
		at += length;
	}
	return newest;
}

/* Whatever pushes the ring on, an idle terminal's screen is never further back than a quarter of it. */
Test(sharing, a_checkpoint_stands_in_every_quarter_of_the_ring)
{
	draw("\x1b[5;5Hdrawn once");
	struct process *flood = house_start(&house, (struct process_options){0}, NULL);
	char block[8192];
	memset(block, 'x', sizeof block);
	uint64_t ring = journal_ring(house.session->journal);
	for (uint64_t written = 0; written < 3 * ring; written += sizeof block) {
		house_produce(&house, flood, house_actor(&house, flood)->out, block, sizeof block);
		uint64_t tail = journal_tail(house.session->journal);
		if (tail > ring)
			cr_assert_leq(tail - newest_checkpoint(), ring / 4);
	}
}

/* As a later gateway does: from the journal alone, the same screen. */
Test(sharing, a_screen_is_made_again_from_the_journal)
{
	char line[256], text[8192] = "";
	for (int turn = 0; turn < 120; turn++) {
		snprintf(line, sizeof line, "\x1b[%d;%dH\x1b[3%dmturn %d \xe2\x94\x80\xe2\x94\x80", turn % 24 + 1, turn % 60,
		         turn % 8, turn);
		memset(text, '\r', 6000);
		snprintf(text + 6000, sizeof text - 6000, "%s", line);
		draw(text);
		if (turn == 70)
			tell(0, 90, 30);
	}
	draw("\x1b[?1049h\x1b[?2004hon the other screen\x1b[31"); /* in the middle of a sequence */
	size_t before_length, after_length;
	uint8_t *before = screen_of(&before_length);
	cr_assert_gt(newest_checkpoint(), 0UL);
	display_close(&process->display);
	checkpoints_restore(house.session);
	uint8_t *after = screen_of(&after_length);
	cr_expect(before_length == after_length && memcmp(before, after, before_length) == 0, "%zu, then %zu bytes",
	          before_length, after_length);
	cr_expect_eq(process->display.offset, process->sources[0].offset);
	free(before);
	free(after);
}

Test(sharing, without_a_checkpoint_it_begins_with_the_start)
{
	tell(0, 40, 12);
	rest();
	draw("small");
	size_t before_length, after_length;
	uint8_t *before = screen_of(&before_length);
	display_close(&process->display);
	checkpoints_restore(house.session);
	uint8_t *after = screen_of(&after_length);
	cr_expect(before_length == after_length && memcmp(before, after, before_length) == 0);
	free(before);
	free(after);
}

Test(sharing, terminals_that_are_too_many_have_no_screen)
{
	struct process *large[3];
	for (size_t i = 0; i < 3; i++)
		large[i] = house_start(&house, (struct process_options){.terminal = true, .cols = 1000, .rows = 500}, NULL);
	cr_expect(large[0]->display.terminal && large[1]->display.terminal && !large[2]->display.terminal);
	actor_is_over(&house, house_actor(&house, large[0]), EXIT_STATUS(0));
	cr_expect_null(large[0]->display.terminal);
	struct process *next = house_start(&house, (struct process_options){.terminal = true, .cols = 1000, .rows = 500},
	                                   NULL);
	cr_expect_not_null(next->display.terminal, "what has gone makes room");
}

/* The larger the screen, the more a byte can cost, and the fewer are read in a turn. */
Test(sharing, a_large_screen_is_fed_little_at_once)
{
	struct process *large = house_start(&house, (struct process_options){.terminal = true, .cols = 1000, .rows = 500},
	                                    NULL);
	const struct process *piped = house_start(&house, (struct process_options){0}, NULL);
	char resets[1000];
	memset(resets, 0x1b, sizeof resets);
	for (size_t i = 1; i < sizeof resets; i += 2)
		resets[i] = 'c';
	cr_assert_eq(write(house_actor(&house, large)->out, resets, sizeof resets), (ssize_t)sizeof resets);
	for (int turn = 0; turn < 100 && large->output_total == 0; turn++)
		ev_run(house.loop, EVRUN_ONCE);
	cr_expect_eq(large->output_total, DISPLAY_TURN_LEAST);
	cr_expect_eq(display_room(&process->display), DISPLAY_TURN / process->display.cells);
	cr_expect_eq(display_room(&piped->display), JOURNAL_READ);
}

Test(sharing, a_query_is_answered_once_and_not_by_a_replay)
{
	char bytes[256];
	draw("\x1b[3;4H\x1b[6n");
	house_turn(&house);
	size_t length = actor_read(actor->out, bytes, sizeof bytes);
	cr_expect(length == 6 && memcmp(bytes, "\x1b[3;4R", 6) == 0, "%zu bytes", length);
	display_close(&process->display);
	checkpoints_restore(house.session);
	struct viewer late = {0};
	viewer_attach(&late, &house, (struct channel_options){.has_after = true});
	viewer_read_all(&late);
	house_turn(&house);
	cr_expect_eq(actor_read(actor->out, bytes, sizeof bytes), 0UL);
	viewer_close(&late);
}

/* A joiner gets the screen as it is, and then what comes. */
Test(sharing, a_screen_and_what_follows_are_the_whole)
{
	draw("before ");
	struct viewer late = {0};
	viewer_attach(&late, &house, (struct channel_options){0});
	draw("after");
	viewer_read_all(&late);
	struct seen screen = viewer_only(&late, FRAME_SCREEN), output = viewer_only(&late, FRAME_OUTPUT);
	struct view bytes;
	cr_expect_eq(field_uint(&screen), process->number);
	cr_expect_eq(field_uint(&screen), 80UL);
	cr_expect_eq(field_uint(&screen), 24UL);
	cr_assert(reader_bin(&screen.fields, &bytes));
	cr_expect_not_null(memmem(bytes.data, bytes.length, "before", 6));
	cr_expect_eq(field_uint(&screen), 7UL);
	cr_expect_eq(output.output.offset, 7UL);
	viewer_close(&late);
}

/* Many may watch, and each was sent a screen once: what it took is not kept for each of them. */
Test(sharing, what_a_screen_took_is_given_back)
{
	for (int line = 0; line < 300; line++)
		draw("a line that stands in the scrollback\r\n");
	struct viewer late = {0};
	viewer_attach(&late, &house, (struct channel_options){0});
	cr_assert_gt(late.channel->own.capacity, 8192UL);
	viewer_read_all(&late);
	viewer_only(&late, FRAME_SCREEN);
	cr_expect_leq(late.channel->own.capacity, 1024UL);
	viewer_close(&late);
}
