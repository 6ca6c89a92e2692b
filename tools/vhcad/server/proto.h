/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages of the vfio-user protocol.  A message is a header and a body, both little-endian.
 * File descriptors come with the header, as ancillary data.
 */
#ifndef VHCAD_SERVER_PROTO_H
#define VHCAD_SERVER_PROTO_H

#include <assert.h>

#include "lib/types.h"

#define VU_MAJOR		0
#define VU_MINOR		0

enum vu_command {
	VU_VERSION		= 1,
	VU_DMA_MAP		= 2,
	VU_DMA_UNMAP		= 3,
	VU_GET_INFO		= 4,
	VU_GET_REGION_INFO	= 5,
	VU_GET_REGION_IO_FDS	= 6,
	VU_GET_IRQ_INFO		= 7,
	VU_SET_IRQS		= 8,
	VU_REGION_READ		= 9,
	VU_REGION_WRITE		= 10,
	VU_DMA_READ		= 11,
	VU_DMA_WRITE		= 12,
	VU_DEVICE_RESET		= 13,
	VU_REGION_WRITE_MULTI	= 15,
	VU_DEVICE_FEATURE	= 16,
	VU_MIG_DATA_READ	= 17,
	VU_MIG_DATA_WRITE	= 18,
};

#define VU_F_TYPE		0x0fu
#define VU_F_COMMAND		0x00u
#define VU_F_REPLY		0x01u
#define VU_F_NO_REPLY		0x10u
#define VU_F_ERROR		0x20u

struct vu_header {
	u16 id;
	u16 command;
	u32 size;		/* of the whole message */
	u32 flags;		/* VU_F_* */
	u32 error;		/* errno, with VU_F_ERROR */
};

static_assert(sizeof(struct vu_header) == 16, "wire format");

struct vu_version {
	u16 major;
	u16 minor;
	char json[];		/* capabilities, with a NUL at the end */
};

static_assert(sizeof(struct vu_version) == 4, "wire format");

#define VU_DMA_F_READ		(1u << 0)
#define VU_DMA_F_WRITE		(1u << 1)

struct vu_dma_map {
	u32 argsz;
	u32 flags;
	u64 offset;
	u64 address;
	u64 size;
};

static_assert(sizeof(struct vu_dma_map) == 32, "wire format");

#define VU_UNMAP_F_DIRTY	(1u << 0)
#define VU_UNMAP_F_ALL		(1u << 1)

struct vu_dma_unmap {
	u32 argsz;
	u32 flags;
	u64 address;
	u64 size;
};

static_assert(sizeof(struct vu_dma_unmap) == 24, "wire format");

struct vu_region_io {
	u64 offset;
	u32 region;
	u32 count;
	u8 data[];
};

static_assert(sizeof(struct vu_region_io) == 16, "wire format");

/*
 * Limits that the client is told: descriptors in a message, and bytes of one access to a region
 * (the size of configuration space).
 */
#define VU_MAX_FDS		16u
#define VU_MAX_XFER		4096u

/* The longest body accepted; VERSION needs the most, for its capabilities. */
#define VU_MAX_BODY		16384u

#endif /* VHCAD_SERVER_PROTO_H */
