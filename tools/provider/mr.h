/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions and windows. */
#ifndef VHCA_MR_H
#define VHCA_MR_H

#include <pthread.h>

#include "vhca.h"

/**
 * struct vhca_mw - memory window
 * @mw: base
 * @lock: protects the key of a window of type 1; taken before the send queue's
 */
struct vhca_mw {
	struct ibv_mw mw;
	pthread_mutex_t lock;
};

static inline struct vhca_mw *to_vhca_mw(struct ibv_mw *mw)
{
	return container_of(mw, struct vhca_mw, mw);
}

/* mr.c */
struct ibv_mr *vhca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			   int access);
int vhca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  int access);
int vhca_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *vhca_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				  int fd, int access);

/* mw.c */
struct ibv_mw *vhca_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int vhca_dealloc_mw(struct ibv_mw *mw);
uint8_t vhca_window_access(unsigned int access);
int vhca_check_bind(const struct ibv_qp *qp, const struct ibv_mw *mw, uint32_t key,
		    const struct ibv_mw_bind_info *info);

#endif /* VHCA_MR_H */
