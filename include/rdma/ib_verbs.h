/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel verbs API, source compatible with Linux 6.12.  Its parts are in
 * rdma/verbs/; consumers and drivers include this file.
 */
#ifndef IB_VERBS_H
#define IB_VERBS_H

#include <linux/atomic.h>
#include <linux/cgroup_rdma.h>
#include <linux/device.h>
#include <linux/dim.h>
#include <linux/dma-mapping.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/irq_poll.h>
#include <linux/irqflags.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/rdma_counter.h>
#include <rdma/restrack.h>
#include <rdma/signature.h>
#include <uapi/linux/if_ether.h>
#include <uapi/rdma/ib_user_ioctl_verbs.h>
#include <uapi/rdma/ib_user_verbs.h>
#include <uapi/rdma/rdma_user_ioctl.h>

#include <rdma/verbs/ah.h>
#include <rdma/verbs/ah_attr.h>
#include <rdma/verbs/calls.h>
#include <rdma/verbs/caps.h>
#include <rdma/verbs/cq.h>
#include <rdma/verbs/device.h>
#include <rdma/verbs/device_attr.h>
#include <rdma/verbs/dma.h>
#include <rdma/verbs/event.h>
#include <rdma/verbs/flow.h>
#include <rdma/verbs/mr.h>
#include <rdma/verbs/netdev.h>
#include <rdma/verbs/ops.h>
#include <rdma/verbs/pd.h>
#include <rdma/verbs/port.h>
#include <rdma/verbs/print.h>
#include <rdma/verbs/qp.h>
#include <rdma/verbs/srq.h>
#include <rdma/verbs/stats.h>
#include <rdma/verbs/types.h>
#include <rdma/verbs/uobject.h>
#include <rdma/verbs/wc.h>
#include <rdma/verbs/wq.h>
#include <rdma/verbs/wr.h>

#endif /* IB_VERBS_H */
