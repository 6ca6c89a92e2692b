// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets under way: a queue for each receiving port.
 *
 * Used while something on the way treats packets singly.  Packets are bytes
 * here, on both ends: they are built by the sender's side and parsed, CRCs
 * and all, by the receiver's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/room.h"

int fab_set_judge(struct fabric *f, fab_judge judge, void *arg)
{
	if (judge && !f->pool) {
		f->pool = calloc(FABRIC_PACKETS, sizeof(*f->pool));
		if (!f->pool)
			return -ENOMEM;
		for (u32 i = 0; i < FABRIC_PACKETS; i++)
			link_add_tail(&f->free, &f->pool[i].link);
		f->nfree = FABRIC_PACKETS;
	}
	f->judge = judge;
	f->judge_arg = arg;
	return 0;
}

u32 fab_room(const struct fabric *f)
{
	/* every packet may be doubled by its judge, and go to the widest group */
	u32 most = 2 * MAX(f->widest, 1u);

	return fab_queues(f) ? f->nfree / most : UINT32_MAX;
}

static void enqueue(struct fab_port *to, struct fab_packet *p)
{
	struct link *at = to->queue.prev;

	while (at != &to->queue && container_of(at, struct fab_packet, link)->due > p->due)
		at = at->prev;
	link_add_tail(at->next, &p->link);
}

static void free_packet(struct fabric *f, struct fab_packet *p)
{
	link_add_tail(&f->free, &p->link);
	f->nfree++;
	f->nqueued--;
}

static void queue_packet(struct fab_port *from, struct fab_port *to, const struct run *run, u32 i)
{
	struct fabric *f = from->fabric;
	struct fab_verdict v = { .copies = 1 };
	struct fab_packet *first = NULL;
	struct wire_hdr h;

	run_pkt_hdr(run, i, &h);
	if (f->judge)
		f->judge(f->judge_arg, from, &h, &v);
	if (!v.copies)
		from->drops++;
	while (v.copies--) {
		struct fab_packet *p;
		struct link *l = link_pop(&f->free);

		if (!l) {
			from->drops++;
			return;
		}
		f->nfree--;
		f->nqueued++;
		p = container_of(l, struct fab_packet, link);
		p->due = f->now + v.delay;
		if (first) {
			p->len = first->len;
			memcpy(p->bytes, first->bytes, first->len);
		} else {
			first = p;
			p->len = run_pkt_bytes(run, i, p->bytes);
			if (!p->len) {
				free_packet(f, p);
				return;
			}
		}
		enqueue(to, p);
	}
}

/* Takes its own copy of a run's packets. */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run)
{
	for (u32 i = 0; i < run->npkts; i++) {
		queue_packet(from, to, run, i);
		if (run->pl && run->pl->fault)
			return;
	}
}

/* Loses what is under way to a port. */
void fab_queue_drop(struct fab_port *port)
{
	struct link *l;

	while ((l = link_pop(&port->queue)))
		free_packet(port->fabric, container_of(l, struct fab_packet, link));
}

static void deliver(struct fab_port *to, struct fab_packet *p)
{
	struct wire_hdr h;
	struct payload pl;
	struct run run;
	u32 at, len;

	to->rx_packets++;
	to->rx_bytes += p->len;
	if (wire_parse(p->bytes, p->len, &h, &at, &len) != WIRE_OK)
		return;
	run_from_packet(&run, &pl, &h, p->bytes + at, len);
	if (lid_is_mcast(h.dlid)) {
		struct datagram d;

		datagram_init(&d, &run);
		to->rx_mcast++;
		to->ops->rx_mcast(to, &d);
	} else {
		to->ops->rx(to, &run);
	}
}

u32 fab_poll(struct fabric *f, u64 now, u32 most)
{
	u32 n = 0;

	f->now = now;
	for (u32 i = 0; f->nqueued && i < f->nports; i++) {
		struct fab_port *to = f->ports[i];

		while (to && n < most && !link_alone(&to->queue)) {
			struct fab_packet *p = container_of(to->queue.next, struct fab_packet,
							    link);

			if (p->due > now)
				break;
			link_del(&p->link);
			deliver(to, p);
			free_packet(f, p);
			n++;
		}
	}
	return n;
}

u64 fab_next(const struct fabric *f)
{
	u64 next = UINT64_MAX;

	for (u32 i = 0; f->nqueued && i < f->nports; i++) {
		struct fab_port *to = f->ports[i];

		if (to && !link_alone(&to->queue))
			next = MIN(next, container_of(to->queue.next, struct fab_packet,
						      link)->due);
	}
	return next;
}
