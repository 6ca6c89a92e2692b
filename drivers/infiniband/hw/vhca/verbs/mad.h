/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Management: MADs for the device's agents, and capability bits that describe the host. */
#ifndef VHCA_MAD_H
#define VHCA_MAD_H

#include <rdma/ib_mad.h>

#include "vhca.h"

bool vhca_mad_asks_device(const struct ib_mad *mad);
int vhca_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		     const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index);
int vhca_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *modify);

#endif /* VHCA_MAD_H */
