// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: QPs that fail or are destroyed, rings and records that fail, and resets
 * with a receive taken.
 */
#include "tests/srq.h"

/* ---- the end of a QP ---- */

/* Two commands that the device finds at the same time. */
static void modify_twice(struct tqp *qp, u8 first, u8 then)
{
	const u8 state[] = { first, then };
	struct thca *h = qp->h;

	for (u32 i = 0; i < 2; i++) {
		struct vhca_modify_qp_req req = {
			.qpn = htole32(qp->qpn), .mask = htole32(VHCA_QPA_STATE),
			.attr.state = state[i],
		};
		struct vhca_asqe *sqe = &h->asq[h->admin_tail++ & ((1u << T_ADMIN_LOG) - 1)];

		*sqe = (struct vhca_asqe){ .opcode = VHCA_CMD_MODIFY_QP };
		memcpy(sqe->req, &req, sizeof(req));
	}
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, h->admin_tail);
	t_poll(h->w);
}

static void last_wqe(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	struct vhca_qp_attr attr;

	post(f, 0);
	post(f, 1);
	/* one that has taken a receive completes it first */
	send_half(f, 4);
	assert_int_equal(t_to(&f->b[4], T_ERR), VHCA_ST_OK);
	t_expect_event(h, VHCA_EV_LAST_WQE, f->b[4].qpn);
	t_expect_cqe(&f->cq[1], 0, VHCA_CS_WR_FLUSH_ERR);
	t_expect_no_cqe(&f->cq[1]);
	/* the same state again causes no new event, whatever rings */
	assert_int_equal(t_to(&f->b[4], T_ERR), VHCA_ST_OK);
	t_ring(h, f->b[4].slot, 0);
	t_ring(h, f->b[4].slot + 1, 0);
	t_expect_no_event(h);
	/* the other receive is still there for other QPs */
	assert_int_equal(le32toh(query(f).left), 1);

	/* never connected, it has the event too; and again after a reset */
	assert_int_equal(t_to(&f->b[4], T_RESET), VHCA_ST_OK);
	t_attr_init(&attr, 1);
	assert_int_equal(t_modify(&f->b[4], &attr, T_MASK_INIT), VHCA_ST_OK);
	t_expect_no_event(h);
	assert_int_equal(t_to(&f->b[4], T_ERR), VHCA_ST_OK);
	t_expect_event(h, VHCA_EV_LAST_WQE, f->b[4].qpn);
	t_expect_no_event(h);

	/* reset at once, before anything was flushed */
	assert_int_equal(t_to(&f->b[4], T_RESET), VHCA_ST_OK);
	assert_int_equal(t_modify(&f->b[4], &attr, T_MASK_INIT), VHCA_ST_OK);
	t_expect_no_event(h);
	modify_twice(&f->b[4], T_ERR, T_RESET);
	t_expect_event(h, VHCA_EV_LAST_WQE, f->b[4].qpn);
	assert_int_equal(t_state(&f->b[4]), T_RESET);
	t_expect_no_event(h);

	/* a message that is too long ends the QP that got it, and no other */
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
	{
		struct vhca_sge s = t_sge(&f->dst, 0, 10);

		send(f, 6, LEN);
		arrived(f, 6, 1);
		t_srq_recv(&f->srq, 2, 1, &s);
	}
	send(f, 7, LEN);
	t_expect_cqe(&f->cq[1], 2, VHCA_CS_LOC_LEN_ERR);
	t_expect_event(h, VHCA_EV_LAST_WQE, f->b[7].qpn);
	t_expect_no_event(h);
	/* one with a queue of its own has no such event */
	assert_int_equal(t_to(&f->a[8], T_ERR), VHCA_ST_OK);
	t_expect_no_event(&f->h[0]);
	post(f, 3);
	send(f, 6, LEN);
	arrived(f, 6, 3);
}

static void lose_second(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	v->copies = h->psn != 101;
}

/* A broken unreliable message leaves its receive to the next one of its QP. */
static void unreliable(void **state)
{
	struct fixture *f = *state;
	struct twr wr = message(f, 0, LEN);
	struct tqp a, b;

	f->h[0].qp_type = VHCA_QPT_UC;
	f->h[1].qp_type = VHCA_QPT_UC;
	t_qp_init(&f->h[0], &a, &f->cq[0], &f->cq[0]);
	t_qp_init_srq(&f->h[1], &b, &f->cq[1], &f->cq[1], &f->srq);
	t_connect(&a, &b, 3, 100, 9000);
	for (u32 i = 0; i < 4; i++)
		post(f, i);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, lose_second, NULL), 0);
	t_send(&a, &wr);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
	t_expect_no_cqe(&f->cq[1]);
	assert_int_equal(t_srq_taken(&f->srq), 1);
	/* another QP gets another receive */
	send(f, 5, LEN);
	arrived(f, 5, 1);
	t_send(&a, &wr);
	t_expect_cqe(&f->cq[1], 0, VHCA_CS_SUCCESS);
	t_mr_expect(&f->dst, 0, LEN, 7, 0);
	assert_int_equal(t_srq_taken(&f->srq), 2);

	/* a broken message at the end is flushed, and the QP has its LAST_WQE event */
	held_from = 107;
	assert_int_equal(fab_set_packet_hook(f->w.fabric, hold, NULL), 0);
	t_send(&a, &wr);
	assert_int_equal(t_srq_taken(&f->srq), 3);
	assert_int_equal(t_to(&b, T_ERR), VHCA_ST_OK);
	t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, b.qpn);
	t_expect_cqe(&f->cq[1], 2, VHCA_CS_WR_FLUSH_ERR);
	send_rest(f);
	t_expect_no_cqe(&f->cq[1]);
	t_expect_no_event(&f->h[1]);
}

/* ---- failures ---- */

static void refused_now(struct fixture *f)
{
	struct vhca_object_req req = { .handle = htole32(f->srq.srqn) };

	assert_int_equal(t_srq_limit(&f->srq, 1), VHCA_ST_BAD_STATE);
	assert_int_equal(resize(f, LOG), VHCA_ST_BAD_STATE);
	assert_int_equal(f->h[1].bad_field, offsetof(struct vhca_asqe, req) +
			 offsetof(struct vhca_resize_srq_hw_req, srqn));
	assert_int_equal(t_admin(&f->h[1], VHCA_CMD_QUERY_SRQ, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_STATE);
}

/* The SRQ is in the error state: it had one event, and QPs that need a receive fail. */
static void failed(struct fixture *f, u32 pair)
{
	struct thca *h = &f->h[1];

	t_expect_event(h, VHCA_EV_SRQ_ERR, f->srq.srqn);
	t_expect_event(h, VHCA_EV_QP_FATAL, f->b[pair].qpn);
	t_expect_event(h, VHCA_EV_LAST_WQE, f->b[pair].qpn);
	t_expect_no_event(h);
	t_expect_no_cqe(&f->cq[1]);
	refused_now(f);
	t_expect_no_event(h);
}

/* More receives than there are places. */
static void absurd_record(void **state)
{
	struct fixture *f = *state;
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f->src, 0, LEN, &f->dst, 0);

	t_set_rec(&f->h[1], f->srq.slot, (1u << LOG) + 1);
	send(f, 2, LEN);
	failed(f, 2);
	/* a QP that needs no receive goes on */
	t_send(&f->a[3], &wr);
	t_expect_cqe(&f->cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f->dst, 0, LEN, 7, 0);
	send(f, 3, LEN);
	t_expect_event(&f->h[1], VHCA_EV_QP_FATAL, f->b[3].qpn);
	t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->b[3].qpn);
	t_expect_no_event(&f->h[1]);
}

/* The posted count is set back to before receives that were taken. */
static void count_goes_back(void **state)
{
	struct fixture *f = *state;

	post(f, 0);
	post(f, 1);
	send(f, 0, LEN);
	arrived(f, 0, 0);
	t_set_rec(&f->h[1], f->srq.slot, 0);
	assert_int_equal(t_srq_limit(&f->srq, 1), VHCA_ST_BAD_STATE);
	t_expect_event(&f->h[1], VHCA_EV_SRQ_ERR, f->srq.srqn);
	t_expect_no_event(&f->h[1]);
	refused_now(f);
	/* a valid count is too late now */
	t_set_rec(&f->h[1], f->srq.slot, 2);
	send(f, 0, LEN);
	t_expect_event(&f->h[1], VHCA_EV_QP_FATAL, f->b[0].qpn);
	t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->b[0].qpn);
}

/* A ring whose list names pages that are not mapped any more. */
static void ring_gone(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	u64 list = t_alloc(h, 4096);
	__le64 *page = t_cpu(h, list);
	struct vhca_resize_srq_hw_req req = {
		.buf = { .addr = htole64(list), .npages = htole32(1), .page_shift = 12,
			 .levels = 1 },
		.srqn = htole32(f->srq.srqn), .log_strides = LOG,
	};

	page[0] = htole64(t_alloc(h, 4096));
	f->srq.ring = t_cpu(h, le64toh(page[0]));
	assert_int_equal(t_admin(h, VHCA_CMD_RESIZE_SRQ, &req, sizeof(req), NULL), VHCA_ST_OK);
	post(f, 0);
	page[0] = htole64(0x1000);
	send(f, 9, LEN);
	failed(f, 9);
	assert_int_equal(t_srq_taken(&f->srq), 0);
}

/* Its records are in two pages, and the one that the device writes is revoked. */
static void record_gone(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	const u64 far = 1ull << 40;
	struct vhca_add_db_page_req add = {
		.uar = htole32(h->uar), .page = htole32(1), .db_page = htole64(far),
	};
	u32 next = h->next_slot;
	struct vhca_db_page *page = testmem_add(h->mem, far, VHCA_DB_PAGE_SIZE);
	struct vhca_create_srq_hw_req req = {
		.buf.addr = htole64(t_alloc(h, 4096)), .pdn = htole32(h->pd),
		.uar = htole32(h->uar), .db_slot = htole32(VHCA_DB_SLOTS - 1),
		.log_strides = 2, .log_stride = 5,
	};
	struct tsrq srq = {
		.h = h, .slot = VHCA_DB_SLOTS - 1, .log = 2, .log_stride = 5,
		.ring = t_cpu(h, le64toh(req.buf.addr)),
	};
	struct twr wr = { .opcode = VHCA_OP_SEND };
	struct tqp a, b;

	assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &add, sizeof(add), NULL), VHCA_ST_OK);
	page->rec[0] = 7;
	srq.srqn = t_create(h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req));
	assert_int_equal(page->rec[0], 0);
	h->next_slot = next;
	t_qp_init_srq(h, &b, &f->cq[1], &f->cq[1], &srq);
	t_qp_init(&f->h[0], &a, &f->cq[0], &f->cq[0]);
	t_connect(&a, &b, 3, 100, 9000);
	t_srq_write(&srq, 0, 5, 0, NULL);
	t_srq_write(&srq, 1, 6, 0, NULL);
	t_set_rec(h, srq.slot, 2);
	t_send(&a, &wr);
	t_expect_cqe(&f->cq[1], 5, VHCA_CS_SUCCESS);
	assert_int_equal(page->rec[0], 1);
	/* without the record to write to, no receive is given out */
	assert_int_equal(gmem_unmap(h->mem, far, VHCA_DB_PAGE_SIZE), 0);
	t_send(&a, &wr);
	t_expect_event(h, VHCA_EV_SRQ_ERR, srq.srqn);
	t_expect_event(h, VHCA_EV_QP_FATAL, b.qpn);
	t_expect_event(h, VHCA_EV_LAST_WQE, b.qpn);
	t_expect_no_cqe(&f->cq[1]);
	testmem_drop(page, VHCA_DB_PAGE_SIZE);
}

/* An invalid entry fails the QP that takes it, and no other. */
static void hostile_entries(void **state)
{
	struct fixture *f = *state;
	u32 pair = 0;

	for (u32 kind = 0; kind < 5; kind++, pair++) {
		struct vhca_rwqe *r = (void *)(f->srq.ring +
					       ((f->srq.posted & ((1u << LOG) - 1)) << 7));

		post(f, 40 + kind);
		switch (kind) {
		case 0:
			r->index = htole32(f->srq.posted);
			break;
		case 1:
			r->nsge = 33;
			break;
		case 2:
			r->nsge = 8;	/* seven fit */
			break;
		case 3:
			r->rsvd[2] = 1;
			break;
		case 4:
			memset(r, 0xff, 128);
			r->wr_id = htole64(44);
			break;
		}
		post(f, kind);
		send(f, pair, LEN);
		t_expect_cqe(&f->cq[0], pair, VHCA_CS_REM_OP_ERR);
		t_expect_cqe(&f->cq[1], 40 + kind, VHCA_CS_LOC_QP_OP_ERR);
		t_expect_event(&f->h[1], VHCA_EV_LAST_WQE, f->b[pair].qpn);
		send(f, 15, LEN);
		arrived(f, 15, kind);
		t_expect_cqe(&f->cq[0], 15, VHCA_CS_SUCCESS);
	}
	t_expect_no_event(&f->h[1]);
	assert_int_equal(le32toh(query(f).left), 0);
}

/* ---- the end of a QP, an SRQ, a device, with a receive taken ---- */

static u32 destroy_srq(struct fixture *f)
{
	return t_destroy(&f->h[1], VHCA_CMD_DESTROY_SRQ, f->srq.srqn);
}

static void reset_with_taken(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	struct vdev_status st;

	for (u32 i = 0; i < 4; i++)
		post(f, i);
	/* a QP that is reset, or destroyed, drops the receive; the next QP gets the next one */
	send_half(f, 0);
	send_half(f, 1);
	assert_int_equal(t_to(&f->b[0], T_RESET), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, f->b[1].qpn), VHCA_ST_OK);
	send_rest(f);
	t_expect_no_cqe(&f->cq[1]);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
	send(f, 2, LEN);
	arrived(f, 2, 2);
	/* connected again it takes one as usual */
	assert_int_equal(t_to(&f->a[0], T_RESET), VHCA_ST_OK);
	f->a[0].sq_prod = 0;
	t_set_rec(&f->h[0], f->a[0].slot, 0);
	t_connect(&f->a[0], &f->b[0], 3, 100, 9000);
	send(f, 0, LEN);
	arrived(f, 0, 3);
	t_expect_no_event(h);

	/* the whole device */
	post(f, 4);
	send_half(f, 3);
	vdev_status(h->dev, &st);
	assert_int_equal(st.srqs, 1);
	vdev_reset(h->dev);
	vdev_status(h->dev, &st);
	assert_int_equal(st.srqs + st.qps + st.pds + st.uars, 0);
	send_rest(f);
}

static void busy(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->h[1];
	struct tsrq again;

	assert_int_equal(destroy_srq(f), VHCA_ST_BUSY);
	for (u32 i = 0; i < PAIRS; i++) {
		assert_int_equal(destroy_srq(f), VHCA_ST_BUSY);
		assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, f->b[i].qpn), VHCA_ST_OK);
	}
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, f->dst.key), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), VHCA_ST_BUSY);
	assert_int_equal(destroy_srq(f), VHCA_ST_OK);
	assert_int_equal(destroy_srq(f), VHCA_ST_BAD_HANDLE);
	/* its number, its slots and an unreported event are free again */
	h->next_slot = f->srq.slot;
	t_set_rec(h, f->srq.slot, 0);
	t_set_rec(h, f->srq.slot + 1, 0xabcdef);
	t_srq_init(h, &again, 2, 5);
	assert_int_equal(again.slot, f->srq.slot);
	assert_int_equal(again.srqn, f->srq.srqn);
	assert_int_equal(t_srq_taken(&again), 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_SRQ, again.srqn), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, h->pd), VHCA_ST_OK);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(last_wqe),
		TEST(unreliable),
		TEST(absurd_record),
		TEST(count_goes_back),
		TEST(ring_gone),
		TEST(record_gone),
		TEST(hostile_entries),
		TEST(reset_with_taken),
		TEST(busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
