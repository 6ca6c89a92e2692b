// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests and replies of the nldev client: what all commands have in common.
 */
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

/* The attributes that requests of the commands served here may carry. */
static const struct nla_policy nldev_policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_NDEV_NAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[RDMA_NLDEV_ATTR_LINK_TYPE] = { .type = NLA_NUL_STRING,
					.len = RDMA_NLDEV_ATTR_ENTRY_STRLEN - 1 },
	[RDMA_NLDEV_ATTR_DRIVER_DETAILS] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_DEV_DIM] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = { .type = NLA_NUL_STRING,
					   .len = RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE - 1 },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_PDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MRN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CTXN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_SRQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_MODE] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_RES] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = { .type = NLA_NESTED },
	[RDMA_NLDEV_NET_NS_FD] = { .type = NLA_U32 },
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
	[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE] = { .type = NLA_U8 },
};

/**
 * nl_request_parse - take a request apart
 * @request: filled in
 * @skb: the message
 * @nlh: its header
 * @extack: where a reason goes
 *
 * Attributes that no policy describes are passed over, as they may be meant for a newer kernel.
 * Return: 0 or -EINVAL, -ERANGE for a malformed attribute.
 */
int nl_request_parse(struct nl_request *request, struct sk_buff *skb, const struct nlmsghdr *nlh,
		     struct netlink_ext_ack *extack)
{
	request->skb = skb;
	request->nlh = nlh;
	request->extack = extack;
	return __nlmsg_parse(nlh, 0, request->tb, RDMA_NLDEV_ATTR_MAX - 1, nldev_policy,
			     NL_VALIDATE_LIBERAL, extack);
}

/**
 * nl_request_device - the device a request names
 * @request: a parsed request
 *
 * Return: the device with a reference for ib_device_put(), or ERR_PTR(-EINVAL).
 */
struct ib_device *nl_request_device(struct nl_request *request)
{
	struct ib_device *device;
	u32 index;

	if (!request->tb[RDMA_NLDEV_ATTR_DEV_INDEX])
		return ERR_PTR(rdma_nl_refuse(request->extack, -EINVAL, "no device index"));
	index = nla_get_u32(request->tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	device = ib_device_get_by_index(sock_net(request->skb->sk), index);
	if (!device)
		return ERR_PTR(rdma_nl_refuse(request->extack, -EINVAL, "no device has index %u",
					 index));
	return device;
}

/**
 * nl_request_port - the port a request names
 * @request: a parsed request
 * @device: the device
 * @port_num: the port
 *
 * Return: 0 or -EINVAL.
 */
int nl_request_port(struct nl_request *request, struct ib_device *device, u32 *port_num)
{
	if (!request->tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return rdma_nl_refuse(request->extack, -EINVAL, "no port number");
	*port_num = nla_get_u32(request->tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	if (!rdma_is_port_valid(device, *port_num))
		return rdma_nl_refuse(request->extack, -EINVAL, "%s has no port %u", device->name,
				 *port_num);
	return 0;
}

/**
 * nl_reply_begin - begin the reply to a request that is no dump
 * @request: the request
 * @reply: the reply's header
 *
 * Return: the message, or NULL without memory.
 */
struct sk_buff *nl_reply_begin(struct nl_request *request, struct nlmsghdr **reply)
{
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!msg)
		return NULL;
	*reply = nlmsg_put(msg, NETLINK_CB(request->skb).portid, request->nlh->nlmsg_seq,
			   request->nlh->nlmsg_type, 0, 0);
	if (!*reply) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/**
 * nl_reply_send - send the reply to a request
 * @request: the request
 * @msg: message of nl_reply_begin(); consumed
 * @reply: its header
 *
 * Return: 0 or a negative errno.
 */
int nl_reply_send(struct nl_request *request, struct sk_buff *msg, struct nlmsghdr *reply)
{
	nlmsg_end(msg, reply);
	return rdma_nl_unicast(sock_net(request->skb->sk), msg, NETLINK_CB(request->skb).portid);
}

/**
 * nl_put_device - append what every reply about a device begins with
 * @msg: the message
 * @device: the device
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_device(struct sk_buff *msg, struct ib_device *device)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device->index) ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, device->name))
		return -EMSGSIZE;
	return 0;
}

/**
 * nl_put_netdev - append the net device of a port, if it has one in the reader's namespace
 * @msg: the message
 * @device: the device
 * @port_num: the port
 * @net: the reader's namespace
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_netdev(struct sk_buff *msg, struct ib_device *device, u32 port_num,
		  const struct net *net)
{
	struct net_device *netdev = ib_device_get_netdev(device, port_num);
	int ret = 0;

	if (netdev && net_eq(dev_net(netdev), net) &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_NDEV_INDEX, netdev->ifindex) ||
	     nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev->name)))
		ret = -EMSGSIZE;
	dev_put(netdev);
	return ret;
}

/**
 * nl_put_u64 - append an aligned 64-bit attribute
 * @msg: the message
 * @attr: attribute type
 * @value: the value
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, RDMA_NLDEV_ATTR_PAD);
}
