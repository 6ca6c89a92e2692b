// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts, PDs and memory regions that somebody else has made: a process that
 * got the file of the device from another asks the kernel what that one was
 * told.  What is imported is the kernel's object itself; to unimport it takes
 * our memory of it alone away.
 */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "pd.h"

/**
 * vhca_query_context() - what the kernel said when an imported context was opened
 * @ctx: context
 * @resp: takes it
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
 * vhca_unimport_pd() - forget an imported PD
 * @ibpd: PD
 *
 * Parent domains that stand on it keep it: nobody can be told here that it is busy.
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
 * The kernel's answer to what a region is.  ibv_cmd_query_mr() has no room for its length in
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
