// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The switch: which port has which address, and the way of a packet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/capture.h"
#include "fabric/internal.h"
#include "fabric/topo.h"

#define DEFAULT_PREFIX		0xfe80000000000000ull
#define DEFAULT_PKEY		0xffffu

struct fabric *fabric_new(enum fabric_subnet subnet)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->subnet = subnet;
	link_init(&f->free);
	return f;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	topo_free(f->topo);
	free(f->pool);
	free(f->ports);
	free(f->wide);
	free(f);
}

void fabric_set_capture(struct fabric *f, struct capture *c)
{
	f->capture = c;
}

void fabric_set_stamps(struct fabric *f)
{
	f->cap_engine = true;
}

static void port_refresh(struct fab_port *port)
{
	bool up = port->enabled && port->cable && !port->flap_until;
	u8 old = port->state;

	port->phys_state = up ? PORT_PHYS_LINKUP : PORT_PHYS_POLLING;
	if (!up)
		port->state = PORT_DOWN;
	else if (port->fabric->subnet == FABRIC_SUBNET_STATIC)
		port->state = PORT_ACTIVE;
	else
		port->state = PORT_INIT;
	if (!up)
		fab_queue_drop(port);
	if (port->state != old)
		port->ops->state(port, old);
}

/* The lowest LID that no port has; 0: none. */
static u16 free_lid(const struct fabric *f)
{
	for (u32 lid = 1; lid <= LID_LAST; lid++)
		if (!f->route[lid])
			return lid;
	return 0;
}

int fab_plug(struct fabric *f, struct fab_port *port, const char *name)
{
	u16 lid = free_lid(f);
	u32 i;

	for (i = 0; i < f->nports && f->ports[i]; i++)
		;
	if (!lid)
		return -ENOSPC;
	if (i == f->nports) {
		struct fab_port **ports = realloc(f->ports, (i + 1) * sizeof(*ports));
		u32 *wide = realloc(f->wide, (i + 2) * sizeof(*wide));

		/* either is as good as the old one, and larger */
		if (ports)
			f->ports = ports;
		if (wide)
			f->wide = wide;
		if (!ports || !wide)
			return -ENOMEM;
		wide[i + 1] = 0;
		f->nports++;
	}
	port->fabric = f;
	port->rate = FAB_RATE_USUAL;
	if (f->topo && topo_plug(port, name))
		return -ENOENT;
	f->ports[i] = port;

	link_init(&port->queue);
	port->cable = true;
	port->state = PORT_DOWN;
	port->phys_state = PORT_PHYS_POLLING;
	if (f->subnet == FABRIC_SUBNET_STATIC) {
		port->lid = lid;
		port->sm_lid = LID_SWITCH;
		f->route[lid] = port;
	}
	put_be64(port->gid[0], DEFAULT_PREFIX);
	put_be64(port->gid[0] + 8, port->guid);
	port->pkey[0] = DEFAULT_PKEY;
	port->cap_port = f->capture ? capture_add_ib_port(f->capture, name) : -1;
	return 0;
}

void fab_port_flap(struct fab_port *port, u64 until)
{
	port->fabric->nflapped += !port->flap_until;
	port->flap_until = MAX(port->flap_until, until);
	port_refresh(port);
}

static void flap_ends(struct fab_port *port)
{
	port->flap_until = 0;
	port->fabric->nflapped--;
}

void fab_flaps_end(struct fabric *f)
{
	for (u32 i = 0; f->nflapped && i < f->nports; i++) {
		struct fab_port *port = f->ports[i];

		if (!port || !port->flap_until || port->flap_until > f->now)
			continue;
		flap_ends(port);
		port_refresh(port);
	}
}

void fab_unplug(struct fab_port *port)
{
	struct fabric *f = port->fabric;

	fab_queue_drop(port);
	fab_queue_forget(port);
	fab_fault_clear(f, port, NULL);
	if (port->flap_until)
		flap_ends(port);
	if (port->lid)
		f->route[port->lid] = NULL;
	if (f->topo)
		topo_unplug(port);
	for (u32 i = 0; i < f->nports; i++)
		if (f->ports[i] == port)
			f->ports[i] = NULL;
}

void fab_port_enable(struct fab_port *port, bool on)
{
	port->enabled = on;
	port_refresh(port);
}

void fab_port_cable(struct fab_port *port, bool plugged)
{
	port->cable = plugged;
	port_refresh(port);
}

int fab_port_set_lid(struct fab_port *port, u16 lid)
{
	struct fabric *f = port->fabric;

	if (f->route[lid] && f->route[lid] != port)
		return -EBUSY;
	f->route[port->lid] = NULL;
	f->route[lid] = port;
	port->lid = lid;
	return 0;
}

bool fab_static(const struct fabric *f)
{
	return f->subnet == FABRIC_SUBNET_STATIC;
}

static struct fab_port *route(struct fabric *f, u16 dlid)
{
	return dlid <= LID_LAST ? f->route[dlid] : NULL;
}

struct fab_port *fab_route(const struct fab_port *from, u16 dlid)
{
	return route(from->fabric, dlid);
}

/* A packet's time on the cable, so that those of a run have their own stamps. */
static u64 wire_ns(const struct fab_port *port, u32 len)
{
	return len * 8000000ull / fab_rate_kbps(&port->rate) + 1;
}

static void capture_run(struct fab_port *port, struct run *run)
{
	struct fabric *f = port->fabric;
	struct timespec ts;
	u8 buf[WIRE_MAX_PKT];

	clock_gettime(CLOCK_REALTIME, &ts);
	f->cap_time = MAX(f->cap_time, f->cap_engine ? f->now :
				       ts.tv_sec * 1000000000ull + ts.tv_nsec);
	for (u32 i = 0; i < run->npkts; i++) {
		u32 len = run_pkt_bytes(run, i, buf);

		if (!len)
			return;
		capture_ib_packet(f->capture, port->cap_port, f->cap_time, buf, len);
		f->cap_time += wire_ns(port, len);
	}
}

static void hand_over(struct fab_port *from, struct fab_port *to, struct run *run, u64 bytes)
{
	if (fab_queues(from->fabric)) {
		fab_queue_run(from, to, run);
		return;
	}
	to->rx_packets += run->npkts;
	to->rx_bytes += bytes;
	to->ops->rx(to, run);
}

void fab_discard(struct fab_port *port, const struct run *run)
{
	port->discards += run->npkts;
	port->drops += run->npkts;
}

/* It leaves the port; false: nobody will get it. */
static bool set_out(struct fab_port *port, struct run *run, u64 bytes)
{
	if (port->state != PORT_ACTIVE) {
		fab_discard(port, run);
		return false;
	}
	port->tx_packets += run->npkts;
	port->tx_bytes += bytes;
	if (lid_is_mcast(run->h.dlid))
		port->tx_mcast += run->npkts;
	if (port->cap_port >= 0)
		capture_run(port, run);
	return !run->pl || !run->pl->fault;
}

void fab_send(struct fab_port *port, struct run *run)
{
	struct fab_port *to = route(port->fabric, run->h.dlid);
	u64 bytes = run_wire_bytes(run);

	if (!set_out(port, run, bytes))
		return;
	if (lid_is_mcast(run->h.dlid))
		fab_forward_mcast(port, run, bytes, NULL, NULL);
	else if (!to || to->state != PORT_ACTIVE)
		fab_discard(port, run);
	else if (port->fabric->topo && to != port)
		topo_send(port, run);
	else
		hand_over(port, to, run, bytes);
}

bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *budget)
{
	u64 bytes = run_wire_bytes(run);
	bool goes = c->going ? port->state == PORT_ACTIVE : set_out(port, run, bytes);

	if (goes && !fab_forward_mcast(port, run, bytes, c, budget))
		return false;
	*c = (struct fab_cursor){ 0 };
	return true;
}

void fab_prefetch(const struct fab_port *port, const struct wire_path *path)
{
	struct fab_port *to = route(port->fabric, path->dlid);

	if (to && to->ops->prefetch)
		to->ops->prefetch(to, path->dqpn);
}

void fab_idle(struct fabric *f)
{
	if (f->capture)
		capture_flush(f->capture);
}

void fab_set_now(struct fabric *f, u64 now)
{
	f->now = now;
}
