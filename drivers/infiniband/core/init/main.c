// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Initialisation and exit of ib_core. This file alone knows every folder of ib_core, and
 * initialises them from the lowest up.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "../addr/addr.h"
#include "../cache/cache.h"
#include "../device/device.h"
#include "../devmgt/devmgt.h"
#include "../ioscan/ioscan.h"
#include "../mad/mad.h"
#include "../mcast/mcast.h"
#include "../nldev/nldev.h"
#include "../object/object.h"
#include "../ports/ports.h"
#include "../register/register.h"
#include "../roce/roce.h"
#include "../sa/sa.h"
#include "../security/security.h"
#include "../sysfs/sysfs.h"
#include "../verbs/verbs.h"

MODULE_AUTHOR("The vhca authors");
MODULE_DESCRIPTION("core kernel InfiniBand API");
MODULE_LICENSE("Dual BSD/GPL");

static int __init ib_core_init(void)
{
	int ret;

	ret = rdma_objects_module_init();
	if (ret)
		return ret;
	ret = ib_events_init();
	if (ret)
		goto objects;
	ret = rdma_nl_init();
	if (ret)
		goto events;
	ib_cache_init();
	ret = addr_init();
	if (ret)
		goto netlink;
	ret = roce_init();
	if (ret)
		goto addr;
	ret = ib_security_init();
	if (ret)
		goto roce;
	ret = rdma_verbs_module_init();
	if (ret)
		goto security;
	ret = ib_sysfs_init();
	if (ret)
		goto verbs;
	ret = ib_register_init();
	if (ret)
		goto sysfs;
	ret = ib_mad_init();
	if (ret)
		goto registration;
	ret = sa_init();
	if (ret)
		goto mad;
	ret = mcast_init();
	if (ret)
		goto sa;
	/* Port watchers may keep I/O controllers until their port is removed. */
	ret = devmgt_init();
	if (ret)
		goto mcast;
	ret = ports_init();
	if (ret)
		goto devmgt;
	ret = ioscan_init();
	if (ret)
		goto ports;
	ret = nldev_init();
	if (ret)
		goto ioscan;
	return 0;

ioscan:
	ioscan_exit();
ports:
	ports_exit();
devmgt:
	devmgt_exit();
mcast:
	mcast_exit();
sa:
	sa_exit();
mad:
	ib_mad_exit();
registration:
	ib_register_exit();
sysfs:
	ib_sysfs_exit();
verbs:
	rdma_verbs_module_exit();
security:
	ib_security_exit();
roce:
	roce_exit();
addr:
	addr_exit();
netlink:
	rdma_nl_exit();
events:
	ib_events_exit();
objects:
	rdma_objects_module_exit();
	return ret;
}

static void __exit ib_core_exit(void)
{
	nldev_exit();
	ioscan_exit();
	ports_exit();
	devmgt_exit();
	mcast_exit();
	sa_exit();
	ib_mad_exit();
	ib_register_exit();
	ib_sysfs_exit();
	rdma_verbs_module_exit();
	ib_security_exit();
	roce_exit();
	addr_exit();
	rdma_nl_exit();
	ib_events_exit();
	rdma_objects_module_exit();
	/* Functions of this module may still be waiting as callbacks of call_rcu(). */
	rcu_barrier();
	ib_registry_exit();
}

/* If they are built in, ib_core has to be initialised before drivers and clients. */
fs_initcall(ib_core_init);
module_exit(ib_core_exit);
