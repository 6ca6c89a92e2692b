// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each InfiniBand port of each RDMA device has an interface. The core's users ask by which network
 * device a connection request has come.
 */
#include <kunit/visibility.h>
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>

#include "admin.h"
#include "client.h"
#include "dev.h"

static struct ipoib_dev *add_port(struct ib_device *ca, u32 port)
{
	struct net_device *netdev;
	int ret;

	netdev = ipoib_create_dev(ca, port, "ib%d");
	if (IS_ERR(netdev)) {
		dev_warn(&ca->dev, "port %u gets no interface: error %ld\n", port, PTR_ERR(netdev));
		return NULL;
	}
	/*
	 * The stack allocates every child with the private size of these operations, whatever its
	 * device: it has to be enough for all devices. Several devices may come at the same time.
	 */
	rtnl_lock();
	ipoib_link_ops.priv_size = max(ipoib_link_ops.priv_size, ipoib_priv_size(ca, port));
	rtnl_unlock();
	netdev->rtnl_link_ops = &ipoib_link_ops;
	netdev->sysfs_groups[0] = &ipoib_port_group;
	ret = register_netdev(netdev);
	if (ret) {
		dev_warn(&ca->dev, "port %u gets no interface: error %d\n", port, ret);
		ipoib_discard_dev(netdev);
		return NULL;
	}
	ipoib_event_start(ipoib_priv(netdev));
	return ipoib_priv(netdev);
}

static int add(struct ib_device *ca)
{
	struct list_head *ports = kzalloc(sizeof(*ports), GFP_KERNEL);
	struct ipoib_dev *ipoib;
	u32 port;

	if (!ports)
		return -ENOMEM;
	INIT_LIST_HEAD(ports);
	rdma_for_each_port(ca, port) {
		if (!rdma_protocol_ib(ca, port) || !rdma_cap_ib_sa(ca, port))
			continue;
		ipoib = add_port(ca, port);
		if (ipoib)
			list_add_tail(&ipoib->entry, ports);
	}
	if (list_empty(ports)) {
		kfree(ports);
		return -EOPNOTSUPP;
	}
	ib_set_client_data(ca, &ipoib_client, ports);
	return 0;
}

static void remove(struct ib_device *ca, void *data)
{
	struct list_head *ports = data;
	struct ipoib_dev *ipoib, *next, *child;

	list_for_each_entry_safe(ipoib, next, ports, entry) {
		LIST_HEAD(gone);

		ipoib_event_stop(ipoib);
		rtnl_lock();
		list_for_each_entry(child, &ipoib->children, entry)
			unregister_netdevice_queue(child->netdev, &gone);
		unregister_netdevice_queue(ipoib->netdev, &gone);
		unregister_netdevice_many(&gone);
		rtnl_unlock();
	}
	kfree(ports);
}

/* ---- by which network device something has come ---- */

/**
 * struct sought - what is looked for
 * @gid: own GID, NULL if any will do
 * @pkey_index: place of the P_Key
 * @addr: own IP address, NULL if any will do
 * @found: the first one, with a reference
 * @count: how many there are
 */
struct sought {
	const union ib_gid *gid;
	u16 pkey_index;
	const struct sockaddr *addr;
	struct net_device *found;
	unsigned int count;
};

static bool has_addr(struct net_device *netdev, const struct sockaddr *addr)
{
	struct in_device *in_dev;

	switch (addr->sa_family) {
	case AF_INET:
		in_dev = __in_dev_get_rcu(netdev);
		return in_dev && inet_confirm_addr(dev_net(netdev), in_dev, 0,
						   ((struct sockaddr_in *)addr)->sin_addr.s_addr,
						   RT_SCOPE_HOST);
#if IS_ENABLED(CONFIG_IPV6)
	case AF_INET6:
		/* Without IPv6 there is no table of its addresses, but a peer may name one. */
		return ipv6_mod_enabled() &&
		       ipv6_chk_addr(dev_net(netdev), &((struct sockaddr_in6 *)addr)->sin6_addr,
				     netdev, 1);
#endif
	default:
		return false;
	}
}

static int upper_has_addr(struct net_device *upper, struct netdev_nested_priv *priv)
{
	struct sought *sought = priv->data;

	if (!has_addr(upper, sought->addr))
		return 0;
	sought->found = upper;
	return 1;
}

/* The network device that has the address: the interface, or one above it, such as a bond. */
static struct net_device *with_addr(struct net_device *netdev, const struct sought *sought)
{
	struct sought above = { .addr = sought->addr };
	struct netdev_nested_priv priv = { .data = &above };

	if (has_addr(netdev, sought->addr))
		return netdev;
	netdev_walk_all_upper_dev_rcu(netdev, upper_has_addr, &priv);
	return above.found;
}

/* A bond has the addresses of its members; a VRF leaves them to the interface. */
static struct net_device *with_addresses(struct net_device *netdev)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(netdev);

	return master && !netif_is_l3_master(master) ? master : netdev;
}

/**
 * ipoib_client_in_partition() - can what comes with a P_Key be for an interface?
 * @ipoib: interface; a child that is being registered may still fail, which waits for no references
 * @pkey_index: place of the P_Key
 *
 * Context: any.
 * Return: whether it can; never if the port lacks the interface's own P_Key.
 */
VISIBLE_IF_KUNIT bool ipoib_client_in_partition(struct ipoib_dev *ipoib, u16 pkey_index)
{
	return READ_ONCE(ipoib->netdev->reg_state) == NETREG_REGISTERED &&
	       ipoib_is(ipoib, IPOIB_PKEY_FOUND) && READ_ONCE(ipoib->pkey_index) == pkey_index;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_client_in_partition);

static void look_at(struct ipoib_dev *ipoib, struct sought *sought)
{
	struct net_device *netdev;

	if (!ipoib_client_in_partition(ipoib, sought->pkey_index) ||
	    (sought->gid && memcmp(sought->gid, &ipoib->gid, sizeof(ipoib->gid))))
		return;
	netdev = sought->addr ? with_addr(ipoib->netdev, sought) : with_addresses(ipoib->netdev);
	if (!netdev)
		return;
	if (!sought->count++) {
		dev_hold(netdev);
		sought->found = netdev;
	}
}

static void look(struct list_head *ports, u32 port, struct sought *sought)
{
	struct ipoib_dev *ipoib, *child;

	guard(rcu)();
	list_for_each_entry(ipoib, ports, entry) {
		if (ipoib->port != port)
			continue;
		look_at(ipoib, sought);
		list_for_each_entry_rcu(child, &ipoib->children, entry)
			look_at(child, sought);
	}
}

static struct net_device *get_net_dev_by_params(struct ib_device *ca, u32 port, u16 pkey,
						const union ib_gid *gid,
						const struct sockaddr *addr, void *data)
{
	struct sought sought = { .gid = gid };

	if (!rdma_protocol_ib(ca, port) ||
	    ib_find_cached_pkey(ca, port, pkey, &sought.pkey_index))
		return NULL;
	look(data, port, &sought);
	if (sought.count < 2)
		return sought.found;
	/* Children have the same GID, and may have the same P_Key: the address tells them apart. */
	dev_put(sought.found);
	sought.found = NULL;
	sought.count = 0;
	sought.addr = addr;
	if (addr)
		look(data, port, &sought);
	if (sought.count > 1)
		dev_warn_ratelimited(&ca->dev, "several interfaces have the same address\n");
	return sought.found;
}

struct ib_client ipoib_client = {
	.name = "ipoib",
	.add = add,
	.remove = remove,
	.get_net_dev_by_params = get_net_dev_by_params,
};
