/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What nldev/ offers the other folders of the core: the netlink client RDMA_NL_NLDEV, with which
 * libibverbs finds devices and which "rdma" of iproute2 uses.
 */
#ifndef RDMA_CORE_NLDEV_H
#define RDMA_CORE_NLDEV_H

int nldev_init(void);
void nldev_exit(void);

#endif
