#include "screen.h"

#include "escape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENQUIRY = 0x05,
	BELL = 0x07,
	SHIFT_OUT = 0x0e,
	CANCEL = 0x18,
	SUBSTITUTE = 0x1a,
	ESCAPE = 0x1b,
	DELETE = 0x7f,
};

/* Beyond these some terminals cut a sequence off, or let a number begin anew at 0: what they read would not be what was
 * checked here. */
enum { CONTROL_BYTES = 250, NUMBER_MOST = 65535 };

/* The modes that may be set and reset (ECMA-48's, DEC's private ones and xterm's), and how a shell's screen has them. No
 * other passes: there are those that lock the keyboard (2), echo twice (12), show controls as text (3), leave UTF-8 (?2),
 * resize the window (?3, ?40), make keys be other bytes (?67, ?1036, ?9001), or the terminal report by itself (?2031, ?2048). */
static const struct mode {
	unsigned number;
	bool is_private, standard;
} MODES[] = {
	{4, false, false},   {20, false, false},  {34, false, true},   {1, true, false},    {4, true, false},
	{5, true, false},    {6, true, false},    {7, true, true},     {8, true, true},     {9, true, false},
	{12, true, false},   {25, true, true},    {45, true, false},   {47, true, false},   {66, true, false},
	{69, true, false},   {1000, true, false}, {1001, true, false}, {1002, true, false}, {1003, true, false},
	{1004, true, false}, {1005, true, false}, {1006, true, false}, {1007, true, true},  {1015, true, false},
	{1016, true, false}, {2004, true, false}, {2026, true, false}, {1047, true, false}, {1049, true, false},
};

enum { MODE_ROWS = sizeof(MODES) / sizeof(MODES[0]) };
_Static_assert((int)MODE_ROWS <= (int)SCREEN_MODES, "a flag for each mode");

/* What leaves nothing: an empty parameter, and the cursor kept or brought back. */
enum { MODE_NONE = 0, MODE_CURSOR_KEPT = 1048 };

/* Control sequences that pass: the private or intermediate character (0: none), and the final ones. */
static const struct {
	char mark;
	const char *finals;
} CONTROLS[] = {
	{0, "@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu"},
	{'?', "JKhl"},
	{'>', "mu"},
	{'<', "u"},
	{'=', "u"},
	{'!', "p"},
	{' ', "q@A"},
	{'"', "q"},
	{'\'', "}~"},
	{'$', "rtvxz{"},
	{'*', "x"},
	{'#', "{}pq"},
};

/* Escape sequences: the intermediate character, and the final ones (NULL: any). */
static const struct {
	char mark;
	const char *finals;
} ESCAPES[] = {
	{0, "6789=>DEHMNOcno|}~"},
	{'#', "34568"},
	{'(', NULL},
	{')', NULL},
	{'*', NULL},
	{'+', NULL},
	{'-', NULL},
	{'.', NULL},
	{'/', NULL},
};

/* Operating system commands that pass, by their number. */
enum command { COMMAND_TITLE, COMMAND_COLOUR, COMMAND_DRAWS, COMMAND_CLIPBOARD };

static const struct {
	unsigned first, last;
	enum command command;
} COMMANDS[] = {
	{0, 2, COMMAND_TITLE},       {4, 5, COMMAND_COLOUR},     {8, 8, COMMAND_DRAWS},      {10, 19, COMMAND_COLOUR},
	{52, 52, COMMAND_CLIPBOARD}, {104, 105, COMMAND_COLOUR}, {110, 119, COMMAND_COLOUR}, {133, 133, COMMAND_DRAWS},
};

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

void screen_init(struct screen *screen)
{
	*screen = (struct screen){0};
}

void screen_break(struct screen *screen)
{
	screen->state = SCREEN_GROUND;
	screen->length = screen->character_length = 0;
}

static size_t put_bytes(uint8_t *out, const void *bytes, size_t length)
{
	memcpy(out, bytes, length);
	return length;
}

/* ---- Control sequences ---- */

static size_t find_mode(unsigned number, bool is_private)
{
	size_t i = 0;

	while (i < MODE_ROWS && (MODES[i].number != number || MODES[i].is_private != is_private))
		i++;
	return i;
}

/* An empty parameter is 0, as for a terminal; one that is too large stays so. */
static unsigned read_number(const char **at)
{
	unsigned number = 0;

	for (; isdigit((unsigned char)**at); ++*at)
		if (number <= NUMBER_MOST)
			number = number * 10 + (unsigned)(**at - '0');
	return number;
}

/* PARAMETERS: "1049;25". False if one of them may not pass: then none does, and none is noted. */
static bool note_modes(struct screen *screen, const char *parameters, bool is_private, bool on)
{
	const char *at = parameters;
	bool differs[SCREEN_MODES];

	memcpy(differs, screen->differs, sizeof(differs));
	do {
		unsigned number = read_number(&at);
		size_t i = find_mode(number, is_private);
		if (i < MODE_ROWS)
			differs[i] = on != MODES[i].standard;
		else if (number != MODE_NONE && !(is_private && number == MODE_CURSOR_KEPT))
			return false;
	} while (*at++ == ';');
	memcpy(screen->differs, differs, sizeof(differs));
	return true;
}

/* Of xterm's resources of keys, only the one that is undone in the end: "4;2". */
static bool may_modify_keys(const char *parameters)
{
	const char *at = parameters;

	if (read_number(&at) != 4)
		return false;
	at += *at == ';';
	read_number(&at);
	return *at == 'm';
}

/* What a sequence leaves behind that leaving must undo. False if it may not pass. */
static bool note_control(struct screen *screen, char mark, const char *parameters, char final)
{
	bool has_parameters = isdigit((unsigned char)parameters[strspn(parameters, "0;:")]);

	if ((mark == '?' || !mark) && (final == 'h' || final == 'l'))
		return note_modes(screen, parameters, mark == '?', final == 'h');
	if (mark == '>' && final == 'm' && !may_modify_keys(parameters))
		return false;
	if (!mark && final == 'm')
		screen->has_colour = has_parameters;
	if (!mark && final == 'r')
		screen->has_region = has_parameters;
	if (mark == ' ' && final == 'q')
		screen->has_cursor_style = has_parameters;
	if ((mark == '>' || mark == '=') && (final == 'u' || final == 'm'))
		screen->has_keys = true;
	return true;
}

static bool is_known_control(char mark, char final)
{
	for (size_t i = 0; i < COUNT_OF(CONTROLS); i++)
		if (CONTROLS[i].mark == mark && strchr(CONTROLS[i].finals, final))
			return true;
	return false;
}

/* Held: "ESC [ ?1049h". Characters of another kind than the order private, parameters, intermediate, final allows make it
 * none that a terminal must understand. */
static bool may_control_pass(struct screen *screen)
{
	const char *text = (const char *)screen->held + 2;
	char mark = strchr("<=>?", text[0]) ? text[0] : '\0';
	const char *parameters = text + (mark ? 1 : 0);
	const char *at = parameters + strspn(parameters, "0123456789;:");

	if (*at >= 0x20 && *at <= 0x2f) {
		if (mark)
			return false;
		mark = *at++;
	}
	if (!at[0] || at[1] || screen->length > CONTROL_BYTES)
		return false;
	/* where it is no part of a colour, terminals do not agree on what a colon is */
	if (strchr(parameters, ':') && (mark || *at != 'm'))
		return false;
	return is_known_control(mark, *at) && note_control(screen, mark, parameters, *at);
}

static void forget_modes(struct screen *screen)
{
	memset(screen->differs, 0, sizeof(screen->differs));
	screen->has_keypad = screen->has_colour = screen->has_region = screen->has_cursor_style = false;
	screen->has_charset = false;
}

/* Whether a set in use may be another than ASCII: a shell's prompt would be made of lines and corners. A program that goes
 * back to ASCII has not undone it: with the cursor, and the first screen, a set comes back as well. */
static void note_charset(struct screen *screen, char mark, const char *set, char final)
{
	bool is_ascii = (mark == '(' || mark == ')') && strcmp(set, "B") == 0;

	screen->has_charset |= strchr("()-", mark) && mark && !is_ascii;
	screen->has_charset |= !mark && (final == 'n' || final == 'o');
}

/* Held: "ESC 7", "ESC ( 0". */
static bool may_escape_pass(struct screen *screen)
{
	const char *text = (const char *)screen->held + 1;
	char mark = screen->length > 2 ? text[0] : '\0', final = text[screen->length - 2];

	note_charset(screen, mark, text + 1, final);
	if (screen->length > 3)
		return screen->length == 4 && (mark == '(' || mark == ')'); /* a character set of two: "ESC ( % 6" */
	if (!mark && (final == '=' || final == '>'))
		screen->has_keypad = final == '=';
	if (!mark && final == 'c')
		forget_modes(screen);
	for (size_t i = 0; i < COUNT_OF(ESCAPES); i++)
		if (ESCAPES[i].mark == mark && (!ESCAPES[i].finals || strchr(ESCAPES[i].finals, final)))
			return true;
	return false;
}

/* ---- Strings ---- */

/* Held: "ESC ] 52;c;…". False if nothing of this number passes. */
static bool find_command(const struct screen *screen, enum command *command)
{
	const char *text = (const char *)screen->held + 2;
	size_t digits = strspn(text, "0123456789");
	unsigned number = (unsigned)strtoul(text, NULL, 10);

	if (text[digits] != ';' && text[digits] != '\0')
		return false;
	for (size_t i = 0; digits > 0 && digits < 5 && i < COUNT_OF(COMMANDS); i++) {
		*command = COMMANDS[i].command;
		if (number >= COMMANDS[i].first && number <= COMMANDS[i].last)
			return true;
	}
	return false;
}

static void keep_title(struct screen *screen, const char *text)
{
	size_t length = 0, size;
	uint32_t character;

	for (size_t left = strlen(text); left > 0; text += size, left -= size) {
		size = escape_decode((const uint8_t *)text, left, &character);
		if (size == 0 || length + size >= SCREEN_TITLE_BYTES)
			break;
		if (character >= 0x20 && character != DELETE)
			length += put_bytes((uint8_t *)screen->title + length, text, size);
	}
	screen->title[length] = '\0';
}

static size_t pass_title(struct screen *screen, uint8_t *out)
{
	const char *text = strchr((const char *)screen->held, ';');
	size_t length = 0;

	if (!text || screen->held[2] == '1') /* 1 is an icon's name */
		return 0;
	keep_title(screen, text + 1);
	if (screen->only_sounds)
		return 0;
	length += put_bytes(out, "\033]2;", 4);
	length += put_bytes(out + length, screen->title, strlen(screen->title));
	return length + put_bytes(out + length, "\a", 1);
}

static bool may_command_pass(struct screen *screen, enum command command)
{
	bool asks = strchr((const char *)screen->held, '?') != NULL; /* what is set is never called so */

	if (command != COMMAND_CLIPBOARD && screen->only_sounds)
		return false;
	if (command == COMMAND_DRAWS)
		return true;
	if (command == COMMAND_COLOUR)
		screen->has_palette |= !asks;
	return !asks && (command == COMMAND_COLOUR || screen->allows_clipboard);
}

/* The string has ended, or must be passed on before it has since it is long; TERMINATOR may be "". */
static size_t pass_string(struct screen *screen, const char *terminator, uint8_t *out)
{
	enum command command;
	size_t length;

	screen->held[screen->length] = '\0';
	if (screen->only_text || !find_command(screen, &command))
		return 0;
	if (command == COMMAND_TITLE)
		return terminator[0] ? pass_title(screen, out) : 0;
	if (!may_command_pass(screen, command) || (!terminator[0] && command != COMMAND_CLIPBOARD))
		return 0;
	length = put_bytes(out, screen->held, screen->length);
	return length + put_bytes(out + length, terminator, strlen(terminator));
}

static size_t end_string(struct screen *screen, uint8_t *out)
{
	enum screen_state state = screen->state;

	screen->state = SCREEN_GROUND;
	if (state == SCREEN_PASSED)
		return put_bytes(out, "\a", 1);
	return state == SCREEN_STRING ? pass_string(screen, "\a", out) : 0;
}

static bool is_in_string(const struct screen *screen)
{
	return screen->state >= SCREEN_STRING;
}

/* Only what may be written to the clipboard passes in pieces: no end of it could make it ask. */
static size_t add_to_string(struct screen *screen, const uint8_t *bytes, size_t length, uint8_t *out)
{
	size_t passed;

	if (screen->state == SCREEN_PASSED)
		return *bytes == '?' ? 0 : put_bytes(out, bytes, length);
	if (screen->state == SCREEN_DROPPED)
		return 0;
	if (screen->length + length < SCREEN_HELD - 1) {
		screen->length += put_bytes(screen->held + screen->length, bytes, length);
		return 0;
	}
	passed = pass_string(screen, "", out);
	screen->state = passed ? SCREEN_PASSED : SCREEN_DROPPED;
	return passed ? passed + put_bytes(out + passed, bytes, length) : 0;
}

/* ---- The scanner ---- */

static size_t finish(struct screen *screen, bool (*may_pass)(struct screen *screen), uint8_t *out)
{
	screen->state = SCREEN_GROUND;
	screen->held[screen->length] = '\0';
	if (screen->only_sounds || screen->only_text || !may_pass(screen))
		return 0;
	return put_bytes(out, screen->held, screen->length);
}

/* C0 controls act at once, also in the middle of a sequence. */
static size_t execute(struct screen *screen, uint8_t byte, uint8_t *out)
{
	bool is_text = byte == '\n' || byte == '\r' || byte == '\t';

	if (byte == ENQUIRY || (screen->only_sounds && byte != BELL) || (screen->only_text && !is_text))
		return 0;
	screen->has_charset |= byte == SHIFT_OUT;
	return put_bytes(out, &byte, 1);
}

static bool hold(struct screen *screen, uint8_t byte)
{
	if (screen->length == SCREEN_HELD - 1) {
		screen->state = SCREEN_GROUND;
		return false;
	}
	screen->held[screen->length++] = byte;
	return true;
}

static size_t in_escape(struct screen *screen, uint8_t byte, uint8_t *out)
{
	if (!hold(screen, byte) || byte <= 0x2f)
		return 0;
	if (screen->length == 2 && strchr("[]PX^_", byte)) {
		screen->state = byte == '[' ? SCREEN_CONTROL : byte == ']' ? SCREEN_STRING : SCREEN_DROPPED;
		return 0;
	}
	return finish(screen, may_escape_pass, out);
}

static size_t in_control(struct screen *screen, uint8_t byte, uint8_t *out)
{
	return hold(screen, byte) && byte >= 0x40 ? finish(screen, may_control_pass, out) : 0;
}

static size_t in_string(struct screen *screen, uint8_t byte, uint8_t *out)
{
	if (byte == BELL)
		return end_string(screen, out);
	return byte < 0x20 ? 0 : add_to_string(screen, &byte, 1, out);
}

/* One byte of ASCII. */
static size_t scan(struct screen *screen, uint8_t byte, uint8_t *out)
{
	size_t written = 0;

	if (byte == ESCAPE) {
		written = is_in_string(screen) ? end_string(screen, out) : 0;
		screen->state = SCREEN_ESCAPE;
		screen->length = 0;
		screen->held[screen->length++] = ESCAPE;
		return written;
	}
	if (byte == CANCEL || byte == SUBSTITUTE) {
		written = screen->state == SCREEN_PASSED ? put_bytes(out, "\030", 1) : 0;
		screen->state = SCREEN_GROUND;
		return written;
	}
	if (is_in_string(screen))
		return in_string(screen, byte, out);
	if (byte < 0x20)
		return execute(screen, byte, out);
	if (screen->state == SCREEN_GROUND)
		return screen->only_sounds ? 0 : put_bytes(out, &byte, 1);
	if (byte == DELETE)
		return 0;
	return screen->state == SCREEN_ESCAPE ? in_escape(screen, byte, out) : in_control(screen, byte, out);
}

/* One character beyond ASCII: text, data of a string, or a control of one byte. */
static size_t scan_character(struct screen *screen, const uint8_t *bytes, size_t length, uint32_t character,
                             uint8_t *out)
{
	size_t written;

	if (character < 0xa0) {
		written = scan(screen, ESCAPE, out);
		return written + scan(screen, (uint8_t)(character - 0x40), out + written);
	}
	if (is_in_string(screen))
		return add_to_string(screen, bytes, length, out);
	if (screen->state == SCREEN_GROUND)
		return screen->only_sounds ? 0 : put_bytes(out, bytes, length);
	screen->state = SCREEN_GROUND; /* in the middle of a sequence: both are void */
	return 0;
}

static size_t scan_damaged(struct screen *screen, uint8_t *out)
{
	static const uint8_t REPLACEMENT[] = {0xef, 0xbf, 0xbd};

	screen->character_length = 0;
	return scan_character(screen, REPLACEMENT, sizeof(REPLACEMENT), 0xfffd, out);
}

static size_t character_size(uint8_t lead)
{
	return lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* A byte of a character beyond ASCII. */
static size_t collect(struct screen *screen, uint8_t byte, uint8_t *out)
{
	size_t size = character_size(screen->character_length ? screen->character[0] : byte);
	uint32_t character;

	if (size == 0)
		return scan_damaged(screen, out);
	screen->character[screen->character_length++] = byte;
	if (screen->character_length < size)
		return 0;
	screen->character_length = 0;
	if (escape_decode(screen->character, size, &character) != size)
		return scan_damaged(screen, out);
	return scan_character(screen, screen->character, size, character, out);
}

size_t screen_feed(struct screen *screen, const uint8_t *bytes, size_t length, uint8_t *out)
{
	size_t written = 0;

	for (size_t i = 0; i < length; i++) {
		bool continues = (bytes[i] & 0xc0) == 0x80;
		if (screen->character_length && !continues)
			written += scan_damaged(screen, out + written);
		written += bytes[i] < 0x80 ? scan(screen, bytes[i], out + written) : collect(screen, bytes[i], out + written);
	}
	return written;
}

/* ---- What was left set ---- */

static size_t put_text(char *out, const char *text)
{
	return (size_t)(stpcpy(out, text) - out);
}

/* "\033[?NUMBERh", without stdio, which a signal handler may not use. */
static size_t put_mode(char *out, const struct mode *mode, bool on)
{
	char digits[8];
	size_t count = 0, length = put_text(out, mode->is_private ? "\033[?" : "\033[");

	for (unsigned number = mode->number; number; number /= 10)
		digits[count++] = (char)('0' + number % 10);
	while (count > 0)
		out[length++] = digits[--count];
	out[length++] = on ? 'h' : 'l';
	return length;
}

static size_t put_modes(const struct screen *screen, char *out, bool standard)
{
	size_t length = 0;

	for (size_t i = 0; i < MODE_ROWS; i++)
		if (screen->differs[i])
			length += put_mode(out + length, &MODES[i], MODES[i].standard == standard);
	if (screen->has_keypad)
		length += put_text(out + length, standard ? "\033>" : "\033=");
	return length;
}

/* Of keys as the program wanted them; more than a terminal keeps of them can have been pushed. */
#define UNDO_KEYS "\033[>4m\033[<65535u"

#define UNDO_PALETTE                                                                                       \
	"\033]104\a\033]105\a\033]110\a\033]111\a\033]112\a\033]113\a\033]114\a\033]115\a\033]116\a\033]117\a" \
	"\033]118\a\033]119\a"

size_t screen_restore(const struct screen *screen, char out[SCREEN_RESTORE_BYTES])
{
	const struct {
		bool is_set;
		const char *undo;
	} rows[] = {
		{screen->has_charset, "\033(B\033)B\017"}, {screen->has_region, "\0337\033[r\0338"},
		{screen->has_cursor_style, "\033[0 q"},    {screen->has_keys, UNDO_KEYS},
		{screen->has_palette, UNDO_PALETTE},
	};
	/* once before the alternate screen is left, since each of the two screens has its own */
	size_t length = screen->has_keys ? put_text(out, UNDO_KEYS) : 0;

	length += put_modes(screen, out + length, true);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].is_set)
			length += put_text(out + length, rows[i].undo);
	if (length > 0 || screen->has_colour)
		length += put_text(out + length, "\033[0m");
	return length;
}

size_t screen_again(const struct screen *screen, char out[SCREEN_RESTORE_BYTES])
{
	return put_modes(screen, out, false);
}
