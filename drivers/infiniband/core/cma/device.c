// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices that ids may use.  A device that goes away takes its listens with it, tells its ids, and
 * then waits until their consumers have destroyed them.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cma_priv.h"
#include "trace.h"

/* Packets that routers forward are preferred. */
static enum ib_gid_type preferred_gid_type(struct ib_device *device, u32 port_num)
{
	unsigned long types = cma_gid_types(device, port_num);

	return types & BIT(IB_GID_TYPE_ROCE_UDP_ENCAP) ? IB_GID_TYPE_ROCE_UDP_ENCAP : __ffs(types);
}

static bool has_connections(struct ib_device *device)
{
	u32 port_num;

	rdma_for_each_port(device, port_num)
		if (rdma_cap_iw_cm(device, port_num) || rdma_cap_ib_cm(device, port_num))
			return true;
	return false;
}

static struct cma_device *alloc_device(struct ib_device *device)
{
	struct cma_device *cma_dev;
	u32 port_num;

	cma_dev = kzalloc(struct_size(cma_dev, config, device->phys_port_cnt), GFP_KERNEL);
	if (!cma_dev)
		return NULL;
	cma_dev->num_ports = device->phys_port_cnt;
	cma_dev->device = device;
	INIT_LIST_HEAD(&cma_dev->listens);
	spin_lock_init(&cma_dev->lock);
	INIT_LIST_HEAD(&cma_dev->ids);
	refcount_set(&cma_dev->refs, 1);
	init_completion(&cma_dev->released);
	rdma_for_each_port(device, port_num)
		cma_config(cma_dev, port_num)->gid_type = preferred_gid_type(device, port_num);
	return cma_dev;
}

/* An id that uses the device, with a reference; NULL if all have got the event. */
static struct cma_id *next_id(struct cma_device *cma_dev)
{
	struct cma_id *id;

	guard(spinlock_irqsave)(&cma_dev->lock);
	id = list_first_entry_or_null(&cma_dev->ids, struct cma_id, device_entry);
	if (id) {
		list_del_init(&id->device_entry);
		/* It leaves the list before its consumer's reference goes. */
		cma_get_id(id);
	}
	return id;
}

/* The device is in no list any more, so it gets no new users. */
static void end_device(struct cma_device *cma_dev)
{
	struct cma_id *id;

	cma_unlisten_device(cma_dev);
	scoped_guard(spinlock_irqsave, &cma_dev->lock)
		cma_dev->gone = true;
	while ((id = next_id(cma_dev)))
		cma_remove_id(id);
	cma_put_device(cma_dev);
	wait_for_completion(&cma_dev->released);
	kfree(cma_dev);
}

static int add_device(struct ib_device *device);
static void remove_device(struct ib_device *device, void *client_data);

static struct ib_client cma_client = {
	.name = "cma",
	.add = add_device,
	.remove = remove_device,
};

static int add_device(struct ib_device *device)
{
	struct cma_device *cma_dev;
	int ret;

	if (!has_connections(device))
		return -EOPNOTSUPP;
	cma_dev = alloc_device(device);
	if (!cma_dev)
		return -ENOMEM;

	scoped_guard(rwsem_write, &cma_devices_lock) {
		ret = cma_listen_on_new_device(cma_dev);
		if (!ret)
			list_add_tail(&cma_dev->entry, &cma_devices);
	}
	if (ret) {
		end_device(cma_dev);
		return ret;
	}
	ib_set_client_data(device, &cma_client, cma_dev);
	trace_cm_add_one(device);
	return 0;
}

static void remove_device(struct ib_device *device, void *client_data)
{
	struct cma_device *cma_dev = client_data;

	trace_cm_remove_one(device);
	scoped_guard(rwsem_write, &cma_devices_lock)
		list_del(&cma_dev->entry);
	end_device(cma_dev);
}

/**
 * cma_devices_begin() - learn of the devices that there are, and of those that come
 *
 * Return: 0 or an error of ib_register_client().
 */
int cma_devices_begin(void)
{
	return ib_register_client(&cma_client);
}

/**
 * cma_devices_end() - undo cma_devices_begin(); no id is left
 */
void cma_devices_end(void)
{
	ib_unregister_client(&cma_client);
}
