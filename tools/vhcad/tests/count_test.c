// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The counters of a port, and those that QPs are bound to: each counted event
 * is caused, and only its counters change.
 */
#include <string.h>

#include "res/dev.h"
#include "fabric/internal.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

struct fixture {
	struct tpair p;
	struct tmr l, r;
	u32 counter[2];
	struct vport_stats before[2];
	struct vport_stats counted[2];
	struct vport_stats rest[2];
};

/* Reads counters; the status says whether they could be. */
static u32 ask(struct thca *h, u8 op, const void *req, u32 len, struct vport_stats *s)
{
	struct vhca_port_counters n;
	u32 st = t_admin_out(h, op, req, len, &n, sizeof(n));

	static_assert(sizeof(n) == sizeof(*s), "the same members");
	for (u32 i = 0; !st && i < sizeof(n) / sizeof(u64); i++)
		((u64 *)s)[i] = le64toh(((__le64 *)&n)[i]);
	return st;
}

static struct vport_stats counted_by(struct thca *h, u32 counter)
{
	const struct vhca_object_req req = { .handle = htole32(counter) };
	struct vport_stats s;

	assert_int_equal(ask(h, VHCA_CMD_QUERY_COUNTER, &req, sizeof(req), &s), VHCA_ST_OK);
	return s;
}

/* A port's counters without those of bound QPs. */
static struct vport_stats unbound(struct thca *h, u8 port)
{
	const struct vhca_port_req req = { .port = port, .flags = VHCA_PORT_UNBOUND };
	struct vport_stats s;

	assert_int_equal(ask(h, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), &s), VHCA_ST_OK);
	return s;
}

static u32 make_counter(struct thca *h, u8 port)
{
	const struct vhca_create_counter_req req = { .port = port };

	return t_create(h, VHCA_CMD_CREATE_COUNTER, &req, sizeof(req));
}

static u32 bind(struct thca *h, u32 qpn, u32 counter)
{
	const struct vhca_bind_counter_req req = {
		.qpn = htole32(qpn), .counter = htole32(counter),
	};

	return t_admin(h, VHCA_CMD_BIND_COUNTER, &req, sizeof(req), NULL);
}

static void start(struct fixture *f)
{
	for (u32 i = 0; i < 2; i++) {
		f->before[i] = t_stats(&f->p.h[i]);
		f->counted[i] = counted_by(&f->p.h[i], f->counter[i]);
		f->rest[i] = unbound(&f->p.h[i], 1);
	}
}

/* Everything is done by QPs that are bound to a counter. */
static void setup(struct fixture *f)
{
	t_pair_init(&f->p, 3, 100, 200);
	t_mr_init(&f->p.h[0], &f->l, 0, 100000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 0, 100000, RW, 1, 12);
	for (u32 i = 0; i < 2; i++) {
		f->counter[i] = make_counter(&f->p.h[i], 1);
		assert_int_equal(bind(&f->p.h[i], f->p.qp[i].qpn, f->counter[i]), VHCA_ST_OK);
	}
	start(f);
}

static void subtract(struct vport_stats *from, const struct vport_stats *s)
{
	for (u32 i = 0; i < sizeof(*s) / sizeof(u64); i++)
		((u64 *)from)[i] -= ((const u64 *)s)[i];
}

/* Side's counter equals its port's counters, except those that only a port has. */
static void counter_agrees(struct fixture *f, u32 side)
{
	struct vport_stats port = t_stats(&f->p.h[side]);
	struct vport_stats own = counted_by(&f->p.h[side], f->counter[side]);
	struct vport_stats rest = unbound(&f->p.h[side], 1);

	subtract(&port, &f->before[side]);
	subtract(&own, &f->counted[side]);
	subtract(&rest, &f->rest[side]);
	assert_memory_equal(&port, &own, sizeof(port));
	for (u32 i = 0; i < sizeof(rest) / sizeof(u64); i++)
		assert_true(!((u64 *)&rest)[i]);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

/* Counts of a side since start(), except packets and bytes. */
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
	counter_agrees(f, side);						\
	EXPECT_PORT(f, side, __VA_ARGS__);					\
} while (0)

/* Counted by the port alone: no QP is known for those packets. */
#define EXPECT_PORT(f, side, ...) do {						\
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
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &none);
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
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	EXPECT(&f, 0, .seq_naks_received = 1);
	EXPECT(&f, 1, .seq_naks_sent = 1);
	/* the acknowledgment is lost: everything is sent again */
	start(&f);
	n = (struct tnth){ .victim = 3 };
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	EXPECT(&f, 0, .timeouts = 1);
	EXPECT(&f, 1, .duplicates = 3);
	/* no answer: seven retries, then it fails */
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

/* Packets without a receiver, and those that are not even sent. */
static void nobody(void **state)
{
	struct fixture f;

	setup(&f);
	assert_int_equal(t_to(&f.p.qp[1], T_ERR), VHCA_ST_OK);
	t_send(&f.p.qp[0], &(struct twr){ .opcode = VHCA_OP_SEND, .wr_id = 1 });
	EXPECT_PORT(&f, 1, .rx_no_qp = 1);
	assert_int_equal(t_destroy(&f.p.h[1], VHCA_CMD_DESTROY_QP, f.p.qp[1].qpn), VHCA_ST_OK);
	t_advance(&f.p.w);
	EXPECT_PORT(&f, 1, .rx_no_qp = 2);
	EXPECT_PORT(&f, 0, .timeouts = 1);
	vdev_set_link(f.p.h[1].dev, 1, false);
	t_advance(&f.p.w);
	EXPECT_PORT(&f, 0, .timeouts = 2, .tx_discards = 1);
	vdev_set_link(f.p.h[0].dev, 1, false);
	t_advance(&f.p.w);
	EXPECT_PORT(&f, 0, .timeouts = 3, .tx_discards = 2);
	EXPECT_PORT(&f, 1, .rx_no_qp = 2);
	done(&f);
}

/* P_Keys that do not match: reported by QUERY_PORT too, in 16 bits. */
static void partitions(void **state)
{
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;
	struct vport_stats s;
	struct fixture f;
	struct twr wr;

	setup(&f);
	f.p.w.fabric->ports[0]->ib.pkey[0] = 0x8001;
	wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 70000, &f.r, 0);
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_send(&f.p.qp[0], &wr);
	EXPECT_PORT(&f, 1, .pkey_violations = 69);
	s = counted_by(&f.p.h[1], f.counter[1]);
	assert_int_equal(s.pkey_violations, 69);
	/* the port has received them, and the QP has not */
	assert_int_equal(s.rx_packets, 0);
	assert_int_equal(unbound(&f.p.h[1], 1).rx_packets, f.rest[1].rx_packets + 69);
	assert_int_equal(t_admin_out(&f.p.h[1], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a,
				     sizeof(a)), VHCA_ST_OK);
	assert_int_equal(le32toh(a.pkey_viol), 69);
	assert_int_equal(le32toh(a.qkey_viol), 0);
	done(&f);
}

/* A reset drops everything but the counters. */
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
	req.flags = 2;
	REFUSED(&h, VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, flags));
	req.flags = 0;
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

/* Differences may be negative: their sum is right all the same. */
static void differences(void **state)
{
	struct vport_stats s = { .tx_mcast_packets = 3, .tx_packets = 4, .tx_bytes = 5 };
	const struct vport_stats less = { .tx_mcast_packets = 1, .tx_packets = 5 };

	stats_subtract(&s, &less);
	assert_true(s.tx_mcast_packets == 2 && s.tx_packets == UINT64_MAX && s.tx_bytes == 5);
}

/* Traffic of a QP is counted by the counter that it is bound to at the time. */
static void moves(void **state)
{
	struct vport_stats first, second, rest[2], port;
	struct fixture f;
	struct thca *h = &f.p.h[0];
	u32 other, qpn;

	setup(&f);
	qpn = f.p.qp[0].qpn;
	other = make_counter(h, 1);
	assert_int_not_equal(other, f.counter[0]);
	send(&f, VHCA_OP_WRITE, 3000, VHCA_CS_SUCCESS);
	assert_int_equal(bind(h, qpn, other), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_COUNTER, other), VHCA_ST_BUSY);
	send(&f, VHCA_OP_WRITE, 100, VHCA_CS_SUCCESS);
	first = counted_by(h, f.counter[0]);
	second = counted_by(h, other);
	assert_int_equal(first.tx_packets, 3);
	assert_int_equal(second.tx_packets, 1);
	assert_int_equal(second.tx_bytes, 26 + 16 + 100);

	/* the counts of a destroyed counter are kept */
	rest[0] = unbound(h, 1);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_COUNTER, f.counter[0]), VHCA_ST_OK);
	rest[1] = unbound(h, 1);
	assert_memory_equal(&rest[0], &rest[1], sizeof(rest[0]));

	assert_int_equal(bind(h, qpn, 0), VHCA_ST_OK);
	send(&f, VHCA_OP_WRITE, 100, VHCA_CS_SUCCESS);
	assert_int_equal(counted_by(h, other).tx_packets, 1);
	assert_int_equal(unbound(h, 1).tx_packets, rest[0].tx_packets + 1);
	port = t_stats(h);
	assert_int_equal(port.tx_packets, rest[0].tx_packets + 3 + 1 + 1);

	/* destroying a QP ends its binding */
	assert_int_equal(bind(h, qpn, other), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, qpn), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_COUNTER, other), VHCA_ST_OK);
	done(&f);
}

/* A QP whose port is not its counter's: neither port's difference is negative. */
static void other_port(void **state)
{
	struct vport_stats zero, port, own;
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr mr[2];
	u32 counter[2];
	struct twr wr;

	t_two_init(&w, h, 2);
	for (u32 i = 0; i < 2; i++) {
		t_cq_init(&h[i], &cq[i], 6, 0);
		t_qp_init(&h[i], &qp[i], &cq[i], &cq[i]);
		t_mr_init(&h[i], &mr[i], 0, 4096, RW, 1, 12);
		counter[i] = make_counter(&h[0], i + 1);
	}
	/* bound before it has a port */
	assert_int_equal(bind(&h[0], qp[0].qpn, counter[1]), VHCA_ST_OK);
	t_connect(&qp[0], &qp[1], 3, 1, 2);
	zero = unbound(&h[0], 2);
	port = unbound(&h[0], 1);
	wr = t_wr(VHCA_OP_WRITE, 1, &mr[0], 0, 100, &mr[1], 0);
	t_send(&qp[0], &wr);
	assert_int_equal(counted_by(&h[0], counter[1]).tx_packets, 0);
	own = unbound(&h[0], 2);
	assert_memory_equal(&own, &zero, sizeof(own));
	assert_int_equal(unbound(&h[0], 1).tx_packets, port.tx_packets + 1);

	assert_int_equal(bind(&h[0], qp[0].qpn, counter[0]), VHCA_ST_OK);
	t_send(&qp[0], &wr);
	assert_int_equal(counted_by(&h[0], counter[0]).tx_packets, 1);
	assert_int_equal(unbound(&h[0], 1).tx_packets, port.tx_packets + 1);
	t_two_fini(&w, h);
}

static void counter_commands(void **state)
{
	const struct vdev_config cfg = {
		.name = "c", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_COUNTERS,
	};
	const u8 commands[] = {
		VHCA_CMD_CREATE_COUNTER, VHCA_CMD_DESTROY_COUNTER, VHCA_CMD_BIND_COUNTER,
		VHCA_CMD_QUERY_COUNTER,
	};
	struct vhca_create_counter_req req = { .port = 2 };
	struct vhca_object_req object = { .handle = htole32(77) };
	struct vport_stats s;
	struct vdev_status st;
	struct fixture f;
	struct thca *h = &f.p.h[0], lacks;
	u32 n = 1, err;

	setup(&f);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_COUNTER, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(h->bad_field, REQ_OFF(vhca_create_counter_req, port));
	req.port = 0;
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_COUNTER, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(bind(h, 99, f.counter[0]), VHCA_ST_BAD_HANDLE);
	assert_int_equal(h->bad_field, REQ_OFF(vhca_bind_counter_req, qpn));
	assert_int_equal(bind(h, f.p.qp[0].qpn, 77), VHCA_ST_BAD_HANDLE);
	assert_int_equal(h->bad_field, REQ_OFF(vhca_bind_counter_req, counter));
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_COUNTER, 77), VHCA_ST_BAD_HANDLE);
	assert_int_equal(ask(h, VHCA_CMD_QUERY_COUNTER, &object, sizeof(object), &s),
			 VHCA_ST_BAD_HANDLE);
	assert_int_equal(h->bad_field, REQ_OFF(vhca_object_req, handle));
	/* as many as the device says */
	req.port = 1;
	while (!(err = t_admin(h, VHCA_CMD_CREATE_COUNTER, &req, sizeof(req), NULL)))
		n++;
	assert_int_equal(err, VHCA_ST_NO_RESOURCE);
	assert_int_equal(n, 16 << 10);
	vdev_status(h->dev, &st);
	assert_int_equal(st.counters, n);
	vdev_reset(h->dev);
	vdev_status(h->dev, &st);
	assert_int_equal(st.counters, 0);

	t_hca_init_cfg(&lacks, &f.p.w, &cfg);
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		assert_int_equal(t_admin(&lacks, commands[i], NULL, 0, NULL), VHCA_ST_UNSUPPORTED);
	t_hca_fini(&lacks);
	done(&f);
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
		cmocka_unit_test(differences),
		cmocka_unit_test(moves),
		cmocka_unit_test(other_port),
		cmocka_unit_test(counter_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
