#include "crowd.h"

#include "clients/c/decode.h"
#include "clients/c/sharing.h"
#include "escape.h"
#include "query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TYPING_MS = 1500 };

/* ---- What the wire tells ---- */

static struct person *find(struct crowd *crowd, uint32_t number)
{
	for (size_t i = 0; i < crowd->count; i++)
		if (crowd->people[i].number == number)
			return &crowd->people[i];
	return NULL;
}

/* One more; of too many the oldest go. */
static struct person *add(struct crowd *crowd, uint32_t number)
{
	struct person *person = find(crowd, number);

	if (person)
		return person;
	if (crowd->count == CROWD_MOST)
		memmove(crowd->people, crowd->people + 1, --crowd->count * sizeof(crowd->people[0]));
	person = &crowd->people[crowd->count++];
	*person = (struct person){.number = number};
	return person;
}

static void drop(struct crowd *crowd, uint32_t number)
{
	struct person *person = find(crowd, number);

	if (!person)
		return;
	size_t behind = crowd->count - (size_t)(person - crowd->people) - 1;
	memmove(person, person + 1, behind * sizeof(*person));
	crowd->count--;
}

static void read_people(struct crowd *crowd, const struct reader *map)
{
	struct reader rows = query_field(map, "participants"), row;

	crowd->count = 0;
	while (query_next(&rows, &row)) {
		struct person *person = add(crowd, (uint32_t)query_number(&row, "participant"));
		decode_text(person->name, sizeof(person->name), query_text(&row, "name"));
		decode_text(person->role, sizeof(person->role), query_text(&row, "role"));
	}
}

static void read_terminal(struct crowd *crowd, const struct reader *row)
{
	struct sandbar_driver *driver = &crowd->driver;
	struct reader requests = query_field(row, "requests"), one;

	*driver = (struct sandbar_driver){.process = crowd->process, .driver = (uint32_t)query_number(row, "driver")};
	driver->away = query_truth(row, "away");
	decode_text(driver->input, sizeof(driver->input), query_text(row, "input"));
	decode_text(driver->size, sizeof(driver->size), query_text(row, "size"));
	while (query_next(&requests, &one) && driver->request_count < SANDBAR_REQUESTS)
		if (sharing_u32(&one, &driver->requests[driver->request_count]))
			driver->request_count++;
}

bool crowd_begin(struct crowd *crowd, const struct reader *map)
{
	struct reader rows = query_field(map, "terminals"), row;
	bool is_there = false;

	if (!query_is_nil(map, "participant"))
		crowd->me = (uint32_t)query_number(map, "participant");
	read_people(crowd, map);
	while (query_next(&rows, &row)) {
		if (query_number(&row, "process") != crowd->process)
			continue;
		read_terminal(crowd, &row);
		is_there = true;
	}
	return is_there;
}

void crowd_participant(struct crowd *crowd, const struct sandbar_participant *participant)
{
	if (strcmp(participant->change, "left") == 0 || strcmp(participant->change, "removed") == 0) {
		drop(crowd, participant->participant);
		return;
	}
	struct person *person = add(crowd, participant->participant);
	if (participant->name[0])
		strcpy(person->name, participant->name);
	strcpy(person->role, participant->role);
}

void crowd_driver(struct crowd *crowd, const struct sandbar_driver *driver)
{
	if (driver->process == crowd->process)
		crowd->driver = *driver;
}

void crowd_typing(struct crowd *crowd, uint32_t participant, int64_t now_ms)
{
	struct person *person = find(crowd, participant);

	if (person)
		person->typed_ms = now_ms;
}

/* ---- What follows from it ---- */

const struct person *crowd_find(const struct crowd *crowd, uint32_t number)
{
	return find((struct crowd *)crowd, number);
}

bool crowd_may_edit(const struct crowd *crowd)
{
	const struct person *me = crowd_find(crowd, crowd->me);

	return !me || strcmp(me->role, "viewer") != 0;
}

bool crowd_may_type(const struct crowd *crowd)
{
	bool is_driven = strcmp(crowd->driver.input, "driver") == 0;

	return crowd_may_edit(crowd) && (!is_driven || crowd_drives(crowd, crowd->me));
}

bool crowd_drives(const struct crowd *crowd, uint32_t number)
{
	return number != 0 && crowd->driver.driver == number;
}

bool crowd_asks(const struct crowd *crowd, uint32_t number)
{
	for (uint32_t i = 0; i < crowd->driver.request_count; i++)
		if (crowd->driver.requests[i] == number)
			return true;
	return false;
}

/* ---- In words ---- */

static void print_name(FILE *out, const struct crowd *crowd, uint32_t number)
{
	const struct person *person = crowd_find(crowd, number);

	if (number == crowd->me)
		fputs("you", out);
	else if (person)
		escape_print(out, person->name, strlen(person->name));
	else
		fprintf(out, "participant %" PRIu32, number);
}

static void print_driver(FILE *out, const struct crowd *crowd)
{
	const struct sandbar_driver *driver = &crowd->driver;

	if (driver->driver) {
		print_name(out, crowd, driver->driver);
		fputs(driver->driver == crowd->me ? " drive" : " drives", out);
		fputs(driver->away ? " (away)" : "", out);
	} else {
		fputs(strcmp(driver->input, "driver") == 0 ? "nobody drives" : "everybody types", out);
	}
	for (uint32_t i = 0; i < driver->request_count && i < 2; i++) {
		fputs(" · ", out);
		print_name(out, crowd, driver->requests[i]);
		fputs(driver->requests[i] == crowd->me ? " ask" : " asks", out);
	}
}

static void print_typing(FILE *out, const struct crowd *crowd, int64_t now_ms)
{
	for (size_t i = 0; i < crowd->count; i++) {
		const struct person *person = &crowd->people[i];
		if (!person->typed_ms || now_ms - person->typed_ms > TYPING_MS)
			continue;
		fputs(" · ", out);
		print_name(out, crowd, person->number);
		fputs(" types", out);
		return;
	}
}

void crowd_line(const struct crowd *crowd, int64_t now_ms, char line[CROWD_LINE_BYTES])
{
	const struct person *me = crowd_find(crowd, crowd->me);
	FILE *out = fmemopen(line, CROWD_LINE_BYTES, "w");

	if (!out)
		abort();
	print_driver(out, crowd);
	print_typing(out, crowd, now_ms);
	fprintf(out, " · %zu here", crowd->count);
	if (me)
		fprintf(out, " · you: %s", me->role);
	fclose(out);
	line[CROWD_LINE_BYTES - 1] = '\0';
}

void crowd_person_line(const struct crowd *crowd, const struct person *person, char line[CROWD_LINE_BYTES])
{
	FILE *out = fmemopen(line, CROWD_LINE_BYTES, "w");

	if (!out)
		abort();
	fprintf(out, "%" PRIu32 " ", person->number);
	escape_print(out, person->name, strlen(person->name));
	fprintf(out, " (%s%s)", person->number == crowd->me ? "you, " : "", person->role);
	fputs(crowd_drives(crowd, person->number) ? ", drives" : crowd_asks(crowd, person->number) ? ", asks" : "", out);
	fclose(out);
	line[CROWD_LINE_BYTES - 1] = '\0';
}
