/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The only ioctl of the uverbs device, its header and its attributes.
 */
#ifndef RDMA_USER_IOCTL_CMDS_H
#define RDMA_USER_IOCTL_CMDS_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define RDMA_IOCTL_MAGIC	0x1b
#define RDMA_VERBS_IOCTL \
	_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)

/* Flags: a kernel that does not know the attribute must fail; the kernel has written output. */
enum {
	UVERBS_ATTR_F_MANDATORY = 1U << 0,

	UVERBS_ATTR_F_VALID_OUTPUT = 1U << 1,
};

/*
 * One attribute: input of up to eight bytes is in data, longer input and all output is at
 * the address in data.  Handles and descriptors are in data.
 */
struct ib_uverbs_attr {
	__u16 attr_id;
	__u16 len;
	__u16 flags;
	union {
		struct {
			__u8 elem_id;
			__u8 reserved;
		} enum_data;
		__u16 reserved;
	} attr_data;
	union {
		__aligned_u64 data;

		__s64 data_s64;
	};
};

/* Header of the ioctl; length includes the attributes. */
struct ib_uverbs_ioctl_hdr {
	__u16 length;
	__u16 object_id;
	__u16 method_id;
	__u16 num_attrs;
	__aligned_u64 reserved1;
	__u32 driver_id;
	__u32 reserved2;
	struct ib_uverbs_attr  attrs[];
};

#endif
