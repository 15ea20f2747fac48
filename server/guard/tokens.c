#include "tokens.h"

#include "server/base/json_file.h"

#include <assert.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "tokens.json"
enum { VERSION = 1, DIGEST_BYTES = 32, VERIFIED = 1024 };
#define NO_RECORD SIZE_MAX

/* What the largest record takes in the file: its keys and numbers, and its texts, of which JSON writes a byte in six. */
enum {
	KEYS_AND_NUMBERS = 512,
	TEXTS = TOKEN_ID_BYTES + 2 * PRINCIPAL_NAME_BYTES + PRINCIPAL_NAME_BYTES - 1,
	RECORD_MOST = KEYS_AND_NUMBERS + 6 * TEXTS,
	FILE_MOST = (TOKENS_MOST + 1) * RECORD_MOST, /* one more for what stands around them */
};

struct verified { /* a token that was found good, known by its digest */
	uint8_t digest[DIGEST_BYTES];
	struct principal principal; /* without a name: the slot is empty */
};

struct tokens {
	int directory;
	struct evp_pkey_st *key;
	struct token_record *records; /* room for TOKENS_MOST, and the next one beside what makes room for it */
	size_t count;
	bool is_closed;
	struct verified verified[VERIFIED]; /* each digest has one place */
};

/* --- the file ------------------------------------------------------------------------------------------------- */

static json_t *record_json(const struct token_record *record)
{
	const struct principal *principal = &record->principal;
	json_t *json = json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:s, s:b}", "id", principal->id, "name", principal->name,
	                         "tenant", principal->tenant, "rights", (int)principal->rights, "expires_s",
	                         (json_int_t)principal->expires_s, "created_s", (json_int_t)record->created_s, "by",
	                         record->by, "revoked", record->is_revoked);
	if (json && record->uses > 0)
		json_object_update_new(json, json_pack("{s:i, s:i, s:I, s:I}", "uses", (int)record->uses, "used",
		                                       (int)record->used, "lasts_s", (json_int_t)record->lasts_s, "until_s",
		                                       (json_int_t)record->until_s));
	return json;
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
	record->uses = (uint32_t)json_integer_value(json_object_get(json, "uses"));
	record->used = (uint32_t)json_integer_value(json_object_get(json, "used"));
	record->lasts_s = (uint64_t)json_integer_value(json_object_get(json, "lasts_s"));
	record->until_s = (uint64_t)json_integer_value(json_object_get(json, "until_s"));
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
 * and only an administrator comes here. It is written on a full disk too. The record at OUT, if there is one, is left out. */
static int save(const struct tokens *tokens, size_t out, struct error *err)
{
	if (tokens->is_closed)
		return error_set(err, 0, "`" FILE_NAME "` is damaged");
	json_t *list = json_array();
	for (size_t i = 0; i < tokens->count; i++)
		if (i != out)
			json_array_append_new(list, record_json(&tokens->records[i]));
	const struct spare_file file = file_of(tokens);
	return json_file_replace(&file, json_pack("{s:i, s:o}", "version", VERSION, "tokens", list), JSON_INDENT(1), err);
}

/* --- lifecycle ------------------------------------------------------------------------------------------------ */

static struct tokens *allocate(int directory, struct evp_pkey_st *key)
{
	struct tokens *tokens = calloc(1, sizeof *tokens);
	struct token_record *records = calloc(TOKENS_MOST + 1, sizeof *records);
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

/* A link that nobody gets a token by any more: worth nothing, also when it is forgotten. */
static bool is_spent_link(const struct token_record *record)
{
	return record->uses > 0 && (record->is_revoked || record->used >= record->uses);
}

size_t tokens_count(const struct tokens *tokens, const char *tenant, uint64_t now_s)
{
	size_t count = 0;
	for (size_t i = 0; i < tokens->count; i++) {
		const struct token_record *record = &tokens->records[i];
		count += strcmp(record->principal.tenant, tenant) == 0 && !is_expired(&record->principal, now_s) &&
		         !is_spent_link(record);
	}
	return count;
}

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

/* Which record goes when another is added; the number of all: none may. */
static size_t record_to_drop(const struct tokens *tokens)
{
	if (tokens->count < TOKENS_MOST)
		return NO_RECORD;
	size_t oldest = 0;
	while (oldest < tokens->count && !is_spent_link(&tokens->records[oldest]))
		oldest++;
	return oldest;
}

static void drop(struct tokens *tokens, size_t index)
{
	struct token_record *record = &tokens->records[index];
	memmove(record, record + 1, (--tokens->count - index) * sizeof *record);
}

char *tokens_add(struct tokens *tokens, struct token_record *record, uint64_t now_s, struct error *err)
{
	drop_expired(tokens, now_s);
	size_t out = record_to_drop(tokens);
	if (out == tokens->count) {
		error_set(err, ENOSPC, "there are %d tokens, the most that are kept", TOKENS_MOST);
		return NULL;
	}
	struct principal bearer = record->principal;
	if (record->uses > 0)
		bearer.rights = RIGHT_REDEEM;
	char *token = tokens_mint(tokens, &bearer, err);
	if (!token)
		return NULL;
	memcpy(record->principal.id, bearer.id, sizeof bearer.id);
	record->created_s = now_s;
	tokens->records[tokens->count++] = *record;
	if (save(tokens, out, err) == 0) {
		if (out != NO_RECORD)
			drop(tokens, out);
		return token;
	}
	tokens->count--;
	explicit_bzero(token, strlen(token));
	free(token);
	return NULL;
}

const char *token_link_fault(const struct token_record *record, uint64_t now_s)
{
	if (!record || record->uses == 0)
		return "the link is not known here";
	if (record->is_revoked)
		return "the link was revoked";
	if (record->used >= record->uses)
		return "the link was used already";
	return is_expired(&record->principal, now_s) ? "the link has expired" : NULL;
}

static struct token_record *own_record(struct tokens *tokens, const char *id)
{
	const struct token_record *record = tokens_find(tokens, id);
	return record ? &tokens->records[record - tokens->records] : NULL;
}

/* The link's place in the list may change when another record is added. */
char *tokens_redeem(struct tokens *tokens, const char *id, uint64_t now_s, struct principal *principal,
                    struct error *err)
{
	struct token_record *link = own_record(tokens, id);
	assert(link && !token_link_fault(link, now_s));
	struct token_record record = {.principal = link->principal};
	uint64_t expires_s = now_s + link->lasts_s;
	memcpy(record.by, link->by, sizeof record.by);
	record.principal.expires_s = link->until_s > 0 && link->until_s < expires_s ? link->until_s : expires_s;
	link->used++;
	char *token = tokens_add(tokens, &record, now_s, err);
	if (!token)
		own_record(tokens, id)->used--;
	*principal = record.principal;
	return token;
}

int tokens_revoke(struct tokens *tokens, const struct token_record *record, struct error *err)
{
	struct token_record *own = &tokens->records[record - tokens->records];
	own->is_revoked = true;
	forget_verified(tokens, own->principal.id);
	return save(tokens, NO_RECORD, err);
}
