/* What a session uses: measured while somebody looks, and told when a limit is nearly reached. */
#include "viewer.h"

#include <criterion/criterion.h>
#include <string.h>

static struct house house;
static struct viewer viewer;

static void open_house(void)
{
	memset(&viewer, 0, sizeof viewer);
	house_open(&house, 0);
}

static void close_house(void)
{
	viewer_close(&viewer);
	house_close(&house);
}

TestSuite(meter, .init = open_house, .fini = close_house);

static struct reader newest(struct writer *writer)
{
	writer_reset(writer);
	meter_write(writer, &house.session->meter);
	return reader_over(writer->data, writer->length);
}

Test(meter, it_is_measured_while_somebody_looks)
{
	struct meter *meter = &house.session->meter;
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	cr_expect(house.sandbox->measures == 0 && !ev_is_active(&meter->timer), "nobody is there");
	viewer_attach(&viewer, &house, (struct channel_options){0});
	cr_expect_eq(house.sandbox->measures, 1);
	house_fire(&house, &meter->timer);
	cr_expect_eq(house.sandbox->measures, 1, "one question at a time");
	house_measured(&house, 1 << 20, 1);
	house_fire(&house, &meter->timer);
	cr_expect_eq(house.sandbox->measures, 2);
	house_measured(&house, 1 << 20, 1);
	meter_refresh(meter);
	cr_expect_eq(house.sandbox->measures, 2, "what is known is fresh");
	actor_is_over(&house, house_actor(&house, process), EXIT_STATUS(0));
	house_fire(&house, &meter->timer);
	cr_expect(house.sandbox->measures == 3 && ev_is_active(&meter->timer), "it may have left somebody behind");
	house_measured(&house, 1 << 20, 0);
	house_fire(&house, &meter->timer);
	cr_expect(house.sandbox->measures == 3 && !ev_is_active(&meter->timer), "nothing runs");
}

Test(meter, what_a_process_left_behind_is_looked_at)
{
	struct meter *meter = &house.session->meter;
	struct process *process = house_start(&house, (struct process_options){0}, NULL);
	actor_is_over(&house, house_actor(&house, process), EXIT_STATUS(0));
	viewer_attach(&viewer, &house, (struct channel_options){0});
	cr_expect_eq(house.sandbox->measures, 1);
	house_measured(&house, 1 << 20, 3);
	for (unsigned i = 2; i < 5; i++) {
		cr_expect(ev_is_active(&meter->timer), "three of them run");
		house_fire(&house, &meter->timer);
		cr_expect_eq(house.sandbox->measures, i);
		house_measured(&house, 1 << 20, 3);
	}
	house_fire(&house, &meter->timer);
	house_measured(&house, 1 << 20, 0);
	house_fire(&house, &meter->timer);
	cr_expect(house.sandbox->measures == 5 && !ev_is_active(&meter->timer), "they are gone");
}

Test(meter, what_is_not_known_is_nil)
{
	struct writer writer;
	writer_init(&writer, 1000);
	struct reader nothing = newest(&writer);
	cr_expect_eq(reader_type(&nothing), VALUE_NIL, "it was never measured");
	viewer_attach(&viewer, &house, (struct channel_options){0});
	house_measured(&house, 12345, 7);
	struct reader map = newest(&writer);
	cr_expect(map_uint(map, "memory_bytes") == 12345 && map_uint(map, "processes") == 7 && map_uint(map, "at_us") > 0);
	cr_expect(map_is_nil(map, "cpu_ms") && map_is_nil(map, "workspace_bytes"));
	cr_expect(map_is_nil(map_map(map, "pressure"), "io"));
	writer_finish(&writer);
}

/* 90 percent of 512 are 461, 80 are 410. What cannot be measured says nothing. */
Test(meter, a_limit_that_is_nearly_reached_is_told_once)
{
	static const struct {
		uint64_t tasks;
		size_t events;
		uint32_t near;
	} steps[] = {{460, 0, 0},        {461, 1, 1}, {512, 1, 1}, {420, 1, 1},
	             {UINT64_MAX, 1, 1}, {409, 2, 0}, {420, 2, 0}, {470, 3, 1}};
	viewer_attach(&viewer, &house, (struct channel_options){0});
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		house_measured(&house, 0, steps[i].tasks);
		viewer_read_all(&viewer);
		cr_assert_eq(viewer_count(&viewer, FRAME_USAGE), steps[i].events, "step %zu", i);
		struct seen seen;
		uint32_t near = 0;
		for (size_t at = 0; viewer_find(&viewer, FRAME_USAGE, &at, &seen);)
			map_array(seen.fields, "near_limits", &near);
		cr_assert_eq(near, steps[i].near, "step %zu", i);
	}
}

struct waiter {
	struct meter_watch watch;
	unsigned told;
};

static void on_measured(struct meter_watch *watch, struct session *session)
{
	cr_assert_eq(session, house.session);
	((struct waiter *)watch)->told++;
}

/* Nobody waits for ever: not for a driver that does not answer, when the session ends. */
Test(meter, who_asks_is_told)
{
	struct waiter first = {.watch.measured = on_measured}, second = first, late = first;
	meter_ask(&house.session->meter, &first.watch);
	meter_ask(&house.session->meter, &second.watch);
	cr_expect(house.sandbox->measures == 1 && first.told + second.told == 0);
	house_measured(&house, 1, 1);
	cr_expect(first.told == 1 && second.told == 1);
	meter_ask(&house.session->meter, &first.watch);
	session_end(house.session, "ended", NULL);
	cr_expect_eq(first.told, 2);
	meter_ask(&house.session->meter, &late.watch);
	cr_expect_eq(late.told, 1, "at once");
	house_destroyed(&house);
}
