// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: ids that are destroyed in every state, in handlers, and while other tasks use them.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <rdma/kunit.h>

#include "fake_iwarp.h"

/* ---- in every state ---- */

static void expect_end(struct fake_iwarp *fake, enum iwcm_state state, enum fake_op told,
		       enum ib_qp_state qp_state)
{
	struct iw_cm_id *cm_id = iwt_id_in(fake, state);
	struct kunit *test = fake->test;
	int calls[FAKE_OPS];

	memcpy(calls, fake->calls, sizeof(calls));
	fake->qp_state = IB_QPS_RESET;
	/* The driver still holds the id and reports more events, which are not delivered. */
	cm_id->add_ref(cm_id);
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_DESTROYED);
	KUNIT_EXPECT_EQ(test, fake->qp_state, qp_state);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), 0);
	for (int op = 0; op < FAKE_OPS; op++)
		KUNIT_EXPECT_EQ_MSG(test, fake->calls[op] - calls[op], op == told,
				    "state %d operation %d", state, op);
	cm_id->rem_ref(cm_id);
}

static void every_state_ends(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;

	expect_end(fake, IWCM_IDLE, FAKE_OPS, IB_QPS_RESET);
	expect_end(fake, IWCM_LISTEN, FAKE_UNLISTEN, IB_QPS_RESET);
	expect_end(fake, IWCM_REQUESTED, FAKE_REJECT, IB_QPS_RESET);
	expect_end(fake, IWCM_ESTABLISHED, FAKE_OPS, IB_QPS_ERR);
	expect_end(fake, IWCM_CLOSING, FAKE_OPS, IB_QPS_RESET);
}

/**
 * struct caller - a thread that destroys or disconnects an id
 * @cm_id: the id
 * @disconnects: it disconnects instead of destroying
 * @ret: return value of disconnecting
 * @done: completed when it has returned
 */
struct caller {
	struct iw_cm_id *cm_id;
	bool disconnects;
	int ret;
	struct completion done;
};

static int call(void *data)
{
	struct caller *caller = data;

	if (caller->disconnects)
		caller->ret = iw_cm_disconnect(caller->cm_id, 0);
	else
		iw_destroy_cm_id(caller->cm_id);
	complete(&caller->done);
	return 0;
}

static void start(struct kunit *test, struct caller *caller)
{
	init_completion(&caller->done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(call, caller, "kt_iwcm")));
}

static void until_waiting(struct iw_cm_id *cm_id)
{
	while (!wq_has_sleeper(&to_iwcm_id(cm_id)->wait))
		schedule_timeout_uninterruptible(1);
}

/* The driver has not reported a result; destroying and disconnecting wait for it. */
static void answer_is_waited_for(struct kunit *test, enum iwcm_state state,
				 enum iw_cm_event_type type, int status, bool disconnects)
{
	struct fake_iwarp *fake = test->priv;
	struct caller caller = { .cm_id = iwt_id_in(fake, state), .disconnects = disconnects };
	int heard = fake->n_heard;

	fake->qp_state = IB_QPS_RESET;
	start(test, &caller);
	until_waiting(caller.cm_id);
	KUNIT_EXPECT_FALSE(test, completion_done(&caller.done));
	KUNIT_EXPECT_EQ(test, iwt_state(caller.cm_id), state);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), 1);
	KUNIT_EXPECT_EQ(test, iwt_report(caller.cm_id, type, status), 0);
	wait_for_completion(&caller.done);
	/* Disconnecting does not wait for the handler. */
	if (disconnects)
		iwt_settle(caller.cm_id);
	KUNIT_EXPECT_EQ(test, fake->n_heard, heard + 1);
	if (disconnects) {
		KUNIT_EXPECT_EQ(test, caller.ret, 0);
		KUNIT_EXPECT_EQ(test, fake->qp_state, status ? IB_QPS_RESET : IB_QPS_SQD);
		iw_destroy_cm_id(caller.cm_id);
	} else {
		KUNIT_EXPECT_EQ(test, fake->qp_state, status ? IB_QPS_RESET : IB_QPS_ERR);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), 0);
}

static void answers_are_waited_for(struct kunit *test)
{
	for (int disconnects = 0; disconnects < 2; disconnects++) {
		answer_is_waited_for(test, IWCM_CONNECTING, IW_CM_EVENT_CONNECT_REPLY, 0,
				     disconnects);
		answer_is_waited_for(test, IWCM_CONNECTING, IW_CM_EVENT_CONNECT_REPLY, -ECONNRESET,
				     disconnects);
		answer_is_waited_for(test, IWCM_ACCEPTING, IW_CM_EVENT_ESTABLISHED, 0, disconnects);
	}
}

/* While the driver listens or rejects, a thread waits for its return. */
static void start_caller(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum fake_op op)
{
	struct caller *caller = fake->context;

	fake->in_op = NULL;
	caller->cm_id = cm_id;
	start(fake->test, caller);
	until_waiting(cm_id);
	KUNIT_EXPECT_FALSE(fake->test, completion_done(&caller->done));
}

static void driver_returns_first(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct caller caller = {};
	struct iw_cm_id *cm_id;

	fake->context = &caller;
	cm_id = iwt_id(fake);
	fake->in_op = start_caller;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	wait_for_completion(&caller.done);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_UNLISTEN], 1);

	cm_id = iwt_id_in(fake, IWCM_REQUESTED);
	fake->in_op = start_caller;
	KUNIT_EXPECT_EQ(test, iw_cm_reject(cm_id, NULL, 0), 0);
	wait_for_completion(&caller.done);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_REJECT], 1);
}

/* ---- in handlers ---- */

/**
 * struct ending - how a handler ends its id
 * @of: the event
 * @returns: by its return value, else by a call
 * @accepts: it accepts the connection before
 * @rejects: it rejects it before
 */
struct ending {
	enum iw_cm_event_type of;
	bool returns;
	bool accepts;
	bool rejects;
};

static int end_in_handler(struct fake_iwarp *fake, struct iw_cm_id *cm_id,
			  struct iw_cm_event *event)
{
	struct ending *ending = fake->context;
	struct iw_cm_conn_param param = iwt_param();

	if (event->event != ending->of)
		return 0;
	/* Keeps the id, so that the test can examine it. */
	cm_id->add_ref(cm_id);
	if (ending->accepts)
		KUNIT_EXPECT_EQ(fake->test, iw_cm_accept(cm_id, &param), 0);
	if (ending->rejects)
		KUNIT_EXPECT_EQ(fake->test, iw_cm_reject(cm_id, NULL, 0), 0);
	if (ending->accepts)
		/* ESTABLISHED is reported after this handler. */
		KUNIT_EXPECT_EQ(fake->test, iw_cm_disconnect(cm_id, 0), -EINVAL);
	if (ending->returns)
		return -EPIPE;
	iw_destroy_cm_id(cm_id);
	return 0;
}

static void expect_ended(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum ib_qp_state qp_state)
{
	int heard = fake->n_heard;

	KUNIT_EXPECT_EQ(fake->test, iwt_state(cm_id), IWCM_DESTROYED);
	KUNIT_EXPECT_EQ(fake->test, fake->qp_state, qp_state);
	KUNIT_EXPECT_EQ(fake->test, atomic_read(&fake->qp_refs), 0);
	iwt_report(cm_id, IW_CM_EVENT_ESTABLISHED, 0);
	iwt_report(cm_id, IW_CM_EVENT_CLOSE, 0);
	iwt_settle(cm_id);
	KUNIT_EXPECT_EQ(fake->test, fake->n_heard, heard);
	KUNIT_EXPECT_EQ(fake->test, refcount_read(&to_iwcm_id(cm_id)->refs), 1);
	cm_id->rem_ref(cm_id);
}

static void requests_end_in_handlers(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	static const struct ending how[] = {
		{ .returns = false }, { .returns = true },
		{ .accepts = true, .returns = false }, { .accepts = true, .returns = true },
		{ .rejects = true, .returns = false }, { .rejects = true, .returns = true },
	};

	fake->act = end_in_handler;
	for (int i = 0; i < ARRAY_SIZE(how); i++) {
		struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN);
		struct ending ending = how[i];
		int heard = fake->n_heard, rejects = fake->calls[FAKE_REJECT];

		ending.of = IW_CM_EVENT_CONNECT_REQUEST;
		fake->context = &ending;
		fake->qp_state = IB_QPS_RESET;
		KUNIT_EXPECT_EQ(test, iwt_request(listener, 5), 0);
		iwt_settle(listener);
		KUNIT_ASSERT_EQ(test, fake->n_heard, heard + 1);
		KUNIT_EXPECT_EQ(test, fake->calls[FAKE_REJECT], rejects + !ending.accepts);
		expect_ended(fake, fake->heard[heard % FAKE_HEARD].cm_id,
			     ending.accepts ? IB_QPS_ERR : IB_QPS_RESET);
		iw_destroy_cm_id(listener);
	}
}

static void end_at(struct fake_iwarp *fake, enum iwcm_state state, enum iw_cm_event_type type,
		   int status, enum ib_qp_state qp_state)
{
	for (int returns = 0; returns < 2; returns++) {
		struct ending ending = { .of = type, .returns = returns };
		struct iw_cm_id *cm_id;

		fake->act = NULL;
		cm_id = iwt_id_in(fake, state);
		fake->act = end_in_handler;
		fake->context = &ending;
		fake->qp_state = IB_QPS_RESET;
		cm_id->add_ref(cm_id);
		KUNIT_EXPECT_EQ(fake->test, iwt_report(cm_id, type, status), 0);
		/* An event that is reported too late is not delivered. */
		KUNIT_EXPECT_EQ(fake->test, iwt_report(cm_id, IW_CM_EVENT_DISCONNECT, 0), 0);
		iwt_settle(cm_id);
		cm_id->rem_ref(cm_id);
		expect_ended(fake, cm_id, qp_state);
	}
}

static void connections_end_in_handlers(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;

	end_at(fake, IWCM_CONNECTING, IW_CM_EVENT_CONNECT_REPLY, 0, IB_QPS_ERR);
	end_at(fake, IWCM_CONNECTING, IW_CM_EVENT_CONNECT_REPLY, -ETIMEDOUT, IB_QPS_RESET);
	end_at(fake, IWCM_ACCEPTING, IW_CM_EVENT_ESTABLISHED, 0, IB_QPS_ERR);
	end_at(fake, IWCM_ESTABLISHED, IW_CM_EVENT_CLOSE, 0, IB_QPS_RESET);
	end_at(fake, IWCM_CLOSING, IW_CM_EVENT_CLOSE, 0, IB_QPS_RESET);
}

/* A refused consumer connects again at once, and then ends the id by its return value. */
static int connect_again_and_end(struct fake_iwarp *fake, struct iw_cm_id *cm_id,
				 struct iw_cm_event *event)
{
	struct iw_cm_conn_param param = iwt_param();

	KUNIT_EXPECT_EQ(fake->test, iw_cm_connect(cm_id, &param), 0);
	return -EPIPE;
}

static void connecting_id_ends_in_handler(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id_in(fake, IWCM_CONNECTING);

	fake->act = connect_again_and_end;
	cm_id->add_ref(cm_id);
	iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED);
	iwt_settle(cm_id);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_CONNECT], 2);
	expect_ended(fake, cm_id, IB_QPS_ERR);
}

/* ---- listeners with requests ---- */

/**
 * struct gate - where a handler waits
 * @entered: it waits
 * @open: it may continue
 */
struct gate {
	struct completion entered;
	struct completion open;
};

static int wait_at_gate(struct fake_iwarp *fake, struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct gate *gate = fake->context;

	complete(&gate->entered);
	wait_for_completion(&gate->open);
	return 0;
}

static struct iw_cm_id *listener_at_gate(struct fake_iwarp *fake, struct gate *gate)
{
	struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN);

	init_completion(&gate->entered);
	init_completion(&gate->open);
	fake->context = gate;
	fake->act = wait_at_gate;
	KUNIT_EXPECT_EQ(fake->test, iwt_request(listener, 5), 0);
	wait_for_completion(&gate->entered);
	return listener;
}

static void backlog_bounds_requests(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct gate gate;
	struct iw_cm_id *listener = listener_at_gate(fake, &gate);

	KUNIT_EXPECT_EQ(test, iwt_request(listener, 6), 0);
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 7), 0);
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 8), -ENOMEM);
	complete_all(&gate.open);
	iwt_settle(listener);
	KUNIT_EXPECT_EQ(test, fake->n_heard, 3);
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 9), 0);
	iwt_settle(listener);
	KUNIT_ASSERT_EQ(test, fake->n_heard, 4);
	for (int i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fake->heard[i].data[0], i == 3 ? 9 : 5 + i);
		iw_destroy_cm_id(fake->heard[i].cm_id);
	}
	iw_destroy_cm_id(listener);
}

static void untold_requests_are_rejected(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct gate gate;
	struct caller caller = { .cm_id = listener_at_gate(fake, &gate) };

	KUNIT_EXPECT_EQ(test, iwt_request(caller.cm_id, 6), 0);
	KUNIT_EXPECT_EQ(test, iwt_request(caller.cm_id, 7), 0);
	start(test, &caller);
	until_waiting(caller.cm_id);
	/* It waits only for the handler. */
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_REJECT], 2);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_UNLISTEN], 1);
	KUNIT_EXPECT_EQ(test, iwt_request(caller.cm_id, 8), -ECONNREFUSED);
	KUNIT_EXPECT_FALSE(test, completion_done(&caller.done));
	complete_all(&gate.open);
	wait_for_completion(&caller.done);
	KUNIT_EXPECT_EQ(test, fake->n_heard, 1);
	iw_destroy_cm_id(fake->heard[0].cm_id);
}

static int end_listener(struct fake_iwarp *fake, struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	iw_destroy_cm_id(fake->context);
	return 0;
}

static void listener_ends_in_its_handler(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN);

	fake->context = listener;
	fake->act = end_listener;
	listener->add_ref(listener);
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 5), 0);
	iwt_settle(listener);
	KUNIT_EXPECT_EQ(test, fake->n_heard, 1);
	KUNIT_EXPECT_EQ(test, iwt_state(listener), IWCM_DESTROYED);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_UNLISTEN], 1);
	listener->rem_ref(listener);
	KUNIT_EXPECT_EQ(test, iwt_state(fake->heard[0].cm_id), IWCM_REQUESTED);
	iw_destroy_cm_id(fake->heard[0].cm_id);
}

/* Destroying a connection waits for its handler; no event comes afterwards. */
static void handler_is_waited_for(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct caller caller = { .cm_id = iwt_id_in(fake, IWCM_ESTABLISHED) };
	struct gate gate;
	int heard = fake->n_heard;

	init_completion(&gate.entered);
	init_completion(&gate.open);
	fake->context = &gate;
	fake->act = wait_at_gate;
	iwt_report(caller.cm_id, IW_CM_EVENT_CLOSE, 0);
	wait_for_completion(&gate.entered);
	start(test, &caller);
	until_waiting(caller.cm_id);
	KUNIT_EXPECT_EQ(test, iwt_state(caller.cm_id), IWCM_DESTROYED);
	KUNIT_EXPECT_FALSE(test, completion_done(&caller.done));
	complete(&gate.open);
	wait_for_completion(&caller.done);
	KUNIT_EXPECT_EQ(test, fake->n_heard, heard + 1);
}

/* ---- the last id ---- */

/**
 * struct release - a driver's thread that releases the last id
 * @cm_id: the id
 * @gone: waiting for the end of all ids has ended
 * @early: it had ended before the thread could go on
 * @done: completed when the thread has gone on
 */
struct release {
	struct iw_cm_id *cm_id;
	bool gone, early;
	struct completion done;
};

/* The thread is slow, as if it were preempted before the release returns: it does not sleep. */
static int release_slowly(void *data)
{
	struct release *release = data;

	release->cm_id->rem_ref(release->cm_id);
	for (int ms = 0; ms < 200 && !READ_ONCE(release->gone); ms++)
		mdelay(1);
	release->early = READ_ONCE(release->gone);
	kthread_complete_and_exit(&release->done, 0);
}

static void release_is_waited_for(struct kunit *test)
{
	struct release release = { .cm_id = iwt_id(test->priv) };

	init_completion(&release.done);
	release.cm_id->add_ref(release.cm_id);
	iw_destroy_cm_id(release.cm_id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(release_slowly, &release, "kt_iwcm")));
	iwcm_ids_gone();
	WRITE_ONCE(release.gone, true);
	wait_for_completion(&release.done);
	KUNIT_EXPECT_FALSE(test, release.early);
}

static struct kunit_case destroy_cases[] = {
	KUNIT_CASE(every_state_ends),
	KUNIT_CASE(answers_are_waited_for),
	KUNIT_CASE(driver_returns_first),
	KUNIT_CASE(requests_end_in_handlers),
	KUNIT_CASE(connections_end_in_handlers),
	KUNIT_CASE(connecting_id_ends_in_handler),
	KUNIT_CASE(backlog_bounds_requests),
	KUNIT_CASE(untold_requests_are_rejected),
	KUNIT_CASE(listener_ends_in_its_handler),
	KUNIT_CASE(handler_is_waited_for),
	KUNIT_CASE(release_is_waited_for),
	{}
};

static struct kunit_suite destroy_suite = {
	.name = "iw_cm_destroy",
	.suite_init = rdma_kunit_again,
	.init = fake_iwarp_init,
	.exit = fake_iwarp_exit,
	.test_cases = destroy_cases,
};

kunit_test_suite(destroy_suite);
