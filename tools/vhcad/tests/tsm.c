// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "tests/tsm.h"

static void get(struct tsm *sm, u32 node, u16 attr, u32 mod, u8 *data)
{
	memset(data, 0, SMP_DATA_LEN);
	assert_int_equal(ta_route(sm->w, sm->hca, &sm->node[node].path, MAD_GET, attr, mod, data),
			 MAD_OK);
}

static void set(struct tsm *sm, u32 node, u16 attr, u32 mod, u8 *data)
{
	assert_int_equal(ta_route(sm->w, sm->hca, &sm->node[node].path, MAD_SET, attr, mod, data),
			 MAD_OK);
}

void tsm_port(struct tsm *sm, u32 node, u8 port, u8 *info)
{
	get(sm, node, ATTR_PORT_INFO, port, info);
}

/* ------------------------------------------------------------------------
 * Discovery
 */
static int find(const struct tsm *sm, u64 guid)
{
	for (u32 i = 0; i < sm->n; i++)
		if (sm->node[i].guid == guid)
			return i;
	return -1;
}

/* Visits the node at the end of a path, only once. */
static int visit(struct tsm *sm, const struct ta_path *path, u8 *local_port)
{
	struct tsm_node *node = &sm->node[sm->n];
	u8 info[SMP_DATA_LEN];
	int known;

	assert_true(sm->n < TSM_NODES);
	*node = (struct tsm_node){ .path = *path };
	get(sm, sm->n, ATTR_NODE_INFO, 0, info);
	*local_port = mad_get(info, NI_LOCAL_PORT);
	known = find(sm, mad_get(info, NI_PORT_GUID));
	if (known >= 0)
		return known;
	node->guid = mad_get(info, NI_PORT_GUID);
	node->local_port = *local_port;
	if (mad_get(info, NI_TYPE) == NODE_SWITCH)
		node->nports = mad_get(info, NI_PORTS);
	assert_true(node->nports <= TSM_PORTS);
	memset(node->peer, 0xff, sizeof(node->peer));
	return sm->n++;
}

static void follow(struct tsm *sm, u32 node, u8 port)
{
	struct ta_path path = sm->node[node].path;
	u8 info[SMP_DATA_LEN], local_port;
	int peer;

	tsm_port(sm, node, port, info);
	if (mad_get(info, PI_STATE) == PORT_DOWN)
		return;
	path.port[++path.hops] = port;
	peer = visit(sm, &path, &local_port);
	sm->node[node].peer[port] = peer;
	sm->node[peer].peer[local_port] = node;
}

static void discover(struct tsm *sm)
{
	u8 local_port;

	visit(sm, &TA_SELF, &local_port);
	follow(sm, 0, local_port);
	for (u32 i = 1; i < sm->n; i++)
		for (u32 port = 1; port <= sm->node[i].nports; port++)
			follow(sm, i, port);
}

/* ------------------------------------------------------------------------
 * LIDs and tables
 */
static void give_lids(struct tsm *sm)
{
	u16 next = 1u << sm->lmc;

	for (u32 i = 0; i < sm->n; i++) {
		struct tsm_node *node = &sm->node[i];
		u8 info[SMP_DATA_LEN];

		node->lid = next;
		next += 1u << sm->lmc;
		tsm_port(sm, i, 0, info);
		mad_put(info, PI_LID, node->lid);
		mad_put(info, PI_LMC, node->nports ? 0 : sm->lmc);
		mad_put(info, PI_SM_LID, sm->node[0].lid);
		set(sm, i, ATTR_PORT_INFO, 0, info);
		assert_int_equal(mad_get(info, PI_LID), node->lid);
	}
}

/* The ports by which each switch gets nearer to a node. */
static void ways_to(const struct tsm *sm, u32 to, u8 *out)
{
	u32 far[TSM_NODES];

	memset(far, 0xff, sizeof(far));
	memset(out, 0xff, TSM_NODES);
	far[to] = 0;
	out[to] = 0;
	for (u32 round = 0; round < sm->n; round++)
		for (u32 i = 0; i < sm->n; i++)
			for (u32 port = 1; port <= sm->node[i].nports; port++) {
				int peer = sm->node[i].peer[port];

				/* an HCA forwards nothing */
				if (peer < 0 || far[peer] == UINT32_MAX ||
				    ((u32)peer != to && !sm->node[peer].nports) ||
				    far[peer] + 1 >= far[i])
					continue;
				far[i] = far[peer] + 1;
				out[i] = port;
			}
}

static void write_tables(struct tsm *sm)
{
	u8 out[TSM_NODES], block[TSM_NODES][SMP_DATA_LEN];

	memset(block, 0xff, sizeof(block));
	for (u32 to = 0; to < sm->n; to++) {
		ways_to(sm, to, out);
		for (u32 i = 0; i < sm->n; i++)
			for (u32 k = 0; k < 1u << sm->lmc; k++)
				block[i][sm->node[to].lid + k] = out[i];
	}
	for (u32 i = 0; i < sm->n; i++) {
		u8 info[SMP_DATA_LEN];

		if (!sm->node[i].nports)
			continue;
		get(sm, i, ATTR_SWITCH_INFO, 0, info);
		mad_put(info, SI_LINEAR_TOP, SMP_DATA_LEN - 1);
		mad_put(info, SI_PORT_CHANGE, 1);
		set(sm, i, ATTR_SWITCH_INFO, 0, info);
		assert_int_equal(mad_get(info, SI_PORT_CHANGE), 0);
		set(sm, i, ATTR_LINEAR_FDB, 0, block[i]);
	}
}

/* ------------------------------------------------------------------------
 * States
 */
static void set_state(struct tsm *sm, u32 node, u8 port, u8 state)
{
	u8 info[SMP_DATA_LEN];

	tsm_port(sm, node, port, info);
	if (mad_get(info, PI_STATE) >= state)
		return;
	mad_put(info, PI_STATE, state);
	mad_put(info, PI_PHYS_STATE, 0);
	set(sm, node, ATTR_PORT_INFO, port, info);
	assert_int_equal(mad_get(info, PI_STATE), state);
}

static void set_all(struct tsm *sm, u8 state)
{
	for (u32 i = 0; i < sm->n; i++) {
		const struct tsm_node *node = &sm->node[i];

		if (!node->nports)
			set_state(sm, i, node->local_port, state);
		for (u32 port = 1; port <= node->nports; port++)
			if (node->peer[port] >= 0)
				set_state(sm, i, port, state);
	}
}

void tsm_sweep(struct tsm *sm, struct ta_world *w, u32 hca, u8 lmc)
{
	*sm = (struct tsm){ .w = w, .hca = hca, .lmc = lmc };
	discover(sm);
	give_lids(sm);
	write_tables(sm);
	set_all(sm, PORT_ARMED);
	set_all(sm, PORT_ACTIVE);
}

u16 tsm_lid(const struct tsm *sm, u64 guid)
{
	int i = find(sm, guid);

	return i < 0 ? 0 : sm->node[i].lid;
}
