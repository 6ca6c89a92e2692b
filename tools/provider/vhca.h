/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libvhca: what its files share.
 *
 * Locking: a QP has a lock for each of its two rings, a CQ one for its ring.
 * A CQ's lock also covers the tails of the rings whose completions it takes,
 * which posters read without it: a tail only ever grows towards the head.
 * Order: both CQs of a QP in order of their numbers; ring locks inside none.
 */
#ifndef VHCA_H
#define VHCA_H

#include <config.h>
#include <pthread.h>
#include <stdint.h>

#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>
#include <ccan/container_of.h>
#include <rdma/vhca-abi.h>
#include <kernel-abi/vhca-abi.h>

#include "qpset.h"
#include "ring.h"

DECLARE_DRV_CMD(uvhca_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		vhca_uctx_req, vhca_uctx_resp);
DECLARE_DRV_CMD(uvhca_alloc_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, vhca_alloc_pd_resp);
DECLARE_DRV_CMD(uvhca_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		vhca_create_cq_req, vhca_create_cq_resp);
DECLARE_DRV_CMD(uvhca_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		vhca_create_qp_req, vhca_create_qp_resp);

struct vhca_qp;

struct vhca_device {
	struct verbs_device vdev;
};

/**
 * struct vhca_context - one open of the device
 * @vctx: libibverbs' part
 * @max_inline: bytes a send may carry inline
 * @max_send_sge: gather entries of a send
 * @max_recv_sge: scatter entries of a receive
 * @hw_version: interface version of the device, major << 16 | minor
 * @page_size: of this process
 * @kick: the context's kick page
 * @db_page: doorbell pages mapped so far, by number
 * @db_lock: covers the mapping of new doorbell pages
 */
struct vhca_context {
	struct verbs_context vctx;
	uint32_t max_inline;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t hw_version;
	size_t page_size;
	uint32_t *kick;
	struct vhca_db_page *db_page[VHCA_DB_MAX_PAGES];
	pthread_mutex_t db_lock;
};

struct vhca_pd {
	struct ibv_pd pd;
	uint32_t pdn;
};

/**
 * struct vhca_cq - completion queue
 * @vcq: libibverbs' part
 * @lock: covers all below
 * @ring: completion ring
 * @db: consumer record, then arm record
 * @arm_seq: sequence number of the arming in force
 * @cqn: the device's number
 * @qps: QPs that complete here
 * @last: QP of the last completion taken; most come in runs
 */
struct vhca_cq {
	struct verbs_cq vcq;
	pthread_spinlock_t lock;
	struct vhca_ring ring;
	struct vhca_db db;
	uint32_t arm_seq;
	uint32_t cqn;
	struct vhca_qpset qps;
	struct vhca_qp *last;
};

/**
 * struct vhca_qp - queue pair
 * @vqp: libibverbs' part
 * @sq_lock: covers @sq's head and its entries
 * @rq_lock: covers @rq's head and its entries
 * @sq: send ring, in blocks
 * @rq: receive ring, in strides
 * @db: send record, then receive record
 * @max_send_sge: gather entries a send may have
 * @max_recv_sge: scatter entries a receive may have
 * @max_inline: bytes a send may carry inline
 * @sq_sig_all: every send completes visibly
 */
struct vhca_qp {
	struct verbs_qp vqp;
	pthread_spinlock_t sq_lock;
	pthread_spinlock_t rq_lock;
	struct vhca_ring sq;
	struct vhca_ring rq;
	struct vhca_db db;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline;
	bool sq_sig_all;
};

static inline struct vhca_context *to_vctx(struct ibv_context *ctx)
{
	return container_of(ctx, struct vhca_context, vctx.context);
}

static inline struct vhca_cq *to_vcq(struct ibv_cq *cq)
{
	return container_of(cq, struct vhca_cq, vcq.cq);
}

static inline struct vhca_qp *to_vqp(struct ibv_qp *qp)
{
	return container_of(qp, struct vhca_qp, vqp.qp);
}

/* mem.c: memory that the device sees */
int vhca_ring_alloc(struct vhca_ring *r, unsigned int log_size, unsigned int shift,
		    size_t page_size);
void vhca_ring_free(struct vhca_ring *r, size_t page_size);
int vhca_db_map(struct vhca_context *ctx, struct vhca_db *db, uint32_t slot, uint64_t offset);
int vhca_uar_map(struct vhca_context *ctx, uint64_t kick, uint64_t db0);
void vhca_uar_unmap(struct vhca_context *ctx);

/* dev.c */
int vhca_query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);
int vhca_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr);
struct ibv_pd *vhca_alloc_pd(struct ibv_context *ctx);
int vhca_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *vhca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			   int access);
int vhca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		  size_t length, int access);
int vhca_dereg_mr(struct verbs_mr *vmr);

/* cq.c */
struct ibv_cq *vhca_create_cq(struct ibv_context *ctx, int cqe,
			      struct ibv_comp_channel *channel, int vector);
int vhca_destroy_cq(struct ibv_cq *cq);
int vhca_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc);
int vhca_req_notify_cq(struct ibv_cq *cq, int solicited_only);
void vhca_cq_event(struct ibv_cq *cq);
int vhca_cqs_attach(struct vhca_qp *qp);
void vhca_cqs_detach(struct vhca_qp *qp);
void vhca_cqs_purge(struct vhca_qp *qp);

/* qp.c */
struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int vhca_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int vhca_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int vhca_destroy_qp(struct ibv_qp *qp);

/* post.c */
int vhca_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int vhca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif /* VHCA_H */
