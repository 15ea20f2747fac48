/*
 * A cold container of crun, with a cgroup and the host's /usr. crun refuses hosts where both versions of cgroups are mounted:
 * there version 2 is unmounted in a mount namespace of this program.
 */
#include "first_byte.h"
#include "measure.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char unified[] = "/sys/fs/cgroup/unified";

static const char config[] = "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"rootfs\", \"readonly\": true},"
							 " \"process\": {\"user\": {\"uid\": 0, \"gid\": 0}, \"args\": [\"/usr/bin/echo\", \"x\"], "
							 "\"cwd\": \"/\", \"noNewPrivileges\": true},"
							 " \"mounts\": [{\"destination\": \"/usr\", \"type\": \"bind\", \"source\": \"/usr\", "
							 "\"options\": [\"rbind\", \"ro\"]},"
							 " {\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\"},"
							 " {\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\"}],"
							 " \"linux\": {\"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"mount\"}, {\"type\": "
							 "\"ipc\"}, {\"type\": \"uts\"},"
							 " {\"type\": \"network\"}, {\"type\": \"cgroup\"}]}}";

static char bundle[] = "/tmp/bench-crun-XXXXXX";

static void leave_hybrid(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		die("a mount namespace");
	if (umount2(unified, MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT)
		die(unified);
}

static void make_bundle(void)
{
	if (!mkdtemp(bundle) || chdir(bundle) != 0 || mkdir("rootfs", 0755) != 0 || symlink("usr/lib", "rootfs/lib") != 0 ||
	    symlink("usr/lib64", "rootfs/lib64") != 0 || symlink("usr/bin", "rootfs/bin") != 0)
		die("a bundle");
	for (const char *const *name = (const char *const[]){"rootfs/usr", "rootfs/proc", "rootfs/dev", NULL}; *name;
	     name++)
		if (mkdir(*name, 0755) != 0)
			die(*name);
	FILE *file = fopen("config.json", "w");
	if (!file || fputs(config, file) < 0 || fclose(file) != 0)
		die("config.json");
}

static void remove_bundle(void)
{
	for (const char *const *name =
	         (const char *const[]){"rootfs/lib", "rootfs/lib64", "rootfs/bin", "config.json", NULL};
	     *name; name++)
		unlink(*name);
	for (const char *const *name = (const char *const[]){"rootfs/usr", "rootfs/proc", "rootfs/dev", "rootfs", NULL};
	     *name; name++)
		rmdir(*name);
	rmdir(bundle);
}

int main(int argc, char **argv)
{
	char *tool[] = {"crun", "run", "bench", NULL};
	leave_hybrid();
	make_bundle();
	int code = first_byte_main(argc, argv, "crun", tool);
	remove_bundle();
	return code;
}
