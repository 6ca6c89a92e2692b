// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Open files: made by open(), torn down by the last close() or by the device's removal, whichever
 * comes first.
 */
#include <kunit/visibility.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "uverbs.h"

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

/**
 * ib_uverbs_file_put - drop a reference on a file
 * @file: the file
 *
 * Context: process.
 */
void ib_uverbs_file_put(struct ib_uverbs_file *file)
{
	kref_put(&file->ref, file_release);
}

/**
 * uverbs_file_teardown - separate a file from its device
 * @file: the file; no request runs on it, or will
 * @why: RDMA_REMOVE_CLOSE or RDMA_REMOVE_DRIVER_REMOVE
 *
 * Mappings are taken back, then objects destroyed in order, then the context closed.  May be called
 * twice; the second does nothing.
 */
void uverbs_file_teardown(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	mutex_lock(&file->reap_lock);
	if (file->ucontext) {
		/* At close there are none: each of them holds the file open. */
		if (why == RDMA_REMOVE_DRIVER_REMOVE)
			uverbs_umaps_revoke(file);
		uverbs_uobjs_reap(file, why);
		uverbs_context_close(file, why);
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
	 * A device may go at any time; its driver's module is not removed by hand from under
	 * running programs.
	 */
	if (!try_module_get(ibdev->ops.owner))
		return -ENODEV;
	/* Removal that waits for the last file has seen it closed, and waits for no other. */
	if (!refcount_inc_not_zero(&udev->users)) {
		module_put(ibdev->ops.owner);
		return -ENXIO;
	}
	file->owner = ibdev->ops.owner;
	file->rejects.stays[0] = THIS_MODULE;
	file->rejects.stays[1] = file->owner;
	return 0;
}

static int uverbs_open(struct inode *inode, struct file *filp)
{
	struct ib_uverbs_device *udev = container_of(inode->i_cdev, struct ib_uverbs_device, cdev);
	struct ib_uverbs_file *file;
	int ret;

	file = file_alloc(udev);
	if (!file)
		return -ENOMEM;

	/* Counts as a running request: removal finds the file in the list, or open fails. */
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

static int uverbs_close(struct inode *inode, struct file *filp)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_uverbs_device *udev = file->device;

	/*
	 * The device may be going at the same time; teardown under the file's own lock settles who
	 * does the work, and removal keeps the device until it has seen every file in its list.
	 */
	uverbs_file_teardown(file, RDMA_REMOVE_CLOSE);

	mutex_lock(&udev->files_lock);
	list_del_init(&file->entry);
	mutex_unlock(&udev->files_lock);

	ib_uverbs_file_put(file);
	return 0;
}

static void uverbs_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	struct ib_uverbs_file *file = filp->private_data;

	rdma_reject_show(seq, &file->rejects);
}

/* Operations of files whose device has no pages to map. */
const struct file_operations uverbs_fops = {
	.owner = THIS_MODULE,
	.open = uverbs_open,
	.release = uverbs_close,
	.write = ib_uverbs_write,
	.unlocked_ioctl = ib_uverbs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = uverbs_show_fdinfo,
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_fops);

const struct file_operations uverbs_mmap_fops = {
	.owner = THIS_MODULE,
	.open = uverbs_open,
	.release = uverbs_close,
	.mmap = ib_uverbs_mmap,
	.write = ib_uverbs_write,
	.unlocked_ioctl = ib_uverbs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = uverbs_show_fdinfo,
};
