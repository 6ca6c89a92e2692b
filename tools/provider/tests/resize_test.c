// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CQs that are resized, with entries before and behind the one
 * that the device goes on with; and their other features.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

#define MAX_LOG	4

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static uint64_t made, got;	/* completions */

static const struct ibv_qp_cap cap = { .max_send_wr = 256, .max_send_sge = 1 };

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 8);
	qp = fake_make_qp(ctx, cq, cq, &cap, 0);
	made = 0;
	got = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_end(ctx, cq, qp);
	return 0;
}

static int resize(int cqe)
{
	return fake_ops()->resize_cq(cq, cqe);
}

/* Posts and completes one more send, whose wr_id is its number. */
static void complete(struct ibv_cq *to)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	made++;
	fake_complete(to, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32((uint32_t)made),
		.wr_id = htole64(made),
	});
}

/* Polls @num completions, which must come in order. */
static void take(uint64_t num)
{
	struct ibv_wc wc;

	while (num--) {
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
		assert_true(wc.wr_id == ++got);
		assert_int_equal(wc.qp_num, qp->qp_num);
	}
}

static void take_all(void)
{
	struct ibv_wc wc;

	take(made - got);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	assert_true(fake_rec(fake_cq(cq)->slot) == fake_cq(cq)->prod);
}

/* ---- every fill, size and place ---- */

static uint32_t early, late;	/* completions before and after the device has left */

static void resizing(struct ibv_cq *of, bool left)
{
	uint32_t n = left ? late : early;

	while (n--)
		complete(of);
}

/* Resizes with the consumer at some place of the ring, and entries before and behind the move. */
static void move(uint8_t from, uint8_t to, uint32_t place, uint32_t fill)
{
	bool fits = fill + early <= ring_size(to);

	fake_cq(cq)->resizing = NULL;
	assert_int_equal(resize(ring_size(from)), 0);
	for (uint32_t i = 0; i < place; i++) {
		complete(cq);
		take(1);
	}
	for (uint32_t i = 0; i < fill; i++)
		complete(cq);
	fake_cq(cq)->resizing = resizing;
	assert_int_equal(resize(ring_size(to)), fits ? 0 : EINVAL);
	assert_int_equal(cq->cqe, ring_size(fits ? to : from));
	fake_cq(cq)->resizing = NULL;
	/* the CQ works on from there, up to the last place */
	for (uint32_t i = made - got; i < ring_size(fits ? to : from); i++)
		complete(cq);
	take_all();
}

/* With up to two entries on each side of the move, and with as many as fit behind it. */
static void move_at(uint8_t from, uint8_t to, uint32_t place, uint32_t fill)
{
	uint32_t room;

	for (early = 0; early <= 2 && fill + early <= ring_size(from); early++) {
		room = fill + early < ring_size(to) ? ring_size(to) - fill - early : 0;
		for (late = 0; late <= 2 && late <= room; late++)
			move(from, to, place, fill);
		if (late <= room) {
			late = room;
			move(from, to, place, fill);
		}
	}
}

static void every_fill_moves(void **state)
{
	(void)state;
	for (uint8_t from = 0; from <= MAX_LOG; from++)
		for (uint8_t to = 0; to <= MAX_LOG; to++)
			for (uint32_t place = 0; place < 2 * ring_size(from);
			     place += 1 + place / 4)
				for (uint32_t fill = 0; fill <= ring_size(from); fill++)
					move_at(from, to, place, fill);
	assert_int_equal(fake_logged, 0);
}

/* The device tells the count of the next entry by its lower 32 bits. */
static void a_move_where_32_bits_end(void **state)
{
	struct vhca_cq *vcq = to_vhca_cq(cq);
	const uint64_t base = UINT64_C(0x100000000) - 3;
	uint32_t slot = fake_cq(cq)->slot;

	(void)state;
	/* as after polling that many entries */
	vcq->cons = base;
	fake_cq(cq)->prod = base;
	shared_write64(&fake_page(slot)->rec[slot % VHCA_DB_SLOTS], base);
	for (uint64_t count = base; count < base + 8; count++)
		vhca_cqe_at(vcq, count)->owner = count >> vcq->log & 1;
	for (uint32_t i = 0; i < 6; i++)
		complete(cq);
	assert_int_equal(resize(64), 0);
	assert_true(vcq->cons == base);
	for (uint32_t i = 0; i < 10; i++)
		complete(cq);
	take_all();
	assert_true(vcq->cons == base + 16);
	assert_int_equal(resize(2), 0);
	complete(cq);
	take_all();
	assert_int_equal(fake_logged, 0);
}

/* ---- refusals ---- */

static void a_refused_move_changes_nothing(void **state)
{
	struct vhca_create_cq_req before;

	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		complete(cq);
	take(2);
	before = fake_cq(cq)->req;
	fake_err[FAKE_RESIZE_CQ] = EACCES;
	assert_int_equal(resize(100), EACCES);
	fake_err[FAKE_RESIZE_CQ] = 0;
	fake_err[FAKE_DONTFORK] = EINVAL;
	assert_int_equal(resize(100), EINVAL);
	fake_err[FAKE_DONTFORK] = 0;
	assert_int_equal(resize(2), EINVAL);		/* three wait */
	assert_int_equal(resize(0), EINVAL);
	assert_int_equal(resize(-1), EINVAL);
	assert_int_equal(resize(INT32_MIN), EINVAL);
	assert_int_equal(resize(INT32_MAX), EINVAL);
	assert_memory_equal(&before, &fake_cq(cq)->req, sizeof(before));
	assert_int_equal(cq->cqe, 8);
	for (unsigned int i = 0; i < 5; i++)
		complete(cq);
	take_all();
	assert_int_equal(resize(2), 0);
	assert_int_equal(fake_logged, 0);
}

/* Entries that the device cannot have written are not read; those that it has are not lost. */
static void nonsense_of_the_device(void **state)
{
	static const int32_t lies[] = { 1, 100, 1 << 20, INT32_MAX, INT32_MIN, -4, -5 };
	struct ibv_wc wc[8];

	(void)state;
	for (unsigned int i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		for (unsigned int n = 0; n < 3; n++)
			complete(cq);
		fake_cq(cq)->lie = lies[i];
		assert_int_equal(resize(i % 2 ? 8 : 4), EPROTO);
		assert_int_equal(fake_logged, i + 1);
		take_all();
	}
	/* fewer than it has written: only the others are lost */
	for (unsigned int n = 0; n < 3; n++)
		complete(cq);
	fake_cq(cq)->lie = -1;
	assert_int_equal(resize(16), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 8, wc), 2);
	assert_int_equal(fake_ops()->poll_cq(cq, 8, wc), 0);
}

/* ---- other functions of a CQ, before and after a resize ---- */

static void qps_and_arming_go_on(void **state)
{
	struct ibv_qp *other = fake_make_qp(ctx, cq, cq, &cap, 0);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	uint32_t slot = fake_cq(cq)->slot;
	uint64_t armed;

	(void)state;
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	armed = fake_rec(slot + 1);
	for (uint32_t i = 0; i < 3; i++) {
		complete(cq);
		assert_int_equal(fake_ops()->post_send(other, &wr, &bad), 0);
		fake_complete(cq, (struct vhca_cqe) {
			.qpn = htole32(other->qp_num), .wqe_index = htole32(i + 1),
		});
		assert_int_equal(resize(i % 2 ? 8 : 32), 0);
	}
	assert_true(fake_rec(slot + 1) == armed);
	/* completions of a destroyed QP are dropped from both rings */
	assert_int_equal(fake_ops()->destroy_qp(other), 0);
	take_all();
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	assert_true(fake_rec(slot + 1) != armed);
	assert_int_equal(fake_logged, 0);
}

static void moderation_is_the_kernels(void **state)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 12, .cq_period = 345 },
	};

	(void)state;
	assert_int_equal(fake_ops()->modify_cq(cq, &attr), 0);
	assert_int_equal(fake_cq(cq)->moderation.cq_count, 12);
	assert_int_equal(fake_cq(cq)->moderation.cq_period, 345);
	fake_err[FAKE_MODIFY_CQ] = EOPNOTSUPP;
	assert_int_equal(fake_ops()->modify_cq(cq, &attr), EOPNOTSUPP);
}

static void flags_are_taken(void **state)
{
	static const uint32_t flags[] = {
		IBV_CREATE_CQ_ATTR_SINGLE_THREADED, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
		IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};
	struct ibv_cq *of;

	(void)state;
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct ibv_cq_ex *ex;

		attr.flags = flags[i];
		ex = fake_ops()->create_cq_ex(&ctx->vctx.context, &attr);
		assert_non_null(ex);
		of = ibv_cq_ex_to_cq(ex);
		assert_int_equal(fake_cq(of)->flags, flags[i]);
		assert_int_equal(fake_ops()->resize_cq(of, 8), 0);
		assert_int_equal(fake_ops()->destroy_cq(of), 0);
	}
}

/* ---- a device, a poller and a program that resizes at the same time ---- */

#define COMPLETIONS	40000

static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool stop;

/* The device works on during a resize: it completes before and after the move. */
static void busy(struct ibv_cq *of, bool left)
{
	(void)left;
	if (made < COMPLETIONS &&
	    fake_cq(of)->prod - fake_rec(fake_cq(of)->slot) < 1U << fake_cq(of)->req.log_cqe)
		complete(of);
}

static void *device_main(void *arg)
{
	(void)arg;
	while (!stop) {
		bool done;

		pthread_mutex_lock(&device);
		busy(cq, false);
		done = made == COMPLETIONS;
		pthread_mutex_unlock(&device);
		if (done)
			break;
		sched_yield();
	}
	return NULL;
}

static void *poller_main(void *arg)
{
	struct ibv_wc wc[4];
	int n;

	while (!stop && got < COMPLETIONS) {
		n = fake_ops()->poll_cq(cq, 4, wc);
		for (int i = 0; i < n; i++) {
			if (wc[i].wr_id != ++got) {
				stop = true;
				return arg;
			}
		}
		if (!n)
			sched_yield();
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	pthread_t device_thread, poller;
	unsigned int moved = 0;
	void *ret;
	int err = 0;

	(void)state;
	stop = false;
	fake_cq(cq)->resizing = busy;
	assert_int_equal(pthread_create(&device_thread, NULL, device_main, NULL), 0);
	assert_int_equal(pthread_create(&poller, NULL, poller_main, cq), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&device);
		err = resize(1 << i * 5 % 7);
		pthread_mutex_unlock(&device);
		moved += !err;
		if (err && err != EINVAL)
			break;
		sched_yield();
	}
	stop = stop || (err && err != EINVAL);
	pthread_join(device_thread, NULL);
	pthread_join(poller, &ret);
	assert_null(ret);
	assert_false(stop);
	assert_true(got == COMPLETIONS);
	assert_true(moved > 0);
	print_message("# %u moves\n", moved);
	assert_int_equal(fake_logged, 0);
	fake_cq(cq)->resizing = NULL;
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_fill_moves),
		TEST(a_move_where_32_bits_end),
		TEST(a_refused_move_changes_nothing),
		TEST(nonsense_of_the_device),
		TEST(qps_and_arming_go_on),
		TEST(moderation_is_the_kernels),
		TEST(flags_are_taken),
		TEST(threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
