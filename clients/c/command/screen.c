#include "screen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ENQUIRY = 0x05, CANCEL = 0x18, SUBSTITUTE = 0x1a, ESCAPE = 0x1b, BELL = 0x07 };

/* DEC private modes (xterm's ctlseqs) and how a shell's screen has them. */
static const struct mode {
	unsigned number;
	bool standard;
} MODES[] = {
	{1, false},    {5, false},    {6, false},    {7, true},     {9, false},    {25, true},
	{47, false},   {66, false},   {69, false},   {1000, false}, {1001, false}, {1002, false},
	{1003, false}, {1004, false}, {1005, false}, {1006, false}, {1015, false}, {1016, false},
	{2004, false}, {2026, false}, {1047, false}, {1049, false},
};

enum { MODE_ROWS = sizeof(MODES) / sizeof(MODES[0]) };
_Static_assert((int)MODE_ROWS <= (int)SCREEN_MODES, "a flag for each mode");

/* Control sequences that a terminal answers: the private or intermediate character (0: none), and the final one. */
static const struct query {
	char mark;
	char final;
} QUERIES[] = {
	{0, 'n'},   {'?', 'n'}, {0, 'c'},   {'>', 'c'}, {'=', 'c'}, {0, 'x'},   {'>', 'q'},
	{'?', 'u'}, {'$', 'p'}, {'*', 'y'}, {'?', 'S'}, {'&', 'u'}, {'$', 'w'}, {'\'', '|'},
};

/* Parameters of `CSI Ps t` that ask (xterm's window reports). */
static const unsigned WINDOW_QUERIES[] = {11, 13, 14, 15, 16, 18, 19, 20, 21};

void screen_init(struct screen *screen, bool filters)
{
	*screen = (struct screen){.filters = filters};
}

/* ---- What a whole sequence means ---- */

static bool is_window_query(const char *parameters)
{
	unsigned long number = strtoul(parameters, NULL, 10);

	for (size_t i = 0; i < sizeof(WINDOW_QUERIES) / sizeof(WINDOW_QUERIES[0]); i++)
		if (WINDOW_QUERIES[i] == number)
			return true;
	return false;
}

/* TEXT: the sequence after CSI, with its final character. */
static bool is_control_query(const char *text, size_t length)
{
	char final = text[length - 1];
	char mark = text[0] && !isdigit((unsigned char)text[0]) && text[0] != ';' && length > 1 ? text[0] : '\0';

	if (!mark && length > 1 && !isdigit((unsigned char)text[length - 2]) && text[length - 2] != ';')
		mark = text[length - 2];
	if (final == 'p' && length > 2 && text[length - 2] == '$')
		mark = '$';
	if (!mark && final == 't')
		return is_window_query(text);
	for (size_t i = 0; i < sizeof(QUERIES) / sizeof(QUERIES[0]); i++)
		if (QUERIES[i].mark == mark && QUERIES[i].final == final)
			return true;
	return false;
}

/* A whole value that is `?`, as in `OSC 11;?` or `OSC 4;1;?;2;?`. */
static bool has_question(const char *text, size_t length)
{
	const char *end = text + length;
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), ";?", 2))) {
		at += 2;
		if (at < end && (*at == ';' || *at == BELL || *at == ESCAPE))
			return true;
	}
	return false;
}

/* OSC with a question, DCS $q (DECRQSS) and +q (XTGETTCAP), APC G (a kitty image may ask back). */
static bool is_string_query(const char *text, size_t length)
{
	if (text[0] == ']')
		return has_question(text, length);
	if (text[0] == 'P')
		return length > 2 && (text[1] == '$' || text[1] == '+') && text[2] == 'q';
	return text[0] == '_' && length > 1 && text[1] == 'G';
}

static void set_mode(struct screen *screen, unsigned number, bool on)
{
	for (size_t i = 0; i < MODE_ROWS; i++)
		if (MODES[i].number == number)
			screen->differs[i] = on != MODES[i].standard;
}

/* TEXT: "?1049;25h". */
static void note_modes(struct screen *screen, const char *text, size_t length)
{
	char final = text[length - 1];
	const char *at = text + 1;

	if (text[0] != '?' || (final != 'h' && final != 'l'))
		return;
	while (isdigit((unsigned char)*at)) {
		char *end;
		set_mode(screen, (unsigned)strtoul(at, &end, 10), final == 'h');
		at = *end == ';' ? end + 1 : end;
	}
}

/* The held sequence is whole: what it sets is noted; true if it asks something. */
static bool understand(struct screen *screen)
{
	const char *text = (const char *)screen->held + 1;
	size_t length = screen->length - 1;

	if (length == 0)
		return false;
	if (text[0] == '[' && length > 1) {
		if (text[length - 1] == 'm' && (length == 2 || isdigit((unsigned char)text[1])))
			screen->has_colour = length > 2 && strncmp(text, "[0m", 3) != 0;
		note_modes(screen, text + 1, length - 1);
		return is_control_query(text + 1, length - 1);
	}
	if (length == 1 && (text[0] == '=' || text[0] == '>'))
		screen->has_keypad = text[0] == '=';
	if (length == 1)
		return text[0] == 'Z'; /* DECID */
	return is_string_query(text, length);
}

/* ---- The scanner ---- */

static enum screen_state after_escape(uint8_t byte)
{
	if (byte == '[')
		return SCREEN_CONTROL;
	if (byte != '\0' && strchr("]P_^X", byte))
		return SCREEN_STRING;
	return byte >= 0x20 && byte <= 0x2f ? SCREEN_ESCAPE : SCREEN_GROUND;
}

/* The state after BYTE; GROUND ends the sequence. */
static enum screen_state next_state(enum screen_state state, uint8_t byte)
{
	if (byte == CANCEL || byte == SUBSTITUTE)
		return SCREEN_GROUND;
	switch (state) {
	case SCREEN_ESCAPE:
		return after_escape(byte);
	case SCREEN_CONTROL:
		return byte >= 0x40 && byte <= 0x7e ? SCREEN_GROUND : SCREEN_CONTROL;
	case SCREEN_STRING:
		return byte == BELL ? SCREEN_GROUND : byte == ESCAPE ? SCREEN_STRING_ESCAPE : SCREEN_STRING;
	case SCREEN_STRING_ESCAPE:
		return byte == '\\' ? SCREEN_GROUND : SCREEN_STRING;
	default:
		return SCREEN_GROUND;
	}
}

static size_t pass_held(struct screen *screen, uint8_t *out)
{
	size_t length = screen->length - screen->passed;

	memcpy(out, screen->held + screen->passed, length);
	screen->passed = screen->length;
	return length;
}

static void begin(struct screen *screen)
{
	screen->state = SCREEN_ESCAPE;
	screen->length = screen->passed = 0;
	screen->held[screen->length++] = ESCAPE;
}

/* A byte inside a sequence. Held bytes past the buffer are overwritten at its end: such a sequence is only passed. */
static size_t inside(struct screen *screen, uint8_t byte, uint8_t *out)
{
	size_t written = 0;

	if (screen->length == SCREEN_HELD - 1) {
		written = pass_held(screen, out);
		screen->length = screen->passed = SCREEN_HELD - 2;
	}
	screen->held[screen->length++] = byte;
	screen->held[screen->length] = '\0';
	screen->state = next_state(screen->state, byte);
	if (screen->state != SCREEN_GROUND)
		return screen->filters ? written : written + pass_held(screen, out + written);
	bool was_cut = screen->passed > 0 && screen->length == SCREEN_HELD - 1;
	bool asks = !was_cut && understand(screen);
	return asks && screen->filters && screen->passed == 0 ? written : written + pass_held(screen, out + written);
}

size_t screen_feed(struct screen *screen, const uint8_t *bytes, size_t length, uint8_t *out)
{
	size_t written = 0;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == ESCAPE && screen->state < SCREEN_STRING) {
			if (screen->state != SCREEN_GROUND)
				written += pass_held(screen, out + written); /* an escape cancels an unfinished sequence */
			begin(screen);
			if (!screen->filters)
				written += pass_held(screen, out + written);
		} else if (screen->state != SCREEN_GROUND) {
			written += inside(screen, bytes[i], out + written);
		} else if (bytes[i] != ENQUIRY || !screen->filters) {
			out[written++] = bytes[i];
		}
	}
	return written;
}

static size_t put_text(char *out, const char *text)
{
	return (size_t)(stpcpy(out, text) - out);
}

/* "\033[?NUMBERh", without stdio, which a signal handler may not use. */
static size_t put_mode(char *out, unsigned number, bool on)
{
	char digits[8];
	size_t count = 0, length = put_text(out, "\033[?");

	for (; number; number /= 10)
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
			length += put_mode(out + length, MODES[i].number, MODES[i].standard == standard);
	if (screen->has_keypad)
		length += put_text(out + length, standard ? "\033>" : "\033=");
	return length;
}

size_t screen_restore(const struct screen *screen, char out[SCREEN_RESTORE_BYTES])
{
	size_t length = put_modes(screen, out, true);

	if (length > 0 || screen->has_colour)
		length += put_text(out + length, "\033[0m");
	return length;
}

size_t screen_again(const struct screen *screen, char out[SCREEN_RESTORE_BYTES])
{
	return put_modes(screen, out, false);
}
