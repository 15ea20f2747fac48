#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPTIMIZE_TREE = 2, LIST_INSTRUCTIONS = 3840 }; /* with the guards within the kernel's BPF_MAXINSNS, 4096 */

enum row_action { ALLOW, ROW_EPERM, ROW_ENOSYS, INIT };

struct call_row {
	const char *name;
	enum row_action action;
};

#define ACTION_ALLOW ALLOW
#define ACTION_EPERM ROW_EPERM
#define ACTION_ENOSYS ROW_ENOSYS
#define ACTION_INIT INIT
static const struct call_row rows[] = {
#define CALL(name, action) {#name, ACTION_##action},
#include "seccomp_table.def"
#undef CALL
};

static uint32_t action_of(enum row_action action, enum seccomp_program program)
{
	if (action == INIT)
		action = program == SECCOMP_PROGRAM_INIT ? ALLOW : ROW_EPERM;
	return action == ALLOW ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(action == ROW_EPERM ? EPERM : ENOSYS);
}

static int add_rows(scmp_filter_ctx context, enum seccomp_program program, struct error *err)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int number = seccomp_syscall_resolve_name(rows[i].name);
		uint32_t action = action_of(rows[i].action, program);
		/* Negative: this architecture or this libseccomp has no such call. ENOSYS is what the rest gets. */
		if (number < 0 || action == SCMP_ACT_ERRNO(ENOSYS))
			continue;
		int status = seccomp_rule_add(context, action, number, 0);
		if (status < 0)
			return error_set(err, -status, "seccomp rule for `%s`", rows[i].name);
	}
	return 0;
}

/* Write the list's program into FD. */
static int compile_list(int fd, enum seccomp_program program, struct error *err)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!context)
		return error_set(err, ENOMEM, "seccomp_init");
	int result = -1;
	int status = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (status == 0)
		status = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_TREE);
	if (status < 0)
		error_set(err, -status, "seccomp_attr_set");
	else if (add_rows(context, program, err) == 0)
		result = (status = seccomp_export_bpf(context, fd)) < 0 ? error_set(err, -status, "seccomp_export_bpf") : 0;
	seccomp_release(context);
	return result;
}

static int write_guards(int fd, struct error *err)
{
	struct sock_filter code[SECCOMP_GUARD_INSTRUCTIONS];
	size_t bytes = seccomp_guard_compile(code) * sizeof code[0];
	return write(fd, code, bytes) == (ssize_t)bytes ? 0 : error_set(err, errno, "write a seccomp program");
}

static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int seccomp_compile(enum seccomp_program program, struct error *err)
{
	int fd = memfd_create("seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return error_set(err, errno, "memfd_create");
	/* The jumps of both parts are relative, and the guards end by falling through. */
	if (write_guards(fd, err) < 0 || compile_list(fd, program, err) < 0) {
		close(fd);
		return -1;
	}
	if (fcntl(fd, F_ADD_SEALS, seals) < 0) {
		error_set(err, errno, "seal a seccomp program");
		close(fd);
		return -1;
	}
	return fd;
}

int seccomp_load_fd(int fd, struct error *err)
{
	struct sock_filter code[SECCOMP_GUARD_INSTRUCTIONS + LIST_INSTRUCTIONS];
	ssize_t bytes = pread(fd, code, sizeof code, 0);
	if (bytes <= 0)
		return error_set(err, errno, "read a seccomp program");
	struct sock_fprog fprog = {.len = (unsigned short)((size_t)bytes / sizeof code[0]), .filter = code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog) < 0)
		return error_set(err, errno, "load a seccomp program");
	return 0;
}
