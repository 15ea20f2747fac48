#include "access_file.h"

#include <stdlib.h>
#include <string.h>

enum { CLIENT_TEXT = 2 * CLIENT_ID_BYTES };

/* --- parts ---------------------------------------------------------------------------------------------------- */

json_t *client_json(const uint8_t client[CLIENT_ID_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	char text[CLIENT_TEXT];
	for (size_t i = 0; i < CLIENT_ID_BYTES; i++) {
		text[2 * i] = digits[client[i] >> 4];
		text[2 * i + 1] = digits[client[i] & 15];
	}
	return json_stringn(text, sizeof text);
}

static int digit_of(char text)
{
	return text >= '0' && text <= '9' ? text - '0' : text >= 'a' && text <= 'f' ? text - 'a' + 10 : -1;
}

bool client_from(uint8_t client[CLIENT_ID_BYTES], const json_t *json)
{
	const char *text = json_string_value(json);
	if (json_string_length(json) != CLIENT_TEXT)
		return false;
	for (size_t i = 0; i < CLIENT_ID_BYTES; i++) {
		int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		client[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool text_from(char *to, size_t size, const json_t *map, const char *key)
{
	const json_t *json = json_object_get(map, key);
	if (!json_is_string(json) || json_string_length(json) >= size)
		return false;
	memcpy(to, json_string_value(json), json_string_length(json) + 1);
	return true;
}

/* "none": removed. */
static json_t *role_json(enum role role)
{
	const char *name = role_name(role);
	return json_string(name ? name : "none");
}

static bool role_from(enum role *role, const json_t *map)
{
	const json_t *json = json_object_get(map, "role");
	const char *name = json_string_value(json);
	if (!name)
		return false;
	*role = role_find(name, (uint32_t)json_string_length(json));
	return *role != ROLE_NONE || strcmp(name, "none") == 0;
}

/* --- grants --------------------------------------------------------------------------------------------------- */

static json_t *grant_json(const struct grant *grant)
{
	const struct bearer *bearer = &grant->bearer;
	json_t *json = json_pack("{s:s, s:I, s:o}", "token", bearer->token, "participant", (json_int_t)grant->participant,
	                         "role", role_json(grant->role));
	if (bearer->is_guest)
		json_object_set_new(json, "client", client_json(bearer->client));
	return json;
}

static bool grant_from(struct grant *grant, const json_t *json)
{
	const json_t *client = json_object_get(json, "client");
	grant->participant = (uint32_t)json_integer_value(json_object_get(json, "participant"));
	grant->bearer.is_guest = client != NULL;
	return text_from(grant->bearer.token, sizeof grant->bearer.token, json, "token") && role_from(&grant->role, json) &&
	       (!client || client_from(grant->bearer.client, client));
}

static bool grants_from(struct access *access, const json_t *list)
{
	size_t count = json_array_size(list);
	if (count > ACCESS_GRANTS)
		return false;
	access->grants = calloc(count + 1, sizeof *access->grants);
	if (!access->grants)
		abort();
	access->grant_count = count;
	for (size_t i = 0; i < count; i++)
		if (!grant_from(&access->grants[i], json_array_get(list, i)))
			return false;
	return true;
}

/* --- shares --------------------------------------------------------------------------------------------------- */

static json_t *share_json(const struct share *share)
{
	json_t *clients = json_array();
	for (uint32_t i = 0; i < share->used; i++)
		json_array_append_new(clients, client_json(share->clients[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:b, s:b, s:o}", "share", share->id, "name", share->name,
	                 "by", share->by, "role", role_json(share->role), "created_s", (json_int_t)share->created_s,
	                 "expires_s", (json_int_t)share->expires_s, "uses", (json_int_t)share->uses, "closed",
	                 share->is_closed, "revoked", share->is_revoked, "clients", clients);
}

static bool clients_from(struct share *share, const json_t *list)
{
	size_t count = json_array_size(list);
	if (count > SHARE_USES)
		return false;
	share->clients = calloc(count + 1, sizeof *share->clients);
	if (!share->clients)
		abort();
	share->used = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		if (!client_from(share->clients[i], json_array_get(list, i)))
			return false;
	return true;
}

static bool share_from(struct share *share, const json_t *json)
{
	share->created_s = (uint64_t)json_integer_value(json_object_get(json, "created_s"));
	share->expires_s = (uint64_t)json_integer_value(json_object_get(json, "expires_s"));
	share->uses = (uint32_t)json_integer_value(json_object_get(json, "uses"));
	share->is_closed = json_is_true(json_object_get(json, "closed"));
	share->is_revoked = json_is_true(json_object_get(json, "revoked"));
	return text_from(share->id, sizeof share->id, json, "share") &&
	       text_from(share->name, sizeof share->name, json, "name") &&
	       text_from(share->by, sizeof share->by, json, "by") && role_from(&share->role, json) &&
	       clients_from(share, json_object_get(json, "clients"));
}

static bool shares_from(struct access *access, const json_t *list)
{
	size_t count = json_array_size(list);
	if (count > ACCESS_SHARES)
		return false;
	access->shares = calloc(count + 1, sizeof *access->shares);
	if (!access->shares)
		abort();
	access->share_count = count;
	for (size_t i = 0; i < count; i++)
		if (!share_from(&access->shares[i], json_array_get(list, i)))
			return false;
	return true;
}

/* --- whole ---------------------------------------------------------------------------------------------------- */

json_t *access_json(const struct access *access)
{
	json_t *grants = json_array(), *shares = json_array();
	for (size_t i = 0; i < access->grant_count; i++)
		json_array_append_new(grants, grant_json(&access->grants[i]));
	for (size_t i = 0; i < access->share_count; i++)
		json_array_append_new(shares, share_json(&access->shares[i]));
	return json_pack("{s:o, s:o}", "roles", grants, "shares", shares);
}

bool access_from(struct access *access, const json_t *json)
{
	return grants_from(access, json_object_get(json, "roles")) && shares_from(access, json_object_get(json, "shares"));
}
