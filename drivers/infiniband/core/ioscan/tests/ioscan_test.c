// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: I/O units of other hosts, how they are found and reported, and how wrong answers are
 * handled.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../../ports/ports.h"
#include "fake_fabric.h"

#define MOST 120

/**
 * struct io_watcher - a watcher that records its events
 * @ib: as the core sees it
 * @count: events
 * @said: each as a letter, upper case if something is added, and a number: of the unit, of the
 *	slot, of the port where the path begins; a dot for the end mark
 * @refuses: index of the event that it declines, or -1
 * @wrong: number of errors in its events
 * @told: counts the events of all watchers
 * @at: value of @told at the last event
 */
struct io_watcher {
	struct ib_io_watcher ib;
	unsigned int count;
	char said[2 * MOST + 1];
	int refuses;
	unsigned int wrong;
	unsigned int *told;
	unsigned int at;
};

static unsigned int told; /* to the watchers of the running test */

static char *context_of(struct io_watcher *watcher, const struct ib_io_event *event, int level)
{
	char *context = (char *)watcher + (be64_to_cpu(event->unit->guid) >> 8);

	if (level > 0)
		context += event->controller->slot << 4;
	return level > 1 ? context + (event->path->port_num << 12) : context;
}

static void check_entries(struct io_watcher *watcher, const struct ib_io_controller *controller)
{
	for (unsigned int i = 0; i < controller->profile.num_svc_entries; i++)
		watcher->wrong += be64_to_cpu(controller->entries[i].id) != i;
}

static void check_unit(struct io_watcher *watcher, const struct ib_io_unit *unit)
{
	watcher->wrong += unit->system_image_guid != cpu_to_be64(0xabc) ||
			  unit->vendor_id != 0xc0ffee || unit->device_id != 0x1234 ||
			  unit->revision != 7 || strlen(unit->description) != 64;
}

static int hear(struct ib_io_watcher *ib, const struct ib_io_event *event)
{
	static const char letter[] = "UuCcPp.";
	struct io_watcher *watcher = container_of(ib, struct io_watcher, ib);
	int level = event->path ? 2 : event->controller ? 1 : 0;
	char digit = '.';

	if (event->type != IB_IO_EVENT_REPLAYED) {
		digit = '0' + (event->path ? event->path->port_num :
			       event->controller ? event->controller->slot :
			       be64_to_cpu(event->unit->guid) >> 8);
		watcher->wrong += event->type / 2 != level;
		if (event->type % 2 == 0) {
			watcher->wrong += !!*event->context;
			*event->context = context_of(watcher, event, level);
		}
		watcher->wrong += *event->context != context_of(watcher, event, level);
		watcher->wrong += event->parent !=
				  (level ? context_of(watcher, event, level - 1) : NULL);
		check_unit(watcher, event->unit);
		if (event->controller)
			check_entries(watcher, event->controller);
	}
	watcher->at = ++*watcher->told;
	if (watcher->count < MOST) {
		watcher->said[2 * watcher->count] = letter[event->type];
		watcher->said[2 * watcher->count + 1] = digit;
	}
	watcher->count++;
	return (int)event->type == watcher->refuses;
}

static void prepare(struct io_watcher *watcher)
{
	*watcher = (struct io_watcher){ .ib.event = hear, .refuses = -1, .told = &told };
}

static struct io_watcher *watch(struct kunit *test)
{
	struct io_watcher *watcher = kunit_kzalloc(test, sizeof(*watcher), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, watcher);
	prepare(watcher);
	KUNIT_ASSERT_EQ(test, ib_watch_io(&watcher->ib), 0);
	ios_flush();
	return watcher;
}

/* Expects these events since this was called last. */
static void expect_said(struct kunit *test, struct io_watcher *watcher, const char *said)
{
	KUNIT_EXPECT_STREQ(test, watcher->said, said);
	watcher->count = 0;
	memset(watcher->said, 0, sizeof(watcher->said));
}

/* Ends the watcher, and expects that none of its events was wrong. */
static void unwatch(struct kunit *test, struct io_watcher *watcher, const char *said)
{
	ib_unwatch_io(&watcher->ib);
	expect_said(test, watcher, said);
	KUNIT_EXPECT_EQ(test, watcher->wrong, 0);
}

static void set_state(struct fake_fabric *fabric, u32 port_num, enum ib_port_state state)
{
	fabric->device->port[port_num].attr.state = state;
	ib_port_changed(&fabric->device->ib, port_num);
	ports_flush();
	ios_flush();
}

static void dispatch(struct fake_fabric *fabric, enum ib_event_type type)
{
	struct ib_event event = { .device = &fabric->device->ib, .event = type };

	event.element.port_num = 1;
	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
	ports_flush();
	ios_flush();
}

/* Watchers are called in order, and finally with the end mark of the initial objects. */
static void units_come_and_go(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *early, *late;

	early = watch(test);
	expect_said(test, early, "..");
	fake_offer(1, 2);
	fake_connect(test);
	ios_flush();
	expect_said(test, early, "U1C1C2P1P1");
	fake_offer(2, 1);
	ib_search_io();
	expect_said(test, early, "U2C1P1");
	late = watch(test);
	expect_said(test, late, "U1C1C2P1P1U2C1P1..");
	KUNIT_EXPECT_LT(test, early->at, late->at);
	expect_said(test, early, "");

	fabric->unit[1].there = false;
	ib_search_io();
	expect_said(test, early, "p1p1c2c1u1");
	expect_said(test, late, "p1p1c2c1u1");
	KUNIT_EXPECT_GT(test, early->at, late->at);
	unwatch(test, early, "p1c1u2");
	fake_disconnect();
	unwatch(test, late, "p1c1u2");
}

/* No port searches without watchers. */
static void nobody_watches(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;

	fake_offer(1, 1);
	fake_connect(test);
	ib_search_io();
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), 0);
	watcher = watch(test);
	expect_said(test, watcher, "U1C1P1..");
	unwatch(test, watcher, "p1c1u1");
	KUNIT_EXPECT_PTR_EQ(test, fabric->port[1], NULL);
}

/* A changed object is removed and added again; an unchanged one causes no event. */
static void changes(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct fake_unit *unit = &fabric->unit[1];
	struct io_watcher *watcher;

	fake_offer(1, 2);
	fabric->matches = false;
	fake_connect(test);
	watcher = watch(test);
	expect_said(test, watcher, "U1C1C2P1P1..");
	ib_search_io();
	expect_said(test, watcher, "");
	unit->guid[2] = 0x77;
	ib_search_io();
	expect_said(test, watcher, "p1c2C2P1");
	unit->version++;
	ib_search_io();
	expect_said(test, watcher, "p1c2p1c1C1C2P1P1");
	unit->entries--;
	ib_search_io();
	expect_said(test, watcher, "p1c2p1c1C1C2P1P1");
	unit->sl = 3;
	ib_search_io();
	expect_said(test, watcher, "p1p1P1P1");
	fake_offer(1, 0);
	ib_search_io();
	expect_said(test, watcher, "p1c2p1c1");
	unit->no_path = true;
	ib_search_io();
	expect_said(test, watcher, "u1");
	unit->capable = false;
	unit->no_path = false;
	ib_search_io();
	unwatch(test, watcher, "");
}

/* A unit is known while one of this host's ports reaches it, through any of its own ports. */
static void paths(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;

	fabric->ports = 2;
	fake_offer(1, 1);
	fake_connect(test);
	watcher = watch(test);
	KUNIT_EXPECT_EQ(test, watcher->count, 5);
	expect_said(test, watcher, watcher->said[5] == '1' ? "U1C1P1P2.." : "U1C1P2P1..");
	set_state(fabric, 1, IB_PORT_INIT);
	expect_said(test, watcher, "p1");
	set_state(fabric, 1, IB_PORT_ACTIVE);
	expect_said(test, watcher, "P1");
	set_state(fabric, 1, IB_PORT_DOWN);
	set_state(fabric, 2, IB_PORT_DOWN);
	expect_said(test, watcher, "p1p2c1u1");

	/* The unit has a second port, and the agent of its first one does not answer. */
	fake_offer(2, 1);
	fabric->unit[2].as = 1;
	fabric->unit[1].silent = true;
	set_state(fabric, 2, IB_PORT_ACTIVE);
	expect_said(test, watcher, "U1C1P2P2");
	fabric->unit[2].there = false;
	ib_search_io();
	expect_said(test, watcher, "p2");
	unwatch(test, watcher, "p2c1u1");
}

/* The device's own controllers are not reported. */
static void own_unit(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;

	fake_offer(1, 1);
	fake_offer(2, 1);
	fake_connect(test);
	fabric->device->ib.node_guid = cpu_to_be64(0x100);
	watcher = watch(test);
	unwatch(test, watcher, "U2C1P1..p1c1u2");
}

/* Each of these reasons makes a port search. */
static void reasons(struct kunit *test)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_PKEY_CHANGE, IB_EVENT_GID_CHANGE,
	};
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;
	unsigned int count;

	fake_connect(test);
	watcher = watch(test);
	expect_said(test, watcher, "..");
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		count = atomic_read(&fabric->searches);
		dispatch(fabric, events[i]);
		KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), count + 1);
	}
	fabric->device->port[1].attr.sm_lid++;
	dispatch(fabric, IB_EVENT_SM_CHANGE);
	fabric->device->port[1].attr.lid = 9;
	dispatch(fabric, IB_EVENT_LID_CHANGE);
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), count + 3);

	/* The subscription has been confirmed. */
	fabric->port[1]->notice(fabric->port[1], NULL);
	ios_flush();
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), count + 4);
	fake_notice(64, 0, false, 0);
	ios_flush();
	fake_notice(65, 0, false, 0);
	ios_flush();
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), count + 6);
	fake_notice(66, 0, false, 0);
	fake_notice(144, 0x11, true, 1);
	ios_flush();
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->searches), count + 6);
	unwatch(test, watcher, "");
}

/* A notice takes precedence over the subnet manager's records until it is out of date. */
static void notices(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct fake_unit *unit = &fabric->unit[1];
	struct io_watcher *watcher;

	fake_offer(1, 1);
	unit->hidden = true;
	fake_connect(test);
	watcher = watch(test);
	expect_said(test, watcher, "..");
	fake_notice(144, 0x11, true, 0);
	ios_flush();
	expect_said(test, watcher, "U1C1P1");
	unit->hidden = false;
	ib_search_io();
	expect_said(test, watcher, "");
	fake_notice(144, 0x11, false, 0);
	ios_flush();
	expect_said(test, watcher, "p1c1u1");
	fake_notice(64, 0, false, 0);
	ios_flush();
	expect_said(test, watcher, "U1C1P1");
	fake_notice(144, 0x11, false, 0);
	ios_flush();
	expect_said(test, watcher, "p1c1u1");
	dispatch(fabric, IB_EVENT_CLIENT_REREGISTER);
	expect_said(test, watcher, "U1C1P1");
	unwatch(test, watcher, "p1c1u1");
}

/* A watcher that declines an object is not called for the objects below it. */
static void not_interested(struct kunit *test)
{
	struct io_watcher watcher, *other;

	fake_offer(1, 1);
	fake_connect(test);
	other = watch(test);
	for (int level = 0; level < 3; level++) {
		prepare(&watcher);
		watcher.refuses = 2 * level;
		KUNIT_ASSERT_EQ(test, ib_watch_io(&watcher.ib), 0);
		expect_said(test, &watcher, level == 0 ? "U1.." : level == 1 ? "U1C1.." :
					    "U1C1P1..");
		unwatch(test, &watcher, level == 0 ? "" : level == 1 ? "u1" : "c1u1");
	}
	unwatch(test, other, "U1C1P1..p1c1u1");
}

/* Slots have no controller, no GUID, another slot's GUID, or fewer services than announced. */
static void liars(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct fake_unit *unit = &fabric->unit[1];
	struct io_watcher *watcher;

	fake_connect(test);
	fake_offer(1, 6);
	unit->guid[2] = 0;
	unit->guid[3] = U64_MAX;
	unit->guid[5] = unit->guid[4];
	watcher = watch(test);
	expect_said(test, watcher, "U1C1C4C6P1P1P1..");
	unit->answered = unit->entries - 1;
	ib_search_io();
	expect_said(test, watcher, "p1c6p1c4p1c1");

	/* The unit announces a controller in all slots, and all but one are empty. */
	fake_offer(1, FAKE_SLOTS);
	memset(unit->info.controller_list, 0x11, sizeof(unit->info.controller_list));
	memset(&unit->guid[2], 0, sizeof(unit->guid) - 2 * sizeof(unit->guid[0]));
	ib_search_io();
	expect_said(test, watcher, "C1P1");

	/* The unit announces fewer slots, so the others are not read. */
	fake_offer(1, 2);
	unit->info.max_controllers = 1;
	ib_search_io();
	expect_said(test, watcher, "");
	unwatch(test, watcher, "p1c1u1");
}

/* A unit that cannot be read keeps its known controllers. */
static void unreadable(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct fake_unit *unit = &fabric->unit[1];
	struct io_watcher *watcher;
	unsigned int gets;

	fake_connect(test);
	fake_offer(1, 1);
	unit->restless = true;
	watcher = watch(test);
	expect_said(test, watcher, "..");
	KUNIT_EXPECT_GT(test, fabric->port[1]->retry, 1);
	unit->restless = false;
	ib_search_io();
	expect_said(test, watcher, "U1C1P1");
	KUNIT_EXPECT_EQ(test, fabric->port[1]->retry, 1);
	fake_offer(1, 2);
	unit->restless = true;
	ib_search_io();
	unit->restless = false;
	unit->silent = true;
	gets = atomic_read(&fabric->gets);
	ib_search_io();
	KUNIT_EXPECT_EQ(test, atomic_read(&fabric->gets), gets + 1);
	KUNIT_EXPECT_GT(test, fabric->port[1]->retry, 1);
	expect_said(test, watcher, "");
	unit->silent = false;
	unit->busy = true;
	ib_search_io();
	KUNIT_EXPECT_GT(test, fabric->port[1]->retry, 1);
	expect_said(test, watcher, "");
	unit->busy = false;
	ib_search_io();
	KUNIT_EXPECT_EQ(test, fabric->port[1]->retry, 1);
	expect_said(test, watcher, "C2P1");
	unwatch(test, watcher, "p1c2p1c1u1");
}

/* Units stay known while the subnet manager fails to answer. */
static void manager_fails(struct kunit *test)
{
	static const int errors[] = { -EAGAIN, -ETIMEDOUT, -EINVAL, -EIO };
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;

	fake_connect(test);
	fake_offer(1, 1);
	fabric->error = -ETIMEDOUT;
	watcher = watch(test);
	expect_said(test, watcher, "..");
	fabric->error = 0;
	ib_search_io();
	expect_said(test, watcher, "U1C1P1");
	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		fabric->error = errors[i];
		ib_search_io();
		KUNIT_EXPECT_EQ(test, fabric->port[1]->retry > 1, errors[i] != -EAGAIN);
		fabric->error = 0;
		ib_search_io();
		KUNIT_EXPECT_EQ(test, fabric->port[1]->retry, 1);
	}
	fabric->size = 24;
	ib_search_io();
	expect_said(test, watcher, "");
	KUNIT_EXPECT_GT(test, fabric->port[1]->retry, 1);
	unwatch(test, watcher, "p1c1u1");
}

/* The device is unregistered while a request to a unit is pending. */
static void device_goes(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;

	fake_offer(1, 1);
	fake_connect(test);
	watcher = watch(test);
	expect_said(test, watcher, "U1C1P1..");
	fake_offer(2, 1);
	fabric->unit[2].blocked = true;
	fake_notice(64, 0, false, 0);
	wait_for_completion(&fabric->asked);
	fake_disconnect();
	expect_said(test, watcher, "p1c1u1");
	unwatch(test, watcher, "");
}

#ifdef CONFIG_FAILSLAB
/* A watcher without memory for its views is not called. */
static void watchers_starve(struct kunit *test)
{
	struct io_watcher *there, watcher;
	int ret, spared = 0, failures = 0;

	fake_offer(1, 2);
	fake_connect(test);
	there = watch(test);
	for (int nth = 1; !spared && nth < 20; nth++) {
		prepare(&watcher);
		current->fail_nth = nth;
		ret = ib_watch_io(&watcher.ib);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (ret) {
			failures++;
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			KUNIT_EXPECT_EQ(test, watcher.count, 0);
		} else {
			expect_said(test, &watcher, "U1C1C2P1P1..");
			ib_unwatch_io(&watcher.ib);
		}
	}
	KUNIT_EXPECT_GT(test, spared, 0);
	unwatch(test, there, "U1C1C2P1P1..p1p1c2c1u1");
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_GE(test, failures, 5);
}

/* The next search reports what was left out for lack of memory, and nothing twice or too early. */
static void searches_starve(struct kunit *test)
{
	struct fake_fabric *fabric = test->priv;
	struct io_watcher *watcher;
	int ret, spared = 0, failures = 0;
	LIST_HEAD(found);

	fake_connect(test);
	watcher = watch(test);
	expect_said(test, watcher, "..");
	for (int nth = 1; !spared && nth < 100; nth++) {
		fake_offer(1, 2);
		current->fail_nth = nth;
		ret = ios_search(fabric->port[1], &found);
		scoped_guard(mutex, &ios_lock)
			if (ret >= 0)
				ret = ios_know(fabric->port[1], &found);
		spared = current->fail_nth;
		current->fail_nth = 0;
		ios_units_free(&found);
		failures += !!ret;
		if (ret)
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		ib_search_io();
		KUNIT_EXPECT_EQ(test, watcher->count, 5);
		fabric->unit[1].there = false;
		ib_search_io();
		KUNIT_EXPECT_EQ(test, watcher->count, 10);
		watcher->count = 0;
	}
	memset(watcher->said, 0, sizeof(watcher->said));
	KUNIT_EXPECT_GT(test, spared, 0);
	unwatch(test, watcher, "");
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_GE(test, failures, 15);
}
#endif

/**
 * struct race - a unit that appears and disappears while watchers are added and removed
 * @work: the searches
 * @fabric: the fabric
 * @stop: no further searches
 */
struct race {
	struct work_struct work;
	struct fake_fabric *fabric;
	bool stop;
};

static void come_and_go(struct work_struct *work)
{
	struct race *race = container_of(work, struct race, work);

	while (!READ_ONCE(race->stop)) {
		WRITE_ONCE(race->fabric->unit[1].capable, !race->fabric->unit[1].capable);
		ib_search_io();
		cond_resched();
	}
}

/* Whatever is added for a watcher is removed for it. */
static void watchers_race(struct kunit *test)
{
	struct race race = { .fabric = test->priv };
	struct io_watcher watcher;
	int open;

	fake_connect(test);
	fake_offer(1, 1);
	INIT_WORK_ONSTACK(&race.work, come_and_go);
	queue_work(system_unbound_wq, &race.work);
	for (unsigned int i = 0; i < 100; i++) {
		prepare(&watcher);
		KUNIT_ASSERT_EQ(test, ib_watch_io(&watcher.ib), 0);
		ib_unwatch_io(&watcher.ib);
		KUNIT_EXPECT_EQ(test, watcher.wrong, 0);
		open = 0;
		for (const char *at = watcher.said; *at; at += 2)
			open += *at == '.' ? 0 : *at < 'a' ? 1 : -1;
		if (watcher.count <= MOST)
			KUNIT_EXPECT_EQ(test, open, 0);
	}
	WRITE_ONCE(race.stop, true);
	flush_work(&race.work);
	destroy_work_on_stack(&race.work);
}

static int ioscan_init_test(struct kunit *test)
{
	test->priv = fake_fabric_begin(test);
	return 0;
}

/* The upper half of a TID is the agent's, whatever value the lower half has. */
static void tids_come_round(struct kunit *test)
{
	static const u32 last[] = { INT_MAX - 1, U32_MAX - 1 };
	const struct ib_mad_agent agent = { .hi_tid = 0x1234 };

	for (int round = 0; round < ARRAY_SIZE(last); round++) {
		atomic_set(&ios_last_tid, last[round]);
		for (u32 i = 1; i < 5; i++)
			KUNIT_EXPECT_EQ(test, ios_new_tid(&agent),
					0x1234ULL << 32 | (u32)(last[round] + i));
	}
}

static struct kunit_case ioscan_cases[] = {
	KUNIT_CASE(units_come_and_go),
	KUNIT_CASE(nobody_watches),
	KUNIT_CASE(changes),
	KUNIT_CASE(paths),
	KUNIT_CASE(own_unit),
	KUNIT_CASE(reasons),
	KUNIT_CASE(notices),
	KUNIT_CASE(not_interested),
	KUNIT_CASE(liars),
	KUNIT_CASE(unreadable),
	KUNIT_CASE(manager_fails),
	KUNIT_CASE(device_goes),
	KUNIT_CASE(tids_come_round),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(watchers_starve),
	KUNIT_CASE(searches_starve),
#endif
	KUNIT_CASE(watchers_race),
	{}
};

static struct kunit_suite ioscan_suite = {
	.name = "ib_core_ioscan",
	.init = ioscan_init_test,
	.exit = fake_fabric_end,
	.test_cases = ioscan_cases,
};

kunit_test_suite(ioscan_suite);
