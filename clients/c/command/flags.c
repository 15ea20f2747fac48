/* The one table of flags, and how a command line is read by it. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Commands that know a flag; ALL: also before the command's name. */
#define ALL "*"
#define START "run exec"

typedef const char *(*flag_reader)(const char *text, void *field);

struct flag {
	const char *name;
	char letter;       /* short form, or 0 */
	const char *value; /* how its value is called in help; NULL: a switch */
	flag_reader read;  /* NULL, or what is allowed */
	size_t field;
	size_t given; /* a bool that becomes true, or 0 */
	const char *commands;
	const char *help;
};

/* ---- Readers of values ---- */

static const char *read_switch(const char *text, void *field)
{
	(void)text;
	*(bool *)field = true;
	return NULL;
}

static const char *read_text(const char *text, void *field)
{
	*(const char **)field = text;
	return NULL;
}

static const char *read_number(const char *text, void *field)
{
	char *end;

	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno || number >= 1ULL << 53)
		return "it must be a whole number";
	*(uint64_t *)field = number;
	return NULL;
}

static const char *read_count(const char *text, void *field)
{
	uint64_t number;

	if (read_number(text, &number) || number == 0)
		return "it must be a whole number from 1";
	*(uint64_t *)field = number;
	return NULL;
}

/* A limit: 0 asks for none, which is not the same as not asking. */
static uint64_t as_limit(uint64_t number)
{
	return number == 0 ? SANDBAR_NO_LIMIT : number;
}

static const char *read_count_limit(const char *text, void *field)
{
	uint64_t number;
	const char *allowed = read_number(text, &number);

	if (!allowed)
		*(uint64_t *)field = as_limit(number);
	return allowed;
}

static const char *read_byte_limit(const char *text, void *field)
{
	uint64_t number;
	const char *allowed = options_read_bytes(text, &number);

	if (!allowed)
		*(uint64_t *)field = as_limit(number);
	return allowed;
}

static const char *read_bytes(const char *text, void *field)
{
	return options_read_bytes(text, field);
}

static const char *read_duration(const char *text, void *field)
{
	return options_read_duration(text, field);
}

static const char *read_list(const char *text, void *field)
{
	struct text_list *list = field;

	list->items = realloc(list->items, (list->count + 2) * sizeof(*list->items));
	if (!list->items)
		abort();
	list->items[list->count++] = text;
	list->items[list->count] = NULL;
	return NULL;
}

/* `K` alone takes the value of our own environment, as `docker run --env` does. */
static const char *read_env(const char *text, void *field)
{
	const char *value = getenv(text);
	char *pair;

	if (text[0] == '=' || text[0] == '\0')
		return "it must be NAME=VALUE, or NAME for the value that it has here";
	if (strchr(text, '='))
		return read_list(text, field);
	if (asprintf(&pair, "%s=%s", text, value ? value : "") < 0)
		abort();
	return read_list(pair, field); /* lives as long as the program */
}

static const char *read_context(const char *text, void *field)
{
	if (text[0] == '=' || !strchr(text, '='))
		return "it must be NAME=TEXT";
	return read_list(text, field);
}

static const char *read_on_disconnect(const char *text, void *field)
{
	if (strcmp(text, "keep") != 0 && strcmp(text, "kill") != 0)
		return "it must be keep or kill";
	return read_text(text, field);
}

static const char *read_end_on_disconnect(const char *text, void *field)
{
	if (strcmp(text, "keep") != 0 && strcmp(text, "end") != 0)
		return "it must be keep or end";
	return read_text(text, field);
}

static const char *read_role(const char *text, void *field)
{
	const char *allowed = options_check_role(text);

	return allowed ? allowed : read_text(text, field);
}

static const char *read_input_mode(const char *text, void *field)
{
	if (strcmp(text, "open") != 0 && strcmp(text, "driver") != 0)
		return "it must be open or driver";
	return read_text(text, field);
}

static const char *read_size_policy(const char *text, void *field)
{
	uint32_t cols, rows;

	if (strcmp(text, "driver") != 0 && strcmp(text, "smallest") != 0 && strcmp(text, "largest") != 0 &&
	    !options_read_size(text, &cols, &rows))
		return "it must be driver, smallest, largest or COLSxROWS, such as 120x40";
	return read_text(text, field);
}

static const char *read_stream(const char *text, void *field)
{
	if (strcmp(text, "stdout") != 0 && strcmp(text, "stderr") != 0 && strcmp(text, "tty") != 0)
		return "it must be stdout, stderr or tty";
	return read_text(text, field);
}

#define FIELD(name) offsetof(struct options, name)

/* clang-format off */
static const struct flag FLAGS[] = {
	{"url", 0, "URL", read_text, FIELD(url), 0, ALL, "the server: ws://HOST:PORT or wss://HOST:PORT (SANDBAR_URL, else STATE/address)"},
	{"state", 0, "DIR", read_text, FIELD(state), 0, ALL, "the server's state directory (SANDBAR_STATE, else as sandbard)"},
	{"token-file", 0, "FILE", read_text, FIELD(token_file), 0, ALL, "a file with the token (else SANDBAR_TOKEN, else STATE/owner.token)"},
	{"ca-file", 0, "FILE", read_text, FIELD(ca_file), 0, ALL, "wss: certificates to trust, PEM"},
	{"give-up", 0, "TIME", read_duration, FIELD(give_up_ms), FIELD(has_give_up), ALL, "how long to try after a cut (default 2m; 0 = for ever)"},
	{"json", 0, NULL, read_switch, FIELD(json), 0, ALL, "print JSON: one object, or one a line for streams"},
	{"help", 'h', NULL, read_switch, FIELD(help), 0, ALL, "print this help"},

	{"terminal", 't', NULL, read_switch, FIELD(terminal), 0, START, "give the command a terminal, and this one to it"},
	{"env", 'e', "K=V", read_env, FIELD(env), 0, START " new", "add to its environment; may be given many times"},
	{"context", 0, "NAME=TEXT", read_context, FIELD(context), 0, START " new update", "note this beside it, for info and --json; may be given many times (run: beside its session, too)"},
	{"no-context", 0, NULL, read_switch, FIELD(no_context), 0, "update", "nothing is noted beside it any more"},
	{"cwd", 0, "DIR", read_text, FIELD(cwd), 0, START, "where it starts (default /work)"},
	{"name", 'n', "NAME", read_text, FIELD(name), 0, START " shell new update attach share token", "shown to others, at most 64 bytes"},
	{"no-stdin", 0, NULL, read_switch, FIELD(no_stdin), 0, START, "do not pass stdin on"},
	{"keep", 0, NULL, read_switch, FIELD(keep), 0, "run", "keep the session afterwards; its id is printed to stderr"},
	{"wall", 0, "TIME", read_duration, FIELD(wall_ms), 0, START " shell", "end it after this long"},
	{"idle", 0, "TIME", read_duration, FIELD(idle_ms), 0, START, "end it after this long without output"},
	{"cpu", 0, "TIME", read_duration, FIELD(cpu_ms), 0, START, "end it after so much processor time"},
	{"output", 0, "BYTES", read_bytes, FIELD(output_bytes), 0, START, "end it after so much output"},
	{"grace", 0, "TIME", read_duration, FIELD(grace_ms), FIELD(has_grace), START " shell kill", "between SIGTERM and SIGKILL"},
	{"kill-tree", 0, NULL, read_switch, FIELD(kill_tree), 0, START, "when it exits, end what it left behind"},
	{"on-disconnect", 0, "WHAT", read_on_disconnect, FIELD(on_disconnect), 0, START, "keep or kill, when this client is gone (default: run kill, exec keep)"},

	{"template", 0, "NAME", read_text, FIELD(template), 0, "run new prove", "what the session is made from (default: the server's `default`)"},
	{"profile", 0, "NAME", read_text, FIELD(profile), 0, "run new", "the system calls: default, compute (one program, no network) or build (no network)"},
	{"memory", 0, "BYTES", read_byte_limit, FIELD(limits.memory), 0, "run new", "limit: memory of the session"},
	{"processes", 0, "N", read_count_limit, FIELD(limits.processes), 0, "run new", "limit: processes and threads at once"},
	{"cpu-percent", 0, "N", read_count_limit, FIELD(limits.cpu), 0, "run new", "limit: percent of one core; 0 = all"},
	{"cpu-weight", 0, "N", read_number, FIELD(limits.cpu_weight), 0, "run new", "limit: share of processor time beside other sessions' (1 to what the template allows; 100 is the standard)"},
	{"workspace", 0, "BYTES", read_byte_limit, FIELD(limits.workspace), 0, "run new", "limit: files of the session"},
	{"inodes", 0, "N", read_count_limit, FIELD(limits.inodes), 0, "run new", "limit: number of files"},
	{"open-files", 0, "N", read_count_limit, FIELD(limits.open_files), 0, "run new", "limit: open files of a process"},
	{"file-size", 0, "BYTES", read_byte_limit, FIELD(limits.file_size), 0, "run new", "limit: size of one file; 0 = none"},
	{"ttl", 0, "TIME", read_duration, FIELD(ttl_ms), FIELD(has_ttl), "run new update", "the session ends this long after it was made (update: 0 = it does not)"},
	{"require", 0, "LAYER", read_list, FIELD(require), 0, "run new", "fail where this layer (see doctor) is not on; may be given many times"},
	{"on-disconnect", 0, "WHAT", read_end_on_disconnect, FIELD(on_disconnect), 0, "new", "keep (default), or end: stay here, and end the session when this program leaves"},

	{"view", 0, NULL, read_switch, FIELD(view), 0, "attach", "only watch: as a viewer"},
	{"role", 0, "ROLE", read_role, FIELD(role), 0, "share", "viewer (default), editor or owner"},
	{"uses", 0, "N", read_count, FIELD(uses), 0, "share", "how many clients may come by it (default 1)"},
	{"input", 0, "MODE", read_input_mode, FIELD(input), 0, "terminal", "open: every editor types; driver: one at a time"},
	{"size", 0, "POLICY", read_size_policy, FIELD(size), 0, "terminal", "driver, smallest, largest, or COLSxROWS"},
	{"safe", 0, NULL, read_switch, FIELD(safe), 0, "attach", "draw the screens that the server keeps: no byte that the program wrote comes here (of one without a terminal: text alone)"},
	{"no-status", 0, NULL, read_switch, FIELD(no_status), 0, "attach", "do not keep the last row for who is here and who drives"},
	{"allow-clipboard", 0, NULL, read_switch, FIELD(allow_clipboard), 0, START " attach", "let the program write this terminal's clipboard (OSC 52)"},
	{"detach-key", 0, "KEY", read_text, FIELD(detach_key), 0, START " attach", "^X, an escape such as ~. at the start of a line, or none (default ^]; attach: what commands begin with)"},
	{"ended", 0, NULL, read_switch, FIELD(ended), 0, "ls", "those that have ended, and can be read by logs and attach"},
	{"cast", 0, NULL, read_switch, FIELD(cast), 0, "logs", "a terminal as a recording: asciicast v3, which asciinema plays"},
	{"from", 0, "SEQ|TIME", read_text, FIELD(from), 0, "logs", "--cast: begin behind this event, or so long after the terminal was started"},
	{"follow", 'f', NULL, read_switch, FIELD(follow), 0, "logs", "go on with what comes"},
	{"new", 0, NULL, read_switch, FIELD(is_new), 0, "shell", "in a new shell"},
	{"process", 'p', "N", read_number, FIELD(process), 0, "logs shell note", "only this process; this shell; the process that is meant"},
	{"stream", 0, "NAME", read_stream, FIELD(stream), 0, "logs", "only stdout, stderr or tty"},
	{"signal", 's', "NAME", read_text, FIELD(signal), 0, "kill", "send this signal, and do not wait for an end"},
	{"tenant", 0, "NAME", read_text, FIELD(tenant), 0, "token", "new, link: the account whose sessions it sees (default: one's own)"},
	{"rights", 0, "LIST", read_text, FIELD(rights), 0, "token", "new, link: of read,run,manage,admin (default read,run,manage)"},
	{"expires", 0, "TIME", read_duration, FIELD(expires_ms), 0, "token share", "good for this long (default: until it is revoked; a share: as long as the session; token link: 30 days from its use)"},
	{"save", 0, "FILE", read_text, FIELD(save), 0, "prove", "keep the proof in this file"},
	{"verbose", 0, NULL, read_switch, FIELD(verbose), 0, "prove", "print every attempt, with the control that stopped it"},
	{"check", 0, "FILE", read_text, FIELD(check), 0, "prove", "do not attack: say whether this proof is still fresh"},
	{"tree", 0, NULL, read_switch, FIELD(tree), 0, "kill", "with --signal: to every process of the tree"},
};
/* clang-format on */

enum { FLAG_COUNT = sizeof(FLAGS) / sizeof(FLAGS[0]) };

/* ---- Values with units ---- */

struct unit {
	const char *name;
	double factor;
};

static const struct unit BYTE_UNITS[] = {
	{"", 1},         {"K", 1024.0},      {"M", 1048576.0},      {"G", 1073741824.0}, {"T", 1099511627776.0},
	{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {NULL, 0},
};

static const struct unit TIME_UNITS[] = {
	{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};

static bool read_with_unit(const char *text, const struct unit *units, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xXeEpP"))
		return false;
	double number = strtod(text, &end);
	while (units->name && strcmp(units->name, end) != 0)
		units++;
	if (!units->name || number * units->factor >= 9007199254740992.0)
		return false;
	*value = (uint64_t)(number * units->factor + 0.5);
	return true;
}

const char *options_read_bytes(const char *text, uint64_t *bytes)
{
	return read_with_unit(text, BYTE_UNITS, bytes) ? NULL
	                                               : "it must be a number of bytes, such as 4096, 64K, 512M or 2G";
}

const char *options_read_duration(const char *text, uint64_t *milliseconds)
{
	return read_with_unit(text, TIME_UNITS, milliseconds) ? NULL
	                                                      : "it must be a time, such as 500ms, 10s, 2m, 1h or 30d";
}

bool options_read_size(const char *text, uint32_t *cols, uint32_t *rows)
{
	char end;

	return isdigit((unsigned char)text[0]) && sscanf(text, "%ux%u%c", cols, rows, &end) == 2;
}

const char *options_check_role(const char *text)
{
	bool is_one = strcmp(text, "viewer") == 0 || strcmp(text, "editor") == 0 || strcmp(text, "owner") == 0;

	return is_one ? NULL : "it must be viewer, editor or owner";
}

/* ---- Parsing ---- */

static bool is_for(const struct flag *flag, const struct command *command)
{
	const char *at = flag->commands;

	if (strcmp(at, ALL) == 0)
		return true;
	for (size_t length; command && *at; at += length + (at[length] == ' ')) {
		length = strcspn(at, " ");
		if (strlen(command->name) == length && strncmp(command->name, at, length) == 0)
			return true;
	}
	return false;
}

static int usage_error(const struct command *command, const char *flag, const char *what)
{
	fprintf(stderr, "sandbar%s%s: %s%s%s\n", command ? " " : "", command ? command->name : "", flag,
	        flag[0] ? ": " : "", what);
	fprintf(stderr, "Try `sandbar%s%s --help`.\n", command ? " " : "", command ? command->name : "");
	return EXIT_USAGE;
}

/* TEXT: "--name", "--name=value" or "-n"; *VALUE: what stands after the `=`, or NULL. */
static const struct flag *find_flag(const char *text, const struct command *command, const char **value)
{
	size_t length = strcspn(text, "=");
	bool is_long = text[1] == '-';

	*value = is_long && text[length] ? text + length + 1 : NULL;
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		const struct flag *flag = &FLAGS[i];
		bool matches = is_long ? strlen(flag->name) == length - 2 && strncmp(flag->name, text + 2, length - 2) == 0
		                       : flag->letter == text[1] && text[2] == '\0';
		if (matches && is_for(flag, command))
			return flag;
	}
	return NULL;
}

struct cursor {
	int argc, at;
	char **argv;
};

static const struct command *find_command(const char *name)
{
	for (const struct command *command = COMMANDS; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

static int read_flag(struct options *options, struct cursor *cursor)
{
	const char *text = cursor->argv[cursor->at++], *value;
	const struct flag *flag = find_flag(text, options->command, &value);

	if (!options->command && strcmp(text, "--version") == 0) { /* in the place of the command, as people try it */
		options->command = find_command("version");
		return -1;
	}
	if (!flag)
		return usage_error(options->command, text, "there is no such flag here");
	if (flag->value && !value && cursor->at < cursor->argc)
		value = cursor->argv[cursor->at++];
	if (flag->value && !value)
		return usage_error(options->command, text, "a value must follow");
	if (!flag->value && value)
		return usage_error(options->command, text, "it takes no value");
	const char *allowed = flag->read(value, (char *)options + flag->field);
	if (allowed)
		return usage_error(options->command, text, allowed);
	if (flag->given)
		*(bool *)((char *)options + flag->given) = true;
	return -1;
}

/* A word that is no flag: the command's name, a positional argument, or the first of CMD ARG…, which ends the flags. */
static int read_word(struct options *options, struct cursor *cursor)
{
	const char *word = cursor->argv[cursor->at];

	if (!options->command && !options->help && strcmp(word, "help") == 0) { /* as --help, in the place of the command */
		options->help = true;
		cursor->at++;
		return -1;
	}
	if (!options->command) {
		options->command = find_command(word);
		cursor->at++;
		return options->command ? -1 : usage_error(NULL, word, "there is no such command");
	}
	if (options->command->takes_program && options->argument_count == options->command->most) {
		options->program = (const char *const *)cursor->argv + cursor->at;
		cursor->at = cursor->argc;
		return -1;
	}
	if (options->argument_count == options->command->most)
		return usage_error(options->command, word, "this argument is one too many");
	options->arguments[options->argument_count++] = word;
	cursor->at++;
	return -1;
}

static int read_arguments(struct options *options, struct cursor *cursor)
{
	int status = -1;
	bool only_words = false;

	while (cursor->at < cursor->argc && status < 0) {
		const char *text = cursor->argv[cursor->at];
		if (!only_words && strcmp(text, "--") == 0) {
			only_words = true;
			cursor->at++;
		} else if (!only_words && text[0] == '-' && text[1]) {
			status = read_flag(options, cursor);
		} else {
			status = read_word(options, cursor);
		}
	}
	return status;
}

static int check(const struct options *options)
{
	const struct command *command = options->command;

	if (!command)
		return usage_error(NULL, "", "a command is missing");
	if (options->argument_count < command->least)
		return usage_error(command, command->usage, "an argument is missing");
	if (command->takes_program == PROGRAM_MUST && !options->program)
		return usage_error(command, command->usage, "what to run is missing");
	return -1;
}

int options_parse(struct options *options, int argc, char **argv)
{
	struct cursor cursor = {argc, 1, argv};

	*options = (struct options){.arguments = calloc((size_t)argc + 1, sizeof(char *))};
	if (!options->arguments)
		abort();
	int status = read_arguments(options, &cursor);
	if (status >= 0)
		return status;
	if (!options->help)
		return check(options);
	if (options->command)
		options_help_command(stdout, options->command);
	else
		options_help(stdout);
	return EXIT_OK;
}

void options_finish(struct options *options)
{
	free(options->arguments);
	free(options->env.items);
	free(options->context.items);
	free(options->require.items);
	*options = (struct options){0};
}

/* ---- Help ---- */

static void help_flag(FILE *out, const struct flag *flag)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s", flag->letter ? "-" : "", flag->letter ? flag->letter : ' ',
	         flag->letter ? ", " : "   ", flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
	fprintf(out, "  %-26s %s\n", left, flag->help);
}

static void help_flags(FILE *out, const struct command *command, bool of_all)
{
	for (size_t i = 0; i < FLAG_COUNT; i++)
		if (is_for(&FLAGS[i], command) && (strcmp(FLAGS[i].commands, ALL) == 0) == of_all)
			help_flag(out, &FLAGS[i]);
}

void options_help_command(FILE *out, const struct command *command)
{
	fprintf(out, "usage: sandbar %s [FLAG…]%s%s\n\n%s.\n", command->name, command->usage[0] ? " " : "", command->usage,
	        command->summary);
	if (command->details)
		fprintf(out, "\n%s\n", command->details);
	fprintf(out, "\nFlags:\n");
	help_flags(out, command, false);
	help_flags(out, command, true);
}

void options_help(FILE *out)
{
	fprintf(out,
	        "usage: sandbar [FLAG…] COMMAND …\n\nRun commands in sandboxes, and share their terminals.\n\nCommands:\n");
	for (const struct command *command = COMMANDS; command->name; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->summary);
	fprintf(out, "\nFlags:\n");
	help_flags(out, NULL, true);
	fprintf(out, "\nSESSION is an id, or a name that one session alone has.\n"
	             "TIME is such as 500ms, 30s, 5m, 8h or 7d; BYTES is such as 64K, 512M or 2G.\n"
	             "\nExit codes:\n"
	             "  0    done                        3    no server, or it does not accept the token\n"
	             "  1    refused, or failed          4    no such session or process\n"
	             "  2    a wrong command line        125  run, exec: Sandbar failed, not the command\n"
	             "`run` and `exec` leave with the command's own exit code; 128+n when signal n ended it.\n");
}
