// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports send: packets find their receivers, among the ports or outside.
 */
#include <string.h>

#include "capture/capture.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "fabric/threads.h"

static void capture_run(struct fab_port *port, struct run *run)
{
	struct fabric *f = port->fabric;
	u8 buf[WIRE_MAX_PKT];

	fab_lock(f);
	for (u32 i = 0; i < run->npkts; i++) {
		u32 len = run_pkt_bytes(run, i, buf);

		if (!len)
			break;
		capture_ether_frame(f->capture, port->cap_port, fab_stamp(f), buf, len);
		/* packets of a run have different time stamps */
		f->cap_time++;
	}
	fab_unlock(f);
}

static __attribute__((cold, noinline)) void record(struct fab_port *port, struct run *run)
{
	run_trace(run, port->trace_row);
	if (port->cap_port >= 0)
		capture_run(port, run);
}

/* Gives packets to the network adapters outside, for which one port (@out) stands. */
static void give_out(struct fab_port *from, struct run *run, u64 bytes)
{
	struct fabric *f = from->fabric;

	fab_lock(f);
	fab_give(from, &f->eth->out, run, bytes);
	fab_unlock(f);
}

/* May the port send this?  If not, it is dropped and counted. */
static bool may_send(struct fab_port *port, const struct run *run)
{
	struct fab_eth *eth = port->eth;

	if (eth->strict && !run->h.unsent && memcmp(run->h.smac, eth->mac, sizeof(eth->mac)))
		eth->spoofed += run->npkts;
	else if (port->ib.state == PORT_ACTIVE && eth->enabled && !run->h.unsent)
		return true;
	fab_discard(port, run);
	return false;
}

/* A port sends packets; false: they have no receiver. */
static bool set_out(struct fab_port *port, struct run *run, u64 bytes)
{
	if (!may_send(port, run))
		return false;
	port->ib.tx_packets += run->npkts;
	port->ib.tx_bytes += bytes;
	if (path_is_mcast(&run->h.path))
		port->ib.tx_mcast += run->npkts;
	if (port->recorded)
		record(port, run);
	return !run->pl || !run->pl->fault;
}

/* Sends by links of a topology to the end of @to; NULL: to all ends. */
static void send_by_links(struct fab_port *from, const struct fab_port *to, struct run *run)
{
	/* a network adapter outside, for which the topology file has no link */
	if (!from->end || (to && !to->end))
		from->ib.drops += run->npkts;
	else
		topo_send(from, run, to ? eth_lid(to->end) : ETH_MLID);
}

/*
 * Packets that are not given to a port at once.  They are lost if they are for the address of a
 * port that does not have their GID: that port still owns the address.  What comes from outside
 * does not go back there.
 */
static void send_on(struct fab_port *from, struct fab_port *to, struct run *run, u64 bytes)
{
	struct eth_segment *s = from->fabric->eth;

	if (!to && s->ether && from != &s->out &&
	    !eth_station(s, run->h.dmac, roce_vlan(run->h.vlan)))
		to = &s->out;
	if (!to || to->ib.state != PORT_ACTIVE)
		from->ib.drops += run->npkts;
	else if (to == from)
		fab_give(from, to, run, bytes);
	else if (from->fabric->eth_topo)
		send_by_links(from, to, run);
	else
		give_out(from, run, bytes);
}

static void unicast(struct fab_port *from, struct run *run, u64 bytes)
{
	struct fab_port *to = eth_receiver(from->fabric->eth, &run->h.path);

	if (to && to->open)
		fab_give(from, to, run, bytes);
	else
		send_on(from, to, run, bytes);
}

/* Does the port get a multicast at once?  Over links only the sender does, its own packets. */
static bool hears(const struct fab_port *port, const struct fab_port *from, u16 vlan)
{
	return (port->open || (port == from && port->ib.state == PORT_ACTIVE)) &&
	       eth_hears(port, vlan);
}

/* Sends a multicast to receivers other than the ports of the segment. */
static void multicast_far(struct fab_port *from, struct run *run, u64 bytes)
{
	const struct eth_segment *s = from->fabric->eth;

	if (from->fabric->eth_topo)
		send_by_links(from, NULL, run);
	else if (from != &s->out)
		give_out(from, run, bytes);
}

void eth_receivers(struct eth_segment *s, const struct wire_path *path, fab_port_fn fn, void *arg)
{
	for (u32 n = 0; n < s->nports; n++)
		if (hears(s->port[n], NULL, roce_vlan(path->vlan)))
			fn(arg, s->port[n]);
}

static bool lost(const struct run *run)
{
	return run->pl && run->pl->fault;
}

/*
 * Sends to all ports in the VLAN, in the order of their numbers from 1, and once to the adapters
 * outside or by a link.
 */
static bool multicast(struct fab_port *from, struct run *run, u64 bytes, struct fab_cursor *c,
		      u32 *budget)
{
	struct eth_segment *s = from->fabric->eth;
	u32 n = c && c->next ? c->next : 1;
	struct datagram d;

	datagram_init(&d, run);
	d.bytes = budget;
	if (!(c && c->going) && s->far)
		multicast_far(from, run, bytes);
	for (bool begun = c && c->next; n <= s->nports && !lost(run); n++, begun = false) {
		struct fab_port *to = s->port[n - 1];

		/* the port that has to get the packet again does not pause again */
		if (c && !begun && datagram_pause(&d, 0))
			return fab_come_again(c, n, 0);
		if (!hears(to, from, roce_vlan(run->h.vlan)))
			continue;
		d.at = begun ? c->at : 0;
		/* the adapter itself gives the packet to its own QPs */
		if (to == from)
			to->ops->rx_mcast(to, &d);
		else
			fab_give_mcast(from, to, &d, bytes);
		if (c && d.more)
			return fab_come_again(c, n, d.at);
	}
	return true;
}

bool eth_arrive(struct fab_port *from, struct run *run, struct fab_cursor *c, u32 *budget)
{
	u64 bytes = run_wire_bytes(run);

	if (path_is_mcast(&run->h.path))
		return multicast(from, run, bytes, c, budget);
	unicast(from, run, bytes);
	return true;
}

void eth_send(struct fab_port *port, struct run *run)
{
	if (set_out(port, run, run_wire_bytes(run)))
		eth_arrive(port, run, NULL, NULL);
}

bool eth_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *budget)
{
	u64 bytes = run_wire_bytes(run);
	bool goes = c->going ? port->ib.state == PORT_ACTIVE && port->eth->enabled :
			       set_out(port, run, bytes);

	if (goes && !multicast(port, run, bytes, c, budget))
		return false;
	*c = (struct fab_cursor){ 0 };
	return true;
}
