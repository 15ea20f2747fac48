/* Becoming somebody else: other ids, and programs that carry privileges with them. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OWN_FILE "/tmp/probe.own"

static int make_own_file(void)
{
	int fd = open(OWN_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	if (fd < 0)
		return -1;
	return close(fd);
}

/* Where it is ours already it was given nowhere. */
static int give_away(const struct probe *probe)
{
	struct stat before, after;
	if (make_own_file() < 0 || stat(OWN_FILE, &before) < 0)
		return errno;
	if (chown(OWN_FILE, (uid_t)probe->arguments[0], (gid_t)probe->arguments[1]) < 0 || stat(OWN_FILE, &after) < 0)
		return errno;
	return before.st_uid == after.st_uid && before.st_gid == after.st_gid ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

struct identity {
	uid_t uids[3];
	gid_t gids[3];
	struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
};

static int read_identity(struct identity *identity)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	memset(identity, 0, sizeof *identity);
	if (getresuid(&identity->uids[0], &identity->uids[1], &identity->uids[2]) < 0 ||
	    getresgid(&identity->gids[0], &identity->gids[1], &identity->gids[2]) < 0)
		return -1;
	return (int)syscall(SYS_capget, &header, identity->capabilities);
}

/* Who is 0 in name may ask to be 0: he must get nothing by it, above all no capability. */
static int become(const struct probe *probe)
{
	struct identity before, after;
	if (read_identity(&before) < 0)
		return errno;
	int outcome = attempt_call(probe);
	if (outcome != OUTCOME_OPEN || read_identity(&after) < 0)
		return outcome;
	return memcmp(&before, &after, sizeof before) == 0 ? OUTCOME_NOTHING : OUTCOME_OPEN;
}

/* setfsuid(2) tells no error: it returns what was before. */
static int change_fsuid(const struct probe *probe)
{
	(void)probe;
	int before = setfsuid((uid_t)-1);
	setfsuid(0);
	return setfsuid((uid_t)-1) != before ? OUTCOME_OPEN : OUTCOME_NOTHING;
}

static int set_file_attribute(const struct probe *probe)
{
	/* VFS_CAP_REVISION_2 with all of CAP_SYS_ADMIN's word, effective. */
	static const uint32_t value[5] = {0x02000001u, 0x00200000u, 0, 0, 0};
	if (make_own_file() < 0)
		return errno;
	return outcome_of(setxattr(OWN_FILE, probe->path, value, sizeof value, 0));
}

/* A setuid program of the host gives its id only where setuid programs count: then its child could be signalled by us no
 * more. It is started with an argument that does nothing. */
static int run_setuid_program(const struct probe *probe)
{
	static const char *const programs[] = {"/usr/bin/su", "/usr/bin/passwd", "/usr/bin/newgrp", "/usr/bin/chsh"};
	struct stat status;
	(void)probe;
	for (size_t i = 0; i < COUNT(programs); i++) {
		if (stat(programs[i], &status) < 0 || !(status.st_mode & S_ISUID))
			continue;
		pid_t pid = fork();
		if (pid == 0) {
			int null = open("/dev/null", O_RDWR);
			dup2(null, 0), dup2(null, 1), dup2(null, 2);
			execl(programs[i], programs[i], (char *)NULL);
			_exit(127);
		}
		usleep(20000);
		int outcome = kill(pid, 0) == 0 ? OUTCOME_NOTHING : OUTCOME_OPEN;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return outcome;
	}
	return OUTCOME_SKIPPED;
}

/* Credentials on a socket that are not ours: process 1, user 0. */
static int forge_credentials(const struct probe *probe)
{
	int ends[2];
	struct ucred forged = {.pid = 1, .uid = (uid_t)probe->arguments[0], .gid = 0};
	char control[CMSG_SPACE(sizeof forged)] = {0}, byte = 'x';
	struct iovec piece = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
		return errno;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_CREDENTIALS;
	header->cmsg_len = CMSG_LEN(sizeof forged);
	memcpy(CMSG_DATA(header), &forged, sizeof forged);
	return outcome_of(sendmsg(ends[0], &message, 0));
}

/* clang-format off */
/* For who is 0 in name (a template's `user = root`) it is a change of nothing. */
#define BECOME(name_, attempt_, number_, ...) \
	{.name = name_, .attempt = attempt_, .control = "credentials", .expected = {EPERM, EINVAL, OUTCOME_NOTHING}, .run = become, \
	 .number = number_, .arguments = {__VA_ARGS__}}
#define KEEP (unsigned long)-1
#define ATTRIBUTE(name, attribute) \
	PATH(name, "set " attribute " on a file of our own", "capabilities", E(EPERM, EACCES, EOPNOTSUPP), set_file_attribute, attribute, 0)

const struct probe PROBES_credentials[] = {
	BECOME("setuid-0", "setuid(0)", SYS_setuid, 0), BECOME("setgid-0", "setgid(0)", SYS_setgid, 0),
	BECOME("setuid-other", "setuid(1001)", SYS_setuid, 1001), BECOME("setgid-other", "setgid(5)", SYS_setgid, 5),
	BECOME("setresuid-0", "setresuid(-1, 0, -1)", SYS_setresuid, KEEP, 0, KEEP), BECOME("setresgid-0", "setresgid(-1, 0, -1)", SYS_setresgid, KEEP, 0, KEEP),
	BECOME("setreuid-0", "setreuid(-1, 0)", SYS_setreuid, KEEP, 0), BECOME("setregid-0", "setregid(-1, 0)", SYS_setregid, KEEP, 0),
	BECOME("drop-groups", "setgroups(0)", SYS_setgroups, 0, 0),
	RUN("setfsuid-0", "setfsuid(0)", "credentials", E(OUTCOME_NOTHING), 0, change_fsuid),
	RUN("setuid-program", "run a setuid program of the host", "no_new_privs", E(OUTCOME_NOTHING), PROBE_FORKS, run_setuid_program),
	{.name = "chown-to-root", .attempt = "give a file to root", .control = "capabilities", .expected = {EPERM, EINVAL, OUTCOME_NOTHING}, .run = give_away, .arguments = {0, 0}},
	{.name = "chown-to-other", .attempt = "give a file to user 1001", .control = "capabilities", .expected = {EPERM, EINVAL}, .run = give_away, .arguments = {1001, 1001}},
	{.name = "chown-to-user", .attempt = "give a file to user 1000", .control = "capabilities", .expected = {EPERM, EINVAL, OUTCOME_NOTHING}, .run = give_away, .arguments = {1000, 1000}},
	{.name = "chown-to-init", .attempt = "give a file to user 1", .control = "capabilities", .expected = {EPERM, EINVAL}, .run = give_away, .arguments = {1, 1}},
	BECOME("setresuid-init", "setresuid(1, 1, 1)", SYS_setresuid, 1, 1, 1), BECOME("setresgid-init", "setresgid(1, 1, 1), who sees all in /proc", SYS_setresgid, 1, 1, 1),
	ATTRIBUTE("file-capability", "security.capability"), ATTRIBUTE("trusted-attribute", "trusted.overlay.opaque"),
	{.name = "forge-root", .attempt = "SCM_CREDENTIALS of process 1, user 0", .control = "credentials", .expected = {EPERM, EINVAL}, .run = forge_credentials},
	CALL("unset-no-new-privs", "PR_SET_NO_NEW_PRIVS 0", "no_new_privs", E(EINVAL), 0, SYS_prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0),
	CALL("securebits", "PR_SET_SECUREBITS 0", "capabilities", E(EPERM), 0, SYS_prctl, PR_SET_SECUREBITS, 0, 0, 0, 0),
	CALL("keep-capabilities", "PR_SET_KEEPCAPS", "capabilities", E(EPERM, EINVAL), 0, SYS_prctl, PR_SET_SECUREBITS, SECBIT_KEEP_CAPS, 0, 0, 0),
	CALL("memory-map", "PR_SET_MM", "capabilities", E(EPERM, EINVAL), 0, SYS_prctl, PR_SET_MM, PR_SET_MM_START_BRK, 0, 0, 0),
	CALL("io-flusher", "PR_SET_IO_FLUSHER", "capabilities", E(EPERM), 0, SYS_prctl, PR_SET_IO_FLUSHER, 1, 0, 0, 0),
};
/* clang-format on */
PROBE_TABLE_END(credentials)
