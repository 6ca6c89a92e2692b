// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Moving a CQ to a ring of another size while completions arrive.
 *
 * The device goes on in the new ring at an entry of its choice and tells which.
 * Entries before it that were not polled are copied by the provider: both rings are
 * left alone by pollers meanwhile, as the CQ's lock is held from beginning to end.
 */
#include <errno.h>
#include <string.h>

#include <ccan/minmax.h>

#include "buf.h"
#include "cq.h"

/* Makes no entry of a ring of zeroes valid, from a count on. */
static void invalidate(struct vhca_cqe *ring, uint8_t log, uint64_t from)
{
	uint64_t count;

	for (count = from; count < from + ring_size(log); count++)
		if (!vhca_ring_lap(count, log))
			ring[vhca_ring_slot(count, log)].owner = VHCA_CQE_OWNER;
}

/*
 * Copies the entries up to first from the ring that the device has left.
 *
 * Return: 0, or EPROTO when there are more than the device can have written.
 */
static int copy_entries(struct vhca_cq *cq, struct vhca_cqe *ring, uint8_t log, uint64_t first)
{
	uint64_t end = cq->cons + min_t(uint64_t, ring_size(cq->log), ring_size(log));
	struct vhca_cqe *to;
	uint64_t count;

	for (count = cq->cons; count < min(first, end); count++) {
		if (!vhca_cqe_fresh(cq, count))
			break;
		to = &ring[vhca_ring_slot(count, log)];
		memcpy(to, vhca_cqe_at(cq, count), sizeof(*to));
		to->owner = vhca_ring_lap(count, log);
	}
	return count == first ? 0 : EPROTO;
}

/* Called with the lock held. */
static int resize(struct vhca_cq *cq, uint32_t cqe)
{
	/* The kernel refuses an impossible size; no ring of that size is needed for it. */
	uint8_t log = cqe > VHCA_MAX_CQE ? 0 : ring_log(cqe);
	struct vhca_context *ctx = to_vhca_context(cq->vcq.cq.context);
	struct vhca_cmd_resize_cq_resp resp = {};
	struct vhca_cmd_resize_cq cmd = {};
	struct vhca_buf buf;
	int err;

	err = vhca_buf_alloc(&buf, ctx, cq->pd, VHCA_RES_CQ, sizeof(struct vhca_cqe) << log);
	if (err)
		return err;
	invalidate(buf.addr, log, cq->cons);
	/* The device decides by the number of entries that are not polled. */
	db_store(&cq->db, 0, cq->cons);

	cmd.buf_addr = (uintptr_t)buf.addr;
	cmd.log_cqe = log;
	err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (err) {
		vhca_buf_free(&buf);
		return err;
	}
	err = copy_entries(cq, buf.addr, log, vhca_ring_widen(cq->cons, resp.first));
	if (err)
		verbs_err(&ctx->vctx, "CQ %u: %#x is no entry to go on with after a resize\n",
			  cq->vcq.cq.handle, resp.first);
	/* The device has moved, whatever the answer was. */
	vhca_buf_free(&cq->buf);
	cq->buf = buf;
	cq->log = log;
	return err;
}

int vhca_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct vhca_cq *cq = to_vhca_cq(ibcq);
	int err;

	vhca_lock(&cq->lock);
	err = resize(cq, cqe);
	vhca_unlock(&cq->lock);
	return err;
}
