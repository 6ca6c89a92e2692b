// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortInfo: its values, what a manager may change, and requests that change nothing.
 */
#include <string.h>

#include "fabric/switch.h"
#include "subnet/static.h"
#include "tests/tagent.h"

/* Two switches; port 2 of both leads to the other. */
static const struct t_link row[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "b-h1", "4X FDR", 10, 8 }, { "a-b", "4X QDR", 10, 8 }, { 0 },
};

#define TO_SELF		TA_SELF
#define TO_A		TA_PATH(1)
#define TO_B		TA_PATH(1, 2)
#define TO_H1		TA_PATH(1, 2, 1)

static struct ta_world w;
static u8 data[SMP_DATA_LEN];

static u32 get(struct ta_path path, u32 port)
{
	memset(data, 0, sizeof(data));
	return ta_route(&w, 0, &path, MAD_GET, ATTR_PORT_INFO, port, data);
}

static u32 set(struct ta_path path, u32 port)
{
	return ta_route(&w, 0, &path, MAD_SET, ATTR_PORT_INFO, port, data);
}

/* Sets what was read with one field changed, as a manager does. */
static u32 set_field(struct ta_path path, u32 port, u32 field, u64 value)
{
	assert_int_equal(get(path, port), MAD_OK);
	mad_put(data, PI_STATE, 0);
	mad_put(data, PI_PHYS_STATE, 0);
	mad_put(data, field, value);
	return set(path, port);
}

static int start(void **state)
{
	ta_start(&w, t_topo("ab", 18, row));
	return 0;
}

static int end(void **state)
{
	ta_end(&w);
	return 0;
}

/* ------------------------------------------------------------------------
 * Reading
 */
static void first_look(void **state)
{
	assert_int_equal(get(TO_SELF, 1), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_INIT);
	assert_int_equal(mad_get(data, PI_PHYS_STATE), PORT_PHYS_LINKUP);
	assert_int_equal(mad_get(data, PI_LID), 0);
	assert_int_equal(mad_get(data, PI_LOCAL_PORT), 1);
	assert_int_equal(mad_get(data, PI_GUID_CAP), PORT_GIDS);
	assert_true(mad_get(data, PI_GID_PREFIX) == 0xfe80000000000000ull);
	assert_int_equal(mad_get(data, PI_MTU_CAP), 5);
	assert_int_equal(mad_get(data, PI_VL_CAP), 4);
	assert_int_equal(mad_get(data, PI_VLARB_HIGH_CAP), 64);
	assert_int_equal(mad_get(data, PI_CAPS), w.hca[0].port.ib.cap_mask);
	assert_true(mad_get(data, PI_CAPS) & PI_CAP_REREGISTER);
	assert_true(mad_get(data, PI_CAPS) & PI_CAP_TRAP);
	/* 4X EDR is an extended speed; the old field has the fastest that it can express */
	assert_int_equal(mad_get(data, PI_WIDTH_ACTIVE), 2);
	assert_int_equal(mad_get(data, PI_SPEED_EXT_ACTIVE), 2);
	assert_int_equal(mad_get(data, PI_SPEED_ACTIVE), 4);
	assert_int_equal(get(TO_H1, 0), MAD_OK);
	assert_int_equal(mad_get(data, PI_SPEED_EXT_ACTIVE), 1);
	assert_int_equal(get(TO_A, 2), MAD_OK);
	assert_int_equal(mad_get(data, PI_SPEED_EXT_ACTIVE), 0);
	assert_int_equal(mad_get(data, PI_SPEED_ACTIVE), 4);
	/* a port of a switch has no addresses */
	assert_int_equal(mad_get(data, PI_CAPS), 0);
	assert_true(!mad_get(data, PI_GID_PREFIX));
	assert_int_equal(get(TO_A, 0), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_ACTIVE);
	assert_int_equal(mad_get(data, PI_VLARB_LOW_CAP), 0);
	/* bit 31 says that the manager knows of extended speeds */
	assert_int_equal(get(TO_A, 1 | PI_MOD_EXT_SPEEDS), MAD_OK);
	assert_int_equal(get(TO_A, 3), MAD_BAD_VALUE);
	assert_int_equal(get(TO_A, 0x100), MAD_BAD_VALUE);
	assert_int_equal(get(TO_H1, 2), MAD_BAD_VALUE);
}

/* What a manager has read it may send back. */
static void as_it_was(void **state)
{
	const struct {
		struct ta_path path;
		u32 port;
	} at[] = { { TO_SELF, 1 }, { TO_A, 0 }, { TO_A, 1 }, { TO_A, 2 }, { TO_H1, 1 } };

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		u8 before[SMP_DATA_LEN];

		assert_int_equal(get(at[i].path, at[i].port), MAD_OK);
		memcpy(before, data, sizeof(data));
		assert_int_equal(set(at[i].path, at[i].port | PI_MOD_EXT_SPEEDS), MAD_OK);
		assert_memory_equal(data, before, sizeof(data));
	}
	assert_int_equal(w.hca[0].told | w.hca[1].told, 0);
}

/* ------------------------------------------------------------------------
 * Components
 */
static void components(void **state)
{
	static const struct {
		u32 field;
		u64 good;
		u64 bad;		/* 0: there is none */
	} f[] = {
		{ PI_GID_PREFIX, 0xfec0000000000001ull, 0xff12000000000000ull },
		{ PI_LID, 0xbfff, 0xc000 }, { PI_LID, 0x40, 0xffff }, { PI_SM_LID, 0x33, 0xfffe },
		{ PI_MKEY_LEASE, 77, 0 }, { PI_SM_SL, 9, 0 }, { PI_WIDTH_ENABLED, 3, 0x20 },
		{ PI_SPEED_ENABLED, 5, 9 }, { PI_DOWN_DEFAULT, 1, 3 }, { PI_LMC, 3, 0 },
		{ PI_MTU, 2, 6 }, { PI_MTU, 5, 15 }, { PI_OP_VLS, 2, 5 },
		{ PI_VL_HIGH_LIMIT, 200, 0 },
		{ PI_VL_STALL, 5, 0 }, { PI_HOQ_LIFE, 20, 0 }, { PI_SUBNET_TIMEOUT, 31, 0 },
		{ PI_INIT_TYPE_REPLY, 6, 0 }, { PI_MCAST_TRAP_SUPPRESS, 1, 0 },
		{ PI_PHY_ERRORS, 8, 0 },
		{ PI_OVERRUN_ERRORS, 9, 0 },
		{ PI_PHYS_STATE, 0, 4 }, { PI_PHYS_STATE, 0, 15 }, { PI_STATE, 0, 5 },
		{ PI_STATE, 0, PORT_ACTIVE }, { PI_STATE, 0, 15 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(f); i++) {
		u8 before[SMP_DATA_LEN];

		if (f[i].good) {
			assert_int_equal(set_field(TO_H1, 1, f[i].field, f[i].good), MAD_OK);
			assert_true(mad_get(data, f[i].field) == f[i].good);
		}
		assert_int_equal(get(TO_H1, 1), MAD_OK);
		assert_true(!f[i].good || mad_get(data, f[i].field) == f[i].good);
		memcpy(before, data, sizeof(data));
		if (f[i].bad) {
			/* another field that is right does not help */
			mad_put(data, PI_SM_SL, 3);
			mad_put(data, f[i].field, f[i].bad);
			if (set(TO_H1, 1) != MAD_BAD_VALUE)
				fail_msg("field %u", i);
			assert_int_equal(get(TO_H1, 1), MAD_OK);
			assert_memory_equal(data, before, sizeof(data));
		}
	}
	assert_true(w.hca[1].told & PORT_LID_CHANGED && w.hca[1].told & PORT_SM_CHANGED &&
		    w.hca[1].told & PORT_GID_CHANGED);
	assert_int_equal(w.hca[1].told & PORT_REREGISTER, 0);
}

/* Zero leaves these as they are, all ones set everything that is supported. */
static void enabled(void **state)
{
	assert_int_equal(set_field(TO_H1, 1, PI_WIDTH_ENABLED, 1), MAD_OK);
	assert_int_equal(set_field(TO_H1, 1, PI_WIDTH_ENABLED, 0), MAD_OK);
	assert_int_equal(mad_get(data, PI_WIDTH_ENABLED), 1);
	assert_int_equal(set_field(TO_H1, 1, PI_WIDTH_ENABLED, 255), MAD_OK);
	assert_int_equal(mad_get(data, PI_WIDTH_ENABLED), mad_get(data, PI_WIDTH_SUPPORTED));
	assert_int_equal(set_field(TO_H1, 1, PI_SPEED_ENABLED, 1), MAD_OK);
	assert_int_equal(set_field(TO_H1, 1, PI_SPEED_ENABLED, 15), MAD_OK);
	assert_int_equal(mad_get(data, PI_SPEED_ENABLED), mad_get(data, PI_SPEED_SUPPORTED));
	/* extended speeds only from a manager that knows them */
	assert_int_equal(set_field(TO_H1, 1, PI_SPEED_EXT_ENABLED, 30), MAD_OK);
	assert_int_not_equal(mad_get(data, PI_SPEED_EXT_ENABLED), 30);
	assert_int_equal(set_field(TO_H1, 1 | PI_MOD_EXT_SPEEDS, PI_SPEED_EXT_ENABLED, 30), MAD_OK);
	assert_int_equal(mad_get(data, PI_SPEED_EXT_ENABLED), 30);
	assert_int_equal(set_field(TO_H1, 1 | PI_MOD_EXT_SPEEDS, PI_SPEED_EXT_ENABLED, 31), MAD_OK);
	assert_int_equal(mad_get(data, PI_SPEED_EXT_ENABLED),
			 mad_get(data, PI_SPEED_EXT_SUPPORTED));
	assert_int_equal(set_field(TO_H1, 1 | PI_MOD_EXT_SPEEDS, PI_SPEED_EXT_ENABLED, 16),
			 MAD_BAD_VALUE);
}

static void lids(void **state)
{
	assert_int_equal(set_field(TO_H1, 1, PI_LMC, 2), MAD_OK);
	/* not a multiple of four */
	assert_int_equal(set_field(TO_H1, 1, PI_LID, 6), MAD_BAD_VALUE);
	assert_int_equal(set_field(TO_H1, 1, PI_LID, 8), MAD_OK);
	assert_true(port_has_lid(&w.hca[1].port.ib, 11));
	assert_int_equal(set_field(TO_H1, 1, PI_LID, 0), MAD_BAD_VALUE);
	/* port 0 of a switch has one */
	assert_int_equal(set_field(TO_A, 0, PI_LID, 9), MAD_OK);
	assert_int_equal(set_field(TO_A, 0, PI_LMC, 1), MAD_BAD_VALUE);
	assert_int_equal(fab_switch_ib(w.f, 0, 0)->lid, 9);
	/* others none at all */
	assert_int_equal(set_field(TO_A, 1, PI_LID, 77), MAD_OK);
	assert_int_equal(mad_get(data, PI_LID), 0);
	assert_int_equal(fab_switch_ib(w.f, 0, 1)->lid, 0);
}

static void enforcement(void **state)
{
	assert_int_equal(set_field(TO_A, 2, PI_ENFORCE_IN, 1), MAD_OK);
	assert_int_equal(set_field(TO_A, 2, PI_ENFORCE_OUT, 1), MAD_OK);
	assert_true(fab_switch_ib(w.f, 0, 2)->setup.enforce_in);
	assert_int_equal(mad_get(data, PI_ENFORCE_OUT), 1);
	/* an HCA drops packets without a matching P_Key anyway */
	assert_int_equal(set_field(TO_H1, 1, PI_ENFORCE_IN, 1), MAD_OK);
	assert_int_equal(mad_get(data, PI_ENFORCE_IN), 0);
}

static void violations(void **state)
{
	struct port *ib = &w.hca[1].port.ib;

	ib->pkey_viol = 5;
	ib->qkey_viol = 6;
	assert_int_equal(set_field(TO_H1, 1, PI_PKEY_VIOL, 100), MAD_OK);
	assert_int_equal(mad_get(data, PI_PKEY_VIOL), 5);
	assert_int_equal(set_field(TO_H1, 1, PI_PKEY_VIOL, 0), MAD_OK);
	assert_int_equal(mad_get(data, PI_PKEY_VIOL), 0);
	assert_int_equal(mad_get(data, PI_QKEY_VIOL), 6);
}

static void reregister(void **state)
{
	assert_int_equal(set_field(TO_H1, 1, PI_REREGISTER, 1), MAD_OK);
	assert_int_equal(w.hca[1].told, PORT_REREGISTER);
	/* the reply says so, later ones do not */
	assert_int_equal(mad_get(data, PI_REREGISTER), 1);
	assert_int_equal(get(TO_H1, 1), MAD_OK);
	assert_int_equal(mad_get(data, PI_REREGISTER), 0);
}

/* ------------------------------------------------------------------------
 * States
 */
static void up(void **state)
{
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ACTIVE), MAD_BAD_VALUE);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ARMED), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_ARMED);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ARMED), MAD_OK);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_INIT), MAD_BAD_VALUE);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ACTIVE), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_ACTIVE);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ACTIVE), MAD_OK);
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ARMED), MAD_BAD_VALUE);
	assert_int_equal(w.hca[1].port.ib.state, PORT_ACTIVE);
	/* the state of a switch's port 0 does not change */
	assert_int_equal(set_field(TO_A, 0, PI_STATE, PORT_ACTIVE), MAD_OK);
	assert_int_equal(set_field(TO_A, 0, PI_STATE, PORT_DOWN), MAD_BAD_VALUE);
	assert_int_equal(set_field(TO_A, 0, PI_PHYS_STATE, PORT_PHYS_POLLING), MAD_BAD_VALUE);
}

/* A link goes down; the reply comes even if it leaves by that port. */
static void down(void **state)
{
	/* the far port of the link between the switches, the near one, the HCA's, the own one */
	const struct {
		struct ta_path path;
		u32 port;
	} at[] = { { TO_B, 2 }, { TO_A, 2 }, { TO_H1, 1 }, { TO_A, 1 }, { TO_B, 1 } };

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		struct port *ib = at[i].path.hops == 3 ? &w.hca[1].port.ib :
				  fab_switch_ib(w.f, at[i].path.hops - 1, at[i].port);

		assert_int_equal(set_field(at[i].path, at[i].port, PI_STATE, PORT_ARMED), MAD_OK);
		assert_int_equal(set_field(at[i].path, at[i].port, PI_STATE, PORT_DOWN), MAD_OK);
		ta_pass(&w, 10 * MSEC);
		/* it comes up again as it is not disabled */
		assert_int_equal(ib->state, PORT_INIT);
		assert_int_equal(get(at[i].path, at[i].port), MAD_OK);
		assert_int_equal(mad_get(data, PI_STATE), PORT_INIT);
	}
}

static void disabled(void **state)
{
	assert_int_equal(set_field(TO_A, 2, PI_PHYS_STATE, PORT_PHYS_DISABLED), MAD_OK);
	assert_int_equal(mad_get(data, PI_PHYS_STATE), PORT_PHYS_DISABLED);
	assert_int_equal(mad_get(data, PI_STATE), PORT_DOWN);
	assert_int_equal(get(TO_B, 1), TA_NO_REPLY);
	assert_int_equal(set_field(TO_A, 2, PI_STATE, PORT_ARMED), MAD_BAD_VALUE);
	/* with a change of the physical state the logical state cannot be chosen */
	mad_put(data, PI_PHYS_STATE, PORT_PHYS_POLLING);
	mad_put(data, PI_STATE, PORT_ACTIVE);
	assert_int_equal(set(TO_A, 2), MAD_BAD_VALUE);
	assert_int_equal(set_field(TO_A, 2, PI_PHYS_STATE, PORT_PHYS_POLLING), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_INIT);
	assert_int_equal(get(TO_B, 1), MAD_OK);
	/* at the far end: the reply leaves first, then the port cannot be asked any more */
	assert_int_equal(set_field(TO_B, 2, PI_PHYS_STATE, PORT_PHYS_DISABLED), MAD_OK);
	ta_pass(&w, 10 * MSEC);
	assert_int_equal(get(TO_B, 1), TA_NO_REPLY);
	assert_int_equal(get(TO_A, 2), MAD_OK);
	assert_int_equal(mad_get(data, PI_STATE), PORT_DOWN);
}

/* A host asks a switch to disable a port, with what it has read of it, and does not wait. */
static void disable(u32 hca, struct ta_path path, u32 port)
{
	const struct wire_hdr h = {
		.vl = 15, .pkey = MAD_SMI_PKEY, .dlid = LID_PERMISSIVE, .slid = LID_PERMISSIVE,
	};
	u8 mad[MAD_LEN];

	ta_request(&w, mad, MAD_CLASS_SUBN_DR, MAD_SET, ATTR_PORT_INFO, port);
	mad_put(mad, DR_HOP_POINTER, 1);
	mad_put(mad, DR_HOP_COUNT, path.hops);
	mad_put(mad, DR_SLID, LID_PERMISSIVE);
	mad_put(mad, DR_DLID, LID_PERMISSIVE);
	memcpy(mad + DR_INITIAL_PATH, path.port, sizeof(path.port));
	mad_put(data, PI_STATE, 0);
	mad_put(data, PI_PHYS_STATE, PORT_PHYS_DISABLED);
	memcpy(mad + SMP_DATA, data, SMP_DATA_LEN);
	ta_raw(&w, hca, &h, mad, MAD_LEN);
}

/* Each disables the port by which its requests come, at the same time: both are disabled. */
static void disabled_by_two(void **state)
{
	assert_int_equal(get(TO_A, 1), MAD_OK);
	disable(0, TO_A, 1);
	/* the two ports differ in nothing that can be set */
	disable(1, TA_PATH(1, 2), 2);
	ta_pass(&w, 10 * MSEC);
	assert_int_equal(fab_switch_ib(w.f, 0, 1)->phys_state, PORT_PHYS_DISABLED);
	assert_int_equal(fab_switch_ib(w.f, 0, 2)->phys_state, PORT_PHYS_DISABLED);
}

/* The static subnet ends when a manager sets the first state. */
static void yields(void **state)
{
	assert_int_equal(subnet_static(w.f), 0);
	assert_true(subnet_is_static(w.f));
	assert_int_equal(set_field(TO_H1, 1, PI_SM_SL, 1), MAD_OK);
	assert_true(subnet_is_static(w.f));
	assert_int_equal(set_field(TO_H1, 1, PI_STATE, PORT_ARMED), MAD_OK);
	assert_false(subnet_is_static(w.f));
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_look),
		TEST(as_it_was),
		TEST(components),
		TEST(enabled),
		TEST(lids),
		TEST(enforcement),
		TEST(violations),
		TEST(reregister),
		TEST(up),
		TEST(down),
		TEST(disabled),
		TEST(disabled_by_two),
		TEST(yields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
