// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A topology: its description, its state and changes to it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/eth_internal.h"
#include "fabric/pipe.h"

struct topo *topo_new(bool ethernet)
{
	struct topo *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	INIT_LIST_HEAD(&t->free);
	t->ethernet = ethernet;
	return t;
}

static void switch_free_own(struct fab_switch *sw)
{
	free(sw->own);
	switch_free(sw);
}

void topo_free(struct topo *t)
{
	if (!t)
		return;
	if (t->fabric)
		topo_end_mads(t);
	for (u32 i = 0; i < t->nlinks; i++)
		free(t->link[i]);
	for (u32 i = 0; i < t->nends; i++)
		free(t->end[i]);
	for (u32 i = 0; i < t->nsw; i++)
		switch_free_own(t->sw[i]);
	free(t->by_hand);
	timers_free(&t->timers);
	free(t->pool);
	free(t);
}

/* ------------------------------------------------------------------------
 * Description
 */
static struct fab_switch *find_switch(const struct topo *t, const char *name)
{
	for (u32 i = 0; i < t->nsw; i++)
		if (!strcmp(t->sw[i]->name, name))
			return t->sw[i];
	return NULL;
}

static struct fab_link *find_link(const struct topo *t, const char *name)
{
	for (u32 i = 0; i < t->nlinks; i++)
		if (!strcmp(t->link[i]->l.name, name))
			return t->link[i];
	return NULL;
}

static struct topo_end *find_end(const struct topo *t, const char *name)
{
	for (u32 i = 0; i < t->nends; i++)
		if (!strcmp(t->end[i]->name, name))
			return t->end[i];
	return NULL;
}

bool topo_has_switch(const struct topo *t, const char *name)
{
	return find_switch(t, name);
}

bool topo_has_link(const struct topo *t, const char *name)
{
	return find_link(t, name);
}

bool topo_has_end(const struct topo *t, const char *name)
{
	return find_end(t, name);
}

const char *topo_switch(struct topo *t, const char *name, u32 hoq_life)
{
	struct fab_switch *sw;

	if (t->nsw == TOPO_MAX_SWITCHES)
		return "more than 64 switches";
	if (find_switch(t, name))
		return "another switch has this name";
	if (hoq_life > TOPO_HOQ_MOST)
		return "hoq_life is 0 to 31";
	sw = calloc(1, sizeof(*sw));
	if (!sw)
		return "no memory";
	snprintf(sw->name, sizeof(sw->name), "%s", name);
	sw->no = t->nsw;
	sw->hoq_life = hoq_life;
	sw->guid = SWITCH_GUIDS + ((t->nsw + 1ull) << 8);
	t->sw[t->nsw++] = sw;
	return NULL;
}

const char *topo_switch_guid(struct topo *t, u64 guid)
{
	if (!guid)
		return "0 is no GUID";
	for (u32 i = 0; i < t->nsw; i++)
		if (t->sw[i]->guid == guid)
			return "another switch has this GUID";
	t->sw[t->nsw - 1]->guid = guid;
	return NULL;
}

static void join_switch(struct fab_switch *sw, struct fab_pipe *out, struct fab_pipe *in)
{
	out->from = sw;
	out->out_no = sw->nports;
	in->to = sw;
	in->in_no = sw->nports;
	sw->out[sw->nports] = out;
	sw->in[sw->nports++] = in;
}

static void join_end(struct topo *t, struct topo_end *end, const char *name, struct fab_pipe *out,
		     struct fab_pipe *in)
{
	snprintf(end->name, sizeof(end->name), "%s", name);
	for (u32 vl = 0; vl < PORT_VLS; vl++)
		INIT_LIST_HEAD(&end->send[vl]);
	end->no = t->nends;
	end->out = out;
	end->sw = out->to;
	out->from_end = end;
	in->to_end = end;
	port_mask_set(&end->sw->adapters, out->in_no + 1);
	t->end[t->nends++] = end;
}

static const char *link_wrong(const struct topo *t, const struct topo_link *l,
			      struct fab_switch *sw[2])
{
	for (u32 i = 0; i < 2; i++)
		sw[i] = find_switch(t, l->end[i]);
	if (t->nlinks == TOPO_MAX_LINKS)
		return "more than 1024 links";
	if (find_link(t, l->name))
		return "another link has this name";
	if (!sw[0] && !sw[1])
		return "neither of its ends is a switch";
	if (sw[0] == sw[1])
		return "both ends are one switch";
	for (u32 i = 0; i < 2; i++) {
		if (sw[i] && sw[i]->nports == TOPO_SWITCH_PORTS)
			return "a switch has 254 ports, and all are taken";
		if (!sw[i] && find_end(t, l->end[i]))
			return "this port of an adapter has a link already";
	}
	if (l->latency > TOPO_MAX_LATENCY)
		return "latency is at most 1000000000 ns";
	if (!l->queue || l->queue > TOPO_MAX_QUEUE)
		return "queue is 1 to 1024 packets";
	return NULL;
}

const char *topo_link(struct topo *t, const struct topo_link *l)
{
	struct fab_switch *sw[2];
	const char *why = link_wrong(t, l, sw);
	struct topo_end *end = NULL;
	struct fab_link *link;

	if (why)
		return why;
	link = calloc(1, sizeof(*link));
	if (!sw[0] || !sw[1])
		end = calloc(1, sizeof(*end));
	if (!link || (!end && (!sw[0] || !sw[1]))) {
		free(end);
		free(link);
		return "no memory";
	}
	link->l = *l;
	link->kbps = fab_rate_kbps(&l->rate);
	link->up = true;
	for (u32 i = 0; i < 2; i++) {
		link->pipe[i].link = link;
		link->pipe[i].topo = t;
		if (sw[i])
			join_switch(sw[i], &link->pipe[i], &link->pipe[!i]);
	}
	for (u32 i = 0; i < 2; i++)
		if (!sw[i])
			join_end(t, end, l->end[i], &link->pipe[i], &link->pipe[!i]);
	t->link[t->nlinks++] = link;
	return NULL;
}

const char *topo_route(struct topo *t, const char *name, const char *end, const char *link)
{
	const struct fab_switch *sw = find_switch(t, name);
	const struct topo_end *e = find_end(t, end);
	const struct fab_link *l = find_link(t, link);

	if (!e)
		return "no link leads to a port of this name";
	if (!l)
		return "no link has this name";
	if (!t->by_hand)
		t->by_hand = calloc(t->nsw, t->nends);
	if (!t->by_hand)
		return "no memory";
	for (u32 i = 0; i < 2; i++) {
		if (l->pipe[i].from != sw)
			continue;
		if (l->pipe[i].to_end && l->pipe[i].to_end != e)
			return "this link ends at another adapter";
		if (e->sw == sw && l->pipe[i].to_end != e)
			return "this port is at the switch itself";
		t->by_hand[sw->no * t->nends + e->no] = l->pipe[i].out_no + 1;
		return NULL;
	}
	return "this link is not one of the switch";
}

/* ---- ports of Ethernet switches ---- */

static void on_eth_state(struct port *ib, u8 old)
{
	const struct fab_switch_port *p = container_of(ib, struct fab_switch_port, ib);
	struct fab_pipe *out = p->sw->out[p - p->sw->port - 1];

	if (eth_goes_active(ib))
		return;
	/* packets that do not have to take this link find another route at once */
	if (out->to)
		out->topo->stale = true;
	if (ib->state == PORT_DOWN)
		link_cut(out->link);
}

static void on_eth_changed(struct port *ib, u32 what)
{
}

static const struct port_ops eth_switch_ops = {
	.state = on_eth_state, .changed = on_eth_changed,
};

/* Assigns the ends of links to the ports of a switch. */
static int finish_switch(struct topo *t, struct fab_switch *sw)
{
	if (switch_make_ports(sw))
		return -ENOMEM;
	sw->own = calloc(1, sizeof(*sw->own));
	if (!sw->own)
		return -ENOMEM;
	sw->own->topo = t;
	sw->own->to = sw;
	sw->own->in_no = -1;
	for (u32 i = 0; i < sw->nports; i++) {
		struct port *ib = &sw->port[i + 1].ib;

		if (t->ethernet)
			ib->ops = &eth_switch_ops;
		sw->out[i]->near = ib;
		sw->in[i]->far = ib;
		fab_rate_codes(&sw->out[i]->link->l.rate, &ib->speed);
	}
	return pipe_init(sw->own);
}

int topo_finish(struct topo *t)
{
	for (u32 i = 0; i < t->nsw; i++)
		if (finish_switch(t, t->sw[i]))
			return -ENOMEM;
	for (u32 i = 0; i < t->nlinks; i++)
		if (pipe_init(&t->link[i]->pipe[0]) || pipe_init(&t->link[i]->pipe[1]) ||
		    link_init_timer(t->link[i]))
			return -ENOMEM;
	return topo_pool(t);
}

bool topo_check(const struct topo *t, char *why, size_t room)
{
	u64 packets = 0;

	if (!t->nends) {
		snprintf(why, room, "no link leads to an adapter");
		return false;
	}
	for (u32 i = 0; i < t->nlinks; i++)
		packets += 2ull * t->link[i]->l.queue;
	if (packets > TOPO_MAX_PACKETS) {
		snprintf(why, room, "the queues of all links together hold %llu packets, of %u",
			 (unsigned long long)packets, TOPO_MAX_PACKETS);
		return false;
	}
	return true;
}

const char *topo_end(const struct topo *t, u32 n)
{
	return n < t->nends ? t->end[n]->name : NULL;
}

/* ------------------------------------------------------------------------
 * A fabric's topology
 */
void topo_join(struct topo *t, struct fabric *f)
{
	t->fabric = f;
	t->stale = t->ethernet;
	for (u32 i = 0; i < t->nsw; i++)
		t->sw[i]->fabric = f;
	for (u32 i = 0; i < t->nlinks; i++) {
		const struct fab_pipe *p = t->link[i]->pipe;

		if (p->near && p->far)
			port_connect(p->near, p->far);
	}
}

const struct topo *fab_topology(const struct fabric *f)
{
	return f->topo;
}

u32 fab_port_end(const struct fab_port *port)
{
	return port->end->no;
}

u32 topo_switches(const struct topo *t)
{
	return t->nsw;
}

const char *topo_switch_name(const struct topo *t, u32 sw)
{
	return t->sw[sw]->name;
}

u32 topo_end_switch(const struct topo *t, u32 end, u32 *port)
{
	*port = t->end[end]->out->in_no + 1;
	return t->end[end]->sw->no;
}

u32 topo_by_hand(const struct topo *t, u32 sw, u32 end)
{
	return t->by_hand ? t->by_hand[sw * t->nends + end] : 0;
}

bool topo_far(const struct topo *t, u32 sw, u32 port, struct topo_far *far)
{
	const struct fab_pipe *out = switch_out(t->sw[sw], port);

	if (!out)
		return false;
	far->is_switch = out->to;
	far->no = out->to ? out->to->no : out->to_end->no;
	far->port = out->to ? out->in_no + 1 : 0;
	far->open = out->to ? link_whole(out->link) : pipe_open(out);
	return true;
}

int topo_plug(struct fab_port *port, struct topo *t, const char *name)
{
	struct topo_end *end = find_end(t, name);

	if (!end || end->port)
		return -ENOENT;
	end->port = port;
	end->out->near = &port->ib;
	pipe_back(end->out)->far = &port->ib;
	port->end = end;
	port->at = end->out->in_no + 1;
	port->rate = end->out->link->l.rate;
	return 0;
}

void topo_unplug(struct fab_port *port)
{
	link_cut(port->end->out->link);
	topo_forget(port->end->out->topo, port);
	port->end->port = NULL;
	port->end->out->near = NULL;
	pipe_back(port->end->out)->far = NULL;
	port->end = NULL;
}
