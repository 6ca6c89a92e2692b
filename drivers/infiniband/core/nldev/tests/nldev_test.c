// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests to the netlink client of devices, sent through a socket and answered by the real
 * code: counters of ports, tracked objects, software devices and sub-devices.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "../../device/device.h"
#include "../../verbs/verbs.h"
#include "test_talk.h"

static void values(struct kunit *test)
{
	struct talk *t = test->priv;
	const struct nlattr *entry;
	u64 first;

	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(talk_answered(t, RDMA_NLDEV_ATTR_PORT_INDEX)), 1);
	entry = talk_counter(t, 0);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_STREQ(test, talk_counter_name(entry), "always");
	first = nla_get_u64(nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE));
	/* A disabled counter is not shown. */
	KUNIT_EXPECT_NULL(test, talk_counter(t, 1));
	/* The device counts its readings: each request is one. */
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	entry = talk_counter(t, 0);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, first + 1,
			nla_get_u64(nla_find_nested(entry,
						    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)));
	/* Port 0 is the device. */
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	KUNIT_EXPECT_NOT_NULL(test, talk_counter(t, 0));
}

static void values_refused(struct kunit *test)
{
	struct talk *t = test->priv;

	talk_begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, TEST_PORTS + 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, 0x7ffffff);
	talk_add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
}

/* Returns 1 or 0 if counter @n is optional, and enabled or disabled, and -1 if it always counts. */
static int switched(struct kunit *test, struct talk *t, unsigned int n)
{
	const struct nlattr *entry, *attr;

	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET_STATUS, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	entry = talk_counter(t, n);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	attr = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), n);
	attr = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC);
	return attr ? nla_get_u8(attr) : -1;
}

/* Enables one optional counter, or none if @number is negative. */
static int set_counters(struct kunit *test, struct talk *t, int number)
{
	u32 value = number;
	struct nlattr *list;

	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	list = talk_add(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, NULL, 0);
	if (number >= 0) {
		talk_add(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, &value, sizeof(value));
		list->nla_len += nla_total_size(sizeof(value));
	}
	return talk_ask(test, t);
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
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	KUNIT_EXPECT_NOT_NULL(test, talk_counter(t, 1));
	/* Counters that are not named are disabled. */
	KUNIT_EXPECT_EQ(test, set_counters(test, t, -1), 0);
	KUNIT_EXPECT_EQ(test, switched(test, t, 1), 0);

	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EOPNOTSUPP);
}

/* ---- software devices ---- */

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

	talk_begin(t, RDMA_NLDEV_CMD_NEWLINK, 0);
	talk_add_string(t, RDMA_NLDEV_ATTR_DEV_NAME, name);
	talk_add_string(t, RDMA_NLDEV_ATTR_LINK_TYPE, type);
	if (netdev)
		talk_add_string(t, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return talk_ask(test, t);
}

/* A driver with this operation leaves freeing the device to the core. */
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

	/* DELLINK removes only devices that NEWLINK has created. */
	talk_begin(t, RDMA_NLDEV_CMD_DELLINK, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	t->device->ib.attrs.kernel_cap_flags |= IBK_ALLOW_USER_UNREG;
	t->device->ib.ops.dealloc_driver = nothing_besides;
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	t->device = NULL;
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
}

/* ---- sub-devices ---- */

static struct test_device *below;

static struct ib_device *add_below(struct ib_device *parent, enum rdma_nl_dev_type type,
				   const char *name)
{
	if (type != RDMA_DEVICE_TYPE_SMI)
		return ERR_PTR(-EINVAL);
	below = test_device_alloc();
	if (!below)
		return ERR_PTR(-ENOMEM);
	if (ib_register_device(&below->ib, name, NULL)) {
		ib_dealloc_device(&below->ib);
		return ERR_PTR(-EEXIST);
	}
	return &below->ib;
}

static void end_below(struct ib_device *sub)
{
	test_device_gone(container_of(sub, struct test_device, ib));
	below = NULL;
}

static const struct ib_device_ops parent_ops = {
	.add_sub_dev = add_below,
	.del_sub_dev = end_below,
};

static int make_below(struct kunit *test, const char *name, u8 type)
{
	struct talk *t = test->priv;

	talk_begin(t, RDMA_NLDEV_CMD_NEWDEV, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	if (name)
		talk_add_string(t, RDMA_NLDEV_ATTR_DEV_NAME, name);
	if (type)
		talk_add(t, RDMA_NLDEV_ATTR_DEV_TYPE, &type, sizeof(type));
	return talk_ask(test, t);
}

static int about(struct kunit *test, unsigned int op, u32 index)
{
	struct talk *t = test->priv;

	talk_begin(t, op, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return talk_ask(test, t);
}

/* Copies a name that is being changed as if no lock protected it. */
static void copy_of_name(const struct ib_device *device, char *name)
{
	strscpy(name, device == &below->ib ? "kt_below_copy" : "kt_nldev_copy", IB_DEVICE_NAME_MAX);
}

static void names_are_copied(struct kunit *test)
{
	struct talk *t = test->priv;

	ib_set_device_ops(&t->device->ib, &parent_ops);
	KUNIT_ASSERT_EQ(test, make_below(test, "kt_below", RDMA_DEVICE_TYPE_SMI), 0);
	kunit_activate_static_stub(test, ib_registry_name, copy_of_name);
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_GET, below->ib.index), 0);
	kunit_deactivate_static_stub(test, ib_registry_name);
	KUNIT_EXPECT_STREQ(test, nla_data(talk_answered(t, RDMA_NLDEV_ATTR_DEV_NAME)),
			   "kt_below_copy");
	KUNIT_EXPECT_STREQ(test, nla_data(talk_answered(t, RDMA_NLDEV_ATTR_PARENT_NAME)),
			   "kt_nldev_copy");
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_DELDEV, below->ib.index), 0);
}

static void devices_below(struct kunit *test)
{
	struct talk *t = test->priv;
	u32 index;

	KUNIT_EXPECT_EQ(test, make_below(test, "kt_below", RDMA_DEVICE_TYPE_SMI), -EOPNOTSUPP);
	ib_set_device_ops(&t->device->ib, &parent_ops);
	KUNIT_EXPECT_EQ(test, make_below(test, NULL, RDMA_DEVICE_TYPE_SMI), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_below(test, "kt_below", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_below(test, "kt_below", 77), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_below(test, "kt_nldev", RDMA_DEVICE_TYPE_SMI), -EEXIST);
	KUNIT_ASSERT_EQ(test, make_below(test, "kt_below", RDMA_DEVICE_TYPE_SMI), 0);
	index = below->ib.index;
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_GET, index), 0);
	KUNIT_EXPECT_STREQ(test, nla_data(talk_answered(t, RDMA_NLDEV_ATTR_PARENT_NAME)),
			   "kt_nldev");
	KUNIT_EXPECT_EQ(test, nla_get_u8(talk_answered(t, RDMA_NLDEV_ATTR_DEV_TYPE)),
			RDMA_DEVICE_TYPE_SMI);
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_GET, t->device->ib.index), 0);
	KUNIT_EXPECT_NULL(test, talk_answered(t, RDMA_NLDEV_ATTR_PARENT_NAME));

	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_DELDEV, t->device->ib.index),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_DELDEV, index), 0);
	KUNIT_EXPECT_NULL(test, below);
	KUNIT_EXPECT_EQ(test, about(test, RDMA_NLDEV_CMD_DELDEV, index), -EINVAL);

	/* The same, requested by a driver. */
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&t->device->ib, 77, "kt_below"), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_add_sub_device(&t->device->ib, RDMA_DEVICE_TYPE_SMI, "kt_below"),
			0);
	KUNIT_EXPECT_PTR_EQ(test, below->ib.parent, &t->device->ib);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&below->ib));
	KUNIT_EXPECT_EQ(test, ib_del_sub_device_and_put(&below->ib), 0);
	KUNIT_EXPECT_NULL(test, below);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&t->device->ib));
	KUNIT_EXPECT_EQ(test, ib_del_sub_device_and_put(&t->device->ib), -EOPNOTSUPP);

	/* It is removed with its parent, before it. */
	KUNIT_ASSERT_EQ(test, make_below(test, "kt_below", RDMA_DEVICE_TYPE_SMI), 0);
	test_device_gone(t->device);
	t->device = NULL;
	KUNIT_EXPECT_NULL(test, below);
}

/* ---- objects ---- */

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
	struct talk_objects o;
	int left;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET,
					      RDMA_NLDEV_ATTR_RES_SRQN, o.srq->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(talk_answered(t, RDMA_NLDEV_ATTR_RES_PDN)), o.pd->res.id);
	nla_for_each_nested(range, talk_answered(t, RDMA_NLDEV_ATTR_RES_QP), left) {
		KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(ranges));
		KUNIT_EXPECT_EQ(test, range_end(range, RDMA_NLDEV_ATTR_MIN_RANGE), ranges[n][0]);
		KUNIT_EXPECT_EQ(test, range_end(range, RDMA_NLDEV_ATTR_MAX_RANGE), ranges[n][1]);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(ranges));
	KUNIT_EXPECT_STREQ(test, nla_data(talk_answered(t, RDMA_NLDEV_ATTR_RES_KERN_NAME)),
			   KBUILD_MODNAME);

	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET,
					      RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u32(talk_answered(t, RDMA_NLDEV_ATTR_RES_CQE)), 33);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_PD_GET,
					      RDMA_NLDEV_ATTR_RES_PDN, o.pd->res.id, 0), 0);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					      RDMA_NLDEV_ATTR_RES_LQPN, 6, 1), 0);
	KUNIT_EXPECT_EQ(test, nla_get_u8(talk_answered(t, RDMA_NLDEV_ATTR_RES_STATE)), IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, nla_get_u32(talk_answered(t, RDMA_NLDEV_ATTR_RES_SQ_PSN)), 77);

	/*
	 * No id, an unknown id, a port for objects without ports, and no port for objects with
	 * ports.
	 */
	talk_begin_port(t, RDMA_NLDEV_CMD_RES_QP_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					      RDMA_NLDEV_ATTR_RES_LQPN, 8, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					      RDMA_NLDEV_ATTR_RES_LQPN, 6, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					      RDMA_NLDEV_ATTR_RES_LQPN, 6, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET,
					      RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 1), -EINVAL);
	talk_objects_end(&o);
}

/* Returns the number of objects of one kind in a dump's first message; its end is read, too. */
static int dumped(struct kunit *test, struct talk *t, unsigned int op, u16 table, u32 port)
{
	const struct nlattr *entry;
	struct nlmsghdr *nlh = (void *)t->answer;
	int left, n = 0;

	talk_begin(t, op, NLM_F_DUMP);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	if (port)
		talk_add_u32(t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	talk_exchange(test, t);
	if (nlh->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	if (nlh->nlmsg_type == NLMSG_DONE)
		return 0;
	nla_for_each_nested(entry, talk_answered(t, table), left)
		n += nla_len(entry) > 0;
	while (nlh->nlmsg_type != NLMSG_DONE) {
		struct kvec part = { .iov_base = t->request, .iov_len = TALK_MOST };
		struct msghdr msg = {};

		KUNIT_ASSERT_GE(test, kernel_recvmsg(t->socket, &msg, &part, 1, TALK_MOST, 0), 0);
		nlh = (void *)t->request;
	}
	return n;
}

static void dumps(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	o.qp[0]->port = 2;
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP,
				     0), 5);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP,
				     1), 4);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ,
				     0), 1);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX,
				     0), 0);
	talk_objects_end(&o);
}

/* The driver's own description; here only of QPs. */
static void raw(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
					      RDMA_NLDEV_ATTR_RES_LQPN, 6, 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, talk_answered(t, RDMA_NLDEV_ATTR_RES_RAW));
	KUNIT_EXPECT_EQ(test, nla_get_u32(talk_answered(t, RDMA_NLDEV_ATTR_RES_RAW)), 600);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
					      RDMA_NLDEV_ATTR_RES_LQPN, 6, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
					      RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_SRQ_GET_RAW,
					      RDMA_NLDEV_ATTR_RES_SRQN, o.srq->res.id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_MR_GET_RAW,
					      RDMA_NLDEV_ATTR_RES_MRN, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
				     RDMA_NLDEV_ATTR_RES_QP, 0), 5);
	KUNIT_EXPECT_EQ(test, dumped(test, t, RDMA_NLDEV_CMD_RES_MR_GET_RAW,
				     RDMA_NLDEV_ATTR_RES_MR, 0), 0);
	talk_objects_end(&o);
}

/* Sends a request with a device index of this many bytes. */
static int ask_by_index(struct kunit *test, struct talk *t, unsigned int op, size_t len)
{
	u64 index = t->device->ib.index;

	talk_begin(t, op, 0);
	talk_add(t, RDMA_NLDEV_ATTR_DEV_INDEX, &index, len);
	return talk_ask(test, t);
}

static void malformed(struct kunit *test)
{
	struct talk *t = test->priv;
	u32 nothing = 0;

	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_GET, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_SET, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_SYS_GET, 3), -ERANGE);

	/* Bytes after the index are ignored in queries, and refused in changes. */
	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_GET, 8), 0);
	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_SET, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_by_index(test, t, RDMA_NLDEV_CMD_SET, 4), 0);
	/* An attribute of answers, as answers have it. */
	talk_add_u32(t, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 0);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	talk_add(t, RDMA_NLDEV_ATTR_MAX + 1, &nothing, sizeof(nothing));
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);

	/* Ids of objects are counted all the same. */
	talk_begin(t, RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP);
	talk_add(t, RDMA_NLDEV_ATTR_DEV_INDEX, &nothing, 3);
	talk_exchange(test, t);
	KUNIT_EXPECT_NOT_NULL(test, talk_answered(t, RDMA_NLDEV_ATTR_RES_SUMMARY));
}

/* Returns how a dump of counters ends: the error is in its last message. */
static int stat_dump(struct kunit *test, struct talk *t, bool device, u32 res)
{
	struct nlmsghdr *nlh = (void *)t->answer;

	talk_begin(t, RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP);
	if (device)
		talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	if (res)
		talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, res);
	talk_exchange(test, t);
	KUNIT_ASSERT_EQ(test, nlh->nlmsg_type, NLMSG_DONE);
	return *(int *)nlmsg_data(nlh);
}

static void stat_dumps(struct kunit *test)
{
	struct talk *t = test->priv;

	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, false, RDMA_NLDEV_ATTR_RES_QP), -EINVAL);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_CQ), -EINVAL);
	/* No QP is bound to a counter, and there is no MR. */
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_QP), 0);
	KUNIT_EXPECT_EQ(test, stat_dump(test, t, true, RDMA_NLDEV_ATTR_RES_MR), 0);
	talk_begin(t, RDMA_NLDEV_CMD_STAT_GET, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_DEV_INDEX, t->device->ib.index);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_MR);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_RES_MRN, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -ENOENT);
}

/* Attributes of drivers: names, print formats, values; and a full message. */
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

/* ---- changes while an object is described ---- */

/* An MR, the PD to which it is moved, and another thread's action while its driver describes it. */
static struct {
	struct ib_mr mr;
	struct ib_pd *from, *to;
	struct work_struct work;
	struct completion done;
	bool busy;
	int moved, ended;
	u32 pd_number;
} moving;

static struct ib_mr *reg_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int access,
			    struct ib_udata *udata)
{
	return &moving.mr;
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *rereg_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 virt_addr,
			      int access, struct ib_pd *pd, struct ib_udata *udata)
{
	return NULL;
}

static void move_mr(struct work_struct *work)
{
	moving.moved = PTR_ERR_OR_ZERO(ib_rereg_mr_user(&moving.mr, NULL, IB_MR_REREG_PD, 0, 0, 0,
							0, moving.to, NULL));
	moving.ended = ib_dealloc_pd_user(moving.from, NULL);
	complete(&moving.done);
}

/* The PD that the MR was in is not destroyed while this uses it. */
static int describe_mr(struct sk_buff *msg, struct ib_mr *mr)
{
	struct ib_pd *pd = mr->pd;

	if (!moving.busy)
		return 0;
	moving.busy = false;
	schedule_work(&moving.work);
	wait_for_completion_timeout(&moving.done, HZ / 5);
	moving.pd_number = pd->res.id;
	return 0;
}

static const struct ib_device_ops moving_ops = {
	.reg_user_mr = reg_mr,
	.dereg_mr = dereg_mr,
	.rereg_user_mr = rereg_mr,
	.fill_res_mr_entry = describe_mr,
};

static void moved_while_described(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	struct ib_mr *mr;
	u32 number, from;

	talk_objects(test, &t->device->ib, &o);
	ib_set_device_ops(&t->device->ib, &moving_ops);
	memset(&moving, 0, sizeof(moving));
	INIT_WORK(&moving.work, move_mr);
	init_completion(&moving.done);
	moving.from = ib_alloc_pd(&t->device->ib, 0);
	moving.to = ib_alloc_pd(&t->device->ib, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(moving.from) || IS_ERR(moving.to));
	mr = ib_reg_user_mr(moving.from, 0, 4096, 0, 0);
	KUNIT_ASSERT_PTR_EQ(test, mr, &moving.mr);
	from = moving.from->res.id;
	number = mr->res.id;

	moving.busy = true;
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_MR_GET,
					      RDMA_NLDEV_ATTR_RES_MRN, number, 0), 0);
	KUNIT_EXPECT_EQ(test, moving.pd_number, from);
	flush_work(&moving.work);
	KUNIT_EXPECT_EQ(test, moving.moved, 0);
	KUNIT_EXPECT_EQ(test, moving.ended, 0);
	/* It is found again, with its new PD. */
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_MR_GET,
					      RDMA_NLDEV_ATTR_RES_MRN, number, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, mr->pd, moving.to);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	ib_dealloc_pd(moving.to);
	talk_objects_end(&o);
}

/* A QP number that the hardware assigns again before the QP that had it is destroyed. */
static struct {
	struct ib_qp_init_attr attr;
	struct ib_pd *pd;
	struct ib_qp *next;
} again;

static int end_and_make_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct ib_pd *pd = again.pd;

	again.pd = NULL;
	if (pd)
		again.next = ib_create_qp(pd, &again.attr);
	return 0;
}

static const struct ib_device_ops again_ops = { .destroy_qp = end_and_make_qp };

static void number_given_again(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	u32 number;

	ib_set_device_ops(&t->device->ib, &again_ops);
	talk_objects(test, &t->device->ib, &o);
	number = o.qp[1]->qp_num;
	again.attr = (struct ib_qp_init_attr){ .qp_type = IB_QPT_RC, .source_qpn = number,
					       .send_cq = o.cq, .recv_cq = o.cq, .port_num = 1 };
	again.pd = o.pd;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(o.qp[1]), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(again.next));
	o.qp[1] = again.next;
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_QP_GET,
					      RDMA_NLDEV_ATTR_RES_LQPN, number, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&t->device->ib, RDMA_RESTRACK_QP, true),
			TALK_QPS);
	talk_objects_end(&o);
}

static struct kunit_case nldev_cases[] = {
	KUNIT_CASE(values),
	KUNIT_CASE(values_refused),
	KUNIT_CASE(switching),
	KUNIT_CASE(links),
	KUNIT_CASE(names_are_copied),
	KUNIT_CASE(devices_below),
	KUNIT_CASE(objects),
	KUNIT_CASE(dumps),
	KUNIT_CASE(raw),
	KUNIT_CASE(malformed),
	KUNIT_CASE(stat_dumps),
	KUNIT_CASE(driver_values),
	KUNIT_CASE(moved_while_described),
	KUNIT_CASE(number_given_again),
	{}
};

static struct kunit_suite nldev_suite = {
	.name = "rdma_core_nldev",
	.init = talk_init,
	.exit = talk_exit,
	.test_cases = nldev_cases,
};

kunit_test_suite(nldev_suite);
