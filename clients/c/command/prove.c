/*
 * `prove`: the server attacks itself. Two sessions of a template are made; in one a neighbour holds what must not be found,
 * in the other all attacks are tried, by a program that is put into both over their processes' stdin.
 */
#include "commands.h"
#include "context.h"
#include "proof.h"
#include "query.h"
#include "signals.h"
#include "victim.h"
#include "clients/c/failure.h"
#include "protocol/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSIDE "/tmp/sandbar-probe"
#define WORD_FILE INSIDE ".word"
#define WORD_VARIABLE "SANDBAR_PROBE_WORD="

enum {
	WORD_BYTES = 16,
	PROGRAM_MOST = 16 * 1024 * 1024,
	PROFILE_BYTES = 32,
	EXIT_INSIDE_HELD = 0,
	EXIT_INSIDE_OPEN = 1
};

struct program {
	void *bytes;
	size_t length;
	char variable[sizeof(WORD_VARIABLE) +
	              (size_t)2 * WORD_BYTES]; /* "NAME=word": without it the program refuses to run */
};

/* The sessions are to be ended in any case, so a signal only asks for it. */
static int asked_by_signal;

static void on_signal(int number, void *user)
{
	(void)user;
	asked_by_signal = number;
}

static int watch_signals(struct context *context, struct sandbar_error *error)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};

	return signals_watch(context->sandbar, numbers, on_signal, NULL, error);
}

static int fail(const struct context *context, const struct sandbar_error *error)
{
	return asked_by_signal ? 128 + asked_by_signal : context_fail(context, NULL, error);
}

/* ---- The program ---- */

static int read_whole(int fd, struct program *program)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -1;
	if (status.st_size > PROGRAM_MOST) {
		errno = EFBIG;
		return -1;
	}
	program->length = (size_t)status.st_size;
	program->bytes = malloc(program->length + 1);
	if (!program->bytes)
		abort();
	ssize_t got = read(fd, program->bytes, program->length);
	if (got >= 0 && (size_t)got != program->length)
		errno = EIO;
	return got == (ssize_t)program->length ? 0 : -1;
}

/* It stands beside this program, or in ../libexec/sandbar of its directory. */
static int open_program(void)
{
	static const char *const places[] = {"sandbar-probe", "../libexec/sandbar/sandbar-probe"};
	char path[PATH_MAX];
	int fd = -1;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);

	if (length < 0)
		return -1;
	path[length] = '\0';
	char *name = strrchr(path, '/') + 1;
	for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		strcpy(name, places[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

static int load_program(struct program *program, struct sandbar_error *error)
{
	unsigned char word[WORD_BYTES];
	int fd = open_program();

	*program = (struct program){.variable = WORD_VARIABLE};
	if (fd < 0 || read_whole(fd, program) < 0 || getrandom(word, sizeof(word), 0) != sizeof(word)) {
		failure_set(error, "system", "sandbar-probe, which must stand beside this program: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	for (size_t i = 0; i < sizeof(word); i++)
		snprintf(program->variable + strlen(WORD_VARIABLE) + 2 * i, 3, "%02x", word[i]);
	return 0;
}

static int put_program(struct victim *victim, const struct program *program, struct sandbar_error *error)
{
	const char *word = program->variable + strlen(WORD_VARIABLE);

	if (victim_put(victim, INSIDE, "755", program->bytes, program->length, error) < 0)
		return -1;
	return victim_put(victim, WORD_FILE, "600", word, strlen(word), error);
}

/* ---- What a proof depends on ---- */

static int ask_inside(struct victim *victim, const char *subject, char fingerprint[FINGERPRINT_BYTES],
                      struct sandbar_error *error)
{
	const char *const argv[] = {INSIDE, "facts", subject, NULL};

	if (victim_run(victim, argv, NULL, error) < 0)
		return -1;
	if (victim->ending.exit_code != 0) {
		failure_set(error, "system", "the facts of the %s could not be read inside", subject);
		return -1;
	}
	fingerprint_of_lines(victim->output, victim->length, fingerprint);
	return 0;
}

/* The layers that are on, the limits, who runs in it, and the profile, which is told by its name, too. */
static int ask_policy(struct victim *victim, struct proof_facts *facts, char profile[PROFILE_BYTES],
                      struct sandbar_error *error)
{
	static const char *const keys[] = {"layers", "limits", "profile", "user"};
	struct query query;
	char *bytes;
	size_t length;
	FILE *all = open_memstream(&bytes, &length);

	if (!all)
		abort();
	int status = query_session(&query, victim->context->sandbar, "session.info", victim->session, 0, error);
	for (size_t i = 0; status == 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct reader value = query_field(&query.result, keys[i]), end = value;
		if (reader_skip(&end))
			fwrite(value.at, 1, (size_t)(end.at - value.at), all);
	}
	if (status == 0) {
		struct view name = query_text(&query.result, "profile");
		snprintf(profile, PROFILE_BYTES, "%.*s", (int)name.length, name.data);
		query_finish(&query);
	}
	fclose(all);
	if (status == 0)
		fingerprint_of(bytes, length, facts->fingerprints[1]);
	free(bytes);
	return status;
}

static int read_facts(struct victim *victim, struct proof_facts *facts, char profile[PROFILE_BYTES],
                      struct sandbar_error *error)
{
	if (ask_inside(victim, PROOF_FACT_NAMES[0], facts->fingerprints[0], error) < 0 ||
	    ask_policy(victim, facts, profile, error) < 0)
		return -1;
	return ask_inside(victim, PROOF_FACT_NAMES[2], facts->fingerprints[2], error);
}

/* ---- The attack ---- */

static struct proof *attack(struct victim *victim, struct victim *neighbour, const struct program *program,
                            struct sandbar_error *error)
{
	char profile[PROFILE_BYTES];
	const char *const baits[] = {INSIDE, "bait", NULL}, *const runs[] = {INSIDE, "attack", profile, NULL};
	struct proof_facts facts;

	if (put_program(victim, program, error) < 0 || put_program(neighbour, program, error) < 0 ||
	    read_facts(victim, &facts, profile, error) < 0 ||
	    victim_leave_running(neighbour, baits, program->variable, error) < 0 ||
	    victim_run(victim, runs, program->variable, error) < 0)
		return NULL;
	if (victim->ending.exit_code != EXIT_INSIDE_HELD && victim->ending.exit_code != EXIT_INSIDE_OPEN) {
		failure_set(error, "system", "the program inside left with %d", victim->ending.exit_code);
		return NULL;
	}
	return proof_create(victim->context->options->template, &facts, victim->output, error);
}

/* The server's copy is what its templates ask for; only an operator may put it there. */
static void keep(struct context *context, const struct proof *proof)
{
	struct writer params;
	struct sandbar_error error;

	writer_init(&params, LIMIT_MESSAGE_BYTES);
	proof_write_params(proof, &params);
	if (sandbar_call(context->sandbar, "proof.keep", params.data, params.length, NULL, NULL, &error) < 0 &&
	    strcmp(error.code, "forbidden") != 0)
		context_say("the server does not keep this proof: %s (%s)", error.message, error.code);
	writer_finish(&params);
}

static int tell(struct context *context, const struct options *options, const struct proof *proof)
{
	struct sandbar_error error;

	keep(context, proof);
	if (options->json)
		proof_print_json(proof);
	else
		proof_print(proof, options->verbose);
	if (options->save && proof_save(proof, options->save, &error) < 0) {
		context_say("%s", error.message);
		return EXIT_FAILED;
	}
	return proof_has_held(proof) ? EXIT_OK : EXIT_FAILED;
}

static int prove(struct context *context, const struct options *options)
{
	struct program program;
	struct victim victim = {0}, neighbour = {0};
	struct sandbar_error error;
	struct proof *proof = NULL;

	if (load_program(&program, &error) == 0 && watch_signals(context, &error) == 0 &&
	    victim_init(&victim, context, options->template, &asked_by_signal, &error) == 0 &&
	    victim_init(&neighbour, context, options->template, &asked_by_signal, &error) == 0)
		proof = attack(&victim, &neighbour, &program, &error);
	int status = proof ? tell(context, options, proof) : fail(context, &error);
	victim_finish(&victim);
	victim_finish(&neighbour);
	free(program.bytes);
	proof_destroy(proof);
	return status;
}

/* ---- The check of a kept proof ---- */

static int read_facts_now(struct context *context, const char *template, struct proof_facts *facts,
                          struct sandbar_error *error)
{
	char profile[PROFILE_BYTES];
	struct program program;
	struct victim victim = {0};
	int status = load_program(&program, error);

	if (status == 0)
		status = watch_signals(context, error);
	if (status == 0)
		status = victim_init(&victim, context, template, &asked_by_signal, error);
	if (status == 0)
		status = put_program(&victim, &program, error);
	if (status == 0)
		status = read_facts(&victim, facts, profile, error);
	victim_finish(&victim);
	free(program.bytes);
	return status;
}

static int tell_check(const struct options *options, const struct proof *proof, const char *changed)
{
	bool has_held = proof_has_held(proof), is_good = has_held && !changed;

	if (options->json)
		printf("{\"fresh\": %s, \"changed\": %s%s%s, \"held\": %s, \"time\": \"%s\"}\n", changed ? "false" : "true",
		       changed ? "\"" : "", changed ? changed : "null", changed ? "\"" : "", has_held ? "true" : "false",
		       proof_time(proof));
	else if (changed)
		printf("stale: the %s is not what it was at %s\n", changed, proof_time(proof));
	else
		printf("fresh: kernel, policy and root are what they were at %s%s\n", proof_time(proof),
		       has_held ? "" : "; but not everything held then");
	return is_good ? EXIT_OK : EXIT_FAILED;
}

static int check(struct context *context, const struct options *options)
{
	struct proof_facts now;
	struct sandbar_error error;
	struct proof *proof = proof_load(options->check, &error);
	int status;

	if (proof && read_facts_now(context, proof_template(proof), &now, &error) == 0)
		status = tell_check(options, proof, proof_changed_fact(proof, &now));
	else
		status = fail(context, &error);
	proof_destroy(proof);
	return status;
}

int command_prove(struct options *options)
{
	struct context context;
	int status = context_connect(&context, options);

	if (status < 0)
		status = options->check ? check(&context, options) : prove(&context, options);
	context_finish(&context);
	return status;
}
