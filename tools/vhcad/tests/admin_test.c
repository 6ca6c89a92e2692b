// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue and the commands: what is refused, with which status, and
 * which field is named.
 */
#include <string.h>

#include "tests/spoil.h"
#include "tests/thca.h"

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

static const struct vdev_config cfg = {
	.name = "t", .node_guid = 0xabc00, .ports = 2, .vectors = 4,
};

struct fixture {
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	t_hca_init_cfg(&f.h, &f.w, &cfg);
	t_expect_event(&f.h, VHCA_EV_PORT_ACTIVE, 0);
	t_cq_init(&f.h, &f.cq, 4, 0);
	t_qp_init(&f.h, &f.qp, &f.cq, &f.cq);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	return 0;
}

static void refused(struct thca *h, u32 have, u32 want, u32 field)
{
	assert_int_equal(have, want);
	assert_int_equal(h->bad_field, field);
}

/* Fields that every command has. */
static void envelope(void **state)
{
	struct fixture *f = *state;
	struct vhca_asqe sqe = { .opcode = 0xee };

	refused(&f->h, t_admin_raw(&f->h, &sqe, NULL), VHCA_ST_BAD_OPCODE,
		offsetof(struct vhca_asqe, opcode));
	sqe = (struct vhca_asqe){ .rsvd = 1 };
	refused(&f->h, t_admin_raw(&f->h, &sqe, NULL), VHCA_ST_BAD_FIELD,
		offsetof(struct vhca_asqe, rsvd));
	sqe = (struct vhca_asqe){ .out_len = htole32(4) };
	refused(&f->h, t_admin_raw(&f->h, &sqe, NULL), VHCA_ST_BAD_FIELD,
		offsetof(struct vhca_asqe, out_len));
	sqe = (struct vhca_asqe){ .out_addr = htole64(4) };
	refused(&f->h, t_admin_raw(&f->h, &sqe, NULL), VHCA_ST_BAD_FIELD,
		offsetof(struct vhca_asqe, out_addr));
	for (u32 op = 0; op < 256; op++) {
		/* the last byte of the request belongs to no command */
		sqe = (struct vhca_asqe){ .opcode = op };
		sqe.req[VHCA_ASQE_REQ - 1] = 1;
		switch (t_admin_raw(&f->h, &sqe, NULL)) {
		case VHCA_ST_BAD_OPCODE:
			break;
		case VHCA_ST_BAD_FIELD:
			if (f->h.bad_field != offsetof(struct vhca_asqe, out_len))
				assert_int_equal(f->h.bad_field, VHCA_ASQE_SIZE - 1);
			break;
		default:
			fail_msg("opcode %#x", op);
		}
	}
	sqe = (struct vhca_asqe){ .opcode = VHCA_CMD_QUERY_DEVICE, .out_len = htole32(256) };
	refused(&f->h, t_admin_raw(&f->h, &sqe, NULL), VHCA_ST_BAD_ADDRESS,
		offsetof(struct vhca_asqe, out_addr));
}

static void nothing_done(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(t_admin(&f->h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
}

static void clock_asked(void **state)
{
	struct fixture *f = *state;
	union {
		struct vhca_clock_resp clock;
		u8 all[VHCA_ACQE_RESP];
	} resp;

	f->w.now += 12345;
	assert_int_equal(t_admin(&f->h, VHCA_CMD_QUERY_CLOCK, NULL, 0, &resp), VHCA_ST_OK);
	assert_true(le64toh(resp.clock.now) == f->w.now);
}

/* A full ring of commands at once, over many laps; one interrupt at least. */
static void many_in_flight(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h;
	u32 size = 1u << T_ADMIN_LOG;

	for (u32 lap = 0; lap < 5; lap++) {
		u32 irqs = h->irqs[0], first = h->admin_tail;

		for (u32 i = 0; i < size; i++, h->admin_tail++)
			h->asq[h->admin_tail & (size - 1)] = (struct vhca_asqe){
				.cmd_id = htole16(100 + i),
			};
		vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, h->admin_tail);
		t_poll(h->w);
		for (u32 i = 0; i < size; i++) {
			struct vhca_acqe *e = &h->acq[(first + i) & (size - 1)];

			assert_int_equal(e->phase & VHCA_ACQE_PHASE,
					 !((first + i) >> T_ADMIN_LOG & 1));
			assert_int_equal(le16toh(e->cmd_id), 100 + i);
			assert_int_equal(e->status, VHCA_ST_OK);
		}
		assert_true(h->irqs[0] > irqs);
	}
}

static void absurd_tail(void **state)
{
	struct fixture *f = *state;

	vdev_reg_write(f->h.dev, VHCA_REG_ADMIN_TAIL, f->h.admin_tail + (1u << T_ADMIN_LOG) + 1);
	t_poll(&f->w);
	assert_int_equal(vdev_reg_read(f->h.dev, VHCA_REG_STATUS),
			 VHCA_STATUS_READY | VHCA_STATUS_FATAL);
	assert_int_equal(vdev_reg_read(f->h.dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_ADMIN_RING);
	t_expect_event(&f->h, VHCA_EV_DEVICE_FATAL, 0);
	/* nothing moves any more, until a reset */
	t_ring(&f->h, f->qp.slot, 1);
	t_poll(&f->w);
	vdev_reg_write(f->h.dev, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	assert_int_equal(vdev_reg_read(f->h.dev, VHCA_REG_STATUS), 0);
	assert_int_equal(vdev_reg_read(f->h.dev, VHCA_REG_ASQ_LO), 0);
}

static void rings_must_exist(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h;

	vdev_reset(h->dev);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_SIZE, 4);
	vdev_reg_write(h->dev, VHCA_REG_ASQ_LO, 0x1008);	/* not page aligned */
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	vdev_reg_write(h->dev, VHCA_REG_ASQ_LO, 0x1000);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_SIZE, 13);
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_SIZE, 4);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_VECTOR, 4);
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_VECTOR, VHCA_NO_VECTOR);
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, 1);
	t_poll(&f->w);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_ADMIN_RING);
}

static void queries(void **state)
{
	static const u8 caps[] = {
		VHCA_CAP_RC,
		VHCA_CAP_RNR_NAK,
		VHCA_CAP_CLOCK,
		VHCA_CAP_SRQ,
		VHCA_CAP_CQ_RESIZE,
		VHCA_CAP_CQ_MODERATION,
		VHCA_CAP_UC,
		VHCA_CAP_UD,
		VHCA_CAP_MCAST,
		VHCA_CAP_COUNTERS,
		VHCA_CAP_ATOMIC,
		VHCA_CAP_MASKED_ATOMIC,
		VHCA_CAP_ATOMIC_WRITE,
		VHCA_CAP_FLUSH,
		VHCA_CAP_FAST_REG,
		VHCA_CAP_SG_GAPS,
		VHCA_CAP_MW,
		VHCA_CAP_MW_2A,
		VHCA_CAP_MW_2B,
		VHCA_CAP_FMR,
		VHCA_CAP_XRC,
		VHCA_CAP_UC_FAST_REG,
		VHCA_CAP_APM,
		VHCA_CAP_CLOCK_QUERY,
		VHCA_CAP_QP_COUNTERS,
	};
	struct fixture *f = *state;
	struct vhca_port_req req = { .port = 2 };
	struct vhca_device_attr d;
	struct vhca_port_attr p;
	__le16 pkeys[PORT_PKEYS];
	u8 gids[PORT_GIDS][16];
	u64 all = 0;

	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
	assert_int_equal(le64toh(d.node_guid), 0xabc00);
	assert_int_equal(d.ports, 2);
	assert_int_equal(le32toh(d.vectors), 4);
	for (u32 i = 0; i < ARRAY_SIZE(caps); i++)
		all |= 1ull << caps[i];
	assert_int_equal(le64toh(d.caps), all);
	assert_int_equal(le32toh(d.max_srqs), 64 << 10);
	assert_int_equal(le32toh(d.max_srq_wr), 64 << 10);
	assert_int_equal(le32toh(d.max_reg_entries), 4096);
	assert_int_equal(le32toh(d.max_counters), 16 << 10);
	assert_int_equal(le16toh(d.max_moderation_count), UINT16_MAX);
	assert_int_equal(le16toh(d.max_moderation_period), UINT16_MAX);
	assert_int_equal(le64toh(d.page_sizes), 0x7ffff000);
	assert_string_equal((char *)d.node_desc, "vhca");
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &p,
				     sizeof(p)), 0);
	assert_int_equal(le16toh(p.lid), 2);
	assert_int_equal(p.state, PORT_ACTIVE);
	assert_int_equal(p.phys_state, PORT_PHYS_LINKUP);
	assert_int_equal(p.active_mtu, 5);
	assert_int_equal(p.link_layer, VHCA_LINK_IB);
	req.count = htole32(PORT_GIDS);
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gids,
				     sizeof(gids)), 0);
	assert_memory_equal(gids[0], "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\x0a\xbc\x02", 16);
	assert_memory_equal(gids[1], (u8[16]){ 0 }, 16);
	req.count = htole32(PORT_PKEYS);
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkeys,
				     sizeof(pkeys)), 0);
	assert_int_equal(le16toh(pkeys[0]), 0xffff);
	assert_int_equal(pkeys[1], 0);
	/* refusals */
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &p, sizeof(p)),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, count));
	req.first_index = htole32(1);
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkeys,
				   sizeof(pkeys)), VHCA_ST_BAD_FIELD,
		REQ_OFF(vhca_port_req, count));
	req.first_index = htole32(PORT_PKEYS);
	req.count = htole32(1);
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkeys, 2),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, first_index));
	req.first_index = 0;
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gids, 32),
		VHCA_ST_BAD_FIELD, offsetof(struct vhca_asqe, out_len));
	req.port = 3;
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gids, 16),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, port));
	req.port = 1;
	req.rsvd0[1] = 1;
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gids, 16),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, rsvd0[1]));
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, 255),
		VHCA_ST_BAD_FIELD, offsetof(struct vhca_asqe, out_len));
}

static void node_description(void **state)
{
	struct fixture *f = *state;
	struct vhca_node_desc_req req = { .desc = "node1 vhca0" };
	struct vhca_device_attr d;

	assert_int_equal(t_admin(&f->h, VHCA_CMD_SET_NODE_DESC, &req, sizeof(req), NULL), 0);
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
	assert_string_equal((char *)d.node_desc, "node1 vhca0");
}

static void uars(void **state)
{
	struct fixture *f = *state;
	struct vhca_open_uar_req req = { .db_page = htole64(t_alloc(&f->h, 4096) + 8) };
	struct vhca_add_db_page_req add = { .page = htole32(1) };
	u32 uar;

	refused(&f->h, t_admin(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req), NULL),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_open_uar_req, db_page));
	req.db_page = htole64(4096);
	refused(&f->h, t_admin(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req), NULL),
		VHCA_ST_BAD_ADDRESS, REQ_OFF(vhca_open_uar_req, db_page));
	req.db_page = htole64(t_alloc(&f->h, 4096));
	uar = t_create(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req));
	assert_int_not_equal(uar, f->h.uar);
	add.uar = htole32(99);
	refused(&f->h, t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL),
		VHCA_ST_BAD_HANDLE, REQ_OFF(vhca_add_db_page_req, uar));
	add.uar = htole32(uar);
	add.page = htole32(2);
	refused(&f->h, t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_add_db_page_req, page));
	/* a page is one UAR's, and there once */
	add.page = htole32(1);
	add.db_page = req.db_page;
	refused(&f->h, t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL),
		VHCA_ST_BUSY, REQ_OFF(vhca_add_db_page_req, db_page));
	refused(&f->h, t_admin(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req), NULL),
		VHCA_ST_BUSY, REQ_OFF(vhca_open_uar_req, db_page));
	for (u32 i = 1; i < VHCA_DB_MAX_PAGES; i++) {
		add.page = htole32(i);
		add.db_page = htole64(t_alloc(&f->h, 4096));
		assert_int_equal(t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL), 0);
	}
	refused(&f->h, t_admin(&f->h, VHCA_CMD_OPEN_UAR, &(struct vhca_open_uar_req){
			add.db_page }, sizeof(req), NULL),
		VHCA_ST_BUSY, REQ_OFF(vhca_open_uar_req, db_page));
	add.page = htole32(VHCA_DB_MAX_PAGES);
	refused(&f->h, t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL),
		VHCA_ST_NO_RESOURCE, REQ_OFF(vhca_add_db_page_req, page));
	assert_int_equal(t_destroy(&f->h, VHCA_CMD_CLOSE_UAR, uar), 0);
	/* and then another's, if they want it */
	assert_int_equal(t_destroy(&f->h, VHCA_CMD_CLOSE_UAR,
				   t_create(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req))), 0);
	refused(&f->h, t_destroy(&f->h, VHCA_CMD_CLOSE_UAR, uar), VHCA_ST_BAD_HANDLE,
		REQ_OFF(vhca_object_req, handle));
}

/* Who stands on what cannot lose it. */
static void busy(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h;
	struct tmr mr;

	t_mr_init(h, &mr, 0, 4096, 0, 0, 12);
	refused(h, t_destroy(h, VHCA_CMD_CLOSE_UAR, h->uar), VHCA_ST_BUSY,
		REQ_OFF(vhca_object_req, handle));
	refused(h, t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), VHCA_ST_BUSY,
		REQ_OFF(vhca_object_req, handle));
	refused(h, t_destroy(h, VHCA_CMD_DESTROY_CQ, f->cq.cqn), VHCA_ST_BUSY,
		REQ_OFF(vhca_object_req, handle));
	refused(h, t_destroy(h, VHCA_CMD_DESTROY_EQ, h->comp.eqn), VHCA_ST_BUSY,
		REQ_OFF(vhca_object_req, handle));
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, f->qp.qpn), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, mr.key ^ 1), VHCA_ST_BAD_HANDLE);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, mr.key), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_EQ, h->comp.eqn), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_CQ, f->cq.cqn), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_EQ, h->comp.eqn), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_CLOSE_UAR, h->uar), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_EQ, h->async.eqn), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_CLOSE_UAR, h->uar), 0);
}

static void eq_fields(void **state)
{
	struct fixture *f = *state;
	struct vhca_create_eq_req req = {
		.buf.addr = htole64(t_alloc(&f->h, 4096)), .uar = htole32(f->h.uar),
		.db_slot = htole32(100), .vector = htole32(1), .log_entries = 4,
	};
	const struct spoilt s[] = {
		{ F(vhca_create_eq_req, uar), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_eq_req, db_slot), 480, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, db_slot), 479, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, db_slot), UINT32_MAX, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, db_slot), 0, VHCA_ST_BUSY, 0 },
		{ F(vhca_create_eq_req, vector), 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, log_entries), 0, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, log_entries), 21, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, flags), 2, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, flags), VHCA_EQ_ASYNC, VHCA_ST_BUSY, 0 },
		{ F(vhca_create_eq_req, rsvd[1]), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.addr), 8, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.addr), 4096, VHCA_ST_BAD_ADDRESS, 0 },
		{ F(vhca_create_eq_req, buf.levels), 3, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.page_shift), 12, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.npages), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.offset), 16, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, buf.rsvd[0]), 1, VHCA_ST_BAD_FIELD, 0 },
	};

	spoil_each(&f->h, VHCA_CMD_CREATE_EQ, &req, sizeof(req), s, ARRAY_SIZE(s));
}

static void cq_fields(void **state)
{
	struct fixture *f = *state;
	u64 list = t_alloc(&f->h, 4096), ring = t_alloc(&f->h, 8192);
	struct vhca_create_cq_hw_req req = {
		.buf = { .addr = htole64(list), .npages = htole32(2), .page_shift = 12,
			 .levels = 1, .offset = htole64(64) },
		.uar = htole32(f->h.uar), .db_slot = htole32(100),
		.eqn = htole32(f->h.comp.eqn), .log_cqe = 6, .flags = VHCA_CQ_TIMESTAMP,
	};
	const struct spoilt s[] = {
		{ F(vhca_create_cq_hw_req, uar), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_cq_hw_req, eqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_cq_hw_req, eqn), f->h.async.eqn, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, db_slot), 1000, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, log_cqe), 23, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, log_cqe), 7, VHCA_ST_BAD_FIELD,
		  offsetof(struct vhca_create_cq_hw_req, buf.npages) },
		{ F(vhca_create_cq_hw_req, flags), 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, rsvd[0]), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.page_shift), 11, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.page_shift), 31, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.offset), 4096, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.offset), 32, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.npages), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.npages), 0, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.addr), list + 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_cq_hw_req, buf.addr), 8192, VHCA_ST_BAD_ADDRESS, 0 },
	};

	((__le64 *)t_cpu(&f->h, list))[0] = htole64(ring + 4096);
	((__le64 *)t_cpu(&f->h, list))[1] = htole64(ring);
	spoil_each(&f->h, VHCA_CMD_CREATE_CQ, &req, sizeof(req), s, ARRAY_SIZE(s));
}

static void qp_fields(void **state)
{
	struct fixture *f = *state;
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(t_alloc(&f->h, 4096)), .rq.addr = htole64(t_alloc(&f->h, 4096)),
		.pdn = htole32(f->h.pd), .uar = htole32(f->h.uar), .db_slot = htole32(100),
		.send_cqn = htole32(f->cq.cqn), .recv_cqn = htole32(f->cq.cqn),
		.max_inline = htole32(64), .type = VHCA_QPT_RC, .log_sq_blocks = 6,
		.log_rq_strides = 6, .log_rq_stride = 6, .cookie = { htole32(1), htole32(2) },
	};
	const struct spoilt s[] = {
		{ F(vhca_create_qp_hw_req, pdn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, uar), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, send_cqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, recv_cqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, db_slot), 5000, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, db_slot), f->cq.slot + 1, VHCA_ST_BUSY, 0 },
		{ F(vhca_create_qp_hw_req, max_inline), 945, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, type), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, type), 5, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), 8, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), VHCA_QP_NO_MC_LOOP, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, flags), VHCA_QP_SRQ, VHCA_ST_BAD_HANDLE,
		  offsetof(struct vhca_create_qp_hw_req, srqn) },
		{ F(vhca_create_qp_hw_req, srqn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, xrcdn), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_sq_blocks), 21, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_sq_blocks), VHCA_NO_QUEUE, VHCA_ST_BAD_FIELD, 1 },
		{ F(vhca_create_qp_hw_req, log_rq_strides), 17, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_strides), VHCA_NO_QUEUE, VHCA_ST_BAD_FIELD,
		  offsetof(struct vhca_create_qp_hw_req, log_rq_stride) },
		{ F(vhca_create_qp_hw_req, log_rq_stride), 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_stride), 11, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, rsvd[2]), 9, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, sq.addr), 32, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, rq.addr), 64, VHCA_ST_BAD_ADDRESS, 0 },
	};

	/* an absent queue's buffer must be empty: the first byte set is named */
	assert_int_equal(le64toh(req.sq.addr) & 0xff, 0);
	spoil_each(&f->h, VHCA_CMD_CREATE_QP, &req, sizeof(req), s, ARRAY_SIZE(s));
}

/* Numbers of destroyed QPs rest, then come back with another generation. */
static void qp_numbers(void **state)
{
	struct fixture *f = *state;
	u32 seen[300], slot = f->h.next_slot;
	struct tqp qp;

	for (u32 i = 0; i < 300; i++) {
		u64 used = f->h.ram_used;

		f->h.next_slot = slot;
		t_qp_init(&f->h, &qp, &f->cq, &f->cq);
		assert_true(qp.qpn > 1 && qp.qpn < 1u << 24);
		for (u32 k = i > 127 ? i - 127 : 0; k < i; k++)
			assert_int_not_equal(seen[k], qp.qpn);
		seen[i] = qp.qpn;
		assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), 0);
		assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_BAD_HANDLE);
		f->h.ram_used = used;
	}
}

static void qp_rest(void **state)
{
	struct fixture *f = *state;
	struct vhca_qp_attr a;
	u32 low = (1u << 17) - 1, first, slot = f->h.next_slot;
	struct tqp qp;

	t_qp_init(&f->h, &qp, &f->cq, &f->cq);
	t_attr_init(&a, 1);
	assert_int_equal(t_modify(&qp, &a, T_MASK_INIT), 0);
	t_attr_rtr(&a, 1, 9, 0, 3);
	assert_int_equal(t_modify(&qp, &a, T_MASK_RTR), 0);
	t_attr_rts(&a, 0);
	assert_int_equal(t_modify(&qp, &a, T_MASK_RTS), 0);
	first = qp.qpn;
	assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), 0);
	f->h.next_slot = slot;
	t_qp_init(&f->h, &qp, &f->cq, &f->cq);
	assert_int_not_equal(qp.qpn & low, first & low);	/* rests */
	assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), 0);
	f->w.now += 2 * (4096ull << 14);
	f->h.next_slot = slot;
	t_qp_init(&f->h, &qp, &f->cq, &f->cq);
	assert_int_equal(qp.qpn & low, first & low);
	assert_int_not_equal(qp.qpn, first);
}

/* Every transition; required and optional attributes; values out of range. */
static void qp_states(void **state)
{
	static const u8 good[7][7] = {
		[T_RESET] = { [T_RESET] = 1, [T_INIT] = 1, [T_ERR] = 1 },
		[T_INIT] = { [T_RESET] = 1, [T_INIT] = 1, [T_RTR] = 1, [T_ERR] = 1 },
		[T_RTR] = { [T_RESET] = 1, [T_RTS] = 1, [T_ERR] = 1 },
		[T_RTS] = { [T_RESET] = 1, [T_RTS] = 1, [T_SQD] = 1, [T_ERR] = 1 },
		[T_SQD] = { [T_RESET] = 1, [T_SQD] = 1, [T_RTS] = 1, [T_ERR] = 1 },
		[T_ERR] = { [T_RESET] = 1, [T_ERR] = 1 },
	};
	struct fixture *f = *state;
	struct tqp *qp = &f->qp;
	struct vhca_qp_attr init, rtr, rts, a;

	t_attr_init(&init, 1);
	t_attr_rtr(&rtr, 1, qp->qpn, 5, 3);
	t_attr_rts(&rts, 5);
	for (u32 from = 0; from < 7; from++) {
		if (from == T_SQE)
			continue;
		for (u32 to = 0; to < 7; to++) {
			u32 st, mask = VHCA_QPA_STATE;

			assert_int_equal(t_to(qp, T_RESET), 0);
			if (from >= T_INIT)
				assert_int_equal(t_modify(qp, &init, T_MASK_INIT), 0);
			if (from >= T_RTR && from != T_ERR)
				assert_int_equal(t_modify(qp, &rtr, T_MASK_RTR), 0);
			if (from >= T_RTS && from != T_ERR)
				assert_int_equal(t_modify(qp, &rts, T_MASK_RTS), 0);
			if (from >= T_SQD)
				assert_int_equal(t_to(qp, from), 0);
			assert_int_equal(t_state(qp), from);
			a = init;
			if (to == T_INIT && from == T_RESET) {
				mask = T_MASK_INIT;
			} else if (to == T_RTR && from == T_INIT) {
				a = rtr;
				mask = T_MASK_RTR;
			} else if (to == T_RTS && from == T_RTR) {
				a = rts;
				mask = T_MASK_RTS;
			}
			a.state = to;
			st = t_modify(qp, &a, mask);
			if (good[from][to])
				assert_int_equal(st, VHCA_ST_OK);
			else
				refused(&f->h, st, VHCA_ST_BAD_STATE,
					REQ_OFF(vhca_modify_qp_req, attr.state));
			assert_int_equal(t_state(qp), good[from][to] ? to : from);
		}
	}
}

static void bad_mask(struct tqp *qp, const struct vhca_qp_attr *a, u32 mask, u32 st)
{
	refused(qp->h, t_modify(qp, a, mask), st, REQ_OFF(vhca_modify_qp_req, mask));
}

static void missing_bits(struct tqp *qp, const struct vhca_qp_attr *a, u32 mask, u32 optional)
{
	for (u32 bit = 1; bit <= VHCA_QPA_DEST_QPN; bit <<= 1) {
		if (bit == VHCA_QPA_STATE || bit == VHCA_QPA_CUR_STATE)
			continue;
		if (mask & bit)
			bad_mask(qp, a, mask & ~bit, VHCA_ST_BAD_FIELD);
		else if (bit == VHCA_QPA_CAP)
			bad_mask(qp, a, mask | bit, VHCA_ST_UNSUPPORTED);
		else if (!(optional & bit))
			bad_mask(qp, a, mask | bit, VHCA_ST_BAD_FIELD);
	}
}

static void qp_masks(void **state)
{
	struct fixture *f = *state;
	struct tqp *qp = &f->qp;
	struct vhca_qp_attr init, rtr, rts, a = { .state = T_INIT, .cur_state = T_INIT };

	t_attr_init(&init, 1);
	t_attr_rtr(&rtr, 1, 9, 5, 3);
	t_attr_rts(&rts, 5);
	missing_bits(qp, &init, T_MASK_INIT, 0);
	refused(&f->h, t_modify(qp, &a, T_MASK_INIT | VHCA_QPA_CUR_STATE), VHCA_ST_BAD_STATE,
		REQ_OFF(vhca_modify_qp_req, attr.cur_state));
	assert_int_equal(t_modify(qp, &init, T_MASK_INIT), 0);
	missing_bits(qp, &rtr, T_MASK_RTR, VHCA_QPA_ACCESS_FLAGS | VHCA_QPA_PKEY_INDEX |
		     VHCA_QPA_ALT_PATH);
	assert_int_equal(t_modify(qp, &rtr, T_MASK_RTR), 0);
	missing_bits(qp, &rts, T_MASK_RTS, VHCA_QPA_ACCESS_FLAGS | VHCA_QPA_MIN_RNR_TIMER |
		     VHCA_QPA_PATH_MIG_STATE | VHCA_QPA_ALT_PATH);
	assert_int_equal(t_modify(qp, &rts, T_MASK_RTS), 0);
	bad_mask(qp, &rts, VHCA_QPA_QKEY, VHCA_ST_BAD_FIELD);
	refused(&f->h, t_admin(&f->h, VHCA_CMD_MODIFY_QP, &(struct vhca_modify_qp_req){ 0 },
			       sizeof(struct vhca_modify_qp_req), NULL),
		VHCA_ST_BAD_HANDLE, REQ_OFF(vhca_modify_qp_req, qpn));
}

#define ATTR_CASE(f, v)	{ F(vhca_modify_qp_req, attr.f), v, VHCA_ST_BAD_FIELD, 0 }

/* What a type needs and may have on its way to RTS, SQD and back. */
static void unreliable_masks(void **state)
{
	static const struct { u8 type; u32 own; u32 moving; u32 in_sqd; } t[] = {
		{ VHCA_QPT_UC, VHCA_QPA_ACCESS_FLAGS,
		  VHCA_QPA_ACCESS_FLAGS | VHCA_QPA_PATH_MIG_STATE | VHCA_QPA_ALT_PATH,
		  VHCA_QPA_AV | VHCA_QPA_PKEY_INDEX | VHCA_QPA_ACCESS_FLAGS |
		  VHCA_QPA_PATH_MIG_STATE | VHCA_QPA_ALT_PATH },
		{ VHCA_QPT_UD, VHCA_QPA_QKEY, VHCA_QPA_QKEY, VHCA_QPA_PKEY_INDEX | VHCA_QPA_QKEY },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < ARRAY_SIZE(t); i++) {
		struct vhca_qp_attr init, rtr, rts, a;
		struct tqp qp;

		f->h.qp_type = t[i].type;
		t_qp_init(&f->h, &qp, &f->cq, &f->cq);
		t_attr_init(&init, 1);
		t_attr_rtr(&rtr, 1, 9, 5, 3);
		t_attr_rts(&rts, 5);
		missing_bits(&qp, &init, t_mask(qp.type, T_INIT), 0);
		assert_int_equal(t_modify(&qp, &init, t_mask(qp.type, T_INIT)), 0);
		missing_bits(&qp, &init, VHCA_QPA_STATE,
			     VHCA_QPA_PKEY_INDEX | VHCA_QPA_PORT | t[i].own);
		missing_bits(&qp, &rtr, t_mask(qp.type, T_RTR), VHCA_QPA_PKEY_INDEX | t[i].own |
			     (t[i].moving & VHCA_QPA_ALT_PATH));
		assert_int_equal(t_modify(&qp, &rtr, t_mask(qp.type, T_RTR)), 0);
		missing_bits(&qp, &rts, t_mask(qp.type, T_RTS), t[i].moving);
		assert_int_equal(t_modify(&qp, &rts, t_mask(qp.type, T_RTS)), 0);
		missing_bits(&qp, &rts, VHCA_QPA_STATE, t[i].moving);
		a = (struct vhca_qp_attr){ .state = T_SQD };
		missing_bits(&qp, &a, VHCA_QPA_STATE, VHCA_QPA_EN_SQD_ASYNC_NOTIFY);
		assert_int_equal(t_to(&qp, T_SQD), 0);
		missing_bits(&qp, &a, VHCA_QPA_STATE, t[i].in_sqd);
		missing_bits(&qp, &rts, VHCA_QPA_STATE, t[i].moving);
		assert_int_equal(t_to(&qp, T_RTS), 0);
		assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
	}
}

/* SQE is left for RTS, RESET or ERR, and nobody asks for it; RC never gets there. */
static void unreliable_states(void **state)
{
	static const bool good[7] = { [T_RESET] = true, [T_RTS] = true, [T_ERR] = true };
	struct fixture *f = *state;

	for (u32 i = 0; i < 2 * 7; i++) {
		struct twr wr = { .opcode = 0x77 };
		u32 to = i / 2, st;
		struct tqp qp;

		f->h.qp_type = i % 2 ? VHCA_QPT_UD : VHCA_QPT_UC;
		t_qp_init(&f->h, &qp, &f->cq, &f->cq);
		if (i % 2)
			t_ud_up(&qp, 1);
		else
			t_connect(&qp, &qp, 3, 1, 1);
		refused(&f->h, t_to(&qp, T_SQE), VHCA_ST_BAD_STATE,
			REQ_OFF(vhca_modify_qp_req, attr.state));
		t_send(&qp, &wr);
		t_expect_cqe(&f->cq, 0, VHCA_CS_LOC_QP_OP_ERR);
		assert_int_equal(t_state(&qp), T_SQE);
		st = t_to(&qp, to);
		assert_int_equal(st, good[to] ? VHCA_ST_OK : VHCA_ST_BAD_STATE);
		assert_int_equal(t_state(&qp), good[to] ? to : T_SQE);
		assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
	}
}

static void qp_values(void **state)
{
	static const struct spoilt init_cases[] = {
		ATTR_CASE(port, 0), ATTR_CASE(port, 3), ATTR_CASE(pkey_index, PORT_PKEYS),
		ATTR_CASE(access, 0x10), ATTR_CASE(access, 0x80),
	};
	static const struct spoilt rtr_cases[] = {
		ATTR_CASE(path_mtu, 0), ATTR_CASE(path_mtu, 6), ATTR_CASE(dest_qpn, 1u << 24),
		ATTR_CASE(rq_psn, 1u << 24), ATTR_CASE(max_dest_rd_atomic, 17),
		ATTR_CASE(min_rnr_timer, 32), ATTR_CASE(av.port, 2), ATTR_CASE(av.dlid, 0),
		ATTR_CASE(av.dlid, 0xc000), ATTR_CASE(av.sl, 16), ATTR_CASE(av.src_path_bits, 1),
		ATTR_CASE(av.static_rate, 32), ATTR_CASE(av.grh, 2),
	};
	static const struct spoilt rts_cases[] = {
		ATTR_CASE(timeout, 32), ATTR_CASE(retry_cnt, 8), ATTR_CASE(rnr_retry, 8),
		ATTR_CASE(sq_psn, 1u << 24), ATTR_CASE(max_rd_atomic, 17),
	};
	struct fixture *f = *state;
	struct vhca_modify_qp_req req = { .qpn = htole32(f->qp.qpn) };

	req.mask = htole32(T_MASK_INIT);
	t_attr_init(&req.attr, 1);
	spoil_each(&f->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), init_cases,
		   ARRAY_SIZE(init_cases));
	req.mask = htole32(T_MASK_RTR);
	t_attr_rtr(&req.attr, 1, 9, 5, 3);
	spoil_each(&f->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), rtr_cases,
		   ARRAY_SIZE(rtr_cases));
	req.mask = htole32(T_MASK_RTS);
	t_attr_rts(&req.attr, 5);
	spoil_each(&f->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), rts_cases,
		   ARRAY_SIZE(rts_cases));
}

/* What QUERY_QP tells is what was set. */
static void qp_query(void **state)
{
	struct fixture *f = *state;
	struct vhca_object_req q = { .handle = htole32(f->qp.qpn) };
	struct vhca_qp_attr a, b;

	t_attr_init(&a, 2);
	assert_int_equal(t_modify(&f->qp, &a, T_MASK_INIT), 0);
	t_attr_rtr(&a, 4, 0x123456, 0x654321, 2);
	a.av.port = 2;
	a.av.sl = 3;
	assert_int_equal(t_modify(&f->qp, &a, T_MASK_RTR), 0);
	t_attr_rts(&a, 0xfedcba);
	assert_int_equal(t_modify(&f->qp, &a, T_MASK_RTS), 0);
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_QP, &q, sizeof(q), &b, sizeof(b)), 0);
	assert_int_equal(b.state, T_RTS);
	assert_int_equal(b.port, 2);
	assert_int_equal(b.av.sl, 3);
	assert_int_equal(le16toh(b.av.dlid), 4);
	assert_int_equal(le32toh(b.dest_qpn), 0x123456);
	assert_int_equal(le32toh(b.rq_psn), 0x654321);
	assert_int_equal(le32toh(b.sq_psn), 0xfedcba);
	assert_int_equal(b.path_mtu, 2);
	assert_int_equal(b.timeout, 14);
	assert_int_equal(b.retry_cnt, 7);
	assert_int_equal(b.max_dest_rd_atomic, 4);
}

/* A QP for which no number is left keeps nothing of what it took before. */
static void refused_qp_keeps_nothing(void **state)
{
	const struct vdev_config small = {
		.name = "q", .ports = 1, .vectors = 4, .limit[VLIM_QPS] = 4,
	};
	struct vhca_create_qp_hw_req req = {
		.type = VHCA_QPT_RC, .log_sq_blocks = VHCA_NO_QUEUE,
		.log_rq_strides = VHCA_NO_QUEUE,
	};
	struct tcq cq, other;
	struct tworld w;
	struct thca h;
	u32 st, made = 0;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &small);
	t_cq_init(&h, &cq, 3, 0);
	req.pdn = htole32(h.pd);
	req.uar = htole32(h.uar);
	req.send_cqn = htole32(cq.cqn);
	req.recv_cqn = htole32(cq.cqn);
	for (;;) {
		req.db_slot = htole32(h.next_slot);
		st = t_admin(&h, VHCA_CMD_CREATE_QP, &req, sizeof(req), NULL);
		if (st)
			break;
		assert_true(++made <= small.limit[VLIM_QPS]);
		h.next_slot += 2;
	}
	assert_int_equal(st, VHCA_ST_NO_RESOURCE);
	assert_true(made);
	/* takes the records that the refused one would have had */
	t_cq_init(&h, &other, 3, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void limits(void **state)
{
	const struct vdev_config small = {
		.name = "s", .ports = 1, .vectors = 4, .kick_pages = 2, .limit[VLIM_QPS] = 3,
		.limit[VLIM_CQS] = 2, .limit[VLIM_SRQS] = 1, .limit[VLIM_MKEYS] = 2,
		.limit[VLIM_PDS] = 2, .limit[VLIM_EQS] = 2,
		.caps_off = 1u << VHCA_CAP_CLOCK | 1u << VHCA_CAP_RC,
	};
	struct vhca_create_mkey_req mk = { .buf.addr = htole64(4096), .length = htole64(1) };
	struct vhca_create_qp_hw_req qp = { .type = VHCA_QPT_RC };
	struct vhca_create_cq_hw_req cq = { .flags = VHCA_CQ_TIMESTAMP };
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &small);
	t_create(&h, VHCA_CMD_CREATE_PD, NULL, 0);
	assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_PD, NULL, 0, NULL), VHCA_ST_NO_RESOURCE);
	mk.pdn = htole32(h.pd);
	t_create(&h, VHCA_CMD_CREATE_MKEY, &mk, sizeof(mk));
	t_create(&h, VHCA_CMD_CREATE_MKEY, &mk, sizeof(mk));
	assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_MKEY, &mk, sizeof(mk), NULL),
			 VHCA_ST_NO_RESOURCE);
	refused(&h, t_admin(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp), NULL), VHCA_ST_UNSUPPORTED,
		REQ_OFF(vhca_create_qp_hw_req, type));
	cq.uar = htole32(h.uar);
	cq.eqn = htole32(h.comp.eqn);
	refused(&h, t_admin(&h, VHCA_CMD_CREATE_CQ, &cq, sizeof(cq), NULL), VHCA_ST_UNSUPPORTED,
		REQ_OFF(vhca_create_cq_hw_req, flags));
	refused(&h, t_admin(&h, VHCA_CMD_QUERY_CLOCK, NULL, 0, NULL), VHCA_ST_UNSUPPORTED,
		offsetof(struct vhca_asqe, opcode));
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* A reset drops everything, again and again, and the driver can start anew. */
static void resets(void **state)
{
	struct fixture *f = *state;
	struct vdev_status st;

	for (u32 i = 0; i < 5; i++) {
		vdev_reset(f->h.dev);
		vdev_status(f->h.dev, &st);
		assert_int_equal(st.qps + st.cqs + st.eqs + st.pds + st.mkeys + st.uars, 0);
		assert_int_equal(st.enabled, 0);
		assert_int_equal(st.port[0].state, PORT_DOWN);
		t_hca_fini(&f->h);
		t_hca_init_cfg(&f->h, &f->w, &cfg);
		t_expect_event(&f->h, VHCA_EV_PORT_ACTIVE, 0);
		t_cq_init(&f->h, &f->cq, 4, 0);
		t_qp_init(&f->h, &f->qp, &f->cq, &f->cq);
		vdev_status(f->h.dev, &st);
		assert_int_equal(st.qps, 1);
		assert_int_equal(st.cqs, 1);
		assert_int_equal(st.eqs, 2);
	}
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(envelope), TEST(nothing_done), TEST(clock_asked), TEST(many_in_flight),
		TEST(absurd_tail), TEST(rings_must_exist), TEST(queries), TEST(node_description),
		TEST(uars), TEST(busy), TEST(eq_fields), TEST(cq_fields), TEST(qp_fields),
		TEST(qp_numbers), TEST(qp_rest), TEST(qp_states), TEST(qp_masks),
		TEST(unreliable_masks), TEST(unreliable_states), TEST(qp_values), TEST(qp_query),
		cmocka_unit_test(refused_qp_keeps_nothing),
		cmocka_unit_test(limits), TEST(resets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
