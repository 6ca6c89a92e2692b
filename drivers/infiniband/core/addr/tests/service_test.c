// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: GIDs behind InfiniBand routers, which a program resolves over netlink.
 */
#include <kunit/test.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

#include "fake_net.h"

#define MESSAGE_SIZE 256
#define FAR "203.0.113.5"
#define FAR6 "2001:db8:9::5"
#define LONG_TIME 60000

/**
 * struct program - the program
 * @net: interface with the gateways
 * @file: its socket, in the group RDMA_NL_GROUP_LS
 * @socket: the socket of @file
 * @heard: the last message it has received
 */
struct program {
	struct fake_net *net;
	struct file *file;
	struct socket *socket;
	u8 heard[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO);
};

static int service_init(struct kunit *test)
{
	struct program *program = kunit_kzalloc(test, sizeof(*program), GFP_KERNEL);
	struct fake_net *net;

	KUNIT_ASSERT_NOT_NULL(test, program);
	test->priv = program;
	addr_retry_ms = LONG_TIME;
	addr_last_seq = U32_MAX - 1;
	net = fake_net_begin(test, ARPHRD_INFINIBAND);
	program->net = net;
	KUNIT_EXPECT_EQ(test, fake_net_gateway(net, "203.0.113.0", 24, "198.18.0.9"), 0);
	KUNIT_EXPECT_EQ(test, fake_net_gateway(net, "2001:db8:9::", 48, "2001:db8::9"),
			0);
	return 0;
}

static void hang_up(struct program *program)
{
	if (program->file)
		__fput_sync(program->file);
	program->file = NULL;
}

static void service_exit(struct kunit *test)
{
	struct program *program = test->priv;

	addr_retry_ms = 1000;
	hang_up(program);
	fake_net_end(program->net);
}

static void listen(struct kunit *test, struct program *program)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = BIT(RDMA_NL_GROUP_LS - 1),
	};
	struct file *file;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &program->socket), 0);
	/* The permissions of a socket are those with which its file was opened. */
	file = sock_alloc_file(program->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	program->file = file;
	program->socket->sk->sk_rcvtimeo = 30 * HZ;
	KUNIT_ASSERT_EQ(test, kernel_bind(program->socket, (struct sockaddr *)&address,
					  sizeof(address)), 0);
}

static struct nlmsghdr *receive(struct kunit *test, struct program *program)
{
	struct kvec vec = { .iov_base = program->heard, .iov_len = sizeof(program->heard) };
	struct msghdr msg = {};

	KUNIT_ASSERT_GT(test, kernel_recvmsg(program->socket, &msg, &vec, 1,
					     sizeof(program->heard), 0), NLMSG_HDRLEN);
	return (struct nlmsghdr *)program->heard;
}

/* Returns the error of the acknowledgment. */
static int say(struct kunit *test, struct program *program, u32 seq, u16 flags, u16 type, int len)
{
	u8 message[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO) = {};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct nlmsghdr *nlh = (void *)message;
	struct nlattr *nla = nlmsg_data(nlh);
	struct kvec vec = { .iov_base = message };

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_IP_RESOLVE);
	nlh->nlmsg_flags = flags | NLM_F_ACK;
	nlh->nlmsg_seq = seq;
	nla->nla_type = type;
	nla->nla_len = nla_attr_size(len);
	memset(nla_data(nla), 0xaa, len);
	nlh->nlmsg_len = NLMSG_HDRLEN + nla_total_size(len);
	vec.iov_len = nlh->nlmsg_len;
	KUNIT_ASSERT_GT(test, kernel_sendmsg(program->socket, &msg, &vec, 1, nlh->nlmsg_len), 0);
	nlh = receive(test, program);
	KUNIT_ASSERT_EQ(test, nlh->nlmsg_type, NLMSG_ERROR);
	return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
}

static void nobody_listens(struct kunit *test)
{
	struct fake_wait wait;

	fake_wait_init(&wait);
	KUNIT_EXPECT_EQ(test, fake_resolve(&wait, NULL, FAR, LONG_TIME), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
}

/* The sequence number of one request is the last one before it wraps to 0. */
static void program_answers(struct kunit *test)
{
	static const struct {
		const char *peer;
		u16 type;
		int len;
		u32 seq;
	} far[] = {
		{ FAR, LS_NLA_TYPE_IPV4, 4, U32_MAX },
		{ FAR6, LS_NLA_TYPE_IPV6, 16, 0 },
	};
	struct program *program = test->priv;

	listen(test, program);
	for (int i = 0; i < ARRAY_SIZE(far); i++) {
		union addr_ip ip = fake_ip(far[i].peer);
		const struct rdma_ls_ip_resolve_header *header;
		const struct nlattr *nla;
		struct fake_wait wait;
		struct nlmsghdr *nlh;
		union ib_gid gid;
		u32 seq;

		fake_wait_init(&wait);
		KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, far[i].peer, LONG_TIME), 0);
		nlh = receive(test, program);
		KUNIT_EXPECT_EQ(test, nlh->nlmsg_type,
				RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_IP_RESOLVE));
		KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
		header = nlmsg_data(nlh);
		KUNIT_EXPECT_EQ(test, header->ifindex, program->net->dev->ifindex);
		nla = nlmsg_find_attr(nlh, sizeof(*header), far[i].type | RDMA_NLA_F_MANDATORY);
		KUNIT_ASSERT_NOT_NULL(test, nla);
		KUNIT_ASSERT_EQ(test, nla_len(nla), far[i].len);
		KUNIT_EXPECT_MEMEQ(test, nla_data(nla), i ? (void *)&ip.in6.sin6_addr :
				   (void *)&ip.in.sin_addr, far[i].len);
		seq = nlh->nlmsg_seq;
		KUNIT_EXPECT_EQ(test, seq, far[i].seq);

		/* Messages that do not answer the question change nothing. */
		KUNIT_EXPECT_EQ(test, say(test, program, seq + 1, 0, LS_NLA_TYPE_DGID, 16), 0);
		KUNIT_EXPECT_EQ(test, say(test, program, seq, 0, LS_NLA_TYPE_DGID, 15), -EINVAL);
		KUNIT_EXPECT_EQ(test, say(test, program, seq, 0, LS_NLA_TYPE_TIMEOUT, 4), -EINVAL);
		KUNIT_EXPECT_EQ(test, say(test, program, seq, RDMA_NL_LS_F_ERR, LS_NLA_TYPE_DGID,
					  16), 0);
		KUNIT_EXPECT_EQ(test, say(test, program, seq, NLM_F_REQUEST, LS_NLA_TYPE_DGID, 16),
				-EPERM);
		KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);

		KUNIT_EXPECT_EQ(test, say(test, program, seq, 0, LS_NLA_TYPE_DGID, 16), 0);
		KUNIT_EXPECT_EQ(test, fake_result(&wait), 0);
		rdma_addr_get_dgid(&wait.addr, &gid);
		KUNIT_EXPECT_EQ(test, gid.raw[0], 0xaa);
		KUNIT_EXPECT_EQ(test, gid.raw[15], 0xaa);
		rdma_addr_cancel(&wait.addr);
		KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 1);
		KUNIT_EXPECT_EQ(test, say(test, program, seq, 0, LS_NLA_TYPE_DGID, 16), 0);
	}
}

/* A request does not wait for a program that has exited. */
static void program_dies(struct kunit *test)
{
	struct program *program = test->priv;
	struct fake_wait wait;

	addr_retry_ms = 200;
	listen(test, program);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, FAR, LONG_TIME), 0);
	receive(test, program);
	hang_up(program);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), -EADDRNOTAVAIL);
}

/* A program that missed the request, or was started after it, receives the next one. */
static void program_is_asked_again(struct kunit *test)
{
	struct program *program = test->priv;
	struct fake_wait wait;
	u32 seq;

	addr_retry_ms = 50;
	listen(test, program);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, FAR, LONG_TIME), 0);
	seq = receive(test, program)->nlmsg_seq;
	KUNIT_EXPECT_EQ(test, receive(test, program)->nlmsg_seq, seq);
	rdma_addr_cancel(&wait.addr);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.calls), 0);
}

static void program_is_silent(struct kunit *test)
{
	struct program *program = test->priv;
	struct fake_wait wait;

	listen(test, program);
	fake_wait_init(&wait);
	KUNIT_ASSERT_EQ(test, fake_resolve(&wait, NULL, FAR, 100), 0);
	KUNIT_EXPECT_EQ(test, fake_result(&wait), -ETIMEDOUT);
}

static struct kunit_case service_cases[] = {
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(program_answers),
	KUNIT_CASE(program_dies),
	KUNIT_CASE(program_is_asked_again),
	KUNIT_CASE(program_is_silent),
	{}
};

static struct kunit_suite service_suite = {
	.name = "ib_core_addr_service",
	.init = service_init,
	.exit = service_exit,
	.test_cases = service_cases,
};

kunit_test_suite(service_suite);
