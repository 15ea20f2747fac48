/*
 * What the host's cgroups are made of, and each driver on what this host has: hierarchies are hidden from a child (in
 * a mount namespace of its own) until the other drivers' case is there.
 */
#include "sandbox/cgroup.h"
#include "sandbox/cgroup_file.h"
#include "sandbox/cgroup_mounts.h"
#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char mountinfo[] = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
								"35 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
								"36 31 0:32 /docker/1 /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
								"37 31 0:33 / /mnt/a\\040b rw - cgroup cgroup rw,pids\n"
								"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

static const char own[] = "9:name=systemd:/\n8:pids:/a/b\n4:memory:/docker/1/x\n1:cpu,cpuacct:/\n0::/user.slice\n";

struct place {
	const char *controller;
	bool top;
	const char *path; /* NULL: none */
};

Test(cgroup_mounts, the_own_cgroup_is_found_in_every_hierarchy)
{
	static const struct place places[] = {
		{"", false, "/sys/fs/cgroup/unified/user.slice"},
		{"", true, "/sys/fs/cgroup/unified"},
		{"cpuacct", false, "/sys/fs/cgroup/cpu,cpuacct/"},
		{"cpu", false, "/sys/fs/cgroup/cpu,cpuacct/"},
		{"memory", false, "/sys/fs/cgroup/memory/x"},
		{"pids", false, "/mnt/a b/a/b"},
		{"freezer", false, NULL},
		{"systemd", false, NULL},
	};
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		char path[CGROUP_PATH_BYTES] = "";
		bool found = cgroup_mounts_find_in(mountinfo, own, places[i].controller, places[i].top, path);
		cr_assert_eq(found, places[i].path != NULL, "`%s`", places[i].controller);
		if (found)
			cr_assert_eq(strncmp(path, places[i].path, strlen(places[i].path)), 0, "%s", path);
	}
}

static void hide(const char *const *paths)
{
	EXPECT(unshare(CLONE_NEWNS) == 0, "%s", strerror(errno));
	EXPECT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "%s", strerror(errno));
	for (; *paths; paths++)
		umount2(*paths, MNT_DETACH);
}

/* A process that a plain kill of its leader would not reach, in the leaf whose descriptors are FDS. */
static pid_t start_stubborn(const int *fds, int count)
{
	pid_t pid = fork();
	if (pid > 0)
		return pid;
	for (int i = 0; i < count; i++)
		if (write(fds[i], "0", 1) != 1)
			_exit(1);
	if (fork() == 0) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		fork();
		for (;;)
			pause();
	}
	_exit(0);
}

static void expect_counted(const struct cgroup_host *host, const struct cgroup_group *leaf)
{
	struct process_usage usage;
	memset(&usage, 0xff, sizeof usage);
	EXPECT(host->driver->usage(leaf, &usage, NULL) == 0, "usage");
	EXPECT(usage.user_us != UINT64_MAX && usage.system_us != UINT64_MAX, "%s", host->detail);
	if (host->where[CGROUP_MEMORY] >= 0)
		EXPECT(usage.memory_peak > 0 && usage.oom_kills == 0, "%s", host->detail);
}

static void expect_weight(const struct cgroup_session *session, uint64_t weight)
{
	const struct cgroup_host *host = session->top.host;
	if (host->where[CGROUP_CPU] < 0)
		return;
	bool is_v2 = host->hierarchies[host->where[CGROUP_CPU]].v2;
	uint64_t number = cgroup_read_number(cgroup_dir(&session->top, CGROUP_CPU), is_v2 ? "cpu.weight" : "cpu.shares",
	                                     NULL);
	EXPECT(number == (is_v2 ? weight : weight * 1024 / 100), "%llu", (unsigned long long)number);
}

static void wait_empty(const struct cgroup_host *host, struct cgroup_group *leaf)
{
	for (int i = 0; host->driver->is_empty(leaf, NULL) != 1; i++) {
		EXPECT(i < 5000, "the leaf does not become empty");
		if (host->driver->events_fd(leaf) < 0)
			host->driver->kill(leaf, NULL);
		poll(NULL, 0, 1);
	}
}

static void live_through(const char *driver)
{
	struct cgroup_host host;
	struct error err = {0};
	char name[CGROUP_NAME_BYTES];
	snprintf(name, sizeof name, "sandbar-test-%d", getpid());
	cgroup_host_init(&host, name);
	if (strcmp(host.driver->name, driver) != 0) {
		cgroup_host_finish(&host);
		story_skip("this host cannot show the driver `%s`: %s", driver, host.detail);
	}
	struct sandbox_limits limits = sandbox_limits_default();
	limits.cpu_weight = 250;
	struct cgroup_session session;
	struct cgroup_group leaf;
	int fds[8];
	EXPECT(cgroup_session_create(&session, &host, "abcdefghijklmnop", &limits, &err) == 0, "%s", err.message);
	expect_weight(&session, limits.cpu_weight);
	int count = cgroup_leaf_create(&leaf, &session, 1, fds, &err);
	EXPECT(count > 0, "%s", err.message);
	EXPECT(host.driver->is_empty(&leaf, &err) == 1, "%s", err.message);
	EXPECT(waitpid(start_stubborn(fds, count), NULL, 0) > 0, "%s", strerror(errno));
	EXPECT(host.driver->is_empty(&leaf, &err) == 0, "%s", err.message);
	EXPECT(cgroup_leaf_remove(&leaf, &session, 1, &err) < 0, "a leaf in use was removed");
	expect_counted(&host, &leaf);
	if (host.where[CGROUP_UNIFIED] >= 0 || host.where[CGROUP_FREEZER] >= 0) {
		EXPECT(host.driver->freeze(&session.work, true, &err) == 0, "%s", err.message);
		if (host.driver->frozen_cannot_die)
			host.driver->freeze(&session.work, false, &err);
	}
	EXPECT(host.driver->kill(&leaf, &err) == 0, "%s", err.message);
	wait_empty(&host, &leaf);
	EXPECT(cgroup_leaf_remove(&leaf, &session, 1, &err) == 0, "%s", err.message);
	EXPECT(cgroup_session_remove(&session), "the session's cgroups are left");
	cgroup_host_finish(&host);
}

static void be_hybrid(void)
{
	live_through("hybrid");
}

static void be_v1(void)
{
	hide((const char *const[]){"/sys/fs/cgroup/unified", NULL});
	live_through("v1");
}

static void be_v2(void)
{
	hide((const char *const[]){"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu", NULL});
	live_through("v2");
}

Test(cgroup_driver, hybrid)
{
	story_run(STORY_ROOT, be_hybrid);
}

Test(cgroup_driver, v1)
{
	story_run(STORY_ROOT, be_v1);
}

Test(cgroup_driver, v2)
{
	story_run(STORY_ROOT, be_v2);
}

/* Alone in a cgroup, as a service with Delegate= is: the server must leave it for the controllers to be handed on. */
static void be_a_service(void)
{
	char own_cgroup[CGROUP_PATH_BYTES], service[CGROUP_PATH_BYTES + 32], text[256];
	if (!cgroup_mounts_find("", false, own_cgroup))
		story_skip("no cgroup v2");
	snprintf(service, sizeof service, "%s/sandbar-service-%d", own_cgroup, getpid());
	EXPECT(mkdir(service, 0755) == 0, "%s", strerror(errno));
	int above = open(own_cgroup, O_RDONLY | O_DIRECTORY), dir = open(service, O_RDONLY | O_DIRECTORY);
	bool delegated = cgroup_read(dir, "cgroup.controllers", text, sizeof text, NULL) > 0 && strstr(text, "memory");
	EXPECT(cgroup_write(dir, "cgroup.procs", "0", NULL) == 0, "%s", strerror(errno));
	if (delegated)
		live_through("v2");
	EXPECT(cgroup_write(above, "cgroup.procs", "0", NULL) == 0, "%s", strerror(errno));
	EXPECT(rmdir(service) == 0, "%s: %s", service, strerror(errno));
	if (!delegated)
		story_skip("a new v2 cgroup has no memory controller here");
}

Test(cgroup_driver, v2_of_a_service)
{
	story_run(STORY_ROOT, be_a_service);
}

static void leave_and_sweep(void)
{
	struct cgroup_host host;
	struct error err = {0};
	cgroup_host_init(&host, "sandbar-test-sweep");
	if (host.count == 0)
		story_skip("%s", host.detail);
	struct sandbox_limits limits = sandbox_limits_default();
	struct cgroup_session session;
	struct cgroup_group leaf;
	int fds[8];
	EXPECT(cgroup_session_create(&session, &host, "abcdefghijklmnop", &limits, &err) == 0, "%s", err.message);
	int count = cgroup_leaf_create(&leaf, &session, 1, fds, &err);
	EXPECT(waitpid(start_stubborn(fds, count), NULL, 0) > 0, "%s", strerror(errno));
	EXPECT(cgroup_host_sweep(&host, &err) == 1, "%s", err.message);
	EXPECT(cgroup_host_sweep(&host, &err) == 0, "%s", err.message);
	cgroup_host_finish(&host);
}

Test(cgroup_sweep, what_a_dead_server_left_goes_with_its_processes)
{
	story_run(STORY_ROOT, leave_and_sweep);
}
