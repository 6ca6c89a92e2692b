// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: ids of the iWARP connection manager. The effect of each call and event in each state is
 * written down here a second time, and tried on ids.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <rdma/kunit.h>

#include "fake_iwarp.h"

/* ---- the table ---- */

static bool holds_qp(enum iwcm_state state)
{
	return state == IWCM_CONNECTING || state == IWCM_ACCEPTING ||
	       state == IWCM_ESTABLISHED || state == IWCM_CLOSING;
}

static bool is_call(enum iwcm_input input)
{
	return input <= IWCM_CALL_DESTROY_INSIDE;
}

static void check_step(struct kunit *test, enum iwcm_state state, enum iwcm_input input)
{
	struct iwcm_step step = iwcm_step_of(state, input);
	bool ends = input == IWCM_CALL_DESTROY || input == IWCM_CALL_DESTROY_INSIDE;

	if (!step.action) {
		/* Every id can be destroyed, once. */
		if (ends)
			KUNIT_EXPECT_EQ(test, state, IWCM_DESTROYED);
		return;
	}
	KUNIT_EXPECT_NE(test, state, IWCM_DESTROYED);
	KUNIT_EXPECT_TRUE(test, step.action & IWCM_TAKEN);
	if (step.action & IWCM_WAIT) {
		KUNIT_EXPECT_EQ(test, step.action, IWCM_TAKEN | IWCM_WAIT);
		KUNIT_EXPECT_TRUE(test, is_call(input));
		return;
	}
	if (ends)
		KUNIT_EXPECT_EQ(test, step.next, IWCM_DESTROYED);
	KUNIT_EXPECT_EQ(test, !!(step.action & IWCM_SET_QP),
			!holds_qp(state) && holds_qp(step.next));
	KUNIT_EXPECT_EQ(test, !!(step.action & IWCM_PUT_QP),
			holds_qp(state) && !holds_qp(step.next));
	if (step.action & IWCM_TELL)
		KUNIT_EXPECT_GE(test, input, IWCM_EV_REQUEST);
	if (step.action & (IWCM_ABORT_QP | IWCM_LEND_QP))
		KUNIT_EXPECT_TRUE(test, holds_qp(state));
}

static void table_balances(struct kunit *test)
{
	for (int state = 0; state < IWCM_STATES; state++)
		for (int input = 0; input < IWCM_INPUTS; input++)
			check_step(test, state, input);
}

/* ---- every state times every call and event ---- */

static const char letters[IWCM_STATES + 1] = "IGLNQAJECD";

enum { TRY_LISTEN, TRY_CONNECT, TRY_ACCEPT, TRY_REJECT, TRY_DISCONNECT, TRY_ATTR, TRIES };

/* The state after each call, '-' for a refusal, '.' for a call that waits. */
static const char * const after_call[IWCM_STATES] = {
	[IWCM_IDLE] = "LN--II",
	[IWCM_LISTENING] = "------",
	[IWCM_LISTEN] = "------",
	[IWCM_CONNECTING] = "----.N",
	[IWCM_REQUESTED] = "--AIQQ",
	[IWCM_ACCEPTING] = "----.A",
	[IWCM_REJECTING] = "----.J",
	[IWCM_ESTABLISHED] = "----CE",
	[IWCM_CLOSING] = "----C-",
	[IWCM_DESTROYED] = "------",
};

static int try_call(struct iw_cm_id *cm_id, int call)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	struct iw_cm_conn_param param = iwt_param();
	int mask;

	switch (call) {
	case TRY_LISTEN:
		return iw_cm_listen(cm_id, 1);
	case TRY_CONNECT:
		return iw_cm_connect(cm_id, &param);
	case TRY_ACCEPT:
		return iw_cm_accept(cm_id, &param);
	case TRY_REJECT:
		return iw_cm_reject(cm_id, NULL, 0);
	case TRY_DISCONNECT:
		return iw_cm_disconnect(cm_id, 0);
	default:
		return iw_cm_init_qp_attr(cm_id, &attr, &mask);
	}
}

static void check_call(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum iwcm_state state,
		       int call)
{
	char expected = after_call[state][call];
	struct kunit *test = fake->test;
	int refs = atomic_read(&fake->qp_refs), ret;

	ret = try_call(cm_id, call);
	if (expected == '-') {
		KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%c call %d", letters[state], call);
		KUNIT_EXPECT_EQ_MSG(test, iwt_state(cm_id), state, "call %d", call);
		KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), refs);
	} else {
		KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%c call %d", letters[state], call);
		KUNIT_EXPECT_EQ_MSG(test, letters[iwt_state(cm_id)], expected, "%c call %d",
				    letters[state], call);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), holds_qp(iwt_state(cm_id)));
}

/* Ends an id in any state. */
static void end(struct iw_cm_id *cm_id)
{
	switch (iwt_state(cm_id)) {
	case IWCM_CONNECTING:
		iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED);
		break;
	case IWCM_ACCEPTING:
		iwt_report(cm_id, IW_CM_EVENT_ESTABLISHED, 0);
		break;
	case IWCM_DESTROYED:
		cm_id->rem_ref(cm_id);
		return;
	default:
		break;
	}
	iw_destroy_cm_id(cm_id);
}

static bool rests(enum iwcm_state state)
{
	return state != IWCM_LISTENING && state != IWCM_REJECTING;
}

static void calls_in_every_state(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;

	for (int state = 0; state < IWCM_STATES; state++) {
		for (int call = 0; call < TRIES; call++) {
			struct iw_cm_id *cm_id;

			if (!rests(state) || after_call[state][call] == '.')
				continue;
			cm_id = iwt_id_in(fake, state);
			check_call(fake, cm_id, state, call);
			end(cm_id);
		}
	}
}

/* Calls from within the driver's operations cover the states while it listens or rejects. */
static void calls_from_driver(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum fake_op op)
{
	enum iwcm_state state = op == FAKE_LISTEN ? IWCM_LISTENING : IWCM_REJECTING;

	fake->in_op = NULL;
	KUNIT_EXPECT_EQ(fake->test, iwt_state(cm_id), state);
	for (int call = 0; call < TRIES; call++)
		if (after_call[state][call] != '.')
			check_call(fake, cm_id, state, call);
}

static void calls_while_the_driver_works(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id(fake);

	fake->in_op = calls_from_driver;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	KUNIT_EXPECT_NULL(test, fake->in_op);
	iw_destroy_cm_id(cm_id);

	cm_id = iwt_id_in(fake, IWCM_REQUESTED);
	fake->in_op = calls_from_driver;
	KUNIT_EXPECT_EQ(test, iw_cm_reject(cm_id, NULL, 0), 0);
	KUNIT_EXPECT_NULL(test, fake->in_op);
	iw_destroy_cm_id(cm_id);
}

/*
 * The state after CONNECT_REPLY, CONNECT_REPLY with an error, ESTABLISHED, DISCONNECT and CLOSE: a
 * capital letter if an event is delivered to the consumer.
 */
static const char * const after_event[IWCM_STATES] = {
	[IWCM_IDLE] = "iiiii",
	[IWCM_LISTEN] = "lllll",
	[IWCM_CONNECTING] = "EInnI",
	[IWCM_REQUESTED] = "qqqqq",
	[IWCM_ACCEPTING] = "aaEaI",
	[IWCM_ESTABLISHED] = "eeecI",
	[IWCM_CLOSING] = "ccccI",
	[IWCM_DESTROYED] = "ddddd",
};

static const struct { enum iw_cm_event_type type; int status; } events[] = {
	{ IW_CM_EVENT_CONNECT_REPLY, 0 },
	{ IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED },
	{ IW_CM_EVENT_ESTABLISHED, 0 },
	{ IW_CM_EVENT_DISCONNECT, 0 },
	{ IW_CM_EVENT_CLOSE, 0 },
};

static void check_event(struct fake_iwarp *fake, enum iwcm_state state, int event)
{
	struct iw_cm_id *cm_id = iwt_id_in(fake, state);
	char expected = after_event[state][event];
	bool told = expected < 'a';
	struct kunit *test = fake->test;
	const struct fake_heard *heard;
	int before = fake->n_heard;

	KUNIT_EXPECT_EQ(test, iwt_report(cm_id, events[event].type, events[event].status), 0);
	iwt_settle(cm_id);
	KUNIT_EXPECT_EQ_MSG(test, letters[iwt_state(cm_id)], told ? expected : expected - 32,
			    "%c event %d", letters[state], event);
	KUNIT_EXPECT_EQ_MSG(test, fake->n_heard - before, told, "%c event %d", letters[state],
			    event);
	if (told) {
		heard = &fake->heard[before % FAKE_HEARD];
		KUNIT_EXPECT_PTR_EQ(test, heard->cm_id, cm_id);
		KUNIT_EXPECT_EQ(test, heard->event.event, events[event].type);
		KUNIT_EXPECT_EQ(test, heard->event.status, events[event].status);
		KUNIT_EXPECT_EQ(test, heard->event.ird, 3);
		KUNIT_EXPECT_EQ(test, heard->event.ord, 4);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), holds_qp(iwt_state(cm_id)));
	end(cm_id);
}

static void events_in_every_state(struct kunit *test)
{
	for (int state = 0; state < IWCM_STATES; state++)
		for (int event = 0; rests(state) && event < ARRAY_SIZE(events); event++)
			check_event(test->priv, state, event);
}

static void requests_in_every_state(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_event bad = { .event = IW_CM_EVENT_CONNECT_REQUEST, .status = -EIO };

	for (int state = 0; state < IWCM_STATES; state++) {
		struct iw_cm_id *cm_id;
		int heard;

		if (!rests(state))
			continue;
		cm_id = iwt_id_in(fake, state);
		heard = fake->n_heard;
		KUNIT_EXPECT_EQ(test, iwt_request(cm_id, 5),
				state == IWCM_LISTEN ? 0 : -ECONNREFUSED);
		KUNIT_EXPECT_EQ(test, cm_id->event_handler(cm_id, &bad), -EINVAL);
		KUNIT_EXPECT_EQ(test, iwt_report(cm_id, 17, 0), -EINVAL);
		iwt_settle(cm_id);
		KUNIT_EXPECT_EQ(test, fake->n_heard - heard, state == IWCM_LISTEN);
		if (state == IWCM_LISTEN)
			iw_destroy_cm_id(fake->heard[heard % FAKE_HEARD].cm_id);
		end(cm_id);
	}
}

/* A driver may report a request before its operation for listening has returned. */
static void request_from_driver(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum fake_op op)
{
	fake->in_op = NULL;
	KUNIT_EXPECT_EQ(fake->test, iwt_request(cm_id, 5), 0);
	iwt_settle(cm_id);
}

static void request_while_the_driver_begins(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id(fake);

	fake->in_op = request_from_driver;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	KUNIT_ASSERT_EQ(test, fake->n_heard, 1);
	KUNIT_EXPECT_EQ(test, iwt_state(fake->heard[0].cm_id), IWCM_REQUESTED);
	iw_destroy_cm_id(fake->heard[0].cm_id);
	iw_destroy_cm_id(cm_id);
}

/* ---- events at the consumer ---- */

static void request_carries_everything(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN), *cm_id;
	struct sockaddr_storage wire = iwt_address(0x0a000001, 1001);
	struct sockaddr_storage peer = iwt_address(0x0a000002, 0x1234);
	const struct fake_heard *heard = fake->heard;

	KUNIT_EXPECT_EQ(test, iwt_request(listener, 0x1234), 0);
	iwt_settle(listener);
	KUNIT_ASSERT_EQ(test, fake->n_heard, 1);
	cm_id = heard->cm_id;
	KUNIT_EXPECT_PTR_EQ(test, cm_id->context, (void *)fake);
	KUNIT_EXPECT_PTR_EQ(test, cm_id->provider_data, (void *)0x1234);
	KUNIT_EXPECT_EQ(test, heard->event.private_data_len, 2);
	KUNIT_EXPECT_EQ(test, heard->data[0], 0x34);
	KUNIT_EXPECT_EQ(test, heard->data[1], 0x12);
	KUNIT_EXPECT_MEMEQ(test, &heard->event.local_addr, &wire, sizeof(wire));
	KUNIT_EXPECT_MEMEQ(test, &heard->event.remote_addr, &peer, sizeof(peer));
	KUNIT_EXPECT_MEMEQ(test, &cm_id->m_local_addr, &wire, sizeof(wire));
	KUNIT_EXPECT_MEMEQ(test, &cm_id->remote_addr, &peer, sizeof(peer));
	KUNIT_EXPECT_MEMEQ(test, &cm_id->local_addr, &listener->local_addr, sizeof(wire));
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_REJECT], 1);
	iw_destroy_cm_id(listener);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_UNLISTEN], 1);
}

static void reply_names_the_consumers_addresses(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id_in(fake, IWCM_CONNECTING);
	struct sockaddr_storage wire = iwt_address(0x0a000002, 2001);
	u8 data[U8_MAX];
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY, .private_data = data,
		.private_data_len = sizeof(data), .remote_addr = wire,
	};

	memset(data, 0x5a, sizeof(data));
	KUNIT_EXPECT_EQ(test, cm_id->event_handler(cm_id, &event), 0);
	memset(data, 0, sizeof(data));
	iwt_settle(cm_id);
	KUNIT_ASSERT_EQ(test, fake->n_heard, 1);
	KUNIT_EXPECT_MEMEQ(test, &fake->heard[0].event.remote_addr, &cm_id->remote_addr,
			   sizeof(wire));
	KUNIT_EXPECT_MEMEQ(test, &cm_id->m_remote_addr, &wire, sizeof(wire));
	memset(data, 0x5a, sizeof(data));
	KUNIT_EXPECT_MEMEQ(test, fake->heard[0].data, data, sizeof(data));
	iw_destroy_cm_id(cm_id);
}

static int accept_and_report(struct fake_iwarp *fake, struct iw_cm_id *cm_id,
			     struct iw_cm_event *event)
{
	struct iw_cm_conn_param param = iwt_param();

	if (event->event != IW_CM_EVENT_CONNECT_REQUEST)
		return 0;
	KUNIT_EXPECT_EQ(fake->test, iw_cm_accept(cm_id, &param), 0);
	iwt_report(cm_id, IW_CM_EVENT_ESTABLISHED, 0);
	iwt_report(cm_id, IW_CM_EVENT_DISCONNECT, 0);
	iwt_report(cm_id, IW_CM_EVENT_CLOSE, 0);
	/* None of these events is delivered before this handler returns. */
	KUNIT_EXPECT_EQ(fake->test, to_iwcm_id(cm_id)->n_pending, 3);
	KUNIT_EXPECT_FALSE(fake->test, work_busy(&to_iwcm_id(cm_id)->work));
	return 0;
}

static void events_come_in_order(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN);

	fake->act = accept_and_report;
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 5), 0);
	iwt_wait_heard(fake, 3);
	KUNIT_EXPECT_EQ(test, fake->heard[0].event.event, IW_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, fake->heard[1].event.event, IW_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake->heard[2].event.event, IW_CM_EVENT_CLOSE);
	iw_destroy_cm_id(fake->heard[0].cm_id);
	iw_destroy_cm_id(listener);
}

/* Each kind of event is queued once, so that a driver that repeats one does not displace others. */
static void repeated_events_are_dropped(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id_in(fake, IWCM_CONNECTING);

	/* The worker does not run, as if it were delayed. */
	to_iwcm_id(cm_id)->held = true;
	for (int i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, 0), 0);
		KUNIT_EXPECT_EQ(test, iwt_report(cm_id, IW_CM_EVENT_DISCONNECT, 0), 0);
	}
	to_iwcm_id(cm_id)->held = false;
	KUNIT_EXPECT_EQ(test, iwt_report(cm_id, IW_CM_EVENT_CLOSE, 0), 0);
	iwt_settle(cm_id);
	KUNIT_EXPECT_EQ(test, fake->n_heard, 2);
	KUNIT_EXPECT_EQ(test, fake->heard[1].event.event, IW_CM_EVENT_CLOSE);
	iw_destroy_cm_id(cm_id);
}

static void disconnects_gracefully_or_not(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;

	for (int abrupt = 0; abrupt < 2; abrupt++) {
		struct iw_cm_id *cm_id = iwt_id_in(fake, IWCM_ESTABLISHED);

		fake->qp_state = IB_QPS_RESET;
		KUNIT_EXPECT_EQ(test, iw_cm_disconnect(cm_id, abrupt), 0);
		KUNIT_EXPECT_EQ(test, fake->qp_state, abrupt ? IB_QPS_ERR : IB_QPS_SQD);
		fake->qp_state = IB_QPS_RESET;
		KUNIT_EXPECT_EQ(test, iw_cm_disconnect(cm_id, abrupt), 0);
		KUNIT_EXPECT_EQ(test, fake->qp_state, IB_QPS_RESET);
		iw_destroy_cm_id(cm_id);
		KUNIT_EXPECT_EQ(test, fake->qp_state, IB_QPS_RESET);
	}
}

static void small_calls(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *cm_id = iwt_id(fake);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	struct ib_device *other = _ib_alloc_device(sizeof(*other));
	int mask = -1;

	KUNIT_EXPECT_EQ(test, iw_cm_init_qp_attr(cm_id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
	KUNIT_EXPECT_EQ(test, attr.qp_access_flags, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, iw_cm_init_qp_attr(cm_id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, 0);
	attr.qp_state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, iw_cm_init_qp_attr(cm_id, &attr, &mask), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 0), 0);
	KUNIT_EXPECT_EQ(test, to_iwcm_id(cm_id)->backlog, 256);
	iw_destroy_cm_id(cm_id);

	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ECONNREFUSED), "refused by remote application");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ECONNRESET), "reset by remote host");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ETIMEDOUT), "setup timeout");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-1000), "unrecognized reason");

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, PTR_ERR(iw_create_cm_id(other, NULL, NULL)), -EOPNOTSUPP);
	ib_dealloc_device(other);
}

/* ---- refusals and lack of memory ---- */

static void driver_refuses(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_conn_param param = iwt_param();
	struct iw_cm_id *cm_id = iwt_id(fake);

	for (int op = 0; op < FAKE_OPS; op++)
		fake->answer[op] = -EIO - op;
	KUNIT_EXPECT_EQ(test, iw_cm_connect(cm_id, &param), -EIO - FAKE_CONNECT);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), -EIO - FAKE_LISTEN);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), 0);
	/* It works again when the driver does. */
	fake->answer[FAKE_CONNECT] = 0;
	KUNIT_EXPECT_EQ(test, iw_cm_connect(cm_id, &param), 0);
	end(cm_id);

	fake->answer[FAKE_LISTEN] = 0;
	cm_id = iwt_id_in(fake, IWCM_REQUESTED);
	KUNIT_EXPECT_EQ(test, iw_cm_accept(cm_id, &param), -EIO - FAKE_ACCEPT);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, fake->calls[FAKE_REJECT], 0);

	cm_id = iwt_id_in(fake, IWCM_REQUESTED);
	KUNIT_EXPECT_EQ(test, iw_cm_reject(cm_id, NULL, 0), -EIO - FAKE_REJECT);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	iw_destroy_cm_id(cm_id);
}

static void unknown_qp_is_refused(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_conn_param param = { .qpn = FAKE_QPN + 1 };
	struct iw_cm_id *cm_id = iwt_id(fake);

	KUNIT_EXPECT_EQ(test, iw_cm_connect(cm_id, &param), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_IDLE);
	iw_destroy_cm_id(cm_id);
	cm_id = iwt_id_in(fake, IWCM_REQUESTED);
	KUNIT_EXPECT_EQ(test, iw_cm_accept(cm_id, &param), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwt_state(cm_id), IWCM_REQUESTED);
	iw_destroy_cm_id(cm_id);
}

#ifdef CONFIG_FAILSLAB
static void memory_is_short(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;
	struct iw_cm_id *listener = iwt_id_in(fake, IWCM_LISTEN);
	struct iw_cm_id *cm_id = iwt_id_in(fake, IWCM_CONNECTING);
	int heard = fake->n_heard;

	current->fail_nth = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(iw_create_cm_id(&fake->ib, NULL, NULL)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	/* Without memory a request is refused while the driver can still refuse it. */
	current->fail_nth = 1;
	KUNIT_EXPECT_EQ(test, iwt_request(listener, 5), -ENOMEM);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	iwt_settle(listener);
	KUNIT_EXPECT_EQ(test, fake->n_heard, heard);

	/* The events that follow need no memory. */
	current->fail_nth = 1;
	iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, 0);
	iwt_report(cm_id, IW_CM_EVENT_DISCONNECT, 0);
	iwt_report(cm_id, IW_CM_EVENT_CLOSE, 0);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 1);
	current->fail_nth = 0;
	iwt_settle(cm_id);
	KUNIT_EXPECT_EQ(test, fake->n_heard, heard + 2);
	iw_destroy_cm_id(cm_id);
	iw_destroy_cm_id(listener);
}
#endif

static struct kunit_case id_cases[] = {
	KUNIT_CASE(table_balances),
	KUNIT_CASE(calls_in_every_state),
	KUNIT_CASE(calls_while_the_driver_works),
	KUNIT_CASE(events_in_every_state),
	KUNIT_CASE(requests_in_every_state),
	KUNIT_CASE(request_while_the_driver_begins),
	KUNIT_CASE(request_carries_everything),
	KUNIT_CASE(reply_names_the_consumers_addresses),
	KUNIT_CASE(events_come_in_order),
	KUNIT_CASE(repeated_events_are_dropped),
	KUNIT_CASE(disconnects_gracefully_or_not),
	KUNIT_CASE(small_calls),
	KUNIT_CASE(driver_refuses),
	KUNIT_CASE(unknown_qp_is_refused),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(memory_is_short),
#endif
	{}
};

static struct kunit_suite id_suite = {
	.name = "iw_cm_id",
	.suite_init = rdma_kunit_again,
	.init = fake_iwarp_init,
	.exit = fake_iwarp_exit,
	.test_cases = id_cases,
};

kunit_test_suite(id_suite);

MODULE_DESCRIPTION("KUnit tests of iw_cm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
