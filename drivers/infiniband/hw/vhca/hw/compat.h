/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between kernels and between their cores, all in one place. The core's rdma_compat.h,
 * which has the same purpose, does not exist if the driver is built on the kernel's own core.
 */
#ifndef VHCA_COMPAT_H
#define VHCA_COMPAT_H

#include <linux/device.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define system_unbound_wq	system_dfl_wq
#else
/* Linux 7 requires this flag for work queues without WQ_UNBOUND. */
#define WQ_PERCPU		0
#endif

/* The block iterators moved into a header of their own in the 6.12 stable series. */
#ifdef __CHECKER__	/* sparse does not know __has_include */
#include <rdma/iter.h>
#elif __has_include(<rdma/iter.h>)
#include <rdma/iter.h>
#endif

/* Operations that our core has and Linux 6.12 has not. Only verbs/ops.c uses them. */
#ifndef __CHECKER__
#if __has_include(<rdma/rdma_ext.h>)
#include <rdma/rdma_ext.h>
#include <rdma/rdma_ext_port.h>
#define VHCA_HAVE_EXT 1
#endif
#endif

/* Can the core be notified of changes of a port for which Linux 6.12 has no event? */
#ifdef VHCA_HAVE_EXT
#define VHCA_TELLS_PORT_CHANGE	true
#else
#define VHCA_TELLS_PORT_CHANGE	false
static inline void ib_port_changed(struct ib_device *device, u32 port_num)
{
}
#endif

/* Capability bits that go with them. */
#ifdef VHCA_HAVE_EXT
#define VHCA_EXT_DEVICE_CAPS	IB_DEVICE_N_NOTIFY_CQ
#else
#define VHCA_EXT_DEVICE_CAPS	0
#endif

/* Linux 7's own core. Ours has the interface of Linux 6.12 on every kernel. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) && !defined(VHCA_HAVE_EXT)
#define VHCA_ON_LINUX_7 1
#endif

#ifdef VHCA_ON_LINUX_7
#define ib_umem_get	ib_umem_get_va
#endif

/*
 * Operations with the names and arguments of the core for which this is built. VHCA_ADAPTERS()
 * defines wrappers for those whose arguments differ from the driver's functions.
 */
#ifdef VHCA_ON_LINUX_7
#include <rdma/rdma_counter.h>

struct vhca_op_counter {
	struct rdma_counter counter;
};

#define VHCA_ADAPTERS()								\
static struct ib_mr *								\
vhca_op_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,	\
		    int access, struct ib_dmah *dmah, struct ib_udata *udata)	\
{										\
	return dmah ? ERR_PTR(-EOPNOTSUPP) :					\
		      vhca_reg_user_mr(pd, start, length, virt_addr, access, udata); \
}										\
static struct ib_mr *								\
vhca_op_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 virt_addr, \
			   int fd, int access, struct ib_dmah *dmah,		\
			   struct uverbs_attr_bundle *attrs)			\
{										\
	return dmah ? ERR_PTR(-EOPNOTSUPP) :					\
		      vhca_reg_user_mr_dmabuf(pd, offset, length, virt_addr, fd, access, attrs); \
}										\
static int vhca_op_resize_cq(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata) \
{										\
	return vhca_resize_cq(cq, min_t(unsigned int, cqe, INT_MAX), udata);	\
}										\
static int vhca_op_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *qp, u32 port) \
{										\
	return vhca_counter_bind_qp(counter, qp);				\
}										\
static int vhca_op_counter_unbind_qp(struct ib_qp *qp, u32 port)		\
{										\
	return vhca_counter_unbind_qp(qp);					\
}

#define VHCA_OP_VECTOR_AFFINITY
#define VHCA_OP_CREATE_USER_CQ	.create_user_cq = vhca_create_cq,
#define VHCA_OP_RESIZE_CQ	.resize_user_cq = vhca_op_resize_cq,
#define VHCA_OP_COUNTER_SIZE	INIT_RDMA_OBJ_SIZE(rdma_counter, vhca_op_counter, counter),
#else
#define VHCA_ADAPTERS()
#define vhca_op_reg_user_mr	vhca_reg_user_mr
#define vhca_op_reg_user_mr_dmabuf vhca_reg_user_mr_dmabuf
#define vhca_op_counter_bind_qp	vhca_counter_bind_qp
#define vhca_op_counter_unbind_qp vhca_counter_unbind_qp
#define VHCA_OP_VECTOR_AFFINITY	.get_vector_affinity = vhca_get_vector_affinity,
#define VHCA_OP_CREATE_USER_CQ
#define VHCA_OP_RESIZE_CQ	.resize_cq = vhca_resize_cq,
#define VHCA_OP_COUNTER_SIZE
#endif

/* Reasons of refusals, which our core has and the distribution's has not. */
#ifndef __CHECKER__
#if __has_include(<rdma/rdma_reject.h>)
#include <rdma/rdma_reject.h>
#define VHCA_HAVE_REFUSE 1
#endif
#endif

/**
 * vhca_refuse() - refuse a request and say why
 * @dev: device of the request
 * @err: negative errno that the caller is about to return
 * @fmt: format of one sentence that names the attribute, its value and the limit
 *
 * Our core reports the reason to the user (trace point rdma_reject, fdinfo). With the
 * distribution's core it is only visible as dynamic debug output.
 *
 * Context: any.
 * Return: @err.
 */
#ifdef VHCA_HAVE_REFUSE
#define vhca_refuse(dev, err, fmt, ...)						\
	({									\
		int __err = (err);						\
										\
		dev_dbg(dev, "refused (%d): " fmt "\n", __err, ##__VA_ARGS__);	\
		rdma_refuse(__err, fmt, ##__VA_ARGS__);				\
	})
#else
#define vhca_refuse(dev, err, fmt, ...)						\
	({									\
		int __err = (err);						\
										\
		dev_dbg(dev, "refused (%d): " fmt "\n", __err, ##__VA_ARGS__);	\
		__err;								\
	})
#endif

#endif /* VHCA_COMPAT_H */
