/*
 * osc.c: operating system commands (titles, colours, links) and device control strings (requests).
 */
#include "state.h"

#include <string.h>

static void set_both_titles(struct terminal *terminal, int32_t number, char *text, bool is_bell)
{
	(void)number;
	(void)is_bell;
	title_set(&terminal->title, text);
	title_set(&terminal->icon, text);
}

static void set_title(struct terminal *terminal, int32_t number, char *text, bool is_bell)
{
	(void)is_bell;
	title_set(number == 1 ? &terminal->icon : &terminal->title, text);
}

/* The value of id= among the parameters of a link, cut out of them; NULL if there is none. */
static const char *link_id(char *params)
{
	while (params) {
		const char *param = strsep(&params, ":");
		if (strncmp(param, "id=", 3) == 0)
			return param[3] ? param + 3 : NULL;
	}
	return NULL;
}

static bool is_spaces(const char *text)
{
	return text[strspn(text, " ")] == 0;
}

/* OSC 8: what is written from here on leads to an address; without one, to none. */
static void set_link(struct terminal *terminal, int32_t number, char *text, bool is_bell)
{
	(void)number;
	(void)is_bell;
	char *address = strchr(text, ';');
	if (!address)
		return;
	*address++ = 0;
	text += strspn(text, " ");
	if (!*address) {
		if (is_spaces(text))
			pen_link(&terminal->pen, 0);
		return;
	}
	const char *id = link_id(text);
	if (strlen(address) > LINK_BYTES || (id && strlen(id) > LINK_ID_BYTES)) {
		pen_link(&terminal->pen, 0);
		return;
	}
	pen_link(&terminal->pen, decorations_link(&terminal->decorations, address, id));
}

struct osc_row {
	int32_t number;
	void (*run)(struct terminal *terminal, int32_t number, char *text, bool is_bell);
};

static const struct osc_row osc_rows[] = {
	{0, set_both_titles}, {1, set_title},     {2, set_title},     {4, palette_run},
	{8, set_link},        {10, palette_run},  {11, palette_run},  {12, palette_run},
	{104, palette_run},   {110, palette_run}, {111, palette_run}, {112, palette_run},
};

void osc_run(void *owner, int32_t number, char *text, bool is_bell)
{
	struct terminal *terminal = owner;
	for (size_t i = 0; i < sizeof osc_rows / sizeof osc_rows[0]; i++)
		if (osc_rows[i].number == number)
			osc_rows[i].run(terminal, number, text, is_bell);
	print_end(terminal);
}

void dcs_run(void *owner, uint32_t id, const struct params *params, const char *text)
{
	struct terminal *terminal = owner;
	(void)params;
	if (id == PARSER_ID(0, '$', 'q'))
		answer_status_string(terminal, text);
	else if (id == PARSER_ID(0, '+', 'q'))
		answer_capability(terminal);
	print_end(terminal);
}
