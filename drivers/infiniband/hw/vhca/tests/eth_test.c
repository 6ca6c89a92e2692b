// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports on a device that the test plays: it completes commands, records their requests and
 * can refuse one of them; and it creates and changes net devices.
 */
#include <linux/etherdevice.h>
#include <linux/io.h>
#include <linux/rtnetlink.h>

#include "../cmd/cmd.h"
#include "../device/device.h"
#include "../hw/ring.h"
#include "../verbs/eth.h"
#include "../verbs/mad.h"
#include "../verbs/query.h"
#include "vhca_test.h"

#define LOG	2
#define TIMEOUT	(600 * HZ)
#define GIDS	4

static const u8 port_mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0xe7, 0x00, 0x01 };
static const u8 other_mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0xe7, 0x00, 0x02 };

/* Port 1 is an Ethernet port, port 2 an InfiniBand port. */
static struct bench {
	struct vhca_dev *dev;
	u32 fetched;
	u64 written;
	u8 state;
	u8 refused;
	u32 gids, pkeys;
	unsigned int modifies, sets;
	struct vhca_modify_port_req modify;
	struct vhca_set_gid_req set;
} *bench;

static void answer_port(const struct vhca_asqe *cmd)
{
	struct vhca_port_attr *a = phys_to_virt(le64_to_cpu(cmd->out_addr));

	*a = (struct vhca_port_attr) {
		.link_layer = cmd->req[0] == 1 ? VHCA_LINK_ETH : VHCA_LINK_IB,
		.state = bench->state, .max_mtu = IB_MTU_4096, .active_mtu = IB_MTU_4096,
		.gid_entries = cpu_to_le32(bench->gids), .pkey_entries = cpu_to_le32(bench->pkeys),
	};
	if (cmd->req[0] == 1)
		ether_addr_copy(a->mac, port_mac);
}

static void carry_out(const struct vhca_asqe *cmd)
{
	switch (cmd->opcode) {
	case VHCA_CMD_QUERY_PORT:
		answer_port(cmd);
		break;
	case VHCA_CMD_MODIFY_PORT:
		memcpy(&bench->modify, cmd->req, sizeof(bench->modify));
		bench->modifies++;
		break;
	case VHCA_CMD_SET_GID:
		memcpy(&bench->set, cmd->req, sizeof(bench->set));
		bench->sets++;
		break;
	}
}

static void fake_kick(struct vhca_admin *aq, u32 tail)
{
	const struct vhca_asqe *cmd;
	struct vhca_acqe *e;

	while (bench->fetched != tail) {
		cmd = &aq->sq[vhca_ring_slot(bench->fetched++, LOG)];
		e = &aq->cq[vhca_ring_slot(bench->written, LOG)];
		e->cmd_id = cmd->cmd_id;
		e->bad_field = cpu_to_le16(VHCA_NO_FIELD);
		e->status = cmd->opcode == bench->refused ? VHCA_ST_BAD_FIELD : VHCA_ST_OK;
		if (e->status == VHCA_ST_OK)
			carry_out(cmd);
		/* As the device does: the phase last. */
		smp_store_release(&e->phase, vhca_ring_lap(bench->written, LOG));
		bench->written++;
	}
}

static void fake_timed_out(struct vhca_admin *aq, u8 opcode)
{
	vhca_admin_fail(aq);
}

static void fake_wait_stopped(struct vhca_admin *aq)
{
}

static const struct vhca_admin_ops fake_ops = {
	.kick = fake_kick,
	.timed_out = fake_timed_out,
	.wait_stopped = fake_wait_stopped,
};

static const struct ib_device_ops ib_ops = {
	.get_link_layer = vhca_get_link_layer,
};

static int eth_test_init(struct kunit *test)
{
	struct vhca_dev *dev = ib_alloc_device(vhca_dev, ibdev);
	struct vhca_port_attr attr;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->dev = dev;
	bench->state = IB_PORT_ACTIVE;
	bench->gids = GIDS;
	bench->pkeys = 1;
	vhca_events_init(dev);
	vhca_hw_init(&dev->hw, vhca_test_device(test), NULL);
	KUNIT_ASSERT_EQ(test, vhca_admin_init(&dev->hw.admin, dev->hw.dev, &fake_ops, LOG,
					      TIMEOUT), 0);
	dev->hw.limits.ports = 2;
	dev->hw.limits.caps = U64_MAX;
	dev->ibdev.phys_port_cnt = 2;
	ib_set_device_ops(&dev->ibdev, &ib_ops);
	for (u32 port = 1; port <= 2; port++) {
		KUNIT_ASSERT_EQ(test, vhca_cmd_query_port(&dev->hw, port, &attr), 0);
		KUNIT_ASSERT_EQ(test, vhca_port_init(dev, port, &attr), 0);
	}
	return 0;
}

static void eth_test_exit(struct kunit *test)
{
	struct vhca_dev *dev = bench->dev;

	vhca_ports_exit(dev);
	vhca_admin_exit(&dev->hw.admin);
	ib_dealloc_device(&dev->ibdev);
}

/* ---- net devices ---- */

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = drop,
	.ndo_set_mac_address = eth_mac_addr,
};

static struct net_device *new_netdev(struct kunit *test, const u8 *mac)
{
	struct net_device *ndev = alloc_etherdev(0);

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	ndev->netdev_ops = &netdev_ops;
	ndev->max_mtu = 9000;
	ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	eth_hw_addr_set(ndev, mac);
	KUNIT_ASSERT_EQ(test, register_netdev(ndev), 0);
	return ndev;
}

static void netdev_gone(struct net_device *ndev)
{
	unregister_netdev(ndev);
	free_netdev(ndev);
}

#define LOCKED(call)								\
	({									\
		rtnl_lock();							\
		KUNIT_EXPECT_EQ(test, call, 0);					\
		rtnl_unlock();							\
		flush_work(&bench->dev->follow_work);				\
	})

static void set_mac(struct kunit *test, struct net_device *ndev, const u8 *mac)
{
	struct sockaddr address = { .sa_family = ndev->type };

	memcpy(address.sa_data, mac, ETH_ALEN);
	LOCKED(dev_set_mac_address(ndev, &address, NULL));
}

static void set_carrier(struct net_device *ndev, bool on)
{
	if (on)
		netif_carrier_on(ndev);
	else
		netif_carrier_off(ndev);
	/* The kernel reports the change of the carrier asynchronously. */
	rtnl_lock();
	netdev_state_change(ndev);
	rtnl_unlock();
	flush_work(&bench->dev->follow_work);
}

static bool stands_on(u32 port, const struct net_device *ndev)
{
	struct net_device *now = ib_device_get_netdev(&bench->dev->ibdev, port);

	dev_put(now);
	return now == ndev;
}

/* ---- reports to the core, and its queries ---- */

static u32 told(void)
{
	u32 events = bench->dev->unreported[0];

	bench->dev->unreported[0] = 0;
	return events;
}

static struct ib_port_attr query(struct kunit *test, u32 port)
{
	struct ib_port_attr attr = {};

	KUNIT_EXPECT_EQ(test, vhca_query_port(&bench->dev->ibdev, port, &attr), 0);
	return attr;
}

static void start(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vhca_netdevs_start(bench->dev), 0);
	vhca_netdevs_open(bench->dev);
	flush_work(&bench->dev->follow_work);
}

/* A port without a net device is down, whatever the device reports, and gets no commands. */
static void test_lonely(struct kunit *test)
{
	struct net_device *other = new_netdev(test, other_mac);
	struct ib_port_attr attr;

	start(test);
	KUNIT_EXPECT_TRUE(test, stands_on(1, NULL));
	KUNIT_EXPECT_EQ(test, bench->modifies, 0);
	KUNIT_EXPECT_EQ(test, told(), 0);
	attr = query(test, 1);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_DISABLED);
	/* The permanent address must be the port's, not the current one. */
	set_mac(test, other, port_mac);
	KUNIT_EXPECT_TRUE(test, stands_on(1, NULL));
	vhca_netdevs_stop(bench->dev);
	netdev_gone(other);
}

static void test_follows(struct kunit *test)
{
	struct net_device *ndev = new_netdev(test, port_mac);
	struct ib_port_attr attr;

	start(test);
	KUNIT_EXPECT_TRUE(test, stands_on(1, ndev));
	KUNIT_EXPECT_TRUE(test, stands_on(2, NULL));
	KUNIT_EXPECT_EQ(test, bench->modify.port, 1);
	KUNIT_EXPECT_EQ(test, bench->modify.mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, bench->modify.flags, 0);
	KUNIT_EXPECT_EQ(test, query(test, 1).state, IB_PORT_DOWN);

	LOCKED(dev_open(ndev, NULL));
	KUNIT_EXPECT_EQ(test, bench->modify.flags, VHCA_PORT_ENABLE);
	KUNIT_EXPECT_EQ(test, bench->modify.mtu, 0);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ACTIVE));
	attr = query(test, 1);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_LINK_UP);
	KUNIT_EXPECT_EQ(test, attr.active_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, attr.max_mtu, IB_MTU_4096);
	KUNIT_EXPECT_TRUE(test, attr.ip_gids);
	KUNIT_EXPECT_TRUE(test, attr.port_cap_flags & IB_PORT_CM_SUP);

	LOCKED(dev_set_mtu(ndev, 4500));
	KUNIT_EXPECT_EQ(test, bench->modify.flags, 0);
	KUNIT_EXPECT_EQ(test, bench->modify.mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, query(test, 1).active_mtu, IB_MTU_4096);
	LOCKED(dev_set_mtu(ndev, 200));
	KUNIT_EXPECT_EQ(test, bench->modify.mtu, IB_MTU_256);
	KUNIT_EXPECT_EQ(test, query(test, 1).active_mtu, IB_MTU_256);

	set_carrier(ndev, false);
	KUNIT_EXPECT_EQ(test, bench->modify.flags, VHCA_PORT_DISABLE);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ERR));
	KUNIT_EXPECT_EQ(test, query(test, 1).phys_state, IB_PORT_PHYS_STATE_POLLING);
	set_carrier(ndev, true);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ACTIVE));
	rtnl_lock();
	dev_close(ndev);
	rtnl_unlock();
	flush_work(&bench->dev->follow_work);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ERR));
	KUNIT_EXPECT_EQ(test, query(test, 1).phys_state, IB_PORT_PHYS_STATE_DISABLED);
	vhca_netdevs_stop(bench->dev);
	KUNIT_EXPECT_TRUE(test, stands_on(1, NULL));
	netdev_gone(ndev);
}

/* Net devices are added and removed while the device is registered. */
static void test_later(struct kunit *test)
{
	struct net_device *ndev, *twin;

	start(test);
	ndev = new_netdev(test, port_mac);
	twin = new_netdev(test, port_mac);
	LOCKED(dev_open(ndev, NULL));
	KUNIT_EXPECT_TRUE(test, stands_on(1, ndev));
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ACTIVE));

	netdev_gone(twin);
	KUNIT_EXPECT_TRUE(test, stands_on(1, ndev));
	/* The pairing depends on the permanent address only. */
	set_mac(test, ndev, other_mac);
	KUNIT_EXPECT_TRUE(test, stands_on(1, ndev));

	netdev_gone(ndev);
	flush_work(&bench->dev->follow_work);
	KUNIT_EXPECT_TRUE(test, stands_on(1, NULL));
	KUNIT_EXPECT_EQ(test, bench->modify.flags, VHCA_PORT_DISABLE);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ERR));
	ndev = new_netdev(test, port_mac);
	KUNIT_EXPECT_TRUE(test, stands_on(1, ndev));
	vhca_netdevs_stop(bench->dev);
	netdev_gone(ndev);
}

/* The state of the device's own link matters as well; a refused command is tried again. */
static void test_own_link(struct kunit *test)
{
	struct net_device *ndev = new_netdev(test, port_mac);
	struct vhca_eqe event = { .event = VHCA_EV_PORT_ERR, .port = 1 };

	bench->refused = VHCA_CMD_MODIFY_PORT;
	start(test);
	LOCKED(dev_open(ndev, NULL));
	KUNIT_EXPECT_EQ(test, told(), 0);
	bench->refused = 0;
	event.event = VHCA_EV_PORT_ACTIVE;
	vhca_async_event(&bench->dev->async_eq, &event, 0);
	flush_work(&bench->dev->follow_work);
	KUNIT_EXPECT_EQ(test, bench->modify.flags, VHCA_PORT_ENABLE);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ACTIVE));

	bench->state = IB_PORT_DOWN;
	event.event = VHCA_EV_PORT_ERR;
	vhca_async_event(&bench->dev->async_eq, &event, 0);
	flush_work(&bench->dev->follow_work);
	KUNIT_EXPECT_EQ(test, told(), BIT(IB_EVENT_PORT_ERR));
	KUNIT_EXPECT_EQ(test, query(test, 1).state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, bench->modifies, 1);
	/* Only the core changes the GIDs, and it reports that itself. */
	event.event = VHCA_EV_GID_CHANGE;
	vhca_async_event(&bench->dev->async_eq, &event, 0);
	KUNIT_EXPECT_EQ(test, told(), 0);
	event.event = VHCA_EV_PORT_ACTIVE;
	vhca_netdevs_stop(bench->dev);
	/* The port is not adapted to net devices any more. */
	vhca_async_event(&bench->dev->async_eq, &event, 0);
	KUNIT_EXPECT_FALSE(test, work_pending(&bench->dev->follow_work));
	netdev_gone(ndev);
}

static struct ib_gid_attr gid_of(struct net_device *ndev, u16 index)
{
	struct ib_gid_attr attr = {
		.device = &bench->dev->ibdev, .port_num = 1, .index = index,
		.gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP,
		.gid.raw = { 0xfe, 0x80, [15] = index + 1 },
	};

	RCU_INIT_POINTER(attr.ndev, ndev);
	return attr;
}

static void test_gids(struct kunit *test)
{
	struct net_device *ndev = new_netdev(test, port_mac);
	struct ib_gid_attr attr = gid_of(ndev, GIDS - 1), bad;
	static const struct vhca_set_gid_req cleared = {
		.port = 1, .type = VHCA_GID_CLEAR, .index = cpu_to_le16(GIDS - 1),
	};
	void *context = NULL;

	KUNIT_ASSERT_EQ(test, vhca_add_gid(&attr, &context), 0);
	KUNIT_EXPECT_EQ(test, bench->set.port, 1);
	KUNIT_EXPECT_EQ(test, bench->set.type, VHCA_GID_ROCE_V2);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(bench->set.index), GIDS - 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(bench->set.vlan), VHCA_NO_VLAN);
	KUNIT_EXPECT_MEMEQ(test, bench->set.mac, port_mac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, bench->set.gid, attr.gid.raw, sizeof(attr.gid));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(bench->set.rsvd), 0);
	KUNIT_EXPECT_EQ(test, vhca_del_gid(&attr, &context), 0);
	KUNIT_EXPECT_MEMEQ(test, &bench->set, &cleared, sizeof(cleared));

	bad = attr;
	bad.gid_type = IB_GID_TYPE_ROCE;
	KUNIT_EXPECT_EQ(test, vhca_add_gid(&bad, &context), -EOPNOTSUPP);
	bad = gid_of(ndev, GIDS);
	KUNIT_EXPECT_EQ(test, vhca_add_gid(&bad, &context), -EINVAL);
	bad = gid_of(NULL, 0);
	KUNIT_EXPECT_EQ(test, vhca_add_gid(&bad, &context), -ENODEV);
	KUNIT_EXPECT_EQ(test, bench->sets, 2);
	bench->refused = VHCA_CMD_SET_GID;
	KUNIT_EXPECT_EQ(test, vhca_add_gid(&attr, &context), -EINVAL);
	netdev_gone(ndev);
}

/* Entries get the address of their own net device, and are written only when it changes. */
static void test_addresses_change(struct kunit *test)
{
	struct net_device *ndev = new_netdev(test, port_mac);
	struct net_device *upper = new_netdev(test, other_mac);
	static const u8 third_mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0xe7, 0x00, 0x03 };
	struct ib_gid_attr attrs[] = { gid_of(ndev, 0), gid_of(upper, 2) };
	void *context = NULL;

	start(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(attrs); i++)
		KUNIT_ASSERT_EQ(test, vhca_add_gid(&attrs[i], &context), 0);
	KUNIT_EXPECT_EQ(test, bench->sets, 2);
	set_mac(test, upper, third_mac);
	KUNIT_EXPECT_EQ(test, bench->sets, 3);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(bench->set.index), 2);
	KUNIT_EXPECT_MEMEQ(test, bench->set.mac, third_mac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, bench->set.gid, attrs[1].gid.raw, sizeof(attrs[1].gid));

	/* If the device refuses, the entry is written again at the next change. */
	bench->refused = VHCA_CMD_SET_GID;
	set_mac(test, ndev, other_mac);
	KUNIT_EXPECT_EQ(test, bench->sets, 3);
	bench->refused = 0;
	LOCKED(dev_open(ndev, NULL));
	KUNIT_EXPECT_EQ(test, bench->sets, 4);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(bench->set.index), 0);
	KUNIT_EXPECT_MEMEQ(test, bench->set.mac, other_mac, ETH_ALEN);

	/* Entries that were deleted are not written any more. */
	for (unsigned int i = 0; i < ARRAY_SIZE(attrs); i++)
		KUNIT_EXPECT_EQ(test, vhca_del_gid(&attrs[i], &context), 0);
	set_mac(test, upper, port_mac);
	KUNIT_EXPECT_EQ(test, bench->sets, 6);
	vhca_netdevs_stop(bench->dev);
	netdev_gone(upper);
	netdev_gone(ndev);
}

/* The core sees one Ethernet port and one InfiniBand port. */
static void test_kinds(struct kunit *test)
{
	struct ib_device *ibdev = &bench->dev->ibdev;
	struct ib_port_immutable eth, ib;
	struct ib_port_modify cm = { .set_port_cap_mask = IB_PORT_CM_SUP };
	struct ib_port_modify sm = { .clr_port_cap_mask = IB_PORT_SM };

	KUNIT_EXPECT_EQ(test, vhca_get_link_layer(ibdev, 1), IB_LINK_LAYER_ETHERNET);
	KUNIT_EXPECT_EQ(test, vhca_get_link_layer(ibdev, 2), IB_LINK_LAYER_INFINIBAND);
	vhca_port_protocols(bench->dev, 1, &eth);
	vhca_port_protocols(bench->dev, 2, &ib);
	KUNIT_EXPECT_EQ(test, eth.core_cap_flags, RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, eth.max_mad_size, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, ib.core_cap_flags, RDMA_CORE_PORT_IBA_IB);
	bench->dev->hw.limits.caps &= ~BIT_ULL(VHCA_CAP_SMI_GSI);
	vhca_port_protocols(bench->dev, 1, &eth);
	KUNIT_EXPECT_EQ(test, eth.core_cap_flags, RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, eth.max_mad_size, 0);

	/* For Ethernet ports there is no command, as they have no agents. */
	KUNIT_EXPECT_EQ(test, vhca_modify_port(ibdev, 1, 0, &cm), 0);
	KUNIT_EXPECT_EQ(test, vhca_modify_port(ibdev, 1, 0, &sm), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_modify_port(ibdev, 1, IB_PORT_SHUTDOWN, &cm), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, bench->modifies, 0);
	KUNIT_EXPECT_EQ(test, vhca_modify_port(ibdev, 1, IB_PORT_RESET_QKEY_CNTR, &cm), 0);
	KUNIT_EXPECT_EQ(test, bench->modify.flags, VHCA_PORT_RESET_QKEY_VIOL);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(bench->modify.set_caps), 0);
	KUNIT_EXPECT_EQ(test, vhca_modify_port(ibdev, 2, 0, &sm), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(bench->modify.clear_caps), VHCA_PORT_CAP_SM);
}

/* The sizes of a port's tables must not change after they were first reported. */
static void test_sizes(struct kunit *test)
{
	struct ib_device *ibdev = &bench->dev->ibdev;
	struct ib_port_attr attr;

	KUNIT_EXPECT_EQ(test, query(test, 2).gid_tbl_len, GIDS);
	bench->gids = 2 * GIDS;
	KUNIT_EXPECT_EQ(test, vhca_query_port(ibdev, 2, &attr), -EPROTO);
	bench->gids = GIDS;
	bench->pkeys = 2;
	KUNIT_EXPECT_EQ(test, vhca_query_port(ibdev, 2, &attr), -EPROTO);
	bench->pkeys = 1;
	KUNIT_EXPECT_EQ(test, query(test, 2).pkey_tbl_len, 1);
}

static struct kunit_case eth_cases[] = {
	KUNIT_CASE(test_lonely),
	KUNIT_CASE(test_follows),
	KUNIT_CASE(test_later),
	KUNIT_CASE(test_own_link),
	KUNIT_CASE(test_gids),
	KUNIT_CASE(test_addresses_change),
	KUNIT_CASE(test_kinds),
	KUNIT_CASE(test_sizes),
	{}
};

struct kunit_suite vhca_eth_suite = {
	.name = "vhca_eth",
	.init = eth_test_init,
	.exit = eth_test_exit,
	.test_cases = eth_cases,
};
