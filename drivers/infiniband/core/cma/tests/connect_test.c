// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: calls and events of connections in every state, and the life of an id from resolving its
 * address to the end of its connection, over a fake transport that notes how it is called.
 */
#include <kunit/static_stub.h>
#include <linux/slab.h>

#include "../connect.h"
#include "test_cma.h"

/**
 * struct fake - the fake transport
 * @connects: calls of connect
 * @accepts: of accept
 * @confirms: of confirm
 * @rejects: of reject
 * @disconnects: of disconnect
 * @ret: what they return, but for reject
 * @none: the port has no transport
 * @attr_mask: attributes that qp_attr says count
 * @ib: the id of ib_cm that it pretends to have made
 * @ece: of the id when it connected or accepted
 * @qp_num: as well
 */
static struct fake {
	unsigned int connects;
	unsigned int accepts;
	unsigned int confirms;
	unsigned int rejects;
	unsigned int disconnects;
	int ret;
	bool none;
	int attr_mask;
	struct ib_cm_id ib;
	struct rdma_ucm_ece ece;
	u32 qp_num;
} fake;

static void note(const struct cma_id *id)
{
	fake.ece = id->ece;
	fake.qp_num = id->qp_num;
}

static int fake_connect(struct cma_id *id, const struct rdma_conn_param *param)
{
	fake.connects++;
	note(id);
	if (!fake.ret)
		id->cm_id.ib = &fake.ib;
	return fake.ret;
}

static int fake_accept(struct cma_id *id, const struct rdma_conn_param *param)
{
	fake.accepts++;
	note(id);
	return fake.ret;
}

static int fake_confirm(struct cma_id *id)
{
	fake.confirms++;
	return fake.ret;
}

static int fake_reject(struct cma_id *id, const void *data, u8 len, u8 reason)
{
	fake.rejects++;
	return 0;
}

static int fake_disconnect(struct cma_id *id)
{
	fake.disconnects++;
	return fake.ret;
}

#define ATTR_TIMEOUT	14
#define ATTR_RNR_TIMER	12

static int fake_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask = fake.attr_mask;
	attr->timeout = ATTR_TIMEOUT;
	attr->min_rnr_timer = ATTR_RNR_TIMER;
	return fake.ret;
}

static const struct cma_transport fake_transport = {
	.connect = fake_connect,
	.accept = fake_accept,
	.confirm = fake_confirm,
	.reject = fake_reject,
	.disconnect = fake_disconnect,
	.qp_attr = fake_qp_attr,
};

static const struct cma_transport *play_transport(const struct cma_id *id)
{
	return fake.none ? NULL : &fake_transport;
}

static int connect_init(struct kunit *test)
{
	int ret = ct_init(test);

	if (ret)
		return ret;
	memset(&fake, 0, sizeof(fake));
	kunit_activate_static_stub(test, cma_transport, play_transport);
	ct_add_device(test->priv, 1);
	return 0;
}

/* The connections are the test's own, and ib_cm does not know them. */
static void connect_exit(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *consumer;

	ct_settle();
	list_for_each_entry(consumer, &t->consumers, entry)
		if (consumer->id)
			ct_id(consumer)->cm_id.ib = NULL;
	ct_exit(test);
}

/* An id with a device, whose state is set without leading it there. */
static struct consumer *in_state(struct kunit *test, enum rdma_cm_state state)
{
	struct consumer *consumer = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr own = ct_ip4(0x0a000101, 0);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(consumer->id, &own.any), 0);
	KUNIT_ASSERT_PTR_EQ(test, consumer->id->device,
			    &((struct cma_test *)test->priv)->device[0]->ib);
	ct_id(consumer)->state = state;
	return consumer;
}

/* Leads the id back to a state in which it can be destroyed. */
static void done_with(struct consumer *consumer)
{
	if (!consumer->id)
		return;
	ct_id(consumer)->cm_id.ib = NULL;
	ct_id(consumer)->state = RDMA_CM_ADDR_BOUND;
	ct_destroy(consumer);
}

/* ---- calls ---- */

static int call_resolve_route(struct rdma_cm_id *id)
{
	return rdma_resolve_route(id, 1000);
}

static int call_set_path(struct rdma_cm_id *id)
{
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB };

	return rdma_set_ib_path(id, &path);
}

static int call_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {};

	return rdma_connect(id, &param);
}

static int call_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {};
	int ret;

	to_cma_id(id)->cm_id.ib = &fake.ib;
	rdma_lock_handler(id);
	ret = rdma_accept(id, &param);
	rdma_unlock_handler(id);
	return ret;
}

/*
 * The state a call needs, where it leads, and its answer there: the port of the test has no
 * manager.
 */
static const struct {
	const char *name;
	int (*call)(struct rdma_cm_id *id);
	enum rdma_cm_state in, to;
	int ret;
} calls[] = {
	{ "resolve_route", call_resolve_route, RDMA_CM_ADDR_RESOLVED, RDMA_CM_ADDR_RESOLVED,
	  -ENOSYS },
	{ "set_ib_path", call_set_path, RDMA_CM_ADDR_RESOLVED, RDMA_CM_ROUTE_RESOLVED, 0 },
	{ "connect", call_connect, RDMA_CM_ROUTE_RESOLVED, RDMA_CM_CONNECT, 0 },
	{ "accept", call_accept, RDMA_CM_CONNECT, RDMA_CM_CONNECT, 0 },
};

static void connect_calls_in_states(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		for (int state = 0; state < CMA_STATES; state++) {
			bool fits = state == calls[i].in;
			struct consumer *consumer = in_state(test, state);

			KUNIT_EXPECT_EQ_MSG(test, calls[i].call(consumer->id),
					    fits ? calls[i].ret : -EINVAL, "%s in %d",
					    calls[i].name, state);
			KUNIT_EXPECT_EQ_MSG(test, cma_state(ct_id(consumer)),
					    fits ? calls[i].to : state, "%s in %d",
					    calls[i].name, state);
			KUNIT_EXPECT_EQ(test, consumer->calls, 0);
			done_with(consumer);
		}
	}
	KUNIT_EXPECT_EQ(test, fake.connects, 1);
	KUNIT_EXPECT_EQ(test, fake.accepts, 1);
	KUNIT_EXPECT_EQ(test, fake.rejects, 0);
}

/* An address is resolved by a new id and by a bound one. */
static void connect_resolve_addr_in_states(struct kunit *test)
{
	union ct_addr to = ct_ip4(0x7f000001, 7);

	for (int state = 0; state < CMA_STATES; state++) {
		struct consumer *consumer = in_state(test, state);
		bool fits = state == RDMA_CM_ADDR_BOUND;

		/* IDLE would bind what is bound; it has a test of its own. */
		if (state == RDMA_CM_IDLE) {
			done_with(consumer);
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, rdma_resolve_addr(consumer->id, NULL, &to.any, 100),
				    fits ? 0 : -EINVAL, "in %d", state);
		ct_settle();
		KUNIT_EXPECT_EQ_MSG(test, consumer->calls, fits ? 1 : 0, "in %d", state);
		KUNIT_EXPECT_EQ(test, cma_state(ct_id(consumer)),
				fits ? RDMA_CM_ADDR_RESOLVED : state);
		if (fits)
			KUNIT_EXPECT_EQ(test, consumer->events[0], RDMA_CM_EVENT_ADDR_RESOLVED);
		done_with(consumer);
	}
}

/* Calls that need a connection are refused without one in every state. */
static void connect_calls_without_connection(struct kunit *test)
{
	for (int state = 0; state < CMA_STATES; state++) {
		struct consumer *consumer = in_state(test, state);
		struct rdma_cm_id *id = consumer->id;

		KUNIT_EXPECT_EQ(test, rdma_reject(id, NULL, 0, 28), -EINVAL);
		KUNIT_EXPECT_EQ(test, rdma_disconnect(id), -EINVAL);
		KUNIT_EXPECT_EQ(test, rdma_notify(id, IB_EVENT_COMM_EST), -EINVAL);
		done_with(consumer);
	}
	KUNIT_EXPECT_EQ(test, fake.rejects + fake.disconnects, 0);
}

/* ---- events of ib_cm ---- */

static const struct {
	enum ib_cm_event_type ib;
	enum rdma_cm_state in, to;
	enum rdma_cm_event_type event;
	int status;
} ib_events[] = {
	{ IB_CM_REQ_ERROR, RDMA_CM_CONNECT, RDMA_CM_CONNECT, RDMA_CM_EVENT_UNREACHABLE,
	  -ETIMEDOUT },
	{ IB_CM_REP_ERROR, RDMA_CM_CONNECT, RDMA_CM_CONNECT, RDMA_CM_EVENT_UNREACHABLE,
	  -ETIMEDOUT },
	{ IB_CM_RTU_RECEIVED, RDMA_CM_CONNECT, RDMA_CM_CONNECT, RDMA_CM_EVENT_ESTABLISHED, 0 },
	{ IB_CM_USER_ESTABLISHED, RDMA_CM_CONNECT, RDMA_CM_CONNECT, RDMA_CM_EVENT_ESTABLISHED, 0 },
	{ IB_CM_DREQ_ERROR, RDMA_CM_CONNECT, RDMA_CM_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED,
	  -ETIMEDOUT },
	{ IB_CM_DREQ_RECEIVED, RDMA_CM_CONNECT, RDMA_CM_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED, 0 },
	{ IB_CM_DREP_RECEIVED, RDMA_CM_CONNECT, RDMA_CM_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED, 0 },
	{ IB_CM_TIMEWAIT_EXIT, RDMA_CM_DISCONNECT, RDMA_CM_DISCONNECT,
	  RDMA_CM_EVENT_TIMEWAIT_EXIT, 0 },
	{ IB_CM_REJ_RECEIVED, RDMA_CM_CONNECT, RDMA_CM_CONNECT, RDMA_CM_EVENT_REJECTED, 28 },
	/* The consumer gets no event. */
	{ IB_CM_MRA_RECEIVED, CMA_STATES },
	{ IB_CM_LAP_ERROR, CMA_STATES },
	{ IB_CM_LAP_RECEIVED, CMA_STATES },
	{ IB_CM_APR_RECEIVED, CMA_STATES },
	{ IB_CM_SIDR_REP_RECEIVED, CMA_STATES },
};

static void connect_ib_events_in_states(struct kunit *test)
{
	static char data[IB_CM_REJ_PRIVATE_DATA_SIZE];

	for (unsigned int i = 0; i < ARRAY_SIZE(ib_events); i++) {
		for (int state = 0; state < CMA_STATES; state++) {
			struct consumer *consumer = in_state(test, state);
			struct ib_cm_id cm_id = { .context = ct_id(consumer) };
			struct ib_cm_event event = {
				.event = ib_events[i].ib,
				.private_data = data,
			};
			bool fits = state == ib_events[i].in;

			if (event.event == IB_CM_REJ_RECEIVED)
				event.param.rej_rcvd.reason = 28;
			KUNIT_EXPECT_EQ(test, cma_ib_event(&cm_id, &event), 0);
			KUNIT_EXPECT_EQ_MSG(test, consumer->calls, fits ? 1 : 0,
					    "event %d in %d", event.event, state);
			KUNIT_EXPECT_EQ_MSG(test, cma_state(ct_id(consumer)),
					    fits ? ib_events[i].to : state, "event %d in %d",
					    event.event, state);
			if (fits) {
				KUNIT_EXPECT_EQ(test, consumer->last.event, ib_events[i].event);
				KUNIT_EXPECT_EQ(test, consumer->last.status, ib_events[i].status);
				KUNIT_EXPECT_FALSE(test, consumer->unlocked);
			}
			done_with(consumer);
		}
	}
}

/* A handler that gives its id up destroys it, and ib_cm learns that by the return value. */
static void connect_handler_destroys(struct kunit *test)
{
	static const enum ib_cm_event_type all[] = {
		IB_CM_REQ_ERROR, IB_CM_RTU_RECEIVED, IB_CM_DREQ_RECEIVED, IB_CM_REJ_RECEIVED,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		struct consumer *consumer = in_state(test, RDMA_CM_CONNECT);
		struct ib_cm_id cm_id = { .context = ct_id(consumer) };
		struct ib_cm_event event = { .event = all[i] };

		ct_id(consumer)->cm_id.ib = &cm_id;
		consumer->ret = -5;
		KUNIT_EXPECT_EQ(test, cma_ib_event(&cm_id, &event), -5);
		KUNIT_EXPECT_NULL(test, consumer->id);
		KUNIT_EXPECT_EQ(test, consumer->calls, 1);
	}
}

/* ---- events of iw_cm ---- */

static const struct {
	enum iw_cm_event_type iw;
	int status;
	bool heard;
	enum rdma_cm_event_type event;
} iw_events[] = {
	{ IW_CM_EVENT_CONNECT_REPLY, 0, true, RDMA_CM_EVENT_ESTABLISHED },
	{ IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED, true, RDMA_CM_EVENT_REJECTED },
	{ IW_CM_EVENT_CONNECT_REPLY, -ECONNRESET, true, RDMA_CM_EVENT_REJECTED },
	{ IW_CM_EVENT_CONNECT_REPLY, -ETIMEDOUT, true, RDMA_CM_EVENT_UNREACHABLE },
	{ IW_CM_EVENT_CONNECT_REPLY, -EIO, true, RDMA_CM_EVENT_CONNECT_ERROR },
	{ IW_CM_EVENT_ESTABLISHED, 0, true, RDMA_CM_EVENT_ESTABLISHED },
	{ IW_CM_EVENT_CLOSE, 0, true, RDMA_CM_EVENT_DISCONNECTED },
	{ IW_CM_EVENT_DISCONNECT, 0, false },
	{ IW_CM_EVENT_CONNECT_REQUEST, 0, false },
};

static void connect_iw_events_in_states(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(iw_events); i++) {
		for (int state = 0; state < CMA_STATES; state++) {
			struct consumer *consumer = in_state(test, state);
			struct iw_cm_id cm_id = { .context = ct_id(consumer) };
			struct iw_cm_event event = {
				.event = iw_events[i].iw, .status = iw_events[i].status,
				.ird = 3, .ord = 5,
			};
			bool fits = iw_events[i].heard && state == RDMA_CM_CONNECT;

			event.local_addr = consumer->id->route.addr.src_addr;
			event.remote_addr = event.local_addr;
			KUNIT_EXPECT_EQ(test, cma_iw_event(&cm_id, &event), 0);
			KUNIT_EXPECT_EQ_MSG(test, consumer->calls, fits ? 1 : 0, "row %u in %d", i,
					    state);
			KUNIT_EXPECT_EQ(test, cma_state(ct_id(consumer)), state);
			if (fits) {
				KUNIT_EXPECT_EQ(test, consumer->last.event, iw_events[i].event);
				KUNIT_EXPECT_EQ(test, consumer->last.status, event.status);
			}
			if (fits && consumer->last.event == RDMA_CM_EVENT_ESTABLISHED) {
				KUNIT_EXPECT_EQ(test, consumer->last.param.conn.initiator_depth, 3);
				KUNIT_EXPECT_EQ(test, consumer->last.param.conn.responder_resources,
						5);
			}
			done_with(consumer);
		}
	}
}

/* ---- the whole way ---- */

/* AF_IB needs no look-up: GID to GID, path by the consumer, connection, end. */
static void connect_the_whole_way(struct kunit *test)
{
	struct consumer *consumer = ct_consumer(test, RDMA_PS_IB, IB_QPT_RC);
	union ct_addr to = ct_ib(1, 2, RDMA_IB_IP_PS_IB | 9, U64_MAX);
	struct rdma_conn_param param = { .qp_num = 0x123, .srq = 1 };
	struct rdma_ucm_ece ece = { .vendor_id = 4, .attr_mod = 2 };
	struct ib_cm_event event = { .event = IB_CM_RTU_RECEIVED };
	struct rdma_cm_id *id = consumer->id;
	union ib_gid gid;

	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(id, NULL, &to.any, 100), 0);
	ct_settle();
	KUNIT_ASSERT_EQ(test, consumer->calls, 1);
	KUNIT_EXPECT_EQ(test, consumer->events[0], RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_EXPECT_EQ(test, consumer->status[0], 0);
	KUNIT_EXPECT_EQ(test, id->port_num, 2);
	rdma_addr_get_dgid(&id->route.addr.dev_addr, &gid);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, to.ib.sib_addr.sib_raw, sizeof(gid));

	KUNIT_ASSERT_EQ(test, call_set_path(id), 0);
	KUNIT_EXPECT_EQ(test, id->route.num_pri_alt_paths, 1);
	fake.ret = -EIO;
	KUNIT_EXPECT_EQ(test, rdma_connect_ece(id, &param, &ece), -EIO);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(consumer)), RDMA_CM_ROUTE_RESOLVED);
	fake.ret = 0;
	KUNIT_ASSERT_EQ(test, rdma_connect_ece(id, &param, &ece), 0);
	KUNIT_EXPECT_EQ(test, fake.ece.vendor_id, 4);
	KUNIT_EXPECT_EQ(test, fake.qp_num, 0x123);

	fake.ib.context = ct_id(consumer);
	KUNIT_EXPECT_EQ(test, cma_ib_event(&fake.ib, &event), 0);
	KUNIT_EXPECT_EQ(test, consumer->events[1], RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(id), 0);
	KUNIT_EXPECT_EQ(test, fake.disconnects, 1);
	event.event = IB_CM_DREP_RECEIVED;
	KUNIT_EXPECT_EQ(test, cma_ib_event(&fake.ib, &event), 0);
	KUNIT_EXPECT_EQ(test, cma_ib_event(&fake.ib, &event), 0);
	event.event = IB_CM_TIMEWAIT_EXIT;
	KUNIT_EXPECT_EQ(test, cma_ib_event(&fake.ib, &event), 0);
	KUNIT_EXPECT_EQ(test, consumer->calls, 4);
	KUNIT_EXPECT_EQ(test, consumer->events[2], RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, consumer->events[3], RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

/* ---- QPs of consumers ---- */

/* What the transport says of a QP, and what its consumer has said before. */
static void connect_qp_attributes(struct kunit *test)
{
	struct consumer *consumer = in_state(test, RDMA_CM_CONNECT);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	struct rdma_cm_id *id = consumer->id;
	int mask;

	fake.attr_mask = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_MIN_RNR_TIMER;
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, fake.attr_mask);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, attr.timeout, ATTR_TIMEOUT);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, ATTR_RNR_TIMER);

	KUNIT_ASSERT_EQ(test, rdma_set_ack_timeout(id, 17), 0);
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.timeout, 17);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, ATTR_RNR_TIMER);
	KUNIT_ASSERT_EQ(test, rdma_set_min_rnr_timer(id, 3), 0);
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.timeout, 17);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, 3);
	/* Nothing is said of attributes that do not count in this step. */
	fake.attr_mask = IB_QP_STATE;
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_STATE);
	KUNIT_EXPECT_EQ(test, attr.timeout, ATTR_TIMEOUT);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, ATTR_RNR_TIMER);

	fake.attr_mask = IB_QP_STATE | IB_QP_TIMEOUT;
	fake.ret = -ENOENT;
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), -ENOENT);
	KUNIT_EXPECT_EQ(test, attr.timeout, ATTR_TIMEOUT);
	fake.ret = 0;
	fake.none = true;
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(id, &attr, &mask), -ENOSYS);
	fake.none = false;
	done_with(consumer);
}

/* ---- ids of programs ---- */

static int never_called(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	WARN_ON(1);
	return 0;
}

/* An id of a program is as a module's, but belongs to the process and its network namespace. */
static void connect_user_id(struct kunit *test)
{
	unsigned int users = refcount_read(&current->usage);
	struct rdma_cm_id *id, *kernel;
	union ct_addr own = ct_ip4(0x0a000101, 0);

	id = rdma_create_user_id(never_called, test, RDMA_PS_UDP, IB_QPT_UD);
	kernel = rdma_create_id(&init_net, never_called, test, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id) || IS_ERR(kernel));
	KUNIT_EXPECT_TRUE(test, id->event_handler == never_called);
	KUNIT_EXPECT_PTR_EQ(test, id->context, (void *)test);
	KUNIT_EXPECT_EQ(test, id->ps, RDMA_PS_UDP);
	KUNIT_EXPECT_EQ(test, id->qp_type, IB_QPT_UD);
	KUNIT_EXPECT_PTR_EQ(test, id->route.addr.dev_addr.net, current->nsproxy->net_ns);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&to_cma_id(id)->owner));
	KUNIT_EXPECT_PTR_EQ(test, to_cma_id(id)->owner.task, current);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), users + 1);
	KUNIT_EXPECT_TRUE(test, rdma_is_kernel_res(&to_cma_id(kernel)->owner));
	/* It finds devices as the other does. */
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, &own.any), 0);
	KUNIT_EXPECT_PTR_EQ(test, id->device,
			    &((struct cma_test *)test->priv)->device[0]->ib);
	rdma_destroy_id(kernel);
	rdma_destroy_id(id);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), users);
}

/* A failed accept rejects the peer. */
static void connect_accept_fails(struct kunit *test)
{
	struct consumer *consumer = in_state(test, RDMA_CM_CONNECT);

	fake.ret = -ENOMEM;
	KUNIT_EXPECT_EQ(test, call_accept(consumer->id), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake.rejects, 1);
	done_with(consumer);
}

/* Families that differ, and those that do not exist, leave the id as it was. */
static void connect_wrong_families(struct kunit *test)
{
	struct consumer *consumer = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr four = ct_ip4(0x0a000101, 0), six = ct_ip6(0xfd000000, 0x10001, 5);
	union ct_addr other = { .any.sa_family = AF_UNIX };
	struct rdma_cm_id *id = consumer->id;

	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, &other.any, 1), -EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, &four.any, &six.any, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(consumer)), RDMA_CM_IDLE);
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(id, &four.any), 0);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, &six.any, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(consumer)), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_EQ(test, consumer->calls, 0);
}

/* The handler of an id that is destroyed with an event in its queue is not called for it. */
static void connect_destroyed_before_event(struct kunit *test)
{
	for (unsigned int round = 0; round < 50; round++) {
		struct consumer *consumer = ct_consumer(test, RDMA_PS_IB, IB_QPT_RC);
		union ct_addr to = ct_ib(1, 2, RDMA_IB_IP_PS_IB | 9, U64_MAX);

		/* The event waits until the handler lock is free. */
		rdma_lock_handler(consumer->id);
		KUNIT_ASSERT_EQ(test, rdma_resolve_addr(consumer->id, NULL, &to.any, 100), 0);
		cma_destroy_unlock(ct_id(consumer));
		consumer->id = NULL;
		KUNIT_EXPECT_EQ(test, consumer->calls, 0);
	}
}

/* ---- private data ---- */

static void connect_private_data(struct kunit *test)
{
	struct consumer *consumer = in_state(test, RDMA_CM_ROUTE_RESOLVED);
	struct cma_id *id = ct_id(consumer);
	union ct_addr to = ct_ip4(0x0a000102, 99);
	struct cma_request_data *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);
	struct rdma_conn_param param = {};
	struct ipcm_ends ends;
	u8 bytes[256];

	KUNIT_ASSERT_NOT_NULL(test, data);
	memset(bytes, 0xa5, sizeof(bytes));
	id->id.route.addr.dst_addr = to.room;
	param.private_data = bytes;
	for (unsigned int len = 0; len < 256; len++) {
		param.private_data_len = len;
		KUNIT_ASSERT_EQ_MSG(test, cma_request_data(id, &param, IB_CM_REQ_PRIVATE_DATA_SIZE,
							   data), len <= 56 ? 0 : -EINVAL,
				    "%u bytes", len);
		if (len > 56)
			continue;
		KUNIT_EXPECT_EQ(test, data->len, 36 + len);
		KUNIT_EXPECT_MEMEQ(test, data->bytes + 36, bytes, len);
		KUNIT_EXPECT_EQ(test, ipcm_parse(&ends, data->bytes, cpu_to_be64(99)), 0);
		KUNIT_EXPECT_MEMEQ(test, &ends.local, &to.room, sizeof(struct sockaddr_in));
	}
	/* An AF_IB id has all the room for its consumer. */
	id->id.route.addr.src_addr.ss_family = AF_IB;
	param.private_data_len = 92;
	KUNIT_EXPECT_EQ(test, cma_request_data(id, &param, IB_CM_REQ_PRIVATE_DATA_SIZE, data), 0);
	KUNIT_EXPECT_EQ(test, data->len, 92);
	param.private_data_len = 93;
	KUNIT_EXPECT_EQ(test, cma_request_data(id, &param, IB_CM_REQ_PRIVATE_DATA_SIZE, data),
			-EINVAL);
	id->id.route.addr.src_addr.ss_family = AF_INET;
	done_with(consumer);
}

#ifdef CONFIG_FAILSLAB
static int hear_nothing(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

enum way {
	WAY_CREATE,
	WAY_ADDRESS,
	WAY_PATH,
	WAY_CONNECT,
	WAY_END
};

/*
 * From GID to GID until the transport is to connect; what could not be done is *@at. The port
 * is given, since the number of an ephemeral one decides how many allocations it takes.
 */
static int short_way(struct rdma_cm_id **id, enum way *at)
{
	union ct_addr from = ct_ib(1, 1, RDMA_IB_IP_PS_IB | 7777, U64_MAX);
	union ct_addr to = ct_ib(1, 2, RDMA_IB_IP_PS_IB | 9, U64_MAX);
	struct rdma_conn_param param = { .qp_num = 0x123 };
	int ret;

	*at = WAY_CREATE;
	*id = rdma_create_id(&init_net, hear_nothing, NULL, RDMA_PS_IB, IB_QPT_RC);
	if (IS_ERR(*id))
		return PTR_ERR(*id);
	*at = WAY_ADDRESS;
	ret = rdma_resolve_addr(*id, &from.any, &to.any, 100);
	if (ret)
		return ret;
	ct_settle();
	*at = WAY_PATH;
	ret = call_set_path(*id);
	if (ret)
		return ret;
	*at = WAY_CONNECT;
	ret = rdma_connect(*id, &param);
	if (!ret)
		*at = WAY_END;
	return ret;
}

/* Each allocation of the calls fails once: then the call fails, and no event follows. */
static unsigned long starve_short_way(struct kunit *test)
{
	unsigned long failed = 0;
	bool spared = false;

	for (unsigned int nth = 1; nth < 100 && !spared; nth++) {
		struct rdma_cm_id *id;
		enum way at;
		int ret;

		current->fail_nth = nth;
		ret = short_way(&id, &at);
		spared = current->fail_nth;
		current->fail_nth = 0;
		__set_bit(at, &failed);
		if (ret)
			KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %u", nth);
		if (IS_ERR(id))
			continue;
		KUNIT_EXPECT_EQ(test, fake.connects, !ret);
		fake.connects = 0;
		to_cma_id(id)->cm_id.ib = NULL;
		rdma_destroy_id(id);
	}
	KUNIT_EXPECT_TRUE(test, spared);
	return failed;
}

/*
 * The checkers of the debug kernel allocate now and then, too, and do without. That moves what
 * comes behind, so that a sweep may leave out one of ours; each call that has any fails in some.
 */
static void connect_without_memory(struct kunit *test)
{
	unsigned long failed = 0;

	for (int sweep = 0; sweep < 3; sweep++)
		failed |= starve_short_way(test);
	KUNIT_EXPECT_EQ(test, failed,
			BIT(WAY_CREATE) | BIT(WAY_ADDRESS) | BIT(WAY_PATH) | BIT(WAY_END));
}
#endif

static struct kunit_case connect_cases[] = {
	KUNIT_CASE(connect_calls_in_states),
	KUNIT_CASE(connect_resolve_addr_in_states),
	KUNIT_CASE(connect_calls_without_connection),
	KUNIT_CASE(connect_ib_events_in_states),
	KUNIT_CASE(connect_handler_destroys),
	KUNIT_CASE(connect_iw_events_in_states),
	KUNIT_CASE(connect_the_whole_way),
	KUNIT_CASE(connect_qp_attributes),
	KUNIT_CASE(connect_user_id),
	KUNIT_CASE(connect_accept_fails),
	KUNIT_CASE(connect_wrong_families),
	KUNIT_CASE(connect_destroyed_before_event),
	KUNIT_CASE(connect_private_data),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(connect_without_memory),
#endif
	{}
};

static struct kunit_suite connect_suite = {
	.name = "rdma_cm_connect",
	.init = connect_init,
	.exit = connect_exit,
	.test_cases = connect_cases,
};

kunit_test_suite(connect_suite);
