// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See test_cma.h.
 */
#include <kunit/static_stub.h>
#include <linux/if_arp.h>
#include <linux/module.h>

#include "test_cma.h"

MODULE_DESCRIPTION("KUnit suites of rdma_cm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);

/* ---- the transport ---- */

static struct cma_test *current_test(void)
{
	return kunit_get_current_test()->priv;
}

/* There may be devices of others, on which wildcards listen, too. */
static bool is_ours(const struct cma_listen *listen)
{
	return listen->cma_dev->device->ops.owner == THIS_MODULE;
}

static int play_begin_listen(struct cma_listen *listen)
{
	struct cma_test *t = current_test();

	if (!is_ours(listen))
		return 0;
	if (!t->spares)
		return -EIO;
	t->spares--;
	t->begun++;
	return 0;
}

static void play_end_listen(struct cma_listen *listen)
{
	if (is_ours(listen))
		current_test()->ended++;
}

static void play_cancel(struct cma_id *id, enum rdma_cm_state from)
{
	struct cma_test *t = current_test();

	atomic_inc(&t->cancels);
	t->cancelled = from;
}

/* ---- the network ---- */

static union ib_gid gid_of(u32 number, u32 port_num)
{
	union ib_gid gid = {
		.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48),
		.global.interface_id = cpu_to_be64((u64)number << 16 | port_num),
	};

	return gid;
}

/*
 * The host has every address of 10.0/16 and fd00::/8, but not a device for each.  The interface has
 * the device's number.
 */
static int play_translate_addr(struct sockaddr *addr, struct rdma_dev_addr *dev_addr)
{
	const union ct_addr *a = (const union ct_addr *)addr;
	u32 number, port_num, low, interface = dev_addr->bound_dev_if;
	union ib_gid gid;

	dev_addr->dev_type = ARPHRD_INFINIBAND;
	if (addr->sa_family == AF_IB) {
		memcpy(gid.raw, &a->ib.sib_addr, sizeof(gid.raw));
		rdma_addr_set_sgid(dev_addr, &gid);
		return 0;
	}
	if (addr->sa_family == AF_INET) {
		low = be32_to_cpu(a->in.sin_addr.s_addr);
		if (low >> 16 != 0x0a00)
			return -EADDRNOTAVAIL;
		number = low >> 8 & 0xff;
		port_num = low & 0xff;
	} else {
		if (a->in6.sin6_addr.s6_addr[0] != 0xfd)
			return -EADDRNOTAVAIL;
		low = be32_to_cpu(a->in6.sin6_addr.s6_addr32[3]);
		number = low >> 16;
		port_num = low & 0xffff;
	}
	/* Like the real one, it believes the interface that it is told. */
	number = interface ?: number;
	dev_addr->bound_dev_if = number;
	gid = gid_of(number, port_num);
	rdma_addr_set_sgid(dev_addr, &gid);
	return 0;
}

/**
 * ct_ip4() - an IPv4 address
 * @addr: the address
 * @port: port
 *
 * Return: both.
 */
union ct_addr ct_ip4(u32 addr, u16 port)
{
	return (union ct_addr) { .in = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = cpu_to_be32(addr),
		.sin_port = cpu_to_be16(port),
	} };
}

/**
 * ct_ip6() - an IPv6 address
 * @high: its first four bytes
 * @low: its last four bytes
 * @port: port
 *
 * Return: both.
 */
union ct_addr ct_ip6(u32 high, u32 low, u16 port)
{
	union ct_addr a = { .in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = cpu_to_be16(port),
	} };

	a.in6.sin6_addr.s6_addr32[0] = cpu_to_be32(high);
	a.in6.sin6_addr.s6_addr32[3] = cpu_to_be32(low);
	return a;
}

/**
 * ct_ib() - the GID of a device's port with a service id; 0 for the wildcard
 * @number: the device
 * @port_num: the port
 * @service_id: service id
 * @mask: of the service id
 *
 * Return: the AF_IB address.
 */
union ct_addr ct_ib(u32 number, u32 port_num, u64 service_id, u64 mask)
{
	union ct_addr a = { .ib = {
		.sib_family = AF_IB,
		.sib_pkey = cpu_to_be16(0xffff),
		.sib_sid = cpu_to_be64(service_id),
		.sib_sid_mask = cpu_to_be64(mask),
	} };
	union ib_gid gid = gid_of(number, port_num);

	if (number)
		memcpy(&a.ib.sib_addr, gid.raw, sizeof(gid.raw));
	return a;
}

/* ---- devices ---- */

static int immutable(struct ib_device *ib, u32 port_num, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = TEST_GIDS;
	immutable->pkey_tbl_len = TEST_PKEYS;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_CM |
				    RDMA_CORE_CAP_AF_IB;
	return 0;
}

/* Stands for the operations of kernel verbs: devices without them are none for rdma_cm. */
static void never_called(void)
{
	WARN_ON(1);
}

/**
 * ct_offer_kernel_verbs() - let a device be one for rdma_cm
 * @ib: device that is not registered yet
 */
void ct_offer_kernel_verbs(struct ib_device *ib)
{
	ib->ops.alloc_pd = (void *)never_called;
	ib->ops.dealloc_pd = (void *)never_called;
	ib->ops.get_dma_mr = (void *)never_called;
	ib->ops.reg_user_mr = (void *)never_called;
	ib->ops.dereg_mr = (void *)never_called;
	ib->ops.create_cq = (void *)never_called;
	ib->ops.destroy_cq = (void *)never_called;
	ib->ops.poll_cq = (void *)never_called;
	ib->ops.req_notify_cq = (void *)never_called;
	ib->ops.create_qp = (void *)never_called;
	ib->ops.modify_qp = (void *)never_called;
	ib->ops.destroy_qp = (void *)never_called;
	ib->ops.post_send = (void *)never_called;
	ib->ops.post_recv = (void *)never_called;
}

/**
 * ct_add_device() - a device appears
 * @t: the test
 * @number: which one, from 1
 */
void ct_add_device(struct cma_test *t, unsigned int number)
{
	struct test_device *device = test_device_alloc();
	char name[16];
	int ret;

	KUNIT_ASSERT_NOT_NULL(t->test, device);
	device->ib.ops.get_port_immutable = immutable;
	ct_offer_kernel_verbs(&device->ib);
	for (u32 port_num = 1; port_num <= TEST_PORTS; port_num++)
		device->port[port_num].gid[0] = gid_of(number, port_num);
	snprintf(name, sizeof(name), "kt_cma%u", number);
	ret = ib_register_device(&device->ib, name, NULL);
	if (ret)
		ib_dealloc_device(&device->ib);
	KUNIT_ASSERT_EQ(t->test, ret, 0);
	t->device[number - 1] = device;
}

/**
 * ct_remove_device() - it goes away
 * @t: the test
 * @number: which one
 */
void ct_remove_device(struct cma_test *t, unsigned int number)
{
	test_device_gone(t->device[number - 1]);
	t->device[number - 1] = NULL;
}

/* ---- consumers ---- */

static int handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct consumer *consumer = id->context;

	if (consumer->calls < CT_EVENTS) {
		consumer->events[consumer->calls] = event->event;
		consumer->status[consumer->calls] = event->status;
	}
	consumer->calls++;
	consumer->last = *event;
	consumer->unlocked |= !mutex_is_locked(&to_cma_id(id)->handler_lock);
	if (consumer->hook)
		consumer->hook(consumer);
	if (consumer->ret)
		consumer->id = NULL;
	return consumer->ret;
}

/**
 * ct_destroy() - destroy a consumer's id, if it has one
 * @consumer: the consumer
 */
void ct_destroy(struct consumer *consumer)
{
	if (consumer->id)
		rdma_destroy_id(consumer->id);
	consumer->id = NULL;
}

/**
 * ct_consumer() - a consumer with an id, which is destroyed at the end of the test
 * @test: the test
 * @ps: port space
 * @type: QP type
 *
 * Return: the consumer.
 */
struct consumer *ct_consumer(struct kunit *test, enum rdma_ucm_port_space ps, enum ib_qp_type type)
{
	struct consumer *consumer = kunit_kzalloc(test, sizeof(*consumer), GFP_KERNEL);
	struct cma_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, consumer);
	consumer->id = rdma_create_id(&init_net, handler, consumer, ps, type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(consumer->id));
	list_add_tail(&consumer->entry, &t->consumers);
	return consumer;
}

/**
 * ct_settle() - until all reports have been delivered
 */
void ct_settle(void)
{
	flush_workqueue(cma_wq);
}

/**
 * ct_init() - init of a suite
 * @test: the test
 *
 * Return: 0 or -ENOMEM.
 */
int ct_init(struct kunit *test)
{
	struct cma_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->test = test;
	t->spares = CT_NEVER;
	INIT_LIST_HEAD(&t->consumers);
	test->priv = t;
	kunit_activate_static_stub(test, cma_begin_listen, play_begin_listen);
	kunit_activate_static_stub(test, cma_end_listen, play_end_listen);
	kunit_activate_static_stub(test, cma_translate_addr, play_translate_addr);
	kunit_activate_static_stub(test, cma_cancel, play_cancel);
	return 0;
}

/**
 * ct_exit() - exit of a suite: the consumers' ids are destroyed, then devices go
 * @test: the test
 */
void ct_exit(struct kunit *test)
{
	struct cma_test *t = test->priv;
	struct consumer *consumer;

	if (!t)
		return;
	ct_settle();
	list_for_each_entry(consumer, &t->consumers, entry)
		ct_destroy(consumer);
	for (unsigned int number = 1; number <= CT_DEVICES; number++)
		if (t->device[number - 1])
			ct_remove_device(t, number);
}
