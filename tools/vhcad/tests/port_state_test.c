// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port by itself: transitions between states, its LIDs, and notifications of its owner.
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

/* Two ports that a cable joins: the second one has no owner. */
static void start_link(struct owner *o, struct port *far)
{
	start(o);
	port_init(far, 8);
	port_connect(&o->port, far);
}

static void take_up(struct owner *o, u8 to)
{
	for (u8 s = PORT_ARMED; s <= to; s++)
		assert_int_equal(port_set_state(&o->port, s), 0);
	assert_int_equal(o->port.state, to);
}

/* A link needs a port at each end, a cable and no fault; from INIT on the manager takes it up. */
static void links(void **state)
{
	struct port far;
	struct owner o;

	for (u32 have = 0; have < 16; have++) {
		bool up = (have | 1) == 15;

		start(&o);
		port_init(&far, 8);
		port_hold_down(&o.port, have & 4 ? 0 : 99);
		port_set_cable(have & 1 ? &far : &o.port, have & 2);
		if (have & 8)
			port_connect(&far, &o.port);
		assert_int_equal(o.port.state, up ? PORT_INIT : PORT_DOWN);
		assert_int_equal(far.state, o.port.state);
		assert_int_equal(o.port.phys_state, up ? PORT_PHYS_LINKUP : PORT_PHYS_POLLING);
		assert_int_equal(far.phys_state, o.port.phys_state);
		assert_int_equal(port_link_is_up(&o.port), up);
		assert_int_equal(o.states, up);
	}
	start_link(&o, &far);
	take_up(&o, PORT_ACTIVE);
	/* each end has a state of its own */
	assert_int_equal(far.state, PORT_INIT);
	/* a state that it has already changes nothing */
	port_set_cable(&o.port, true);
	port_hold_down(&far, 0);
	assert_int_equal(o.port.state, PORT_ACTIVE);
	assert_int_equal(o.states, 3);
	port_set_cable(&far, false);
	assert_int_equal(o.port.state, PORT_DOWN);
	assert_int_equal(o.old, PORT_ACTIVE);
	assert_int_equal(o.port.link_downed, 1);
	/* and it begins again */
	port_set_cable(&far, true);
	assert_int_equal(o.port.state, PORT_INIT);
	take_up(&o, PORT_ACTIVE);
	port_bounce(&far);
	assert_int_equal(o.port.state, PORT_INIT);
	assert_int_equal(far.state, PORT_INIT);
	assert_int_equal(o.port.link_downed, 2);
	port_disconnect(&far);
	assert_int_equal(o.port.state, PORT_DOWN);
	assert_int_equal(o.port.phys_state, PORT_PHYS_POLLING);
	assert_null(o.port.peer);
	/* there is no link to bounce */
	port_bounce(&far);
	assert_int_equal(far.link_downed, 3);
}

static void transitions(void **state)
{
	static const bool goes[5][6] = {
		[PORT_DOWN] = { [PORT_DOWN] = true },
		[PORT_INIT] = { [PORT_DOWN] = true, [PORT_ARMED] = true },
		[PORT_ARMED] = { [PORT_DOWN] = true, [PORT_ARMED] = true, [PORT_ACTIVE] = true },
		[PORT_ACTIVE] = { [PORT_DOWN] = true, [PORT_ACTIVE] = true },
	};
	struct port far;
	struct owner o;

	for (u8 from = PORT_DOWN; from <= PORT_ACTIVE; from++) {
		for (u8 to = 0; to < 6; to++) {
			u8 then = to;

			start_link(&o, &far);
			if (from == PORT_DOWN)
				port_set_cable(&far, false);
			else
				take_up(&o, from);
			/* from down it comes up again at once, if it can */
			if (to == PORT_DOWN && from != PORT_DOWN)
				then = PORT_INIT;
			assert_int_equal(port_set_state(&o.port, to),
					 goes[from][to] ? 0 : -EINVAL);
			assert_int_equal(o.port.state, goes[from][to] ? then : from);
		}
	}
}

/* Physical states that a manager sets, at either end. */
static void physical(void **state)
{
	static const u8 phys[] = { PORT_PHYS_SLEEP, PORT_PHYS_POLLING, PORT_PHYS_DISABLED };
	struct port far;
	struct owner o;

	for (u32 i = 0; i < 9; i++) {
		u8 a = phys[i % 3], b = phys[i / 3];
		bool up = a != PORT_PHYS_DISABLED && b != PORT_PHYS_DISABLED &&
			  (a == PORT_PHYS_POLLING || b == PORT_PHYS_POLLING);

		start_link(&o, &far);
		take_up(&o, PORT_ACTIVE);
		assert_int_equal(port_set_phys(&o.port, a), 0);
		/* in any case the link starts again */
		assert_int_not_equal(o.port.state, PORT_ACTIVE);
		assert_int_equal(port_set_phys(&far, b), 0);
		assert_int_equal(o.port.state, up ? PORT_INIT : PORT_DOWN);
		assert_int_equal(o.port.phys_state, up ? PORT_PHYS_LINKUP : a);
		assert_int_equal(far.phys_state, up ? PORT_PHYS_LINKUP : b);
	}
	assert_int_equal(port_set_phys(&o.port, PORT_PHYS_LINKUP), -EINVAL);
	assert_int_equal(port_set_phys(&o.port, 0), -EINVAL);
}

/* An armed port is active when data comes; one in INIT is not. */
static void data(void **state)
{
	struct port far;
	struct owner o;

	start_link(&o, &far);
	port_got_data(&o.port);
	assert_int_equal(o.port.state, PORT_INIT);
	take_up(&o, PORT_ARMED);
	port_got_data(&o.port);
	assert_int_equal(o.port.state, PORT_ACTIVE);
	assert_int_equal(o.old, PORT_ARMED);
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

/* One notification to the owner, of everything that has changed. */
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

/* Each setter notifies of what it changes, and of nothing else. */
static void setters(void **state)
{
	struct port_setup setup;
	u16 pkeys[2] = { 0x8001, 2 };
	static const u8 many[PORT_GIDS - 1][16] = { { 0x20 }, { 0x21 }, { 0x22 } };
	u8 gid[16] = { 0x20, [15] = 1 };
	struct owner o;

	start(&o);
	port_set_sm(&o.port, 9, 3);
	assert_int_equal(o.what, PORT_SM_CHANGED);
	assert_int_equal(o.port.setup.sm_sl, 3);
	port_set_pkeys(&o.port, PORT_PKEYS - 2, 2, pkeys);
	assert_int_equal(o.what, PORT_PKEY_CHANGED);
	assert_int_equal(o.port.pkey[PORT_PKEYS - 1], 2);
	port_set_gids(&o.port, 1, 1, &gid);
	assert_int_equal(o.what, PORT_GID_CHANGED);
	port_set_prefix(&o.port, 0x1122334455667788);
	assert_int_equal(o.changes, 4);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(o.port.gid[i][0], 0x11);
		assert_int_equal(o.port.gid[i][7], 0x88);
	}
	assert_int_equal(o.port.gid[0][15], 7);
	assert_int_equal(o.port.gid[2][0], 0);
	setup = o.port.setup;
	setup.enforce_in = true;
	port_set_setup(&o.port, &setup);
	assert_int_equal(o.what, PORT_SETUP_CHANGED);
	port_reregister(&o.port);
	assert_int_equal(o.what, PORT_REREGISTER);
	assert_int_equal(o.changes, 6);
	/* the same once more */
	port_set_sm(&o.port, 9, 3);
	port_set_pkeys(&o.port, PORT_PKEYS - 2, 2, pkeys);
	memcpy(gid, o.port.gid[1], sizeof(gid));
	port_set_gids(&o.port, 1, 1, &gid);
	port_set_prefix(&o.port, 0x1122334455667788);
	port_set_setup(&o.port, &setup);
	assert_int_equal(o.changes, 6);
	/* several at once are one change, as all QPs of the port are looked at for each */
	port_set_gids(&o.port, 1, ARRAY_SIZE(many), many);
	assert_int_equal(o.changes, 7);
	assert_memory_equal(o.port.gid[1], many, sizeof(many));
}

static void pkeys_match(void **state)
{
	static const struct { u16 own, other, match; bool sends; } cases[] = {
		{ 0x8001, 0x8001, 0x8001, true }, { 0x8001, 0x0001, 0x8001, true },
		{ 0x0001, 0x8001, 0x0001, false }, { 0x0001, 0x0001, 0, true },
		{ 0x8001, 0x8002, 0, false }, { 0x0001, 0x0002, 0, false },
		{ 0, 0x8000, 0, false }, { 0, 0, 0, false },
	};
	struct owner o;
	u16 count = 0xfffe;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		start(&o);
		port_set_pkeys(&o.port, 0, 1, &(u16){ 0 });
		port_set_pkeys(&o.port, PORT_PKEYS - 1, 1, &cases[i].own);
		assert_int_equal(port_pkey_for(&o.port, cases[i].other), cases[i].match);
		assert_int_equal(port_sends_pkey(&o.port, cases[i].other), cases[i].sends);
	}
	port_violation(&count);
	port_violation(&count);
	assert_int_equal(count, 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(transitions),
		cmocka_unit_test(physical),
		cmocka_unit_test(data),
		cmocka_unit_test(lids),
		cmocka_unit_test(addresses),
		cmocka_unit_test(setters),
		cmocka_unit_test(pkeys_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
