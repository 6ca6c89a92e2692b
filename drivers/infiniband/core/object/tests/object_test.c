// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the object base on a device without a driver.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "../object_priv.h"

#define ALIVE	0x600d
#define GONE	0xdead
#define MOST_PORTS	8192	/* of a device */

/**
 * struct thing - an object whose driver is this file
 * @obj: base
 * @magic: ALIVE until the driver has destroyed it
 * @refuse: error with which the driver refuses destruction, or 0
 * @bed: data of its test
 * @child: linked from within the destruction, to see it refused
 * @child_ret: result of linking @child
 * @rival: object that is published from within the destruction
 */
struct thing {
	struct rdma_object obj;
	int magic;
	int refuse;
	struct bed *bed;
	struct rdma_object *child;
	int child_ret;
	struct rdma_object *rival;
};

/**
 * struct bed - common objects of the cases
 * @device: unregistered device
 * @owner: owner of the case's objects
 * @order: things in the order in which they were destroyed
 * @destroyed: their number
 * @released: number of things whose memory the base has released
 */
struct bed {
	struct ib_device *device;
	struct rdma_owner *owner;
	struct thing *order[16];
	unsigned int destroyed;
	unsigned int released;
};

static int thing_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct thing *thing = container_of(obj, struct thing, obj);
	struct bed *bed = thing->bed;

	if (thing->child)
		thing->child_ret = rdma_object_link(thing->child, obj);
	if (thing->rival)
		rdma_object_publish(thing->rival);
	if (thing->refuse)
		return thing->refuse;
	thing->magic = GONE;
	if (bed->destroyed < ARRAY_SIZE(bed->order))
		bed->order[bed->destroyed] = thing;
	bed->destroyed++;
	return 0;
}

static void thing_release(struct rdma_object *obj)
{
	container_of(obj, struct thing, obj)->bed->released++;
}

static const struct rdma_object_ops core_allocated = {
	.destroy = thing_destroy,
	.release = thing_release,
};

/* The base must not access a driver-allocated object after this. */
static int thing_destroy_and_free(struct rdma_object *obj, struct ib_udata *udata)
{
	int ret = thing_destroy(obj, udata);

	if (!ret)
		memset(obj, 0x5a, sizeof(*obj));
	return ret;
}

static const struct rdma_object_ops driver_allocated = {
	.destroy = thing_destroy_and_free,
};

/* Makes a thing that is not published. Its memory stays until the case ends. */
static struct thing *new_thing(struct kunit *test, enum rdma_object_type type,
			       const struct rdma_object_ops *ops)
{
	struct bed *bed = test->priv;
	struct thing *thing = kunit_kzalloc(test, sizeof(*thing), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thing);
	thing->bed = bed;
	thing->magic = ALIVE;
	rdma_object_init(&thing->obj, type, bed->device, bed->owner, ops);
	rdma_restrack_set_name(&thing->obj.res, KBUILD_MODNAME);
	return thing;
}

static struct thing *add_thing(struct kunit *test, enum rdma_object_type type,
			       struct thing *parent, struct thing *other)
{
	struct thing *thing = new_thing(test, type, &core_allocated);

	KUNIT_ASSERT_EQ(test, 0, rdma_object_link(&thing->obj, parent ? &parent->obj : NULL));
	KUNIT_ASSERT_EQ(test, 0, rdma_object_link(&thing->obj, other ? &other->obj : NULL));
	rdma_object_publish(&thing->obj);
	return thing;
}

static bool found(struct thing *thing)
{
	struct rdma_restrack_entry *res;

	res = rdma_restrack_get_byid(thing->bed->device, thing->obj.res.type, thing->obj.res.id);
	if (IS_ERR(res))
		return false;
	rdma_restrack_put(res);
	return res == &thing->obj.res;
}

static int bed_init(struct kunit *test)
{
	struct bed *bed = kunit_kzalloc(test, sizeof(*bed), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bed);
	test->priv = bed;
	bed->device = _ib_alloc_device(sizeof(struct ib_device));
	KUNIT_ASSERT_NOT_NULL(test, bed->device);
	bed->owner = rdma_owner_kernel(bed->device, "object-test");
	KUNIT_ASSERT_NOT_NULL(test, bed->owner);
	return 0;
}

static void bed_exit(struct kunit *test)
{
	struct bed *bed = test->priv;

	if (!bed || !bed->device)
		return;
	/* Destroys whatever a failed case has left; a passed case leaves nothing. */
	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
	rdma_owner_put(bed->owner);
	KUNIT_EXPECT_PTR_EQ(test, NULL, rdma_owner_find(bed->device, "object-test"));
	ib_dealloc_device(bed->device);
}

static void parent_is_busy(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, pd, NULL);

	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&pd->obj, NULL));
	KUNIT_EXPECT_EQ(test, ALIVE, pd->magic);
	KUNIT_EXPECT_TRUE(test, found(pd));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&mr->obj, NULL));
	KUNIT_EXPECT_FALSE(test, found(mr));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
	KUNIT_EXPECT_EQ(test, 2, bed->destroyed);
	KUNIT_EXPECT_EQ(test, 2, bed->released);
}

static void same_parent_twice(struct kunit *test)
{
	struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct thing *qp = add_thing(test, RDMA_OBJECT_MR, cq, cq);

	KUNIT_EXPECT_EQ(test, 2, atomic_read(&cq->obj.usecnt));
	rdma_object_unlink(&qp->obj, &cq->obj);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&cq->obj.usecnt));
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&cq->obj, NULL));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&qp->obj, NULL));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&cq->obj.usecnt));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&cq->obj, NULL));
}

static void held_is_busy(struct kunit *test)
{
	struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);

	KUNIT_EXPECT_EQ(test, 0, rdma_object_hold(&cq->obj));
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&cq->obj, NULL));
	rdma_object_unhold(&cq->obj);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&cq->obj, NULL));
}

static void dying_takes_no_child(struct kunit *test)
{
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = new_thing(test, RDMA_OBJECT_MR, &core_allocated);

	pd->child = &mr->obj;
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, pd->child_ret);
	KUNIT_EXPECT_EQ(test, 0, mr->obj.num_parents);
	rdma_object_abort(&mr->obj);
}

static void abort_lets_parents_go(struct kunit *test)
{
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = new_thing(test, RDMA_OBJECT_MR, &core_allocated);

	KUNIT_EXPECT_EQ(test, 0, rdma_object_link(&mr->obj, &pd->obj));
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&pd->obj, NULL));
	rdma_object_abort(&mr->obj);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
}

static void refusal_keeps_object(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, pd, NULL);
	u32 number = mr->obj.res.id;

	mr->refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, rdma_object_destroy(&mr->obj, NULL));
	KUNIT_EXPECT_TRUE(test, found(mr));
	KUNIT_EXPECT_EQ(test, number, mr->obj.res.id);
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&pd->obj, NULL));
	/* It can be looked up and used as a parent as before. */
	KUNIT_EXPECT_EQ(test, 0, rdma_object_hold(&mr->obj));
	rdma_object_unhold(&mr->obj);

	/* Reaping destroys what it can, the CQ; the MR keeps itself and its PD. */
	KUNIT_EXPECT_EQ(test, 2, rdma_owner_reap(bed->owner));
	/* They may outlive the module and its name string. */
	KUNIT_EXPECT_PTR_EQ(test, mr->obj.res.kern_name, &bed->owner->name[0]);
	KUNIT_EXPECT_PTR_EQ(test, pd->obj.res.kern_name, &bed->owner->name[0]);
	KUNIT_EXPECT_EQ(test, GONE, cq->magic);
	KUNIT_EXPECT_EQ(test, ALIVE, pd->magic);

	mr->refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
	KUNIT_EXPECT_EQ(test, GONE, pd->magic);
}

/* Ids wrap, and the next one is that of an object that its driver will keep. */
static void refusal_keeps_number(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, NULL, NULL);
	struct thing *rival = new_thing(test, RDMA_OBJECT_MR, &core_allocated);
	u32 number = mr->obj.res.id;

	bed->device->res->table[RDMA_RESTRACK_MR].next = number;
	mr->rival = &rival->obj;
	mr->refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, rdma_object_destroy(&mr->obj, NULL));
	KUNIT_EXPECT_EQ(test, number, mr->obj.res.id);
	KUNIT_EXPECT_TRUE(test, found(mr));
	KUNIT_EXPECT_NE(test, number, rival->obj.res.id);
	KUNIT_EXPECT_TRUE(test, found(rival));

	/* When it is destroyed, its id is free. */
	mr->refuse = 0;
	mr->rival = NULL;
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&mr->obj, NULL));
	bed->device->res->table[RDMA_RESTRACK_MR].next = number;
	mr = add_thing(test, RDMA_OBJECT_MR, NULL, NULL);
	KUNIT_EXPECT_EQ(test, number, mr->obj.res.id);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&mr->obj, NULL));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&rival->obj, NULL));
}

static void driver_memory_is_left_alone(struct kunit *test)
{
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = new_thing(test, RDMA_OBJECT_MR, &driver_allocated);
	static const u8 poison[sizeof(mr->obj)] = { [0 ... sizeof(mr->obj) - 1] = 0x5a };

	KUNIT_ASSERT_EQ(test, 0, rdma_object_link(&mr->obj, &pd->obj));
	rdma_object_publish(&mr->obj);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&mr->obj, NULL));
	KUNIT_EXPECT_MEMEQ(test, &mr->obj, poison, sizeof(poison));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pd->obj.usecnt));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
}

static void reaped_children_first(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, pd, NULL);
	struct thing *srq = add_thing(test, RDMA_OBJECT_SRQ, pd, cq);
	struct thing *pd2 = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);

	/* The MR moves to a PD that is younger than itself. */
	KUNIT_EXPECT_EQ(test, 0, rdma_object_link(&mr->obj, &pd2->obj));
	rdma_object_unlink(&mr->obj, &pd->obj);

	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
	KUNIT_ASSERT_EQ(test, 5, bed->destroyed);
	KUNIT_EXPECT_PTR_EQ(test, srq, bed->order[0]);
	KUNIT_EXPECT_PTR_EQ(test, mr, bed->order[1]);
	KUNIT_EXPECT_PTR_EQ(test, pd2, bed->order[2]);
	KUNIT_EXPECT_PTR_EQ(test, cq, bed->order[3]);
	KUNIT_EXPECT_PTR_EQ(test, pd, bed->order[4]);
}

static void untracked_types(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *ah = add_thing(test, RDMA_OBJECT_AH, pd, NULL);
	struct thing *hidden = new_thing(test, RDMA_OBJECT_CQ, &core_allocated);

	rdma_restrack_no_track(&hidden->obj.res);
	rdma_object_publish(&hidden->obj);
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&pd->obj, NULL));

	/* As when it is destroyed from a softirq. */
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&ah->obj, NULL));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&hidden->obj, NULL));
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
}

static void numbers(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *a = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct thing *b = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	u32 unused = a->obj.res.id + b->obj.res.id + 1;

	KUNIT_EXPECT_NE(test, a->obj.res.id, b->obj.res.id);
	KUNIT_EXPECT_EQ(test, 2, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	KUNIT_EXPECT_EQ(test, 1, rdma_restrack_count(bed->device, RDMA_RESTRACK_PD, true));
	KUNIT_EXPECT_TRUE(test, found(a) && found(b) && found(pd));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR(rdma_restrack_get_byid(bed->device, RDMA_RESTRACK_CQ, unused)));
	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
}

/* No object has id 0, and an id in use is skipped. */
static void numbers_come_round(struct kunit *test)
{
	static const u32 numbers[] = { U32_MAX - 1, U32_MAX, 2, 3 };
	struct bed *bed = test->priv;
	u32 *next = &bed->device->res->table[RDMA_RESTRACK_CQ].next;
	struct thing *kept, *cq;

	*next = 1;
	kept = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	KUNIT_EXPECT_EQ(test, kept->obj.res.id, 1);
	*next = U32_MAX - 1;
	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
		KUNIT_EXPECT_EQ(test, cq->obj.res.id, numbers[i]);
		KUNIT_EXPECT_TRUE(test, found(cq));
	}
	KUNIT_EXPECT_TRUE(test, found(kept));
	KUNIT_EXPECT_EQ(test, 5, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
}

/*
 * An entry that is tracked by itself is found from its addition to its end, which waits for users.
 */
static void entries_alone(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *thing = new_thing(test, RDMA_OBJECT_CQ, &core_allocated);
	struct rdma_restrack_entry *res = &thing->obj.res;
	u32 number;

	KUNIT_EXPECT_FALSE(test, res->valid);
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	rdma_restrack_add(res);
	number = res->id;
	KUNIT_EXPECT_TRUE(test, res->valid);
	KUNIT_EXPECT_NE(test, number, 0);
	KUNIT_EXPECT_TRUE(test, found(thing));
	KUNIT_EXPECT_EQ(test, 1, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	/* After a change it is found as before. */
	rdma_restrack_sync(res);
	KUNIT_EXPECT_EQ(test, res->id, number);
	KUNIT_EXPECT_TRUE(test, found(thing));
	rdma_restrack_del(res);
	KUNIT_EXPECT_FALSE(test, res->valid);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR(rdma_restrack_get_byid(bed->device, RDMA_RESTRACK_CQ, number)));
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));

	/*
	 * Initialised again, it is found under another id, and not at all as an entry without
	 * table.
	 */
	rdma_restrack_new(res, RDMA_RESTRACK_CQ);
	rdma_restrack_add(res);
	KUNIT_EXPECT_NE(test, res->id, number);
	KUNIT_EXPECT_TRUE(test, found(thing));
	rdma_restrack_del(res);
	rdma_restrack_new(res, RDMA_RESTRACK_MAX);
	rdma_restrack_add(res);
	KUNIT_EXPECT_TRUE(test, res->valid);
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(bed->device, RDMA_RESTRACK_CQ, true));
	rdma_restrack_del(res);
	/*
	 * An entry that was never added is not found after a change either, and can be ended, too.
	 */
	rdma_restrack_new(res, RDMA_RESTRACK_CQ);
	rdma_restrack_sync(res);
	KUNIT_EXPECT_FALSE(test, res->valid);
	rdma_restrack_del(res);
	rdma_object_abort(&thing->obj);
}

/* The special QPs of all ports have ids of their own, which are no numbers of other QPs. */
static void special_qps(struct kunit *test)
{
	static const u32 ports[] = { 1, 2, 255, 256, 257, 510, 511, 512, 513, MOST_PORTS };
	struct ib_qp *qps = kunit_kcalloc(test, 2 * ARRAY_SIZE(ports), sizeof(*qps), GFP_KERNEL);
	struct bed *bed = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, qps);
	for (int i = 0; i < 2 * ARRAY_SIZE(ports); i++) {
		rdma_object_init(&qps[i].obj, RDMA_OBJECT_QP, bed->device, bed->owner, NULL);
		qps[i].qp_type = i % 2 ? IB_QPT_GSI : IB_QPT_SMI;
		qps[i].qp_num = i % 2;
		qps[i].port = ports[i / 2];
		rdma_restrack_add(&qps[i].res);
		KUNIT_EXPECT_TRUE_MSG(test, qps[i].res.valid, "QP%u of port %u", i % 2,
				      ports[i / 2]);
		KUNIT_EXPECT_GE_MSG(test, qps[i].res.id, BIT(24), "QP%u of port %u", i % 2,
				    ports[i / 2]);
	}
	KUNIT_EXPECT_EQ(test, qps[1].res.id, BIT(24) | 1);
	for (int i = 0; i < 2 * ARRAY_SIZE(ports); i++) {
		rdma_restrack_del(&qps[i].res);
		rdma_object_abort(&qps[i].obj);
	}
}

/* A child has the name of its parent's module or task. */
static void parents_name(struct kunit *test)
{
	struct thing *kernel = new_thing(test, RDMA_OBJECT_PD, &core_allocated);
	struct thing *user = new_thing(test, RDMA_OBJECT_PD, &core_allocated);
	struct thing *child = new_thing(test, RDMA_OBJECT_MR, &core_allocated);
	struct thing *other = new_thing(test, RDMA_OBJECT_MR, &core_allocated);
	unsigned int users = refcount_read(&current->usage);

	rdma_restrack_set_name(&kernel->obj.res, "a_module");
	rdma_restrack_parent_name(&child->obj.res, &kernel->obj.res);
	KUNIT_EXPECT_TRUE(test, rdma_is_kernel_res(&child->obj.res));
	KUNIT_EXPECT_STREQ(test, child->obj.res.kern_name, "a_module");

	other->obj.res.kern_name = NULL;
	user->obj.res.kern_name = NULL;
	rdma_restrack_set_name(&user->obj.res, NULL);
	rdma_restrack_parent_name(&other->obj.res, &user->obj.res);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&other->obj.res));
	KUNIT_EXPECT_PTR_EQ(test, other->obj.res.task, current);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), users + 2);
	rdma_object_abort(&other->obj);
	rdma_object_abort(&child->obj);
	rdma_object_abort(&user->obj);
	rdma_object_abort(&kernel->obj);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), users);
}

static void owners_by_name(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct rdma_owner *same = rdma_owner_kernel(bed->device, "object-test");
	struct rdma_owner *other = rdma_owner_kernel(bed->device, "other");

	KUNIT_EXPECT_PTR_EQ(test, bed->owner, same);
	KUNIT_EXPECT_PTR_NE(test, bed->owner, other);
	rdma_owner_put(same);
	rdma_owner_put(other);
	KUNIT_EXPECT_PTR_EQ(test, NULL, rdma_owner_find(bed->device, "other"));
}

/* ---- asynchronous destruction ---- */

struct ending {
	struct completion told;
	int err;
	unsigned int times;
};

static void tell(void *context, int err)
{
	struct ending *ending = context;

	ending->err = err;
	ending->times++;
	complete(&ending->told);
}

static void async_tells_once(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, pd, NULL);
	struct ending of_pd = {}, of_mr = {};

	init_completion(&of_pd.told);
	init_completion(&of_mr.told);
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy_async(&pd->obj, tell, &of_pd));
	KUNIT_ASSERT_EQ(test, 0, rdma_object_destroy_async(&mr->obj, tell, &of_mr));
	wait_for_completion(&of_mr.told);
	KUNIT_EXPECT_EQ(test, 0, of_mr.err);
	KUNIT_EXPECT_EQ(test, GONE, mr->magic);

	KUNIT_ASSERT_EQ(test, 0, rdma_object_destroy_async(&pd->obj, tell, &of_pd));
	wait_for_completion(&of_pd.told);
	KUNIT_EXPECT_EQ(test, 0, of_pd.err);
	KUNIT_EXPECT_EQ(test, 0, rdma_owner_reap(bed->owner));
	KUNIT_EXPECT_EQ(test, 1, of_pd.times);
	KUNIT_EXPECT_EQ(test, 1, of_mr.times);
}

static void async_waits_for_lookups(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	struct ending ending = {};
	u32 number = cq->obj.res.id;

	init_completion(&ending.told);
	KUNIT_ASSERT_TRUE(test, rdma_object_get(&cq->obj));
	/* This returns although a reference is held, and hides the object at once. */
	KUNIT_ASSERT_EQ(test, 0, rdma_object_destroy_async(&cq->obj, tell, &ending));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR(rdma_restrack_get_byid(bed->device, RDMA_RESTRACK_CQ, number)));
	KUNIT_EXPECT_EQ(test, ALIVE, READ_ONCE(cq->magic));
	KUNIT_EXPECT_FALSE(test, completion_done(&ending.told));
	rdma_object_put(&cq->obj);
	wait_for_completion(&ending.told);
	KUNIT_EXPECT_EQ(test, GONE, cq->magic);
}

/*
 * This is for a user's object: the refusal of a kernel object is a bug of the driver, and logged.
 */
static void async_refusal_is_told(struct kunit *test)
{
	struct thing *pd = add_thing(test, RDMA_OBJECT_PD, NULL, NULL);
	struct thing *mr = add_thing(test, RDMA_OBJECT_MR, pd, NULL);
	struct ending ending = {};

	init_completion(&ending.told);
	rdma_restrack_set_name(&mr->obj.res, NULL);
	mr->refuse = -EIO;
	KUNIT_ASSERT_EQ(test, 0, rdma_object_destroy_async(&mr->obj, tell, &ending));
	wait_for_completion(&ending.told);
	KUNIT_EXPECT_EQ(test, -EIO, ending.err);
	KUNIT_EXPECT_EQ(test, ALIVE, mr->magic);
	KUNIT_EXPECT_TRUE(test, found(mr));
	KUNIT_EXPECT_EQ(test, -EBUSY, rdma_object_destroy(&pd->obj, NULL));

	mr->refuse = 0;
	reinit_completion(&ending.told);
	KUNIT_ASSERT_EQ(test, 0, rdma_object_destroy_async(&mr->obj, tell, &ending));
	wait_for_completion(&ending.told);
	KUNIT_EXPECT_EQ(test, 0, ending.err);
	KUNIT_EXPECT_EQ(test, 2, ending.times);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&pd->obj, NULL));
}

/* ---- destruction against destruction ---- */

struct destroyer {
	struct thing *thing;
	struct completion *go;
	struct completion done;
	int ret;
};

static int destroy_on_signal(void *data)
{
	struct destroyer *d = data;

	wait_for_completion(d->go);
	d->ret = rdma_object_destroy(&d->thing->obj, NULL);
	/* The module may be unloaded a moment later. */
	kthread_complete_and_exit(&d->done, 0);
}

/*
 * Many tasks destroy the same object: one succeeds, the others are told that it is being destroyed.
 */
static void one_destroyer_wins(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct destroyer d[4];
	struct completion go;

	for (unsigned int round = 0; round < 50; round++) {
		struct thing *cq = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
		unsigned int won = 0, busy = 0;

		init_completion(&go);
		/* A held reference keeps it: the first task to destroy it waits for that. */
		KUNIT_ASSERT_TRUE(test, rdma_object_get(&cq->obj));
		for (unsigned int i = 0; i < ARRAY_SIZE(d); i++) {
			struct task_struct *task;

			d[i] = (struct destroyer){ .thing = cq, .go = &go };
			init_completion(&d[i].done);
			task = kthread_run(destroy_on_signal, &d[i], "object-destroyer");
			KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		}
		complete_all(&go);
		while (busy < ARRAY_SIZE(d) - 1) {
			busy = 0;
			for (unsigned int i = 0; i < ARRAY_SIZE(d); i++)
				busy += completion_done(&d[i].done);
			cond_resched();
		}
		KUNIT_EXPECT_EQ(test, ALIVE, READ_ONCE(cq->magic));
		rdma_object_put(&cq->obj);
		busy = 0;
		for (unsigned int i = 0; i < ARRAY_SIZE(d); i++) {
			wait_for_completion(&d[i].done);
			won += !d[i].ret;
			busy += d[i].ret == -EBUSY;
		}
		KUNIT_EXPECT_EQ(test, 1, won);
		KUNIT_EXPECT_EQ(test, ARRAY_SIZE(d) - 1, busy);
		KUNIT_EXPECT_EQ(test, round + 1, bed->destroyed);
	}
}

/* ---- lookups against creation and destruction ---- */

struct seeker {
	struct bed *bed;
	struct task_struct *task;
	unsigned long hits;
	unsigned long stale;
};

static int seek(void *data)
{
	struct seeker *seeker = data;

	while (!kthread_should_stop()) {
		for (u32 id = 1; id <= 256; id++) {
			struct rdma_restrack_entry *res;
			struct thing *thing;

			res = rdma_restrack_get_byid(seeker->bed->device, RDMA_RESTRACK_CQ, id);
			if (IS_ERR(res))
				continue;
			thing = container_of(res, struct thing, obj.res);
			seeker->hits++;
			if (READ_ONCE(thing->magic) != ALIVE || thing->obj.res.id != id)
				seeker->stale++;
			rdma_restrack_put(res);
		}
		cond_resched();
	}
	return 0;
}

static void lookups_see_the_living(struct kunit *test)
{
	struct bed *bed = test->priv;
	struct seeker seekers[2] = {};
	unsigned long hits = 0;
	struct thing *thing;

	for (unsigned int i = 0; i < ARRAY_SIZE(seekers); i++) {
		seekers[i].bed = bed;
		seekers[i].task = kthread_run(seek, &seekers[i], "object-seeker");
		KUNIT_ASSERT_FALSE(test, IS_ERR(seekers[i].task));
	}
	for (unsigned int round = 0; round < 200; round++) {
		thing = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
		cond_resched();
		KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&thing->obj, NULL));
	}
	/* An object that stays until both have found it proves that they have looked. */
	thing = add_thing(test, RDMA_OBJECT_CQ, NULL, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(seekers); i++) {
		unsigned long before = READ_ONCE(seekers[i].hits);

		if (thing->obj.res.id <= 256)
			while (READ_ONCE(seekers[i].hits) == before)
				cond_resched();
		kthread_stop(seekers[i].task);
		hits += seekers[i].hits;
		KUNIT_EXPECT_EQ(test, 0, seekers[i].stale);
	}
	KUNIT_EXPECT_GT(test, hits, 0);
	KUNIT_EXPECT_EQ(test, 0, rdma_object_destroy(&thing->obj, NULL));
	KUNIT_EXPECT_EQ(test, 201, bed->destroyed);
}

static struct kunit_case object_cases[] = {
	KUNIT_CASE(parent_is_busy),
	KUNIT_CASE(same_parent_twice),
	KUNIT_CASE(held_is_busy),
	KUNIT_CASE(dying_takes_no_child),
	KUNIT_CASE(abort_lets_parents_go),
	KUNIT_CASE(refusal_keeps_object),
	KUNIT_CASE(refusal_keeps_number),
	KUNIT_CASE(driver_memory_is_left_alone),
	KUNIT_CASE(reaped_children_first),
	KUNIT_CASE(untracked_types),
	KUNIT_CASE(numbers),
	KUNIT_CASE(numbers_come_round),
	KUNIT_CASE(entries_alone),
	KUNIT_CASE(special_qps),
	KUNIT_CASE(parents_name),
	KUNIT_CASE(owners_by_name),
	KUNIT_CASE(async_tells_once),
	KUNIT_CASE(async_waits_for_lookups),
	KUNIT_CASE(async_refusal_is_told),
	KUNIT_CASE(one_destroyer_wins),
	KUNIT_CASE(lookups_see_the_living),
	{}
};

static struct kunit_suite object_suite = {
	.name = "rdma-object",
	.init = bed_init,
	.exit = bed_exit,
	.test_cases = object_cases,
};

kunit_test_suite(object_suite);

MODULE_DESCRIPTION("KUnit tests of the RDMA object base");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
