/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room header of object/: the object base, owners, restrack and cgroup charges.
 * For the core's own modules (ib_core, ib_uverbs, ib_cm, rdma_cm); never for drivers.
 */
#ifndef CORE_OBJECT_H
#define CORE_OBJECT_H

#include <linux/cgroup_rdma.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_object.h>

/* ---- life of an object (object.c) ---- */

void rdma_object_init(struct rdma_object *obj, enum rdma_object_type type,
		      struct ib_device *device, struct rdma_owner *owner,
		      const struct rdma_object_ops *ops);
int rdma_object_link(struct rdma_object *obj, struct rdma_object *parent);
void rdma_object_unlink(struct rdma_object *obj, struct rdma_object *parent);
void rdma_object_publish(struct rdma_object *obj);
void rdma_object_abort(struct rdma_object *obj);

int rdma_object_destroy(struct rdma_object *obj, struct ib_udata *udata);
int rdma_end_async(struct ib_device *device, int (*end)(void *what), void *what,
		   void (*done)(void *context, int err), void *context);
int rdma_object_destroy_async(struct rdma_object *obj, void (*done)(void *context, int err),
			      void *context);

/* Users of an object that are no objects themselves: attachments, opened handles. */
int rdma_object_hold(struct rdma_object *obj);
void rdma_object_unhold(struct rdma_object *obj);

const char *rdma_object_type_name(enum rdma_object_type type);

/**
 * rdma_object_get() - take a lookup reference
 * @obj: object found under a lock or table that keeps it from going away
 *
 * Destruction waits for the reference, so it must be held only briefly.
 * Return: true with the reference, false when the object is dying.
 */
static inline bool rdma_object_get(struct rdma_object *obj)
{
	return rdma_restrack_get(&obj->res);
}

/**
 * rdma_object_put() - drop a look-up reference
 * @obj: object with a reference of rdma_object_get() or of a look-up
 */
static inline void rdma_object_put(struct rdma_object *obj)
{
	rdma_restrack_put(&obj->res);
}

/* ---- owners (owner.c) ---- */

struct rdma_owner *rdma_owner_kernel(struct ib_device *device, const char *name);
struct rdma_owner *rdma_owner_find(struct ib_device *device, const char *name);
struct rdma_owner *rdma_owner_user(struct ib_device *device, struct ib_ucontext *context);
void rdma_owner_put(struct rdma_owner *owner);
unsigned int rdma_owner_reap(struct rdma_owner *owner);

/* ---- tracking (restrack.c); the calls for entries are those of Linux 6.12 ---- */

int rdma_restrack_init(struct ib_device *dev);
void rdma_restrack_clean(struct ib_device *dev);
void rdma_restrack_new(struct rdma_restrack_entry *res, enum rdma_restrack_type type);
void rdma_restrack_set_name(struct rdma_restrack_entry *res, const char *caller);
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent);
void rdma_restrack_add(struct rdma_restrack_entry *res);
void rdma_restrack_del(struct rdma_restrack_entry *res);
void rdma_restrack_sync(struct rdma_restrack_entry *res);
bool rdma_restrack_is_detail(const struct rdma_restrack_entry *res);
struct rdma_restrack_entry *rdma_restrack_next(struct ib_device *dev,
					       enum rdma_restrack_type type, u32 *id);

/* ---- per-device life, called by device/ ---- */

void rdma_objects_drain(struct ib_device *dev);
void rdma_objects_report(struct ib_device *dev);
int rdma_objects_module_init(void);
void rdma_objects_module_exit(void);

/* ---- tables ---- */

/**
 * rdma_xa_used() - does an xarray have entries?
 * @xa: the xarray
 *
 * This may be false when xa_empty() is false, too: an insertion that fails for lack of memory
 * leaves the nodes that it has allocated. Only xa_destroy() frees these.
 *
 * Return: true if there is an entry, even if only a reserved one.
 */
static inline bool rdma_xa_used(struct xarray *xa)
{
	XA_STATE(xas, xa, 0);
	void *entry;

	rcu_read_lock();
	do
		entry = xas_find(&xas, ULONG_MAX);
	while (!xa_is_zero(entry) && xas_retry(&xas, entry));
	rcu_read_unlock();
	return entry;
}

/**
 * rdma_xa_destroy() - end an xarray without entries
 * @xa: the xarray
 */
static inline void rdma_xa_destroy(struct xarray *xa)
{
	WARN_ON(rdma_xa_used(xa));
	xa_destroy(xa);
}

/* ---- RDMA cgroup (cgroup.c) ---- */

#ifdef CONFIG_CGROUP_RDMA
void ib_device_register_rdmacg(struct ib_device *device);
void ib_device_unregister_rdmacg(struct ib_device *device);
int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
			 enum rdmacg_resource_type resource_index);
void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
			enum rdmacg_resource_type resource_index);
#else
static inline void ib_device_register_rdmacg(struct ib_device *device) {}
static inline void ib_device_unregister_rdmacg(struct ib_device *device) {}

static inline int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
				       enum rdmacg_resource_type resource_index)
{
	return 0;
}

static inline void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
				      enum rdmacg_resource_type resource_index)
{
}
#endif

#endif /* CORE_OBJECT_H */
