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
 *
 * argv: "init", then decimal: uid and gid of user processes (inside), RLIMIT_NOFILE and RLIMIT_FSIZE of a user
 * process (0 = no limit). The environment is empty. As root's sandbox it runs as 0:0 inside with every
 * capability of its user namespace; as a normal user's it runs as uid:gid itself and has none.
 *
 * Its first message, unasked, is INIT_SYNCED with epoch 0: it has confined itself and waits for requests.
 */
#ifndef SANDBAR_INIT_BOOT_H
#define SANDBAR_INIT_BOOT_H

enum init_boot_fd {
	INIT_SOCKET_FD = 3,
	INIT_USER_FILTER_FD = 4,
	INIT_OWN_FILTER_FD = 5,
};

enum init_boot_argument { INIT_ARG_UID = 1, INIT_ARG_GID, INIT_ARG_OPEN_FILES, INIT_ARG_FILE_SIZE, INIT_ARGUMENTS };

#endif
