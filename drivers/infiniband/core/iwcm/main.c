// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * iw_cm: the module, its sysctl, and the port mapper's netlink operations.
 */
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "iwcm.h"
#include "portmap.h"

MODULE_DESCRIPTION("iWARP connection manager");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_NETLINK(RDMA_NL_IWCM, 2);

static struct ctl_table_header *sysctls;

static struct ctl_table iwcm_sysctls[] = {
	{
		.procname = "default_backlog",
		.data = &iwcm_default_backlog,
		.maxlen = sizeof(iwcm_default_backlog),
		.mode = 0644,
		.proc_handler = proc_douintvec_minmax,
		.extra2 = SYSCTL_INT_MAX,
	},
};

/*
 * Answers decide where connections go: unlike in Linux 6.12, they need a privilege. REMOVE_MAPPING
 * is only sent, never received.
 */
static const struct rdma_nl_cbs iwcm_netlink[RDMA_NL_IWPM_NUM_OPS] = {
	[RDMA_NL_IWPM_REG_PID] = { .dump = iwpm_register_pid_cb, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_IWPM_ADD_MAPPING] = { .dump = iwpm_add_mapping_cb, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_IWPM_QUERY_MAPPING] = {
		.dump = iwpm_add_and_query_mapping_cb,
		.flags = RDMA_NL_ADMIN_PERM,
	},
	[RDMA_NL_IWPM_REMOTE_INFO] = { .dump = iwpm_remote_info_cb, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_IWPM_HANDLE_ERR] = { .dump = iwpm_mapping_error_cb, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_IWPM_MAPINFO] = { .dump = iwpm_mapping_info_cb, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_IWPM_MAPINFO_NUM] = {
		.dump = iwpm_ack_mapping_info_cb,
		.flags = RDMA_NL_ADMIN_PERM,
	},
	[RDMA_NL_IWPM_HELLO] = { .dump = iwpm_hello_cb, .flags = RDMA_NL_ADMIN_PERM },
};

static int __init iwcm_init(void)
{
	int ret = iwcm_events_init();

	if (ret)
		return ret;
	ret = iwpm_init(RDMA_NL_IWCM);
	if (ret)
		goto err_events;
	sysctls = register_net_sysctl(&init_net, "net/iw_cm", iwcm_sysctls);
	if (!sysctls) {
		ret = -ENOMEM;
		goto err_portmap;
	}
	rdma_nl_register(RDMA_NL_IWCM, iwcm_netlink);
	return 0;

err_portmap:
	iwpm_exit(RDMA_NL_IWCM);
err_events:
	iwcm_events_exit();
	return ret;
}

static void __exit iwcm_exit(void)
{
	rdma_nl_unregister(RDMA_NL_IWCM);
	unregister_net_sysctl_table(sysctls);
	iwcm_ids_gone();
	iwcm_events_exit();
	iwpm_exit(RDMA_NL_IWCM);
}

module_init(iwcm_init);
module_exit(iwcm_exit);
