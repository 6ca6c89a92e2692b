// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connected mode as a whole. Peers' connections receive into one shared queue, or each into its own
 * if the device has no shared one.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "cm.h"

/* How long a connection may be unused before it is given up: an own one, and one of a peer, which
 * may have gone without telling.
 */
#define CONN_IDLE	(60 * HZ)
#define PEER_IDLE	(512 * HZ)

/**
 * ipoib_cm_create() - prepare for connections
 * @ipoib: interface with its PD
 *
 * Context: RTNL is held.
 * Return: 0, also if the device lacks what connections need; -ENOMEM.
 */
int ipoib_cm_create(struct ipoib_dev *ipoib)
{
	struct ipoib_cm *cm;
	int ret;

	cm = kzalloc(sizeof(*cm), GFP_KERNEL);
	if (!cm)
		return -ENOMEM;
	cm->ipoib = ipoib;
	ipoib_peer_init(cm);
	ret = ipoib_conn_init(cm);
	if (ret)
		goto no_conns;
	ret = ipoib_cm_rx_create(cm);
	if (ret)
		goto no_rx;
	cm->mtu = ipoib_cm_mtu(cm->pages);
	ipoib->cm = cm;
	return 0;
no_rx:
	ipoib_table_free(&cm->conns);
no_conns:
	kfree(cm);
	return ret == -EOPNOTSUPP ? 0 : ret;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_create);

/**
 * ipoib_cm_entries() - completions of receives that connections may have at a time
 * @ipoib: interface after ipoib_cm_create()
 *
 * Context: RTNL is held.
 * Return: their number, with one for the request that drains a connection.
 */
unsigned int ipoib_cm_entries(struct ipoib_dev *ipoib)
{
	struct ipoib_cm *cm = ipoib->cm;

	if (!cm)
		return 0;
	return (cm->srq ? 1 : cm->max_peers) * ipoib_recvq_size + 1;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_entries);

/**
 * ipoib_cm_destroy() - undo ipoib_cm_create()
 * @ipoib: interface that is stopped
 *
 * Context: RTNL is held.
 */
void ipoib_cm_destroy(struct ipoib_dev *ipoib)
{
	struct ipoib_cm *cm = ipoib->cm;

	if (!cm)
		return;
	ipoib_cm_rx_destroy(cm);
	ipoib_table_free(&cm->conns);
	ipoib->cm = NULL;
	kfree(cm);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_destroy);

/**
 * ipoib_cm_start() - have peers connect
 * @ipoib: interface whose QP works
 *
 * Context: RTNL is held.
 * Return: 0 or what the connection manager answers.
 */
int ipoib_cm_start(struct ipoib_dev *ipoib)
{
	return ipoib->cm ? ipoib_peer_listen(ipoib->cm) : 0;
}

/**
 * ipoib_cm_stop() - end all connections
 * @ipoib: interface to which nobody gives packets any more, and whose queues are still polled
 *
 * Context: RTNL is held.
 */
void ipoib_cm_stop(struct ipoib_dev *ipoib)
{
	if (!ipoib->cm)
		return;
	ipoib_peer_stop(ipoib->cm);
	ipoib_conn_stop(ipoib->cm);
}

/**
 * ipoib_cm_flush() - have own connections established anew
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_cm_flush(struct ipoib_dev *ipoib)
{
	if (ipoib->cm)
		ipoib_conn_flush(ipoib);
}

/**
 * ipoib_cm_renew() - have own connections that have not come up begin anew
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_cm_renew(struct ipoib_dev *ipoib)
{
	if (ipoib->cm)
		ipoib_conn_renew(ipoib);
}

/**
 * ipoib_cm_age() - end connections that nobody uses
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_cm_age(struct ipoib_dev *ipoib)
{
	if (!ipoib->cm)
		return;
	ipoib_conn_age(ipoib->cm, CONN_IDLE);
	ipoib_peer_age(ipoib->cm, PEER_IDLE);
}
