// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: port spaces, against a model that compares every id with every other.
 */
#include <linux/cred.h>
#include <linux/prandom.h>
#include <net/net_namespace.h>

#include "test_cma.h"

/* ---- the model ---- */

#define MODEL_IDS 24
#define MODEL_PORTS 2
#define MODEL_STEPS 1500

/* Whose an address is: one of the devices', the wildcard, no device's, or not this host's. */
enum place {
	EVERYWHERE,
	DEVICE_1,
	DEVICE_2,
	NO_DEVICE,
	NOT_HERE
};

/* Addresses that ids are bound to, and that peers want to reach. */
static const struct {
	enum place place;
	bool ip6;
	u32 high, low;
} places[] = {
	{ EVERYWHERE, false, 0, INADDR_ANY },
	{ EVERYWHERE, false, 0, INADDR_LOOPBACK },
	{ DEVICE_1, false, 0, 0x0a000101 },
	{ DEVICE_1, false, 0, 0x0a000102 },
	{ DEVICE_2, false, 0, 0x0a000201 },
	{ NO_DEVICE, false, 0, 0x0a000901 },
	{ NOT_HERE, false, 0, 0xc0a80001 },
	{ EVERYWHERE, true, 0, 0 },
	{ DEVICE_1, true, 0xfd000000, 0x10001 },
	{ DEVICE_2, true, 0xfd000000, 0x20002 },
	{ NOT_HERE, true, 0xfc000000, 0x10001 },
};

static const enum rdma_ucm_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };

/**
 * struct model_id - an id in the model
 * @consumer: its consumer, NULL where there is no id
 * @place: index of its address
 * @space: index of its port space
 * @port: its port
 * @shares: it shares its port
 * @afonly: its address is of its own family alone
 * @listens: it listens
 */
struct model_id {
	struct consumer *consumer;
	unsigned int place;
	unsigned int space;
	u16 port;
	bool shares;
	bool afonly;
	bool listens;
};

static union ct_addr address(unsigned int place, u16 port)
{
	return places[place].ip6 ? ct_ip6(places[place].high, places[place].low, port) :
				   ct_ip4(places[place].low, port);
}

/* The error for @id that wants the port of @other, alone or shared: 0 if both can have it. */
static int conflict(const struct model_id *id, const struct model_id *other, bool shares)
{
	if (!other->consumer || other == id || id->port != other->port || id->space != other->space)
		return 0;
	if (shares && other->shares)
		return 0;
	if (places[id->place].ip6 != places[other->place].ip6 && id->afonly && other->afonly)
		return 0;
	if (places[id->place].place == EVERYWHERE || places[other->place].place == EVERYWHERE)
		return -EADDRNOTAVAIL;
	return id->place == other->place ? -EADDRINUSE : 0;
}

/* With several conflicts the error is that of any of them. */
static bool expected(const struct model_id *ids, const struct model_id *id, bool shares, int ret)
{
	bool free = true;

	for (unsigned int i = 0; i < MODEL_IDS; i++) {
		int err = conflict(id, &ids[i], shares);

		if (err && err == ret)
			return true;
		free &= !err;
	}
	return free && !ret;
}

static void model_bind(struct kunit *test, struct rnd_state *rnd, struct model_id *ids,
		       struct model_id *id)
{
	union ct_addr addr;
	int ret;

	id->place = prandom_u32_state(rnd) % ARRAY_SIZE(places);
	id->space = prandom_u32_state(rnd) % ARRAY_SIZE(spaces);
	id->port = 5001 + prandom_u32_state(rnd) % MODEL_PORTS;
	id->shares = prandom_u32_state(rnd) & 1;
	id->afonly = prandom_u32_state(rnd) & 1;
	id->listens = false;
	id->consumer = ct_consumer(test, spaces[id->space], IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(id->consumer->id, id->shares), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_afonly(id->consumer->id, id->afonly), 0);
	addr = address(id->place, id->port);
	ret = rdma_bind_addr(id->consumer->id, &addr.any);
	if (places[id->place].place == NOT_HERE)
		KUNIT_EXPECT_EQ(test, ret, -EADDRNOTAVAIL);
	else if (places[id->place].place == NO_DEVICE)
		KUNIT_EXPECT_EQ(test, ret, -ENODEV);
	else
		KUNIT_EXPECT_TRUE_MSG(test, expected(ids, id, id->shares, ret),
				      "place %u port %u: %d", id->place, id->port, ret);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(id->consumer)),
			ret ? RDMA_CM_IDLE : RDMA_CM_ADDR_BOUND);
	if (!ret)
		return;
	KUNIT_EXPECT_NULL(test, id->consumer->id->device);
	ct_destroy(id->consumer);
	id->consumer = NULL;
}

static void model_listen(struct kunit *test, struct model_id *ids, struct model_id *id)
{
	int ret = rdma_listen(id->consumer->id, 1);

	if (id->listens) {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		return;
	}
	if (id->shares)
		KUNIT_EXPECT_TRUE_MSG(test, expected(ids, id, false, ret), "listening: %d", ret);
	else
		KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret)
		return;
	id->listens = true;
	id->shares = false;
}

/* The id to which the model gives a request to this address on this device. */
static struct model_id *model_find(struct model_id *ids, unsigned int space, u16 port,
				   unsigned int place, enum place device)
{
	for (unsigned int i = 0; i < MODEL_IDS; i++) {
		struct model_id *id = &ids[i];
		enum place own = places[id->place].place;

		if (!id->consumer || !id->listens || id->space != space || id->port != port)
			continue;
		if (own == EVERYWHERE ?
		    !id->afonly || places[id->place].ip6 == places[place].ip6 :
		    own == device && id->place == place)
			return id;
	}
	return NULL;
}

static void model_compare(struct kunit *test, struct model_id *ids, unsigned int space, u16 port,
			  unsigned int place)
{
	struct cma_test *t = test->priv;
	union ct_addr local = address(place, port);

	for (unsigned int device = DEVICE_1; device <= DEVICE_2; device++) {
		struct cma_listen_key key = {
			.net = &init_net,
			.ps = spaces[space],
			.service_id = cpu_to_be64((u64)spaces[space] << 16 | port),
			.local = &local.any,
			.device = &t->device[device - DEVICE_1]->ib,
			.port_num = 1,
			.ndev = init_net.loopback_dev,
		};
		struct model_id *wanted = model_find(ids, space, port, place, device);
		struct cma_id *found = cma_find_listener(&key);

		KUNIT_EXPECT_PTR_EQ_MSG(test, found, wanted ? ct_id(wanted->consumer) : NULL,
					"space %u port %u place %u device %u", space, port, place,
					device);
		if (found)
			cma_put_id(found);
	}
}

static void model_compare_all(struct kunit *test, struct model_id *ids)
{
	for (unsigned int space = 0; space < ARRAY_SIZE(spaces); space++)
		for (u16 port = 5001; port < 5001 + MODEL_PORTS; port++)
			for (unsigned int place = 0; place < ARRAY_SIZE(places); place++)
				if (places[place].place == DEVICE_1 ||
				    places[place].place == DEVICE_2)
					model_compare(test, ids, space, port, place);
}

static void against_model(struct kunit *test)
{
	struct model_id *ids = kunit_kcalloc(test, MODEL_IDS, sizeof(*ids), GFP_KERNEL);
	struct cma_test *t = test->priv;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	ct_add_device(t, 1);
	ct_add_device(t, 2);
	prandom_seed_state(&rnd, 20);
	for (unsigned int step = 0; step < MODEL_STEPS; step++) {
		struct model_id *id = &ids[prandom_u32_state(&rnd) % MODEL_IDS];

		if (!id->consumer) {
			model_bind(test, &rnd, ids, id);
		} else if (prandom_u32_state(&rnd) & 1) {
			model_listen(test, ids, id);
		} else {
			ct_destroy(id->consumer);
			id->consumer = NULL;
		}
		if (step % 8 == 0)
			model_compare_all(test, ids);
	}
	model_compare_all(test, ids);
}

/* ---- ephemeral ports ---- */

/* The namespace has four of them for the test's time. */
#define FIRST 40000
#define EPHEMERAL 4

static u32 kept_range;

static void restore_range(void *unused)
{
	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, kept_range);
}

static void few_ports(struct kunit *test)
{
	kept_range = READ_ONCE(init_net.ipv4.ip_local_ports.range);
	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, (FIRST + EPHEMERAL - 1) << 16 | FIRST);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore_range, NULL), 0);
}

static int bind_to(struct consumer *c, u32 addr)
{
	union ct_addr local = ct_ip4(addr, 0);

	return rdma_bind_addr(c->id, &local.any);
}

static u16 port_of(struct consumer *c)
{
	return be16_to_cpu(cma_addr_port(cma_src_addr(ct_id(c))));
}

static void ephemeral(struct kunit *test)
{
	struct consumer *c, *first = NULL;
	unsigned long seen = 0;
	u16 port;

	few_ports(test);
	for (unsigned int i = 0; i < EPHEMERAL; i++) {
		c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
		first = first ?: c;
		KUNIT_ASSERT_EQ(test, bind_to(c, INADDR_ANY), 0);
		port = port_of(c);
		KUNIT_ASSERT_TRUE(test, port >= FIRST && port - FIRST < EPHEMERAL);
		KUNIT_EXPECT_FALSE(test, seen & BIT(port - FIRST));
		seen |= BIT(port - FIRST);
	}
	c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, bind_to(c, INADDR_ANY), -EADDRNOTAVAIL);
	/* Another port space has its own. */
	KUNIT_EXPECT_EQ(test, bind_to(ct_consumer(test, RDMA_PS_UDP, IB_QPT_UD), INADDR_ANY), 0);
	/* One that is given back is there again, even as the last that was taken. */
	port = port_of(first);
	ct_destroy(first);
	KUNIT_EXPECT_EQ(test, bind_to(c, INADDR_ANY), 0);
	KUNIT_EXPECT_EQ(test, port_of(c), port);
	ct_destroy(c);
	c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, bind_to(c, INADDR_ANY), 0);
	KUNIT_EXPECT_EQ(test, port_of(c), port);
}

/* Binds an id that is going to connect to @to. */
static int bind_id_towards(struct consumer *c, u32 from, u32 to, u16 port)
{
	union ct_addr local = ct_ip4(from, 0), peer = ct_ip4(to, port);

	memcpy(cma_dst_addr(ct_id(c)), &peer.in, sizeof(peer.in));
	return rdma_bind_addr(c->id, &local.any);
}

static int bind_towards(struct kunit *test, u32 from, u32 to, u16 port)
{
	return bind_id_towards(ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC), from, to, port);
}

/* Connections that differ in an end share a port. */
static void shared_ephemeral(struct kunit *test)
{
	ct_add_device(test->priv, 1);
	few_ports(test);
	for (unsigned int i = 0; i < EPHEMERAL; i++)
		KUNIT_EXPECT_EQ(test, bind_towards(test, 0x0a000101, 0x0a000201, 7), 0);
	KUNIT_EXPECT_EQ(test, bind_towards(test, 0x0a000101, 0x0a000201, 7), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, bind_towards(test, 0x0a000101, 0x0a000201, 8), 0);
	KUNIT_EXPECT_EQ(test, bind_towards(test, 0x0a000101, 0x0a000202, 7), 0);
	KUNIT_EXPECT_EQ(test, bind_towards(test, 0x0a000102, 0x0a000201, 7), 0);
	/* A wildcard is as good as any address, so that no end differs. */
	KUNIT_EXPECT_EQ(test, bind_towards(test, INADDR_ANY, 0x0a000201, 7), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, bind_towards(test, INADDR_ANY, 0x0a000203, 7), 0);
}

/*
 * They can because of their peers.  A listener has none: it gets the port once it is nobody else's.
 */
static void shared_ephemeral_listens(struct kunit *test)
{
	struct consumer *c[EPHEMERAL], *shares = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	unsigned int same = 0;

	ct_add_device(test->priv, 1);
	few_ports(test);
	for (unsigned int i = 0; i < EPHEMERAL; i++) {
		c[i] = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_ASSERT_EQ(test, bind_id_towards(c[i], 0x0a000101, 0x0a000201, 7), 0);
	}
	KUNIT_ASSERT_EQ(test, bind_id_towards(shares, 0x0a000101, 0x0a000201, 8), 0);
	while (same < EPHEMERAL - 1 && port_of(c[same]) != port_of(shares))
		same++;
	KUNIT_EXPECT_EQ(test, rdma_listen(shares->id, 1), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, rdma_listen(c[same]->id, 1), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(shares)), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_EQ(test, rdma_listen(c[same ? 0 : 1]->id, 1), 0);
	ct_destroy(c[same]);
	KUNIT_EXPECT_EQ(test, rdma_listen(shares->id, 1), 0);
}

/* ---- who may ---- */

static void privileged(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr low = ct_ip4(INADDR_ANY, 1023), high = ct_ip4(INADDR_ANY, 1024);
	struct cred *cred = prepare_creds();
	const struct cred *old;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_NET_BIND_SERVICE);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(c->id, &low.any), -EACCES);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(c->id, &high.any), 0);
	revert_creds(old);
	put_cred(cred);
	c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(c->id, &low.any), 0);
}

static void families(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr unix_addr = { .any.sa_family = AF_UNIX };
	union ct_addr local = ct_ip6(0xfe800000, 1, 0);

	KUNIT_EXPECT_EQ(test, rdma_bind_addr(c->id, &unix_addr.any), -EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(c)), RDMA_CM_IDLE);
	/* A link-local address is none without its interface. */
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(c->id, &local.any), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(c)), RDMA_CM_IDLE);
	KUNIT_EXPECT_EQ(test, bind_to(c, INADDR_ANY), 0);
	KUNIT_EXPECT_EQ(test, bind_to(c, INADDR_ANY), -EINVAL);
}

static int interface_of(struct consumer *c)
{
	return c->id->route.addr.dev_addr.bound_dev_if;
}

/* An id that was not bound is as it was before: the next address is looked for everywhere. */
static void refused_and_bound(struct kunit *test)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct consumer *other = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr here = ct_ip4(0x0a000101, 5001), there = ct_ip4(0x0a000201, 5001);
	union ct_addr local = ct_ip6(0xfe800000, 1, 0);

	ct_add_device(test->priv, 1);
	ct_add_device(test->priv, 2);
	KUNIT_EXPECT_EQ(test, bind_to(c, 0x0a000901), -ENODEV);
	KUNIT_EXPECT_EQ(test, interface_of(c), 0);
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &here.any), 0);
	KUNIT_EXPECT_EQ(test, interface_of(c), 1);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(other->id, &here.any), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, interface_of(other), 0);
	/* The interface of a link-local address goes with it, too. */
	local.in6.sin6_scope_id = 7;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(other->id, &local.any), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, interface_of(other), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(other->id, &there.any), 0);
	KUNIT_EXPECT_EQ(test, interface_of(other), 2);
}

/* ---- AF_IB ---- */

static int bind_ib(struct kunit *test, enum rdma_ucm_port_space ps, u64 service_id, u64 mask,
		   struct consumer **c)
{
	union ct_addr local = ct_ib(1, 2, service_id, mask);

	*c = ct_consumer(test, ps, IB_QPT_RC);
	return rdma_bind_addr((*c)->id, &local.any);
}

static u64 service_id_of(struct consumer *c)
{
	return be64_to_cpu(((struct sockaddr_ib *)cma_src_addr(ct_id(c)))->sib_sid);
}

/* The service id says which port space; what its mask leaves open is chosen. */
static void service_ids(struct kunit *test)
{
	struct consumer *c, *other;

	ct_add_device(test->priv, 1);
	KUNIT_ASSERT_EQ(test, bind_ib(test, RDMA_PS_IB, RDMA_IB_IP_PS_TCP | 5001, U64_MAX, &c), 0);
	KUNIT_EXPECT_EQ(test, service_id_of(c), RDMA_IB_IP_PS_TCP | 5001);
	KUNIT_EXPECT_PTR_EQ(test, c->id->device, &((struct cma_test *)test->priv)->device[0]->ib);
	KUNIT_EXPECT_EQ(test, c->id->port_num, 2);
	/* It is in the port space of TCP. */
	KUNIT_EXPECT_EQ(test, bind_ib(test, RDMA_PS_TCP, RDMA_IB_IP_PS_TCP | 5001, U64_MAX, &other),
			-EADDRINUSE);
	KUNIT_EXPECT_EQ(test, bind_ib(test, RDMA_PS_IB, RDMA_IB_IP_PS_IB | 5001, U64_MAX, &other),
			0);
	KUNIT_EXPECT_EQ(test, bind_ib(test, RDMA_PS_UDP, RDMA_IB_IP_PS_TCP | 5002, U64_MAX, &other),
			-EPROTONOSUPPORT);
	KUNIT_EXPECT_NULL(test, other->id->device);
	KUNIT_EXPECT_EQ(test, bind_ib(test, RDMA_PS_UDP, 0, 0, &other), 0);
	KUNIT_EXPECT_EQ(test, service_id_of(other) & ~(u64)U16_MAX, RDMA_IB_IP_PS_UDP);
	KUNIT_EXPECT_NE(test, service_id_of(other) & U16_MAX, 0);
	KUNIT_EXPECT_EQ(test, bind_ib(test, RDMA_PS_IB, 0, 0, &other), 0);
	KUNIT_EXPECT_EQ(test, service_id_of(other) & ~(u64)U16_MAX, RDMA_IB_IP_PS_IB);
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE_SLOW(against_model),
	KUNIT_CASE(ephemeral),
	KUNIT_CASE(shared_ephemeral),
	KUNIT_CASE(shared_ephemeral_listens),
	KUNIT_CASE(privileged),
	KUNIT_CASE(families),
	KUNIT_CASE(refused_and_bound),
	KUNIT_CASE(service_ids),
	{}
};

static struct kunit_suite bind_suite = {
	.name = "rdma_cm_bind",
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = bind_cases,
};

kunit_test_suite(bind_suite);
