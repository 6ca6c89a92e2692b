// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attributes of a node as a whole: its kind, its description, its GUIDs, and for a switch the sizes
 * of its tables.
 */
#include <string.h>

#include "lib/bytes.h"
#include "subnet/internal.h"

/* LIDs 0 to this; what the attribute can count is one less than the table has. */
#define LINEAR_CAP		LID_SWITCH
#define MCAST_CAP		(MLID_LAST - MLID_FIRST + 1)

u16 get_node_desc(struct sma_call *c)
{
	memcpy(c->data, c->a->node->desc, SMP_DATA_LEN);
	return MAD_OK;
}

u16 get_node_info(struct sma_call *c)
{
	const struct agent_node *n = c->a->node;
	const struct fab_port *port = c->a->port;

	mad_put(c->data, NI_BASE_VERSION, 1);
	mad_put(c->data, NI_CLASS_VERSION, 1);
	mad_put(c->data, NI_TYPE, n->type);
	mad_put(c->data, NI_PORTS, n->nports);
	mad_put(c->data, NI_SYSTEM_GUID, n->system_guid);
	mad_put(c->data, NI_NODE_GUID, n->node_guid);
	mad_put(c->data, NI_PORT_GUID, agent_self(c->a)->guid);
	mad_put(c->data, NI_PARTITION_CAP, PORT_PKEYS);
	mad_put(c->data, NI_DEVICE_ID, n->device_id);
	mad_put(c->data, NI_REVISION, n->revision);
	mad_put(c->data, NI_LOCAL_PORT, port ? port->number : c->path->in_port);
	mad_put(c->data, NI_VENDOR_ID, n->vendor_id);
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * SwitchInfo
 */
u16 get_switch_info(struct sma_call *c)
{
	struct fabric *f = c->a->all->fabric;
	const struct fab_switch_setup *s = fab_switch_setup(f, c->a->sw);

	mad_put(c->data, SI_LINEAR_CAP, LINEAR_CAP);
	mad_put(c->data, SI_MCAST_CAP, MCAST_CAP);
	mad_put(c->data, SI_LINEAR_TOP, s->linear_top);
	mad_put(c->data, SI_DEFAULT_PORT, s->default_port);
	mad_put(c->data, SI_DEFAULT_MCAST, s->default_mcast_primary);
	mad_put(c->data, SI_DEFAULT_NOT_MCAST, s->default_mcast_notprimary);
	mad_put(c->data, SI_LIFETIME, s->lifetime);
	mad_put(c->data, SI_PORT_CHANGE, fab_switch_changed(f, c->a->sw));
	mad_put(c->data, SI_ENFORCE_CAP, PORT_PKEYS);
	mad_put(c->data, SI_ENFORCE_IN_CAP, 1);
	mad_put(c->data, SI_ENFORCE_OUT_CAP, 1);
	return MAD_OK;
}

/* Default ports are ports of the switch, or none. */
static bool port_wrong(const struct agent *a, u32 port)
{
	return port > a->node->nports && port != SWITCH_NO_PORT;
}

u16 set_switch_info(struct sma_call *c)
{
	struct fabric *f = c->a->all->fabric;
	struct fab_switch_setup s = *fab_switch_setup(f, c->a->sw);

	s.linear_top = mad_get(c->data, SI_LINEAR_TOP);
	s.default_port = mad_get(c->data, SI_DEFAULT_PORT);
	s.default_mcast_primary = mad_get(c->data, SI_DEFAULT_MCAST);
	s.default_mcast_notprimary = mad_get(c->data, SI_DEFAULT_NOT_MCAST);
	s.lifetime = mad_get(c->data, SI_LIFETIME);
	if (s.linear_top > LINEAR_CAP || port_wrong(c->a, s.default_port) ||
	    port_wrong(c->a, s.default_mcast_primary) ||
	    port_wrong(c->a, s.default_mcast_notprimary))
		return MAD_BAD_VALUE;
	if (mad_get(c->data, SI_PORT_CHANGE))
		fab_switch_clear_changed(f, c->a->sw);
	fab_switch_set_setup(f, c->a->sw, &s);
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * GUIDInfo
 */
#define GUID_BYTES	8u

u16 get_guid_info(struct sma_call *c)
{
	const struct port *self = agent_self(c->a);

	if (c->mod >= PORT_GIDS / SMA_GUIDS_A_BLOCK)
		return MAD_BAD_VALUE;
	for (u32 i = 0; i < SMA_GUIDS_A_BLOCK; i++)
		memcpy(c->data + i * GUID_BYTES, self->gid[i] + GUID_BYTES, GUID_BYTES);
	return MAD_OK;
}

static bool guid_twice(const u8 *guids, u32 i)
{
	u64 guid = get_be64(guids + i * GUID_BYTES);

	for (u32 k = 0; guid && k < i; k++)
		if (get_be64(guids + k * GUID_BYTES) == guid)
			return true;
	return false;
}

/* The first GUID is the port's own, which cannot be changed. */
u16 set_guid_info(struct sma_call *c)
{
	struct port *self = agent_self(c->a);
	u64 prefix = get_be64(self->gid[0]);
	u8 gid[SMA_GUIDS_A_BLOCK][2 * GUID_BYTES];

	if (c->mod >= PORT_GIDS / SMA_GUIDS_A_BLOCK)
		return MAD_BAD_VALUE;
	put_be64(c->data, self->guid);
	for (u32 i = 1; i < SMA_GUIDS_A_BLOCK; i++)
		if (guid_twice(c->data, i))
			return MAD_BAD_VALUE;
	for (u32 i = 1; i < SMA_GUIDS_A_BLOCK; i++) {
		u64 guid = get_be64(c->data + i * GUID_BYTES);

		put_be64(gid[i], guid ? prefix : 0);
		put_be64(gid[i] + GUID_BYTES, guid);
	}
	port_set_gids(self, 1, SMA_GUIDS_A_BLOCK - 1, &gid[1]);
	return MAD_OK;
}
