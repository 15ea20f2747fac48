#include "access.h"

#include <stdlib.h>
#include <string.h>

void access_finish(struct access *access)
{
	for (size_t i = 0; i < access->share_count; i++)
		free(access->shares[i].clients);
	free(access->shares);
	free(access->grants);
	*access = (struct access){.grants = NULL};
}

/* --- roles ---------------------------------------------------------------------------------------------------- */

bool bearer_equals(const struct bearer *one, const struct bearer *other)
{
	if (strcmp(one->token, other->token) != 0)
		return false;
	return !one->is_guest || memcmp(one->client, other->client, CLIENT_ID_BYTES) == 0;
}

static struct grant *find(const struct access *access, const struct bearer *bearer)
{
	for (size_t i = 0; i < access->grant_count; i++)
		if (bearer_equals(&access->grants[i].bearer, bearer))
			return &access->grants[i];
	return NULL;
}

const struct grant *access_find(const struct access *access, const struct bearer *bearer)
{
	return bearer->is_admin ? NULL : find(access, bearer);
}

const struct grant *access_find_grant(const struct access *access, uint32_t participant)
{
	for (size_t i = 0; i < access->grant_count; i++)
		if (access->grants[i].participant == participant)
			return &access->grants[i];
	return NULL;
}

static void drop_grant(struct access *access, struct grant *grant)
{
	*grant = access->grants[--access->grant_count];
}

static struct grant *make_grant(struct access *access)
{
	if (access->grant_count == ACCESS_GRANTS)
		return NULL;
	access->grants = realloc(access->grants, (access->grant_count + 1) * sizeof *access->grants);
	if (!access->grants)
		abort();
	return &access->grants[access->grant_count++];
}

bool access_give(struct access *access, const struct grant *grant, struct access_before *before)
{
	struct grant *row = find(access, &grant->bearer);
	*before = (struct access_before){.had_grant = row != NULL, .share = access_find_share(access, grant->bearer.token)};
	if (row)
		before->grant = *row;
	else
		row = make_grant(access);
	if (!row)
		return false;
	*row = *grant;
	if (before->share) {
		before->was_closed = before->share->is_closed;
		before->share->is_closed |= grant->role < before->share->role; /* its link is in his hands */
	}
	return true;
}

void access_take_back(struct access *access, const struct bearer *bearer, const struct access_before *before)
{
	struct grant *row = find(access, bearer);
	if (before->had_grant)
		*row = before->grant;
	else
		drop_grant(access, row);
	if (before->share)
		before->share->is_closed = before->was_closed;
}

/* --- shares --------------------------------------------------------------------------------------------------- */

struct share *access_find_share(const struct access *access, const char *id)
{
	for (size_t i = 0; i < access->share_count; i++)
		if (strcmp(access->shares[i].id, id) == 0)
			return &access->shares[i];
	return NULL;
}

bool share_is_good(const struct share *share, uint64_t now_s)
{
	return !share->is_revoked && (share->expires_s == 0 || now_s < share->expires_s);
}

bool share_is_open(const struct share *share, uint64_t now_s)
{
	return share_is_good(share, now_s) && !share->is_closed && share->used < share->uses;
}

void access_drop_share(struct access *access, struct share *share)
{
	for (size_t i = access->grant_count; i-- > 0;)
		if (strcmp(access->grants[i].bearer.token, share->id) == 0)
			drop_grant(access, &access->grants[i]);
	free(share->clients);
	size_t behind = (size_t)(&access->shares[--access->share_count] - share);
	memmove(share, share + 1, behind * sizeof *share);
}

static void drop_a_useless_one(struct access *access, uint64_t now_s)
{
	for (size_t i = 0; i < access->share_count; i++) {
		if (share_is_good(&access->shares[i], now_s))
			continue;
		access_drop_share(access, &access->shares[i]);
		return;
	}
}

struct share *access_add_share(struct access *access, const struct share *share, uint64_t now_s)
{
	if (access->share_count == ACCESS_SHARES)
		drop_a_useless_one(access, now_s);
	if (access->share_count == ACCESS_SHARES)
		return NULL;
	access->shares = realloc(access->shares, (access->share_count + 1) * sizeof *access->shares);
	if (!access->shares)
		abort();
	struct share *row = &access->shares[access->share_count++];
	*row = *share;
	return row;
}

bool share_admit(struct share *share, const uint8_t client[CLIENT_ID_BYTES], uint64_t now_s, bool *is_new)
{
	*is_new = false;
	if (!share_is_good(share, now_s))
		return false;
	for (uint32_t i = 0; i < share->used; i++)
		if (memcmp(share->clients[i], client, CLIENT_ID_BYTES) == 0)
			return true;
	if (!share_is_open(share, now_s))
		return false;
	share->clients = realloc(share->clients, (share->used + 1) * sizeof *share->clients);
	if (!share->clients)
		abort();
	memcpy(share->clients[share->used++], client, CLIENT_ID_BYTES);
	*is_new = true;
	return true;
}

void share_forget_last(struct share *share)
{
	share->used--;
}
