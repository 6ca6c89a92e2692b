// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The HCA's interface of IPoIB, as the network's own tools use it: its state, further interfaces
 * for partitions, packets.  What programs have changed is as before when the next one begins.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "fuzz.h"

#define BATCH		"/tmp/net"	/* what "ip" does to the interface */
#define MADE		"fz"		/* how the names of further interfaces begin */
#define MAIN		"ib"
#define ADDRESS		20		/* bytes of one */
#define ADDRESS_TEXT	(3 * ADDRESS - 1)
#define QPN_TEXT	12		/* its beginning, which is the kernel's choice */
#define PACKET		5000		/* most bytes of one */
#define FIRST_MTU	"2044"		/* the interface's at first */
#define OWN		"10.78.0.1"	/* its address of IP */
#define SAME		"10.78.0.2"	/* one that has the same address of IPoIB */

static char first_address[ADDRESS_TEXT + 1];

bool net_name(char *name, size_t room)
{
	return device_pci && device_entry("net", MAIN, name, room);
}

/* The device's own interface, or the first one that programs make. */
static bool which(uint64_t value, char *name)
{
	if (!(value & 1))
		return net_name(name, IFNAMSIZ);
	snprintf(name, IFNAMSIZ, MADE "0");
	return true;
}

static int tell(unsigned long request, struct ifreq *req)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (sock < 0)
		return errno;
	if (ioctl(sock, request, req))
		err = errno;
	close(sock);
	return err;
}

/* The interface is up and has these flags, or is down. */
static int set_flags(const char *name, bool up, uint64_t value)
{
	static const short flags[] = { 0, IFF_PROMISC, IFF_ALLMULTI, IFF_NOARP };
	struct ifreq req = { .ifr_flags = up ? IFF_UP | flags[value % 4] : 0 };

	memcpy(req.ifr_name, name, IFNAMSIZ);
	return tell(SIOCSIFFLAGS, &req);
}

static int set_mtu(const char *name, uint64_t value)
{
	struct ifreq req = { .ifr_mtu = value % 8192 };

	memcpy(req.ifr_name, name, IFNAMSIZ);
	if (value >> 13 & 1)
		req.ifr_mtu = 65520;
	return tell(SIOCSIFMTU, &req);
}

static int ethtool(const char *name, uint64_t value)
{
	static const uint32_t what[] = {
		ETHTOOL_GDRVINFO, ETHTOOL_GCOALESCE, ETHTOOL_SCOALESCE, ETHTOOL_GSSET_INFO,
		ETHTOOL_GSTRINGS, ETHTOOL_GSTATS, ETHTOOL_GLINK, ETHTOOL_GRINGPARAM,
	};
	union {
		uint32_t cmd;
		struct ethtool_coalesce coalesce;
		struct ethtool_gstrings strings;
		uint8_t room[8192];
	} data = { .coalesce.cmd = what[value % 8] };
	struct ifreq req = { .ifr_data = (void *)&data };

	memcpy(req.ifr_name, name, IFNAMSIZ);
	if (data.cmd == ETHTOOL_SCOALESCE) {
		data.coalesce.rx_coalesce_usecs = value >> 3 & 0xff;
		data.coalesce.rx_max_coalesced_frames = value >> 11;
	} else {
		data.strings.string_set = ETH_SS_STATS;
		data.strings.len = 64;
	}
	return tell(SIOCETHTOOL, &req);
}

/* text: the address, in hexadecimal digits and colons */
static bool address_of(const char *name, char *text)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, ADDRESS_TEXT);
	close(fd);
	text[len < 0 ? 0 : len] = 0;
	return len == ADDRESS_TEXT;
}

/* The address of an interface, one bit of which becomes another. */
static int set_address(const char *name, uint64_t value)
{
	struct message message = message_begin(RTM_NEWLINK, sizeof(struct ifinfomsg));
	struct ifinfomsg *info = (struct ifinfomsg *)message.attrs;
	char text[ADDRESS_TEXT + 1];
	uint8_t address[ADDRESS];

	if (!address_of(name, text))
		return ENODEV;
	for (unsigned int i = 0; i < ADDRESS; i++)
		address[i] = strtoul(text + 3 * i, NULL, 16);
	address[value / 8 % ADDRESS] ^= 1U << value % 8;
	info->ifi_index = if_nametoindex(name);
	message_put(&message, IFLA_ADDRESS, address, sizeof(address));
	return message_ask(&message, NETLINK_ROUTE);
}

/*
 * A further interface on the device's own one, for a partition.  Bits 0, 1: which partition; 2: the
 * mode; 3: whether it says one; 4: a name that another one may have.
 */
static int make(uint64_t value)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8001, 0x8002, 0 };
	struct message message = message_begin(RTM_NEWLINK, sizeof(struct ifinfomsg));
	uint16_t mode = value >> 2 & 1, umcast = value & 1;
	char name[IFNAMSIZ];
	unsigned int info, data;
	uint32_t index;

	if (!net_name(name, sizeof(name)))
		return ENODEV;
	index = if_nametoindex(name);
	message.head.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
	snprintf(name, sizeof(name), MADE "%lu", value >> 4 & 1 ? 0 : value >> 5 & 3);
	message_put_text(&message, IFLA_IFNAME, name);
	message_put(&message, IFLA_LINK, &index, sizeof(index));
	info = message_nest(&message, IFLA_LINKINFO);
	message_put_text(&message, IFLA_INFO_KIND, "ipoib");
	data = message_nest(&message, IFLA_INFO_DATA);
	message_put(&message, IFLA_IPOIB_PKEY, &pkeys[value % 4], sizeof(pkeys[0]));
	if (value >> 3 & 1) {
		message_put(&message, IFLA_IPOIB_MODE, &mode, sizeof(mode));
		message_put(&message, IFLA_IPOIB_UMCAST, &umcast, sizeof(umcast));
	}
	message_ends(&message, data);
	message_ends(&message, info);
	return message_ask(&message, NETLINK_ROUTE);
}

static int take_away(const char *name)
{
	struct message message = message_begin(RTM_DELLINK, sizeof(struct ifinfomsg));
	struct ifinfomsg *info = (struct ifinfomsg *)message.attrs;

	info->ifi_index = if_nametoindex(name);
	return info->ifi_index ? message_ask(&message, NETLINK_ROUTE) : ENODEV;
}

static int send_from(int sock, const char *name, uint64_t value)
{
	/* with its own address, without an answer, everybody, groups */
	static const char *const to[] = {
		SAME, "10.78.0.3", "10.78.0.255", "239.1.1.1", "224.0.0.251", "239.1.1.2",
	};
	static uint8_t packet[PACKET];
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	struct sockaddr_ll raw = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	unsigned int kind = value & 7, len = (value >> 6) % PACKET;
	struct sockaddr *at = (struct sockaddr *)&in;
	socklen_t size = sizeof(in);

	if (kind == 6) {
		inet_pton(AF_INET6, "ff02::1", &in6.sin6_addr);
		in6.sin6_scope_id = if_nametoindex(name);
		at = (struct sockaddr *)&in6;
		size = sizeof(in6);
	} else if (kind == 7) {
		raw.sll_ifindex = if_nametoindex(name);
		at = (struct sockaddr *)&raw;
		size = sizeof(raw);
	} else {
		inet_pton(AF_INET, to[kind], &in.sin_addr);
	}
	for (unsigned int i = 0; i <= (value >> 3 & 7); i++) {
		if (sendto(sock, packet, len, MSG_DONTWAIT, at, size) < 0)
			return errno;
	}
	return 0;
}

/* Bits 0 to 2: to whom; 3 to 5: how many; from 6 on: how long. */
static int packets(const char *name, uint64_t value)
{
	static const int families[] = { [6] = AF_INET6, [7] = AF_PACKET };
	unsigned int kind = value & 7;
	int family = kind < 6 ? AF_INET : families[kind], on = 1, err = 0, sock;

	sock = socket(family, (family == AF_PACKET ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return errno;
	if (family != AF_PACKET &&
	    (setsockopt(sock, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) ||
	     setsockopt(sock, SOL_SOCKET, SO_BINDTODEVICE, name, strlen(name) + 1)))
		err = errno;
	err = err ?: send_from(sock, name, value);
	close(sock);
	return err;
}

/* Bits 0 to 2: what; 3: to which interface; the rest is its own. */
int net_run(uint64_t value)
{
	enum { UP, DOWN, MTU, PACKETS, MAKE, TAKE_AWAY, SET_ADDRESS, ETHTOOL } what = value & 7;
	char name[IFNAMSIZ] = "";

	__atomic_store_n(&shared->nets, 1, __ATOMIC_RELAXED);
	value >>= 3;
	if (what == MAKE)
		return make(value >> 1);
	if (!which(value, name))
		return ENODEV;
	value >>= 1;
	switch (what) {
	case MTU:
		return set_mtu(name, value);
	case PACKETS:
		return packets(name, value);
	case TAKE_AWAY:
		return take_away(name);
	case SET_ADDRESS:
		return set_address(name, value);
	case ETHTOOL:
		return ethtool(name, value);
	default:
		return set_flags(name, what == UP, value);
	}
}

/* Takes away what programs have made, if it is still there. */
static void take_all_away(void)
{
	DIR *dir = opendir("/sys/class/net");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (!strncmp(entry->d_name, MADE, strlen(MADE)) ||
		    (!strncmp(entry->d_name, MAIN, strlen(MAIN)) && strchr(entry->d_name, '.')))
			take_away(entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/*
 * Writes what makes the interface what it is before a program; its address and another one's are
 * the same, so that packets to the latter come back.
 */
static bool write_batch(const char *name)
{
	char address[ADDRESS_TEXT + 1];
	FILE *file;

	if (!address_of(name, address))
		return false;
	file = fopen(BATCH, "we");
	if (!file)
		return false;
	if (!*first_address)
		memcpy(first_address, address, sizeof(address));
	if (strcmp(address + QPN_TEXT, first_address + QPN_TEXT)) {
		memcpy(address + QPN_TEXT, first_address + QPN_TEXT, sizeof(address) - QPN_TEXT);
		fprintf(file, "link set %s down\nlink set %s address %s\n", name, name, address);
	}
	fprintf(file, "link set %s type ipoib mode datagram umcast 0\n", name);
	fprintf(file, "link set %s mtu " FIRST_MTU " promisc off allmulticast off arp on up\n"
		"addr replace " OWN "/24 dev %s\nneigh replace " SAME " lladdr %s dev %s\n",
		name, name, address, name);
	return !fclose(file);
}

/*
 * Called before the first program, and when one has ended and the device is there: the interface is
 * as programs find it.
 */
void net_clean(void)
{
	char *const words[] = { "ip", "-force", "-batch", BATCH, NULL };
	static uint32_t removed;
	posix_spawn_file_actions_t quiet;
	char name[IFNAMSIZ];
	pid_t pid;

	if (!net_name(name, sizeof(name)) ||
	    (*first_address && !shared->nets && shared->removed == removed))
		return;
	take_all_away();
	if (!write_batch(name))
		return;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!posix_spawnp(&pid, words[0], &quiet, NULL, words, environ))
		waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&quiet);
	shared->nets = 0;
	removed = shared->removed;
}
