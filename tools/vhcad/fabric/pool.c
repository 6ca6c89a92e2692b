// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocation of packets of a topology and of management packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pipe.h"

void mad_free(struct fabric *f, struct fab_packet *p)
{
	f->nmads--;
	free(p);
}

struct fab_packet *mad_take(struct fabric *f, u32 most)
{
	struct fab_packet *p = f->nmads < most ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	f->nmads++;
	p->mad = true;
	INIT_LIST_HEAD(&p->link);
	return p;
}

static void copy_to(struct fab_packet *to, const struct fab_packet *p)
{
	to->from = p->from;
	to->dlid = p->dlid;
	to->pkey = p->pkey;
	to->sl = p->sl;
	to->vl = p->vl;
	to->hops = p->hops;
	to->opcode = p->opcode;
	to->spoiled = p->spoiled;
	to->vl15 = p->vl15;
	to->sw = p->sw;
	to->port = p->port;
	to->len = p->len;
	memcpy(to->bytes, p->bytes, p->len);
}

struct fab_packet *mad_copy(struct fabric *f, const struct fab_packet *p)
{
	struct fab_packet *to = mad_take(f, FABRIC_MADS);

	if (to)
		copy_to(to, p);
	return to;
}

struct fab_packet *topo_take(struct topo *t)
{
	struct list_head *l = list_pop(&t->free);

	return l ? container_of(l, struct fab_packet, link) : NULL;
}

void topo_give_back(struct topo *t, struct fab_packet *p)
{
	if (p->mad) {
		mad_free(t->fabric, p);
		return;
	}
	/* the packet that was used last is used next, as it is in the caches */
	list_add_tail(&p->link, t->free.next);
}

void topo_lose(struct topo *t, struct fab_packet *p)
{
	if (p->from)
		p->from->ib.drops++;
	topo_give_back(t, p);
}

struct fab_packet *topo_copy(struct topo *t, const struct fab_packet *p)
{
	struct fab_packet *to = p->mad ? mad_take(t->fabric, FABRIC_MADS) : topo_take(t);

	if (to)
		copy_to(to, p);
	return to;
}

int topo_pool(struct topo *t)
{
	u32 n = 1;

	/*
	 * Both directions, a duplicate for each, and packets that are not sent yet.  If each VL has
	 * a duplicate, none may be left: then a packet is lost.
	 */
	for (u32 i = 0; i < t->nlinks; i++)
		n += 2 * (MAX(t->link[i]->l.queue, PORT_VLS) + 1);
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

static void end_mads(struct fabric *f, struct list_head *list)
{
	struct list_head *l;

	while ((l = list_pop(list))) {
		struct fab_packet *p = container_of(l, struct fab_packet, link);

		if (p->mad)
			mad_free(f, p);
	}
}

static void pipe_end_mads(struct fabric *f, struct fab_pipe *p)
{
	end_mads(f, &p->vl15);
	end_mads(f, &p->flight);
	for (u32 vl = 0; vl < PORT_VLS; vl++)
		end_mads(f, &p->lane[vl].arrived);
}

void topo_end_mads(struct topo *t)
{
	for (u32 i = 0; i < 2 * t->nlinks; i++)
		pipe_end_mads(t->fabric, &t->link[i / 2]->pipe[i % 2]);
	for (u32 i = 0; i < t->nsw; i++)
		pipe_end_mads(t->fabric, t->sw[i]->own);
}

static void forget_all(struct list_head *list, const struct fab_port *port)
{
	list_for_each_safe(l, list) {
		struct fab_packet *p = container_of(l, struct fab_packet, link);

		if (p->from == port)
			p->from = NULL;
	}
}

static void pipe_forget(struct fab_pipe *p, const struct fab_port *port)
{
	forget_all(&p->vl15, port);
	forget_all(&p->flight, port);
	for (u32 vl = 0; vl < PORT_VLS; vl++)
		forget_all(&p->lane[vl].arrived, port);
}

void topo_forget(struct topo *t, const struct fab_port *port)
{
	/* its own queue is empty by now, and packets of switches have no sender */
	for (u32 i = 0; i < 2 * t->nlinks; i++)
		pipe_forget(&t->link[i / 2]->pipe[i % 2], port);
}
