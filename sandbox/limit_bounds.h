/*
 * limit_bounds.h: the least and the most of each number of struct sandbox_limits, by its field; for limits.def, and for whoever
 * checks such a number where it is asked for: session.create, and a template of the configuration.
 */
#ifndef SANDBAR_LIMIT_BOUNDS_H
#define SANDBAR_LIMIT_BOUNDS_H

#include <stdint.h>

#define LIMIT_PIB (UINT64_C(1) << 50) /* what is above is a mistake, not a limit */

#define LIMIT_LEAST_memory (UINT64_C(16) << 20)
#define LIMIT_MOST_memory LIMIT_PIB
#define LIMIT_LEAST_workspace (UINT64_C(1) << 20)
#define LIMIT_MOST_workspace LIMIT_PIB
#define LIMIT_LEAST_file_size 0
#define LIMIT_MOST_file_size LIMIT_PIB
#define LIMIT_LEAST_processes 4
#define LIMIT_MOST_processes \
	(1 << 20) /* below the kernel's own PID_MAX_LIMIT (4 Mi), which pids.max refuses to exceed */
#define LIMIT_LEAST_inodes 64
#define LIMIT_MOST_inodes (UINT64_C(1) << 31)
#define LIMIT_LEAST_cpu_percent 0
#define LIMIT_MOST_cpu_percent (100 * 1024)     /* 1,024 cores */
#define LIMIT_LEAST_cpu LIMIT_LEAST_cpu_percent /* as which it is asked for */
#define LIMIT_MOST_cpu LIMIT_MOST_cpu_percent
#define LIMIT_LEAST_cpu_weight 1
#define LIMIT_MOST_cpu_weight 10000
#define LIMIT_LEAST_open_files 16
#define LIMIT_MOST_open_files (1 << 20)
#define LIMIT_LEAST_ptys 1
#define LIMIT_MOST_ptys 4096

#endif
