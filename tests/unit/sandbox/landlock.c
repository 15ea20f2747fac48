/*
 * Landlock alone, on the host: what it refuses to who could do it otherwise, and what it must leave alone.
 */
#include "sandbox/landlock.h"
#include "cell.h"
#include "story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

static char folder[64];

static int make_at(const char *name, const char *what)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return strcmp(what, "folder") == 0 ? mkdir(path, 0700) : mknod(path, S_IFCHR | 0600, 0);
}

static int rename_between_folders(void)
{
	char from[128], to[128];
	snprintf(from, sizeof from, "%s/a/f", folder);
	snprintf(to, sizeof to, "%s/b/f", folder);
	int fd = open(from, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	close(fd);
	return rename(from, to);
}

static int open_as(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

/* Every system has these: none of them is a row of the table. */
static int read_a_foreign_file(void)
{
	return open_as("/sys/devices/system/cpu/online", O_RDONLY);
}

static int write_to_usr(void)
{
	return open_as("/usr", O_WRONLY | O_TMPFILE);
}

static int make_a_whiteout(void)
{
	return make_at("device", "device");
}

static int use_null(void)
{
	return open_as("/dev/null", O_RDWR | O_TRUNC);
}

static int read_usr(void)
{
	return open_as("/usr/bin/env", O_RDONLY);
}

static int make_a_folder(void)
{
	return make_at("c", "folder");
}

static int name_a_thread(void)
{
	int fd = open("/proc/self/comm", O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, "x", 1);
	close(fd);
	return n == 1 ? 0 : -1;
}

static int size_a_terminal(void)
{
	int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	int result = master < 0 || unlockpt(master) < 0 ? -1 : ioctl(master, TIOCSWINSZ, &size);
	close(master);
	return result;
}

static int signal_the_outside(void)
{
	return kill(getppid(), 0);
}

static struct sockaddr_un abstract = {.sun_family = AF_UNIX};

static int reach_an_abstract_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result = connect(fd, (struct sockaddr *)&abstract, sizeof abstract);
	int errnum = errno;
	close(fd);
	errno = errnum;
	return result;
}

static const struct attempt {
	const char *name;
	int (*run)(void);
	int errnum; /* under Landlock; 0 = it must work */
	int abi;    /* from which on that holds */
} attempts[] = {
	{"read what no row names", read_a_foreign_file, EACCES, 1},
	{"write to /usr", write_to_usr, EACCES, 1},
	{"make a device node", make_a_whiteout, EACCES, 1},
	{"signal the outside", signal_the_outside, EPERM, LANDLOCK_ABI_SCOPES},
	{"reach an abstract socket", reach_an_abstract_socket, EPERM, LANDLOCK_ABI_SCOPES},
	{"use /dev/null", use_null, 0, 1},
	{"read /usr", read_usr, 0, 1},
	{"make a folder", make_a_folder, 0, 1},
	{"rename between folders", rename_between_folders, 0, LANDLOCK_ABI_LEAST},
	{"name a thread", name_a_thread, 0, 1},
	{"size a terminal", size_a_terminal, 0, 1},
};

/* The control run: everything that is refused below works before, so that it is Landlock which refuses it. */
static void try_all(int abi)
{
	for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
		const struct attempt *attempt = &attempts[i];
		int expected = abi >= attempt->abi ? attempt->errnum : 0;
		errno = 0;
		int result = attempt->run();
		EXPECT(result < 0 ? errno == expected && expected != 0 : expected == 0, "ABI %d: %s gave %s", abi,
		       attempt->name, result < 0 ? strerror(errno) : "success");
	}
}

static void open_abstract_socket(void)
{
	snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "sandbar-test-%d", (int)getpid());
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(bind(fd, (struct sockaddr *)&abstract, sizeof abstract) == 0 && listen(fd, 8) == 0, "%s", strerror(errno));
}

static void remove_trial(const char *const *names)
{
	for (; *names; names++) {
		char path[128];
		snprintf(path, sizeof path, "%s/%s", folder, *names);
		remove(path);
	}
}

static void try_with_and_without(void)
{
	snprintf(folder, sizeof folder, "/tmp/sandbar-test-XXXXXX");
	EXPECT(mkdtemp(folder), "%s", strerror(errno));
	int abi = landlock_abi();
	if (abi == 0)
		story_skip("this kernel has no Landlock");
	EXPECT(make_at("a", "folder") == 0 && make_at("b", "folder") == 0, "%s", strerror(errno));
	open_abstract_socket();
	try_all(0);
	remove_trial((const char *const[]){"device", "c", NULL});
	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "%s", strerror(errno));
	EXPECT(landlock_put_on(open("/proc", O_PATH | O_CLOEXEC)) == abi, "%s", strerror(errno));
	try_all(abi);
	remove_trial((const char *const[]){"c", "b/f", "a", "b", ".", NULL});
}

Test(landlock, it_refuses_what_it_says_and_nothing_else)
{
	story_run(STORY_ROOT, try_with_and_without);
}

static void look_inside(void)
{
	struct cell cell = {0};
	struct sandbox_limits limits = sandbox_limits_default();
	cell_open(&cell, &limits);
	if (!sandbox_host_layers(cell.host)->layers[LAYER_LANDLOCK].on)
		story_skip("%s", sandbox_host_layers(cell.host)->layers[LAYER_LANDLOCK].detail);
	/* A node 0:0 needs no capability (Linux 5.8), and no mount forbids to make it. */
	struct ending ending = cell_run(&cell,
	                                "mknod /work/w c 0 0; mkfifo /work/f && mkdir /work/d && mv /work/f /work/d && "
	                                "cp /bin/true /work/t && /work/t && echo fine >/dev/stdout");
	EXPECT(strstr(ending.output, "/work/w: Permission denied\nfine\n"), "%s", ending.output);
	cell_close(&cell);
}

Test(landlock, commands_in_roots_sandbox_are_under_it)
{
	story_run(STORY_ROOT, look_inside);
}

Test(landlock, commands_in_a_users_sandbox_are_under_it)
{
	story_run(STORY_USER, look_inside);
}
