// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion and event queues: arming, solicited events, overrun, full event
 * queues, fairness.
 */
#include <string.h>

#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

static void send_one(struct tpair *p, u64 id, u8 flags)
{
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = id, .flags = flags };

	t_recv(&p->qp[1], id, 0, NULL);
	t_send(&p->qp[0], &wr);
}

static bool compl_event(struct thca *h, u32 cqn)
{
	struct vhca_eqe e;

	t_poll(h->w);
	if (!t_eq_get(h, &h->comp, &e))
		return false;
	assert_int_equal(e.event, VHCA_EV_COMPLETION);
	assert_int_equal(le32toh(e.number), cqn);
	return true;
}

/* One arm, one event; an EQ's arm, one interrupt. */
static void arming(void **state)
{
	struct tpair p;
	struct vhca_cqe e;
	u32 irqs;

	t_pair_init(&p, 5, 1, 2);
	send_one(&p, 1, 0);
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));	/* never armed */
	t_cq_arm(&p.cq[1], false);
	/* an entry before the armed count raises nothing: poll finds it */
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	assert_true(t_cq_poll(&p.cq[1], &e));
	irqs = p.h[1].irqs[2];
	send_one(&p, 2, 0);
	assert_int_equal(p.h[1].irqs[2], irqs);			/* EQ not armed */
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	send_one(&p, 3, 0);
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));	/* once */
	while (t_cq_poll(&p.cq[1], &e))
		;
	t_eq_arm(&p.h[1], &p.h[1].comp);
	t_cq_arm(&p.cq[1], false);
	for (u64 i = 4; i < 8; i++)
		send_one(&p, i, 0);
	assert_int_equal(p.h[1].irqs[2], irqs + 1);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	/* armed for entries that are not there yet */
	while (t_cq_poll(&p.cq[1], &e))
		;
	p.cq[1].ci += 2;
	t_cq_arm(&p.cq[1], false);
	p.cq[1].ci -= 2;
	send_one(&p, 8, 0);
	send_one(&p, 9, 0);
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	send_one(&p, 10, 0);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	t_pair_fini(&p);
}

static void solicited(void **state)
{
	struct tpair p;
	struct tmr l, r;
	struct twr wr;
	struct vhca_cqe e;

	t_pair_init(&p, 5, 1, 2);
	t_cq_arm(&p.cq[1], true);
	send_one(&p, 1, 0);
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	send_one(&p, 2, VHCA_WQE_SOLICITED);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	assert_true(t_cq_poll(&p.cq[1], &e));
	assert_false(e.flags & VHCA_CQE_F_SOLICITED);
	assert_true(t_cq_poll(&p.cq[1], &e));
	assert_true(e.flags & VHCA_CQE_F_SOLICITED);
	/* a WRITE with immediate can be, one without cannot */
	t_mr_init(&p.h[0], &l, 0, 9000, RW, 0, 12);
	t_mr_init(&p.h[1], &r, 0, 9000, RW, 0, 12);
	t_cq_arm(&p.cq[1], true);
	wr = t_wr(VHCA_OP_WRITE_IMM, 3, &l, 0, 9000, &r, 0);
	wr.flags = VHCA_WQE_SOLICITED;
	t_recv(&p.qp[1], 3, 0, NULL);
	t_send(&p.qp[0], &wr);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	/* errors count as solicited */
	t_cq_arm(&p.cq[1], true);
	t_recv(&p.qp[1], 4, 0, NULL);
	assert_int_equal(t_to(&p.qp[1], T_ERR), 0);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	t_pair_fini(&p);
}

/* Arms for solicited entries, and names an arming for all that was @since numbers before it. */
static void arm_behind_any(struct tcq *cq, u32 since)
{
	cq->seq = (cq->seq + 1) & VHCA_ARM_SEQ_MASK;
	t_set_rec(cq->h, cq->slot + 1, (u64)cq->seq << VHCA_ARM_SEQ_SHIFT |
		  (u64)since << VHCA_ARM_SINCE_SHIFT | cq->ci);
}

/* An arming holds until it is answered, even if the consumer does not know that yet. */
static void solicited_behind_any(void **state)
{
	static const u32 starts[] = { 0, VHCA_ARM_SEQ_MASK - 4 };
	struct vhca_cqe e;

	for (u32 i = 0; i < ARRAY_SIZE(starts); i++) {
		struct tpair p;

		t_pair_init(&p, 5, 1, 2);
		p.cq[1].seq = starts[i];
		t_cq_arm(&p.cq[1], true);
		send_one(&p, 1, VHCA_WQE_SOLICITED);
		assert_true(compl_event(&p.h[1], p.cq[1].cqn));

		/* not answered: any entry makes an event */
		t_cq_arm(&p.cq[1], false);
		arm_behind_any(&p.cq[1], 1);
		arm_behind_any(&p.cq[1], 2);
		send_one(&p, 2, 0);
		assert_true(compl_event(&p.h[1], p.cq[1].cqn));
		/* answered by a later record */
		arm_behind_any(&p.cq[1], 3);
		send_one(&p, 3, 0);
		assert_false(compl_event(&p.h[1], p.cq[1].cqn));
		/* answered itself, and the entry is not polled */
		t_cq_arm(&p.cq[1], false);
		send_one(&p, 4, 0);
		assert_true(compl_event(&p.h[1], p.cq[1].cqn));
		arm_behind_any(&p.cq[1], 1);
		send_one(&p, 5, 0);
		assert_false(compl_event(&p.h[1], p.cq[1].cqn));
		send_one(&p, 6, VHCA_WQE_SOLICITED);
		assert_true(compl_event(&p.h[1], p.cq[1].cqn));
		while (t_cq_poll(&p.cq[1], &e))
			;
		t_pair_fini(&p);
	}
}

/* The number of an arming has wrapped to the one that was answered last: that is an arming, too. */
static void arm_number_comes_again(void **state)
{
	struct vhca_cqe e;
	struct tpair p;

	t_pair_init(&p, 5, 1, 2);
	t_cq_arm(&p.cq[1], false);
	send_one(&p, 1, 0);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	assert_true(t_cq_poll(&p.cq[1], &e));
	p.cq[1].seq--;
	t_cq_arm(&p.cq[1], false);
	send_one(&p, 2, 0);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	t_pair_fini(&p);
}

static void send_three(struct tpair *p, u32 solicited)
{
	for (u32 i = 0; i < 3; i++) {
		struct twr wr = {
			.opcode = VHCA_OP_SEND, .wr_id = i,
			.flags = i == solicited ? VHCA_WQE_SOLICITED : 0,
		};

		t_recv(&p->qp[1], i, 0, NULL);
		t_post(&p->qp[0], &wr);
	}
	t_ring_sq(&p->qp[0]);
}

/* Entries that come together are compared with the arm record together, and each of them counts. */
static void together(void **state)
{
	struct vhca_cqe e;
	struct tpair p;

	t_pair_init(&p, 5, 1, 2);
	for (u32 at = 0; at < 3; at++) {
		/* the one that counts is the last at or behind the armed count, or before it */
		for (u32 from = 0; from < 3; from++) {
			p.cq[1].ci += from;
			t_cq_arm(&p.cq[1], true);
			p.cq[1].ci -= from;
			send_three(&p, at);
			assert_int_equal(compl_event(&p.h[1], p.cq[1].cqn), at >= from);
			while (t_cq_poll(&p.cq[1], &e))
				;
		}
	}
	/* none of these, whatever was solicited before */
	p.cq[1].ci -= 3;
	t_cq_arm(&p.cq[1], true);
	p.cq[1].ci += 3;
	send_three(&p, 3);
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	t_cq_arm(&p.cq[1], false);
	send_three(&p, 3);
	assert_true(compl_event(&p.h[1], p.cq[1].cqn));
	assert_false(compl_event(&p.h[1], p.cq[1].cqn));
	t_pair_fini(&p);
}

/* A count of more receives than the ring has places: none is used or flushed. */
static void absurd_receives(void **state)
{
	struct twr wr = { .opcode = VHCA_OP_SEND };
	struct tpair p;
	struct tqp *b = &p.qp[1];

	t_pair_init(&p, 5, 1, 2);
	send_one(&p, 1, 0);
	t_expect_cqe(&p.cq[1], 1, VHCA_CS_SUCCESS);
	t_set_rec(&p.h[1], b->slot + 1, b->rq_prod + (1u << b->log_rq) + 1);
	t_send(&p.qp[0], &wr);
	t_expect_event(&p.h[1], VHCA_EV_QP_FATAL, b->qpn);
	t_expect_no_cqe(&p.cq[1]);
	t_pair_fini(&p);
}

/* Exactly full is fine; one more is an overrun, for the CQ and its QP. */
static void overrun(void **state)
{
	struct tpair p;
	struct tcq small;
	struct tqp a;
	struct vhca_cqe e;

	t_pair_init(&p, 5, 1, 2);
	t_cq_init(&p.h[0], &small, 2, 0);
	t_qp_init(&p.h[0], &a, &small, &p.cq[0]);
	assert_int_equal(t_to(&p.qp[1], T_RESET), 0);
	p.qp[1].rq_prod = 0;
	t_set_rec(&p.h[1], p.qp[1].slot + 1, 0);
	t_connect(&a, &p.qp[1], 5, 1, 2);
	for (u32 i = 0; i < 4; i++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = i };

		t_recv(&p.qp[1], i, 0, NULL);
		t_send(&a, &wr);
	}
	t_expect_no_event(&p.h[0]);
	assert_int_equal(t_state(&a), T_RTS);
	/* laps: taken and filled again */
	for (u32 i = 0; i < 100; i++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 4 + i };

		t_expect_cqe(&small, i, VHCA_CS_SUCCESS);
		t_recv(&p.qp[1], 4 + i, 0, NULL);
		t_send(&a, &wr);
	}
	t_recv(&p.qp[1], 200, 0, NULL);
	{
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 200 };

		t_send(&a, &wr);
	}
	t_expect_event(&p.h[0], VHCA_EV_CQ_ERR, small.cqn);
	t_expect_event(&p.h[0], VHCA_EV_QP_FATAL, a.qpn);
	t_expect_no_event(&p.h[0]);
	assert_int_equal(t_state(&a), T_ERR);
	/* entries that were written stay valid, and none follows */
	for (u32 i = 100; i < 104; i++)
		t_expect_cqe(&small, i, VHCA_CS_SUCCESS);
	assert_false(t_cq_poll(&small, &e));
	t_pair_fini(&p);
}

/* Receives overrun a CQ like sends; all QPs that complete there fail, one by one. */
static void overrun_by_receives(void **state)
{
	struct tpair p;
	struct tcq small;
	struct tqp a[3], b[3];
	struct vhca_cqe e;

	t_pair_init(&p, 5, 1, 2);
	t_cq_init(&p.h[1], &small, 1, 0);
	for (u32 i = 0; i < 3; i++) {
		t_qp_init(&p.h[0], &a[i], &p.cq[0], &p.cq[0]);
		t_qp_init(&p.h[1], &b[i], &p.cq[1], &small);
		t_connect(&a[i], &b[i], 5, 1, 2);
		for (u64 k = 0; k < 4; k++)
			t_recv(&b[i], 10 * i + k, 0, NULL);
	}
	for (u32 i = 0; i < 3; i++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = i };

		t_send(&a[0], &wr);
	}
	t_expect_event(&p.h[1], VHCA_EV_CQ_ERR, small.cqn);
	t_expect_event(&p.h[1], VHCA_EV_QP_FATAL, b[0].qpn);
	t_expect_no_event(&p.h[1]);
	assert_int_equal(t_state(&b[1]), T_RTS);
	for (u32 i = 1; i < 3; i++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = i };

		/* the CQ has reported it already, each QP reports for itself */
		t_send(&a[i], &wr);
		t_expect_event(&p.h[1], VHCA_EV_QP_FATAL, b[i].qpn);
		t_expect_no_event(&p.h[1]);
		assert_int_equal(t_state(&b[i]), T_ERR);
	}
	/* two entries, then nothing, and the third was not reported */
	t_expect_cqe(&small, 0, VHCA_CS_SUCCESS);
	t_expect_cqe(&small, 1, VHCA_CS_SUCCESS);
	assert_false(t_cq_poll(&small, &e));
	t_expect_cqe(&p.cq[0], 0, VHCA_CS_SUCCESS);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&p.cq[0]);
	/* the other CQ of a failed QP works */
	assert_int_equal(t_destroy(&p.h[1], VHCA_CMD_DESTROY_CQ, small.cqn), VHCA_ST_BUSY);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(t_destroy(&p.h[1], VHCA_CMD_DESTROY_QP, b[i].qpn), 0);
	assert_int_equal(t_destroy(&p.h[1], VHCA_CMD_DESTROY_CQ, small.cqn), VHCA_ST_OK);
	t_pair_fini(&p);
}

static void overrun_ignored(void **state)
{
	struct tpair p;
	struct tcq small;
	struct tqp a;
	struct vhca_cqe *last;

	t_pair_init(&p, 5, 1, 2);
	t_cq_init(&p.h[0], &small, 2, VHCA_CQ_IGNORE_OVERRUN | VHCA_CQ_TIMESTAMP);
	t_qp_init(&p.h[0], &a, &small, &p.cq[0]);
	t_connect(&a, &a, 5, 1, 1);
	for (u32 i = 0; i < 10; i++) {
		struct twr wr = { .opcode = VHCA_OP_NOP, .wr_id = i };

		t_send(&a, &wr);
	}
	t_expect_no_event(&p.h[0]);
	last = &small.ring[9 & 3];
	assert_int_equal(le64toh(last->wr_id), 9);
	assert_int_equal(le64toh(last->timestamp), p.w.now);
	t_pair_fini(&p);
}

/* A full EQ keeps events pending and tells so; none is lost. */
static void eq_overflow(void **state)
{
	enum { CQS = 200 };
	static struct tcq cq[CQS];
	struct tworld w;
	struct thca h;
	struct vhca_eqe e;
	bool seen[CQS] = { 0 };
	u32 got = 0, more = 0;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	for (u32 i = 0; i < CQS; i++) {
		struct tqp qp;
		struct twr wr = { .opcode = VHCA_OP_NOP };

		if (h.next_slot + 4 > VHCA_DB_SLOTS)
			break;
		t_cq_init(&h, &cq[i], 3, 0);
		t_cq_arm(&cq[i], false);
		t_qp_init_size(&h, &qp, &cq[i], &cq[i], 2, 0, 5, VHCA_QP_SIGNAL_ALL);
		t_connect(&qp, &qp, 3, 1, 1);
		t_send(&qp, &wr);
		got++;
	}
	assert_true(got > 1u << T_EQ_LOG);
	for (u32 n = 0; n < got; n++) {
		bool found = false;

		if (!t_eq_get(&h, &h.comp, &e))
			fail_msg("event %u of %u is missing", n, got);
		for (u32 i = 0; i < got; i++)
			if (cq[i].cqn == le32toh(e.number)) {
				assert_false(seen[i]);
				seen[i] = true;
				found = true;
			}
		assert_true(found);
		more += e.flags & VHCA_EQE_F_MORE;
		t_poll(&w);
	}
	assert_false(t_eq_get(&h, &h.comp, &e));
	assert_true(more >= 1);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/*
 * A device that fails while its event queue is full reports that when there is room, and no event
 * from before or after.  The engine sleeps meanwhile, and the driver's ring wakes it.
 */
static void dies_untold(void **state)
{
	enum { ROOM = 1u << T_EQ_LOG };
	struct tqp qp[ROOM + 3];
	struct vhca_eqe e;
	struct tworld w;
	struct thca h;
	struct tcq cq;
	u32 kicks;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 9, 0);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++) {
		t_qp_init_size(&h, &qp[i], &cq, &cq, 2, 0, 5, 0);
		t_connect(&qp[i], &qp[i], 3, 1, 1);
		t_ring(&h, qp[i].slot, 100);	/* more than the ring holds: fatal */
		t_poll(&w);
	}
	vdev_inject_fatal(h.dev);
	t_poll(&w);
	kicks = h.kicks;
	for (u32 i = 0; i < ROOM; i++)
		t_expect_event(&h, VHCA_EV_QP_FATAL, qp[i].qpn);
	/* the entry that filled the ring asked the driver to ring */
	assert_int_equal(h.kicks, kicks + 1);
	t_expect_event(&h, VHCA_EV_DEVICE_FATAL, 0);
	vdev_set_link(h.dev, 1, false);
	t_expect_no_event(&h);

	/* the next driver does not get the event again */
	vdev_set_link(h.dev, 1, true);
	vdev_reset(h.dev);
	h.admin_tail = 0;
	h.next_slot = 0;
	t_hca_start(&h);
	assert_false(t_eq_get(&h, &h.async, &e));
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Destroying an object drops its pending event. */
static void pending_of_destroyed(void **state)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct vhca_eqe e;
	struct tqp qp[70];
	u32 n = 1u << T_EQ_LOG;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 9, 0);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++) {
		t_qp_init_size(&h, &qp[i], &cq, &cq, 2, 0, 5, 0);
		t_connect(&qp[i], &qp[i], 3, 1, 1);
		t_ring(&h, qp[i].slot, 100);	/* more than the ring holds: fatal */
		t_poll(&w);
		assert_int_equal(t_state(&qp[i]), T_ERR);
	}
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++)
		if (i != n + 2)
			assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_QP, qp[i].qpn), 0);
	for (u32 i = 0; i < n; i++)
		t_expect_event(&h, VHCA_EV_QP_FATAL, qp[i].qpn);
	t_expect_event(&h, VHCA_EV_QP_FATAL, qp[n + 2].qpn);
	assert_false(t_eq_get(&h, &h.async, &e));
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* So does destroying a CQ whose completion event is pending. */
static void pending_of_destroyed_cq(void **state)
{
	const u32 n = 1u << T_EQ_LOG;
	struct tcq cq[(1u << T_EQ_LOG) + 3];
	struct tworld w;
	struct thca h;
	struct vhca_eqe e;
	u32 doomed;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	for (u32 i = 0; i < ARRAY_SIZE(cq); i++) {
		struct twr wr = { .opcode = VHCA_OP_NOP };
		struct tqp qp;

		t_cq_init(&h, &cq[i], 3, 0);
		t_cq_arm(&cq[i], false);
		t_qp_init_size(&h, &qp, &cq[i], &cq[i], 2, 0, 5, VHCA_QP_SIGNAL_ALL);
		t_connect(&qp, &qp, 3, 1, 1);
		t_send(&qp, &wr);
		assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_QP, qp.qpn), 0);
	}
	/* the ring holds the first n, the others are pending */
	doomed = cq[n + 1].cqn;
	assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_CQ, doomed), 0);
	for (u32 i = 0; i < ARRAY_SIZE(cq) - 1; i++) {
		assert_true(t_eq_get(&h, &h.comp, &e));
		assert_int_not_equal(le32toh(e.number), doomed);
		t_poll(&w);
	}
	assert_false(t_eq_get(&h, &h.comp, &e));
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* An SRQ whose limit event is due at once: it has fewer receives than its limit. */
static void srq_with_event(struct thca *h, struct tsrq *srq)
{
	t_srq_init(h, srq, 2, 6);
	assert_int_equal(t_srq_limit(srq, 1), VHCA_ST_OK);
}

/* So does destroying an SRQ: the next one with its number does not get its limit event. */
static void pending_of_destroyed_srq(void **state)
{
	const u32 n = 1u << T_EQ_LOG;
	struct tsrq srq[(1u << T_EQ_LOG) + 3], next;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	for (u32 i = 0; i < ARRAY_SIZE(srq); i++)
		srq_with_event(&h, &srq[i]);
	/* the ring holds the first n, the others are pending */
	assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_SRQ, srq[n + 1].srqn), 0);
	t_srq_init(&h, &next, 2, 6);
	assert_int_equal(next.srqn, srq[n + 1].srqn);
	for (u32 i = 0; i < ARRAY_SIZE(srq); i++)
		if (i != n + 1)
			t_expect_event(&h, VHCA_EV_SRQ_LIMIT, srq[i].srqn);
	t_expect_no_event(&h);
	/* which gets events of its own */
	assert_int_equal(t_srq_limit(&next, 1), VHCA_ST_OK);
	t_expect_event(&h, VHCA_EV_SRQ_LIMIT, next.srqn);
	t_expect_no_event(&h);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* A CQ that is overrun, and nothing completes to any more. */
static void cq_with_error(struct thca *h, struct tcq *cq)
{
	struct twr wr = { .opcode = VHCA_OP_NOP };
	struct tqp qp;

	t_cq_init(h, cq, 1, 0);
	t_qp_init_size(h, &qp, cq, cq, 2, 0, 5, VHCA_QP_SIGNAL_ALL);
	t_connect(&qp, &qp, 3, 1, 1);
	for (u32 i = 0; i < 3; i++)
		t_send(&qp, &wr);
	assert_int_equal(t_state(&qp), T_ERR);
	/* which also drops the QP's own event */
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, qp.qpn), 0);
}

/* So does destroying a CQ whose error event is pending. */
static void pending_error_of_destroyed_cq(void **state)
{
	const u32 n = 1u << T_EQ_LOG;
	struct tsrq srq[1u << T_EQ_LOG];
	struct tcq cq[3], next;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	/* the ring is full */
	for (u32 i = 0; i < n; i++)
		srq_with_event(&h, &srq[i]);
	for (u32 i = 0; i < ARRAY_SIZE(cq); i++)
		cq_with_error(&h, &cq[i]);
	assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_CQ, cq[1].cqn), 0);
	t_cq_init(&h, &next, 1, 0);
	assert_int_equal(next.cqn, cq[1].cqn);
	for (u32 i = 0; i < n; i++)
		t_expect_event(&h, VHCA_EV_SRQ_LIMIT, srq[i].srqn);
	t_expect_event(&h, VHCA_EV_CQ_ERR, cq[0].cqn);
	t_expect_event(&h, VHCA_EV_CQ_ERR, cq[2].cqn);
	t_expect_no_event(&h);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Port events wait for the async EQ, and only the newest state counts. */
static void port_events(void **state)
{
	const struct vdev_config cfg = { .name = "p", .ports = 1, .vectors = 4 };
	struct vhca_open_uar_req uar = { 0 };
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_bare(&h, &w, &cfg);
	vdev_set_link(h.dev, 1, false);
	vdev_set_link(h.dev, 1, true);
	vdev_set_link(h.dev, 1, false);
	h.db_iova = t_alloc(&h, 4096);
	h.db = t_cpu(&h, h.db_iova);
	uar.db_page = htole64(h.db_iova);
	h.uar = t_create(&h, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar));
	t_eq_init(&h, &h.async, 4, 1, VHCA_EQ_ASYNC);
	t_expect_event(&h, VHCA_EV_PORT_ERR, 0);
	t_expect_no_event(&h);
	vdev_set_link(h.dev, 1, true);
	t_expect_event(&h, VHCA_EV_PORT_ACTIVE, 0);
	assert_int_equal(vdev_set_link(h.dev, 2, true), -22);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Bytes that are sent before the first packet of a QP. */
struct queue_watch {
	u32 qpn, before;
	bool seen;
};

static void watch(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		  struct fab_effect *v)
{
	struct queue_watch *q = arg;

	q->seen |= h->dqpn == q->qpn && h->opcode == OP_RC_WRITE_ONLY;
	q->before += !q->seen;
}

/* A 64-byte WRITE waits for one slice of each QP before it, not for megabytes. */
static void fairness(void **state)
{
	struct queue_watch q = { 0 };
	struct tpair p;
	struct tqp big[8], peer, small;
	struct tmr l, r;
	struct twr wr;

	t_pair_init(&p, 5, 1, 2);
	t_mr_init(&p.h[0], &l, 0, 4 << 20, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 0, 4 << 20, RW, 1, 12);
	for (u32 i = 0; i < ARRAY_SIZE(big); i++) {
		t_qp_init(&p.h[0], &big[i], &p.cq[0], &p.cq[0]);
		t_qp_init(&p.h[1], &peer, &p.cq[1], &p.cq[1]);
		t_connect(&big[i], &peer, 5, 1, 2);
		for (u32 k = 0; k < 4; k++) {
			wr = t_wr(VHCA_OP_WRITE, 1000 + i, &l, 0, 4 << 20, &r, 0);
			t_post(&big[i], &wr);
		}
	}
	/* doorbells are looked at in order of slots: the small one comes last */
	t_qp_init(&p.h[0], &small, &p.cq[0], &p.cq[0]);
	t_qp_init(&p.h[1], &peer, &p.cq[1], &p.cq[1]);
	t_connect(&small, &peer, 5, 1, 2);
	q.qpn = peer.qpn;
	assert_int_equal(fab_set_packet_hook(p.w.fabric, watch, &q), 0);
	for (u32 i = 0; i < ARRAY_SIZE(big); i++)
		t_ring_sq(&big[i]);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 64, &r, 0);
	t_send(&small, &wr);
	assert_true(q.seen);
	assert_true(q.before >= 8);
	assert_true(q.before <= 8 * (64 << 10) / 4096 + 8);
	t_pair_fini(&p);
}

/* The same between devices: one with many QPs, one with a single one. */
static void device_fairness(void **state)
{
	struct queue_watch q = { 0 };
	struct tpair p;
	struct tqp big[20], peer;
	struct tmr l, r;
	struct twr wr;

	t_pair_init(&p, 5, 1, 2);
	t_mr_init(&p.h[0], &l, 0, 1 << 20, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 0, 1 << 20, RW, 1, 12);
	for (u32 i = 0; i < ARRAY_SIZE(big); i++) {
		t_qp_init(&p.h[0], &big[i], &p.cq[0], &p.cq[0]);
		t_qp_init(&p.h[0], &peer, &p.cq[0], &p.cq[0]);
		t_connect(&big[i], &peer, 5, 1, 2);
		wr = t_wr(VHCA_OP_WRITE, 1000 + i, &l, 0, 1 << 20, &l, 0);
		t_post(&big[i], &wr);
	}
	q.qpn = p.qp[0].qpn;
	assert_int_equal(fab_set_packet_hook(p.w.fabric, watch, &q), 0);
	for (u32 i = 0; i < ARRAY_SIZE(big); i++)
		t_ring_sq(&big[i]);
	wr = t_wr(VHCA_OP_WRITE, 1, &r, 0, 64, &l, 0);
	t_send(&p.qp[1], &wr);
	assert_true(q.seen);
	assert_true(q.before <= 2 * (64 << 10) / 4096);
	t_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arming),
		cmocka_unit_test(solicited),
		cmocka_unit_test(solicited_behind_any),
		cmocka_unit_test(arm_number_comes_again),
		cmocka_unit_test(together),
		cmocka_unit_test(absurd_receives),
		cmocka_unit_test(overrun),
		cmocka_unit_test(overrun_by_receives),
		cmocka_unit_test(overrun_ignored),
		cmocka_unit_test(eq_overflow),
		cmocka_unit_test(dies_untold),
		cmocka_unit_test(pending_of_destroyed),
		cmocka_unit_test(pending_of_destroyed_cq),
		cmocka_unit_test(pending_of_destroyed_srq),
		cmocka_unit_test(pending_error_of_destroyed_cq),
		cmocka_unit_test(port_events),
		cmocka_unit_test(fairness),
		cmocka_unit_test(device_fairness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
