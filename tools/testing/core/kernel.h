/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parts of the kernel's headers that the pure files of the core's folders need on the host.
 *
 * All names of headers in the Makefile's HEADERS lead here. What belongs to our own headers is
 * taken from these; ib_cm.h of include/rdma is read itself, with what it needs of its neighbours.
 */
#ifndef TESTING_CORE_KERNEL_H
#define TESTING_CORE_KERNEL_H

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;

#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX

#define BITS_PER_LONG_LONG	64
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK_ULL(high, low)	(~0ULL >> (63 - (high)) & ~0ULL << (low))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(s, m)	sizeof(((s *)0)->m)

#define min(a, b)		((a) < (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define max_t(type, a, b)	max((type)(a), (type)(b))

#define NSEC_PER_MSEC		1000000L
#define div_u64(a, b)		((u64)(a) / (u32)(b))
#define ilog2(n)		(63 - __builtin_clzll(n))

#define cpu_to_be16(n)		htobe16(n)
#define be16_to_cpu(n)		be16toh(n)
#define cpu_to_be64(n)		htobe64(n)

static inline u16 get_unaligned_be16(const void *p)
{
	u16 n;

	memcpy(&n, p, sizeof(n));
	return be16toh(n);
}

static inline u32 get_unaligned_be32(const void *p)
{
	u32 n;

	memcpy(&n, p, sizeof(n));
	return be32toh(n);
}

static inline u64 get_unaligned_be64(const void *p)
{
	u64 n;

	memcpy(&n, p, sizeof(n));
	return be64toh(n);
}

static inline void put_unaligned_be16(u16 n, void *p)
{
	n = htobe16(n);
	memcpy(p, &n, sizeof(n));
}

static inline void put_unaligned_be32(u32 n, void *p)
{
	n = htobe32(n);
	memcpy(p, &n, sizeof(n));
}

static inline void put_unaligned_be64(u64 n, void *p)
{
	n = htobe64(n);
	memcpy(p, &n, sizeof(n));
}

#define MODULE_DESCRIPTION(...)
#define MODULE_IMPORT_NS(...)
#define MODULE_LICENSE(...)

/* What rdma/ib_cm.h takes from rdma/ib_verbs.h, rdma/ib_mad.h and rdma/ib_sa.h. */
union ib_gid {
	u8 raw[16];
};

enum ib_qp_type {
	IB_QPT_RC = 2,
	IB_QPT_UC = 3,
	IB_QPT_UD = 4,
	IB_QPT_XRC_INI = 9,
	IB_QPT_XRC_TGT = 10,
};

enum ib_rate {
	IB_RATE_10_GBPS = 3,
	IB_RATE_300_GBPS = 18,
};

enum ib_mtu {
	IB_MTU_256 = 1,
	IB_MTU_4096 = 5,
};

enum ib_event_type {
	IB_EVENT_COMM_EST = 4,
};

enum ib_wc_status {
	IB_WC_SUCCESS,
};

struct ib_device;
struct ib_gid_attr;
struct ib_qp_attr;
struct sa_path_rec;

struct rdma_ucm_ece {
	__u32 vendor_id;
	__u32 attr_mod;
};

#define IB_MGMT_BASE_VERSION	1
#define IB_MGMT_CLASS_CM	0x07
#define IB_MGMT_METHOD_SEND	0x03

#endif
