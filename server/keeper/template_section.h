/*
 * template_section.h: what a [template NAME] section may say, as a table, and how it becomes a template.
 */
#ifndef SANDBAR_TEMPLATE_SECTION_H
#define SANDBAR_TEMPLATE_SECTION_H

#include "server/base/flags.h"
#include "server/base/template.h"

struct template_env {
	uint32_t count, bytes;
	char text[TEMPLATE_ENV_BYTES]; /* "NAME=value", each ended by NUL */
};

/* The fields that the rows fill. */
struct template_section {
	struct limit_set limits, most;
	uint64_t ttl_ms, most_ttl_ms;
	uint64_t warm, require_proof_ms;
	uint32_t layers;
	uint32_t profile, user;
	struct template_env env;
};

/* Put what was said into TEMPLATE. -1: it does not fit together. */
int template_section_take(const struct template_section *section, struct template *template, struct error *err);

#endif
