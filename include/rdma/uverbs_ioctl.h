/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tables that describe the user ABI, for ib_uverbs and for drivers that add
 * methods and attributes of their own, and access to a command's attributes.
 */
#ifndef _UVERBS_IOCTL_
#define _UVERBS_IOCTL_

#include <rdma/uverbs/attr.h>
#include <rdma/uverbs/def.h>
#include <rdma/uverbs/key.h>
#include <rdma/uverbs/spec.h>

#endif /* _UVERBS_IOCTL_ */
