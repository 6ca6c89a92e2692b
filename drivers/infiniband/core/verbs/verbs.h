/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls of verbs/ for ib_uverbs and the folders above, besides those that
 * include/rdma/ib_verbs.h declares.  Every object made here embeds a struct rdma_object
 * (../object/object.h), which counts users, tracks and frees it: callers do none of these.
 */
#ifndef CORE_VERBS_H
#define CORE_VERBS_H

#include <rdma/ib_verbs.h>

struct ib_uverbs_file;
struct uverbs_attr_bundle;

/* ---- init and exit, called by init/ and register/ ---- */

int rdma_verbs_module_init(void);
void rdma_verbs_module_exit(void);
void ib_cq_pool_cleanup(struct ib_device *dev);

/* ---- CQs that the core polls (cq_poll.c) ---- */

void ib_cq_flush(struct ib_cq *cq);

/* ---- user contexts (ucontext.c) ---- */

struct ib_ucontext *rdma_ucontext_alloc(struct ib_device *device, struct ib_uverbs_file *ufile);
int rdma_ucontext_open(struct ib_ucontext *context, struct ib_udata *udata);
void rdma_ucontext_close(struct ib_ucontext *context);
void rdma_ucontext_free(struct ib_ucontext *context);

/*
 * Objects made for a user handle; kernel consumers use ib_verbs.h.  Handle structures
 * begin with a struct ib_uobject, whose context must be set.
 */

struct ib_pd *ib_alloc_pd_user(struct ib_device *device, struct ib_uobject *uobject,
			       struct ib_udata *udata);

struct ib_cq *ib_create_cq_user(struct ib_device *device, const struct ib_cq_init_attr *attr,
				struct ib_ucq_object *uobject, ib_comp_handler comp_handler,
				void (*event_handler)(struct ib_event *event, void *cq_context),
				void *cq_context, struct uverbs_attr_bundle *attrs);

struct ib_qp *rdma_qp_create(struct ib_device *device, struct ib_pd *pd,
			     struct ib_qp_init_attr *attr, struct ib_udata *udata,
			     struct ib_uqp_object *uobject, const char *caller);
struct ib_qp *ib_create_qp_user(struct ib_device *device, struct ib_pd *pd,
				struct ib_qp_init_attr *attr, struct ib_udata *udata,
				struct ib_uqp_object *uobject, const char *caller);

struct ib_mr *ib_reg_mr_user(struct ib_pd *pd, struct ib_uobject *uobject, u64 start, u64 length,
			     u64 virt_addr, int access_flags, struct ib_udata *udata);
struct ib_mr *ib_rereg_mr_user(struct ib_mr *mr, struct ib_uobject *new_uobject, int flags,
			       u64 start, u64 length, u64 virt_addr, int access_flags,
			       struct ib_pd *pd, struct ib_udata *udata);

struct ib_mw *ib_alloc_mw_user(struct ib_pd *pd, enum ib_mw_type type, struct ib_uobject *uobject,
			       struct ib_udata *udata);
int ib_dealloc_mw_user(struct ib_mw *mw);

struct ib_mr *ib_reg_dmabuf_mr_user(struct ib_pd *pd, struct ib_uobject *uobject, u64 offset,
				    u64 length, u64 virt_addr, int fd, int access_flags,
				    struct uverbs_attr_bundle *attrs);

struct ib_dm *ib_alloc_dm_user(struct ib_uobject *uobject, struct ib_dm_alloc_attr *attr,
			       struct uverbs_attr_bundle *attrs);
int ib_free_dm_user(struct ib_dm *dm, struct uverbs_attr_bundle *attrs);
struct ib_mr *ib_reg_dm_mr_user(struct ib_pd *pd, struct ib_dm *dm, struct ib_uobject *uobject,
				struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs);

struct ib_counters *ib_create_counters_user(struct ib_uobject *uobject,
					    struct uverbs_attr_bundle *attrs);
int ib_destroy_counters_user(struct ib_counters *counters);

struct ib_wq *ib_create_wq_user(struct ib_pd *pd, struct ib_uwq_object *uobject,
				struct ib_wq_init_attr *attr, struct ib_udata *udata);
struct ib_rwq_ind_table *ib_create_rwq_table_user(struct ib_device *device,
						  struct ib_uobject *uobject,
						  struct ib_rwq_ind_table_init_attr *attr,
						  struct ib_udata *udata);
int ib_destroy_rwq_table_user(struct ib_rwq_ind_table *table, struct ib_udata *udata);

#endif /* CORE_VERBS_H */
