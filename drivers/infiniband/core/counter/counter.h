/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What counter/ offers the folders above it, beyond <rdma/rdma_counter.h>: hardware counters
 * of devices and ports, and what the counters that QPs are bound to add to them.
 */
#ifndef RDMA_CORE_COUNTER_H
#define RDMA_CORE_COUNTER_H

#include <rdma/rdma_counter.h>

/* hw_stats.c */
struct rdma_hw_stats *ib_get_hw_stats_port(struct ib_device *device, u32 port_num);
int rdma_hw_stats_refresh(struct ib_device *device, u32 port_num, struct rdma_hw_stats *stats,
			  unsigned int index);

/* counter.c */
void rdma_counter_add_port(struct ib_device *device, u32 port_num, unsigned int first,
			   unsigned int num, u64 *sums);

#endif
