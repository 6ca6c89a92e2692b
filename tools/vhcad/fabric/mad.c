// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets of agents and of QP 0: they wait here until fab_poll(), so that the receiver of a packet
 * may answer it at once.  Those of VL15 take links that are up, whatever their ports' states; each
 * switch gives them to its agents, or forwards them by its linear table.
 *
 * Packets are bytes from one end to the other.  In a topology pipe.c carries them over links; with
 * the one switch, a link to a port is a step that takes no time.
 */
#include <string.h>

#include "capture/capture.h"
#include "fabric/pipe.h"
#include "fabric/threads.h"

/* The next step of a packet. */
enum step {
	FROM_PORT,		/* it leaves the adapter's port @from */
	FROM_SWITCH,		/* it leaves the switch @sw, see fab_switch_send(): @in, @port */
	TO_SWITCH,		/* it comes to the one switch by its port @port */
	TO_PORT,		/* it comes to the adapter's port at @port of the one switch */
};

static void insert(struct fabric *f, struct fab_packet *p, u8 step, u64 due)
{
	struct list_head *at = f->mads.prev;

	p->step = step;
	p->due = due;
	f->news = true;
	while (at != &f->mads && container_of(at, struct fab_packet, link)->due > due)
		at = at->prev;
	list_add_tail(&p->link, at->next);
}

/* A packet, if there are fewer than @most in the fabric. */
static struct fab_packet *new_mad(struct fabric *f, const struct run *run, u32 most)
{
	struct fab_packet *p = run->len <= FAB_MAD_MOST ? mad_take(f, most) : NULL;
	struct wire_hdr h;

	if (!p)
		return NULL;
	run_pkt_hdr(run, 0, &h);
	p->len = run_pkt_bytes(run, 0, p->bytes);
	if (!p->len) {
		mad_free(f, p);
		return NULL;
	}
	p->dlid = h.dlid;
	p->pkey = h.pkey;
	p->sl = h.sl;
	p->opcode = h.opcode;
	p->vl15 = h.vl == PORT_VL15;
	return p;
}

static bool send_from(struct fab_port *port, bool host, const struct run *run)
{
	struct fab_packet *p = NULL;

	if (!port_link_is_up(&port->ib)) {
		port->ib.discards++;
		return false;
	}
	if (port->nmads[host] < FAB_MADS_MOST)
		p = new_mad(port->fabric, run, host ? FABRIC_HOST_MADS : FABRIC_MADS);
	if (!p) {
		port->ib.vl15_dropped += run->h.vl == PORT_VL15;
		port->ib.discards += run->h.vl != PORT_VL15;
		return false;
	}
	port->nmads[host]++;
	p->from = port;
	p->host = host;
	insert(port->fabric, p, FROM_PORT, fab_now(port->fabric));
	return true;
}

bool fab_send_mad(struct fab_port *port, const struct run *run)
{
	return send_from(port, false, run);
}

bool fab_send_host_mad(struct fab_port *port, const struct run *run)
{
	bool sent;

	fab_agents_lock(port->fabric);
	sent = send_from(port, true, run);
	fab_agents_unlock(port->fabric);
	return sent;
}

bool fab_switch_send(struct fabric *f, u32 sw, u32 in, u32 out, const struct run *run)
{
	struct fab_switch *s = switch_of(f, sw);
	struct fab_packet *p = NULL;

	if (s->port[in].nsends < FAB_ANSWERS_MOST)
		p = new_mad(f, run, FABRIC_MADS);
	if (!p) {
		s->port[out].ib.vl15_dropped += run->h.vl == PORT_VL15;
		s->port[out].ib.discards += run->h.vl != PORT_VL15;
		return false;
	}
	s->port[in].nsends++;
	p->sw = sw;
	p->in = in;
	p->port = out;
	insert(f, p, FROM_SWITCH, fab_now(f));
	return true;
}

/* Makes a run of a packet; false: the packet is corrupted. */
static bool parse(const struct fab_packet *p, struct run *run, struct payload *pl)
{
	struct wire_hdr h;
	u32 at, len;

	if (wire_parse(p->bytes, p->len, &h, &at, &len) != WIRE_OK)
		return false;
	run_from_packet(run, pl, &h, p->bytes + at, len);
	return true;
}

/* ------------------------------------------------------------------------
 * The one switch
 */

/* Applies faults to a packet on a link of the one switch; the packet's next step is due then. */
static void cross(struct fabric *f, struct fab_packet *p, struct fab_port *from,
		  struct fab_port *to, u8 step)
{
	struct fab_crossing c = { .from = from, .to = to };
	struct fab_effect effect = { .copies = 1 };
	struct fab_packet *copy;
	u64 due, held;

	if (f->nfaults) {
		crossing_packet(&c, p->bytes, p->len);
		fab_faults_meet(f, &c, &effect);
	}
	/* a fault may have taken the link down */
	if (!effect.copies || !port_link_is_up(from ? &from->ib : &to->ib)) {
		if (p->from)
			p->from->ib.drops++;
		mad_free(f, p);
		return;
	}
	held = from ? from->out_held : to->in_held;
	if (effect.corrupt)
		p->bytes[effect.bit / 8 % p->len] ^= 1 << effect.bit % 8;
	due = f->now + effect.delay;
	if (!effect.overtaken)
		due = MAX(due, held);
	copy = effect.copies > 1 ? mad_copy(f, p) : NULL;
	if (copy)
		insert(f, copy, step, due + effect.apart);
	insert(f, p, step, due);
}

/* ------------------------------------------------------------------------
 * Routes
 */
static void capture(struct fab_port *port, const struct fab_packet *p)
{
	struct fabric *f = port->fabric;

	if (port->cap_port >= 0)
		capture_ib_packet(f->capture, port->cap_port, fab_stamp(f), p->bytes, p->len);
}

/* A switch sends a packet of VL15 by a port. */
static void leave_switch(struct fab_switch *sw, u32 out, struct fab_packet *p)
{
	struct fabric *f = sw->fabric;

	if (!port_link_is_up(&sw->port[out].ib)) {
		sw->port[out].ib.discards++;
		mad_free(f, p);
	} else if (f->topo) {
		topo_switch_mad(sw, out, p);
	} else {
		p->port = out;
		cross(f, p, NULL, f->ports[out - 1], TO_PORT);
	}
}

/* The port by which a switch forwards; 0: none. */
static u32 way_of(const struct fab_switch *sw, u16 dlid)
{
	u32 n = dlid <= sw->setup.linear_top ? sw->linear[dlid] : 0;

	return n <= sw->nports ? n : 0;
}

static void to_agents(struct fab_switch *sw, u32 port, const struct fab_packet *p)
{
	struct fabric *f = sw->fabric;
	struct payload pl;
	struct run run;

	if (f->agents && parse(p, &run, &pl))
		f->agents->rx(f->agents_arg, sw->no, port, &run);
}

static void at_switch(struct fab_switch *sw, u32 port, struct fab_packet *p)
{
	struct fabric *f = sw->fabric;
	struct payload pl;
	struct run run;
	u32 out;

	if (!parse(p, &run, &pl)) {
		sw->port[port].ib.bad++;
		mad_free(f, p);
		return;
	}
	if (p->dlid == LID_PERMISSIVE || port_has_lid(&sw->port->ib, p->dlid)) {
		to_agents(sw, port, p);
		mad_free(f, p);
		return;
	}
	out = way_of(sw, p->dlid);
	if (out && goes_round(p)) {
		sw->port[out].ib.discards++;
		mad_free(f, p);
		return;
	}
	if (out) {
		leave_switch(sw, out, p);
		return;
	}
	sw->no_way++;
	sw->port[port].relay_errors++;
	mad_free(f, p);
}

static void deliver(struct fab_port *to, struct fab_packet *p)
{
	struct payload pl;
	struct run run;

	if (!parse(p, &run, &pl))
		to->ib.bad++;
	else if (p->dlid == LID_PERMISSIVE || port_has_lid(&to->ib, p->dlid))
		to->ops->rx(to, &run);
	else if (p->from)
		p->from->ib.drops++;
	mad_free(to->fabric, p);
}

static void at_port(struct fab_port *to, struct fab_packet *p)
{
	to->ib.rx_packets++;
	to->ib.rx_bytes += p->len;
	/* a packet that a switch has sent is not in the capture yet */
	if (!p->from)
		capture(to, p);
	deliver(to, p);
}

const struct fab_mad_ops fab_mad_ops = {
	.at_switch = at_switch,
	.at_port = at_port,
	.to_agents = to_agents,
};

static void from_port(struct fab_port *port, struct fab_packet *p)
{
	struct fabric *f = port->fabric;
	struct payload pl;
	struct run run;

	port->nmads[p->host]--;
	if (!p->vl15) {
		if (parse(p, &run, &pl))
			fab_send(port, &run);
		mad_free(f, p);
		return;
	}
	if (p->dlid != LID_PERMISSIVE && port_has_lid(&port->ib, p->dlid)) {
		deliver(port, p);
		return;
	}
	if (!port_link_is_up(&port->ib)) {
		port->ib.discards++;
		mad_free(f, p);
		return;
	}
	port->ib.tx_packets++;
	port->ib.tx_bytes += p->len;
	capture(port, p);
	if (f->topo) {
		topo_send_mad(port, p);
		return;
	}
	p->sw = 0;
	p->port = port->at;
	cross(f, p, port, NULL, TO_SWITCH);
}

/* Gives a packet that is not of VL15 from the one switch to a port. */
static void data_to_port(struct fab_switch *sw, struct fab_packet *p)
{
	struct fabric *f = sw->fabric;
	struct fab_port *to = shared_port(f, p->dlid);
	struct payload pl;
	struct run run;

	if (to && parse(p, &run, &pl) && (to->open || fab_takes(NULL, to, &run))) {
		p->port = to->at;
		cross(f, p, NULL, to, TO_PORT);
		return;
	}
	mad_free(f, p);
}

static void from_switch(struct fab_switch *sw, struct fab_packet *p)
{
	struct fabric *f = sw->fabric;
	u32 out = p->port;

	sw->port[p->in].nsends--;
	if (!out && port_has_lid(&sw->port->ib, p->dlid)) {
		to_agents(sw, 0, p);
		mad_free(f, p);
		return;
	}
	if (!p->vl15) {
		if (f->topo)
			topo_switch_data(sw, p);
		else
			data_to_port(sw, p);
		return;
	}
	if (!out)
		out = way_of(sw, p->dlid);
	if (out) {
		leave_switch(sw, out, p);
		return;
	}
	sw->no_way++;
	mad_free(f, p);
}

/* ------------------------------------------------------------------------
 * Time
 */
static void take_step(struct fabric *f, struct fab_packet *p)
{
	struct fab_port *to;

	switch (p->step) {
	case FROM_PORT:
		from_port(p->from, p);
		break;
	case FROM_SWITCH:
		from_switch(switch_of(f, p->sw), p);
		break;
	case TO_SWITCH:
		at_switch(f->shared, p->port, p);
		break;
	case TO_PORT:
		to = f->ports[p->port - 1];
		if (to && port_link_is_up(&to->ib))
			at_port(to, p);
		else
			mad_free(f, p);
		break;
	}
}

u32 mads_run(struct fabric *f, u32 most)
{
	u32 n = 0;

	while (n < most && mads_next(f) <= f->now) {
		take_step(f, container_of(list_pop(&f->mads), struct fab_packet, link));
		n++;
	}
	return n;
}

void mads_forget(struct fab_port *port)
{
	list_for_each_safe(l, &port->fabric->mads) {
		struct fab_packet *p = container_of(l, struct fab_packet, link);

		if (p->from != port)
			continue;
		p->from = NULL;
		if (p->step == FROM_PORT) {
			list_del_init(&p->link);
			mad_free(port->fabric, p);
		}
	}
	memset(port->nmads, 0, sizeof(port->nmads));
}

void mads_end(struct fabric *f)
{
	struct list_head *l;

	while ((l = list_pop(&f->mads)))
		mad_free(f, container_of(l, struct fab_packet, link));
}
