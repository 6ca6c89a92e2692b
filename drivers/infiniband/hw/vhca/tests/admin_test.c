// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Admin queue engine with a fake device that completes commands in time, late, twice, out of order,
 * with the id of another command, or not at all.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

#include "../cmd/cmd.h"
#include "../hw/admin.h"
#include "../hw/names.h"
#include "../hw/ring.h"
#include "vhca_test.h"

#define LOG		2
#define ENTRIES		(1U << LOG)
/* Not reached even on a busy host; tests of timeouts set a shorter one. */
#define TIMEOUT		(600 * HZ)
#define SHORT_TIMEOUT	msecs_to_jiffies(100)

/*
 * The fake device. In automatic mode a kick queues work that completes every command, with the
 * first byte of the request as status and the eight bytes after it as response. Without interrupts
 * the completions are written before the kick returns.
 */
struct fake {
	struct vhca_admin aq;
	struct kunit *test;
	bool answers;
	bool interrupts;	/* poll after each completion, as an interrupt handler does */
	u32 kicked;
	u32 fetched;
	u64 written;
	struct completion kick_seen;
	struct work_struct work;
	unsigned int timed_out;
	unsigned int stopped;
};

static struct fake *to_fake(struct vhca_admin *aq)
{
	return container_of(aq, struct fake, aq);
}

static const struct vhca_asqe *fetch(struct fake *f)
{
	return &f->aq.sq[vhca_ring_slot(f->fetched++, LOG)];
}

static void write_answer(struct fake *f, u16 id, u8 status, u64 value)
{
	struct vhca_acqe *e = &f->aq.cq[vhca_ring_slot(f->written, LOG)];

	*e->resp = 0;
	memcpy(e->resp, &value, sizeof(value));
	e->cmd_id = cpu_to_le16(id);
	e->status = status;
	e->bad_field = cpu_to_le16(VHCA_NO_FIELD);
	/* As the device does: the phase last. */
	smp_store_release(&e->phase, vhca_ring_lap(f->written, LOG));
	f->written++;
	if (f->interrupts)
		vhca_admin_poll(&f->aq);
}

static void answer_one(struct fake *f)
{
	const struct vhca_asqe *cmd = fetch(f);
	u64 value;

	memcpy(&value, cmd->req + 8, sizeof(value));
	write_answer(f, le16_to_cpu(cmd->cmd_id), cmd->req[0], value);
}

static void answer_all(struct work_struct *work)
{
	struct fake *f = container_of(work, struct fake, work);

	while (f->fetched != READ_ONCE(f->kicked))
		answer_one(f);
}

static void fake_kick(struct vhca_admin *aq, u32 tail)
{
	struct fake *f = to_fake(aq);

	WRITE_ONCE(f->kicked, tail);
	if (f->answers && f->interrupts)
		queue_work(system_unbound_wq, &f->work);
	else if (f->answers)
		answer_all(&f->work);
	complete(&f->kick_seen);
}

static void fake_timed_out(struct vhca_admin *aq, u8 opcode)
{
	to_fake(aq)->timed_out++;
	vhca_admin_fail(aq);
}

static void fake_wait_stopped(struct vhca_admin *aq)
{
	to_fake(aq)->stopped++;
}

static const struct vhca_admin_ops fake_ops = {
	.kick = fake_kick,
	.timed_out = fake_timed_out,
	.wait_stopped = fake_wait_stopped,
};

static int admin_test_init(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct device *dev = vhca_test_device(test);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	init_completion(&f->kick_seen);
	INIT_WORK(&f->work, answer_all);
	KUNIT_ASSERT_EQ(test, vhca_admin_init(&f->aq, dev, &fake_ops, LOG, TIMEOUT), 0);
	f->answers = true;
	f->interrupts = true;
	f->aq.polling = false;
	test->priv = f;
	return 0;
}

static void admin_test_exit(struct kunit *test)
{
	struct fake *f = test->priv;

	flush_work(&f->work);
	vhca_admin_exit(&f->aq);
}

static int exec(struct fake *f, u8 status, u64 value, struct vhca_acqe *comp)
{
	struct vhca_asqe cmd = { .opcode = VHCA_CMD_NOP };

	cmd.req[0] = status;
	memcpy(cmd.req + 8, &value, sizeof(value));
	return vhca_admin_exec(&f->aq, &cmd, comp);
}

static u64 answer_value(const struct vhca_acqe *comp)
{
	u64 value;

	memcpy(&value, comp->resp, sizeof(value));
	return value;
}

/* A thread that runs a command. */
struct caller {
	struct fake *f;
	u64 value;
	int err;
	struct vhca_acqe comp;
	struct completion done;
	struct work_struct work;
};

static void call(struct work_struct *work)
{
	struct caller *c = container_of(work, struct caller, work);

	c->err = exec(c->f, 0, c->value, &c->comp);
	complete(&c->done);
}

static struct caller *start_caller(struct fake *f, u64 value)
{
	struct caller *c = kunit_kzalloc(f->test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(f->test, c);
	c->f = f;
	c->value = value;
	init_completion(&c->done);
	INIT_WORK(&c->work, call);
	queue_work(system_unbound_wq, &c->work);
	return c;
}

static void test_many_laps(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;
	u64 i;

	for (i = 0; i < 10 * ENTRIES + 1; i++) {
		KUNIT_ASSERT_EQ(test, exec(f, 0, 1000 + i, &comp), 0);
		KUNIT_ASSERT_EQ(test, answer_value(&comp), 1000 + i);
	}
	KUNIT_EXPECT_EQ(test, f->aq.stats.completed, i);
}

static void test_polling_without_interrupts(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	f->interrupts = false;
	f->aq.polling = true;
	KUNIT_ASSERT_EQ(test, exec(f, 0, 7, &comp), 0);
	KUNIT_EXPECT_EQ(test, answer_value(&comp), 7);
	KUNIT_EXPECT_EQ(test, f->aq.stats.lost_irq, 0);
}

static void test_refusal_is_an_answer(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	KUNIT_ASSERT_EQ(test, exec(f, VHCA_ST_BUSY, 0, &comp), 0);
	KUNIT_EXPECT_EQ(test, comp.status, VHCA_ST_BUSY);
}

static void test_out_of_order(struct kunit *test)
{
	struct fake *f = test->priv;
	struct caller *c[ENTRIES];
	const struct vhca_asqe *cmd[ENTRIES];
	u64 value;

	f->answers = false;
	for (int i = 0; i < ENTRIES; i++) {
		c[i] = start_caller(f, 100 + i);
		wait_for_completion(&f->kick_seen);
		cmd[i] = fetch(f);
	}
	for (int i = ENTRIES - 1; i >= 0; i--) {
		memcpy(&value, cmd[i]->req + 8, sizeof(value));
		write_answer(f, le16_to_cpu(cmd[i]->cmd_id), 0, value);
	}
	for (int i = 0; i < ENTRIES; i++) {
		wait_for_completion(&c[i]->done);
		KUNIT_EXPECT_EQ(test, c[i]->err, 0);
		KUNIT_EXPECT_EQ(test, answer_value(&c[i]->comp), 100 + i);
	}
}

/* Starts more callers than there are slots; as many commands as there are slots are submitted. */
static void fill_ring(struct fake *f, struct caller **c, int callers)
{
	f->answers = false;
	for (int i = 0; i < callers; i++)
		c[i] = start_caller(f, i);
	for (int i = 0; i < ENTRIES; i++)
		wait_for_completion(&f->kick_seen);
}

static void test_more_callers_than_slots(struct kunit *test)
{
	struct fake *f = test->priv;
	struct caller *c[3 * ENTRIES];

	fill_ring(f, c, ARRAY_SIZE(c));
	/* The ring is full: no further command is submitted until one is completed. */
	KUNIT_EXPECT_EQ(test, f->kicked, ENTRIES);
	for (int i = 0; i < ARRAY_SIZE(c); i++) {
		answer_one(f);
		if (i < ARRAY_SIZE(c) - ENTRIES)
			wait_for_completion(&f->kick_seen);
	}
	for (int i = 0; i < ARRAY_SIZE(c); i++) {
		wait_for_completion(&c[i]->done);
		KUNIT_EXPECT_EQ(test, c[i]->err, 0);
		KUNIT_EXPECT_EQ(test, answer_value(&c[i]->comp), i);
	}
}

static void test_duplicate(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;
	u16 id;

	KUNIT_ASSERT_EQ(test, exec(f, 0, 1, &comp), 0);
	id = le16_to_cpu(comp.cmd_id);
	write_answer(f, id, 0, 99);
	KUNIT_EXPECT_EQ(test, f->aq.stats.duplicate, 1);
	KUNIT_ASSERT_EQ(test, exec(f, 0, 2, &comp), 0);
	KUNIT_EXPECT_EQ(test, answer_value(&comp), 2);
}

static void test_stale(struct kunit *test)
{
	struct fake *f = test->priv;
	const struct vhca_asqe *cmd;
	struct vhca_acqe comp;
	struct caller *c;
	u16 old, id;

	KUNIT_ASSERT_EQ(test, exec(f, 0, 1, &comp), 0);
	old = le16_to_cpu(comp.cmd_id);
	f->answers = false;
	reinit_completion(&f->kick_seen);
	c = start_caller(f, 5);
	wait_for_completion(&f->kick_seen);
	cmd = fetch(f);
	id = le16_to_cpu(cmd->cmd_id);
	/* The same slot has a new command, which the completion of the old one must not end. */
	KUNIT_ASSERT_EQ(test, old & (ENTRIES - 1), id & (ENTRIES - 1));
	write_answer(f, old, 0, 66);
	KUNIT_EXPECT_EQ(test, f->aq.stats.stale, 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&c->done));
	write_answer(f, id, 0, 5);
	wait_for_completion(&c->done);
	KUNIT_EXPECT_EQ(test, answer_value(&c->comp), 5);
}

static void test_unknown(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	KUNIT_ASSERT_EQ(test, exec(f, 0, 1, &comp), 0);
	/* A generation of this slot that was not used yet. */
	write_answer(f, le16_to_cpu(comp.cmd_id) + 3 * ENTRIES, 0, 0);
	KUNIT_EXPECT_EQ(test, f->aq.stats.unknown, 1);
	KUNIT_ASSERT_EQ(test, exec(f, 0, 2, &comp), 0);
	KUNIT_EXPECT_EQ(test, answer_value(&comp), 2);
}

static void test_lost_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	f->aq.timeout = SHORT_TIMEOUT;
	f->interrupts = false;
	KUNIT_ASSERT_EQ(test, exec(f, 0, 3, &comp), 0);
	KUNIT_EXPECT_EQ(test, answer_value(&comp), 3);
	KUNIT_EXPECT_EQ(test, f->aq.stats.lost_irq, 1);
	KUNIT_EXPECT_EQ(test, f->timed_out, 0);
	KUNIT_EXPECT_FALSE(test, f->aq.closed);
}

/* An early completion is found by polling before its interrupt. */
static void test_answered_awake(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	f->aq.timeout = SHORT_TIMEOUT;
	f->aq.awake_us = USEC_PER_SEC;
	f->interrupts = false;
	KUNIT_ASSERT_EQ(test, exec(f, 0, 3, &comp), 0);
	KUNIT_EXPECT_EQ(test, answer_value(&comp), 3);
	KUNIT_EXPECT_EQ(test, f->aq.stats.lost_irq, 0);
}

static void test_stuck(struct kunit *test)
{
	struct fake *f = test->priv;
	struct caller *c;

	f->answers = false;
	f->interrupts = false;
	KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
	c = start_caller(f, 1);
	wait_for_completion(&f->kick_seen);
	KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
	answer_one(f);
	/* At the first check its interrupt may still come. */
	KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
	KUNIT_EXPECT_TRUE(test, vhca_admin_stuck(&f->aq));
	vhca_admin_rescue(&f->aq);
	wait_for_completion(&c->done);
	KUNIT_EXPECT_EQ(test, f->aq.stats.lost_irq, 1);
	KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
}

static void test_timeout(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	f->aq.timeout = SHORT_TIMEOUT;
	f->answers = false;
	KUNIT_EXPECT_EQ(test, exec(f, 0, 1, &comp), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->timed_out, 1);
	/* The caller frees memory that the command named, so the device must have stopped. */
	KUNIT_EXPECT_EQ(test, f->stopped, 1);
	/* A completion after that belongs to no command. */
	answer_one(f);
	KUNIT_EXPECT_EQ(test, f->aq.stats.completed, 0);
	KUNIT_EXPECT_EQ(test, exec(f, 0, 1, &comp), -EIO);
}

static void test_timeout_while_polling(struct kunit *test)
{
	struct fake *f = test->priv;
	struct vhca_acqe comp;

	f->aq.timeout = SHORT_TIMEOUT;
	f->answers = false;
	f->aq.polling = true;
	KUNIT_EXPECT_EQ(test, exec(f, 0, 1, &comp), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->stopped, 1);
}

static void test_fail_wakes_everybody(struct kunit *test)
{
	struct fake *f = test->priv;
	struct caller *c[ENTRIES + 2];

	fill_ring(f, c, ARRAY_SIZE(c));
	vhca_admin_fail(&f->aq);
	for (int i = 0; i < ARRAY_SIZE(c); i++) {
		wait_for_completion(&c[i]->done);
		KUNIT_EXPECT_EQ(test, c[i]->err, -EIO);
	}
	KUNIT_EXPECT_EQ(test, f->timed_out, 0);
	KUNIT_EXPECT_EQ(test, f->kicked, ENTRIES);
}

static void test_wild_device_is_bounded(struct kunit *test)
{
	struct fake *f = test->priv;

	/* Every entry of two laps seems new, as if the device wrote without end. */
	f->interrupts = false;
	for (int i = 0; i < ENTRIES; i++)
		f->aq.cq[i].phase = 1;
	KUNIT_EXPECT_EQ(test, vhca_admin_poll(&f->aq), ENTRIES);
	KUNIT_EXPECT_EQ(test, vhca_admin_poll(&f->aq), 0);
}

/*
 * A queue whose counts exceed the 32 bits of the tail register, and whose ids wrap. The lap is an
 * even one, so that no entry of the cleared ring is valid.
 */
static void count_from(struct fake *f, u64 start)
{
	f->kicked = start;
	f->fetched = start;
	f->written = start;
	f->aq.tail = start;
	f->aq.head = start;
	for (unsigned int i = 0; i < ENTRIES; i++)
		f->aq.slots[i].cmd_id = (u16)-(2 * ENTRIES) + i;
}

static void test_counts_wrap(struct kunit *test)
{
	const u64 start = BIT_ULL(32) - 2 * ENTRIES;
	struct caller *callers[ENTRIES];
	struct fake *f = test->priv;
	struct vhca_acqe comp;
	u16 former;

	count_from(f, start);
	former = f->aq.slots[0].cmd_id;
	/* One command after the other until half a lap before the wrap. */
	for (unsigned int i = 0; i < 2 * ENTRIES - ENTRIES / 2; i++) {
		KUNIT_ASSERT_EQ(test, exec(f, 0, i, &comp), 0);
		KUNIT_ASSERT_EQ(test, answer_value(&comp), i);
	}
	/* Full rings from then on, with all completions after the submissions. */
	for (unsigned int lap = 0; lap < 3; lap++) {
		flush_work(&f->work);
		f->answers = false;
		for (unsigned int i = 0; i < ENTRIES; i++) {
			reinit_completion(&f->kick_seen);
			callers[i] = start_caller(f, 100 + i);
			wait_for_completion(&f->kick_seen);
		}
		KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
		f->interrupts = false;
		answer_one(f);
		KUNIT_EXPECT_FALSE(test, vhca_admin_stuck(&f->aq));
		KUNIT_EXPECT_TRUE(test, vhca_admin_stuck(&f->aq));
		f->interrupts = true;
		answer_all(&f->work);
		for (unsigned int i = 0; i < ENTRIES; i++) {
			wait_for_completion(&callers[i]->done);
			KUNIT_EXPECT_EQ(test, callers[i]->err, 0);
			KUNIT_EXPECT_EQ(test, answer_value(&callers[i]->comp), 100 + i);
		}
		f->answers = true;
	}
	KUNIT_EXPECT_EQ(test, f->written, start + 2 * ENTRIES - ENTRIES / 2 + 3 * ENTRIES);
	KUNIT_EXPECT_EQ(test, f->aq.head, f->written);
	KUNIT_EXPECT_EQ(test, (u32)f->aq.tail, (u32)f->written);
	/* An id from before the wrap is recognised as stale. */
	KUNIT_EXPECT_LT(test, f->aq.slots[0].cmd_id, former);
	write_answer(f, former, 0, 0);
	KUNIT_EXPECT_EQ(test, f->aq.stats.stale, 1);
	KUNIT_EXPECT_EQ(test, f->aq.stats.unknown, 0);
	KUNIT_EXPECT_EQ(test, f->aq.stats.duplicate, 0);
}

static void test_names(struct kunit *test)
{
	const u16 req = offsetof(struct vhca_asqe, req);

	KUNIT_EXPECT_STREQ(test, vhca_cmd_name(VHCA_CMD_CREATE_QP), "CREATE_QP");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_name(0x77), "unknown command");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_name(0xff), "unknown command");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_field(VHCA_CMD_CREATE_QP, req +
			   offsetof(struct vhca_create_qp_hw_req, log_sq_blocks)),
			   "log_sq_blocks");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_field(VHCA_CMD_CREATE_QP, req +
			   offsetof(struct vhca_create_qp_hw_req, rq.offset) + 3),
			   "receive ring offset");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_field(VHCA_CMD_MODIFY_QP, req +
			   offsetof(struct vhca_modify_qp_req, attr.av.dlid)), "dlid");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_field(VHCA_CMD_RESIZE_SRQ, req +
			   offsetof(struct vhca_resize_srq_hw_req, log_strides)), "log_strides");
	KUNIT_EXPECT_STREQ(test, vhca_cmd_field(VHCA_CMD_ATTACH_MCG, req + 15), "mgid");
	KUNIT_EXPECT_NULL(test, vhca_cmd_field(VHCA_CMD_CREATE_QP, VHCA_NO_FIELD));
	KUNIT_EXPECT_NULL(test, vhca_cmd_field(0xff, req));
	KUNIT_EXPECT_NULL(test, vhca_cmd_field(VHCA_CMD_NOP, req));
}

static struct kunit_case admin_cases[] = {
	KUNIT_CASE(test_many_laps),
	KUNIT_CASE(test_polling_without_interrupts),
	KUNIT_CASE(test_refusal_is_an_answer),
	KUNIT_CASE(test_out_of_order),
	KUNIT_CASE(test_more_callers_than_slots),
	KUNIT_CASE(test_duplicate),
	KUNIT_CASE(test_stale),
	KUNIT_CASE(test_unknown),
	KUNIT_CASE(test_lost_interrupt),
	KUNIT_CASE(test_answered_awake),
	KUNIT_CASE(test_stuck),
	KUNIT_CASE(test_timeout),
	KUNIT_CASE(test_timeout_while_polling),
	KUNIT_CASE(test_fail_wakes_everybody),
	KUNIT_CASE(test_wild_device_is_bounded),
	KUNIT_CASE(test_counts_wrap),
	KUNIT_CASE(test_names),
	{}
};

struct kunit_suite vhca_admin_suite = {
	.name = "vhca_admin",
	.init = admin_test_init,
	.exit = admin_test_exit,
	.test_cases = admin_cases,
};
