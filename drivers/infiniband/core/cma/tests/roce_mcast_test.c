// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: multicast groups on Ethernet, which an interface without hardware joins by IGMP and MLD.
 */
#include <kunit/static_stub.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>

#include "../../addr/tests/fake_net.h"
#include "test_cma.h"

#define GIDS 12
#define HOP_LIMIT 64
#define MTU_TOO_SMALL 100

/* To what addresses the groups' frames go */
static const u8 mac4[ETH_ALEN] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
static const u8 mac6[ETH_ALEN] = { 0x33, 0x33, 0x00, 0x00, 0x00, 0x77 };

static struct fake_net *net;

static int immutable(struct ib_device *ib, u32 port_num, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = GIDS;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
				    RDMA_CORE_CAP_IB_CM | RDMA_CORE_CAP_ETH_AH;
	return 0;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int roce_init(struct kunit *test)
{
	struct test_device *device;
	int ret = ct_init(test);

	if (ret)
		return ret;
	kunit_deactivate_static_stub(test, cma_translate_addr);
	net = fake_net_begin(test, ARPHRD_ETHER);
	device = test_device_alloc();
	KUNIT_ASSERT_NOT_NULL(test, device);
	device->ib.ops.get_port_immutable = immutable;
	device->ib.ops.add_gid = add_gid;
	device->ib.ops.del_gid = del_gid;
	ct_offer_kernel_verbs(&device->ib);
	ret = ib_device_set_netdev(&device->ib, net->dev, 1) ?:
	      ib_register_device(&device->ib, "kt_cmaroce", NULL);
	if (ret)
		ib_dealloc_device(&device->ib);
	KUNIT_ASSERT_EQ(test, ret, 0);
	((struct cma_test *)test->priv)->device[0] = device;
	/* Its table has the interface's addresses. */
	flush_workqueue(ib_wq);
	return 0;
}

static void roce_exit(struct kunit *test)
{
	ct_exit(test);
	if (net)
		fake_net_end(net);
	net = NULL;
}

/* How often the interface has joined the group that has this address */
static int members(const u8 *mac)
{
	struct netdev_hw_addr *ha;
	int count = 0;

	netif_addr_lock_bh(net->dev);
	netdev_for_each_mc_addr(ha, net->dev)
		if (ether_addr_equal(ha->addr, mac))
			count += ha->refcount;
	netif_addr_unlock_bh(net->dev);
	return count;
}

static struct consumer *bound(struct kunit *test, const char *text)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_UDP, IB_QPT_UD);
	union addr_ip own = fake_ip(text);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &own.any), 0);
	KUNIT_ASSERT_NOT_NULL(test, c->id->device);
	return c;
}

static struct consumer *bound4(struct kunit *test)
{
	return bound(test, "198.18.0.1");
}

static int join_as(struct consumer *c, union ct_addr group, u8 join_state)
{
	return rdma_join_multicast(c->id, &group.any, join_state, &net);
}

static union ct_addr group4(void)
{
	return ct_ip4(0xef010203, 0);
}

static union ct_addr group6(void)
{
	return ct_ip6(0xff0e0000, 0x77, 0);
}

static void expect_joined(struct kunit *test, struct consumer *c, const u8 *mgid)
{
	struct rdma_ud_param *ud = &c->last.param.ud;

	ct_settle();
	KUNIT_ASSERT_EQ(test, c->calls, 1);
	KUNIT_ASSERT_EQ(test, c->events[0], RDMA_CM_EVENT_MULTICAST_JOIN);
	KUNIT_EXPECT_EQ(test, c->status[0], 0);
	KUNIT_EXPECT_PTR_EQ(test, ud->private_data, (const void *)&net);
	KUNIT_EXPECT_EQ(test, ud->qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, ud->qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_MEMEQ(test, rdma_ah_read_grh(&ud->ah_attr)->dgid.raw, mgid, 16);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&ud->ah_attr)->hop_limit, HOP_LIMIT);
}

/* An IPv4 group is its own MGID, as a mapped address; each id that is in it counts. */
static void joined_by_igmp(struct kunit *test)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 0xef, 1, 2, 3 };
	struct consumer *one = bound4(test), *other = bound4(test);
	union ct_addr group = group4();

	KUNIT_ASSERT_EQ(test, join_as(one, group4(), BIT(FULLMEMBER_JOIN)), 0);
	expect_joined(test, one, mgid);
	KUNIT_EXPECT_EQ(test, members(mac4), 1);
	KUNIT_ASSERT_EQ(test, join_as(other, group4(), BIT(FULLMEMBER_JOIN)), 0);
	rdma_leave_multicast(one->id, &group.any);
	KUNIT_EXPECT_EQ(test, members(mac4), 1);
	/* A group is left with its id, too. */
	ct_destroy(other);
	KUNIT_EXPECT_EQ(test, members(mac4), 0);
}

static void joined_by_mld(struct kunit *test)
{
	struct consumer *c = bound(test, "2001:db8::1");
	union ct_addr group = group6();

	KUNIT_ASSERT_EQ(test, join_as(c, group6(), BIT(FULLMEMBER_JOIN)), 0);
	expect_joined(test, c, group.in6.sin6_addr.s6_addr);
	KUNIT_EXPECT_EQ(test, members(mac6), 1);
	rdma_leave_multicast(c->id, &group.any);
	KUNIT_EXPECT_EQ(test, members(mac6), 0);
}

/* Who only sends needs no switch to know of it. */
static void joined_to_send(struct kunit *test)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 0xef, 1, 2, 3 };
	struct consumer *c = bound4(test);
	union ct_addr group = group4();

	KUNIT_ASSERT_EQ(test, join_as(c, group4(), BIT(SENDONLY_FULLMEMBER_JOIN)), 0);
	expect_joined(test, c, mgid);
	KUNIT_EXPECT_EQ(test, members(mac4), 0);
	rdma_leave_multicast(c->id, &group.any);
	KUNIT_EXPECT_EQ(test, members(mac4), 0);
}

/* Frames of RoCE v1 have no IP header, so that no group of IP is joined. */
static void joined_on_v1(struct kunit *test)
{
	static const u8 mgid[16] = { 0xff, 0x0e, [10] = 0xff, 0xff, 0xef, 1, 2, 3 };
	struct consumer *c = bound4(test);

	cma_config(ct_id(c)->cma_dev, 1)->gid_type = IB_GID_TYPE_ROCE;
	c = bound4(test);
	KUNIT_ASSERT_EQ(test, join_as(c, group4(), BIT(FULLMEMBER_JOIN)), 0);
	ct_settle();
	KUNIT_ASSERT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_MULTICAST_JOIN);
	KUNIT_EXPECT_MEMEQ(test, rdma_ah_read_grh(&c->last.param.ud.ah_attr)->dgid.raw, mgid, 16);
	KUNIT_EXPECT_EQ(test, members(mac4), 0);
}

static void set_mtu(struct kunit *test, int mtu)
{
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mtu(net->dev, mtu), 0);
	rtnl_unlock();
}

static void refused(struct kunit *test)
{
	struct consumer *c = bound4(test);

	KUNIT_EXPECT_EQ(test, join_as(c, ct_ip4(0, 0), BIT(FULLMEMBER_JOIN)), -EINVAL);
	KUNIT_EXPECT_EQ(test, join_as(c, ct_ip6(0, 0, 0), BIT(FULLMEMBER_JOIN)), -EINVAL);
	KUNIT_EXPECT_EQ(test, join_as(c, ct_ib(1, 1, 0, 0), BIT(FULLMEMBER_JOIN)), -EINVAL);
	set_mtu(test, MTU_TOO_SMALL);
	KUNIT_EXPECT_EQ(test, join_as(c, group4(), BIT(FULLMEMBER_JOIN)), -EINVAL);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	KUNIT_EXPECT_EQ(test, members(mac4), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&ct_id(c)->mcasts));
}

static struct kunit_case roce_mcast_cases[] = {
	KUNIT_CASE(joined_by_igmp),
	KUNIT_CASE(joined_by_mld),
	KUNIT_CASE(joined_to_send),
	KUNIT_CASE(joined_on_v1),
	KUNIT_CASE(refused),
	{}
};

static struct kunit_suite roce_mcast_suite = {
	.name = "rdma_cm_roce_mcast",
	.init = roce_init,
	.exit = roce_exit,
	.test_cases = roce_mcast_cases,
};

kunit_test_suite(roce_mcast_suite);
