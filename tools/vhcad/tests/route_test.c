// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes: forwarding tables and nothing else decide them, and the static subnet writes the shortest
 * routes into them, those of a topology file, and trees for groups.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/static.h"
#include "tests/tfabric.h"

/* ------------------------------------------------------------------------
 * Routes
 */

static void shortest(void **state)
{
	struct t_fabric f;
	struct fab_switch_state s;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	for (u32 i = 0; i < ENDS; i++)
		for (u32 k = 0; k < ENDS; k++)
			if (i != k)
				t_send_packet(&f, i, k, LONG);
	t_pass(&f, MSEC);
	for (u32 i = 0; i < ENDS; i++)
		assert_int_equal(f.e[i].n, ENDS - 1);
	/* four of each switch went to each other one, by the link between them */
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 4);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 4);
	assert_true(fab_switch_state(f.f, 0, &s));
	assert_string_equal(s.name, "a");
	assert_int_equal(s.ports, 4);
	assert_int_equal(s.link[fab_switch_port(f.f, 0, f.e[4].port.ib.lid) - 1],
			 fab_link_find(f.f, "c-a"));
	assert_int_equal(fab_switch_port(f.f, 0, f.e[1].port.ib.lid), 2);
	assert_int_equal(fab_switch_port(f.f, 0, 999), 0);
	assert_false(fab_switch_state(f.f, 3, &s));
	t_end(&f);
}

/* The routes of a LID that moves to another port change at once. */
static void moved_lid(void **state)
{
	struct t_fabric f;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	assert_int_equal(subnet_set_lid(&f.e[5].port, 77), 0);
	t_send_packet(&f, 0, 5, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[5].n, 1);
	/* and a packet to an unused LID is not even sent */
	t_send_to(&f, 0, 6, LONG);
	assert_int_equal(f.e[0].port.ib.discards, 1);
	/* but one whose LID is removed while it is under way is lost at the switch */
	t_send_to(&f, 0, 77, LONG);
	assert_int_equal(subnet_set_lid(&f.e[5].port, 78), 0);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[5].n, 1);
	assert_int_equal(f.f->topo->sw[0]->no_way, 1);
	assert_int_equal(f.e[0].port.ib.drops, 2);
	t_end(&f);
}

static void by_hand(void **state)
{
	struct topo *t = t_topo_open("abc", TOPO_HOQ_USUAL, t_triangle);
	struct t_fabric f;
	char why[128];

	/* the long way round */
	assert_null(topo_route(t, "a", "h4", "a-b"));
	assert_string_equal(topo_route(t, "a", "h9", "a-b"),
			    "no link leads to a port of this name");
	assert_string_equal(topo_route(t, "a", "h4", "x"), "no link has this name");
	assert_string_equal(topo_route(t, "a", "h4", "b-c"), "this link is not one of the switch");
	assert_string_equal(topo_route(t, "a", "h4", "a-h0"), "this link ends at another adapter");
	assert_string_equal(topo_route(t, "a", "h1", "a-b"), "this port is at the switch itself");
	assert_true(t_finish(t, why, sizeof(why)));
	t_start(&f, t);
	t_send_packet(&f, 0, 4, LONG);
	t_send_packet(&f, 0, 5, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 1);
	assert_int_equal(f.e[5].n, 1);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "b-c").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	t_end(&f);
}

/* Every member once, wherever it and the sender are; no other port. */
static void mcast_once(void **state)
{
	struct t_fabric f;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	for (u32 mlid = MLID; mlid < MLID + 3; mlid++) {
		for (u32 members = 0; members < 1u << ENDS; members++) {
			for (u32 i = 0; i < ENDS; i++)
				if (members >> i & 1)
					assert_int_equal(fab_mc_join(&f.e[i].port, mlid), 0);
			for (u32 from = 0; from < ENDS; from++) {
				t_send_to(&f, from, mlid, LONG);
				t_pass(&f, 20 * USEC);
				for (u32 i = 0; i < ENDS; i++) {
					assert_int_equal(f.e[i].n, members >> i & 1);
					assert_int_equal(f.e[i].mcasts, f.e[i].n);
					f.e[i].n = f.e[i].mcasts = 0;
				}
			}
			for (u32 i = 0; i < ENDS; i++)
				if (members >> i & 1)
					fab_mc_leave(&f.e[i].port, mlid);
			for (u32 s = 0; s < 3; s++)
				assert_true(port_mask_empty(fab_switch_mask(f.f, s, mlid)));
		}
	}
	t_end(&f);
}

/* Packets for links that go down are lost, until routes are computed again. */
static void rerouted(void **state)
{
	static const u32 whole[ENDS], alone[ENDS] = { 1, 1 };
	struct t_fabric f;
	u64 before;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	t_let(&f, "a-b", false);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(fab_reroute(f.f), 0);
	t_expect_parts(&f, whole);
	/* one switch of the ring is cut off: its ports, and for it the four others */
	t_let(&f, "c-a", false);
	assert_int_equal(fab_reroute(f.f), ENDS);
	before = f.f->topo->sw[0]->no_way;
	t_expect_parts(&f, alone);
	assert_int_equal(f.f->topo->sw[0]->no_way - before, 2 * 4);
	/* and everything is as before, except for a link that a flap holds down */
	t_let(&f, "c-a", true);
	t_let(&f, "a-b", true);
	fab_link_flap(fab_link_at(f.f, fab_link_find(f.f, "a-b")), f.now + MSEC);
	assert_int_equal(fab_reroute(f.f), 0);
	before = t_link_state(&f, "a-b").count[0].packets;
	t_pass(&f, 2 * MSEC);
	t_expect_parts(&f, whole);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, before);
	assert_int_equal(fab_reroute(f.f), 0);
	t_expect_parts(&f, whole);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, before + 4);
	t_end(&f);
}

/* Routes of topo_route() are kept where they lead to the port, and are not forgotten. */
static void rerouted_by_hand(void **state)
{
	struct topo *t = t_topo_open("abc", TOPO_HOQ_USUAL, t_triangle);
	struct t_fabric f;
	char why[128];

	assert_null(topo_route(t, "a", "h4", "a-b"));
	assert_true(t_finish(t, why, sizeof(why)));
	t_start(&f, t);
	/* b's route leads by a now, and a's may not lead back */
	t_let(&f, "b-c", false);
	assert_int_equal(fab_reroute(f.f), 0);
	t_send_packet(&f, 0, 4, LONG);
	t_send_packet(&f, 2, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 2);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 2);
	t_let(&f, "b-c", true);
	assert_int_equal(fab_reroute(f.f), 0);
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 3);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 2);
	t_end(&f);
}

/* In every connected part, members of a group receive each other's packets, once. */
static void mcast_rerouted(void **state)
{
	struct t_fabric f;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	for (u32 mlid = MLID; mlid < MLID + 3; mlid++) {
		for (u32 i = 0; i < ENDS; i += 2)
			assert_int_equal(fab_mc_join(&f.e[i].port, mlid), 0);
		/* without any of the three links, then without the two of "a" */
		for (u32 out = 6; out < 10; out++) {
			t_let(&f, t_triangle[out == 9 ? 6 : out].ends, false);
			if (out == 9)
				t_let(&f, "c-a", false);
			fab_reroute(f.f);
			t_send_to(&f, 1, mlid, LONG);
			t_send_to(&f, 3, mlid, LONG);
			t_pass(&f, 50 * USEC);
			for (u32 i = 0; i < ENDS; i++) {
				u32 from = out == 9 ? 1 : 2;

				assert_int_equal(f.e[i].n, i & 1 ? 0 : from);
				f.e[i].n = 0;
			}
			for (u32 l = 6; l < 9; l++)
				t_let(&f, t_triangle[l].ends, true);
		}
		for (u32 i = 0; i < ENDS; i += 2)
			fab_mc_leave(&f.e[i].port, mlid);
		fab_reroute(f.f);
	}
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Tables alone
 */

/* Writes an entry of the switch with this number: the link by which it sends to a LID. */
static void send_by(struct t_fabric *f, u32 sw, u16 lid, const char *link)
{
	int n = link ? fab_link_find(f->f, link) : 0;
	struct fab_switch_state s;
	u32 port = 0;

	assert_true(n >= 0);
	assert_true(fab_switch_state(f->f, sw, &s));
	for (u32 i = 0; link && i < s.ports; i++)
		if (s.link[i] == (u32)n)
			port = i + 1;
	fab_switch_set_port(f->f, sw, lid, port);
}

/* In a running fabric the next packet follows the new entry. */
static void tables_alone(void **state)
{
	struct t_fabric f;
	u16 lid;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	lid = f.e[4].port.ib.lid;
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	assert_int_equal(f.e[4].n, 1);
	/* the long way round, and back to the short one */
	send_by(&f, 0, lid, "a-b");
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "b-c").count[0].packets, 1);
	assert_int_equal(f.e[4].n, 2);
	assert_ptr_equal(fab_follow(&f.e[0].port, lid), &f.e[4].port);
	send_by(&f, 0, lid, "c-a");
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 2);
	assert_int_equal(f.e[4].n, 3);
	/* it arrives at the end of the tables' route, if the port there has the LID as well */
	send_by(&f, 2, lid, "c-h5");
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[5].n, 0);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	port_set_lid(&f.e[5].port.ib, lid, 0);
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 3);
	assert_int_equal(f.e[5].n, 1);
	assert_ptr_equal(fab_follow(&f.e[0].port, lid), &f.e[5].port);
	/* a packet on its way follows the table of each switch as it is on arrival there */
	t_send_packet(&f, 0, 4, LONG);
	send_by(&f, 2, lid, "c-h4");
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 4);
	t_end(&f);
}

/* An entry without a port: the packet is lost at that switch, and counted there. */
static void holes(void **state)
{
	struct fab_switch_state s;
	struct t_fabric f;
	u16 lid;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	lid = f.e[4].port.ib.lid;
	for (u32 i = 0; i < 3; i++) {
		static const u8 nowhere[] = { 0, 5, SWITCH_NO_PORT };

		fab_switch_set_port(f.f, 2, lid, nowhere[i]);
		t_send_packet(&f, 0, 4, LONG);
		t_pass(&f, MSEC);
		assert_true(fab_switch_state(f.f, 2, &s));
		assert_int_equal(s.no_way, i + 1);
		assert_int_equal(f.e[0].port.ib.drops, i + 1);
		assert_int_equal(f.e[0].port.ib.discards, 0);
		assert_null(fab_follow(&f.e[0].port, lid));
	}
	assert_int_equal(f.e[4].n, 0);
	/* two switches that send to each other: following the tables comes to an end */
	send_by(&f, 0, lid, "a-b");
	send_by(&f, 1, lid, "a-b");
	assert_null(fab_follow(&f.e[0].port, lid));
	send_by(&f, 1, lid, "b-c");
	send_by(&f, 2, lid, "c-h4");
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 1);
	t_end(&f);
}

/* The same of the one switch of a fabric without a topology. */
static void one_switch(void **state)
{
	struct t_fabric f = { .f = t_fabric() };
	struct port_mask m = { 0 };

	for (u32 i = 0; i < 4; i++)
		t_plug(&f, "t");
	assert_int_equal(fab_switches(f.f), 1);
	t_send_packet(&f, 0, 1, LONG);
	fab_switch_set_port(f.f, 0, f.e[1].port.ib.lid, 3);
	t_send_packet(&f, 0, 1, LONG);
	assert_int_equal(f.e[1].n, 1);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	port_set_lid(&f.e[2].port.ib, f.e[1].port.ib.lid, 0);
	t_send_packet(&f, 0, 1, LONG);
	assert_int_equal(f.e[1].n, 1);
	assert_int_equal(f.e[2].n, 1);
	for (u32 port = 0; port <= SWITCH_NO_PORT; port += 5) {
		fab_switch_set_port(f.f, 0, f.e[1].port.ib.lid, port);
		t_send_packet(&f, 0, 1, LONG);
	}
	/* ports 0 and from 5 on have no adapter */
	assert_int_equal(f.e[0].port.ib.discards, SWITCH_NO_PORT / 5 + 1);
	fab_switch_set_port(f.f, 0, f.e[1].port.ib.lid, 2);
	/* multicast: the ports of the mask but the sender's */
	port_mask_set(&m, 1);
	port_mask_set(&m, 3);
	port_mask_set(&m, 77);
	fab_switch_set_mask(f.f, 0, MLID, &m);
	t_send_to(&f, 0, MLID, LONG);
	t_send_to(&f, 1, MLID, LONG);
	assert_int_equal(f.e[0].mcasts, 1);
	assert_int_equal(f.e[1].mcasts, 0);
	assert_int_equal(f.e[2].mcasts, 2);
	assert_int_equal(f.e[3].mcasts, 0);
	fab_switch_set_mask(f.f, 0, MLID, &(struct port_mask){ 0 });
	t_send_to(&f, 0, MLID, LONG);
	assert_int_equal(f.e[0].port.ib.discards, SWITCH_NO_PORT / 5 + 2);
	for (u32 i = 0; i < 4; i++)
		fab_unplug(&f.e[i].port);
	fabric_free(f.f);
}

/*
 * A switch sends a multicast by the ports of its mask, but never back; the sender's own copy is
 * made by its adapter.
 */
static void masks_alone(void **state)
{
	struct port_mask m = { 0 };
	struct t_fabric f;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	assert_int_equal(fab_mc_join(&f.e[0].port, MLID), 0);
	assert_int_equal(fab_mc_join(&f.e[2].port, MLID), 0);
	t_send_to(&f, 0, MLID, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	/* "b" sends it to h3 instead of h2; the port it came from is ignored */
	m = *fab_switch_mask(f.f, 1, MLID);
	port_mask_clear(&m, 1);
	port_mask_set(&m, 2);
	fab_switch_set_mask(f.f, 1, MLID, &m);
	t_send_to(&f, 0, MLID, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(f.e[3].n, 1);
	assert_int_equal(f.e[0].mcasts, 2);
	/* "a" sends it nowhere: the sender gets its own copy all the same */
	m = *fab_switch_mask(f.f, 0, MLID);
	fab_switch_set_mask(f.f, 0, MLID, &(struct port_mask){ 0 });
	t_send_to(&f, 0, MLID, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[0].mcasts, 3);
	assert_int_equal(f.e[3].n, 1);
	fab_switch_set_mask(f.f, 0, MLID, &m);
	f.e[0].port.ib.drops = 0;
	/* a packet that could only go back, or that has no port, is lost */
	for (u32 i = 0; i < 2; i++) {
		struct fab_switch_state s;

		m = (struct port_mask){ 0 };
		if (!i)
			port_mask_set(&m, 3);
		fab_switch_set_mask(f.f, 1, MLID, &m);
		t_send_to(&f, 0, MLID, LONG);
		t_pass(&f, MSEC);
		assert_true(fab_switch_state(f.f, 1, &s));
		assert_int_equal(s.no_way, i + 1);
		assert_int_equal(f.e[0].port.ib.drops, i + 1);
	}
	fab_mc_leave(&f.e[0].port, MLID);
	fab_mc_leave(&f.e[2].port, MLID);
	t_end(&f);
}

static void masks(void **state)
{
	struct port_mask m = { 0 };
	u32 port, n = 0;

	assert_true(port_mask_empty(&m));
	for (port = 1; port <= SWITCH_MAX_PORTS; port += 3)
		port_mask_set(&m, port);
	port_mask_for_each(port, &m) {
		assert_int_equal(port, 1 + 3 * n++);
		assert_true(port_mask_test(&m, port));
		port_mask_clear(&m, port);
	}
	assert_int_equal(n, (SWITCH_MAX_PORTS + 2) / 3);
	assert_true(port_mask_empty(&m));
}

/* ------------------------------------------------------------------------
 * Brute force
 */
#define RANDOM_SWITCHES	7u

/* Hops between all switches, over links that are up, by trying every detour. */
static void distances(struct t_fabric *f, u32 n, u32 d[RANDOM_SWITCHES][RANDOM_SWITCHES])
{
	const struct topo *t = fab_topology(f->f);
	struct topo_far far;

	for (u32 a = 0; a < n; a++) {
		for (u32 b = 0; b < n; b++)
			d[a][b] = a == b ? 0 : 99;
		for (u32 port = 1; topo_far(t, a, port, &far); port++)
			if (far.is_switch && far.open)
				d[a][far.no] = 1;
	}
	for (u32 k = 0; k < n; k++)
		for (u32 a = 0; a < n; a++)
			for (u32 b = 0; b < n; b++)
				d[a][b] = MIN(d[a][b], d[a][k] + d[k][b]);
}

/* Each entry leads one hop nearer, and there is one wherever there is a way at all. */
static void check_tables(struct t_fabric *f, u32 n)
{
	const struct topo *t = fab_topology(f->f);
	u32 d[RANDOM_SWITCHES][RANDOM_SWITCHES], port;

	distances(f, n, d);
	for (u32 e = 0; e < f->nends; e++) {
		u32 home = topo_end_switch(t, e, &port);

		for (u32 sw = 0; sw < n; sw++) {
			u32 by = fab_switch_port(f->f, sw, f->e[e].port.ib.lid);
			struct topo_far far;

			if (d[sw][home] >= 99) {
				assert_int_equal(by, 0);
				continue;
			}
			assert_true(topo_far(t, sw, by, &far));
			if (sw == home) {
				assert_int_equal(by, port);
				continue;
			}
			assert_true(far.is_switch && far.open);
			assert_int_equal(d[far.no][home], d[sw][home] - 1);
		}
	}
}

/*
 * The port that was chosen before there were tables: a search from the end's switch visits each
 * switch's ports in their order, and a switch that is found first leads back to the one that found
 * it.
 */
static void check_choice(struct t_fabric *f, u32 n)
{
	const struct topo *t = fab_topology(f->f);

	for (u32 e = 0; e < f->nends; e++) {
		u32 port, home = topo_end_switch(t, e, &port), queue[RANDOM_SWITCHES] = { home };
		u32 back[RANDOM_SWITCHES] = { 0 }, len = 1;
		struct topo_far far;

		for (u32 i = 0; i < len; i++)
			for (u32 p = 1; topo_far(t, queue[i], p, &far); p++)
				if (far.is_switch && far.open && far.no != home && !back[far.no]) {
					back[far.no] = far.port;
					queue[len++] = far.no;
				}
		back[home] = port;
		for (u32 sw = 0; sw < n; sw++)
			assert_int_equal(fab_switch_port(f->f, sw, f->e[e].port.ib.lid), back[sw]);
	}
}

/* Random topologies, and every one of their links down once: routes are the shortest. */
static void as_brute_force(void **state)
{
	struct trandom_links { char name[32]; } link[32];
	u32 seed = 1;

	for (u32 round = 0; round < 30; round++) {
		struct t_link w[40] = { 0 };
		char names[RANDOM_SWITCHES + 1] = "";
		struct t_fabric f;
		u32 n, nw = 0;

		seed = seed * 1103515245 + 12345;
		n = 2 + (seed >> 16) % (RANDOM_SWITCHES - 1);
		for (u32 i = 0; i < n; i++)
			names[i] = 'a' + i;
		/* every switch is linked to an earlier one; some more links close rings */
		for (u32 i = 1; i < n + n / 2; i++) {
			u32 a = i % n, b;

			seed = seed * 1103515245 + 12345;
			b = (seed >> 16) % (i < n ? i : n);
			snprintf(link[nw].name, sizeof(link[nw].name), "%c-%c", names[a],
				 names[b]);
			for (u32 k = 0; k < nw; k++)
				if (!strcmp(link[k].name, link[nw].name))
					b = a;
			if (a == b)
				continue;
			w[nw] = (struct t_link){ link[nw].name, "4X EDR", 10, 8 };
			nw++;
		}
		for (u32 i = 0; i < ENDS; i++) {
			snprintf(link[nw + i].name, sizeof(link[0].name), "%c-h%u",
				 names[(i * 5 + round) % n], i);
			w[nw + i] = (struct t_link){ link[nw + i].name, "4X EDR", 10, 8 };
		}
		t_start(&f, t_topo(names, TOPO_HOQ_USUAL, w));
		check_tables(&f, n);
		check_choice(&f, n);
		for (u32 i = 0; i < nw; i++) {
			t_let(&f, link[i].name, false);
			fab_reroute(f.f);
			check_tables(&f, n);
			check_choice(&f, n);
			t_let(&f, link[i].name, true);
		}
		fab_reroute(f.f);
		check_choice(&f, n);
		t_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortest),
		cmocka_unit_test(moved_lid),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(mcast_once),
		cmocka_unit_test(rerouted),
		cmocka_unit_test(rerouted_by_hand),
		cmocka_unit_test(mcast_rerouted),
		cmocka_unit_test(tables_alone),
		cmocka_unit_test(holes),
		cmocka_unit_test(one_switch),
		cmocka_unit_test(masks_alone),
		cmocka_unit_test(masks),
		cmocka_unit_test(as_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
