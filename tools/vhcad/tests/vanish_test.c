// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that revokes memory its device uses: rings, doorbell pages, the
 * admin queue.  The object that used it fails, with the event that reports it; the device
 * and all other objects go on.
 */
#include <string.h>

#include "tests/testmem.h"
#include "tests/thca.h"

#define PAGE	4096u
#define FAR	0x900000000ull	/* pages that can be revoked, each by itself */
#define PAGES	4u

struct fixture {
	struct tpair p;
	u8 *page[2][PAGES];	/* of each device */
};

static u64 far_page(u32 i)
{
	return FAR + (u64)i * 2 * PAGE;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, 3, 1, 1);
	for (u32 h = 0; h < 2; h++)
		for (u32 i = 0; i < PAGES; i++)
			f.page[h][i] = testmem_add(f.p.h[h].mem, far_page(i), PAGE);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (u32 h = 0; h < 2; h++)
		for (u32 i = 0; i < PAGES; i++)
			testmem_drop(f->page[h][i], PAGE);
	t_pair_fini(&f->p);
	return 0;
}

static void take_away(struct fixture *f, u32 h, u32 i)
{
	assert_int_equal(gmem_unmap(f->p.h[h].mem, far_page(i), PAGE), 0);
}

/* The other pair works as before. */
static void others_go_on(struct fixture *f)
{
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 4711 };

	t_recv(&f->p.qp[1], 4712, 0, NULL);
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 4711, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->p.cq[1], 4712, VHCA_CS_SUCCESS);
	for (u32 h = 0; h < 2; h++) {
		assert_int_equal(vdev_reg_read(f->p.h[h].dev, VHCA_REG_STATUS),
				 VHCA_STATUS_READY);
		t_expect_no_event(&f->p.h[h]);
	}
}

/* A QP with the rings and slots that the request gives. */
static void make_qp(struct fixture *f, u32 h, struct tqp *qp, struct vhca_create_qp_hw_req *req)
{
	struct thca *hca = &f->p.h[h];

	memset(qp, 0, sizeof(*qp));
	qp->h = hca;
	qp->type = VHCA_QPT_RC;
	qp->scq = &f->p.cq[h];
	qp->rcq = &f->p.cq[h];
	if (!req->sq.addr) {
		u64 sq = t_alloc(hca, PAGE);

		req->sq.addr = htole64(sq);
		req->log_sq_blocks = 6;
		qp->sq = t_cpu(hca, sq);
	}
	if (!req->rq.addr) {
		u64 rq = t_alloc(hca, PAGE);

		req->rq.addr = htole64(rq);
		req->log_rq_strides = 6;
		req->log_rq_stride = 6;
		qp->rq = t_cpu(hca, rq);
	}
	if (!req->db_slot) {
		req->db_slot = htole32(hca->next_slot);
		qp->slot = hca->next_slot;
		hca->next_slot += 2;
	}
	req->type = VHCA_QPT_RC;
	req->flags = VHCA_QP_SIGNAL_ALL;
	req->pdn = htole32(hca->pd);
	req->uar = htole32(hca->uar);
	req->send_cqn = htole32(qp->scq->cqn);
	req->recv_cqn = htole32(qp->rcq->cqn);
	qp->log_sq = req->log_sq_blocks;
	qp->log_rq = req->log_rq_strides;
	qp->log_stride = req->log_rq_stride;
	qp->qpn = t_create(hca, VHCA_CMD_CREATE_QP, req, sizeof(*req));
}

static void failed(struct fixture *f, u32 h, struct tqp *qp)
{
	t_expect_event(&f->p.h[h], VHCA_EV_QP_FATAL, qp->qpn);
	assert_int_equal(t_state(qp), T_ERR);
}

static void send_ring(void **state)
{
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(far_page(0)), .log_sq_blocks = 6,
	};
	struct vhca_create_qp_hw_req usual = { 0 };
	struct fixture *f = *state;
	struct tqp a, b;

	make_qp(f, 0, &a, &req);
	a.sq = f->page[0][0];
	make_qp(f, 1, &b, &usual);
	t_connect(&a, &b, 3, 1, 1);
	t_recv(&b, 7, 0, NULL);
	t_send(&a, &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->p.cq[1], 7, VHCA_CS_SUCCESS);
	t_post(&a, &wr);
	take_away(f, 0, 0);
	t_ring_sq(&a);
	failed(f, 0, &a);
	/* an entry that cannot be read cannot be completed */
	t_expect_no_cqe(&f->p.cq[0]);
	others_go_on(f);
}

/* The ring's second page, where the rest of a request is. */
static void half_a_request(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	u64 list = t_alloc(h, PAGE);
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(list), .sq.npages = htole32(2), .sq.page_shift = 12,
		.sq.levels = 1, .log_sq_blocks = 7,
	};
	struct vhca_create_qp_hw_req usual = { 0 };
	struct twr wr = { .opcode = VHCA_OP_NOP };
	struct vhca_wqe_ctrl ctrl = { .opcode = VHCA_OP_SEND, .nblk = 2, .nsge = 4 };
	struct tqp a, b;

	((__le64 *)t_cpu(h, list))[0] = htole64(far_page(0));
	((__le64 *)t_cpu(h, list))[1] = htole64(far_page(1));
	make_qp(f, 0, &a, &req);
	a.sq = f->page[0][0];
	make_qp(f, 1, &b, &usual);
	t_connect(&a, &b, 3, 1, 1);
	for (u32 i = 0; i < 63; i++) {
		t_post(&a, &wr);
		t_ring_sq(&a);
		t_expect_cqe(&f->p.cq[0], 0, VHCA_CS_SUCCESS);
	}
	ctrl.index = htole32(63);
	memcpy(f->page[0][0] + 63 * VHCA_WQE_BLOCK, &ctrl, sizeof(ctrl));
	take_away(f, 0, 1);
	a.sq_prod += 2;
	t_ring_sq(&a);
	failed(f, 0, &a);
	t_expect_no_cqe(&f->p.cq[0]);
	others_go_on(f);
}

static void receive_ring(void **state)
{
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	struct vhca_create_qp_hw_req req = {
		.rq.addr = htole64(far_page(0)), .log_rq_strides = 6, .log_rq_stride = 6,
	};
	struct vhca_create_qp_hw_req usual = { 0 };
	struct fixture *f = *state;
	struct tqp a, b;

	make_qp(f, 0, &a, &usual);
	make_qp(f, 1, &b, &req);
	b.rq = f->page[1][0];
	t_connect(&a, &b, 3, 1, 1);
	t_recv(&b, 7, 0, NULL);
	take_away(f, 1, 0);
	t_send(&a, &wr);
	failed(f, 1, &b);
	t_expect_no_cqe(&f->p.cq[1]);
	/* its peer gets nothing more */
	t_settle(&f->p.w, 10000000000ull);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	others_go_on(f);
}

/* Adds a page of doorbells to a device's area: the first page that can be revoked. */
static void add_doorbells(struct fixture *f, u32 h)
{
	const struct vhca_add_db_page_req req = {
		.uar = htole32(f->p.h[h].uar), .page = htole32(1), .db_page = htole64(far_page(0)),
	};

	assert_int_equal(t_admin(&f->p.h[h], VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL), 0);
}

static void set_far_rec(struct fixture *f, u32 h, u32 slot, u64 val)
{
	struct vhca_db_page *db = (void *)f->page[h][0];

	__atomic_store_n(&db->rec[slot], htole64(val), __ATOMIC_RELEASE);
}

static void receive_records(void **state)
{
	struct vhca_create_qp_hw_req req = { .db_slot = htole32(VHCA_DB_SLOTS) };
	struct vhca_create_qp_hw_req usual = { 0 };
	struct twr wr = { .opcode = VHCA_OP_SEND, .wr_id = 1 };
	struct fixture *f = *state;
	struct tqp a, b;

	add_doorbells(f, 1);
	make_qp(f, 0, &a, &usual);
	make_qp(f, 1, &b, &req);
	t_connect(&a, &b, 3, 1, 1);
	set_far_rec(f, 1, 1, 1);
	take_away(f, 1, 0);
	t_send(&a, &wr);
	failed(f, 1, &b);
	t_settle(&f->p.w, 10000000000ull);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	others_go_on(f);
}

/* A QP reads its record before it sends. */
static void send_records(void **state)
{
	struct vhca_create_qp_hw_req req = { .db_slot = htole32(VHCA_DB_SLOTS) };
	struct fixture *f = *state;
	struct vhca_qp_attr attr;
	struct tqp a;

	add_doorbells(f, 0);
	make_qp(f, 0, &a, &req);
	t_attr_init(&attr, 1);
	assert_int_equal(t_modify(&a, &attr, T_MASK_INIT), VHCA_ST_OK);
	t_attr_rtr(&attr, 2, f->p.qp[1].qpn, 0, 3);
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTR), VHCA_ST_OK);
	take_away(f, 0, 0);
	t_attr_rts(&attr, 0);
	assert_int_equal(t_modify(&a, &attr, T_MASK_RTS), VHCA_ST_OK);
	failed(f, 0, &a);
	others_go_on(f);
}

/* The device reads the record of a full CQ again, to see whether there is room. */
static void consumer_records(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	struct vhca_create_cq_hw_req req = {
		.buf.addr = htole64(t_alloc(h, PAGE)), .uar = htole32(h->uar),
		.db_slot = htole32(VHCA_DB_SLOTS), .eqn = htole32(h->comp.eqn), .log_cqe = 1,
	};
	struct twr nop = { .opcode = VHCA_OP_NOP };
	struct tcq cq = { .h = h };
	struct tqp a;

	add_doorbells(f, 0);
	cq.cqn = t_create(h, VHCA_CMD_CREATE_CQ, &req, sizeof(req));
	t_qp_init(h, &a, &cq, &cq);
	t_connect(&a, &a, 3, 1, 1);
	t_send(&a, &nop);
	t_send(&a, &nop);
	/* emptied, as far as the record says */
	set_far_rec(f, 0, 0, 2);
	t_send(&a, &nop);
	t_expect_no_event(h);
	t_send(&a, &nop);
	take_away(f, 0, 0);
	t_send(&a, &nop);
	t_expect_event(h, VHCA_EV_CQ_ERR, cq.cqn);
	failed(f, 0, &a);
	others_go_on(f);
}

/* An event queue that is full, and whose driver cannot report that it has made room. */
static void event_records(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	struct vhca_create_eq_req req = {
		.buf.addr = htole64(t_alloc(h, PAGE)), .uar = htole32(h->uar),
		.db_slot = htole32(VHCA_DB_SLOTS), .vector = htole32(3), .log_entries = 1,
	};
	u32 eqn, usual = h->comp.eqn;
	struct twr nop = { .opcode = VHCA_OP_NOP };
	struct tcq cq[4];
	struct tqp a[4];

	add_doorbells(f, 0);
	eqn = t_create(h, VHCA_CMD_CREATE_EQ, &req, sizeof(req));
	h->comp.eqn = eqn;
	for (u32 i = 0; i < ARRAY_SIZE(cq); i++) {
		t_cq_init(h, &cq[i], 3, 0);
		t_qp_init(h, &a[i], &cq[i], &cq[i]);
		t_connect(&a[i], &a[i], 3, 1, 1);
	}
	h->comp.eqn = usual;
	for (u32 i = 0; i < ARRAY_SIZE(cq); i++) {
		if (i == 2)
			take_away(f, 0, 0);
		t_cq_arm(&cq[i], false);
		t_send(&a[i], &nop);
		t_expect_cqe(&cq[i], 0, VHCA_CS_SUCCESS);
	}
	others_go_on(f);
	/* with pending events it can be destroyed */
	for (u32 i = 0; i < ARRAY_SIZE(cq); i++) {
		assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, a[i].qpn), VHCA_ST_OK);
		assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_CQ, cq[i].cqn), VHCA_ST_OK);
	}
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_EQ, eqn), VHCA_ST_OK);
	others_go_on(f);
}

/* The device itself stops when it cannot answer its driver; other devices do not. */
static void admin_completions(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	u64 asq = t_alloc(h, PAGE);

	vdev_reset(h->dev);
	vdev_reg_write(h->dev, VHCA_REG_ASQ_LO, asq);
	vdev_reg_write(h->dev, VHCA_REG_ASQ_HI, asq >> 32);
	vdev_reg_write(h->dev, VHCA_REG_ACQ_LO, (u32)far_page(0));
	vdev_reg_write(h->dev, VHCA_REG_ACQ_HI, far_page(0) >> 32);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_SIZE, 4);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_VECTOR, VHCA_NO_VECTOR);
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, 1);
	t_poll(h->w);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
	assert_int_equal(f->page[0][0][sizeof(struct vhca_acqe) - 1] & VHCA_ACQE_PHASE, 1);
	take_away(f, 0, 0);
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, 2);
	t_poll(h->w);
	assert_true(vdev_reg_read(h->dev, VHCA_REG_STATUS) & VHCA_STATUS_FATAL);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_ADMIN_RING);
	/* the first reason stays */
	vdev_inject_fatal(h->dev);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_ADMIN_RING);
	assert_int_equal(vdev_reg_read(f->p.h[1].dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
	assert_int_equal(t_admin(&f->p.h[1], VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(send_ring), TEST(half_a_request), TEST(receive_ring), TEST(receive_records),
		TEST(send_records), TEST(consumer_records), TEST(event_records),
		TEST(admin_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
