// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: address vectors and handles, memory windows and the speed of Ethernet ports, over a
 * registered device, since addresses name entries of its GID cache.
 */
#include <kunit/test.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>

#include "../../device/tests/test_device.h"
#include "../verbs_priv.h"

/* Numbers of the driver's objects, the result of its calls, and their last arguments. */
static struct {
	int ahs, mws, answer;
	u32 create_flags, destroy_flags;
	bool user;
	u8 dmac[ETH_ALEN];
} fake;

static int fake_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	fake.create_flags = attr->flags;
	fake.user = udata;
	memcpy(fake.dmac, attr->ah_attr->roce.dmac, ETH_ALEN);
	if (!fake.answer)
		fake.ahs++;
	return fake.answer;
}

static int fake_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	return fake.answer;
}

static int fake_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	attr->type = ah->type;
	return fake.answer;
}

static int fake_destroy_ah(struct ib_ah *ah, u32 flags)
{
	fake.destroy_flags = flags;
	if (!fake.answer)
		fake.ahs--;
	return fake.answer;
}

static int fake_alloc_mw(struct ib_mw *mw, struct ib_udata *udata)
{
	if (!fake.answer)
		fake.mws++;
	return fake.answer;
}

static int fake_dealloc_mw(struct ib_mw *mw)
{
	if (!fake.answer)
		fake.mws--;
	return fake.answer;
}

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static enum rdma_link_layer fake_link_layer(struct ib_device *device, u32 port_num)
{
	return port_num == 2 ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

static const struct ib_device_ops pd_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.get_link_layer = fake_link_layer,
	.size_ib_pd = sizeof(struct ib_pd),
};

/* ---- paths of QPs ---- */

/* Two concurrent modifications of a QP, for which the driver waits until both have reached it. */
static struct {
	struct ib_qp *qp;
	struct work_struct work;
	bool on;
	atomic_t here;
} meeting;

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	if (!meeting.on)
		return 0;
	atomic_inc(&meeting.here);
	while (atomic_read(&meeting.here) < 2)
		cond_resched();
	return 0;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static const struct ib_device_ops ah_ops = {
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.destroy_qp = fake_destroy_qp,
	.size_ib_qp = sizeof(struct ib_qp),
	.create_ah = fake_create_ah,
	.create_user_ah = fake_create_ah,
	.modify_ah = fake_modify_ah,
	.query_ah = fake_query_ah,
	.destroy_ah = fake_destroy_ah,
	.alloc_mw = fake_alloc_mw,
	.dealloc_mw = fake_dealloc_mw,
	.size_ib_ah = sizeof(struct ib_ah),
	.size_ib_mw = sizeof(struct ib_mw),
};

struct addressing {
	struct test_device *device;
	struct ib_pd *pd;
};

static void begin(struct kunit *test, struct addressing *a, bool with_ah)
{
	memset(&fake, 0, sizeof(fake));
	a->device = test_device_alloc();
	KUNIT_ASSERT_NOT_NULL(test, a->device);
	ib_set_device_ops(&a->device->ib, &pd_ops);
	if (with_ah)
		ib_set_device_ops(&a->device->ib, &ah_ops);
	KUNIT_ASSERT_EQ(test, ib_register_device(&a->device->ib, "kt_ah", NULL), 0);
	a->device->ib.attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	a->pd = ib_alloc_pd(&a->device->ib, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, a->pd);
}

static void end(struct kunit *test, struct addressing *a)
{
	KUNIT_EXPECT_EQ(test, fake.ahs, 0);
	KUNIT_EXPECT_EQ(test, fake.mws, 0);
	ib_dealloc_pd(a->pd);
	test_device_gone(a->device);
}

static struct rdma_ah_attr local(void)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1 };

	attr.ib.dlid = 7;
	return attr;
}

static struct rdma_ah_attr routed(u32 port_num, u8 index, enum rdma_ah_attr_type type)
{
	struct rdma_ah_attr attr = { .type = type, .port_num = port_num, .ah_flags = IB_AH_GRH };

	attr.grh.sgid_index = index;
	return attr;
}

static const struct ib_gid_attr *entry_of(struct kunit *test, struct addressing *a, u32 port_num)
{
	const struct ib_gid_attr *entry = rdma_get_gid_attr(&a->device->ib, port_num, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(entry));
	return entry;
}

static void handle_lives_and_ends(struct kunit *test)
{
	struct rdma_ah_attr attr = local(), other = local(), asked;
	struct addressing a;
	struct ib_ah *ah;

	begin(test, &a, true);
	ah = rdma_create_ah(a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, fake.create_flags, (u32)RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_FALSE(test, fake.user);
	KUNIT_EXPECT_PTR_EQ(test, ah->pd, a.pd);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(a.pd, NULL), -EBUSY);

	memset(&asked, 0, sizeof(asked));
	KUNIT_EXPECT_EQ(test, rdma_query_ah(ah, &asked), 0);
	KUNIT_EXPECT_EQ(test, asked.type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &other), 0);
	other.type = RDMA_AH_ATTR_TYPE_ROCE;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &other), -EINVAL);
	fake.answer = -EIO;
	other.type = RDMA_AH_ATTR_TYPE_IB;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &other), -EIO);
	KUNIT_EXPECT_EQ(test, rdma_query_ah(ah, &asked), -EIO);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), -EIO);
	fake.answer = 0;
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), 0);
	KUNIT_EXPECT_EQ(test, fake.destroy_flags, (u32)RDMA_DESTROY_AH_SLEEPABLE);
	end(test, &a);
}

/* Consumers create and destroy handles while they hold a spinlock. */
static void handle_in_atomic_context(struct kunit *test)
{
	struct rdma_ah_attr attr = routed(1, 0, RDMA_AH_ATTR_TYPE_IB);
	struct addressing a;
	struct ib_ah *ah;
	spinlock_t lock; /* a consumer's lock */

	begin(test, &a, true);
	spin_lock_init(&lock);
	spin_lock_bh(&lock);
	ah = rdma_create_ah(a.pd, &attr, 0);
	if (!IS_ERR(ah))
		rdma_destroy_ah(ah, 0);
	spin_unlock_bh(&lock);
	KUNIT_EXPECT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_EQ(test, fake.create_flags, 0);
	KUNIT_EXPECT_EQ(test, fake.destroy_flags, 0);
	end(test, &a);
}

/* An address handle for the sender of a datagram, made from its completion. */
static void handle_from_completion(struct kunit *test)
{
	struct ib_wc wc = { .slid = 7 };
	struct ib_grh grh = {};
	struct addressing a;
	struct ib_ah *ah;

	begin(test, &a, true);
	ah = ib_create_ah_from_wc(a.pd, &wc, &grh, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, fake.create_flags, (u32)RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	wc.wc_flags = IB_WC_GRH;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_ah_from_wc(a.pd, &wc, &grh, 1)), -ENOENT);
	fake.answer = -ENOSPC;
	wc.wc_flags = 0;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_ah_from_wc(a.pd, &wc, &grh, 1)), -ENOSPC);
	fake.answer = 0;
	end(test, &a);
}

static void handle_holds_its_gid(struct kunit *test)
{
	struct rdma_ah_attr attr = routed(1, 0, RDMA_AH_ATTR_TYPE_IB), away = local();
	const struct ib_gid_attr *entry;
	struct addressing a;
	struct ib_ah *ah;

	begin(test, &a, true);
	entry = entry_of(test, &a, 1);
	ah = rdma_create_ah(a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ah);
	KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, entry);
	KUNIT_EXPECT_NULL(test, attr.grh.sgid_attr);
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &away), 0);
	KUNIT_EXPECT_NULL(test, ah->sgid_attr);
	/* The caller passes an entry that it holds itself. */
	attr.grh.sgid_attr = entry;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, entry);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	rdma_put_gid_attr(entry);
	end(test, &a);
}

static void unusable_addresses(struct kunit *test)
{
	struct rdma_ah_attr attr;
	const struct ib_gid_attr *entry;
	struct addressing a;

	begin(test, &a, true);
	attr = local();
	attr.port_num = 0;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EINVAL);
	attr.port_num = TEST_PORTS + 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EINVAL);
	attr = local();
	attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EINVAL);
	attr = routed(1, 1, RDMA_AH_ATTR_TYPE_IB);	/* an empty entry */
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -ENODATA);
	attr = routed(1, TEST_GIDS, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EINVAL);
	entry = entry_of(test, &a, 2);
	attr = routed(1, 0, RDMA_AH_ATTR_TYPE_IB);
	attr.grh.sgid_attr = entry;			/* another port's */
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EINVAL);
	rdma_put_gid_attr(entry);
	attr = local();
	fake.answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -ENOSPC);
	fake.answer = 0;
	end(test, &a);

	begin(test, &a, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_ah(a.pd, &attr, 0)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_create_user_ah(a.pd, &attr, NULL)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mw_user(a.pd, IB_MW_TYPE_1, NULL, NULL)),
			-EOPNOTSUPP);
	end(test, &a);
}

/* Users name a RoCE peer by its GID alone; the Ethernet address of a group follows from it. */
static void users_address_is_resolved(struct kunit *test)
{
	static const struct {
		u8 gid[16];
		u8 mac[ETH_ALEN];
		int ret;
	} peers[] = {
		/* A link-local peer needs neighbour discovery, but the GID has no netdev. */
		{ { 0xfe, 0x80, [15] = 2 }, {}, -ENODEV },
		{ { 0xff, 0x0e, [12] = 0x0a, 0x0b, 0x0c, 0x0d },
		  { 0x33, 0x33, 0x0a, 0x0b, 0x0c, 0x0d } },
		{ { [10] = 0xff, 0xff, 224, 1, 2, 3 }, { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 } },
		{ { [10] = 0xff, 0xff, 10, 1, 2, 3 }, {}, -EINVAL },
		{ { 0x20, 0x01, [15] = 1 }, {}, -ENODEV },
	};
	struct ib_udata udata = {};
	struct addressing a;

	begin(test, &a, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(peers); i++) {
		struct rdma_ah_attr attr = routed(1, 0, RDMA_AH_ATTR_TYPE_ROCE);
		struct ib_ah *ah;

		memcpy(attr.grh.dgid.raw, peers[i].gid, sizeof(peers[i].gid));
		ah = rdma_create_user_ah(a.pd, &attr, &udata);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(ah), peers[i].ret, "peer %u", i);
		if (IS_ERR(ah))
			continue;
		KUNIT_EXPECT_MEMEQ(test, fake.dmac, peers[i].mac, ETH_ALEN);
		KUNIT_EXPECT_TRUE(test, fake.user);
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	end(test, &a);
}

/* Each address vector that names an entry owns a reference, which is dropped once. */
static void address_vectors_own_their_gid(struct kunit *test)
{
	struct rdma_ah_attr first = {}, second = {}, third = local();
	const struct ib_gid_attr *entry;
	union ib_gid dgid = { .raw = { 1 } };
	struct addressing a;
	unsigned int held;

	begin(test, &a, true);
	entry = entry_of(test, &a, 1);
	rdma_hold_gid_attr(entry);
	rdma_move_grh_sgid_attr(&first, &dgid, 0x12345, 9, 3, entry);
	KUNIT_EXPECT_EQ(test, first.ah_flags, IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, first.grh.flow_label, 0x12345);
	KUNIT_EXPECT_EQ(test, first.grh.hop_limit, 9);
	KUNIT_EXPECT_EQ(test, first.grh.traffic_class, 3);
	KUNIT_EXPECT_EQ(test, first.grh.sgid_index, 0);
	KUNIT_EXPECT_MEMEQ(test, &first.grh.dgid, &dgid, sizeof(dgid));

	rdma_copy_ah_attr(&second, &first);
	KUNIT_EXPECT_PTR_EQ(test, second.grh.sgid_attr, entry);
	/* Replacing an address vector by an equal one keeps a reference throughout. */
	rdma_replace_ah_attr(&second, &first);
	KUNIT_EXPECT_PTR_EQ(test, second.grh.sgid_attr, entry);
	rdma_move_ah_attr(&third, &second);
	KUNIT_EXPECT_NULL(test, second.grh.sgid_attr);
	KUNIT_EXPECT_PTR_EQ(test, third.grh.sgid_attr, entry);
	rdma_replace_ah_attr(&first, &second);
	KUNIT_EXPECT_NULL(test, first.grh.sgid_attr);

	/* The test owns one reference and "third" another: KASAN reports a missing one. */
	rdma_put_gid_attr(entry);
	for (held = 0; third.grh.sgid_attr; held++)
		rdma_destroy_ah_attr(&third);
	KUNIT_EXPECT_EQ(test, held, 1);
	rdma_destroy_ah_attr(&third);
	/* The device can be removed only when no reference is left. */
	end(test, &a);
}

static void leave_router(struct work_struct *work)
{
	struct ib_qp_attr attr = { .ah_attr = local(), .alt_ah_attr = local() };

	ib_modify_qp(meeting.qp, &attr, IB_QP_AV | IB_QP_ALT_PATH);
}

/*
 * Two concurrent modifications replace both GID entries of a QP: each entry must be put once, or
 * KASAN reports a use after free.
 */
static void path_is_given_back_once(struct kunit *test)
{
	struct ib_qp_attr attr = {
		.ah_attr = routed(1, 0, RDMA_AH_ATTR_TYPE_IB),
		.alt_ah_attr = routed(2, 0, RDMA_AH_ATTR_TYPE_IB),
	};
	/* A driver's own type: modifications of others are serialised for security modules. */
	struct ib_qp_init_attr init = { .qp_type = IB_QPT_RESERVED1 };
	struct addressing a;

	begin(test, &a, true);
	memset(&meeting, 0, sizeof(meeting));
	INIT_WORK(&meeting.work, leave_router);
	init.port_num = 1;
	meeting.qp = ib_create_qp(a.pd, &init);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, meeting.qp);
	for (int round = 0; round < 500; round++) {
		meeting.on = false;
		KUNIT_ASSERT_EQ(test, ib_modify_qp(meeting.qp, &attr, IB_QP_AV | IB_QP_ALT_PATH),
				0);
		KUNIT_ASSERT_NOT_NULL(test, meeting.qp->av_sgid_attr);
		KUNIT_ASSERT_NOT_NULL(test, meeting.qp->alt_path_sgid_attr);
		atomic_set(&meeting.here, 0);
		meeting.on = true;
		queue_work(system_unbound_wq, &meeting.work);
		leave_router(NULL);
		flush_work(&meeting.work);
		KUNIT_ASSERT_NULL(test, meeting.qp->av_sgid_attr);
		KUNIT_ASSERT_NULL(test, meeting.qp->alt_path_sgid_attr);
	}
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(meeting.qp), 0);
	rdma_put_gid_attr(entry_of(test, &a, 1));
	rdma_put_gid_attr(entry_of(test, &a, 2));
	end(test, &a);
}

static void window_lives_and_ends(struct kunit *test)
{
	struct addressing a;
	struct ib_mw *mw;

	begin(test, &a, true);
	mw = ib_alloc_mw_user(a.pd, IB_MW_TYPE_2, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mw);
	KUNIT_EXPECT_EQ(test, mw->type, IB_MW_TYPE_2);
	KUNIT_EXPECT_PTR_EQ(test, mw->pd, a.pd);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(a.pd, NULL), -EBUSY);
	fake.answer = -EBUSY;
	KUNIT_EXPECT_EQ(test, ib_dealloc_mw_user(mw), -EBUSY);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mw_user(a.pd, IB_MW_TYPE_1, NULL, NULL)), -EBUSY);
	fake.answer = 0;
	KUNIT_EXPECT_EQ(test, ib_dealloc_mw_user(mw), 0);
	end(test, &a);
}

/* ---- Ethernet ports -------------------------------------------------------------------------- */

static struct ethtool_link_ksettings link;

static int link_settings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	*settings = link;
	return 0;
}

static const struct ethtool_ops link_ops = { .get_link_ksettings = link_settings };
static const struct net_device_ops netdev_ops = {};

static void netdev_setup(struct net_device *netdev)
{
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &link_ops;
}

static void speed_follows_the_net_device(struct kunit *test)
{
	static const struct {
		u32 mbps, lanes;
		u16 speed;
		u8 width;
	} links[] = {
		{ SPEED_UNKNOWN, 0, IB_SPEED_SDR, IB_WIDTH_1X },
		{ SPEED_100, 0, IB_SPEED_SDR, IB_WIDTH_1X },
		{ SPEED_10000, 0, IB_SPEED_FDR10, IB_WIDTH_1X },
		{ SPEED_40000, 0, IB_SPEED_FDR10, IB_WIDTH_4X },
		{ SPEED_200000, 0, IB_SPEED_HDR, IB_WIDTH_4X },
		{ SPEED_800000, 0, IB_SPEED_NDR, IB_WIDTH_4X },
		{ SPEED_100000, 4, IB_SPEED_EDR, IB_WIDTH_4X },
		{ SPEED_100000, 2, IB_SPEED_HDR, IB_WIDTH_2X },
		{ SPEED_100000, 1, IB_SPEED_NDR, IB_WIDTH_1X },
		/* InfiniBand has neither this number of lanes nor this speed. */
		{ SPEED_1000, 3, IB_SPEED_SDR, IB_WIDTH_1X },
	};
	struct net_device *netdev;
	struct addressing a;
	u16 speed;
	u8 width;

	begin(test, &a, true);
	netdev = alloc_netdev(0, "kteth%d", NET_NAME_UNKNOWN, netdev_setup);
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(&a.device->ib, 1, &speed, &width), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(&a.device->ib, 2, &speed, &width), -ENODEV);
	KUNIT_ASSERT_EQ(test, register_netdev(netdev), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&a.device->ib, netdev, 2), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(links); i++) {
		link.base.speed = links[i].mbps;
		link.lanes = links[i].lanes;
		KUNIT_EXPECT_EQ(test, ib_get_eth_speed(&a.device->ib, 2, &speed, &width), 0);
		KUNIT_EXPECT_EQ_MSG(test, speed, links[i].speed, "link %u", i);
		KUNIT_EXPECT_EQ_MSG(test, width, links[i].width, "link %u", i);
	}
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&a.device->ib, NULL, 2), 0);
	unregister_netdev(netdev);
	free_netdev(netdev);
	end(test, &a);
}

static struct kunit_case ah_cases[] = {
	KUNIT_CASE(handle_lives_and_ends),
	KUNIT_CASE(handle_in_atomic_context),
	KUNIT_CASE(handle_from_completion),
	KUNIT_CASE(handle_holds_its_gid),
	KUNIT_CASE(unusable_addresses),
	KUNIT_CASE(users_address_is_resolved),
	KUNIT_CASE(address_vectors_own_their_gid),
	KUNIT_CASE(path_is_given_back_once),
	KUNIT_CASE(window_lives_and_ends),
	KUNIT_CASE(speed_follows_the_net_device),
	{}
};

static struct kunit_suite ah_suite = {
	.name = "ib_core_ah",
	.test_cases = ah_cases,
};

kunit_test_suite(ah_suite);
