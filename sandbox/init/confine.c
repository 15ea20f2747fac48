#include "confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct __user_cap_data_struct capability_words[_LINUX_CAPABILITY_U32S_3];

static int read_capabilities(capability_words words)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	return (int)syscall(SYS_capget, &header, words);
}

bool confine_has(unsigned capability)
{
	capability_words words;
	if (capability > CAP_LAST_CAP || read_capabilities(words) < 0)
		return false;
	return (words[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability)) != 0;
}

int confine_capabilities(uint64_t keep)
{
	capability_words words;
	if (read_capabilities(words) < 0)
		return -1;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		words[i].permitted &= (uint32_t)(keep >> (32 * i));
		words[i].effective = words[i].permitted;
		words[i].inheritable = 0;
	}
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	return (int)syscall(SYS_capset, &header, words);
}

int confine_bounds(void)
{
	/* A running kernel may know more capabilities than the headers: it says EINVAL after its last one. */
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                           SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
	                           SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0);
}

int confine_limit(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return -1;
	limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &limit);
}

int confine_filter(const struct sock_fprog *filter)
{
	if (filter->len == 0)
		return 0;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter);
}
