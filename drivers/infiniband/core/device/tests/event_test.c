// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: events, from the driver to the handlers.
 */
#include <kunit/test.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>

#include "../../cache/cache.h"
#include "../device.h"
#include "test_device.h"

#define BURST 300

/**
 * struct test_handler - handler that records its events
 * @ib: as the core sees it
 * @count: number of events
 * @event: the types of the first BURST events
 * @port: their ports
 * @interface_id: GID 0 of port 1 in the cache at that time
 */
struct test_handler {
	struct ib_event_handler ib;
	unsigned int count;
	enum ib_event_type event[BURST];
	u32 port[BURST];
	u64 interface_id[BURST];
};

static void hear(struct ib_event_handler *ib, struct ib_event *event)
{
	struct test_handler *handler = container_of(ib, struct test_handler, ib);
	union ib_gid gid = {};

	rdma_query_gid(event->device, 1, 0, &gid);
	if (handler->count < BURST) {
		handler->event[handler->count] = event->event;
		handler->port[handler->count] = event->element.port_num;
		handler->interface_id[handler->count] = be64_to_cpu(gid.global.interface_id);
	}
	handler->count++;
}

static struct test_handler *listen(struct kunit *test, struct test_device *device)
{
	struct test_handler *handler = kunit_kzalloc(test, sizeof(*handler), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, handler);
	INIT_IB_EVENT_HANDLER(&handler->ib, &device->ib, hear);
	ib_register_event_handler(&handler->ib);
	return handler;
}

static void dispatch(struct test_device *device, enum ib_event_type type, u32 port_num)
{
	struct ib_event event = { .device = &device->ib, .event = type };

	event.element.port_num = port_num;
	ib_dispatch_event(&event);
}

/* More events than the reserve for times without memory, so the order must hold across both. */
static void events_keep_their_order(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_order");
	struct test_handler *handler = listen(test, device);
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < BURST; i++)
		dispatch(device, IB_EVENT_SM_CHANGE, i + 1);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		wrong += handler->port[i] != i + 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	ib_unregister_event_handler(&handler->ib);
	test_device_gone(device);
}

static void handlers_see_the_refreshed_cache(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_fresh");
	struct test_handler *handler = listen(test, device);

	device->port[1].gid[0].global.interface_id = cpu_to_be64(77);
	dispatch(device, IB_EVENT_GID_CHANGE, 1);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, 1);
	KUNIT_EXPECT_EQ(test, handler->interface_id[0], 77);

	/* An event that also changes GIDs is preceded by GID_CHANGE. */
	device->port[1].gid[0].global.interface_id = cpu_to_be64(78);
	dispatch(device, IB_EVENT_CLIENT_REREGISTER, 1);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, 3);
	KUNIT_EXPECT_EQ(test, handler->event[1], IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_EQ(test, handler->event[2], IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, handler->interface_id[1], 78);
	ib_unregister_event_handler(&handler->ib);
	test_device_gone(device);
}

static void events_of_absent_devices_are_dropped(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	struct test_handler *handler;

	KUNIT_ASSERT_NOT_NULL(test, device);
	handler = listen(test, device);
	dispatch(device, IB_EVENT_DEVICE_FATAL, 0);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, 0);

	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_absent", NULL), 0);
	dispatch(device, IB_EVENT_DEVICE_FATAL, 0);
	/* Events reported before the end are delivered. */
	ib_unregister_device(&device->ib);
	KUNIT_EXPECT_EQ(test, handler->count, 1);
	dispatch(device, IB_EVENT_DEVICE_FATAL, 0);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, 1);
	ib_unregister_event_handler(&handler->ib);
	ib_dealloc_device(&device->ib);
}

static struct task_struct *registering;

/* The port changes right after it was queried, while the device cannot be found yet. */
static void move_on(struct test_device *device, u32 port_num)
{
	if (current != registering || port_num != 1 || refcount_read(&device->ib.refcount))
		return;
	device->port[1].attr.lid++;
	dispatch(device, IB_EVENT_LID_CHANGE, 1);
}

/* A driver does not report again what has changed while its device was being registered. */
static void changes_while_a_device_comes_are_seen(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	struct rdma_cached_port attrs = {};

	KUNIT_ASSERT_NOT_NULL(test, device);
	registering = current;
	device->port[1].attr.lid = 0x100;
	device->told = move_on;
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_moves", NULL), 0);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_GT(test, device->port[1].attr.lid, 0x100);
	KUNIT_EXPECT_EQ(test, ib_cache_get_port(&device->ib, 1, &attrs), 0);
	KUNIT_EXPECT_EQ(test, attrs.lid, device->port[1].attr.lid);
	test_device_gone(device);
}

/* Port numbers that a broken driver might report. */
static void events_of_absent_ports_are_harmless(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_port");
	struct test_handler *handler = listen(test, device);

	dispatch(device, IB_EVENT_GID_CHANGE, 0);
	dispatch(device, IB_EVENT_PORT_ACTIVE, TEST_PORTS + 1);
	dispatch(device, IB_EVENT_PORT_ERR, U32_MAX);
	dispatch(device, 1000, 1);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, handler->count, 4);
	ib_unregister_event_handler(&handler->ib);
	test_device_gone(device);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(events_keep_their_order),
	KUNIT_CASE(handlers_see_the_refreshed_cache),
	KUNIT_CASE(events_of_absent_devices_are_dropped),
	KUNIT_CASE(changes_while_a_device_comes_are_seen),
	KUNIT_CASE(events_of_absent_ports_are_harmless),
	{}
};

static struct kunit_suite event_suite = {
	.name = "ib_core_event",
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);
