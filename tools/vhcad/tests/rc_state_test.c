// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC: timers and retries that end a connection, and the states of a QP.
 */
#include "res/dev.h"
#include "tests/rc_error.h"

/* ------------------------------------------------------------------------
 * Peers that are not there, timeouts, receiver not ready
 */
static void set_retries(struct tqp *qp, u8 timeout, u8 retry, u8 rnr)
{
	struct vhca_qp_attr a = { .state = T_SQD };

	assert_int_equal(t_modify(qp, &a, VHCA_QPA_STATE), VHCA_ST_OK);
	a = (struct vhca_qp_attr){ .timeout = timeout, .retry_cnt = retry, .rnr_retry = rnr };
	assert_int_equal(t_modify(qp, &a, VHCA_QPA_TIMEOUT | VHCA_QPA_RETRY_CNT |
				  VHCA_QPA_RNR_RETRY), VHCA_ST_OK);
	a.state = T_RTS;
	assert_int_equal(t_modify(qp, &a, VHCA_QPA_STATE), VHCA_ST_OK);
}

struct count {
	u32 data, acks, naks, rnrs;
};

static void count(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		  struct fab_effect *v)
{
	struct count *c = arg;

	if (h->opcode != OP_RC_ACK)
		c->data++;
	else if ((h->syndrome & AETH_TYPE_MASK) == AETH_RNR_NAK)
		c->rnrs++;
	else if ((h->syndrome & AETH_TYPE_MASK) == AETH_NAK)
		c->naks++;
	else
		c->acks++;
}

/*
 * Without retries a lost packet ends the QP, unless its NAK acknowledges earlier packets at the
 * same time.
 */
static void loss_without_retries(void **state)
{
	for (s32 victim = 0; victim < 2; victim++) {
		struct tnth lost = { .victim = victim };
		struct fixture f;
		struct twr wr;

		setup(&f);
		set_retries(&f.p.qp[0], 14, 0, 7);
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &lost), 0);
		wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 3000, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, victim ? VHCA_CS_SUCCESS : VHCA_CS_RETRY_EXC_ERR);
		t_mr_expect(&f.r, 0, 3000, victim ? 1 : 2, 0);
		done(&f);
	}
}

static void timeouts(void **state)
{
	/* every code, every count */
	for (u32 code = 1; code < 32; code++) {
		u32 retries = code % 8;
		struct count c = { 0 };
		struct fixture f;
		struct twr wr;
		u64 t0;

		setup(&f);
		set_retries(&f.p.qp[0], code, retries, 0);
		assert_int_equal(t_to(&f.p.qp[1], T_RESET), VHCA_ST_OK);
		fab_set_packet_hook(f.p.w.fabric, count, &c);
		wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 1, &f.r, 0);
		t0 = f.p.w.now;
		t_send(&f.p.qp[0], &wr);
		for (u32 n = 0; n <= retries; n++) {
			t_expect_no_cqe(&f.p.cq[0]);
			assert_int_equal(c.data, n + 1);
			assert_true(t_advance(&f.p.w));
			assert_int_equal(f.p.w.now - t0, (n + 1) * (4096ull << code));
		}
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
		assert_int_equal(t_state(&f.p.qp[0]), T_ERR);
		done(&f);
	}
}

static void no_timeout(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	set_retries(&f.p.qp[0], 0, 7, 0);
	assert_int_equal(t_to(&f.p.qp[1], T_RESET), VHCA_ST_OK);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 1, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_false(t_advance(&f.p.w));	/* never */
	t_expect_no_cqe(&f.p.cq[0]);
	done(&f);
}

static const u32 rnr_us10[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/* Every timer code: nothing is sent for its time; then the retries run out. */
static void rnr_timers(void **state)
{
	struct fixture f;

	for (u32 code = 0; code < 32; code++) {
		struct vhca_qp_attr a = { .min_rnr_timer = code };
		struct count c = { 0 };
		struct twr wr;
		u64 t0;

		setup(&f);
		set_retries(&f.p.qp[0], 20, 0, 2);
		assert_int_equal(t_modify(&f.p.qp[1], &a, VHCA_QPA_MIN_RNR_TIMER), VHCA_ST_OK);
		fab_set_packet_hook(f.p.w.fabric, count, &c);
		wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 3000, NULL, 0);
		t0 = f.p.w.now;
		t_send(&f.p.qp[0], &wr);
		for (u32 n = 1; n <= 2; n++) {
			assert_int_equal(c.rnrs, n);
			t_expect_no_cqe(&f.p.cq[0]);
			assert_true(t_advance(&f.p.w));
			assert_int_equal(f.p.w.now - t0, n * rnr_us10[code] * 10000ull);
		}
		assert_int_equal(c.rnrs, 3);
		assert_int_equal(c.naks, 0);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RNR_RETRY_EXC_ERR);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		t_expect_no_event(&f.p.h[1]);
		done(&f);
	}
}

/* A receive is posted while the sender waits; 7 retries never run out. */
static void rnr_recovers(void **state)
{
	static const u8 ops[] = { VHCA_OP_SEND, VHCA_OP_SEND_IMM, VHCA_OP_WRITE_IMM };
	struct fixture f;

	for (u32 i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		u32 len = i % 2 ? 5000 : 700;
		struct vhca_sge s;
		struct twr wr;

		setup(&f);
		s = t_sge(&f.r, 0, 5000);
		for (u32 id = 1; id <= 3; id++) {
			wr = t_wr(ops[i / 2], id, &f.l, 0, len, &f.r, 0);
			t_post(&f.p.qp[0], &wr);
		}
		t_ring_sq(&f.p.qp[0]);
		for (u32 n = 0; n < 50; n++) {
			t_expect_no_cqe(&f.p.cq[0]);
			assert_true(t_advance(&f.p.w));
		}
		for (u32 id = 1; id <= 3; id++) {
			t_recv(&f.p.qp[1], 70 + id, 1, &s);
			t_settle(&f.p.w, 1000000000);
			t_expect_cqe(&f.p.cq[0], id, VHCA_CS_SUCCESS);
			assert_int_equal(le32toh(t_expect_cqe(&f.p.cq[1], 70 + id,
							      VHCA_CS_SUCCESS).byte_len), len);
			t_expect_no_cqe(&f.p.cq[0]);
		}
		t_mr_expect(&f.r, 0, len, 1, 0);
		done(&f);
	}
}

/* ------------------------------------------------------------------------
 * States
 */

/* To ERR with work posted: send queue, then receive queue; later posts too. */
static void flush_order(void **state)
{
	struct fixture f;
	struct vhca_sge s;

	setup(&f);
	s = t_sge(&f.l, 0, 100);
	assert_int_equal(t_to(&f.p.qp[1], T_RESET), VHCA_ST_OK);
	for (u32 i = 0; i < 100; i++) {
		struct twr wr = t_wr(VHCA_OP_WRITE, i, &f.l, 0, 2000, &f.r, 0);

		t_recv(&f.p.qp[0], 1000 + i, 1, &s);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(t_to(&f.p.qp[0], T_ERR), VHCA_ST_OK);
	for (u32 i = 0; i < 100; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_WR_FLUSH_ERR);
	for (u32 i = 0; i < 100; i++)
		t_expect_cqe(&f.p.cq[0], 1000 + i, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[0]);
	for (u32 i = 0; i < 3; i++) {
		struct twr wr = t_wr(VHCA_OP_SEND, 200 + i, &f.l, 0, 2000, &f.r, 0);

		t_post(&f.p.qp[0], &wr);
		t_recv(&f.p.qp[0], 2000 + i, 1, &s);
	}
	t_ring_sq(&f.p.qp[0]);
	t_ring(&f.p.h[0], f.p.qp[0].slot + 1, f.p.qp[0].rq_prod);
	for (u32 i = 0; i < 3; i++)
		t_expect_cqe(&f.p.cq[0], 200 + i, VHCA_CS_WR_FLUSH_ERR);
	for (u32 i = 0; i < 3; i++)
		t_expect_cqe(&f.p.cq[0], 2000 + i, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[0]);
	done(&f);
}

/* RESET forgets everything; the pair can be connected again. */
static void reset_cleans(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	assert_int_equal(t_to(&f.p.qp[1], T_RESET), VHCA_ST_OK);
	for (u32 i = 0; i < 10; i++) {
		wr = t_wr(VHCA_OP_READ, i, &f.l, 0, 2000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	assert_int_equal(t_to(&f.p.qp[0], T_RESET), VHCA_ST_OK);
	t_settle(&f.p.w, 1000000000);
	t_expect_no_cqe(&f.p.cq[0]);
	for (u32 i = 0; i < 2; i++) {
		f.p.qp[i].sq_prod = 0;
		f.p.qp[i].rq_prod = 0;
		t_set_rec(&f.p.h[i], f.p.qp[i].slot, 0);
		t_set_rec(&f.p.h[i], f.p.qp[i].slot + 1, 0);
	}
	t_connect(&f.p.qp[0], &f.p.qp[1], 5, 77, 88);
	wr = t_wr(VHCA_OP_READ, 50, &f.l, 0, 20000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 50, VHCA_CS_SUCCESS);
	t_mr_expect(&f.l, 0, 20000, 2, 0);
	done(&f);
}

/* SQD: requests that have begun are finished, no new one begins, then the event. */
static void drain(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct vhca_object_req q;
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 2000, NULL, 0);
	t_send(&f.p.qp[0], &wr);	/* no receive: stays under way */
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	wr.wr_id = 2;
	t_send(&f.p.qp[0], &wr);
	t_expect_no_event(&f.p.h[0]);
	q = (struct vhca_object_req){ .handle = htole32(f.p.qp[0].qpn) };
	assert_int_equal(t_admin_out(&f.p.h[0], VHCA_CMD_QUERY_QP, &q, sizeof(q), &a, sizeof(a)),
			 VHCA_ST_OK);
	assert_int_equal(a.state, T_SQD);
	assert_int_equal(a.sq_draining, 1);
	s = t_sge(&f.r, 0, 5000);
	t_recv(&f.p.qp[1], 70, 1, &s);
	t_recv(&f.p.qp[1], 71, 1, &s);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[0]);
	t_expect_event(&f.p.h[0], VHCA_EV_SQ_DRAINED, f.p.qp[0].qpn);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	done(&f);
}

/* A packet lost without a timeout is sent again once there is one, and so draining ends. */
static void timeout_while_draining(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct tnth lost = { .victim = 0 };
	struct fixture f;
	struct twr wr;

	setup(&f);
	set_retries(&f.p.qp[0], 0, 7, 7);
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &lost), 0);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 1, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	assert_false(t_advance(&f.p.w));
	t_expect_no_event(&f.p.h[0]);
	a = (struct vhca_qp_attr){ .timeout = 14 };
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_TIMEOUT), VHCA_ST_OK);
	assert_true(t_advance(&f.p.w));
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_event(&f.p.h[0], VHCA_EV_SQ_DRAINED, f.p.qp[0].qpn);
	/* and a timer that runs stops when there is none any more */
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	lost.all = true;
	wr.wr_id = 2;
	t_send(&f.p.qp[0], &wr);
	set_retries(&f.p.qp[0], 0, 7, 7);
	assert_false(t_advance(&f.p.w));
	t_expect_no_cqe(&f.p.cq[0]);
	done(&f);
}

/* Packets of the port that is the argument are delayed. */
static void late_from(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	v->delay = from == arg ? 1000 : 0;
}

/* A READ or an atomic that was taken fails when no more are allowed; those under way do not. */
static void no_more_reads(void **state)
{
	static const u8 ops[] = { VHCA_OP_READ, VHCA_OP_FETCH_ADD };

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		struct vhca_qp_attr a = { .max_rd_atomic = 0 };
		struct tmr l, r;
		struct tpair p;

		t_pair_init_regions(&p, 1, 1, &l, &r, 4096, RW | VHCA_ACCESS_REMOTE_ATOMIC,
				    VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_ATOMIC);
		assert_int_equal(fab_set_packet_hook(p.w.fabric, late_from,
						     &p.h[1].dev->port[0].fab), 0);
		for (u32 id = 0; id < 7; id++) {
			struct twr wr = t_wr(ops[i], id, &l, 0, 8, &r, 0);

			t_post(&p.qp[0], &wr);
		}
		t_ring_sq(&p.qp[0]);
		t_poll(&p.w);
		assert_int_equal(t_to(&p.qp[0], T_SQD), VHCA_ST_OK);
		assert_int_equal(t_modify(&p.qp[0], &a, VHCA_QPA_MAX_QP_RD_ATOMIC), VHCA_ST_OK);
		t_settle(&p.w, 1000000000);
		/* four were under way, and one more was taken */
		for (u32 id = 0; id < 7; id++)
			t_expect_cqe(&p.cq[0], id, id < 4 ? VHCA_CS_SUCCESS :
				     id == 4 ? VHCA_CS_LOC_QP_OP_ERR : VHCA_CS_WR_FLUSH_ERR);
		t_expect_no_cqe(&p.cq[0]);
		assert_int_equal(t_state(&p.qp[0]), T_ERR);
		t_pair_fini(&p);
	}
}

/* A packet before RTU: the event, once; the receive completes all the same. */
static void communication_established(void **state)
{
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr m;
	struct vhca_qp_attr a;
	struct vhca_sge s;
	struct twr wr;

	t_world_init(&w);
	for (u32 i = 0; i < 2; i++) {
		t_hca_init(&h[i], &w, 16 * i);
		t_cq_init(&h[i], &cq[i], 5, 0);
		t_qp_init(&h[i], &qp[i], &cq[i], &cq[i]);
		t_attr_init(&a, 1);
		assert_int_equal(t_modify(&qp[i], &a, T_MASK_INIT), VHCA_ST_OK);
	}
	for (u32 i = 0; i < 2; i++) {
		t_attr_rtr(&a, 2 - i, qp[!i].qpn, 3, 3);
		assert_int_equal(t_modify(&qp[i], &a, T_MASK_RTR), VHCA_ST_OK);
	}
	t_attr_rts(&a, 3);
	assert_int_equal(t_modify(&qp[0], &a, T_MASK_RTS), VHCA_ST_OK);
	t_mr_init(&h[1], &m, 0, 4096, RW, 1, 12);
	s = t_sge(&m, 0, 4096);
	t_recv(&qp[1], 7, 1, &s);
	t_recv(&qp[1], 8, 1, &s);
	wr = (struct twr){ .opcode = VHCA_OP_SEND, .wr_id = 1 };
	t_send(&qp[0], &wr);
	t_send(&qp[0], &wr);
	t_expect_cqe(&cq[1], 7, VHCA_CS_SUCCESS);
	t_expect_cqe(&cq[1], 8, VHCA_CS_SUCCESS);
	t_expect_event(&h[1], VHCA_EV_COMM_EST, qp[1].qpn);
	t_expect_no_event(&h[1]);
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&h[i]);
	t_world_fini(&w);
}

/*
 * A QP that is its own peer fails while it sends: the memory for its answer is
 * not accessible, its receive queue is invalid, its CQ is full.
 */
static void own_peer(void **state)
{
	for (u32 how = 0; how < 3; how++) {
		struct tworld w;
		struct thca h;
		struct tcq cq, small;
		struct tqp qp;
		struct tmr l, r;
		struct twr wr;
		u64 end;

		t_world_init(&w);
		t_hca_init(&h, &w, 1);
		t_cq_init(&h, &cq, 6, 0);
		t_cq_init(&h, &small, 1, 0);
		t_qp_init(&h, &qp, &cq, how == 2 ? &small : &cq);
		t_connect(&qp, &qp, 3, 1, 1);
		t_mr_init(&h, &l, 0, 40000, RW, 1, 12);
		t_mr_init(&h, &r, 0, 40000, RW, 1, 12);
		if (how == 0) {
			/* the page list stands behind the pages */
			memset(t_cpu(&h, l.page[0] + 4096), 0, 80);
			for (u32 i = 0; i < 8; i++) {
				wr = t_wr(VHCA_OP_READ, i, &l, 0, 30000, &r, 0);
				t_post(&qp, &wr);
			}
		} else {
			for (u32 i = 0; i < 8; i++) {
				struct vhca_sge s = t_sge(&r, 0, 40000);

				t_recv(&qp, 100 + i, 1, &s);
				wr = t_wr(VHCA_OP_SEND, i, &l, 0, 30000, NULL, 0);
				t_post(&qp, &wr);
			}
			if (how == 1)
				t_set_rec(&h, qp.slot + 1, 1u << 20);
		}
		t_ring_sq(&qp);
		t_settle(&w, 10000000000);
		assert_int_equal(t_state(&qp), T_ERR);
		/* every request completes once, in order */
		end = how == 2 ? 2 : 0;
		for (u32 i = 0; i < 8; i++) {
			struct vhca_cqe e;

			assert_true(t_cq_poll(&cq, &e));
			assert_int_equal(le64toh(e.wr_id), i);
			if (i > end)
				assert_int_equal(e.status, VHCA_CS_WR_FLUSH_ERR);
		}
		assert_true(w.next == ENGINE_NEVER);
		t_hca_fini(&h);
		t_world_fini(&w);
	}
}

/* The peer's memory is revoked during a transfer; in the end its VM disconnects. */
static void peer_vanishes(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 30000, &f.r, 0);
	gmem_set_master(f.p.h[1].mem, false);
	t_send(&f.p.qp[0], &wr);
	t_settle(&f.p.w, 10000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
	done(&f);

	setup(&f);
	vdev_reset(f.p.h[1].dev);
	t_send(&f.p.qp[0], &wr);
	t_settle(&f.p.w, 10000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	done(&f);

	/* the sender's pages: its own fault, found while sending */
	setup(&f);
	wr.raddr = f.r.iova;
	wr.rkey = f.r.key;
	{
		__le64 *list = t_cpu(&f.p.h[0], f.l.page[0] + 4096);

		/* the page list stands behind the pages: see t_mr_init() */
		for (u32 i = 0; i < f.l.npages; i++)
			assert_int_equal(le64toh(list[i]), f.l.page[i]);
		list[5] = 0;
	}
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_without_retries),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(no_timeout),
		cmocka_unit_test(rnr_timers),
		cmocka_unit_test(rnr_recovers),
		cmocka_unit_test(flush_order),
		cmocka_unit_test(reset_cleans),
		cmocka_unit_test(drain),
		cmocka_unit_test(timeout_while_draining),
		cmocka_unit_test(no_more_reads),
		cmocka_unit_test(communication_established),
		cmocka_unit_test(own_peer),
		cmocka_unit_test(peer_vanishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
