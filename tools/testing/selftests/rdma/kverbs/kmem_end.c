// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Destruction of objects by <rdma/rdma_ext.h>: a completion begins a destruction for which no task
 * waits, and a consumer leaves objects behind. This file is empty where there is no such header.
 */
#include <linux/slab.h>

#include "kmem.h"

#ifdef HAVE_EXT

static bool gone_in_time(struct completion *gone)
{
	return wait_for_completion_timeout(gone, PATIENCE);
}

/* ---- an MR that is destroyed by the completion of its invalidation ---- */

struct mr_end {
	struct ib_cqe cqe;
	struct ib_mr *mr;
	struct completion gone;
	int posted, err;
};

static void mr_gone(void *context, int err)
{
	struct mr_end *e = context;

	e->err = err;
	complete(&e->gone);
}

static void invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct mr_end *e = container_of(wc->wr_cqe, struct mr_end, cqe);

	e->posted = wc->status ? -EIO : ib_dereg_mr_async(e->mr, mr_gone, e);
	if (e->posted)
		complete(&e->gone);
}

static void test_mr(struct kmem *k)
{
	struct mr_end e = { .cqe.done = invalidated };
	struct ib_send_wr wr = {
		.wr_cqe = &e.cqe, .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED,
	};

	init_completion(&e.gone);
	e.mr = ib_alloc_mr(k->pd, IB_MR_TYPE_MEM_REG, 4);
	if (!CHECK(!IS_ERR(e.mr)))
		return;
	CHECK(kmem_register(k, k->qp, e.mr, 4));
	wr.ex.invalidate_rkey = e.mr->rkey;
	CHECK(!ib_post_send(k->qp, &wr, NULL));
	CHECK(gone_in_time(&e.gone) && !e.posted && !e.err);
}

/* ---- a whole connection that destroys itself ---- */

#define FLUSHED	4

/* The end of each destruction begins the next one: QP, CQ, PD. */
struct chain {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
	struct completion gone;
	atomic_t came, after;	/* completions, and those that came after the QP was destroyed */
	bool silent;
	int begun, step, err;
};

static void chain_step(void *context, int err);

static void chain_begin(struct chain *c)
{
	int err;

	if (c->step == 0)
		err = ib_destroy_qp_async(c->qp, chain_step, c);
	else if (c->step == 1)
		err = ib_destroy_cq_async(c->cq, chain_step, c);
	else
		err = ib_dealloc_pd_async(c->pd, chain_step, c);
	if (err) {
		c->err = err;
		complete(&c->gone);
	}
}

static void chain_step(void *context, int err)
{
	struct chain *c = context;

	WRITE_ONCE(c->silent, true);
	c->err = err;
	if (err || c->step == 2) {
		complete(&c->gone);
		return;
	}
	c->step++;
	chain_begin(c);
}

static void chain_flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct chain *c = container_of(wc->wr_cqe, struct chain, cqe);

	if (READ_ONCE(c->silent))
		atomic_inc(&c->after);
	if (atomic_inc_return(&c->came) == 1)
		chain_begin(c);
}

static bool make_chain(struct kmem *k, struct chain *c)
{
	c->pd = ib_alloc_pd(k->dev, 0);
	if (IS_ERR(c->pd))
		return false;
	c->cq = ib_alloc_cq(k->dev, NULL, DEPTH + 8, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(c->cq))
		goto no_cq;
	c->qp = kmem_make_qp(c->pd, c->cq, 0);
	if (IS_ERR(c->qp))
		goto no_qp;
	return true;

no_qp:
	ib_free_cq(c->cq);
no_cq:
	ib_dealloc_pd(c->pd);
	return false;
}

static void test_chain(struct kmem *k)
{
	struct ib_qp_attr failed = { .qp_state = IB_QPS_ERR };
	struct chain c = { .cqe.done = chain_flushed };
	struct ib_recv_wr wr = { .wr_cqe = &c.cqe };

	init_completion(&c.gone);
	if (!CHECK(make_chain(k, &c)))
		return;
	CHECK(!kmem_connect(k, c.qp, k->lid, c.qp->qp_num));
	for (int i = 0; i < FLUSHED; i++)
		CHECK(!ib_post_recv(c.qp, &wr, NULL));
	/* its receives are flushed; the first completion begins the destruction */
	CHECK(!ib_modify_qp(c.qp, &failed, IB_QP_STATE));
	CHECK(gone_in_time(&c.gone) && !c.err && c.step == 2);
	CHECK(atomic_read(&c.came) >= 1 && atomic_read(&c.came) <= FLUSHED);
	CHECK(!atomic_read(&c.after));
}

void kmem_end_test(struct kmem *k)
{
	test_mr(k);
	test_chain(k);
}

/* ---- objects that are left ---- */

static struct ib_cqe left_cqe;
static unsigned int leaving;

static void left_came(struct ib_cq *cq, struct ib_wc *wc)
{
}

/* The objects are in use: connected, with a receive posted and a CQ that is armed. */
int kmem_leave(struct kmem *k, unsigned int how)
{
	struct ib_recv_wr wr = { .wr_cqe = &left_cqe };
	struct chain c = {};
	struct ib_mr *mr;

	if (how < 1 || how > 2 || leaving)
		return -EINVAL;
	left_cqe.done = left_came;
	if (!CHECK(make_chain(k, &c)))
		return -ENOMEM;
	leaving = how;
	CHECK(!kmem_connect(k, c.qp, k->lid, c.qp->qp_num));
	CHECK(!ib_post_recv(c.qp, &wr, NULL));
	mr = ib_alloc_mr(c.pd, IB_MR_TYPE_MEM_REG, 4);
	CHECK(!IS_ERR(mr));
	return 0;
}

/* Called when all other objects of the side have been destroyed. */
void kmem_left(struct ib_device *dev)
{
	if (leaving == 2)
		CHECK(!ib_reap_objects(dev));
	leaving = 0;
}

#else

void kmem_end_test(struct kmem *k)
{
}

int kmem_leave(struct kmem *k, unsigned int how)
{
	return -EOPNOTSUPP;
}

void kmem_left(struct ib_device *dev)
{
}

#endif
