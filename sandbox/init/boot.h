/*
 * boot.h: how init is started. sandbox/child.c and init/ read the same sentences.
 *
 * Init is executed as process 1 of the sandbox, in its final namespaces and root, in session/init, without
 * signal handlers and with no signal blocked. It has exactly these descriptors:
 *
 *   0-2  /dev/null of the sandbox
 *   3    its end of the SOCK_SEQPACKET pair (wire.h)
 *   4    sealed memfd: the seccomp program (array of struct sock_filter) that user processes get
 *   5    sealed memfd: the seccomp program that init puts on itself; it allows whatever the one of fd 4 allows
 *   6    the root of a proc of its own pid namespace, in which it sees every process
 *
 * An empty program means that the host has no seccomp: nothing is loaded. Where both are the same, init loads it once
 * and children inherit it, which spares each start some 0.15 ms (what init's own refuses with EPERM is told: denial.h); init needs nothing that the user's list refuses
 * (setgroups(2) it calls before).
 *
 * argv: "init", then decimal: uid and gid of user processes (inside), RLIMIT_NOFILE and RLIMIT_FSIZE of a user
 * process (0 = no limit). The environment is empty. As root's sandbox it runs as 0:0 inside with every
 * capability of its user namespace, and where 0 is the users' it becomes INIT_ASIDE_ID before anything else runs; as
 * a normal user's it runs as uid:gid itself and has none (whoever executes it has emptied the bounding set, which init
 * cannot then). Limits that init does not set (RLIMIT_NPROC, RLIMIT_AS) are passed on to user processes as they are.
 *
 * It finds /proc of its own pid namespace, in which it may see less than behind fd 6 and may write
 * /proc/self/oom_score_adj; /dev/pts/ptmx of a devpts of its own (ptmxmode=0666); /bin/sh for scripts
 * without `#!`.
 *
 * Its first message, unasked, is INIT_SYNCED with epoch 0: it has confined itself and waits for requests. It is then
 * not dumpable, dies with the keeper, has no_new_privs, an empty bounding set, locked securebits, of its capabilities
 * only CHOWN, KILL, SETGID and SETUID, under Landlock (sandbox/landlock.h) where the kernel has it, and its own filter. Where something failed, it sends INIT_REFUSED instead, with
 * process 0, value = enum init_boot_step and flags = errno, and exits with 1.
 *
 * What init's filter must allow besides all of the user's: capset, clone (without new namespaces), close_range, dup3,
 * epoll_create1, epoll_ctl, epoll_wait, epoll_pwait, exit_group, fchown, fcntl, getdents64, ioctl, kill, mmap, munmap,
 * pidfd_open, pidfd_send_signal, pipe2, poll, prctl, prlimit64, recvmsg, rt_sigprocmask, seccomp, sendmsg, socketpair, setresgid,
 * setresuid, setsid, signalfd4, wait4. The user's filter is loaded last, as the user; after it come execve, mmap,
 * write and exit_group.
 */
#ifndef SANDBAR_INIT_BOOT_H
#define SANDBAR_INIT_BOOT_H

enum init_boot_fd {
	INIT_SOCKET_FD = 3,
	INIT_USER_FILTER_FD = 4,
	INIT_OWN_FILTER_FD = 5,
	INIT_PROC_FD = 6,
};

/* Init's user and group inside, where the users' are 0: one that nobody has there, and that no file belongs to. */
enum { INIT_ASIDE_ID = 1 };

enum init_boot_argument { INIT_ARG_UID = 1, INIT_ARG_GID, INIT_ARG_OPEN_FILES, INIT_ARG_FILE_SIZE, INIT_ARGUMENTS };

/* What init tries, in this order. */
enum init_boot_step {
	INIT_BOOT_UNDUMPABLE = 1,
	INIT_BOOT_ARGUMENTS,
	INIT_BOOT_DESCRIPTORS,
	INIT_BOOT_FILTERS,
	INIT_BOOT_SURROUNDINGS, /* signals, directory, limits */
	INIT_BOOT_GROUPS,       /* and ids of its own */
	INIT_BOOT_CAPABILITIES,
	INIT_BOOT_NO_NEW_PRIVS,
	INIT_BOOT_PARENT, /* the keeper is gone */
	INIT_BOOT_LANDLOCK,
	INIT_BOOT_CONFINE,
	INIT_BOOT_LOOP,
};

#endif
