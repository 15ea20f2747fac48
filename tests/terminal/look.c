#include "look.h"

#include <string.h>

static bool is_tail(const struct row *row, int at)
{
	return cell_width(&row->cells[at]) == 0 && !cell_has_content(&row->cells[at]);
}

/* A second half without its first is a blank. */
struct looked look_at(const struct terminal *terminal, const struct row *row, int at)
{
	const struct cell *cell = &row->cells[at];
	struct looked looked = {.text = " ", .width = cell_width(cell)};
	looked.look = look_of(&terminal->decorations, cell->fg, cell->bg, cell->decoration);
	if (is_tail(row, at) && !(at > 0 && cell_width(&row->cells[at - 1]) == 2))
		looked.width = 1;
	if (is_tail(row, at) && looked.width == 0)
		looked.text[0] = 0;
	if (!cell_has_content(cell))
		return looked;
	if (cell->text & CELL_CLUSTER) {
		const struct cluster *cluster = decorations_cluster_at(&terminal->decorations, cell->text & CELL_TEXT);
		memcpy(looked.text, cluster->text, cluster->length);
		looked.text[cluster->length] = 0;
	} else {
		looked.text[utf8_encode(cell->text & CELL_TEXT, looked.text)] = 0;
	}
	return looked;
}
