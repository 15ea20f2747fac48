#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVERYTHING (LANDLOCK_OWN | LANDLOCK_DEVICE | LANDLOCK_FS(MAKE_CHAR) | LANDLOCK_FS(MAKE_BLOCK))

/* Linux's own values (include/uapi/linux/landlock.h), which our headers lack. */
enum { TCP_BIND = 1 << 0, TCP_CONNECT = 1 << 1 };
enum { SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0, SCOPE_SIGNAL = 1 << 1 };

/* struct landlock_ruleset_attr as of ABI 6: an older kernel takes it as long as what it does not know is 0. */
struct ruleset {
	uint64_t files;
	uint64_t network;
	uint64_t scopes;
};

static uint64_t known_rights(int abi)
{
	uint64_t rights = EVERYTHING;
	if (abi < LANDLOCK_ABI_TRUNCATE)
		rights &= ~LANDLOCK_FS(TRUNCATE);
	if (abi < LANDLOCK_ABI_IOCTL)
		rights &= ~LANDLOCK_FS(IOCTL_DEV);
	return rights;
}

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return abi < LANDLOCK_ABI_LEAST ? 0 : (int)abi;
}

static int add_below(int ruleset, int fd, uint64_t rights)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = fd};
	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
}

static int add_rule(int ruleset, const struct landlock_rule *rule, uint64_t known)
{
	if (!rule->path)
		return add_below(ruleset, rule->fd, rule->rights & known);
	int type = rule->rights & LANDLOCK_LIST ? O_DIRECTORY : 0;
	int fd = open(rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC | type);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	int result = add_below(ruleset, fd, rule->rights & known);
	int errnum = errno;
	close(fd);
	errno = errnum;
	return result;
}

static int restrict_to(int ruleset, const struct landlock_rule *rules, size_t count, uint64_t known)
{
	for (size_t i = 0; i < count; i++)
		if (add_rule(ruleset, &rules[i], known) < 0)
			return -1;
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

int landlock_restrict(const struct landlock_rule *rules, size_t count, bool no_tcp)
{
	int abi = landlock_abi();
	if (abi == 0)
		return 0;
	const struct ruleset attributes = {
		.files = known_rights(abi),
		.network = no_tcp && abi >= LANDLOCK_ABI_TCP ? TCP_BIND | TCP_CONNECT : 0,
		.scopes = abi < LANDLOCK_ABI_SCOPES ? 0 : SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL,
	};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	if (ruleset < 0)
		return -1;
	int result = restrict_to(ruleset, rules, count, attributes.files);
	int errnum = errno;
	close(ruleset);
	errno = errnum;
	return result < 0 ? -1 : abi;
}
