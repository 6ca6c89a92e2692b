// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: owners that are user contexts, and their cgroup charges.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include "../object_priv.h"

static int owner_init(struct kunit *test)
{
	struct ib_device *device = _ib_alloc_device(sizeof(struct ib_device));

	KUNIT_ASSERT_NOT_NULL(test, device);
#ifdef CONFIG_CGROUP_RDMA
	INIT_LIST_HEAD(&device->cg_device.rpools);
#endif
	test->priv = device;
	return 0;
}

static void owner_exit(struct kunit *test)
{
	if (test->priv)
		ib_dealloc_device(test->priv);
}

static unsigned int destroyed;

static int destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	destroyed++;
	return 0;
}

static void leave_memory(struct rdma_object *obj)
{
}

static const struct rdma_object_ops ops = { .destroy = destroy, .release = leave_memory };

/* A context's objects are not listed: they are found through the context. */
static void contexts(struct kunit *test)
{
	struct rdma_object *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);
	struct ib_device *device = test->priv;
	struct ib_ucontext context = {};
	struct rdma_owner *owner = rdma_owner_user(device, &context);
	struct rdma_owner *other = rdma_owner_user(device, &context);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_PTR_NE(test, owner, other);
	KUNIT_EXPECT_PTR_EQ(test, owner->context, &context);
	KUNIT_EXPECT_PTR_EQ(test, owner->device, device);
	KUNIT_EXPECT_EQ(test, refcount_read(&owner->refs), 1);
	KUNIT_EXPECT_NULL(test, rdma_owner_find(device, ""));

	destroyed = 0;
	rdma_object_init(pd, RDMA_OBJECT_PD, device, owner, &ops);
	rdma_restrack_set_name(&pd->res, NULL);
	KUNIT_EXPECT_EQ(test, refcount_read(&owner->refs), 2);
	rdma_object_publish(pd);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(device, RDMA_RESTRACK_PD, true), 1);
	KUNIT_EXPECT_EQ(test, rdma_owner_reap(owner), 0);
	KUNIT_EXPECT_EQ(test, destroyed, 0);
	KUNIT_EXPECT_EQ(test, rdma_object_destroy(pd, NULL), 0);
	KUNIT_EXPECT_EQ(test, destroyed, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&owner->refs), 1);
	rdma_owner_put(owner);
	rdma_owner_put(other);
}

#ifdef CONFIG_CGROUP_RDMA
/*
 * A device has a pool in each cgroup to which it has charged something, as long as it is charged.
 */
static void charged_and_given_back(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct list_head *pools = &device->cg_device.rpools;
	struct ib_rdmacg_object context = {}, object = {};

	KUNIT_ASSERT_EQ(test, ib_rdmacg_try_charge(&context, device, RDMACG_RESOURCE_HCA_HANDLE),
			0);
	KUNIT_EXPECT_NOT_NULL(test, context.cg);
	KUNIT_EXPECT_FALSE(test, list_empty(pools));
	KUNIT_ASSERT_EQ(test, ib_rdmacg_try_charge(&object, device, RDMACG_RESOURCE_HCA_OBJECT),
			0);
	KUNIT_EXPECT_PTR_EQ(test, object.cg, context.cg);
	ib_rdmacg_uncharge(&context, device, RDMACG_RESOURCE_HCA_HANDLE);
	KUNIT_EXPECT_FALSE(test, list_empty(pools));
	ib_rdmacg_uncharge(&object, device, RDMACG_RESOURCE_HCA_OBJECT);
	KUNIT_EXPECT_TRUE(test, list_empty(pools));
}
#endif

#ifdef CONFIG_FAILSLAB
/*
 * Makes something with each of its allocations failing in turn. The checkers of a debug kernel may
 * allocate memory as well, and work without it. Returns how often it could not be made.
 */
static unsigned int starved(struct kunit *test, bool (*made)(struct kunit *test))
{
	unsigned int failures = 0;
	bool spared = false;

	for (int nth = 1; nth < 100 && !spared; nth++) {
		bool ok;

		current->fail_nth = nth;
		ok = made(test);
		spared = current->fail_nth;
		current->fail_nth = 0;
		failures += !ok;
		KUNIT_EXPECT_TRUE(test, ok || !spared);
	}
	KUNIT_EXPECT_TRUE(test, spared);
	return failures;
}

static bool makes_owner(struct kunit *test)
{
	struct ib_ucontext context = {};
	struct rdma_owner *owner = rdma_owner_user(test->priv, &context);

	if (owner)
		rdma_owner_put(owner);
	return owner;
}

#ifdef CONFIG_CGROUP_RDMA
static bool charges(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_rdmacg_object object = {};
	int ret;

	ret = ib_rdmacg_try_charge(&object, device, RDMACG_RESOURCE_HCA_OBJECT);
	if (!ret)
		ib_rdmacg_uncharge(&object, device, RDMACG_RESOURCE_HCA_OBJECT);
	else
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_TRUE(test, list_empty(&device->cg_device.rpools));
	return !ret;
}
#endif

static void without_memory(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, starved(test, makes_owner), 0);
#ifdef CONFIG_CGROUP_RDMA
	KUNIT_EXPECT_GT(test, starved(test, charges), 0);
#endif
}
#endif

static struct kunit_case owner_cases[] = {
	KUNIT_CASE(contexts),
#ifdef CONFIG_CGROUP_RDMA
	KUNIT_CASE(charged_and_given_back),
#endif
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite owner_suite = {
	.name = "ib_core_owner",
	.init = owner_init,
	.exit = owner_exit,
	.test_cases = owner_cases,
};

kunit_test_suite(owner_suite);
