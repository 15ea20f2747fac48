#include "gate.h"

#include <stddef.h>
#include <string.h>

static const struct {
	enum frame_kind kind;
	enum role least;
} frames[] = {
	{FRAME_STDIN, ROLE_EDITOR},
	{FRAME_EOF, ROLE_EDITOR},
	{FRAME_RESIZE, ROLE_EDITOR},
	{FRAME_CREDIT, ROLE_VIEWER},
};

bool gate_allows_right(const struct principal *principal, enum right right)
{
	return (principal->rights & right) == (uint32_t)right;
}

bool gate_is_operator(const struct principal *principal)
{
	return (principal->rights & RIGHT_ADMIN) && strcmp(principal->tenant, OPERATOR_TENANT) == 0;
}

bool gate_allows_frame(enum role role, enum frame_kind kind)
{
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
		if (frames[i].kind == kind)
			return role >= frames[i].least;
	return false;
}

struct principal gate_in_session(const struct principal *principal, enum role role)
{
	struct principal there = *principal;
	there.rights = (principal->rights & RIGHT_ADMIN) | principal_rights_of(role);
	return there;
}

bool gate_allows_guest(const struct principal *principal, bool names_session, bool for_guests)
{
	return principal->session[0] == '\0' || names_session || for_guests;
}

enum role gate_role(const struct principal *principal, enum role wanted)
{
	enum role highest = principal_role(principal);
	if (wanted == ROLE_NONE)
		return highest;
	return wanted <= highest ? wanted : ROLE_NONE;
}

bool gate_allows_lossless(enum role role)
{
	return role >= ROLE_EDITOR;
}

bool gate_allows_taking_over(enum role role)
{
	return role >= ROLE_OWNER;
}

const char *right_name(enum right right)
{
	switch (right) {
#define RIGHT(name, bit, text, summary) \
	case RIGHT_##name:                  \
		return text;
		RIGHT_TABLE(RIGHT)
#undef RIGHT
	case RIGHT_NONE:
		break;
	}
	return "none";
}

enum right right_find(const char *name)
{
	static const enum right all[] = {
#define RIGHT(right, bit, text, summary) RIGHT_##right,
		RIGHT_TABLE(RIGHT)
#undef RIGHT
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strcmp(right_name(all[i]), name) == 0)
			return all[i];
	return RIGHT_NONE;
}
