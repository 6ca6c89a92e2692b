// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions over parts of DMA buffers (dma-buf), whose memory belongs to another device.
 */

#include "../verbs/verbs.h"
#include "commands.h"

struct mr_reg_dmabuf {
	struct ib_uobject *mr;
	struct ib_uobject *pd;
	u64 offset;
	u64 length;
	u64 iova;
	u32 fd;
	u32 access_flags;
	u32 lkey;
	u32 rkey;
};

#define DMABUF_ARG(_kind, _attr, _member)						\
	{										\
		.name = #_member, .kind = _kind, .flags = UV_F_MANDATORY,		\
		.attr = UVERBS_ATTR_REG_DMABUF_MR_##_attr,				\
		UV_BLOCK(mr_reg_dmabuf, _member),					\
	}

static const struct uverbs_arg mr_reg_dmabuf_args[] = {
	{
		.name = "mr_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_REG_DMABUF_MR_HANDLE, .type = UVERBS_OBJECT_MR,
		UV_BLOCK(mr_reg_dmabuf, mr),
	}, {
		.name = "pd_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(mr_reg_dmabuf, pd),
	}, {
		.name = "access_flags", .kind = UV_MASK,
		.attr = UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
		UV_BLOCK(mr_reg_dmabuf, access_flags),
		.mask = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
			IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_RELAXED_ORDERING,
	},
	DMABUF_ARG(UV_INT, OFFSET, offset),
	DMABUF_ARG(UV_INT, LENGTH, length),
	DMABUF_ARG(UV_INT, IOVA, iova),
	DMABUF_ARG(UV_INT, FD, fd),
	DMABUF_ARG(UV_OUT, RESP_LKEY, lkey),
	DMABUF_ARG(UV_OUT, RESP_RKEY, rkey),
};

static int run_mr_reg_dmabuf(struct uverbs_call *call)
{
	struct mr_reg_dmabuf *args = call->args;
	struct ib_pd *pd = args->pd->object;
	struct ib_mr *mr;
	int ret;

	if (offset_in_page(args->offset) != offset_in_page(args->iova))
		return uverbs_refuse(call, -EINVAL,
				     "offset %#llx and iova %#llx differ within the page",
				     args->offset, args->iova);
	ret = uverbs_check_mr_access(call, pd->device, args->access_flags);
	if (ret)
		return ret;
	mr = ib_reg_dmabuf_mr_user(pd, args->mr, args->offset, args->length, args->iova, args->fd,
				   args->access_flags, &call->bundle);
	if (IS_ERR(mr))
		return uverbs_refuse_below(call, PTR_ERR(mr),
					   "fd %d, offset %#llx, length %llu: refused",
					   args->fd, args->offset, args->length);
	args->mr->object = mr;
	uverbs_mark_hw(call, args->mr);
	args->lkey = mr->lkey;
	args->rkey = mr->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_mr_reg_dmabuf = {
	.name = "REG_DMABUF_MR",
	.method = UVERBS_METHOD_REG_DMABUF_MR,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(mr_reg_dmabuf_args, mr_reg_dmabuf),
	.needs = { UV_OP(reg_user_mr_dmabuf) },
	.run = run_mr_reg_dmabuf,
};

const struct uverbs_object_desc uverbs_object_mr_dmabuf = {
	.id = UVERBS_OBJECT_MR,
	.more = true,
	UV_COMMANDS(&cmd_mr_reg_dmabuf),
};
