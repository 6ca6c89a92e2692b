// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles that datagrams are sent to. One that is not wanted any more is freed when no
 * sender can still be using it, and the device has sent what was posted before.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ud.h"

/* How long the device gets before the ring is looked at again. */
#define AH_DELAY	(HZ / 10)

/**
 * ipoib_ah_create() - make an address handle
 * @ipoib: interface
 * @attr: address vector
 *
 * Context: may sleep.
 * Return: the handle, for ipoib_ah_release(); NULL without memory, or if the device refuses.
 */
struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *ipoib, struct rdma_ah_attr *attr)
{
	struct ipoib_ah *ah = kzalloc(sizeof(*ah), GFP_KERNEL);

	if (!ah)
		return NULL;
	ah->ah = rdma_create_ah(ipoib->pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah->ah)) {
		ipoib_dbg(ipoib, "no address: error %ld\n", PTR_ERR(ah->ah));
		kfree(ah);
		return NULL;
	}
	return ah;
}

/**
 * ipoib_ah_release() - give an address handle up
 * @ipoib: interface
 * @ah: handle that look-ups do not find any more; NULL does nothing
 *
 * Context: any.
 */
void ipoib_ah_release(struct ipoib_dev *ipoib, struct ipoib_ah *ah)
{
	if (!ah)
		return;
	scoped_guard(spinlock_irqsave, &ipoib->lock)
		list_add_tail(&ah->entry, &ipoib->ah_idle);
	queue_delayed_work(ipoib->wq, &ipoib->ah_work, 0);
}

static void destroy(struct ipoib_ah *ah)
{
	list_del(&ah->entry);
	rdma_destroy_ah(ah->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(ah);
}

static void reap(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, ah_work.work);
	struct ipoib_ah *ah, *next;
	LIST_HEAD(dead);
	u32 head;

	scoped_guard(spinlock_irq, &ipoib->lock)
		list_splice_init(&ipoib->ah_idle, &dead);
	if (list_empty(&dead))
		return;
	/* A sender that found one of them before has posted its packet by now. */
	synchronize_net();
	head = READ_ONCE(ipoib->tx.head);
	list_for_each_entry_safe(ah, next, &dead, entry) {
		if (!ah->unused) {
			ah->unused = true;
			ah->last = head;
		}
		if (ipoib_ring_passed(READ_ONCE(ipoib->tx.tail), ah->last))
			destroy(ah);
	}
	if (list_empty(&dead))
		return;
	scoped_guard(spinlock_irq, &ipoib->lock)
		list_splice(&dead, &ipoib->ah_idle);
	queue_delayed_work(ipoib->wq, &ipoib->ah_work, AH_DELAY);
}

/**
 * ipoib_ah_init() - prepare for address handles
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_ah_init(struct ipoib_dev *ipoib)
{
	INIT_LIST_HEAD(&ipoib->ah_idle);
	INIT_DELAYED_WORK(&ipoib->ah_work, reap);
}

/**
 * ipoib_ah_end() - free all handles that were given up
 * @ipoib: interface that does not send any more
 *
 * Context: may sleep.
 */
void ipoib_ah_end(struct ipoib_dev *ipoib)
{
	struct ipoib_ah *ah, *next;

	cancel_delayed_work_sync(&ipoib->ah_work);
	list_for_each_entry_safe(ah, next, &ipoib->ah_idle, entry)
		destroy(ah);
}
