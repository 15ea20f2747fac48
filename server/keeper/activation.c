#include "activation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST = 3 /* SD_LISTEN_FDS_START */ };

static int take_one(int fd, struct listen_address *address, struct error *err)
{
	int type = 0, is_listening = 0;
	socklen_t length = sizeof type, listening_length = sizeof is_listening;
	address->length = sizeof address->address;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &listening_length) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address->address, &address->length) < 0)
		return error_set(err, errno, "LISTEN_FDS: look at descriptor %d", fd);
	sa_family_t family = address->address.ss_family;
	if (type != SOCK_STREAM || !is_listening || (family != AF_INET && family != AF_INET6))
		return error_set(err, 0, "LISTEN_FDS: descriptor %d is no listening TCP socket", fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return error_set(err, errno, "LISTEN_FDS: set up descriptor %d", fd);
	return 0;
}

int activation_take(int *fds, struct listen_address *addresses, int most, struct error *err)
{
	const char *pid = getenv("LISTEN_PID"), *text = getenv("LISTEN_FDS");
	if (!pid || !text || strtol(pid, NULL, 10) != (long)getpid())
		return 0;
	long count = strtol(text, NULL, 10);
	if (count < 0 || count > most)
		return error_set(err, 0, "LISTEN_FDS: `%.20s` is not a number of sockets from 0 to %d", text, most);
	for (int i = 0; i < count; i++) {
		fds[i] = FIRST + i;
		if (take_one(fds[i], &addresses[i], err) < 0)
			return -1;
	}
	return (int)count;
}
