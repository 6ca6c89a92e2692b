// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The handle table of a file: objects are made in two steps (begin, then commit or abort), looked
 * up with a lock, destroyed by request or reaped with the file.
 *
 * An object is locked by its usecnt: positive while shared by that many requests, -1 while one
 * request holds it exclusively, -2 until it is committed.  No request waits: one that meets a lock
 * fails with -EBUSY.  An uncommitted object is not found at all.  A destroyed one stays locked
 * exclusively, so that a request that still found it under RCU fails too.
 *
 * Completion channels, asynchronous event files and whatever drivers add to them have a file
 * descriptor instead of a handle.
 *
 * References: a handle is referenced by the table, a committed event file by its struct file, and
 * each request that took an object holds one.  An event file holds the uverbs file.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include <rdma/uverbs_std_types.h>

#include "../object/object.h"
#include "call.h"
#include "handles.h"

#define UOBJ_EXCLUSIVE	(-1)
#define UOBJ_NEW	(-2)

static void uobj_free(struct kref *ref)
{
	struct ib_uobject *uobj = container_of(ref, struct ib_uobject, ref);

	kfree_rcu(uobj, rcu);
}

/**
 * uverbs_uobject_put() - drop a reference on an object of a file
 * @uobject: the object
 *
 * Context: any.
 */
void uverbs_uobject_put(struct ib_uobject *uobject)
{
	kref_put(&uobject->ref, uobj_free);
}
EXPORT_SYMBOL(uverbs_uobject_put);

static int uobj_lock(struct ib_uobject *uobj, enum uverbs_obj_access access)
{
	bool got;

	if (access == UVERBS_ACCESS_READ)
		got = atomic_inc_unless_negative(&uobj->usecnt);
	else
		got = atomic_cmpxchg(&uobj->usecnt, 0, UOBJ_EXCLUSIVE) == 0;
	return got ? 0 : -EBUSY;
}

static const struct uverbs_obj_idr_type *idr_type(const struct ib_uobject *uobj)
{
	return container_of(uobj->uapi_object->type_attrs, struct uverbs_obj_idr_type, type);
}

/* ---- event files: objects that user space knows as file descriptors ---- */

static const struct uverbs_obj_fd_type *fd_type(const struct uverbs_api_object *type)
{
	return container_of(type->type_attrs, struct uverbs_obj_fd_type, type);
}

/* Reserves descriptor and file.  Drops the reference on @uobj if that fails. */
static struct ib_uobject *fd_begin(const struct uverbs_api_object *type, struct ib_uobject *uobj)
{
	const struct uverbs_obj_fd_type *desc = fd_type(type);
	struct file *filp;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		uverbs_uobject_put(uobj);
		return ERR_PTR(fd);
	}

	/* private_data is set at commit: until then the release operation does nothing. */
	filp = anon_inode_getfile(desc->name, desc->fops, NULL, desc->flags);
	if (IS_ERR(filp)) {
		put_unused_fd(fd);
		uverbs_uobject_put(uobj);
		return ERR_CAST(filp);
	}
	uobj->id = fd;
	uobj->object = filp;
	return uobj;
}

/* Installs the file for user space; the file takes over the reference on @uobj. */
static void fd_commit(struct ib_uobject *uobj)
{
	struct file *filp = uobj->object;
	int fd = uobj->id;

	kref_get(&uobj->ufile->ref);
	filp->private_data = uobj;
	uobj->id = 0;		/* user space may close the descriptor and reuse its number now */
	fd_install(fd, filp);
}

/* Gives descriptor and file back.  @started: destroy_object() of the type is needed as well. */
static void fd_abort(struct ib_uobject *uobj, bool started)
{
	if (started)
		fd_type(uobj->uapi_object)->destroy_object(uobj, RDMA_REMOVE_ABORT);
	put_unused_fd(uobj->id);
	fput(uobj->object);
}

/*
 * Finds the object behind a descriptor, with a reference on it and on its struct file.  Returns
 * -EINVAL for a number that cannot be a descriptor, -EBADF unless it names an event file of @type
 * that belongs to @file.
 */
static struct ib_uobject *fd_lookup(const struct uverbs_api_object *type,
				    struct ib_uverbs_file *file, s64 fd)
{
	struct ib_uobject *uobj;
	struct file *filp;

	if (fd < INT_MIN || fd > INT_MAX)
		return ERR_PTR(-EINVAL);
	filp = fget(fd);
	if (!filp)
		return ERR_PTR(-EBADF);

	uobj = filp->f_op == fd_type(type)->fops ? filp->private_data : NULL;
	if (!uobj || uobj->ufile != file) {
		fput(filp);
		return ERR_PTR(-EBADF);
	}
	uverbs_uobject_get(uobj);
	return uobj;
}

/* ---- handles ---- */

static int handle_reserve(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs)
{
	int ret;

	ret = ib_rdmacg_try_charge(&uobj->cg_obj, uobj->context->device,
				   RDMACG_RESOURCE_HCA_OBJECT);
	if (ret)
		return uverbs_refuse(uverbs_call_of(attrs), ret,
				     "hca_object limit of the rdma cgroup is reached");

	ret = xa_alloc(&uobj->ufile->handles, &uobj->id, uobj, xa_limit_32b, GFP_KERNEL);
	if (ret)
		ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device,
				   RDMACG_RESOURCE_HCA_OBJECT);
	return ret;
}

static void handle_unreserve(struct ib_uobject *uobj)
{
	xa_erase(&uobj->ufile->handles, uobj->id);
	ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device, RDMACG_RESOURCE_HCA_OBJECT);
}

static struct ib_uobject *handle_lookup(struct ib_uverbs_file *file, s64 id)
{
	XA_STATE(xas, &file->handles, id);
	struct ib_uobject *uobj;

	if (id < 0)
		return ERR_PTR(-EINVAL);
	if (id > U32_MAX)
		return ERR_PTR(-ENOENT);

	rcu_read_lock();
	do
		uobj = xas_load(&xas);
	while (xas_retry(&xas, uobj));
	/* This pairs with the store in uverbs_uobj_commit(). */
	if (uobj && (atomic_read_acquire(&uobj->usecnt) == UOBJ_NEW ||
		     !kref_get_unless_zero(&uobj->ref)))
		uobj = NULL;
	rcu_read_unlock();
	return uobj ?: ERR_PTR(-ENOENT);
}

/* ---- objects of both kinds ---- */

/**
 * uverbs_uobj_begin() - make an object that no other request can find yet
 * @type: its type
 * @attrs: the request; its context becomes the object's
 *
 * Context: process, inside a request.
 * Return: the object, or an error pointer: -EINVAL without a context, -ENOMEM, -EMFILE, or the
 * error of the RDMA cgroup.
 */
struct ib_uobject *uverbs_uobj_begin(const struct uverbs_api_object *type,
				     struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj;
	int ret;

	if (!attrs->context) {
		/* This pairs with the store in uverbs_context_publish(). */
		attrs->context = smp_load_acquire(&attrs->ufile->ucontext);
		if (!attrs->context)
			return ERR_PTR(uverbs_refuse(uverbs_call_of(attrs), -EINVAL,
						     "the file has no context yet"));
	}

	uobj = kzalloc(type->type_attrs->obj_size, GFP_KERNEL);
	if (!uobj)
		return ERR_PTR(-ENOMEM);
	kref_init(&uobj->ref);
	atomic_set(&uobj->usecnt, UOBJ_NEW);
	INIT_LIST_HEAD(&uobj->list);
	uobj->uapi_object = type;
	uobj->context = attrs->context;
	uobj->ufile = attrs->ufile;

	if (uverbs_type_is_fd(type))
		return fd_begin(type, uobj);

	ret = handle_reserve(uobj, attrs);
	if (ret) {
		uverbs_uobject_put(uobj);
		return ERR_PTR(ret);
	}
	return uobj;
}

/**
 * uverbs_uobj_commit() - let requests see a new object
 * @uobj: from uverbs_uobj_begin(); the caller must not use it afterwards
 *
 * Cannot fail.  Context: process, inside the request that made it.
 */
void uverbs_uobj_commit(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	spin_lock(&file->objects_lock);
	list_add(&uobj->list, &file->objects);
	spin_unlock(&file->objects_lock);

	/* The table has had the handle since begin; a request that gets the lock sees all of it. */
	atomic_set_release(&uobj->usecnt, 0);
	if (uverbs_type_is_fd(uobj->uapi_object))
		fd_commit(uobj);
}

/**
 * uverbs_uobj_abort() - give up a new object
 * @uobj: from uverbs_uobj_begin()
 * @attrs: the request
 * @hw: the driver knows the object, destroy it there first
 *
 * An object that the driver cannot destroy stays until the file is closed.  That is not always a
 * fault of the driver: a program may already use a part of the reply, such as an MR's key, while
 * the copy of the rest faults.
 */
void uverbs_uobj_abort(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs, bool hw)
{
	bool fd = uverbs_type_is_fd(uobj->uapi_object);

	if (hw && !fd) {
		attrs->driver_udata = (struct ib_udata){};
		if (idr_type(uobj)->destroy_object(uobj, RDMA_REMOVE_ABORT, attrs)) {
			uverbs_uobj_commit(uobj);
			return;
		}
		uobj->object = NULL;
	}
	if (fd)
		fd_abort(uobj, hw);
	else
		handle_unreserve(uobj);
	uverbs_uobject_put(uobj);
}

/**
 * uverbs_uobj_lookup() - find and lock an existing object
 * @type: type it must have, or NULL for any handle
 * @file: file of the objects
 * @id: handle or file descriptor
 * @access: READ shares it, WRITE takes it exclusively, DESTROY leaves the lock to
 *	uverbs_uobj_destroy()
 *
 * Return: the object, to be given back with uverbs_uobj_unlock(), or an error pointer: -ENOENT no
 * such handle, -EBADF no such event file, -EINVAL other type, -EBUSY locked by another request.
 */
struct ib_uobject *uverbs_uobj_lookup(const struct uverbs_api_object *type,
				      struct ib_uverbs_file *file, s64 id,
				      enum uverbs_obj_access access)
{
	struct ib_uobject *uobj;
	int ret = -EINVAL;

	if (type && uverbs_type_is_fd(type)) {
		if (access != UVERBS_ACCESS_READ)
			return ERR_PTR(-EOPNOTSUPP);
		uobj = fd_lookup(type, file, id);
	} else {
		uobj = handle_lookup(file, id);
	}
	if (IS_ERR(uobj))
		return uobj;

	if (!type || uobj->uapi_object == type)
		ret = access == UVERBS_ACCESS_DESTROY ? 0 : uobj_lock(uobj, access);
	if (ret) {
		if (type && uverbs_type_is_fd(type))
			fput(uobj->object);
		uverbs_uobject_put(uobj);
		return ERR_PTR(ret);
	}
	return uobj;
}

/**
 * uverbs_uobj_unlock() - give an object back that uverbs_uobj_lookup() found
 * @uobj: the object
 * @access: as it was taken
 */
void uverbs_uobj_unlock(struct ib_uobject *uobj, enum uverbs_obj_access access)
{
	switch (access) {
	case UVERBS_ACCESS_READ:
		atomic_dec(&uobj->usecnt);
		if (uverbs_type_is_fd(uobj->uapi_object))
			fput(uobj->object);
		break;
	case UVERBS_ACCESS_WRITE:
		atomic_set(&uobj->usecnt, 0);
		break;
	default:
		break;
	}
	uverbs_uobject_put(uobj);
}

static void object_unlist(struct ib_uobject *uobj)
{
	spin_lock(&uobj->ufile->objects_lock);
	list_del_init(&uobj->list);
	spin_unlock(&uobj->ufile->objects_lock);
}

/*
 * Destroys a handle without an object: either the object was destroyed when the device was removed,
 * or the driver's method succeeded without making one.  The driver is not called.
 */
static void without_object(struct ib_uobject *uobj)
{
	if (list_empty(&uobj->list))
		return;	/* The device was removed: reaping did all this. */
	ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device, RDMACG_RESOURCE_HCA_OBJECT);
	uobj->context = NULL;
	object_unlist(uobj);
}

/* Destroys the object in the driver.  The caller holds it exclusively. */
static int object_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			  struct uverbs_attr_bundle *attrs)
{
	int ret;

	if (!uobj->object) {
		without_object(uobj);
		return 0;
	}
	if (uverbs_type_is_fd(uobj->uapi_object)) {
		fd_type(uobj->uapi_object)->destroy_object(uobj, why);
	} else {
		struct ib_device *device = uobj->context->device;

		ret = idr_type(uobj)->destroy_object(uobj, why, attrs);
		if (ret)
			return ret;
		ib_rdmacg_uncharge(&uobj->cg_obj, device, RDMACG_RESOURCE_HCA_OBJECT);
	}
	uobj->object = NULL;
	uobj->context = NULL;
	object_unlist(uobj);
	return 0;
}

/**
 * uverbs_uobj_destroy() - destroy an object on request
 * @uobj: looked up with DESTROY access
 * @attrs: the request
 *
 * On success the handle is free again, the object's memory stays until the caller unlocks it.
 * On failure nothing has changed.
 *
 * Return: 0, -EBUSY when another request uses it or other objects depend on it, or the driver's
 * error.
 */
int uverbs_uobj_destroy(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs)
{
	int ret;

	ret = uobj_lock(uobj, UVERBS_ACCESS_DESTROY);
	if (ret)
		return ret;

	ret = object_destroy(uobj, RDMA_REMOVE_DESTROY, attrs);
	if (ret) {
		atomic_set(&uobj->usecnt, 0);
		return ret;
	}
	xa_erase(&uobj->ufile->handles, uobj->id);
	uverbs_uobject_put(uobj);
	return 0;
}

/**
 * uverbs_uobj_replace() - put a new object in the place of an existing one
 * @old: existing object, held for WRITE; must be given back as for DESTROY when this succeeds
 * @fresh: new object not yet committed
 * @attrs: the request
 *
 * @fresh takes over the handle of @old, which is then destroyed; if the driver refuses that, @old
 * stays under the handle that @fresh had, until the file is closed.
 *
 * Return: 0, or the driver's error.
 */
int uverbs_uobj_replace(struct ib_uobject *old, struct ib_uobject *fresh,
			struct uverbs_attr_bundle *attrs)
{
	struct xarray *handles = &old->ufile->handles;
	int ret;

	/* Both slots exist, so neither store allocates.  A reader sees old, nothing, then fresh. */
	xa_store(handles, old->id, fresh, GFP_KERNEL);
	xa_store(handles, fresh->id, old, GFP_KERNEL);
	swap(old->id, fresh->id);

	ret = object_destroy(old, RDMA_REMOVE_DESTROY, attrs);
	if (ret)
		return ret;
	xa_erase(handles, old->id);
	uverbs_uobject_put(old);
	return 0;
}

/* Tries to destroy each object, the newest first, since children are newer than their parents. */
static bool reap_pass(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	struct uverbs_attr_bundle attrs = { .ufile = file };
	struct ib_uobject *uobj, *next;
	bool progress = false;

	list_for_each_entry_safe(uobj, next, &file->objects, list) {
		/* No request runs, and only requests lock objects. */
		WARN_ON(uobj_lock(uobj, UVERBS_ACCESS_DESTROY));
		attrs.context = uobj->context;
		if (!object_destroy(uobj, why, &attrs))
			progress = true;
		/* The program may still destroy the handle, which has no object any more. */
		atomic_set(&uobj->usecnt, 0);
	}
	return progress;
}

/*
 * The driver cannot destroy an object that must end.  If it offers give_up(), it is asked to end
 * the whole device.
 */
static bool give_up(struct ib_uverbs_file *file)
{
	struct ib_uobject *uobj = list_first_entry(&file->objects, struct ib_uobject, list);
	struct ib_device *device = uobj->context->device;
	const struct rdma_ext_ops *ext = device->ops.ext;

	if (!ext || !ext->give_up)
		return false;
	ibdev_err(device, "a user's object of type %u cannot be destroyed: the device is given up\n",
		  uobj->uapi_object->id);
	ext->give_up(device);
	return true;
}

/**
 * uverbs_uobjs_reap() - destroy every object of a file
 * @file: the file; its reap_lock is held and no request runs
 * @why: RDMA_REMOVE_CLOSE or RDMA_REMOVE_DRIVER_REMOVE
 *
 * Handles stay in the table without objects, so that a program that has not noticed the removal of
 * its device can still destroy them.  If an object cannot be destroyed, the whole device is given
 * up, provided that its driver can do that (give_up()).
 */
void uverbs_uobjs_reap(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	struct ib_uobject *uobj, *next;
	bool given_up = false;

	lockdep_assert_held(&file->reap_lock);

	while (!list_empty(&file->objects)) {
		if (reap_pass(file, why))
			continue;
		if (given_up || !give_up(file))
			break;
		given_up = true;
	}

	/*
	 * The driver is broken, and the objects that are left leak.  It may still report events for
	 * them, and resource tracking still lists them; both use their ib_uobjects and the context,
	 * which therefore are never freed.
	 */
	list_for_each_entry_safe(uobj, next, &file->objects, list) {
		ibdev_err(uobj->context->device, "the driver has kept a user's object of type %u\n",
			  uobj->uapi_object->id);
		if (!uverbs_type_is_fd(uobj->uapi_object))
			ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device,
					   RDMACG_RESOURCE_HCA_OBJECT);
		uverbs_uobject_get(uobj);
		file->objects_kept = true;
		uobj->object = NULL;
		object_unlist(uobj);
	}
}

/**
 * uverbs_uobject_fd_release() - release operation of event files
 * @inode: unused
 * @filp: the file, whose last reference was dropped
 *
 * It must be the release operation of every type declared with UVERBS_TYPE_ALLOC_FD(), or be called
 * by it.
 *
 * Return: 0.
 */
int uverbs_uobject_fd_release(struct inode *inode, struct file *filp)
{
	struct ib_uobject *uobj = filp->private_data;
	struct ib_uverbs_file *file;

	if (!uobj)
		return 0;	/* The object was never committed. */
	file = uobj->ufile;

	mutex_lock(&file->reap_lock);
	if (!list_empty(&uobj->list)) {
		object_unlist(uobj);
		fd_type(uobj->uapi_object)->destroy_object(uobj, RDMA_REMOVE_CLOSE);
		uobj->object = NULL;
		uobj->context = NULL;
	}
	mutex_unlock(&file->reap_lock);

	ib_uverbs_file_put(file);
	uverbs_uobject_put(uobj);
	return 0;
}
EXPORT_SYMBOL(uverbs_uobject_fd_release);

/**
 * uverbs_handles_init() - prepare the handle table of a new file
 * @file: the file
 */
void uverbs_handles_init(struct ib_uverbs_file *file)
{
	xa_init_flags(&file->handles, XA_FLAGS_ALLOC);
	spin_lock_init(&file->objects_lock);
	INIT_LIST_HEAD(&file->objects);
}

/**
 * uverbs_handles_release() - free the handle table of a file that is not used any more
 * @file: the file, whose objects were reaped
 */
void uverbs_handles_release(struct ib_uverbs_file *file)
{
	struct ib_uobject *uobj;
	unsigned long id;

	xa_for_each(&file->handles, id, uobj)
		uverbs_uobject_put(uobj);
	xa_destroy(&file->handles);
}

/**
 * uverbs_handles_list() - list the handles of one type
 * @file: the file
 * @type: the object type
 * @ids: receives the handles
 * @max: room at @ids, in handles
 *
 * Return: the number of handles stored, at most @max.
 */
unsigned int uverbs_handles_list(struct ib_uverbs_file *file,
				 const struct uverbs_api_object *type, u32 *ids, unsigned int max)
{
	struct ib_uobject *uobj;
	unsigned int n = 0;

	spin_lock(&file->objects_lock);
	list_for_each_entry(uobj, &file->objects, list) {
		if (n == max)
			break;
		if (uobj->uapi_object == type)
			ids[n++] = uobj->id;
	}
	spin_unlock(&file->objects_lock);
	return n;
}

const struct uverbs_obj_type_class uverbs_fd_class = {};
EXPORT_SYMBOL(uverbs_fd_class);

const struct uverbs_obj_type_class uverbs_idr_class = {};
EXPORT_SYMBOL(uverbs_idr_class);
