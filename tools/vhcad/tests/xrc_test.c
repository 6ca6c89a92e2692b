// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC: requests that name an SRQ, the memory and the CQ that they use, invalid
 * SRQ numbers, and SRQs that are destroyed while something is under way.
 */
#include <string.h>

#include "res/dev.h"
#include "dev/listing.h"
#include "qp/srq.h"
#include "qp/wqe.h"
#include "qp/qp.h"
#include "fabric/internal.h"
#include "tests/spoil.h"
#include "tests/thca.h"
#include "tests/txrc.h"

#define RIGHTS	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | \
		 VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_ATOMIC)
#define MSEC	1000000ull
#define SECOND	1000000000ull
#define MANY	(600 * SECOND)
#define LEN	3000u	/* of a message: three packets */
#define SRQS	3u

/*
 * An initiator, and a target.  Each of its SRQs has a PD, a CQ and memory of
 * its own, as if each belonged to another process; the last one is of another domain.
 */
struct fixture {
	struct tworld w;
	struct thca h[2];
	u32 xrcd[2];
	struct tcq scq;
	struct tqp ini, tgt;
	struct tmr src;
	struct {
		u32 pd;
		struct tcq cq;
		struct tsrq srq;
		struct tmr mr;
	} of[SRQS];
};

static void setup_of(struct fixture *f, u32 i)
{
	struct thca *h = &f->h[1];

	f->of[i].pd = h->pd = t_create(h, VHCA_CMD_CREATE_PD, NULL, 0);
	t_cq_init(h, &f->of[i].cq, 7, 0);
	t_xsrq_init(h, &f->of[i].srq, f->xrcd[i == SRQS - 1], f->of[i].cq.cqn, 5);
	t_mr_init(h, &f->of[i].mr, (u64)(i + 1) << 32, 8 * LEN, RIGHTS, 1, 12);
	t_mr_fill(&f->of[i].mr, 20 + i);
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_two_init(&f.w, f.h, 1);
	for (u32 i = 0; i < 2; i++)
		f.xrcd[i] = t_create(&f.h[1], VHCA_CMD_CREATE_XRCD, NULL, 0);
	t_cq_init(&f.h[0], &f.scq, 7, 0);
	t_ini_init(&f.h[0], &f.ini, &f.scq, VHCA_QP_SIGNAL_ALL);
	t_tgt_init(&f.h[1], &f.tgt, f.xrcd[0]);
	for (u32 i = 0; i < SRQS; i++)
		setup_of(&f, i);
	t_connect(&f.ini, &f.tgt, 3, 0xfffffe, 9000);
	t_allow(&f.tgt, RIGHTS & ~VHCA_ACCESS_LOCAL_WRITE);
	t_mr_init(&f.h[0], &f.src, 0, 8 * LEN, RIGHTS, 1, 12);
	t_mr_fill(&f.src, 7);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_two_fini(&f->w, f->h);
	return 0;
}

/* Connects both ends again, from RESET. */
static void reconnect(struct fixture *f)
{
	assert_int_equal(t_to(&f->ini, T_RESET), VHCA_ST_OK);
	assert_int_equal(t_to(&f->tgt, T_RESET), VHCA_ST_OK);
	f->ini.sq_prod = 0;
	t_set_rec(&f->h[0], f->ini.slot, 0);
	t_connect(&f->ini, &f->tgt, 3, 0xfffffe, 9000);
	t_allow(&f->tgt, RIGHTS & ~VHCA_ACCESS_LOCAL_WRITE);
}

static void receive(struct fixture *f, u32 i, u64 wr_id, u32 off)
{
	struct vhca_sge s = t_sge(&f->of[i].mr, off, LEN);

	t_srq_recv(&f->of[i].srq, wr_id, 1, &s);
}

static struct twr request(struct fixture *f, u32 i, u8 opcode, u64 wr_id, u32 len)
{
	bool remote = opcode >= VHCA_OP_WRITE && opcode <= VHCA_OP_FETCH_ADD;
	struct twr wr = t_wr(opcode, wr_id, &f->src, 0, len, remote ? &f->of[i].mr : NULL, 0);

	wr.srqn = f->of[i].srq.srqn;
	return wr;
}

static void post(struct fixture *f, u32 i, u8 opcode, u64 wr_id, u32 len)
{
	struct twr wr = request(f, i, opcode, wr_id, len);

	t_send(&f->ini, &wr);
}

/* A receive of this SRQ, in its CQ and in no other. */
static struct vhca_cqe arrived(struct fixture *f, u32 i, u64 wr_id, u8 status)
{
	struct vhca_cqe e = t_expect_cqe(&f->of[i].cq, wr_id, status);

	assert_int_equal(le32toh(e.qpn), f->tgt.qpn);
	assert_int_equal(le32toh(e.srqn), f->of[i].srq.srqn);
	assert_int_equal(le32toh(e.wqe_index), 0);
	assert_int_equal(e.flags & ~VHCA_CQE_F_IMM, VHCA_CQE_F_RQ | VHCA_CQE_F_XRC);
	for (u32 k = 0; k < SRQS; k++)
		t_expect_no_cqe(&f->of[k].cq);
	return e;
}

/* ---- each request uses the SRQ that it names ---- */

static void sends(void **state)
{
	static const u32 lens[] = { 0, 1, 1024, LEN };
	struct fixture *f = *state;

	for (u32 n = 0; n < 64; n++) {
		u32 i = (n / 3) % 2, len = lens[n % 4];
		bool imm = n % 5 == 0;
		struct twr wr = request(f, i, imm ? VHCA_OP_SEND_IMM : VHCA_OP_SEND, n, len);
		struct vhca_cqe e;

		wr.imm = htobe32(n);
		receive(f, i, 1000 + n, LEN);
		t_send(&f->ini, &wr);
		e = arrived(f, i, 1000 + n, VHCA_CS_SUCCESS);
		assert_int_equal(le32toh(e.byte_len), len);
		assert_int_equal(le32toh(e.src_qpn), f->ini.qpn);
		assert_int_equal(!!(e.flags & VHCA_CQE_F_IMM), imm);
		if (imm)
			assert_int_equal(be32toh(e.imm), n);
		t_mr_expect(&f->of[i].mr, LEN, len, 7, 0);
		e = t_expect_cqe(&f->scq, n, VHCA_CS_SUCCESS);
		assert_false(e.flags & VHCA_CQE_F_XRC);
	}
}

/* Keys in a request are of the PD of the SRQ that it names. */
static void one_sided(void **state)
{
	struct fixture *f = *state;
	struct twr wr;
	u64 word;

	for (u32 n = 0; n < 8; n++) {
		u32 i = n % 2;

		post(f, i, VHCA_OP_WRITE, 1, LEN);
		t_expect_cqe(&f->scq, 1, VHCA_CS_SUCCESS);
		t_mr_expect(&f->of[i].mr, 0, LEN, 7, 0);
		receive(f, i, 2, LEN);
		wr = request(f, i, VHCA_OP_WRITE_IMM, 3, LEN);
		wr.imm = htobe32(77);
		wr.raddr += 4 * LEN;
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, 3, VHCA_CS_SUCCESS);
		assert_int_equal(arrived(f, i, 2, VHCA_CS_SUCCESS).opcode, VHCA_CQE_RECV_WRITE_IMM);
		t_mr_expect(&f->of[i].mr, 4 * LEN, LEN, 7, 0);
		wr = request(f, i, VHCA_OP_READ, 4, LEN);
		wr.raddr += 6 * LEN;
		wr.sge[0] = t_sge(&f->src, 4 * LEN, LEN);
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, 4, VHCA_CS_SUCCESS);
		t_mr_expect(&f->src, 4 * LEN, LEN, 20 + i, 6 * LEN);
		word = htole64(5 + n);
		t_mr_put(&f->of[i].mr, 7 * LEN - 7 * LEN % 8, &word, 8);
		wr = request(f, i, VHCA_OP_FETCH_ADD, 5, 8);
		wr.raddr += 7 * LEN - 7 * LEN % 8;
		wr.sge[0] = t_sge(&f->src, 7 * LEN, 8);
		wr.atomic.swap_add = htole64(10);
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, 5, VHCA_CS_SUCCESS);
		t_mr_get(&f->src, 7 * LEN, &word, 8);
		assert_int_equal(le64toh(word), 5 + n);
		t_mr_get(&f->of[i].mr, 7 * LEN - 7 * LEN % 8, &word, 8);
		assert_int_equal(le64toh(word), 15 + n);
	}
	/* a key of the one with the SRQ of the other */
	for (u32 n = 0; n < 3; n++) {
		static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_READ, VHCA_OP_CMP_SWAP };

		wr = request(f, 1, ops[n], 6, 8);
		wr.srqn = f->of[0].srq.srqn;
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, 6, VHCA_CS_REM_ACCESS_ERR);
		t_expect_event(&f->h[1], VHCA_EV_QP_ACCESS_ERR, f->tgt.qpn);
		t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->tgt.qpn);
		t_mr_expect(&f->of[1].mr, LEN, LEN, 21, LEN);
		reconnect(f);
	}
}

/* ---- invalid SRQ numbers ---- */

static void not_named(void **state)
{
	struct fixture *f = *state;
	struct tsrq plain;
	u32 bad[4];

	t_srq_init(&f->h[1], &plain, 3, 6);
	bad[0] = plain.srqn;
	bad[1] = f->of[2].srq.srqn;	/* of another domain */
	bad[2] = 12345;
	bad[3] = 0xffffff;
	for (u32 n = 0; n < ARRAY_SIZE(bad) * 2; n++) {
		struct twr wr = request(f, 0, n % 2 ? VHCA_OP_READ : VHCA_OP_SEND, n, 8);

		receive(f, 0, n, 0);
		receive(f, 2, n, 0);
		wr.srqn = bad[n / 2];
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, n, VHCA_CS_REM_INV_REQ_ERR);
		t_expect_event(&f->h[1], VHCA_EV_QP_REQ_ERR, f->tgt.qpn);
		t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->tgt.qpn);
		assert_int_equal(t_state(&f->tgt), T_ERR);
		for (u32 i = 0; i < SRQS; i++)
			t_expect_no_cqe(&f->of[i].cq);
		assert_int_equal(t_srq_taken(&f->of[0].srq), 0);
		reconnect(f);
	}
}

/* Invalid requests: a number of 25 bits, one on a QP of another type, an undefined operation. */
static void bad_entries(void **state)
{
	static const u8 not_had[] = {
		VHCA_OP_MASKED_CMP_SWAP, VHCA_OP_MASKED_FETCH_ADD, VHCA_OP_ATOMIC_WRITE,
		VHCA_OP_FLUSH,
	};
	struct fixture *f = *state;
	struct tqp rc[2];
	struct tcq cq;
	struct twr wr = request(f, 0, VHCA_OP_SEND, 1, 8);

	wr.srqn |= 1u << 24;
	t_send(&f->ini, &wr);
	t_expect_cqe(&f->scq, 1, VHCA_CS_LOC_QP_OP_ERR);
	reconnect(f);
	for (u32 i = 0; i < ARRAY_SIZE(not_had); i++) {
		wr = request(f, 0, not_had[i], 2, 8);
		wr.flush.type = VHCA_FLUSH_GLOBAL;
		t_send(&f->ini, &wr);
		t_expect_cqe(&f->scq, 2, VHCA_CS_LOC_QP_OP_ERR);
		reconnect(f);
	}
	t_cq_init(&f->h[0], &cq, 4, 0);
	for (u32 i = 0; i < 2; i++)
		t_qp_init(&f->h[0], &rc[i], &cq, &cq);
	t_connect(&rc[0], &rc[1], 3, 1, 1);
	wr = request(f, 0, VHCA_OP_SEND, 3, 8);
	wr.srqn = 1;
	t_send(&rc[0], &wr);
	t_expect_cqe(&cq, 3, VHCA_CS_LOC_QP_OP_ERR);
}

/* Packets that our requester never sends. */
static void forge(struct fixture *f, u8 opcode, u32 psn, u32 srqn, u32 len, u32 from, u32 to_qpn)
{
	static const u8 data[1024];
	struct wire_hdr h = {
		.opcode = opcode, .dlid = t_lid(&f->h[!from]), .slid = t_lid(&f->h[from]),
		.pkey = 0xffff, .dqpn = to_qpn, .psn = psn, .srqn = srqn, .ackreq = true,
		.mig = true, .va = f->of[0].mr.iova, .rkey = f->of[0].mr.key, .dmalen = 1032,
	};
	struct payload pl;
	struct run run;

	run_from_packet(&run, &pl, &h, data, len);
	fab_send(f->w.fabric->ports[from], &run);
	t_poll(&f->w);
}

/* A message that names another SRQ in its middle. */
static void turns_away(void **state)
{
	static const u8 ops[] = { OP_XRC_SEND_FIRST, OP_XRC_SEND_LAST };
	struct fixture *f = *state;

	receive(f, 0, 5, 0);
	receive(f, 1, 6, 0);
	forge(f, ops[0], 0xfffffe, f->of[0].srq.srqn, 1024, 0, f->tgt.qpn);
	assert_int_equal(t_srq_taken(&f->of[0].srq), 1);
	forge(f, ops[1], 0xffffff, f->of[1].srq.srqn, 8, 0, f->tgt.qpn);
	arrived(f, 0, 5, VHCA_CS_REM_INV_REQ_ERR);
	assert_int_equal(t_srq_taken(&f->of[1].srq), 0);
	assert_int_equal(t_state(&f->tgt), T_ERR);
	t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->tgt.qpn);
	reconnect(f);
	/* a WRITE takes no receive, and stays with its SRQ all the same */
	forge(f, OP_XRC_WRITE_FIRST, 0xfffffe, f->of[0].srq.srqn, 1024, 0, f->tgt.qpn);
	assert_int_equal(t_state(&f->tgt), T_RTS);
	forge(f, OP_XRC_WRITE_LAST, 0xffffff, f->of[1].srq.srqn, 8, 0, f->tgt.qpn);
	t_expect_event(&f->h[1], VHCA_EV_QP_REQ_ERR, f->tgt.qpn);
}

/* Initiator and target accept only packets for their side, and RC is not XRC. */
static void wrong_side(void **state)
{
	struct fixture *f = *state;
	u64 before = t_stats(&f->h[0]).rx_no_qp;

	forge(f, OP_XRC_SEND_ONLY, 9000, f->of[0].srq.srqn, 8, 1, f->ini.qpn);
	forge(f, OP_RC_ACK, 9000, 0, 0, 1, f->ini.qpn);
	assert_int_equal(t_stats(&f->h[0]).rx_no_qp, before + 2);
	before = t_stats(&f->h[1]).rx_no_qp;
	forge(f, OP_XRC_ACK, 0xfffffe, 0, 0, 0, f->tgt.qpn);
	forge(f, OP_XRC_READ_RESP_ONLY, 0xfffffe, 0, 8, 0, f->tgt.qpn);
	forge(f, OP_RC_SEND_ONLY, 0xfffffe, 0, 8, 0, f->tgt.qpn);
	assert_int_equal(t_stats(&f->h[1]).rx_no_qp, before + 3);
	receive(f, 0, 1, LEN);
	post(f, 0, VHCA_OP_SEND, 2, LEN);
	arrived(f, 0, 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->scq, 2, VHCA_CS_SUCCESS);
}

/* ---- missing receives, and lost packets ---- */

static void not_ready(void **state)
{
	struct fixture *f = *state;

	receive(f, 1, 1, 0);
	post(f, 0, VHCA_OP_SEND, 2, LEN);
	t_expect_no_cqe(&f->scq);
	assert_true(t_stats(&f->h[1]).rnr_naks_sent > 0);
	receive(f, 0, 3, 0);
	t_settle(&f->w, SECOND);
	arrived(f, 0, 3, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->scq, 2, VHCA_CS_SUCCESS);
	assert_int_equal(t_srq_taken(&f->of[1].srq), 0);
}

static void lose_each(void **state)
{
	struct fixture *f = *state;

	for (s32 victim = 0; victim < 24; victim++) {
		struct tnth nth = { .victim = victim };
		u64 word = htole64(100);

		reconnect(f);
		t_mr_put(&f->of[1].mr, 0, &word, 8);
		receive(f, 0, 1, LEN);
		receive(f, 1, 2, LEN);
		assert_int_equal(fab_set_packet_hook(f->w.fabric, t_nth_hook, &nth), 0);
		for (u32 i = 0; i < 4; i++) {
			static const u8 op[] = {
				VHCA_OP_SEND, VHCA_OP_READ, VHCA_OP_FETCH_ADD, VHCA_OP_SEND,
			};
			struct twr wr = request(f, i && i < 3 ? 1 : i == 3, op[i], 10 + i,
						i == 2 ? 8 : LEN);

			if (i == 1 || i == 2)
				wr.sge[0].addr += 4 * LEN;
			wr.atomic.swap_add = htole64(1);
			t_post(&f->ini, &wr);
		}
		t_ring_sq(&f->ini);
		t_settle(&f->w, MANY);
		for (u32 i = 0; i < 4; i++)
			t_expect_cqe(&f->scq, 10 + i, VHCA_CS_SUCCESS);
		t_expect_cqe(&f->of[0].cq, 1, VHCA_CS_SUCCESS);
		arrived(f, 1, 2, VHCA_CS_SUCCESS);
		t_mr_expect(&f->of[0].mr, LEN, LEN, 7, 0);
		t_mr_get(&f->of[1].mr, 0, &word, 8);
		assert_int_equal(le64toh(word), 101);
		fab_set_packet_hook(f->w.fabric, NULL, NULL);
	}
}

/* ---- destroying objects ---- */

/* Packets with this PSN or a later one are delayed. */
static u32 held_from;

static void hold(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	v->delay = wire_op(h->opcode)->kind == *(u8 *)arg && h->psn == held_from ? MSEC : 0;
}

static void send_half(struct fixture *f, u32 i)
{
	static u8 kind = WIRE_SEND;

	held_from = 0xffffff;
	assert_int_equal(fab_set_packet_hook(f->w.fabric, hold, &kind), 0);
	post(f, i, VHCA_OP_SEND, 50, LEN);
	assert_int_equal(t_srq_taken(&f->of[i].srq), 1);
}

static void send_rest(struct fixture *f)
{
	f->w.now += 2 * MSEC;
	t_settle(&f->w, SECOND);
}

/* A target that has taken a receive fails: its owner gets the completion. */
static void flushed(void **state)
{
	struct fixture *f = *state;

	receive(f, 0, 1, 0);
	receive(f, 0, 2, 0);
	send_half(f, 0);
	assert_int_equal(t_to(&f->tgt, T_ERR), VHCA_ST_OK);
	arrived(f, 0, 1, VHCA_CS_WR_FLUSH_ERR);
	t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->tgt.qpn);
	assert_int_equal(t_srq_taken(&f->of[0].srq), 1);
	fab_set_packet_hook(f->w.fabric, NULL, NULL);
	reconnect(f);
	t_poll(&f->w);
	post(f, 0, VHCA_OP_SEND, 3, LEN);
	arrived(f, 0, 2, VHCA_CS_SUCCESS);
}

/* An SRQ is destroyed with its process, in the middle of a message: the sender gets an error. */
static void srq_goes(void **state)
{
	struct fixture *f = *state;

	receive(f, 0, 1, 0);
	send_half(f, 0);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_SRQ, f->of[0].srq.srqn), VHCA_ST_OK);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_CQ, f->of[0].cq.cqn), VHCA_ST_OK);
	send_rest(f);
	t_expect_cqe(&f->scq, 50, VHCA_CS_REM_INV_REQ_ERR);
	t_expect_event(&f->h[1], VHCA_EV_QP_REQ_ERR, f->tgt.qpn);
	fab_set_packet_hook(f->w.fabric, NULL, NULL);
	/* the other SRQ's users connect again */
	reconnect(f);
	receive(f, 1, 3, 0);
	post(f, 1, VHCA_OP_SEND, 4, LEN);
	arrived(f, 1, 3, VHCA_CS_SUCCESS);
}

/* Between messages the destruction of an SRQ has no effect. */
static void srq_gone(void **state)
{
	struct fixture *f = *state;

	receive(f, 0, 1, 0);
	post(f, 0, VHCA_OP_SEND, 2, LEN);
	arrived(f, 0, 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->scq, 2, VHCA_CS_SUCCESS);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_SRQ, f->of[0].srq.srqn), VHCA_ST_OK);
	receive(f, 1, 3, 0);
	post(f, 1, VHCA_OP_SEND, 4, LEN);
	arrived(f, 1, 3, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->scq, 4, VHCA_CS_SUCCESS);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_QP, f->tgt.qpn), VHCA_ST_OK);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_SRQ, f->of[1].srq.srqn), VHCA_ST_OK);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_XRCD, f->xrcd[0]), VHCA_ST_OK);
}

/* A READ is repeated after its SRQ was destroyed: nothing more is read. */
static void read_again(void **state)
{
	static u8 kind = WIRE_READ_RESP;
	struct fixture *f = *state;
	struct twr wr = request(f, 0, VHCA_OP_READ, 9, LEN);

	wr.sge[0].addr += 4 * LEN;
	held_from = 0xffffff;
	assert_int_equal(fab_set_packet_hook(f->w.fabric, hold, &kind), 0);
	t_send(&f->ini, &wr);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_SRQ, f->of[0].srq.srqn), VHCA_ST_OK);
	/* a late answer finds that it was requested again */
	f->w.now += 100 * MSEC;
	t_settle(&f->w, MANY);
	t_expect_cqe(&f->scq, 9, VHCA_CS_REM_ACCESS_ERR);
	fab_set_packet_hook(f->w.fabric, NULL, NULL);
}

/* ---- commands ---- */

static void commands(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	u64 ring = t_alloc(h, 4096);
	struct vhca_create_srq_hw_req srq = {
		.buf.addr = htole64(ring), .pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .log_strides = 3, .log_stride = 7,
		.flags = VHCA_SRQ_XRC, .xrcdn = htole32(f->xrcd[1]),
		.cqn = htole32(f->of[0].cq.cqn),
	};
	struct vhca_create_srq_hw_req plain = srq;
	struct vhca_create_qp_hw_req tgt = {
		.uar = htole32(h->uar), .db_slot = htole32(h->next_slot + 4),
		.type = VHCA_QPT_XRC_TGT, .log_sq_blocks = VHCA_NO_QUEUE,
		.log_rq_strides = VHCA_NO_QUEUE, .xrcdn = htole32(f->xrcd[1]),
	};
	struct vhca_create_qp_hw_req ini = {
		.pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot + 6), .send_cqn = htole32(f->of[1].cq.cqn),
		.type = VHCA_QPT_XRC_INI, .log_sq_blocks = VHCA_NO_QUEUE,
		.log_rq_strides = VHCA_NO_QUEUE,
	};
	const struct spoilt s[] = {
		{ F(vhca_create_srq_hw_req, flags), 2 | VHCA_SRQ_XRC, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, xrcdn), 99, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_srq_hw_req, cqn), 99, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_srq_hw_req, rsvd), 1, VHCA_ST_BAD_FIELD, 0 },
	};
	const struct spoilt p[] = {
		{ F(vhca_create_srq_hw_req, xrcdn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, cqn), 1, VHCA_ST_BAD_FIELD, 0 },
	};
	const struct spoilt t[] = {
		{ F(vhca_create_qp_hw_req, xrcdn), 99, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, pdn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, send_cqn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, recv_cqn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_sq_blocks), 3, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_strides), 3, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), VHCA_QP_SIGNAL_ALL, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), VHCA_QP_SRQ, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, srqn), 1, VHCA_ST_BAD_FIELD, 0 },
	};
	const struct spoilt q[] = {
		{ F(vhca_create_qp_hw_req, xrcdn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, recv_cqn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, pdn), 99, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, send_cqn), 99, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_strides), 3, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), VHCA_QP_SRQ, VHCA_ST_BAD_FIELD, 0 },
	};

	plain.flags = 0;
	plain.xrcdn = 0;
	plain.cqn = 0;
	plain.db_slot = htole32(h->next_slot + 2);
	spoil_each(h, VHCA_CMD_CREATE_SRQ, &srq, sizeof(srq), s, ARRAY_SIZE(s));
	spoil_each(h, VHCA_CMD_CREATE_SRQ, &plain, sizeof(plain), p, ARRAY_SIZE(p));
	spoil_each(h, VHCA_CMD_CREATE_QP, &tgt, sizeof(tgt), t, ARRAY_SIZE(t));
	spoil_each(h, VHCA_CMD_CREATE_QP, &ini, sizeof(ini), q, ARRAY_SIZE(q));
	h->next_slot += 8;
	/* objects in use stay */
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_XRCD, f->xrcd[0]), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_CQ, f->of[0].cq.cqn), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_XRCD, 77), VHCA_ST_BAD_HANDLE);
}

static void without(void **state)
{
	static const u8 ops[] = { VHCA_CMD_CREATE_XRCD, VHCA_CMD_DESTROY_XRCD };
	static const u8 needed[] = { VHCA_CAP_XRC, VHCA_CAP_SRQ, VHCA_CAP_RC };

	for (u32 i = 0; i < ARRAY_SIZE(needed); i++) {
		const struct vdev_config less = {
			.name = "x", .ports = 1, .vectors = 4, .limit[VLIM_XRCDS] = 5,
			.caps_off = 1u << needed[i],
		};
		struct vhca_create_qp_hw_req qp = { .type = VHCA_QPT_XRC_INI };
		struct vhca_create_srq_hw_req srq = {
			.log_stride = 5, .flags = VHCA_SRQ_XRC,
		};
		struct vhca_device_attr d;
		struct tworld w;
		struct thca h;

		t_world_init(&w);
		t_hca_init_cfg(&h, &w, &less);
		for (u32 k = 0; k < ARRAY_SIZE(ops); k++) {
			assert_int_equal(t_admin(&h, ops[k], NULL, 0, NULL), VHCA_ST_UNSUPPORTED);
			assert_int_equal(h.bad_field, offsetof(struct vhca_asqe, opcode));
		}
		assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp), NULL),
				 VHCA_ST_UNSUPPORTED);
		srq.pdn = htole32(h.pd);
		srq.uar = htole32(h.uar);
		assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_SRQ, &srq, sizeof(srq), NULL),
				 VHCA_ST_UNSUPPORTED);
		assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
		assert_int_equal(d.max_xrcds, 0);
		t_hca_fini(&h);
		t_world_fini(&w);
	}
}

static void resources(void **state)
{
	const struct vdev_config few = {
		.name = "x", .ports = 1, .vectors = 4, .limit[VLIM_XRCDS] = 2,
	};
	struct vhca_device_attr d;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &few);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
	assert_int_equal(le32toh(d.max_xrcds), 2);
	t_create(&h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	t_create(&h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_XRCD, NULL, 0, NULL), VHCA_ST_NO_RESOURCE);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* What the control socket lists for QPs that have no CQ. */
static void listed(void **state)
{
	struct fixture *f = *state;
	union vobject_info page[VLIST_PAGE];
	u32 from = 0;

	assert_int_equal(vdev_list(f->h[1].dev, VLIST_QPS, &from, page), 1);
	assert_int_equal(page[0].qp.send_cqn, VLIST_NONE);
	assert_int_equal(page[0].qp.recv_cqn, VLIST_NONE);
	assert_int_equal(page[0].qp.xrcdn, f->xrcd[0]);
	assert_false(page[0].qp.has_srq);
	assert_string_equal(vqp_type_name(page[0].qp.type), "XRC_TGT");
	from = 0;
	assert_int_equal(vdev_list(f->h[0].dev, VLIST_QPS, &from, page), 1);
	assert_int_equal(page[0].qp.send_cqn, f->scq.cqn);
	assert_int_equal(page[0].qp.recv_cqn, VLIST_NONE);
	assert_int_equal(page[0].qp.xrcdn, VLIST_NONE);
	assert_string_equal(vqp_type_name(page[0].qp.type), "XRC_INI");
	from = 0;
	assert_int_equal(vdev_list(f->h[1].dev, VLIST_SRQS, &from, page), SRQS);
	assert_int_equal(page[2].srq.xrcdn, f->xrcd[1]);
	assert_int_equal(page[2].srq.cqn, f->of[2].cq.cqn);
}

/*
 * Pending events are dropped with an SRQ of a domain and with a target: the next SRQ of the number
 * does not get the old one's limit event.
 */
static void pending_of_destroyed(void **state)
{
	const u32 n = 1u << T_EQ_LOG;
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	struct tsrq srq[(1u << T_EQ_LOG) + 2], next;
	struct tqp tgt[2];

	for (u32 i = 0; i < ARRAY_SIZE(srq); i++) {
		t_xsrq_init(h, &srq[i], f->xrcd[0], f->of[0].cq.cqn, 2);
		assert_int_equal(t_srq_limit(&srq[i], 1), VHCA_ST_OK);
	}
	for (u32 i = 0; i < ARRAY_SIZE(tgt); i++) {
		t_tgt_init(h, &tgt[i], f->xrcd[0]);
		t_connect(&tgt[i], &tgt[i], 3, 1, 1);
		assert_int_equal(t_to(&tgt[i], T_ERR), VHCA_ST_OK);
	}
	/* the ring holds the first n, the others wait */
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_SRQ, srq[n].srqn), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, tgt[0].qpn), VHCA_ST_OK);
	t_xsrq_init(h, &next, f->xrcd[0], f->of[0].cq.cqn, 2);
	assert_int_equal(next.srqn, srq[n].srqn);
	for (u32 i = 0; i < ARRAY_SIZE(srq); i++)
		if (i != n)
			t_expect_event(h, VHCA_EV_SRQ_LIMIT, srq[i].srqn);
	t_expect_event(h, VHCA_EV_LAST_WQE, tgt[1].qpn);
	t_expect_no_event(h);
	assert_int_equal(t_srq_limit(&next, 1), VHCA_ST_OK);
	t_expect_event(h, VHCA_EV_SRQ_LIMIT, next.srqn);
	t_expect_no_event(h);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(sends), TEST(one_sided), TEST(not_named), TEST(bad_entries), TEST(turns_away),
		TEST(wrong_side), TEST(not_ready), TEST(lose_each), TEST(flushed), TEST(srq_goes),
		TEST(srq_gone), TEST(read_again), TEST(commands), cmocka_unit_test(without),
		cmocka_unit_test(resources), TEST(listed), TEST(pending_of_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
