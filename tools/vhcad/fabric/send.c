// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ports send: packets leave the port, and the one switch gives them to their receivers, or links
 * take them.
 */
#include "capture/capture.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "fabric/threads.h"

/* The time that a packet takes on the cable, by which time stamps of a run's packets differ. */
static u64 wire_ns(const struct fab_port *port, u32 len)
{
	return len * 8000000ull / fab_rate_kbps(&port->rate) + 1;
}

static void capture_run(struct fab_port *port, struct run *run)
{
	struct fabric *f = port->fabric;
	u8 buf[WIRE_MAX_PKT], vl = port->ib.setup.sl2vl[run->h.sl % 16];

	/* the VL of the first link */
	run->h.vl = MIN(vl, PORT_VLS - 1);
	fab_lock(f);
	fab_stamp(f);
	for (u32 i = 0; i < run->npkts; i++) {
		u32 len = run_pkt_bytes(run, i, buf);

		if (!len)
			break;
		capture_ib_packet(f->capture, port->cap_port, f->cap_time, buf, len);
		f->cap_time += wire_ns(port, len);
	}
	fab_unlock(f);
}

/* Not part of set_out(), as packets are seldom recorded. */
static __attribute__((cold, noinline)) void record(struct fab_port *port, struct run *run)
{
	run_trace(run, port->trace_row);
	if (port->cap_port >= 0)
		capture_run(port, run);
}

/* A port sends packets; false: they have no receiver. */
static bool set_out(struct fab_port *port, struct run *run, u64 bytes)
{
	if (!port->open && port->ib.state != PORT_ACTIVE) {
		fab_discard(port, run);
		return false;
	}
	port->ib.tx_packets += run->npkts;
	port->ib.tx_bytes += bytes;
	if (lid_is_mcast(run->h.dlid))
		port->ib.tx_mcast += run->npkts;
	if (port->recorded)
		record(port, run);
	if (!port->open && !fab_enters(port, run))
		return false;
	return !run->pl || !run->pl->fault;
}

static void to_agents(struct fab_port *port, struct run *run)
{
	struct fabric *f = port->fabric;

	fab_agents_lock(f);
	f->agents->rx(f->agents_arg, 0, port->at, run);
	fab_agents_unlock(f);
}

/* Packets that need a link, that are for a switch, or that need further checks. */
static void send_on(struct fab_port *port, struct fab_port *to, struct run *run, u64 bytes)
{
	struct fabric *f = port->fabric;
	u16 dlid = run->h.dlid;

	if (!to && port_has_lid(&port->ib, dlid))
		fab_give(port, port, run, bytes);
	else if (to && fab_takes(port, to, run))
		fab_give(port, to, run, bytes);
	else if (to)
		return;
	else if (f->topo && fab_heard(port, dlid))
		topo_send(port, run, dlid);
	else if (!f->topo && f->agents && switch_has_lid(f->shared, dlid))
		to_agents(port, run);
	else
		fab_discard(port, run);
}

/* Sends packets to one receiver, which the tables of switches lead to. */
static void send_unicast(struct fab_port *port, struct run *run, u64 bytes)
{
	struct fabric *f = port->fabric;
	u16 dlid = run->h.dlid;
	struct fab_port *to = port;

	if (!f->topo)
		to = shared_port(f, dlid);
	else if (!port_has_lid(&port->ib, dlid))
		to = NULL;
	if (to && to->open)
		fab_give(port, to, run, bytes);
	else
		send_on(port, to, run, bytes);
}

void fab_send(struct fab_port *port, struct run *run)
{
	u64 bytes;

	if (port->eth) {
		eth_send(port, run);
		return;
	}
	bytes = run_wire_bytes(run);
	if (!set_out(port, run, bytes))
		return;
	if (lid_is_mcast(run->h.dlid))
		fab_forward_mcast(port, run, bytes, NULL, NULL);
	else
		send_unicast(port, run, bytes);
}

bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *budget)
{
	u64 bytes;
	bool goes;

	if (port->eth)
		return eth_send_some(port, run, c, budget);
	bytes = run_wire_bytes(run);
	goes = c->going ? port->ib.state == PORT_ACTIVE : set_out(port, run, bytes);
	if (goes && !fab_forward_mcast(port, run, bytes, c, budget))
		return false;
	*c = (struct fab_cursor){ 0 };
	return true;
}

void fab_prefetch(const struct fab_port *port, u16 dlid)
{
	const struct fab_switch *sw = port->fabric->shared;

	if (sw && dlid <= LID_SWITCH)
		__builtin_prefetch(&sw->linear[dlid]);
}

struct fab_port *fab_receiver(const struct fab_port *port, const struct wire_path *path)
{
	if (port->eth)
		return eth_receiver(port->fabric->eth, path);
	return fab_follow(port, path->dlid);
}

void fab_receivers(struct fab_port *port, const struct wire_path *path, fab_port_fn fn, void *arg)
{
	struct fab_port *to;

	if (path_is_mcast(path)) {
		if (port->eth)
			eth_receivers(port->fabric->eth, path, fn, arg);
		else if (!port->fabric->topo)
			shared_receivers(port, path->dlid, fn, arg);
		return;
	}
	to = fab_receiver(port, path);
	if (to)
		fn(arg, to);
}
