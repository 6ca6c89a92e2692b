// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicasts as they leave their sender: copies that the one switch makes, and the sender's own.
 */
#include "fabric/internal.h"
#include "fabric/pipe.h"

static void hand_over(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes)
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

/* The sender's memory is gone, and the payload with it. */
static bool lost(const struct run *run)
{
	return run->pl && run->pl->fault;
}

/*
 * One receiver at the one switch, or the sender itself.  Returns false if the packet has to come
 * again.  To the sender's own port it does not come over the cable: the adapter gives it to its
 * QPs itself, so nobody can lose it.
 */
static bool give(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes,
		 struct fab_cursor *c, u32 n)
{
	d->at = c && n == c->next ? c->at : 0;
	if (to == from)
		to->ops->rx_mcast(to, d);
	else if (to->ib.state == PORT_ACTIVE)
		hand_over(from, to, d, bytes);
	if (!c || !d->more || lost(d->run))
		return true;
	*c = (struct fab_cursor){ .going = true, .next = n, .at = d->at };
	return false;
}

/* The one switch makes all copies. */
static bool forward_shared(struct fab_port *from, struct datagram *d, u64 bytes,
			   struct fab_cursor *c)
{
	const struct fabric *f = from->fabric;
	const struct port_mask *m = &f->shared->multicast[d->run->h.dlid - MLID_FIRST];
	u32 n;

	if (port_mask_empty(m) && !(c && c->going))
		fab_discard(from, d->run);
	for (n = port_mask_next(m, c && c->next ? c->next : 1); n; n = port_mask_next(m, n + 1)) {
		struct fab_port *to = n <= f->nports ? f->ports[n - 1] : NULL;

		/* the first one is never made to wait */
		if (c && n != c->next && datagram_pause(d, 0)) {
			*c = (struct fab_cursor){ .going = true, .next = n };
			return false;
		}
		if (to && !give(from, to, d, bytes, c, n))
			return false;
		if (lost(d->run))
			return true;
	}
	return true;
}

/* The sender's own copy, if its switch's table has its port; the others set out, once for all. */
static bool forward_links(struct fab_port *from, struct datagram *d, u64 bytes,
			  struct fab_cursor *c)
{
	const struct fab_switch *sw = from->end->sw;
	bool own = port_mask_test(&sw->multicast[d->run->h.dlid - MLID_FIRST], from->at);
	bool others = fab_heard(from, d->run->h.dlid);

	if (own && !give(from, from, d, bytes, c, from->at))
		return false;
	if (lost(d->run))
		return true;
	if (others)
		topo_send(from, d->run);
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
		return forward_links(from, &d, bytes, c);
	return forward_shared(from, &d, bytes, c);
}
