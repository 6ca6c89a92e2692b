/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of rw/ share among themselves. Its interface is in <rdma/rw.h>, and that of
 * ib_create_qp_kernel() in <rdma/ib_verbs.h>.
 */
#ifndef RDMA_CORE_RW_PRIV_H
#define RDMA_CORE_RW_PRIV_H

#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

/* qp.c */
bool rw_uses_mrs(struct ib_device *device, u32 port_num, enum dma_data_direction dir, u32 entries);
u32 rw_pages_per_mr(const struct ib_device *device, bool integrity);

#endif
