// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC and the path of its packets: GRH, partitions, addresses, path MTU, READ
 * depth, credits, acknowledgment coalescing.
 */
#include <string.h>

#include "fabric/internal.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static void setup(struct fixture *f)
{
	t_pair_init(&f->p, 3, 100, 200);
	t_mr_init(&f->p.h[0], &f->l, 0, 100000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 0, 100000, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

static void to_reset(struct tqp *qp)
{
	assert_int_equal(t_to(qp, T_RESET), 0);
	qp->sq_prod = 0;
	qp->rq_prod = 0;
	t_set_rec(qp->h, qp->slot, 0);
	t_set_rec(qp->h, qp->slot + 1, 0);
}

/* Connects again, with changed RTR attributes on one side. */
static void reconnect(struct fixture *f, u32 side, void (*change)(struct vhca_qp_attr *a))
{
	for (u32 i = 0; i < 2; i++)
		to_reset(&f->p.qp[i]);
	for (u32 i = 0; i < 2; i++) {
		struct vhca_qp_attr a;

		t_attr_init(&a, 1);
		assert_int_equal(t_modify(&f->p.qp[i], &a, T_MASK_INIT), 0);
		t_attr_rtr(&a, 2 - i, f->p.qp[!i].qpn, i ? 100 : 200, 3);
		if (side == i || side == 2)
			change(&a);
		assert_int_equal(t_modify(&f->p.qp[i], &a, T_MASK_RTR), 0);
		t_attr_rts(&a, i ? 200 : 100);
		a.retry_cnt = 1;
		assert_int_equal(t_modify(&f->p.qp[i], &a, T_MASK_RTS), 0);
	}
}

static void write_and_settle(struct fixture *f, u8 status)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f->l, 0, 3000, &f->r, 0);

	t_send(&f->p.qp[0], &wr);
	t_settle(&f->p.w, 10000000000);
	t_expect_cqe(&f->p.cq[0], 1, status);
	t_mr_expect(&f->r, 0, 3000, status ? 2 : 1, 0);
}

/* ------------------------------------------------------------------------ */

struct seen {
	u32 packets, with_grh, acks, naks, credits, msn;
	u8 tclass, hop;
	u32 flow;
};

static void look(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	struct seen *s = arg;

	s->packets++;
	s->with_grh += h->grh;
	if (h->grh) {
		s->tclass = h->tclass;
		s->hop = h->hop_limit;
		s->flow = h->flow_label;
		assert_memory_equal(h->sgid, from->ib.gid[0], 16);
	}
	if (h->opcode == OP_RC_ACK) {
		if ((h->syndrome & AETH_TYPE_MASK) == AETH_ACK)
			s->acks++;
		else
			s->naks++;
		s->credits = h->syndrome & AETH_VALUE_MASK;
		s->msn = h->msn;
	}
}

static u8 guid_byte;

static void with_grh(struct vhca_qp_attr *a)
{
	static const u8 prefix[8] = { 0xfe, 0x80 };

	a->av.grh = 1;
	memcpy(a->av.dgid, prefix, 8);
	a->av.dgid[9] = 2;
	a->av.dgid[10] = 0xc9;
	a->av.dgid[11] = 3;
	a->av.dgid[14] = le16toh(a->av.dlid) - 1;
	a->av.dgid[15] = guid_byte;
	a->av.hop_limit = 9;
	a->av.traffic_class = 0x42;
	a->av.flow_label = htole32(0x12345);
}

static void grh(void **state)
{
	struct seen s = { 0 };
	struct fixture f;

	setup(&f);
	guid_byte = 1;
	reconnect(&f, 2, with_grh);
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, look, &s), 0);
	write_and_settle(&f, VHCA_CS_SUCCESS);
	assert_int_equal(s.packets, 4);
	assert_int_equal(s.with_grh, 4);
	assert_int_equal(s.tclass, 0x42);
	assert_int_equal(s.hop, 9);
	assert_int_equal(s.flow, 0x12345);
	/* a GID that is not the peer's */
	guid_byte = 7;
	reconnect(&f, 2, with_grh);
	t_mr_fill(&f.r, 2);
	write_and_settle(&f, VHCA_CS_RETRY_EXC_ERR);
	done(&f);
}

static void wrong_lid(struct vhca_qp_attr *a)
{
	a->av.dlid ^= htole16(3);
}

static void nobody(struct vhca_qp_attr *a)
{
	a->av.dlid = htole16(77);
}

static void wrong_qpn(struct vhca_qp_attr *a)
{
	a->dest_qpn = htole32(le32toh(a->dest_qpn) + (1u << 17));
}

static void not_connected_so(void **state)
{
	struct fixture f;

	setup(&f);
	/* the receiver is connected to another peer */
	reconnect(&f, 1, wrong_lid);
	write_and_settle(&f, VHCA_CS_RETRY_EXC_ERR);
	reconnect(&f, 0, nobody);
	write_and_settle(&f, VHCA_CS_RETRY_EXC_ERR);
	/* an older generation of the number */
	reconnect(&f, 0, wrong_qpn);
	write_and_settle(&f, VHCA_CS_RETRY_EXC_ERR);
	done(&f);
}

static void same(struct vhca_qp_attr *a)
{
}

static void partitions(void **state)
{
	static const struct {
		u16 a, b;
		bool ok;
	} c[] = {
		{ 0xffff, 0xffff, true }, { 0x7fff, 0xffff, true }, { 0xffff, 0x7fff, true },
		{ 0x7fff, 0x7fff, false }, { 0x8001, 0xffff, false }, { 0x8001, 0x0001, true },
		{ 0x8001, 0x8002, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct fixture f;

		setup(&f);
		f.p.w.fabric->ports[0]->ib.pkey[0] = c[i].a;
		f.p.w.fabric->ports[1]->ib.pkey[0] = c[i].b;
		reconnect(&f, 2, same);
		write_and_settle(&f, c[i].ok ? VHCA_CS_SUCCESS : VHCA_CS_RETRY_EXC_ERR);
		done(&f);
	}
}

static void smaller_mtu(struct vhca_qp_attr *a)
{
	a->path_mtu = 2;
}

/* Path MTUs that differ: messages of more than one packet are refused. */
static void mtu_mismatch(void **state)
{
	struct fixture f;
	struct twr wr;

	for (u32 side = 0; side < 2; side++) {
		setup(&f);
		reconnect(&f, side, smaller_mtu);
		wr = t_wr(VHCA_OP_WRITE, 5, &f.l, 0, 512, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 5, VHCA_CS_SUCCESS);
		t_mr_fill(&f.r, 2);
		write_and_settle(&f, VHCA_CS_REM_INV_REQ_ERR);
		t_expect_event(&f.p.h[1], VHCA_EV_QP_REQ_ERR, f.p.qp[1].qpn);
		done(&f);
	}
}

static void no_reads(struct vhca_qp_attr *a)
{
	a->max_dest_rd_atomic = 0;
}

static void one_read(struct vhca_qp_attr *a)
{
	a->max_dest_rd_atomic = 1;
}

/* More READs than the responder has resources for; none at all. */
static void read_depth(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	reconnect(&f, 1, one_read);
	for (u32 i = 0; i < 4; i++) {
		wr = t_wr(VHCA_OP_READ, i, &f.l, 0, 50000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 0, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_INV_REQ_ERR);
	done(&f);

	setup(&f);
	reconnect(&f, 1, no_reads);
	wr.wr_id = 1;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_INV_REQ_ERR);
	done(&f);
}

/* A packet from the peer that the peer's device did not make. */
static void inject(struct fixture *f, u8 opcode, u32 psn, u32 len, u64 va, u32 dmalen)
{
	static const u8 data[4096];
	struct wire_hdr h = {
		.dlid = 2, .slid = 1, .pkey = 0xffff, .mig = true, .opcode = opcode, .psn = psn,
		.dqpn = f->p.qp[1].qpn, .va = va, .rkey = f->r.key, .dmalen = dmalen,
	};
	struct payload pl;
	struct run run;

	run_from_packet(&run, &pl, &h, data, len);
	fab_send(f->p.w.fabric->ports[0], &run);
	t_poll(&f->p.w);
}

/* Packets at a wrong place in a message, of a wrong size, with wrong total lengths. */
static void out_of_place(void **state)
{
	static const struct {
		struct {
			u8 op;
			u32 len, dmalen;
		} p[2];
	} c[] = {
		{ { { OP_RC_SEND_MIDDLE, 1024, 0 } } },
		{ { { OP_RC_SEND_LAST, 10, 0 } } },
		{ { { OP_RC_WRITE_MIDDLE, 1024, 0 } } },
		{ { { OP_RC_WRITE_LAST_IMM, 10, 0 } } },
		{ { { OP_RC_SEND_FIRST, 1023, 0 } } },
		{ { { OP_RC_SEND_FIRST, 1025, 0 } } },
		{ { { OP_RC_SEND_ONLY, 1025, 0 } } },
		{ { { OP_RC_WRITE_ONLY, 100, 99 } } },
		{ { { OP_RC_WRITE_ONLY, 100, 101 } } },
		{ { { OP_RC_WRITE_ONLY, 100, 0x80000001 } } },
		{ { { OP_RC_WRITE_FIRST, 1024, 1000 } } },
		{ { { OP_RC_READ_REQ, 0, 0x80000001 } } },
		{ { { OP_RC_SEND_FIRST, 1024, 0 }, { OP_RC_WRITE_MIDDLE, 1024, 0 } } },
		{ { { OP_RC_SEND_FIRST, 1024, 0 }, { OP_RC_SEND_FIRST, 1024, 0 } } },
		{ { { OP_RC_SEND_FIRST, 1024, 0 }, { OP_RC_SEND_ONLY, 10, 0 } } },
		{ { { OP_RC_SEND_FIRST, 1024, 0 }, { OP_RC_READ_REQ, 0, 10 } } },
		{ { { OP_RC_SEND_FIRST, 1024, 0 }, { OP_RC_SEND_MIDDLE, 10, 0 } } },
		{ { { OP_RC_WRITE_FIRST, 1024, 2000 }, { OP_RC_SEND_LAST, 976, 0 } } },
		{ { { OP_RC_WRITE_FIRST, 1024, 2000 }, { OP_RC_WRITE_LAST, 975, 0 } } },
		{ { { OP_RC_WRITE_FIRST, 1024, 2000 }, { OP_RC_WRITE_LAST, 977, 0 } } },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct seen s = { 0 };
		struct vhca_sge sge;
		struct fixture f;
		bool taken;

		setup(&f);
		sge = t_sge(&f.r, 50000, 5000);
		t_recv(&f.p.qp[1], 9, 1, &sge);
		fab_set_packet_hook(f.p.w.fabric, look, &s);
		inject(&f, c[i].p[0].op, 100, c[i].p[0].len, 0, c[i].p[0].dmalen);
		if (c[i].p[1].op || c[i].p[1].len) {
			assert_int_equal(s.naks, 0);
			inject(&f, c[i].p[1].op, 101, c[i].p[1].len, 0, c[i].p[1].dmalen);
		}
		if (s.naks != 1)
			fail_msg("case %u: %u NAKs", i, s.naks);
		assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
		taken = (c[i].p[1].op || c[i].p[1].len) && c[i].p[0].op == OP_RC_SEND_FIRST;
		t_expect_cqe(&f.p.cq[1], 9, taken ? VHCA_CS_REM_INV_REQ_ERR :
			     VHCA_CS_WR_FLUSH_ERR);
		if (taken)
			t_expect_no_event(&f.p.h[1]);
		else
			t_expect_event(&f.p.h[1], VHCA_EV_QP_REQ_ERR, f.p.qp[1].qpn);
		done(&f);
	}
}

/* A READ that was answered may be repeated, whole or its end; nothing else. */
static void read_again(void **state)
{
	static const struct {
		u32 psn;
		u64 va;
		u32 len;
		u32 answers;	/* packets */
	} c[] = {
		{ 100, 0, 3000, 3 }, { 101, 1024, 1976, 2 }, { 102, 2048, 952, 1 },
		{ 101, 1024, 10, 1 }, { 100, 1, 3000, 0 }, { 101, 0, 3000, 0 },
		{ 102, 2048, 953, 0 }, { 99, 0, 3000, 0 },
	};
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 3000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct seen s = { 0 };

		fab_set_packet_hook(f.p.w.fabric, look, &s);
		inject(&f, OP_RC_READ_REQ, c[i].psn, 0, c[i].va, c[i].len);
		assert_int_equal(s.packets, 1 + c[i].answers);
		/* as many bytes as were requested: LRH, BTH, AETH, CRCs, padding */
		if (c[i].answers == 1) {
			struct vdev_status a, b;

			vdev_status(f.p.h[1].dev, &a);
			inject(&f, OP_RC_READ_REQ, c[i].psn, 0, c[i].va, c[i].len);
			vdev_status(f.p.h[1].dev, &b);
			assert_int_equal(b.port[0].stats.tx_bytes - a.port[0].stats.tx_bytes,
					 8 + 12 + 4 + 4 + 2 + (c[i].len + 3) / 4 * 4);
		}
	}
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

/*
 * A repeated request is acknowledged also while a NAK is pending: the sender may
 * not be able to go on to what the NAK asks for before it gets that.
 */
static void duplicate_behind_nak(void **state)
{
	struct seen s = { 0 };
	struct fixture f;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, look, &s);
	inject(&f, OP_RC_WRITE_ONLY, 100, 0, 0, 0);
	inject(&f, OP_RC_WRITE_ONLY, 105, 0, 0, 0);
	assert_int_equal(s.naks, 1);
	inject(&f, OP_RC_WRITE_ONLY, 106, 0, 0, 0);
	assert_int_equal(s.naks, 1);
	assert_int_equal(s.acks, 0);
	inject(&f, OP_RC_WRITE_ONLY, 100, 0, 0, 0);
	assert_int_equal(s.acks, 1);
	done(&f);
}

/*
 * An answer to the last of these that comes while the sender waits because of an older RNR NAK: it
 * acknowledges those before it, also entries without a PSN, and ends the wait.
 */
static void answered_while_waiting(u8 syndrome, u8 status)
{
	struct wire_hdr h = {
		.dlid = 1, .slid = 2, .pkey = 0xffff, .mig = true, .opcode = OP_RC_ACK,
		.syndrome = syndrome,
	};
	struct fixture f;
	struct payload pl;
	struct run run;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 10, NULL, 0);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_NOP, 2, NULL, 0, 0, NULL, 0);
	t_post(&f.p.qp[0], &wr);
	wr.wr_id = 3;
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_SEND, 4, &f.l, 0, 10, NULL, 0);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_NOP, 5, NULL, 0, 0, NULL, 0);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_expect_no_cqe(&f.p.cq[0]);
	h.dqpn = f.p.qp[0].qpn;
	h.psn = 101;
	run_from_packet(&run, &pl, &h, NULL, 0);
	fab_send(f.p.w.fabric->ports[1], &run);
	for (u32 id = 1; id <= 3; id++)
		t_expect_cqe(&f.p.cq[0], id, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 4, status);
	t_expect_cqe(&f.p.cq[0], 5, status ? VHCA_CS_WR_FLUSH_ERR : VHCA_CS_SUCCESS);
	assert_true(f.p.w.next == ENGINE_NEVER);
	done(&f);
}

static void acknowledged_while_waiting(void **state)
{
	answered_while_waiting(AETH_ACK | AETH_CREDIT_INVALID, VHCA_CS_SUCCESS);
}

static void refused_while_waiting(void **state)
{
	answered_while_waiting(AETH_NAK | NAK_REMOTE_ACCESS, VHCA_CS_REM_ACCESS_ERR);
}

/* The requester's reaction to an answer with each possible syndrome, reserved ones included. */
static void every_syndrome(void **state)
{
	static const u8 nak_status[] = {
		[NAK_PSN_SEQUENCE] = VHCA_CS_SUCCESS,	/* it is sent again, and arrives */
		[NAK_INVALID_REQUEST] = VHCA_CS_REM_INV_REQ_ERR,
		[NAK_REMOTE_ACCESS] = VHCA_CS_REM_ACCESS_ERR,
		[NAK_REMOTE_OPERATIONAL] = VHCA_CS_REM_OP_ERR,
	};

	for (u32 syndrome = 0; syndrome < 128; syndrome++) {
		struct tnth lost = { .all = true };
		struct wire_hdr h = {
			.dlid = 1, .slid = 2, .pkey = 0xffff, .mig = true, .opcode = OP_RC_ACK,
			.psn = 100, .syndrome = syndrome,
		};
		u32 type = syndrome & AETH_TYPE_MASK, code = syndrome & AETH_VALUE_MASK;
		u8 status = code < ARRAY_SIZE(nak_status) ? nak_status[code] : VHCA_CS_BAD_RESP_ERR;
		struct fixture f;
		struct payload pl;
		struct run run;
		struct twr wr;

		setup(&f);
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &lost);
		wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 10, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
		h.dqpn = f.p.qp[0].qpn;
		run_from_packet(&run, &pl, &h, NULL, 0);
		fab_send(f.p.w.fabric->ports[1], &run);
		if (type == AETH_RNR_NAK) {
			t_expect_no_cqe(&f.p.cq[0]);
			assert_true(t_advance(&f.p.w));
			status = VHCA_CS_SUCCESS;
		}
		if (type == AETH_ACK)
			status = VHCA_CS_SUCCESS;
		/* the fourth type is reserved */
		if (type == 0x40)
			t_expect_no_cqe(&f.p.cq[0]);
		else
			t_expect_cqe(&f.p.cq[0], 1, status);
		assert_int_equal(t_state(&f.p.qp[0]),
				 type == 0x40 || !status ? T_RTS : T_ERR);
		done(&f);
	}
}

/* A resent run whose first packets have arrived before: only its end is executed. */
struct first_n {
	u32 n, seen;
};

static void let_first_n(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	struct first_n *l = arg;

	if (l->seen++ >= l->n)
		v->copies = 0;
}

static void half_of_a_run(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_SEND };

	for (u32 n = 0; n < 20; n++) {
		struct first_n l = { .n = n / 2 };
		struct vhca_sge sge;
		struct fixture f;
		struct twr wr;

		setup(&f);
		sge = t_sge(&f.r, 0, 10000);
		t_recv(&f.p.qp[1], 7, 1, &sge);
		fab_set_packet_hook(f.p.w.fabric, let_first_n, &l);
		wr = t_wr(ops[n % 2], 1, &f.l, 0, 9000, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_expect_no_cqe(&f.p.cq[0]);
		fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
		assert_true(t_advance(&f.p.w));
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		if (n % 2)
			assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 7, 0).byte_len), 9000);
		t_mr_expect(&f.r, 0, 9000, 1, 0);
		done(&f);
	}
}

/* Changes the answers to READs to another length. */
struct forger {
	struct fabric *f;
	u32 opcode, len;
	bool busy;
};

static void forge(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		  struct fab_effect *v)
{
	static const u8 data[2048];
	struct forger *g = arg;
	struct wire_hdr fake = *h;
	struct payload pl;
	struct run run;

	if (g->busy || wire_op(h->opcode)->kind != WIRE_READ_RESP)
		return;
	v->copies = 0;
	fake.opcode = g->opcode;
	g->busy = true;
	run_from_packet(&run, &pl, &fake, data, g->len);
	fab_send(g->f->ports[1], &run);
	g->busy = false;
}

/* An answer that is not what was asked for. */
static void read_lengths(void **state)
{
	static const struct {
		u32 ask, opcode, len;
	} c[] = {
		{ 100, OP_RC_READ_RESP_ONLY, 99 }, { 100, OP_RC_READ_RESP_ONLY, 101 },
		{ 100, OP_RC_READ_RESP_ONLY, 0 }, { 0, OP_RC_READ_RESP_ONLY, 4 },
		{ 3000, OP_RC_READ_RESP_FIRST, 1023 }, { 3000, OP_RC_READ_RESP_FIRST, 2048 },
		{ 100, OP_RC_READ_RESP_FIRST, 100 }, { 100, OP_RC_READ_RESP_MIDDLE, 100 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct forger g = { .opcode = c[i].opcode, .len = c[i].len };
		struct fixture f;
		struct twr wr;

		setup(&f);
		g.f = f.p.w.fabric;
		fab_set_packet_hook(f.p.w.fabric, forge, &g);
		wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, c[i].ask, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_BAD_RESP_ERR);
		done(&f);
	}
}

/* Messages posted together are acknowledged together. */
static void coalescing(void **state)
{
	struct seen s = { 0 };
	struct fixture f;
	struct twr wr;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, look, &s);
	for (u32 i = 0; i < 30; i++) {
		wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 100, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	for (u32 i = 0; i < 30; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	assert_int_equal(s.packets - s.acks, 30);
	assert_true(s.acks <= 2);
	assert_int_equal(s.msn, 30);
	/* the answer to a READ acknowledges what came before it */
	s = (struct seen){ 0 };
	wr = t_wr(VHCA_OP_WRITE, 40, &f.l, 0, 100, &f.r, 0);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_READ, 41, &f.l, 0, 100, &f.r, 0);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 40, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 41, VHCA_CS_SUCCESS);
	assert_int_equal(s.packets, 3);
	assert_int_equal(s.acks, 0);
	done(&f);
}

/*
 * Credits: the acknowledgment carries the number of receives; a sender without credit
 * probes with one packet, never with the rest of a long message.
 */
static void credits(void **state)
{
	struct seen s = { 0 };
	struct fixture f;
	struct vhca_sge sge;
	struct twr wr;
	u32 before;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, look, &s);
	sge = t_sge(&f.r, 0, 50000);
	for (u32 i = 0; i < 7; i++)
		t_recv(&f.p.qp[1], i, 1, &sge);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 10, NULL, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(s.credits, 5);		/* code 5: 6 receives */
	for (u32 i = 0; i < 6; i++) {
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	}
	assert_int_equal(s.credits, 0);
	assert_int_equal(s.msn, 7);
	before = s.packets;
	wr = t_wr(VHCA_OP_SEND, 2, &f.l, 0, 50000, NULL, 0);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(s.packets - before, 2);	/* the probe and its RNR NAK */
	assert_int_equal(s.naks, 1);
	t_recv(&f.p.qp[1], 7, 1, &sge);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	assert_int_equal(s.naks, 1);
	t_mr_expect(&f.r, 0, 50000, 1, 0);
	/* WRITEs need no credit */
	before = s.packets;
	wr = t_wr(VHCA_OP_WRITE, 3, &f.l, 0, 50000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_SUCCESS);
	assert_int_equal(s.packets - before, 49 + 1);
	done(&f);
}

/* Without the capability no RNR NAK is sent: the packet counts as lost. */
static void no_rnr_nak(void **state)
{
	const struct vdev_config cfg = {
		.name = "n", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_RNR_NAK,
	};
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	struct seen s = { 0 };

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	t_cq_init(&h, &cq, 4, 0);
	t_qp_init(&h, &qp, &cq, &cq);
	t_connect(&qp, &qp, 3, 1, 1);
	fab_set_packet_hook(w.fabric, look, &s);
	t_send(&qp, &wr);
	t_settle(&w, 10000000000);
	t_expect_cqe(&cq, 1, VHCA_CS_RETRY_EXC_ERR);
	assert_int_equal(s.packets, 8);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grh),
		cmocka_unit_test(not_connected_so),
		cmocka_unit_test(partitions),
		cmocka_unit_test(mtu_mismatch),
		cmocka_unit_test(read_depth),
		cmocka_unit_test(out_of_place),
		cmocka_unit_test(duplicate_behind_nak),
		cmocka_unit_test(acknowledged_while_waiting),
		cmocka_unit_test(refused_while_waiting),
		cmocka_unit_test(every_syndrome),
		cmocka_unit_test(read_again),
		cmocka_unit_test(half_of_a_run),
		cmocka_unit_test(read_lengths),
		cmocka_unit_test(coalescing),
		cmocka_unit_test(credits),
		cmocka_unit_test(no_rnr_nak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
