// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: counters that QPs are bound to, manually and by a port's rule, requested by netlink, on a
 * device whose driver counts readings.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/module.h>
#include <rdma/rdma_counter.h>
#include <rdma/rdma_netlink.h>

#include "test_talk.h"
#include "../../object/object.h"
#include "../../counter/counter_priv.h"
#include "../nldev_priv.h"

/* State and answers of the driver. */
static struct {
	int live, bound;
	u32 last;
	int bind, unbind, update;
	bool no_stats;
} driver;

#define PER_READING 10

static const struct rdma_stat_desc descs[] = {
	{ .name = "always" },
	{ .name = "on_demand", .flags = IB_STAT_FLAG_OPTIONAL },
};

static struct rdma_hw_stats *alloc_stats(struct rdma_counter *counter)
{
	return driver.no_stats ? NULL : rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 0);
}

/*
 * Another thread's action while the driver binds or unbinds a QP, or the rule examines a counter.
 */
static struct {
	struct work_struct work;
	struct completion done;
	struct ib_qp *qp;
	u32 port;
	bool at_bind, at_unbind;
	int ret;
} other;

static void others_bind(struct work_struct *work)
{
	u32 id;

	other.ret = rdma_counter_bind_qpn_alloc(other.qp->device, other.port, other.qp->qp_num,
						&id);
	complete(&other.done);
}

static void others_destroy(struct work_struct *work)
{
	other.ret = ib_destroy_qp(other.qp);
	complete(&other.done);
}

static void other_init(work_func_t what, struct ib_qp *qp, u32 port)
{
	INIT_WORK(&other.work, what);
	init_completion(&other.done);
	other.qp = qp;
	other.port = port;
}

static void others_turn(bool *now)
{
	if (!*now)
		return;
	*now = false;
	schedule_work(&other.work);
	wait_for_completion(&other.done);
}

static int bind_qp(struct rdma_counter *counter, struct ib_qp *qp)
{
	others_turn(&other.at_bind);
	if (driver.bind)
		return driver.bind;
	if (!counter->id) {
		counter->id = ++driver.last;
		driver.live++;
	}
	driver.bound++;
	return 0;
}

static int unbind_qp(struct ib_qp *qp)
{
	if (driver.unbind)
		return driver.unbind;
	driver.bound--;
	/* This is what drivers do. */
	qp->counter = NULL;
	others_turn(&other.at_unbind);
	return 0;
}

static int dealloc(struct rdma_counter *counter)
{
	driver.live--;
	return 0;
}

static int update_stats(struct rdma_counter *counter)
{
	if (!driver.update)
		counter->stats->value[0] += PER_READING;
	return driver.update;
}

static const struct ib_device_ops counter_ops = {
	.counter_alloc_stats = alloc_stats,
	.counter_bind_qp = bind_qp,
	.counter_unbind_qp = unbind_qp,
	.counter_dealloc = dealloc,
	.counter_update_stats = update_stats,
};

static int counters_init(struct kunit *test)
{
	int ret = talk_init(test);

	memset(&driver, 0, sizeof(driver));
	memset(&other, 0, sizeof(other));
	if (!ret)
		ib_set_device_ops(&((struct talk *)test->priv)->device->ib, &counter_ops);
	return ret;
}

static void begin_qps(struct talk *t, unsigned int op, u32 port)
{
	talk_begin_port(t, op, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
}

/* Binds a QP, to a counter of its own if @counter is 0. */
static int bind_number(struct kunit *test, u32 port, u32 qp_num, u32 counter)
{
	struct talk *t = test->priv;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_SET, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	talk_add_u32(t, RDMA_NLDEV_ATTR_RES_LQPN, qp_num);
	if (counter)
		talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	return talk_ask(test, t);
}

static int unbind_number(struct kunit *test, u32 port, u32 qp_num, u32 counter)
{
	struct talk *t = test->priv;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_DEL, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_RES_LQPN, qp_num);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	return talk_ask(test, t);
}

static int set_rule(struct kunit *test, u32 port, u32 mask)
{
	struct talk *t = test->priv;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_SET, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
	return talk_ask(test, t);
}

static u32 answer_u32(struct kunit *test, u16 type)
{
	const struct nlattr *attr = talk_answered(test->priv, type);

	KUNIT_EXPECT_NOT_NULL(test, attr);
	return attr ? nla_get_u32(attr) : 0;
}

static u32 mode_of(struct kunit *test, u32 port)
{
	struct talk *t = test->priv;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_GET, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	return answer_u32(test, RDMA_NLDEV_ATTR_STAT_MODE);
}

/* Requests a counter; returns its number of QPs, or a negative errno. */
static int qps_of(struct kunit *test, u32 port, u32 counter)
{
	struct talk *t = test->priv;
	const struct nlattr *entry;
	int left, n = 0, ret;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_GET, port);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	ret = talk_ask(test, t);
	if (ret)
		return ret;
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_STAT_COUNTER_ID), counter);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_PORT_INDEX), port);
	nla_for_each_nested(entry, talk_answered(t, RDMA_NLDEV_ATTR_RES_QP), left)
		n++;
	return n;
}

static u64 first_value(struct kunit *test)
{
	const struct nlattr *entry = talk_counter(test->priv, 0);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_STREQ(test, talk_counter_name(entry), "always");
	return nla_get_u64(nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE));
}

/* Returns the port's value; the device itself counts one for each such request. */
static u64 port_value(struct kunit *test)
{
	talk_begin_port(test->priv, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, test->priv), 0);
	return first_value(test);
}

static void by_hand(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	u64 before;
	u32 id;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);
	before = port_value(test);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), 0);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_RES_LQPN), 6);
	id = answer_u32(test, RDMA_NLDEV_ATTR_STAT_COUNTER_ID);
	KUNIT_EXPECT_EQ(test, id, driver.last);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_MANUAL);
	KUNIT_EXPECT_EQ(test, mode_of(test, 2), RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 7, id), 0);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), 2);
	KUNIT_EXPECT_EQ(test, first_value(test), PER_READING);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_STAT_MODE),
			RDMA_COUNTER_MODE_MANUAL);
	/* A disabled counter is not shown. */
	KUNIT_EXPECT_NULL(test, talk_counter(t, 1));

	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, id), 0);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), 1);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 7, id), 0);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), -ENOENT);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);
	/* Two readings for requests, and one before it ended. */
	KUNIT_EXPECT_EQ(test, port_value(test), before + 3 * PER_READING + 1);
	talk_objects_end(&o);
}

static struct sk_buff *no_message(struct nl_request *request, struct nlmsghdr **reply)
{
	*reply = NULL;
	return NULL;
}

/* A request that cannot be answered is not carried out. */
static void no_memory_for_an_answer(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	u32 id;

	talk_objects(test, &t->device->ib, &o);
	kunit_activate_static_stub(test, nl_reply_begin, no_message);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_QP_TYPE), -ENOMEM);
	kunit_deactivate_static_stub(test, nl_reply_begin);
	KUNIT_EXPECT_EQ(test, driver.live, 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);

	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), 0);
	id = answer_u32(test, RDMA_NLDEV_ATTR_STAT_COUNTER_ID);
	kunit_activate_static_stub(test, nl_reply_begin, no_message);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, id), -ENOMEM);
	kunit_deactivate_static_stub(test, nl_reply_begin);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), 1);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, id), 0);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_STAT_COUNTER_ID), id);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_RES_LQPN), 6);
	talk_objects_end(&o);
}

/*
 * A counter that cannot be read is shown with the values of the last read, and its port keeps them.
 */
static void cannot_be_read(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	u64 before;
	u32 id;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), 0);
	id = answer_u32(test, RDMA_NLDEV_ATTR_STAT_COUNTER_ID);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), 1);
	KUNIT_EXPECT_EQ(test, first_value(test), PER_READING);
	before = port_value(test);
	driver.update = -EIO;
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, id), 1);
	KUNIT_EXPECT_EQ(test, first_value(test), 2 * PER_READING);
	KUNIT_EXPECT_EQ(test, port_value(test), before + 1);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, id), 0);
	KUNIT_EXPECT_EQ(test, driver.live, 0);
	KUNIT_EXPECT_EQ(test, port_value(test), before + 2);
	talk_objects_end(&o);
}

/* The counter has the name of the module that created its first QP, as long as it exists. */
static void counter_outlives_its_first_qp(struct kunit *test)
{
	struct talk *t = test->priv;
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC, .source_qpn = 20 };
	struct talk_objects o;
	struct ib_pd *pd;
	struct ib_qp *qp;

	talk_objects(test, &t->device->ib, &o);
	pd = __ib_alloc_pd(&t->device->ib, 0, "kt_other");
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	attr.send_cq = o.cq;
	attr.recv_cq = o.cq;
	attr.srq = o.srq;
	qp = ib_create_qp_kernel(pd, &attr, "kt_other");
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	qp->port = 1;
	KUNIT_ASSERT_EQ(test, bind_number(test, 1, 20, 0), 0);
	KUNIT_ASSERT_EQ(test, bind_number(test, 1, 7, driver.last), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
	ib_dealloc_pd(pd);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[2]->counter);
	KUNIT_EXPECT_STREQ(test, o.qp[2]->counter->res.kern_name, "kt_other");
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, driver.last), 1);
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
}

static void by_hand_refused(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	o.qp[4]->port = 2;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 8, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 77), -ENOENT);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 12, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind_number(test, TEST_PORTS + 1, 6, 0), -EINVAL);
	begin_qps(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	begin_qps(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MAX);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);

	KUNIT_ASSERT_EQ(test, bind_number(test, 1, 6, 0), 0);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, driver.last), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind_number(test, 2, 12, driver.last), -EINVAL);
	KUNIT_EXPECT_EQ(test, qps_of(test, 2, driver.last), -EAGAIN);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_PID), -EBUSY);
	/* No rule is set, and ending it succeeds. */
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_MANUAL);
	/* A user's QP does not share the kernel's counter. */
	o.qp[2]->res.user = true;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 7, driver.last), -EINVAL);
	o.qp[2]->res.user = false;

	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 8, driver.last), -ENOENT);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 7, driver.last), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, driver.last + 1), -EINVAL);
	begin_qps(t, RDMA_NLDEV_CMD_STAT_DEL, 1);
	talk_add_u32(t, RDMA_NLDEV_ATTR_RES_LQPN, 6);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_DEL, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), -EINVAL);
	KUNIT_EXPECT_EQ(test, driver.bound, 1);
	/* The counter ends with its QP. */
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
}

/* Two requests bind a QP that has no port yet, each at another port: one of them succeeds. */
static void bound_once(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	o.qp[1]->port = 0;
	other_init(others_bind, o.qp[1], 2);
	other.at_bind = true;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), 0);
	KUNIT_EXPECT_EQ(test, other.ret, -EINVAL);
	KUNIT_EXPECT_EQ(test, driver.bound, 1);
	KUNIT_EXPECT_EQ(test, driver.live, 1);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, driver.last), 1);

	/* A QP that is bound again while it is being unbound stays bound. */
	flush_work(&other.work);
	other_init(others_bind, o.qp[1], 2);
	other.at_unbind = true;
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, driver.last), 0);
	KUNIT_EXPECT_EQ(test, other.ret, 0);
	KUNIT_EXPECT_EQ(test, driver.live, 1);
	KUNIT_EXPECT_EQ(test, qps_of(test, 2, driver.last), 1);
	flush_work(&other.work);
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
}

/* A QP that got another port than the one it was bound for can be unbound all the same. */
static void bound_for_another_port(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	o.qp[1]->port = 0;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), 0);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 2, 6, driver.last), -EINVAL);
	o.qp[1]->port = 2;
	KUNIT_EXPECT_EQ(test, unbind_number(test, 2, 6, driver.last), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, driver.last), 0);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
	talk_objects_end(&o);
}

static void driver_refuses(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	driver.no_stats = true;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), -ENOMEM);
	driver.no_stats = false;
	driver.bind = -EIO;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), -EIO);
	driver.bind = 0;
	KUNIT_EXPECT_NULL(test, o.qp[1]->counter);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);

	/* The id of the new counter is in use: the counter would not be found. */
	KUNIT_ASSERT_EQ(test, bind_number(test, 1, 6, 0), 0);
	driver.last--;
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 7, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, driver.live, 1);
	KUNIT_EXPECT_NULL(test, o.qp[2]->counter);

	driver.unbind = -EIO;
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, driver.last), -EIO);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, driver.last), 1);
	/* It does not keep a QP from being destroyed. */
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, driver.live, 0);
}

static int to_init(struct ib_qp *qp, u32 port)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = port };

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PORT);
}

static void by_rule(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;
	u64 before;

	talk_objects(test, &t->device->ib, &o);
	before = port_value(test);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_QP_TYPE |
				       RDMA_COUNTER_MASK_PID), 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_AUTO);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK), 3);
	KUNIT_EXPECT_EQ(test, bind_number(test, 1, 6, 0), -EINVAL);

	/*
	 * All are this process's except the first; the last has another type, one has another port.
	 */
	for (int i = 1; i < TALK_QPS; i++)
		rdma_restrack_set_name(&o.qp[i]->res, NULL);
	o.qp[4]->qp_type = IB_QPT_UD;
	for (int i = 0; i < TALK_QPS; i++)
		KUNIT_EXPECT_EQ(test, to_init(o.qp[i], i == 3 ? 2 : 1), 0);
	KUNIT_EXPECT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_NULL(test, o.qp[3]->counter);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[1]->counter);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[4]->counter);
	KUNIT_EXPECT_PTR_EQ(test, o.qp[1]->counter, o.qp[2]->counter);
	KUNIT_EXPECT_PTR_NE(test, o.qp[1]->counter, o.qp[4]->counter);
	KUNIT_EXPECT_EQ(test, qps_of(test, 1, o.qp[1]->counter->id), 2);
	KUNIT_EXPECT_EQ(test, nla_get_u8(talk_answered(t, RDMA_NLDEV_ATTR_RES_TYPE)), IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_RES_PID), current->pid);
	/* Once more: it is bound already. */
	KUNIT_EXPECT_EQ(test, to_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_EQ(test, driver.bound, 3);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, o.qp[1]->counter->id), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_PID), -EBUSY);
	/* Its present rule may be set again all the same. */
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_QP_TYPE |
				       RDMA_COUNTER_MASK_PID), 0);

	/* Without the rule they can be unbound manually. */
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_MANUAL);
	KUNIT_EXPECT_EQ(test, unbind_number(test, 1, 6, o.qp[1]->counter->id), 0);
	ib_destroy_qp(o.qp[2]);
	o.qp[2] = NULL;
	ib_destroy_qp(o.qp[4]);
	o.qp[4] = NULL;
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_EQ(test, port_value(test), before + 3 * PER_READING + 1);
	talk_objects_end(&o);
}

/* If the driver cannot bind a QP, the QP works without a counter. */
static void rule_fails(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	rdma_restrack_set_name(&o.qp[1]->res, NULL);
	driver.bind = -EIO;
	KUNIT_EXPECT_EQ(test, to_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_NULL(test, o.qp[1]->counter);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 0), 0);
}

static int switch_any(struct ib_device *device, u32 port, unsigned int index, bool enable)
{
	return 0;
}

static int set_both(struct kunit *test, u32 mask, u32 number)
{
	struct talk *t = test->priv;
	struct nlattr *list;

	begin_qps(t, RDMA_NLDEV_CMD_STAT_SET, 1);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
	list = talk_add(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, NULL, 0);
	talk_add_u32(t, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, number);
	list->nla_len += nla_total_size(sizeof(number));
	return talk_ask(test, t);
}

/* One request sets a rule and switches counters, or does neither. */
static void rule_and_counters(struct kunit *test)
{
	struct talk *t = test->priv;

	t->device->ib.ops.modify_hw_stat = switch_any;
	KUNIT_EXPECT_EQ(test, set_both(test, RDMA_COUNTER_MASK_PID, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_EQ(test, set_both(test, 4, 1), -EINVAL);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	KUNIT_EXPECT_NULL(test, talk_counter(t, 1));

	KUNIT_EXPECT_EQ(test, set_both(test, RDMA_COUNTER_MASK_PID, 1), 0);
	KUNIT_EXPECT_EQ(test, mode_of(test, 1), RDMA_COUNTER_MODE_AUTO);
	talk_begin_port(t, RDMA_NLDEV_CMD_STAT_GET, 1);
	KUNIT_EXPECT_EQ(test, talk_ask(test, t), 0);
	KUNIT_EXPECT_NOT_NULL(test, talk_counter(t, 1));
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 0), 0);
}

/* Another port's counter ends with its last QP, which is destroyed now unless it has to wait. */
static bool judge_slowly(const struct rdma_counter *counter, const struct ib_qp *qp, u32 port_num)
{
	kunit_deactivate_static_stub(kunit_get_current_test(), counter_suits);
	schedule_work(&other.work);
	wait_for_completion_timeout(&other.done, HZ / 5);
	return counter_suits(counter, qp, port_num);
}

static void rule_meets_dying_counter(struct kunit *test)
{
	struct talk *t = test->priv;
	struct talk_objects o;

	talk_objects(test, &t->device->ib, &o);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_EXPECT_EQ(test, set_rule(test, 2, RDMA_COUNTER_MASK_QP_TYPE), 0);
	rdma_restrack_set_name(&o.qp[1]->res, NULL);
	rdma_restrack_set_name(&o.qp[2]->res, NULL);
	KUNIT_EXPECT_EQ(test, to_init(o.qp[1], 2), 0);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[1]->counter);

	other_init(others_destroy, o.qp[1], 0);
	o.qp[1] = NULL;
	kunit_activate_static_stub(test, counter_suits, judge_slowly);
	KUNIT_EXPECT_EQ(test, to_init(o.qp[2], 1), 0);
	flush_work(&other.work);
	KUNIT_EXPECT_EQ(test, other.ret, 0);
	KUNIT_EXPECT_EQ(test, driver.live, 1);
	KUNIT_EXPECT_NOT_NULL(test, o.qp[2]->counter);
	talk_objects_end(&o);
	KUNIT_EXPECT_EQ(test, driver.live + driver.bound, 0);
	KUNIT_EXPECT_EQ(test, set_rule(test, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, set_rule(test, 2, 0), 0);
}

/* ---- CM ids, whose module alone can describe them ---- */

static int describe(struct rdma_object *obj, struct sk_buff *msg, u32 port_num)
{
	if (port_num && port_num != 2)
		return -EAGAIN;
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
}

static int end_id(struct rdma_object *obj, struct ib_udata *udata)
{
	return 0;
}

static const struct rdma_object_ops id_ops = { .destroy = end_id, .describe = describe };

static void cm_ids(struct kunit *test)
{
	struct talk *t = test->priv;
	struct rdma_object id = {};

	rdma_object_init(&id, RDMA_OBJECT_CM_ID, &t->device->ib, NULL, &id_ops);
	rdma_restrack_set_name(&id.res, "kt_cma");
	rdma_object_publish(&id);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CM_ID_GET,
					      RDMA_NLDEV_ATTR_RES_CM_IDN, id.res.id, 2), 0);
	KUNIT_EXPECT_EQ(test, answer_u32(test, RDMA_NLDEV_ATTR_RES_CM_IDN), id.res.id);
	KUNIT_EXPECT_STREQ(test, nla_data(talk_answered(t, RDMA_NLDEV_ATTR_RES_KERN_NAME)),
			   "kt_cma");
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CM_ID_GET,
					      RDMA_NLDEV_ATTR_RES_CM_IDN, id.res.id, 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, talk_ask_object(test, t, RDMA_NLDEV_CMD_RES_CM_ID_GET,
					      RDMA_NLDEV_ATTR_RES_CM_IDN, id.res.id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_object_destroy(&id, NULL), 0);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE(by_hand),
	KUNIT_CASE(no_memory_for_an_answer),
	KUNIT_CASE(cannot_be_read),
	KUNIT_CASE(counter_outlives_its_first_qp),
	KUNIT_CASE(by_hand_refused),
	KUNIT_CASE(bound_once),
	KUNIT_CASE(bound_for_another_port),
	KUNIT_CASE(driver_refuses),
	KUNIT_CASE(by_rule),
	KUNIT_CASE(rule_fails),
	KUNIT_CASE(rule_and_counters),
	KUNIT_CASE(rule_meets_dying_counter),
	KUNIT_CASE(cm_ids),
	{}
};

static struct kunit_suite counters_suite = {
	.name = "rdma_core_counters",
	.init = counters_init,
	.exit = talk_exit,
	.test_cases = counters_cases,
};

kunit_test_suite(counters_suite);
