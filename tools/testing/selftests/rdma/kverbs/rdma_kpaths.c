// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer that asks the subnet manager for paths: writing a number to "run" has THREADS
 * threads make that number of queries in all, up to "window" at a time each, for the path from the
 * first port of the first device to the GID whose lower half is "peer_id". "answered" counts those
 * that got it, "failed" those that got anything else, "wrong" the second callbacks of queries. "ns"
 * is how long it took. When the device is removed, the remaining queries fail.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#define THREADS		8
#define PATIENCE	60000	/* ms; a query is asked again only when it is over */

static ulong peer_id;
module_param(peer_id, ulong, 0644);
MODULE_PARM_DESC(peer_id, "lower half of the other GID");

static uint peer_lid;
module_param(peer_lid, uint, 0644);
MODULE_PARM_DESC(peer_lid, "the LID that its path has to have");

static uint window = 16;
module_param(window, uint, 0444);
MODULE_PARM_DESC(window, "queries that a thread asks before the first of them is answered");

static ulong ns;
module_param(ns, ulong, 0444);
static uint answered, failed, wrong;
module_param(answered, uint, 0444);
module_param(failed, uint, 0444);
module_param(wrong, uint, 0444);

struct asker;

/* A query, and how often its callback was called. */
struct one {
	struct asker *asker;
	atomic_t calls;
};

struct asker {
	struct semaphore window;
	struct completion ended;
	struct one *ones;
	uint n;
};

static struct ib_sa_client sa_client;
static struct ib_device *device;
/* Held for reading by threads that ask through the device. */
static DECLARE_RWSEM(asked_lock);
static struct sa_path_rec wanted;
static atomic_t good, bad, twice;

static void path_found(int status, struct sa_path_rec *resp, unsigned int num_prs, void *context)
{
	struct one *one = context;

	if (atomic_inc_return(&one->calls) != 1) {
		atomic_inc(&twice);
		return;
	}
	if (!status && resp && be32_to_cpu(sa_path_get_dlid(resp)) == peer_lid)
		atomic_inc(&good);
	else
		atomic_inc(&bad);
	up(&one->asker->window);
}

static void ask(struct one *one)
{
	struct sa_path_rec path = wanted;
	struct ib_sa_query *query;
	int id = -ENODEV;

	down_read(&asked_lock);
	if (device)
		id = ib_sa_path_rec_get(&sa_client, device, 1, &path,
					IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
					IB_SA_PATH_REC_NUMB_PATH, PATIENCE, GFP_KERNEL, path_found,
					one, &query);
	up_read(&asked_lock);
	if (id < 0)
		path_found(id, NULL, 0, one);
}

static int ask_all(void *arg)
{
	struct asker *a = arg;

	for (uint i = 0; i < a->n; i++) {
		a->ones[i].asker = a;
		down(&a->window);
		ask(&a->ones[i]);
	}
	/* the last of them have ended when the whole window is free */
	for (uint i = 0; i < window; i++)
		down(&a->window);
	/* the module may be unloaded as soon as this has completed */
	kthread_complete_and_exit(&a->ended, 0);
}

/* Has all threads ask; they have ended when this returns. */
static int ask_with(struct asker *askers, struct one *ones, uint n)
{
	struct task_struct *task;
	uint i, each = n / THREADS;
	int ret = 0;

	for (i = 0; i < THREADS; i++) {
		struct asker *a = &askers[i];

		sema_init(&a->window, window);
		init_completion(&a->ended);
		a->ones = ones + i * each;
		a->n = each;
		task = kthread_run(ask_all, a, "kpaths-%u", i);
		if (IS_ERR(task)) {
			ret = PTR_ERR(task);
			break;
		}
	}
	while (i--)
		wait_for_completion(&askers[i].ended);
	return ret;
}

static int set_run(const char *text, const struct kernel_param *param)
{
	struct asker *askers;
	struct one *ones;
	ktime_t began;
	uint n;
	int ret = kstrtouint(text, 0, &n);

	if (ret || !n || n % THREADS)
		return ret ?: -EINVAL;
	down_read(&asked_lock);
	ret = device ? rdma_query_gid(device, 1, 0, &wanted.sgid) : -ENODEV;
	up_read(&asked_lock);
	if (ret)
		return ret;
	wanted.rec_type = SA_PATH_REC_TYPE_IB;
	wanted.numb_path = 1;
	wanted.dgid.global.subnet_prefix = wanted.sgid.global.subnet_prefix;
	wanted.dgid.global.interface_id = cpu_to_be64(peer_id);
	atomic_set(&good, 0);
	atomic_set(&bad, 0);
	atomic_set(&twice, 0);

	ones = vcalloc(n, sizeof(*ones));
	askers = kcalloc(THREADS, sizeof(*askers), GFP_KERNEL);
	ret = -ENOMEM;
	if (!ones || !askers)
		goto free;
	began = ktime_get();
	ret = ask_with(askers, ones, n);
	ns = ktime_to_ns(ktime_sub(ktime_get(), began));
	answered = atomic_read(&good);
	failed = atomic_read(&bad);
	wrong = atomic_read(&twice);
free:
	kfree(askers);
	vfree(ones);
	return ret;
}

static const struct kernel_param_ops run_ops = { .set = set_run };

static int kpaths_add(struct ib_device *dev)
{
	guard(rwsem_write)(&asked_lock);
	if (!device)
		device = dev;
	return 0;
}

/* Queries under way end with the device, without being waited for here. */
static void kpaths_remove(struct ib_device *dev, void *data)
{
	guard(rwsem_write)(&asked_lock);
	if (device == dev)
		device = NULL;
}

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "number of queries, a multiple of 8");

static struct ib_client kpaths_client = {
	.name = "rdma_kpaths",
	.add = kpaths_add,
	.remove = kpaths_remove,
};

static int __init kpaths_init(void)
{
	int ret;

	ib_sa_register_client(&sa_client);
	ret = ib_register_client(&kpaths_client);
	if (ret)
		ib_sa_unregister_client(&sa_client);
	return ret;
}

static void __exit kpaths_exit(void)
{
	ib_unregister_client(&kpaths_client);
	/* waits for queries that have not ended */
	ib_sa_unregister_client(&sa_client);
}

module_init(kpaths_init);
module_exit(kpaths_exit);
MODULE_DESCRIPTION("Path queries of many threads");
MODULE_LICENSE("Dual BSD/GPL");
