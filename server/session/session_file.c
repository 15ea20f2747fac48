#include "session_file.h"

#include "access_file.h"
#include "server/base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1 };

/* What the largest of such files has: texts, of which JSON writes a byte in six, with what stands around them. */
enum {
	ENV_MOST = 6 * (LIMIT_MESSAGE_BYTES + TEMPLATE_ENV_BYTES) + 4 * (LIMIT_ENVIRONMENT + TEMPLATE_ENV_BYTES),
	CONTEXT_MOST = 6 * (CONTEXT_SESSION_BYTES + CONTEXT_ENTRIES),
	GRANT_MOST = 512,
	SHARE_MOST = 2048 + SHARE_USES * (2 * CLIENT_ID_BYTES + 4),
	REST_MOST = 8192, /* names, numbers and keys */
	FILE_MOST = ENV_MOST + CONTEXT_MOST + ACCESS_GRANTS * GRANT_MOST + ACCESS_SHARES * SHARE_MOST + REST_MOST
};

static const struct {
	const char *name;
	size_t offset;
	size_t size;
} limit_rows[] = {
#define ROW(field)                                                                                     \
	{                                                                                                  \
#field, offsetof(struct sandbox_limits, field), sizeof(((struct sandbox_limits *)NULL)->field) \
	}
#define SESSION_LIMIT(field, ...) ROW(field),
#define PROCESS_LIMIT(...)
#define TENANT_LIMIT(...)
#include "sandbox/limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
	ROW(profile),
	ROW(own_time),
	ROW(user),
#undef ROW
};
enum { LIMIT_ROWS = sizeof limit_rows / sizeof *limit_rows };

static const struct {
	const char *name;
	size_t offset;
} number_rows[] = {
	{"record_bytes", offsetof(struct session, record_bytes)}, {"most_ttl_ms", offsetof(struct session, most_ttl_ms)},
	{"created_us", offsetof(struct session, created_us)},     {"away_ms", offsetof(struct session, client.away_ms)},
	{"ended_us", offsetof(struct session, ended_us)},         {"last", offsetof(struct session, kept_last)},
};
enum { NUMBER_ROWS = sizeof number_rows / sizeof *number_rows };

static json_t *limits_json(const struct sandbox_limits *limits)
{
	json_t *map = json_object();
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		const char *at = (const char *)limits + limit_rows[i].offset;
		uint64_t wide = 0;
		uint32_t narrow = 0;
		memcpy(limit_rows[i].size == sizeof wide ? (void *)&wide : (void *)&narrow, at, limit_rows[i].size);
		uint64_t value = wide + narrow;
		json_object_set_new(map, limit_rows[i].name, json_integer((json_int_t)value));
	}
	return map;
}

/* What an older version did not know is as if nobody had asked for it; what is no number, or too large for its field, is a number
 * that sandbox_limits_check() refuses. */
static void limits_from(struct sandbox_limits *limits, const json_t *map)
{
	*limits = sandbox_limits_default();
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		const json_t *number = json_object_get(map, limit_rows[i].name);
		if (!number)
			continue;
		char *at = (char *)limits + limit_rows[i].offset;
		uint64_t wide = json_is_integer(number) ? (uint64_t)json_integer_value(number) : UINT64_MAX;
		uint32_t narrow = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
		memcpy(at, limit_rows[i].size == sizeof wide ? (void *)&wide : (void *)&narrow, limit_rows[i].size);
	}
}

/* An environment can hold any bytes but NUL; JSON holds text: bytes are kept as code points below 256. */
static json_t *bytes_json(const char *bytes)
{
	size_t length = strlen(bytes);
	char *text = malloc(2 * length + 1), *to = text;
	if (!text)
		abort();
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		if (byte >= 0x80)
			*to++ = (char)(0xc0 | byte >> 6);
		*to++ = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
	}
	json_t *json = json_stringn(text, (size_t)(to - text));
	free(text);
	return json;
}

static char *bytes_from(const json_t *json)
{
	const char *text = json_string_value(json);
	char *bytes = malloc((text ? strlen(text) : 0) + 1), *to = bytes;
	if (!bytes)
		abort();
	for (; text && *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte >= 0xc0 && text[1])
			byte = (unsigned char)(byte << 6 | ((unsigned char)*++text & 0x3f));
		*to++ = (char)byte;
	}
	*to = '\0';
	return bytes;
}

static json_t *env_json(char *const *env)
{
	json_t *list = json_array();
	for (; env && *env; env++)
		json_array_append_new(list, bytes_json(*env));
	return list;
}

static char **env_from(const json_t *list)
{
	size_t count = json_array_size(list);
	char **env = calloc(count + 1, sizeof *env);
	if (!env)
		abort();
	for (size_t i = 0; i < count; i++)
		env[i] = bytes_from(json_array_get(list, i));
	return env;
}

static json_t *context_json(char *const *context)
{
	json_t *map = json_object();
	for (; context && *context; context += 2)
		json_object_set_new(map, context[0], json_string(context[1]));
	return map;
}

static char **context_from(json_t *map)
{
	const char **list = calloc(2 * json_object_size(map) + 1, sizeof *list), **to = list;
	const char *name;
	json_t *text;
	if (!list)
		abort();
	json_object_foreach(map, name, text)
	{
		*to++ = name;
		*to++ = json_is_string(text) ? json_string_value(text) : "";
	}
	char **context = context_copy(list);
	free(list);
	return context;
}

/* One that has ended changes no more. */
static int write_whole(const struct session *session, int directory, json_t *json, struct error *err)
{
	const struct spare_file file = {.directory = directory, .name = SESSION_FILE, .is_changed = session->ended_us == 0};
	int result = json_file_replace(&file, json, JSON_COMPACT, err);
	if (result == 0 && !file.is_changed)
		spare_file_drop(directory, SESSION_FILE);
	return result;
}

int session_file_save(const struct session *session, struct error *err)
{
	int directory = openat(session->home->directory, session->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory < 0)
		return error_set(err, errno, "open the directory of session `%s`", session->id);
	json_t *json = json_pack("{s:i, s:s, s:s, s:I, s:o, s:o}", "version", VERSION, "name", session->name, "tenant",
	                         session->tenant, "ttl_ms", (json_int_t)session->ttl_ms, "limits",
	                         limits_json(&session->limits), "env", env_json(session->ended_us ? NULL : session->env));
	if (json)
		json_object_set_new(json, "context", context_json(session->context));
	if (json)
		json_object_set_new(json, "template", json_string(session->template));
	if (json)
		json_object_set_new(json, "access", access_json(&session->access));
	if (json && session->client.away_ms > 0)
		json_object_set_new(json, "client", client_json(session->client.client));
	if (json && session->end_reason)
		json_object_set_new(json, "ending", json_string(session->end_reason));
	for (size_t i = 0; json && i < NUMBER_ROWS; i++) {
		uint64_t number;
		memcpy(&number, (const char *)session + number_rows[i].offset, sizeof number);
		json_object_set_new(json, number_rows[i].name, json_integer((json_int_t)number));
	}
	int result = write_whole(session, directory, json, err);
	close(directory);
	return result;
}

/* Reasons are static texts in the running program. */
static const char *known_reason(const char *text)
{
	static const char *const reasons[] = {"ended", "ttl", "disconnect", "stopped", "lost"};
	for (size_t i = 0; text && i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(reasons[i], text) == 0)
			return reasons[i];
	return NULL;
}

void session_end_store(struct session *session)
{
	if (!session->records)
		return;
	struct end_record *end = records_end(session->records);
	snprintf(end->reason, sizeof end->reason, "%s", session->end_reason ? session->end_reason : "");
	end->last = session->kept_last;
	end->ended_us = session->ended_us;
}

void session_end_load(struct session *session)
{
	const struct end_record *end = session->records ? records_end(session->records) : NULL;
	const char *reason = end && memchr(end->reason, 0, sizeof end->reason) ? known_reason(end->reason) : NULL;
	if (!reason)
		return;
	session->end_reason = reason;
	if (session->ended_us > 0 || end->ended_us == 0)
		return;
	session->ended_us = end->ended_us;
	session->kept_last = end->last;
}

static void copy(char *to, size_t size, const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));
	snprintf(to, size, "%s", text ? text : "");
}

int session_file_load(struct session *session, int directory, struct error *err)
{
	json_t *json = json_file_read(directory, SESSION_FILE, FILE_MOST, err);
	if (!json)
		return -1;
	if (json_integer_value(json_object_get(json, "version")) != VERSION) {
		json_decref(json);
		return error_set(err, 0, "`" SESSION_FILE "` is not of this version");
	}
	copy(session->name, sizeof session->name, json, "name");
	copy(session->tenant, sizeof session->tenant, json, "tenant");
	copy(session->template, sizeof session->template, json, "template");
	session->ttl_ms = (uint64_t)json_integer_value(json_object_get(json, "ttl_ms"));
	limits_from(&session->limits, json_object_get(json, "limits"));
	session->env = env_from(json_object_get(json, "env"));
	session->context = context_from(json_object_get(json, "context"));
	for (size_t i = 0; i < NUMBER_ROWS; i++) {
		uint64_t number = (uint64_t)json_integer_value(json_object_get(json, number_rows[i].name));
		memcpy((char *)session + number_rows[i].offset, &number, sizeof number);
	}
	session->end_reason = known_reason(json_string_value(json_object_get(json, "ending")));
	bool good = access_from(&session->access, json_object_get(json, "access"));
	bool is_owned = session->client.away_ms > 0;
	good &= !is_owned || client_from(session->client.client, json_object_get(json, "client"));
	json_decref(json);
	return good ? 0 : error_set(err, 0, "`" SESSION_FILE "` says who may come, and cannot be understood");
}
