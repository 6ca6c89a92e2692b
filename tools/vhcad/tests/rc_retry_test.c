// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC over a bad wire: every packet lost once, and random loss, duplication and
 * reordering, against a model of what memory and completions must be.
 */
#include "tests/rc_retry.h"

/* SENDs, WRITEs with and without immediate, READs, one after the other. */
static void conversation(struct fixture *f)
{
	struct vhca_sge s[2] = { t_sge(&f->r, 100000, 3000), t_sge(&f->r, 110000, 700) };
	struct twr wr;

	t_recv(&f->p.qp[1], 50, 1, &s[0]);
	t_recv(&f->p.qp[1], 51, 0, NULL);
	t_recv(&f->p.qp[1], 52, 1, &s[1]);
	wr = t_wr(VHCA_OP_SEND, 1, &f->l, 0, 3000, NULL, 0);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_WRITE, 2, &f->l, 5000, 2500, &f->r, 20000);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_READ, 3, &f->l, 200000, 3500, &f->r, 40000);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_WRITE_IMM, 4, &f->l, 9000, 1500, &f->r, 30000);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_READ, 5, &f->l, 210000, 100, &f->r, 60000);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_READ, 6, &f->l, 220000, 2049, &f->r, 70000);
	t_post(&f->p.qp[0], &wr);
	wr = t_wr(VHCA_OP_SEND_IMM, 7, &f->l, 11000, 700, NULL, 0);
	t_post(&f->p.qp[0], &wr);
	t_ring_sq(&f->p.qp[0]);
	t_settle(&f->p.w, 60ull * 1000000000);
	for (u32 i = 1; i <= 7; i++)
		t_expect_cqe(&f->p.cq[0], i, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f->p.cq[0]);
	assert_int_equal(le32toh(t_expect_cqe(&f->p.cq[1], 50, 0).byte_len), 3000);
	assert_int_equal(le32toh(t_expect_cqe(&f->p.cq[1], 51, 0).byte_len), 1500);
	assert_int_equal(le32toh(t_expect_cqe(&f->p.cq[1], 52, 0).byte_len), 700);
	t_expect_no_cqe(&f->p.cq[1]);
	t_mr_expect(&f->r, 100000, 3000, 1, 0);
	t_mr_expect(&f->r, 20000, 2500, 1, 5000);
	t_mr_expect(&f->r, 30000, 1500, 1, 9000);
	t_mr_expect(&f->r, 110000, 700, 1, 11000);
	t_mr_expect(&f->l, 200000, 3500, 2, 40000);
	t_mr_expect(&f->l, 210000, 100, 2, 60000);
	t_mr_expect(&f->l, 220000, 2049, 2, 70000);
	t_expect_no_event(&f->p.h[0]);
	t_expect_no_event(&f->p.h[1]);
}

/* Changes each packet of the conversation in turn, one in each run. */
static void to_each(u32 copies, u64 delay)
{
	s32 total = 1;

	for (s32 victim = -1; victim < total; victim++) {
		struct tnth n = { .victim = victim, .copies = copies, .delay = delay };
		struct fixture f;

		setup(&f, 3, 0xfffffc);
		assert_int_equal(fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n), 0);
		conversation(&f);
		if (victim < 0)
			total = n.seen;
		done(&f);
	}
	assert_true(total >= 20);
}

static void lose_each(void **state) { to_each(0, 0); }
static void double_each(void **state) { to_each(2, 0); }
static void delay_each(void **state) { to_each(1, 50000); }
static void delay_each_past_timeout(void **state) { to_each(1, 200000000); }
static void double_each_late(void **state) { to_each(3, 100000000); }

/*
 * A loss is detected by later packets, long before the timer: a lost request
 * by the NAK of the next, a lost answer to a READ by the next acknowledgment.
 */
static void no_need_to_wait(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_READ };

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		/* the request itself; the first packet of a READ's answer */
		struct tnth n = { .victim = i ? 3 : 0 };
		struct fixture f;
		struct twr wr;
		u64 t0;

		setup(&f, 3, 1);
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
		t0 = f.p.w.now;
		wr = t_wr(ops[i], 1, &f.l, 0, 1000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
		wr = t_wr(VHCA_OP_WRITE, 2, &f.l, 5000, 1000, &f.r, 5000);
		t_post(&f.p.qp[0], &wr);
		wr.wr_id = 3;
		t_post(&f.p.qp[0], &wr);
		t_ring_sq(&f.p.qp[0]);
		t_poll(&f.p.w);
		for (u32 id = 1; id <= 3; id++)
			t_expect_cqe(&f.p.cq[0], id, VHCA_CS_SUCCESS);
		assert_int_equal(f.p.w.now, t0);
		assert_true(n.seen > n.victim);
		t_mr_expect(i ? &f.l : &f.r, 0, 1000, i ? 2 : 1, 0);
		done(&f);
	}
}

/* A NAK that is duplicated many times counts once. */
static void double_naks(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	t_nth_hook(arg, from, h, v);
	if (h->opcode == OP_RC_ACK && (h->syndrome & AETH_TYPE_MASK) == AETH_NAK)
		v->copies = 20;
}

static void nak_doubled(void **state)
{
	struct tnth n = { .victim = 0 };
	struct fixture f;
	struct twr wr;

	setup(&f, 3, 1);
	fab_set_packet_hook(f.p.w.fabric, double_naks, &n);
	for (u32 id = 1; id <= 3; id++) {
		wr = t_wr(VHCA_OP_WRITE, id, &f.l, 0, 1000, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	for (u32 id = 1; id <= 3; id++)
		t_expect_cqe(&f.p.cq[0], id, VHCA_CS_SUCCESS);
	done(&f);
}

/* Loses a PSN a number of times, and a number of the NAKs for it. */
struct lost_again {
	u32 psn, packets, naks;
};

static void lose_again(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		       struct fab_effect *v)
{
	struct lost_again *l = arg;
	bool nak = h->opcode == OP_RC_ACK && (h->syndrome & AETH_TYPE_MASK) == AETH_NAK;

	if (nak ? l->naks : h->opcode != OP_RC_ACK && h->psn == l->psn && l->packets) {
		--*(nak ? &l->naks : &l->packets);
		v->copies = 0;
	}
}

/*
 * A retransmission may be lost again, and so may its NAK.  Neither needs the whole time of the
 * timer; a third loss does.
 */
static void lost_again(void **state)
{
	static const struct {
		u32 packets, naks, timeouts;
		u64 time;	/* ns */
	} c[] = {
		{ 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 2, 0, 0, (4096 << 14) / 64 },
		{ 2, 1, 0, (4096 << 14) / 64 }, { 3, 0, 1, (4096 << 14) * 65ull / 64 },
		{ 2, 9, 2, 2 * (4096 << 14) },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct lost_again l = { .psn = 0x000001, .packets = c[i].packets,
					.naks = c[i].naks };
		struct fixture f;
		u64 t0;

		setup(&f, 3, 0xffffff);
		fab_set_packet_hook(f.p.w.fabric, lose_again, &l);
		t0 = f.p.w.now;
		for (u32 id = 0; id < 100; id++) {
			struct twr wr = t_wr(VHCA_OP_WRITE, id, &f.l, id * 1000, 1000, &f.r,
					     id * 1000);

			t_post(&f.p.qp[0], &wr);
		}
		t_ring_sq(&f.p.qp[0]);
		t_poll(&f.p.w);
		while (t_vqp(&f.p.qp[0])->req.head != 100)
			assert_true(t_advance(&f.p.w));
		if (f.p.w.now - t0 != c[i].time)
			fail_msg("case %u: %llu ns", i, (unsigned long long)(f.p.w.now - t0));
		assert_int_equal(t_stats(&f.p.h[0]).timeouts, c[i].timeouts);
		for (u32 id = 0; id < 100; id++)
			t_expect_cqe(&f.p.cq[0], id, VHCA_CS_SUCCESS);
		t_mr_expect(&f.r, 0, 100000, 1, 0);
		done(&f);
	}
}

/* Everything is lost from some packet on: the retries run out, no sooner. */
struct cut {
	u32 after, seen;
};

static void cut_cable(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	struct cut *c = arg;

	if (c->seen++ >= c->after)
		v->copies = 0;
}

static void cut_mid_transfer(void **state)
{
	for (u32 after = 0; after < 12; after++) {
		struct cut c = { .after = after };
		struct fixture f;
		struct twr wr;

		setup(&f, 1, 9);
		fab_set_packet_hook(f.p.w.fabric, cut_cable, &c);
		wr = t_wr(after % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, 1, &f.l, 0, 20000, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		t_settle(&f.p.w, 60ull * 1000000000);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
		t_expect_no_cqe(&f.p.cq[0]);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		done(&f);
	}
}

/* The receiver was not ready once, and its RNR NAK is duplicated. */
static void not_ready_doubled(void **state)
{
	const struct fab_fault twice = { .kind = FAB_DUPLICATE, .permille = 1000, .count = 1,
					 .opcode = "ACK" };
	struct vhca_qp_attr a = { .state = T_SQD };
	struct vhca_sge s;
	struct fixture f;
	struct twr wr;

	setup(&f, 3, 1);
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	a = (struct vhca_qp_attr){ .state = T_RTS, .rnr_retry = 1 };
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_RNR_RETRY), VHCA_ST_OK);
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	assert_int_equal(fab_fault_arm(f.p.w.fabric, &twice), 0);
	s = t_sge(&f.r, 0, 5000);
	wr = t_wr(VHCA_OP_SEND, 1, &f.l, 0, 700, NULL, 0);
	t_send(&f.p.qp[0], &wr);
	t_recv(&f.p.qp[1], 71, 1, &s);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[1], 71, VHCA_CS_SUCCESS);
	done(&f);
}

/* A port that goes down and comes back: the transfer goes on. */
static void link_flap(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f, 3, 1);
	assert_int_equal(vdev_set_link(f.p.h[1].dev, 1, false), 0);
	t_expect_event(&f.p.h[1], VHCA_EV_PORT_ERR, 0);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 50000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_true(t_advance(&f.p.w));
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(vdev_set_link(f.p.h[1].dev, 1, true), 0);
	t_expect_event(&f.p.h[1], VHCA_EV_PORT_ACTIVE, 0);
	assert_true(t_advance(&f.p.w));
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f.r, 0, 50000, 1, 0);
	done(&f);
}

/* Forged answers of the peer must change nothing. */
static void ghosts(void **state)
{
	static const u8 syndromes[] = {
		AETH_ACK | AETH_CREDIT_INVALID, AETH_RNR_NAK | 14, AETH_NAK,
		AETH_NAK | NAK_REMOTE_ACCESS, AETH_NAK | NAK_INVALID_REQUEST,
	};
	static const s32 psns[] = { -1, -3, -100000, 3, 4, 100, 100000 };
	struct cut c = { 0 };
	struct fixture f;
	struct wire_hdr h;
	struct run run;
	struct payload pl;
	struct twr wr;

	setup(&f, 3, 1000);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 3000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	/* lose the next request, then acknowledge, NAK and answer what was never sent */
	fab_set_packet_hook(f.p.w.fabric, cut_cable, &c);
	wr.wr_id = 2;
	t_send(&f.p.qp[0], &wr);
	c.after = UINT32_MAX;
	for (u32 i = 0; i < ARRAY_SIZE(syndromes) * ARRAY_SIZE(psns); i++) {
		h = (struct wire_hdr){
			.dlid = 1, .slid = 2, .pkey = 0xffff, .mig = true,
			.opcode = OP_RC_ACK, .dqpn = f.p.qp[0].qpn,
			.psn = psn_add(1003, psns[i % ARRAY_SIZE(psns)] & PSN_MASK),
			.syndrome = syndromes[i / ARRAY_SIZE(psns)],
		};
		run_from_packet(&run, &pl, &h, NULL, 0);
		fab_send(f.p.w.fabric->ports[1], &run);
		h.opcode = OP_RC_READ_RESP_ONLY;
		run_from_packet(&run, &pl, &h, (const u8 *)"ghost", 5);
		fab_send(f.p.w.fabric->ports[1], &run);
		t_expect_no_cqe(&f.p.cq[0]);
	}
	assert_int_equal(t_state(&f.p.qp[0]), T_RTS);
	t_settle(&f.p.w, 1000000000);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f.p.cq[0]);
	done(&f);
}

/* ------------------------------------------------------------------------
 * A wire on which packets are delayed, and the queue fills up
 */
static void slow(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	v->delay = *(u64 *)arg;
}

static u64 drops(struct fixture *f)
{
	struct vdev_status a, b;

	vdev_status(f->p.h[0].dev, &a);
	vdev_status(f->p.h[1].dev, &b);
	return a.port[0].drops + b.port[0].drops;
}

/*
 * More packets than the queue holds: senders wait, nothing is dropped.  With a
 * delay above the timeout, packets that they would send again are acknowledged while
 * they wait.
 */
static void with_full_queue(u64 delay)
{
	struct fixture f;
	struct tqp a[8], b[8];

	setup(&f, 1, 1);
	for (u32 i = 0; i < 8; i++) {
		t_qp_init(&f.p.h[0], &a[i], &f.p.cq[0], &f.p.cq[0]);
		t_qp_init(&f.p.h[1], &b[i], &f.p.cq[1], &f.p.cq[1]);
		t_connect(&a[i], &b[i], 1, 5, 6);
	}
	fab_set_packet_hook(f.p.w.fabric, slow, &delay);
	for (u32 i = 0; i < 8; i++) {
		/* WRITEs one way, READs the other, so that both ends must wait */
		struct twr wr = t_wr(i % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, i,
				     i % 2 ? &f.r : &f.l, 0, 200000, i % 2 ? &f.l : &f.r, 0);
		struct tqp *qp = i % 2 ? &b[i] : &a[i];

		t_post(qp, &wr);
		t_ring_sq(qp);
	}
	t_settle(&f.p.w, 60ull * 1000000000);
	for (u32 i = 0; i < 4; i++) {
		struct vhca_cqe e;

		for (u32 side = 0; side < 2; side++) {
			assert_true(t_cq_poll(&f.p.cq[side], &e));
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
		}
	}
	t_mr_expect(&f.r, 0, 200000, 1, 0);
	assert_int_equal(drops(&f), 0);
	done(&f);
}

static void full_queue(void **state)
{
	with_full_queue(3000000);
	with_full_queue(60000000);
	with_full_queue(80000000);
	with_full_queue(130000000);
}

/* Acknowledgements come later than the timer: resending catches up with them. */
static void late_acknowledgements(void **state)
{
	static const u64 delays[] = { 20000000, 35000000, 50000000, 70000000, 100000000 };

	for (u32 d = 0; d < ARRAY_SIZE(delays); d++) {
		u64 delay = delays[d];
		struct fixture f;

		setup(&f, 1, 0xffff00);
		fab_set_packet_hook(f.p.w.fabric, slow, &delay);
		for (u32 i = 0; i < 12; i++) {
			struct twr wr = t_wr(i % 3 == 2 ? VHCA_OP_READ : VHCA_OP_WRITE, i, &f.l,
					     i * 20000, 20000, &f.r, i * 20000);

			t_post(&f.p.qp[0], &wr);
		}
		t_ring_sq(&f.p.qp[0]);
		t_settle(&f.p.w, 600ull * 1000000000);
		for (u32 i = 0; i < 12; i++)
			t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
		for (u32 i = 0; i < 12; i++)
			t_mr_expect(i % 3 == 2 ? &f.l : &f.r, i * 20000, 20000,
				    i % 3 == 2 ? 2 : 1, i * 20000);
		done(&f);
	}
}

/* A READ's key is invalidated while its answer is being sent. */
static void key_gone_mid_read(void **state)
{
	u64 delay = 1000000;
	struct fixture f;
	struct twr wr;

	setup(&f, 1, 1);
	fab_set_packet_hook(f.p.w.fabric, slow, &delay);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 590000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_true(t_advance(&f.p.w));		/* the request arrives, the answer begins */
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(t_destroy(&f.p.h[1], VHCA_CMD_DESTROY_MKEY, f.r.key), VHCA_ST_OK);
	t_settle(&f.p.w, 60ull * 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
	t_expect_event(&f.p.h[1], VHCA_EV_QP_ACCESS_ERR, f.p.qp[1].qpn);
	done(&f);
}

/* The same on the requesting side: the answer's memory is not accessible any more. */
static void place_gone_mid_read(void **state)
{
	u64 delay = 1000000;
	struct fixture f;
	struct twr wr;

	setup(&f, 1, 1);
	fab_set_packet_hook(f.p.w.fabric, slow, &delay);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 590000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(t_destroy(&f.p.h[0], VHCA_CMD_DESTROY_MKEY, f.l.key), VHCA_ST_OK);
	t_settle(&f.p.w, 60ull * 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	done(&f);
}

/* And a WRITE whose target key is invalidated between two of its packets. */
static void key_gone_mid_write(void **state)
{
	u64 delay = 1000000;
	struct fixture f;
	struct twr wr;

	setup(&f, 1, 1);
	fab_set_packet_hook(f.p.w.fabric, slow, &delay);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 590000, &f.r, 0);
	t_send(&f.p.qp[0], &wr);
	assert_true(t_advance(&f.p.w));
	assert_int_equal(t_destroy(&f.p.h[1], VHCA_CMD_DESTROY_MKEY, f.r.key), VHCA_ST_OK);
	t_settle(&f.p.w, 60ull * 1000000000);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
	done(&f);
}

/* QPs destroyed and reset while their packets are under way, both ends. */
static void destroyed_under_way(void **state)
{
	u64 delay = 1000000;

	for (u32 n = 0; n < 4; n++) {
		struct fixture f;
		struct twr wr;

		setup(&f, 1, 1);
		fab_set_packet_hook(f.p.w.fabric, slow, &delay);
		wr = t_wr(n % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, 1, &f.l, 0, 590000, &f.r, 0);
		t_send(&f.p.qp[0], &wr);
		assert_true(t_advance(&f.p.w));
		assert_int_equal(t_destroy(&f.p.h[n / 2], VHCA_CMD_DESTROY_QP,
					   f.p.qp[n / 2].qpn), VHCA_ST_OK);
		t_settle(&f.p.w, 60ull * 1000000000);
		if (n / 2)
			t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
		else
			t_expect_no_cqe(&f.p.cq[0]);
		done(&f);
	}
}

/*
 * A READ that was answered is repeated just before a new one takes its place: the new one is
 * answered, and the other answer is not waited for.
 */
static void ghost_of_a_read(void **state)
{
	const struct fab_fault twice = {
		.kind = FAB_DUPLICATE, .permille = 1000, .count = 1, .opcode = "READ_REQ",
		.usec = 500,
	};
	struct tpair p;
	struct tmr l, r;
	u64 start;

	t_pair_init_regions(&p, 5, 9, &l, &r, 32768, RW, RW);
	t_mr_fill(&r, 3);
	start = p.w.now;
	assert_int_equal(fab_fault_arm(p.w.fabric, &twice), 0);
	for (u32 i = 0; i < 6; i++) {
		struct twr wr = t_wr(VHCA_OP_READ, i, &l, i * 4096, 3000, &r, i * 4096);

		/* behind as many as may be under way: this one meets the duplicate */
		if (i == 4)
			p.w.now = start + 500 * 1000;
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], i, VHCA_CS_SUCCESS);
	}
	assert_int_equal(t_stats(&p.h[1]).duplicates, 1);
	assert_int_equal(t_stats(&p.h[0]).timeouts, 0);
	for (u32 i = 0; i < 6; i++)
		t_mr_expect(&l, i * 4096, 3000, 3, i * 4096);
	t_expect_no_event(&p.h[1]);
	t_pair_fini(&p);
}

/*
 * A READ is repeated after its key was invalidated.  If it was answered before, that is no error,
 * and the connection goes on; if the answer was lost, the requester gets a NAK with the reason.
 */
static void key_gone_before_again(void **state)
{
	const struct fab_fault faults[] = {
		{ .kind = FAB_DUPLICATE, .permille = 1000, .count = 1, .opcode = "READ_REQ",
		  .usec = 500 },
		{ .kind = FAB_LOSS, .permille = 1000, .count = 1, .opcode = "READ_RESP" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(faults); i++) {
		bool answered = !i;
		struct tpair p;
		struct tmr l, r;
		struct twr wr;

		t_pair_init_regions(&p, 5, 9, &l, &r, 32768, RW, RW);
		assert_int_equal(fab_fault_arm(p.w.fabric, &faults[i]), 0);
		wr = t_wr(VHCA_OP_READ, 1, &l, 0, 1000, &r, 0);
		t_send(&p.qp[0], &wr);
		if (answered)
			t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
		assert_int_equal(t_destroy(&p.h[1], VHCA_CMD_DESTROY_MKEY, r.key), VHCA_ST_OK);
		t_settle(&p.w, 60ull * 1000000000);
		if (!answered)
			t_expect_cqe(&p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
		assert_int_equal(t_stats(&p.h[1]).duplicates, 1);
		assert_int_equal(t_stats(&p.h[1]).error_naks_sent, 1);
		assert_int_equal(t_state(&p.qp[1]), T_RTS);
		t_expect_no_event(&p.h[1]);
		if (answered) {
			t_mr_init(&p.h[1], &r, 1ull << 42, 4096, RW, 1, 12);
			wr = t_wr(VHCA_OP_READ, 2, &l, 0, 1000, &r, 0);
			t_send(&p.qp[0], &wr);
			t_expect_cqe(&p.cq[0], 2, VHCA_CS_SUCCESS);
		}
		t_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lose_each),
		cmocka_unit_test(double_each),
		cmocka_unit_test(delay_each),
		cmocka_unit_test(delay_each_past_timeout),
		cmocka_unit_test(double_each_late),
		cmocka_unit_test(no_need_to_wait),
		cmocka_unit_test(nak_doubled),
		cmocka_unit_test(lost_again),
		cmocka_unit_test(cut_mid_transfer),
		cmocka_unit_test(not_ready_doubled),
		cmocka_unit_test(link_flap),
		cmocka_unit_test(ghosts),
		cmocka_unit_test(ghost_of_a_read),
		cmocka_unit_test(key_gone_before_again),
		cmocka_unit_test(full_queue),
		cmocka_unit_test(late_acknowledgements),
		cmocka_unit_test(key_gone_mid_read),
		cmocka_unit_test(place_gone_mid_read),
		cmocka_unit_test(key_gone_mid_write),
		cmocka_unit_test(destroyed_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
