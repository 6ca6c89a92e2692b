// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.  Their receives are completed in the CQs of many QPs
 * and in any order; a place is free again when the device has taken the receive, which it
 * reports in a record of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/minmax.h>

#include "buf.h"
#include "cq.h"
#include "pd.h"
#include "srq.h"
#include "wq.h"

/* Lays out a ring, as far as this provider can; the kernel refuses larger sizes. */
static int lay_out(struct vhca_srq *srq, struct ibv_pd *pd, const struct ibv_srq_attr *attr,
		   struct vhca_context *ctx)
{
	srq->wq.log = ring_log(min(attr->max_wr, VHCA_MAX_WR));
	srq->wq.log_unit = ring_log_stride(min(attr->max_sge, ctx->max_recv_sge));
	return vhca_buf_alloc(&srq->buf, ctx, pd, VHCA_RES_SRQ,
			      ring_size(srq->wq.log + srq->wq.log_unit));
}

/* Checks whether the ring can hold what the kernel has promised, after it has made the SRQ. */
static int begin(struct vhca_srq *srq, struct ibv_pd *pd, struct vhca_context *ctx, uint32_t asked,
		 const struct ibv_srq_attr *attr, const struct vhca_create_srq_resp *resp)
{
	int err;

	if (asked > ring_size(srq->wq.log) || attr->max_wr > ring_size(srq->wq.log) ||
	    VHCA_RWQE_SIZE((uint64_t)attr->max_sge) > ring_size(srq->wq.log_unit))
		return EOPNOTSUPP;
	err = vhca_db_slots(ctx, &srq->db, resp->db_slot, resp->db_mmap);
	if (err)
		return err;
	vhca_pd_get(pd);
	vhca_lock_init(&srq->wq.lock, vhca_thread_of(pd));
	srq->wq.ring = srq->buf.addr;
	srq->wq.max_wr = attr->max_wr;
	srq->wq.max_sge = attr->max_sge;
	srq->vsrq.srq.pd = pd;
	srq->vsrq.srq_num = resp->srqn;
	atomic_init(&srq->refs, 1);
	return 0;
}

/* Cleans up after a failed create: frees what the SRQ has. */
static struct ibv_srq *given_up(struct vhca_srq *srq, int err)
{
	vhca_buf_free(&srq->buf);
	free(srq);
	errno = err;
	return NULL;
}

struct ibv_srq *vhca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct vhca_context *ctx = to_vhca_context(pd->context);
	const struct ibv_srq_attr asked = attr->attr;
	struct vhca_cmd_srq_resp resp = {};
	struct vhca_cmd_srq cmd = {};
	struct vhca_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = lay_out(srq, pd, &attr->attr, ctx);
	if (err)
		return given_up(srq, err);

	cmd.buf_addr = (uintptr_t)srq->buf.addr;
	cmd.log_strides = srq->wq.log;
	cmd.log_stride = srq->wq.log_unit;
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd.ibv_cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		return given_up(srq, err);
	err = begin(srq, pd, ctx, asked.max_wr, &attr->attr, &resp.drv_payload);
	if (err) {
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
		attr->attr = asked;
		return given_up(srq, err);
	}
	return &srq->vsrq.srq;
}

/* Its receives complete in a CQ of its own, for any QP. */
static void join_cq(struct vhca_srq *srq, struct ibv_cq *cq)
{
	srq->user.srq = srq;
	srq->user.key = srq->vsrq.srq_num | VHCA_SRQ_KEY;
	vhca_cq_add_user(to_vhca_cq(cq), &srq->user);
}

static struct ibv_srq *create_xrc(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct vhca_context *ctx = to_vhca_context(context);
	const struct ibv_srq_attr asked = attr->attr;
	struct vhca_cmd_xsrq_resp resp = {};
	struct vhca_cmd_xsrq cmd = {};
	struct vhca_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = lay_out(srq, attr->pd, &attr->attr, ctx);
	if (err)
		return given_up(srq, err);

	cmd.buf_addr = (uintptr_t)srq->buf.addr;
	cmd.log_strides = srq->wq.log;
	cmd.log_stride = srq->wq.log_unit;
	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (err)
		return given_up(srq, err);
	err = begin(srq, attr->pd, ctx, asked.max_wr, &attr->attr, &resp.drv_payload);
	if (err) {
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
		attr->attr = asked;
		return given_up(srq, err);
	}
	join_cq(srq, attr->cq);
	return &srq->vsrq.srq;
}

/* libibverbs calls this for everything but a plain SRQ. */
struct ibv_srq *vhca_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq_init_attr plain = { .attr = attr->attr };
	enum ibv_srq_type type = IBV_SRQT_BASIC;
	struct ibv_srq *srq;
	uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;

	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE)
		type = attr->srq_type;
	if (type == IBV_SRQT_XRC)
		known |= xrc;
	if (!check_comp_mask(attr->comp_mask, known) ||
	    (type != IBV_SRQT_BASIC && type != IBV_SRQT_XRC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) ||
	    (type == IBV_SRQT_XRC && (attr->comp_mask & xrc) != xrc)) {
		errno = EINVAL;
		return NULL;
	}
	if (type == IBV_SRQT_XRC)
		return create_xrc(context, attr);
	srq = vhca_create_srq(attr->pd, &plain);
	if (srq)
		attr->attr = plain.attr;
	return srq;
}

/*
 * Reads how many receives the device has taken, of which it stores 32 bits.  An impossible record
 * is ignored: that of a removed device reads as zero.  Called with the lock held.
 */
static void look_at_taken(struct vhca_srq *srq)
{
	uint64_t tail = atomic_load_explicit(&srq->wq.tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&srq->wq.head, memory_order_relaxed);
	uint64_t taken = vhca_ring_widen(tail, (uint32_t)db_load(&srq->db, 1));

	if (taken - tail <= head - tail)
		atomic_store_explicit(&srq->wq.tail, taken, memory_order_relaxed);
}

/*
 * Copies the receives that the device may still take to another ring, each to the place of its
 * count.  If more are left than fit, the newest are kept: the device refuses the ring unless it has
 * taken the others meanwhile.
 */
static void copy_receives(const struct vhca_wq *from, const struct vhca_wq *to)
{
	uint64_t count = atomic_load_explicit(&from->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&from->head, memory_order_relaxed);

	for (; count < head; count++)
		memcpy(vhca_recv_at(to, count), vhca_recv_at(from, count),
		       ring_size(from->log_unit));
}

/* Called with the lock held. */
static int resize(struct vhca_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct vhca_cmd_modify_srq cmd = {};
	struct vhca_wq to = {
		.log = ring_log(min(attr->max_wr, VHCA_MAX_WR)),
		.log_unit = srq->wq.log_unit,
	};
	struct vhca_buf buf;
	int err;

	look_at_taken(srq);
	err = vhca_buf_alloc(&buf, to_vhca_context(srq->vsrq.srq.context), srq->vsrq.srq.pd,
			     VHCA_RES_SRQ, ring_size(to.log + to.log_unit));
	if (err)
		return err;
	to.ring = buf.addr;
	copy_receives(&srq->wq, &to);

	cmd.buf_addr = (uintptr_t)buf.addr;
	cmd.log_strides = to.log;
	err = ibv_cmd_modify_srq(&srq->vsrq.srq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (err) {
		vhca_buf_free(&buf);
		return err;
	}
	vhca_buf_free(&srq->buf);
	srq->buf = buf;
	srq->wq.ring = to.ring;
	srq->wq.log = to.log;
	srq->wq.max_wr = ring_size(to.log);
	return 0;
}

int vhca_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct vhca_cmd_modify_srq cmd = { .log_strides = VHCA_NO_QUEUE };
	struct vhca_srq *srq = to_vhca_srq(ibsrq);
	int err;

	if (!(mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	vhca_lock(&srq->wq.lock);
	err = resize(srq, attr, mask);
	vhca_unlock(&srq->wq.lock);
	return err;
}

int vhca_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int vhca_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	*srq_num = to_vhca_srq(ibsrq)->vsrq.srq_num;
	return 0;
}

/**
 * vhca_srq_get() - take a reference to an SRQ's memory
 * @srq: SRQ
 */
void vhca_srq_get(struct vhca_srq *srq)
{
	atomic_fetch_add_explicit(&srq->refs, 1, memory_order_relaxed);
}

/**
 * vhca_srq_put() - drop a reference to an SRQ's memory
 * @srq: SRQ, which the last reference frees
 */
void vhca_srq_put(struct vhca_srq *srq)
{
	if (atomic_fetch_sub_explicit(&srq->refs, 1, memory_order_acq_rel) != 1)
		return;
	vhca_buf_free(&srq->buf);
	vhca_pd_put(srq->vsrq.srq.pd);
	vhca_lock_destroy(&srq->wq.lock);
	free(srq);
}

int vhca_destroy_srq(struct ibv_srq *ibsrq)
{
	struct vhca_srq *srq = to_vhca_srq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	if (srq->user.srq) {
		vhca_cq_purge(to_vhca_cq(srq->vsrq.cq), &srq->user);
		vhca_cq_remove_user(to_vhca_cq(srq->vsrq.cq), &srq->user);
	}
	vhca_srq_put(srq);
	return 0;
}

/**
 * vhca_srq_complete() - count a receive of an SRQ whose completion was polled
 * @srq: SRQ
 *
 * They complete in any order and in many CQs, and a destroyed QP may drop its completions: all that
 * is known is that no more complete than were posted.
 *
 * Return: false when more have completed.
 */
bool vhca_srq_complete(struct vhca_srq *srq)
{
	uint64_t before = atomic_load_explicit(&srq->completed, memory_order_relaxed);

	do {
		if (before == atomic_load_explicit(&srq->wq.head, memory_order_acquire))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&srq->completed, &before, before + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

/* Writes as many as fit; reads the device's record once more when they seem not to. */
static int put(struct vhca_srq *srq, const struct ibv_recv_wr *wr, uint64_t head)
{
	int err = vhca_put_recv(&srq->wq, wr, head);

	if (err != ENOMEM)
		return err;
	look_at_taken(srq);
	return vhca_put_recv(&srq->wq, wr, head);
}

int vhca_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct vhca_srq *srq = to_vhca_srq(ibsrq);
	uint64_t start, head;
	int err = 0;

	vhca_lock(&srq->wq.lock);
	start = atomic_load_explicit(&srq->wq.head, memory_order_relaxed);
	for (head = start; wr; wr = wr->next, head++) {
		err = put(srq, wr, head);
		if (err) {
			*bad = wr;
			break;
		}
	}
	if (head != start) {
		/* Pollers must see the receives before the device can complete them. */
		atomic_store_explicit(&srq->wq.head, head, memory_order_release);
		/* The device reads the record when it needs a buffer. */
		db_store(&srq->db, 0, head);
	}
	vhca_unlock(&srq->wq.lock);
	return err;
}
