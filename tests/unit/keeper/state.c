/*
 * The state directory: private, of one server at a time; and the listeners.
 */
#include "server/keeper/listener.h"
#include "server/keeper/state.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/sandbar-state.XXXXXX";

static void make_top(void)
{
	cr_assert(mkdtemp(top));
}

static void remove_top(void)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", top);
	cr_assert_eq(system(command), 0);
}

static void path_in_top(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", top, name);
}

Test(state, is_made_private_and_locked, .init = make_top, .fini = remove_top)
{
	struct state state, second;
	struct error err;
	struct stat status;
	pid_t holder;
	char path[PATH_MAX];
	path_in_top(path, "new/deep/er");
	cr_assert_eq(state_open(&state, path, &holder, &err), 0, "%s", err.message);
	cr_assert_eq(stat(path, &status), 0);
	cr_assert_eq(status.st_mode & 07777, 0700);
	cr_assert_eq(state_open(&second, path, &holder, &err), -1);
	cr_assert_eq(holder, getpid());
	char pid[32];
	snprintf(pid, sizeof pid, "(pid %d)", (int)getpid());
	cr_assert(strstr(err.message, pid), "%s", err.message);
	state_close(&state);
	cr_assert_eq(state_open(&second, path, &holder, &err), 0, "the lock outlives its server: %s", err.message);
	state_close(&second);
}

/* A directory that others use is left as it is. */
Test(state, refuses_an_open_directory, .init = make_top, .fini = remove_top)
{
	struct state state;
	struct error err;
	struct stat status;
	pid_t holder;
	cr_assert_eq(chmod(top, 0755), 0);
	cr_assert_eq(state_open(&state, top, &holder, &err), -1);
	cr_assert(strstr(err.message, "chmod 700"), "%s", err.message);
	cr_assert_eq(stat(top, &status), 0);
	cr_assert_eq(status.st_mode & 07777, 0755);
}

Test(state, holds_the_address_while_it_serves, .init = make_top, .fini = remove_top)
{
	struct state state;
	struct error err;
	struct stat status;
	pid_t holder;
	char path[PATH_MAX], text[64] = "";
	cr_assert_eq(state_open(&state, top, &holder, &err), 0, "%s", err.message);
	path_in_top(path, "address");
	for (int round = 0; round < 2; round++) {
		cr_assert_eq(state_write_address(&state, "http://127.0.0.1:1", &err), 0, "%s", err.message);
		cr_assert_eq(stat(path, &status), 0);
		cr_assert_eq(status.st_mode & 07777, 0644);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		cr_assert_gt(read(fd, text, sizeof text - 1), 0);
		close(fd);
		cr_assert_str_eq(text, "http://127.0.0.1:1\n");
	}
	state_remove_address(&state);
	cr_assert_neq(access(path, F_OK), 0);
	state_close(&state);
}

Test(state, has_a_name_of_its_own, .init = make_top, .fini = remove_top)
{
	struct state first, second;
	struct error err;
	pid_t holder;
	char path[PATH_MAX], name[32], again[32], other[32];
	path_in_top(path, "other");
	cr_assert_eq(state_open(&first, top, &holder, &err), 0, "%s", err.message);
	cr_assert_eq(state_open(&second, path, &holder, &err), 0, "%s", err.message);
	state_name(&first, name);
	state_name(&first, again);
	state_name(&second, other);
	cr_assert_str_eq(name, again);
	cr_assert_str_neq(name, other);
	cr_assert_eq(strlen(name), strlen("sandbar-") + 8);
	cr_assert_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
	state_close(&first);
	state_close(&second);
}

Test(state, listens_where_it_says)
{
	struct listen_address address, taken;
	struct error err;
	char text[64];
	cr_assert_eq(listen_address_parse(&address, "127.0.0.1:0", &err), 0, "%s", err.message);
	int fd = listener_open(&address, &err);
	cr_assert_geq(fd, 0, "%s", err.message);
	listen_address_format(&address, text, sizeof text);
	cr_assert_str_neq(text, "127.0.0.1:0", "the port that was taken is told");
	cr_assert_eq(listen_address_parse(&taken, text, &err), 0, "%s", err.message);
	cr_assert_eq(listener_open(&taken, &err), -1);
	cr_assert(strstr(err.message, text) && strstr(err.message, "in use"), "%s", err.message);
	close(fd);
}
