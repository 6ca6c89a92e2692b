/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What roce/ offers the other folders of the core, beyond <rdma/lag.h> and the rescans of
 * <rdma/ib_verbs.h>.
 *
 * The GIDs of a RoCE port are the IP addresses of its net device and of those above it. roce/
 * keeps the port's table equal to what the net devices say.
 */
#ifndef RDMA_CORE_ROCE_H
#define RDMA_CORE_ROCE_H

#include <rdma/ib_verbs.h>

int roce_init(void);
void roce_exit(void);

/* Life of a device's part, called by register/. */
void roce_setup_one(struct ib_device *device);
void roce_cleanup_one(struct ib_device *device);

#endif
