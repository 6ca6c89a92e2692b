/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Private parts of user requests, and rings in user memory. */
#ifndef VHCA_UDATA_H
#define VHCA_UDATA_H

#include "vhca.h"

/**
 * struct vhca_user_ring - a ring in a process' memory
 * @umem: the memory, or NULL when there is no ring
 * @pages: its description for the device
 */
struct vhca_user_ring {
	struct ib_umem *umem;
	struct vhca_pages pages;
};

int vhca_udata_in(struct vhca_dev *dev, struct ib_udata *udata, const char *what, void *req,
		  size_t size);
int vhca_udata_out(struct vhca_dev *dev, struct ib_udata *udata, const char *what,
		   const void *resp, size_t size, size_t min);
int vhca_udata_none(struct vhca_dev *dev, struct ib_udata *udata, const char *what);
int vhca_user_ring_get(struct vhca_dev *dev, struct vhca_user_ring *ring, const char *what,
		       u64 addr, u64 size);
void vhca_user_ring_put(struct vhca_user_ring *ring);

#endif /* VHCA_UDATA_H */
