#include "check.h"

#include "head.h"

#include <string.h>

/*
 * A map's keys must be distinct, and a stranger chooses how many there are. The keys of every open map are kept sorted
 * in one array (the innermost map's at its end), so that a map of n keys costs n log n comparisons whatever they are;
 * LIMIT_MAP_KEYS bounds the array. A hash would need a secret to be as safe.
 */
struct key {
	uint32_t at, length;
};

/* An array or map that is not yet whole. */
struct level {
	uint32_t count, left; /* values, a map's keys counted too; those to come */
	uint32_t first_key;   /* where a map's keys begin in check.keys */
	bool is_map;
};

struct check {
	const uint8_t *start, *at, *end; /* at: the value that is being looked at */
	struct check_report *report;
	uint32_t nodes, depth, key_count;
	bool is_control; /* the first value is channel 0 */
	bool is_request; /* this frame's first field is 0 */
	struct level levels[LIMIT_DEPTH];
	struct key keys[LIMIT_DEPTH * LIMIT_MAP_KEYS];
};

static bool fault(struct check *check, enum error_code code, const char *what)
{
	check->report->code = code;
	check->report->what = what;
	check->report->at = (size_t)(check->at - check->start);
	return false;
}

static bool check_truncated(struct check *check)
{
	return fault(check, CODE_MALFORMED, "the message ends inside a value");
}

/* Count a value as done, and every array and map that it makes whole. */
static void value_done(struct check *check)
{
	while (check->depth > 0) {
		struct level *level = &check->levels[check->depth - 1];
		if (--level->left > 0)
			return;
		check->key_count = level->first_key;
		check->depth--;
	}
	check->report->values++;
	check->report->has_request_id = false;
	check->is_request = false;
}

/* Remember the id of a request, [0, id, ... on channel 0, so that a fault further on can be its answer. */
static void note_request(struct check *check, uint64_t number)
{
	struct check_report *report = check->report;
	if (check->depth == 0 && report->values == 0)
		check->is_control = number == 0;
	if (check->depth != 1 || report->values == 0 || !check->is_control || check->levels[0].is_map)
		return;
	uint32_t position = check->levels[0].count - check->levels[0].left;
	if (position == 0)
		check->is_request = number == 0;
	if (position == 1 && check->is_request && number <= UINT32_MAX) {
		report->has_request_id = true;
		report->request_id = (uint32_t)number;
	}
}

static bool check_plain(struct check *check, const struct head *head)
{
	check->at += head->bytes;
	value_done(check);
	return true;
}

static bool check_uint(struct check *check, const struct head *head)
{
	if (head->number > WIRE_INTEGER_MAX)
		return fault(check, CODE_TOO_LARGE, "an integer over 2^53-1");
	note_request(check, head->number);
	return check_plain(check, head);
}

static bool check_negative(struct check *check, const struct head *head)
{
	if ((int64_t)head->number < -(int64_t)WIRE_INTEGER_MAX)
		return fault(check, CODE_TOO_LARGE, "an integer under -(2^53-1)");
	return check_plain(check, head);
}

static bool check_bytes(struct check *check, const struct head *head)
{
	if (head->number > (size_t)(check->end - check->at) - head->bytes)
		return check_truncated(check);
	check->at += head->bytes + head->number;
	value_done(check);
	return true;
}

static int key_compare(const struct check *check, struct key a, struct key b)
{
	if (a.length != b.length)
		return a.length < b.length ? -1 : 1;
	return memcmp(check->start + a.at, check->start + b.at, a.length);
}

/* Put KEY among the sorted keys of the map LEVEL; false if it is there already. */
static bool key_insert(struct check *check, const struct level *level, struct key key)
{
	uint32_t low = level->first_key, high = check->key_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = key_compare(check, key, check->keys[middle]);
		if (order == 0)
			return false;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	memmove(&check->keys[low + 1], &check->keys[low], (check->key_count - low) * sizeof check->keys[0]);
	check->keys[low] = key;
	check->key_count++;
	return true;
}

/* The map in which the value at hand is a key, or NULL. */
static const struct level *key_level(const struct check *check)
{
	if (check->depth == 0)
		return NULL;
	const struct level *level = &check->levels[check->depth - 1];
	return level->is_map && level->left % 2 == 0 ? level : NULL;
}

static bool check_text(struct check *check, const struct head *head)
{
	if (head->number > (size_t)(check->end - check->at) - head->bytes)
		return check_truncated(check);
	if (!check_utf8(check->at + head->bytes, head->number))
		return fault(check, CODE_BAD_UTF8, "text that is not UTF-8; bytes of any value are sent as bin");
	const struct level *level = key_level(check);
	struct key key = {(uint32_t)(check->at + head->bytes - check->start), (uint32_t)head->number};
	if (level && !key_insert(check, level, key))
		return fault(check, CODE_DUPLICATE_KEY, "a key that stands twice in a map");
	return check_bytes(check, head);
}

/* Open an array or map of COUNT values (a map's keys counted too). */
static bool level_open(struct check *check, const struct head *head, uint64_t count, bool is_map)
{
	if (check->depth == LIMIT_DEPTH)
		return fault(check, CODE_TOO_DEEP, "nested deeper than 8");
	if (count > (size_t)(check->end - check->at) - head->bytes) /* a value takes a byte at least */
		return fault(check, CODE_MALFORMED, "an array or map of more values than the message has bytes");
	if (count > LIMIT_NODES - check->nodes)
		return fault(check, CODE_TOO_MANY, "more than 65,536 values in a message");
	if (count == 0)
		return check_plain(check, head);
	check->levels[check->depth++] = (struct level){(uint32_t)count, (uint32_t)count, check->key_count, is_map};
	check->at += head->bytes;
	return true;
}

static bool check_array(struct check *check, const struct head *head)
{
	return level_open(check, head, head->number, false);
}

static bool check_map(struct check *check, const struct head *head)
{
	if (head->number > LIMIT_MAP_KEYS && head->number <= (size_t)(check->end - check->at) / 2)
		return fault(check, CODE_TOO_MANY, "a map of more than 1,024 keys");
	return level_open(check, head, 2 * head->number, true);
}

static bool check_extension(struct check *check, const struct head *head)
{
	(void)head;
	return fault(check, CODE_BAD_TYPE,
	             "an extension type; nil, booleans, numbers, text, bytes, arrays and maps are allowed");
}

static bool check_invalid(struct check *check, const struct head *head)
{
	(void)head;
	return fault(check, CODE_MALFORMED, "the byte c1, which MessagePack does not have");
}

static bool (*const CHECKS[HEAD_TYPE_COUNT])(struct check *check, const struct head *head) = {
	[HEAD_INVALID] = check_invalid, [HEAD_NIL] = check_plain,         [HEAD_BOOL] = check_plain,
	[HEAD_UINT] = check_uint,       [HEAD_NEGATIVE] = check_negative, [HEAD_FLOAT] = check_plain,
	[HEAD_STR] = check_text,        [HEAD_BIN] = check_bytes,         [HEAD_ARRAY] = check_array,
	[HEAD_MAP] = check_map,         [HEAD_EXT] = check_extension,
};

static bool check_value(struct check *check)
{
	struct head head;
	if (!head_read(check->at, check->end, &head))
		return check_truncated(check);
	if (key_level(check) && head.type != HEAD_STR && head.type != HEAD_INVALID)
		return fault(check, CODE_BAD_TYPE, "a map key that is not text");
	if (check->nodes == LIMIT_NODES)
		return fault(check, CODE_TOO_MANY, "more than 65,536 values in a message");
	check->nodes++;
	return CHECKS[head.type](check, &head);
}

bool check_message(const uint8_t *data, size_t length, struct check_report *report)
{
	*report = (struct check_report){.code = ERROR_CODE_NONE};
	struct check check; /* not set to zero: 64 KiB of keys, of which few are used */
	check.start = check.at = data;
	check.end = data + length;
	check.report = report;
	check.nodes = check.depth = check.key_count = 0;
	check.is_control = check.is_request = false;
	if (length == 0)
		return fault(&check, CODE_MALFORMED, "an empty message");
	if (length > UINT32_MAX)
		return fault(&check, CODE_TOO_LARGE, "a message of 4 GiB or more");
	while (check.at < check.end)
		if (!check_value(&check))
			return false;
	return check.depth == 0 || check_truncated(&check);
}

/* What may follow a first byte, by the table of RFC 3629, section 4: the second byte's range, and the length of all. */
struct utf8_form {
	uint8_t length, second_low, second_high;
};

static const struct utf8_form UTF8_FORMS[] = {
	{0, 0, 0},       /* 0: 80...c1 and f5...ff begin nothing */
	{2, 0x80, 0xbf}, /* 1: c2...df */
	{3, 0xa0, 0xbf}, /* 2: e0, nothing overlong */
	{3, 0x80, 0xbf}, /* 3: e1...ec, ee, ef */
	{3, 0x80, 0x9f}, /* 4: ed, no surrogates */
	{4, 0x90, 0xbf}, /* 5: f0, nothing overlong */
	{4, 0x80, 0xbf}, /* 6: f1...f3 */
	{4, 0x80, 0x8f}, /* 7: f4, up to U+10FFFF */
};

/* The form of each first byte from c0. */
static const uint8_t UTF8_FORM_OF[64] = {
	0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3, 5, 6, 6, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

static const uint8_t *skip_ascii(const uint8_t *at, const uint8_t *end)
{
	for (uint64_t eight; end - at >= 8; at += 8) {
		memcpy(&eight, at, 8);
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	while (at < end && *at < 0x80)
		at++;
	return at;
}

/* The end of the sequence of two to four bytes at AT, or NULL. */
static const uint8_t *skip_sequence(const uint8_t *at, const uint8_t *end)
{
	struct utf8_form form = *at < 0xc0 ? UTF8_FORMS[0] : UTF8_FORMS[UTF8_FORM_OF[*at - 0xc0]];
	if (form.length == 0 || end - at < form.length)
		return NULL;
	if (at[1] < form.second_low || at[1] > form.second_high)
		return NULL;
	for (unsigned i = 2; i < form.length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return NULL;
	return at + form.length;
}

bool check_utf8(const uint8_t *data, size_t length)
{
	const uint8_t *end = data + length;
	const uint8_t *at = skip_ascii(data, end);
	while (at && at < end) {
		at = skip_sequence(at, end);
		if (at && at < end && *at < 0x80)
			at = skip_ascii(at, end);
	}
	return at != NULL;
}
