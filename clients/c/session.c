#include "decode.h"
#include "failure.h"
#include "params.h"
#include "sandbar.h"
#include "protocol/wire.h"
#include "protocol/writer.h"

#include <stdlib.h>
#include <string.h>

static const struct limit_row {
	const char *key;
	size_t offset;
} LIMITS[] = {
	{"memory", offsetof(struct sandbar_limits, memory)},
	{"processes", offsetof(struct sandbar_limits, processes)},
	{"cpu", offsetof(struct sandbar_limits, cpu)},
	{"cpu_weight", offsetof(struct sandbar_limits, cpu_weight)},
	{"workspace", offsetof(struct sandbar_limits, workspace)},
	{"inodes", offsetof(struct sandbar_limits, inodes)},
	{"open_files", offsetof(struct sandbar_limits, open_files)},
	{"file_size", offsetof(struct sandbar_limits, file_size)},
};

enum { LIMIT_ROWS = sizeof(LIMITS) / sizeof(LIMITS[0]) };

static uint64_t limit_value(const struct sandbar_limits *limits, const struct limit_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)limits + row->offset, sizeof(value));
	return value;
}

static void write_limits(struct writer *params, const struct sandbar_limits *limits)
{
	uint32_t count = 0;

	for (size_t i = 0; i < LIMIT_ROWS; i++)
		count += limit_value(limits, &LIMITS[i]) != 0;
	writer_str(params, "limits");
	writer_map(params, count);
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		uint64_t value = limit_value(limits, &LIMITS[i]);
		if (value)
			writer_key_uint(params, LIMITS[i].key, value == SANDBAR_NO_LIMIT ? 0 : value);
	}
}

static void write_texts(struct writer *params, const char *const *texts)
{
	uint32_t count = 0;

	while (texts[count])
		count++;
	writer_array(params, count);
	for (; *texts; texts++)
		writer_str(params, *texts);
}

static void write_session(struct writer *params, const struct sandbar_session *session)
{
	writer_map(params, 1 + (session->name ? 1U : 0) + (session->env ? 1U : 0) + (session->require ? 1U : 0) +
	                       (session->context ? 1U : 0) + (session->template ? 1U : 0) + (session->profile ? 1U : 0) +
	                       (session->ttl_ms ? 1U : 0) + (session->disconnect_ms ? 2U : 0) + session->for_proof);
	write_limits(params, &session->limits);
	if (session->name)
		writer_key_str(params, "name", session->name);
	if (session->template)
		writer_key_str(params, "template", session->template);
	if (session->profile)
		writer_key_str(params, "profile", session->profile);
	if (session->env)
		params_pairs(params, "env", session->env);
	if (session->context)
		params_pairs(params, "context", session->context);
	if (session->require) {
		writer_str(params, "require");
		write_texts(params, session->require);
	}
	if (session->for_proof)
		writer_key_bool(params, "for_proof", true);
	if (session->ttl_ms)
		writer_key_uint(params, "ttl_ms", session->ttl_ms);
	if (session->disconnect_ms) {
		writer_key_str(params, "on_disconnect", "end");
		writer_key_uint(params, "disconnect_ms", session->disconnect_ms);
	}
}

static bool read_session_id(struct reader *reader, void *into)
{
	struct view text;

	if (!reader_str(reader, &text))
		return false;
	decode_text(into, SANDBAR_SESSION_BYTES, text);
	return true;
}

int sandbar_session_create(struct sandbar *sandbar, const struct sandbar_session *session,
                           char id[SANDBAR_SESSION_BYTES], struct sandbar_error *error)
{
	static const struct decode_key KEYS[] = {{"session", read_session_id}, {NULL, NULL}};
	static const struct sandbar_session DEFAULTS;
	struct writer params;
	void *result = NULL;
	size_t length = 0;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	write_session(&params, session ? session : &DEFAULTS);
	int status = params.failed
	                 ? failure_set(error, "too_large", "session.create: the parameters are over 4 MiB")
	                 : sandbar_call(sandbar, "session.create", params.data, params.length, &result, &length, error);
	writer_finish(&params);
	if (status < 0)
		return -1;
	struct reader reader = reader_over(result, length);
	id[0] = '\0';
	decode_map(&reader, KEYS, id);
	free(result);
	return id[0] ? 0 : failure_set(error, "protocol", "the answer to session.create names no session");
}

int sandbar_session_update(struct sandbar *sandbar, const char *session, const struct sandbar_changes *changes,
                           struct sandbar_error *error)
{
	struct writer params;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	writer_map(&params, 1 + (changes->name ? 1U : 0) + (changes->context ? 1U : 0) + (changes->ttl_ms ? 1U : 0));
	writer_key_str(&params, "session", session);
	if (changes->name)
		writer_key_str(&params, "name", changes->name);
	if (changes->context)
		params_pairs(&params, "context", changes->context);
	if (changes->ttl_ms)
		writer_key_uint(&params, "ttl_ms", *changes->ttl_ms);
	int status = params.failed ? failure_set(error, "too_large", "session.update: the parameters are over 4 MiB")
	                           : sandbar_call(sandbar, "session.update", params.data, params.length, NULL, NULL, error);
	writer_finish(&params);
	return status;
}

int sandbar_session_end(struct sandbar *sandbar, const char *session, struct sandbar_error *error)
{
	struct writer params;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	writer_map(&params, 1);
	writer_key_str(&params, "session", session);
	int status = sandbar_call(sandbar, "session.end", params.data, params.length, NULL, NULL, error);
	writer_finish(&params);
	return status;
}
