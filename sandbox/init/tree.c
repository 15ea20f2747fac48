#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	WALK_PROCESSES = 32768, /* more than this are seen in the next walk, when some of these are gone */
	STOP_ROUNDS = 8,
	SIGNAL_ROUNDS = 8,
};

struct found {
	pid_t pid, parent, group;
	char state; /* a letter of proc(5) */
	bool is_member;
	bool is_dead;     /* a zombie without live threads */
	uint64_t started; /* clock ticks since boot */
};

/* The last walk; ascending by pid, as /proc lists them. Only one walk is ever in use. */
static struct found walk[WALK_PROCESSES];
static size_t walk_count;

/* Those that this call has signalled, in the walks before: a process can be forked while a walk goes on, and can leave
 * the tree by its parent's death when it was stopped. */
static struct found touched[WALK_PROCESSES];
static size_t touched_count;

static int proc = -1;

void tree_look_in(int directory)
{
	proc = directory;
}

int tree_directory(void)
{
	if (proc < 0)
		proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return proc;
}

static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "%d/%s", (int)pid, name);
	int fd = openat(tree_directory(), path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t got = read(fd, text, size - 1);
	close(fd);
	if (got >= 0)
		text[got] = '\0';
	return got;
}

uint64_t tree_cgroup_key(pid_t pid)
{
	char text[4096];
	ssize_t got = read_proc(pid, "cgroup", text, sizeof text);
	if (got <= 0)
		return 0;
	uint64_t key = 0xcbf29ce484222325; /* FNV-1a */
	for (ssize_t i = 0; i < got; i++)
		key = (key ^ (unsigned char)text[i]) * 0x100000001b3;
	return key ? key : 1;
}

/* The fields of proc(5) after the name, which may itself hold any character: 3 state, 4 ppid, 20 threads, 22 start. */
static bool read_found(pid_t pid, struct found *found)
{
	char text[1024];
	if (read_proc(pid, "stat", text, sizeof text) <= 0)
		return false;
	const char *at = strrchr(text, ')');
	int parent, group, threads;
	unsigned long long started;
	if (!at || sscanf(at, ") %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
	                  &found->state, &parent, &group, &threads, &started) != 5)
		return false;
	found->pid = pid;
	found->parent = parent;
	found->group = group;
	found->is_dead = strchr("ZX", found->state) && threads <= 1;
	found->started = started;
	found->is_member = false;
	return true;
}

pid_t tree_parent(pid_t pid)
{
	struct found found;
	return read_found(pid, &found) ? found.parent : 0;
}

static void add_entries(const char *entries, size_t size)
{
	for (size_t at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
		at += entry->d_reclen;
		pid_t pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? atoi(entry->d_name) : 0;
		if (pid > 0 && walk_count < WALK_PROCESSES && read_found(pid, &walk[walk_count]))
			walk_count++;
	}
}

static int walk_all(void)
{
	_Alignas(struct dirent64) static char entries[32768];
	walk_count = 0;
	int fd = openat(tree_directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t got;
	while ((got = getdents64(fd, entries, sizeof entries)) > 0)
		add_entries(entries, (size_t)got);
	close(fd);
	return got < 0 || walk_count == 0 ? -1 : 0;
}

static int compare_pid(const void *key, const void *element)
{
	const pid_t pid = *(const pid_t *)key, other = ((const struct found *)element)->pid;
	return (pid > other) - (pid < other);
}

static bool descends(const struct found *found, pid_t root)
{
	if (found->parent == root)
		return true;
	const struct found *parent = bsearch(&found->parent, walk, walk_count, sizeof *walk, compare_pid);
	return parent && parent->is_member;
}

/* Parents mostly have lower ids: the second round finds those that do not. */
static void mark_descendants(const struct tree *tree)
{
	bool is_changed = true;
	while (is_changed) {
		is_changed = false;
		for (size_t i = 0; i < walk_count; i++) {
			if (walk[i].is_member || walk[i].pid == tree->root || !descends(&walk[i], tree->root))
				continue;
			walk[i].is_member = is_changed = true;
		}
	}
	for (size_t i = 0; i < walk_count; i++)
		if (walk[i].pid == tree->root)
			walk[i].is_member = tree->with_root;
}

static void mark_cgroup(const struct tree *tree)
{
	for (size_t i = 0; i < walk_count; i++)
		walk[i].is_member = walk[i].pid != getpid() && tree_cgroup_key(walk[i].pid) == tree->cgroup;
}

static int walk_tree(const struct tree *tree)
{
	if (!tree->cgroup && tree->root <= 0)
		return 0;
	if (walk_all() < 0)
		return -1;
	if (tree->cgroup)
		mark_cgroup(tree);
	else
		mark_descendants(tree);
	int count = 0;
	for (size_t i = 0; i < walk_count; i++) {
		walk[i].is_member = walk[i].is_member && walk[i].pid != tree->without;
		count += walk[i].is_member && !walk[i].is_dead;
	}
	return count;
}

static int signal_found(const struct found *found, int signo)
{
	int pidfd = (int)syscall(SYS_pidfd_open, found->pid, 0);
	if (pidfd < 0)
		return -1;
	struct found now;
	int result = -1;
	errno = ESRCH;
	if (read_found(found->pid, &now) && now.started == found->started)
		result = (int)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
	int errnum = errno;
	close(pidfd);
	errno = errnum;
	return result;
}

static bool is_touched(const struct found *found)
{
	for (size_t i = 0; i < touched_count; i++)
		if (touched[i].pid == found->pid && touched[i].started == found->started)
			return true;
	return false;
}

/* Signal the members that were not touched before. Returns how many those are. */
static int signal_new_members(int signo)
{
	int count = 0;
	for (size_t i = 0; i < walk_count; i++) {
		if (!walk[i].is_member || walk[i].is_dead || is_touched(&walk[i]))
			continue;
		(void)signal_found(&walk[i], signo); /* one that is gone meanwhile is no fault */
		if (touched_count < WALK_PROCESSES)
			touched[touched_count++] = walk[i];
		count++;
	}
	return count;
}

/* The group has the signal already. */
static void touch_group(pid_t group)
{
	for (size_t i = 0; i < walk_count; i++)
		if (walk[i].group == group && touched_count < WALK_PROCESSES)
			touched[touched_count++] = walk[i];
}

int tree_signal(const struct tree *tree, int signo)
{
	touched_count = 0;
	bool is_told = tree->group > 0 && kill(-tree->group, signo) == 0;
	int count = walk_tree(tree);
	if (is_told)
		touch_group(tree->group);
	/* What was forked behind a walk's back is found by the next one, until one finds nothing new. */
	for (int round = 0; count > 0 && round < SIGNAL_ROUNDS && signal_new_members(signo) > 0; round++)
		if (walk_tree(tree) < 0)
			break;
	return count;
}

static bool has_running(void)
{
	for (size_t i = 0; i < walk_count; i++)
		if (walk[i].is_member && !walk[i].is_dead && !strchr("Tt", walk[i].state))
			return true;
	return false;
}

static void kill_touched(void)
{
	for (size_t i = 0; i < touched_count; i++)
		(void)signal_found(&touched[i], SIGKILL);
}

int tree_kill(const struct tree *tree, unsigned attempt)
{
	touched_count = 0;
	int count = walk_tree(tree), seen = count;
	for (int round = 0; attempt > 0 && seen > 0 && round < STOP_ROUNDS && has_running(); round++) {
		signal_new_members(SIGSTOP);
		seen = walk_tree(tree);
	}
	if (count > 0)
		signal_new_members(SIGKILL);
	kill_touched(); /* also what was stopped and has left the tree since */
	return count;
}

int tree_signal_child(pid_t pid, pid_t parent, int signo)
{
	struct found found;
	if (pid <= 0 || !read_found(pid, &found) || found.parent != parent) {
		errno = ESRCH;
		return -1;
	}
	return signal_found(&found, signo);
}
