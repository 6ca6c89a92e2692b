// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What `rdma resource show cm_id` shows: the ids that have a device.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <net/netlink.h>
#include <uapi/rdma/rdma_netlink.h>

#include "../object/object.h"
#include "cma_priv.h"

/* An address that is not set is left out. */
static int put_addr(struct sk_buff *msg, int attr, const struct sockaddr_storage *addr)
{
	return addr->ss_family ? nla_put(msg, attr, sizeof(*addr), addr) : 0;
}

static int describe_id(struct cma_id *id, struct sk_buff *msg, u32 port_num)
{
	const struct rdma_addr *addr = &id->id.route.addr;

	if (port_num && port_num != id->id.port_num)
		return -EAGAIN;
	if ((id->id.port_num &&
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, id->id.port_num)) ||
	    (id->qp_num && (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, id->qp_num) ||
			    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, id->id.qp_type))) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PS, id->id.ps) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_STATE, cma_state(id)) ||
	    put_addr(msg, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &addr->src_addr) ||
	    put_addr(msg, RDMA_NLDEV_ATTR_RES_DST_ADDR, &addr->dst_addr))
		return -EMSGSIZE;
	return 0;
}

/* The driver may add what it knows of the id, to which rdma_iw_cm_id() leads it. */
static int describe(struct rdma_object *obj, struct sk_buff *msg, u32 port_num)
{
	struct cma_id *id = container_of(obj, struct cma_id, obj);
	const struct ib_device_ops *ops = &obj->device->ops;
	int ret = describe_id(id, msg, port_num);

	if (ret || !ops->fill_res_cm_id_entry)
		return ret;
	return ops->fill_res_cm_id_entry(msg, &id->id);
}

/* It has no device, for which rdma_iw_cm_id() would look. */
static int describe_listen(struct rdma_object *obj, struct sk_buff *msg, u32 port_num)
{
	return describe_id(container_of(obj, struct cma_listen, obj)->id, msg, port_num);
}

/* The id is not the object: it goes on without being seen. */
static int destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	return 0;
}

/* Its memory belongs to the id. */
static void release(struct rdma_object *obj)
{
}

static const struct rdma_object_ops id_ops = {
	.destroy = destroy,
	.release = release,
	.describe = describe,
};

static const struct rdma_object_ops listen_ops = {
	.destroy = destroy,
	.release = release,
	.describe = describe_listen,
};

static void track(struct rdma_object *obj, struct cma_device *cma_dev, struct cma_id *id,
		  const struct rdma_object_ops *ops)
{
	rdma_object_init(obj, RDMA_OBJECT_CM_ID, cma_dev->device, NULL, ops);
	rdma_restrack_parent_name(&obj->res, &id->owner);
	rdma_object_publish(obj);
}

/**
 * cma_track() - let look-ups find an id on its device
 * @id: the id
 *
 * Context: may sleep.
 */
void cma_track(struct cma_id *id)
{
	track(&id->obj, id->cma_dev, id, &id_ops);
}

/**
 * cma_untrack() - undo cma_track(); nobody looks at the id when it returns
 * @id: the id
 *
 * Context: may sleep.
 */
void cma_untrack(struct cma_id *id)
{
	WARN_ON_ONCE(rdma_object_destroy(&id->obj, NULL));
	id->obj.res.id = 0;
}

/**
 * cma_take_iw() - take the id of iw_cm from an id, to end it
 * @id: the id
 *
 * When this returns, no look-up leads a driver there any more.
 *
 * Context: may sleep.
 * Return: the id of iw_cm.
 */
struct iw_cm_id *cma_take_iw(struct cma_id *id)
{
	struct iw_cm_id *iw = id->cm_id.iw;

	WRITE_ONCE(id->cm_id.iw, NULL);
	rdma_restrack_sync(&id->obj.res);
	return iw;
}
EXPORT_SYMBOL_IF_KUNIT(cma_take_iw);

/**
 * cma_track_listen() - let look-ups find an id that listens everywhere on one of the devices
 * @listen: its listen on that device
 *
 * An id with a device is found there already.
 *
 * Context: may sleep.
 */
void cma_track_listen(struct cma_listen *listen)
{
	listen->tracked = !listen->id->cma_dev;
	if (listen->tracked)
		track(&listen->obj, listen->cma_dev, listen->id, &listen_ops);
}

/**
 * cma_untrack_listen() - undo cma_track_listen()
 * @listen: the listen
 *
 * Context: may sleep.
 */
void cma_untrack_listen(struct cma_listen *listen)
{
	if (listen->tracked)
		WARN_ON_ONCE(rdma_object_destroy(&listen->obj, NULL));
}

/**
 * rdma_res_to_id() - id of a tracking entry
 * @res: entry of type RDMA_RESTRACK_CM_ID
 *
 * Return: the id.
 */
struct rdma_cm_id *rdma_res_to_id(struct rdma_restrack_entry *res)
{
	struct rdma_object *obj = container_of(res, struct rdma_object, res);

	if (obj->ops == &listen_ops)
		return &container_of(obj, struct cma_listen, obj)->id->id;
	return &container_of(obj, struct cma_id, obj)->id;
}
EXPORT_SYMBOL(rdma_res_to_id);
