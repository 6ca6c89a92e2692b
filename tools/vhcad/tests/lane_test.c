// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Service levels and data VLs on the links of a topology: which packets wait, and arbitration.
 */
#include "tests/tfabric.h"

#define SLS	16u

/* h0 and h1 at one switch, h2 and h3 at another, to h2 by a slow link. */
static const struct t_link links[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "a-h1", "4X EDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 },
	{ "b-h2", "1X SDR", 10, 8 }, { "b-h3", "4X EDR", 10, 8 }, { 0 },
};

/* The same with long links and small queues. */
static const struct t_link narrow[] = {
	{ "a-h0", "4X EDR", 100000, 1 }, { "a-h1", "4X EDR", 100000, 1 },
	{ "a-b", "4X EDR", 100000, 1 }, { "b-h2", "4X EDR", 100000, 1 },
	{ "b-h3", "4X EDR", 100000, 1 }, { 0 },
};

/* All ports use @op_vls (a code) VLs, and SL n takes VL n, up to 7. */
static void start_with(struct t_fabric *f, u8 op_vls, const struct t_link *w)
{
	t_start(f, t_topo("ab", TOPO_HOQ_USUAL, w));
	for (u32 sw = 0; sw < 2; sw++) {
		for (u32 n = 1; n <= 3; n++) {
			struct port *ib = fab_switch_ib(f->f, sw, n);
			struct port_setup s[2] = { ib->setup, ib->peer->setup };

			for (u32 i = 0; i < 2; i++) {
				s[i].op_vls = op_vls;
				for (u32 sl = 0; sl < SLS; sl++)
					s[i].sl2vl[sl] = sl % PORT_VLS;
			}
			port_set_setup(ib, &s[0]);
			port_set_setup(ib->peer, &s[1]);
			for (u32 in = 0; in <= 3; in++)
				for (u32 sl = 0; sl < SLS; sl++)
					fab_switch_sl2vl(f->f, sw, in, n)[sl] = sl % PORT_VLS;
		}
	}
}

static void start(struct t_fabric *f, u8 op_vls)
{
	start_with(f, op_vls, links);
}

static void send(struct t_fabric *f, u32 from, u32 to, u8 sl)
{
	f->sl = sl;
	t_send_packet(f, from, to, LONG);
}

/* Packets for a slow link hold up packets to elsewhere on their own VL, and on no other. */
static void apart(void **state)
{
	for (u32 together = 0; together < 2; together++) {
		struct t_fabric f;

		start(&f, 2);
		for (u32 i = 0; i < 7; i++)
			send(&f, 0, 2, 0);
		t_pass(&f, 2 * USEC);
		send(&f, 0, 3, !together);
		t_pass(&f, 4 * USEC);
		assert_true(f.e[2].n < 4);
		assert_int_equal(f.e[3].n, !together);
		t_pass(&f, MSEC);
		assert_int_equal(f.e[2].n, 7);
		assert_int_equal(f.e[3].n, 1);
		t_end(&f);
	}
}

/* Keeps both senders busy until h2 has @total packets; returns how many came from the first. */
static u32 contend(struct t_fabric *f, u32 total)
{
	u16 lid = f->e[0].port.ib.lid;
	u32 first = 0;

	while (f->e[2].n < total) {
		for (u32 i = 0; i < 2; i++)
			while (fab_room(&f->e[i].port))
				send(f, i, 2, i);
		t_pass(f, USEC);
	}
	for (u32 i = 0; i < total; i++)
		first += f->e[2].slid[i] == lid;
	return first;
}

/* Writes entry 0 of a table of each port that leads to h2, for VL 0 and 1: their weights. */
static void weigh(struct t_fabric *f, u32 table, u8 vl0, u8 vl1, u8 limit)
{
	struct port *ib[] = { fab_switch_ib(f->f, 0, 3), fab_switch_ib(f->f, 1, 2) };

	for (u32 i = 0; i < ARRAY_SIZE(ib); i++) {
		struct port_setup s = ib[i]->setup;

		s.vlarb[table][0][0] = 0;
		s.vlarb[table][0][1] = vl0;
		s.vlarb[table][5][0] = 1;
		s.vlarb[table][5][1] = vl1;
		s.vl_high_limit = limit;
		port_set_setup(ib[i], &s);
	}
}

/* Weights are shares of the link; a VL of high priority goes first, as far as its limit lets it. */
static void weights(void **state)
{
	struct t_fabric f;
	u32 n;

	/* empty tables: the VLs take turns */
	start(&f, 2);
	n = contend(&f, 400);
	assert_in_range(n, 190, 210);
	t_end(&f);
	start(&f, 2);
	weigh(&f, 0, 3 * 16, 16, 0);
	n = contend(&f, 400);
	assert_in_range(n, 280, 320);
	t_end(&f);
	start(&f, 2);
	weigh(&f, 0, 16, 3 * 16, 0);
	n = contend(&f, 400);
	assert_in_range(n, 80, 120);
	t_end(&f);
	/* the second one before all others */
	start(&f, 2);
	weigh(&f, 0, 1, 0, 255);
	weigh(&f, 1, 0, 1, 255);
	n = contend(&f, 400);
	assert_true(n < 20);
	t_end(&f);
	/* one of low priority after 4 KiB of high priority, which are four packets */
	start(&f, 2);
	weigh(&f, 0, 1, 0, 1);
	weigh(&f, 1, 0, 1, 1);
	n = contend(&f, 400);
	assert_in_range(n, 65, 110);
	t_end(&f);
}

/* An SL that leads to a VL that is not used, or to VL15: packets are lost where it does so. */
static void no_lane(void **state)
{
	struct port_setup s;
	struct t_fabric f;

	start(&f, 2);
	send(&f, 0, 3, 2);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[3].n, 0);
	assert_int_equal(t_link_state(&f, "a-h0").count[1].discards, 1);
	fab_switch_sl2vl(f.f, 0, f.e[0].port.at, 3)[1] = PORT_VL15;
	send(&f, 0, 3, 1);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[3].n, 0);
	assert_int_equal(t_link_state(&f, "a-b").count[0].discards, 1);
	assert_int_equal(f.e[0].port.ib.drops, 2);
	/* eight VLs, each with some room */
	s = f.e[0].port.ib.setup;
	s.op_vls = 4;
	port_set_setup(&f.e[0].port.ib, &s);
	for (u32 sw = 0; sw < 2; sw++) {
		for (u32 n = 1; n <= 3; n++) {
			s = fab_switch_ib(f.f, sw, n)->setup;
			s.op_vls = 4;
			port_set_setup(fab_switch_ib(f.f, sw, n), &s);
		}
	}
	for (u32 sl = 2; sl < PORT_VLS; sl++)
		send(&f, 0, 3, sl);
	t_pass(&f, MSEC);
	assert_int_equal(f.e[3].n, 6);
	t_end(&f);
}

static void arm_doubling(struct t_fabric *f, struct fab_port *port, struct fab_link *link)
{
	const struct fab_fault fault = {
		.kind = FAB_DUPLICATE, .permille = 1000, .port = port, .link = link,
	};

	assert_int_equal(fab_fault_arm(f->f, &fault), 0);
}

/* If every packet is duplicated on all VLs of all links the pool runs out: some are lost. */
static void doubled(void **state)
{
	struct t_fabric f;
	u64 before = 0, lost = 0;

	start_with(&f, 4, narrow);
	for (u32 i = 0; i < 4; i++) {
		before += f.e[i].port.ib.drops;
		arm_doubling(&f, &f.e[i].port, NULL);
	}
	arm_doubling(&f, NULL, fab_link_at(f.f, fab_link_find(f.f, "a-b")));
	for (u32 n = 0; n < 2000; n++) {
		for (u32 i = 0; i < 4; i++) {
			f.e[i].n = 0;
			if (fab_room(&f.e[i].port))
				send(&f, i, (i + 1 + n / PORT_VLS % 3) % 4, n % PORT_VLS);
		}
		t_pass(&f, USEC);
	}
	for (u32 i = 0; i < 4; i++)
		lost += f.e[i].port.ib.drops;
	assert_true(lost > before);
	t_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart), cmocka_unit_test(weights), cmocka_unit_test(no_lane),
		cmocka_unit_test(doubled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
