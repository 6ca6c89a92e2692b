// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that are refused: the status, the named field, and that
 * their objects are unchanged.
 */
#include "tests/admin.h"

#define NOBODY			0x00ffff00u	/* a handle of no object */

/* A device on which the event queues can be used up. */
static int setup_few(void **state)
{
	static const struct vdev_config few = {
		.name = "t", .node_guid = 0xabc00, .ports = 2, .vectors = 4, .limit[VLIM_EQS] = 2,
	};

	return setup_as(state, &few);
}

static void handles(void **state)
{
	static const u8 ops[] = {
		VHCA_CMD_CLOSE_UAR, VHCA_CMD_DESTROY_EQ, VHCA_CMD_DESTROY_PD,
		VHCA_CMD_DESTROY_MKEY, VHCA_CMD_DESTROY_CQ, VHCA_CMD_DESTROY_QP,
		VHCA_CMD_DESTROY_SRQ, VHCA_CMD_QUERY_SRQ,
	};
	static const u32 nobody[] = { NOBODY, UINT32_MAX };
	const struct vhca_object_req req = { .handle = htole32(NOBODY) };
	const struct vhca_modify_qp_req mod = { .qpn = htole32(NOBODY) };
	struct fixture *f = *state;
	struct vhca_qp_attr a;

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		for (u32 k = 0; k < ARRAY_SIZE(nobody); k++)
			refused(&f->h, t_destroy(&f->h, ops[i], nobody[k]), VHCA_ST_BAD_HANDLE,
				REQ_OFF(vhca_object_req, handle));
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_QP, &req, sizeof(req), &a, sizeof(a)),
		VHCA_ST_BAD_HANDLE, REQ_OFF(vhca_object_req, handle));
	refused(&f->h, t_admin(&f->h, VHCA_CMD_MODIFY_QP, &mod, sizeof(mod), NULL),
		VHCA_ST_BAD_HANDLE, REQ_OFF(vhca_modify_qp_req, qpn));
	/* the slot of a QP with another generation is not the QP */
	refused(&f->h, t_destroy(&f->h, VHCA_CMD_DESTROY_QP, f->qp.qpn ^ 1u << 23),
		VHCA_ST_BAD_HANDLE, REQ_OFF(vhca_object_req, handle));
	assert_int_equal(t_state(&f->qp), T_RESET);
}

static void ports(void **state)
{
	struct fixture *f = *state;
	struct vhca_port_req req = { 0 };
	struct vhca_port_attr a;

	for (u32 port = 0; port <= 3; port += 3) {
		req.port = port;
		refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a,
					   sizeof(a)),
			VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, port));
	}
	req.port = 2;
	req.first_index = htole32(1);
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, first_index));
	req.first_index = 0;
	req.count = htole32(1);
	refused(&f->h, t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)),
		VHCA_ST_BAD_FIELD, REQ_OFF(vhca_port_req, count));
	req.count = 0;
	assert_int_equal(t_admin_out(&f->h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)),
			 VHCA_ST_OK);
	assert_int_equal(le16toh(a.lid), 2);
}

static void doorbell_pages(void **state)
{
	struct fixture *f = *state;
	u64 good = t_alloc(&f->h, VHCA_DB_PAGE_SIZE);
	struct vhca_add_db_page_req req = {
		.uar = htole32(NOBODY), .page = htole32(1), .db_page = htole64(good),
	};

#define REFUSED(st, field) \
	refused(&f->h, t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL), st, \
		REQ_OFF(vhca_add_db_page_req, field))
	REFUSED(VHCA_ST_BAD_HANDLE, uar);
	req.uar = htole32(f->h.uar);
	req.page = htole32(2);
	REFUSED(VHCA_ST_BAD_FIELD, page);
	req.page = htole32(1);
	req.db_page = htole64(good + 8);
	REFUSED(VHCA_ST_BAD_FIELD, db_page);
	req.db_page = htole64(0x1000);
	REFUSED(VHCA_ST_BAD_ADDRESS, db_page);
	req.db_page = htole64(good);
	assert_int_equal(t_admin(&f->h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL), VHCA_ST_OK);
	REFUSED(VHCA_ST_BAD_FIELD, page);
#undef REFUSED
}

static void mkeys(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h;
	struct vhca_create_mkey_req make = {
		.type = VHCA_MKEY_PHYSICAL, .pdn = htole32(h->pd), .access = htole32(1),
	};
	struct vhca_modify_mkey_req req = { 0 };
	struct tmr mr;

	t_mr_init(h, &mr, 0x5000, 4096, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
#define REFUSED(st, field) \
	refused(h, t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL), st, \
		REQ_OFF(vhca_modify_mkey_req, field))
	req.key = htole32(mr.key);
	REFUSED(VHCA_ST_BAD_FIELD, mask);
	req.mask = htole32(VHCA_MKEY_MOD_ACCESS);
	req.attr.type = 1;
	REFUSED(VHCA_ST_BAD_FIELD, attr.type);
	req.attr.type = 0;
	req.attr.variant = 1;
	REFUSED(VHCA_ST_BAD_FIELD, attr.variant);
	req.attr.variant = 0;
	req.attr.access = htole32(1u << 31);
	REFUSED(VHCA_ST_BAD_FIELD, attr.access);
	req.mask = htole32(VHCA_MKEY_MOD_PD);
	req.attr.access = 0;
	req.attr.pdn = htole32(NOBODY);
	REFUSED(VHCA_ST_BAD_HANDLE, attr.pdn);
	req.attr.pdn = 0;
	req.mask = htole32(VHCA_MKEY_MOD_BUF);
	req.attr.iova = htole64(UINT64_MAX);
	req.attr.length = htole64(2);
	REFUSED(VHCA_ST_BAD_FIELD, attr.length);
#undef REFUSED
	/* nothing of it was done: only this key uses the PD */
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, mr.key), VHCA_ST_OK);

	/* a physical key has no pages, and ends with the address space */
	make.buf.npages = htole32(1);
	refused(h, t_admin(h, VHCA_CMD_CREATE_MKEY, &make, sizeof(make), NULL), VHCA_ST_BAD_FIELD,
		REQ_OFF(vhca_create_mkey_req, buf.npages));
	make.buf.npages = 0;
	make.iova = htole64(UINT64_MAX - 4);
	make.length = htole64(6);
	refused(h, t_admin(h, VHCA_CMD_CREATE_MKEY, &make, sizeof(make), NULL), VHCA_ST_BAD_FIELD,
		REQ_OFF(vhca_create_mkey_req, length));
	make.length = htole64(5);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &make, sizeof(make), NULL), VHCA_ST_OK);
}

/* An EQ for which there is no number has taken no doorbell slots. */
static void event_queues(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h;
	struct vhca_create_eq_req req = {
		.buf.addr = htole64(t_alloc(h, 4096)), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .vector = htole32(VHCA_NO_VECTOR),
		.log_entries = 2,
	};
	struct tcq cq;

	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_EQ, &req, sizeof(req), NULL),
			 VHCA_ST_NO_RESOURCE);
	assert_int_equal(h->bad_field, VHCA_NO_FIELD);
	t_cq_init(h, &cq, 2, 0);
	assert_int_equal(cq.slot, le32toh(req.db_slot));
}

static void queue_pairs(void **state)
{
	struct fixture *f = *state;
	struct vhca_modify_qp_req req = { .qpn = htole32(f->qp.qpn) };
	struct vhca_qp_attr a;

#define REFUSED(st, field) \
	refused(&f->h, t_admin(&f->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), NULL), st, \
		REQ_OFF(vhca_modify_qp_req, field))
	req.mask = htole32(VHCA_QPA_STATE);
	req.attr.state = T_ERR + 1;
	REFUSED(VHCA_ST_BAD_FIELD, attr.state);
	t_attr_init(&a, 1);
	assert_int_equal(t_modify(&f->qp, &a, T_MASK_INIT), VHCA_ST_OK);

	/* fields of a GRH are checked only if there is one */
	req.mask = htole32(T_MASK_RTR);
	t_attr_rtr(&req.attr, 1, 9, 5, 3);
	req.attr.av.grh = 1;
	req.attr.av.sgid_index = PORT_GIDS;
	REFUSED(VHCA_ST_BAD_FIELD, attr.av.sgid_index);
	req.attr.av.sgid_index = 0;
	req.attr.av.flow_label = htole32(0x100000);
	REFUSED(VHCA_ST_BAD_FIELD, attr.av.flow_label);
	assert_int_equal(t_state(&f->qp), T_INIT);
	req.attr.av.grh = 0;
	assert_int_equal(t_admin(&f->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), NULL), VHCA_ST_OK);

	t_attr_rts(&a, 5);
	assert_int_equal(t_modify(&f->qp, &a, T_MASK_RTS), VHCA_ST_OK);
	assert_int_equal(t_to(&f->qp, T_SQD), VHCA_ST_OK);
	t_poll(&f->w);
	/* drained, it may move to another port, but not without a path from there */
	memset(&req.attr, 0, sizeof(req.attr));
	req.mask = htole32(VHCA_QPA_PORT);
	req.attr.port = 2;
	REFUSED(VHCA_ST_BAD_FIELD, attr.port);
	assert_int_equal(t_state(&f->qp), T_SQD);
#undef REFUSED
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup_few, teardown)
	const struct CMUnitTest tests[] = {
		TEST(handles), TEST(ports), TEST(doorbell_pages), TEST(mkeys),
		TEST(event_queues), TEST(queue_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
