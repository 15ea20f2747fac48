#include "inner_user.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t id;
} rows[INNER_USERS] = {
#define INNER_USER(name, text, id) [INNER_USER_##name] = {text, id},
	INNER_USER_TABLE(INNER_USER)
#undef INNER_USER
};

const char *inner_user_name(enum inner_user user)
{
	return (size_t)user < INNER_USERS ? rows[user].name : NULL;
}

uint32_t inner_user_id(enum inner_user user)
{
	return rows[user].id;
}

int inner_user_find(const char *name)
{
	for (int i = 0; i < INNER_USERS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}
