// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that QPs are bound to: their life, the rule by which a port binds QPs of users
 * automatically, and their sums.
 *
 * A counter lives while a QP is bound to it; what it has counted then goes to its port's history,
 * so that the port's sums never fall.  A port's lock covers its counters and rule; lookups of
 * counters and QPs are made under it, never the reverse.
 *
 * A QP that has no port yet may be bound under the lock of any port: the first writer of
 * qp->counter succeeds. From then on the lock of that counter's port protects the binding. A holder
 * of another port's lock must neither follow the pointer nor read a counter that a walk has found
 * without a reference to it.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/rdma_counter.h>

#include "counter_priv.h"

/**
 * counters_of_port() - get the counters of a port
 * @device: device with ports
 * @port_num: valid port number
 *
 * Return: the counters, which live as long as the device.
 */
struct rdma_port_counter *counters_of_port(struct ib_device *device, u32 port_num)
{
	return &rdma_port(device, port_num)->counter;
}

/**
 * rdma_counter_release() - free what the ports of a device have counted
 * @dev: device with ports, on which no QP exists
 */
void rdma_counter_release(struct ib_device *dev)
{
	u32 port_num;

	rdma_for_each_port(dev, port_num)
		rdma_free_hw_stats_struct(counters_of_port(dev, port_num)->hstats);
}

/**
 * counters_possible() - can QPs of a port be bound to counters?
 * @device: device
 * @port_num: port number
 *
 * Return: 0; -EINVAL for a port that the device has not; -EOPNOTSUPP if the device has no such
 * counters.
 */
int counters_possible(struct ib_device *device, u32 port_num)
{
	const struct ib_device_ops *ops = &device->ops;

	if (!rdma_is_port_valid(device, port_num))
		return rdma_refuse(-EINVAL, "%s has no port %u", device->name, port_num);
	if (!ops->counter_alloc_stats || !ops->counter_bind_qp || !ops->counter_unbind_qp ||
	    !ops->counter_update_stats || !ops->counter_dealloc)
		return rdma_refuse(-EOPNOTSUPP, "%s has no counters for QPs", device->name);
	return 0;
}

/*
 * The driver may have cleared qp->counter already, and the QP may be bound to another counter
 * since.
 */
static void qp_leaves(struct ib_qp *qp, struct rdma_counter *counter)
{
	cmpxchg(&qp->counter, counter, NULL);
}

/**
 * counter_bind() - bind a QP to a counter
 * @counter: counter of a port whose lock is held
 * @qp: QP that a reference or a running request keeps
 *
 * Return: 0; -EINVAL for a QP that is bound; the driver's error.
 */
int counter_bind(struct rdma_counter *counter, struct ib_qp *qp)
{
	int ret;

	guard(mutex)(&counter->lock);
	if (cmpxchg(&qp->counter, NULL, counter))
		return rdma_refuse(-EINVAL, "QP %u is bound to a counter", qp->qp_num);
	ret = qp->device->ops.counter_bind_qp(counter, qp);
	if (ret)
		qp_leaves(qp, counter);
	return ret;
}

static void add_values(const struct rdma_hw_stats *stats, unsigned int first, unsigned int num,
		       u64 *sums)
{
	for (unsigned int i = 0; i < num && first + i < stats->num_counters; i++)
		sums[i] += stats->value[first + i];
}

static void owner_put(struct rdma_counter *counter)
{
	if (counter->obj.owner)
		rdma_owner_put(counter->obj.owner);
}

/* Called with the port's lock held. */
static void counter_end(struct kref *kref)
{
	struct rdma_counter *counter = container_of(kref, struct rdma_counter, kref);
	struct ib_device *device = counter->device;
	struct rdma_port_counter *counters = counters_of_port(device, counter->port);

	/* If it cannot be read, the values of the last read are added. */
	rdma_counter_query_stats(counter);
	add_values(counter->stats, 0, counters->hstats->num_counters, counters->hstats->value);
	rdma_restrack_del(&counter->res);
	owner_put(counter);
	WARN_ON_ONCE(device->ops.counter_dealloc(counter));
	rdma_free_hw_stats_struct(counter->stats);
	mutex_destroy(&counter->lock);
	kfree(counter);
	if (!--counters->num_counters && counters->mode.mode == RDMA_COUNTER_MODE_MANUAL)
		counters->mode.mode = RDMA_COUNTER_MODE_NONE;
}

/**
 * counter_unbind() - unbind a QP from its counter, which ends with its last QP
 * @qp: QP that is bound to a counter of a port whose lock is held
 * @force: unbind it even if the driver fails
 *
 * Return: 0, or the driver's error with the QP still bound.
 */
int counter_unbind(struct ib_qp *qp, bool force)
{
	struct rdma_counter *counter = qp->counter;
	int ret;

	scoped_guard(mutex, &counter->lock) {
		ret = qp->device->ops.counter_unbind_qp(qp);
		if (ret && !force) {
			WRITE_ONCE(qp->counter, counter);
			return ret;
		}
		qp_leaves(qp, counter);
	}
	kref_put(&counter->kref, counter_end);
	return 0;
}

static int history_begin(struct rdma_port_counter *counters, const struct rdma_hw_stats *stats)
{
	if (counters->hstats)
		return 0;
	counters->hstats = rdma_alloc_hw_stats_struct(stats->descs, stats->num_counters, 0);
	return counters->hstats ? 0 : -ENOMEM;
}

static int counter_publish(struct rdma_counter *counter, struct ib_qp *qp)
{
	int ret = counter_bind(counter, qp);

	if (ret)
		return ret;
	rdma_restrack_add(&counter->res);
	if (counter->res.valid)
		return 0;
	scoped_guard(mutex, &counter->lock)
		counter->device->ops.counter_unbind_qp(qp);
	qp_leaves(qp, counter);
	counter->device->ops.counter_dealloc(counter);
	return -ENOMEM;
}

/**
 * counter_begin() - make a counter for a QP, and bind it
 * @qp: QP that a reference or a running request keeps
 * @port_num: its port, whose lock is held
 * @mode: whether the counter is made by the port's rule or manually
 *
 * Return: the counter, which lives while the QP is bound; else an ERR_PTR.
 */
struct rdma_counter *counter_begin(struct ib_qp *qp, u32 port_num, enum rdma_nl_counter_mode mode)
{
	struct ib_device *device = qp->device;
	struct rdma_port_counter *counters = counters_of_port(device, port_num);
	struct rdma_counter *counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!counter)
		return ERR_PTR(-ENOMEM);
	counter->device = device;
	counter->port = port_num;
	counter->mode.mode = mode;
	if (mode == RDMA_COUNTER_MODE_AUTO)
		counter->mode.mask = counters->mode.mask;
	counter->mode.param.qp_type = qp->qp_type;
	kref_init(&counter->kref);
	mutex_init(&counter->lock);
	/* The counter may outlive the QP, and shows the name of the QP's owner. */
	rdma_object_init(&counter->obj, RDMA_OBJECT_COUNTER, device, qp->obj.owner, NULL);
	rdma_restrack_parent_name(&counter->res, &qp->res);

	counter->stats = device->ops.counter_alloc_stats(counter);
	if (counter->stats)
		ret = history_begin(counters, counter->stats);
	if (!ret)
		ret = counter_publish(counter, qp);
	if (!ret) {
		counters->num_counters++;
		return counter;
	}
	rdma_free_hw_stats_struct(counter->stats);
	rdma_restrack_del(&counter->res);
	owner_put(counter);
	mutex_destroy(&counter->lock);
	kfree(counter);
	return ERR_PTR(ret);
}

/**
 * counter_suits() - is this the counter to which the rule binds a QP?
 * @counter: counter of any port, with a lookup reference
 * @qp: the QP
 * @port_num: its port
 *
 * Return: true if it is.
 */
VISIBLE_IF_KUNIT bool counter_suits(const struct rdma_counter *counter, const struct ib_qp *qp,
				    u32 port_num)
{
	const struct rdma_counter_mode *mode = &counter->mode;

	KUNIT_STATIC_STUB_REDIRECT(counter_suits, counter, qp, port_num);
	if (counter->port != port_num || mode->mode != RDMA_COUNTER_MODE_AUTO)
		return false;
	if ((mode->mask & RDMA_COUNTER_MASK_QP_TYPE) && mode->param.qp_type != qp->qp_type)
		return false;
	return !(mode->mask & RDMA_COUNTER_MASK_PID) ||
	       task_tgid(counter->res.task) == task_tgid(qp->res.task);
}
EXPORT_SYMBOL_IF_KUNIT(counter_suits);

/*
 * The port's lock keeps a counter that suits, for it is one of the port. Counters of other ports
 * are kept by the look-up reference while they are examined.
 */
static struct rdma_counter *counter_for(const struct ib_qp *qp, u32 port_num)
{
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;
	bool suits;
	u32 id = 0;

	while ((res = rdma_restrack_next(qp->device, RDMA_RESTRACK_COUNTER, &id))) {
		counter = container_of(res, struct rdma_counter, res);
		suits = counter_suits(counter, qp, port_num);
		rdma_restrack_put(res);
		if (suits)
			return counter;
		if (!++id)
			break;
	}
	return NULL;
}

/**
 * rdma_counter_bind_qp_auto() - bind a user's QP as its port's rule says
 * @qp: QP that is about to get its port
 * @port: the port
 *
 * Context: may sleep.
 * Return: 0, also when there is no rule; else the QP works without a counter: -EINVAL for a port
 * that the device does not have, -ENOMEM, or the driver's error.
 */
int rdma_counter_bind_qp_auto(struct ib_qp *qp, u32 port)
{
	struct rdma_port_counter *counters;
	struct rdma_counter *counter;
	int ret;

	if (!rdma_is_port_valid(qp->device, port))
		return rdma_refuse(-EINVAL, "port %u: the device has %u to %u", port,
				   rdma_start_port(qp->device), rdma_end_port(qp->device));
	counters = counters_of_port(qp->device, port);
	if (READ_ONCE(counters->mode.mode) != RDMA_COUNTER_MODE_AUTO ||
	    rdma_is_kernel_res(&qp->res) || !qp->res.valid)
		return 0;
	guard(mutex)(&counters->lock);
	if (counters->mode.mode != RDMA_COUNTER_MODE_AUTO || READ_ONCE(qp->counter))
		return 0;
	counter = counter_for(qp, port);
	if (!counter)
		return PTR_ERR_OR_ZERO(counter_begin(qp, port, RDMA_COUNTER_MODE_AUTO));
	ret = counter_bind(counter, qp);
	if (!ret)
		kref_get(&counter->kref);
	return ret;
}

/**
 * rdma_counter_unbind_qp() - unbind a QP from its counter
 * @qp: QP that look-ups do not find any more
 * @force: unbind it even if the driver fails
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a QP that is not bound; the driver's error.
 */
int rdma_counter_unbind_qp(struct ib_qp *qp, bool force)
{
	if (!qp->counter)
		return rdma_refuse(-EINVAL, "qp_num %u has no counter", qp->qp_num);
	guard(mutex)(&counters_of_port(qp->device, qp->counter->port)->lock);
	return counter_unbind(qp, force);
}

/**
 * rdma_counter_query_stats() - read the values of a counter into its stats
 * @counter: counter that a reference or its port's lock keeps
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
int rdma_counter_query_stats(struct rdma_counter *counter)
{
	guard(mutex)(&counter->lock);
	return counter->device->ops.counter_update_stats(counter);
}

/**
 * rdma_counter_add_port() - add up the counters of a port, including those that have ended
 * @device: registered device
 * @port_num: valid port number
 * @first: index of the first value
 * @num: number of values
 * @sums: the values are added to these
 *
 * A counter that cannot be read adds the values that were read last.
 *
 * Context: may sleep.
 */
void rdma_counter_add_port(struct ib_device *device, u32 port_num, unsigned int first,
			   unsigned int num, u64 *sums)
{
	struct rdma_port_counter *counters = counters_of_port(device, port_num);
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;
	u32 id = 0;

	if (!READ_ONCE(counters->hstats))
		return;
	guard(mutex)(&counters->lock);
	add_values(counters->hstats, first, num, sums);
	while ((res = rdma_restrack_next(device, RDMA_RESTRACK_COUNTER, &id))) {
		counter = container_of(res, struct rdma_counter, res);
		if (counter->port == port_num) {
			rdma_counter_query_stats(counter);
			add_values(counter->stats, first, num, sums);
		}
		rdma_restrack_put(res);
		if (!++id)
			break;
	}
}

/**
 * rdma_counter_get_hwstat_value() - get a value of a port, summed over all its counters
 * @dev: registered device
 * @port: port number
 * @index: index of the value
 *
 * Context: may sleep.
 * Return: the sum, 0 for a port that the device does not have.
 */
u64 rdma_counter_get_hwstat_value(struct ib_device *dev, u32 port, u32 index)
{
	u64 sum = 0;

	if (rdma_is_port_valid(dev, port))
		rdma_counter_add_port(dev, port, index, 1, &sum);
	return sum;
}
