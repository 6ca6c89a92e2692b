// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connection manager that serves programs.
 */
#include <kunit/visibility.h>
#include <linux/export.h>

#include "ucma.h"

static const struct ucma_cm_calls rdma_cm_calls = {
	.create_user_id = rdma_create_user_id,
	.destroy_id = rdma_destroy_id,
	.bind_addr = rdma_bind_addr,
	.resolve_addr = rdma_resolve_addr,
	.resolve_route = rdma_resolve_route,
	.connect_ece = rdma_connect_ece,
	.listen = rdma_listen,
	.accept_ece = rdma_accept_ece,
	.reject = rdma_reject,
	.disconnect = rdma_disconnect,
	.init_qp_attr = rdma_init_qp_attr,
	.notify = rdma_notify,
	.join_multicast = rdma_join_multicast,
	.leave_multicast_of = rdma_leave_multicast_of,
	.set_service_type = rdma_set_service_type,
	.set_reuseaddr = rdma_set_reuseaddr,
	.set_afonly = rdma_set_afonly,
	.set_ack_timeout = rdma_set_ack_timeout,
	.set_ib_path = rdma_set_ib_path,
	.read_gids = rdma_read_gids,
	.get_service_id = rdma_get_service_id,
	.lock_handler = rdma_lock_handler,
	.unlock_handler = rdma_unlock_handler,
};

/* Unit tests change it while there are no ids. */
const struct ucma_cm_calls *ucma_cm = &rdma_cm_calls;
EXPORT_SYMBOL_IF_KUNIT(ucma_cm);
