// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: what arrives, what the completion says of it, who is refused and
 * what is counted, and what a failed send does to its queue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "fabric/internal.h"
#include "tests/tcheck.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define QKEY	0x11223344u
#define GRH	40u

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static void setup(struct fixture *f)
{
	t_pair_init_ud(&f->p, QKEY);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, 220000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, 220000, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

static void post_recv(struct fixture *f, u64 wr_id, u32 off, u32 len)
{
	struct vhca_sge s = t_sge(&f->r, off, len);

	t_recv(&f->p.qp[1], wr_id, 1, &s);
}

static struct twr wr_to(struct fixture *f, u8 op, u64 wr_id, u32 off, u32 len)
{
	struct twr wr = t_wr(op, wr_id, &f->l, off, len, NULL, 0);

	wr.ud = t_ud_to(&f->p.qp[1], QKEY);
	return wr;
}

static void send(struct fixture *f, u64 wr_id, u32 off, u32 len)
{
	struct twr wr = wr_to(f, VHCA_OP_SEND, wr_id, off, len);

	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], wr_id, VHCA_CS_SUCCESS);
}

/* ---- what arrives ---- */

static void sizes(bool packets)
{
	static const u32 len[] = { 0, 1, 3, 64, 255, 1023, 1024, 4095, 4096 };
	struct tnth none = { .victim = -1 };
	struct fixture f;
	struct vhca_cqe e;
	struct twr wr;

	setup(&f);
	if (packets)
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_judge, &none), 0);
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
		/* without a GRH its place is as it was */
		t_mr_expect(&f.r, 0, 5 + GRH, 2, 0);
		t_mr_expect(&f.r, 5 + GRH, len[i], 1, 77);
		t_mr_expect(&f.r, 5 + GRH + len[i], 100, 2, 5 + GRH + len[i]);
	}
	assert_int_equal(t_stats(&f.p.h[0]).rx_packets, 0);
	done(&f);
}

static void as_runs(void **state) { sizes(false); }
static void as_packets(void **state) { sizes(true); }

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

/* The GRH as it stands on the wire, and the fields that come of the address. */
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
		/* every datagram has its number, though nobody looks at it */
		assert_int_equal(h.psn, (0xfffffe + i) & PSN_MASK);
		assert_int_equal(h.dqpn, f.p.qp[1].qpn);
		assert_int_equal(h.sqpn, f.p.qp[0].qpn);
		assert_int_equal(h.qkey, QKEY);
		assert_int_equal(h.pkey, 0xffff);
	}
	/* the privileged bit asks for the QP's own Q_Key */
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

/* To itself with a receive that fails: the QP is in error before its send is done. */
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
	fab_set_packet_hook(f.p.w.fabric, t_nth_judge, &n);
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

/* ---- what does not arrive ---- */

#define EXPECT_COUNT(f, member, n) do {						\
	assert_int_equal(t_stats(&(f)->p.h[1]).member, n);			\
	t_expect_no_cqe(&(f)->p.cq[1]);						\
} while (0)

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
	/* one that has not even room for the GRH; it stays for who fits */
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

/* The receive's own memory fails: that is told, and the end. */
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

/* ---- what is not sent ---- */

/* Fails with a status: the queue stops there, and can be started again. */
static void refused(struct fixture *f, const struct twr *bad, u8 status)
{
	struct twr next = wr_to(f, VHCA_OP_SEND, 10, 0, 100);
	u64 sent = t_stats(&f->p.h[0]).tx_packets;

	t_post(&f->p.qp[0], bad);
	t_post(&f->p.qp[0], &next);
	t_ring_sq(&f->p.qp[0]);
	t_expect_cqe(&f->p.cq[0], bad->wr_id, status);
	t_expect_cqe(&f->p.cq[0], 10, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f->p.cq[0]);
	assert_int_equal(t_stats(&f->p.h[0]).tx_packets, sent);
	assert_int_equal(t_state(&f->p.qp[0]), T_SQE);
	t_expect_no_event(&f->p.h[0]);
	assert_int_equal(t_to(&f->p.qp[0], T_RTS), VHCA_ST_OK);
	send(f, 11, 0, 100);
}

static void bad_addresses(void **state)
{
	struct fixture f;
	struct twr good, wr;

	setup(&f);
	good = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
#define BAD(field, value) do {							\
	wr = good;								\
	wr.ud.field = value;							\
	refused(&f, &wr, VHCA_CS_LOC_QP_OP_ERR);				\
} while (0)
	BAD(rsvd, htole32(1));
	BAD(dqpn, htole32(1u << 24));
	BAD(av.port, 0);
	BAD(av.port, 2);
	BAD(av.dlid, 0);
	BAD(av.dlid, 0xffff);
	BAD(av.sl, 16);
	BAD(av.src_path_bits, 1);
	BAD(av.static_rate, 32);
	BAD(av.grh, 2);
	good.ud.av.grh = 1;
	BAD(av.sgid_index, PORT_GIDS);
	BAD(av.flow_label, htole32(0x100000));
#undef BAD
	/* without a GRH nobody looks at what it would be made of */
	wr = good;
	wr.wr_id = 5;
	wr.ud.av.grh = 0;
	wr.ud.av.sgid_index = 0xff;
	wr.ud.av.flow_label = ~0u;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 5, VHCA_CS_SUCCESS);
	done(&f);
}

static void bad_requests(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_WRITE_IMM, VHCA_OP_READ, 0x77 };
	struct fixture f;
	struct twr wr;

	setup(&f);
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		wr = wr_to(&f, ops[i], 1, 0, 100);
		refused(&f, &wr, VHCA_CS_LOC_QP_OP_ERR);
	}
	/* one byte more than a packet takes */
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 4097);
	refused(&f, &wr, VHCA_CS_LOC_LEN_ERR);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.sge[0].lkey ^= 1;
	refused(&f, &wr, VHCA_CS_LOC_PROT_ERR);
	wr = wr_to(&f, VHCA_OP_NOP, 2, 0, 0);
	wr.nsge = 0;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	done(&f);
}

/* An entry without room for its address. */
static void short_entry(void **state)
{
	struct fixture f;
	struct vhca_wqe_ctrl *c;
	struct twr wr;

	setup(&f);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.nsge = 0;
	t_post(&f.p.qp[0], &wr);
	c = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
	assert_int_equal(c->nblk, 2);
	c->nblk = 1;
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_state(&f.p.qp[0]), T_SQE);
	done(&f);
}

/* Its port's MTU bounds a datagram, inline or not. */
static void port_mtu(void **state)
{
	const struct vdev_config cfg = { .name = "m", .ports = 1, .vectors = 4, .max_mtu = 1 };
	static const u8 data[257];
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	h.qp_type = VHCA_QPT_UD;
	t_cq_init(&h, &cq, 4, 0);
	t_qp_init(&h, &qp, &cq, &cq);
	t_ud_up(&qp, QKEY);
	for (u32 len = 256; len <= 257; len++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = len, .flags = VHCA_WQE_INLINE,
				  .data = data, .data_len = len, .ud = t_ud_to(&qp, QKEY) };

		t_send(&qp, &wr);
		t_expect_cqe(&cq, len, len == 256 ? VHCA_CS_SUCCESS : VHCA_CS_LOC_LEN_ERR);
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* The sender's memory is not there: no datagram, and the receive still is. */
static void sender_gone(void **state)
{
	struct vhca_create_mkey_req req = {
		.type = VHCA_MKEY_PHYSICAL, .access = htole32(VHCA_ACCESS_LOCAL_WRITE),
	};
	struct fixture f;
	struct twr wr;

	setup(&f);
	req.pdn = htole32(f.p.h[0].pd);
	post_recv(&f, 10, 0, 1000);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.sge[0].addr = 0x10000;
	wr.sge[0].lkey = t_create(&f.p.h[0], VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	assert_int_equal(t_state(&f.p.qp[0]), T_SQE);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	send(&f, 2, 0, 100);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	done(&f);
}

/* ---- states ---- */

static void drain_and_flush(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	t_expect_event(&f.p.h[0], VHCA_EV_SQ_DRAINED, f.p.qp[0].qpn);
	/* who does not ask again is not told again */
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	t_expect_no_event(&f.p.h[0]);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	t_send(&f.p.qp[0], &wr);
	t_expect_no_cqe(&f.p.cq[0]);
	/* nothing is sent, but everything received */
	s = t_sge(&f.l, 1000, 1000);
	t_recv(&f.p.qp[0], 20, 1, &s);
	t_recv(&f.p.qp[0], 21, 1, &s);
	wr = t_wr(VHCA_OP_SEND, 50, &f.r, 0, 100, NULL, 0);
	wr.ud = t_ud_to(&f.p.qp[0], QKEY);
	t_send(&f.p.qp[1], &wr);
	t_expect_cqe(&f.p.cq[0], 20, VHCA_CS_SUCCESS);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(t_to(&f.p.qp[0], T_ERR), VHCA_ST_OK);
	wr = wr_to(&f, VHCA_OP_SEND, 2, 0, 100);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 21, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_WR_FLUSH_ERR);
	done(&f);
}

/* A receive that a datagram was too long for is flushed as the first of all. */
static void taken_is_flushed(void **state)
{
	struct fixture f;

	setup(&f);
	post_recv(&f, 10, 0, 100);
	post_recv(&f, 11, 0, 1000);
	send(&f, 1, 0, 100);
	assert_int_equal(t_to(&f.p.qp[1], T_ERR), VHCA_ST_OK);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	done(&f);
}

/* From a shared queue, whose domain is the one that counts. */
static void shared_receives(void **state)
{
	struct fixture f;
	struct tsrq srq;
	struct tqp qp[4];
	struct vhca_sge s;

	setup(&f);
	t_srq_init(&f.p.h[1], &srq, 4, 6);
	for (u32 i = 0; i < 4; i++) {
		t_qp_init_srq(&f.p.h[1], &qp[i], &f.p.cq[1], &f.p.cq[1], &srq);
		t_ud_up(&qp[i], QKEY);
		s = t_sge(&f.r, i * 1000, 1000);
		t_srq_recv(&srq, 10 + i, 1, &s);
	}
	for (u32 i = 0; i < 5; i++) {
		struct twr wr = wr_to(&f, VHCA_OP_SEND, i, 100 * i, 50);

		wr.ud = t_ud_to(&qp[i % 4], QKEY);
		t_send(&f.p.qp[0], &wr);
	}
	for (u32 i = 0; i < 4; i++) {
		struct vhca_cqe e = t_expect_cqe(&f.p.cq[1], 10 + i, VHCA_CS_SUCCESS);

		assert_int_equal(le32toh(e.qpn), qp[i].qpn);
		t_mr_expect(&f.r, i * 1000 + GRH, 50, 1, 100 * i);
	}
	EXPECT_COUNT(&f, rx_no_receive, 1);
	done(&f);
}

/* ---- captures ---- */

static void fill_capture(struct capture *c)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp ud, uc;
	struct tmr m;

	t_world_init(&w);
	fabric_set_capture(w.fabric, c);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 6, 0);
	t_mr_init(&h, &m, 0, 100000, RW, 1, 12);
	h.qp_type = VHCA_QPT_UD;
	t_qp_init(&h, &ud, &cq, &cq);
	t_ud_up(&ud, QKEY);
	h.qp_type = VHCA_QPT_UC;
	t_qp_init(&h, &uc, &cq, &cq);
	t_connect(&uc, &uc, 3, 7, 7);
	for (u32 i = 0; i < 20; i++) {
		struct twr wr = t_wr(i % 2 ? VHCA_OP_SEND_IMM : VHCA_OP_SEND, i, &m, 0, i * 100,
				     NULL, 0);

		wr.ud = t_ud_to(&ud, QKEY);
		wr.ud.av.grh = i / 2 % 2;
		t_send(&ud, &wr);
		t_expect_cqe(&cq, i, VHCA_CS_SUCCESS);
		wr = t_wr(i % 2 ? VHCA_OP_WRITE : VHCA_OP_SEND, i, &m, 0, i * 300, &m, 50000);
		t_send(&uc, &wr);
		t_expect_cqe(&cq, i, VHCA_CS_SUCCESS);
	}
	assert_int_equal(t_stats(&h).tx_packets, t_stats(&h).rx_packets);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void captures(void **state)
{
	char file[] = "/tmp/vhcad-test-XXXXXX";
	int fd = mkstemp(file);
	struct capture *c;

	assert_true(fd >= 0);
	close(fd);
	c = capture_open(file);
	assert_non_null(c);
	fill_capture(c);
	assert_int_equal(capture_close(c), 0);
	assert_int_equal(t_capcheck(file), 0);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_runs),
		cmocka_unit_test(as_packets),
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
		cmocka_unit_test(bad_addresses),
		cmocka_unit_test(bad_requests),
		cmocka_unit_test(short_entry),
		cmocka_unit_test(port_mtu),
		cmocka_unit_test(sender_gone),
		cmocka_unit_test(drain_and_flush),
		cmocka_unit_test(taken_is_flushed),
		cmocka_unit_test(shared_receives),
		cmocka_unit_test(captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
