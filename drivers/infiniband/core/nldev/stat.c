// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about hardware counters: STAT_GET, STAT_GET_STATUS and STAT_SET. The counters of a port
 * are read, and the optional ones switched; for counters of QPs see stat_qp.c.
 */
#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "../counter/counter.h"
#include "nldev_priv.h"

static int stat_counters(struct stat_request *request)
{
	request->stats = ib_get_hw_stats_port(request->device, request->port_num);
	if (!request->stats)
		return rdma_nl_refuse(request->nl.extack, -EINVAL, "%s, port %u: no counters",
				      request->device->name, request->port_num);
	return 0;
}

/* ---- STAT_GET ---- */

/* Appends the sums of the device's values and those of its QP counters. */
static int put_sums(struct sk_buff *msg, const struct rdma_hw_stats *stats, const u64 *of_qps)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	if (!table)
		return -EMSGSIZE;
	for (int i = 0; i < stats->num_counters; i++) {
		if (test_bit(i, stats->is_disabled))
			continue;
		if (rdma_nl_stat_hwcounter_entry(msg, stats->descs[i].name,
						 stats->value[i] + of_qps[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/* The driver reads the values now, whatever age sysfs allows. */
static int put_now(struct sk_buff *msg, const struct stat_request *request, const u64 *of_qps)
{
	struct rdma_hw_stats *stats = request->stats;
	struct ib_device *device = request->device;

	guard(mutex)(&stats->lock);
	if (device->ops.get_hw_stats(device, stats, request->port_num, stats->num_counters) < 0)
		return rdma_nl_refuse(request->nl.extack, -EINVAL, "%s cannot be asked",
				      device->name);
	return put_sums(msg, stats, of_qps);
}

static int put_values(struct sk_buff *msg, struct stat_request *request)
{
	unsigned int num = request->stats->num_counters;
	u64 *of_qps = kcalloc(num, sizeof(*of_qps), GFP_KERNEL);
	int ret;

	if (!of_qps)
		return -ENOMEM;
	if (request->port_num)
		rdma_counter_add_port(request->device, request->port_num, 0, num, of_qps);
	ret = put_now(msg, request, of_qps);
	kfree(of_qps);
	return ret;
}

static int get_values(struct stat_request *request)
{
	const struct ib_device_ops *ops = &request->device->ops;
	int ret;

	if (!ops->alloc_hw_port_stats || !ops->get_hw_stats)
		return rdma_nl_refuse(request->nl.extack, -EINVAL, "%s has no counters of ports",
				      request->device->name);
	ret = stat_counters(request);
	return ret ?: nl_stat_reply(request, put_values);
}

/**
 * nldev_stat_get() - RDMA_NLDEV_CMD_STAT_GET: the counters of a port or of a region, a counter of
 * QPs, or a port's rule for these
 * @skb: the request: a device and a port, 0 for the device's own counters; or the id of an MR or of
 *	a counter
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0; -EINVAL for an incomplete request, a device without such counters, or counters that
 * cannot be read; -EMSGSIZE for more counters than fit into a message.
 */
int nldev_stat_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct stat_request request;
	const struct nlattr *res;
	int ret;

	ret = nl_request_parse(&request.nl, skb, nlh, extack);
	if (ret)
		return ret;
	res = request.nl.tb[RDMA_NLDEV_ATTR_STAT_RES];
	if (res && nla_get_u32(res) == RDMA_NLDEV_ATTR_RES_MR)
		return nl_get_mr_stat(&request.nl);
	if (res && nla_get_u32(res) == RDMA_NLDEV_ATTR_RES_QP)
		return nl_stat_get_qp(&request.nl, skb, nlh);
	if (res)
		return rdma_nl_refuse(extack, -EINVAL, "such objects have no counters");
	ret = nl_stat_begin(&request);
	if (ret)
		return ret;
	ret = get_values(&request);
	nl_stat_end(&request);
	return ret;
}

/* ---- STAT_GET_STATUS ---- */

/* Appends the counters with their indices, and for optional ones whether they are enabled. */
static int put_status(struct sk_buff *msg, struct stat_request *request)
{
	struct rdma_hw_stats *stats = request->stats;
	struct nlattr *table, *entry;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	guard(mutex)(&stats->lock);
	for (int i = 0; i < stats->num_counters; i++) {
		entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		if (!entry ||
		    nla_put_string(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
				   stats->descs[i].name) ||
		    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i))
			return -EMSGSIZE;
		if ((stats->descs[i].flags & IB_STAT_FLAG_OPTIONAL) &&
		    nla_put_u8(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC,
			       !test_bit(i, stats->is_disabled)))
			return -EMSGSIZE;
		nla_nest_end(msg, entry);
	}
	nla_nest_end(msg, table);
	return 0;
}

/**
 * nldev_stat_get_status() - RDMA_NLDEV_CMD_STAT_GET_STATUS: list the counters of a port
 * @skb: the request: a device and a port
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0; -EINVAL for an incomplete request or a port without counters; -EMSGSIZE for more
 * counters than fit into a message.
 */
int nldev_stat_get_status(struct sk_buff *skb, struct nlmsghdr *nlh,
			  struct netlink_ext_ack *extack)
{
	struct stat_request request;
	int ret;

	ret = nl_stat_with_port(&request, skb, nlh, extack);
	if (ret)
		return ret;
	ret = stat_counters(&request) ?: nl_stat_reply(&request, put_status);
	nl_stat_end(&request);
	return ret;
}

/* ---- STAT_SET ---- */

static bool is_optional(const struct rdma_hw_stats *stats, u32 index)
{
	return index < stats->num_counters && (stats->descs[index].flags & IB_STAT_FLAG_OPTIONAL);
}

/* Collects the counters that the request names by index. All of them must be optional. */
static int wanted_counters(const struct stat_request *request, unsigned long *wanted)
{
	const struct nlattr *list = request->nl.tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];
	const struct nlattr *entry;
	int left;

	nla_for_each_nested(entry, list, left) {
		if (nla_len(entry) != sizeof(u32))
			return rdma_nl_refuse(request->nl.extack, -EINVAL,
					      "an entry of %d bytes is no number", nla_len(entry));
		if (!is_optional(request->stats, nla_get_u32(entry)))
			return rdma_nl_refuse(request->nl.extack, -EINVAL,
					      "no counter %u that can be switched",
					      nla_get_u32(entry));
		__set_bit(nla_get_u32(entry), wanted);
	}
	return 0;
}

/* Enables the wanted counters, and disables the other optional ones. */
static int switch_counters(const struct stat_request *request, const unsigned long *wanted)
{
	int ret = 0;

	for (unsigned int i = 0; i < request->stats->num_counters && !ret; i++)
		if (is_optional(request->stats, i))
			ret = rdma_counter_modify(request->device, request->port_num, i,
						  test_bit(i, wanted));
	return ret;
}

/* The list is checked before anything is set. */
static int apply_with_counters(struct stat_request *request)
{
	unsigned long *wanted;
	int ret;

	ret = stat_counters(request);
	if (ret)
		return ret;
	wanted = bitmap_zalloc(request->stats->num_counters, GFP_KERNEL);
	if (!wanted)
		return -ENOMEM;
	ret = wanted_counters(request, wanted);
	if (!ret && request->nl.tb[RDMA_NLDEV_ATTR_STAT_MODE])
		ret = nl_stat_set_mode(request);
	if (!ret)
		ret = switch_counters(request, wanted);
	bitmap_free(wanted);
	return ret;
}

static int apply(struct stat_request *request)
{
	if (request->nl.tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return apply_with_counters(request);
	if (request->nl.tb[RDMA_NLDEV_ATTR_STAT_MODE])
		return nl_stat_set_mode(request);
	return rdma_nl_refuse(request->nl.extack, -EINVAL, "nothing to set");
}

/* The message is allocated before anything is changed, and has room for what is appended. */
static int apply_and_tell(struct sk_buff *msg, struct stat_request *request)
{
	return apply(request) ?: nl_stat_put_binding(msg, request);
}

/**
 * nldev_stat_set() - RDMA_NLDEV_CMD_STAT_SET: switch the optional counters of a port, or set how
 * its QPs are bound to counters
 * @skb: the request: a device, a port, and the indices of counters to enable, a mode, or both
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0; -EINVAL for an incomplete request, a port without counters, or a counter that always
 * counts; -EOPNOTSUPP if the device does not support it; -ENOMEM; the driver's error.
 */
int nldev_stat_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct stat_request request = {};
	int ret;

	ret = nl_stat_with_port(&request, skb, nlh, extack);
	if (ret)
		return ret;
	ret = nl_stat_reply(&request, apply_and_tell);
	nl_stat_end(&request);
	return ret;
}
