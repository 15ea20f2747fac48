/*
 * probe.c: what this host really gives. Nothing is believed: each namespace is made once by a child that leaves at
 * once, a whole sandbox is set up by a child that stops before init, and a session's cgroups are made and limited.
 */
#include "host.h"
#include "landlock.h"
#include "launch.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct namespace_row {
	enum layer layer;
	uint64_t flag;
};

static const struct namespace_row namespaces[] = {
	{LAYER_USER, 0},
	{LAYER_PID, CLONE_NEWPID},
	{LAYER_MOUNT, CLONE_NEWNS},
	{LAYER_NETWORK, CLONE_NEWNET},
	{LAYER_IPC, CLONE_NEWIPC},
	{LAYER_UTS, CLONE_NEWUTS},
	{LAYER_TIME, CLONE_NEWTIME},
	{LAYER_CGROUP_NS, CLONE_NEWCGROUP},
};

__attribute__((format(printf, 4, 5))) static void set(struct sandbox_host *host, enum layer layer, bool on,
                                                      const char *format, ...)
{
	struct layer_status *status = &host->report.layers[layer];
	status->on = on;
	va_list args;
	va_start(args, format);
	vsnprintf(status->detail, sizeof status->detail, format, args);
	va_end(args);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void probe_namespace(struct sandbox_host *host, const struct namespace_row *row)
{
	struct clone_args args = {.flags = CLONE_NEWUSER | row->flag, .exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(0);
	if (pid < 0) {
		set(host, row->layer, false, "clone3: %s", strerrordesc_np(errno));
		return;
	}
	wait_for(pid);
	set(host, row->layer, true, "a new one for each sandbox%s", row->layer == LAYER_TIME ? " that asks for it" : "");
}

static const char *success_text(enum layer layer, uint32_t notes)
{
	static const char *const texts[LAYER_COUNT] = {
		[LAYER_ROOT] = "the host's /usr, read-only; a tmpfs with limits",
		[LAYER_DEV] = "6 devices; devpts of its own, with a limit",
		[LAYER_CAPABILITIES] = "no_new_privs; init drops them all",
		[LAYER_LANDLOCK] = "files",
		[LAYER_SECCOMP] = "allow-list, native architecture alone",
	};
	if (layer == LAYER_SECCOMP && !(notes & CHILD_TELLS_REFUSALS))
		return "allow-list, native architecture alone; refusals are not told";
	if (layer == LAYER_PROC)
		return notes & CHILD_HIDES_PROCESSES ? "masked, other users' processes invisible" : "masked";
	return texts[layer];
}

/* Layers whose steps were done are on; the step that failed says why; those after it were not reached. */
static void judge_steps(struct sandbox_host *host, const struct child_report *report)
{
	for (int i = 0; i < child_step_count(); i++) {
		if (child_step_layer(i) < 0)
			continue;
		enum layer layer = (enum layer)child_step_layer(i);
		const char *text = success_text(layer, report->notes);
		if (i < report->done && text)
			set(host, layer, true, "%s", text);
		else if (i >= report->done)
			set(host, layer, false, "%.90s", i == report->done ? report->error.message : "set-up did not come so far");
	}
}

/* It may be done, and yet nothing is on. */
static void judge_landlock(struct sandbox_host *host, int abi)
{
	if (!host->report.layers[LAYER_LANDLOCK].on)
		return;
	if (abi == 0)
		set(host, LAYER_LANDLOCK, false, "the kernel has none, or one before ABI %d", LANDLOCK_ABI_LEAST);
	else
		set(host, LAYER_LANDLOCK, true, "ABI %d: files%s%s", abi, abi < LANDLOCK_ABI_IOCTL ? "" : ", devices",
		    abi < LANDLOCK_ABI_SCOPES ? "" : ", abstract sockets, signals");
}

/* A step without a layer that failed (proc) is the fault of the next one that has. */
static void attribute_failure(struct child_report *report)
{
	while (report->done < child_step_count() && child_step_layer(report->done) < 0)
		report->done++;
}

static void probe_setup(struct sandbox_host *host)
{
	struct sandbox_limits limits = sandbox_limits_default();
	struct launch launch = {
		.host = host,
		.hostname = "probe",
		.limits = &limits,
		.cgroup = -1,
		.socket = -1,
		.deadline = launch_deadline(),
	};
	struct error err = {0};
	launch.block = host->has_ranges ? id_range_take(&host->ids, &err) : -1;
	if (launch_run(&launch, &err) < 0)
		launch.report = (struct child_report){.error = err};
	if (launch.pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, launch.pidfd, SIGKILL, NULL, 0);
		wait_for(launch.pid);
		close(launch.pidfd);
	}
	id_range_give(&host->ids, launch.block);
	attribute_failure(&launch.report);
	judge_steps(host, &launch.report);
	judge_landlock(host, launch.report.landlock_abi);
	set(host, LAYER_OOM, launch.is_spared, "%s",
	    launch.is_spared ? "oom_score_adj is -1000" : "no CAP_SYS_RESOURCE on the host, or no oom_adj");
}

static void probe_ids(struct sandbox_host *host)
{
	if (host->has_ranges)
		set(host, LAYER_UID_RANGE, true, "%d of %d ids from 0x%x", ID_BLOCKS_GIVEN, ID_BLOCK, ID_RANGE_BASE);
	else
		set(host, LAYER_UID_RANGE, false, "%s",
		    host->own.uid == 0 ? "this root has no capabilities, or no ids from 0x70000000"
		                       : "not root: every sandbox runs under the own id");
}

static void judge_controller(struct sandbox_host *host, enum layer layer, enum cgroup_controller controller,
                             const struct error *err)
{
	const struct cgroup_host *cgroups = &host->cgroups;
	int index = cgroups->where[controller];
	if (err->message[0])
		set(host, layer, false, "%.90s", err->message);
	else if (index < 0)
		set(host, layer, false, "%s", cgroups->count > 0 ? "the controller is not available" : cgroups->detail);
	else
		set(host, layer, true, "cgroup %s", cgroups->hierarchies[index].v2 ? "v2" : "v1");
}

static void judge_freezer(struct sandbox_host *host, const struct cgroup_session *session)
{
	struct error err = {0};
	const struct cgroup_driver *driver = host->cgroups.driver;
	if (driver->freeze(&session->work, true, &err) == 0 && driver->freeze(&session->work, false, &err) == 0)
		set(host, LAYER_FREEZE, true, "cgroup %s", driver->frozen_cannot_die ? "v1" : "v2");
	else
		set(host, LAYER_FREEZE, false, "%.90s", err.message);
}

static void probe_cgroups(struct sandbox_host *host)
{
	struct cgroup_host *cgroups = &host->cgroups;
	struct sandbox_limits limits = sandbox_limits_default();
	limits.cpu_percent = 100;
	struct cgroup_session session;
	struct error err = {0};
	bool made = cgroup_session_create(&session, cgroups, "probe", &limits, &err) == 0;
	bool on = made && cgroups->count > 0;
	set(host, LAYER_CGROUP, on, "%.90s", made ? cgroups->detail : err.message);
	judge_controller(host, LAYER_CGROUP_MEMORY, CGROUP_MEMORY, &err);
	judge_controller(host, LAYER_CGROUP_PIDS, CGROUP_PIDS, &err);
	judge_controller(host, LAYER_CGROUP_CPU, CGROUP_CPU, &err);
	if (on)
		judge_freezer(host, &session);
	else
		set(host, LAYER_FREEZE, false, "%.90s", host->report.layers[LAYER_CGROUP].detail);
	if (made)
		cgroup_session_remove(&session);
}

static void describe_rlimits(struct sandbox_host *host)
{
	struct rlimit files;
	if (host->report.layers[LAYER_RLIMITS].on && getrlimit(RLIMIT_NOFILE, &files) == 0)
		set(host, LAYER_RLIMITS, true, "at most %" PRIu64 " open files%s", (uint64_t)files.rlim_max,
		    host->report.layers[LAYER_CGROUP_PIDS].on ? "" : "; tasks, as no cgroup limits them");
}

void sandbox_probe(struct sandbox_host *host)
{
	probe_ids(host);
	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
		probe_namespace(host, &namespaces[i]);
	probe_cgroups(host);
	host->report.layers[LAYER_RLIMITS].on = true;
	probe_setup(host);
	describe_rlimits(host);
}
