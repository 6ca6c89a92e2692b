// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Children: further interfaces of a port, for other P_Keys.
 */
#include <kunit/visibility.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_reject.h>

#include "admin.h"
#include "dev.h"

/* Interfaces are full members whatever P_Key they were made with: its membership does not count. */
static bool has_pkey(const struct ipoib_dev *ipoib, u16 pkey)
{
	return ipoib->pkey == (pkey | IPOIB_FULL_MEMBER);
}

static struct ipoib_dev *find_legacy(struct ipoib_dev *parent, u16 pkey)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &parent->children, entry)
		if (has_pkey(child, pkey) && ipoib_is(child, IPOIB_LEGACY))
			return child;
	return NULL;
}

/**
 * ipoib_child_add() - register a child
 * @parent: interface of a port
 * @netdev: network device after ipoib_init_dev()
 * @pkey: its P_Key
 * @legacy: it is made through sysfs, which knows children by their P_Keys
 *
 * Context: RTNL is held.
 * Return: 0; -EINVAL for a P_Key without partition; -ENOTUNIQ if sysfs could not tell two children
 * apart; or what register_netdevice() says.
 */
int ipoib_child_add(struct ipoib_dev *parent, struct net_device *netdev, u16 pkey, bool legacy)
{
	struct ipoib_dev *child = ipoib_priv(netdev);

	if (!ipoib_pkey_valid(pkey))
		return rdma_refuse(-EINVAL, "P_Key %#06x names no partition", pkey);
	if (legacy && (has_pkey(parent, pkey) || find_legacy(parent, pkey)))
		return rdma_refuse(-ENOTUNIQ, "there is an interface for P_Key %#06x", pkey);
	child->parent = parent;
	child->pkey = pkey;
	assign_bit(IPOIB_LEGACY, &child->flags, legacy);
	return register_netdevice(netdev);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_child_add);

/**
 * ipoib_child_create() - make a child for sysfs
 * @parent: interface of a port
 * @pkey: its P_Key
 * @ops: its link operations
 * @group: its files
 *
 * Context: RTNL is held.
 * Return: 0; as ipoib_create_dev() and ipoib_child_add() do.
 */
int ipoib_child_create(struct ipoib_dev *parent, u16 pkey, const struct rtnl_link_ops *ops,
		       const struct attribute_group *group)
{
	struct net_device *netdev;
	char name[IFNAMSIZ];
	int ret;

	snprintf(name, sizeof(name), "%.10s.%04x", parent->netdev->name, pkey);
	netdev = ipoib_create_dev(parent->ca, parent->port, name);
	if (IS_ERR(netdev))
		return PTR_ERR(netdev);
	dev_net_set(netdev, dev_net(parent->netdev));
	netdev->rtnl_link_ops = ops;
	netdev->sysfs_groups[0] = group;
	ret = ipoib_child_add(parent, netdev, pkey, true);
	if (ret)
		ipoib_discard_dev(netdev);
	return ret;
}

/**
 * struct deletion - a child that is to be deleted
 * @work: does so
 * @netdev: the child
 */
struct deletion {
	struct work_struct work;
	struct net_device *netdev;
};

static void delete(struct work_struct *work)
{
	struct deletion *deletion = container_of(work, struct deletion, work);
	struct net_device *netdev = deletion->netdev;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED)
		unregister_netdevice(netdev);
	/* Unlocking waits until nobody holds a reference. */
	dev_put(netdev);
	rtnl_unlock();
	kfree(deletion);
}

/**
 * ipoib_child_delete() - delete a child that ipoib_child_create() has made
 * @parent: interface of a port
 * @pkey: the child's P_Key
 *
 * A work item does it: the function of a sysfs file must not wait for the network device.
 *
 * Context: RTNL is held.
 * Return: 0, -ENOMEM, -ENODEV if there is none.
 */
int ipoib_child_delete(struct ipoib_dev *parent, u16 pkey)
{
	struct ipoib_dev *child = find_legacy(parent, pkey);
	struct deletion *deletion;

	if (!child)
		return rdma_refuse(-ENODEV, "no child for P_Key %#06x was made through sysfs",
				   pkey);
	deletion = kzalloc(sizeof(*deletion), GFP_KERNEL);
	if (!deletion)
		return -ENOMEM;
	INIT_WORK(&deletion->work, delete);
	deletion->netdev = child->netdev;
	dev_hold(child->netdev);
	/* From now on there may be another one. */
	clear_bit(IPOIB_LEGACY, &child->flags);
	queue_work(ipoib_wq, &deletion->work);
	return 0;
}
