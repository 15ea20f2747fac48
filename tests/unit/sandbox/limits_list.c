#include "limits_list.h"

#include "sandbox/limit_bounds.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#define IS_WIDE true
#define IS_NARROW false

struct listed {
	const char *name, *sees, *told;
	unsigned seconds;
	const char *note;
	uint64_t standard, least, most;
	bool is_bytes;
};

static const struct listed of_sessions[] = {
#define SESSION_LIMIT(field, width, standard, allowed, name, sees, told, seconds, note) \
	{name, sees, told, seconds, note, standard, LIMIT_LEAST_##field, LIMIT_MOST_##field, IS_##width},
#define PROCESS_LIMIT(...)
#define TENANT_LIMIT(...)
#include "sandbox/limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
};

static const struct listed of_processes[] = {
#define SESSION_LIMIT(...)
#define PROCESS_LIMIT(name, sees, told, seconds, note) {name, sees, told, seconds, note, 0, 0, 0, false},
#define TENANT_LIMIT(...)
#include "sandbox/limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
};

static const struct {
	const char *flag, *limit, *note;
} of_tenants[] = {
#define SESSION_LIMIT(...)
#define PROCESS_LIMIT(...)
#define TENANT_LIMIT(flag, limit, note) {flag, limit, note},
#include "sandbox/limits.def"
#undef SESSION_LIMIT
#undef PROCESS_LIMIT
#undef TENANT_LIMIT
};

static void write_number(FILE *out, uint64_t number, bool is_bytes)
{
	static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB", " PiB"};
	unsigned unit = 0;
	for (; is_bytes && number > 0 && number % 1024 == 0; unit++)
		number /= 1024;
	fprintf(out, "%" PRIu64 "%s", number, units[unit]);
}

static void write_name(FILE *out, const char *name)
{
	fprintf(out, name[0] == '(' ? "| %s " : "| `%s` ", name);
}

static void write_rest(FILE *out, const struct listed *row)
{
	fprintf(out, "| %s | %s | ", row->sees, row->told);
	if (row->seconds == 0)
		fputs("at once", out);
	else
		fprintf(out, "%u s", row->seconds);
	fprintf(out, " | %s |\n", row->note);
}

void limits_list_write(FILE *out)
{
	fputs("# Limits, and what comes of them\n\n"
	      "Made of [sandbox/limits.def](../sandbox/limits.def) by `limits-list`; each row is tested "
	      "(tests/system/test_limits.py).\n"
	      "*Sees*: what the program that runs into it gets. *Told*: reason and control of `EXITED`; `-`: the program "
	      "goes on, and\n"
	      "decides for itself. A name in parentheses cannot be asked for.\n\n"
	      "## Of a session (`limits` of `session.create`, or a template)\n\n"
	      "| limit | default | least | most | sees | told | within | |\n| --- | --- | --- | --- | --- | --- | --- | "
	      "--- |\n",
	      out);
	for (size_t i = 0; i < sizeof of_sessions / sizeof of_sessions[0]; i++) {
		const struct listed *row = &of_sessions[i];
		write_name(out, row->name);
		fputs("| ", out);
		if (row->standard == 0)
			fputs("none", out);
		else
			write_number(out, row->standard, row->is_bytes);
		fputs(" | ", out);
		write_number(out, row->least, row->is_bytes);
		fputs(" | ", out);
		write_number(out, row->most, row->is_bytes);
		fputc(' ', out);
		write_rest(out, row);
	}
	fputs("\n## Of a process (`process.start`); without one that was asked for there is none\n\n"
	      "| limit | sees | told | within | |\n| --- | --- | --- | --- | --- |\n",
	      out);
	for (size_t i = 0; i < sizeof of_processes / sizeof of_processes[0]; i++) {
		write_name(out, of_processes[i].name);
		write_rest(out, &of_processes[i]);
	}
	fputs("\n## Of a tenant (flags of `sandbard`); 0, the default, is none\n\n"
	      "More is the answer `limit`, whose `data` is `{limit: …}`. `session.info` tells how much is used "
	      "(tests/system/test_tokens.py).\n\n"
	      "| flag | `limit` | |\n| --- | --- | --- |\n",
	      out);
	for (size_t i = 0; i < sizeof of_tenants / sizeof of_tenants[0]; i++)
		fprintf(out, "| `%s` | `%s` | %s |\n", of_tenants[i].flag, of_tenants[i].limit, of_tenants[i].note);
}
