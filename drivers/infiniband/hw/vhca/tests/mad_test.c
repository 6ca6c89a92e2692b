// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Management: QP 0 and QP 1 of each port, their requests, and MADs for the device's agents. */
#include "../verbs/ah.h"
#include "../verbs/mad.h"
#include "../verbs/query.h"
#include "test_queues.h"

/* QP 1 of both ports, and QP 0 of the second, which complete to one CQ. */
struct ports {
	struct vhca_qp qp[3];
	struct vhca_qp_kernel kernel[3];
	struct vhca_ah ah;
};

#define GSI_1	0
#define GSI_2	1
#define SMI_2	2

static struct ports *make_ports(struct kunit *test)
{
	struct ports *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct rdma_ah_init_attr init = { .ah_attr = &attr };
	struct bench *b = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, p);
	b->dev.hw.limits.ports = 2;
	bench_make_qp(b, &p->qp[GSI_1], &p->kernel[GSI_1], IB_QPT_GSI, 1, 1);
	bench_make_qp(b, &p->qp[GSI_2], &p->kernel[GSI_2], IB_QPT_GSI, 2, 1);
	bench_make_qp(b, &p->qp[SMI_2], &p->kernel[SMI_2], IB_QPT_SMI, 2, 0);
	p->ah.ibah.device = &b->dev.ibdev;
	rdma_ah_set_dlid(&attr, be16_to_cpu(IB_LID_PERMISSIVE));
	rdma_ah_set_path_bits(&attr, 0x7f);
	rdma_ah_set_port_num(&attr, 2);
	KUNIT_ASSERT_EQ(test, vhca_create_ah(&p->ah.ibah, &init, NULL), 0);
	return p;
}

static void free_ports(struct ports *p)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(p->qp); i++)
		bench_free_qp(&p->qp[i]);
}

static int send_mad(struct vhca_qp *qp, struct vhca_ah *ah, enum ib_wr_opcode opcode, u64 wr_id)
{
	struct ib_sge sge = { 0x1000, IB_MGMT_MAD_SIZE, 1 };
	struct ib_ud_wr wr = {
		.wr = { .wr_id = wr_id, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED },
		.ah = ah ? &ah->ibah : NULL, .remote_qpn = qp->ibqp.qp_num,
		.remote_qkey = IB_QP_SET_QKEY, .pkey_index = 5, .port_num = qp->port,
	};
	const struct ib_send_wr *bad;

	return vhca_post_send(&qp->ibqp, &wr.wr, &bad);
}

static int recv_mad(struct vhca_qp *qp, u64 wr_id)
{
	struct ib_sge sge = { 0x5000, sizeof(struct ib_grh) + IB_MGMT_MAD_SIZE, 5 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return vhca_post_recv(&qp->ibqp, &wr, &bad);
}

static struct vhca_cqe done(const struct vhca_qp *qp, u32 index, u8 flags)
{
	struct vhca_cqe cqe = bench_done(index, flags);

	cqe.qpn = cpu_to_le32(qp->ibqp.qp_num);
	cqe.port = qp->port;
	return cqe;
}

static void test_ids(struct kunit *test)
{
	for (u32 qpn = 0; qpn < 2; qpn++)
		for (u32 port = 1; port <= VHCA_SANE_PORTS; port++) {
			KUNIT_EXPECT_GT(test, vhca_qp_id(port, qpn), 0xffffff);
			KUNIT_EXPECT_NE(test, vhca_qp_id(port, qpn), VHCA_QPN_NONE);
			KUNIT_EXPECT_NE(test, vhca_qp_id(port, 0), vhca_qp_id(port, 1));
			for (u32 other = 1; other < port; other++)
				KUNIT_EXPECT_NE(test, vhca_qp_id(port, qpn),
						vhca_qp_id(other, qpn));
		}
	KUNIT_EXPECT_EQ(test, vhca_qp_id(2, 2), 2);
	KUNIT_EXPECT_EQ(test, vhca_qp_id(2, 0xffffff), 0xffffff);
}

/* Returns the segment behind the control segment of the first request. */
static struct vhca_wqe_ud first_ud(const struct vhca_qp *qp)
{
	struct vhca_wqe_ud ud;
	u8 *block = vhca_ring_at(&qp->kernel->sq.ring, 0);
	const size_t first = VHCA_WQE_BLOCK - sizeof(struct vhca_wqe_ctrl);

	memcpy(&ud, block + sizeof(struct vhca_wqe_ctrl), first);
	memcpy((u8 *)&ud + first, vhca_ring_at(&qp->kernel->sq.ring, 1), sizeof(ud) - first);
	return ud;
}

static void test_requests(struct kunit *test)
{
	struct ports *p = make_ports(test);
	struct vhca_wqe_ud ud;

	for (unsigned int i = 0; i < ARRAY_SIZE(p->qp); i++) {
		KUNIT_ASSERT_EQ(test, send_mad(&p->qp[i], &p->ah, IB_WR_SEND, 1), 0);
		KUNIT_EXPECT_EQ(test, p->kernel[i].sq.head, 2);
		ud = first_ud(&p->qp[i]);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(ud.av.dlid), 0xffff);
		KUNIT_EXPECT_EQ(test, ud.av.src_path_bits, 0x7f);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(ud.dqpn), p->qp[i].ibqp.qp_num);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(ud.qkey), IB_QP_SET_QKEY);
		/* The P_Key index of QP 0 cannot be chosen. */
		KUNIT_EXPECT_EQ(test, le16_to_cpu(ud.pkey_index), i == SMI_2 ? 0 : 5);
	}
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(to_vdev(p->qp[0].ibqp.device), IB_QPT_GSI, 2, 0),
			2);
	free_ports(p);
}

static void test_operations(struct kunit *test)
{
	static const enum ib_wr_opcode refused[] = {
		IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND_WITH_INV,
		IB_WR_LOCAL_INV, IB_WR_REG_MR, IB_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ports *p = make_ports(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(p->qp); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(refused); j++)
			KUNIT_EXPECT_EQ_MSG(test, send_mad(&p->qp[i], &p->ah, refused[j], 1),
					    -EINVAL, "QP %u, opcode %u", i, refused[j]);
		KUNIT_EXPECT_EQ(test, send_mad(&p->qp[i], NULL, IB_WR_SEND, 1), -EINVAL);
		KUNIT_EXPECT_EQ(test, p->kernel[i].sq.head, 0);
	}
	free_ports(p);
}

/* Two QPs with the same number, of two ports: each gets its own completions. */
static void test_completions(struct kunit *test)
{
	struct ports *p = make_ports(test);
	struct bench *b = test->priv;
	struct vhca_cqe cqe;
	struct ib_wc wc[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(p->qp); i++) {
		KUNIT_ASSERT_EQ(test, send_mad(&p->qp[i], &p->ah, IB_WR_SEND, 10 + i), 0);
		KUNIT_ASSERT_EQ(test, recv_mad(&p->qp[i], 20 + i), 0);
	}
	for (unsigned int i = ARRAY_SIZE(p->qp); i-- > 0;)
		bench_complete(b, done(&p->qp[i], 2, 0));
	KUNIT_ASSERT_EQ(test, bench_poll(b, 3, wc), 3);
	for (unsigned int i = 0; i < ARRAY_SIZE(p->qp); i++) {
		KUNIT_EXPECT_PTR_EQ(test, wc[2 - i].qp, &p->qp[i].ibqp);
		KUNIT_EXPECT_EQ(test, wc[2 - i].wr_id, 10 + i);
	}

	cqe = done(&p->qp[GSI_2], 1, VHCA_CQE_F_RQ | VHCA_CQE_F_GRH);
	cqe.src_qpn = cpu_to_le32(1);
	cqe.slid = cpu_to_le16(0xffff);
	cqe.pkey_index = cpu_to_le16(127);
	cqe.sl = 15;
	cqe.dlid_path_bits = 3;
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 3, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 20 + GSI_2);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &p->qp[GSI_2].ibqp);
	KUNIT_EXPECT_EQ(test, wc[0].port_num, 2);
	KUNIT_EXPECT_EQ(test, wc[0].src_qp, 1);
	KUNIT_EXPECT_EQ(test, wc[0].slid, 0xffff);
	KUNIT_EXPECT_EQ(test, wc[0].pkey_index, 127);
	KUNIT_EXPECT_EQ(test, wc[0].sl, 15);
	KUNIT_EXPECT_EQ(test, wc[0].dlid_path_bits, 3);
	KUNIT_EXPECT_EQ(test, wc[0].wc_flags, IB_WC_GRH);

	/* The device has no port 3. */
	cqe = done(&p->qp[GSI_1], 1, VHCA_CQE_F_RQ);
	cqe.port = 3;
	bench_complete(b, cqe);
	KUNIT_EXPECT_EQ(test, bench_poll(b, 3, wc), 0);
	free_ports(p);
}

/* Completions of one port's QP are removed with it, those of the other port's QP stay. */
static void test_leaves(struct kunit *test)
{
	struct ports *p = make_ports(test);
	struct bench *b = test->priv;
	struct ib_wc wc[3];

	for (unsigned int i = GSI_1; i <= GSI_2; i++) {
		KUNIT_ASSERT_EQ(test, send_mad(&p->qp[i], &p->ah, IB_WR_SEND, 10 + i), 0);
		bench_complete(b, done(&p->qp[i], 2, 0));
	}
	vhca_cq_purge_qp(&p->qp[GSI_1], true);
	KUNIT_EXPECT_EQ(test, vhca_peek_cq(&b->cq.ibcq, 3), 1);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 3, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 10 + GSI_2);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &p->qp[GSI_2].ibqp);
	free_ports(p);
}

static void test_classes(struct kunit *test)
{
	static const struct {
		u8 mgmt_class, method;
		bool asks;
	} mads[] = {
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET, true },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_SET, true },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_TRAP_REPRESS, true },
		{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_GET, true },
		{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_SET, true },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, true },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_SET, true },
		/* Only the agent knows which methods it supports. */
		{ IB_MGMT_CLASS_PERF_MGMT, 0x10, true },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET_RESP, false },
		{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_GET_RESP, false },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP, false },
		{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_METHOD_GET, false },
		{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_METHOD_SET, false },
		{ IB_MGMT_CLASS_BM, IB_MGMT_METHOD_GET, false },
		{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_METHOD_GET, false },
		{ IB_MGMT_CLASS_CM, IB_MGMT_METHOD_SEND, false },
		{ IB_MGMT_CLASS_VENDOR_RANGE2_START, IB_MGMT_METHOD_GET, false },
		{ IB_MGMT_CLASS_CONG_MGMT, IB_MGMT_METHOD_GET, false },
	};
	struct bench *b = test->priv;
	struct ib_mad mad = {}, out;
	size_t size = sizeof(out);
	u16 pkey = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(mads); i++) {
		mad.mad_hdr.mgmt_class = mads[i].mgmt_class;
		mad.mad_hdr.method = mads[i].method;
		KUNIT_EXPECT_EQ_MSG(test, vhca_mad_asks_device(&mad), mads[i].asks,
				    "class %#x, method %#x", mads[i].mgmt_class, mads[i].method);
		/* Only MADs that are not for the device, since none runs commands here. */
		if (!mads[i].asks)
			KUNIT_EXPECT_EQ(test, vhca_process_mad(&b->dev.ibdev, 0, 1, NULL, NULL,
							       &mad, &out, &size, &pkey),
					IB_MAD_RESULT_SUCCESS);
	}
}

static void test_protocols(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_port_immutable all, none;

	memset(&all, 0xff, sizeof(all));
	memset(&none, 0xff, sizeof(none));
	vhca_port_protocols(&b->dev, 1, &all);
	b->dev.hw.limits.caps &= ~BIT_ULL(VHCA_CAP_SMI_GSI);
	vhca_port_protocols(&b->dev, 1, &none);
	KUNIT_EXPECT_EQ(test, all.core_cap_flags, RDMA_CORE_PORT_IBA_IB);
	KUNIT_EXPECT_EQ(test, all.max_mad_size, 256);
	KUNIT_EXPECT_EQ(test, none.core_cap_flags, RDMA_CORE_CAP_PROT_IB);
	KUNIT_EXPECT_EQ(test, none.max_mad_size, 0);
}

static struct kunit_case mad_cases[] = {
	KUNIT_CASE(test_ids),
	KUNIT_CASE(test_requests),
	KUNIT_CASE(test_operations),
	KUNIT_CASE(test_completions),
	KUNIT_CASE(test_leaves),
	KUNIT_CASE(test_classes),
	KUNIT_CASE(test_protocols),
	{}
};

struct kunit_suite vhca_mad_suite = {
	.name = "vhca_mad",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = mad_cases,
};
