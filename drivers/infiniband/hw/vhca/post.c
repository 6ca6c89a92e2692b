// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's requests.
 *
 * Segments of a send request begin at multiples of 16 bytes. Only a datagram's address and inline
 * data can span blocks; they are copied piece by piece across the ring's end and the ring's pieces.
 */
#include <linux/overflow.h>
#include <kunit/visibility.h>

#include "ring.h"
#include "verbs.h"

#define SEG_UNIT	sizeof(struct vhca_sge)
static_assert(sizeof(struct vhca_wqe_ctrl) % SEG_UNIT == 0);
static_assert(sizeof(struct vhca_wqe_raddr) == SEG_UNIT);
static_assert(sizeof(struct vhca_wqe_ud) % SEG_UNIT == 0);

/* Where the next bytes of a request go. */
struct wqe_writer {
	struct vhca_wq *wq;
	u64 slot;	/* count of the block */
	u32 offset;	/* in the block */
};

static void *writer_at(struct wqe_writer *w)
{
	return vhca_kbuf_at(&w->wq->ring,
			    vhca_ring_slot(w->slot, w->wq->log) * VHCA_WQE_BLOCK + w->offset);
}

static void writer_skip(struct wqe_writer *w, u32 n)
{
	w->offset += n;
	w->slot += w->offset / VHCA_WQE_BLOCK;
	w->offset %= VHCA_WQE_BLOCK;
}

static void write_sge(struct wqe_writer *w, const struct ib_sge *sge)
{
	struct vhca_sge *seg = writer_at(w);

	seg->addr = cpu_to_le64(sge->addr);
	seg->length = cpu_to_le32(sge->length);
	seg->lkey = cpu_to_le32(sge->lkey);
	writer_skip(w, sizeof(*seg));
}

static void write_bytes(struct wqe_writer *w, const void *data, u32 len)
{
	u32 n;

	while (len) {
		n = min_t(u32, len, VHCA_WQE_BLOCK - w->offset);
		memcpy(writer_at(w), data, n);
		writer_skip(w, n);
		data += n;
		len -= n;
	}
}

#define RC	BIT(IB_QPT_RC)
#define UC	BIT(IB_QPT_UC)
#define UD	BIT(IB_QPT_UD)

/* What a verbs operation is to the device and in its completion, and which QPs have it. */
struct send_op {
	u8 opcode;
	u8 wc_opcode;
	u8 types;
	bool remote;
	bool imm;
	bool inlines;
};

static const struct send_op send_ops[] = {
	[IB_WR_SEND] = { VHCA_OP_SEND, IB_WC_SEND, RC | UC | UD, false, false, true },
	[IB_WR_SEND_WITH_IMM] = { VHCA_OP_SEND_IMM, IB_WC_SEND, RC | UC | UD, false, true, true },
	[IB_WR_RDMA_WRITE] = { VHCA_OP_WRITE, IB_WC_RDMA_WRITE, RC | UC, true, false, true },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { VHCA_OP_WRITE_IMM, IB_WC_RDMA_WRITE, RC | UC, true, true,
					true },
	[IB_WR_RDMA_READ] = { VHCA_OP_READ, IB_WC_RDMA_READ, RC, true, false, false },
};

/* The core drains a queue of any type by a WRITE behind the last request, to see it flushed. */
static const struct send_op drain_op = { VHCA_OP_NOP, IB_WC_RDMA_WRITE, UD };

static const struct send_op *find_op(const struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	const struct send_op *op;

	if (wr->opcode >= ARRAY_SIZE(send_ops) || !send_ops[wr->opcode].opcode)
		return NULL;
	op = &send_ops[wr->opcode];
	if (op->types & BIT(qp->ibqp.qp_type))
		return op;
	if (wr->opcode == IB_WR_RDMA_WRITE && !wr->num_sge && READ_ONCE(qp->kernel->broken))
		return &drain_op;
	return NULL;
}

/* Bytes of the segment that says where requests of a type of QP go, at most. */
static size_t address_size(enum ib_qp_type type)
{
	return type == IB_QPT_UD ? sizeof(struct vhca_wqe_ud) : sizeof(struct vhca_wqe_raddr);
}

/**
 * vhca_send_wqe_blocks - ring blocks of a send request
 * @type: type of the QP
 * @nsge: gather entries
 * @inline_len: inline bytes
 *
 * Return: blocks that hold either; more than VHCA_WQE_MAX_BLOCKS: there is no such request.
 */
u32 vhca_send_wqe_blocks(enum ib_qp_type type, u32 nsge, u32 inline_len)
{
	size_t payload = max_t(size_t, nsge * sizeof(struct vhca_sge), inline_len);

	return DIV_ROUND_UP(sizeof(struct vhca_wqe_ctrl) + address_size(type) + payload,
			    VHCA_WQE_BLOCK);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_send_wqe_blocks);

/**
 * vhca_wq_reset - forget everything that was posted
 * @wq: queue of a QP in the RESET state; the CQ's lock is held
 */
void vhca_wq_reset(struct vhca_wq *wq)
{
	wq->head = 0;
	wq->tail = 0;
}

static int inline_size(const struct ib_send_wr *wr, u32 max, u32 *len)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		if (check_add_overflow(sum, wr->sg_list[i].length, &sum))
			return -EINVAL;
	if (sum > max)
		return -EINVAL;
	*len = sum;
	return 0;
}

static void write_payload(struct wqe_writer *w, const struct ib_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->send_flags & IB_SEND_INLINE)
			write_bytes(w, (void *)(uintptr_t)wr->sg_list[i].addr,
				    wr->sg_list[i].length);
		else
			write_sge(w, &wr->sg_list[i]);
	}
}

static void write_raddr(struct wqe_writer *w, const struct ib_rdma_wr *wr)
{
	struct vhca_wqe_raddr *raddr = writer_at(w);

	raddr->addr = cpu_to_le64(wr->remote_addr);
	raddr->rkey = cpu_to_le32(wr->rkey);
	raddr->rsvd = 0;
	writer_skip(w, sizeof(*raddr));
}

static void write_ud(struct wqe_writer *w, const struct ib_ud_wr *wr)
{
	struct vhca_wqe_ud ud = {
		.av = to_vah(wr->ah)->av,
		.dqpn = cpu_to_le32(wr->remote_qpn),
		.qkey = cpu_to_le32(wr->remote_qkey),
	};

	write_bytes(w, &ud, sizeof(ud));
}

/* Write one request behind the last one; the caller rings. */
static int put_send(struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	const struct send_op *op = find_op(qp, wr);
	struct vhca_wq *sq = &qp->kernel->sq;
	struct wqe_writer w = { .wq = sq, .slot = sq->head };
	struct vhca_wqe_ctrl *ctrl;
	bool inl = wr->send_flags & IB_SEND_INLINE;
	u32 len = 0, bytes, nblk;
	struct vhca_wr *note;
	bool ud;

	if (!op || wr->num_sge < 0 || wr->num_sge > sq->max_sge || (inl && !op->inlines) ||
	    wr->send_flags & IB_SEND_IP_CSUM)
		return -EINVAL;
	if (inl && inline_size(wr, sq->max_inline, &len))
		return -EINVAL;
	ud = qp->ibqp.qp_type == IB_QPT_UD && op != &drain_op;
	if (ud && !ud_wr(wr)->ah)
		return -EINVAL;
	bytes = sizeof(*ctrl) + (op->remote || ud ? address_size(qp->ibqp.qp_type) : 0) +
		(inl ? len : wr->num_sge * sizeof(struct vhca_sge));
	nblk = DIV_ROUND_UP(bytes, VHCA_WQE_BLOCK);
	if (vhca_ring_room(sq->head, vhca_wq_tail(sq), sq->log) < nblk)
		return -ENOMEM;

	ctrl = writer_at(&w);
	*ctrl = (struct vhca_wqe_ctrl) {
		.opcode = op->opcode,
		.flags = (wr->send_flags & IB_SEND_SIGNALED ? VHCA_WQE_SIGNALED : 0) |
			 (wr->send_flags & IB_SEND_SOLICITED ? VHCA_WQE_SOLICITED : 0) |
			 (wr->send_flags & IB_SEND_FENCE ? VHCA_WQE_FENCE : 0) |
			 (inl ? VHCA_WQE_INLINE : 0),
		.nblk = nblk,
		.nsge = inl ? 0 : wr->num_sge,
		.imm = op->imm ? wr->ex.imm_data : 0,
		.wr_id = cpu_to_le64(wr->wr_id),
		.index = cpu_to_le32(sq->head),
		.inline_len = cpu_to_le32(len),
	};
	writer_skip(&w, sizeof(*ctrl));
	if (ud)
		write_ud(&w, ud_wr(wr));
	else if (op->remote)
		write_raddr(&w, rdma_wr(wr));
	write_payload(&w, wr);

	note = &sq->wrs[vhca_ring_slot(sq->head, sq->log)];
	note->wr_id = wr->wr_id;
	note->opcode = op->wc_opcode;
	note->nslots = nblk;
	vhca_wq_post(sq, nblk);
	return 0;
}

/**
 * vhca_post_send - ib_device_ops.post_send
 * @ibqp: queue pair of the kernel's
 * @wr: list of requests
 * @bad_wr: the first request that was not posted, on error; those before it were
 *
 * Context: any.
 * Return: 0, -EINVAL for a request the QP cannot carry, -ENOMEM when the send queue is full.
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
		err = put_send(qp, wr);
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
 * vhca_write_rwqe - write an entry of a receive ring
 * @rwqe: the entry
 * @wr: the request
 * @id: what its completion will carry
 * @count: the entry's count
 */
void vhca_write_rwqe(struct vhca_rwqe *rwqe, const struct ib_recv_wr *wr, u64 id, u64 count)
{
	struct vhca_sge *seg = (void *)(rwqe + 1);
	int i;

	*rwqe = (struct vhca_rwqe) {
		.wr_id = cpu_to_le64(id),
		.index = cpu_to_le32(count),
		.nsge = wr->num_sge,
	};
	for (i = 0; i < wr->num_sge; i++, seg++) {
		seg->addr = cpu_to_le64(wr->sg_list[i].addr);
		seg->length = cpu_to_le32(wr->sg_list[i].length);
		seg->lkey = cpu_to_le32(wr->sg_list[i].lkey);
	}
}

static int put_recv(struct vhca_wq *rq, const struct ib_recv_wr *wr)
{
	struct vhca_wr *note;
	u32 slot;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (!vhca_ring_room(rq->head, vhca_wq_tail(rq), rq->log))
		return -ENOMEM;

	slot = vhca_ring_slot(rq->head, rq->log);
	vhca_write_rwqe(vhca_kbuf_at(&rq->ring, (size_t)slot * rq->stride), wr, wr->wr_id,
			rq->head);
	note = &rq->wrs[slot];
	note->wr_id = wr->wr_id;
	note->opcode = IB_WC_RECV;
	note->nslots = 1;
	vhca_wq_post(rq, 1);
	return 0;
}

/**
 * vhca_qp_broken - note that a kernel QP is in the error state
 * @qp: the QP
 *
 * The device looks at receives when it needs one, which it does not in the error state: it has to
 * be told, of those it may have missed and of every later one, so that it flushes them. Any
 * context; may be called with a CQ's lock held.
 */
void vhca_qp_broken(struct vhca_qp *qp)
{
	struct vhca_wq *rq = &qp->kernel->rq;
	unsigned long flags;

	if (READ_ONCE(qp->kernel->broken))
		return;
	spin_lock_irqsave(&rq->lock, flags);
	qp->kernel->broken = true;
	if (!qp->ibqp.srq)
		vhca_db_ring(&qp->db, 1, rq->head);
	spin_unlock_irqrestore(&rq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_qp_broken);

/**
 * vhca_post_recv - ib_device_ops.post_recv
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
