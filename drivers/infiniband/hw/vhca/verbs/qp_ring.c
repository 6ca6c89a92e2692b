// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings of QPs: those in the memory of a process, and those of kernel QPs. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "qp.h"
#include "udata.h"

static u64 sq_blocks(struct vhca_dev *dev, const struct vhca_qp *qp)
{
	const struct ib_qp_cap *cap = &qp->cap;
	u32 nsge = max(cap->max_send_sge, 1U);
	u32 blocks = vhca_send_wqe_blocks(dev, qp->ibqp.qp_type, nsge, cap->max_inline_data);

	if (qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO)
		blocks = max(blocks, vhca_lso_wqe_blocks(nsge));
	return (u64)cap->max_send_wr * blocks;
}

/* Checks the rings of a provider against the sizes that its user requested. */
static int check_user_rings(struct vhca_dev *dev, const struct vhca_qp *qp,
			    const struct vhca_create_qp_req *req)
{
	const struct vhca_limits *l = &dev->hw.limits;
	const struct ib_qp_cap *cap = &qp->cap;
	bool sq = req->log_sq_blocks != VHCA_NO_QUEUE;
	bool rq = req->log_rq_strides != VHCA_NO_QUEUE;

	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return vhca_refuse(dev->hw.dev, -EINVAL, "create_qp: rsvd is not zero");
	if (sq && (req->log_sq_blocks >= 32 || BIT(req->log_sq_blocks) > l->max_sq_blocks))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_sq_blocks %u: device limit is %u blocks",
				   req->log_sq_blocks, l->max_sq_blocks);
	if (cap->max_send_wr && (!sq || BIT(req->log_sq_blocks) < cap->max_send_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_sq_blocks %u: ring is to hold max_send_wr %u",
				   req->log_sq_blocks, cap->max_send_wr);
	if (rq && (req->log_rq_strides >= 32 || BIT(req->log_rq_strides) > l->max_rq_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: device limit is %u",
				   req->log_rq_strides, l->max_rq_wr);
	if (rq && (qp->ibqp.srq || !vhca_qp_has_receives(qp->ibqp.qp_type)))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: a QP with an SRQ has no such ring",
				   req->log_rq_strides);
	if (cap->max_recv_wr && (!rq || BIT(req->log_rq_strides) < cap->max_recv_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: ring is to hold max_recv_wr %u",
				   req->log_rq_strides, cap->max_recv_wr);
	if (rq && (req->log_rq_stride > ilog2(VHCA_LIST_PAGE) ||
		   BIT(req->log_rq_stride) < VHCA_RWQE_SIZE(cap->max_recv_sge)))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_stride %u: entries have max_recv_sge %u",
				   req->log_rq_stride, cap->max_recv_sge);
	return 0;
}

/**
 * vhca_qp_take_user_rings() - check and pin the rings of a provider
 * @dev: the device
 * @qp: the QP, its cap set
 * @req: the provider's request, which describes the rings
 * @hw: request to the device; the rings are filled in
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for rings that the device or the QP's cap do not allow; as
 * vhca_user_ring_get().
 */
int vhca_qp_take_user_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			    const struct vhca_create_qp_req *req,
			    struct vhca_create_qp_hw_req *hw)
{
	int err;

	err = check_user_rings(dev, qp, req);
	if (err)
		return err;
	hw->log_sq_blocks = req->log_sq_blocks;
	hw->log_rq_strides = req->log_rq_strides;
	if (req->log_sq_blocks != VHCA_NO_QUEUE) {
		err = vhca_user_ring_get(dev, &qp->user_sq, "create_qp: sq_addr", req->sq_addr,
					 (u64)VHCA_WQE_BLOCK << req->log_sq_blocks);
		if (err)
			return err;
		hw->sq = qp->user_sq.pages.buf;
	}
	if (req->log_rq_strides != VHCA_NO_QUEUE) {
		err = vhca_user_ring_get(dev, &qp->user_rq, "create_qp: rq_addr", req->rq_addr,
					 1ULL << (req->log_rq_strides + req->log_rq_stride));
		if (err) {
			vhca_user_ring_put(&qp->user_sq);
			return err;
		}
		hw->rq = qp->user_rq.pages.buf;
		hw->log_rq_stride = req->log_rq_stride;
	}
	return 0;
}

static void free_kernel_wq(struct vhca_wq *wq)
{
	if (!wq->wrs)
		return;
	kvfree(wq->wrs);
	wq->wrs = NULL;
	vhca_ring_free(&wq->ring);
}

static void init_kernel_wq(struct vhca_wq *wq)
{
	spin_lock_init(&wq->lock);
	INIT_LIST_HEAD(&wq->link);
}

static int make_kernel_wq(struct vhca_dev *dev, struct vhca_wq *wq, u64 slots, u32 stride)
{
	u8 log = order_base_2(slots);
	int err;

	wq->wrs = kvcalloc(BIT(log), sizeof(*wq->wrs), GFP_KERNEL);
	if (!wq->wrs)
		return -ENOMEM;
	err = vhca_ring_alloc(&wq->ring, dev->hw.dev, log, ilog2(stride));
	if (err) {
		kvfree(wq->wrs);
		wq->wrs = NULL;
	}
	return err;
}

static void free_kernel_rings(struct vhca_qp *qp)
{
	if (!qp->kernel)
		return;
	free_kernel_wq(&qp->kernel->sq);
	free_kernel_wq(&qp->kernel->rq);
	kfree(qp->kernel);
	qp->kernel = NULL;
}

static int make_kernel_rq(struct vhca_dev *dev, struct vhca_qp *qp,
			  struct vhca_create_qp_hw_req *hw)
{
	u32 strides = max(qp->cap.max_recv_wr, 1U);
	u32 stride = roundup_pow_of_two(VHCA_RWQE_SIZE(max(qp->cap.max_recv_sge, 1U)));
	struct vhca_wq *rq = &qp->kernel->rq;
	int err;

	if (qp->ibqp.srq) {
		hw->log_rq_strides = VHCA_NO_QUEUE;
		return 0;
	}
	err = make_kernel_wq(dev, rq, strides, stride);
	if (err)
		return err;
	rq->max_sge = qp->cap.max_recv_sge;
	hw->log_rq_strides = rq->ring.log;
	hw->log_rq_stride = rq->ring.log_entry;
	vhca_kbuf_describe(&rq->ring.mem, &hw->rq);
	return 0;
}

/**
 * vhca_qp_make_kernel_rings() - make the rings of a QP of the kernel
 * @dev: the device
 * @qp: the QP, its cap set; gets its kernel part
 * @hw: request to the device; the rings are filled in
 *
 * Context: may sleep.
 * Return: 0; -EINVAL when the device has no ring of that size; -ENOMEM.
 */
int vhca_qp_make_kernel_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			      struct vhca_create_qp_hw_req *hw)
{
	u64 blocks = max(sq_blocks(dev, qp), 1ULL);
	struct vhca_qp_kernel *k;
	int err;

	if (blocks > dev->hw.limits.max_sq_blocks)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "max_send_wr %u with max_send_sge %u: %llu blocks > device limit %u",
				   qp->cap.max_send_wr, qp->cap.max_send_sge, blocks,
				   dev->hw.limits.max_sq_blocks);
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->qp = qp;
	qp->kernel = k;
	init_waitqueue_head(&k->wait);
	init_kernel_wq(&k->sq);
	init_kernel_wq(&k->rq);
	k->sq.max_sge = qp->cap.max_send_sge;
	k->sq.max_inline = qp->cap.max_inline_data;
	err = make_kernel_wq(dev, &k->sq, blocks, VHCA_WQE_BLOCK) ?: make_kernel_rq(dev, qp, hw);
	if (err) {
		free_kernel_rings(qp);
		return err;
	}
	hw->log_sq_blocks = k->sq.ring.log;
	vhca_kbuf_describe(&k->sq.ring.mem, &hw->sq);
	return 0;
}

/**
 * vhca_qp_free_rings() - free or unpin a QP's rings
 * @qp: the QP, whose rings the device does not use any more
 *
 * Context: may sleep.
 */
void vhca_qp_free_rings(struct vhca_qp *qp)
{
	free_kernel_rings(qp);
	vhca_user_ring_put(&qp->user_rq);
	vhca_user_ring_put(&qp->user_sq);
}
