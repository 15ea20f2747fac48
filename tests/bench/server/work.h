/*
 * work.h: what the benchmarks have in common: sessions, processes in them, and what comes of them.
 */
#ifndef SANDBAR_BENCH_WORK_H
#define SANDBAR_BENCH_WORK_H

#include "server.h"
#include "wire_client.h"

enum { SESSION_TEXT = 64 };

/* The id of a new session. */
void work_create(struct wire_client *client, char session[SESSION_TEXT]);
void work_end(struct wire_client *client, const char *session);
/* The id in the result of session.create. */
void work_read_session(struct reader *result, char session[SESSION_TEXT]);
/* Ask to attach to it, lossless, with all that happens from now on; its answer is not waited for. */
void work_attach(struct wire_client *client, const char *session);
/* Ask for ARGV (ended by NULL) to be started; its answer is not waited for. */
void work_start(struct wire_client *client, const char *session, const char *const *argv, bool terminal);

/* How many bytes a process of SESSION has written to its terminal, of which the list begins with it. */
uint64_t work_terminal_offset(struct wire_client *client, const char *session);

/* The next event frame; its kind. */
uint32_t work_next_event(struct wire_client *client, struct wire_frame *frame);
/* FRAME is an EXITED: with exit code 0, or the program ends. */
void work_check_exited(const struct wire_frame *frame);

/* Start ARGV in a session of its own, of a server with OPTIONS, and read all that it writes until it has exited. Dies if a byte is missing of
 * BYTES. Returns the nanoseconds from the request to EXITED. */
uint64_t work_flood(const char *const *argv, bool terminal, uint64_t bytes, const struct server_options *options);

#endif
