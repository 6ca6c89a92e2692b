// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets between two Ethernet ports of one daemon: their receivers, and fields of completions.
 */
#include <string.h>

#include "lib/bytes.h"
#include "tests/teth.h"
#include "tests/ttopo.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define QKEY	0x11223344u
#define GRH	40u
#define LEN	5000u

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

/* Two hosts by three switches, and another way around the one in the middle. */
static const struct t_link row[] = {
	{ "a-t0:1", "4X EDR", 1000, 8 }, { "a-b", "4X SDR", 1000, 8 }, { "b-c", "4X SDR", 1000, 8 },
	{ "c-t1:1", "2X HDR", 1000, 8 }, { "a-d", "4X EDR", 1000, 8 }, { "d-e", "4X EDR", 1000, 8 },
	{ "e-c", "4X EDR", 1000, 8 }, { 0 },
};

static void make_regions(struct fixture *f)
{
	t_mr_init(&f->p.h[0], &f->l, 0, 65536, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 0, 65536, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static void setup(struct fixture *f, bool strict)
{
	t_eth_pair(&f->p, strict);
	make_regions(f);
}

static void setup_links(struct fixture *f)
{
	t_eth_pair_over(&f->p, true, t_eth_topo("abcde", TOPO_HOQ_USUAL, row));
	make_regions(f);
}

static void write_some(struct fixture *f)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f->l, 100, LEN, &f->r, 200);

	t_send(&f->p.qp[0], &wr);
}

/* Over both versions of IP, and in a VLAN; once from run to run and once as bytes. */
static void connected(void **state)
{
	static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC };
	struct fixture f;

	for (u32 i = 0; i < 2 * 2 * T_ETH_GIDS; i++) {
		u8 type = types[i / T_ETH_GIDS % 2];
		struct tseen seen = { 0 };

		setup(&f, true);
		t_eth_connect(&f.p, type, i % T_ETH_GIDS);
		if (i >= 2 * T_ETH_GIDS)
			fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		write_some(&f);
		t_settle(&f.p.w, 100000000);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		t_mr_expect(&f.r, 200, LEN, 1, 100);
		t_mr_expect(&f.r, 0, 200, 2, 0);
		assert_int_equal(t_stats(&f.p.h[0]).tx_packets, 5);
		if (seen.n) {
			const struct wire_hdr *h = &seen.h[0];
			u32 flow = roce_flow(f.p.qp[0].qpn, f.p.qp[1].qpn);

			assert_true(h->eth);
			assert_int_equal(h->ipv4, i % T_ETH_GIDS != 1);
			assert_int_equal(h->vlan, i % T_ETH_GIDS == 2 ? T_ETH_VLAN : WIRE_NO_TAG);
			assert_int_equal(h->sport, roce_sport(flow));
			assert_false(h->mig);
			assert_memory_equal(h->smac, t_eth_mac[0], 6);
			assert_memory_equal(h->dmac, t_eth_mac[1], 6);
		}
		fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
		t_pair_fini(&f.p);
	}
}

/* A lost packet is sent again, as on any link. */
static void lossy(void **state)
{
	struct tnth nth = { .victim = 2, .copies = 0 };
	struct fixture f;

	setup(&f, false);
	t_eth_connect(&f.p, VHCA_QPT_RC, 0);
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &nth);
	write_some(&f);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 200, LEN, 1, 100);
	assert_true(nth.seen > 6);
	fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
	t_pair_fini(&f.p);
}

static void arm(struct fixture *f, u32 kind, const char *link, u32 permille)
{
	struct fabric *fab = f->p.w.fabric;
	const struct fab_fault fault = {
		.kind = kind, .permille = permille, .seed = 3,
		.link = fab_link_at(fab, fab_link_find(fab, link)),
	};

	assert_int_equal(fab_fault_arm(fab, &fault), 0);
}

static struct fab_link_state link_state(struct fixture *f, const char *name)
{
	struct fab_link_state s;

	assert_true(fab_link_state(f->p.w.fabric, fab_link_find(f->p.w.fabric, name), &s));
	return s;
}

/* Over links: at the rate of the slowest, without a loss, by each version of IP and in a VLAN. */
static void over_links(void **state)
{
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr attr;
	struct fixture f;
	u64 t0, took;

	for (u32 i = 0; i < T_ETH_GIDS; i++) {
		struct twr wr;

		setup_links(&f);
		t_eth_connect(&f.p, VHCA_QPT_RC, i);
		t0 = f.p.w.now;
		wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 65536, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_expect_no_cqe(&f.p.cq[0]);
		t_settle(&f.p.w, 100000000);
		took = f.p.w.now - t0;
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		t_mr_expect(&f.r, 0, 65536, 1, 0);
		/* a ns a byte, the headers of 64 packets, and the way there and back */
		assert_in_range(took, 65536, 65536 + 64 * 90 + 20000);
		assert_int_equal(t_stats(&f.p.h[0]).timeouts, 0);
		assert_int_equal(f.p.h[0].dev->port->fab.ib.drops, 0);
		assert_int_equal(link_state(&f, "a-b").count[0].packets, 64);
		assert_int_equal(link_state(&f, "a-d").count[0].packets, 0);
		t_pair_fini(&f.p);
	}
	/* the port reports the rate of its link, which may change */
	setup_links(&f);
	assert_int_equal(t_admin_out(&f.p.h[1], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &attr,
				     sizeof(attr)), VHCA_ST_OK);
	assert_int_equal(attr.active_width, 16);
	assert_int_equal(le16toh(attr.active_speed), 64);
	t_pair_fini(&f.p);
}

/* Packets that links lose or corrupt are sent again; a link that is down is avoided if possible. */
static void links_fail(void **state)
{
	struct vhca_eqe e;
	struct fixture f;
	struct fabric *fab;
	struct twr wr;

	setup_links(&f);
	fab = f.p.w.fabric;
	t_eth_connect(&f.p, VHCA_QPT_RC, 0);
	arm(&f, FAB_LOSS, "a-b", 30);
	arm(&f, FAB_CORRUPT, "b-c", 30);
	for (u32 i = 0; i < 4; i++) {
		wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 65536, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
	}
	t_settle(&f.p.w, 60000000000ull);
	for (u32 i = 0; i < 4; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 0, 65536, 1, 0);
	assert_true(link_state(&f, "a-b").count[0].lost > 0);
	assert_true(link_state(&f, "b-c").count[0].bad > 0);
	/* the link goes down in the middle of it, and the connection only misses lost packets */
	fab_fault_clear(fab, NULL, fab_link_at(fab, fab_link_find(fab, "a-b")));
	fab_fault_clear(fab, NULL, fab_link_at(fab, fab_link_find(fab, "b-c")));
	t_mr_fill(&f.l, 5);
	t_send(&f.p.qp[0], &wr);
	for (u64 until = f.p.w.now + 20000; f.p.w.now < until; )
		assert_true(t_advance(&f.p.w));
	fab_link_up(fab, fab_link_find(fab, "a-b"), false);
	t_settle(&f.p.w, 60000000000ull);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 0, 65536, 5, 0);
	assert_true(link_state(&f, "d-e").count[0].packets > 32);
	/* the peer's own link: its driver gets an event */
	t_expect_no_event(&f.p.h[1]);
	vdev_set_link(f.p.h[1].dev, 1, false);
	assert_true(t_eq_get(&f.p.h[1], &f.p.h[1].async, &e));
	assert_int_equal(e.event, VHCA_EV_PORT_ERR);
	assert_false(link_state(&f, "c-t1:1").up);
	t_send(&f.p.qp[0], &wr);
	t_settle(&f.p.w, 60000000000ull);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_RETRY_EXC_ERR);
	vdev_set_link(f.p.h[1].dev, 1, true);
	assert_true(link_state(&f, "c-t1:1").up);
	t_pair_fini(&f.p);
}

/* Reasons why a peer does not receive: the requester fails as the transport says. */
static void unreachable(void **state)
{
	static const struct t_link links[] = { { "a-h0", "4X EDR", 0, 8 }, { 0 } };
	static const u8 other[6] = { 0x52, 0x54, 0, 0, 0, 9 };
	struct fixture f;

	for (u32 why = 0; why < 6; why++) {
		bool discards = why == 1;

		setup(&f, false);
		t_eth_connect(&f.p, VHCA_QPT_RC, 0);
		switch (why) {
		case 0:
			t_eth_port(&f.p.h[1], VHCA_PORT_DISABLE, 0);
			break;
		case 1:
			t_eth_clear_gid(&f.p.h[0], 0);
			break;
		case 2:
			t_eth_clear_gid(&f.p.h[1], 0);
			break;
		case 3:
			t_eth_set_gid(&f.p.h[1], 0, other, VHCA_NO_VLAN, t_eth_gid[1][0]);
			break;
		case 4:
			vdev_set_link(f.p.h[1].dev, 1, false);
			break;
		case 5:
			/* the links of InfiniBand do not matter */
			fabric_set_topology(f.p.w.fabric, t_topo("a", 18, links));
			t_eth_port(&f.p.h[1], VHCA_PORT_DISABLE, 0);
			break;
		}
		write_some(&f);
		t_settle(&f.p.w, 10000000000ull);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
		t_mr_expect(&f.r, 0, 6000, 2, 0);
		assert_int_equal(!!t_stats(&f.p.h[0]).tx_discards, discards);
		assert_int_equal(!!t_stats(&f.p.h[0]).tx_packets, !discards);
		t_pair_fini(&f.p);
	}
}

/* A GID that is written again has its users send again. */
static void follows_its_gid(void **state)
{
	static const u8 moved[6] = { 0x52, 0x54, 0, 0, 0, 7 };
	struct fixture f;

	setup(&f, false);
	t_eth_connect(&f.p, VHCA_QPT_RC, 1);
	t_eth_clear_gid(&f.p.h[0], 1);
	write_some(&f);
	assert_int_equal(t_stats(&f.p.h[0]).tx_packets, 0);
	t_eth_set_gid(&f.p.h[0], 1, t_eth_mac[0], VHCA_NO_VLAN, t_eth_gid[0][1]);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 200, LEN, 1, 100);
	/* the peer's answers go to the old address, which no port has */
	t_eth_set_gid(&f.p.h[0], 1, moved, VHCA_NO_VLAN, t_eth_gid[0][1]);
	write_some(&f);
	t_settle(&f.p.w, 10000000000ull);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	t_expect_no_event(&f.p.h[0]);
	t_pair_fini(&f.p);
}

static struct twr datagram(struct fixture *f, u32 i, u32 len)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &f->l, 0, len, NULL, 0);

	wr.ud = (struct vhca_wqe_ud){
		.av = t_eth_av(1, i), .dqpn = htole32(f->p.qp[1].qpn), .qkey = htole32(QKEY),
	};
	wr.ud.av.traffic_class = 0x42;
	wr.ud.av.flow_label = htole32(0x12345);
	wr.ud.av.sl = 3;
	return wr;
}

/* The IP header as it stands in the frame, and the fields that only Ethernet has. */
static void datagrams(void **state)
{
	static const u8 ipv4[20] = {
		0x45, 0x42, 0, 20 + 8 + 24 + 96, 0, 0, 0x40, 0, 64, 17, 0, 0,
		10, 77, 0, 1, 10, 77, 0, 2,
	};
	static const u8 ipv6[8] = { 0x64, 0x21, 0x23, 0x45, 0, 8 + 24 + 96, 17, 64 };
	struct vhca_cqe e;
	struct fixture f;
	u8 grh[GRH];

	for (u32 i = 0; i < T_ETH_GIDS; i++) {
		struct vhca_sge s;
		struct twr wr;

		setup(&f, false);
		t_eth_ud_up(&f.p, QKEY);
		s = t_sge(&f.r, 0, 1000);
		t_recv(&f.p.qp[1], 10, 1, &s);
		wr = datagram(&f, i, 96);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		e = t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
		assert_int_equal(e.flags, VHCA_CQE_F_RQ | VHCA_CQE_F_GRH |
				 (i != 1 ? VHCA_CQE_F_IPV4 : 0) | (i == 2 ? VHCA_CQE_F_VLAN : 0));
		assert_memory_equal(e.smac, t_eth_mac[0], 6);
		assert_int_equal(le16toh(e.vlan), i == 2 ? 3 << 13 | T_ETH_VLAN : 0);
		assert_int_equal(e.sl, i == 2 ? 3 : 0);
		assert_int_equal(e.slid, 0);
		assert_int_equal(e.port, 1);
		assert_int_equal(le32toh(e.byte_len), GRH + 96);
		t_mr_get(&f.r, 0, grh, GRH);
		if (i == 1) {
			assert_memory_equal(grh, ipv6, sizeof(ipv6));
			assert_memory_equal(grh + 8, t_eth_gid[0][1], 16);
			assert_memory_equal(grh + 24, t_eth_gid[1][1], 16);
		} else {
			u32 sum = 0;

			for (u32 k = 0; k < 20; k++)
				assert_int_equal(grh[k], 0);
			for (u32 k = 20; k < GRH; k += 2)
				sum += grh[k] << 8 | grh[k + 1];
			assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
			grh[30] = 0;
			grh[31] = 0;
			assert_memory_equal(grh + 20, ipv4, sizeof(ipv4));
		}
		t_mr_expect(&f.r, GRH, 96, 1, 0);
		t_pair_fini(&f.p);
	}
}

/* A datagram waits, and the port's MTU becomes smaller than it: no part of it is sent. */
static void mtu_while_waiting(void **state)
{
	struct tnth late = { .victim = -1, .all = true, .copies = 1, .delay = 1000000 };
	struct fixture f;
	struct fabric *fab;
	struct twr wr;
	u32 room;

	setup(&f, false);
	t_eth_ud_up(&f.p, QKEY);
	fab = f.p.w.fabric;
	assert_int_equal(fab_set_packet_hook(fab, t_nth_hook, &late), 0);
	wr = datagram(&f, 0, 96);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	/* the queue of the fabric seems full */
	room = fab->nfree;
	fab->nfree = 0;
	wr = datagram(&f, 0, 2000);
	t_send(&f.p.qp[0], &wr);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(t_eth_port(&f.p.h[0], VHCA_PORT_ENABLE, 3), VHCA_ST_OK);
	fab->nfree = room;
	/* the first one arrives, so that there is room again */
	t_settle(&f.p.w, 100000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_LEN_ERR);
	assert_int_equal(t_stats(&f.p.h[0]).tx_packets, 1);
	fab_set_packet_hook(fab, NULL, NULL);
	t_pair_fini(&f.p);
}

/* A sender of datagrams does not learn that none was received. */
static void silently_lost(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f, false);
	t_eth_ud_up(&f.p, QKEY);
	wr = datagram(&f, 0, 96);
	wr.ud.av.dmac[5] = 77;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	/* a GID that is not in the receiver's table, though the Ethernet address is */
	wr = datagram(&f, 0, 96);
	wr.ud.av.dgid[15] = 77;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	/* the VLAN has another entry */
	wr = datagram(&f, 0, 96);
	wr.ud.av.dgid[14] = 1;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(t_stats(&f.p.h[1]).rx_packets, 0);
	assert_int_equal(t_stats(&f.p.h[0]).tx_packets, 3);
	assert_int_equal(f.p.h[0].dev->port->fab.ib.drops, 3);
	/* an IPv4 address cannot be reached from an IPv6 one */
	wr = datagram(&f, 0, 96);
	wr.ud.av.sgid_index = 1;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(t_stats(&f.p.h[0]).tx_discards, 1);
	t_expect_no_cqe(&f.p.cq[1]);
	t_pair_fini(&f.p);
}

static void attach(struct tqp *qp, const u8 *mgid, u16 mlid, u32 status)
{
	struct vhca_mcg_req req = { .qpn = htole32(qp->qpn), .mlid = htole16(mlid) };

	memcpy(req.mgid, mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(qp->h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL), status);
}

/* Groups of both versions of IP; an attached sender receives its own packets. */
static void groups(void **state)
{
	static const u8 mgid[2][16] = {
		{ [10] = 0xff, 0xff, 239, 1, 2, 3 }, { 0xff, 0x0e, [15] = 5 },
	};
	static const u8 mac[2][6] = { { 1, 0, 0x5e, 1, 2, 3 }, { 0x33, 0x33, 0, 0, 0, 5 } };
	struct fixture f;

	for (u32 i = 0; i < 4; i++) {
		struct tseen seen = { 0 };
		struct vhca_sge s;
		struct twr wr;

		setup(&f, false);
		t_eth_ud_up(&f.p, QKEY);
		for (u32 n = 0; n < 2; n++) {
			attach(&f.p.qp[n], mgid[i % 2], 0, VHCA_ST_OK);
			s = n ? t_sge(&f.r, 0, 1000) : t_sge(&f.l, 2000, 1000);
			t_recv(&f.p.qp[n], 10, 1, &s);
		}
		attach(&f.p.qp[0], t_eth_gid[0][0], 0, VHCA_ST_BAD_FIELD);
		if (i >= 2)
			fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = datagram(&f, i % 2, 96);
		memcpy(wr.ud.av.dgid, mgid[i % 2], 16);
		memset(wr.ud.av.dmac, 0, 6);
		wr.ud.dqpn = htole32(0xffffff);
		t_send(&f.p.qp[0], &wr);
		t_settle(&f.p.w, 1000000);
		t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
		t_mr_expect(&f.r, GRH, 96, 1, 0);
		/* the adapter itself gives the sender its own copy */
		t_mr_expect(&f.l, 2000 + GRH, 96, 1, 0);
		if (seen.n)
			assert_memory_equal(seen.h[0].dmac, mac[i % 2], 6);
		assert_int_equal(seen.n, i >= 2);
		fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
		t_pair_fini(&f.p);
	}
	/* InfiniBand has no group without a LID */
	t_pair_init_ud(&f.p, QKEY);
	attach(&f.p.qp[0], mgid[1], 0, VHCA_ST_BAD_FIELD);
	t_pair_fini(&f.p);
}

/* A strict port neither sends from other addresses, nor receives for them. */
static void strict(void **state)
{
	static const u8 other[6] = { 0x52, 0x54, 0, 0, 0, 9 };
	struct vdev_status st;
	struct fixture f;
	struct twr wr;

	for (u32 by = 0; by < 2; by++) {
		setup(&f, true);
		t_eth_ud_up(&f.p, QKEY);
		assert_int_equal(t_eth_set_gid(&f.p.h[by], 0, other, VHCA_NO_VLAN,
					       t_eth_gid[by][0]), VHCA_ST_OK);
		wr = datagram(&f, 0, 96);
		if (by)
			memcpy(wr.ud.av.dmac, other, 6);
		t_send(&f.p.qp[0], &wr);
		vdev_status(f.p.h[0].dev, &st);
		assert_int_equal(st.port[0].eth.spoofed, !by);
		assert_int_equal(t_stats(&f.p.h[0]).tx_discards, !by);
		assert_int_equal(t_stats(&f.p.h[1]).rx_packets, 0);
		t_pair_fini(&f.p);
	}
}

/* GIDs that a guest has chosen so that the sum of their halves is the same are spread. */
static void chosen(void **state)
{
	struct eth_segment *s;
	struct fixture f;
	u8 gid[16];

	setup(&f, false);
	s = f.p.w.fabric->eth;
	for (u32 i = T_ETH_GIDS; i < ETH_GIDS; i++) {
		u64 half = 0x2001ull << 48 | i;

		put_be64(gid, half);
		put_be64(gid + 8, 0x1122334455667788ull ^ half * 3);
		assert_int_equal(t_eth_set_gid(&f.p.h[1], i, t_eth_mac[1], VHCA_NO_VLAN, gid),
				 VHCA_ST_OK);
	}
	for (u32 i = 0; i < ETH_BUCKETS; i++) {
		u32 n = 0;

		list_for_each_safe(l, &s->gids[i])
			n++;
		assert_true(n < 16);
	}
	t_pair_fini(&f.p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(connected),
		cmocka_unit_test(lossy),
		cmocka_unit_test(over_links),
		cmocka_unit_test(links_fail),
		cmocka_unit_test(unreachable),
		cmocka_unit_test(follows_its_gid),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(mtu_while_waiting),
		cmocka_unit_test(silently_lost),
		cmocka_unit_test(groups),
		cmocka_unit_test(strict),
		cmocka_unit_test(chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
