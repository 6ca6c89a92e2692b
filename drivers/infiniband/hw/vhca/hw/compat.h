/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Differences between kernel versions and cores, all in one place. */
#ifndef VHCA_COMPAT_H
#define VHCA_COMPAT_H

#include <rdma/ib_umem.h>

/* The block iterators moved into a header of their own in the 6.12 stable series. */
#ifdef __CHECKER__	/* sparse does not know __has_include */
#include <rdma/iter.h>
#elif __has_include(<rdma/iter.h>)
#include <rdma/iter.h>
#endif

/* Operations that our core has and Linux 6.12 has not. ext.c alone uses them. */
#ifndef __CHECKER__
#if __has_include(<rdma/rdma_ext.h>)
#include <rdma/rdma_ext.h>
#define VHCA_HAVE_EXT 1
#endif
#endif

#endif /* VHCA_COMPAT_H */
