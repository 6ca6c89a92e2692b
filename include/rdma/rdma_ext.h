/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What this stack's kernel API has beyond Linux 6.12.
 *
 * Sources that must build against both test for this header:
 *
 *	#if __has_include(<rdma/rdma_ext.h>)
 */
#ifndef RDMA_EXT_H
#define RDMA_EXT_H

#include <rdma/ib_verbs.h>

/**
 * typedef rdma_destroyed_fn - end of an asynchronous destruction
 * @context: what the consumer passed
 * @err: 0 when the object is gone and nothing of it will be heard again; negative
 *	when the driver kept it, in which case it stands as before
 *
 * Called once, from a work queue, where it may sleep.  It must not wait for
 * other destructions: neither unregister the device nor reap objects.
 */
typedef void (*rdma_destroyed_fn)(void *context, int err);

int ib_dealloc_pd_async(struct ib_pd *pd, rdma_destroyed_fn done, void *context);
int ib_destroy_cq_async(struct ib_cq *cq, rdma_destroyed_fn done, void *context);
int ib_destroy_qp_async(struct ib_qp *qp, rdma_destroyed_fn done, void *context);
int ib_dereg_mr_async(struct ib_mr *mr, rdma_destroyed_fn done, void *context);

unsigned int __ib_reap_objects(struct ib_device *device, const char *caller);

/**
 * ib_reap_objects() - destroy everything this module has made on a device
 * @device: device, in the client's remove() or later
 *
 * QPs go before their CQs, and so on; address handles, MRs and asynchronous
 * destructions under way are included.  The module must be using none of them.
 *
 * Context: may sleep.
 * Return: number of objects that could not be destroyed.
 */
#define ib_reap_objects(device) __ib_reap_objects((device), KBUILD_MODNAME)

/**
 * struct rdma_ext_ops - what a driver can do beyond Linux 6.12, ib_device_ops.ext
 * @req_ncomp_notif: behind ib_req_ncomp_notif(), with a count that fits the CQ
 *
 * All are called in any context and may not sleep; any may be NULL.
 */
struct rdma_ext_ops {
	int (*req_ncomp_notif)(struct ib_cq *cq, int wc_cnt);
};

/**
 * ib_peek_cq() - how many completions wait in a CQ?
 * @cq: CQ
 * @wc_cnt: count no further than this, at least 1
 *
 * Nothing is taken: the next poll finds what was counted.
 *
 * Context: any; like polling, one caller at a time.
 * Return: completions that wait, at most @wc_cnt; -EINVAL for a @wc_cnt below 1;
 * -EOPNOTSUPP when the device cannot tell; the driver's error.
 */
static inline int ib_peek_cq(struct ib_cq *cq, int wc_cnt)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	if (wc_cnt < 1)
		return -EINVAL;
	return ops->peek_cq ? ops->peek_cq(cq, wc_cnt) : -EOPNOTSUPP;
}

/**
 * ib_req_ncomp_notif() - ask for an event when so many completions wait
 * @cq: CQ
 * @wc_cnt: completions that must wait for the consumer, 1 to the size of the CQ
 *
 * Replaces what ib_req_notify_cq() or an earlier call has asked for.  Completions
 * that wait already are counted; whether one is solicited makes no difference.
 *
 * Context: any; like polling, one caller at a time.
 * Return: 0 when the event will come; 1 when so many wait already, and an event may
 * not come for them; -EINVAL for a count that the CQ cannot hold; -EOPNOTSUPP when
 * the device cannot do this; the driver's error.
 */
static inline int ib_req_ncomp_notif(struct ib_cq *cq, int wc_cnt)
{
	const struct rdma_ext_ops *ext = cq->device->ops.ext;

	if (!ext || !ext->req_ncomp_notif)
		return -EOPNOTSUPP;
	if (wc_cnt < 1 || wc_cnt > cq->cqe)
		return -EINVAL;
	return ext->req_ncomp_notif(cq, wc_cnt);
}

/* The name that moderation had before Linux 4.16 */
static inline int ib_modify_cq(struct ib_cq *cq, u16 cq_count, u16 cq_period)
{
	return rdma_set_cq_moderation(cq, cq_count, cq_period);
}

#endif /* RDMA_EXT_H */
