// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections at their limits: missing queues, READs that are not
 * allowed, and cables that are pulled with packets on the way.
 */
#include <errno.h>
#include <string.h>

#include "qp/qp.h"
#include "res/dev.h"
#include "tests/tfail.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define SECOND	1000000000ull

static int setup(void **state)
{
	static struct tpair p;

	memset(&p, 0, sizeof(p));
	t_pair_init(&p, 3, 1, 1);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	t_pair_fini(*state);
	return 0;
}

/* A QP without a receive queue never becomes ready, but can be written to. */
static void no_receive_queue(void **state)
{
	struct tpair *p = *state;
	struct thca *h = &p->h[1];
	u64 sq = t_alloc(h, 4096);
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(sq), .pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .send_cqn = htole32(p->cq[1].cqn),
		.recv_cqn = htole32(p->cq[1].cqn), .type = VHCA_QPT_RC, .log_sq_blocks = 6,
		.log_rq_strides = VHCA_NO_QUEUE,
	};
	struct tqp a, b = {
		.h = h, .type = VHCA_QPT_RC, .slot = h->next_slot, .sq = t_cpu(h, sq),
		.log_sq = 6,
	};
	struct vhca_qp_attr attr;
	struct tmr l, r;
	struct twr wr;

	h->next_slot += 2;
	b.qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
	t_qp_init(&p->h[0], &a, &p->cq[0], &p->cq[0]);
	t_connect(&a, &b, 3, 1, 1);
	t_mr_init(&p->h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(h, &r, 0, 4096, RW, 0, 12);
	t_mr_fill(&l, 3);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 4096, &r, 0);
	t_send(&a, &wr);
	t_expect_cqe(&p->cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&r, 0, 4096, 3, 0);

	/* seven RNR retries never run out: three do */
	assert_int_equal(t_to(&a, T_RESET), VHCA_ST_OK);
	t_attr_init(&attr, 1);
	assert_int_equal(t_modify(&a, &attr, T_MASK_INIT), VHCA_ST_OK);
	t_attr_rtr(&attr, 2, b.qpn, 1, 3);
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTR), VHCA_ST_OK);
	t_set_rec(&p->h[0], a.slot, 0);
	a.sq_prod = 0;
	t_attr_rts(&attr, 1 + 4);	/* behind the four packets of the write */
	attr.rnr_retry = 3;
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTS), VHCA_ST_OK);
	memset(&wr, 0, sizeof(wr));
	wr.opcode = VHCA_OP_SEND;
	wr.wr_id = 2;
	t_send(&a, &wr);
	t_settle(&p->w, 10 * SECOND);
	t_expect_cqe(&p->cq[0], 2, VHCA_CS_RNR_RETRY_EXC_ERR);
	t_expect_no_event(&p->h[1]);
	assert_int_equal(t_state(&b), T_RTS);
}

/* With a READ depth of 0 no READ is possible. */
static void no_reads(void **state)
{
	struct tpair *p = *state;
	struct vhca_qp_attr attr;
	struct tmr l, r;
	struct tqp a, b;
	struct twr wr;

	t_qp_init(&p->h[0], &a, &p->cq[0], &p->cq[0]);
	t_qp_init(&p->h[1], &b, &p->cq[1], &p->cq[1]);
	t_attr_init(&attr, 1);
	assert_int_equal(t_modify(&a, &attr, T_MASK_INIT), VHCA_ST_OK);
	t_attr_rtr(&attr, 2, b.qpn, 1, 3);
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTR), VHCA_ST_OK);
	t_attr_rts(&attr, 1);
	attr.max_rd_atomic = 0;
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTS), VHCA_ST_OK);
	t_mr_init(&p->h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(&p->h[1], &r, 0, 4096, RW, 0, 12);
	wr = t_wr(VHCA_OP_READ, 1, &l, 0, 4096, &r, 0);
	t_send(&a, &wr);
	t_expect_cqe(&p->cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_state(&a), T_ERR);
}

static u64 drops(struct thca *h)
{
	struct vdev_status st;

	vdev_status(h->dev, &st);
	return st.port[0].drops;
}

/* Packets without a link are lost, and counted; with the link they are sent again. */
static void no_link(void **state)
{
	struct tpair *p = *state;
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };

	t_recv(&p->qp[1], 2, 0, NULL);
	assert_int_equal(vdev_set_link(p->h[0].dev, 1, false), 0);
	t_expect_event(&p->h[0], VHCA_EV_PORT_ERR, 0);
	t_send(&p->qp[0], &wr);
	t_expect_no_cqe(&p->cq[0]);
	t_expect_no_cqe(&p->cq[1]);
	assert_true(drops(&p->h[0]) > 0);
	assert_int_equal(vdev_set_link(p->h[0].dev, 1, true), 0);
	t_expect_event(&p->h[0], VHCA_EV_PORT_ACTIVE, 0);
	t_settle(&p->w, SECOND);
	t_expect_cqe(&p->cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&p->cq[1], 2, VHCA_CS_SUCCESS);
}

static u32 hooked;

static void slow(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	hooked++;
	v->delay = *(u64 *)arg;
}

/* The receiver's cable is pulled with packets under way: they are lost. */
static void pulled_on_the_way(void **state)
{
	struct tpair *p = *state;
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	u64 delay = 1000000;

	t_recv(&p->qp[1], 2, 0, NULL);
	/* without memory for packets under way there is no packet hook, and no harm */
	tfail_set(TFAIL_ALLOC, 1, 0);
	assert_int_equal(fab_set_packet_hook(p->w.fabric, slow, &delay), -ENOMEM);
	assert_true(tfail_hit(TFAIL_ALLOC));
	assert_int_equal(fab_set_packet_hook(p->w.fabric, slow, &delay), 0);
	hooked = 0;
	t_send(&p->qp[0], &wr);
	assert_int_equal(hooked, 1);
	t_expect_no_cqe(&p->cq[1]);
	assert_int_equal(vdev_set_link(p->h[1].dev, 1, false), 0);
	assert_int_equal(vdev_set_link(p->h[1].dev, 1, true), 0);
	/* it would have arrived by now */
	p->w.now += 2 * delay;
	t_poll(&p->w);
	t_expect_no_cqe(&p->cq[1]);
	t_settle(&p->w, SECOND);
	t_expect_cqe(&p->cq[1], 2, VHCA_CS_SUCCESS);
	t_expect_cqe(&p->cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&p->cq[1]);
	assert_int_equal(fab_set_packet_hook(p->w.fabric, NULL, NULL), 0);
}

/* Packets behind the first of a message are delayed. */
static void late_rest(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	v->delay = h->psn > 1 ? 1000000 : 0;
}

/*
 * Messages whose packets arrive in turns: each receive is read again, and one
 * whose entry has changed meanwhile fails.
 */
static void receive_read_again(void **state)
{
	struct tpair *p = *state;
	struct vhca_sge s;
	struct tmr l, r;
	struct tqp a[3], b[3];

	t_mr_init(&p->h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(&p->h[1], &r, 0, 3 * 4096, RW, 0, 12);
	t_mr_fill(&l, 5);
	assert_int_equal(fab_set_packet_hook(p->w.fabric, late_rest, NULL), 0);
	for (u32 i = 0; i < 3; i++) {
		struct twr wr = t_wr(VHCA_OP_SEND, i, &l, 0, 3000, NULL, 0);

		t_qp_init(&p->h[0], &a[i], &p->cq[0], &p->cq[0]);
		t_qp_init(&p->h[1], &b[i], &p->cq[1], &p->cq[1]);
		t_connect(&a[i], &b[i], 3, 1, 1);
		s = t_sge(&r, i * 4096, 4096);
		t_recv(&b[i], 10 + i, 1, &s);
		t_send(&a[i], &wr);
		t_expect_no_cqe(&p->cq[1]);
	}
	/* the second one's stride is given to another receive too early */
	b[1].rq_prod += (1u << b[1].log_rq) - 1;
	t_recv(&b[1], 77, 1, &s);
	p->w.now += 2000000;
	t_poll(&p->w);
	t_expect_cqe(&p->cq[1], 10, VHCA_CS_SUCCESS);
	t_expect_cqe(&p->cq[1], 11, VHCA_CS_LOC_QP_OP_ERR);
	t_expect_cqe(&p->cq[1], 12, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 3; i++)
		t_mr_expect(&r, i * 4096, i == 1 ? 1024 : 3000, 5, 0);
	assert_int_equal(fab_set_packet_hook(p->w.fabric, NULL, NULL), 0);
	t_settle(&p->w, SECOND);
	assert_int_equal(t_state(&b[1]), T_ERR);
}

/* A packet hook that gives a command with the first request that it sees. */
struct stopper {
	struct thca *h;
	struct vhca_asqe sqe;
	bool given;
};

static void stop_meanwhile(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			   struct fab_effect *v)
{
	struct stopper *s = arg;

	(void)from;
	(void)h;
	(void)v;
	if (!s->given)
		t_admin_post(s->h, &s->sqe);
	s->given = true;
}

/* As struct vhca_asqe: destroys the QP, or takes it to a state. */
static struct vhca_asqe stop_command(const struct tqp *qp, u8 op, u8 state)
{
	const struct vhca_object_req end = { .handle = htole32(qp->qpn) };
	const struct vhca_modify_qp_req modify = {
		.qpn = htole32(qp->qpn), .mask = htole32(VHCA_QPA_STATE), .attr.state = state,
	};
	struct vhca_asqe sqe = { .opcode = op };

	if (op == VHCA_CMD_DESTROY_QP)
		memcpy(sqe.req, &end, sizeof(end));
	else
		memcpy(sqe.req, &modify, sizeof(modify));
	return sqe;
}

/*
 * A program that has its message may destroy the QP before the device has sent the acknowledgment:
 * the peer gets it all the same, at once, and also the reason if its request is refused.
 */
static void stopped_after_arrival(void **state)
{
	static const struct {
		u8 op, state;
	} stops[] = {
		{ VHCA_CMD_DESTROY_QP, 0 }, { VHCA_CMD_MODIFY_QP, T_RESET },
		{ VHCA_CMD_MODIFY_QP, T_ERR },
	};
	struct tpair *p = *state;
	struct tmr l, r;

	t_mr_init(&p->h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(&p->h[1], &r, 0, 4096, RW, 0, 12);
	for (u32 i = 0; i < 2 * ARRAY_SIZE(stops); i++) {
		u32 n = i / 2;
		bool refused = i % 2;
		struct stopper s = { .h = &p->h[1] };
		struct vhca_sge sge = t_sge(&r, 0, 4096);
		struct twr wr;
		struct tqp a, b;

		t_qp_init(&p->h[0], &a, &p->cq[0], &p->cq[0]);
		t_qp_init(&p->h[1], &b, &p->cq[1], &p->cq[1]);
		t_connect(&a, &b, 3, 1, 1);
		t_recv(&b, i, 1, &sge);
		/* a right that was not granted */
		wr = refused ? t_wr(VHCA_OP_CMP_SWAP, i, &l, 0, 8, &r, 0) :
			       t_wr(VHCA_OP_SEND, i, &l, 0, 3000, NULL, 0);
		s.sqe = stop_command(&b, stops[n].op, stops[n].state);
		assert_int_equal(fab_set_packet_hook(p->w.fabric, stop_meanwhile, &s), 0);
		t_send(&a, &wr);
		assert_int_equal(t_admin_answer(&p->h[1], NULL), VHCA_ST_OK);
		assert_int_equal(fab_set_packet_hook(p->w.fabric, NULL, NULL), 0);
		if (!refused)
			t_expect_cqe(&p->cq[1], i, VHCA_CS_SUCCESS);
		else if (stops[n].state == T_ERR)
			t_expect_cqe(&p->cq[1], i, VHCA_CS_WR_FLUSH_ERR);
		t_expect_no_cqe(&p->cq[1]);
		t_expect_cqe(&p->cq[0], i, refused ? VHCA_CS_REM_INV_REQ_ERR : VHCA_CS_SUCCESS);
	}
}

#define GIB	(1u << 30)

/* A READ request as the peer of the second QP would send it; the packets that come in answer. */
static u64 ask(struct tpair *p, const struct tqp *qp, u32 psn, u32 key, u64 va, u32 len)
{
	struct fab_port *to = &p->h[1].dev->port[0].fab;
	const struct wire_hdr h = {
		.dlid = t_lid(&p->h[1]), .slid = t_lid(&p->h[0]), .pkey = 0xffff, .mig = true,
		.opcode = OP_RC_READ_REQ, .dqpn = qp->qpn, .psn = psn & PSN_MASK, .va = va,
		.rkey = key, .dmalen = len,
	};
	u64 before = to->ib.tx_packets;
	struct payload pl;
	struct run run;

	run_from_packet(&run, &pl, &h, NULL, 0);
	fab_send(&p->h[0].dev->port[0].fab, &run);
	t_poll(&p->w);
	return to->ib.tx_packets - before;
}

/* An answer from before a wrap of the PSNs has PSNs of other requests by now. */
static void psns_come_again(void **state)
{
	struct vhca_create_mkey_req req = {
		.type = VHCA_MKEY_PHYSICAL, .length = htole64(4ull * GIB),
		.access = htole32(VHCA_ACCESS_REMOTE_READ),
	};
	struct tpair *p = *state;
	struct tqp a, b;
	u32 key;

	req.pdn = htole32(p->h[1].pd);
	key = t_create(&p->h[1], VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	for (u32 psn = PSN_MASK - 1; psn != 2; psn = (psn + 1) & PSN_MASK) {
		t_qp_init(&p->h[0], &a, &p->cq[0], &p->cq[0]);
		t_qp_init(&p->h[1], &b, &p->cq[1], &p->cq[1]);
		/* 256 bytes a packet: 2 GiB are half of all PSNs */
		t_connect(&a, &b, 1, psn, 9);
		t_allow(&b, VHCA_ACCESS_REMOTE_READ);
		assert_int_equal(ask(p, &b, psn, key, 77, 4), 1);
		assert_int_equal(ask(p, &b, psn, key, 77, 4), 1);
		assert_int_equal(ask(p, &b, psn + 1, key, 0, 2 * GIB), GIB / 128);
		assert_int_equal(ask(p, &b, psn + 1 + GIB / 128, key, 0, 2 * GIB), GIB / 128);
		/* the last of these requests has this PSN now */
		assert_int_equal(ask(p, &b, psn, key, 77, 4), 0);
		assert_int_equal(ask(p, &b, psn, key, 2u * GIB - 256, 256), 1);
	}
}

/* Packets in front of this one arrive, but their acknowledgments take their time. */
#define ARRIVE	64u

static void late_acks(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_effect *v)
{
	if (h->opcode == OP_RC_ACK)
		v->delay = 1000;
	else
		v->copies = h->psn < 1 + ARRIVE;
}

/*
 * A request that is refused with packets under way, because its entry was replaced by one with
 * inline data that is too short: lost packets of it are not sent again out of the new entry.
 */
static void entry_changed_midway(void **state)
{
	u32 mtu = 1024, len = 2 * TX_WINDOW * mtu, got = ARRIVE * mtu;
	struct tpair *p = *state;
	struct tqp a, b, other, peer;
	struct tmr l, r;
	struct twr wr;

	t_qp_init(&p->h[0], &a, &p->cq[0], &p->cq[0]);
	t_qp_init(&p->h[1], &b, &p->cq[1], &p->cq[1]);
	t_connect(&a, &b, 3, 1, 1);
	t_qp_init(&p->h[0], &other, &p->cq[0], &p->cq[0]);
	t_qp_init(&p->h[1], &peer, &p->cq[1], &p->cq[1]);
	t_connect(&other, &peer, 3, 1, 1);
	t_mr_init(&p->h[0], &l, 0, len, RW, 1, 12);
	t_mr_init(&p->h[1], &r, 0, len, RW, 1, 12);
	t_mr_fill(&l, 1);
	t_mr_fill(&r, 2);
	assert_int_equal(fab_set_packet_hook(p->w.fabric, late_acks, NULL), 0);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, len, &r, 0);
	t_send(&a, &wr);
	t_expect_no_cqe(&p->cq[0]);
	t_mr_expect(&r, 0, got, 1, 0);
	/* the worker has loaded the entry of another QP */
	wr = t_wr(VHCA_OP_NOP, 2, NULL, 0, 0, NULL, 0);
	t_send(&other, &wr);
	t_expect_cqe(&p->cq[0], 2, VHCA_CS_SUCCESS);
	a.sq_prod--;
	wr = t_wr(VHCA_OP_ATOMIC_WRITE, 1, NULL, 0, 0, &r, 0);
	wr.flags = VHCA_WQE_INLINE;
	wr.data = "four";
	wr.data_len = 4;
	t_post(&a, &wr);
	/* the acknowledgments come, and more of it is to be sent */
	p->w.now += 1000;
	t_poll(&p->w);
	t_expect_no_cqe(&p->cq[0]);
	/* and then the timer fires */
	assert_int_equal(fab_set_packet_hook(p->w.fabric, NULL, NULL), 0);
	t_settle(&p->w, SECOND);
	t_expect_cqe(&p->cq[0], 1, VHCA_CS_LOC_LEN_ERR);
	t_mr_expect(&r, got, len - got, 2, got);
	assert_int_equal(t_state(&a), T_ERR);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_receive_queue), TEST(no_reads), TEST(no_link), TEST(pulled_on_the_way),
		TEST(receive_read_again), TEST(entry_changed_midway), TEST(stopped_after_arrival),
		TEST(psns_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
