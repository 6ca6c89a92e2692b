/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What devmgt/ offers the other folders of the core, beyond <rdma/rdma_ext_dm.h>.
 *
 * A device with I/O controllers is an I/O unit. While it has one, its InfiniBand ports announce it
 * in their capability masks and answer device management MADs.
 */
#ifndef RDMA_CORE_DEVMGT_H
#define RDMA_CORE_DEVMGT_H

#include <rdma/rdma_ext_dm.h>

int devmgt_init(void);
void devmgt_exit(void);

#endif
