// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port by itself: which states follow which, its LIDs, and what its owner is told.
 */
#include <errno.h>
#include <string.h>

#include "port/port.h"
#include "tests/cm.h"

struct owner {
	struct port port;
	u32 states, changes;
	u8 old;
	u32 what;
};

static void on_state(struct port *port, u8 old)
{
	struct owner *o = container_of(port, struct owner, port);

	o->states++;
	o->old = old;
}

static void on_changed(struct port *port, u32 what)
{
	struct owner *o = container_of(port, struct owner, port);

	o->changes++;
	o->what = what;
}

static const struct port_ops ops = { .state = on_state, .changed = on_changed };

static void start(struct owner *o)
{
	memset(o, 0, sizeof(*o));
	port_init(&o->port, 7);
	o->port.ops = &ops;
}

/* A port needs a driver, a cable and no fault; the manager takes it on from there. */
static void links(void **state)
{
	struct owner o;

	for (u32 have = 0; have < 8; have++) {
		start(&o);
		port_hold_down(&o.port, have & 4 ? 0 : 99);
		port_set_cable(&o.port, have & 1);
		port_enable(&o.port, have & 2);
		assert_int_equal(o.port.state, have == 7 ? PORT_INIT : PORT_DOWN);
		assert_int_equal(o.port.phys_state,
				 have == 7 ? PORT_PHYS_LINKUP : PORT_PHYS_POLLING);
		assert_int_equal(o.states, have == 7);
	}
	assert_int_equal(port_set_state(&o.port, PORT_ARMED), 0);
	assert_int_equal(port_set_state(&o.port, PORT_ACTIVE), 0);
	/* what it has already changes nothing */
	port_enable(&o.port, true);
	port_set_cable(&o.port, true);
	assert_int_equal(o.port.state, PORT_ACTIVE);
	assert_int_equal(o.states, 3);
	port_set_cable(&o.port, false);
	assert_int_equal(o.port.state, PORT_DOWN);
	assert_int_equal(o.old, PORT_ACTIVE);
	/* and it begins again */
	port_set_cable(&o.port, true);
	assert_int_equal(o.port.state, PORT_INIT);
}

static void transitions(void **state)
{
	static const bool goes[5][6] = {
		[PORT_INIT] = { [PORT_INIT] = true, [PORT_ARMED] = true },
		[PORT_ARMED] = { [PORT_INIT] = true, [PORT_ARMED] = true, [PORT_ACTIVE] = true },
		[PORT_ACTIVE] = { [PORT_INIT] = true, [PORT_ACTIVE] = true },
	};
	struct owner o;

	for (u8 from = PORT_DOWN; from <= PORT_ACTIVE; from++) {
		for (u8 to = 0; to < 6; to++) {
			start(&o);
			port_enable(&o.port, from > PORT_DOWN);
			for (u8 s = PORT_ARMED; s <= from; s++)
				assert_int_equal(port_set_state(&o.port, s), 0);
			assert_int_equal(o.port.state, from);
			assert_int_equal(port_set_state(&o.port, to),
					 goes[from][to] ? 0 : -EINVAL);
			assert_int_equal(o.port.state, goes[from][to] ? to : from);
		}
	}
}

static void lids(void **state)
{
	struct owner o;

	start(&o);
	assert_false(port_has_lid(&o.port, 0));
	for (u8 lmc = 0; lmc <= LMC_MOST; lmc++) {
		port_set_lid(&o.port, 0x480, lmc);
		assert_int_equal(o.changes, lmc + 1);
		assert_int_equal(o.what, PORT_LID_CHANGED);
		assert_false(port_has_lid(&o.port, 0x47f));
		assert_true(port_has_lid(&o.port, 0x480));
		assert_true(port_has_lid(&o.port, 0x480 + (1 << lmc) - 1));
		assert_false(port_has_lid(&o.port, 0x480 + (1 << lmc)));
	}
	port_set_lid(&o.port, 0x480, LMC_MOST);
	assert_int_equal(o.changes, LMC_MOST + 1);
}

/* One word to the owner, of all that is not what it was. */
static void addresses(void **state)
{
	struct port_addrs a;
	struct owner o;

	start(&o);
	assert_int_equal(o.port.gid[0][0], 0xfe);
	assert_int_equal(o.port.gid[0][15], 7);
	assert_int_equal(o.port.pkey[0], 0xffff);
	a = o.port.addrs;
	port_set_addrs(&o.port, &a, false);
	assert_int_equal(o.changes, 0);
	port_set_addrs(&o.port, &a, true);
	assert_int_equal(o.what, PORT_REREGISTER);
	a.lid = 5;
	a.sm_lid = 6;
	a.pkey[3] = 9;
	a.gid[7][0] = 1;
	port_set_addrs(&o.port, &a, false);
	assert_int_equal(o.changes, 2);
	assert_int_equal(o.what, PORT_LID_CHANGED | PORT_SM_CHANGED | PORT_PKEY_CHANGED |
				 PORT_GID_CHANGED);
	assert_memory_equal(&o.port.addrs, &a, sizeof(a));
	assert_null(port_addrs_wrong(&a));
	a.lid = 0;
	assert_non_null(port_addrs_wrong(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(transitions),
		cmocka_unit_test(lids),
		cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
