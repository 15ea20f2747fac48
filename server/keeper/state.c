#include "state.h"

#include "server/base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int state_standard_path(char path[PATH_MAX], struct error *err)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length;
	if (geteuid() == 0)
		length = snprintf(path, PATH_MAX, "/var/lib/sandbar");
	else if (state && state[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/sandbar", state);
	else if (home && home[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/.local/state/sandbar", home);
	else
		return error_set(err, 0, "HOME is not set: say --state DIR");
	return length < PATH_MAX ? 0 : error_set(err, ENAMETOOLONG, "the state directory");
}

/* Every part that is missing; 0700 as the XDG base directory specification wants it. */
static int make_directories(const char *path, struct error *err)
{
	char part[PATH_MAX];
	snprintf(part, sizeof part, "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0700);
		*slash = '/';
	}
	if (mkdir(part, 0700) < 0 && errno != EEXIST)
		return error_set(err, errno, "make the state directory `%s`", path);
	return 0;
}

/* It is not made private here: `--state /tmp` would then lock everybody out of /tmp. */
static int check_private(const struct state *state, struct error *err)
{
	struct stat status;
	if (fstat(state->directory, &status) < 0)
		return error_set(err, errno, "look at the state directory `%s`", state->path);
	if (status.st_uid != geteuid())
		return error_set(err, 0, "the state directory `%s` belongs to another user", state->path);
	if (status.st_mode & 077)
		return error_set(err, 0,
		                 "the state directory `%s` is open to others: make it private by chmod 700, or say "
		                 "--state with a directory that is the server's alone",
		                 state->path);
	return 0;
}

static int open_directory(struct state *state, const char *path, struct error *err)
{
	if (make_directories(path, err) < 0)
		return -1;
	if (!realpath(path, state->path))
		return error_set(err, errno, "find the state directory `%s`", path);
	state->directory = open(state->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state->directory < 0)
		return error_set(err, errno, "open the state directory `%s`", state->path);
	if (check_private(state, err) == 0)
		return 0;
	close(state->directory);
	return -1;
}

static pid_t read_holder(int lock)
{
	char text[32] = "";
	ssize_t length = pread(lock, text, sizeof text - 1, 0);
	return length > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

static int take_lock(struct state *state, pid_t *holder, struct error *err)
{
	state->lock = plain_file_open(state->directory, "lock", O_RDWR | O_CREAT, 0600);
	if (state->lock < 0)
		return error_set(err, errno, "open `%s/lock`", state->path);
	if (flock(state->lock, LOCK_EX | LOCK_NB) == 0) {
		if (ftruncate(state->lock, 0) == 0 && dprintf(state->lock, "%d\n", getpid()) > 0)
			return 0;
		return error_set(err, errno, "write `%s/lock`", state->path);
	}
	if (errno != EWOULDBLOCK)
		return error_set(err, errno, "lock `%s/lock`", state->path);
	*holder = read_holder(state->lock);
	return error_set(err, 0, "another server (pid %d) uses the state directory `%s`: stop it, or say --state DIR",
	                 *holder, state->path);
}

int state_open(struct state *state, const char *path, pid_t *holder, struct error *err)
{
	*holder = 0;
	*state = (struct state){.directory = -1, .lock = -1};
	if (open_directory(state, path, err) < 0)
		return -1;
	if (take_lock(state, holder, err) == 0)
		return 0;
	close(state->directory);
	if (state->lock >= 0)
		close(state->lock);
	return -1;
}

void state_close(struct state *state)
{
	close(state->lock);
	close(state->directory);
}

/* FNV-1a over what identifies the directory, so that a restart finds what its own earlier run left, and no other's. */
void state_name(const struct state *state, char name[32])
{
	struct stat status = {0};
	fstat(state->directory, &status);
	uint64_t identity[2] = {status.st_dev, status.st_ino};
	const unsigned char *bytes = (const unsigned char *)identity;
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < sizeof identity; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	snprintf(name, 32, "sandbar-%08x", hash);
}

static int make_subdirectory(const struct state *state, const char *name, struct error *err)
{
	if (mkdirat(state->directory, name, 0700) < 0 && errno != EEXIST)
		return error_set(err, errno, "make `%s/%s`", state->path, name);
	return 0;
}

int state_open_for(const struct state *state, const char *name, uid_t uid, gid_t gid, struct error *err)
{
	if (make_subdirectory(state, name, err) < 0)
		return -1;
	int fd = openat(state->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_set(err, errno, "open `%s/%s`", state->path, name);
	if (geteuid() == 0 && fchown(fd, uid, gid) < 0) {
		error_set(err, errno, "give `%s/%s` to the gateway", state->path, name);
		close(fd);
		return -1;
	}
	return fd;
}

int state_make_root(const struct state *state, char path[PATH_MAX], struct error *err)
{
	if (snprintf(path, PATH_MAX, "%s/root", state->path) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "`%s/root`", state->path);
	return make_subdirectory(state, "root", err);
}

int state_open_key(const struct state *state, struct error *err)
{
	int fd = plain_file_open(state->directory, "signing.key", O_RDONLY, 0);
	return fd >= 0 ? fd : error_set(err, errno, "open `%s/signing.key`", state->path);
}

int state_write_address(const struct state *state, const char *url, struct error *err)
{
	int fd = plain_file_open(state->directory, "address.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return error_set(err, errno, "make `%s/address.new`", state->path);
	bool written = fchmod(fd, 0644) == 0 && dprintf(fd, "%s\n", url) > 0;
	close(fd);
	if (!written || renameat(state->directory, "address.new", state->directory, "address") < 0)
		return error_set(err, errno, "write `%s/address`", state->path);
	return 0;
}

void state_remove_address(const struct state *state)
{
	unlinkat(state->directory, "address", 0);
}
