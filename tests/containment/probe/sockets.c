/* Families that are not namespaced, and those that only widen what of the kernel can be reached. */
#include "attempt.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGH_BIT (1ul << 32)
enum { MPTCP = 262 };

static int make_socket(const struct probe *probe)
{
	const unsigned long *argument = probe->arguments;
	return outcome_of_fd((int)syscall(SYS_socket, argument[0], argument[1], argument[2]));
}

static int make_pair(const struct probe *probe)
{
	int ends[2];
	const unsigned long *argument = probe->arguments;
	return outcome_of(syscall(SYS_socketpair, argument[0], argument[1], argument[2], ends));
}

/* clang-format off */
/* EAFNOSUPPORT, too: where a profile has no family but AF_UNIX, the type is not looked at any more. */
#define SOCKET(name_, attempt_, errnum, ...) \
	{.name = name_, .attempt = attempt_, .control = "seccomp", .expected = {errnum, EAFNOSUPPORT}, .run = make_socket, .arguments = {__VA_ARGS__}}
#define FAMILY(name, family, type) SOCKET("socket-" name, "socket(" #family ")", EAFNOSUPPORT, family, type, 0)
#define INTERNET(name, attempt, errnum, ...) SOCKET("socket-" name, attempt, errnum, __VA_ARGS__)
#define NETLINK(name, protocol) SOCKET("netlink-" name, "socket(AF_NETLINK, " #protocol ")", EPROTONOSUPPORT, AF_NETLINK, SOCK_RAW, protocol)
#define PAIR(name_, family, type) \
	{.name = "pair-" name_, .attempt = "socketpair(" #family ")", .control = "seccomp", .expected = {EAFNOSUPPORT}, .run = make_pair, \
	 .arguments = {family, type, 0}}

const struct probe PROBES_sockets[] = {
	FAMILY("vsock", AF_VSOCK, SOCK_STREAM), FAMILY("vsock-datagram", AF_VSOCK, SOCK_DGRAM), FAMILY("alg", AF_ALG, SOCK_SEQPACKET),
	FAMILY("packet-raw", AF_PACKET, SOCK_RAW), FAMILY("packet", AF_PACKET, SOCK_DGRAM), FAMILY("xdp", AF_XDP, SOCK_RAW),
	FAMILY("bluetooth", AF_BLUETOOTH, SOCK_RAW), FAMILY("key", AF_KEY, SOCK_RAW), FAMILY("rds", AF_RDS, SOCK_SEQPACKET),
	FAMILY("tipc", AF_TIPC, SOCK_SEQPACKET), FAMILY("can", AF_CAN, SOCK_RAW), FAMILY("kcm", AF_KCM, SOCK_DGRAM), FAMILY("smc", AF_SMC, SOCK_STREAM),
	FAMILY("qipcrtr", AF_QIPCRTR, SOCK_DGRAM), FAMILY("rxrpc", AF_RXRPC, SOCK_DGRAM), FAMILY("pppox", AF_PPPOX, SOCK_DGRAM),
	FAMILY("llc", AF_LLC, SOCK_DGRAM), FAMILY("ax25", AF_AX25, SOCK_DGRAM), FAMILY("ipx", AF_IPX, SOCK_DGRAM), FAMILY("appletalk", AF_APPLETALK, SOCK_DGRAM),
	FAMILY("netrom", AF_NETROM, SOCK_SEQPACKET), FAMILY("x25", AF_X25, SOCK_SEQPACKET), FAMILY("rose", AF_ROSE, SOCK_SEQPACKET),
	FAMILY("decnet", AF_DECnet, SOCK_STREAM), FAMILY("atm", AF_ATMPVC, SOCK_DGRAM), FAMILY("atm-switched", AF_ATMSVC, SOCK_DGRAM),
	FAMILY("econet", AF_ECONET, SOCK_DGRAM), FAMILY("irda", AF_IRDA, SOCK_DGRAM), FAMILY("isdn", AF_ISDN, SOCK_RAW), FAMILY("phonet", AF_PHONET, SOCK_DGRAM),
	FAMILY("ieee802154", AF_IEEE802154, SOCK_DGRAM), FAMILY("caif", AF_CAIF, SOCK_STREAM), FAMILY("nfc", AF_NFC, SOCK_SEQPACKET), FAMILY("mctp", 45, SOCK_DGRAM),
	FAMILY("of-the-future", 60, SOCK_STREAM), FAMILY("none", AF_UNSPEC, SOCK_STREAM), FAMILY("vsock-high", AF_VSOCK | HIGH_BIT, SOCK_STREAM),
	FAMILY("alg-flags", AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK),
	INTERNET("raw", "a raw IPv4 socket", EPERM, AF_INET, SOCK_RAW, IPPROTO_ICMP), INTERNET("raw6", "a raw IPv6 socket", EPERM, AF_INET6, SOCK_RAW, IPPROTO_ICMPV6),
	INTERNET("raw-high", "a raw socket with bit 32 of its type set", EPERM, AF_INET, SOCK_RAW | HIGH_BIT, IPPROTO_RAW),
	INTERNET("raw-flags", "a raw socket with flags", EPERM, AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP),
	INTERNET("seqpacket", "SOCK_SEQPACKET over IPv4", EPERM, AF_INET, SOCK_SEQPACKET, 0), INTERNET("rdm", "SOCK_RDM over IPv4", EPERM, AF_INET, SOCK_RDM, 0),
	INTERNET("old-packet", "SOCK_PACKET over IPv4", EPERM, AF_INET, SOCK_PACKET, 0),
	INTERNET("ping", "an ICMP socket", EPROTONOSUPPORT, AF_INET, SOCK_DGRAM, IPPROTO_ICMP), INTERNET("ping6", "an ICMPv6 socket", EPROTONOSUPPORT, AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6),
	INTERNET("sctp", "SCTP", EPROTONOSUPPORT, AF_INET, SOCK_STREAM, IPPROTO_SCTP), INTERNET("mptcp", "Multipath TCP", EPROTONOSUPPORT, AF_INET, SOCK_STREAM, MPTCP),
	INTERNET("udplite", "UDP-Lite", EPROTONOSUPPORT, AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE), INTERNET("l2tp", "L2TP", EPROTONOSUPPORT, AF_INET, SOCK_DGRAM, 115),
	NETLINK("audit", NETLINK_AUDIT), NETLINK("netfilter", NETLINK_NETFILTER), NETLINK("xfrm", NETLINK_XFRM), NETLINK("uevent", NETLINK_KOBJECT_UEVENT),
	NETLINK("connector", NETLINK_CONNECTOR), NETLINK("generic", NETLINK_GENERIC), NETLINK("diag", NETLINK_SOCK_DIAG), NETLINK("fib", NETLINK_FIB_LOOKUP),
	NETLINK("iscsi", NETLINK_ISCSI), NETLINK("selinux", NETLINK_SELINUX), NETLINK("crypto", NETLINK_CRYPTO), NETLINK("rdma", NETLINK_RDMA),
	NETLINK("scsi", NETLINK_SCSITRANSPORT), NETLINK("ecryptfs", NETLINK_ECRYPTFS), NETLINK("smc", 22), NETLINK("audit-high", NETLINK_AUDIT | HIGH_BIT),
	PAIR("tipc", AF_TIPC, SOCK_STREAM), PAIR("vsock", AF_VSOCK, SOCK_STREAM), PAIR("packet", AF_PACKET, SOCK_RAW), PAIR("inet", AF_INET, SOCK_STREAM),
	PAIR("netlink", AF_NETLINK, SOCK_RAW),
};
/* clang-format on */
PROBE_TABLE_END(sockets)
