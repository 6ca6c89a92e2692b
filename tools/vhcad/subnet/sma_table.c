// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables of a port: P_Keys, SL to VL, VL arbitration.  The attribute modifier says of which port,
 * and which block.
 */
#include <string.h>

#include "lib/bytes.h"
#include "subnet/internal.h"

/* ------------------------------------------------------------------------
 * P_KeyTable: the port in the upper bits, the block in the lower ones.  An HCA has only the port
 * that was asked.
 */
static struct port *pkey_block(const struct sma_call *c, u32 *first)
{
	u32 port = agent_is_switch(c->a) ? c->mod >> 16 : 0;

	*first = (c->mod & 0xffff) * SMA_PKEYS_A_BLOCK;
	return *first < PORT_PKEYS ? agent_ib(c->a, port) : NULL;
}

u16 get_pkey_table(struct sma_call *c)
{
	u32 first;
	const struct port *port = pkey_block(c, &first);

	if (!port)
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < SMA_PKEYS_A_BLOCK; i++)
		put_be16(c->data + 2 * i, port->pkey[first + i]);
	return MAD_OK;
}

u16 set_pkey_table(struct sma_call *c)
{
	u16 pkey[SMA_PKEYS_A_BLOCK];
	u32 first;
	struct port *port = pkey_block(c, &first);

	if (!port)
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < SMA_PKEYS_A_BLOCK; i++) {
		pkey[i] = get_be16(c->data + 2 * i);
		/* PKEY_FULL alone, without a partition, is no entry either */
		if (pkey[i] == PKEY_FULL)
			pkey[i] = 0;
	}
	port_set_pkeys(port, first, SMA_PKEYS_A_BLOCK, pkey);
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * SLtoVLMappingTable: of a switch, the port that packets come by and the one they leave by
 */
#define SLS	16u

static bool is_external(const struct agent *a, u32 port)
{
	return agent_is_switch(a) && port && port <= a->node->nports;
}

/* The table to read; NULL: there is none. */
static u8 *sl2vl_table(const struct sma_call *c)
{
	u32 in = c->mod >> 8, out = c->mod & 0xff;

	if (!agent_is_switch(c->a))
		return agent_self(c->a)->setup.sl2vl;
	if (in > c->a->node->nports)
		return NULL;
	if (!out)
		return agent_self(c->a)->setup.sl2vl;
	if (!is_external(c->a, out))
		return NULL;
	return fab_switch_sl2vl(c->a->all->fabric, c->a->sw, in, out);
}

u16 get_sl2vl(struct sma_call *c)
{
	const u8 *vl = sl2vl_table(c);

	if (!vl)
		return MAD_BAD_VALUE;
	for (u32 sl = 0; sl < SLS; sl++)
		mad_put(c->data, MAD_FIELD(4 * sl, 4), vl[sl]);
	return MAD_OK;
}

u16 set_sl2vl(struct sma_call *c)
{
	u8 *table = sl2vl_table(c), vl[SLS];
	struct port *self = agent_self(c->a);

	if (!table)
		return MAD_BAD_VALUE;
	for (u32 sl = 0; sl < SLS; sl++)
		vl[sl] = mad_get(c->data, MAD_FIELD(4 * sl, 4));
	if (table == self->setup.sl2vl) {
		struct port_setup setup = self->setup;

		memcpy(setup.sl2vl, vl, SLS);
		port_set_setup(self, &setup);
	} else {
		memcpy(table, vl, SLS);
	}
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * VLArbitrationTable: the block above, counted from 1, low priority first; the port below.  Port 0
 * of a switch has no queues, and no table.
 */
static struct port *vlarb_block(const struct sma_call *c, u32 *table, u32 *first)
{
	u32 port = c->mod & 0xffff, block = (c->mod >> 16) - 1;
	u32 blocks = PORT_ARBS / SMA_VLARB_A_BLOCK;

	*table = block / blocks;
	*first = block % blocks * SMA_VLARB_A_BLOCK;
	if (*table > 1 || (agent_is_switch(c->a) && !is_external(c->a, port)))
		return NULL;
	return agent_ib(c->a, port);
}

u16 get_vlarb(struct sma_call *c)
{
	u32 table, first;
	const struct port *port = vlarb_block(c, &table, &first);

	if (!port)
		return MAD_BAD_VALUE;
	memcpy(c->data, port->setup.vlarb[table][first], 2 * SMA_VLARB_A_BLOCK);
	return MAD_OK;
}

u16 set_vlarb(struct sma_call *c)
{
	u32 table, first;
	struct port *port = vlarb_block(c, &table, &first);
	struct port_setup setup;

	if (!port)
		return MAD_BAD_VALUE;
	/* half a byte is reserved; VL15 does not take part */
	for (u32 i = 0; i < SMA_VLARB_A_BLOCK; i++) {
		c->data[2 * i] &= 0xf;
		if (c->data[2 * i] == PORT_VL15)
			return MAD_BAD_VALUE;
	}
	setup = port->setup;
	memcpy(setup.vlarb[table][first], c->data, 2 * SMA_VLARB_A_BLOCK);
	port_set_setup(port, &setup);
	return MAD_OK;
}
