/*
 * bait.h: what a neighbour holds while the probes run in the next session, so that these would find it if a wall had a hole:
 * an abstract socket, a TCP and a UDP port, a segment, a semaphore, a queue, files in every place, locks on a shared file.
 */
#ifndef SANDBAR_PROBE_BAIT_H
#define SANDBAR_PROBE_BAIT_H

#define BAIT_NAME "sandbar-bait"
#define BAIT_SHARED_FILE "/usr/bin/env"  /* opened and read again and again */
#define BAIT_LOCKED_FILE "/usr/bin/true" /* locked in every way */
enum { BAIT_KEY = 0x5ba1, BAIT_PORT = 47119 };

/* Hold it until stdin ends; "ready" is printed when everything stands. ARGUMENT is not used. Returns the exit code. */
int bait_run(const char *argument);

#endif
