/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin queue: buffers, entries of its rings, numbers of commands, and their status. */
#ifndef VHCA_DEFS_ADMIN_H
#define VHCA_DEFS_ADMIN_H

#include <linux/types.h>
#include <rdma/vhca-abi.h>

/* ------------------------------------------------------------------------
 * Buffers
 *
 * A buffer in host memory.  levels 0: it is contiguous and addr is its address.
 * 1: addr is the address of an array of npages __le64 page addresses.
 * 2: addr is the address of an array of __le64 addresses of list pages, each of
 * VHCA_LIST_PAGE bytes with VHCA_LIST_ENTRIES page addresses.
 * Page i covers bytes [i << page_shift, (i + 1) << page_shift) counted from
 * the start of the first page; the buffer starts offset bytes into it.
 * Lists stay in host memory while the object lives.
 */
#define VHCA_LIST_PAGE		4096
#define VHCA_LIST_ENTRIES	512
#define VHCA_PAGE_SHIFT_MIN	12
#define VHCA_PAGE_SHIFT_MAX	30

struct vhca_buf {
	__le64 addr;
	__le64 offset;		/* below 1 << page_shift; 0 with levels 0 */
	__le32 npages;		/* 0 with levels 0 */
	__u8 page_shift;	/* VHCA_PAGE_SHIFT_MIN..MAX; 0 with levels 0 */
	__u8 levels;		/* 0, 1 or 2 */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_buf) == 24);

/* ------------------------------------------------------------------------
 * Admin queue: both rings have the same power-of-two number of entries; at
 * most that many commands are in flight.  The device may finish commands out
 * of order.  A completion's phase bit is 1 on the first lap of the ring and
 * changes with every lap; it is written last.  Rings start zeroed.
 */
#define VHCA_ASQE_SIZE		256
#define VHCA_ASQE_REQ		240

struct vhca_asqe {
	__u8 opcode;		/* enum vhca_admin_op */
	__u8 rsvd;
	__le16 cmd_id;		/* chosen by the driver, returned in the completion */
	__le32 out_len;		/* bytes at out_addr; 0 if the command has no bulk output */
	__le64 out_addr;	/* contiguous DMA address for bulk output */
	__u8 req[VHCA_ASQE_REQ];	/* struct vhca_*_req, the rest zero */
};

static_assert(sizeof(struct vhca_asqe) == VHCA_ASQE_SIZE);

#define VHCA_ACQE_PHASE		(1U << 0)
#define VHCA_ACQE_RESP		48
#define VHCA_NO_FIELD		0xffff

struct vhca_acqe {
	__u8 resp[VHCA_ACQE_RESP];	/* struct vhca_*_resp */
	__le16 cmd_id;
	__u8 status;		/* enum vhca_status */
	__u8 rsvd0;
	__le16 bad_field;	/* offset of the refused field in vhca_asqe, or VHCA_NO_FIELD */
	__u8 rsvd1[9];
	__u8 phase;		/* bit 0 */
};

static_assert(sizeof(struct vhca_acqe) == 64);

enum vhca_status {
	VHCA_ST_OK		= 0,
	VHCA_ST_BAD_OPCODE	= 1,	/* command unknown to this device */
	VHCA_ST_BAD_FIELD	= 2,	/* a value out of range */
	VHCA_ST_BAD_HANDLE	= 3,	/* no such object */
	VHCA_ST_BUSY		= 4,	/* object still used by others */
	VHCA_ST_NO_RESOURCE	= 5,	/* limit reached */
	VHCA_ST_BAD_STATE	= 6,	/* not possible in this state of the object */
	VHCA_ST_BAD_ADDRESS	= 7,	/* DMA address not accessible */
	VHCA_ST_UNSUPPORTED	= 8,	/* capability absent or switched off */
	VHCA_ST_INTERNAL	= 9,	/* device out of memory or failing */
};

enum vhca_admin_op {
	VHCA_CMD_NOP		= 0x00,
	VHCA_CMD_QUERY_DEVICE	= 0x01,	/* out: struct vhca_device_attr */
	VHCA_CMD_QUERY_PORT	= 0x02,	/* out: struct vhca_port_attr */
	VHCA_CMD_QUERY_GIDS	= 0x03,	/* out: __u8 gid[16] from first_index on */
	VHCA_CMD_QUERY_PKEYS	= 0x04,	/* out: __le16 from first_index on */
	VHCA_CMD_SET_NODE_DESC	= 0x05,
	VHCA_CMD_QUERY_COUNTERS	= 0x06,	/* out: struct vhca_port_counters */
	VHCA_CMD_QUERY_CLOCK	= 0x07,
	VHCA_CMD_PROCESS_MAD	= 0x08,	/* out: the reply, VHCA_MAD_SIZE bytes */
	VHCA_CMD_MODIFY_PORT	= 0x09,
	VHCA_CMD_SET_GID	= 0x0a,	/* of an Ethernet port */
	VHCA_CMD_OPEN_UAR	= 0x10,
	VHCA_CMD_CLOSE_UAR	= 0x11,
	VHCA_CMD_ADD_DB_PAGE	= 0x12,
	VHCA_CMD_CREATE_EQ	= 0x18,
	VHCA_CMD_DESTROY_EQ	= 0x19,
	VHCA_CMD_CREATE_PD	= 0x20,
	VHCA_CMD_DESTROY_PD	= 0x21,
	VHCA_CMD_CREATE_XRCD	= 0x22,
	VHCA_CMD_DESTROY_XRCD	= 0x23,
	VHCA_CMD_CREATE_MKEY	= 0x28,
	VHCA_CMD_DESTROY_MKEY	= 0x29,
	VHCA_CMD_MODIFY_MKEY	= 0x2a,	/* access, PD, translation of a LIST key */
	VHCA_CMD_FENCE_MKEYS	= 0x2b,	/* completes when every access begun before has ended */
	VHCA_CMD_CREATE_CQ	= 0x30,
	VHCA_CMD_DESTROY_CQ	= 0x31,
	VHCA_CMD_RESIZE_CQ	= 0x32,
	VHCA_CMD_MODIFY_CQ	= 0x33,	/* moderation of events */
	VHCA_CMD_CREATE_SRQ	= 0x38,
	VHCA_CMD_DESTROY_SRQ	= 0x39,
	VHCA_CMD_MODIFY_SRQ	= 0x3a,	/* limit */
	VHCA_CMD_RESIZE_SRQ	= 0x3b,
	VHCA_CMD_QUERY_SRQ	= 0x3c,
	VHCA_CMD_CREATE_QP	= 0x40,
	VHCA_CMD_DESTROY_QP	= 0x41,
	VHCA_CMD_MODIFY_QP	= 0x42,
	VHCA_CMD_QUERY_QP	= 0x43,	/* out: struct vhca_qp_attr */
	VHCA_CMD_ATTACH_MCG	= 0x48,
	VHCA_CMD_DETACH_MCG	= 0x49,
	VHCA_CMD_CREATE_COUNTER	= 0x50,
	VHCA_CMD_DESTROY_COUNTER = 0x51,
	VHCA_CMD_BIND_COUNTER	= 0x52,	/* a QP to a counter, or to none */
	VHCA_CMD_QUERY_COUNTER	= 0x53,	/* out: struct vhca_port_counters */
};

/* Requests that name one object: DESTROY_*, CLOSE_UAR, QUERY_QP, QUERY_SRQ, QUERY_COUNTER. */
struct vhca_object_req {
	__le32 handle;
	__u8 port;		/* of QP 0 or 1 (DESTROY_QP, QUERY_QP); else 0 */
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_object_req) == 8);

/* Responses of OPEN_UAR and CREATE_{EQ,PD,XRCD,CQ,SRQ,QP,MKEY,COUNTER}: the new object. */
struct vhca_object_resp {
	__le32 handle;		/* number of the object, or the whole 32-bit key */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_object_resp) == 8);

#endif /* VHCA_DEFS_ADMIN_H */
