// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attributes of the device for each of its capabilities. */
#include <rdma/rdma_ext.h>

#include "../cmd/cmd.h"
#include "../verbs/caps.h"
#include "test_queues.h"

#define OP(op)	BIT(VHCA_OP_##op)

static void offers(struct bench *b, u64 caps, struct ib_device_attr *attr)
{
	b->dev.hw.limits.caps = caps;
	b->dev.hw.limits.max_reg_entries = 512;
	b->dev.hw.limits.max_mkeys = 1000;
	vhca_caps_init(&b->dev);
	memset(attr, 0, sizeof(*attr));
	vhca_caps_attr(&b->dev, attr);
}

static void test_nothing(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_device_attr attr;

	offers(b, 0, &attr);
	KUNIT_EXPECT_EQ(test, b->dev.send_ops, OP(NOP) | OP(SEND) | OP(SEND_IMM) | OP(WRITE) |
					       OP(WRITE_IMM) | OP(READ));
	KUNIT_EXPECT_EQ(test, b->dev.uc_lacks, OP(REG_MR) | OP(LOCAL_INV));
	KUNIT_EXPECT_EQ(test, b->dev.access, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
					     IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, attr.device_cap_flags, IB_DEVICE_SYS_IMAGE_GUID |
						     IB_DEVICE_PORT_ACTIVE_EVENT |
						     IB_DEVICE_BAD_PKEY_CNTR |
						     IB_DEVICE_CHANGE_PHY_PORT |
						     IB_DEVICE_CURR_QP_STATE_MOD);
	KUNIT_EXPECT_EQ(test, attr.kernel_cap_flags, 0);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, attr.max_fast_reg_page_list_len, 0);
	KUNIT_EXPECT_EQ(test, attr.max_mw, 0);
}

static void test_each(struct kunit *test)
{
	static const struct {
		enum vhca_cap cap;
		u32 ops;
		int access;
		u64 device_caps, kernel_caps;
	} each[] = {
		{ VHCA_CAP_ATOMIC, OP(CMP_SWAP) | OP(FETCH_ADD), IB_ACCESS_REMOTE_ATOMIC },
		{ VHCA_CAP_MASKED_ATOMIC, OP(MASKED_CMP_SWAP) | OP(MASKED_FETCH_ADD) },
		{ VHCA_CAP_ATOMIC_WRITE, OP(ATOMIC_WRITE), 0, IB_DEVICE_ATOMIC_WRITE },
		{ VHCA_CAP_FLUSH, OP(FLUSH), IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
		  IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT },
		{ VHCA_CAP_FAST_REG, OP(REG_MR) | OP(LOCAL_INV) | OP(SEND_INV) | OP(READ_INV), 0,
		  IB_DEVICE_MEM_MGT_EXTENSIONS },
		{ VHCA_CAP_SG_GAPS, 0, 0, 0, IBK_SG_GAPS_REG },
		{ VHCA_CAP_INTEGRITY, 0, 0, 0, IBK_INTEGRITY_HANDOVER },
		{ VHCA_CAP_MW, OP(BIND_MW), IB_ACCESS_MW_BIND, IB_DEVICE_MEM_WINDOW },
		{ VHCA_CAP_MW_2A, 0, 0, IB_DEVICE_MEM_WINDOW_TYPE_2A },
		{ VHCA_CAP_MW_2B, 0, 0, IB_DEVICE_MEM_WINDOW_TYPE_2B },
		{ VHCA_CAP_FMR },
		{ VHCA_CAP_SMI_GSI },
		{ VHCA_CAP_UD, 0, 0, IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_UD_AV_PORT_ENFORCE },
		{ VHCA_CAP_UC_FAST_REG },
		{ VHCA_CAP_SRQ, 0, 0, IB_DEVICE_SRQ_RESIZE },
		{ VHCA_CAP_XRC, 0, 0, IB_DEVICE_XRC },
		{ VHCA_CAP_APM, 0, 0, IB_DEVICE_AUTO_PATH_MIG },
		{ VHCA_CAP_MCAST, 0, 0, 0, IBK_BLOCK_MULTICAST_LOOPBACK },
		{ VHCA_CAP_UD_CSUM, 0, 0, IB_DEVICE_UD_IP_CSUM },
		{ VHCA_CAP_UD_CSUM6, 0, 0, 0, IBK_UD_IPV6_CSUM },
		{ VHCA_CAP_UD_LSO, OP(LSO), 0, 0, IBK_UD_TSO },
		{ VHCA_CAP_UD_LSO6, 0, 0, 0, IBK_UD_IPV6_TSO },
	};
	struct bench *b = test->priv;
	struct ib_device_attr none, attr;
	int access;
	u32 ops;

	offers(b, 0, &none);
	ops = b->dev.send_ops;
	access = b->dev.access;
	for (unsigned int i = 0; i < ARRAY_SIZE(each); i++) {
		offers(b, BIT_ULL(each[i].cap), &attr);
		KUNIT_EXPECT_EQ_MSG(test, b->dev.send_ops, ops | each[i].ops, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, b->dev.access, access | each[i].access, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, attr.device_cap_flags,
				    none.device_cap_flags | each[i].device_caps, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, attr.kernel_cap_flags, each[i].kernel_caps, "row %u", i);
	}
}

static void test_limits(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_device_attr attr;

	offers(b, BIT_ULL(VHCA_CAP_ATOMIC) | BIT_ULL(VHCA_CAP_FAST_REG) | BIT_ULL(VHCA_CAP_MW),
	       &attr);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_GLOB);
	KUNIT_EXPECT_EQ(test, attr.masked_atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, attr.max_fast_reg_page_list_len, 512);
	KUNIT_EXPECT_EQ(test, attr.max_pi_fast_reg_page_list_len, 0);
	KUNIT_EXPECT_EQ(test, attr.sig_guard_cap, 0);
	KUNIT_EXPECT_EQ(test, attr.max_mw, 1000);
	/* IBK_LOCAL_DMA_LKEY means a key that is valid in every PD, which the device lacks. */
	offers(b, U64_MAX, &attr);
	KUNIT_EXPECT_EQ(test, attr.kernel_cap_flags & IBK_LOCAL_DMA_LKEY, 0);
	KUNIT_EXPECT_EQ(test, attr.masked_atomic_cap, IB_ATOMIC_GLOB);
	KUNIT_EXPECT_EQ(test, attr.max_pi_fast_reg_page_list_len, 256);
	KUNIT_EXPECT_EQ(test, attr.sig_guard_cap, IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM);
}

/* A capability that needs others is valid only with all of them; those do not need it. */
static void test_dependent(struct kunit *test)
{
	static const struct {
		enum vhca_cap cap, needs[2];
	} dependent[] = {
		{ VHCA_CAP_SMI_GSI, { VHCA_CAP_UD, VHCA_CAP_UD } },
		{ VHCA_CAP_MCAST, { VHCA_CAP_UD, VHCA_CAP_UD } },
		{ VHCA_CAP_MASKED_ATOMIC, { VHCA_CAP_ATOMIC, VHCA_CAP_ATOMIC } },
		{ VHCA_CAP_SG_GAPS, { VHCA_CAP_FAST_REG, VHCA_CAP_FAST_REG } },
		{ VHCA_CAP_INTEGRITY, { VHCA_CAP_FAST_REG, VHCA_CAP_FAST_REG } },
		{ VHCA_CAP_MW_2A, { VHCA_CAP_MW, VHCA_CAP_FAST_REG } },
		{ VHCA_CAP_MW_2B, { VHCA_CAP_MW, VHCA_CAP_FAST_REG } },
		{ VHCA_CAP_XRC, { VHCA_CAP_RC, VHCA_CAP_SRQ } },
		{ VHCA_CAP_UC_FAST_REG, { VHCA_CAP_UC, VHCA_CAP_FAST_REG } },
		{ VHCA_CAP_CLOCK_QUERY, { VHCA_CAP_CLOCK, VHCA_CAP_CLOCK } },
		{ VHCA_CAP_QP_COUNTERS, { VHCA_CAP_COUNTERS, VHCA_CAP_COUNTERS } },
	};

	KUNIT_EXPECT_EQ(test, vhca_whole_caps(0), 0);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(U64_MAX), U64_MAX);
	for (unsigned int i = 0; i < ARRAY_SIZE(dependent); i++) {
		u64 cap = BIT_ULL(dependent[i].cap), needs = 0;

		for (unsigned int j = 0; j < 2; j++) {
			u64 one = BIT_ULL(dependent[i].needs[j]);

			KUNIT_EXPECT_EQ_MSG(test, vhca_whole_caps(U64_MAX & ~one) & (cap | one), 0,
					    "row %u without need %u", i, j);
			needs |= one;
		}
		KUNIT_EXPECT_EQ_MSG(test, vhca_whole_caps(cap), 0, "row %u alone", i);
		KUNIT_EXPECT_EQ_MSG(test, vhca_whole_caps(cap | needs), cap | needs, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, vhca_whole_caps(needs), needs, "row %u", i);
	}
}

/* Offloads need one another: which are left if one of them is missing? */
static void test_offloads(struct kunit *test)
{
	const u64 ud = BIT_ULL(VHCA_CAP_UD), csum = BIT_ULL(VHCA_CAP_UD_CSUM),
		  csum6 = BIT_ULL(VHCA_CAP_UD_CSUM6), lso = BIT_ULL(VHCA_CAP_UD_LSO),
		  lso6 = BIT_ULL(VHCA_CAP_UD_LSO6), all = ud | csum | csum6 | lso | lso6;

	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all), all);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all & ~ud), 0);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all & ~csum), ud);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all & ~csum6), ud | csum | lso);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all & ~lso), ud | csum | csum6);
	KUNIT_EXPECT_EQ(test, vhca_whole_caps(all & ~lso6), ud | csum | csum6 | lso);
}

static struct kunit_case offer_cases[] = {
	KUNIT_CASE(test_nothing),
	KUNIT_CASE(test_each),
	KUNIT_CASE(test_limits),
	KUNIT_CASE(test_dependent),
	KUNIT_CASE(test_offloads),
	{}
};

struct kunit_suite vhca_offer_suite = {
	.name = "vhca_offer",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = offer_cases,
};
