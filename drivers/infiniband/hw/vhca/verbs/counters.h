/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of ports, and counters that QPs are bound to. */
#ifndef VHCA_COUNTERS_H
#define VHCA_COUNTERS_H

#include <rdma/rdma_counter.h>

#include "vhca.h"

struct rdma_hw_stats *vhca_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int vhca_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);
struct rdma_hw_stats *vhca_counter_alloc_stats(struct rdma_counter *counter);
int vhca_counter_update_stats(struct rdma_counter *counter);
int vhca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *qp);
int vhca_counter_unbind_qp(struct ib_qp *qp);
int vhca_counter_dealloc(struct rdma_counter *counter);

#endif /* VHCA_COUNTERS_H */
