// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable connections: messages arrive whole or not at all, without acknowledgments;
 * the messages that a lost packet affects, and those that it does not.
 */
#include <string.h>

#include "fabric/internal.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static void setup(struct fixture *f, u8 mtu)
{
	t_pair_init_uc(&f->p, mtu, 0xfffff0, 5);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, 220000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, 220000, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

/* In every test: nothing was acknowledged. */
static void done(struct fixture *f)
{
	struct vdev_status st;

	vdev_status(f->p.h[1].dev, &st);
	assert_int_equal(st.port[0].stats.tx_packets, 0);
	t_pair_fini(&f->p);
}

static void post_recv(struct fixture *f, u64 wr_id, u32 off, u32 len)
{
	struct vhca_sge s = t_sge(&f->r, off, len);

	t_recv(&f->p.qp[1], wr_id, 1, &s);
}

static void send(struct fixture *f, u8 op, u64 wr_id, u32 off, u32 len)
{
	struct twr wr = t_wr(op, wr_id, &f->l, off, len, op >= VHCA_OP_WRITE ? &f->r : NULL,
			     1000);

	wr.imm = htobe32(wr_id);
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], wr_id, VHCA_CS_SUCCESS);
}

/* ---- data ---- */

static void one(struct fixture *f, u8 op, u32 size, u64 id)
{
	bool imm = op == VHCA_OP_SEND_IMM || op == VHCA_OP_WRITE_IMM;
	bool write = op == VHCA_OP_WRITE || op == VHCA_OP_WRITE_IMM;
	struct vhca_cqe e;

	t_mr_fill(&f->l, id);
	t_mr_fill(&f->r, id + 1000);
	if (op != VHCA_OP_WRITE)
		post_recv(f, id + 5000, 1000, write ? 0 : size);
	send(f, op, id, 5, size);
	t_poll(&f->p.w);
	if (op != VHCA_OP_WRITE) {
		e = t_expect_cqe(&f->p.cq[1], id + 5000, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, write ? VHCA_CQE_RECV_WRITE_IMM : VHCA_CQE_RECV);
		assert_int_equal(e.flags, VHCA_CQE_F_RQ | (imm ? VHCA_CQE_F_IMM : 0));
		assert_int_equal(e.imm, imm ? htobe32(id) : 0);
		assert_int_equal(le32toh(e.byte_len), size);
		assert_int_equal(le32toh(e.src_qpn), f->p.qp[0].qpn);
		assert_int_equal(le32toh(e.wqe_index), f->p.qp[1].rq_prod);
	}
	t_expect_no_cqe(&f->p.cq[1]);
	assert_true(f->p.w.next == ENGINE_NEVER);
	t_mr_expect(&f->r, 0, 1000, id + 1000, 0);
	t_mr_expect(&f->r, 1000, size, id, 5);
	t_mr_expect(&f->r, 1000 + size, 500, id + 1000, 1000 + size);
}

static void every_op(u8 mtu, bool packets)
{
	static const u8 ops[] = { VHCA_OP_SEND, VHCA_OP_SEND_IMM, VHCA_OP_WRITE,
				  VHCA_OP_WRITE_IMM };
	static const u32 sizes[] = { 0, 1, 255, 256, 257, 1023, 4096, 4097, 65536, 65537, 200000 };
	struct tnth none = { .victim = -1 };
	struct fixture f;
	u64 id = 1;

	setup(&f, mtu);
	if (packets)
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &none), 0);
	for (u32 o = 0; o < ARRAY_SIZE(ops); o++)
		for (u32 s = 0; s < ARRAY_SIZE(sizes); s++)
			one(&f, ops[o], sizes[s], id++);
	done(&f);
}

static void mtu_256(void **state) { every_op(1, false); }
static void mtu_4096(void **state) { every_op(5, false); }
static void as_packets(void **state) { every_op(3, true); }

/* Opcodes and bits on the wire: no acknowledgment is requested. */
static void look(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	u8 **op = arg;

	assert_int_equal(h->opcode, *(*op)++);
	assert_false(h->ackreq);
	assert_int_equal(h->se, wire_op(h->opcode)->flags & WIRE_F_IMM);
}

static void on_the_wire(void **state)
{
	u8 ops[] = { OP_UC_SEND_FIRST, OP_UC_SEND_MIDDLE, OP_UC_SEND_LAST, OP_UC_SEND_ONLY,
		     OP_UC_WRITE_FIRST, OP_UC_WRITE_LAST, OP_UC_WRITE_ONLY, OP_UC_SEND_ONLY_IMM };
	struct fixture f;
	struct twr wr;
	u8 *at = ops;

	setup(&f, 3);
	for (u32 i = 0; i < 3; i++)
		post_recv(&f, i, 0, 5000);
	fab_set_packet_hook(f.p.w.fabric, look, &at);
	send(&f, VHCA_OP_SEND, 1, 0, 3000);
	send(&f, VHCA_OP_SEND, 2, 0, 1024);
	send(&f, VHCA_OP_WRITE, 3, 0, 2000);
	send(&f, VHCA_OP_WRITE, 4, 0, 0);
	ops[7] = OP_UC_SEND_ONLY_IMM;
	wr = t_wr(VHCA_OP_SEND_IMM, 5, &f.l, 0, 7, NULL, 0);
	wr.flags = VHCA_WQE_SOLICITED;
	fab_set_packet_hook(f.p.w.fabric, NULL, NULL);
	t_cq_arm(&f.p.cq[1], true);
	t_send(&f.p.qp[0], &wr);
	t_poll(&f.p.w);
	assert_int_equal(at - ops, 7);
	for (u32 i = 0; i < 2; i++)
		t_expect_cqe(&f.p.cq[1], i, VHCA_CS_SUCCESS);
	assert_int_equal(t_expect_cqe(&f.p.cq[1], 2, VHCA_CS_SUCCESS).flags,
			 VHCA_CQE_F_RQ | VHCA_CQE_F_IMM | VHCA_CQE_F_SOLICITED);
	done(&f);
}

/* No acknowledgment is waited for: far more packets than a window are sent at once. */
static void no_window(void **state)
{
	struct tnth slow = { .victim = -1, .all = true, .copies = 1, .delay = 1000000 };
	struct fixture f;

	setup(&f, 1);
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &slow), 0);
	for (u32 i = 0; i < 5; i++) {
		struct twr wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 200000, &f.r, 0);

		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	/* until the switch itself is full */
	for (u32 i = 0; i < 2; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(fab_room(f.p.w.fabric->ports[0]), 0);
	t_settle(&f.p.w, 100000000);
	for (u32 i = 2; i < 5; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 0, 200000, 1, 0);
	assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, 0);
	t_pair_fini(&f.p);
}

/* ---- losses ---- */

/*
 * Three messages of three packets each; one packet is lost.  Its message does
 * not arrive, the two others do, in receives in order.
 */
static void lose_each(void **state)
{
	for (s32 victim = 0; victim < 9; victim++) {
		struct tnth n = { .victim = victim };
		u32 lost = victim / 3, got = 0;
		struct fixture f;

		setup(&f, 3);
		for (u32 i = 0; i < 3; i++)
			post_recv(&f, 10 + i, i * 4000, 4000);
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
		for (u32 i = 0; i < 3; i++)
			send(&f, VHCA_OP_SEND_IMM, i, 10000 * i, 3000 + i);
		t_poll(&f.p.w);
		for (u32 i = 0; i < 3; i++) {
			struct vhca_cqe e;

			if (i == lost)
				continue;
			e = t_expect_cqe(&f.p.cq[1], 10 + got, VHCA_CS_SUCCESS);
			assert_int_equal(le32toh(e.byte_len), 3000 + i);
			assert_int_equal(e.imm, htobe32(i));
			t_mr_expect(&f.r, got * 4000, 3000 + i, 1, 10000 * i);
			got++;
		}
		t_expect_no_cqe(&f.p.cq[1]);
		/* the loss of the very last packet cannot be noticed yet */
		assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, victim != 8);
		if (victim == 8) {
			send(&f, VHCA_OP_SEND, 3, 0, 100);
			t_expect_cqe(&f.p.cq[1], 12, VHCA_CS_SUCCESS);
			assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, 1);
		}
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		done(&f);
	}
}

/* The end of one message and the start of the next are lost together. */
static void lose_across(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	u32 *n = arg;

	v->copies = *n < 2 || *n > 3;
	++*n;
}

static void gap_across_messages(void **state)
{
	struct fixture f;
	u32 n = 0;

	setup(&f, 3);
	for (u32 i = 0; i < 3; i++)
		post_recv(&f, 10 + i, i * 6000, 6000);
	fab_set_packet_hook(f.p.w.fabric, lose_across, &n);
	/* only the end of the second arrives: it must not end the first */
	for (u32 i = 0; i < 3; i++)
		send(&f, VHCA_OP_SEND, i, 10000 * i, 3000);
	t_poll(&f.p.w);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[1]);
	t_mr_expect(&f.r, 0, 3000, 1, 20000);
	assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, 1);
	done(&f);
}

/* An incomplete WRITE: no completion takes the receive that waits. */
static void lost_write(void **state)
{
	struct tnth n = { .victim = 1 };
	struct fixture f;

	setup(&f, 3);
	post_recv(&f, 10, 50000, 4000);
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
	send(&f, VHCA_OP_WRITE_IMM, 1, 0, 3000);
	t_expect_no_cqe(&f.p.cq[1]);
	t_mr_expect(&f.r, 1000, 1024, 1, 0);
	t_mr_expect(&f.r, 2024, 3000, 2, 2024);
	/* and a plain WRITE behind it does not complete it either */
	send(&f, VHCA_OP_WRITE, 2, 0, 3000);
	t_expect_no_cqe(&f.p.cq[1]);
	send(&f, VHCA_OP_SEND, 3, 0, 3000);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 50000, 3000, 1, 0);
	done(&f);
}

/* A WRITE does not complete a receive that was taken by a broken SEND. */
static void taken_receive_waits(void **state)
{
	struct tnth n = { .victim = 1 };
	struct fixture f;

	setup(&f, 3);
	post_recv(&f, 10, 50000, 4000);
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
	send(&f, VHCA_OP_SEND, 1, 0, 3000);
	send(&f, VHCA_OP_WRITE, 2, 0, 3000);
	t_expect_no_cqe(&f.p.cq[1]);
	t_mr_expect(&f.r, 1000, 3000, 1, 0);
	send(&f, VHCA_OP_WRITE_IMM, 3, 0, 3000);
	assert_int_equal(t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS).opcode,
			 VHCA_CQE_RECV_WRITE_IMM);
	done(&f);
}

/* A packet that is duplicated, or late: messages of one packet arrive twice. */
static void double_each(void **state)
{
	for (s32 victim = 0; victim < 4; victim++) {
		struct tnth n = { .victim = victim, .copies = 2 };
		struct fixture f;
		u32 got = 0;

		setup(&f, 3);
		for (u32 i = 0; i < 4; i++)
			post_recv(&f, 10 + i, i * 4000, 4000);
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
		send(&f, VHCA_OP_SEND, 0, 0, 3000);
		send(&f, VHCA_OP_SEND, 1, 10000, 500);
		t_poll(&f.p.w);
		/* a duplicate of the first or last packet does no harm, one of the middle does */
		if (victim != 1) {
			t_expect_cqe(&f.p.cq[1], 10 + got, VHCA_CS_SUCCESS);
			t_mr_expect(&f.r, got++ * 4000, 3000, 1, 0);
		}
		for (u32 i = 0; i <= (victim == 3); i++) {
			t_expect_cqe(&f.p.cq[1], 10 + got, VHCA_CS_SUCCESS);
			t_mr_expect(&f.r, got++ * 4000, 500, 1, 10000);
		}
		t_expect_no_cqe(&f.p.cq[1]);
		done(&f);
	}
}

struct storm {
	u64 seed;
	u32 loss, twice, late;
};

static u32 dice(struct storm *s)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (s->seed >> 33) % 1000;
}

static void storm_hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		       struct fab_effect *v)
{
	struct storm *s = arg;

	if (dice(s) < s->loss)
		v->copies = 0;
	else if (dice(s) < s->twice)
		v->copies = 2;
	if (dice(s) < s->late)
		v->delay = 1 + dice(s) % 7;
}

/* Packets are lost, duplicated and overtaken: what completes is one whole message. */
static void storms(void **state)
{
	enum { N = 400, SLOT = 6000 };

	for (u32 seed = 1; seed <= 6; seed++) {
		struct storm s = { .seed = seed, .loss = 20, .twice = seed % 2 ? 0 : 20,
				   .late = seed < 3 ? 0 : 50 };
		u32 got = 0, seen[N] = { 0 };
		struct fixture f;
		struct vhca_cqe e;

		setup(&f, 3);
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, storm_hook, &s), 0);
		for (u32 i = 0; i < 30; i++)
			post_recv(&f, i, i * SLOT, SLOT);
		for (u32 i = 0; i < N; i++) {
			/* its length and its number determine a message's bytes */
			u32 len = 1 + i * 37 % 5000, at = i * 131 % 200000;

			send(&f, VHCA_OP_SEND_IMM, i, at, len);
			t_settle(&f.p.w, 5);
			while (t_cq_poll(&f.p.cq[1], &e)) {
				u32 k = be32toh(e.imm), slot = le64toh(e.wr_id);

				assert_int_equal(e.status, VHCA_CS_SUCCESS);
				assert_in_range(k, 0, i);
				assert_int_equal(le32toh(e.byte_len), 1 + k * 37 % 5000);
				t_mr_expect(&f.r, slot * SLOT, le32toh(e.byte_len), 1,
					    k * 131 % 200000);
				assert_int_equal(slot, got++ % 30);
				seen[k]++;
				post_recv(&f, slot, slot * SLOT, SLOT);
			}
		}
		/* only duplicated messages arrive twice */
		for (u32 i = 0; i < N; i++)
			assert_in_range(seen[i], 0, s.twice ? 2 : 1);
		assert_in_range(got, N / 2, N + N / 10);
		assert_true(t_stats(&f.p.h[1]).rx_uc_gaps > 5);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		done(&f);
	}
}

/* ---- failures of the receiver ---- */

static void no_receive(void **state)
{
	struct vport_stats s;
	struct fixture f;

	setup(&f, 3);
	send(&f, VHCA_OP_SEND, 1, 0, 3000);
	send(&f, VHCA_OP_WRITE_IMM, 2, 0, 3000);
	t_mr_expect(&f.r, 0, 5000, 2, 0);
	assert_int_equal(t_stats(&f.p.h[1]).rx_no_receive, 2);
	/* too short: the message is lost, the receive is not */
	post_recv(&f, 10, 0, 2999);
	send(&f, VHCA_OP_SEND, 3, 0, 3000);
	send(&f, VHCA_OP_SEND, 4, 0, 100);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS).byte_len), 100);
	t_expect_no_cqe(&f.p.cq[1]);
	s = t_stats(&f.p.h[1]);
	assert_int_equal(s.rx_no_receive, 3);
	assert_int_equal(s.rx_uc_gaps, 0);
	t_expect_no_event(&f.p.h[1]);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

/* No right to the memory: nothing is written or reported, the QP goes on. */
static void forbidden_writes(void **state)
{
	struct vhca_qp_attr a = { .state = T_RTS };
	struct fixture f;
	struct twr wr;

	setup(&f, 3);
	for (u32 i = 0; i < 5; i++) {
		wr = t_wr(i == 4 ? VHCA_OP_WRITE_IMM : VHCA_OP_WRITE, i, &f.l, 0, 3000, &f.r, 0);
		post_recv(&f, i, 100000, 10);
		if (i == 0)
			wr.rkey ^= 1;
		else if (i == 1)
			wr.rkey += 256;
		else if (i == 2)
			wr.raddr += 220000 - 2999;
		else	/* the QP itself does not allow it */
			assert_int_equal(t_modify(&f.p.qp[1], &a, VHCA_QPA_STATE |
						  VHCA_QPA_ACCESS_FLAGS), VHCA_ST_OK);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
		t_expect_no_cqe(&f.p.cq[1]);
	}
	t_mr_expect(&f.r, 0, 220000, 2, 0);
	t_expect_no_event(&f.p.h[1]);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

/* The receive's own memory fails: that is reported, and the QP fails. */
static void bad_receive(void **state)
{
	struct fixture f;
	struct vhca_sge s;

	setup(&f, 3);
	s = t_sge(&f.r, 0, 5000);
	s.lkey ^= 1;
	t_recv(&f.p.qp[1], 10, 1, &s);
	post_recv(&f, 11, 0, 5000);
	send(&f, VHCA_OP_SEND, 1, 0, 3000);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_LOC_PROT_ERR);
	t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_WR_FLUSH_ERR);
	assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
	send(&f, VHCA_OP_SEND, 2, 0, 3000);
	assert_int_equal(t_stats(&f.p.h[1]).rx_no_qp, 3);
	done(&f);

	setup(&f, 3);
	post_recv(&f, 10, 0, 5000);
	f.p.qp[1].rq[offsetof(struct vhca_rwqe, rsvd)] = 1;
	send(&f, VHCA_OP_SEND, 1, 0, 3000);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
	done(&f);
}

/* Different path MTUs: one packet gets through, more do not. */
static void mtu_mismatch(void **state)
{
	struct fixture f;
	struct vhca_qp_attr a;

	setup(&f, 3);
	t_to(&f.p.qp[1], T_RESET);
	t_attr_init(&a, 1);
	assert_int_equal(t_modify(&f.p.qp[1], &a, t_mask(VHCA_QPT_UC, T_INIT)), VHCA_ST_OK);
	t_attr_rtr(&a, 1, f.p.qp[0].qpn, 0xfffff0, 2);
	assert_int_equal(t_modify(&f.p.qp[1], &a, t_mask(VHCA_QPT_UC, T_RTR)), VHCA_ST_OK);
	post_recv(&f, 10, 0, 5000);
	send(&f, VHCA_OP_SEND, 1, 0, 513);
	send(&f, VHCA_OP_SEND, 2, 0, 3000);
	t_expect_no_cqe(&f.p.cq[1]);
	send(&f, VHCA_OP_SEND, 3, 0, 512);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	/* and this was the first packet to arrive */
	t_expect_event(&f.p.h[1], VHCA_EV_COMM_EST, f.p.qp[1].qpn);
	t_expect_no_event(&f.p.h[1]);
	done(&f);
}

/* ---- failures of the sender ---- */

/* A request that fails stops the queue; receives go on; the driver starts it again. */
static void send_error(void **state)
{
	static const struct { u8 op, status; s32 key; } bad[] = {
		{ VHCA_OP_READ, VHCA_CS_LOC_QP_OP_ERR, 0 },
		{ VHCA_OP_WRITE, VHCA_CS_LOC_PROT_ERR, 1 },
		{ 0x77, VHCA_CS_LOC_QP_OP_ERR, 0 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture f;
		struct vhca_sge s;
		struct twr wr;

		setup(&f, 3);
		wr = t_wr(bad[i].op, 1, &f.l, 0, 3000, &f.r, 0);
		wr.sge[0].lkey ^= bad[i].key;
		t_post(&f.p.qp[0], &wr);
		wr = t_wr(VHCA_OP_WRITE, 2, &f.l, 0, 3000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
		t_ring_sq(&f.p.qp[0]);
		t_expect_cqe(&f.p.cq[0], 1, bad[i].status);
		t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_WR_FLUSH_ERR);
		assert_int_equal(t_state(&f.p.qp[0]), T_SQE);
		/* what is posted now is flushed at once */
		wr.wr_id = 3;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_WR_FLUSH_ERR);
		/* and it still receives */
		s = t_sge(&f.l, 100000, 5000);
		t_recv(&f.p.qp[0], 20, 1, &s);
		wr = t_wr(VHCA_OP_SEND, 50, &f.r, 0, 3000, NULL, 0);
		t_send(&f.p.qp[1], &wr);
		t_expect_cqe(&f.p.cq[1], 50, VHCA_CS_SUCCESS);
		t_expect_cqe(&f.p.cq[0], 20, VHCA_CS_SUCCESS);
		t_expect_no_event(&f.p.h[0]);
		t_mr_expect(&f.r, 0, 5000, 2, 0);
		assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
		send(&f, VHCA_OP_WRITE, 4, 0, 3000);
		t_mr_expect(&f.r, 1000, 3000, 1, 0);
		assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, 0);
		t_pair_fini(&f.p);
	}
}

/* A gather list that fails behind its first packets. */
static void fault_in_the_middle(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f, 3);
	post_recv(&f, 10, 50000, 8000);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 3000, NULL, 0);
	wr.nsge = 2;
	wr.sge[1] = t_sge(&f.l, 0, 3000);
	wr.sge[1].lkey ^= 1;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	t_mr_expect(&f.r, 50000, 2048, 1, 0);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	/* no PSN is missing: the next message has the next one */
	send(&f, VHCA_OP_SEND, 2, 10000, 4000);
	assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS).byte_len), 4000);
	t_mr_expect(&f.r, 50000, 4000, 1, 10000);
	assert_int_equal(t_stats(&f.p.h[1]).rx_uc_gaps, 0);
	done(&f);
}

/* Back in RTS before everything was flushed: requests posted before that are still flushed. */
static void resumed_at_once(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f, 3);
	wr = t_wr(VHCA_OP_READ, 0, &f.l, 0, 3000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 0, VHCA_CS_LOC_QP_OP_ERR);
	for (u32 i = 1; i <= 200; i++) {
		wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 3000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	/* in the record, but never rung */
	t_set_rec(&f.p.h[0], f.p.qp[0].slot, f.p.qp[0].sq_prod);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	for (u32 i = 1; i <= 200; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_WR_FLUSH_ERR);
	t_mr_expect(&f.r, 0, 5000, 2, 0);
	send(&f, VHCA_OP_WRITE, 201, 0, 3000);
	t_mr_expect(&f.r, 1000, 3000, 1, 0);
	done(&f);
}

static void drain(void **state)
{
	struct tnth slow = { .victim = -1, .all = true, .copies = 1, .delay = 1000000 };
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct fixture f;
	struct twr wr;

	setup(&f, 1);
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &slow), 0);
	for (u32 i = 0; i < 4; i++) {
		wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 200000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	/* two were sent, one is being sent, the last was not begun */
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	t_expect_no_event(&f.p.h[0]);
	for (u32 i = 0; i < 2; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[0]);
	t_expect_event(&f.p.h[0], VHCA_EV_SQ_DRAINED, f.p.qp[0].qpn);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_SUCCESS);
	done(&f);
}

/* ERR with a message half sent: it and all behind it are flushed, in order. */
static void flush_order(void **state)
{
	struct tnth slow = { .victim = -1, .all = true, .copies = 1, .delay = 1000000 };
	struct fixture f;
	struct vhca_sge s;

	setup(&f, 1);
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &slow), 0);
	s = t_sge(&f.l, 0, 100);
	for (u32 i = 0; i < 50; i++) {
		struct twr wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 200000, &f.r, 0);

		t_post(&f.p.qp[0], &wr);
		t_recv(&f.p.qp[0], 1000 + i, 1, &s);
	}
	t_ring_sq(&f.p.qp[0]);
	for (u32 i = 0; i < 2; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	assert_int_equal(t_to(&f.p.qp[0], T_ERR), VHCA_ST_OK);
	for (u32 i = 2; i < 50; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_WR_FLUSH_ERR);
	for (u32 i = 0; i < 50; i++)
		t_expect_cqe(&f.p.cq[0], 1000 + i, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[0]);
	t_pair_fini(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mtu_256),
		cmocka_unit_test(mtu_4096),
		cmocka_unit_test(as_packets),
		cmocka_unit_test(on_the_wire),
		cmocka_unit_test(no_window),
		cmocka_unit_test(lose_each),
		cmocka_unit_test(gap_across_messages),
		cmocka_unit_test(lost_write),
		cmocka_unit_test(taken_receive_waits),
		cmocka_unit_test(double_each),
		cmocka_unit_test(storms),
		cmocka_unit_test(no_receive),
		cmocka_unit_test(forbidden_writes),
		cmocka_unit_test(bad_receive),
		cmocka_unit_test(mtu_mismatch),
		cmocka_unit_test(send_error),
		cmocka_unit_test(fault_in_the_middle),
		cmocka_unit_test(resumed_at_once),
		cmocka_unit_test(drain),
		cmocka_unit_test(flush_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
