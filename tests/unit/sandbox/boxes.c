/*
 * A sandbox from the inside, as root makes it and as a normal user does.
 */
#include "cell.h"
#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct look {
	const char *script;
	const char *expected; /* the whole output */
};

static const struct look looks[] = {
	{"cd /; echo $(ls -d * | grep -v ^lib)",
     "bin dev etc home mnt opt proc root run sbin srv tmp usr var work\n"}, /* lib…: as the host has them */
	{"id -u; id -un; id -G; pwd; hostname", "1000\nuser\n1000\n/work\nabcdefghijklmn27\n"},
	{"echo $$; echo /dev/*", NULL},
	{"test -e /etc/shadow && echo shadow; test -e /root/.bashrc && echo root; ls /home /root /mnt /srv /opt | grep -v "
     ":",
     "\n\n\n\n"},
	{"for f in /usr/x /x /etc/x /dev/x /proc/x; do (: >$f) 2>/dev/null && echo $f; done; echo done", "done\n"},
	{"for f in /work /tmp /dev/shm /run /var/tmp; do : >$f/x || echo $f; done; echo done", "done\n"},
	{"cp /bin/true /dev/shm/t && /dev/shm/t", NULL},
	/* Of the machine nothing but what child_proc.c shows. */
	{"cd /proc; for f in $(ls | grep -v -x -e '[0-9]*' -e cgroups -e cpuinfo -e filesystems -e loadavg -e meminfo -e "
     "stat "
     "-e sys -e sysvipc -e tty -e uptime -e version); do [ -L $f ] || { [ -d $f ] && ls $f || head -c 9 $f; }; done | "
     "wc "
     "-c; head -qc 1 cpuinfo meminfo stat loadavg uptime version | wc -c",
     "0\n6\n"},
	{"ls /proc | grep -x 1; cat /proc/1/status /proc/1/sched /proc/1/cmdline 2>/dev/null; ls /proc/self/comm",
     "/proc/self/comm\n"},
	{"(echo x >/proc/sys/kernel/hostname) 2>/dev/null || echo refused; ls /sys 2>/dev/null; echo", "refused\n\n"},
	{"ls /proc/self/fd", "0\n1\n2\n3\n"}, /* 3 is that of ls itself */
	{"grep -c . /proc/net/dev; grep -h -e Cap -e NoNewPrivs -e Seccomp: /proc/self/status | tr -d '\\t'",
     "3\nCapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n"
     "CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n"},
	{"sed s/p[0-9]*$/pN/ /proc/self/cgroup | grep -v -e :/$ -e :/work -e :/../work/pN$", ""},
	/* Init is spared where the host lets it; what it starts is not, and cannot spare itself. */
	{"[ $(cat /proc/self/oom_score_adj) -ge 0 ] && echo victim; for i in adj score_adj; do (echo -17 "
     ">/proc/self/oom_$i) "
     "2>/dev/null || echo refused; done",
     "victim\nrefused\nrefused\n"},
	{"env | sort | grep -v -e ^PWD -e ^_= -e ^SHLVL -e ^OLDPWD", "HOME=/work\nPATH=/usr/local/bin:/usr/bin:/bin\n"},
	{"kill -9 1; kill -STOP 1; cat /proc/1/environ /proc/1/mem 2>/dev/null; readlink /proc/1/exe; echo here", NULL},
	{"ulimit -n; ulimit -c", "1024\n0\n"},
};

static void expect_output(struct cell *cell, const char *script, const char *expected)
{
	struct ending ending = cell_run(cell, script);
	if (expected)
		EXPECT(strcmp(ending.output, expected) == 0, "\n%s\n--- gave:\n%s", script, ending.output);
}

static void expect_end(struct cell *cell, const char *script, const char *end)
{
	struct ending ending = cell_run(cell, script);
	size_t length = strlen(ending.output), wanted = strlen(end);
	EXPECT(length >= wanted && strcmp(ending.output + length - wanted, end) == 0, "\n%s\n--- gave:\n%s", script,
	       ending.output);
}

static void look_around(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	cell_open(&cell, &limits);
	for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
		expect_output(&cell, looks[i].script, looks[i].expected);
	expect_end(&cell, "echo $(ls /dev)",
	           "fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero\n");
	expect_end(&cell, "cp /bin/true /dev/shm/t && /dev/shm/t; echo $?", "126\n");
	expect_end(&cell, "kill -9 1; kill -STOP 1; cat /proc/1/environ /proc/1/mem; readlink /proc/1/exe; echo here",
	           "here\n");
	/* Nothing of the host's tree can be named: no mount shows its paths, and the old root is gone. */
	expect_end(&cell,
	           "grep -c -v -e ' /dev/' -e ' /proc' -e ' / / ' -e ' /usr' -e workspace -e ' /lib' /proc/self/mountinfo",
	           "0\n");
	cell_close(&cell);
}

Test(box, root_sees_only_what_was_given)
{
	story_run(STORY_ROOT, look_around);
}

Test(box, a_user_sees_only_what_was_given)
{
	story_run(STORY_USER, look_around);
}

/* Who is 0 in name: everything of a user's own is his, nothing else is, and no right comes with it. */
static const struct look looks_of_root[] = {
	{"id -u; id -un; id -g; id -G; pwd; echo ~root", "0\nroot\n0\n0\n/work\n/work\n"},
	{"for f in /work /tmp /var/tmp /dev/shm /run; do : >$f/x && stat -c %u:%g $f $f/x; done | sort | uniq -c | tr -s ' "
     "'",
     " 10 0:0\n"},
	{"grep -h -e Cap -e NoNewPrivs -e Seccomp: /proc/self/status | tr -d '\\t'",
     "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n"
     "CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n"},
	{"for f in / /etc /etc/passwd /dev /dev/null /proc /proc/sys /usr; do chmod 777 $f 2>/dev/null && echo $f; done; "
     "echo done",
     "done\n"},
	{"for f in /x /usr/x /etc/x /etc/passwd /dev/x /root/x; do (: >$f) 2>/dev/null && echo $f; done; echo done",
     "done\n"},
	{"for f in shmall sem msgmni hostname; do (echo 1 >/proc/sys/kernel/$f) 2>/dev/null && echo $f; done; "
     "cat /proc/sys/kernel/msgmni",
     "128\n"},
	{"ls /proc | grep -x 1; kill -9 1; kill -STOP 1; cat /proc/1/status 2>/dev/null; echo here", NULL},
	{"touch /tmp/own; for i in 1 1000; do chown $i /tmp/own 2>/dev/null && echo $i; done; rm -f /dev/pts/ptmx "
     "2>/dev/null; ls /dev/pts",
     "ptmx\n"},
};

static void be_root_in_name(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	limits.user = INNER_USER_ROOT;
	cell_open(&cell, &limits);
	for (size_t i = 0; i < sizeof looks_of_root / sizeof looks_of_root[0]; i++)
		expect_output(&cell, looks_of_root[i].script, looks_of_root[i].expected);
	expect_end(&cell, "kill -9 1; kill -STOP 1; cat /proc/1/environ /proc/1/mem; readlink /proc/1/exe; echo here",
	           "here\n");
	if (sandbox_host_layers(cell.host)->layers[LAYER_UID_RANGE].on)
		expect_output(&cell, "stat -c %u:%g /dev/pts /dev/pts/ptmx; chmod 777 /dev/pts 2>/dev/null || echo refused",
		              "1:1\n1:1\nrefused\n");
	cell_close(&cell);
}

Test(box, a_user_may_be_root_in_name)
{
	story_run(STORY_ROOT, be_root_in_name);
}

Test(box, a_user_may_be_root_in_name_under_a_users_server)
{
	story_run(STORY_USER, be_root_in_name);
}

static void map_ids(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	cell_open(&cell, &limits);
	unsigned inside, outside, count;
	struct ending map = cell_run(&cell, "cat /proc/self/uid_map");
	EXPECT(sscanf(map.output, "%u %u %u", &inside, &outside, &count) == 3, "%s", map.output);
	EXPECT(inside == 0 && outside >= 0x70010000 && outside % 65536 == 0 && count == 65536, "%s", map.output);
	expect_end(&cell, "test -d /proc/1 || echo invisible", "invisible\n");
	cell_close(&cell);
}

Test(box, roots_sandboxes_have_ids_of_their_own)
{
	story_run(STORY_ROOT, map_ids);
}

static void meet_limits(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = cell_limits();
	cell_open(&cell, &limits);
	expect_end(&cell, "head -c 9000000 /dev/zero >/tmp/a; wc -c </tmp/a; rm /tmp/a", "8388608\n");
	expect_end(&cell,
	           "head -c 5000000 /dev/zero >/work/a; head -c 5000000 /dev/zero >/dev/shm/a; rm -f /work/a /dev/shm/a",
	           "No space left on device\n");
	expect_end(&cell, "i=0; while true >/tmp/f$i; do i=$((i+1)); done 2>/dev/null; echo $i", "200\n");
	expect_end(&cell, "rm /tmp/f*; : >/tmp/again && echo room", "room\n");
	expect_end(&cell, "python3 -c 'import pty\nn=0\ntry:\n  while 1: pty.openpty(); n+=1\nexcept OSError: print(n)'",
	           "4\n");
	/* 24 tasks, whoever counts them; the python that forks is one, and init or a subreaper may be. */
	struct ending bomb = cell_run(&cell, "exec python3 -c '\n"
	                                     "import os, time\n"
	                                     "children = []\n"
	                                     "try:\n"
	                                     "    while len(children) < 100:\n"
	                                     "        pid = os.fork()\n"
	                                     "        if pid == 0: time.sleep(60)\n"
	                                     "        children.append(pid)\n"
	                                     "except OSError as error: print(error.errno)\n"
	                                     "print(len(children))\n"
	                                     "for pid in children: os.kill(pid, 9)'");
	EXPECT(strncmp(bomb.output, "11\n2", 4) == 0, "%s", bomb.output);
	cell_close(&cell);
}

Test(box, roots_limits_hold)
{
	story_run(STORY_ROOT, meet_limits);
}

Test(box, a_users_limits_hold)
{
	story_run(STORY_USER, meet_limits);
}

/* As the keeper is: undumpable, so that its files in /proc are the real root's. */
static void come_and_go(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	prctl(PR_SET_DUMPABLE, 0);
	cell_host(&cell);
	unsigned mounts = cell_count_mounts(), cgroups = cell_count_cgroups();
	int next_fd = dup(0);
	close(next_fd);
	for (int i = 0; i < 10; i++) {
		int stream;
		struct error err = {0};
		cell_open(&cell, &limits);
		cell_start(&cell, "(setsid sh -c 'trap \"\" TERM; sleep 100 & sleep 100' &) ; sleep 100", &stream);
		sandbox_box_freeze(cell.box, true, &err);
		sandbox_box_kill(cell.box);
		for (int wait = 0; !sandbox_box_is_gone(cell.box); wait++) {
			EXPECT(wait < 1000, "it does not go");
			poll(NULL, 0, 1);
		}
		sandbox_box_destroy(cell.box);
		cell.box = NULL;
		close(cell.socket);
		close(stream);
	}
	EXPECT(cell_count_mounts() == mounts, "%u mounts, before %u", cell_count_mounts(), mounts);
	EXPECT(cell_count_cgroups() == cgroups, "%u cgroups, before %u", cell_count_cgroups(), cgroups);
	int fd = dup(0);
	EXPECT(fd == next_fd, "descriptors are left: %d, before %d", fd, next_fd);
	close(fd);
	cell_close(&cell);
	EXPECT(cell_count_cgroups() == 0, "%u", cell_count_cgroups());
}

Test(box, nothing_of_roots_is_left)
{
	story_run(STORY_ROOT, come_and_go);
}

Test(box, nothing_of_a_users_is_left)
{
	story_run(STORY_USER, come_and_go);
}

static void die_by_itself(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	cell_open(&cell, &limits);
	struct pollfd pollfd = {.fd = sandbox_box_pidfd(cell.box), .events = POLLIN};
	EXPECT(poll(&pollfd, 1, 0) == 0, "init is dead at once");
	close(cell.socket);
	cell.socket = -1;
	sandbox_box_kill(cell.box);
	EXPECT(poll(&pollfd, 1, 5000) == 1, "the pidfd tells nothing");
	cell_close(&cell);
}

Test(box, its_pidfd_tells_the_end)
{
	story_run(STORY_USER, die_by_itself);
}

struct refusal {
	struct sandbox_spec spec;
	const char *part; /* of the message */
};

static void refuse(void)
{
	struct cell cell = {0};
	cell_host(&cell);
	struct sandbox_spec good = {.session = "abcdefghijklmnop", .limits = sandbox_limits_default()};
	struct refusal refusals[] = {{good, "memory"}, {good, "session"}, {good, "session"}, {good, "is required"}};
	refusals[0].spec.limits.memory = 1;
	memcpy(refusals[1].spec.session, "../../../../../x", 17);
	memset(refusals[2].spec.session, 'a', sizeof good.session);
	refusals[3].spec.required_layers = UINT32_MAX;
	const struct layer_report *report = sandbox_host_layers(cell.host);
	bool all_on = true;
	for (int i = 0; i < LAYER_COUNT; i++)
		all_on = all_on && report->layers[i].on;
	for (int i = 0; i < (all_on ? 3 : 4); i++) {
		struct error err = {0};
		int socket;
		struct sandbox_box *box = sandbox_box_create(cell.host, &refusals[i].spec, &socket, &err);
		EXPECT(!box, "%d was accepted", i);
		EXPECT(strstr(err.message, refusals[i].part), "%s", err.message);
	}
	cell_close(&cell);
}

/* As in a container: there a new proc is refused to who has only a user namespace. */
static void cover_proc(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	EXPECT(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "%s", strerror(errno));
	EXPECT(mount("/dev/null", "/proc/kcore", NULL, MS_BIND, NULL) == 0 ||
	           mount("/dev/null", "/proc/keys", NULL, MS_BIND, NULL) == 0,
	       "%s", strerror(errno));
	EXPECT(mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) == 0, "%s", strerror(errno));
	cell_open(&cell, &limits);
	EXPECT(sandbox_host_layers(cell.host)->layers[LAYER_PROC].on, "%s",
	       sandbox_host_layers(cell.host)->layers[LAYER_PROC].detail);
	expect_output(&cell, "ls -d /proc/self/status", "/proc/self/status\n");
	cell_close(&cell);
}

Test(box, a_host_whose_proc_is_covered)
{
	story_run(STORY_ROOT, cover_proc);
}

Test(box, what_cannot_be_is_refused_by_name)
{
	story_run(STORY_USER, refuse);
}

static void report_user(void)
{
	struct cell cell = {0};
	cell_host(&cell);
	const struct layer_report *report = sandbox_host_layers(cell.host);
	static const enum layer always[] = {LAYER_USER,         LAYER_PID,       LAYER_MOUNT,  LAYER_NETWORK, LAYER_IPC,
	                                    LAYER_UTS,          LAYER_CGROUP_NS, LAYER_ROOT,   LAYER_DEV,     LAYER_PROC,
	                                    LAYER_CAPABILITIES, LAYER_SECCOMP,   LAYER_RLIMITS};
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		EXPECT(report->layers[always[i]].on, "%s: %s", layer_name(always[i]), report->layers[always[i]].detail);
	for (int i = 0; i < LAYER_COUNT; i++)
		EXPECT(report->layers[i].detail[0], "%s says nothing", layer_name((enum layer)i));
	EXPECT(report->layers[LAYER_UID_RANGE].on == (geteuid() == 0), "%s", report->layers[LAYER_UID_RANGE].detail);
	cell_close(&cell);
}

Test(probe, a_user_has_every_layer_but_ids_and_cgroups)
{
	story_run(STORY_USER, report_user);
}

Test(probe, root_has_every_layer_that_a_user_has)
{
	story_run(STORY_ROOT, report_user);
}

static void forbid_namespaces(void)
{
	struct cell cell = {0};
	cell_host(&cell);
	/* As on a host with user.max_user_namespaces = 0: the limit of the own namespace can be lowered by a user. */
	FILE *file = fopen("/proc/sys/user/max_user_namespaces", "we");
	if (!file)
		story_skip("max_user_namespaces: %s", strerror(errno));
	fputs("0", file);
	if (fclose(file) != 0)
		story_skip("max_user_namespaces cannot be lowered: %s", strerror(errno));
	struct sandbox_spec spec = {.session = "abcdefghijklmnop", .limits = sandbox_limits_default()};
	struct error err = {0};
	int socket;
	EXPECT(!sandbox_box_create(cell.host, &spec, &socket, &err), "a sandbox without a user namespace");
	EXPECT(err.errnum == ENOSPC && strstr(err.message, "clone3"), "%s", err.message);
	cell_close(&cell);
}

Test(box, a_failure_names_what_failed_and_leaves_nothing)
{
	story_run(STORY_USER, forbid_namespaces);
}
