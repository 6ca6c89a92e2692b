/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs. */
#ifndef VHCA_QP_H
#define VHCA_QP_H

#include "buf.h"
#include "cq.h"
#include "wq.h"

DECLARE_DRV_CMD(vhca_cmd_qp, IB_USER_VERBS_EX_CMD_CREATE_QP, vhca_create_qp_req,
		vhca_create_qp_resp);

struct vhca_send_op;

/**
 * struct vhca_wqe - send request under construction
 * @wq: queue
 * @op: its operation
 * @start: count of its first block
 * @len: bytes so far
 * @ctrl: control segment, written last
 */
struct vhca_wqe {
	struct vhca_wq *wq;
	const struct vhca_send_op *op;
	uint64_t start;
	uint32_t len;
	struct vhca_wqe_ctrl ctrl;
};

/**
 * struct vhca_qp - queue pair
 * @vqp: base
 * @buf: both rings
 * @db: send and receive record
 * @sq: send queue
 * @rq: receive queue
 * @send_user: entry in the send CQ's table
 * @recv_user: entry in the receive CQ's table
 * @pd: handle of its PD
 * @sig_all: every send completes
 * @broken: known to be in the error state: receives are rung; set under @rq's lock, which one
 *	thread alone may leave out
 * @wqe: request that the extended posting calls are building
 * @building: there is one
 * @addressed: its destination is set; only for datagrams
 * @next: count of the block where the next one starts
 * @build_err: first error among those since ibv_wr_start()
 */
struct vhca_qp {
	struct verbs_qp vqp;
	struct vhca_buf buf;
	struct vhca_slots db;
	struct vhca_wq sq;
	struct vhca_wq rq;
	struct vhca_cq_user send_user;
	struct vhca_cq_user recv_user;
	uint32_t pd;
	bool sig_all;
	_Atomic bool broken;
	struct vhca_wqe wqe;
	bool building;
	bool addressed;
	uint64_t next;
	int build_err;
};

static inline struct vhca_qp *to_vhca_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct vhca_qp, vqp.qp);
}

static inline struct vhca_qp *ex_to_vhca_qp(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct vhca_qp, vqp.qp_ex);
}

struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *vhca_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int vhca_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int vhca_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
void vhca_async_event(struct ibv_context *context, struct ibv_async_event *event);
int vhca_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
int vhca_destroy_qp(struct ibv_qp *qp);

/* xrc.c */
struct ibv_xrcd *vhca_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int vhca_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_qp *vhca_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *vhca_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

/* post.c */
int vhca_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int vhca_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
void vhca_qp_broken(struct vhca_qp *qp);
int vhca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* post_ex.c */
uint64_t vhca_known_send_ops(const struct vhca_context *ctx, enum ibv_qp_type type);
void vhca_qp_set_post_ops(struct vhca_qp *qp, uint64_t send_ops);

#endif /* VHCA_QP_H */
