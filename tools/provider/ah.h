/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles. */
#ifndef VHCA_AH_H
#define VHCA_AH_H

#include "vhca.h"

DECLARE_DRV_CMD(vhca_cmd_ah, IB_USER_VERBS_CMD_CREATE_AH, empty, vhca_create_ah_resp);

/**
 * struct vhca_ah - address handle
 * @ah: base
 * @av: address vector, from the kernel
 * @av: where packets go, as the kernel answered
 */
struct vhca_ah {
	struct ibv_ah ah;
	uint32_t pd;
	struct vhca_av av;
};

static inline struct vhca_ah *to_vhca_ah(const struct ibv_ah *ah)
{
	return container_of(ah, struct vhca_ah, ah);
}

struct ibv_ah *vhca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int vhca_destroy_ah(struct ibv_ah *ah);

#endif /* VHCA_AH_H */
