// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling of kernel CQs.
 *
 * The work request of a completion is found by counting: the device reports the count up to which a
 * queue is completed, and the driver finds the request in its own records (struct vhca_wr). So a
 * wr_id, which may be a pointer of the consumer, is never read from memory that the device can
 * write. Receives of an SRQ complete in any order; each carries the number of a record (struct
 * vhca_srq_note), which the device returns and the driver checks. The received length is checked as
 * well, since consumers read that many bytes.
 *
 * A QP is looked up by number in the CQ's own table, and by port for QP 0 and QP 1. It cannot be
 * freed during a poll, whatever number the device reports: its destruction removes it from the
 * table and then takes the CQ's lock. That would not protect QPs of other CQs, so that only the
 * CQ's own table is used.
 */
#include <kunit/visibility.h>
#include <linux/if_vlan.h>

#include "cq.h"
#include "qp.h"
#include "srq.h"

static enum ib_wc_status wc_status(u8 status)
{
	switch (status) {
	case VHCA_CS_SUCCESS:
		return IB_WC_SUCCESS;
	case VHCA_CS_LOC_LEN_ERR:
		return IB_WC_LOC_LEN_ERR;
	case VHCA_CS_LOC_QP_OP_ERR:
		return IB_WC_LOC_QP_OP_ERR;
	case VHCA_CS_LOC_EEC_OP_ERR:
		return IB_WC_LOC_EEC_OP_ERR;
	case VHCA_CS_LOC_PROT_ERR:
		return IB_WC_LOC_PROT_ERR;
	case VHCA_CS_WR_FLUSH_ERR:
		return IB_WC_WR_FLUSH_ERR;
	case VHCA_CS_MW_BIND_ERR:
		return IB_WC_MW_BIND_ERR;
	case VHCA_CS_BAD_RESP_ERR:
		return IB_WC_BAD_RESP_ERR;
	case VHCA_CS_LOC_ACCESS_ERR:
		return IB_WC_LOC_ACCESS_ERR;
	case VHCA_CS_REM_INV_REQ_ERR:
		return IB_WC_REM_INV_REQ_ERR;
	case VHCA_CS_REM_ACCESS_ERR:
		return IB_WC_REM_ACCESS_ERR;
	case VHCA_CS_REM_OP_ERR:
		return IB_WC_REM_OP_ERR;
	case VHCA_CS_RETRY_EXC_ERR:
		return IB_WC_RETRY_EXC_ERR;
	case VHCA_CS_RNR_RETRY_EXC_ERR:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case VHCA_CS_REM_ABORT_ERR:
		return IB_WC_REM_ABORT_ERR;
	case VHCA_CS_FATAL_ERR:
		return IB_WC_FATAL_ERR;
	default:
		return IB_WC_GENERAL_ERR;
	}
}

/*
 * Number of bytes that the receive of a completion must have room for: 0 for an error or a send.
 * The data of a WRITE are not in the receive; datagram QPs get no WRITEs.
 */
static u32 received(const struct vhca_qp *qp, const struct vhca_cqe *cqe)
{
	bool datagrams = qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI ||
			 qp->ibqp.qp_type == IB_QPT_SMI;

	if (!(cqe->flags & VHCA_CQE_F_RQ) || cqe->status != VHCA_CS_SUCCESS ||
	    (cqe->opcode == VHCA_CQE_RECV_WRITE_IMM && !datagrams))
		return 0;
	return le32_to_cpu(cqe->byte_len);
}

/* Finds the request that ends at the reported count; the requests before it are completed. */
static bool complete_wr(const struct vhca_qp *qp, struct vhca_wq *wq, const struct vhca_cqe *cqe,
			struct ib_wc *wc)
{
	u64 head = vhca_wq_head(wq);
	u64 end = vhca_ring_widen(wq->tail, le32_to_cpu(cqe->wqe_index));
	u32 len = received(qp, cqe);
	u64 pos = wq->tail;
	struct vhca_wr *wr = NULL;

	if (!vhca_ring_pending(end, head, pos))
		return false;
	while (pos < end) {
		wr = &wq->wrs[vhca_ring_slot(pos, wq->ring.log)];
		pos += wr->nslots;
	}
	if (pos != end || len > wr->room)
		return false;
	wc->wr_id = wr->wr_id;
	wc->opcode = wr->opcode;
	vhca_wq_finish(wq, end);
	return true;
}

/* Finds the receive of an SRQ by the number of its record, which the device has returned. */
static bool complete_srq_wr(struct vhca_qp *qp, const struct vhca_cqe *cqe, struct ib_wc *wc)
{
	wc->opcode = IB_WC_RECV;
	return vhca_srq_ring_finish(to_vsrq(qp->ibqp.srq)->kernel, le64_to_cpu(cqe->wr_id),
				    received(qp, cqe), &wc->wr_id);
}

/* Fills in fields of a datagram's Ethernet frame, from which a reply address is made. */
static void fill_frame(struct ib_wc *wc, const struct vhca_cqe *cqe)
{
	u16 tag = le16_to_cpu(cqe->vlan);

	wc->wc_flags |= IB_WC_WITH_SMAC;
	memcpy(wc->smac, cqe->smac, sizeof(wc->smac));
	if (cqe->flags & VHCA_CQE_F_GRH) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->flags & VHCA_CQE_F_IPV4 ? RDMA_NETWORK_IPV4 :
								      RDMA_NETWORK_IPV6;
	}
	if (cqe->flags & VHCA_CQE_F_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = tag & VLAN_VID_MASK;
		wc->sl = tag >> VLAN_PRIO_SHIFT;
	}
}

static void fill_recv(const struct vhca_dev *dev, struct ib_wc *wc, const struct vhca_cqe *cqe)
{
	wc->opcode = cqe->opcode == VHCA_CQE_RECV_WRITE_IMM ? IB_WC_RECV_RDMA_WITH_IMM :
							      IB_WC_RECV;
	wc->src_qp = le32_to_cpu(cqe->src_qpn);
	wc->slid = le16_to_cpu(cqe->slid);
	wc->pkey_index = le16_to_cpu(cqe->pkey_index);
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
	wc->port_num = cqe->port;
	if (cqe->flags & VHCA_CQE_F_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm;
	} else if (cqe->flags & VHCA_CQE_F_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = le32_to_cpu(cqe->inv_key);
	}
	if (cqe->flags & VHCA_CQE_F_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (cqe->more_flags & VHCA_CQE_X_CSUM_OK)
		wc->wc_flags |= IB_WC_IP_CSUM_OK;
	if (vhca_port_is_eth(dev, cqe->port))
		fill_frame(wc, cqe);
}

/* Converts an entry to a work completion; false if it has to be dropped. */
static bool take_cqe(struct vhca_cq *cq, const struct vhca_cqe *cqe, struct ib_wc *wc)
{
	struct vhca_dev *dev = to_vdev(cq->ibcq.device);
	u32 qpn = le32_to_cpu(cqe->qpn);
	bool recv = cqe->flags & VHCA_CQE_F_RQ;
	struct vhca_qp *qp;
	struct vhca_wq *wq;

	if (qpn == VHCA_QPN_NONE)
		return false;
	qp = xa_load(&cq->kernel->qps, vhca_qp_id(cqe->port, qpn));
	if (!qp)
		return false;
	if ((recv ? qp->ibqp.recv_cq : qp->ibqp.send_cq) != &cq->ibcq)
		goto nonsense;
	wq = recv ? &qp->kernel->rq : &qp->kernel->sq;

	memset(wc, 0, sizeof(*wc));
	if (recv && qp->ibqp.srq ? !complete_srq_wr(qp, cqe, wc) :
				   !complete_wr(qp, wq, cqe, wc))
		goto nonsense;
	wc->qp = &qp->ibqp;
	wc->status = wc_status(cqe->status);
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = le32_to_cpu(cqe->byte_len);
	if (recv)
		fill_recv(dev, wc, cqe);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		vhca_qp_broken(qp);
	return true;

nonsense:
	/* It is unknown which requests of the QP have completed: all of them will be flushed. */
	if (vhca_hw_kill(&dev->hw, "it completed what a QP was not asked to do"))
		dev_err(dev->hw.dev,
			"CQ %u: QP %#x, status %u, opcode %u, flags %#x, request %u, %u bytes\n",
			cq->cqn, qpn, cqe->status, cqe->opcode, cqe->flags,
			le32_to_cpu(cqe->wqe_index), le32_to_cpu(cqe->byte_len));
	return false;
}

/**
 * vhca_poll_cq() - ib_device_ops.poll_cq
 * @ibcq: completion queue of the kernel's
 * @n: room at @wc, in completions
 * @wc: the completions, filled in from the start
 *
 * Context: any.
 * Return: number of completions, 0 to @n.
 */
int vhca_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	struct vhca_cq_kernel *k = cq->kernel;
	struct vhca_dev *dev = to_vdev(ibcq->device);
	struct vhca_cqe copy;
	unsigned long flags;
	int got = 0;
	u64 start;

	spin_lock_irqsave(&k->lock, flags);
	start = k->ci;
	/* At most one lap: a device that keeps writing invalid entries must not hold the CPU. */
	while (got < n && !k->moving && k->ci - start < vhca_ring_entries(&k->ring) &&
	       vhca_cq_pending(cq, k->ci)) {
		/* The device wrote the owner after the rest of the entry. */
		dma_rmb();
		copy = *vhca_cq_entry(cq, k->ci);
		k->ci++;
		got += take_cqe(cq, &copy, &wc[got]);
	}
	if (k->ci != start)
		vhca_db_store(&cq->db, 0, k->ci);
	if (unlikely(got < n && !k->moving && completion_done(&dev->hw.stopped) &&
		     !vhca_cq_pending(cq, k->ci))) {
		got += vhca_cq_flush(cq, n - got, wc + got);
		if (!got)
			vhca_cq_settle(cq);
	}
	spin_unlock_irqrestore(&k->lock, flags);
	return got;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_poll_cq);

/**
 * vhca_cq_waiting() - count the unpolled completions
 * @cq: the CQ; its lock is held
 * @max: maximum of the result
 *
 * Context: the CQ's lock is held.
 * Return: 0 to @max.
 */
unsigned int vhca_cq_waiting(struct vhca_cq *cq, unsigned int max)
{
	struct vhca_cq_kernel *k = cq->kernel;
	unsigned int n = 0;
	u64 count = k->ci;

	for (; n < max && count - k->ci < vhca_ring_entries(&k->ring); count++) {
		if (!vhca_cq_pending(cq, count))
			break;
		/* The device wrote the owner after the rest of the entry. */
		dma_rmb();
		n += le32_to_cpu(READ_ONCE(vhca_cq_entry(cq, count)->qpn)) != VHCA_QPN_NONE;
	}
	return n;
}

/**
 * vhca_peek_cq() - ib_device_ops.peek_cq
 * @ibcq: completion queue of the kernel's
 * @n: maximum of the result
 *
 * Context: any.
 * Return: completions that a poll would find now, 0 to @n.
 */
int vhca_peek_cq(struct ib_cq *ibcq, int n)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	unsigned long flags;
	int found = 0;

	spin_lock_irqsave(&cq->kernel->lock, flags);
	if (!cq->kernel->moving)
		found = vhca_cq_waiting(cq, n);
	spin_unlock_irqrestore(&cq->kernel->lock, flags);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_peek_cq);

/* Is the last arming for any completion still in effect? */
static bool any_waits(struct vhca_cq *cq)
{
	struct vhca_cq_kernel *k = cq->kernel;

	return k->any_seq && k->any_at >= k->ci && (k->moving || !vhca_cq_pending(cq, k->any_at));
}

/* Arms the CQ for @n unpolled completions, unless it is still armed for an earlier entry. */
static void arm_any(struct vhca_cq *cq, unsigned int n)
{
	struct vhca_cq_kernel *k = cq->kernel;
	u64 at = k->ci + n - 1;

	if (at <= k->any_at || !any_waits(cq))
		k->any_at = at;
	WRITE_ONCE(k->seq, vhca_arm_next_seq(k->seq));
	k->any_seq = k->seq;
	k->any_ci = k->ci;
	vhca_db_arm(&cq->db, k->any_at, 0, k->seq);
}

/*
 * An arming for any completion is in effect until the device has raised its event, which only the
 * device knows. Therefore the record has the distance to that arming, as long as that fits.
 */
static void arm_solicited(struct vhca_cq *cq)
{
	struct vhca_cq_kernel *k = cq->kernel;
	u32 seq = vhca_arm_next_seq(k->seq);
	u32 since = k->any_seq ? (seq - k->any_seq) & VHCA_ARM_SEQ_MASK : 0;

	if (since > VHCA_ARM_SINCE_MASK) {
		/* No completion was polled since, so arm for any completion again. */
		if (k->ci == k->any_ci) {
			arm_any(cq, 1);
			return;
		}
		k->any_seq = 0;
		since = 0;
	}
	WRITE_ONCE(k->seq, seq);
	vhca_db_arm(&cq->db, k->ci, VHCA_ARM_SOLICITED | (u64)since << VHCA_ARM_SINCE_SHIFT, seq);
}

/*
 * Called after the CQ was armed for @n completions; returns true if there are as many already.
 * While the ring is being replaced nothing can be polled; the consumer is called afterwards.
 */
static bool look_behind_arm(struct vhca_cq *cq, unsigned int n)
{
	struct vhca_cq_kernel *k = cq->kernel;

	if (!k->moving)
		return vhca_cq_waiting(cq, n) == n;
	k->asked = min_not_zero(k->asked, n);
	return false;
}

/**
 * vhca_req_notify_cq() - ib_device_ops.req_notify_cq
 * @ibcq: completion queue of the kernel's
 * @notify: which completion raises the event, and whether to report missed ones
 *
 * A request for solicited completions does not cancel an earlier request for any completion whose
 * event is still due.
 *
 * Context: any.
 * Return: 0; 1 if IB_CQ_REPORT_MISSED_EVENTS is set and a poll might find something.
 */
int vhca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	struct vhca_cq_kernel *k = cq->kernel;
	struct vhca_dev *dev = to_vdev(ibcq->device);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&k->lock, flags);
	if ((notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		arm_solicited(cq);
	else
		arm_any(cq, 1);
	ret = look_behind_arm(cq, 1) && notify & IB_CQ_REPORT_MISSED_EVENTS;
	spin_unlock_irqrestore(&k->lock, flags);
	if (unlikely(vhca_hw_dead(&dev->hw)))
		vhca_cq_armed_dead(cq);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_req_notify_cq);

/**
 * vhca_req_ncomp_notif() - rdma_ext_ops.req_ncomp_notif
 * @ibcq: completion queue of the kernel's
 * @n: number of unpolled completions at which the event is raised, 1 to the size of the queue
 *
 * If an event for fewer completions was requested before and is still due, only that event is
 * raised.
 *
 * Context: any.
 * Return: 0; 1 if there are as many already.
 */
int vhca_req_ncomp_notif(struct ib_cq *ibcq, int n)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&cq->kernel->lock, flags);
	arm_any(cq, n);
	ret = look_behind_arm(cq, n);
	spin_unlock_irqrestore(&cq->kernel->lock, flags);
	if (unlikely(vhca_hw_dead(&to_vdev(ibcq->device)->hw)))
		vhca_cq_armed_dead(cq);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_req_ncomp_notif);

/* Removes a QP from a CQ's table; polls that have found it still hold the CQ's lock. */
static void forget_qp(struct vhca_cq_kernel *k, struct vhca_qp *qp)
{
	/* A new QP with the same number may be in the table already. */
	xa_cmpxchg(&k->qps, qp->id, qp, NULL, 0);
}

/**
 * vhca_cq_attach_qp() - add a kernel QP to the tables of its CQs
 * @qp: the QP
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int vhca_cq_attach_qp(struct vhca_qp *qp)
{
	struct vhca_cq_kernel *send = to_vcq(qp->ibqp.send_cq)->kernel;
	struct vhca_cq_kernel *recv = to_vcq(qp->ibqp.recv_cq)->kernel;
	int err;

	err = xa_err(xa_store(&send->qps, qp->id, qp, GFP_KERNEL));
	if (err)
		return err;
	err = xa_err(xa_store(&recv->qps, qp->id, qp, GFP_KERNEL));
	if (err) {
		forget_qp(send, qp);
		/* A poll may use the QP already, if a faulty device has named it. */
		spin_lock_irq(&send->lock);
		spin_unlock_irq(&send->lock);
		return err;
	}

	spin_lock_irq(&send->lock);
	list_add_tail(&qp->kernel->sq.link, &send->senders);
	spin_unlock_irq(&send->lock);
	spin_lock_irq(&recv->lock);
	list_add_tail(&qp->kernel->rq.link, &recv->receivers);
	spin_unlock_irq(&recv->lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_attach_qp);

/*
 * Called with the CQ's lock held: marks the unpolled entries of a QP, so that they are dropped. For
 * receives of its SRQ the records are freed.
 */
static void disown_cqes(struct vhca_cq *cq, struct vhca_qp *qp)
{
	struct vhca_cq_kernel *k = cq->kernel;
	struct vhca_cqe *entry, copy;
	u64 ignored;

	for (u64 count = k->ci; count - k->ci < vhca_ring_entries(&k->ring); count++) {
		if (!vhca_cq_pending(cq, count))
			break;
		/* The device wrote the owner after the rest of the entry. */
		dma_rmb();
		entry = vhca_cq_entry(cq, count);
		copy = *entry;
		if (vhca_qp_id(copy.port, le32_to_cpu(copy.qpn)) != qp->id)
			continue;
		WRITE_ONCE(entry->qpn, cpu_to_le32(VHCA_QPN_NONE));
		if (qp->ibqp.srq && copy.flags & VHCA_CQE_F_RQ)
			vhca_srq_ring_finish(to_vsrq(qp->ibqp.srq)->kernel,
					     le64_to_cpu(copy.wr_id), 0, &ignored);
	}
}

/**
 * vhca_cq_purge_qp() - drop the unpolled completions of a kernel QP
 * @qp: the QP, which completes nothing any more
 * @detach: the QP is being destroyed
 *
 * Context: may sleep.
 */
void vhca_cq_purge_qp(struct vhca_qp *qp, bool detach)
{
	struct vhca_cq *send = to_vcq(qp->ibqp.send_cq);
	struct vhca_cq *recv = to_vcq(qp->ibqp.recv_cq);

	if (detach) {
		forget_qp(send->kernel, qp);
		forget_qp(recv->kernel, qp);
	}
	/* While a ring is being replaced, its entries are in two rings. */
	mutex_lock(&send->resize);
	spin_lock_irq(&send->kernel->lock);
	disown_cqes(send, qp);
	if (detach)
		list_del(&qp->kernel->sq.link);
	else
		vhca_wq_reset(&qp->kernel->sq);
	vhca_cq_settle(send);
	spin_unlock_irq(&send->kernel->lock);
	mutex_unlock(&send->resize);

	mutex_lock(&recv->resize);
	spin_lock_irq(&recv->kernel->lock);
	disown_cqes(recv, qp);
	if (detach)
		list_del(&qp->kernel->rq.link);
	else
		vhca_wq_reset(&qp->kernel->rq);
	vhca_cq_settle(recv);
	spin_unlock_irq(&recv->kernel->lock);
	mutex_unlock(&recv->resize);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_purge_qp);
