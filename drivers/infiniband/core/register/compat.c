// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compat devices.
 *
 * In shared mode every network namespace sees every device. The device itself is in the initial
 * namespace; in the sysfs of each other namespace it has a compat device, a struct ib_core_device.
 * In exclusive mode a device is in one namespace, is visible only there, and has no compat devices.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "../object/object.h"
#include "../sysfs/sysfs.h"
#include "register_priv.h"

/*
 * Protects compat_nets and their @leaving, and ib_devices_shared_netns against a namespace that
 * begins meanwhile.
 */
static DECLARE_RWSEM(compat_nets_rwsem);
/* The struct compat_net of each namespace other than the initial one. */
static DEFINE_XARRAY_FLAGS(compat_nets, XA_FLAGS_ALLOC);

static void release_compat(struct device *dev)
{
	kfree(container_of(dev, struct ib_core_device, dev));
}

/* Called with compat_lock held. */
static int make_compat(struct ib_device *device, struct compat_net *compat_net)
{
	struct ib_core_device *compat = kzalloc(sizeof(*compat), GFP_KERNEL);
	char name[IB_DEVICE_NAME_MAX];
	int ret;

	if (!compat)
		return -ENOMEM;
	ib_coredev_init(compat, device, read_pnet(&compat_net->net));
	compat->dev.release = release_compat;
	compat->dev.parent = device->dev.parent;
	/* If the name changes after this, ib_compat_rename() finds the compat device. */
	ib_registry_name(device, name);
	ret = dev_set_name(&compat->dev, "%s", name);
	if (ret)
		goto put;
	ret = device_add(&compat->dev);
	if (ret)
		goto put;
	ret = ib_setup_port_attrs(compat);
	if (ret)
		goto del;
	ret = xa_insert(&device->core->compat, compat_net->id, compat, GFP_KERNEL);
	if (ret)
		goto ports;
	return 0;

ports:
	ib_free_port_attrs(compat);
del:
	device_del(&compat->dev);
put:
	put_device(&compat->dev);
	return ret;
}

static int add_compat(struct ib_device *device, struct compat_net *compat_net)
{
	guard(mutex)(&device->core->compat_lock);
	if (!ib_devices_shared_netns || !ib_registry_shown(device) ||
	    xa_load(&device->core->compat, compat_net->id))
		return 0;
	return make_compat(device, compat_net);
}

/**
 * ib_compat_remove() - remove a device's compat device from a namespace
 * @device: device, which need not have one
 * @id: the namespace's id
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void ib_compat_remove(struct ib_device *device, u32 id)
{
	struct ib_core_device *compat;

	KUNIT_STATIC_STUB_REDIRECT(ib_compat_remove, device, id);
	guard(mutex)(&device->core->compat_lock);
	compat = xa_erase(&device->core->compat, id);
	if (!compat)
		return;
	ib_free_port_attrs(compat);
	device_unregister(&compat->dev);
}
EXPORT_SYMBOL_IF_KUNIT(ib_compat_remove);

/**
 * ib_compat_add_all() - show a device in all other namespaces, in shared mode
 * @device: device that is shown in the registry
 *
 * Context: may sleep.
 * Return: 0, or an error with compat devices left for ib_compat_remove_all().
 */
int ib_compat_add_all(struct ib_device *device)
{
	struct compat_net *compat_net;
	unsigned long id;
	int ret;

	guard(rwsem_read)(&compat_nets_rwsem);
	xa_for_each(&compat_nets, id, compat_net) {
		if (compat_net->leaving)
			continue;
		ret = add_compat(device, compat_net);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ib_compat_remove_all() - remove a device's compat devices from all namespaces
 * @device: device that is hidden
 *
 * Context: may sleep.
 */
void ib_compat_remove_all(struct ib_device *device)
{
	struct ib_core_device *compat;
	unsigned long id;

	xa_for_each(&device->core->compat, id, compat)
		ib_compat_remove(device, id);
}

/**
 * ib_compat_rename() - rename the compat devices of a device
 * @device: renamed device
 *
 * Context: may sleep.
 */
void ib_compat_rename(struct ib_device *device)
{
	struct ib_core_device *compat;
	unsigned long id;

	guard(mutex)(&device->core->compat_lock);
	xa_for_each(&device->core->compat, id, compat)
		if (device_rename(&compat->dev, device->name))
			ibdev_warn(device, "keeps its old name in a network namespace\n");
}

/**
 * ib_compat_net_leave() - remove all compat devices from a namespace
 * @compat_net: a namespace of ib_compat_net_enter()
 *
 * Other namespaces may begin meanwhile: the id is not assigned again before all compat devices with
 * it are removed.
 *
 * Context: may sleep.
 */
void ib_compat_net_leave(struct compat_net *compat_net)
{
	struct ib_device *device;
	unsigned long index;

	scoped_guard(rwsem_write, &compat_nets_rwsem)
		compat_net->leaving = true;
	for_each_known_device(device, index)
		ib_compat_remove(device, compat_net->id);
	scoped_guard(rwsem_write, &compat_nets_rwsem)
		xa_erase(&compat_nets, compat_net->id);
}
EXPORT_SYMBOL_IF_KUNIT(ib_compat_net_leave);

/**
 * ib_compat_net_enter() - show all devices in a new namespace, in shared mode
 * @compat_net: the namespace, which gets its id
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM or the error of sysfs, with no device left in the namespace.
 */
int ib_compat_net_enter(struct compat_net *compat_net)
{
	struct ib_device *device;
	unsigned long index;
	int ret;

	scoped_guard(rwsem_write, &compat_nets_rwsem)
		ret = xa_alloc(&compat_nets, &compat_net->id, compat_net, xa_limit_32b,
			       GFP_KERNEL);
	if (ret)
		return ret;
	for_each_registered_device(device, index) {
		scoped_guard(rwsem_read, &compat_nets_rwsem)
			ret = add_compat(device, compat_net);
		if (ret) {
			ib_device_put(device);
			ib_compat_net_leave(compat_net);
			return ret;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ib_compat_net_enter);

/**
 * ib_compat_exit() - free the table of namespaces, which is empty
 */
void ib_compat_exit(void)
{
	rdma_xa_destroy(&compat_nets);
}

/**
 * rdma_compatdev_set() - choose between shared and exclusive mode
 * @shared: non-zero for shared
 * @extack: takes the reason of an error
 *
 * Context: may sleep.
 * Return: 0, or -EBUSY while there are namespaces besides the initial one.
 */
int rdma_compatdev_set(u8 shared, struct netlink_ext_ack *extack)
{
	guard(rwsem_write)(&compat_nets_rwsem);
	if (ib_devices_shared_netns == !!shared)
		return 0;
	if (rdma_xa_used(&compat_nets))
		return rdma_nl_refuse(extack, -EBUSY, "other network namespaces exist");
	WRITE_ONCE(ib_devices_shared_netns, !!shared);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_compatdev_set);
