/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Integer names and small helpers that every file of the daemon uses.
 */
#ifndef VHCAD_LIB_TYPES_H
#define VHCAD_LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MIN(a, b) ({				\
	__typeof__(a) min_a_ = (a);		\
	__typeof__(b) min_b_ = (b);		\
	min_a_ < min_b_ ? min_a_ : min_b_;	\
})

#define MAX(a, b) ({				\
	__typeof__(a) max_a_ = (a);		\
	__typeof__(b) max_b_ = (b);		\
	max_a_ > max_b_ ? max_a_ : max_b_;	\
})

/* Members of a struct that are one by a name of their own, too; as the kernel's. */
#define struct_group_tagged(tag, name, ...)	\
	union {					\
		struct { __VA_ARGS__ };		\
		struct tag { __VA_ARGS__ } name;	\
	}

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* VHCAD_LIB_TYPES_H */
