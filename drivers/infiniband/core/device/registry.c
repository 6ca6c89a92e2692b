// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of RDMA devices: indices, names, lookup and references.
 *
 * A device enters the table, with its name and index settled, before it is usable, and leaves it
 * when it is freed. In between the mark DEVICE_REGISTERED shows whether walks find it.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "../object/object.h"
#include "device.h"

/* This mark is set while a device is registered and enabled. */
#define DEVICE_REGISTERED XA_MARK_1

/* Protects names and DEVICE_REGISTERED. It is never held across a call of a driver or client. */
static DECLARE_RWSEM(registry_rwsem);
static DEFINE_XARRAY_FLAGS(registry, XA_FLAGS_ALLOC);

bool ib_devices_shared_netns = true;
module_param_named(netns_mode, ib_devices_shared_netns, bool, 0444);
MODULE_PARM_DESC(netns_mode, "Share device among net namespaces; default=1 (shared)");

/* Where the search for the next device's index begins. */
VISIBLE_IF_KUNIT u32 ib_registry_next_index;
EXPORT_SYMBOL_IF_KUNIT(ib_registry_next_index);

static struct ib_device *find_name(const char *name)
{
	struct ib_device *device;
	unsigned long index;

	lockdep_assert_held(&registry_rwsem);
	xa_for_each(&registry, index, device)
		if (!strcmp(device->name, name))
			return device;
	return NULL;
}

/*
 * The name is that of the device's folder in sysfs. sysfs would replace a slash by another
 * character, and the two names would differ.
 */
static bool may_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* "vhca%d" becomes the first of vhca0, vhca1, ... that is free. */
static int expand_name(char *to, size_t size, const char *pattern)
{
	const char *place = strstr(pattern, "%d");

	if (!place || strchr(place + 2, '%') || memchr(pattern, '%', place - pattern))
		return -EINVAL;
	for (unsigned int number = 0; number <= INT_MAX; number++) {
		int len = snprintf(to, size, "%.*s%u%s", (int)(place - pattern), pattern, number,
				   place + 2);

		if (len >= size)
			return -ENAMETOOLONG;
		if (!find_name(to))
			return 0;
	}
	return -ENFILE;
}

/**
 * ib_registry_insert() - give a device its name and index and enter it, not yet registered
 * @device: device with no entry
 * @name: exact name, or a pattern with one %d
 *
 * Return: 0, -ENFILE if the name is taken, -ENAMETOOLONG, -EINVAL for a malformed pattern or an
 * invalid name, -ENOMEM.
 */
int ib_registry_insert(struct ib_device *device, const char *name)
{
	char chosen[IB_DEVICE_NAME_MAX];
	int ret;

	if (!may_name(name))
		return rdma_refuse(-EINVAL, "\"%s\" cannot be the name of a device", name);
	guard(rwsem_write)(&registry_rwsem);
	if (strchr(name, '%'))
		ret = expand_name(chosen, sizeof(chosen), name);
	else if (strscpy(chosen, name) < 0)
		ret = -ENAMETOOLONG;
	else
		ret = find_name(chosen) ? -ENFILE : 0;
	if (ret)
		return ret;

	ret = dev_set_name(&device->dev, "%s", chosen);
	if (ret)
		return ret;
	strscpy(device->name, chosen);
	ret = xa_alloc_cyclic(&registry, &device->index, device, XA_LIMIT(0, INT_MAX),
			      &ib_registry_next_index, GFP_KERNEL);
	return ret < 0 ? ret : 0;
}

/**
 * ib_registry_rename() - change the name of a device
 * @device: entered device
 * @name: the new name, without pattern
 * @extack: takes the reason of an error
 *
 * Context: may sleep.
 * Return: 1 if the name has changed, 0 if the device had it already; -EEXIST if another device has
 * it, -EINVAL for an invalid name, or the error of sysfs.
 */
int ib_registry_rename(struct ib_device *device, const char *name, struct netlink_ext_ack *extack)
{
	struct ib_device *other;
	int ret;

	if (strnlen(name, IB_DEVICE_NAME_MAX) == IB_DEVICE_NAME_MAX || strchr(name, '%') ||
	    !may_name(name))
		return rdma_nl_refuse(extack, -EINVAL, "\"%s\" cannot be the name of a device",
				      name);

	guard(rwsem_write)(&registry_rwsem);
	other = find_name(name);
	if (other == device)
		return 0;
	if (other)
		return rdma_nl_refuse(extack, -EEXIST, "another device is called %s", name);
	ret = device_rename(&device->dev, name);
	if (ret)
		return ret;
	strscpy(device->name, name);
	return 1;
}

/**
 * ib_registry_remove() - take a device out of the table
 * @device: a device, which need not have been entered
 */
void ib_registry_remove(struct ib_device *device)
{
	guard(rwsem_write)(&registry_rwsem);
	if (xa_load(&registry, device->index) == device)
		xa_erase(&registry, device->index);
}

/**
 * ib_registry_name() - copy a device's name
 * @device: a device
 * @name: room for IB_DEVICE_NAME_MAX characters
 *
 * A change of the name frees the string that dev_name() returned before, and overwrites
 * @device->name. Context: may sleep.
 */
void ib_registry_name(const struct ib_device *device, char *name)
{
	KUNIT_STATIC_STUB_REDIRECT(ib_registry_name, device, name);
	guard(rwsem_read)(&registry_rwsem);
	strscpy(name, device->name, IB_DEVICE_NAME_MAX);
}
EXPORT_SYMBOL(ib_registry_name);

/**
 * ib_registry_show() - let look-ups and walks find a device
 * @device: entered device; its reference count becomes 1, which is the registration's own
 */
void ib_registry_show(struct ib_device *device)
{
	guard(rwsem_write)(&registry_rwsem);
	refcount_set(&device->refcount, 1);
	xa_set_mark(&registry, device->index, DEVICE_REGISTERED);
}

/**
 * ib_registry_hide() - stop walks from finding a device
 * @device: shown device; references may still be taken and held until the count drops to zero
 */
void ib_registry_hide(struct ib_device *device)
{
	guard(rwsem_write)(&registry_rwsem);
	xa_clear_mark(&registry, device->index, DEVICE_REGISTERED);
}

/**
 * ib_registry_shown() - do walks find a device?
 * @device: a device
 *
 * Context: any.
 * Return: true between ib_registry_show() and ib_registry_hide().
 */
bool ib_registry_shown(const struct ib_device *device)
{
	return xa_get_mark(&registry, device->index, DEVICE_REGISTERED);
}

/**
 * ib_registry_exit() - free the registry, which every device has left
 */
void ib_registry_exit(void)
{
	rdma_xa_destroy(&registry);
}

/**
 * ib_registry_announce() - send a uevent of a device
 * @device: device in sysfs
 * @action: action of the uevent
 *
 * The message carries the device's path, which a change of its name frees.
 */
void ib_registry_announce(struct ib_device *device, enum kobject_action action)
{
	guard(rwsem_read)(&registry_rwsem);
	kobject_uevent(&device->dev.kobj, action);
}

/**
 * ib_registry_next() - next registered device of a walk
 * @index: where to look from; advanced past the device found
 *
 * Return: the device with a reference for ib_device_put(), or NULL at the end.
 */
struct ib_device *ib_registry_next(unsigned long *index)
{
	struct ib_device *device;

	guard(rwsem_read)(&registry_rwsem);
	for (;; (*index)++) {
		device = xa_find(&registry, index, ULONG_MAX, DEVICE_REGISTERED);
		if (device && !ib_device_try_get(device))
			continue;
		(*index)++;
		return device;
	}
}

/**
 * ib_registry_next_any() - next device of a walk, whatever its state
 * @index: where to look from; advanced past the device found
 *
 * Return: the device with a reference for put_device(), or NULL at the end.
 */
struct ib_device *ib_registry_next_any(unsigned long *index)
{
	struct ib_device *device;

	guard(rwsem_read)(&registry_rwsem);
	device = xa_find(&registry, index, ULONG_MAX, XA_PRESENT);
	if (device)
		get_device(&device->dev);
	(*index)++;
	return device;
}

/**
 * rdma_dev_access_netns() - may a namespace use a device?
 * @device: the device
 * @net: the namespace
 *
 * Context: any.
 * Return: true in shared mode or if the device is in @net.
 */
bool rdma_dev_access_netns(const struct ib_device *device, const struct net *net)
{
	return READ_ONCE(ib_devices_shared_netns) ||
	       net_eq(read_pnet(&device->coredev.rdma_net), net);
}
EXPORT_SYMBOL(rdma_dev_access_netns);

/**
 * ib_device_get_by_index() - look up a device by its index
 * @net: network namespace of the caller; devices that it may not use are not found
 * @index: the index
 *
 * Context: may sleep.
 * Return: the device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_index(const struct net *net, u32 index)
{
	struct ib_device *device;

	guard(rwsem_read)(&registry_rwsem);
	device = xa_load(&registry, index);
	if (!device || !rdma_dev_access_netns(device, net) || !ib_device_try_get(device))
		return NULL;
	return device;
}
EXPORT_SYMBOL_IF_KUNIT(ib_device_get_by_index);

/**
 * ib_device_get_by_name() - look up a device by its name
 * @name: the name
 * @driver_id: only a device of this driver, or RDMA_DRIVER_UNKNOWN for any
 *
 * Context: may sleep.
 * Return: the device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_name(const char *name, enum rdma_driver_id driver_id)
{
	struct ib_device *device;

	guard(rwsem_read)(&registry_rwsem);
	device = find_name(name);
	if (!device || !ib_device_try_get(device))
		return NULL;
	if (driver_id != RDMA_DRIVER_UNKNOWN && device->ops.driver_id != driver_id) {
		ib_device_put(device);
		return NULL;
	}
	return device;
}
EXPORT_SYMBOL(ib_device_get_by_name);

/**
 * ib_device_put() - return a reference of ib_device_try_get() or a lookup
 * @device: the device; unregistration proceeds when the last reference is returned
 *
 * Context: any.
 */
void ib_device_put(struct ib_device *device)
{
	if (refcount_dec_and_test(&device->refcount))
		complete(&device->core->unregistered);
}
EXPORT_SYMBOL(ib_device_put);

/**
 * ib_enum_all_devs() - visit each registered device that the namespace of a message's socket may
 * use
 * @visit: called with the number of devices visited before; non-zero ends the walk
 * @skb: message under construction
 * @cb: state of the dump
 *
 * Context: may sleep; @visit runs without a lock, on a referenced device.
 * Return: 0 or what @visit returned.
 */
int ib_enum_all_devs(nldev_callback visit, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ib_device *device;
	unsigned int seen = 0;
	unsigned long index;
	int ret;

	for_each_registered_device(device, index) {
		if (!rdma_dev_access_netns(device, sock_net(skb->sk)))
			continue;
		ret = visit(device, skb, cb, seen++);
		if (ret) {
			ib_device_put(device);
			return ret;
		}
	}
	return 0;
}

/**
 * ib_device_for_each() - visit each registered device
 * @visit: called while the device can be neither moved nor unregistered
 *
 * Devices that are hidden, because they are being renamed or moved, are visited too. Context: may
 * sleep.
 */
void ib_device_for_each(void (*visit)(struct ib_device *device))
{
	struct ib_device *device;
	unsigned long index;

	for_each_known_device(device, index)
		scoped_guard(mutex, &device->core->registration_lock)
			if (device->core->registered)
				visit(device);
}
