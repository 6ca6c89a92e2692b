// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Admin commands of queue pairs: fields, numbers, the state machine, and what a refusal leaves.
 */
#include "tests/admin.h"

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
		{ F(vhca_create_qp_hw_req, type), 1, VHCA_ST_BAD_FIELD,
		  offsetof(struct vhca_create_qp_hw_req, port) },
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
		{ F(vhca_create_qp_hw_req, rsvd[1]), 9, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, sq.addr), 32, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, rq.addr), 64, VHCA_ST_BAD_ADDRESS, 0 },
	};

	/* an absent queue's buffer must be empty: the first byte set is named */
	assert_int_equal(le64toh(req.sq.addr) & 0xff, 0);
	spoil_each(&f->h, VHCA_CMD_CREATE_QP, &req, sizeof(req), s, ARRAY_SIZE(s));
}

/* Numbers of destroyed QPs are kept unused, and used later with another generation. */
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

/* Attributes that a type requires and allows on its way to RTS, SQD and back. */
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

/* SQE can be left for RTS, RESET or ERR, and cannot be requested; RC never enters it. */
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
		ATTR_CASE(av.dlid, 0xc000), ATTR_CASE(av.sl, 16), ATTR_CASE(av.src_path_bits, 128),
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

/* QUERY_QP returns what was set. */
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

/* A QP that fails because no number is left releases everything that it has taken. */
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

/* The records of a QP may be the last one of a page and the first one of the next page. */
static void records_in_two_pages(void **state)
{
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	struct fixture *f = *state;
	struct tqp qp;

	t_db_pages(&f->h);
	for (u32 i = 0; i < 2; i++) {
		/* those of a destroyed QP are free */
		f->h.next_slot = VHCA_DB_SLOTS - 1;
		t_qp_init(&f->h, &qp, &f->cq, &f->cq);
		t_connect(&qp, &qp, 5, 1, 1);
		t_recv(&qp, 1, 0, NULL);
		t_send(&qp, &wr);
		for (u32 k = 0; k < 2; k++)
			t_expect_cqe(&f->cq, 1, VHCA_CS_SUCCESS);
		assert_int_equal(t_destroy(&f->h, VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
		t_set_rec(&f->h, qp.slot, 0);
		t_set_rec(&f->h, qp.slot + 1, 0);
	}
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(qp_fields),
		TEST(qp_numbers),
		TEST(qp_rest),
		TEST(qp_states),
		TEST(qp_masks),
		TEST(unreliable_masks),
		TEST(unreliable_states),
		TEST(qp_values),
		TEST(qp_query),
		cmocka_unit_test(refused_qp_keeps_nothing),
		TEST(records_in_two_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
