// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about the RDMA subsystem as a whole: SYS_GET and SYS_SET.
 */
#include <rdma/ib_verbs.h>

#include "../register/register.h"
#include "nldev_priv.h"

static int put_system_info(struct sk_buff *msg)
{
	if (nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, ib_devices_shared_netns) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, 1) ||
	    /*
	     * fork() copies pinned pages at once, so user space need not call
	     * madvise(MADV_DONTFORK).
	     */
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE,
		       rdma_nl_privileged_qkey_is_set()))
		return -EMSGSIZE;
	return 0;
}

/**
 * nldev_sys_get() - RDMA_NLDEV_CMD_SYS_GET
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0 or a negative errno.
 */
int nldev_sys_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct nlmsghdr *reply;
	struct sk_buff *msg;
	int ret;

	ret = nl_request_parse(&request, skb, nlh, extack);
	if (ret)
		return ret;
	msg = nl_reply_begin(&request, &reply);
	if (!msg)
		return -ENOMEM;
	return nl_reply_send(&request, msg, reply, put_system_info(msg));
}

static int flag_of(struct nl_request *request, const struct nlattr *attr, const char *what)
{
	u8 value = nla_get_u8(attr);

	if (value > 1)
		return rdma_nl_refuse(request->extack, -EINVAL, "%s %u is neither 0 nor 1", what,
				      value);
	return value;
}

/**
 * nldev_sys_set() - RDMA_NLDEV_CMD_SYS_SET: set the mode of network namespaces or of privileged
 * Q_Keys
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL, -EPERM, or -EBUSY if other network namespaces forbid a change of mode.
 */
int nldev_sys_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nlattr *netns, *qkey;
	struct nl_request request;
	int ret;

	ret = nl_request_parse(&request, skb, nlh, extack);
	if (ret)
		return ret;
	netns = request.tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE];
	qkey = request.tb[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE];
	if (netns) {
		ret = flag_of(&request, netns, "network namespace mode");
		return ret < 0 ? ret : rdma_compatdev_set(ret, extack);
	}
	if (qkey) {
		ret = flag_of(&request, qkey, "privileged Q_Key mode");
		if (ret < 0)
			return ret;
		rdma_nl_set_privileged_qkey(ret);
		return 0;
	}
	return rdma_nl_refuse(extack, -EINVAL, "nothing to set");
}
