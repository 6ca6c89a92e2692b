// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that QPs are bound to: their parts of STAT_GET, STAT_SET and STAT_DEL.
 */
#include <linux/cleanup.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

static bool is_about_qps(const struct nl_request *nl)
{
	const struct nlattr *res = nl->tb[RDMA_NLDEV_ATTR_STAT_RES];

	return res && nla_get_u32(res) == RDMA_NLDEV_ATTR_RES_QP;
}

/**
 * nl_stat_put_binding() - append the QP and the counter of a binding or unbinding
 * @msg: the message
 * @request: the request; nothing is appended if its counter id is 0
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_stat_put_binding(struct sk_buff *msg, const struct stat_request *request)
{
	if (!request->counter_id)
		return 0;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, request->counter_id) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, request->qp_num))
		return -EMSGSIZE;
	return 0;
}

static int bind_by_hand(struct stat_request *request)
{
	struct nlattr **tb = request->nl.tb;

	if (!tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return rdma_nl_refuse(request->nl.extack, -EINVAL, "no number of a QP");
	request->qp_num = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	if (tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]) {
		request->counter_id = nla_get_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
		return rdma_counter_bind_qpn(request->device, request->port_num, request->qp_num,
					     request->counter_id);
	}
	return rdma_counter_bind_qpn_alloc(request->device, request->port_num, request->qp_num,
					   &request->counter_id);
}

static int set_rule(struct stat_request *request)
{
	const struct nlattr *mask = request->nl.tb[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK];

	return rdma_counter_set_auto_mode(request->device, request->port_num,
					  mask ? nla_get_u32(mask) : 0, request->nl.extack);
}

/**
 * nl_stat_set_mode() - carry out STAT_SET with a mode: set or end a port's rule, or bind a QP
 * @request: the request, with a port
 *
 * Return: 0, with the data for nl_stat_put_binding() in the request; or a negative errno.
 */
int nl_stat_set_mode(struct stat_request *request)
{
	u32 mode = nla_get_u32(request->nl.tb[RDMA_NLDEV_ATTR_STAT_MODE]);

	if (!is_about_qps(&request->nl))
		return rdma_nl_refuse(request->nl.extack, -EINVAL,
				      "a mode is for the counters of QPs");
	switch (mode) {
	case RDMA_COUNTER_MODE_AUTO:
		return set_rule(request);
	case RDMA_COUNTER_MODE_MANUAL:
		return bind_by_hand(request);
	default:
		return rdma_nl_refuse(request->nl.extack, -EINVAL, "no mode has number %u", mode);
	}
}

static int check_unbind(struct stat_request *request)
{
	struct nlattr **tb = request->nl.tb;

	if (!is_about_qps(&request->nl))
		return rdma_nl_refuse(request->nl.extack, -EINVAL,
				      "only QPs are bound to counters");
	if (!tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] || !tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return rdma_nl_refuse(request->nl.extack, -EINVAL,
				      "numbers of a counter and of a QP are both needed");
	request->counter_id = nla_get_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
	request->qp_num = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	return 0;
}

/* The message is allocated, and complete, before the QP is unbound. */
static int tell_and_unbind(struct sk_buff *msg, struct stat_request *request)
{
	return nl_stat_put_binding(msg, request) ?:
	       rdma_counter_unbind_qpn(request->device, request->port_num, request->qp_num,
				       request->counter_id);
}

/**
 * nldev_stat_del() - RDMA_NLDEV_CMD_STAT_DEL: unbind a QP from its counter
 * @skb: the request: a device, a port, and the ids of counter and QP
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0; -EINVAL for an incomplete request or a QP without this binding; -ENOENT for a QP that
 * does not exist; -EOPNOTSUPP for a device without such counters; the driver's error.
 */
int nldev_stat_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct stat_request request = {};
	int ret;

	ret = nl_stat_with_port(&request, skb, nlh, extack);
	if (ret)
		return ret;
	ret = check_unbind(&request) ?: nl_stat_reply(&request, tell_and_unbind);
	nl_stat_end(&request);
	return ret;
}

static int put_mode(struct sk_buff *msg, struct stat_request *request)
{
	enum rdma_nl_counter_mode mode;
	enum rdma_nl_counter_mask mask;
	int ret;

	ret = rdma_counter_get_mode(request->device, request->port_num, &mode, &mask);
	if (ret)
		return ret;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_MODE, mode) ||
	    (mode == RDMA_COUNTER_MODE_AUTO &&
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask)))
		return -EMSGSIZE;
	return 0;
}

/**
 * nl_stat_get_qp() - answer STAT_GET about QPs: one counter by its id, or the mode of a port
 * @nl: the request, parsed
 * @skb: its message
 * @nlh: its header
 *
 * Return: 0; -EINVAL for an incomplete request; -ENOENT for a counter that does not exist.
 */
int nl_stat_get_qp(struct nl_request *nl, struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct stat_request request = {};
	int ret;

	if (nl->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID])
		return nl_get_counter(nl);
	if (!nl->tb[RDMA_NLDEV_ATTR_STAT_MODE])
		return rdma_nl_refuse(nl->extack, -EINVAL,
				      "neither a counter nor its mode is asked for");
	ret = nl_stat_with_port(&request, skb, nlh, nl->extack);
	if (ret)
		return ret;
	ret = nl_stat_reply(&request, put_mode);
	nl_stat_end(&request);
	return ret;
}
