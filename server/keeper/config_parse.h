/*
 * config_parse.h: the grammar of a configuration file. Runs in the child of config_file.h, and in the fuzzer.
 */
#ifndef SANDBAR_CONFIG_PARSE_H
#define SANDBAR_CONFIG_PARSE_H

#include "config_file.h"
#include "server/base/template.h"

#include <stdio.h>

struct config_text {  /* what is read, and where to */
	const char *path; /* for what is told */
	char *text;       /* ended by NUL; changed while it is read */
	struct config_file *file;
	struct template *templates; /* room for TEMPLATES_MOST */
	size_t template_count;
};

/* -1: what is wrong was told on OUT, with its line. */
int config_parse(struct config_text *config, FILE *out);

/* The names that a [template NAME] section may hold. */
extern const struct flags_table template_table;

#endif
