// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams: addresses, requests and completions; and the operations of other types of QP. */
#include "../verbs/ah.h"
#include "test_queues.h"

/* A bench whose QP is a UD QP, and an address handle with and without a route. */
struct ud {
	struct vhca_ah ah[2];
	struct ib_gid_attr sgid;
	struct rdma_ah_attr attr[2];
};

static struct ud *make_ud(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ud *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);
	struct rdma_ah_init_attr init = {};

	KUNIT_ASSERT_NOT_NULL(test, u);
	b->qp.ibqp.qp_type = IB_QPT_UD;
	b->dev.hw.limits.ports = 2;
	u->sgid.index = 3;
	for (int i = 0; i < 2; i++) {
		struct rdma_ah_attr *a = &u->attr[i];

		a->type = RDMA_AH_ATTR_TYPE_IB;
		rdma_ah_set_dlid(a, 0x1234);
		rdma_ah_set_sl(a, 5);
		rdma_ah_set_path_bits(a, 2);
		rdma_ah_set_static_rate(a, IB_RATE_10_GBPS);
		rdma_ah_set_port_num(a, 2);
		u->ah[i].ibah.device = &b->dev.ibdev;
	}
	rdma_ah_set_grh(&u->attr[1], NULL, 0xabcde, 3, 64, 0x11);
	u->attr[1].grh.sgid_attr = &u->sgid;
	memset(u->attr[1].grh.dgid.raw, 0x5a, sizeof(u->attr[1].grh.dgid));
	for (int i = 0; i < 2; i++) {
		init.ah_attr = &u->attr[i];
		KUNIT_ASSERT_EQ(test, vhca_create_ah(&u->ah[i].ibah, &init, NULL), 0);
	}
	return u;
}

static void test_address(struct kunit *test)
{
	struct ud *u = make_ud(test);
	struct rdma_ah_attr back;
	struct vhca_av *av = &u->ah[1].av;

	KUNIT_EXPECT_EQ(test, le16_to_cpu(av->dlid), 0x1234);
	KUNIT_EXPECT_EQ(test, av->sl, 5);
	KUNIT_EXPECT_EQ(test, av->src_path_bits, 2);
	KUNIT_EXPECT_EQ(test, av->static_rate, IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, av->port, 2);
	KUNIT_EXPECT_EQ(test, av->grh, 1);
	KUNIT_EXPECT_EQ(test, av->sgid_index, 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(av->flow_label), 0xabcde);
	KUNIT_EXPECT_EQ(test, av->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, av->traffic_class, 0x11);
	KUNIT_EXPECT_EQ(test, av->dgid[15], 0x5a);
	KUNIT_EXPECT_EQ(test, u->ah[0].av.grh, 0);
	KUNIT_EXPECT_EQ(test, u->ah[0].av.dgid[15], 0);

	KUNIT_ASSERT_EQ(test, vhca_query_ah(&u->ah[1].ibah, &back), 0);
	KUNIT_EXPECT_EQ(test, back.type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&back), 0x1234);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&back), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&back), 5);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&back), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&back), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&back), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&back)->sgid_index, 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&back)->flow_label, 0xabcde);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&back)->dgid.raw[0], 0x5a);
	KUNIT_EXPECT_NULL(test, rdma_ah_read_grh(&back)->sgid_attr);
	KUNIT_ASSERT_EQ(test, vhca_query_ah(&u->ah[0].ibah, &back), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&back), 0);

	/* No member of the old address is left. */
	KUNIT_ASSERT_EQ(test, vhca_modify_ah(&u->ah[1].ibah, &u->attr[0]), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&u->ah[1].av, &u->ah[0].av, sizeof(*av)), 0);
}

static void test_bad_addresses(struct kunit *test)
{
	struct ud *u = make_ud(test);
	struct rdma_ah_attr good = u->attr[1], bad;
	const struct vhca_av before = u->ah[1].av;

#define REFUSED(change)								\
	({									\
		bad = good;							\
		change;								\
		KUNIT_EXPECT_EQ_MSG(test, vhca_modify_ah(&u->ah[1].ibah, &bad),	\
				    -EINVAL, "%s", #change);			\
	})
	REFUSED(bad.type = RDMA_AH_ATTR_TYPE_ROCE);
	REFUSED(bad.port_num = 0);
	REFUSED(bad.port_num = 3);
	REFUSED(bad.sl = 16);
	REFUSED(bad.static_rate = 1);
	REFUSED(bad.static_rate = IB_RATE_800_GBPS + 1);
	REFUSED(bad.grh.flow_label = 0x100000);
	REFUSED(bad.grh.sgid_attr = NULL);
#undef REFUSED
	KUNIT_EXPECT_EQ(test, memcmp(&u->ah[1].av, &before, sizeof(before)), 0);
}

/* Port 2 as an Ethernet port: its addresses have a MAC address and a route. */
static void test_ethernet_address(struct kunit *test)
{
	static const u8 dmac[ETH_ALEN] = { 2, 4, 6, 8, 10, 12 };
	struct bench *b = test->priv;
	struct ud *u = make_ud(test);
	struct rdma_ah_attr good = u->attr[1], bad, back;
	struct vhca_av *av = &u->ah[1].av;

	b->dev.ports[1].eth = true;
	good.type = RDMA_AH_ATTR_TYPE_ROCE;
	memset(&good.roce, 0, sizeof(good.roce));
	memcpy(good.roce.dmac, dmac, sizeof(dmac));
	KUNIT_ASSERT_EQ(test, vhca_modify_ah(&u->ah[1].ibah, &good), 0);
	KUNIT_EXPECT_MEMEQ(test, av->dmac, dmac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(av->dlid), 0);
	KUNIT_EXPECT_EQ(test, av->src_path_bits, 0);
	KUNIT_EXPECT_EQ(test, av->sl, 5);
	KUNIT_EXPECT_EQ(test, av->grh, 1);
	KUNIT_EXPECT_EQ(test, av->sgid_index, 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(av->flow_label), 0xabcde);
	KUNIT_EXPECT_EQ(test, av->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, av->traffic_class, 0x11);
	KUNIT_ASSERT_EQ(test, vhca_query_ah(&u->ah[1].ibah, &back), 0);
	KUNIT_EXPECT_EQ(test, back.type, RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_MEMEQ(test, back.roce.dmac, dmac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&back)->hop_limit, 64);

	bad = good;
	bad.ah_flags = 0;
	KUNIT_EXPECT_EQ(test, vhca_modify_ah(&u->ah[1].ibah, &bad), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_modify_ah(&u->ah[1].ibah, &u->attr[1]), -EINVAL);
	bad = good;
	bad.port_num = 1;
	KUNIT_EXPECT_EQ(test, vhca_modify_ah(&u->ah[1].ibah, &bad), -EINVAL);
	KUNIT_EXPECT_MEMEQ(test, av->dmac, dmac, ETH_ALEN);
}

static int send_ud(struct bench *b, struct ib_ah *ah, enum ib_wr_opcode opcode, int flags,
		   struct ib_sge *sge, int nsge)
{
	struct ib_ud_wr wr = {
		.wr = { .wr_id = 77, .opcode = opcode, .sg_list = sge, .num_sge = nsge,
			.send_flags = flags, .ex.imm_data = cpu_to_be32(0x1234) },
		.ah = ah, .remote_qpn = 0x654321, .remote_qkey = 0x80010000,
	};
	const struct ib_send_wr *bad;

	return vhca_post_send(&b->qp.ibqp, &wr.wr, &bad);
}

/* Reads bytes of the send ring, which continue at its beginning. */
static void ring_bytes(struct bench *b, size_t pos, void *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((u8 *)to)[i] = *(u8 *)vhca_kbuf_at(&b->qpk.sq.ring.mem, (pos + i) %
						    (VHCA_WQE_BLOCK << BENCH_SQ_LOG));
}

/* Posts at every place of the ring: the address spans two blocks, and may wrap at the end. */
static void test_request(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ud *u = make_ud(test);
	struct ib_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ib_sge more = { (uintptr_t)&u->attr, 60, 0 };
	struct vhca_wqe_ctrl ctrl;
	struct vhca_wqe_ud ud;
	struct vhca_sge seg[2];
	struct ib_wc wc;
	size_t pos;
	u64 at;

	for (int i = 0; i < 3 << BENCH_SQ_LOG; i++) {
		at = b->qpk.sq.head;
		pos = at * VHCA_WQE_BLOCK;
		/* Some requests have three blocks: requests begin at odd and even places. */
		if (i % 3 == 2) {
			KUNIT_ASSERT_EQ(test, send_ud(b, &u->ah[0].ibah, IB_WR_SEND,
						      IB_SEND_SIGNALED | IB_SEND_INLINE, &more, 1),
					0);
			bench_complete(b, bench_done(at + 3, 0));
			KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
			continue;
		}
		KUNIT_ASSERT_EQ(test, send_ud(b, &u->ah[1].ibah, IB_WR_SEND_WITH_IMM,
					      IB_SEND_SIGNALED | IB_SEND_SOLICITED, sge, 2), 0);
		KUNIT_EXPECT_EQ(test, b->qpk.sq.head, at + 2);
		ring_bytes(b, pos, &ctrl, sizeof(ctrl));
		ring_bytes(b, pos + sizeof(ctrl), &ud, sizeof(ud));
		ring_bytes(b, pos + sizeof(ctrl) + sizeof(ud), seg, sizeof(seg));
		KUNIT_EXPECT_EQ(test, ctrl.opcode, VHCA_OP_SEND_IMM);
		KUNIT_EXPECT_EQ(test, ctrl.flags, VHCA_WQE_SIGNALED | VHCA_WQE_SOLICITED);
		KUNIT_EXPECT_EQ(test, ctrl.nblk, 2);
		KUNIT_EXPECT_EQ(test, ctrl.nsge, 2);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(ctrl.imm), 0x1234);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl.index), at);
		KUNIT_EXPECT_EQ(test, memcmp(&ud.av, &u->ah[1].av, sizeof(ud.av)), 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(ud.dqpn), 0x654321);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(ud.qkey), 0x80010000);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(ud.pkey_index), 0);
		KUNIT_EXPECT_NULL(test, memchr_inv(ud.rsvd, 0, sizeof(ud.rsvd)));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(seg[0].addr), 0x1000);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(seg[1].lkey), 2);
		bench_complete(b, bench_done(at + 2, 0));
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.wr_id, 77);
		KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_SEND);
	}
}

static void test_inline(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ud *u = make_ud(test);
	u8 data[BENCH_INLINE_MAX], back[BENCH_INLINE_MAX];
	struct ib_sge sge = { (uintptr_t)data, 0, 0 };
	struct vhca_wqe_ctrl ctrl;
	struct ib_wc wc;
	u64 at;

	for (u32 i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	for (sge.length = 0; sge.length <= sizeof(data); sge.length++) {
		at = b->qpk.sq.head;
		KUNIT_ASSERT_EQ(test, send_ud(b, &u->ah[0].ibah, IB_WR_SEND,
					      IB_SEND_INLINE | IB_SEND_SIGNALED, &sge, 1), 0);
		ring_bytes(b, at * VHCA_WQE_BLOCK, &ctrl, sizeof(ctrl));
		KUNIT_ASSERT_EQ(test, ctrl.nblk, DIV_ROUND_UP(32 + 48 + sge.length, 64));
		KUNIT_ASSERT_EQ(test, b->qpk.sq.head, at + ctrl.nblk);
		KUNIT_ASSERT_EQ(test, le32_to_cpu(ctrl.inline_len), sge.length);
		ring_bytes(b, at * VHCA_WQE_BLOCK + 32 + 48, back, sge.length);
		KUNIT_ASSERT_EQ(test, memcmp(back, data, sge.length), 0);
		bench_complete(b, bench_done(b->qpk.sq.head, 0));
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	}
}

/* The operations of each type of QP. */
static void test_operations(struct kunit *test)
{
	static const struct {
		enum ib_wr_opcode opcode;
		bool rc, uc, ud;
	} ops[] = {
		{ IB_WR_SEND, true, true, true },
		{ IB_WR_SEND_WITH_IMM, true, true, true },
		{ IB_WR_RDMA_WRITE, true, true, false },
		{ IB_WR_RDMA_WRITE_WITH_IMM, true, true, false },
		{ IB_WR_RDMA_READ, true, false, false },
		{ IB_WR_LSO, false, false, false },
		{ IB_WR_SEND_WITH_INV, true, false, false },
		{ IB_WR_LOCAL_INV, true, true, false },
	};
	struct bench *b = test->priv;
	struct ud *u = make_ud(test);
	struct ib_wc wc;
	int err, want;
	u64 at;

	for (enum ib_qp_type type = IB_QPT_RC; type <= IB_QPT_UD; type++) {
		b->qp.ibqp.qp_type = type;
		for (int i = 0; i < ARRAY_SIZE(ops); i++) {
			want = (type == IB_QPT_RC ? ops[i].rc :
				type == IB_QPT_UC ? ops[i].uc : ops[i].ud) ? 0 : -EINVAL;
			at = b->qpk.sq.head;
			/* The UD request is the largest structure, for any opcode. */
			err = send_ud(b, &u->ah[0].ibah, ops[i].opcode, IB_SEND_SIGNALED, NULL, 0);
			KUNIT_EXPECT_EQ_MSG(test, err, want, "type %d, opcode %d", type,
					    ops[i].opcode);
			if (err) {
				KUNIT_EXPECT_EQ(test, b->qpk.sq.head, at);
				continue;
			}
			bench_complete(b, bench_done(b->qpk.sq.head, 0));
			KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
		}
	}
	b->qp.ibqp.qp_type = IB_QPT_UD;
	KUNIT_EXPECT_EQ(test, send_ud(b, NULL, IB_WR_SEND, 0, NULL, 0), -EINVAL);
}

/* The core drains QPs of all types with a WRITE: in the error state it is accepted and flushed. */
static void test_drain(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe cqe = bench_done(1, 0);
	struct ib_sge sge = { 0x1000, 8, 1 };
	struct vhca_wqe_ctrl ctrl;
	struct ib_wc wc;

	make_ud(test);
	KUNIT_EXPECT_EQ(test, bench_send(b, 5, 0), -EINVAL);
	vhca_qp_broken(&b->qp);
	KUNIT_ASSERT_EQ(test, bench_send(b, 5, 0), 0);
	ring_bytes(b, 0, &ctrl, sizeof(ctrl));
	KUNIT_EXPECT_EQ(test, ctrl.opcode, VHCA_OP_NOP);
	KUNIT_EXPECT_EQ(test, ctrl.nblk, 1);
	KUNIT_EXPECT_EQ(test, send_ud(b, NULL, IB_WR_RDMA_WRITE, 0, &sge, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, send_ud(b, NULL, IB_WR_RDMA_READ, 0, NULL, 0), -EINVAL);
	cqe.status = VHCA_CS_WR_FLUSH_ERR;
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 5);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
}

static void test_receive(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cqe cqe = bench_done(1, VHCA_CQE_F_RQ | VHCA_CQE_F_IMM | VHCA_CQE_F_GRH);
	struct ib_wc wc;

	make_ud(test);
	cqe.src_qpn = cpu_to_le32(0x42);
	cqe.slid = cpu_to_le16(7);
	cqe.pkey_index = cpu_to_le16(9);
	cqe.sl = 3;
	cqe.dlid_path_bits = 6;
	cqe.port = 2;
	cqe.imm = cpu_to_be32(0x1234);
	KUNIT_ASSERT_EQ(test, bench_recv(b, 11), 0);
	KUNIT_ASSERT_EQ(test, bench_recv(b, 12), 0);
	bench_complete(b, cqe);
	bench_complete(b, bench_done(2, VHCA_CQE_F_RQ));
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 11);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM | IB_WC_GRH);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x1234);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 0x42);
	KUNIT_EXPECT_EQ(test, wc.slid, 7);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 9);
	KUNIT_EXPECT_EQ(test, wc.sl, 3);
	KUNIT_EXPECT_EQ(test, wc.dlid_path_bits, 6);
	KUNIT_EXPECT_EQ(test, wc.port_num, 2);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
}

/* A completion has fields of the Ethernet frame only on an Ethernet port. */
static void test_frame(struct kunit *test)
{
	static const u8 smac[ETH_ALEN] = { 2, 4, 6, 8, 10, 12 };
	static const struct {
		u8 port, flags;
		int wc_flags;
		enum rdma_network_type type;
		u16 vlan_id;
		u8 sl;
	} frames[] = {
		{ 2, VHCA_CQE_F_GRH, IB_WC_GRH | IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE,
		  RDMA_NETWORK_IPV6, 0, 3 },
		{ 2, VHCA_CQE_F_GRH | VHCA_CQE_F_IPV4,
		  IB_WC_GRH | IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE,
		  RDMA_NETWORK_IPV4, 0, 3 },
		{ 2, VHCA_CQE_F_GRH | VHCA_CQE_F_IPV4 | VHCA_CQE_F_VLAN,
		  IB_WC_GRH | IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE | IB_WC_WITH_VLAN,
		  RDMA_NETWORK_IPV4, 0xabc, 6 },
		{ 1, VHCA_CQE_F_GRH | VHCA_CQE_F_IPV4 | VHCA_CQE_F_VLAN, IB_WC_GRH, 0, 0, 3 },
	};
	struct bench *b = test->priv;
	struct vhca_cqe cqe;
	struct ib_wc wc;

	make_ud(test);
	b->dev.ports[1].eth = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		cqe = bench_done(i + 1, VHCA_CQE_F_RQ | frames[i].flags);
		cqe.port = frames[i].port;
		cqe.sl = 3;
		cqe.vlan = cpu_to_le16(6 << 13 | 0x1abc);
		memcpy(cqe.smac, smac, sizeof(smac));
		KUNIT_ASSERT_EQ(test, bench_recv(b, 11 + i), 0);
		bench_complete(b, cqe);
		KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
		KUNIT_EXPECT_EQ_MSG(test, wc.wc_flags, frames[i].wc_flags, "frame %u", i);
		KUNIT_EXPECT_EQ_MSG(test, wc.network_hdr_type, frames[i].type, "frame %u", i);
		KUNIT_EXPECT_EQ_MSG(test, wc.vlan_id, frames[i].vlan_id, "frame %u", i);
		KUNIT_EXPECT_EQ_MSG(test, wc.sl, frames[i].sl, "frame %u", i);
		KUNIT_EXPECT_EQ_MSG(test, !memcmp(wc.smac, smac, ETH_ALEN), frames[i].port == 2,
				    "frame %u", i);
	}
}

static void test_sizes(struct kunit *test)
{
	const struct vhca_dev *dev = &((struct bench *)test->priv)->dev;

	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 0, 0), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 3, 0), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 4, 0), 3);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 0, 48), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 0, 49), 3);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 0, 944), VHCA_WQE_MAX_BLOCKS);
	KUNIT_EXPECT_GT(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 0, 945), VHCA_WQE_MAX_BLOCKS);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UC, 1, 16), 1);
}

static struct kunit_case ud_cases[] = {
	KUNIT_CASE(test_address),
	KUNIT_CASE(test_bad_addresses),
	KUNIT_CASE(test_ethernet_address),
	KUNIT_CASE(test_request),
	KUNIT_CASE(test_inline),
	KUNIT_CASE(test_operations),
	KUNIT_CASE(test_drain),
	KUNIT_CASE(test_receive),
	KUNIT_CASE(test_frame),
	KUNIT_CASE(test_sizes),
	{}
};

struct kunit_suite vhca_ud_suite = {
	.name = "vhca_ud",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = ud_cases,
};
