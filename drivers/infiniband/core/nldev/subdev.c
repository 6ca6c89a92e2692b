// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about devices below devices: NEWDEV and DELDEV.
 */
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

/**
 * nldev_newdev - RDMA_NLDEV_CMD_NEWDEV: make a device below another
 * @skb: the request: a device, and name and kind of the new one
 * @nlh: its header
 * @extack: where a reason goes
 *
 * Return: 0, -EINVAL for an incomplete request, -EOPNOTSUPP where the driver has none, or the
 * driver's error.
 */
int nldev_newdev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	char name[IB_DEVICE_NAME_MAX];
	struct nl_request request;
	struct ib_device *parent;
	int ret;

	ret = nl_request_parse(&request, skb, nlh, extack);
	if (ret)
		return ret;
	if (!request.tb[RDMA_NLDEV_ATTR_DEV_NAME] || !request.tb[RDMA_NLDEV_ATTR_DEV_TYPE])
		return rdma_nl_refuse(extack, -EINVAL, "device name and type are both needed");
	nla_strscpy(name, request.tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
	parent = nl_request_device(&request);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	ret = ib_add_sub_device(parent, nla_get_u8(request.tb[RDMA_NLDEV_ATTR_DEV_TYPE]), name);
	ib_device_put(parent);
	return ret;
}

/**
 * nldev_deldev - RDMA_NLDEV_CMD_DELDEV: end a device that NEWDEV has made
 * @skb: the request: a device
 * @nlh: its header
 * @extack: where a reason goes
 *
 * Return: 0, -EINVAL for a missing or unknown device, -EOPNOTSUPP for one that is below no other,
 * -ENODEV for one that is going already.
 */
int nldev_deldev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct ib_device *device;

	device = nl_request_begin(&request, skb, nlh, extack);
	if (IS_ERR(device))
		return PTR_ERR(device);
	return ib_del_sub_device_and_put(device);
}
