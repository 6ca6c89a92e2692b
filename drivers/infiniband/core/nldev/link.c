// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that create and remove software devices: NEWLINK and DELLINK.
 */
#include <linux/cleanup.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

/*
 * Protects link_types. It is held for reading while a device is created, so that the driver stays.
 */
static DECLARE_RWSEM(link_types_rwsem);
static LIST_HEAD(link_types);

static struct rdma_link_ops *find_type(const char *type)
{
	struct rdma_link_ops *ops;

	list_for_each_entry(ops, &link_types, list)
		if (!strcmp(ops->type, type))
			return ops;
	return NULL;
}

/**
 * rdma_link_register() - offer devices of a kind to "rdma link add"
 * @ops: the kind
 *
 * Context: may sleep.
 */
void rdma_link_register(struct rdma_link_ops *ops)
{
	guard(rwsem_write)(&link_types_rwsem);
	if (!WARN_ON(find_type(ops->type)))
		list_add_tail(&ops->list, &link_types);
}
EXPORT_SYMBOL(rdma_link_register);

/**
 * rdma_link_unregister() - stop offering devices of a kind
 * @ops: a registered kind
 *
 * Waits while a device is being created. Context: may sleep.
 */
void rdma_link_unregister(struct rdma_link_ops *ops)
{
	guard(rwsem_write)(&link_types_rwsem);
	list_del(&ops->list);
}
EXPORT_SYMBOL(rdma_link_unregister);

static bool has_type(const char *type)
{
	guard(rwsem_read)(&link_types_rwsem);
	return find_type(type);
}

static int make_link(struct nl_request *request, const char *type, const char *name,
		     struct net_device *netdev)
{
	struct rdma_link_ops *ops;

	if (!has_type(type))
		request_module("rdma-link-%s", type);
	guard(rwsem_read)(&link_types_rwsem);
	ops = find_type(type);
	if (!ops)
		return rdma_nl_refuse(request->extack, -EINVAL,
				      "no driver makes devices of type %s", type);
	return ops->newlink(name, netdev);
}

/**
 * nldev_newlink() - RDMA_NLDEV_CMD_NEWLINK: create a device on a net device
 * @skb: the request: a name, a kind of device and a net device
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, -EINVAL for an incomplete request or an unknown kind, -ENODEV for an unknown net
 * device, or the driver's error.
 */
int nldev_newlink(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	char name[IB_DEVICE_NAME_MAX], netdev_name[IFNAMSIZ];
	char type[RDMA_NLDEV_ATTR_ENTRY_STRLEN];
	struct net_device *netdev;
	struct nl_request request;
	int ret;

	ret = nl_request_parse(&request, skb, nlh, extack);
	if (ret)
		return ret;
	if (!request.tb[RDMA_NLDEV_ATTR_DEV_NAME] || !request.tb[RDMA_NLDEV_ATTR_LINK_TYPE] ||
	    !request.tb[RDMA_NLDEV_ATTR_NDEV_NAME])
		return rdma_nl_refuse(extack, -EINVAL,
				      "device name, link type and net device are all needed");
	nla_strscpy(name, request.tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
	if (!name[0] || strchr(name, '%'))
		return rdma_nl_refuse(extack, -EINVAL, "\"%s\" cannot be the name of a device",
				      name);
	nla_strscpy(type, request.tb[RDMA_NLDEV_ATTR_LINK_TYPE], sizeof(type));
	nla_strscpy(netdev_name, request.tb[RDMA_NLDEV_ATTR_NDEV_NAME], sizeof(netdev_name));

	netdev = dev_get_by_name(sock_net(skb->sk), netdev_name);
	if (!netdev)
		return rdma_nl_refuse(extack, -ENODEV, "no net device is called %s", netdev_name);
	ret = make_link(&request, type, name, netdev);
	dev_put(netdev);
	return ret;
}

/**
 * nldev_dellink() - RDMA_NLDEV_CMD_DELLINK: remove a device that NEWLINK has created
 * @skb: the request: a device
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, or -EINVAL for an unknown device or one that users may not remove.
 */
int nldev_dellink(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nl_request request;
	struct ib_device *device;
	int ret;

	device = nl_request_begin(&request, skb, nlh, extack);
	if (IS_ERR(device))
		return PTR_ERR(device);
	if (!(device->attrs.kernel_cap_flags & IBK_ALLOW_USER_UNREG)) {
		ret = rdma_nl_refuse(extack, -EINVAL, "%s was not made by \"rdma link add\"",
				     device->name);
		ib_device_put(device);
		return ret;
	}
	ib_unregister_device_and_put(device);
	return 0;
}
