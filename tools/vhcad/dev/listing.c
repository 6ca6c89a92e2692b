// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists of a device's objects.
 */
#include <endian.h>
#include <string.h>

#include "dev/listing.h"
#include "engine/engine.h"
#include "qp/mcg.h"
#include "qp/srq.h"
#include "res/mkey.h"

/* How far a record in guest memory is ahead of a count; 0 if it cannot be read or is absurd. */
static u32 ahead(struct dbrec *rec, u32 count, u32 max)
{
	u64 v;

	if (dbrec_load(rec, &v) || (u32)v - count > max)
		return 0;
	return (u32)v - count;
}

static void describe_qp(void *obj, union vobject_info *info)
{
	struct vqp *qp = obj;
	struct dbrec recv = qp_rec_recv(qp);
	struct vqp_info *o = &info->qp;

	o->qpn = qp->qpn;
	o->type = qp->type;
	o->state = qp->state;
	o->port = qp->attr.port;
	o->dlid = le16toh(qp->attr.av.dlid);
	o->dest_qpn = le32toh(qp->attr.dest_qpn);
	o->send_cqn = qp->scq ? qp->scq->cqn : VLIST_NONE;
	o->recv_cqn = qp->rcq ? qp->rcq->cqn : VLIST_NONE;
	o->xrcdn = qp_is_target(qp) ? qp->xrcd->xrcdn : VLIST_NONE;
	o->has_srq = qp->srq;
	o->srqn = qp->srq ? qp->srq->srqn : 0;
	o->sq_blocks = qp->req.blk_prod - qp->req.blk_next;
	o->sq_requests = qp->req.tail - qp->req.head;
	if (qp->log_rq != VHCA_NO_QUEUE)
		o->rq_left = ahead(&recv, qp->recv.next, 1u << qp->log_rq);
	o->stats = qp->stats;
}

static void describe_cq(void *obj, union vobject_info *info)
{
	struct vcq *cq = obj;
	struct vcq_info *o = &info->cq;
	u64 ci;

	o->cqn = cq->cqn;
	o->eqn = cq->eq->eqn;
	o->size = 1u << cq->log;
	o->qps = cq->users;
	o->err = cq->err;
	if (!dbrec_load(&cq->rec_ci, &ci))
		o->filled = MIN(cq->pi - (u32)ci, o->size);
}

static void describe_srq(void *obj, union vobject_info *info)
{
	struct vsrq *srq = obj;
	struct vsrq_info *o = &info->srq;

	o->srqn = srq->srqn;
	o->size = 1u << srq->log;
	o->left = ahead(&srq->rec_posted, srq->taken, o->size);
	o->limit = srq->limit;
	o->qps = srq->users;
	o->xrcdn = srq->xrcd ? srq->xrcd->xrcdn : VLIST_NONE;
	o->cqn = srq->cq ? srq->cq->cqn : VLIST_NONE;
	o->err = srq->err;
}

static void describe_group(void *obj, union vobject_info *info)
{
	struct vmcg *g = obj;
	struct vgroup_info *o = &info->group;
	u32 n = 0;

	memcpy(o->mgid, g->mgid, sizeof(o->mgid));
	o->mlid = g->mlid;
	o->nqps = g->nqps;
	list_for_each_safe(l, &g->qps) {
		if (n == VLIST_GROUP_QPS)
			break;
		o->qpn[n++] = container_of(l, struct vmcg_qp, in_group)->qp->qpn;
	}
}

static void describe_key(void *obj, union vobject_info *info)
{
	struct vmkey *mk = obj;
	struct vkey_info *o = &info->key;
	struct vhca_fmr r;

	o->key = mk->key;
	o->type = mk->type;
	o->access = mk->access;
	o->pdn = mk->pd->pdn;
	if (mkey_is_window(mk)) {
		o->region = mk->mw.mr ? mk->mw.mr->key : 0;
		o->qpn = mk->mw.of ? mk->mw.of->qpn : 0;
	} else {
		o->windows = mk->windows;
	}
	if (mk->type != VHCA_MKEY_FMR) {
		o->addr = mk->iova;
		o->length = mk->length;
	} else if (!dma_read(mk->pd->dev->mem, &r, mk->iova, sizeof(r)) && r.npages) {
		o->key = (mk->key & ~0xffu) | (le32toh(r.key) & 0xff);
		o->addr = le64toh(r.iova);
		o->length = le64toh(r.length);
	}
}

static void (*const describe[VLIST_KINDS])(void *obj, union vobject_info *info) = {
	[VLIST_QPS] = describe_qp,
	[VLIST_CQS] = describe_cq,
	[VLIST_SRQS] = describe_srq,
	[VLIST_GROUPS] = describe_group,
	[VLIST_KEYS] = describe_key,
};

u32 vdev_list(struct vhca_dev *dev, enum vlist_kind kind, u32 *from,
	      union vobject_info page[VLIST_PAGE])
{
	const struct table *const tables[VLIST_KINDS] = {
		[VLIST_QPS] = &dev->qps,
		[VLIST_CQS] = &dev->cqs,
		[VLIST_SRQS] = &dev->srqs,
		[VLIST_GROUPS] = &dev->mcgs->table,
		[VLIST_KEYS] = &dev->mkeys,
	};
	const struct table *t = tables[kind];
	/* QPs that ports have are listed first, each at a place of its own */
	const u32 specials = kind == VLIST_QPS ? VDEV_MAX_PORTS * VHCA_SPECIAL_QPS : 0;
	u32 n = 0, i;

	memset(page, 0, VLIST_PAGE * sizeof(*page));
	adapter_lock(&dev->adapter);
	for (i = *from; i < specials; i++) {
		struct vqp *qp = dev->port[i / VHCA_SPECIAL_QPS].special[i % VHCA_SPECIAL_QPS];

		if (qp)
			describe_qp(qp, &page[n++]);
	}
	for (i = table_next(t, i - specials); i != TABLE_NONE && n < VLIST_PAGE;
	     i = table_next(t, i + 1))
		describe[kind](table_get(t, i), &page[n++]);
	adapter_unlock(&dev->adapter);
	*from = i == TABLE_NONE ? VLIST_END : i + specials;
	return n;
}

const char *vqp_type_name(u32 type)
{
	static const char *const names[] = {
		[VHCA_QPT_SMI] = "SMI", [VHCA_QPT_GSI] = "GSI",
		[VHCA_QPT_RC] = "RC", [VHCA_QPT_UC] = "UC", [VHCA_QPT_UD] = "UD",
		[VHCA_QPT_XRC_INI] = "XRC_INI", [VHCA_QPT_XRC_TGT] = "XRC_TGT",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] : "?";
}

const char *vkey_type_name(u32 type)
{
	static const char *const names[] = {
		[VHCA_MKEY_LIST] = "list", [VHCA_MKEY_PHYSICAL] = "physical",
		[VHCA_MKEY_FAST] = "fast", [VHCA_MKEY_FAST_SG] = "fast-sg",
		[VHCA_MKEY_FMR] = "fmr", [VHCA_MKEY_MW_1] = "mw1", [VHCA_MKEY_MW_2] = "mw2",
		[VHCA_MKEY_INTEGRITY] = "integrity",
	};

	return type < ARRAY_SIZE(names) ? names[type] : "?";
}

const char *vqp_state_name(u32 state)
{
	static const char *const names[] = {
		[QPS_RESET] = "RESET", [QPS_INIT] = "INIT", [QPS_RTR] = "RTR", [QPS_RTS] = "RTS",
		[QPS_SQD] = "SQD", [QPS_SQE] = "SQE", [QPS_ERR] = "ERR",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}
