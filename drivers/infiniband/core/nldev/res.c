// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about tracked objects: RES_GET, which counts the objects of each type of a device.
 */
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "nldev_priv.h"

/* The tracked types that are listed. Counters are configuration rather than a resource. */
static const char *const res_names[RDMA_RESTRACK_MAX] = {
	[RDMA_RESTRACK_CM_ID] = "cm_id",
	[RDMA_RESTRACK_CQ] = "cq",
	[RDMA_RESTRACK_CTX] = "ctx",
	[RDMA_RESTRACK_MR] = "mr",
	[RDMA_RESTRACK_PD] = "pd",
	[RDMA_RESTRACK_QP] = "qp",
	[RDMA_RESTRACK_SRQ] = "srq",
};

static int put_count(struct sk_buff *msg, const char *name, u64 count)
{
	struct nlattr *entry = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	if (!entry || nla_put_string(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count))
		return -EMSGSIZE;
	nla_nest_end(msg, entry);
	return 0;
}

/* On an error the caller removes the whole message. */
static int put_summary(struct sk_buff *msg, struct ib_device *device, bool details)
{
	struct nlattr *table;
	int ret;

	if (nl_put_device(msg, device))
		return -EMSGSIZE;
	table = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_RES_SUMMARY);
	if (!table)
		return -EMSGSIZE;
	for (int type = 0; type < RDMA_RESTRACK_MAX; type++) {
		if (!res_names[type])
			continue;
		ret = put_count(msg, res_names[type], rdma_restrack_count(device, type, details));
		if (ret)
			return ret;
	}
	nla_nest_end(msg, table);
	return 0;
}

static int put_brief(struct sk_buff *msg, struct ib_device *device)
{
	return put_summary(msg, device, false);
}

static int put_detailed(struct sk_buff *msg, struct ib_device *device)
{
	return put_summary(msg, device, true);
}

/**
 * nldev_res_get() - RDMA_NLDEV_CMD_RES_GET for one device
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for a missing or unknown device, or the error of sending.
 */
int nldev_res_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct ib_device *device = nl_request_begin(&request, skb, nlh, extack);

	if (IS_ERR(device))
		return PTR_ERR(device);
	return nl_answer_device(&request, device,
				nl_wants_details(&request) ? put_detailed : put_brief);
}

static int dump_summary(struct ib_device *device, struct sk_buff *skb, struct netlink_callback *cb,
			unsigned int number)
{
	return nl_dump_device(device, skb, cb, number, cb->args[1] ? put_detailed : put_brief);
}

/**
 * nldev_res_dump() - RDMA_NLDEV_CMD_RES_GET for all devices
 * @skb: a part of the answer
 * @cb: state of the dump: args[0] is the number of devices sent, args[1] whether details
 *      are wanted
 *
 * A malformed request is answered without details.
 *
 * Return: bytes in @skb.
 */
int nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_request request;

	cb->args[1] = !nl_request_parse(&request, cb->skb, cb->nlh, NULL) &&
		      nl_wants_details(&request);
	ib_enum_all_devs(dump_summary, skb, cb);
	return skb->len;
}
