/*
 * columns.h: a table of text with aligned columns. Cells are escaped for a terminal as they are added.
 */
#ifndef SANDBAR_COMMAND_COLUMNS_H
#define SANDBAR_COMMAND_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

struct columns;

/* HEADINGS: 1 to 16, ended by NULL; must live as long as the table. The caller frees it with columns_print() or _destroy(). */
struct columns *columns_create(const char *const *headings);
void columns_destroy(struct columns *columns);

/* Add the next cell; after the last column a new row begins. */
void columns_add(struct columns *columns, const void *text, size_t length);
void columns_format(struct columns *columns, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print it; the last column is not padded. Then free it. */
void columns_print(struct columns *columns, FILE *out);

#endif
