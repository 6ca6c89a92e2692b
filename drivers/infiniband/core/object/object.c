// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of a verbs object.
 *
 *   rdma_object_init()      the caller has memory and knows type, device, owner
 *   rdma_object_link()      once for each object that must outlive this one
 *   (the driver creates it)
 *   rdma_object_publish()   from here on lookups find it, its owner reaps it
 *   rdma_object_destroy()   refuse while children exist, withdraw, wait out
 *                           lookups, let the driver destroy it, drop the links
 *
 * The count of children is also the lock between creating a child and destroying the parent:
 * destruction swaps 0 for a large negative number, and links increment only from zero or more.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/rdma_reject.h>

#include "../trace/trace.h"
#include "object_priv.h"

/* So far below zero that wrong increments never reach zero. */
#define OBJECT_CLOSED	(INT_MIN / 2)

static struct workqueue_struct *object_wq;

/* The name of each type of object, and its tracked type. */
static const struct object_kind {
	const char *name;
	enum rdma_restrack_type track;
	bool atomic;	/* destroyed in atomic context: it is never looked up */
} object_kind[RDMA_OBJECT_TYPES] = {
	[RDMA_OBJECT_UCONTEXT]	= { "context",	RDMA_RESTRACK_CTX },
	[RDMA_OBJECT_PD]	= { "PD",	RDMA_RESTRACK_PD },
	[RDMA_OBJECT_CQ]	= { "CQ",	RDMA_RESTRACK_CQ },
	[RDMA_OBJECT_QP]	= { "QP",	RDMA_RESTRACK_QP },
	[RDMA_OBJECT_SRQ]	= { "SRQ",	RDMA_RESTRACK_SRQ },
	[RDMA_OBJECT_MR]	= { "MR",	RDMA_RESTRACK_MR },
	[RDMA_OBJECT_MW]	= { "MW",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_FMR]	= { "FMR",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_AH]	= { "AH",	RDMA_RESTRACK_MAX, .atomic = true },
	[RDMA_OBJECT_XRCD]	= { "XRCD",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_WQ]	= { "WQ",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_RWQ_TABLE]	= { "RWQ table", RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_FLOW]	= { "flow",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_DM]	= { "DM",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_COUNTERS]	= { "counters",	RDMA_RESTRACK_MAX },
	[RDMA_OBJECT_COUNTER]	= { "counter",	RDMA_RESTRACK_COUNTER },
	[RDMA_OBJECT_CM_ID]	= { "CM id",	RDMA_RESTRACK_CM_ID },
};

/**
 * rdma_object_type_name() - get the name of a type of object
 * @type: the type
 *
 * Return: a short name.
 */
const char *rdma_object_type_name(enum rdma_object_type type)
{
	return type < RDMA_OBJECT_TYPES ? object_kind[type].name : "object";
}

/**
 * rdma_object_init() - initialise an object
 * @obj: base in zeroed memory
 * @type: type of the object
 * @device: device on which it is created
 * @owner: module or context to which it belongs, or NULL; a reference is taken
 * @ops: operations that destroy it, NULL for objects that are only tracked
 *
 * Context: any.
 */
void rdma_object_init(struct rdma_object *obj, enum rdma_object_type type,
		      struct ib_device *device, struct rdma_owner *owner,
		      const struct rdma_object_ops *ops)
{
	rdma_restrack_begin(&obj->res, object_kind[type].track);
	atomic_set(&obj->usecnt, 0);
	obj->type = type;
	obj->state = RDMA_OBJECT_NEW;
	obj->num_parents = 0;
	obj->reap_failed = false;
	obj->device = device;
	obj->ops = ops;
	INIT_LIST_HEAD(&obj->owner_entry);
	obj->owner = owner;
	if (owner)
		refcount_inc(&owner->refs);
}
EXPORT_SYMBOL(rdma_object_init);

/**
 * rdma_object_hold() - count a user of an object other than another object
 * @obj: object that must not be destroyed
 *
 * Context: any.
 * Return: 0; -EBUSY when the object is being destroyed.
 */
int rdma_object_hold(struct rdma_object *obj)
{
	if (atomic_inc_unless_negative(&obj->usecnt))
		return 0;
	return rdma_refuse(-EBUSY, "the %s is being destroyed", rdma_object_type_name(obj->type));
}
EXPORT_SYMBOL(rdma_object_hold);

/**
 * rdma_object_unhold() - end what rdma_object_hold() began
 * @obj: the object
 *
 * Context: any.
 */
void rdma_object_unhold(struct rdma_object *obj)
{
	WARN_ON_ONCE(atomic_dec_return(&obj->usecnt) < 0);
}
EXPORT_SYMBOL(rdma_object_unhold);

/**
 * rdma_object_link() - make an object the child of another
 * @obj: the child, new or held against destruction by the caller
 * @parent: object that must outlive it; NULL is allowed and does nothing
 *
 * A pair may be linked several times and is then unlinked as often.
 *
 * Context: any.
 * Return: 0; -EBUSY when the parent is being destroyed.
 */
int rdma_object_link(struct rdma_object *obj, struct rdma_object *parent)
{
	int ret;

	if (!parent)
		return 0;
	if (WARN_ON_ONCE(obj->num_parents == RDMA_OBJECT_PARENTS))
		return -EINVAL;
	ret = rdma_object_hold(parent);
	if (!ret)
		obj->parent[obj->num_parents++] = parent;
	return ret;
}
EXPORT_SYMBOL(rdma_object_link);

/**
 * rdma_object_unlink() - end what rdma_object_link() began
 * @obj: the child
 * @parent: its parent; NULL is allowed and does nothing
 *
 * Context: any.
 */
void rdma_object_unlink(struct rdma_object *obj, struct rdma_object *parent)
{
	for (unsigned int i = 0; parent && i < obj->num_parents; i++) {
		if (obj->parent[i] != parent)
			continue;
		obj->parent[i] = obj->parent[--obj->num_parents];
		rdma_object_unhold(parent);
		return;
	}
	WARN_ON_ONCE(parent);
}
EXPORT_SYMBOL(rdma_object_unlink);

/**
 * rdma_owner_put() - drop a reference
 * @owner: the owner; may be freed when this returns
 *
 * Context: any.
 */
void rdma_owner_put(struct rdma_owner *owner)
{
	spinlock_t *lock = &owner->device->res->owners_lock;
	unsigned long flags;

	if (!refcount_dec_and_lock_irqsave(&owner->refs, lock, &flags))
		return;
	list_del(&owner->entry);
	spin_unlock_irqrestore(lock, flags);
	kfree(owner);
}
EXPORT_SYMBOL(rdma_owner_put);

/* Called only if the owner keeps a list: rdma_owner_lists(). */
static void owner_add(struct rdma_object *obj)
{
	struct rdma_owner *owner = obj->owner;
	unsigned long flags;

	/* The caller's string is freed with its module, which may leave objects behind. */
	if (rdma_is_kernel_res(&obj->res))
		obj->res.kern_name = owner->name;
	spin_lock_irqsave(&owner->lock, flags);
	list_add_tail(&obj->owner_entry, &owner->objects);
	spin_unlock_irqrestore(&owner->lock, flags);
}

/* Called only if the owner keeps a list. */
static void owner_del(struct rdma_object *obj)
{
	struct rdma_owner *owner = obj->owner;
	unsigned long flags;

	spin_lock_irqsave(&owner->lock, flags);
	list_del_init(&obj->owner_entry);
	spin_unlock_irqrestore(&owner->lock, flags);
}

/* Types without a table are not looked up. */
static bool object_is_tracked(const struct rdma_object *obj)
{
	return obj->res.type != RDMA_RESTRACK_MAX;
}

static void object_live(struct rdma_object *obj)
{
	obj->state = RDMA_OBJECT_LIVE;
	if (rdma_owner_lists(obj->owner))
		owner_add(obj);
}

/* Module of a kernel object, for the trace points. */
static const char *object_module(const struct rdma_object *obj)
{
	return rdma_is_kernel_res(&obj->res) && obj->res.kern_name ? obj->res.kern_name : "-";
}

/**
 * rdma_object_publish() - add an object to look-ups and to its owner
 * @obj: object that the driver has created
 *
 * Context: may sleep, except for address handles.
 */
void rdma_object_publish(struct rdma_object *obj)
{
	object_live(obj);
	if (object_is_tracked(obj))
		rdma_restrack_add(&obj->res);
	trace_rdma_object_create(obj->device->name, rdma_object_type_name(obj->type), obj->res.id,
				 object_module(obj), 0);
}
EXPORT_SYMBOL(rdma_object_publish);

/* Drops the references to everything that had to outlive the object. */
static void object_cut_ties(struct rdma_object *obj)
{
	while (obj->num_parents)
		rdma_object_unhold(obj->parent[--obj->num_parents]);
	rdma_restrack_put_task(&obj->res);
	if (obj->owner)
		rdma_owner_put(obj->owner);
	obj->owner = NULL;
}

/**
 * rdma_object_abort() - end an object that was never published
 * @obj: object that the driver failed to create
 *
 * The caller frees the memory.
 *
 * Context: any.
 */
void rdma_object_abort(struct rdma_object *obj)
{
	WARN_ON_ONCE(obj->state != RDMA_OBJECT_NEW);
	object_cut_ties(obj);
	obj->state = RDMA_OBJECT_UNUSED;
}
EXPORT_SYMBOL(rdma_object_abort);

/* Stage 1: no more children, no more lookups. */
static int object_withdraw(struct rdma_object *obj)
{
	int users = atomic_cmpxchg(&obj->usecnt, 0, OBJECT_CLOSED);

	if (users > 0)
		return rdma_refuse(-EBUSY, "%s %u is used by %d other object(s)",
				   rdma_object_type_name(obj->type), obj->res.id, users);
	if (users < 0)
		return rdma_refuse(-EBUSY, "%s %u is being destroyed already",
				   rdma_object_type_name(obj->type), obj->res.id);
	obj->state = RDMA_OBJECT_DYING;
	if (rdma_owner_lists(obj->owner))
		owner_del(obj);
	if (object_is_tracked(obj))
		rdma_restrack_hide(&obj->res);
	return 0;
}

/* The driver has not destroyed the object: undoes stage 1. */
static void object_revive(struct rdma_object *obj)
{
	atomic_set(&obj->usecnt, 0);
	rdma_restrack_show(&obj->res);
	object_live(obj);
}

/* Stage 2: wait for look-ups, destroy the object, drop all references. */
static int object_finish(struct rdma_object *obj, struct ib_udata *udata)
{
	const struct rdma_object_ops *ops = obj->ops;
	struct rdma_object copy __uninitialized, *last = obj;
	int ret;

	if (!object_kind[obj->type].atomic)
		rdma_restrack_drain(&obj->res);
	if (!ops->release) {
		/* The driver frees the object. */
		copy = *obj;
		last = &copy;
	}
	ret = ops->destroy(obj, udata);
	trace_rdma_object_destroy(last->device->name, rdma_object_type_name(last->type),
				  last->res.id, object_module(last), ret);
	if (ret) {
		object_revive(obj);
		return ret;
	}
	rdma_restrack_forget(&last->res);
	object_cut_ties(last);
	if (ops->release)
		ops->release(obj);
	return 0;
}

/**
 * rdma_object_destroy() - destroy a published object
 * @obj: the object; freed when 0 is returned
 * @udata: the user's request, NULL for kernel consumers and for reaping
 *
 * Context: may sleep, except for address handles.
 * Return: 0; -EBUSY while it has children or another destruction runs; the driver's error, after
 * which the object is as before.
 */
int rdma_object_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	int ret = object_withdraw(obj);

	return ret ?: object_finish(obj, udata);
}
EXPORT_SYMBOL(rdma_object_destroy);

/* A destruction that is queued on the work queue. */
struct destroy_work {
	struct work_struct work;
	struct ib_device *device;
	int (*end)(void *what);
	void *what;
	void (*done)(void *context, int err);
	void *context;
};

static int object_end(void *what)
{
	struct rdma_object *obj = what;
	int ret = object_finish(obj, NULL);

	WARN_ONCE(ret && !obj->res.user, "a driver refused to destroy a kernel %s: %d\n",
		  rdma_object_type_name(obj->type), ret);
	return ret;
}

static void destroy_work_fn(struct work_struct *work)
{
	struct destroy_work *dw = container_of(work, struct destroy_work, work);
	struct rdma_restrack_root *root = dw->device->res;

	dw->done(dw->context, dw->end(dw->what));
	kfree(dw);
	if (atomic_dec_and_test(&root->dying))
		wake_up_all(&root->quiet);
}

static struct destroy_work *destroy_work_alloc(struct ib_device *device, int (*end)(void *what),
					       void *what, void (*done)(void *context, int err),
					       void *context)
{
	struct destroy_work *dw = kmalloc(sizeof(*dw), GFP_KERNEL);

	if (!dw)
		return NULL;
	INIT_WORK(&dw->work, destroy_work_fn);
	dw->device = device;
	dw->end = end;
	dw->what = what;
	dw->done = done;
	dw->context = context;
	return dw;
}

static void destroy_work_queue(struct destroy_work *dw)
{
	atomic_inc(&dw->device->res->dying);
	queue_work(object_wq, &dw->work);
}

/**
 * rdma_end_async() - end something asynchronously, like rdma_object_destroy_async() for objects
 * @device: device whose removal waits for the end
 * @end: ends it; called once, from process context
 * @what: argument of @end
 * @done: called with the return value of @end
 * @context: argument of @done
 *
 * Context: may sleep, but does not wait for @end.
 * Return: 0 when @done will be called; -ENOMEM.
 */
int rdma_end_async(struct ib_device *device, int (*end)(void *what), void *what,
		   void (*done)(void *context, int err), void *context)
{
	struct destroy_work *dw = destroy_work_alloc(device, end, what, done, context);

	if (!dw)
		return -ENOMEM;
	destroy_work_queue(dw);
	return 0;
}

/**
 * rdma_object_destroy_async() - begin to destroy a published object
 * @obj: the object; the caller must not use it again unless @done reports an error
 * @done: called once, from process context, when the object is freed (@err 0: no event of it will
 *	be reported any more) or when the driver has refused (@err negative)
 * @context: argument of @done
 *
 * Context: may sleep, but waits neither for lookups nor for the driver.
 * Return: 0 when @done will be called; -EBUSY as rdma_object_destroy(); -ENOMEM.
 */
int rdma_object_destroy_async(struct rdma_object *obj, void (*done)(void *context, int err),
			      void *context)
{
	struct destroy_work *dw = destroy_work_alloc(obj->device, object_end, obj, done, context);
	int ret;

	if (!dw)
		return -ENOMEM;
	ret = object_withdraw(obj);
	if (ret)
		kfree(dw);
	else
		destroy_work_queue(dw);
	return ret;
}
EXPORT_SYMBOL(rdma_object_destroy_async);

/**
 * rdma_objects_drain() - wait until all asynchronous destructions have called back
 * @dev: device on which no new one is begun
 *
 * Context: may sleep.
 */
void rdma_objects_drain(struct ib_device *dev)
{
	struct rdma_restrack_root *root = dev->res;

	wait_event(root->quiet, !atomic_read(&root->dying));
	/* The thread that has woken this one may still be inside wake_up_all(). */
	flush_workqueue(object_wq);
}

/**
 * rdma_objects_async_init() - initialise asynchronous destruction
 *
 * Return: 0 or -ENOMEM.
 */
int rdma_objects_async_init(void)
{
	object_wq = alloc_workqueue("rdma_objects", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return object_wq ? 0 : -ENOMEM;
}

/**
 * rdma_objects_async_exit() - end what rdma_objects_async_init() began
 */
void rdma_objects_async_exit(void)
{
	destroy_workqueue(object_wq);
}
