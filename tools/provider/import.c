// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts, PDs and memory regions that another process has made: a process that
 * got the device's file from another one asks the kernel for what the other one was
 * told.  An imported object is the kernel's object itself; to unimport it only
 * frees the provider's memory of it.
 */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "pd.h"

/**
 * vhca_query_context() - get the kernel's answer to opening an imported context
 * @ctx: context
 * @resp: receives it
 *
 * Return: 0 or an errno.
 */
int vhca_query_context(struct vhca_context *ctx, struct vhca_uctx_resp *resp)
{
	DECLARE_COMMAND_BUFFER(ours, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 1);

	fill_attr_out_ptr(ours, VHCA_ATTR_QUERY_CONTEXT_RESP, resp);
	return ibv_cmd_query_context(&ctx->vctx.context, ours);
}

struct ibv_pd *vhca_import_pd(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_PD, VHCA_METHOD_PD_QUERY, 2);
	struct vhca_alloc_pd_resp resp = {};
	struct vhca_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	fill_attr_in_obj(cmd, VHCA_ATTR_PD_QUERY_HANDLE, handle);
	fill_attr_out_ptr(cmd, VHCA_ATTR_PD_QUERY_RESP, &resp);
	err = execute_ioctl(context, cmd);
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	pd->pd.context = context;
	pd->pd.handle = handle;
	pd->pdn = resp.pdn;
	atomic_init(&pd->holds, 1);
	return &pd->pd;
}

/**
 * vhca_unimport_pd() - free the memory of an imported PD
 * @ibpd: PD
 *
 * Parent domains over it keep it: this call cannot return that it is busy.
 */
void vhca_unimport_pd(struct ibv_pd *ibpd)
{
	struct vhca_pd *pd = to_vhca_pd(ibpd);

	if (atomic_load_explicit(&pd->refs, memory_order_acquire))
		verbs_err(&to_vhca_context(ibpd->context)->vctx,
			  "PD %u is not unimported: it has parent domains\n", ibpd->handle);
	else
		vhca_pd_drop(pd);
}

/*
 * Asks the kernel for the properties of a region.  ibv_cmd_query_mr() has no room for its length in
 * 32-bit programs: it takes a size_t.
 */
static int query_mr(struct ibv_mr *mr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, 4);
	uint64_t length = 0;
	int err;

	fill_attr_in_obj(cmd, UVERBS_ATTR_QUERY_MR_HANDLE, mr->handle);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->lkey);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->rkey);
	err = execute_ioctl(mr->context, cmd);
	mr->length = length;
	if (!err && mr->length != length)
		err = EOVERFLOW;
	return err;
}

struct ibv_mr *vhca_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	vmr->mr_type = IBV_MR_TYPE_IMPORTED_MR;
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.handle = handle;
	err = query_mr(&vmr->ibv_mr);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	vhca_pd_get(pd);
	return &vmr->ibv_mr;
}

void vhca_unimport_mr(struct ibv_mr *mr)
{
	vhca_pd_put(mr->pd);
	free(verbs_get_mr(mr));
}
