// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an id needs to reach its peer: the routes of its paths, and on each a datagram for its last
 * message.
 */

#include "cm.h"

/**
 * cm_routes_make() - make the routes to a peer
 * @device: device
 * @primary: path
 * @sgid_attr: its source GID if it is known, else NULL
 * @remote_qpn: QP of the peer's manager
 * @alternate: alternate path, or NULL
 * @routes: receives them; for cm_routes_take() and cm_routes_free()
 *
 * Context: may sleep.
 * Return: 0, or cm_route_of_path()'s error.
 */
int cm_routes_make(struct cm_device *device, struct sa_path_rec *primary,
		   const struct ib_gid_attr *sgid_attr, u32 remote_qpn,
		   struct sa_path_rec *alternate, struct cm_routes *routes)
{
	int ret;

	*routes = (struct cm_routes) {};
	routes->primary = cm_route_of_path(device, primary, sgid_attr, remote_qpn);
	if (IS_ERR(routes->primary))
		return PTR_ERR(routes->primary);
	routes->ack_timeout = primary->packet_life_time + 1;
	ret = cm_routes_add_spare(routes);
	if (!ret && alternate)
		ret = cm_routes_add_alternate(device, alternate, remote_qpn, routes);
	if (ret)
		cm_routes_free(routes);
	return ret;
}

/**
 * cm_routes_add_spare() - let there be a datagram for the last message
 * @routes: routes with a primary one
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int cm_routes_add_spare(struct cm_routes *routes)
{
	struct ib_mad_send_buf *spare = cm_buf_new(routes->primary, GFP_KERNEL);

	if (IS_ERR(spare))
		return PTR_ERR(spare);
	routes->spare = spare;
	return 0;
}

/**
 * cm_routes_add_alternate() - let there be an alternate path
 * @device: device
 * @path: the path
 * @remote_qpn: QP of the peer's manager
 * @routes: routes without one
 *
 * Context: may sleep.
 * Return: 0, or cm_route_of_path()'s error; @routes have none then.
 */
int cm_routes_add_alternate(struct cm_device *device, struct sa_path_rec *path, u32 remote_qpn,
			    struct cm_routes *routes)
{
	struct cm_route *alt = cm_route_of_path(device, path, NULL, remote_qpn);
	struct ib_mad_send_buf *spare;

	if (IS_ERR(alt))
		return PTR_ERR(alt);
	spare = cm_buf_new(alt, GFP_KERNEL);
	if (IS_ERR(spare)) {
		cm_route_put(alt);
		return PTR_ERR(spare);
	}
	routes->alt = alt;
	routes->alt_spare = spare;
	routes->alt_ack_timeout = path->packet_life_time + 1;
	return 0;
}

static void exchange(struct cm_id *id, struct cm_routes *routes)
{
	swap(id->route, routes->primary);
	swap(id->spare, routes->spare);
	swap(id->ack_timeout, routes->ack_timeout);
	cm_routes_take_alternate(id, routes);
}

/**
 * cm_routes_take() - give an id its routes to the peer
 * @id: id
 * @routes: the routes; receives those that the id had
 *
 * Context: the id's lock is held.
 * Return: 0; -ENODEV when the device is gone.
 */
int cm_routes_take(struct cm_id *id, struct cm_routes *routes)
{
	lockdep_assert_held(&id->lock);
	if (id->device->gone)
		return -ENODEV;
	exchange(id, routes);
	return 0;
}

/**
 * cm_routes_take_alternate() - give an id its alternate path
 * @id: id
 * @routes: has that path; receives the one that the id had
 *
 * Context: the id's lock is held, or nobody else has the id.
 */
void cm_routes_take_alternate(struct cm_id *id, struct cm_routes *routes)
{
	swap(id->alt, routes->alt);
	swap(id->alt_spare, routes->alt_spare);
	swap(id->alt_ack_timeout, routes->alt_ack_timeout);
}

/**
 * cm_routes_leave() - take an id's routes from it
 * @id: id, which keeps the time-outs
 * @routes: receives them
 *
 * Context: the id's lock is held, or nobody else has the id.
 */
void cm_routes_leave(struct cm_id *id, struct cm_routes *routes)
{
	*routes = (struct cm_routes) {
		.ack_timeout = id->ack_timeout, .alt_ack_timeout = id->alt_ack_timeout,
	};
	exchange(id, routes);
}

/**
 * cm_routes_free() - free routes that no id has
 * @routes: the routes
 *
 * Context: may sleep.
 */
void cm_routes_free(struct cm_routes *routes)
{
	if (routes->spare)
		cm_buf_free(routes->spare);
	if (routes->alt_spare)
		cm_buf_free(routes->alt_spare);
	if (!IS_ERR(routes->primary))
		cm_route_put(routes->primary);
	cm_route_put(routes->alt);
}

/**
 * cm_routes_move() - give an id the routes of another
 * @id: id; its routes are the other's afterwards
 * @from: id that nobody else has
 *
 * Context: the lock of @id is held.
 * Return: 0; -ENODEV when the device is gone.
 */
int cm_routes_move(struct cm_id *id, struct cm_id *from)
{
	struct cm_routes routes;
	int ret;

	cm_routes_leave(from, &routes);
	ret = cm_routes_take(id, &routes);
	exchange(from, &routes);
	return ret;
}
