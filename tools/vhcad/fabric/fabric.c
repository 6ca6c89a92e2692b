// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric as a whole: it is made, ports send into it, and time passes in it.
 */
#include <stdlib.h>
#include <time.h>

#include "capture/capture.h"
#include "fabric/pipe.h"

struct fabric *fabric_new(void)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->shared = calloc(1, sizeof(*f->shared));
	if (!f->shared) {
		free(f);
		return NULL;
	}
	for (u32 port = 1; port <= SWITCH_MAX_PORTS; port++)
		port_mask_set(&f->shared->adapters, port);
	INIT_LIST_HEAD(&f->free);
	return f;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	if (f->subnet)
		f->subnet->free(f->subnet_arg);
	topo_free(f->topo);
	free(f->shared);
	free(f->pool);
	free(f->ports);
	free(f);
}

void fabric_set_topology(struct fabric *f, struct topo *t)
{
	free(f->shared);
	f->shared = NULL;
	f->topo = t;
	topo_join(t, f);
}

void fabric_set_subnet(struct fabric *f, const struct fab_subnet_ops *ops, void *subnet)
{
	f->subnet = ops;
	f->subnet_arg = subnet;
}

void *fab_subnet(const struct fabric *f, const struct fab_subnet_ops *ops)
{
	return f->subnet == ops ? f->subnet_arg : NULL;
}

void fabric_set_capture(struct fabric *f, struct capture *c)
{
	f->capture = c;
}

void fabric_set_stamps(struct fabric *f)
{
	f->cap_engine = true;
}

/* ------------------------------------------------------------------------
 * Sending
 */
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
	to->ib.rx_packets += run->npkts;
	to->ib.rx_bytes += bytes;
	to->ops->rx(to, run);
}

/* It leaves the port; false: nobody will get it. */
static bool set_out(struct fab_port *port, struct run *run, u64 bytes)
{
	if (port->ib.state != PORT_ACTIVE) {
		fab_discard(port, run);
		return false;
	}
	port->ib.tx_packets += run->npkts;
	port->ib.tx_bytes += bytes;
	if (lid_is_mcast(run->h.dlid))
		port->ib.tx_mcast += run->npkts;
	if (port->cap_port >= 0)
		capture_run(port, run);
	return !run->pl || !run->pl->fault;
}

/* Packets for one receiver, who is found by the tables of switches. */
static void send_unicast(struct fab_port *port, struct run *run, u64 bytes)
{
	struct fabric *f = port->fabric;
	u16 dlid = run->h.dlid;
	struct fab_port *to = port;

	if (!f->topo)
		to = shared_port(f, dlid);
	else if (!port_has_lid(&port->ib, dlid))
		to = NULL;
	if (to && to->ib.state == PORT_ACTIVE)
		hand_over(port, to, run, bytes);
	else if (f->topo && fab_heard(port, dlid))
		topo_send(port, run);
	else
		fab_discard(port, run);
}

void fab_send(struct fab_port *port, struct run *run)
{
	u64 bytes = run_wire_bytes(run);

	if (!set_out(port, run, bytes))
		return;
	if (lid_is_mcast(run->h.dlid))
		fab_forward_mcast(port, run, bytes, NULL, NULL);
	else
		send_unicast(port, run, bytes);
}

bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *budget)
{
	u64 bytes = run_wire_bytes(run);
	bool goes = c->going ? port->ib.state == PORT_ACTIVE : set_out(port, run, bytes);

	if (goes && !fab_forward_mcast(port, run, bytes, c, budget))
		return false;
	*c = (struct fab_cursor){ 0 };
	return true;
}

void fab_prefetch(const struct fab_port *port, const struct wire_path *path)
{
	struct fab_port *to = fab_follow(port, path->dlid);

	if (to && to->ops->prefetch)
		to->ops->prefetch(to, path->dqpn);
}

/* ------------------------------------------------------------------------
 * Time
 */
u32 fab_room(const struct fab_port *port)
{
	const struct fabric *f = port->fabric;
	/* every packet may be doubled on its way, and go to the widest group */
	u32 most = 2 * MAX(f->widest, 1u);
	u32 room = fab_queues(f) ? f->nfree / most : UINT32_MAX;

	return f->topo ? MIN(room, topo_room(port)) : room;
}

u32 fab_poll(struct fabric *f, u64 now, u32 most)
{
	u32 n;

	f->now = now;
	fab_flaps_end(f);
	n = fab_queue_poll(f, most);
	if (f->topo && n < most)
		n += topo_run(f->topo, now, most - n);
	return n;
}

u64 fab_next(const struct fabric *f)
{
	u64 next = fab_queue_next(f);

	if (f->topo)
		next = MIN(next, topo_next(f->topo));
	for (u32 i = 0; f->nflapped && i < f->nports; i++)
		if (f->ports[i] && f->ports[i]->ib.down_until)
			next = MIN(next, f->ports[i]->ib.down_until);
	return next;
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
