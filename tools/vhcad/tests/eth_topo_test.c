// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet switches and links: when frames arrive, that none is lost for want of room, routes when
 * links fail, and the receivers of a multicast.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/pcapng.h"
#include "tests/tcheck.h"
#include "tests/tfabric.h"
#include "tests/tfail.h"
#include "tests/tprog.h"

static void start(struct t_fabric *f, const char *switches, const struct t_link *links)
{
	t_start(f, t_eth_topo(switches, TOPO_HOQ_USUAL, links));
}

/* ------------------------------------------------------------------------
 * Time and room
 */

/* Two hosts by three switches: a frame takes on each link the time of its bits and the latency. */
static void exact(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "1X SDR", 100, 8 }, { "a-b", "1X DDR", 12345, 8 },
		{ "b-c", "1X QDR", 7, 8 }, { "c-h1", "4X EDR", 0, 8 }, { 0 },
	};
	u64 t0, len = t_frame_size(LONG), all;
	struct t_fabric f;

	/* 4, 2, 1 and 0.08 ns a byte */
	all = 4 * len + 100 + 2 * len + 12345 + len + 7 + len * 8 / 100;
	start(&f, "abc", links);
	for (u32 from = 0; from < 2; from++) {
		struct t_end *to = &f.e[!from];

		t0 = f.now;
		t_send_packet(&f, from, !from, LONG);
		t_send_packet(&f, from, !from, LONG);
		t_pass(&f, MSEC);
		assert_int_equal(to->n, 2);
		assert_int_equal(to->at[0] - t0, all);
		assert_int_equal(to->at[1] - to->at[0], 4 * len);
	}
	assert_int_equal(t_link_state(&f, "b-c").count[0].packets, 2);
	assert_int_equal(t_link_state(&f, "b-c").count[1].bytes, 2 * len);
	/* what a port sends to itself takes no link, and no time */
	f.e[0].n = 0;
	t_send_packet(&f, 0, 0, LONG);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(t_link_state(&f, "a-h0").count[1].packets, 2);
	t_end(&f);
}

/* If the engine runs late, everything happens at its proper time all the same. */
static void late(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "1X SDR", 100, 64 }, { "a-b", "1X SDR", 100, 2 },
		{ "b-h1", "1X SDR", 100, 2 }, { 0 },
	};
	struct t_fabric f;
	u64 len = t_frame_size(LONG);

	start(&f, "ab", links);
	for (u32 i = 0; i < 20; i++)
		t_send_packet(&f, 0, 1, LONG);
	f.now += SEC;
	fab_poll(f.f, f.now, UINT32_MAX);
	assert_int_equal(f.e[1].n, 20);
	for (u32 i = 0; i < 20; i++)
		assert_int_equal(f.e[1].at[i], 5 * SEC + (i + 3) * 4 * len + 300);
	t_end(&f);
}

static void busy(struct t_fabric *f, u32 from, u32 to)
{
	while (fab_room(&f->e[from].port))
		t_send_packet(f, from, to, LONG);
}

/* Two flows over one link have half of it each; it is never idle, and nothing is lost. */
static void half_each(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 500, 16 }, { "a-h1", "4X SDR", 900, 16 },
		{ "a-b", "1X SDR", 1000, 16 }, { "b-h2", "4X EDR", 500, 16 },
		{ "b-h3", "4X EDR", 500, 16 }, { 0 },
	};
	u64 len = t_frame_size(LONG), n = 4000 * USEC / (4 * len);
	struct fab_link_state s;
	struct t_fabric f;
	u32 before[2] = { 0 };

	start(&f, "ab", links);
	for (u64 from = f.now; f.now < from + 4200 * USEC; t_pass(&f, USEC)) {
		busy(&f, 0, 2);
		busy(&f, 1, 3);
		if (f.now == from + 200 * USEC) {
			before[0] = f.e[2].n;
			before[1] = f.e[3].n;
		}
	}
	assert_in_range(f.e[2].n - before[0] + f.e[3].n - before[1], n - 1, n + 1);
	assert_in_range(f.e[2].n - before[0], n / 2 - 1, n / 2 + 1);
	for (u32 i = 2; i < 4; i++)
		for (u32 k = 1; k < f.e[i].n; k++)
			assert_true(f.e[i].psn[k] > f.e[i].psn[k - 1]);
	s = t_link_state(&f, "a-b");
	assert_int_equal(s.count[0].lost + s.count[0].discards + s.count[0].bad, 0);
	assert_true(t_link_state(&f, "a-h0").count[1].wait > 0);
	assert_int_equal(f.e[0].port.ib.drops + f.e[1].port.ib.drops, 0);
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Ways
 */

/* Switches find other routes by themselves when links go down and come up. */
static void new_ways(void **state)
{
	static const u32 whole[ENDS] = { 0 }, apart[ENDS] = { 0, 0, 1, 1, 0, 0 };
	struct fab_switch_state s;
	struct port_mask ports;
	struct t_fabric f;

	start(&f, "abc", t_triangle);
	t_expect_parts(&f, whole);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 4);
	t_let(&f, "a-b", false);
	t_expect_parts(&f, whole);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 4);
	/* what is to go from a to b goes by c, and the other way round */
	assert_int_equal(t_link_state(&f, "b-c").count[0].packets, 4 + 8);
	assert_int_equal(fab_reroute(f.f), 0);
	t_let(&f, "b-c", false);
	t_expect_parts(&f, apart);
	/* no switch has a route to the two of b, nor has b to the four others */
	assert_int_equal(fab_reroute(f.f), 6);
	assert_true(fab_switch_state(f.f, 0, &s));
	assert_true(s.ethernet);
	assert_int_equal(s.no_way, 4);
	assert_int_equal(f.e[0].port.ib.drops, 2);
	assert_string_equal(fab_eth_ways(f.f, 0, 2, &ports), "h2");
	assert_true(port_mask_empty(&ports));
	t_let(&f, "a-b", true);
	t_expect_parts(&f, whole);
	t_let(&f, "b-c", true);
	t_expect_parts(&f, whole);
	t_end(&f);
}

/*
 * What is on a link that goes down is lost, and what waits for it; later packets take another
 * route.
 */
static void cut(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 16 }, { "b-h1", "4X EDR", 0, 8 },
		{ "a-b", "1X SDR", 50000, 2 }, { "a-c", "4X EDR", 0, 8 }, { "c-b", "4X EDR", 0, 8 },
		{ 0 },
	};
	struct fab_link_state s;
	struct t_fabric f;

	start(&f, "abc", links);
	for (u32 i = 0; i < 6; i++)
		t_send_packet(&f, 0, 1, LONG);
	/* two on their way, the first of four others has been routed already */
	t_pass(&f, 20 * USEC);
	t_let(&f, "a-b", false);
	s = t_link_state(&f, "a-b");
	assert_false(s.up);
	assert_int_equal(s.count[0].lost, 2);
	assert_int_equal(s.count[0].discards, 1);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 3);
	assert_int_equal(f.e[0].port.ib.drops, 3);
	t_end(&f);
}

/* Routes of a file are kept where they still lead to the port. */
static void by_hand(void **state)
{
	struct topo *t = t_eth_topo_open("abc", TOPO_HOQ_USUAL, t_triangle);
	struct t_fabric f;
	char why[128];

	assert_null(topo_route(t, "a", "h4", "a-b"));
	assert_true(t_finish(t, why, sizeof(why)));
	t_start(&f, t);
	t_send_packet(&f, 0, 4, LONG);
	t_send_packet(&f, 0, 5, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	t_let(&f, "b-c", false);
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 2);
	assert_int_equal(f.e[4].n, 2);
	assert_int_equal(f.e[5].n, 1);
	t_end(&f);
}

/* A port's own link: the port is down with it, and up again. */
static void own_link(void **state)
{
	struct port *at;
	struct t_fabric f;

	start(&f, "abc", t_triangle);
	at = f.e[2].port.ib.peer;
	assert_int_equal(f.e[2].port.ib.state, PORT_ACTIVE);
	assert_int_equal(at->state, PORT_ACTIVE);
	t_send_packet(&f, 0, 2, LONG);
	port_set_cable(&f.e[2].port.ib, false);
	assert_int_equal(f.e[2].port.ib.state, PORT_DOWN);
	assert_int_equal(at->state, PORT_DOWN);
	assert_false(t_link_state(&f, "b-h2").up);
	/* neither the one that is under way arrives, nor can anything be sent then */
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(t_link_state(&f, "b-h2").count[0].discards, 1);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "a-h0").count[1].packets, 1);
	assert_int_equal(f.e[0].port.ib.drops, 2);
	port_set_cable(&f.e[2].port.ib, true);
	assert_int_equal(f.e[2].port.ib.state, PORT_ACTIVE);
	t_send_packet(&f, 0, 2, LONG);
	t_send_packet(&f, 2, 0, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(f.e[0].n, 1);
	/* the same when the port is unplugged */
	t_send_packet(&f, 0, 5, LONG);
	fab_unplug(&f.e[--f.nends].port);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "c-h5").count[0].discards, 1);
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Multicasts
 */

/* Each port that may send sends a multicast; ports in @who receive it, a sender its own, too. */
static void expect_group(struct t_fabric *f, u32 who)
{
	for (u32 from = 0; from < ENDS; from++) {
		if (!f->e[from].port.eth->enabled)
			continue;
		for (u32 i = 0; i < ENDS; i++)
			f->e[i].n = f->e[i].mcasts = 0;
		t_send_group(f, from, LONG);
		t_pass(f, MSEC);
		for (u32 i = 0; i < ENDS; i++) {
			assert_int_equal(f->e[i].n, who >> i & 1);
			assert_int_equal(f->e[i].mcasts, f->e[i].n);
		}
	}
}

/* Once to each receiver, whichever links there are; receivers check the VLAN. */
static void mcast_once(void **state)
{
	static const char *const rows[] = { "a-b", "b-c", "c-a" };
	struct t_fabric f;

	start(&f, "abc", t_triangle);
	expect_group(&f, 0x3f);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		t_let(&f, rows[i], false);
		expect_group(&f, 0x3f);
		t_let(&f, rows[i], true);
	}
	assert_int_equal(f.e[0].port.ib.tx_mcast, 4);
	f.vlan = T_VLAN;
	fab_eth_set_gid(&f.e[3].port, 1, NULL);
	expect_group(&f, 0x37);
	f.vlan = 0;
	expect_group(&f, 0x3f);
	fab_eth_enable(&f.e[4].port, false);
	expect_group(&f, 0x2f);
	assert_int_equal(f.e[0].port.ib.drops, 0);
	t_end(&f);
}

/* The tree changes while frames are under way: some are lost, but none comes twice. */
static void mcast_never_twice(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "EDR", 0, 64 }, { "b-h1", "EDR", 0, 64 }, { "c-h2", "EDR", 0, 64 },
		{ "d-h3", "EDR", 0, 64 }, { "a-b", "EDR", 3000, 64 }, { "b-c", "EDR", 3000, 64 },
		{ "c-d", "EDR", 3000, 64 }, { "d-a", "EDR", 3000, 64 }, { 0 },
	};
	static const char *const ring[] = { "a-b", "b-c", "c-d", "d-a" };
	struct t_fabric f;
	u32 got = 0;

	start(&f, "abcd", links);
	for (u32 i = 0; i < 200; i++) {
		const char *link = ring[i / 2 % ARRAY_SIZE(ring)];

		t_send_group(&f, i % 4, LONG);
		t_pass(&f, 700);
		if (i % 10 < 2)
			t_let(&f, link, i % 2);
	}
	t_pass(&f, MSEC);
	for (u32 i = 0; i < 4; i++) {
		bool seen[200] = { false };

		for (u32 k = 0; k < f.e[i].n; k++) {
			assert_false(seen[f.e[i].psn[k]]);
			seen[f.e[i].psn[k]] = true;
		}
		got += f.e[i].n;
	}
	assert_in_range(got, 400, 800);
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Faults
 */
static void arm(struct t_fabric *f, struct fab_fault fault, const char *name)
{
	if (name)
		fault.link = fab_link_at(f->f, fab_link_find(f->f, name));
	fault.permille = 1000;
	fault.count = 1;
	assert_int_equal(fab_fault_arm(f->f, &fault), 0);
}

static void faults(void **state)
{
	struct t_fabric f;
	u64 t0;

	start(&f, "abc", t_triangle);
	/* in one direction, and only packets that it is for */
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_OUT, .opcode = "SEND" },
	    "a-b");
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_OUT, .opcode = "READ" },
	    "a-b");
	t_send_packet(&f, 2, 0, LONG);
	t_send_packet(&f, 0, 2, LONG);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(t_link_state(&f, "a-b").count[0].lost, 1);
	assert_int_equal(f.f->nfaults, 1);
	fab_fault_clear(f.f, NULL, fab_link_at(f.f, fab_link_find(f.f, "a-b")));
	/* corrupted: dropped by the next switch, or by the port at the end */
	arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(t_link_state(&f, "a-b").count[0].bad, 1);
	for (u32 seed = 0; seed < 64; seed++) {
		arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT, .port = &f.e[2].port,
					    .direction = FAB_IN, .seed = seed }, NULL);
		t_send_packet(&f, 0, 2, 0);
		t_pass(&f, MSEC);
		assert_int_equal(f.e[2].port.ib.bad, seed + 1);
	}
	assert_int_equal(f.e[2].n, 1);
	/* late, and twice */
	arm(&f, (struct fab_fault){ .kind = FAB_DELAY, .usec = 50 }, "a-b");
	t0 = f.now;
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_true(f.e[2].at[1] - t0 > 50 * USEC);
	arm(&f, (struct fab_fault){ .kind = FAB_DUPLICATE }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 4);
	/* down for a while: the next one takes another route, and later ones the first again */
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100 }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, 50 * USEC);
	assert_false(t_link_state(&f, "a-b").up);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, 100 * USEC);
	assert_true(t_link_state(&f, "a-b").up);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 6);
	assert_int_equal(t_link_state(&f, "c-a").count[1].packets, 1);
	/* a port's own */
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100, .port = &f.e[0].port }, NULL);
	t_send_packet(&f, 2, 0, LONG);
	t_pass(&f, 50 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_DOWN);
	t_pass(&f, 100 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_ACTIVE);
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Captures
 */

/* Number of packets in a capture; each block begins with its type and its length. */
static u32 recorded(const char *file)
{
	FILE *in = fopen(file, "r");
	u32 head[2], n = 0;

	assert_non_null(in);
	for (; fread(head, sizeof(head), 1, in); fseek(in, head[1] - sizeof(head), SEEK_CUR))
		n += head[0] == PCAPNG_EPB;
	fclose(in);
	return n;
}

/* A frame is recorded once, however many links it takes and receivers it has. */
static void captured(void **state)
{
	char dir[TPROG_DIR], file[TPROG_PATH];
	struct capture *c;
	struct t_fabric f;

	tprog_dir(dir);
	tprog_in(dir, "capture", file);
	c = capture_open(file);
	assert_non_null(c);
	t_begin(&f, t_eth_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	fabric_set_capture(f.f, c);
	t_plug_all(&f);
	t_send_packet(&f, 0, 4, LONG);
	t_send_group(&f, 1, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[4].n, 2);
	t_end(&f);
	assert_int_equal(capture_close(c), 0);
	assert_int_equal(recorded(file), 2);
	assert_int_equal(t_capcheck(file), 0);
	tprog_dir_end(dir, file, NULL);
}

/* ------------------------------------------------------------------------
 * Both kinds in one fabric
 */
static void beside_infiniband(void **state)
{
	static const struct t_link ib[] = {
		{ "x-i0", "EDR", 10, 8 }, { "x-y", "EDR", 10, 8 }, { "y-i1", "EDR", 10, 8 }, { 0 },
	};
	struct fab_port port = { .number = 1 };
	struct fab_switch_state s;
	struct t_fabric f;

	start(&f, "abc", t_triangle);
	fabric_set_topology(f.f, t_topo("xy", TOPO_HOQ_USUAL, ib));
	/* InfiniBand's links come first, and its manager knows only those */
	assert_int_equal(fab_link_find(f.f, "x-y"), 1);
	assert_int_equal(fab_link_find(f.f, "a-h0"), 3);
	assert_true(fab_link_is_between(f.f, fab_link_find(f.f, "c-a")));
	assert_false(fab_link_is_between(f.f, fab_link_find(f.f, "c-h4")));
	assert_int_equal(fab_port_link(&f.e[5].port), fab_link_find(f.f, "c-h5"));
	assert_int_equal(fab_switch_find(f.f, "c"), 4);
	assert_true(fab_switch_state(f.f, 4, &s));
	assert_true(s.ethernet);
	assert_int_equal(s.link[3], fab_link_find(f.f, "c-a"));
	assert_false(fab_switch_state(f.f, 5, &s));
	assert_int_equal(fab_switches(f.f), 2);
	t_send_packet(&f, 0, 5, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[5].n, 1);
	/* a port needs a link in the topology of its own kind */
	assert_int_equal(fab_plug(f.f, &port, "h9"), -ENOENT);
	assert_int_equal(fab_plug_eth(f.f, &port, "i0", (u8[6]){ 2 }, false), -ENOENT);
	t_end(&f);
}

/* Without memory the old tables stay, until there is some. */
static void no_memory(void **state)
{
	struct t_fabric f;
	u32 n;

	start(&f, "abc", t_triangle);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	t_let(&f, "a-b", false);
	tfail_each_alloc(n, fab_reroute(f.f), assert_true(f.t->stale));
	assert_true(n > 0);
	assert_false(f.t->stale);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 2);
	t_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(late),
		cmocka_unit_test(half_each),
		cmocka_unit_test(new_ways),
		cmocka_unit_test(cut),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(own_link),
		cmocka_unit_test(mcast_once),
		cmocka_unit_test(mcast_never_twice),
		cmocka_unit_test(faults),
		cmocka_unit_test(captured),
		cmocka_unit_test(beside_infiniband),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
