// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_ucm: /dev/infiniband/rdma_cm.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "../device/device.h"
#include "ucma.h"

MODULE_DESCRIPTION("RDMA userspace connection manager access");
MODULE_LICENSE("Dual BSD/GPL");

static struct ctl_table ucma_sysctls[] = {
	{
		.procname = "max_backlog",
		.data = &ucma_max_backlog,
		.maxlen = sizeof(ucma_max_backlog),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_INT_MAX,
	},
};

static struct ctl_table_header *ucma_sysctl_header;

static ssize_t abi_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", RDMA_USER_CM_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *ucma_attrs[] = {
	&dev_attr_abi_version.attr,
	NULL
};
ATTRIBUTE_GROUPS(ucma);

/* Every user may connect. */
static struct miscdevice ucma_misc = {
	.name = "rdma_cm",
	.nodename = "infiniband/rdma_cm",
	.mode = 0666,
	.minor = MISC_DYNAMIC_MINOR,
	.groups = ucma_groups,
	.fops = &ucma_fops,
};

/* librdmacm asks netlink for the device, which loads this module. */
static int describe_node(struct ib_client_nl_info *info)
{
	info->cdev = ucma_misc.this_device;
	info->abi = RDMA_USER_CM_ABI_VERSION;
	return 0;
}

static struct ib_client ucma_client = {
	.get_global_nl_info = describe_node,
	.name = "rdma_cm",
};
MODULE_ALIAS_RDMA_CLIENT("rdma_cm");

static int __init ucma_init(void)
{
	int ret;

	ret = misc_register(&ucma_misc);
	if (ret)
		return ret;
	ucma_sysctl_header = register_net_sysctl(&init_net, "net/rdma_ucm", ucma_sysctls);
	if (!ucma_sysctl_header) {
		ret = -ENOMEM;
		goto err_misc;
	}
	ret = ib_register_client(&ucma_client);
	if (ret)
		goto err_sysctl;
	return 0;

err_sysctl:
	unregister_net_sysctl_table(ucma_sysctl_header);
err_misc:
	misc_deregister(&ucma_misc);
	return ret;
}

/* Files that are open keep the module, so there are no ids any more. */
static void __exit ucma_exit(void)
{
	ib_unregister_client(&ucma_client);
	unregister_net_sysctl_table(ucma_sysctl_header);
	misc_deregister(&ucma_misc);
	ucma_groups_exit();
	ucma_ids_exit();
}

module_init(ucma_init);
module_exit(ucma_exit);
