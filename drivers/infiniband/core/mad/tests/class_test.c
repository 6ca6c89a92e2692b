// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: functions by which agents learn properties of classes, MADs and themselves.
 */
#include <kunit/test.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>

static void classes_with_rmpp(struct kunit *test)
{
	static const u8 with[] = {
		IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_CLASS_DEVICE_ADM,
		IB_MGMT_CLASS_BIS,
		IB_MGMT_CLASS_VENDOR_RANGE2_START, IB_MGMT_CLASS_VENDOR_RANGE2_END,
	};
	static const u8 without[] = {
		IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE,
		IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_CLASS_BM, IB_MGMT_CLASS_CM, IB_MGMT_CLASS_SNMP,
		IB_MGMT_CLASS_BOOT_MGMT, IB_MGMT_CLASS_VENDOR_RANGE2_START - 1,
		IB_MGMT_CLASS_VENDOR_RANGE2_END + 1, 0, 0xff,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(with); i++)
		KUNIT_EXPECT_EQ_MSG(test, ib_is_mad_class_rmpp(with[i]), 1, "class %#x", with[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(without); i++)
		KUNIT_EXPECT_EQ_MSG(test, ib_is_mad_class_rmpp(without[i]), 0, "class %#x",
				    without[i]);
}

static void who_does_rmpp(struct kunit *test)
{
	struct ib_mad_agent agent = {};

	KUNIT_EXPECT_EQ(test, ib_mad_kernel_rmpp_agent(&agent), 0);
	agent.rmpp_version = IB_MGMT_RMPP_VERSION;
	KUNIT_EXPECT_EQ(test, ib_mad_kernel_rmpp_agent(&agent), 1);
	agent.flags = IB_MAD_USER_RMPP;
	KUNIT_EXPECT_EQ(test, ib_mad_kernel_rmpp_agent(&agent), 0);
	agent.rmpp_version = 0;
	KUNIT_EXPECT_EQ(test, ib_mad_kernel_rmpp_agent(&agent), 0);
}

static int is_response(u8 mgmt_class, u8 method, u32 attr_mod)
{
	struct ib_mad_hdr hdr = {
		.mgmt_class = mgmt_class, .method = method, .attr_mod = cpu_to_be32(attr_mod),
	};

	return ib_response_mad(&hdr);
}

static void responses(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1), 0);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_SET, 1), 0);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP, 0), 1);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_SUBN_ADM, IB_SA_METHOD_GET_TABLE_RESP, 0),
			1);
	/* A Trap is a request, and TrapRepress is its response although it has no response bit. */
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_TRAP, 0),
			0);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_SUBN_LID_ROUTED,
					  IB_MGMT_METHOD_TRAP_REPRESS, 0), 1);
	/* Baseboard management marks responses in the attribute modifier, other classes do not. */
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_BM, IB_MGMT_METHOD_SEND, 0), 0);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_BM, IB_MGMT_METHOD_SEND, 1), 1);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_BM, IB_MGMT_METHOD_SEND, 2), 0);
	KUNIT_EXPECT_EQ(test, is_response(IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_SEND, 1), 0);
}

static struct kunit_case class_cases[] = {
	KUNIT_CASE(classes_with_rmpp),
	KUNIT_CASE(who_does_rmpp),
	KUNIT_CASE(responses),
	{}
};

static struct kunit_suite class_suite = {
	.name = "ib_mad_class",
	.test_cases = class_cases,
};

kunit_test_suite(class_suite);
