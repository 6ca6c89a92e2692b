// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data VLs of links: the VL that a packet takes, arbitration between VLs, and between input ports.
 *
 * A port uses as many VLs as its OperationalVLs say; they share the link's buffer equally.  With
 * one VL there is nothing to arbitrate.
 */
#include "fabric/pipe.h"

#define ARB_UNIT	64u		/* bytes of a weight of 1 */
#define LIMIT_UNIT	4096u		/* bytes of VLHighLimit */
#define LIMIT_NONE	255u

enum { LOW, HIGH, NO_TABLE };

/* Number of data VLs of the port at the near end: OperationalVLs 1, 2, 3, 4 mean 1, 2, 4, 8. */
static u32 vls_of(const struct fab_pipe *p)
{
	return MIN(1u << (MAX(p->near->setup.op_vls, 1) - 1), PORT_VLS);
}

static u32 vl_of(const struct fab_pipe *p, const struct fab_pipe *in,
		 const struct fab_packet *packet)
{
	const u8 *map = p->near->setup.sl2vl;

	if (p->from)
		map = p->from->sl2vl[(in->in_no + 1) * p->from->nports + p->out_no];
	return map[packet->sl % 16];
}

bool lane_drops(const struct fab_pipe *p, const struct fab_pipe *in,
		const struct fab_packet *packet)
{
	return vl_of(p, in, packet) >= vls_of(p);
}

u32 lane_of(const struct fab_pipe *p, const struct fab_pipe *in, const struct fab_packet *packet)
{
	/* a packet stays on a valid VL even if the SL-to-VL table has changed meanwhile */
	return MIN(vl_of(p, in, packet), vls_of(p) - 1);
}

/* The first packet of an incoming lane, if it is to leave by this link. */
static const struct fab_packet *head_for(const struct fab_pipe *in, u32 vl,
					 const struct fab_pipe *p)
{
	const struct fab_packet *head = in->busy >> vl & 1 ? first_of(&in->lane[vl].arrived) : NULL;

	return head && port_mask_test(&head->out, p->out_no + 1) ? head : NULL;
}

static u32 waiting_at_switch(const struct fab_pipe *p)
{
	u32 waiting = 0;

	for (u32 i = 0; i <= p->from->nports; i++) {
		const struct fab_pipe *in = switch_in(p->from, i);

		for (u32 vl = 0; in->busy >> vl; vl++) {
			const struct fab_packet *head = head_for(in, vl, p);

			if (head)
				waiting |= 1u << lane_of(p, in, head);
		}
	}
	return waiting;
}

u32 lanes_waiting(const struct fab_pipe *p, u64 now)
{
	u32 waiting = 0;

	if (p->from)
		return waiting_at_switch(p);
	for (u32 vl = 0; p->from_end->nsend && vl < PORT_VLS; vl++) {
		const struct fab_packet *head = first_of(&p->from_end->send[vl]);

		if (head && head->due <= now)
			waiting |= 1u << vl;
	}
	return waiting;
}

/*
 * The lane of an incoming link whose first packet takes this VL; of several, the one that has
 * waited longest.
 */
static struct pipe_lane *lane_for(struct fab_pipe *in, const struct fab_pipe *p, u32 vl)
{
	const struct fab_packet *first = NULL;
	struct pipe_lane *lane = NULL;

	for (u32 i = 0; in->busy >> i; i++) {
		const struct fab_packet *head = head_for(in, i, p);

		if (!head || lane_of(p, in, head) != vl || (first && first->due <= head->due))
			continue;
		first = head;
		lane = &in->lane[i];
	}
	return lane;
}

struct pipe_lane *lane_next(struct fab_pipe *p, u32 vl)
{
	u32 *turn = &p->lane[vl].turn, n = p->from->nports + 1;
	struct pipe_lane *lane;

	/* ends, as lanes_waiting() has found one */
	do {
		*turn = (*turn + 1) % n;
		lane = lane_for(switch_in(p->from, *turn), p, vl);
	} while (!lane);
	return lane;
}

/* ------------------------------------------------------------------------
 * Arbitration
 */

/* The next entry of a table whose VL is ready; PORT_ARBS: the table has none for those VLs. */
static u32 find_entry(const struct fab_pipe *p, u32 table, u32 ready)
{
	const u8 (*entry)[2] = p->near->setup.vlarb[table];

	for (u32 i = 0; i <= PORT_ARBS; i++) {
		u32 at = (p->arb.at[table] + i) % PORT_ARBS;
		bool fresh = i;

		if (entry[at][1] && ready >> (entry[at][0] & 15) & 1 &&
		    (fresh || p->arb.left[table]))
			return i == PORT_ARBS ? p->arb.at[table] : at;
	}
	return PORT_ARBS;
}

/* Takes an entry's turn: goes on with its weight, or begins it anew. */
static u32 take_entry(struct fab_pipe *p, u32 table, u32 at)
{
	const u8 *entry = p->near->setup.vlarb[table][at];
	struct vl_arb *arb = &p->arb;

	if (at != arb->at[table] || !arb->left[table])
		arb->left[table] = entry[1] * ARB_UNIT;
	arb->at[table] = at;
	arb->table = table;
	return entry[0];
}

static u32 arbitrate(struct fab_pipe *p, u32 ready)
{
	u32 low = find_entry(p, LOW, ready), high = find_entry(p, HIGH, ready);
	u32 limit = p->near->setup.vl_high_limit;
	struct vl_arb *arb = &p->arb;

	if (high < PORT_ARBS && (low == PORT_ARBS || limit == LIMIT_NONE || arb->high))
		return take_entry(p, HIGH, high);
	if (low < PORT_ARBS) {
		arb->high = MAX(limit * LIMIT_UNIT, 1u);
		return take_entry(p, LOW, low);
	}
	do {
		arb->last = (arb->last + 1) % PORT_VLS;
	} while (!(ready >> arb->last & 1));
	return arb->last;
}

u32 lane_choose(struct fab_pipe *p, u32 waiting)
{
	u32 most = MAX(p->link->l.queue / vls_of(p), 1u), ready = 0;

	for (u32 vl = 0; vl < PORT_VLS; vl++)
		if (waiting >> vl & 1 && p->lane[vl].used < most)
			ready |= 1u << vl;
	p->arb.table = NO_TABLE;
	if (!ready)
		return NO_VL;
	/* a single VL needs no arbitration */
	if (!(ready & (ready - 1)))
		return __builtin_ctz(ready);
	return arbitrate(p, ready);
}

void lane_sent(struct fab_pipe *p, u32 len)
{
	struct vl_arb *arb = &p->arb;

	if (arb->table == NO_TABLE)
		return;
	arb->left[arb->table] -= MIN(arb->left[arb->table], len);
	if (arb->table == HIGH)
		arb->high -= MIN(arb->high, len);
	arb->table = NO_TABLE;
}
