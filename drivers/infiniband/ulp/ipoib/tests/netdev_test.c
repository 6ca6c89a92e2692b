// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: a driver of RDMA devices that has an engine of its own for datagrams (rdma_netdev). The
 * interface starts and stops it, sends and receives by it, and leaves to it what it wants to do
 * itself. One that only stands in front of ours finds ours.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../admin.h"
#include "../mcast.h"
#include "../path.h"
#include "../ud.h"
#include "bed.h"

/**
 * struct played - the driver; cases run one after the other
 * @params_error: of saying what it has
 * @init_error: of filling a network device
 * @open_error: of starting
 * @below: operations that it has found
 * @freed: network devices whose private part it has freed
 * @opened: how often it was started
 * @stopped: and stopped
 * @id: place of the P_Key
 * @sent: packets
 * @first: the first two bytes of the last one
 * @len: its bytes
 * @ah: where it goes
 * @qpn: to which QP
 * @attached: groups that it receives
 * @mgid: the last one
 * @mlid: its LID
 * @qkeys: Q_Keys that it was told to use
 * @qkey: the last one
 * @mtu: that it was told last
 * @timeouts: how often a queue was stuck
 */
static struct played {
	int params_error;
	int init_error;
	int open_error;
	const struct net_device_ops *below;
	unsigned int freed;
	unsigned int opened;
	unsigned int stopped;
	int id;
	unsigned int sent;
	u16 first;
	unsigned int len;
	struct ib_ah *ah;
	u32 qpn;
	int attached;
	union ib_gid mgid;
	u16 mlid;
	unsigned int qkeys;
	u32 qkey;
	int mtu;
	unsigned int timeouts;
} played;

/* Its private part */
struct play_priv {
	struct rdma_netdev rn;
	u8 more[1000];
};

static int play_open(struct net_device *netdev)
{
	if (!played.open_error)
		played.opened++;
	return played.open_error;
}

static int play_stop(struct net_device *netdev)
{
	played.stopped++;
	return 0;
}

static int play_change_mtu(struct net_device *netdev, int mtu)
{
	played.mtu = mtu;
	WRITE_ONCE(netdev->mtu, mtu);
	return 0;
}

static void play_stats(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	stats->rx_packets = 77;
}

static const struct net_device_ops play_engine = {
	.ndo_open = play_open,
	.ndo_stop = play_stop,
	.ndo_change_mtu = play_change_mtu,
	.ndo_get_stats64 = play_stats,
};

static int play_send(struct net_device *netdev, struct sk_buff *skb, struct ib_ah *ah, u32 qpn)
{
	played.sent++;
	played.first = skb->data[0] << 8 | skb->data[1];
	played.len = skb->len;
	played.ah = ah;
	played.qpn = qpn;
	dev_kfree_skb_any(skb);
	return 0;
}

static int play_attach(struct net_device *netdev, struct ib_device *ca, union ib_gid *mgid,
		       u16 mlid, int set_qkey, u32 qkey)
{
	played.attached++;
	played.mgid = *mgid;
	played.mlid = mlid;
	if (!set_qkey)
		return 0;
	played.qkeys++;
	played.qkey = qkey;
	return 0;
}

static int play_detach(struct net_device *netdev, struct ib_device *ca, union ib_gid *mgid,
		       u16 mlid)
{
	played.attached--;
	return 0;
}

static void play_set_id(struct net_device *netdev, int id)
{
	played.id = id;
}

static void play_timeout(struct net_device *netdev, unsigned int queue)
{
	played.timeouts++;
}

static void play_free(struct net_device *netdev)
{
	played.freed++;
}

static int play_init(struct ib_device *ca, u32 port, struct net_device *netdev, void *param)
{
	struct rdma_netdev *rn = netdev_priv(netdev);

	if (played.init_error)
		return played.init_error;
	played.below = netdev->netdev_ops;
	netdev->netdev_ops = &play_engine;
	netdev->priv_destructor = play_free;
	rn->hca = ca;
	rn->port_num = port;
	rn->send = play_send;
	rn->attach_mcast = play_attach;
	rn->detach_mcast = play_detach;
	rn->set_id = play_set_id;
	rn->tx_timeout = play_timeout;
	return 0;
}

static int play_params(struct ib_device *ca, u32 port, enum rdma_netdev_t type,
		       struct rdma_netdev_alloc_params *params)
{
	*params = (struct rdma_netdev_alloc_params){
		.sizeof_priv = sizeof(struct play_priv),
		.txqs = 2,
		.rxqs = 1,
		.initialize_rdma_netdev = play_init,
	};
	return type == RDMA_NETDEV_IPOIB ? played.params_error : -EOPNOTSUPP;
}

static int play_query_pkey(struct ib_device *ca, u32 port, u16 index, u16 *pkey)
{
	*pkey = index == 2 ? 0xffff : 0;
	return 0;
}

/* Another interface of the device, which now has such a driver; the bed's has our engine. */
static struct ipoib_dev *create(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct net_device *netdev;

	b->ca->ops.rdma_netdev_get_params = play_params;
	netdev = ipoib_create_dev(b->ca, 1, "engine%d");
	KUNIT_ASSERT_FALSE(test, IS_ERR(netdev));
	return ipoib_priv(netdev);
}

static int netdev_init(struct kunit *test)
{
	struct ipoib_bed *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, b);
	b->ca->port_data[1].immutable.pkey_tbl_len = 3;
	/* There is no cache of the port's GIDs. */
	b->ca->port_data[1].core = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->ca->port_data[1].core);
	b->ca->ops.query_pkey = play_query_pkey;
	memset(&played, 0, sizeof(played));
	test->priv = b;
	return 0;
}

/* Without such a driver the engine is ours; with one it is the driver's, who has seen ours. */
static void engines(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct ipoib_dev *ipoib = create(test);
	struct rdma_netdev *own = netdev_priv(b->ipoib->netdev);
	struct rdma_netdev *rn = netdev_priv(ipoib->netdev);

	KUNIT_EXPECT_PTR_EQ(test, own->hca, b->ca);
	KUNIT_EXPECT_EQ(test, own->port_num, 1);
	KUNIT_EXPECT_NOT_NULL(test, own->send);
	KUNIT_EXPECT_PTR_EQ(test, b->ipoib->engine, played.below);
	KUNIT_EXPECT_PTR_EQ(test, ipoib->engine, &play_engine);
	KUNIT_EXPECT_TRUE(test, rn->send == play_send);
	KUNIT_EXPECT_EQ(test, ipoib->netdev->num_tx_queues, 2);
	KUNIT_EXPECT_EQ(test, ipoib_priv_size(b->ca, 1), sizeof(struct play_priv));
	/* The stack sees the same operations with both. */
	KUNIT_EXPECT_TRUE(test, ipoib_is_ours(ipoib->netdev));
	KUNIT_EXPECT_TRUE(test, ipoib_is_ours(b->ipoib->netdev));
	ipoib_discard_dev(ipoib->netdev);
	KUNIT_EXPECT_EQ(test, played.freed, 1);
	/* A driver may have none for this port. */
	played.params_error = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, ipoib_priv_size(b->ca, 1), sizeof(struct rdma_netdev));
	ipoib = create(test);
	KUNIT_EXPECT_PTR_EQ(test, ipoib->engine, b->ipoib->engine);
	ipoib_discard_dev(ipoib->netdev);
	/* Or it finds that out late: our engine has one queue for sends, whatever was allocated. */
	played.params_error = 0;
	played.init_error = -EOPNOTSUPP;
	ipoib = create(test);
	KUNIT_EXPECT_PTR_EQ(test, ipoib->engine, b->ipoib->engine);
	KUNIT_EXPECT_EQ(test, ipoib->netdev->num_tx_queues, 2);
	KUNIT_EXPECT_EQ(test, ipoib->netdev->real_num_tx_queues, 1);
	ipoib_discard_dev(ipoib->netdev);
}

/* A driver that fails leaves no interface. */
static void driver_fails(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	b->ca->ops.rdma_netdev_get_params = play_params;
	played.params_error = -EIO;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ipoib_create_dev(b->ca, 1, "engine%d")), -EIO);
	played.params_error = 0;
	played.init_error = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ipoib_create_dev(b->ca, 1, "engine%d")), -ENOSPC);
	KUNIT_EXPECT_EQ(test, played.freed, 0);
}

/* The engine is told the P_Key's place, started and stopped, but not without a P_Key. */
static void starts(struct kunit *test)
{
	struct ipoib_dev *ipoib = create(test);
	struct net_device *netdev = ipoib->netdev;

	ipoib->wq = alloc_ordered_workqueue("ipoib_kunit", 0);
	KUNIT_ASSERT_NOT_NULL(test, ipoib->wq);
	KUNIT_ASSERT_EQ(test, ipoib_path_init(ipoib), 0);
	KUNIT_ASSERT_EQ(test, ipoib_mcast_init(ipoib), 0);
	ipoib->pkey = 0x8001;
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, netdev->netdev_ops->ndo_open(netdev), 0);
	KUNIT_EXPECT_EQ(test, played.opened, 0);
	netdev->netdev_ops->ndo_stop(netdev);
	KUNIT_EXPECT_EQ(test, played.stopped, 0);
	ipoib->pkey = 0xffff;
	played.open_error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, netdev->netdev_ops->ndo_open(netdev), -EINVAL);
	KUNIT_EXPECT_FALSE(test, ipoib_is(ipoib, IPOIB_STARTED));
	played.open_error = 0;
	KUNIT_EXPECT_EQ(test, netdev->netdev_ops->ndo_open(netdev), 0);
	KUNIT_EXPECT_EQ(test, played.id, 2);
	KUNIT_EXPECT_EQ(test, played.opened, 1);
	netdev->netdev_ops->ndo_stop(netdev);
	KUNIT_EXPECT_EQ(test, played.stopped, 1);
	rtnl_unlock();
	ipoib_mcast_end(ipoib);
	ipoib_path_end(ipoib);
	destroy_workqueue(ipoib->wq);
	ipoib_discard_dev(netdev);
}

/* A packet reaches the engine without the address in front of it, which says where it goes. */
static void sends(struct kunit *test)
{
	struct ipoib_dev *ipoib = create(test);
	struct sk_buff *skb = alloc_skb(IPOIB_HEAD_LEN + 60, GFP_KERNEL);
	struct ib_ah where;
	struct ipoib_ah ah = { .ah = &where };
	struct ipoib_head *head;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	head = skb_put_zero(skb, IPOIB_HEAD_LEN + 60);
	head->encap.proto = htons(ETH_P_IP);
	ipoib_ud_send(ipoib, skb, &ah, 0x123456);
	KUNIT_EXPECT_EQ(test, played.sent, 1);
	KUNIT_EXPECT_EQ(test, played.first, ETH_P_IP);
	KUNIT_EXPECT_EQ(test, played.len, IPOIB_ENCAP_LEN + 60);
	KUNIT_EXPECT_PTR_EQ(test, played.ah, &where);
	KUNIT_EXPECT_EQ(test, played.qpn, 0x123456);
	ipoib_discard_dev(ipoib->netdev);
}

/* Groups are the engine's to receive; the broadcast group's Q_Key is that of all datagrams. */
static void groups(struct kunit *test)
{
	struct ipoib_dev *ipoib = create(test);
	struct ipoib_group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	static const u8 mgid[16] = { 0xff, 0x12, [15] = 9 };

	KUNIT_ASSERT_NOT_NULL(test, group);
	group->ipoib = ipoib;
	memcpy(group->node.key, mgid, sizeof(mgid));
	group->rec.mlid = cpu_to_be16(0xc005);
	group->rec.qkey = cpu_to_be32(0xb1b);
	KUNIT_EXPECT_EQ(test, ipoib_mcast_attach(group, true), 0);
	KUNIT_EXPECT_TRUE(test, group->attached);
	KUNIT_EXPECT_MEMEQ(test, played.mgid.raw, mgid, sizeof(mgid));
	KUNIT_EXPECT_EQ(test, played.mlid, 0xc005);
	KUNIT_EXPECT_EQ(test, played.qkey, 0xb1b);
	KUNIT_EXPECT_EQ(test, ipoib_mcast_attach(group, false), 0);
	KUNIT_EXPECT_EQ(test, played.attached, 2);
	KUNIT_EXPECT_EQ(test, played.qkeys, 1);
	ipoib_discard_dev(ipoib->netdev);
}

/* What the engine does itself is left to it. */
static void leaves(struct kunit *test)
{
	struct ipoib_dev *ipoib = create(test);
	struct net_device *netdev = ipoib->netdev;
	struct rtnl_link_stats64 stats = {};

	ipoib->port_mtu = 2048;
	ipoib->group_mtu = 2044;
	ipoib->wanted_mtu = 2044;
	netif_carrier_on(netdev);
	KUNIT_EXPECT_EQ(test, netdev->netdev_ops->ndo_change_mtu(netdev, 1500), 0);
	KUNIT_EXPECT_EQ(test, played.mtu, 1500);
	KUNIT_EXPECT_EQ(test, netdev->mtu, 1500);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(netdev));
	KUNIT_EXPECT_EQ(test, netdev->netdev_ops->ndo_change_mtu(netdev, 4000), -EINVAL);
	KUNIT_EXPECT_EQ(test, played.mtu, 1500);
	netdev->netdev_ops->ndo_get_stats64(netdev, &stats);
	KUNIT_EXPECT_EQ(test, stats.rx_packets, 77);
	netdev->netdev_ops->ndo_tx_timeout(netdev, 0);
	KUNIT_EXPECT_EQ(test, played.timeouts, 1);
	ipoib_discard_dev(netdev);
}

/* For sysfs there is one child of a partition, whichever member its P_Key says that it is. */
static void children(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct ipoib_dev *child = kunit_kzalloc(test, sizeof(*child), GFP_KERNEL);
	struct net_device *netdev = create(test)->netdev;

	KUNIT_ASSERT_NOT_NULL(test, child);
	b->ipoib->pkey = 0xffff;
	child->pkey = 0x8001;
	set_bit(IPOIB_LEGACY, &child->flags);
	list_add_tail_rcu(&child->entry, &b->ipoib->children);
	/* The stack refuses this name: who is let by gets no further. */
	strscpy(netdev->name, "a/b", IFNAMSIZ);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0xffff, true), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0x7fff, true), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0x8001, true), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0x0001, true), -ENOTUNIQ);
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0x0002, true), -EINVAL);
	/* Others have names to be told apart by. */
	KUNIT_EXPECT_EQ(test, ipoib_child_add(b->ipoib, netdev, 0x0001, false), -EINVAL);
	rtnl_unlock();
	list_del_rcu(&child->entry);
	synchronize_rcu();
	ipoib_discard_dev(netdev);
}

static struct kunit_case netdev_cases[] = {
	KUNIT_CASE(engines),
	KUNIT_CASE(driver_fails),
	KUNIT_CASE(starts),
	KUNIT_CASE(sends),
	KUNIT_CASE(groups),
	KUNIT_CASE(leaves),
	KUNIT_CASE(children),
	{}
};

static struct kunit_suite netdev_suite = {
	.name = "ipoib_netdev",
	.init = netdev_init,
	.test_cases = netdev_cases,
};

kunit_test_suite(netdev_suite);
