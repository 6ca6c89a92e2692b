// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP's path, and its move to the alternate one.
 *
 * Every packet carries the MigReq bit: 1 from a QP in the state migrated, 0 from one in rearm or
 * armed. A QP in rearm that receives a 0 becomes armed: both ends have loaded an alternate path.
 * One of them migrates when it runs out of retries, or when the driver says so; the other one sees
 * that by the MigReq bit of the next packet.
 */
#include <endian.h>
#include <string.h>

#include "qp/counter.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/special.h"

void qp_set_path(struct vqp *qp)
{
	bool datagrams = qp_datagrams(qp);

	qp->port = &qp->dev->port[qp->attr.port - 1];
	qp->changes = qp->port->changes;
	counter_follow(qp);
	qp->mtu = qp_is_special(qp) ? VHCA_MAD_SIZE :
		  128u << (datagrams ? vport_mtu(qp->port) : qp->attr.path_mtu);
	qp->pkey = qp->port->fab.ib.pkey[le16toh(qp->attr.pkey_index)];
	qp->path = (struct wire_path){
		.slid = qp->port->fab.ib.lid,
		.pkey = qp->pkey,
		.dqpn = le32toh(qp->attr.dest_qpn),
		.sqpn = datagrams ? qp->qpn : 0,
		/* as rdma_rxe sends it */
		.mig = qp->mig == MIG_MIGRATED && !qp->port->fab.eth,
	};
	if (qp->type == VHCA_QPT_SMI)
		smi_path(qp);
	else if (!datagrams)
		av_path(&qp->attr.av, qp->port, &qp->path);
	if (qp->path.eth && !qp->path.flow_label)
		qp->path.sport = roce_sport(roce_flow(qp->qpn, qp->path.dqpn));
}

void qp_migrate(struct vqp *qp)
{
	struct vhca_qp_attr *a = &qp->attr;

	a->av = a->alt_av;
	a->port = a->alt_port;
	a->pkey_index = a->alt_pkey_index;
	a->timeout = a->alt_timeout;
	memset(&a->alt_av, 0, sizeof(a->alt_av));
	a->alt_port = 0;
	a->alt_pkey_index = 0;
	a->alt_timeout = 0;
	qp->mig = MIG_MIGRATED;
	/* retries on the old path do not count on the new one */
	qp->req.retry_left = a->retry_cnt;
	qp_set_path(qp);
	/* it may have waited for the old port */
	if (!list_empty(&qp->ready_node)) {
		qp_not_ready(qp);
		qp_ready(qp);
	}
}

/* Did a packet come to the port, and from the address, of the alternate path? */
static bool on_alternate(const struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	const struct vhca_av *av = &qp->attr.alt_av;

	return qp->attr.alt_port == p->fab.number && h->slid == le16toh(av->dlid) &&
	       (!h->grh || !av->grh || !memcmp(h->sgid, av->dgid, sizeof(h->sgid)));
}

/*
 * Anybody can send such packets, in any number.  So there is one event for each address of the peer
 * at each port until the QP is rearmed, and one for all other addresses together.
 */
static void tell_wrong_path(struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	u8 way = 0;

	if (h->slid == qp->path.dlid)
		way = p->fab.number;
	else if (h->slid == le16toh(qp->attr.alt_av.dlid))
		way = VDEV_MAX_PORTS + p->fab.number;
	if (qp->mig_err_told >> way & 1)
		return;
	qp->mig_err_told |= 1u << way;
	eq_async(qp->dev, &qp->ev, EVB_PATH_MIG_ERR);
}

bool qp_follow_peer(struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	if (qp->mig != MIG_ARMED || !h->mig)
		return false;
	if (!on_alternate(qp, p, h)) {
		tell_wrong_path(qp, p, h);
		return false;
	}
	qp_migrate(qp);
	eq_async(qp->dev, &qp->ev, EVB_PATH_MIG);
	return true;
}
