// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directed routes, one node at a time.
 */
#include <string.h>

#include "port/port.h"
#include "subnet/smi.h"
#include "tests/cm.h"
#include "wire/mad.h"

#define PORTS		8u
#define MOST		10u
#define FROM_LID	0x77u

/* A row of switches: a route enters each by one port and leaves it by another. */
static u8 in_port(u32 node)
{
	return 1 + (node * 3) % PORTS;
}

static u8 out_port(u32 node)
{
	return 1 + (node * 5 + 2) % PORTS;
}

static void request(u8 *mad, u32 hops)
{
	memset(mad, 0, MAD_LEN);
	mad_put(mad, DR_HOP_COUNT, hops);
	mad_put(mad, DR_SLID, LID_PERMISSIVE);
	mad_put(mad, DR_DLID, LID_PERMISSIVE);
	/* hop 1 is the sender's port, hop n + 1 that of the nth switch */
	for (u32 hop = 1; hop <= hops; hop++)
		mad[DR_INITIAL_PATH + hop] = hop == 1 ? 1 : out_port(hop - 1);
}

static void pointer_is(const u8 *mad, u32 want)
{
	assert_int_equal(mad_get(mad, DR_HOP_POINTER), want);
}

static enum smi_action at_switch(u8 *mad, u8 in, u8 *out)
{
	struct smi_hop hop = { .nports = PORTS, .in_port = in };
	enum smi_action what = smi_receive(mad, &hop);

	*out = hop.out_port;
	return what;
}

/* Through all switches to an HCA or the last switch, and all the way back. */
static void there_and_back(void **state)
{
	for (u32 hops = 1; hops < MOST; hops++)
		for (u32 hca = 0; hca < 2; hca++) {
			struct smi_hop end = {
				.nports = hca ? 0 : PORTS, .in_port = hca ? 1 : in_port(hops),
			};
			u8 mad[MAD_LEN], out;

			request(mad, hops);
			mad_put(mad, DR_HOP_POINTER, 1);
			for (u32 node = 1; node < hops; node++) {
				pointer_is(mad, node);
				assert_int_equal(at_switch(mad, in_port(node), &out),
						 SMI_FORWARD);
				assert_int_equal(out, out_port(node));
			}
			assert_int_equal(smi_receive(mad, &end), SMI_SERVE);
			pointer_is(mad, hops + 1);
			mad_put(mad, DR_RETURNS, 1);
			assert_int_equal(smi_answer(mad, &end, LID_PERMISSIVE), SMI_FORWARD);
			assert_int_equal(end.out_port, end.in_port);
			for (u32 node = hops - 1; node; node--) {
				pointer_is(mad, node + 1);
				assert_int_equal(at_switch(mad, out_port(node), &out),
						 SMI_FORWARD);
				assert_int_equal(out, in_port(node));
			}
			/* it comes to the sender's host, whose SMI does the rest */
			pointer_is(mad, 1);
			end.nports = 0;
			assert_int_equal(smi_receive(mad, &end), SMI_HOST);
			pointer_is(mad, 1);
		}
}

/* By LID to the first switch, two hops, and by LID from the second one to a third node. */
static void parts_by_lid(void **state)
{
	struct smi_hop hop = { .nports = PORTS, .in_port = 4 };
	u8 mad[MAD_LEN];

	request(mad, 2);
	mad[DR_INITIAL_PATH + 1] = 6;
	mad[DR_INITIAL_PATH + 2] = 7;
	mad_put(mad, DR_SLID, FROM_LID);
	mad_put(mad, DR_DLID, 0x99);
	assert_int_equal(smi_receive(mad, &hop), SMI_FORWARD);
	assert_int_equal(hop.out_port, 6);
	pointer_is(mad, 1);
	hop.in_port = 2;
	assert_int_equal(smi_receive(mad, &hop), SMI_FORWARD);
	assert_int_equal(hop.out_port, 7);
	pointer_is(mad, 2);
	hop.in_port = 3;
	assert_int_equal(smi_receive(mad, &hop), SMI_ROUTE);
	assert_int_equal(hop.dlid, 0x99);
	pointer_is(mad, 3);
	/* at the node that has the LID, an HCA */
	hop = (struct smi_hop){ .in_port = 1 };
	assert_int_equal(smi_receive(mad, &hop), SMI_SERVE);
	mad_put(mad, DR_RETURNS, 1);
	assert_int_equal(smi_answer(mad, &hop, 0x55), SMI_ROUTE);
	assert_int_equal(hop.dlid, 0x55);
	pointer_is(mad, 3);
	/* back at the last switch of the hops */
	hop = (struct smi_hop){ .nports = PORTS, .in_port = 5 };
	assert_int_equal(smi_receive(mad, &hop), SMI_FORWARD);
	assert_int_equal(hop.out_port, 3);
	assert_int_equal(smi_receive(mad, &hop), SMI_FORWARD);
	assert_int_equal(hop.out_port, 2);
	assert_int_equal(smi_receive(mad, &hop), SMI_ROUTE);
	assert_int_equal(hop.dlid, FROM_LID);
	pointer_is(mad, 0);
}

/* Without hops it is answered where it is. */
static void no_hops(void **state)
{
	for (u32 at = 0; at < 2; at++) {
		struct smi_hop hop = { .in_port = 1 };
		u8 mad[MAD_LEN];

		request(mad, 0);
		mad_put(mad, DR_HOP_POINTER, at);
		assert_int_equal(smi_receive(mad, &hop), SMI_SERVE);
		pointer_is(mad, 1);
		mad_put(mad, DR_RETURNS, 1);
		assert_int_equal(smi_answer(mad, &hop, 0x31), SMI_ROUTE);
		assert_int_equal(hop.dlid, 0x31);
		pointer_is(mad, 0);
	}
}

struct bad {
	u8 pointer, count;
	bool returns, is_switch;
	u16 slid;
	u8 port;		/* all of both paths */
};

/* Datagrams that do not fit the place where they arrive. */
static void malformed(void **state)
{
	static const struct bad bad[] = {
		{ 1, 64, false, true, LID_PERMISSIVE, 1 },	/* route too long */
		{ 1, 255, false, true, LID_PERMISSIVE, 1 },
		{ 1, 64, true, true, LID_PERMISSIVE, 1 },
		{ 4, 2, false, true, LID_PERMISSIVE, 1 },	/* behind the end */
		{ 3, 2, false, true, LID_PERMISSIVE, 1 },	/* and not by LID */
		{ 255, 2, false, true, LID_PERMISSIVE, 1 },
		{ 0, 2, false, true, LID_PERMISSIVE, 1 },	/* has not left its sender */
		{ 0, 2, false, false, 5, 1 },			/* an HCA forwards nothing */
		{ 1, 2, false, false, LID_PERMISSIVE, 1 },
		{ 1, 2, false, true, LID_PERMISSIVE, 0 },	/* no such port */
		{ 1, 2, false, true, LID_PERMISSIVE, PORTS + 1 },
		{ 1, 2, false, true, LID_PERMISSIVE, 255 },
		{ 2, 2, true, true, LID_PERMISSIVE, 0 },
		{ 2, 2, true, true, LID_PERMISSIVE, 255 },
		{ 4, 2, true, true, LID_PERMISSIVE, 1 },
		{ 0, 2, true, true, LID_PERMISSIVE, 1 },
		{ 0, 0, true, true, LID_PERMISSIVE, 1 },
		{ 1, 0, true, true, LID_PERMISSIVE, 1 },
		{ 1, 2, true, true, LID_PERMISSIVE, 1 },	/* no manager in a switch */
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct bad *b = &bad[i];
		struct smi_hop hop = { .nports = b->is_switch ? PORTS : 0, .in_port = 1 };
		u8 mad[MAD_LEN];

		request(mad, 0);
		mad_put(mad, DR_HOP_COUNT, b->count);
		mad_put(mad, DR_HOP_POINTER, b->pointer);
		mad_put(mad, DR_RETURNS, b->returns);
		mad_put(mad, DR_SLID, b->slid);
		memset(mad + DR_INITIAL_PATH, b->port, 128);
		if (smi_receive(mad, &hop) != SMI_DROP)
			fail_msg("case %u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(parts_by_lid),
		cmocka_unit_test(no_hops),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
