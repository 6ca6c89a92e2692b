/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared only by the files of object/.
 */
#ifndef CORE_OBJECT_PRIV_H
#define CORE_OBJECT_PRIV_H

#include <linux/moduleparam.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include "object.h"

/**
 * struct rdma_restrack_root - data of the object base for one device
 * @table: published objects by id, one table for each tracked type
 * @table.xa: the entries
 * @table.next: where the search for the next id begins
 * @owners_lock: protects @owners
 * @owners: kernel owners (modules) that have objects on the device
 * @dying: number of asynchronous destructions that have not called back yet
 * @quiet: woken when @dying drops to zero
 * @entry: in the list of all devices' roots
 * @device: the device
 */
struct rdma_restrack_root {
	struct {
		struct xarray xa;
		u32 next;
	} table[RDMA_RESTRACK_MAX];
	spinlock_t owners_lock;
	struct list_head owners;
	atomic_t dying;
	wait_queue_head_t quiet;
	struct list_head entry;
	struct ib_device *device;
};

/**
 * struct rdma_owner - a module's or a user context's objects on one device
 * @name: name of the module, to which its objects' res.kern_name points; empty for a user context
 * @device: device of the objects
 * @context: the user context, NULL for a module
 * @refs: one for each object and each counter of its QPs, one for each caller that holds the owner
 * @lock: protects @objects; taken in atomic context for address handles
 * @objects: published objects of a module, oldest first
 * @entry: in the device's list of kernel owners
 */
struct rdma_owner {
	char name[MODULE_NAME_LEN];
	struct ib_device *device;
	struct ib_ucontext *context;
	refcount_t refs;
	spinlock_t lock;
	struct list_head objects;
	struct list_head entry;
};

/**
 * rdma_owner_lists() - does an owner have a list of its objects?
 * @owner: the owner, or NULL
 *
 * Objects of a user context are listed by its uverbs file, which also destroys them.
 *
 * Return: true for a module.
 */
static inline bool rdma_owner_lists(const struct rdma_owner *owner)
{
	return owner && !owner->context;
}

int rdma_objects_async_init(void);
void rdma_objects_async_exit(void);
void rdma_owner_module_left(struct ib_device *device, const char *name);

void rdma_restrack_hide(struct rdma_restrack_entry *res);
void rdma_restrack_drain(struct rdma_restrack_entry *res);
void rdma_restrack_forget(struct rdma_restrack_entry *res);
void rdma_restrack_show(struct rdma_restrack_entry *res);

/* Same as rdma_restrack_new(), for the object base. */
static inline void rdma_restrack_begin(struct rdma_restrack_entry *res,
				       enum rdma_restrack_type type)
{
	kref_init(&res->kref);
	res->type = type;
}

/* Drops the reference to the process of an object, unless that was done before. */
static inline void rdma_restrack_put_task(struct rdma_restrack_entry *res)
{
	if (!res->user || !res->task)
		return;
	put_task_struct(res->task);
	res->task = NULL;
}

#endif /* CORE_OBJECT_PRIV_H */
