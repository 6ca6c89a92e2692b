// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The special QPs: QP 0, whose packets use VL15 and have no partition, and QP 1, which is in all
 * partitions of its port.
 */
#include "fabric/subnet.h"
#include "qp/counter.h"
#include "qp/special.h"
#include "qp/wqe.h"
#include "res/command.h"

struct vqp *qp_named(struct vhca_dev *dev, u32 qpn, u8 port)
{
	if (qpn >= VHCA_SPECIAL_QPS)
		return port ? NULL : qp_find(dev, qpn);
	return port && port <= dev->nports ? dev->port[port - 1].special[qpn] : NULL;
}

enum vhca_status special_check(struct command *c, const struct vqp *qp)
{
	const struct vhca_create_qp_hw_req *req = command_req(c);

	if (!qp_is_special(qp))
		return req->port ? BAD_FIELD(c, vhca_create_qp_hw_req, port) : VHCA_ST_OK;
	if (!req->port || req->port > c->dev->nports)
		return BAD_FIELD(c, vhca_create_qp_hw_req, port);
	/* the subnet of an Ethernet port has no manager */
	if (qp->type == VHCA_QPT_SMI && c->dev->port[req->port - 1].fab.eth)
		return BAD_FIELD(c, vhca_create_qp_hw_req, port);
	return qp_named(c->dev, qp->type, req->port) ? BUSY(c, vhca_create_qp_hw_req, port) :
	       VHCA_ST_OK;
}

void special_join(struct vqp *qp, struct vport *p)
{
	qp->qpn = qp->type;
	qp->port = p;
	qp->attr.port = p->fab.number;
	p->special[qp->qpn] = qp;
}

void special_leave(struct vqp *qp)
{
	qp->port->special[qp->qpn] = NULL;
}

void smi_path(struct vqp *qp)
{
	qp->path.vl = PORT_VL15;
	qp->path.pkey = MAD_SMI_PKEY;
	if (!qp->path.slid)
		qp->path.slid = LID_PERMISSIVE;
}

void special_address(const struct vqp *qp, const struct send_wqe *w, struct run *run)
{
	if (qp->type == VHCA_QPT_GSI)
		run->h.pkey = qp->port->fab.ib.pkey[w->pkey_index];
	else
		run->h.qkey = 0;
}

bool smi_send(struct vqp *qp, struct run *run)
{
	qp_count_tx(qp, run);
	/* a packet that the port drops counts as lost on the way */
	fab_send_host_mad(&qp->port->fab, run);
	return true;
}
