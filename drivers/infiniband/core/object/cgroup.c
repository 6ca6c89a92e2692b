// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA cgroup: a device is registered with the controller while it is registered; a user context is
 * charged as a handle, and every user handle as an object.
 */
#include "object.h"

/**
 * ib_device_register_rdmacg() - let cgroups limit the resources that users take of a device
 * @device: device about to become visible to user space
 *
 * Context: may sleep.
 */
void ib_device_register_rdmacg(struct ib_device *device)
{
	struct rdmacg_device *cg = &device->cg_device;

	cg->name = device->name;
	rdmacg_register_device(cg);
}

/**
 * ib_device_unregister_rdmacg() - end what ib_device_register_rdmacg() began
 * @device: device on which users cannot create objects any more
 *
 * Context: may sleep.
 */
void ib_device_unregister_rdmacg(struct ib_device *device)
{
	struct rdmacg_device *cg = &device->cg_device;

	rdmacg_unregister_device(cg);
}

/**
 * ib_rdmacg_try_charge() - charge one resource to the caller's cgroup
 * @cg_obj: records the cgroup for ib_rdmacg_uncharge()
 * @device: device that gives the resource
 * @resource_index: the resource to charge
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN when the cgroup's limit is reached; -ENOMEM.
 */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
			 enum rdmacg_resource_type resource_index)
{
	struct rdmacg_device *cg = &device->cg_device;

	return rdmacg_try_charge(&cg_obj->cg, cg, resource_index);
}
EXPORT_SYMBOL(ib_rdmacg_try_charge);

/**
 * ib_rdmacg_uncharge() - undo ib_rdmacg_try_charge()
 * @cg_obj: the charge
 * @device: device that gave the resource
 * @resource_index: the resource that was charged
 *
 * Context: may sleep.
 */
void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj, struct ib_device *device,
			enum rdmacg_resource_type resource_index)
{
	struct rdmacg_device *cg = &device->cg_device;

	rdmacg_uncharge(cg_obj->cg, cg, resource_index);
}
EXPORT_SYMBOL(ib_rdmacg_uncharge);
