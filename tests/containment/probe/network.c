/* The network namespace holds a loopback device and nothing else; changing it takes a capability that nobody has. */
#include "attempt.h"

#include <net/if.h> /* before those of linux/, which then leave out what stands here */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/route.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANY_PORT = 80 };

/* PATH: an address; NUMBER: a port. */
static int connect_to(const struct probe *probe)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)probe->number)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)probe->number)};
	bool is_v4 = inet_pton(AF_INET, probe->path, &v4.sin_addr) == 1;
	if (!is_v4 && inet_pton(AF_INET6, probe->path, &v6.sin6_addr) != 1)
		return EINVAL;
	int fd = socket(is_v4 ? AF_INET : AF_INET6, (int)probe->arguments[0] | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(is_v4 ? connect(fd, (struct sockaddr *)&v4, sizeof v4)
	                               : connect(fd, (struct sockaddr *)&v6, sizeof v6));
	close(fd);
	return outcome;
}

/* PATH: where a server of the host has its socket; a name that begins with @ is abstract. */
static int connect_unix(const struct probe *probe)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, probe->path, sizeof address.sun_path - 1);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(probe->path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(connect(fd, (struct sockaddr *)&address, length));
	close(fd);
	return outcome;
}

/* A device beside lo. */
static int find_device(const struct probe *probe)
{
	char line[512];
	FILE *file = fopen(probe->path, "re");
	if (!file)
		return errno;
	int outcome = OUTCOME_NOTHING;
	for (int number = 0; fgets(line, sizeof line, file); number++)
		if (number >= 2 && strncmp(line + strspn(line, " "), "lo:", 3) != 0)
			outcome = OUTCOME_OPEN;
	fclose(file);
	return outcome;
}

static int change_interface(const struct probe *probe)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(ioctl(fd, (unsigned long)probe->number, &request));
	close(fd);
	return outcome;
}

static int set_option(const struct probe *probe)
{
	int value = (int)probe->arguments[3];
	int fd = socket((int)probe->arguments[2], SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(setsockopt(fd, (int)probe->arguments[0], (int)probe->arguments[1], &value, sizeof value));
	close(fd);
	return outcome;
}

static int get_tables(const struct probe *probe)
{
	struct ipt_getinfo info = {.name = "filter"};
	socklen_t length = sizeof info;
	(void)probe;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(getsockopt(fd, IPPROTO_IP, IPT_SO_GET_INFO, &info, &length));
	close(fd);
	return outcome;
}

static int bind_low_port(const struct probe *probe)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)probe->number)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int outcome = outcome_of(bind(fd, (struct sockaddr *)&address, sizeof address));
	close(fd);
	return outcome;
}

/* A request of rtnetlink(7) with the message NUMBER, and what the kernel answers. */
static int change_by_netlink(const struct probe *probe)
{
	struct {
		struct nlmsghdr header;
		union {
			struct ifinfomsg link;
			struct ifaddrmsg address;
			struct rtmsg route;
			struct ndmsg neighbour;
			struct tcmsg control;
		} body;
	} request = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)),
	                        .nlmsg_type = (uint16_t)probe->number,
	                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE}};
	union {
		struct nlmsghdr header;
		char bytes[4096];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return errno;
	request.body.control.tcm_family = AF_INET;
	int outcome = OUTCOME_SKIPPED;
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		outcome = errno;
	else if (answer.header.nlmsg_type == NLMSG_ERROR)
		outcome = -((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
	close(fd);
	return outcome;
}

/* clang-format off */
#define UNREACHABLE E(ENETUNREACH, EAFNOSUPPORT, EACCES, EINVAL)
#define REACH(name_, address, port, type) \
	{.name = "reach-" name_, .attempt = #type " to " address ":" #port, .control = "network", .expected = UNREACHABLE, .run = connect_to, \
	 .path = address, .number = port, .arguments = {type}}
#define LOCAL(name_, address, port) \
	{.name = "reach-" name_, .attempt = "TCP to " address ":" #port, .control = "network", .expected = {ECONNREFUSED, EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH}, \
	 .run = connect_to, .path = address, .number = port, .arguments = {SOCK_STREAM}}
#define SERVER(name, path) PATH("server-" name, "connect to " path, "root", E(ENOENT, EACCES, EAFNOSUPPORT), connect_unix, path, 0)
#define ABSTRACT(name, path) PATH("server-" name, "connect to " path, "network", E(ECONNREFUSED, EPERM, EAFNOSUPPORT), connect_unix, path, 0)
/* ENOPKG: the kernel has no bridges, and says so before it looks who asks. */
#define NO_ADMIN E(EPERM, EACCES, EAFNOSUPPORT, ENOPKG)
#define INTERFACE(name, request) PATH("interface-" name, #request " of lo", "capabilities", NO_ADMIN, change_interface, NULL, request)
#define OPTION(name_, attempt_, level, option, family, value) \
	{.name = "option-" name_, .attempt = attempt_, .control = "capabilities", .expected = {EPERM, EACCES, EAFNOSUPPORT, ENOPROTOOPT}, .run = set_option, \
	 .arguments = {level, option, family, value}}
#define RTNETLINK(name, message) \
	PATH("netlink-" name, #message " by rtnetlink", "capabilities", E(EPERM, EOPNOTSUPP, EPROTONOSUPPORT, EAFNOSUPPORT), change_by_netlink, NULL, message)

const struct probe PROBES_network[] = {
	REACH("internet", "8.8.8.8", 53, SOCK_STREAM), REACH("internet-udp", "8.8.8.8", 53, SOCK_DGRAM), REACH("metadata", "169.254.169.254", 80, SOCK_STREAM),
	REACH("slirp", "10.0.2.2", 22, SOCK_STREAM), REACH("private", "192.168.0.1", 80, SOCK_STREAM), REACH("container-bridge", "172.17.0.1", 80, SOCK_STREAM),
	REACH("broadcast", "255.255.255.255", 67, SOCK_DGRAM), REACH("multicast", "224.0.0.251", 5353, SOCK_DGRAM), REACH("internet6", "2001:4860:4860::8888", 53, SOCK_STREAM),
	REACH("multicast6", "ff02::1", 5353, SOCK_DGRAM), REACH("mapped", "::ffff:8.8.8.8", 53, SOCK_STREAM),
	LOCAL("loopback-ssh", "127.0.0.1", 22), LOCAL("loopback-server", "127.0.0.1", 7433), LOCAL("loopback-any", "0.0.0.0", 7433), LOCAL("loopback6", "::1", 7433),
	LOCAL("loopback-mapped", "::ffff:127.0.0.1", 7433), LOCAL("loopback-other", "127.1.2.3", 7433),
	SERVER("docker", "/var/run/docker.sock"), SERVER("containerd", "/run/containerd/containerd.sock"), SERVER("dbus", "/run/dbus/system_bus_socket"),
	SERVER("systemd", "/run/systemd/private"), SERVER("notify", "/run/systemd/notify"), SERVER("journal", "/run/systemd/journal/stdout"), SERVER("udev", "/run/udev/control"),
	SERVER("x11", "/tmp/.X11-unix/X0"), ABSTRACT("x11-abstract", "@/tmp/.X11-unix/X0"), ABSTRACT("dbus-abstract", "@/tmp/dbus-session"), ABSTRACT("systemd-abstract", "@/org/kernel/linux/storage/multipathd"),
	PATH("devices", "find a network device beside lo", "network", E(OUTCOME_NOTHING), find_device, "/proc/net/dev", 0),
	INTERFACE("flags", SIOCSIFFLAGS), INTERFACE("address", SIOCSIFADDR), INTERFACE("mtu", SIOCSIFMTU), INTERFACE("name", SIOCSIFNAME), INTERFACE("hardware", SIOCSIFHWADDR),
	INTERFACE("queue", SIOCSIFTXQLEN), INTERFACE("bridge", SIOCBRADDBR), INTERFACE("route", SIOCADDRT), INTERFACE("arp", SIOCSARP),
	RTNETLINK("link", RTM_NEWLINK), RTNETLINK("link-away", RTM_DELLINK), RTNETLINK("address", RTM_NEWADDR), RTNETLINK("route", RTM_NEWROUTE), RTNETLINK("neighbour", RTM_NEWNEIGH),
	RTNETLINK("queue", RTM_NEWQDISC), RTNETLINK("filter", RTM_NEWTFILTER), RTNETLINK("class", RTM_NEWTCLASS), RTNETLINK("rule", RTM_NEWRULE), RTNETLINK("namespace", RTM_NEWNSID),
	OPTION("receive-force", "SO_RCVBUFFORCE", SOL_SOCKET, SO_RCVBUFFORCE, AF_INET, 1 << 28), OPTION("send-force", "SO_SNDBUFFORCE", SOL_SOCKET, SO_SNDBUFFORCE, AF_UNIX, 1 << 28),
	OPTION("mark", "SO_MARK", SOL_SOCKET, SO_MARK, AF_INET, 1), OPTION("debug", "SO_DEBUG", SOL_SOCKET, SO_DEBUG, AF_INET, 1), OPTION("priority", "SO_PRIORITY 7", SOL_SOCKET, SO_PRIORITY, AF_INET, 7),
	OPTION("transparent", "IP_TRANSPARENT", IPPROTO_IP, IP_TRANSPARENT, AF_INET, 1), OPTION("repair", "TCP_REPAIR", IPPROTO_TCP, TCP_REPAIR, AF_INET, 1),
	OPTION("tables", "replace the tables of iptables (CVE-2021-22555)", IPPROTO_IP, IPT_SO_SET_REPLACE, AF_INET, 0),
	RUN("read-tables", "read the tables of iptables", "capabilities", E(EPERM, ENOPROTOOPT, EAFNOSUPPORT), 0, get_tables),
	PATH("low-port", "bind port 80", "capabilities", E(EACCES, EPERM, EAFNOSUPPORT), bind_low_port, NULL, ANY_PORT),
};
/* clang-format on */
PROBE_TABLE_END(network)
