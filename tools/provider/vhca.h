/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libvhca: rdma-core provider of the VHCA device.
 */
#ifndef VHCA_H
#define VHCA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <ccan/container_of.h>
#include <infiniband/driver.h>
#include <kernel-abi/vhca-abi.h>

#include "lock.h"
#include "ring.h"

#define VHCA_PCI_VENDOR	0x1af4
#define VHCA_PCI_DEVICE	0x10f0
#define VHCA_MAX_QPN	0xffffff

/*
 * Most requests of a queue, and entries of a CQ, that this provider lays out.
 * Requests for more are passed to the kernel all the same, so that it refuses them with
 * a reason.
 */
#define VHCA_MAX_WR	(1U << 20)
#define VHCA_MAX_CQE	(1U << 24)

/* Send operations of a device whose driver does not tell which it has. */
#define VHCA_SEND_OPS_1_1							\
	(1U << VHCA_OP_SEND | 1U << VHCA_OP_SEND_IMM | 1U << VHCA_OP_WRITE |	\
	 1U << VHCA_OP_WRITE_IMM | 1U << VHCA_OP_READ)

/* Features that this provider can use. */
#define VHCA_FEATURES	(VHCA_UCTX_F_TIMESTAMP | VHCA_UCTX_F_CLOCK)

DECLARE_DRV_CMD(vhca_cmd_context, IB_USER_VERBS_CMD_GET_CONTEXT, vhca_uctx_req, vhca_uctx_resp);

struct vhca_device {
	struct verbs_device vdev;
};

/**
 * struct vhca_context - an open device
 * @vctx: base
 * @kick: kick page
 * @db_lock: protects @db_pages and @num_db_pages
 * @db_pages: doorbell pages by number, NULL if not mapped yet; they stay until the context is
 *	closed
 * @num_db_pages: length of @db_pages
 * @features: features that both sides have
 * @send_ops: operations that the device has, a bit each (1 << enum vhca_wqe_opcode)
 * @uc_send_ops: those of them that it has on UC QPs
 * @max_inline: inline bytes of a send at the most
 * @max_send_sge: gather entries of a send at the most
 * @max_recv_sge: scatter entries of a receive at the most
 * @page_size: page size of the host
 */
struct vhca_context {
	struct verbs_context vctx;
	volatile uint32_t *kick;
	pthread_mutex_t db_lock;
	struct vhca_db_page **db_pages;
	uint32_t num_db_pages;
	uint64_t features;
	uint32_t send_ops;
	uint32_t uc_send_ops;
	uint32_t max_inline;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	size_t page_size;
};

static inline struct vhca_context *to_vhca_context(struct ibv_context *context)
{
	return container_of(context, struct vhca_context, vctx.context);
}

/* db.c */
int vhca_db_open(struct vhca_context *ctx, uint64_t kick_mmap, uint64_t db_mmap);
void vhca_db_close(struct vhca_context *ctx);
int vhca_db_slots(struct vhca_context *ctx, struct vhca_slots *db, uint32_t slot,
		  uint64_t db_mmap);
void vhca_db_tell(struct vhca_context *ctx, const struct vhca_slots *db, unsigned int which);
void vhca_db_ring(struct vhca_context *ctx, const struct vhca_slots *db, unsigned int which,
		  uint64_t count);

/* import.c */
int vhca_query_context(struct vhca_context *ctx, struct vhca_uctx_resp *resp);
struct ibv_pd *vhca_import_pd(struct ibv_context *context, uint32_t handle);
void vhca_unimport_pd(struct ibv_pd *pd);
struct ibv_mr *vhca_import_mr(struct ibv_pd *pd, uint32_t handle);
void vhca_unimport_mr(struct ibv_mr *mr);

#endif /* VHCA_H */
