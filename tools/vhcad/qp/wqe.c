// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queue entries from guest memory.
 *
 * An entry is copied once and only the copy is used.  Entries of requests
 * under way are read again when their gather list is needed again, and are
 * compared then with what the request was when it was taken.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "qp/complete.h"
#include "qp/path.h"
#include "qp/scratch.h"

#define KNOWN_FLAGS	(VHCA_WQE_SIGNALED | VHCA_WQE_SOLICITED | VHCA_WQE_FENCE | VHCA_WQE_INLINE)

/* The segments of an opcode's entry. */
#define E_RADDR		(1u << 0)
#define E_DATA		(1u << 1)
#define E_INLINE	(1u << 2)	/* data may be inline */
#define E_ATOMIC	(1u << 3)
#define E_FLUSH		(1u << 4)
#define E_BIND		(1u << 5)
#define E_REG		(1u << 6)
#define E_ONE		(1u << 7)	/* exactly one scatter entry */
#define E_WORD		(1u << 8)	/* eight bytes */
#define E_LSO		(1u << 9)

#define SPECIAL		(1u << VHCA_QPT_SMI | 1u << VHCA_QPT_GSI)
#define RC		(1u << VHCA_QPT_RC)
#define UC		(1u << VHCA_QPT_UC)
#define UD		(1u << VHCA_QPT_UD)
#define INI		(1u << VHCA_QPT_XRC_INI)
#define CONN		(RC | INI)

/* The bits of an SRQ number in a packet. */
#define SRQN_BITS	24u

#define CAP(name)	(1ull << VHCA_CAP_##name)

static const struct entry {
	u16 types;		/* of QPs that have it */
	u16 holds;
	u64 caps;		/* that an opcode needs */
} entries[] = {
	[VHCA_OP_NOP]		= { CONN | UC | UD | SPECIAL },
	[VHCA_OP_SEND]		= { CONN | UC | UD | SPECIAL, E_DATA | E_INLINE },
	[VHCA_OP_SEND_IMM]	= { CONN | UC | UD, E_DATA | E_INLINE },
	[VHCA_OP_SEND_INV]	= { CONN, E_DATA | E_INLINE, CAP(FAST_REG) },
	[VHCA_OP_WRITE]		= { CONN | UC, E_RADDR | E_DATA | E_INLINE },
	[VHCA_OP_WRITE_IMM]	= { CONN | UC, E_RADDR | E_DATA | E_INLINE },
	[VHCA_OP_READ]		= { CONN, E_RADDR | E_DATA },
	[VHCA_OP_READ_INV]	= { CONN, E_RADDR | E_DATA | E_ONE, CAP(FAST_REG) },
	[VHCA_OP_CMP_SWAP]	= { CONN, E_RADDR | E_ATOMIC | E_DATA | E_ONE | E_WORD,
				    CAP(ATOMIC) },
	[VHCA_OP_FETCH_ADD]	= { CONN, E_RADDR | E_ATOMIC | E_DATA | E_ONE | E_WORD,
				    CAP(ATOMIC) },
	[VHCA_OP_MASKED_CMP_SWAP] = { RC, E_RADDR | E_ATOMIC | E_DATA | E_ONE | E_WORD,
				    CAP(MASKED_ATOMIC) },
	[VHCA_OP_MASKED_FETCH_ADD] = { RC, E_RADDR | E_ATOMIC | E_DATA | E_ONE | E_WORD,
				    CAP(MASKED_ATOMIC) },
	[VHCA_OP_ATOMIC_WRITE]	= { RC, E_RADDR | E_DATA | E_INLINE | E_WORD, CAP(ATOMIC_WRITE) },
	[VHCA_OP_FLUSH]		= { RC, E_RADDR | E_FLUSH, CAP(FLUSH) },
	[VHCA_OP_LOCAL_INV]	= { CONN | UC, 0, CAP(FAST_REG) },
	[VHCA_OP_BIND_MW]	= { CONN | UC, E_BIND, CAP(MW) },
	[VHCA_OP_REG_MR]	= { CONN | UC, E_REG, CAP(FAST_REG) },
	[VHCA_OP_LSO]		= { UD, E_LSO | E_DATA, CAP(UD_LSO) },
};

static bool all_zero(const u8 *p, u32 n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

static_assert(VHCA_WQE_BLOCK == GMEM_LINE, "a block is read as a line");

/* Copies bytes of a ring, which may continue at its start. */
static int ring_read_pieces(struct guest_mem *mem, struct vring *r, u32 off, u8 *dst, u32 len)
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

/* Copies a line of a ring, if it is in one piece. */
static inline int ring_read_line(struct guest_mem *mem, struct vring *r, u32 off, void *dst)
{
	u32 at;

	if (!vring_at(mem, r, off, &at) && GMEM_LINE <= r->winlen - (off - r->win))
		return dma_ref_read_line(&r->ref, at, dst);
	return -EAGAIN;
}

static inline int ring_read(struct guest_mem *mem, struct vring *r, u32 off, u8 *dst, u32 len)
{
	u32 at;

	/* nearly always in one piece */
	if (!vring_at(mem, r, off, &at) && len <= r->winlen - (off - r->win))
		return dma_ref_read(&r->ref, at, dst, len);
	return ring_read_pieces(mem, r, off, dst, len);
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

/* Copies the next segment of an entry; false when the entry ends before the segment does. */
static bool take(const struct send_wqe *w, u32 *at, void *to, u32 size)
{
	if (w->nblk * VHCA_WQE_BLOCK - *at < size)
		return false;
	memcpy(to, w->raw + *at, size);
	*at += size;
	return true;
}

/* Takes over the address segment of a datagram. */
static bool take_ud(const struct vqp *qp, struct send_wqe *w, u32 *at)
{
	bool smi = qp->type == VHCA_QPT_SMI;
	struct vhca_wqe_ud ud;

	if (!take(w, at, &ud, sizeof(ud)))
		return false;
	w->av = ud.av;
	w->dqpn = le32toh(ud.dqpn);
	w->qkey = le32toh(ud.qkey);
	w->pkey_index = le16toh(ud.pkey_index);
	if (w->pkey_index >= (qp->type == VHCA_QPT_GSI ? vport_pkeys(qp->port) : 1) ||
	    !all_zero(ud.rsvd, sizeof(ud.rsvd)) || w->dqpn >> (smi ? 0 : QPN_BITS))
		return false;
	/* it never was ready to receive, so the entry can only be flushed */
	if (!qp->port)
		return true;
	return av_check(&w->av, qp->port, smi ? AV_SMP : AV_DATAGRAM) == AV_GOOD;
}

static bool take_raddr(struct send_wqe *w, u32 *at)
{
	struct vhca_wqe_raddr r;

	if (!take(w, at, &r, sizeof(r)))
		return false;
	w->raddr = le64toh(r.addr);
	w->rkey = le32toh(r.rkey);
	return !r.rsvd;
}

static bool take_atomic(struct send_wqe *w, u32 *at)
{
	bool masked = w->opcode == VHCA_OP_MASKED_CMP_SWAP ||
		      w->opcode == VHCA_OP_MASKED_FETCH_ADD;
	struct vhca_wqe_atomic a;

	if (!take(w, at, &a, sizeof(a)))
		return false;
	w->atomic = (struct matomic){
		.opcode = w->opcode,
		.swap_add = le64toh(a.swap_add),
		.compare = le64toh(a.compare),
		.mask = le64toh(a.mask),
		.compare_mask = le64toh(a.compare_mask),
	};
	return masked || !(a.mask | a.compare_mask);
}

static bool take_flush(struct send_wqe *w, u32 *at)
{
	struct vhca_wqe_flush f;

	if (!take(w, at, &f, sizeof(f)))
		return false;
	w->flush.len = le32toh(f.length);
	w->flush.type = f.type;
	w->flush.level = f.level;
	return flush_known(f.type, f.level) && !(f.level == VHCA_FLUSH_MR && f.length) &&
	       all_zero(f.rsvd, sizeof(f.rsvd));
}

static bool take_lso(struct send_wqe *w, u32 *at)
{
	struct vhca_wqe_lso l;
	u32 size;

	if (!take(w, at, &l, sizeof(l)))
		return false;
	w->lso.mss = le16toh(l.mss);
	w->lso.hlen = le16toh(l.hlen);
	w->lso.header = w->raw + *at;
	size = VHCA_LSO_SIZE(w->lso.hlen) - sizeof(l);
	if (!w->lso.mss || !w->lso.hlen || w->lso.hlen > VHCA_LSO_MAX_HEADER ||
	    !all_zero(l.rsvd, sizeof(l.rsvd)) || w->nblk * VHCA_WQE_BLOCK - *at < size)
		return false;
	*at += size;
	return all_zero(w->lso.header + w->lso.hlen, size - w->lso.hlen);
}

/* Takes over everything between the control segment and the data. */
static bool take_segments(const struct vqp *qp, struct send_wqe *w, u16 holds, u32 *at)
{
	if (qp_datagrams(qp) && holds & E_DATA && !take_ud(qp, w, at))
		return false;
	if (holds & E_LSO && !take_lso(w, at))
		return false;
	if (holds & E_RADDR && !take_raddr(w, at))
		return false;
	if (holds & E_ATOMIC && !take_atomic(w, at))
		return false;
	if (holds & E_FLUSH && !take_flush(w, at))
		return false;
	if (holds & E_BIND && !take(w, at, &w->bind, sizeof(w->bind)))
		return false;
	return !(holds & E_REG) || take(w, at, &w->reg, sizeof(w->reg));
}

/* A datagram is one packet, one of a special QP a MAD, an atomic one word. */
static int check_len(const struct vqp *qp, const struct send_wqe *w, u16 holds)
{
	u32 most = qp_datagrams(qp) ? qp->mtu : VDEV_MAX_MSG;

	if (holds & E_LSO) {
		if ((u32)w->lso.hlen + w->lso.mss > most || w->len > VHCA_LSO_MAX_DATA)
			return why(qp, VHCA_WHY_ENTRY_LENGTH, VHCA_CS_LOC_LEN_ERR);
		return VHCA_CS_SUCCESS;
	}
	if (w->len > most || (holds & E_WORD && w->len != sizeof(u64)) ||
	    (qp_is_special(qp) && holds & E_DATA && w->len != VHCA_MAD_SIZE))
		return why(qp, VHCA_WHY_ENTRY_LENGTH, VHCA_CS_LOC_LEN_ERR);
	return VHCA_CS_SUCCESS;
}

/* The entry format of an opcode; NULL: this QP cannot execute it. */
static const struct entry *find_entry(const struct vqp *qp, u8 opcode)
{
	const struct entry *e;
	u64 caps;

	if (opcode >= ARRAY_SIZE(entries))
		return NULL;
	e = &entries[opcode];
	caps = e->caps;
	if (qp->type == VHCA_QPT_UC && caps & CAP(FAST_REG))
		caps |= CAP(UC_FAST_REG);
	return e->types >> qp->type & 1 && !(caps & ~qp->dev->caps) ? e : NULL;
}

/* Are the entry's flags valid for its opcode? */
static bool flags_known(const struct vqp *qp, const struct send_wqe *w)
{
	u8 more = w->flags & ~KNOWN_FLAGS;

	return !more || (more == VHCA_WQE_IP_CSUM && qp->type == VHCA_QPT_UD &&
			 w->opcode == VHCA_OP_SEND && qp->dev->caps & CAP(UD_CSUM));
}

static int bad_entry(const struct vqp *qp, enum vhca_why number)
{
	return why(qp, number, VHCA_CS_LOC_QP_OP_ERR);
}

static int parse_send(const struct vqp *qp, const struct vhca_wqe_ctrl *ctrl, struct send_wqe *w)
{
	const struct entry *e = find_entry(qp, w->opcode);
	u32 at = sizeof(*ctrl), have = w->nblk * VHCA_WQE_BLOCK;
	u32 inline_len = le32toh(ctrl->inline_len);

	if (!e)
		return bad_entry(qp, VHCA_WHY_ENTRY_OPCODE);
	if (le32toh(ctrl->index) != w->blk)
		return bad_entry(qp, VHCA_WHY_ENTRY_INDEX);
	if (!flags_known(qp, w) ||
	    w->srqn >> (qp->type == VHCA_QPT_XRC_INI ? SRQN_BITS : 0) ||
	    !all_zero(ctrl->rsvd, sizeof(ctrl->rsvd)))
		return bad_entry(qp, VHCA_WHY_ENTRY_RESERVED);
	if (!take_segments(qp, w, e->holds, &at))
		return bad_entry(qp, VHCA_WHY_ENTRY_SEGMENT);
	if (w->flags & VHCA_WQE_INLINE) {
		if (!(e->holds & E_INLINE) || ctrl->nsge || inline_len > qp->max_inline ||
		    inline_len > have - at)
			return bad_entry(qp, VHCA_WHY_ENTRY_INLINE);
		w->data = w->raw + at;
		w->len = inline_len;
		return check_len(qp, w, e->holds);
	}
	if (inline_len || ctrl->nsge > VDEV_MAX_SGE || (ctrl->nsge && !(e->holds & E_DATA)) ||
	    (e->holds & E_ONE && ctrl->nsge != 1) ||
	    ctrl->nsge * sizeof(struct vhca_sge) > have - at)
		return bad_entry(qp, VHCA_WHY_ENTRY_SGES);
	w->nsge = ctrl->nsge;
	w->len = take_sges(w->raw + at, w->nsge, w->sge);
	if (w->opcode == VHCA_OP_READ_INV)
		w->inv_key = w->sge[0].key;
	return check_len(qp, w, e->holds);
}

int wqe_load_send(struct vqp *qp, u32 blk, u32 prod, struct send_wqe *w)
{
	u32 blocks = 1u << qp->log_sq, off = (blk & (blocks - 1)) * VHCA_WQE_BLOCK;
	struct guest_mem *mem = qp->dev->mem;
	struct vhca_wqe_ctrl ctrl;
	int st;

	w->qp = NULL;
	if (ring_read_line(mem, &qp->sq, off, w->raw) &&
	    ring_read(mem, &qp->sq, off, w->raw, VHCA_WQE_BLOCK))
		return -EFAULT;
	memcpy(&ctrl, w->raw, sizeof(ctrl));
	w->blk = blk;
	w->opcode = ctrl.opcode;
	w->flags = ctrl.flags;
	w->imm = ctrl.imm;
	w->inv_key = le32toh(ctrl.inv_key);
	w->srqn = le32toh(ctrl.xrc_srqn);
	w->wr_id = le64toh(ctrl.wr_id);
	w->nblk = 1;
	w->nsge = 0;
	w->raddr = 0;
	w->rkey = 0;
	w->len = 0;
	w->data = NULL;
	if (!ctrl.nblk || ctrl.nblk > VHCA_WQE_MAX_BLOCKS || ctrl.nblk > prod - blk)
		return bad_entry(qp, VHCA_WHY_ENTRY_BLOCKS);
	w->nblk = ctrl.nblk;
	if (w->nblk > 1 &&
	    ring_read(mem, &qp->sq, (off + VHCA_WQE_BLOCK) & (qp->sq.bytes - 1),
		      w->raw + VHCA_WQE_BLOCK, (w->nblk - 1) * VHCA_WQE_BLOCK))
		return -EFAULT;
	st = parse_send(qp, &ctrl, w);
	/* an entry that was refused must not be used again */
	w->qp = st ? NULL : qp;
	return st;
}

void wqe_prefetch(const struct vqp *qp, u32 blocks)
{
	const struct vring *r = &qp->sq;
	u32 off = qp->req.blk_next * VHCA_WQE_BLOCK & (r->bytes - 1);

	if (off - r->win < r->winlen)
		dma_ref_prefetch(&r->ref, r->winoff + off - r->win, blocks * VHCA_WQE_BLOCK);
}

/* The front of a receive, which is read first: most have no more scatter entries. */
struct recv_front {
	__le64 wr_id;
	__le64 rest;		/* index, entries, and reserved bytes at the top */
	struct vhca_sge sge[3];
};

static_assert(offsetof(struct vhca_rwqe, index) == offsetof(struct recv_front, rest) &&
	      offsetof(struct vhca_rwqe, nsge) == offsetof(struct recv_front, rest) + 4 &&
	      sizeof(struct vhca_rwqe) == offsetof(struct recv_front, sge) &&
	      sizeof(struct recv_front) == GMEM_LINE,
	      "the second word of a receive");

/* Loads a receive with more scatter entries than its front has.  The front is not read again. */
static int load_long(struct guest_mem *mem, struct vring *r, u32 off,
		     const struct recv_front *front, struct recv_wqe *w)
{
	struct vhca_sge sge[VDEV_MAX_SGE];

	memcpy(sge, front->sge, sizeof(front->sge));
	if (ring_read(mem, r, off + sizeof(*front), (u8 *)(sge + ARRAY_SIZE(front->sge)),
		      (w->nsge - ARRAY_SIZE(front->sge)) * sizeof(sge[0])))
		return -EFAULT;
	w->len = take_sges((const u8 *)sge, w->nsge, w->sge);
	return VHCA_CS_SUCCESS;
}

int wqe_load_recv(struct guest_mem *mem, struct vring *r, u32 log_stride, u32 index,
		  struct recv_wqe *w)
{
	u32 stride = 1u << log_stride, off = (index << log_stride) & (r->bytes - 1);
	struct recv_front front = { 0 };
	u64 rest, nsge;

	w->qp = NULL;
	/* bytes behind a short receive are ignored */
	if (ring_read_line(mem, r, off, &front) &&
	    ring_read(mem, r, off, (u8 *)&front, MIN(stride, GMEM_LINE)))
		return -EFAULT;
	rest = le64toh(front.rest);
	nsge = rest >> 32;
	w->index = index;
	w->wr_id = le64toh(front.wr_id);
	w->nsge = 0;
	w->len = 0;
	/* reserved bytes that are not 0 make nsge too large */
	if ((u32)rest != index || nsge > VDEV_MAX_SGE || VHCA_RWQE_SIZE(nsge) > stride)
		return VHCA_CS_LOC_QP_OP_ERR;
	w->nsge = nsge;
	if (nsge > ARRAY_SIZE(front.sge))
		return load_long(mem, r, off, &front, w);
	w->len = take_sges((const u8 *)front.sge, nsge, w->sge);
	return VHCA_CS_SUCCESS;
}

void wqe_forget(const struct vqp *qp)
{
	struct scratch *s = qp_scratch(qp);

	if (s->tx_wqe.qp == qp)
		s->tx_wqe.qp = NULL;
	if (s->rd_wqe.qp == qp)
		s->rd_wqe.qp = NULL;
	if (s->rx_wqe.qp == qp)
		s->rx_wqe.qp = NULL;
	if (s->why_qp == qp)
		s->why_qp = NULL;
}
