// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that travel one by one: the pool that they are taken from, and their arrival.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/eth_internal.h"

int fab_pool(struct fabric *f)
{
	if (f->pool)
		return 0;
	f->pool = calloc(FABRIC_PACKETS, sizeof(*f->pool));
	if (!f->pool)
		return -ENOMEM;
	for (u32 i = 0; i < FABRIC_PACKETS; i++)
		list_add_tail(&f->pool[i].link, &f->free);
	f->nfree = FABRIC_PACKETS;
	return 0;
}

struct fab_packet *fab_take_packet(struct fabric *f)
{
	struct list_head *l = list_pop(&f->free);

	if (!l)
		return NULL;
	f->nfree--;
	f->nqueued++;
	return container_of(l, struct fab_packet, link);
}

void fab_free_packet(struct fabric *f, struct fab_packet *p)
{
	list_add_tail(&p->link, &f->free);
	f->nfree++;
	f->nqueued--;
}

bool fab_deliver(struct fab_port *to, struct fab_packet *p, u32 *bytes)
{
	int (*parse)(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen) =
		to->eth ? wire_parse_roce : wire_parse;
	bool again = p->at;
	struct wire_hdr h;
	struct payload pl;
	struct datagram d;
	struct run run;
	u32 at, len;

	to->ib.rx_packets += !again;
	to->ib.rx_bytes += again ? 0 : p->len;
	/* every link checks the VCRC, which covers the whole packet */
	if (p->spoiled) {
		to->ib.bad++;
		return true;
	}
	if (to->ops->rx_bytes) {
		to->ops->rx_bytes(to, p->bytes, p->len);
		return true;
	}
	if (parse(p->bytes, p->len, &h, &at, &len) != WIRE_OK) {
		to->ib.bad++;
		return true;
	}
	run_from_packet(&run, &pl, &h, p->bytes + at, len);
	if (!path_is_mcast(&h.path)) {
		if (to->eth ? eth_receiver(to->fabric->eth, &h.path) == to :
			      port_has_lid(&to->ib, h.dlid))
			to->ops->rx(to, &run);
		else if (p->from)
			p->from->ib.drops++;
		return true;
	}
	if (to->eth && !again && !eth_hears(to, roce_vlan(h.vlan)))
		return true;
	datagram_init(&d, &run);
	d.bytes = bytes;
	d.at = p->at;
	to->ib.rx_mcast += !again;
	to->ops->rx_mcast(to, &d);
	p->at = d.at;
	return !d.more;
}
