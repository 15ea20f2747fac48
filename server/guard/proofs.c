#include "proofs.h"

#include "server/base/json_file.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "proofs.json"
enum { VERSION = 1 };

struct proofs {
	int directory;
	size_t count;
	struct proof_record records[TEMPLATES_MOST + 1]; /* of those that the configuration has, and `default` */
};

enum {
	RECORDS = TEMPLATES_MOST + 1,
	RECORD_MOST = 6 * sizeof(struct proof_record) + 256, /* in the file; of a text JSON writes a byte in six */
	FILE_MOST = (RECORDS + 1) * RECORD_MOST              /* one more for what stands around them */
};
#define PROVED_S_MOST (UINT64_C(1) << 32) /* in microseconds, too, it is an integer that the wire has */

/* The texts of a record. */
static const struct {
	const char *key;
	size_t offset, size;
} texts[] = {
#define TEXT(field)                                                                                \
	{                                                                                              \
#field, offsetof(struct proof_record, field), sizeof(((struct proof_record *)NULL)->field) \
	}
	TEXT(template), TEXT(kernel), TEXT(policy), TEXT(root), TEXT(facts),
#undef TEXT
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* --- the file ------------------------------------------------------------------------------------------------- */

static bool record_from(struct proof_record *record, const json_t *json)
{
	json_int_t proved_s = json_integer_value(json_object_get(json, "proved_s"));
	if (proved_s < 0 || proved_s > (json_int_t)PROVED_S_MOST)
		return false;
	record->has_held = json_is_true(json_object_get(json, "held"));
	record->proved_s = (uint64_t)proved_s;
	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = json_string_value(json_object_get(json, texts[i].key));
		if (!text || strlen(text) >= texts[i].size)
			return false;
		strcpy((char *)record + texts[i].offset, text);
	}
	return true;
}

static json_t *record_json(const struct proof_record *record)
{
	json_t *json = json_pack("{s:b, s:I}", "held", record->has_held, "proved_s", (json_int_t)record->proved_s);
	for (size_t i = 0; i < TEXTS; i++)
		json_object_set_new(json, texts[i].key, json_string((const char *)record + texts[i].offset));
	return json;
}

static int save(const struct proofs *proofs, struct error *err)
{
	json_t *list = json_array();
	for (size_t i = 0; i < proofs->count; i++)
		json_array_append_new(list, record_json(&proofs->records[i]));
	const struct spare_file file = {.directory = proofs->directory, .name = FILE_NAME};
	return json_file_replace(&file, json_pack("{s:i, s:o}", "version", VERSION, "proofs", list), JSON_INDENT(1), err);
}

/* One that is damaged, or far too large, is none: it must not keep the gateway from starting. */
struct proofs *proofs_load(int directory)
{
	struct proofs *proofs = calloc(1, sizeof *proofs);
	if (!proofs)
		abort();
	proofs->directory = directory;
	json_t *json = json_file_read(directory, FILE_NAME, FILE_MOST, NULL);
	const json_t *list = json_object_get(json, "proofs");
	if (json_integer_value(json_object_get(json, "version")) == VERSION && json_array_size(list) <= RECORDS)
		while (proofs->count < json_array_size(list) &&
		       record_from(&proofs->records[proofs->count], json_array_get(list, proofs->count)))
			proofs->count++;
	json_decref(json);
	return proofs;
}

void proofs_destroy(struct proofs *proofs)
{
	free(proofs);
}

/* --- records -------------------------------------------------------------------------------------------------- */

static size_t place_of(const struct proofs *proofs, const char *template)
{
	size_t i = 0;
	while (i < proofs->count && strcmp(proofs->records[i].template, template) != 0)
		i++;
	return i;
}

const struct proof_record *proofs_find(const struct proofs *proofs, const char *template)
{
	size_t place = place_of(proofs, template);
	return place < proofs->count ? &proofs->records[place] : NULL;
}

/* Where there is no room, of templates that the configuration had at some time, the oldest goes. */
static size_t place_for(const struct proofs *proofs, const char *template)
{
	size_t place = place_of(proofs, template);
	if (place < RECORDS)
		return place;
	place = 0;
	for (size_t i = 1; i < proofs->count; i++)
		if (proofs->records[i].proved_s < proofs->records[place].proved_s)
			place = i;
	return place;
}

int proofs_keep(struct proofs *proofs, const struct proof_record *record, struct error *err)
{
	size_t count = proofs->count, place = place_for(proofs, record->template);
	struct proof_record before = proofs->records[place];
	proofs->records[place] = *record;
	proofs->count = place == count ? count + 1 : count;
	if (save(proofs, err) == 0)
		return 0;
	proofs->records[place] = before;
	proofs->count = count;
	return -1;
}

void proof_digest(const void *data, size_t length, char text[PROOF_DIGEST_BYTES])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned size;
	if (EVP_Digest(data, length, bytes, &size, EVP_sha256(), NULL) != 1)
		abort();
	for (unsigned i = 0; i < size; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", bytes[i]);
}

bool is_proof_digest(const char *text)
{
	return strlen(text) == PROOF_DIGEST_BYTES - 1 && strspn(text, "0123456789abcdef") == PROOF_DIGEST_BYTES - 1;
}
