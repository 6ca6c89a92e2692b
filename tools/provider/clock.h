/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The clock of the device, and conversion of its stamps to time of day. */
#ifndef VHCA_CLOCK_H
#define VHCA_CLOCK_H

#include "vhca.h"

/* One moment by two clocks: the device's, and CLOCK_REALTIME; nanoseconds. */
struct vhca_clock_sync {
	uint64_t device;
	uint64_t real;
};

int vhca_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int vhca_clock_sync(struct ibv_context *context, struct vhca_clock_sync *sync);
uint64_t vhca_clock_real(struct ibv_context *context, struct vhca_clock_sync *sync,
			 uint64_t stamp);

#endif /* VHCA_CLOCK_H */
