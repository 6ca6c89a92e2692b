// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The data of object/ for each device, and its module notifier, which destroys the objects that an
 * unloaded module has left behind.
 */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>

#include "object_priv.h"

/* Protects roots. It is held while the objects of an unloaded module are reaped. */
static DEFINE_MUTEX(roots_lock);
static LIST_HEAD(roots);

static void root_attach(struct rdma_restrack_root *root)
{
	guard(mutex)(&roots_lock);
	list_add_tail(&root->entry, &roots);
}

static void root_detach(struct rdma_restrack_root *root)
{
	guard(mutex)(&roots_lock);
	list_del(&root->entry);
}

/**
 * rdma_restrack_init() - allocate the data of a device
 * @dev: device being allocated
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rdma_restrack_init(struct ib_device *dev)
{
	struct rdma_restrack_root *root = kzalloc(sizeof(*root), GFP_KERNEL);

	if (!root)
		return -ENOMEM;
	for (unsigned int type = 0; type < ARRAY_SIZE(root->table); type++)
		xa_init_flags(&root->table[type].xa, XA_FLAGS_ALLOC);
	spin_lock_init(&root->owners_lock);
	INIT_LIST_HEAD(&root->owners);
	init_waitqueue_head(&root->quiet);
	root->device = dev;
	dev->res = root;
	root_attach(root);
	return 0;
}

/**
 * rdma_restrack_clean() - end what rdma_restrack_init() began
 * @dev: device on which no object exists any more
 *
 * Objects that still exist are a bug of the module that created them: they are logged and left
 * alone, since their memory may be in use.
 *
 * Context: may sleep.
 */
void rdma_restrack_clean(struct ib_device *dev)
{
	struct rdma_restrack_root *root = dev->res;
	bool leaked = false;

	if (!root)
		return;
	rdma_objects_drain(dev);
	root_detach(root);
	for (unsigned int type = 0; type < ARRAY_SIZE(root->table); type++)
		leaked |= rdma_xa_used(&root->table[type].xa);
	if (leaked || !list_empty(&root->owners)) {
		rdma_objects_report(dev);
		WARN(1, "%s: freed while objects exist on it\n", dev_name(&dev->dev));
	}
	for (unsigned int type = 0; type < ARRAY_SIZE(root->table); type++)
		xa_destroy(&root->table[type].xa);
	dev->res = NULL;
	kfree(root);
}

static int owners_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = data;
	struct rdma_restrack_root *root;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	guard(mutex)(&roots_lock);
	list_for_each_entry(root, &roots, entry)
		rdma_owner_module_left(root->device, module->name);
	return NOTIFY_DONE;
}

static struct notifier_block owners_nb = {
	.notifier_call = owners_module_event,
};

/**
 * rdma_objects_module_init() - initialise object/ when ib_core is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int rdma_objects_module_init(void)
{
	int ret = rdma_objects_async_init();

	if (ret)
		return ret;
	ret = register_module_notifier(&owners_nb);
	if (ret)
		rdma_objects_async_exit();
	return ret;
}

/**
 * rdma_objects_module_exit() - end what rdma_objects_module_init() began
 */
void rdma_objects_module_exit(void)
{
	unregister_module_notifier(&owners_nb);
	rdma_objects_async_exit();
}
