// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that user space knows as file descriptors: completion channels, asynchronous event files
 * and whatever drivers add.  The struct file holds the object, the object holds the uverbs file.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <rdma/uverbs_std_types.h>

#include "uverbs.h"

static const struct uverbs_obj_fd_type *fd_type(const struct uverbs_api_object *type)
{
	return container_of(type->type_attrs, struct uverbs_obj_fd_type, type);
}

/**
 * uverbs_fdobj_begin - second half of uverbs_uobj_begin() for event files
 * @type: object type
 * @uobj: the object; put when this fails
 *
 * Return: @uobj with descriptor and file reserved, or an error pointer.
 */
struct ib_uobject *uverbs_fdobj_begin(const struct uverbs_api_object *type,
				      struct ib_uobject *uobj)
{
	const struct uverbs_obj_fd_type *desc = fd_type(type);
	struct file *filp;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		uverbs_uobject_put(uobj);
		return ERR_PTR(fd);
	}

	/* Installed at commit.  Until then a release finds no private data and does nothing. */
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

/**
 * uverbs_fdobj_commit - hand the file to user space
 * @uobj: from uverbs_fdobj_begin(); its reference passes to the file
 */
void uverbs_fdobj_commit(struct ib_uobject *uobj)
{
	struct file *filp = uobj->object;
	int fd = uobj->id;

	kref_get(&uobj->ufile->ref);
	filp->private_data = uobj;
	uobj->id = 0;		/* the number is user space's to change from here on */
	fd_install(fd, filp);
}

/**
 * uverbs_fdobj_abort - return descriptor and file
 * @uobj: from uverbs_fdobj_begin()
 * @started: its type has work to undo
 */
void uverbs_fdobj_abort(struct ib_uobject *uobj, bool started)
{
	if (started)
		fd_type(uobj->uapi_object)->destroy_object(uobj, RDMA_REMOVE_ABORT);
	put_unused_fd(uobj->id);
	fput(uobj->object);
}

/**
 * uverbs_fdobj_lookup - find the object behind a descriptor
 * @type: type it must have
 * @file: uverbs file it must belong to
 * @fd: descriptor
 *
 * Return: the object with a reference on it and on its struct file, or an error pointer: -EINVAL
 * for a number that is no descriptor, -EBADF for anything but an event file of @type and @file.
 */
struct ib_uobject *uverbs_fdobj_lookup(const struct uverbs_api_object *type,
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

/**
 * uverbs_uobject_fd_release - release operation of event files
 * @inode: unused
 * @filp: the file that is closed for good
 *
 * Every file_operations of a type declared with UVERBS_TYPE_ALLOC_FD() names it.
 *
 * Return: 0.
 */
int uverbs_uobject_fd_release(struct inode *inode, struct file *filp)
{
	struct ib_uobject *uobj = filp->private_data;
	struct ib_uverbs_file *file;

	if (!uobj)
		return 0;	/* never committed */
	file = uobj->ufile;

	mutex_lock(&file->reap_lock);
	if (!list_empty(&uobj->list)) {
		spin_lock(&file->objects_lock);
		list_del_init(&uobj->list);
		spin_unlock(&file->objects_lock);
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

const struct uverbs_obj_type_class uverbs_fd_class = {};
EXPORT_SYMBOL(uverbs_fd_class);
