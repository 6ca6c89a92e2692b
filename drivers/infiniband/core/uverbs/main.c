// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_uverbs: one character device for every RDMA device that has user contexts.
 */
#include <kunit/visibility.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rdma_netlink.h>

#include "../device/device.h"
#include "api.h"
#include "commands.h"
#include "umem/umem.h"
#include "uverbs.h"

MODULE_DESCRIPTION("InfiniBand userspace verbs access");
MODULE_LICENSE("Dual BSD/GPL");

/* The first minors are the well-known ones, the others are allocated. */
#define UVERBS_MAJOR		231
#define UVERBS_MINOR		192
#define UVERBS_FIXED		32
#define UVERBS_DYNAMIC		(RDMA_MAX_PORTS - UVERBS_FIXED)

static const dev_t uverbs_fixed_dev = MKDEV(UVERBS_MAJOR, UVERBS_MINOR);
static dev_t uverbs_dynamic_dev;
static DEFINE_IDA(uverbs_ida);

/* Every user may open it. */
static char *uverbs_node(const struct device *dev, umode_t *mode)
{
	char *name = kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));

	if (mode)
		*mode = 0666;
	return name;
}

static const struct class uverbs_class = {
	.devnode = uverbs_node,
	.name = "infiniband_verbs",
};

static CLASS_ATTR_STRING(abi_version, 0444, __stringify(IB_USER_VERBS_ABI_VERSION));

static struct ib_uverbs_device *to_uverbs(struct device *dev)
{
	return container_of(dev, struct ib_uverbs_device, dev);
}

/* sysfs removes these attributes before the device, so the device they read exists. */
static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	char name[IB_DEVICE_NAME_MAX];

	ib_registry_name(to_uverbs(dev)->ib_dev, name);
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t abi_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_uverbs(dev)->ib_dev->ops.uverbs_abi_ver);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *uverbs_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_abi_version.attr,
	NULL
};

static const struct attribute_group uverbs_group = {
	.attrs = uverbs_attrs,
};

/* ---- file operations ---- */

static void uverbs_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	struct ib_uverbs_file *file = filp->private_data;

	rdma_reject_show(seq, &file->rejects);
}

/* Operations of files whose device has no pages to map. */
const struct file_operations uverbs_fops = {
	.owner = THIS_MODULE,
	.open = uverbs_file_open,
	.release = uverbs_file_close,
	.write = ib_uverbs_write,
	.unlocked_ioctl = ib_uverbs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = uverbs_show_fdinfo,
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_fops);

const struct file_operations uverbs_mmap_fops = {
	.owner = THIS_MODULE,
	.open = uverbs_file_open,
	.release = uverbs_file_close,
	.mmap = ib_uverbs_mmap,
	.write = ib_uverbs_write,
	.unlocked_ioctl = ib_uverbs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = uverbs_show_fdinfo,
};

/* ---- object types ---- */

#define UVERBS_OBJECT_ADDRESS(_name)	&uverbs_object_##_name,

const struct uverbs_object_desc *const uverbs_objects[] = {
	UVERBS_OBJECTS(UVERBS_OBJECT_ADDRESS)
	NULL
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_objects);

/* ---- devices ---- */

static dev_t uverbs_devt(int devnum)
{
	if (devnum < UVERBS_FIXED)
		return uverbs_fixed_dev + devnum;
	return uverbs_dynamic_dev + devnum - UVERBS_FIXED;
}

static void uverbs_calls_done(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct ib_uverbs_device, calls)->calls_done);
}

static void uverbs_device_release(struct device *dev)
{
	struct ib_uverbs_device *udev = to_uverbs(dev);

	uverbs_api_destroy(udev->uapi);
	percpu_ref_exit(&udev->calls);
	xa_destroy(&udev->domains);
	if (udev->devnum >= 0)
		ida_free(&uverbs_ida, udev->devnum);
	kfree(udev);
}

/* Makes a device node.  Its release undoes every later step, whichever have been done. */
static struct ib_uverbs_device *uverbs_device_alloc(struct ib_device *ibdev)
{
	struct ib_uverbs_device *udev;

	udev = kzalloc(sizeof(*udev), GFP_KERNEL);
	if (!udev)
		return NULL;
	device_initialize(&udev->dev);
	udev->dev.class = &uverbs_class;
	udev->dev.parent = ibdev->dev.parent;
	udev->dev.release = uverbs_device_release;
	udev->groups[0] = &uverbs_group;
	udev->dev.groups = udev->groups;
	udev->ib_dev = ibdev;
	udev->num_comp_vectors = ibdev->num_comp_vectors;
	udev->devnum = -1;
	mutex_init(&udev->files_lock);
	mutex_init(&udev->domains_lock);
	xa_init(&udev->domains);
	INIT_LIST_HEAD(&udev->files);
	refcount_set(&udev->users, 1);
	init_completion(&udev->users_done);
	init_completion(&udev->calls_done);
	return udev;
}

static int uverbs_device_fill(struct ib_uverbs_device *udev)
{
	struct uverbs_api *api;
	int ret;

	ret = percpu_ref_init(&udev->calls, uverbs_calls_done, 0, GFP_KERNEL);
	if (ret)
		return ret;

	api = uverbs_api_create(udev->ib_dev);
	if (IS_ERR(api))
		return PTR_ERR(api);
	udev->uapi = api;

	ret = ida_alloc_max(&uverbs_ida, RDMA_MAX_PORTS - 1, GFP_KERNEL);
	if (ret < 0)
		return ret;
	udev->devnum = ret;
	udev->dev.devt = uverbs_devt(udev->devnum);
	return dev_set_name(&udev->dev, "uverbs%d", udev->devnum);
}

static struct ib_client uverbs_client;

static int uverbs_add_one(struct ib_device *ibdev)
{
	struct ib_uverbs_device *udev;
	int ret;

	if (!ibdev->ops.alloc_ucontext || ibdev->type == RDMA_DEVICE_TYPE_SMI)
		return -EOPNOTSUPP;

	udev = uverbs_device_alloc(ibdev);
	if (!udev)
		return -ENOMEM;

	ret = uverbs_device_fill(udev);
	if (ret)
		goto err_put;

	cdev_init(&udev->cdev, ibdev->ops.mmap ? &uverbs_mmap_fops : &uverbs_fops);
	udev->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&udev->cdev, &udev->dev);
	if (ret)
		goto err_put;

	ib_set_client_data(ibdev, &uverbs_client, udev);
	return 0;

err_put:
	put_device(&udev->dev);
	return ret;
}

/* Takes the next file to tear down off the list, with a reference on it. */
static struct ib_uverbs_file *next_file(struct ib_uverbs_device *udev)
{
	struct ib_uverbs_file *file;

	guard(mutex)(&udev->files_lock);
	file = list_first_entry_or_null(&udev->files, struct ib_uverbs_file, entry);
	if (file) {
		list_del_init(&file->entry);
		kref_get(&file->ref);
	}
	return file;
}

/*
 * From here on no file can be opened.  If the driver can disassociate, this waits for running
 * requests and separates every file from the device; user space sees DEVICE_FATAL and -EIO and may
 * close its files at any time.  Otherwise this waits until user space has closed all files.
 */
static void uverbs_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct ib_uverbs_device *udev = client_data;
	bool disassociate = ibdev->ops.disassociate_ucontext;
	struct ib_uverbs_file *file;

	cdev_device_del(&udev->cdev, &udev->dev);
	/* The number is free at once: a device that comes back finds its old name. */
	ida_free(&uverbs_ida, udev->devnum);
	udev->devnum = -1;

	if (!disassociate) {
		if (!refcount_dec_and_test(&udev->users))
			wait_for_completion(&udev->users_done);
	}

	percpu_ref_kill(&udev->calls);
	wait_for_completion(&udev->calls_done);

	if (disassociate) {
		while ((file = next_file(udev))) {
			uverbs_file_teardown(file, RDMA_REMOVE_DRIVER_REMOVE);
			ib_uverbs_file_put(file);
		}
	}
	put_device(&udev->dev);
}

static int uverbs_get_nl_info(struct ib_device *ibdev, void *client_data,
			      struct ib_client_nl_info *res)
{
	struct ib_uverbs_device *udev = client_data;

	if (res->port != -1)
		return -EINVAL;

	res->cdev = &udev->dev;
	res->abi = ibdev->ops.uverbs_abi_ver;
	if (ibdev->ops.uverbs_no_driver_id_binding)
		return 0;
	return nla_put_u32(res->nl_msg, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, ibdev->ops.driver_id);
}

static struct ib_client uverbs_client = {
	.name = "uverbs",
	.no_kverbs_req = true,
	.add = uverbs_add_one,
	.remove = uverbs_remove_one,
	.get_nl_info = uverbs_get_nl_info,
};
MODULE_ALIAS_RDMA_CLIENT("uverbs");

/**
 * rdma_user_mmap_disassociate() - revoke all mappings of a device's pages
 * @device: device that is about to be reset
 *
 * Files stay usable: the driver may allow new mappings after the reset.  A mapping that the driver
 * is making at this time is waited for and revoked as well; every later call of its mmap operation
 * sees what the driver changed before this call.
 *
 * Context: process, without mmap_lock; not from within the driver's mmap operation.
 */
void rdma_user_mmap_disassociate(struct ib_device *device)
{
	struct ib_uverbs_device *udev = ib_get_client_data(device, &uverbs_client);
	struct ib_uverbs_file *file;

	if (!udev)
		return;
	uverbs_mmaps_settle();
	guard(mutex)(&udev->files_lock);
	list_for_each_entry(file, &udev->files, entry)
		uverbs_umaps_revoke(file);
}
EXPORT_SYMBOL(rdma_user_mmap_disassociate);

static int __init uverbs_init(void)
{
	int ret;

	ret = uverbs_api_init(uverbs_objects);
	if (ret)
		return ret;
	ret = register_chrdev_region(uverbs_fixed_dev, UVERBS_FIXED, "infiniband_verbs");
	if (ret)
		goto err_api;
	ret = alloc_chrdev_region(&uverbs_dynamic_dev, 0, UVERBS_DYNAMIC, "infiniband_verbs");
	if (ret)
		goto err_fixed;
	ret = class_register(&uverbs_class);
	if (ret)
		goto err_dynamic;
	ret = class_create_file(&uverbs_class, &class_attr_abi_version.attr);
	if (ret)
		goto err_class;
	ret = ib_register_client(&uverbs_client);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_unregister(&uverbs_class);
err_dynamic:
	unregister_chrdev_region(uverbs_dynamic_dev, UVERBS_DYNAMIC);
err_fixed:
	unregister_chrdev_region(uverbs_fixed_dev, UVERBS_FIXED);
err_api:
	uverbs_api_exit();
	return ret;
}

static void __exit uverbs_exit(void)
{
	ib_unregister_client(&uverbs_client);
	class_unregister(&uverbs_class);
	unregister_chrdev_region(uverbs_dynamic_dev, UVERBS_DYNAMIC);
	unregister_chrdev_region(uverbs_fixed_dev, UVERBS_FIXED);
	uverbs_api_exit();
	uverbs_umem_exit();
	/* kfree_rcu() runs no code of this module, so no rcu_barrier() is needed. */
}

module_init(uverbs_init);
module_exit(uverbs_exit);
