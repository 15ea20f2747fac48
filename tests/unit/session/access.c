/* What owners decide on who may come: roles, links, and both as a file. */
#include "server/session/access.h"
#include "server/session/access_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct access access;

static void tear_down(void)
{
	access_finish(&access);
}
TestSuite(access, .fini = tear_down);

static struct bearer bearer(const char *token, uint8_t client)
{
	struct bearer made = {.client = {client}, .is_guest = client != 0};
	snprintf(made.token, sizeof made.token, "%s", token);
	return made;
}

static struct share *add_share(const char *id, enum role role, uint32_t uses, uint64_t expires_s)
{
	struct share share = {
		.role = role, .uses = uses, .expires_s = expires_s, .created_s = 1, .name = "guest", .by = "ann"};
	snprintf(share.id, sizeof share.id, "%s", id);
	return access_add_share(&access, &share, 0);
}

static bool give(const char *token, uint8_t client, enum role role)
{
	struct access_before before;
	const struct grant grant = {.bearer = bearer(token, client), .participant = 7, .role = role};
	return access_give(&access, &grant, &before);
}

static enum role role_of(const char *token, uint8_t client, enum role own)
{
	const struct bearer who = bearer(token, client);
	const struct grant *grant = access_find(&access, &who);
	return grant ? grant->role : own;
}

Test(access, a_role_is_a_tokens_and_of_a_guest_one_clients)
{
	cr_expect_eq(role_of("one", 0, ROLE_EDITOR), ROLE_EDITOR);
	give("one", 0, ROLE_VIEWER);
	give("link", 1, ROLE_NONE);
	cr_expect_eq(role_of("one", 0, ROLE_EDITOR), ROLE_VIEWER);
	cr_expect_eq(role_of("two", 0, ROLE_EDITOR), ROLE_EDITOR);
	cr_expect_eq(role_of("link", 1, ROLE_VIEWER), ROLE_NONE);
	cr_expect_eq(role_of("link", 2, ROLE_VIEWER), ROLE_VIEWER);
	give("one", 0, ROLE_OWNER);
	cr_expect_eq(role_of("one", 0, ROLE_EDITOR), ROLE_OWNER);
	cr_expect_eq(access.grant_count, 2UL);
	struct bearer admin = bearer("one", 0);
	admin.is_admin = true;
	cr_expect_null(access_find(&access, &admin), "nobody stands above an administrator");
}

Test(access, what_could_not_be_written_down_is_taken_back)
{
	struct access_before before;
	const struct grant lower = {.bearer = bearer("link", 1), .participant = 3, .role = ROLE_VIEWER};
	const struct share *share = add_share("link", ROLE_EDITOR, 9, 0);
	access_give(&access, &lower, &before);
	cr_expect(share->is_closed, "the link is in the hands of somebody who is not wanted as what it says");
	access_take_back(&access, &lower.bearer, &before);
	cr_expect_not(share->is_closed);
	cr_expect_eq(access.grant_count, 0UL);
	give("link", 1, ROLE_OWNER);
	cr_expect_not(share->is_closed, "a higher role is no reason");
	access_give(&access, &lower, &before);
	access_take_back(&access, &lower.bearer, &before);
	cr_expect_eq(role_of("link", 1, ROLE_VIEWER), ROLE_OWNER);
}

Test(access, a_link_admits_so_many_clients_until_it_ends)
{
	struct share *share = add_share("link", ROLE_VIEWER, 2, 100);
	const uint8_t clients[][CLIENT_ID_BYTES] = {{1}, {2}, {3}};
	bool is_new;
	cr_expect(share_admit(share, clients[0], 50, &is_new) && is_new);
	cr_expect(share_admit(share, clients[0], 50, &is_new) && !is_new);
	cr_expect(share_admit(share, clients[1], 50, &is_new) && is_new);
	cr_expect_not(share_admit(share, clients[2], 50, &is_new));
	share_forget_last(share);
	cr_expect(share_admit(share, clients[2], 50, &is_new) && is_new);
	cr_expect_not(share_admit(share, clients[1], 50, &is_new), "it was not written down that this one came");
	cr_expect_not(share_admit(share, clients[0], 100, &is_new), "it has expired");
	share->expires_s = 0;
	cr_expect(share_admit(share, clients[0], 100, &is_new));
	share->is_closed = true;
	cr_expect(share_admit(share, clients[0], 100, &is_new), "who came before may come again");
	share->is_revoked = true;
	cr_expect_not(share_admit(share, clients[0], 100, &is_new));
}

Test(access, everything_is_bounded)
{
	char id[16];
	for (int i = 0; i < ACCESS_SHARES; i++) {
		snprintf(id, sizeof id, "s%d", i);
		cr_assert_not_null(add_share(id, ROLE_VIEWER, 1, 0));
	}
	cr_expect_null(add_share("more", ROLE_VIEWER, 1, 0));
	access_find_share(&access, "s5")->is_revoked = true;
	cr_expect_not_null(add_share("more", ROLE_VIEWER, 1, 0), "one that is revoked makes room");
	cr_expect_null(access_find_share(&access, "s5"));
	for (int i = 0; i < ACCESS_GRANTS; i++) {
		snprintf(id, sizeof id, "t%d", i);
		cr_assert(give(id, 0, ROLE_NONE));
	}
	cr_expect_not(give("other", 0, ROLE_NONE));
	cr_expect(give("t9", 0, ROLE_EDITOR), "another role for one who has one");
}

static bool reads(const char *text)
{
	struct access read = {0};
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(json, "%s", text);
	bool good = access_from(&read, json);
	json_decref(json);
	access_finish(&read);
	return good;
}

Test(access, it_comes_back_from_its_file)
{
	bool is_new;
	const uint8_t client[CLIENT_ID_BYTES] = {0xab, 1, 255};
	add_share("link", ROLE_EDITOR, 5, 99);
	share_admit(access_find_share(&access, "link"), client, 1, &is_new);
	give("link", 0xab, ROLE_NONE);
	give("token", 0, ROLE_OWNER);
	json_t *json = access_json(&access), *again;
	struct access read = {0};
	cr_assert(access_from(&read, json));
	again = access_json(&read);
	cr_expect(json_equal(json, again));
	cr_expect_eq(read.shares[0].role, ROLE_EDITOR);
	cr_expect(share_admit(&read.shares[0], client, 1, &is_new) && !is_new);
	json_decref(json);
	json_decref(again);
	access_finish(&read);
}

/* Whom a damaged file would let in is not guessed. */
Test(access, a_damaged_file_is_refused)
{
	static const char *const bad[] = {
		"{\"roles\": [{\"token\": \"t\", \"participant\": 1, \"role\": \"king\"}], \"shares\": []}",
		"{\"roles\": [{\"token\": \"t\", \"participant\": 1}], \"shares\": []}",
		"{\"roles\": [{\"token\": \"a token's id that is too long\", \"role\": \"viewer\"}], \"shares\": []}",
		"{\"roles\": [{\"token\": \"t\", \"role\": \"viewer\", \"client\": \"00\"}], \"shares\": []}",
		"{\"roles\": [{\"token\": \"t\", \"role\": \"viewer\", \"client\": \"0123456789abcdef0123456789abcdeg\"}]}",
		"{\"roles\": [], \"shares\": [{\"share\": \"s\", \"name\": \"n\", \"role\": \"viewer\"}]}",
		"{\"roles\": [], \"shares\": [{\"share\": \"s\", \"name\": \"n\", \"by\": \"b\", \"role\": \"viewer\", "
		"\"clients\": [\"\"]}]}",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_not(reads(bad[i]), "%s", bad[i]);
	cr_expect(reads("{}") && reads("{\"roles\": [], \"shares\": []}"));
}
