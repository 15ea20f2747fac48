/* The file of a session: however large what clients put into it is, the next gateway reads it. */
#include "server/session/session_file.h"

#include "house.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct house house;

static void set_up(void)
{
	house_open(&house, 0);
}

static void tear_down(void)
{
	house_close(&house);
}
TestSuite(session_file, .init = set_up, .fini = tear_down);

/* LENGTH bytes, of those that JSON writes in six; the number of the text is in the first, as digits to the base of 31. */
static char *text_of(size_t length, size_t number)
{
	char *text = calloc(1, length + 1);
	cr_assert_not_null(text);
	memset(text, 1, length);
	for (size_t i = 0; number > 0; number /= 31)
		text[i++] = (char)(1 + number % 31);
	return text;
}

/* A message, and a template's, full. */
static void fill_env(struct session *session)
{
	size_t count = 0, left = LIMIT_MESSAGE_BYTES + TEMPLATE_ENV_BYTES;
	session->env = calloc(left / LIMIT_ARGUMENT_BYTES + 2, sizeof *session->env);
	cr_assert_not_null(session->env);
	for (size_t length; left > 0; left -= length) {
		length = left < LIMIT_ARGUMENT_BYTES ? left : LIMIT_ARGUMENT_BYTES;
		session->env[count] = text_of(length, count);
		count++;
	}
}

static void fill_context(struct session *session)
{
	size_t length = CONTEXT_SESSION_BYTES / (2 * CONTEXT_ENTRIES);
	session->context = calloc(2 * CONTEXT_ENTRIES + 1, sizeof *session->context);
	cr_assert_not_null(session->context);
	for (size_t i = 0; i < 2 * CONTEXT_ENTRIES; i++)
		session->context[i] = text_of(length, i);
}

static struct bearer bearer_of(size_t number)
{
	struct bearer bearer = {.is_guest = true};
	memset(bearer.token, 1, BEARER_TOKEN_BYTES);
	memcpy(bearer.client, &number, sizeof number);
	return bearer;
}

static void fill_access(struct access *access)
{
	struct access_before before;
	struct share share = {.role = ROLE_VIEWER, .created_s = INT64_MAX, .expires_s = INT64_MAX, .uses = SHARE_USES};
	bool is_new;
	memset(share.id, 1, sizeof share.id - 1);
	memset(share.name, 1, sizeof share.name - 1);
	memset(share.by, 1, sizeof share.by - 1);
	for (size_t i = 0; i < ACCESS_GRANTS; i++) {
		const struct grant grant = {.bearer = bearer_of(i), .participant = UINT32_MAX, .role = ROLE_VIEWER};
		cr_assert(access_give(access, &grant, &before));
	}
	for (size_t i = 0; i < ACCESS_SHARES; i++) {
		struct share *own = access_add_share(access, &share, 0);
		for (size_t k = 0; k < SHARE_USES; k++)
			cr_assert(share_admit(own, bearer_of(k).client, 1, &is_new) && is_new);
	}
}

static void free_texts(char **texts)
{
	for (char **text = texts; text && *text; text++)
		free(*text);
	free(texts);
}

static void expect_equal(char *const *texts, char *const *again)
{
	for (; *texts && *again; texts++, again++)
		cr_assert_str_eq(*texts, *again);
	cr_expect(!*texts && !*again);
}

Test(session_file, the_largest_is_read)
{
	struct session *session = house.session, again = {.state = SESSION_CREATING};
	struct error err = {0};
	struct stat status;
	free_texts(session->env);
	fill_env(session);
	context_destroy(session->context);
	fill_context(session);
	fill_access(&session->access);
	memset(session->name, 1, sizeof session->name - 1);
	cr_assert_eq(session_file_save(session, &err), 0, "%s", err.message);
	int directory = openat(session->home->directory, session->id, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	cr_assert(fstatat(directory, SESSION_FILE, &status, 0) == 0 && status.st_size > 6 * LIMIT_MESSAGE_BYTES);
	cr_assert_eq(session_file_load(&again, directory, &err), 0, "%lld bytes: %s", (long long)status.st_size,
	             err.message);
	close(directory);
	expect_equal(session->env, again.env);
	cr_expect_str_eq(again.name, session->name);
	cr_expect(again.access.grant_count == ACCESS_GRANTS && again.access.share_count == ACCESS_SHARES);
	cr_expect_eq(again.access.shares[ACCESS_SHARES - 1].used, (uint32_t)SHARE_USES);
	size_t entries = 0;
	while (again.context[entries])
		entries++;
	cr_expect_eq(entries, 2UL * CONTEXT_ENTRIES);
	access_finish(&again.access);
	free_texts(again.env);
	context_destroy(again.context);
}
