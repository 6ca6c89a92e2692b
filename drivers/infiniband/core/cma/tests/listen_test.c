// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: listening on devices that are there, that come and that go; what the network tells.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <net/netlink.h>

#include "../../object/object.h"
#include "test_cma.h"

static struct consumer *bound(struct kunit *test, union ct_addr addr)
{
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &addr.any), 0);
	return c;
}

static void expect_listens(struct kunit *test, unsigned int begun, unsigned int ended)
{
	struct cma_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, t->begun, begun);
	KUNIT_EXPECT_EQ(test, t->ended, ended);
}

/* ---- wildcards ---- */

/* A wildcard listens on each device, also on those that come; one that goes causes no event. */
static void everywhere(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct rdma_restrack_entry *res;
	struct consumer *c;

	ct_add_device(t, 1);
	ct_add_device(t, 2);
	c = bound(test, ct_ip4(INADDR_ANY, 5001));
	KUNIT_ASSERT_EQ(test, rdma_listen(c->id, 3), 0);
	expect_listens(test, 2, 0);
	KUNIT_EXPECT_NULL(test, c->id->device);
	/* `rdma resource show cm_id` finds it on each. */
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, rdma_restrack_count(&t->device[i]->ib, RDMA_RESTRACK_CM_ID,
							  false), 1);
	}
	res = rdma_restrack_get_byid(&t->device[0]->ib, RDMA_RESTRACK_CM_ID, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	KUNIT_EXPECT_PTR_EQ(test, rdma_res_to_id(res), c->id);
	rdma_restrack_put(res);
	ct_add_device(t, 3);
	expect_listens(test, 3, 0);
	ct_remove_device(t, 2);
	expect_listens(test, 3, 1);
	ct_add_device(t, 2);
	expect_listens(test, 4, 1);
	ct_destroy(c);
	expect_listens(test, 4, 4);
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	/* The id does not listen on a device that comes now. */
	ct_remove_device(t, 2);
	ct_add_device(t, 2);
	expect_listens(test, 4, 4);
}

/* A listener may be there before any device. */
static void before_devices(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);

	/* Without an address it gets the wildcard and an ephemeral port. */
	KUNIT_ASSERT_EQ(test, rdma_listen(c->id, 3), 0);
	KUNIT_EXPECT_EQ(test, cma_family(ct_id(c)), AF_INET);
	KUNIT_EXPECT_NE(test, be16_to_cpu(cma_addr_port(cma_src_addr(ct_id(c)))), 0);
	expect_listens(test, 0, 0);
	ct_add_device(t, 1);
	expect_listens(test, 1, 0);
}

/* One device refuses: those before it are let go, and the id is as it was. */
static void one_refuses(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *c;

	ct_add_device(t, 1);
	ct_add_device(t, 2);
	ct_add_device(t, 3);
	c = bound(test, ct_ip4(INADDR_ANY, 5001));
	for (unsigned int spares = 0; spares < 3; spares++) {
		t->spares = spares;
		t->begun = 0;
		t->ended = 0;
		KUNIT_EXPECT_EQ(test, rdma_listen(c->id, 3), -EIO);
		expect_listens(test, spares, spares);
		KUNIT_EXPECT_EQ(test, cma_state(ct_id(c)), RDMA_CM_ADDR_BOUND);
	}
	t->spares = 3;
	KUNIT_EXPECT_EQ(test, rdma_listen(c->id, 3), 0);
}

/* A device on which a wildcard cannot listen is none for rdma_cm. */
static void new_device_refuses(struct kunit *test)
{
	struct consumer *first = bound(test, ct_ip4(INADDR_ANY, 5001));
	struct consumer *second = bound(test, ct_ip4(INADDR_ANY, 5002));
	struct cma_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, rdma_listen(first->id, 3), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(second->id, 3), 0);
	t->spares = 1;
	ct_add_device(t, 1);
	expect_listens(test, 1, 1);
	KUNIT_EXPECT_NULL(test, cma_get_device(&t->device[0]->ib));
}

/* ---- a listener of one device ---- */

static void destroy_in_handler(struct consumer *c)
{
	c->ret = -1;
}

static void device_goes(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *c, *wildcard;

	ct_add_device(t, 1);
	ct_add_device(t, 2);
	c = bound(test, ct_ip4(0x0a000102, 5001));
	wildcard = bound(test, ct_ip4(INADDR_ANY, 5002));
	KUNIT_ASSERT_EQ(test, rdma_listen(c->id, 3), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(wildcard->id, 3), 0);
	expect_listens(test, 3, 0);
	KUNIT_EXPECT_EQ(test, c->id->port_num, 2);
	c->hook = destroy_in_handler;
	ct_remove_device(t, 1);
	expect_listens(test, 3, 2);
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, wildcard->calls, 0);
}

/* What the driver is told to describe, and what it answers. */
static struct {
	struct rdma_cm_id *id;
	int ret;
} driver;

static int describe_by_driver(struct sk_buff *msg, struct rdma_cm_id *id)
{
	driver.id = id;
	return driver.ret;
}

static int described(struct kunit *test, struct ib_device *ib, u32 port_num)
{
	struct rdma_restrack_entry *res = rdma_restrack_get_byid(ib, RDMA_RESTRACK_CM_ID, 1);
	struct rdma_object *obj = container_of(res, struct rdma_object, res);
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	KUNIT_ASSERT_NOT_NULL(test, msg);
	driver.id = NULL;
	ret = obj->ops->describe(obj, msg, port_num);
	nlmsg_free(msg);
	rdma_restrack_put(res);
	return ret;
}

/* The driver adds to what is shown of an id of its device. */
static void driver_describes(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *c, *wildcard;

	ct_add_device(t, 1);
	ct_add_device(t, 2);
	for (unsigned int i = 0; i < 2; i++)
		t->device[i]->ib.ops.fill_res_cm_id_entry = describe_by_driver;
	c = bound(test, ct_ip4(0x0a000102, 5001));
	driver.ret = 0;
	KUNIT_EXPECT_EQ(test, described(test, &t->device[0]->ib, 2), 0);
	KUNIT_EXPECT_PTR_EQ(test, driver.id, c->id);
	KUNIT_EXPECT_EQ(test, described(test, &t->device[0]->ib, 1), -EAGAIN);
	KUNIT_EXPECT_NULL(test, driver.id);
	driver.ret = -EMSGSIZE;
	KUNIT_EXPECT_EQ(test, described(test, &t->device[0]->ib, 0), -EMSGSIZE);

	/* One that listens everywhere is no device's. */
	wildcard = bound(test, ct_ip4(INADDR_ANY, 5002));
	KUNIT_ASSERT_EQ(test, rdma_listen(wildcard->id, 3), 0);
	KUNIT_EXPECT_EQ(test, described(test, &t->device[1]->ib, 0), 0);
	KUNIT_EXPECT_NULL(test, driver.id);
}

/* Nothing is destroyed to which a look-up may have led a driver. */
static void driver_loses_connection(struct kunit *test)
{
	struct iw_cm_id iw = {};
	struct cma_test *t = test->priv;
	struct consumer *c;

	ct_add_device(t, 1);
	c = bound(test, ct_ip4(0x0a000102, 5001));
	ct_id(c)->cm_id.iw = &iw;
	KUNIT_EXPECT_PTR_EQ(test, cma_take_iw(ct_id(c)), &iw);
	KUNIT_EXPECT_NULL(test, ct_id(c)->cm_id.iw);
	ct_id(c)->cm_id.iw = NULL;
	/* It is found as before. */
	KUNIT_EXPECT_EQ(test, described(test, &t->device[0]->ib, 0), 0);
}

/* An id that listens does not share its port. */
static void shared_port(struct kunit *test)
{
	struct consumer *a = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	struct consumer *b = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr any = ct_ip4(INADDR_ANY, 5001);

	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(a->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(b->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(a->id, &any.any), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(b->id, &any.any), 0);
	KUNIT_EXPECT_EQ(test, rdma_listen(a->id, 1), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, cma_state(ct_id(a)), RDMA_CM_ADDR_BOUND);
	ct_destroy(b);
	KUNIT_EXPECT_EQ(test, rdma_listen(a->id, 1), 0);
	b = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(b->id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(b->id, &any.any), -EADDRNOTAVAIL);
}

/* A look-up of a listener holds a reference, so that it is not freed meanwhile. */
static void found_listener_stays(struct kunit *test)
{
	struct consumer *c = bound(test, ct_ip4(INADDR_ANY, 5001));
	union ct_addr local = ct_ip4(0x0a000101, 5001);
	struct cma_test *t = test->priv;
	struct cma_listen_key key = {
		.net = &init_net, .ps = RDMA_PS_TCP, .service_id = cpu_to_be64(5001),
		.local = &local.any, .port_num = 1, .ndev = init_net.loopback_dev,
	};
	struct cma_id *found;
	unsigned int refs;

	ct_add_device(t, 1);
	key.device = &t->device[0]->ib;
	KUNIT_EXPECT_NULL(test, cma_find_listener(&key));
	KUNIT_ASSERT_EQ(test, rdma_listen(c->id, 3), 0);
	/* There are the references of the id itself and of its listens. */
	refs = refcount_read(&ct_id(c)->refs);
	KUNIT_EXPECT_GE(test, refs, 2);
	found = cma_find_listener(&key);
	KUNIT_ASSERT_PTR_EQ(test, found, ct_id(c));
	KUNIT_EXPECT_EQ(test, refcount_read(&found->refs), refs + 1);
	cma_put_id(found);
	/* Without an interface the request is for AF_IB. */
	key.ndev = NULL;
	KUNIT_EXPECT_NULL(test, cma_find_listener(&key));
}

/* ---- settings of ports ---- */

static void settings(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct cma_device *cma_dev;

	ct_add_device(t, 1);
	cma_dev = cma_get_device(&t->device[0]->ib);
	KUNIT_ASSERT_NOT_NULL(test, cma_dev);
	KUNIT_EXPECT_EQ(test, cma_config(cma_dev, 1)->gid_type, IB_GID_TYPE_IB);
	KUNIT_EXPECT_EQ(test, cma_config(cma_dev, 2)->tos, 0);
	cma_put_device(cma_dev);
	KUNIT_EXPECT_NULL(test, cma_get_device(NULL));
}

/* ---- what the network tells ---- */

static void neighbours(struct kunit *test)
{
	u8 old[ETH_ALEN] = { 2, 1 }, new[ETH_ALEN] = { 2, 2 };
	struct consumer *c[3], *other;
	union ct_addr peer = ct_ip4(0x0a000901, 0), stranger = ct_ip4(0x0a000902, 0);

	for (unsigned int i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
		memcpy(cma_dst_addr(ct_id(c[i])), &peer.in, sizeof(peer.in));
		memcpy(c[i]->id->route.addr.dev_addr.dst_dev_addr, old, ETH_ALEN);
		c[i]->id->route.addr.dev_addr.bound_dev_if = i == 2 ? 5 : 4;
		cma_watch_neighbour(ct_id(c[i]));
	}
	other = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	cma_neighbour_changed(&init_net, 4, &peer.any, old, ETH_ALEN);
	cma_neighbour_changed(&init_net, 4, &stranger.any, new, ETH_ALEN);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c[0]->calls + c[1]->calls + c[2]->calls, 0);
	c[1]->ret = 1;
	cma_neighbour_changed(&init_net, 4, &peer.any, new, ETH_ALEN);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c[0]->calls, 1);
	KUNIT_EXPECT_EQ(test, c[0]->events[0], RDMA_CM_EVENT_UNREACHABLE);
	KUNIT_EXPECT_EQ(test, c[0]->status[0], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, c[1]->calls, 1);
	KUNIT_EXPECT_EQ(test, c[2]->calls + other->calls, 0);
	/* The id that its handler has destroyed gets no more events. */
	cma_neighbour_changed(&init_net, 4, &peer.any, new, ETH_ALEN);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c[0]->calls, 2);
	KUNIT_EXPECT_EQ(test, c[1]->calls, 1);
}

/* Another namespace may have an interface of the same number, and neighbours as it likes. */
static void neighbours_elsewhere(struct kunit *test)
{
	struct net *elsewhere = kunit_kzalloc(test, sizeof(*elsewhere), GFP_KERNEL);
	struct consumer *c = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr peer = ct_ip4(0x0a000901, 0);
	u8 link_addr[ETH_ALEN] = { 2, 2 };

	KUNIT_ASSERT_NOT_NULL(test, elsewhere);
	memcpy(cma_dst_addr(ct_id(c)), &peer.in, sizeof(peer.in));
	c->id->route.addr.dev_addr.bound_dev_if = 4;
	cma_watch_neighbour(ct_id(c));
	cma_neighbour_changed(elsewhere, 4, &peer.any, link_addr, ETH_ALEN);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	cma_neighbour_changed(&init_net, 4, &peer.any, link_addr, ETH_ALEN);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
}

static void bonds(struct kunit *test)
{
	struct net_device *ndev = alloc_etherdev(0);
	struct cma_test *t = test->priv;
	struct consumer *c;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	eth_hw_addr_random(ndev);
	ndev->ifindex = 4;
	ct_add_device(t, 1);
	c = bound(test, ct_ip4(0x0a000101, 0));
	c->id->route.addr.dev_addr.bound_dev_if = 4;
	memcpy(c->id->route.addr.dev_addr.src_dev_addr, ndev->dev_addr, ETH_ALEN);
	cma_bond_changed(ndev);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	eth_hw_addr_random(ndev);
	cma_bond_changed(ndev);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_ADDR_CHANGE);
	c->id->route.addr.dev_addr.bound_dev_if = 5;
	cma_bond_changed(ndev);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	free_netdev(ndev);
}

/* ---- memory ---- */

#ifdef CONFIG_FAILSLAB
/* In a listener's life one allocation fails. */
static int short_life(void)
{
	struct rdma_cm_id *id = rdma_create_id(&init_net, NULL, NULL, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr any = ct_ip4(INADDR_ANY, 5001), own = ct_ip4(0x0a000101, 0);
	struct rdma_cm_id *second;
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = rdma_bind_addr(id, &any.any) ?: rdma_listen(id, 1);
	second = ret ? ERR_PTR(ret) :
		       rdma_create_id(&init_net, NULL, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(second)) {
		rdma_destroy_id(id);
		return PTR_ERR(second);
	}
	ret = rdma_bind_addr(second, &own.any);
	rdma_destroy_id(second);
	rdma_destroy_id(id);
	return ret;
}

static void without_memory(struct kunit *test)
{
	struct cma_test *t = test->priv;
	unsigned int failures = 0;
	bool spared;
	int ret;

	ct_add_device(t, 1);
	ct_add_device(t, 2);
	for (unsigned int nth = 1; nth < 100; nth++) {
		current->fail_nth = nth;
		ret = short_life();
		spared = current->fail_nth;
		current->fail_nth = 0;
		KUNIT_EXPECT_EQ(test, t->begun, t->ended);
		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			failures++;
		}
		if (spared)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	/* Two ids, two ports and two listens at least. */
	KUNIT_EXPECT_GE(test, failures, 6);
}
#endif

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(everywhere),
	KUNIT_CASE(before_devices),
	KUNIT_CASE(one_refuses),
	KUNIT_CASE(new_device_refuses),
	KUNIT_CASE(device_goes),
	KUNIT_CASE(driver_describes),
	KUNIT_CASE(driver_loses_connection),
	KUNIT_CASE(shared_port),
	KUNIT_CASE(found_listener_stays),
	KUNIT_CASE(settings),
	KUNIT_CASE(neighbours),
	KUNIT_CASE(neighbours_elsewhere),
	KUNIT_CASE(bonds),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite listen_suite = {
	.name = "rdma_cm_listen",
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
