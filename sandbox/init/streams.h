/*
 * streams.h: a process's pipes or terminal. Init makes both ends, keeps ours and hands duplicates to the gateway.
 */
#ifndef SANDBAR_INIT_STREAMS_H
#define SANDBAR_INIT_STREAMS_H

#include "settings.h"

#include <stddef.h>
#include <stdint.h>

/* Our ends: non-blocking, close-on-exec; -1 where there is none. */
struct streams {
	int tty;      /* a terminal's master; else the pipes */
	int out, err; /* read ends */
	int in;       /* write end, with INIT_STDIN until it is closed; of a shell: its commands */
	int status;   /* read end of a shell's status */
	int console;  /* master of the terminal at a shell's 2, that nobody reads */
};

enum { STDIO_STATUS = 3, STDIO_CONSOLE, STDIO_FDS, STREAMS_MOST = 4 };

/* The process's ends, for 0, 1 and 2, and a shell's status and console; for a terminal all three are one descriptor; -1 for
 * /dev/null. */
struct stdio {
	int fds[STDIO_FDS];
};

#define STREAMS_NONE ((struct streams){-1, -1, -1, -1, -1, -1})
#define STDIO_NONE ((struct stdio){{-1, -1, -1, -1, -1}})

/* Pipes; stdin too if WANTS_STDIN; stdout is made 1 MiB wide if IS_WIDE and the kernel allows. Returns 0, or -1 with
 * errno and nothing open. */
int streams_open_pipes(struct streams *streams, struct stdio *stdio, const struct settings *settings, bool wants_stdin,
                       bool is_wide);

/* Pipes for a shell: stdout, stderr, commands and status; and a terminal, not its controlling one, whose modes an
 * interactive shell sets again after a command was killed, and complains on stderr if it cannot. Returns 0, or -1 with
 * errno and nothing open. */
int streams_open_shell(struct streams *streams, struct stdio *stdio, const struct settings *settings, bool is_wide);

/* A terminal of that size, owned by the user. Returns 0, or -1 with errno and nothing open. */
int streams_open_terminal(struct streams *streams, struct stdio *stdio, const struct settings *settings, uint16_t cols,
                          uint16_t rows);

/* Our ends in the order in which STARTED carries them. Returns how many. */
size_t streams_list(const struct streams *streams, int fds[STREAMS_MOST]);

void streams_close_stdin(struct streams *streams);
void streams_close(struct streams *streams);
void stdio_close(struct stdio *stdio);

#endif
