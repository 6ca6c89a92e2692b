// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A kernel QP and its CQ without a device. */
#include "../verbs/caps.h"
#include "test_queues.h"

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
	wq->max_sge = 3;
	wq->max_inline = BENCH_INLINE_MAX;
	wq->wrs = kunit_kcalloc(test, 1 << log, sizeof(*wq->wrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wq->wrs);
	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&wq->ring, dev, log, ilog2(stride)), 0);
}

static void comp_handler(struct ib_cq *cq, void *context)
{
	struct bench *b = context;

	b->called++;
}

/**
 * bench_make_qp() - make a QP that completes to the bench's CQ
 * @b: bench
 * @qp: the QP, zeroed
 * @kernel: its kernel part, zeroed
 * @type: its type
 * @port: port of a management QP; 0 for other types
 * @qpn: its number
 */
void bench_make_qp(struct bench *b, struct vhca_qp *qp, struct vhca_qp_kernel *kernel,
		   enum ib_qp_type type, u8 port, u32 qpn)
{
	struct device *dev = b->dev.hw.dev;

	qp->ibqp.device = &b->dev.ibdev;
	qp->ibqp.qp_num = qpn;
	qp->ibqp.qp_type = type;
	qp->ibqp.send_cq = &b->cq.ibcq;
	qp->ibqp.recv_cq = &b->cq.ibcq;
	qp->port = port;
	qp->id = vhca_qp_id(port, qpn);
	qp->kernel = kernel;
	kernel->qp = qp;
	make_wq(b->test, &kernel->sq, BENCH_SQ_LOG, VHCA_WQE_BLOCK, dev);
	make_wq(b->test, &kernel->rq, BENCH_RQ_LOG, BENCH_STRIDE, dev);
	KUNIT_ASSERT_EQ(b->test, vhca_db_alloc(&b->uar, &qp->db), 0);
	KUNIT_ASSERT_EQ(b->test, vhca_cq_attach_qp(qp), 0);
}

/**
 * bench_free_qp() - free a QP's rings
 * @qp: the QP, which is not used any more
 */
void bench_free_qp(struct vhca_qp *qp)
{
	vhca_ring_free(&qp->kernel->rq.ring);
	vhca_ring_free(&qp->kernel->sq.ring);
}

/**
 * bench_init() - init of a suite
 * @test: the test
 *
 * Return: 0.
 */
int bench_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct device *dev = vhca_test_device(test);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	test->priv = b;
	vhca_hw_init(&b->dev.hw, dev, NULL);
	b->dev.hw.limits.caps = U64_MAX;
	b->dev.hw.limits.page_sizes = GENMASK_ULL(VHCA_PAGE_SHIFT_MAX, VHCA_PAGE_SHIFT_MIN);
	vhca_caps_init(&b->dev);
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&b->uar, &b->dev.hw, &uar_ops), 0);

	b->cq.ibcq.device = &b->dev.ibdev;
	b->cq.ibcq.comp_handler = comp_handler;
	b->cq.ibcq.cq_context = b;
	b->cq.log = BENCH_CQ_LOG;
	b->cq.kernel = &b->cqk;
	b->cqk.cq = &b->cq;
	mutex_init(&b->cq.resize);
	spin_lock_init(&b->cqk.lock);
	xa_init(&b->cqk.qps);
	INIT_LIST_HEAD(&b->cqk.senders);
	INIT_LIST_HEAD(&b->cqk.receivers);
	INIT_WORK(&b->cqk.wake, vhca_cq_wake_work);
	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&b->cqk.ring, dev, BENCH_CQ_LOG,
					      order_base_2(sizeof(struct vhca_cqe))), 0);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &b->cq.db), 0);

	bench_make_qp(b, &b->qp, &b->qpk, IB_QPT_RC, 0, BENCH_QPN);
	return 0;
}

/**
 * bench_exit() - exit of a suite
 * @test: the test
 */
void bench_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	/* The CQ's work item waits until a dead device has stopped. */
	complete_all(&b->dev.hw.stopped);
	cancel_work_sync(&b->cqk.wake);
	bench_free_qp(&b->qp);
	vhca_ring_free(&b->cqk.ring);
	vhca_uar_exit(&b->uar);
	xa_destroy(&b->cqk.qps);
}

/**
 * bench_send() - post a signaled RDMA WRITE
 * @b: bench
 * @wr_id: its number
 * @nsge: gather entries; the QP has 3
 *
 * Return: as vhca_post_send().
 */
int bench_send(struct bench *b, u64 wr_id, int nsge)
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

/**
 * bench_recv() - post a receive of BENCH_RECV_LEN bytes
 * @b: bench
 * @wr_id: its number
 *
 * Return: as vhca_post_recv().
 */
int bench_recv(struct bench *b, u64 wr_id)
{
	struct ib_sge sge = { 0x5000, BENCH_RECV_LEN, 5 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return vhca_post_recv(&b->qp.ibqp, &wr, &bad);
}

/**
 * bench_complete() - write a completion, as the device does
 * @b: bench
 * @cqe: the completion; its owner bit is set here
 */
void bench_complete(struct bench *b, struct vhca_cqe cqe)
{
	struct vhca_cqe *place = vhca_ring_at(&b->cqk.ring, b->pi);

	cqe.owner = vhca_ring_lap(b->pi, BENCH_CQ_LOG);
	*place = cqe;
	b->pi++;
}

/**
 * bench_done() - make a completion of the QP
 * @index: count up to which requests are completed
 * @flags: VHCA_CQE_F_*
 *
 * Its wr_id is wrong, as a faulty device might write it.
 *
 * Return: the completion, to be changed and written.
 */
struct vhca_cqe bench_done(u32 index, u8 flags)
{
	return (struct vhca_cqe) {
		.wr_id = cpu_to_le64(0xdeadbeefdeadbeef),
		.qpn = cpu_to_le32(BENCH_QPN),
		.wqe_index = cpu_to_le32(index),
		.byte_len = cpu_to_le32(77),
		.flags = flags,
		.opcode = flags & VHCA_CQE_F_RQ ? VHCA_CQE_RECV : VHCA_CQE_SEND,
	};
}

/**
 * bench_expect_lies() - allow invalid completions, for which the driver would kill the device
 * @b: bench
 *
 * The device is marked as dead but not as stopped, so that the test can check the other
 * completions. hca_lies_test.c checks that a device is killed.
 */
void bench_expect_lies(struct bench *b)
{
	b->dev.hw.dead = 1;
}

/**
 * bench_poll() - poll the CQ
 * @b: bench
 * @n: room at @wc, in completions
 * @wc: filled in
 *
 * Return: as vhca_poll_cq().
 */
int bench_poll(struct bench *b, int n, struct ib_wc *wc)
{
	return vhca_poll_cq(&b->cq.ibcq, n, wc);
}
