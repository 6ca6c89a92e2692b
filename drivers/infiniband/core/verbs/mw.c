// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows; only users create them.
 */
#include <linux/slab.h>
#include "verbs_priv.h"

static int mw_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_mw *mw = container_of(obj, struct ib_mw, obj);

	return mw->device->ops.dealloc_mw(mw);
}

static void mw_release(struct rdma_object *obj)
{
	kfree(container_of(obj, struct ib_mw, obj));
}

static const struct rdma_object_ops mw_ops = {
	.destroy = mw_destroy,
	.release = mw_release,
};

/**
 * ib_alloc_mw_user() - make a memory window for a user handle
 * @pd: PD
 * @type: type 1 or 2
 * @uobject: the handle
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: the window, to be destroyed with ib_dealloc_mw_user(); -EOPNOTSUPP,
 * -ENOMEM, or the driver's error as an ERR_PTR.
 */
struct ib_mw *ib_alloc_mw_user(struct ib_pd *pd, enum ib_mw_type type, struct ib_uobject *uobject,
			       struct ib_udata *udata)
{
	struct ib_device *device = pd->device;
	struct ib_mw *mw;
	int ret;

	if (!device->ops.alloc_mw)
		return ERR_PTR(-EOPNOTSUPP);
	mw = rdma_zalloc_drv_obj(device, ib_mw);
	if (!mw)
		return ERR_PTR(-ENOMEM);
	mw->device = device;
	mw->pd = pd;
	mw->type = type;
	mw->uobject = uobject;
	verbs_object_init_under(&mw->obj, RDMA_OBJECT_MW, pd, &mw_ops);
	ret = rdma_object_link(&mw->obj, &pd->obj);
	if (!ret)
		ret = device->ops.alloc_mw(mw, udata);
	if (ret) {
		rdma_object_abort(&mw->obj);
		kfree(mw);
		return ERR_PTR(ret);
	}
	rdma_object_publish(&mw->obj);
	return mw;
}
EXPORT_SYMBOL(ib_alloc_mw_user);

/**
 * ib_dealloc_mw_user() - destroy a memory window
 * @mw: the window; freed if 0 is returned
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
int ib_dealloc_mw_user(struct ib_mw *mw)
{
	return rdma_object_destroy(&mw->obj, NULL);
}
EXPORT_SYMBOL(ib_dealloc_mw_user);
