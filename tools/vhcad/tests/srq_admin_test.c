// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands of SRQs and those that change CQs: what is refused, with which
 * status, and which field is named.
 */
#include "tests/spoil.h"
#include "tests/testmem.h"
#include "tests/thca.h"

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

struct fixture {
	struct tworld w;
	struct thca h;
	struct tcq cq;
};

static int setup(void **state)
{
	static struct fixture f;

	t_world_init(&f.w);
	t_hca_init(&f.h, &f.w, 0xabc00);
	t_cq_init(&f.h, &f.cq, 4, 0);
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

/* The commands that change a CQ. */
static void cq_changes(void **state)
{
	struct fixture *f = *state;
	u64 ring = t_alloc(&f->h, 8192);
	struct vhca_resize_cq_hw_req res = {
		.buf.addr = htole64(ring), .cqn = htole32(f->cq.cqn), .log_cqe = 7,
	};
	const struct spoilt r[] = {
		{ F(vhca_resize_cq_hw_req, cqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_resize_cq_hw_req, log_cqe), 23, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_cq_hw_req, rsvd[0]), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_cq_hw_req, rsvd[2]), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_cq_hw_req, buf.addr), ring + 32, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_cq_hw_req, buf.addr), 4096, VHCA_ST_BAD_ADDRESS, 0 },
		{ F(vhca_resize_cq_hw_req, buf.levels), 3, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_cq_hw_req, buf.npages), 1, VHCA_ST_BAD_FIELD, 0 },
	};
	struct vhca_modify_cq_req mod = {
		.cqn = htole32(f->cq.cqn), .count = htole16(9), .period = htole16(9),
	};
	const struct spoilt m[] = {
		{ F(vhca_modify_cq_req, cqn), 77, VHCA_ST_BAD_HANDLE, 0 },
	};

	spoil_each(&f->h, VHCA_CMD_RESIZE_CQ, &res, sizeof(res), r, ARRAY_SIZE(r));
	spoil_each(&f->h, VHCA_CMD_MODIFY_CQ, &mod, sizeof(mod), m, ARRAY_SIZE(m));
}

static void srq_fields(void **state)
{
	struct fixture *f = *state;
	u64 ring = t_alloc(&f->h, 8192);
	struct vhca_create_srq_hw_req req = {
		.buf.addr = htole64(ring), .pdn = htole32(f->h.pd), .uar = htole32(f->h.uar),
		.db_slot = htole32(100), .log_strides = 6, .log_stride = 7,
	};
	const struct spoilt s[] = {
		{ F(vhca_create_srq_hw_req, pdn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_srq_hw_req, uar), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_srq_hw_req, db_slot), 480, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, db_slot), 479, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, db_slot), f->cq.slot, VHCA_ST_BUSY, 0 },
		{ F(vhca_create_srq_hw_req, log_strides), 17, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, log_strides), VHCA_NO_QUEUE, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, log_stride), 4, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, log_stride), 11, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, rsvd), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, buf.addr), ring + 64, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_srq_hw_req, buf.addr), 4096, VHCA_ST_BAD_ADDRESS, 0 },
	};
	struct vhca_modify_srq_hw_req mod = { .limit = htole32(3) };
	const struct spoilt m[] = {
		{ F(vhca_modify_srq_hw_req, srqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_modify_srq_hw_req, limit), 65, VHCA_ST_BAD_FIELD, 0 },
	};
	struct vhca_resize_srq_hw_req res = { .buf.addr = htole64(ring), .log_strides = 5 };
	const struct spoilt r[] = {
		{ F(vhca_resize_srq_hw_req, srqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_resize_srq_hw_req, log_strides), 17, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_srq_hw_req, rsvd[0]), 1, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_srq_hw_req, buf.addr), ring + 64, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_resize_srq_hw_req, buf.addr), 4096, VHCA_ST_BAD_ADDRESS, 0 },
		{ F(vhca_resize_srq_hw_req, buf.npages), 1, VHCA_ST_BAD_FIELD, 0 },
	};
	struct vhca_create_qp_hw_req qp = {
		.sq.addr = htole64(t_alloc(&f->h, 4096)), .pdn = htole32(f->h.pd),
		.uar = htole32(f->h.uar), .db_slot = htole32(200),
		.send_cqn = htole32(f->cq.cqn), .recv_cqn = htole32(f->cq.cqn),
		.type = VHCA_QPT_RC, .flags = VHCA_QP_SRQ, .log_sq_blocks = 6,
		.log_rq_strides = VHCA_NO_QUEUE,
	};
	const struct spoilt q[] = {
		{ F(vhca_create_qp_hw_req, srqn), 77, VHCA_ST_BAD_HANDLE, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_strides), 6, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, log_rq_stride), 6, VHCA_ST_BAD_FIELD, 0 },
		{ F(vhca_create_qp_hw_req, rq.addr), 4096, VHCA_ST_BAD_FIELD,
		  offsetof(struct vhca_create_qp_hw_req, rq.addr) + 1 },
	};
	struct tsrq srq;

	spoil_each(&f->h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req), s, ARRAY_SIZE(s));
	t_srq_init(&f->h, &srq, 6, 7);
	mod.srqn = res.srqn = qp.srqn = htole32(srq.srqn);
	spoil_each(&f->h, VHCA_CMD_MODIFY_SRQ, &mod, sizeof(mod), m, ARRAY_SIZE(m));
	spoil_each(&f->h, VHCA_CMD_RESIZE_SRQ, &res, sizeof(res), r, ARRAY_SIZE(r));
	spoil_each(&f->h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp), q, ARRAY_SIZE(q));
}

/* Records in a page that was revoked, and a second SRQ at the limit of one. */
static void srq_resources(void **state)
{
	const struct vdev_config one = {
		.name = "s", .ports = 1, .vectors = 4, .limit[VLIM_SRQS] = 1,
	};
	const u64 far = 1ull << 40;
	struct vhca_open_uar_req open = { .db_page = htole64(far) };
	struct vhca_create_srq_hw_req req = { .log_strides = 3, .log_stride = 5 };
	struct tworld w;
	struct thca h;
	struct tcq cq;
	void *page;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &one);
	page = testmem_add(h.mem, far, 4096);
	req.buf.addr = htole64(t_alloc(&h, 4096));
	req.pdn = htole32(h.pd);
	req.uar = htole32(t_create(&h, VHCA_CMD_OPEN_UAR, &open, sizeof(open)));
	assert_int_equal(gmem_unmap(h.mem, far, 4096), 0);
	refused(&h, t_admin(&h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req), NULL),
		VHCA_ST_BAD_ADDRESS, REQ_OFF(vhca_create_srq_hw_req, db_slot));
	testmem_drop(page, 4096);
	page = testmem_add(h.mem, far, 4096);
	assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req), NULL), VHCA_ST_OK);
	req.uar = htole32(h.uar);
	req.db_slot = htole32(h.next_slot);
	assert_int_equal(t_admin(&h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req), NULL),
			 VHCA_ST_NO_RESOURCE);
	assert_int_equal(h.bad_field, VHCA_NO_FIELD);
	/* takes the records that the refused one would have had */
	t_cq_init(&h, &cq, 3, 0);
	assert_int_equal(cq.slot, le32toh(req.db_slot));
	t_hca_fini(&h);
	testmem_drop(page, 4096);
	t_world_fini(&w);
}

/* Commands and flags that need capabilities which are off. */
static void without(void **state)
{
	const struct vdev_config less = {
		.name = "s", .ports = 1, .vectors = 4,
		.caps_off = 1u << VHCA_CAP_SRQ | 1u << VHCA_CAP_CQ_RESIZE |
			    1u << VHCA_CAP_CQ_MODERATION,
	};
	static const u8 ops[] = {
		VHCA_CMD_CREATE_SRQ, VHCA_CMD_DESTROY_SRQ, VHCA_CMD_MODIFY_SRQ,
		VHCA_CMD_RESIZE_SRQ, VHCA_CMD_QUERY_SRQ, VHCA_CMD_RESIZE_CQ,
		VHCA_CMD_MODIFY_CQ,
	};
	struct vhca_create_qp_hw_req qp = { .type = VHCA_QPT_RC, .flags = VHCA_QP_SRQ };
	struct vhca_device_attr d;
	struct tworld w;
	struct thca h;
	struct tcq cq;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &less);
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		refused(&h, t_admin(&h, ops[i], NULL, 0, NULL), VHCA_ST_UNSUPPORTED,
			offsetof(struct vhca_asqe, opcode));
	t_cq_init(&h, &cq, 3, 0);
	qp.pdn = htole32(h.pd);
	qp.uar = htole32(h.uar);
	qp.send_cqn = qp.recv_cqn = htole32(cq.cqn);
	refused(&h, t_admin(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp), NULL), VHCA_ST_UNSUPPORTED,
		REQ_OFF(vhca_create_qp_hw_req, flags));
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
	assert_int_equal(d.max_srqs, 0);
	assert_int_equal(d.max_srq_wr, 0);
	assert_int_equal(d.max_moderation_count, 0);
	assert_int_equal(d.max_moderation_period, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(cq_changes), TEST(srq_fields), cmocka_unit_test(srq_resources),
		cmocka_unit_test(without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
