// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Services of the fabric for agents: their ports, packets to send, and time.
 */
#include "subnet/internal.h"

struct port *agent_ib(const struct agent *a, u32 number)
{
	if (agent_is_switch(a))
		return number <= a->node->nports ?
		       fab_switch_ib(a->all->fabric, a->sw, number) : NULL;
	return !number || number == a->port->number ? &a->port->ib : NULL;
}

struct port *agent_self(const struct agent *a)
{
	return agent_ib(a, 0);
}

void agent_timer_set(struct agent *a, struct timer *t, u64 due)
{
	if (due == TIMER_OFF) {
		timer_stop(t);
		return;
	}
	timer_set(&a->all->timers, t, due);
	fab_agents_at(a->all->fabric, due);
}

void agent_send(struct agent *a, u8 in_port, u8 out_port, const struct wire_hdr *h, const u8 *mad)
{
	struct wire_hdr first = *h;
	struct payload pl;
	struct run run;
	bool sent;

	first.opcode = OP_UD_SEND_ONLY;
	if (!h->dqpn && !h->sqpn) {
		first.vl = PORT_VL15;
		first.pkey = MAD_SMI_PKEY;
	}
	run_from_packet(&run, &pl, &first, mad, MAD_LEN);
	if (agent_is_switch(a))
		sent = fab_switch_send(a->all->fabric, a->sw, in_port, out_port, &run);
	else
		sent = fab_send_mad(a->port, &run);
	a->dropped += !sent;
}
