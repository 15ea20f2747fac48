/*
 * cgroup_mounts.c: reads /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/self/cgroup (cgroups(7)).
 */
#include "cgroup_mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1 << 20, LINE_BYTES = 4096 };

static bool has_token(const char *list, const char *token, char end)
{
	size_t length = strlen(token);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		char after = strncmp(at, token, length) == 0 ? at[length] : 'x';
		if (after == ',' || after == end || after == '\0')
			return true;
	}
	return false;
}

/* The path of the own cgroup within the hierarchy: "ID:controllers:PATH". */
static bool own_path(const char *cgroups, const char *controller, char path[CGROUP_PATH_BYTES])
{
	for (const char *line = cgroups; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *list = strchr(line, ':');
		const char *from = list ? strchr(list + 1, ':') : NULL;
		if (!from)
			return false;
		bool found = *controller ? list[1] != ':' && has_token(list + 1, controller, ':')
		                         : strncmp(line, "0::", 3) == 0;
		size_t length = strcspn(from + 1, "\n");
		if (found && length < CGROUP_PATH_BYTES) {
			memcpy(path, from + 1, length);
			path[length] = '\0';
			return true;
		}
	}
	return false;
}

/* In place: \040 and its like stand for characters that would end a field. */
static void unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] && from[2] && from[3]) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

struct mount_line {
	char root[CGROUP_PATH_BYTES], point[CGROUP_PATH_BYTES], type[32], options[CGROUP_PATH_BYTES];
};

static bool parse_line(const char *line, struct mount_line *mount)
{
	char copy[LINE_BYTES];
	size_t length = strcspn(line, "\n");
	if (length >= sizeof copy)
		return false;
	memcpy(copy, line, length);
	copy[length] = '\0';
	const char *rest = strstr(copy, " - ");
	if (!rest || sscanf(copy, "%*d %*d %*s %511s %511s", mount->root, mount->point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", mount->type, mount->options) != 2)
		return false;
	unescape(mount->root);
	unescape(mount->point);
	return true;
}

static bool is_hierarchy(const struct mount_line *mount, const char *controller)
{
	if (*controller == '\0')
		return strcmp(mount->type, "cgroup2") == 0;
	return strcmp(mount->type, "cgroup") == 0 && has_token(mount->options, controller, '\0');
}

/* Only part of the hierarchy may be mounted: ROOT of it stands at POINT. */
static bool join(const struct mount_line *mount, const char *own, char path[CGROUP_PATH_BYTES])
{
	size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	if (strncmp(own, mount->root, root) != 0 || (own[root] != '/' && own[root] != '\0'))
		return false;
	int n = snprintf(path, CGROUP_PATH_BYTES, "%s%s", mount->point, own + root);
	return n > 0 && n < CGROUP_PATH_BYTES;
}

bool cgroup_mounts_find_in(const char *mountinfo, const char *cgroups, const char *controller, bool top,
                           char path[CGROUP_PATH_BYTES])
{
	char own[CGROUP_PATH_BYTES];
	if (!own_path(cgroups, controller, own))
		return false;
	for (const char *line = mountinfo; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		struct mount_line mount;
		if (parse_line(line, &mount) && is_hierarchy(&mount, controller) && join(&mount, top ? mount.root : own, path))
			return true;
	}
	return false;
}

static char *read_text(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = malloc(TEXT_BYTES);
	if (!text)
		abort();
	size_t length = 0;
	for (ssize_t n; length < TEXT_BYTES - 1 && (n = read(fd, text + length, TEXT_BYTES - 1 - length)) > 0;)
		length += (size_t)n;
	text[length] = '\0';
	close(fd);
	return text;
}

bool cgroup_mounts_find(const char *controller, bool top, char path[CGROUP_PATH_BYTES])
{
	char *mountinfo = read_text("/proc/self/mountinfo");
	char *cgroups = read_text("/proc/self/cgroup");
	bool found = mountinfo && cgroups && cgroup_mounts_find_in(mountinfo, cgroups, controller, top, path);
	free(mountinfo);
	free(cgroups);
	return found;
}
