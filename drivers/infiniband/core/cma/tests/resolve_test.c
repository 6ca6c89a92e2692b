// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: answers to queries that come, and make the consumer give its id up, before the call that
 * asks has returned; ids that try again; what a path is asked for.
 */
#include <kunit/static_stub.h>
#include <linux/iopoll.h>

#include "test_cma.h"

/* Destruction waits for the call alone. */
static void await_destruction(struct cma_id *id)
{
	struct kunit *test = kunit_get_current_test();
	int refs;

	KUNIT_EXPECT_EQ(test, read_poll_timeout(refcount_read, refs, refs == 1, 100,
						20 * USEC_PER_SEC, false, &id->refs), 0);
}

static int neighbour_answers(struct cma_id *id, unsigned long timeout_ms,
			     cma_neighbour_found found)
{
	found(0, cma_src_addr(id), &id->id.route.addr.dev_addr, id);
	return 0;
}

static int neighbour_fails(struct cma_id *id, unsigned long timeout_ms, cma_neighbour_found found)
{
	/* The consumer's and the call's. */
	KUNIT_EXPECT_EQ(kunit_get_current_test(), refcount_read(&id->refs), 2);
	found(-ETIMEDOUT, cma_src_addr(id), &id->id.route.addr.dev_addr, id);
	await_destruction(id);
	return 0;
}

static int path_fails(struct cma_id *id, struct sa_path_rec *wanted, ib_sa_comp_mask mask,
		      unsigned long timeout_ms, cma_path_found found, struct ib_sa_query **query)
{
	/* The consumer's, the call's and the query's. */
	KUNIT_EXPECT_EQ(kunit_get_current_test(), refcount_read(&id->refs), 3);
	found(-ETIMEDOUT, NULL, 0, id);
	await_destruction(id);
	return 0;
}

static struct consumer *bound(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr own = ct_ip4(0x0a000101, 0);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &own.any), 0);
	return c;
}

static int resolve(struct consumer *c)
{
	union ct_addr peer = ct_ip4(0x0a000909, 7);

	return rdma_resolve_addr(c->id, NULL, &peer.any, 1000);
}

static void destroyed_by_address(struct kunit *test)
{
	struct consumer *c = bound(test);

	c->ret = 1;
	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_fails);
	KUNIT_EXPECT_EQ(test, resolve(c), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_ERROR);
}

/* Other clients must not see that the ports have a manager: the device cannot send MADs. */
static void show_manager(struct kunit *test, bool there)
{
	struct cma_test *t = test->priv;

	for (u32 port_num = 1; port_num <= TEST_PORTS; port_num++) {
		u32 *flags = &t->device[0]->ib.port_data[port_num].immutable.core_cap_flags;

		*flags = there ? *flags | RDMA_CORE_CAP_IB_SA : *flags & ~RDMA_CORE_CAP_IB_SA;
	}
}

static void destroyed_by_route(struct kunit *test)
{
	struct consumer *c = bound(test);

	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_answers);
	KUNIT_ASSERT_EQ(test, resolve(c), 0);
	ct_settle();
	KUNIT_ASSERT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_RESOLVED);
	c->ret = 1;
	kunit_activate_static_stub(test, cma_ask_path, path_fails);
	show_manager(test, true);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(c->id, 1000), 0);
	show_manager(test, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 2);
	KUNIT_EXPECT_EQ(test, c->events[1], RDMA_CM_EVENT_ROUTE_ERROR);
}

/* ---- the device goes ---- */

static cma_path_found path_is_told;

static int path_is_awaited(struct cma_id *id, struct sa_path_rec *wanted, ib_sa_comp_mask mask,
			   unsigned long timeout_ms, cma_path_found found,
			   struct ib_sa_query **query)
{
	path_is_told = found;
	return 0;
}

/* Before the call for the address has returned, the route is asked for, and the device goes. */
static int neighbour_answers_early(struct cma_id *id, unsigned long timeout_ms,
				   cma_neighbour_found found)
{
	struct kunit *test = kunit_get_current_test();

	found(0, cma_src_addr(id), &id->id.route.addr.dev_addr, id);
	ct_settle();
	show_manager(test, true);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(&id->id, 1000), 0);
	show_manager(test, false);
	KUNIT_EXPECT_TRUE(test, cma_step(id, CMA_REMOVE));
	return 0;
}

static void removed_by_address(struct kunit *test)
{
	struct consumer *c = bound(test);
	struct cma_id *id = ct_id(c);

	path_is_told = NULL;
	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_answers_early);
	kunit_activate_static_stub(test, cma_ask_path, path_is_awaited);
	KUNIT_EXPECT_EQ(test, resolve(c), 0);
	KUNIT_ASSERT_NOT_NULL(test, path_is_told);
	KUNIT_EXPECT_NOT_NULL(test, id->answer);
	if (id->answer)
		path_is_told(-EINTR, NULL, 0, id);
	else
		cma_put_id(id);	/* the query's reference */
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_RESOLVED);
}

/* ---- another attempt ---- */

/* Where the next question about a neighbour has to begin, and to which own address it leads. */
static struct {
	int interface;
	u32 source;
} way;

static int neighbour_is_there(struct cma_id *id, unsigned long timeout_ms,
			      cma_neighbour_found found)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct kunit *test = kunit_get_current_test();
	union ct_addr source = ct_ip4(way.source, 0);

	KUNIT_EXPECT_EQ(test, dev_addr->bound_dev_if, way.interface);
	if (!way.source)
		return -ENETUNREACH;
	dev_addr->bound_dev_if = 0;
	KUNIT_EXPECT_EQ(test, cma_translate_addr(&source.any, dev_addr), 0);
	found(0, &source.any, dev_addr, id);
	return 0;
}

/* No address that could not be resolved says by which interface the next one is looked for. */
static void used_again(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr any = ct_ip4(INADDR_ANY, 0);
	struct cma_id *id = ct_id(c);

	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_is_there);
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &any.any), 0);
	way.interface = 0;
	/* An interface of which no device is known. */
	way.source = 0x0a000901;
	KUNIT_ASSERT_EQ(test, resolve(c), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_ERROR);
	KUNIT_EXPECT_EQ(test, c->status[0], -ENODEV);
	KUNIT_EXPECT_EQ(test, id->id.route.addr.dev_addr.bound_dev_if, 0);
	way.source = 0;
	KUNIT_EXPECT_EQ(test, resolve(c), -ENETUNREACH);
	way.source = 0x0a000101;
	KUNIT_ASSERT_EQ(test, resolve(c), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->events[1], RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_EXPECT_EQ(test, id->id.route.addr.dev_addr.bound_dev_if, 1);
}

/* Nor does the interface of a link-local peer. */
static void scope_of_the_peer(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr local = ct_ip6(0xfe800000, 1, 7), global = ct_ip6(0xfd000000, 0x20001, 7);
	struct cma_id *id = ct_id(c);

	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_is_there);
	way.source = 0;
	for (int i = 0; i < 2; i++) {
		local.in6.sin6_scope_id = 5 + i;
		way.interface = 5 + i;
		KUNIT_EXPECT_EQ(test, rdma_resolve_addr(c->id, NULL, &local.any, 1), -ENETUNREACH);
		KUNIT_EXPECT_EQ(test, id->id.route.addr.dev_addr.bound_dev_if, 0);
	}
	way.interface = 0;
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(c->id, NULL, &global.any, 1), -ENETUNREACH);
}

static int nobody_can_be_asked(struct cma_id *id, struct sa_path_rec *wanted,
			       ib_sa_comp_mask mask, unsigned long timeout_ms,
			       cma_path_found found, struct ib_sa_query **query)
{
	return -ENODEV;
}

/* A device that has failed cannot send a query: as if it had failed a moment later. */
static void route_by_a_lost_device(struct kunit *test)
{
	struct consumer *c = bound(test);

	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_answers);
	KUNIT_ASSERT_EQ(test, resolve(c), 0);
	ct_settle();
	kunit_activate_static_stub(test, cma_ask_path, nobody_can_be_asked);
	for (unsigned int calls = 2; calls <= 3; calls++) {
		show_manager(test, true);
		KUNIT_EXPECT_EQ(test, rdma_resolve_route(c->id, 1000), 0);
		show_manager(test, false);
		ct_settle();
		KUNIT_ASSERT_EQ(test, c->calls, calls);
		KUNIT_EXPECT_EQ(test, c->events[calls - 1], RDMA_CM_EVENT_ROUTE_ERROR);
		KUNIT_EXPECT_EQ(test, c->status[calls - 1], -ENODEV);
	}
}

/* ---- quality of service ---- */

static struct sa_path_rec asked;
static ib_sa_comp_mask asked_mask;

static int path_is_noted(struct cma_id *id, struct sa_path_rec *wanted, ib_sa_comp_mask mask,
			 unsigned long timeout_ms, cma_path_found found,
			 struct ib_sa_query **query)
{
	asked = *wanted;
	asked_mask = mask;
	return -EIO;
}

static void ask_for_path(struct consumer *c, union ct_addr *own, union ct_addr *peer)
{
	struct kunit *test = kunit_get_current_test();

	kunit_activate_static_stub(test, cma_ask_neighbour, neighbour_answers);
	kunit_activate_static_stub(test, cma_ask_path, path_is_noted);
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &own->any), 0);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(c->id, NULL, &peer->any, 1000), 0);
	ct_settle();
	show_manager(test, true);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(c->id, 1000), -EIO);
	show_manager(test, false);
}

/* The type of service of IPv4 is the manager's QoS class. */
static void type_of_service(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr own = ct_ip4(0x0a000101, 0), peer = ct_ip4(0x0a000909, 7);

	rdma_set_service_type(c->id, 8);
	ask_for_path(c, &own, &peer);
	KUNIT_EXPECT_TRUE(test, asked_mask & IB_SA_PATH_REC_QOS_CLASS);
	KUNIT_EXPECT_FALSE(test, asked_mask & IB_SA_PATH_REC_TRAFFIC_CLASS);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(asked.qos_class), 8);
}

/* The flow information of IPv6 has the traffic class. */
static void flow_information(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr own = ct_ip6(0xfd000000, 0x10001, 0), peer = ct_ip6(0xfd000000, 0x90009, 7);

	own.in6.sin6_flowinfo = cpu_to_be32(0x5a << 20 | 0x12345);
	ask_for_path(c, &own, &peer);
	KUNIT_EXPECT_FALSE(test, asked_mask & IB_SA_PATH_REC_QOS_CLASS);
	KUNIT_EXPECT_TRUE(test, asked_mask & IB_SA_PATH_REC_TRAFFIC_CLASS);
	KUNIT_EXPECT_EQ(test, asked.traffic_class, 0x5a);
}

static int resolve_init(struct kunit *test)
{
	int ret = ct_init(test);

	if (!ret)
		ct_add_device(test->priv, 1);
	return ret;
}

static struct kunit_case resolve_cases[] = {
	KUNIT_CASE(destroyed_by_address),
	KUNIT_CASE(destroyed_by_route),
	KUNIT_CASE(removed_by_address),
	KUNIT_CASE(used_again),
	KUNIT_CASE(route_by_a_lost_device),
	KUNIT_CASE(scope_of_the_peer),
	KUNIT_CASE(type_of_service),
	KUNIT_CASE(flow_information),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "rdma_cm_resolve",
	.init = resolve_init,
	.exit = ct_exit,
	.test_cases = resolve_cases,
};

kunit_test_suite(resolve_suite);
