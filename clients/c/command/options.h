/*
 * options.h: what the user asked for: the command line as one struct, filled by the one table of flags.
 */
#ifndef SANDBAR_COMMAND_OPTIONS_H
#define SANDBAR_COMMAND_OPTIONS_H

#include "clients/c/sandbar.h"

#include <stdio.h>

/* The exit codes of `sandbar` itself. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* the server refused, or something is not as it should be */
	EXIT_USAGE = 2,
	EXIT_NO_SERVER = 3, /* it cannot be reached, or does not accept the token */
	EXIT_NOT_FOUND = 4,
	EXIT_OWN_FAILURE = 125, /* run, exec: Sandbar failed, not the command */
};

struct text_list { /* ended by NULL once it is not empty */
	const char **items;
	size_t count;
};

/* Fields that a flag fills; times are milliseconds, 0 = not given unless a comment says otherwise. */
struct options {
	const char *url, *state, *token_file, *ca_file;
	uint64_t give_up_ms;
	bool has_give_up, json, help;

	bool terminal, keep, no_stdin, kill_tree;
	struct text_list env, context, require;
	const char *cwd, *name, *on_disconnect;
	struct sandbar_limits limits;
	uint64_t wall_ms, idle_ms, cpu_ms, output_bytes, grace_ms, ttl_ms;
	bool has_grace, has_ttl, no_context;

	bool is_new; /* shell */
	bool view, follow, tree, ended, verbose;
	bool safe, no_status, allow_clipboard, cast;
	const char *from, *role, *input, *size;
	uint64_t uses;
	const char *detach_key, *stream, *signal, *tenant, *rights, *template, *profile, *save, *check;
	uint64_t expires_ms;
	uint64_t process;

	const struct command *command;
	const char **arguments; /* positional */
	size_t argument_count;
	const char *const *program; /* after `--`: what to run; ended by NULL */
};

/* One row for each command. */
struct command {
	const char *name;
	const char *usage; /* the arguments, for help */
	const char *summary;
	const char *details;                                          /* may be NULL */
	size_t least, most;                                           /* positional arguments */
	enum { PROGRAM_NO, PROGRAM_MUST, PROGRAM_MAY } takes_program; /* after those: CMD ARG… */
	int (*run)(struct options *options);                          /* the exit code */
};

extern const struct command COMMANDS[]; /* ended by a row without a name */

/* Read argv. Returns -1 to go on, or the exit code after help or a usage error was printed. */
int options_parse(struct options *options, int argc, char **argv);
void options_finish(struct options *options);

void options_help(FILE *out); /* of everything */
void options_help_command(FILE *out, const struct command *command);

/* "512M" (K, M, G, T by 1024) and "1.5s" (ms, s, m, h; a plain number is seconds); NULL, or what is allowed. */
const char *options_read_bytes(const char *text, uint64_t *bytes);
const char *options_read_duration(const char *text, uint64_t *milliseconds);
bool options_read_size(const char *text, uint32_t *cols, uint32_t *rows); /* COLSxROWS */
const char *options_check_role(const char *text);                         /* NULL, or what is allowed */

#endif
