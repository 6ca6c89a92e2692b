// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding tables of a switch, a block of LIDs at a time.
 */
#include "lib/bytes.h"
#include "subnet/internal.h"

/* ------------------------------------------------------------------------
 * LinearForwardingTable
 */
static bool linear_wrong(const struct sma_call *c)
{
	return c->mod > LID_SWITCH / SMA_LIDS_A_BLOCK;
}

u16 get_linear_fdb(struct sma_call *c)
{
	u32 first = c->mod * SMA_LIDS_A_BLOCK;

	if (linear_wrong(c))
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < SMA_LIDS_A_BLOCK; i++)
		c->data[i] = fab_switch_port(c->a->all->fabric, c->a->sw, first + i);
	return MAD_OK;
}

u16 set_linear_fdb(struct sma_call *c)
{
	u32 first = c->mod * SMA_LIDS_A_BLOCK;

	if (linear_wrong(c))
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < SMA_LIDS_A_BLOCK; i++)
		if (c->data[i] != fab_switch_port(c->a->all->fabric, c->a->sw, first + i))
			fab_switch_set_port(c->a->all->fabric, c->a->sw, first + i, c->data[i]);
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * MulticastForwardingTable: the modifier also says of which 16 ports
 */
#define MCAST_BLOCK_BITS	9u
#define MCAST_POSITION_SHIFT	28u

struct mcast_block {
	u32 mlids;
	u16 first;
	u32 position;		/* of the ports, in units of 16 */
};

static bool mcast_block(const struct sma_call *c, struct mcast_block *b)
{
	u32 block = c->mod & ((1u << MCAST_POSITION_SHIFT) - 1);

	b->position = c->mod >> MCAST_POSITION_SHIFT;
	if (block >> MCAST_BLOCK_BITS || b->position > c->a->node->nports / SMA_PORTS_A_MASK)
		return false;
	b->first = MLID_FIRST + block * SMA_MLIDS_A_BLOCK;
	b->mlids = MIN(SMA_MLIDS_A_BLOCK, MLID_LAST - b->first + 1);
	return true;
}

/* Position of 16 ports in a set. */
static u32 shift_of(u32 position)
{
	return position % 4 * SMA_PORTS_A_MASK;
}

u16 get_mcast_fdb(struct sma_call *c)
{
	struct mcast_block b;

	if (!mcast_block(c, &b))
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < b.mlids; i++) {
		const struct port_mask *m = fab_switch_mask(c->a->all->fabric, c->a->sw,
							    b.first + i);

		put_be16(c->data + 2 * i, m->word[b.position / 4] >> shift_of(b.position));
	}
	return MAD_OK;
}

/* Ports that the switch does not have are left out. */
static u16 only_ports(const struct agent *a, u32 position, u16 ports)
{
	u32 first = position * SMA_PORTS_A_MASK, have = a->node->nports + 1u - first;

	return have < SMA_PORTS_A_MASK ? ports & ((1u << have) - 1) : ports;
}

u16 set_mcast_fdb(struct sma_call *c)
{
	struct mcast_block b;

	if (!mcast_block(c, &b))
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < b.mlids; i++) {
		struct fabric *f = c->a->all->fabric;
		struct port_mask m = *fab_switch_mask(f, c->a->sw, b.first + i);
		u64 *word = &m.word[b.position / 4], old = *word;
		u64 ports = only_ports(c->a, b.position, get_be16(c->data + 2 * i));

		*word &= ~(0xffffull << shift_of(b.position));
		*word |= ports << shift_of(b.position);
		if (*word != old)
			fab_switch_set_mask(f, c->a->sw, b.first + i, &m);
	}
	return MAD_OK;
}
