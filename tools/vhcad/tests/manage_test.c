// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management of an adapter: QP 0 before its port is active, the commands for the agents of its
 * ports, traps, and that agents need no driver.
 */
#include <string.h>

#include "fabric/switch.h"
#include "lib/bytes.h"
#include "res/dev.h"
#include "subnet/static.h"
#include "tests/tagent.h"
#include "tests/thca.h"
#include "wire/mad.h"

#define GRH		40u
#define GSI_QKEY	0x80010000u
#define OF_QP		0x80000000u
#define ROOM		65536u
#define RECEIVES	16u
#define MSEC		1000000ull

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

/* Two adapters; QP 0 and QP 1 of their first ports have receives from the start. */
struct fixture {
	struct tworld w;
	struct thca h[2];
	struct tcq scq[2], cq[2];
	struct tmr mr[2];
	struct tqp smi[2], gsi[2];
	u64 tid;
};

static struct port *port_of(struct fixture *f, u32 i)
{
	return &f->h[i].dev->port[0].fab.ib;
}

static void make_qp(struct fixture *f, u32 i, struct tqp *qp, u8 type)
{
	f->h[i].qp_type = type;
	f->h[i].qp_port = 1;
	t_qp_init(&f->h[i], qp, &f->scq[i], &f->cq[i]);
	t_ud_up(qp, type == VHCA_QPT_GSI ? GSI_QKEY : 0);
	for (u32 k = 0; k < RECEIVES; k++) {
		u32 slot = 16 + (type == VHCA_QPT_GSI ? RECEIVES : 0) + k;
		struct vhca_sge s = t_sge(&f->mr[i], slot * 512, GRH + MAD_LEN);

		t_recv(qp, slot * 512, 1, &s);
	}
}

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	t_two_init(&f->w, f->h, 1);
	for (u32 i = 0; i < 2; i++) {
		t_cq_init(&f->h[i], &f->scq[i], 6, 0);
		t_cq_init(&f->h[i], &f->cq[i], 6, 0);
		t_mr_init(&f->h[i], &f->mr[i], 0, ROOM, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
		make_qp(f, i, &f->smi[i], VHCA_QPT_SMI);
		make_qp(f, i, &f->gsi[i], VHCA_QPT_GSI);
	}
}

static void done(struct fixture *f)
{
	t_two_fini(&f->w, f->h);
}

/* Ports are not managed any more, and those of both adapters are in INIT. */
static void unmanaged(struct fixture *f)
{
	struct vhca_eqe e;

	subnet_static_yield(f->w.fabric);
	for (u32 i = 0; i < 2; i++) {
		port_bounce(port_of(f, i));
		assert_int_equal(port_of(f, i)->state, PORT_INIT);
		t_poll(&f->w);
		while (t_eq_get(&f->h[i], &f->h[i].async, &e))
			;
	}
}

/* ---- datagrams ---- */

static void request(struct fixture *f, u8 *mad, u8 class, u8 method, u16 attr, u32 mod)
{
	ta_header(mad, class, method, attr);
	mad_put(mad, MAD_TID, ++f->tid);
	mad_put(mad, MAD_ATTR_MOD, mod);
}

/* As the host's SMI sends it: the first hop leads out of the adapter. */
static void route(u8 *mad, u32 hops, const u8 *path)
{
	mad_put(mad, DR_HOP_COUNT, hops);
	mad_put(mad, DR_HOP_POINTER, 1);
	mad_put(mad, DR_SLID, LID_PERMISSIVE);
	mad_put(mad, DR_DLID, LID_PERMISSIVE);
	if (hops)
		memcpy(mad + DR_INITIAL_PATH + 1, path, hops);
}

/* Adapter 0 sends a datagram; the send completes, whatever happens to the datagram. */
static void send_mad(struct fixture *f, struct tqp *qp, const u8 *mad, u16 dlid, u32 dqpn)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &f->mr[0], 0, MAD_LEN, NULL, 0);

	t_mr_put(&f->mr[0], 0, mad, MAD_LEN);
	wr.ud = (struct vhca_wqe_ud){
		.av.port = 1, .av.dlid = htole16(dlid), .dqpn = htole32(dqpn),
		.qkey = htole32(OF_QP),
	};
	t_send(qp, &wr);
	t_expect_cqe(&f->scq[0], 1, VHCA_CS_SUCCESS);
	t_settle(&f->w, MSEC);
}

/* Takes what a QP of an adapter has received. */
static struct vhca_cqe received(struct fixture *f, u32 i, u32 qpn, u8 *mad)
{
	struct vhca_cqe e;

	t_poll(&f->w);
	assert_true(t_cq_poll(&f->cq[i], &e));
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.qpn), qpn);
	assert_int_equal(le32toh(e.byte_len), GRH + MAD_LEN);
	t_mr_get(&f->mr[i], le64toh(e.wr_id) + GRH, mad, MAD_LEN);
	return e;
}

/* A trap that the subnet manager gets, which runs on adapter 1's host. */
static void trapped(struct fixture *f, u16 number, u8 *mad)
{
	received(f, 1, 0, mad);
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_TRAP);
	assert_int_equal(mad_get(mad + SMP_DATA, NOTICE_TRAP), number);
}

static void managed_by_1(struct fixture *f)
{
	subnet_static_yield(f->w.fabric);
	port_set_sm(port_of(f, 0), port_of(f, 1)->lid, 0);
	t_expect_event(&f->h[0], VHCA_EV_SM_CHANGE, 0);
}

/* ---- QP 0 while the port is not active ---- */

/* The switch, and the other adapter behind it, along a directed route; answers come to the host. */
static void before_active(void **state)
{
	u8 mad[MAD_LEN], way[] = { 1, 0 };
	struct vport_stats was, now;
	struct vhca_cqe e;
	struct fixture f;

	setup(&f);
	unmanaged(&f);
	request(&f, mad, MAD_CLASS_SUBN_DR, MAD_GET, ATTR_NODE_INFO, 0);
	route(mad, 1, way);
	send_mad(&f, &f.smi[0], mad, LID_PERMISSIVE, 0);
	e = received(&f, 0, 0, mad);
	assert_int_equal(le16toh(e.slid), LID_PERMISSIVE);
	assert_int_equal(e.port, 1);
	assert_int_equal(mad_get(mad, MAD_TID), f.tid);
	assert_int_equal(mad_get(mad, DR_RETURNS), 1);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_TYPE), NODE_SWITCH);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_NODE_GUID), fab_switch_guid(f.w.fabric, 0));

	way[1] = f.h[1].dev->port[0].fab.at;
	request(&f, mad, MAD_CLASS_SUBN_DR, MAD_GET, ATTR_NODE_INFO, 0);
	route(mad, 2, way);
	send_mad(&f, &f.smi[0], mad, LID_PERMISSIVE, 0);
	received(&f, 0, 0, mad);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_TYPE), NODE_CA);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_NODE_GUID), f.h[1].dev->node_guid);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_PORTS), 1);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_LOCAL_PORT), 1);
	/* the other host has received nothing of it */
	t_expect_no_cqe(&f.cq[1]);

	/* but SMInfo: its manager answers */
	request(&f, mad, MAD_CLASS_SUBN_DR, MAD_GET, ATTR_SM_INFO, 0);
	route(mad, 2, way);
	send_mad(&f, &f.smi[0], mad, LID_PERMISSIVE, 0);
	received(&f, 1, 0, mad);
	assert_int_equal(mad_get(mad, MAD_TID), f.tid);
	t_expect_no_cqe(&f.cq[0]);

	/* QP 1 has to wait */
	was = t_stats(&f.h[0]);
	request(&f, mad, MAD_CLASS_PERF, MAD_GET, ATTR_PORT_COUNTERS, 0);
	send_mad(&f, &f.gsi[0], mad, port_of(&f, 1)->lid, 1);
	now = t_stats(&f.h[0]);
	assert_int_equal(now.tx_discards - was.tx_discards, 1);
	t_expect_no_cqe(&f.cq[0]);
	done(&f);
}

/* An adapter without a driver answers by QP 0 and by QP 1; other QPs do not exist. */
static void without_driver(void **state)
{
	u8 mad[MAD_LEN];
	struct fixture f;
	u64 rx_no_qp;
	u16 lid;

	setup(&f);
	lid = port_of(&f, 1)->lid;
	vdev_reset(f.h[1].dev);
	assert_int_equal(port_of(&f, 1)->state, PORT_ACTIVE);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_DESC, 0);
	send_mad(&f, &f.smi[0], mad, lid, 0);
	received(&f, 0, 0, mad);
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_GET_RESP);
	assert_string_equal((char *)mad + SMP_DATA, "vhca");
	request(&f, mad, MAD_CLASS_PERF, MAD_GET, ATTR_PORT_COUNTERS, 0);
	mad[PERF_DATA + 1] = 1;
	send_mad(&f, &f.gsi[0], mad, lid, 1);
	received(&f, 0, 1, mad);
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_GET_RESP);
	assert_true(mad_get(mad + PERF_DATA, PC_RCV_PKTS) > 0);
	/* a CM datagram: the host would have to answer */
	rx_no_qp = f.h[1].dev->port[0].count.rx_no_qp;
	request(&f, mad, 7, MAD_SEND, 0x10, 0);
	send_mad(&f, &f.gsi[0], mad, lid, 1);
	assert_int_equal(f.h[1].dev->port[0].count.rx_no_qp - rx_no_qp, 1);
	t_expect_no_cqe(&f.cq[0]);
	done(&f);
}

/* A port's own LID: the agent of the port answers its host, too. */
static void to_oneself(void **state)
{
	u8 mad[MAD_LEN];
	struct fixture f;

	setup(&f);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_PORT_INFO, 1);
	send_mad(&f, &f.smi[0], mad, port_of(&f, 0)->lid, 0);
	received(&f, 0, 0, mad);
	assert_int_equal(mad_get(mad + SMP_DATA, PI_LID), port_of(&f, 0)->lid);
	request(&f, mad, MAD_CLASS_PERF, MAD_GET, ATTR_CLASS_PORT_INFO, 0);
	send_mad(&f, &f.gsi[0], mad, port_of(&f, 0)->lid, 1);
	received(&f, 0, 1, mad);
	assert_int_equal(mad_get(mad, MAD_TID), f.tid);
	/* datagrams that its agents do not handle come to QP 1 itself */
	request(&f, mad, 7, MAD_SEND, 0x10, 0);
	send_mad(&f, &f.gsi[0], mad, port_of(&f, 0)->lid, 1);
	received(&f, 0, 1, mad);
	assert_int_equal(mad_get(mad, MAD_CLASS), 7);
	done(&f);
}

/* ---- commands ---- */

/* Addresses of a command's datagrams. */
struct exchange {
	u64 in, out;
	struct vhca_asqe sqe;
	struct vhca_process_mad_req *req;
};

static void exchange_init(struct fixture *f, struct exchange *x)
{
	*x = (struct exchange){ .in = t_alloc(&f->h[0], 4096), .out = t_alloc(&f->h[0], 4096) };
	x->sqe.opcode = VHCA_CMD_PROCESS_MAD;
	x->sqe.out_len = htole32(MAD_LEN);
	x->sqe.out_addr = htole64(x->out);
	x->req = (void *)x->sqe.req;
	x->req->mad_addr = htole64(x->in);
	x->req->port = 1;
}

/* Returns the result; the reply is in @mad. */
static u8 process(struct fixture *f, struct exchange *x, u8 *mad)
{
	struct {
		struct vhca_process_mad_resp r;
		u8 rest[VHCA_ACQE_RESP - sizeof(struct vhca_process_mad_resp)];
	} resp;

	memcpy(t_cpu(&f->h[0], x->in), mad, MAD_LEN);
	assert_int_equal(t_admin_raw(&f->h[0], &x->sqe, &resp), VHCA_ST_OK);
	memcpy(mad, t_cpu(&f->h[0], x->out), MAD_LEN);
	return resp.r.result;
}

static void process_mad(void **state)
{
	u8 mad[MAD_LEN];
	struct exchange x;
	struct fixture f;

	setup(&f);
	exchange_init(&f, &x);
	/* a directed route without hops, as the host's SMI leaves it */
	request(&f, mad, MAD_CLASS_SUBN_DR, MAD_GET, ATTR_NODE_INFO, 0);
	route(mad, 0, NULL);
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED | VHCA_MAD_REPLY);
	assert_int_equal(mad_get(mad, DR_RETURNS), 1);
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_GET_RESP);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_NODE_GUID), f.h[0].dev->node_guid);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_VENDOR_ID), VHCA_PCI_VENDOR);

	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_PORT_INFO, 1);
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED | VHCA_MAD_REPLY);
	assert_int_equal(mad_get(mad + SMP_DATA, PI_LID), port_of(&f, 0)->lid);
	assert_int_equal(mad_get(mad + SMP_DATA, PI_STATE), PORT_ACTIVE);
	request(&f, mad, MAD_CLASS_PERF, MAD_GET, ATTR_PORT_COUNTERS, 0);
	mad[PERF_DATA + 1] = 1;
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED | VHCA_MAD_REPLY);

	/* a datagram without an answer, and one that is not for agents */
	request(&f, mad, MAD_CLASS_SUBN, MAD_TRAP_REPRESS, ATTR_NOTICE, 0);
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET_RESP, ATTR_PORT_INFO, 0);
	assert_int_equal(process(&f, &x, mad), 0);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_SM_INFO, 0);
	assert_int_equal(process(&f, &x, mad), 0);
	request(&f, mad, 7, MAD_SEND, 0x10, 0);
	assert_int_equal(process(&f, &x, mad), 0);
	done(&f);
}

/* A request with a wrong M_Key is not answered, unless keys are to be ignored. */
static void ignored_mkey(void **state)
{
	struct port_setup setup_;
	u8 mad[MAD_LEN];
	struct exchange x;
	struct fixture f;

	setup(&f);
	exchange_init(&f, &x);
	setup_ = port_of(&f, 0)->setup;
	setup_.mkey = 0x123456789;
	setup_.mkey_protect = 2;
	port_set_setup(port_of(&f, 0), &setup_);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_PORT_INFO, 1);
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_PORT_INFO, 1);
	x.req->flags = VHCA_MAD_IGNORE_MKEY;
	assert_int_equal(process(&f, &x, mad), VHCA_MAD_CONSUMED | VHCA_MAD_REPLY);
	done(&f);
}

/* Refused, and nothing that the datagram asks for is done. */
static void process_refused(void **state)
{
	struct vhca_asqe good;
	struct exchange x;
	struct fixture f;
	u8 *mad;

#define REFUSED(st, field) do {							\
	assert_int_equal(t_admin_raw(&f.h[0], &x.sqe, NULL), st);		\
	assert_int_equal(f.h[0].bad_field, field);				\
	assert_int_equal(port_of(&f, 0)->pkey[0], 0xffff);			\
	x.sqe = good;								\
} while (0)
	setup(&f);
	exchange_init(&f, &x);
	good = x.sqe;
	mad = t_cpu(&f.h[0], x.in);
	request(&f, mad, MAD_CLASS_SUBN, MAD_SET, ATTR_PKEY_TABLE, 0);
	put_be16(mad + SMP_DATA, 0x9999);
	x.req->port = 0;
	REFUSED(VHCA_ST_BAD_FIELD, REQ_OFF(vhca_process_mad_req, port));
	x.req->port = 2;
	REFUSED(VHCA_ST_BAD_FIELD, REQ_OFF(vhca_process_mad_req, port));
	x.req->flags = 4;
	REFUSED(VHCA_ST_BAD_FIELD, REQ_OFF(vhca_process_mad_req, flags));
	x.req->rsvd = htole32(1 << 8);
	REFUSED(VHCA_ST_BAD_FIELD, REQ_OFF(vhca_process_mad_req, rsvd) + 1);
	x.req->mad_addr = htole64(1ull << 60);
	REFUSED(VHCA_ST_BAD_ADDRESS, REQ_OFF(vhca_process_mad_req, mad_addr));
	x.sqe.out_addr = htole64(1ull << 60);
	REFUSED(VHCA_ST_BAD_ADDRESS, offsetof(struct vhca_asqe, out_addr));
	x.sqe.out_len = htole32(MAD_LEN - 1);
	REFUSED(VHCA_ST_BAD_FIELD, offsetof(struct vhca_asqe, out_len));
#undef REFUSED
	assert_int_equal(t_admin_raw(&f.h[0], &x.sqe, NULL), VHCA_ST_OK);
	assert_int_equal(port_of(&f, 0)->pkey[0], 0x9999);
	done(&f);
}

static struct vhca_port_attr attrs(struct fixture *f)
{
	struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;

	assert_int_equal(t_admin_out(&f->h[0], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a,
				     sizeof(a)), VHCA_ST_OK);
	return a;
}

static u32 modify(struct fixture *f, u32 set, u32 clear, u8 flags)
{
	struct vhca_modify_port_req req = {
		.port = 1, .flags = flags, .set_caps = htole32(set), .clear_caps = htole32(clear),
	};

	return t_admin(&f->h[0], VHCA_CMD_MODIFY_PORT, &req, sizeof(req), NULL);
}

/* The host's capability flags are in the port's attributes, and the subnet manager gets a trap. */
static void modify_port(void **state)
{
	u8 mad[MAD_LEN];
	struct fixture f;
	u32 own;

	setup(&f);
	managed_by_1(&f);
	own = le32toh(attrs(&f).cap_mask);
	assert_int_equal(own & VHCA_PORT_HOST_CAPS, 0);
	assert_int_not_equal(own, 0);
	assert_int_equal(modify(&f, VHCA_PORT_CAP_SM | VHCA_PORT_CAP_CM, 0, 0), VHCA_ST_OK);
	assert_int_equal(le32toh(attrs(&f).cap_mask), own | VHCA_PORT_CAP_SM | VHCA_PORT_CAP_CM);
	t_settle(&f.w, MSEC);
	trapped(&f, TRAP_LOCAL_CHANGE, mad);
	assert_int_equal(mad_get(mad + SMP_DATA, TRAP144_CAPS),
			 own | VHCA_PORT_CAP_SM | VHCA_PORT_CAP_CM);
	assert_int_equal(mad_get(mad + SMP_DATA, TRAP144_LID), port_of(&f, 0)->lid);
	/* the same again causes no trap; other bits stay */
	assert_int_equal(modify(&f, VHCA_PORT_CAP_SM, VHCA_PORT_CAP_SNMP_TUNNEL, 0), VHCA_ST_OK);
	t_settle(&f.w, MSEC);
	t_expect_no_cqe(&f.cq[1]);
	assert_int_equal(modify(&f, 0, VHCA_PORT_CAP_SM, 0), VHCA_ST_OK);
	assert_int_equal(le32toh(attrs(&f).cap_mask), own | VHCA_PORT_CAP_CM);
	/* the earlier trap is still repeated, with the new contents */
	t_settle(&f.w, 2000 * MSEC);
	trapped(&f, TRAP_LOCAL_CHANGE, mad);
	assert_int_equal(mad_get(mad + SMP_DATA, TRAP144_CAPS), own | VHCA_PORT_CAP_CM);
	t_expect_no_event(&f.h[0]);
	/* a reset of the driver's device clears its flags */
	vdev_reset(f.h[0].dev);
	assert_int_equal(port_of(&f, 0)->cap_mask, own);
	done(&f);
}

static void modify_refused(void **state)
{
	static const struct vdev_config off = {
		.name = "t", .ports = 1, .vectors = 4, .caps_off = 1u << VHCA_CAP_SMI_GSI,
	};
	struct vhca_modify_port_req req = { 0 };
	struct vhca_asqe sqe = { .opcode = VHCA_CMD_PROCESS_MAD, .out_len = htole32(MAD_LEN) };
	struct fixture f;
	struct thca h;

#define REFUSED(f_, v, f2, v2, st) do {						\
	req = (struct vhca_modify_port_req){ .port = 1 };			\
	req.f2 = v2;								\
	req.f_ = v;								\
	assert_int_equal(t_admin(&f.h[0], VHCA_CMD_MODIFY_PORT, &req, sizeof(req), NULL), st); \
	assert_int_equal(f.h[0].bad_field, REQ_OFF(vhca_modify_port_req, f_));	\
} while (0)
	setup(&f);
	REFUSED(port, 0, flags, 0, VHCA_ST_BAD_FIELD);
	REFUSED(port, 2, flags, 0, VHCA_ST_BAD_FIELD);
	REFUSED(flags, 2, port, 1, VHCA_ST_BAD_FIELD);
	REFUSED(mtu, 1, port, 1, VHCA_ST_BAD_FIELD);
	REFUSED(rsvd0, 1, port, 1, VHCA_ST_BAD_FIELD);
	REFUSED(rsvd1, htole32(1), port, 1, VHCA_ST_BAD_FIELD);
	/* a flag that is not the host's: that the device sends traps */
	REFUSED(set_caps, htole32(1u << 2), port, 1, VHCA_ST_BAD_FIELD);
	REFUSED(clear_caps, htole32(1u << 2), port, 1, VHCA_ST_BAD_FIELD);
	REFUSED(clear_caps, htole32(VHCA_PORT_CAP_SM), set_caps, htole32(VHCA_PORT_CAP_SM),
		VHCA_ST_BAD_FIELD);
#undef REFUSED
	t_hca_init_cfg(&h, &f.w, &off);
	req = (struct vhca_modify_port_req){ .port = 1 };
	assert_int_equal(t_admin(&h, VHCA_CMD_MODIFY_PORT, &req, sizeof(req), NULL),
			 VHCA_ST_UNSUPPORTED);
	assert_int_equal(t_admin_raw(&h, &sqe, NULL), VHCA_ST_UNSUPPORTED);
	t_hca_fini(&h);
	done(&f);
}

static void node_desc(void **state)
{
	struct vhca_node_desc_req req = { .desc = "a node" };
	u8 mad[MAD_LEN];
	struct fixture f;

	setup(&f);
	managed_by_1(&f);
	assert_int_equal(t_admin(&f.h[0], VHCA_CMD_SET_NODE_DESC, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
	t_settle(&f.w, MSEC);
	trapped(&f, TRAP_LOCAL_CHANGE, mad);
	assert_int_equal(mad_get(mad + SMP_DATA, TRAP144_CHANGES), TRAP144_NODE_DESC);
	assert_int_equal(t_admin(&f.h[0], VHCA_CMD_SET_NODE_DESC, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
	t_settle(&f.w, MSEC);
	t_expect_no_cqe(&f.cq[1]);
	request(&f, mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_DESC, 0);
	send_mad(&f, &f.smi[0], mad, port_of(&f, 0)->lid, 0);
	received(&f, 0, 0, mad);
	assert_string_equal((char *)mad + SMP_DATA, "a node");
	done(&f);
}

/* ---- violations ---- */

/* Wrong keys are counted in the port's attributes, and the subnet manager gets a trap. */
static void violations(void **state)
{
	u8 mad[MAD_LEN];
	struct fixture f;

	setup(&f);
	managed_by_1(&f);
	/* from the manager's host, with both keys wrong */
	port_of(&f, 1)->pkey[1] = 0x8777;
	for (u32 k = 0; k < 2; k++) {
		struct twr wr = t_wr(VHCA_OP_SEND, 1, &f.mr[1], 0, MAD_LEN, NULL, 0);

		wr.ud = t_ud_to(&f.gsi[0], k ? 0x77 : OF_QP);
		wr.ud.pkey_index = htole16(!k);
		t_send(&f.gsi[1], &wr);
		t_expect_cqe(&f.scq[1], 1, VHCA_CS_SUCCESS);
		t_settle(&f.w, MSEC);
		trapped(&f, k ? TRAP_BAD_QKEY : TRAP_BAD_PKEY, mad);
		assert_int_equal(mad_get(mad + SMP_DATA, TRAP257_KEY), k ? 0x77 : 0x8777);
		assert_int_equal(mad_get(mad + SMP_DATA, TRAP257_LID1), port_of(&f, 1)->lid);
		assert_int_equal(mad_get(mad + SMP_DATA, TRAP257_LID2), port_of(&f, 0)->lid);
		assert_int_equal(mad_get(mad + SMP_DATA, TRAP257_QP2), 1);
	}
	assert_int_equal(le32toh(attrs(&f).pkey_viol), 1);
	assert_int_equal(le32toh(attrs(&f).qkey_viol), 1);
	assert_int_equal(modify(&f, 0, 0, VHCA_PORT_RESET_QKEY_VIOL), VHCA_ST_OK);
	assert_int_equal(le32toh(attrs(&f).qkey_viol), 0);
	assert_int_equal(le32toh(attrs(&f).pkey_viol), 1);
	/* counters since the port was made are not reset */
	assert_int_equal(t_stats(&f.h[0]).qkey_violations, 1);
	done(&f);
}

/* Attributes that a manager has set can be queried. */
static void port_attrs(void **state)
{
	struct port_setup s;
	struct fixture f;
	struct vhca_port_attr a;

	setup(&f);
	a = attrs(&f);
	assert_int_equal(a.active_mtu, a.max_mtu);
	assert_int_equal(a.max_vl, 4);
	assert_int_equal(le32toh(a.pkey_entries), 128);
	s = port_of(&f, 0)->setup;
	s.mtu = 4;
	s.subnet_timeout = 21;
	s.init_type_reply = 5;
	port_set_setup(port_of(&f, 0), &s);
	port_set_sm(port_of(&f, 0), 77, 6);
	port_set_lid(port_of(&f, 0), 64, 5);
	a = attrs(&f);
	assert_int_equal(a.active_mtu, 4);
	assert_int_equal(a.max_mtu, 5);
	assert_int_equal(a.subnet_timeout, 21);
	assert_int_equal(a.init_type_reply, 5);
	assert_int_equal(a.sm_sl, 6);
	assert_int_equal(le16toh(a.sm_lid), 77);
	assert_int_equal(le16toh(a.lid), 64);
	assert_int_equal(a.lmc, 5);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_active),
		cmocka_unit_test(without_driver),
		cmocka_unit_test(to_oneself),
		cmocka_unit_test(process_mad),
		cmocka_unit_test(ignored_mkey),
		cmocka_unit_test(process_refused),
		cmocka_unit_test(modify_port),
		cmocka_unit_test(modify_refused),
		cmocka_unit_test(node_desc),
		cmocka_unit_test(violations),
		cmocka_unit_test(port_attrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
