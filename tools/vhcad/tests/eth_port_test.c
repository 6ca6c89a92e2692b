// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports as their driver sees them: attributes, GID table, refusals, reset.
 */
#include <stdlib.h>
#include <string.h>

#include "qp/path.h"
#include "qp/special.h"
#include "tests/tagent.h"
#include "tests/teth.h"
#include "wire/mad.h"

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

static struct vhca_port_attr query(struct thca *h)
{
	struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;

	assert_int_equal(t_admin_out(h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)),
			 VHCA_ST_OK);
	return a;
}

static void tells(void **state)
{
	struct vhca_port_req req = { .port = 1, .count = htole32(ETH_GIDS) };
	static u8 gid[ETH_GIDS][16], none[16];
	struct vhca_port_attr a;
	struct tpair p;
	__le16 pkey[2];

	t_eth_pair(&p, false);
	a = query(&p.h[1]);
	assert_int_equal(a.link_layer, VHCA_LINK_ETH);
	assert_int_equal(a.state, PORT_ACTIVE);
	assert_int_equal(a.phys_state, PORT_PHYS_LINKUP);
	assert_int_equal(le32toh(a.gid_entries), 255);
	assert_int_equal(le32toh(a.pkey_entries), 1);
	assert_int_equal(a.lid, 0);
	assert_int_equal(a.sm_lid, 0);
	assert_int_equal(a.cap_mask, 0);
	assert_int_equal(a.max_mtu, 5);
	assert_int_equal(a.active_mtu, 5);
	assert_memory_equal(a.mac, t_eth_mac[1], 6);
	assert_int_equal(t_admin_out(&p.h[1], VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gid,
				     sizeof(gid)), VHCA_ST_OK);
	for (u32 i = 0; i < ETH_GIDS; i++)
		assert_memory_equal(gid[i], i < T_ETH_GIDS ? t_eth_gid[1][i] : none, 16);
	req.count = htole32(1);
	assert_int_equal(t_admin_out(&p.h[1], VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkey, 2),
			 VHCA_ST_OK);
	assert_int_equal(le16toh(pkey[0]), 0xffff);
	req.count = htole32(2);
	assert_int_equal(t_admin_out(&p.h[1], VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkey, 4),
			 VHCA_ST_BAD_FIELD);
	t_pair_fini(&p);
}

/* Each field out of range, and what may not be in an entry that is cleared. */
static void bad_gids(void **state)
{
	static const u8 group[6] = { 1, 0, 0x5e, 0, 0, 1 }, no_mac[6], no_gid[16];
	static const u8 mgid[2][16] = { { 0xff, 0x0e, [15] = 1 },
					{ [10] = 0xff, 0xff, 224, 0, 0, 1 } };
	const u8 *mac = t_eth_mac[0], *gid = t_eth_gid[0][0];
	struct vhca_set_gid_req good = {
		.port = 1, .type = VHCA_GID_ROCE_V2, .index = htole16(254),
		.vlan = htole16(4094),
	}, req;
	struct tpair p;

	memcpy(good.mac, mac, 6);
	memcpy(good.gid, gid, 16);
	t_eth_pair(&p, false);
	assert_int_equal(t_admin(&p.h[0], VHCA_CMD_SET_GID, &good, sizeof(good), NULL), 0);
#define BAD(field_, set)	do {							\
	req = good;									\
	set;										\
	assert_int_equal(t_admin(&p.h[0], VHCA_CMD_SET_GID, &req, sizeof(req), NULL),	\
			 VHCA_ST_BAD_FIELD);						\
	assert_int_equal(p.h[0].bad_field, REQ_OFF(vhca_set_gid_req, field_));		\
} while (0)
	BAD(port, req.port = 0);
	BAD(port, req.port = 2);
	BAD(type, req.type = 1);
	BAD(index, req.index = htole16(255));
	BAD(vlan, req.vlan = 0);
	BAD(vlan, req.vlan = htole16(4095));
	BAD(mac, memcpy(req.mac, group, 6));
	BAD(mac, memcpy(req.mac, no_mac, 6));
	BAD(gid, memcpy(req.gid, no_gid, 16));
	BAD(gid, memcpy(req.gid, mgid[0], 16));
	BAD(gid, memcpy(req.gid, mgid[1], 16));
	BAD(rsvd, req.rsvd = htole32(1));
	good.type = VHCA_GID_CLEAR;
	BAD(vlan, req.type = VHCA_GID_CLEAR);
	good.vlan = 0;
	BAD(mac, req.type = VHCA_GID_CLEAR);
	memset(good.mac, 0, 6);
	BAD(gid, req.type = VHCA_GID_CLEAR);
#undef BAD
	t_pair_fini(&p);
}

static void mtu_and_switches(void **state)
{
	struct tpair p;

	t_eth_pair(&p, false);
	assert_int_equal(t_eth_port(&p.h[0], 0, 3), VHCA_ST_OK);
	assert_int_equal(query(&p.h[0]).active_mtu, 3);
	assert_int_equal(t_eth_port(&p.h[0], 0, 0), VHCA_ST_OK);
	assert_int_equal(query(&p.h[0]).active_mtu, 3);
	assert_int_equal(t_eth_port(&p.h[0], 0, 6), VHCA_ST_BAD_FIELD);
	assert_int_equal(p.h[0].bad_field, REQ_OFF(vhca_modify_port_req, mtu));
	assert_int_equal(t_eth_port(&p.h[0], VHCA_PORT_ENABLE | VHCA_PORT_DISABLE, 0),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(p.h[0].bad_field, REQ_OFF(vhca_modify_port_req, flags));
	t_pair_fini(&p);

	/* of InfiniBand nothing of the kind */
	t_pair_init(&p, 3, 0, 0);
	assert_int_equal(t_eth_port(&p.h[0], VHCA_PORT_ENABLE, 0), VHCA_ST_BAD_FIELD);
	assert_int_equal(t_eth_port(&p.h[0], VHCA_PORT_DISABLE, 0), VHCA_ST_BAD_FIELD);
	assert_int_equal(t_eth_port(&p.h[0], 0, 3), VHCA_ST_BAD_FIELD);
	assert_int_equal(t_eth_set_gid(&p.h[0], 0, t_eth_mac[0], 1, t_eth_gid[0][0]),
			 VHCA_ST_BAD_FIELD);
	t_pair_fini(&p);
}

static void reset(void **state)
{
	struct tpair p;
	struct vdev_status st;

	t_eth_pair(&p, false);
	assert_int_equal(t_eth_port(&p.h[0], 0, 2), VHCA_ST_OK);
	vdev_status(p.h[0].dev, &st);
	assert_true(st.port[0].eth.ethernet);
	assert_true(st.port[0].eth.enabled);
	assert_int_equal(st.port[0].eth.gids, T_ETH_GIDS);
	vdev_reset(p.h[0].dev);
	vdev_status(p.h[0].dev, &st);
	assert_false(st.port[0].eth.enabled);
	assert_int_equal(st.port[0].eth.gids, 0);
	assert_int_equal(st.port[0].state, PORT_ACTIVE);
	assert_memory_equal(st.port[0].eth.mac, t_eth_mac[0], 6);
	assert_int_equal(p.h[0].dev->port[0].fab.ib.setup.mtu, 5);
	t_pair_fini(&p);
}

static void bad_addresses(void **state)
{
	static const struct vport ib = { .fab.number = 1 };
	struct vhca_av good, av;
	struct tpair p;

	t_eth_pair(&p, false);
	good = t_eth_av(1, 0);
	assert_int_equal(av_check(&good, p.h[0].dev->port, AV_CONNECTED), AV_GOOD);
	assert_int_equal(av_check(&good, &ib, AV_CONNECTED), offsetof(struct vhca_av, dlid));
#define BAD(field_, value)	do {							\
	av = good;									\
	av.field_ = value;								\
	assert_int_equal(av_check(&av, p.h[0].dev->port, AV_DATAGRAM),			\
			 offsetof(struct vhca_av, field_));				\
} while (0)
	BAD(port, 2);
	BAD(dlid, htole16(1));
	BAD(src_path_bits, 1);
	BAD(sl, 16);
	BAD(static_rate, 32);
	BAD(grh, 0);
	BAD(grh, 2);
	BAD(sgid_index, 255);
	BAD(flow_label, htole32(0x100000));
#undef BAD
	av = good;
	av.dmac[0] |= 1;
	assert_int_equal(av_check(&av, p.h[0].dev->port, AV_DATAGRAM),
			 offsetof(struct vhca_av, dmac));
	memset(av.dmac, 0, 6);
	assert_int_equal(av_check(&av, p.h[0].dev->port, AV_DATAGRAM),
			 offsetof(struct vhca_av, dmac));
	av.dgid[0] = 0xff;
	assert_int_equal(av_check(&av, p.h[0].dev->port, AV_DATAGRAM), AV_GOOD);
	assert_int_equal(av_check(&av, p.h[0].dev->port, AV_CONNECTED),
			 offsetof(struct vhca_av, dgid));
	t_pair_fini(&p);
}

static u32 process_mad(struct thca *h, u8 mgmt_class, u16 attr, u8 *out)
{
	struct vhca_process_mad_req req = { .port = 1 };
	u64 at = t_alloc(h, MAD_LEN);
	u8 *mad = t_cpu(h, at);

	ta_header(mad, mgmt_class, MAD_GET, attr);
	mad_put(mad + PERF_DATA, PC_PORT, 1);
	req.mad_addr = htole64(at);
	return t_admin_out(h, VHCA_CMD_PROCESS_MAD, &req, sizeof(req), out, MAD_LEN);
}

/* There is no subnet manager: no QP 0, and MADs are only used for counters. */
static void no_subnet(void **state)
{
	struct tpair p;
	u8 mad[MAD_LEN];

	t_eth_pair(&p, false);
	assert_int_equal(process_mad(&p.h[0], MAD_CLASS_PERF, ATTR_PORT_COUNTERS_EXT, mad), 0);
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_GET_RESP);
	assert_int_equal(mad_get(mad, MAD_STATUS), MAD_OK);
	assert_int_equal(process_mad(&p.h[0], MAD_CLASS_SUBN, ATTR_PORT_INFO, mad),
			 VHCA_ST_UNSUPPORTED);
	assert_int_equal(process_mad(&p.h[0], MAD_CLASS_SUBN_DR, ATTR_NODE_INFO, mad),
			 VHCA_ST_UNSUPPORTED);
	p.h[0].qp_type = VHCA_QPT_GSI;
	p.h[0].qp_port = 1;
	t_qp_init(&p.h[0], &p.qp[0], &p.cq[0], &p.cq[0]);
	assert_ptr_equal(qp_named(p.h[0].dev, 1, 1), p.h[0].dev->port[0].special[1]);
	t_pair_fini(&p);
}

static void no_qp0(void **state)
{
	struct tpair p;
	struct vhca_create_qp_hw_req req = { .type = VHCA_QPT_SMI, .port = 1 };

	t_eth_pair(&p, false);
	req.pdn = htole32(p.h[0].pd);
	req.uar = htole32(p.h[0].uar);
	req.send_cqn = htole32(p.cq[0].cqn);
	req.recv_cqn = htole32(p.cq[0].cqn);
	req.db_slot = htole32(p.h[0].next_slot);
	req.log_sq_blocks = VHCA_NO_QUEUE;
	req.log_rq_strides = VHCA_NO_QUEUE;
	assert_int_equal(t_admin(&p.h[0], VHCA_CMD_CREATE_QP, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(p.h[0].bad_field, REQ_OFF(vhca_create_qp_hw_req, port));
	t_pair_fini(&p);
}

/* A device may have both kinds, and each port does what its kind does. */
static void both_kinds(void **state)
{
	const struct vdev_config cfg = {
		.name = "t", .node_guid = 0x1000, .ports = 2, .vectors = 4,
		.port[1] = { .ethernet = true, .mac = { 2, 0, 0, 0, 0, 9 } },
	};
	struct vhca_port_req req = { .port = 2 };
	struct vhca_port_attr a;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_bare(&h, &w, &cfg);
	assert_int_equal(query(&h).link_layer, VHCA_LINK_IB);
	assert_int_not_equal(query(&h).lid, 0);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)), 0);
	assert_int_equal(a.link_layer, VHCA_LINK_ETH);
	assert_int_equal(a.lid, 0);
	assert_non_null(vdev_set_addrs(h.dev, 2, &h.dev->port[1].fab.ib.addrs, false));
	vdev_set_link(h.dev, 2, false);
	assert_int_equal(query(&h).state, PORT_ACTIVE);
	assert_int_equal(h.dev->port[1].fab.ib.state, PORT_DOWN);
	vdev_set_link(h.dev, 2, true);
	assert_int_equal(h.dev->port[1].fab.ib.state, PORT_ACTIVE);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells),
		cmocka_unit_test(bad_gids),
		cmocka_unit_test(mtu_and_switches),
		cmocka_unit_test(reset),
		cmocka_unit_test(bad_addresses),
		cmocka_unit_test(no_subnet),
		cmocka_unit_test(no_qp0),
		cmocka_unit_test(both_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
