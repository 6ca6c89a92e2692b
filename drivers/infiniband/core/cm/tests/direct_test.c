// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listens for some of a service's requests: against a list that is searched from its beginning, and
 * when the port changes.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <rdma/kunit.h>

#include "fake_net.h"

#define SERVICES 3
#define LISTENS 24
#define STEPS 1500

/**
 * struct want - what a listen is restricted to, and what a request carries
 * @service: the service
 * @port: it names the port's GUID
 * @lid: it names the LID
 * @pkey: P_Key, 0: any
 * @offset: of the byte that is compared
 * @byte: what that is; -1: none is compared
 */
struct want {
	u64 service;
	bool port;
	bool lid;
	u16 pkey;
	u8 offset;
	int byte;
};

struct listen {
	struct ib_cm_id *id;
	struct want want;
};

static struct ib_cm_id *last_listener;

static int refuse(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	if (event->event == IB_CM_REQ_RECEIVED)
		last_listener = event->param.req_rcvd.listen_id;
	return -EINVAL;
}

static struct ib_cm_id *begin(struct fake_node *node, const struct want *want)
{
	u8 byte = want->byte;
	struct ib_cm_listen_param param = {
		.service_id = cpu_to_be64(want->service),
		.port_guid = want->port ? cpu_to_be64(node->lid) : 0,
		.lid = want->lid ? node->lid : 0,
		.pkey = want->pkey, .offset = want->offset, .length = want->byte >= 0,
		.data = &byte,
	};
	struct ib_cm_id *id = ib_create_cm_id(&node->ib, refuse, NULL);
	int ret;

	if (IS_ERR(id))
		return id;
	ret = ib_cm_listen_directed(id, &param);
	if (!ret)
		return id;
	ib_destroy_cm_id(id);
	return ERR_PTR(ret);
}

static struct want any_want(struct rnd_state *rnd)
{
	static const u16 pkeys[] = { 0, IB_DEFAULT_PKEY_FULL, FAKE_PKEY };
	u32 bits = prandom_u32_state(rnd);

	return (struct want) {
		.service = prandom_u32_state(rnd) % SERVICES,
		.port = bits & 1, .lid = bits & 2, .pkey = pkeys[(bits >> 2 & 0xff) % 3],
		.offset = bits >> 12 & 1,
		.byte = bits >> 13 & 1 ? bits >> 14 & 3 : -1,
	};
}

static bool compares(const struct want *want)
{
	return want->byte >= 0;
}

static bool rivals(const struct want *one, const struct want *other)
{
	if (one->service != other->service)
		return false;
	if (compares(one) != compares(other))
		return true;
	if (compares(one) && one->offset != other->offset)
		return true;
	if (one->byte != other->byte)
		return false;
	return !one->pkey || !other->pkey || one->pkey == other->pkey;
}

static void step(struct kunit *test, struct fake_node *node, struct listen *listens,
		 struct rnd_state *rnd)
{
	struct listen *slot = &listens[prandom_u32_state(rnd) % LISTENS];
	struct want want = any_want(rnd);
	bool busy = false;
	struct ib_cm_id *id;

	if (slot->id) {
		ib_destroy_cm_id(slot->id);
		slot->id = NULL;
		return;
	}
	for (int i = 0; i < LISTENS; i++)
		busy |= listens[i].id && rivals(&want, &listens[i].want);
	id = begin(node, &want);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(id), busy ? -EBUSY : 0);
	if (IS_ERR(id))
		return;
	slot->id = id;
	slot->want = want;
}

static bool takes(const struct want *want, u64 service, u16 pkey, const u8 *data)
{
	return want->service == service && (!want->pkey || want->pkey == pkey) &&
	       (want->byte < 0 || want->byte == data[want->offset]);
}

static void expect_found(struct kunit *test, struct fake_net *net, const struct listen *listens,
			 u64 service, u16 pkey, const u8 *data)
{
	struct consumer consumer = {};
	struct ib_cm_id *id = ib_create_cm_id(&net->a->ib, consumer_handler, &consumer);
	struct ib_cm_id *found = NULL;
	struct sa_path_rec path = fake_path(net->a, net->b);
	struct ib_cm_req_param param = {
		.primary_path = &path, .service_id = cpu_to_be64(service), .qp_num = 5,
		.qp_type = IB_QPT_RC, .private_data = data, .private_data_len = 2,
	};

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	consumer_init(&consumer, net, 5);
	consumer.id = id;
	path.pkey = cpu_to_be16(pkey);
	for (int i = 0; i < LISTENS; i++)
		if (listens[i].id && takes(&listens[i].want, service, pkey, data)) {
			KUNIT_EXPECT_NULL(test, found);
			found = listens[i].id;
		}
	last_listener = NULL;
	KUNIT_ASSERT_EQ(test, ib_send_cm_req(id, &param), 0);
	fake_net_run(net);
	KUNIT_EXPECT_PTR_EQ(test, last_listener, found);
	KUNIT_ASSERT_EQ(test, consumer.last.event, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, consumer.last.param.rej_rcvd.reason, found ?
			IB_CM_REJ_CONSUMER_DEFINED : IB_CM_REJ_INVALID_SERVICE_ID);
	ib_destroy_cm_id(id);
}

static void directed_as_the_model(struct kunit *test)
{
	struct listen *listens = kunit_kcalloc(test, LISTENS, sizeof(*listens), GFP_KERNEL);
	struct fake_net *net = fake_net_begin(test);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, listens);
	prandom_seed_state(&rnd, 21);
	for (int i = 0; i < STEPS; i++) {
		u32 bits = prandom_u32_state(&rnd);
		u8 data[2] = { bits & 3, bits >> 2 & 3 };

		step(test, net->b, listens, &rnd);
		if (!(i % 10))
			expect_found(test, net, listens, i / 10 % SERVICES,
				     bits & 16 ? FAKE_PKEY : IB_DEFAULT_PKEY_FULL, data);
	}
	for (int i = 0; i < LISTENS; i++)
		if (listens[i].id)
			ib_destroy_cm_id(listens[i].id);
	fake_net_end(net);
}

static void directions_lead_somewhere(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct ib_cm_id *id = ib_create_cm_id(&net->a->ib, refuse, NULL);
	struct ib_cm_listen_param param = { .service_id = cpu_to_be64(1) };

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	param.port_guid = cpu_to_be64(FAKE_LID_B);
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), -EADDRNOTAVAIL);
	param.port_guid = cpu_to_be64(FAKE_LID_A);
	param.lid = FAKE_LID_B;
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), -EADDRNOTAVAIL);
	param.lid = FAKE_LID_A;
	param.pkey = 0x8002;
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), -ENOENT);
	param.pkey = FAKE_PKEY;
	param.data = "";
	param.length = 1;
	param.offset = IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE;
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), -EINVAL);
	param.length = 0;
	param.offset = 0;
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), 0);
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(id, &param), -EINVAL);
	ib_destroy_cm_id(id);
	fake_net_end(net);
}

/* A listen that takes only some requests cannot be shared. */
static void directed_listens_are_not_shared(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct want want = { .service = 7, .pkey = FAKE_PKEY, .byte = -1 };
	struct ib_cm_id *id = begin(net->a, &want);

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_cm_insert_listen(&net->a->ib, refuse, cpu_to_be64(7))),
			-EINVAL);
	ib_destroy_cm_id(id);
	fake_net_end(net);
}

static struct {
	struct ib_cm_id *id;
	enum ib_cm_listen_error error;
	unsigned int calls;
	int returns;
} reported;

static int on_error(struct ib_cm_id *id, enum ib_cm_listen_error error)
{
	reported.id = id;
	reported.error = error;
	reported.calls++;
	return reported.returns;
}

static void settle(struct fake_node *node)
{
	struct ib_event event = {
		.device = &node->ib, .event = IB_EVENT_LID_CHANGE, .element.port_num = 1,
	};

	ib_dispatch_event(&event);
	/* The core hands events on from its own work. */
	flush_workqueue(ib_wq);
	flush_workqueue(cm_wq);
	flush_workqueue(cm_wq);
}

static struct ib_cm_id *at_lid(struct kunit *test, struct fake_node *node)
{
	struct ib_cm_listen_param param = {
		.service_id = cpu_to_be64(3), .lid = node->lid, .error_handler = on_error,
	};
	struct ib_cm_id *id = ib_create_cm_id(&node->ib, refuse, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_ASSERT_EQ(test, ib_cm_listen_directed(id, &param), 0);
	memset(&reported, 0, sizeof(reported));
	return id;
}

static void lid_that_goes_is_reported(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct ib_cm_id *id = at_lid(test, net->b);

	settle(net->b);
	KUNIT_EXPECT_EQ(test, reported.calls, 0);
	net->b->moved_to = 77;
	settle(net->b);
	KUNIT_EXPECT_EQ(test, reported.calls, 1);
	KUNIT_EXPECT_PTR_EQ(test, reported.id, id);
	KUNIT_EXPECT_EQ(test, reported.error, IB_CM_LISTEN_LID);
	settle(net->b);
	KUNIT_EXPECT_EQ(test, reported.calls, 1);
	ib_destroy_cm_id(id);
	fake_net_end(net);
}

/* The handler of errors ends its listen by what it returns, as the other one does. */
static void listen_may_end_in_its_handler(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct want want = { .service = 3, .byte = -1 };
	struct ib_cm_id *id;

	at_lid(test, net->b);
	reported.returns = -ECANCELED;
	net->b->moved_to = 77;
	settle(net->b);
	KUNIT_EXPECT_EQ(test, reported.calls, 1);
	id = begin(net->b, &want);
	KUNIT_EXPECT_FALSE(test, IS_ERR(id));
	if (!IS_ERR(id))
		ib_destroy_cm_id(id);
	fake_net_end(net);
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE_SLOW(directed_as_the_model),
	KUNIT_CASE(directions_lead_somewhere),
	KUNIT_CASE(directed_listens_are_not_shared),
	KUNIT_CASE(lid_that_goes_is_reported),
	KUNIT_CASE(listen_may_end_in_its_handler),
	{}
};

static struct kunit_suite direct_suite = {
	.name = "ib_cm_direct",
	.suite_init = rdma_kunit_again,
	.test_cases = direct_cases,
};

kunit_test_suite(direct_suite);
