/*
 * System calls that nothing inside needs. EPERM where a program must hear no; ENOSYS where a library then takes another
 * way. Every argument is one that does nothing where the call is allowed.
 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT(text) (unsigned long)(text)
#define NONE (unsigned long)-1
#define USER_MODE_ONLY 1
#define KEYCTL_SESSION 1ul /* KEYCTL_JOIN_SESSION_KEYRING: a new anonymous one */

static unsigned char zeroes[256]; /* a null structure, for calls that want one */
#define ZEROES (unsigned long)(uintptr_t)zeroes

enum {
	NR_cachestat = 451,
	NR_lsm_get_self_attr = 459,
	NR_lsm_list_modules = 461,
	NR_file_setattr = 469,
	NR_future = 900
};

/* clang-format off */
#define NO(name, number, ...) CALL(#name, #name, "seccomp", E(EPERM), PROBE_GRAVE, number, __VA_ARGS__)
#define NONESUCH(name, number, ...) CALL(#name, #name, "seccomp", E(ENOSYS), PROBE_GRAVE, number, __VA_ARGS__)
#define NO_SHOWN(name, attempt, number, ...) CALL(name, attempt, "seccomp", E(EPERM), PROBE_SHOWN, number, __VA_ARGS__)
#define NONESUCH_SHOWN(name, attempt, number, ...) CALL(name, attempt, "seccomp", E(ENOSYS), PROBE_SHOWN, number, __VA_ARGS__)

const struct probe PROBES_calls[] = {
	/* The whole machine. */
	NO(reboot, SYS_reboot, 0, 0, 0, 0), NO(kexec_load, SYS_kexec_load, 0, NONE, 0, NONE), NO(kexec_file_load, SYS_kexec_file_load, NONE, NONE, 0, 0, NONE),
	NO(init_module, SYS_init_module, 0, 0, TEXT("")), NO(finit_module, SYS_finit_module, NONE, TEXT(""), 0), NO(delete_module, SYS_delete_module, TEXT("none such"), O_NONBLOCK),
	NO(swapon, SYS_swapon, TEXT("/none"), 0), NO(swapoff, SYS_swapoff, TEXT("/none")), NO(acct, SYS_acct, TEXT("/none")), NO(syslog, SYS_syslog, 10, 0, 0),
	NO(iopl, SYS_iopl, 0), NO(ioperm, SYS_ioperm, 0, 0, 0), NO(quotactl, SYS_quotactl, 0, TEXT("/none"), 0, 0), NO(quotactl_fd, SYS_quotactl_fd, NONE, 0, 0, 0),
	NO(settimeofday, SYS_settimeofday, 0, 0), NO(clock_settime, SYS_clock_settime, 0, 0), NO(adjtimex, SYS_adjtimex, ZEROES), NO(clock_adjtime, SYS_clock_adjtime, 0, ZEROES),
	/* Code and counters in the kernel. */
	NO(bpf-map, SYS_bpf, 0, ZEROES, 0), NO(bpf-program, SYS_bpf, 5, ZEROES, 48), NO(perf_event_open, SYS_perf_event_open, ZEROES, 0, NONE, NONE, 0),
	NONESUCH_SHOWN("io_uring_setup", "io_uring_setup, which makes sockets past a filter", SYS_io_uring_setup, 1, ZEROES + 128),
	NONESUCH(io_uring_enter, SYS_io_uring_enter, NONE, 0, 0, 0, 0, 0), NONESUCH(io_uring_register, SYS_io_uring_register, NONE, 0, 0, 0),
	NONESUCH(userfaultfd, SYS_userfaultfd, 0), NONESUCH_SHOWN("userfaultfd-user", "userfaultfd(USER_MODE_ONLY)", SYS_userfaultfd, USER_MODE_ONLY),
	NONESUCH(memfd_secret, SYS_memfd_secret, 0), NO(fanotify_init, SYS_fanotify_init, 0, 0), NO(fanotify_mark, SYS_fanotify_mark, NONE, 0, 0, NONE, 0),
	/* Keyrings are not namespaced. */
	NO_SHOWN("add_key", "add_key to one's own keyring", SYS_add_key, TEXT("user"), TEXT("sandbar-probe"), TEXT("x"), 1, (unsigned long)-2),
	NO(request_key, SYS_request_key, TEXT("user"), TEXT("sandbar-none"), 0, 0),
	NO_SHOWN("keyctl-session", "keyctl: a new session keyring", SYS_keyctl, KEYCTL_SESSION, 0), NO(keyctl-read, SYS_keyctl, 11, (unsigned long)-3, 0, 0),
	/* Files by handle reach past a root (CVE-2014-3519, shocker). */
	NO(open_by_handle_at, SYS_open_by_handle_at, NONE, 0, 0), NO(name_to_handle_at, SYS_name_to_handle_at, NONE, TEXT("/"), 0, 0, 0), NO(lookup_dcookie, SYS_lookup_dcookie, 0, 0, 0),
	/* Other processes. */
	NO_SHOWN("kcmp", "kcmp of oneself", SYS_kcmp, 0, 0, KCMP_SIGHAND, 0, 0), NO(pidfd_getfd, SYS_pidfd_getfd, NONE, 0, 0), NO(process_madvise, SYS_process_madvise, NONE, 0, 0, 0, 0),
	NO(process_mrelease, SYS_process_mrelease, NONE, 0), NO(vmsplice, SYS_vmsplice, NONE, 0, 0, 0),
	/* Memory policies, which libraries only try. */
	NONESUCH(mbind, SYS_mbind, 0, 0, 0, 0, 0, 0), NONESUCH(set_mempolicy, SYS_set_mempolicy, 0, 0, 0), NONESUCH(get_mempolicy, SYS_get_mempolicy, 0, 0, 0, 0, 0),
	NONESUCH(migrate_pages, SYS_migrate_pages, 0, 0, 0, 0), NONESUCH(move_pages, SYS_move_pages, 0, 0, 0, 0, 0, 0),
	/* What weakens a process, so that it can be exploited. */
	CALL("personality-no-random", "personality(ADDR_NO_RANDOMIZE)", "seccomp", E(EPERM), PROBE_SHOWN | PROBE_BUILD, SYS_personality, ADDR_NO_RANDOMIZE),
	NO_SHOWN("personality-read-exec", "personality(READ_IMPLIES_EXEC)", SYS_personality, READ_IMPLIES_EXEC),
	NO_SHOWN("personality-mmap-zero", "personality(MMAP_PAGE_ZERO)", SYS_personality, MMAP_PAGE_ZERO),
	NO(modify_ldt, SYS_modify_ldt, 1, ZEROES, 0),
	/* Old ones, and new ones that nobody has looked at yet. */
	NONESUCH(uselib, SYS_uselib, TEXT("/none")), NONESUCH(ustat, SYS_ustat, 0, 0), NONESUCH(sysfs, SYS_sysfs, 3, 0), NONESUCH(_sysctl, SYS__sysctl, 0),
	NONESUCH(nfsservctl, SYS_nfsservctl, 0, 0, 0), NONESUCH_SHOWN("lsm_get_self_attr", "lsm_get_self_attr, Linux 6.8", NR_lsm_get_self_attr, 0, 0, 0, 0),
	NONESUCH_SHOWN("lsm_list_modules", "lsm_list_modules, Linux 6.8", NR_lsm_list_modules, 0, 0, 0), NONESUCH(file_setattr, NR_file_setattr, NONE, 0, 0, 0, 0),
	NONESUCH(a-call-of-the-future, NR_future, 0),
};
/* clang-format on */
PROBE_TABLE_END(calls)
