// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests that wait, and those that are cancelled.
 */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/arp.h>

#include "fake_net.h"

#define PEER "198.18.0.2"
/* Milliseconds; longer than any test takes. */
#define LONG_TIME 60000

static int request_init(struct kunit *test)
{
	test->priv = fake_net_begin(test, ARPHRD_ETHER);
	/* Without look-ups in between, only an answer lets a request end in time. */
	addr_retry_ms = LONG_TIME;
	return 0;
}

static void request_exit(struct kunit *test)
{
	addr_retry_ms = 1000;
	fake_net_end(test->priv);
}

/* Begins a request and waits until its neighbour has been solicited. */
static void begin_waiting(struct kunit *test, struct fake_wait *wait, const char *peer)
{
	struct fake_net *net = test->priv;

	fake_wait_init(wait);
	reinit_completion(&net->asked);
	KUNIT_ASSERT_EQ(test, fake_resolve(wait, NULL, peer, LONG_TIME), 0);
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&net->asked, 30 * HZ), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait->calls), 0);
}

static void answer_ends_waiting(struct kunit *test)
{
	static const char *const peers[] = { PEER, "2001:db8::2" };
	struct fake_wait wait;

	for (int i = 0; i < ARRAY_SIZE(peers); i++) {
		begin_waiting(test, &wait, peers[i]);
		/* the announcement of another neighbour is not the answer */
		fake_net_answer(test, test->priv, i ? "2001:db8::3" : "198.18.0.3", 0x33);
		fake_net_answer(test, test->priv, peers[i], 0x22);
		KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
		KUNIT_EXPECT_EQ(test, wait.addr.dst_dev_addr[5], 0x22);
		KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 1);
	}
}

static void nobody_answers(struct kunit *test)
{
	unsigned long began = jiffies;
	struct fake_wait wait;

	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, PEER, 100), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies - began, msecs_to_jiffies(100));
	/* The fields that the caller has set are kept, and those that were not found stay empty. */
	KUNIT_EXPECT_EQ(test, wait.src.any.sa_family, AF_INET);
	KUNIT_EXPECT_EQ(test, wait.addr.dev_type, 0);
	KUNIT_EXPECT_PTR_EQ(test, wait.addr.net, &init_net);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, PEER, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 1);
}

/* An event may be lost: the neighbour is checked again periodically. */
static void answer_without_event(struct kunit *test)
{
	struct fake_net *net = test->priv;
	union addr_ip ip = fake_ip(PEER);
	struct fake_wait wait;
	struct neighbour *neigh;

	addr_retry_ms = 200;
	begin_waiting(test, &wait, PEER);
	neigh = neigh_lookup(&arp_tbl, &ip.in.sin_addr, net->dev);
	KUNIT_ASSERT_NOT_NULL(test, neigh);
	write_lock_bh(&neigh->lock);
	neigh->nud_state = NUD_NOARP;
	write_unlock_bh(&neigh->lock);
	neigh_release(neigh);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
}

/* Routes may change while a request waits. */
static void route_goes_away(struct kunit *test)
{
	struct fake_net *net = test->priv;
	struct fake_wait wait;

	addr_retry_ms = 200;
	begin_waiting(test, &wait, PEER);
	KUNIT_ASSERT_EQ(test, fake_net_unreachable(net, PEER), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), -EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 1);
}

static void cancelled_while_waiting(struct kunit *test)
{
	struct fake_wait wait;

	begin_waiting(test, &wait, PEER);
	rdma_addr_cancel(&wait.addr);
	/* All that could still happen is a use of freed memory by the answer. */
	fake_net_answer(test, test->priv, PEER, 0x22);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
	rdma_addr_cancel(&wait.addr);
	/* The same structure may be used again, and for two requests at the same time. */
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.3", LONG_TIME), 0);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, "198.18.0.4", LONG_TIME), 0);
	rdma_addr_cancel(&wait.addr);
	fake_net_answer(test, test->priv, "198.18.0.3", 0x33);
	fake_net_answer(test, test->priv, "198.18.0.4", 0x44);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
}

/* Cancelled at once, when the work may not have begun, may be running, or may have ended. */
static void cancelled_at_any_time(struct kunit *test)
{
	struct fake_wait wait;
	int heard = 0;

	fake_net_answer(test, test->priv, PEER, 0x22);
	for (int i = 0; i < 500; i++) {
		int calls;

		fake_wait_init(&wait);
		KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, PEER, LONG_TIME), 0);
		for (int spin = 0; spin < i % 50; spin++)
			cond_resched();
		rdma_addr_cancel(&wait.addr);
		calls = atomic_read(&wait.calls);
		KUNIT_EXPECT_LE(test, calls, 1);
		heard += calls;
		/* a callback after that would change the count */
		memset(&wait.addr, 0, sizeof(wait.addr));
		KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), calls);
	}
	kunit_info(test, "%d of 500 had called back\n", heard);
}

/* ---- a callback that sleeps ---- */

struct slow {
	struct rdma_dev_addr addr;
	struct completion running;
	struct completion go_on;
	struct completion cancelled;
	struct task_struct *canceller;
	bool over;
	bool over_when_cancelled;
	bool again;
	atomic_t calls;
};

static void slow_heard(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *context)
{
	struct slow *slow = context;

	atomic_inc(&slow->calls);
	complete(&slow->running);
	wait_for_completion(&slow->go_on);
	slow->over = true;
}

static int cancel_slow(void *context)
{
	struct slow *slow = context;

	rdma_addr_cancel(&slow->addr);
	slow->over_when_cancelled = slow->over;
	complete(&slow->cancelled);
	return 0;
}

static void slow_init(struct slow *slow)
{
	*slow = (struct slow){ .addr = { .net = &init_net } };
	init_completion(&slow->running);
	init_completion(&slow->go_on);
	init_completion(&slow->cancelled);
}

/* Wait until the canceller sleeps, as it should, or has returned without waiting. */
static void wait_for_canceller(struct slow *slow)
{
	while (!(READ_ONCE(slow->canceller->__state) & TASK_UNINTERRUPTIBLE) &&
	       !completion_done(&slow->cancelled))
		cond_resched();
}

static void slow_begin(struct kunit *test, struct slow *slow,
		       void (*heard)(int status, struct sockaddr *src, struct rdma_dev_addr *addr,
				     void *context))
{
	union addr_ip dst = fake_ip(PEER);

	slow_init(slow);
	fake_net_answer(test, test->priv, PEER, 0x22);
	KUNIT_ASSERT_EQ(test, rdma_resolve_ip(NULL, &dst.any, &slow->addr, LONG_TIME, heard, false,
					      slow), 0);
}

static void cancel_waits_for_callback(struct kunit *test)
{
	struct slow slow;

	slow_begin(test, &slow, slow_heard);
	wait_for_completion(&slow.running);
	slow.canceller = kthread_create(cancel_slow, &slow, "kt_cancel");
	KUNIT_ASSERT_FALSE(test, IS_ERR(slow.canceller));
	get_task_struct(slow.canceller);
	wake_up_process(slow.canceller);
	wait_for_canceller(&slow);
	KUNIT_EXPECT_FALSE(test, completion_done(&slow.cancelled));
	complete(&slow.go_on);
	wait_for_completion(&slow.cancelled);
	put_task_struct(slow.canceller);
	KUNIT_EXPECT_TRUE(test, slow.over_when_cancelled);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.calls), 1);
}

/* Other requests are served while a callback sleeps. */
static void callback_blocks_nobody(struct kunit *test)
{
	struct fake_wait wait;
	struct slow slow;

	slow_begin(test, &slow, slow_heard);
	wait_for_completion(&slow.running);
	fake_wait_init(&wait);
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, NULL, PEER, LONG_TIME), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
	complete(&slow.go_on);
	rdma_addr_cancel(&slow.addr);
	KUNIT_EXPECT_TRUE(test, slow.over);
}

/* A callback may cancel its own request, which does nothing, and begin another one. */
static void again_heard(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *context)
{
	union addr_ip dst = fake_ip("198.18.0.3");
	struct slow *slow = context;

	atomic_inc(&slow->calls);
	if (slow->again)
		return;
	slow->again = true;
	rdma_addr_cancel(addr);
	slow->over = !rdma_resolve_ip(NULL, &dst.any, addr, LONG_TIME, again_heard, false, slow);
	complete(&slow->running);
}

static void callback_cancels(struct kunit *test)
{
	struct slow slow;

	slow_begin(test, &slow, again_heard);
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&slow.running, 30 * HZ), 0);
	KUNIT_EXPECT_TRUE(test, slow.over);
	rdma_addr_cancel(&slow.addr);
	fake_net_answer(test, test->priv, "198.18.0.3", 0x33);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.calls), 1);
}

/* ---- many requests ---- */

#define CROWD 200

struct crowd {
	struct fake_wait wait[CROWD];
	struct completion ready;
	int first;
};

static void peer_name(char *name, size_t size, int i)
{
	snprintf(name, size, "198.18.0.%d", 10 + i % 20);
}

static int cancel_third(void *context)
{
	struct crowd *crowd = context;

	for (int i = 0; i < CROWD; i += 3)
		rdma_addr_cancel(&crowd->wait[i].addr);
	complete(&crowd->ready);
	return 0;
}

/* Answers, time-outs and two tasks that cancel the same requests race; no callback runs twice. */
static void many_at_once(struct kunit *test)
{
	struct crowd *crowd = kvzalloc(sizeof(*crowd), GFP_KERNEL);
	struct task_struct *task;
	char peer[16];

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	init_completion(&crowd->ready);
	for (int i = 0; i < CROWD; i++) {
		fake_wait_init(&crowd->wait[i]);
		peer_name(peer, sizeof(peer), i);
		/* neighbours 15 to 19 of each 20 do not answer */
		KUNIT_ASSERT_EQ(test, fake_resolve(&crowd->wait[i], NULL, peer,
						   i % 20 < 15 ? LONG_TIME : 200), 0);
	}
	task = kthread_run(cancel_third, crowd, "kt_crowd");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (int i = 0; i < 15; i++) {
		peer_name(peer, sizeof(peer), i);
		fake_net_answer(test, test->priv, peer, 0x40 + i);
		rdma_addr_cancel(&crowd->wait[CROWD / 15 * i / 3 * 3].addr);
	}
	wait_for_completion(&crowd->ready);
	for (int i = 0; i < CROWD; i++) {
		struct fake_wait *wait = &crowd->wait[i];

		if (i % 3) {
			KUNIT_EXPECT_EQ(test, fake_result(wait), i % 20 < 15 ? 0 : -ETIMEDOUT);
			if (i % 20 < 15)
				KUNIT_EXPECT_EQ(test, wait->addr.dst_dev_addr[5], 0x40 + i % 20);
			rdma_addr_cancel(&wait->addr);
		}
		KUNIT_EXPECT_LE(test, atomic_read(&wait->calls), 1);
	}
	kvfree(crowd);
}

#ifdef CONFIG_FAILSLAB
/* Each allocation of a request fails in turn. */
static void without_memory(struct kunit *test)
{
	unsigned int nth, failures = 0;
	struct fake_wait wait;

	fake_net_answer(test, test->priv, PEER, 0x22);
	for (nth = 1; nth < 100; nth++) {
		unsigned int spared;
		int ret;

		fake_wait_init(&wait);
		current->fail_nth = nth;
		ret = fake_resolve(&wait, NULL, PEER, LONG_TIME);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (!ret) {
			KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
			rdma_addr_cancel(&wait.addr);
		}
		failures += ret != 0;
		KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), !ret);
		if (spared)
			break;
	}
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_LT(test, nth, 100);
}
#endif

static struct kunit_case request_cases[] = {
	KUNIT_CASE(answer_ends_waiting),
	KUNIT_CASE(nobody_answers),
	KUNIT_CASE(answer_without_event),
	KUNIT_CASE(route_goes_away),
	KUNIT_CASE(cancelled_while_waiting),
	KUNIT_CASE(cancelled_at_any_time),
	KUNIT_CASE(cancel_waits_for_callback),
	KUNIT_CASE(callback_blocks_nobody),
	KUNIT_CASE(callback_cancels),
	KUNIT_CASE(many_at_once),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite request_suite = {
	.name = "ib_core_addr_request",
	.init = request_init,
	.exit = request_exit,
	.test_cases = request_cases,
};

kunit_test_suite(request_suite);
