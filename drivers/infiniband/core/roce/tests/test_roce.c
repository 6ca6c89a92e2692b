// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See test_roce.h.
 */
#include <linux/cleanup.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>

#include "test_roce.h"

static struct roce_device *to_roce(const struct ib_device *ib)
{
	return container_of(ib, struct roce_device, base.ib);
}

static int immutable(struct ib_device *ib, u32 port_num, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = ROCE_GIDS;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = to_roce(ib)->types;
	return 0;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct roce_device *device = to_roce(attr->device);
	union ib_gid *told = &device->told[attr->port_num][attr->index];

	if (device->refuse)
		return device->refuse;
	if (!rdma_is_zero_gid(told) || *context)
		device->wrong++;
	*told = attr->gid;
	*context = told;
	return rdma_read_gid_l2_fields(attr, NULL, device->mac[attr->port_num][attr->index]);
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct roce_device *device = to_roce(attr->device);
	union ib_gid *told = &device->told[attr->port_num][attr->index];
	const struct ib_gid_attr *found = rdma_get_gid_attr(attr->device, attr->port_num,
							    attr->index);

	if (memcmp(told, &attr->gid, sizeof(*told)) || *context != told)
		device->wrong++;
	/* A user that finds it now would use an entry that the driver has removed. */
	if (!IS_ERR(found)) {
		device->wrong++;
		rdma_put_gid_attr(found);
	}
	*told = zgid;
	return 0;
}

/**
 * roce_device_begin() - make and register a device
 * @test: fails if that is not possible
 * @types: RDMA_CORE_CAP_PROT_* of RoCE
 * @first: net device of port 1, or NULL
 * @second: net device of port 2, or NULL
 *
 * Return: the device, for roce_device_end().
 */
struct roce_device *roce_device_begin(struct kunit *test, u32 types, struct net_device *first,
				      struct net_device *second)
{
	struct roce_device *device = ib_alloc_device(roce_device, base.ib);

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->types = types;
	test_device_setup(&device->base);
	device->base.ib.ops.get_port_immutable = immutable;
	device->base.ib.ops.add_gid = add_gid;
	device->base.ib.ops.del_gid = del_gid;
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->base.ib, first, 1), 0);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->base.ib, second, 2), 0);
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->base.ib, "kt_roce%d", NULL), 0);
	/* Earlier changes of the net devices must not be handled during the test. */
	roce_settle();
	return device;
}

void roce_device_end(struct roce_device *device)
{
	test_device_gone(&device->base);
}

/* Waits until the tables are up to date with all changes. */
void roce_settle(void)
{
	flush_workqueue(ib_wq);
	/* Now indices are free again, and references to net devices are dropped. */
	rcu_barrier();
}

/**
 * roce_index() - get the index of a GID
 * @device: device
 * @port_num: port number
 * @type: its type
 * @text: the GID as an IP address
 * @netdev: its net device
 *
 * Return: the index, or -ENOENT; -EBADSLT if the driver has another GID there.
 */
int roce_index(struct roce_device *device, u32 port_num, enum ib_gid_type type, const char *text,
	       struct net_device *netdev)
{
	union addr_ip ip = fake_ip(text);
	const struct ib_gid_attr *attr;
	union ib_gid gid;
	int index;

	rdma_ip2gid(&ip.any, &gid);
	attr = rdma_find_gid_by_port(&device->base.ib, &gid, type, port_num, netdev);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	index = attr->index;
	if (memcmp(&device->told[port_num][index], &gid, sizeof(gid)) ||
	    !ether_addr_equal(device->mac[port_num][index], netdev->dev_addr) ||
	    rdma_read_gid_hw_context(attr) != &device->told[port_num][index])
		index = -EBADSLT;
	rdma_put_gid_attr(attr);
	return index;
}

/* Returns the number of GIDs of a port, or U32_MAX if the driver has other GIDs. */
unsigned int roce_count(struct roce_device *device, u32 port_num)
{
	unsigned int count = 0, told = 0;
	union ib_gid gid;

	for (int index = 0; index < ROCE_GIDS; index++) {
		count += !rdma_query_gid(&device->base.ib, port_num, index, &gid);
		told += !rdma_is_zero_gid(&device->told[port_num][index]);
	}
	return count == told && !device->wrong ? count : U32_MAX;
}

/* ---- net devices above others ---- */

static struct upper_dev *to_upper(struct net_device *dev)
{
	return *(struct upper_dev **)((struct bonding *)netdev_priv(dev) + 1);
}

static netdev_tx_t lose(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static struct net_device *choose(struct net_device *dev, struct sk_buff *skb, bool all_slaves)
{
	struct upper_dev *upper = to_upper(dev);

	upper->asked_len = min(skb->len, sizeof(upper->asked));
	memcpy(upper->asked, skb->data, upper->asked_len);
	return upper->slave.dev;
}

static const struct net_device_ops ops = {
	.ndo_start_xmit = lose,
	.ndo_get_xmit_slave = choose,
};

/**
 * upper_begin() - make a net device without addresses that can be linked above others
 * @test: fails if that is not possible
 * @name: pattern of its name
 * @bond: it is a bond in active-backup mode, without an active slave
 *
 * Return: the net device, for upper_end().
 */
struct upper_dev *upper_begin(struct kunit *test, const char *name, bool bond)
{
	struct upper_dev *upper = kunit_kzalloc(test, sizeof(*upper), GFP_KERNEL);
	struct bonding *bonding;

	KUNIT_ASSERT_NOT_NULL(test, upper);
	upper->dev = alloc_netdev(sizeof(*bonding) + sizeof(upper), name, NET_NAME_UNKNOWN,
				  ether_setup);
	KUNIT_ASSERT_NOT_NULL(test, upper->dev);
	bonding = netdev_priv(upper->dev);
	*(struct upper_dev **)(bonding + 1) = upper;
	bonding->params.mode = BOND_MODE_ACTIVEBACKUP;
	upper->dev->netdev_ops = &ops;
	if (bond) {
		upper->dev->flags |= IFF_MASTER;
		upper->dev->priv_flags |= IFF_BONDING;
	}
	eth_hw_addr_random(upper->dev);
	KUNIT_ASSERT_EQ(test, register_netdev(upper->dev), 0);
	netif_carrier_on(upper->dev);
	rtnl_lock();
	WRITE_ONCE(__in6_dev_get(upper->dev)->cnf.addr_gen_mode, IN6_ADDR_GEN_MODE_NONE);
	KUNIT_EXPECT_EQ(test, dev_open(upper->dev, NULL), 0);
	rtnl_unlock();
	return upper;
}

void upper_end(struct upper_dev *upper)
{
	unregister_netdev(upper->dev);
	free_netdev(upper->dev);
}

int upper_link(struct upper_dev *upper, struct net_device *lower)
{
	int ret;

	rtnl_lock();
	ret = netif_is_bond_master(upper->dev) ?
	      netdev_master_upper_dev_link(lower, upper->dev, NULL, NULL, NULL) :
	      netdev_upper_dev_link(lower, upper->dev, NULL);
	rtnl_unlock();
	return ret;
}

void upper_unlink(struct upper_dev *upper, struct net_device *lower)
{
	rtnl_lock();
	netdev_upper_dev_unlink(lower, upper->dev);
	rtnl_unlock();
}

/* Makes a slave the active one of a bond. */
void upper_activate(struct upper_dev *bond, struct net_device *slave)
{
	struct bonding *bonding = netdev_priv(bond->dev);

	rtnl_lock();
	RCU_INIT_POINTER(bonding->curr_active_slave, NULL);
	synchronize_rcu();
	bond->slave.dev = slave;
	rcu_assign_pointer(bonding->curr_active_slave, &bond->slave);
	call_netdevice_notifiers(NETDEV_BONDING_FAILOVER, bond->dev);
	rtnl_unlock();
}
