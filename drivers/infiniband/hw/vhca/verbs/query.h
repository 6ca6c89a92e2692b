/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queries of the device, its ports and their tables. */
#ifndef VHCA_QUERY_H
#define VHCA_QUERY_H

#include "vhca.h"

int vhca_query_device(struct ib_device *ibdev, struct ib_device_attr *a,
		      struct ib_udata *udata);
int vhca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *p);
void vhca_port_protocols(const struct vhca_dev *dev, u32 port,
			 struct ib_port_immutable *immutable);
int vhca_get_port_immutable(struct ib_device *ibdev, u32 port,
			    struct ib_port_immutable *immutable);
enum rdma_link_layer vhca_get_link_layer(struct ib_device *ibdev, u32 port);
int vhca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
int vhca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int vhca_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify);
void vhca_get_dev_fw_str(struct ib_device *ibdev, char *str);
const struct cpumask *vhca_get_vector_affinity(struct ib_device *ibdev, int vector);

#endif /* VHCA_QUERY_H */
