// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: user contexts, and the objects that only user verbs create.
 */
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include <rdma/uverbs_ioctl.h>

#include "../../object/object.h"
#include "../verbs.h"
#include "test_verbs.h"

/* Numbers of the driver's objects, and the arguments of its last call. */
static struct {
	int contexts, wqs, tables, counters, dms;
	u64 start, length, iova, offset;
	int access, fd;
} held;

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return test_verbs_made(&held.contexts);
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
	held.contexts--;
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				 struct ib_udata *udata)
{
	held.start = start;
	held.length = length;
	held.iova = iova;
	held.access = access;
	return test_verbs_mr(1);
}

static struct ib_mr *reg_dmabuf_mr(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
				   int access, struct uverbs_attr_bundle *attrs)
{
	held.offset = offset;
	held.fd = fd;
	return test_verbs_mr(1);
}

static struct ib_mr *reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
			       struct uverbs_attr_bundle *attrs)
{
	held.offset = attr->offset;
	return test_verbs_mr(1);
}

/* Makes an object that the driver allocates itself. */
static void *make(int *count, size_t size)
{
	int ret = test_verbs_made(count);

	return ret ? ERR_PTR(ret) : kzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
}

static int end(int *count, void *object)
{
	int ret = test_verbs_gone(count);

	if (!ret)
		kfree(object);
	return ret;
}

static struct ib_dm *alloc_dm(struct ib_device *device, struct ib_ucontext *context,
			      struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	return make(&held.dms, sizeof(struct ib_dm));
}

static int dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	return end(&held.dms, dm);
}

static struct ib_wq *create_wq(struct ib_pd *pd, struct ib_wq_init_attr *attr,
			       struct ib_udata *udata)
{
	return make(&held.wqs, sizeof(struct ib_wq));
}

static int destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	return end(&held.wqs, wq);
}

static int create_table(struct ib_rwq_ind_table *table, struct ib_rwq_ind_table_init_attr *attr,
			struct ib_udata *udata)
{
	return test_verbs_made(&held.tables);
}

static int destroy_table(struct ib_rwq_ind_table *table)
{
	return test_verbs_gone(&held.tables);
}

static int create_counters(struct ib_counters *counters, struct uverbs_attr_bundle *attrs)
{
	return test_verbs_made(&held.counters);
}

static int destroy_counters(struct ib_counters *counters)
{
	return test_verbs_gone(&held.counters);
}

static const struct ib_device_ops context_ops = {
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

static const struct ib_device_ops object_ops = {
	.reg_user_mr = reg_user_mr,
	.reg_user_mr_dmabuf = reg_dmabuf_mr,
	.reg_dm_mr = reg_dm_mr,
	.alloc_dm = alloc_dm,
	.dealloc_dm = dealloc_dm,
	.create_wq = create_wq,
	.destroy_wq = destroy_wq,
	.create_rwq_ind_table = create_table,
	.destroy_rwq_ind_table = destroy_table,
	.create_counters = create_counters,
	.destroy_counters = destroy_counters,
	.size_ib_counters = sizeof(struct ib_counters),
	.size_ib_rwq_ind_table = sizeof(struct ib_rwq_ind_table),
};

/**
 * struct program - a program's context
 * @context: the context
 * @handle: handle of all its objects
 * @attrs: its request
 */
struct program {
	struct ib_ucontext *context;
	struct ib_uobject handle;
	struct uverbs_attr_bundle *attrs;
};

/* Prepares a device that is not registered but has an RDMA cgroup device. */
static void device_begin(struct ib_device *device)
{
	memset(&held, 0, sizeof(held));
	ib_set_device_ops(device, &context_ops);
#ifdef CONFIG_CGROUP_RDMA
	INIT_LIST_HEAD(&device->cg_device.rpools);
#endif
}

static void user_begin(struct kunit *test, struct program *user)
{
	struct ib_device *device = test->priv;

	device_begin(device);
	memset(user, 0, sizeof(*user));
	user->attrs = kunit_kzalloc(test, sizeof(*user->attrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, user->attrs);
	user->context = rdma_ucontext_alloc(device, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(user->context));
	KUNIT_ASSERT_EQ(test, rdma_ucontext_open(user->context, NULL), 0);
	user->handle.context = user->context;
}

static void user_end(struct kunit *test, struct program *user)
{
	KUNIT_EXPECT_EQ(test, held.wqs + held.tables + held.counters + held.dms, 0);
	rdma_ucontext_close(user->context);
	rdma_ucontext_free(user->context);
	KUNIT_EXPECT_EQ(test, held.contexts, 0);
}

static u32 count(struct kunit *test, enum rdma_restrack_type type)
{
	return rdma_restrack_count(test->priv, type, true);
}

static void contexts(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_ucontext *context, *other;

	device_begin(device);
	/* A context that the driver refuses, and one that is never opened. */
	context = rdma_ucontext_alloc(device, NULL);
	other = rdma_ucontext_alloc(device, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(context) || IS_ERR(other));
	KUNIT_EXPECT_PTR_EQ(test, context->device, device);
	KUNIT_EXPECT_PTR_NE(test, context->obj.owner, other->obj.owner);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, rdma_ucontext_open(context, NULL), -ENOSPC);
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, held.contexts, 0);
	KUNIT_EXPECT_EQ(test, count(test, RDMA_RESTRACK_CTX), 0);
	rdma_ucontext_free(other);

	KUNIT_EXPECT_EQ(test, rdma_ucontext_open(context, NULL), 0);
	KUNIT_EXPECT_EQ(test, held.contexts, 1);
	KUNIT_EXPECT_EQ(test, count(test, RDMA_RESTRACK_CTX), 1);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&context->obj.res));
	rdma_ucontext_close(context);
	KUNIT_EXPECT_EQ(test, held.contexts, 0);
	KUNIT_EXPECT_EQ(test, count(test, RDMA_RESTRACK_CTX), 0);
	rdma_ucontext_free(context);
}

/* A failed insertion may leave nodes in the table of mmap entries, which are freed with it. */
static void nodes_without_entries(struct kunit *test)
{
	XA_STATE(xas, NULL, 4096);
	struct ib_ucontext *context;

	device_begin(test->priv);
	context = rdma_ucontext_alloc(test->priv, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(context));
	xas.xa = &context->mmap_xa;
	KUNIT_EXPECT_FALSE(test, rdma_xa_used(&context->mmap_xa));
	do {
		xas_lock(&xas);
		xas_create_range(&xas);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	KUNIT_EXPECT_FALSE(test, xa_empty(&context->mmap_xa));
	KUNIT_EXPECT_FALSE(test, rdma_xa_used(&context->mmap_xa));

	KUNIT_EXPECT_EQ(test, xa_reserve(&context->mmap_xa, 1, GFP_KERNEL), 0);
	KUNIT_EXPECT_TRUE(test, rdma_xa_used(&context->mmap_xa));
	xa_release(&context->mmap_xa, 1);
	KUNIT_EXPECT_EQ(test, xa_insert(&context->mmap_xa, 5000, test, GFP_KERNEL), 0);
	KUNIT_EXPECT_TRUE(test, rdma_xa_used(&context->mmap_xa));
	xa_erase(&context->mmap_xa, 5000);
	KUNIT_EXPECT_FALSE(test, xa_empty(&context->mmap_xa));
	rdma_ucontext_free(context);
}

static void on_event(struct ib_cq *cq, void *context)
{
}

static void on_error(struct ib_event *event, void *context)
{
}

/* PD, CQ and MR are owned by the context and not by a module, and the PD gets no key. */
static void queues_and_regions(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_cq_init_attr attr = { .cqe = 24 };
	struct ib_mr *mr;
	struct program user;
	struct ib_pd *pd;
	struct ib_cq *cq;

	user_begin(test, &user);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_pd_user(device, &user.handle, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_cq_user(device, &attr, (void *)&user.handle,
							on_event, on_error, test, NULL)), -ENOSPC);
	test_verbs.create = 0;
	pd = ib_alloc_pd_user(device, &user.handle, NULL);
	cq = ib_create_cq_user(device, &attr, (void *)&user.handle, on_event, on_error, test,
			       NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd) || IS_ERR(cq));
	KUNIT_EXPECT_EQ(test, test_verbs.mrs, 0);
	KUNIT_EXPECT_PTR_EQ(test, pd->uobject, &user.handle);
	KUNIT_EXPECT_PTR_EQ(test, pd->obj.owner, user.context->obj.owner);
	KUNIT_EXPECT_PTR_EQ(test, cq->obj.owner, user.context->obj.owner);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&pd->res));
	KUNIT_EXPECT_EQ(test, cq->cqe, 24);
	KUNIT_EXPECT_PTR_EQ(test, cq->cq_context, (void *)test);
	KUNIT_EXPECT_TRUE(test, cq->comp_handler == on_event && cq->event_handler == on_error);

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_reg_mr_user(pd, &user.handle, 1, 2, 3, 0, NULL)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_reg_dmabuf_mr_user(pd, &user.handle, 1, 2, 3, 4, 0,
							    user.attrs)), -EOPNOTSUPP);
	ib_set_device_ops(device, &object_ops);
	mr = ib_reg_mr_user(pd, &user.handle, 0x1000, 100, 0x2000, IB_ACCESS_REMOTE_READ, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, held.start, 0x1000);
	KUNIT_EXPECT_EQ(test, held.length, 100);
	KUNIT_EXPECT_EQ(test, held.iova, 0x2000);
	KUNIT_EXPECT_EQ(test, held.access, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x2000);
	KUNIT_EXPECT_EQ(test, mr->length, 100);
	KUNIT_EXPECT_EQ(test, mr->type, IB_MR_TYPE_USER);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr_user(mr, NULL), 0);

	mr = ib_reg_dmabuf_mr_user(pd, &user.handle, 0x3000, 200, 0x4000, 7, 0, user.attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, held.offset, 0x3000);
	KUNIT_EXPECT_EQ(test, held.fd, 7);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x4000);
	KUNIT_EXPECT_EQ(test, mr->length, 200);
	KUNIT_EXPECT_EQ(test, count(test, RDMA_RESTRACK_MR), 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr_user(mr, NULL), 0);
	KUNIT_EXPECT_EQ(test, count(test, RDMA_RESTRACK_MR), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), 0);
	user_end(test, &user);
}

static void device_memory(struct kunit *test)
{
	struct ib_dm_alloc_attr size = { .length = 4096 };
	struct ib_dm_mr_attr part = { .offset = 64, .length = 128 };
	struct ib_device *device = test->priv;
	struct program user;
	struct ib_pd *pd;
	struct ib_dm *dm;
	struct ib_mr *mr;

	user_begin(test, &user);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_dm_user(&user.handle, &size, user.attrs)),
			-EOPNOTSUPP);
	ib_set_device_ops(device, &object_ops);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_dm_user(&user.handle, &size, user.attrs)), -ENOSPC);
	test_verbs.create = 0;
	dm = ib_alloc_dm_user(&user.handle, &size, user.attrs);
	pd = ib_alloc_pd_user(device, &user.handle, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd) || IS_ERR(dm));
	KUNIT_EXPECT_EQ(test, dm->length, 4096);
	KUNIT_EXPECT_PTR_EQ(test, dm->device, device);

	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_reg_dm_mr_user(pd, dm, &user.handle, &part, user.attrs)),
			-ENOSPC);
	test_verbs.create = 0;
	mr = ib_reg_dm_mr_user(pd, dm, &user.handle, &part, user.attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, held.offset, 64);
	KUNIT_EXPECT_EQ(test, mr->type, IB_MR_TYPE_DM);
	KUNIT_EXPECT_PTR_EQ(test, mr->dm, dm);
	/* The memory cannot be freed while a region covers it. */
	KUNIT_EXPECT_EQ(test, ib_free_dm_user(dm, user.attrs), -EBUSY);
	KUNIT_EXPECT_EQ(test, held.dms, 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr_user(mr, NULL), 0);
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, ib_free_dm_user(dm, user.attrs), -EIO);
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, ib_free_dm_user(dm, user.attrs), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), 0);
	user_end(test, &user);
}

static void counter_sets(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_counters *counters;
	struct program user;

	user_begin(test, &user);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_counters_user(&user.handle, user.attrs)),
			-EOPNOTSUPP);
	ib_set_device_ops(device, &object_ops);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_counters_user(&user.handle, user.attrs)), -ENOSPC);
	test_verbs.create = 0;
	counters = ib_create_counters_user(&user.handle, user.attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(counters));
	KUNIT_EXPECT_PTR_EQ(test, counters->device, device);
	KUNIT_EXPECT_PTR_EQ(test, counters->uobject, &user.handle);
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, ib_destroy_counters_user(counters), -EIO);
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, held.counters, 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_counters_user(counters), 0);
	user_end(test, &user);
}

/* A table holds a reference on a work queue for each entry that names it. */
static void work_queue_tables(struct kunit *test)
{
	struct ib_wq_init_attr attr = { .wq_type = IB_WQT_RQ };
	struct ib_device *device = test->priv;
	struct ib_rwq_ind_table *table;
	struct ib_wq *list[4];
	struct ib_rwq_ind_table_init_attr table_attr = { .log_ind_tbl_size = 2, .ind_tbl = list };
	struct program user;
	struct ib_pd *pd;
	struct ib_wq *wq;

	user_begin(test, &user);
	ib_set_device_ops(device, &object_ops);
	pd = ib_alloc_pd_user(device, &user.handle, NULL);
	attr.cq = test_verbs_cq(device);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd) || IS_ERR(attr.cq));
	wq = ib_create_wq_user(pd, (void *)&user.handle, &attr, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wq));
	KUNIT_EXPECT_EQ(test, held.wqs, 1);
	for (int i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = wq;

	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_rwq_table_user(device, &user.handle, &table_attr,
							       NULL)), -ENOSPC);
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, atomic_read(&wq->usecnt), 0);
	table = ib_create_rwq_table_user(device, &user.handle, &table_attr, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_EXPECT_EQ(test, atomic_read(&wq->usecnt), 4);
	KUNIT_EXPECT_PTR_NE(test, table->ind_tbl, &list[0]);
	KUNIT_EXPECT_PTR_EQ(test, table->ind_tbl[3], wq);
	KUNIT_EXPECT_EQ(test, ib_destroy_wq_user(wq, NULL), -EBUSY);
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, ib_destroy_rwq_table_user(table, NULL), -EIO);
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, atomic_read(&wq->usecnt), 4);
	KUNIT_EXPECT_EQ(test, ib_destroy_rwq_table_user(table, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_wq_user(wq, NULL), 0);
	ib_destroy_cq(attr.cq);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), 0);
	user_end(test, &user);
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE(contexts),
	KUNIT_CASE(nodes_without_entries),
	KUNIT_CASE(queues_and_regions),
	KUNIT_CASE(device_memory),
	KUNIT_CASE(counter_sets),
	KUNIT_CASE(work_queue_tables),
	{}
};

static struct kunit_suite user_suite = {
	.name = "ib_core_user",
	.init = test_verbs_init,
	.exit = test_verbs_exit,
	.test_cases = user_cases,
};

kunit_test_suite(user_suite);
