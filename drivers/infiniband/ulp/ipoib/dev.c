// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the network stack calls.
 */
#include <kunit/visibility.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "dev.h"
#include "mcast.h"
#include "path.h"
#include "ud.h"

/* How long the device may take to send a packet. */
#define TX_TIMEOUT	(10 * HZ)

/* The broadcast group of IPv4, of link-local scope; its P_Key is filled in. */
static const u8 broadcast[IPOIB_ADDR_LEN] = {
	0x00, 0xff, 0xff, 0xff,
	0xff, 0x12, 0x40, 0x1b, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff
};

/* ---- sending ---- */

static int header(struct sk_buff *skb, struct net_device *netdev, unsigned short type,
		  const void *daddr, const void *saddr, unsigned int len)
{
	struct ipoib_head *head = skb_push(skb, sizeof(*head));

	/* A program that sends by a packet socket need not name a receiver. */
	if (!daddr)
		return -(int)sizeof(*head);
	/* Always, since nothing else tells the driver where the packet goes. */
	memcpy(head->addr, daddr, sizeof(head->addr));
	head->encap.proto = htons(type);
	head->encap.reserved = 0;
	return sizeof(*head);
}

static const struct header_ops header_ops = {
	.create = header,
};

/*
 * A peer may have left connected mode since its address was learnt, so ARP goes by datagrams. So
 * do packets whose checksums or segments are left to the device: they are older than the mode.
 */
static bool by_connection(struct ipoib_dev *ipoib, const struct sk_buff *skb,
			  const struct ipoib_head *head)
{
	return ipoib_is(ipoib, IPOIB_CONNECTED) && head->addr[0] & IPOIB_ADDR_RC &&
	       !ipoib_offload_used(skb) && head->encap.proto != htons(ETH_P_ARP) &&
	       head->encap.proto != htons(ETH_P_RARP);
}

static void send_unicast(struct ipoib_dev *ipoib, struct sk_buff *skb, const u8 *addr)
{
	struct ipoib_ah *ah = ipoib_path_ah(ipoib, ipoib_addr_gid(addr), skb);

	if (ah)
		ipoib_ud_send(ipoib, skb, ah, ipoib_addr_qpn(addr));
}

static netdev_tx_t xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	const struct ipoib_head *head;
	union ib_gid mgid;

	if (!pskb_may_pull(skb, IPOIB_HEAD_LEN) || !ipoib_is(ipoib, IPOIB_STARTED)) {
		ipoib_drop(ipoib, skb);
		return NETDEV_TX_OK;
	}
	head = (const struct ipoib_head *)skb->data;
	if (!ipoib_proto_known(head->encap.proto)) {
		ipoib_drop(ipoib, skb);
	} else if (ipoib_addr_multicast(head->addr)) {
		ipoib_group_gid(&mgid, head->addr, ipoib->pkey);
		ipoib_mcast_send(ipoib, skb, &mgid);
	} else if (by_connection(ipoib, skb, head)) {
		ipoib_cm_send(ipoib, skb, head->addr);
	} else {
		send_unicast(ipoib, skb, head->addr);
	}
	return NETDEV_TX_OK;
}

static netdev_features_t features_check(struct sk_buff *skb, struct net_device *netdev,
					netdev_features_t features)
{
	if (ipoib_offload_used(skb) && !ipoib_offload_fits(skb))
		features &= ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);
	return features;
}

static netdev_features_t fix_features(struct net_device *netdev, netdev_features_t features)
{
	return ipoib_offload_allowed(features, ipoib_is(ipoib_priv(netdev), IPOIB_CONNECTED));
}

static void tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct rdma_netdev *rn = netdev_priv(netdev);
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	if (rn->tx_timeout) {
		rn->tx_timeout(netdev, queue);
		return;
	}
	netdev_warn(netdev, "nothing was sent for %u ms, %u packets wait\n",
		    jiffies_to_msecs(jiffies - dev_trans_start(netdev)),
		    ipoib_ring_used(ipoib->tx_head, atomic_read(&ipoib->tx_tail)));
	ipoib_flush(ipoib, IPOIB_FLUSH_RESTART);
}

/* ---- state ---- */

/* Children follow their parent up and down. */
static void change_children(struct ipoib_dev *ipoib, bool up)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &ipoib->children, entry) {
		unsigned int flags = child->netdev->flags;

		if (up == !(flags & IFF_UP))
			dev_change_flags(child->netdev, flags ^ IFF_UP, NULL);
	}
}

static int open(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	int ret;

	netif_carrier_off(netdev);
	ret = ipoib_up(ipoib);
	/* The P_Key may come later, and with it an event. */
	if (ret == -ENXIO)
		netdev_warn(netdev, "waits for P_Key %#06x in the table of port %u\n", ipoib->pkey,
			    ipoib->port);
	else if (ret)
		return -EINVAL;
	netif_tx_start_all_queues(netdev);
	change_children(ipoib, true);
	return 0;
}

static int stop(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	netif_tx_stop_all_queues(netdev);
	ipoib_down(ipoib);
	change_children(ipoib, false);
	return 0;
}

/* A driver that changes its rings for another MTU sends nothing meanwhile. */
static int set_mtu(struct net_device *netdev, int mtu)
{
	const struct net_device_ops *engine = ipoib_priv(netdev)->engine;
	bool carrier = netif_carrier_ok(netdev);
	int ret;

	if (!engine->ndo_change_mtu) {
		WRITE_ONCE(netdev->mtu, mtu);
		return 0;
	}
	netif_carrier_off(netdev);
	ret = engine->ndo_change_mtu(netdev, mtu);
	if (carrier)
		netif_carrier_on(netdev);
	return ret;
}

static int change_mtu(struct net_device *netdev, int mtu)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	bool connected = ipoib_is(ipoib, IPOIB_CONNECTED);
	unsigned int most = ipoib_ud_mtu(ipoib->port_mtu), group = READ_ONCE(ipoib->group_mtu);

	if (connected)
		most = ipoib->cm->mtu;
	if (ipoib_mtu_check(connected, mtu, most))
		return rdma_refuse(-EINVAL, "mtu %d: it is %u to %u", mtu,
				   connected ? 0 : IPOIB_MIN_MTU, most);
	if (!connected) {
		/* Who asks for the broadcast group's MTU gets a later group's, too. */
		ipoib->wanted_mtu = mtu == group ? IPOIB_LARGEST_MTU : mtu;
		mtu = min_t(unsigned int, mtu, group);
	}
	return set_mtu(netdev, mtu);
}

static void get_stats(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	const struct net_device_ops *engine = ipoib_priv(netdev)->engine;

	if (engine->ndo_get_stats64)
		engine->ndo_get_stats64(netdev, stats);
	else
		netdev_stats_to_stats64(stats, &netdev->stats);
}

static int eth_ioctl(struct net_device *netdev, struct ifreq *ifr, int cmd)
{
	const struct net_device_ops *engine = ipoib_priv(netdev)->engine;

	return engine->ndo_eth_ioctl ? engine->ndo_eth_ioctl(netdev, ifr, cmd) : -EOPNOTSUPP;
}

static void set_rx_mode(struct net_device *netdev)
{
	ipoib_mcast_sync(ipoib_priv(netdev));
}

static int get_iflink(const struct net_device *netdev)
{
	const struct ipoib_dev *ipoib = ipoib_priv(netdev);

	return READ_ONCE((ipoib->parent ?: ipoib)->netdev->ifindex);
}

static void set_guid(struct ipoib_dev *ipoib, const union ib_gid *gid)
{
	struct ipoib_dev *child;

	netif_addr_lock_bh(ipoib->netdev);
	ipoib->gid.global.interface_id = gid->global.interface_id;
	dev_addr_mod(ipoib->netdev, 4, ipoib->gid.raw, sizeof(ipoib->gid));
	netif_addr_unlock_bh(ipoib->netdev);
	set_bit(IPOIB_OWN_GUID, &ipoib->flags);
	clear_bit(IPOIB_GUID_FOUND, &ipoib->flags);
	list_for_each_entry(child, &ipoib->children, entry)
		set_guid(child, gid);
}

/* Only the GUID can be chosen. */
static int set_address(struct net_device *netdev, void *address)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	const u8 *addr = ((struct sockaddr_storage *)address)->__data;
	union ib_gid gid;

	if (!(netdev->priv_flags & IFF_LIVE_ADDR_CHANGE) && netif_running(netdev))
		return rdma_refuse(-EBUSY, "the address cannot change while the interface is up");
	memcpy(gid.raw, ipoib_addr_gid(addr), sizeof(gid));
	if (memcmp(netdev->dev_addr, addr, 4 + sizeof(gid.global.subnet_prefix)))
		return rdma_refuse(-EINVAL, "of an address only the last 8 bytes can change");
	if (!gid.global.interface_id)
		return rdma_refuse(-EINVAL, "the address has no GUID");
	set_guid(ipoib, &gid);
	ipoib_flush(ipoib, IPOIB_FLUSH_LIGHT);
	return 0;
}

/**
 * ipoib_set_mode() - change the mode
 * @ipoib: interface
 * @connected: the new mode
 *
 * Context: RTNL is held.
 * Return: 0; -EINVAL if the interface has no connections.
 */
int ipoib_set_mode(struct ipoib_dev *ipoib, bool connected)
{
	struct net_device *netdev = ipoib->netdev;

	if (connected == ipoib_is(ipoib, IPOIB_CONNECTED))
		return 0;
	if (!ipoib->cm)
		return rdma_refuse(-EINVAL, "the interface got no shared receive queue");
	assign_bit(IPOIB_CONNECTED, &ipoib->flags, connected);
	netdev_update_features(netdev);
	if (connected)
		netdev_warn(netdev, "packets to groups of more than %u bytes are dropped\n",
			    READ_ONCE(ipoib->group_mtu));
	dev_set_mtu(netdev, connected ? ipoib->cm->mtu :
					min(READ_ONCE(ipoib->group_mtu), netdev->mtu));
	ipoib_cm_flush(ipoib);
	ipoib_path_flush(ipoib);
	return 0;
}

/**
 * ipoib_set_umcast() - choose whether groups that programs have joined are left to them
 * @ipoib: interface
 * @on: the interface does not join them for the stack
 *
 * Context: any.
 */
void ipoib_set_umcast(struct ipoib_dev *ipoib, bool on)
{
	assign_bit(IPOIB_UMCAST, &ipoib->flags, on);
	if (on)
		netdev_warn(ipoib->netdev,
			    "groups that programs have joined are not joined for the stack\n");
}

/* ---- life ---- */

static int read_port(struct ipoib_dev *ipoib)
{
	struct net_device *netdev = ipoib->netdev;
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(ipoib->ca, ipoib->port, &attr);
	if (ret)
		return ret;
	ipoib->port_mtu = rdma_mtu_from_attr(ipoib->ca, ipoib->port, &attr);
	ret = ib_query_pkey(ipoib->ca, ipoib->port, 0, &ipoib->pkey) ?:
	      rdma_query_gid(ipoib->ca, ipoib->port, 0, &ipoib->gid);
	if (ret)
		return ret;
	dev_addr_mod(netdev, 4, ipoib->gid.raw, sizeof(ipoib->gid));
	SET_NETDEV_DEV(netdev, ipoib->ca->dev.parent);
	netdev->dev_port = ipoib->port - 1;
	/* Programs read the port from here before dev_port existed. */
	netdev->dev_id = ipoib->port - 1;
	return 0;
}

/* A child's address may have been given when it was created; else it is the parent's. */
static void read_parent(struct ipoib_dev *ipoib)
{
	struct net_device *netdev = ipoib->netdev;

	ipoib->port_mtu = ipoib->parent->port_mtu;
	set_bit(IPOIB_CHILD, &ipoib->flags);
	if (!memchr_inv(netdev->dev_addr, 0, netdev->addr_len)) {
		__dev_addr_set(netdev, ipoib->parent->netdev->dev_addr, netdev->addr_len);
		ipoib->gid = ipoib->parent->gid;
		if (ipoib_is(ipoib->parent, IPOIB_OWN_GUID))
			set_bit(IPOIB_OWN_GUID, &ipoib->flags);
		return;
	}
	memcpy(&ipoib->gid, ipoib_addr_gid(netdev->dev_addr), sizeof(ipoib->gid));
	set_bit(IPOIB_OWN_GUID, &ipoib->flags);
}

static void set_sizes(struct ipoib_dev *ipoib)
{
	struct net_device *netdev = ipoib->netdev;
	struct rdma_netdev *rn = netdev_priv(netdev);

	/* The broadcast group sets the real one later. */
	netdev->mtu = ipoib_ud_mtu(ipoib->port_mtu);
	netdev->max_mtu = IPOIB_MAX_MTU;
	ipoib->group_mtu = netdev->mtu;
	ipoib->wanted_mtu = IPOIB_LARGEST_MTU;
	rn->mtu = netdev->mtu;
	ipoib->pkey |= IPOIB_FULL_MEMBER;
	netdev->broadcast[8] = ipoib->pkey >> 8;
	netdev->broadcast[9] = ipoib->pkey;
}

static int make(struct ipoib_dev *ipoib)
{
	int ret;

	ipoib->wq = alloc_ordered_workqueue("ipoib_wq", WQ_MEM_RECLAIM);
	if (!ipoib->wq)
		return -ENOMEM;
	ret = ipoib_path_init(ipoib);
	if (ret)
		goto no_paths;
	ret = ipoib_mcast_init(ipoib);
	if (ret)
		goto no_groups;
	ipoib->pd = ib_alloc_pd(ipoib->ca, 0);
	if (IS_ERR(ipoib->pd)) {
		ret = PTR_ERR(ipoib->pd);
		goto no_pd;
	}
	ret = ipoib->engine->ndo_init(ipoib->netdev);
	if (!ret)
		return 0;
	ib_dealloc_pd(ipoib->pd);
no_pd:
	ipoib_table_free(&ipoib->groups);
no_groups:
	ipoib_table_free(&ipoib->paths);
no_paths:
	destroy_workqueue(ipoib->wq);
	return ret;
}

static int init(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	int ret = 0;

	if (ipoib->parent)
		read_parent(ipoib);
	else
		ret = read_port(ipoib);
	if (ret)
		return ret;
	set_sizes(ipoib);
	ret = make(ipoib);
	if (ret)
		return ret;
	if (ipoib->parent) {
		dev_hold(ipoib->parent->netdev);
		list_add_tail_rcu(&ipoib->entry, &ipoib->parent->children);
	}
	return 0;
}

static void uninit(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	if (ipoib->parent) {
		list_del_rcu(&ipoib->entry);
		synchronize_net();
	}
	ipoib_mcast_end(ipoib);
	ipoib_path_end(ipoib);
	ipoib_ah_end(ipoib);
	ipoib_too_long_end(ipoib);
	ipoib->engine->ndo_uninit(netdev);
	ib_dealloc_pd(ipoib->pd);
	destroy_workqueue(ipoib->wq);
	if (ipoib->parent)
		dev_put(ipoib->parent->netdev);
}

/* What the stack sees, whatever engine there is. */
const struct net_device_ops ipoib_netdev_ops = {
	.ndo_init = init,
	.ndo_uninit = uninit,
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = xmit,
	.ndo_features_check = features_check,
	.ndo_fix_features = fix_features,
	.ndo_tx_timeout = tx_timeout,
	.ndo_change_mtu = change_mtu,
	.ndo_get_stats64 = get_stats,
	.ndo_eth_ioctl = eth_ioctl,
	.ndo_set_rx_mode = set_rx_mode,
	.ndo_set_mac_address = set_address,
	.ndo_get_iflink = get_iflink,
};

/**
 * ipoib_is_ours() - is this network device an interface of this module?
 * @netdev: network device
 *
 * Context: any.
 * Return: whether it is.
 */
bool ipoib_is_ours(const struct net_device *netdev)
{
	return netdev->netdev_ops == &ipoib_netdev_ops;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_is_ours);

/**
 * ipoib_setup() - what all interfaces have in common
 * @netdev: new network device, which becomes an interface by ipoib_init_dev()
 *
 * Context: any.
 */
void ipoib_setup(struct net_device *netdev)
{
	netdev->netdev_ops = &ipoib_netdev_ops;
	netdev->header_ops = &header_ops;
	netdev->ethtool_ops = &ipoib_ethtool_ops;
	netdev->watchdog_timeo = TX_TIMEOUT;
	netdev->flags |= IFF_BROADCAST | IFF_MULTICAST;
	netdev->type = ARPHRD_INFINIBAND;
	netdev->addr_len = IPOIB_ADDR_LEN;
	netdev->hard_header_len = IPOIB_HEAD_LEN;
	netdev->tx_queue_len = ipoib_sendq_size * 2;
	netdev->features = NETIF_F_VLAN_CHALLENGED | NETIF_F_HIGHDMA;
	netif_keep_dst(netdev);
	memcpy(netdev->broadcast, broadcast, sizeof(broadcast));
	netdev->needs_free_netdev = true;
}
