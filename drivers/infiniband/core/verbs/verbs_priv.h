/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Declarations for the files of verbs/ only. */
#ifndef CORE_VERBS_PRIV_H
#define CORE_VERBS_PRIV_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>
#include "../object/object.h"
#include "verbs.h"

/*
 * Handle structures are private to uverbs; here only the struct ib_uobject is used with
 * which each of them begins, as uverbs/events.h asserts.
 */
static inline struct ib_uobject *verbs_cq_handle(struct ib_ucq_object *handle)
{
	return (struct ib_uobject *)handle;
}

static inline struct ib_uobject *verbs_qp_handle(struct ib_uqp_object *handle)
{
	return (struct ib_uobject *)handle;
}

/**
 * verbs_object_init_user() - begin an object on behalf of a user context
 * @obj: base in zeroed memory
 * @type: type of the object
 * @uobject: the user's handle
 * @ops: how the type is destroyed
 */
static inline void verbs_object_init_user(struct rdma_object *obj, enum rdma_object_type type,
					  struct ib_uobject *uobject,
					  const struct rdma_object_ops *ops)
{
	rdma_object_init(obj, type, uobject->context->device, uobject->context->obj.owner, ops);
	rdma_restrack_set_name(&obj->res, NULL);
}

/**
 * verbs_object_init() - begin an object on behalf of a user context or a module
 * @obj: base in zeroed memory
 * @type: type of the object
 * @device: device
 * @uobject: the user's handle, NULL for a kernel object
 * @caller: module that makes a kernel object
 * @ops: how the type is destroyed
 *
 * Return: 0 or -ENOMEM.
 */
static inline int verbs_object_init(struct rdma_object *obj, enum rdma_object_type type,
				    struct ib_device *device, struct ib_uobject *uobject,
				    const char *caller, const struct rdma_object_ops *ops)
{
	struct rdma_owner *owner;

	if (uobject) {
		verbs_object_init_user(obj, type, uobject, ops);
		return 0;
	}
	owner = rdma_owner_kernel(device, caller);
	if (!owner)
		return -ENOMEM;
	rdma_object_init(obj, type, device, owner, ops);
	rdma_restrack_set_name(&obj->res, caller);
	rdma_owner_put(owner);
	return 0;
}

/**
 * verbs_object_init_under() - begin an object that has the owner of its PD
 * @obj: base in zeroed memory
 * @type: type of the object
 * @pd: the PD
 * @ops: how the type is destroyed
 *
 * Context: any.
 */
static inline void verbs_object_init_under(struct rdma_object *obj, enum rdma_object_type type,
					   struct ib_pd *pd, const struct rdma_object_ops *ops)
{
	rdma_object_init(obj, type, pd->device, pd->obj.owner, ops);
	if (pd->obj.res.task || rdma_is_kernel_res(&pd->obj.res))
		rdma_restrack_parent_name(&obj->res, &pd->obj.res);
}

/* Paths of a QP (qp_path.c) */

/**
 * struct qp_paths - references that a modification holds while it runs
 * @av: source GID entry looked up for the primary path, or NULL
 * @alt: the same for the alternate path
 */
struct qp_paths {
	const struct ib_gid_attr *av;
	const struct ib_gid_attr *alt;
};

int qp_paths_prepare(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata,
		     struct qp_paths *paths);
void qp_paths_commit(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask);
void qp_paths_release(struct ib_qp_attr *attr, int mask, struct qp_paths *paths);

/* Target QPs of XRC domains (xrc.c) */
void qp_shared_event(struct ib_event *event, void *context);
struct ib_qp *qp_share(struct ib_qp *real, const struct ib_qp_init_attr *attr);
int qp_unshare(struct ib_qp *qp);

/* Pools of MRs of a QP (mr_pool.c) */
void mr_pool_end(struct ib_qp *qp);

/* CQs of any kind (cq.c) */
struct ib_cq *cq_create(struct ib_device *device, const struct ib_cq_init_attr *attr,
			struct ib_ucq_object *uobject, const char *caller,
			const struct rdma_object_ops *ops, ib_comp_handler comp_handler,
			void (*event_handler)(struct ib_event *event, void *cq_context),
			void *cq_context, struct uverbs_attr_bundle *attrs);

/* Completion vectors of the CQs that the core polls (cq_poll.c) */
#if IS_ENABLED(CONFIG_KUNIT)
extern atomic_t cq_last_turn;
#endif
unsigned int cq_vectors(const struct ib_device *dev);
unsigned int cq_any_vector(const struct ib_device *dev);

/* Source GID entries of address vectors (ah_attr.c) */
int ah_attr_check(struct ib_device *device, const struct rdma_ah_attr *ah_attr);
int ah_attr_hold_sgid(struct ib_device *device, struct rdma_ah_attr *ah_attr,
		      const struct ib_gid_attr **held);
void ah_attr_drop_sgid(struct rdma_ah_attr *ah_attr, const struct ib_gid_attr *held);
int ah_attr_resolve_dmac(struct rdma_ah_attr *ah_attr);
bool ah_attr_dmac_is_known(const struct rdma_ah_attr *ah_attr);

#endif /* CORE_VERBS_PRIV_H */
