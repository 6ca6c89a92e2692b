// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module: its parameters, and what all interfaces share.
 */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "admin.h"
#include "client.h"
#include "dev.h"

MODULE_DESCRIPTION("IP over InfiniBand");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RTNL_LINK("ipoib");

/* The smallest rings. The transmit queue wakes when half of its ring is sent. */
#define LEAST_SENDS	128
#define LEAST_RECEIVES	2

static int notice(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);

	if (!ipoib_is_ours(netdev))
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
		ipoib_debugfs_add(ipoib_priv(netdev));
		break;
	case NETDEV_CHANGENAME:
		ipoib_debugfs_del(ipoib_priv(netdev));
		ipoib_debugfs_add(ipoib_priv(netdev));
		break;
	case NETDEV_UNREGISTER:
		ipoib_debugfs_del(ipoib_priv(netdev));
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = notice,
};

static int __init ipoib_init(void)
{
	int ret;

	ipoib_sendq_size = ipoib_queue_size(ipoib_sendq_size, LEAST_SENDS);
	ipoib_recvq_size = ipoib_queue_size(ipoib_recvq_size, LEAST_RECEIVES);
	ipoib_max_nonsrq = clamp(ipoib_max_nonsrq, 0, IPOIB_MAX_NONSRQ);
	ipoib_wq = alloc_workqueue("ipoib_flush", WQ_UNBOUND, 0);
	if (!ipoib_wq)
		return -ENOMEM;
	ipoib_debugfs_init();
	ib_sa_register_client(&ipoib_sa_client);
	ret = register_netdevice_notifier(&notifier);
	if (ret)
		goto no_notifier;
	ret = rtnl_link_register(&ipoib_link_ops);
	if (ret)
		goto no_link;
	ret = ib_register_client(&ipoib_client);
	if (!ret)
		return 0;
	rtnl_link_unregister(&ipoib_link_ops);
no_link:
	unregister_netdevice_notifier(&notifier);
no_notifier:
	ib_sa_unregister_client(&ipoib_sa_client);
	ipoib_debugfs_exit();
	destroy_workqueue(ipoib_wq);
	return ret;
}

static void __exit ipoib_exit(void)
{
	ib_unregister_client(&ipoib_client);
	rtnl_link_unregister(&ipoib_link_ops);
	unregister_netdevice_notifier(&notifier);
	ib_sa_unregister_client(&ipoib_sa_client);
	ipoib_debugfs_exit();
	destroy_workqueue(ipoib_wq);
	/* Paths and groups are freed by RCU. */
	rcu_barrier();
}

module_init(ipoib_init);
module_exit(ipoib_exit);
