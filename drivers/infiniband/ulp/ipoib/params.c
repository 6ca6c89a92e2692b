// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parameters of the module, and what else all interfaces share.
 */
#include <kunit/visibility.h>
#include <linux/module.h>

#include "ipoib.h"

/* Packets that an interface sends at a time */
int ipoib_sendq_size = 128;
EXPORT_SYMBOL_IF_KUNIT(ipoib_sendq_size);

/* Packets that an interface can receive at a time */
int ipoib_recvq_size = 256;
EXPORT_SYMBOL_IF_KUNIT(ipoib_recvq_size);

module_param_named(send_queue_size, ipoib_sendq_size, int, 0444);
MODULE_PARM_DESC(send_queue_size, "Packets that an interface sends at a time");
module_param_named(recv_queue_size, ipoib_recvq_size, int, 0444);
MODULE_PARM_DESC(recv_queue_size, "Packets that an interface can receive at a time");

/* Connections of peers that an interface takes where each needs receives of its own */
int ipoib_max_nonsrq = 128;
EXPORT_SYMBOL_IF_KUNIT(ipoib_max_nonsrq);

module_param_named(max_nonsrq_conn_qp, ipoib_max_nonsrq, int, 0444);
MODULE_PARM_DESC(max_nonsrq_conn_qp,
		 "Connections that an interface takes if there is no shared receive queue");

int ipoib_debug_level, ipoib_mcast_debug_level;
module_param_named(debug_level, ipoib_debug_level, int, 0644);
MODULE_PARM_DESC(debug_level, "Messages about paths and events if > 0");
module_param_named(mcast_debug_level, ipoib_mcast_debug_level, int, 0644);
MODULE_PARM_DESC(mcast_debug_level, "Messages about multicast groups if > 0");

struct ib_sa_client ipoib_sa_client;

/* Follows events. Not ordered: work that waits until a network device has no references must not
 * delay the work that still holds one.
 */
struct workqueue_struct *ipoib_wq;
