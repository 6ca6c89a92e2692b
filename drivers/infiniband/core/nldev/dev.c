// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about devices: GET, SET and GET_CHARDEV, and NEWDEV and DELDEV for sub-devices.
 */
#include <linux/device.h>
#include <linux/kdev_t.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "../register/register.h"
#include "nldev_priv.h"

/* All ports of a device speak the same protocol, so the first port's is the device's. */
static const char *protocol(struct ib_device *device)
{
	u32 port_num = rdma_start_port(device);

	if (rdma_cap_opa_mad(device, port_num))
		return "opa";
	if (rdma_protocol_ib(device, port_num))
		return "ib";
	if (rdma_protocol_iwarp(device, port_num))
		return "iw";
	if (rdma_protocol_roce(device, port_num))
		return "roce";
	if (rdma_protocol_usnic(device, port_num))
		return "usnic";
	return NULL;
}

/* Appends the type and the parent's name of a sub-device. */
static int put_kinship(struct sk_buff *msg, struct ib_device *device)
{
	/* Pairs with ib_add_sub_device(), which writes the type before the parent. */
	const struct ib_device *parent = smp_load_acquire(&device->parent);

	if (!parent)
		return 0;
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_TYPE, device->type) ||
	    nl_put_name(msg, RDMA_NLDEV_ATTR_PARENT_NAME, parent))
		return -EMSGSIZE;
	return 0;
}

static int put_device_info(struct sk_buff *msg, struct ib_device *device)
{
	const char *name = protocol(device);
	char fw[IB_FW_VERSION_NAME_MAX];

	ib_get_device_fw_str(device, fw);
	if (nl_put_device(msg, device) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, rdma_end_port(device)) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS, device->attrs.device_cap_flags) ||
	    (fw[0] && nla_put_string(msg, RDMA_NLDEV_ATTR_FW_VERSION, fw)) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_NODE_GUID, be64_to_cpu(device->node_guid)) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID,
		       be64_to_cpu(device->attrs.sys_image_guid)) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, device->node_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, device->use_cq_dim) ||
	    put_kinship(msg, device) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE, device->name_assign_type) ||
	    (name && nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_PROTOCOL, name)))
		return -EMSGSIZE;
	return 0;
}

/**
 * nldev_get() - RDMA_NLDEV_CMD_GET for one device
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for a missing or unknown device, or the error of sending.
 */
int nldev_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct ib_device *device = nl_request_begin(&request, skb, nlh, extack);

	if (IS_ERR(device))
		return PTR_ERR(device);
	return nl_answer_device(&request, device, put_device_info);
}

static int dump_device(struct ib_device *device, struct sk_buff *skb, struct netlink_callback *cb,
		       unsigned int number)
{
	return nl_dump_device(device, skb, cb, number, put_device_info);
}

/**
 * nldev_dump() - RDMA_NLDEV_CMD_GET for all devices
 * @skb: a part of the answer
 * @cb: state of the dump: args[0] is the number of devices sent
 *
 * Return: bytes in @skb.
 */
int nldev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	/* Devices that do not fit are sent with the next part. */
	ib_enum_all_devs(dump_device, skb, cb);
	return skb->len;
}

static int set_name(struct nl_request *request, struct ib_device *device)
{
	char name[IB_DEVICE_NAME_MAX];

	nla_strscpy(name, request->tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
	return ib_device_rename(device, name, request->extack);
}

/* The setting affects CQs that are created from now on. */
static int set_moderation(struct nl_request *request, struct ib_device *device)
{
	u8 use_dim = nla_get_u8(request->tb[RDMA_NLDEV_ATTR_DEV_DIM]);

	if (use_dim > 1)
		return rdma_nl_refuse(request->extack, -EINVAL,
				      "adaptive moderation %u is neither 0 nor 1", use_dim);
	device->use_cq_dim = use_dim;
	return 0;
}

/**
 * nldev_set() - RDMA_NLDEV_CMD_SET: rename a device, move it, or set adaptive moderation
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Only the first of these that the request contains is done.
 *
 * Return: 0 or a negative errno.
 */
int nldev_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct ib_device *device;
	int ret;

	device = nl_request_begin(&request, skb, nlh, extack);
	if (IS_ERR(device))
		return PTR_ERR(device);

	if (!request.tb[RDMA_NLDEV_ATTR_DEV_NAME] && request.tb[RDMA_NLDEV_NET_NS_FD])
		return ib_device_set_netns_put(skb, device,
					       nla_get_u32(request.tb[RDMA_NLDEV_NET_NS_FD]),
					       extack);

	if (request.tb[RDMA_NLDEV_ATTR_DEV_NAME])
		ret = set_name(&request, device);
	else if (request.tb[RDMA_NLDEV_ATTR_DEV_DIM])
		ret = set_moderation(&request, device);
	else
		ret = 0;
	ib_device_put(device);
	return ret;
}

static int put_chardev(struct sk_buff *msg, const struct ib_client_nl_info *info)
{
	if (nl_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV, huge_encode_dev(info->cdev->devt)) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV_ABI, info->abi) ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_NAME, dev_name(info->cdev)))
		return -EMSGSIZE;
	return 0;
}

static int find_chardev(struct nl_request *request, struct ib_client_nl_info *info)
{
	char client_name[RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE];
	struct ib_device *device = NULL;
	int ret = 0;

	nla_strscpy(client_name, request->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE], sizeof(client_name));
	info->port = -1;
	if (request->tb[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		device = nl_request_device(request);
		if (IS_ERR(device))
			return PTR_ERR(device);
		if (request->tb[RDMA_NLDEV_ATTR_PORT_INDEX])
			ret = nl_request_port(request, device, &info->port);
	} else if (request->tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		return rdma_nl_refuse(request->extack, -EINVAL,
				      "a port number but no device index");
	}
	if (!ret)
		ret = ib_get_client_nl_info(device, client_name, info);
	if (ret == -EOPNOTSUPP)
		ret = rdma_nl_refuse(request->extack, ret, "%s has no character device for %s",
				     device ? device->name : "the system", client_name);
	if (device)
		ib_device_put(device);
	return ret;
}

/**
 * nldev_get_chardev() - RDMA_NLDEV_CMD_GET_CHARDEV: get the character device of a client
 * @skb: the request: a client's name, perhaps a device, perhaps a port of it
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for an incomplete request, -EOPNOTSUPP if there is none, or another negative
 * errno.
 */
int nldev_get_chardev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct ib_client_nl_info info = {};
	struct nl_request request;
	struct nlmsghdr *reply;
	struct sk_buff *msg;
	int ret;

	ret = nl_request_parse(&request, skb, nlh, extack);
	if (ret)
		return ret;
	if (!request.tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return rdma_nl_refuse(extack, -EINVAL, "no character device type");
	msg = nl_reply_begin(&request, &reply);
	if (!msg)
		return -ENOMEM;

	info.nl_msg = msg;
	ret = find_chardev(&request, &info);
	if (!ret) {
		ret = put_chardev(msg, &info);
		put_device(info.cdev);
	}
	return nl_reply_send(&request, msg, reply, ret);
}

/**
 * nldev_newdev() - RDMA_NLDEV_CMD_NEWDEV: create a sub-device
 * @skb: the request: a device, and name and kind of the new one
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for an incomplete request, -EOPNOTSUPP if the driver has no sub-devices, or
 * the driver's error.
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
 * nldev_deldev() - RDMA_NLDEV_CMD_DELDEV: delete a device that NEWDEV has created
 * @skb: the request: a device
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for a missing or unknown device, -EOPNOTSUPP for one without parent, -ENODEV
 * for one that is being removed already.
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
