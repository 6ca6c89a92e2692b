// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicasts as they leave their sender: copies by the one switch, and the sender's own copy.
 */
#include "fabric/internal.h"
#include "fabric/pipe.h"

void fab_give_mcast(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes)
{
	if (fab_queues(from->fabric)) {
		fab_queue_run(from, to, d->run);
		datagram_copied(d);
		return;
	}
	if (!d->at) {
		to->ib.rx_packets += d->run->npkts;
		to->ib.rx_bytes += bytes;
		to->ib.rx_mcast += d->run->npkts;
	}
	to->ops->rx_mcast(to, d);
}

/* The sender's memory, and so the payload, is not readable any more. */
static bool lost(const struct run *run)
{
	return run->pl && run->pl->fault;
}

/* The packet has to be sent again later, and goes on with port @n. */
bool fab_come_again(struct fab_cursor *c, u32 n, u64 at)
{
	*c = (struct fab_cursor){ .going = true, .next = n, .at = at };
	return false;
}

/*
 * An adapter delivers its own multicasts to its own QPs, without a switch: a manager writes no
 * table for a group of one member, and a switch sends nothing back by the port where it came from.
 */
static bool hears_itself(const struct fab_port *from, u16 mlid)
{
	return from->joins && from->joins[mlid - MLID_FIRST];
}

/* The ports of the one switch by which a packet leaves. */
static struct port_mask shared_ports(const struct fab_port *from, u16 mlid)
{
	struct port_mask m = from->fabric->shared->multicast[mlid - MLID_FIRST];

	if (hears_itself(from, mlid))
		port_mask_set(&m, from->at);
	else
		port_mask_clear(&m, from->at);
	return m;
}

void shared_receivers(const struct fab_port *from, u16 mlid, fab_port_fn fn, void *arg)
{
	const struct fabric *f = from->fabric;
	struct port_mask m = shared_ports(from, mlid);
	u32 n;

	port_mask_for_each(n, &m)
		if (n <= f->nports && f->ports[n - 1])
			fn(arg, f->ports[n - 1]);
}

/* The one switch makes all copies. */
static bool forward_shared(struct fab_port *from, struct datagram *d, u64 bytes,
			   struct fab_cursor *c)
{
	const struct fabric *f = from->fabric;
	struct port_mask m = shared_ports(from, d->run->h.dlid);
	u32 n = port_mask_next(&m, c && c->next ? c->next : 1);
	bool begun = c && n == c->next;

	if (!n && !(c && c->going))
		fab_discard(from, d->run);
	for (; n; n = port_mask_next(&m, n + 1), begun = false) {
		struct fab_port *to = n <= f->nports ? f->ports[n - 1] : NULL;

		/* the port that has to get the packet again does not pause again */
		if (c && !begun && datagram_pause(d, 0))
			return fab_come_again(c, n, 0);
		if (!to)
			continue;
		d->at = begun ? c->at : 0;
		/* this copy takes no cable that could lose it */
		if (to == from)
			to->ops->rx_mcast(to, d);
		else if (to->open || fab_takes(from, to, d->run))
			fab_give_mcast(from, to, d, bytes);
		if (lost(d->run))
			return true;
		if (c && d->more)
			return fab_come_again(c, n, d->at);
	}
	return true;
}

/* Delivers the sender's own copy, if it has joined the group, and sends one for all others. */
static bool forward_links(struct fab_port *from, struct datagram *d, struct fab_cursor *c)
{
	bool own = hears_itself(from, d->run->h.dlid);
	bool others = fab_heard(from, d->run->h.dlid);

	if (own) {
		d->at = c && c->next == from->at ? c->at : 0;
		from->ops->rx_mcast(from, d);
		if (lost(d->run))
			return true;
		if (c && d->more)
			return fab_come_again(c, from->at, d->at);
	}
	if (others)
		topo_send(from, d->run, d->run->h.dlid);
	else if (!own && !(c && c->going))
		fab_discard(from, d->run);
	return true;
}

bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget)
{
	struct datagram d;

	datagram_init(&d, run);
	d.bytes = budget;
	if (from->fabric->topo)
		return forward_links(from, &d, c);
	return forward_shared(from, &d, bytes, c);
}
