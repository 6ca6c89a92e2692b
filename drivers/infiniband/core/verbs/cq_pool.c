// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CQs shared by the kernel consumers of a device.  A consumer reserves entries for its
 * completions in a CQ of its vector and context and releases them later; the
 * CQs themselves stay until the device has no clients any more.
 */
#include <kunit/visibility.h>
#include <linux/cpumask.h>
#include <linux/slab.h>
#include "../device/device.h"
#include "verbs_priv.h"

/* Entries of a shared CQ, unless the device has fewer. */
#define CQ_SHARED_ENTRIES	4096

/**
 * struct rdma_cq_pool - shared CQs of a device
 * @lock: protects the lists and every shared CQ's cqe_used
 * @cqs: one list for each polling context that can be shared
 */
struct rdma_cq_pool {
	spinlock_t lock;
	struct list_head cqs[IB_POLL_LAST_POOL_TYPE + 1];
};

/* The pool is made when the first consumer asks for a shared CQ. */
static struct rdma_cq_pool *cq_pool_of(struct ib_device *dev)
{
	struct rdma_cq_pool *pool = READ_ONCE(dev->core->cq_pool), *raced;

	if (pool)
		return pool;
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return NULL;
	spin_lock_init(&pool->lock);
	for (unsigned int ctx = 0; ctx < ARRAY_SIZE(pool->cqs); ctx++)
		INIT_LIST_HEAD(&pool->cqs[ctx]);
	raced = cmpxchg(&dev->core->cq_pool, NULL, pool);
	if (!raced)
		return pool;
	kfree(pool);
	return raced;
}

/* Reserves @nr_cqe entries in the least used CQ of the vector that has as many free. */
static struct ib_cq *cq_pool_take(struct rdma_cq_pool *pool, enum ib_poll_context ctx,
				  unsigned int vector, unsigned int nr_cqe)
{
	struct ib_cq *cq, *best = NULL;

	spin_lock_irq(&pool->lock);
	list_for_each_entry(cq, &pool->cqs[ctx], pool_entry) {
		if (cq->comp_vector != vector || cq->cqe - cq->cqe_used < nr_cqe)
			continue;
		if (!best || cq->cqe_used < best->cqe_used)
			best = cq;
	}
	if (best)
		best->cqe_used += nr_cqe;
	spin_unlock_irq(&pool->lock);
	return best;
}

static unsigned int cq_pool_vector(const struct ib_device *dev, int hint)
{
	return hint < 0 ? cq_any_vector(dev) : hint % cq_vectors(dev);
}

/**
 * ib_cq_pool_get() - reserve entries in a shared CQ
 * @dev: device
 * @nr_cqe: number of entries: the most completions that can be outstanding
 * @comp_vector_hint: completion vector, taken modulo those in use; -1 for any
 * @poll_ctx: where they are dispatched; not IB_POLL_DIRECT
 *
 * Context: may sleep.
 * Return: the CQ, to be given back with ib_cq_pool_put(); -EINVAL for
 * IB_POLL_DIRECT and for more completions than a CQ of the device holds;
 * -ENOMEM, or the driver's error as an ERR_PTR.
 */
struct ib_cq *ib_cq_pool_get(struct ib_device *dev, unsigned int nr_cqe, int comp_vector_hint,
			     enum ib_poll_context poll_ctx)
{
	unsigned int vector = cq_pool_vector(dev, comp_vector_hint);
	struct rdma_cq_pool *pool;
	struct ib_cq *cq;
	int entries;

	if (WARN_ON_ONCE(poll_ctx > IB_POLL_LAST_POOL_TYPE) || nr_cqe > dev->attrs.max_cqe)
		return ERR_PTR(-EINVAL);
	pool = cq_pool_of(dev);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	cq = cq_pool_take(pool, poll_ctx, vector, nr_cqe);
	if (cq)
		return cq;

	entries = min_t(unsigned int, max(nr_cqe, CQ_SHARED_ENTRIES), dev->attrs.max_cqe);
	cq = ib_alloc_cq(dev, NULL, entries, vector, poll_ctx);
	if (IS_ERR(cq))
		return cq;
	cq->shared = true;
	cq->cqe_used = nr_cqe;
	spin_lock_irq(&pool->lock);
	list_add_tail(&cq->pool_entry, &pool->cqs[poll_ctx]);
	spin_unlock_irq(&pool->lock);
	return cq;
}
EXPORT_SYMBOL(ib_cq_pool_get);

/**
 * ib_cq_pool_put() - release entries of a shared CQ
 * @cq: CQ of ib_cq_pool_get(), to which no queue of the consumer completes any more
 * @nr_cqe: number of entries that was requested
 *
 * Context: process.
 */
void ib_cq_pool_put(struct ib_cq *cq, unsigned int nr_cqe)
{
	struct rdma_cq_pool *pool = cq->device->core->cq_pool;

	spin_lock_irq(&pool->lock);
	if (!WARN_ON_ONCE(nr_cqe > cq->cqe_used))
		cq->cqe_used -= nr_cqe;
	spin_unlock_irq(&pool->lock);
}
EXPORT_SYMBOL(ib_cq_pool_put);

/**
 * ib_cq_pool_cleanup() - destroy the shared CQs of a device
 * @dev: device without clients
 *
 * Context: may sleep.
 */
void ib_cq_pool_cleanup(struct ib_device *dev)
{
	struct rdma_cq_pool *pool = dev->core->cq_pool;
	struct ib_cq *cq, *next;

	if (!pool)
		return;
	dev->core->cq_pool = NULL;
	for (unsigned int ctx = 0; ctx < ARRAY_SIZE(pool->cqs); ctx++) {
		list_for_each_entry_safe(cq, next, &pool->cqs[ctx], pool_entry) {
			WARN_ON(cq->cqe_used);
			list_del(&cq->pool_entry);
			cq->shared = false;
			cq->cqe_used = 0;
			ib_free_cq(cq);
		}
	}
	kfree(pool);
}
EXPORT_SYMBOL_IF_KUNIT(ib_cq_pool_cleanup);
