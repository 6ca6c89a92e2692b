/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reasons of refusals, which our RDMA core has and the distribution's has not. That is looked for
 * here and nowhere else; the rest of the driver builds unchanged against either.
 */
#ifndef VHCA_REFUSE_H
#define VHCA_REFUSE_H

#include <linux/device.h>

#ifndef __CHECKER__	/* sparse does not know __has_include */
#if __has_include(<rdma/rdma_reject.h>)
#include <rdma/rdma_reject.h>
#define VHCA_HAVE_REFUSE 1
#endif
#endif

/**
 * vhca_refuse - refuse a request and say why
 * @dev: device the request was made to
 * @err: negative errno the caller is about to return
 * @fmt: format of one sentence that names the attribute, its value and the limit
 *
 * With our core the reason reaches the user (tracepoint rdma_reject, fdinfo). With the
 * distribution's it can only be seen as dynamic debug output. Callable in any context.
 *
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

#endif /* VHCA_REFUSE_H */
