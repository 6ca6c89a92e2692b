// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ports let pass: their states, their LIDs, and the P_Keys that ports of switches enforce; and
 * where the tables of a topology's switches lead.  With the one switch these checks are skipped
 * where they cannot hold a packet up, see @open in struct fab_port.
 */
#include "fabric/pipe.h"

static void tell_bad_pkey(struct fab_switch *sw, u32 port, const struct run *run)
{
	struct fabric *f = sw->fabric;

	if (f->agents)
		f->agents->bad_pkey(f->agents_arg, sw->no, port, run);
}

/*
 * The P_Key table of a switch's port stands for the adapter's port behind it: incoming packets are
 * checked as that port checks what it sends, outgoing ones as it checks what it receives.
 */
static bool lets_in(struct port *ib, u16 pkey, u32 npkts)
{
	if (!ib->setup.enforce_in || port_sends_pkey(ib, pkey))
		return true;
	ib->pkey_in_drops += npkts;
	return false;
}

static bool lets_out(struct port *ib, u16 pkey, u32 npkts)
{
	if (!ib->setup.enforce_out || port_pkey_for(ib, pkey))
		return true;
	ib->pkey_out_drops += npkts;
	return false;
}

/* ------------------------------------------------------------------------
 * At the one switch
 */
static bool enters(struct fab_port *port, const struct run *run)
{
	struct fabric *f = port->fabric;
	struct port *at = port->ib.peer;

	port_got_data(at);
	if (at->state != PORT_ACTIVE) {
		port->ib.drops += run->npkts;
		return false;
	}
	if (lets_in(at, run->h.pkey, run->npkts))
		return true;
	port->ib.drops += run->npkts;
	tell_bad_pkey(f->shared, port->at, run);
	return false;
}

bool fab_enters(struct fab_port *port, const struct run *run)
{
	struct fabric *f = port->fabric;
	bool yes;

	/* in a topology each of its switches checks */
	if (f->topo)
		return true;
	fab_agents_lock(f);
	yes = enters(port, run);
	fab_agents_unlock(f);
	return yes;
}

static bool leaves(struct fab_port *from, struct fab_port *to, const struct run *run)
{
	struct port *at = to->ib.peer;

	if (at->state != PORT_ACTIVE) {
		at->discards += run->npkts;
		if (from)
			from->ib.discards += run->npkts;
		return false;
	}
	if (lets_out(at, run->h.pkey, run->npkts))
		return true;
	tell_bad_pkey(to->fabric->shared, to->at, run);
	return false;
}

static bool takes(struct fab_port *from, struct fab_port *to, const struct run *run)
{
	if (leaves(from, to, run)) {
		port_got_data(&to->ib);
		if (to->ib.state == PORT_ACTIVE &&
		    (lid_is_mcast(run->h.dlid) || port_has_lid(&to->ib, run->h.dlid)))
			return true;
	}
	if (from)
		from->ib.drops += run->npkts;
	return false;
}

bool fab_takes(struct fab_port *from, struct fab_port *to, const struct run *run)
{
	bool yes;

	fab_agents_lock(to->fabric);
	yes = takes(from, to, run);
	fab_agents_unlock(to->fabric);
	return yes;
}

/* ------------------------------------------------------------------------
 * At switches of a topology
 */

/* Notifies the agents of a packet that is stored as bytes. */
static void tell_of(struct fab_switch *sw, u32 port, const struct fab_packet *p)
{
	struct payload pl;
	struct wire_hdr h;
	struct run run;
	u32 at, len;

	if (wire_parse(p->bytes, p->len, &h, &at, &len) != WIRE_OK)
		return;
	run_from_packet(&run, &pl, &h, p->bytes + at, len);
	tell_bad_pkey(sw, port, &run);
}

bool switch_lets_in(struct fab_switch *sw, u32 port, const struct fab_packet *p)
{
	if (lets_in(&sw->port[port].ib, p->pkey, 1))
		return true;
	tell_of(sw, port, p);
	return false;
}

static bool switch_lets_out(struct fab_switch *sw, u32 port, const struct fab_packet *p)
{
	if (lets_out(&sw->port[port].ib, p->pkey, 1))
		return true;
	tell_of(sw, port, p);
	return false;
}

/* Looks up by which ports the tables of a switch send a packet. */
static struct port_mask look_up(const struct fab_switch *sw, const struct fab_pipe *in, u16 dlid)
{
	struct port_mask m = { 0 };

	if (in->topo->ethernet)
		return eth_ways(in, dlid);
	if (lid_is_mcast(dlid)) {
		m = sw->multicast[dlid - MLID_FIRST];
		port_mask_clear(&m, in->in_no + 1);
	} else if (dlid <= sw->setup.linear_top && switch_out(sw, sw->linear[dlid])) {
		port_mask_set(&m, sw->linear[dlid]);
	}
	return m;
}

struct port_mask forward_ports(struct fab_pipe *in, const struct fab_packet *p)
{
	struct fab_switch *sw = in->to;
	struct port_mask m = look_up(sw, in, p->dlid);
	u32 port;

	if (port_mask_empty(&m)) {
		sw->no_way++;
		sw->port[in->in_no + 1].relay_errors++;
	}
	port_mask_for_each(port, &m) {
		struct fab_pipe *out = switch_out(sw, port);

		bool goes = out && pipe_open(out) && !lane_drops(out, in, p);

		if (goes && switch_lets_out(sw, port, p))
			continue;
		port_mask_clear(&m, port);
		if (out && !goes)
			out->count.discards++;
	}
	return m;
}

u64 forward_lifetime(const struct fab_switch *sw, const struct port_mask *out)
{
	u32 port, life = 0;

	port_mask_for_each(port, out)
		life = MAX(life, sw->port[port].ib.setup.hoq_life);
	return life <= TOPO_HOQ_LAST ? 4096ull << life : 0;
}
