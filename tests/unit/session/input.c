/* What clients type, once and in order: offsets, windows, acknowledgements, and a process that does not read. */
#include "tests/unit/protocol/random.h"
#include "viewer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { WINDOW = LIMIT_STDIN_WINDOW, PIPE = 65536 };

static struct house house;
static struct viewer viewers[3]; /* of the clients below */
static const struct input_sender ada = {"ada", 1}, bob = {"bob", 2};

static void set_up(void)
{
	house_open(&house, 4 << 20);
	const struct input_sender *const senders[] = {&ada, &bob, &ada};
	for (size_t i = 0; i < 3; i++) {
		struct channel_options options = {.name = "typist"};
		memcpy(options.client, senders[i]->client, sizeof options.client);
		viewer_attach(&viewers[i], &house, options);
	}
}

static void tear_down(void)
{
	for (size_t i = 0; i < 3; i++)
		viewer_close(&viewers[i]);
	house_close(&house);
}
TestSuite(input, .init = set_up, .fini = tear_down);

static struct actor *begin(bool terminal, struct process **process)
{
	*process = house_start(
		&house, (struct process_options){.wants_stdin = true, .terminal = terminal, .cols = 80, .rows = 24}, NULL);
	return house_actor(&house, *process);
}

static struct input_result take(struct process *process, const struct input_sender *sender, uint64_t offset,
                                const char *text)
{
	return input_take(&process->input, sender, offset, (const uint8_t *)text, strlen(text));
}

static void expect_taken(struct process *process, const struct input_sender *sender, uint64_t offset, const char *text)
{
	struct input_result result = take(process, sender, offset, text);
	cr_assert_eq(result.code, ERROR_CODE_NONE, "%s", error_code_name(result.code));
}

static void expect_read(struct actor *actor, const char *text)
{
	char bytes[4096];
	size_t length = actor_read(actor->in, bytes, sizeof bytes);
	cr_expect(length == strlen(text) && memcmp(bytes, text, length) == 0, "`%.*s`, wanted `%s`", (int)length, bytes,
	          text);
}

static void fetch_all(void)
{
	for (size_t i = 0; i < 3; i++)
		viewer_read_all(&viewers[i]);
}

/* The offset that the viewer was last told for the process. */
static uint64_t last_ack(const struct viewer *viewer, uint32_t process)
{
	struct seen seen;
	uint64_t offset = UINT64_MAX;
	for (size_t at = 0; viewer_find(viewer, FRAME_STDIN_ACK, &at, &seen);)
		if (field_uint(&seen) == process)
			offset = field_uint(&seen);
	return offset;
}

/* --- offsets --- */

Test(input, is_written_in_order_and_acknowledged_to_its_sender)
{
	struct process *process;
	struct actor *actor = begin(false, &process);
	expect_taken(process, &ada, 0, "hello ");
	expect_taken(process, &ada, 6, "world");
	expect_read(actor, "hello world");
	fetch_all();
	cr_expect(last_ack(&viewers[0], 1) == 11 && last_ack(&viewers[2], 1) == 11, "on each of its channels");
	cr_expect_eq(viewer_count(&viewers[1], FRAME_STDIN_ACK), 0, "and on nobody else's");
	cr_expect(input_accepted(&process->input, ada.client) == 11 && input_accepted(&process->input, bob.client) == 0);
}

Test(input, what_is_sent_again_is_dropped_and_acknowledged_again)
{
	struct process *process;
	struct actor *actor = begin(false, &process);
	expect_taken(process, &ada, 0, "abcdef");
	expect_read(actor, "abcdef");
	fetch_all();
	static const struct {
		uint64_t offset;
		const char *text, *arrives;
		uint64_t accepted;
	} rows[] = {
		{0, "abcdef", "", 6}, {0, "abc", "", 6},        {3, "def", "", 6}, {5, "f", "", 6},   {6, "", "", 6},
		{0, "", "", 6},       {0, "abcdefgh", "gh", 8}, {7, "hi", "i", 9}, {9, "j", "j", 10},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		viewer_forget(&viewers[0]);
		expect_taken(process, &ada, rows[i].offset, rows[i].text);
		expect_read(actor, rows[i].arrives);
		fetch_all();
		cr_expect_eq(last_ack(&viewers[0], 1), rows[i].accepted, "row %zu", i);
	}
}

Test(input, above_what_was_taken_is_a_gap)
{
	struct process *process;
	struct actor *actor = begin(false, &process);
	struct input_result result = take(process, &ada, 1, "x");
	cr_expect(result.code == CODE_STDIN_GAP && result.offset == 0);
	expect_taken(process, &ada, 0, "abc");
	result = take(process, &ada, 4, "e");
	cr_expect(result.code == CODE_STDIN_GAP && result.offset == 3, "expected is told");
	result = input_take_end(&process->input, &ada, 4);
	cr_expect(result.code == CODE_STDIN_GAP && result.offset == 3);
	result = take(process, &ada, WIRE_INTEGER_MAX, "x");
	cr_expect(result.code == CODE_STDIN_GAP);
	expect_taken(process, &ada, 3, "d");
	expect_read(actor, "abcd");
}

/* The gateway that it is told by may die before the client has heard it, and so may the next one. */
Test(input, a_doubt_is_told_until_more_is_sent)
{
	struct process *process;
	struct actor *actor = begin(false, &process);
	struct journal_stdin_slot *slot = journal_stdin(house.session->journal, ada.client, process->number, true);
	slot->accepted = 4;
	slot->intent = 3; /* as a write leaves it behind that was under way */
	uint64_t from = 0, to = 0;
	for (int attached = 0; attached < 2; attached++)
		cr_expect(input_unknown(&process->input, ada.client, &from, &to) && from == 4 && to == 7);
	cr_expect(input_accepted(&process->input, ada.client) == 7 && input_taken(&process->input, ada.client) == 7);
	cr_expect(slot->accepted == 4 && slot->intent == 3, "another gateway would tell the same");
	expect_taken(process, &ada, 7, "more");
	expect_read(actor, "more");
	cr_expect_not(input_unknown(&process->input, ada.client, &from, &to));
	cr_expect(slot->accepted == 11 && slot->intent == 0);
}

/* --- the window --- */

Test(input, the_window_is_what_is_taken_and_not_yet_written)
{
	static uint8_t bytes[3 * WINDOW];
	struct process *process;
	struct actor *actor = begin(false, &process);
	struct random random = {.state = 8};
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&random);
	struct input_result result = input_take(&process->input, &ada, 0, bytes, sizeof bytes);
	uint64_t written = input_accepted(&process->input, ada.client);
	cr_expect(result.code == CODE_STDIN_WINDOW && result.offset == WINDOW, "%llu", (unsigned long long)result.offset);
	cr_expect(written > 0 && written <= PIPE && input_queued(&process->input) == WINDOW - written);
	result = input_take(&process->input, &ada, WINDOW, bytes + WINDOW, sizeof bytes - WINDOW);
	cr_expect(result.code == CODE_STDIN_WINDOW && result.offset == WINDOW + written, "what was written made room");
	result = input_take(&process->input, &ada, WINDOW + written, bytes, 1);
	cr_expect(result.code == CODE_STDIN_WINDOW && result.offset == WINDOW + written, "and not a byte more is taken");
	uint64_t taken = result.offset, got = 0;
	static uint8_t read_bytes[sizeof bytes];
	for (int i = 0; i < 100000 && got < sizeof bytes; i++) {
		got += actor_read(actor->in, read_bytes + got, 1 + random_below(&random, 30000));
		house_turn(&house);
		result = input_take(&process->input, &ada, taken, bytes + taken, sizeof bytes - taken);
		taken = taken < sizeof bytes ? result.offset : taken;
		cr_assert_leq(taken - input_accepted(&process->input, ada.client), WINDOW);
	}
	cr_expect_eq(got, sizeof bytes);
	cr_expect_eq(memcmp(read_bytes, bytes, sizeof bytes), 0);
	fetch_all();
	cr_expect_eq(last_ack(&viewers[0], 1), sizeof bytes);
}

/* Each client has a window of its own: one that fills its own does not shut out the other. */
Test(input, a_window_is_one_clients)
{
	static uint8_t bytes[WINDOW + PIPE + 1];
	struct process *process;
	begin(false, &process);
	input_take(&process->input, &ada, 0, bytes, sizeof bytes);
	expect_taken(process, &bob, 0, "me too");
	cr_expect_eq(input_accepted(&process->input, bob.client), 0, "queued behind");
}

/* --- several clients --- */

/* Two clients send messages of random length to a process that reads a little now and then: none is ever torn. */
Test(input, messages_are_never_interleaved)
{
	enum { MESSAGES = 400, LONGEST = 20000 };
	static uint8_t message[LONGEST + 8], got[2 * MESSAGES * (LONGEST + 8)];
	struct process *process;
	struct actor *actor = begin(false, &process);
	struct random random = {.state = 31};
	const struct input_sender *const senders[] = {&ada, &bob};
	uint64_t offsets[2] = {0}, total = 0, have = 0;
	for (unsigned i = 0; i < MESSAGES; i++) {
		size_t who = random_below(&random, 2), length = 5 + random_below(&random, LONGEST);
		memset(message, (int)('a' + who), length);
		memcpy(message, &(uint32_t){(uint32_t)length}, 4); /* a message begins with its length */
		struct input_result result = input_take(&process->input, senders[who], offsets[who], message, length);
		while (result.code == CODE_STDIN_WINDOW) { /* a message that the window cuts is the client's to go on with */
			size_t taken = (size_t)(result.offset - offsets[who]);
			have += actor_read(actor->in, got + have, 100000);
			house_turn(&house);
			result = input_take(&process->input, senders[who], offsets[who] + taken, message + taken, length - taken);
		}
		cr_assert_eq(result.code, ERROR_CODE_NONE);
		offsets[who] += length;
		total += length;
		have += actor_read(actor->in, got + have, random_below(&random, 15000));
		house_turn(&house);
	}
	for (int i = 0; i < 1000 && have < total; i++, house_turn(&house))
		have += actor_read(actor->in, got + have, sizeof got - have);
	cr_assert_eq(have, total);
	for (size_t at = 0; at < have;) {
		uint32_t length;
		memcpy(&length, got + at, 4);
		cr_assert(length >= 5 && length <= have - at, "torn at %zu", at);
		for (uint32_t i = 4; i < length; i++)
			cr_assert_eq(got[at + i], got[at + 4], "torn at %zu", at);
		at += length;
	}
	cr_expect(input_accepted(&process->input, ada.client) == offsets[0]);
	cr_expect(input_accepted(&process->input, bob.client) == offsets[1]);
}

Test(input, who_typed_is_summed_up_and_what_was_typed_is_not_told)
{
	struct process *process;
	begin(false, &process);
	expect_taken(process, &ada, 0, "secret");
	expect_taken(process, &ada, 6, "secret");
	fetch_all();
	cr_expect_eq(viewer_count(&viewers[1], FRAME_INPUT), 0, "within a second it is one event");
	expect_taken(process, &bob, 0, "xy");
	viewer_read_all(&viewers[1]);
	struct seen told = viewer_only(&viewers[1], FRAME_INPUT);
	cr_expect(field_uint(&told) == ada.participant && field_uint(&told) == 1 && field_uint(&told) == 12);
	house_fire(&house, &process->input.note);
	viewer_forget(&viewers[1]);
	viewer_read_all(&viewers[1]);
	told = viewer_only(&viewers[1], FRAME_INPUT);
	cr_expect(field_uint(&told) == bob.participant && field_uint(&told) == 1 && field_uint(&told) == 2);
	for (size_t at = 0; at + 6 <= viewers[1].length; at++)
		cr_expect_neq(memcmp(viewers[1].bytes + at, "secret", 6), 0);
}

Test(input, sixty_four_clients_and_not_one_more)
{
	struct process *process;
	begin(false, &process);
	struct input_sender sender = {.participant = 9};
	for (unsigned i = 0; i <= JOURNAL_STDIN_SLOTS; i++) {
		sender.client[0] = (uint8_t)(i + 1);
		struct input_result result = take(process, &sender, 0, "x");
		cr_expect_eq(result.code, i < JOURNAL_STDIN_SLOTS ? ERROR_CODE_NONE : CODE_LIMIT, "client %u", i);
	}
	cr_expect_eq(input_take_end(&process->input, &sender, 0).code, CODE_LIMIT);
}

/* --- the end --- */

Test(input, its_end_closes_the_pipe_behind_what_was_sent)
{
	static uint8_t bytes[200000], got[sizeof bytes + 1];
	struct process *process;
	struct actor *actor = begin(false, &process);
	cr_assert_eq(input_take(&process->input, &ada, 0, bytes, sizeof bytes).code, ERROR_CODE_NONE);
	cr_assert_eq(input_take_end(&process->input, &ada, sizeof bytes).code, ERROR_CODE_NONE);
	cr_expect_eq(input_take_end(&process->input, &ada, sizeof bytes).code, ERROR_CODE_NONE, "sent again after a cut");
	cr_expect_eq(take(process, &ada, sizeof bytes, "more").code, CODE_STDIN_CLOSED);
	cr_expect_eq(take(process, &bob, 0, "more").code, CODE_STDIN_CLOSED);
	cr_expect_eq(actor->stdin_closes, 0, "not before all is written");
	size_t have = 0;
	for (int i = 0; i < 100 && have < sizeof bytes; i++, house_turn(&house))
		have += actor_read(actor->in, got + have, sizeof got - have);
	cr_expect_eq(have, sizeof bytes);
	house_turn(&house);
	cr_expect_eq(actor->stdin_closes, 1, "the sandbox's own copy, too");
	cr_expect_eq(read(actor->in, got, 1), 0, "the process sees the end");
	cr_expect_eq(input_take_end(&process->input, &ada, sizeof bytes).code, ERROR_CODE_NONE);
	cr_expect_eq(take(process, &ada, sizeof bytes, "more").code, CODE_STDIN_CLOSED);
	viewer_forget(&viewers[0]);
	cr_expect_eq(take(process, &ada, 0, "again").code, ERROR_CODE_NONE, "what was taken is acknowledged also now");
	fetch_all();
	cr_expect_eq(last_ack(&viewers[0], 1), sizeof bytes);
	cr_expect_eq(actor->stdin_closes, 1);
}

Test(input, without_stdin_or_after_the_end_it_is_refused)
{
	struct process *without = house_start(&house, (struct process_options){0}, NULL), *with;
	cr_expect_eq(take(without, &ada, 0, "x").code, CODE_NO_STDIN);
	cr_expect_eq(input_take_end(&without->input, &ada, 0).code, CODE_NO_STDIN);
	struct actor *actor = begin(false, &with);
	expect_taken(with, &ada, 0, "x");
	actor_is_over(&house, actor, EXIT_STATUS(0));
	cr_expect_eq(take(with, &ada, 1, "y").code, CODE_PROCESS_EXITED);
	cr_expect_eq(take(with, &bob, 0, "y").code, CODE_PROCESS_EXITED);
	cr_expect_eq(take(with, &ada, 0, "x").code, CODE_PROCESS_EXITED, "its offsets are kept no longer than it");
	cr_expect_eq(input_take_end(&with->input, &ada, 1).code, CODE_PROCESS_EXITED);
}

/* The process closed its stdin with bytes under way: who sent them hears from where on they were not delivered. */
Test(input, a_closed_stdin_tells_whose_bytes_were_lost)
{
	static uint8_t bytes[3 * PIPE];
	struct process *process;
	struct actor *actor = begin(false, &process);
	expect_taken(process, &bob, 0, "all of it arrives");
	cr_assert_eq(input_take(&process->input, &ada, 0, bytes, sizeof bytes).code, ERROR_CODE_NONE);
	uint64_t accepted = input_accepted(&process->input, ada.client);
	signal(SIGPIPE, SIG_IGN);
	close(actor->in);
	actor->in = -1;
	house_turn(&house);
	fetch_all();
	struct seen error = viewer_only(&viewers[0], FRAME_ERROR);
	struct view code;
	cr_expect(field_uint(&error) == 1 && reader_str(&error.fields, &code) && view_equals(code, "stdin_closed"));
	reader_skip(&error.fields);
	cr_expect_eq(map_uint(error.fields, "accepted"), accepted);
	cr_expect_eq(viewer_count(&viewers[1], FRAME_ERROR), 0, "all of bob's was written");
	cr_expect_eq(last_ack(&viewers[0], 1), accepted);
	cr_expect_eq(take(process, &ada, sizeof bytes, "more").code, CODE_STDIN_CLOSED);
	cr_expect_eq(process->state, PROCESS_RUNNING);
}

Test(input, a_dead_reader_is_noticed_at_the_first_write)
{
	struct process *process;
	struct actor *actor = begin(false, &process);
	signal(SIGPIPE, SIG_IGN);
	close(actor->in);
	actor->in = -1;
	take(process, &ada, 0, "x");
	house_turn(&house);
	fetch_all();
	viewer_only(&viewers[0], FRAME_ERROR);
	cr_expect_eq(input_accepted(&process->input, ada.client), 0);
}

/* What came with the request is the whole input, and nobody's. */
Test(input, the_first_input_is_sent_with_its_end)
{
	static const char text[] = "from the request";
	struct process_options options = {
		.wants_stdin = true, .input = (const uint8_t *)text, .input_length = sizeof text - 1};
	struct process *process = house_start(&house, options, NULL);
	struct actor *actor = house_actor(&house, process);
	expect_read(actor, text);
	char byte;
	cr_expect_eq(read(actor->in, &byte, 1), 0);
	cr_expect(actor->stdin_closes == 1 && take(process, &ada, 0, "x").code == CODE_STDIN_CLOSED);
	options.input_length = 0;
	process = house_start(&house, options, NULL);
	cr_expect_eq(read(house_actor(&house, process)->in, &byte, 1), 0, "an empty input has an end as well");
}

/* It is nobody's, so that it needs none of the journal's places, which clients may have taken. */
Test(input, the_first_input_finds_room_where_no_client_does)
{
	struct process *crowded;
	begin(false, &crowded);
	struct input_sender sender = {.participant = 9};
	for (unsigned i = 0; i < JOURNAL_STDIN_SLOTS; i++) {
		sender.client[0] = (uint8_t)(i + 1);
		expect_taken(crowded, &sender, 0, "x");
	}
	static uint8_t bytes[WINDOW], got[WINDOW + 1];
	memset(bytes, 'z', sizeof bytes);
	struct process *process = house_start(
		&house, (struct process_options){.wants_stdin = true, .input = bytes, .input_length = WINDOW}, NULL);
	const struct actor *actor = house_actor(&house, process);
	size_t have = 0;
	for (int i = 0; i < 1000 && actor->stdin_closes == 0; i++, house_turn(&house))
		have += actor_read(actor->in, got + have, sizeof got - have);
	have += actor_read(actor->in, got + have, sizeof got - have);
	cr_expect(have == WINDOW && memcmp(got, bytes, WINDOW) == 0, "%zu bytes", have);
	cr_expect(actor->stdin_closes == 1 && read(actor->in, got, 1) == 0);
}

/* The terminal's answers go before what waits to be written, that which came with the request, too. */
Test(input, an_answer_does_not_wait_behind_the_first_input)
{
	static uint8_t bytes[100000];
	memset(bytes, 'z', sizeof bytes);
	const struct process_options options = {
		.terminal = true, .cols = 80, .rows = 24, .input = bytes, .input_length = sizeof bytes};
	struct process *process = house_start(&house, options, NULL);
	struct actor *actor = house_actor(&house, process);
	cr_assert_gt(input_queued(&process->input), INPUT_ANSWERS);
	input_answer(&process->input, "answer", 6);
	char got[4096];
	size_t last = 0, total = 0;
	for (int turns = 0; turns < 20000 && total < sizeof bytes + 6; turns++, house_turn(&house)) {
		size_t have = actor_read(actor->out, got, sizeof got);
		for (size_t i = 0; i < have; i++)
			last = got[i] == 'r' ? total + i : last;
		total += have;
	}
	cr_expect(total >= sizeof bytes + 6 && last >= sizeof bytes,
	          "it stands inside of no message, and this one was begun: %zu", last);
}

/* The journal has room for 64 offsets: those of processes that ended must not use it up. */
Test(input, ended_processes_leave_their_offsets_to_others)
{
	for (int i = 0; i < 3 * JOURNAL_STDIN_SLOTS; i++) {
		struct process *process;
		struct actor *actor = begin(false, &process);
		expect_taken(process, &ada, 0, "x");
		expect_taken(process, &bob, 0, "y");
		expect_read(actor, "xy");
		actor_is_over(&house, actor, EXIT_STATUS(0));
	}
}

/* --- terminals --- */

/* Whether anything that SENDER sent was written: INPUT tells, when the next one's is written or a second has passed. */
static bool has_typed(struct process *process, const struct input_sender *sender)
{
	struct seen seen;
	viewer_read_all(&viewers[1]);
	for (size_t at = 0; viewer_find(&viewers[1], FRAME_INPUT, &at, &seen);)
		if (field_uint(&seen) == sender->participant && field_uint(&seen) == process->number)
			return true;
	return process->input.noted_bytes > 0 && process->input.noted_participant == sender->participant;
}

static void set_mode(struct actor *actor, tcflag_t local, cc_t interrupt)
{
	struct termios mode;
	cr_assert_eq(tcgetattr(actor->out, &mode), 0);
	mode.c_lflag = local;
	mode.c_cc[VINTR] = interrupt;
	mode.c_cc[VQUIT] = 28;
	mode.c_cc[VSUSP] = 26;
	mode.c_cc[VEOF] = 5;
	cr_assert_eq(tcsetattr(actor->out, TCSANOW, &mode), 0);
}

/* Fill what a terminal that nobody reads takes; what is left is queued. Returns how much was sent. */
static uint64_t fill(struct process *process)
{
	static uint8_t bytes[100000];
	memset(bytes, 'x', sizeof bytes);
	cr_assert_eq(input_take(&process->input, &ada, 0, bytes, sizeof bytes).code, ERROR_CODE_NONE);
	cr_assert_gt(input_queued(&process->input), 0);
	return sizeof bytes;
}

Test(input, a_terminal_gets_its_end_of_file_character)
{
	struct process *process;
	struct actor *actor = begin(true, &process);
	set_mode(actor, 0, 3);
	expect_taken(process, &ada, 0, "ab");
	cr_assert_eq(input_take_end(&process->input, &ada, 2).code, ERROR_CODE_NONE);
	expect_taken(process, &ada, 2, "cd");
	cr_assert_eq(input_take_end(&process->input, &ada, 4).code, ERROR_CODE_NONE);
	char got[16];
	size_t have = 0;
	for (int i = 0; i < 200 && have < 6; i++, usleep(1000))
		have += actor_read(actor->out, got + have, sizeof got - have);
	cr_expect(have == 6 && memcmp(got, "ab\005cd\005", 6) == 0, "%zu bytes", have);
	house_fire(&house, &process->input.ack); /* a terminal's waits for the echo */
	fetch_all();
	cr_expect_eq(last_ack(&viewers[0], 1), 4, "the character is in nobody's offset");
	cr_expect_eq(actor->stdin_closes, 0);
}

/* How many bytes a terminal's program gets when ada sends EOF at offset 2 to the next gateway. */
static size_t send_end_again(struct process *process, const struct actor *actor)
{
	struct input next; /* as another gateway has it, which knows what stands in the journal */
	char got[16];
	size_t have = 0;
	input_init(&next, process);
	input_open(&next, process->input.fd, true);
	cr_expect_eq(input_take_end(&next, &ada, 2).code, ERROR_CODE_NONE);
	cr_expect_eq(input_take(&next, &ada, 2, (const uint8_t *)"c", 1).code, ERROR_CODE_NONE);
	cr_expect_eq(input_take_end(&next, &ada, 3).code, ERROR_CODE_NONE);
	for (int i = 0; i < 20; i++, usleep(1000))
		have += actor_read(actor->out, got + have, sizeof got - have);
	cr_expect(have >= 2 && memcmp(got + have - 2, "c\005", 2) == 0, "at another offset it is another");
	input_close(&next);
	input_finish(&next);
	return have - 2;
}

/* A client that lost its gateway sends EOF again: what it ended is over, and the next to read would end of it, too. */
Test(input, a_terminals_end_counts_once_over_a_change_of_gateway)
{
	for (int is_written = 0; is_written < 2; is_written++) {
		struct process *process;
		struct actor *actor = begin(true, &process);
		set_mode(actor, 0, 3);
		expect_taken(process, &ada, 0, "ab");
		if (is_written)
			cr_assert_eq(input_take_end(&process->input, &ada, 2).code, ERROR_CODE_NONE);
		char got[4];
		size_t have = 0, wanted = is_written ? 3 : 2;
		for (int i = 0; i < 200 && have < wanted; i++, usleep(1000))
			have += actor_read(actor->out, got + have, sizeof got - have);
		cr_assert_eq(have, wanted);
		cr_expect_eq(send_end_again(process, actor), is_written ? 0 : 1);
	}
}

/* One that waited behind what the program did not read was not written: it is when it is sent again. */
Test(input, an_end_that_was_not_written_is_not_remembered)
{
	struct process *process;
	begin(true, &process);
	uint64_t sent = fill(process);
	cr_assert_eq(input_take_end(&process->input, &ada, sent).code, ERROR_CODE_NONE);
	struct journal *journal = house.session->journal;
	cr_expect_eq(*journal_stdin_end(journal, journal_stdin(journal, ada.client, process->number, false)), 0);
}

/* Where the terminal would make a signal of it, the interrupt character does not wait behind a paste. */
Test(input, a_signal_character_overtakes)
{
	static const struct {
		tcflag_t local;
		const char *text;
		bool overtakes;
	} rows[] = {
		{ISIG, "\003", true},  {ISIG, "\034", true},          {ISIG, "\032", true},      {ISIG, "a", false},
		{ISIG, "\005", false}, {ISIG, "\003a", false},        {ISIG, "\003\003", false}, {0, "\003", false},
		{0, "\032", false},    {ISIG | NOFLSH, "\003", true},
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process *process;
		struct actor *actor = begin(true, &process);
		set_mode(actor, rows[i].local, 3);
		uint64_t sent = fill(process);
		uint64_t queued = input_queued(&process->input);
		struct input_result result = take(process, &bob, 0, rows[i].text);
		cr_assert_eq(result.code, ERROR_CODE_NONE);
		/* Until the terminal takes something it cannot be written either; then it is the first. */
		tcflush(actor->out, TCIFLUSH);
		for (int turns = 0; turns < 200 && input_queued(&process->input) >= queued + strlen(rows[i].text); turns++) {
			house_turn(&house);
			usleep(500);
		}
		cr_expect_eq(has_typed(process, &bob), rows[i].overtakes, "row %u", i);
		cr_expect_eq(input_accepted(&process->input, bob.client), 0, "its offset is accepted in its turn");
		cr_expect_lt(input_accepted(&process->input, ada.client), sent);
		uint8_t got[4096];
		for (int turns = 0; turns < 2000 && input_accepted(&process->input, bob.client) < strlen(rows[i].text);
		     turns++) {
			actor_read(actor->out, got, sizeof got);
			house_turn(&house);
			usleep(100);
		}
		cr_expect_eq(input_accepted(&process->input, ada.client), sent);
		cr_expect_eq(input_accepted(&process->input, bob.client), strlen(rows[i].text), "row %u", i);
	}
}

/* The characters are the terminal's own: a program that moved interrupt elsewhere gets ^C in order. */
Test(input, the_terminals_own_characters_count)
{
	struct process *process;
	struct actor *actor = begin(true, &process);
	set_mode(actor, ISIG, 'q');
	fill(process);
	expect_taken(process, &bob, 0, "\003");
	struct input_sender carol = {"carol", 3};
	expect_taken(process, &carol, 0, "q");
	tcflush(actor->out, TCIFLUSH);
	for (int turns = 0; turns < 200 && !has_typed(process, &carol); turns++) {
		house_turn(&house);
		usleep(500);
	}
	cr_expect(has_typed(process, &carol) && !has_typed(process, &bob));
}
