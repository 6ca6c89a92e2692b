// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queues that belong to no QP, which drivers allocate and free, and the indirection
 * tables that spread packets over them.
 */
#include <linux/slab.h>
#include "verbs_priv.h"

static int wq_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_wq *wq = container_of(obj, struct ib_wq, obj);

	return wq->device->ops.destroy_wq(wq, udata);
}

static const struct rdma_object_ops wq_ops = {
	.destroy = wq_destroy,
};

static struct ib_wq *wq_create(struct ib_pd *pd, struct ib_uwq_object *uobject,
			       struct ib_wq_init_attr *attr, struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_wq *wq;
	int ret;

	if (!ops->create_wq)
		return ERR_PTR(-EOPNOTSUPP);
	wq = ops->create_wq(pd, attr, udata);
	if (IS_ERR(wq))
		return wq;
	wq->device = pd->device;
	wq->pd = pd;
	wq->cq = attr->cq;
	wq->wq_type = attr->wq_type;
	wq->wq_context = attr->wq_context;
	wq->event_handler = attr->event_handler;
	wq->uobject = uobject;

	verbs_object_init_under(&wq->obj, RDMA_OBJECT_WQ, pd, &wq_ops);
	ret = rdma_object_link(&wq->obj, &pd->obj);
	if (!ret)
		ret = rdma_object_link(&wq->obj, &wq->cq->obj);
	if (ret) {
		rdma_object_abort(&wq->obj);
		WARN_ON_ONCE(ops->destroy_wq(wq, udata));
		return ERR_PTR(ret);
	}
	rdma_object_publish(&wq->obj);
	return wq;
}

/**
 * ib_create_wq() - make a work queue
 * @pd: PD
 * @init_attr: attributes
 *
 * Context: may sleep.
 * Return: the queue, to be destroyed with ib_destroy_wq_user(); -EOPNOTSUPP, or the
 * driver's error as an ERR_PTR.
 */
struct ib_wq *ib_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *init_attr)
{
	return wq_create(pd, NULL, init_attr, NULL);
}
EXPORT_SYMBOL(ib_create_wq);

/**
 * ib_create_wq_user() - make a work queue for a user handle
 * @pd: PD
 * @uobject: the handle
 * @attr: attributes; receives the actual sizes
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: as ib_create_wq().
 */
struct ib_wq *ib_create_wq_user(struct ib_pd *pd, struct ib_uwq_object *uobject,
				struct ib_wq_init_attr *attr, struct ib_udata *udata)
{
	return wq_create(pd, uobject, attr, udata);
}
EXPORT_SYMBOL(ib_create_wq_user);

/**
 * ib_destroy_wq_user() - destroy a work queue
 * @wq: the queue; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while an indirection table names it; the driver's error.
 */
int ib_destroy_wq_user(struct ib_wq *wq, struct ib_udata *udata)
{
	return rdma_object_destroy(&wq->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_wq_user);

/* ---- indirection tables ---- */

static int table_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_rwq_ind_table *table = container_of(obj, struct ib_rwq_ind_table, obj);

	return table->device->ops.destroy_rwq_ind_table(table);
}

/* The queues are held one by one, since an object can be linked to a few parents only. */
static void table_unhold(struct ib_rwq_ind_table *table, u32 held)
{
	while (held)
		rdma_object_unhold(&table->ind_tbl[--held]->obj);
	kvfree(table->ind_tbl);
	kfree(table);
}

static void table_release(struct rdma_object *obj)
{
	struct ib_rwq_ind_table *table = container_of(obj, struct ib_rwq_ind_table, obj);

	table_unhold(table, 1U << table->log_ind_tbl_size);
}

static const struct rdma_object_ops table_ops = {
	.destroy = table_destroy,
	.release = table_release,
};

/**
 * ib_create_rwq_table_user() - make an indirection table for a user handle
 * @device: device
 * @uobject: the handle
 * @attr: its size and its queues, which are copied
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: the table, to be destroyed with ib_destroy_rwq_table_user(); -EOPNOTSUPP,
 * -ENOMEM, -EBUSY when a queue is being destroyed, or the driver's error as an ERR_PTR.
 */
struct ib_rwq_ind_table *ib_create_rwq_table_user(struct ib_device *device,
						  struct ib_uobject *uobject,
						  struct ib_rwq_ind_table_init_attr *attr,
						  struct ib_udata *udata)
{
	u32 size = 1U << attr->log_ind_tbl_size, held = 0;
	struct ib_rwq_ind_table *table;
	int ret;

	if (!device->ops.create_rwq_ind_table)
		return ERR_PTR(-EOPNOTSUPP);
	table = rdma_zalloc_drv_obj(device, ib_rwq_ind_table);
	if (!table)
		return ERR_PTR(-ENOMEM);
	table->ind_tbl = kvmemdup(attr->ind_tbl, array_size(size, sizeof(*attr->ind_tbl)),
				  GFP_KERNEL);
	if (!table->ind_tbl) {
		kfree(table);
		return ERR_PTR(-ENOMEM);
	}
	table->device = device;
	table->uobject = uobject;
	table->log_ind_tbl_size = attr->log_ind_tbl_size;
	while (held < size) {
		ret = rdma_object_hold(&table->ind_tbl[held]->obj);
		if (ret)
			goto err_unhold;
		held++;
	}

	verbs_object_init_user(&table->obj, RDMA_OBJECT_RWQ_TABLE, uobject, &table_ops);
	ret = device->ops.create_rwq_ind_table(table, attr, udata);
	if (!ret) {
		rdma_object_publish(&table->obj);
		return table;
	}
	rdma_object_abort(&table->obj);
err_unhold:
	table_unhold(table, held);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_create_rwq_table_user);

/**
 * ib_destroy_rwq_table_user() - destroy an indirection table
 * @table: the table; freed if 0 is returned
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while a QP uses it; the driver's error.
 */
int ib_destroy_rwq_table_user(struct ib_rwq_ind_table *table, struct ib_udata *udata)
{
	return rdma_object_destroy(&table->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_rwq_table_user);
