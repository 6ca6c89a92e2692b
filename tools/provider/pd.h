/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, thread domains and parent domains. */
#ifndef VHCA_PD_H
#define VHCA_PD_H

#include <stdatomic.h>

#include "vhca.h"

DECLARE_DRV_CMD(vhca_cmd_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, vhca_alloc_pd_resp);

/**
 * struct vhca_td - thread domain
 * @td: base
 * @refs: parent domains that use it
 * @fenced: others can have its thread execute a barrier, see vhca_fence_threads()
 */
struct vhca_td {
	struct ibv_td td;
	_Atomic uint32_t refs;
	bool fenced;
};

/**
 * struct vhca_pd - protection domain or parent domain
 * @pd: base; a parent domain has the handle of its PD
 * @pdn: number of the PD in the device
 * @refs: of a PD: parent domains over it; of a parent domain: objects made in it
 * @holds: of a PD: one reference of the program, until it frees the PD, and one of each object made
 *	in it, as the kernel allows a PD to be freed while the provider still destroys the last
 *	object
 * @protects: PD of a parent domain; NULL: this is not one
 * @td: its thread domain, or NULL
 * @alloc: gives memory for rings, or NULL
 * @free: frees that memory
 * @context: the program's argument for these two
 */
struct vhca_pd {
	struct ibv_pd pd;
	uint32_t pdn;
	_Atomic uint32_t refs;
	_Atomic uint32_t holds;
	struct vhca_pd *protects;
	struct vhca_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *context, void *ptr, uint64_t resource_type);
	void *context;
};

static inline struct vhca_pd *to_vhca_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct vhca_pd, pd);
}

static inline struct vhca_td *to_vhca_td(struct ibv_td *td)
{
	return container_of(td, struct vhca_td, td);
}

/* Thread domain of a parent domain; NULL: there is none. */
static inline struct vhca_td *vhca_thread_of(struct ibv_pd *pd)
{
	return pd ? to_vhca_pd(pd)->td : NULL;
}

struct ibv_pd *vhca_alloc_pd(struct ibv_context *context);
int vhca_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *vhca_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int vhca_dealloc_td(struct ibv_td *td);
struct ibv_pd *vhca_alloc_parent_domain(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr);
void vhca_pd_drop(struct vhca_pd *pd);
void vhca_pd_get(struct ibv_pd *pd);
void vhca_pd_put(struct ibv_pd *pd);
void vhca_fence_threads(void);

#endif /* VHCA_PD_H */
