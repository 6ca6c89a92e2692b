// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device without hardware, for functions that vhca does not offer to programs: they post and poll
 * through the kernel, MRs are replaced, and mmap entries of many pages are made and removed.
 */
#include <linux/module.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>

#include "ufake.h"

static struct ib_device *dev;

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_qp = 64;
	attr->max_cq = 64;
	attr->max_cqe = UFAKE_CQES;
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
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

static int __init ufake_init(void)
{
	int ret;

	dev = _ib_alloc_device(sizeof(*dev));
	if (!dev)
		return -ENOMEM;
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
	ret = ib_register_device(dev, "ufake%d", NULL);
	if (ret)
		ib_dealloc_device(dev);
	return ret;
}

static void __exit ufake_exit(void)
{
	ib_unregister_device(dev);
	ib_dealloc_device(dev);
}

module_init(ufake_init);
module_exit(ufake_exit);
MODULE_DESCRIPTION("Device without hardware, for programs that ask for what vhca does not have");
MODULE_LICENSE("Dual BSD/GPL");
