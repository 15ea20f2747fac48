/* The newest proof of each template, over restarts. */
#include "folder.h"
#include "server/guard/proofs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int directory;

static void set_up(void)
{
	directory = folder_open();
}

static void tear_down(void)
{
	folder_close((const char *const[]){"proofs.json", NULL});
}

TestSuite(proofs, .init = set_up, .fini = tear_down);

static struct proof_record record_of(const char *template, uint64_t proved_s)
{
	struct proof_record record = {.has_held = true, .proved_s = proved_s};
	strcpy(record.template, template);
	proof_digest(template, strlen(template), record.kernel);
	strcpy(record.policy, record.kernel);
	strcpy(record.root, record.kernel);
	strcpy(record.facts, record.kernel);
	return record;
}

static void keep(struct proofs *proofs, const char *template, uint64_t proved_s)
{
	struct error err = {0};
	struct proof_record record = record_of(template, proved_s);
	cr_assert_eq(proofs_keep(proofs, &record, &err), 0, "%s", err.message);
}

Test(proofs, the_newest_of_each_stays)
{
	struct proofs *proofs = proofs_load(directory);
	cr_expect_null(proofs_find(proofs, "a"));
	keep(proofs, "a", 1);
	keep(proofs, "b", 2);
	keep(proofs, "a", 3);
	proofs_destroy(proofs);
	proofs = proofs_load(directory);
	cr_assert(proofs_find(proofs, "a") && proofs_find(proofs, "b"));
	struct proof_record expected = record_of("a", 3);
	cr_expect_eq(memcmp(proofs_find(proofs, "a"), &expected, sizeof expected), 0);
	cr_expect(is_proof_digest(proofs_find(proofs, "b")->root));
	proofs_destroy(proofs);
}

/* More than there can be templates: the oldest goes. */
Test(proofs, there_are_so_many)
{
	char name[16];
	struct proofs *proofs = proofs_load(directory);
	for (unsigned i = 0; i < TEMPLATES_MOST + 5; i++) {
		snprintf(name, sizeof name, "t%u", i);
		keep(proofs, name, 100 + i);
	}
	cr_expect(!proofs_find(proofs, "t3") && proofs_find(proofs, "t4") && proofs_find(proofs, name));
	proofs_destroy(proofs);
}

/* As many as there may be, each as large as it can be: what was written is read. */
Test(proofs, the_largest_file_is_read)
{
	struct error err = {0};
	struct proofs *proofs = proofs_load(directory);
	struct proof_record record = {.proved_s = UINT64_C(1) << 32};
	memset(record.template, 1, sizeof record.template - 1);
	for (char *text = record.kernel; text < record.kernel + 4 * PROOF_DIGEST_BYTES; text += PROOF_DIGEST_BYTES)
		memset(text, 1, PROOF_DIGEST_BYTES - 1);
	for (int i = 0; i <= TEMPLATES_MOST; i++) {
		record.template[0] = (char)(1 + i % 31);
		record.template[1] = (char)(1 + i / 31);
		cr_assert_eq(proofs_keep(proofs, &record, &err), 0, "%s", err.message);
	}
	proofs_destroy(proofs);
	proofs = proofs_load(directory);
	cr_expect(proofs_find(proofs, record.template));
	record.template[0] = record.template[1] = 1;
	cr_expect(proofs_find(proofs, record.template));
	proofs_destroy(proofs);
}

static void write_file(const char *text, size_t length)
{
	int fd = openat(directory, "proofs.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, text, length), (ssize_t)length);
	close(fd);
}

/* A file that is good but for very many blanks is damaged: who could have made it would decide how long a start takes. */
Test(proofs, a_huge_one_is_damaged)
{
	enum { BLANKS = 1 << 20 };
	struct proofs *proofs = proofs_load(directory);
	keep(proofs, "a", 1);
	proofs_destroy(proofs);
	char *text = malloc(BLANKS + 4096);
	int fd = openat(directory, "proofs.json", O_RDONLY | O_CLOEXEC);
	cr_assert(text && fd >= 0);
	memset(text, ' ', BLANKS);
	ssize_t length = read(fd, text + BLANKS, 4096);
	cr_assert_gt(length, 0);
	close(fd);
	write_file(text, BLANKS + (size_t)length);
	proofs = proofs_load(directory);
	cr_expect_null(proofs_find(proofs, "a"));
	proofs_destroy(proofs);
	write_file(text + BLANKS, (size_t)length);
	proofs = proofs_load(directory);
	cr_expect_not_null(proofs_find(proofs, "a"));
	proofs_destroy(proofs);
	free(text);
}

/* It would be told as a number that the wire does not have. */
Test(proofs, a_time_that_cannot_be_is_damaged)
{
	static const char *const times[] = {"-1", "9223372036854775807", "4294967297"};
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		char text[256];
		int length = snprintf(text, sizeof text,
		                      "{\"version\":1,\"proofs\":[{\"held\":true,\"proved_s\":%s,\"template\":\"a\","
		                      "\"kernel\":\"\",\"policy\":\"\",\"root\":\"\",\"facts\":\"\"}]}",
		                      times[i]);
		write_file(text, (size_t)length);
		struct proofs *proofs = proofs_load(directory);
		cr_expect_null(proofs_find(proofs, "a"), "%s", times[i]);
		proofs_destroy(proofs);
	}
}

Test(proofs, what_is_damaged_is_none)
{
	static const char *const texts[] = {"",
	                                    "{",
	                                    "[]",
	                                    "{\"version\":2,\"proofs\":[]}",
	                                    "{\"version\":1,\"proofs\":[{}]}",
	                                    "{\"version\":1,\"proofs\":{}}"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		write_file(texts[i], strlen(texts[i]));
		struct proofs *proofs = proofs_load(directory);
		cr_expect_null(proofs_find(proofs, ""), "%s", texts[i]);
		keep(proofs, "a", 1);
		cr_expect_not_null(proofs_find(proofs, "a"));
		proofs_destroy(proofs);
	}
	cr_expect_not(is_proof_digest("A"));
}
