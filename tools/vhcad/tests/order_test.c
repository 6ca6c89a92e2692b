// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The barriers of the races between device and guest, in every interleaving.
 *
 * With real threads a race is a matter of luck, and a strongly ordered processor hides a missing
 * barrier.  Here the device's side runs against a model
 * of a processor that delays its stores for as long as it may: until a full
 * barrier.  The guest's side, whose own order is right, runs between any
 * two accesses of the device.  Whenever that is, at least one of the two must see the
 * other's stores.
 */
#include <errno.h>

#define ORDER_MODEL
#include "tests/order.h"
#include "tests/thca.h"
#include "res/dev.h"
#include "engine/adapter.h"
#include "qp/srq.h"
#include "qp/wqe.h"
#include "qp/qp.h"

static struct {
	bool on;
	bool lazy;		/* stores wait for a barrier */
	u32 point;		/* accesses so far */
	u32 chosen;		/* the guest runs before this one */
	bool came;
	void (*guest)(void);
	struct {
		struct gmem_ref *ref;
		u32 off;
		u64 val;
		u8 size;
	} store[8];
	u32 nstores;
} model;

/* Delayed stores become visible, in their order. */
static void drain(void)
{
	u32 old;

	for (u32 i = 0; i < model.nstores; i++) {
		if (model.store[i].size == 1)
			assert_int_equal(dma_ref_store8_release(model.store[i].ref,
								model.store[i].off,
								model.store[i].val), 0);
		else if (model.store[i].size == 8)
			assert_int_equal(dma_ref_store64_release(model.store[i].ref,
								 model.store[i].off,
								 model.store[i].val), 0);
		else
			assert_int_equal(dma_ref_xchg32(model.store[i].ref, model.store[i].off,
							model.store[i].val, &old), 0);
	}
	model.nstores = 0;
}

static void access_point(void)
{
	if (!model.on || model.point++ != model.chosen)
		return;
	model.came = true;
	model.on = false;
	model.guest();
	model.on = true;
}

static void delay(struct gmem_ref *ref, u32 off, u64 val, u8 size)
{
	assert_true(model.nstores < ARRAY_SIZE(model.store));
	model.store[model.nstores].ref = ref;
	model.store[model.nstores].off = off;
	model.store[model.nstores].val = val;
	model.store[model.nstores++].size = size;
}

void order_mb(void)
{
	access_point();
	drain();
	dma_mb();
}

int order_read(struct gmem_ref *ref, u32 off, void *dst, u32 len)
{
	access_point();
	return dma_ref_read(ref, off, dst, len);
}

/* A line is many words, and the guest may run between any two of them. */
int order_read_line(struct gmem_ref *ref, u32 off, void *dst)
{
	u64 *word = dst;

	for (u32 i = 0; i < GMEM_LINE; i += sizeof(*word))
		if (order_read(ref, off + i, word++, sizeof(*word)))
			return -EFAULT;
	return 0;
}

int order_load64(struct gmem_ref *ref, u32 off, u64 *val)
{
	access_point();
	return dma_ref_load64_acquire(ref, off, val);
}

int order_store8(struct gmem_ref *ref, u32 off, u8 val)
{
	access_point();
	if (!model.on || !model.lazy)
		return dma_ref_store8_release(ref, off, val);
	delay(ref, off, val, 1);
	return 0;
}

int order_store64(struct gmem_ref *ref, u32 off, u64 val)
{
	access_point();
	if (!model.on || !model.lazy)
		return dma_ref_store64_release(ref, off, val);
	delay(ref, off, val, 8);
	return 0;
}

/* Words before the last one are not read by any processor before the last one is there. */
int order_publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last)
{
	access_point();
	if (!model.on || !model.lazy)
		return dma_ref_publish(ref, off, src, len, last);
	delay(ref, off + len, last, sizeof(last));
	return dma_ref_write(ref, off, src, len);
}

/* Atomic in itself; other processors may see it later than the accesses after it. */
int order_xchg32(struct gmem_ref *ref, u32 off, u32 val, u32 *old)
{
	access_point();
	if (!model.on || !model.lazy)
		return dma_ref_xchg32(ref, off, val, old);
	*old = 0;
	delay(ref, off, val, 4);
	return 0;
}

int order_xchg64(struct gmem_ref *ref, u32 off, u64 val, u64 *old)
{
	access_point();
	return dma_ref_xchg64(ref, off, val, old);
}

static struct tworld w;
static struct thca h;
static struct tcq cq, other;
static struct tsrq srq;
static struct tqp qp[2];

static int setup(void **state)
{
	t_world_init(&w);
	t_hca_init(&h, &w, 0x100);
	t_cq_init(&h, &cq, 4, 0);
	t_cq_init(&h, &other, 4, 0);
	t_srq_init(&h, &srq, 2, 7);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++) {
		t_qp_init(&h, &qp[i], &cq, &cq);
		t_connect(&qp[i], &qp[i], 3, 1, 1);
	}
	t_poll(&w);
	return 0;
}

static int teardown(void **state)
{
	t_hca_fini(&h);
	t_world_fini(&w);
	return 0;
}

/*
 * Runs the guest at every place among the device's accesses, also behind the last,
 * with and without delay; returns the number of places.
 */
static u32 every_interleaving(void (*before)(void), void (*device)(void), void (*guest)(void),
			      void (*after)(void))
{
	u32 places = 0;

	for (u32 lazy = 0; lazy < 2; lazy++) {
		bool last = false;

		for (u32 chosen = 0; !last; chosen++) {
			before();
			model.lazy = lazy;
			model.point = 0;
			model.chosen = chosen;
			model.came = false;
			model.guest = guest;
			model.on = true;
			gmem_enter();
			device();
			last = !model.came;
			if (last)
				guest();
			model.on = false;
			drain();
			gmem_exit();
			after();
			places = MAX(places, chosen + 1);
		}
	}
	return places;
}

static bool saw, told;

/* ---- a completion against the arming of its CQ ---- */

static void nothing(void)
{
	saw = false;
	told = false;
}

static void complete(void)
{
	struct vhca_cqe e = { .wr_id = htole64(5) };

	assert_true(cq_push(table_get(&h.dev->cqs, cq.cqn), &e, false));
	worker_notify(h.dev->adapter.worker);
}

static void arm_and_poll(void)
{
	struct vhca_cqe e;

	t_cq_arm(&cq, false);
	saw = t_cq_poll(&cq, &e);
}

static void cq_result(void)
{
	struct vhca_eqe ev;
	struct vhca_cqe e;

	while (t_eq_get(&h, &h.comp, &ev))
		told = true;
	if (!saw && !told)
		fail_msg("guest before access %u, stores %s: neither completion nor event",
			 model.chosen, model.lazy ? "delayed" : "at once");
	assert_int_equal(t_cq_poll(&cq, &e), !saw);
}

static void completion_and_arm(void **state)
{
	/* at least: the entry's last byte, the barrier, the arm record */
	assert_true(every_interleaving(nothing, complete, arm_and_poll, cq_result) >= 4);
}

/* Another CQ has an entry too: the barrier is for both. */
static void complete_two(void)
{
	struct vhca_cqe e = { .wr_id = htole64(5) };

	assert_true(cq_push(table_get(&h.dev->cqs, other.cqn), &e, false));
	complete();
}

static void two_cqs_result(void)
{
	struct vhca_cqe e;

	assert_true(t_cq_poll(&other, &e));
	cq_result();
}

static void completions_and_arm(void **state)
{
	assert_true(every_interleaving(nothing, complete_two, arm_and_poll, two_cqs_result) >= 5);
}

/* With moderation the event comes later, but it comes. */
static void cq_result_in_time(void)
{
	struct vhca_eqe ev;

	if (t_advance(&w))
		while (t_eq_get(&h, &h.comp, &ev))
			told = true;
	cq_result();
}

static void moderated_completion(void **state)
{
	assert_int_equal(t_cq_moderate(&cq, 2, 10), VHCA_ST_OK);
	assert_true(every_interleaving(nothing, complete, arm_and_poll, cq_result_in_time) >= 4);
}

/* ---- an event against the arming of its EQ ---- */

static struct evnode node;

static void no_event(void)
{
	evnode_init(&node, 9);
	saw = false;
	h.irqs[2] = 0;
}

static void event(void)
{
	eq_post(table_get(&h.dev->eqs, h.comp.eqn), &node, EVB_COMPLETION);
}

static void arm_and_look(void)
{
	struct vhca_eqe ev;

	t_eq_arm(&h, &h.comp);
	saw = t_eq_get(&h, &h.comp, &ev);
}

static void eq_result(void)
{
	struct vhca_eqe ev;

	if (!saw && !h.irqs[2])
		fail_msg("guest before access %u, stores %s: neither event nor interrupt",
			 model.chosen, model.lazy ? "delayed" : "at once");
	assert_int_equal(t_eq_get(&h, &h.comp, &ev), !saw);
}

static void event_and_arm(void **state)
{
	assert_true(every_interleaving(no_event, event, arm_and_look, eq_result) >= 4);
}

/* ---- falling asleep against a doorbell ---- */

/* Awake, with its doorbells looked at and not armed. */
static void awake(void)
{
	t_poll(&w);
	__atomic_store_n(&h.db->armed, 0, __ATOMIC_SEQ_CST);
	vdev_kick(h.dev, h.uar);
	gmem_enter();
	assert_false(doorbell_poll(h.dev));
	gmem_exit();
	assert_int_equal(h.db->armed, 0);
	h.kicks = 0;
	saw = false;
}

static void fall_asleep(void)
{
	saw = doorbell_arm(h.dev);
}

static void ring_sq(struct tqp *q)
{
	struct twr nop = { .opcode = VHCA_OP_NOP };

	t_post(q, &nop);
	t_ring_sq(q);
}

static void ring(void)
{
	ring_sq(&qp[0]);
}

/* Where a bit was cleared, the record must have been read with its present value. */
static void all_doorbells_heard(void)
{
	t_poll(&w);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++)
		if (qp_find(h.dev, qp[i].qpn)->req.blk_prod != qp[i].sq_prod)
			fail_msg("guest before access %u, stores %s: doorbell %u was lost",
				 model.chosen, model.lazy ? "delayed" : "at once", i);
}

static void doorbell_result(void)
{
	/* news after its last look must have kicked */
	if (!saw && !h.kicks)
		fail_msg("guest before access %u, stores %s: asleep, and nobody kicked",
			 model.chosen, model.lazy ? "delayed" : "at once");
	all_doorbells_heard();
}

static void sleep_and_doorbell(void **state)
{
	assert_true(every_interleaving(awake, fall_asleep, ring, doorbell_result) >= 4);
}

/* ---- one queue's doorbell while another's is looked at ---- */

static void awake_with_news(void)
{
	awake();
	ring_sq(&qp[1]);
}

static void look(void)
{
	assert_true(doorbell_poll(h.dev));
}

static void look_and_doorbell(void **state)
{
	assert_true(every_interleaving(awake_with_news, look, ring, all_doorbells_heard) >= 6);
}

/* ---- taking a receive against posting one ---- */

#define PLACES	4u	/* of the SRQ */

static struct recv_wqe got;
static int answer;
static u32 taken;	/* index of the receive that is taken this time */

/* An entry that shows its index in all its parts. */
static void post_one(void)
{
	struct vhca_sge s[7];

	for (u32 i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = (struct vhca_sge){ srq.posted, srq.posted + i, srq.posted };
	t_srq_recv(&srq, srq.posted, ARRAY_SIZE(s), s);
}

static void take(void)
{
	answer = srq_take(table_get(&h.dev->srqs, srq.srqn), &got);
}

static void expect_taken(void)
{
	if (got.wr_id != taken || got.nsge != 7)
		fail_msg("guest before access %u, stores %s: receive %llu instead of %u",
			 model.chosen, model.lazy ? "delayed" : "at once",
			 (unsigned long long)got.wr_id, taken);
	for (u32 i = 0; i < got.nsge; i++) {
		assert_int_equal(got.sge[i].addr, taken);
		assert_int_equal(got.sge[i].len, taken + i);
		assert_int_equal(got.sge[i].key, taken);
	}
	assert_int_equal(t_srq_taken(&srq), taken + 1);
}

static void fill(void)
{
	taken = t_srq_taken(&srq);
	while (srq.posted - taken < PLACES)
		post_one();
	answer = -1;
}

static void empty_srq(void)
{
	while (srq_take(table_get(&h.dev->srqs, srq.srqn), &got) != -EAGAIN)
		;
	taken = t_srq_taken(&srq);
}

/* The device has to read how many there are now. */
static void full_srq(void)
{
	empty_srq();
	fill();
}

/* The device knows of the next one. */
static void known_srq(void)
{
	full_srq();
	take();
	fill();
}

/* Uses the stride again as soon as it may. */
static void post_if_free(void)
{
	if (srq.posted - t_srq_taken(&srq) < PLACES)
		post_one();
}

static void took_it_whole(void)
{
	assert_int_equal(answer, VHCA_CS_SUCCESS);
	expect_taken();
}

static void took_it_or_not(void)
{
	if (answer == -EAGAIN) {
		assert_int_equal(t_srq_taken(&srq), taken);
		take();
	}
	took_it_whole();
}

static void taking_and_posting(void **state)
{
	/* the posted count, the entry's two parts, the taken count, and behind it */
	assert_true(every_interleaving(full_srq, take, post_if_free, took_it_whole) >= 5);
	assert_true(every_interleaving(known_srq, take, post_if_free, took_it_whole) >= 4);
	assert_true(every_interleaving(empty_srq, take, post_one, took_it_or_not) >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(completion_and_arm, setup, teardown),
		cmocka_unit_test_setup_teardown(completions_and_arm, setup, teardown),
		cmocka_unit_test_setup_teardown(moderated_completion, setup, teardown),
		cmocka_unit_test_setup_teardown(event_and_arm, setup, teardown),
		cmocka_unit_test_setup_teardown(sleep_and_doorbell, setup, teardown),
		cmocka_unit_test_setup_teardown(look_and_doorbell, setup, teardown),
		cmocka_unit_test_setup_teardown(taking_and_posting, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
