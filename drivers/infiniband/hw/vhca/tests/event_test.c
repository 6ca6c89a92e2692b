// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Look-up of the object of an event, on a device that the test plays: it writes entries that name
 * objects of every kind, and uses their numbers again.
 */
#include "../device/device.h"
#include "../hw/ring.h"
#include "../verbs/cq.h"
#include "../verbs/qp.h"
#include "../verbs/srq.h"
#include "vhca_test.h"

#define LOG	2
#define ENTRIES	(1U << LOG)
#define NUMBER	5
#define VECTORS	2

/* An object of each kind, all with the same number, and the events they got. */
struct owner {
	struct vhca_cq cq;
	struct vhca_qp qp;
	struct vhca_srq srq;
	unsigned int vector;
	unsigned int told;
	enum ib_event_type type;
};

struct source {
	struct vhca_eq *eq;
	u64 pi;
};

struct bench {
	struct vhca_dev dev;
	struct vhca_uar uar;
	struct vhca_vector vectors[VECTORS];
	struct source async, comp[VECTORS];
	struct owner a, b;
};

/* The entry of a handler that is delayed. */
static struct vhca_eqe held;
static u64 held_count;

static int give_page(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	return 0;
}

static void no_kick(struct vhca_uar *uar)
{
}

static const struct vhca_uar_ops uar_ops = { .add_page = give_page, .kick = no_kick };

static void make_eq(struct kunit *test, struct source *s, struct vhca_eq *eq, vhca_eq_fn fn)
{
	struct bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&eq->ring, b->dev.hw.dev, LOG,
					      order_base_2(sizeof(struct vhca_eqe))), 0);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &eq->db), 0);
	eq->hw = &b->dev.hw;
	eq->fn = fn;
	spin_lock_init(&eq->lock);
	s->eq = eq;
}

static void called(struct ib_cq *cq, void *context)
{
	struct owner *o = context;

	o->told++;
}

static void told(struct ib_event *event, void *context)
{
	struct owner *o = context;

	o->told++;
	o->type = event->event;
}

static void make_owner(struct bench *b, struct owner *o)
{
	o->cq.ibcq = (struct ib_cq){
		.device = &b->dev.ibdev, .cq_context = o, .comp_handler = called,
		.event_handler = told,
	};
	o->qp.ibqp = (struct ib_qp){
		.device = &b->dev.ibdev, .qp_context = o, .event_handler = told,
	};
	o->srq.ibsrq = (struct ib_srq){
		.device = &b->dev.ibdev, .srq_context = o, .event_handler = told,
	};
}

static int event_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	test->priv = b;
	b->dev.hw.dev = vhca_test_device(test);
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&b->uar, &b->dev.hw, &uar_ops), 0);
	make_eq(test, &b->async, &b->dev.async_eq, vhca_async_event);
	vhca_id_table_init(&b->dev.cqs, &b->dev.async_eq);
	vhca_id_table_init(&b->dev.qps, &b->dev.async_eq);
	vhca_id_table_init(&b->dev.srqs, &b->dev.async_eq);
	for (unsigned int i = 0; i < VECTORS; i++) {
		make_eq(test, &b->comp[i], &b->vectors[i].eq, vhca_comp_event);
		vhca_id_table_init(&b->vectors[i].cqs, &b->vectors[i].eq);
	}
	b->dev.vectors = b->vectors;
	b->dev.nvectors = VECTORS;
	make_owner(b, &b->a);
	make_owner(b, &b->b);
	return 0;
}

static void event_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	for (unsigned int i = 0; i < VECTORS; i++) {
		vhca_id_table_exit(&b->vectors[i].cqs);
		vhca_ring_free(&b->vectors[i].eq.ring);
	}
	vhca_id_table_exit(&b->dev.srqs);
	vhca_id_table_exit(&b->dev.qps);
	vhca_id_table_exit(&b->dev.cqs);
	vhca_ring_free(&b->dev.async_eq.ring);
	vhca_uar_exit(&b->uar);
}

/* Every event that names an object. */
static const struct kind {
	const char *name;
	u8 event;
	enum ib_event_type type;
} kinds[] = {
	{ "COMPLETION", VHCA_EV_COMPLETION },
	{ "CQ_ERR", VHCA_EV_CQ_ERR, IB_EVENT_CQ_ERR },
	{ "QP_FATAL", VHCA_EV_QP_FATAL, IB_EVENT_QP_FATAL },
	{ "QP_REQ_ERR", VHCA_EV_QP_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ "QP_ACCESS_ERR", VHCA_EV_QP_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ "COMM_EST", VHCA_EV_COMM_EST, IB_EVENT_COMM_EST },
	{ "SQ_DRAINED", VHCA_EV_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ "LAST_WQE", VHCA_EV_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
	{ "PATH_MIG", VHCA_EV_PATH_MIG, IB_EVENT_PATH_MIG },
	{ "PATH_MIG_ERR", VHCA_EV_PATH_MIG_ERR, IB_EVENT_PATH_MIG_ERR },
	{ "SRQ_LIMIT", VHCA_EV_SRQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
	{ "SRQ_ERR", VHCA_EV_SRQ_ERR, IB_EVENT_SRQ_ERR },
};

static void kind_name(const struct kind *kind, char *name)
{
	strscpy(name, kind->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* Adds objects of all three kinds to the tables, as the driver does. */
static void publish(struct kunit *test, struct owner *o)
{
	struct bench *b = test->priv;
	struct vhca_vector *vector = &b->vectors[o->vector];

	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.cqs, NUMBER, &o->cq.async), 0);
	KUNIT_ASSERT_EQ(test, vhca_id_add(&vector->cqs, NUMBER, &o->cq.comp), 0);
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.qps, NUMBER, &o->qp.async), 0);
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.srqs, NUMBER, &o->srq.async), 0);
}

static void ends(struct bench *b, struct owner *o)
{
	vhca_id_retire(&b->dev.cqs, NUMBER);
	vhca_id_retire(&b->vectors[o->vector].cqs, NUMBER);
	vhca_id_retire(&b->dev.qps, NUMBER);
	vhca_id_retire(&b->dev.srqs, NUMBER);
}

static void unpublish(struct bench *b, struct owner *o)
{
	vhca_id_del(&b->vectors[o->vector].cqs, NUMBER, &o->cq.comp);
	vhca_id_del(&b->dev.cqs, NUMBER, &o->cq.async);
	vhca_id_del(&b->dev.qps, NUMBER, &o->qp.async);
	vhca_id_del(&b->dev.srqs, NUMBER, &o->srq.async);
}

/* The event queue in which an event of @o's is reported. */
static struct source *source_of(struct bench *b, const struct kind *kind, const struct owner *o)
{
	return kind->event == VHCA_EV_COMPLETION ? &b->comp[o->vector] : &b->async;
}

static void device_tells_of_port(struct source *s, u8 event, u32 number, u8 port)
{
	struct vhca_eqe *e = vhca_ring_at(&s->eq->ring, s->pi);

	e->number = cpu_to_le32(number);
	e->event = event;
	e->port = port;
	WRITE_ONCE(e->owner, vhca_ring_lap(s->pi, LOG));
	s->pi++;
}

static void device_tells(struct source *s, u8 event, u32 number)
{
	device_tells_of_port(s, event, number, 0);
}

static void expect_told(struct kunit *test, const struct owner *o, unsigned int n)
{
	const struct kind *kind = test->param_value;

	KUNIT_EXPECT_EQ_MSG(test, o->told, n, "%s", kind->name);
	if (o->told && kind->event != VHCA_EV_COMPLETION)
		KUNIT_EXPECT_EQ(test, o->type, kind->type);
}

/* Expects that a new event of each object of @o is reported to it once. */
static void expect_hears(struct kunit *test, struct owner *o)
{
	const struct kind *kind = test->param_value;
	struct source *s = source_of(test->priv, kind, o);
	unsigned int before = o->told;

	device_tells(s, kind->event, NUMBER);
	vhca_eq_poll(s->eq);
	expect_told(test, o, before + 1);
}

/*
 * Events of the old object are in the queue: its destruction ends before the new object is created,
 * or is still in progress.
 */
static void old_event_waits(struct kunit *test, bool dying)
{
	const struct kind *kind = test->param_value;
	struct bench *b = test->priv;
	struct source *s = source_of(b, kind, &b->a);

	/* At every place of the ring, with any number of its entries unhandled. */
	for (unsigned int waiting = 1; waiting <= ENTRIES; waiting++) {
		b->a.told = 0;
		b->b.told = 0;
		publish(test, &b->a);
		expect_hears(test, &b->a);
		for (unsigned int i = 0; i < waiting; i++)
			device_tells(s, kind->event, NUMBER);
		ends(b, &b->a);
		if (!dying)
			unpublish(b, &b->a);
		publish(test, &b->b);
		vhca_eq_poll(s->eq);
		expect_told(test, &b->b, 0);
		expect_hears(test, &b->b);
		if (dying)
			unpublish(b, &b->a);
		expect_hears(test, &b->b);
		ends(b, &b->b);
		unpublish(b, &b->b);
		device_tells(s, kind->event, NUMBER);
		vhca_eq_poll(s->eq);
		expect_told(test, &b->a, 1);
		expect_told(test, &b->b, 2);
	}
}

static void test_after_the_end(struct kunit *test)
{
	old_event_waits(test, false);
}

static void test_during_the_end(struct kunit *test)
{
	old_event_waits(test, true);
}

static void hold(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count)
{
	held = *eqe;
	held_count = count;
}

/* The entry was taken from the queue before, but its object is looked up only now. */
static void test_late_handler(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct bench *b = test->priv;
	struct source *s = source_of(b, kind, &b->a);
	vhca_eq_fn fn = s->eq->fn;

	publish(test, &b->a);
	device_tells(s, kind->event, NUMBER);
	s->eq->fn = hold;
	vhca_eq_poll(s->eq);
	s->eq->fn = fn;
	ends(b, &b->a);
	unpublish(b, &b->a);
	publish(test, &b->b);
	KUNIT_ASSERT_EQ(test, held.event, kind->event);
	fn(s->eq, &held, held_count);
	expect_told(test, &b->a, 0);
	expect_told(test, &b->b, 0);
	expect_hears(test, &b->b);
	unpublish(b, &b->b);
}

/*
 * The new CQ of a number has another vector while the old one is being destroyed: each gets its own
 * events, whichever vector is handled first.
 */
static void test_vectors_apart(struct kunit *test)
{
	struct bench *b = test->priv;

	for (unsigned int v = 0; v < VECTORS; v++) {
		b->a.told = 0;
		b->b.told = 0;
		b->a.vector = v;
		b->b.vector = !v;
		publish(test, &b->a);
		ends(b, &b->a);
		publish(test, &b->b);
		expect_hears(test, &b->b);
		expect_told(test, &b->a, 0);
		unpublish(b, &b->a);
		expect_hears(test, &b->b);
		unpublish(b, &b->b);
	}
}

/* Every port has a QP 1. */
static void test_ports_apart(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.qps, vhca_qp_id(1, 1), &b->a.qp.async), 0);
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.qps, vhca_qp_id(2, 1), &b->b.qp.async), 0);
	device_tells_of_port(&b->async, VHCA_EV_QP_FATAL, 1, 2);
	vhca_eq_poll(&b->dev.async_eq);
	KUNIT_EXPECT_EQ(test, b->a.told, 0);
	KUNIT_EXPECT_EQ(test, b->b.told, 1);
	device_tells_of_port(&b->async, VHCA_EV_QP_FATAL, 1, 1);
	device_tells_of_port(&b->async, VHCA_EV_QP_FATAL, 1, 3);
	device_tells(&b->async, VHCA_EV_QP_FATAL, 1);
	vhca_eq_poll(&b->dev.async_eq);
	KUNIT_EXPECT_EQ(test, b->a.told, 1);
	KUNIT_EXPECT_EQ(test, b->b.told, 1);
	vhca_id_del(&b->dev.qps, vhca_qp_id(1, 1), &b->a.qp.async);
	vhca_id_del(&b->dev.qps, vhca_qp_id(2, 1), &b->b.qp.async);
}

/* A kernel consumer is not called for a completion event that it has not requested. */
static void test_unasked_completion(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cq_kernel *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, k);
	b->a.cq.kernel = k;
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->vectors[0].cqs, NUMBER, &b->a.cq.comp), 0);
	device_tells(&b->comp[0], VHCA_EV_COMPLETION, NUMBER);
	vhca_eq_poll(b->comp[0].eq);
	KUNIT_EXPECT_EQ(test, b->a.told, 0);
	k->seq = 1;
	device_tells(&b->comp[0], VHCA_EV_COMPLETION, NUMBER);
	vhca_eq_poll(b->comp[0].eq);
	KUNIT_EXPECT_EQ(test, b->a.told, 1);
	vhca_id_del(&b->vectors[0].cqs, NUMBER, &b->a.cq.comp);
}

static unsigned int woken;

static void count_wake(struct work_struct *work)
{
	woken++;
}

static void expect_woken(struct kunit *test, struct vhca_cq_kernel *k, unsigned int n)
{
	struct bench *b = test->priv;

	woken = 0;
	vhca_flush_kernel_users(&b->dev);
	flush_work(&k->wake);
	KUNIT_EXPECT_EQ(test, woken, n);
}

/*
 * Consumers of a dead device's CQs are called, but no work is queued for a CQ without QPs: a CQ
 * whose creation fails is in the table, too, and is freed afterwards.
 */
static void test_dead_device_wakes_users(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_cq_kernel *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);
	struct vhca_wq *wq = kunit_kzalloc(test, sizeof(*wq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, k);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	spin_lock_init(&k->lock);
	INIT_LIST_HEAD(&k->senders);
	INIT_LIST_HEAD(&k->receivers);
	INIT_WORK(&k->wake, count_wake);
	b->a.cq.kernel = k;
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->dev.cqs, NUMBER, &b->a.cq.async), 0);
	expect_woken(test, k, 0);
	list_add(&wq->link, &k->senders);
	expect_woken(test, k, 1);
	list_move(&wq->link, &k->receivers);
	expect_woken(test, k, 1);
	vhca_id_del(&b->dev.cqs, NUMBER, &b->a.cq.async);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(test_dead_device_wakes_users),
	KUNIT_CASE(test_ports_apart),
	KUNIT_CASE(test_unasked_completion),
	KUNIT_CASE_PARAM(test_after_the_end, kind_gen_params),
	KUNIT_CASE_PARAM(test_during_the_end, kind_gen_params),
	KUNIT_CASE_PARAM(test_late_handler, kind_gen_params),
	KUNIT_CASE_PARAM(test_vectors_apart, kind_gen_params),
	{}
};

struct kunit_suite vhca_event_suite = {
	.name = "vhca_event",
	.init = event_test_init,
	.exit = event_test_exit,
	.test_cases = event_cases,
};
