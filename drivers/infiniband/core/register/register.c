// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registration of a device and its end.
 *
 * A device is usable between ib_device_enable(), which shows it in the registry and attaches the
 * clients, and ib_device_disable(), which does the reverse and returns when no reference is left.
 * Moving a device to another namespace disables and enables it; registration adds the set-up of
 * sysfs, cache and cgroup before, and unregistration their teardown after.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <rdma/ib_verbs.h>

#include "../cache/cache.h"
#include "../object/object.h"
#include "../roce/roce.h"
#include "../sysfs/sysfs.h"
#include "../verbs/verbs.h"
#include "register_priv.h"

/* Serializes renames, so that a device and its compat devices get the same name. */
static DEFINE_MUTEX(device_rename_lock);

/* Runs the work of ib_unregister_device_queued(). ib_unregister_driver() flushes it. */
struct workqueue_struct *ib_unreg_wq;

static int query_attributes(struct ib_device *device)
{
	struct ib_udata no_udata = {};

	device->kverbs_provider = ib_has_kernel_verbs(&device->ops);
	memset(&device->attrs, 0, sizeof(device->attrs));
	if (!device->ops.query_device)
		return 0;
	return device->ops.query_device(device, &device->attrs, &no_udata);
}

/**
 * ib_device_enable() - make a device usable
 * @device: device that is complete but hidden; its registration_lock is held
 *
 * Return: 0 with a reference that keeps the device registered until the caller drops it with
 * ib_device_put(), or an error with the device hidden again.
 */
int ib_device_enable(struct ib_device *device)
{
	int ret;

	lockdep_assert_held(&device->core->registration_lock);
	reinit_completion(&device->core->unregistered);
	ib_registry_show(device);
	/*
	 * A client's add() or an early look-up may lead to the removal of the device at any time.
	 */
	refcount_inc(&device->refcount);

	ret = ib_compat_add_all(device);
	if (!ret && device->ops.enable_driver)
		ret = device->ops.enable_driver(device);
	if (!ret)
		ret = ib_clients_attach_all(device);
	if (ret) {
		ib_device_put(device);
		ib_device_disable(device);
	}
	return ret;
}

/**
 * ib_device_disable() - detach a device from everything that uses it
 * @device: device of a successful ib_device_enable(); its registration_lock is held
 *
 * Returns when all clients are detached and all references are dropped. Context: may sleep until
 * clients and holders of references have released the device.
 */
void ib_device_disable(struct ib_device *device)
{
	ib_registry_hide(device);
	ib_clients_detach_all(device);
	ib_device_put(device);
	wait_for_completion(&device->core->unregistered);
	ib_cq_pool_cleanup(device);
	ib_compat_remove_all(device);
}

static void unregister_locked(struct ib_device *device)
{
	/* A failed move to another namespace has left it disabled. */
	if (refcount_read(&device->refcount))
		ib_device_disable(device);
	roce_cleanup_one(device);
	ib_netdevs_release(device);
	ib_device_notify(device, 0, RDMA_UNREGISTER_EVENT);
	ib_free_port_attrs(&device->coredev);
	device_del(&device->dev);
	ib_device_unregister_rdmacg(device);
	ib_events_close(device);
	ib_cache_cleanup_one(device);
	rdma_objects_drain(device);
	rdma_objects_report(device);
}

/* A listener that misses this for lack of memory can still send a request. */
static void notify_registered(struct ib_device *device)
{
	struct net_device *netdev;
	u32 port_num;

	ib_device_notify(device, 0, RDMA_REGISTER_EVENT);
	rdma_for_each_port(device, port_num) {
		netdev = ib_device_get_netdev(device, port_num);
		if (!netdev)
			continue;
		dev_put(netdev);
		ib_device_notify(device, port_num, RDMA_NETDEV_ATTACH_EVENT);
	}
}

/* Called with a struct device reference, since dealloc_driver may drop all others. */
static void unregister_and_dealloc(struct ib_device *device)
{
	ib_subdevs_end(device);
	guard(mutex)(&device->core->registration_lock);
	if (!device->core->registered)
		return;
	device->core->registered = false;
	unregister_locked(device);
	if (device->ops.dealloc_driver)
		ib_dealloc_device(device);
}

/* The work item has a struct device reference, taken when it was queued. */
static void unregister_work(struct work_struct *work)
{
	struct ib_device *device =
		container_of(work, struct rdma_device_core, unregister_work)->device;

	unregister_and_dealloc(device);
	put_device(&device->dev);
}

/**
 * ib_register_device() - register a device
 * @device: device with its operations, node GUID, port count and the rest of its description set
 * @name: the device's name, or a pattern with one %d, of less than IB_DEVICE_NAME_MAX characters
 * @dma_device: device for DMA mapping, or NULL if kernel consumers pass virtual addresses
 *	instead
 *
 * Clients are attached before the function returns. A driver with a dealloc_driver operation must
 * be ready for it as soon as this succeeds. Context: may sleep.
 *
 * Return: 0; -ENFILE if the name is taken; -EINVAL for an unusable name or description; -ENOMEM; or
 * the error of the driver's operations, of sysfs or of a client. After a failure the device is as
 * before and the driver calls ib_dealloc_device().
 */
int ib_register_device(struct ib_device *device, const char *name, struct device *dma_device)
{
	int ret;

	if (!dma_device && !IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		return -EINVAL;
	device->dma_device = dma_device;
	/* Only once, as work queued during an earlier, failed attempt may still be pending. */
	if (!device->core->unregister_work.func)
		INIT_WORK(&device->core->unregister_work, unregister_work);

	ret = ib_registry_insert(device, name);
	if (ret)
		return ret;
	ret = query_attributes(device);
	if (ret)
		goto remove;
	ret = ib_ports_setup(device);
	if (!ret)
		ret = ib_ports_read_immutable(device);
	if (ret)
		goto remove;
	/* Changes after the driver has been queried are reported as events. */
	ib_events_open(device);
	ret = ib_cache_setup_one(device);
	if (ret)
		goto cache;
	roce_setup_one(device);
	ret = ib_setup_device_attrs(device);
	if (ret)
		goto roce;
	ib_device_register_rdmacg(device);

	/* The uevent is sent when the clients' character devices exist. */
	dev_set_uevent_suppress(&device->dev, true);
	ret = device_add(&device->dev);
	if (ret)
		goto cgroup;
	ret = ib_setup_port_attrs(&device->coredev);
	if (ret)
		goto sysfs;
	ib_subdevs_open(device);
	/* From here on the device may be found and unregistered; that waits for the lock. */
	mutex_lock(&device->core->registration_lock);
	ret = ib_device_enable(device);
	device->core->registered = !ret;
	mutex_unlock(&device->core->registration_lock);
	if (ret)
		goto ports;

	dev_set_uevent_suppress(&device->dev, false);
	ib_registry_announce(device, KOBJ_ADD);
	notify_registered(device);
	ib_device_put(device);
	return 0;

ports:
	ib_subdevs_end(device);
	ib_free_port_attrs(&device->coredev);
sysfs:
	device_del(&device->dev);
	dev_set_uevent_suppress(&device->dev, false);
cgroup:
	ib_device_unregister_rdmacg(device);
roce:
	roce_cleanup_one(device);
cache:
	ib_events_close(device);
	ib_cache_cleanup_one(device);
remove:
	ib_registry_remove(device);
	return ret;
}
EXPORT_SYMBOL(ib_register_device);

/**
 * ib_unregister_device() - unregister a device
 * @device: registered device; unregistering it again, also at the same time, is harmless as long as
 *          the structure exists
 *
 * On return no client, sysfs file or lookup refers to the device and its driver is not called any
 * more. Afterwards the driver calls ib_dealloc_device(), unless it has a dealloc_driver operation,
 * which has then been called. The caller must not hold a reference of ib_device_try_get(). Context:
 * may sleep until consumers have released the device.
 */
void ib_unregister_device(struct ib_device *device)
{
	get_device(&device->dev);
	unregister_and_dealloc(device);
	put_device(&device->dev);
}
EXPORT_SYMBOL(ib_unregister_device);

/**
 * ib_unregister_device_and_put() - unregister a device to which the caller has a reference
 * @device: device with a dealloc_driver operation; the caller's reference of ib_device_try_get() or
 *          of a lookup is consumed
 *
 * Context: may sleep.
 */
void ib_unregister_device_and_put(struct ib_device *device)
{
	WARN_ON(!device->ops.dealloc_driver);
	get_device(&device->dev);
	ib_device_put(device);
	unregister_and_dealloc(device);
	put_device(&device->dev);
}
EXPORT_SYMBOL(ib_unregister_device_and_put);

/**
 * ib_unregister_driver() - unregister all devices of a driver
 * @driver_id: the driver; its devices have a dealloc_driver operation
 *
 * The driver must prevent new registrations first. On return no work of the core for any device of
 * the driver is pending, so the module may be unloaded. Context: may sleep.
 */
void ib_unregister_driver(enum rdma_driver_id driver_id)
{
	struct ib_device *device;
	unsigned long index;

	for_each_known_device(device, index) {
		if (device->ops.driver_id != driver_id)
			continue;
		WARN_ON(!device->ops.dealloc_driver);
		unregister_and_dealloc(device);
	}
	flush_workqueue(ib_unreg_wq);
}
EXPORT_SYMBOL(ib_unregister_driver);

/**
 * ib_unregister_device_queued() - unregister a device from a work queue
 * @device: device with a dealloc_driver operation, referenced by the caller
 *
 * For contexts that cannot wait, such as notifiers of net devices. The driver has to call
 * ib_unregister_driver() before its module is unloaded. Context: any that may queue work.
 */
void ib_unregister_device_queued(struct ib_device *device)
{
	WARN_ON(!refcount_read(&device->refcount));
	WARN_ON(!device->ops.dealloc_driver);
	get_device(&device->dev);
	if (!queue_work(ib_unreg_wq, &device->core->unregister_work))
		put_device(&device->dev);
}
EXPORT_SYMBOL(ib_unregister_device_queued);

/**
 * ib_device_rename() - change the name of a device
 * @device: registered device, referenced by the caller
 * @name: the new name, without pattern
 * @extack: takes the reason of an error
 *
 * The name changes in the sysfs of every namespace and in look-ups, and clients are notified.
 * Context: may sleep.
 * Return: 0, -EEXIST if another device has the name, -EINVAL, or the error of sysfs.
 */
int ib_device_rename(struct ib_device *device, const char *name, struct netlink_ext_ack *extack)
{
	int ret;

	guard(mutex)(&device_rename_lock);
	ret = ib_registry_rename(device, name, extack);
	if (ret <= 0)
		return ret;
	ib_compat_rename(device);
	ib_clients_rename(device);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ib_device_rename);
