// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Management of an emulated HCA: its agents and the capability bits of its port. */
#include <rdma/ib_cache.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>

#include "../verbs/vhca.h"
#include "hca_test.h"

#define NODE_TYPE_CA	1

/* NodeInfo, as far as the tests use it. */
struct node_info {
	u8 base_version;
	u8 class_version;
	u8 type;
	u8 ports;
	__be64 sys_image_guid;
	__be64 node_guid;
	__be64 port_guid;
} __packed;

static struct ib_device *need(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);

	if (!vhca_hw_has(&dev->hw, VHCA_CAP_SMI_GSI))
		kunit_skip(test, "the device has no agents");
	return &dev->ibdev;
}

static struct ib_mad *make_mad(struct kunit *test, u8 class, u8 method, __be16 attr_id)
{
	struct ib_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mad);
	mad->mad_hdr = (struct ib_mad_hdr) {
		.base_version = IB_MGMT_BASE_VERSION,
		.mgmt_class = class,
		.class_version = 1,
		.method = method,
		.tid = cpu_to_be64(0x123456789abcdef0),
		.attr_id = attr_id,
	};
	return mad;
}

static int ask(struct ib_device *dev, const struct ib_mad *in, struct ib_mad *out)
{
	size_t size = sizeof(*out);
	u16 pkey_index = 0;

	return dev->ops.process_mad(dev, IB_MAD_IGNORE_MKEY, 1, NULL, NULL, in, out, &size,
				    &pkey_index);
}

static void expect_answer(struct kunit *test, const struct ib_mad *in, const struct ib_mad *out)
{
	KUNIT_EXPECT_EQ(test, out->mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(out->mad_hdr.status), 0);
	KUNIT_EXPECT_TRUE(test, out->mad_hdr.tid == in->mad_hdr.tid);
	KUNIT_EXPECT_TRUE(test, out->mad_hdr.attr_id == in->mad_hdr.attr_id);
}

static void test_agents(struct kunit *test)
{
	struct ib_device *dev = need(test);
	struct ib_mad *out = make_mad(test, 0, 0, 0);
	const struct node_info *info = (void *)((struct ib_smp *)out)->data;
	struct ib_mad *in;
	union ib_gid gid;

	in = make_mad(test, IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET,
		      IB_SMP_ATTR_NODE_INFO);
	KUNIT_ASSERT_EQ(test, ask(dev, in, out), IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
	expect_answer(test, in, out);
	KUNIT_EXPECT_EQ(test, info->type, NODE_TYPE_CA);
	KUNIT_EXPECT_EQ(test, info->ports, dev->phys_port_cnt);
	KUNIT_EXPECT_TRUE(test, info->node_guid == dev->node_guid);
	KUNIT_ASSERT_EQ(test, rdma_query_gid(dev, 1, 0, &gid), 0);
	KUNIT_EXPECT_TRUE(test, info->port_guid == gid.global.interface_id);

	in = make_mad(test, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, IB_PMA_CLASS_PORT_INFO);
	KUNIT_ASSERT_EQ(test, ask(dev, in, out), IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
	expect_answer(test, in, out);

	/* The device does not reply to SMInfo, as only the host knows if it runs an SM. */
	in = make_mad(test, IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET,
		      IB_SMP_ATTR_SM_INFO);
	KUNIT_EXPECT_EQ(test, ask(dev, in, out), IB_MAD_RESULT_SUCCESS);
}

static u32 cap_mask(struct kunit *test, struct ib_device *dev)
{
	struct ib_port_attr attr;

	KUNIT_ASSERT_EQ(test, ib_query_port(dev, 1, &attr), 0);
	return attr.port_cap_flags;
}

static int change(struct ib_device *dev, int mask, u32 set, u32 clear)
{
	struct ib_port_modify modify = { .set_port_cap_mask = set, .clr_port_cap_mask = clear };

	return ib_modify_port(dev, 1, mask, &modify);
}

static void test_modify_port(struct kunit *test)
{
	struct ib_device *dev = need(test);
	const u32 bits = IB_PORT_SM | IB_PORT_DEVICE_MGMT_SUP;
	u32 before = cap_mask(test, dev);

	KUNIT_EXPECT_EQ(test, change(dev, 0, bits, 0), 0);
	KUNIT_EXPECT_EQ(test, cap_mask(test, dev), before | bits);
	KUNIT_EXPECT_EQ(test, change(dev, IB_PORT_RESET_QKEY_CNTR, 0, bits), 0);
	KUNIT_EXPECT_EQ(test, cap_mask(test, dev), before & ~bits);
	KUNIT_EXPECT_EQ(test, change(dev, 0, IB_PORT_SL_MAP_SUP, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(dev, 0, 0, IB_PORT_SL_MAP_SUP), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(dev, IB_PORT_SHUTDOWN, bits, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, change(dev, IB_PORT_INIT_TYPE, bits, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, cap_mask(test, dev), before & ~bits);
}

static struct kunit_case mad_cases[] = {
	KUNIT_CASE(test_agents),
	KUNIT_CASE(test_modify_port),
	{}
};

struct kunit_suite hca_mad_suite = {
	.name = "vhca_hca_mad",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = mad_cases,
};
