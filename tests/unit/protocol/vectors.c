#include "protocol/check.h"
#include "protocol/frame.h"
#include "protocol/writer.h"
#include "oracle.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* protocol/vectors/README.md describes the files. */

static void append_hex(struct writer *writer, const char *hex)
{
	for (; *hex; hex += 2) {
		unsigned byte;
		cr_assert_eq(sscanf(hex, "%2x", &byte), 1);
		writer_raw(writer, &(uint8_t){(uint8_t)byte}, 1);
	}
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void append_part(struct writer *writer, const json_t *part)
{
	const json_t *times = json_object_get(part, "times");
	if (text_of(part, "hex")) {
		for (json_int_t i = times ? json_integer_value(times) : 1; i > 0; i--)
			append_hex(writer, text_of(part, "hex"));
		return;
	}
	json_int_t count = json_integer_value(json_object_get(part, "numbers"));
	for (json_int_t i = 0; i < count; i++) {
		char number[24];
		int length = snprintf(number, sizeof number, "%04lld", (long long)i);
		append_hex(writer, text_of(part, "before"));
		writer_raw(writer, number, (size_t)length);
		append_hex(writer, text_of(part, "after"));
	}
}

static void message_of(const json_t *vector, struct writer *writer)
{
	size_t index;
	json_t *part;
	if (text_of(vector, "hex"))
		append_hex(writer, text_of(vector, "hex"));
	json_array_foreach(json_object_get(vector, "parts"), index, part) append_part(writer, part);
	cr_assert_not(writer->failed);
}

static bool matches(struct reader *reader, const json_t *meaning);

static bool matches_bin(struct reader *reader, const char *hex)
{
	struct writer expected;
	struct view view;
	writer_init(&expected, 1 << 16);
	append_hex(&expected, hex);
	bool same = reader_bin(reader, &view) && view.length == expected.length;
	same = same && (view.length == 0 || memcmp(view.data, expected.data, view.length) == 0);
	writer_finish(&expected);
	return same;
}

static bool matches_map(struct reader *reader, const json_t *meaning)
{
	uint32_t count;
	if (text_of(meaning, "$bin"))
		return matches_bin(reader, text_of(meaning, "$bin"));
	if (!reader_map(reader, &count) || count != json_object_size(meaning))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct view key;
		if (!reader_str(reader, &key))
			return false;
		const json_t *value = json_object_getn(meaning, key.data, key.length);
		if (!value || !matches(reader, value))
			return false;
	}
	return true;
}

static bool matches_array(struct reader *reader, const json_t *meaning)
{
	uint32_t count;
	if (!reader_array(reader, &count) || count != json_array_size(meaning))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!matches(reader, json_array_get(meaning, i)))
			return false;
	return true;
}

static bool matches_text(struct reader *reader, const json_t *meaning)
{
	struct view view;
	return reader_str(reader, &view) && view.length == json_string_length(meaning) &&
	       memcmp(view.data, json_string_value(meaning), view.length) == 0;
}

static bool matches_integer(struct reader *reader, const json_t *meaning)
{
	int64_t value;
	return reader_int(reader, &value) && value == json_integer_value(meaning);
}

static bool matches_real(struct reader *reader, const json_t *meaning)
{
	double value, expected = json_real_value(meaning);
	return reader_float(reader, &value) && memcmp(&value, &expected, sizeof value) == 0;
}

static bool matches_constant(struct reader *reader, const json_t *meaning)
{
	bool value;
	if (json_is_null(meaning))
		return reader_nil(reader);
	return reader_bool(reader, &value) && value == json_is_true(meaning);
}

static bool matches(struct reader *reader, const json_t *meaning)
{
	static bool (*const functions[])(struct reader *, const json_t *) = {
		[JSON_OBJECT] = matches_map,      [JSON_ARRAY] = matches_array,   [JSON_STRING] = matches_text,
		[JSON_INTEGER] = matches_integer, [JSON_REAL] = matches_real,     [JSON_TRUE] = matches_constant,
		[JSON_FALSE] = matches_constant,  [JSON_NULL] = matches_constant,
	};
	return functions[json_typeof(meaning)](reader, meaning);
}

/* What a server finds in a message by the bytes alone. */
struct finding {
	enum error_code code;
	bool has_id;
	uint32_t id;
	size_t frames; /* good ones before the fault */
};

/* Read one frame of channel 0. */
static bool walk_rpc(struct reader *reader, struct finding *finding)
{
	struct rpc rpc;
	const char *what;
	bool has_id;
	if (rpc_read(reader, &rpc, &has_id, &what))
		return true;
	cr_assert_not_null(what);
	finding->code = CODE_INVALID_REQUEST;
	finding->has_id = has_id;
	finding->id = rpc.id;
	return false;
}

/* The fields of a client's frames after the kind: u an unsigned integer, b bytes. */
static const char *const CLIENT_FIELDS[] = {
	[FRAME_STDIN] = "uub", [FRAME_EOF] = "uu", [FRAME_RESIZE] = "uuu", [FRAME_CREDIT] = "u"};

static bool walk_fields(struct reader *reader, uint32_t count, const char *fields)
{
	bool good = count == strlen(fields);
	for (uint32_t i = 0; good && i < count; i++) {
		uint64_t number;
		struct view bytes;
		good = fields[i] == 'u' ? reader_uint(reader, &number) : reader_bin(reader, &bytes);
	}
	return good;
}

static enum error_code walk_client_frame(struct reader *reader)
{
	uint32_t count;
	uint64_t kind;
	enum frame_direction direction;
	if (!reader_array(reader, &count) || count == 0 || !reader_uint(reader, &kind))
		return CODE_INVALID_FRAME;
	if (kind > FRAME_FIRST_OPTIONAL || !frame_kind_direction((unsigned)kind, &direction) ||
	    direction != DIRECTION_CLIENT)
		return CODE_UNKNOWN_KIND;
	return walk_fields(reader, count - 1, CLIENT_FIELDS[kind]) ? ERROR_CODE_NONE : CODE_INVALID_FRAME;
}

static struct finding walk(const uint8_t *data, size_t length)
{
	struct check_report report;
	if (!check_message(data, length, &report))
		return (struct finding){report.code, report.has_request_id, report.request_id,
		                        report.values > 0 ? report.values - 1 : 0};
	struct finding finding = {.code = ERROR_CODE_NONE};
	struct reader reader = reader_over(data, length);
	uint64_t channel;
	if (!reader_uint(&reader, &channel) || reader_type(&reader) == VALUE_END)
		finding.code = CODE_INVALID_FRAME;
	for (; finding.code == ERROR_CODE_NONE && reader_type(&reader) != VALUE_END; finding.frames++) {
		if (channel == 0 && !walk_rpc(&reader, &finding))
			break;
		if (channel > 0 && (finding.code = walk_client_frame(&reader)) != ERROR_CODE_NONE)
			break;
	}
	return finding;
}

static void expect_bad(const json_t *vector, const struct writer *message)
{
	const char *name = text_of(vector, "name");
	uint8_t *exact = malloc(message->length + 1); /* so that AddressSanitizer sees a read past the end */
	if (message->length > 0)
		memcpy(exact + 1, message->data, message->length);
	struct finding finding = walk(exact + 1, message->length);
	free(exact);
	const json_t *id = json_object_get(vector, "id");
	cr_assert_neq(finding.code, ERROR_CODE_NONE, "%s: nothing was found", name);
	cr_expect_str_eq(error_code_name(finding.code), text_of(vector, "error"), "%s: %s", name,
	                 error_code_name(finding.code));
	cr_expect_eq(finding.has_id, json_is_integer(id), "%s: id", name);
	cr_expect(!finding.has_id || finding.id == json_integer_value(id), "%s: id %u", name, finding.id);
	cr_expect_eq(finding.frames, (size_t)json_integer_value(json_object_get(vector, "frames")), "%s: %zu frames", name,
	             finding.frames);
	bool closes = json_integer_value(json_object_get(vector, "closes")) == CLOSE_UNPARSABLE;
	cr_expect_eq(closes, finding.code == CODE_MALFORMED, "%s: closes", name);
}

static void expect_good(const json_t *vector, const struct writer *message)
{
	const char *name = text_of(vector, "name");
	const json_t *meaning = json_object_get(vector, "meaning");
	struct check_report report;
	cr_assert(check_message(message->data, message->length, &report), "%s: %s", name, report.what);
	cr_expect(oracle_agrees(message->data, message->length), "%s: msgpack-c disagrees", name);
	struct reader reader = reader_over(message->data, message->length);
	size_t index;
	json_t *value;
	json_array_foreach(meaning, index, value) cr_expect(matches(&reader, value), "%s: value %zu", name, index);
	cr_expect(!meaning || reader.at == reader.end, "%s: something is left", name);
	if (strcmp(text_of(vector, "from"), "client") == 0 && meaning)
		cr_expect_eq(walk(message->data, message->length).code, ERROR_CODE_NONE, "%s: a fault was found", name);
}

/* A server's frames on a channel: those of an event have its head. */
static void expect_heads(const json_t *vector, const struct writer *message)
{
	struct reader reader = reader_over(message->data, message->length);
	uint64_t channel;
	cr_assert(reader_uint(&reader, &channel));
	for (size_t i = 1; i < json_array_size(json_object_get(vector, "meaning")); i++) {
		const json_t *frame = json_array_get(json_object_get(vector, "meaning"), i);
		const uint8_t *at = reader.at;
		enum frame_direction direction = DIRECTION_CLIENT;
		uint32_t kind;
		uint64_t seq, t_us;
		reader_skip(&reader);
		frame_kind_direction((unsigned)json_integer_value(json_array_get(frame, 0)), &direction);
		bool is_event = event_head_read(at, (size_t)(reader.at - at), &kind, &seq, &t_us);
		cr_expect_eq(is_event, direction == DIRECTION_EVENT, "%s", text_of(vector, "name"));
		cr_expect(!is_event || (json_int_t)seq == json_integer_value(json_array_get(frame, 1)));
		cr_expect(!is_event || (json_int_t)t_us == json_integer_value(json_array_get(frame, 2)));
	}
}

static void check_vector(const json_t *vector)
{
	struct writer message;
	writer_init(&message, 1 << 20);
	message_of(vector, &message);
	if (text_of(vector, "error"))
		expect_bad(vector, &message);
	else
		expect_good(vector, &message);
	const json_t *channel = json_array_get(json_object_get(vector, "meaning"), 0);
	if (strcmp(text_of(vector, "from"), "server") == 0 && json_integer_value(channel) > 0)
		expect_heads(vector, &message);
	writer_finish(&message);
}

Test(vectors, mean_what_their_files_say)
{
	static const char *const topics[] = {"rpc", "messages", "events", "limits", "malformed"};
	for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/vectors/%s.json", PROTOCOL_FOLDER, topics[i]);
		json_error_t error;
		json_t *vectors = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
		cr_assert_not_null(vectors, "%s: %s, line %d", path, error.text, error.line);
		cr_expect_gt(json_array_size(vectors), 10);
		size_t index;
		json_t *vector;
		json_array_foreach(vectors, index, vector) check_vector(vector);
		json_decref(vectors);
	}
}
