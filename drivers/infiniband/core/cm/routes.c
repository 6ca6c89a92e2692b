// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an id needs to reach its peer: the routes of its paths, and a datagram for its last message.
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
	if (!ret && alternate) {
		routes->alt = cm_route_of_path(device, alternate, NULL, remote_qpn);
		ret = PTR_ERR_OR_ZERO(routes->alt);
		routes->alt_ack_timeout = alternate->packet_life_time + 1;
	}
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
	swap(id->route, routes->primary);
	swap(id->alt, routes->alt);
	swap(id->spare, routes->spare);
	swap(id->ack_timeout, routes->ack_timeout);
	swap(id->alt_ack_timeout, routes->alt_ack_timeout);
	return 0;
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
	if (!IS_ERR(routes->primary))
		cm_route_put(routes->primary);
	if (!IS_ERR(routes->alt))
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
	struct cm_routes routes = {
		.primary = from->route, .alt = from->alt, .spare = from->spare,
		.ack_timeout = from->ack_timeout, .alt_ack_timeout = from->alt_ack_timeout,
	};
	int ret = cm_routes_take(id, &routes);

	from->route = routes.primary;
	from->alt = routes.alt;
	from->spare = routes.spare;
	return ret;
}
