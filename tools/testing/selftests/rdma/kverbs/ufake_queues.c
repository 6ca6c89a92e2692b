// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues of the device without hardware.  A request posted to a QP completes at once; receives of
 * an SRQ are only counted.
 */
#include <linux/module.h>
#include <linux/spinlock.h>

#include "ufake.h"

static unsigned int shared_receives;
module_param(shared_receives, uint, 0444);
MODULE_PARM_DESC(shared_receives, "receives that were posted to SRQs");

struct ufake_cq {
	struct ib_cq ib;
	spinlock_t lock;		/* protects what follows */
	struct ib_wc ring[UFAKE_CQES];
	unsigned int taken;
	unsigned int made;
};

static struct ufake_cq *cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct ufake_cq, ib);
}

static int create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

static int destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return ufake_refuses() ? -EBUSY : 0;
}

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	spin_lock_init(&cq_of(ib)->lock);
	ib->cqe = UFAKE_CQES;
	return 0;
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	return ufake_refuses() ? -EBUSY : 0;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	return 0;
}

static int poll_cq(struct ib_cq *ib, int room, struct ib_wc *wc)
{
	struct ufake_cq *cq = cq_of(ib);
	int i;

	guard(spinlock)(&cq->lock);
	for (i = 0; i < room && cq->taken != cq->made; i++)
		wc[i] = cq->ring[cq->taken++ % UFAKE_CQES];
	return i;
}

static int complete_one(struct ib_cq *ib, struct ib_qp *qp, u64 wr_id, enum ib_wc_opcode opcode)
{
	struct ufake_cq *cq = cq_of(ib);

	guard(spinlock)(&cq->lock);
	if (cq->made - cq->taken == UFAKE_CQES)
		return -ENOMEM;
	cq->ring[cq->made++ % UFAKE_CQES] = (struct ib_wc){
		.wr_id = wr_id, .qp = qp, .opcode = opcode, .port_num = 1,
	};
	return 0;
}

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = 2;
	return 0;
}

static int modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	return 0;
}

/* Completions name their QP, so they are dropped with it. */
static void forget_completions(struct ib_cq *ib, const struct ib_qp *qp)
{
	struct ufake_cq *cq = cq_of(ib);
	unsigned int to;

	guard(spinlock)(&cq->lock);
	for (unsigned int from = to = cq->taken; from != cq->made; from++)
		if (cq->ring[from % UFAKE_CQES].qp != qp)
			cq->ring[to++ % UFAKE_CQES] = cq->ring[from % UFAKE_CQES];
	cq->made = to;
}

static int destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	if (ufake_refuses())
		return -EBUSY;
	forget_completions(qp->send_cq, qp);
	forget_completions(qp->recv_cq, qp);
	return 0;
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = complete_one(qp->send_cq, qp, wr->wr_id, IB_WC_SEND);
	}
	return ret;
}

static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = complete_one(qp->recv_cq, qp, wr->wr_id, IB_WC_RECV);
	}
	return ret;
}

static int post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next)
		shared_receives++;
	return 0;
}

const struct ib_device_ops ufake_queue_ops = {
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.req_notify_cq = req_notify_cq,
	.poll_cq = poll_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.destroy_qp = destroy_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.post_srq_recv = post_srq_recv,
	.size_ib_cq = sizeof(struct ufake_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_srq = sizeof(struct ib_srq),
};
