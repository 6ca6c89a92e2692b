// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_net.h.
 *
 * The interface has the addresses 198.18.0.1/24 and 2001:db8::1/64; both prefixes are reserved for
 * documentation and measurements.
 */
#include <linux/etherdevice.h>
#include <linux/file.h>
#include <linux/icmpv6.h>
#include <linux/inet.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "fake_net.h"

#define MESSAGE_SIZE 256

/* Makes a socket address of an IP address. */
void fake_ip_read(union addr_ip *ip, const char *text)
{
	memset(ip, 0, sizeof(*ip));
	if (in4_pton(text, -1, (u8 *)&ip->in.sin_addr, -1, NULL))
		ip->any.sa_family = AF_INET;
	else if (in6_pton(text, -1, (u8 *)&ip->in6.sin6_addr, -1, NULL))
		ip->any.sa_family = AF_INET6;
}

static const void *bytes_of(const union addr_ip *ip, int *len)
{
	*len = ip->any.sa_family == AF_INET ? 4 : 16;
	return ip->any.sa_family == AF_INET ? (const void *)&ip->in.sin_addr :
					      (const void *)&ip->in6.sin6_addr;
}

/* ---- the interface ---- */

/* Duplicate address detection sends its solicitation from the unspecified address. */
static bool is_question(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	const struct icmp6hdr *icmp = (const void *)(ip + 1);

	if (skb->protocol == htons(ETH_P_ARP))
		return true;
	return skb->protocol == htons(ETH_P_IPV6) && ip->nexthdr == IPPROTO_ICMPV6 &&
	       icmp->icmp6_type == NDISC_NEIGHBOUR_SOLICITATION && !ipv6_addr_any(&ip->saddr);
}

static netdev_tx_t lose(struct sk_buff *skb, struct net_device *dev)
{
	struct fake_net *net = *(struct fake_net **)netdev_priv(dev);

	if (is_question(skb))
		complete_all(&net->asked);
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ops = {
	.ndo_start_xmit = lose,
	.ndo_set_mac_address = eth_mac_addr,
};

/* An interface whose frames have no header solicits no neighbours. */
static int no_header(struct sk_buff *skb, struct net_device *dev, unsigned short type,
		     const void *daddr, const void *saddr, unsigned int len)
{
	return 0;
}

static const struct header_ops infiniband_header_ops = { .create = no_header };

static void setup_infiniband(struct net_device *dev)
{
	dev->header_ops = &infiniband_header_ops;
	dev->type = ARPHRD_INFINIBAND;
	dev->addr_len = 20;
	dev->mtu = 2044;
	dev->tx_queue_len = 10;
	dev->flags = IFF_BROADCAST | IFF_MULTICAST;
	memset(dev->broadcast, 0xff, dev->addr_len);
}

static int send_and_hear(struct fake_net *net, struct nlmsghdr *nlh)
{
	u8 answer[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO);
	struct kvec vec = { .iov_base = nlh, .iov_len = nlh->nlmsg_len };
	struct msghdr msg = {};
	int ret;

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
	ret = kernel_sendmsg(net->socket, &msg, &vec, 1, nlh->nlmsg_len);
	if (ret < 0)
		return ret;
	vec.iov_base = answer;
	vec.iov_len = sizeof(answer);
	msg = (struct msghdr){};
	ret = kernel_recvmsg(net->socket, &msg, &vec, 1, sizeof(answer), 0);
	if (ret < 0)
		return ret;
	return ((struct nlmsgerr *)nlmsg_data((struct nlmsghdr *)answer))->error;
}

static void put(struct nlmsghdr *nlh, int type, const void *data, int len)
{
	struct nlattr *nla = (void *)nlh + nlh->nlmsg_len;

	nla->nla_type = type;
	nla->nla_len = nla_attr_size(len);
	memcpy(nla_data(nla), data, len);
	nlh->nlmsg_len += nla_total_size(len);
}

/**
 * fake_net_address() - add or delete an address
 * @net: interface, whose socket is used
 * @dev: interface that gets the address, @net's or another
 * @text: the address
 * @prefix: length of its prefix in bits
 * @add: add it
 *
 * Return: 0 or an error.
 */
int fake_net_address(struct fake_net *net, struct net_device *dev, const char *text, int prefix,
		     bool add)
{
	u8 message[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO) = {};
	struct nlmsghdr *nlh = (void *)message;
	struct ifaddrmsg *head = nlmsg_data(nlh);
	union addr_ip ip = fake_ip(text);
	const void *bytes;
	int len;

	bytes = bytes_of(&ip, &len);
	nlh->nlmsg_type = add ? RTM_NEWADDR : RTM_DELADDR;
	nlh->nlmsg_len = NLMSG_LENGTH(sizeof(*head));
	*head = (struct ifaddrmsg){
		.ifa_family = ip.any.sa_family, .ifa_prefixlen = prefix,
		.ifa_flags = ip.any.sa_family == AF_INET6 ? IFA_F_NODAD : 0,
		.ifa_index = dev->ifindex,
	};
	put(nlh, IFA_LOCAL, bytes, len);
	put(nlh, IFA_ADDRESS, bytes, len);
	return send_and_hear(net, nlh);
}

/*
 * Adds or deletes a route over a gateway, or, without a gateway, a route that makes the destination
 * unreachable.
 */
static int change_route(struct fake_net *net, u16 message_type, const char *dst, int len,
			const char *gateway)
{
	u8 message[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO) = {};
	struct nlmsghdr *nlh = (void *)message;
	struct rtmsg *head = nlmsg_data(nlh);
	union addr_ip to = fake_ip(dst), by = fake_ip(gateway ?: dst);
	u32 ifindex = net->dev->ifindex;
	const void *bytes;
	int size;

	nlh->nlmsg_type = message_type;
	nlh->nlmsg_len = NLMSG_LENGTH(sizeof(*head));
	*head = (struct rtmsg){
		.rtm_family = to.any.sa_family, .rtm_dst_len = len, .rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC, .rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = gateway ? RTN_UNICAST : RTN_UNREACHABLE,
	};
	bytes = bytes_of(&to, &size);
	put(nlh, RTA_DST, bytes, size);
	if (gateway) {
		bytes = bytes_of(&by, &size);
		put(nlh, RTA_GATEWAY, bytes, size);
		put(nlh, RTA_OIF, &ifindex, sizeof(ifindex));
	}
	return send_and_hear(net, nlh);
}

/**
 * fake_net_gateway() - add a route through a gateway
 * @net: interface
 * @dst: destination
 * @len: length of its prefix in bits
 * @gateway: router
 *
 * Return: 0 or an error.
 */
int fake_net_gateway(struct fake_net *net, const char *dst, int len, const char *gateway)
{
	return change_route(net, RTM_NEWROUTE, dst, len, gateway);
}

/**
 * fake_net_unreachable() - make a destination unreachable, until the interface is removed
 * @net: interface
 * @dst: IPv4 address, one for each interface
 *
 * Return: 0 or an error.
 */
int fake_net_unreachable(struct fake_net *net, const char *dst)
{
	net->unreachable = dst;
	return change_route(net, RTM_NEWROUTE, dst, 32, NULL);
}

/**
 * fake_net_answer() - a neighbour announces its link address
 * @test: fails if that is not possible
 * @net: interface
 * @ip: IP address of the neighbour
 * @last: last byte of its link address, whose other bytes are the interface's
 */
void fake_net_answer(struct kunit *test, struct fake_net *net, const char *ip, u8 last)
{
	union addr_ip of = fake_ip(ip);
	u8 address[MAX_ADDR_LEN];
	struct neighbour *neigh;
	const void *bytes;
	int len;

	bytes = bytes_of(&of, &len);
	neigh = __neigh_lookup_errno(of.any.sa_family == AF_INET ? &arp_tbl : &nd_tbl, bytes,
				     net->dev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(neigh));
	memcpy(address, net->dev->dev_addr, sizeof(address));
	address[net->dev->addr_len - 1] = last;
	KUNIT_EXPECT_EQ(test, neigh_update(neigh, address, NUD_REACHABLE,
					   NEIGH_UPDATE_F_OVERRIDE | NEIGH_UPDATE_F_ADMIN, 0), 0);
	neigh_release(neigh);
}

/**
 * fake_net_begin() - make an interface with addresses
 * @test: fails if that is not possible
 * @type: ARPHRD_ETHER or ARPHRD_INFINIBAND
 *
 * Return: the interface, for fake_net_end().
 */
struct fake_net *fake_net_begin(struct kunit *test, unsigned short type)
{
	struct fake_net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);
	u8 address[MAX_ADDR_LEN] = { 0x02, 0, 0, 0, 0xfe, 0x80 };
	struct file *file;

	KUNIT_ASSERT_NOT_NULL(test, net);
	init_completion(&net->asked);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_ROUTE,
					       &net->socket), 0);
	net->dev = alloc_netdev(sizeof(net), "kt_addr%d", NET_NAME_UNKNOWN,
				type == ARPHRD_ETHER ? ether_setup : setup_infiniband);
	KUNIT_ASSERT_NOT_NULL(test, net->dev);
	/* The permissions of a socket are those with which its file was opened. */
	file = sock_alloc_file(net->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	net->file = file;
	*(struct fake_net **)netdev_priv(net->dev) = net;
	net->dev->netdev_ops = &ops;
	address[net->dev->addr_len - 1] = FAKE_OWN;
	dev_addr_mod(net->dev, 0, address, net->dev->addr_len);
	KUNIT_ASSERT_EQ(test, register_netdev(net->dev), 0);
	netif_carrier_on(net->dev);
	rtnl_lock();
	/* No duplicate address detection: the interface solicits no neighbours before it ends. */
	WRITE_ONCE(__in6_dev_get(net->dev)->cnf.accept_dad, 0);
	KUNIT_EXPECT_EQ(test, dev_open(net->dev, NULL), 0);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.0.1", 24, true), 0);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "2001:db8::1", 64, true), 0);
	return net;
}

/* Unregistering waits until no reference to the interface is left. */
void fake_net_end(struct fake_net *net)
{
	if (net->unreachable)
		change_route(net, RTM_DELROUTE, net->unreachable, 32, NULL);
	unregister_netdev(net->dev);
	free_netdev(net->dev);
	__fput_sync(net->file);
}

/* ---- requests ---- */

void fake_wait_init(struct fake_wait *wait)
{
	*wait = (struct fake_wait){ .addr = { .net = &init_net } };
	init_completion(&wait->done);
}

/* The callback */
void fake_heard(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *context)
{
	struct fake_wait *wait = context;

	wait->status = addr == &wait->addr ? status : -EBADSLT;
	memcpy(&wait->src, src, rdma_addr_size(src));
	atomic_inc(&wait->calls);
	complete(&wait->done);
}

/**
 * fake_resolve() - begin to resolve an address
 * @wait: gets the result; initialised
 * @src: source address or NULL
 * @dst: destination address
 * @timeout_ms: milliseconds
 *
 * Return: what rdma_resolve_ip() returned.
 */
int fake_resolve(struct fake_wait *wait, const char *src, const char *dst, unsigned int timeout_ms)
{
	union addr_ip from = fake_ip(src ?: dst), to = fake_ip(dst);

	return rdma_resolve_ip(src ? &from.any : NULL, &to.any, &wait->addr, timeout_ms,
			       fake_heard, false, wait);
}

/* Waits for the callback. Returns its status, or -EBUSY if it is not called in half a minute. */
int fake_result(struct fake_wait *wait)
{
	if (wait_for_completion_timeout(&wait->done, 30 * HZ))
		return wait->status;
	rdma_addr_cancel(&wait->addr);
	return -EBUSY;
}
