/*
 * facts.h: what a proof depends on, as text: where a line changes, what was proved must be proved again.
 */
#ifndef SANDBAR_PROBE_FACTS_H
#define SANDBAR_PROBE_FACTS_H

/* SUBJECT: `kernel` or `root`. Each prints one line a fact. Returns the exit code. */
int facts_print(const char *subject);

#endif
