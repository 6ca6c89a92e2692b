// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * States of kernel QPs on a device that the test plays: it records the states to which QPs are
 * moved, and can refuse one of them.
 */
#include <linux/cpumask.h>
#include <linux/debug_locks.h>
#include <linux/kthread.h>

#include "../hw/ring.h"
#include "../verbs/qp.h"
#include "../verbs/srq.h"
#include "test_queues.h"

#define LOG	2
#define TIMEOUT	(600 * HZ)
#define MOVES	4

/**
 * struct player - the device
 * @fetched: number of commands executed
 * @written: number of completions written
 * @refused: state to which it refuses to move a QP, or -1
 * @moves: number of commands that change the QP's state
 * @to: states in these commands
 * @moved: completed with each of them
 */
static struct player {
	u32 fetched;
	u64 written;
	int refused;
	unsigned int moves;
	u8 to[MOVES];
	struct completion moved;
} player;

static bool carry_out(const struct vhca_asqe *cmd)
{
	const struct vhca_modify_qp_req *req = (const void *)cmd->req;

	if (cmd->opcode != VHCA_CMD_MODIFY_QP)
		return true;
	if (player.moves < MOVES)
		player.to[player.moves] = req->attr.state;
	player.moves++;
	complete(&player.moved);
	return req->attr.state != player.refused;
}

static void play_kick(struct vhca_admin *aq, u32 tail)
{
	while (player.fetched != tail) {
		const struct vhca_asqe *cmd = &aq->sq[vhca_ring_slot(player.fetched++, LOG)];
		struct vhca_acqe *e = &aq->cq[vhca_ring_slot(player.written, LOG)];

		e->cmd_id = cmd->cmd_id;
		e->bad_field = cpu_to_le16(VHCA_NO_FIELD);
		e->status = carry_out(cmd) ? VHCA_ST_OK : VHCA_ST_BAD_STATE;
		/* As the device does: the phase last. */
		smp_store_release(&e->phase, vhca_ring_lap(player.written, LOG));
		player.written++;
	}
}

static void play_timed_out(struct vhca_admin *aq, u8 opcode)
{
	vhca_admin_fail(aq);
}

static void play_wait_stopped(struct vhca_admin *aq)
{
}

static const struct vhca_admin_ops play_ops = {
	.kick = play_kick,
	.timed_out = play_timed_out,
	.wait_stopped = play_wait_stopped,
};

static int qp_modify_init(struct kunit *test)
{
	struct vhca_hw *hw;
	struct bench *b;
	int err;

	err = bench_init(test);
	if (err)
		return err;
	b = test->priv;
	hw = &b->dev.hw;
	player = (struct player){ .refused = -1 };
	KUNIT_ASSERT_EQ(test, vhca_admin_init(&hw->admin, hw->dev, &play_ops, LOG, TIMEOUT), 0);
	mutex_init(&b->qp.lock);
	init_waitqueue_head(&b->qpk.wait);
	init_completion(&player.moved);
	b->qp.state = IB_QPS_RTS;
	return 0;
}

static void qp_modify_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	vhca_admin_exit(&b->dev.hw.admin);
	bench_exit(test);
}

static int move(struct bench *b, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return vhca_modify_qp(&b->qp.ibqp, &attr, IB_QP_STATE, NULL);
}

/*
 * A QP with an SRQ is moved to RESET through ERR, and stays in ERR if the device refuses to reset
 * it.
 */
static void test_reset_is_refused(struct kunit *test)
{
	struct vhca_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct bench *b = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	b->qp.ibqp.srq = &srq->ibsrq;
	/* The last-WQE event: the QP holds no receive of the SRQ any more. */
	vhca_qp_given_back(&b->qp);
	player.refused = IB_QPS_RESET;
	KUNIT_EXPECT_NE(test, move(b, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, player.moves, 2);
	KUNIT_EXPECT_EQ(test, player.to[0], IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, player.to[1], IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, b->qpk.broken);

	/* At the second attempt the QP is in ERR already. */
	player.refused = -1;
	KUNIT_EXPECT_EQ(test, move(b, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, player.moves, 3);
	KUNIT_EXPECT_EQ(test, player.to[2], IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RESET);
	KUNIT_EXPECT_FALSE(test, b->qpk.broken);
	KUNIT_EXPECT_FALSE(test, b->qpk.given_back);
}

/* A QP that the device refuses to move to ERR keeps its state. */
static void test_error_is_refused(struct kunit *test)
{
	struct vhca_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct bench *b = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	b->qp.ibqp.srq = &srq->ibsrq;
	player.refused = IB_QPS_ERR;
	KUNIT_EXPECT_NE(test, move(b, IB_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RTS);
	KUNIT_EXPECT_FALSE(test, b->qpk.broken);
	/* If the device accepts RESET, the QP is reset all the same. */
	KUNIT_EXPECT_EQ(test, move(b, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RESET);
	KUNIT_EXPECT_FALSE(test, b->qpk.broken);
}

/**
 * struct resetter - a thread that resets the QP
 * @b: bench
 * @err: result
 * @done: completed when @err is valid
 */
struct resetter {
	struct bench *b;
	int err;
	struct completion done;
};

static int reset(void *data)
{
	struct resetter *r = data;

	r->err = move(r->b, IB_QPS_RESET);
	kthread_complete_and_exit(&r->done, 0);
}

/*
 * While a reset waits for the last-WQE event, handlers of earlier events may modify the QP, whose
 * state may differ afterwards from the one at the beginning.
 */
static void test_waits_without_the_lock(struct kunit *test)
{
	struct vhca_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct bench *b = test->priv;
	struct resetter r = { .b = b };
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	b->qp.ibqp.srq = &srq->ibsrq;
	init_completion(&r.done);
	task = kthread_run(reset, &r, "vhca-reset");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&player.moved);
	KUNIT_EXPECT_EQ(test, move(b, IB_QPS_ERR), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&r.done));
	vhca_qp_given_back(&b->qp);
	wait_for_completion(&r.done);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_ASSERT_EQ(test, player.moves, 3);
	KUNIT_EXPECT_EQ(test, player.to[0], IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, player.to[1], IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, player.to[2], IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RESET);
	KUNIT_EXPECT_FALSE(test, b->qpk.given_back);
	KUNIT_EXPECT_EQ(test, b->qpk.resets, 1);
}

#ifdef CONFIG_LOCKDEP
/* Lockdep lists a lock among those held by a task even while the task waits for it. */
static bool wants_lock(struct task_struct *task, spinlock_t *lock)
{
	for (int i = 0; i < READ_ONCE(task->lockdep_depth); i++)
		if (READ_ONCE(task->held_locks[i].instance) == &lock->dep_map)
			return true;
	return false;
}

/* Posting of receives sees the QP either before or after its reset, never half way. */
static void test_starts_over_under_the_lock(struct kunit *test)
{
	struct bench *b = test->priv;
	spinlock_t *lock = &b->qpk.rq.lock;
	struct resetter r = { .b = b };
	struct task_struct *task;
	unsigned int own = cpumask_first(cpu_online_mask);
	unsigned int other = cpumask_next(own, cpu_online_mask);
	bool early;

	if (other >= nr_cpu_ids || !debug_locks)
		kunit_skip(test, "two processors and a working lockdep are needed");
	vhca_qp_broken(&b->qp);
	b->qp.state = IB_QPS_ERR;
	init_completion(&r.done);
	task = kthread_create(reset, &r, "vhca-reset");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);

	kthread_bind(task, other);
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(own)), 0);
	spin_lock(lock);
	wake_up_process(task);
	while (!wants_lock(task, lock) && !completion_done(&r.done))
		cpu_relax();
	early = completion_done(&r.done) || !b->qpk.broken;
	spin_unlock(lock);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	wait_for_completion(&r.done);
	put_task_struct(task);
	KUNIT_EXPECT_FALSE(test, early);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, b->qp.state, IB_QPS_RESET);
	KUNIT_EXPECT_FALSE(test, b->qpk.broken);
}
#endif

static struct kunit_case qp_modify_cases[] = {
	KUNIT_CASE(test_reset_is_refused),
	KUNIT_CASE(test_error_is_refused),
	KUNIT_CASE(test_waits_without_the_lock),
#ifdef CONFIG_LOCKDEP
	KUNIT_CASE(test_starts_over_under_the_lock),
#endif
	{}
};

struct kunit_suite vhca_qp_modify_suite = {
	.name = "vhca_qp_modify",
	.init = qp_modify_init,
	.exit = qp_modify_exit,
	.test_cases = qp_modify_cases,
};
