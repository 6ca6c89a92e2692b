// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP state machine: the transitions, the attributes that each requires and
 * allows, and what it does.
 */
#include <stdlib.h>
#include <string.h>

#include "qp/complete.h"
#include "qp/life.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/requester.h"
#include "qp/responder.h"
#include "qp/special.h"
#include "qp/srq.h"
#include "res/command.h"

#define A(name)		VHCA_QPA_##name

#define SPECIAL	(1u << VHCA_QPT_SMI | 1u << VHCA_QPT_GSI)
#define RC	(1u << VHCA_QPT_RC)
#define UC	(1u << VHCA_QPT_UC)
#define UD	(1u << VHCA_QPT_UD)
#define INI	(1u << VHCA_QPT_XRC_INI)
#define TGT	(1u << VHCA_QPT_XRC_TGT)
#define CONN	(RC | INI | TGT)
#define UNRELIABLE	(UC | UD | SPECIAL)
#define EVERY	(CONN | UNRELIABLE)

/* The attributes that QPs of a type have. */
#define CONNECTED	(A(ACCESS_FLAGS) | A(AV) | A(PATH_MTU) | A(RQ_PSN) | A(DEST_QPN) | \
			 A(PATH_MIG_STATE) | A(ALT_PATH))
#define DATAGRAMS	(A(EN_SQD_ASYNC_NOTIFY) | A(PKEY_INDEX) | A(SQ_PSN) | A(QKEY))
static const u32 type_attrs[] = {
	[VHCA_QPT_SMI] = DATAGRAMS,
	[VHCA_QPT_GSI] = DATAGRAMS,
	[VHCA_QPT_RC] = ~A(QKEY),
	[VHCA_QPT_UC] = A(EN_SQD_ASYNC_NOTIFY) | A(PKEY_INDEX) | A(PORT) | A(SQ_PSN) | CONNECTED,
	[VHCA_QPT_UD] = DATAGRAMS | A(PORT),
	[VHCA_QPT_XRC_INI] = ~(A(QKEY) | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER)),
	[VHCA_QPT_XRC_TGT] = ~(A(QKEY) | A(RETRY_CNT) | A(RNR_RETRY) | A(MAX_QP_RD_ATOMIC)),
};

/* A transition: the attributes that it needs, and others that it may set, if the type has them. */
struct transition {
	u8 from, to;
	u16 types;
	u32 must;
	u32 may;
};

static const struct transition transitions[] = {
	{ QPS_RESET, QPS_INIT, EVERY,
	  A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS) | A(QKEY), 0 },
	{ QPS_INIT, QPS_INIT, EVERY, 0,
	  A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS) | A(QKEY) },
	{ QPS_INIT, QPS_RTR, EVERY,
	  A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN) | A(MAX_DEST_RD_ATOMIC) |
	  A(MIN_RNR_TIMER),
	  A(ACCESS_FLAGS) | A(PKEY_INDEX) | A(ALT_PATH) | A(QKEY) },
	{ QPS_RTR, QPS_RTS, EVERY,
	  A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(SQ_PSN) | A(MAX_QP_RD_ATOMIC),
	  A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) | A(ALT_PATH) | A(QKEY) },
	{ QPS_RTS, QPS_RTS, EVERY, 0,
	  A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) | A(ALT_PATH) | A(QKEY) },
	{ QPS_RTS, QPS_SQD, EVERY, 0, A(EN_SQD_ASYNC_NOTIFY) },
	{ QPS_SQD, QPS_SQD, CONN, 0,
	  A(PORT) | A(AV) | A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(MAX_QP_RD_ATOMIC) |
	  A(MAX_DEST_RD_ATOMIC) | A(PKEY_INDEX) | A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) |
	  A(PATH_MIG_STATE) | A(ALT_PATH) },
	{ QPS_SQD, QPS_SQD, UNRELIABLE, 0,
	  A(AV) | A(PKEY_INDEX) | A(ACCESS_FLAGS) | A(PATH_MIG_STATE) | A(ALT_PATH) | A(QKEY) },
	{ QPS_SQD, QPS_RTS, EVERY, 0,
	  A(ACCESS_FLAGS) | A(MIN_RNR_TIMER) | A(PATH_MIG_STATE) | A(ALT_PATH) | A(QKEY) },
	{ QPS_SQE, QPS_RTS, UNRELIABLE, 0, A(ACCESS_FLAGS) | A(QKEY) },
};

static const struct transition *find_transition(u8 type, u8 from, u8 to)
{
	static const struct transition to_reset = { .to = QPS_RESET };
	static const struct transition to_err = { .to = QPS_ERR };

	if (to == QPS_RESET)
		return &to_reset;
	if (to == QPS_ERR)
		return &to_err;
	for (u32 i = 0; i < ARRAY_SIZE(transitions); i++) {
		const struct transition *t = &transitions[i];

		if (t->from == from && t->to == to && t->types >> type & 1)
			return t;
	}
	return NULL;
}

#define FIELD(f)	offsetof(struct vhca_modify_qp_req, attr.f)

/* Attributes that must not exceed a limit, and that no other check is about. */
static const struct limit {
	u32 bit;
	u32 off;
	u32 size;
	u32 max;
} limits[] = {
	{ A(EN_SQD_ASYNC_NOTIFY), FIELD(en_sqd_async_notify), 1, 1 },
	{ A(PKEY_INDEX), FIELD(pkey_index), 2, PORT_PKEYS - 1 },
	{ A(TIMEOUT), FIELD(timeout), 1, 31 },
	{ A(RETRY_CNT), FIELD(retry_cnt), 1, 7 },
	{ A(RNR_RETRY), FIELD(rnr_retry), 1, 7 },
	{ A(MIN_RNR_TIMER), FIELD(min_rnr_timer), 1, 31 },
	{ A(MAX_QP_RD_ATOMIC), FIELD(max_rd_atomic), 1, VDEV_MAX_RD_ATOMIC },
	{ A(MAX_DEST_RD_ATOMIC), FIELD(max_dest_rd_atomic), 1, VDEV_MAX_RD_ATOMIC },
	{ A(RQ_PSN), FIELD(rq_psn), 4, PSN_MASK },
	{ A(SQ_PSN), FIELD(sq_psn), 4, PSN_MASK },
	{ A(DEST_QPN), FIELD(dest_qpn), 4, (1u << QPN_BITS) - 1 },
	{ A(PATH_MIG_STATE), FIELD(path_mig_state), 1, MIG_REARM },
	{ A(ALT_PATH), FIELD(alt_pkey_index), 2, PORT_PKEYS - 1 },
	{ A(ALT_PATH), FIELD(alt_timeout), 1, 31 },
};

static u32 field_value(const struct vhca_modify_qp_req *req, u32 off, u32 size)
{
	u32 v = 0;

	memcpy(&v, (const u8 *)req + off, size);
	return le32toh(v);
}

/* Checks the alternate path, which has to be there when migration is to be armed. */
static enum vhca_status check_migration(struct command *c, const struct vqp *qp, u32 mask)
{
	const struct vhca_modify_qp_req *req = command_req(c);
	const struct vhca_qp_attr *a = &req->attr;
	u32 bad;

	if (mask & A(ALT_PATH)) {
		/* Ethernet has no automatic migration */
		if (!a->alt_port || a->alt_port > c->dev->nports ||
		    c->dev->port[a->alt_port - 1].fab.eth)
			return BAD_FIELD(c, vhca_modify_qp_req, attr.alt_port);
		bad = av_check(&a->alt_av, &c->dev->port[a->alt_port - 1], AV_CONNECTED);
		if (bad != AV_GOOD)
			return refuse(c, VHCA_ST_BAD_FIELD, FIELD(alt_av) + bad);
	}
	if (mask & A(PATH_MIG_STATE) && a->path_mig_state == MIG_REARM &&
	    !(mask & A(ALT_PATH)) && !qp->attr.alt_port)
		return BAD_FIELD(c, vhca_modify_qp_req, attr.path_mig_state);
	return VHCA_ST_OK;
}

static enum vhca_status check_values(struct command *c, const struct vqp *qp, u32 mask)
{
	const struct vhca_modify_qp_req *req = command_req(c);
	const struct vhca_qp_attr *a = &req->attr;
	u8 port = mask & A(PORT) ? a->port : qp->attr.port;
	u32 bad = AV_GOOD;

	for (u32 i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *l = &limits[i];

		if (mask & l->bit && field_value(req, l->off, l->size) > l->max)
			return refuse(c, VHCA_ST_BAD_FIELD, l->off);
	}
	if (mask & A(ACCESS_FLAGS) && a->access & ~(dev_access(c->dev) & ~VHCA_ACCESS_MW_BIND))
		return BAD_FIELD(c, vhca_modify_qp_req, attr.access);
	if (mask & A(PORT) && (!port || port > c->dev->nports))
		return BAD_FIELD(c, vhca_modify_qp_req, attr.port);
	if (mask & A(PKEY_INDEX) && port &&
	    le16toh(a->pkey_index) >= vport_pkeys(&c->dev->port[port - 1]))
		return BAD_FIELD(c, vhca_modify_qp_req, attr.pkey_index);
	if (mask & A(PATH_MTU) && (!a->path_mtu || a->path_mtu > c->dev->max_mtu))
		return BAD_FIELD(c, vhca_modify_qp_req, attr.path_mtu);
	if (mask & A(AV))
		bad = av_check(&a->av, &c->dev->port[port - 1], AV_CONNECTED);
	if (bad != AV_GOOD)
		return refuse(c, VHCA_ST_BAD_FIELD, FIELD(av) + bad);
	if (mask & A(PORT) && !(mask & A(AV)) && qp->state == QPS_SQD && port != qp->attr.av.port)
		return BAD_FIELD(c, vhca_modify_qp_req, attr.port);
	return check_migration(c, qp, mask);
}

static void copy_values(struct vqp *qp, const struct vhca_qp_attr *a, u32 mask)
{
	struct vhca_qp_attr *d = &qp->attr;

#define COPY(bit, f)	do { if (mask & A(bit)) d->f = a->f; } while (0)
	COPY(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	COPY(ACCESS_FLAGS, access);
	COPY(PKEY_INDEX, pkey_index);
	COPY(PORT, port);
	COPY(QKEY, qkey);
	COPY(AV, av);
	COPY(PATH_MTU, path_mtu);
	COPY(TIMEOUT, timeout);
	COPY(RETRY_CNT, retry_cnt);
	COPY(RNR_RETRY, rnr_retry);
	COPY(RQ_PSN, rq_psn);
	COPY(MAX_QP_RD_ATOMIC, max_rd_atomic);
	COPY(MIN_RNR_TIMER, min_rnr_timer);
	COPY(SQ_PSN, sq_psn);
	COPY(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	COPY(DEST_QPN, dest_qpn);
	COPY(ALT_PATH, alt_av);
	COPY(ALT_PATH, alt_port);
	COPY(ALT_PATH, alt_pkey_index);
	COPY(ALT_PATH, alt_timeout);
#undef COPY
}

/* Puts a QP into the state after its creation; it keeps the objects that it uses. */
static void reset_qp(struct vqp *qp)
{
	/* the driver may wait for the event: send it even if the flush has not come that far */
	bool last = qp->ev.bits & 1u << EVB_LAST_WQE ||
		    (qp_shares(qp) && qp->state == QPS_ERR && !qp->recv.last_told);

	qp_not_ready(qp);
	wqe_forget(qp);
	evnode_fini(&qp->ev);
	if (last)
		eq_async(qp->dev, &qp->ev, EVB_LAST_WQE);
	qp->state = QPS_RESET;
	qp->draining = false;
	qp->mig = MIG_MIGRATED;
	qp->mig_err_told = 0;
	req_reset(qp, 0);
	qp->req.blk_prod = 0;
	qp->req.blk_next = 0;
	resp_reset(qp, 0);
	qp->recv.next = 0;
	qp->recv.posted = 0;
	qp->recv.last_told = false;
	free(qp->resp.res);
	qp->resp.res = NULL;
	qp->attr = (struct vhca_qp_attr){ .port = qp->ev.port };
	if (qp_is_target(qp))
		xrc_leave(qp);
}

/* An armed QP migrates at once; its peer follows when it receives the next packet. */
static void set_migration(struct vqp *qp, u8 state)
{
	if (state == MIG_REARM)
		qp->mig_err_told = 0;
	if (state == MIG_MIGRATED && qp->mig == MIG_ARMED)
		qp_migrate(qp);
	else if (state == MIG_MIGRATED || qp->mig == MIG_MIGRATED)
		qp->mig = state;
}

/* The path may have changed, so the QP must not wait for room at its old port. */
static void look_anew(struct vqp *qp)
{
	qp_not_ready(qp);
	qp_ready(qp);
}

static void enter(struct vqp *qp, u8 from, u8 to)
{
	switch (to) {
	case QPS_RESET:
		resp_settle(qp);
		reset_qp(qp);
		return;
	case QPS_ERR:
		resp_settle(qp);
		qp_error(qp);
		return;
	case QPS_RTR:
		resp_reset(qp, le32toh(qp->attr.rq_psn));
		break;
	case QPS_RTS:
		if (from == QPS_RTR)
			req_reset(qp, le32toh(qp->attr.sq_psn));
		qp->draining = false;
		break;
	case QPS_SQD:
		if (from == QPS_RTS)
			qp->draining = true;
		break;
	default:
		break;
	}
	qp->state = to;
	if (to >= QPS_RTR)
		qp_set_path(qp);
	if (from == QPS_SQE)
		unreliable_resume(qp);
	else if (to == QPS_RTS)
		req_doorbell(qp);
	else if (to == QPS_SQD)
		look_anew(qp);
}

enum vhca_status cmd_modify_qp(struct command *c)
{
	const struct vhca_modify_qp_req *req = command_req(c);
	u32 qpn = le32toh(req->qpn);
	struct vqp *qp = qp_named(c->dev, qpn, qpn < VHCA_SPECIAL_QPS ? req->attr.port : 0);
	u32 mask = le32toh(req->mask);
	const struct transition *t;
	enum vhca_status st;
	u32 must, may;
	u8 from, to, timeout;

	if (!qp)
		return BAD_HANDLE(c, vhca_modify_qp_req, qpn);
	from = qp->state;
	to = mask & A(STATE) ? req->attr.state : from;
	if (to > QPS_ERR)
		return BAD_FIELD(c, vhca_modify_qp_req, attr.state);
	if (mask & A(CUR_STATE) && req->attr.cur_state != from)
		return BAD_STATE(c, vhca_modify_qp_req, attr.cur_state);
	t = find_transition(qp->type, from, to);
	if (!t || (!(mask & A(STATE)) && to == QPS_ERR))
		return BAD_STATE(c, vhca_modify_qp_req, attr.state);
	mask &= ~(A(STATE) | A(CUR_STATE));
	if (mask & A(CAP) || (mask & A(ALT_PATH) && !(c->dev->caps >> VHCA_CAP_APM & 1)))
		return UNSUPPORTED(c, vhca_modify_qp_req, mask);
	must = t->must & type_attrs[qp->type];
	may = t->may & type_attrs[qp->type];
	if ((mask & must) != must || mask & ~(must | may))
		return BAD_FIELD(c, vhca_modify_qp_req, mask);
	st = check_values(c, qp, mask);
	if (st)
		return st;
	if ((to == QPS_RESET || to == QPS_ERR) && !resp_may_settle(qp)) {
		c->again = true;
		return VHCA_ST_OK;
	}
	if (to == QPS_RTR && qp_reliable(qp) && qp->type != VHCA_QPT_XRC_INI && !qp->resp.res) {
		qp->resp.res = calloc(VDEV_MAX_RD_ATOMIC, sizeof(*qp->resp.res));
		if (!qp->resp.res)
			return VHCA_ST_INTERNAL;
	}
	timeout = qp->attr.timeout;
	copy_values(qp, &req->attr, mask);
	/* the event has to be asked for in every transition */
	if (to == QPS_SQD && from == QPS_RTS && !(mask & A(EN_SQD_ASYNC_NOTIFY)))
		qp->attr.en_sqd_async_notify = 0;
	if (mask & A(PATH_MIG_STATE))
		set_migration(qp, req->attr.path_mig_state);
	if (mask & A(RETRY_CNT))
		qp->req.retry_left = qp->attr.retry_cnt;
	if (mask & A(RNR_RETRY))
		qp->req.rnr_left = qp->attr.rnr_retry;
	/* requests under way use the new timeout from now on; the old one may have been infinite */
	if (qp_reliable(qp) && qp->attr.timeout != timeout)
		req_arm(qp);
	enter(qp, from, to);
	return VHCA_ST_OK;
}

enum vhca_status cmd_query_qp(struct command *c)
{
	const struct vhca_object_req *req = command_req(c);
	const struct vqp *qp = qp_named(c->dev, command_handle(c), req->port);
	struct vhca_qp_attr a;

	if (!qp)
		return BAD_HANDLE(c, vhca_object_req, handle);
	a = qp->attr;
	a.state = qp->state;
	a.cur_state = qp->state;
	a.sq_draining = qp->draining;
	a.path_mig_state = qp->mig;
	if (qp->state >= QPS_RTR)
		a.rq_psn = htole32(qp->resp.epsn);
	if (qp->state >= QPS_RTS)
		a.sq_psn = htole32(qp->req.new_psn);
	return command_output(c, &a, sizeof(a));
}
