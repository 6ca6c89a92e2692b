// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sets of counters in which flow rules count; only users create them.
 */
#include <linux/slab.h>
#include "verbs_priv.h"

static int counters_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_counters *counters = container_of(obj, struct ib_counters, obj);

	return counters->device->ops.destroy_counters(counters);
}

static void counters_release(struct rdma_object *obj)
{
	kfree(container_of(obj, struct ib_counters, obj));
}

static const struct rdma_object_ops counters_ops = {
	.destroy = counters_destroy,
	.release = counters_release,
};

/**
 * ib_create_counters_user() - make a set of counters for a user handle
 * @uobject: the handle
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: the set, to be destroyed with ib_destroy_counters_user(); -EOPNOTSUPP, -ENOMEM,
 * or the driver's error as an ERR_PTR.
 */
struct ib_counters *ib_create_counters_user(struct ib_uobject *uobject,
					    struct uverbs_attr_bundle *attrs)
{
	struct ib_device *device = uobject->context->device;
	struct ib_counters *counters;
	int ret;

	if (!device->ops.create_counters)
		return ERR_PTR(-EOPNOTSUPP);
	counters = rdma_zalloc_drv_obj(device, ib_counters);
	if (!counters)
		return ERR_PTR(-ENOMEM);
	counters->device = device;
	counters->uobject = uobject;
	verbs_object_init_user(&counters->obj, RDMA_OBJECT_COUNTERS, uobject, &counters_ops);
	ret = device->ops.create_counters(counters, attrs);
	if (!ret) {
		rdma_object_publish(&counters->obj);
		return counters;
	}
	rdma_object_abort(&counters->obj);
	kfree(counters);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_create_counters_user);

/**
 * ib_destroy_counters_user() - destroy a set of counters
 * @counters: the set; freed if 0 is returned
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while a flow rule counts in it; the driver's error.
 */
int ib_destroy_counters_user(struct ib_counters *counters)
{
	return rdma_object_destroy(&counters->obj, NULL);
}
EXPORT_SYMBOL(ib_destroy_counters_user);
