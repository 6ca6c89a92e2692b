// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the routes, interfaces and neighbours that addresses lead to.
 */
#include <kunit/test.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "../../device/tests/test_device.h"
#include "fake_net.h"

static int route_init(struct kunit *test)
{
	test->priv = fake_net_begin(test, ARPHRD_ETHER);
	return 0;
}

static int infiniband_init(struct kunit *test)
{
	test->priv = fake_net_begin(test, ARPHRD_INFINIBAND);
	return 0;
}

static void route_exit(struct kunit *test)
{
	fake_net_end(test->priv);
}

static void sizes(struct kunit *test)
{
	struct __kernel_sockaddr_storage any = { .ss_family = AF_INET };

	KUNIT_EXPECT_EQ(test, rdma_addr_size((void *)&any), sizeof(struct sockaddr_in));
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6((void *)&any), sizeof(struct sockaddr_in));
	any.ss_family = AF_INET6;
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6((void *)&any), sizeof(struct sockaddr_in6));
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&any), sizeof(struct sockaddr_in6));
	any.ss_family = AF_IB;
	KUNIT_EXPECT_EQ(test, rdma_addr_size((void *)&any), sizeof(struct sockaddr_ib));
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&any), sizeof(struct sockaddr_ib));
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6((void *)&any), 0);
	any.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, rdma_addr_size((void *)&any), 0);
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&any), 0);
}

static int translate(const char *text, u32 scope, int bound, struct rdma_dev_addr *addr)
{
	union addr_ip ip = fake_ip(text);

	if (scope)
		ip.in6.sin6_scope_id = scope;
	*addr = (struct rdma_dev_addr){ .net = &init_net, .bound_dev_if = bound };
	return rdma_translate_ip(&ip.any, addr);
}

static void interface_of_an_address(struct kunit *test)
{
	struct fake_net *net = test->priv;
	struct rdma_dev_addr addr;
	union addr_ip ip = fake_ip("198.18.0.1");

	KUNIT_EXPECT_EQ(test, translate("198.18.0.1", 0, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_EQ(test, addr.dev_type, ARPHRD_ETHER);
	KUNIT_EXPECT_MEMEQ(test, addr.src_dev_addr, net->dev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, addr.broadcast, net->dev->broadcast, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, translate("2001:db8::1", 0, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_EQ(test, translate("198.18.0.2", 0, 0, &addr), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, translate("2001:db8::2", 0, 0, &addr), -EADDRNOTAVAIL);
	/* The scope id has no meaning for a global address. */
	KUNIT_EXPECT_EQ(test, translate("2001:db8::1", INT_MAX, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, translate("fe80::1", INT_MAX, 0, &addr), -EADDRNOTAVAIL);
	/* If an interface is given, the address is not searched for. */
	KUNIT_EXPECT_EQ(test, translate("203.0.113.1", 0, net->dev->ifindex, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.dev_type, ARPHRD_ETHER);
	KUNIT_EXPECT_EQ(test, translate("198.18.0.1", 0, INT_MAX, &addr), -ENODEV);
	addr = (struct rdma_dev_addr){};
	KUNIT_EXPECT_EQ(test, rdma_translate_ip(&ip.any, &addr), -EINVAL);

	/* Fields that do not come from the interface are left alone. */
	addr.hoplimit = 7;
	rdma_copy_src_l2_addr(&addr, net->dev);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_MEMEQ(test, addr.src_dev_addr, net->dev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, addr.hoplimit, 7);
}

static void neighbour_is_known(struct kunit *test)
{
	static const char *const peers[] = { "198.18.0.2", "2001:db8::2" };
	struct fake_net *net = test->priv;
	struct fake_wait wait;

	for (int i = 0; i < ARRAY_SIZE(peers); i++) {
		union addr_ip src = fake_ip(i ? "2001:db8::1" : "198.18.0.1");

		fake_wait_init(&wait);
		fake_net_answer(test, net, peers[i], 0x22);
		KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, peers[i], 1000), 0);
		KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
		KUNIT_EXPECT_EQ(test, wait.addr.dst_dev_addr[5], 0x22);
		KUNIT_EXPECT_MEMEQ(test, wait.addr.src_dev_addr, net->dev->dev_addr, ETH_ALEN);
		KUNIT_EXPECT_EQ(test, wait.addr.bound_dev_if, net->dev->ifindex);
		KUNIT_EXPECT_EQ(test, wait.addr.network, RDMA_NETWORK_IB);
		KUNIT_EXPECT_EQ(test, wait.addr.hoplimit, 64);
		KUNIT_EXPECT_EQ(test, wait.src.any.sa_family, src.any.sa_family);
		KUNIT_EXPECT_MEMEQ(test, &wait.src, &src, rdma_addr_size(&src.any));
	}
}

/* A known neighbour is found by the call itself, which does not wait. */
static void known_at_once(struct kunit *test)
{
	union addr_ip own = fake_ip("198.18.0.1"), own6 = fake_ip("2001:db8::1");
	union addr_ip peer = fake_ip("198.18.0.2"), unknown = fake_ip("198.18.0.3");
	struct rdma_dev_addr addr = { .net = &init_net };
	struct sockaddr_storage source = {};
	struct fake_net *net = test->priv;

	KUNIT_EXPECT_EQ(test, addr_resolve_known_ip(NULL, &unknown.any, &addr, &source), -EAGAIN);
	KUNIT_EXPECT_EQ(test, addr_resolve_known_ip(&own6.any, &peer.any, &addr, &source), -EINVAL);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, 0);
	KUNIT_EXPECT_EQ(test, source.ss_family, 0);
	fake_net_answer(test, net, "198.18.0.2", 0x22);
	KUNIT_ASSERT_EQ(test, addr_resolve_known_ip(NULL, &peer.any, &addr, &source), 0);
	KUNIT_EXPECT_EQ(test, addr.dst_dev_addr[5], 0x22);
	KUNIT_EXPECT_MEMEQ(test, addr.src_dev_addr, net->dev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_EQ(test, addr.hoplimit, 64);
	KUNIT_EXPECT_MEMEQ(test, &source, &own, sizeof(own.in));
}

/* Packets for a network behind a router have the router's address. */
static void router(struct kunit *test)
{
	struct fake_net *net = test->priv;
	struct fake_wait wait;

	KUNIT_ASSERT_EQ(test, fake_net_gateway(net, "203.0.113.0", 24, "198.18.0.9"), 0);
	KUNIT_ASSERT_EQ(test, fake_net_gateway(net, "2001:db8:9::", 48, "2001:db8::9"),
			0);
	fake_net_answer(test, net, "198.18.0.9", 0x99);
	fake_net_answer(test, net, "2001:db8::9", 0x96);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "203.0.113.5", 1000), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.dst_dev_addr[5], 0x99);
	KUNIT_EXPECT_EQ(test, wait.addr.network, RDMA_NETWORK_IPV4);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "2001:db8:9::5", 1000), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.dst_dev_addr[5], 0x96);
	KUNIT_EXPECT_EQ(test, wait.addr.network, RDMA_NETWORK_IPV6);
}

/* The route to an own address leads to the loopback interface, the ends are the interface. */
static void own_address(struct kunit *test)
{
	struct fake_net *net = test->priv;
	struct fake_wait wait;

	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.1", 0), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_EQ(test, wait.addr.dev_type, ARPHRD_ETHER);
	KUNIT_EXPECT_MEMEQ(test, wait.addr.src_dev_addr, net->dev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, wait.addr.dst_dev_addr, net->dev->dev_addr, ETH_ALEN);
	/* An address of the loopback interface itself belongs to no other interface. */
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "127.0.0.1", 0), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.dev_type, ARPHRD_LOOPBACK);
}

/* Every link may have the same link-local address. */
static void scope(struct kunit *test)
{
	struct fake_net *net = test->priv;
	union addr_ip dst = fake_ip("fe80::22");
	struct fake_wait wait;

	fake_wait_init(&wait);
	fake_net_answer(test, net, "fe80::22", 0x22);
	dst.in6.sin6_scope_id = net->dev->ifindex;
	KUNIT_ASSERT_EQ(test, rdma_resolve_ip(NULL, &dst.any, &wait.addr, 1000, fake_heard, false,
					      &wait), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.bound_dev_if, net->dev->ifindex);
	KUNIT_EXPECT_EQ(test, wait.addr.dst_dev_addr[5], 0x22);
	/* A given interface takes precedence over a scope id that does not exist. */
	fake_wait_init(&wait);
	dst.in6.sin6_scope_id = INT_MAX;
	wait.addr.bound_dev_if = net->dev->ifindex;
	KUNIT_ASSERT_EQ(test, rdma_resolve_ip(NULL, &dst.any, &wait.addr, 1000, fake_heard, false,
					      &wait), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	fake_wait_init(&wait);
	KUNIT_EXPECT_LT(test, rdma_resolve_ip(NULL, &dst.any, &wait.addr, 1000, fake_heard, false,
					      &wait), 0);
}

static void refusals(struct kunit *test)
{
	union addr_ip none = { .any.sa_family = AF_IB }, dst = fake_ip("198.18.0.2");
	struct fake_net *net = test->priv;
	struct fake_wait wait;

	fake_wait_init(&wait);
	KUNIT_EXPECT_EQ(test, rdma_resolve_ip(NULL, &none.any, &wait.addr, 0, fake_heard, false,
					      &wait), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, "2001:db8::1", "198.18.0.2", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_resolve_ip(NULL, &dst.any, &wait.addr, 0, fake_heard, true,
					      &wait), -EINVAL);
	/* not an own address */
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, "203.0.113.1", "198.18.0.2", 0),
			-ENETUNREACH);
	wait.addr.bound_dev_if = INT_MAX;
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.2", 0), -ENODEV);
	wait.addr.bound_dev_if = 0;
	KUNIT_ASSERT_EQ(test, fake_net_unreachable(net, "198.18.0.77"), 0);
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.77", 0), -EHOSTUNREACH);
	wait.addr.net = NULL;
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.2", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
	/* no callback follows either */
	rdma_addr_cancel(&wait.addr);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
}

/* Link addresses of IPoIB have 20 bytes: QPN and GID. */
static void infiniband_neighbour(struct kunit *test)
{
	struct fake_net *net = test->priv;
	struct fake_wait wait;
	union ib_gid gid;

	fake_wait_init(&wait);
	fake_net_answer(test, net, "198.18.0.2", 0x22);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.2", 1000), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	KUNIT_EXPECT_EQ(test, wait.addr.dev_type, ARPHRD_INFINIBAND);
	rdma_addr_get_dgid(&wait.addr, &gid);
	KUNIT_EXPECT_EQ(test, gid.raw[0], 0xfe);
	KUNIT_EXPECT_EQ(test, gid.raw[15], 0x22);
	rdma_addr_get_sgid(&wait.addr, &gid);
	KUNIT_EXPECT_EQ(test, gid.raw[15], FAKE_OWN);
}

static struct kunit_case route_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(interface_of_an_address),
	KUNIT_CASE(neighbour_is_known),
	KUNIT_CASE(router),
	KUNIT_CASE(known_at_once),
	KUNIT_CASE(own_address),
	KUNIT_CASE(scope),
	KUNIT_CASE(refusals),
	{}
};

static struct kunit_suite route_suite = {
	.name = "ib_core_addr_route",
	.init = route_init,
	.exit = route_exit,
	.test_cases = route_cases,
};

static struct kunit_case infiniband_cases[] = {
	KUNIT_CASE(infiniband_neighbour),
	{}
};

static struct kunit_suite infiniband_suite = {
	.name = "ib_core_addr_infiniband",
	.init = infiniband_init,
	.exit = route_exit,
	.test_cases = infiniband_cases,
};

kunit_test_suites(&route_suite, &infiniband_suite);

MODULE_DESCRIPTION("KUnit tests of address resolution");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
