// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: registry, registration, clients.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kmsg_dump.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/kunit.h>
#include <rdma/rdma_ext_port.h>

#include "../../register/register.h"
#include "../device.h"
#include "test_device.h"

static bool findable(const char *name)
{
	struct ib_device *device = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);

	if (device)
		ib_device_put(device);
	return device;
}

static int try_register(const char *name)
{
	struct test_device *device = test_device_alloc();
	int ret;

	if (!device)
		return -ENOMEM;
	ret = ib_register_device(&device->ib, name, NULL);
	if (!ret)
		ib_unregister_device(&device->ib);
	ib_dealloc_device(&device->ib);
	return ret;
}

/* ---- names ---------------------------------------------------------------------------------- */

static void pattern_takes_the_first_free_number(struct kunit *test)
{
	struct test_device *zero = test_device_registered(test, "kt%d");
	struct test_device *one = test_device_registered(test, "kt%d");
	struct test_device *again;

	KUNIT_EXPECT_STREQ(test, zero->ib.name, "kt0");
	KUNIT_EXPECT_STREQ(test, one->ib.name, "kt1");
	test_device_gone(zero);
	again = test_device_registered(test, "kt%d");
	KUNIT_EXPECT_STREQ(test, again->ib.name, "kt0");
	KUNIT_EXPECT_STREQ(test, dev_name(&again->ib.dev), "kt0");
	test_device_gone(again);
	test_device_gone(one);
}

static void name_is_given_once(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_single");

	KUNIT_EXPECT_EQ(test, try_register("kt_single"), -ENFILE);
	test_device_gone(device);
	KUNIT_EXPECT_EQ(test, try_register("kt_single"), 0);
}

static void unusable_names_are_refused(struct kunit *test)
{
	char name[IB_DEVICE_NAME_MAX + 2];

	KUNIT_EXPECT_EQ(test, try_register(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("kt/a"), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("kt/%d"), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("."), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(".."), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("kt%d%d"), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("kt%s"), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register("%x%d"), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[IB_DEVICE_NAME_MAX] = '\0';
	KUNIT_EXPECT_EQ(test, try_register(name), -ENAMETOOLONG);
	name[IB_DEVICE_NAME_MAX - 1] = '\0';
	KUNIT_EXPECT_EQ(test, try_register(name), 0);
	/* The number may have one digit, or two if the name is one byte shorter. */
	memcpy(name + IB_DEVICE_NAME_MAX - 2, "%d", 3);
	KUNIT_EXPECT_EQ(test, try_register(name), 0);
	name[IB_DEVICE_NAME_MAX - 3] = '%';
	KUNIT_EXPECT_EQ(test, try_register(name), -EINVAL);
	name[IB_DEVICE_NAME_MAX - 3] = 'n';
	memcpy(name + IB_DEVICE_NAME_MAX - 1, "%d", 3);
	name[IB_DEVICE_NAME_MAX - 2] = 'n';
	KUNIT_EXPECT_EQ(test, try_register(name), -ENAMETOOLONG);
}

static void rename_is_seen_everywhere(struct kunit *test)
{
	struct test_device *other = test_device_registered(test, "kt_other");
	struct test_device *device = test_device_registered(test, "kt_old");
	char name[IB_DEVICE_NAME_MAX];

	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "kt_other", NULL), -EEXIST);
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "a/b", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "..", NULL), -EINVAL);
	KUNIT_EXPECT_TRUE(test, findable("kt_old"));
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "kt_old", NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "kt_new", NULL), 0);
	KUNIT_EXPECT_FALSE(test, findable("kt_old"));
	KUNIT_EXPECT_TRUE(test, findable("kt_new"));
	KUNIT_EXPECT_STREQ(test, dev_name(&device->ib.dev), "kt_new");
	ib_registry_name(&device->ib, name);
	KUNIT_EXPECT_STREQ(test, name, "kt_new");
	KUNIT_EXPECT_EQ(test, try_register("kt_old"), 0);
	test_device_gone(device);
	test_device_gone(other);
}

/* ---- lookups and references ----------------------------------------------------------------- */

static void only_registered_devices_are_found(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_found");
	struct ib_device *found;
	u32 index = device->ib.index;

	KUNIT_EXPECT_TRUE(test, findable("kt_found"));
	found = ib_device_get_by_index(&init_net, index);
	KUNIT_EXPECT_PTR_EQ(test, found, &device->ib);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_name("kt_found", RDMA_DRIVER_MLX5));

	ib_unregister_device(&device->ib);
	KUNIT_EXPECT_FALSE(test, findable("kt_found"));
	KUNIT_EXPECT_NULL(test, ib_device_get_by_index(&init_net, index));
	KUNIT_EXPECT_FALSE(test, ib_device_try_get(&device->ib));
	ib_dealloc_device(&device->ib);
}

/* Indices in use are skipped, and every device is found by its own. */
static void indices_come_round(struct kunit *test)
{
	struct test_device *device[3];
	struct ib_device *found;

	ib_registry_next_index = 0;
	device[0] = test_device_registered(test, "kt_first");
	ib_registry_next_index = INT_MAX;
	device[1] = test_device_registered(test, "kt_last");
	device[2] = test_device_registered(test, "kt_next");
	KUNIT_EXPECT_EQ(test, device[1]->ib.index, INT_MAX);
	KUNIT_EXPECT_LT(test, device[2]->ib.index, INT_MAX);
	for (int i = 0; i < ARRAY_SIZE(device); i++) {
		found = ib_device_get_by_index(&init_net, device[i]->ib.index);
		KUNIT_EXPECT_PTR_EQ(test, found, &device[i]->ib);
		if (found)
			ib_device_put(found);
	}
	for (int i = 0; i < ARRAY_SIZE(device); i++)
		test_device_gone(device[i]);
}

static void net_device_leads_to_its_device(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_netdev");
	struct net_device *netdev = init_net.loopback_dev;
	int references = netdev_refcnt_read(netdev);
	struct ib_device *found;

	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN));
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, TEST_PORTS + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 2), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 2), 0);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(netdev, RDMA_DRIVER_MLX5));
	found = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, &device->ib);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(&device->ib, 1));
	KUNIT_EXPECT_PTR_EQ(test, ib_device_get_netdev(&device->ib, 2), netdev);
	dev_put(netdev);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, NULL, 2), 0);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN));

	/* The remaining reference is dropped when the device is freed. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	test_device_gone(device);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN));
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(netdev), references);
}

struct unregistration {
	struct ib_device *device;
	struct completion done;
};

static int unregister_thread(void *context)
{
	struct unregistration *unregistration = context;

	ib_unregister_device(unregistration->device);
	complete(&unregistration->done);
	return 0;
}

static void unregistration_waits_for_references(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_waits");
	struct unregistration unregistration = { .device = &device->ib };

	init_completion(&unregistration.done);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&device->ib));
	kthread_run(unregister_thread, &unregistration, "kt_unregister");
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&unregistration.done, HZ / 10), 0);
	ib_device_put(&device->ib);
	wait_for_completion(&unregistration.done);
	ib_dealloc_device(&device->ib);
}

/* ---- operations ----------------------------------------------------------------------------- */

static int other_query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	return 0;
}

static const struct ib_device_ops more_ops = {
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = 7,
	.query_pkey = other_query_pkey,
	.size_ib_pd = 17,
};

static void first_operation_stays(struct kunit *test)
{
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(&device->ib, &more_ops);
	KUNIT_EXPECT_TRUE(test, device->ib.ops.query_pkey != other_query_pkey);
	KUNIT_EXPECT_EQ(test, device->ib.ops.size_ib_pd, 17);
	KUNIT_EXPECT_EQ(test, device->ib.ops.driver_id, RDMA_DRIVER_RXE);
	KUNIT_EXPECT_EQ(test, device->ib.ops.uverbs_abi_ver, 7);
	ib_dealloc_device(&device->ib);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void registration_fails_at(struct kunit *test, enum test_op op, unsigned int spares)
{
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->fails = op;
	device->spares = spares;
	KUNIT_EXPECT_LT_MSG(test, ib_register_device(&device->ib, "kt_fails", NULL), 0,
			    "operation %u", op);
	KUNIT_EXPECT_GT_MSG(test, device->calls[op], spares, "operation %u", op);
	KUNIT_EXPECT_FALSE(test, findable("kt_fails"));
	KUNIT_EXPECT_EQ(test, refcount_read(&device->ib.refcount), 0);
	ib_dealloc_device(&device->ib);
}

static void failed_operation_undoes_registration(struct kunit *test)
{
	for (enum test_op op = TEST_OP_NONE + 1; op < TEST_OPS; op++)
		registration_fails_at(test, op, 0);
	/* The first port has been set up, the second has not. */
	registration_fails_at(test, TEST_OP_IMMUTABLE, 1);
	registration_fails_at(test, TEST_OP_PORT_STATS, 1);
	KUNIT_EXPECT_EQ(test, try_register("kt_fails"), 0);
}

#ifdef CONFIG_FAILSLAB
/* Number of records with this text since the last call. */
static unsigned int logged_since(struct kmsg_dump_iter *log, const char *text)
{
	static char line[256];
	unsigned int found = 0;
	size_t len;

	while (kmsg_dump_get_line(log, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		found += !!strstr(line, text);
	}
	return found;
}

static int hear_nothing(struct ib_port_watcher *watcher, const struct ib_port_event *event)
{
	return 0;
}

/*
 * Each allocation of a registration fails in turn, until a registration needs fewer. The core logs
 * nothing, since the allocator does. A second port would only repeat the allocations of the first;
 * failed_operation_undoes_registration() has two.
 */
static void failed_allocation_undoes_registration(struct kunit *test)
{
	struct ib_port_watcher watcher = { .event = hear_nothing };
	unsigned int nth, failures = 0;
	struct kmsg_dump_iter log;

	KUNIT_ASSERT_EQ(test, ib_watch_ports(&watcher), 0);
	kmsg_dump_rewind(&log);
	logged_since(&log, "");
	for (nth = 1; nth < 2000; nth++) {
		struct test_device *device;
		int ret = -ENOMEM;

		current->fail_nth = nth;
		device = test_device_alloc();
		if (device) {
			device->ib.phys_port_cnt = 1;
			ret = ib_register_device(&device->ib, "kt_starves", NULL);
		}
		if (device && !ret)
			ib_unregister_device(&device->ib);
		if (current->fail_nth) {
			current->fail_nth = 0;
			KUNIT_EXPECT_EQ(test, ret, 0);
			ib_dealloc_device(&device->ib);
			break;
		}
		failures += ret != 0;
		KUNIT_EXPECT_FALSE(test, findable("kt_starves"));
		if (device)
			ib_dealloc_device(&device->ib);
		KUNIT_EXPECT_EQ_MSG(test, logged_since(&log, "kt_starves: "), 0,
				    "allocation %u", nth);
	}
	ib_unwatch_ports(&watcher);
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_LT(test, nth, 2000);
	kunit_info(test, "%u allocations, %u of them fatal\n", nth - 1, failures);
}
#endif

/* ---- clients -------------------------------------------------------------------------------- */

/**
 * struct test_client - client that counts its calls
 * @ib: as the core sees it
 * @prefix: it counts only devices whose names begin with this
 * @adds: calls of add() for them
 * @removes: calls of remove() for them
 * @renames: calls of rename() for them
 * @add_ret: what add() returns
 * @slow: add() and remove() yield to other tasks
 * @turn: counts add() and remove() of all clients of a test
 * @added_at: turn of the last add()
 * @removed_at: turn of the last remove()
 */
struct test_client {
	struct ib_client ib;
	const char *prefix;
	atomic_t adds;
	atomic_t removes;
	atomic_t renames;
	int add_ret;
	bool slow;
	atomic_t *turn;
	int added_at;
	int removed_at;
};

/* add() does not know for which client it is called, so each client has a function of its own. */
static struct test_client clients[3];

static int client_add(struct test_client *client, struct ib_device *device)
{
	if (!str_has_prefix(device->name, client->prefix))
		return -EOPNOTSUPP;
	atomic_inc(&client->adds);
	client->added_at = atomic_inc_return(client->turn);
	if (client->slow)
		schedule_timeout_uninterruptible(1);
	if (client->add_ret)
		return client->add_ret;
	ib_set_client_data(device, &client->ib, client);
	return 0;
}

static int client_add_0(struct ib_device *device)
{
	return client_add(&clients[0], device);
}

static int client_add_1(struct ib_device *device)
{
	return client_add(&clients[1], device);
}

static int client_add_2(struct ib_device *device)
{
	return client_add(&clients[2], device);
}

static int (*const client_adds[])(struct ib_device *device) = {
	client_add_0, client_add_1, client_add_2
};

static void client_remove(struct ib_device *device, void *data)
{
	struct test_client *client = data;

	client->removed_at = atomic_inc_return(client->turn);
	if (client->slow)
		schedule_timeout_uninterruptible(1);
	atomic_inc(&client->removes);
}

static void client_rename(struct ib_device *device, void *data)
{
	atomic_inc(&((struct test_client *)data)->renames);
}

static void prepare_clients(const char *prefix, atomic_t *turn)
{
	memset(clients, 0, sizeof(clients));
	for (unsigned int i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i].ib.name = "kt_client";
		clients[i].ib.add = client_adds[i];
		clients[i].ib.remove = client_remove;
		clients[i].ib.rename = client_rename;
		/* The test device does not have all operations of kernel consumers. */
		clients[i].ib.no_kverbs_req = 1;
		clients[i].prefix = prefix;
		clients[i].turn = turn;
	}
}

static void clients_come_in_order_and_go_in_reverse(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	atomic_t turn = ATOMIC_INIT(0);

	KUNIT_ASSERT_NOT_NULL(test, device);
	prepare_clients("kt_clients", &turn);
	/* Two are registered before the device, one after it. */
	KUNIT_ASSERT_EQ(test, ib_register_client(&clients[0].ib), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&clients[1].ib), 0);
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_clients", NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&clients[2].ib), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(clients); i++)
		KUNIT_EXPECT_EQ(test, clients[i].added_at, i + 1);
	KUNIT_EXPECT_PTR_EQ(test, ib_get_client_data(&device->ib, &clients[1].ib),
			    (void *)&clients[1]);

	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "kt_clients2", NULL), 0);
	/* The middle one is unregistered first, the others are detached with the device. */
	ib_unregister_client(&clients[1].ib);
	KUNIT_EXPECT_EQ(test, clients[1].removed_at, 4);
	ib_unregister_device(&device->ib);
	KUNIT_EXPECT_EQ(test, clients[2].removed_at, 5);
	KUNIT_EXPECT_EQ(test, clients[0].removed_at, 6);
	ib_unregister_client(&clients[0].ib);
	ib_unregister_client(&clients[2].ib);
	for (unsigned int i = 0; i < ARRAY_SIZE(clients); i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&clients[i].adds), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&clients[i].removes), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&clients[i].renames), 1);
	}
	ib_dealloc_device(&device->ib);
}

static void client_that_fails_is_left_alone(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_unloved");
	atomic_t turn = ATOMIC_INIT(0);

	prepare_clients("kt_unloved", &turn);
	clients[0].add_ret = -ENODEV;
	KUNIT_EXPECT_EQ(test, ib_register_client(&clients[0].ib), 0);
	KUNIT_EXPECT_EQ(test, ib_device_rename(&device->ib, "kt_unloved2", NULL), 0);
	test_device_gone(device);
	ib_unregister_client(&clients[0].ib);
	KUNIT_EXPECT_EQ(test, atomic_read(&clients[0].adds), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&clients[0].removes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&clients[0].renames), 0);
}

static void kernel_consumers_get_whole_devices_only(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_partial");
	atomic_t turn = ATOMIC_INIT(0);

	prepare_clients("kt_partial", &turn);
	clients[0].ib.no_kverbs_req = 0;
	KUNIT_EXPECT_FALSE(test, device->ib.kverbs_provider);
	KUNIT_EXPECT_EQ(test, ib_register_client(&clients[0].ib), 0);
	ib_unregister_client(&clients[0].ib);
	KUNIT_EXPECT_EQ(test, atomic_read(&clients[0].adds), 0);
	test_device_gone(device);
}

/* The race lasts until there were this many turns and as many attachments of the racing client. */
#define RACE_TURNS 50
#define RACE_MEETINGS 10
#define RACE_TURNS_MAX 5000

/**
 * struct racer - a thread that runs until it is stopped
 * @stop: it is to stop
 * @done: completed when it has stopped
 */
struct racer {
	bool stop;
	struct completion done;
};

static void let_others_in(void)
{
	schedule_timeout_uninterruptible(1);
}

static int client_race_thread(void *context)
{
	struct racer *racer = context;

	while (!READ_ONCE(racer->stop)) {
		if (ib_register_client(&clients[0].ib))
			continue;
		let_others_in();
		ib_unregister_client(&clients[0].ib);
	}
	complete(&racer->done);
	return 0;
}

static int rename_race_thread(void *context)
{
	struct racer *racer = context;

	while (!READ_ONCE(racer->stop)) {
		struct ib_device *device = ib_device_get_by_name("kt_race", RDMA_DRIVER_UNKNOWN);

		if (device) {
			ib_device_rename(device, "kt_race2", NULL);
			ib_device_rename(device, "kt_race", NULL);
			ib_device_put(device);
		}
		let_others_in();
	}
	complete(&racer->done);
	return 0;
}

static void start(struct racer *racer, int (*thread)(void *context), const char *name)
{
	racer->stop = false;
	init_completion(&racer->done);
	kthread_run(thread, racer, "%s", name);
}

static void stop(struct racer *racer)
{
	WRITE_ONCE(racer->stop, true);
	wait_for_completion(&racer->done);
}

/* Whatever is registered and unregistered at the same time, each add() has exactly one remove(). */
static void devices_and_clients_may_race(struct kunit *test)
{
	struct racer client_racer, rename_racer;
	atomic_t turn = ATOMIC_INIT(0);
	int turns = 0;

	prepare_clients("kt_race", &turn);
	clients[0].slow = true;
	clients[1].slow = true;
	KUNIT_ASSERT_EQ(test, ib_register_client(&clients[1].ib), 0);
	start(&client_racer, client_race_thread, "kt_clients");
	start(&rename_racer, rename_race_thread, "kt_renames");
	while (turns < RACE_TURNS ||
	       (atomic_read(&clients[0].adds) < RACE_MEETINGS && turns < RACE_TURNS_MAX)) {
		struct test_device *device = test_device_registered(test, "kt_race");

		turns++;
		let_others_in();
		test_device_gone(device);
		KUNIT_EXPECT_EQ(test, atomic_read(&clients[1].adds), turns);
		KUNIT_EXPECT_EQ(test, atomic_read(&clients[1].removes), turns);
	}
	stop(&client_racer);
	stop(&rename_racer);
	KUNIT_EXPECT_GE(test, atomic_read(&clients[0].adds), RACE_MEETINGS);
	KUNIT_EXPECT_EQ(test, atomic_read(&clients[0].adds), atomic_read(&clients[0].removes));
	ib_unregister_client(&clients[1].ib);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(pattern_takes_the_first_free_number),
	KUNIT_CASE(name_is_given_once),
	KUNIT_CASE(unusable_names_are_refused),
	KUNIT_CASE(rename_is_seen_everywhere),
	KUNIT_CASE(only_registered_devices_are_found),
	KUNIT_CASE(indices_come_round),
	KUNIT_CASE(net_device_leads_to_its_device),
	KUNIT_CASE(unregistration_waits_for_references),
	KUNIT_CASE(first_operation_stays),
	KUNIT_CASE(failed_operation_undoes_registration),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE_SLOW(failed_allocation_undoes_registration),
#endif
	KUNIT_CASE(clients_come_in_order_and_go_in_reverse),
	KUNIT_CASE(client_that_fails_is_left_alone),
	KUNIT_CASE(kernel_consumers_get_whole_devices_only),
	KUNIT_CASE_SLOW(devices_and_clients_may_race),
	{}
};

static struct kunit_suite device_suite = {
	.name = "ib_core_device",
	.suite_init = rdma_kunit_again,
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);

MODULE_DESCRIPTION("KUnit tests of ib_core's devices, events and caches");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
