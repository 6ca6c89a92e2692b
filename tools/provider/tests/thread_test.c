// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A thread that posts receives without a lock, and another one that takes the event that the QP
 * has failed: the device hears of every receive.
 *
 * Later receives would hide that one was lost, so the two meet once in each round, at all
 * distances.  The one that takes the event is the device, too, and looks at once.
 */
#include <pthread.h>
#include <sched.h>

#include "cm.h"
#include "fake.h"

#ifndef ROUNDS
#define ROUNDS	50000
#endif

static struct vhca_context *ctx;
static struct ibv_pd *pd, *domain;
static struct ibv_td *td;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static _Atomic unsigned int begun, ended;
static uint64_t seen;

static int setup(void **state)
{
	struct ibv_td_init_attr thread = {};
	struct ibv_parent_domain_init_attr parent = {};
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_qp_init_attr attr = {
		.cap = { .max_recv_wr = 4, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC,
	};

	(void)state;
	ctx = fake_open();
	pd = fake_ops()->alloc_pd(&ctx->vctx.context);
	td = fake_ops()->alloc_td(&ctx->vctx.context, &thread);
	parent.pd = pd;
	parent.td = td;
	domain = fake_ops()->alloc_parent_domain(&ctx->vctx.context, &parent);
	cq_attr.parent_domain = domain;
	cq = ibv_cq_ex_to_cq(fake_ops()->create_cq_ex(&ctx->vctx.context, &cq_attr));
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = fake_ops()->create_qp(domain, &attr);
	assert_non_null(qp);
	qp->state = IBV_QPS_RTS;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	assert_int_equal(fake_ops()->dealloc_pd(domain), 0);
	assert_int_equal(fake_ops()->dealloc_td(td), 0);
	assert_int_equal(fake_ops()->dealloc_pd(pd), 0);
	fake_close(ctx);
	return 0;
}

/*
 * Each has a processor of its own and keeps it: on a busy host others would take a whole turn of it
 * in every round.
 */
static cpu_set_t processors;
static bool apart;

static void take_processor(bool first)
{
	cpu_set_t mine = processors;
	int cpu = 0;

	if (!apart)
		return;
	while (!CPU_ISSET(cpu, &processors))
		cpu++;
	if (first) {
		CPU_ZERO(&mine);
		CPU_SET(cpu, &mine);
	} else {
		CPU_CLR(cpu, &mine);
	}
	pthread_setaffinity_np(pthread_self(), sizeof(mine), &mine);
}

static void linger(unsigned int turns)
{
	volatile unsigned int i;

	for (i = 0; i < turns; i++)
		;
}

static void wait_for(_Atomic unsigned int *count, unsigned int value)
{
	for (unsigned int turns = 1; atomic_load(count) != value; turns++)
		if (turns % 1024 == 0 && !apart)
			sched_yield();
}

/* The device takes the news, and then looks how many receives there are. */
static void look(void)
{
	uint32_t slot = fake_qp(qp)->slot + 1;
	unsigned int bit = slot % VHCA_DB_SLOTS;
	uint64_t mask = htole64(UINT64_C(1) << bit % 64);

	if (__atomic_fetch_and(&fake_page(slot)->news[bit / 64], ~mask, __ATOMIC_SEQ_CST) & mask)
		seen = fake_rec(slot);
}

static void *take_events(void *unused)
{
	struct ibv_async_event event = {
		.event_type = IBV_EVENT_QP_ACCESS_ERR, .element.qp = qp,
	};

	take_processor(true);
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		wait_for(&begun, round);
		fake_ops()->async_event(&ctx->vctx.context, &event);
		look();
		atomic_store(&ended, round);
	}
	return unused;
}

static void every_receive_is_flushed(void **state)
{
	struct vhca_qp *ours = to_vhca_qp(qp);
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	unsigned int lost = 0, backwards = 0;
	pthread_t thread;

	(void)state;
	assert_true(ours->rq.lock.elided);
	pthread_getaffinity_np(pthread_self(), sizeof(processors), &processors);
	apart = CPU_COUNT(&processors) > 1;
	take_processor(false);
	assert_int_equal(pthread_create(&thread, NULL, take_events, NULL), 0);
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		atomic_store(&begun, round);
		linger(round % 61);
		assert_int_equal(fake_ops()->post_recv(qp, &wr, &bad), 0);
		wait_for(&ended, round);
		look();
		lost += seen != round;
		backwards += fake_rec(fake_qp(qp)->slot + 1) != round;
		/* It is flushed, and the QP is reset. */
		atomic_store(&ours->rq.tail, round);
		atomic_store(&ours->broken, false);
		seen = 0;
	}
	pthread_join(thread, NULL);
	assert_int_equal(lost, 0);
	assert_int_equal(backwards, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_receive_is_flushed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
