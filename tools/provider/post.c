// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting of work request lists.
 */
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "send_ops.h"
#include "wq.h"
#include "wqe.h"

/* States in which sends may be posted; moves to the error state may be seen by the device alone. */
static bool takes_sends(enum ibv_qp_state state)
{
	return state != IBV_QPS_RESET && state != IBV_QPS_INIT && state != IBV_QPS_RTR;
}

static int add_inline(struct vhca_wqe *wqe, const struct ibv_send_wr *wr)
{
	int i, err;

	wqe->ctrl.flags |= VHCA_WQE_INLINE;
	for (i = 0; i < wr->num_sge; i++) {
		err = wqe_inline(wqe, (const void *)(uintptr_t)wr->sg_list[i].addr,
				 wr->sg_list[i].length);
		if (err)
			return err;
	}
	return 0;
}

/* Can the request have data of this form? */
static int check_data(const struct vhca_wq *sq, const struct vhca_send_op *op,
		      const struct ibv_send_wr *wr)
{
	uint64_t sum = 0;
	int i;

	if (wr->send_flags & IBV_SEND_INLINE && !vhca_takes_inline(op))
		return EINVAL;
	if (op->data == VHCA_DATA_NONE)
		return 0;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > sq->max_sge)
		return EINVAL;
	if (op->data == VHCA_DATA_WORD_IN && wr->num_sge != 1)
		return EINVAL;
	if (op->data == VHCA_DATA_WORD_OUT) {
		for (i = 0; i < wr->num_sge; i++)
			sum += wr->sg_list[i].length;
		if (sum != VHCA_WORD)
			return EINVAL;
	}
	return 0;
}

/* Adds the segments between the control segment and the data. */
static int add_head(struct vhca_qp *qp, struct vhca_wqe *wqe, const struct ibv_send_wr *wr)
{
	if (qp->sq.datagram)
		return wqe_destination(wqe, qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				       wr->wr.ud.remote_qkey);
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wqe_remote(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
		return wqe_atomic(wqe, wr->wr.atomic.swap, wr->wr.atomic.compare_add);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe_remote(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
		return wqe_atomic(wqe, wr->wr.atomic.compare_add, 0);
	case IBV_WR_BIND_MW:
		wqe_bind(wqe, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		return 0;
	default:
		if (wqe->op->remote)
			wqe_remote(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		return 0;
	}
}

/* Fills in the word of the control segment that depends on the operation. */
static void add_word(struct vhca_wqe *wqe, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->ctrl.imm = wr->imm_data;
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wqe->ctrl.inv_key = htole32(wr->invalidate_rkey);
		break;
	default:
		break;
	}
}

/* Writes one request that has been checked; *head is set to the block behind it. */
static int put_send(struct vhca_qp *qp, const struct vhca_send_op *op,
		    const struct ibv_send_wr *wr, uint64_t *head)
{
	struct vhca_wqe wqe;
	int err;

	err = wqe_begin(&wqe, &qp->sq, *head, op, wr->wr_id,
			wqe_flags(wr->send_flags, qp->sig_all));
	if (!err)
		err = add_head(qp, &wqe, wr);
	if (err)
		return err;
	add_word(&wqe, wr);
	/* A local request goes to no SRQ, and programs leave the number uninitialised. */
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND && !vhca_is_local(op))
		wqe.ctrl.xrc_srqn = htole32(wr->qp_type.xrc.remote_srqn);
	if (wr->send_flags & IBV_SEND_INLINE)
		err = add_inline(&wqe, wr);
	else if (op->data != VHCA_DATA_NONE)
		err = wqe_list(&wqe, wr->sg_list, wr->num_sge);
	if (err)
		return err;
	*head = wqe_end(&wqe);
	return 0;
}

/* Checks one request and writes it.  Windows that it binds are of type @binds. */
static int post_one(struct vhca_qp *qp, const struct ibv_send_wr *wr, enum ibv_mw_type binds,
		    uint64_t *head)
{
	const struct vhca_send_op *op = vhca_find_op(qp->vqp.qp.qp_type, wr->opcode);
	int err;

	/* A work request has no room for the operands of a flush. */
	if (!op || op->opcode == VHCA_OP_FLUSH)
		return EINVAL;
	if (!vhca_has_op(to_vhca_context(qp->vqp.qp.context), qp->vqp.qp.qp_type, op))
		return EOPNOTSUPP;
	err = check_data(&qp->sq, op, wr);
	if (!err && wr->opcode == IBV_WR_BIND_MW) {
		if (!wr->bind_mw.mw || wr->bind_mw.mw->type != binds)
			return EINVAL;
		err = vhca_check_bind(&qp->vqp.qp, wr->bind_mw.mw, wr->bind_mw.rkey,
				      &wr->bind_mw.bind_info);
	}
	return err ? err : put_send(qp, op, wr, head);
}

static int post_list(struct ibv_qp *ibqp, struct ibv_send_wr *wr, enum ibv_mw_type binds,
		     struct ibv_send_wr **bad)
{
	struct vhca_qp *qp = to_vhca_qp(ibqp);
	uint64_t start, head;
	int err = 0;

	if (!qp->sq.ring || !takes_sends(ibqp->state)) {
		*bad = wr;
		return EINVAL;
	}

	vhca_lock(&qp->sq.lock);
	start = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
	for (head = start; wr; wr = wr->next) {
		err = post_one(qp, wr, binds, &head);
		if (err) {
			*bad = wr;
			break;
		}
	}
	if (head != start) {
		/* Pollers must see the requests before the device can complete them. */
		atomic_store_explicit(&qp->sq.head, head, memory_order_release);
		vhca_db_ring(to_vhca_context(ibqp->context), &qp->db, 0, head);
	}
	vhca_unlock(&qp->sq.lock);
	return err;
}

int vhca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return post_list(ibqp, wr, IBV_MW_TYPE_2, bad);
}

/**
 * vhca_bind_mw() - bind a window of type 1
 * @ibqp: QP that binds it
 * @ibmw: window
 * @bind: region and range; length 0 unbinds the window
 *
 * The window's key changes if the request was posted, and not otherwise.
 *
 * Return: 0 or an errno.
 */
int vhca_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *ibmw, struct ibv_mw_bind *bind)
{
	struct vhca_mw *mw = to_vhca_mw(ibmw);
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = { .mw = ibmw, .bind_info = bind->bind_info },
	}, *bad;
	int err;

	pthread_mutex_lock(&mw->lock);
	wr.bind_mw.rkey = ibv_inc_rkey(ibmw->rkey);
	err = post_list(ibqp, &wr, IBV_MW_TYPE_1, &bad);
	if (!err)
		ibmw->rkey = wr.bind_mw.rkey;
	pthread_mutex_unlock(&mw->lock);
	return err;
}

/**
 * vhca_put_recv() - write a receive into the ring
 * @rq: queue, its lock held
 * @wr: request
 * @head: its count
 *
 * Return: 0, EINVAL when its list is too long, ENOMEM when there is no room.
 */
int vhca_put_recv(struct vhca_wq *rq, const struct ibv_recv_wr *wr, uint64_t head)
{
	uint64_t tail = atomic_load_explicit(&rq->tail, memory_order_acquire);
	struct vhca_rwqe *rwqe;
	struct vhca_sge *seg;
	int i;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (head - tail >= rq->max_wr)
		return ENOMEM;

	rwqe = vhca_recv_at(rq, head);
	*rwqe = (struct vhca_rwqe) {
		.wr_id = htole64(wr->wr_id),
		.index = htole32((uint32_t)head),
		.nsge = wr->num_sge,
	};
	seg = (struct vhca_sge *)(rwqe + 1);
	for (i = 0; i < wr->num_sge; i++) {
		seg[i].addr = htole64(wr->sg_list[i].addr);
		seg[i].length = htole32(wr->sg_list[i].length);
		seg[i].lkey = htole32(wr->sg_list[i].lkey);
	}
	return 0;
}

/**
 * vhca_qp_broken() - note that a QP is in the error state
 * @qp: QP
 *
 * Has the device flush the receives that it may not have seen, and later ones as they are
 * posted.
 *
 * If one thread alone posts them, without a lock, another one may come here with an event.  So the
 * record is left to those who post: what they have stored by the barrier the device sees, and who
 * stores later sees that the QP is broken.
 */
void vhca_qp_broken(struct vhca_qp *qp)
{
	if (!qp->rq.ring || atomic_load_explicit(&qp->broken, memory_order_relaxed))
		return;
	vhca_lock(&qp->rq.lock);
	atomic_store_explicit(&qp->broken, true, memory_order_relaxed);
	if (qp->rq.lock.elided)
		vhca_fence_threads();
	vhca_db_tell(to_vhca_context(qp->vqp.qp.context), &qp->db, 1);
	vhca_unlock(&qp->rq.lock);
}

int vhca_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct vhca_qp *qp = to_vhca_qp(ibqp);
	uint64_t start, head;
	int err = 0;

	if (!qp->rq.ring || ibqp->state == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}

	vhca_lock(&qp->rq.lock);
	start = atomic_load_explicit(&qp->rq.head, memory_order_relaxed);
	for (head = start; wr; wr = wr->next, head++) {
		err = vhca_put_recv(&qp->rq, wr, head);
		if (err) {
			*bad = wr;
			break;
		}
	}
	if (head != start) {
		atomic_store_explicit(&qp->rq.head, head, memory_order_release);
		/* The device reads this when it needs a buffer, which it never does in error. */
		db_store(&qp->db, 1, head);
		/* in this order, see vhca_qp_broken() */
		atomic_signal_fence(memory_order_seq_cst);
		if (atomic_load_explicit(&qp->broken, memory_order_relaxed))
			vhca_db_tell(to_vhca_context(ibqp->context), &qp->db, 1);
	}
	vhca_unlock(&qp->rq.lock);
	return err;
}
