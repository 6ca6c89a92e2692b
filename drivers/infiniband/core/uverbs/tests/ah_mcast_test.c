// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: address handles and multicast groups of user space.
 */
#include "test_uverbs.h"

static int create_ah(struct uverbs_test *t, u32 pd, const struct ib_uverbs_ah_attr *attr)
{
	struct {
		struct ib_uverbs_create_ah req;
		u64 driver;
	} ah = { .req = { .pd_handle = pd, .attr = *attr } };
	struct {
		struct ib_uverbs_create_ah_resp resp;
		u32 driver[3];
	} resp;

	return tu_write(t, IB_USER_VERBS_CMD_CREATE_AH, &ah, sizeof(ah), &resp, sizeof(resp));
}

static void ah_made(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_ah_attr routed = {
		.dlid = 9, .port_num = 1, .is_global = 1,
		.grh = { .dgid = { 0xfe, 0x80, [15] = 5 }, .flow_label = 0x12345, .sgid_index = 0,
			 .hop_limit = 64, .traffic_class = 3 },
	};
	struct ib_uverbs_attr destroy[] = { TU_HANDLE(UVERBS_ATTR_DESTROY_AH_HANDLE, 0) };
	const struct rdma_ah_attr *got = &t->device->ah_attr;
	u32 ah;

	KUNIT_EXPECT_EQ(test, tu_create_ah(t, 1, &ah), 0);
	KUNIT_EXPECT_EQ(test, got->type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(got), 0x12);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(got), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(got), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(got), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(got), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(got), 0);
	destroy[0].data_s64 = ah;
	KUNIT_EXPECT_EQ(test, tu_ioctl(t, UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, destroy, 1),
			0);
	KUNIT_EXPECT_EQ(test, tu_destroy_ah(t, ah), -ENOENT);

	KUNIT_EXPECT_EQ(test, create_ah(t, t->pd, &routed), 0);
	KUNIT_EXPECT_EQ(test, t->device->udata_in, 8);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(got), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, got->grh.dgid.raw[15], 5);
	KUNIT_EXPECT_EQ(test, got->grh.flow_label, 0x12345);
	KUNIT_EXPECT_EQ(test, got->grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, got->grh.traffic_class, 3);
	/* It is destroyed when the file is closed. */
	KUNIT_EXPECT_EQ(test, t->device->made.ahs, 1);
}

static void ah_refused(struct kunit *test)
{
	struct ib_uverbs_ah_attr attr = { .port_num = 1 };
	struct uverbs_test *t = test->priv;
	u32 ah;

	KUNIT_EXPECT_EQ(test, tu_create_ah(t, 0, &ah), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "attr.port_num 0"));
	/* The port is checked before the PD. */
	attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, create_ah(t, 4711, &attr), -EINVAL);
	attr.port_num = 1;
	KUNIT_EXPECT_EQ(test, create_ah(t, 4711, &attr), -ENOENT);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "pd_handle 4711"));
	attr.is_global = 1;
	attr.grh.sgid_index = 9;
	KUNIT_EXPECT_LT(test, create_ah(t, t->pd, &attr), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "no GID at index 9"));
	t->device->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, tu_create_ah(t, 1, &ah), -ENOSPC);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "port 1, dlid 0x12"));
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.ahs, 0);
}

/* Linux 6.12 has numbers for these commands, but does not implement them. */
static void ah_not_there(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u64 req[8] = {}, resp[4];

	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_MODIFY_AH, req, sizeof(req), NULL, 0),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_QUERY_AH, req, sizeof(req), resp,
				       sizeof(resp)), -EOPNOTSUPP);
}

/* ---- multicast ---- */

static int change_group(struct uverbs_test *t, u32 command, u32 qp, u8 first, u16 mlid)
{
	struct ib_uverbs_attach_mcast req = {
		.gid = { first, 0x12, [15] = 1 }, .qp_handle = qp, .mlid = mlid,
	};

	return tu_write(t, command, &req, sizeof(req), NULL, 0);
}

static int attach(struct uverbs_test *t, u32 qp, u16 mlid)
{
	return change_group(t, IB_USER_VERBS_CMD_ATTACH_MCAST, qp, 0xff, mlid);
}

static int detach(struct uverbs_test *t, u32 qp, u16 mlid)
{
	return change_group(t, IB_USER_VERBS_CMD_DETACH_MCAST, qp, 0xff, mlid);
}

static void groups(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	int *groups = &t->device->made.groups;
	u32 qp, other;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &other), 0);
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc001), 0);
	/* Attaching again changes nothing; another QP or LID is another attachment. */
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, *groups, 1);
	KUNIT_EXPECT_EQ(test, attach(t, other, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc002), 0);
	KUNIT_EXPECT_EQ(test, *groups, 3);

	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc003), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "is not attached"));
	/* A QP cannot be destroyed before it was detached from its groups. */
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), -EBUSY);
	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc001), -EINVAL);
	/* A detach that the driver refused can be repeated. */
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc002), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), -EBUSY);
	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc002), 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
	KUNIT_EXPECT_EQ(test, *groups, 1);
	/* The other QP is detached when the file is closed. */
	tu_close(t);
	KUNIT_EXPECT_EQ(test, *groups, 0);
	KUNIT_EXPECT_EQ(test, t->device->made.qps, 0);
}

static void groups_refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 qp, rc;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &rc), 0);
	KUNIT_EXPECT_EQ(test, change_group(t, IB_USER_VERBS_CMD_ATTACH_MCAST, qp, 0xfe, 0xc001),
			-EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "is not a multicast GID"));
	KUNIT_EXPECT_EQ(test, attach(t, rc, 0xc001), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "multicast needs UD"));
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0x1234), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "mlid 0x1234"));
	KUNIT_EXPECT_EQ(test, attach(t, 4711, 0xc001), -ENOENT);
	KUNIT_EXPECT_EQ(test, detach(t, 4711, 0xc001), -ENOENT);
	KUNIT_EXPECT_EQ(test, attach(t, t->cq, 0xc001), -EINVAL);
	t->device->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc001), -ENOSPC);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "mlid 0xc001: refused"));
	t->device->answer = 0;
	/* A refused attachment is not recorded. */
	KUNIT_EXPECT_EQ(test, detach(t, qp, 0xc001), -EINVAL);
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
}

static void groups_gone_with_device(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 qp;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc001), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, attach(t, qp, 0xc001), -EIO);
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
}

#ifdef CONFIG_FAULT_INJECTION
static u32 starving_qp;

static int ah_starving(struct uverbs_test *t)
{
	u32 ah;

	return tu_create_ah(t, 1, &ah);
}

static int attach_starving(struct uverbs_test *t)
{
	return attach(t, starving_qp, 0xc001);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	KUNIT_EXPECT_GT(test, tu_starve(t, ah_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.ahs, t->served);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &starving_qp), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, attach_starving), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.groups, 1);
}
#endif

static struct kunit_case ah_mcast_cases[] = {
	KUNIT_CASE(ah_made),
	KUNIT_CASE(ah_refused),
	KUNIT_CASE(ah_not_there),
	KUNIT_CASE(groups),
	KUNIT_CASE(groups_refused),
	KUNIT_CASE(groups_gone_with_device),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite ah_mcast_suite = {
	.name = "rdma_uverbs_ah_mcast",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = ah_mcast_cases,
};

kunit_test_suite(ah_mcast_suite);
