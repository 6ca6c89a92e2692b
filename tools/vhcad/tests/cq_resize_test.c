// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues that are resized: no entry is lost or comes twice, and the CQ stays armed.
 */
#include <pthread.h>
#include <string.h>

#include "res/dev.h"
#include "res/cq.h"
#include "tests/testmem.h"
#include "tests/thca.h"

#define CQ_FIELD(f)	(offsetof(struct vhca_asqe, req) + \
			 offsetof(struct vhca_resize_cq_hw_req, f))

/* One QP that completes NOPs, with wr_ids that count, in one CQ. */
struct fixture {
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;
	u64 sent, polled;
};

static void make(struct fixture *f, u32 log, u8 flags)
{
	memset(f, 0, sizeof(*f));
	t_world_init(&f->w);
	t_hca_init(&f->h, &f->w, 0x100);
	t_cq_init(&f->h, &f->cq, log, flags);
	t_qp_init(&f->h, &f->qp, &f->cq, &f->cq);
	t_connect(&f->qp, &f->qp, 3, 1, 1);
}

static int setup(void **state)
{
	static struct fixture f;

	make(&f, 4, 0);
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

static void complete(struct fixture *f, u32 n)
{
	while (n--) {
		struct twr nop = { .opcode = VHCA_OP_NOP, .wr_id = f->sent++ };

		t_send(&f->qp, &nop);
	}
}

static void take(struct fixture *f, u32 n)
{
	while (n--)
		t_expect_cqe(&f->cq, f->polled++, VHCA_CS_SUCCESS);
}

static void take_all(struct fixture *f)
{
	take(f, f->sent - f->polled);
	t_expect_no_cqe(&f->cq);
}

/* Every fill, at every position in the lap, to smaller and larger rings. */
static void everywhere(struct fixture *f)
{
	static const u8 logs[] = { 5, 3, 6, 2, 4, 0, 1, 4 };
	u32 k = 0, refused = 0;

	for (u32 round = 0; round < 400; round++) {
		u64 used = f->h.ram_used;
		u32 room = (1u << f->cq.log) - (f->sent - f->polled);
		u32 log = logs[k++ % ARRAY_SIZE(logs)], st;

		complete(f, (round * 7) % (room / (1 + round % 4) + 1));
		st = t_cq_resize(&f->cq, log);
		if (f->sent - f->polled > 1u << log) {
			assert_int_equal(st, VHCA_ST_BAD_STATE);
			assert_int_equal(f->h.bad_field, CQ_FIELD(log_cqe));
			f->h.ram_used = used;
			refused++;
			take(f, (f->sent - f->polled) / 2 + 1);
			continue;
		}
		assert_int_equal(st, VHCA_ST_OK);
		take(f, (round * 5) % (f->sent - f->polled + 1));
	}
	assert_true(refused > 100 && refused < 300);
	take_all(f);
	t_expect_no_event(&f->h);
}

static void from_the_beginning(void **state)
{
	everywhere(*state);
}

/* An even lap of every ring here: a cleared entry is not valid in it. */
#define START	0xfffffe00u

/* The device's count has 32 bits and wraps, the consumer's has more. */
static void across_the_wrap(void **state)
{
	struct fixture *f = *state;
	struct vcq *v = table_get(&f->h.dev->cqs, f->cq.cqn);

	v->pi = START;
	v->ci = START;
	f->cq.ci = START;
	t_set_rec(&f->h, f->cq.slot, START);
	everywhere(f);
	assert_true((u32)f->cq.ci < START);
}

/* The new size is the one that can overrun. */
static void full_is_full(void **state)
{
	struct fixture *f = *state;

	complete(f, 4);
	assert_int_equal(t_cq_resize(&f->cq, 2), VHCA_ST_OK);
	take(f, 2);
	complete(f, 2);
	assert_int_equal(t_cq_resize(&f->cq, 3), VHCA_ST_OK);
	complete(f, 4);
	t_expect_no_event(&f->h);
	complete(f, 1);
	t_expect_event(&f->h, VHCA_EV_CQ_ERR, f->cq.cqn);
	t_expect_event(&f->h, VHCA_EV_QP_FATAL, f->qp.qpn);
	/* a failed CQ is not resized, and keeps its entries */
	assert_int_equal(t_cq_resize(&f->cq, 5), VHCA_ST_BAD_STATE);
	assert_int_equal(f->h.bad_field, CQ_FIELD(cqn));
	take(f, 8);
	t_expect_no_cqe(&f->cq);
	t_expect_no_event(&f->h);
}

static bool event(struct fixture *f)
{
	struct vhca_eqe e;

	t_poll(&f->w);
	if (!t_eq_get(&f->h, &f->h.comp, &e))
		return false;
	assert_int_equal(e.event, VHCA_EV_COMPLETION);
	return true;
}

static void arming(void **state)
{
	struct fixture *f = *state;

	/* armed in the old ring, the event comes in the new one */
	complete(f, 3);
	take_all(f);
	t_cq_arm(&f->cq, false);
	assert_int_equal(t_cq_resize(&f->cq, 6), VHCA_ST_OK);
	assert_false(event(f));
	complete(f, 1);
	assert_true(event(f));
	/* the event was posted before, and is not repeated */
	assert_int_equal(t_cq_resize(&f->cq, 2), VHCA_ST_OK);
	complete(f, 1);
	assert_false(event(f));
	take_all(f);
	/* an event that waits for more entries goes on waiting */
	assert_int_equal(t_cq_moderate(&f->cq, 3, 100), VHCA_ST_OK);
	t_cq_arm(&f->cq, false);
	complete(f, 2);
	assert_false(event(f));
	assert_int_equal(t_cq_resize(&f->cq, 5), VHCA_ST_OK);
	assert_false(event(f));
	complete(f, 1);
	assert_true(event(f));
	take_all(f);
}

/* A consumer count that is impossible, or that cannot be read. */
static void consumer(void **state)
{
	struct fixture *f = *state;
	const u64 far = 1ull << 40;
	struct vhca_resize_cq_hw_req req = {
		.buf.addr = htole64(t_alloc(&f->h, 4096)), .cqn = htole32(f->cq.cqn), .log_cqe = 6,
	};
	struct vhca_create_cq_hw_req make_cq = {
		.buf.addr = htole64(t_alloc(&f->h, 4096)), .eqn = htole32(f->h.comp.eqn),
		.log_cqe = 2,
	};
	struct vhca_open_uar_req open = { .db_page = htole64(far) };
	void *page;

	complete(f, 3);
	t_set_rec(&f->h, f->cq.slot, 4);
	assert_int_equal(t_admin(&f->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_STATE);
	assert_int_equal(f->h.bad_field, CQ_FIELD(log_cqe));
	t_set_rec(&f->h, f->cq.slot, 0);
	t_expect_no_event(&f->h);
	assert_int_equal(t_cq_resize(&f->cq, 5), VHCA_ST_OK);
	take_all(f);

	page = testmem_add(f->h.mem, far, 4096);
	make_cq.uar = htole32(t_create(&f->h, VHCA_CMD_OPEN_UAR, &open, sizeof(open)));
	req.cqn = htole32(t_create(&f->h, VHCA_CMD_CREATE_CQ, &make_cq, sizeof(make_cq)));
	assert_int_equal(gmem_unmap(f->h.mem, far, 4096), 0);
	assert_int_equal(t_admin(&f->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_STATE);
	assert_int_equal(f->h.bad_field, CQ_FIELD(cqn));
	t_expect_event(&f->h, VHCA_EV_CQ_ERR, le32toh(req.cqn));
	assert_int_equal(t_admin(&f->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_STATE);
	t_expect_no_event(&f->h);
	testmem_drop(page, 4096);
}

/* If overruns are ignored, overwritten entries cannot be copied. */
static void overrun_ignored(void **state)
{
	struct fixture f;

	make(&f, 2, VHCA_CQ_IGNORE_OVERRUN);
	complete(&f, 4);
	assert_int_equal(t_cq_resize(&f.cq, 1), VHCA_ST_BAD_STATE);
	complete(&f, 1);
	assert_int_equal(t_cq_resize(&f.cq, 4), VHCA_ST_BAD_STATE);
	/* a consumer that gives them up may go on in the new ring */
	f.cq.ci = 2;
	f.polled = 2;
	assert_int_equal(t_cq_resize(&f.cq, 3), VHCA_ST_OK);
	take_all(&f);
	t_hca_fini(&f.h);
	t_world_fini(&f.w);
}

/* The old ring may be freed, and the new ring may consist of pages. */
static void into_pages(void **state)
{
	struct fixture *f = *state;
	const u64 far = 1ull << 40;
	void *ram = testmem_add(f->h.mem, far, 8192);
	u64 list = t_alloc(&f->h, 4096), back = t_alloc(&f->h, 4096);
	struct vhca_resize_cq_hw_req req = {
		.buf = { .addr = htole64(list), .npages = htole32(2), .page_shift = 12,
			 .levels = 1, .offset = htole64(64) },
		.cqn = htole32(f->cq.cqn), .log_cqe = 6,
	};
	struct vhca_cqe *old = f->cq.ring;
	__le64 *page = t_cpu(&f->h, list);

	page[0] = htole64(far + 4096);
	page[1] = htole64(far);
	assert_int_equal(t_admin(&f->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), NULL), VHCA_ST_OK);
	f->cq.log = 6;
	complete(f, 64);
	/* entry 0 is 64 bytes into the first page, entry 63 begins the second */
	for (u32 i = 0; i < 64; i++) {
		struct vhca_cqe *e = (void *)((u8 *)ram + (i < 63 ? 4096 + 64 + i * 64 : 0));

		assert_int_equal(le64toh(e->wr_id), i);
	}
	f->cq.ci = 64;
	f->polled = 64;
	t_set_rec(&f->h, f->cq.slot, 64);
	req = (struct vhca_resize_cq_hw_req){
		.buf.addr = htole64(back), .cqn = req.cqn, .log_cqe = 4,
	};
	f->cq.ring = t_cpu(&f->h, back);
	f->cq.log = 4;
	assert_int_equal(t_admin(&f->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), NULL), VHCA_ST_OK);
	assert_int_equal(gmem_unmap(f->h.mem, far, 8192), 0);
	complete(f, 16);
	take_all(f);
	t_expect_no_event(&f->h);
	assert_int_equal(old[0].owner, 0);
	testmem_drop(ram, 8192);
}

/* ---- while completions arrive ---- */

#define MANY	20000u

static void *engine_thread(void *arg)
{
	engine_run(arg);
	return NULL;
}

static void under_way(void **state)
{
	static const u8 logs[] = { 7, 5, 8, 4, 6 };
	struct fixture f = { 0 };
	u32 resized = 0;
	struct vhca_cqe e;
	u64 place[2];
	pthread_t thread;

	t_world_init_threaded(&f.w);
	f.w.threaded = false;	/* not yet */
	t_hca_init(&f.h, &f.w, 0x100);
	t_cq_init(&f.h, &f.cq, 6, 0);
	t_qp_init(&f.h, &f.qp, &f.cq, &f.cq);
	t_connect(&f.qp, &f.qp, 3, 1, 1);
	place[0] = f.h.ram_used;
	place[1] = place[0] + (sizeof(e) << 8);
	f.w.threaded = true;
	assert_int_equal(pthread_create(&thread, NULL, engine_thread, f.w.engine), 0);
	while (f.polled < MANY) {
		/* no more than the smallest ring takes, so that none is overrun */
		while (f.sent < MANY && f.sent - f.polled < 16) {
			struct twr nop = { .opcode = VHCA_OP_NOP, .wr_id = f.sent++ };

			t_post(&f.qp, &nop);
		}
		t_ring_sq(&f.qp);
		for (u32 i = 0; i < 5 && t_cq_poll(&f.cq, &e); i++) {
			assert_int_equal(le64toh(e.wr_id), f.polled);
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
			f.polled++;
		}
		if (f.polled % 64 > 8)
			continue;
		/* two places are enough: the ring before is not used any more */
		f.h.ram_used = place[resized % 2];
		assert_int_equal(t_cq_resize(&f.cq, logs[resized % ARRAY_SIZE(logs)]), VHCA_ST_OK);
		resized++;
	}
	engine_stop(f.w.engine);
	pthread_join(thread, NULL);
	f.w.threaded = false;
	assert_true(resized > 100);
	t_expect_no_cqe(&f.cq);
	t_expect_no_event(&f.h);
	t_hca_fini(&f.h);
	t_world_fini(&f.w);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(from_the_beginning), TEST(across_the_wrap), TEST(full_is_full),
		TEST(arming), TEST(consumer),
		cmocka_unit_test(overrun_ignored), TEST(into_pages), cmocka_unit_test(under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
