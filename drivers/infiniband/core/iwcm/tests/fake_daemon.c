// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_daemon.h.
 */
#include <kunit/static_stub.h>
#include <linux/slab.h>

#include "fake_daemon.h"

/* ---- messages of the daemon ---- */

const callback_fn iwd_callbacks[RDMA_NL_IWPM_NUM_OPS] = {
	[RDMA_NL_IWPM_REG_PID] = iwpm_register_pid_cb,
	[RDMA_NL_IWPM_ADD_MAPPING] = iwpm_add_mapping_cb,
	[RDMA_NL_IWPM_QUERY_MAPPING] = iwpm_add_and_query_mapping_cb,
	[RDMA_NL_IWPM_REMOTE_INFO] = iwpm_remote_info_cb,
	[RDMA_NL_IWPM_HANDLE_ERR] = iwpm_mapping_error_cb,
	[RDMA_NL_IWPM_MAPINFO] = iwpm_mapping_info_cb,
	[RDMA_NL_IWPM_MAPINFO_NUM] = iwpm_ack_mapping_info_cb,
	[RDMA_NL_IWPM_HELLO] = iwpm_hello_cb,
};

/**
 * iwd_tell() - let the daemon send a message
 * @test: the test
 * @op: RDMA_NL_IWPM_ operation
 * @attrs: its attributes
 * @count: number of these
 *
 * Return: return value of the callback.
 */
int iwd_tell(struct kunit *test, unsigned int op, const struct attr *attrs, int count)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct netlink_callback cb = { .skb = skb };
	struct nlmsghdr *nlh;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nlh = nlmsg_put(skb, PORTID, 99, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, op), 0, NLM_F_REQUEST);
	for (int i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, nla_put(skb, attrs[i].type, attrs[i].len, attrs[i].data), 0);
	nlmsg_end(skb, nlh);
	cb.nlh = nlh;
	ret = iwd_callbacks[op](skb, &cb);
	kfree_skb(skb);
	return ret;
}

/**
 * iwd_mapped() - map an address as the daemon does
 * @addr: address
 *
 * Return: the same with another port.
 */
struct sockaddr_storage iwd_mapped(struct sockaddr_storage addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_port = htons(ntohs(in->sin_port) + 30000);
	return addr;
}

/**
 * iwd_any_v6() - get an IPv6 address
 *
 * Return: the wildcard.
 */
struct sockaddr_storage iwd_any_v6(void)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET6 };

	return addr;
}

/**
 * iwd_answer_register() - answer the last request as one for REG_PID
 * @daemon: the daemon
 *
 * Return: return value of the callback.
 */
int iwd_answer_register(struct daemon *daemon)
{
	char library[] = IWPM_LIBRARY;
	u16 version = daemon->manner == OLD_VERSION ? 2 : daemon->version, err = 0;
	const struct attr attrs[] = {
		ATTR(IWPM_NLA_RREG_PID_SEQ, daemon->seq),
		ATTR(IWPM_NLA_RREG_IBDEV_NAME, daemon->device),
		ATTR(IWPM_NLA_RREG_ULIB_NAME, library),
		ATTR(IWPM_NLA_RREG_ULIB_VER, version),
		ATTR(IWPM_NLA_RREG_PID_ERR, err),
	};

	if (daemon->manner == OTHER_LIBRARY)
		library[0]++;
	return iwd_tell(daemon->test, RDMA_NL_IWPM_REG_PID, attrs, ARRAY_SIZE(attrs));
}

static int answer_mapping(struct daemon *daemon, unsigned int op)
{
	bool query = op == RDMA_NL_IWPM_QUERY_MAPPING;
	struct sockaddr_storage local, remote, to_local, to_remote;
	u16 err = daemon->manner == REJECT ? IWPM_REMOTE_QUERY_REJECT : 0;
	const struct attr add[] = {
		ATTR(IWPM_NLA_RMANAGE_MAPPING_SEQ, daemon->seq),
		ATTR(IWPM_NLA_RMANAGE_ADDR, local),
		ATTR(IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR, to_local),
		ATTR(IWPM_NLA_RMANAGE_MAPPING_ERR, err),
	}, both[] = {
		ATTR(IWPM_NLA_RQUERY_MAPPING_SEQ, daemon->seq),
		ATTR(IWPM_NLA_RQUERY_LOCAL_ADDR, local),
		ATTR(IWPM_NLA_RQUERY_REMOTE_ADDR, remote),
		ATTR(IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, to_local),
		ATTR(IWPM_NLA_RQUERY_MAPPED_REM_ADDR, to_remote),
		ATTR(IWPM_NLA_RQUERY_MAPPING_ERR, err),
	};

	memcpy(&local, daemon->last[IWPM_NLA_QUERY_LOCAL_ADDR], sizeof(local));
	memcpy(&remote, daemon->last[IWPM_NLA_QUERY_REMOTE_ADDR], sizeof(remote));
	to_local = iwd_mapped(local);
	to_remote = iwd_mapped(remote);
	if (daemon->manner == LIE)
		local = iwd_mapped(local);
	if (daemon->manner == MIX)
		to_local = iwd_any_v6();
	return iwd_tell(daemon->test, op, query ? both : add,
			   query ? ARRAY_SIZE(both) : ARRAY_SIZE(add));
}

/**
 * iwd_answer_error() - refuse the last request
 * @daemon: the daemon
 *
 * Return: return value of the callback.
 */
int iwd_answer_error(struct daemon *daemon)
{
	u16 err = IWPM_DUPLICATE_MAPPING_ERR;
	const struct attr attrs[] = {
		ATTR(IWPM_NLA_ERR_SEQ, daemon->seq),
		ATTR(IWPM_NLA_ERR_CODE, err),
	};

	return iwd_tell(daemon->test, RDMA_NL_IWPM_HANDLE_ERR, attrs, ARRAY_SIZE(attrs));
}

/**
 * iwd_hello() - let a new daemon send a hello
 * @test: the test
 * @version: version of its messages
 *
 * Return: return value of the callback.
 */
int iwd_hello(struct kunit *test, u16 version)
{
	const struct attr attrs[] = { ATTR(IWPM_NLA_HELLO_ABI_VERSION, version) };

	return iwd_tell(test, RDMA_NL_IWPM_HELLO, attrs, ARRAY_SIZE(attrs));
}

/**
 * iwd_ask_for_mappings() - let the daemon ask for the mappings in use
 * @test: the test
 * @version: version of its messages
 *
 * Return: return value of the callback.
 */
int iwd_ask_for_mappings(struct kunit *test, u16 version)
{
	static const char library[] = IWPM_LIBRARY;
	const struct attr attrs[] = {
		ATTR(IWPM_NLA_MAPINFO_ULIB_NAME, library),
		ATTR(IWPM_NLA_MAPINFO_ULIB_VER, version),
	};

	return iwd_tell(test, RDMA_NL_IWPM_MAPINFO, attrs, ARRAY_SIZE(attrs));
}

/* ---- messages to the daemon ---- */

static void read_message(struct daemon *daemon, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;
	int rest;

	if (nlh->nlmsg_type == NLMSG_DONE) {
		daemon->done++;
		return;
	}
	KUNIT_ASSERT_EQ(daemon->test, RDMA_NL_GET_CLIENT(nlh->nlmsg_type), RDMA_NL_IWCM);
	daemon->sent[RDMA_NL_GET_OP(nlh->nlmsg_type)]++;
	daemon->seq = nlh->nlmsg_seq;
	memset(daemon->len, 0xff, sizeof(daemon->len));
	nlmsg_for_each_attr(attr, nlh, 0, rest) {
		KUNIT_ASSERT_LT(daemon->test, nla_type(attr), TYPES);
		KUNIT_ASSERT_LE(daemon->test, nla_len(attr), (int)sizeof(daemon->last[0]));
		daemon->len[nla_type(attr)] = nla_len(attr);
		memcpy(daemon->last[nla_type(attr)], nla_data(attr), nla_len(attr));
	}
	KUNIT_EXPECT_EQ(daemon->test, rest, 0);
}

static void answer_question(struct daemon *daemon, unsigned int op)
{
	if (daemon->manner == SILENT)
		return;
	if (daemon->manner == REFUSE) {
		daemon->callback = iwd_answer_error(daemon);
	} else if (op == RDMA_NL_IWPM_REG_PID) {
		memcpy(daemon->device, daemon->last[IWPM_NLA_REG_IBDEV_NAME],
		       sizeof(daemon->device));
		if (daemon->manner == LIE)
			daemon->device[0]++;
		daemon->callback = iwd_answer_register(daemon);
	} else if (op == RDMA_NL_IWPM_ADD_MAPPING || op == RDMA_NL_IWPM_QUERY_MAPPING) {
		daemon->callback = answer_mapping(daemon, op);
	}
}

static struct daemon *played;

static int play(struct sk_buff *skb, enum iwpm_road road, u32 portid)
{
	struct daemon *daemon = played;
	struct nlmsghdr *nlh = (struct nlmsghdr *)skb->data;
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	int rest = skb->len;

	if (daemon->manner == ABSENT) {
		kfree_skb(skb);
		return road == IWPM_TO_ALL ? -ESRCH : -ECONNREFUSED;
	}
	if (road != IWPM_TO_ALL)
		KUNIT_EXPECT_EQ(daemon->test, portid, PORTID);
	daemon->road = road;
	for (; nlmsg_ok(nlh, rest); nlh = nlmsg_next(nlh, &rest))
		read_message(daemon, nlh);
	KUNIT_EXPECT_EQ(daemon->test, rest, 0);
	kfree_skb(skb);
	if (road != IWPM_AT_ONCE)
		answer_question(daemon, op);
	return 0;
}

/**
 * iwd_init() - begin a case: test->priv is a daemon that is unknown to the kernel
 * @test: the case
 *
 * Return: 0.
 */
int iwd_init(struct kunit *test)
{
	struct daemon *daemon = kunit_kzalloc(test, sizeof(*daemon), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, daemon);
	daemon->test = test;
	daemon->version = IWPM_UABI_VERSION;
	test->priv = daemon;
	played = daemon;
	iwpm_exit(RDMA_NL_IWCM);
	kunit_activate_static_stub(test, iwpm_transmit, play);
	return 0;
}

/**
 * iwd_exit() - end a case; fails if a request is left
 * @test: the case
 */
void iwd_exit(struct kunit *test)
{
	iwpm_exit(RDMA_NL_IWCM);
	KUNIT_EXPECT_TRUE(test, list_empty(&iwpm_daemon.requests));
	iwpm_daemon.patience = 10 * HZ;
}
