#include "bait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TURN_MS = 20 };

struct bait {
	const char *name;
	int (*hold)(void); /* negative with errno when it cannot be held */
};

static int hold_abstract(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	memcpy(address.sun_path + 1, BAIT_NAME, sizeof BAIT_NAME - 1);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof BAIT_NAME);
	return fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 ? -1 : listen(fd, 16);
}

static int hold_named(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/tmp/" BAIT_NAME ".socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(address.sun_path);
	return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : listen(fd, 16);
}

static int hold_port(int type)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(BAIT_PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, type, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
		return -1;
	return type == SOCK_STREAM ? listen(fd, 16) : 0;
}

static int hold_tcp(void)
{
	return hold_port(SOCK_STREAM);
}

static int hold_udp(void)
{
	return hold_port(SOCK_DGRAM);
}

static int hold_segment(void)
{
	return shmget(BAIT_KEY, 4096, IPC_CREAT | 0666);
}

static int hold_semaphore(void)
{
	return semget(BAIT_KEY, 1, IPC_CREAT | 0666);
}

static int hold_messages(void)
{
	return msgget(BAIT_KEY, IPC_CREAT | 0666);
}

static int hold_queue(void)
{
	return mq_open("/" BAIT_NAME, O_RDWR | O_CREAT, 0666, NULL);
}

static int hold_files(void)
{
	static const char *const places[] = {"/work/" BAIT_NAME, "/tmp/" BAIT_NAME, "/var/tmp/" BAIT_NAME,
	                                     "/dev/shm/" BAIT_NAME, "/run/" BAIT_NAME};
	int held = -1;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (open(places[i], O_RDWR | O_CREAT, 0666) >= 0)
			held = 0;
	return held;
}

/* The two kinds of lock that a descriptor for reading can take. */
static int hold_locks(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open(BAIT_LOCKED_FILE, O_RDONLY);
	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? -1 : fcntl(fd, F_OFD_SETLK, &lock);
}

static int hold_name(void)
{
	return prctl(PR_SET_NAME, BAIT_NAME, 0, 0, 0);
}

/* In a control run the loopback is still down; inside it was raised for us, and may not be touched. */
static int raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	ioctl(fd, SIOCSIFFLAGS, &request);
	return close(fd);
}

static const struct bait baits[] = {
	{"loopback", raise_loopback},  {"abstract socket", hold_abstract},
	{"socket", hold_named},        {"tcp port", hold_tcp},
	{"udp port", hold_udp},        {"segment", hold_segment},
	{"semaphore", hold_semaphore}, {"messages", hold_messages},
	{"queue", hold_queue},         {"files", hold_files},
	{"locks", hold_locks},         {"process name", hold_name},
};

static void touch_shared_file(void)
{
	char byte;
	int fd = open(BAIT_SHARED_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!read(fd, &byte, 1);
	close(fd);
}

int bait_run(const char *argument)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[64];
	(void)argument;
	for (size_t i = 0; i < sizeof baits / sizeof baits[0]; i++)
		if (baits[i].hold() < 0)
			printf("without %s: %s\n", baits[i].name, strerrorname_np(errno));
	puts("ready");
	fflush(stdout);
	for (;;) {
		touch_shared_file();
		if (poll(&input, 1, TURN_MS) > 0 && read(STDIN_FILENO, bytes, sizeof bytes) <= 0)
			return 0;
	}
}
