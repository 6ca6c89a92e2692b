// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs.
 */
#include <errno.h>
#include <stdlib.h>

#include <ccan/minmax.h>

#include "buf.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "release.h"
#include "send_ops.h"
#include "srq.h"
#include "wq.h"
#include "wqe.h"

/* Rings of a QP and their places in its memory. */
struct layout {
	uint8_t log_sq_blocks;
	uint8_t log_rq_strides;
	uint8_t log_rq_stride;
	size_t sq_size;
	size_t rq_size;
};

/* The capacities as far as this provider can lay them out. */
static struct ibv_qp_cap laid_out_cap(const struct vhca_context *ctx, const struct ibv_qp_cap *cap)
{
	return (struct ibv_qp_cap) {
		.max_send_wr = min(cap->max_send_wr, VHCA_MAX_WR),
		.max_recv_wr = min(cap->max_recv_wr, VHCA_MAX_WR),
		.max_send_sge = min(cap->max_send_sge, ctx->max_send_sge),
		.max_recv_sge = min(cap->max_recv_sge, ctx->max_recv_sge),
		.max_inline_data = min(cap->max_inline_data, ctx->max_inline),
	};
}

/* Blocks of the largest request that a QP has to support. */
static uint64_t send_blocks(const struct ibv_qp_cap *cap, enum ibv_qp_type type, uint64_t ops)
{
	uint64_t bytes = wqe_head(type == IBV_QPT_UD) +
			 max_t(uint64_t, cap->max_send_sge * sizeof(struct vhca_sge),
			       cap->max_inline_data);

	if (ops & (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) &&
	    cap->max_send_sge)
		bytes = max_t(uint64_t, bytes, VHCA_ATOMIC_BYTES);
	return wqe_blocks(bytes);
}

/* The send ring has room for max_send_wr requests of the largest size. */
static void lay_out(const struct ibv_qp_cap *cap, enum ibv_qp_type type, uint64_t ops,
		    struct layout *layout)
{
	*layout = (struct layout) {
		.log_sq_blocks = VHCA_NO_QUEUE,
		.log_rq_strides = VHCA_NO_QUEUE,
	};
	if (cap->max_send_wr) {
		layout->log_sq_blocks = ring_log(cap->max_send_wr *
						 send_blocks(cap, type, ops));
		layout->sq_size = ring_size(layout->log_sq_blocks) * VHCA_WQE_BLOCK;
	}
	if (cap->max_recv_wr) {
		layout->log_rq_stride = ring_log_stride(cap->max_recv_sge);
		layout->log_rq_strides = ring_log(cap->max_recv_wr);
		layout->rq_size = ring_size(layout->log_rq_strides + layout->log_rq_stride);
	}
}

/* Can the queues that were laid out hold what the kernel promised? */
static bool serves(const struct layout *layout, const struct ibv_qp_init_attr_ex *attr,
		   uint64_t ops)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	uint64_t blocks = send_blocks(cap, attr->qp_type, ops);

	if (layout->log_sq_blocks != VHCA_NO_QUEUE &&
	    blocks > min_t(uint64_t, VHCA_WQE_MAX_BLOCKS, ring_size(layout->log_sq_blocks)))
		return false;
	return layout->log_rq_strides == VHCA_NO_QUEUE ||
	       (VHCA_RWQE_SIZE((uint64_t)cap->max_recv_sge) <= ring_size(layout->log_rq_stride) &&
		cap->max_recv_wr <= ring_size(layout->log_rq_strides));
}

static void init_wq(struct vhca_wq *wq, void *ring, uint8_t log, uint8_t log_unit, bool elided)
{
	vhca_lock_init(&wq->lock, elided);
	atomic_init(&wq->head, 0);
	atomic_init(&wq->tail, 0);
	wq->ring = log == VHCA_NO_QUEUE ? NULL : ring;
	wq->log = log;
	wq->log_unit = log_unit;
}

static void set_user(struct vhca_cq_user *user, struct vhca_qp *qp)
{
	user->qp = qp;
	user->key = qp->vqp.qp.qp_num;
}

/* An XRC initiator receives nothing, and has no CQ for it. */
static struct vhca_cq *recv_cq_of(const struct vhca_qp *qp)
{
	return to_vhca_cq(qp->vqp.qp.recv_cq ? qp->vqp.qp.recv_cq : qp->vqp.qp.send_cq);
}

/* Lets polls find the QP, and its SRQ by it; both CQs may be the same. */
static void join_cqs(struct vhca_qp *qp)
{
	struct vhca_cq *send_cq = to_vhca_cq(qp->vqp.qp.send_cq);
	struct vhca_cq *recv_cq = recv_cq_of(qp);

	set_user(&qp->send_user, qp);
	set_user(&qp->recv_user, qp);
	vhca_cq_add_user(send_cq, &qp->send_user);
	if (recv_cq != send_cq)
		vhca_cq_add_user(recv_cq, &qp->recv_user);
	if (qp->vqp.qp.srq)
		vhca_srq_get(to_vhca_srq(qp->vqp.qp.srq));
}

/* The device completes nothing of the QP any more: drops completions that were not polled. */
static void purge_cqs(struct vhca_qp *qp)
{
	struct vhca_cq *send_cq = to_vhca_cq(qp->vqp.qp.send_cq);
	struct vhca_cq *recv_cq = recv_cq_of(qp);

	vhca_cq_purge(send_cq, &qp->send_user);
	if (recv_cq != send_cq)
		vhca_cq_purge(recv_cq, &qp->recv_user);
}

/* Polls used the SRQ, too; the CQs and the SRQ may be freed by this. */
static void leave_cqs(struct vhca_qp *qp)
{
	struct vhca_cq *send_cq = to_vhca_cq(qp->vqp.qp.send_cq);
	struct vhca_cq *recv_cq = recv_cq_of(qp);

	purge_cqs(qp);
	if (recv_cq != send_cq)
		vhca_cq_remove_user(recv_cq, &qp->recv_user);
	vhca_cq_remove_user(send_cq, &qp->send_user);
	if (qp->vqp.qp.srq)
		vhca_srq_put(to_vhca_srq(qp->vqp.qp.srq));
}

/*
 * Polls ring the receives of a QP in error: one thread posts them only if the same one polls.  One
 * that takes an event rings them, too, but needs no lock if it can have the first one execute a
 * barrier.
 */
static bool receives_alone(const struct ibv_qp_init_attr_ex *attr)
{
	const struct vhca_td *td = vhca_thread_of(attr->pd);

	return td && td->fenced && vhca_thread_of(to_vhca_cq(attr->send_cq)->pd) == td &&
	       (!attr->recv_cq || vhca_thread_of(to_vhca_cq(attr->recv_cq)->pd) == td);
}

/*
 * Operations that a QP has to support: those that its program names, or any.  Only
 * if it names them can it use the extended calls.
 */
static uint64_t wanted_ops(const struct vhca_context *ctx, const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		return attr->send_ops_flags;
	return vhca_known_send_ops(ctx, attr->qp_type);
}

static int check_attr(const struct vhca_context *ctx, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (!check_comp_mask(attr->comp_mask, known))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq ||
	    (!attr->recv_cq && attr->qp_type != IBV_QPT_XRC_SEND))
		return EINVAL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    !check_comp_mask(attr->send_ops_flags, vhca_known_send_ops(ctx, attr->qp_type)))
		return EOPNOTSUPP;
	return 0;
}

struct ibv_qp *vhca_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct vhca_context *ctx = to_vhca_context(context);
	struct vhca_cmd_qp_resp resp = {};
	const struct ibv_qp_cap asked = attr->cap;
	struct vhca_cmd_qp cmd = {};
	struct ibv_qp_cap cap;
	struct layout layout;
	struct vhca_qp *qp;
	uint64_t ops;
	int err;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return vhca_create_target(context, attr);
	/* Attributes of receiving are ignored. */
	if (attr->qp_type == IBV_QPT_XRC_SEND) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	err = check_attr(ctx, attr);
	if (err)
		goto err_cap;
	ops = wanted_ops(ctx, attr);
	/* ibv_wr_atomic_write() gives its eight bytes inline. */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    ops & IBV_QP_EX_WITH_ATOMIC_WRITE && attr->cap.max_send_wr)
		attr->cap.max_inline_data = max_t(uint32_t, asked.max_inline_data, VHCA_WORD);
	cap = laid_out_cap(ctx, &attr->cap);
	if (attr->srq)
		cap.max_recv_wr = 0;
	lay_out(&cap, attr->qp_type, ops, &layout);

	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		err = ENOMEM;
		goto err_cap;
	}
	/* Each ring starts on a page. */
	layout.sq_size = (layout.sq_size + ctx->page_size - 1) & ~(ctx->page_size - 1);
	if (layout.sq_size + layout.rq_size) {
		err = vhca_buf_alloc(&qp->buf, ctx, attr->pd, VHCA_RES_QP,
				     layout.sq_size + layout.rq_size);
		if (err)
			goto err_free;
	}
	if (layout.log_sq_blocks != VHCA_NO_QUEUE) {
		qp->sq.nth = calloc(ring_size(layout.log_sq_blocks), sizeof(*qp->sq.nth));
		if (!qp->sq.nth) {
			err = ENOMEM;
			goto err_buf;
		}
	}

	cmd.log_sq_blocks = layout.log_sq_blocks;
	cmd.log_rq_strides = layout.log_rq_strides;
	cmd.log_rq_stride = layout.log_rq_stride;
	if (layout.log_sq_blocks != VHCA_NO_QUEUE)
		cmd.sq_addr = (uintptr_t)qp->buf.addr;
	if (layout.log_rq_strides != VHCA_NO_QUEUE)
		cmd.rq_addr = (uintptr_t)qp->buf.addr + layout.sq_size;
	err = vhca_cmd_create_qp(ctx, qp, attr, &cmd, &resp);
	if (err)
		goto err_buf;
	if (!vhca_known_send_ops(ctx, attr->qp_type) || !serves(&layout, attr, ops)) {
		err = EOPNOTSUPP;
		goto err_destroy;
	}
	err = vhca_db_slots(ctx, &qp->db, resp.db_slot, resp.db_mmap);
	if (err)
		goto err_destroy;

	qp->sig_all = attr->sq_sig_all;
	qp->pd = attr->pd->handle;
	vhca_pd_get(attr->pd);
	init_wq(&qp->sq, qp->buf.addr, layout.log_sq_blocks, ring_log(VHCA_WQE_BLOCK),
		vhca_thread_of(attr->pd));
	qp->sq.max_wr = attr->cap.max_send_wr;
	qp->sq.max_sge = attr->cap.max_send_sge;
	qp->sq.max_inline = attr->cap.max_inline_data;
	qp->sq.datagram = attr->qp_type == IBV_QPT_UD;
	init_wq(&qp->rq, (uint8_t *)qp->buf.addr + layout.sq_size, layout.log_rq_strides,
		layout.log_rq_stride, receives_alone(attr));
	qp->rq.max_sge = attr->cap.max_recv_sge;
	qp->rq.max_wr = attr->cap.max_recv_wr;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		vhca_qp_set_post_ops(qp, attr->send_ops_flags);
	join_cqs(qp);
	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_buf:
	free(qp->sq.nth);
	vhca_buf_free(&qp->buf);
err_free:
	free(qp);
err_cap:
	attr->cap = asked;
	errno = err;
	return NULL;
}

struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = vhca_create_qp_ex(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

/* Resets the queues, as the device has done. */
static void reset_queues(struct vhca_qp *qp)
{
	purge_cqs(qp);
	atomic_store(&qp->sq.head, 0);
	atomic_store(&qp->sq.tail, 0);
	atomic_store(&qp->sq.done, 0);
	if (qp->sq.ring) {
		qp->sq.nth[vhca_ring_slot(UINT64_MAX, qp->sq.log)] = 0;
		wqe_forget(&qp->sq);
	}
	atomic_store(&qp->rq.head, 0);
	atomic_store(&qp->rq.tail, 0);
	atomic_store(&qp->broken, false);
	db_store(&qp->db, 0, 0);
	db_store(&qp->db, 1, 0);
}

int vhca_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct vhca_qp *qp = to_vhca_qp(ibqp);
	struct ibv_modify_qp cmd = {};
	bool mended = false;
	int err;

	/*
	 * A QP whose sends failed, but not its receives, may work again (SQE to RTS).  @broken is
	 * cleared before that, so that later errors are noticed.
	 */
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTS)
		mended = atomic_exchange(&qp->broken, false);
	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (err) {
		if (mended)
			vhca_qp_broken(qp);
		return err;
	}
	if (!(mask & IBV_QP_STATE))
		return 0;
	/* A target has no queues. */
	if (ibqp->qp_type == IBV_QPT_XRC_RECV)
		return 0;
	if (attr->qp_state == IBV_QPS_RESET)
		reset_queues(qp);
	else if (attr->qp_state == IBV_QPS_ERR)
		vhca_qp_broken(qp);
	return 0;
}

int vhca_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;
	int err;

	err = ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
	if (!err && attr->qp_state == IBV_QPS_ERR)
		vhca_qp_broken(to_vhca_qp(ibqp));
	return err;
}

/**
 * vhca_async_event() - handle an event that the program reads
 * @context: device
 * @event: event
 *
 * A QP that only responds may fail without a completion.  From now on it is known to have failed;
 * if the event is one from before a reset of the QP, that does no harm.
 */
void vhca_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context;
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		vhca_qp_broken(to_vhca_qp(event->element.qp));
		break;
	default:
		break;
	}
}

/**
 * vhca_query_qp_data_in_order() - in which order data appears in memory
 * @ibqp: QP
 * @op: operation
 * @flags: checked by the caller
 *
 * The device places a message from its first byte to its last.
 *
 * Return: IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG, or 0 for an operation without data on such a QP.
 */
int vhca_query_qp_data_in_order(struct ibv_qp *ibqp, enum ibv_wr_opcode op, uint32_t flags)
{
	const struct vhca_send_op *known = vhca_find_op(ibqp->qp_type, op);

	(void)flags;
	if (!known || !vhca_has_op(to_vhca_context(ibqp->context), ibqp->qp_type, known))
		return 0;
	return known->data == VHCA_DATA_OUT || known->data == VHCA_DATA_IN ?
	       IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG : 0;
}

int vhca_destroy_qp(struct ibv_qp *ibqp)
{
	struct vhca_qp *qp = to_vhca_qp(ibqp);
	struct ibv_pd *pd = ibqp->pd;
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;
	/* A target uses none of them. */
	if (ibqp->qp_type != IBV_QPT_XRC_RECV) {
		leave_cqs(qp);
		free(qp->sq.nth);
		vhca_buf_free(&qp->buf);
		vhca_pd_put(pd);
	}
	vhca_lock_destroy(&qp->sq.lock);
	vhca_lock_destroy(&qp->rq.lock);
	free(qp);
	return 0;
}
