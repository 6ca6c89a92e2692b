// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: what arrives, its completion, refusals and
 * counters, and the effect of a failed send on its queue.
 */
#include "tests/ud.h"

/* ---- datagrams that arrive ---- */

static void sizes(bool packets)
{
	static const u32 len[] = { 0, 1, 3, 64, 255, 1023, 1024, 4095, 4096 };
	struct tnth none = { .victim = -1 };
	struct fixture f;
	struct vhca_cqe e;
	struct twr wr;

	setup(&f);
	if (packets)
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &none), 0);
	for (u32 i = 0; i < ARRAY_SIZE(len); i++) {
		bool imm = i % 2;

		t_mr_fill(&f.r, 2);
		post_recv(&f, 100 + i, 5, GRH + len[i]);
		wr = wr_to(&f, imm ? VHCA_OP_SEND_IMM : VHCA_OP_SEND, i, 77, len[i]);
		wr.imm = htobe32(0xabc00 + i);
		t_send(&f.p.qp[0], &wr);
		e = t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, VHCA_CQE_SEND);
		assert_int_equal(le32toh(e.wqe_index), f.p.qp[0].sq_prod);
		e = t_expect_cqe(&f.p.cq[1], 100 + i, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, VHCA_CQE_RECV);
		assert_int_equal(le32toh(e.byte_len), GRH + len[i]);
		assert_int_equal(le32toh(e.qpn), f.p.qp[1].qpn);
		assert_int_equal(le32toh(e.src_qpn), f.p.qp[0].qpn);
		assert_int_equal(le16toh(e.slid), 1);
		assert_int_equal(e.sl, 0);
		assert_int_equal(e.port, 1);
		assert_int_equal(le16toh(e.pkey_index), 0);
		assert_int_equal(e.dlid_path_bits, 0);
		assert_int_equal(e.flags, VHCA_CQE_F_RQ | (imm ? VHCA_CQE_F_IMM : 0));
		assert_int_equal(e.imm, imm ? htobe32(0xabc00 + i) : 0);
		/* without a GRH its bytes are unchanged */
		t_mr_expect(&f.r, 0, 5 + GRH, 2, 0);
		t_mr_expect(&f.r, 5 + GRH, len[i], 1, 77);
		t_mr_expect(&f.r, 5 + GRH + len[i], 100, 2, 5 + GRH + len[i]);
	}
	assert_int_equal(t_stats(&f.p.h[0]).rx_packets, 0);
	done(&f);
}

static void as_runs(void **state) { sizes(false); }
static void as_packets(void **state) { sizes(true); }

/* Requests rung before the QP is destroyed arrive, though their completions are not waited for. */
static void last_words(void **state)
{
	enum { N = 40 };
	struct fixture f;
	struct twr wr;

	setup(&f);
	for (u32 i = 0; i < N; i++) {
		post_recv(&f, i, 3000 * i, 3000);
		wr = wr_to(&f, VHCA_OP_SEND, i, i, 2000);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	assert_int_equal(t_destroy_qp(&f.p.qp[0]), VHCA_ST_OK);
	for (u32 i = 0; i < N; i++)
		t_expect_cqe(&f.p.cq[1], i, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 3000 * (N - 1) + GRH, 2000, 1, N - 1);
	done(&f);
}

struct more {
	struct fixture f;
	struct twr wr;
};

/* For every datagram that leaves another one is posted, and a millisecond passes. */
static void post_more(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	struct more *m = arg;

	t_post(&m->f.p.qp[0], &m->wr);
	t_ring_sq(&m->f.p.qp[0]);
	m->f.p.w.now += 1000000;
}

/* A QP's owner cannot keep the adapter's other commands waiting by posting more and more. */
static void endless_words(void **state)
{
	struct more m;

	setup(&m.f);
	m.wr = wr_to(&m.f, VHCA_OP_SEND, 1, 0, 100);
	assert_int_equal(fab_set_packet_hook(m.f.p.w.fabric, post_more, &m), 0);
	t_post(&m.f.p.qp[0], &m.wr);
	t_ring_sq(&m.f.p.qp[0]);
	assert_int_equal(t_destroy_qp(&m.f.p.qp[0]), VHCA_ST_OK);
	assert_in_range(t_stats(&m.f.p.h[0]).tx_packets, 100, 1000);
	done(&m.f);
}

/* Gathered, scattered over the GRH's end, and inline. */
static void pieces(void **state)
{
	struct fixture f;
	struct vhca_sge to[3];
	u8 data[944];
	struct twr wr;

	setup(&f);
	to[0] = t_sge(&f.r, 0, 39);
	to[1] = t_sge(&f.r, 1000, 3);
	to[2] = t_sge(&f.r, 2000, 4096);
	t_recv(&f.p.qp[1], 10, 3, to);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 1);
	wr.nsge = 32;
	for (u32 i = 0; i < 32; i++)
		wr.sge[i] = t_sge(&f.l, 100 * i, 100);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS).byte_len), 3240);
	t_mr_expect(&f.r, 0, 1001, 2, 0);
	t_mr_expect(&f.r, 1001, 2, 1, 0);
	t_mr_expect(&f.r, 2000, 3198, 1, 2);

	for (u32 len = 0; len <= 512; len += 64) {
		for (u32 i = 0; i < sizeof(data); i++)
			data[i] = t_pattern(9, i);
		post_recv(&f, 11, 0, 2000);
		wr = wr_to(&f, VHCA_OP_SEND, 2, 0, 0);
		wr.nsge = 0;
		wr.flags = VHCA_WQE_INLINE;
		wr.data = data;
		wr.data_len = len;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
		t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_SUCCESS);
		t_mr_expect(&f.r, GRH, len, 9, 0);
	}
	done(&f);
}

/* The GRH as it is on the wire, and the fields that follow from the address. */
static void grh(void **state)
{
	static const u8 want[] = {
		0x64, 0x21, 0x23, 0x45, 0x00, 24 + 100, 0x1b, 0x09,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x02, 0xc9, 0x03, 0, 0, 0, 0x01,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x01, 0x01,
	};
	u8 have[GRH];
	struct vhca_cqe e;
	struct fixture f;
	struct twr wr;

	setup(&f);
	post_recv(&f, 10, 3, 4000);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.ud.av.grh = 1;
	wr.ud.av.sl = 7;
	wr.ud.av.static_rate = 5;
	wr.ud.av.hop_limit = 9;
	wr.ud.av.traffic_class = 0x42;
	wr.ud.av.flow_label = htole32(0x12345);
	memcpy(wr.ud.av.dgid, want + 24, 16);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	e = t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	assert_int_equal(e.flags, VHCA_CQE_F_RQ | VHCA_CQE_F_GRH);
	assert_int_equal(e.sl, 7);
	assert_int_equal(le32toh(e.byte_len), GRH + 100);
	t_mr_get(&f.r, 3, have, sizeof(have));
	assert_memory_equal(have, want, sizeof(want));
	t_mr_expect(&f.r, 3 + GRH, 100, 1, 0);
	t_mr_expect(&f.r, 0, 3, 2, 0);
	done(&f);
}

static void look(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	struct wire_hdr *last = arg;

	assert_false(h->ackreq);
	*last = *h;
}

static void on_the_wire(void **state)
{
	struct wire_hdr h;
	struct fixture f;
	struct twr wr;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, look, &h);
	for (u32 i = 0; i < 4; i++) {
		wr = wr_to(&f, i % 2 ? VHCA_OP_SEND_IMM : VHCA_OP_SEND, i, 0, 10);
		wr.flags = i / 2 ? VHCA_WQE_SOLICITED : 0;
		wr.imm = htobe32(0x77665544);
		t_send(&f.p.qp[0], &wr);
		assert_int_equal(h.opcode, i % 2 ? OP_UD_SEND_ONLY_IMM : OP_UD_SEND_ONLY);
		assert_int_equal(h.se, i / 2);
		/* every datagram has a PSN, though it is not checked */
		assert_int_equal(h.psn, (0xfffffe + i) & PSN_MASK);
		assert_int_equal(h.dqpn, f.p.qp[1].qpn);
		assert_int_equal(h.sqpn, f.p.qp[0].qpn);
		assert_int_equal(h.qkey, QKEY);
		assert_int_equal(h.pkey, 0xffff);
	}
	/* the privileged bit selects the QP's own Q_Key */
	wr = wr_to(&f, VHCA_OP_SEND, 9, 0, 10);
	wr.ud.qkey = htole32(0x80000001);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(h.qkey, QKEY);
	wr.ud.qkey = htole32(0x7fffffff);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(h.qkey, 0x7fffffff);
	done(&f);
}

/* To itself, to a neighbour of the same adapter, and from several to one. */
static void loopback(void **state)
{
	struct fixture f;
	struct tqp near;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	t_qp_init(&f.p.h[0], &near, &f.p.cq[0], &f.p.cq[0]);
	t_ud_up(&near, QKEY);
	s = t_sge(&f.l, 100000, 1000);
	t_recv(&f.p.qp[0], 10, 1, &s);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 100, NULL, 0);
	wr.ud = t_ud_to(&f.p.qp[0], QKEY);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS).src_qpn),
			 f.p.qp[0].qpn);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f.l, 100000 + GRH, 100, 1, 0);
	t_recv(&near, 11, 1, &s);
	wr.ud = t_ud_to(&near, QKEY);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 11, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	post_recv(&f, 20, 0, 1000);
	post_recv(&f, 21, 0, 1000);
	wr.ud = t_ud_to(&f.p.qp[1], QKEY);
	t_send(&f.p.qp[0], &wr);
	t_send(&near, &wr);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 20, VHCA_CS_SUCCESS).src_qpn),
			 f.p.qp[0].qpn);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 21, VHCA_CS_SUCCESS).src_qpn), near.qpn);
	done(&f);
}

/* To itself with a receive that fails: the QP is in the error state before its send completes. */
static void own_fault(void **state)
{
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	s = t_sge(&f.l, 0, 1000);
	s.lkey ^= 1;
	t_recv(&f.p.qp[0], 10, 1, &s);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 100, NULL, 0);
	wr.ud = t_ud_to(&f.p.qp[0], QKEY);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_LOC_PROT_ERR);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_WR_FLUSH_ERR);
	assert_int_equal(t_state(&f.p.qp[0]), T_ERR);
	done(&f);
}

static void doubled(void **state)
{
	struct tnth n = { .victim = 0, .copies = 2 };
	struct fixture f;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
	post_recv(&f, 10, 0, 1000);
	post_recv(&f, 11, 0, 1000);
	post_recv(&f, 12, 0, 1000);
	send(&f, 1, 0, 100);
	n.victim = 1;
	n.copies = 0;
	send(&f, 2, 0, 100);
	send(&f, 3, 0, 100);
	for (u32 i = 0; i < 3; i++)
		t_expect_cqe(&f.p.cq[1], 10 + i, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[1]);
	done(&f);
}

/* Only a solicited datagram raises an event at a CQ that waits for such ones. */
static void solicited(void **state)
{
	struct fixture f;
	struct vhca_eqe e;
	struct twr wr;

	setup(&f);
	post_recv(&f, 10, 0, 1000);
	post_recv(&f, 11, 0, 1000);
	t_cq_arm(&f.p.cq[1], true);
	send(&f, 1, 0, 100);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	assert_false(t_eq_get(&f.p.h[1], &f.p.h[1].comp, &e));
	wr = wr_to(&f, VHCA_OP_SEND, 2, 0, 100);
	wr.flags = VHCA_WQE_SOLICITED;
	t_send(&f.p.qp[0], &wr);
	assert_true(t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_SUCCESS).flags & VHCA_CQE_F_SOLICITED);
	assert_true(t_eq_get(&f.p.h[1], &f.p.h[1].comp, &e));
	done(&f);
}

/* ---- datagrams that do not arrive ---- */

static void wrong_qkey(void **state)
{
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_qp_attr a = { .state = T_RTS, .qkey = htole32(QKEY + 1) };
	struct vhca_port_attr p;
	struct fixture f;
	struct twr wr;

	setup(&f);
	post_recv(&f, 10, 0, 1000);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.ud.qkey = htole32(QKEY + 1);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	EXPECT_COUNT(&f, qkey_violations, 1);
	assert_int_equal(t_admin_out(&f.p.h[1], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &p,
				     sizeof(p)), VHCA_ST_OK);
	assert_int_equal(le32toh(p.qkey_viol), 1);
	/* the receiver's key changes: now this one is right */
	assert_int_equal(t_modify(&f.p.qp[1], &a, VHCA_QPA_STATE | VHCA_QPA_QKEY), VHCA_ST_OK);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	send(&f, 2, 0, 100);
	EXPECT_COUNT(&f, qkey_violations, 2);
	done(&f);
}

static void wrong_pkey(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .pkey_index = htole16(1) };
	struct fixture f;

	setup(&f);
	f.p.w.fabric->ports[1]->ib.pkey[1] = 0x8001;
	post_recv(&f, 10, 0, 1000);
	assert_int_equal(t_to(&f.p.qp[1], T_SQD), VHCA_ST_OK);
	assert_int_equal(t_modify(&f.p.qp[1], &a, VHCA_QPA_PKEY_INDEX), VHCA_ST_OK);
	send(&f, 1, 0, 100);
	EXPECT_COUNT(&f, pkey_violations, 1);
	f.p.w.fabric->ports[0]->ib.pkey[0] = 0x0001;
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	send(&f, 2, 0, 100);
	/* and the completion tells which of the receiver's keys it was */
	assert_int_equal(le16toh(t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS).pkey_index), 1);
	EXPECT_COUNT(&f, pkey_violations, 1);
	done(&f);
}

static void no_receive(void **state)
{
	struct fixture f;

	setup(&f);
	send(&f, 1, 0, 100);
	EXPECT_COUNT(&f, rx_no_receive, 1);
	/* a receive without room even for the GRH; it stays for a datagram that fits */
	post_recv(&f, 10, 0, 39);
	send(&f, 2, 0, 0);
	EXPECT_COUNT(&f, rx_no_receive, 2);
	done(&f);

	setup(&f);
	post_recv(&f, 10, 0, GRH + 99);
	send(&f, 1, 0, 100);
	EXPECT_COUNT(&f, rx_no_receive, 1);
	t_mr_expect(&f.r, 0, 1000, 2, 0);
	send(&f, 2, 0, 99);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	EXPECT_COUNT(&f, rx_no_receive, 1);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

static void nobody(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.ud.av.dlid = htole16(99);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(t_stats(&f.p.h[0]).tx_discards, 1);
	wr = wr_to(&f, VHCA_OP_SEND, 2, 0, 100);
	wr.ud.dqpn = htole32(0x1234);
	t_send(&f.p.qp[0], &wr);
	EXPECT_COUNT(&f, rx_no_qp, 1);
	/* a QP that has not come to RTR, and one in error */
	assert_int_equal(t_to(&f.p.qp[1], T_RESET), VHCA_ST_OK);
	wr = wr_to(&f, VHCA_OP_SEND, 3, 0, 100);
	t_send(&f.p.qp[0], &wr);
	EXPECT_COUNT(&f, rx_no_qp, 2);
	assert_int_equal(t_to(&f.p.qp[1], T_ERR), VHCA_ST_OK);
	t_send(&f.p.qp[0], &wr);
	EXPECT_COUNT(&f, rx_no_qp, 3);
	done(&f);
}

/* A datagram for a connected QP, and the other way round. */
static void other_services(void **state)
{
	struct fixture f;
	struct tqp rc[2];
	struct twr wr;

	setup(&f);
	for (u32 i = 0; i < 2; i++) {
		f.p.h[i].qp_type = VHCA_QPT_RC;
		t_qp_init(&f.p.h[i], &rc[i], &f.p.cq[i], &f.p.cq[i]);
	}
	t_connect(&rc[0], &rc[1], 3, 1, 1);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.ud = t_ud_to(&rc[1], QKEY);
	t_send(&f.p.qp[0], &wr);
	EXPECT_COUNT(&f, rx_no_qp, 1);
	assert_int_equal(t_state(&rc[1]), T_RTS);
	done(&f);
}

/* The receive's own memory fails: that is reported, and the QP fails. */
static void bad_receive(void **state)
{
	struct fixture f;
	struct vhca_sge s;

	for (u32 grh = 0; grh < 3; grh++) {
		struct twr wr;

		setup(&f);
		s = t_sge(&f.r, 0, 5000);
		s.lkey ^= grh < 2;
		t_recv(&f.p.qp[1], 10, 1, &s);
		if (grh == 2)
			f.p.qp[1].rq[offsetof(struct vhca_rwqe, rsvd)] = 1;
		post_recv(&f, 11, 0, 5000);
		wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
		wr.ud.av.grh = grh;
		wr.ud.av.grh &= 1;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[1], 10, grh == 2 ? VHCA_CS_LOC_QP_OP_ERR :
			     VHCA_CS_LOC_PROT_ERR);
		t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_WR_FLUSH_ERR);
		assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
		done(&f);
	}
}

/* A QP that goes to the error state before it was ready for anything has no port yet. */
static void never_ready(void **state)
{
	for (u32 init = 0; init < 2; init++) {
		struct vhca_qp_attr a;
		struct fixture f;
		struct tqp qp;
		struct twr wr;

		setup(&f);
		f.p.h[0].qp_type = VHCA_QPT_UD;
		t_qp_init(&f.p.h[0], &qp, &f.p.cq[0], &f.p.cq[0]);
		t_attr_init(&a, 1);
		a.state = T_INIT;
		a.qkey = htole32(QKEY);
		if (init)
			assert_int_equal(t_modify(&qp, &a, t_mask(VHCA_QPT_UD, T_INIT)),
					 VHCA_ST_OK);
		assert_int_equal(t_to(&qp, T_ERR), VHCA_ST_OK);
		wr = wr_to(&f, VHCA_OP_SEND, 7, 0, 64);
		t_send(&qp, &wr);
		t_expect_cqe(&f.p.cq[0], 7, VHCA_CS_WR_FLUSH_ERR);
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_runs),
		cmocka_unit_test(as_packets),
		cmocka_unit_test(last_words),
		cmocka_unit_test(endless_words),
		cmocka_unit_test(pieces),
		cmocka_unit_test(grh),
		cmocka_unit_test(on_the_wire),
		cmocka_unit_test(loopback),
		cmocka_unit_test(own_fault),
		cmocka_unit_test(doubled),
		cmocka_unit_test(solicited),
		cmocka_unit_test(wrong_qkey),
		cmocka_unit_test(wrong_pkey),
		cmocka_unit_test(no_receive),
		cmocka_unit_test(nobody),
		cmocka_unit_test(other_services),
		cmocka_unit_test(bad_receive),
		cmocka_unit_test(never_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
