// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting by kernel consumers: queues, order and doorbells. Formats of send requests: wqe.c. */
#include <kunit/visibility.h>

#include "cq.h"
#include "qp.h"

/**
 * vhca_wq_reset() - discard all posted requests
 * @wq: queue of a QP in the RESET state; the CQ's lock is held
 *
 * Context: the CQ's lock is held.
 */
void vhca_wq_reset(struct vhca_wq *wq)
{
	wq->head = 0;
	wq->tail = 0;
}

/**
 * vhca_post_send() - ib_device_ops.post_send
 * @ibqp: queue pair of the kernel's
 * @wr: list of requests
 * @bad_wr: the first request that was not posted, on error; those before it were
 *
 * Context: any.
 * Return: as vhca_put_send().
 */
int vhca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_wq *sq = &qp->kernel->sq;
	unsigned long flags;
	bool posted = false;
	int err = 0;

	spin_lock_irqsave(&sq->lock, flags);
	for (; wr; wr = wr->next) {
		err = vhca_put_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		posted = true;
	}
	if (posted)
		vhca_db_ring(&qp->db, 0, sq->head);
	spin_unlock_irqrestore(&sq->lock, flags);
	if (unlikely(posted && vhca_hw_dead(&to_vdev(ibqp->device)->hw)))
		vhca_cq_wake_soft(to_vcq(ibqp->send_cq));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_post_send);

/**
 * vhca_write_rwqe() - write an entry of a receive ring
 * @rwqe: the entry
 * @wr: the request
 * @id: value that its completion returns
 * @count: the entry's count
 *
 * Context: any.
 * Return: number of bytes for which it has room, at most U32_MAX.
 */
u32 vhca_write_rwqe(struct vhca_rwqe *rwqe, const struct ib_recv_wr *wr, u64 id, u64 count)
{
	struct vhca_sge *seg = (void *)(rwqe + 1);
	u64 room = 0;

	*rwqe = (struct vhca_rwqe) {
		.wr_id = cpu_to_le64(id),
		.index = cpu_to_le32(count),
		.nsge = wr->num_sge,
	};
	for (int i = 0; i < wr->num_sge; i++, seg++) {
		seg->addr = cpu_to_le64(wr->sg_list[i].addr);
		seg->length = cpu_to_le32(wr->sg_list[i].length);
		seg->lkey = cpu_to_le32(wr->sg_list[i].lkey);
		room += wr->sg_list[i].length;
	}
	return min_t(u64, room, U32_MAX);
}

static int put_recv(struct vhca_wq *rq, const struct ib_recv_wr *wr)
{
	struct vhca_wr *note;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (!vhca_ring_room(rq->head, vhca_wq_tail(rq), rq->ring.log))
		return -ENOMEM;

	note = &rq->wrs[vhca_ring_slot(rq->head, rq->ring.log)];
	note->wr_id = wr->wr_id;
	note->room = vhca_write_rwqe(vhca_ring_at(&rq->ring, rq->head), wr, wr->wr_id, rq->head);
	note->opcode = IB_WC_RECV;
	note->nslots = 1;
	vhca_wq_post(rq, 1);
	return 0;
}

/**
 * vhca_qp_broken() - record that a kernel QP is in the error state
 * @qp: the QP
 *
 * The device reads receives only when it needs one, which is never the case in the error state. So
 * the doorbell has to be rung for those that are posted now, and for every later one, in order that
 * the device flushes them.
 *
 * Context: any; may be called with a CQ's lock held.
 */
void vhca_qp_broken(struct vhca_qp *qp)
{
	struct vhca_wq *rq = &qp->kernel->rq;
	unsigned long flags;

	if (READ_ONCE(qp->kernel->broken))
		return;
	spin_lock_irqsave(&rq->lock, flags);
	WRITE_ONCE(qp->kernel->broken, true);
	if (!qp->ibqp.srq)
		vhca_db_ring(&qp->db, 1, rq->head);
	spin_unlock_irqrestore(&rq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_qp_broken);

/**
 * vhca_post_recv() - ib_device_ops.post_recv
 * @ibqp: queue pair of the kernel's
 * @wr: list of requests
 * @bad_wr: the first request that was not posted, on error; those before it were
 *
 * Context: any.
 * Return: 0, -EINVAL for too long a scatter list or a QP with an SRQ, -ENOMEM when the receive
 * queue is full.
 */
int vhca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_wq *rq = &qp->kernel->rq;
	unsigned long flags;
	int err = 0;

	if (ibqp->srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next) {
		err = put_recv(rq, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (unlikely(qp->kernel->broken))
		vhca_db_ring(&qp->db, 1, rq->head);
	else
		vhca_db_store(&qp->db, 1, rq->head);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (unlikely(vhca_hw_dead(&to_vdev(ibqp->device)->hw)))
		vhca_cq_wake_soft(to_vcq(ibqp->recv_cq));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_post_recv);
