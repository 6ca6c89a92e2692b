// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's requests and completions, with the test in the place of the device: it reads the
 * rings, writes completions, sensible ones and others, and dies.
 */
#include <kunit/test.h>

#include "ring.h"
#include "verbs.h"
#include "vhca_test.h"

#define QPN		0x20005
#define CQ_LOG		4
#define SQ_LOG		3	/* blocks */
#define RQ_LOG		2	/* strides */
#define STRIDE		64
#define INLINE_MAX	(4 * VHCA_WQE_BLOCK)

struct bench {
	struct kunit *test;
	struct vhca_dev dev;
	struct vhca_uar uar;
	struct vhca_cq cq;
	struct vhca_cq_kernel cqk;
	struct vhca_qp qp;
	struct vhca_qp_kernel qpk;
	u64 pi;			/* completions written */
	unsigned int called;
};

static int give_page(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	return 0;
}

static void no_kick(struct vhca_uar *uar)
{
}

static const struct vhca_uar_ops uar_ops = { .add_page = give_page, .kick = no_kick };

static void make_wq(struct kunit *test, struct vhca_wq *wq, u8 log, u32 stride, struct device *dev)
{
	spin_lock_init(&wq->lock);
	wq->log = log;
	wq->stride = stride;
	wq->max_sge = 3;
	wq->max_inline = INLINE_MAX;
	wq->wrs = kunit_kcalloc(test, 1 << log, sizeof(*wq->wrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wq->wrs);
	KUNIT_ASSERT_EQ(test, vhca_kbuf_alloc(&wq->ring, dev, (size_t)stride << log), 0);
}

static void comp_handler(struct ib_cq *cq, void *context)
{
	struct bench *b = context;

	b->called++;
}

static int queue_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct device *dev = vhca_test_device(test);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	test->priv = b;
	xa_init_flags(&b->dev.qps, XA_FLAGS_LOCK_IRQ);
	vhca_hw_init(&b->dev.hw, dev, NULL);
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&b->uar, &b->dev.hw, &uar_ops), 0);

	b->cq.ibcq.device = &b->dev.ibdev;
	b->cq.ibcq.comp_handler = comp_handler;
	b->cq.ibcq.cq_context = b;
	b->cq.log = CQ_LOG;
	b->cq.kernel = &b->cqk;
	b->cqk.cq = &b->cq;
	spin_lock_init(&b->cqk.lock);
	INIT_LIST_HEAD(&b->cqk.senders);
	INIT_LIST_HEAD(&b->cqk.receivers);
	INIT_WORK(&b->cqk.wake, vhca_cq_wake_work);
	KUNIT_ASSERT_EQ(test, vhca_kbuf_alloc(&b->cqk.ring, dev,
					      sizeof(struct vhca_cqe) << CQ_LOG), 0);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &b->cq.db), 0);

	b->qp.ibqp.device = &b->dev.ibdev;
	b->qp.ibqp.qp_num = QPN;
	b->qp.ibqp.send_cq = &b->cq.ibcq;
	b->qp.ibqp.recv_cq = &b->cq.ibcq;
	b->qp.kernel = &b->qpk;
	b->qpk.qp = &b->qp;
	make_wq(test, &b->qpk.sq, SQ_LOG, VHCA_WQE_BLOCK, dev);
	make_wq(test, &b->qpk.rq, RQ_LOG, STRIDE, dev);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &b->qp.db), 0);
	vhca_cq_attach_qp(&b->qp);
	KUNIT_ASSERT_EQ(test, xa_insert_irq(&b->dev.qps, QPN, &b->qp, GFP_KERNEL), 0);
	return 0;
}

static void queue_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	cancel_work_sync(&b->cqk.wake);
	vhca_kbuf_free(&b->qpk.rq.ring);
	vhca_kbuf_free(&b->qpk.sq.ring);
	vhca_kbuf_free(&b->cqk.ring);
	vhca_uar_exit(&b->uar);
	xa_destroy(&b->dev.qps);
}

static int send_list(struct bench *b, u64 wr_id, int nsge)
{
	struct ib_sge sge[4] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 }, { 0x3000, 30, 3 } };
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = wr_id, .opcode = IB_WR_RDMA_WRITE, .sg_list = sge,
			.num_sge = nsge, .send_flags = IB_SEND_SIGNALED },
		.remote_addr = 0x1122334455667788, .rkey = 0x99,
	};
	const struct ib_send_wr *bad;

	return vhca_post_send(&b->qp.ibqp, &wr.wr, &bad);
}

static int recv_one(struct bench *b, u64 wr_id)
{
	struct ib_sge sge = { 0x5000, 64, 5 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return vhca_post_recv(&b->qp.ibqp, &wr, &bad);
}

static void complete_as(struct bench *b, struct vhca_cqe cqe)
{
	struct vhca_cqe *place = vhca_kbuf_at(&b->cqk.ring,
					      vhca_ring_slot(b->pi, CQ_LOG) * sizeof(cqe));

	cqe.owner = vhca_ring_lap(b->pi, CQ_LOG);
	*place = cqe;
	b->pi++;
}

/* A completion up to count @index; its wr_id is a lie, as a broken device might tell it. */
static struct vhca_cqe done(u32 index, u8 flags)
{
	return (struct vhca_cqe) {
		.wr_id = cpu_to_le64(0xdeadbeefdeadbeef),
		.qpn = cpu_to_le32(QPN),
		.wqe_index = cpu_to_le32(index),
		.byte_len = cpu_to_le32(77),
		.flags = flags,
		.opcode = flags & VHCA_CQE_F_RQ ? VHCA_CQE_RECV : VHCA_CQE_SEND,
	};
}

static int poll(struct bench *b, int n, struct ib_wc *wc)
{
	return vhca_poll_cq(&b->cq.ibcq, n, wc);
}

static void test_layout_across_the_end(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_wqe_ctrl *ctrl;
	struct vhca_wqe_raddr *raddr;
	struct vhca_sge *seg;
	struct ib_wc wc;
	int i;

	/* Seven of eight blocks, so that the next request wraps. */
	for (i = 0; i < 7; i++) {
		KUNIT_ASSERT_EQ(test, send_list(b, i, 1), 0);
		complete_as(b, done(i + 1, 0));
		KUNIT_ASSERT_EQ(test, poll(b, 1, &wc), 1);
	}
	KUNIT_ASSERT_EQ(test, send_list(b, 7, 3), 0);
	ctrl = vhca_kbuf_at(&b->qpk.sq.ring, 7 * VHCA_WQE_BLOCK);
	KUNIT_EXPECT_EQ(test, ctrl->opcode, VHCA_OP_WRITE);
	KUNIT_EXPECT_EQ(test, ctrl->nblk, 2);
	KUNIT_EXPECT_EQ(test, ctrl->nsge, 3);
	KUNIT_EXPECT_EQ(test, ctrl->flags, VHCA_WQE_SIGNALED);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->index), 7);
	raddr = (void *)(ctrl + 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(raddr->addr), 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(raddr->rkey), 0x99);
	seg = (void *)(raddr + 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(seg->lkey), 1);
	/* The rest stands at the beginning of the ring. */
	seg = vhca_kbuf_at(&b->qpk.sq.ring, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(seg[0].addr), 0x2000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(seg[1].length), 30);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 0)), 9);
}

static void test_inline_across_the_end(struct kunit *test)
{
	struct bench *b = test->priv;
	u8 data[INLINE_MAX], *at;
	struct ib_sge sge[2] = {
		{ (uintptr_t)data, 33, 0 },
		{ (uintptr_t)data + 33, INLINE_MAX - 33, 0 },
	};
	struct ib_send_wr wr = {
		.wr_id = 1, .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2,
		.send_flags = IB_SEND_INLINE,
	};
	const struct ib_send_wr *bad;
	struct vhca_wqe_ctrl *ctrl;
	struct ib_wc wc;
	size_t i, pos;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	for (i = 0; i < 6; i++) {
		KUNIT_ASSERT_EQ(test, send_list(b, i, 0), 0);
		complete_as(b, done(i + 1, 0));
		KUNIT_ASSERT_EQ(test, poll(b, 1, &wc), 1);
	}
	KUNIT_ASSERT_EQ(test, vhca_post_send(&b->qp.ibqp, &wr, &bad), 0);
	ctrl = vhca_kbuf_at(&b->qpk.sq.ring, 6 * VHCA_WQE_BLOCK);
	KUNIT_EXPECT_EQ(test, ctrl->nblk, 5);
	KUNIT_EXPECT_EQ(test, ctrl->nsge, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->inline_len), sizeof(data));
	for (i = 0; i < sizeof(data); i++) {
		pos = 6 * VHCA_WQE_BLOCK + sizeof(*ctrl) + i;
		at = vhca_kbuf_at(&b->qpk.sq.ring, pos % (VHCA_WQE_BLOCK << SQ_LOG));
		KUNIT_ASSERT_EQ(test, *at, data[i]);
	}
	/* One byte more than the QP was made for. */
	sge[1].length++;
	KUNIT_EXPECT_EQ(test, vhca_post_send(&b->qp.ibqp, &wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr);
}

static void test_full_queues(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc;
	int i;

	for (i = 0; i < 1 << SQ_LOG; i++)
		KUNIT_ASSERT_EQ(test, send_list(b, i, 1), 0);
	KUNIT_EXPECT_EQ(test, send_list(b, i, 1), -ENOMEM);
	for (i = 0; i < 1 << RQ_LOG; i++)
		KUNIT_ASSERT_EQ(test, recv_one(b, i), 0);
	KUNIT_EXPECT_EQ(test, recv_one(b, i), -ENOMEM);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 1)), 1 << RQ_LOG);

	/* One completion stands for the unsignaled ones before it and frees their slots. */
	complete_as(b, done(3, 0));
	KUNIT_ASSERT_EQ(test, poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 2);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, send_list(b, i, 1), 0);
	KUNIT_EXPECT_EQ(test, send_list(b, i, 1), -ENOMEM);
}

static void test_bad_requests(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_send_wr wr[3] = {
		{ .wr_id = 1, .opcode = IB_WR_SEND, .next = &wr[1] },
		{ .wr_id = 2, .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .next = &wr[2] },
		{ .wr_id = 3, .opcode = IB_WR_SEND },
	};
	const struct ib_send_wr *bad = NULL;

	/* What stands before the bad one is posted, what stands behind is not. */
	KUNIT_EXPECT_EQ(test, vhca_post_send(&b->qp.ibqp, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[1]);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 0)), 1);
	KUNIT_EXPECT_EQ(test, send_list(b, 1, 4), -EINVAL);
}

static void test_receive_fields(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe cqe = done(1, VHCA_CQE_F_RQ | VHCA_CQE_F_IMM);
	struct ib_wc wc;

	cqe.opcode = VHCA_CQE_RECV_WRITE_IMM;
	cqe.imm = cpu_to_be32(0x1234);
	cqe.src_qpn = cpu_to_le32(0x42);
	cqe.slid = cpu_to_le16(7);
	KUNIT_ASSERT_EQ(test, recv_one(b, 11), 0);
	complete_as(b, cqe);
	KUNIT_ASSERT_EQ(test, poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 11);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 77);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x1234);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 0x42);
	KUNIT_EXPECT_EQ(test, wc.slid, 7);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &b->qp.ibqp);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 0)), 1);
}

static void test_nonsense_is_dropped(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe other = done(1, 0), good = done(2, 0);
	struct ib_wc wc[8];

	KUNIT_ASSERT_EQ(test, send_list(b, 1, 3), 0);	/* two blocks */
	complete_as(b, done(0, 0));		/* nothing new */
	complete_as(b, done(1, 0));		/* ends inside a request */
	complete_as(b, done(3, 0));		/* more than was posted */
	complete_as(b, done(1, VHCA_CQE_F_RQ));	/* a receive, and none was posted */
	complete_as(b, done(0x80000002, 0));
	other.qpn = cpu_to_le32(QPN + 1);
	complete_as(b, other);			/* a QP that is not there */
	good.vendor_err = 9;
	complete_as(b, good);
	complete_as(b, done(2, 0));		/* the same once more */
	KUNIT_ASSERT_EQ(test, poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].vendor_err, 9);
	/* The consumer's pointer comes from our notes, not from the device. */
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 1);
	/* All of them were taken off the ring. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 0)), b->pi);
}

static bool recv_rung(struct bench *b)
{
	u32 slot = vhca_db_slot(&b->qp.db) + 1;
	__le64 *word = &b->uar.page0->news[slot / 64];
	bool rung = le64_to_cpu(*word) & BIT_ULL(slot % 64);

	*word &= ~cpu_to_le64(BIT_ULL(slot % 64));
	return rung;
}

static void test_receives_of_a_broken_qp_ring(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe cqe = done(1, 0);
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, recv_one(b, 1), 0);
	KUNIT_ASSERT_EQ(test, send_list(b, 2, 1), 0);
	KUNIT_EXPECT_FALSE(test, recv_rung(b));
	cqe.status = VHCA_CS_RETRY_EXC_ERR;
	complete_as(b, cqe);
	KUNIT_ASSERT_EQ(test, poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_TRUE(test, recv_rung(b));
	KUNIT_ASSERT_EQ(test, recv_one(b, 3), 0);
	KUNIT_EXPECT_TRUE(test, recv_rung(b));
}

static void test_arming_reports_missed(struct kunit *test)
{
	const enum ib_cq_notify_flags next = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct bench *b = test->priv;
	u64 first;

	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(&b->cq.ibcq, next), 0);
	first = le64_to_cpu(*vhca_db_rec(&b->cq.db, 1));
	KUNIT_ASSERT_EQ(test, send_list(b, 1, 1), 0);
	complete_as(b, done(1, 0));
	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(&b->cq.ibcq, next), 1);
	KUNIT_EXPECT_NE(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 1)), first);
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_TRUE(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 1)) & VHCA_ARM_SOLICITED);
}

static void test_purge(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc[4];
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, send_list(b, i, 1), 0);
	complete_as(b, done(1, 0));
	complete_as(b, done(2, 0));
	/* Reset: old completions are nobody's, and counting starts over. */
	vhca_cq_purge_qp(&b->qp, false);
	KUNIT_EXPECT_EQ(test, poll(b, 4, wc), 0);
	KUNIT_ASSERT_EQ(test, send_list(b, 50, 1), 0);
	complete_as(b, done(1, 0));
	KUNIT_ASSERT_EQ(test, poll(b, 4, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 50);
}

static void test_dead_device_flushes(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc[8];
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, send_list(b, 10 + i, 2), 0);
	KUNIT_ASSERT_EQ(test, recv_one(b, 20), 0);
	complete_as(b, done(2, 0));

	b->dev.hw.dead = 1;
	/* Dead, but not known to be still: what it wrote counts, the rest waits. */
	KUNIT_ASSERT_EQ(test, poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 10);
	complete_all(&b->dev.hw.stopped);
	KUNIT_ASSERT_EQ(test, poll(b, 2, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 11);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &b->qp.ibqp);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, 12);
	KUNIT_ASSERT_EQ(test, poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 20);
	KUNIT_EXPECT_EQ(test, poll(b, 8, wc), 0);

	/* What is posted now is flushed as well, and the consumer is told to look. */
	flush_work(&b->cqk.wake);
	b->called = 0;
	KUNIT_ASSERT_EQ(test, send_list(b, 30, 1), 0);
	flush_work(&b->cqk.wake);
	KUNIT_EXPECT_EQ(test, b->called, 1);
	KUNIT_ASSERT_EQ(test, poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 30);
	/* With nothing left nobody is called. */
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	flush_work(&b->cqk.wake);
	KUNIT_EXPECT_EQ(test, b->called, 1);
}

static void test_block_counts(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(0, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(1, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(2, 0), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(1, 16), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(1, 17), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(61, 0), VHCA_WQE_MAX_BLOCKS);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(test_layout_across_the_end),
	KUNIT_CASE(test_inline_across_the_end),
	KUNIT_CASE(test_full_queues),
	KUNIT_CASE(test_bad_requests),
	KUNIT_CASE(test_receive_fields),
	KUNIT_CASE(test_nonsense_is_dropped),
	KUNIT_CASE(test_receives_of_a_broken_qp_ring),
	KUNIT_CASE(test_arming_reports_missed),
	KUNIT_CASE(test_purge),
	KUNIT_CASE(test_dead_device_flushes),
	KUNIT_CASE(test_block_counts),
	{}
};

struct kunit_suite vhca_queue_suite = {
	.name = "vhca_queue",
	.init = queue_test_init,
	.exit = queue_test_exit,
	.test_cases = queue_cases,
};
