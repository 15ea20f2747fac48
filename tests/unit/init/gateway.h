/*
 * gateway.h: the other end of init's socket, as a test holds it. Init's loop runs in the test's own process, under its
 * sanitizers, or as the static program.
 */
#ifndef TEST_INIT_GATEWAY_H
#define TEST_INIT_GATEWAY_H

#include "sandbox/init/init.h"

enum { PATIENCE_MS = 10000 };

struct gateway {
	int socket;
	struct init *init; /* NULL: a program */
	uint64_t epoch;
	uint32_t denials; /* how many DENIED gateway_expect() has passed over, and the last */
	struct init_message denied;
};

struct answer {
	struct init_message message;
	int fds[4];
	size_t fd_count;
};

/* How a process is started; what is left out is /dev/null for stdin, PATH alone, "/". */
struct command {
	uint32_t process;
	const char *const *argv;
	const char *const *envp;
	const char *cwd;
	uint32_t flags;
	uint16_t cols, rows;
	const char *leaf; /* a cgroup's folder; NULL: a descriptor that takes the "0" and does nothing */
};

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(text) ARGV("/bin/sh", "-c", text)

/* Init in this process, as the user that the test is, with the first SYNC done. */
void gateway_open(struct gateway *gateway);
void gateway_close(struct gateway *gateway);

/* Let init work, if it is in this process, for up to TIMEOUT_MS. */
void gateway_turn(struct gateway *gateway, int timeout_ms);

/* A sealed memfd of what COMMAND says; ARGC and ENVC are set in MESSAGE. */
int gateway_payload(const struct command *command, struct init_message *message);
int gateway_memfd(const void *bytes, size_t size, int seals);

void gateway_send(struct gateway *gateway, struct init_message message, const int *fds, size_t count);
void gateway_request(struct gateway *gateway, enum init_message_type type, uint32_t process, int value, uint32_t flags);
/* START; without a leaf where COMMAND wants a subreaper. */
void gateway_start(struct gateway *gateway, const struct command *command);

/* The next message; its type is 0 where none came within TIMEOUT_MS. */
struct answer gateway_receive(struct gateway *gateway, int timeout_ms);
/* The next one, but for DENIED, and EMPTY where that is not what is waited for, must be of TYPE, about PROCESS. */
struct answer gateway_expect(struct gateway *gateway, enum init_message_type type, uint32_t process);

/* What FD gives until its end, ended by NUL; at most SIZE - 1 bytes. Closes it. */
size_t gateway_drain(struct gateway *gateway, int fd, char *text, size_t size);
void answer_close(struct answer *answer);

/* Start COMMAND, let it run to its end and be forgotten; TEXT gets its stdout, or terminal. Returns its EXITED. */
struct init_message gateway_run(struct gateway *gateway, const struct command *command, char *text, size_t size);

#endif
