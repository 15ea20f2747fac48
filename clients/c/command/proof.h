/*
 * proof.h: what came of an attack on a session of the server's, as a table, and as a JSON document that can be kept and
 * compared with later:
 *
 *   {"version": 1, "time": "2026-01-31T12:00:00Z", "template": "default", "held": true, "counts": {"held": 600, …},
 *    "fingerprints": {"kernel": "…", "policy": "…", "root": "…"},
 *    "probes": [{"verdict": "held", "group": "mounts", "probe": "mount-tmpfs", "control": "seccomp", "expected": "EPERM",
 *                "got": "EPERM", "attempt": "mount a tmpfs on /tmp"}, …]}
 */
#ifndef SANDBAR_COMMAND_PROOF_H
#define SANDBAR_COMMAND_PROOF_H

#include "fingerprint.h"
#include "clients/c/sandbar.h"
#include "protocol/writer.h"

enum { PROOF_FACTS = 3 };
extern const char *const PROOF_FACT_NAMES[PROOF_FACTS]; /* kernel, policy, root */

struct proof_facts {
	char fingerprints[PROOF_FACTS][FINGERPRINT_BYTES]; /* in the order of their names */
};

struct proof;

/* LINES: what the program that attacks has printed; taken apart. NULL with ERROR if it is not what it prints. */
struct proof *proof_create(const char *template, const struct proof_facts *facts, char *lines,
                           struct sandbar_error *error);
/* A kept one. */
struct proof *proof_load(const char *path, struct sandbar_error *error);
void proof_destroy(struct proof *proof); /* NULL is allowed */

bool proof_has_held(const struct proof *proof);
const char *proof_template(const struct proof *proof); /* NULL: the server's default */
const char *proof_time(const struct proof *proof);
/* The name of the first fact that is another now, or NULL. */
const char *proof_changed_fact(const struct proof *proof, const struct proof_facts *now);

/* As proof.keep takes it. */
void proof_write_params(const struct proof *proof, struct writer *params);

/* Whether all held, the sums, what did not hold (with WITH_ALL every attempt), and the fingerprints. */
void proof_print(const struct proof *proof, bool with_all);
void proof_print_json(const struct proof *proof);
int proof_save(const struct proof *proof, const char *path, struct sandbar_error *error);

#endif
