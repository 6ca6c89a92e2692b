/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection domains and XRC domains.
 */
#ifndef RDMA_VERBS_PD_H
#define RDMA_VERBS_PD_H

#include <linux/rwsem.h>
#include <linux/xarray.h>
#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>

/**
 * struct ib_pd - protection domain
 * @local_dma_lkey: key for local access to all DMA addresses
 * @flags: enum ib_pd_flags
 * @device: device
 * @uobject: the user's handle, NULL for a kernel PD
 * @unsafe_global_rkey: with IB_PD_UNSAFE_GLOBAL_RKEY, key for peers' access to all memory
 * @__internal_mr: the core's MR that the two keys belong to, NULL if it needs none
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_pd {
	u32			local_dma_lkey;
	u32			flags;
	struct ib_device       *device;
	struct ib_uobject      *uobject;

	u32			unsafe_global_rkey;

	struct ib_mr	       *__internal_mr;

	RDMA_OBJECT_BASE;
};

/**
 * struct ib_xrcd - XRC domain
 * @device: device
 * @inode: file by which processes find a shared domain, or NULL
 * @tgt_qps_rwsem: protects @tgt_qps
 * @tgt_qps: target QPs by number
 * @open_lock: protects the lists of handles of the target QPs
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_xrcd {
	struct ib_device       *device;
	struct inode	       *inode;
	struct rw_semaphore	tgt_qps_rwsem;
	struct xarray		tgt_qps;
	spinlock_t		open_lock;

	RDMA_OBJECT_BASE;
};

enum ib_pd_flags {
	IB_PD_UNSAFE_GLOBAL_RKEY	= 0x01,
};

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller);

/**
 * ib_alloc_pd() - allocate a kernel PD
 * @device: device
 * @flags: enum ib_pd_flags
 *
 * Context: may sleep.
 * Return: the PD or an error pointer.
 */
#define ib_alloc_pd(device, flags) __ib_alloc_pd((device), (flags), KBUILD_MODNAME)

int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata);

/**
 * ib_dealloc_pd() - free a kernel PD
 * @pd: PD in which no object is left
 *
 * Context: may sleep.
 */
static inline void ib_dealloc_pd(struct ib_pd *pd)
{
	int err = ib_dealloc_pd_user(pd, NULL);

	WARN_ONCE(err, "kernel PD not freed: %d\n", err);
}

struct ib_xrcd *ib_alloc_xrcd_user(struct ib_device *device,
				   struct inode *inode, struct ib_udata *udata);

int ib_dealloc_xrcd_user(struct ib_xrcd *xrcd, struct ib_udata *udata);

#endif /* RDMA_VERBS_PD_H */
