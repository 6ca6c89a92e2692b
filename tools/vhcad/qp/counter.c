// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that QPs are bound to.
 */
#include <stdlib.h>

#include "qp/counter.h"
#include "res/command.h"

void counter_tx(struct vqp *qp, const struct run *run)
{
	if (qp->port->fab.ib.state != PORT_ACTIVE || run->h.unsent) {
		COUNTER_ADD(qp->counter, tx_discards, run->npkts);
		return;
	}
	COUNTER_ADD(qp->counter, tx_packets, run->npkts);
	COUNTER_ADD(qp->counter, tx_bytes, run_wire_bytes(run));
	if (path_is_mcast(&run->h.path))
		COUNTER_ADD(qp->counter, tx_mcast_packets, run->npkts);
}

void counter_rx(struct vqp *qp, const struct run *run)
{
	COUNTER_ADD(qp->counter, rx_packets, run->npkts);
	COUNTER_ADD(qp->counter, rx_bytes, run_wire_bytes(run));
	if (path_is_mcast(&run->h.path))
		COUNTER_ADD(qp->counter, rx_mcast_packets, run->npkts);
}

void vport_bad_pkey(struct vport *p, const struct run *run)
{
	p->count.pkey_violations += run->npkts;
	/* the agent counts one packet, in a counter that a manager resets */
	for (u32 i = 1; i < run->npkts; i++)
		port_violation(&p->fab.ib.pkey_viol);
	agent_bad_pkey(&p->agent, &run->h);
}

void vport_bad_qkey(struct vport *p, const struct run *run)
{
	p->count.qkey_violations += run->npkts;
	agent_bad_qkey(&p->agent, &run->h);
}

void qp_bad_pkey(struct vqp *qp, const struct run *run)
{
	vport_bad_pkey(qp->port, run);
	if (qp->counted)
		COUNTER_ADD(qp->counter, pkey_violations, run->npkts);
}

void qp_bad_qkey(struct vqp *qp, const struct run *run)
{
	vport_bad_qkey(qp->port, run);
	if (qp->counted)
		COUNTER_ADD(qp->counter, qkey_violations, run->npkts);
}

/*
 * A counter counts a part of what its port counts.  The port's counters without those of bound QPs
 * would be negative if packets of other ports were counted here.
 */
void counter_follow(struct vqp *qp)
{
	qp->counted = qp->counter && qp->counter->port == qp->port;
}

void counter_bind(struct vqp *qp, struct vcounter *counter)
{
	if (qp->counter)
		qp->counter->users--;
	qp->counter = counter;
	counter_follow(qp);
	if (counter)
		counter->users++;
}

void counter_destroy(struct vhca_dev *dev, struct vcounter *counter)
{
	table_del(&dev->counters, counter->number, 0);
	free(counter);
}

enum vhca_status cmd_create_counter(struct command *c)
{
	const struct vhca_create_counter_req *req = command_req(c);
	struct vcounter *counter;
	int err;

	if (!req->port || req->port > c->dev->nports)
		return BAD_FIELD(c, vhca_create_counter_req, port);
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return VHCA_ST_INTERNAL;
	counter->port = &c->dev->port[req->port - 1];
	err = table_add(&c->dev->counters, counter, 0, &counter->number);
	if (err) {
		free(counter);
		return command_table_error(c, VLIM_COUNTERS, err);
	}
	return command_object(c, counter->number);
}

enum vhca_status cmd_destroy_counter(struct command *c)
{
	struct vcounter *counter = table_get(&c->dev->counters, command_handle(c));

	if (!counter)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (counter->users)
		return BUSY(c, vhca_object_req, handle);
	counter_destroy(c->dev, counter);
	return VHCA_ST_OK;
}

enum vhca_status cmd_bind_counter(struct command *c)
{
	const struct vhca_bind_counter_req *req = command_req(c);
	struct vqp *qp = qp_find(c->dev, le32toh(req->qpn));
	struct vcounter *counter = NULL;

	if (!qp)
		return BAD_HANDLE(c, vhca_bind_counter_req, qpn);
	if (req->counter) {
		counter = table_get(&c->dev->counters, le32toh(req->counter));
		if (!counter)
			return BAD_HANDLE(c, vhca_bind_counter_req, counter);
	}
	counter_bind(qp, counter);
	return VHCA_ST_OK;
}

enum vhca_status cmd_query_counter(struct command *c)
{
	const struct vcounter *counter = table_get(&c->dev->counters, command_handle(c));

	if (!counter)
		return BAD_HANDLE(c, vhca_object_req, handle);
	return command_counters(c, &counter->count);
}
