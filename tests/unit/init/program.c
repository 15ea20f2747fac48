/* The static program as PID 1 of namespaces of its own: what it gives up, what its processes may, and when it ends. */
#include "gateway.h"
#include "sandbox/init/boot.h"
#include "sandbox/init/startup.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* NOBODY is who root's test plays the normal user with: what is not dumpable belongs to root, which he must not be. */
enum { INNER = 1000, NOBODY = 65534, NAMESPACES = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC };

/* As root's sandbox: uid 0 inside, and a range of ids; the same, where 0 is the user's. As a normal user's: one id. */
enum mode { MODE_ROOT, MODE_NAMED, MODE_USER, MODES };

static const char *const mode_names[] = {"root", "root in name", "user"};
static const unsigned user_ids[] = {INNER, 0, INNER};

struct program {
	struct gateway gateway;
	pid_t pid;
};

static void put_file(pid_t pid, const char *name, const char *text)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && write(fd, text, strlen(text)) >= 0, "%s: %s", path, strerror(errno));
	close(fd);
}

static void map_ids(pid_t pid, enum mode mode)
{
	char uids[64], gids[64];
	if (mode != MODE_USER) {
		snprintf(uids, sizeof uids, "0 0 65536");
		snprintf(gids, sizeof gids, "0 0 65536");
	} else {
		snprintf(uids, sizeof uids, "%d %u 1", INNER, geteuid() ? geteuid() : NOBODY);
		snprintf(gids, sizeof gids, "%d %u 1", INNER, geteuid() ? getegid() : NOBODY);
		put_file(pid, "setgroups", "deny");
	}
	put_file(pid, "uid_map", uids);
	put_file(pid, "gid_map", gids);
}

/* A program that answers one system call with EPERM and allows the others. */
static int make_filter(uint32_t refused)
{
	const struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	return gateway_memfd(program, sizeof program, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
}

/* Between clone and exec: the ids, the mounts, the descriptors; 98 and more say what this host does not give. */
static _Noreturn void become_init(enum mode mode, int socket, const int filters[2], int mapped)
{
	char byte;
	const unsigned id = mode != MODE_USER ? 0 : INNER;
	if (read(mapped, &byte, 1) != 1 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		_exit(98);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(99);
	/* What is not dumpable belongs to 0 in /proc: who that is must not see it, as in a sandbox. */
	if (mount("proc", "/proc", "proc", 0, mode == MODE_NAMED ? "hidepid=invisible,gid=1" : NULL) < 0)
		_exit(100);
	if (mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=0620") < 0)
		_exit(101);
	const int sources[] = {open("/dev/null", O_RDWR), 0, 0, socket, filters[0], filters[1], open("/proc", O_PATH)};
	int high[7];
	for (int i = 0; i < 7; i++)
		high[i] = fcntl(i == 1 || i == 2 ? sources[0] : sources[i], F_DUPFD, 100);
	for (int i = 0; i < 7; i++)
		dup2(high[i], i);
	char uid[16];
	snprintf(uid, sizeof uid, "%u", user_ids[mode]);
	execle(INIT_PROGRAM, "init", uid, uid, "128", "1048576", (char *)NULL, (char *const[]){NULL});
	_exit(102);
}

static void program_open(struct program *program, enum mode mode)
{
	int pair[2], mapped[2];
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_assert_eq(pipe2(mapped, O_CLOEXEC), 0);
	const int filters[] = {make_filter(SYS_uname), make_filter(mode != MODE_USER ? SYS_mount : SYS_uname)};
	program->pid = (pid_t)syscall(SYS_clone, NAMESPACES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (program->pid == 0)
		become_init(mode, pair[1], filters, mapped[0]);
	if (program->pid < 0)
		cr_skip_test("this host gives no user namespace: %s", strerror(errno));
	map_ids(program->pid, mode);
	cr_assert_eq(write(mapped[1], "x", 1), 1);
	const int done[] = {pair[1], mapped[0], mapped[1], filters[0], filters[1]};
	for (size_t i = 0; i < sizeof done / sizeof *done; i++)
		close(done[i]);
	program->gateway = (struct gateway){.socket = pair[0], .epoch = 1};

	struct answer ready = gateway_receive(&program->gateway, PATIENCE_MS);
	if (ready.message.type == 0) {
		int status = 0;
		waitpid(program->pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) >= 98)
			cr_skip_test("this host gives no /proc or /dev/pts in a namespace (%d)", WEXITSTATUS(status));
	}
	cr_assert_eq(ready.message.type, INIT_SYNCED, "step %d: %s", ready.message.value,
	             strerror((int)ready.message.flags));
	cr_assert_eq(ready.message.epoch, 0);
	gateway_request(&program->gateway, INIT_SYNC, 0, 0, 0);
	gateway_expect(&program->gateway, INIT_SYNCED, 0);
	gateway_expect(&program->gateway, INIT_SYNC_DONE, 0);
}

/* Nobody holds the other end any more: init ends, and with it all that runs. */
static void program_close(struct program *program)
{
	int status;
	close(program->gateway.socket);
	cr_assert_eq(waitpid(program->pid, &status, 0), program->pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static bool is_possible(enum mode mode)
{
	return mode == MODE_USER || geteuid() == 0;
}

static const struct {
	const char *what;
	const char *const *argv;
	const char *expected;
} confined[] = {
	{"groups", SHELL("[ $(id -u) = $(id -g) ] && [ \"$(id -G)\" = $(id -g) ]; echo $?"), "0\n"},
	{"capabilities", SHELL("grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | tr -d '\\t0\\n'"),
     "CapInh:CapPrm:CapEff:CapAmb:"},
	{"privileges", SHELL("grep NoNewPrivs /proc/self/status"), "NoNewPrivs:\t1\n"},
	{"filter of the user", SHELL("uname 2>&1 | grep -c 'ermi'"), "1\n"},
	{"limits", SHELL("ulimit -n; ulimit -f; ulimit -c; ulimit -l"), "128\n2048\n0\n64\n"},
	{"descriptors", SHELL("ls /proc/$$/fd"), "0\n1\n2\n"},
	{"init's secrets",
     SHELL("for i in environ mem exe maps fd/3; do (cat /proc/1/$i || ls /proc/1/fd/) 2>/dev/null | head -c 9; done"),
     ""},
	{"init is not killed", SHELL("kill -9 1; kill -STOP 1; kill -TERM 1; kill -CHLD 1; echo alive"), "alive\n"},
};

Test(init_program, its_processes_are_confined)
{
	for (enum mode mode = 0; mode < MODES; mode++) {
		if (!is_possible(mode))
			continue;
		struct program program;
		char text[256];
		program_open(&program, mode);
		for (uint32_t i = 0; i < 2 * sizeof confined / sizeof *confined; i++) {
			const struct command command = {
				.process = i + 1,
				.argv = confined[i / 2].argv,
				.flags = i % 2 ? INIT_SUBREAPER : 0,
			};
			gateway_run(&program.gateway, &command, text, sizeof text);
			cr_expect_str_eq(text, confined[i / 2].expected, "%s, %s: `%s`", mode_names[mode], confined[i / 2].what,
			                 text);
		}
		char ids[32];
		snprintf(ids, sizeof ids, "%u\n%u\n", user_ids[mode], user_ids[mode]);
		gateway_run(&program.gateway,
		            &(struct command){.process = 999, .argv = SHELL("id -u; id -g"), .flags = INIT_SUBREAPER}, text,
		            sizeof text);
		cr_expect_str_eq(text, ids, "%s: `%s`", mode_names[mode], text);
		const struct command command = {
			.process = 1000,
			.argv = SHELL(
				"n() { sed -n 's/^Seccomp_filters:.//p' $1; }; echo $(($(n /proc/self/status) - $(n /proc/1/status)))"),
			.flags = INIT_SUBREAPER,
		};
		if (mode != MODE_NAMED) {
			gateway_run(&program.gateway, &command, text, sizeof text);
			cr_expect_str_eq(text, mode == MODE_ROOT ? "1\n" : "0\n", "the same filter is not loaded twice: `%s`",
			                 text);
		}
		program_close(&program);
	}
}

/* A thousand: the first hundred one by one, then at 200, 400 and 800, and what is left when it has ended. The one before
 * is another process's, and has a count of its own. */
Test(init_program, refused_calls_are_told_and_counted)
{
	for (enum mode mode = 0; mode < MODES; mode++) {
		if (!is_possible(mode))
			continue;
		struct program program;
		char script[256], text[256];
		int call = mode != MODE_USER ? SYS_mount : SYS_uname; /* init's own filter refuses it */
		snprintf(script, sizeof script,
		         "import ctypes\nc=ctypes.CDLL(None,use_errno=True)\n"
		         "print(sum(c.syscall(%d,0,0,0,0,0)==-1 and ctypes.get_errno()==1 for i in range(1000)))",
		         call);
		program_open(&program, mode);
		struct gateway *gateway = &program.gateway;
		const struct command once = {
			.process = 1, .argv = SHELL("mount /proc /proc; uname; true"), .flags = INIT_SUBREAPER};
		gateway_run(gateway, &once, text, sizeof text);
		cr_expect(gateway->denials >= 1 && gateway->denied.process == 1 && gateway->denied.value == call,
		          "%s: %u of %u, call %d", mode_names[mode], gateway->denials, gateway->denied.process,
		          gateway->denied.value);
		gateway->denials = 0;
		const struct command many = {
			.process = 2, .argv = ARGV("/usr/bin/python3", "-c", script), .flags = INIT_SUBREAPER};
		gateway_run(gateway, &many, text, sizeof text);
		cr_expect_str_eq(text, "1000\n", "%s: `%s`", mode_names[mode], text);
		cr_expect(gateway->denials == 104 && gateway->denied.user_us == 1000 && gateway->denied.process == 2,
		          "%s: %u, the last says %zu", mode_names[mode], gateway->denials, (size_t)gateway->denied.user_us);
		program_close(&program);
	}
}

static void read_status(pid_t pid, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
}

Test(init_program, it_confines_itself)
{
	if (geteuid() != 0)
		cr_skip_test("only root can see what init as root gives up");
	static const char *const lines[] = {
		"CapInh:\t0000000000000000\n",
		"CapPrm:\t00000000000000e1\n",
		"CapEff:\t00000000000000e1\n",
		"CapBnd:\t0000000000000000\n",
		"CapAmb:\t0000000000000000\n",
		"NoNewPrivs:\t1\n",
		"Seccomp:\t2\n",
		"Groups:\t \n",
	};
	/* As root tells the ids; who is 0 in name must not be who init is. */
	static const char *const ids[] = {"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n", "Uid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\n"};
	for (enum mode mode = MODE_ROOT; mode <= MODE_NAMED; mode++) {
		struct program program;
		char text[8192];
		program_open(&program, mode);
		read_status(program.pid, text, sizeof text);
		cr_expect(strstr(text, ids[mode]), "no `%s` in %s", ids[mode], text);
		for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
			cr_expect(strstr(text, lines[i]), "no `%s` in %s", lines[i], text);
		program_close(&program);
	}
}

Test(init_program, a_terminal_belongs_to_its_user)
{
	for (enum mode mode = 0; mode < MODES; mode++) {
		if (!is_possible(mode))
			continue;
		struct program program;
		char text[256];
		program_open(&program, mode);
		const struct command command = {
			.process = 1,
			.flags = INIT_TERMINAL,
			.cols = 80,
			.rows = 24,
			.argv = SHELL("tty; stat -c %u $(tty); stty size </dev/tty"),
		};
		gateway_run(&program.gateway, &command, text, sizeof text);
		char expected[64];
		snprintf(expected, sizeof expected, "/dev/pts/0\r\n%u\r\n24 80\r\n", user_ids[mode]);
		cr_expect_str_eq(text, expected, "%s: `%s`", mode_names[mode], text);
		program_close(&program);
	}
}

/* In root mode the user's processes cannot touch a subreaper; in user mode they can, and the process is lost. */
Test(init_program, a_subreaper_is_out_of_reach_of_another_user)
{
	for (enum mode mode = 0; mode < MODES; mode++) {
		if (!is_possible(mode))
			continue;
		struct program program;
		program_open(&program, mode);
		gateway_start(&program.gateway, &(struct command){.process = 1,
		                                                  .flags = INIT_SUBREAPER,
		                                                  .argv = SHELL("kill -STOP $PPID; kill -9 $PPID; exit 5")});
		struct answer started = gateway_expect(&program.gateway, INIT_STARTED, 1);
		answer_close(&started);
		struct answer exited = gateway_expect(&program.gateway, INIT_EXITED, 1);
		if (mode != MODE_USER)
			cr_expect_eq(exited.message.value, 5 << 8);
		else
			cr_expect(exited.message.flags & INIT_LOST);
		program_close(&program);
	}
}

/* The keeper is the parent: here it is a process in between, which is killed, while the socket stays open. */
Test(init_program, it_dies_with_its_parent)
{
	if (geteuid() != 0)
		cr_skip_test("as root alone, for the mapping of ids from a process in between");
	int up[2];
	struct program program;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, up), 0);
	pid_t between = fork();
	if (between == 0) {
		program_open(&program, MODE_ROOT);
		gateway_start(&program.gateway, &(struct command){.process = 1, .argv = ARGV("sleep", "60")});
		gateway_expect(&program.gateway, INIT_STARTED, 1);
		struct gateway parent = {.socket = up[1]};
		gateway_send(&parent, (struct init_message){.value = program.pid}, &program.gateway.socket, 1);
		pause();
		_exit(0);
	}
	struct gateway child = {.socket = up[0]};
	struct answer answer;
	while ((answer = gateway_receive(&child, PATIENCE_MS)).fd_count == 0)
		;
	cr_expect_eq(kill(answer.message.value, 0), 0);
	kill(between, SIGKILL);
	waitpid(between, NULL, 0);
	char byte;
	cr_expect_eq(recv(answer.fds[0], &byte, 1, 0), 0, "the socket's other end closes");
	answer_close(&answer);
}

Test(init_program, arguments_are_read_strictly)
{
	static const struct {
		const char *argv[7];
		bool is_right;
	} rows[] = {
		{{"init", "1000", "1000", "1024", "0"}, true},
		{{"init", "0", "4294967294", "0", "18446744073709551615"}, true},
		{{"init", "1000", "1000", "1024"}, false},
		{{"init", "1000", "1000", "1024", "0", "0"}, false},
		{{"init", "-1", "1000", "1024", "0"}, false},
		{{"init", "4294967295", "1000", "1024", "0"}, false},
		{{"init", " 1", "1000", "1024", "0"}, false},
		{{"init", "+1", "1000", "1024", "0"}, false},
		{{"init", "1x", "1000", "1024", "0"}, false},
		{{"init", "", "1000", "1024", "0"}, false},
		{{"init", "1000", "1000", "3", "0"}, false},
		{{"init", "1000", "1000", "1024", "18446744073709551616"}, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct settings settings = {0};
		int argc = 0;
		while (rows[i].argv[argc])
			argc++;
		cr_expect_eq(startup_read_arguments(argc, (char **)rows[i].argv, &settings), rows[i].is_right, "row %zu", i);
	}
}
