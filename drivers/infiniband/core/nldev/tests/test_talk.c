// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See test_talk.h.
 */
#include <linux/file.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

#include "test_talk.h"

/**
 * talk_init() - begin a case: test->priv is a conversation about a device of its own
 * @test: the case
 *
 * Return: 0
 */
int talk_init(struct kunit *test)
{
	struct talk *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &t->socket), 0);
	/* This takes over the socket, also on failure. */
	t->file = sock_alloc_file(t->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->file));
	t->socket->sk->sk_rcvtimeo = 30 * HZ;
	t->device = test_device_registered(test, "kt_nldev");
	return 0;
}

/**
 * talk_exit() - end a case
 * @test: the case
 */
void talk_exit(struct kunit *test)
{
	struct talk *t = test->priv;

	if (t && t->device)
		test_device_gone(t->device);
	if (t && !IS_ERR_OR_NULL(t->file))
		__fput_sync(t->file);
}

/**
 * talk_begin() - begin a request
 * @t: conversation
 * @op: operation, RDMA_NLDEV_CMD_*
 * @flags: NLM_F_* besides those of every request
 */
void talk_begin(struct talk *t, unsigned int op, u16 flags)
{
	struct nlmsghdr *nlh = (void *)t->request;

	memset(t->request, 0, sizeof(t->request));
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	t->used = NLMSG_HDRLEN;
}

/**
 * talk_add() - append an attribute
 * @t: conversation
 * @type: its type
 * @data: its value, or NULL if it is written later
 * @len: its length in bytes
 *
 * Return: the attribute.
 */
void *talk_add(struct talk *t, u16 type, const void *data, size_t len)
{
	struct nlattr *nla = (void *)(t->request + t->used);

	nla->nla_type = type;
	nla->nla_len = nla_attr_size(len);
	if (data)
		memcpy(nla_data(nla), data, len);
	t->used += nla_total_size(len);
	return nla;
}

/**
 * talk_add_u32() - append a number
 * @t: conversation
 * @type: attribute type
 * @value: the number
 */
void talk_add_u32(struct talk *t, u16 type, u32 value)
{
	talk_add(t, type, &value, sizeof(value));
}

/**
 * talk_add_string() - append a text
 * @t: conversation
 * @type: attribute type
 * @text: the text
 */
void talk_add_string(struct talk *t, u16 type, const char *text)
{
	talk_add(t, type, text, strlen(text) + 1);
}

/**
 * talk_begin_port() - begin a request about a port of the device
 * @t: conversation
 * @op: operation
 * @port: port number
 */
void talk_begin_port(struct talk *t, unsigned int op, u32 port)
{
	talk_begin(t, op, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	talk_add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

/**
 * talk_send() - send the request
 * @test: the case
 * @t: conversation
 */
void talk_send(struct kunit *test, struct talk *t)
{
	struct nlmsghdr *nlh = (void *)t->request;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec part = { .iov_base = t->request, .iov_len = t->used };

	nlh->nlmsg_len = t->used;
	KUNIT_ASSERT_EQ(test, kernel_sendmsg(t->socket, &msg, &part, 1, t->used), t->used);
}

/**
 * talk_receive() - receive a message
 * @t: conversation; t->answer takes the message
 *
 * Return: its length in bytes, or a negative errno.
 */
int talk_receive(struct talk *t)
{
	struct kvec part = { .iov_base = t->answer, .iov_len = sizeof(t->answer) };
	struct msghdr msg = {};

	return kernel_recvmsg(t->socket, &msg, &part, 1, sizeof(t->answer), 0);
}

/**
 * talk_exchange() - send the request, and receive the first message
 * @test: the case
 * @t: conversation; t->answer takes the message
 *
 * Return: its length in bytes.
 */
int talk_exchange(struct kunit *test, struct talk *t)
{
	int got;

	talk_send(test, t);
	got = talk_receive(t);
	KUNIT_ASSERT_GE(test, got, (int)sizeof(struct nlmsghdr));
	return got;
}

/**
 * talk_ask() - send the request, and wait for the acknowledgment
 * @test: the case
 * @t: conversation; t->answer has the message before the acknowledgment
 *
 * Return: the errno of the acknowledgment.
 */
int talk_ask(struct kunit *test, struct talk *t)
{
	struct nlmsghdr *nlh = (void *)t->answer;
	struct kvec part = { .iov_base = t->answer + TALK_MOST / 2, .iov_len = TALK_MOST / 2 };
	struct msghdr msg = {};
	int got = talk_exchange(test, t);

	if (nlh->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	KUNIT_ASSERT_LT(test, got, TALK_MOST / 2);
	got = kernel_recvmsg(t->socket, &msg, &part, 1, part.iov_len, 0);
	KUNIT_ASSERT_GE(test, got, (int)sizeof(*nlh));
	nlh = part.iov_base;
	KUNIT_ASSERT_EQ(test, nlh->nlmsg_type, NLMSG_ERROR);
	return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
}

/**
 * talk_answered() - get an attribute of the answer
 * @t: conversation
 * @type: attribute type
 *
 * Return: the attribute or NULL.
 */
const struct nlattr *talk_answered(struct talk *t, u16 type)
{
	return nlmsg_find_attr((struct nlmsghdr *)t->answer, 0, type);
}

/**
 * talk_counter() - get a counter of the answer
 * @t: conversation
 * @n: its index
 *
 * Return: the entry or NULL.
 */
const struct nlattr *talk_counter(struct talk *t, unsigned int n)
{
	const struct nlattr *table = talk_answered(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS), *entry;
	int left;

	if (!table)
		return NULL;
	nla_for_each_nested(entry, table, left)
		if (!n--)
			return entry;
	return NULL;
}

/**
 * talk_counter_name() - get the name of a counter
 * @entry: entry of talk_counter()
 *
 * Return: the name.
 */
const char *talk_counter_name(const struct nlattr *entry)
{
	return nla_data(nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME));
}

static int never_refuses(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int make_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	cq->cqe = attr->cqe;
	return 0;
}

static int end_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

static int make_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

static int end_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return 0;
}

/* A QP gets the number that its creator asks for. */
static int make_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = attr->source_qpn;
	return 0;
}

static int ask_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	attr->qp_state = IB_QPS_RTS;
	attr->sq_psn = 77;
	return 0;
}

static int change_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	return 0;
}

static int end_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static int put_raw_qp(struct sk_buff *msg, struct ib_qp *qp)
{
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RAW, 100 * qp->qp_num);
}

static const struct ib_device_ops object_ops = {
	.alloc_pd = never_refuses,
	.dealloc_pd = never_refuses,
	.create_cq = make_cq,
	.destroy_cq = end_cq,
	.create_srq = make_srq,
	.destroy_srq = end_srq,
	.create_qp = make_qp,
	.modify_qp = change_qp,
	.query_qp = ask_qp,
	.fill_res_qp_entry_raw = put_raw_qp,
	.destroy_qp = end_qp,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_srq = sizeof(struct ib_srq),
	.size_ib_qp = sizeof(struct ib_qp),
};

/* Three QPs on the SRQ have consecutive numbers, one is apart; 9 does not use the SRQ. */
const u32 talk_qp_nums[TALK_QPS] = { 5, 6, 7, 9, 12 };

/**
 * talk_objects() - create objects on a device
 * @test: the case
 * @ib: the device
 * @o: receives them
 */
void talk_objects(struct kunit *test, struct ib_device *ib, struct talk_objects *o)
{
	struct ib_srq_init_attr srq_attr = { .srq_type = IB_SRQT_BASIC };
	struct ib_cq_init_attr cq_attr = { .cqe = 33 };
	struct ib_qp_init_attr qp_attr = { .qp_type = IB_QPT_RC };

	ib_set_device_ops(ib, &object_ops);
	ib->attrs.kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	o->pd = ib_alloc_pd(ib, 0);
	o->cq = ib_create_cq(ib, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(o->pd) || IS_ERR(o->cq));
	o->srq = ib_create_srq(o->pd, &srq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(o->srq));
	for (int i = 0; i < TALK_QPS; i++) {
		qp_attr.source_qpn = talk_qp_nums[i];
		qp_attr.send_cq = o->cq;
		qp_attr.recv_cq = o->cq;
		qp_attr.srq = talk_qp_nums[i] == 9 ? NULL : o->srq;
		o->qp[i] = ib_create_qp(o->pd, &qp_attr);
		KUNIT_ASSERT_FALSE(test, IS_ERR(o->qp[i]));
		o->qp[i]->port = 1;
	}
}

/**
 * talk_objects_end() - destroy objects
 * @o: objects of talk_objects(); QPs that are NULL are destroyed already
 */
void talk_objects_end(struct talk_objects *o)
{
	for (int i = 0; i < TALK_QPS; i++)
		if (o->qp[i])
			ib_destroy_qp(o->qp[i]);
	ib_destroy_srq(o->srq);
	ib_destroy_cq(o->cq);
	ib_dealloc_pd(o->pd);
}

/**
 * talk_ask_object() - request an object
 * @test: the case
 * @t: conversation
 * @op: operation
 * @type: attribute of the object's id
 * @number: the id
 * @port: port of the object, or 0 for the device
 *
 * Return: the errno of the acknowledgment.
 */
int talk_ask_object(struct kunit *test, struct talk *t, unsigned int op, u16 type, u32 number,
		    u32 port)
{
	talk_begin(t, op, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	talk_add_u32(t, type, number);
	if (port)
		talk_add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return talk_ask(test, t);
}
