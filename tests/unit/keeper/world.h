/*
 * world.h: the driver `namespaces` on a loop, against a keeper with real sandboxes: what is done with it, and what it
 * told. There is one world a test.
 */
#ifndef SANDBAR_TEST_WORLD_H
#define SANDBAR_TEST_WORLD_H

#include "keeper_process.h"
#include "server/gateway/driver/namespaces.h"

enum { PROCESSES = 64 };

/* What was told of one process, and what it wrote. */
struct seen {
	bool started, start_failed, exited, killed, usage_told;
	int exit_code, wait_status;
	char code[32], message[256];
	struct process_streams streams;
	struct process_usage usage;
};

struct world {
	struct ev_loop *loop;
	struct driver *driver;
	struct keeper_process keeper;
	struct sandbox *sandbox;
	struct layer_report layers;
	struct seen seen[PROCESSES];
	bool in_call; /* no event may come now */
	bool created, destroyed, lost, synced, adopted, keeper_gone, measured, timed_out;
	struct sandbox_usage usage;
	bool is_unwanted;         /* what is found is left to be destroyed */
	unsigned found;           /* sandboxes */
	void (*on_adopted)(void); /* called by `done` */
	char failed[32], message[256];
};

extern struct world world;

#define CALL(...)              \
	do {                       \
		world.in_call = true;  \
		__VA_ARGS__;           \
		world.in_call = false; \
	} while (0)

/* A keeper, a driver, and a sandbox, which has been made. */
void world_open(void);
/* The server stops, with a sandbox or after its end; nothing may be left. */
void world_close(void);
void world_end(void);

/* The gateway is gone, with all its descriptors; and the next one has come, and adopts (`adopted`), or does not. */
void world_lose_gateway(void);
void world_next_gateway(bool adopts);

void world_make_sandbox(const char *session);
void world_start(uint32_t process, bool terminal, bool wants_stdin, const char *cwd, const char *const *argv);
void world_start_shell(uint32_t process, const char *command);
/* Close what is open of its streams, and forget it. */
void world_forget(uint32_t process);

/* Let the loop run until CONDITION, for 20 s at most. */
void world_wait_until(const bool *condition, const char *what);
/* What FD gives until its end, ended by NUL. */
void world_read_all(int fd, char text[256]);

#endif
