// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles.  The kernel checks an address and turns it into the address vector
 * of requests, which is copied into every datagram.
 */
#include <errno.h>
#include <stdlib.h>

#include "ah.h"

struct ibv_ah *vhca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct vhca_cmd_ah_resp resp = {};
	struct vhca_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp, sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->pd = pd->handle;
	ah->av = resp.av;
	return &ah->ah;
}

int vhca_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(to_vhca_ah(ah));
	return err;
}
