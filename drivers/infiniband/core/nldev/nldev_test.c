// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests to the netlink client of devices, sent through a socket and answered by the real
 * path: counters of ports, tracked objects, and devices above net devices.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "../device/test_device.h"

#define MOST	4096

/**
 * struct talk - a conversation with the netlink client
 * @device: a device whose counters are "always" and the optional "on_demand"
 * @socket: the socket
 * @file: its file; checks of privileges look at it
 * @request: request being made
 * @answer: what came back
 * @used: bytes of the request
 */
struct talk {
	struct test_device *device;
	struct socket *socket;
	struct file *file;
	u8 request[MOST] __aligned(NLMSG_ALIGNTO);
	u8 answer[MOST] __aligned(NLMSG_ALIGNTO);
	size_t used;
};

static int talk_init(struct kunit *test)
{
	struct talk *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &t->socket), 0);
	/* takes the socket over, also when it fails */
	t->file = sock_alloc_file(t->socket, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->file));
	t->socket->sk->sk_rcvtimeo = 30 * HZ;
	t->device = test_device_registered(test, "kt_nldev");
	return 0;
}

static void talk_exit(struct kunit *test)
{
	struct talk *t = test->priv;

	if (t && t->device)
		test_device_gone(t->device);
	if (t && !IS_ERR_OR_NULL(t->file))
		__fput_sync(t->file);
}

static void begin(struct talk *t, unsigned int op, u16 flags)
{
	struct nlmsghdr *nlh = (void *)t->request;

	memset(t->request, 0, sizeof(t->request));
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	t->used = NLMSG_HDRLEN;
}

static void *add(struct talk *t, u16 type, const void *data, size_t len)
{
	struct nlattr *nla = (void *)(t->request + t->used);

	nla->nla_type = type;
	nla->nla_len = nla_attr_size(len);
	if (data)
		memcpy(nla_data(nla), data, len);
	t->used += nla_total_size(len);
	return nla;
}

static void add_u32(struct talk *t, u16 type, u32 value)
{
	add(t, type, &value, sizeof(value));
}

static void add_string(struct talk *t, u16 type, const char *text)
{
	add(t, type, text, strlen(text) + 1);
}

/* A request about a port of the device. */
static void begin_port(struct talk *t, unsigned int op, u32 port)
{
	begin(t, op, 0);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

static int exchange(struct kunit *test, struct talk *t)
{
	struct nlmsghdr *nlh = (void *)t->request;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec part = { .iov_base = t->request, .iov_len = t->used };
	int got;

	nlh->nlmsg_len = t->used;
	KUNIT_ASSERT_EQ(test, kernel_sendmsg(t->socket, &msg, &part, 1, t->used), t->used);
	part = (struct kvec){ .iov_base = t->answer, .iov_len = sizeof(t->answer) };
	msg = (struct msghdr){};
	got = kernel_recvmsg(t->socket, &msg, &part, 1, sizeof(t->answer), 0);
	KUNIT_ASSERT_GE(test, got, (int)sizeof(*nlh));
	return got;
}

/*
 * Sends what was made.  Returns the errno of the acknowledgment; when something else comes
 * first, it is left in t->answer and the acknowledgment is waited for.
 */
static int ask(struct kunit *test, struct talk *t)
{
	struct nlmsghdr *nlh = (void *)t->answer;
	struct kvec part = { .iov_base = t->answer + MOST / 2, .iov_len = MOST / 2 };
	struct msghdr msg = {};
	int got = exchange(test, t);

	if (nlh->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	KUNIT_ASSERT_LT(test, got, MOST / 2);
	got = kernel_recvmsg(t->socket, &msg, &part, 1, part.iov_len, 0);
	KUNIT_ASSERT_GE(test, got, (int)sizeof(*nlh));
	nlh = part.iov_base;
	KUNIT_ASSERT_EQ(test, nlh->nlmsg_type, NLMSG_ERROR);
	return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
}

static const struct nlattr *answered(struct talk *t, u16 type)
{
	return nlmsg_find_attr((struct nlmsghdr *)t->answer, 0, type);
}

/* Counter number @n of the answer, or NULL. */
static const struct nlattr *counter(struct talk *t, unsigned int n)
{
	const struct nlattr *table = answered(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS), *entry;
	int left;

	if (!table)
		return NULL;
	nla_for_each_nested(entry, table, left)
		if (!n--)
			return entry;
	return NULL;
}

static const char *counter_name(const struct nlattr *entry)
{
	return nla_data(nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME));
}

static void values(struct kunit *test)
{
	struct talk *t = test->priv;
	const struct nlattr *entry;
	u64 first;

	begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(answered(t, RDMA_NLDEV_ATTR_PORT_INDEX)), 1);
	entry = counter(t, 0);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_STREQ(test, counter_name(entry), "always");
	first = nla_get_u64(nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE));
	/* what does not count is not shown */
	KUNIT_EXPECT_NULL(test, counter(t, 1));
	/* The device counts its readings: each request is one */
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	entry = counter(t, 0);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, first + 1,
			nla_get_u64(nla_find_nested(entry,
						    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)));
	/* port 0 is the device */
	begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	KUNIT_EXPECT_NOT_NULL(test, counter(t, 0));
}

static void values_refused(struct kunit *test)
{
	struct talk *t = test->priv;

	begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	begin_port(t, RDMA_NLDEV_CMD_STAT_GET, TEST_PORTS + 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, 0x7ffffff);
	add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	begin_port(t, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
}

/* 1 or 0 as counter @n is switched, -1 for one that always counts. */
static int switched(struct kunit *test, struct talk *t, unsigned int n)
{
	const struct nlattr *entry, *attr;

	begin_port(t, RDMA_NLDEV_CMD_STAT_GET_STATUS, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	entry = counter(t, n);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	attr = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), n);
	attr = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC);
	return attr ? nla_get_u8(attr) : -1;
}

/* Counters that are to count: one number, or none. */
static int set_counters(struct kunit *test, struct talk *t, int number)
{
	u32 value = number;
	struct nlattr *list;

	begin_port(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	list = add(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, NULL, 0);
	if (number >= 0) {
		add(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, &value, sizeof(value));
		list->nla_len += nla_total_size(sizeof(value));
	}
	return ask(test, t);
}

static int modify_answer;

static int modify_hw_stat(struct ib_device *device, u32 port, unsigned int index, bool enable)
{
	return modify_answer;
}

static void switching(struct kunit *test)
{
	struct talk *t = test->priv;

	KUNIT_EXPECT_EQ(test, switched(test, t, 0), -1);
	KUNIT_EXPECT_EQ(test, switched(test, t, 1), 0);
	KUNIT_EXPECT_EQ(test, set_counters(test, t, 1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, set_counters(test, t, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_counters(test, t, 2), -EINVAL);

	t->device->ib.ops.modify_hw_stat = modify_hw_stat;
	modify_answer = -EIO;
	KUNIT_EXPECT_EQ(test, set_counters(test, t, 1), -EIO);
	KUNIT_EXPECT_EQ(test, switched(test, t, 1), 0);
	modify_answer = 0;
	KUNIT_EXPECT_EQ(test, set_counters(test, t, 1), 0);
	KUNIT_EXPECT_EQ(test, switched(test, t, 1), 1);
	begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	KUNIT_EXPECT_NOT_NULL(test, counter(t, 1));
	/* those not named stop counting */
	KUNIT_EXPECT_EQ(test, set_counters(test, t, -1), 0);
	KUNIT_EXPECT_EQ(test, switched(test, t, 1), 0);

	begin_port(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EOPNOTSUPP);
}

/* ---- devices above net devices ---- */

static char linked[IB_DEVICE_NAME_MAX];

static int newlink(const char *name, struct net_device *netdev)
{
	strscpy(linked, name, sizeof(linked));
	return strcmp(name, "kt_bad") ? 0 : -EEXIST;
}

static struct rdma_link_ops link_ops = {
	.type = "kt_link",
	.newlink = newlink,
};

static int make_link(struct kunit *test, const char *name, const char *type, const char *netdev)
{
	struct talk *t = test->priv;

	begin(t, RDMA_NLDEV_CMD_NEWLINK, 0);
	add_string(t, RDMA_NLDEV_ATTR_DEV_NAME, name);
	add_string(t, RDMA_NLDEV_ATTR_LINK_TYPE, type);
	if (netdev)
		add_string(t, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return ask(test, t);
}

/* A driver that has this leaves freeing the device to the core. */
static void nothing_besides(struct ib_device *device)
{
}

static void links(struct kunit *test)
{
	struct talk *t = test->priv;

	rdma_link_register(&link_ops);
	KUNIT_EXPECT_EQ(test, make_link(test, "kt_one", "kt_link", "lo"), 0);
	KUNIT_EXPECT_STREQ(test, linked, "kt_one");
	KUNIT_EXPECT_EQ(test, make_link(test, "kt_bad", "kt_link", "lo"), -EEXIST);
	KUNIT_EXPECT_EQ(test, make_link(test, "kt%d", "kt_link", "lo"), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_link(test, "", "kt_link", "lo"), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_link(test, "kt_one", "kt_link", "kt_none"), -ENODEV);
	KUNIT_EXPECT_EQ(test, make_link(test, "kt_one", "kt_link", NULL), -EINVAL);
	rdma_link_unregister(&link_ops);
	KUNIT_EXPECT_EQ(test, make_link(test, "kt_one", "kt_link", "lo"), -EINVAL);

	/* Only what was made so is removed so */
	begin(t, RDMA_NLDEV_CMD_DELLINK, 0);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	t->device->ib.attrs.kernel_cap_flags |= IBK_ALLOW_USER_UNREG;
	t->device->ib.ops.dealloc_driver = nothing_besides;
	KUNIT_EXPECT_EQ(test, ask(test, t), 0);
	t->device = NULL;
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
}

/* ---- objects ---- */

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

/* A QP gets the number its maker asks for. */
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
	.query_qp = ask_qp,
	.fill_res_qp_entry_raw = put_raw_qp,
	.destroy_qp = end_qp,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_srq = sizeof(struct ib_srq),
	.size_ib_qp = sizeof(struct ib_qp),
};

/* Numbers of QPs: three on the SRQ stand in a row, one apart; 9 is not on it. */
static const u32 qp_nums[] = { 5, 6, 7, 9, 12 };

struct objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp[ARRAY_SIZE(qp_nums)];
};

static void make_objects(struct kunit *test, struct ib_device *ib, struct objects *o)
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
	for (int i = 0; i < ARRAY_SIZE(qp_nums); i++) {
		qp_attr.source_qpn = qp_nums[i];
		qp_attr.send_cq = o->cq;
		qp_attr.recv_cq = o->cq;
		qp_attr.srq = qp_nums[i] == 9 ? NULL : o->srq;
		o->qp[i] = ib_create_qp(o->pd, &qp_attr);
		KUNIT_ASSERT_FALSE(test, IS_ERR(o->qp[i]));
		o->qp[i]->port = 1;
	}
}

static void end_objects(struct objects *o)
{
	for (int i = 0; i < ARRAY_SIZE(qp_nums); i++)
		ib_destroy_qp(o->qp[i]);
	ib_destroy_srq(o->srq);
	ib_destroy_cq(o->cq);
	ib_dealloc_pd(o->pd);
}

/* Asks for one object by its number, of a port if one is given. */
static int ask_object(struct kunit *test, struct talk *t, unsigned int op, u16 type, u32 number,
		      u32 port)
{
	begin(t, op, 0);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	add_u32(t, type, number);
	if (port)
		add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return ask(test, t);
}

static u32 range_end(const struct nlattr *range, u16 type)
{
	const struct nlattr *one = nla_find_nested(range, RDMA_NLDEV_ATTR_RES_LQPN);

	return nla_get_u32(one ?: nla_find_nested(range, type));
}

static void objects(struct kunit *test)
{
	static const u32 ranges[][2] = { { 5, 7 }, { 12, 12 } };
	struct talk *t = test->priv;
	const struct nlattr *range;
	unsigned int n = 0;
	struct objects o;
	int left;

	make_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET,
					 RDMA_NLDEV_ATTR_RES_SRQN, o.srq->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(answered(t, RDMA_NLDEV_ATTR_RES_PDN)), o.pd->res.id);
	nla_for_each_nested(range, answered(t, RDMA_NLDEV_ATTR_RES_QP), left) {
		KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(ranges));
		KUNIT_EXPECT_EQ(test, range_end(range, RDMA_NLDEV_ATTR_MIN_RANGE), ranges[n][0]);
		KUNIT_EXPECT_EQ(test, range_end(range, RDMA_NLDEV_ATTR_MAX_RANGE), ranges[n][1]);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(ranges));
	KUNIT_EXPECT_STREQ(test, nla_data(answered(t, RDMA_NLDEV_ATTR_RES_KERN_NAME)),
			   KBUILD_MODNAME);

	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET,
					 RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(answered(t, RDMA_NLDEV_ATTR_RES_CQE)), 33);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_PD_GET,
					 RDMA_NLDEV_ATTR_RES_PDN, o.pd->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					 RDMA_NLDEV_ATTR_RES_LQPN, 6, 1), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u8(answered(t, RDMA_NLDEV_ATTR_RES_STATE)), IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, nla_get_u32(answered(t, RDMA_NLDEV_ATTR_RES_SQ_PSN)), 77);

	/* No number, one nobody has, a port where there is none to name, and the reverse */
	begin_port(t, RDMA_NLDEV_CMD_RES_QP_GET, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					 RDMA_NLDEV_ATTR_RES_LQPN, 8, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					 RDMA_NLDEV_ATTR_RES_LQPN, 6, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					 RDMA_NLDEV_ATTR_RES_LQPN, 6, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET,
					 RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 1), -EINVAL);
	end_objects(&o);
}

/* Objects of one kind in a dump's first message; its end comes by itself. */
static int dumped(struct kunit *test, struct talk *t, unsigned int op, u16 table, u32 port)
{
	const struct nlattr *entry;
	struct nlmsghdr *nlh = (void *)t->answer;
	int left, n = 0;

	begin(t, op, NLM_F_DUMP);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	if (port)
		add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	exchange(test, t);
	if (nlh->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	if (nlh->nlmsg_type == NLMSG_DONE)
		return 0;
	nla_for_each_nested(entry, answered(t, table), left)
		n += nla_len(entry) > 0;
	while (nlh->nlmsg_type != NLMSG_DONE) {
		struct kvec part = { .iov_base = t->request, .iov_len = MOST };
		struct msghdr msg = {};

		KUNIT_ASSERT_GE(test, kernel_recvmsg(t->socket, &msg, &part, 1, MOST, 0), 0);
		nlh = (void *)t->request;
	}
	return n;
}

static void dumps(struct kunit *test)
{
	struct talk *t = test->priv;
	struct objects o;

	make_objects(test, &t->device->ib, &o);
	o.qp[0]->port = 2;
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP,
				     0), 5);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP,
				     1), 4);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ,
				     0), 1);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX,
				     0), 0);
	end_objects(&o);
}

/* The driver's own view, where it has one; only of QPs here. */
static void raw(struct kunit *test)
{
	struct talk *t = test->priv;
	struct objects o;

	make_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
					 RDMA_NLDEV_ATTR_RES_LQPN, 6, 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, answered(t, RDMA_NLDEV_ATTR_RES_RAW));
	KUNIT_EXPECT_EQ(test, nla_get_u32(answered(t, RDMA_NLDEV_ATTR_RES_RAW)), 600);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
					 RDMA_NLDEV_ATTR_RES_LQPN, 6, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
					 RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET_RAW,
					 RDMA_NLDEV_ATTR_RES_SRQN, o.srq->res.id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_object(test, t, RDMA_NLDEV_CMD_RES_MR_GET_RAW,
					 RDMA_NLDEV_ATTR_RES_MRN, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
				     RDMA_NLDEV_ATTR_RES_QP, 0), 5);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_MR_GET_RAW,
				     RDMA_NLDEV_ATTR_RES_MR, 0), 0);
	end_objects(&o);
}

/* What a dump of counters ends with: the error is in its last message. */
static int stat_dump(struct kunit *test, struct talk *t, bool device, u32 res)
{
	struct nlmsghdr *nlh = (void *)t->answer;

	begin(t, RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP);
	if (device)
		add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	if (res)
		add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, res);
	exchange(test, t);
	KUNIT_ASSERT_EQ(test, nlh->nlmsg_type, NLMSG_DONE);
	return *(int *)nlmsg_data(nlh);
}

static void stat_dumps(struct kunit *test)
{
	struct talk *t = test->priv;

	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, false, RDMA_NLDEV_ATTR_RES_QP), -EINVAL);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_CQ), -EINVAL);
	/* Nothing is bound to a counter, and there is no region */
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_QP), 0);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_MR), 0);
	begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_MR);
	KUNIT_EXPECT_EQ(test, ask(test, t), -EINVAL);
	add_u32(t, RDMA_NLDEV_ATTR_RES_MRN, 1);
	KUNIT_EXPECT_EQ(test, ask(test, t), -ENOENT);
}

/* What drivers add: names, how to print, values; and a message that is full. */
static void driver_values(struct kunit *test)
{
	static const u16 types[] = {
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_STRING,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_U32,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE,
		RDMA_NLDEV_ATTR_DRIVER_U32,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_U64,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE,
		RDMA_NLDEV_ATTR_DRIVER_U64,
	};
	struct sk_buff *msg = nlmsg_new(512, GFP_KERNEL), *full = nlmsg_new(0, GFP_KERNEL);
	const struct nlattr *attr;
	unsigned int n = 0;
	int left;

	KUNIT_ASSERT_TRUE(test, msg && full);
	KUNIT_EXPECT_EQ(test, 0, rdma_nl_put_driver_string(msg, "state", "good"));
	KUNIT_EXPECT_EQ(test, 0, rdma_nl_put_driver_u32(msg, "n", 7));
	KUNIT_EXPECT_EQ(test, 0, rdma_nl_put_driver_u32_hex(msg, "hex", 0xabc));
	KUNIT_EXPECT_EQ(test, 0, rdma_nl_put_driver_u64(msg, "long", 1ULL << 40));
	KUNIT_EXPECT_EQ(test, 0, rdma_nl_put_driver_u64_hex(msg, "address", 1ULL << 41));
	nla_for_each_attr(attr, (const struct nlattr *)msg->data, msg->len, left) {
		if (nla_type(attr) == RDMA_NLDEV_ATTR_PAD)
			continue;
		KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(types));
		KUNIT_EXPECT_EQ(test, types[n], nla_type(attr));
		switch (n++) {
		case 1:
			KUNIT_EXPECT_STREQ(test, "good", (const char *)nla_data(attr));
			break;
		case 3:
			KUNIT_EXPECT_EQ(test, 7, nla_get_u32(attr));
			break;
		case 5:
			KUNIT_EXPECT_EQ(test, RDMA_NLDEV_PRINT_TYPE_HEX, nla_get_u8(attr));
			break;
		case 11:
			KUNIT_EXPECT_EQ(test, 1ULL << 41, nla_get_u64(attr));
			break;
		}
	}
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(types), n);

	skb_put(full, skb_tailroom(full));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, rdma_nl_put_driver_string(full, "state", "good"));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, rdma_nl_put_driver_u32(full, "n", 7));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, rdma_nl_put_driver_u64_hex(full, "n", 7));
	nlmsg_free(full);
	nlmsg_free(msg);
}

static struct kunit_case nldev_cases[] = {
	KUNIT_CASE(values),
	KUNIT_CASE(values_refused),
	KUNIT_CASE(switching),
	KUNIT_CASE(links),
	KUNIT_CASE(objects),
	KUNIT_CASE(dumps),
	KUNIT_CASE(raw),
	KUNIT_CASE(stat_dumps),
	KUNIT_CASE(driver_values),
	{}
};

static struct kunit_suite nldev_suite = {
	.name = "rdma_core_nldev",
	.init = talk_init,
	.exit = talk_exit,
	.test_cases = nldev_cases,
};

kunit_test_suite(nldev_suite);
