// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * While it is loaded, KCOV traces what work queues execute, of any module, for the process that has
 * enabled remote sections with this module's number: the fuzzer of the user API, which loads it
 * then.  The modules of these works need no change.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kcov.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#define NUMBER		1	/* as in the fuzzer's cover.c */
#define SECTIONS	16	/* at a time; further works are not traced */

static struct task_struct *who[SECTIONS];	/* has begun a section */
static bool on;

static void work_begins(void *data, struct work_struct *work)
{
	if (!READ_ONCE(on) || !in_task())
		return;
	for (unsigned int i = 0; i < SECTIONS; i++) {
		if (cmpxchg(&who[i], NULL, current))
			continue;
		kcov_remote_start_common(NUMBER);
		return;
	}
}

static void work_ends(void *data, struct work_struct *work, work_func_t function)
{
	for (unsigned int i = 0; i < SECTIONS; i++) {
		if (READ_ONCE(who[i]) != current)
			continue;
		kcov_remote_stop();
		/* kcov_exit() sees the place free when the section is over. */
		smp_store_release(&who[i], NULL);
		return;
	}
}

/*
 * A section needs a buffer, which KCOV allocates without being able to sleep there, and keeps for
 * the next section.  So the most sections are begun at once here, before works begin any.
 */
static atomic_t missing;
static DECLARE_COMPLETION(all_begun);
static DECLARE_COMPLETION(ended);

static int begin_one(void *data)
{
	kcov_remote_start_common(NUMBER);
	if (atomic_dec_and_test(&missing))
		complete_all(&all_begun);
	else
		wait_for_completion(&all_begun);
	kcov_remote_stop();
	kthread_complete_and_exit(&ended, 0);
}

static int make_buffers(void)
{
	struct task_struct *task;
	int ret = 0;

	atomic_set(&missing, SECTIONS);
	for (unsigned int i = 0; i < SECTIONS; i++) {
		task = kthread_run(begin_one, NULL, "rdma_kcov/%u", i);
		if (!IS_ERR(task))
			continue;
		ret = PTR_ERR(task);
		complete(&ended);
		if (atomic_dec_and_test(&missing))
			complete_all(&all_begun);
	}
	for (unsigned int i = 0; i < SECTIONS; i++)
		wait_for_completion(&ended);
	return ret;
}

/* Trace points that the kernel does not export to modules by name. */
static struct tracepoint *begins, *ends;

static void find(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "workqueue_execute_start"))
		begins = point;
	else if (!strcmp(point->name, "workqueue_execute_end"))
		ends = point;
}

static int __init kcov_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find, NULL);
	if (!begins || !ends)
		return -ENOENT;
	ret = make_buffers();
	if (ret)
		return ret;
	ret = tracepoint_probe_register(ends, work_ends, NULL);
	if (ret)
		return ret;
	WRITE_ONCE(on, true);
	ret = tracepoint_probe_register(begins, work_begins, NULL);
	if (ret)
		tracepoint_probe_unregister(ends, work_ends, NULL);
	tracepoint_synchronize_unregister();
	return ret;
}

/* Sections that have begun must end, or their tasks would stay in them. */
static void __exit kcov_exit(void)
{
	WRITE_ONCE(on, false);
	tracepoint_probe_unregister(begins, work_begins, NULL);
	tracepoint_synchronize_unregister();
	for (unsigned int i = 0; i < SECTIONS; i++) {
		/* After this the section is over. */
		while (smp_load_acquire(&who[i]))
			msleep(20);
	}
	tracepoint_probe_unregister(ends, work_ends, NULL);
	tracepoint_synchronize_unregister();
}

module_init(kcov_init);
module_exit(kcov_exit);

MODULE_DESCRIPTION("Tells KCOV what work queues execute");
MODULE_LICENSE("Dual BSD/GPL");
