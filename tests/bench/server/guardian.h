/*
 * guardian.h: a process that owns the server of a benchmark program, and a folder for what it writes. When the other end
 * of its socket closes, by guardian_stop() or because the program is gone in whatever way, it stops the server,
 * removes the folder and leaves. It is a session of its own, so that a ^C in the terminal does not reach it.
 */
#ifndef SANDBAR_BENCH_GUARDIAN_H
#define SANDBAR_BENCH_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

struct guardian {
	char folder[64];
	pid_t pid, server, owner;
	int socket;
};

/* Make the folder, and have a process there execute the server: RUN(guardian->folder, ARGUMENT), which does not return. */
void guardian_start(struct guardian *guardian, void (*run)(const char *folder, const void *argument),
                    const void *argument);
/* Whether the server has not ended. */
bool guardian_has_server(const struct guardian *guardian);
/* Wait until everything is gone. Has no effect in a child of the process that started it. */
void guardian_stop(struct guardian *guardian);

#endif
