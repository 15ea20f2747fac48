#include "identity.h"

#include "sandbox/id_range.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int identity_find(struct identity *identity, const char *name, struct error *err)
{
	if (geteuid() != 0) {
		*identity = (struct identity){.uid = geteuid(), .gid = getegid()};
		return name ? error_set(err, 0, "--user: only root can run the gateway as another user") : 0;
	}
	errno = 0;
	const struct passwd *user = getpwnam(name ? name : "sandbar");
	if (!user && name)
		return error_set(err, errno, "--user: there is no user `%.100s`", name);
	if (user && user->pw_uid == 0)
		return error_set(err, 0, "--user: the gateway does not run as root");
	*identity = (struct identity){.uid = ID_OF_GATEWAY, .gid = ID_OF_GATEWAY, .changes = true};
	if (user) {
		identity->uid = user->pw_uid;
		identity->gid = user->pw_gid;
	}
	return 0;
}

/* Without a bounding set no program gives capabilities back, not even to uid 0 of a user namespace. */
static void empty_bounding_set(void)
{
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

static int clear_capabilities(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	if (syscall(SYS_capset, &header, none) < 0)
		return error_set(err, errno, "give up all capabilities");
	return 0;
}

int identity_assume(const struct identity *identity, struct error *err)
{
	empty_bounding_set();
	if (identity->changes) {
		if (setgroups(0, NULL) < 0)
			return error_set(err, errno, "give up all groups");
		if (setresgid(identity->gid, identity->gid, identity->gid) < 0)
			return error_set(err, errno, "take the group %u", identity->gid);
		if (setresuid(identity->uid, identity->uid, identity->uid) < 0)
			return error_set(err, errno, "take the user %u", identity->uid);
	}
	if (clear_capabilities(err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, errno, "give up new privileges");
	return 0;
}
