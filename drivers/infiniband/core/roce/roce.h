/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What roce/ offers the other folders of the core, beyond <rdma/lag.h> and the rescans of
 * <rdma/ib_verbs.h>.
 *
 * The GIDs of a RoCE port are the IP addresses of its net device and of those above it. roce/ keeps
 * the port's table up to date with the net devices.
 */
#ifndef RDMA_CORE_ROCE_H
#define RDMA_CORE_ROCE_H

#include <rdma/ib_verbs.h>

int roce_init(void);
void roce_exit(void);

/* Set-up and teardown of a device's part, called by register/. */
void roce_setup_one(struct ib_device *device);
void roce_cleanup_one(struct ib_device *device);

#endif
