// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ways to peers: an address handle is made once, where sleeping is allowed, and serves all messages
 * of a connection.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "cm.h"

static void destroy(struct cm_route *route)
{
	struct cm_device *device = route->port->device;

	rdma_destroy_ah(route->ah, RDMA_DESTROY_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&route->attr);
	kfree(route);
	cm_device_unuse(device);
	cm_device_put(device);
}

static void release_work(struct work_struct *work)
{
	destroy(container_of(work, struct cm_route, release));
}

/* Takes over @attr with its reference. */
static struct cm_route *new_route(struct cm_port *port, struct rdma_ah_attr *attr, u16 pkey_index,
				  u32 remote_qpn)
{
	struct cm_device *device = port->device;
	struct cm_route *route;
	int ret = -ENODEV;

	if (!cm_device_use(device))
		goto attr;
	ret = -ENOMEM;
	route = kzalloc(sizeof(*route), GFP_KERNEL);
	if (!route)
		goto user;
	route->ah = rdma_create_ah(port->agent->qp->pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(route->ah)) {
		ret = PTR_ERR(route->ah);
		goto route;
	}
	refcount_set(&route->refs, 1);
	route->port = port;
	route->attr = *attr;
	route->pkey_index = pkey_index;
	route->remote_qpn = remote_qpn;
	INIT_WORK(&route->release, release_work);
	cm_device_get(device);
	return route;

route:
	kfree(route);
user:
	cm_device_unuse(device);
attr:
	rdma_destroy_ah_attr(attr);
	return ERR_PTR(ret);
}

/**
 * cm_route_of_path() - make the route along a path
 * @device: device
 * @path: the path
 * @sgid_attr: its source GID if it is known, else NULL
 * @remote_qpn: QP of the peer's manager
 *
 * Context: may sleep.
 * Return: the route, for cm_route_put(); -EINVAL if the path starts from no port of the device, or
 * is not resolved; -ENOENT for a P_Key that the port does not have; -ENODEV when the device goes;
 * -ENOMEM.
 */
struct cm_route *cm_route_of_path(struct cm_device *device, struct sa_path_rec *path,
				  const struct ib_gid_attr *sgid_attr, u32 remote_qpn)
{
	struct cm_port *port = cm_port_of_path(device, path, sgid_attr);
	struct rdma_ah_attr attr;
	u16 pkey_index;
	int ret;

	if (!port)
		return ERR_PTR(-EINVAL);
	ret = ib_find_cached_pkey(device->ib, port->num, be16_to_cpu(path->pkey), &pkey_index);
	if (!ret)
		ret = ib_init_ah_attr_from_path(device->ib, port->num, path, &attr, sgid_attr);
	if (ret)
		return ERR_PTR(ret);
	return new_route(port, &attr, pkey_index, remote_qpn);
}

/**
 * cm_route_back() - make the route back to the sender of a datagram
 * @port: port at which it has arrived
 * @wc: the datagram
 *
 * Context: may sleep.
 * Return: the route, for cm_route_put(); or an error.
 */
struct cm_route *cm_route_back(struct cm_port *port, struct ib_mad_recv_wc *wc)
{
	struct rdma_ah_attr attr;
	int ret = ib_init_ah_attr_from_wc(port->device->ib, port->num, wc->wc, wc->recv_buf.grh,
					  &attr);

	if (ret)
		return ERR_PTR(ret);
	return new_route(port, &attr, wc->wc->pkey_index, wc->wc->src_qp);
}

/**
 * cm_route_get() - take a reference
 * @route: route
 *
 * Context: any.
 * Return: @route.
 */
struct cm_route *cm_route_get(struct cm_route *route)
{
	refcount_inc(&route->refs);
	return route;
}

/**
 * cm_route_put() - return a reference
 * @route: route, or NULL
 *
 * Context: may sleep.
 */
void cm_route_put(struct cm_route *route)
{
	if (route && refcount_dec_and_test(&route->refs))
		destroy(route);
}

/**
 * cm_route_put_later() - return a reference
 * @route: route, or NULL
 *
 * Context: any.
 */
void cm_route_put_later(struct cm_route *route)
{
	if (route && refcount_dec_and_test(&route->refs))
		queue_work(cm_wq, &route->release);
}

/**
 * cm_bth_pkey() - get the P_Key with which a datagram was sent
 * @port: port at which it has arrived
 * @wc: the datagram
 *
 * Return: the P_Key, 0 if the port does not have it any more.
 */
u16 cm_bth_pkey(struct cm_port *port, const struct ib_mad_recv_wc *wc)
{
	u16 pkey;

	if (ib_get_cached_pkey(port->device->ib, port->num, wc->wc->pkey_index, &pkey))
		return 0;
	return pkey;
}
