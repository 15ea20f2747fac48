/*
 * query.h: a request and its answer as a value to pick from. Readers point into the answer and live as long as it.
 */
#ifndef SANDBAR_COMMAND_QUERY_H
#define SANDBAR_COMMAND_QUERY_H

#include "clients/c/sandbar.h"
#include "protocol/reader.h"

struct query {
	void *bytes;
	struct reader result; /* before the answer's map */
};

/* Blocking. 0, or -1 with ERROR; after 0 the caller ends it with query_finish(). */
int query_begin(struct query *query, struct sandbar *sandbar, const char *method, const void *params, size_t length,
                struct sandbar_error *error);
/* With {session: ID, process: PROCESS}; PROCESS 0 is left out. */
int query_session(struct query *query, struct sandbar *sandbar, const char *method, const char *session,
                  uint32_t process, struct sandbar_error *error);
/* session.list: those that live, or that have ended. */
int query_sessions(struct query *query, struct sandbar *sandbar, bool ended, struct sandbar_error *error);
/* Without waiting: process.wait, whose answer query_ending() reads. */
void query_wait(struct sandbar *sandbar, const char *session, uint32_t process, sandbar_answer answer, void *user);
bool query_ending(const void *result, size_t length, struct sandbar_ending *ending);
void query_finish(struct query *query);

/* Before the value of KEY in the map before which MAP stands; an empty reader if there is none. */
struct reader query_field(const struct reader *map, const char *key);
struct view query_text(const struct reader *map, const char *key); /* "" if it is no text */
uint64_t query_number(const struct reader *map, const char *key);  /* 0 if it is none */
bool query_is_nil(const struct reader *map, const char *key);      /* also when it is not there */
bool query_truth(const struct reader *map, const char *key);
/* ROWS stands before an array at first; each call puts ROW before its next element. False at its end. */
bool query_next(struct reader *rows, struct reader *row);

#endif
