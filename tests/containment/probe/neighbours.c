/*
 * Side doors between sessions. A neighbour holds the bait (bait.h) meanwhile; where there is none, these find nothing.
 * Rows that are "accepted" are channels over inodes that all sessions share: docs/security.md says what becomes of them.
 */
#include "attempt.h"

#include "bait.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { WATCH_MS = 300, NR_cachestat = 451 };

static int connect_abstract(const struct probe *probe)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(probe->path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	memcpy(address.sun_path + 1, probe->path, length);
	int outcome = outcome_of(
		connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
	close(fd);
	return outcome;
}

static int connect_port(const struct probe *probe)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(BAIT_PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, (int)probe->number | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(connect(fd, (struct sockaddr *)&address, sizeof address));
	/* A datagram's refusal comes back with the next call. */
	if (outcome == OUTCOME_OPEN && probe->number == SOCK_DGRAM) {
		(void)!write(fd, "x", 1);
		usleep(20000);
		outcome = outcome_of(write(fd, "x", 1));
	}
	close(fd);
	return outcome;
}

static int find_segment(const struct probe *probe)
{
	(void)probe;
	return outcome_of(shmget(BAIT_KEY, 0, 0));
}

static int find_semaphore(const struct probe *probe)
{
	(void)probe;
	return outcome_of(semget(BAIT_KEY, 0, 0));
}

static int find_messages(const struct probe *probe)
{
	(void)probe;
	return outcome_of(msgget(BAIT_KEY, 0));
}

static int find_queue(const struct probe *probe)
{
	mqd_t queue = mq_open(probe->path, O_RDONLY);
	if (queue == (mqd_t)-1)
		return errno;
	mq_close(queue);
	return OUTCOME_OPEN;
}

/* A process with the bait's name, or one that is neither ours nor process 1's child: its parent would read as 0. */
static int find_process(const struct probe *probe)
{
	DIR *directory = opendir("/proc");
	char path[300], name[32] = "";
	if (!directory)
		return errno;
	int outcome = OUTCOME_NOTHING;
	for (struct dirent *entry; (entry = readdir(directory));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
		FILE *file = fopen(path, "re");
		if (file && fgets(name, sizeof name, file) && strncmp(name, probe->path, strlen(probe->path)) == 0)
			outcome = OUTCOME_OPEN;
		if (file)
			fclose(file);
	}
	closedir(directory);
	return outcome;
}

/* ---- Channels over shared inodes: one bit is enough ---- */

static int see_flock(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = flock(fd, LOCK_EX | LOCK_NB) == 0 ? OUTCOME_NOTHING : errno;
	close(fd);
	return outcome == EWOULDBLOCK ? OUTCOME_OPEN : outcome;
}

/* Whether somebody else's read lock would be in the way: asked with a lock for writing. */
static int see_record_lock(const struct probe *probe)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int result = fcntl(fd, F_OFD_GETLK, &lock);
	int outcome = result < 0 ? errno : lock.l_type == F_UNLCK ? OUTCOME_NOTHING : OUTCOME_OPEN;
	close(fd);
	return outcome;
}

/* Our own children open nothing there meanwhile: an event is somebody else's. */
static int see_opening(const struct probe *probe)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0)
		return errno;
	if (inotify_add_watch(fd, probe->path, IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE) < 0)
		return errno;
	struct pollfd watch = {.fd = fd, .events = POLLIN};
	int outcome = poll(&watch, 1, WATCH_MS) > 0 ? OUTCOME_OPEN : OUTCOME_NOTHING;
	close(fd);
	return outcome;
}

static int notify_by_signal(const struct probe *probe)
{
	int fd = open(probe->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(fcntl(fd, F_NOTIFY, DN_ACCESS));
	close(fd);
	return outcome;
}

/* Which pages of a shared file others have read lately. Since Linux 5.2 mincore(2) tells that only to who may write it. */
static int see_cached_by_mincore(const struct probe *probe)
{
	unsigned char resident[16] = {0};
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	void *pages = mmap(NULL, sizeof resident * 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (pages == MAP_FAILED || mincore(pages, sizeof resident * 4096, resident) < 0)
		return errno;
	for (size_t i = 0; i < sizeof resident; i++)
		if (!(resident[i] & 1))
			return OUTCOME_OPEN;
	return OUTCOME_NOTHING;
}

static int see_cached_by_reading(const struct probe *probe)
{
	char byte;
	struct iovec piece = {&byte, 1};
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t got = preadv2(fd, &piece, 1, 0, RWF_NOWAIT);
	int outcome = got >= 0 || errno == EAGAIN ? OUTCOME_OPEN : errno;
	close(fd);
	return outcome;
}

static int see_cached_by_statistics(const struct probe *probe)
{
	unsigned long range[2] = {0, 4096}, counters[5] = {0};
	int fd = open(probe->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(syscall(NR_cachestat, fd, range, counters, 0));
	close(fd);
	return outcome;
}

/* clang-format off */
#define FILE_OF(name, path) PATH("neighbour-file-" name, "find a neighbour's " path, "mount", E(ENOENT, EACCES), attempt_absent, path, 0)
#define CHANNEL(name_, attempt_, control_, function, path_, flags_, ...) \
	{.name = name_, .attempt = attempt_, .control = control_, .expected = {__VA_ARGS__}, .run = function, .path = path_, .flags = flags_}

const struct probe PROBES_neighbours[] = {
	PATH("neighbour-abstract", "connect to a neighbour's abstract socket", "network", E(ECONNREFUSED, EPERM), connect_abstract, BAIT_NAME, 0),
	PATH("host-abstract", "connect to an abstract socket of the host", "network", E(ECONNREFUSED, EPERM), connect_abstract, BAIT_NAME "-host", 0),
	PATH("neighbour-tcp", "connect to a neighbour's TCP port", "network", E(ECONNREFUSED, EAFNOSUPPORT), connect_port, NULL, SOCK_STREAM),
	PATH("neighbour-udp", "send to a neighbour's UDP port", "network", E(ECONNREFUSED, EAFNOSUPPORT), connect_port, NULL, SOCK_DGRAM),
	RUN("neighbour-segment", "find a neighbour's segment", "namespace", E(ENOENT, ENOSYS), 0, find_segment),
	RUN("neighbour-semaphore", "find a neighbour's semaphore", "namespace", E(ENOENT, ENOSYS), 0, find_semaphore),
	RUN("neighbour-messages", "find a neighbour's message queue", "namespace", E(ENOENT, ENOSYS), 0, find_messages),
	PATH("neighbour-queue", "find a neighbour's POSIX queue", "namespace", E(ENOENT, ENOSYS), find_queue, "/" BAIT_NAME, 0),
	PATH("neighbour-process", "see a neighbour's process", "namespace", E(OUTCOME_NOTHING), find_process, BAIT_NAME, 0),
	PATH("host-process", "see the server's processes", "namespace", E(OUTCOME_NOTHING), find_process, "sandbard", 0),
	FILE_OF("work", "/work/" BAIT_NAME), FILE_OF("tmp", "/tmp/" BAIT_NAME), FILE_OF("var-tmp", "/var/tmp/" BAIT_NAME), FILE_OF("shm", "/dev/shm/" BAIT_NAME),
	FILE_OF("run", "/run/" BAIT_NAME), FILE_OF("socket", "/tmp/" BAIT_NAME ".socket"),
	CHANNEL("channel-flock", "see a neighbour's flock on a shared file", "shared inode", see_flock, BAIT_LOCKED_FILE, PROBE_ACCEPTED, OUTCOME_NOTHING, ENOSYS, EPERM),
	CHANNEL("channel-record-lock", "see a neighbour's record lock on a shared file", "shared inode", see_record_lock, BAIT_LOCKED_FILE, PROBE_ACCEPTED, OUTCOME_NOTHING, EPERM, EACCES),
	CHANNEL("channel-inotify", "see a neighbour open a shared file", "shared inode", see_opening, BAIT_SHARED_FILE, PROBE_ACCEPTED, OUTCOME_NOTHING, EACCES, EPERM),
	CHANNEL("channel-dnotify", "a signal for what is done in a shared directory", "seccomp", notify_by_signal, "/usr/bin", 0, EPERM, EACCES, EINVAL),
	CHANNEL("channel-mincore", "which pages of a shared file are cached, by mincore", "kernel", see_cached_by_mincore, BAIT_SHARED_FILE, 0, OUTCOME_NOTHING),
	CHANNEL("channel-nowait", "the same by preadv2(RWF_NOWAIT)", "seccomp", see_cached_by_reading, BAIT_SHARED_FILE, 0, EOPNOTSUPP, EPERM),
	CHANNEL("channel-cachestat", "the same by cachestat", "seccomp", see_cached_by_statistics, BAIT_SHARED_FILE, 0, EPERM, ENOSYS),
};
/* clang-format on */
PROBE_TABLE_END(neighbours)
