// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue and the commands: what is refused, with which status, and
 * which field is named.
 */
#include "tests/admin.h"

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
	/* nothing works any more, until a reset */
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
		VHCA_CAP_SMI_GSI,
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
		VHCA_CAP_PORT_CHANGE,
		VHCA_CAP_UD_CSUM,
		VHCA_CAP_UD_CSUM6,
		VHCA_CAP_UD_LSO,
		VHCA_CAP_UD_LSO6,
		VHCA_CAP_INTEGRITY,
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
	/* a page belongs to one UAR, and is there once */
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
	/* and afterwards another UAR may have it */
	assert_int_equal(t_destroy(&f->h, VHCA_CMD_CLOSE_UAR,
				   t_create(&f->h, VHCA_CMD_OPEN_UAR, &req, sizeof(req))), 0);
	refused(&f->h, t_destroy(&f->h, VHCA_CMD_CLOSE_UAR, uar), VHCA_ST_BAD_HANDLE,
		REQ_OFF(vhca_object_req, handle));
}

/* An object cannot be destroyed while others use it. */
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
		{ F(vhca_create_eq_req, flags), 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, flags), VHCA_EQ_PORT_CHANGE, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_eq_req, flags), VHCA_EQ_ASYNC, VHCA_ST_BUSY, 0 },
		{ F(vhca_create_eq_req, flags), VHCA_EQ_ASYNC | VHCA_EQ_PORT_CHANGE, VHCA_ST_BUSY,
		  0 },
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

/* A reset drops everything, repeatedly, and the driver can start anew. */
static void resets(void **state)
{
	struct fixture *f = *state;
	struct vdev_status st;

	for (u32 i = 0; i < 5; i++) {
		vdev_reset(f->h.dev);
		vdev_status(f->h.dev, &st);
		assert_int_equal(st.qps + st.cqs + st.eqs + st.pds + st.mkeys + st.uars, 0);
		assert_int_equal(st.enabled, 0);
		/* its link has gone down, and is up again */
		assert_int_equal(st.port[0].state, PORT_ACTIVE);
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
		TEST(envelope),
		TEST(nothing_done),
		TEST(clock_asked),
		TEST(many_in_flight),
		TEST(absurd_tail),
		TEST(rings_must_exist),
		TEST(queries),
		TEST(node_description),
		TEST(uars),
		TEST(busy),
		TEST(eq_fields),
		TEST(cq_fields),
		cmocka_unit_test(limits),
		TEST(resets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
