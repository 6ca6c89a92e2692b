// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting of work request lists.
 */
#include "vhca.h"
#include "wqe.h"

/* Which states take sends; the kernel's moves to the error state are the device's to know. */
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

/* Writes one request; *head moves behind it. */
static int put_send(struct vhca_qp *qp, const struct ibv_send_wr *wr, uint64_t *head)
{
	const struct vhca_send_op *op = vhca_find_op(qp->vqp.qp.qp_type, wr->opcode);
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;
	struct vhca_wqe wqe;
	int err;

	if (!op || wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge ||
	    (is_inline && op->gets))
		return EINVAL;

	err = wqe_begin(&wqe, &qp->sq, *head, op, wr->wr_id,
			wqe_flags(wr->send_flags, qp->sig_all));
	if (err)
		return err;
	if (qp->sq.datagram) {
		err = wqe_destination(&wqe, qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				      wr->wr.ud.remote_qkey);
		if (err)
			return err;
	}
	if (op->imm)
		wqe.ctrl.imm = wr->imm_data;
	if (op->remote)
		wqe_remote(&wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	err = is_inline ? add_inline(&wqe, wr) : wqe_list(&wqe, wr->sg_list, wr->num_sge);
	if (err)
		return err;
	*head = wqe_end(&wqe);
	return 0;
}

int vhca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct vhca_qp *qp = to_vhca_qp(ibqp);
	uint64_t start, head;
	int err = 0;

	if (!qp->sq.ring || !takes_sends(ibqp->state)) {
		*bad = wr;
		return EINVAL;
	}

	pthread_mutex_lock(&qp->sq.lock);
	start = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
	for (head = start; wr; wr = wr->next) {
		err = put_send(qp, wr, &head);
		if (err) {
			*bad = wr;
			break;
		}
	}
	if (head != start) {
		/* Polls must know the requests before the device can complete them. */
		atomic_store_explicit(&qp->sq.head, head, memory_order_release);
		vhca_db_ring(to_vhca_context(ibqp->context), &qp->db, 0, head);
	}
	pthread_mutex_unlock(&qp->sq.lock);
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
 * Has the device flush the receives it may not have seen, and later ones as they are posted.
 */
void vhca_qp_broken(struct vhca_qp *qp)
{
	if (!qp->rq.ring || atomic_load_explicit(&qp->broken, memory_order_relaxed))
		return;
	pthread_mutex_lock(&qp->rq.lock);
	atomic_store_explicit(&qp->broken, true, memory_order_relaxed);
	vhca_db_ring(to_vhca_context(qp->vqp.qp.context), &qp->db, 1,
		     atomic_load_explicit(&qp->rq.head, memory_order_relaxed));
	pthread_mutex_unlock(&qp->rq.lock);
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

	pthread_mutex_lock(&qp->rq.lock);
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
		/* The device reads this when it needs a buffer, and in error never does. */
		if (atomic_load_explicit(&qp->broken, memory_order_relaxed))
			vhca_db_ring(to_vhca_context(ibqp->context), &qp->db, 1, head);
		else
			db_store(&qp->db, 1, head);
	}
	pthread_mutex_unlock(&qp->rq.lock);
	return err;
}
