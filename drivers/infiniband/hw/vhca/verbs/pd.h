/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, and those of XRC. */
#ifndef VHCA_PD_H
#define VHCA_PD_H

#include "vhca.h"

/**
 * struct vhca_pd - protection domain
 * @ibpd: its base
 * @pdn: the device's number for it
 */
struct vhca_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

/**
 * struct vhca_xrcd - XRC domain
 * @ibxrcd: its base
 * @xrcdn: the device's number for it
 */
struct vhca_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

VHCA_TO(pd, ibpd)
VHCA_TO(xrcd, ibxrcd)

int vhca_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int vhca_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int vhca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int vhca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif /* VHCA_PD_H */
