/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What mcast/ offers the other folders of the core, beyond <rdma/ib_sa.h> and
 * <rdma/rdma_ext_sa.h>.
 *
 * The subnet manager has one membership of each port in a group. This folder counts the consumers
 * behind it, by join state.
 */
#ifndef RDMA_CORE_MCAST_H
#define RDMA_CORE_MCAST_H

#include <rdma/ib_verbs.h>

int mcast_init(void);
void mcast_exit(void);

#endif
