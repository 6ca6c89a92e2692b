// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Open files: made by open(), torn down by release() or by the removal of the device, whichever
 * comes first.
 */
#include <kunit/visibility.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "../verbs/verbs.h"
#include "events.h"
#include "handles.h"

static void file_release(struct kref *ref)
{
	struct ib_uverbs_file *file = container_of(ref, struct ib_uverbs_file, ref);
	struct ib_uverbs_device *udev = file->device;

	uverbs_handles_release(file);
	if (file->default_async_file)
		uverbs_uobject_put(&file->default_async_file->uobj);
	if (file->umaps.page)
		__free_page(file->umaps.page);
	module_put(file->owner);
	if (refcount_dec_and_test(&udev->users))
		complete(&udev->users_done);
	put_device(&udev->dev);
	kfree(file);
}

/* ---- the user context of a file: at most one, made by a request ---- */

/**
 * uverbs_context_claim() - reserve a file's place for a context
 * @file: the file
 *
 * Until uverbs_context_publish() or uverbs_context_drop() no other request can make a context.  No
 * lock is held in the meantime, as the driver and the reply access user memory, which may block
 * without bound.
 *
 * Return: 0, or -EINVAL when the file has a context already or another request is making it.
 */
int uverbs_context_claim(struct ib_uverbs_file *file)
{
	guard(mutex)(&file->ucontext_lock);
	if (file->ucontext || file->ucontext_claimed)
		return rdma_refuse(-EINVAL, "the file has a context already");
	file->ucontext_claimed = true;
	return 0;
}

/**
 * uverbs_context_publish() - let requests see a new context
 * @file: the file, claimed
 * @context: its context, open
 *
 * Cannot fail.
 */
void uverbs_context_publish(struct ib_uverbs_file *file, struct ib_ucontext *context)
{
	guard(mutex)(&file->ucontext_lock);
	file->ucontext_claimed = false;
	/* A reader that sees the context sees all of it. */
	smp_store_release(&file->ucontext, context);
}

/**
 * uverbs_context_drop() - give up a new context
 * @file: the file, claimed
 * @context: the context that it was to get: open, only allocated, or NULL
 */
void uverbs_context_drop(struct ib_uverbs_file *file, struct ib_ucontext *context)
{
	if (context) {
		if (context->obj.state != RDMA_OBJECT_NEW)
			rdma_ucontext_close(context);
		rdma_ucontext_free(context);
	}
	guard(mutex)(&file->ucontext_lock);
	file->ucontext_claimed = false;
}

/* Closes the context of a file whose objects were reaped.  Its reap_lock is held. */
static void context_close(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	struct ib_ucontext *context = file->ucontext;

	lockdep_assert_held(&file->reap_lock);

	if (why == RDMA_REMOVE_DRIVER_REMOVE && context->device->ops.disassociate_ucontext)
		context->device->ops.disassociate_ucontext(context);
	file->ucontext = NULL;
	rdma_ucontext_close(context);
	if (!file->objects_kept)
		rdma_ucontext_free(context);
}

/* ---- open and teardown ---- */

/**
 * uverbs_file_teardown() - separate a file from its device
 * @file: the file; no request runs on it or will run
 * @why: RDMA_REMOVE_CLOSE or RDMA_REMOVE_DRIVER_REMOVE
 *
 * Mappings are revoked, then objects destroyed in order, then the context closed.  A second call
 * does nothing.
 */
void uverbs_file_teardown(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	mutex_lock(&file->reap_lock);
	if (file->ucontext) {
		/* At release there are no mappings, since each holds a reference on the file. */
		if (why == RDMA_REMOVE_DRIVER_REMOVE)
			uverbs_umaps_revoke(file);
		uverbs_uobjs_reap(file, why);
		context_close(file, why);
	}
	mutex_unlock(&file->reap_lock);
}

static struct ib_uverbs_file *file_alloc(struct ib_uverbs_device *udev)
{
	struct ib_uverbs_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return NULL;
	kref_init(&file->ref);
	file->release = file_release;
	mutex_init(&file->ucontext_lock);
	mutex_init(&file->reap_lock);
	mutex_init(&file->umaps.lock);
	INIT_LIST_HEAD(&file->umaps.list);
	uverbs_handles_init(file);
	file->device = udev;
	return file;
}

static int file_admit(struct ib_uverbs_file *file, struct ib_uverbs_device *udev)
{
	struct ib_device *ibdev = udev->ib_dev;

	if (!rdma_dev_access_netns(ibdev, current->nsproxy->net_ns))
		return -EPERM;
	/*
	 * A device may be removed at any time, but its driver's module cannot be unloaded while
	 * programs have files open.
	 */
	if (!try_module_get(ibdev->ops.owner))
		return -ENODEV;
	/* The count is 0 after removal that waits for the last file has seen it closed. */
	if (!refcount_inc_not_zero(&udev->users)) {
		module_put(ibdev->ops.owner);
		return -ENXIO;
	}
	file->owner = ibdev->ops.owner;
	file->rejects.stays[0] = THIS_MODULE;
	file->rejects.stays[1] = file->owner;
	return 0;
}

/**
 * uverbs_file_open() - open operation of a character device
 * @inode: inode of the device
 * @filp: the file
 *
 * Return: 0; -EPERM in a network namespace that has no access to the device; -EIO or -ENXIO while
 * the device is being removed; -ENODEV while its driver is being unloaded; -ENOMEM.
 */
int uverbs_file_open(struct inode *inode, struct file *filp)
{
	struct ib_uverbs_device *udev = container_of(inode->i_cdev, struct ib_uverbs_device, cdev);
	struct ib_uverbs_file *file;
	int ret;

	file = file_alloc(udev);
	if (!file)
		return -ENOMEM;

	/* This counts as a running request: removal finds the file in the list, or open() fails. */
	if (!percpu_ref_tryget_live(&udev->calls)) {
		kfree(file);
		return -EIO;
	}
	ret = file_admit(file, udev);
	if (ret) {
		kfree(file);
	} else {
		get_device(&udev->dev);
		mutex_lock(&udev->files_lock);
		list_add_tail(&file->entry, &udev->files);
		mutex_unlock(&udev->files_lock);
		filp->private_data = file;
	}
	percpu_ref_put(&udev->calls);
	return ret ?: stream_open(inode, filp);
}

/**
 * uverbs_file_close() - release operation of a file
 * @inode: unused
 * @filp: the file
 *
 * Return: 0.
 */
int uverbs_file_close(struct inode *inode, struct file *filp)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_uverbs_device *udev = file->device;

	/*
	 * Removal of the device may run at the same time: the file's own lock decides which of the
	 * two tears it down, and removal keeps the device until it has seen every listed file.
	 */
	uverbs_file_teardown(file, RDMA_REMOVE_CLOSE);

	mutex_lock(&udev->files_lock);
	list_del_init(&file->entry);
	mutex_unlock(&udev->files_lock);

	ib_uverbs_file_put(file);
	return 0;
}

/*
 * Readers are mmap operations of drivers, from their decision to map until the mapping is listed.
 * rdma_user_mmap_disassociate() waits for them, so that no such mapping escapes it.
 */
DEFINE_STATIC_SRCU(mmaps);

/**
 * uverbs_mmaps_settle() - wait until every mapping that is being made is listed
 *
 * Context: process, without mmap_lock.
 */
void uverbs_mmaps_settle(void)
{
	synchronize_srcu(&mmaps);
}

/**
 * ib_uverbs_mmap() - mmap operation of a file
 * @filp: the file
 * @vma: mapping to be made
 *
 * Return: 0, -EIO if the device was removed, -EINVAL without a context, or the driver's error.
 */
int ib_uverbs_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct rdma_reject_scope scope = {};
	struct ib_ucontext *context;
	int ret;

	rdma_reject_enter(&file->rejects, &scope);
	if (!percpu_ref_tryget_live(&file->device->calls)) {
		ret = rdma_refuse(-EIO, "mmap: the device was removed");
		goto out;
	}
	scope.device = file->device->ib_dev;
	context = ib_uverbs_get_ucontext_file(file);
	if (IS_ERR(context)) {
		ret = PTR_ERR(context);
	} else {
		vma->vm_ops = &uverbs_umap_vm_ops;
		scoped_guard(srcu, &mmaps)
			ret = context->device->ops.mmap(context, vma);
	}
	scope.device = NULL;
	percpu_ref_put(&file->device->calls);
out:
	rdma_reject_leave(&scope);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ib_uverbs_mmap);
