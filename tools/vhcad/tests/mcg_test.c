// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups: attached QPs, what they receive, and what is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "dev/listing.h"
#include "fabric/internal.h"
#include "tests/tfail.h"
#include "tests/thca.h"
#include "tests/ttopo.h"

#define MLID	0xc001u
#define QKEY	0x1234u
#define MCAST	0xffffffu
#define HCAS	3u
#define BYTES	100u
#define SLOT	256u		/* of a receive in its region */

static const u8 mgid[16] = { 0xff, 0x12, 0xa0, 0x1c, [15] = 1 };
static const u8 other_mgid[16] = { 0xff, 0x12, 0xa0, 0x1c, [15] = 2 };

struct fixture {
	struct tworld w;
	struct thca h[HCAS];
	struct tcq cq[HCAS];
	struct tmr mr[HCAS];
	struct tqp qp[HCAS];
};

static int set_up(void **state, struct topo *t)
{
	static const char *const names[HCAS] = { "t0", "t1", "t2" };
	struct fixture *f = calloc(1, sizeof(*f));
	struct vdev_config cfg = { .vectors = 4 };

	t_world_init(&f->w);
	if (t)
		fabric_set_topology(f->w.fabric, t);
	for (u32 i = 0; i < HCAS; i++) {
		cfg.name = names[i];
		cfg.node_guid = 0x1000 * (i + 1);
		cfg.ports = i == 2 ? 2 : 1;
		t_hca_init_cfg(&f->h[i], &f->w, &cfg);
		f->h[i].qp_type = VHCA_QPT_UD;
		t_cq_init(&f->h[i], &f->cq[i], 9, 0);
		t_mr_init(&f->h[i], &f->mr[i], 0, 64 * SLOT, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
		t_qp_init(&f->h[i], &f->qp[i], &f->cq[i], &f->cq[i]);
		t_ud_up(&f->qp[i], QKEY);
	}
	t_mr_fill(&f->mr[0], 7);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return set_up(state, NULL);
}

/* Behind two switches, whose links take time. */
static int setup_links(void **state)
{
	static const struct t_link links[] = {
		{ "a-t0:1", "4X EDR", 100, 8 }, { "a-b", "4X EDR", 100, 8 },
		{ "b-t1:1", "4X EDR", 100, 8 }, { "b-t2:1", "4X EDR", 100, 8 },
		{ "b-t2:2", "4X EDR", 100, 8 }, { 0 },
	};

	return set_up(state, t_topo("ab", TOPO_HOQ_USUAL, links));
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < HCAS; i++)
		t_hca_fini(&f->h[i]);
	t_world_fini(&f->w);
	free(f);
	return 0;
}

static u32 command(struct tqp *qp, u8 op, const u8 *gid, u16 mlid)
{
	struct vhca_mcg_req req = { .qpn = htole32(qp->qpn), .mlid = htole16(mlid) };

	memcpy(req.mgid, gid, sizeof(req.mgid));
	return t_admin(qp->h, op, &req, sizeof(req), NULL);
}

static void attach(struct tqp *qp)
{
	assert_int_equal(command(qp, VHCA_CMD_ATTACH_MCG, mgid, MLID), VHCA_ST_OK);
}

static void detach(struct tqp *qp)
{
	assert_int_equal(command(qp, VHCA_CMD_DETACH_MCG, mgid, MLID), VHCA_ST_OK);
}

static u32 groups(struct thca *h)
{
	struct vdev_status st;

	vdev_status(h->dev, &st);
	return st.mcgs;
}

static struct vhca_wqe_ud to_group(const u8 *gid, u16 mlid)
{
	struct vhca_wqe_ud ud = {
		.av = { .port = 1, .dlid = htole16(mlid), .grh = 1, .hop_limit = 1 },
		.dqpn = htole32(MCAST), .qkey = htole32(QKEY),
	};

	memcpy(ud.av.dgid, gid, sizeof(ud.av.dgid));
	return ud;
}

static void recvs(struct tqp *qp, struct tmr *mr, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct vhca_sge sge = t_sge(mr, i * SLOT, SLOT);

		t_recv(qp, i, 1, &sge);
	}
}

static void send_to(struct tqp *qp, struct tmr *mr, struct vhca_wqe_ud ud)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 99, mr, 0, BYTES, NULL, 0);

	wr.ud = ud;
	t_send(qp, &wr);
}

static void send(struct fixture *f, u32 i)
{
	send_to(&f->qp[i], &f->mr[i], to_group(mgid, MLID));
}

/* One completion of a receive, with the whole packet. */
static void expect(struct fixture *f, u32 i, u32 from)
{
	struct vhca_cqe e;

	assert_true(t_cq_poll(&f->cq[i], &e));
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	assert_true(e.flags & VHCA_CQE_F_RQ);
	assert_true(e.flags & VHCA_CQE_F_GRH);
	assert_int_equal(le32toh(e.byte_len), 40 + BYTES);
	assert_int_equal(le32toh(e.src_qpn), f->qp[from].qpn);
	assert_int_equal(le16toh(e.slid), t_lid(&f->h[from]));
}

static void expect_sent(struct fixture *f, u32 i)
{
	t_expect_cqe(&f->cq[i], 99, VHCA_CS_SUCCESS);
}

static void expect_nothing(struct fixture *f)
{
	for (u32 i = 0; i < HCAS; i++)
		t_expect_no_cqe(&f->cq[i]);
}

/* Attached QPs get one copy each, however often they were attached; a sender need not be one. */
static void delivery(void **state)
{
	struct fixture *f = *state;
	u8 grh[40];

	for (u32 i = 0; i < HCAS; i++)
		recvs(&f->qp[i], &f->mr[i], 8);
	t_mr_fill(&f->mr[0], 7);
	send(f, 0);
	expect_sent(f, 0);
	expect_nothing(f);
	attach(&f->qp[1]);
	attach(&f->qp[2]);
	attach(&f->qp[2]);
	assert_int_equal(groups(&f->h[2]), 1);
	send(f, 0);
	expect_sent(f, 0);
	for (u32 i = 1; i < HCAS; i++) {
		expect(f, i, 0);
		t_mr_get(&f->mr[i], 0, grh, sizeof(grh));
		assert_int_equal(grh[0] >> 4, 6);
		assert_memory_equal(grh + 24, mgid, 16);
		t_mr_expect(&f->mr[i], 40, BYTES, 7, 0);
	}
	expect_nothing(f);
	/* other groups: another GID with this LID, this GID with another LID */
	send_to(&f->qp[0], &f->mr[0], to_group(other_mgid, MLID));
	expect_sent(f, 0);
	send_to(&f->qp[0], &f->mr[0], to_group(mgid, MLID + 1));
	expect_sent(f, 0);
	expect_nothing(f);
	/* one detach takes back any number of attaches */
	detach(&f->qp[2]);
	assert_int_equal(groups(&f->h[2]), 0);
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 1, 0);
	expect_nothing(f);
	/* a packet whose Q_Key is not the group's is received by no QP */
	assert_int_equal(t_stats(&f->h[1]).qkey_violations, 0);
	send_to(&f->qp[0], &f->mr[0], ({
		struct vhca_wqe_ud ud = to_group(mgid, MLID);

		ud.qkey = htole32(QKEY + 1);
		ud;
	}));
	expect_sent(f, 0);
	expect_nothing(f);
	assert_int_equal(t_stats(&f->h[1]).qkey_violations, 1);
}

/* Copies that a sender gets of its own multicasts if it is attached. */
static void own_multicasts(void **state)
{
	struct fixture *f = *state;
	struct tqp second, deaf;
	struct vhca_cqe e;

	t_qp_init(&f->h[0], &second, &f->cq[0], &f->cq[0]);
	t_ud_up(&second, QKEY);
	t_qp_init_size(&f->h[0], &deaf, &f->cq[0], &f->cq[0], 4, 4, 5,
		       VHCA_QP_SIGNAL_ALL | VHCA_QP_NO_MC_LOOP);
	t_ud_up(&deaf, QKEY);
	recvs(&f->qp[0], &f->mr[0], 4);
	recvs(&second, &f->mr[0], 4);
	recvs(&deaf, &f->mr[0], 4);
	recvs(&f->qp[1], &f->mr[1], 4);
	attach(&f->qp[0]);
	attach(&second);
	attach(&f->qp[1]);
	send(f, 0);
	/* its own copy, the one of its neighbour, and the completion of the send */
	expect(f, 0, 0);
	expect(f, 0, 0);
	expect_sent(f, 0);
	expect(f, 1, 0);
	expect_nothing(f);
	detach(&f->qp[0]);
	detach(&second);
	/* with loopback blocked: not to itself, but to others, of the same adapter too */
	attach(&deaf);
	attach(&second);
	send_to(&deaf, &f->mr[0], to_group(mgid, MLID));
	assert_true(t_cq_poll(&f->cq[0], &e));
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.qpn), second.qpn);
	assert_int_equal(le32toh(e.src_qpn), deaf.qpn);
	expect_sent(f, 0);
	t_expect_no_cqe(&f->cq[0]);
	t_expect_cqe(&f->cq[1], 1, VHCA_CS_SUCCESS);
	/* and it receives from others */
	detach(&second);
	send(f, 1);
	expect(f, 0, 1);
	t_expect_no_cqe(&f->cq[0]);
	assert_int_equal(t_stats(&f->h[0]).rx_mcast_packets, 1);
}

/* A port with several LIDs sends from each; QPs that block loopback recognise all of them. */
static void own_lids(void **state)
{
	struct vhca_wqe_ud ud = to_group(mgid, MLID);
	struct fixture *f = *state;
	struct tqp deaf;

	t_qp_init_size(&f->h[0], &deaf, &f->cq[0], &f->cq[0], 4, 4, 5,
		       VHCA_QP_SIGNAL_ALL | VHCA_QP_NO_MC_LOOP);
	t_ud_up(&deaf, QKEY);
	recvs(&deaf, &f->mr[0], 4);
	recvs(&f->qp[1], &f->mr[1], 4);
	attach(&deaf);
	attach(&f->qp[1]);
	port_set_lid(&f->w.fabric->ports[0]->ib, 8, 2);
	for (u32 bits = 0; bits < 4; bits++) {
		struct vhca_cqe e;

		ud.av.src_path_bits = bits;
		send_to(&deaf, &f->mr[0], ud);
		expect_sent(f, 0);
		t_expect_no_cqe(&f->cq[0]);
		assert_true(t_cq_poll(&f->cq[1], &e));
		assert_int_equal(le16toh(e.slid), 8 + bits);
		t_expect_no_cqe(&f->cq[1]);
	}
}

/* A QP receives only at its own port, from when it has one. */
static void ports(void **state)
{
	struct fixture *f = *state;
	struct vhca_qp_attr a;
	struct tqp late;

	attach(&f->qp[2]);
	recvs(&f->qp[2], &f->mr[2], 4);
	t_qp_init(&f->h[2], &late, &f->cq[2], &f->cq[2]);
	attach(&late);
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 2, 0);
	expect_nothing(f);
	/* it is brought up on the second port, which has joined the group as well */
	t_attr_init(&a, 2);
	a.qkey = htole32(QKEY);
	assert_int_equal(t_modify(&late, &a, t_mask(VHCA_QPT_UD, T_INIT)), VHCA_ST_OK);
	assert_int_equal(t_to(&late, T_RTR), VHCA_ST_OK);
	recvs(&late, &f->mr[2], 4);
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 2, 0);
	expect(f, 2, 0);
	expect_nothing(f);
	vdev_set_link(f->h[2].dev, 2, false);
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 2, 0);
	expect_nothing(f);
}

/* Packets to a group's LID that are not a multicast to a group are received by no QP. */
static void not_to_a_group(void **state)
{
	struct fixture *f = *state;
	struct vhca_wqe_ud ud = to_group(mgid, MLID);

	attach(&f->qp[1]);
	recvs(&f->qp[1], &f->mr[1], 4);
	ud.av.grh = 0;
	send_to(&f->qp[0], &f->mr[0], ud);
	expect_sent(f, 0);
	ud.av.grh = 1;
	ud.dqpn = htole32(f->qp[1].qpn);
	send_to(&f->qp[0], &f->mr[0], ud);
	expect_sent(f, 0);
	expect_nothing(f);
	assert_int_equal(t_stats(&f->h[1]).rx_no_qp, 2);
	/* nor does the multicast QP number by a unicast LID */
	ud = t_ud_to(&f->qp[1], QKEY);
	ud.dqpn = htole32(MCAST);
	send_to(&f->qp[0], &f->mr[0], ud);
	expect_sent(f, 0);
	expect_nothing(f);
	assert_int_equal(t_stats(&f->h[1]).rx_no_qp, 3);
	/* a group member without a receive misses the packet, which is counted */
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 1, 0);
	for (u32 i = 0; i < 4; i++)
		send(f, 0);
	for (u32 i = 0; i < 4; i++)
		expect_sent(f, 0);
	for (u32 i = 0; i < 3; i++)
		expect(f, 1, 0);
	expect_nothing(f);
	assert_int_equal(t_stats(&f->h[1]).rx_no_receive, 1);
}

/* Fields of one receiver's completion do not appear in the next one's. */
static void own_completions(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	struct tcq cq[2];
	struct tqp qp[2];

	for (u32 i = 0; i < 2; i++) {
		struct vhca_sge sge = t_sge(&f->mr[1], i * SLOT, SLOT);

		t_cq_init(h, &cq[i], 4, i ? 0 : VHCA_CQ_TIMESTAMP);
		t_qp_init(h, &qp[i], &cq[i], &cq[i]);
		t_ud_up(&qp[i], QKEY);
		/* the second has taken one before */
		for (u32 k = 0; k <= i; k++)
			t_recv(&qp[i], 10 + i, 1, &sge);
	}
	attach(&qp[1]);
	send(f, 0);
	t_expect_cqe(&cq[1], 11, VHCA_CS_SUCCESS);
	detach(&qp[1]);
	attach(&qp[0]);
	attach(&qp[1]);
	send(f, 0);
	for (u32 i = 0; i < 2; i++) {
		struct vhca_cqe e = t_expect_cqe(&cq[i], 10 + i, VHCA_CS_SUCCESS);

		assert_int_equal(le32toh(e.qpn), qp[i].qpn);
		assert_int_equal(le32toh(e.wqe_index), 1 + i);
		assert_int_equal(!e.timestamp, i);
		assert_int_equal(e.flags & VHCA_CQE_F_SOLICITED, 0);
	}
}

/* Destroying a QP detaches it from its groups, and a reset detaches all. */
static void leaving(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 1; i < HCAS; i++) {
		attach(&f->qp[i]);
		assert_int_equal(command(&f->qp[i], VHCA_CMD_ATTACH_MCG, other_mgid, MLID),
				 VHCA_ST_OK);
		assert_int_equal(groups(&f->h[i]), 2);
	}
	send(f, 0);
	expect_sent(f, 0);
	assert_int_equal(t_stats(&f->h[0]).tx_discards, 0);
	assert_int_equal(t_stats(&f->h[1]).rx_no_receive, 1);
	assert_int_equal(t_destroy(&f->h[1], VHCA_CMD_DESTROY_QP, f->qp[1].qpn), VHCA_ST_OK);
	assert_int_equal(groups(&f->h[1]), 0);
	vdev_reset(f->h[2].dev);
	assert_int_equal(groups(&f->h[2]), 0);
	/* the LID is not joined any more */
	send(f, 0);
	expect_sent(f, 0);
	assert_int_equal(t_stats(&f->h[0]).tx_discards, 1);
}

static void refused(struct tqp *qp, u8 op, const u8 *gid, u16 mlid, u32 st, u32 field)
{
	assert_int_equal(command(qp, op, gid, mlid), st);
	assert_int_equal(qp->h->bad_field, offsetof(struct vhca_asqe, req) + field);
}

#define FIELD(f)	offsetof(struct vhca_mcg_req, f)

static void refusals(void **state)
{
	static const u8 ops[] = { VHCA_CMD_ATTACH_MCG, VHCA_CMD_DETACH_MCG };
	static const u8 unicast[16] = { 0xfe, 0x80 };
	struct fixture *f = *state;
	struct tqp rc, nobody = { .h = &f->h[0], .qpn = f->qp[0].qpn ^ 1u << 23 };

	f->h[0].qp_type = VHCA_QPT_RC;
	t_qp_init(&f->h[0], &rc, &f->cq[0], &f->cq[0]);
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		struct vhca_mcg_req req = { .qpn = htole32(f->qp[0].qpn), .rsvd = { 0, 1 } };

		refused(&nobody, ops[i], mgid, MLID, VHCA_ST_BAD_HANDLE, FIELD(qpn));
		refused(&rc, ops[i], mgid, MLID, VHCA_ST_BAD_FIELD, FIELD(qpn));
		refused(&f->qp[0], ops[i], unicast, MLID, VHCA_ST_BAD_FIELD, FIELD(mgid));
		refused(&f->qp[0], ops[i], mgid, 0xbfff, VHCA_ST_BAD_FIELD, FIELD(mlid));
		refused(&f->qp[0], ops[i], mgid, 0xffff, VHCA_ST_BAD_FIELD, FIELD(mlid));
		refused(&f->qp[0], ops[i], mgid, 0, VHCA_ST_BAD_FIELD, FIELD(mlid));
		assert_int_equal(t_admin(&f->h[0], ops[i], &req, sizeof(req), NULL),
				 VHCA_ST_BAD_FIELD);
		assert_int_equal(f->h[0].bad_field,
				 offsetof(struct vhca_asqe, req) + FIELD(rsvd) + 1);
	}
	assert_int_equal(groups(&f->h[0]), 0);
	refused(&f->qp[0], VHCA_CMD_DETACH_MCG, mgid, MLID, VHCA_ST_BAD_HANDLE, FIELD(mgid));
	attach(&f->qp[0]);
	refused(&f->qp[0], VHCA_CMD_DETACH_MCG, mgid, MLID + 1, VHCA_ST_BAD_HANDLE, FIELD(mgid));
	refused(&f->qp[0], VHCA_CMD_DETACH_MCG, other_mgid, MLID, VHCA_ST_BAD_HANDLE, FIELD(mgid));
	detach(&f->qp[0]);
	refused(&f->qp[0], VHCA_CMD_DETACH_MCG, mgid, MLID, VHCA_ST_BAD_HANDLE, FIELD(mgid));
}

static void switched_off(void **state)
{
	static const u64 off[] = { 1ull << VHCA_CAP_MCAST, 1ull << VHCA_CAP_UD };
	struct vdev_config cfg = { .name = "t", .node_guid = 0x9000, .ports = 1, .vectors = 4 };
	struct vhca_create_qp_hw_req req = { .type = VHCA_QPT_UD, .flags = VHCA_QP_NO_MC_LOOP };
	struct tqp qp = { .qpn = 5 };
	struct vhca_device_attr a;
	struct tworld w;
	struct thca h;

	for (u32 i = 0; i < ARRAY_SIZE(off); i++) {
		cfg.caps_off = off[i];
		t_world_init(&w);
		t_hca_init_cfg(&h, &w, &cfg);
		qp.h = &h;
		assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &a, sizeof(a)),
				 VHCA_ST_OK);
		assert_false(le64toh(a.caps) >> VHCA_CAP_MCAST & 1);
		assert_int_equal(a.max_mcgs, 0);
		assert_int_equal(a.max_mcg_qps, 0);
		assert_int_equal(command(&qp, VHCA_CMD_ATTACH_MCG, mgid, MLID),
				 VHCA_ST_UNSUPPORTED);
		assert_int_equal(h.bad_field, offsetof(struct vhca_asqe, opcode));
		assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_QP, &req, sizeof(req), NULL),
				 VHCA_ST_UNSUPPORTED);
		assert_int_equal(h.bad_field, offsetof(struct vhca_asqe, req) +
				 (i ? offsetof(struct vhca_create_qp_hw_req, type) :
				      offsetof(struct vhca_create_qp_hw_req, flags)));
		t_hca_fini(&h);
		t_world_fini(&w);
	}
}

/* The n-th of many QPs that are only attached, on doorbell pages of their own. */
static struct tqp make_qp(struct fixture *f, u32 n)
{
	struct thca *h = &f->h[0];
	struct vhca_add_db_page_req page = {
		.uar = htole32(h->uar), .page = htole32(1 + 2 * n / VHCA_DB_SLOTS),
	};
	struct vhca_create_qp_hw_req req = {
		.pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(VHCA_DB_SLOTS + 2 * n), .send_cqn = htole32(f->cq[0].cqn),
		.recv_cqn = htole32(f->cq[0].cqn), .type = VHCA_QPT_UD,
		.log_sq_blocks = VHCA_NO_QUEUE, .log_rq_strides = VHCA_NO_QUEUE,
	};

	if (!(2 * n % VHCA_DB_SLOTS)) {
		page.db_page = htole64(t_alloc(h, VHCA_DB_PAGE_SIZE));
		assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &page, sizeof(page), NULL),
				 VHCA_ST_OK);
	}
	return (struct tqp){
		.h = h, .qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req)),
	};
}

/* The device's only group, with these QPs. */
static void expect_listed(struct tqp *qp, u32 n)
{
	union vobject_info page[VLIST_PAGE];
	u32 from = 0;

	assert_int_equal(vdev_list(qp->h->dev, VLIST_GROUPS, &from, page), 1);
	assert_int_equal(from, VLIST_END);
	assert_memory_equal(page[0].group.mgid, mgid, sizeof(mgid));
	assert_int_equal(page[0].group.mlid, MLID);
	assert_int_equal(page[0].group.nqps, n);
	for (u32 i = 0; i < VLIST_GROUP_QPS; i++)
		assert_int_equal(page[0].group.qpn[i], qp[i].qpn);
}

/* As many groups as the device reports, and as many QPs of one; then there is room again. */
static void limits(void **state)
{
	struct fixture *f = *state;
	struct tqp *qp = calloc(1025, sizeof(*qp));
	u8 gid[16] = { 0xff };
	struct vhca_device_attr a;
	struct thca *h = &f->h[0];
	u32 most;

	assert_int_equal(t_admin_out(h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &a, sizeof(a)), VHCA_ST_OK);
	most = le32toh(a.max_mcgs);
	for (u32 i = 0; i < most; i++) {
		gid[14] = i >> 8;
		gid[15] = i;
		assert_int_equal(command(&f->qp[0], VHCA_CMD_ATTACH_MCG, gid, MLID + i / 2),
				 VHCA_ST_OK);
	}
	assert_int_equal(groups(h), most);
	refused(&f->qp[0], VHCA_CMD_ATTACH_MCG, mgid, MLID, VHCA_ST_NO_RESOURCE, FIELD(mgid));
	assert_int_equal(command(&f->qp[0], VHCA_CMD_DETACH_MCG, gid, MLID + (most - 1) / 2),
			 VHCA_ST_OK);
	attach(&f->qp[0]);
	assert_int_equal(groups(h), most);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, f->qp[0].qpn), VHCA_ST_OK);
	assert_int_equal(groups(h), 0);

	most = le32toh(a.max_mcg_qps);
	assert_int_equal(most, 1024);
	for (u32 i = 0; i <= most; i++) {
		qp[i] = make_qp(f, i);
		if (i < most)
			attach(&qp[i]);
	}
	refused(&qp[most], VHCA_CMD_ATTACH_MCG, mgid, MLID, VHCA_ST_NO_RESOURCE, FIELD(qpn));
	expect_listed(qp, most);
	detach(&qp[17]);
	attach(&qp[most]);
	assert_int_equal(groups(h), 1);
	free(qp);
}

/* An attach without memory fails, and leaves no port joined. */
static void no_memory(void **state)
{
	struct fixture *f = *state;
	u32 n, st;

	tfail_each_alloc(n, st = command(&f->qp[2], VHCA_CMD_ATTACH_MCG, mgid, MLID), ({
		assert_int_equal(st, VHCA_ST_INTERNAL);
		assert_int_equal(groups(&f->h[2]), 0);
		send(f, 0);
		expect_sent(f, 0);
		assert_int_equal(t_stats(&f->h[0]).tx_discards, n + 1);
	}));
	assert_int_equal(st, VHCA_ST_OK);
	/* attachment, group, the switch's list of ports, two for the table */
	assert_int_equal(n, 5);
	send(f, 0);
	assert_int_equal(t_stats(&f->h[0]).tx_discards, n);
}

/* A receiver's P_Key is the present one of its port. */
static void new_pkey(void **state)
{
	struct fixture *f = *state;
	struct port_addrs a;

	attach(&f->qp[1]);
	recvs(&f->qp[1], &f->mr[1], 1);
	for (u32 i = 0; i < 2; i++) {
		vdev_addrs(f->h[i].dev, 1, &a);
		a.pkey[0] = 0x8042;
		assert_null(vdev_set_addrs(f->h[i].dev, 1, &a, false));
	}
	send(f, 0);
	expect_sent(f, 0);
	expect(f, 1, 0);
}

/*
 * A member is destroyed while a datagram of its group is on its way: it gets none, another member
 * of the same adapter does, and with the last one the group is left, which switches discard from
 * then on.
 */
static void member_dies(void **state)
{
	struct fixture *f = *state;
	struct tqp second;
	u64 discarded;

	t_qp_init(&f->h[1], &second, &f->cq[1], &f->cq[1]);
	t_ud_up(&second, QKEY);
	recvs(&f->qp[1], &f->mr[1], 4);
	recvs(&second, &f->mr[1], 4);
	attach(&f->qp[1]);
	attach(&second);
	send(f, 0);
	expect_sent(f, 0);
	expect_nothing(f);
	assert_int_equal(t_destroy_qp(&f->qp[1]), VHCA_ST_OK);
	t_settle(&f->w, 1000000);
	expect(f, 1, 0);
	expect_nothing(f);
	send(f, 0);
	expect_sent(f, 0);
	assert_int_equal(t_destroy_qp(&second), VHCA_ST_OK);
	assert_int_equal(groups(&f->h[1]), 0);
	t_settle(&f->w, 1000000);
	expect_nothing(f);
	discarded = t_stats(&f->h[0]).tx_discards;
	send(f, 0);
	t_settle(&f->w, 1000000);
	expect_sent(f, 0);
	expect_nothing(f);
	assert_int_equal(t_stats(&f->h[0]).tx_discards, discarded + 1);
}

#define CROWD	200u
#define LONG	4096u
#define PASS	8u

/* All members are served, but no more of them in a pass of the engine than packets would be. */
static void crowd_behind_links(void **state)
{
	struct fixture *f = *state;
	static struct tqp qp[CROWD];
	struct vhca_sge sge = t_sge(&f->mr[1], 0, LONG + 40);
	struct twr wr = t_wr(VHCA_OP_SEND, 99, &f->mr[0], 0, LONG, NULL, 0);
	u32 got = 0, most = 0;

	t_db_pages(&f->h[1]);
	for (u32 i = 0; i < CROWD; i++) {
		t_qp_init_size(&f->h[1], &qp[i], &f->cq[1], &f->cq[1], 0, 0, 5, 0);
		t_ud_up(&qp[i], QKEY);
		t_recv(&qp[i], 0, 1, &sge);
		attach(&qp[i]);
	}
	wr.ud = to_group(mgid, MLID);
	t_send(&f->qp[0], &wr);
	f->w.now += 1000000;
	for (u32 now = 1; got < CROWD && now; got += now) {
		struct vhca_cqe e;

		engine_lock(f->w.engine);
		gmem_enter();
		fab_poll(f->w.fabric, f->w.now, PASS);
		gmem_exit();
		engine_unlock(f->w.engine);
		for (now = 0; t_cq_poll(&f->cq[1], &e); now++)
			;
		most = MAX(most, now);
	}
	assert_int_equal(got, CROWD);
	assert_in_range(most, 1, PASS);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(delivery), TEST(own_multicasts), TEST(own_lids), TEST(ports),
		TEST(not_to_a_group), TEST(own_completions), TEST(leaving), TEST(refusals),
		cmocka_unit_test(switched_off), TEST(limits), TEST(no_memory),
		TEST(new_pkey), cmocka_unit_test_setup_teardown(member_dies, setup_links, teardown),
		cmocka_unit_test_setup_teardown(crowd_behind_links, setup_links, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
