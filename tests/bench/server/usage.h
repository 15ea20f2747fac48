/*
 * usage.h: what the processes of a server take, from /proc.
 */
#ifndef SANDBAR_BENCH_USAGE_H
#define SANDBAR_BENCH_USAGE_H

#include <stdint.h>
#include <sys/types.h>

/* Its PSS: each page divided by how many share it. Needs root, for the server's processes cannot be dumped. */
struct usage {
	uint64_t server_kib;    /* keeper, gateway and workers */
	uint64_t sandboxes_kib; /* all else that descends from the keeper */
	uint64_t processes;     /* of sandboxes */
};

struct usage usage_of_server(pid_t keeper);

/* The gateway that runs now; 0 = none. */
pid_t usage_gateway(pid_t keeper);
uint64_t usage_resident_kib(pid_t pid); /* VmRSS */
uint64_t usage_cpu_us(pid_t pid);       /* user and system time; counted in ticks of 10 ms */
uint64_t usage_available_kib(void);     /* MemAvailable of the machine */

#endif
