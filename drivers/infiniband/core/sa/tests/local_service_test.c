// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the local service, over a socket as ibacm uses it.
 */
#include <kunit/test.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <uapi/rdma/ib_user_sa.h>

#include "../sa_priv.h"
#include "fake_sa.h"

#define MESSAGE_SIZE 512

/**
 * struct service - the program that acts as local service
 * @fake: device
 * @socket: its socket, bound to the group
 * @file: the socket's file
 * @heard: the message that it received last
 * @len: its length in bytes
 * @calls: how often the query's callback ran
 * @status: status that the callback got
 * @num_prs: number of paths that it got
 * @dlid: LID of the first path
 * @flags: flags of the first path
 */
struct service {
	struct fake_sa *fake;
	struct socket *socket;
	struct file *file;
	u8 heard[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO);
	int len;
	unsigned int calls;
	int status;
	unsigned int num_prs;
	u16 dlid;
	u32 flags;
};

static struct ib_sa_client user;

static void hear(int status, struct sa_path_rec *resp, unsigned int num_prs, void *context)
{
	struct service *s = context;

	s->calls++;
	s->status = status;
	s->num_prs = num_prs;
	if (!num_prs)
		return;
	s->dlid = be16_to_cpu(resp->ib.dlid);
	s->flags = resp->flags;
}

static int ask(struct service *s, ib_sa_comp_mask mask, u8 reversible, struct ib_sa_query **query)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

	s->calls = 0;
	s->dlid = 0;
	rec.service_id = cpu_to_be64(0x1234);
	rec.dgid.raw[15] = 0xd;
	rec.sgid.raw[15] = 0x5;
	rec.traffic_class = 8;
	rec.pkey = cpu_to_be16(0x8001);
	rec.qos_class = cpu_to_be16(3);
	rec.reversible = reversible;
	return ib_sa_path_rec_get(&user, &s->fake->ib, 1, &rec, mask, 1000, GFP_KERNEL, hear, s,
				  query);
}

static void listen(struct kunit *test, struct service *s)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = BIT(RDMA_NL_GROUP_LS - 1),
	};

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &s->socket), 0);
	/* takes over the socket, also on failure */
	s->file = sock_alloc_file(s->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->file));
	s->socket->sk->sk_rcvtimeo = 30 * HZ;
	KUNIT_ASSERT_EQ(test, kernel_bind(s->socket, (struct sockaddr *)&address,
					  sizeof(address)), 0);
}

static void hang_up(struct service *s)
{
	if (!IS_ERR_OR_NULL(s->file))
		__fput_sync(s->file);
	s->file = NULL;
}

static struct nlmsghdr *receive(struct kunit *test, struct service *s)
{
	struct kvec vec = { .iov_base = s->heard, .iov_len = sizeof(s->heard) };
	struct msghdr msg = {};

	s->len = kernel_recvmsg(s->socket, &msg, &vec, 1, sizeof(s->heard), 0);
	KUNIT_ASSERT_GT(test, s->len, NLMSG_HDRLEN);
	return (struct nlmsghdr *)s->heard;
}

/*
 * Responds as the program, with this sequence number and with @paths paths to DLID 1, 2, ... with
 * flags
 */
static int reply(struct service *s, u32 seq, u16 nl_flags, unsigned int paths, u32 flags)
{
	u8 message[MESSAGE_SIZE] __aligned(NLMSG_ALIGNTO) = {};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct nlmsghdr *nlh = (void *)message;
	struct kvec vec = { .iov_base = message };

	nlh->nlmsg_len = NLMSG_HDRLEN;
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_RESOLVE);
	nlh->nlmsg_flags = nl_flags;
	nlh->nlmsg_seq = seq;
	for (unsigned int i = 0; i < paths; i++) {
		struct nlattr *nla = (void *)(message + nlh->nlmsg_len);
		struct ib_path_rec_data data = { .flags = flags };
		struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

		sa_path_set_dlid(&rec, i + 1);
		ib_sa_pack_path(&rec, data.path_rec);
		nla->nla_type = LS_NLA_TYPE_PATH_RECORD;
		nla->nla_len = nla_attr_size(sizeof(data));
		memcpy(nla_data(nla), &data, sizeof(data));
		nlh->nlmsg_len += nla_total_size(sizeof(data));
	}
	vec.iov_len = nlh->nlmsg_len;
	return kernel_sendmsg(s->socket, &msg, &vec, 1, nlh->nlmsg_len);
}

static int service_init(struct kunit *test)
{
	struct service *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	test->priv = s;
	sa_last_question = U32_MAX - 1;
	ib_sa_register_client(&user);
	s->fake = fake_sa_begin(test);
	listen(test, s);
	return 0;
}

static void service_exit(struct kunit *test)
{
	struct service *s = test->priv;

	hang_up(s);
	sa_local_set_timeout(2000);
	fake_sa_end(test, s->fake);
	ib_sa_unregister_client(&user);
}

static const struct nlattr *find(const struct nlmsghdr *nlh, u16 type)
{
	return nlmsg_find_attr(nlh, sizeof(struct rdma_ls_resolve_header), type);
}

/* The first request has the largest sequence number, the next one has 0. */
static void question(struct kunit *test)
{
	struct service *s = test->priv;
	const struct rdma_ls_resolve_header *header;
	const struct nlattr *nla;
	struct nlmsghdr *nlh;

	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_SERVICE_ID | IB_SA_PATH_REC_DGID |
				  IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_TRAFFIC_CLASS |
				  IB_SA_PATH_REC_PKEY | IB_SA_PATH_REC_QOS_CLASS |
				  IB_SA_PATH_REC_REVERSIBLE, 1, NULL), 0);
	KUNIT_EXPECT_EQ(test, s->fake->posts, 0);
	nlh = receive(test, s);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_type, 4 << 10);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, s->len);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, U32_MAX);
	header = nlmsg_data(nlh);
	KUNIT_EXPECT_STREQ(test, (char *)header->device_name, dev_name(&s->fake->ib.dev));
	KUNIT_EXPECT_EQ(test, header->port_num, 1);
	KUNIT_EXPECT_EQ(test, header->path_use, LS_RESOLVE_PATH_USE_ALL);
	nla = find(nlh, LS_NLA_TYPE_SERVICE_ID | RDMA_NLA_F_MANDATORY);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nla), 0x1234);
	nla = find(nlh, LS_NLA_TYPE_DGID | RDMA_NLA_F_MANDATORY);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_len(nla), 16);
	KUNIT_EXPECT_EQ(test, ((u8 *)nla_data(nla))[15], 0xd);
	KUNIT_EXPECT_NOT_NULL(test, find(nlh, LS_NLA_TYPE_SGID | RDMA_NLA_F_MANDATORY));
	nla = find(nlh, LS_NLA_TYPE_TCLASS);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u8(nla), 8);
	nla = find(nlh, LS_NLA_TYPE_PKEY | RDMA_NLA_F_MANDATORY);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u16(nla), 0x8001);
	nla = find(nlh, LS_NLA_TYPE_QOS_CLASS | RDMA_NLA_F_MANDATORY);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u16(nla), 3);
	reply(s, nlh->nlmsg_seq, 0, 1, IB_PATH_PRIMARY);
	KUNIT_EXPECT_EQ(test, s->calls, 1);

	/* The request has only the attributes that were given, and is unidirectional. */
	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 1, NULL), 0);
	nlh = receive(test, s);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, 0);
	header = nlmsg_data(nlh);
	KUNIT_EXPECT_EQ(test, header->path_use, LS_RESOLVE_PATH_USE_UNIDIRECTIONAL);
	KUNIT_EXPECT_NULL(test, find(nlh, LS_NLA_TYPE_PKEY | RDMA_NLA_F_MANDATORY));
	reply(s, nlh->nlmsg_seq, 0, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
}

static void answer_by_paths(struct kunit *test)
{
	struct service *s = test->priv;
	struct nlmsghdr *nlh;

	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	nlh = receive(test, s);
	/* This response belongs to no request. */
	reply(s, nlh->nlmsg_seq + 1, 0, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 0);
	reply(s, nlh->nlmsg_seq, 0, 4, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->status, 0);
	KUNIT_EXPECT_EQ(test, s->num_prs, 3);
	KUNIT_EXPECT_EQ(test, s->dlid, 1);
	KUNIT_EXPECT_EQ(test, s->flags, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->fake->posts, 0);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(s->fake), 0);
	/* A second response is ignored. */
	reply(s, nlh->nlmsg_seq, 0, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
}

static void answered_by_manager(struct service *s)
{
	u8 record[64] = {};

	record[41] = 0x77;
	fake_mad_answer(fake_sa_posted(s->fake, 0), 0, record, sizeof(record));
}

static void refusal(struct kunit *test)
{
	struct service *s = test->priv;
	struct nlmsghdr *nlh;

	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	nlh = receive(test, s);
	reply(s, nlh->nlmsg_seq, RDMA_NL_LS_F_ERR, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 0);
	KUNIT_ASSERT_EQ(test, s->fake->posts, 1);
	answered_by_manager(s);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->dlid, 0x77);

	/* A response without usable paths is no response. */
	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	nlh = receive(test, s);
	reply(s, nlh->nlmsg_seq, 0, 2, IB_PATH_PRIMARY | IB_PATH_INBOUND);
	KUNIT_ASSERT_EQ(test, s->fake->posts, 2);
	answered_by_manager(s);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
}

static void silence(struct kunit *test)
{
	struct service *s = test->priv;
	struct nlmsghdr *nlh;

	KUNIT_EXPECT_EQ(test, sa_local_set_timeout(99), 100);
	KUNIT_EXPECT_EQ(test, sa_local_set_timeout(300000), 200000);
	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	nlh = receive(test, s);
	/* A shorter time-out applies to waiting requests, too. */
	KUNIT_EXPECT_EQ(test, sa_local_set_timeout(100), 100);
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&s->fake->posted, 30 * HZ), 0);
	KUNIT_EXPECT_EQ(test, s->calls, 0);
	/* This response comes too late. */
	reply(s, nlh->nlmsg_seq, 0, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 0);
	answered_by_manager(s);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->dlid, 0x77);
}

static void cancelled_here(struct kunit *test)
{
	struct service *s = test->priv;
	struct ib_sa_query *query;
	struct nlmsghdr *nlh;
	int id = ask(s, IB_SA_PATH_REC_DGID, 0, &query);

	KUNIT_ASSERT_GT(test, id, 0);
	nlh = receive(test, s);
	ib_sa_cancel_query(id, query);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->status, -EINTR);
	reply(s, nlh->nlmsg_seq, 0, 1, IB_PATH_PRIMARY | IB_PATH_OUTBOUND);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->fake->posts, 0);

	/* The port of a waiting request is removed. */
	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	ib_unregister_device(&s->fake->ib);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
	KUNIT_EXPECT_EQ(test, s->status, -EINTR);
}

/* If no program listens, no request is sent. */
static void nobody_listens(struct kunit *test)
{
	struct service *s = test->priv;

	hang_up(s);
	KUNIT_ASSERT_GT(test, ask(s, IB_SA_PATH_REC_DGID, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, s->fake->posts, 1);
	answered_by_manager(s);
	KUNIT_EXPECT_EQ(test, s->calls, 1);
}

static struct kunit_case service_cases[] = {
	KUNIT_CASE(question),
	KUNIT_CASE(answer_by_paths),
	KUNIT_CASE(refusal),
	KUNIT_CASE(silence),
	KUNIT_CASE(cancelled_here),
	KUNIT_CASE(nobody_listens),
	{}
};

static struct kunit_suite service_suite = {
	.name = "ib_core_sa_local_service",
	.init = service_init,
	.exit = service_exit,
	.test_cases = service_cases,
};

kunit_test_suite(service_suite);
