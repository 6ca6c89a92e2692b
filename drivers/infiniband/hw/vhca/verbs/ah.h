/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles. */
#ifndef VHCA_AH_H
#define VHCA_AH_H

#include <rdma/vhca-abi.h>

#include "vhca.h"

/**
 * struct vhca_ah - address handle
 * @ibah: its base
 * @av: the address vector, in the format of work requests
 */
struct vhca_ah {
	struct ib_ah ibah;
	struct vhca_av av;
};

VHCA_TO(ah, ibah)

int vhca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata);
int vhca_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vhca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vhca_destroy_ah(struct ib_ah *ibah, u32 flags);
void vhca_av_from_ah(struct vhca_av *av, const struct rdma_ah_attr *ah);
void vhca_av_to_ah(const struct vhca_dev *dev, const struct vhca_av *av, struct rdma_ah_attr *ah);
enum rdma_ah_attr_type vhca_ah_type(const struct vhca_dev *dev, u32 port);

#endif /* VHCA_AH_H */
