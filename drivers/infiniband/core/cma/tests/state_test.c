// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: states of ids times the calls of consumers; events; destruction in each state.
 */
#include "test_cma.h"

/* ---- steps ---- */

/* The life of an id as its consumer sees it, step by step. */
static const struct {
	enum rdma_cm_state from;
	enum cma_step step;
	enum rdma_cm_state to;
} life[] = {
	{ RDMA_CM_IDLE, CMA_BIND, RDMA_CM_ADDR_BOUND },
	{ RDMA_CM_IDLE, CMA_REQUEST, RDMA_CM_CONNECT },
	{ RDMA_CM_ADDR_BOUND, CMA_UNBIND, RDMA_CM_IDLE },
	{ RDMA_CM_ADDR_BOUND, CMA_RESOLVE_ADDR, RDMA_CM_ADDR_QUERY },
	{ RDMA_CM_ADDR_BOUND, CMA_LISTEN, RDMA_CM_LISTEN },
	{ RDMA_CM_LISTEN, CMA_LISTEN_FAILED, RDMA_CM_ADDR_BOUND },
	{ RDMA_CM_ADDR_QUERY, CMA_ADDR_DONE, RDMA_CM_ADDR_RESOLVED },
	{ RDMA_CM_ADDR_QUERY, CMA_ADDR_FAILED, RDMA_CM_ADDR_BOUND },
	{ RDMA_CM_ADDR_RESOLVED, CMA_RESOLVE_ROUTE, RDMA_CM_ROUTE_QUERY },
	{ RDMA_CM_ADDR_RESOLVED, CMA_SET_PATH, RDMA_CM_ROUTE_RESOLVED },
	{ RDMA_CM_ROUTE_QUERY, CMA_ROUTE_DONE, RDMA_CM_ROUTE_RESOLVED },
	{ RDMA_CM_ROUTE_QUERY, CMA_ROUTE_FAILED, RDMA_CM_ADDR_RESOLVED },
	{ RDMA_CM_ROUTE_RESOLVED, CMA_UNSET_PATH, RDMA_CM_ADDR_RESOLVED },
	{ RDMA_CM_ROUTE_RESOLVED, CMA_CONNECT, RDMA_CM_CONNECT },
	{ RDMA_CM_CONNECT, CMA_CONNECT_FAILED, RDMA_CM_ROUTE_RESOLVED },
	{ RDMA_CM_CONNECT, CMA_DISCONNECTED, RDMA_CM_DISCONNECT },
};

static int expected_step(enum rdma_cm_state from, enum cma_step step)
{
	if (step == CMA_DESTROY)
		return from == RDMA_CM_DESTROYING ? -1 : RDMA_CM_DESTROYING;
	if (step == CMA_REMOVE)
		return from == RDMA_CM_DESTROYING || from == RDMA_CM_DEVICE_REMOVAL ?
		       -1 : RDMA_CM_DEVICE_REMOVAL;
	for (size_t i = 0; i < ARRAY_SIZE(life); i++)
		if (life[i].from == from && life[i].step == step)
			return life[i].to;
	return -1;
}

/* Sets a state that the test did not lead the id to. */
static void force(struct consumer *c, enum rdma_cm_state state)
{
	WRITE_ONCE(ct_id(c)->state, state);
}

static void every_step(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct cma_id *id = ct_id(c);

	mutex_lock(&id->handler_lock);
	for (unsigned int from = 0; from < CMA_STATES; from++) {
		for (unsigned int step = 0; step < CMA_STEPS; step++) {
			int to = expected_step(from, step);

			force(c, from);
			KUNIT_EXPECT_EQ_MSG(test, cma_step_table(from, step), to,
					    "step %u in state %u", step, from);
			KUNIT_EXPECT_EQ(test, cma_step(id, step), to >= 0);
			KUNIT_EXPECT_EQ(test, cma_state(id), to >= 0 ? to : from);
		}
	}
	force(c, RDMA_CM_IDLE);
	mutex_unlock(&id->handler_lock);
}

/* ---- calls of consumers ---- */

/* The calls of ids that resolve, with the states in which they are taken. */
enum call {
	CALL_BIND,
	CALL_LISTEN,
	CALL_REUSE,
	CALL_NO_REUSE,
	CALL_AFONLY,
	CALL_JOIN,
	CALLS
};

#define IN(_state) BIT(RDMA_CM_##_state)
#define ANY (BIT(CMA_STATES) - 1)

static const unsigned long taken_in[CALLS] = {
	[CALL_BIND] = IN(IDLE),
	[CALL_LISTEN] = IN(IDLE) | IN(ADDR_BOUND),
	[CALL_REUSE] = ANY & ~IN(LISTEN),
	[CALL_NO_REUSE] = IN(IDLE),
	[CALL_AFONLY] = IN(IDLE) | IN(ADDR_BOUND),
	[CALL_JOIN] = 0,	/* without a device: in none */
};

static int make_call(struct rdma_cm_id *id, enum call call)
{
	union ct_addr any = ct_ip4(INADDR_ANY, 0);

	switch (call) {
	case CALL_BIND:
		return rdma_bind_addr(id, &any.any);
	case CALL_LISTEN:
		return rdma_listen(id, 1);
	case CALL_REUSE:
		return rdma_set_reuseaddr(id, 1);
	case CALL_NO_REUSE:
		return rdma_set_reuseaddr(id, 0);
	case CALL_AFONLY:
		return rdma_set_afonly(id, 1);
	default:
		return rdma_join_multicast(id, &any.any, BIT(FULLMEMBER_JOIN), NULL);
	}
}

static void every_call(struct kunit *test)
{
	for (unsigned int state = 0; state < RDMA_CM_DESTROYING; state++) {
		for (unsigned int call = 0; call < CALLS; call++) {
			struct consumer *c = ct_consumer(test, RDMA_PS_UDP, IB_QPT_UD);
			bool taken = taken_in[call] & BIT(state);

			/* Only an id that has a port can be bound. */
			if (state == RDMA_CM_ADDR_BOUND)
				KUNIT_ASSERT_EQ(test, make_call(c->id, CALL_BIND), 0);
			force(c, state);
			KUNIT_EXPECT_EQ_MSG(test, make_call(c->id, call), taken ? 0 : -EINVAL,
					    "call %u in state %u", call, state);
			ct_destroy(c);
		}
	}
}

static void options(struct kunit *test)
{
	struct consumer *rc = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct consumer *ud = ct_consumer(test, RDMA_PS_UDP, IB_QPT_UD);
	struct consumer *ini = ct_consumer(test, RDMA_PS_IB, IB_QPT_XRC_INI);
	struct consumer *tgt = ct_consumer(test, RDMA_PS_IB, IB_QPT_XRC_TGT);

	rdma_set_service_type(rc->id, 0x15);
	KUNIT_EXPECT_TRUE(test, ct_id(rc)->tos_set);
	KUNIT_EXPECT_EQ(test, ct_id(rc)->tos, 0x15);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(rc->id, 14), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(ini->id, 14), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(tgt->id, 14), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(ud->id, 14), -EINVAL);
	KUNIT_EXPECT_TRUE(test, ct_id(rc)->timeout_set);
	KUNIT_EXPECT_FALSE(test, ct_id(ud)->timeout_set);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(rc->id, 31), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(rc->id, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(tgt->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(ini->id, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(ud->id, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ct_id(rc)->min_rnr_timer, 31);
}

/* A service id is that of the address, or port space and port. */
static void service_ids(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr in = ct_ip4(INADDR_ANY, 0x1234), ib = ct_ib(1, 1, 0x0102030405060708, 0);

	KUNIT_EXPECT_EQ(test, be64_to_cpu(rdma_get_service_id(c->id, &in.any)), 0x1061234);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(rdma_get_service_id(c->id, &ib.any)),
			0x0102030405060708);
}

/* ---- events ---- */

/**
 * struct note - a report that a test queues
 * @report: the report
 * @event: for the handler
 * @taken: calls of its @take
 * @wanted: what @take returns while the id lives
 */
struct note {
	struct cma_report report;
	enum rdma_cm_event_type event;
	unsigned int taken;
	bool wanted;
};

static bool take_note(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event)
{
	struct note *note = container_of(report, struct note, report);

	note->taken++;
	event->event = note->event;
	return note->wanted && cma_state(id) != RDMA_CM_DESTROYING;
}

static struct note new_note(enum rdma_cm_event_type event, bool wanted)
{
	return (struct note) { .report.take = take_note, .event = event, .wanted = wanted };
}

/* In the order of the reports, and each as often as it was taken into the queue. */
static void events_in_order(struct kunit *test)
{
	struct note first = new_note(RDMA_CM_EVENT_ADDR_CHANGE, true);
	struct note second = new_note(RDMA_CM_EVENT_UNREACHABLE, false);
	struct note third = new_note(RDMA_CM_EVENT_TIMEWAIT_EXIT, true);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	/* With the handler held off, all three wait. */
	rdma_lock_handler(c->id);
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &first.report));
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &second.report));
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &third.report));
	KUNIT_EXPECT_FALSE(test, cma_report(ct_id(c), &second.report));
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	rdma_unlock_handler(c->id);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 2);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_CHANGE);
	KUNIT_EXPECT_EQ(test, c->events[1], RDMA_CM_EVENT_TIMEWAIT_EXIT);
	KUNIT_EXPECT_EQ(test, first.taken + second.taken + third.taken, 3);
	KUNIT_EXPECT_FALSE(test, c->unlocked);

	/* A report that was taken can be queued again. */
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &first.report));
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 3);
	KUNIT_EXPECT_EQ(test, refcount_read(&ct_id(c)->refs), 1);
}

/* Events behind the one whose handler gives the id up are taken off the queue, not delivered. */
static void handler_gives_up(struct kunit *test)
{
	struct note first = new_note(RDMA_CM_EVENT_ADDR_ERROR, true);
	struct note second = new_note(RDMA_CM_EVENT_UNREACHABLE, true);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	c->ret = 1;
	rdma_lock_handler(c->id);
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &first.report));
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &second.report));
	rdma_unlock_handler(c->id);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, second.taken, 1);
	KUNIT_EXPECT_NULL(test, c->id);
}

static struct note late;

static void report_late(struct consumer *c)
{
	cma_report(ct_id(c), &late.report);
}

/* The same for an event that comes while the handler runs, when the work is queued once more. */
static void handler_gives_up_late(struct kunit *test)
{
	struct note first = new_note(RDMA_CM_EVENT_ADDR_CHANGE, true);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	late = new_note(RDMA_CM_EVENT_UNREACHABLE, true);
	c->hook = report_late;
	c->ret = 1;
	KUNIT_EXPECT_TRUE(test, cma_report(ct_id(c), &first.report));
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, late.taken, 1);
	KUNIT_EXPECT_NULL(test, c->id);
}

/* A destroyed id ends what waits for its handler; no event follows. */
static void destroyed_with_reports(struct kunit *test)
{
	struct note note = new_note(RDMA_CM_EVENT_ADDR_ERROR, true);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct cma_id *id = ct_id(c);

	mutex_lock(&id->handler_lock);
	KUNIT_EXPECT_TRUE(test, cma_report(id, &note.report));
	c->id = NULL;
	cma_destroy_unlock(id);
	KUNIT_EXPECT_EQ(test, note.taken, 1);
	KUNIT_EXPECT_EQ(test, c->calls, 0);
}

static void no_report_of_destroyed(struct kunit *test)
{
	struct note note = new_note(RDMA_CM_EVENT_ADDR_ERROR, true);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	force(c, RDMA_CM_DESTROYING);
	KUNIT_EXPECT_FALSE(test, cma_report(ct_id(c), &note.report));
	force(c, RDMA_CM_IDLE);
}

/* The id of a request belongs to the listener's owner. */
static void children(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct cma_id *child;

	rdma_set_service_type(c->id, 7);
	child = cma_create_child(ct_id(c));
	KUNIT_ASSERT_FALSE(test, IS_ERR(child));
	KUNIT_EXPECT_PTR_EQ(test, child->id.context, (void *)c);
	KUNIT_EXPECT_PTR_EQ(test, child->id.event_handler, c->id->event_handler);
	KUNIT_EXPECT_EQ(test, child->id.ps, RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, child->id.qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, child->tos, 7);
	KUNIT_EXPECT_PTR_EQ(test, child->owner.kern_name, ct_id(c)->owner.kern_name);
	KUNIT_EXPECT_EQ(test, cma_state(child), RDMA_CM_IDLE);
	rdma_destroy_id(&child->id);
}

/* ---- the end ---- */

static struct consumer *with_device(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr addr = ct_ip4(0x0a000102, 0);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &addr.any), 0);
	return c;
}

/* In each state the consumer may destroy the id, and what was in progress is cancelled once. */
static void destroy_in_each_state(struct kunit *test)
{
	struct cma_test *t = test->priv;

	ct_add_device(t, 1);
	for (unsigned int state = 0; state < RDMA_CM_DESTROYING; state++) {
		struct consumer *c = with_device(test);

		force(c, state);
		atomic_set(&t->cancels, 0);
		ct_destroy(c);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->cancels), 1);
		KUNIT_EXPECT_EQ(test, t->cancelled, state);
		KUNIT_EXPECT_EQ(test, c->calls, 0);
	}
}

static void destroy_in_handler(struct consumer *c)
{
	c->ret = 1;
}

/* Let the device go while an id is in each state; the consumer destroys it in his handler. */
static void remove_in_each_state(struct kunit *test)
{
	struct cma_test *t = test->priv;

	for (unsigned int state = 0; state < RDMA_CM_DEVICE_REMOVAL; state++) {
		struct consumer *c;

		ct_add_device(t, 1);
		c = with_device(test);
		c->hook = destroy_in_handler;
		force(c, state);
		atomic_set(&t->cancels, 0);
		ct_remove_device(t, 1);
		KUNIT_EXPECT_EQ(test, c->calls, 1);
		KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_DEVICE_REMOVAL);
		KUNIT_EXPECT_NULL(test, c->id);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->cancels), 1);
		KUNIT_EXPECT_EQ(test, t->cancelled, state);
	}
}

/**
 * struct destroyer - a work item that destroys an id some time after its DEVICE_REMOVAL
 * @work: does it
 * @test: the test
 * @consumer: whose id
 */
struct destroyer {
	struct work_struct work;
	struct kunit *test;
	struct consumer *consumer;
};

static struct destroyer destroyer;

static void destroy_later(struct work_struct *work)
{
	/* Static stubs apply to tasks that name the test: this one, too. */
	current->kunit_test = destroyer.test;
	ct_destroy(destroyer.consumer);
	current->kunit_test = NULL;
}

static void begin_to_destroy(struct consumer *c)
{
	destroyer.consumer = c;
	schedule_work(&destroyer.work);
}

/* The device waits until the consumer has destroyed the id; what was in progress ends once. */
static void device_waits(struct kunit *test)
{
	struct cma_test *t = test->priv;

	INIT_WORK(&destroyer.work, destroy_later);
	destroyer.test = test;
	for (unsigned int state = 0; state < RDMA_CM_DEVICE_REMOVAL; state++) {
		struct consumer *c;

		ct_add_device(t, 1);
		c = with_device(test);
		c->hook = begin_to_destroy;
		force(c, state);
		atomic_set(&t->cancels, 0);
		ct_remove_device(t, 1);
		flush_work(&destroyer.work);
		KUNIT_EXPECT_EQ(test, c->calls, 1);
		KUNIT_EXPECT_NULL(test, c->id);
		/* Once for what was in progress, once for an id whose device goes. */
		KUNIT_EXPECT_EQ(test, atomic_read(&t->cancels), 2);
	}
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(every_step),
	KUNIT_CASE(every_call),
	KUNIT_CASE(options),
	KUNIT_CASE(service_ids),
	KUNIT_CASE(events_in_order),
	KUNIT_CASE(handler_gives_up),
	KUNIT_CASE(handler_gives_up_late),
	KUNIT_CASE(destroyed_with_reports),
	KUNIT_CASE(no_report_of_destroyed),
	KUNIT_CASE(children),
	KUNIT_CASE(destroy_in_each_state),
	KUNIT_CASE_SLOW(remove_in_each_state),
	KUNIT_CASE_SLOW(device_waits),
	{}
};

static struct kunit_suite state_suite = {
	.name = "rdma_cm_state",
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);
