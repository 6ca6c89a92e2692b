// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: creating, arming and destroying them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/minmax.h>

#include "buf.h"
#include "clock.h"
#include "cq.h"
#include "pd.h"
#include "release.h"

/* Fields that extended polling offers. */
#define WC_FLAGS_ALWAYS	IBV_WC_STANDARD_FLAGS

static uint64_t wc_flags_known(const struct vhca_context *ctx)
{
	uint64_t known = WC_FLAGS_ALWAYS;

	if (ctx->features & VHCA_UCTX_F_TIMESTAMP)
		known |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	if (ctx->features & VHCA_UCTX_F_CLOCK)
		known |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	return known;
}

static bool used_by_one_thread(const struct ibv_cq_init_attr_ex *attr, struct ibv_pd *pd)
{
	return vhca_thread_of(pd) || (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
				      attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

static struct vhca_cq *create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_pd *pd = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain :
									  NULL;
	struct vhca_context *ctx = to_vhca_context(context);
	struct vhca_cmd_cq_resp resp = {};
	struct vhca_cmd_cq cmd = {};
	struct vhca_cq *cq;
	int err;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = vhca_cq_users_init(cq);
	if (err)
		goto err_free;
	cq->log = ring_log(min(attr->cqe, VHCA_MAX_CQE));
	err = vhca_buf_alloc(&cq->buf, ctx, pd, VHCA_RES_CQ, sizeof(struct vhca_cqe) << cq->log);
	if (err)
		goto err_users;

	cmd.buf_addr = (uintptr_t)cq->buf.addr;
	cmd.log_cqe = cq->log;
	err = vhca_cmd_create_cq(ctx, attr, cq, &cmd, &resp);
	if (err)
		goto err_buf;
	err = vhca_db_slots(ctx, &cq->db, resp.db_slot, resp.db_mmap);
	if (err)
		goto err_destroy;
	vhca_lock_init(&cq->lock, used_by_one_thread(attr, pd));
	vhca_lock_init(&cq->arm_lock, used_by_one_thread(attr, pd));
	cq->pd = pd;
	if (pd)
		vhca_pd_get(pd);
	atomic_init(&cq->refs, 1);
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_buf:
	vhca_buf_free(&cq->buf);
err_users:
	vhca_cq_users_exit(cq);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *vhca_create_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct vhca_cq *cq = create_cq(context, &attr);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *vhca_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t flags_known = IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
				     IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	struct vhca_clock_sync clock = {};
	struct vhca_cq *cq;
	int err;

	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(attr->wc_flags, wc_flags_known(to_vhca_context(context))) ||
	    (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	     !check_comp_mask(attr->flags, flags_known))) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!attr->parent_domain || attr->parent_domain->context != context ||
	     !to_vhca_pd(attr->parent_domain)->protects)) {
		errno = EINVAL;
		return NULL;
	}

	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) {
		err = vhca_clock_sync(context, &clock);
		if (err) {
			errno = err;
			return NULL;
		}
	}

	cq = create_cq(context, attr);
	if (!cq)
		return NULL;
	cq->clock = clock;
	vhca_cq_set_poll_ops(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int vhca_destroy_cq(struct ibv_cq *ibcq)
{
	int err = ibv_cmd_destroy_cq(ibcq);

	if (!err)
		vhca_cq_put(to_vhca_cq(ibcq));
	return err;
}

/*
 * Only the device knows whether an arming for any completion is still unanswered; it can be named
 * to the device unless it is too old.
 */
static uint64_t arm_solicited(struct vhca_cq *cq, uint64_t cons)
{
	uint32_t seq = vhca_arm_next_seq(cq->arm_seq);
	uint32_t since = (seq - cq->any_seq) & VHCA_ARM_SEQ_MASK;

	cq->arm_seq = seq;
	if (cq->any_seq && since > VHCA_ARM_SINCE_MASK) {
		/* That arming was for an entry that was polled meanwhile, so it needs no answer. */
		if (cons == cq->any_cons)
			cq->any_seq = seq;
		else
			cq->any_seq = 0;
		return arm_value(cons, seq, !cq->any_seq);
	}
	return arm_value(cons, seq, !cq->armed_any) |
	       (uint64_t)(cq->any_seq ? since : 0) << VHCA_ARM_SINCE_SHIFT;
}

static uint64_t arm_any(struct vhca_cq *cq, uint64_t cons)
{
	cq->arm_seq = vhca_arm_next_seq(cq->arm_seq);
	cq->any_seq = cq->arm_seq;
	cq->any_cons = cons;
	cq->armed_any = true;
	return arm_value(cons, cq->any_seq, false);
}

/**
 * vhca_req_notify_cq() - ask for one event
 * @ibcq: CQ
 * @solicited_only: for solicited completions and errors only
 *
 * Asking for solicited completions does not cancel an earlier, unanswered call for all.
 *
 * The program may be in the middle of extended polling, here or in another thread: so this does not
 * take the CQ's lock, and uses the consumer count that was stored for the device last.  The next
 * entry that the device writes is behind that count, too.
 *
 * Return: 0.
 */
int vhca_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct vhca_cq *cq = to_vhca_cq(ibcq);
	uint64_t cons;

	vhca_lock(&cq->arm_lock);
	cons = db_load(&cq->db, 0);
	db_arm(&cq->db, solicited_only ? arm_solicited(cq, cons) : arm_any(cq, cons));
	vhca_unlock(&cq->arm_lock);
	return 0;
}

int vhca_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd;

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

/* The program reads an event of the CQ, possibly while it polls. */
void vhca_cq_event(struct ibv_cq *ibcq)
{
	struct vhca_cq *cq = to_vhca_cq(ibcq);

	vhca_lock(&cq->arm_lock);
	cq->armed_any = false;
	vhca_unlock(&cq->arm_lock);
}
