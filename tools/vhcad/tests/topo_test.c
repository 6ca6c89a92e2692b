// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switches and links: when packets arrive, whose they are, what happens where there are too
 * many of them, and where links are down.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pipe.h"
#include "subnet/static.h"
#include "tests/tfail.h"
#include "tests/thca.h"
#include "tests/ttopo.h"

#define USEC	1000ull
#define MSEC	1000000ull
#define SEC	1000000000ull
#define ENDS	6u
#define MLID	0xc123u
#define LONG	1024u		/* bytes of payload */

struct seen {
	struct fab_port port;
	u32 n;
	u32 psn[4096];
	u16 slid[4096];
	u64 at[4096];
	u32 mcasts;
};

struct fixture {
	struct fabric *f;
	struct seen e[ENDS];
	u32 nends;
	u64 now;
	u32 psn;
};

static void note(struct seen *e, const struct run *run)
{
	assert_true(e->n < ARRAY_SIZE(e->psn));
	e->psn[e->n] = run->h.psn;
	e->slid[e->n] = run->h.slid;
	e->at[e->n++] = e->port.fabric->now;
}

static void on_rx(struct fab_port *port, struct run *run)
{
	note(container_of(port, struct seen, port), run);
}

static void on_mcast(struct fab_port *port, struct datagram *d)
{
	struct seen *e = container_of(port, struct seen, port);

	note(e, d->run);
	e->mcasts++;
}

static void on_state(struct fab_port *port, u8 old)
{
}

static void addrs_changed(struct fab_port *port, u32 what)
{
}

static const struct fab_port_ops end_ops = {
	.rx = on_rx, .rx_mcast = on_mcast, .state = on_state,
	.changed = addrs_changed,
};

static void start(struct fixture *f, struct topo *t)
{
	memset(f, 0, sizeof(*f));
	f->f = t_fabric();
	fabric_set_topology(f->f, t);
	f->now = 5 * SEC;
	fab_set_now(f->f, f->now);
	for (const char *name; (name = topo_end(t, f->nends)); ) {
		struct fab_port *port = &f->e[f->nends++].port;

		*port = (struct fab_port){ .ops = &end_ops, .number = 1, .ib.guid = f->nends };
		assert_int_equal(fab_plug(f->f, port, name), 0);
		port_enable(&port->ib, true);
	}
}

static void pass_time(struct fixture *f, u64 ns);

static void end(struct fixture *f)
{
	pass_time(f, SEC);
	for (u32 i = 0; i < f->nends; i++)
		fab_unplug(&f->e[i].port);
	/* all packets are back */
	for (struct link *l = f->f->topo->free.next; l != &f->f->topo->free; l = l->next)
		f->f->topo->npool--;
	for (u32 i = 0; i < f->f->topo->nlinks; i++)
		for (u32 k = 0; k < 2; k++)
			for (struct link *l = f->f->topo->link[i]->pipe[k].arrived.next;
			     l != &f->f->topo->link[i]->pipe[k].arrived; l = l->next)
				f->f->topo->npool--;
	assert_int_equal(f->f->topo->npool, 0);
	fabric_free(f->f);
}

static u8 bytes[4096];

static void send_to(struct fixture *f, u32 from, u16 dlid, u32 len)
{
	struct payload pl = { .host = bytes };
	struct run run = {
		.h = { .dlid = dlid, .slid = f->e[from].port.ib.lid, .psn = f->psn++,
		       .pkey = 0xffff },
		.service = lid_is_mcast(dlid) ? WIRE_UD : WIRE_RC, .kind = WIRE_SEND,
		.first = true, .last = true, .npkts = 1, .mtu = len, .len = len, .pl = &pl,
	};

	run.h.grh = lid_is_mcast(dlid);
	fab_send(&f->e[from].port, &run);
}

static void send(struct fixture *f, u32 from, u32 to, u32 len)
{
	send_to(f, from, f->e[to].port.ib.lid, len);
}

/* Bytes on the wire of what send() sends. */
static u64 size_of(u32 len)
{
	return wire_len(OP_RC_SEND_ONLY, false, len);
}

static void pass_until(struct fixture *f, u64 end)
{
	while (fab_next(f->f) <= end) {
		f->now = MAX(f->now, fab_next(f->f));
		fab_set_now(f->f, f->now);
		fab_poll(f->f, f->now, UINT32_MAX);
	}
	f->now = end;
	fab_set_now(f->f, f->now);
	fab_poll(f->f, f->now, UINT32_MAX);
}

static void pass_time(struct fixture *f, u64 ns)
{
	pass_until(f, f->now + ns);
}

static struct fab_link_state link_state(struct fixture *f, const char *name)
{
	struct fab_link_state s;
	int n = fab_link_find(f->f, name);

	assert_true(n >= 0);
	assert_true(fab_link_state(f->f, n, &s));
	return s;
}

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
	static const struct twish links[] = {
		{ "a-h0", "1X SDR", 100, 8 }, { "a-b", "1X DDR", 12345, 8 },
		{ "b-c", "1X QDR", 7, 8 }, { "c-h1", "4X EDR", 0, 8 }, { 0 },
	};
	struct fixture f;
	u64 t0, len = size_of(LONG), all;

	/* 4, 2, 1 and 0.08 ns a byte */
	all = 4 * len + 100 + 2 * len + 12345 + len + 7 + len * 8 / 100;
	start(&f, t_topo("abc", TOPO_HOQ_USUAL, links));
	t0 = f.now;
	send(&f, 0, 1, LONG);
	send(&f, 0, 1, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[1].n, 2);
	assert_int_equal(f.e[1].at[0] - t0, all);
	assert_int_equal(f.e[1].at[1] - f.e[1].at[0], 4 * len);
	/* and the other way, after a while, the same */
	t0 = f.now;
	send(&f, 1, 0, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(f.e[0].at[0] - t0, all);
	end(&f);
}

/* Parts of a ns are not forgotten: 1,000 packets take as long as their bits. */
static void parts_add_up(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "12X NDR", 0, 1024 }, { "a-h1", "12X NDR", 0, 1024 }, { 0 },
	};
	struct fixture f;
	u64 bits = size_of(0) * 8 * 1000;

	start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	for (u32 i = 0; i < 1000; i++)
		send(&f, 0, 1, 0);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[1].n, 1000);
	/* 1,200 bits a ns: all on the first link, the last one on the second too */
	assert_in_range(f.e[1].at[999] - 5 * SEC, bits / 1200 - 1, bits / 1200 + 1);
	end(&f);
}

/* An engine that comes late finds everything where it would have been. */
static void late(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "1X SDR", 100, 64 }, { "a-b", "1X SDR", 100, 2 },
		{ "b-h1", "1X SDR", 100, 2 }, { 0 },
	};
	struct fixture f;
	u64 at[20], len = size_of(LONG);

	for (u32 round = 0; round < 2; round++) {
		start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
		for (u32 i = 0; i < 20; i++)
			send(&f, 0, 1, LONG);
		if (round) {
			f.now += SEC;
			fab_poll(f.f, f.now, UINT32_MAX);
		}
		pass_time(&f, SEC);
		assert_int_equal(f.e[1].n, 20);
		if (!round)
			memcpy(at, f.e[1].at, sizeof(at));
		assert_memory_equal(at, f.e[1].at, sizeof(at));
		assert_int_equal(at[19], 5 * SEC + 20 * 4 * len + 2 * 4 * len + 300);
		end(&f);
	}
}

/* ------------------------------------------------------------------------
 * Too much
 */

/* Senders that send whenever they may. */
static void busy(struct fixture *f, u32 from, u32 to, u32 len)
{
	while (fab_room(&f->e[from].port))
		send(f, from, to, len);
}

/* Two flows over one link have half of it each, and it is never idle. */
static void half_each(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 500, 16 }, { "a-h1", "4X SDR", 900, 16 },
		{ "a-b", "1X SDR", 1000, 16 }, { "b-h2", "4X EDR", 500, 16 },
		{ "b-h3", "4X EDR", 500, 16 }, { 0 },
	};
	struct fixture f;
	struct fab_link_state s;
	u64 from, until, len = size_of(LONG), n;
	u32 before[2];

	start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	for (from = f.now; f.now < from + 200 * USEC; pass_time(&f, USEC)) {
		busy(&f, 0, 2, LONG);
		busy(&f, 1, 3, LONG);
	}
	before[0] = f.e[2].n;
	before[1] = f.e[3].n;
	for (until = f.now + 4000 * USEC; f.now < until; pass_time(&f, USEC)) {
		busy(&f, 0, 2, LONG);
		busy(&f, 1, 3, LONG);
	}
	n = 4000 * USEC / (4 * len);
	assert_in_range(f.e[2].n - before[0] + f.e[3].n - before[1], n - 1, n + 1);
	assert_in_range(f.e[2].n - before[0], n / 2 - 1, n / 2 + 1);
	/* nobody has lost anything, and order is kept */
	for (u32 i = 2; i < 4; i++)
		for (u32 k = 1; k < f.e[i].n; k++)
			assert_true(f.e[i].psn[k] > f.e[i].psn[k - 1]);
	s = link_state(&f, "a-b");
	assert_int_equal(s.count[0].lost + s.count[0].discards + s.count[0].bad, 0);
	assert_int_equal(f.e[0].port.ib.drops + f.e[1].port.ib.drops, 0);
	end(&f);
}

/* Full queues stop those before them, up to the sender, and hold no more than they may. */
static void back_pressure(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 0, 4 }, { "a-b", "4X EDR", 0, 3 }, { "b-h1", "1X SDR", 0, 2 },
		{ "a-h2", "4X EDR", 0, 4 }, { 0 },
	};
	struct fixture f;
	u64 len = size_of(LONG);
	u32 sent;

	start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	/* in 10 us the slow link takes two packets, and all queues fill up */
	for (u32 i = 0; i < 100; i++) {
		busy(&f, 0, 1, LONG);
		pass_time(&f, 100);
	}
	assert_int_equal(fab_room(&f.e[0].port), 0);
	assert_int_equal(link_state(&f, "b-h1").count[0].packets, 10000 / (4 * len) + 1);
	assert_int_equal(link_state(&f, "a-b").queued[0], 3);
	assert_int_equal(link_state(&f, "a-h0").queued[1], 4 + 4);
	/* who waits behind the one that cannot go on waits too: there is one lane */
	send(&f, 2, 0, LONG);
	pass_time(&f, 2 * USEC);
	assert_int_equal(f.e[0].n, 1);
	sent = f.psn - 1;
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, sent);
	for (u32 i = 0; i + 1 < sent; i++)
		assert_true(f.e[1].at[i + 1] - f.e[1].at[i] == 4 * len);
	assert_true(link_state(&f, "a-b").count[0].wait > 0);
	assert_int_equal(link_state(&f, "b-h1").count[0].wait, 0);
	assert_int_equal(f.e[0].port.ib.drops, 0);
	end(&f);
}

/* The first of a queue that waits longer than it may is lost, and counted. */
static void waited_too_long(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 0, 16 }, { "a-h1", "4X EDR", 100000, 1 }, { 0 },
	};
	struct fixture f;

	/* one packet in 100 us, and none waits longer than 8.192 us */
	start(&f, t_topo("a", 1, links));
	for (u32 i = 0; i < 16; i++)
		send(&f, 0, 1, LONG);
	pass_time(&f, 95 * USEC);
	assert_int_equal(link_state(&f, "a-h1").count[0].packets, 1);
	assert_int_equal(link_state(&f, "a-h1").count[0].discards, 11);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n + link_state(&f, "a-h1").count[0].discards, 16);
	assert_int_equal(f.e[0].port.ib.drops, link_state(&f, "a-h1").count[0].discards);
	end(&f);
	/* 20 and above is for ever */
	start(&f, t_topo("a", TOPO_HOQ_LAST + 1, links));
	for (u32 i = 0; i < 16; i++)
		send(&f, 0, 1, LONG);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, 16);
	end(&f);
}

/* Everybody in a ring sends to the one two links on: all queues are full, and nobody can move. */
static void deadlock(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 0, 2 }, { "b-h1", "4X EDR", 0, 2 }, { "c-h2", "4X EDR", 0, 2 },
		{ "d-h3", "4X EDR", 0, 2 }, { "e-h4", "4X EDR", 0, 2 }, { "a-b", "4X EDR", 0, 1 },
		{ "b-c", "4X EDR", 0, 1 }, { "c-d", "4X EDR", 0, 1 }, { "d-e", "4X EDR", 0, 1 },
		{ "e-a", "4X EDR", 0, 1 }, { 0 },
	};
	struct fixture f;
	u64 lost = 0, got = 0;

	for (u32 life = 2; life <= TOPO_HOQ_LAST + 1; life += TOPO_HOQ_LAST - 1) {
		start(&f, t_topo("abcde", life, links));
		for (u32 i = 0; i < 100; i++) {
			for (u32 k = 0; k < 5; k++)
				busy(&f, k, (k + 2) % 5, LONG);
			pass_time(&f, 20);
		}
		pass_time(&f, SEC);
		got = lost = 0;
		for (u32 i = 0; i < 5; i++) {
			got += f.e[i].n;
			lost += f.e[i].port.ib.drops;
		}
		if (life > TOPO_HOQ_LAST) {
			/* for ever means for ever */
			assert_true(got < f.psn);
			assert_int_equal(lost, 0);
		} else {
			assert_true(lost > 0);
			assert_int_equal(got + lost, f.psn);
		}
		end(&f);
	}
}

/* ------------------------------------------------------------------------
 * Ways
 */

/* Three switches in a row with two ports each, and the ring closed by a fourth. */
static const struct twish tree[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "a-h1", "4X EDR", 10, 8 }, { "b-h2", "4X EDR", 10, 8 },
	{ "b-h3", "4X EDR", 10, 8 }, { "c-h4", "4X EDR", 10, 8 }, { "c-h5", "4X EDR", 10, 8 },
	{ "a-b", "4X EDR", 10, 8 }, { "b-c", "4X EDR", 10, 8 }, { "c-a", "4X EDR", 10, 8 }, { 0 },
};

static void shortest(void **state)
{
	struct fixture f;
	struct fab_switch_state s;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	for (u32 i = 0; i < ENDS; i++)
		for (u32 k = 0; k < ENDS; k++)
			if (i != k)
				send(&f, i, k, LONG);
	pass_time(&f, MSEC);
	for (u32 i = 0; i < ENDS; i++)
		assert_int_equal(f.e[i].n, ENDS - 1);
	/* four of each switch went to each other one, by the link between them */
	assert_int_equal(link_state(&f, "a-b").count[0].packets, 4);
	assert_int_equal(link_state(&f, "c-a").count[1].packets, 4);
	assert_true(fab_switch_state(f.f, 0, &s));
	assert_string_equal(s.name, "a");
	assert_int_equal(s.ports, 4);
	assert_int_equal(s.link[fab_switch_port(f.f, 0, f.e[4].port.ib.lid) - 1],
			 fab_link_find(f.f, "c-a"));
	assert_int_equal(fab_switch_port(f.f, 0, f.e[1].port.ib.lid), 2);
	assert_int_equal(fab_switch_port(f.f, 0, 999), 0);
	assert_false(fab_switch_state(f.f, 3, &s));
	end(&f);
}

/* A LID that moves to another port is there at once. */
static void moved_lid(void **state)
{
	struct fixture f;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	assert_int_equal(subnet_set_lid(&f.e[5].port, 77), 0);
	send(&f, 0, 5, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[5].n, 1);
	/* and a packet to nobody does not even set out */
	send_to(&f, 0, 6, LONG);
	assert_int_equal(f.e[0].port.ib.discards, 1);
	/* but one whose LID goes while it is under way is lost at the switch */
	send_to(&f, 0, 77, LONG);
	assert_int_equal(subnet_set_lid(&f.e[5].port, 78), 0);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[5].n, 1);
	assert_int_equal(f.f->topo->sw[0]->no_way, 1);
	assert_int_equal(f.e[0].port.ib.drops, 2);
	end(&f);
}

static void by_hand(void **state)
{
	struct topo *t = topo_new();
	struct fixture f;
	char why[128];

	for (const char *s = "abc"; *s; s++)
		topo_switch(t, (char[2]){ *s }, 18);
	for (const struct twish *w = tree; w->ends; w++) {
		struct topo_link l = t_link_of(w);

		topo_link(t, &l);
	}
	/* the long way round */
	assert_null(topo_route(t, 0, "h4", "a-b"));
	assert_string_equal(topo_route(t, 0, "h9", "a-b"), "no link leads to a port of this name");
	assert_string_equal(topo_route(t, 0, "h4", "x"), "no link has this name");
	assert_string_equal(topo_route(t, 0, "h4", "b-c"), "this link is not one of the switch");
	assert_string_equal(topo_route(t, 0, "h4", "a-h0"), "this link ends at another adapter");
	assert_string_equal(topo_route(t, 0, "h1", "a-b"), "this port is at the switch itself");
	assert_true(t_finish(t, why, sizeof(why)));
	start(&f, t);
	send(&f, 0, 4, LONG);
	send(&f, 0, 5, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[4].n, 1);
	assert_int_equal(f.e[5].n, 1);
	assert_int_equal(link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(link_state(&f, "b-c").count[0].packets, 1);
	assert_int_equal(link_state(&f, "c-a").count[1].packets, 1);
	end(&f);
}

static void refused(void **state)
{
	static const struct { struct twish w; const char *why; } bad[] = {
		{ { "a-a", "EDR", 0, 1 }, "both ends are one switch" },
		{ { "x-y", "EDR", 0, 1 }, "neither of its ends is a switch" },
		{ { "a-b", "EDR", 0, 1 }, "another link has this name" },
		{ { "b-h0", "EDR", 0, 1 }, "this port of an adapter has a link already" },
		{ { "b-h1", "EDR", 0, 0 }, "queue is 1 to 1024 packets" },
		{ { "b-h1", "EDR", 0, 1025 }, "queue is 1 to 1024 packets" },
		{ { "b-h1", "EDR", 1000000001, 1 }, "latency is at most 1000000000 ns" },
	};
	struct topo *t = topo_new();
	struct topo_link l;
	char why[128];

	assert_null(topo_switch(t, "a", 18));
	assert_string_equal(topo_switch(t, "a", 18), "another switch has this name");
	assert_string_equal(topo_switch(t, "b", 32), "hoq_life is 0 to 31");
	assert_null(topo_switch(t, "b", 31));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "no link leads to an adapter");
	l = t_link_of(&(struct twish){ "a-h0", "EDR", 0, 1024 });
	assert_null(topo_link(t, &l));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "no way leads from 'b' to 'h0'");
	l = t_link_of(&(struct twish){ "a-b", "EDR", 0, 1 });
	assert_null(topo_link(t, &l));
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		l = t_link_of(&bad[i].w);
		assert_string_equal(topo_link(t, &l), bad[i].why);
	}
	/* a third one, and the three pass it on to each other */
	assert_null(topo_switch(t, "c", 18));
	l = t_link_of(&(struct twish){ "b-c", "EDR", 0, 1 });
	assert_null(topo_link(t, &l));
	assert_null(topo_route(t, 1, "h0", "b-c"));
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "routes from 'b' to 'h0' go round for ever");
	topo_free(t);

	t = topo_new();
	for (u32 i = 0; i < TOPO_MAX_SWITCHES; i++) {
		snprintf(why, sizeof(why), "s%u", i);
		assert_null(topo_switch(t, why, 18));
	}
	assert_string_equal(topo_switch(t, "s64", 18), "more than 64 switches");
	l = t_link_of(&(struct twish){ "s0-x", "EDR", 0, 1024 });
	for (u32 i = 0; i < TOPO_SWITCH_PORTS; i++) {
		snprintf(l.end[1], sizeof(l.end[1]), "h%u", i);
		snprintf(l.name, sizeof(l.name), "l%u", i);
		assert_null(topo_link(t, &l));
	}
	snprintf(l.name, sizeof(l.name), "l");
	snprintf(l.end[1], sizeof(l.end[1]), "h");
	assert_string_equal(topo_link(t, &l), "a switch has 64 ports, and all are taken");
	assert_false(t_finish(t, why, sizeof(why)));
	assert_string_equal(why, "the queues of all links together hold 131072 packets, of 32768");
	topo_free(t);
}

/* Every member once, wherever it and the sender are; nobody else. */
static void mcast_once(void **state)
{
	struct fixture f;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	for (u32 mlid = MLID; mlid < MLID + 3; mlid++) {
		for (u32 members = 0; members < 1u << ENDS; members++) {
			for (u32 i = 0; i < ENDS; i++)
				if (members >> i & 1)
					assert_int_equal(fab_mc_join(&f.e[i].port, mlid), 0);
			for (u32 from = 0; from < ENDS; from++) {
				send_to(&f, from, mlid, LONG);
				pass_time(&f, 20 * USEC);
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
	end(&f);
}

/* Who is slow does not let the others wait for ever, but for as long as it has no room. */
static void mcast_waits(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 0, 8 }, { "a-h1", "1X SDR", 0, 1 }, { "a-h2", "4X EDR", 0, 8 },
		{ 0 },
	};
	struct fixture f;

	start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	fab_mc_join(&f.e[1].port, MLID);
	fab_mc_join(&f.e[2].port, MLID);
	for (u32 i = 0; i < 8; i++)
		send_to(&f, 0, MLID, LONG);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, 8);
	assert_int_equal(f.e[2].n, 8);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(f.e[2].psn[i], i);
	fab_mc_leave(&f.e[1].port, MLID);
	fab_mc_leave(&f.e[2].port, MLID);
	end(&f);
}

/* ------------------------------------------------------------------------
 * Links that are down, and faults of those between switches
 */
static void cut(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 0, 8 }, { "a-b", "1X SDR", 50000, 2 },
		{ "b-h1", "4X EDR", 0, 8 }, { 0 },
	};
	struct fixture f;
	struct fab_link_state s;
	int n;

	start(&f, t_topo("ab", TOPO_HOQ_USUAL, links));
	n = fab_link_find(f.f, "a-b");
	assert_true(fab_link_is_between(f.f, n));
	assert_false(fab_link_is_between(f.f, fab_link_find(f.f, "a-h0")));
	for (u32 i = 0; i < 6; i++)
		send(&f, 0, 1, LONG);
	/* two on their way, one the first in line, three behind it */
	pass_time(&f, 20 * USEC);
	fab_link_up(f.f, n, false);
	s = link_state(&f, "a-b");
	assert_false(s.up);
	assert_int_equal(s.queued[0], 0);
	assert_int_equal(s.count[0].lost, 2);
	assert_int_equal(s.count[0].discards, 4);
	send(&f, 0, 1, LONG);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, 0);
	assert_int_equal(link_state(&f, "a-b").count[0].discards, 5);
	assert_int_equal(f.e[0].port.ib.drops, 7);
	fab_link_up(f.f, n, true);
	for (u32 i = 0; i < 6; i++)
		send(&f, 0, 1, LONG);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, 6);
	/* a cable of a port, with packets everywhere: two on the far link, eight at the switch */
	for (u32 i = 0; i < 16; i++) {
		send(&f, 0, 1, LONG);
		if (i < 6)
			send(&f, 1, 0, LONG);
		pass_time(&f, 200);
	}
	pass_time(&f, 10 * USEC);
	port_set_cable(&f.e[0].port.ib, false);
	s = link_state(&f, "a-h0");
	assert_int_equal(s.queued[0], 0);
	assert_int_equal(s.queued[1], 8);
	assert_int_equal(s.count[1].discards, 6);
	pass_time(&f, SEC);
	assert_int_equal(f.e[0].n, 0);
	port_set_cable(&f.e[0].port.ib, true);
	f.e[1].n = 0;
	send(&f, 0, 1, LONG);
	pass_time(&f, SEC);
	assert_int_equal(f.e[1].n, 1);
	end(&f);
}

static void let(struct fixture *f, const char *link, bool up)
{
	fab_link_up(f->f, fab_link_find(f->f, link), up);
}

/* Everybody sends to everybody, and who is in the same part hears it. */
static void expect_parts(struct fixture *f, const u32 part[ENDS])
{
	for (u32 i = 0; i < ENDS; i++)
		f->e[i].n = 0;
	for (u32 i = 0; i < ENDS; i++)
		for (u32 k = 0; k < ENDS; k++)
			if (i != k)
				send(f, i, k, LONG);
	pass_time(f, MSEC);
	for (u32 i = 0; i < ENDS; i++) {
		u32 others = 0;

		for (u32 k = 0; k < ENDS; k++)
			others += k != i && part[k] == part[i];
		assert_int_equal(f->e[i].n, others);
	}
}

/* Links that go lose what would take them, until ways are found again. */
static void rerouted(void **state)
{
	static const u32 whole[ENDS], alone[ENDS] = { 1, 1 };
	struct fixture f;
	u64 before;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	let(&f, "a-b", false);
	send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(fab_reroute(f.f), 0);
	expect_parts(&f, whole);
	/* one switch of the ring is cut off: its ports, and for it the four others */
	let(&f, "c-a", false);
	assert_int_equal(fab_reroute(f.f), ENDS);
	before = f.f->topo->sw[0]->no_way;
	expect_parts(&f, alone);
	assert_int_equal(f.f->topo->sw[0]->no_way - before, 2 * 4);
	/* and all is as it was, but for what a flap hides */
	let(&f, "c-a", true);
	let(&f, "a-b", true);
	fab_link_flap(fab_link_at(f.f, fab_link_find(f.f, "a-b")), f.now + MSEC);
	assert_int_equal(fab_reroute(f.f), 0);
	before = link_state(&f, "a-b").count[0].packets;
	pass_time(&f, 2 * MSEC);
	expect_parts(&f, whole);
	assert_int_equal(link_state(&f, "a-b").count[0].packets, before);
	assert_int_equal(fab_reroute(f.f), 0);
	expect_parts(&f, whole);
	assert_int_equal(link_state(&f, "a-b").count[0].packets, before + 4);
	end(&f);
}

/* What was said of routes holds while it leads there, and is not forgotten. */
static void rerouted_by_hand(void **state)
{
	struct topo *t = topo_new();
	struct fixture f;
	char why[128];

	for (const char *s = "abc"; *s; s++)
		topo_switch(t, (char[2]){ *s }, 18);
	for (const struct twish *w = tree; w->ends; w++) {
		struct topo_link l = t_link_of(w);

		topo_link(t, &l);
	}
	assert_null(topo_route(t, 0, "h4", "a-b"));
	assert_true(t_finish(t, why, sizeof(why)));
	start(&f, t);
	/* b's way leads by a now, and a's may not lead back */
	let(&f, "b-c", false);
	assert_int_equal(fab_reroute(f.f), 0);
	send(&f, 0, 4, LONG);
	send(&f, 2, 4, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[4].n, 2);
	assert_int_equal(link_state(&f, "c-a").count[1].packets, 2);
	let(&f, "b-c", true);
	assert_int_equal(fab_reroute(f.f), 0);
	send(&f, 0, 4, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[4].n, 3);
	assert_int_equal(link_state(&f, "a-b").count[0].packets, 1);
	assert_int_equal(link_state(&f, "c-a").count[1].packets, 2);
	end(&f);
}

/* A group's members hear each other in every part, and once. */
static void mcast_rerouted(void **state)
{
	struct fixture f;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	for (u32 mlid = MLID; mlid < MLID + 3; mlid++) {
		for (u32 i = 0; i < ENDS; i += 2)
			assert_int_equal(fab_mc_join(&f.e[i].port, mlid), 0);
		/* without any of the three links, then without the two of "a" */
		for (u32 out = 6; out < 10; out++) {
			let(&f, tree[out == 9 ? 6 : out].ends, false);
			if (out == 9)
				let(&f, "c-a", false);
			fab_reroute(f.f);
			send_to(&f, 1, mlid, LONG);
			send_to(&f, 3, mlid, LONG);
			pass_time(&f, 50 * USEC);
			for (u32 i = 0; i < ENDS; i++) {
				u32 from = out == 9 ? 1 : 2;

				assert_int_equal(f.e[i].n, i & 1 ? 0 : from);
				f.e[i].n = 0;
			}
			for (u32 l = 6; l < 9; l++)
				let(&f, tree[l].ends, true);
		}
		for (u32 i = 0; i < ENDS; i += 2)
			fab_mc_leave(&f.e[i].port, mlid);
		fab_reroute(f.f);
	}
	end(&f);
}

static void arm(struct fixture *f, struct fab_fault fault, const char *name)
{
	if (name)
		fault.link = fab_link_at(f->f, fab_link_find(f->f, name));
	if (!fault.permille)
		fault.permille = 1000;
	assert_int_equal(fab_fault_arm(f->f, &fault), 0);
}

static void disarm(struct fixture *f, const char *name)
{
	fab_fault_clear(f->f, NULL, name ? fab_link_at(f->f, fab_link_find(f->f, name)) : NULL);
	assert_int_equal(f->f->nfaults, 0);
}

static void faults(void **state)
{
	struct fixture f;
	u64 took;

	start(&f, t_topo("abc", TOPO_HOQ_USUAL, tree));
	/* one link, one direction */
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_OUT }, "a-b");
	send(&f, 0, 2, LONG);
	send(&f, 2, 0, LONG);
	send(&f, 0, 4, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 0);
	assert_int_equal(f.e[0].n, 1);
	assert_int_equal(f.e[4].n, 1);
	assert_int_equal(f.e[0].port.ib.drops, 1);
	assert_int_equal(link_state(&f, "a-b").count[0].lost, 1);
	disarm(&f, "a-b");
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .direction = FAB_IN }, "a-b");
	send(&f, 0, 2, LONG);
	send(&f, 2, 0, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	assert_int_equal(f.e[0].n, 1);
	disarm(&f, "a-b");
	/* every link: once, as it leaves its adapter */
	arm(&f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 1, .count = 1 }, NULL);
	for (u32 i = 0; i < 3; i++)
		send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 3);
	/* spoiled: the next switch throws it away */
	arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT, .count = 1 }, "a-b");
	send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 3);
	assert_int_equal(f.e[2].port.ib.bad, 0);
	assert_int_equal(link_state(&f, "a-b").count[0].bad, 1);
	/* and the adapter, behind the last one */
	arm(&f, (struct fab_fault){ .kind = FAB_CORRUPT, .count = 1, .port = &f.e[2].port,
				    .direction = FAB_IN }, NULL);
	send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].port.ib.bad, 1);
	arm(&f, (struct fab_fault){ .kind = FAB_DUPLICATE, .count = 1 }, "a-b");
	send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 5);
	/* late, and the one behind as well; overtaken, and not */
	for (u32 kind = FAB_DELAY; kind <= FAB_REORDER; kind++) {
		f.e[2].n = 0;
		arm(&f, (struct fab_fault){ .kind = kind, .usec = 50, .count = 1 }, "a-b");
		took = f.now;
		send(&f, 0, 2, LONG);
		send(&f, 0, 2, LONG);
		pass_time(&f, MSEC);
		assert_int_equal(f.e[2].n, 2);
		assert_true((f.e[2].at[0] - took > 50 * USEC) == (kind == FAB_DELAY));
		assert_true((f.e[2].psn[0] > f.e[2].psn[1]) == (kind == FAB_REORDER));
	}
	/* down for a while, and back */
	f.e[2].n = 0;
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100, .count = 1 }, "a-b");
	send(&f, 0, 2, LONG);
	pass_time(&f, 90 * USEC);
	assert_false(link_state(&f, "a-b").up);
	send(&f, 0, 2, LONG);
	pass_time(&f, 20 * USEC);
	assert_true(link_state(&f, "a-b").up);
	send(&f, 0, 2, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[2].n, 1);
	/* the same of a port's cable */
	arm(&f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 100, .count = 1,
				    .port = &f.e[0].port }, NULL);
	send(&f, 2, 0, LONG);
	pass_time(&f, 90 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_DOWN);
	pass_time(&f, 20 * USEC);
	assert_int_equal(f.e[0].port.ib.state, PORT_ACTIVE);
	assert_int_equal(f.f->nfaults, 0);
	end(&f);
}

/* Rate and latency change with the next packet; none overtakes another. */
static void live(void **state)
{
	static const struct twish links[] = {
		{ "a-h0", "4X EDR", 1000, 8 }, { "a-h1", "1X SDR", 20000, 8 }, { 0 },
	};
	struct fab_rate ddr;
	struct fixture f;
	u64 t0, len = size_of(LONG);
	int n;

	start(&f, t_topo("a", TOPO_HOQ_USUAL, links));
	n = fab_link_find(f.f, "a-h1");
	assert_true(fab_rate_parse("1X DDR", &ddr));
	t0 = f.now;
	send(&f, 0, 1, LONG);
	send(&f, 0, 1, LONG);
	/* the first is on its way, the second waits for it */
	pass_time(&f, 4 * USEC);
	fab_link_rate(f.f, n, &ddr);
	fab_link_latency(f.f, n, 10);
	assert_int_equal(f.e[1].port.rate.speed, 2);
	assert_int_equal(f.e[1].port.rate.width, 1);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[1].n, 2);
	assert_true(f.e[1].psn[0] < f.e[1].psn[1]);
	t0 = f.now;
	send(&f, 0, 1, LONG);
	pass_time(&f, MSEC);
	assert_int_equal(f.e[1].at[2] - t0, len * 8 / 100 + 1000 + 2 * len + 10);
	end(&f);
}

static bool described(void)
{
	struct topo *t = topo_new();
	char why[128];
	bool ok = t && !topo_switch(t, "a", 18);

	for (const struct twish *w = tree; ok && w < tree + 2; w++) {
		struct topo_link l = t_link_of(w);

		ok = !topo_link(t, &l);
	}
	ok = ok && t_finish(t, why, sizeof(why));
	topo_free(t);
	return ok;
}

/* Without memory there is no topology, and nothing is left behind. */
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
		cmocka_unit_test(shortest),
		cmocka_unit_test(moved_lid),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(refused),
		cmocka_unit_test(mcast_once),
		cmocka_unit_test(mcast_waits),
		cmocka_unit_test(cut),
		cmocka_unit_test(rerouted),
		cmocka_unit_test(rerouted_by_hand),
		cmocka_unit_test(mcast_rerouted),
		cmocka_unit_test(faults),
		cmocka_unit_test(live),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
