// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device without hardware, for functions that vhca does not offer to programs: they post and poll
 * through the kernel, MRs are replaced, and mmap entries of many pages are made and removed.  It
 * cannot take its contexts away from programs, so that removal waits for them, and it refuses to
 * destroy objects when asked to.  One is there when the module is loaded; it can be removed and
 * made again by "rdma link".
 */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_netlink.h>
#include <rdma/uverbs_ioctl.h>

#include "ufake.h"

static struct ib_device *dev;
static DEFINE_MUTEX(lock);	/* while @dev changes */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_qp = 64;
	attr->max_cq = 64;
	attr->max_cqe = UFAKE_CQES;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_USNIC;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* The core frees it afterwards. */
static void dealloc_driver(struct ib_device *ib)
{
	guard(mutex)(&lock);
	dev = NULL;
}

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.query_device = query_device,
	.get_port_immutable = get_port_immutable,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.dealloc_driver = dealloc_driver,
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

/* Called by the module's beginning, and by netlink, one at a time. */
static int make(const char *name)
{
	int ret;

	scoped_guard(mutex, &lock) {
		if (dev)
			return -EEXIST;
		dev = _ib_alloc_device(sizeof(*dev));
		if (!dev)
			return -ENOMEM;
	}
	dev->node_type = RDMA_NODE_USNIC;
	dev->phys_port_cnt = 1;
	dev->num_comp_vectors = 1;
	dev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |
				BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV);
	ib_set_device_ops(dev, &ops);
	ib_set_device_ops(dev, &ufake_pages_ops);
	ib_set_device_ops(dev, &ufake_memory_ops);
	ib_set_device_ops(dev, &ufake_queue_ops);
	ib_set_device_ops(dev, &ufake_rule_ops);
	ret = ib_register_device(dev, name, NULL);
	if (ret)
		ib_dealloc_device(dev);
	return ret;
}

static int newlink(const char *name, struct net_device *unused)
{
	return make(name);
}

static struct rdma_link_ops link_ops = {
	.type = "ufake",
	.newlink = newlink,
};

static int __init ufake_init(void)
{
	int ret = make("ufake%d");

	if (!ret)
		rdma_link_register(&link_ops);
	return ret;
}

/* Netlink may be about to remove the device, too. */
static void __exit ufake_exit(void)
{
	struct ib_device *ib;

	rdma_link_unregister(&link_ops);
	scoped_guard(mutex, &lock) {
		ib = dev;
		if (ib)
			get_device(&ib->dev);
	}
	if (!ib)
		return;
	ib_unregister_device(ib);
	put_device(&ib->dev);
}

module_init(ufake_init);
module_exit(ufake_exit);
MODULE_DESCRIPTION("Device without hardware, for programs that ask for what vhca does not have");
MODULE_LICENSE("Dual BSD/GPL");
