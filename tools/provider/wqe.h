/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writing send requests into the ring.
 *
 * A request's first block holds the control segment, which is written last.  A
 * datagram's destination and inline data may cross the ring's end; the other
 * segments have 16 bytes, start at multiples of that, and never do.
 */
#ifndef VHCA_WQE_H
#define VHCA_WQE_H

#include <errno.h>
#include <string.h>

#include "vhca.h"

/**
 * struct vhca_send_op - a verbs opcode to the device
 * @opcode: enum vhca_wqe_opcode
 * @types: kinds of QPs that have it, a bit each (1 << enum ibv_qp_type); 0: not known
 * @ex: its bit in send_ops_flags of the extended posting calls
 * @remote: has a remote address
 * @imm: carries immediate data
 * @gets: brings data in, and can have none inline
 */
struct vhca_send_op {
	uint8_t opcode;
	uint8_t types;
	uint16_t ex;
	bool remote;
	bool imm;
	bool gets;
};

#define ON_RC	(1 << IBV_QPT_RC)
#define ON_UC	(1 << IBV_QPT_UC)
#define ON_UD	(1 << IBV_QPT_UD)

static const struct vhca_send_op vhca_send_ops[] = {
	[IBV_WR_SEND] = {
		.opcode = VHCA_OP_SEND,
		.types = ON_RC | ON_UC | ON_UD,
		.ex = IBV_QP_EX_WITH_SEND,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.opcode = VHCA_OP_SEND_IMM,
		.types = ON_RC | ON_UC | ON_UD,
		.ex = IBV_QP_EX_WITH_SEND_WITH_IMM,
		.imm = true,
	},
	[IBV_WR_RDMA_WRITE] = {
		.opcode = VHCA_OP_WRITE,
		.types = ON_RC | ON_UC,
		.ex = IBV_QP_EX_WITH_RDMA_WRITE,
		.remote = true,
	},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		.opcode = VHCA_OP_WRITE_IMM,
		.types = ON_RC | ON_UC,
		.ex = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		.remote = true,
		.imm = true,
	},
	[IBV_WR_RDMA_READ] = {
		.opcode = VHCA_OP_READ,
		.types = ON_RC,
		.ex = IBV_QP_EX_WITH_RDMA_READ,
		.remote = true,
		.gets = true,
	},
};

#define VHCA_NUM_SEND_OPS	(sizeof(vhca_send_ops) / sizeof(vhca_send_ops[0]))

#undef ON_RC
#undef ON_UC
#undef ON_UD

/* NULL: this kind of QP, one of the three, has no such operation. */
static inline const struct vhca_send_op *vhca_find_op(enum ibv_qp_type type,
						      enum ibv_wr_opcode opcode)
{
	if ((unsigned int)opcode >= VHCA_NUM_SEND_OPS ||
	    !(vhca_send_ops[opcode].types >> type & 1))
		return NULL;
	return &vhca_send_ops[opcode];
}

/* Most bytes of a request before its list or inline data. */
static inline uint32_t wqe_head(bool datagram)
{
	return sizeof(struct vhca_wqe_ctrl) +
	       (datagram ? sizeof(struct vhca_wqe_ud) : sizeof(struct vhca_wqe_raddr));
}

static inline uint64_t wqe_blocks(uint64_t bytes)
{
	return (bytes + VHCA_WQE_BLOCK - 1) / VHCA_WQE_BLOCK;
}

/* Ring address of a byte of the request. */
static inline void *wqe_at(const struct vhca_wqe *wqe, uint32_t offset)
{
	uint64_t place = wqe->start * VHCA_WQE_BLOCK + offset;
	uint64_t mask = (ring_size(wqe->wq->log) * VHCA_WQE_BLOCK) - 1;

	return (uint8_t *)wqe->wq->ring + (place & mask);
}

/* Is there room in the ring for this much of the request? */
static inline bool wqe_fits(const struct vhca_wqe *wqe, uint32_t bytes)
{
	/* Pairs with the release in poll.c. */
	uint64_t tail = atomic_load_explicit(&wqe->wq->tail, memory_order_acquire);

	return wqe->start + wqe_blocks(bytes) - tail <= ring_size(wqe->wq->log);
}

static inline uint8_t wqe_flags(unsigned int send_flags, bool sig_all)
{
	return (sig_all || send_flags & IBV_SEND_SIGNALED ? VHCA_WQE_SIGNALED : 0) |
	       (send_flags & IBV_SEND_SOLICITED ? VHCA_WQE_SOLICITED : 0) |
	       (send_flags & IBV_SEND_FENCE ? VHCA_WQE_FENCE : 0);
}

/**
 * wqe_begin() - begin a request
 * @wqe: takes its state
 * @wq: send queue, its lock held
 * @start: count of its first block
 * @op: what it does
 * @wr_id: program's value
 * @flags: VHCA_WQE_*
 *
 * That of a datagram gets room for its destination, see wqe_destination().
 *
 * Return: 0 or ENOMEM when the ring is full.
 */
static inline int wqe_begin(struct vhca_wqe *wqe, struct vhca_wq *wq, uint64_t start,
			    const struct vhca_send_op *op, uint64_t wr_id, uint8_t flags)
{
	wqe->wq = wq;
	wqe->start = start;
	wqe->len = wq->datagram ? wqe_head(true) : sizeof(wqe->ctrl);
	wqe->ctrl = (struct vhca_wqe_ctrl) {
		.opcode = op->opcode,
		.flags = flags,
		.wr_id = htole64(wr_id),
		.index = htole32((uint32_t)start),
	};
	return wqe_fits(wqe, wqe_head(wq->datagram)) ? 0 : ENOMEM;
}

/* Copies bytes to a place in the request, for which there is room. */
static inline void wqe_copy(struct vhca_wqe *wqe, uint32_t offset, const void *data, size_t len)
{
	uint8_t *ring = wqe->wq->ring, *at = wqe_at(wqe, offset);
	size_t here = ring + ring_size(wqe->wq->log) * VHCA_WQE_BLOCK - at;

	if (here > len)
		here = len;
	memcpy(at, data, here);
	memcpy(ring, (const uint8_t *)data + here, len - here);
}

/**
 * wqe_destination() - say where a datagram goes
 * @wqe: request of a UD QP
 * @qp: the QP
 * @ah: address
 * @qpn: number of the QP there
 * @qkey: Q_Key of the packet
 *
 * Return: 0, or EINVAL without an address of the same PD or when there cannot be such a QP.
 */
static inline int wqe_destination(struct vhca_wqe *wqe, const struct vhca_qp *qp,
				  const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct vhca_wqe_ud seg;

	if (!ah || qpn > VHCA_MAX_QPN || ah->context != qp->vqp.qp.context ||
	    to_vhca_ah(ah)->pd != qp->pd)
		return EINVAL;
	seg = (struct vhca_wqe_ud) {
		.av = to_vhca_ah(ah)->av,
		.dqpn = htole32(qpn),
		.qkey = htole32(qkey),
	};
	wqe_copy(wqe, sizeof(wqe->ctrl), &seg, sizeof(seg));
	return 0;
}

static inline void wqe_remote(struct vhca_wqe *wqe, uint64_t addr, uint32_t rkey)
{
	struct vhca_wqe_raddr *seg = wqe_at(wqe, wqe->len);

	seg->addr = htole64(addr);
	seg->rkey = htole32(rkey);
	seg->rsvd = 0;
	wqe->len += sizeof(*seg);
}

/* Adds a gather or scatter list; its length has been checked. */
static inline int wqe_list(struct vhca_wqe *wqe, const struct ibv_sge *list, uint32_t num)
{
	struct vhca_sge *seg;
	uint32_t i;

	if (!wqe_fits(wqe, wqe->len + num * sizeof(*seg)))
		return ENOMEM;
	for (i = 0; i < num; i++) {
		seg = wqe_at(wqe, wqe->len);
		seg->addr = htole64(list[i].addr);
		seg->length = htole32(list[i].length);
		seg->lkey = htole32(list[i].lkey);
		wqe->len += sizeof(*seg);
	}
	wqe->ctrl.nsge = num;
	return 0;
}

/**
 * wqe_inline() - add inline data
 * @wqe: request
 * @data: bytes
 * @len: how many
 *
 * Return: 0, EINVAL when the request would have more than it may, ENOMEM when the ring is full.
 */
static inline int wqe_inline(struct vhca_wqe *wqe, const void *data, size_t len)
{
	uint32_t have = le32toh(wqe->ctrl.inline_len);

	if (len > wqe->wq->max_inline - have)
		return EINVAL;
	if (!wqe_fits(wqe, wqe->len + len))
		return ENOMEM;
	wqe->ctrl.flags |= VHCA_WQE_INLINE;
	wqe->ctrl.inline_len = htole32(have + len);
	if (!len)
		return 0;
	wqe_copy(wqe, wqe->len, data, len);
	wqe->len += len;
	return 0;
}

/**
 * wqe_end() - finish a request
 * @wqe: request
 *
 * Return: count of the block behind it.
 */
static inline uint64_t wqe_end(struct vhca_wqe *wqe)
{
	wqe->ctrl.nblk = wqe_blocks(wqe->len);
	memcpy(wqe_at(wqe, 0), &wqe->ctrl, sizeof(wqe->ctrl));
	return wqe->start + wqe->ctrl.nblk;
}

#endif /* VHCA_WQE_H */
