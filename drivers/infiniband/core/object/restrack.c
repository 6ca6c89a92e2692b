// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resource tracking: published objects by type and id, for netlink and for drivers. An entry is the
 * head of a struct rdma_object, which knows the device.
 *
 * Look-ups take a reference under the table's lock; an entry is removed from its table before its
 * own reference is dropped, and its memory stays until the last look-up reference is dropped.
 *
 * A hidden entry keeps its index reserved, so that it can return under its id whatever happens
 * meanwhile. An id that is assigned by the hardware may be that of a new object by then, which
 * takes over the reserved index.
 */
#include <linux/sched/task.h>
#include <rdma/rdma_counter.h>
#include "object_priv.h"

static struct rdma_object *res_object(struct rdma_restrack_entry *res)
{
	return container_of(res, struct rdma_object, res);
}

/* Returns the table of an entry, or NULL if it is not tracked. */
static struct xarray *res_table(struct rdma_restrack_entry *res)
{
	if (res->no_track || res->type >= RDMA_RESTRACK_MAX)
		return NULL;
	return &res_object(res)->device->res->table[res->type].xa;
}

/**
 * rdma_restrack_count() - number of published objects
 * @dev: device
 * @type: their type
 * @show_details: also count objects that only drivers define (rdma_restrack_is_detail())
 *
 * Context: may sleep.
 * Return: the number, which may be out of date on return.
 */
int rdma_restrack_count(struct ib_device *dev, enum rdma_restrack_type type, bool show_details)
{
	struct xarray *xa = &dev->res->table[type].xa;
	unsigned long index;
	int count = 0;
	void *entry;

	xa_lock(xa);
	xa_for_each(xa, index, entry)
		count += show_details || !xa_get_mark(xa, index, RESTRACK_DD);
	xa_unlock(xa);
	return count;
}
EXPORT_SYMBOL(rdma_restrack_count);

/**
 * rdma_restrack_new() - initialise an entry
 * @res: entry at the head of a struct rdma_object
 * @type: its table, RDMA_RESTRACK_MAX for none
 */
void rdma_restrack_new(struct rdma_restrack_entry *res, enum rdma_restrack_type type)
{
	rdma_restrack_begin(res, type);
}
EXPORT_SYMBOL(rdma_restrack_new);

static void res_attach_task(struct rdma_restrack_entry *res, struct task_struct *task)
{
	rdma_restrack_put_task(res);
	get_task_struct(task);
	res->task = task;
	res->user = true;
}

/**
 * rdma_restrack_set_name() - record the creator of the object
 * @res: entry
 * @caller: module, or NULL for the current process
 */
void rdma_restrack_set_name(struct rdma_restrack_entry *res, const char *caller)
{
	if (!caller)
		res_attach_task(res, current);
	else
		res->kern_name = caller;
}
EXPORT_SYMBOL(rdma_restrack_set_name);

/**
 * rdma_restrack_parent_name() - give an object the owner of its parent
 * @dst: entry of the object
 * @parent: entry of the parent
 */
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent)
{
	if (!rdma_is_kernel_res(parent))
		res_attach_task(dst, parent->task);
	else
		dst->kern_name = parent->kern_name;
}
EXPORT_SYMBOL(rdma_restrack_parent_name);

/*
 * The special QPs of all ports share two QP numbers and are distinguished by the port, which is
 * above the 24 bits of a QP number if it is below 256.
 */
static u32 special_id(u32 qp_num, u32 port)
{
	return qp_num | (port <= U8_MAX ? port << 24 : 0xff000000 | port << 1);
}

/* QPs and counters have the id that is their own number, except special QPs. */
static bool res_own_number(struct rdma_restrack_entry *res, u32 *number)
{
	struct ib_qp *qp;

	switch (res->type) {
	case RDMA_RESTRACK_QP:
		qp = container_of(res, struct ib_qp, res);
		*number = qp->qp_num;
		if (qp->qp_type == IB_QPT_SMI || qp->qp_type == IB_QPT_GSI)
			*number = special_id(qp->qp_num, qp->port);
		return true;
	case RDMA_RESTRACK_COUNTER:
		*number = container_of(res, struct rdma_counter, res)->id;
		return true;
	default:
		return false;
	}
}

/* Inserts an entry under an id of the hardware's, which a hidden entry may have had before. */
static int res_insert(struct xarray *xa, u32 number, struct rdma_restrack_entry *res)
{
	int ret;

	xa_lock(xa);
	ret = __xa_insert(xa, number, res, GFP_KERNEL);
	/* An index that is reserved for a hidden entry reads as empty. */
	if (ret == -EBUSY && !xa_load(xa, number)) {
		ret = xa_err(__xa_store(xa, number, res, 0));
		__xa_clear_mark(xa, number, RESTRACK_DD);
	}
	xa_unlock(xa);
	return ret;
}

/**
 * rdma_restrack_is_detail() - is an object of a type that only drivers define?
 * @res: its entry
 *
 * Return: true for those that are shown only if details are requested.
 */
bool rdma_restrack_is_detail(const struct rdma_restrack_entry *res)
{
	return res->type == RDMA_RESTRACK_QP &&
	       container_of(res, struct ib_qp, res)->qp_type >= IB_QPT_DRIVER;
}

/**
 * rdma_restrack_add() - make an object visible to lookups
 * @res: entry of an object that is complete
 *
 * Without memory, or with an id that is in use, the object works untracked with id 0.
 *
 * Context: may sleep.
 */
void rdma_restrack_add(struct rdma_restrack_entry *res)
{
	struct xarray *xa = res_table(res);
	u32 number;
	int ret;

	if (!xa) {
		res->valid = true;
		return;
	}

	/* In both cases the object has its id before a look-up can find it. */
	if (res_own_number(res, &number)) {
		res->id = number;
		ret = res_insert(xa, number, res);
	} else {
		ret = xa_alloc_cyclic(xa, &res->id, res, XA_LIMIT(1, U32_MAX),
				      &res_object(res)->device->res->table[res->type].next,
				      GFP_KERNEL);
	}
	if (ret < 0)
		res->id = 0;
	res->valid = ret >= 0;
	if (res->valid && rdma_restrack_is_detail(res))
		xa_set_mark(xa, res->id, RESTRACK_DD);
}
EXPORT_SYMBOL(rdma_restrack_add);

/**
 * rdma_restrack_get() - take a reference that delays an object's destruction
 * @res: entry that is known to exist
 *
 * Return: nonzero with the reference, 0 if the object is being destroyed.
 */
int __must_check rdma_restrack_get(struct rdma_restrack_entry *res)
{
	return kref_get_unless_zero(&res->kref);
}
EXPORT_SYMBOL(rdma_restrack_get);

static void res_unreferenced(struct kref *kref)
{
	complete(container_of(kref, struct rdma_restrack_entry, kref)->drained);
}

/**
 * rdma_restrack_put() - drop a reference
 * @res: entry
 *
 * Return: 1 if it was the last one, else 0.
 */
int rdma_restrack_put(struct rdma_restrack_entry *res)
{
	return kref_put(&res->kref, res_unreferenced);
}
EXPORT_SYMBOL(rdma_restrack_put);

/**
 * rdma_restrack_get_byid() - look up an object by its id
 * @dev: device
 * @type: type of the object
 * @id: its id
 *
 * Context: any but hard interrupts.
 * Return: its entry with a reference, or -ENOENT as an ERR_PTR.
 */
struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *dev,
						   enum rdma_restrack_type type, u32 id)
{
	struct xarray *xa = &dev->res->table[type].xa;
	struct rdma_restrack_entry *res;

	xa_lock(xa);
	res = xa_load(xa, id);
	if (res && !rdma_restrack_get(res))
		res = NULL;
	xa_unlock(xa);
	return res ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_restrack_get_byid);

/**
 * rdma_restrack_next() - walk the objects of a type
 * @dev: device
 * @type: type of the objects
 * @id: in: lowest id to find; out: id of the object found
 *
 * The table may change between two calls; the walk finds every object that exists throughout.
 *
 * Return: the entry with a reference, NULL when there is no further one.
 */
struct rdma_restrack_entry *rdma_restrack_next(struct ib_device *dev,
					       enum rdma_restrack_type type, u32 *id)
{
	struct xarray *xa = &dev->res->table[type].xa;
	struct rdma_restrack_entry *res;
	unsigned long index = *id;

	xa_lock(xa);
	for (res = xa_find(xa, &index, U32_MAX, XA_PRESENT); res && !rdma_restrack_get(res);)
		res = xa_find_after(xa, &index, U32_MAX, XA_PRESENT);
	xa_unlock(xa);
	*id = index;
	return res;
}

/* Hides an entry from look-ups, with its index reserved. References stay valid. */
void rdma_restrack_hide(struct rdma_restrack_entry *res)
{
	struct xarray *xa = res_table(res);

	if (res->valid && xa)
		xa_store(xa, res->id, XA_ZERO_ENTRY, 0);
	res->hidden = res->valid;
	res->valid = false;
}

/* Releases the index of a hidden entry, unless another entry has taken it over. */
void rdma_restrack_forget(struct rdma_restrack_entry *res)
{
	struct xarray *xa = res_table(res);

	if (res->hidden && xa)
		xa_release(xa, res->id);
	res->hidden = false;
}

/* Undoes rdma_restrack_hide() and rdma_restrack_drain(). */
void rdma_restrack_show(struct rdma_restrack_entry *res)
{
	struct xarray *xa = res_table(res);

	rdma_restrack_begin(res, res->type);
	res->valid = res->hidden;
	if (res->hidden && xa) {
		/*
		 * This needs no memory, and fails only if the hardware has given the id to a new
		 * object.
		 */
		xa_cmpxchg(xa, res->id, XA_ZERO_ENTRY, res, 0);
		res->valid = xa_load(xa, res->id) == res;
	}
	if (!res->valid)
		res->id = 0;
	res->hidden = false;
}

/**
 * rdma_restrack_sync() - wait until look-ups do not use the former state of an object
 * @res: entry of an object that is held against destruction and other changes
 *
 * Called after a change to the object, before what it referred to ends: later look-ups see the
 * change.  Until this returns, no look-up finds the object.
 *
 * Context: may sleep.
 */
void rdma_restrack_sync(struct rdma_restrack_entry *res)
{
	if (!res->valid)
		return;
	rdma_restrack_hide(res);
	rdma_restrack_drain(res);
	rdma_restrack_show(res);
}
EXPORT_SYMBOL(rdma_restrack_sync);

static void res_undisturbed(struct kref *kref)
{
}

/*
 * Drops the entry's own reference and waits for those of look-ups, which are held only briefly.
 */
void rdma_restrack_drain(struct rdma_restrack_entry *res)
{
	DECLARE_COMPLETION_ONSTACK(drained);

	/* The holder of the last reference completes it. */
	res->drained = &drained;
	if (!kref_put(&res->kref, res_undisturbed))
		wait_for_completion(&drained);
}

/**
 * rdma_restrack_del() - end an entry
 * @res: entry, published or not
 *
 * When it returns, the entry is in no table, and there are no references to it.
 *
 * Context: may sleep.
 */
void rdma_restrack_del(struct rdma_restrack_entry *res)
{
	bool published = res->valid;

	rdma_restrack_hide(res);
	if (published)
		rdma_restrack_drain(res);
	rdma_restrack_forget(res);
	rdma_restrack_put_task(res);
}
EXPORT_SYMBOL(rdma_restrack_del);
