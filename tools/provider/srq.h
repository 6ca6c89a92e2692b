/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues. */
#ifndef VHCA_SRQ_H
#define VHCA_SRQ_H

#include "buf.h"
#include "cq.h"
#include "wq.h"

DECLARE_DRV_CMD(vhca_cmd_srq, IB_USER_VERBS_CMD_CREATE_SRQ, vhca_create_srq_req,
		vhca_create_srq_resp);

DECLARE_DRV_CMD(vhca_cmd_xsrq, IB_USER_VERBS_CMD_CREATE_XSRQ, vhca_create_srq_req,
		vhca_create_srq_resp);

DECLARE_DRV_CMD(vhca_cmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ, vhca_modify_srq_req, empty);

/**
 * struct vhca_srq - shared receive queue
 * @vsrq: base
 * @buf: ring
 * @db: record of posted receives, and the device's record of those taken
 * @wq: the queue
 * @completed: receives whose completions were polled
 * @user: XRC: entry in its CQ's table
 * @refs: one of the program, until it destroys the SRQ, and one of each QP that polls find
 */
struct vhca_srq {
	struct verbs_srq vsrq;
	struct vhca_buf buf;
	struct vhca_slots db;
	struct vhca_wq wq;
	_Atomic uint64_t completed;
	struct vhca_cq_user user;
	_Atomic uint32_t refs;
};

static inline struct vhca_srq *to_vhca_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct vhca_srq, vsrq.srq);
}

struct ibv_srq *vhca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *vhca_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int vhca_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int vhca_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int vhca_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int vhca_destroy_srq(struct ibv_srq *srq);
void vhca_srq_get(struct vhca_srq *srq);
void vhca_srq_put(struct vhca_srq *srq);
bool vhca_srq_complete(struct vhca_srq *srq);
int vhca_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif /* VHCA_SRQ_H */
