/*
 * row.h: one line of a screen. Its operations leave no half of a wide character behind.
 */
#ifndef SANDBAR_TERMINAL_ROW_H
#define SANDBAR_TERMINAL_ROW_H

#include "cell.h"

struct row {
	struct cell *cells;
	int used;     /* the cells from here on are CELL_BLANK */
	bool wrapped; /* it goes on from the row above, whose end was reached in writing */
};

void row_fill(struct row *row, int columns, struct cell blank);
/* The same, but for protected cells. */
void row_fill_unprotected(struct row *row, int columns, struct cell blank);
/* Make room for COUNT cells at AT; what is pushed over the end is gone. */
void row_insert(struct row *row, int columns, int at, int count, struct cell blank);
void row_delete(struct row *row, int columns, int at, int count, struct cell blank);
void row_erase(struct row *row, int columns, int begin, int end, struct cell blank);
void row_erase_unprotected(struct row *row, int columns, int begin, int end, struct cell blank);

static inline void row_touch(struct row *row, int end)
{
	if (row->used < end)
		row->used = end;
}

#endif
