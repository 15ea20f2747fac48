#include "layers.h"

#include "columns.h"
#include "escape.h"
#include "query.h"

/* Without one of these a sandbox is none. The others bound what it uses, and have fallbacks. */
static const char *const ESSENTIAL[] = {
	"user", "pid", "mount", "network", "ipc", "uts", "root", "dev", "proc", "capabilities", "seccomp", "rlimits",
};

static bool is_missing(const struct reader *row)
{
	if (query_truth(row, "on"))
		return false;
	for (size_t i = 0; i < sizeof(ESSENTIAL) / sizeof(ESSENTIAL[0]); i++)
		if (view_equals(query_text(row, "name"), ESSENTIAL[i]))
			return true;
	return false;
}

bool layers_are_sound(const struct reader *layers)
{
	struct reader rows = *layers, row;

	while (query_next(&rows, &row))
		if (is_missing(&row))
			return false;
	return true;
}

void layers_print(FILE *out, const struct reader *layers)
{
	static const char *const HEADINGS[] = {"LAYER", "STATE", "DETAIL", NULL};
	struct columns *columns = columns_create(HEADINGS);
	struct reader rows = *layers, row;

	while (query_next(&rows, &row)) {
		struct view name = query_text(&row, "name"), detail = query_text(&row, "detail");
		columns_add(columns, name.data, name.length);
		columns_format(columns, query_truth(&row, "on") ? "on" : is_missing(&row) ? "MISSING" : "off");
		columns_add(columns, detail.data, detail.length);
	}
	columns_print(columns, out);
}

void layers_print_verdict(FILE *out, const struct reader *layers)
{
	struct reader rows = *layers, row;

	if (layers_are_sound(layers)) {
		fputs("all essential layers are on\n", out);
		return;
	}
	fputs("essential layers that are missing:", out);
	while (query_next(&rows, &row)) {
		struct view name = query_text(&row, "name");
		if (!is_missing(&row))
			continue;
		fputc(' ', out);
		escape_print(out, name.data, name.length);
	}
	fputc('\n', out);
}
