// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queue entries from guest memory.
 *
 * An entry is copied once and only the copy is looked at.  Entries of requests
 * under way are read again when their gather list is needed again; whoever
 * does that compares with what the request was when it was taken.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "engine/core.h"
#include "engine/rc.h"

#define KNOWN_FLAGS	(VHCA_WQE_SIGNALED | VHCA_WQE_SOLICITED | VHCA_WQE_FENCE | VHCA_WQE_INLINE)

/* What an opcode's entry holds. */
#define E_KNOWN		(1u << 0)
#define E_RADDR		(1u << 1)
#define E_DATA		(1u << 2)
#define E_INLINE	(1u << 3)	/* data may be inline */
#define E_ANSWER	(1u << 4)	/* wants an answer: reliable connections alone */

static const u8 entry_kind[256] = {
	[VHCA_OP_NOP]		= E_KNOWN,
	[VHCA_OP_SEND]		= E_KNOWN | E_DATA | E_INLINE,
	[VHCA_OP_SEND_IMM]	= E_KNOWN | E_DATA | E_INLINE,
	[VHCA_OP_WRITE]		= E_KNOWN | E_RADDR | E_DATA | E_INLINE,
	[VHCA_OP_WRITE_IMM]	= E_KNOWN | E_RADDR | E_DATA | E_INLINE,
	[VHCA_OP_READ]		= E_KNOWN | E_RADDR | E_DATA | E_ANSWER,
};

static bool all_zero(const u8 *p, u32 n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* Copies bytes of a ring, past its end to its start. */
static int ring_read(struct guest_mem *mem, struct vring *r, u32 off, u8 *dst, u32 len)
{
	while (len) {
		u32 at, n;

		if (vring_at(mem, r, off, &at))
			return -EFAULT;
		n = MIN(len, r->winlen - (off - r->win));
		if (dma_ref_read(&r->ref, at, dst, n))
			return -EFAULT;
		dst += n;
		len -= n;
		off = (off + n) & (r->bytes - 1);
	}
	return 0;
}

static u64 take_sges(const u8 *raw, u32 n, struct sge *sge)
{
	u64 len = 0;

	for (u32 i = 0; i < n; i++) {
		struct vhca_sge s;

		memcpy(&s, raw + i * sizeof(s), sizeof(s));
		sge[i].addr = le64toh(s.addr);
		sge[i].len = le32toh(s.length);
		sge[i].key = le32toh(s.lkey);
		len += sge[i].len;
	}
	return len;
}

/* Can a QP of this type do this? */
static bool type_has(u8 type, u8 kind)
{
	switch (type) {
	case VHCA_QPT_UD:
		return !(kind & E_RADDR);
	case VHCA_QPT_UC:
		return !(kind & E_ANSWER);
	default:
		return true;
	}
}

/* The address of a datagram. */
static int parse_ud(const struct vqp *qp, const u8 *raw, struct send_wqe *w)
{
	struct vhca_wqe_ud ud;

	memcpy(&ud, raw, sizeof(ud));
	w->av = ud.av;
	w->dqpn = le32toh(ud.dqpn);
	w->qkey = le32toh(ud.qkey);
	if (ud.rsvd || w->dqpn >> QPN_BITS ||
	    av_check(&w->av, qp->attr.port, true) != AV_GOOD)
		return VHCA_CS_LOC_QP_OP_ERR;
	return VHCA_CS_SUCCESS;
}

/* A datagram is one packet. */
static int check_len(const struct vqp *qp, const struct send_wqe *w)
{
	u32 most = qp->type == VHCA_QPT_UD ? qp->mtu : VDEV_MAX_MSG;

	return w->len > most ? VHCA_CS_LOC_LEN_ERR : VHCA_CS_SUCCESS;
}

static int parse_send(const struct vqp *qp, const struct vhca_wqe_ctrl *ctrl, struct send_wqe *w)
{
	u8 kind = entry_kind[w->opcode];
	u32 at = sizeof(*ctrl), have = w->nblk * VHCA_WQE_BLOCK;
	u32 inline_len = le32toh(ctrl->inline_len);

	if (!kind || !type_has(qp->type, kind) || w->flags & ~KNOWN_FLAGS ||
	    le32toh(ctrl->index) != w->blk || !all_zero(ctrl->rsvd, sizeof(ctrl->rsvd)))
		return VHCA_CS_LOC_QP_OP_ERR;
	if (qp->type == VHCA_QPT_UD && kind & E_DATA) {
		if (have < at + sizeof(struct vhca_wqe_ud) || parse_ud(qp, w->raw + at, w))
			return VHCA_CS_LOC_QP_OP_ERR;
		at += sizeof(struct vhca_wqe_ud);
	}
	if (kind & E_RADDR) {
		struct vhca_wqe_raddr r;

		if (have < at + sizeof(r))
			return VHCA_CS_LOC_QP_OP_ERR;
		memcpy(&r, w->raw + at, sizeof(r));
		if (r.rsvd)
			return VHCA_CS_LOC_QP_OP_ERR;
		w->raddr = le64toh(r.addr);
		w->rkey = le32toh(r.rkey);
		at += sizeof(r);
	}
	if (w->flags & VHCA_WQE_INLINE) {
		if (!(kind & E_INLINE) || ctrl->nsge || inline_len > qp->max_inline ||
		    inline_len > have - at)
			return VHCA_CS_LOC_QP_OP_ERR;
		w->data = w->raw + at;
		w->len = inline_len;
		return check_len(qp, w);
	}
	if (inline_len || ctrl->nsge > VDEV_MAX_SGE || (ctrl->nsge && !(kind & E_DATA)) ||
	    ctrl->nsge * sizeof(struct vhca_sge) > have - at)
		return VHCA_CS_LOC_QP_OP_ERR;
	w->nsge = ctrl->nsge;
	w->len = take_sges(w->raw + at, w->nsge, w->sge);
	return check_len(qp, w);
}

int wqe_load_send(struct vqp *qp, u32 blk, u32 prod, struct send_wqe *w)
{
	u32 blocks = 1u << qp->log_sq, off = (blk & (blocks - 1)) * VHCA_WQE_BLOCK;
	struct guest_mem *mem = qp->dev->mem;
	struct vhca_wqe_ctrl ctrl;

	w->qp = NULL;
	if (ring_read(mem, &qp->sq, off, w->raw, VHCA_WQE_BLOCK))
		return -EFAULT;
	memcpy(&ctrl, w->raw, sizeof(ctrl));
	w->blk = blk;
	w->opcode = ctrl.opcode;
	w->flags = ctrl.flags;
	w->imm = ctrl.imm;
	w->wr_id = le64toh(ctrl.wr_id);
	w->nblk = 1;
	w->nsge = 0;
	w->raddr = 0;
	w->rkey = 0;
	w->len = 0;
	w->data = NULL;
	if (!ctrl.nblk || ctrl.nblk > VHCA_WQE_MAX_BLOCKS || ctrl.nblk > prod - blk)
		return VHCA_CS_LOC_QP_OP_ERR;
	w->nblk = ctrl.nblk;
	if (w->nblk > 1 &&
	    ring_read(mem, &qp->sq, (off + VHCA_WQE_BLOCK) & (qp->sq.bytes - 1),
		      w->raw + VHCA_WQE_BLOCK, (w->nblk - 1) * VHCA_WQE_BLOCK))
		return -EFAULT;
	w->qp = qp;
	return parse_send(qp, &ctrl, w);
}

int wqe_load_recv(struct guest_mem *mem, struct vring *r, u32 log_stride, u32 index,
		  struct recv_wqe *w)
{
	u32 stride = 1u << log_stride, off = (index << log_stride) & (r->bytes - 1);
	u8 raw[1u << VDEV_LOG_MAX_STRIDE];
	struct vhca_rwqe head;

	w->qp = NULL;
	if (ring_read(mem, r, off, raw, sizeof(head)))
		return -EFAULT;
	memcpy(&head, raw, sizeof(head));
	w->index = index;
	w->wr_id = le64toh(head.wr_id);
	w->nsge = 0;
	w->len = 0;
	if (le32toh(head.index) != index || !all_zero(head.rsvd, sizeof(head.rsvd)) ||
	    head.nsge > VDEV_MAX_SGE || VHCA_RWQE_SIZE(head.nsge) > stride)
		return VHCA_CS_LOC_QP_OP_ERR;
	if (head.nsge && ring_read(mem, r, off + sizeof(head), raw,
				   head.nsge * sizeof(struct vhca_sge)))
		return -EFAULT;
	w->nsge = head.nsge;
	w->len = take_sges(raw, w->nsge, w->sge);
	return VHCA_CS_SUCCESS;
}

void wqe_forget(const struct vqp *qp)
{
	struct engine *e = qp->dev->engine;

	if (e->tx_wqe.qp == qp)
		e->tx_wqe.qp = NULL;
	if (e->rd_wqe.qp == qp)
		e->rd_wqe.qp = NULL;
	if (e->rx_wqe.qp == qp)
		e->rx_wqe.qp = NULL;
}
