// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions, which the kernel makes. */
#include <errno.h>
#include <stdlib.h>

#include "mr.h"
#include "pd.h"
#include "release.h"

/* Ends a registration that has returned @err. */
static struct ibv_mr *registered(struct verbs_mr *vmr, struct ibv_pd *pd, int err)
{
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	vmr->ibv_mr.pd = pd;
	vhca_pd_get(pd);
	return &vmr->ibv_mr;
}

struct ibv_mr *vhca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			   int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	return registered(vmr, pd, err);
}

int vhca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;
	int err;

	/* Like registration without an iova: the device uses the addresses of the process. */
	err = ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
			       sizeof(cmd), &resp, sizeof(resp));
	if (!err && flags & IBV_REREG_MR_CHANGE_PD) {
		/* The caller of this stores the new PD. */
		vhca_pd_get(pd);
		vhca_pd_put(vmr->ibv_mr.pd);
	}
	return err;
}

struct ibv_mr *vhca_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				  int fd, int access)
{
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	err = vhca_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr);
	return registered(vmr, pd, err);
}

int vhca_dereg_mr(struct verbs_mr *vmr)
{
	struct ibv_pd *pd = vmr->ibv_mr.pd;
	int err = ibv_cmd_dereg_mr(vmr);

	if (err)
		return err;
	vhca_pd_put(pd);
	free(vmr);
	return 0;
}
