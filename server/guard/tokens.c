#include "tokens.h"

#include "server/base/json_file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "tokens.json"
enum { VERSION = 1, FILE_MOST = 4 * 1024 * 1024, DIGEST_BYTES = 32, VERIFIED = 1024 };

struct verified { /* a token that was found good, known by its digest */
	uint8_t digest[DIGEST_BYTES];
	struct principal principal; /* without a name: the slot is empty */
};

struct tokens {
	int directory;
	struct evp_pkey_st *key;
	struct token_record *records;
	size_t count;
	bool is_closed;
	struct verified verified[VERIFIED]; /* each digest has one place */
};

/* --- the file ------------------------------------------------------------------------------------------------- */

static json_t *record_json(const struct token_record *record)
{
	const struct principal *principal = &record->principal;
	return json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:s, s:b}", "id", principal->id, "name", principal->name, "tenant",
	                 principal->tenant, "rights", (int)principal->rights, "expires_s", (json_int_t)principal->expires_s,
	                 "created_s", (json_int_t)record->created_s, "by", record->by, "revoked", record->is_revoked);
}

static bool copy(char *to, size_t size, const json_t *from)
{
	size_t length = json_string_length(from);
	if (!json_is_string(from) || length == 0 || length >= size)
		return false;
	memcpy(to, json_string_value(from), length + 1);
	return true;
}

static bool record_from(struct token_record *record, const json_t *json)
{
	struct principal *principal = &record->principal;
	principal->rights = (uint32_t)json_integer_value(json_object_get(json, "rights"));
	principal->expires_s = (uint64_t)json_integer_value(json_object_get(json, "expires_s"));
	record->created_s = (uint64_t)json_integer_value(json_object_get(json, "created_s"));
	record->is_revoked = json_is_true(json_object_get(json, "revoked"));
	return copy(principal->id, sizeof principal->id, json_object_get(json, "id")) &&
	       copy(principal->name, sizeof principal->name, json_object_get(json, "name")) &&
	       copy(principal->tenant, sizeof principal->tenant, json_object_get(json, "tenant")) &&
	       copy(record->by, sizeof record->by, json_object_get(json, "by"));
}

static int read_records(struct tokens *tokens, const json_t *json, struct error *err)
{
	const json_t *list = json_object_get(json, "tokens");
	size_t count = json_array_size(list);
	bool good = json_integer_value(json_object_get(json, "version")) == VERSION && json_is_array(list) &&
	            count <= TOKENS_MOST;
	for (size_t i = 0; good && i < count; i++) {
		good = record_from(&tokens->records[i], json_array_get(list, i));
		tokens->count += good;
	}
	return good ? 0 : error_set(err, 0, "`" FILE_NAME "` is damaged, or of another version");
}

static struct spare_file file_of(const struct tokens *tokens)
{
	return (struct spare_file){
		.directory = tokens->directory, .name = FILE_NAME, .is_synced = true, .is_changed = true};
}

/* A revocation holds even if the power goes a moment later: this is the one place where the loop waits for the disk,
 * and only an administrator comes here. It is written on a full disk too. */
static int save(const struct tokens *tokens, struct error *err)
{
	if (tokens->is_closed)
		return error_set(err, 0, "`" FILE_NAME "` is damaged");
	json_t *list = json_array();
	for (size_t i = 0; i < tokens->count; i++)
		json_array_append_new(list, record_json(&tokens->records[i]));
	const struct spare_file file = file_of(tokens);
	return json_file_replace(&file, json_pack("{s:i, s:o}", "version", VERSION, "tokens", list), JSON_INDENT(1), err);
}

/* --- lifecycle ------------------------------------------------------------------------------------------------ */

static struct tokens *allocate(int directory, struct evp_pkey_st *key)
{
	struct tokens *tokens = calloc(1, sizeof *tokens);
	struct token_record *records = calloc(TOKENS_MOST, sizeof *records);
	if (!tokens || !records)
		abort();
	*tokens = (struct tokens){.directory = directory, .key = key, .records = records};
	return tokens;
}

struct tokens *tokens_closed(int directory, struct evp_pkey_st *key)
{
	struct tokens *tokens = allocate(directory, key);
	tokens->is_closed = true;
	return tokens;
}

struct tokens *tokens_load(int directory, struct evp_pkey_st *key, struct error *err)
{
	struct tokens *tokens = allocate(directory, key);
	struct error fault = {0};
	json_t *json = json_file_read(directory, FILE_NAME, FILE_MOST, &fault);
	bool is_missing = !json && fault.errnum == ENOENT;
	bool good = is_missing || (json && read_records(tokens, json, &fault) == 0);
	json_decref(json);
	if (good) {
		const struct spare_file file = file_of(tokens);
		spare_file_reserve(&file);
		return tokens;
	}
	if (err)
		*err = fault;
	tokens_destroy(tokens);
	return NULL;
}

void tokens_destroy(struct tokens *tokens)
{
	if (!tokens)
		return;
	free(tokens->records);
	free(tokens);
}

const struct token_record *tokens_at(const struct tokens *tokens, size_t index)
{
	return index < tokens->count ? &tokens->records[index] : NULL;
}

const struct token_record *tokens_find(const struct tokens *tokens, const char *id)
{
	for (size_t i = 0; i < tokens->count; i++)
		if (strcmp(tokens->records[i].principal.id, id) == 0)
			return &tokens->records[i];
	return NULL;
}

/* --- verifying ------------------------------------------------------------------------------------------------ */

static bool is_expired(const struct principal *principal, uint64_t now_s)
{
	return principal->expires_s > 0 && principal->expires_s <= now_s;
}

static bool is_revoked(const struct tokens *tokens, const char *id)
{
	const struct token_record *record = tokens_find(tokens, id);
	return record && record->is_revoked;
}

static struct verified *place_of(struct tokens *tokens, const uint8_t digest[DIGEST_BYTES])
{
	return &tokens->verified[(digest[0] << 8 | digest[1]) % VERIFIED];
}

/* What was verified is forgotten when its token is revoked, so that it need not be looked up again. */
bool tokens_verify(struct tokens *tokens, const char *token, size_t length, uint64_t now_s, struct principal *principal)
{
	uint8_t digest[DIGEST_BYTES];
	if (tokens->is_closed || length > TOKEN_BYTES || EVP_Digest(token, length, digest, NULL, EVP_sha256(), NULL) != 1)
		return false;
	struct verified *verified = place_of(tokens, digest);
	if (verified->principal.name[0] && memcmp(verified->digest, digest, DIGEST_BYTES) == 0) {
		*principal = verified->principal;
		return !is_expired(principal, now_s);
	}
	if (!token_verify(tokens->key, token, length, now_s, principal) || is_revoked(tokens, principal->id))
		return false;
	memcpy(verified->digest, digest, DIGEST_BYTES);
	verified->principal = *principal;
	return true;
}

static void forget_verified(struct tokens *tokens, const char *id)
{
	for (size_t i = 0; i < VERIFIED; i++)
		if (strcmp(tokens->verified[i].principal.id, id) == 0)
			memset(&tokens->verified[i], 0, sizeof tokens->verified[i]);
}

/* --- changing ------------------------------------------------------------------------------------------------- */

static void drop_expired(struct tokens *tokens, uint64_t now_s)
{
	size_t kept = 0;
	for (size_t i = 0; i < tokens->count; i++)
		if (!is_expired(&tokens->records[i].principal, now_s))
			tokens->records[kept++] = tokens->records[i];
	tokens->count = kept;
}

char *tokens_mint(const struct tokens *tokens, struct principal *principal, struct error *err)
{
	token_new_id(principal->id);
	return token_mint(tokens->key, principal, err);
}

char *tokens_create(struct tokens *tokens, struct principal *principal, const char *by, uint64_t now_s,
                    struct error *err)
{
	drop_expired(tokens, now_s);
	if (tokens->count == TOKENS_MOST) {
		error_set(err, ENOSPC, "there are %d tokens, the most that are kept", TOKENS_MOST);
		return NULL;
	}
	char *token = tokens_mint(tokens, principal, err);
	if (!token)
		return NULL;
	struct token_record *record = &tokens->records[tokens->count++];
	*record = (struct token_record){.principal = *principal, .created_s = now_s};
	snprintf(record->by, sizeof record->by, "%s", by);
	if (save(tokens, err) == 0)
		return token;
	tokens->count--;
	free(token);
	return NULL;
}

int tokens_revoke(struct tokens *tokens, const struct token_record *record, struct error *err)
{
	struct token_record *own = &tokens->records[record - tokens->records];
	own->is_revoked = true;
	forget_verified(tokens, own->principal.id);
	return save(tokens, err);
}
