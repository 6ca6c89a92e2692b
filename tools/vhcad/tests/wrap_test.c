// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues that have been in use for so long that their counts of 32 bits are about to wrap.  The
 * consumer's counts have more bits.
 */
#include <string.h>

#include "dev/hca.h"
#include "qp/srq.h"
#include "tests/tkey.h"

#define WRAP	(1ull << 32)
/* An even lap of any ring here: a cleared entry is not valid in it. */
#define START	(WRAP - 1024)
#define ROUNDS	1500u
#define LEN	3000u	/* two packets, so that entries are needed again */
#define MESSAGES 40u

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static void cq_used(struct tcq *cq)
{
	struct vcq *v = table_get(&cq->h->dev->cqs, cq->cqn);

	v->pi = START;
	v->ci = START;
	cq->ci = START;
	t_set_rec(cq->h, cq->slot, START);
}

static void eq_used(struct thca *h, struct teq *eq)
{
	struct veq *v = table_get(&h->dev->eqs, eq->eqn);

	memset(eq->ring, 0, sizeof(*eq->ring) << eq->log);
	v->pi = START;
	v->ci = START;
	eq->ci = START;
	t_set_rec(h, eq->slot, START);
}

/* Number of units of both queues: blocks, and strides. */
static void qp_used(struct tqp *qp)
{
	struct vqp *v = t_vqp(qp);

	v->req.blk_prod = START;
	v->req.blk_next = START;
	v->req.head = START;
	v->req.cur = START;
	v->req.tail = START;
	qp->sq_prod = START;
	t_set_rec(qp->h, qp->slot, START);
	v->recv.posted = START;
	v->recv.next = START;
	qp->rq_prod = START;
	t_set_rec(qp->h, qp->slot + 1, START);
}

static void start(struct fixture *f)
{
	t_pair_init_regions(&f->p, 0xffff00, 9, &f->l, &f->r, LEN, T_RW, 0);
	t_mr_fill(&f->l, 3);
	for (u32 i = 0; i < 2; i++) {
		cq_used(&f->p.cq[i]);
		eq_used(&f->p.h[i], &f->p.h[i].comp);
		qp_used(&f->p.qp[i]);
	}
}

static void message(struct fixture *f, struct tqp *from, struct tqp *to, u32 n)
{
	struct twr wr = t_wr(VHCA_OP_SEND, n, &f->l, 0, LEN, NULL, 0);
	struct thca *h = &f->p.h[1];
	struct vhca_eqe e;

	t_cq_arm(&f->p.cq[1], false);
	t_send(from, &wr);
	t_expect_cqe(&f->p.cq[0], n, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->p.cq[1], n, VHCA_CS_SUCCESS);
	assert_true(t_eq_get(h, &h->comp, &e));
	assert_int_equal(le32toh(e.number), f->p.cq[1].cqn);
	assert_false(t_eq_get(h, &h->comp, &e));
	assert_int_equal(t_state(to), T_RTS);
}

static void own_queues(void **state)
{
	static struct fixture f;

	start(&f);
	for (u32 n = 0; n < ROUNDS; n++) {
		struct vhca_sge s = { f.r.iova, LEN, f.r.key };

		t_recv(&f.p.qp[1], n, 1, &s);
		message(&f, &f.p.qp[0], &f.p.qp[1], n);
	}
	assert_true((u32)f.p.qp[1].rq_prod < START && (u32)f.p.qp[0].sq_prod < START);
	assert_true((u32)f.p.cq[1].ci < START);
	t_mr_expect(&f.r, 0, LEN, 3, 0);
	t_pair_fini(&f.p);
}

/* Two at a time: an arming that names the first one is answered by the second one, too. */
static void two_at_a_time(void **state)
{
	static struct fixture f;
	struct tcq *cq = &f.p.cq[1];
	struct thca *h = &f.p.h[1];
	struct vhca_sge s;
	struct vhca_eqe e;
	struct vcq *v;
	u32 irqs = 0;

	start(&f);
	s = t_sge(&f.r, 0, LEN);
	v = table_get(&h->dev->cqs, cq->cqn);
	/* the counts are odd from here on, so that they wrap between the two */
	t_recv(&f.p.qp[1], 0, 1, &s);
	message(&f, &f.p.qp[0], &f.p.qp[1], 0);
	for (u32 n = 1; n < ROUNDS; n++) {
		struct twr wr = t_wr(VHCA_OP_SEND, n, &f.l, 0, LEN, NULL, 0);

		/* the last consumer count that the CQ has read is that of a full ring */
		v->ci = v->pi - (1u << v->log);
		t_recv(&f.p.qp[1], n, 1, &s);
		t_cq_arm(cq, false);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], n, VHCA_CS_SUCCESS);
		if (n % 2) {
			irqs = h->irqs[2];
			t_eq_arm(h, &h->comp);
			continue;
		}
		assert_int_equal(h->irqs[2], irqs + 1);
		for (u32 i = 0; i < 2; i++) {
			assert_true(t_eq_get(h, &h->comp, &e));
			assert_int_equal(le32toh(e.number), cq->cqn);
			t_expect_cqe(cq, n - 1 + i, VHCA_CS_SUCCESS);
		}
		assert_false(t_eq_get(h, &h->comp, &e));
	}
	assert_true((u32)cq->ci < START && (u32)h->comp.ci < START);
	t_pair_fini(&f.p);
}

/* The limit uses the same counts. */
static void shared_receives(void **state)
{
	static struct fixture f;
	struct vsrq *v;
	struct tsrq srq;
	struct tqp from, to;

	start(&f);
	eq_used(&f.p.h[1], &f.p.h[1].async);
	t_srq_init(&f.p.h[1], &srq, 5, 6);
	v = table_get(&f.p.h[1].dev->srqs, srq.srqn);
	v->posted = START;
	v->taken = START;
	srq.posted = START;
	t_set_rec(&f.p.h[1], srq.slot, START);
	t_set_rec(&f.p.h[1], srq.slot + 1, START);
	t_qp_init(&f.p.h[0], &from, &f.p.cq[0], &f.p.cq[0]);
	t_qp_init_srq(&f.p.h[1], &to, &f.p.cq[1], &f.p.cq[1], &srq);
	t_connect(&from, &to, 3, 1, 2);
	qp_used(&from);
	for (u32 n = 0; n < ROUNDS; n++) {
		struct vhca_sge s = { f.r.iova, LEN, f.r.key };

		t_srq_recv(&srq, n, 1, &s);
		t_srq_recv(&srq, n + 1, 1, &s);
		assert_int_equal(t_srq_limit(&srq, 2), VHCA_ST_OK);
		t_expect_no_event(&f.p.h[1]);
		message(&f, &from, &to, n);
		t_expect_event(&f.p.h[1], VHCA_EV_SRQ_LIMIT, srq.srqn);
		/* the record has 32 bits */
		assert_true(t_rec(&f.p.h[1], srq.slot + 1) == (u32)(START + 2 * n + 1));
		message(&f, &from, &to, n + 1);
	}
	assert_true(f.p.h[1].async.ci < START);
	t_mr_expect(&f.r, 0, LEN, 3, 0);
	t_pair_fini(&f.p);
}

/*
 * Packets count messages in 24 bits, the sender in 32.  If it took the count in an answer for less
 * than it is, the first packet of a message would ask for an answer of its own.
 */
static void count_messages(u32 first)
{
	static struct fixture f;
	struct vqp *from, *to;
	u64 *answers;

	start(&f);
	from = t_vqp(&f.p.qp[0]);
	to = t_vqp(&f.p.qp[1]);
	answers = &f.p.h[1].dev->port[0].fab.ib.tx_packets;
	from->req.ssn = first;
	to->resp.msn = first & PSN_MASK;
	for (u32 i = 0; i < 2; i++) {
		struct vhca_sge s = { f.r.iova, LEN, f.r.key };

		t_recv(&f.p.qp[1], i, 1, &s);
	}
	for (u32 n = 0; n < 2 * MESSAGES; n++) {
		struct vhca_sge s = { f.r.iova, LEN, f.r.key };
		u64 before = *answers;

		message(&f, &f.p.qp[0], &f.p.qp[1], n);
		assert_int_equal(*answers - before, 1);
		assert_int_equal(to->resp.msn, (first + n + 1) & PSN_MASK);
		assert_true(from->req.lsn_valid);
		t_recv(&f.p.qp[1], n + 2, 1, &s);
	}
	assert_int_equal(from->req.ssn, first + 2 * MESSAGES);
	t_pair_fini(&f.p);
}

static void numbers_of_messages(void **state)
{
	count_messages(PSN_MASK + 1 - MESSAGES);
	count_messages((u32)-MESSAGES);
}

/* Commands one by one, and at the wrap as many as there is room for. */
static void admin_queue(void **state)
{
	struct tworld w;
	struct thca h;
	struct hca *hca;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x1000);
	hca = to_hca(h.dev);
	memset(h.acq, 0, sizeof(*h.acq) << T_ADMIN_LOG);
	hca->admin.head = START;
	hca->admin.tail = START;
	hca->admin.done = START;
	h.admin_tail = START;
	for (u32 n = 0; n < ROUNDS; n++) {
		const struct vhca_asqe nop = { .opcode = VHCA_CMD_NOP };

		if (h.admin_tail == (u32)(WRAP - (1u << T_ADMIN_LOG) / 2))
			for (u32 i = 1; i < 1u << T_ADMIN_LOG; i++)
				t_admin_post(&h, &nop);
		assert_int_equal(t_admin_raw(&h, &nop, NULL), VHCA_ST_OK);
		assert_int_equal(hca->admin.done, h.admin_tail);
	}
	assert_true(h.admin_tail < START);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_queues), cmocka_unit_test(two_at_a_time),
		cmocka_unit_test(shared_receives),
		cmocka_unit_test(numbers_of_messages), cmocka_unit_test(admin_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
