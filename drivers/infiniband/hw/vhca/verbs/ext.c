// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations that our RDMA core has and the distribution's has not. */
#include "verbs.h"

#ifdef VHCA_HAVE_EXT

static const struct rdma_ext_ops ext_ops = {
	.req_ncomp_notif = vhca_req_ncomp_notif,
};

static const struct ib_device_ops ops_with_ext = {
	.ext = &ext_ops,
};

static const struct rdma_ext_ops ext_ops_with_fmr = {
	.req_ncomp_notif = vhca_req_ncomp_notif,
	.alloc_fmr = vhca_alloc_fmr,
	.map_phys_fmr = vhca_map_phys_fmr,
	.unmap_fmr = vhca_unmap_fmr,
	.dealloc_fmr = vhca_dealloc_fmr,
};

static const struct ib_device_ops ops_with_fmr = {
	.ext = &ext_ops_with_fmr,
};

/**
 * vhca_set_ext_ops - tell the core what can be done with a device beyond Linux 6.12
 * @dev: the device
 */
void vhca_set_ext_ops(struct vhca_dev *dev)
{
	ib_set_device_ops(&dev->ibdev, vhca_hw_has(&dev->hw, VHCA_CAP_FMR) ? &ops_with_fmr :
									      &ops_with_ext);
}

/**
 * vhca_ext_cap_flags - what of it there are capability bits for
 *
 * Return: enum ib_device_cap_flags.
 */
u64 vhca_ext_cap_flags(void)
{
	return IB_DEVICE_N_NOTIFY_CQ;
}

#else

void vhca_set_ext_ops(struct vhca_dev *dev)
{
}

u64 vhca_ext_cap_flags(void)
{
	return 0;
}

#endif
