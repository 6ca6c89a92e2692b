// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: which QP gets which receive, when its stride is free, the
 * limit, resizing, and failures.
 */
#include "tests/srq.h"

/* ---- order of receives ---- */

/* Receives are taken in the order of arrival, by any QP; over several laps of the ring. */
static void first_come(void **state)
{
	struct fixture *f = *state;

	for (u32 lap = 0; lap < 5; lap++) {
		for (u32 i = 0; i < PAIRS; i++)
			post(f, i);
		for (u32 i = 0; i < PAIRS; i++) {
			u32 pair = (i * 5 + lap) % PAIRS;

			send(f, pair, LEN);
			t_expect_cqe(&f->cq[0], pair, VHCA_CS_SUCCESS);
			arrived(f, pair, i);
			assert_int_equal(t_srq_taken(&f->srq), lap * PAIRS + i + 1);
		}
	}
	assert_int_equal(le32toh(query(f).left), 0);
	assert_true(t_rec(&f->h[1], f->srq.slot + 1) == 5 * PAIRS);
}

/* Each packet is delayed, those to one QP less than those to others. */
static u32 sooner;

static void staggered(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	v->delay = 2 * MSEC * (h->psn % 100) + (h->dqpn == sooner ? 0 : MSEC);
}

/* Packets for a shared receive and for one of a QP's own ring arrive in turns. */
static void beside_own_rings(void **state)
{
	struct fixture *f = *state;
	struct vhca_sge s = t_sge(&f->dst, LEN, LEN);
	struct twr wr = message(f, 1, LEN);
	struct tqp from, to;

	t_qp_init(&f->h[0], &from, &f->cq[0], &f->cq[0]);
	t_qp_init(&f->h[1], &to, &f->cq[1], &f->cq[1]);
	t_connect(&from, &to, 3, 100, 9000);
	post(f, 0);
	t_recv(&to, 1, 1, &s);
	sooner = to.qpn;
	assert_int_equal(fab_set_packet_hook(f->w.fabric, staggered, NULL), 0);
	t_send(&from, &wr);
	send(f, 0, LEN);
	for (u32 i = 0; i < 5; i++) {
		f->w.now += MSEC;
		t_poll(&f->w);
	}
	t_expect_cqe(&f->cq[1], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f->dst, LEN, LEN, 7, LEN);
	arrived(f, 0, 0);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
}

/* All send at once: the order is that of the senders' turns, and each gets one turn in a round. */
static void all_at_once(void **state)
{
	struct fixture *f = *state;
	bool seen[PAIRS] = { 0 };
	struct vhca_cqe e;

	for (u32 i = 0; i < 2 * PAIRS; i++)
		post(f, i);
	for (u32 i = 0; i < PAIRS; i++) {
		struct twr wr = message(f, i, LEN);

		t_post(&f->a[i], &wr);
		t_set_rec(&f->h[0], f->a[i].slot, f->a[i].sq_prod);
	}
	for (u32 i = 0; i < PAIRS; i++)
		t_ring(&f->h[0], f->a[i].slot, f->a[i].sq_prod);
	t_poll(&f->w);
	for (u32 i = 0; i < PAIRS; i++) {
		u32 pair;

		assert_true(t_cq_poll(&f->cq[1], &e));
		for (pair = 0; f->b[pair].qpn != le32toh(e.qpn); pair++)
			assert_true(pair < PAIRS - 1);
		assert_int_equal(le64toh(e.wr_id), i);
		assert_false(seen[pair]);
		seen[pair] = true;
		t_mr_expect(&f->dst, i * LEN, LEN, 7, pair * LEN);
	}
	assert_int_equal(le32toh(query(f).left), PAIRS);
}

/* Senders without a receive wait, and get one each when there are some. */
static void not_ready(void **state)
{
	struct fixture *f = *state;
	bool seen[PAIRS] = { 0 };
	struct vhca_cqe e;

	for (u32 i = 0; i < PAIRS; i++)
		send(f, i, LEN);
	t_expect_no_cqe(&f->cq[1]);
	for (u32 i = 0; i < PAIRS; i++)
		post(f, i);
	t_settle(&f->w, SECOND);
	for (u32 i = 0; i < PAIRS; i++) {
		u32 pair;

		assert_true(t_cq_poll(&f->cq[1], &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
		for (pair = 0; f->b[pair].qpn != le32toh(e.qpn); pair++)
			assert_true(pair < PAIRS - 1);
		assert_false(seen[pair]);
		seen[pair] = true;
		t_mr_expect(&f->dst, le64toh(e.wr_id) * LEN, LEN, 7, pair * LEN);
	}
	t_expect_no_cqe(&f->cq[1]);
	t_expect_no_event(&f->h[1]);
}

/* A thousand QPs that all send at once, many times: each message arrives once. */
static void a_thousand(void **state)
{
	enum { QPS = 1000, TIMES = 5 };
	static struct tqp a[QPS], b[QPS];
	static u8 seen[QPS];
	struct fixture *f = *state;
	struct tsrq srq;
	struct vhca_cqe e;
	struct tcq cq[2];

	for (u32 i = 0; i < 2; i++) {
		t_db_pages(&f->h[i]);
		t_cq_init(&f->h[i], &cq[i], 10, 0);
	}
	t_srq_init(&f->h[1], &srq, 10, 5);
	for (u32 i = 0; i < QPS; i++) {
		t_qp_init_size(&f->h[0], &a[i], &cq[0], &cq[0], 2, 0, 5, VHCA_QP_SIGNAL_ALL);
		t_qp_init_srq(&f->h[1], &b[i], &cq[1], &cq[1], &srq);
		t_connect(&a[i], &b[i], 3, 100, 9000);
	}
	for (u32 k = 0; k < TIMES; k++) {
		memset(seen, 0, sizeof(seen));
		for (u32 i = 0; i < QPS; i++) {
			struct vhca_sge s = t_sge(&f->dst, 4 * i, 4);

			t_srq_recv(&srq, i, 1, &s);
		}
		for (u32 i = 0; i < QPS; i++) {
			struct twr wr = {
				.opcode = VHCA_OP_SEND, .flags = VHCA_WQE_INLINE, .data = &i,
				.data_len = sizeof(i),
			};

			t_post(&a[i], &wr);
			t_ring_sq(&a[i]);
		}
		for (u32 i = 0; i < QPS; i++) {
			u32 who;

			e = t_expect_cqe(&cq[1], i, VHCA_CS_SUCCESS);
			t_mr_get(&f->dst, 4 * i, &who, sizeof(who));
			assert_true(who < QPS && !seen[who]++);
			assert_int_equal(le32toh(e.qpn), b[who].qpn);
			t_expect_cqe(&cq[0], 0, VHCA_CS_SUCCESS);
		}
		t_expect_no_cqe(&cq[1]);
	}
	t_expect_no_event(&f->h[1]);
}

static u32 credit_code;

static void see_credits(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	if (h->syndrome)
		credit_code = h->syndrome;
}

/* Answers carry no credits: receives of an SRQ cannot be promised to a QP. */
static void no_credits(void **state)
{
	struct fixture *f = *state;
	struct twr read = t_wr(VHCA_OP_READ, 1, &f->src, 0, 100, &f->dst, 0);

	post(f, 0);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, see_credits, NULL), 0);
	send(f, 0, LEN);
	assert_int_equal(credit_code, AETH_ACK | AETH_CREDIT_INVALID);
	credit_code = 0;
	t_send(&f->a[0], &read);
	assert_int_equal(credit_code, AETH_ACK | AETH_CREDIT_INVALID);
}

/* The receives name memory of the SRQ's PD, whatever the QP's is. */
static void domain(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	u32 pd = h->pd;
	struct tqp a, b;
	struct twr wr = message(f, 0, LEN);

	h->pd = t_create(h, VHCA_CMD_CREATE_PD, NULL, 0);
	t_qp_init_srq(h, &b, &f->cq[1], &f->cq[1], &f->srq);
	t_qp_init(&f->h[0], &a, &f->cq[0], &f->cq[0]);
	t_connect(&a, &b, 3, 100, 9000);
	post(f, 3);
	t_send(&a, &wr);
	t_expect_cqe(&f->cq[0], 0, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->cq[1], 3, VHCA_CS_SUCCESS);
	t_mr_expect(&f->dst, 3 * LEN, LEN, 7, 0);
	/* and one of the QP's own is refused */
	t_mr_init(h, &f->dst, 0, LEN, RW, 1, 12);
	post(f, 0);
	t_send(&a, &wr);
	t_expect_cqe(&f->cq[0], 0, VHCA_CS_REM_OP_ERR);
	t_expect_cqe(&f->cq[1], 0, VHCA_CS_LOC_PROT_ERR);
	h->pd = pd;
}

/* ---- when a stride is free ---- */

/* A stride that is reused during a message does not change the message's destination. */
static void stride_is_free(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < PAIRS; i++)
		post(f, i);
	/* half of sixteen messages, each with a receive of its own */
	for (u32 i = 0; i < PAIRS; i++)
		send_half(f, i);
	memset(f->srq.ring, 0xee, 1u << (LOG + 7));
	/* this number fits only if the strides are free */
	for (u32 i = 0; i < 1u << LOG; i++)
		post(f, 16 + i);
	send_rest(f);
	for (u32 i = 0; i < PAIRS; i++)
		arrived(f, i, i);
	assert_int_equal(le32toh(query(f).left), 1u << LOG);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
	send(f, 5, LEN);
	arrived(f, 5, 16);
}

/* ---- the limit ---- */

static void limit(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];

	for (u32 i = 0; i < 6; i++)
		post(f, i);
	assert_int_equal(t_srq_limit(&f->srq, 5), VHCA_ST_OK);
	assert_int_equal(le32toh(query(f).limit), 5);
	send(f, 0, LEN);
	t_expect_no_event(h);		/* five are left, which is not fewer */
	send(f, 0, LEN);
	t_expect_event(h, VHCA_EV_SRQ_LIMIT, f->srq.srqn);
	assert_int_equal(le32toh(query(f).limit), 0);
	send(f, 0, LEN);
	t_expect_no_event(h);		/* once */

	/* a limit that is above the number of receives already */
	assert_int_equal(t_srq_limit(&f->srq, 4), VHCA_ST_OK);
	t_expect_event(h, VHCA_EV_SRQ_LIMIT, f->srq.srqn);
	assert_int_equal(le32toh(query(f).limit), 0);
	assert_int_equal(t_srq_limit(&f->srq, 3), VHCA_ST_OK);
	t_expect_no_event(h);
	/* disarmed, and armed for the last one */
	assert_int_equal(t_srq_limit(&f->srq, 0), VHCA_ST_OK);
	send(f, 0, LEN);
	t_expect_no_event(h);
	assert_int_equal(t_srq_limit(&f->srq, 1), VHCA_ST_OK);
	send(f, 0, LEN);
	t_expect_no_event(h);
	send(f, 0, LEN);
	t_expect_event(h, VHCA_EV_SRQ_LIMIT, f->srq.srqn);
	/* as many as there are places, and one more */
	for (u32 i = 0; i < 1u << LOG; i++)
		post(f, i);
	assert_int_equal(t_srq_limit(&f->srq, 1u << LOG), VHCA_ST_OK);
	t_expect_no_event(h);
	assert_int_equal(t_srq_limit(&f->srq, (1u << LOG) + 1), VHCA_ST_BAD_FIELD);
	send(f, 0, LEN);
	t_expect_event(h, VHCA_EV_SRQ_LIMIT, f->srq.srqn);
	t_expect_no_event(h);
}

/* ---- another ring ---- */

static void resize_in_use(struct fixture *f)
{
	u32 next = 0, place = 0;

	/* some were taken, one of them by a message under way, some are posted */
	for (u32 i = 0; i < 20; i++)
		post(f, place++);
	for (u32 i = 0; i < 11; i++, next++) {
		send(f, next % PAIRS, LEN);
		arrived(f, next % PAIRS, next);
	}
	send_half(f, 15);
	assert_int_equal(resize(f, LOG + 2), VHCA_ST_OK);
	send_rest(f);
	arrived(f, 15, next++);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
	for (; next < 20; next++) {
		send(f, next % PAIRS, LEN);
		arrived(f, next % PAIRS, next);
	}
	/* more than the old one took */
	for (u32 i = 0; i < 40; i++)
		post(f, place++);
	assert_int_equal(le32toh(query(f).left), 40);
	/* fewer places than receives: nothing changes */
	assert_int_equal(resize(f, LOG), VHCA_ST_BAD_STATE);
	assert_int_equal(f->h[1].bad_field, offsetof(struct vhca_asqe, req) +
			 offsetof(struct vhca_resize_srq_hw_req, log_strides));
	for (u32 i = 0; i < 8; i++, next++) {
		send(f, i, LEN);
		arrived(f, i, next);
	}
	/* exactly full */
	assert_int_equal(t_srq_limit(&f->srq, 32), VHCA_ST_OK);
	assert_int_equal(resize(f, LOG), VHCA_ST_OK);
	assert_int_equal(le32toh(query(f).limit), 32);
	for (u32 i = 0; i < 32; i++, next++) {
		send(f, i % PAIRS, LEN);
		arrived(f, i % PAIRS, next);
	}
	t_expect_event(&f->h[1], VHCA_EV_SRQ_LIMIT, f->srq.srqn);
	t_expect_no_event(&f->h[1]);
}

static void resizing(void **state)
{
	resize_in_use(*state);
}

/* The counts of 32 bits wrap among the receives that are left at the first resize. */
static void resizing_across_the_wrap(void **state)
{
	struct fixture *f = *state;
	struct vsrq *v = table_get(&f->h[1].dev->srqs, f->srq.srqn);
	const u32 start = -16;

	v->posted = start;
	v->taken = start;
	f->srq.posted = start;
	t_set_rec(&f->h[1], f->srq.slot, start);
	t_set_rec(&f->h[1], f->srq.slot + 1, start);
	resize_in_use(f);
	assert_int_equal(t_srq_taken(&f->srq), start + 60);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(first_come),
		TEST(beside_own_rings),
		TEST(all_at_once),
		TEST(not_ready),
		TEST(a_thousand),
		TEST(no_credits),
		TEST(domain),
		TEST(stride_is_free),
		TEST(limit),
		TEST(resizing),
		TEST(resizing_across_the_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
