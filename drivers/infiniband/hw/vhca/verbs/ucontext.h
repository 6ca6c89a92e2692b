/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts: a process' access to the device. */
#ifndef VHCA_UCONTEXT_H
#define VHCA_UCONTEXT_H

#include <rdma/uverbs_ioctl.h>
#include <rdma/vhca-abi.h>

#include "vhca.h"

/**
 * struct vhca_ucontext - a process' use of the device
 * @ibucontext: its base
 * @uar: its doorbell area
 * @kick: mapping of the kick page
 * @features: VHCA_UCTX_F_* bits that both sides know
 */
struct vhca_ucontext {
	struct ib_ucontext ibucontext;
	struct vhca_uar uar;
	struct rdma_user_mmap_entry kick;
	u64 features;
};

VHCA_TO(ucontext, ibucontext)

static inline struct vhca_ucontext *udata_to_vucontext(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct vhca_ucontext, ibucontext);
}

int vhca_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void vhca_dealloc_ucontext(struct ib_ucontext *ibctx);
void vhca_disassociate_ucontext(struct ib_ucontext *ibctx);
void vhca_ucontext_answer(struct vhca_ucontext *ctx, struct vhca_uctx_resp *resp);
int vhca_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void vhca_mmap_free(struct rdma_user_mmap_entry *entry);
u64 vhca_db_mmap_offset(const struct vhca_db *db);

/* import.c: methods of the driver */
extern const struct uapi_definition vhca_uapi_defs[];
int vhca_query_ucontext(struct ib_ucontext *ibctx, struct uverbs_attr_bundle *attrs);

#endif /* VHCA_UCONTEXT_H */
