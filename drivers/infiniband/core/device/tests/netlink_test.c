// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: messages and attributes that other files and drivers compose, and how messages reach
 * programs.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#define SEQ	77
#define PAYLOAD	8

static struct sk_buff *room(struct kunit *test, unsigned int bytes)
{
	struct sk_buff *skb = nlmsg_new(256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	/* A buffer may be larger than requested. */
	skb_reserve(skb, skb_tailroom(skb) - bytes);
	return skb;
}

static void messages(struct kunit *test)
{
	struct sk_buff *skb = room(test, 64);
	struct nlmsghdr *nlh;
	u32 value = 4711;
	struct nlattr *nla;
	void *payload;

	payload = ibnl_put_msg(skb, &nlh, SEQ, PAYLOAD, RDMA_NL_IWCM, RDMA_NL_IWPM_HELLO,
			       NLM_F_REQUEST);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	KUNIT_EXPECT_PTR_EQ(test, payload, nlmsg_data(nlh));
	memset(payload, 0, PAYLOAD);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, RDMA_NL_IWPM_HELLO));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, SEQ);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, NLMSG_HDRLEN + PAYLOAD);

	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 5), 0);
	nlmsg_end(skb, nlh);
	nla = nlmsg_find_attr(nlh, PAYLOAD, 5);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nla), value);
	/* An attribute that does not fit removes the whole message. */
	while (skb_tailroom(skb) >= nla_total_size(sizeof(value)))
		KUNIT_ASSERT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 6), 0);
	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 6), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, skb->len, 0);
	kfree_skb(skb);

	skb = room(test, NLMSG_HDRLEN + PAYLOAD - 4);
	KUNIT_EXPECT_NULL(test, ibnl_put_msg(skb, &nlh, SEQ, PAYLOAD, RDMA_NL_IWCM, 0, 0));
	KUNIT_EXPECT_EQ(test, skb->len, 0);
	kfree_skb(skb);
}

static void counters(struct kunit *test)
{
	struct sk_buff *skb = room(test, 128);
	struct nlattr *entry, *name, *value;
	unsigned int len;

	KUNIT_EXPECT_EQ(test, rdma_nl_stat_hwcounter_entry(skb, "first", 1ULL << 40), 0);
	entry = (struct nlattr *)skb->data;
	KUNIT_EXPECT_EQ(test, nla_type(entry), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	name = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
	value = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_ASSERT_NOT_NULL(test, value);
	KUNIT_EXPECT_STREQ(test, nla_data(name), "first");
	KUNIT_EXPECT_EQ(test, nla_get_u64(value), 1ULL << 40);

	/* An attribute that does not fit leaves nothing, even if a part of it would fit. */
	len = skb->len;
	for (unsigned int left = skb_tailroom(skb); left; left -= min(left, 4U)) {
		bool fits = left >= len;

		skb_trim(skb, len);
		skb_put(skb, skb_tailroom(skb) - left);
		KUNIT_EXPECT_EQ_MSG(test, rdma_nl_stat_hwcounter_entry(skb, "again", 1),
				    fits ? 0 : -EMSGSIZE, "%u bytes left", left);
		KUNIT_EXPECT_EQ(test, skb_tailroom(skb), fits ? left - len : left);
	}
	kfree_skb(skb);
}

/* ---- messages to programs ---- */

/* No socket has this port: the kernel chooses process ids or ports with the top bit. */
#define NOBODY	0x7ffffff0

/**
 * struct listener - a program's socket
 * @socket: the socket
 * @file: file of @socket
 * @port: its netlink port
 */
struct listener {
	struct socket *socket;
	struct file *file;
	u32 port;
};

static void hang_up(void *data)
{
	struct listener *listener = data;

	if (!IS_ERR_OR_NULL(listener->file))
		__fput_sync(listener->file);
	listener->file = NULL;
}

/* @group: an RDMA_NL_GROUP_ number, or 0 for none */
static struct listener *listen(struct kunit *test, unsigned int group)
{
	struct listener *listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = group ? BIT(group - 1) : 0,
	};

	KUNIT_ASSERT_NOT_NULL(test, listener);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &listener->socket), 0);
	/* This takes over the socket, also on failure. */
	listener->file = sock_alloc_file(listener->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(listener->file));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, hang_up, listener), 0);
	listener->socket->sk->sk_rcvtimeo = 30 * HZ;
	KUNIT_ASSERT_EQ(test, kernel_bind(listener->socket, (struct sockaddr *)&address,
					  sizeof(address)), 0);
	KUNIT_ASSERT_GT(test, kernel_getsockname(listener->socket, (struct sockaddr *)&address), 0);
	listener->port = address.nl_pid;
	return listener;
}

static struct sk_buff *numbered(struct kunit *test, u32 seq)
{
	struct sk_buff *skb = nlmsg_new(0, GFP_KERNEL);
	struct nlmsghdr *nlh;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, ibnl_put_msg(skb, &nlh, seq, 0, RDMA_NL_IWCM,
						 RDMA_NL_IWPM_HELLO, 0));
	return skb;
}

/* Returns the sequence number of the next message, or a negative errno. */
static int heard(struct listener *listener, int flags)
{
	struct nlmsghdr nlh = {};
	struct kvec vec = { .iov_base = &nlh, .iov_len = sizeof(nlh) };
	struct msghdr msg = {};
	int ret = kernel_recvmsg(listener->socket, &msg, &vec, 1, sizeof(nlh), flags);

	return ret < 0 ? ret : ret == sizeof(nlh) ? nlh.nlmsg_seq : -EMSGSIZE;
}

static void to_one(struct kunit *test)
{
	struct listener *one = listen(test, 0), *other = listen(test, 0);

	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, numbered(test, 1), one->port), 0);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, numbered(test, 2), one->port), 0);
	KUNIT_EXPECT_EQ(test, heard(one, MSG_DONTWAIT), 1);
	KUNIT_EXPECT_EQ(test, heard(one, MSG_DONTWAIT), 2);
	KUNIT_EXPECT_EQ(test, heard(one, MSG_DONTWAIT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, heard(other, MSG_DONTWAIT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, numbered(test, 3), NOBODY),
			-ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, numbered(test, 4), NOBODY),
			-ECONNREFUSED);
	/* Not even the kernel itself has port 0. */
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, numbered(test, 5), 0), -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, numbered(test, 6), 0),
			-ECONNREFUSED);
}

/**
 * struct patient - a thread that sends to a listener whose queue is full
 * @skb: the message
 * @port: the listener's
 * @ret: result of sending
 * @done: completed when it has returned
 */
struct patient {
	struct sk_buff *skb;
	u32 port;
	int ret;
	struct completion done;
};

static int send_patiently(void *data)
{
	struct patient *patient = data;

	patient->ret = rdma_nl_unicast_wait(&init_net, patient->skb, patient->port);
	kthread_complete_and_exit(&patient->done, 0);
}

/* A full queue costs a sender that does not wait one message, and a sender that waits none. */
static void to_one_without_room(struct kunit *test)
{
	struct listener *slow = listen(test, 0);
	struct patient patient = { .skb = numbered(test, 3), .port = slow->port };
	struct task_struct *task;

	/* One message is accepted whatever the limit is. */
	WRITE_ONCE(slow->socket->sk->sk_rcvbuf, 1);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, numbered(test, 1), slow->port), 0);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, numbered(test, 2), slow->port), -EAGAIN);

	init_completion(&patient.done);
	task = kthread_create(send_patiently, &patient, "kt_patient");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	while (!completion_done(&patient.done) && READ_ONCE(task->__state) != TASK_INTERRUPTIBLE)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, completion_done(&patient.done));
	/* The program learns first that it has missed a message. */
	KUNIT_EXPECT_EQ(test, heard(slow, MSG_DONTWAIT), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, heard(slow, MSG_DONTWAIT), 1);
	KUNIT_EXPECT_EQ(test, heard(slow, 0), 3);
	wait_for_completion(&patient.done);
	KUNIT_EXPECT_EQ(test, patient.ret, 0);
	put_task_struct(task);
}

static void to_a_group(struct kunit *test)
{
	struct listener *one, *other, *outside = listen(test, RDMA_NL_GROUP_NOTIFY);

	KUNIT_ASSERT_FALSE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM));
	KUNIT_EXPECT_EQ(test, rdma_nl_multicast(&init_net, numbered(test, 1), RDMA_NL_GROUP_IWPM,
						GFP_KERNEL), -ESRCH);
	one = listen(test, RDMA_NL_GROUP_IWPM);
	other = listen(test, RDMA_NL_GROUP_IWPM);
	KUNIT_EXPECT_TRUE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM));
	KUNIT_EXPECT_EQ(test, rdma_nl_multicast(&init_net, numbered(test, 2), RDMA_NL_GROUP_IWPM,
						GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, heard(one, MSG_DONTWAIT), 2);
	KUNIT_EXPECT_EQ(test, heard(other, MSG_DONTWAIT), 2);
	KUNIT_EXPECT_EQ(test, heard(outside, MSG_DONTWAIT), -EAGAIN);
	hang_up(one);
	KUNIT_EXPECT_TRUE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM));
	hang_up(other);
	KUNIT_EXPECT_FALSE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM));
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE(messages),
	KUNIT_CASE(counters),
	KUNIT_CASE(to_one),
	KUNIT_CASE(to_one_without_room),
	KUNIT_CASE(to_a_group),
	{}
};

static struct kunit_suite netlink_suite = {
	.name = "ib_core_netlink",
	.test_cases = netlink_cases,
};

kunit_test_suite(netlink_suite);
