#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux's own values, for headers that are older than the kernel. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
enum { SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0, SCOPE_SIGNAL = 1 << 1 };

/* struct landlock_ruleset_attr as of ABI 6: an older kernel takes it as long as what it does not know is 0. */
struct ruleset {
	uint64_t files;
	uint64_t network;
	uint64_t scopes;
};

#define FS(right) LANDLOCK_ACCESS_FS_##right

/* What a right is named by in the table. Making devices is nobody's. */
#define LIST FS(READ_DIR)
#define READ (LIST | FS(READ_FILE))
#define RUN (READ | FS(EXECUTE))
#define EDIT (FS(READ_FILE) | FS(WRITE_FILE) | FS(TRUNCATE))
#define DEVICE (EDIT | FS(IOCTL_DEV))
#define CHANGE                                                                                                      \
	(READ | EDIT | FS(REMOVE_DIR) | FS(REMOVE_FILE) | FS(MAKE_DIR) | FS(MAKE_REG) | FS(MAKE_SOCK) | FS(MAKE_FIFO) | \
	 FS(MAKE_SYM) | FS(REFER))
#define OWN (CHANGE | FS(EXECUTE))
#define EVERYTHING (OWN | DEVICE | FS(MAKE_CHAR) | FS(MAKE_BLOCK))

struct rule {
	const char *path;
	uint64_t rights;
};

/* A row holds for all that is below its path, together with the rows above it. What a host does not have, or has as a
 * link into another row (merged /usr), is passed over. */
static const struct rule rules[] = {
	{"/", LIST},
	{"/usr", RUN},
	{"/bin", RUN},
	{"/sbin", RUN},
	{"/lib", RUN},
	{"/lib32", RUN},
	{"/lib64", RUN},
	{"/libx32", RUN},
	{"/etc", READ},
	{"/var", READ},
	{"/work", OWN},
	{"/tmp", OWN},
	{"/var/tmp", OWN},
	{"/run", OWN},
	{"/dev/shm", CHANGE},
	{"/dev/mqueue", READ | EDIT | FS(MAKE_REG) | FS(REMOVE_FILE)},
	{"/dev/pts", LIST | DEVICE},
	{"/dev/null", DEVICE},
	{"/dev/zero", DEVICE},
	{"/dev/full", DEVICE},
	{"/dev/random", DEVICE},
	{"/dev/urandom", DEVICE},
	{"/dev/tty", DEVICE},
	/* A thread's name and the like are written there; what is the machine's, child_mounts.c has made read-only. */
	{"/proc", READ | EDIT},
};

static uint64_t known_rights(int abi)
{
	uint64_t rights = EVERYTHING;
	if (abi < 3)
		rights &= ~FS(TRUNCATE);
	if (abi < LANDLOCK_ABI_IOCTL)
		rights &= ~FS(IOCTL_DEV);
	return rights;
}

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return abi < LANDLOCK_ABI_LEAST ? 0 : (int)abi;
}

static int add_rule(int ruleset, const struct rule *rule, uint64_t known)
{
	int type = rule->rights & LIST ? O_DIRECTORY : 0;
	int fd = open(rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC | type);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	struct landlock_path_beneath_attr beneath = {.allowed_access = rule->rights & known, .parent_fd = fd};
	int result = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
	int errnum = errno;
	close(fd);
	errno = errnum;
	return result;
}

static int restrict_to(int ruleset, uint64_t known, int proc)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = READ, .parent_fd = proc};
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0)
		return -1;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (add_rule(ruleset, &rules[i], known) < 0)
			return -1;
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

int landlock_put_on(int proc)
{
	int abi = landlock_abi();
	if (abi == 0)
		return 0;
	const struct ruleset attributes = {
		.files = known_rights(abi),
		.scopes = abi < LANDLOCK_ABI_SCOPES ? 0 : SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL,
	};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	if (ruleset < 0)
		return -1;
	int result = restrict_to(ruleset, attributes.files, proc);
	int errnum = errno;
	close(ruleset);
	errno = errnum;
	return result < 0 ? -1 : abi;
}
