/*
 * csi.c: what control sequences do, as a table, and the cursor's.
 */
#include "state.h"

enum { MOVE_MOST = 4 * TERMINAL_SIZE_MOST };

static int count_of(const struct params *params)
{
	return params_count(params, 0, MOVE_MOST);
}

static void cursor_up(struct terminal *terminal, const struct params *params)
{
	int count = count_of(params), room = terminal->grid->y - terminal->grid->top;
	cursor_move(terminal, 0, -(room >= 0 && room < count ? room : count));
}

static void cursor_down(struct terminal *terminal, const struct params *params)
{
	int count = count_of(params), room = terminal->grid->bottom - terminal->grid->y;
	cursor_move(terminal, 0, room >= 0 && room < count ? room : count);
}

static void cursor_forward(struct terminal *terminal, const struct params *params)
{
	cursor_move(terminal, count_of(params), 0);
}

static void cursor_backward(struct terminal *terminal, const struct params *params)
{
	cursor_move(terminal, -count_of(params), 0);
}

static void cursor_next_line(struct terminal *terminal, const struct params *params)
{
	cursor_down(terminal, params);
	terminal->grid->x = 0;
}

static void cursor_previous_line(struct terminal *terminal, const struct params *params)
{
	cursor_up(terminal, params);
	terminal->grid->x = 0;
}

static void cursor_column(struct terminal *terminal, const struct params *params)
{
	cursor_set(terminal, count_of(params) - 1, terminal->grid->y);
}

static void cursor_position(struct terminal *terminal, const struct params *params)
{
	cursor_set(terminal, params_count(params, 1, MOVE_MOST) - 1, count_of(params) - 1);
}

static void cursor_line(struct terminal *terminal, const struct params *params)
{
	cursor_set(terminal, terminal->grid->x, count_of(params) - 1);
}

static void cursor_line_relative(struct terminal *terminal, const struct params *params)
{
	cursor_move(terminal, 0, count_of(params));
}

static void tab_forward(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	for (int count = count_of(params); count > 0 && grid->x < grid->columns; count--)
		grid->x = grid_next_tab(grid, grid->x);
}

static void tab_backward(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	if (grid->x >= grid->columns)
		return;
	for (int count = count_of(params); count > 0; count--)
		grid->x = grid_previous_tab(grid, grid->x);
}

static void tab_clear(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	int32_t which = params_at(params, 0);
	for (int i = 0; i < grid->columns; i++)
		if (which == 3 || (which == 0 && i == grid->x))
			grid->tabs[i] = 0;
}

static void set_region(struct terminal *terminal, const struct params *params)
{
	struct grid *grid = terminal->grid;
	int top = count_of(params);
	int32_t bottom = params_at(params, 1);
	if (bottom <= 0 || bottom > grid->count)
		bottom = grid->count;
	if (bottom <= top)
		return;
	grid->top = top - 1;
	grid->bottom = bottom - 1;
	cursor_set(terminal, 0, 0);
}

static void select_graphics(struct terminal *terminal, const struct params *params)
{
	pen_select(&terminal->pen, params);
}

static void set_protection(struct terminal *terminal, const struct params *params)
{
	int32_t which = params_at(params, 0);
	if (which >= 0 && which <= 2)
		pen_protect(&terminal->pen, which == 1);
}

static void set_cursor_style(struct terminal *terminal, const struct params *params)
{
	int32_t style = params_at(params, 0);
	if (style >= 0 && style <= 6)
		terminal->cursor_style = (uint32_t)style;
}

static void save_cursor(struct terminal *terminal, const struct params *params)
{
	(void)params;
	cursor_save(terminal);
}

static void restore_cursor(struct terminal *terminal, const struct params *params)
{
	(void)params;
	cursor_restore(terminal);
}

static void change_titles(struct terminal *terminal, const struct params *params, void (*change)(struct title *title))
{
	int32_t which = params_at(params, 1);
	if (which == 0 || which == 2)
		change(&terminal->title);
	if (which == 0 || which == 1)
		change(&terminal->icon);
}

/* XTWINOPS: of titles and sizes; a program does not move anybody's window. */
static void window_operation(struct terminal *terminal, const struct params *params)
{
	int32_t operation = params_at(params, 0);
	if (operation == 22)
		change_titles(terminal, params, title_push);
	else if (operation == 23)
		change_titles(terminal, params, title_pop);
	else
		answer_window(terminal, params);
}

/* XTMODKEYS: of its resources modifyOtherKeys alone changes what keys send by themselves. */
static void set_key_modifiers(struct terminal *terminal, const struct params *params)
{
	int32_t value = params_at(params, 1);
	if (params_at(params, 0) == 4)
		terminal->modify_keys = value >= 0 && value <= 3 ? (uint32_t)value : 0;
}

struct csi_row {
	uint32_t id;
	csi_handler *run;
};

/* clang-format off */
static const struct csi_row csi_rows[] = {
	{PARSER_ID(0, 0, '@'), edit_insert_characters},   {PARSER_ID(0, ' ', '@'), edit_scroll_left},
	{PARSER_ID(0, 0, 'A'), cursor_up},                {PARSER_ID(0, ' ', 'A'), edit_scroll_right},
	{PARSER_ID(0, 0, 'B'), cursor_down},              {PARSER_ID(0, 0, 'C'), cursor_forward},
	{PARSER_ID(0, 0, 'D'), cursor_backward},          {PARSER_ID(0, 0, 'E'), cursor_next_line},
	{PARSER_ID(0, 0, 'F'), cursor_previous_line},     {PARSER_ID(0, 0, 'G'), cursor_column},
	{PARSER_ID(0, 0, 'H'), cursor_position},          {PARSER_ID(0, 0, 'I'), tab_forward},
	{PARSER_ID(0, 0, 'J'), edit_erase_display},       {PARSER_ID('?', 0, 'J'), edit_erase_display_unprotected},
	{PARSER_ID(0, 0, 'K'), edit_erase_line},          {PARSER_ID('?', 0, 'K'), edit_erase_line_unprotected},
	{PARSER_ID(0, 0, 'L'), edit_insert_lines},        {PARSER_ID(0, 0, 'M'), edit_delete_lines},
	{PARSER_ID(0, 0, 'P'), edit_delete_characters},   {PARSER_ID(0, 0, 'S'), edit_scroll_up},
	{PARSER_ID(0, 0, 'T'), edit_scroll_down},         {PARSER_ID(0, 0, 'X'), edit_erase_characters},
	{PARSER_ID(0, 0, 'Z'), tab_backward},             {PARSER_ID(0, 0, '`'), cursor_column},
	{PARSER_ID(0, 0, 'a'), cursor_forward},           {PARSER_ID(0, 0, 'b'), edit_repeat},
	{PARSER_ID(0, 0, 'c'), answer_attributes},        {PARSER_ID('>', 0, 'c'), answer_attributes_second},
	{PARSER_ID('=', 0, 'c'), answer_attributes_third}, {PARSER_ID(0, 0, 'd'), cursor_line},
	{PARSER_ID(0, 0, 'e'), cursor_line_relative},     {PARSER_ID(0, 0, 'f'), cursor_position},
	{PARSER_ID(0, 0, 'g'), tab_clear},                {PARSER_ID(0, 0, 'h'), mode_set},
	{PARSER_ID('?', 0, 'h'), mode_set_private},       {PARSER_ID(0, 0, 'l'), mode_reset},
	{PARSER_ID('?', 0, 'l'), mode_reset_private},     {PARSER_ID(0, 0, 'm'), select_graphics},
	{PARSER_ID('>', 0, 'm'), set_key_modifiers},      {PARSER_ID(0, 0, 'n'), answer_status},
	{PARSER_ID('?', 0, 'n'), answer_status_private},  {PARSER_ID(0, '!', 'p'), mode_soft_reset},
	{PARSER_ID(0, '$', 'p'), answer_mode},            {PARSER_ID('?', '$', 'p'), answer_mode_private},
	{PARSER_ID(0, ' ', 'q'), set_cursor_style},       {PARSER_ID(0, '"', 'q'), set_protection},
	{PARSER_ID('>', 0, 'q'), answer_version},         {PARSER_ID(0, 0, 'r'), set_region},
	{PARSER_ID(0, 0, 's'), save_cursor},              {PARSER_ID(0, 0, 't'), window_operation},
	{PARSER_ID(0, 0, 'u'), restore_cursor},           {PARSER_ID(0, '\'', '}'), edit_insert_columns},
	{PARSER_ID(0, '\'', '~'), edit_delete_columns},
};
/* clang-format on */

enum { CSI_BUCKETS = 256 };

/* Rows by a hash of their ids, without collisions among them but for those that bucket_next resolves. */
static uint8_t bucket_first[CSI_BUCKETS], bucket_next[sizeof csi_rows / sizeof csi_rows[0] + 1];

static uint32_t bucket_of(uint32_t id)
{
	return (id ^ id >> 8 ^ id >> 16) % CSI_BUCKETS;
}

static void make_buckets(void)
{
	static bool is_made;
	if (is_made)
		return;
	for (uint32_t i = 0; i < sizeof csi_rows / sizeof csi_rows[0]; i++) {
		uint32_t bucket = bucket_of(csi_rows[i].id);
		bucket_next[i + 1] = bucket_first[bucket];
		bucket_first[bucket] = (uint8_t)(i + 1);
	}
	is_made = true;
}

void csi_run(void *owner, uint32_t id, const struct params *params)
{
	struct terminal *terminal = owner;
	make_buckets();
	for (uint32_t i = bucket_first[bucket_of(id)]; i > 0; i = bucket_next[i])
		if (csi_rows[i - 1].id == id) {
			csi_rows[i - 1].run(terminal, params);
			break;
		}
	print_end(terminal);
}
