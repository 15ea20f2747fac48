/*
 * Where the time goes in which a sandbox is made, and how long its end takes: sandbox_box_create(), as the keeper calls it, again
 * and again. The linker has put us between its parts (--wrap), so that nothing in them knows of the clock.
 */
#include "sandbox/cgroup.h"
#include "sandbox/id_range.h"
#include "sandbox/launch.h"
#include "sandbox/sandbox.h"
#include "tests/bench/bare/measure.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* In the parent, a phase begins where the one before it ended; a host that has no part of it passes it in no time. In the child,
 * which works at its set-up meanwhile, each is one step. */
enum phase {
	PHASE_GROUPS, /* the cgroups are made */
	PHASE_BIRTH,  /* clone3(2) into the namespaces */
	PHASE_IDS,    /* the maps of ids are written */
	PHASE_JOIN,   /* v1 alone: the child is put into its groups */
	PHASE_SETUP,  /* until the child has executed init */
	PHASE_INIT,   /* until that has confined itself */
	PHASE_END,    /* from the kill until nothing of it is left */
	STEP_PROC,
	STEP_ROOT,
	STEP_MASKS,
	STEP_QUEUES,
	STEP_TERMINALS,
	STEP_WORKSPACE,
	PHASES
};

enum { TRIALS = 16 /* that a host makes before it is ready, at most */ };

static const char *const names[PHASES] = {"groups", "birth", "ids",   "join",   "setup",     "init",     "end",
                                          "proc",   "root",  "masks", "queues", "terminals", "workspace"};
static uint64_t moment;
static struct samples samples[PHASES];
static uint64_t *steps; /* the newest of each phase of the child, which writes them to us */

static void passed(enum phase phase)
{
	uint64_t now = now_ns();
	samples_add(&samples[phase], now - moment);
	moment = now;
}

/* --- what stands between the parts (ld(1), --wrap) ------------------------------------------------------------- */

int __real_cgroup_session_create(struct cgroup_session *session, const struct cgroup_host *host, const char *name,
                                 const struct sandbox_limits *limits, struct error *err);
int __wrap_cgroup_session_create(struct cgroup_session *session, const struct cgroup_host *host, const char *name,
                                 const struct sandbox_limits *limits, struct error *err)
{
	int result = __real_cgroup_session_create(session, host, name, limits, err);
	passed(PHASE_GROUPS);
	return result;
}

int __real_id_range_map(pid_t pid, int block, struct error *err);
int __wrap_id_range_map(pid_t pid, int block, struct error *err)
{
	passed(PHASE_BIRTH);
	int result = __real_id_range_map(pid, block, err);
	passed(PHASE_IDS);
	return result;
}

int __real_cgroup_session_join_v1(const struct cgroup_session *session, pid_t pid, struct error *err);
int __wrap_cgroup_session_join_v1(const struct cgroup_session *session, pid_t pid, struct error *err)
{
	int result = __real_cgroup_session_join_v1(session, pid, err);
	passed(PHASE_JOIN);
	return result;
}

int __real_launch_run(struct launch *launch, struct error *err);
int __wrap_launch_run(struct launch *launch, struct error *err)
{
	bool is_trial = launch->socket < 0; /* of the host's, before the first sandbox */
	int result = __real_launch_run(launch, err);
	if (!is_trial)
		passed(PHASE_SETUP);
	return result;
}

#define STEP(function, phase)                                            \
	int __real_##function(struct child_setup *setup, struct error *err); \
	int __wrap_##function(struct child_setup *setup, struct error *err)  \
	{                                                                    \
		uint64_t begin = now_ns();                                       \
		int result = __real_##function(setup, err);                      \
		steps[phase] = now_ns() - begin;                                 \
		return result;                                                   \
	}
STEP(child_make_proc, STEP_PROC)
STEP(child_enter_root, STEP_ROOT)
STEP(child_attach_proc, STEP_MASKS)
STEP(child_mount_queues, STEP_QUEUES)
STEP(child_mount_terminals, STEP_TERMINALS)
STEP(child_mount_workspace, STEP_WORKSPACE)

/* --- making and ending ------------------------------------------------------------------------------------------ */

static void refuse(const struct error *err)
{
	fprintf(stderr, "bench_sandbox_phases: %s\n", err->message);
	exit(1);
}

static void end(struct sandbox_box *box, int socket)
{
	moment = now_ns();
	sandbox_box_kill(box);
	while (!sandbox_box_is_gone(box)) {
		struct pollfd pollfd = {.fd = sandbox_box_pidfd(box), .events = POLLIN};
		poll(&pollfd, 1, 1);
	}
	sandbox_box_destroy(box);
	close(socket);
	passed(PHASE_END);
}

static void make_and_end(struct sandbox_host *host, struct samples *whole)
{
	struct sandbox_spec spec = {.session = "abcdefghijklmn27", .limits = sandbox_limits_default()};
	struct error err = {0};
	int socket;
	uint64_t begin = moment = now_ns();
	struct sandbox_box *box = sandbox_box_create(host, &spec, &socket, &err);
	if (!box)
		refuse(&err);
	passed(PHASE_INIT);
	samples_add(whole, moment - begin);
	for (int step = STEP_PROC; step < PHASES; step++)
		samples_add(&samples[step], steps[step]);
	end(box, socket);
}

static struct sandbox_host *prepare(const char *staging)
{
	struct error err = {0};
	char name[32];
	snprintf(name, sizeof name, "sandbar-bench-%d", (int)getpid());
	struct sandbox_host_options options = {
		.init_fd = open(INIT_PROGRAM, O_PATH | O_CLOEXEC), .cgroup_name = name, .staging = staging};
	if (options.init_fd < 0)
		die(INIT_PROGRAM);
	struct sandbox_host *host = sandbox_host_create(&options, &err);
	if (!host)
		refuse(&err);
	return host;
}

int main(int argc, char **argv)
{
	uint64_t runs = 200;
	const struct option_row options[] = {{"--runs", &runs, "how often"}, {NULL, NULL, NULL}};
	char staging[] = "/tmp/sandbar-bench-XXXXXX";
	struct samples whole;
	options_read(argc, argv, options);
	if (!mkdtemp(staging))
		die("a directory in /tmp");
	steps = mmap(NULL, PHASES * sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (steps == MAP_FAILED)
		die("mmap");
	samples_init(&whole, runs);
	for (int phase = 0; phase < PHASES; phase++)
		samples_init(&samples[phase], runs + TRIALS);
	struct sandbox_host *host = prepare(staging);
	for (int phase = 0; phase < PHASES; phase++)
		samples[phase].count = 0;
	for (uint64_t i = 0; i < runs; i++)
		make_and_end(host, &whole);
	printf("{\"bench\": \"sandbox_phases\", ");
	for (int phase = 0; phase < PHASES; phase++)
		printf("\"%s_us\": %.1f, ", names[phase], samples_median(&samples[phase]));
	samples_write(&whole);
	printf("}\n");
	sandbox_host_destroy(host);
	rmdir(staging);
	return 0;
}
