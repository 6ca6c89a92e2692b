// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding QPs to counters: the mode that an administrator sets, a port's rule, and single QPs.
 */
#include <kunit/visibility.h>
#include <linux/capability.h>
#include <linux/cleanup.h>

#include "counter_priv.h"

#define KNOWN_MASKS (RDMA_COUNTER_MASK_QP_TYPE | RDMA_COUNTER_MASK_PID)

static int auto_begin(struct rdma_port_counter *counters, u32 mask)
{
	if (mask & ~KNOWN_MASKS)
		return rdma_refuse(-EINVAL, "counter rule %#x: %#x is unknown", mask,
				   mask & ~KNOWN_MASKS);
	if (counters->mode.mode == RDMA_COUNTER_MODE_AUTO && counters->mode.mask == mask)
		return 0;
	if (counters->num_counters)
		return rdma_refuse(-EBUSY, "%u counters of the port have QPs",
				   counters->num_counters);
	WRITE_ONCE(counters->mode.mode, RDMA_COUNTER_MODE_AUTO);
	counters->mode.mask = mask;
	return 0;
}

/* Bound QPs stay bound, and can be unbound manually from then on. */
static void auto_end(struct rdma_port_counter *counters)
{
	WRITE_ONCE(counters->mode.mode, counters->num_counters ? RDMA_COUNTER_MODE_MANUAL :
		   RDMA_COUNTER_MODE_NONE);
	counters->mode.mask = 0;
}

/**
 * rdma_counter_set_auto_mode() - set the rule by which a port binds QPs of users
 * @dev: device
 * @port: port number
 * @mask: QPs that agree in all of these properties share a counter, enum rdma_nl_counter_mask; 0
 *	for no rule
 * @extack: takes the reason of an error, which rdma_refuse() gets as well
 *
 * Context: may sleep.
 * Return: 0, also when that is the rule already; -EOPNOTSUPP for a device without such counters;
 * -EINVAL for a port or mask that is unknown; -EBUSY while QPs are bound.
 */
int rdma_counter_set_auto_mode(struct ib_device *dev, u32 port, enum rdma_nl_counter_mask mask,
			       struct netlink_ext_ack *extack)
{
	struct rdma_port_counter *counters;
	int ret;

	ret = counters_possible(dev, port);
	if (ret)
		return ret;
	counters = counters_of_port(dev, port);
	guard(mutex)(&counters->lock);
	if (mask)
		ret = auto_begin(counters, mask);
	else
		auto_end(counters);
	if (ret == -EBUSY)
		NL_SET_ERR_MSG(extack, "QPs are bound to counters of the port");
	return ret;
}

/**
 * rdma_counter_get_mode() - get how QPs of a port are bound to counters
 * @dev: device
 * @port: valid port number
 * @mode: automatic, manual, or none
 * @mask: the properties of the automatic rule
 *
 * Context: may sleep.
 * Return: 0
 */
int rdma_counter_get_mode(struct ib_device *dev, u32 port, enum rdma_nl_counter_mode *mode,
			  enum rdma_nl_counter_mask *mask)
{
	struct rdma_port_counter *counters = counters_of_port(dev, port);

	guard(mutex)(&counters->lock);
	*mode = counters->mode.mode;
	*mask = counters->mode.mask;
	return 0;
}

/* Returns the QP with a lookup reference. */
static struct ib_qp *find_qp(struct ib_device *device, u32 qp_num)
{
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;

	res = rdma_restrack_get_byid(device, RDMA_RESTRACK_QP, qp_num);
	if (IS_ERR(res))
		return ERR_PTR(rdma_refuse(-ENOENT, "no QP has number %u", qp_num));
	qp = container_of(res, struct ib_qp, res);
	if (qp->qp_type != IB_QPT_RAW_PACKET || capable(CAP_NET_RAW))
		return qp;
	rdma_restrack_put(res);
	return ERR_PTR(rdma_refuse(-ENOENT, "QP %u: raw packets need CAP_NET_RAW", qp_num));
}

/*
 * Returns a QP that may be bound or unbound manually, with its port's lock held until
 * by_hand_end().
 */
static struct ib_qp *by_hand_begin(struct ib_device *device, u32 port_num, u32 qp_num)
{
	struct rdma_port_counter *counters;
	struct ib_qp *qp;
	int ret;

	ret = counters_possible(device, port_num);
	if (ret)
		return ERR_PTR(ret);
	counters = counters_of_port(device, port_num);
	mutex_lock(&counters->lock);
	if (counters->mode.mode == RDMA_COUNTER_MODE_AUTO)
		qp = ERR_PTR(rdma_refuse(-EINVAL, "a rule binds the QPs of the port"));
	else
		qp = find_qp(device, qp_num);
	if (IS_ERR(qp))
		mutex_unlock(&counters->lock);
	return qp;
}

static void by_hand_end(struct ib_qp *qp, u32 port_num)
{
	mutex_unlock(&counters_of_port(qp->device, port_num)->lock);
	rdma_restrack_put(&qp->res);
}

/* A QP that has no port yet may be bound in advance to a counter of its future port. */
static int check_port(const struct ib_qp *qp, u32 port_num)
{
	u32 port = READ_ONCE(qp->port);

	if (!port || port == port_num)
		return 0;
	return rdma_refuse(-EINVAL, "QP %u is one of port %u", qp->qp_num, port);
}

static int bind_known(struct ib_qp *qp, u32 port_num, u32 counter_id)
{
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;
	int ret;

	ret = check_port(qp, port_num);
	if (ret)
		return ret;
	res = rdma_restrack_get_byid(qp->device, RDMA_RESTRACK_COUNTER, counter_id);
	if (IS_ERR(res))
		return rdma_refuse(-ENOENT, "no counter has number %u", counter_id);
	counter = container_of(res, struct rdma_counter, res);
	if (counter->port != port_num)
		ret = rdma_refuse(-EINVAL, "counter %u is one of port %u", counter_id,
				  counter->port);
	else if (rdma_is_kernel_res(res) != rdma_is_kernel_res(&qp->res))
		ret = rdma_refuse(-EINVAL, "users' QPs and the kernel's do not share a counter");
	else
		ret = counter_bind(counter, qp);
	if (!ret)
		kref_get(&counter->kref);
	/* The port's lock keeps the counter after this. */
	rdma_restrack_put(res);
	return ret;
}

/**
 * rdma_counter_bind_qpn() - bind a QP to a counter that exists
 * @dev: device
 * @port: port of both, or the one that the QP is going to have
 * @qp_num: number of the QP
 * @counter_id: number of the counter
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a device without such counters; -ENOENT for a QP or counter that does
 * not exist; -EINVAL for one of another port or a QP that is bound, or while the port has a rule;
 * the driver's error.
 */
int rdma_counter_bind_qpn(struct ib_device *dev, u32 port, u32 qp_num, u32 counter_id)
{
	struct ib_qp *qp = by_hand_begin(dev, port, qp_num);
	int ret;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = bind_known(qp, port, counter_id);
	by_hand_end(qp, port);
	return ret;
}

/**
 * rdma_counter_bind_qpn_alloc() - bind a QP to a counter of its own
 * @dev: device
 * @port: port of the QP
 * @qp_num: number of the QP
 * @counter_id: receives the number of the counter
 *
 * Context: may sleep.
 * Return: 0; errors as of rdma_counter_bind_qpn(), and -ENOMEM.
 */
int rdma_counter_bind_qpn_alloc(struct ib_device *dev, u32 port, u32 qp_num, u32 *counter_id)
{
	struct ib_qp *qp = by_hand_begin(dev, port, qp_num);
	struct rdma_counter *counter;
	int ret;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = check_port(qp, port);
	counter = ret ? ERR_PTR(ret) : counter_begin(qp, port, RDMA_COUNTER_MODE_MANUAL);
	if (!IS_ERR(counter)) {
		counters_of_port(dev, port)->mode.mode = RDMA_COUNTER_MODE_MANUAL;
		*counter_id = counter->id;
	}
	by_hand_end(qp, port);
	return PTR_ERR_OR_ZERO(counter);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_counter_bind_qpn_alloc);

/*
 * The QP may be bound to a counter of another port, which may end at any time: it is only compared.
 */
static int unbind_known(struct ib_qp *qp, u32 port_num, u32 counter_id)
{
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;
	bool bound;

	res = rdma_restrack_get_byid(qp->device, RDMA_RESTRACK_COUNTER, counter_id);
	if (IS_ERR(res))
		return rdma_refuse(-EINVAL, "no counter has number %u", counter_id);
	counter = container_of(res, struct rdma_counter, res);
	bound = counter->port == port_num && READ_ONCE(qp->counter) == counter;
	/* The port's lock keeps the counter that the QP is bound to. */
	rdma_restrack_put(res);
	if (!bound)
		return rdma_refuse(-EINVAL, "QP %u is not bound to counter %u of port %u",
				   qp->qp_num, counter_id, port_num);
	return counter_unbind(qp, false);
}

/**
 * rdma_counter_unbind_qpn() - unbind a QP from the counter to which it was bound manually
 * @dev: device
 * @port: port of the counter; the QP may have another port since it was bound
 * @qp_num: number of the QP
 * @counter_id: number of the counter
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a device without such counters; -ENOENT for a QP that does not exist;
 * -EINVAL for a counter of another port or one that the QP is not bound to, or while the port has a
 * rule; the driver's error.
 */
int rdma_counter_unbind_qpn(struct ib_device *dev, u32 port, u32 qp_num, u32 counter_id)
{
	struct ib_qp *qp = by_hand_begin(dev, port, qp_num);
	int ret;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = unbind_known(qp, port, counter_id);
	by_hand_end(qp, port);
	return ret;
}

/**
 * rdma_counter_modify() - switch an optional counter of a port
 * @dev: registered device
 * @port: port number
 * @index: index of the counter in the port's hardware counters
 * @enable: on or off
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device cannot switch counters; -EINVAL for a counter that does not
 * exist or always counts; the driver's error.
 */
int rdma_counter_modify(struct ib_device *dev, u32 port, unsigned int index, bool enable)
{
	struct rdma_hw_stats *stats = ib_get_hw_stats_port(dev, port);
	int ret;

	if (!stats || index >= stats->num_counters ||
	    !(stats->descs[index].flags & IB_STAT_FLAG_OPTIONAL))
		return rdma_refuse(-EINVAL, "no counter %u that can be switched", index);
	if (!dev->ops.modify_hw_stat)
		return rdma_refuse(-EOPNOTSUPP, "%s cannot switch counters", dev->name);
	guard(mutex)(&stats->lock);
	if (test_bit(index, stats->is_disabled) != enable)
		return 0;
	ret = dev->ops.modify_hw_stat(dev, port, index, enable);
	if (!ret)
		__assign_bit(index, stats->is_disabled, !enable);
	return ret;
}
