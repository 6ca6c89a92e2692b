// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pools of MRs in a QP, so that the data path gets one without an allocation.
 *
 * While an MR belongs to a pool, taken or not, the pool counts as its user: it cannot be
 * reaped by itself, and is deregistered with the QP at the latest.
 */
#include <linux/cleanup.h>
#include <rdma/mr_pool.h>
#include "verbs_priv.h"

static void pool_add(struct ib_qp *qp, struct list_head *list, struct ib_mr *mr)
{
	WARN_ON_ONCE(rdma_object_hold(&mr->obj));
	guard(spinlock_irq)(&qp->mr_lock);
	list_add_tail(&mr->qp_entry, list);
	list_add_tail(&mr->pool_entry, &qp->pool_mrs);
}

static void pool_dereg(struct ib_mr *mr)
{
	rdma_object_unhold(&mr->obj);
	WARN_ON_ONCE(ib_dereg_mr(mr));
}

static struct ib_mr *pool_pop(struct list_head *list)
{
	struct ib_mr *mr = list_first_entry(list, struct ib_mr, qp_entry);

	list_del(&mr->qp_entry);
	return mr;
}

/**
 * ib_mr_pool_init() - fill a pool
 * @qp: QP
 * @list: one of its lists
 * @nr: number of MRs
 * @type: IB_MR_TYPE_INTEGRITY, or a type of ib_alloc_mr()
 * @max_num_sg: maximum number of data entries of each MR
 * @max_num_meta_sg: maximum number of entries for protection information of each MR of type
 *	IB_MR_TYPE_INTEGRITY
 *
 * Context: may sleep.
 * Return: 0; or the error of the allocation of an MR, after which the pool is empty.
 */
int ib_mr_pool_init(struct ib_qp *qp, struct list_head *list, int nr, enum ib_mr_type type,
		    u32 max_num_sg, u32 max_num_meta_sg)
{
	bool integrity = type == IB_MR_TYPE_INTEGRITY;

	while (nr-- > 0) {
		struct ib_mr *mr = integrity ?
			ib_alloc_mr_integrity(qp->pd, max_num_sg, max_num_meta_sg) :
			ib_alloc_mr(qp->pd, type, max_num_sg);

		if (IS_ERR(mr)) {
			ib_mr_pool_destroy(qp, list);
			return PTR_ERR(mr);
		}
		pool_add(qp, list, mr);
	}
	return 0;
}
EXPORT_SYMBOL(ib_mr_pool_init);

/**
 * ib_mr_pool_get() - take an MR
 * @qp: QP
 * @list: pool
 *
 * Context: any.
 * Return: the MR, or NULL when the pool is empty.
 */
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct list_head *list)
{
	guard(spinlock_irqsave)(&qp->mr_lock);
	if (list_empty(list))
		return NULL;
	qp->mrs_used++;
	return pool_pop(list);
}
EXPORT_SYMBOL(ib_mr_pool_get);

/**
 * ib_mr_pool_put() - give an MR back
 * @qp: QP
 * @list: pool
 * @mr: MR from ib_mr_pool_get()
 *
 * Context: any.
 */
void ib_mr_pool_put(struct ib_qp *qp, struct list_head *list, struct ib_mr *mr)
{
	guard(spinlock_irqsave)(&qp->mr_lock);
	/* The MR that was used last is the most likely to be in the CPU's caches. */
	list_add(&mr->qp_entry, list);
	qp->mrs_used--;
}
EXPORT_SYMBOL(ib_mr_pool_put);

/**
 * ib_mr_pool_destroy() - deregister the MRs of a pool
 * @qp: QP
 * @list: pool to which every MR was returned
 *
 * Context: may sleep.
 */
void ib_mr_pool_destroy(struct ib_qp *qp, struct list_head *list)
{
	struct ib_mr *mr;
	LIST_HEAD(doomed);

	scoped_guard(spinlock_irq, &qp->mr_lock) {
		list_splice_init(list, &doomed);
		list_for_each_entry(mr, &doomed, qp_entry)
			list_del(&mr->pool_entry);
	}
	while (!list_empty(&doomed))
		pool_dereg(pool_pop(&doomed));
}
EXPORT_SYMBOL(ib_mr_pool_destroy);

/**
 * mr_pool_end() - deregister all MRs that are left in a QP's pools
 * @qp: QP that was destroyed in the driver
 *
 * Context: may sleep.
 */
void mr_pool_end(struct ib_qp *qp)
{
	struct ib_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &qp->pool_mrs, pool_entry)
		pool_dereg(mr);
}
