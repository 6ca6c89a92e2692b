// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets on links and in switches.
 *
 * Everything happens at a time of its own, in order of these times, also when the engine comes
 * late: what a packet does next counts from when it should have got here.  Nothing here calls
 * itself; whoever makes something possible elsewhere sets a timer there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pipe.h"

#define PS	1000u		/* of a ns */

static struct fab_packet *first_of(struct list_head *list)
{
	return list_empty(list) ? NULL : container_of(list->next, struct fab_packet, link);
}

static struct fab_packet *take(struct topo *t)
{
	struct list_head *l = list_pop(&t->free);

	return l ? container_of(l, struct fab_packet, link) : NULL;
}

static void give_back(struct topo *t, struct fab_packet *p)
{
	/* the one that was used last is used next */
	list_add_tail(&p->link, t->free.next);
}

static void lose(struct topo *t, struct fab_packet *p)
{
	if (p->from)
		p->from->ib.drops++;
	give_back(t, p);
}

static void packet_copy(struct fab_packet *to, const struct fab_packet *p)
{
	to->from = p->from;
	to->dlid = p->dlid;
	to->opcode = p->opcode;
	to->spoiled = p->spoiled;
	to->len = p->len;
	memcpy(to->bytes, p->bytes, p->len);
}

int topo_pool(struct topo *t)
{
	u32 n = 1;

	/* both directions, a doubled packet for each, and those that have not set out */
	for (u32 i = 0; i < t->nlinks; i++)
		n += 2 * (t->link[i]->l.queue + 1);
	for (u32 i = 0; i < t->nends; i++)
		n += t->end[i]->out->link->l.queue;
	t->pool = calloc(n, sizeof(*t->pool));
	if (!t->pool)
		return -ENOMEM;
	t->npool = n;
	for (u32 i = 0; i < n; i++)
		list_add_tail(&t->pool[i].link, &t->free);
	return 0;
}

void topo_forget(struct topo *t, const struct fab_port *port)
{
	for (u32 i = 0; i < t->npool; i++)
		if (t->pool[i].from == port)
			t->pool[i].from = NULL;
}

bool pipe_open(const struct fab_pipe *p)
{
	const struct topo_end *end = p->from_end ? p->from_end : p->to_end;

	if (end)
		return end->port && end->port->ib.state == PORT_ACTIVE;
	return p->link->up && !p->link->flap_until;
}

/* ------------------------------------------------------------------------
 * Ends of links
 */

/* Something could set out: at that time, or when the packet before it has. */
static void kick(struct fab_pipe *p, u64 at)
{
	u64 due = MAX(at, p->free_at);

	if (due < p->go.due)
		timer_set(&p->topo->timers, &p->go, due);
}

/* Where the tables of a switch send a packet. */
static struct port_mask look_up(const struct fab_switch *sw, const struct fab_pipe *in, u16 dlid)
{
	struct port_mask m = { 0 };

	if (lid_is_mcast(dlid)) {
		m = sw->multicast[dlid - MLID_FIRST];
		port_mask_clear(&m, in->in_no + 1);
	} else if (dlid <= LID_LAST && switch_out(sw, sw->linear[dlid])) {
		port_mask_set(&m, sw->linear[dlid]);
	}
	return m;
}

/* Ports by which a packet leaves a switch: those that it is sent to, and whose links are up. */
static struct port_mask ports_of(struct fab_pipe *in, const struct fab_packet *p)
{
	struct fab_switch *sw = in->to;
	struct port_mask m = look_up(sw, in, p->dlid);
	u32 port;

	if (port_mask_empty(&m))
		sw->no_way++;
	port_mask_for_each(port, &m) {
		struct fab_pipe *out = switch_out(sw, port);

		if (out && pipe_open(out))
			continue;
		port_mask_clear(&m, port);
		if (out)
			out->count.discards++;
	}
	return m;
}

/* Finds out where the first of those that have arrived goes; it may go nowhere. */
static void look_at_first(struct fab_pipe *in, u64 now)
{
	struct fab_switch *sw = in->to;
	struct fab_packet *p;
	u32 port;

	while ((p = first_of(&in->arrived))) {
		p->out = ports_of(in, p);
		if (!port_mask_empty(&p->out))
			break;
		list_del_init(&p->link);
		lose(in->topo, p);
		in->used--;
		kick(in, now);
	}
	timer_stop(&in->hoq);
	if (!p)
		return;
	if (sw->lifetime)
		timer_set(&in->topo->timers, &in->hoq, now + sw->lifetime);
	port_mask_for_each(port, &p->out)
		kick(switch_out(sw, port), now);
}

/* The first of those that have arrived has gone on: there is room again. */
static void first_left(struct fab_pipe *in, struct fab_packet *p, u64 now)
{
	list_del_init(&p->link);
	in->used--;
	kick(in, now);
	look_at_first(in, now);
}

static void on_hoq(struct timer *timer)
{
	struct fab_pipe *in = container_of(timer, struct fab_pipe, hoq);
	struct fab_packet *p = first_of(&in->arrived);
	u32 port;

	port_mask_for_each(port, &p->out)
		switch_out(in->to, port)->count.discards++;
	first_left(in, p, in->topo->now);
	lose(in->topo, p);
}

/* ------------------------------------------------------------------------
 * Setting out
 */

/* Whose packet goes next, of those that arrive at a switch and of which one goes this way. */
static struct fab_pipe *whose_turn(struct fab_pipe *p)
{
	struct fab_switch *sw = p->from;

	for (u32 i = 1; i <= sw->nports; i++) {
		struct fab_pipe *in = sw->in[(p->turn + i) % sw->nports];
		struct fab_packet *head = first_of(&in->arrived);

		if (head && port_mask_test(&head->out, p->out_no + 1))
			return in;
	}
	return NULL;
}

static void occupy(struct fab_pipe *p, u32 len, u64 now)
{
	u64 ps = (u64)len * 8 * 1000000000 / p->link->kbps;

	if (p->free_at < now) {
		p->free_at = now;
		p->frac = 0;
	}
	ps += p->frac;
	p->free_at += ps / PS;
	p->frac = ps % PS;
}

static void fly(struct fab_pipe *p, struct fab_packet *packet, u64 due)
{
	struct list_head *at = p->flight.prev;

	packet->due = due;
	while (at != &p->flight && container_of(at, struct fab_packet, link)->due > due)
		at = at->prev;
	list_add_tail(&packet->link, at->next);
	p->used++;
	if (due < p->land.due)
		timer_set(&p->topo->timers, &p->land, due);
}

/* What the faults that are armed do to a packet on this link. */
static void meet_faults(struct fab_pipe *p, const struct fab_packet *packet,
			struct fab_effect *effect)
{
	struct fabric *f = p->topo->fabric;
	const struct fab_crossing c = {
		.from = p->from_end ? p->from_end->port : NULL,
		.to = p->to_end ? p->to_end->port : NULL,
		.between = p->from && p->to ? p->link : NULL,
		.back = p != p->link->pipe,
		.held = &p->held,
	};

	if (f->nfaults)
		fab_faults_meet(f, &c, packet->opcode, effect);
	if (effect->cut_until)
		fab_link_flap(p->link, effect->cut_until);
}

static u64 held_until(const struct fab_pipe *p)
{
	if (p->from_end)
		return MAX(p->held, p->from_end->port->out_held);
	return p->to_end ? MAX(p->held, p->to_end->port->in_held) : p->held;
}

/* A packet sets out; it belongs to this link now. */
static void set_out(struct fab_pipe *p, struct fab_packet *packet, u64 now)
{
	struct fab_effect effect = { .copies = 1 };
	struct fab_packet *copy = NULL;
	u64 due;

	occupy(p, packet->len, now);
	p->count.packets++;
	p->count.bytes += packet->len;
	if (p->blocked) {
		p->count.wait += now - p->blocked;
		p->blocked = 0;
	}
	kick(p, p->free_at);
	meet_faults(p, packet, &effect);
	/* a fault may have taken the link down */
	if (!effect.copies || !pipe_open(p)) {
		p->count.lost++;
		lose(p->topo, packet);
		return;
	}
	if (effect.corrupt) {
		packet->bytes[effect.bit / 8 % packet->len] ^= 1 << effect.bit % 8;
		packet->spoiled = true;
	}
	due = p->free_at + p->link->l.latency + effect.delay;
	if (!effect.overtaken) {
		due = MAX(due, held_until(p));
		due = MAX(due, p->last);
		p->last = due;
	}
	if (effect.copies > 1)
		copy = take(p->topo);
	if (copy) {
		packet_copy(copy, packet);
		fly(p, copy, due + effect.apart);
	}
	fly(p, packet, due);
}

static void set_out_from_end(struct fab_pipe *p, u64 now)
{
	struct topo_end *end = p->from_end;
	struct fab_packet *packet = first_of(&end->send);

	if (packet->due > now) {
		kick(p, packet->due);
		return;
	}
	list_del_init(&packet->link);
	end->nsend--;
	set_out(p, packet, now);
}

static void set_out_from_switch(struct fab_pipe *p, struct fab_pipe *in, u64 now)
{
	struct fab_packet *packet = first_of(&in->arrived);

	p->turn = in->in_no;
	port_mask_clear(&packet->out, p->out_no + 1);
	if (!port_mask_empty(&packet->out)) {
		struct fab_packet *copy = take(p->topo);

		packet_copy(copy, packet);
		packet = copy;
	} else {
		first_left(in, packet, now);
	}
	set_out(p, packet, now);
}

static void on_go(struct timer *timer)
{
	struct fab_pipe *p = container_of(timer, struct fab_pipe, go), *in = NULL;
	u64 now = p->topo->now;

	/* somebody came between its last packet and the end of that */
	if (p->free_at > now) {
		kick(p, now);
		return;
	}
	if (p->from)
		in = whose_turn(p);
	if (p->from ? !in : !p->from_end->nsend)
		return;
	if (p->used >= p->link->l.queue) {
		if (!p->blocked)
			p->blocked = now;
		return;
	}
	if (in)
		set_out_from_switch(p, in, now);
	else
		set_out_from_end(p, now);
}

/* ------------------------------------------------------------------------
 * Arriving
 */
static void arrive_at_switch(struct fab_pipe *p, struct fab_packet *packet)
{
	u64 now = p->topo->now;

	if (packet->spoiled) {
		p->count.bad++;
		p->used--;
		lose(p->topo, packet);
		kick(p, now);
		return;
	}
	list_add_tail(&packet->link, &p->arrived);
	if (first_of(&p->arrived) == packet)
		look_at_first(p, now);
}

static void arrive_at_end(struct fab_pipe *p, struct fab_packet *packet)
{
	struct topo *t = p->topo;
	u32 bytes;

	p->used--;
	kick(p, t->now);
	packet->at = 0;
	/* a multicast to many counts as many packets */
	do {
		bytes = COPY_COST + WIRE_MAX_MTU;
		t->landed++;
	} while (!fab_deliver(p->to_end->port, packet, &bytes));
	give_back(t, packet);
}

static void on_land(struct timer *timer)
{
	struct fab_pipe *p = container_of(timer, struct fab_pipe, land);
	struct fab_packet *packet = first_of(&p->flight);

	list_del_init(&packet->link);
	if (!list_empty(&p->flight))
		timer_set(&p->topo->timers, &p->land, first_of(&p->flight)->due);
	if (p->to)
		arrive_at_switch(p, packet);
	else
		arrive_at_end(p, packet);
}

/* ------------------------------------------------------------------------
 * From outside
 */
int pipe_init(struct fab_pipe *p)
{
	struct timers *ts = &p->topo->timers;

	INIT_LIST_HEAD(&p->flight);
	INIT_LIST_HEAD(&p->arrived);
	if (timer_init(ts, &p->go, on_go) || timer_init(ts, &p->land, on_land) ||
	    timer_init(ts, &p->hoq, on_hoq))
		return -ENOMEM;
	return 0;
}

static void lose_flight(struct fab_pipe *p)
{
	struct list_head *l;

	while ((l = list_pop(&p->flight))) {
		lose(p->topo, container_of(l, struct fab_packet, link));
		p->count.lost++;
		p->used--;
	}
	timer_stop(&p->land);
	p->last = 0;
	p->held = 0;
	p->blocked = 0;
}

static void lose_unsent(struct fab_pipe *p)
{
	struct topo_end *end = p->from_end;
	struct list_head *l;

	while ((l = list_pop(&end->send))) {
		lose(p->topo, container_of(l, struct fab_packet, link));
		p->count.discards++;
	}
	end->nsend = 0;
}

/* Those that wait at a switch to go this way do so no more. */
static void lose_waiting(struct fab_pipe *p, u64 now)
{
	for (u32 i = 0; i < p->from->nports; i++) {
		struct fab_pipe *in = p->from->in[i];
		struct fab_packet *head = first_of(&in->arrived);

		if (!head || !port_mask_test(&head->out, p->out_no + 1))
			continue;
		p->count.discards++;
		port_mask_clear(&head->out, p->out_no + 1);
		if (!port_mask_empty(&head->out))
			continue;
		first_left(in, head, now);
		lose(p->topo, head);
	}
}

void link_cut(struct fab_link *l)
{
	struct topo *t = l->pipe->topo;
	u64 now = MAX(t->now, t->fabric->now);

	for (u32 i = 0; i < 2; i++)
		lose_flight(&l->pipe[i]);
	for (u32 i = 0; i < 2; i++) {
		if (l->pipe[i].from_end)
			lose_unsent(&l->pipe[i]);
		else
			lose_waiting(&l->pipe[i], now);
	}
}

static void on_rise(struct timer *timer)
{
	container_of(timer, struct fab_link, rise)->flap_until = 0;
}

int link_init_timer(struct fab_link *l)
{
	return timer_init(&l->pipe->topo->timers, &l->rise, on_rise);
}

void fab_link_flap(struct fab_link *l, u64 until)
{
	l->flap_until = MAX(l->flap_until, until);
	timer_set(&l->pipe->topo->timers, &l->rise, l->flap_until);
	link_cut(l);
}

void topo_port_down(struct fab_port *port)
{
	link_cut(port->end->out->link);
}

u32 topo_room(const struct fab_port *port)
{
	const struct topo_end *end = port->end;

	return pipe_open(end->out) ? end->out->link->l.queue - end->nsend : UINT32_MAX;
}

static bool queue_one(struct topo_end *end, const struct run *run, u32 i, u64 now)
{
	struct topo *t = end->out->topo;
	struct fab_packet *p = take(t);
	struct wire_hdr h;

	p->len = run_pkt_bytes(run, i, p->bytes);
	if (!p->len) {
		give_back(t, p);
		return false;
	}
	run_pkt_hdr(run, i, &h);
	p->from = end->port;
	p->dlid = h.dlid;
	p->opcode = h.opcode;
	p->spoiled = false;
	p->due = now;
	list_add_tail(&p->link, &end->send);
	end->nsend++;
	return true;
}

void topo_send(struct fab_port *port, const struct run *run)
{
	struct topo_end *end = port->end;
	u64 now = port->fabric->now;

	for (u32 i = 0; i < run->npkts; i++) {
		if (end->nsend == end->out->link->l.queue) {
			port->ib.drops += run->npkts - i;
			break;
		}
		if (!queue_one(end, run, i, now))
			break;
	}
	kick(end->out, now);
}

u64 topo_next(struct topo *t)
{
	return timers_next(&t->timers);
}

u32 topo_run(struct topo *t, u64 now, u32 most)
{
	u64 next, start = t->landed;
	u32 did = 0;

	while ((next = timers_next(&t->timers)) <= now && t->landed - start < most) {
		t->now = MAX(t->now, next);
		t->fabric->now = t->now;
		timers_run(&t->timers, t->now, UINT32_MAX);
		did++;
	}
	t->fabric->now = now;
	return did;
}
