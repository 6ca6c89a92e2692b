// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC responder: requests that have an answer of their own.
 *
 * The responder keeps what is needed to answer max_dest_rd_atomic requests.  A
 * request that arrives again gets its answer again: for a READ the memory is read
 * anew, everything else is never executed twice.
 */
#include <endian.h>

#include "qp/ready.h"
#include "qp/responder.h"
#include "res/mkey.h"

static void queue_answer(struct vqp *qp, u8 entry)
{
	struct rc_responder *s = &qp->resp;

	if (!s->res[entry].queued) {
		s->res[entry].queued = true;
		s->fifo[(s->fifo_head + s->fifo_n++) % VDEV_MAX_RD_ATOMIC] = entry;
	}
	qp_ready(qp);
}

static void unqueue_answer(struct rc_responder *s, u8 entry)
{
	u8 n = s->fifo_n;

	s->fifo_n = 0;
	for (u8 i = 0; i < n; i++) {
		u8 e = s->fifo[(s->fifo_head + i) % VDEV_MAX_RD_ATOMIC];

		if (e != entry)
			s->fifo[(s->fifo_head + s->fifo_n++) % VDEV_MAX_RD_ATOMIC] = e;
	}
	s->res[entry].queued = false;
}

/*
 * The place for the next answer; NULL: the peer has more requests under way than it may.
 * An answer there that waits to be repeated is dropped: a requester that sends a new request
 * has received it.
 */
static struct resp_res *free_place(struct vqp *qp)
{
	struct rc_responder *s = &qp->resp;
	u8 depth = qp->attr.max_dest_rd_atomic;

	if (s->res_next >= depth)
		s->res_next = 0;
	if (depth && s->res[s->res_next].queued && s->res[s->res_next].again)
		unqueue_answer(s, s->res_next);
	return depth && !s->res[s->res_next].queued ? &s->res[s->res_next] : NULL;
}

/* Keeps the answer to a request that was executed and takes npkts PSNs. */
static void keep_answer(struct vqp *qp, struct resp_res *res, const struct run *run, u32 npkts)
{
	struct rc_responder *s = &qp->resp;

	s->msn = (s->msn + 1) & PSN_MASK;
	*res = (struct resp_res){
		.kind = run->kind,
		.psn = run->h.psn,
		.lap = s->lap,
		.srqn = run->h.srqn,
		.npkts = npkts,
		.end = npkts,
		.msn = s->msn,
	};
	resp_advance(s, npkts);
	/* the answer acknowledges everything before it */
	s->ack = false;
	queue_answer(qp, s->res_next++);
}

static void read_request(struct vqp *qp, struct resp_res *res, struct run *run)
{
	if (run->h.dmalen > VDEV_MAX_MSG) {
		resp_refuse(qp);
		return;
	}
	if (run->h.dmalen && !qp_mkey_find(qp, run->h.rkey, run->h.va, run->h.dmalen,
					   MKEY_READ_REMOTE)) {
		resp_no_access(qp);
		return;
	}
	keep_answer(qp, res, run, run->h.dmalen ? (run->h.dmalen - 1) / qp->mtu + 1 : 1);
	res->va = run->h.va;
	res->rkey = run->h.rkey;
	res->len = run->h.dmalen;
	res->end_off = res->len;
}

/* Atomics, and the atomic write, whose value is its payload. */
static void atomic_request(struct vqp *qp, struct resp_res *res, struct run *run)
{
	struct matomic op = {
		.opcode = VHCA_OP_CMP_SWAP + (run->kind - WIRE_CMP_SWAP),
		.swap_add = run->h.swap_add,
		.compare = run->h.compare,
		.mask = run->h.mask,
		.compare_mask = run->h.compare_mask,
	};
	struct mkey_scope s = qp_scope(qp);
	u64 orig;

	if (run->kind == WIRE_ATOMIC_WRITE) {
		u64 value;

		if (run->h.dmalen != sizeof(value) || run->len != sizeof(value)) {
			resp_refuse(qp);
			return;
		}
		/* the sender's memory is not readable any more, which its own requester reports */
		if (payload_read(run->pl, run->skip, &value, sizeof(value)))
			return;
		op.opcode = VHCA_OP_ATOMIC_WRITE;
		op.swap_add = le64toh(value);
	}
	switch (mkey_atomic(&s, run->h.rkey, run->h.va, &op, &orig)) {
	case VHCA_CS_SUCCESS:
		keep_answer(qp, res, run, 1);
		res->orig = orig;
		break;
	case VHCA_CS_REM_INV_REQ_ERR:
		resp_refuse(qp);
		break;
	default:
		resp_no_access(qp);
		break;
	}
}

static u8 flush_rights(u8 type)
{
	return (type & VHCA_FLUSH_GLOBAL ? VHCA_ACCESS_FLUSH_GLOBAL : 0) |
	       (type & VHCA_FLUSH_PERSISTENT ? VHCA_ACCESS_FLUSH_PERSISTENT : 0);
}

/*
 * The data is in guest memory itself, and there is no persistent memory behind the
 * processor's caches here: a barrier makes it visible to all processors.
 */
static void flush_request(struct vqp *qp, struct resp_res *res, struct run *run)
{
	u64 len = run->h.flush_level == VHCA_FLUSH_MR ? 0 : run->h.dmalen;

	if (!qp_mkey_find(qp, run->h.rkey, run->h.va, len, flush_rights(run->h.flush_type))) {
		resp_no_access(qp);
		return;
	}
	dma_mb();
	keep_answer(qp, res, run, 1);
}

/* Do the device and the QP allow a request? */
static bool allowed(const struct vqp *qp, const struct run *run)
{
	static const struct {
		u64 caps;
		u8 access;
	} needs[] = {
		[WIRE_READ_REQ] = { 0, VHCA_ACCESS_REMOTE_READ },
		[WIRE_CMP_SWAP] = { 1ull << VHCA_CAP_ATOMIC, VHCA_ACCESS_REMOTE_ATOMIC },
		[WIRE_FETCH_ADD] = { 1ull << VHCA_CAP_ATOMIC, VHCA_ACCESS_REMOTE_ATOMIC },
		[WIRE_MASKED_CMP_SWAP] = { 1ull << VHCA_CAP_MASKED_ATOMIC,
					   VHCA_ACCESS_REMOTE_ATOMIC },
		[WIRE_MASKED_FETCH_ADD] = { 1ull << VHCA_CAP_MASKED_ATOMIC,
					    VHCA_ACCESS_REMOTE_ATOMIC },
		[WIRE_ATOMIC_WRITE] = { 1ull << VHCA_CAP_ATOMIC_WRITE, VHCA_ACCESS_REMOTE_WRITE },
		[WIRE_FLUSH] = { 1ull << VHCA_CAP_FLUSH, 0 },
	};
	u8 access = needs[run->kind].access;

	if (run->kind == WIRE_FLUSH) {
		if (!flush_known(run->h.flush_type, run->h.flush_level))
			return false;
		access = flush_rights(run->h.flush_type);
	}
	return !(needs[run->kind].caps & ~qp->dev->caps) && !(access & ~qp->attr.access);
}

void answer_request(struct vqp *qp, struct run *run)
{
	struct resp_res *res = free_place(qp);

	if (!res || !allowed(qp, run)) {
		resp_refuse(qp);
		return;
	}
	switch (run->kind) {
	case WIRE_READ_REQ:
		read_request(qp, res, run);
		break;
	case WIRE_FLUSH:
		flush_request(qp, res, run);
		break;
	default:
		atomic_request(qp, res, run);
		break;
	}
}

/* A PSN as a number that does not wrap: @lap counts the wraps. */
static u64 unrolled(u32 lap, u32 psn)
{
	return (u64)lap << PSN_BITS | psn;
}

/*
 * The kept answer whose PSNs a request names.  A QP that seldom reads keeps an answer until its
 * PSNs are used again after a wrap, by other requests.
 */
static struct resp_res *kept(struct vqp *qp, const struct run *run)
{
	const struct rc_responder *s = &qp->resp;
	u64 psn = unrolled(s->lap, run->h.psn);

	/* the request is an old one: a PSN above the next one is from before the last wrap */
	if (run->h.psn >= s->epsn)
		psn -= 1ull << PSN_BITS;
	for (u32 i = 0; i < qp->attr.max_dest_rd_atomic; i++) {
		struct resp_res *res = &qp->resp.res[i];

		if (psn - unrolled(res->lap, res->psn) < res->npkts)
			return res->kind == run->kind ? res : NULL;
	}
	return NULL;
}

void answer_again(struct vqp *qp, struct run *run)
{
	struct resp_res *res = kept(qp, run);
	u32 first;
	u64 off;

	if (!res)
		return;
	if (run->kind == WIRE_READ_REQ) {
		first = (run->h.psn - res->psn) & PSN_MASK;
		off = (u64)first * qp->mtu;
		/* only what the first request was allowed to read, or the end of it */
		if (run->h.rkey != res->rkey || run->h.va != res->va + off ||
		    run->h.dmalen > res->len - off)
			return;
		res->start = first;
		res->end = first + (run->h.dmalen ? (run->h.dmalen - 1) / qp->mtu + 1 : 1);
		res->end_off = off + run->h.dmalen;
	}
	res->sent = res->start;
	res->again |= !res->queued;
	queue_answer(qp, res - qp->resp.res);
}
