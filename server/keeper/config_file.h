/*
 * config_file.h: a configuration file: the flags' names without their dashes as `name = value`, one a line, and
 * [template NAME] sections. Lines that begin with # are comments.
 *
 * It is read by a child without any privilege, which hands over a fixed struct of texts for the flags' own parse
 * functions; the templates go to the gateway without the keeper looking at them. What is wrong is told on stderr with
 * its line and what is allowed.
 */
#ifndef SANDBAR_CONFIG_FILE_H
#define SANDBAR_CONFIG_FILE_H

#include "server/base/flags.h"

enum { CONFIG_ENTRIES = 96, CONFIG_VALUE_BYTES = 512 };

struct config_entry {
	uint32_t flag; /* row of the table of flags */
	uint32_t line;
	char text[CONFIG_VALUE_BYTES]; /* ended by NUL */
};

struct config_file {
	uint32_t count;
	struct config_entry entries[CONFIG_ENTRIES];
};

/* Read the file into FILE. *TEMPLATES becomes a sealed memfd of struct template, one behind the other. */
int config_file_read(const char *path, struct config_file *file, int *templates, struct error *err);

/* An empty memfd, for a server without a file. */
int config_file_no_templates(struct error *err);

#endif
