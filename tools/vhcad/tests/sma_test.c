// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Subnet management agents, attribute by attribute, except PortInfo.
 */
#include <string.h>

#include "fabric/switch.h"
#include "lib/bytes.h"
#include "tests/tagent.h"
#include "tests/trandom.h"

/* Three switches in a row, an HCA at either end. */
static const struct t_link row[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "c-h1", "4X EDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 },
	{ "b-c", "4X EDR", 10, 8 }, { 0 },
};

#define TO_SELF		TA_SELF
#define TO_A		TA_PATH(1)
#define TO_B		TA_PATH(1, 2)
#define TO_C		TA_PATH(1, 2, 2)
#define TO_H1		TA_PATH(1, 2, 2, 1)

static struct ta_world w;
static u8 data[SMP_DATA_LEN];

static u32 get(struct ta_path path, u16 attr, u32 mod)
{
	memset(data, 0, sizeof(data));
	return ta_route(&w, 0, &path, MAD_GET, attr, mod, data);
}

static u32 set(struct ta_path path, u16 attr, u32 mod)
{
	return ta_route(&w, 0, &path, MAD_SET, attr, mod, data);
}

static int start(void **state)
{
	ta_start(&w, t_topo("abc", 18, row));
	return 0;
}

static int end(void **state)
{
	ta_end(&w);
	return 0;
}

/* ------------------------------------------------------------------------
 * Nodes
 */
static void node_info(void **state)
{
	const struct {
		struct ta_path path;
		u8 type, ports, local;
		int hca, sw;
	} want[] = {
		{ TO_SELF, NODE_CA, 1, 1, 0, -1 }, { TO_A, NODE_SWITCH, 2, 1, -1, 0 },
		{ TO_B, NODE_SWITCH, 2, 1, -1, 1 }, { TO_C, NODE_SWITCH, 2, 2, -1, 2 },
		{ TO_H1, NODE_CA, 1, 1, 1, -1 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		u64 guid = want[i].hca < 0 ? fab_switch_guid(w.f, want[i].sw) :
					     w.hca[want[i].hca].node.node_guid;

		assert_int_equal(get(want[i].path, ATTR_NODE_INFO, 0), MAD_OK);
		assert_int_equal(data[0], 1);
		assert_int_equal(data[1], 1);
		assert_int_equal(data[2], want[i].type);
		assert_int_equal(data[3], want[i].ports);
		assert_true(get_be64(data + 4) == guid);
		assert_true(get_be64(data + 12) == guid);
		assert_true(get_be64(data + 20) == guid + (want[i].hca >= 0));
		assert_int_equal(get_be16(data + 28), PORT_PKEYS);
		assert_int_equal(data[36], want[i].local);
		if (want[i].hca >= 0) {
			assert_int_equal(get_be16(data + 30), 0x1234);
			assert_int_equal(get_be32(data + 32), 7);
			assert_int_equal(get_be24(data + 37), 0xabcdef);
		}
		assert_int_equal(set(want[i].path, ATTR_NODE_INFO, 0), MAD_BAD_METHOD_ATTR);
	}
}

static void descriptions(void **state)
{
	assert_int_equal(get(TO_H1, ATTR_NODE_DESC, 0), MAD_OK);
	assert_string_equal((char *)data, "hca h1");
	assert_int_equal(get(TO_B, ATTR_NODE_DESC, 0), MAD_OK);
	assert_string_equal((char *)data, fab_switch_name(w.f, 1));
	strcpy((char *)w.hca[1].desc, "renamed");
	assert_int_equal(get(TO_H1, ATTR_NODE_DESC, 0), MAD_OK);
	assert_string_equal((char *)data, "renamed");
}

static void switch_info(void **state)
{
	assert_int_equal(get(TO_SELF, ATTR_SWITCH_INFO, 0), MAD_BAD_METHOD_ATTR);
	assert_int_equal(get(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
	assert_int_equal(get_be16(data), 0xbfff);
	assert_int_equal(get_be16(data + 2), 0);
	assert_int_equal(get_be16(data + 4), 0x3fff);
	assert_int_equal(get_be16(data + 14), PORT_PKEYS);
	assert_int_equal(data[16], 0xc0);
	/* links have come up, and the manager has not acknowledged that */
	assert_int_equal(data[11] & 7, 4);
	put_be16(data + 6, 0x1234);
	data[11] = 17 << 3;
	assert_int_equal(set(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
	assert_int_equal(get_be16(data + 6), 0x1234);
	assert_int_equal(data[11], 17 << 3 | 4);
	assert_int_equal(set(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
	assert_int_equal(data[11], 17 << 3);
	port_set_cable(&w.hca[0].port.ib, false);
	port_set_cable(&w.hca[0].port.ib, true);
	assert_int_equal(get(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
	assert_int_equal(data[11], 17 << 3 | 4);
	/* no such LID, no such ports: nothing changes */
	put_be16(data + 6, 0xc000);
	assert_int_equal(set(TO_A, ATTR_SWITCH_INFO, 0), MAD_BAD_VALUE);
	for (u32 i = 8; i <= 10; i++) {
		assert_int_equal(get(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
		assert_int_equal(get_be16(data + 6), 0x1234);
		data[i] = 3;
		assert_int_equal(set(TO_A, ATTR_SWITCH_INFO, 0), MAD_BAD_VALUE);
		data[i] = 2;
		assert_int_equal(set(TO_A, ATTR_SWITCH_INFO, 0), MAD_OK);
		assert_int_equal(data[i], 2);
	}
}

static void guids(void **state)
{
	const struct ta_path to[] = { TO_SELF, TO_H1, TO_A };

	for (u32 i = 0; i < ARRAY_SIZE(to); i++) {
		u64 first;

		assert_int_equal(get(to[i], ATTR_GUID_INFO, 0), MAD_OK);
		first = get_be64(data);
		assert_int_not_equal(first, 0);
		for (u32 k = 1; k < 8; k++) {
			assert_true(!get_be64(data + 8 * k));
			put_be64(data + 8 * k, 0xaa00 + k);
		}
		put_be64(data, 0x77);
		assert_int_equal(set(to[i], ATTR_GUID_INFO, 0), MAD_OK);
		assert_true(get_be64(data) == first);
		assert_true(get_be64(data + 56) == 0xaa07);
		/* twice the same, or the first again */
		put_be64(data + 8, 0xaa07);
		assert_int_equal(set(to[i], ATTR_GUID_INFO, 0), MAD_BAD_VALUE);
		put_be64(data + 8, first);
		assert_int_equal(set(to[i], ATTR_GUID_INFO, 0), MAD_BAD_VALUE);
		put_be64(data + 8, 0);
		assert_int_equal(set(to[i], ATTR_GUID_INFO, 0), MAD_OK);
		assert_true(!get_be64(data + 8));
		assert_int_equal(get(to[i], ATTR_GUID_INFO, 1), MAD_BAD_VALUE);
		assert_int_equal(set(to[i], ATTR_GUID_INFO, 1), MAD_BAD_VALUE);
	}
	assert_true(w.hca[1].told & PORT_GID_CHANGED);
	assert_true(get_be64(w.hca[1].port.ib.gid[2]) == 0xfe80000000000000ull);
	assert_true(get_be64(w.hca[1].port.ib.gid[2] + 8) == 0xaa02);
	assert_true(!get_be64(w.hca[1].port.ib.gid[1]));
}

/* ------------------------------------------------------------------------
 * Tables of ports
 */
static void pkeys(void **state)
{
	const struct {
		struct ta_path path;
		u32 port;
	} at[] = { { TO_H1, 0 }, { TO_A, 0 }, { TO_A, 1 }, { TO_C, 2 } };

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		u32 mod = at[i].port << 16;

		assert_int_equal(get(at[i].path, ATTR_PKEY_TABLE, mod), MAD_OK);
		assert_int_equal(get_be16(data), 0xffff);
		for (u32 block = 0; block < PORT_PKEYS / 32; block++) {
			for (u32 k = 0; k < 32; k++)
				put_be16(data + 2 * k, 0x8001 + 32 * block + k);
			assert_int_equal(set(at[i].path, ATTR_PKEY_TABLE, mod | block), MAD_OK);
		}
		for (u32 block = 0; block < PORT_PKEYS / 32; block++) {
			assert_int_equal(get(at[i].path, ATTR_PKEY_TABLE, mod | block), MAD_OK);
			for (u32 k = 0; k < 32; k++)
				assert_int_equal(get_be16(data + 2 * k), 0x8001 + 32 * block + k);
		}
		/* an entry without a partition */
		put_be16(data + 2, 0x8000);
		assert_int_equal(set(at[i].path, ATTR_PKEY_TABLE, mod), MAD_OK);
		assert_int_equal(get_be16(data + 2), 0);
		assert_int_equal(get(at[i].path, ATTR_PKEY_TABLE, mod | PORT_PKEYS / 32),
				 MAD_BAD_VALUE);
		assert_int_equal(set(at[i].path, ATTR_PKEY_TABLE, mod | PORT_PKEYS / 32),
				 MAD_BAD_VALUE);
	}
	assert_int_equal(get(TO_A, ATTR_PKEY_TABLE, 3 << 16), MAD_BAD_VALUE);
	/* the last block was written to the first one as well */
	assert_int_equal(w.hca[1].port.ib.pkey[5], 0x8066);
	assert_int_equal(w.hca[1].port.ib.pkey[37], 0x8026);
	assert_int_equal(fab_switch_ib(w.f, 0, 1)->pkey[127], 0x8080);
	assert_true(w.hca[1].told & PORT_PKEY_CHANGED);
}

static void sl_to_vl(void **state)
{
	const struct {
		struct ta_path path;
		u32 mod;
	} at[] = {
		{ TO_H1, 0 }, { TO_A, 0 }, { TO_A, 1 }, { TO_A, 0x201 }, { TO_A, 0x102 },
		{ TO_B, 0x202 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		for (u32 k = 0; k < 8; k++)
			data[k] = 16 * k + i;
		assert_int_equal(set(at[i].path, ATTR_SL2VL, at[i].mod), MAD_OK);
	}
	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		assert_int_equal(get(at[i].path, ATTR_SL2VL, at[i].mod), MAD_OK);
		for (u32 k = 0; k < 8; k++)
			assert_int_equal(data[k], 16 * k + i);
	}
	assert_int_equal(w.hca[1].port.ib.setup.sl2vl[2], 1);
	assert_int_equal(fab_switch_sl2vl(w.f, 0, 2, 1)[4], 2);
	assert_int_equal(fab_switch_sl2vl(w.f, 0, 2, 1)[5], 3);
	assert_int_equal(get(TO_A, ATTR_SL2VL, 3), MAD_BAD_VALUE);
	assert_int_equal(get(TO_A, ATTR_SL2VL, 0x301), MAD_BAD_VALUE);
	assert_int_equal(set(TO_A, ATTR_SL2VL, 0x10101), MAD_BAD_VALUE);
}

static void arbitration(void **state)
{
	const struct {
		struct ta_path path;
		u32 port;
	} at[] = { { TO_H1, 0 }, { TO_H1, 1 }, { TO_A, 1 }, { TO_A, 2 } };

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		for (u32 block = 1; block <= 4; block++) {
			u32 mod = block << 16 | at[i].port;

			for (u32 k = 0; k < SMP_DATA_LEN; k++)
				data[k] = k % 2 ? 10 * block + i : (k / 2 + block) % 8;
			assert_int_equal(set(at[i].path, ATTR_VLARB, mod), MAD_OK);
		}
		for (u32 block = 1; block <= 4; block++) {
			u32 mod = block << 16 | at[i].port;

			assert_int_equal(get(at[i].path, ATTR_VLARB, mod), MAD_OK);
			for (u32 k = 0; k < SMP_DATA_LEN; k++)
				assert_int_equal(data[k],
						 k % 2 ? 10 * block + i : (k / 2 + block) % 8);
		}
		data[0] = 15;
		assert_int_equal(set(at[i].path, ATTR_VLARB, 1 << 16 | at[i].port), MAD_BAD_VALUE);
		assert_int_equal(get(at[i].path, ATTR_VLARB, at[i].port), MAD_BAD_VALUE);
		assert_int_equal(get(at[i].path, ATTR_VLARB, 5 << 16 | at[i].port), MAD_BAD_VALUE);
	}
	/* high priority, upper half */
	assert_int_equal(fab_switch_ib(w.f, 0, 1)->setup.vlarb[1][33][1], 42);
	assert_int_equal(fab_switch_ib(w.f, 0, 2)->setup.vlarb[0][0][0], 1);
	assert_int_equal(get(TO_A, ATTR_VLARB, 1 << 16), MAD_BAD_VALUE);
	assert_int_equal(get(TO_A, ATTR_VLARB, 1 << 16 | 3), MAD_BAD_VALUE);
	assert_int_equal(get(TO_H1, ATTR_VLARB, 1 << 16 | 2), MAD_BAD_VALUE);
}

/* ------------------------------------------------------------------------
 * Forwarding tables
 */
static void linear(void **state)
{
	u64 seed = 5;
	static u8 want[0xc000];

	for (u32 i = 0; i < ARRAY_SIZE(want); i++)
		want[i] = t_random(&seed) % 4 ? t_random(&seed) % 3 : 255;
	for (u32 block = 0; block < ARRAY_SIZE(want) / 64; block += 37) {
		memcpy(data, &want[64 * block], 64);
		assert_int_equal(set(TO_B, ATTR_LINEAR_FDB, block), MAD_OK);
		assert_memory_equal(data, &want[64 * block], 64);
		assert_int_equal(get(TO_B, ATTR_LINEAR_FDB, block), MAD_OK);
		assert_memory_equal(data, &want[64 * block], 64);
		for (u32 i = 64 * block; i < 64 * block + 64; i++)
			assert_int_equal(fab_switch_port(w.f, 1, i), want[i]);
	}
	assert_int_equal(set(TO_B, ATTR_LINEAR_FDB, 767), MAD_OK);
	assert_int_equal(set(TO_B, ATTR_LINEAR_FDB, 768), MAD_BAD_VALUE);
	assert_int_equal(get(TO_B, ATTR_LINEAR_FDB, 0x10000), MAD_BAD_VALUE);
	assert_int_equal(get(TO_H1, ATTR_LINEAR_FDB, 0), MAD_BAD_METHOD_ATTR);
}

static void multicast(void **state)
{
	for (u32 block = 0; block < 511; block += 73) {
		for (u32 k = 0; k < 32; k++)
			put_be16(data + 2 * k, (block + k) % 8);
		assert_int_equal(set(TO_B, ATTR_MCAST_FDB, block), MAD_OK);
		assert_int_equal(get(TO_B, ATTR_MCAST_FDB, block), MAD_OK);
		for (u32 k = 0; k < 32; k++) {
			const struct port_mask *m = fab_switch_mask(w.f, 1,
								    0xc000 + 32 * block + k);

			assert_int_equal(get_be16(data + 2 * k), (block + k) % 8);
			assert_int_equal(m->word[0], (block + k) % 8);
		}
	}
	/* ports that do not exist; the last entry of the last block is no multicast LID */
	memset(data, 0xff, sizeof(data));
	assert_int_equal(set(TO_B, ATTR_MCAST_FDB, 511), MAD_OK);
	assert_int_equal(get_be16(data + 60), 7);
	assert_int_equal(get_be16(data + 62), 0);
	assert_int_equal(get(TO_B, ATTR_MCAST_FDB, 512), MAD_BAD_VALUE);
	assert_int_equal(get(TO_B, ATTR_MCAST_FDB, 1 << 28), MAD_BAD_VALUE);
	assert_int_equal(get(TO_H1, ATTR_MCAST_FDB, 0), MAD_BAD_METHOD_ATTR);
}

/* The one switch has ports in 16 positions. */
static void wide_masks(void **state)
{
	const struct ta_path to = TA_PATH(1);

	ta_end(&w);
	ta_start(&w, NULL);
	for (u32 position = 0; position < 16; position++) {
		memset(data, 0, sizeof(data));
		put_be16(data + 2 * 5, 0x8001 + position);
		assert_int_equal(set(to, ATTR_MCAST_FDB, position << 28 | 3), MAD_OK);
	}
	for (u32 position = 0; position < 16; position++) {
		u16 want = position < 15 ? 0x8001 + position : 0x0010;

		assert_int_equal(get(to, ATTR_MCAST_FDB, position << 28 | 3), MAD_OK);
		/* of the last 16 there are 15, and the mask says 0x8010 */
		assert_int_equal(get_be16(data + 2 * 5), want);
		assert_int_equal(get_be16(data + 2 * 4), 0);
	}
	assert_true(port_mask_test(fab_switch_mask(w.f, 0, 0xc000 + 3 * 32 + 5), 15 + 16));
}

/* ------------------------------------------------------------------------
 * Invalid requests
 */
static void refused(void **state)
{
	static const u16 attrs[] = {
		0x0000, 0x0002, 0x0013, 0x001a, 0x0030, 0x0031, 0xff00, 0xff90,
	};
	const struct ta_path to[] = { TO_SELF, TO_A, TO_H1 };
	u8 mad[MAD_LEN], out[MAD_LEN];
	const struct mad_path path = { 0 };

	for (u32 i = 0; i < ARRAY_SIZE(to); i++)
		for (u32 k = 0; k < ARRAY_SIZE(attrs); k++) {
			assert_int_equal(get(to[i], attrs[k], 0), MAD_BAD_METHOD_ATTR);
			assert_int_equal(set(to[i], attrs[k], 0), MAD_BAD_METHOD_ATTR);
		}
	assert_int_equal(get(TO_A, ATTR_SM_INFO, 0), MAD_BAD_METHOD_ATTR);
	/* a manager may run at an HCA */
	ta_request(&w, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_SM_INFO, 0);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), 0);
	/* versions and methods */
	ta_request(&w, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_INFO, 0);
	mad_put(mad, MAD_BASE_VERSION, 2);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), AGENT_REPLY);
	assert_int_equal(mad_get(out, MAD_STATUS), MAD_BAD_VERSION);
	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS_VERSION, 2);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), AGENT_REPLY);
	assert_int_equal(mad_get(out, MAD_STATUS), MAD_BAD_VERSION);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, 0x12);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), AGENT_REPLY);
	assert_int_equal(mad_get(out, MAD_STATUS), MAD_BAD_METHOD);
	assert_int_equal(mad_get(out, MAD_METHOD), MAD_GET_RESP);
	/* for the host: responses, traps, other classes */
	mad_put(mad, MAD_METHOD, MAD_GET_RESP);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), 0);
	mad_put(mad, MAD_METHOD, MAD_TRAP);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), 0);
	ta_request(&w, mad, 0x03, MAD_GET, 0x35, 0);
	assert_int_equal(agent_mad(&w.hca[0].agent, &path, mad, out, 0), 0);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(node_info),
		TEST(descriptions),
		TEST(switch_info),
		TEST(guids),
		TEST(pkeys),
		TEST(sl_to_vl),
		TEST(arbitration),
		TEST(linear),
		TEST(multicast),
		TEST(wide_masks),
		TEST(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
