// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A subnet that is brought up by management datagrams alone, and hosts that send too many of them.
 */
#include <string.h>

#include "fabric/fault.h"
#include "fabric/internal.h"
#include "fabric/switch.h"
#include "lib/bytes.h"
#include "tests/tsm.h"

/* Three switches in a row, an HCA at either end. */
static const struct t_link row[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "c-h1", "4X HDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 },
	{ "b-c", "4X FDR", 10, 8 }, { 0 },
};

/* The same with a shorter way from end to end. */
static const struct t_link ring[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "c-h1", "4X EDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 },
	{ "b-c", "4X EDR", 10, 8 }, { "c-a", "4X EDR", 10, 8 }, { 0 },
};

static void data_passes(struct ta_world *w, const struct tsm *sm)
{
	u32 lids = 1u << sm->lmc;

	for (u32 from = 0; from < 2; from++) {
		u16 lid = tsm_lid(sm, w->hca[!from].port.ib.guid);

		assert_int_not_equal(lid, 0);
		for (u32 k = 0; k < lids; k++)
			ta_send_data(w, from, lid + k, 1000);
		ta_pass(w, MSEC);
		assert_int_equal(w->hca[!from].data, lids);
		/* no port has this LID */
		ta_send_data(w, from, 60, 1000);
		ta_pass(w, MSEC);
		assert_int_equal(w->hca[!from].data, lids);
	}
}

static void brings_up(struct ta_world *w, struct topo *t, u32 nodes, u8 lmc)
{
	static struct tsm sm;

	ta_start(w, t);
	ta_send_data(w, 0, 1, 100);
	ta_pass(w, MSEC);
	assert_int_equal(w->hca[0].port.ib.state, PORT_INIT);
	assert_int_equal(w->hca[1].data, 0);
	tsm_sweep(&sm, w, 0, lmc);
	assert_int_equal(sm.n, nodes);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(w->hca[i].port.ib.state, PORT_ACTIVE);
		assert_int_equal(w->hca[i].port.ib.lmc, lmc);
		assert_int_equal(w->hca[i].port.ib.sm_lid, sm.node[0].lid);
		assert_int_equal(w->hca[i].told & ~PORT_SETUP_CHANGED,
				 PORT_LID_CHANGED | PORT_SM_CHANGED);
	}
	data_passes(w, &sm);
	ta_end(w);
}

static struct ta_world w;

static void three_switches(void **state)
{
	brings_up(&w, t_topo("abc", 18, row), 5, 0);
	brings_up(&w, t_topo("abc", 18, row), 5, 2);
}

static void ways_round(void **state)
{
	brings_up(&w, t_topo("abc", 18, ring), 5, 0);
}

static void the_one_switch(void **state)
{
	brings_up(&w, NULL, 3, 0);
	brings_up(&w, NULL, 3, 3);
}

/* By LID, all nodes answer that a directed route has reached, from the LID they were asked at. */
static void by_lid(void **state)
{
	static struct tsm sm;
	u8 data[SMP_DATA_LEN];

	ta_start(&w, t_topo("abc", 18, row));
	tsm_sweep(&sm, &w, 0, 1);
	for (u32 i = 0; i < sm.n; i++) {
		u32 lids = sm.node[i].nports ? 1 : 2;

		for (u32 k = 0; k < lids; k++) {
			memset(data, 0, sizeof(data));
			assert_int_equal(ta_lid(&w, 0, sm.node[i].lid + k, MAD_GET, ATTR_NODE_INFO,
						0, data), MAD_OK);
			assert_int_equal(mad_get(data, NI_PORT_GUID), sm.node[i].guid);
		}
	}
	assert_int_equal(ta_lid(&w, 0, 60, MAD_GET, ATTR_NODE_INFO, 0, data), TA_NO_REPLY);
	ta_end(&w);
}

/* By LID to a switch, a hop from there, and by LID again; the answer takes the same route back. */
static void combined_route(void **state)
{
	static struct tsm sm;
	struct wire_hdr h = { .vl = 15, .pkey = MAD_SMI_PKEY };
	struct ta_mail mail;
	u8 mad[MAD_LEN];
	u32 sw = 1, far;

	ta_start(&w, t_topo("abc", 18, row));
	tsm_sweep(&sm, &w, 0, 0);
	/* the first switch is next to the manager; behind it is the one in the middle */
	far = sm.node[sw].peer[2];
	h.slid = sm.node[0].lid;
	h.dlid = sm.node[sw].lid;
	ta_request(&w, mad, MAD_CLASS_SUBN_DR, MAD_GET, ATTR_NODE_INFO, 0);
	mad_put(mad, DR_HOP_COUNT, 1);
	mad_put(mad, DR_SLID, h.slid);
	mad_put(mad, DR_DLID, LID_PERMISSIVE);
	mad[DR_INITIAL_PATH + 1] = 2;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_true(ta_find(&w.hca[0], w.tid, &mail));
	assert_int_equal(mad_get(mail.mad + SMP_DATA, NI_NODE_GUID), sm.node[far].guid);
	assert_int_equal(mad_get(mail.mad, DR_HOP_POINTER), 0);
	assert_int_equal(mail.h.slid, h.dlid);
	/* from the middle to the far HCA by LID */
	mad_put(mad, MAD_TID, ++w.tid);
	mad_put(mad, DR_DLID, tsm_lid(&sm, w.hca[1].port.ib.guid));
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_true(ta_find(&w.hca[0], w.tid, &mail));
	assert_int_equal(mad_get(mail.mad + SMP_DATA, NI_NODE_GUID), w.hca[1].node.node_guid);
	ta_end(&w);
}

/* A manager starts again with a port that was down and is back. */
static void again(void **state)
{
	static struct tsm sm;

	ta_start(&w, t_topo("abc", 18, row));
	tsm_sweep(&sm, &w, 0, 0);
	port_set_cable(&w.hca[1].port.ib, false);
	ta_pass(&w, MSEC);
	assert_int_equal(w.hca[1].port.ib.state, PORT_DOWN);
	port_set_cable(&w.hca[1].port.ib, true);
	ta_pass(&w, MSEC);
	assert_int_equal(w.hca[1].port.ib.state, PORT_INIT);
	tsm_sweep(&sm, &w, 0, 0);
	assert_int_equal(w.hca[1].port.ib.state, PORT_ACTIVE);
	data_passes(&w, &sm);
	ta_end(&w);
}

/* A packet of VL15 to the switch; its contents do not matter. */
static struct run to_switch(struct payload *pl)
{
	static const struct wire_hdr h = {
		.opcode = OP_UD_SEND_ONLY, .vl = PORT_VL15, .pkey = MAD_SMI_PKEY,
		.dlid = LID_PERMISSIVE, .slid = LID_PERMISSIVE,
	};
	static const u8 mad[MAD_LEN];
	struct run run;

	run_from_packet(&run, pl, &h, mad, MAD_LEN);
	return run;
}

/* A host that sends too much has its own packets dropped, and its port's agent can answer. */
static void hosts_and_agents(void **state)
{
	struct payload pl;
	struct run run = to_switch(&pl);
	struct fab_port *port;

	ta_start(&w, NULL);
	port = &w.hca[0].port;
	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < FAB_MADS_MOST; i++)
			assert_true(fab_send_host_mad(port, &run));
		assert_false(fab_send_host_mad(port, &run));
		for (u32 i = 0; i < FAB_MADS_MOST; i++)
			assert_true(fab_send_mad(port, &run));
		assert_false(fab_send_mad(port, &run));
		assert_int_equal(port->ib.vl15_dropped, 2 * (round + 1));
		ta_pass(&w, MSEC);
	}
	ta_end(&w);
}

/* On links with long latencies, hosts cannot use all packets of the fabric. */
static void hosts_fill_the_fabric(void **state)
{
	const struct fab_fault late = { .kind = FAB_DELAY, .permille = 1000, .usec = 500 };
	struct payload pl;
	struct run run = to_switch(&pl);
	u32 sent = 0;

	ta_start(&w, NULL);
	assert_int_equal(fab_fault_arm(w.f, &late), 0);
	while (fab_send_host_mad(&w.hca[0].port, &run))
		if (!(++sent % FAB_MADS_MOST))
			fab_poll(w.f, w.now, UINT32_MAX);
	assert_int_equal(sent, FABRIC_HOST_MADS);
	for (u32 i = 0; i < 2; i++) {
		assert_false(fab_send_host_mad(&w.hca[i].port, &run));
		assert_true(fab_send_mad(&w.hca[i].port, &run));
	}
	ta_pass(&w, MSEC);
	assert_true(fab_send_host_mad(&w.hca[0].port, &run));
	ta_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_switches),
		cmocka_unit_test(ways_round),
		cmocka_unit_test(the_one_switch),
		cmocka_unit_test(by_lid),
		cmocka_unit_test(combined_route),
		cmocka_unit_test(again),
		cmocka_unit_test(hosts_and_agents),
		cmocka_unit_test(hosts_fill_the_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
