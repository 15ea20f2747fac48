/* Device nodes: those that must not be there, those that cannot be made, and what the few that are there allow. */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Make a node in a place that can be written to, and open it. */
static int make_node(const struct probe *probe)
{
	mode_t kind = (mode_t)probe->number;
	unlink(probe->path);
	if (mknod(probe->path, kind | 0600, makedev((unsigned)probe->arguments[0], (unsigned)probe->arguments[1])) < 0)
		return errno;
	int outcome = outcome_of_fd(open(probe->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	unlink(probe->path);
	return outcome;
}

/* Landlock is asked before the capability is: its EACCES stands where else EPERM would. */
static int make_restricted(const struct probe *probe)
{
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 2)
		return OUTCOME_SKIPPED; /* then the layer is off */
	return make_node(probe);
}

static int ask_device(const struct probe *probe)
{
	int count = 1, fd = open(probe->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(ioctl(fd, (unsigned long)probe->number, &count));
	close(fd);
	return outcome;
}

/* clang-format off */
#define GONE(name, path) PATH("open-" name, "open " path, "dev", E(ENOENT, EACCES), attempt_open, path, O_RDWR)
#define NODE(name_, kind, path_, major, minor) \
	{.name = name_, .attempt = "make and open the device " #major ":" #minor, .control = "capabilities", \
	 .expected = {EPERM, EACCES}, .run = make_node, .path = path_, .number = kind, .arguments = {major, minor}}
#define ASK(name, request, path) PATH(name, #request " on " path, "capabilities", E(EPERM, EACCES, ENOTTY), ask_device, path, request)

const struct probe PROBES_devices[] = {
	GONE("mem", "/dev/mem"), GONE("kmem", "/dev/kmem"), GONE("port", "/dev/port"), GONE("kmsg", "/dev/kmsg"), GONE("fuse", "/dev/fuse"),
	GONE("kvm", "/dev/kvm"), GONE("tun", "/dev/net/tun"), GONE("vsock", "/dev/vsock"), GONE("vhost-vsock", "/dev/vhost-vsock"),
	GONE("vhost-net", "/dev/vhost-net"), GONE("loop-control", "/dev/loop-control"), GONE("loop0", "/dev/loop0"), GONE("vda", "/dev/vda"),
	GONE("sda", "/dev/sda"), GONE("nvme", "/dev/nvme0n1"), GONE("dm", "/dev/mapper/control"), GONE("btrfs", "/dev/btrfs-control"),
	GONE("console", "/dev/console"), GONE("tty0", "/dev/tty0"), GONE("tty1", "/dev/tty1"), GONE("ttyS0", "/dev/ttyS0"), GONE("hvc0", "/dev/hvc0"),
	GONE("snapshot", "/dev/snapshot"), GONE("rtc", "/dev/rtc0"), GONE("hpet", "/dev/hpet"), GONE("nvram", "/dev/nvram"),
	GONE("msr", "/dev/cpu/0/msr"), GONE("watchdog", "/dev/watchdog"), GONE("input", "/dev/input/event0"), GONE("uinput", "/dev/uinput"),
	GONE("dri", "/dev/dri/card0"), GONE("sound", "/dev/snd/control"), GONE("vfio", "/dev/vfio/vfio"), GONE("tpm", "/dev/tpm0"),
	GONE("autofs", "/dev/autofs"), GONE("userfaultfd", "/dev/userfaultfd"), GONE("udmabuf", "/dev/udmabuf"), GONE("hwrng", "/dev/hwrng"),
	GONE("core", "/dev/core"), GONE("initctl", "/dev/initctl"), GONE("log", "/dev/log"),
	NODE("make-vda", S_IFBLK, "/tmp/probe.node", 254, 0), NODE("make-sda", S_IFBLK, "/work/probe.node", 8, 0),
	NODE("make-loop", S_IFBLK, "/dev/shm/probe.node", 7, 0), NODE("make-mem", S_IFCHR, "/tmp/probe.node", 1, 1),
	NODE("make-null", S_IFCHR, "/work/probe.node", 1, 3), NODE("make-kmsg", S_IFCHR, "/tmp/probe.node", 1, 11),
	NODE("make-console", S_IFCHR, "/tmp/probe.node", 5, 1), NODE("make-fuse", S_IFCHR, "/tmp/probe.node", 10, 229),
	NODE("make-tun", S_IFCHR, "/tmp/probe.node", 10, 200), NODE("make-kvm", S_IFCHR, "/tmp/probe.node", 10, 232),
	{.name = "make-restricted", .attempt = "make the device 8:0, as Landlock sees it", .control = "landlock", .expected = {EACCES}, .run = make_restricted,
	 .path = "/tmp/probe.node", .number = S_IFBLK, .arguments = {8, 0}},
	ASK("add-entropy-count", RNDADDTOENTCNT, "/dev/random"), ASK("clear-pool", RNDCLEARPOOL, "/dev/urandom"),
	ASK("zap-entropy", RNDZAPENTCNT, "/dev/urandom"), ASK("reseed", RNDRESEEDCRNG, "/dev/urandom"),
};
/* clang-format on */
PROBE_TABLE_END(devices)
