// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: properties of the RDMA subsystem as a whole: which client handles requests, who may set
 * privileged Q_Keys, and which network namespaces see a device.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

#include "../nldev_priv.h"
#include "test_talk.h"

static int get_system(struct kunit *test)
{
	talk_begin(test->priv, RDMA_NLDEV_CMD_SYS_GET, 0);
	return talk_ask(test, test->priv);
}

static int set_system(struct kunit *test, u16 attr, u8 value)
{
	talk_begin(test->priv, RDMA_NLDEV_CMD_SYS_SET, 0);
	talk_add(test->priv, attr, &value, sizeof(value));
	return talk_ask(test, test->priv);
}

/* ---- clients ---- */

/**
 * struct leaver - a thread that unregisters the client while a request of it runs
 * @started: completed when it is about to unregister
 * @done: completed when it has
 * @task: the thread
 * @calls: number of the client's requests
 * @early: the client was unregistered before its request had ended
 */
static struct leaver {
	struct completion started, done;
	struct task_struct *task;
	unsigned int calls;
	bool early;
} leaver;

static int leave(void *unused)
{
	complete(&leaver.started);
	rdma_nl_unregister(RDMA_NL_NLDEV);
	kthread_complete_and_exit(&leaver.done, 0);
}

static int serve(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	leaver.calls++;
	return -EXDEV;
}

static int serve_while_leaving(struct sk_buff *skb, struct nlmsghdr *nlh,
			       struct netlink_ext_ack *extack)
{
	leaver.calls++;
	leaver.task = kthread_create(leave, NULL, "kt_leave");
	if (IS_ERR(leaver.task))
		return PTR_ERR(leaver.task);
	get_task_struct(leaver.task);
	wake_up_process(leaver.task);
	wait_for_completion(&leaver.started);
	while (!completion_done(&leaver.done) &&
	       READ_ONCE(leaver.task->__state) != TASK_UNINTERRUPTIBLE)
		schedule_timeout_uninterruptible(1);
	leaver.early = completion_done(&leaver.done);
	return -EXDEV;
}

static unsigned int lists;

static int list_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	lists++;
	return 0;
}

static const struct rdma_nl_cbs substitute[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_SYS_GET] = { .doit = serve },
	[RDMA_NLDEV_CMD_SYS_SET] = { .doit = serve_while_leaving },
	[RDMA_NLDEV_CMD_GET] = { .dump = list_nothing },
};

/* Requests are handled by the registered client, and refused while there is none. */
static void clients(struct kunit *test)
{
	struct talk *t = test->priv;

	memset(&leaver, 0, sizeof(leaver));
	init_completion(&leaver.started);
	init_completion(&leaver.done);
	KUNIT_ASSERT_EQ(test, get_system(test), 0);
	rdma_nl_unregister(RDMA_NL_NLDEV);
	KUNIT_EXPECT_EQ(test, get_system(test), -EINVAL);

	rdma_nl_register(RDMA_NL_NLDEV, substitute);
	KUNIT_EXPECT_EQ(test, get_system(test), -EXDEV);
	KUNIT_EXPECT_EQ(test, leaver.calls, 1);
	/* An operation that exists only as a dump, and one that does not exist. */
	talk_begin(t, RDMA_NLDEV_CMD_GET, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin(t, RDMA_NLDEV_CMD_PORT_GET, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);

	/* A client stays until its last request has ended. */
	KUNIT_EXPECT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1), -EXDEV);
	KUNIT_EXPECT_EQ(test, leaver.calls, 2);
	KUNIT_EXPECT_FALSE(test, leaver.early);
	if (!IS_ERR_OR_NULL(leaver.task)) {
		wait_for_completion(&leaver.done);
		put_task_struct(leaver.task);
	}
	KUNIT_EXPECT_EQ(test, get_system(test), -EINVAL);
	rdma_nl_register(RDMA_NL_NLDEV, nldev_commands);
	KUNIT_EXPECT_EQ(test, get_system(test), 0);
	KUNIT_EXPECT_EQ(test, leaver.calls, 2);
}

/* Returns the number at the end of a list: the answer, or 1 if that is no end of a list. */
static int list_end(struct talk *t)
{
	const struct nlmsghdr *nlh = (void *)t->answer;
	int end;

	if (talk_receive(t) < nlmsg_total_size(sizeof(end)) || nlh->nlmsg_type != NLMSG_DONE)
		return 1;
	memcpy(&end, nlmsg_data(nlh), sizeof(end));
	return end;
}

/* Requests a list whose reader has no room for it yet. The first message to read is another. */
static void request_list(struct kunit *test)
{
	struct talk *t = test->priv;

	WRITE_ONCE(t->socket->sk->sk_rcvbuf, INT_MAX);
	talk_begin(t, RDMA_NLDEV_CMD_SYS_GET, 0);
	talk_send(test, t);
	WRITE_ONCE(t->socket->sk->sk_rcvbuf, 1);
	talk_begin(t, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	talk_send(test, t);
	KUNIT_EXPECT_EQ(test, lists, 0);
	KUNIT_EXPECT_EQ(test, talk_receive(t), -ENOBUFS);
}

/* A list begins when there is room for it, unless its client has been unregistered by then. */
static void list_begins_later(struct kunit *test)
{
	struct talk *t = test->priv;

	lists = 0;
	rdma_nl_unregister(RDMA_NL_NLDEV);
	rdma_nl_register(RDMA_NL_NLDEV, substitute);
	request_list(test);
	KUNIT_EXPECT_GT(test, talk_receive(t), 0);
	KUNIT_EXPECT_EQ(test, lists, 1);
	KUNIT_EXPECT_EQ(test, list_end(t), 0);

	lists = 0;
	request_list(test);
	rdma_nl_unregister(RDMA_NL_NLDEV);
	KUNIT_EXPECT_GT(test, talk_receive(t), 0);
	KUNIT_EXPECT_EQ(test, lists, 0);
	KUNIT_EXPECT_EQ(test, list_end(t), -EINVAL);

	/* The same holds if another client is there. */
	rdma_nl_register(RDMA_NL_NLDEV, substitute);
	request_list(test);
	rdma_nl_unregister(RDMA_NL_NLDEV);
	rdma_nl_register(RDMA_NL_NLDEV, nldev_commands);
	KUNIT_EXPECT_GT(test, talk_receive(t), 0);
	KUNIT_EXPECT_EQ(test, list_end(t), -EINVAL);
}

/* ---- Q_Keys ---- */

static bool may_without_capability(struct kunit *test)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;
	bool may;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_NET_RAW);
	old = override_creds(cred);
	may = rdma_nl_get_privileged_qkey();
	revert_creds(old);
	put_cred(cred);
	return may;
}

static void privileged_qkeys(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, rdma_nl_get_privileged_qkey());
	KUNIT_EXPECT_FALSE(test, may_without_capability(test));
	KUNIT_EXPECT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 2),
			-EINVAL);
	KUNIT_EXPECT_FALSE(test, may_without_capability(test));
	KUNIT_EXPECT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 1), 0);
	KUNIT_EXPECT_TRUE(test, may_without_capability(test));
	KUNIT_EXPECT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 0), 0);
	KUNIT_EXPECT_FALSE(test, may_without_capability(test));
	KUNIT_EXPECT_TRUE(test, rdma_nl_get_privileged_qkey());
}

/* ---- network namespaces ---- */

static void namespaces(struct kunit *test)
{
	/* Only its address is used. */
	struct net *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct talk *t = test->priv;
	struct ib_device *ib = &t->device->ib, *found;

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(ib, &init_net));
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(ib, other));
	KUNIT_ASSERT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0), 0);
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(ib, &init_net));
	KUNIT_EXPECT_FALSE(test, rdma_dev_access_netns(ib, other));
	/* Look-ups of devices depend on it. */
	KUNIT_EXPECT_NULL(test, ib_device_get_by_index(other, ib->index));
	found = ib_device_get_by_index(&init_net, ib->index);
	KUNIT_EXPECT_PTR_EQ(test, found, ib);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_EQ(test, set_system(test, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1), 0);
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(ib, other));
}

static struct kunit_case system_cases[] = {
	KUNIT_CASE(clients),
	KUNIT_CASE(list_begins_later),
	KUNIT_CASE(privileged_qkeys),
	KUNIT_CASE(namespaces),
	{}
};

static struct kunit_suite system_suite = {
	.name = "rdma_core_nldev_system",
	.init = talk_init,
	.exit = talk_exit,
	.test_cases = system_cases,
};

kunit_test_suite(system_suite);
