#include "clients/c/command/proof.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct proof_facts FACTS = {{"aa", "bb", "cc"}};

#define HELD "held\tmounts\tmount-tmpfs\tseccomp\tEPERM\tEPERM\tmount a tmpfs\n"
#define OPEN "open\tproc\tread-keys\tproc mask\tnothing\topen\tread /proc/keys\n"
#define ACCEPTED "accepted\tneighbours\tchannel-flock\tshared inode\tnothing\topen\tsee a lock\n"
#define OTHER "other\tproc\tread-kcore\tproc mask\tnothing\tEIO\tread /proc/kcore\n"

static struct proof *make(const char *text)
{
	struct sandbar_error error = {"", ""};
	char *lines = strdup(text);
	struct proof *proof = proof_create(NULL, &FACTS, lines, &error);

	cr_assert(proof ? error.code[0] == '\0' : strcmp(error.code, "protocol") == 0, "%s: %s", text, error.message);
	free(lines);
	return proof;
}

/* Everything held when nothing was open and nothing was refused otherwise than expected. */
Test(proof, holds_or_not)
{
	static const struct {
		const char *lines;
		bool has_held;
	} ROWS[] = {{HELD, true},       {HELD ACCEPTED, true},    {OPEN, false},
	            {HELD OPEN, false}, {HELD OTHER HELD, false}, {"skipped\ta\tb\tc\td\te\tf\n", true}};

	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		struct proof *proof = make(ROWS[i].lines);
		cr_assert_not_null(proof);
		cr_assert_eq(proof_has_held(proof), ROWS[i].has_held, "%s", ROWS[i].lines);
		proof_destroy(proof);
	}
}

/* What did not hold is listed unasked; what held is only with all the rest. */
Test(proof, lists_what_did_not_hold)
{
	static const struct {
		const char *lines;
		bool with_all, is_open_listed, is_held_listed;
	} ROWS[] = {{HELD ACCEPTED, false, false, false},
	            {HELD ACCEPTED, true, false, true},
	            {HELD OPEN, false, true, false},
	            {HELD OPEN, true, true, true}};
	char text[4096];

	cr_redirect_stdout();
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		struct proof *proof = make(ROWS[i].lines);
		proof_print(proof, ROWS[i].with_all);
		fflush(stdout);
		ssize_t length = read(fileno(cr_get_redirected_stdout()), text, sizeof(text) - 1);
		cr_assert_gt(length, 0);
		text[length] = '\0';
		cr_assert_eq(strstr(text, "read-keys") != NULL, ROWS[i].is_open_listed, "%s", text);
		cr_assert_eq(strstr(text, "mount-tmpfs") != NULL, ROWS[i].is_held_listed, "%s", text);
		cr_assert_eq(strstr(text, "not everything held\n") != NULL, !proof_has_held(proof), "%s", text);
		cr_assert_not_null(strstr(text, "everything held\n"));
		proof_destroy(proof);
	}
}

/* What comes from inside is read with care: a line with a cell too few or too many, or nothing at all, is no proof. */
Test(proof, refuses_what_it_does_not_know)
{
	static const char *const TEXTS[] = {"",
	                                    "\n\n",
	                                    "held\n",
	                                    "held\ta\tb\tc\td\te\n",
	                                    "held\ta\tb\tc\td\te\tf\tg\n",
	                                    HELD "broken",
	                                    "held\ta\tb\tc\td\te\t\xff\n"};

	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
		cr_assert_null(make(TEXTS[i]), "%zu", i);
}

/* Saved and loaded again it is fresh; with another fact it is stale, and says which. */
Test(proof, is_stale_when_a_fact_changed)
{
	char path[] = "/tmp/sandbar-proof-XXXXXX";
	struct sandbar_error error;
	int fd = mkstemp(path);
	struct proof *made = make(HELD);

	cr_assert(fd >= 0 && close(fd) == 0);
	cr_assert_eq(proof_save(made, path, &error), 0);
	struct proof *loaded = proof_load(path, &error);
	cr_assert_not_null(loaded);
	cr_assert_null(proof_changed_fact(loaded, &FACTS));
	cr_assert_null(proof_template(loaded));
	cr_assert(proof_has_held(loaded));
	for (int i = 0; i < PROOF_FACTS; i++) {
		struct proof_facts now = FACTS;
		now.fingerprints[i][0] = 'x';
		cr_assert_str_eq(proof_changed_fact(loaded, &now), PROOF_FACT_NAMES[i]);
	}
	proof_destroy(made);
	proof_destroy(loaded);
	unlink(path);
	cr_assert_null(proof_load(path, &error));
	proof_destroy(NULL);
}

Test(fingerprint, is_sha256_of_the_lines_in_any_order)
{
	char text[FINGERPRINT_BYTES], other[FINGERPRINT_BYTES];
	char one[] = "b\na\n", two[] = "a\nb\n", less[] = "a\n";

	fingerprint_of("abc", 3, text);
	cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	fingerprint_of_lines(one, strlen(one), text);
	fingerprint_of("a\nb\n", 4, other);
	cr_assert_str_eq(text, other);
	fingerprint_of_lines(two, strlen(two), other);
	cr_assert_str_eq(text, other);
	fingerprint_of_lines(less, strlen(less), other);
	cr_assert_str_neq(text, other);
}
