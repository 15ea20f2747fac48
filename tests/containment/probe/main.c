/*
 * sandbar-probe: attacks the sandbox it runs in, and tells what came of it, one line an attempt:
 *
 *   VERDICT TAB GROUP TAB NAME TAB CONTROL TAB EXPECTED TAB GOT TAB ATTEMPT
 *
 * VERDICT: held; open (it succeeded); accepted (it succeeded, and docs/security.md says why that is so); other (it was
 * refused, but not as expected); skipped. Exit code 0 when none is open or other, 1 when one is, 97 outside of a sandbox.
 */
#include "abuse.h"
#include "attempt.h"
#include "bait.h"
#include "facts.h"
#include "guard.h"
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum { EXIT_NOT_HELD = 1, EXIT_USAGE = 64 };

/* What of the table is meant: one group, one name, or everything; and of that, rows with FLAG. */
struct selection {
	const char *name; /* NULL: everything */
	unsigned flag;    /* 0: whatever they have */
};

typedef void (*probe_visitor)(const struct probe_group *group, const struct probe *probe, void *context);

struct run {
	unsigned allowed; /* rows with such a flag are allowed by the profile */
	bool in_place;    /* no attempt has a process of its own: the profile `compute` */
	bool is_broken;
};

static const char *verdict_of(const struct probe *probe, int outcome, unsigned allowed)
{
	if (outcome == OUTCOME_SKIPPED)
		return "skipped";
	if (attempt_is_expected(probe, outcome))
		return "held";
	if (outcome != OUTCOME_OPEN)
		return "other";
	return probe->flags & (PROBE_ACCEPTED | allowed) ? "accepted" : "open";
}

static void print_row(const char *verdict, const char *got, const struct probe_group *group, const struct probe *probe)
{
	char expected[EXPECTED_TEXT];
	expected_text(probe->expected, expected);
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", verdict, group->name, probe->name, probe->control, expected, got,
	       probe->attempt);
	fflush(stdout);
}

static void run_probe(const struct probe_group *group, const struct probe *probe, void *context)
{
	struct run *run = context;
	char got[OUTCOME_TEXT];
	int outcome = attempt_run(probe, run->in_place);
	const char *verdict = verdict_of(probe, outcome, run->allowed);
	outcome_text(outcome, got);
	print_row(verdict, got, group, probe);
	run->is_broken |= strcmp(verdict, "open") == 0 || strcmp(verdict, "other") == 0;
}

static void list_probe(const struct probe_group *group, const struct probe *probe, void *context)
{
	(void)context;
	print_row("-", probe->flags & PROBE_ACCEPTED ? "accepted" : "-", group, probe);
}

static size_t visit(const struct selection *selection, probe_visitor visitor, void *context)
{
	size_t visited = 0;
	for (size_t g = 0; g < PROBE_GROUP_COUNT; g++) {
		const struct probe_group *group = &PROBE_GROUPS[g];
		for (size_t i = 0; i < *group->count; i++) {
			const struct probe *probe = &group->probes[i];
			bool is_named = !selection->name || strcmp(selection->name, group->name) == 0 ||
			                strcmp(selection->name, probe->name) == 0;
			if (!is_named || (selection->flag && !((group->flags | probe->flags) & selection->flag)))
				continue;
			visitor(group, probe, context);
			visited++;
		}
	}
	return visited;
}

static int no_such(const char *name)
{
	fprintf(stderr, "sandbar-probe: there is no group or probe `%s`\n", name ? name : "");
	return EXIT_USAGE;
}

/* ---- What it can be told to do ---- */

static int command_list(const char *name)
{
	struct selection selection = {.name = name};
	return visit(&selection, list_probe, NULL) ? 0 : no_such(name);
}

static int run_selection(const struct selection *selection, unsigned allowed)
{
	struct run run = {.allowed = allowed, .in_place = !attempt_can_fork()};
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!visit(selection, run_probe, &run))
		return no_such(selection->name);
	return run.is_broken ? EXIT_NOT_HELD : 0;
}

static int command_run(const char *name)
{
	return run_selection(&(struct selection){.name = name}, 0);
}

static int command_attack(const char *profile)
{
	bool is_build = profile && strcmp(profile, "build") == 0;
	return run_selection(&(struct selection){.name = NULL}, is_build ? PROBE_BUILD : 0);
}

/* Only what is harmless where nothing stops it. */
static int command_control(const char *name)
{
	return run_selection(&(struct selection){.name = name, .flag = PROBE_SHOWN}, 0);
}

struct program_command {
	const char *name;
	int (*run)(const char *argument); /* the second word, or NULL */
	bool is_guarded;
	const char *help;
};

static const struct program_command commands[] = {
	{"run", command_run, true, "[GROUP|PROBE]: attack, each attempt in a child of its own where there can be one"},
	{"attack", command_attack, true, "PROFILE: the same with all, in a session of this profile"},
	{"control", command_control, true, "[GROUP|PROBE]: only attempts that are harmless without their control"},
	{"list", command_list, false, "[GROUP|PROBE]: the table, without running anything"},
	{"bait", bait_run, true, "hold what a neighbour's probes look for, until stdin ends"},
	{"abuse", abuse_run, true, "NAME: take all there is of something"},
	{"abuses", abuse_list, false, "the table of those"},
	{"facts", facts_print, false, "what a proof depends on: the kernel, and the files of the root"},
};

static int usage(void)
{
	fputs("usage: sandbar-probe COMMAND [ARGUMENT]\n", stderr);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(stderr, "  %-10s %s\n", commands[i].name, commands[i].help);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		return usage();
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (strcmp(commands[i].name, argv[1]) != 0)
			continue;
		const char *refusal = commands[i].is_guarded ? guard_refusal() : NULL;
		if (refusal) {
			fprintf(stderr, "sandbar-probe: refused: %s\n", refusal);
			return EXIT_OUTSIDE;
		}
		return commands[i].run(argc == 3 ? argv[2] : NULL);
	}
	return usage();
}
