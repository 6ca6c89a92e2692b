// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: requests that are refused, the states of the sender, and captures.
 */
#include "tests/tkey.h"
#include "tests/ud.h"

/* ---- refused requests ---- */

/* Fails with a status: the queue stops there, and can be started again. */
static void refused(struct fixture *f, const struct twr *bad, u8 status)
{
	struct twr next = wr_to(f, VHCA_OP_SEND, 10, 0, 100);
	u64 sent = t_stats(&f->p.h[0]).tx_packets;

	t_post(&f->p.qp[0], bad);
	t_post(&f->p.qp[0], &next);
	t_ring_sq(&f->p.qp[0]);
	t_expect_cqe(&f->p.cq[0], bad->wr_id, status);
	t_expect_cqe(&f->p.cq[0], 10, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f->p.cq[0]);
	assert_int_equal(t_stats(&f->p.h[0]).tx_packets, sent);
	assert_int_equal(t_state(&f->p.qp[0]), T_SQE);
	t_expect_no_event(&f->p.h[0]);
	assert_int_equal(t_to(&f->p.qp[0], T_RTS), VHCA_ST_OK);
	send(f, 11, 0, 100);
}

static void bad_addresses(void **state)
{
	struct fixture f;
	struct twr good, wr;

	setup(&f);
	good = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
#define BAD(field, value) do {							\
	wr = good;								\
	wr.ud.field = value;							\
	refused(&f, &wr, VHCA_CS_LOC_QP_OP_ERR);				\
} while (0)
	BAD(pkey_index, htole16(1));
	BAD(rsvd[1], 1);
	BAD(dqpn, htole32(1u << 24));
	BAD(av.port, 0);
	BAD(av.port, 2);
	BAD(av.dlid, 0);
	BAD(av.dlid, 0xffff);
	BAD(av.sl, 16);
	BAD(av.src_path_bits, 128);
	BAD(av.static_rate, 32);
	BAD(av.grh, 2);
	good.ud.av.grh = 1;
	BAD(av.sgid_index, PORT_GIDS);
	BAD(av.flow_label, htole32(0x100000));
#undef BAD
	/* without a GRH its fields are not checked */
	wr = good;
	wr.wr_id = 5;
	wr.ud.av.grh = 0;
	wr.ud.av.sgid_index = 0xff;
	wr.ud.av.flow_label = ~0u;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 5, VHCA_CS_SUCCESS);
	done(&f);
}

static void bad_requests(void **state)
{
	static const u8 ops[] = { VHCA_OP_WRITE, VHCA_OP_WRITE_IMM, VHCA_OP_READ, 0x77 };
	struct fixture f;
	struct twr wr;

	setup(&f);
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		wr = wr_to(&f, ops[i], 1, 0, 100);
		refused(&f, &wr, VHCA_CS_LOC_QP_OP_ERR);
	}
	/* one byte more than a packet takes */
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 4097);
	refused(&f, &wr, VHCA_CS_LOC_LEN_ERR);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.sge[0].lkey ^= 1;
	refused(&f, &wr, VHCA_CS_LOC_PROT_ERR);
	wr = wr_to(&f, VHCA_OP_NOP, 2, 0, 0);
	wr.nsge = 0;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	done(&f);
}

/* An entry without room for its address. */
static void short_entry(void **state)
{
	struct fixture f;
	struct vhca_wqe_ctrl *c;
	struct twr wr;

	setup(&f);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.nsge = 0;
	t_post(&f.p.qp[0], &wr);
	c = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
	assert_int_equal(c->nblk, 2);
	c->nblk = 1;
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_state(&f.p.qp[0]), T_SQE);
	done(&f);
}

/* The port's MTU limits a datagram, inline or not. */
static void port_mtu(void **state)
{
	const struct vdev_config cfg = { .name = "m", .ports = 1, .vectors = 4, .max_mtu = 1 };
	static const u8 data[257];
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	h.qp_type = VHCA_QPT_UD;
	t_cq_init(&h, &cq, 4, 0);
	t_qp_init(&h, &qp, &cq, &cq);
	t_ud_up(&qp, QKEY);
	for (u32 len = 256; len <= 257; len++) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = len, .flags = VHCA_WQE_INLINE,
				  .data = data, .data_len = len, .ud = t_ud_to(&qp, QKEY) };

		t_send(&qp, &wr);
		t_expect_cqe(&cq, len, len == 256 ? VHCA_CS_SUCCESS : VHCA_CS_LOC_LEN_ERR);
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* The sender's memory is not mapped: no datagram is sent, and the receive stays. */
static void sender_gone(void **state)
{
	struct vhca_create_mkey_req req = {
		.type = VHCA_MKEY_PHYSICAL, .access = htole32(VHCA_ACCESS_LOCAL_WRITE),
	};
	struct fixture f;
	struct twr wr;

	setup(&f);
	req.pdn = htole32(f.p.h[0].pd);
	post_recv(&f, 10, 0, 1000);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	wr.sge[0].addr = 0x10000;
	wr.sge[0].lkey = t_create(&f.p.h[0], VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	assert_int_equal(t_state(&f.p.qp[0]), T_SQE);
	assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	send(&f, 2, 0, 100);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_SUCCESS);
	done(&f);
}

/* ---- states ---- */

static void drain_and_flush(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct fixture f;
	struct vhca_sge s;
	struct twr wr;

	setup(&f);
	assert_int_equal(t_modify(&f.p.qp[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	t_expect_event(&f.p.h[0], VHCA_EV_SQ_DRAINED, f.p.qp[0].qpn);
	/* the event has to be requested again */
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	t_expect_no_event(&f.p.h[0]);
	wr = wr_to(&f, VHCA_OP_SEND, 1, 0, 100);
	t_send(&f.p.qp[0], &wr);
	t_expect_no_cqe(&f.p.cq[0]);
	/* nothing is sent, but everything is received */
	s = t_sge(&f.l, 1000, 1000);
	t_recv(&f.p.qp[0], 20, 1, &s);
	t_recv(&f.p.qp[0], 21, 1, &s);
	wr = t_wr(VHCA_OP_SEND, 50, &f.r, 0, 100, NULL, 0);
	wr.ud = t_ud_to(&f.p.qp[0], QKEY);
	t_send(&f.p.qp[1], &wr);
	t_expect_cqe(&f.p.cq[0], 20, VHCA_CS_SUCCESS);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(t_to(&f.p.qp[0], T_ERR), VHCA_ST_OK);
	wr = wr_to(&f, VHCA_OP_SEND, 2, 0, 100);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 21, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_WR_FLUSH_ERR);
	done(&f);
}

/* Sets the QP up as after sending @count blocks. */
static void used(struct tqp *qp, u32 count)
{
	struct rc_requester *r = &t_vqp(qp)->req;

	r->blk_prod = count;
	r->blk_next = count;
	qp->sq_prod = count;
	t_set_rec(qp->h, qp->slot, count);
}

/* @n entries wait in a QP that has stopped, and are flushed when it goes on: none is sent. */
static void stop_and_go(struct fixture *f, u32 n)
{
	struct twr bad = wr_to(f, VHCA_OP_SEND, 1, 0, 100), wr;
	struct tqp *qp = &f->p.qp[0];
	u64 sent;

	bad.ud.pkey_index = htole16(1);
	t_send(qp, &bad);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_state(qp), T_SQE);
	sent = t_stats(&f->p.h[0]).tx_packets;
	for (u32 i = 0; i < n; i++) {
		wr = wr_to(f, VHCA_OP_SEND, 100 + i, 0, 100);
		t_post(qp, &wr);
	}
	t_set_rec(qp->h, qp->slot, qp->sq_prod);
	assert_int_equal(t_to(qp, T_RTS), VHCA_ST_OK);
	wr = wr_to(f, VHCA_OP_SEND, 50, 0, 100);
	t_send(qp, &wr);
	for (u32 i = 0; i < n; i++)
		t_expect_cqe(&f->p.cq[0], 100 + i, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f->p.cq[0], 50, VHCA_CS_SUCCESS);
	t_expect_no_cqe(&f->p.cq[0]);
	assert_int_equal(t_stats(&f->p.h[0]).tx_packets, sent + 1);
	assert_int_equal(t_state(qp), T_RTS);
}

/* The count of 32 bits wraps at each of these entries, and within them. */
static void left_over_where_32_bits_end(void **state)
{
	struct fixture f;

	setup(&f);
	for (u32 n = 0; n <= 4; n++) {
		for (u32 before = 0; before <= 2 * (n + 2); before++) {
			used(&f.p.qp[0], -before);
			stop_and_go(&f, n);
			assert_true(f.p.qp[0].sq_prod < 2 * (n + 2) + 1);
		}
	}
	t_expect_no_event(&f.p.h[0]);
	done(&f);
}

/* A receive that was too short for a datagram is flushed first. */
static void taken_is_flushed(void **state)
{
	struct fixture f;

	setup(&f);
	post_recv(&f, 10, 0, 100);
	post_recv(&f, 11, 0, 1000);
	send(&f, 1, 0, 100);
	assert_int_equal(t_to(&f.p.qp[1], T_ERR), VHCA_ST_OK);
	t_expect_cqe(&f.p.cq[1], 10, VHCA_CS_WR_FLUSH_ERR);
	t_expect_cqe(&f.p.cq[1], 11, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f.p.cq[1]);
	done(&f);
}

/* From an SRQ, whose PD is used. */
static void shared_receives(void **state)
{
	struct fixture f;
	struct tsrq srq;
	struct tqp qp[4];
	struct vhca_sge s;

	setup(&f);
	t_srq_init(&f.p.h[1], &srq, 4, 6);
	for (u32 i = 0; i < 4; i++) {
		t_qp_init_srq(&f.p.h[1], &qp[i], &f.p.cq[1], &f.p.cq[1], &srq);
		t_ud_up(&qp[i], QKEY);
		s = t_sge(&f.r, i * 1000, 1000);
		t_srq_recv(&srq, 10 + i, 1, &s);
	}
	for (u32 i = 0; i < 5; i++) {
		struct twr wr = wr_to(&f, VHCA_OP_SEND, i, 100 * i, 50);

		wr.ud = t_ud_to(&qp[i % 4], QKEY);
		t_send(&f.p.qp[0], &wr);
	}
	for (u32 i = 0; i < 4; i++) {
		struct vhca_cqe e = t_expect_cqe(&f.p.cq[1], 10 + i, VHCA_CS_SUCCESS);

		assert_int_equal(le32toh(e.qpn), qp[i].qpn);
		t_mr_expect(&f.r, i * 1000 + GRH, 50, 1, 100 * i);
	}
	EXPECT_COUNT(&f, rx_no_receive, 1);
	done(&f);
}

/* ---- captures ---- */

static void fill_capture(struct capture *c)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp ud, uc;
	struct tmr m;

	t_world_init(&w);
	fabric_set_capture(w.fabric, c);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 6, 0);
	t_mr_init(&h, &m, 0, 100000, RW, 1, 12);
	h.qp_type = VHCA_QPT_UD;
	t_qp_init(&h, &ud, &cq, &cq);
	t_ud_up(&ud, QKEY);
	h.qp_type = VHCA_QPT_UC;
	t_qp_init(&h, &uc, &cq, &cq);
	t_connect(&uc, &uc, 3, 7, 7);
	for (u32 i = 0; i < 20; i++) {
		struct twr wr = t_wr(i % 2 ? VHCA_OP_SEND_IMM : VHCA_OP_SEND, i, &m, 0, i * 100,
				     NULL, 0);

		wr.ud = t_ud_to(&ud, QKEY);
		wr.ud.av.grh = i / 2 % 2;
		t_send(&ud, &wr);
		t_expect_cqe(&cq, i, VHCA_CS_SUCCESS);
		wr = t_wr(i % 2 ? VHCA_OP_WRITE : VHCA_OP_SEND, i, &m, 0, i * 300, &m, 50000);
		t_send(&uc, &wr);
		t_expect_cqe(&cq, i, VHCA_CS_SUCCESS);
	}
	assert_int_equal(t_stats(&h).tx_packets, t_stats(&h).rx_packets);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void captures(void **state)
{
	char file[] = "/tmp/vhcad-test-XXXXXX";
	int fd = mkstemp(file);
	struct capture *c;

	assert_true(fd >= 0);
	close(fd);
	c = capture_open(file);
	assert_non_null(c);
	fill_capture(c);
	assert_int_equal(capture_close(c), 0);
	assert_int_equal(t_capcheck(file), 0);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_addresses),
		cmocka_unit_test(bad_requests),
		cmocka_unit_test(short_entry),
		cmocka_unit_test(port_mtu),
		cmocka_unit_test(sender_gone),
		cmocka_unit_test(drain_and_flush),
		cmocka_unit_test(left_over_where_32_bits_end),
		cmocka_unit_test(taken_is_flushed),
		cmocka_unit_test(shared_receives),
		cmocka_unit_test(captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
