// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_core's beginning and end.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "../nldev/nldev.h"
#include "../object/object.h"
#include "../security/security.h"
#include "../verbs/verbs.h"
#include "../device/internal.h"

MODULE_AUTHOR("The vhca authors");
MODULE_DESCRIPTION("core kernel InfiniBand API");
MODULE_LICENSE("Dual BSD/GPL");

static int __init ib_core_init(void)
{
	int ret;

	ret = ib_events_init();
	if (ret)
		return ret;
	ib_unreg_wq = alloc_workqueue("ib_unregister", WQ_UNBOUND, 0);
	if (!ib_unreg_wq) {
		ret = -ENOMEM;
		goto events;
	}
	ret = rdma_objects_module_init();
	if (ret)
		goto unreg_wq;
	ret = rdma_verbs_module_init();
	if (ret)
		goto objects;
	ret = class_register(&ib_class);
	if (ret)
		goto verbs;
	rdma_nl_init();
	ret = ib_netns_init();
	if (ret)
		goto class;
	ret = ib_security_init();
	if (ret)
		goto netns;
	nldev_init();
	return 0;

netns:
	ib_netns_exit();
	rdma_nl_exit();
class:
	class_unregister(&ib_class);
verbs:
	rdma_verbs_module_exit();
objects:
	rdma_objects_module_exit();
unreg_wq:
	destroy_workqueue(ib_unreg_wq);
events:
	ib_events_exit();
	return ret;
}

static void __exit ib_core_exit(void)
{
	nldev_exit();
	ib_security_exit();
	ib_netns_exit();
	rdma_nl_exit();
	class_unregister(&ib_class);
	rdma_verbs_module_exit();
	rdma_objects_module_exit();
	destroy_workqueue(ib_unreg_wq);
	ib_events_exit();
	/* Callbacks of call_rcu() may still stand in this module. */
	rcu_barrier();
	WARN_ON(!xa_empty(&ib_registry));
}

/* Before drivers and clients where all of them are built in. */
fs_initcall(ib_core_init);
module_exit(ib_core_exit);
