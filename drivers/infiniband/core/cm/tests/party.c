// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_net.h: the parties.
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

	/* As the devices say, which may be gone. */
	rec.sgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	rec.dgid.global.subnet_prefix = rec.sgid.global.subnet_prefix;
	rec.sgid.global.interface_id = cpu_to_be64(from->lid);
	rec.dgid.global.interface_id = cpu_to_be64(to->lid);
	sa_path_set_slid(&rec, from->lid);
	sa_path_set_dlid(&rec, to->lid);
	return rec;
}

bool party_heard(const struct party *party, enum ib_cm_event_type event)
{
	for (unsigned int i = 0; i < party->num_events; i++)
		if (party->events[i] == event)
			return true;
	return false;
}

enum ib_cm_state party_state(const struct party *party)
{
	return party->id ? party->id->state : IB_CM_IDLE;
}

static int accept(struct party *party)
{
	static const u8 data[] = { 0xb0, 0xb1 };
	struct ib_cm_rep_param param = {
		.qp_num = party->qpn, .starting_psn = 0x2222, .private_data = data,
		.private_data_len = sizeof(data), .responder_resources = 5, .initiator_depth = 6,
		.rnr_retry_count = 7,
	};

	if (party->mra)
		party->errors += !!ib_send_cm_mra(party->id, 20, NULL, 0);
	return ib_send_cm_rep(party->id, &param);
}

static int complete_connection(struct party *party)
{
	if (party->mra)
		party->errors += !!ib_send_cm_mra(party->id, 20, NULL, 0);
	return ib_send_cm_rtu(party->id, "rtu", 3);
}

/* What a consumer does when it hears something. */
static int react(struct party *party, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		if (party->silent)
			return 0;
		if (party->rej)
			return ib_send_cm_rej(party->id, party->rej, NULL, 0, "no", 2);
		return accept(party);
	case IB_CM_REP_RECEIVED:
		return party->silent ? 0 : complete_connection(party);
	case IB_CM_DREQ_RECEIVED:
		return party->silent ? 0 : ib_send_cm_drep(party->id, NULL, 0);
	case IB_CM_SIDR_REQ_RECEIVED: {
		struct ib_cm_sidr_rep_param param = {
			.qp_num = party->qpn, .qkey = 0x1ee, .private_data = "sidr",
			.private_data_len = 4,
		};

		return party->silent ? 0 : ib_send_cm_sidr_rep(party->id, &param);
	}
	default:
		return 0;
	}
}

/*
 * As react(), but an allocation may fail on the way. What does not succeed for want of memory must
 * have left no trace, so that the same calls succeed after that.
 */
static int react_without_memory(struct party *party, const struct ib_cm_event *event)
{
#ifdef CONFIG_FAILSLAB
	struct fake_net *net = party->net;

	scoped_guard(mutex, &net->calls) {
		int ret;

		current->fail_nth = net->fail_nth;
		ret = react(party, event);
		net->fail_nth = current->fail_nth;
		current->fail_nth = 0;
		if (ret != -ENOMEM)
			return ret;
	}
#endif
	return react(party, event);
}

/**
 * party_handler() - handler of all parties' ids
 * @id: the id; its context is the party
 * @event: what has happened
 *
 * Return: what the party was told to return.
 */
int party_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct party *party = id->context;
	int ret = 0;

	/* A request for a service comes again if the answer was lost: the first is done with. */
	if (event->event == IB_CM_SIDR_REQ_RECEIVED && party->id && party->id != id &&
	    party_state(party) == IB_CM_IDLE) {
		ib_destroy_cm_id(party->id);
		party->id = NULL;
	}
	/* One connection for a party: others are not wanted. */
	if (event->event == IB_CM_REQ_RECEIVED || event->event == IB_CM_SIDR_REQ_RECEIVED) {
		if (party->id && party->id != id)
			return -EBUSY;
		party->id = id;
	}
	if (party->num_events < PARTY_EVENTS)
		party->events[party->num_events++] = event->event;
	party->last = *event;
	party->data = event->private_data ? *(u8 *)event->private_data : 0;
	if (party->stops_for == event->event) {
		complete(&party->inside);
		wait_for_completion(&party->outside);
	}
	if (party->returns_for == event->event)
		ret = party->returns;
	else
		party->errors += !!react_without_memory(party, event);
	if (ret)
		party->id = NULL;
	if (event->event == IB_CM_TIMEWAIT_EXIT)
		complete(&party->rested);
	return ret;
}

/**
 * party_init() - begin a party
 * @party: zeroes
 * @net: its net
 * @qpn: QP that it connects
 */
void party_init(struct party *party, struct fake_net *net, u32 qpn)
{
	party->net = net;
	party->qpn = qpn;
	party->stops_for = -1;
	party->returns_for = -1;
	init_completion(&party->rested);
	init_completion(&party->inside);
	init_completion(&party->outside);
}

/**
 * party_connect() - send a REQ from device a to device b
 * @party: party with an id
 *
 * Return: what ib_send_cm_req() returned.
 */
int party_connect(struct party *party)
{
	static const u8 data[] = { 0xa0, 0xa1 };
	struct sa_path_rec path = fake_path(party->net->a, party->net->b);
	struct ib_cm_req_param param = {
		.primary_path = &path, .service_id = cpu_to_be64(FAKE_SERVICE),
		.qp_num = party->qpn, .qp_type = IB_QPT_RC, .starting_psn = 0x1111,
		.private_data = data, .private_data_len = sizeof(data), .responder_resources = 3,
		.initiator_depth = 4, .remote_cm_response_timeout = 18,
		.local_cm_response_timeout = 18, .retry_count = 6, .rnr_retry_count = 5,
		.max_cm_retries = FAKE_RETRIES,
	};

	return ib_send_cm_req(party->id, &param);
}

/**
 * pair_begin() - make a party that listens at device b, and one at device a with an id
 * @test: the test
 *
 * Return: the pair, for pair_end().
 */
struct pair *pair_begin(struct kunit *test)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->net = fake_net_begin(test);
	party_init(&pair->active, pair->net, FAKE_QPN_A);
	party_init(&pair->passive, pair->net, FAKE_QPN_B);
	pair->listener = ib_create_cm_id(&pair->net->b->ib, party_handler, &pair->passive);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pair->listener));
	KUNIT_ASSERT_EQ(test, ib_cm_listen(pair->listener, cpu_to_be64(FAKE_SERVICE)), 0);
	pair->active.id = ib_create_cm_id(&pair->net->a->ib, party_handler, &pair->active);
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
	return party_state(&pair->active) == IB_CM_ESTABLISHED &&
	       party_state(&pair->passive) == IB_CM_ESTABLISHED;
}

/**
 * party_expect_events() - a party has heard these events, and no call of its handler failed
 * @test: the test
 * @party: party
 * @events: events in order
 * @num: their number
 */
void party_expect_events(struct kunit *test, const struct party *party,
			 const enum ib_cm_event_type *events, unsigned int num)
{
	KUNIT_EXPECT_EQ(test, party->num_events, num);
	for (unsigned int i = 0; i < min(num, party->num_events); i++)
		KUNIT_EXPECT_EQ_MSG(test, party->events[i], events[i], "event %u is %s", i,
				    cm_event_name(party->events[i]));
	KUNIT_EXPECT_EQ(test, party->errors, 0);
}
