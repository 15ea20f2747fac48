#include "parser.h"

#include "parser_table.h"

#include <string.h>

enum { OSC_NUMBER_MOST = 99999 };

/* A parser at work. */
struct work {
	struct parser *parser;
	const struct parser_calls *calls;
	void *owner;
};

void parser_init(struct parser *parser)
{
	parser_table_make();
	*parser = (struct parser){.number = -1};
	params_reset(&parser->params);
}

void parser_finish(struct parser *parser)
{
	bytes_finish(&parser->string);
}

static void clear(struct parser *parser)
{
	params_reset(&parser->params);
	parser->collected = 0;
	parser->is_overlong = false;
}

void parser_reset(struct parser *parser)
{
	clear(parser);
	parser->state = PARSER_GROUND;
	parser->partial_length = 0;
	parser->string.length = 0;
}

static uint32_t id_of(const struct parser *parser, uint32_t final)
{
	return parser->is_overlong ? 0 : parser->collected << 8 | final;
}

/* A string that became long once does not hold its memory for ever. */
static void begin_string(struct parser *parser)
{
	if (parser->string.capacity > 1024)
		bytes_finish(&parser->string);
	parser->string.length = 0;
	parser->is_passed_over = false;
}

static void put(struct parser *parser, uint32_t character)
{
	char text[4];
	if (parser->is_passed_over)
		return;
	bytes_put(&parser->string, text, utf8_encode(character, text));
	if (parser->string.length > PARSER_STRING_BYTES) {
		parser->is_passed_over = true;
		bytes_finish(&parser->string);
	}
}

/*
 * The actions. Each may change parser->state only through the table; what a call does to the parser
 * (parser_reset(), for RIS) holds until the next character.
 */

static void act_ignore(struct work *work, uint32_t character)
{
	(void)work;
	(void)character;
}

static void act_print(struct work *work, uint32_t character)
{
	uint8_t text = (uint8_t)character;
	if (character < 0x80)
		work->calls->text(work->owner, &text, 1);
	else
		work->calls->character(work->owner, character);
}

static void act_execute(struct work *work, uint32_t character)
{
	work->calls->control(work->owner, character);
}

static void act_clear(struct work *work, uint32_t character)
{
	(void)character;
	clear(work->parser);
}

static void act_collect(struct work *work, uint32_t character)
{
	struct parser *parser = work->parser;
	if (parser->collected > 0xffff)
		parser->is_overlong = true;
	else
		parser->collected = parser->collected << 8 | character;
}

static void act_param(struct work *work, uint32_t character)
{
	params_add(&work->parser->params, (uint8_t)character);
}

static void act_escape(struct work *work, uint32_t character)
{
	work->calls->escape(work->owner, id_of(work->parser, character));
}

static void act_csi(struct work *work, uint32_t character)
{
	work->calls->csi(work->owner, id_of(work->parser, character), &work->parser->params);
}

static void act_osc_start(struct work *work, uint32_t character)
{
	(void)character;
	begin_string(work->parser);
	work->parser->number = -1;
	work->parser->in_text = false;
}

static void act_osc_put(struct work *work, uint32_t character)
{
	struct parser *parser = work->parser;
	if (parser->in_text)
		put(parser, character);
	else if (character == ';')
		parser->in_text = true;
	else if (character < '0' || character > '9')
		parser->in_text = parser->is_passed_over = true;
	else if (parser->number <= OSC_NUMBER_MOST)
		parser->number = (parser->number < 0 ? 0 : parser->number * 10) + (int32_t)(character - '0');
}

static bool is_cancel(uint32_t character)
{
	return character == 0x18 || character == 0x1a;
}

static void act_osc_end(struct work *work, uint32_t character)
{
	struct parser *parser = work->parser;
	if (!parser->is_passed_over && !is_cancel(character)) {
		bytes_put(&parser->string, "", 1);
		work->calls->osc(work->owner, parser->number, (char *)parser->string.at, character == 0x07);
	}
	parser->string.length = 0;
	clear(parser);
}

static void act_hook(struct work *work, uint32_t character)
{
	begin_string(work->parser);
	work->parser->hook = id_of(work->parser, character);
}

static void act_put(struct work *work, uint32_t character)
{
	put(work->parser, character);
}

static void act_unhook(struct work *work, uint32_t character)
{
	struct parser *parser = work->parser;
	if (!parser->is_passed_over && !is_cancel(character)) {
		bytes_put(&parser->string, "", 1);
		work->calls->dcs(work->owner, parser->hook, &parser->params, (const char *)parser->string.at);
	}
	parser->string.length = 0;
	clear(parser);
}

static void (*const actions[PARSER_ACTIONS])(struct work *work, uint32_t character) = {
	[ACTION_IGNORE] = act_ignore,   [ACTION_PRINT] = act_print,     [ACTION_EXECUTE] = act_execute,
	[ACTION_CLEAR] = act_clear,     [ACTION_COLLECT] = act_collect, [ACTION_PARAM] = act_param,
	[ACTION_ESCAPE] = act_escape,   [ACTION_CSI] = act_csi,         [ACTION_OSC_START] = act_osc_start,
	[ACTION_OSC_PUT] = act_osc_put, [ACTION_OSC_END] = act_osc_end, [ACTION_HOOK] = act_hook,
	[ACTION_PUT] = act_put,         [ACTION_UNHOOK] = act_unhook,
};

static inline void step(struct work *work, uint32_t character)
{
	struct parser *parser = work->parser;
	uint32_t class = character < PARSER_OTHER ? character : PARSER_OTHER;
	struct parser_step next = parser_table[parser->state][class];
	actions[next.action](work, character);
	parser->state = next.next;
}

static bool is_good(uint32_t character, uint32_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	return character >= least[length] && character <= 0x10ffff && (character < 0xd800 || character > 0xdfff) &&
	       character != 0xfeff;
}

static uint32_t expected_length(uint8_t lead)
{
	return lead >= 0xf8 || lead < 0xc0 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

/* A byte of a character that is not ASCII, or one that ends a malformed one. Returns false if the byte is to be looked at again. */
static bool decode(struct work *work, uint8_t byte)
{
	struct parser *parser = work->parser;
	if (parser->partial_length == 0) {
		if (expected_length(byte) > 0)
			parser->partial[parser->partial_length++] = byte;
		return true;
	}
	if ((byte & 0xc0) != 0x80) {
		parser->partial_length = 0;
		return false;
	}
	uint32_t length = expected_length(parser->partial[0]);
	if (parser->partial_length + 1 < length) {
		parser->partial[parser->partial_length++] = byte;
		return true;
	}
	uint32_t character = parser->partial[0] & (0x7fu >> length);
	for (uint32_t i = 1; i < parser->partial_length; i++)
		character = character << 6 | (parser->partial[i] & 0x3f);
	character = character << 6 | (byte & 0x3f);
	parser->partial_length = 0;
	if (is_good(character, length))
		step(work, character);
	return true;
}

static size_t printable_length(const uint8_t *bytes, size_t length)
{
	size_t i = 0;
	for (; i + 8 <= length; i += 8) {
		uint64_t word;
		memcpy(&word, bytes + i, 8);
		/* A byte's high bit is set in `odd` if it is below 0x20, 0x7f, or above. */
		uint64_t high = UINT64_C(0x8080808080808080), low = word & ~high;
		uint64_t odd = word | ~(low + UINT64_C(0x6060606060606060)) | (low + UINT64_C(0x0101010101010101));
		if (odd & high)
			break;
	}
	while (i < length && bytes[i] >= 0x20 && bytes[i] < 0x7f)
		i++;
	return i;
}

void parser_feed(struct parser *parser, const uint8_t *bytes, size_t length, const struct parser_calls *calls,
                 void *owner)
{
	struct work work = {parser, calls, owner};
	for (size_t i = 0; i < length;) {
		uint8_t byte = bytes[i];
		if (parser->partial_length > 0 || byte >= 0x80) {
			i += decode(&work, byte);
			continue;
		}
		if (parser->state == PARSER_GROUND) {
			size_t run = printable_length(bytes + i, length - i);
			if (run > 0) {
				calls->text(owner, bytes + i, run);
				i += run;
				continue;
			}
		}
		step(&work, byte);
		i++;
	}
}

static void write_collected(uint32_t collected, struct bytes *bytes)
{
	for (int shift = 16; shift >= 0; shift -= 8)
		if (collected >> shift & 0xff)
			bytes_format(bytes, "%c", (int)(collected >> shift & 0xff));
}

static void write_escape(const struct parser *parser, struct bytes *bytes)
{
	bytes_text(bytes, "\x1b");
	write_collected(parser->collected, bytes);
	if (parser->is_overlong)
		bytes_text(bytes, "   ");
}

/* The prefix stands before the numbers, intermediates behind them. */
static void write_sequence(const struct parser *parser, struct bytes *bytes, const char *introducer)
{
	uint32_t first = parser->collected;
	int shift = first > 0xffff ? 16 : first > 0xff ? 8 : 0;
	first = first >> shift;
	bool has_prefix = first >= 0x3c;
	bytes_text(bytes, introducer);
	if (has_prefix)
		write_collected(first, bytes);
	if (parser->state != PARSER_CSI_ENTRY && parser->state != PARSER_DCS_ENTRY)
		params_write(&parser->params, bytes);
	write_collected(has_prefix ? parser->collected & ((1u << shift) - 1) : parser->collected, bytes);
	if (parser->is_overlong)
		bytes_text(bytes, "   ");
}

static void write_osc(const struct parser *parser, struct bytes *bytes)
{
	if (parser->is_passed_over) {
		bytes_text(bytes, "\x1b]:");
		return;
	}
	bytes_text(bytes, "\x1b]");
	if (parser->number >= 0)
		bytes_format(bytes, "%d", parser->number);
	if (parser->in_text)
		bytes_text(bytes, ";");
	bytes_put(bytes, parser->string.at, parser->string.length);
}

static void write_passed(const struct parser *parser, struct bytes *bytes)
{
	if (parser->is_passed_over) { /* DCS of no meaning: whoever reads it passes over the rest, too */
		bytes_text(bytes, "\x1bP0z");
		return;
	}
	struct parser hooked = *parser;
	hooked.state = PARSER_DCS_PARAM;
	write_sequence(&hooked, bytes, "\x1bP");
	bytes_format(bytes, "%c", (int)(parser->hook & 0xff));
	bytes_put(bytes, parser->string.at, parser->string.length);
}

void parser_write_pending(const struct parser *parser, struct bytes *bytes)
{
	/* clang-format off */
	switch (parser->state) {
	case PARSER_ESCAPE:
	case PARSER_ESCAPE_INTERMEDIATE: write_escape(parser, bytes); break;
	case PARSER_CSI_ENTRY:
	case PARSER_CSI_PARAM:
	case PARSER_CSI_INTERMEDIATE:    write_sequence(parser, bytes, "\x1b["); break;
	case PARSER_CSI_IGNORE:          bytes_text(bytes, "\x1b[0<"); break;
	case PARSER_SOS_PM_APC:          bytes_text(bytes, "\x1b^"); break;
	case PARSER_OSC:                 write_osc(parser, bytes); break;
	case PARSER_DCS_ENTRY:
	case PARSER_DCS_PARAM:
	case PARSER_DCS_INTERMEDIATE:    write_sequence(parser, bytes, "\x1bP"); break;
	case PARSER_DCS_IGNORE:          bytes_text(bytes, "\x1bP0<"); break;
	case PARSER_DCS_PASS:            write_passed(parser, bytes); break;
	case PARSER_GROUND:
	case PARSER_STATES:              break;
	}
	/* clang-format on */
	bytes_put(bytes, parser->partial, parser->partial_length);
}
