/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of counter/ share among themselves.
 */
#ifndef RDMA_CORE_COUNTER_PRIV_H
#define RDMA_CORE_COUNTER_PRIV_H

#include <rdma/rdma_reject.h>

#include "../device/device.h"
#include "../object/object.h"
#include "counter.h"

struct rdma_port_counter *counters_of_port(struct ib_device *device, u32 port_num);
int counters_possible(struct ib_device *device, u32 port_num);

/* Called with the port's lock held. */
struct rdma_counter *counter_begin(struct ib_qp *qp, u32 port_num, enum rdma_nl_counter_mode mode);
int counter_bind(struct rdma_counter *counter, struct ib_qp *qp);
int counter_unbind(struct ib_qp *qp, bool force);

#if IS_ENABLED(CONFIG_KUNIT)
bool counter_suits(const struct rdma_counter *counter, const struct ib_qp *qp, u32 port_num);
#endif

#endif
