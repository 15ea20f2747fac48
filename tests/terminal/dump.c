/*
 * terminal_dump: the VT core for tests in other languages. Commands come on stdin, a line each; what a command gives goes to
 * stdout as one line of JSON, with bytes in base64.
 *
 *     new COLUMNS ROWS SCROLLBACK    feed N (and N bytes)    resize COLUMNS ROWS
 *     screen SCROLLBACK              pending                 dump
 *     answers                        what the last feed was answered
 */
#include "look.h"

#include "server/terminal/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct terminal *terminal;
static struct terminal_answers answers;

static void print_base64(const uint8_t *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	putchar('"');
	for (size_t i = 0; i < length; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;
		word |= i + 1 < length ? (uint32_t)bytes[i + 1] << 8 : 0;
		word |= i + 2 < length ? bytes[i + 2] : 0;
		putchar(digits[word >> 18]);
		putchar(digits[word >> 12 & 63]);
		putchar(i + 1 < length ? digits[word >> 6 & 63] : '=');
		putchar(i + 2 < length ? digits[word & 63] : '=');
	}
	putchar('"');
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_cell(const struct row *row, int at)
{
	struct looked cell = look_at(terminal, row, at);
	printf("[");
	print_string(cell.text);
	printf(",%u,%u,%u,%u,%u,", cell.width, cell.look.fg, cell.look.bg, cell.look.style, cell.look.colour);
	print_string(cell.look.link ? decorations_link_at(&terminal->decorations, cell.look.link)->address : "");
	printf("]");
}

static void print_tabs(const struct grid *grid)
{
	const char *separator = "";
	for (int i = 0; i < grid->columns; i++)
		if (grid->tabs[i]) {
			printf("%s%d", separator, i);
			separator = ",";
		}
}

static void print_saved(const struct grid *grid)
{
	const struct saved_cursor *saved = &grid->saved;
	printf("[%d,%d,%u,%u,%d]", saved->x < grid->columns ? saved->x : grid->columns - 1, grid_saved_row(grid), saved->fg,
	       saved->bg & ~BG_DECORATED, saved->charset);
}

static void print_grid(const struct grid *grid)
{
	printf("{\"region\":[%d,%d],\"base\":%lld,\"tabs\":[", grid->top, grid->bottom, (long long)grid->base);
	print_tabs(grid);
	printf("],\"saved\":");
	print_saved(grid);
	printf(",\"rows\":[");
	for (int y = 0; grid->rows && y < grid->count; y++) {
		printf("%s{\"wrapped\":%s,\"cells\":[", y ? "," : "", grid->rows[y].wrapped ? "true" : "false");
		for (int x = 0; x < grid->columns; x++) {
			printf("%s", x ? "," : "");
			print_cell(&grid->rows[y], x);
		}
		printf("]}");
	}
	printf("]}");
}

static void print_title(const struct title *title)
{
	printf("[");
	for (uint32_t i = 0; i < title->depth; i++) {
		print_string(title->stack[i]);
		printf(",");
	}
	print_string(title->now);
	printf("]");
}

static void dump(void)
{
	struct cell pen = pen_cell(&terminal->pen, &terminal->decorations);
	struct look look = look_of(&terminal->decorations, pen.fg, pen.bg, pen.decoration);
	printf("{\"x\":%d,\"y\":%d,\"join\":%u,\"alternate\":%s,\"modes\":%u,\"mouse\":[%u,%u],\"style\":%u,",
	       terminal->grid->x, terminal->grid->y, terminal->join,
	       terminal->grid == &terminal->alternate ? "true" : "false", terminal->modes, terminal->mouse_protocol,
	       terminal->mouse_encoding, terminal->cursor_style);
	printf("\"pen\":[%u,%u,%u,%u],\"level\":%u,\"charsets\":[%d,%d,%d,%d],\"charset\":%d,\"title\":", look.fg, look.bg,
	       look.style, look.colour, terminal->level, terminal->charsets[0], terminal->charsets[1],
	       terminal->charsets[2], terminal->charsets[3], terminal->charset);
	print_title(&terminal->title);
	printf(",\"icon\":");
	print_title(&terminal->icon);
	printf(",\"memory\":%zu,\"scrollback\":%u,\"main\":", terminal_memory(terminal), terminal->scrollback.count);
	print_grid(&terminal->main);
	printf(",\"alt\":");
	print_grid(&terminal->alternate);
	printf("}");
}

/* A screen, or what is pending. */
static void print_made(uint8_t *bytes, const size_t *length)
{
	print_base64(bytes, *length);
	free(bytes);
}

static void feed(size_t length)
{
	uint8_t *bytes = malloc(length + 1);
	if (!bytes || fread(bytes, 1, length, stdin) != length)
		exit(1);
	terminal_feed(terminal, bytes, length, &answers);
	free(bytes);
}

static bool run(const char *command, unsigned int one, unsigned int two, unsigned int three)
{
	size_t length;
	if (strcmp(command, "new") == 0) {
		terminal_destroy(terminal);
		terminal = terminal_create(one, two, three);
	} else if (strcmp(command, "feed") == 0) {
		feed(one);
	} else if (strcmp(command, "resize") == 0) {
		terminal_resize(terminal, one, two);
	} else if (strcmp(command, "screen") == 0) {
		print_made(terminal_screen(terminal, one, &length), &length);
	} else if (strcmp(command, "pending") == 0) {
		print_made(terminal_pending(terminal, &length), &length);
	} else if (strcmp(command, "answers") == 0) {
		print_base64((const uint8_t *)answers.bytes, answers.length);
	} else if (strcmp(command, "dump") == 0) {
		dump();
	} else {
		return false;
	}
	return true;
}

int main(void)
{
	char line[128];
	static const char *const silent[] = {"new", "feed", "resize"};
	while (fgets(line, sizeof line, stdin)) {
		char command[16] = "";
		unsigned int numbers[3] = {0};
		int found = sscanf(line, "%15s %u %u %u", command, &numbers[0], &numbers[1], &numbers[2]);
		if (found < 1 || !run(command, numbers[0], numbers[1], numbers[2])) {
			fprintf(stderr, "terminal_dump: %s: there is no such command\n", command);
			return 2;
		}
		bool is_silent = false;
		for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
			is_silent |= strcmp(command, silent[i]) == 0;
		if (!is_silent)
			putchar('\n');
	}
	terminal_destroy(terminal);
	return 0;
}
