// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The class "infiniband" and the attributes of its devices.
 */
#include <linux/device.h>
#include <linux/sysfs.h>
#include <linux/unaligned.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_compat.h>

#include "sysfs_priv.h"

static int add_uevent_variables(const struct device *dev, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "NAME=%s", dev_name(dev));
}

static RDMA_CLASS_NS *device_namespace(const struct device *dev)
{
	const struct ib_core_device *coredev = container_of(dev, struct ib_core_device, dev);

	return rdma_class_ns_of(read_pnet(&coredev->rdma_net));
}

static struct class ib_class = {
	.name = "infiniband",
	.dev_uevent = add_uevent_variables,
	.ns_type = &net_ns_type_operations,
	.namespace = device_namespace,
};

/**
 * ib_coredev_init() - initialise the part of a device that is visible in a namespace
 * @coredev: the device's own part, or a compat device; the caller sets its release()
 * @owner: the device
 * @net: the namespace
 */
void ib_coredev_init(struct ib_core_device *coredev, struct ib_device *owner, struct net *net)
{
	/* Drivers use ib_device.dev where the core means coredev.dev. */
	static_assert(offsetof(struct ib_core_device, dev) == 0);

	coredev->owner = owner;
	write_pnet(&coredev->rdma_net, net);
	INIT_LIST_HEAD(&coredev->port_list);
	coredev->dev.class = &ib_class;
	coredev->dev.groups = owner->core->groups;
	device_initialize(&coredev->dev);
}

static const char *const node_type_names[] = {
	[RDMA_NODE_IB_CA] = "CA",
	[RDMA_NODE_IB_SWITCH] = "switch",
	[RDMA_NODE_IB_ROUTER] = "router",
	[RDMA_NODE_RNIC] = "RNIC",
	[RDMA_NODE_USNIC] = "usNIC",
	[RDMA_NODE_USNIC_UDP] = "usNIC UDP",
	[RDMA_NODE_UNSPECIFIED] = "unspecified",
};

static ssize_t node_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	unsigned int type = rdma_device_to_ibdev(dev)->node_type;
	const char *name = type < ARRAY_SIZE(node_type_names) ? node_type_names[type] : NULL;

	return sysfs_emit(buf, "%u: %s\n", type, name ?: "<unknown>");
}
static DEVICE_ATTR_RO(node_type);

static ssize_t emit_guid(char *buf, __be64 guid)
{
	u64 value = be64_to_cpu(guid);

	return sysfs_emit(buf, "%04x:%04x:%04x:%04x\n", (u16)(value >> 48), (u16)(value >> 32),
			  (u16)(value >> 16), (u16)value);
}

static ssize_t node_guid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return emit_guid(buf, rdma_device_to_ibdev(dev)->node_guid);
}
static DEVICE_ATTR_RO(node_guid);

static ssize_t sys_image_guid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return emit_guid(buf, rdma_device_to_ibdev(dev)->attrs.sys_image_guid);
}
static DEVICE_ATTR_RO(sys_image_guid);

static ssize_t fw_ver_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	char version[IB_FW_VERSION_NAME_MAX];

	ib_get_device_fw_str(rdma_device_to_ibdev(dev), version);
	return sysfs_emit(buf, "%.*s\n", (int)sizeof(version), version);
}
static DEVICE_ATTR_RO(fw_ver);

static ssize_t node_desc_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%.*s\n", IB_DEVICE_NODE_DESC_MAX,
			  rdma_device_to_ibdev(dev)->node_desc);
}

static ssize_t node_desc_store(struct device *dev, struct device_attribute *attr, const char *buf,
			       size_t count)
{
	struct ib_device_modify modify = {};
	int ret;

	/* The description is copied into MADs as it is: 64 bytes, padded with zeroes. */
	memcpy(modify.node_desc, buf, min(count, sizeof(modify.node_desc)));
	ret = ib_modify_device(rdma_device_to_ibdev(dev), IB_DEVICE_MODIFY_NODE_DESC, &modify);
	return ret ?: count;
}
static DEVICE_ATTR_RW(node_desc);

static struct attribute *ib_dev_attrs[] = {
	&dev_attr_fw_ver.attr,
	&dev_attr_node_desc.attr,
	&dev_attr_node_guid.attr,
	&dev_attr_node_type.attr,
	&dev_attr_sys_image_guid.attr,
	NULL,
};

const struct attribute_group ib_dev_attr_group = {
	.attrs = ib_dev_attrs,
};

/**
 * ib_sysfs_init() - register the class "infiniband"
 *
 * Return: 0 or a negative errno.
 */
int ib_sysfs_init(void)
{
	return class_register(&ib_class);
}

/**
 * ib_sysfs_exit() - undo ib_sysfs_init()
 */
void ib_sysfs_exit(void)
{
	class_unregister(&ib_class);
}
