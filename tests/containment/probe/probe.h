/*
 * probe.h: the attacks on a sandbox, as a table. Each row is one attempt, made from inside by a child of its own, and says
 * which control must stop it and how that looks. `sandbar prove` and tests/containment run them.
 *
 * An attempt's outcome is one number: 0, it succeeded; an errno; or one of the special outcomes below.
 */
#ifndef SANDBAR_PROBE_H
#define SANDBAR_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	OUTCOME_OPEN = 0,          /* the attack works */
	OUTCOME_SKIPPED = -1,      /* it cannot be tried on this kernel */
	OUTCOME_SIGNAL = 1 << 16,  /* plus the signal's number: the kernel ended who tried */
	OUTCOME_NOTHING = 1 << 17, /* it was allowed, and gave or changed nothing */
};
#define KILLED(signo) (OUTCOME_SIGNAL + (signo))

enum { PROBE_EXPECTED = 4, PROBE_ARGUMENTS = 6 };

/* Bits of struct probe's flags. */
enum {
	PROBE_GRAVE = 1 << 0,    /* would harm a machine: the guard looks a second time, at who runs it (guard.h) */
	PROBE_SHOWN = 1 << 1,    /* harmless without its control: a control run shows that it then succeeds */
	PROBE_ACCEPTED = 1 << 2, /* a channel that may be open; docs/security.md names it */
	PROBE_FORKS = 1 << 3,    /* needs a process of its own, which the profile `compute` does not give */
	PROBE_BUILD = 1 << 4,    /* the profile `build` allows it on purpose */
};

struct probe {
	const char *name;                      /* unique */
	const char *attempt;                   /* in words */
	const char *control;                   /* what must stop it */
	int expected[PROBE_EXPECTED];          /* outcomes that say it was stopped; ended by 0 */
	int (*run)(const struct probe *probe); /* the outcome */
	const char *path;                      /* for RUN: the file */
	long number;                           /* for RUN: the system call, or flags of open(2), or a family */
	unsigned long arguments[PROBE_ARGUMENTS];
	unsigned flags;
};

struct probe_group {
	const char *name;
	const char *summary;
	unsigned flags; /* of every row */
	const struct probe *probes;
	const size_t *count;
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* table.c: every group. */
extern const struct probe_group PROBE_GROUPS[];
extern const size_t PROBE_GROUP_COUNT;

/* The groups' rows, each in the file of its name. */
/* clang-format off */
#define PROBE_GROUP(id, flags, summary) extern const struct probe PROBES_##id[]; extern const size_t PROBES_##id##_COUNT;
#include "groups.def"
#undef PROBE_GROUP
/* clang-format on */
#define PROBE_TABLE_END(id) const size_t PROBES_##id##_COUNT = COUNT(PROBES_##id);

#endif
