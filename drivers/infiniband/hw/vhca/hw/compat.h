/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Differences between kernel versions and cores, all in one place. */
#ifndef VHCA_COMPAT_H
#define VHCA_COMPAT_H

#include <linux/device.h>
#include <rdma/ib_umem.h>

/* The block iterators moved into a header of their own in the 6.12 stable series. */
#ifdef __CHECKER__	/* sparse does not know __has_include */
#include <rdma/iter.h>
#elif __has_include(<rdma/iter.h>)
#include <rdma/iter.h>
#endif

/* Operations that our core has and Linux 6.12 has not. verbs/ops.c alone uses them. */
#ifndef __CHECKER__
#if __has_include(<rdma/rdma_ext.h>)
#include <rdma/rdma_ext.h>
#include <rdma/rdma_ext_port.h>
#define VHCA_HAVE_EXT 1
#endif
#endif

/* Whether the core can be told of changes of a port for which Linux 6.12 has no event */
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

/* Reasons of refusals, which our core has and the distribution's has not. */
#ifndef __CHECKER__
#if __has_include(<rdma/rdma_reject.h>)
#include <rdma/rdma_reject.h>
#define VHCA_HAVE_REFUSE 1
#endif
#endif

/**
 * vhca_refuse() - refuse a request and say why
 * @dev: device the request was made to
 * @err: negative errno the caller is about to return
 * @fmt: format of one sentence that names the attribute, its value and the limit
 *
 * With our core the reason reaches the user (tracepoint rdma_reject, fdinfo). With the
 * distribution's it can only be seen as dynamic debug output.
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
