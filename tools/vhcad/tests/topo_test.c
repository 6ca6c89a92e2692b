// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switches and links: arrival times of packets, congestion, links that are down, and faults.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tfabric.h"
#include "tests/tfail.h"

/* ------------------------------------------------------------------------
 * Time
 */
static void rates(void **state)
{
	static const struct { const char *text, *name; u64 kbps; } good[] = {
		{ "4X EDR", "4X EDR", 100000000 }, { "edr 4x", "4X EDR", 100000000 },
		{ "EDR", "4X EDR", 100000000 }, { "100", "4X EDR", 100000000 },
		{ "100 Gb/s", "4X EDR", 100000000 }, { "2.5 Gb/s", "1X SDR", 2000000 },
		{ "12X NDR", "12X NDR", 1200000000 }, { "28", "2X FDR", 27272728 },
		{ "FDR10 8X", "8X FDR10", 80000000 }, { "400", "4X NDR", 400000000 },
	};
	static const char *const bad[] = {
		"", " ", "4X", "3X EDR", "EDR 4X please", "EDR EDR", "99", "100 Gb", "100Gb/s",
		"4X 4X", "EDRandmuchmore",
	};
	struct fab_rate r;
	char name[FAB_RATE_NAME];

	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(fab_rate_parse(good[i].text, &r));
		assert_string_equal(fab_rate_name(&r, name), good[i].name);
		assert_true(fab_rate_kbps(&r) == good[i].kbps);
	}
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		if (fab_rate_parse(bad[i], &r))
			fail_msg("'%s' was taken", bad[i]);
}

/* A packet takes on each link the time of its bits and the latency, not a ns more or less. */
static void exact(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "1X SDR", 100, 8 }, { "a-b", "1X DDR", 12345, 8 },
		{ "b-c", "1X QDR", 7, 8 }, { "c-h1", "4X EDR", 0, 8 }, { 0 },
	};
	struct t_fabric f;
	u64 t0, len = t_size_of(LONG), all;

	/* 4, 2, 1 and 0.08 ns a byte */
	all = 4 * len + 100 + 2 * len + 12345 + len + 7 + len * 8 / 100;
	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, links));
	t0 = f.now;
	t_send_packet(&f, 0, 1, LONG);
	t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[1].n, 2);
	assert_int_equal(f.e[1].at[0] - t0, all);
	assert_int_equal(f.e[1].at[1] - f.e[1].at[0], 4 * len);
	/* and the other way, after a while */
	t0 = f.now;
	t_send_packet(&f, 1, 0, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(f.e[0].at[0] - t0, all);
	t_end(&f);
}

/* Parts of a ns add up: 1,000 packets take as long as their bits. */
static void parts_add_up(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "12X NDR", 0, 1024 }, { "a-h1", "12X NDR", 0, 1024 }, { 0 },
	};
	struct t_fabric f;
	u64 bits = t_size_of(0) * 8 * 1000;

	t_start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	for (u32 i = 0; i < 1000; i++)
		t_send_packet(&f, 0, 1, 0);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[1].n, 1000);
	/* 1,200 bits a ns: all on the first link, the last one on the second too */
	assert_in_range(f.e[1].at[999] - 5 * SEC, bits / 1200 - 1, bits / 1200 + 1);
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
	u64 at[20], len = t_size_of(LONG);

	for (u32 round = 0; round < 2; round++) {
		t_start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
		for (u32 i = 0; i < 20; i++)
			t_send_packet(&f, 0, 1, LONG);
		if (round) {
			f.now += SEC;
			fab_poll(f.f, f.now, UINT32_MAX);
		}
		t_pass(&f, SEC);
		assert_int_equal(f.e[1].n, 20);
		if (!round)
			memcpy(at, f.e[1].at, sizeof(at));
		assert_memory_equal(at, f.e[1].at, sizeof(at));
		assert_int_equal(at[19], 5 * SEC + 20 * 4 * len + 2 * 4 * len + 300);
		t_end(&f);
	}
}

/* ------------------------------------------------------------------------
 * Congestion
 */

/* Senders that send as much as they may. */
static void busy(struct t_fabric *f, u32 from, u32 to, u32 len)
{
	while (fab_room(&f->e[from].port))
		t_send_packet(f, from, to, len);
}

/* Two flows over one link have half of it each, and it is never idle. */
static void half_each(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 500, 16 }, { "a-h1", "4X SDR", 900, 16 },
		{ "a-b", "1X SDR", 1000, 16 }, { "b-h2", "4X EDR", 500, 16 },
		{ "b-h3", "4X EDR", 500, 16 }, { 0 },
	};
	struct t_fabric f;
	struct fab_link_state s;
	u64 len = t_size_of(LONG), n;
	u32 before[2];

	t_start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	for (u64 from = f.now; f.now < from + 200 * USEC; t_pass(&f, USEC)) {
		busy(&f, 0, 2, LONG);
		busy(&f, 1, 3, LONG);
	}
	before[0] = f.e[2].n;
	before[1] = f.e[3].n;
	for (u64 until = f.now + 4000 * USEC; f.now < until; t_pass(&f, USEC)) {
		busy(&f, 0, 2, LONG);
		busy(&f, 1, 3, LONG);
	}
	n = 4000 * USEC / (4 * len);
	assert_in_range(f.e[2].n - before[0] + f.e[3].n - before[1], n - 1, n + 1);
	assert_in_range(f.e[2].n - before[0], n / 2 - 1, n / 2 + 1);
	/* no packet is lost, and the order is kept */
	for (u32 i = 2; i < 4; i++)
		for (u32 k = 1; k < f.e[i].n; k++)
			assert_true(f.e[i].psn[k] > f.e[i].psn[k - 1]);
	s = t_link_state(&f, "a-b");
	assert_int_equal(s.count[0].lost + s.count[0].discards + s.count[0].bad, 0);
	assert_int_equal(f.e[0].port.ib.drops + f.e[1].port.ib.drops, 0);
	t_end(&f);
}

/* Full queues stop those before them, back to the sender, and never exceed their size. */
static void back_pressure(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 4 }, { "a-b", "4X EDR", 0, 3 }, { "b-h1", "1X SDR", 0, 2 },
		{ "a-h2", "4X EDR", 0, 4 }, { 0 },
	};
	struct t_fabric f;
	u64 len = t_size_of(LONG);
	u32 sent;

	t_start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	/* in 10 us the slow link takes two packets, and all queues fill up */
	for (u32 i = 0; i < 100; i++) {
		busy(&f, 0, 1, LONG);
		t_pass(&f, 100);
	}
	assert_int_equal(fab_room(&f.e[0].port), 0);
	assert_int_equal(t_link_state(&f, "b-h1").count[0].packets, 10000 / (4 * len) + 1);
	assert_int_equal(t_link_state(&f, "a-b").queued[0], 3);
	assert_int_equal(t_link_state(&f, "a-h0").queued[1], 4 + 4);
	/* a packet behind the one that cannot go on waits too: there is one lane */
	t_send_packet(&f, 2, 0, LONG);
	t_pass(&f, 2 * USEC);
	assert_int_equal(f.e[0].n, 1);
	sent = f.psn - 1;
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, sent);
	for (u32 i = 0; i + 1 < sent; i++)
		assert_true(f.e[1].at[i + 1] - f.e[1].at[i] == 4 * len);
	assert_true(t_link_state(&f, "a-b").count[0].wait > 0);
	assert_int_equal(t_link_state(&f, "b-h1").count[0].wait, 0);
	assert_int_equal(f.e[0].port.ib.drops, 0);
	t_end(&f);
}

/* The first of a queue is lost, and counted, if it waits longer than it may. */
static void waited_too_long(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 16 }, { "a-h1", "4X EDR", 100000, 1 }, { 0 },
	};
	struct t_fabric f;

	/* one packet in 100 us, and none waits longer than 8.192 us */
	t_start(&f, t_topo("a", 1, links));
	for (u32 i = 0; i < 16; i++)
		t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, 95 * USEC);
	assert_int_equal(t_link_state(&f, "a-h1").count[0].packets, 1);
	assert_int_equal(t_link_state(&f, "a-h1").count[0].discards, 11);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n + t_link_state(&f, "a-h1").count[0].discards, 16);
	assert_int_equal(f.e[0].port.ib.drops, t_link_state(&f, "a-h1").count[0].discards);
	t_end(&f);
	/* 20 and above is no limit */
	t_start(&f, t_topo("a", TOPO_HOQ_LAST + 1, links));
	for (u32 i = 0; i < 16; i++)
		t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 16);
	t_end(&f);
}

/* All in a ring send to the one two links on: all queues are full, and none can move. */
static void deadlock(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 2 }, { "b-h1", "4X EDR", 0, 2 }, { "c-h2", "4X EDR", 0, 2 },
		{ "d-h3", "4X EDR", 0, 2 }, { "e-h4", "4X EDR", 0, 2 }, { "a-b", "4X EDR", 0, 1 },
		{ "b-c", "4X EDR", 0, 1 }, { "c-d", "4X EDR", 0, 1 }, { "d-e", "4X EDR", 0, 1 },
		{ "e-a", "4X EDR", 0, 1 }, { 0 },
	};
	struct t_fabric f;
	u64 lost = 0, got = 0;

	for (u32 life = 2; life <= TOPO_HOQ_LAST + 1; life += TOPO_HOQ_LAST - 1) {
		t_start(&f, t_topo("abcde", life, links));
		for (u32 i = 0; i < 100; i++) {
			for (u32 k = 0; k < 5; k++)
				busy(&f, k, (k + 2) % 5, LONG);
			t_pass(&f, 20);
		}
		t_pass(&f, SEC);
		got = lost = 0;
		for (u32 i = 0; i < 5; i++) {
			got += f.e[i].n;
			lost += f.e[i].port.ib.drops;
		}
		if (life > TOPO_HOQ_LAST) {
			/* without a limit they wait for ever */
			assert_true(got < f.psn);
			assert_int_equal(lost, 0);
		} else {
			assert_true(lost > 0);
			assert_int_equal(got + lost, f.psn);
		}
		t_end(&f);
	}
}

/* A slow receiver makes the others wait, but only as long as its queue has no room. */
static void mcast_waits(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 8 }, { "a-h1", "1X SDR", 0, 1 }, { "a-h2", "4X EDR", 0, 8 },
		{ 0 },
	};
	struct t_fabric f;

	t_start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	fab_mc_join(&f.e[1].port, MLID);
	fab_mc_join(&f.e[2].port, MLID);
	for (u32 i = 0; i < 8; i++)
		t_send_to(&f, 0, MLID, LONG);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 8);
	assert_int_equal(f.e[2].n, 8);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(f.e[2].psn[i], i);
	fab_mc_leave(&f.e[1].port, MLID);
	fab_mc_leave(&f.e[2].port, MLID);
	t_end(&f);
}

/* A packet of VL15 that switches forward by their tables, as agents of ports send them. */
static void send_mad(struct t_fabric *f, u32 from, u16 dlid)
{
	u8 mad[256] = { 1, 1, 1, 1 };
	struct payload pl = { .host = mad };
	struct run run = {
		.h = { .dlid = dlid, .slid = f->e[from].port.ib.lid, .pkey = 0xffff,
		       .vl = PORT_VL15 },
		.service = WIRE_UD, .kind = WIRE_SEND, .first = true, .last = true, .npkts = 1,
		.mtu = sizeof(mad), .len = sizeof(mad), .pl = &pl,
	};

	assert_true(fab_send_mad(&f->e[from].port, &run));
}

/* Two switches that send a LID, and a multicast LID, to each other, over links without latency. */
static const struct t_link to_and_fro[] = {
	{ "a-h0", "4X EDR", 0, 8 }, { "a-h1", "4X EDR", 0, 8 }, { "b-h2", "4X EDR", 0, 8 },
	{ "a-b", "4X EDR", 0, 8 }, { "b-a", "4X EDR", 0, 8 }, { 0 },
};

static u64 crossings(struct t_fabric *f, u64 *discards)
{
	u64 n = 0;

	*discards = 0;
	for (u32 i = 0; i < 4; i++) {
		struct fab_link_state s = t_link_state(f, i < 2 ? "a-b" : "b-a");

		n += s.count[i % 2].packets;
		*discards += s.count[i % 2].discards;
	}
	return n;
}

/*
 * Two switches send what is for adapter 2 to each other. A packet for it is on its way, and behind
 * it one for adapter 1, which arrives. Returns adapter 2's LID.
 */
static u16 start_to_and_fro(struct t_fabric *f)
{
	u16 lid;

	t_start(f, t_topo("ab", TOPO_HOQ_USUAL, to_and_fro));
	lid = f->e[2].port.ib.lid;
	fab_switch_set_port(f->f, 0, lid, 3);
	fab_switch_set_port(f->f, 1, lid, 2);
	t_send_packet(f, 0, 2, 0);
	t_send_packet(f, 0, 1, 0);
	return lid;
}

/* A packet in a loop makes as many hops as a route can have switches. */
static void goes_round_and_round(void **state)
{
	struct port_mask m = { 0 };
	struct t_fabric f;
	u16 lid = start_to_and_fro(&f);
	struct port_count c;
	u64 discards;

	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(f.e[1].n, 1);
	assert_int_equal(crossings(&f, &discards), TOPO_MAX_SWITCHES);
	assert_int_equal(discards, 1);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	/* the same for management packets, which need no buffer */
	send_mad(&f, 0, lid);
	t_pass(&f, MSEC);
	assert_int_equal(crossings(&f, &discards), 2 * TOPO_MAX_SWITCHES);
	fab_switch_count(f.f, 0, 3, &c);
	discards = c.xmit_discards;
	fab_switch_count(f.f, 1, 2, &c);
	assert_int_equal(discards + c.xmit_discards, 2);
	fab_switch_set_port(f.f, 1, lid, 1);
	/* a multicast loops in both directions, and leaves a copy whenever it comes to the first */
	assert_int_equal(fab_mc_join(&f.e[1].port, MLID), 0);
	for (u32 i = 2; i <= 4; i++)
		port_mask_set(&m, i);
	fab_switch_set_mask(f.f, 0, MLID, &m);
	port_mask_clear(&m, 4);
	fab_switch_set_mask(f.f, 1, MLID, &m);
	t_send_to(&f, 0, MLID, 0);
	t_send_packet(&f, 0, 2, 0);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(f.e[1].mcasts, TOPO_MAX_SWITCHES - 1);
	crossings(&f, &discards);
	assert_int_equal(discards, 1 + 2);
	fab_mc_leave(&f.e[1].port, MLID);
	t_end(&f);
}

/* An engine that is late has much to do, and does a part of it in one go. */
static void late_by_parts(void **state)
{
	struct t_fabric f;
	u32 n = 0;

	start_to_and_fro(&f);
	f.now += MSEC;
	assert_in_range(fab_poll(f.f, f.now, 1), 1, TOPO_MAX_SWITCHES);
	/* there is more to do, and packets that an adapter sends meanwhile come after that */
	assert_true(fab_next(f.f) <= f.now);
	t_send_packet(&f, 0, 1, 0);
	while (fab_next(f.f) <= f.now) {
		assert_in_range(fab_poll(f.f, f.now, 1), 1, TOPO_MAX_SWITCHES);
		n++;
	}
	assert_true(n > 1);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[1].n, 2);
	assert_true(f.e[1].psn[0] < f.e[1].psn[1]);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	t_end(&f);
}

/* ------------------------------------------------------------------------
 * Descriptions, and changes
 */
static void refused(void **state)
{
	static const struct { struct t_link w; const char *why; } bad[] = {
		{ { "a-a", "EDR", 0, 1 }, "both ends are one switch" },
		{ { "x-y", "EDR", 0, 1 }, "neither of its ends is a switch" },
		{ { "a-b", "EDR", 0, 1 }, "another link has this name" },
		{ { "b-h0", "EDR", 0, 1 }, "this port of an adapter has a link already" },
		{ { "b-h1", "EDR", 0, 0 }, "queue is 1 to 1024 packets" },
		{ { "b-h1", "EDR", 0, 1025 }, "queue is 1 to 1024 packets" },
		{ { "b-h1", "EDR", 1000000001, 1 }, "latency is at most 1000000000 ns" },
	};
	struct topo *t = topo_new(false);
	struct topo_link l;
	char why[128];

	assert_null(topo_switch(t, "a", 18));
	assert_string_equal(topo_switch(t, "a", 18), "another switch has this name");
	assert_string_equal(topo_switch(t, "b", 32), "hoq_life is 0 to 31");
	assert_null(topo_switch(t, "b", 31));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "no link leads to an adapter");
	l = t_link_of(&(struct t_link){ "a-h0", "EDR", 0, 1024 });
	assert_null(topo_link(t, &l));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "no way leads from 'b' to 'h0'");
	l = t_link_of(&(struct t_link){ "a-b", "EDR", 0, 1 });
	assert_null(topo_link(t, &l));
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		l = t_link_of(&bad[i].w);
		assert_string_equal(topo_link(t, &l), bad[i].why);
	}
	/* a third one, and the three forward it in a circle */
	assert_null(topo_switch(t, "c", 18));
	l = t_link_of(&(struct t_link){ "b-c", "EDR", 0, 1 });
	assert_null(topo_link(t, &l));
	assert_null(topo_route(t, "b", "h0", "b-c"));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "routes from 'b' to 'h0' go round for ever");
	topo_free(t);

	t = topo_new(false);
	for (u32 i = 0; i < TOPO_MAX_SWITCHES; i++) {
		snprintf(why, sizeof(why), "s%u", i);
		assert_null(topo_switch(t, why, 18));
	}
	assert_string_equal(topo_switch(t, "s64", 18), "more than 64 switches");
	l = t_link_of(&(struct t_link){ "s0-x", "EDR", 0, 1024 });
	for (u32 i = 0; i < TOPO_SWITCH_PORTS; i++) {
		snprintf(l.end[1], sizeof(l.end[1]), "h%u", i);
		snprintf(l.name, sizeof(l.name), "l%u", i);
		assert_null(topo_link(t, &l));
	}
	snprintf(l.name, sizeof(l.name), "l");
	snprintf(l.end[1], sizeof(l.end[1]), "h");
	assert_string_equal(topo_link(t, &l), "a switch has 254 ports, and all are taken");
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "the queues of all links together hold 520192 packets, of 32768");
	topo_free(t);
}

static void cut(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 0, 8 }, { "a-b", "1X SDR", 50000, 2 },
		{ "b-h1", "4X EDR", 0, 8 }, { 0 },
	};
	struct t_fabric f;
	struct fab_link_state s;
	int n;

	t_start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	n = fab_link_find(f.f, "a-b");
	assert_true(fab_link_is_between(f.f, n));
	assert_false(fab_link_is_between(f.f, fab_link_find(f.f, "a-h0")));
	for (u32 i = 0; i < 6; i++)
		t_send_packet(&f, 0, 1, LONG);
	/* two on their way, one is the first in line, three are behind it */
	t_pass(&f, 20 * USEC);
	fab_link_up(f.f, n, false);
	s = t_link_state(&f, "a-b");
	assert_false(s.up);
	assert_int_equal(s.queued[0], 0);
	assert_int_equal(s.count[0].lost, 2);
	assert_int_equal(s.count[0].discards, 4);
	t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 0);
	assert_int_equal(t_link_state(&f, "a-b").count[0].discards, 5);
	assert_int_equal(f.e[0].port.ib.drops, 7);
	fab_link_up(f.f, n, true);
	for (u32 i = 0; i < 6; i++)
		t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 6);
	/*
	 * a port's cable is pulled, with packets everywhere: two on the far link, eight at the
	 * switch
	 */
	for (u32 i = 0; i < 16; i++) {
		t_send_packet(&f, 0, 1, LONG);
		if (i < 6)
			t_send_packet(&f, 1, 0, LONG);
		t_pass(&f, 200);
	}
	t_pass(&f, 10 * USEC);
	port_set_cable(&f.e[0].port.ib, false);
	s = t_link_state(&f, "a-h0");
	assert_int_equal(s.queued[0], 0);
	assert_int_equal(s.queued[1], 8);
	assert_int_equal(s.count[1].discards, 6);
	t_pass(&f, SEC);
	assert_int_equal(f.e[0].n, 0);
	port_set_cable(&f.e[0].port.ib, true);
	f.e[1].n = 0;
	t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, SEC);
	assert_int_equal(f.e[1].n, 1);
	t_end(&f);
}

static void arm(struct t_fabric *f, struct fab_fault fault, const char *name)
{
	if (name)
		fault.link = fab_link_at(f->f, fab_link_find(f->f, name));
	if (!fault.permille)
		fault.permille = 1000;
	assert_int_equal(fab_fault_arm(f->f, &fault), 0);
}

static void disarm(struct t_fabric *f, const char *name)
{
	fab_fault_clear(f->f, NULL, name ? fab_link_at(f->f, fab_link_find(f->f, name)) : NULL);
	assert_int_equal(f->f->nfaults, 0);
}

static void faults(void **state)
{
	struct t_fabric f;
	u64 took;

	t_start(&f, t_topo("abc", TOPO_HOQ_USUAL, t_triangle));
	/* one link, one direction */
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_OUT }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_send_packet(&f, 2, 0, LONG);
	t_send_packet(&f, 0, 4, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(f.e[4].n, 1);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	assert_int_equal(t_link_state(&f, "a-b").count[0].lost, 1);
	disarm(&f, "a-b");
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_IN }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_send_packet(&f, 2, 0, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(f.e[0].n, 1);
	disarm(&f, "a-b");
	/* every link: once, as it leaves its adapter */
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 1, .count = 1 }, NULL);
	for (u32 i = 0; i < 3; i++)
		t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 3);
	/* corrupted: the next switch drops it */
	arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT, .count = 1 }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 3);
	assert_int_equal(f.e[2].port.ib.bad, 0);
	assert_int_equal(t_link_state(&f, "a-b").count[0].bad, 1);
	/* and so does the adapter, after the last one */
	arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT, .count = 1, .port = &f.e[2].port,
				    .direction = FAB_IN }, NULL);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].port.ib.bad, 1);
	arm(&f, (struct fab_fault){ .kind = FAB_DUPLICATE, .count = 1 }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 5);
	/* delayed, and the one behind it as well; overtaken, and not */
	for (u32 kind = FAB_DELAY; kind <= FAB_REORDER; kind++) {
		f.e[2].n = 0;
		arm(&f, (struct fab_fault){ .kind = kind, .usec = 50, .count = 1 }, "a-b");
		took = f.now;
		t_send_packet(&f, 0, 2, LONG);
		t_send_packet(&f, 0, 2, LONG);
		t_pass(&f, MSEC);
		assert_int_equal(f.e[2].n, 2);
		assert_true((f.e[2].at[0] - took > 50 * USEC) == (kind == FAB_DELAY));
		assert_true((f.e[2].psn[0] > f.e[2].psn[1]) == (kind == FAB_REORDER));
	}
	/* down for a while, and back */
	f.e[2].n = 0;
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100, .count = 1 }, "a-b");
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, 90 * USEC);
	assert_false(t_link_state(&f, "a-b").up);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, 20 * USEC);
	assert_true(t_link_state(&f, "a-b").up);
	t_send_packet(&f, 0, 2, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	/* the same of a port's cable */
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100, .count = 1,
				    .port = &f.e[0].port }, NULL);
	t_send_packet(&f, 2, 0, LONG);
	t_pass(&f, 90 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_DOWN);
	t_pass(&f, 20 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_ACTIVE);
	assert_int_equal(f.f->nfaults, 0);
	t_end(&f);
}

/* Rate and latency change with the next packet; none overtakes another. */
static void live(void **state)
{
	static const struct t_link links[] = {
		{ "a-h0", "4X EDR", 1000, 8 }, { "a-h1", "1X SDR", 20000, 8 }, { 0 },
	};
	struct fab_rate ddr;
	struct t_fabric f;
	u64 t0, len = t_size_of(LONG);
	int n;

	t_start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	n = fab_link_find(f.f, "a-h1");
	assert_true(fab_rate_parse("1X DDR", &ddr));
	t0 = f.now;
	t_send_packet(&f, 0, 1, LONG);
	t_send_packet(&f, 0, 1, LONG);
	/* the first is on its way, the second waits for it */
	t_pass(&f, 4 * USEC);
	fab_link_rate(f.f, n, &ddr);
	fab_link_latency(f.f, n, 10);
	assert_int_equal(f.e[1].port.rate.speed, 2);
	assert_int_equal(f.e[1].port.rate.width, 1);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[1].n, 2);
	assert_true(f.e[1].psn[0] < f.e[1].psn[1]);
	t0 = f.now;
	t_send_packet(&f, 0, 1, LONG);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[1].at[2] - t0, len * 8 / 100 + 1000 + 2 * len + 10);
	t_end(&f);
}

static bool described(void)
{
	struct topo *t = topo_new(false);
	char why[128];
	bool ok = t && !topo_switch(t, "a", 18);

	for (const struct t_link *w = t_triangle; ok && w < t_triangle + 2; w++) {
		struct topo_link l = t_link_of(w);

		ok = !topo_link(t, &l);
	}
	ok = ok && t_finish(t, why, sizeof(why));
	topo_free(t);
	return ok;
}

/* Without memory no topology is made, and nothing is left behind. */
static void no_memory(void **state)
{
	bool ok;
	u32 n;

	tfail_each_alloc(n, ok = described(), assert_false(ok));
	assert_true(ok);
	assert_true(n > 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(exact),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(late),
		cmocka_unit_test(half_each),
		cmocka_unit_test(back_pressure),
		cmocka_unit_test(waited_too_long),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(mcast_waits),
		cmocka_unit_test(goes_round_and_round),
		cmocka_unit_test(late_by_parts),
		cmocka_unit_test(refused),
		cmocka_unit_test(cut),
		cmocka_unit_test(faults),
		cmocka_unit_test(live),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
