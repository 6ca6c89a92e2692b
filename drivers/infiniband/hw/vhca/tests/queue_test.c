// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's requests and completions, on a device that the test plays: it reads the rings,
 * writes completions, valid and invalid ones, and dies.
 */
#include <linux/delay.h>
#include <trace/events/kmem.h>

#include "test_queues.h"

static void test_layout_across_the_end(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_wqe_ctrl *ctrl;
	struct vhca_wqe_raddr *raddr;
	struct vhca_sge *seg;
	struct ib_wc wc;

	/* Seven of eight blocks, so that the next request wraps. */
	for (int i = 0; i < 7; i++) {
		KUNIT_ASSERT_EQ(test, bench_send(b, i, 1), 0);
		bench_complete(b, bench_done(i + 1, 0));
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	}
	KUNIT_ASSERT_EQ(test, bench_send(b, 7, 3), 0);
	ctrl = vhca_kbuf_at(&b->qpk.sq.ring.mem, 7 * VHCA_WQE_BLOCK);
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
	/* The rest of the request is at the beginning of the ring. */
	seg = vhca_kbuf_at(&b->qpk.sq.ring.mem, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(seg[0].addr), 0x2000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(seg[1].length), 30);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 0)), 9);
}

static void test_inline_across_the_end(struct kunit *test)
{
	struct bench *b = test->priv;
	u8 data[BENCH_INLINE_MAX], *at;
	struct ib_sge sge[2] = {
		{ (uintptr_t)data, 33, 0 },
		{ (uintptr_t)data + 33, BENCH_INLINE_MAX - 33, 0 },
	};
	struct ib_send_wr wr = {
		.wr_id = 1, .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2,
		.send_flags = IB_SEND_INLINE,
	};
	const struct ib_send_wr *bad;
	struct vhca_wqe_ctrl *ctrl;
	struct ib_wc wc;
	size_t pos;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	for (size_t i = 0; i < 6; i++) {
		KUNIT_ASSERT_EQ(test, bench_send(b, i, 0), 0);
		bench_complete(b, bench_done(i + 1, 0));
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	}
	KUNIT_ASSERT_EQ(test, vhca_post_send(&b->qp.ibqp, &wr, &bad), 0);
	ctrl = vhca_kbuf_at(&b->qpk.sq.ring.mem, 6 * VHCA_WQE_BLOCK);
	KUNIT_EXPECT_EQ(test, ctrl->nblk, 5);
	KUNIT_EXPECT_EQ(test, ctrl->nsge, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->inline_len), sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++) {
		pos = 6 * VHCA_WQE_BLOCK + sizeof(*ctrl) + i;
		at = vhca_kbuf_at(&b->qpk.sq.ring.mem, pos % (VHCA_WQE_BLOCK << BENCH_SQ_LOG));
		KUNIT_ASSERT_EQ(test, *at, data[i]);
	}
	/* One byte more than the QP's max_inline_data. */
	sge[1].length++;
	KUNIT_EXPECT_EQ(test, vhca_post_send(&b->qp.ibqp, &wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr);
}

static void test_full_queues(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc;
	int i;

	for (i = 0; i < 1 << BENCH_SQ_LOG; i++)
		KUNIT_ASSERT_EQ(test, bench_send(b, i, 1), 0);
	KUNIT_EXPECT_EQ(test, bench_send(b, i, 1), -ENOMEM);
	for (i = 0; i < 1 << BENCH_RQ_LOG; i++)
		KUNIT_ASSERT_EQ(test, bench_recv(b, i), 0);
	KUNIT_EXPECT_EQ(test, bench_recv(b, i), -ENOMEM);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 1)), 1 << BENCH_RQ_LOG);

	/* A completion also completes the unsignaled requests before it and frees their slots. */
	bench_complete(b, bench_done(3, 0));
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 2);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, bench_send(b, i, 1), 0);
	KUNIT_EXPECT_EQ(test, bench_send(b, i, 1), -ENOMEM);
}

static void test_bad_requests(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_send_wr wr[3] = {
		{ .wr_id = 1, .opcode = IB_WR_SEND, .next = &wr[1] },
		{ .wr_id = 2, .opcode = IB_WR_LSO, .next = &wr[2] },
		{ .wr_id = 3, .opcode = IB_WR_SEND },
	};
	const struct ib_send_wr *bad = NULL;

	/* Requests before the bad one are posted, those behind it are not. */
	KUNIT_EXPECT_EQ(test, vhca_post_send(&b->qp.ibqp, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr[1]);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 0)), 1);
	KUNIT_EXPECT_EQ(test, bench_send(b, 1, 4), -EINVAL);
}

static void test_receive_fields(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe cqe = bench_done(1, VHCA_CQE_F_RQ | VHCA_CQE_F_IMM);
	struct ib_wc wc;

	cqe.opcode = VHCA_CQE_RECV_WRITE_IMM;
	cqe.imm = cpu_to_be32(0x1234);
	cqe.src_qpn = cpu_to_le32(0x42);
	cqe.slid = cpu_to_le16(7);
	KUNIT_ASSERT_EQ(test, bench_recv(b, 11), 0);
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
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

/* The length of a completion must not exceed the room of the receive, as consumers rely on it. */
static void test_received_length(struct kunit *test)
{
	static const struct {
		u32 len;
		u8 opcode, status;
		bool taken;
	} lies[] = {
		{ BENCH_RECV_LEN + 1, VHCA_CQE_RECV },
		{ 0x7fffffff, VHCA_CQE_RECV },
		{ U32_MAX, 0xff },
		{ BENCH_RECV_LEN, VHCA_CQE_RECV, VHCA_CS_SUCCESS, true },
		{ 0, VHCA_CQE_RECV, VHCA_CS_SUCCESS, true },
		/* The data of a WRITE are not in the receive's buffer, so any length is valid. */
		{ 0x7fffffff, VHCA_CQE_RECV_WRITE_IMM, VHCA_CS_SUCCESS, true },
		{ 0x7fffffff, VHCA_CQE_RECV, VHCA_CS_LOC_LEN_ERR, true },
	};
	struct bench *b = test->priv;
	struct ib_sge sge[2] = { { 0x5000, U32_MAX, 5 }, { 0x6000, 1, 6 } };
	struct ib_recv_wr wr = { .wr_id = 77, .sg_list = sge, .num_sge = 2 };
	const struct ib_recv_wr *bad;
	struct vhca_cqe cqe;
	struct ib_wc wc;
	u32 at = 0;

	bench_expect_lies(b);
	for (u32 i = 0; i < ARRAY_SIZE(lies); i++) {
		if (b->qpk.rq.head == at)
			KUNIT_ASSERT_EQ(test, bench_recv(b, at), 0);
		cqe = bench_done(at + 1, VHCA_CQE_F_RQ);
		cqe.byte_len = cpu_to_le32(lies[i].len);
		cqe.opcode = lies[i].opcode;
		cqe.status = lies[i].status;
		bench_complete(b, cqe);
		KUNIT_EXPECT_EQ_MSG(test, bench_poll(b, 1, &wc), lies[i].taken, "completion %u", i);
		at = b->qpk.rq.tail;
	}
	KUNIT_EXPECT_EQ(test, at, 4);
	/* If the room exceeds 32 bits, any length is valid. */
	KUNIT_ASSERT_EQ(test, vhca_post_recv(&b->qp.ibqp, &wr, &bad), 0);
	cqe = bench_done(at + 1, VHCA_CQE_F_RQ);
	cqe.byte_len = cpu_to_le32(U32_MAX);
	bench_complete(b, cqe);
	KUNIT_EXPECT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 77);
}

static void test_nonsense_is_dropped(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe other = bench_done(1, 0), good = bench_done(2, 0);
	struct ib_wc wc[8];

	bench_expect_lies(b);
	KUNIT_ASSERT_EQ(test, bench_send(b, 1, 3), 0);	/* two blocks */
	bench_complete(b, bench_done(0, 0));		/* nothing new */
	bench_complete(b, bench_done(1, 0));		/* ends inside a request */
	bench_complete(b, bench_done(3, 0));		/* more than was posted */
	bench_complete(b, bench_done(1, VHCA_CQE_F_RQ));	/* a receive, and none was posted */
	bench_complete(b, bench_done(0x80000002, 0));
	other.qpn = cpu_to_le32(BENCH_QPN + 1);
	bench_complete(b, other);			/* a QP that is not there */
	good.vendor_err = 9;
	bench_complete(b, good);
	bench_complete(b, bench_done(2, 0));		/* the same once more */
	KUNIT_ASSERT_EQ(test, bench_poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].vendor_err, 9);
	/* The consumer's wr_id comes from the driver's own records, not from the device. */
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 1);
	/* All of them were consumed from the ring. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 0)), b->pi);
}

/*
 * A completion that names a QP of another CQ is ignored: the lock of this CQ does not protect that
 * QP's memory. It is freed here but still in the device's table, so that KASAN reports an access.
 */
static void test_only_own_qps(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_qp *other = kzalloc(sizeof(*other), GFP_KERNEL);
	struct vhca_cqe cqe = bench_done(1, 0);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_NULL(test, other);
	bench_expect_lies(b);
	vhca_id_table_init(&b->dev.qps, NULL);
	KUNIT_EXPECT_EQ(test, xa_insert_irq(&b->dev.qps.targets, BENCH_QPN, &b->qp.async,
					    GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, xa_insert_irq(&b->dev.qps.targets, BENCH_QPN + 1, &other->async,
					    GFP_KERNEL), 0);
	kfree(other);
	cqe.qpn = cpu_to_le32(BENCH_QPN + 1);
	bench_complete(b, cqe);
	KUNIT_EXPECT_EQ(test, bench_poll(b, 1, &wc), 0);
	/* The QP leaves the CQ, but the device still completes its requests. */
	KUNIT_EXPECT_EQ(test, bench_send(b, 1, 1), 0);
	vhca_cq_purge_qp(&b->qp, true);
	bench_complete(b, bench_done(1, 0));
	KUNIT_EXPECT_EQ(test, bench_poll(b, 1, &wc), 0);
	vhca_id_table_exit(&b->dev.qps);
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
	struct vhca_cqe cqe = bench_done(1, 0);
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, bench_recv(b, 1), 0);
	KUNIT_ASSERT_EQ(test, bench_send(b, 2, 1), 0);
	KUNIT_EXPECT_FALSE(test, recv_rung(b));
	cqe.status = VHCA_CS_RETRY_EXC_ERR;
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_TRUE(test, recv_rung(b));
	KUNIT_ASSERT_EQ(test, bench_recv(b, 3), 0);
	KUNIT_EXPECT_TRUE(test, recv_rung(b));
}

static void test_arming_reports_missed(struct kunit *test)
{
	const enum ib_cq_notify_flags next = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct bench *b = test->priv;
	u64 first;

	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(&b->cq.ibcq, next), 0);
	first = le64_to_cpu(*vhca_db_rec(&b->cq.db, 1));
	KUNIT_ASSERT_EQ(test, bench_send(b, 1, 1), 0);
	bench_complete(b, bench_done(1, 0));
	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(&b->cq.ibcq, next), 1);
	KUNIT_EXPECT_NE(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 1)), first);
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_TRUE(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 1)) & VHCA_ARM_SOLICITED);
}

static u64 arm_record(struct bench *b)
{
	return le64_to_cpu(*vhca_db_rec(&b->cq.db, 1));
}

static u32 armed_since(struct bench *b)
{
	return arm_record(b) >> VHCA_ARM_SINCE_SHIFT & VHCA_ARM_SINCE_MASK;
}

/* A request for solicited events must not lose an event for any completion that is still due. */
static void test_solicited_takes_nothing_back(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc;

	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_TRUE(test, arm_record(b) & VHCA_ARM_SOLICITED);
	KUNIT_EXPECT_EQ(test, armed_since(b), 0);
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_FALSE(test, arm_record(b) & VHCA_ARM_SOLICITED);
	for (u32 i = 1; i <= VHCA_ARM_SINCE_MASK; i++) {
		vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
		KUNIT_ASSERT_TRUE(test, arm_record(b) & VHCA_ARM_SOLICITED);
		KUNIT_ASSERT_EQ(test, armed_since(b), i);
	}
	/* The distance does not fit the record any more, so the CQ is armed for any completion. */
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_FALSE(test, arm_record(b) & VHCA_ARM_SOLICITED);
	KUNIT_EXPECT_EQ(test, armed_since(b), 0);

	KUNIT_ASSERT_EQ(test, bench_send(b, 1, 1), 0);
	bench_complete(b, bench_done(1, 0));
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	for (u32 i = 1; i <= VHCA_ARM_SINCE_MASK; i++)
		vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_EQ(test, armed_since(b), VHCA_ARM_SINCE_MASK);
	/* Completions that were polled since have used up the arming. */
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_TRUE(test, arm_record(b) & VHCA_ARM_SOLICITED);
	KUNIT_EXPECT_EQ(test, armed_since(b), 0);
}

/* Sequence number 0 is that of a record that was never stored, and does not arm. */
static void test_arm_number_wraps(struct kunit *test)
{
	struct bench *b = test->priv;

	b->cqk.seq = VHCA_ARM_SEQ_MASK - 1;
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, arm_record(b) >> VHCA_ARM_SEQ_SHIFT, VHCA_ARM_SEQ_MASK);
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, arm_record(b) >> VHCA_ARM_SEQ_SHIFT, 1);

	b->cqk.seq = VHCA_ARM_SEQ_MASK - 1;
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_EQ(test, arm_record(b) >> VHCA_ARM_SEQ_SHIFT, 1);
	/* As the device computes it: the number that is skipped is counted. */
	KUNIT_EXPECT_EQ(test, armed_since(b), 2);
}

static void test_purge(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc[4];

	for (int i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, bench_send(b, i, 1), 0);
	bench_complete(b, bench_done(1, 0));
	bench_complete(b, bench_done(2, 0));
	/* After a reset old completions are dropped, and counting starts over. */
	vhca_cq_purge_qp(&b->qp, false);
	KUNIT_EXPECT_EQ(test, bench_poll(b, 4, wc), 0);
	KUNIT_ASSERT_EQ(test, bench_send(b, 50, 1), 0);
	bench_complete(b, bench_done(1, 0));
	KUNIT_ASSERT_EQ(test, bench_poll(b, 4, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 50);
}

/* Expects that a send to a dead device is flushed, and @calls calls of the CQ's handler by then. */
static void send_is_flushed(struct kunit *test, u64 wr_id, int calls)
{
	struct bench *b = test->priv;
	struct ib_wc wc[2];

	KUNIT_ASSERT_EQ(test, bench_send(b, wr_id, 1), 0);
	flush_work(&b->cqk.wake);
	KUNIT_EXPECT_EQ(test, b->called, calls);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 2, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, wr_id);
}

static void test_dead_device_flushes(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc[8];

	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, bench_send(b, 10 + i, 2), 0);
	KUNIT_ASSERT_EQ(test, bench_recv(b, 20), 0);
	bench_complete(b, bench_done(2, 0));

	b->dev.hw.dead = 1;
	/* The device is dead but not stopped: its completions are valid, nothing is flushed yet. */
	KUNIT_ASSERT_EQ(test, bench_poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 10);
	complete_all(&b->dev.hw.stopped);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 2, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 11);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wc[0].vendor_err, VHCA_WHY_FLUSHED);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &b->qp.ibqp);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, 12);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 20);
	KUNIT_EXPECT_EQ(test, bench_poll(b, 8, wc), 0);

	/* Later requests are flushed, too; the handler is called only if an event is requested. */
	flush_work(&b->cqk.wake);
	b->called = 0;
	send_is_flushed(test, 29, 0);

	/* After a request the handler is called. */
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	flush_work(&b->cqk.wake);
	KUNIT_EXPECT_EQ(test, b->called, 0);
	send_is_flushed(test, 30, 1);
	/* If no request is left to be flushed, the handler is not called. */
	vhca_req_notify_cq(&b->cq.ibcq, IB_CQ_NEXT_COMP);
	flush_work(&b->cqk.wake);
	KUNIT_EXPECT_EQ(test, b->called, 1);
}

/*
 * Queues whose counts exceed the 32 bits that the device reports. The lap is an even one, so that
 * no entry of the cleared rings is valid.
 */
static void test_counts_wrap(struct kunit *test)
{
	const u64 start = BIT_ULL(32) - 64;
	struct bench *b = test->priv;
	struct ib_wc wc[2];

	b->pi = start;
	b->cqk.ci = start;
	b->qpk.sq.head = start;
	b->qpk.sq.tail = start;
	b->qpk.rq.head = start;
	b->qpk.rq.tail = start;
	for (u64 i = start; i < start + 128; i++) {
		KUNIT_ASSERT_EQ(test, bench_send(b, i, 1), 0);
		KUNIT_ASSERT_EQ(test, bench_recv(b, i), 0);
		KUNIT_ASSERT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 0)), i + 1);
		KUNIT_ASSERT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->qp.db, 1)), i + 1);
		bench_complete(b, bench_done((u32)i + 1, 0));
		bench_complete(b, bench_done((u32)i + 1, VHCA_CQE_F_RQ));
		KUNIT_ASSERT_EQ(test, bench_poll(b, 2, wc), 2);
		KUNIT_ASSERT_EQ(test, wc[0].wr_id, i);
		KUNIT_ASSERT_EQ(test, wc[1].wr_id, i);
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, wc), 0);
	}
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&b->cq.db, 0)), start + 256);
}

#ifdef CONFIG_FAULT_INJECTION
#define POLL_US		(20 * USEC_PER_MSEC)

/**
 * struct attach - a work item that attaches a QP to its CQs while allocations fail
 * @work: the work item
 * @qp: the QP
 * @task: the task that runs it
 * @err: result
 * @failed: an allocation has failed finally
 * @done: @err is valid
 */
struct attach {
	struct work_struct work;
	struct vhca_qp *qp;
	struct task_struct *task;
	int err;
	bool failed;
	bool done;
};

/* The xarray repeats a failed allocation with other flags, so the second one must fail, too. */
static void fail_again(void *data, unsigned long call_site, const void *ptr, struct kmem_cache *s,
		       gfp_t gfp_flags, int node)
{
	struct attach *a = data;

	if (READ_ONCE(a->task) != current || ptr)
		return;
	current->fail_nth = 1;
	WRITE_ONCE(a->failed, gfpflags_allow_blocking(gfp_flags));
}

static void attach(struct work_struct *work)
{
	struct attach *a = container_of(work, struct attach, work);

	WRITE_ONCE(a->task, current);
	current->fail_nth = 1;
	a->err = vhca_cq_attach_qp(a->qp);
	current->fail_nth = 0;
	WRITE_ONCE(a->task, NULL);
	/* Publishes the result. */
	smp_store_release(&a->done, true);
}

/*
 * A poll of the send CQ may find a QP, named by a faulty device, whose attachment to the receive CQ
 * then fails for lack of memory: the QP must not be freed before the poll has ended.
 */
static void test_half_attached(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cq *recv = kunit_kzalloc(test, sizeof(*recv), GFP_KERNEL);
	struct vhca_cq_kernel *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);
	struct vhca_qp_kernel *qpk = kunit_kzalloc(test, sizeof(*qpk), GFP_KERNEL);
	struct vhca_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct attach *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	unsigned int cpu;
	bool waits;

	KUNIT_ASSERT_TRUE(test, recv && k && qpk && qp && a);
	recv->kernel = k;
	xa_init(&k->qps);
	spin_lock_init(&k->lock);
	INIT_LIST_HEAD(&k->receivers);
	qp->ibqp.send_cq = &b->cq.ibcq;
	qp->ibqp.recv_cq = &recv->ibcq;
	qp->kernel = qpk;
	/* Next to the number of the bench's QP, so that the send CQ's table needs no memory. */
	qp->id = BENCH_QPN + 1;
	a->qp = qp;
	INIT_WORK(&a->work, attach);
	KUNIT_ASSERT_EQ(test, register_trace_kmem_cache_alloc(fail_again, a), 0);

	spin_lock(&b->cqk.lock);
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu < nr_cpu_ids)
		queue_work_on(cpu, system_wq, &a->work);
	else
		a->done = true;
	for (unsigned int us = 0;
	     us < 10 * USEC_PER_SEC && !READ_ONCE(a->failed) && !READ_ONCE(a->done); us++)
		udelay(1);
	/* The poll goes on for some time. */
	for (unsigned int us = 0; us < POLL_US && !READ_ONCE(a->done); us++)
		udelay(1);
	waits = !READ_ONCE(a->done);
	spin_unlock(&b->cqk.lock);
	flush_work(&a->work);

	unregister_trace_kmem_cache_alloc(fail_again, a);
	tracepoint_synchronize_unregister();
	xa_destroy(&k->qps);
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs a second CPU");
	if (!a->err)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_EQ(test, a->err, -ENOMEM);
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_NULL(test, xa_load(&b->cqk.qps, qp->id));
}
#endif

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(test_layout_across_the_end),
	KUNIT_CASE(test_inline_across_the_end),
	KUNIT_CASE(test_full_queues),
	KUNIT_CASE(test_bad_requests),
	KUNIT_CASE(test_receive_fields),
	KUNIT_CASE(test_received_length),
	KUNIT_CASE(test_nonsense_is_dropped),
	KUNIT_CASE(test_only_own_qps),
	KUNIT_CASE(test_receives_of_a_broken_qp_ring),
	KUNIT_CASE(test_arming_reports_missed),
	KUNIT_CASE(test_solicited_takes_nothing_back),
	KUNIT_CASE(test_arm_number_wraps),
	KUNIT_CASE(test_purge),
	KUNIT_CASE(test_dead_device_flushes),
	KUNIT_CASE(test_counts_wrap),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(test_half_attached),
#endif
	{}
};

struct kunit_suite vhca_queue_suite = {
	.name = "vhca_queue",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = queue_cases,
};
