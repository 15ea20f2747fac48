/* The registry of tokens: what was revoked is worthless, also for the next gateway, and no fault of the file makes it good. */
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
static char folder[] = "/tmp/sandbar-tokens-XXXXXX";
static int directory;

static void set_up(void)
{
	struct error err;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	directory = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	key = key_generate(&err);
	cr_assert(key && directory >= 0);
}

static void tear_down(void)
{
	unlinkat(directory, "tokens.json", 0);
	unlinkat(directory, "tokens.json.part", 0);
	unlinkat(directory, "tokens.json.spare", 0);
	close(directory);
	rmdir(folder);
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
	char *token = tokens_create(tokens, principal, "owner", NOW, &err);
	cr_assert_not_null(token, "%s", err.message);
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
	struct principal ada = {.name = "ada", .tenant = "t", .expires_s = NOW + 10}, eve = {.name = "eve", .tenant = "t"};
	struct error err;
	char *token = create(tokens, &ada);
	cr_expect(is_good(tokens, token, NOW + 9) && !is_good(tokens, token, NOW + 10));
	free(token);
	free(tokens_create(tokens, &eve, "owner", NOW + 20, &err));
	cr_expect(!tokens_find(tokens, ada.id) && tokens_find(tokens, eve.id), "what has expired is forgotten");
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
	struct principal ada = {.name = "ada", .tenant = "t"}, eve = {.name = "eve", .tenant = "t"};
	struct error err = {0};
	char *token = create(tokens, &ada);
	unlinkat(directory, "tokens.json", 0);
	cr_assert_eq(mkdirat(directory, "tokens.json", 0700), 0); /* which no file can replace */
	cr_expect_eq(tokens_revoke(tokens, tokens_find(tokens, ada.id), &err), -1);
	cr_expect(!is_good(tokens, token, NOW) && strstr(err.message, "tokens.json"), "%s", err.message);
	cr_expect_null(tokens_create(tokens, &eve, "owner", NOW, &err));
	cr_expect_null(tokens_find(tokens, eve.id));
	unlinkat(directory, "tokens.json", AT_REMOVEDIR);
	tokens_destroy(tokens);
	free(token);
}
