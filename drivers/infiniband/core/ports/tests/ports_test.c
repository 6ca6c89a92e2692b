// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: watchers of ports, their events, and the order of these.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/rdma_ext_port.h>

#include "../../device/device.h"
#include "../../device/tests/test_device.h"
#include "../ports.h"

#define MOST 64

/**
 * struct test_watcher - a watcher that records its events of the tests' devices
 * @ib: as the core sees it
 * @count: events
 * @said: each as a letter and the port's number, "a1" for IB_PORT_EVENT_ADD of port 1
 * @attr: the attributes of the last event
 * @refuses: index of the event with which it declines port 1, or -1
 * @wrong: number of wrong contexts
 * @replayed: number of end marks
 * @told: counts the events of all watchers, which shows their order
 * @at: value of @told at the last event
 */
struct test_watcher {
	struct ib_port_watcher ib;
	unsigned int count;
	char said[2 * MOST + 1];
	struct ib_port_attr attr;
	int refuses;
	unsigned int wrong;
	unsigned int replayed;
	unsigned int *told;
	unsigned int at;
};

/* By enum ib_port_event_type. */
static const char letter[] = "a-dimAlstpgr";

static int hear(struct ib_port_watcher *ib, const struct ib_port_event *event)
{
	struct test_watcher *watcher = container_of(ib, struct test_watcher, ib);

	if (event->type == IB_PORT_EVENT_REPLAYED) {
		watcher->replayed++;
		return 0;
	}
	if (!str_has_prefix(event->device->name, "kt_watched"))
		return 1;
	if (event->type == IB_PORT_EVENT_ADD) {
		watcher->wrong += !!*event->context;
		*event->context = (char *)watcher + event->port_num;
	}
	watcher->wrong += *event->context != (char *)watcher + event->port_num;
	watcher->attr = *event->attr;
	watcher->at = ++*watcher->told;
	if (watcher->count < MOST) {
		watcher->said[2 * watcher->count] = letter[event->type];
		watcher->said[2 * watcher->count + 1] = '0' + event->port_num;
	}
	watcher->count++;
	return event->port_num == 1 && (int)event->type == watcher->refuses;
}

static unsigned int told; /* events of all watchers, which are called one after the other */

static void prepare(struct test_watcher *watcher)
{
	*watcher = (struct test_watcher){ .ib.event = hear, .refuses = -1, .told = &told };
}

static struct test_watcher *watch(struct kunit *test)
{
	struct test_watcher *watcher = kunit_kzalloc(test, sizeof(*watcher), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, watcher);
	prepare(watcher);
	KUNIT_ASSERT_EQ(test, ib_watch_ports(&watcher->ib), 0);
	return watcher;
}

/* Expects these events since this was called last. */
static void expect_said(struct kunit *test, struct test_watcher *watcher, const char *said)
{
	KUNIT_EXPECT_STREQ(test, watcher->said, said);
	watcher->count = 0;
	memset(watcher->said, 0, sizeof(watcher->said));
}

static void dispatch(struct test_device *device, enum ib_event_type type, u32 port_num)
{
	struct ib_event event = { .device = &device->ib, .event = type };

	event.element.port_num = port_num;
	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
	ports_flush();
}

static void changed(struct test_device *device, u32 port_num)
{
	ib_port_changed(&device->ib, port_num);
	ports_flush();
}

/* Watchers are added before and after devices; the end mark follows the initial ports. */
static void ports_come_and_go(struct kunit *test)
{
	struct test_watcher *early = watch(test), *late;
	struct test_device *device;

	KUNIT_EXPECT_EQ(test, early->replayed, 1);
	expect_said(test, early, "");
	device = test_device_registered(test, "kt_watched");
	expect_said(test, early, "a1A1a2A2");
	device->port[2].attr.state = IB_PORT_INIT;
	changed(device, 2);
	expect_said(test, early, "i2");
	late = watch(test);
	KUNIT_EXPECT_EQ(test, late->replayed, 1);
	expect_said(test, late, "a1A1a2i2");
	expect_said(test, early, "");

	ib_unwatch_ports(&early->ib);
	expect_said(test, early, "-1-2");
	test_device_gone(device);
	expect_said(test, late, "-1-2");
	expect_said(test, early, "");
	ib_unwatch_ports(&late->ib);
	expect_said(test, late, "");
	KUNIT_EXPECT_EQ(test, early->wrong + late->wrong, 0);
	KUNIT_EXPECT_EQ(test, early->replayed + late->replayed, 2);
}

/* An event leads to the changes that a query of the port shows. */
static void changes(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_watched");
	struct test_watcher *watcher = watch(test);
	struct ib_port_attr *attr = &device->port[1].attr;

	expect_said(test, watcher, "a1A1a2A2");
	attr->state = IB_PORT_DOWN;
	dispatch(device, IB_EVENT_PORT_ERR, 1);
	expect_said(test, watcher, "d1");
	attr->state = IB_PORT_INIT;
	changed(device, 1);
	expect_said(test, watcher, "i1");
	attr->state = IB_PORT_ARMED;
	attr->subnet_timeout = 7;
	changed(device, 1);
	expect_said(test, watcher, "t1m1");
	KUNIT_EXPECT_EQ(test, watcher->attr.subnet_timeout, 7);
	changed(device, 1);
	expect_said(test, watcher, "");

	/* One event brings several changes and the state, and later events bring none. */
	attr->state = IB_PORT_ACTIVE;
	attr->lid = 0x77;
	attr->sm_sl = 3;
	dispatch(device, IB_EVENT_PORT_ACTIVE, 1);
	expect_said(test, watcher, "l1s1A1");
	KUNIT_EXPECT_EQ(test, watcher->attr.lid, 0x77);
	dispatch(device, IB_EVENT_LID_CHANGE, 1);
	dispatch(device, IB_EVENT_SM_CHANGE, 1);
	expect_said(test, watcher, "");
	attr->lmc = 2;
	dispatch(device, IB_EVENT_LID_CHANGE, 1);
	attr->sm_lid = 9;
	dispatch(device, IB_EVENT_SM_CHANGE, 1);
	expect_said(test, watcher, "l1s1");

	/* The tables are not among the attributes. */
	dispatch(device, IB_EVENT_PKEY_CHANGE, 2);
	dispatch(device, IB_EVENT_GID_CHANGE, 2);
	dispatch(device, IB_EVENT_CLIENT_REREGISTER, 2);
	expect_said(test, watcher, "p2g2r2");

	/*
	 * A lost link is reported though it is up again, and also if the driver cannot be queried.
	 */
	dispatch(device, IB_EVENT_PORT_ERR, 1);
	expect_said(test, watcher, "d1A1");
	device->fails = TEST_OP_QUERY_PORT;
	dispatch(device, IB_EVENT_PORT_ERR, 2);
	device->fails = TEST_OP_NONE;
	KUNIT_EXPECT_EQ(test, watcher->attr.lid, 2);
	expect_said(test, watcher, "d2");

	/* These are not events of an existing port. */
	dispatch(device, IB_EVENT_PORT_ERR, TEST_PORTS + 1);
	dispatch(device, IB_EVENT_DEVICE_FATAL, 1);
	changed(device, 0);
	expect_said(test, watcher, "");
	test_device_gone(device);
	expect_said(test, watcher, "-1-2");
	ib_unwatch_ports(&watcher->ib);
	KUNIT_EXPECT_EQ(test, watcher->wrong, 0);
}

static struct task_struct *registering;

/* Reports an event of port 2 while port 1 is being queried, once. */
static void report_another(struct test_device *device, u32 port_num)
{
	struct ib_event event = { .device = &device->ib, .event = IB_EVENT_PKEY_CHANGE };

	/* The caches query ports before clients are attached. */
	if (current != registering || port_num != 1 || !refcount_read(&device->ib.refcount))
		return;
	device->told = NULL;
	event.element.port_num = 2;
	ib_dispatch_event(&event);
	flush_work(&device->ib.core->event_work);
}

/* An event from before the query of a port causes no notification of what the query finds. */
static void old_events_are_not_told(struct kunit *test)
{
	struct test_watcher *watcher = watch(test);
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	registering = current;
	device->told = report_another;
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_watched", NULL), 0);
	ports_flush();
	expect_said(test, watcher, "a1A1a2A2");
	KUNIT_EXPECT_NULL(test, device->told);
	dispatch(device, IB_EVENT_GID_CHANGE, 2);
	expect_said(test, watcher, "g2");
	test_device_gone(device);
	ib_unwatch_ports(&watcher->ib);
}

/* A watcher that declines a port is not called for it any more. */
static void not_interested(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_watched");
	struct test_watcher watcher;

	prepare(&watcher);
	watcher.refuses = IB_PORT_EVENT_ADD;
	KUNIT_ASSERT_EQ(test, ib_watch_ports(&watcher.ib), 0);
	expect_said(test, &watcher, "a1a2A2");
	dispatch(device, IB_EVENT_GID_CHANGE, 1);
	dispatch(device, IB_EVENT_GID_CHANGE, 2);
	expect_said(test, &watcher, "g2");
	watcher.refuses = IB_PORT_EVENT_GID_CHANGE;
	ib_unwatch_ports(&watcher.ib);
	expect_said(test, &watcher, "-2");

	/* It may decline later. */
	KUNIT_ASSERT_EQ(test, ib_watch_ports(&watcher.ib), 0);
	expect_said(test, &watcher, "a1A1a2A2");
	dispatch(device, IB_EVENT_GID_CHANGE, 1);
	dispatch(device, IB_EVENT_GID_CHANGE, 1);
	test_device_gone(device);
	expect_said(test, &watcher, "g1-2");
	ib_unwatch_ports(&watcher.ib);
}

/* Watchers are called in the order in which they were added, and in reverse for removals. */
static void order(struct kunit *test)
{
	struct test_watcher *first = watch(test), *second = watch(test);
	struct test_device *device = test_device_registered(test, "kt_watched");

	KUNIT_EXPECT_LT(test, first->at, second->at);
	dispatch(device, IB_EVENT_GID_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, first->at + 1, second->at);
	test_device_gone(device);
	KUNIT_EXPECT_GT(test, first->at, second->at);
	ib_unwatch_ports(&first->ib);
	ib_unwatch_ports(&second->ib);
}

#ifdef CONFIG_FAILSLAB
/*
 * A watcher without memory for its views is not called. Another one has been added before, so that
 * only views are allocated: the ports are not queried, for which an HCA's driver makes any number
 * of allocations.
 */
static void watchers_starve(struct kunit *test)
{
	struct test_watcher *there = watch(test);
	struct test_device *one = test_device_registered(test, "kt_watched1");
	struct test_device *two = test_device_registered(test, "kt_watched2");
	unsigned int failures = 0;
	struct test_watcher watcher;
	int ret, spared = 0;

	for (int nth = 1; !spared && nth < 20; nth++) {
		prepare(&watcher);
		current->fail_nth = nth;
		ret = ib_watch_ports(&watcher.ib);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (ret) {
			failures++;
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			KUNIT_EXPECT_EQ(test, watcher.count + watcher.replayed, 0);
		}
		dispatch(one, IB_EVENT_GID_CHANGE, 1);
		if (!ret)
			ib_unwatch_ports(&watcher.ib);
	}
	KUNIT_EXPECT_GT(test, spared, 0);
	ib_unwatch_ports(&there->ib);
	test_device_gone(two);
	test_device_gone(one);
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_GE(test, failures, 2);
}
#endif

/**
 * struct race - events of a device while watchers are added and removed
 * @work: the events
 * @device: the device
 * @stop: no further events
 */
struct race {
	struct work_struct work;
	struct test_device *device;
	bool stop;
};

static void make_events(struct work_struct *work)
{
	struct race *race = container_of(work, struct race, work);

	while (!READ_ONCE(race->stop)) {
		dispatch(race->device, IB_EVENT_PORT_ERR, 1);
		ib_port_changed(&race->device->ib, 1);
		cond_resched();
	}
}

/* All events in between come after ADD with the state, and before REMOVE. */
static void watchers_race(struct kunit *test)
{
	struct race race = { .device = test_device_registered(test, "kt_watched") };
	struct test_watcher watcher;

	INIT_WORK_ONSTACK(&race.work, make_events);
	queue_work(system_unbound_wq, &race.work);
	for (unsigned int i = 0; i < 200; i++) {
		prepare(&watcher);
		KUNIT_ASSERT_EQ(test, ib_watch_ports(&watcher.ib), 0);
		ib_unwatch_ports(&watcher.ib);
		KUNIT_EXPECT_TRUE(test, str_has_prefix(watcher.said, "a1A1a2A2"));
		KUNIT_EXPECT_EQ(test, watcher.wrong, 0);
		if (watcher.count <= MOST)
			KUNIT_EXPECT_STREQ(test, watcher.said + 2 * watcher.count - 4, "-1-2");
	}
	WRITE_ONCE(race.stop, true);
	flush_work(&race.work);
	destroy_work_on_stack(&race.work);
	test_device_gone(race.device);
}

static struct kunit_case ports_cases[] = {
	KUNIT_CASE(ports_come_and_go),
	KUNIT_CASE(changes),
	KUNIT_CASE(old_events_are_not_told),
	KUNIT_CASE(not_interested),
	KUNIT_CASE(order),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(watchers_starve),
#endif
	KUNIT_CASE(watchers_race),
	{}
};

static struct kunit_suite ports_suite = {
	.name = "ib_core_ports",
	.test_cases = ports_cases,
};

kunit_test_suite(ports_suite);
