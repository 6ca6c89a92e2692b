// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notifications, which "rdma monitor" shows.
 */
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

static int put_association(struct sk_buff *msg, struct ib_device *device, u32 port_num,
			   const struct net *net)
{
	if (nl_put_device(msg, device) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port_num))
		return -EMSGSIZE;
	return nl_put_netdev(msg, device, port_num, net);
}

static int put_event(struct sk_buff *msg, struct ib_device *device, u32 port_num,
		     enum rdma_nl_notify_event_type type, const struct net *net)
{
	int ret;

	if (type == RDMA_NETDEV_ATTACH_EVENT || type == RDMA_NETDEV_DETACH_EVENT)
		ret = put_association(msg, device, port_num, net);
	else
		ret = nl_put_device(msg, device);
	return ret ?: nla_put_u8(msg, RDMA_NLDEV_ATTR_EVENT_TYPE, type);
}

/* A listener that is too slow does not delay this: its socket reports the loss as an error. */
static void notify(struct ib_device *device, u32 port_num, enum rdma_nl_notify_event_type type)
{
	struct net *net = read_pnet(&device->coredev.rdma_net);
	struct nlmsghdr *nlh;
	struct sk_buff *msg;

	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return;
	nlh = nlmsg_put(msg, 0, 0, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR), 0, 0);
	if (!nlh || put_event(msg, device, port_num, type, net)) {
		nlmsg_free(msg);
		return;
	}
	nlmsg_end(msg, nlh);
	rdma_nl_multicast(net, msg, RDMA_NL_GROUP_NOTIFY, GFP_KERNEL);
}

/* Errors are ignored: a listener that misses a message can still send a request. */
static int device_changed(struct notifier_block *nb, unsigned long type, void *data)
{
	const struct ib_device_change *change = data;

	notify(change->device, change->port_num, type);
	return NOTIFY_DONE;
}

struct notifier_block nldev_notifier = {
	.notifier_call = device_changed,
};
