/* What the user of `attach` says to it, and what it tells of the others. */
#include "attach.h"

#include "escape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NOTICE_MS = 5000, LINE_MS = 500, TYPED_INTERRUPT = 0x03, TYPED_ESCAPE = 0x1b };

static const char PROMPT[] = "d leave · t take · r ask/release · g hand over · l list · ? help · s send the key";

/* ---- The line ---- */

void attach_notice(struct attachment *attachment, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(attachment->notice, sizeof(attachment->notice), format, arguments);
	va_end(arguments);
	attachment->notice_until_ms = attachment->now_ms + NOTICE_MS;
}

static void put_line(struct attachment *attachment, const char *text)
{
	char line[WINDOW_LINE_BYTES], key[8];

	detach_key_name(&attachment->pump.detach_key, key);
	int length = snprintf(line, sizeof(line), " %s · %s for keys", text, key); /* what is too long is cut */
	window_line(&attachment->window, text[0] && length > 0 ? line : "");
}

int attach_line(struct attachment *attachment)
{
	char line[CROWD_LINE_BYTES];
	int64_t left = attachment->notice_until_ms - attachment->now_ms;

	if (!attachment->is_shown)
		return -1;
	if (attachment->is_prompted) {
		if (!attachment->choice_count)
			window_line(&attachment->window, PROMPT);
		return -1;
	}
	if (left > 0) {
		window_line(&attachment->window, attachment->notice);
		return (int)left;
	}
	if (attachment->context.cut_at_ms) {
		put_line(attachment, "the connection was cut; trying again");
		return -1;
	}
	if (!attachment->window.has_status) {
		put_line(attachment, "");
		return -1;
	}
	crowd_line(&attachment->crowd, attachment->now_ms, line);
	put_line(attachment, line);
	return attachment->channel ? LINE_MS : -1;
}

/* A name that others chose, safe to show. The caller frees it. */
static char *name_of(const struct attachment *attachment, uint32_t number)
{
	const struct person *person = crowd_find(&attachment->crowd, number);
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	if (number == attachment->crowd.me)
		fputs("you", out);
	else if (person)
		escape_print(out, person->name, strlen(person->name));
	else
		fprintf(out, "participant %" PRIu32, number);
	fclose(out);
	return text;
}

static void notice_of(struct attachment *attachment, const char *format, uint32_t number)
{
	char *name = name_of(attachment, number);

	attach_notice(attachment, format, name);
	free(name);
}

/* WHAT was done, and which key behind the user's own does what then: "anna drives: ^] r asks for it". */
static void notice_with_key(struct attachment *attachment, const char *what, uint32_t number, const char *command)
{
	char key[8], *name = name_of(attachment, number);

	detach_key_name(&attachment->pump.detach_key, key);
	attach_notice(attachment, "%s %s: %s %s", number ? name : "nobody", what, key, command);
	free(name);
}

/* ---- What others do ---- */

void attach_driver_changed(struct attachment *attachment, const struct sandbar_driver *driver)
{
	if (driver->process != attachment->process)
		return;
	bool drove = crowd_drives(&attachment->crowd, attachment->crowd.me);
	crowd_driver(&attachment->crowd, driver);
	bool drives = crowd_drives(&attachment->crowd, attachment->crowd.me);
	if (strcmp(driver->change, "requested") == 0 && drives)
		notice_with_key(attachment, "asks to drive", driver->by, "g hands over");
	else if (drives && !drove)
		attach_notice(attachment, "you drive now");
	else if (drove && !drives && driver->driver)
		notice_of(attachment, "%s drives now", driver->driver);
}

void attach_person_changed(struct attachment *attachment, const struct sandbar_participant *participant)
{
	crowd_participant(&attachment->crowd, participant);
	if (strcmp(participant->change, "role") != 0 || participant->participant != attachment->crowd.me)
		return;
	attach_notice(attachment, "you are %s now", participant->role);
	attachment->window.takes_keys = crowd_may_edit(&attachment->crowd);
	attach_tell_size(attachment);
}

void attach_note(struct attachment *attachment, const struct sandbar_note *note)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	escape_print(out, note->by, strlen(note->by));
	fputs(": ", out);
	escape_print(out, note->text, strlen(note->text));
	fclose(out);
	attach_notice(attachment, "%s", text);
	free(text);
}

bool attach_may_type(const uint8_t *bytes, size_t length, void *user)
{
	struct attachment *attachment = user;

	if (crowd_may_type(&attachment->crowd) && !attachment->options->view)
		return true;
	if (!crowd_may_edit(&attachment->crowd) || attachment->options->view) {
		if (memchr(bytes, TYPED_INTERRUPT, length))
			attach_command(DETACH_KEY_LEAVE, attachment);
		attach_notice(attachment, "you are a viewer: ^C leaves");
	} else {
		uint32_t driver = attachment->crowd.driver.driver;
		notice_with_key(attachment, "drives", driver, driver ? "r asks for it" : "t takes it");
	}
	return false;
}

/* ---- The key's commands ---- */

static void on_driven(struct sandbar *sandbar, const struct sandbar_error *error, const void *result, size_t length,
                      void *user)
{
	(void)sandbar, (void)result, (void)length;
	if (error)
		attach_notice(user, "%s", error->message);
}

static void drive(struct attachment *attachment, enum sandbar_drive what, uint32_t participant)
{
	struct sandbar_error error;

	if (!attachment->channel)
		return;
	if (!sandbar_drive(attachment->channel, attachment->process, what, participant, on_driven, attachment, &error))
		attach_notice(attachment, "%s", error.message);
}

static void take(struct attachment *attachment)
{
	drive(attachment, SANDBAR_TAKE, 0);
}

/* One key for both ways: who drives or asks gives it up, who does neither asks. */
static void ask_or_release(struct attachment *attachment)
{
	const struct crowd *crowd = &attachment->crowd;
	bool has_it = crowd_drives(crowd, crowd->me) || crowd_asks(crowd, crowd->me);

	drive(attachment, has_it ? SANDBAR_RELEASE : SANDBAR_REQUEST, 0);
}

static void list_people(struct attachment *attachment)
{
	const struct crowd *crowd = &attachment->crowd;
	static char lines[WINDOW_LIST_MOST][CROWD_LINE_BYTES];
	const char *rows[WINDOW_LIST_MOST];
	size_t count = 0;

	for (size_t i = 0; i < crowd->count && count < WINDOW_LIST_MOST; i++, count++) {
		crowd_person_line(crowd, &crowd->people[i], lines[count]);
		rows[count] = lines[count];
	}
	window_list(&attachment->window, rows, count);
	window_line(&attachment->window, "any key goes on");
	attachment->is_prompted = attachment->pump.detach_key.takes_next = true;
	attachment->choice_count = 1; /* the line stands */
	attachment->choices[0] = 0;
}

static void help(struct attachment *attachment)
{
	static const char *const ROWS[] = {
		" d  leave; what runs goes on (so do . and the key again)",
		" t  take: drive this terminal, if nobody does, or as an owner",
		" r  ask the driver for it; drive no more; take the request back",
		" g  hand over to somebody, first to who asks",
		" l  list who is here",
		" s  send the key itself to the program",
	};

	window_list(&attachment->window, ROWS, sizeof(ROWS) / sizeof(ROWS[0]));
	window_line(&attachment->window, "any key goes on");
	attachment->is_prompted = attachment->pump.detach_key.takes_next = true;
	attachment->choice_count = 1;
	attachment->choices[0] = 0;
}

/* Who may be handed the terminal: who asks, before the others. */
static void gather_choices(struct attachment *attachment)
{
	const struct crowd *crowd = &attachment->crowd;

	attachment->choice_count = 0;
	for (int asks = 1; asks >= 0; asks--)
		for (size_t i = 0; i < crowd->count && attachment->choice_count < ATTACH_CHOICES; i++) {
			const struct person *person = &crowd->people[i];
			bool may = person->number != crowd->me && strcmp(person->role, "viewer") != 0;
			if (may && crowd_asks(crowd, person->number) == (asks == 1))
				attachment->choices[attachment->choice_count++] = person->number;
		}
}

static void offer_choices(struct attachment *attachment)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	fputs("hand over to:", out);
	for (size_t i = 0; i < attachment->choice_count; i++) {
		char *name = name_of(attachment, attachment->choices[i]);
		fprintf(out, " %zu %s", i + 1, name);
		free(name);
	}
	fclose(out);
	window_line(&attachment->window, text);
	free(text);
	attachment->is_prompted = attachment->pump.detach_key.takes_next = true;
}

static void hand_over(struct attachment *attachment)
{
	gather_choices(attachment);
	if (attachment->choice_count == 0)
		attach_notice(attachment, "nobody else here may type");
	else if (attachment->crowd.driver.request_count == 1 || attachment->choice_count == 1)
		drive(attachment, SANDBAR_GRANT, attachment->choices[0]);
	else
		offer_choices(attachment);
}

static void leave(struct attachment *attachment)
{
	attachment->is_detached = true;
	attach_leave(attachment);
}

static const struct {
	char key;
	void (*run)(struct attachment *attachment);
} COMMANDS_OF_KEY[] = {
	{DETACH_KEY_LEAVE, leave}, {'t', take}, {'r', ask_or_release}, {'g', hand_over}, {'l', list_people}, {'?', help},
};

/* An answer to what was offered. */
static void choose(struct attachment *attachment, int typed)
{
	size_t choice = (size_t)(typed - '1');

	window_list(&attachment->window, NULL, 0);
	if (isdigit(typed) && typed > '0' && choice < attachment->choice_count && attachment->choices[choice])
		drive(attachment, SANDBAR_GRANT, attachment->choices[choice]);
	attachment->choice_count = 0;
}

void attach_command(int command, void *user)
{
	struct attachment *attachment = user;
	bool was_offered = attachment->choice_count > 0;

	attachment->notice_until_ms = 0;
	attachment->is_prompted = command == DETACH_KEY_PREFIX && !was_offered;
	attachment->choice_count = was_offered ? attachment->choice_count : 0;
	if (was_offered) {
		choose(attachment, command);
		return;
	}
	for (size_t i = 0; i < sizeof(COMMANDS_OF_KEY) / sizeof(COMMANDS_OF_KEY[0]); i++)
		if (COMMANDS_OF_KEY[i].key == command) {
			COMMANDS_OF_KEY[i].run(attachment);
			return;
		}
	if (command != DETACH_KEY_PREFIX && command != TYPED_ESCAPE && isprint(command))
		attach_notice(attachment, "there is no command %c: ? shows them", command);
}
