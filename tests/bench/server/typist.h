/*
 * typist.h: a byte typed into a terminal to its echo, which the terminal itself makes.
 */
#ifndef SANDBAR_BENCH_TYPIST_H
#define SANDBAR_BENCH_TYPIST_H

#include "tests/bench/bare/measure.h"
#include "wire_client.h"

/* The client has one channel, in which nothing but this terminal's output comes. */
struct typist {
	struct wire_client *client;
	struct writer message;
	uint64_t process;
	uint64_t typed;
};

/* Start the program that is typed to in SESSION, as process number PROCESS, and wait until it is there. */
void typist_init(struct typist *typist, struct wire_client *client, const char *session, uint64_t process);
void typist_finish(struct typist *typist);
/* Type RUNS bytes, each as soon as the one before came back, or PAUSE_US later. */
void typist_type(struct typist *typist, struct samples *samples, uint64_t runs, uint64_t pause_us);

#endif
