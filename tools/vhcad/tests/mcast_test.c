// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast in the switch: the receivers, the number of copies, and the cost for
 * ports that do not receive.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fabric/fabric.h"
#include "fabric/switch.h"
#include "tests/tfail.h"
#include "tests/ttopo.h"

#define PORTS	5u
#define GROUP	0xc000u
#define OTHER	0xfffeu
#define BYTES	100u

struct listener {
	struct fab_port port;
	u32 packets;
	u32 bad;		/* packets that were not as they were sent */
	u8 front[WIRE_GRH_LEN + BYTES];	/* of the last multicast with a GRH */
	u8 *data;		/* the sender's */
};

struct fixture {
	struct fabric *fabric;
	struct listener l[PORTS];
	u8 data[3 * BYTES];
};

static u8 pattern(u32 i)
{
	return i * 7 + 1;
}

static void rx(struct fab_port *port, struct run *run)
{
	struct listener *l = port->owner;
	u8 got[3 * BYTES];

	l->packets += run->npkts;
	assert_true(run->len <= sizeof(got));
	assert_int_equal(payload_read(run->pl, run->skip, got, run->len), 0);
	for (u32 i = 0; i < run->len; i++)
		l->bad += got[i] != pattern(run->h.psn * BYTES + i);
}

static void rx_mcast(struct fab_port *port, struct datagram *d)
{
	struct listener *l = port->owner;
	struct run run = *d->run;

	rx(port, &run);
	if (!run.h.grh)
		return;
	assert_int_equal(datagram_front(d), 0);
	assert_int_equal(d->ready, sizeof(l->front));
	memcpy(l->front, d->front, sizeof(l->front));
	/* made once, for all: later changes of the sender's memory do not matter */
	l->data[0] ^= 1;
}

static void port_changed(struct fab_port *port, u8 old)
{
}

static void addrs_changed(struct fab_port *port, u32 what)
{
}

static const struct fab_port_ops ops = {
	.rx = rx, .rx_mcast = rx_mcast, .state = port_changed,
	.changed = addrs_changed,
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->fabric = t_fabric();
	assert_non_null(f->fabric);
	for (u32 i = 0; i < PORTS; i++) {
		struct fab_port *p = &f->l[i].port;

		p->ops = &ops;
		p->owner = &f->l[i];
		p->number = 1;
		p->ib.guid = 0x100 + i;
		assert_int_equal(fab_plug(f->fabric, p, "t"), 0);
	}
	for (u32 i = 0; i < sizeof(f->data); i++)
		f->data[i] = pattern(i);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < PORTS; i++)
		fab_unplug(&f->l[i].port);
	fabric_free(f->fabric);
	free(f);
	return 0;
}

static void send(struct fixture *f, u32 from, u16 dlid, u32 npkts)
{
	struct payload pl = { .host = f->data };
	struct run run = {
		.h = { .dlid = dlid, .slid = from + 1, .pkey = 0xffff },
		.kind = WIRE_SEND, .first = true, .last = true,
		.npkts = npkts, .mtu = BYTES, .len = npkts * BYTES, .pl = &pl,
	};

	fab_send(&f->l[from].port, &run);
}

/* Checks what each has received since the last call, a digit for each port. */
static void heard(struct fixture *f, const char *want)
{
	char have[PORTS + 1] = "";

	for (u32 i = 0; i < PORTS; i++) {
		have[i] = '0' + f->l[i].packets;
		assert_int_equal(f->l[i].bad, 0);
		f->l[i].packets = 0;
	}
	assert_string_equal(have, want);
}

static void join(struct fixture *f, u32 i, u16 mlid)
{
	assert_int_equal(fab_mc_join(&f->l[i].port, mlid), 0);
}

static void leave(struct fixture *f, u32 i, u16 mlid)
{
	fab_mc_leave(&f->l[i].port, mlid);
}

/* Members get one copy each, however often they joined; others get none. */
static void members(void **state)
{
	struct fixture *f = *state;

	send(f, 0, GROUP, 1);
	heard(f, "00000");
	assert_int_equal(f->l[0].port.ib.drops, 1);
	for (u32 i = 1; i < 4; i++)
		join(f, i, GROUP);
	join(f, 2, GROUP);
	join(f, 4, OTHER);
	send(f, 0, GROUP, 1);
	heard(f, "01110");
	send(f, 0, OTHER, 2);
	heard(f, "00002");
	assert_int_equal(f->l[0].port.ib.drops, 1);
	/* the first leave takes back one join of two */
	leave(f, 2, GROUP);
	leave(f, 1, GROUP);
	send(f, 0, GROUP, 3);
	heard(f, "00330");
	leave(f, 2, GROUP);
	leave(f, 3, GROUP);
	send(f, 0, GROUP, 1);
	heard(f, "00000");
	assert_int_equal(f->l[0].port.ib.drops, 2);
	leave(f, 4, OTHER);
	/* neither neighbours of the range nor unicast are multicast */
	send(f, 0, 0xffff, 1);
	send(f, 0, 0xbfff, 1);
	send(f, 0, 0, 1);
	heard(f, "00000");
	assert_int_equal(f->l[0].port.ib.drops, 5);
	send(f, 0, 5, 1);
	heard(f, "00001");
}

/* A sender that is a member gets its own packet, but not over the cable. */
static void loopback(void **state)
{
	struct fixture *f = *state;
	const struct fab_port *own = &f->l[1].port, *far = &f->l[2].port;

	join(f, 1, GROUP);
	join(f, 2, GROUP);
	send(f, 1, GROUP, 3);
	heard(f, "03300");
	assert_int_equal(own->ib.tx_packets, 3);
	assert_int_equal(own->ib.tx_mcast, 3);
	assert_int_equal(own->ib.rx_packets, 0);
	assert_int_equal(own->ib.rx_mcast, 0);
	assert_int_equal(far->ib.rx_packets, 3);
	assert_int_equal(far->ib.rx_bytes, own->ib.tx_bytes);
	assert_int_equal(far->ib.rx_mcast, 3);
	/* with its cable pulled it receives nothing, and no other port receives from it */
	port_set_cable(&f->l[1].port.ib, false);
	send(f, 1, GROUP, 1);
	send(f, 2, GROUP, 1);
	heard(f, "00100");
	assert_int_equal(own->ib.drops, 1);
	port_set_cable(&f->l[1].port.ib, true);
	send(f, 2, GROUP, 1);
	heard(f, "01100");
	/* unicasts are not counted as multicasts */
	send(f, 1, 3, 1);
	heard(f, "00100");
	assert_int_equal(own->ib.tx_mcast, 3);
	assert_int_equal(far->ib.rx_mcast, 3);
	leave(f, 1, GROUP);
	leave(f, 2, GROUP);
}

/* So does the only member of a group that no switch knows of; a port that is no member does not. */
static void alone(void **state)
{
	const struct port_mask all = { { ~0ull } };
	struct fixture *f = *state;

	join(f, 1, GROUP);
	fab_switch_set_mask(f->fabric, 0, GROUP, &(struct port_mask){ 0 });
	send(f, 1, GROUP, 2);
	heard(f, "02000");
	assert_int_equal(f->l[1].port.ib.drops, 0);
	send(f, 2, GROUP, 1);
	heard(f, "00000");
	assert_int_equal(f->l[2].port.ib.drops, 1);
	/* a switch that knows all ports sends nothing back */
	fab_switch_set_mask(f->fabric, 0, GROUP, &all);
	send(f, 2, GROUP, 1);
	heard(f, "11011");
	leave(f, 1, GROUP);
	fab_switch_set_mask(f->fabric, 0, GROUP, &(struct port_mask){ 0 });
	send(f, 1, GROUP, 1);
	heard(f, "00000");
}

/* All receivers get the same GRH and payload, which are put together once. */
static void one_front(void **state)
{
	struct fixture *f = *state;
	struct payload pl = { .host = f->data };
	struct run run = {
		.h = {
			.dlid = GROUP, .slid = 1, .grh = true, .hop_limit = 9,
			.sgid = { 0xfe, 0x80, [15] = 7 }, .dgid = { 0xff, 0x12, [15] = 1 },
		},
		.service = WIRE_UD, .kind = WIRE_SEND, .first = true, .last = true,
		.npkts = 1, .mtu = BYTES, .len = BYTES, .pl = &pl,
	};
	u8 packet[WIRE_MAX_PKT];

	/* as it stands in the packet */
	assert_true(run_pkt_bytes(&run, 0, packet));
	for (u32 i = 1; i < PORTS; i++) {
		join(f, i, GROUP);
		f->l[i].data = f->data;
	}
	fab_send(&f->l[0].port, &run);
	for (u32 i = 1; i < PORTS; i++) {
		assert_int_equal(f->l[i].packets, 1);
		assert_memory_equal(f->l[i].front, packet + WIRE_LRH_LEN, WIRE_GRH_LEN);
		for (u32 k = 0; k < BYTES; k++)
			assert_int_equal(f->l[i].front[WIRE_GRH_LEN + k], pattern(k));
		leave(f, i, GROUP);
	}
}

struct branch {
	u32 hooked;
	u32 lose;		/* the number of the packet, from 0 */
};

static void hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	struct branch *b = arg;

	v->delay = 1000;
	if (b->hooked++ == b->lose)
		v->copies = 0;
}

/* A packet may be lost on its way to one member and still reach the others, later. */
static void hooked(void **state)
{
	struct fixture *f = *state;
	struct branch b = { .lose = 1 };
	u32 room;

	for (u32 i = 0; i < 4; i++)
		join(f, i, GROUP);
	assert_int_equal(fab_set_packet_hook(f->fabric, hook, &b), 0);
	room = fab_room(&f->l[0].port);
	fab_set_now(f->fabric, 5000);
	send(f, 0, GROUP, 1);
	/* its own copy did not travel; the hook has lost the second of the three others */
	assert_int_equal(b.hooked, 3);
	assert_int_equal(f->l[0].port.ib.drops, 1);
	heard(f, "10000");
	assert_int_equal(fab_next(f->fabric), 6000);
	assert_int_equal(fab_poll(f->fabric, 6000, 100), 2);
	heard(f, "01010");
	assert_int_equal(f->l[1].port.ib.rx_mcast, 1);
	assert_int_equal(f->l[2].port.ib.rx_mcast, 0);
	/* as many as fab_room() allows arrive, wherever they go */
	assert_int_equal(fab_room(&f->l[0].port), room);
	for (u32 i = 0; i < room; i++)
		send(f, 4, GROUP, 1);
	assert_int_equal(f->l[4].port.ib.drops, 0);
	assert_int_equal(fab_poll(f->fabric, 6000, UINT32_MAX), 0);
	assert_int_equal(fab_poll(f->fabric, 7000, UINT32_MAX), 4 * room);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(f->l[i].packets, room);
		f->l[i].packets = 0;
		leave(f, i, GROUP);
	}
	assert_int_equal(fab_set_packet_hook(f->fabric, NULL, NULL), 0);
}

/* A join without memory leaves the group as it was. */
static void no_memory(void **state)
{
	struct fixture *f = *state;
	u32 n, grown = 0;
	int err;

	for (u32 i = 1; i < PORTS; i++) {
		tfail_each_alloc(n, err = fab_mc_join(&f->l[i].port, GROUP), ({
			assert_int_equal(err, -ENOMEM);
			send(f, 0, GROUP, 1);
			heard(f, i == 1 ? "00000" : i == 2 ? "01000" : i == 3 ? "01100" : "01110");
		}));
		assert_int_equal(err, 0);
		grown += n;
		/* joining again takes none */
		tfail_each_alloc(n, err = fab_mc_join(&f->l[i].port, GROUP), fail());
		leave(f, i, GROUP);
	}
	/* twice the group, and the joins of each port */
	assert_int_equal(grown, 2 + PORTS - 1);
	send(f, 0, GROUP, 1);
	heard(f, "01111");
	for (u32 i = 1; i < PORTS; i++)
		leave(f, i, GROUP);
}

/* While packets queue, the room for them follows the largest group at that time. */
static void room(void **state)
{
	struct branch b = { .lose = UINT32_MAX };
	struct fixture *f = *state;
	u32 all;

	assert_int_equal(fab_set_packet_hook(f->fabric, hook, &b), 0);
	all = fab_room(&f->l[0].port);
	for (u32 i = 1; i < PORTS; i++) {
		join(f, i, GROUP);
		if (i < 4)
			join(f, i, OTHER);
		assert_int_equal(fab_room(&f->l[0].port), all / i);
	}
	/* the other group, of three, is the widest when this one has two */
	for (u32 i = 1; i < PORTS; i++) {
		static const u32 widest[PORTS] = { 4, 3, 3, 3, 3 };

		leave(f, i, GROUP);
		assert_int_equal(fab_room(&f->l[0].port), all / widest[i]);
	}
	for (u32 i = 1; i < 4; i++) {
		leave(f, i, OTHER);
		assert_int_equal(fab_room(&f->l[0].port), all / MAX(3 - i, 1u));
	}
	assert_int_equal(fab_set_packet_hook(f->fabric, NULL, NULL), 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(members), TEST(loopback), TEST(alone), TEST(one_front), TEST(hooked),
		TEST(room), TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
