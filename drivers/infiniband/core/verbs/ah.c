// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles.  Consumers create and destroy them in atomic context too, so they
 * are neither tracked nor charged, and only calls that may sleep wait.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include "verbs_priv.h"

static int ah_destroy_sleeping(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_ah *ah = container_of(obj, struct ib_ah, obj);

	return ah->device->ops.destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static int ah_destroy_atomic(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_ah *ah = container_of(obj, struct ib_ah, obj);

	return ah->device->ops.destroy_ah(ah, 0);
}

static void ah_release(struct rdma_object *obj)
{
	struct ib_ah *ah = container_of(obj, struct ib_ah, obj);

	if (ah->sgid_attr)
		rdma_put_gid_attr(ah->sgid_attr);
	kfree(ah);
}

/*
 * An AH is published with the sleeping operations, which apply if it is reaped; destruction in
 * atomic context names the others.
 */
static const struct rdma_object_ops ah_ops_sleeping = {
	.destroy = ah_destroy_sleeping,
	.release = ah_release,
};

static const struct rdma_object_ops ah_ops_atomic = {
	.destroy = ah_destroy_atomic,
	.release = ah_release,
};

/*
 * The caller has checked the address vector and, if it has a GRH, set its source GID entry.  An AH
 * of a user has no owner: only the file that holds its handle needs to know whose it is.
 */
static struct ib_ah *ah_create(struct ib_pd *pd, struct rdma_ah_attr *ah_attr, u32 flags,
			       struct net_device *slave, struct ib_udata *udata)
{
	gfp_t gfp = flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct rdma_ah_init_attr init_attr = {
		.ah_attr = ah_attr, .flags = flags, .xmit_slave = slave,
	};
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_ah *ah = rdma_zalloc_drv_obj_gfp(pd->device, ib_ah, gfp);
	int ret;

	if (!ah)
		return ERR_PTR(-ENOMEM);
	ah->device = pd->device;
	ah->pd = pd;
	ah->type = ah_attr->type;
	if (ah_attr->ah_flags & IB_AH_GRH) {
		ah->sgid_attr = ah_attr->grh.sgid_attr;
		rdma_hold_gid_attr(ah->sgid_attr);
	}
	rdma_object_init(&ah->obj, RDMA_OBJECT_AH, pd->device, udata ? NULL : pd->obj.owner,
			 &ah_ops_sleeping);
	ret = rdma_object_link(&ah->obj, &pd->obj);
	if (!ret)
		ret = udata ? ops->create_user_ah(ah, &init_attr, udata) :
			      ops->create_ah(ah, &init_attr, NULL);
	if (ret) {
		rdma_object_abort(&ah->obj);
		ah_release(&ah->obj);
		return ERR_PTR(ret);
	}
	rdma_object_publish(&ah->obj);
	return ah;
}

/* If the netdev of the source GID is a bond, the bond chooses the slave that sends the packets. */
static struct ib_ah *ah_create_by_slave(struct ib_pd *pd, struct rdma_ah_attr *ah_attr, u32 flags,
					struct ib_udata *udata)
{
	gfp_t gfp = flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct net_device *slave = rdma_lag_get_ah_roce_slave(pd->device, ah_attr, gfp);
	struct ib_ah *ah;

	if (IS_ERR(slave))
		return ERR_PTR(rdma_refuse(PTR_ERR(slave),
					   "address handle: the bond has no slave for it"));
	ah = ah_create(pd, ah_attr, flags, slave, udata);
	rdma_lag_put_ah_roce_slave(slave);
	return ah;
}

/**
 * rdma_create_ah() - make an address handle for a kernel consumer
 * @pd: PD
 * @ah_attr: the address, resolved
 * @flags: enum rdma_create_ah_flags
 *
 * Context: may sleep with RDMA_CREATE_AH_SLEEPABLE, else any but hard interrupts.
 * Return: the AH, to be destroyed with rdma_destroy_ah(); -EINVAL for an address
 * that the device cannot reach, -EOPNOTSUPP, -ENOMEM, or the driver's error.
 */
struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr, u32 flags)
{
	const struct ib_gid_attr *held;
	struct ib_ah *ah;
	int ret;

	might_sleep_if(flags & RDMA_CREATE_AH_SLEEPABLE);
	if (!pd->device->ops.create_ah)
		return ERR_PTR(-EOPNOTSUPP);
	ret = ah_attr_hold_sgid(pd->device, ah_attr, &held);
	if (ret)
		return ERR_PTR(ret);
	ah = ah_create_by_slave(pd, ah_attr, flags, NULL);
	ah_attr_drop_sgid(ah_attr, held);
	return ah;
}
EXPORT_SYMBOL(rdma_create_ah);

/**
 * rdma_create_user_ah() - make an address handle for a user
 * @pd: the user's PD
 * @ah_attr: the address; RoCE addresses are resolved here
 * @udata: the driver's part of the request; NULL if there is none, as for umad: then the driver's
 *	create_ah is called instead of create_user_ah
 *
 * Context: may sleep.
 * Return: as rdma_create_ah().
 */
struct ib_ah *rdma_create_user_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr,
				  struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	const struct ib_gid_attr *held;
	struct ib_ah *ah;
	int ret;

	if (udata ? !ops->create_user_ah : !ops->create_ah)
		return ERR_PTR(-EOPNOTSUPP);
	ret = ah_attr_hold_sgid(pd->device, ah_attr, &held);
	if (ret)
		return ERR_PTR(ret);
	if (ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ret = ah_attr_resolve_dmac(ah_attr);
	ah = ret ? ERR_PTR(ret) :
		   ah_create_by_slave(pd, ah_attr, RDMA_CREATE_AH_SLEEPABLE, udata);
	ah_attr_drop_sgid(ah_attr, held);
	return ah;
}
EXPORT_SYMBOL(rdma_create_user_ah);

/**
 * rdma_modify_ah() - change the address of an address handle
 * @ah: AH
 * @ah_attr: the address, of the type that the AH has
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for another type or an address that the device cannot
 * reach; -EOPNOTSUPP; the driver's error.
 */
int rdma_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *held, *former = ah->sgid_attr;
	int ret;

	if (ah->type != ah_attr->type)
		return rdma_refuse(-EINVAL, "address handle: its type cannot change");
	if (!ah->device->ops.modify_ah)
		return -EOPNOTSUPP;
	ret = ah_attr_hold_sgid(ah->device, ah_attr, &held);
	if (ret)
		return ret;
	ret = ah->device->ops.modify_ah(ah, ah_attr);
	if (!ret) {
		ah->sgid_attr = ah_attr->ah_flags & IB_AH_GRH ? ah_attr->grh.sgid_attr : NULL;
		if (ah->sgid_attr)
			rdma_hold_gid_attr(ah->sgid_attr);
		if (former)
			rdma_put_gid_attr(former);
	}
	ah_attr_drop_sgid(ah_attr, held);
	return ret;
}
EXPORT_SYMBOL(rdma_modify_ah);

/**
 * rdma_query_ah() - read the address of a handle
 * @ah: AH
 * @ah_attr: receives the address, which owns no reference
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP; the driver's error.
 */
int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	const struct ib_device_ops *ops = &ah->device->ops;

	ah_attr->grh.sgid_attr = NULL;
	return ops->query_ah ? ops->query_ah(ah, ah_attr) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(rdma_query_ah);

/**
 * rdma_destroy_ah_user() - destroy an address handle
 * @ah: the AH; freed if 0 is returned
 * @flags: enum rdma_destroy_ah_flags
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep with RDMA_DESTROY_AH_SLEEPABLE, else any but hard interrupts.
 * Return: 0 or the driver's error.
 */
int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata)
{
	might_sleep_if(flags & RDMA_DESTROY_AH_SLEEPABLE);
	if (!(flags & RDMA_DESTROY_AH_SLEEPABLE))
		ah->obj.ops = &ah_ops_atomic;
	return rdma_object_destroy(&ah->obj, udata);
}
EXPORT_SYMBOL(rdma_destroy_ah_user);
