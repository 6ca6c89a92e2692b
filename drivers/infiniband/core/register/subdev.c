// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sub-devices: a driver adds a device of a special type to one that it has registered, such as one
 * through which a subnet manager reaches the planes of a port.
 *
 * A sub-device holds a reference to its parent's structure, and is unregistered before it.
 */
#include <linux/cleanup.h>
#include <linux/device.h>

#include "register_priv.h"

/**
 * ib_subdevs_open() - allow sub-devices of a device
 * @device: device that is about to be shown; from then on it may be found and unregistered
 */
void ib_subdevs_open(struct ib_device *device)
{
	/*
	 * No lock is taken: the device may be a sub-device that is created under its parent's lock.
	 */
	WRITE_ONCE(device->core->subdevs_open, true);
}

/* Called with the parent's subdev_lock held. */
static void subdev_end(struct ib_device *sub)
{
	struct ib_device *parent = sub->parent;

	list_del_init(&sub->core->subdev_entry);
	parent->ops.del_sub_dev(sub);
	put_device(&parent->dev);
}

/**
 * ib_subdevs_end() - end the sub-devices of a device, and allow no further ones
 * @device: device that is being unregistered
 *
 * They end in reverse order of their creation. Context: may sleep.
 */
void ib_subdevs_end(struct ib_device *device)
{
	struct rdma_device_core *core = device->core, *last;

	if (!device->ops.add_sub_dev)
		return;
	guard(mutex)(&core->subdev_lock);
	WRITE_ONCE(core->subdevs_open, false);
	while (!list_empty(&core->subdevs)) {
		last = list_last_entry(&core->subdevs, struct rdma_device_core, subdev_entry);
		subdev_end(last->device);
	}
}

/**
 * ib_add_sub_device() - create a sub-device
 * @parent: registered device, referenced by the caller
 * @type: type of the sub-device
 * @name: its name
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the driver has no sub-devices; -ENODEV if @parent is being removed; the
 * driver's error.
 */
int ib_add_sub_device(struct ib_device *parent, enum rdma_nl_dev_type type, const char *name)
{
	struct ib_device *sub;

	if (!parent->ops.add_sub_dev || !parent->ops.del_sub_dev)
		return rdma_refuse(-EOPNOTSUPP, "%s has no devices below it", parent->name);
	guard(mutex)(&parent->core->subdev_lock);
	if (!READ_ONCE(parent->core->subdevs_open))
		return rdma_refuse(-ENODEV, "%s is not usable", parent->name);
	sub = parent->ops.add_sub_dev(parent, type, name);
	if (IS_ERR(sub))
		return PTR_ERR(sub);
	get_device(&parent->dev);
	sub->type = type;
	list_add_tail(&sub->core->subdev_entry, &parent->core->subdevs);
	/* A reader that sees the parent sees the type, too. */
	smp_store_release(&sub->parent, parent);
	return 0;
}
EXPORT_SYMBOL(ib_add_sub_device);

/**
 * ib_del_sub_device_and_put() - delete a sub-device
 * @sub: sub-device, referenced by the caller; the reference is consumed
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a device without parent; -ENODEV if it is being removed already.
 */
int ib_del_sub_device_and_put(struct ib_device *sub)
{
	/* Pairs with smp_store_release() in ib_add_sub_device(). */
	struct ib_device *parent = smp_load_acquire(&sub->parent);
	int ret = 0;

	if (!parent) {
		ret = rdma_refuse(-EOPNOTSUPP, "%s is below no other device", sub->name);
		ib_device_put(sub);
		return ret;
	}
	get_device(&parent->dev);
	/*
	 * The structure must stay valid for the test of subdev_entry, even if another task has
	 * ended the device.
	 */
	get_device(&sub->dev);
	ib_device_put(sub);
	scoped_guard(mutex, &parent->core->subdev_lock) {
		if (list_empty(&sub->core->subdev_entry))
			ret = rdma_refuse(-ENODEV, "the device is being removed");
		else
			subdev_end(sub);
	}
	put_device(&sub->dev);
	put_device(&parent->dev);
	return ret;
}
EXPORT_SYMBOL(ib_del_sub_device_and_put);
