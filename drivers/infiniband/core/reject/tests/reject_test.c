// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: reasons of refused requests.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <rdma/rdma_reject.h>

/* Returns what rdma_reject_show() prints of a log. */
static const char *shown(struct rdma_reject_log *log)
{
	static char text[RDMA_REJECT_KEPT * (RDMA_REJECT_TEXT + 64)];
	struct seq_file seq = { .buf = text, .size = sizeof(text) };

	memset(text, 0, sizeof(text));
	rdma_reject_show(&seq, log);
	return text;
}

/* Returns the reason with this number, "" if it is not recorded. */
static const char *text_of(struct rdma_reject_log *log, s64 number)
{
	static char text[RDMA_REJECT_TEXT];

	return rdma_reject_text(log, number, text, sizeof(text)) ? text : "";
}

static struct rdma_reject_log *new_log(struct kunit *test)
{
	struct rdma_reject_log *log = kunit_kzalloc(test, sizeof(*log), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, log);
	return log;
}

static void reason_goes_to_the_open_file(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;

	KUNIT_EXPECT_EQ(test, rdma_refuse(-EINVAL, "nobody asked"), -EINVAL);
	rdma_reject_enter(log, &scope);
	KUNIT_EXPECT_EQ(test, rdma_refuse(-ENOMEM, "max_send_wr %u > device limit %u", 70000,
					  32768), -ENOMEM);
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_EQ(test, rdma_refuse(-EINVAL, "too late"), -EINVAL);

	KUNIT_EXPECT_EQ(test, atomic64_read(&log->count), 1);
	KUNIT_EXPECT_EQ(test, log->ring[0].err, -ENOMEM);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "max_send_wr 70000 > device limit 32768");
	KUNIT_EXPECT_NOT_NULL(test, strstr(shown(log),
					   " -12 max_send_wr 70000 > device limit 32768\n"));
}

static void last_reasons_are_kept(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	const char *text;

	rdma_reject_enter(log, &scope);
	for (int i = 0; i < RDMA_REJECT_KEPT + 3; i++)
		rdma_refuse(-EINVAL, "reason <%d>", i);
	rdma_reject_leave(&scope);
	text = shown(log);
	KUNIT_EXPECT_NULL(test, strstr(text, "<2>"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "<3>"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "<10>"));
	KUNIT_EXPECT_TRUE(test, strstr(text, "<3>") < strstr(text, "<10>"));
	KUNIT_EXPECT_EQ(test, strncmp(text, "rdma-reject:\t3 ", 15), 0);
}

static void long_reason_is_cut(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	char text[2 * RDMA_REJECT_TEXT];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	rdma_reject_enter(log, &scope);
	rdma_refuse(-EINVAL, "%s", text);
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_EQ(test, strlen(text_of(log, 0)), RDMA_REJECT_TEXT - 1);
}

/* Values of every size, in an order that leaves gaps, from a module that stays loaded. */
static void values_are_kept_until_read(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	char name[8] = "cqe";
	u64 wide = 0x123456789abcdef0;
	u8 narrow = 200;

	log->stays[1] = THIS_MODULE;
	rdma_reject_enter(log, &scope);
	rdma_refuse(-EINVAL, "%s %u > %s%llx, %d%% %s %zu %#x", name, narrow, "limit ", wide, -3,
		    (const char *)NULL, sizeof(wide), 0xffffffff);
	strscpy(name, "gone");
	rdma_refuse(-EINVAL, "no value");
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0),
			   "cqe 200 > limit 123456789abcdef0, -3% (null) 8 0xffffffff");
	KUNIT_EXPECT_STREQ(test, text_of(log, 1), "no value");
	KUNIT_EXPECT_EQ(test, rdma_reject_text(log, 2, name, sizeof(name)), 0);
}

/* The target of a pointer may not exist any more when the reason is read. */
static void pointers_are_followed_at_once(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	u8 gid[16] = { 0xff, 0x0e, [15] = 1 };

	log->stays[1] = THIS_MODULE;
	rdma_reject_enter(log, &scope);
	rdma_refuse(-EINVAL, "gid %pI6c, lid %u", gid, 7);
	memset(gid, 0, sizeof(gid));
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "gid ff0e::1, lid 7");
}

/* The largest number of values of a reason. */
static void as_many_values_as_can_be_kept(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	u64 one = 1;

	log->stays[1] = THIS_MODULE;
	rdma_reject_enter(log, &scope);
	rdma_refuse(-EINVAL, "%llu %llu %u %llu %d%%%s%llu <%5.2s>", one, one, 2, one << 40, -4,
		    "of", one, "xyz");
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "1 1 2 1099511627776 -4%of1 <   xy>");
}

/* Constant text is neither copied nor formatted. */
static void constant_text_is_kept_by_its_place(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	char name[] = "cqe";

	log->stays[1] = THIS_MODULE;
	rdma_reject_enter(log, &scope);
	rdma_refuse(-EINVAL, "%s %u", "cqe", 1);
	rdma_refuse(-EINVAL, "%s %u", name, 1);
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_NOT_NULL(test, log->ring[0].reason);
	KUNIT_EXPECT_NULL(test, log->ring[1].reason);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "cqe 1");
	KUNIT_EXPECT_STREQ(test, text_of(log, 1), "cqe 1");
}

/* A caller that has the request needs no look-up by task. */
static void request_is_refused_without_its_task(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;

	rdma_reject_begin(log, &scope);
	KUNIT_EXPECT_FALSE(test, scope.told);
	rdma_refuse(-EINVAL, "nobody's");
	KUNIT_EXPECT_EQ(test, rdma_refuse_in(&scope, -EIO, "direct"), -EIO);
	KUNIT_EXPECT_TRUE(test, scope.told);
	rdma_reject_attach(&scope);
	rdma_refuse(-EINVAL, "attached");
	rdma_reject_leave(&scope);
	rdma_refuse(-EINVAL, "nobody's");
	KUNIT_EXPECT_EQ(test, rdma_refuse_in(NULL, -EIO, "no request"), -EIO);
	KUNIT_EXPECT_EQ(test, atomic64_read(&log->count), 2);
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "direct");
	KUNIT_EXPECT_STREQ(test, text_of(log, 1), "attached");
}

/* A module may be unloaded when its reason is read. */
static void strange_modules_reason_is_text(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;
	struct {
		struct rdma_reason reason;
		char fmt[16];
	} gone = {
		.reason = {
			.fmt = gone.fmt,
			.owner = (const struct module *)&gone,
			.kinds = { sizeof(int) },
		},
		.fmt = "lid %u",
	};

	rdma_reject_enter(log, &scope);
	rdma_refuse_for(&scope, -EINVAL, &gone.reason, 7ULL);
	rdma_reject_leave(&scope);
	strscpy(gone.fmt, "gone");
	KUNIT_EXPECT_STREQ(test, text_of(log, 0), "lid 7");
}

static void inner_request_has_a_log_of_its_own(struct kunit *test)
{
	struct rdma_reject_log *outer_log = new_log(test);
	struct rdma_reject_log *inner_log = new_log(test);
	struct rdma_reject_scope outer, inner;

	rdma_reject_enter(outer_log, &outer);
	rdma_reject_enter(inner_log, &inner);
	rdma_refuse(-EINVAL, "inner");
	rdma_reject_leave(&inner);
	rdma_refuse(-EINVAL, "outer");
	rdma_reject_leave(&outer);
	KUNIT_EXPECT_EQ(test, atomic64_read(&inner_log->count), 1);
	KUNIT_EXPECT_STREQ(test, text_of(inner_log, 0), "inner");
	KUNIT_EXPECT_EQ(test, atomic64_read(&outer_log->count), 1);
	KUNIT_EXPECT_STREQ(test, text_of(outer_log, 0), "outer");
}

static void quiet_request_leaves_no_trace(struct kunit *test)
{
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;

	rdma_reject_enter(log, &scope);
	scope.quiet = true;
	KUNIT_EXPECT_EQ(test, rdma_refuse(-EOPNOTSUPP, "probe"), -EOPNOTSUPP);
	scope.quiet = false;
	KUNIT_EXPECT_EQ(test, atomic64_read(&log->count), 0);
	rdma_refuse(-EINVAL, "request");
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_EQ(test, atomic64_read(&log->count), 1);

	/* Without a log the reason goes only to the trace point. */
	rdma_reject_enter(NULL, &scope);
	KUNIT_EXPECT_EQ(test, rdma_refuse(-EINVAL, "no file"), -EINVAL);
	rdma_reject_leave(&scope);
}

struct interrupt {
	struct irq_work work;
	struct completion done;
};

static void refuse_in_interrupt(struct irq_work *work)
{
	struct interrupt *interrupt = container_of(work, struct interrupt, work);

	rdma_refuse(-EIO, "interrupt");
	complete(&interrupt->done);
}

static void interrupts_are_not_the_request(struct kunit *test)
{
	struct interrupt interrupt = { .work = IRQ_WORK_INIT_HARD(refuse_in_interrupt) };
	struct rdma_reject_log *log = new_log(test);
	struct rdma_reject_scope scope;

	init_completion(&interrupt.done);
	rdma_reject_enter(log, &scope);
	irq_work_queue(&interrupt.work);
	/* Busy waiting, so that the interrupt hits this task. */
	while (!try_wait_for_completion(&interrupt.done))
		cpu_relax();
	rdma_reject_leave(&scope);
	irq_work_sync(&interrupt.work);
	KUNIT_EXPECT_EQ(test, atomic64_read(&log->count), 0);
}

#define CROWD 128
#define CROWD_TURNS 200

/* Number of tasks of the crowd that have not begun their first request, and the wait for them. */
static atomic_t crowd_outside;
static struct completion crowd_inside;

/**
 * struct crowd_member - a task with a file of its own
 * @log: the file's log
 * @number: the number in its reasons
 * @strange: number of reasons of other tasks in its log
 * @missing: number of its reasons that are missing
 * @done: completed when it has finished
 */
struct crowd_member {
	struct rdma_reject_log log;
	int number;
	unsigned int strange;
	unsigned int missing;
	struct completion done;
};

static int crowd_thread(void *context)
{
	struct crowd_member *member = context;
	char mine[16], text[RDMA_REJECT_TEXT];

	snprintf(mine, sizeof(mine), "of %d", member->number);
	for (int i = 0; i < CROWD_TURNS; i++) {
		struct rdma_reject_scope scope;
		s64 count;

		rdma_reject_enter(&member->log, &scope);
		if (!i && atomic_dec_and_test(&crowd_outside))
			complete_all(&crowd_inside);
		wait_for_completion(&crowd_inside);
		cond_resched();
		rdma_refuse(-EINVAL, "of %d", member->number);
		rdma_reject_leave(&scope);
		count = atomic64_read(&member->log.count);
		if (count != i + 1)
			member->missing++;
		else if (!rdma_reject_text(&member->log, i, text, sizeof(text)) ||
			 strcmp(text, mine))
			member->strange++;
	}
	complete(&member->done);
	return 0;
}

/* At one time all requests run, so that some find the first slots of their tasks in use. */
static void many_requests_do_not_mix(struct kunit *test)
{
	struct crowd_member *crowd = kunit_kcalloc(test, CROWD, sizeof(*crowd), GFP_KERNEL);
	unsigned int strange = 0, missing = 0;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	atomic_set(&crowd_outside, CROWD);
	init_completion(&crowd_inside);
	for (int i = 0; i < CROWD; i++) {
		crowd[i].number = i;
		init_completion(&crowd[i].done);
		kthread_run(crowd_thread, &crowd[i], "kt_reject%d", i);
	}
	for (int i = 0; i < CROWD; i++) {
		wait_for_completion(&crowd[i].done);
		strange += crowd[i].strange;
		missing += crowd[i].missing;
	}
	KUNIT_EXPECT_EQ(test, strange, 0);
	KUNIT_EXPECT_EQ(test, missing, 0);
}

/**
 * struct shared_file - a file that several tasks use at once
 * @log: its log
 * @left: number of tasks that have not finished
 * @done: completed when none is left
 */
struct shared_file {
	struct rdma_reject_log log;
	atomic_t left;
	struct completion done;
};

static int sharing_thread(void *context)
{
	struct shared_file *file = context;
	struct rdma_reject_scope scope;

	rdma_reject_enter(&file->log, &scope);
	for (int i = 0; i < CROWD_TURNS; i++)
		rdma_refuse(-EINVAL, "%0" __stringify(RDMA_REJECT_TEXT) "d", i % 10);
	rdma_reject_leave(&scope);
	if (atomic_dec_and_test(&file->left))
		complete(&file->done);
	return 0;
}

/* However the tasks interleave, each reason is shown completely. */
static void shared_log_shows_whole_reasons(struct kunit *test)
{
	struct shared_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	atomic_set(&file->left, 8);
	init_completion(&file->done);
	for (int i = 0; i < 8; i++)
		kthread_run(sharing_thread, file, "kt_share%d", i);
	do {
		for (const char *line = shown(&file->log); *line; line = strchr(line, '\n') + 1) {
			const char *text = strstr(line, " -22 ");

			KUNIT_ASSERT_NOT_NULL(test, text);
			KUNIT_EXPECT_EQ(test, strcspn(text + 5, "\n"), RDMA_REJECT_TEXT - 1);
		}
		cond_resched();
	} while (!try_wait_for_completion(&file->done));
	KUNIT_EXPECT_EQ(test, atomic64_read(&file->log.count), 8 * CROWD_TURNS);
}

static struct kunit_case reject_cases[] = {
	KUNIT_CASE(reason_goes_to_the_open_file),
	KUNIT_CASE(last_reasons_are_kept),
	KUNIT_CASE(long_reason_is_cut),
	KUNIT_CASE(values_are_kept_until_read),
	KUNIT_CASE(pointers_are_followed_at_once),
	KUNIT_CASE(as_many_values_as_can_be_kept),
	KUNIT_CASE(constant_text_is_kept_by_its_place),
	KUNIT_CASE(request_is_refused_without_its_task),
	KUNIT_CASE(strange_modules_reason_is_text),
	KUNIT_CASE(inner_request_has_a_log_of_its_own),
	KUNIT_CASE(quiet_request_leaves_no_trace),
	KUNIT_CASE(interrupts_are_not_the_request),
	KUNIT_CASE(many_requests_do_not_mix),
	KUNIT_CASE(shared_log_shows_whole_reasons),
	{}
};

static struct kunit_suite reject_suite = {
	.name = "ib_core_reject",
	.test_cases = reject_cases,
};

kunit_test_suite(reject_suite);

MODULE_DESCRIPTION("KUnit tests of the reasons of refused requests");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
