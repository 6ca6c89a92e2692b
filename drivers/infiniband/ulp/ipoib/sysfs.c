// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files of an interface in /sys/class/net.
 *
 * Removing an interface waits for the functions of its files with RTNL held, so these only try to
 * take it, and restart the system call if they fail.
 */
#include <linux/capability.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <rdma/rdma_reject.h>

#include "admin.h"
#include "dev.h"

static struct ipoib_dev *ipoib_of(struct device *dev)
{
	return ipoib_priv(to_net_dev(dev));
}

/* Return 0 with RTNL held, if the interface is still there. */
static int lock(struct ipoib_dev *ipoib)
{
	if (!rtnl_trylock())
		return restart_syscall();
	if (ipoib->netdev->reg_state == NETREG_REGISTERED)
		return 0;
	rtnl_unlock();
	return rdma_refuse(-EPERM, "the interface is about to go");
}

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  ipoib_is(ipoib_of(dev), IPOIB_CONNECTED) ? "connected" : "datagram");
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	int connected = ipoib_mode_of(buf), ret;

	ret = lock(ipoib_of(dev));
	if (ret)
		return ret;
	if (connected < 0)
		ret = rdma_refuse(-EINVAL, "mode is datagram or connected, and a line feed");
	else
		ret = ipoib_set_mode(ipoib_of(dev), connected);
	rtnl_unlock();
	return ret ?: count;
}
static DEVICE_ATTR_RW(mode);

static ssize_t pkey_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%04x\n", ipoib_of(dev)->pkey);
}
static DEVICE_ATTR_RO(pkey);

static ssize_t umcast_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", ipoib_is(ipoib_of(dev), IPOIB_UMCAST));
}

/* Whatever is no number counts as 0, as it does in Linux. */
static ssize_t umcast_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	unsigned long value = 0;

	if (kstrtoul(buf, 0, &value))
		value = 0;
	ipoib_set_umcast(ipoib_of(dev), value);
	return count;
}
static DEVICE_ATTR_RW(umcast);

static ssize_t parent_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", ipoib_of(dev)->parent->netdev->name);
}
static DEVICE_ATTR_RO(parent);

static struct attribute *child_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_pkey.attr,
	&dev_attr_umcast.attr,
	&dev_attr_parent.attr,
	NULL
};

static const struct attribute_group child_group = {
	.attrs = child_attrs,
};

static int create_child(struct ipoib_dev *parent, u16 pkey)
{
	return ipoib_child_create(parent, pkey, &ipoib_link_ops, &child_group);
}

static ssize_t with_pkey(struct device *dev, const char *buf, size_t count,
			 int (*call)(struct ipoib_dev *parent, u16 pkey), int least)
{
	int pkey, ret;

	if (sscanf(buf, "%i", &pkey) != 1)
		return rdma_refuse(-EINVAL, "a P_Key is a number");
	if (pkey < least || pkey > U16_MAX || (least && !ipoib_pkey_valid(pkey)))
		return rdma_refuse(-EINVAL, "P_Key %#x names no partition", pkey);
	if (!capable(CAP_NET_ADMIN))
		return rdma_refuse(-EPERM, "children take CAP_NET_ADMIN");
	ret = lock(ipoib_of(dev));
	if (ret)
		return ret;
	ret = call(ipoib_of(dev), pkey);
	rtnl_unlock();
	return ret ?: count;
}

static ssize_t create_child_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return with_pkey(dev, buf, count, create_child, 1);
}
static DEVICE_ATTR_WO(create_child);

static ssize_t delete_child_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return with_pkey(dev, buf, count, ipoib_child_delete, 0);
}
static DEVICE_ATTR_WO(delete_child);

static struct attribute *port_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_pkey.attr,
	&dev_attr_umcast.attr,
	&dev_attr_create_child.attr,
	&dev_attr_delete_child.attr,
	NULL
};

const struct attribute_group ipoib_port_group = {
	.attrs = port_attrs,
};
