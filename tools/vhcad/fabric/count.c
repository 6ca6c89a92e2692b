// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of ports, put together from the places where they are counted.
 */
#include "fabric/pipe.h"

/* What every port counts by itself. */
static void count_port(const struct port *ib, struct port_count *c)
{
	*c = (struct port_count){
		.xmit_bytes = ib->tx_bytes, .rcv_bytes = ib->rx_bytes,
		.xmit_pkts = ib->tx_packets, .rcv_pkts = ib->rx_packets,
		.xmit_mcast = ib->tx_mcast, .rcv_mcast = ib->rx_mcast,
		.rcv_errors = ib->bad,
		.xmit_discards = ib->discards,
		.xmit_constraint = ib->pkey_out_drops, .rcv_constraint = ib->pkey_in_drops,
		.vl15_dropped = ib->vl15_dropped,
		.link_downed = ib->link_downed,
	};
}

/* What a link has counted of the direction that leads away from a port. */
static void count_pipe(const struct fab_pipe *out, struct port_count *c)
{
	c->xmit_discards += out->count.discards;
	c->vl15_dropped += out->count.vl15_dropped;
	c->xmit_wait += out->count.wait;
}

void fab_port_count(const struct fab_port *port, struct port_count *c)
{
	count_port(&port->ib, c);
	if (port->end)
		count_pipe(port->end->out, c);
}

static void count_links(const struct fab_switch *sw, u32 n, struct port_count *c)
{
	const struct fab_link_count *out = &sw->out[n - 1]->count, *in = &sw->in[n - 1]->count;

	c->xmit_bytes = out->bytes;
	c->xmit_pkts = out->packets;
	c->xmit_mcast = out->mcast;
	c->rcv_bytes = in->arrived_bytes;
	c->rcv_pkts = in->arrived;
	c->rcv_mcast = in->arrived_mcast;
	c->rcv_errors += in->bad;
	count_pipe(sw->out[n - 1], c);
}

/*
 * Nothing is lost between a port and the one switch, so each end counts what the other has sent or
 * received.
 */
static void count_peer(const struct port *peer, struct port_count *c)
{
	c->xmit_bytes = peer->rx_bytes;
	c->xmit_pkts = peer->rx_packets;
	c->xmit_mcast = peer->rx_mcast;
	c->rcv_bytes = peer->tx_bytes;
	c->rcv_pkts = peer->tx_packets;
	c->rcv_mcast = peer->tx_mcast;
}

void fab_switch_count(const struct fabric *f, u32 sw, u32 n, struct port_count *c)
{
	const struct fab_switch *s = switch_of(f, sw);
	const struct port *ib = &s->port[n].ib;

	count_port(ib, c);
	c->relay_errors = s->port[n].relay_errors;
	if (n && f->topo)
		count_links(s, n, c);
	else if (ib->peer)
		count_peer(ib->peer, c);
}
