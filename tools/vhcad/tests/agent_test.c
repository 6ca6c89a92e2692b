// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Agents beyond attributes: M_Keys, traps, performance management, and malformed datagrams.
 */
#include <errno.h>
#include <string.h>

#include "fabric/switch.h"
#include "lib/bytes.h"
#include "tests/tfail.h"
#include "tests/trandom.h"
#include "tests/tsm.h"

static const struct t_link row[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "b-h1", "4X EDR", 10, 8 }, { "a-b", "4X EDR", 10, 8 }, { 0 },
};

#define TO_A		TA_PATH(1)
#define TO_B		TA_PATH(1, 2)
#define TO_H1		TA_PATH(1, 2, 1)
#define MKEY		0x1122334455667788ull

static struct ta_world w;
static struct tsm sm;
static u8 data[PERF_DATA_LEN];
static u16 lid_h0, lid_h1, lid_a, lid_b;

static u32 get(struct ta_path path, u16 attr, u32 mod)
{
	memset(data, 0, sizeof(data));
	return ta_route(&w, 0, &path, MAD_GET, attr, mod, data);
}

/* Sets one field of PortInfo:Port 0. */
static u32 set_field(struct ta_path path, u32 field, u64 value)
{
	u32 status = get(path, ATTR_PORT_INFO, 0);

	if (status)
		return status;
	mad_put(data, PI_STATE, 0);
	mad_put(data, PI_PHYS_STATE, 0);
	mad_put(data, field, value);
	return ta_route(&w, 0, &path, MAD_SET, ATTR_PORT_INFO, 0, data);
}

static int start(void **state)
{
	ta_start(&w, t_topo("ab", 18, row));
	tsm_sweep(&sm, &w, 0, 0);
	lid_h0 = w.hca[0].port.ib.lid;
	lid_h1 = w.hca[1].port.ib.lid;
	lid_a = fab_switch_ib(w.f, 0, 0)->lid;
	lid_b = fab_switch_ib(w.f, 1, 0)->lid;
	return 0;
}

static int end(void **state)
{
	ta_end(&w);
	return 0;
}

/* ------------------------------------------------------------------------
 * M_Keys
 */
static void protect(struct ta_path to, u32 bits, u32 lease)
{
	w.mkey = MKEY;
	assert_int_equal(set_field(to, PI_MKEY_LEASE, lease), MAD_OK);
	assert_int_equal(set_field(to, PI_MKEY_PROTECT, bits), MAD_OK);
	assert_int_equal(set_field(to, PI_MKEY, MKEY), MAD_OK);
	assert_true(mad_get(data, PI_MKEY) == MKEY);
}

static u16 violations_of(struct ta_path to)
{
	w.mkey = MKEY;
	assert_int_equal(get(to, ATTR_PORT_INFO, 0), MAD_OK);
	return mad_get(data, PI_MKEY_VIOL);
}

static void mkeys(void **state)
{
	const struct ta_path to[] = { TO_H1, TO_B };

	for (u32 i = 0; i < ARRAY_SIZE(to); i++)
		for (u32 bits = 0; bits < 4; bits++) {
			u16 before;

			protect(to[i], bits, 0);
			before = violations_of(to[i]);
			w.mkey = MKEY + 1;
			if (bits < 2) {
				assert_int_equal(get(to[i], ATTR_PORT_INFO, 0), MAD_OK);
				assert_true(mad_get(data, PI_MKEY) == (bits ? 0 : MKEY));
				assert_int_equal(get(to[i], ATTR_NODE_INFO, 0), MAD_OK);
			} else {
				assert_int_equal(get(to[i], ATTR_PORT_INFO, 0), TA_NO_REPLY);
			}
			memset(data, 0, sizeof(data));
			assert_int_equal(ta_route(&w, 0, &to[i], MAD_SET, ATTR_GUID_INFO, 0, data),
					 TA_NO_REPLY);
			assert_int_equal(violations_of(to[i]), before + (bits < 2 ? 1 : 2));
			/* performance management has no M_Key */
			memset(data, 0, sizeof(data));
			mad_put(data, PC_PORT, 1);
			assert_int_equal(ta_perf(&w, 0, i ? lid_b : lid_h1, MAD_GET,
						 ATTR_PORT_COUNTERS, data), MAD_OK);
		}
	/* the host of an HCA may do without the M_Key */
	{
		const struct mad_path self = { 0 };
		u8 mad[MAD_LEN];

		w.mkey = 0;
		ta_request(&w, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_INFO, 0);
		assert_int_equal(agent_mad(&w.hca[1].agent, &self, mad, mad, AGENT_IGNORE_MKEY),
				 AGENT_REPLY);
		ta_request(&w, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_INFO, 0);
		assert_int_equal(agent_mad(&w.hca[1].agent, &self, mad, mad, 0), AGENT_CONSUMED);
	}
}

/* If its owner does not show up, protection ends with the lease; the M_Key stays. */
static void lease(void **state)
{
	protect(TO_H1, 3, 5);
	ta_pass(&w, 60 * SEC);
	w.mkey = 0;
	/* starts the lease */
	assert_int_equal(get(TO_H1, ATTR_PORT_INFO, 0), TA_NO_REPLY);
	ta_pass(&w, 4 * SEC);
	assert_int_equal(get(TO_H1, ATTR_PORT_INFO, 0), TA_NO_REPLY);
	/* a request of the owner stops it */
	w.mkey = MKEY;
	assert_int_equal(get(TO_H1, ATTR_NODE_INFO, 0), MAD_OK);
	w.mkey = 0;
	ta_pass(&w, 4 * SEC);
	assert_int_equal(get(TO_H1, ATTR_PORT_INFO, 0), TA_NO_REPLY);
	ta_pass(&w, 4 * SEC);
	assert_int_equal(get(TO_H1, ATTR_PORT_INFO, 0), TA_NO_REPLY);
	ta_pass(&w, SEC);
	assert_int_equal(get(TO_H1, ATTR_PORT_INFO, 0), MAD_OK);
	assert_int_equal(mad_get(data, PI_MKEY_PROTECT), 0);
	assert_true(mad_get(data, PI_MKEY) == MKEY);
	assert_int_equal(set_field(TO_H1, PI_SM_SL, 1), TA_NO_REPLY);
	w.mkey = MKEY;
	assert_int_equal(set_field(TO_H1, PI_MKEY, 0), MAD_OK);
}

/* ------------------------------------------------------------------------
 * Traps: the manager's HCA is the first one
 */
static struct ta_mail trap;

static void expect_trap(u16 number, u8 type, u16 from)
{
	const u8 *notice = trap.mad + SMP_DATA;

	assert_true(ta_trap(&w.hca[0], number, &trap));
	assert_int_equal(trap.h.slid, from);
	assert_int_equal(trap.h.dlid, lid_h0);
	assert_int_equal(mad_get(trap.mad, MAD_CLASS), MAD_CLASS_SUBN);
	assert_int_equal(mad_get(trap.mad, MAD_ATTR), ATTR_NOTICE);
	assert_int_equal(notice[0], 0x80 | type);
	assert_int_equal(mad_get(notice, NOTICE_ISSUER_LID), from);
}

static void repress(u64 tid)
{
	struct wire_hdr h = {
		.vl = 15, .pkey = MAD_SMI_PKEY, .dlid = trap.h.slid, .slid = lid_h0,
	};
	u8 mad[MAD_LEN];

	ta_request(&w, mad, MAD_CLASS_SUBN, MAD_TRAP_REPRESS, ATTR_NOTICE, 0);
	mad_put(mad, MAD_TID, tid);
	memcpy(mad + SMP_DATA, trap.mad + SMP_DATA, SMP_DATA_LEN);
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
}

/* How often a trap comes within @secs seconds. */
static u32 repeats(u16 number, u32 secs)
{
	u32 n = 0;

	for (u32 i = 0; i < 10 * secs; i++) {
		ta_pass(&w, 100 * MSEC);
		while (ta_trap(&w.hca[0], number, &trap))
			n++;
	}
	return n;
}

static void link_state(void **state)
{
	port_set_cable(&w.hca[1].port.ib, false);
	ta_pass(&w, MSEC);
	expect_trap(TRAP_LINK_STATE, NOTICE_URGENT, lid_b);
	assert_int_equal(get_be24(trap.mad + SMP_DATA + 1), NODE_SWITCH);
	assert_int_equal(mad_get(trap.mad + SMP_DATA, TRAP128_LID), lid_b);
	/* repeated less and less often, and not for ever */
	assert_in_range(repeats(TRAP_LINK_STATE, 4), 2, 3);
	assert_in_range(repeats(TRAP_LINK_STATE, 600), 5, 10);
	assert_int_equal(repeats(TRAP_LINK_STATE, 600), 0);
	/* no more once it is repressed */
	port_set_cable(&w.hca[1].port.ib, true);
	ta_pass(&w, MSEC);
	expect_trap(TRAP_LINK_STATE, NOTICE_URGENT, lid_b);
	repress(mad_get(trap.mad, MAD_TID) + 1);
	assert_int_not_equal(repeats(TRAP_LINK_STATE, 3), 0);
	repress(mad_get(trap.mad, MAD_TID));
	assert_int_equal(repeats(TRAP_LINK_STATE, 100), 0);
	/* changes by the manager itself cause no trap */
	tsm_sweep(&sm, &w, 0, 0);
	ta_pass(&w, SEC);
	assert_false(ta_trap(&w.hca[0], TRAP_LINK_STATE, &trap));
}

/* A late answer to an older trap does not stop a newer one. */
static void newer_trap(void **state)
{
	u64 tid;

	port_set_cable(&w.hca[1].port.ib, false);
	ta_pass(&w, MSEC);
	expect_trap(TRAP_LINK_STATE, NOTICE_URGENT, lid_b);
	tid = mad_get(trap.mad, MAD_TID);
	port_set_cable(&w.hca[1].port.ib, true);
	repress(tid);
	assert_int_not_equal(repeats(TRAP_LINK_STATE, 2), 0);
}

static void local_changes(void **state)
{
	struct ta_hca *hca = &w.hca[1];
	const u8 *notice = trap.mad + SMP_DATA;

	hca->port.ib.cap_mask |= 1u << 1;
	agent_caps_changed(&hca->agent);
	ta_pass(&w, MSEC);
	expect_trap(TRAP_LOCAL_CHANGE, NOTICE_INFO, lid_h1);
	assert_int_equal(mad_get(notice, TRAP144_LID), lid_h1);
	assert_int_equal(mad_get(notice, TRAP144_CAPS), hca->port.ib.cap_mask);
	assert_int_equal(mad_get(notice, TRAP144_OTHERS), 0);
	/* both are repeated then */
	agent_desc_changed(&hca->agent);
	agent_caps_changed(&hca->agent);
	ta_pass(&w, 2 * SEC);
	expect_trap(TRAP_LOCAL_CHANGE, NOTICE_INFO, lid_h1);
	assert_int_equal(mad_get(notice, TRAP144_OTHERS), 1);
	assert_int_equal(mad_get(notice, TRAP144_CHANGES), TRAP144_NODE_DESC);
	assert_int_equal(mad_get(notice, NOTICE_PRODUCER), NODE_CA);
}

static void security(void **state)
{
	const struct wire_hdr h = {
		.slid = 0x31, .dlid = 0x32, .sl = 3, .pkey = 0x8123, .qkey = 0xdeadbeef,
		.sqpn = 0x10203, .dqpn = 0x40506, .grh = true, .sgid = { 0xfe, 1 },
		.dgid = { 0xfe, 2 },
	};
	const u8 *notice = trap.mad + SMP_DATA;
	struct agent *a = &w.hca[1].agent;

	agent_bad_pkey(a, &h);
	agent_bad_qkey(a, &h);
	ta_pass(&w, MSEC);
	expect_trap(TRAP_BAD_PKEY, NOTICE_SECURITY, lid_h1);
	assert_int_equal(mad_get(notice, TRAP257_KEY), 0x8123);
	assert_int_equal(mad_get(notice, TRAP257_SL), 3);
	assert_int_equal(mad_get(notice, TRAP257_LID1), 0x31);
	assert_int_equal(mad_get(notice, TRAP257_LID2), 0x32);
	assert_int_equal(mad_get(notice, TRAP257_QP1), 0x10203);
	assert_int_equal(mad_get(notice, TRAP257_QP2), 0x40506);
	assert_memory_equal(notice + TRAP257_GIDS, h.sgid, 16);
	assert_memory_equal(notice + TRAP257_GIDS + 16, h.dgid, 16);
	expect_trap(TRAP_BAD_QKEY, NOTICE_SECURITY, lid_h1);
	assert_int_equal(mad_get(notice, TRAP257_KEY), 0xdeadbeef);
	assert_int_equal(w.hca[1].port.ib.pkey_viol, 1);
	assert_int_equal(w.hca[1].port.ib.qkey_viol, 1);
	w.hca[1].port.ib.pkey_viol = 0xffff;
	agent_bad_pkey(a, &h);
	assert_int_equal(w.hca[1].port.ib.pkey_viol, 0xffff);
}

static void bad_mkey(void **state)
{
	const u8 *notice = trap.mad + SMP_DATA;

	protect(TO_B, 2, 0);
	w.mkey = 0x99;
	assert_int_equal(get(TO_B, ATTR_PORT_INFO, 1), TA_NO_REPLY);
	expect_trap(TRAP_BAD_MKEY, NOTICE_SECURITY, lid_b);
	assert_true(mad_get(notice, TRAP256_MKEY) == 0x99);
	assert_int_equal(mad_get(notice, TRAP256_METHOD), MAD_GET);
	assert_int_equal(mad_get(notice, TRAP256_ATTR), ATTR_PORT_INFO);
	assert_int_equal(mad_get(notice, TRAP256_ATTR_MOD), 1);
	assert_int_equal(mad_get(notice, TRAP256_DR), 1);
	assert_int_equal(mad_get(notice, TRAP256_DR_SLID), LID_PERMISSIVE);
	assert_int_equal(mad_get(notice, TRAP256_DR_HOPS), 2);
	/* the ports that it came in by: of the first switch and of the second */
	assert_int_equal(notice[TRAP256_RETURN_PATH], 1);
	assert_int_equal(notice[TRAP256_RETURN_PATH + 1], 2);
}

static void switch_pkeys(void **state)
{
	const u8 *notice = trap.mad + SMP_DATA;

	fab_switch_ib(w.f, 1, 1)->pkey[0] = 0x8005;
	assert_int_equal(get(TO_B, ATTR_PORT_INFO, 1), MAD_OK);
	mad_put(data, PI_ENFORCE_OUT, 1);
	assert_int_equal(ta_route(&w, 0, &TO_B, MAD_SET, ATTR_PORT_INFO, 1, data), MAD_OK);
	ta_send_data(&w, 0, lid_h1, 100);
	ta_pass(&w, MSEC);
	assert_int_equal(w.hca[1].data, 0);
	expect_trap(TRAP_SWITCH_PKEY, NOTICE_SECURITY, lid_b);
	assert_int_equal(mad_get(notice, TRAP259_PKEY), 0xffff);
	assert_int_equal(mad_get(notice, TRAP259_LID1), lid_h0);
	assert_int_equal(mad_get(notice, TRAP259_LID2), lid_h1);
	assert_int_equal(mad_get(notice, TRAP259_SW_LID), lid_b);
	assert_int_equal(mad_get(notice, TRAP259_PORT), 1);
}

/* Without a manager no traps are sent. */
static void nobody(void **state)
{
	ta_end(&w);
	ta_start(&w, t_topo("ab", 18, row));
	agent_caps_changed(&w.hca[1].agent);
	port_set_cable(&w.hca[1].port.ib, false);
	ta_pass(&w, MSEC);
	assert_true(fab_next(w.f) > w.now + 1000 * SEC);
}

/* ------------------------------------------------------------------------
 * Performance management
 */
static u32 perf(u16 lid, u8 method, u16 attr, u8 port, u32 select)
{
	memset(data, 0, sizeof(data));
	mad_put(data, PC_PORT, port);
	mad_put(data, PC_SELECT, select);
	if (attr == ATTR_PORT_COUNTERS)
		mad_put(data, PC_SELECT2, select >> 16);
	return ta_perf(&w, 0, lid, method, attr, data);
}

static u64 counted(u16 lid, u16 attr, u8 port, u32 field)
{
	assert_int_equal(perf(lid, MAD_GET, attr, port, 0), MAD_OK);
	return mad_get(data, field);
}

static void class_info(void **state)
{
	assert_int_equal(perf(lid_h1, MAD_GET, ATTR_CLASS_PORT_INFO, 0, 0), MAD_OK);
	assert_int_equal(mad_get(data, CPI_BASE_VERSION), 1);
	assert_int_equal(mad_get(data, CPI_CLASS_VERSION), 1);
	assert_int_equal(mad_get(data, CPI_CAPS), PERF_CAP_EXTENDED | PERF_CAP_XMIT_WAIT);
	assert_int_equal(perf(lid_a, MAD_GET, ATTR_CLASS_PORT_INFO, 0, 0), MAD_OK);
	assert_int_equal(mad_get(data, CPI_CAPS),
			 PERF_CAP_EXTENDED | PERF_CAP_XMIT_WAIT | PERF_CAP_ALL_PORTS);
	assert_int_equal(perf(lid_a, MAD_SET, ATTR_CLASS_PORT_INFO, 0, 0), MAD_BAD_METHOD_ATTR);
	assert_int_equal(perf(lid_h1, MAD_GET, 0x15, 1, 0), MAD_BAD_METHOD_ATTR);
	assert_int_equal(perf(lid_h1, 0x44, ATTR_PORT_COUNTERS, 1, 0), MAD_BAD_METHOD);
	for (u32 bad = 2; bad < 255; bad += 23)
		assert_int_equal(perf(lid_h1, MAD_GET, ATTR_PORT_COUNTERS, bad, 0), MAD_BAD_VALUE);
	assert_int_equal(perf(lid_h1, MAD_GET, ATTR_PORT_COUNTERS, 0, 0), MAD_BAD_VALUE);
	assert_int_equal(perf(lid_h1, MAD_GET, ATTR_PORT_COUNTERS, 255, 0), MAD_BAD_VALUE);
	assert_int_equal(perf(lid_a, MAD_GET, ATTR_PORT_COUNTERS, 3, 0), MAD_BAD_VALUE);
}

static void counters(void **state)
{
	u64 before = counted(lid_b, ATTR_PORT_COUNTERS_EXT, 1, PCX_XMIT_PKTS);
	u64 words = counted(lid_b, ATTR_PORT_COUNTERS, 1, PC_XMIT_DATA);

	for (u32 i = 0; i < 6; i++)
		ta_send_data(&w, 0, lid_h1, 1000);
	ta_pass(&w, MSEC);
	assert_int_equal(counted(lid_b, ATTR_PORT_COUNTERS_EXT, 1, PCX_XMIT_PKTS), before + 6);
	assert_int_equal(counted(lid_b, ATTR_PORT_COUNTERS_EXT, 1, PCX_XMIT_UNICAST), before + 6);
	assert_in_range(counted(lid_b, ATTR_PORT_COUNTERS, 1, PC_XMIT_DATA) - words, 1500, 1600);
	/* only selected counters start again, and only of this port */
	assert_int_equal(perf(lid_b, MAD_SET, ATTR_PORT_COUNTERS, 1, 1 << 14), MAD_OK);
	assert_int_equal(mad_get(data, PC_XMIT_PKTS), 0);
	assert_int_equal(mad_get(data, PC_PORT), 1);
	assert_true(mad_get(data, PC_XMIT_DATA) >= words + 1500);
	assert_true(counted(lid_b, ATTR_PORT_COUNTERS_EXT, 1, PCX_XMIT_PKTS) == before + 6);
	assert_int_not_equal(counted(lid_a, ATTR_PORT_COUNTERS, 2, PC_XMIT_PKTS), 0);
	ta_send_data(&w, 0, lid_h1, 1000);
	ta_pass(&w, MSEC);
	assert_int_equal(counted(lid_b, ATTR_PORT_COUNTERS, 1, PC_XMIT_PKTS), 1);
	/* an HCA counts as well */
	assert_true(counted(lid_h1, ATTR_PORT_COUNTERS_EXT, 1, PCX_RCV_PKTS) >= 7);
	assert_int_equal(perf(lid_h1, MAD_SET, ATTR_PORT_COUNTERS_EXT, 1, 0xffff), MAD_OK);
	assert_true(!mad_get(data, PCX_RCV_PKTS));
}

/* Counters of 32 bits, and of four, stop at their highest value; a Set takes any value. */
static void saturation(void **state)
{
	struct port *ib = fab_switch_ib(w.f, 1, 1);

	ib->tx_packets += 1ull << 33;
	w.hca[1].port.ib.rx_packets += 1ull << 33;
	w.hca[1].port.ib.link_downed += 300;
	assert_int_equal(counted(lid_h1, ATTR_PORT_COUNTERS, 1, PC_RCV_PKTS), UINT32_MAX);
	assert_int_equal(counted(lid_h1, ATTR_PORT_COUNTERS, 1, PC_LINK_DOWNED), 255);
	assert_true(counted(lid_h1, ATTR_PORT_COUNTERS_EXT, 1, PCX_RCV_PKTS) >= 1ull << 33);
	assert_int_equal(perf(lid_h1, MAD_SET, ATTR_PORT_COUNTERS, 1, 1 << 2 | 1 << 15), MAD_OK);
	assert_int_equal(mad_get(data, PC_LINK_DOWNED), 0);
	memset(data, 0, sizeof(data));
	mad_put(data, PC_PORT, 1);
	mad_put(data, PC_SELECT, 1 << 2);
	mad_put(data, PC_LINK_DOWNED, 250);
	assert_int_equal(ta_perf(&w, 0, lid_h1, MAD_SET, ATTR_PORT_COUNTERS, data), MAD_OK);
	assert_int_equal(mad_get(data, PC_LINK_DOWNED), 250);
	w.hca[1].port.ib.link_downed += 3;
	assert_int_equal(counted(lid_h1, ATTR_PORT_COUNTERS, 1, PC_LINK_DOWNED), 253);
	w.hca[1].port.ib.link_downed += 3;
	assert_int_equal(counted(lid_h1, ATTR_PORT_COUNTERS, 1, PC_LINK_DOWNED), 255);
}

static void all_ports(void **state)
{
	u64 sum = 0;

	for (u32 port = 1; port <= 2; port++)
		sum += counted(lid_b, ATTR_PORT_COUNTERS_EXT, port, PCX_RCV_MCAST);
	assert_true(counted(lid_b, ATTR_PORT_COUNTERS_EXT, 255, PCX_RCV_MCAST) == sum);
	assert_true(counted(lid_b, ATTR_PORT_COUNTERS, 255, PC_XMIT_PKTS) >=
		    counted(lid_b, ATTR_PORT_COUNTERS, 1, PC_XMIT_PKTS));
	fab_switch_ib(w.f, 1, 1)->link_downed += 4;
	fab_switch_ib(w.f, 1, 2)->link_downed += 5;
	assert_true(counted(lid_b, ATTR_PORT_COUNTERS, 255, PC_LINK_DOWNED) >= 9);
	assert_int_equal(perf(lid_b, MAD_SET, ATTR_PORT_COUNTERS, 255, 0xffff), MAD_OK);
	for (u32 port = 1; port <= 2; port++)
		assert_int_equal(counted(lid_b, ATTR_PORT_COUNTERS, port, PC_LINK_DOWNED), 0);
}

/* A switch has no host to answer requests of other classes on QP1. */
static void other_classes(void **state)
{
	struct wire_hdr h = {
		.pkey = 0xffff, .dlid = lid_a, .slid = lid_h0, .dqpn = 1, .sqpn = 1,
		.qkey = MAD_GSI_QKEY,
	};
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	ta_request(&w, mad, 0x21, MAD_GET, ATTR_CLASS_PORT_INFO, 0);
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_true(ta_find(&w.hca[0], w.tid, &mail));
	assert_int_equal(mad_get(mail.mad, MAD_STATUS), MAD_BAD_METHOD_ATTR);
	/* an HCA leaves them, with all keys, to its host */
	h.dlid = lid_h1;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_int_equal(w.hca[1].nmail, 1);
	mad_put(mad, MAD_CLASS, MAD_CLASS_PERF);
	h.qkey = 1;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_int_equal(w.hca[1].nmail, 2);
	/* a switch counts them and sends a trap */
	h.dlid = lid_a;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_int_equal(fab_switch_ib(w.f, 0, 0)->qkey_viol, 1);
	expect_trap(TRAP_BAD_QKEY, NOTICE_SECURITY, lid_a);
}

/* An answer has the agent's own membership; limited members do not answer each other. */
static void partitions(void **state)
{
	static const struct { u16 asks, own, answers; } c[] = {
		{ 0xffff, 0xffff, 0xffff }, { 0xffff, 0x7fff, 0x7fff }, { 0x7fff, 0xffff, 0xffff },
		{ 0x7fff, 0x7fff, 0 }, { 0x8001, 0xffff, 0 },
	};
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	for (u32 i = 0; i < 2 * ARRAY_SIZE(c); i++) {
		struct port *own = i % 2 ? fab_switch_ib(w.f, 1, 0) : &w.hca[1].port.ib;
		struct wire_hdr h = {
			.pkey = c[i / 2].asks, .dlid = i % 2 ? lid_b : lid_h1, .slid = lid_h0,
			.dqpn = 1, .sqpn = 1, .qkey = MAD_GSI_QKEY,
		};

		own->pkey[0] = c[i / 2].own;
		ta_request(&w, mad, MAD_CLASS_PERF, MAD_GET, ATTR_CLASS_PORT_INFO, 0);
		ta_raw(&w, 0, &h, mad, MAD_LEN);
		ta_pass(&w, MSEC);
		assert_int_equal(ta_find(&w.hca[0], w.tid, &mail), !!c[i / 2].answers);
		if (c[i / 2].answers)
			assert_int_equal(mail.h.pkey, c[i / 2].answers);
	}
}

/* ------------------------------------------------------------------------
 * Malformed datagrams
 */

/* Any datagram, to every node: none crashes, and all still answer. */
static void rubbish(void **state)
{
	u64 seed = 77;

	for (u32 i = 0; i < 20000; i++) {
		static const u8 classes[] = {
			MAD_CLASS_SUBN, MAD_CLASS_SUBN_DR, MAD_CLASS_PERF, 3, 0,
		};
		struct wire_hdr h = {
			.vl = 15, .pkey = MAD_SMI_PKEY, .slid = t_random(&seed) % 8,
			.dlid = t_random(&seed) % 3 ? t_random(&seed) % 8 : LID_PERMISSIVE,
		};
		u8 mad[MAD_LEN];
		u64 r = t_random(&seed);

		for (u32 k = 0; k < MAD_LEN; k++)
			mad[k] = t_random(&seed) % 4 ? 0 : t_random(&seed) % 4;
		mad_put(mad, MAD_BASE_VERSION, r % 7 ? 1 : r);
		mad_put(mad, MAD_CLASS_VERSION, r % 11 ? 1 : r >> 8);
		mad_put(mad, MAD_CLASS, classes[r % ARRAY_SIZE(classes)]);
		mad_put(mad, MAD_METHOD, r >> 16 & 1 ? MAD_GET : r >> 17 & 3 ? MAD_SET : r >> 20);
		mad_put(mad, MAD_ATTR, 0x10 + (r >> 28) % 17);
		if (r >> 34 & 1)
			mad_put(mad, MAD_ATTR_MOD, t_random(&seed));
		/* routes stay as they are, or no packet would arrive anywhere */
		if (mad_get(mad, MAD_METHOD) == MAD_SET)
			mad_put(mad, MAD_ATTR, ATTR_SL2VL);
		if (r >> 35 & 1) {
			h.vl = 0;
			h.dqpn = 1;
			h.sqpn = 1;
			h.qkey = r >> 36 & 3 ? MAD_GSI_QKEY : r;
		}
		if (mad_get(mad, MAD_CLASS) == MAD_CLASS_SUBN_DR) {
			mad_put(mad, DR_HOP_COUNT, r >> 38 & 7 ? (r >> 40) % 5 : r >> 40);
			mad_put(mad, DR_HOP_POINTER, r >> 48 & 7 ? (r >> 51) % 5 : r >> 51);
			mad_put(mad, DR_RETURNS, r >> 60);
			mad_put(mad, DR_SLID, r >> 61 & 1 ? LID_PERMISSIVE : t_random(&seed) % 8);
			mad_put(mad, DR_DLID, r >> 62 & 1 ? LID_PERMISSIVE : t_random(&seed) % 8);
		}
		ta_raw(&w, r >> 63, &h, mad, r >> 37 & 7 ? MAD_LEN : r % (MAD_LEN + 1));
		ta_pass(&w, MSEC / 10);
		w.hca[0].nmail = 0;
		w.hca[1].nmail = 0;
	}
	assert_int_not_equal(w.hca[1].agent.dropped, 0);
	ta_pass(&w, 1000 * SEC);
	w.hca[0].nmail = 0;
	assert_int_equal(get(TO_H1, ATTR_NODE_INFO, 0), MAD_OK);
	assert_int_equal(ta_lid(&w, 0, lid_b, MAD_GET, ATTR_NODE_INFO, 0, data), MAD_OK);
}

/* Subnet management uses VL15 only, and nothing else does. */
static void data_vl(void **state)
{
	struct wire_hdr h = { .pkey = 0xffff, .dlid = lid_a, .slid = lid_h0, .sqpn = 5 };
	u32 before = fab_switch_port(w.f, 0, lid_h1);
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	/* a datagram that a program sends by a UD QP of its own: forget all unicast LIDs */
	ta_request(&w, mad, MAD_CLASS_SUBN, MAD_SET, ATTR_LINEAR_FDB, 0);
	memset(mad + SMP_DATA, 0xff, SMP_DATA_LEN);
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_int_equal(fab_switch_port(w.f, 0, lid_h1), before);
	assert_int_equal(w.hca[0].nmail, 0);
	ta_request(&w, mad, MAD_CLASS_PERF, MAD_GET, ATTR_CLASS_PORT_INFO, 0);
	h.sqpn = 1;
	h.dqpn = 1;
	h.qkey = MAD_GSI_QKEY;
	h.vl = PORT_VL15;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_false(ta_find(&w.hca[0], w.tid, &mail));
	h.vl = 0;
	ta_raw(&w, 0, &h, mad, MAD_LEN);
	ta_pass(&w, MSEC);
	assert_true(ta_find(&w.hca[0], w.tid, &mail));
}

/* ------------------------------------------------------------------------
 * Without memory nothing is half made, and an unanswered request can be repeated.
 */
static void memory(void **state)
{
	struct fabric *f = fabric_new();
	struct agent a;
	u32 n, status;
	int err;

	assert_non_null(f);
	tfail_each_alloc(n, err = subnet_agents(f), assert_int_equal(err, -ENOMEM));
	assert_int_not_equal(n, 0);
	assert_int_equal(err, 0);
	fabric_free(f);
	tfail_each_alloc(n, err = agent_init(&a, &w.hca[0].node, &w.hca[0].port),
			 assert_int_equal(err, -ENOMEM));
	assert_int_not_equal(n, 0);
	agent_fini(&a);
	/* switches whose agents do not exist yet */
	ta_end(&w);
	ta_start(&w, t_topo("ab", 18, row));
	tfail_each_alloc(n, status = get(TO_B, ATTR_NODE_INFO, 0),
			 assert_int_equal(status, TA_NO_REPLY));
	assert_true(n >= 4);
	assert_int_equal(status, MAD_OK);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mkeys),
		TEST(lease),
		TEST(link_state),
		TEST(newer_trap),
		TEST(local_changes),
		TEST(security),
		TEST(bad_mkey),
		TEST(switch_pkeys),
		TEST(nobody),
		TEST(class_info),
		TEST(counters),
		TEST(saturation),
		TEST(all_ports),
		TEST(other_classes),
		TEST(partitions),
		TEST(rubbish),
		TEST(data_vl),
		TEST(memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
