// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send requests of kernel consumers in the device's format.
 *
 * Segments begin at multiples of 16 bytes. Longer segments, and inline data, can span blocks; they
 * are copied piece by piece across the end of the ring and of the pieces of its memory.
 */
#include <linux/log2.h>
#include <kunit/visibility.h>

#include "ah.h"
#include "mr.h"
#include "qp.h"

#define SEG_UNIT	sizeof(struct vhca_sge)
static_assert(sizeof(struct vhca_wqe_ctrl) % SEG_UNIT == 0);
static_assert(sizeof(struct vhca_wqe_raddr) == SEG_UNIT);
static_assert(sizeof(struct vhca_wqe_ud) % SEG_UNIT == 0);
static_assert(sizeof(struct vhca_wqe_atomic) % SEG_UNIT == 0);
/* A registration fits the first block, and so does the control segment. */
static_assert(sizeof(struct vhca_wqe_ctrl) + sizeof(struct vhca_wqe_reg) <= VHCA_WQE_BLOCK);

/* Position of the next bytes of a request. */
struct wqe_writer {
	struct vhca_wq *wq;
	u64 slot;	/* count of the block */
	u32 offset;	/* in the block */
};

static void *writer_at(struct wqe_writer *w)
{
	return vhca_ring_at(&w->wq->ring, w->slot) + w->offset;
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
#define MADS	(BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI))

#define OP_REMOTE	BIT(0)	/* remote address and key */
#define OP_IMM		BIT(1)	/* immediate data */
#define OP_INV		BIT(2)	/* names a key to invalidate */
#define OP_INV_SGE	BIT(3)	/* the same, and it must be that of the scatter entry */
#define OP_INLINE	BIT(4)	/* data may be inline */
#define OP_ONE		BIT(5)	/* one gather or scatter entry, or inline data */
#define OP_ATOMIC	BIT(6)	/* atomic segment */
#define OP_NO_DATA	BIT(7)	/* neither address nor data */
#define OP_REG		BIT(8)	/* registration */
#define OP_CSUM		BIT(9)	/* the device can set checksums, on UD */
#define OP_LSO		BIT(10)	/* header and size of segments; checksums are set anyway */
#define OP_INTEGRITY	BIT(11)	/* the key checks and generates protection fields */

/* Opcodes of an operation in the device and in its completion, and the QP types that have it. */
struct send_op {
	u8 opcode;
	u8 wc_opcode;
	u8 types;
	u16 flags;
};

static const struct send_op send_ops[] = {
	[IB_WR_SEND] = { VHCA_OP_SEND, IB_WC_SEND, RC | UC | UD | MADS, OP_INLINE | OP_CSUM },
	[IB_WR_SEND_WITH_IMM] = { VHCA_OP_SEND_IMM, IB_WC_SEND, RC | UC | UD, OP_IMM | OP_INLINE },
	[IB_WR_SEND_WITH_INV] = { VHCA_OP_SEND_INV, IB_WC_SEND, RC, OP_INV | OP_INLINE },
	[IB_WR_RDMA_WRITE] = { VHCA_OP_WRITE, IB_WC_RDMA_WRITE, RC | UC, OP_REMOTE | OP_INLINE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { VHCA_OP_WRITE_IMM, IB_WC_RDMA_WRITE, RC | UC,
					OP_REMOTE | OP_IMM | OP_INLINE },
	[IB_WR_RDMA_READ] = { VHCA_OP_READ, IB_WC_RDMA_READ, RC, OP_REMOTE },
	[IB_WR_RDMA_READ_WITH_INV] = { VHCA_OP_READ_INV, IB_WC_RDMA_READ, RC,
				       OP_REMOTE | OP_INV_SGE | OP_ONE },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { VHCA_OP_CMP_SWAP, IB_WC_COMP_SWAP, RC, OP_ATOMIC | OP_ONE },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { VHCA_OP_FETCH_ADD, IB_WC_FETCH_ADD, RC,
					 OP_ATOMIC | OP_ONE },
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = { VHCA_OP_MASKED_CMP_SWAP, IB_WC_MASKED_COMP_SWAP, RC,
					      OP_ATOMIC | OP_ONE },
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = { VHCA_OP_MASKED_FETCH_ADD, IB_WC_MASKED_FETCH_ADD,
						RC, OP_ATOMIC | OP_ONE },
	[IB_WR_ATOMIC_WRITE] = { VHCA_OP_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE, RC,
				 OP_REMOTE | OP_INLINE | OP_ONE },
	[IB_WR_LOCAL_INV] = { VHCA_OP_LOCAL_INV, IB_WC_LOCAL_INV, RC | UC, OP_INV | OP_NO_DATA },
	[IB_WR_REG_MR] = { VHCA_OP_REG_MR, IB_WC_REG_MR, RC | UC, OP_REG | OP_NO_DATA },
	[IB_WR_REG_MR_INTEGRITY] = { VHCA_OP_REG_MR, IB_WC_REG_MR, RC,
				     OP_REG | OP_INTEGRITY | OP_NO_DATA },
	[IB_WR_LSO] = { VHCA_OP_LSO, IB_WC_LSO, UD, OP_LSO | OP_CSUM },
};

/* To drain a QP of any type the core posts a WRITE behind the last request, which is flushed. */
static const struct send_op drain_op = { VHCA_OP_NOP, IB_WC_RDMA_WRITE, UD | MADS };

static const struct send_op *find_op(const struct vhca_dev *dev, const struct vhca_qp *qp,
				     const struct ib_send_wr *wr)
{
	const struct send_op *op;
	u32 has = dev->send_ops;

	if (wr->opcode >= ARRAY_SIZE(send_ops) || !send_ops[wr->opcode].opcode)
		return NULL;
	op = &send_ops[wr->opcode];
	if (qp->ibqp.qp_type == IB_QPT_UC)
		has &= ~dev->uc_lacks;
	if (op->types & BIT(qp->ibqp.qp_type))
		return has & BIT(op->opcode) ? op : NULL;
	if (wr->opcode == IB_WR_RDMA_WRITE && !wr->num_sge && READ_ONCE(qp->kernel->broken))
		return &drain_op;
	return NULL;
}

/* Bytes of the segments between the control segment and the payload. */
static size_t address_size(enum ib_qp_type type, u16 flags)
{
	if (vhca_qp_is_datagram(type))
		return sizeof(struct vhca_wqe_ud);
	if (flags & OP_ATOMIC)
		return sizeof(struct vhca_wqe_raddr) + sizeof(struct vhca_wqe_atomic);
	return flags & OP_REMOTE ? sizeof(struct vhca_wqe_raddr) : 0;
}

/**
 * vhca_send_wqe_blocks() - get the number of ring blocks of a send request
 * @dev: device
 * @type: type of the QP
 * @nsge: gather entries; with at least one, the request may be an atomic, if the device has these
 * @inline_len: inline bytes
 *
 * Context: any.
 * Return: number of blocks of the largest such request; if it is more than VHCA_WQE_MAX_BLOCKS such
 * a request is not possible.
 */
u32 vhca_send_wqe_blocks(const struct vhca_dev *dev, enum ib_qp_type type, u32 nsge,
			 u32 inline_len)
{
	size_t size = address_size(type, OP_REMOTE) +
		      max_t(size_t, nsge * sizeof(struct vhca_sge), inline_len);

	if (nsge && type == IB_QPT_RC && dev->send_ops & BIT(VHCA_OP_CMP_SWAP))
		size = max(size, address_size(type, OP_ATOMIC) + sizeof(struct vhca_sge));
	return DIV_ROUND_UP(sizeof(struct vhca_wqe_ctrl) + size, VHCA_WQE_BLOCK);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_send_wqe_blocks);

/**
 * vhca_lso_wqe_blocks() - get the number of ring blocks of the largest LSO request
 * @nsge: gather entries
 *
 * Return: number of blocks, as vhca_send_wqe_blocks().
 */
u32 vhca_lso_wqe_blocks(u32 nsge)
{
	return DIV_ROUND_UP(sizeof(struct vhca_wqe_ctrl) + sizeof(struct vhca_wqe_ud) +
			    VHCA_LSO_SIZE(VHCA_LSO_MAX_HEADER) + nsge * sizeof(struct vhca_sge),
			    VHCA_WQE_BLOCK);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_lso_wqe_blocks);

/* Checks a request for LSO: a large packet that is sent as segments. */
static int check_lso(struct vhca_dev *dev, const struct vhca_qp *qp, const struct ib_ud_wr *wr)
{
	u64 sum = 0;

	if (!(qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: LSO: the QP was made without IB_QP_CREATE_IPOIB_UD_LSO");
	if (!wr->header || wr->hlen <= 0 || wr->hlen > VHCA_LSO_MAX_HEADER || wr->mss <= 0 ||
	    wr->mss > U16_MAX)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: LSO with hlen %d, mss %d: a header has 1 to %u bytes",
				   wr->hlen, wr->mss, VHCA_LSO_MAX_HEADER);
	for (int i = 0; i < wr->wr.num_sge; i++)
		sum += wr->wr.sg_list[i].length;
	if (sum > VHCA_LSO_MAX_DATA)
		return vhca_refuse(dev->hw.dev, -EINVAL, "post_send: LSO of %llu bytes > %u", sum,
				   VHCA_LSO_MAX_DATA);
	return 0;
}

static bool sets_csum(struct vhca_dev *dev, const struct vhca_qp *qp, const struct send_op *op)
{
	return op->flags & OP_CSUM && qp->ibqp.qp_type == IB_QPT_UD &&
	       vhca_hw_has(&dev->hw, VHCA_CAP_UD_CSUM);
}

static int check_inline(struct vhca_dev *dev, const struct ib_send_wr *wr, u32 max, u32 *len)
{
	u64 sum = 0;

	for (int i = 0; i < wr->num_sge; i++)
		sum += wr->sg_list[i].length;
	if (sum > max)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: %llu bytes inline > max_inline_data %u", sum, max);
	*len = sum;
	return 0;
}

/* Checks the registration of a key with its current list, and with the requested key and rights. */
static int check_reg(struct vhca_dev *dev, const struct vhca_qp *qp, bool integrity,
		     const struct ib_reg_wr *wr)
{
	struct vhca_mr *mr = to_vmr(wr->mr);
	struct vhca_fast_mr *fast = to_vfast(mr);

	if (!mr->fast || !!fast->pi != integrity || (wr->key ^ mr->ibmr.lkey) & ~0xffU)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR of key %#x: not a fast registration key's",
				   wr->key);
	if (!fast->entries || !mr->ibmr.length)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR of key %#x: nothing is mapped", wr->key);
	if (wr->access & ~(dev->access | IB_ACCESS_OPTIONAL))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "post_send: REG_MR with access %#x: the device does not have %#x",
				   wr->access, wr->access & ~(dev->access | IB_ACCESS_OPTIONAL));
	if (integrity && !(qp->create_flags & IB_QP_CREATE_INTEGRITY_EN))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR_INTEGRITY by a QP without IB_QP_CREATE_INTEGRITY_EN");
	if (integrity)
		return vhca_check_integrity(dev, fast);
	/* The address may only be changed by whole pages. */
	if (!fast->gaps && (mr->ibmr.iova ^ fast->start) & (mr->ibmr.page_size - 1))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR at %#llx of memory that begins at %#llx of a page of %u",
				   mr->ibmr.iova, fast->start & (mr->ibmr.page_size - 1),
				   mr->ibmr.page_size);
	return 0;
}

/* Checks that do not depend on the room in the queue; @len is the length of inline data. */
static int check_send(struct vhca_dev *dev, const struct vhca_qp *qp, const struct send_op *op,
		      const struct ib_send_wr *wr, u32 *len)
{
	const struct vhca_wq *sq = &qp->kernel->sq;
	bool addressed = vhca_qp_is_datagram(qp->ibqp.qp_type) && op != &drain_op;
	bool inl = wr->send_flags & IB_SEND_INLINE;

	if (wr->num_sge < 0 || wr->num_sge > sq->max_sge ||
	    (op->flags & OP_ONE && wr->num_sge != 1) || (op->flags & OP_NO_DATA && wr->num_sge))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: opcode %#x with num_sge %d, max_send_sge %u",
				   wr->opcode, wr->num_sge, sq->max_sge);
	if ((wr->send_flags & IB_SEND_IP_CSUM && !sets_csum(dev, qp, op)) ||
	    (inl && !(op->flags & OP_INLINE)))
		return vhca_refuse(dev->hw.dev, -EINVAL, "post_send: opcode %#x, send_flags %#x",
				   wr->opcode, wr->send_flags);
	if (op->flags & OP_INV_SGE && wr->ex.invalidate_rkey != wr->sg_list[0].lkey)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: invalidate_rkey %#x is not the scatter entry's %#x",
				   wr->ex.invalidate_rkey, wr->sg_list[0].lkey);
	if (addressed && !ud_wr(wr)->ah)
		return vhca_refuse(dev->hw.dev, -EINVAL, "post_send: a datagram without ah");
	if (addressed && ud_wr(wr)->ah->pd != qp->ibqp.pd)
		return vhca_refuse(dev->hw.dev, -EINVAL, "post_send: the ah is of another PD");
	if (op->flags & OP_REG)
		return check_reg(dev, qp, op->flags & OP_INTEGRITY, reg_wr(wr));
	if (op->flags & OP_LSO)
		return check_lso(dev, qp, ud_wr(wr));
	return inl ? check_inline(dev, wr, sq->max_inline, len) : 0;
}

static void write_payload(struct wqe_writer *w, const struct ib_send_wr *wr)
{
	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->send_flags & IB_SEND_INLINE)
			write_bytes(w, (void *)(uintptr_t)wr->sg_list[i].addr,
				    wr->sg_list[i].length);
		else
			write_sge(w, &wr->sg_list[i]);
	}
}

static void write_raddr(struct wqe_writer *w, u64 addr, u32 rkey)
{
	struct vhca_wqe_raddr *raddr = writer_at(w);

	raddr->addr = cpu_to_le64(addr);
	raddr->rkey = cpu_to_le32(rkey);
	raddr->rsvd = 0;
	writer_skip(w, sizeof(*raddr));
}

static void write_ud(struct wqe_writer *w, enum ib_qp_type type, const struct ib_ud_wr *wr)
{
	struct vhca_wqe_ud ud = {
		.av = to_vah(wr->ah)->av,
		.dqpn = cpu_to_le32(wr->remote_qpn),
		.qkey = cpu_to_le32(wr->remote_qkey),
		/* QPs of other types have one P_Key for all requests. */
		.pkey_index = type == IB_QPT_GSI ? cpu_to_le16(wr->pkey_index) : 0,
	};

	write_bytes(w, &ud, sizeof(ud));
}

static void write_lso(struct wqe_writer *w, const struct ib_ud_wr *wr)
{
	static const u8 zeros[SEG_UNIT];
	struct vhca_wqe_lso seg = {
		.mss = cpu_to_le16(wr->mss),
		.hlen = cpu_to_le16(wr->hlen),
	};

	write_bytes(w, &seg, sizeof(seg));
	write_bytes(w, wr->header, wr->hlen);
	write_bytes(w, zeros, VHCA_LSO_SIZE(wr->hlen) - sizeof(seg) - wr->hlen);
}

static void write_atomic(struct wqe_writer *w, const struct ib_atomic_wr *wr, u8 opcode)
{
	struct vhca_wqe_atomic seg = {};

	switch (opcode) {
	case VHCA_OP_MASKED_CMP_SWAP:
		seg.mask = cpu_to_le64(wr->swap_mask);
		seg.compare_mask = cpu_to_le64(wr->compare_add_mask);
		fallthrough;
	case VHCA_OP_CMP_SWAP:
		seg.swap_add = cpu_to_le64(wr->swap);
		seg.compare = cpu_to_le64(wr->compare_add);
		break;
	case VHCA_OP_MASKED_FETCH_ADD:
		seg.mask = cpu_to_le64(wr->compare_add_mask);
		fallthrough;
	default:
		seg.swap_add = cpu_to_le64(wr->compare_add);
	}
	write_raddr(w, wr->remote_addr, wr->rkey);
	write_bytes(w, &seg, sizeof(seg));
}

static void write_reg(struct wqe_writer *w, const struct ib_reg_wr *wr)
{
	struct vhca_fast_mr *fast = to_vfast(to_vmr(wr->mr));
	struct vhca_wqe_reg *seg = writer_at(w);

	if (fast->pi)
		vhca_write_integrity(fast);
	*seg = (struct vhca_wqe_reg) {
		.key = cpu_to_le32(wr->key),
		.entries = cpu_to_le32(fast->entries),
		.iova = cpu_to_le64(wr->mr->iova),
		.length = cpu_to_le64(fast->pi ? vhca_integrity_length(fast) : wr->mr->length),
		.access = vhca_access_to_hw(wr->access),
		.page_shift = fast->gaps ? 0 : ilog2(wr->mr->page_size),
	};
}

/* Segments behind the control segment. */
static void write_segments(struct wqe_writer *w, const struct vhca_qp *qp,
			   const struct send_op *op, const struct ib_send_wr *wr)
{
	if (op->flags & OP_REG)
		write_reg(w, reg_wr(wr));
	else if (op->flags & OP_ATOMIC)
		write_atomic(w, atomic_wr(wr), op->opcode);
	else if (op->flags & OP_REMOTE)
		write_raddr(w, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
	else if (vhca_qp_is_datagram(qp->ibqp.qp_type) && op != &drain_op)
		write_ud(w, qp->ibqp.qp_type, ud_wr(wr));
	if (op->flags & OP_LSO)
		write_lso(w, ud_wr(wr));
	write_payload(w, wr);
}

static u32 send_size(const struct vhca_qp *qp, const struct send_op *op,
		     const struct ib_send_wr *wr, u32 inline_len)
{
	u32 size = sizeof(struct vhca_wqe_ctrl);

	if (op->flags & OP_REG)
		return size + sizeof(struct vhca_wqe_reg);
	if (op->flags & OP_NO_DATA || op == &drain_op)
		return size;
	if (op->flags & OP_LSO)
		size += VHCA_LSO_SIZE(ud_wr(wr)->hlen);
	return size + address_size(qp->ibqp.qp_type, op->flags) +
	       (wr->send_flags & IB_SEND_INLINE ? inline_len :
						  wr->num_sge * sizeof(struct vhca_sge));
}

/**
 * vhca_put_send() - write one request behind the last one
 * @qp: kernel QP, its send queue locked; the caller rings the doorbell
 * @wr: the request
 *
 * Context: any.
 * Return: 0, -EINVAL for a request the QP cannot carry, -EOPNOTSUPP for rights the device does not
 * have, -ENOMEM when the send queue is full.
 */
int vhca_put_send(struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct vhca_dev *dev = to_vdev(qp->ibqp.device);
	const struct send_op *op = find_op(dev, qp, wr);
	struct vhca_wq *sq = &qp->kernel->sq;
	struct wqe_writer w = { .wq = sq, .slot = sq->head };
	bool inl = wr->send_flags & IB_SEND_INLINE;
	struct vhca_wqe_ctrl *ctrl;
	struct vhca_wr *note;
	u32 len = 0, nblk;
	int err;

	if (!op)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: opcode %#x is not one of this QP's", wr->opcode);
	err = check_send(dev, qp, op, wr, &len);
	if (err)
		return err;
	nblk = DIV_ROUND_UP(send_size(qp, op, wr, len), VHCA_WQE_BLOCK);
	if (vhca_ring_room(sq->head, vhca_wq_tail(sq), sq->ring.log) < nblk)
		return -ENOMEM;

	ctrl = writer_at(&w);
	*ctrl = (struct vhca_wqe_ctrl) {
		.opcode = op->opcode,
		.flags = (wr->send_flags & IB_SEND_SIGNALED ? VHCA_WQE_SIGNALED : 0) |
			 (wr->send_flags & IB_SEND_SOLICITED ? VHCA_WQE_SOLICITED : 0) |
			 (wr->send_flags & IB_SEND_FENCE ? VHCA_WQE_FENCE : 0) |
			 (inl ? VHCA_WQE_INLINE : 0) |
			 (wr->send_flags & IB_SEND_IP_CSUM && !(op->flags & OP_LSO) ?
				  VHCA_WQE_IP_CSUM : 0),
		.nblk = nblk,
		.nsge = inl ? 0 : wr->num_sge,
		.wr_id = cpu_to_le64(wr->wr_id),
		.index = cpu_to_le32(sq->head),
		.inline_len = cpu_to_le32(len),
	};
	if (op->flags & OP_IMM)
		ctrl->imm = wr->ex.imm_data;
	else if (op->flags & OP_INV)
		ctrl->inv_key = cpu_to_le32(wr->ex.invalidate_rkey);
	writer_skip(&w, sizeof(*ctrl));
	write_segments(&w, qp, op, wr);

	note = &sq->wrs[vhca_ring_slot(sq->head, sq->ring.log)];
	note->wr_id = wr->wr_id;
	note->opcode = op->wc_opcode;
	note->nslots = nblk;
	vhca_wq_post(sq, nblk);
	return 0;
}
