// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of links: which packets they strike, that the same ones are struck in a second run, what
 * each kind does to its packets, and that reliable connections survive them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"
#include "tests/tfail.h"
#include "tests/thca.h"
#include "tests/ttopo.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define THROWS	100000u
#define USEC	1000ull
#define MSEC	1000000ull

/* ------------------------------------------------------------------------
 * Dice
 */

/* Which of the first packets are lost; returns their number. */
static u32 throws(u32 permille, u32 seed, u8 *lost)
{
	struct fab_fault fault = { .kind = FAB_LOSS, .permille = permille, .seed = seed };
	struct fabric *f = t_fabric();
	struct fab_port port = { .fabric = f };
	const struct fab_crossing c = {
		.from = &port, .to = &port, .opcode = OP_RC_SEND_ONLY,
	};
	u32 n = 0;

	assert_int_equal(fab_fault_arm(f, &fault), 0);
	for (u32 i = 0; i < THROWS; i++) {
		struct fab_effect effect = { .copies = 1 };

		fab_faults_meet(f, &c, &effect);
		assert_int_equal(effect.delay, 0);
		lost[i] = !effect.copies;
		n += lost[i];
	}
	fabric_free(f);
	return n;
}

static void as_many_as_asked(void **state)
{
	static const u32 permille[] = { 1, 10, 250, 500, 999, 1000 };
	static u8 lost[THROWS];

	for (u32 i = 0; i < ARRAY_SIZE(permille); i++) {
		s64 wanted = THROWS / 1000 * permille[i];
		s64 n = throws(permille[i], 1 + i, lost);

		/* six times the deviation of fair dice, at the most */
		assert_true((n - wanted) * (n - wanted) <=
			    36 * wanted * (1000 - permille[i]) / 1000);
	}
}

/* Neither at regular intervals nor in bursts: any two places are independent. */
static void no_pattern(void **state)
{
	static u8 lost[THROWS];

	throws(500, 7, lost);
	for (u32 apart = 1; apart <= 64; apart++) {
		s32 same = 0;

		for (u32 i = 0; i + apart < THROWS; i++)
			same += lost[i] == lost[i + apart] ? 1 : -1;
		assert_true(abs(same) < 2000);
	}
}

static void same_again(void **state)
{
	static u8 lost[3][THROWS];

	throws(10, 1, lost[0]);
	throws(10, 1, lost[1]);
	throws(10, 2, lost[2]);
	assert_memory_equal(lost[0], lost[1], THROWS);
	assert_memory_not_equal(lost[0], lost[2], THROWS);
}

/* ------------------------------------------------------------------------
 * Effects on packets: three ports that count what arrives
 */
struct end {
	struct fab_port port;
	u32 n;
	u32 psn[64], npkts[64];	/* of what has arrived */
	u64 at[64];		/* and when */
	u32 states;		/* changes of the port's state */
};

struct fixture {
	struct fabric *f;
	struct end e[3];
	u64 now;
	u32 psn;
};

static void on_rx(struct fab_port *port, struct run *run)
{
	struct end *e = container_of(port, struct end, port);

	assert_true(e->n < ARRAY_SIZE(e->psn));
	e->psn[e->n] = run->h.psn;
	e->npkts[e->n] = run->npkts;
	e->at[e->n++] = port->fabric->now;
}

static void on_mcast(struct fab_port *port, struct datagram *d)
{
	fail();
}

static void on_state(struct fab_port *port, u8 old)
{
	container_of(port, struct end, port)->states++;
}

static void addrs_changed(struct fab_port *port, u32 what)
{
}

static const struct fab_port_ops end_ops = {
	.rx = on_rx, .rx_mcast = on_mcast, .state = on_state,
	.changed = addrs_changed,
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->f = t_fabric();
	f->now = 77 * MSEC;
	fab_set_now(f->f, f->now);
	for (u32 i = 0; i < ARRAY_SIZE(f->e); i++) {
		f->e[i].port = (struct fab_port){ .ops = &end_ops, .number = 1, .ib.guid = i + 1 };
		assert_int_equal(fab_plug(f->f, &f->e[i].port, "t"), 0);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < ARRAY_SIZE(f->e); i++)
		fab_unplug(&f->e[i].port);
	assert_int_equal(f->f->nfaults, 0);
	assert_int_equal(f->f->nflapped, 0);
	fabric_free(f->f);
	free(f);
	return 0;
}

/* With PSNs that count from 0 for all of them together. */
static void send_op(struct fixture *f, u32 from, u32 to, u8 kind, u32 count)
{
	while (count--) {
		struct run run = {
			.h = { .dlid = f->e[to].port.ib.lid, .slid = f->e[from].port.ib.lid,
			       .psn = f->psn++, .pkey = 0xffff },
			.service = WIRE_RC, .kind = kind, .first = true, .last = true,
			.npkts = 1, .mtu = 1024,
		};

		fab_send(&f->e[from].port, &run);
	}
}

static void send(struct fixture *f, u32 from, u32 to, u32 count)
{
	send_op(f, from, to, WIRE_SEND, count);
}

static void pass_time(struct fixture *f, u64 ns)
{
	u64 end = f->now + ns;

	while (fab_next(f->f) <= end) {
		f->now = MAX(f->now, fab_next(f->f));
		fab_poll(f->f, f->now, UINT32_MAX);
	}
	f->now = end;
	fab_poll(f->f, f->now, UINT32_MAX);
}

static void arm(struct fixture *f, struct fab_fault fault)
{
	if (!fault.permille)
		fault.permille = 1000;
	assert_int_equal(fab_fault_arm(f->f, &fault), 0);
}

/* Checks what has arrived at a port, and forgets it. */
static void arrived(struct fixture *f, u32 at, u32 n, const u32 *psn)
{
	struct end *e = &f->e[at];

	assert_int_equal(e->n, n);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(e->psn[i], psn[i]);
	e->n = 0;
}

#define ARRIVED(f, at, ...) do {					\
	const u32 psn_[] = { __VA_ARGS__ };				\
	arrived(f, at, ARRAY_SIZE(psn_), psn_);				\
} while (0)

/*
 * A loss does not make the packets before and behind it travel one by one; none overtakes a packet
 * that waits.
 */
static void runs(void **state)
{
	static const u8 data[16 * 1024];
	struct fixture *f = *state;
	struct payload pl = { .host = data };
	struct run run = {
		.h = { .dlid = f->e[1].port.ib.lid, .slid = f->e[0].port.ib.lid, .pkey = 0xffff },
		.service = WIRE_RC, .kind = WIRE_WRITE, .first = true, .last = true,
		.npkts = 16, .mtu = 1024, .len = sizeof(data), .pl = &pl,
	};
	struct end *e = &f->e[1];

	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 5, .count = 1 });
	arm(f, (struct fab_fault){ .kind = FAB_DUPLICATE, .skip = 8, .count = 1 });
	fab_send(&f->e[0].port, &run);
	/* the last six wait behind the two of packet 9 */
	assert_int_equal(e->n, 2);
	assert_int_equal(e->npkts[0], 5);
	assert_int_equal(e->psn[1], 6);
	assert_int_equal(e->npkts[1], 3);
	assert_int_equal(e->port.ib.rx_packets, 8);
	pass_time(f, 0);
	assert_int_equal(e->n, 2 + 8);
	for (u32 i = 0; i < 8; i++) {
		assert_int_equal(e->npkts[2 + i], 1);
		assert_int_equal(e->psn[2 + i], i < 2 ? 9 : 8 + i);
	}
	assert_int_equal(e->port.ib.rx_packets, 16);
	assert_int_equal(f->e[0].port.ib.drops, 1);
}

/* Only the chosen link, in the chosen direction. */
static void directions(void **state)
{
	static const struct {
		u32 direction;
		u32 lost[4];	/* of 0 to 1, 1 to 0, 2 to 0, 1 to 2 */
	} cases[] = {
		{ FAB_OUT, { 1, 0, 0, 0 } },
		{ FAB_IN, { 0, 1, 1, 0 } },
		{ FAB_BOTH, { 1, 1, 1, 0 } },
	};
	static const u32 ways[4][2] = { { 0, 1 }, { 1, 0 }, { 2, 0 }, { 1, 2 } };
	struct fixture *f = *state;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		arm(f, (struct fab_fault){ .kind = FAB_LOSS, .port = &f->e[0].port,
					   .direction = cases[i].direction });
		for (u32 w = 0; w < ARRAY_SIZE(ways); w++) {
			u64 drops = f->e[ways[w][0]].port.ib.drops;

			send(f, ways[w][0], ways[w][1], 1);
			pass_time(f, 0);
			assert_int_equal(f->e[ways[w][1]].n, !cases[i].lost[w]);
			assert_int_equal(f->e[ways[w][0]].port.ib.drops - drops, cases[i].lost[w]);
			f->e[ways[w][1]].n = 0;
		}
		fab_fault_clear(f->f, NULL, NULL);
		assert_int_equal(f->f->nfaults, 1);
		fab_fault_clear(f->f, &f->e[0].port, NULL);
		assert_int_equal(f->f->nfaults, 0);
	}
	/* a fault of every link strikes a packet once on its whole route */
	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 2, .count = 1 });
	send(f, 0, 1, 4);
	pass_time(f, 0);
	ARRIVED(f, 1, 12, 13, 15);
}

static void opcodes(void **state)
{
	struct fixture *f = *state;
	u64 bits[4];

	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .opcode = "RC_ACK" });
	send_op(f, 0, 1, WIRE_SEND, 1);
	send_op(f, 0, 1, WIRE_ACK, 1);
	send_op(f, 0, 1, WIRE_ATOMIC_ACK, 1);
	pass_time(f, 0);
	ARRIVED(f, 1, 0, 2);
	fab_fault_clear(f->f, NULL, NULL);

	assert_int_equal(wire_named("ACK", bits), 4);
	assert_int_equal(wire_named("READ_REQ", bits), 2);
	assert_int_equal(bits[OP_RC_READ_REQ / 64], 1ull << OP_RC_READ_REQ % 64);
	assert_int_equal(bits[OP_XRC_READ_REQ / 64], 1ull << OP_XRC_READ_REQ % 64);
	assert_int_equal(wire_named("RC_SEND_ONLY_IMM", bits), 1);
	assert_int_equal(wire_named("UD", bits), 2);
	/* only whole words match */
	assert_int_equal(wire_named("AC", bits), 0);
	assert_int_equal(wire_named("", bits), 0);
	assert_int_equal(wire_named("RC_SEND_ONLY_IMM_AND_MUCH_MORE_OF_IT", bits), 0);
}

/* The names are those of enum wire_opcode. */
static void names(void **state)
{
	char name[WIRE_NAME_MAX];

	assert_string_equal(wire_name(OP_RC_SEND_FIRST, name), "RC_SEND_FIRST");
	assert_string_equal(wire_name(OP_RC_ATOMIC_WRITE, name), "RC_ATOMIC_WRITE");
	assert_string_equal(wire_name(OP_UC_WRITE_ONLY_IMM, name), "UC_WRITE_ONLY_IMM");
	assert_string_equal(wire_name(OP_UD_SEND_ONLY, name), "UD_SEND_ONLY");
	assert_string_equal(wire_name(OP_XRC_SEND_ONLY_INV, name), "XRC_SEND_ONLY_INV");
	assert_string_equal(wire_name(OP_OWN_MASKED_CMP_SWAP, name), "OWN_MASKED_CMP_SWAP");
	assert_string_equal(wire_name(0xff, name), "0xff");
	for (u32 op = 0; op < 256; op++) {
		u64 bits[4];

		if (wire_op(op)->kind == WIRE_NONE)
			continue;
		assert_true(wire_named(wire_name(op, name), bits) >= 1);
		assert_true(bits[op / 64] >> op % 64 & 1);
	}
}

/* @skip packets pass, @count packets are struck, and then the fault is disarmed. */
static void counted(void **state)
{
	struct fixture *f = *state;
	struct fab_fault list[FAB_MAX_FAULTS];

	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 2, .count = 3 });
	send(f, 0, 1, 3);
	assert_int_equal(fab_fault_list(f->f, NULL, NULL, list), 1);
	assert_int_equal(list[0].skip, 0);
	assert_int_equal(list[0].count, 2);
	assert_int_equal(list[0].struck, 1);
	assert_int_equal(fab_fault_list(f->f, &f->e[0].port, NULL, list), 0);
	send(f, 0, 1, 4);
	assert_false(f->f->nfaults);
	pass_time(f, 0);
	ARRIVED(f, 1, 0, 1, 5, 6);
	/* and packets are not checked for faults any more */
	assert_false(fab_queues(f->f));
}

/* It begins and ends by the clock. */
static void timed(void **state)
{
	struct fixture *f = *state;
	struct fab_fault list[FAB_MAX_FAULTS];

	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .after = 10, .until = 20 });
	send(f, 0, 1, 1);
	pass_time(f, 10 * MSEC - 1);
	send(f, 0, 1, 1);
	pass_time(f, 1);
	send(f, 0, 1, 1);
	pass_time(f, 10 * MSEC - 1);
	send(f, 0, 1, 1);
	assert_int_equal(fab_fault_list(f->f, NULL, NULL, list), 1);
	pass_time(f, 1);
	assert_int_equal(fab_fault_list(f->f, NULL, NULL, list), 0);
	send(f, 0, 1, 1);
	pass_time(f, 0);
	ARRIVED(f, 1, 0, 1, 4);
	assert_int_equal(f->f->nfaults, 0);
}

/* A packet that is delayed holds up those behind it, on its link only. */
static void delayed(void **state)
{
	struct fixture *f = *state;

	arm(f, (struct fab_fault){ .kind = FAB_DELAY, .port = &f->e[0].port, .usec = 50,
				   .skip = 1, .count = 1 });
	send(f, 0, 1, 3);
	send(f, 2, 1, 1);
	pass_time(f, 50 * USEC - 1);
	ARRIVED(f, 1, 0, 3);
	pass_time(f, 1);
	ARRIVED(f, 1, 1, 2);
	/* all of them late: still in order, whatever the jitter */
	arm(f, (struct fab_fault){ .kind = FAB_DELAY, .port = &f->e[0].port, .usec = 50,
				   .jitter = 100 });
	for (u32 i = 0; i < 8; i++) {
		send(f, 0, 1, 1);
		pass_time(f, USEC);
	}
	pass_time(f, 150 * USEC);
	ARRIVED(f, 1, 4, 5, 6, 7, 8, 9, 10, 11);
	assert_true(f->e[1].at[7] > f->e[1].at[0]);
}

static void overtaken(void **state)
{
	struct fixture *f = *state;

	arm(f, (struct fab_fault){ .kind = FAB_REORDER, .usec = 50, .skip = 1, .count = 1 });
	send(f, 0, 1, 4);
	pass_time(f, 0);
	ARRIVED(f, 1, 0, 2, 3);
	pass_time(f, 50 * USEC);
	ARRIVED(f, 1, 1);
}

static void doubled(void **state)
{
	struct fixture *f = *state;

	arm(f, (struct fab_fault){ .kind = FAB_DUPLICATE, .skip = 1, .count = 1 });
	send(f, 0, 1, 3);
	pass_time(f, 0);
	ARRIVED(f, 1, 0, 1, 1, 2);
	arm(f, (struct fab_fault){ .kind = FAB_DUPLICATE, .usec = 7, .count = 1 });
	send(f, 0, 1, 2);
	pass_time(f, 7 * USEC - 1);
	ARRIVED(f, 1, 3, 4);
	pass_time(f, 1);
	ARRIVED(f, 1, 3);
	assert_int_equal(f->e[0].port.ib.drops, 0);
}

/* Whichever bit it is, no port accepts the packet. */
static void spoiled(void **state)
{
	struct fixture *f = *state;

	for (u32 seed = 0; seed < 2000; seed++) {
		arm(f, (struct fab_fault){ .kind = FAB_CORRUPT, .seed = seed, .count = 1 });
		send(f, 0, 1, 1);
		pass_time(f, 0);
		assert_int_equal(f->e[1].n, 0);
		assert_int_equal(f->e[1].port.ib.bad, seed + 1);
	}
	assert_int_equal(f->e[1].port.ib.rx_packets, 2000);
}

/* Nothing gets through for a while, and then all of it at once. */
static void stalled(void **state)
{
	struct fixture *f = *state;

	arm(f, (struct fab_fault){ .kind = FAB_STALL, .port = &f->e[1].port,
				   .direction = FAB_IN, .usec = 100, .count = 2 });
	for (u32 i = 0; i < 4; i++) {
		send(f, i % 2 ? 2 : 0, 1, 1);
		pass_time(f, 20 * USEC);
	}
	assert_int_equal(f->e[1].n, 0);
	pass_time(f, 20 * USEC);
	ARRIVED(f, 1, 0, 1, 2, 3);
	/* packets that it held up were not struck again */
	assert_int_equal(f->f->fault[0].fault.struck, 1);
	send(f, 0, 1, 1);
	pass_time(f, 100 * USEC - 1);
	assert_int_equal(f->e[1].n, 0);
	pass_time(f, 1);
	ARRIVED(f, 1, 4);
	assert_int_equal(f->f->nfaults, 0);
}

/* The port goes down and comes up again; packets on their way to it are lost. */
static void flapped(void **state)
{
	struct fixture *f = *state;
	struct fab_port *port = &f->e[1].port;

	arm(f, (struct fab_fault){ .kind = FAB_DELAY, .usec = 10, .count = 2 });
	arm(f, (struct fab_fault){ .kind = FAB_FLAP, .port = port, .usec = 1000, .skip = 2,
				   .count = 1 });
	send(f, 0, 1, 4);
	assert_int_equal(port->ib.state, PORT_DOWN);
	assert_int_equal(f->e[1].states, 1);
	send(f, 1, 2, 1);
	/* two that were delayed, the one that the flap met, and one behind it */
	assert_int_equal(f->e[0].port.ib.drops, 4);
	assert_int_equal(port->ib.discards, 1);
	assert_int_equal(fab_next(f->f), f->now + 1000 * USEC);
	/* pulled and plugged meanwhile: that does not end it */
	port_set_cable(&port->ib, false);
	port_set_cable(&port->ib, true);
	pass_time(f, 1000 * USEC - 1);
	assert_int_equal(port->ib.state, PORT_DOWN);
	pass_time(f, 1);
	assert_int_equal(port->ib.state, PORT_ACTIVE);
	/* down, armed, active */
	assert_int_equal(f->e[1].states, 3);
	assert_int_equal(fab_next(f->f), UINT64_MAX);
	send(f, 0, 1, 1);
	pass_time(f, 0);
	ARRIVED(f, 1, 5);
	/* the sender's link: packets that it sent before are under way already */
	arm(f, (struct fab_fault){ .kind = FAB_DELAY, .usec = 10, .count = 1 });
	send(f, 1, 2, 1);
	arm(f, (struct fab_fault){ .kind = FAB_FLAP, .usec = 5, .count = 1 });
	send(f, 1, 2, 1);
	pass_time(f, 10 * USEC);
	ARRIVED(f, 2, 6);
	assert_int_equal(port->ib.state, PORT_ACTIVE);
	/* one that is unplugged while it is down */
	arm(f, (struct fab_fault){ .kind = FAB_FLAP, .port = port, .usec = 1000, .count = 1 });
	send(f, 1, 2, 1);
	fab_unplug(port);
	assert_int_equal(fab_next(f->f), UINT64_MAX);
	assert_int_equal(fab_plug(f->f, port, "t"), 0);
}

/* Faults that strike the same packet all have their effect, in the order of arming. */
static void together(void **state)
{
	struct fixture *f = *state;

	arm(f, (struct fab_fault){ .kind = FAB_REORDER, .usec = 30, .count = 1 });
	arm(f, (struct fab_fault){ .kind = FAB_DUPLICATE, .usec = 10, .count = 1 });
	arm(f, (struct fab_fault){ .kind = FAB_LOSS, .skip = 1, .count = 1 });
	send(f, 0, 1, 3);
	pass_time(f, 0);
	ARRIVED(f, 1, 2);
	pass_time(f, 30 * USEC);
	ARRIVED(f, 1, 0);
	pass_time(f, 10 * USEC);
	ARRIVED(f, 1, 0);
}

static void refused(void **state)
{
	static const struct {
		const char *why;
		struct fab_fault fault;
	} cases[] = {
		{ "no such kind", { .kind = FAB_FAULT_KINDS, .permille = 1 } },
		{ "direction", { .kind = FAB_LOSS, .permille = 1, .direction = 3 } },
		{ "permille", { .kind = FAB_LOSS } },
		{ "permille", { .kind = FAB_LOSS, .permille = 1001 } },
		{ "not counted", { .kind = FAB_LOSS, .permille = 1, .skip = FAB_MAX_COUNT + 1 } },
		{ "not counted", { .kind = FAB_LOSS, .permille = 1, .count = FAB_MAX_COUNT + 1 } },
		{ "how long", { .kind = FAB_DELAY, .permille = 1 } },
		{ "how long", { .kind = FAB_FLAP, .permille = 1, .jitter = 3 } },
		{ "too long", { .kind = FAB_STALL, .permille = 1, .usec = FAB_MAX_USEC + 1 } },
		{ "too long", { .kind = FAB_STALL, .permille = 1, .usec = 1,
				.jitter = FAB_MAX_USEC + 1 } },
		{ "too long", { .kind = FAB_LOSS, .permille = 1, .after = FAB_MAX_MS + 1 } },
		{ "too long", { .kind = FAB_LOSS, .permille = 1, .until = FAB_MAX_MS + 1 } },
		{ "no time", { .kind = FAB_LOSS, .permille = 1, .usec = 1 } },
		{ "no time", { .kind = FAB_CORRUPT, .permille = 1, .jitter = 1 } },
		{ "over before", { .kind = FAB_LOSS, .permille = 1, .after = 5, .until = 5 } },
		{ "no opcode", { .kind = FAB_LOSS, .permille = 1, .opcode = "DANCE" } },
	};
	struct fixture *f = *state;
	const struct fab_fault good = { .kind = FAB_LOSS, .permille = 1 };

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *why = fab_fault_wrong(&cases[i].fault);

		if (!why || !strstr(why, cases[i].why))
			fail_msg("%s: %s", cases[i].why, why ?: "nothing");
		assert_int_equal(fab_fault_arm(f->f, &cases[i].fault), -EINVAL);
	}
	assert_int_equal(f->f->nfaults, 0);
	assert_null(fab_fault_wrong(&good));
	for (u32 i = 0; i < FAB_MAX_FAULTS; i++)
		assert_int_equal(fab_fault_arm(f->f, &good), 0);
	assert_int_equal(fab_fault_arm(f->f, &good), -ENOSPC);
	fab_fault_clear(f->f, NULL, NULL);
}

/* ------------------------------------------------------------------------
 * A connection on top
 */

/* Number of packets lost in a conversation, with this rate of losses. */
static u64 converse(u32 permille, u32 seed)
{
	const struct fab_fault loss = { .kind = FAB_LOSS, .permille = permille, .seed = seed };
	struct tmr l, r;
	struct tpair p;
	u64 drops;

	t_pair_init(&p, 1, 1, 0xfffffa);
	t_mr_init(&p.h[0], &l, 1ull << 40, 100000, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 1ull << 41, 100000, RW, 1, 12);
	t_mr_fill(&l, 1);
	t_mr_fill(&r, 2);
	if (permille)
		assert_int_equal(fab_fault_arm(p.w.fabric, &loss), 0);
	for (u32 i = 0; i < 8; i++) {
		struct twr wr = t_wr(i % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, i, &l, i * 10000, 9999,
				     &r, i * 10000);

		t_post(&p.qp[0], &wr);
	}
	t_ring_sq(&p.qp[0]);
	t_settle(&p.w, 60ull * 1000000000);
	for (u32 i = 0; i < 8; i++) {
		t_expect_cqe(&p.cq[0], i, VHCA_CS_SUCCESS);
		t_mr_expect(i % 2 ? &l : &r, i * 10000, 9999, i % 2 ? 2 : 1, i * 10000);
	}
	drops = p.w.fabric->ports[0]->ib.drops + p.w.fabric->ports[1]->ib.drops;
	t_pair_fini(&p);
	return drops;
}

static void reliable_all_the_same(void **state)
{
	u64 one = converse(50, 1);

	assert_int_equal(converse(0, 1), 0);
	assert_true(one > 5);
	assert_int_equal(converse(50, 1), one);
}

static void no_memory(void **state)
{
	const struct fab_fault loss = { .kind = FAB_LOSS, .permille = 10 };
	struct fabric *f = t_fabric();
	int err;
	u32 n;

	tfail_each_alloc(n, err = fab_fault_arm(f, &loss), ({
		assert_int_equal(err, -ENOMEM);
		assert_false(fab_queues(f));
	}));
	assert_int_equal(n, 1);
	assert_true(fab_queues(f));
	fabric_free(f);
}

#define PORTS_TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_asked),
		cmocka_unit_test(no_pattern),
		cmocka_unit_test(same_again),
		PORTS_TEST(runs),
		PORTS_TEST(directions),
		PORTS_TEST(opcodes),
		cmocka_unit_test(names),
		PORTS_TEST(counted),
		PORTS_TEST(timed),
		PORTS_TEST(delayed),
		PORTS_TEST(overtaken),
		PORTS_TEST(doubled),
		PORTS_TEST(spoiled),
		PORTS_TEST(stalled),
		PORTS_TEST(flapped),
		PORTS_TEST(together),
		PORTS_TEST(refused),
		cmocka_unit_test(reliable_all_the_same),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
