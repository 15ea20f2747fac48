#include "gate.h"

#include <stddef.h>

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

bool gate_allows_frame(enum role role, enum frame_kind kind)
{
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
		if (frames[i].kind == kind)
			return role >= frames[i].least;
	return false;
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
