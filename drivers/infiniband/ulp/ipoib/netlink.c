// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Links of kind "ipoib".
 */
#include <linux/if_arp.h>
#include <net/rtnetlink.h>
#include <rdma/rdma_compat.h>
#include <rdma/rdma_reject.h>

#include "admin.h"
#include "dev.h"

static const struct nla_policy policy[IFLA_IPOIB_MAX + 1] = {
	[IFLA_IPOIB_PKEY] = { .type = NLA_U16 },
	[IFLA_IPOIB_MODE] = { .type = NLA_U16 },
	[IFLA_IPOIB_UMCAST] = { .type = NLA_U16 },
};

static int change(struct ipoib_dev *ipoib, struct nlattr *data[])
{
	u16 mode;
	int ret;

	if (data[IFLA_IPOIB_MODE]) {
		mode = nla_get_u16(data[IFLA_IPOIB_MODE]);
		if (mode > IPOIB_MODE_CONNECTED)
			return rdma_refuse(-EINVAL, "mode %u: 0 is datagram, 1 connected", mode);
		ret = ipoib_set_mode(ipoib, mode == IPOIB_MODE_CONNECTED);
		if (ret)
			return ret;
	}
	if (data[IFLA_IPOIB_UMCAST])
		ipoib_set_umcast(ipoib, nla_get_u16(data[IFLA_IPOIB_UMCAST]));
	return 0;
}

/* What a new child is told besides its P_Key; registering it has given it the port's MTU. */
static int set_up(struct net_device *netdev, struct nlattr *tb[], struct nlattr *data[])
{
	int ret = data ? change(ipoib_priv(netdev), data) : 0;
	u32 mtu;

	if (ret || !tb[IFLA_MTU])
		return ret;
	mtu = nla_get_u32(tb[IFLA_MTU]);
	if (mtu > netdev->max_mtu)
		return rdma_refuse(-EINVAL, "mtu %u: it is %u at most", mtu, netdev->max_mtu);
	return dev_set_mtu(netdev, mtu);
}

static int add(struct net *net, struct net_device *netdev, struct nlattr *tb[],
	       struct nlattr *data[])
{
	struct ipoib_dev *parent;
	struct net_device *link;
	int ret;

	if (!tb[IFLA_LINK])
		return rdma_refuse(-EINVAL, "a parent (link) is missing");
	link = __dev_get_by_index(net, nla_get_u32(tb[IFLA_LINK]));
	if (!link || !ipoib_is_ours(link))
		return rdma_refuse(-ENODEV, "the parent is no IPoIB interface");
	parent = ipoib_priv(link);
	if (ipoib_is(parent, IPOIB_CHILD))
		return rdma_refuse(-EINVAL, "the parent is a child itself");
	ret = ipoib_init_dev(netdev, parent->ca, parent->port);
	if (ret)
		return ret;
	ret = ipoib_child_add(parent, netdev,
			      data && data[IFLA_IPOIB_PKEY] ? nla_get_u16(data[IFLA_IPOIB_PKEY]) :
							      parent->pkey, false);
	if (ret) {
		ipoib_end_dev(netdev);
		return ret;
	}
	ret = set_up(netdev, tb, data);
	if (ret)
		unregister_netdevice(netdev);
	return ret;
}

static int make_link(struct net *net, struct net_device *netdev, struct nlattr *tb[],
		     struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct rdma_reject_scope scope;
	int ret;

	rdma_reject_enter(NULL, &scope);
	scope.extack = extack;
	ret = add(net, netdev, tb, data);
	rdma_reject_leave(&scope);
	return ret;
}

RDMA_NEWLINK(newlink, make_link)

static int changelink(struct net_device *netdev, struct nlattr *tb[], struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	struct rdma_reject_scope scope;
	int ret;

	if (!data)
		return 0;
	rdma_reject_enter(NULL, &scope);
	scope.extack = extack;
	ret = change(ipoib_priv(netdev), data);
	rdma_reject_leave(&scope);
	return ret;
}

/* The interface of a port goes with its device alone. */
static void dellink(struct net_device *netdev, struct list_head *head)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	if (ipoib->parent)
		unregister_netdevice_queue(netdev, head);
}

static size_t get_size(const struct net_device *netdev)
{
	return 3 * nla_total_size(sizeof(u16));
}

static int fill_info(struct sk_buff *skb, const struct net_device *netdev)
{
	const struct ipoib_dev *ipoib = ipoib_priv(netdev);

	if (nla_put_u16(skb, IFLA_IPOIB_PKEY, ipoib->pkey) ||
	    nla_put_u16(skb, IFLA_IPOIB_MODE, ipoib_is(ipoib, IPOIB_CONNECTED)) ||
	    nla_put_u16(skb, IFLA_IPOIB_UMCAST, ipoib_is(ipoib, IPOIB_UMCAST)))
		return -EMSGSIZE;
	return 0;
}

struct rtnl_link_ops ipoib_link_ops __read_mostly = {
	.kind = "ipoib",
	.netns_refund = true,
	.maxtype = IFLA_IPOIB_MAX,
	.policy = policy,
	.priv_size = sizeof(struct rdma_netdev),
	.setup = ipoib_setup,
	.newlink = newlink,
	.changelink = changelink,
	.dellink = dellink,
	.get_size = get_size,
	.fill_info = fill_info,
};
