// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_net.h: the consumers.
 */
#include <linux/slab.h>

#include "fake_net.h"

/**
 * fake_path() - the path between two devices
 * @from: here
 * @to: there
 *
 * Return: the record, without GRH. Its packets live so short that TIMEWAIT is over soon.
 */
struct sa_path_rec fake_path(struct fake_node *from, struct fake_node *to)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL),
		.reversible = 1,
		.sl = 3,
		.mtu = IB_MTU_2048,
		.rate = IB_RATE_10_GBPS,
		.packet_life_time = 2,
	};

	/* The GIDs are those of the devices, which may be gone. */
	rec.sgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	rec.dgid.global.subnet_prefix = rec.sgid.global.subnet_prefix;
	rec.sgid.global.interface_id = cpu_to_be64(from->lid);
	rec.dgid.global.interface_id = cpu_to_be64(to->lid);
	sa_path_set_slid(&rec, from->lid);
	sa_path_set_dlid(&rec, to->lid);
	return rec;
}

bool consumer_heard(const struct consumer *consumer, enum ib_cm_event_type event)
{
	for (unsigned int i = 0; i < consumer->num_events; i++)
		if (consumer->events[i] == event)
			return true;
	return false;
}

enum ib_cm_state consumer_state(const struct consumer *consumer)
{
	return consumer->id ? consumer->id->state : IB_CM_IDLE;
}

static int accept(struct consumer *consumer)
{
	static const u8 data[] = { 0xb0, 0xb1 };
	struct ib_cm_rep_param param = {
		.qp_num = consumer->qpn, .starting_psn = 0x2222, .private_data = data,
		.private_data_len = sizeof(data), .responder_resources = 5, .initiator_depth = 6,
		.rnr_retry_count = 7,
	};

	if (consumer->mra)
		consumer->errors += !!ib_send_cm_mra(consumer->id, 20, NULL, 0);
	return ib_send_cm_rep(consumer->id, &param);
}

static int complete_connection(struct consumer *consumer)
{
	if (consumer->mra)
		consumer->errors += !!ib_send_cm_mra(consumer->id, 20, NULL, 0);
	return ib_send_cm_rtu(consumer->id, "rtu", 3);
}

/* What a consumer does about an event. */
static int react(struct consumer *consumer, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		if (consumer->silent)
			return 0;
		if (consumer->rej)
			return ib_send_cm_rej(consumer->id, consumer->rej, NULL, 0, "no", 2);
		return accept(consumer);
	case IB_CM_REP_RECEIVED:
		return consumer->silent ? 0 : complete_connection(consumer);
	case IB_CM_DREQ_RECEIVED:
		return consumer->silent ? 0 : ib_send_cm_drep(consumer->id, NULL, 0);
	case IB_CM_SIDR_REQ_RECEIVED: {
		struct ib_cm_sidr_rep_param param = {
			.qp_num = consumer->qpn, .qkey = 0x1ee, .private_data = "sidr",
			.private_data_len = 4,
		};

		return consumer->silent ? 0 : ib_send_cm_sidr_rep(consumer->id, &param);
	}
	default:
		return 0;
	}
}

/*
 * As react(), but an allocation may fail on the way. What does not succeed for want of memory must
 * have left no trace, so that the same calls succeed after that.
 */
static int react_without_memory(struct consumer *consumer, const struct ib_cm_event *event)
{
#ifdef CONFIG_FAILSLAB
	struct fake_net *net = consumer->net;

	scoped_guard(mutex, &net->calls) {
		int ret;

		current->fail_nth = net->fail_nth;
		ret = react(consumer, event);
		net->fail_nth = current->fail_nth;
		current->fail_nth = 0;
		if (ret != -ENOMEM)
			return ret;
	}
#endif
	return react(consumer, event);
}

/**
 * consumer_handler() - handler of all consumers' ids
 * @id: the id; its context is the consumer
 * @event: what has happened
 *
 * Return: what the test wants the consumer to return.
 */
int consumer_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct consumer *consumer = id->context;
	int ret = 0;

	/* A request for a service comes again if the answer was lost: the first is done with. */
	if (event->event == IB_CM_SIDR_REQ_RECEIVED && consumer->id && consumer->id != id &&
	    consumer_state(consumer) == IB_CM_IDLE) {
		ib_destroy_cm_id(consumer->id);
		consumer->id = NULL;
	}
	/* A consumer wants one connection alone. */
	if (event->event == IB_CM_REQ_RECEIVED || event->event == IB_CM_SIDR_REQ_RECEIVED) {
		if (consumer->id && consumer->id != id)
			return -EBUSY;
		consumer->id = id;
	}
	if (consumer->num_events < CONSUMER_EVENTS)
		consumer->events[consumer->num_events++] = event->event;
	consumer->last = *event;
	consumer->data = event->private_data ? *(u8 *)event->private_data : 0;
	if (consumer->stops_for == event->event) {
		complete(&consumer->inside);
		wait_for_completion(&consumer->outside);
	}
	if (consumer->returns_for == event->event)
		ret = consumer->returns;
	else
		consumer->errors += !!react_without_memory(consumer, event);
	if (ret)
		consumer->id = NULL;
	if (event->event == IB_CM_TIMEWAIT_EXIT)
		complete(&consumer->rested);
	return ret;
}

/**
 * consumer_init() - begin a consumer
 * @consumer: zeroes
 * @net: its net
 * @qpn: QP that it connects
 */
void consumer_init(struct consumer *consumer, struct fake_net *net, u32 qpn)
{
	consumer->net = net;
	consumer->qpn = qpn;
	consumer->stops_for = -1;
	consumer->returns_for = -1;
	init_completion(&consumer->rested);
	init_completion(&consumer->inside);
	init_completion(&consumer->outside);
}

/**
 * consumer_connect() - send a REQ from device a to device b
 * @consumer: consumer with an id
 *
 * Return: what ib_send_cm_req() returned.
 */
int consumer_connect(struct consumer *consumer)
{
	static const u8 data[] = { 0xa0, 0xa1 };
	struct sa_path_rec path = fake_path(consumer->net->a, consumer->net->b);
	struct ib_cm_req_param param = {
		.primary_path = &path, .service_id = cpu_to_be64(FAKE_SERVICE),
		.qp_num = consumer->qpn, .qp_type = IB_QPT_RC, .starting_psn = 0x1111,
		.private_data = data, .private_data_len = sizeof(data), .responder_resources = 3,
		.initiator_depth = 4, .remote_cm_response_timeout = 18,
		.local_cm_response_timeout = 18, .retry_count = 6, .rnr_retry_count = 5,
		.max_cm_retries = FAKE_RETRIES,
	};

	return ib_send_cm_req(consumer->id, &param);
}

/**
 * pair_begin() - make a consumer that listens at device b, and one at device a with an id
 * @test: the test
 *
 * Return: the pair, for pair_end().
 */
struct pair *pair_begin(struct kunit *test)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->net = fake_net_begin(test);
	consumer_init(&pair->active, pair->net, FAKE_QPN_A);
	consumer_init(&pair->passive, pair->net, FAKE_QPN_B);
	pair->listener = ib_create_cm_id(&pair->net->b->ib, consumer_handler, &pair->passive);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pair->listener));
	KUNIT_ASSERT_EQ(test, ib_cm_listen(pair->listener, cpu_to_be64(FAKE_SERVICE)), 0);
	pair->active.id = ib_create_cm_id(&pair->net->a->ib, consumer_handler, &pair->active);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pair->active.id));
	return pair;
}

/**
 * pair_end() - destroy what there is, and see whether something is left
 * @pair: pair
 */
void pair_end(struct pair *pair)
{
	if (pair->active.id)
		ib_destroy_cm_id(pair->active.id);
	/* What is on its way may make an id still. */
	pair->active.id = NULL;
	if (pair->listener)
		ib_destroy_cm_id(pair->listener);
	fake_net_run(pair->net);
	if (pair->passive.id)
		ib_destroy_cm_id(pair->passive.id);
	fake_net_run(pair->net);
	fake_net_end(pair->net);
}

bool pair_is_connected(const struct pair *pair)
{
	return consumer_state(&pair->active) == IB_CM_ESTABLISHED &&
	       consumer_state(&pair->passive) == IB_CM_ESTABLISHED;
}

/**
 * consumer_expect_events() - a consumer has got these events, and no call of its handler failed
 * @test: the test
 * @consumer: consumer
 * @events: events in order
 * @num: their number
 */
void consumer_expect_events(struct kunit *test, const struct consumer *consumer,
			    const enum ib_cm_event_type *events, unsigned int num)
{
	KUNIT_EXPECT_EQ(test, consumer->num_events, num);
	for (unsigned int i = 0; i < min(num, consumer->num_events); i++)
		KUNIT_EXPECT_EQ_MSG(test, consumer->events[i], events[i], "event %u is %s", i,
				    cm_event_name(consumer->events[i]));
	KUNIT_EXPECT_EQ(test, consumer->errors, 0);
}
