// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_cm: begins and ends the communication manager.
 */
#include <linux/module.h>
#include <rdma/rdma_compat.h>

#include "cm.h"

MODULE_DESCRIPTION("InfiniBand communication manager");
MODULE_LICENSE("Dual BSD/GPL");

static int __init cm_init(void)
{
	int ret;

	cm_ids_begin();
	cm_wq = alloc_workqueue("ib_cm", WQ_PERCPU, 0);
	if (!cm_wq)
		return -ENOMEM;
	ret = cm_remotes_begin();
	if (ret)
		goto wq;
	ret = cm_sidr_begin();
	if (ret)
		goto remotes;
	ret = cm_devices_begin();
	if (ret)
		goto sidr;
	return 0;

sidr:
	cm_sidr_end();
remotes:
	cm_remotes_end();
wq:
	destroy_workqueue(cm_wq);
	return ret;
}

/* Consumers are modules that need this one, so there are none, and no ids but what peers began. */
static void __exit cm_exit(void)
{
	cm_devices_end();
	cm_remotes_end();
	cm_sidr_end();
	destroy_workqueue(cm_wq);
	cm_ids_end();
}

module_init(cm_init);
module_exit(cm_exit);
