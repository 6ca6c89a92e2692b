// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of devices: from allocation to the last reference.
 */
#include <linux/device.h>
#include <linux/slab.h>

#include "../cache/cache.h"
#include "../object/object.h"
#include "../sysfs/sysfs.h"
#include "register_priv.h"

#define DATA_PATH_COMMANDS						\
	(BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_PEEK_CQ) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) |			\
	 BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |			\
	 BIT_ULL(IB_USER_VERBS_CMD_BIND_MW))

/* Called when the last reference to the struct device is dropped. */
static void release_device(struct device *dev)
{
	struct ib_device *device = rdma_device_to_ibdev(dev);

	WARN_ON(refcount_read(&device->refcount));
	ib_device_release_hw_stats(device->hw_stats_data);
	if (device->port_data) {
		ib_cache_release_one(device);
		rdma_counter_release(device);
		ib_ports_release(device);
	}
	xa_destroy(&device->client_data);
	xa_destroy(&device->core->compat);
	kfree(device->core);
	/* RCU walks of the table of net devices reach the device through its port. */
	kfree_rcu(device, rcu_head);
}

/**
 * _ib_alloc_device() - allocate a device structure
 * @size: size of the driver's structure, which begins with struct ib_device
 *
 * Use the macro ib_alloc_device(). The structure is zeroed, except for members that the core
 * initialises; the driver fills it, calls ib_set_device_ops() and ib_register_device(), and frees
 * it with ib_dealloc_device(). Context: may sleep.
 *
 * Return: the device, or NULL without memory or when @size is too small.
 */
struct ib_device *_ib_alloc_device(size_t size)
{
	struct rdma_device_core *core;
	struct ib_device *device;

	if (WARN_ON(size < sizeof(*device)))
		return NULL;
	device = kzalloc(size, GFP_KERNEL);
	core = kzalloc(sizeof(*core), GFP_KERNEL);
	if (!device || !core || rdma_restrack_init(device)) {
		kfree(core);
		kfree(device);
		return NULL;
	}

	device->core = core;
	device->index = U32_MAX;
	/*
	 * All write() commands except those of the data path, which a driver adds if its library
	 * cannot post and poll by itself.
	 */
	device->uverbs_cmd_mask = GENMASK_ULL(IB_USER_VERBS_CMD_OPEN_QP, 0) & ~DATA_PATH_COMMANDS;
	/* The mark of an entry says that a client is attached; its data may be NULL. */
	xa_init_flags(&device->client_data, XA_FLAGS_ALLOC);
	ib_coredev_init(&device->coredev, device, &init_net);
	device->dev.release = release_device;

	core->device = device;
	mutex_init(&core->registration_lock);
	init_completion(&core->unregistered);
	init_rwsem(&core->clients_rwsem);
	ib_events_setup(core);
	mutex_init(&core->compat_lock);
	mutex_init(&core->subdev_lock);
	INIT_LIST_HEAD(&core->subdevs);
	INIT_LIST_HEAD(&core->subdev_entry);
	INIT_LIST_HEAD(&core->roce_entry);
	xa_init_flags(&core->compat, XA_FLAGS_ALLOC);
	return device;
}
EXPORT_SYMBOL(_ib_alloc_device);

/**
 * ib_dealloc_device() - free a device structure
 * @device: device of ib_alloc_device() that is not registered, either because it never was or
 *          because it has been unregistered
 *
 * Drivers with a dealloc_driver operation call this only for a device whose registration never
 * succeeded. The memory is freed when the last reference to the struct device is dropped. Context:
 * may sleep.
 */
void ib_dealloc_device(struct ib_device *device)
{
	if (device->ops.dealloc_driver)
		device->ops.dealloc_driver(device);
	if (device->port_data)
		ib_netdevs_release(device);
	ib_registry_remove(device);

	WARN_ON(rdma_xa_used(&device->core->compat));
	WARN_ON(rdma_xa_used(&device->client_data));
	WARN_ON(refcount_read(&device->refcount));
	rdma_restrack_clean(device);
	put_device(&device->dev);
}
EXPORT_SYMBOL(ib_dealloc_device);
