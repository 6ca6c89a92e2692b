// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_umad: character devices for each port that exchanges MADs: umadN, and issmN if it has subnet
 * management.
 */
#include <kunit/visibility.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rdma_netlink.h>

#include "../device/device.h"
#include "umad.h"

MODULE_DESCRIPTION("InfiniBand userspace MAD access");
MODULE_LICENSE("Dual BSD/GPL");

/* The first ports have the well-known minors, those of issmN above those of umadN. */
#define UMAD_MAJOR	231
#define UMAD_FIXED	64
#define UMAD_DYNAMIC	(RDMA_MAX_PORTS - UMAD_FIXED)

static const dev_t fixed_dev = MKDEV(UMAD_MAJOR, 0);
static dev_t dynamic_dev;
static DEFINE_IDA(umad_ida);

/* ---- the class ---- */

/* sysfs removes these attributes before the device, so the device they read exists. */
static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ib_umad_port *port = dev_get_drvdata(dev);
	char name[IB_DEVICE_NAME_MAX];

	ib_registry_name(port->ib_dev, name);
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t port_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ib_umad_port *port = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", port->port_num);
}
static DEVICE_ATTR_RO(port);

static struct attribute *umad_dev_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_port.attr,
	NULL
};
ATTRIBUTE_GROUPS(umad_dev);

static CLASS_ATTR_STRING(abi_version, 0444, __stringify(IB_USER_MAD_ABI_VERSION));

static struct attribute *umad_class_attrs[] = {
	&class_attr_abi_version.attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(umad_class);

/* MADs control the whole fabric, so the nodes belong to root unless udev changes that. */
static char *umad_devnode(const struct device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

static const struct class umad_class = {
	.name = "infiniband_mad",
	.devnode = umad_devnode,
	.class_groups = umad_class_groups,
	.dev_groups = umad_dev_groups,
};

/* ---- ports ---- */

static void port_release(struct device *dev)
{
	struct ib_umad_port *port = container_of(dev, struct ib_umad_port, dev);

	mutex_destroy(&port->lock);
	kfree(port);
}

static void sm_release(struct device *dev)
{
	put_device(&container_of(dev, struct ib_umad_port, sm_dev)->dev);
}

static void init_dev(struct ib_umad_port *port, struct device *dev)
{
	device_initialize(dev);
	dev->class = &umad_class;
	dev->parent = port->ib_dev->dev.parent;
	dev_set_drvdata(dev, port);
}

/* Makes a port's structure, to be freed by put_device(&port->dev). */
static struct ib_umad_port *port_alloc(struct ib_device *ib_dev, u32 port_num)
{
	struct ib_umad_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->port_num = port_num;
	port->index = ib_dev->index;
	mutex_init(&port->lock);
	port->ib_dev = ib_dev;
	INIT_LIST_HEAD(&port->files);
	init_waitqueue_head(&port->sm_wait);
	init_dev(port, &port->dev);
	port->dev.release = port_release;
	return port;
}

static dev_t minor_of(int number, bool sm)
{
	if (number < UMAD_FIXED)
		return fixed_dev + number + (sm ? UMAD_FIXED : 0);
	return dynamic_dev + number - UMAD_FIXED + (sm ? UMAD_DYNAMIC : 0);
}

static int add_cdev(struct device *dev, struct cdev *cdev, const char *name, int number,
		    const struct file_operations *fops)
{
	int ret = dev_set_name(dev, "%s%d", name, number);

	if (ret)
		return ret;
	cdev_init(cdev, fops);
	cdev->owner = THIS_MODULE;
	return cdev_device_add(cdev, dev);
}

static int add_sm(struct ib_umad_port *port)
{
	int ret;

	init_dev(port, &port->sm_dev);
	get_device(&port->dev);
	port->sm_dev.release = sm_release;
	port->sm_dev.devt = minor_of(port->number, true);
	ret = add_cdev(&port->sm_dev, &port->sm_cdev, "issm", port->number, &umad_sm_fops);
	if (ret)
		put_device(&port->sm_dev);
	else
		port->has_sm = true;
	return ret;
}

/*
 * After this no file can be opened; open files are separated from the device, and waiters are
 * woken.  The number is free at once: if the device is added again, it gets its old names.
 */
static void port_del(struct ib_umad_port *port)
{
	struct ib_device *ib_dev = port->ib_dev;
	struct ib_umad_file *file;
	bool sm_held;

	if (port->has_sm) {
		cdev_device_del(&port->sm_cdev, &port->sm_dev);
		put_device(&port->sm_dev);
	}
	cdev_device_del(&port->cdev, &port->dev);
	scoped_guard(mutex, &port->lock) {
		sm_held = umad_sm_is_held(port);
		port->ib_dev = NULL;
		list_for_each_entry(file, &port->files, entry)
			umad_file_revoke(file);
	}
	umad_sm_end(port, ib_dev, sm_held);
	ida_free(&umad_ida, port->number);
}

/* Adds a port; port_del() undoes it. */
static int port_add(struct ib_umad_port *port)
{
	int ret = ida_alloc_max(&umad_ida, RDMA_MAX_PORTS - 1, GFP_KERNEL);

	if (ret < 0)
		return ret;
	port->number = ret;
	port->dev.devt = minor_of(port->number, false);
	ret = add_cdev(&port->dev, &port->cdev, "umad", port->number, &umad_fops);
	if (ret) {
		ida_free(&umad_ida, port->number);
		return ret;
	}
	if (rdma_cap_ib_smi(port->ib_dev, port->port_num))
		ret = add_sm(port);
	if (ret)
		port_del(port);
	return ret;
}

static struct ib_umad_port *port_create(struct ib_device *ib_dev, u32 port_num)
{
	struct ib_umad_port *port = port_alloc(ib_dev, port_num);
	int ret;

	if (!port)
		return ERR_PTR(-ENOMEM);
	ret = port_add(port);
	if (!ret)
		return port;
	put_device(&port->dev);
	return ERR_PTR(ret);
}

static void port_destroy(struct ib_umad_port *port)
{
	port_del(port);
	put_device(&port->dev);
}

/* ---- devices ---- */

/**
 * struct umad_device - the ports of a device
 * @num: number of ports
 * @port: the ports, in order of their numbers; NULL for a port without MADs
 */
struct umad_device {
	u32 num;
	struct ib_umad_port *port[] __counted_by(num);
};

static void umad_remove_one(struct ib_device *ib_dev, void *client_data)
{
	struct umad_device *umad = client_data;

	for (u32 i = 0; i < umad->num; i++)
		if (umad->port[i])
			port_destroy(umad->port[i]);
	kfree(umad);
}

VISIBLE_IF_KUNIT struct ib_client umad_client;

static int umad_add_one(struct ib_device *ib_dev)
{
	u32 start = rdma_start_port(ib_dev), num = rdma_end_port(ib_dev) - start + 1, port_num;
	struct umad_device *umad;
	bool any = false;

	umad = kzalloc(struct_size(umad, port, num), GFP_KERNEL);
	if (!umad)
		return -ENOMEM;
	umad->num = num;
	rdma_for_each_port(ib_dev, port_num) {
		struct ib_umad_port *port;

		if (!rdma_cap_ib_mad(ib_dev, port_num))
			continue;
		port = port_create(ib_dev, port_num);
		if (IS_ERR(port)) {
			umad_remove_one(ib_dev, umad);
			return PTR_ERR(port);
		}
		umad->port[port_num - start] = port;
		any = true;
	}
	if (!any) {
		kfree(umad);
		return -EOPNOTSUPP;
	}
	ib_set_client_data(ib_dev, &umad_client, umad);
	return 0;
}

static struct ib_umad_port *find_port(struct ib_device *ib_dev, const struct umad_device *umad,
				      u32 port_num)
{
	struct ib_umad_port *port;

	if (!umad)
		return ERR_PTR(-EOPNOTSUPP);
	if (!rdma_is_port_valid(ib_dev, port_num))
		return ERR_PTR(rdma_refuse(-EINVAL, "there is no port %u", port_num));
	port = umad->port[port_num - rdma_start_port(ib_dev)];
	return port ?: ERR_PTR(-EOPNOTSUPP);
}

static int umad_get_nl_info(struct ib_device *ib_dev, void *client_data,
			    struct ib_client_nl_info *res)
{
	struct ib_umad_port *port = find_port(ib_dev, client_data, res->port);

	if (IS_ERR(port))
		return PTR_ERR(port);
	res->abi = IB_USER_MAD_ABI_VERSION;
	res->cdev = &port->dev;
	return 0;
}

VISIBLE_IF_KUNIT struct ib_client umad_client = {
	.name = "umad",
	.add = umad_add_one,
	.remove = umad_remove_one,
	.get_nl_info = umad_get_nl_info,
};
EXPORT_SYMBOL_IF_KUNIT(umad_client);
MODULE_ALIAS_RDMA_CLIENT("umad");

/*
 * A client that only reports the device number of issmN to netlink.  It is registered after
 * umad_client, so it is removed from a device first: its calls find the ports.
 */
static int issm_get_nl_info(struct ib_device *ib_dev, void *client_data,
			    struct ib_client_nl_info *res)
{
	struct ib_umad_port *port = find_port(ib_dev, ib_get_client_data(ib_dev, &umad_client),
					      res->port);

	if (IS_ERR(port))
		return PTR_ERR(port);
	if (!port->has_sm)
		return -EOPNOTSUPP;
	res->abi = IB_USER_MAD_ABI_VERSION;
	res->cdev = &port->sm_dev;
	return 0;
}

static struct ib_client issm_client = {
	.name = "issm",
	.get_nl_info = issm_get_nl_info,
};
MODULE_ALIAS_RDMA_CLIENT("issm");

static int __init umad_init(void)
{
	int ret;

	ret = register_chrdev_region(fixed_dev, 2 * UMAD_FIXED, umad_class.name);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&dynamic_dev, 0, 2 * UMAD_DYNAMIC, umad_class.name);
	if (ret)
		goto err_fixed;
	ret = class_register(&umad_class);
	if (ret)
		goto err_dynamic;
	ret = ib_register_client(&umad_client);
	if (ret)
		goto err_class;
	ret = ib_register_client(&issm_client);
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&umad_client);
err_class:
	class_unregister(&umad_class);
err_dynamic:
	unregister_chrdev_region(dynamic_dev, 2 * UMAD_DYNAMIC);
err_fixed:
	unregister_chrdev_region(fixed_dev, 2 * UMAD_FIXED);
	return ret;
}

static void __exit umad_exit(void)
{
	ib_unregister_client(&issm_client);
	ib_unregister_client(&umad_client);
	class_unregister(&umad_class);
	unregister_chrdev_region(dynamic_dev, 2 * UMAD_DYNAMIC);
	unregister_chrdev_region(fixed_dev, 2 * UMAD_FIXED);
}

module_init(umad_init);
module_exit(umad_exit);
