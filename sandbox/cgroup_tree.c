#include "cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

void cgroup_tree_names(int dir, void (*each)(const char *name, void *context), void *context)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(entries));)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			each(entry->d_name, context);
	closedir(entries);
}

struct walk {
	int dir;
	void (*each)(int dir, void *context);
	void *context;
};

static void walk_into(const char *name, void *context)
{
	struct walk *walk = context;
	int dir = openat(walk->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	walk->each(dir, walk->context);
	cgroup_tree_walk(dir, walk->each, walk->context);
	close(dir);
}

void cgroup_tree_walk(int dir, void (*each)(int dir, void *context), void *context)
{
	struct walk walk = {dir, each, context};
	cgroup_tree_names(dir, walk_into, &walk);
}

static void remove_below(const char *name, void *context)
{
	cgroup_tree_remove(*(const int *)context, name);
}

bool cgroup_tree_remove(int dir, const char *name)
{
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return true;
	int below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (below < 0)
		return errno == ENOENT;
	cgroup_tree_names(below, remove_below, &below);
	close(below);
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}
