// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Kernel CQs of a dead device. All posted requests are flushed. The device raises no events any
 * more, so consumers are called from a work item.
 *
 * Some consumers begin to recover when they see requests fail. If they are removed before that,
 * they wait in vain for the response to a last request. So a CQ counts as owing from the moment
 * that there are completions for its consumer until the consumer polls again and finds none: by
 * then it has handled all of them.
 */
#include <kunit/visibility.h>
#include <linux/wait_bit.h>

#include "cq.h"
#include "qp.h"

/* A consumer that does not poll must not keep the device for longer. */
#define FLUSH_TIME (10 * HZ)

/* Completions of a dead device: all posted requests are flushed. */
static int flush_list(struct list_head *list, int n, struct ib_wc *wc, bool recv)
{
	struct vhca_wq *wq;
	struct vhca_wr *wr;
	int got = 0;

	list_for_each_entry(wq, list, link) {
		struct vhca_qp_kernel *k = recv ? container_of(wq, struct vhca_qp_kernel, rq) :
						  container_of(wq, struct vhca_qp_kernel, sq);

		while (got < n && wq->tail != vhca_wq_head(wq)) {
			wr = &wq->wrs[vhca_ring_slot(wq->tail, wq->ring.log)];
			memset(&wc[got], 0, sizeof(*wc));
			wc[got].wr_id = wr->wr_id;
			wc[got].opcode = wr->opcode;
			wc[got].status = IB_WC_WR_FLUSH_ERR;
			wc[got].vendor_err = VHCA_WHY_FLUSHED;
			wc[got].qp = &k->qp->ibqp;
			vhca_wq_finish(wq, wq->tail + wr->nslots);
			got++;
		}
	}
	return got;
}

static void owe(struct vhca_cq *cq)
{
	if (!cq->kernel->owed)
		atomic_inc(&to_vdev(cq->ibcq.device)->owing_cqs);
	cq->kernel->owed = true;
}

/**
 * vhca_cq_flush() - complete posted requests as flushed
 * @cq: kernel CQ of a device that was stopped, without entries that could be polled
 * @n: number of elements of @wc
 * @wc: filled with the completions
 *
 * Context: the CQ's lock is held.
 * Return: number of completions, 0 to @n.
 */
int vhca_cq_flush(struct vhca_cq *cq, int n, struct ib_wc *wc)
{
	int got = flush_list(&cq->kernel->senders, n, wc, false);

	got += flush_list(&cq->kernel->receivers, n - got, wc + got, true);
	/* A consumer that has never armed polls by itself, and need not come back. */
	if (got && vhca_cq_was_armed(cq->kernel))
		owe(cq);
	return got;
}

static bool anything_to_flush(struct vhca_cq_kernel *k)
{
	struct vhca_wq *wq;

	list_for_each_entry(wq, &k->senders, link)
		if (wq->tail != vhca_wq_head(wq))
			return true;
	list_for_each_entry(wq, &k->receivers, link)
		if (wq->tail != vhca_wq_head(wq))
			return true;
	return false;
}

static bool has_qps(struct vhca_cq_kernel *k)
{
	return !list_empty(&k->senders) || !list_empty(&k->receivers);
}

/* Would a consumer that polls find anything, or will it when the ring has been replaced? */
static bool anything_left(struct vhca_cq *cq)
{
	struct vhca_cq_kernel *k = cq->kernel;

	return anything_to_flush(k) || (has_qps(k) && (k->moving || vhca_cq_pending(cq, k->ci)));
}

/**
 * vhca_cq_settle() - a CQ whose consumer polls or arms it owes nothing if nothing is left
 * @cq: kernel CQ
 *
 * Not to be called by the poll that returns the last completion: its handler has not run yet.
 *
 * Context: the CQ's lock is held.
 */
void vhca_cq_settle(struct vhca_cq *cq)
{
	struct vhca_dev *dev = to_vdev(cq->ibcq.device);

	if (!cq->kernel->owed || anything_left(cq))
		return;
	cq->kernel->owed = false;
	if (atomic_dec_and_test(&dev->owing_cqs))
		wake_up_var(&dev->owing_cqs);
}

/**
 * vhca_cq_armed_dead() - a consumer armed the CQ of a dead device, which raises no events
 * @cq: kernel CQ
 *
 * Context: any.
 */
void vhca_cq_armed_dead(struct vhca_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->kernel->lock, flags);
	vhca_cq_settle(cq);
	spin_unlock_irqrestore(&cq->kernel->lock, flags);
	vhca_cq_wake_soft(cq);
}

/**
 * vhca_cq_wake_work() - call the completion handler if a poll would find a completion
 * @work: member wake of the kernel's part of a CQ
 *
 * Context: a work queue.
 */
void vhca_cq_wake_work(struct work_struct *work)
{
	struct vhca_cq_kernel *k = container_of(work, struct vhca_cq_kernel, wake);
	struct vhca_cq *cq = k->cq;
	bool call;

	wait_for_completion(&to_vdev(cq->ibcq.device)->hw.stopped);
	spin_lock_irq(&k->lock);
	/* Without QPs the consumer may be about to free the CQ, and must not be called any more. */
	call = vhca_cq_was_armed(k) &&
	       (anything_to_flush(k) || (!k->moving && vhca_cq_pending(cq, k->ci) && has_qps(k)));
	spin_unlock_irq(&k->lock);
	if (call && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_wake_work);

/**
 * vhca_cq_wake_users() - make a kernel CQ's consumer poll after a dead device was stopped
 * @cq: the CQ, on which the caller holds a reference
 *
 * Without QPs there is nothing to flush. Therefore no work is queued for a CQ that is still being
 * created and may be freed unused.
 *
 * Context: any but interrupts.
 */
void vhca_cq_wake_users(struct vhca_cq *cq)
{
	struct vhca_cq_kernel *k = cq->kernel;
	bool used;

	spin_lock_irq(&k->lock);
	used = has_qps(k);
	if (vhca_cq_was_armed(k) && anything_left(cq))
		owe(cq);
	spin_unlock_irq(&k->lock);
	if (used)
		vhca_cq_wake_soft(cq);
}

/**
 * vhca_cq_wait_flushed() - wait until consumers have handled their last completions, 10 s at most
 * @dev: dead device for whose CQs vhca_cq_wake_users() was called
 *
 * Context: may sleep.
 */
void vhca_cq_wait_flushed(struct vhca_dev *dev)
{
	atomic_t *owing = &dev->owing_cqs;

	if (!wait_var_event_timeout(owing, !atomic_read(owing), FLUSH_TIME))
		dev_warn(dev->hw.dev, "%d CQs of kernel consumers were not polled until empty\n",
			 atomic_read(owing));
}
