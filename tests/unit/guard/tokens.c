/* The registry of tokens: what was revoked is worthless, also for the next gateway, and no fault of the file makes it good. */
#include "folder.h"
#include "server/guard/tokens.h"

#include "server/guard/key.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOW = 1700000000 };

static struct evp_pkey_st *key;
static int directory;

static void set_up(void)
{
	struct error err;
	directory = folder_open();
	key = key_generate(&err);
	cr_assert_not_null(key);
}

static void tear_down(void)
{
	folder_close((const char *const[]){"tokens.json", "tokens.json.part", "tokens.json.spare", NULL});
	key_destroy(key);
}
TestSuite(tokens, .init = set_up, .fini = tear_down);

static struct tokens *load(void)
{
	struct error err = {0};
	struct tokens *tokens = tokens_load(directory, key, &err);
	cr_assert_not_null(tokens, "%s", err.message);
	return tokens;
}

static char *create(struct tokens *tokens, struct principal *principal)
{
	struct error err = {0};
	struct token_record record = {.principal = *principal, .by = "owner"};
	char *token = tokens_add(tokens, &record, NOW, &err);
	cr_assert_not_null(token, "%s", err.message);
	*principal = record.principal;
	return token;
}

static bool is_good(struct tokens *tokens, const char *token, uint64_t now_s)
{
	struct principal principal;
	return tokens_verify(tokens, token, strlen(token), now_s, &principal);
}

Test(tokens, one_is_good_until_it_is_revoked)
{
	struct tokens *tokens = load();
	struct principal ada = {.name = "ada", .tenant = "t", .rights = RIGHT_READ}, eve = {.name = "eve", .tenant = "t"};
	char *first = create(tokens, &ada), *second = create(tokens, &eve);
	struct error err;
	cr_expect_str_neq(ada.id, eve.id);
	for (int i = 0; i < 2; i++) /* the second time by what is remembered */
		cr_expect(is_good(tokens, first, NOW) && is_good(tokens, second, NOW));
	cr_assert_eq(tokens_revoke(tokens, tokens_find(tokens, ada.id), &err), 0);
	cr_expect(!is_good(tokens, first, NOW) && is_good(tokens, second, NOW));
	tokens_destroy(tokens);
	tokens = load(); /* the next gateway */
	cr_expect(!is_good(tokens, first, NOW) && is_good(tokens, second, NOW));
	cr_expect(tokens_at(tokens, 1) && !tokens_at(tokens, 2));
	cr_expect(tokens_at(tokens, 0)->is_revoked && strcmp(tokens_at(tokens, 0)->by, "owner") == 0);
	cr_expect_null(tokens_find(tokens, "nobody"));
	tokens_destroy(tokens);
	free(first);
	free(second);
}

Test(tokens, what_is_remembered_expires)
{
	struct tokens *tokens = load();
	struct principal ada = {.name = "ada", .tenant = "t", .expires_s = NOW + 10};
	struct token_record eve = {.principal = {.name = "eve", .tenant = "t"}, .by = "owner"};
	struct error err;
	char *token = create(tokens, &ada);
	cr_expect(is_good(tokens, token, NOW + 9) && !is_good(tokens, token, NOW + 10));
	free(token);
	free(tokens_add(tokens, &eve, NOW + 20, &err));
	cr_expect(!tokens_find(tokens, ada.id) && tokens_find(tokens, eve.principal.id), "what has expired is forgotten");
	tokens_destroy(tokens);
}

/* --- links ---------------------------------------------------------------------------------------------------- */

static struct token_record link_of(uint32_t uses)
{
	return (struct token_record){
		.principal = {.name = "browser", .tenant = "t", .rights = RIGHT_READ | RIGHT_RUN, .expires_s = NOW + 10},
		.by = "owner",
		.uses = uses,
		.lasts_s = 100,
		.until_s = NOW + 105};
}

/* By the link one gets what its record says, once; the link itself can do nothing but that, and a gateway that comes
 * after it knows that it was used. */
Test(tokens, a_link_is_good_once)
{
	struct tokens *tokens = load();
	struct principal old = {.name = "old", .tenant = "t", .expires_s = NOW + 1}, bearer, got;
	struct token_record link = link_of(1);
	struct error err = {0};
	free(create(tokens, &old)); /* which is forgotten when the link is used, so that the link moves in the list */
	char *shown = tokens_add(tokens, &link, NOW, &err);
	cr_assert_not_null(shown, "%s", err.message);
	const char *id = link.principal.id;
	cr_assert(tokens_verify(tokens, shown, strlen(shown), NOW, &bearer));
	cr_expect(bearer.rights == RIGHT_REDEEM && strcmp(bearer.id, id) == 0);
	cr_expect_null(token_link_fault(tokens_find(tokens, id), NOW + 9));
	cr_expect_str_eq(token_link_fault(tokens_find(tokens, id), NOW + 10), "the link has expired");
	tokens_destroy(tokens);
	tokens = load();
	char *token = tokens_redeem(tokens, id, NOW + 2, &got, &err);
	cr_assert_not_null(token, "%s", err.message);
	cr_expect(got.rights == (RIGHT_READ | RIGHT_RUN) && got.expires_s == NOW + 102 && strcmp(got.name, "browser") == 0);
	cr_expect(is_good(tokens, token, NOW + 101) && !is_good(tokens, token, NOW + 102));
	for (int gateway = 0; gateway < 2; gateway++) {
		const struct token_record *record = tokens_find(tokens, id);
		cr_assert(record && record->used == 1 && tokens_find(tokens, got.id));
		cr_expect_str_eq(token_link_fault(record, NOW + 3), "the link was used already");
		tokens_destroy(tokens);
		tokens = load();
	}
	free(token);
	free(shown);
	tokens_destroy(tokens);
}

Test(tokens, a_link_of_two_uses)
{
	struct tokens *tokens = load();
	struct token_record link = link_of(2);
	struct principal got[2];
	struct error err = {0};
	free(tokens_add(tokens, &link, NOW, &err));
	for (size_t i = 0; i < 2; i++) {
		cr_expect_null(token_link_fault(tokens_find(tokens, link.principal.id), NOW));
		free(tokens_redeem(tokens, link.principal.id, NOW + 9, &got[i], &err));
	}
	cr_expect(strcmp(got[0].id, got[1].id) != 0 && got[0].expires_s == NOW + 105, "not beyond what its maker has");
	cr_expect_str_eq(token_link_fault(tokens_find(tokens, link.principal.id), NOW), "the link was used already");
	struct token_record other = link_of(1);
	free(tokens_add(tokens, &other, NOW, &err));
	cr_assert_eq(tokens_revoke(tokens, tokens_find(tokens, other.principal.id), &err), 0);
	cr_expect_str_eq(token_link_fault(tokens_find(tokens, other.principal.id), NOW), "the link was revoked");
	cr_expect_str_eq(token_link_fault(tokens_find(tokens, got[0].id), NOW), "the link is not known here");
	cr_expect_str_eq(token_link_fault(NULL, NOW), "the link is not known here");
	tokens_destroy(tokens);
}

/* --- many ----------------------------------------------------------------------------------------------------- */

static const uint64_t far = INT64_MAX;

/* Every text as long as it can be, of bytes that JSON writes in six, and every number as long as it can be. */
static struct token_record largest(void)
{
	struct token_record record = {
		.principal = {.rights = INT32_MAX, .expires_s = far}, .uses = INT32_MAX, .lasts_s = far, .until_s = far};
	memset(record.principal.name, 1, sizeof record.principal.name - 1);
	memset(record.principal.tenant, 1, sizeof record.principal.tenant - 1);
	memset(record.by, 1, sizeof record.by - 1);
	return record;
}

static void write_escaped(FILE *file, const char *name, size_t count)
{
	fprintf(file, "\"%s\":\"", name);
	for (size_t i = 0; i < count; i++)
		fputs("\\u0001", file);
	fputs("\",", file);
}

/* COUNT of them, and of links as many uses as they say; the first SPENT of them are used up. */
static void write_largest(size_t count, int uses, size_t spent)
{
	int fd = openat(directory, "tokens.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fdopen(fd, "w");
	cr_assert_not_null(file);
	fputs("{\"version\":1,\"tokens\":[", file);
	for (size_t i = 0; i < count; i++) {
		fprintf(file, "%s{\"id\":\"%016zu\",", i ? "," : "", i);
		write_escaped(file, "name", PRINCIPAL_NAME_BYTES);
		write_escaped(file, "tenant", PRINCIPAL_NAME_BYTES - 1);
		write_escaped(file, "by", PRINCIPAL_NAME_BYTES);
		fprintf(file, "\"rights\":%d,\"expires_s\":%lld,\"created_s\":%lld,\"revoked\":false", INT32_MAX,
		        (long long)far, (long long)far);
		fprintf(file, ",\"uses\":%d,\"used\":%d,\"lasts_s\":%lld,\"until_s\":%lld}", uses, i < spent ? uses : 0,
		        (long long)far, (long long)far);
	}
	fputs("]}", file);
	cr_assert_eq(fclose(file), 0);
}

static off_t size_of(const char *name)
{
	struct stat status;
	cr_assert_eq(fstatat(directory, name, &status, 0), 0);
	return status.st_size;
}

static size_t count_all(const struct tokens *tokens)
{
	size_t count = 0;
	while (tokens_at(tokens, count))
		count++;
	return count;
}

/* As many as there may be, each as large as it can be: what was written is read, also where it is a spare, and a revocation has
 * room on a full disk. */
Test(tokens, the_largest_file_is_read)
{
	struct error err = {0};
	struct token_record last = largest(), one_more = largest();
	write_largest(TOKENS_MOST - 1, INT32_MAX, 0);
	struct tokens *tokens = load();
	free(tokens_add(tokens, &last, NOW, &err));
	cr_assert_eq(count_all(tokens), (size_t)TOKENS_MOST, "%s", err.message);
	cr_expect_null(tokens_add(tokens, &one_more, NOW, &err));
	cr_expect_eq(err.errnum, ENOSPC);
	cr_expect_eq(count_all(tokens), (size_t)TOKENS_MOST);
	tokens_destroy(tokens);
	off_t written = size_of("tokens.json"), spare = size_of("tokens.json.spare");
	cr_expect(written > 4 << 20 && spare > written, "%lld bytes, its spare %lld", (long long)written, (long long)spare);
	int fd = openat(directory, "tokens.json", O_WRONLY | O_APPEND | O_CLOEXEC);
	for (off_t i = written; i < spare; i++)
		cr_assert_eq(write(fd, "\n", 1), 1);
	close(fd);
	tokens = load();
	cr_assert_eq(tokens_revoke(tokens, tokens_find(tokens, last.principal.id), &err), 0);
	tokens_destroy(tokens);
	tokens = load();
	cr_expect(tokens_find(tokens, last.principal.id)->is_revoked && count_all(tokens) == TOKENS_MOST);
	tokens_destroy(tokens);
}

/* A link that was used up makes room, the oldest first; a link's last use has its own place at least. What could not be
 * written has taken nobody's place. */
Test(tokens, a_used_link_makes_room)
{
	struct error err = {0};
	struct principal got;
	struct token_record more = largest();
	write_largest(TOKENS_MOST, 1, 2);
	struct tokens *tokens = load();
	cr_expect_eq(unlinkat(directory, "tokens.json", 0), 0);
	cr_assert_eq(mkdirat(directory, "tokens.json", 0700), 0);
	cr_expect_null(tokens_add(tokens, &more, NOW, &err));
	cr_expect_null(tokens_redeem(tokens, "0000000000000002", NOW, &got, &err));
	cr_expect(count_all(tokens) == TOKENS_MOST && tokens_find(tokens, "0000000000000000"));
	cr_expect_null(token_link_fault(tokens_find(tokens, "0000000000000002"), NOW));
	unlinkat(directory, "tokens.json", AT_REMOVEDIR);
	more.uses = 0;
	free(tokens_add(tokens, &more, NOW, &err));
	cr_expect(!tokens_find(tokens, "0000000000000000") && tokens_find(tokens, "0000000000000001"));
	cr_expect(tokens_find(tokens, more.principal.id) == tokens_at(tokens, TOKENS_MOST - 1));
	free(tokens_redeem(tokens, "0000000000000003", NOW, &got, &err));
	cr_expect(!tokens_find(tokens, "0000000000000001") && tokens_find(tokens, "0000000000000003"));
	char *token = tokens_redeem(tokens, "0000000000000004", NOW, &got, &err);
	cr_expect(token && !tokens_find(tokens, "0000000000000003"), "%s", err.message);
	free(token);
	token = tokens_redeem(tokens, "0000000000000005", NOW, &got, &err);
	cr_expect(token && count_all(tokens) == TOKENS_MOST, "%s", err.message);
	cr_expect_eq(tokens_revoke(tokens, tokens_find(tokens, "0000000000000006"), &err), 0);
	free(token);
	tokens_destroy(tokens);
	tokens = load();
	cr_expect(count_all(tokens) == TOKENS_MOST && tokens_find(tokens, got.id));
	cr_expect_str_eq(token_link_fault(tokens_find(tokens, "0000000000000003"), NOW), "the link is not known here");
	tokens_destroy(tokens);
}

Test(tokens, what_takes_a_place)
{
	struct tokens *tokens = load();
	struct principal ada = {.name = "ada", .tenant = "t", .expires_s = NOW + 5}, eve = {.name = "eve", .tenant = "u"},
					 got;
	struct token_record link = link_of(2), other = link_of(1);
	struct error err = {0};
	free(create(tokens, &ada));
	free(create(tokens, &eve));
	free(tokens_add(tokens, &link, NOW, &err));
	free(tokens_add(tokens, &other, NOW, &err));
	cr_expect(tokens_count(tokens, "t", NOW) == 3 && tokens_count(tokens, "u", NOW) == 1 &&
	          tokens_count(tokens, "v", NOW) == 0);
	cr_expect_eq(tokens_count(tokens, "t", NOW + 5), 2UL, "one has expired");
	free(tokens_redeem(tokens, link.principal.id, NOW, &got, &err));
	cr_expect_eq(tokens_count(tokens, "t", NOW), 4UL);
	free(tokens_redeem(tokens, link.principal.id, NOW, &got, &err));
	cr_expect_eq(tokens_count(tokens, "t", NOW), 4UL, "the last token is in the place of the link");
	cr_assert_eq(tokens_revoke(tokens, tokens_find(tokens, other.principal.id), &err), 0);
	cr_expect_eq(tokens_count(tokens, "t", NOW), 3UL, "a link that was revoked");
	cr_assert_eq(tokens_revoke(tokens, tokens_find(tokens, got.id), &err), 0);
	cr_expect_eq(tokens_count(tokens, "t", NOW), 3UL, "that a token was revoked must be remembered");
	tokens_destroy(tokens);
}

static void write_file(const char *text)
{
	int fd = openat(directory, "tokens.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

Test(tokens, a_damaged_file_is_not_overlooked)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"version\":1}",
		"{\"version\":2,\"tokens\":[]}",
		"{\"version\":1,\"tokens\":[{}]}",
		"{\"version\":1,\"tokens\":[{\"id\":\"12345678901234567\",\"name\":\"a\",\"tenant\":\"t\",\"by\":\"o\"}]}",
		"{\"version\":1,\"tokens\":[{\"id\":\"1\",\"name\":\"a\",\"tenant\":\"t\",\"by\":7}]}"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct error err = {0};
		write_file(texts[i]);
		cr_expect_null(tokens_load(directory, key, &err), "%s", texts[i]);
		cr_expect(strstr(err.message, "tokens.json"), "%s", err.message);
	}
	write_file(
		"{\"version\":1,\"tokens\":[{\"id\":\"1\",\"name\":\"a\",\"tenant\":\"t\",\"by\":\"o\",\"revoked\":true}]}");
	tokens_destroy(load());
}

/* But for a revocation: that holds while the gateway lives, and who asked for it is told. */
Test(tokens, what_cannot_be_written_has_not_happened)
{
	struct tokens *tokens = load();
	struct principal ada = {.name = "ada", .tenant = "t"};
	struct token_record eve = {.principal = {.name = "eve", .tenant = "t"}, .by = "owner"}, link = link_of(1);
	struct error err = {0};
	char *token = create(tokens, &ada), *shown = tokens_add(tokens, &link, NOW, &err);
	unlinkat(directory, "tokens.json", 0);
	cr_assert_eq(mkdirat(directory, "tokens.json", 0700), 0); /* which no file can replace */
	cr_expect_eq(tokens_revoke(tokens, tokens_find(tokens, ada.id), &err), -1);
	cr_expect(!is_good(tokens, token, NOW) && strstr(err.message, "tokens.json"), "%s", err.message);
	cr_expect_null(tokens_add(tokens, &eve, NOW, &err));
	cr_expect_null(tokens_find(tokens, eve.principal.id));
	struct principal got;
	cr_expect_null(tokens_redeem(tokens, link.principal.id, NOW, &got, &err));
	cr_expect_null(token_link_fault(tokens_find(tokens, link.principal.id), NOW), "its use was not written down");
	unlinkat(directory, "tokens.json", AT_REMOVEDIR);
	tokens_destroy(tokens);
	free(token);
	free(shown);
}
