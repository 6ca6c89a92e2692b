// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management agent: which attributes there are, and who may touch them.
 */
#include <string.h>

#include "subnet/internal.h"

/* ------------------------------------------------------------------------
 * Attributes
 */
#define FOR_CA		(1u << NODE_CA)
#define FOR_SWITCH	(1u << NODE_SWITCH)
#define FOR_ALL		(FOR_CA | FOR_SWITCH)

static const struct sma_attr {
	u16 attr;
	u8 nodes;
	sma_fn get, set;
} attrs[] = {
	{ ATTR_NODE_DESC, FOR_ALL, get_node_desc, NULL },
	{ ATTR_NODE_INFO, FOR_ALL, get_node_info, NULL },
	{ ATTR_SWITCH_INFO, FOR_SWITCH, get_switch_info, set_switch_info },
	{ ATTR_GUID_INFO, FOR_ALL, get_guid_info, set_guid_info },
	{ ATTR_PORT_INFO, FOR_ALL, get_port_info, set_port_info },
	{ ATTR_PKEY_TABLE, FOR_ALL, get_pkey_table, set_pkey_table },
	{ ATTR_SL2VL, FOR_ALL, get_sl2vl, set_sl2vl },
	{ ATTR_VLARB, FOR_ALL, get_vlarb, set_vlarb },
	{ ATTR_LINEAR_FDB, FOR_SWITCH, get_linear_fdb, set_linear_fdb },
	{ ATTR_MCAST_FDB, FOR_SWITCH, get_mcast_fdb, set_mcast_fdb },
};

static const struct sma_attr *find(const struct agent *a, u16 attr)
{
	for (u32 i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].attr == attr && attrs[i].nodes >> a->node->type & 1)
			return &attrs[i];
	return NULL;
}

/* A Set is answered with what a Get finds afterwards, except for the request to register. */
static u16 read_back(const struct sma_attr *attr, struct sma_call *c)
{
	u64 reregister = attr->attr == ATTR_PORT_INFO ? mad_get(c->data, PI_REREGISTER) : 0;
	u16 status;

	memset(c->data, 0, SMP_DATA_LEN);
	status = attr->get(c);
	if (reregister)
		mad_put(c->data, PI_REREGISTER, 1);
	return status;
}

static u16 serve(struct sma_call *c, u16 number, bool set)
{
	const struct sma_attr *attr = find(c->a, number);
	u16 status;

	if (!attr || (set && !attr->set))
		return MAD_BAD_METHOD_ATTR;
	if (set) {
		status = attr->set(c);
		return status ? status : read_back(attr, c);
	}
	memset(c->data, 0, SMP_DATA_LEN);
	return attr->get(c);
}

/* ------------------------------------------------------------------------
 * M_Keys
 *
 * Only requests with its M_Key change a port that has one; how much others may read depends on the
 * protection bits.  A request with a wrong M_Key starts the lease period: unless the owner sends a
 * request before it ends, protection ends, so that a new manager can read the M_Key of one that has
 * disappeared.
 */
#define SEC	1000000000ull

/* Protection bits from which on others may not read the M_Key, and from which on nothing. */
#define PROTECT_KEY	1u
#define PROTECT_ALL	2u

static void mkey_expire(struct agent *a)
{
	struct port *self = agent_self(a);

	if (!a->lease_ends || fab_now(a->all->fabric) < a->lease_ends)
		return;
	a->lease_ends = 0;
	self->setup.mkey_protect = 0;
}

static void refuse(struct agent *a, const u8 *mad, u16 slid)
{
	struct port *self = agent_self(a);

	port_violation(&self->mkey_viol);
	if (self->setup.mkey_lease && !a->lease_ends)
		a->lease_ends = fab_now(a->all->fabric) + self->setup.mkey_lease * SEC;
	agent_bad_mkey(a, mad, slid);
}

static enum mkey mkey_check(struct agent *a, const u8 *mad, u16 slid, u32 flags)
{
	const struct port_setup *s = &agent_self(a)->setup;

	mkey_expire(a);
	if (!s->mkey || flags & AGENT_IGNORE_MKEY)
		return MKEY_OWNS;
	if (mad_get(mad, SMP_MKEY) == s->mkey) {
		a->lease_ends = 0;
		return MKEY_OWNS;
	}
	if (mad_get(mad, MAD_METHOD) == MAD_GET && s->mkey_protect < PROTECT_ALL)
		return s->mkey_protect < PROTECT_KEY ? MKEY_OWNS : MKEY_READS;
	refuse(a, mad, slid);
	return MKEY_REFUSED;
}

/* ------------------------------------------------------------------------
 * Requests
 */
static u16 check_header(const u8 *mad)
{
	u8 method = mad_get(mad, MAD_METHOD);

	if (mad_get(mad, MAD_BASE_VERSION) != 1 || mad_get(mad, MAD_CLASS_VERSION) != 1)
		return MAD_BAD_VERSION;
	return method == MAD_GET || method == MAD_SET ? MAD_OK : MAD_BAD_METHOD;
}

/* Is it for the host: a response, a report, or for a manager that runs there? */
static bool is_foreign(const struct agent *a, const u8 *mad)
{
	u8 method = mad_get(mad, MAD_METHOD);

	if (method & MAD_METHOD_RESPONSE || method == MAD_TRAP || method == MAD_REPORT ||
	    method == MAD_SEND)
		return true;
	return mad_get(mad, MAD_ATTR) == ATTR_SM_INFO && !agent_is_switch(a);
}

u32 sma_mad(struct agent *a, const struct mad_path *path, u8 *mad, u32 flags)
{
	struct sma_call c = {
		.a = a, .path = path, .mod = mad_get(mad, MAD_ATTR_MOD), .data = mad + SMP_DATA,
	};
	u8 method = mad_get(mad, MAD_METHOD);
	u16 status;

	if (is_foreign(a, mad))
		return 0;
	/* managers give it back with the M_Key of the trap, which is 0 */
	if (method == MAD_TRAP_REPRESS) {
		if (mad_get(mad, MAD_ATTR) == ATTR_NOTICE)
			agent_trap_repress(a, mad_get(mad, MAD_TID), c.data);
		return AGENT_CONSUMED;
	}
	c.mkey = mkey_check(a, mad, path->slid, flags);
	if (c.mkey == MKEY_REFUSED)
		return AGENT_CONSUMED;
	status = check_header(mad);
	if (!status)
		status = serve(&c, mad_get(mad, MAD_ATTR), method == MAD_SET);
	mad_put(mad, MAD_METHOD, MAD_GET_RESP);
	if (mad_get(mad, MAD_CLASS) == MAD_CLASS_SUBN_DR) {
		mad_put(mad, DR_RETURNS, 1);
		mad_put(mad, DR_STATUS, status);
	} else {
		mad_put(mad, MAD_STATUS, status);
	}
	return AGENT_REPLY;
}
