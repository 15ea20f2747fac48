#include "clients/c/command/crowd.h"
#include "protocol/writer.h"

#include <criterion/criterion.h>
#include <string.h>

static void write_person(struct writer *map, uint32_t number, const char *name, const char *role)
{
	writer_map(map, 3);
	writer_key_uint(map, "participant", number);
	writer_key_str(map, "name", name);
	writer_key_str(map, "role", role);
}

/* An answer of session.attach: anna (1) drives terminal 7, bert (2) asks for it, and we are ME. */
static bool begin(struct crowd *crowd, uint32_t me, const char *input)
{
	struct writer map;

	*crowd = (struct crowd){.process = 7};
	writer_init(&map, 4096);
	writer_map(&map, 3);
	writer_key_uint(&map, "participant", me);
	writer_str(&map, "participants");
	writer_array(&map, 3);
	write_person(&map, 1, "anna", "owner");
	write_person(&map, 2, "bert", "editor");
	write_person(&map, 3, "c\033[2Jarl", "viewer");
	writer_str(&map, "terminals");
	writer_array(&map, 1);
	writer_map(&map, 5);
	writer_key_uint(&map, "process", 7);
	writer_key_str(&map, "input", input);
	writer_key_uint(&map, "driver", 1);
	writer_key_bool(&map, "away", false);
	writer_str(&map, "requests");
	writer_array(&map, 1);
	writer_uint(&map, 2);
	cr_assert_not(map.failed);
	struct reader reader = reader_over(map.data, map.length);
	bool is_there = crowd_begin(crowd, &reader);
	writer_finish(&map);
	return is_there;
}

static const char *line_of(const struct crowd *crowd)
{
	static char line[CROWD_LINE_BYTES];

	crowd_line(crowd, 1000, line);
	return line;
}

Test(crowd, says_who_drives_and_who_asks)
{
	struct crowd crowd;
	char line[CROWD_LINE_BYTES];

	cr_assert(begin(&crowd, 2, "driver"));
	cr_expect_str_eq(line_of(&crowd), "anna drives · you ask · 3 here · you: editor");
	crowd_typing(&crowd, 1, 900);
	cr_expect_str_eq(line_of(&crowd), "anna drives · you ask · anna types · 3 here · you: editor");
	crowd_person_line(&crowd, crowd_find(&crowd, 3), line);
	cr_expect_str_eq(line, "3 c\\e[2Jarl (viewer)", "a name steers nothing");
}

/* Who may type: an editor, and where one drives, that one. */
Test(crowd, says_who_may_type)
{
	static const struct {
		uint32_t me;
		const char *input;
		bool may;
	} cases[] = {{1, "driver", true}, {2, "driver", false}, {3, "driver", false},
	             {1, "open", true},   {2, "open", true},    {3, "open", false}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct crowd crowd;
		begin(&crowd, cases[i].me, cases[i].input);
		cr_expect_eq(crowd_may_type(&crowd), cases[i].may, "case %zu", i);
	}
}

/* What the events tell: a hand-over, a new role, somebody who goes. */
Test(crowd, follows_the_events)
{
	struct crowd crowd;

	begin(&crowd, 2, "driver");
	crowd_driver(&crowd, &(struct sandbar_driver){.process = 7, .driver = 2, .input = "driver"});
	crowd_driver(&crowd, &(struct sandbar_driver){.process = 8, .driver = 3, .input = "driver"});
	cr_expect_str_eq(line_of(&crowd), "you drive · 3 here · you: editor");
	crowd_participant(&crowd, &(struct sandbar_participant){.participant = 2, .change = "role", .role = "viewer"});
	cr_expect_not(crowd_may_type(&crowd));
	crowd_participant(&crowd, &(struct sandbar_participant){.participant = 1, .change = "removed", .role = "owner"});
	cr_expect_str_eq(line_of(&crowd), "you drive · 2 here · you: viewer");
}

/* A session with more people than there is room for: the newest are known. */
Test(crowd, has_so_much_room)
{
	struct crowd crowd = {.process = 7};

	for (uint32_t number = 1; number <= CROWD_MOST + 10; number++)
		crowd_participant(
			&crowd, &(struct sandbar_participant){
						.participant = number, .joined = true, .change = "joined", .name = "x", .role = "viewer"});
	cr_expect_eq(crowd.count, CROWD_MOST);
	cr_expect_null(crowd_find(&crowd, 10));
	cr_expect_not_null(crowd_find(&crowd, CROWD_MOST + 10));
}
