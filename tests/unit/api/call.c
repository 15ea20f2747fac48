/* From a request to its one answer, through a door that only keeps what it is told. */
#include "door.h"
#include "server/api/method.h"
#include "server/guard/gate.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_RIGHTS = RIGHT_READ | RIGHT_RUN | RIGHT_MANAGE | RIGHT_ADMIN | RIGHT_REDEEM };

static struct front front;
static struct writer params;
static const char *session; /* the id of the one that most tests use */

static void set_up(void)
{
	front_open(&front, ALL_RIGHTS);
	writer_init(&params, 1 << 21);
	session = front_session(&front, 0);
	front.house.session = LIST_FIRST(&front.server.sessions.list);
}

static void tear_down(void)
{
	front.house.session = NULL;
	writer_finish(&params);
	front_close(&front);
}
TestSuite(call, .init = set_up, .fini = tear_down);

/* A map of `session` and COUNT more entries that follow. */
static struct writer *of_session(uint32_t more)
{
	writer_reset(&params);
	writer_map(&params, 1 + more);
	writer_key_str(&params, "session", session);
	return &params;
}

static struct writer *of_process(uint64_t process, uint32_t more)
{
	of_session(1 + more);
	writer_key_uint(&params, "process", process);
	return &params;
}

static void write_argv(void)
{
	writer_str(&params, "argv");
	writer_array(&params, 1);
	writer_str(&params, "sh");
}

static struct actor *started(uint32_t id, const char *method)
{
	of_session(1);
	write_argv();
	front_call(&front, id, method, &params);
	struct actor *actor = front.house.sandbox->actors[front.house.sandbox->actor_count - 1];
	actor_started(&front.house, actor);
	return actor;
}

/* --- before a handler --- */

Test(call, a_method_that_there_is_not)
{
	char long_name[301] = "abc";
	for (size_t i = 3; i + 2 < sizeof long_name; i += 2)
		memcpy(long_name + i, "\xc3\xa9", 3); /* cut in the middle of a character it would not be text */
	const char *const names[] = {"",      "x",       "session",     "session.",   "session.creates", "Session.create",
	                             "hello", long_name, long_name + 1, long_name + 2};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
		front_call(&front, i + 1, names[i], NULL);
		front_expect_error(&front, i + 1, "unknown_method");
	}
}

Test(call, without_its_right_every_method_is_forbidden_before_its_parameters_are_read)
{
	uint32_t id = 1;
	writer_map(&params, 1);
	writer_key_uint(&params, "no such parameter", 1);
	for (const struct method *method = methods; method->name; method++) {
		front.caller.principal.rights = ALL_RIGHTS & ~(uint32_t)method->right;
		front_call(&front, id, method->name, &params);
		front_expect_error(&front, id, "forbidden");
		cr_expect(map_is(map_map(front_error(&front, id++), "data"), "right", right_name(method->right)));
		front.caller.principal.rights = method->right;
		front_call(&front, id, method->name, &params);
		front_expect_error(&front, id++, "invalid_params");
	}
	front.server.is_stopping = true;
	for (const struct method *method = methods; method->name; method++, id++) {
		front_call(&front, id, method->name, NULL);
		front_expect_error(&front, id, "unavailable");
	}
	front.server.is_stopping = false;
	cr_expect(LIST_EMPTY(&front.caller.calls));
	cr_expect_eq(front.server.sessions.count, 1);
}

Test(call, a_wrong_parameter_is_named)
{
	writer_map(&params, 1);
	writer_key_uint(&params, "session", 7);
	front_call(&front, 1, "session.info", &params);
	front_expect_error(&front, 1, "invalid_params");
	cr_expect(map_is(map_map(front_error(&front, 1), "data"), "field", "session"));
	of_session(1);
	writer_key_uint(&params, "proces", 1);
	front_call(&front, 2, "process.wait", &params);
	front_expect_error(&front, 2, "invalid_params");
}

Test(call, what_is_not_there_is_not_found_whoever_asks)
{
	static const char *const of_one[] = {"session.info", "session.end", "session.attach", "process.list"};
	static const char *const ids[] = {"", "a", "aaaaaaaaaaaaaaaa", "../../etc/passwd"};
	uint32_t id = 1;
	for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) {
		for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
			writer_reset(&params);
			writer_map(&params, 1);
			writer_key_str(&params, "session", ids[k]);
			front_call(&front, id, of_one[i], &params);
			front_expect_error(&front, id++, "not_found");
		}
		strcpy(front.caller.principal.tenant, "other"); /* another tenant's is as if it were not there */
		front_call(&front, id, of_one[i], of_session(0));
		front_expect_error(&front, id++, "not_found");
		strcpy(front.caller.principal.tenant, "default");
	}
	static const char *const of_process_names[] = {"process.kill", "process.wait"};
	for (size_t i = 0; i < 2; i++) {
		front_call(&front, id, of_process_names[i], of_process(99, 0));
		front_expect_error(&front, id++, "not_found");
	}
}

/* An error is text, whatever it quotes: a key in any script that is cut, a layer's name that is bytes. */
Test(call, what_an_error_quotes_is_text)
{
	char key[401];
	uint32_t id = 1;
	for (size_t before = 0; before < 5; before++) {
		memset(key, 'a', sizeof key - 1);
		for (size_t at = before; at + 4 < 400; at += 4)
			memcpy(key + at, "\xf0\x9f\x98\x80", 5); /* a character of four bytes */
		for (const struct method *method = methods; method->name; method++) {
			writer_reset(&params);
			writer_map(&params, 1);
			writer_key_uint(&params, key, 1);
			front_call(&front, id, method->name, &params);
			front_expect_error(&front, id++, "invalid_params");
		}
	}
	static const char *const bytes[] = {"\xff", "\xe2\x82", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x98"};
	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		writer_reset(&params);
		writer_map(&params, 1);
		writer_str(&params, "require");
		writer_array(&params, 1);
		writer_bin(&params, bytes[i], strlen(bytes[i]));
		front_call(&front, id, "session.create", &params);
		front_expect_error(&front, id++, "invalid_params");
	}
}

/* --- sessions --- */

Test(call, a_session_from_its_making_to_its_end)
{
	struct reader made = front_result(&front, 0);
	cr_expect(map_is(made, "session", session) && map_uint(made, "seq") == 0 && map_count(made) == 2);
	front_call(&front, 1, "session.list", NULL);
	uint32_t count;
	struct reader list = map_array(front_result(&front, 1), "sessions", &count);
	cr_assert_eq(count, 1);
	cr_expect(map_is(list, "session", session) && map_is(list, "name", "") && map_uint(list, "processes") == 0);
	cr_expect(map_uint(list, "participants") == 0 && map_uint(list, "created_us") > 0);
	front_call(&front, 2, "session.info", of_session(0));
	cr_expect_not(front_is_answered(&front, 2), "not before it is known what it uses");
	house_measured(&front.house, 4096, 1);
	struct reader info = front_result(&front, 2);
	cr_expect_eq(map_uint(map_map(info, "usage"), "memory_bytes"), 4096);
	cr_expect(map_uint(map_map(info, "limits"), "memory") == UINT64_C(1) << 30);
	cr_expect(map_uint(map_map(info, "journal"), "first") == 1 && map_uint(map_map(info, "journal"), "last") == 0);
	map_array(info, "layers", &count);
	cr_expect_eq(count, LAYER_COUNT);
	front_call(&front, 3, "session.end", of_session(0));
	cr_expect_not(front_is_answered(&front, 3), "not before nothing of it is left");
	front.house.sandbox->events->destroyed(front.house.session);
	cr_expect_eq(map_count(front_result(&front, 3)), 0);
	front_call(&front, 4, "session.list", NULL);
	map_array(front_result(&front, 4), "sessions", &count);
	cr_expect_eq(count, 0);
	front.house.session = NULL;
}

Test(call, what_a_session_may_use_reaches_the_driver)
{
	writer_map(&params, 4);
	writer_key_str(&params, "name", "n");
	writer_key_uint(&params, "ttl_ms", 3600000);
	writer_str(&params, "limits");
	writer_map(&params, 2);
	writer_key_uint(&params, "memory", 64 << 20);
	writer_key_uint(&params, "processes", 10);
	writer_str(&params, "require");
	writer_array(&params, 1);
	writer_str(&params, "seccomp");
	front_call(&front, 1, "session.create", &params);
	const struct sandbox_spec *spec = &front.house.sandbox->spec;
	cr_expect(spec->limits.memory == 64 << 20 && spec->limits.processes == 10);
	cr_expect_eq(spec->limits.inodes, 100000, "the default");
	cr_expect_eq(spec->required_layers, UINT32_C(1) << LAYER_SECCOMP);
	front.house.sandbox->events->create_failed(LIST_FIRST(&front.server.sessions.list), "unsupported",
	                                           "no seccomp here");
	front_expect_error(&front, 1, "unsupported");
	cr_expect_eq(front.server.sessions.count, 1);
	writer_reset(&params);
	writer_map(&params, 1);
	writer_str(&params, "require");
	writer_array(&params, 1);
	writer_str(&params, "moat");
	front_call(&front, 2, "session.create", &params);
	front_expect_error(&front, 2, "invalid_params");
	front.server.sessions.most = 1;
	front_call(&front, 3, "session.create", NULL);
	front_expect_error(&front, 3, "limit");
}

Test(call, attaching_and_detaching)
{
	front_call(&front, 1, "session.attach", of_session(0));
	struct reader result = front_result(&front, 1);
	cr_expect(map_uint(result, "channel") == 1 && map_uint(result, "participant") == 1 &&
	          map_is(result, "role", "owner"));
	cr_expect(map_uint(result, "first") == 1 && map_uint(result, "last") == 1, "its own joining");
	cr_expect_str_eq(front.channels[0]->name, "ada");
	front.caller.principal.rights = RIGHT_READ;
	of_session(1);
	writer_key_str(&params, "role", "editor");
	front_call(&front, 2, "session.attach", &params);
	front_expect_error(&front, 2, "forbidden");
	of_session(1);
	writer_key_str(&params, "mode", "lossless");
	front_call(&front, 3, "session.attach", &params);
	front_expect_error(&front, 3, "forbidden");
	front.caller.principal.rights = ALL_RIGHTS;
	for (uint32_t id = 4; id < 4 + DOOR_CHANNELS; id++)
		front_call(&front, id, "session.attach", of_session(0));
	front_expect_error(&front, 3 + DOOR_CHANNELS, "limit");
	writer_reset(&params);
	writer_map(&params, 1);
	writer_key_uint(&params, "channel", 2);
	front_call(&front, 20, "session.detach", &params);
	cr_expect_eq(map_count(front_result(&front, 20)), 0);
	front_call(&front, 21, "session.detach", &params);
	front_expect_error(&front, 21, "not_found");
}

/* --- processes --- */

Test(call, a_process_from_its_start_to_its_end)
{
	of_session(1);
	write_argv();
	front_call(&front, 1, "process.start", &params);
	cr_expect_not(front_is_answered(&front, 1));
	struct actor *actor = front.house.sandbox->actors[0];
	front_call(&front, 2, "process.wait", of_process(1, 0));
	front_expect_error(&front, 2, "not_found");
	actor_started(&front.house, actor);
	cr_expect(map_uint(front_result(&front, 1), "process") == 1 && map_uint(front_result(&front, 1), "seq") == 1);
	front_call(&front, 3, "process.wait", of_process(1, 0));
	of_process(1, 1);
	writer_key_str(&params, "signal", "SIGUSR1");
	front_call(&front, 4, "process.signal", &params);
	front_result(&front, 4);
	cr_expect(actor->signal_count == 1 && actor->signals[0].number == SIGUSR1);
	of_process(1, 1);
	writer_key_str(&params, "signal", "USR9");
	front_call(&front, 5, "process.signal", &params);
	front_expect_error(&front, 5, "invalid_params");
	front_call(&front, 6, "process.kill", of_process(1, 0));
	cr_expect(!front_is_answered(&front, 6) && actor->kills == 1);
	actor_is_over(&front.house, actor, SIGKILL);
	cr_expect_not(map_bool(front_result(&front, 6), "already_exited"));
	cr_expect(map_is(front_result(&front, 3), "reason", "killed"));
	front_call(&front, 7, "process.kill", of_process(1, 0));
	cr_expect(map_bool(front_result(&front, 7), "already_exited"));
	front_call(&front, 8, "process.wait", of_process(1, 0));
	cr_expect_eq(map_uint(front_result(&front, 8), "exit_code"), 137);
	of_process(1, 1);
	writer_key_str(&params, "signal", "INT");
	front_call(&front, 9, "process.signal", &params);
	front_expect_error(&front, 9, "process_exited");
}

Test(call, run_collects_what_there_is)
{
	of_session(3);
	write_argv();
	writer_str(&params, "input");
	writer_bin(&params, "to it", 5);
	writer_key_uint(&params, "max_output", 6);
	front_call(&front, 1, "process.run", &params);
	struct actor *actor = front.house.sandbox->actors[0];
	cr_expect(actor->wants_stdin);
	actor_started(&front.house, actor);
	char input[8];
	cr_expect_eq(actor_read(actor->in, input, sizeof input), 5);
	actor_write(actor->out, "stdout", 6);
	actor_write(actor->err, "stderr and more", 15);
	house_turn(&front.house);
	cr_expect_not(front_is_answered(&front, 1));
	actor_is_over(&front.house, actor, EXIT_STATUS(3));
	struct reader result = front_result(&front, 1), value;
	struct view bytes;
	cr_expect(map_uint(result, "process") == 1 && map_uint(map_map(result, "exited"), "exit_code") == 3);
	cr_expect(map_find(result, "stdout", &value) && reader_bin(&value, &bytes) && view_equals(bytes, "stdout"));
	cr_expect(map_find(result, "stderr", &value) && reader_bin(&value, &bytes) && view_equals(bytes, "stderr"));
	cr_expect(map_bool(result, "truncated") && map_is_nil(result, "tty"));
	cr_expect_eq(map_uint(map_map(map_map(result, "exited"), "offsets"), "stderr"), 15);
}

Test(call, a_cancelled_run_ends_its_tree)
{
	struct actor *actor = started(1, "process.run");
	call_cancel(&front.caller, 77); /* not open: ignored */
	call_cancel(&front.caller, 1);
	call_cancel(&front.caller, 1);
	cr_expect(actor->kills == 1 && !front_is_answered(&front, 1) && caller_has_call(&front.caller, 1));
	actor_is_over(&front.house, actor, SIGKILL);
	front_expect_error(&front, 1, "cancelled");
	front_call(&front, 2, "process.wait", of_process(1, 0));
	cr_expect(map_is(front_result(&front, 2), "reason", "cancelled"));
	of_session(1);
	write_argv();
	front_call(&front, 3, "process.run", &params);
	call_cancel(&front.caller, 3); /* before it was started */
	actor = front.house.sandbox->actors[1];
	actor_started(&front.house, actor);
	cr_expect_geq(actor->kills, 1);
	actor_is_over(&front.house, actor, SIGKILL);
	front_expect_error(&front, 3, "cancelled");
}

Test(call, a_cancelled_wait_leaves_the_process_alone)
{
	struct actor *actor = started(1, "process.start");
	front_call(&front, 2, "process.wait", of_process(1, 0));
	front_call(&front, 3, "process.wait", of_process(1, 0));
	call_cancel(&front.caller, 2);
	front_expect_error(&front, 2, "cancelled");
	cr_expect_eq(actor->kills, 0);
	actor_is_over(&front.house, actor, EXIT_STATUS(0));
	cr_expect_eq(map_uint(front_result(&front, 3), "exit_code"), 0);
}

/* The caller goes away with everything open: what was started for it alone ends, the rest goes on, nothing is told. */
Test(call, a_caller_that_leaves_hears_nothing_more)
{
	front_call(&front, 6, "session.info", of_session(0)); /* is measured when it is gone */
	struct actor *kept = started(1, "process.start"), *bound = started(2, "process.run");
	front_call(&front, 3, "process.wait", of_process(1, 0));
	front_call(&front, 4, "process.kill", of_process(2, 0));
	front_call(&front, 5, "session.create", NULL);
	struct session *made = LIST_FIRST(&front.server.sessions.list);
	caller_finish(&front.caller);
	cr_expect(bound->kills >= 1 && kept->kills == 0);
	actor_is_over(&front.house, kept, EXIT_STATUS(0)); /* of the second sandbox's session: the first one's actors */
	cr_expect_not(front_is_answered(&front, 3) || front_is_answered(&front, 4) || front_is_answered(&front, 5) ||
	              front_is_answered(&front, 6));
	cr_expect_eq(made->state, SESSION_CREATING);
}

Test(call, lists_are_cut_into_answers_that_fit)
{
	enum { COUNT = PROCESS_MAPS + 30 };
	for (uint32_t i = 0; i < COUNT; i++) {
		struct actor *actor = started(1, "process.start");
		actor_is_over(&front.house, actor, EXIT_STATUS(0));
		free(front.answers[1].bytes);
		front.answers[1].bytes = NULL;
	}
	uint32_t count;
	front_call(&front, 2, "process.list", of_session(0));
	struct reader maps = map_array(front_result(&front, 2), "processes", &count);
	cr_assert_eq(count, (uint32_t)PROCESS_MAPS);
	cr_expect(map_bool(front_result(&front, 2), "more"));
	for (uint32_t i = 1; i <= count; i++, reader_skip(&maps))
		cr_assert_eq(map_uint(maps, "process"), i);
	of_session(1);
	writer_key_uint(&params, "after", count);
	front_call(&front, 3, "process.list", &params);
	maps = map_array(front_result(&front, 3), "processes", &count);
	cr_expect(count == COUNT - PROCESS_MAPS && map_uint(maps, "process") == PROCESS_MAPS + 1);
	cr_expect_not(map_bool(front_result(&front, 3), "more"));
}

Test(call, the_server_tells_of_itself)
{
	front_call(&front, 1, "server.info", NULL);
	struct reader info = front_result(&front, 1);
	cr_expect(map_uint(info, "sessions") == 1 && map_uint(info, "connections") == 0);
	cr_expect_eq(map_uint(map_map(map_map(info, "queues"), "sessions"), "limit"), 8);
	uint32_t count;
	map_array(info, "layers", &count);
	cr_expect_eq(count, LAYER_COUNT);
}
