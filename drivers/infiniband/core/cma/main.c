// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_cm.ko begins and ends.
 */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <rdma/rdma_compat.h>

#include "cma_priv.h"

MODULE_DESCRIPTION("Connections by address over InfiniBand, RoCE and iWARP");
MODULE_LICENSE("Dual BSD/GPL");

/*
 * What ids need comes before the devices, which let users in.  What began is ended in the reverse
 * order, here and when the module goes.
 */
static const struct {
	int (*begin)(void);
	void (*end)(void);
} parts[] = {
	{ cma_ports_begin, cma_ports_end },
	{ cma_notify_begin, cma_notify_end },
	{ cma_devices_begin, cma_devices_end },
	{ cma_configfs_begin, cma_configfs_end },
};

static void end(size_t begun)
{
	while (begun--)
		parts[begun].end();
	ib_sa_unregister_client(&cma_sa_client);
	destroy_workqueue(cma_wq);
}

static int __init cma_init(void)
{
	int ret;

	/* Reclaiming memory may wait for a storage connection, and this for its events. */
	cma_wq = alloc_workqueue("rdma_cm", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!cma_wq)
		return -ENOMEM;
	ib_sa_register_client(&cma_sa_client);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].begin();
		if (ret) {
			end(i);
			return ret;
		}
	}
	return 0;
}

static void __exit cma_exit(void)
{
	end(ARRAY_SIZE(parts));
}

module_init(cma_init);
module_exit(cma_exit);
