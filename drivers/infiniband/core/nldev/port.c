// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about ports: PORT_GET.
 */
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

static int put_subnet(struct sk_buff *msg, const struct ib_port_attr *attr)
{
	u64 capabilities = attr->port_cap_flags | (u64)attr->port_cap_flags2 << 32;

	if (nl_put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS, capabilities) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_SUBNET_PREFIX, attr->subnet_prefix) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_LID, attr->lid) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_SM_LID, attr->sm_lid) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_LMC, attr->lmc))
		return -EMSGSIZE;
	return 0;
}

static int put_port_info(struct sk_buff *msg, struct ib_device *device, u32 port_num,
			 const struct net *net)
{
	struct ib_port_attr attr;
	int ret;

	if (nl_put_device(msg, device) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port_num))
		return -EMSGSIZE;
	ret = ib_query_port(device, port_num, &attr);
	if (ret)
		return ret;
	if (rdma_protocol_ib(device, port_num)) {
		ret = put_subnet(msg, &attr);
		if (ret)
			return ret;
	}
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_STATE, attr.state) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, attr.phys_state))
		return -EMSGSIZE;
	return nl_put_netdev(msg, device, port_num, net);
}

/**
 * nldev_port_get() - RDMA_NLDEV_CMD_PORT_GET for one port
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for a missing or unknown device or port, or the driver's error.
 */
int nldev_port_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct sk_buff *msg = NULL;
	struct nl_request request;
	struct ib_device *device;
	struct nlmsghdr *reply = NULL;
	u32 port_num;
	int ret;

	device = nl_request_begin(&request, skb, nlh, extack);
	if (IS_ERR(device))
		return PTR_ERR(device);

	ret = nl_request_port(&request, device, &port_num);
	if (!ret) {
		msg = nl_reply_begin(&request, &reply);
		ret = msg ? put_port_info(msg, device, port_num, sock_net(skb->sk)) : -ENOMEM;
	}
	ib_device_put(device);
	return nl_reply_send(&request, msg, reply, ret);
}

static int dump_port(struct sk_buff *skb, struct netlink_callback *cb, struct ib_device *device,
		     u32 port_num)
{
	struct nlmsghdr *reply = nl_dump_begin(skb, cb);

	if (!reply)
		return -EMSGSIZE;
	return nl_dump_end(skb, reply, put_port_info(skb, device, port_num, sock_net(skb->sk)));
}

/**
 * nldev_port_dump() - RDMA_NLDEV_CMD_PORT_GET for all ports of a device
 * @skb: a part of the answer
 * @cb: state of the dump: args[0] is the number of ports sent
 *
 * Return: bytes in @skb, or -EINVAL for a missing or unknown device.
 */
int nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	unsigned int number = 0;
	struct nl_request request;
	struct ib_device *device;
	u32 port_num;

	device = nl_request_begin(&request, cb->skb, cb->nlh, cb->extack);
	if (IS_ERR(device))
		return PTR_ERR(device);

	rdma_for_each_port(device, port_num) {
		if (number++ < cb->args[0])
			continue;
		if (dump_port(skb, cb, device, port_num))
			break;
		cb->args[0] = number;
	}
	ib_device_put(device);
	return skb->len;
}
