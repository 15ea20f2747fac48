#include "meter.h"

#include "session.h"

#include <stddef.h>
#include <string.h>

static const ev_tstamp period_s = 3.;
static const uint64_t fresh_us = 1000000;
enum { NEARLY = 90, NOT_ANY_MORE = 80 /* percent of a limit */ };

/* What is told when it is nearly used up, under the name of its limit. */
static const struct row {
	const char *name;
	size_t used;  /* in struct sandbox_usage */
	size_t limit; /* in struct sandbox_limits */
	bool is_wide; /* the limit: 64 bits, else 32 */
} rows[] = {
	{"memory", offsetof(struct sandbox_usage, memory), offsetof(struct sandbox_limits, memory), true},
	{"processes", offsetof(struct sandbox_usage, tasks), offsetof(struct sandbox_limits, processes), false},
	{"workspace", offsetof(struct sandbox_usage, workspace), offsetof(struct sandbox_limits, workspace), true},
	{"inodes", offsetof(struct sandbox_usage, inodes), offsetof(struct sandbox_limits, inodes), false},
};

/* The maps on the wire. */
struct key {
	const char *name;
	size_t offset;
	uint64_t divisor;
};

static const struct key keys[] = {
	{"cpu_ms", offsetof(struct sandbox_usage, cpu_us), 1000},
	{"memory_bytes", offsetof(struct sandbox_usage, memory), 1},
	{"memory_peak_bytes", offsetof(struct sandbox_usage, memory_peak), 1},
	{"processes", offsetof(struct sandbox_usage, tasks), 1},
	{"workspace_bytes", offsetof(struct sandbox_usage, workspace), 1},
	{"inodes", offsetof(struct sandbox_usage, inodes), 1},
};
static const struct key pressures[] = {
	{"cpu", offsetof(struct sandbox_usage, cpu_pressure), 1},
	{"memory", offsetof(struct sandbox_usage, memory_pressure), 1},
	{"io", offsetof(struct sandbox_usage, io_pressure), 1},
};

enum {
	ROWS = sizeof rows / sizeof *rows,
	KEYS = sizeof keys / sizeof *keys,
	PRESSURES = sizeof pressures / sizeof *pressures
};

static uint64_t used_of(const struct sandbox_usage *usage, size_t offset)
{
	uint64_t value;
	memcpy(&value, (const char *)usage + offset, sizeof value);
	return value;
}

static uint64_t limit_of(const struct sandbox_limits *limits, const struct row *row)
{
	uint64_t wide;
	uint32_t narrow;
	const char *at = (const char *)limits + row->limit;
	if (row->is_wide)
		return memcpy(&wide, at, sizeof wide), wide;
	return memcpy(&narrow, at, sizeof narrow), narrow;
}

/* --- the wire ------------------------------------------------------------------------------------------------- */

static void write_keys(struct writer *writer, const struct key *key, size_t count, const struct sandbox_usage *usage)
{
	for (; count > 0; count--, key++) {
		uint64_t value = used_of(usage, key->offset);
		writer_str(writer, key->name);
		if (value == UINT64_MAX)
			writer_nil(writer);
		else
			writer_uint(writer, value / key->divisor);
	}
}

static void write_fields(struct writer *writer, const struct meter *meter)
{
	write_keys(writer, keys, KEYS, &meter->newest);
	writer_str(writer, "pressure");
	writer_map(writer, PRESSURES);
	write_keys(writer, pressures, PRESSURES, &meter->newest);
	writer_str(writer, "near_limits");
	writer_array(writer, (uint32_t)__builtin_popcount(meter->near));
	for (size_t i = 0; i < ROWS; i++)
		if (meter->near & 1u << i)
			writer_str(writer, rows[i].name);
}

void meter_write(struct writer *writer, const struct meter *meter)
{
	if (meter->newest_us == 0) {
		writer_nil(writer);
		return;
	}
	writer_map(writer, KEYS + 3);
	writer_key_uint(writer, "at_us", meter->newest_us);
	write_fields(writer, meter);
}

/* --- measuring ------------------------------------------------------------------------------------------------ */

static bool can_measure(const struct meter *meter)
{
	return meter->session->state == SESSION_RUNNING && meter->session->sandbox;
}

static void measure(struct meter *meter)
{
	if (meter->is_open || !can_measure(meter))
		return;
	meter->is_open = true;
	meter->is_changed = false;
	meter->session->home->driver->measure(meter->session->sandbox);
}

/* Children live on when the process that was started has exited. */
static bool may_run(const struct meter *meter)
{
	uint64_t tasks = meter->newest.tasks;
	return meter->session->running_count > 0 || meter->is_changed || (tasks > 0 && tasks != UINT64_MAX);
}

static bool is_looked_at(const struct meter *meter)
{
	return can_measure(meter) && may_run(meter) && !LIST_EMPTY(&meter->session->channels);
}

static void look_on(struct meter *meter)
{
	if (is_looked_at(meter) && !ev_is_active(&meter->timer))
		ev_timer_again(meter->session->home->loop, &meter->timer);
}

static void on_period(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	struct meter *meter = timer->data;
	if (is_looked_at(meter))
		measure(meter);
	else
		ev_timer_stop(loop, timer);
}

void meter_init(struct meter *meter, struct session *session)
{
	*meter = (struct meter){.session = session};
	ev_timer_init(&meter->timer, on_period, period_s, period_s);
	meter->timer.data = meter;
	LIST_INIT(&meter->watches);
}

void meter_restore(struct meter *meter)
{
	meter->near = *records_near(meter->session->records) & ((1u << ROWS) - 1);
}

static void tell(struct meter *meter)
{
	struct meter_watch *watch;
	while ((watch = LIST_FIRST(&meter->watches))) {
		LIST_REMOVE(watch, link);
		watch->measured(watch, meter->session);
	}
}

void meter_stop(struct meter *meter)
{
	ev_timer_stop(meter->session->home->loop, &meter->timer);
	meter->is_open = false;
	tell(meter);
}

void meter_wake(struct meter *meter)
{
	meter->is_changed = true;
	if (LIST_EMPTY(&meter->session->channels))
		return;
	meter_refresh(meter);
	look_on(meter);
}

static bool is_fresh(const struct meter *meter)
{
	return meter->newest_us > 0 && journal_now_us(meter->session->journal) - meter->newest_us < fresh_us;
}

void meter_refresh(struct meter *meter)
{
	if (can_measure(meter) && !is_fresh(meter))
		measure(meter);
}

void meter_ask(struct meter *meter, struct meter_watch *watch)
{
	if (!can_measure(meter)) {
		watch->measured(watch, meter->session);
		return;
	}
	LIST_INSERT_HEAD(&meter->watches, watch, link);
	measure(meter);
}

/* What could not be measured is as it was. */
static uint32_t near_now(const struct meter *meter)
{
	uint32_t near = 0;
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t used = used_of(&meter->newest, rows[i].used), limit = limit_of(&meter->session->limits, &rows[i]);
		uint64_t percent = meter->near & 1u << i ? NOT_ANY_MORE : NEARLY;
		bool is_near = used == UINT64_MAX ? meter->near & 1u << i : used * 100 >= limit * percent;
		near |= (uint32_t)is_near << i;
	}
	return near;
}

void meter_took(struct meter *meter, const struct sandbox_usage *usage)
{
	meter->is_open = false;
	meter->newest = *usage;
	meter->newest_us = journal_now_us(meter->session->journal);
	uint32_t near = near_now(meter);
	if (near != meter->near && meter->session->state == SESSION_RUNNING) {
		meter->near = near;
		struct writer *event = session_event_begin(meter->session, FRAME_USAGE, 1);
		writer_map(event, KEYS + 2);
		write_fields(event, meter);
		session_event_commit(meter->session);
		*records_near(meter->session->records) = near;
	}
	look_on(meter);
	tell(meter);
}
