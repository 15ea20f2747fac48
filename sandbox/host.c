/*
 * host.c: preparing the process that makes sandboxes. As a normal user it first makes a user namespace in which it
 * has the capabilities that root has, over one id only; from there one code path follows.
 */
#include "host.h"
#include "root_tree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT_BYTES = 64 * 1024 };

/* Up to TEXT_BYTES - 1 of FILE; "" if it cannot be read. The caller's to free. */
static char *read_text(const char *file)
{
	char *text = calloc(1, TEXT_BYTES);
	if (!text)
		abort();
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return text;
	ssize_t n;
	for (size_t length = 0; length < TEXT_BYTES - 1; length += (size_t)n)
		if ((n = read(fd, text + length, TEXT_BYTES - 1 - length)) <= 0)
			break;
	close(fd);
	return text;
}

static bool file_has_range(const char *file)
{
	char *text = read_text(file);
	bool mapped = id_range_is_mapped(text);
	free(text);
	return mapped;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	const uint32_t wanted = 1u << CAP_SYS_ADMIN | 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL;
	return (data[0].effective & wanted) == wanted;
}

static void prepare_ids(struct sandbox_host *host)
{
	host->own = (struct id_pair){geteuid(), getegid()};
	host->has_ranges = host->own.uid == 0 && has_capabilities() && file_has_range("/proc/self/uid_map") &&
	                   file_has_range("/proc/self/gid_map");
	id_range_init(&host->ids);
	static const char *const files[] = {"/etc/subuid", "/etc/subgid"};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char *text = read_text(files[i]);
		id_range_exclude(&host->ids, text);
		free(text);
	}
}

static int enter_namespaces(const struct sandbox_host *host, struct error *err)
{
	if (!host->has_ranges) {
		if (unshare(CLONE_NEWUSER) < 0)
			return error_set(err, errno, "make a user namespace (is it forbidden for users on this host?)");
		if (id_single_map(host->own, host->own, err) < 0)
			return -1;
	}
	if (unshare(CLONE_NEWNS) < 0)
		return error_set(err, errno, "make a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_set(err, errno, "make the mounts private");
	return 0;
}

/* Whether something is mounted below /proc: then a user namespace gets no new one (mount_too_revealing() of the kernel's
 * fs/namespace.c). */
static bool is_proc_covered(void)
{
	char *text = read_text("/proc/self/mounts");
	bool is_covered = strstr(text, " /proc/") != NULL;
	free(text);
	return is_covered;
}

/* As real root a whole one can be put in front, which the sandboxes' namespaces inherit; this process's own namespace is
 * private. In a container's user namespace it cannot, and the probe says so. */
static void uncover_proc(const struct sandbox_host *host)
{
	if (host->has_ranges && is_proc_covered())
		(void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static bool is_cgroup_name(const char *name)
{
	size_t length = strlen(name);
	return length >= 1 && length <= 40 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static void finish(struct sandbox_host *host)
{
	for (int i = 0; i < SECCOMP_PROGRAMS; i++)
		if (host->filters[i] >= 0)
			close(host->filters[i]);
	free(host->staging);
	free(host);
}

static int prepare(struct sandbox_host *host, struct error *err)
{
	for (int i = 0; i < SECCOMP_PROGRAMS; i++)
		if ((host->filters[i] = seccomp_compile((enum seccomp_program)i, err)) < 0)
			return -1;
	if (enter_namespaces(host, err) < 0)
		return -1;
	uncover_proc(host);
	return root_tree_build(host->staging, err);
}

struct sandbox_host *sandbox_host_create(const struct sandbox_host_options *options, struct error *err)
{
	if (!is_cgroup_name(options->cgroup_name)) {
		error_set(err, EINVAL, "cgroup name `%s`: 1 to 40 of a-z, 0-9 and - are allowed", options->cgroup_name);
		return NULL;
	}
	struct sandbox_host *host = calloc(1, sizeof *host);
	if (!host || !(host->staging = strdup(options->staging)))
		abort();
	host->init_fd = options->init_fd;
	memset(host->filters, 0xff, sizeof host->filters); /* -1: none */
	prepare_ids(host);
	if (prepare(host, err) < 0) {
		finish(host);
		return NULL;
	}
	cgroup_host_init(&host->cgroups, options->cgroup_name);
	sandbox_probe(host);
	return host;
}

void sandbox_host_destroy(struct sandbox_host *host)
{
	if (!host)
		return;
	assert(host->boxes == 0);
	cgroup_host_finish(&host->cgroups);
	root_tree_remove(host->staging);
	finish(host);
}

const struct layer_report *sandbox_host_layers(const struct sandbox_host *host)
{
	return &host->report;
}

int sandbox_host_sweep(struct sandbox_host *host, struct error *err)
{
	if (host->boxes > 0)
		return error_set(err, EBUSY, "sweep: %u sandboxes are in use", host->boxes);
	return cgroup_host_sweep(&host->cgroups, err);
}
