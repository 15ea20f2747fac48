/*
 * A terminal is read by others: who can type into it commands them (CVE-2017-5226, CVE-2019-10063, CVE-2023-28100). The
 * attempts are made at a terminal of the probe's own, so that a control run harms nobody.
 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef TIOCVHANGUP
#define TIOCVHANGUP 0x5437
#endif

#define HIGH_BIT (1ul << 32)
enum { LDISC_SLIP = 1, LDISC_PPP = 3, LDISC_HDLC = 13, LDISC_GSM = 21 };

/* A new terminal, made the controlling one; the slave's descriptor, or -1. */
static int own_terminal(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	char name[64];
	if (ptsname_r(master, name, sizeof name) != 0)
		return -1;
	setsid();
	int slave = open(name, O_RDWR | O_CLOEXEC);
	if (slave >= 0)
		ioctl(slave, TIOCSCTTY, 0);
	return slave;
}

/* ioctl(slave, arguments[0], &arguments[1]) as a raw call: the C library would cut the request to 32 bits. */
static int ask_terminal(const struct probe *probe)
{
	unsigned long value = probe->arguments[1];
	int slave = own_terminal();
	if (slave < 0)
		return OUTCOME_SKIPPED;
	return outcome_of(syscall(SYS_ioctl, slave, probe->arguments[0], &value));
}

static int call_terminal(const struct probe *probe)
{
	int slave = own_terminal();
	if (slave < 0)
		return OUTCOME_SKIPPED;
	return outcome_of(syscall(SYS_ioctl, slave, probe->arguments[0], probe->arguments[1]));
}

/* A command has a terminal only when it was given one. */
static int find_terminal(const struct probe *probe)
{
	return outcome_of_fd(open(probe->path, O_RDWR | O_CLOEXEC));
}

/* clang-format off */
#define TYPE(name_, attempt_, request) \
	{.name = name_, .attempt = attempt_, .control = "seccomp", .expected = {EPERM}, .run = ask_terminal, .arguments = {request, 'x'}, \
	 .flags = PROBE_FORKS | PROBE_SHOWN}
#define LINUX(name_, attempt_, request, code) \
	{.name = name_, .attempt = attempt_, .control = "seccomp", .expected = {EPERM}, .run = ask_terminal, .arguments = {request, code}, \
	 .flags = PROBE_FORKS}
#define LDISC(name_, number_) \
	{.name = name_, .attempt = "TIOCSETD " #number_, .control = "seccomp", .expected = {EPERM, EINVAL}, .run = ask_terminal, \
	 .arguments = {TIOCSETD, number_}, .flags = PROBE_FORKS}
#define FORBIDDEN(name_, request, value) \
	{.name = name_, .attempt = #request, .control = "capabilities", .expected = {EPERM, ENOTTY}, .run = call_terminal, \
	 .arguments = {request, value}, .flags = PROBE_FORKS}

const struct probe PROBES_terminals[] = {
	TYPE("tiocsti", "TIOCSTI types into the terminal", TIOCSTI),
	TYPE("tiocsti-high", "TIOCSTI with bit 32 set", TIOCSTI | HIGH_BIT),
	TYPE("tiocsti-negative", "TIOCSTI with all high bits set", TIOCSTI | (UINT64_MAX << 32)),
	LINUX("tioclinux-paste", "TIOCLINUX 3 pastes the selection", TIOCLINUX, 3),
	LINUX("tioclinux-select", "TIOCLINUX 2 selects", TIOCLINUX, 2),
	LINUX("tioclinux-high", "TIOCLINUX with bit 32 set", TIOCLINUX | HIGH_BIT, 3),
	LDISC("ldisc-slip", LDISC_SLIP), LDISC("ldisc-ppp", LDISC_PPP), LDISC("ldisc-hdlc", LDISC_HDLC), LDISC("ldisc-gsm", LDISC_GSM),
	FORBIDDEN("tioccons", TIOCCONS, 0), FORBIDDEN("tiocvhangup", TIOCVHANGUP, 0),
	PATH("own-terminal", "open /dev/tty without having a terminal", "descriptors", E(ENXIO, ENOENT, EIO), find_terminal, "/dev/tty", 0),
	PATH("host-pts-0", "open the host's /dev/pts/0", "dev", E(ENOENT, EACCES, EIO), attempt_open, "/dev/pts/0", O_RDWR),
	CALL("unlink-ptmx", "unlink /dev/pts/ptmx", "landlock", E(EACCES, EPERM), 0, SYS_unlink, (unsigned long)(uintptr_t)"/dev/pts/ptmx"),
	CALL("vhangup", "vhangup", "seccomp", E(EPERM), PROBE_GRAVE, SYS_vhangup, 0),
};
/* clang-format on */
PROBE_TABLE_END(terminals)
