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

#endif /* RDMA_EXT_H */
