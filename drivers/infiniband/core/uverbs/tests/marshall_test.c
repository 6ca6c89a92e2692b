// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: addresses, QP attributes and paths for user space; references of flow rules.
 */
#include <kunit/test.h>
#include <rdma/ib_marshall.h>
#include <rdma/opa_addr.h>
#include <rdma/uverbs_std_types.h>

static int fake_query_port(struct ib_device *device, u32 port, struct ib_port_attr *attr)
{
	attr->subnet_prefix = 0xfe80ULL << 48;
	return 0;
}

static const struct ib_device_ops fake_ops = {
	.query_port = fake_query_port,
};

static void qp_attributes(struct kunit *test)
{
	struct ib_qp_attr src = {
		.qp_state = IB_QPS_RTS, .qkey = 5, .dest_qp_num = 0x123456,
		.cap = { .max_inline_data = 64 }, .port_num = 2, .alt_timeout = 9,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB, .sl = 3, .port_num = 2 },
	};
	struct ib_uverbs_qp_attr dst;

	memset(&dst, 0xff, sizeof(dst));
	src.ah_attr.ib.dlid = 0x77;
	src.ah_attr.grh.hop_limit = 8;
	rdma_ah_set_grh(&src.alt_ah_attr, NULL, 0xabcde, 4, 8, 1);
	ib_copy_qp_attr_to_user(NULL, &dst, &src);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, dst.qp_state);
	KUNIT_EXPECT_EQ(test, 5, dst.qkey);
	KUNIT_EXPECT_EQ(test, 0x123456, dst.dest_qp_num);
	KUNIT_EXPECT_EQ(test, 64, dst.max_inline_data);
	KUNIT_EXPECT_EQ(test, 2, dst.port_num);
	KUNIT_EXPECT_EQ(test, 9, dst.alt_timeout);
	KUNIT_EXPECT_EQ(test, 0x77, dst.ah_attr.dlid);
	KUNIT_EXPECT_EQ(test, 3, dst.ah_attr.sl);
	/* Without a GRH its members stay zero. */
	KUNIT_EXPECT_EQ(test, 0, dst.ah_attr.is_global);
	KUNIT_EXPECT_EQ(test, 0, dst.ah_attr.grh.hop_limit);
	KUNIT_EXPECT_EQ(test, 1, dst.alt_ah_attr.is_global);
	KUNIT_EXPECT_EQ(test, 0xabcde, dst.alt_ah_attr.grh.flow_label);
	KUNIT_EXPECT_EQ(test, 4, dst.alt_ah_attr.grh.sgid_index);
	for (unsigned int i = 0; i < sizeof(dst.reserved); i++)
		KUNIT_EXPECT_EQ(test, 0, dst.reserved[i]);
	KUNIT_EXPECT_EQ(test, 0, dst.ah_attr.reserved);
}

static void long_lids(struct kunit *test)
{
	struct ib_device *device = _ib_alloc_device(sizeof(*device));
	struct rdma_ah_attr src = { .type = RDMA_AH_ATTR_TYPE_OPA, .port_num = 1 };
	struct ib_port_data ports[2] = {};
	struct ib_uverbs_ah_attr dst;

	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(device, &fake_ops);
	device->phys_port_cnt = 1;
	ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	device->port_data = ports;
	src.opa.dlid = 0x12345;
	ib_copy_ah_attr_to_user(device, &dst, &src);
	KUNIT_EXPECT_EQ(test, 1, dst.is_global);
	KUNIT_EXPECT_TRUE(test, ib_is_opa_gid((union ib_gid *)dst.grh.dgid));
	KUNIT_EXPECT_EQ(test, 0x12345, opa_get_lid_from_gid((union ib_gid *)dst.grh.dgid));
	rdma_ah_set_dlid(&src, 0xfff0);
	ib_copy_ah_attr_to_user(device, &dst, &src);
	KUNIT_EXPECT_EQ(test, 0, dst.is_global);
	KUNIT_EXPECT_EQ(test, 0xfff0, dst.dlid);
	device->port_data = NULL;
	ib_dealloc_device(device);
}

static void paths(struct kunit *test)
{
	struct ib_user_path_rec user = {
		.dlid = cpu_to_be16(7), .slid = cpu_to_be16(8), .pkey = cpu_to_be16(0xffff),
		.mtu = 4, .raw_traffic = 1, .flow_label = cpu_to_be32(0x12345), .preference = 2,
	}, back;
	struct sa_path_rec path;

	ib_copy_path_rec_from_user(&path, &user);
	KUNIT_EXPECT_EQ(test, SA_PATH_REC_TYPE_IB, path.rec_type);
	KUNIT_EXPECT_EQ(test, 7, be32_to_cpu(sa_path_get_dlid(&path)));
	KUNIT_EXPECT_EQ(test, 4, path.mtu);
	memset(&back, 0, sizeof(back));
	ib_copy_path_rec_to_user(&back, &path);
	KUNIT_EXPECT_MEMEQ(test, &back, &user, sizeof(user));

	/* GIDs that encode long LIDs. */
	memcpy(user.dgid + 8, &(__be64) { OPA_MAKE_ID(0x54321) }, 8);
	memcpy(user.sgid + 8, &(__be64) { OPA_MAKE_ID(0x54322) }, 8);
	ib_copy_path_rec_from_user(&path, &user);
	KUNIT_EXPECT_EQ(test, SA_PATH_REC_TYPE_OPA, path.rec_type);
	KUNIT_EXPECT_EQ(test, 0x54321, be32_to_cpu(sa_path_get_dlid(&path)));
	KUNIT_EXPECT_EQ(test, 0x54322, be32_to_cpu(sa_path_get_slid(&path)));
	ib_copy_path_rec_to_user(&back, &path);
	KUNIT_EXPECT_EQ(test, 0, be16_to_cpu(back.dlid));
	KUNIT_EXPECT_EQ(test, 0x54321, opa_get_lid_from_gid((union ib_gid *)back.dgid));
}

static void flow_references(struct kunit *test)
{
	struct ib_flow_action action = {};
	struct ib_counters counters = {};
	struct ib_uflow_resources *res;

	ib_uverbs_flow_resources_free(NULL);
	res = flow_resources_alloc(0);
	KUNIT_ASSERT_NOT_NULL(test, res);
	ib_uverbs_flow_resources_free(res);

	res = flow_resources_alloc(3);
	KUNIT_ASSERT_NOT_NULL(test, res);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE, &action);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_COUNT, &counters);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE, &action);
	KUNIT_EXPECT_EQ(test, 3, res->num);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&action.usecnt));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&counters.usecnt));
	ib_uverbs_flow_resources_free(res);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&action.usecnt));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&counters.usecnt));
}

static struct kunit_case marshall_cases[] = {
	KUNIT_CASE(qp_attributes),
	KUNIT_CASE(long_lids),
	KUNIT_CASE(paths),
	KUNIT_CASE(flow_references),
	{}
};

static struct kunit_suite marshall_suite = {
	.name = "uverbs-marshall",
	.test_cases = marshall_cases,
};

kunit_test_suite(marshall_suite);
