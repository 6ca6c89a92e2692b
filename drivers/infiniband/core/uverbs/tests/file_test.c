// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: files and what outlives them: opening one while the device is removed, the number of a
 * device that is added again, mappings of its pages, and objects that a driver does not destroy.
 */
#include <linux/anon_inodes.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/rdma_ext.h>

#include "../../nldev/nldev_priv.h"
#include "../../verbs/verbs.h"
#include "test_uverbs.h"

static struct ib_uverbs_file *file_of(struct uverbs_test *t)
{
	return t->filp->private_data;
}

/*
 * Removal that waits for user space ends when the last file is closed.  An open() after that fails,
 * although requests are still served.
 */
static void opened_while_going(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;

	tu_close(t);
	KUNIT_ASSERT_TRUE(test, refcount_dec_and_test(&t->udev->users));
	KUNIT_EXPECT_EQ(test, tu_open_file(&other), -ENXIO);
	refcount_set(&t->udev->users, 1);
	KUNIT_EXPECT_EQ(test, tu_open_file(&other), 0);
	tu_close(&other);
}

/* Adds a device and opens its file. */
static void plug(struct uverbs_test *t)
{
	t->device = fake_device_alloc();
	KUNIT_ASSERT_NOT_NULL(t->test, t->device);
	KUNIT_ASSERT_EQ(t->test, ib_register_device(&t->device->ib, "kt_uverbs%d", NULL), 0);
	KUNIT_ASSERT_EQ(t->test, tu_open_file(t), 0);
}

/* A device that is added again gets its old name, although a program still has the old file. */
static void number_of_a_device(struct kunit *test)
{
	struct uverbs_test *t = test->priv, again = *t, another = *t;
	int number = t->udev->devnum;

	tu_remove_device(t);
	plug(&again);
	KUNIT_EXPECT_EQ(test, again.udev->devnum, number);
	/* Closing the old file does not free the number a second time. */
	tu_close(t);
	plug(&another);
	KUNIT_EXPECT_NE(test, another.udev->devnum, number);
	tu_close(&another);
	tu_remove_device(&another);
	tu_close(&again);
	tu_remove_device(&again);
}

/* ---- objects that the driver keeps ---- */

static struct ib_uobject *handle(struct uverbs_test *t, u32 id)
{
	return xa_load(&file_of(t)->handles, id);
}

/* Describes a PD as resource tracking does in a dump. */
static int describe(struct uverbs_test *t, struct ib_pd *pd)
{
	struct nl_subject subject = {};
	struct rdma_restrack_entry *res;
	struct sk_buff *msg;
	int ret;

	res = rdma_restrack_get_byid(&t->device->ib, RDMA_RESTRACK_PD, pd->res.id);
	if (IS_ERR(res))
		return PTR_ERR(res);
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	ret = msg ? nl_put_pd(msg, res, &subject) : -ENOMEM;
	nlmsg_free(msg);
	rdma_restrack_put(res);
	return ret;
}

/* They can be listed and report events after their file was closed. */
static void kept_objects(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uobject *pd_handle = handle(t, t->pd), *cq_handle = handle(t, t->cq);
	struct ib_ucontext *context = file_of(t)->ucontext;
	struct ib_pd *pd = pd_handle->object;
	struct ib_cq *cq = cq_handle->object;
	struct ib_event event = {
		.device = &t->device->ib, .element.cq = cq, .event = IB_EVENT_CQ_ERR,
	};

	t->device->destroy = -EIO;
	tu_close(t);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, describe(t, pd), 0);
	cq->comp_handler(cq, cq->cq_context);
	cq->event_handler(&event, cq->cq_context);

	/* Now the driver destroys them. */
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), 0);
	uverbs_ucq_release(container_of(cq_handle, struct ib_ucq_object, uevent.uobject));
	uverbs_uobject_put(cq_handle);
	uverbs_uobject_put(pd_handle);
	rdma_ucontext_free(context);
}

/* give_up() of the driver: from now on it destroys every object. */
static void end_device(struct ib_device *device)
{
	struct fake_device *fake = fake_of(device);
	int *times = fake->priv;

	fake->destroy = 0;
	++*times;
}

/* A driver with give_up() is asked to end its device, once. Then the objects are destroyed. */
static void given_up_for_kept_objects(struct kunit *test)
{
	static const struct rdma_ext_ops ext = { .give_up = end_device };
	static const struct ib_device_ops ops = { .ext = &ext };
	struct uverbs_test *t = test->priv;
	int times = 0;

	ib_set_device_ops(&t->device->ib, &ops);
	t->device->priv = &times;
	t->device->destroy = -EIO;
	tu_close(t);
	KUNIT_EXPECT_EQ(test, times, 1);
	KUNIT_EXPECT_EQ(test, t->device->made.pds, 0);
	KUNIT_EXPECT_EQ(test, t->device->made.cqs, 0);
}

/* ---- contexts ---- */

static void context_of_a_file(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;

	KUNIT_EXPECT_PTR_EQ(test, ib_uverbs_get_ucontext_file(file_of(t)), file_of(t)->ucontext);
	KUNIT_EXPECT_PTR_EQ(test, ib_uverbs_get_ucontext_file(file_of(t))->device,
			    &t->device->ib);
	KUNIT_ASSERT_EQ(test, tu_open_file(&other), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_uverbs_get_ucontext_file(file_of(&other))), -EINVAL);
	tu_close(&other);
}

/* ---- mappings ---- */

/* Each mapping is in its file's list, and references the mmap entry it was made from, if any. */
static void listed(struct kunit *test)
{
	struct rdma_umaps umaps = { .list = LIST_HEAD_INIT(umaps.list) };
	struct rdma_umap_priv *priv = kunit_kcalloc(test, 2, sizeof(*priv), GFP_KERNEL);
	struct vm_area_struct *vma = kunit_kcalloc(test, 2, sizeof(*vma), GFP_KERNEL);
	struct file *filp = kunit_kzalloc(test, sizeof(*filp), GFP_KERNEL);
	struct rdma_user_mmap_entry entry = {};

	KUNIT_ASSERT_NOT_NULL(test, priv);
	KUNIT_ASSERT_NOT_NULL(test, vma);
	KUNIT_ASSERT_NOT_NULL(test, filp);
	mutex_init(&umaps.lock);
	kref_init(&entry.ref);
	filp->private_data = &umaps;
	for (int i = 0; i < 2; i++) {
		vma[i].vm_file = filp;
		rdma_umap_priv_init(&priv[i], &vma[i], i ? NULL : &entry);
		KUNIT_EXPECT_PTR_EQ(test, priv[i].vma, &vma[i]);
		KUNIT_EXPECT_PTR_EQ(test, vma[i].vm_private_data, (void *)&priv[i]);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&umaps.list), i + 1);
		KUNIT_EXPECT_FALSE(test, list_empty(&priv[i].list));
	}
	KUNIT_EXPECT_PTR_EQ(test, priv[0].entry, &entry);
	KUNIT_EXPECT_NULL(test, priv[1].entry);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 2);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&umaps.lock));
}

/* A file that can be mapped as the test's can. */
static const struct file_operations map_fops = {
	.owner = THIS_MODULE,
	.mmap = ib_uverbs_mmap,
};

struct revoker {
	struct ib_uverbs_file *file;
	struct completion done;
};

static int revoke(void *data)
{
	struct revoker *revoker = data;

	uverbs_umaps_revoke(revoker->file);
	complete(&revoker->done);
	return 0;
}

/*
 * munmap holds mmap_lock for reading while it frees the page tables of a mapping that is still
 * listed.  Revocation has to wait for it.
 */
static void revoked(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct revoker revoker = { .file = file_of(t) };
	struct mm_struct *mm = current->mm;
	struct task_struct *task;
	u32 __user *at;
	struct file *filp;
	u32 *page, value;
	u64 addr;

	init_completion(&revoker.done);
	t->device->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, t->device->page);
	page = page_address(t->device->page);
	filp = anon_inode_getfile("[kt_uverbs]", &map_fops, file_of(t), O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	addr = vm_mmap(filp, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	at = u64_to_user_ptr(addr);
	KUNIT_EXPECT_EQ(test, put_user(1, at), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(*page), 1);

	mmap_read_lock(mm);
	task = kthread_run(revoke, &revoker, "kt_revoke");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	while (!completion_done(&revoker.done) && !mmap_lock_is_contended(mm))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, completion_done(&revoker.done));
	mmap_read_unlock(mm);
	wait_for_completion(&revoker.done);

	/* Accesses find a page that belongs to the file. */
	KUNIT_EXPECT_EQ(test, get_user(value, at), 0);
	KUNIT_EXPECT_EQ(test, value, 0);
	KUNIT_EXPECT_EQ(test, put_user(2, at), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(*page), 1);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	fput(filp);
	flush_delayed_fput();
	__free_page(t->device->page);
}

/* Two mappings lose their pages; a later mapping has pages of the device again. */
static void disassociated(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 __user *at[3];
	struct file *filp;
	u32 *page, value;
	u64 addr[3];

	t->device->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, t->device->page);
	page = page_address(t->device->page);
	filp = anon_inode_getfile("[kt_uverbs]", &map_fops, file_of(t), O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	for (int i = 0; i < ARRAY_SIZE(at); i++) {
		if (i == 2)
			rdma_user_mmap_disassociate(&t->device->ib);
		addr[i] = vm_mmap(filp, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr[i]));
		at[i] = u64_to_user_ptr(addr[i]);
		KUNIT_EXPECT_EQ(test, put_user(i + 1, at[i]), 0);
		KUNIT_EXPECT_EQ(test, READ_ONCE(*page), i + 1);
	}
	/* Accesses find a page of the file instead. */
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, get_user(value, at[i]), 0);
		KUNIT_EXPECT_EQ(test, value, 0);
	}
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, put_user(77, at[i]), 0);
	KUNIT_EXPECT_EQ(test, get_user(value, at[2]), 0);
	KUNIT_EXPECT_EQ(test, value, 3);
	KUNIT_EXPECT_EQ(test, READ_ONCE(*page), 3);
	for (int i = 0; i < ARRAY_SIZE(at); i++)
		KUNIT_EXPECT_EQ(test, vm_munmap(addr[i], PAGE_SIZE), 0);
	/* Without mappings there is nothing to revoke. */
	rdma_user_mmap_disassociate(&t->device->ib);
	fput(filp);
	flush_delayed_fput();
	__free_page(t->device->page);
}

/**
 * struct taker - a work item that revokes a device's mappings while the driver maps
 * @device: the device
 * @begun: completed before the revocation
 * @done: completed after it
 */
struct taker {
	struct ib_device *device;
	struct completion begun, done;
};

static int take_back(void *data)
{
	struct taker *taker = data;

	complete(&taker->begun);
	rdma_user_mmap_disassociate(taker->device);
	complete(&taker->done);
	return 0;
}

/* Runs after the driver has checked that its pages are usable and before it maps them. */
static void before_it_maps(struct fake_device *device)
{
	struct taker *taker = device->priv;

	kthread_run(take_back, taker, "kt_taker");
	wait_for_completion(&taker->begun);
	wait_for_completion_timeout(&taker->done, HZ / 4);
}

static void disassociated_while_mapping(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct taker taker = { .device = &t->device->ib };
	u32 __user *at;
	struct file *filp;
	u32 *page, value;
	u64 addr;

	init_completion(&taker.begun);
	init_completion(&taker.done);
	t->device->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, t->device->page);
	page = page_address(t->device->page);
	filp = anon_inode_getfile("[kt_uverbs]", &map_fops, file_of(t), O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	t->device->meanwhile = before_it_maps;
	t->device->priv = &taker;
	addr = vm_mmap(filp, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	wait_for_completion(&taker.done);
	at = u64_to_user_ptr(addr);
	KUNIT_EXPECT_EQ(test, put_user(1, at), 0);
	KUNIT_EXPECT_EQ(test, get_user(value, at), 0);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(*page), 0);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	fput(filp);
	flush_delayed_fput();
	__free_page(t->device->page);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(opened_while_going),
	KUNIT_CASE(number_of_a_device),
	KUNIT_CASE(kept_objects),
	KUNIT_CASE(given_up_for_kept_objects),
	KUNIT_CASE(context_of_a_file),
	KUNIT_CASE(listed),
	KUNIT_CASE(revoked),
	KUNIT_CASE(disassociated),
	KUNIT_CASE(disassociated_while_mapping),
	{}
};

static struct kunit_suite file_suite = {
	.name = "rdma_uverbs_file",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = file_cases,
};

kunit_test_suite(file_suite);
