// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CQs that the core polls for kernel consumers: on demand, in softirq, or on a
 * work queue.  Every work request that completes to one carries a struct ib_cqe,
 * whose done() is called for its completion.
 *
 * A polling context runs until the CQ is empty or its budget is used up; only
 * an empty CQ is armed again, and if completions arrived in between, it is polled again.
 */
#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/cleanup.h>
#include <linux/dim.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/rdma_compat.h>
#include "verbs_priv.h"

/* Completions polled with one call of the driver. */
#define CQ_BATCH	16
/* The same for ib_process_cq_direct(), which stores them on the stack. */
#define CQ_BATCH_DIRECT	8
/* Completions that are handled before the polling context yields the CPU. */
#define CQ_BUDGET_SOFTIRQ	256
#define CQ_BUDGET_WORK		65536

#define CQ_REARM	(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS)

struct workqueue_struct *ib_comp_wq;
struct workqueue_struct *ib_comp_unbound_wq;

/* Polls and dispatches up to @budget completions, or all if it is negative. */
static int cq_process(struct ib_cq *cq, int budget, struct ib_wc *wcs, int batch)
{
	int handled = 0, want, got;

	do {
		want = budget < 0 ? batch : min(batch, budget - handled);
		if (!want)
			break;
		got = ib_poll_cq(cq, want, wcs);
		for (int i = 0; i < got; i++) {
			struct ib_wc *wc = &wcs[i];

			if (likely(wc->wr_cqe))
				wc->wr_cqe->done(cq, wc);
			else
				WARN_ON_ONCE(wc->status == IB_WC_SUCCESS);
		}
		handled += max(got, 0);
	} while (got == want);
	return handled;
}

/**
 * ib_process_cq_direct() - poll a CQ from the consumer's context
 * @cq: CQ of IB_POLL_DIRECT
 * @budget: maximum number of completions to handle, or -1 for all
 *
 * Context: any, and one caller at a time.
 * Return: completions handled.
 */
int ib_process_cq_direct(struct ib_cq *cq, int budget)
{
	struct ib_wc wcs[CQ_BATCH_DIRECT];

	return cq_process(cq, budget, wcs, ARRAY_SIZE(wcs));
}
EXPORT_SYMBOL(ib_process_cq_direct);

/* A direct CQ is never armed by the core. */
static void cq_direct_event(struct ib_cq *cq, void *cq_context)
{
	WARN_ONCE(1, "completion event for a CQ that is polled on demand\n");
}

/* Reports the number of completions since the last event to adaptive moderation. */
static void cq_moderate(struct ib_cq *cq, int handled)
{
	if (cq->dim)
		rdma_dim(cq->dim, handled);
}

/* ---- softirq ---- */

static void cq_softirq_event(struct ib_cq *cq, void *cq_context)
{
	irq_poll_sched(&cq->iop);
}

static int cq_softirq_poll(struct irq_poll *iop, int budget)
{
	struct ib_cq *cq = container_of(iop, struct ib_cq, iop);
	int handled = cq_process(cq, budget, cq->wc, CQ_BATCH);

	if (handled < budget) {
		irq_poll_complete(iop);
		if (ib_req_notify_cq(cq, CQ_REARM) > 0)
			irq_poll_sched(iop);
	}
	cq_moderate(cq, handled);
	return handled;
}

/* ---- work queues ---- */

static void cq_work_event(struct ib_cq *cq, void *cq_context)
{
	queue_work(cq->comp_wq, &cq->work);
}

static void cq_work_poll(struct work_struct *work)
{
	struct ib_cq *cq = container_of(work, struct ib_cq, work);
	int handled = cq_process(cq, CQ_BUDGET_WORK, cq->wc, CQ_BATCH);

	if (handled >= CQ_BUDGET_WORK || ib_req_notify_cq(cq, CQ_REARM) > 0)
		queue_work(cq->comp_wq, &cq->work);
	else
		cq_moderate(cq, handled);
}

/* ---- adaptive moderation ---- */

/* The levels between which the algorithm moves, from frequent early events to few late ones. */
static const struct {
	u16 usec;
	u16 completions;
} cq_dim_steps[RDMA_DIM_PARAMS_NUM_PROFILES] = {
	{ 1, 1 }, { 1, 4 }, { 2, 4 }, { 2, 8 }, { 4, 8 }, { 16, 8 }, { 16, 16 }, { 32, 16 },
	{ 32, 32 },
};

static void cq_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct ib_cq *cq = dim->priv;
	unsigned int step = dim->profile_ix;

	dim->state = DIM_START_MEASURE;
	cq->device->ops.modify_cq(cq, cq_dim_steps[step].completions, cq_dim_steps[step].usec);
}

static void cq_dim_start(struct ib_cq *cq)
{
	struct dim *dim;

	if (!cq->device->ops.modify_cq || !cq->device->use_cq_dim ||
	    cq->poll_ctx == IB_POLL_DIRECT)
		return;
	/* If there is no memory, the CQ works without moderation. */
	dim = kzalloc(sizeof(*dim), GFP_KERNEL);
	if (!dim)
		return;
	dim->state = DIM_START_MEASURE;
	dim->tune_state = DIM_GOING_RIGHT;
	dim->profile_ix = RDMA_DIM_START_PROFILE;
	dim->priv = cq;
	INIT_WORK(&dim->work, cq_dim_work);
	cq->dim = dim;
}

static void cq_dim_stop(struct ib_cq *cq)
{
	if (!cq->dim)
		return;
	cancel_work_sync(&cq->dim->work);
	kfree(cq->dim);
	cq->dim = NULL;
}

/* ---- life ---- */

static int cq_poll_start(struct ib_cq *cq)
{
	switch (cq->poll_ctx) {
	case IB_POLL_DIRECT:
		cq->comp_handler = cq_direct_event;
		return 0;
	case IB_POLL_SOFTIRQ:
		cq->comp_handler = cq_softirq_event;
		irq_poll_init(&cq->iop, CQ_BUDGET_SOFTIRQ, cq_softirq_poll);
		break;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		cq->comp_handler = cq_work_event;
		cq->comp_wq = cq->poll_ctx == IB_POLL_WORKQUEUE ? ib_comp_wq : ib_comp_unbound_wq;
		INIT_WORK(&cq->work, cq_work_poll);
		break;
	default:
		return -EINVAL;
	}
	cq_dim_start(cq);
	return ib_req_notify_cq(cq, IB_CQ_NEXT_COMP) < 0 ? -EIO : 0;
}

/*
 * After this no completion is dispatched, and events have no effect. The device may raise events
 * until the driver has destroyed the CQ.
 */
static void cq_poll_stop(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_disable(&cq->iop);
		/*
		 * irq_poll_disable() waits for irq_poll_complete() only, after which
		 * cq_softirq_poll() goes on.
		 */
		synchronize_rcu();
	} else if (cq->comp_wq) {
		disable_work_sync(&cq->work);
	}
	cq_dim_stop(cq);
}

/* Undoes cq_poll_stop(), or irq_poll_disable(); events meanwhile have had no effect. */
static void cq_poll_resume(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_enable(&cq->iop);
		irq_poll_sched(&cq->iop);
	} else if (cq->comp_wq) {
		enable_and_queue_work(cq->comp_wq, &cq->work);
	}
}

/* ---- waiting for handlers ---- */

/*
 * Handles what is in a CQ from the caller's context: no more than it can hold, so that what arrives
 * meanwhile makes it no longer.
 */
static void cq_flush_direct(struct ib_cq *cq)
{
	int handled;

	for (int left = cq->cqe; left > 0; left -= handled) {
		handled = ib_process_cq_direct(cq, left);
		if (!handled)
			break;
	}
}

/* One caller of irq_poll_disable() undoes what another has begun. */
static DEFINE_MUTEX(cq_flush_softirq_mutex);

/*
 * Softirq does not poll the CQ meanwhile, and all its handlers have returned. They expect that no
 * other softirq interrupts them.
 */
static void cq_flush_softirq(struct ib_cq *cq)
{
	int handled;

	guard(mutex)(&cq_flush_softirq_mutex);
	irq_poll_disable(&cq->iop);
	for (int left = cq->cqe; left > 0; left -= handled) {
		local_bh_disable();
		handled = ib_process_cq_direct(cq, min(left, CQ_BUDGET_SOFTIRQ));
		local_bh_enable();
		if (!handled)
			break;
	}
	cq_poll_resume(cq);
}

/*
 * A run in progress may have polled the CQ already, so another one is queued; more, if the CQ can
 * hold more than one run handles.
 */
static void cq_flush_work(struct ib_cq *cq)
{
	for (int left = cq->cqe; left >= 0; left -= CQ_BUDGET_WORK) {
		queue_work(cq->comp_wq, &cq->work);
		flush_work(&cq->work);
	}
}

/**
 * ib_cq_flush() - wait until the completions in a CQ have been handled
 * @cq: CQ of ib_alloc_cq()
 *
 * Completions that arrive during the call may or may not be handled. A handler of the CQ itself may
 * call this if it may sleep: that does not wait for the completions which were polled together with
 * its own.
 *
 * Context: may sleep; not from a handler of another CQ.
 */
void ib_cq_flush(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ)
		cq_flush_softirq(cq);
	else if (cq->comp_wq && current_work() != &cq->work)
		cq_flush_work(cq);
	else
		cq_flush_direct(cq);
}

/* ---- destruction ---- */

/* If a driver has pre_destroy_cq(), it stops events there; polling stops after that. */
static int polled_cq_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_cq *cq = container_of(obj, struct ib_cq, obj);
	const struct ib_device_ops *ops = &cq->device->ops;
	int ret;

	if (ops->pre_destroy_cq) {
		ret = ops->pre_destroy_cq(cq);
		if (ret)
			return ret;
	}
	cq_poll_stop(cq);
	if (ops->post_destroy_cq) {
		ops->post_destroy_cq(cq);
		return 0;
	}
	ret = ops->destroy_cq(cq, udata);
	if (ret)
		cq_poll_resume(cq);
	return ret;
}

static void polled_cq_release(struct rdma_object *obj)
{
	struct ib_cq *cq = container_of(obj, struct ib_cq, obj);

	kfree(cq->wc);
	kfree(cq);
}

static const struct rdma_object_ops polled_cq_ops = {
	.destroy = polled_cq_destroy,
	.release = polled_cq_release,
};

/**
 * __ib_alloc_cq() - make a CQ that the core polls
 * @dev: device
 * @private: cq->cq_context
 * @nr_cqe: minimum number of entries
 * @comp_vector: completion vector
 * @poll_ctx: where completions are dispatched
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the CQ, to be destroyed with ib_free_cq(); -EINVAL for an unknown
 * context, -ENOMEM, or the driver's error as an ERR_PTR.
 */
struct ib_cq *__ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe, int comp_vector,
			    enum ib_poll_context poll_ctx, const char *caller)
{
	struct ib_cq_init_attr attr = { .cqe = nr_cqe, .comp_vector = comp_vector };
	struct ib_wc *wcs = kcalloc(CQ_BATCH, sizeof(*wcs), GFP_KERNEL);
	struct ib_cq *cq;
	int ret;

	if (!wcs)
		return ERR_PTR(-ENOMEM);
	cq = cq_create(dev, &attr, NULL, caller, &polled_cq_ops, cq_direct_event, NULL, private,
		       NULL);
	if (IS_ERR(cq)) {
		kfree(wcs);
		return cq;
	}
	cq->wc = wcs;
	cq->poll_ctx = poll_ctx;
	cq->comp_vector = comp_vector;
	ret = cq_poll_start(cq);
	if (!ret)
		return cq;
	/* The CQ was not armed, so there is no polling to stop. */
	cq->poll_ctx = IB_POLL_DIRECT;
	ib_free_cq(cq);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(__ib_alloc_cq);

/**
 * cq_vectors() - get the number of completion vectors that the core uses for its CQs
 * @dev: device
 *
 * Return: the number, at least 1 and at most the number of online CPUs.
 */
unsigned int cq_vectors(const struct ib_device *dev)
{
	return clamp_t(unsigned int, dev->num_comp_vectors, 1, num_online_cpus());
}
EXPORT_SYMBOL_IF_KUNIT(cq_vectors);

/* Counts the calls of cq_any_vector(). */
VISIBLE_IF_KUNIT atomic_t cq_last_turn;
EXPORT_SYMBOL_IF_KUNIT(cq_last_turn);

/**
 * cq_any_vector() - choose a completion vector
 * @dev: device
 *
 * Return: the vector: all are used in turn.
 */
unsigned int cq_any_vector(const struct ib_device *dev)
{
	return (unsigned int)atomic_inc_return(&cq_last_turn) % cq_vectors(dev);
}

/**
 * __ib_alloc_cq_any() - allocate a CQ on a completion vector that the core chooses
 * @dev: device
 * @private: cq->cq_context
 * @nr_cqe: minimum number of entries
 * @poll_ctx: where completions are dispatched
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: as __ib_alloc_cq().
 */
struct ib_cq *__ib_alloc_cq_any(struct ib_device *dev, void *private, int nr_cqe,
				enum ib_poll_context poll_ctx, const char *caller)
{
	return __ib_alloc_cq(dev, private, nr_cqe, cq_any_vector(dev), poll_ctx, caller);
}
EXPORT_SYMBOL(__ib_alloc_cq_any);

/**
 * ib_free_cq() - destroy a CQ of ib_alloc_cq()
 * @cq: CQ that no queue completes to
 *
 * Context: may sleep.
 */
void ib_free_cq(struct ib_cq *cq)
{
	int ret;

	if (WARN_ON_ONCE(cq->cqe_used))
		return;
	ret = ib_destroy_cq_user(cq, NULL);
	WARN_ONCE(ret, "kernel CQ not destroyed: %d\n", ret);
}
EXPORT_SYMBOL(ib_free_cq);

/**
 * rdma_verbs_module_init() - create the work queues of the polling contexts
 *
 * Return: 0 or -ENOMEM.
 */
int rdma_verbs_module_init(void)
{
	ib_comp_wq = alloc_workqueue("ib-comp-wq",
				     WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM | WQ_SYSFS, 0);
	if (!ib_comp_wq)
		return -ENOMEM;
	ib_comp_unbound_wq = alloc_workqueue("ib-comp-unb-wq", WQ_UNBOUND | WQ_HIGHPRI |
					     WQ_MEM_RECLAIM | WQ_SYSFS, WQ_UNBOUND_MAX_ACTIVE);
	if (ib_comp_unbound_wq)
		return 0;
	destroy_workqueue(ib_comp_wq);
	return -ENOMEM;
}

/**
 * rdma_verbs_module_exit() - undo rdma_verbs_module_init()
 */
void rdma_verbs_module_exit(void)
{
	destroy_workqueue(ib_comp_unbound_wq);
	destroy_workqueue(ib_comp_wq);
}
