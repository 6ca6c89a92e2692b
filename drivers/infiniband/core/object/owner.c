// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Owners: every object belongs to a module or to a user context, so that objects that a module
 * leaves behind can be named and destroyed in order. (Those of a context are destroyed with the
 * open file, whose handles lead to them.)
 *
 * A module's objects are reaped when the module is unloaded; its own code has ended by then and
 * cannot use them. At device removal they are only named: a consumer may hold objects longer than
 * that and destroy them itself.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>

#include "object_priv.h"

static struct rdma_owner *owner_alloc(struct ib_device *device)
{
	struct rdma_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL);

	if (!owner)
		return NULL;
	owner->device = device;
	refcount_set(&owner->refs, 1);
	spin_lock_init(&owner->lock);
	INIT_LIST_HEAD(&owner->objects);
	INIT_LIST_HEAD(&owner->entry);
	return owner;
}

/* Called with owners_lock held. */
static struct rdma_owner *owner_find(struct rdma_restrack_root *root, const char *name)
{
	struct rdma_owner *owner;

	lockdep_assert_held(&root->owners_lock);
	list_for_each_entry(owner, &root->owners, entry)
		if (!strcmp(owner->name, name) && refcount_inc_not_zero(&owner->refs))
			return owner;
	return NULL;
}

/**
 * rdma_owner_find() - find the owner of a module's objects on a device, if it has any
 * @device: the device
 * @name: the module's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the owner with a reference for the caller, or NULL.
 */
struct rdma_owner *rdma_owner_find(struct ib_device *device, const char *name)
{
	struct rdma_restrack_root *root = device->res;
	struct rdma_owner *owner;

	spin_lock_irq(&root->owners_lock);
	owner = owner_find(root, name);
	spin_unlock_irq(&root->owners_lock);
	return owner;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_owner_find);

/**
 * rdma_owner_kernel() - get the owner of a module's objects on a device
 * @device: the device
 * @name: the module's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the owner with a reference for the caller; NULL when out of memory.
 */
struct rdma_owner *rdma_owner_kernel(struct ib_device *device, const char *name)
{
	struct rdma_restrack_root *root = device->res;
	struct rdma_owner *owner = rdma_owner_find(device, name), *fresh;

	if (owner)
		return owner;

	fresh = owner_alloc(device);
	if (!fresh)
		return NULL;
	strscpy(fresh->name, name);

	spin_lock_irq(&root->owners_lock);
	owner = owner_find(root, name);
	if (!owner)
		list_add_tail(&fresh->entry, &root->owners);
	spin_unlock_irq(&root->owners_lock);
	if (!owner)
		return fresh;
	kfree(fresh);
	return owner;
}
EXPORT_SYMBOL(rdma_owner_kernel);

/**
 * rdma_owner_user() - make the owner of a user context's objects
 * @device: the device
 * @context: the context
 *
 * Context: may sleep.
 * Return: the owner with a reference for the caller; NULL when out of memory.
 */
struct rdma_owner *rdma_owner_user(struct ib_device *device, struct ib_ucontext *context)
{
	struct rdma_owner *owner = owner_alloc(device);

	if (owner)
		owner->context = context;
	return owner;
}
EXPORT_SYMBOL(rdma_owner_user);

/* Returns the youngest object without children whose destruction was not refused before. */
static struct rdma_object *owner_next_victim(struct rdma_owner *owner)
{
	struct rdma_object *obj, *victim = NULL;

	spin_lock_irq(&owner->lock);
	list_for_each_entry_reverse(obj, &owner->objects, owner_entry) {
		if (obj->reap_failed || atomic_read(&obj->usecnt))
			continue;
		victim = obj;
		break;
	}
	spin_unlock_irq(&owner->lock);
	return victim;
}

/**
 * rdma_owner_reap() - destroy all objects of an owner, children first
 * @owner: owner whose code creates and destroys no objects any more
 *
 * Asynchronous destructions that the owner began are waited for.
 *
 * Context: may sleep.
 * Return: number of objects that are left because a driver refused to destroy them, or because of a
 * user other than an object of this owner.
 */
unsigned int rdma_owner_reap(struct rdma_owner *owner)
{
	struct rdma_object *obj;
	unsigned int left = 0;

	rdma_objects_drain(owner->device);
	while ((obj = owner_next_victim(owner)))
		if (rdma_object_destroy(obj, NULL))
			obj->reap_failed = true;

	spin_lock_irq(&owner->lock);
	list_for_each_entry(obj, &owner->objects, owner_entry) {
		obj->reap_failed = false;
		left++;
	}
	spin_unlock_irq(&owner->lock);
	return left;
}
EXPORT_SYMBOL(rdma_owner_reap);

/* Writes something like "2 PD, 1 CQ". Returns false if there is nothing to name. */
static bool owner_describe(struct rdma_owner *owner, char *text, size_t size)
{
	unsigned int count[RDMA_OBJECT_TYPES] = {};
	struct rdma_object *obj;
	struct seq_buf line;

	spin_lock_irq(&owner->lock);
	list_for_each_entry(obj, &owner->objects, owner_entry)
		count[obj->type]++;
	spin_unlock_irq(&owner->lock);

	seq_buf_init(&line, text, size);
	for (unsigned int type = 0; type < ARRAY_SIZE(count); type++)
		if (count[type])
			seq_buf_printf(&line, "%s%u %s", seq_buf_used(&line) ? ", " : "",
				       count[type], rdma_object_type_name(type));
	seq_buf_str(&line);
	return seq_buf_used(&line);
}

/**
 * rdma_objects_report() - log the objects that kernel consumers have left on a device
 * @dev: device whose clients have all been removed
 *
 * Prints a line for each module that still has objects.
 *
 * Context: may sleep.
 */
void rdma_objects_report(struct ib_device *dev)
{
	struct rdma_restrack_root *root = dev->res;
	char text[128];

	for (unsigned int turn = 0;; turn++) {
		struct rdma_owner *owner = NULL, *one;
		unsigned int at = 0;

		spin_lock_irq(&root->owners_lock);
		list_for_each_entry(one, &root->owners, entry) {
			if (at++ != turn)
				continue;
			if (refcount_inc_not_zero(&one->refs))
				owner = one;
			break;
		}
		spin_unlock_irq(&root->owners_lock);
		if (at <= turn)
			return;
		if (!owner)
			continue;
		if (owner_describe(owner, text, sizeof(text)))
			dev_warn(&dev->dev, "%s has left behind: %s\n", owner->name, text);
		rdma_owner_put(owner);
	}
}
EXPORT_SYMBOL(rdma_objects_report);

/**
 * rdma_owner_module_left() - destroy the objects that a module has left behind on a device
 * @device: the device
 * @name: the module's KBUILD_MODNAME; its code has run its exit function and is still in memory
 *
 * Context: may sleep.
 */
void rdma_owner_module_left(struct ib_device *device, const char *name)
{
	struct rdma_owner *owner = rdma_owner_find(device, name);
	unsigned int left;
	char text[128];

	if (!owner)
		return;
	rdma_objects_drain(device);
	if (owner_describe(owner, text, sizeof(text))) {
		dev_warn(&device->dev, "%s was unloaded and left behind: %s\n", name, text);
		left = rdma_owner_reap(owner);
		if (left)
			dev_err(&device->dev, "%u object(s) of %s could not be destroyed\n",
				left, name);
	}
	rdma_owner_put(owner);
}

/**
 * __ib_reap_objects() - see ib_reap_objects()
 * @device: device
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: number of objects that could not be destroyed.
 */
unsigned int __ib_reap_objects(struct ib_device *device, const char *caller)
{
	struct rdma_owner *owner = rdma_owner_find(device, caller);
	unsigned int left;

	if (!owner)
		return 0;
	left = rdma_owner_reap(owner);
	rdma_owner_put(owner);
	return left;
}
EXPORT_SYMBOL(__ib_reap_objects);
