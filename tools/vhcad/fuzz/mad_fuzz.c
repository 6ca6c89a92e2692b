// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes management datagrams that the host of an HCA sends, by directed route, by LID, or to its
 * own HCA.
 *
 * Input: datagrams for a subnet of two HCAs and two switches that a manager has brought up, valid
 * at first and then corrupted.  Afterwards no port may have invalid attributes, and HCAs have to
 * answer their hosts.
 */
#include "fabric/switch.h"
#include "fuzz/input.h"
#include "lib/bytes.h"
#include "tests/tsm.h"

#define DATAGRAMS	24u
#define LIDS		8u	/* some are not assigned */

/* Short enough for packets that circulate, as tables may have loops. */
#define PAUSE		(20 * 1000ull)

static const struct t_link links[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "b-h1", "4X EDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 },
	{ 0 },
};

static const u16 attrs[] = {
	ATTR_NODE_DESC, ATTR_NODE_INFO, ATTR_SWITCH_INFO, ATTR_GUID_INFO, ATTR_PORT_INFO,
	ATTR_PKEY_TABLE, ATTR_SL2VL, ATTR_VLARB, ATTR_LINEAR_FDB, ATTR_MCAST_FDB, ATTR_SM_INFO,
	ATTR_NOTICE, ATTR_CLASS_PORT_INFO, ATTR_PORT_COUNTERS, ATTR_PORT_COUNTERS_EXT,
};

static const u8 classes[] = { MAD_CLASS_SUBN_DR, MAD_CLASS_SUBN, MAD_CLASS_PERF, 0x03 };
static const u8 methods[] = { MAD_GET, MAD_SET, MAD_TRAP_REPRESS, MAD_TRAP, MAD_GET_RESP, 0x12 };

static struct ta_world w;
static struct tsm sm;

/* Routes to all four nodes, the sender included, and one that leads nowhere. */
static const struct ta_path ways[] = {
	TA_SELF, TA_PATH(1), TA_PATH(1, 2), TA_PATH(1, 2, 1), TA_PATH(1, 2, 2, 2, 2, 1, 1),
};

static void write_request(struct input *in, u8 *mad)
{
	u8 what = in_8(in), class = classes[what % ARRAY_SIZE(classes)];
	u8 method = methods[(what >> 2) % ARRAY_SIZE(methods)];
	u16 attr = attrs[in_8(in) % ARRAY_SIZE(attrs)];

	ta_request(&w, mad, class, method, attr, in_16(in) | (u32)in_8(in) << 16);
	if (class == MAD_CLASS_SUBN_DR) {
		const struct ta_path *way = &ways[in_8(in) % ARRAY_SIZE(ways)];

		mad_put(mad, DR_HOP_COUNT, way->hops);
		mad_put(mad, DR_HOP_POINTER, 1);
		mad_put(mad, DR_SLID, LID_PERMISSIVE);
		mad_put(mad, DR_DLID, LID_PERMISSIVE);
		memcpy(mad + DR_INITIAL_PATH, way->port, sizeof(way->port));
	}
	in_bytes(in, mad + SMP_DATA, in_8(in) % (SMP_DATA_LEN + 1));
	in_spoil(in, mad, MAD_LEN);
}

/* Reads an attribute, corrupts it, and sets it: so most of it is valid. */
static void change(struct input *in)
{
	struct ta_path way = ways[in_8(in) % (ARRAY_SIZE(ways) - 1)];
	u16 attr = attrs[in_8(in) % ARRAY_SIZE(attrs)];
	u8 data[SMP_DATA_LEN] = { 0 };
	u32 mod = in_8(in) | (u32)in_8(in) << 16;

	if (ta_route(&w, 0, &way, MAD_GET, attr, mod, data))
		return;
	if (attr == ATTR_PORT_INFO) {
		mad_put(data, PI_STATE, 0);
		mad_put(data, PI_PHYS_STATE, 0);
	}
	in_spoil(in, data, sizeof(data));
	ta_route(&w, 0, &way, MAD_SET, attr, mod, data);
}

/* How a datagram is sent.  Without these bits: from QP0, on VL15, with the right keys. */
#define HOW_GSI			(1u << 0)
#define HOW_WRONG_KEYS		(1u << 1)
#define HOW_FROM_NOWHERE	(1u << 2)
#define HOW_PERMISSIVE		(1u << 3)
#define HOW_SHORT		(1u << 4)
#define HOW_LOCAL		(1u << 5)
#define HOW_IGNORE_MKEY		(1u << 6)
#define HOW_SECOND_HCA		(1u << 7)

static void datagram(struct input *in)
{
	const struct mad_path self = { 0 };
	u8 mad[MAD_LEN], out[MAD_LEN], how = in_8(in), to = in_8(in);
	bool gsi = how & HOW_GSI, wrong = how & HOW_WRONG_KEYS;
	u32 hca = !!(how & HOW_SECOND_HCA);
	struct wire_hdr h = {
		.vl = gsi ? 0 : 15, .pkey = wrong && to & 8 ? 0x8001 : 0xffff,
		.slid = how & HOW_FROM_NOWHERE ? LID_PERMISSIVE : w.hca[hca].port.ib.lid,
		.dlid = how & HOW_PERMISSIVE ? LID_PERMISSIVE : to % LIDS, .dqpn = gsi, .sqpn = gsi,
		.qkey = wrong ? to : MAD_GSI_QKEY, .grh = gsi && to & 16,
	};

	if (how == 0xff) {
		change(in);
		return;
	}
	write_request(in, mad);
	if (how & HOW_LOCAL)
		agent_mad(&w.hca[hca].agent, &self, mad, out,
			  how & HOW_IGNORE_MKEY ? AGENT_IGNORE_MKEY : 0);
	else
		ta_raw(&w, hca, &h, mad, how & HOW_SHORT ? in_8(in) : MAD_LEN);
	ta_pass(&w, PAUSE << (to >> 6) * 4);
	w.hca[0].nmail = 0;
	w.hca[1].nmail = 0;
}

static void check_port(const struct port *port)
{
	assert_in_range(port->state, PORT_DOWN, PORT_ACTIVE);
	assert_true((port->state == PORT_DOWN) == (port->phys_state != PORT_PHYS_LINKUP));
	assert_true(port->lid <= LID_SWITCH && port->lmc <= LMC_MOST);
	assert_int_equal(port->lid & ((1u << port->lmc) - 1), 0);
	assert_in_range(port->setup.mtu, 1, port->mtu_cap);
	assert_in_range(port->setup.op_vls, 1, port->vl_cap);
	assert_true(get_be64(port->gid[0] + 8) == port->guid);
	for (u32 i = 0; i < PORT_PKEYS; i++)
		assert_int_not_equal(port->pkey[i], PKEY_FULL);
	for (u32 i = 0; i < PORT_GIDS; i++)
		assert_int_not_equal(port->gid[i][0], 0xff);
}

static void check(void)
{
	const struct mad_path self = { 0 };

	for (u32 sw = 0; sw < fab_switches(w.f); sw++)
		for (u32 n = 0; n <= fab_switch_ports(w.f, sw); n++)
			check_port(fab_switch_ib(w.f, sw, n));
	for (u32 i = 0; i < w.nhcas; i++) {
		u8 mad[MAD_LEN];

		check_port(&w.hca[i].port.ib);
		ta_request(&w, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_INFO, 0);
		assert_int_equal(agent_mad(&w.hca[i].agent, &self, mad, mad, AGENT_IGNORE_MKEY),
				 AGENT_REPLY);
		assert_int_equal(mad_get(mad, MAD_STATUS), MAD_OK);
		assert_true(mad_get(mad + SMP_DATA, NI_NODE_GUID) == w.hca[i].node.node_guid);
	}
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t len)
{
	struct input in = { bytes, bytes + len };

	ta_start(&w, t_topo("ab", 18, links));
	tsm_sweep(&sm, &w, 0, 0);
	for (u32 i = 0; i < DATAGRAMS && in_more(&in); i++)
		datagram(&in);
	check();
	ta_end(&w);
	return 0;
}
