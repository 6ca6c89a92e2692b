// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QP 0 and QP 1 of ports: who may create them, how they are named, what they send and receive.
 */
#include <string.h>

#include "dev/listing.h"
#include "fabric/switch.h"
#include "qp/life.h"
#include "tests/thca.h"

#define GRH		40u
#define MAD		VHCA_MAD_SIZE
#define GSI_QKEY	0x80010000u
#define OF_QP		0x80000000u
#define ROOM		8192u

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))
#define T_REFUSED(h, op, req, len, st, field) do {				\
	assert_int_equal(t_admin(h, op, req, len, NULL), st);			\
	assert_int_equal((h)->bad_field, field);				\
} while (0)

/* Two adapters with two ports each, whose first ports are tested. */
struct fixture {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tmr mr[2];
	struct tqp smi[2], gsi[2];
};

static void drain(struct thca *h)
{
	struct vhca_eqe e;

	t_poll(h->w);
	while (t_eq_get(h, &h->async, &e))
		;
}

static void make_qp(struct fixture *f, u32 i, struct tqp *qp, u8 type, u8 port)
{
	f->h[i].qp_type = type;
	f->h[i].qp_port = port;
	t_qp_init(&f->h[i], qp, &f->cq[i], &f->cq[i]);
}

static void setup(struct fixture *f)
{
	t_two_init(&f->w, f->h, 2);
	for (u32 i = 0; i < 2; i++) {
		drain(&f->h[i]);
		t_cq_init(&f->h[i], &f->cq[i], 9, 0);
		t_mr_init(&f->h[i], &f->mr[i], 1ull << 40, ROOM, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
		t_mr_fill(&f->mr[i], i);
		make_qp(f, i, &f->smi[i], VHCA_QPT_SMI, 1);
		make_qp(f, i, &f->gsi[i], VHCA_QPT_GSI, 1);
	}
}

/* The same, and all of them in RTS. */
static void setup_up(struct fixture *f)
{
	setup(f);
	for (u32 i = 0; i < 2; i++) {
		t_ud_up(&f->smi[i], 0);
		t_ud_up(&f->gsi[i], GSI_QKEY);
	}
}

static void done(struct fixture *f)
{
	t_two_fini(&f->w, f->h);
}

static struct port *port_of(struct thca *h, u32 port)
{
	return &h->dev->port[port - 1].fab.ib;
}

/* A MAD from adapter 0, whose bytes begin at @off, to a QP of adapter 1. */
static struct twr mad_to(struct fixture *f, struct tqp *to, u64 wr_id, u32 off)
{
	struct twr wr = t_wr(VHCA_OP_SEND, wr_id, &f->mr[0], off, MAD, NULL, 0);

	wr.ud = t_ud_to(to, OF_QP);
	return wr;
}

static void post_recv(struct fixture *f, struct tqp *qp, u64 wr_id, u32 off)
{
	struct vhca_sge s = t_sge(&f->mr[1], off, GRH + MAD);

	t_recv(qp, wr_id, 1, &s);
}

static void send(struct fixture *f, struct tqp *qp, const struct twr *wr)
{
	t_send(qp, wr);
	t_expect_cqe(&f->cq[0], wr->wr_id, VHCA_CS_SUCCESS);
}

/* ---- creation ---- */

static void numbers(void **state)
{
	struct vhca_object_req req = { 0 };
	struct vhca_qp_attr a;
	struct fixture f;
	struct tqp other;

	setup(&f);
	assert_int_equal(f.smi[0].qpn, 0);
	assert_int_equal(f.gsi[0].qpn, 1);
	make_qp(&f, 0, &other, VHCA_QPT_GSI, 2);
	assert_int_equal(other.qpn, 1);
	/* the port distinguishes them, also in states without a port */
	for (u8 port = 1; port <= 2; port++) {
		req.handle = htole32(1);
		req.port = port;
		assert_int_equal(t_admin_out(&f.h[0], VHCA_CMD_QUERY_QP, &req, sizeof(req), &a,
					     sizeof(a)), VHCA_ST_OK);
		assert_int_equal(a.port, port);
		assert_int_equal(a.state, T_RESET);
	}
	assert_int_equal(t_to(&other, T_ERR), VHCA_ST_OK);
	assert_int_equal(t_state(&other), T_ERR);
	assert_int_equal(t_state(&f.gsi[0]), T_RESET);
	assert_int_equal(t_to(&other, T_RESET), VHCA_ST_OK);
	assert_int_equal(t_destroy_qp(&other), VHCA_ST_OK);
	assert_int_equal(t_destroy_qp(&other), VHCA_ST_BAD_HANDLE);
	assert_int_equal(t_destroy_qp(&f.gsi[0]), VHCA_ST_OK);
	make_qp(&f, 0, &f.gsi[0], VHCA_QPT_GSI, 1);
	done(&f);
}

/* A number without its port, and a port with another number, are refused. */
static void misnamed(void **state)
{
	struct vhca_object_req req = { 0 };
	struct vhca_modify_qp_req mod = { .mask = htole32(VHCA_QPA_STATE), .attr.state = T_ERR };
	struct vhca_mcg_req mcg = { .mgid = { 0xff }, .mlid = htole16(0xc001) };
	struct vhca_bind_counter_req bind = { 0 };
	struct fixture f;
	struct thca *h = &f.h[0];
	struct tqp rc;

	setup(&f);
	make_qp(&f, 0, &rc, VHCA_QPT_RC, 1);
	for (u32 qpn = 0; qpn < VHCA_SPECIAL_QPS; qpn++) {
		static const u8 ports[] = { 0, 2, 3, 255 };

		req.handle = htole32(qpn);
		mod.qpn = htole32(qpn);
		for (u32 i = 0; i < ARRAY_SIZE(ports); i++) {
			req.port = ports[i];
			mod.attr.port = ports[i];
			T_REFUSED(h, VHCA_CMD_DESTROY_QP, &req, sizeof(req), VHCA_ST_BAD_HANDLE,
				  REQ_OFF(vhca_object_req, handle));
			T_REFUSED(h, VHCA_CMD_MODIFY_QP, &mod, sizeof(mod), VHCA_ST_BAD_HANDLE,
				  REQ_OFF(vhca_modify_qp_req, qpn));
		}
		/* they cannot be attached to groups or bound to counters */
		mcg.qpn = htole32(qpn);
		T_REFUSED(h, VHCA_CMD_ATTACH_MCG, &mcg, sizeof(mcg), VHCA_ST_BAD_HANDLE,
			  REQ_OFF(vhca_mcg_req, qpn));
		bind.qpn = htole32(qpn);
		T_REFUSED(h, VHCA_CMD_BIND_COUNTER, &bind, sizeof(bind), VHCA_ST_BAD_HANDLE,
			  REQ_OFF(vhca_bind_counter_req, qpn));
	}
	req = (struct vhca_object_req){ .handle = htole32(rc.qpn), .port = 1 };
	T_REFUSED(h, VHCA_CMD_DESTROY_QP, &req, sizeof(req), VHCA_ST_BAD_HANDLE,
		  REQ_OFF(vhca_object_req, handle));
	/* other objects do not have a port */
	req = (struct vhca_object_req){ .handle = htole32(h->pd), .port = 1 };
	T_REFUSED(h, VHCA_CMD_DESTROY_PD, &req, sizeof(req), VHCA_ST_BAD_FIELD,
		  REQ_OFF(vhca_object_req, port));
	/* the port attribute of these QPs cannot be set */
	mod = (struct vhca_modify_qp_req){
		.mask = htole32(T_MASK_SPECIAL | VHCA_QPA_PORT),
		.attr = { .state = T_INIT, .port = 1 },
	};
	T_REFUSED(h, VHCA_CMD_MODIFY_QP, &mod, sizeof(mod), VHCA_ST_BAD_FIELD,
		  REQ_OFF(vhca_modify_qp_req, mask));
	done(&f);
}

static void creation(void **state)
{
	static const struct {
		u8 type, port, flags, status;
		u16 field;
	} cases[] = {
#define C(type, port, flags, st, f) { VHCA_QPT_##type, port, flags, VHCA_ST_##st, \
		REQ_OFF(vhca_create_qp_hw_req, f) }
		C(SMI, 0, 0, BAD_FIELD, port), C(SMI, 3, 0, BAD_FIELD, port),
		C(GSI, 0, 0, BAD_FIELD, port), C(GSI, 255, 0, BAD_FIELD, port),
		C(UD, 1, 0, BAD_FIELD, port), C(RC, 2, 0, BAD_FIELD, port),
		C(SMI, 1, 0, BUSY, port), C(GSI, 1, 0, BUSY, port),
		C(GSI, 2, VHCA_QP_SRQ, BAD_FIELD, flags),
		C(SMI, 2, VHCA_QP_NO_MC_LOOP, BAD_FIELD, flags),
#undef C
	};
	const struct vdev_config cfg = {
		.name = "t", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_SMI_GSI,
	}, no_ud = {
		.name = "t", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_UD,
	};
	struct fixture f;

	setup(&f);
	assert_true(dev_cap(f.h[0].dev, VHCA_CAP_SMI_GSI));
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vhca_create_qp_hw_req req = {
			.type = cases[i].type, .port = cases[i].port, .flags = cases[i].flags,
			.pdn = htole32(f.h[0].pd), .uar = htole32(f.h[0].uar),
			.send_cqn = htole32(f.cq[0].cqn), .recv_cqn = htole32(f.cq[0].cqn),
			.db_slot = htole32(f.h[0].next_slot),
			.log_sq_blocks = VHCA_NO_QUEUE, .log_rq_strides = VHCA_NO_QUEUE,
		};

		T_REFUSED(&f.h[0], VHCA_CMD_CREATE_QP, &req, sizeof(req), cases[i].status,
			  cases[i].field);
	}
	done(&f);

	t_world_init(&f.w);
	for (u32 i = 0; i < 2; i++) {
		struct vhca_create_qp_hw_req req = { .type = VHCA_QPT_GSI, .port = 1 };

		t_hca_init_cfg(&f.h[0], &f.w, i ? &no_ud : &cfg);
		assert_false(dev_cap(f.h[0].dev, VHCA_CAP_SMI_GSI));
		T_REFUSED(&f.h[0], VHCA_CMD_CREATE_QP, &req, sizeof(req), VHCA_ST_UNSUPPORTED,
			  REQ_OFF(vhca_create_qp_hw_req, type));
		t_hca_fini(&f.h[0]);
	}
	t_world_fini(&f.w);
}

static u32 listed(struct thca *h, u8 port)
{
	union vobject_info page[VLIST_PAGE];
	u32 from = 0, n = vdev_list(h->dev, VLIST_QPS, &from, page), hits = 0;

	assert_int_equal(from, VLIST_END);
	for (u32 i = 0; i < n; i++) {
		if (page[i].qp.qpn >= VHCA_SPECIAL_QPS || page[i].qp.port != port)
			continue;
		assert_string_equal(vqp_type_name(page[i].qp.type), page[i].qp.qpn ? "GSI" : "SMI");
		hits++;
	}
	return hits;
}

/* They are listed and counted, and a reset destroys them. */
static void lists_and_reset(void **state)
{
	union vobject_info page[VLIST_PAGE];
	struct tqp other, rc[VLIST_PAGE];
	u32 from = 0, n = 0, last = 0;
	struct vdev_status st;
	struct fixture f;
	struct thca *h = &f.h[0];

	setup_up(&f);
	make_qp(&f, 0, &other, VHCA_QPT_SMI, 2);
	assert_int_equal(listed(h, 1), 2);
	assert_int_equal(listed(h, 2), 1);
	/* the next page goes on where the last one ended */
	for (u32 i = 0; i < ARRAY_SIZE(rc); i++)
		make_qp(&f, 0, &rc[i], VHCA_QPT_RC, 1);
	while (from != VLIST_END) {
		u32 got = vdev_list(h->dev, VLIST_QPS, &from, page);

		for (u32 i = 0; i < got; i++, n++)
			if (page[i].qp.qpn >= VHCA_SPECIAL_QPS) {
				assert_true(page[i].qp.qpn > last);
				last = page[i].qp.qpn;
			}
	}
	assert_int_equal(n, 3 + ARRAY_SIZE(rc));
	vdev_status(h->dev, &st);
	assert_int_equal(st.qps, 3 + ARRAY_SIZE(rc));
	vdev_reset(h->dev);
	vdev_status(h->dev, &st);
	assert_int_equal(st.qps, 0);
	assert_int_equal(st.cqs, 0);
	from = 0;
	assert_int_equal(vdev_list(h->dev, VLIST_QPS, &from, page), 0);
	done(&f);
}

/* Events of these QPs have their port. */
static void event(void **state)
{
	struct vhca_eqe e;
	struct fixture f;
	struct tqp other;

	setup_up(&f);
	make_qp(&f, 0, &other, VHCA_QPT_GSI, 2);
	t_ud_up(&other, GSI_QKEY);
	t_ring(&f.h[0], other.slot, 1u << 20);
	t_poll(&f.w);
	assert_true(t_eq_get(&f.h[0], &f.h[0].async, &e));
	assert_int_equal(e.event, VHCA_EV_QP_FATAL);
	assert_int_equal(le32toh(e.number), 1);
	assert_int_equal(e.port, 2);
	assert_int_equal(t_state(&other), T_ERR);
	assert_int_equal(t_state(&f.gsi[0]), T_RTS);
	t_expect_no_event(&f.h[0]);
	done(&f);
}

/* ---- QP 1 ---- */

static void gsi(void **state)
{
	struct tseen seen = { 0 };
	struct vhca_cqe e;
	struct fixture f;
	struct twr wr;

	setup_up(&f);
	assert_int_equal(fab_set_packet_hook(f.w.fabric, t_watch, &seen), 0);
	/* the same partition is at another index in the receiver's table, as a full member */
	port_of(&f.h[0], 1)->pkey[7] = 0x0123;
	port_of(&f.h[1], 1)->pkey[PORT_PKEYS - 1] = 0x8123;
	post_recv(&f, &f.gsi[1], 10, 5);
	wr = mad_to(&f, &f.gsi[1], 1, 77);
	wr.ud.pkey_index = htole16(7);
	wr.ud.av.sl = 3;
	t_send(&f.gsi[0], &wr);
	e = t_expect_cqe(&f.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.qpn), 1);
	assert_int_equal(e.port, 1);
	e = t_expect_cqe(&f.cq[1], 10, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.byte_len), GRH + MAD);
	assert_int_equal(le32toh(e.qpn), 1);
	assert_int_equal(le32toh(e.src_qpn), 1);
	assert_int_equal(le16toh(e.slid), t_lid(&f.h[0]));
	assert_int_equal(le16toh(e.pkey_index), PORT_PKEYS - 1);
	assert_int_equal(e.sl, 3);
	assert_int_equal(e.port, 1);
	t_mr_expect(&f.mr[1], 0, 5 + GRH, 1, 0);
	t_mr_expect(&f.mr[1], 5 + GRH, MAD, 0, 77);
	assert_int_equal(seen.h[0].pkey, 0x0123);
	assert_int_equal(seen.h[0].vl, 0);
	assert_int_equal(seen.h[0].qkey, GSI_QKEY);
	assert_int_equal(seen.h[0].sqpn, 1);
	done(&f);
}

/* To an ordinary QP, and from one; with a GRH. */
static void gsi_and_others(void **state)
{
	struct vhca_cqe e;
	struct fixture f;
	struct tqp ud[2];
	struct twr wr;

	setup_up(&f);
	for (u32 i = 0; i < 2; i++) {
		make_qp(&f, i, &ud[i], VHCA_QPT_UD, 1);
		t_ud_up(&ud[i], GSI_QKEY);
	}
	post_recv(&f, &ud[1], 10, 0);
	wr = mad_to(&f, &ud[1], 1, 0);
	wr.ud.av.grh = 1;
	wr.ud.av.hop_limit = 1;
	send(&f, &f.gsi[0], &wr);
	e = t_expect_cqe(&f.cq[1], 10, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.src_qpn), 1);
	assert_int_equal(e.flags, VHCA_CQE_F_RQ | VHCA_CQE_F_GRH);
	post_recv(&f, &f.gsi[1], 11, 0);
	wr = mad_to(&f, &f.gsi[1], 2, 0);
	send(&f, &ud[0], &wr);
	e = t_expect_cqe(&f.cq[1], 11, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.src_qpn), ud[0].qpn);
	done(&f);
}

static void gsi_refuses(void **state)
{
	struct vport_stats was, now;
	struct fixture f;
	struct tqp ud;
	struct twr wr;

	setup_up(&f);
	port_of(&f.h[0], 1)->pkey[1] = 0x8001;
	port_of(&f.h[1], 1)->pkey[1] = 0x0123;
	port_of(&f.h[0], 1)->pkey[2] = 0x0123;
	post_recv(&f, &f.gsi[1], 10, 0);
	was = t_stats(&f.h[1]);
	wr = mad_to(&f, &f.gsi[1], 1, 0);
	wr.ud.pkey_index = htole16(1);
	send(&f, &f.gsi[0], &wr);
	/* two limited members */
	wr.ud.pkey_index = htole16(2);
	send(&f, &f.gsi[0], &wr);
	/* an empty entry */
	wr.ud.pkey_index = htole16(3);
	send(&f, &f.gsi[0], &wr);
	/* the P_Key that an empty entry of the receiver would match, if it were a full member's */
	port_of(&f.h[0], 1)->pkey[4] = 0x8000;
	wr.ud.pkey_index = htole16(4);
	send(&f, &f.gsi[0], &wr);
	now = t_stats(&f.h[1]);
	assert_int_equal(now.pkey_violations - was.pkey_violations, 4);
	wr = mad_to(&f, &f.gsi[1], 1, 0);
	wr.ud.qkey = htole32(0x10000);
	send(&f, &f.gsi[0], &wr);
	now = t_stats(&f.h[1]);
	assert_int_equal(now.qkey_violations - was.qkey_violations, 1);
	assert_int_equal(now.rx_no_qp, was.rx_no_qp);
	/* not a MAD */
	make_qp(&f, 0, &ud, VHCA_QPT_UD, 1);
	t_ud_up(&ud, GSI_QKEY);
	wr = mad_to(&f, &f.gsi[1], 1, 0);
	wr.sge[0].length = MAD - 4;
	send(&f, &ud, &wr);
	wr = mad_to(&f, &f.gsi[1], 1, 0);
	wr.opcode = VHCA_OP_SEND_IMM;
	send(&f, &ud, &wr);
	/* and to QP 0 only by VL15 */
	wr = mad_to(&f, &f.smi[1], 1, 0);
	send(&f, &ud, &wr);
	now = t_stats(&f.h[1]);
	assert_int_equal(now.rx_no_qp - was.rx_no_qp, 3);
	t_expect_no_cqe(&f.cq[1]);
	/* QP 1 receives nothing before RTR and in the error state */
	assert_int_equal(t_to(&f.gsi[1], T_RESET), VHCA_ST_OK);
	wr = mad_to(&f, &f.gsi[1], 1, 0);
	send(&f, &f.gsi[0], &wr);
	assert_int_equal(t_to(&f.gsi[1], T_ERR), VHCA_ST_OK);
	send(&f, &f.gsi[0], &wr);
	assert_int_equal(t_destroy_qp(&f.gsi[1]), VHCA_ST_OK);
	send(&f, &f.gsi[0], &wr);
	now = t_stats(&f.h[1]);
	assert_int_equal(now.rx_no_qp - was.rx_no_qp, 6);
	done(&f);
}

/* ---- QP 0 ---- */

/* Headers of the last packet to an adapter; other hooks do not see VL15. */
static struct wire_hdr spied;
static struct fab_port_ops spy;

static void spy_rx(struct fab_port *port, struct run *run)
{
	spied = run->h;
	vport_ops.rx(port, run);
}

static void spy_on(struct thca *h)
{
	spy = vport_ops;
	spy.rx = spy_rx;
	h->dev->port[0].fab.ops = &spy;
}

static void smi(void **state)
{
	struct vhca_cqe e;
	struct fixture f;
	struct twr wr;

	setup_up(&f);
	spy_on(&f.h[1]);
	post_recv(&f, &f.smi[1], 10, 0);
	wr = mad_to(&f, &f.smi[1], 1, 33);
	wr.ud.qkey = htole32(0x1234);
	send(&f, &f.smi[0], &wr);
	e = t_expect_cqe(&f.cq[1], 10, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.byte_len), GRH + MAD);
	assert_int_equal(le32toh(e.qpn), 0);
	assert_int_equal(le32toh(e.src_qpn), 0);
	assert_int_equal(le16toh(e.slid), t_lid(&f.h[0]));
	assert_int_equal(e.port, 1);
	t_mr_expect(&f.mr[1], GRH, MAD, 0, 33);
	assert_int_equal(spied.vl, 15);
	assert_int_equal(spied.pkey, 0xffff);
	assert_int_equal(spied.qkey, 0);
	assert_int_equal(spied.dqpn, 0);
	done(&f);
}

/* ---- entries ---- */

static void refused(struct fixture *f, struct tqp *qp, const struct twr *wr, u8 status)
{
	const struct vhca_qp_attr a = { .state = T_RTS };

	t_send(qp, wr);
	t_expect_cqe(&f->cq[0], wr->wr_id, status);
	assert_int_equal(t_state(qp), T_SQE);
	assert_int_equal(t_modify(qp, &a, VHCA_QPA_STATE), VHCA_ST_OK);
}

static void entries(void **state)
{
	struct fixture f;
	struct twr good, wr;
	u8 data[MAD] = { 0 };

	setup_up(&f);
#define BAD(qp, field, value, status) do {					\
	wr = good;								\
	wr.field = value;							\
	refused(&f, &f.qp[0], &wr, VHCA_CS_##status);				\
} while (0)
	good = mad_to(&f, &f.gsi[1], 1, 0);
	BAD(gsi, opcode, VHCA_OP_SEND_IMM, LOC_QP_OP_ERR);
	BAD(gsi, opcode, VHCA_OP_WRITE, LOC_QP_OP_ERR);
	BAD(gsi, ud.pkey_index, htole16(PORT_PKEYS), LOC_QP_OP_ERR);
	BAD(gsi, ud.rsvd[0], 1, LOC_QP_OP_ERR);
	BAD(gsi, ud.av.dlid, 0xffff, LOC_QP_OP_ERR);
	BAD(gsi, ud.av.port, 2, LOC_QP_OP_ERR);
	BAD(gsi, sge[0].length, MAD - 1, LOC_LEN_ERR);
	BAD(gsi, sge[0].length, MAD + 1, LOC_LEN_ERR);
	good = mad_to(&f, &f.smi[1], 1, 0);
	BAD(smi, opcode, VHCA_OP_SEND_IMM, LOC_QP_OP_ERR);
	BAD(smi, ud.pkey_index, htole16(1), LOC_QP_OP_ERR);
	BAD(smi, ud.dqpn, htole32(1), LOC_QP_OP_ERR);
	BAD(smi, ud.av.dlid, htole16(0xc000), LOC_QP_OP_ERR);
	BAD(smi, ud.av.grh, 1, LOC_QP_OP_ERR);
	BAD(smi, sge[0].length, MAD - 1, LOC_LEN_ERR);
#undef BAD
	/* valid entries: a NOP, and a MAD as inline data */
	wr = (struct twr){ .opcode = VHCA_OP_NOP, .wr_id = 2 };
	send(&f, &f.gsi[0], &wr);
	wr = mad_to(&f, &f.gsi[1], 3, 0);
	wr.nsge = 0;
	wr.flags = VHCA_WQE_INLINE;
	wr.data = data;
	wr.data_len = MAD;
	post_recv(&f, &f.gsi[1], 10, 0);
	send(&f, &f.gsi[0], &wr);
	t_expect_cqe(&f.cq[1], 10, VHCA_CS_SUCCESS);
	done(&f);
}

/* All states in turn; everything posted is flushed, with the port in each completion. */
static void states(void **state)
{
	struct vhca_qp_attr a = { .state = T_SQD, .en_sqd_async_notify = 1 };
	struct vhca_cqe e;
	struct fixture f;
	struct twr wr;

	setup_up(&f);
	assert_int_equal(t_modify(&f.gsi[0], &a, VHCA_QPA_STATE | VHCA_QPA_EN_SQD_ASYNC_NOTIFY),
			 VHCA_ST_OK);
	t_expect_event(&f.h[0], VHCA_EV_SQ_DRAINED, 1);
	a = (struct vhca_qp_attr){ .state = T_SQD, .pkey_index = htole16(1),
				   .qkey = htole32(GSI_QKEY) };
	assert_int_equal(t_modify(&f.gsi[0], &a, VHCA_QPA_STATE | VHCA_QPA_PKEY_INDEX |
				  VHCA_QPA_QKEY), VHCA_ST_OK);
	assert_int_equal(t_to(&f.gsi[0], T_RTS), VHCA_ST_OK);
	assert_int_equal(t_to(&f.gsi[1], T_RESET), VHCA_ST_OK);
	f.gsi[1].rq_prod = 0;
	t_set_rec(&f.h[1], f.gsi[1].slot + 1, 0);
	post_recv(&f, &f.gsi[1], 10, 0);
	assert_int_equal(t_to(&f.gsi[1], T_ERR), VHCA_ST_OK);
	e = t_expect_cqe(&f.cq[1], 10, VHCA_CS_WR_FLUSH_ERR);
	assert_int_equal(e.port, 1);
	assert_int_equal(le32toh(e.qpn), 1);
	wr = mad_to(&f, &f.smi[1], 1, 0);
	assert_int_equal(t_to(&f.smi[0], T_ERR), VHCA_ST_OK);
	t_send(&f.smi[0], &wr);
	e = t_expect_cqe(&f.cq[0], 1, VHCA_CS_WR_FLUSH_ERR);
	assert_int_equal(e.port, 1);
	done(&f);
}

/* ---- path bits ---- */

static void path_bits(void **state)
{
	struct tqp ud[2], rc[2];
	struct vhca_qp_attr a;
	struct vhca_cqe e;
	struct fixture f;
	struct twr wr;
	u16 lid;

	setup_up(&f);
	for (u32 i = 0; i < 2; i++) {
		make_qp(&f, i, &ud[i], VHCA_QPT_UD, 1);
		t_ud_up(&ud[i], GSI_QKEY);
		make_qp(&f, i, &rc[i], VHCA_QPT_RC, 1);
	}
	lid = t_lid(&f.h[1]);
	/* eight LIDs of the receiver, all routed to the switch's port of its first LID */
	for (u16 l = 64; l < 72; l++)
		fab_switch_set_port(f.w.fabric, 0, l, fab_switch_port(f.w.fabric, 0, lid));
	port_set_lid(port_of(&f.h[1], 1), 64, 3);
	port_set_lid(port_of(&f.h[0], 1), 32, 2);
	post_recv(&f, &ud[1], 10, 0);
	post_recv(&f, &f.gsi[1], 11, 0);
	post_recv(&f, &f.smi[1], 12, 0);
	wr = mad_to(&f, &ud[1], 1, 0);
	wr.ud.av.dlid = htole16(69);
	wr.ud.av.src_path_bits = 3;
	send(&f, &ud[0], &wr);
	e = t_expect_cqe(&f.cq[1], 10, VHCA_CS_SUCCESS);
	assert_int_equal(le16toh(e.slid), 35);
	assert_int_equal(e.dlid_path_bits, 5);
	wr.ud.dqpn = htole32(1);
	/* bits that the port does not have any more are left out */
	wr.ud.av.src_path_bits = 0x7d;
	send(&f, &f.gsi[0], &wr);
	e = t_expect_cqe(&f.cq[1], 11, VHCA_CS_SUCCESS);
	assert_int_equal(le16toh(e.slid), 33);
	assert_int_equal(e.dlid_path_bits, 5);
	wr.ud.dqpn = 0;
	send(&f, &f.smi[0], &wr);
	e = t_expect_cqe(&f.cq[1], 12, VHCA_CS_SUCCESS);
	assert_int_equal(le16toh(e.slid), 33);
	assert_int_equal(e.dlid_path_bits, 5);

	/* a connection between LIDs of both ports that are not the first ones, */
	for (u16 l = 32; l < 36; l++)
		fab_switch_set_port(f.w.fabric, 0, l, fab_switch_port(f.w.fabric, 0, 1));
	for (u32 i = 0; i < 2; i++) {
		t_attr_init(&a, 1);
		assert_int_equal(t_modify(&rc[i], &a, T_MASK_INIT), VHCA_ST_OK);
		t_attr_rtr(&a, i ? 34 : 71, rc[!i].qpn, 5, 3);
		a.av.src_path_bits = i ? 7 : 2;
		assert_int_equal(t_modify(&rc[i], &a, T_MASK_RTR), VHCA_ST_OK);
		t_attr_rts(&a, 5);
		assert_int_equal(t_modify(&rc[i], &a, T_MASK_RTS), VHCA_ST_OK);
	}
	post_recv(&f, &rc[1], 13, 0);
	wr = t_wr(VHCA_OP_SEND, 1, &f.mr[0], 0, 100, NULL, 0);
	send(&f, &rc[0], &wr);
	t_expect_cqe(&f.cq[1], 13, VHCA_CS_SUCCESS);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(misnamed),
		cmocka_unit_test(creation),
		cmocka_unit_test(lists_and_reset),
		cmocka_unit_test(event),
		cmocka_unit_test(gsi),
		cmocka_unit_test(gsi_and_others),
		cmocka_unit_test(gsi_refuses),
		cmocka_unit_test(smi),
		cmocka_unit_test(entries),
		cmocka_unit_test(states),
		cmocka_unit_test(path_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
