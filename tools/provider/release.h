/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between releases of rdma-core.  The build finds them
 * in the release's headers: Makefile and CMakeLists.txt.
 */
#ifndef VHCA_RELEASE_H
#define VHCA_RELEASE_H

#include <config.h>

#include "cq.h"
#include "qp.h"

/* Later releases have an argument for what a provider adds to a command; this one adds nothing. */
#ifdef VHCA_GET_CONTEXT_TAKES_FDS
#define get_context(vctx, cmd, size, resp, resp_size) \
	ibv_cmd_get_context(vctx, cmd, size, NULL, resp, resp_size)
#else
#define get_context	ibv_cmd_get_context
#endif

#ifdef VHCA_CREATE_CQ_TAKES_ATTR
#define create_cq_ex(context, attr, ...) \
	ibv_cmd_create_cq_ex(context, attr, NULL, __VA_ARGS__)
#else
#define create_cq_ex	ibv_cmd_create_cq_ex
#endif

#ifdef VHCA_CREATE_QP_TAKES_ATTRS
#define create_qp_ex2(...) \
	ibv_cmd_create_qp_ex2(__VA_ARGS__, NULL)
#else
#define create_qp_ex2	ibv_cmd_create_qp_ex2
#endif

#ifdef VHCA_REG_DMABUF_TAKES_ATTRS
#define reg_dmabuf_mr(...) \
	ibv_cmd_reg_dmabuf_mr(__VA_ARGS__, NULL)
#else
#define reg_dmabuf_mr	ibv_cmd_reg_dmabuf_mr
#endif

/* Where an answer has no names yet for what it says, 1 is yes. */
#ifndef VHCA_HAS_DATA_IN_ORDER
#define IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG	1
#endif

static inline int vhca_cmd_get_context(struct vhca_context *ctx, struct vhca_cmd_context *cmd,
				       struct vhca_cmd_context_resp *resp)
{
	return get_context(&ctx->vctx, &cmd->ibv_cmd, sizeof(*cmd), &resp->ibv_resp,
			   sizeof(*resp));
}

static inline int vhca_cmd_create_cq(struct vhca_context *ctx,
				     const struct ibv_cq_init_attr_ex *attr, struct vhca_cq *cq,
				     struct vhca_cmd_cq *cmd, struct vhca_cmd_cq_resp *resp)
{
	return create_cq_ex(&ctx->vctx.context, attr, &cq->vcq, &cmd->ibv_cmd, sizeof(*cmd),
			    &resp->ibv_resp, sizeof(*resp), 0);
}

static inline int vhca_cmd_create_qp(struct vhca_context *ctx, struct vhca_qp *qp,
				     struct ibv_qp_init_attr_ex *attr, struct vhca_cmd_qp *cmd,
				     struct vhca_cmd_qp_resp *resp)
{
	return create_qp_ex2(&ctx->vctx.context, &qp->vqp, attr, &cmd->ibv_cmd, sizeof(*cmd),
			     &resp->ibv_resp, sizeof(*resp));
}

/* For a QP without queues the provider adds nothing to the command. */
static inline int vhca_cmd_create_target(struct vhca_context *ctx, struct vhca_qp *qp,
					 struct ibv_qp_init_attr_ex *attr,
					 struct ibv_create_qp_ex *cmd,
					 struct ib_uverbs_ex_create_qp_resp *resp)
{
	return create_qp_ex2(&ctx->vctx.context, &qp->vqp, attr, cmd, sizeof(*cmd), resp,
			     sizeof(*resp));
}

static inline int vhca_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					 uint64_t iova, int fd, int access, struct verbs_mr *vmr)
{
	return reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr);
}

#undef get_context
#undef create_cq_ex
#undef create_qp_ex2
#undef reg_dmabuf_mr

#endif /* VHCA_RELEASE_H */
