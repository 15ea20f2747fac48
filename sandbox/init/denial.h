/*
 * denial.h: refused system calls, told. What the filter refuses as a matter of policy (EPERM) is handed to init by the
 * kernel (seccomp_unotify(2)); init counts it for the process of which it came, answers EPERM, and owes the gateway
 * DENIED. Calls that are allowed, and those that seem missing (ENOSYS), never come here.
 *
 * A process that is refused all the time costs init a bounded share of a processor: past a burst, so many are answered in
 * each pause, and who asks waits that long.
 */
#ifndef SANDBAR_INIT_DENIAL_H
#define SANDBAR_INIT_DENIAL_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	DENIAL_BURST = 256, /* answered at once */
	DENIAL_PAUSE_MS = 5,
	DENIAL_TURN = 16,    /* answered in each pause after that, and most in one turn of the loop */
	DENIALS_EACH = 100,  /* of a process are told one by one; then each time that their number has doubled */
	DENIAL_PARENTS = 64, /* that are looked at, to find whose process it is */
};

/* Those of one process. A value type. */
struct denials {
	uint64_t count;
	uint64_t told; /* the count that was told last */
	int32_t call;  /* the newest: number of the system call */
	pid_t thread;  /* and who made it, inside */
};

/* The pace at which they are answered; zeroed is a beginning. */
struct denial_pace {
	int64_t filled_ms; /* when the credit was last reckoned */
	int32_t spent;     /* of the burst */
	bool is_paused;
};

struct init;
struct process;

/* Load FILTER so that its refusals are told. Returns the descriptor they come from (close-on-exec), or -1 with errno: then
 * nothing was loaded. */
int denial_load(const struct sock_fprog *filter);

/* Add one; true if it is to be told. */
bool denial_count(struct denials *denials, int32_t call, pid_t thread);

/* Answer those that wait at INIT's settings.listener, as far as the pace allows. */
void denial_hear(struct init *init);

/* The pause is over, if it is. Returns the milliseconds that it still lasts, or -1 where there is none. */
int denial_resume(struct init *init);

#endif
