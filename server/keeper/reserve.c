#include "reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int reserve_check(int keep, struct error *err)
{
	/* The lowest free descriptor is below the number of those in use, but for holes, which are free as well. */
	struct rlimit limit;
	int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	if (lowest >= 0)
		close(lowest);
	if (lowest >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    (limit.rlim_cur == RLIM_INFINITY || (rlim_t)lowest + (rlim_t)keep <= limit.rlim_cur))
		return 0;
	return error_set(err, EMFILE, "the keeper's descriptors are used up, but for those that ending things needs");
}
