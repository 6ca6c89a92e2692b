// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening, against a list that is searched from its beginning.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <rdma/kunit.h>

#include "fake_net.h"

#define SERVICES 40
#define LISTENS 120
#define STEPS 3000

/* One of the ways to listen that are under way. */
struct listen {
	struct ib_cm_id *id;
	struct fake_node *node;
	u64 service;
	int kind;
};

enum {
	ALONE,
	SHARED_ONE,
	SHARED_OTHER,
	KINDS,
};

static int other_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return -EINVAL;
}

static int one_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return -EINVAL;
}

static struct ib_cm_id *begin(struct fake_node *node, u64 service, int kind)
{
	struct ib_cm_id *id;
	int ret;

	if (kind != ALONE)
		return ib_cm_insert_listen(&node->ib,
					   kind == SHARED_ONE ? one_handler : other_handler,
					   cpu_to_be64(service));
	id = ib_create_cm_id(&node->ib, one_handler, node);
	if (IS_ERR(id))
		return id;
	ret = ib_cm_listen(id, cpu_to_be64(service));
	if (!ret)
		return id;
	ib_destroy_cm_id(id);
	return ERR_PTR(ret);
}

static struct listen *find(struct listen *listens, struct fake_node *node, u64 service)
{
	for (int i = 0; i < LISTENS; i++)
		if (listens[i].id && listens[i].node == node && listens[i].service == service)
			return &listens[i];
	return NULL;
}

/* Returns what the model expects: 0, -EBUSY or -EINVAL. */
static int expected(const struct listen *there, int kind)
{
	if (!there)
		return 0;
	if (kind == ALONE)
		return -EBUSY;
	return there->kind == kind ? 0 : -EINVAL;
}

static void step(struct kunit *test, struct fake_net *net, struct listen *listens,
		 struct rnd_state *rnd)
{
	struct listen *slot = &listens[prandom_u32_state(rnd) % LISTENS], *there;
	u64 service = prandom_u32_state(rnd) % SERVICES;
	struct ib_cm_id *id;
	int kind, ret;

	if (slot->id) {
		ib_destroy_cm_id(slot->id);
		slot->id = NULL;
		return;
	}
	slot->node = prandom_u32_state(rnd) & 1 ? net->a : net->b;
	kind = prandom_u32_state(rnd) % KINDS;
	there = find(listens, slot->node, service);
	ret = expected(there, kind);
	id = begin(slot->node, service, kind);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(id), ret);
	if (IS_ERR(id))
		return;
	if (there)
		KUNIT_EXPECT_PTR_EQ(test, id, there->id);
	slot->service = service;
	slot->kind = kind;
	slot->id = id;
}

/* A request finds the listen for its service, and no other. */
static void expect_found(struct kunit *test, struct fake_net *net, struct listen *listens)
{
	struct consumer consumer = {};
	struct ib_cm_id *id = ib_create_cm_id(&net->a->ib, consumer_handler, &consumer);
	struct sa_path_rec path = fake_path(net->a, net->b);

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	consumer_init(&consumer, net, 5);
	consumer.id = id;
	for (u64 service = 0; service < SERVICES; service++) {
		struct ib_cm_req_param param = {
			.primary_path = &path, .service_id = cpu_to_be64(service), .qp_num = 5,
			.qp_type = IB_QPT_RC,
		};

		KUNIT_ASSERT_EQ(test, ib_send_cm_req(id, &param), 0);
		fake_net_run(net);
		KUNIT_ASSERT_EQ(test, consumer.last.event, IB_CM_REJ_RECEIVED);
		/* The handlers here refuse all. */
		KUNIT_EXPECT_EQ(test, consumer.last.param.rej_rcvd.reason,
				find(listens, net->b, service) ? IB_CM_REJ_CONSUMER_DEFINED :
								 IB_CM_REJ_INVALID_SERVICE_ID);
	}
	ib_destroy_cm_id(id);
}

static void listens_as_the_model(struct kunit *test)
{
	struct listen *listens = kunit_kcalloc(test, LISTENS, sizeof(*listens), GFP_KERNEL);
	struct fake_net *net = fake_net_begin(test);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, listens);
	prandom_seed_state(&rnd, 20);
	for (int i = 0; i < STEPS; i++)
		step(test, net, listens, &rnd);
	expect_found(test, net, listens);
	for (int i = 0; i < LISTENS; i++)
		if (listens[i].id)
			ib_destroy_cm_id(listens[i].id);
	fake_net_end(net);
}

static void services_are_assigned(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct ib_cm_id *id[2];

	for (int i = 0; i < 2; i++) {
		id[i] = ib_create_cm_id(&net->a->ib, one_handler, NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(id[i]));
		KUNIT_EXPECT_EQ(test, ib_cm_listen(id[i], IB_CM_ASSIGN_SERVICE_ID), 0);
		KUNIT_EXPECT_TRUE(test, (id[i]->service_id & IB_SERVICE_ID_AGN_MASK) ==
					IB_CM_ASSIGN_SERVICE_ID);
		KUNIT_EXPECT_EQ(test, id[i]->state, IB_CM_LISTEN);
		KUNIT_EXPECT_EQ(test, ib_cm_listen(id[i], cpu_to_be64(3)), -EINVAL);
	}
	KUNIT_EXPECT_FALSE(test, id[0]->service_id == id[1]->service_id);
	for (int i = 0; i < 2; i++)
		ib_destroy_cm_id(id[i]);
	id[0] = ib_create_cm_id(&net->a->ib, one_handler, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id[0]));
	KUNIT_EXPECT_EQ(test, ib_cm_listen(id[0], IB_CM_ASSIGN_SERVICE_ID | cpu_to_be64(99)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, id[0]->state, IB_CM_IDLE);
	ib_destroy_cm_id(id[0]);
	fake_net_end(net);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE_SLOW(listens_as_the_model),
	KUNIT_CASE(services_are_assigned),
	{}
};

static struct kunit_suite listen_suite = {
	.name = "ib_cm_listen",
	.suite_init = rdma_kunit_again,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
