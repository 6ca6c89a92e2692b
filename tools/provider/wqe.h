/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writing send requests into the ring.
 *
 * A request's first block holds the control segment, which is written last.  A
 * datagram's destination, operands of atomics and inline data may cross the
 * ring's end; the other segments end where a block does or before, and never do.
 */
#ifndef VHCA_WQE_H
#define VHCA_WQE_H

#include <errno.h>
#include <string.h>

#include "ah.h"
#include "mr.h"
#include "qp.h"
#include "send_ops.h"

/* Size of the operand and of the result of an atomic. */
#define VHCA_WORD	8

/* Most bytes of a request before its list or inline data. */
static inline uint32_t wqe_head(bool datagram)
{
	return sizeof(struct vhca_wqe_ctrl) +
	       (datagram ? sizeof(struct vhca_wqe_ud) : sizeof(struct vhca_wqe_raddr));
}

/* Bytes of an atomic request: those before the list, and a list of one entry. */
#define VHCA_ATOMIC_BYTES							\
	(sizeof(struct vhca_wqe_ctrl) + sizeof(struct vhca_wqe_raddr) +		\
	 sizeof(struct vhca_wqe_atomic) + sizeof(struct vhca_sge))

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
 * @wqe: filled in
 * @wq: send queue, its lock held
 * @start: count of its first block
 * @op: its operation
 * @wr_id: program's value
 * @flags: VHCA_WQE_*
 *
 * A datagram gets room for its destination, see wqe_destination().
 *
 * Return: 0, or ENOMEM when the ring is full or max_wr requests are under way.
 */
static inline int wqe_begin(struct vhca_wqe *wqe, struct vhca_wq *wq, uint64_t start,
			    const struct vhca_send_op *op, uint64_t wr_id, uint8_t flags)
{
	wqe->wq = wq;
	wqe->op = op;
	wqe->start = start;
	wqe->len = wq->datagram ? wqe_head(true) : sizeof(wqe->ctrl);
	wqe->ctrl = (struct vhca_wqe_ctrl) {
		.opcode = op->opcode,
		.flags = flags,
		.wr_id = htole64(wr_id),
		.index = htole32((uint32_t)start),
	};
	return wqe_fits(wqe, wqe_head(wq->datagram)) &&
	       wq->built - atomic_load_explicit(&wq->done, memory_order_relaxed) < wq->max_wr ?
	       0 : ENOMEM;
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
 * wqe_destination() - set the destination of a datagram
 * @wqe: request of a UD QP
 * @qp: the QP
 * @ah: address
 * @qpn: number of the destination QP
 * @qkey: Q_Key of the packet
 *
 * Return: 0, or EINVAL without an address handle of the same PD or for an impossible QP number.
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

/* Adds the operands of an atomic; ENOMEM when the ring is full. */
static inline int wqe_atomic(struct vhca_wqe *wqe, uint64_t swap_add, uint64_t compare)
{
	const struct vhca_wqe_atomic seg = {
		.swap_add = htole64(swap_add),
		.compare = htole64(compare),
	};

	if (!wqe_fits(wqe, wqe->len + sizeof(seg)))
		return ENOMEM;
	wqe_copy(wqe, wqe->len, &seg, sizeof(seg));
	wqe->len += sizeof(seg);
	return 0;
}

#ifdef VHCA_HAS_FLUSH
/**
 * wqe_flush() - set the operands of a flush
 * @wqe: request, its remote address added
 * @length: bytes
 * @type: IBV_FLUSH_GLOBAL and, or, IBV_FLUSH_PERSISTENT
 * @level: enum ibv_selectivity_level; with IBV_FLUSH_MR @length does not count
 *
 * Return: 0, or EINVAL if there is no such flush.
 */
static inline int wqe_flush(struct vhca_wqe *wqe, uint64_t length, uint8_t type, uint8_t level)
{
	struct vhca_wqe_flush *seg = wqe_at(wqe, wqe->len);

	if (!type || type & ~(IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT) || level > IBV_FLUSH_MR ||
	    (level == IBV_FLUSH_RANGE && length > UINT32_MAX))
		return EINVAL;
	*seg = (struct vhca_wqe_flush) {
		.length = level == IBV_FLUSH_RANGE ? htole32((uint32_t)length) : 0,
		.type = (type & IBV_FLUSH_GLOBAL ? VHCA_FLUSH_GLOBAL : 0) |
			(type & IBV_FLUSH_PERSISTENT ? VHCA_FLUSH_PERSISTENT : 0),
		.level = level == IBV_FLUSH_MR ? VHCA_FLUSH_MR : VHCA_FLUSH_RANGE,
	};
	wqe->len += sizeof(*seg);
	return 0;
}
#endif

/**
 * wqe_bind() - set the operands of a bind
 * @wqe: request
 * @key: the window's new key
 * @info: region and range; checked by the caller
 */
static inline void wqe_bind(struct vhca_wqe *wqe, uint32_t key,
			    const struct ibv_mw_bind_info *info)
{
	struct vhca_wqe_bind *seg = wqe_at(wqe, wqe->len);

	*seg = (struct vhca_wqe_bind) { .key = htole32(key) };
	if (info->length) {
		seg->mr_key = htole32(info->mr->lkey);
		seg->addr = htole64(info->addr);
		seg->length = htole64(info->length);
		seg->access = vhca_window_access(info->mw_access_flags);
	}
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
 * Return: 0, EINVAL if the request would have more than it may, ENOMEM if the ring is full.
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
	uint64_t end;

	wqe->ctrl.nblk = wqe_blocks(wqe->len);
	memcpy(wqe_at(wqe, 0), &wqe->ctrl, sizeof(wqe->ctrl));
	end = wqe->start + wqe->ctrl.nblk;
	wqe->wq->nth[vhca_ring_slot(end - 1, wqe->wq->log)] = ++wqe->wq->built;
	return end;
}

/* Forgets requests that have been built and are not posted. */
static inline void wqe_forget(struct vhca_wq *wq)
{
	uint64_t head = atomic_load_explicit(&wq->head, memory_order_relaxed);

	wq->built = wq->nth[vhca_ring_slot(head - 1, wq->log)];
}

#endif /* VHCA_WQE_H */
