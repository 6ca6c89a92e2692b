// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The counters of a port: each thing that is counted is caused, and only its
 * counters move.
 */
#include <string.h>

#include "fabric/room.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

struct fixture {
	struct tpair p;
	struct tmr l, r;
	struct vport_stats before[2];
};

static void start(struct fixture *f)
{
	for (u32 i = 0; i < 2; i++)
		f->before[i] = t_stats(&f->p.h[i]);
}

static void setup(struct fixture *f)
{
	t_pair_init(&f->p, 3, 100, 200);
	t_mr_init(&f->p.h[0], &f->l, 0, 100000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 0, 100000, RW, 1, 12);
	start(f);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

/* What a side has counted since start(), but for packets and bytes. */
static struct vport_stats since(struct fixture *f, u32 side)
{
	struct vport_stats s = t_stats(&f->p.h[side]);
	u64 *a = (u64 *)&s, *b = (u64 *)&f->before[side];

	for (u32 i = 0; i < sizeof(s) / sizeof(u64); i++)
		a[i] -= b[i];
	s.tx_packets = 0;
	s.tx_bytes = 0;
	s.rx_packets = 0;
	s.rx_bytes = 0;
	return s;
}

#define EXPECT(f, side, ...) do {						\
	struct vport_stats have_ = since(f, side), want_ = { __VA_ARGS__ };	\
	assert_memory_equal(&have_, &want_, sizeof(have_));			\
} while (0)

static void send(struct fixture *f, u8 op, u32 len, u8 status)
{
	struct twr wr = t_wr(op, 1, &f->l, 0, len, op == VHCA_OP_SEND ? NULL : &f->r, 0);

	t_send(&f->p.qp[0], &wr);
	t_settle(&f->p.w, 20000000000);
	t_expect_cqe(&f->p.cq[0], 1, status);
}

/* Whole packets, as runs and as bytes alike; neither side sees the other's. */
static void packets(void **state)
{
	struct tnth none = { .victim = -1 };
	struct fixture f;

	setup(&f);
	for (u32 round = 0; round < 2; round++) {
		struct vport_stats a, b;

		send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
		a = t_stats(&f.p.h[0]);
		b = t_stats(&f.p.h[1]);
		/* LRH, BTH, ICRC and VCRC around each; a RETH; an AETH back */
		assert_int_equal(a.tx_packets - f.before[0].tx_packets, 3);
		assert_int_equal(a.tx_bytes - f.before[0].tx_bytes, 3 * 26 + 16 + 3000);
		assert_int_equal(a.rx_packets - f.before[0].rx_packets, 1);
		assert_int_equal(a.rx_bytes - f.before[0].rx_bytes, 26 + 4);
		assert_int_equal(b.rx_packets - f.before[1].rx_packets, 3);
		assert_int_equal(b.rx_bytes - f.before[1].rx_bytes, 3 * 26 + 16 + 3000);
		assert_int_equal(b.tx_packets - f.before[1].tx_packets, 1);
		assert_int_equal(b.tx_bytes - f.before[1].tx_bytes, 26 + 4);
		EXPECT(&f, 0, .timeouts = 0);
		EXPECT(&f, 1, .timeouts = 0);
		start(&f);
		fab_set_judge(f.p.w.fabric, t_nth_judge, &none);
	}
	done(&f);
}

static void receiver_not_ready(void **state)
{
	struct fixture f;

	setup(&f);
	t_send(&f.p.qp[0], &(struct twr){ .opcode = VHCA_OP_SEND, .wr_id = 1 });
	t_advance(&f.p.w);
	EXPECT(&f, 0, .rnr_naks_received = 2);
	EXPECT(&f, 1, .rnr_naks_sent = 2);
	done(&f);
}

static void losses(void **state)
{
	struct tnth n = { .victim = 1 };
	struct fixture f;

	setup(&f);
	fab_set_judge(f.p.w.fabric, t_nth_judge, &n);
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	EXPECT(&f, 0, .seq_naks_received = 1);
	EXPECT(&f, 1, .seq_naks_sent = 1);
	/* the acknowledgment is lost: everything comes again */
	start(&f);
	n = (struct tnth){ .victim = 3 };
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	EXPECT(&f, 0, .timeouts = 1);
	EXPECT(&f, 1, .duplicates = 3);
	/* nobody answers: seven times again, then it fails */
	start(&f);
	n = (struct tnth){ .victim = -1, .all = true };
	send(&f, VHCA_OP_WRITE, 100, VHCA_CS_RETRY_EXC_ERR);
	EXPECT(&f, 0, .timeouts = 7);
	EXPECT(&f, 1, .timeouts = 0);
	done(&f);
}

static void refused(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f);
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 100, &f.r, 0);
	wr.rkey ^= 1;
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
	EXPECT(&f, 0, .error_naks_received = 1);
	EXPECT(&f, 1, .error_naks_sent = 1);
	done(&f);
}

/* Packets that nobody takes, and those that do not even set out. */
static void nobody(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(t_to(&f.p.qp[1], T_ERR), VHCA_ST_OK);
	t_send(&f.p.qp[0], &(struct twr){ .opcode = VHCA_OP_SEND, .wr_id = 1 });
	EXPECT(&f, 1, .rx_no_qp = 1);
	assert_int_equal(t_destroy(&f.p.h[1], VHCA_CMD_DESTROY_QP, f.p.qp[1].qpn), VHCA_ST_OK);
	t_advance(&f.p.w);
	EXPECT(&f, 1, .rx_no_qp = 2);
	EXPECT(&f, 0, .timeouts = 1);
	vdev_set_link(f.p.h[1].dev, 1, false);
	t_advance(&f.p.w);
	EXPECT(&f, 0, .timeouts = 2, .tx_discards = 1);
	vdev_set_link(f.p.h[0].dev, 1, false);
	t_advance(&f.p.w);
	EXPECT(&f, 0, .timeouts = 3, .tx_discards = 2);
	EXPECT(&f, 1, .rx_no_qp = 2);
	done(&f);
}

/* P_Keys that do not match: told by QUERY_PORT too, in 16 bits. */
static void partitions(void **state)
{
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;
	struct fixture f;
	struct twr wr;

	setup(&f);
	f.p.w.fabric->ports[0]->pkey[0] = 0x8001;
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 70000, &f.r, 0);
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_send(&f.p.qp[0], &wr);
	EXPECT(&f, 1, .pkey_violations = 69);
	assert_int_equal(t_admin_out(&f.p.h[1], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a,
				     sizeof(a)), VHCA_ST_OK);
	assert_int_equal(le32toh(a.pkey_viol), 69);
	assert_int_equal(le32toh(a.qkey_viol), 0);
	done(&f);
}

/* A reset drops everything but what was counted. */
static void survives_reset(void **state)
{
	struct vdev_status st;
	struct fixture f;
	u64 sent;

	setup(&f);
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	sent = t_stats(&f.p.h[0]).tx_packets;
	vdev_reset(f.p.h[0].dev);
	vdev_status(f.p.h[0].dev, &st);
	assert_int_equal(st.port[0].stats.tx_packets, sent);
	done(&f);
}

static void commands(void **state)
{
	const struct vdev_config cfg = {
		.name = "c", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_COUNTERS,
	};
	struct vhca_port_req req = { 0 };
	struct vhca_port_counters n;
	struct tworld w;
	struct thca h;

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))
#define REFUSED(h, st, field) do {						\
	assert_int_equal(t_admin_out(h, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), &n,	\
				     sizeof(n)), st);				\
	assert_int_equal((h)->bad_field, field);				\
} while (0)
	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, port));
	req.port = 2;
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, port));
	req.port = 1;
	req.first_index = htole32(1);
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, first_index));
	req.first_index = 0;
	req.count = htole32(1);
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, count));
	req.count = 0;
	req.rsvd1 = htole32(1);
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, rsvd1));
	req.rsvd1 = 0;
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), &n,
				     sizeof(n) - 8), VHCA_ST_BAD_FIELD);
	assert_int_equal(h.bad_field, offsetof(struct vhca_asqe, out_len));
	REFUSED(&h, VHCA_ST_OK, VHCA_NO_FIELD);
	t_hca_fini(&h);
	t_hca_init_cfg(&h, &w, &cfg);
	REFUSED(&h, VHCA_ST_UNSUPPORTED, offsetof(struct vhca_asqe, opcode));
	t_hca_fini(&h);
	t_world_fini(&w);
#undef REFUSED
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets),
		cmocka_unit_test(receiver_not_ready),
		cmocka_unit_test(losses),
		cmocka_unit_test(refused),
		cmocka_unit_test(nobody),
		cmocka_unit_test(partitions),
		cmocka_unit_test(survives_reset),
		cmocka_unit_test(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
