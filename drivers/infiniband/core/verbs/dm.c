// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on the device, which only users allocate.  Drivers allocate and free struct ib_dm.
 */
#include <rdma/uverbs_ioctl.h>
#include "verbs_priv.h"

static int dm_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_dm *dm = container_of(obj, struct ib_dm, obj);

	/*
	 * Only requests and the teardown of a file call this, and both pass the driver_udata of a
	 * struct uverbs_attr_bundle.
	 */
	return dm->device->ops.dealloc_dm(dm, container_of(udata, struct uverbs_attr_bundle,
							   driver_udata));
}

static const struct rdma_object_ops dm_ops = {
	.destroy = dm_destroy,
};

/**
 * ib_alloc_dm_user() - allocate memory on the device for a user handle
 * @uobject: the handle
 * @attr: size and alignment
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: the memory, to be freed with ib_free_dm_user(); -EOPNOTSUPP, or the driver's
 * error as an ERR_PTR.
 */
struct ib_dm *ib_alloc_dm_user(struct ib_uobject *uobject, struct ib_dm_alloc_attr *attr,
			       struct uverbs_attr_bundle *attrs)
{
	struct ib_device *device = uobject->context->device;
	struct ib_dm *dm;

	if (!device->ops.alloc_dm)
		return ERR_PTR(-EOPNOTSUPP);
	dm = device->ops.alloc_dm(device, uobject->context, attr, attrs);
	if (IS_ERR(dm))
		return dm;
	dm->device = device;
	dm->length = attr->length;
	dm->uobject = uobject;
	verbs_object_init_user(&dm->obj, RDMA_OBJECT_DM, uobject, &dm_ops);
	rdma_object_publish(&dm->obj);
	return dm;
}
EXPORT_SYMBOL(ib_alloc_dm_user);

/**
 * ib_free_dm_user() - free memory on the device
 * @dm: the memory; freed if 0 is returned
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while an MR covers it; the driver's error.
 */
int ib_free_dm_user(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	return rdma_object_destroy(&dm->obj, &attrs->driver_udata);
}
EXPORT_SYMBOL(ib_free_dm_user);
