/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What ports/ offers the other folders of the core, beyond <rdma/rdma_ext_port.h>.
 */
#ifndef RDMA_CORE_PORTS_H
#define RDMA_CORE_PORTS_H

#include <rdma/rdma_ext_port.h>

void ports_flush(void);

int ports_init(void);
void ports_exit(void);

#endif
