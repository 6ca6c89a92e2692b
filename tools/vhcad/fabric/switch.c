// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding tables: they are written and looked at, and followed to their end.
 */
#include <string.h>

#include "fabric/pipe.h"

static struct fab_switch *switch_of(const struct fabric *f, u32 sw)
{
	return f->topo ? f->topo->sw[sw] : f->shared;
}

u32 fab_switches(const struct fabric *f)
{
	return f->topo ? f->topo->nsw : 1;
}

void fab_switch_set_port(struct fabric *f, u32 sw, u16 lid, u16 port)
{
	switch_of(f, sw)->linear[lid] = port;
}

u32 fab_switch_port(const struct fabric *f, u32 sw, u16 lid)
{
	return switch_of(f, sw)->linear[lid];
}

/* Adapters' ports among those of a set. */
static u32 adapters_in(const struct fab_switch *sw, const struct port_mask *m)
{
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(m->word); i++)
		n += __builtin_popcountll(m->word[i] & sw->adapters.word[i]);
	return n;
}

/* A multicast LID leads to @now adapters' ports instead of @before. */
static void count_width(struct fabric *f, u32 before, u32 now)
{
	if (before)
		f->wide[before]--;
	if (now)
		f->wide[now]++;
	f->widest = MAX(f->widest, now);
	while (f->widest && !f->wide[f->widest])
		f->widest--;
}

void fab_switch_set_mask(struct fabric *f, u32 sw, u16 mlid, const struct port_mask *mask)
{
	struct fab_switch *s = switch_of(f, sw);
	struct port_mask *m = &s->multicast[mlid - MLID_FIRST];
	u16 *width = &f->width[mlid - MLID_FIRST];
	u32 now = *width - adapters_in(s, m) + adapters_in(s, mask);

	count_width(f, *width, now);
	*width = now;
	*m = *mask;
}

const struct port_mask *fab_switch_mask(const struct fabric *f, u32 sw, u16 mlid)
{
	return &switch_of(f, sw)->multicast[mlid - MLID_FIRST];
}

struct fab_port *fab_follow(const struct fab_port *from, u16 dlid)
{
	const struct fabric *f = from->fabric;
	const struct fab_switch *sw;

	if (!f->topo)
		return shared_port(f, dlid);
	sw = from->end->sw;
	for (u32 hops = 0; dlid <= LID_LAST && hops <= f->topo->nsw; hops++) {
		const struct fab_pipe *out = switch_out(sw, sw->linear[dlid]);

		if (!out || out->to_end)
			return out ? out->to_end->port : NULL;
		sw = out->to;
	}
	return NULL;
}
