/* The rows, and how each presses once. Static variables are what a row has taken so far. */
#include "abuse.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, LAZY_SECONDS = 30, STACK = 64 * 1024, SEMAPHORES = 250 };

static char block[MIB];
static unsigned long made; /* names of files: one after the other */

static _Noreturn void linger(void)
{
	alarm(LAZY_SECONDS);
	for (;;)
		pause();
}

/* ---- Tasks ---- */

/* b() { b | b & }: the child goes on like its parent. */
static bool press_forks(void)
{
	return fork() >= 0;
}

static bool press_sessions(void)
{
	pid_t pid = fork();
	if (pid == 0)
		setsid();
	return pid >= 0;
}

static void *be_thread(void *argument)
{
	linger();
	return argument;
}

static bool press_threads(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	errno = pthread_create(&thread, &attributes, be_thread, NULL);
	return errno == 0;
}

/* Each parent waits in the kernel for its child, which makes the next. The last is told no, and all end. */
static bool press_vforks(void)
{
	long pid = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(press_vforks() ? 0 : errno);
	int status = 0;
	if (pid < 0 || waitpid((pid_t)pid, &status, 0) < 0)
		return false;
	errno = WEXITSTATUS(status);
	return errno == 0;
}

static bool press_zombies(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	return pid >= 0;
}

/* For process 1 to reap: there is no end to them, if it does. */
static bool press_orphans(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)!fork();
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return true;
}

static bool press_processor(void)
{
	if (made++ == 0)
		for (int i = 0; i < 15; i++)
			if (fork() == 0)
				break;
	return true;
}

/* ---- Memory ---- */

static bool press_heap(void)
{
	char *bytes = malloc(MIB);
	return bytes && memset(bytes, 1, MIB);
}

static bool press_maps(void)
{
	return mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) != MAP_FAILED;
}

static bool press_shared(void)
{
	char *bytes = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return bytes != MAP_FAILED && memset(bytes, 1, MIB);
}

static bool press_memfd(void)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("abuse", MFD_CLOEXEC);
	return fd >= 0 && write(fd, block, sizeof block) > 0;
}

static bool press_segments(void)
{
	int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
	char *bytes = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	return bytes != (char *)-1 && memset(bytes, 1, MIB);
}

/* What was written to goes to each child anew. */
static bool press_copies(void)
{
	static char *bytes;
	if (!bytes && (bytes = malloc((size_t)8 * MIB)))
		memset(bytes, 1, (size_t)8 * MIB);
	pid_t pid = fork();
	if (pid != 0)
		return pid > 0;
	memset(bytes, 2, (size_t)8 * MIB);
	linger();
}

static bool fill(int fd)
{
	while (write(fd, block, sizeof block) > 0)
		;
	return errno == EAGAIN;
}

static bool press_pipes(void)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	fcntl(ends[1], F_SETPIPE_SZ, MIB);
	return fill(ends[1]);
}

static bool press_sockets(void)
{
	int ends[2];
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 && fill(ends[1]);
}

static bool pass(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec piece = {block, 1};
	struct msghdr message = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	bool is_passed = sendmsg(socket, &message, 0) == 1;
	int errnum = errno;
	close(fd);
	errno = errnum;
	return is_passed;
}

/* Descriptors that are on their way in a socket are open all the same. A socket that is full is sent on its way itself, in the
 * next one, so that this process has never more than a few; a socket that nobody could reach would be collected at once. */
static bool press_flight(void)
{
	static int ends[2] = {-1, -1};
	int next[2], fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (ends[0] >= 0 && pass(ends[0], fd))
		return true;
	if (ends[0] >= 0 && errno != EAGAIN)
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, next) < 0)
		return false;
	if (ends[0] >= 0 && (!pass(next[0], ends[0]) || !pass(next[0], ends[1])))
		return false;
	memcpy(ends, next, sizeof ends);
	return true;
}

static bool press_cache(void)
{
	static int fd = -1;
	if (fd < 0)
		fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (off_t at = 0; pread(fd, block, sizeof block, at) > 0; at += (off_t)sizeof block)
		;
	return true;
}

static bool press_mappings(void)
{
	int protection = ++made % 2 ? PROT_READ : PROT_NONE; /* neighbours that differ are not merged */
	return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* ---- Files ---- */

static int next_file(const char *place)
{
	char path[64];
	snprintf(path, sizeof path, "%s/abuse-%lu", place, made++);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static bool press_bytes_in(const char *place)
{
	static int fd = -1;
	if (fd < 0)
		fd = next_file(place);
	return fd >= 0 && write(fd, block, sizeof block) > 0;
}

static bool press_work(void)
{
	return press_bytes_in("/work");
}

static bool press_tmp(void)
{
	return press_bytes_in("/tmp");
}

static bool press_shm(void)
{
	return press_bytes_in("/dev/shm");
}

static bool press_inodes(void)
{
	int fd = next_file("/work");
	return fd >= 0 && close(fd) == 0;
}

static bool press_holes(void)
{
	static int fd = -1;
	static off_t at;
	if (fd < 0 && (fd = next_file("/work")) >= 0 && ftruncate(fd, (off_t)1 << 50) < 0)
		return false;
	at += 64 * MIB;
	return pwrite(fd, block, 4096, at) > 0;
}

static bool press_deleted(void)
{
	static int fd = -1;
	char path[32];
	if (fd < 0 && (fd = next_file("/work")) >= 0) {
		snprintf(path, sizeof path, "/work/abuse-%lu", made - 1);
		unlink(path);
	}
	return fd >= 0 && write(fd, block, sizeof block) > 0;
}

static bool press_depth(void)
{
	return (made++ > 0 || chdir("/work") == 0) && mkdir("a", 0700) == 0 && chdir("a") == 0;
}

static bool press_links(void)
{
	char path[32];
	if (made == 0)
		close(next_file("/work"));
	snprintf(path, sizeof path, "/work/link-%lu", made++);
	return link("/work/abuse-0", path) == 0;
}

static bool press_attributes(void)
{
	char name[32];
	if (made == 0)
		close(next_file("/work"));
	snprintf(name, sizeof name, "user.abuse-%lu", made++);
	return setxattr("/work/abuse-0", name, block, 1024, 0) == 0;
}

/* ---- What the kernel keeps for a process ---- */

static bool press_descriptors(void)
{
	return dup(STDIN_FILENO) >= 0;
}

static bool press_terminals(void)
{
	return open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0;
}

static bool press_notifiers(void)
{
	return inotify_init1(IN_CLOEXEC) >= 0;
}

static bool press_watches(void)
{
	static int fd = -1;
	char path[32];
	if (fd < 0)
		fd = inotify_init1(IN_CLOEXEC);
	snprintf(path, sizeof path, "/work/watch-%lu", made++);
	return mkdir(path, 0700) == 0 && inotify_add_watch(fd, path, IN_ALL_EVENTS) >= 0;
}

static bool press_signals(void)
{
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	return sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 1}) == 0;
}

static bool press_timers(void)
{
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

static bool press_semaphores(void)
{
	return semget(IPC_PRIVATE, SEMAPHORES, IPC_CREAT | 0600) >= 0;
}

static bool press_messages(void)
{
	static int id = -1;
	struct {
		long kind;
		char bytes[4096];
	} message = {.kind = 1};
	if (id < 0)
		id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	if (id >= 0 && msgsnd(id, &message, sizeof message.bytes, IPC_NOWAIT) == 0)
		return true;
	id = -1;
	return errno == EAGAIN && (id = msgget(IPC_PRIVATE, IPC_CREAT | 0600)) >= 0;
}

static bool press_arguments(void)
{
	static char word[100 * 1024];
	static char *arguments[64], *environment[] = {NULL};
	memset(word, 'a', sizeof word - 1);
	for (int i = 0; i < 63; i++)
		arguments[i] = word;
	return execve("/bin/true", arguments, environment) == 0;
}

static bool press_output(void)
{
	return write(STDERR_FILENO, block, sizeof block) > 0;
}

static bool press_sync(void)
{
	sync();
	return true;
}

/* clang-format off */
#define OOM KILLED(SIGKILL)


const struct abuse ABUSES[] = {
	{"fork-bomb", "b() { b | b & }; b", "pids.max", "-", {EAGAIN}, press_forks},
	{"fork-bomb-sessions", "the same, each in a session of its own", "pids.max", "-", {EAGAIN}, press_sessions},
	{"thread-bomb", "threads without end", "pids.max", "-", {EAGAIN}, press_threads},
	{"vfork-chain", "each child makes the next while its parent waits for it", "pids.max", "-", {EAGAIN}, press_vforks},
	{"zombies", "children that nobody waits for", "pids.max", "-", {EAGAIN}, press_zombies},
	{"orphans", "orphans for process 1, without end", "init", "-", {ABUSE_ENDLESS}, press_orphans},
	{"processor", "sixteen processes that only turn", "cpu.weight", "cgroup-cpu", {ABUSE_ENDLESS}, press_processor},
	{"memory-heap", "malloc, touched", "memory.max", "cgroup-memory", {OOM}, press_heap},
	{"memory-maps", "mmap, populated", "memory.max", "cgroup-memory", {OOM}, press_maps},
	{"memory-shared", "shared anonymous memory", "memory.max", "cgroup-memory", {OOM}, press_shared},
	{"memory-memfd", "a memfd that grows", "memory.max", "cgroup-memory", {OOM}, press_memfd},
	{"memory-segments", "System V segments", "memory.max", "cgroup-memory", {ENOSPC, OOM, ENOSYS}, press_segments},
	{"memory-copies", "children that write to what they share", "memory.max", "cgroup-memory", {OOM, EAGAIN}, press_copies},
	{"memory-pipes", "pipes full of data", "open_files", "cgroup-memory", {EMFILE, OOM, ENFILE}, press_pipes},
	{"memory-sockets", "sockets full of data", "open_files", "cgroup-memory", {EMFILE, OOM, ENOBUFS}, press_sockets},
	{"memory-flight", "descriptors on their way in sockets that are closed", "open_files", "cgroup-memory", {ETOOMANYREFS, OOM, EMFILE, ENFILE}, press_flight},
	{"page-cache", "a shared file thrown out of the cache and read again", "-", "-", {ABUSE_ENDLESS}, press_cache},
	{"mappings", "mappings of one page", "kernel", "-", {ENOMEM}, press_mappings},
	{"disk-work", "one file in /work", "workspace", "-", {ENOSPC}, press_work},
	{"disk-tmp", "one file in /tmp", "workspace", "-", {ENOSPC}, press_tmp},
	{"disk-shm", "one file in /dev/shm", "workspace", "-", {ENOSPC}, press_shm},
	{"disk-inodes", "empty files", "inodes", "-", {ENOSPC}, press_inodes},
	{"disk-holes", "a file of 1 PiB with a page every 64 MiB", "workspace", "-", {ENOSPC}, press_holes},
	{"disk-deleted", "a file that has no name any more", "workspace", "-", {ENOSPC}, press_deleted},
	{"disk-depth", "directories in directories", "inodes", "-", {ENOSPC}, press_depth},
	{"disk-links", "names of one file", "inodes", "-", {ENOSPC, EMLINK}, press_links},
	{"disk-attributes", "extended attributes", "workspace", "cgroup-memory", {ENOSPC, EOPNOTSUPP, OOM, EDQUOT}, press_attributes},
	{"descriptors", "open files", "open_files", "-", {EMFILE}, press_descriptors},
	{"terminals", "terminals", "ptys", "-", {ENOSPC, EIO}, press_terminals},
	{"inotify-instances", "inotify instances", "kernel", "-", {EMFILE, ENFILE}, press_notifiers},
	{"inotify-watches", "directories that are watched", "inodes", "-", {ENOSPC}, press_watches},
	{"signals", "queued signals", "rlimits", "-", {EAGAIN}, press_signals},
	{"timers", "timers", "rlimits", "-", {EAGAIN}, press_timers},
	{"semaphores", "System V semaphores", "kernel", "-", {ENOSPC, ENOMEM, ENOSYS}, press_semaphores},
	{"messages", "System V queues full of messages", "memory.max", "cgroup-memory", {OOM, ENOSPC, ENOMEM, ENOSYS}, press_messages},
	{"arguments", "6 MiB of arguments", "kernel", "-", {E2BIG}, press_arguments},
	{"output", "output without end", "output_bytes", "-", {KILLED(SIGTERM), OOM}, press_output},
	{"sync", "sync(2) again and again", "-", "-", {ABUSE_ENDLESS, EPERM, ENOSYS}, press_sync},
};
/* clang-format on */
const size_t ABUSE_COUNT = COUNT(ABUSES);
