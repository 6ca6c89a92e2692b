// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC with errors: the statuses of both sides, the events, and
 * the order in which the rest is flushed.
 */
#include "tests/rc_error.h"

/* Posts requests 10, 11 behind a failing one (1) and a receive on each side. */
static void fail_first(struct fixture *f, const struct twr *bad, u8 status)
{
	struct twr next = t_wr(VHCA_OP_WRITE, 10, &f->l, 0, 100, &f->r, 0);
	struct vhca_sge s = t_sge(&f->l, 0, 100);

	t_recv(&f->p.qp[0], 500, 1, &s);
	t_recv(&f->p.qp[0], 501, 1, &s);
	t_post(&f->p.qp[0], bad);
	t_post(&f->p.qp[0], &next);
	next.wr_id = 11;
	t_post(&f->p.qp[0], &next);
	t_ring_sq(&f->p.qp[0]);
	t_expect_cqe(&f->p.cq[0], bad->wr_id, status);
	t_expect_cqe(&f->p.cq[0], 10, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f->p.cq[0], 11, VHCA_CS_WR_FLUSH_ERR);
	assert_true(t_expect_cqe(&f->p.cq[0], 500, VHCA_CS_WR_FLUSH_ERR).flags & VHCA_CQE_F_RQ);
	t_expect_cqe(&f->p.cq[0], 501, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f->p.cq[0]);
	assert_int_equal(t_state(&f->p.qp[0]), T_ERR);
}

/* The requester's own faults.  The peer does not notice them. */
static void local_fault(void (*spoil)(struct fixture *f, struct twr *wr), u8 op, u8 status)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(op, 1, &f.l, 0, 3000, &f.r, 0);
	spoil(&f, &wr);
	fail_first(&f, &wr, status);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	t_expect_no_cqe(&f.p.cq[1]);
	t_expect_no_event(&f.p.h[0]);
	t_expect_no_event(&f.p.h[1]);
	done(&f);
}

static void bad_index(struct fixture *f, struct twr *wr) { wr->sge[0].lkey += 256; }
static void bad_variant(struct fixture *f, struct twr *wr) { wr->sge[0].lkey ^= 1; }
static void no_key(struct fixture *f, struct twr *wr) { wr->sge[0].lkey = 0xffffffff; }
static void before(struct fixture *f, struct twr *wr) { wr->sge[0].addr--; }
static void behind(struct fixture *f, struct twr *wr) { wr->sge[0].addr += 40000 - 2999; }
static void wraps(struct fixture *f, struct twr *wr) { wr->sge[0].addr = UINT64_MAX - 10; }
static void opcode(struct fixture *f, struct twr *wr) { wr->opcode = 0x77; }
static void flag(struct fixture *f, struct twr *wr) { wr->flags = 0x80; }
static void too_many(struct fixture *f, struct twr *wr)
{
	wr->flags = VHCA_WQE_INLINE;
	wr->nsge = 0;
	wr->data = wr;
	wr->data_len = 513;		/* the QP was made for 512 */
}

static void readonly(struct fixture *f, struct twr *wr)
{
	struct tmr m;

	t_mr_init(&f->p.h[0], &m, 0, 4096, 0, 0, 12);
	wr->sge[0] = t_sge(&m, 0, 3000);
}

static void other_pd(struct fixture *f, struct twr *wr)
{
	u32 pd = f->p.h[0].pd;
	struct tmr m;

	f->p.h[0].pd = t_create(&f->p.h[0], VHCA_CMD_CREATE_PD, NULL, 0);
	t_mr_init(&f->p.h[0], &m, 0, 4096, RW, 0, 12);
	f->p.h[0].pd = pd;
	wr->sge[0] = t_sge(&m, 0, 3000);
}

static void bad_pages(struct fixture *f, struct twr *wr)
{
	struct vhca_create_mkey_req req = {
		.buf.addr = htole64(0x10000),	/* no memory there */
		.length = htole64(4096),
		.pdn = htole32(f->p.h[0].pd),
		.access = htole32(RW),
	};

	wr->sge[0] = (struct vhca_sge){
		0, 3000, t_create(&f->p.h[0], VHCA_CMD_CREATE_MKEY, &req, sizeof(req)),
	};
}

static void local_faults(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_READ };

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		local_fault(bad_index, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(bad_variant, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(no_key, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(before, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(behind, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(wraps, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(other_pd, ops[i], VHCA_CS_LOC_PROT_ERR);
		local_fault(opcode, ops[i], VHCA_CS_LOC_QP_OP_ERR);
		local_fault(flag, ops[i], VHCA_CS_LOC_QP_OP_ERR);
		local_fault(too_many, ops[i], VHCA_CS_LOC_QP_OP_ERR);
	}
	local_fault(bad_pages, VHCA_OP_WRITE, VHCA_CS_LOC_PROT_ERR);
	local_fault(readonly, VHCA_OP_READ, VHCA_CS_LOC_PROT_ERR);
}

/* A gather list that fails behind its first packets: those before it arrive. */
static void fault_in_the_middle(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_WRITE, 2, &f.l, 0, 2000, &f.r, 0);
	wr.nsge = 2;
	wr.sge[1] = t_sge(&f.l, 0, 5000);
	wr.sge[1].lkey ^= 0xff;
	{
		struct twr good = t_wr(VHCA_OP_WRITE, 1, &f.l, 100, 50, &f.r, 30000);

		t_post(&f.p.qp[0], &good);
	}
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_WRITE, 3, &f.l, 0, 100, &f.r, 35000);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_LOC_PROT_ERR);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_WR_FLUSH_ERR);
	t_mr_expect(&f.r, 35000, 100, 2, 35000);
	t_mr_expect(&f.r, 30000, 50, 1, 100);
	t_mr_expect(&f.r, 0, 1024, 1, 0);	/* one whole packet */
	t_mr_expect(&f.r, 1024, 3000, 2, 1024);	/* and nothing else */
	done(&f);
}

/*
 * Memory that is not mapped when a run's last packet is copied: the packets before it have arrived,
 * and are acknowledged together with the request before them.
 */
static void fault_behind_arrivals(void **state)
{
	static const struct { u8 op; bool singly; } how[] = {
		{ VHCA_OP_WRITE_IMM, false }, { VHCA_OP_WRITE_IMM, true },
		{ VHCA_OP_WRITE, true }, { VHCA_OP_SEND, true },
	};

	for (u32 i = 0; i < ARRAY_SIZE(how); i++) {
		struct tseen seen = { .n = 0 };
		struct vhca_sge s;
		struct fixture f;
		struct twr wr;

		setup(&f);
		if (how[i].singly)
			assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_watch, &seen), 0);
		s = t_sge(&f.r, 20000, 4000);
		t_recv(&f.p.qp[1], 600, 1, &s);
		t_recv(&f.p.qp[1], 601, 1, &s);
		wr = t_wr(VHCA_OP_SEND, 1, &f.l, 100, 50, NULL, 0);
		t_post(&f.p.qp[0], &wr);
		wr = t_wr(how[i].op, 2, &f.l, 0, 2048, &f.r, 0);
		wr.nsge = 2;
		bad_pages(&f, &wr);
		wr.sge[1] = wr.sge[0];
		wr.sge[1].length = 1000;
		wr.sge[0] = t_sge(&f.l, 0, 2048);
		t_post(&f.p.qp[0], &wr);
		t_ring_sq(&f.p.qp[0]);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_LOC_PROT_ERR);
		t_expect_no_cqe(&f.p.cq[0]);
		t_expect_cqe(&f.p.cq[1], 600, VHCA_CS_SUCCESS);
		t_expect_no_cqe(&f.p.cq[1]);
		t_mr_expect(&f.r, how[i].op == VHCA_OP_SEND ? 20000 : 0, 2048, 1, 0);
		done(&f);
	}
}

/* A refused entry behind a request under way: nothing behind it is sent. */
static void nothing_behind_a_refused_one(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 100, 50, &f.r, 30000);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(0x55, 2, &f.l, 0, 100, &f.r, 31000);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_WRITE, 3, &f.l, 0, 100, &f.r, 32000);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_LOC_QP_OP_ERR);
	t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[0]);
	t_mr_expect(&f.r, 30000, 50, 1, 100);
	t_mr_expect(&f.r, 31000, 3000, 2, 31000);
	done(&f);
}

/*
 * A key that is destroyed, or an entry that changes, between a request and its
 * retransmission: refused then, and requests under way behind it are flushed, once.
 */
static void fault_on_resend(void **state)
{
	for (u32 how = 0; how < 3; how++) {
		struct vhca_wqe_ctrl *ctrl;
		struct fixture f;
		struct twr wr;

		setup(&f);
		assert_int_equal(vdev_set_link(f.p.h[1].dev, 1, false), 0);
		for (u32 id = 1; id <= 4; id++) {
			wr = t_wr(VHCA_OP_WRITE, id, &f.l, 0, 2000, &f.r, 0);
			t_post(&f.p.qp[0], &wr);
		}
		t_ring_sq(&f.p.qp[0]);
		t_expect_no_cqe(&f.p.cq[0]);
		ctrl = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
		if (how == 0)
			assert_int_equal(t_destroy(&f.p.h[0], VHCA_CMD_DESTROY_MKEY, f.l.key), 0);
		else if (how == 1)
			((struct vhca_sge *)(ctrl + 1))[1].length = htole32(1999);
		else
			ctrl->opcode = VHCA_OP_READ;
		assert_true(t_advance(&f.p.w));
		t_expect_cqe(&f.p.cq[0], 1, how ? VHCA_CS_LOC_QP_OP_ERR : VHCA_CS_LOC_PROT_ERR);
		for (u32 id = 2; id <= 4; id++)
			t_expect_cqe(&f.p.cq[0], id, VHCA_CS_WR_FLUSH_ERR);
		t_expect_no_cqe(&f.p.cq[0]);
		done(&f);
	}
}

/* ------------------------------------------------------------------------
 * Faults the responder finds
 */
static void remote_fault(void (*spoil)(struct fixture *f, struct twr *wr), u8 op, u8 status,
			 u8 event)
{
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	wr = t_wr(op, 1, &f.l, 0, 3000, &f.r, 10);
	spoil(&f, &wr);
	s = t_sge(&f.r, 0, 100);
	t_recv(&f.p.qp[1], 600, 1, &s);
	t_recv(&f.p.qp[1], 601, 1, &s);
	fail_first(&f, &wr, status);
	t_expect_event(&f.p.h[1], event, f.p.qp[1].qpn);
	t_expect_no_event(&f.p.h[1]);
	t_expect_no_event(&f.p.h[0]);
	t_expect_cqe(&f.p.cq[1], 600, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f.p.cq[1], 601, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
	/* nothing moved */
	t_mr_expect(&f.l, 0, 40000, 1, 0);
	t_mr_expect(&f.r, 0, 40000, 2, 0);
	done(&f);
}

static void rkey_index(struct fixture *f, struct twr *wr) { wr->rkey += 256; }
static void rkey_variant(struct fixture *f, struct twr *wr) { wr->rkey ^= 0x80; }
static void raddr_before(struct fixture *f, struct twr *wr) { wr->raddr -= 11; }
static void raddr_behind(struct fixture *f, struct twr *wr) { wr->raddr += 37000; }
static void raddr_wraps(struct fixture *f, struct twr *wr) { wr->raddr = UINT64_MAX - 100; }
static void rkey_access(struct fixture *f, struct twr *wr)
{
	struct tmr m;

	t_mr_init(&f->p.h[1], &m, 0, 8192, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	wr->raddr = 0;
	wr->rkey = m.key;
}

static void rkey_pd(struct fixture *f, struct twr *wr)
{
	u32 pd = f->p.h[1].pd;
	struct tmr m;

	f->p.h[1].pd = t_create(&f->p.h[1], VHCA_CMD_CREATE_PD, NULL, 0);
	t_mr_init(&f->p.h[1], &m, 0, 8192, RW, 0, 12);
	f->p.h[1].pd = pd;
	wr->raddr = 0;
	wr->rkey = m.key;
}

static void no_qp_right(struct fixture *f, struct twr *wr)
{
	struct vhca_qp_attr a = { 0 };

	assert_int_equal(t_modify(&f->p.qp[1], &a, VHCA_QPA_ACCESS_FLAGS), VHCA_ST_OK);
}

static void remote_faults(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_READ };

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		remote_fault(rkey_index, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(rkey_variant, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(raddr_before, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(raddr_behind, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(raddr_wraps, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(rkey_access, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(rkey_pd, ops[i], VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR);
		remote_fault(no_qp_right, ops[i], VHCA_CS_REM_INV_REQ_ERR,
			     VHCA_EV_QP_REQ_ERR);
	}
}

/* A receive that is too small, or whose memory is wrong. */
static void bad_receive(u32 len, u32 key_xor, u8 local, u8 remote)
{
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	s = t_sge(&f.r, 0, len);
	s.lkey ^= key_xor;
	t_recv(&f.p.qp[1], 600, 1, &s);
	t_recv(&f.p.qp[1], 601, 1, &s);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 3000, NULL, 0);
	fail_first(&f, &wr, remote);
	assert_true(t_expect_cqe(&f.p.cq[1], 600, local).flags & VHCA_CQE_F_RQ);
	t_expect_cqe(&f.p.cq[1], 601, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	t_expect_no_event(&f.p.h[1]);	/* the completion tells */
	t_mr_expect(&f.r, len, 10000, 2, len);
	done(&f);
}

static void bad_receives(void **state)
{
	bad_receive(2999, 0, VHCA_CS_LOC_LEN_ERR, VHCA_CS_REM_INV_REQ_ERR);
	bad_receive(0, 0, VHCA_CS_LOC_LEN_ERR, VHCA_CS_REM_INV_REQ_ERR);
	bad_receive(1024, 0, VHCA_CS_LOC_LEN_ERR, VHCA_CS_REM_INV_REQ_ERR);
	bad_receive(3000, 1, VHCA_CS_LOC_PROT_ERR, VHCA_CS_REM_OP_ERR);
	bad_receive(4000, 0x100, VHCA_CS_LOC_PROT_ERR, VHCA_CS_REM_OP_ERR);
}

/* A malformed receive entry: its index is that of another one. */
static void malformed_receive(void **state)
{
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	s = t_sge(&f.r, 0, 4000);
	t_recv(&f.p.qp[1], 600, 1, &s);
	((struct vhca_rwqe *)f.p.qp[1].rq)->index = htole32(9);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 3000, NULL, 0);
	fail_first(&f, &wr, VHCA_CS_REM_OP_ERR);
	t_expect_cqe(&f.p.cq[1], 600, VHCA_CS_LOC_QP_OP_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	done(&f);
}

/* The answer to a READ is sent before the NAK of a request behind it. */
static void nak_behind_read(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 20000, &f.r, 0);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_WRITE, 2, &f.l, 30000, 100, &f.r, 0);
	wr.rkey ^= 1;
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_REM_ACCESS_ERR);
	t_mr_expect(&f.l, 0, 20000, 2, 0);
	done(&f);
}

/* A QP that is its own peer enters the error state when its own NAK has arrived. */
static void own_refusal(void **state)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp self;
	struct tmr m;
	struct twr wr;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 6, 0);
	t_qp_init(&h, &self, &cq, &cq);
	t_connect(&self, &self, 5, 3, 3);
	t_mr_init(&h, &m, 0, 10000, RW, 1, 12);
	wr = t_wr(VHCA_OP_WRITE, 1, &m, 0, 100, &m, 5000);
	wr.rkey ^= 0xff;
	t_send(&self, &wr);
	t_expect_cqe(&cq, 1, VHCA_CS_REM_ACCESS_ERR);
	t_expect_event(&h, VHCA_EV_QP_ACCESS_ERR, self.qpn);
	assert_int_equal(t_state(&self), T_ERR);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Prefetches ahead of a QP's turn: one that was never connected has no port. */
static void errors_side_by_side(void **state)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp[2];

	t_world_init(&w);
	t_hca_init(&h, &w, 0x1000);
	t_cq_init(&h, &cq, 4, 0);
	/* at the end there are many QPs without a turn for long, whose data is prefetched */
	for (u32 round = 0; round < 400; round++) {
		for (u32 i = 0; i < 2 && (!round || round == 399); i++)
			t_qp_init(&h, &qp[i], &cq, &cq);
		for (u32 i = 0; i < 2; i++) {
			struct vhca_modify_qp_req req = { .qpn = htole32(qp[i].qpn),
				.mask = htole32(VHCA_QPA_STATE), .attr.state = T_ERR };
			struct vhca_asqe e = { .opcode = VHCA_CMD_MODIFY_QP };

			memcpy(e.req, &req, sizeof(req));
			t_admin_post(&h, &e);
		}
		assert_int_equal(t_admin_answer(&h, NULL), VHCA_ST_OK);
		assert_int_equal(t_admin_answer(&h, NULL), VHCA_ST_OK);
		for (u32 i = 0; i < 2; i++)
			assert_int_equal(t_to(&qp[i], T_RESET), VHCA_ST_OK);
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_faults),
		cmocka_unit_test(fault_in_the_middle),
		cmocka_unit_test(fault_behind_arrivals),
		cmocka_unit_test(nothing_behind_a_refused_one),
		cmocka_unit_test(fault_on_resend),
		cmocka_unit_test(remote_faults),
		cmocka_unit_test(bad_receives),
		cmocka_unit_test(malformed_receive),
		cmocka_unit_test(nak_behind_read),
		cmocka_unit_test(own_refusal),
		cmocka_unit_test(errors_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
