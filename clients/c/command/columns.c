#include "columns.h"

#include "escape.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, CELL_BYTES = 256 };

struct cell {
	char *text;
	size_t width;
};

struct columns {
	const char *const *headings;
	size_t count;       /* of columns */
	struct cell *cells; /* row after row */
	size_t used, capacity;
};

struct columns *columns_create(const char *const *headings)
{
	struct columns *columns = calloc(1, sizeof(*columns));

	if (!columns)
		abort();
	columns->headings = headings;
	do
		columns->count++;
	while (headings[columns->count]);
	return columns;
}

void columns_destroy(struct columns *columns)
{
	if (!columns)
		return;
	for (size_t i = 0; i < columns->used; i++)
		free(columns->cells[i].text);
	free(columns->cells);
	free(columns);
}

void columns_add(struct columns *columns, const void *text, size_t length)
{
	struct cell cell;
	size_t size;
	FILE *out = open_memstream(&cell.text, &size);

	if (!out)
		abort();
	cell.width = escape_print(out, text, length);
	fclose(out);
	if (columns->used == columns->capacity) {
		columns->capacity = columns->capacity ? columns->capacity * 2 : 64;
		columns->cells = realloc(columns->cells, columns->capacity * sizeof(*columns->cells));
		if (!columns->cells)
			abort();
	}
	columns->cells[columns->used++] = cell;
}

void columns_format(struct columns *columns, const char *format, ...)
{
	char text[CELL_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	columns_add(columns, text, strlen(text));
}

static size_t width_of(const struct columns *columns, size_t column)
{
	size_t width = strlen(columns->headings[column]);

	for (size_t i = column; i < columns->used; i += columns->count)
		if (columns->cells[i].width > width)
			width = columns->cells[i].width;
	return width;
}

static void print_cell(FILE *out, const char *text, size_t width, size_t room, int is_last)
{
	fputs(text, out);
	if (is_last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (int)(room - width + GAP), "");
}

void columns_print(struct columns *columns, FILE *out)
{
	size_t widths[16] = {0};

	for (size_t i = 0; i < columns->count; i++) {
		widths[i] = width_of(columns, i);
		print_cell(out, columns->headings[i], strlen(columns->headings[i]), widths[i], i + 1 == columns->count);
	}
	for (size_t i = 0; i < columns->used; i++) {
		size_t column = i % columns->count;
		print_cell(out, columns->cells[i].text, columns->cells[i].width, widths[column], column + 1 == columns->count);
	}
	columns_destroy(columns);
}
