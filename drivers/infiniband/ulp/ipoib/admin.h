/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How interfaces are made and changed: for ports, by netlink, by sysfs.
 */
#ifndef IPOIB_ADMIN_H
#define IPOIB_ADMIN_H

#include <linux/sysfs.h>

#include "ipoib.h"

extern struct rtnl_link_ops ipoib_link_ops;
extern const struct attribute_group ipoib_port_group;

int ipoib_child_add(struct ipoib_dev *parent, struct net_device *netdev, u16 pkey, bool legacy);
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey, const struct rtnl_link_ops *ops,
		       const struct attribute_group *group);
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey);

#endif /* IPOIB_ADMIN_H */
