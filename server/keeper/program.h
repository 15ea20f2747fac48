/*
 * program.h: the other programs of the server, found beside sandbard's own executable or in ../libexec/sandbar.
 */
#ifndef SANDBAR_PROGRAM_H
#define SANDBAR_PROGRAM_H

#include "sandbox/error.h"

/* A descriptor (close-on-exec) of the program NAME: who executes it may not be able to reach its path. */
int program_open(const char *name, struct error *err);

/* The folder of the pages: `pages` beside sandbard, or ../share/sandbar/pages. Where there is none, a descriptor of
 * something else. */
int program_open_pages(struct error *err);

/* Become it. The environment is empty but for the sanitizers' options. Returns only on error. */
int program_execute(int program, char *const argv[], struct error *err);

/* Run it, and wait until it has left with 0. */
int program_run(int program, char *const argv[], struct error *err);

#endif
