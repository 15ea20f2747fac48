#include "proof.h"

#include "columns.h"
#include "clients/c/failure.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VERSION = 1, FILE_MOST = 4 * 1024 * 1024 };

struct proof {
	json_t *document;
};

const char *const PROOF_FACT_NAMES[PROOF_FACTS] = {"kernel", "policy", "root"};

/* As the program prints them, and as the document calls them. */
static const char *const MEMBERS[] = {"verdict", "group", "probe", "control", "expected", "got", "attempt"};
enum { MEMBER_COUNT = sizeof(MEMBERS) / sizeof(MEMBERS[0]) };

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_t *read_row(char *line)
{
	json_t *row = json_object();

	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		char *cell = strsep(&line, "\t");
		if (!cell || json_object_set_new(row, MEMBERS[i], json_string(cell)) < 0) {
			json_decref(row);
			return NULL;
		}
	}
	if (!line)
		return row;
	json_decref(row);
	return NULL;
}

/* NULL if a line is none. */
static json_t *read_rows(char *lines)
{
	json_t *rows = json_array();

	for (char *line; (line = strsep(&lines, "\n"));) {
		if (!*line)
			continue;
		json_t *row = read_row(line);
		if (!row) {
			json_decref(rows);
			return NULL;
		}
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *count_verdicts(const json_t *rows)
{
	static const char *const verdicts[] = {"held", "open", "other", "accepted", "skipped"};
	json_t *counts = json_object();
	size_t i, v;
	json_t *row;

	for (v = 0; v < sizeof(verdicts) / sizeof(verdicts[0]); v++) {
		json_int_t count = 0;
		json_array_foreach(rows, i, row) count += strcmp(text_of(row, "verdict"), verdicts[v]) == 0;
		json_object_set_new(counts, verdicts[v], json_integer(count));
	}
	return counts;
}

static json_int_t count_of(const struct proof *proof, const char *verdict)
{
	return json_integer_value(json_object_get(json_object_get(proof->document, "counts"), verdict));
}

static json_t *fingerprints_of(const struct proof_facts *facts)
{
	json_t *fingerprints = json_object();

	for (int i = 0; i < PROOF_FACTS; i++)
		json_object_set_new(fingerprints, PROOF_FACT_NAMES[i], json_string(facts->fingerprints[i]));
	return fingerprints;
}

static struct proof *proof_over(json_t *document)
{
	struct proof *proof = malloc(sizeof(*proof));

	if (!proof || !document)
		abort();
	proof->document = document;
	return proof;
}

struct proof *proof_create(const char *template, const struct proof_facts *facts, char *lines,
                           struct sandbar_error *error)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;
	json_t *rows = read_rows(lines);

	if (!rows || json_array_size(rows) == 0) {
		json_decref(rows);
		failure_set(error, "protocol", "the program inside did not tell what came of the attack");
		return NULL;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	json_t *counts = count_verdicts(rows);
	bool has_held = json_integer_value(json_object_get(counts, "open")) == 0 &&
	                json_integer_value(json_object_get(counts, "other")) == 0;
	return proof_over(json_pack("{s:i, s:s, s:s?, s:b, s:o, s:o, s:o}", "version", VERSION, "time", text, "template",
	                            template, "held", has_held, "counts", counts, "fingerprints", fingerprints_of(facts),
	                            "probes", rows));
}

struct proof *proof_load(const char *path, struct sandbar_error *error)
{
	json_error_t fault;
	FILE *file = fopen(path, "re");

	if (!file) {
		failure_set(error, "system", "%s: %s", path, strerror(errno));
		return NULL;
	}
	char *bytes = malloc(FILE_MOST);
	if (!bytes)
		abort();
	size_t length = fread(bytes, 1, FILE_MOST, file);
	fclose(file);
	json_t *document = length < FILE_MOST ? json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &fault) : NULL;
	free(bytes);
	if (json_integer_value(json_object_get(document, "version")) == VERSION &&
	    json_is_object(json_object_get(document, "fingerprints")))
		return proof_over(document);
	json_decref(document);
	failure_set(error, "usage", "%s: this is no proof of `sandbar prove`", path);
	return NULL;
}

void proof_destroy(struct proof *proof)
{
	if (!proof)
		return;
	json_decref(proof->document);
	free(proof);
}

bool proof_has_held(const struct proof *proof)
{
	return json_is_true(json_object_get(proof->document, "held"));
}

const char *proof_template(const struct proof *proof)
{
	return json_string_value(json_object_get(proof->document, "template"));
}

const char *proof_time(const struct proof *proof)
{
	return text_of(proof->document, "time");
}

const char *proof_changed_fact(const struct proof *proof, const struct proof_facts *now)
{
	const json_t *fingerprints = json_object_get(proof->document, "fingerprints");

	for (int i = 0; i < PROOF_FACTS; i++)
		if (strcmp(text_of(fingerprints, PROOF_FACT_NAMES[i]), now->fingerprints[i]) != 0)
			return PROOF_FACT_NAMES[i];
	return NULL;
}

void proof_write_params(const struct proof *proof, struct writer *params)
{
	const json_t *fingerprints = json_object_get(proof->document, "fingerprints");

	writer_map(params, proof_template(proof) ? 3 : 2);
	if (proof_template(proof))
		writer_key_str(params, "template", proof_template(proof));
	writer_key_bool(params, "held", proof_has_held(proof));
	writer_str(params, "fingerprints");
	writer_map(params, PROOF_FACTS);
	for (int i = 0; i < PROOF_FACTS; i++)
		writer_key_str(params, PROOF_FACT_NAMES[i], text_of(fingerprints, PROOF_FACT_NAMES[i]));
}

static bool has_held(const json_t *row)
{
	return strcmp(text_of(row, "verdict"), "open") != 0 && strcmp(text_of(row, "verdict"), "other") != 0;
}

static void print_rows(const struct proof *proof, bool with_all)
{
	static const char *const HEADINGS[] = {"VERDICT", "GROUP", "PROBE", "CONTROL", "EXPECTED", "GOT", NULL};
	struct columns *columns = columns_create(HEADINGS);
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(proof->document, "probes"), i, row)
	{
		for (int member = 0; HEADINGS[member] && (with_all || !has_held(row)); member++)
			columns_add(columns, text_of(row, MEMBERS[member]), strlen(text_of(row, MEMBERS[member])));
	}
	columns_print(columns, stdout);
	putchar('\n');
}

void proof_print(const struct proof *proof, bool with_all)
{
	const json_t *fingerprints = json_object_get(proof->document, "fingerprints");

	if (with_all || !proof_has_held(proof))
		print_rows(proof, with_all);
	puts(proof_has_held(proof) ? "everything held" : "not everything held");
	printf("%lld held, %lld open, %lld refused otherwise than expected, %lld accepted (docs/security.md), %lld "
	       "skipped\n",
	       count_of(proof, "held"), count_of(proof, "open"), count_of(proof, "other"), count_of(proof, "accepted"),
	       count_of(proof, "skipped"));
	for (int fact = 0; fact < PROOF_FACTS; fact++)
		printf("%-7s %s\n", PROOF_FACT_NAMES[fact], text_of(fingerprints, PROOF_FACT_NAMES[fact]));
}

void proof_print_json(const struct proof *proof)
{
	json_dumpf(proof->document, stdout, JSON_COMPACT);
	putchar('\n');
}

/* Whoever reads the file meanwhile sees the old one or the new one. */
int proof_save(const struct proof *proof, const char *path, struct sandbar_error *error)
{
	char *beside;

	if (asprintf(&beside, "%s.new", path) < 0)
		abort();
	int status = json_dump_file(proof->document, beside, JSON_INDENT(1));
	if (status == 0)
		status = rename(beside, path);
	if (status < 0)
		failure_set(error, "system", "%s: %s", path, strerror(errno));
	free(beside);
	return status;
}
