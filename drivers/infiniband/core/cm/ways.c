// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an id needs to reach its peer: the routes of its paths, and a datagram for its last message.
 */

#include "cm.h"

/**
 * cm_ways_make() - make the ways to a peer
 * @device: device
 * @primary: path
 * @sgid_attr: its source GID if it is known, else NULL
 * @remote_qpn: QP of the peer's manager
 * @alternate: alternate path, or NULL
 * @ways: receives them; for cm_ways_take() and cm_ways_free()
 *
 * Context: may sleep.
 * Return: 0, or cm_route_of_path()'s error.
 */
int cm_ways_make(struct cm_device *device, struct sa_path_rec *primary,
		 const struct ib_gid_attr *sgid_attr, u32 remote_qpn,
		 struct sa_path_rec *alternate, struct cm_ways *ways)
{
	int ret;

	*ways = (struct cm_ways) {};
	ways->route = cm_route_of_path(device, primary, sgid_attr, remote_qpn);
	if (IS_ERR(ways->route))
		return PTR_ERR(ways->route);
	ways->ack_timeout = primary->packet_life_time + 1;
	ret = cm_ways_add_spare(ways);
	if (!ret && alternate) {
		ways->alt = cm_route_of_path(device, alternate, NULL, remote_qpn);
		ret = PTR_ERR_OR_ZERO(ways->alt);
		ways->alt_ack_timeout = alternate->packet_life_time + 1;
	}
	if (ret)
		cm_ways_free(ways);
	return ret;
}

/**
 * cm_ways_add_spare() - let there be a datagram for the last message
 * @ways: ways with a route
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int cm_ways_add_spare(struct cm_ways *ways)
{
	struct ib_mad_send_buf *spare = cm_buf_new(ways->route, GFP_KERNEL);

	if (IS_ERR(spare))
		return PTR_ERR(spare);
	ways->spare = spare;
	return 0;
}

/**
 * cm_ways_take() - give an id its ways to the peer
 * @id: id
 * @ways: ways; receives those that the id had
 *
 * Context: the id's lock is held.
 * Return: 0; -ENODEV when the device is gone.
 */
int cm_ways_take(struct cm_id *id, struct cm_ways *ways)
{
	lockdep_assert_held(&id->lock);
	if (id->device->gone)
		return -ENODEV;
	swap(id->route, ways->route);
	swap(id->alt, ways->alt);
	swap(id->spare, ways->spare);
	swap(id->ack_timeout, ways->ack_timeout);
	swap(id->alt_ack_timeout, ways->alt_ack_timeout);
	return 0;
}

/**
 * cm_ways_free() - free ways that no id has
 * @ways: ways
 *
 * Context: may sleep.
 */
void cm_ways_free(struct cm_ways *ways)
{
	if (ways->spare)
		cm_buf_free(ways->spare);
	if (!IS_ERR(ways->route))
		cm_route_put(ways->route);
	if (!IS_ERR(ways->alt))
		cm_route_put(ways->alt);
}

/**
 * cm_ways_move() - give an id the ways of another
 * @id: id; its ways are the other's afterwards
 * @from: id that nobody else has
 *
 * Context: the lock of @id is held.
 * Return: 0; -ENODEV when the device is gone.
 */
int cm_ways_move(struct cm_id *id, struct cm_id *from)
{
	struct cm_ways ways = {
		.route = from->route, .alt = from->alt, .spare = from->spare,
		.ack_timeout = from->ack_timeout, .alt_ack_timeout = from->alt_ack_timeout,
	};
	int ret = cm_ways_take(id, &ways);

	from->route = ways.route;
	from->alt = ways.alt;
	from->spare = ways.spare;
	return ret;
}
