/*
 * flags.h: a program's command line as one table, from which parsing, defaults, --help and the documentation come.
 *
 * `--name VALUE` and `--name=VALUE` are the same. There are no short forms and no positional arguments. The table's
 * parse functions fill the fields of an options struct; texts point into argv and the table, and are never copied.
 */
#ifndef SANDBAR_FLAGS_H
#define SANDBAR_FLAGS_H

#include "sandbox/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FLAGS_MOST = 64 }; /* rows of a table */

struct flag;

/* Check TEXT and store it in FIELD. -1: ERR says what is allowed; the caller puts the flag's name before it. */
typedef int flag_parse(const struct flag *flag, const char *text, void *field, struct error *err);

struct flag {
	const char *name;          /* with its dashes: "--listen" */
	const char *argument;      /* "ADDR:PORT"; NULL = a switch, whose text is "" */
	const char *standard;      /* parsed where the flag was not given; NULL = the field is left alone */
	const char *standard_text; /* what the help says instead of `standard`, or NULL */
	flag_parse *parse;
	size_t offset;              /* of the field in the options struct */
	uint64_t least, most;       /* of numbers, bytes and seconds */
	const char *const *choices; /* of flag_choice; ended by NULL */
	const char *help;           /* what it does, one line or more */
	bool repeats;               /* each adds to the ones before; else the last counts */
	bool only_argument;         /* not in a configuration file */
};

struct flags_table {
	const char *program;
	const char *summary;  /* one line below the usage */
	const char *epilogue; /* exit codes and the like, below the flags */
	const struct flag *flags;
	size_t count; /* at most FLAGS_MOST */
};

/* Fill OPTIONS from argv[1..]. The first wrong argument ends it. */
int flags_parse(const struct flags_table *table, int argc, char **argv, void *options, struct error *err);
/* The same in two steps, for who has another source between them: bit n of SEEN = row n was given. */
int flags_read(const struct flags_table *table, int argc, char **argv, uint64_t *seen, void *options,
               struct error *err);
int flags_fill(const struct flags_table *table, uint64_t seen, void *options, struct error *err);
void flags_help(const struct flags_table *table, FILE *out);
void flags_markdown(const struct flags_table *table, FILE *out); /* the flags as a Markdown table */

/* The field's type stands behind each. */
flag_parse flag_switch;   /* bool */
flag_parse flag_text;     /* const char *; not empty */
flag_parse flag_number;   /* uint64_t in [least, most] */
flag_parse flag_bytes;    /* uint64_t in [least, most]; KiB, MiB and GiB as 64K, 4M, 1G */
flag_parse flag_duration; /* uint64_t milliseconds; least and most too; 500ms, 90s, 30m, 8h, 7d, or 0 */
flag_parse flag_choice;   /* unsigned: index in choices */

#endif
