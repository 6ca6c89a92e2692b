// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets on links and in switches.
 *
 * Each event has its own time, and events happen in order of these times, also when the engine is
 * late: the next event of a packet counts from when the last one should have happened.  Functions
 * here do not call each other for the next event; code that makes one possible sets a timer for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pipe.h"

#define PS		1000u		/* of a ns */
#define VL15_QUEUE	256u		/* packets that wait to be sent */
#define STEPS		16u		/* events in one go, for each packet that may arrive */

/* ------------------------------------------------------------------------
 * Ends of links
 */

/*
 * Schedules the next packet: for that time, or when the packet before it has left.  A switch's own
 * packets do not wait for room.
 */
static void kick(struct fab_pipe *p, u64 at)
{
	u64 due = MAX(at, p->free_at);

	if (p->link && due < p->go.due)
		timer_set(&p->topo->timers, &p->go, due);
}

/* Looks up by which ports the first packet that has arrived on a lane leaves, if any. */
static void look_at_first(struct pipe_lane *lane, u64 now)
{
	struct fab_pipe *in = lane->pipe;
	struct fab_switch *sw = in->to;
	struct fab_packet *p;
	u64 life;
	u32 port;

	while ((p = first_of(&lane->arrived))) {
		bool own = switch_has_lid(sw, p->dlid);

		p->out = own ? (struct port_mask){ 0 } : forward_ports(in, p);
		if (!port_mask_empty(&p->out))
			break;
		list_del_init(&p->link);
		if (own) {
			sw->fabric->mad_ops->to_agents(sw, in->in_no + 1, p);
			topo_give_back(in->topo, p);
		} else {
			topo_lose(in->topo, p);
		}
		lane->used--;
		kick(in, now);
	}
	timer_stop(&lane->hoq);
	if (!p) {
		in->busy &= ~(1u << (lane - in->lane));
		return;
	}
	life = forward_lifetime(sw, &p->out);
	if (life)
		timer_set(&in->topo->timers, &lane->hoq, now + life);
	port_mask_for_each(port, &p->out)
		kick(switch_out(sw, port), now);
}

static void queue_at_switch(struct pipe_lane *lane, struct fab_packet *p, u64 now)
{
	list_add_tail(&p->link, &lane->arrived);
	lane->pipe->busy |= 1u << (lane - lane->pipe->lane);
	if (first_of(&lane->arrived) == p)
		look_at_first(lane, now);
}

/* The first packet that had arrived on a lane has been forwarded: there is room again. */
static void first_left(struct pipe_lane *lane, struct fab_packet *p, u64 now)
{
	list_del_init(&p->link);
	lane->used--;
	kick(lane->pipe, now);
	look_at_first(lane, now);
}

static void on_hoq(struct timer *timer)
{
	struct pipe_lane *lane = container_of(timer, struct pipe_lane, hoq);
	struct fab_packet *p = first_of(&lane->arrived);
	struct fab_pipe *in = lane->pipe;
	u32 port;

	port_mask_for_each(port, &p->out)
		switch_out(in->to, port)->count.discards++;
	first_left(lane, p, in->topo->now);
	topo_lose(in->topo, p);
}

/* ------------------------------------------------------------------------
 * Sending
 */

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
	packet->at = 0;
	while (at != &p->flight && container_of(at, struct fab_packet, link)->due > due)
		at = at->prev;
	list_add_tail(&packet->link, at->next);
	if (!packet->vl15)
		p->lane[packet->vl].used++;
	if (due < p->land.due)
		timer_set(&p->topo->timers, &p->land, due);
}

/* Applies the armed faults to a packet on this link. */
static void meet_faults(struct fab_pipe *p, const struct fab_packet *packet,
			struct fab_effect *effect)
{
	struct fabric *f = p->topo->fabric;
	struct fab_crossing c = {
		.from = p->from_end ? p->from_end->port : NULL,
		.to = p->to_end ? p->to_end->port : NULL,
		.between = link_is_between(p->link) ? p->link : NULL,
		.back = p != p->link->pipe,
		.held = &p->held,
	};

	if (f->nfaults) {
		if (p->topo->ethernet)
			crossing_frame(&c, packet->bytes, packet->len);
		else
			crossing_packet(&c, packet->bytes, packet->len);
		fab_faults_meet(f, &c, effect);
	}
	if (effect->cut_until)
		fab_link_flap(p->link, effect->cut_until);
}

static u64 held_until(const struct fab_pipe *p)
{
	if (p->from_end)
		return MAX(p->held, p->from_end->port->out_held);
	return p->to_end ? MAX(p->held, p->to_end->port->in_held) : p->held;
}

/* A packet starts on a link, which owns it now. */
static void set_out(struct fab_pipe *p, struct fab_packet *packet, u64 now)
{
	struct fab_effect effect = { .copies = 1 };
	struct fab_packet *copy = NULL;
	u64 due;

	occupy(p, packet->len, now);
	p->count.packets++;
	p->count.bytes += packet->len;
	p->count.mcast += lid_is_mcast(packet->dlid);
	if (!packet->vl15)
		lane_sent(p, packet->len);
	if (p->blocked && !packet->vl15) {
		p->count.wait += now - p->blocked;
		p->blocked = 0;
	}
	kick(p, p->free_at);
	meet_faults(p, packet, &effect);
	/* a fault may have taken the link down */
	if (!effect.copies || !(packet->vl15 ? port_link_is_up(p->near) : pipe_open(p))) {
		p->count.lost++;
		topo_lose(p->topo, packet);
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
		copy = topo_copy(p->topo, packet);
	if (copy)
		fly(p, copy, due + effect.apart);
	fly(p, packet, due);
}

static void set_out_from_end(struct fab_pipe *p, u32 vl, u64 now)
{
	struct fab_packet *packet = first_of(&p->from_end->send[vl]);

	list_del_init(&packet->link);
	p->from_end->nsend--;
	packet->vl = vl;
	set_out(p, packet, now);
}

static void set_out_vl15(struct fab_pipe *p, u64 now)
{
	struct fab_packet *packet = first_of(&p->vl15);

	list_del_init(&packet->link);
	p->nvl15--;
	set_out(p, packet, now);
}

static void set_out_from_switch(struct fab_pipe *p, u32 vl, u64 now)
{
	struct pipe_lane *lane = lane_next(p, vl);
	struct fab_packet *packet = first_of(&lane->arrived);

	port_mask_clear(&packet->out, p->out_no + 1);
	if (!port_mask_empty(&packet->out)) {
		packet = topo_copy(p->topo, packet);
		if (!packet) {
			p->count.discards++;
			kick(p, now);
			return;
		}
	} else {
		first_left(lane, packet, now);
	}
	packet->vl = vl;
	set_out(p, packet, now);
}

/*
 * After a delay of the engine it runs for a past time, at which an adapter's packets are not due
 * yet.
 */
static void wait_for_due(struct fab_pipe *p)
{
	for (u32 vl = 0; p->from_end && vl < PORT_VLS; vl++)
		if (!list_empty(&p->from_end->send[vl]))
			kick(p, first_of(&p->from_end->send[vl])->due);
}

static void on_go(struct timer *timer)
{
	struct fab_pipe *p = container_of(timer, struct fab_pipe, go);
	u32 waiting, vl;
	u64 now = p->topo->now;

	/* the timer was set before the packet that is being sent had started */
	if (p->free_at > now) {
		kick(p, now);
		return;
	}
	if (p->nvl15) {
		set_out_vl15(p, now);
		return;
	}
	waiting = lanes_waiting(p, now);
	if (!waiting) {
		wait_for_due(p);
		return;
	}
	vl = lane_choose(p, waiting);
	if (vl == NO_VL) {
		if (!p->blocked)
			p->blocked = now;
		return;
	}
	if (p->from)
		set_out_from_switch(p, vl, now);
	else
		set_out_from_end(p, vl, now);
}

/* ------------------------------------------------------------------------
 * Arriving
 */
static void arrive_at_switch(struct fab_pipe *p, struct fab_packet *packet)
{
	u64 now = p->topo->now;
	bool round;

	port_got_data(p->far);
	round = !packet->spoiled && goes_round(packet);
	if (packet->spoiled || round || !switch_lets_in(p->to, p->in_no + 1, packet)) {
		p->count.bad += packet->spoiled;
		p->count.discards += round;
		p->lane[packet->vl].used--;
		topo_lose(p->topo, packet);
		kick(p, now);
		return;
	}
	queue_at_switch(&p->lane[packet->vl], packet, now);
}

/*
 * A multicast to many receivers counts as many packets.  It stays the first of @flight until all
 * have got it, which may take several passes of the engine.
 */
static void arrive_at_end(struct fab_pipe *p, struct fab_packet *packet)
{
	u32 bytes = COPY_COST + WIRE_MAX_MTU;
	struct topo *t = p->topo;

	if (!packet->at) {
		p->lane[packet->vl].used--;
		kick(p, t->now);
		port_got_data(p->far);
	}
	t->landed++;
	if (fab_deliver(p->to_end->port, packet, &bytes)) {
		topo_give_back(t, packet);
		return;
	}
	list_add_tail(&packet->link, p->flight.next);
	timer_set(&t->timers, &p->land, packet->due);
}

static void vl15_arrives(struct fab_pipe *p, struct fab_packet *packet)
{
	const struct fab_mad_ops *ops = p->topo->fabric->mad_ops;

	p->topo->landed++;
	if (p->to)
		ops->at_switch(p->to, p->in_no + 1, packet);
	else
		ops->at_port(p->to_end->port, packet);
}

static void on_land(struct timer *timer)
{
	struct fab_pipe *p = container_of(timer, struct fab_pipe, land);
	struct fab_packet *packet = first_of(&p->flight);

	list_del_init(&packet->link);
	if (!list_empty(&p->flight))
		timer_set(&p->topo->timers, &p->land, first_of(&p->flight)->due);
	if (!packet->at) {
		p->count.arrived++;
		p->count.arrived_bytes += packet->len;
		p->count.arrived_mcast += lid_is_mcast(packet->dlid);
	}
	if (packet->vl15)
		vl15_arrives(p, packet);
	else if (p->to)
		arrive_at_switch(p, packet);
	else
		arrive_at_end(p, packet);
}

/* ------------------------------------------------------------------------
 * Calls from other files
 */
int pipe_init(struct fab_pipe *p)
{
	struct timers *ts = &p->topo->timers;

	INIT_LIST_HEAD(&p->vl15);
	INIT_LIST_HEAD(&p->flight);
	if (timer_init(ts, &p->go, on_go) || timer_init(ts, &p->land, on_land))
		return -ENOMEM;
	for (u32 vl = 0; vl < PORT_VLS; vl++) {
		struct pipe_lane *lane = &p->lane[vl];

		lane->pipe = p;
		INIT_LIST_HEAD(&lane->arrived);
		if (timer_init(ts, &lane->hoq, on_hoq))
			return -ENOMEM;
	}
	return 0;
}

static void lose_flight(struct fab_pipe *p)
{
	struct list_head *l;

	while ((l = list_pop(&p->flight))) {
		struct fab_packet *packet = container_of(l, struct fab_packet, link);

		/* receivers at that end which have not got it yet lose it, too */
		if (!packet->vl15 && !packet->at)
			p->lane[packet->vl].used--;
		topo_lose(p->topo, packet);
		p->count.lost++;
	}
	while ((l = list_pop(&p->vl15))) {
		topo_lose(p->topo, container_of(l, struct fab_packet, link));
		p->count.discards++;
	}
	p->nvl15 = 0;
	timer_stop(&p->land);
	p->last = 0;
	p->held = 0;
	p->blocked = 0;
}

static void lose_unsent(struct fab_pipe *p)
{
	struct topo_end *end = p->from_end;
	struct list_head *l;

	for (u32 vl = 0; vl < PORT_VLS; vl++) {
		while ((l = list_pop(&end->send[vl]))) {
			topo_lose(p->topo, container_of(l, struct fab_packet, link));
			p->count.discards++;
		}
	}
	end->nsend = 0;
}

/* Drops the first packet of a lane for this link, if it waits at the switch to take it. */
static void lose_first(struct fab_pipe *p, struct pipe_lane *lane, u64 now)
{
	struct fab_packet *head = first_of(&lane->arrived);

	if (!head || !port_mask_test(&head->out, p->out_no + 1))
		return;
	p->count.discards++;
	port_mask_clear(&head->out, p->out_no + 1);
	if (!port_mask_empty(&head->out))
		return;
	first_left(lane, head, now);
	topo_lose(p->topo, head);
}

static void lose_waiting(struct fab_pipe *p, u64 now)
{
	for (u32 i = 0; i <= p->from->nports; i++)
		for (u32 vl = 0; vl < PORT_VLS; vl++)
			lose_first(p, &switch_in(p->from, i)->lane[vl], now);
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
	struct fab_link *l = container_of(timer, struct fab_link, rise);

	l->flap_until = 0;
	port_hold_down(l->pipe->near, 0);
}

int link_init_timer(struct fab_link *l)
{
	return timer_init(&l->pipe->topo->timers, &l->rise, on_rise);
}

void fab_link_flap(struct fab_link *l, u64 until)
{
	l->flap_until = MAX(l->flap_until, until);
	timer_set(&l->pipe->topo->timers, &l->rise, l->flap_until);
	port_hold_down(l->pipe->near, l->flap_until);
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

static bool queue_one(struct topo_end *end, const struct run *run, u32 i, u16 dlid, u64 now)
{
	struct topo *t = end->out->topo;
	struct fab_packet *p = topo_take(t);
	struct wire_hdr h;

	if (!p) {
		end->out->count.discards++;
		end->port->ib.drops++;
		return true;
	}
	p->len = run_pkt_bytes(run, i, p->bytes);
	if (!p->len) {
		topo_give_back(t, p);
		return false;
	}
	run_pkt_hdr(run, i, &h);
	p->from = end->port;
	p->dlid = dlid;
	p->pkey = h.pkey;
	p->opcode = h.opcode;
	p->spoiled = false;
	p->hops = 0;
	p->due = now;
	p->sl = h.sl;
	if (lane_drops(end->out, NULL, p)) {
		end->out->count.discards++;
		topo_lose(t, p);
		return true;
	}
	list_add_tail(&p->link, &end->send[lane_of(end->out, NULL, p)]);
	end->nsend++;
	return true;
}

void topo_send(struct fab_port *port, const struct run *run, u16 dlid)
{
	struct topo_end *end = port->end;
	u64 now = port->fabric->now;

	for (u32 i = 0; i < run->npkts; i++) {
		if (end->nsend == end->out->link->l.queue) {
			port->ib.drops += run->npkts - i;
			break;
		}
		if (!queue_one(end, run, i, dlid, now))
			break;
	}
	kick(end->out, now);
}

static void send_vl15(struct fab_pipe *p, struct fab_packet *packet)
{
	if (p->nvl15 == VL15_QUEUE) {
		p->count.vl15_dropped++;
		topo_lose(p->topo, packet);
		return;
	}
	list_add_tail(&packet->link, &p->vl15);
	p->nvl15++;
	kick(p, MAX(p->topo->now, p->topo->fabric->now));
}

void topo_send_mad(struct fab_port *port, struct fab_packet *p)
{
	send_vl15(port->end->out, p);
}

void topo_switch_mad(struct fab_switch *sw, u32 port, struct fab_packet *p)
{
	send_vl15(sw->out[port - 1], p);
}

void topo_switch_data(struct fab_switch *sw, struct fab_packet *p)
{
	struct fab_pipe *own = sw->own;

	own->lane->used++;
	queue_at_switch(own->lane, p, MAX(own->topo->now, own->topo->fabric->now));
}

u64 topo_next(struct topo *t)
{
	return timers_next(&t->timers);
}

u32 topo_run(struct topo *t, u64 now, u32 most)
{
	u64 next, start = t->landed, steps = (u64)most * STEPS;
	u32 did = 0;

	/* the rest is late, and happens in its order in the next pass */
	while ((next = timers_next(&t->timers)) <= now && t->landed - start < most && did < steps) {
		t->now = MAX(t->now, next);
		t->fabric->now = t->now;
		timers_run(&t->timers, t->now, 1);
		did++;
	}
	t->fabric->now = now;
	return did;
}
