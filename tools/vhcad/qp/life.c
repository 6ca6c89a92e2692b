// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: made and freed.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/topo.h"
#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/life.h"
#include "qp/mcg.h"
#include "qp/ready.h"
#include "qp/recv.h"
#include "qp/requester.h"
#include "qp/responder.h"
#include "qp/special.h"
#include "qp/srq.h"
#include "res/command.h"

/* The number of a destroyed QP is not used for two local ACK timeouts, or for this time if less. */
#define REST_MAX_NS	8000000000ull

static u64 rest_time(const struct vqp *qp)
{
	u64 wait;

	if (qp->state < QPS_RTR)
		return 0;
	wait = 2 * (4096ull << qp->attr.timeout);
	return adapter_now(&qp->dev->adapter) + MIN(wait, REST_MAX_NS);
}

/* Objects that a QP uses for all of its life count their users. */
static void count_parents(struct vqp *qp, int n)
{
	if (qp_is_target(qp)) {
		qp->xrcd->users += n;
		return;
	}
	qp->pd->users += n;
	qp->scq->users += n;
	if (qp->rcq)
		qp->rcq->users += n;
	if (qp->srq)
		qp->srq->users += n;
}

/*
 * Windows and groups that a QP leaves in one pass.  In a fabric with many switches the tree of a
 * group is computed anew when its last member leaves.
 */
#define LET_GO		64u
#define LET_GO_TREES	4u

bool qp_let_go(struct vqp *qp)
{
	u32 most = fab_has_topology(qp->dev->port[0].fab.fabric) ? LET_GO_TREES : LET_GO;

	if (qp_in_groups(qp))
		most = mcg_detach(qp, most);
	return mkey_forget_owner(&qp->keys, most);
}

static void free_qp(struct vqp *qp)
{
	free((u8 *)qp - qp->lead);
}

static void give_slots(struct vqp *qp)
{
	struct dbrec recv = qp_rec_recv(qp);

	uar_slot_give(&recv);
	uar_slot_give(&qp->rec_send);
}

void qp_destroy(struct vqp *qp)
{
	struct vhca_dev *dev = qp->dev;

	counter_bind(qp, NULL);
	if (qp_is_special(qp))
		special_leave(qp);
	else
		table_del(&dev->qps, qpn_index(qp->qpn), rest_time(qp));
	qp_not_ready(qp);
	wqe_forget(qp);
	timer_fini(&dev->adapter.timers, &qp->req.timer);
	evnode_fini(&qp->ev);
	give_slots(qp);
	qp->uar->users--;
	count_parents(qp, -1);
	if (qp_is_target(qp))
		xrc_leave(qp);
	free(qp->recv.kept);
	free(qp->resp.res);
	free_qp(qp);
}

#define REQ_FIELD(f)	offsetof(struct vhca_create_qp_hw_req, f)

static enum vhca_status check_empty_buf(struct command *c, u32 off)
{
	for (u32 i = 0; i < sizeof(struct vhca_buf); i++)
		if (c->sqe.req[off + i])
			return refuse(c, VHCA_ST_BAD_FIELD, off + i);
	return VHCA_ST_OK;
}

static enum vhca_status take_rings(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	enum vhca_status st;

	qp->log_sq = req->log_sq_blocks;
	qp->log_rq = req->log_rq_strides;
	qp->log_stride = req->log_rq_stride;
	if (qp->log_sq == VHCA_NO_QUEUE) {
		st = check_empty_buf(c, REQ_FIELD(sq));
	} else {
		if (qp->log_sq > VDEV_LOG_MAX_BLOCKS)
			return BAD_FIELD(c, vhca_create_qp_hw_req, log_sq_blocks);
		st = command_ring(c, REQ_FIELD(sq), (u64)VHCA_WQE_BLOCK << qp->log_sq,
				  VHCA_WQE_BLOCK, false, &qp->sq);
	}
	if (st)
		return st;
	if (qp->log_rq == VHCA_NO_QUEUE) {
		if (qp->log_stride)
			return BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_stride);
		return check_empty_buf(c, REQ_FIELD(rq));
	}
	if (qp->log_rq > VDEV_LOG_MAX_STRIDES)
		return BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_strides);
	if (qp->log_stride < VDEV_LOG_MIN_STRIDE || qp->log_stride > VDEV_LOG_MAX_STRIDE)
		return BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_stride);
	return command_ring(c, REQ_FIELD(rq), 1ull << (qp->log_rq + qp->log_stride),
			    1u << qp->log_stride, false, &qp->rq);
}

static const struct qp_type {
	bool known;
	u8 cap;			/* enum vhca_cap */
	u8 service;		/* enum wire_service */
} qp_types[] = {
	[VHCA_QPT_SMI] = { true, VHCA_CAP_SMI_GSI, WIRE_UD },
	[VHCA_QPT_GSI] = { true, VHCA_CAP_SMI_GSI, WIRE_UD },
	[VHCA_QPT_RC] = { true, VHCA_CAP_RC, WIRE_RC },
	[VHCA_QPT_UC] = { true, VHCA_CAP_UC, WIRE_UC },
	[VHCA_QPT_UD] = { true, VHCA_CAP_UD, WIRE_UD },
	[VHCA_QPT_XRC_INI] = { true, VHCA_CAP_XRC, WIRE_XRC },
	[VHCA_QPT_XRC_TGT] = { true, VHCA_CAP_XRC, WIRE_XRC },
};

static u8 type_flags(u8 type)
{
	switch (type) {
	case VHCA_QPT_XRC_TGT:
		return 0;
	case VHCA_QPT_SMI:
	case VHCA_QPT_GSI:
	case VHCA_QPT_XRC_INI:
		return VHCA_QP_SIGNAL_ALL;
	case VHCA_QPT_UD:
		return VHCA_QP_SIGNAL_ALL | VHCA_QP_SRQ | VHCA_QP_NO_MC_LOOP |
		       VHCA_QP_RX_CSUM;
	default:
		return VHCA_QP_SIGNAL_ALL | VHCA_QP_SRQ;
	}
}

/* An XRC target has a domain and nothing else. */
static enum vhca_status take_target(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);

	INIT_LIST_HEAD(&qp->in_srq);
	qp->xrcd = table_get(&c->dev->xrcds, le32toh(req->xrcdn));
	if (!qp->xrcd)
		return BAD_HANDLE(c, vhca_create_qp_hw_req, xrcdn);
	if (req->pdn)
		return BAD_FIELD(c, vhca_create_qp_hw_req, pdn);
	if (req->send_cqn)
		return BAD_FIELD(c, vhca_create_qp_hw_req, send_cqn);
	if (req->recv_cqn)
		return BAD_FIELD(c, vhca_create_qp_hw_req, recv_cqn);
	if (req->log_sq_blocks != VHCA_NO_QUEUE)
		return BAD_FIELD(c, vhca_create_qp_hw_req, log_sq_blocks);
	if (req->log_rq_strides != VHCA_NO_QUEUE)
		return BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_strides);
	return VHCA_ST_OK;
}

static enum vhca_status take_queues(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;

	INIT_LIST_HEAD(&qp->mcgs);
	if (req->xrcdn)
		return BAD_FIELD(c, vhca_create_qp_hw_req, xrcdn);
	qp->pd = table_get(&dev->pds, le32toh(req->pdn));
	if (!qp->pd)
		return BAD_HANDLE(c, vhca_create_qp_hw_req, pdn);
	qp->scq = table_get(&dev->cqs, le32toh(req->send_cqn));
	if (!qp->scq)
		return BAD_HANDLE(c, vhca_create_qp_hw_req, send_cqn);
	if (req->type == VHCA_QPT_XRC_INI) {
		if (req->recv_cqn)
			return BAD_FIELD(c, vhca_create_qp_hw_req, recv_cqn);
		return req->log_rq_strides == VHCA_NO_QUEUE ? VHCA_ST_OK :
		       BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_strides);
	}
	qp->rcq = table_get(&dev->cqs, le32toh(req->recv_cqn));
	return qp->rcq ? VHCA_ST_OK : BAD_HANDLE(c, vhca_create_qp_hw_req, recv_cqn);
}

/* Looks up the objects that a QP uses, and takes over the plain fields. */
static enum vhca_status take_parents(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	enum vhca_status st;

	if (req->type >= ARRAY_SIZE(qp_types) || !qp_types[req->type].known)
		return BAD_FIELD(c, vhca_create_qp_hw_req, type);
	if (!(dev->caps >> qp_types[req->type].cap & 1))
		return UNSUPPORTED(c, vhca_create_qp_hw_req, type);
	if (req->flags & ~type_flags(req->type))
		return BAD_FIELD(c, vhca_create_qp_hw_req, flags);
	if (req->flags & VHCA_QP_NO_MC_LOOP && !(dev->caps >> VHCA_CAP_MCAST & 1))
		return UNSUPPORTED(c, vhca_create_qp_hw_req, flags);
	if (req->flags & VHCA_QP_RX_CSUM && !(dev->caps >> VHCA_CAP_UD_CSUM & 1))
		return UNSUPPORTED(c, vhca_create_qp_hw_req, flags);
	if (le32toh(req->max_inline) > VDEV_MAX_INLINE)
		return BAD_FIELD(c, vhca_create_qp_hw_req, max_inline);
	qp->type = req->type;
	qp->service = qp_types[req->type].service;
	qp->flags = req->flags;
	qp->max_inline = le32toh(req->max_inline);
	st = special_check(c, qp);
	if (st)
		return st;
	qp->uar = table_get(&dev->uars, le32toh(req->uar));
	if (!qp->uar)
		return BAD_HANDLE(c, vhca_create_qp_hw_req, uar);
	return qp_is_target(qp) ? take_target(c, qp) : take_queues(c, qp);
}

/* Looks up the SRQ that receives come from, if there is one. */
static enum vhca_status take_srq(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;

	qp->recv.pd = qp->pd;
	if (!(qp->flags & VHCA_QP_SRQ))
		return req->srqn ? BAD_FIELD(c, vhca_create_qp_hw_req, srqn) : VHCA_ST_OK;
	if (!(dev->caps >> VHCA_CAP_SRQ & 1))
		return UNSUPPORTED(c, vhca_create_qp_hw_req, flags);
	qp->srq = table_get(&dev->srqs, le32toh(req->srqn));
	if (!qp->srq)
		return BAD_HANDLE(c, vhca_create_qp_hw_req, srqn);
	if (req->log_rq_strides != VHCA_NO_QUEUE)
		return BAD_FIELD(c, vhca_create_qp_hw_req, log_rq_strides);
	qp->recv.pd = qp->srq->pd;
	return VHCA_ST_OK;
}

static void sq_rung(void *owner)
{
	req_doorbell(owner);
}

/* Receives are taken when messages arrive; but those of a failed QP are to be flushed. */
static void rq_rung(void *owner)
{
	struct vqp *qp = owner;

	if (qp->state == QPS_ERR)
		qp_ready(qp);
}

/* From now on the QP can be found by its number. */
static enum vhca_status take_number(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	u32 idx;
	int err;

	if (qp_is_special(qp)) {
		special_join(qp, &dev->port[req->port - 1]);
		return VHCA_ST_OK;
	}
	err = table_add(&dev->qps, qp, adapter_now(&dev->adapter), &idx);
	if (err)
		return command_table_error(c, VLIM_QPS, err);
	qp->qpn = (table_gen(&dev->qps, idx) << QPN_SHIFT | idx) & ((1u << QPN_BITS) - 1);
	return VHCA_ST_OK;
}

static enum vhca_status init_qp(struct command *c, struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	enum vhca_status st;
	struct dbrec recv;

	st = take_parents(c, qp);
	if (!st)
		st = take_srq(c, qp);
	if (!st)
		st = take_rings(c, qp);
	if (st)
		return st;
	if (qp_shares(qp)) {
		qp->recv.kept = calloc(1, sizeof(*qp->recv.kept));
		if (!qp->recv.kept)
			return VHCA_ST_INTERNAL;
	}
	st = command_slots(c, REQ_FIELD(db_slot), qp->uar, le32toh(req->db_slot), sq_rung,
			   rq_rung, qp, &qp->rec_send, &recv);
	if (st)
		goto free;
	if (timer_init(&dev->adapter.timers, &qp->req.timer, req_timeout)) {
		st = VHCA_ST_INTERNAL;
		goto slots;
	}
	st = take_number(c, qp);
	if (!st)
		return VHCA_ST_OK;
	timer_fini(&dev->adapter.timers, &qp->req.timer);
slots:
	give_slots(qp);
free:
	free(qp->recv.kept);
	return st;
}

/* Requests under way at the most: more than one if they are acknowledged. */
static u32 most_requests(const struct vhca_create_qp_hw_req *req)
{
	bool acked = req->type == VHCA_QPT_RC || req->type == VHCA_QPT_XRC_INI;

	if (!acked || req->log_sq_blocks > VDEV_LOG_MAX_BLOCKS)
		return 1;
	return MIN(TX_OUTSTANDING, 1u << req->log_sq_blocks);
}

/*
 * Makes a QP with room for @n requests, which is a power of two, or returns NULL.  To align it here
 * takes 48 bytes.  aligned_alloc() would cut it out of a piece with 96 bytes more, and too little
 * fits into what is left.
 */
static struct vqp *alloc_qp(u32 n)
{
	u8 *mem = calloc(1, CACHE_LINE - _Alignof(max_align_t) + sizeof(struct vqp) +
			 n * sizeof(struct tx_req));
	struct vqp *qp;
	u8 lead;

	if (!mem)
		return NULL;
	lead = -(uintptr_t)mem % CACHE_LINE;
	qp = (struct vqp *)(mem + lead);
	qp->lead = lead;
	qp->req.q = qp->requests;
	qp->req.qmask = n - 1;
	return qp;
}

enum vhca_status cmd_create_qp(struct command *c)
{
	struct vqp *qp = alloc_qp(most_requests(command_req(c)));
	enum vhca_status st;

	if (!qp)
		return VHCA_ST_INTERNAL;
	qp->dev = c->dev;
	INIT_LIST_HEAD(&qp->ready_node);
	INIT_LIST_HEAD(&qp->keys.windows);
	st = init_qp(c, qp);
	if (st) {
		free_qp(qp);
		return st;
	}
	qp->keys.qpn = qp->qpn;
	evnode_init(&qp->ev, qp->qpn);
	qp->ev.port = qp->attr.port;
	qp->uar->users++;
	count_parents(qp, 1);
	return command_object(c, qp->qpn);
}

/* How long a QP that is destroyed may go on sending. */
#define LAST_SENDS_NS	100000000ull

/*
 * Datagrams are not acknowledged, so a program may post its last ones and end without waiting for
 * their completions.  They leave, however late the engine is; only a full link makes them wait in
 * vain.
 */
static bool still_sends(struct vqp *qp, const struct command *c)
{
	const struct rc_requester *r = &qp->req;

	if (!qp_datagrams(qp) || qp->state != QPS_RTS)
		return false;
	req_doorbell(qp);
	return qp->state == QPS_RTS && (r->head != r->tail || r->blk_next != r->blk_prod) &&
	       fab_room(&qp->port->fab) &&
	       adapter_now(&qp->dev->adapter) - c->since < LAST_SENDS_NS;
}

/* Are all adapters that this concerns with this thread?  Groups concern the whole fabric. */
static bool may_let_go(struct vqp *qp)
{
	return resp_may_settle(qp) &&
	       (!qp_in_groups(qp) || adapter_alone(&qp->dev->adapter));
}

enum vhca_status cmd_destroy_qp(struct command *c)
{
	const struct vhca_object_req *req = command_req(c);
	struct vqp *qp = qp_named(c->dev, command_handle(c), req->port);

	if (!qp)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (still_sends(qp, c) || !may_let_go(qp) || !qp_let_go(qp)) {
		c->again = true;
		return VHCA_ST_OK;
	}
	resp_settle(qp);
	qp_destroy(qp);
	return VHCA_ST_OK;
}
