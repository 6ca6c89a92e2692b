// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets under way: a queue for each receiving port.
 *
 * Used while something on the way handles packets one by one.  Packets are bytes
 * here, on both ends: the sender's side builds them, and the receiver's parses
 * them and checks the CRCs.  Packets that no fault strikes, and that have none
 * to wait for, go on as the run they are.
 */
#include <errno.h>
#include <string.h>

#include "fabric/eth_internal.h"

int fab_set_packet_hook(struct fabric *f, fab_packet_hook hook, void *arg)
{
	if (hook && fab_pool(f))
		return -ENOMEM;
	f->hook = hook;
	f->hook_arg = arg;
	return 0;
}

static void enqueue(struct fab_port *to, struct fab_packet *p)
{
	struct list_head *at = to->queue.prev;

	while (at != &to->queue && container_of(at, struct fab_packet, link)->due > p->due)
		at = at->prev;
	list_add_tail(&p->link, at->next);
}

/* The class of a management packet, or 0. */
static u8 class_of(const struct run *run, u32 i, const struct wire_hdr *h)
{
	u8 front[2];

	if (h->dqpn > 1 || run->service != WIRE_UD || run_pkt_len(run, i) < sizeof(front) ||
	    payload_read(run->pl, run->skip + i * run->mtu, front, sizeof(front)))
		return 0;
	return front[1];
}

static struct fab_effect meet(struct fab_port *from, struct fab_port *to, const struct run *run,
			      u32 i)
{
	struct fab_crossing c = { .from = from, .to = to };
	struct fab_effect effect = { .copies = 1 };
	struct fabric *f = from->fabric;
	struct wire_hdr h;

	run_pkt_hdr(run, i, &h);
	if (f->hook)
		f->hook(f->hook_arg, from, &h, &effect);
	if (f->nfaults) {
		c.opcode = h.opcode;
		c.dqpn = h.dqpn;
		c.mgmt_class = class_of(run, i, &h);
		fab_faults_meet(f, &c, &effect);
	}
	return effect;
}

/* When a packet arrives. */
static u64 due_at(const struct fab_port *from, const struct fab_port *to,
		  const struct fab_effect *effect)
{
	u64 due = from->fabric->now + effect->delay;

	if (effect->overtaken)
		return due;
	due = MAX(due, from->out_held);
	return MAX(due, to->in_held);
}

static void queue_packet(struct fab_port *from, struct fab_port *to, const struct run *run, u32 i,
			 const struct fab_effect *effect)
{
	struct fabric *f = from->fabric;
	struct fab_packet *first = NULL;

	if (!effect->copies || from->ib.state != PORT_ACTIVE || to->ib.state != PORT_ACTIVE) {
		from->ib.drops++;
		return;
	}
	for (u32 c = 0; c < effect->copies; c++) {
		struct fab_packet *p = fab_take_packet(f);

		if (!p) {
			from->ib.drops++;
			return;
		}
		p->due = due_at(from, to, effect) + c * effect->apart;
		p->at = 0;
		/* the sender counts a packet once if no copy arrives */
		p->from = c ? NULL : from;
		if (first) {
			p->len = first->len;
			memcpy(p->bytes, first->bytes, first->len);
		} else {
			first = p;
			p->len = run_pkt_bytes(run, i, p->bytes);
			if (!p->len) {
				fab_free_packet(f, p);
				return;
			}
			if (effect->corrupt)
				p->bytes[effect->bit / 8 % p->len] ^= 1 << effect->bit % 8;
		}
		enqueue(to, p);
	}
}

/*
 * Does a packet arrive as if there were no fault?  A hook sees every packet; members of a multicast
 * group need headers of their own.
 */
static bool untouched(const struct fab_port *from, const struct fab_port *to,
		      const struct run *run, const struct fab_effect *effect)
{
	const struct fabric *f = from->fabric;

	if (f->hook || path_is_mcast(&run->h.path) || effect->copies != 1 || effect->corrupt ||
	    due_at(from, to, effect) > f->now)
		return false;
	return list_empty(&to->queue) ||
	       container_of(to->queue.next, struct fab_packet, link)->due > f->now;
}

/* Delivers packets [first, first + n) of a run now. */
static void pass(struct fab_port *from, struct fab_port *to, const struct run *run, u32 first,
		 u32 n)
{
	struct run part = *run;

	if (!n)
		return;
	if (from->ib.state != PORT_ACTIVE || to->ib.state != PORT_ACTIVE) {
		from->ib.drops += n;
		return;
	}
	run_cut(&part, first, n);
	to->ib.rx_packets += n;
	to->ib.rx_bytes += run_wire_bytes(&part);
	to->ops->rx(to, &part);
}

void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run)
{
	u32 first = 0;

	for (u32 i = 0; i < run->npkts; i++) {
		const struct fab_effect effect = meet(from, to, run, i);

		if (untouched(from, to, run, &effect))
			continue;
		pass(from, to, run, first, i - first);
		first = i + 1;
		if (run->pl && run->pl->fault)
			return;
		queue_packet(from, to, run, i, &effect);
		if (run->pl && run->pl->fault)
			return;
	}
	pass(from, to, run, first, run->npkts - first);
}

void fab_give(struct fab_port *from, struct fab_port *to, struct run *run, u64 bytes)
{
	if (fab_queues(from->fabric)) {
		fab_queue_run(from, to, run);
		return;
	}
	to->ib.rx_packets += run->npkts;
	to->ib.rx_bytes += bytes;
	to->ops->rx(to, run);
}

/* Drops the packets under way to a port. */
void fab_queue_drop(struct fab_port *port)
{
	struct list_head *l;

	while ((l = list_pop(&port->queue))) {
		struct fab_packet *p = container_of(l, struct fab_packet, link);

		if (p->from)
			p->from->ib.drops++;
		fab_free_packet(port->fabric, p);
	}
}

void fab_queue_forget(const struct fab_port *port)
{
	struct fabric *f = port->fabric;

	for (u32 i = 0; f->pool && i < FABRIC_PACKETS; i++)
		if (f->pool[i].from == port)
			f->pool[i].from = NULL;
}

u32 fab_queue_poll(struct fabric *f, u32 most)
{
	u32 n = 0, bytes = POLL_BYTES;

	for (u32 i = 0; f->nqueued && i < fab_all(f); i++) {
		struct fab_port *to = fab_nth(f, i);

		while (to && n < most && bytes && !list_empty(&to->queue)) {
			struct fab_packet *p = container_of(to->queue.next, struct fab_packet,
							    link);

			if (p->due > f->now)
				break;
			n++;
			list_del_init(&p->link);
			if (fab_deliver(to, p, &bytes))
				fab_free_packet(f, p);
			else
				list_add_tail(&p->link, to->queue.next);
		}
	}
	return n;
}

u64 fab_queue_next(const struct fabric *f)
{
	u64 next = UINT64_MAX;

	for (u32 i = 0; f->nqueued && i < fab_all(f); i++) {
		struct fab_port *to = fab_nth(f, i);

		if (to && !list_empty(&to->queue))
			next = MIN(next, container_of(to->queue.next, struct fab_packet,
						      link)->due);
	}
	return next;
}
