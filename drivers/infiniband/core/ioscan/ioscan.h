/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What ioscan/ offers the other folders of the core, beyond <rdma/rdma_ext_io.h>.
 *
 * While there are watchers of I/O units, each InfiniBand port of this host searches its subnet for
 * units.
 */
#ifndef RDMA_CORE_IOSCAN_H
#define RDMA_CORE_IOSCAN_H

#include <rdma/rdma_ext_io.h>

int ioscan_init(void);
void ioscan_exit(void);

#endif
