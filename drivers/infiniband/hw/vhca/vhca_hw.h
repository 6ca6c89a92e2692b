/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * VHCA registers, admin commands and events: the whole interface between the
 * driver and the device, apart from the data path (rdma/vhca-abi.h).
 *
 * All structures are little-endian.  Reserved fields are written as zero and
 * the device refuses a command whose reserved fields are not.
 * Documentation/hw/vhca.rst is the manual to this header.
 */
#ifndef VHCA_HW_H
#define VHCA_HW_H

#include <linux/types.h>
#include <rdma/vhca-abi.h>

#define VHCA_PCI_VENDOR		0x1af4
#define VHCA_PCI_DEVICE		0x10f0
#define VHCA_PCI_CLASS		0x020700	/* network controller, InfiniBand */

/* Interface version; the PCI revision is the major number. */
#define VHCA_VERSION_MAJOR	1
#define VHCA_VERSION_MINOR	5

/* ------------------------------------------------------------------------
 * BAR0: control registers.  BAR2: kick pages.  BAR4: MSI-X table and PBA.
 * 32-bit accesses only.  The driver reads registers while it probes and, for
 * its health check, STATUS; never on a command or data path.
 */
#define VHCA_BAR_REGS		0
#define VHCA_BAR_KICK		2
#define VHCA_BAR_MSIX		4
#define VHCA_REGS_SIZE		4096

#define VHCA_REG_MAGIC		0x00	/* RO VHCA_MAGIC */
#define VHCA_REG_VERSION	0x04	/* RO major << 16 | minor */
#define VHCA_REG_STATUS		0x08	/* RO VHCA_STATUS_* */
#define VHCA_REG_CONTROL	0x0c	/* WO VHCA_CONTROL_* */
#define VHCA_REG_KICK_STRIDE	0x10	/* RO bytes between two kick pages */
#define VHCA_REG_KICK_PAGES	0x14	/* RO kick pages in BAR2 */
#define VHCA_REG_ADMIN_MAX	0x18	/* RO log2 of the most admin queue entries */
#define VHCA_REG_FATAL_CODE	0x1c	/* RO enum vhca_fatal, valid with STATUS_FATAL */
#define VHCA_REG_ASQ_LO		0x20	/* RW admin submission ring, DMA address */
#define VHCA_REG_ASQ_HI		0x24
#define VHCA_REG_ACQ_LO		0x28	/* RW admin completion ring, DMA address */
#define VHCA_REG_ACQ_HI		0x2c
#define VHCA_REG_ADMIN_SIZE	0x30	/* RW log2 of the entries of both rings */
#define VHCA_REG_ADMIN_VECTOR	0x34	/* RW vector of admin completions, or VHCA_NO_VECTOR */
#define VHCA_REG_ADMIN_TAIL	0x38	/* WO free-running count of commands: the admin kick */

#define VHCA_MAGIC		0x41434856	/* "VHCA" */
#define VHCA_NO_VECTOR		0xffffffffU

#define VHCA_STATUS_READY	(1U << 0)	/* admin queue serves commands */
#define VHCA_STATUS_FATAL	(1U << 1)	/* device stopped; reset to go on */
#define VHCA_STATUS_GONE	0xffffffffU	/* what a removed device reads as */

#define VHCA_CONTROL_ENABLE	(1U << 0)	/* take the admin queue registers, become READY */
#define VHCA_CONTROL_RESET	(1U << 1)	/* as FLR: drop every object, stop DMA, not READY */

enum vhca_fatal {
	VHCA_FATAL_NONE		= 0,
	VHCA_FATAL_ADMIN_RING	= 1,	/* admin ring not accessible or its count absurd */
	VHCA_FATAL_EQ		= 2,	/* an event queue is not accessible */
	VHCA_FATAL_INJECTED	= 3,	/* asked for on the control socket */
};

/* ------------------------------------------------------------------------
 * Buffers
 *
 * A buffer in host memory: levels 0: addr is its first byte, contiguous.
 * 1: addr is an array of npages __le64 page addresses.  2: addr is an array
 * of list pages (VHCA_LIST_PAGE bytes each, VHCA_LIST_ENTRIES addresses).
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
	__le16 cmd_id;		/* chosen by the driver, comes back */
	__le32 out_len;		/* bytes at out_addr; 0 when the command has no such output */
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
	__le16 bad_field;	/* what was refused in struct vhca_asqe, or VHCA_NO_FIELD */
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
	VHCA_ST_BAD_STATE	= 6,	/* not in this state of the object */
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
	VHCA_CMD_FENCE_MKEYS	= 0x2b,	/* done when every access begun before it has ended */
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
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_object_req) == 8);

/* Answers that give a new object: OPEN_UAR, CREATE_{EQ,PD,XRCD,CQ,SRQ,QP,MKEY,COUNTER}. */
struct vhca_object_resp {
	__le32 handle;		/* number of the object, or the whole 32-bit key */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_object_resp) == 8);

/* -- device and ports -- */

enum vhca_cap {			/* bit numbers in vhca_device_attr.caps */
	VHCA_CAP_RC		= 0,
	VHCA_CAP_RNR_NAK	= 1,
	VHCA_CAP_SMI_GSI	= 2,	/* management QPs: none in interface 1.0 */
	VHCA_CAP_CLOCK		= 3,	/* completion timestamps */
	VHCA_CAP_UC		= 4,
	VHCA_CAP_UD		= 5,
	VHCA_CAP_MCAST		= 6,	/* multicast groups; needs UD */
	VHCA_CAP_SRQ		= 7,
	VHCA_CAP_CQ_RESIZE	= 8,
	VHCA_CAP_CQ_MODERATION	= 9,
	VHCA_CAP_COUNTERS	= 10,	/* QUERY_COUNTERS */
	VHCA_CAP_ATOMIC		= 11,	/* CMP_SWAP, FETCH_ADD */
	VHCA_CAP_MASKED_ATOMIC	= 12,	/* needs ATOMIC */
	VHCA_CAP_ATOMIC_WRITE	= 13,
	VHCA_CAP_FLUSH		= 14,
	VHCA_CAP_FAST_REG	= 15,	/* FAST keys, REG_MR, LOCAL_INV, SEND_INV, READ_INV */
	VHCA_CAP_SG_GAPS	= 16,	/* FAST_SG keys; needs FAST_REG */
	VHCA_CAP_MW		= 17,	/* windows of type 1 */
	VHCA_CAP_MW_2A		= 18,	/* windows of type 2, tied to a QP; needs MW, FAST_REG */
	VHCA_CAP_MW_2B		= 19,	/* the same, tied to a QP and a PD; wins over 2A */
	VHCA_CAP_FMR		= 20,	/* FMR keys, FENCE_MKEYS */
	VHCA_CAP_XRC		= 21,	/* XRC domains and their QPs; needs RC, SRQ */
	VHCA_CAP_UC_FAST_REG	= 22,	/* REG_MR, LOCAL_INV on UC; needs UC, FAST_REG */
	VHCA_CAP_APM		= 23,	/* alternate paths, automatic migration */
	VHCA_CAP_CLOCK_QUERY	= 24,	/* QUERY_CLOCK; needs CLOCK */
	VHCA_CAP_QP_COUNTERS	= 25,	/* counters that QPs are bound to; needs COUNTERS */
};

struct vhca_device_attr {
	__le64 caps;
	__le64 node_guid;		/* value; most significant byte first on the wire */
	__le64 sys_image_guid;
	__le64 fw_version;		/* major << 32 | minor << 16 | sub */
	__le64 max_mr_size;
	__le64 page_sizes;		/* bit n: pages of 1 << n bytes */
	__le32 max_uars;
	__le32 max_eqs;
	__le32 max_pds;
	__le32 max_mkeys;
	__le32 max_cqs;
	__le32 max_cqe;			/* most entries of one CQ */
	__le32 max_qps;
	__le32 max_sq_blocks;		/* most 64-byte blocks of a send ring */
	__le32 max_rq_wr;		/* most strides of a receive ring */
	__le32 max_send_sge;
	__le32 max_recv_sge;
	__le32 max_inline;
	__le32 max_msg;			/* bytes of a message */
	__le32 clock_khz;		/* 0: no clock */
	__le32 vectors;			/* MSI-X vectors */
	__u8 ports;
	__u8 max_rd_atomic;		/* responder resources a QP */
	__u8 max_init_rd_atomic;
	__u8 local_ca_ack_delay;
	__u8 node_desc[64];
	__le32 max_srqs;
	__le32 max_srq_wr;		/* most strides of a shared receive ring */
	__le32 max_mcgs;		/* multicast groups with QPs attached */
	__le32 max_mcg_qps;		/* QPs of one group */
	__le16 max_moderation_count;
	__le16 max_moderation_period;	/* microseconds */
	__le32 max_reg_entries;		/* most entries of a list of FAST, FAST_SG, FMR */
	__le32 max_xrcds;
	__le32 max_counters;
	__u8 rsvd[44];
};

static_assert(sizeof(struct vhca_device_attr) == 256);

/* QUERY_COUNTERS: but for what counters have counted; needs QP_COUNTERS */
#define VHCA_PORT_UNBOUND	(1U << 0)

struct vhca_port_req {
	__u8 port;			/* 1..ports */
	__u8 flags;			/* VHCA_PORT_* */
	__u8 rsvd0[2];
	__le32 first_index;		/* tables only */
	__le32 count;			/* tables only: entries wanted */
	__le32 rsvd1;
};

static_assert(sizeof(struct vhca_port_req) == 16);

enum vhca_link_layer {
	VHCA_LINK_IB		= 1,
	VHCA_LINK_ETH		= 2,
};

struct vhca_port_attr {
	__le32 cap_mask;		/* as PortInfo:CapabilityMask */
	__le32 gid_entries;
	__le32 pkey_entries;
	__le32 max_msg;
	__le32 qkey_viol;
	__le32 pkey_viol;
	__le16 lid;
	__le16 sm_lid;
	__u8 state;			/* enum ib_port_state */
	__u8 phys_state;		/* enum ib_port_phys_state */
	__u8 max_mtu;			/* enum ib_mtu */
	__u8 active_mtu;
	__u8 lmc;
	__u8 sm_sl;
	__u8 subnet_timeout;
	__u8 init_type_reply;
	__u8 max_vl;			/* as PortInfo:VLCap */
	__u8 link_layer;		/* enum vhca_link_layer */
	__u8 active_width;		/* enum ib_port_width */
	__u8 rsvd0;
	__le16 active_speed;		/* enum ib_port_speed */
	__u8 rsvd1[22];
};

static_assert(sizeof(struct vhca_port_attr) == 64);

/* Of a port since the device was made, which a reset does not clear, or of a counter. */
struct vhca_port_counters {
	__le64 tx_packets;
	__le64 tx_bytes;		/* of whole packets, here and below */
	__le64 rx_packets;
	__le64 rx_bytes;
	__le64 tx_mcast_packets;
	__le64 rx_mcast_packets;
	__le64 tx_discards;		/* nobody has that address, or the port was not active */
	__le64 rx_no_qp;		/* no QP takes such a packet */
	__le64 rx_no_receive;		/* UC and UD: message dropped, no receive that fits */
	__le64 rx_uc_gaps;		/* UC: messages dropped because a packet was missing */
	__le64 qkey_violations;
	__le64 pkey_violations;
	__le64 rnr_naks_sent;
	__le64 rnr_naks_received;
	__le64 seq_naks_sent;
	__le64 seq_naks_received;
	__le64 error_naks_sent;		/* those that end a connection */
	__le64 error_naks_received;
	__le64 duplicates;		/* RC requests that had arrived before */
	__le64 timeouts;		/* RC requests sent again because no answer came */
};

static_assert(sizeof(struct vhca_port_counters) == 160);

struct vhca_node_desc_req {
	__u8 desc[64];
};

static_assert(sizeof(struct vhca_node_desc_req) == 64);

struct vhca_clock_resp {
	__le64 now;			/* as the time stamps of completions */
};

static_assert(sizeof(struct vhca_clock_resp) == 8);

/* -- UARs and event queues -- */

struct vhca_open_uar_req {
	__le64 db_page;			/* DMA address of doorbell page 0, zeroed */
};

static_assert(sizeof(struct vhca_open_uar_req) == 8);

struct vhca_add_db_page_req {
	__le32 uar;
	__le32 page;			/* next number: pages are added in order */
	__le64 db_page;
};

static_assert(sizeof(struct vhca_add_db_page_req) == 16);

/* EQ 0 made first carries asynchronous events; the others completion events. */
#define VHCA_EQ_ASYNC		(1U << 0)

struct vhca_create_eq_req {
	struct vhca_buf buf;		/* entries of struct vhca_eqe, zeroed */
	__le32 uar;
	__le32 db_slot;			/* consumer slot; arm record in the next one */
	__le32 vector;			/* MSI-X vector, or VHCA_NO_VECTOR: polled */
	__u8 log_entries;
	__u8 flags;			/* VHCA_EQ_* */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_create_eq_req) == 40);

/*
 * An EQ arms like a CQ.  Its entries carry a lap bit as those of a CQ do.
 * VHCA_EQE_F_MORE: the ring was full behind this entry; the driver rings the
 * EQ's consumer slot (news bit, summary, kick) once it has made room.
 */
#define VHCA_EQE_OWNER		(1U << 0)
#define VHCA_EQE_F_MORE		(1U << 0)

enum vhca_event {
	VHCA_EV_COMPLETION	= 0x01,	/* number = cqn */
	VHCA_EV_CQ_ERR		= 0x10,	/* number = cqn */
	VHCA_EV_QP_FATAL	= 0x11,	/* number = qpn, here and below */
	VHCA_EV_QP_REQ_ERR	= 0x12,
	VHCA_EV_QP_ACCESS_ERR	= 0x13,
	VHCA_EV_COMM_EST	= 0x14,
	VHCA_EV_SQ_DRAINED	= 0x15,
	VHCA_EV_LAST_WQE	= 0x16,	/* QP with an SRQ failed and takes no more receives */
	VHCA_EV_PATH_MIG	= 0x17,	/* the alternate path is in use now */
	VHCA_EV_SRQ_LIMIT	= 0x18,	/* number = srqn */
	VHCA_EV_SRQ_ERR		= 0x19,	/* number = srqn: its ring cannot be read */
	VHCA_EV_PATH_MIG_ERR	= 0x1a,	/* number = qpn: the peer went where there is no path */
	VHCA_EV_PORT_ACTIVE	= 0x20,	/* number = 0, port says which */
	VHCA_EV_PORT_ERR	= 0x21,
	VHCA_EV_LID_CHANGE	= 0x22,
	VHCA_EV_PKEY_CHANGE	= 0x23,
	VHCA_EV_GID_CHANGE	= 0x24,
	VHCA_EV_SM_CHANGE	= 0x25,
	VHCA_EV_REREGISTER	= 0x26,	/* subnet management forgot the port's clients */
	VHCA_EV_DEVICE_FATAL	= 0x30,
};

struct vhca_eqe {
	__le32 number;
	__u8 event;			/* enum vhca_event */
	__u8 port;
	__u8 flags;			/* VHCA_EQE_F_* */
	__u8 rsvd[8];
	__u8 owner;
};

static_assert(sizeof(struct vhca_eqe) == 16);

/* -- memory keys -- */

/*
 * A key of another type than the first two is made without a range (iova,
 * length and access 0, no access possible) and lives on under other variants:
 * commands that name it ignore its low byte.
 *
 * FAST: buf is the list, of levels 1, npages its most entries, page_shift 0.
 * FAST_SG: the same, with entries of struct vhca_sg_entry.  REG_MR gives such
 * a key its range and its variant, LOCAL_INV, SEND_INV and READ_INV take it
 * away.  The list belongs to the device between the two.
 * FMR: buf is a list of page addresses as with FAST, page_shift that of every
 * mapping; iova is the DMA address of the struct vhca_fmr that holds key and
 * range, access is fixed.
 * MW_1, MW_2: no buf.  BIND_MW gives range and variant; MW_2 is invalidated.
 * A region to which windows are bound is BUSY for DESTROY_MKEY and MODIFY_MKEY.
 */
enum vhca_mkey_type {
	VHCA_MKEY_LIST		= 0,	/* buf translates [iova, iova + length) */
	VHCA_MKEY_PHYSICAL	= 1,	/* addresses are DMA addresses; kernel only */
	VHCA_MKEY_FAST		= 2,
	VHCA_MKEY_FAST_SG	= 3,
	VHCA_MKEY_FMR		= 4,
	VHCA_MKEY_MW_1		= 5,
	VHCA_MKEY_MW_2		= 6,
};

/* A piece of memory of any length and alignment. */
struct vhca_sg_entry {
	__le64 addr;
	__le64 end;			/* bytes of the list up to and with this entry */
};

static_assert(sizeof(struct vhca_sg_entry) == 16);

/*
 * What an FMR key translates now.  The driver makes seq odd, changes the rest
 * and makes it even again, with release ordering; the device refuses an access
 * that finds seq odd or changed.  To unmap: npages 0, then FENCE_MKEYS.
 */
struct vhca_fmr {
	__le32 seq;
	__le32 key;
	__le64 iova;
	__le64 length;
	__le32 npages;			/* of the list; 0: not mapped */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_fmr) == 32);

struct vhca_create_mkey_req {
	struct vhca_buf buf;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 access;			/* VHCA_ACCESS_* */
	__u8 type;			/* enum vhca_mkey_type */
	__u8 variant;			/* low byte of the key, the consumer's choice */
	__u8 rsvd[6];
};

static_assert(sizeof(struct vhca_create_mkey_req) == 56);

#define VHCA_MKEY_MOD_ACCESS	(1U << 0)
#define VHCA_MKEY_MOD_PD	(1U << 1)
#define VHCA_MKEY_MOD_BUF	(1U << 2)	/* buf, iova, length */

struct vhca_modify_mkey_req {
	struct vhca_create_mkey_req attr;	/* type and variant are not changed: zero */
	__le32 key;
	__le32 mask;			/* VHCA_MKEY_MOD_* */
};

static_assert(sizeof(struct vhca_modify_mkey_req) == 64);

/* -- counters -- */

struct vhca_create_counter_req {
	__u8 port;			/* 1..ports: to which its QPs belong */
	__u8 rsvd[7];
};

static_assert(sizeof(struct vhca_create_counter_req) == 8);

struct vhca_bind_counter_req {
	__le32 qpn;
	__le32 counter;			/* 0: none */
};

static_assert(sizeof(struct vhca_bind_counter_req) == 8);

/* -- completion queues -- */

#define VHCA_CQ_TIMESTAMP	(1U << 0)
#define VHCA_CQ_IGNORE_OVERRUN	(1U << 1)

struct vhca_create_cq_hw_req {
	struct vhca_buf buf;		/* 1 << log_cqe entries, zeroed */
	__le32 uar;
	__le32 db_slot;			/* consumer slot; arm record in the next one */
	__le32 eqn;
	__u8 log_cqe;
	__u8 flags;			/* VHCA_CQ_* */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_create_cq_hw_req) == 40);

/*
 * Entries are written to the new ring from the count on that the answer tells;
 * those before it stay in the old one, which the device has left when it
 * answers: the driver copies them.  The new ring comes with every owner bit
 * such that no entry from the consumer count on is valid, and the consumer
 * record is up to date.  Refused with BAD_STATE when more entries wait to be
 * polled than fit, and then nothing has changed.
 */
struct vhca_resize_cq_hw_req {
	struct vhca_buf buf;		/* 1 << log_cqe entries */
	__le32 cqn;
	__u8 log_cqe;
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_resize_cq_hw_req) == 32);

struct vhca_resize_cq_hw_resp {
	__le32 first;			/* low 32 bits of the count of the first new entry */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_resize_cq_hw_resp) == 8);

/*
 * An armed CQ raises its event when count entries were written since the one
 * before, or period after the first of them, whichever is earlier.  count 0
 * or 1, or period 0: at once.
 */
struct vhca_modify_cq_req {
	__le32 cqn;
	__le16 count;
	__le16 period;			/* microseconds */
};

static_assert(sizeof(struct vhca_modify_cq_req) == 8);

/* -- shared receive queues -- */

/*
 * XRC: of a domain.  Requests to the XRC_TGT QPs of that domain name it, its
 * receives complete in a CQ of its own, and the keys they use are of its PD.
 */
#define VHCA_SRQ_XRC		(1U << 0)

struct vhca_create_srq_hw_req {
	struct vhca_buf buf;		/* 1 << log_strides strides */
	__le32 pdn;
	__le32 uar;
	__le32 db_slot;			/* posted slot; taken record in the next one */
	__u8 log_strides;
	__u8 log_stride;
	__u8 flags;			/* VHCA_SRQ_* */
	__u8 rsvd;
	__le32 xrcdn;			/* with VHCA_SRQ_XRC, and the next */
	__le32 cqn;
};

static_assert(sizeof(struct vhca_create_srq_hw_req) == 48);

/* Arms the limit for one event: fewer receives than that are left.  0: none. */
struct vhca_modify_srq_hw_req {
	__le32 srqn;
	__le32 limit;
};

static_assert(sizeof(struct vhca_modify_srq_hw_req) == 8);

/*
 * The new ring holds every receive from the taken count on, each where its
 * count belongs in it; those that the device takes meanwhile come from the old
 * one.  Refused with BAD_STATE when more are posted than fit.
 */
struct vhca_resize_srq_hw_req {
	struct vhca_buf buf;
	__le32 srqn;
	__u8 log_strides;
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_resize_srq_hw_req) == 32);

struct vhca_query_srq_resp {
	__le32 limit;			/* armed, or 0 */
	__le32 left;			/* posted and not taken */
};

static_assert(sizeof(struct vhca_query_srq_resp) == 8);

/* -- queue pairs -- */

enum vhca_qp_type {			/* as enum ib_qp_type */
	VHCA_QPT_RC		= 2,
	VHCA_QPT_UC		= 3,
	VHCA_QPT_UD		= 4,
	VHCA_QPT_XRC_INI	= 9,
	VHCA_QPT_XRC_TGT	= 10,
};

/*
 * XRC_INI only sends: it has no receive queue and no receive CQ.  XRC_TGT only
 * answers: it has neither queue, no CQ and no PD, but a domain.  What a QP does
 * not have is zero, or VHCA_NO_QUEUE.
 */

#define VHCA_QP_SIGNAL_ALL	(1U << 0)
#define VHCA_QP_SRQ		(1U << 1)	/* receives come from srqn */
#define VHCA_QP_NO_MC_LOOP	(1U << 2)	/* UD: own multicasts do not come back */

struct vhca_create_qp_hw_req {
	struct vhca_buf sq;
	struct vhca_buf rq;
	__le32 pdn;
	__le32 uar;
	__le32 db_slot;			/* send slot; receive record in the next one */
	__le32 send_cqn;
	__le32 recv_cqn;
	__le32 max_inline;
	__u8 type;			/* enum vhca_qp_type */
	__u8 flags;			/* VHCA_QP_* */
	__u8 log_sq_blocks;		/* or VHCA_NO_QUEUE */
	__u8 log_rq_strides;		/* or VHCA_NO_QUEUE */
	__u8 log_rq_stride;
	__u8 rsvd[3];
	__le32 cookie[2];		/* the driver's, for the daemon's logs only */
	__le32 srqn;			/* with VHCA_QP_SRQ; then there is no receive ring */
	__le32 xrcdn;			/* XRC_TGT */
};

static_assert(sizeof(struct vhca_create_qp_hw_req) == 96);

/* Attribute bits have the numbers of enum ib_qp_attr_mask. */
#define VHCA_QPA_STATE			(1U << 0)
#define VHCA_QPA_CUR_STATE		(1U << 1)
#define VHCA_QPA_EN_SQD_ASYNC_NOTIFY	(1U << 2)
#define VHCA_QPA_ACCESS_FLAGS		(1U << 3)
#define VHCA_QPA_PKEY_INDEX		(1U << 4)
#define VHCA_QPA_PORT			(1U << 5)
#define VHCA_QPA_QKEY			(1U << 6)
#define VHCA_QPA_AV			(1U << 7)
#define VHCA_QPA_PATH_MTU		(1U << 8)
#define VHCA_QPA_TIMEOUT		(1U << 9)
#define VHCA_QPA_RETRY_CNT		(1U << 10)
#define VHCA_QPA_RNR_RETRY		(1U << 11)
#define VHCA_QPA_RQ_PSN			(1U << 12)
#define VHCA_QPA_MAX_QP_RD_ATOMIC	(1U << 13)
#define VHCA_QPA_ALT_PATH		(1U << 14)
#define VHCA_QPA_MIN_RNR_TIMER		(1U << 15)
#define VHCA_QPA_SQ_PSN			(1U << 16)
#define VHCA_QPA_MAX_DEST_RD_ATOMIC	(1U << 17)
#define VHCA_QPA_PATH_MIG_STATE		(1U << 18)
#define VHCA_QPA_CAP			(1U << 19)
#define VHCA_QPA_DEST_QPN		(1U << 20)

struct vhca_qp_attr {
	__u8 state;			/* enum ib_qp_state */
	__u8 cur_state;
	__u8 sq_draining;		/* query only */
	__u8 en_sqd_async_notify;
	__u8 access;			/* VHCA_ACCESS_REMOTE_*, FLUSH_* */
	__u8 port;
	__u8 path_mtu;			/* enum ib_mtu */
	__u8 path_mig_state;		/* enum ib_mig_state; the device sets ARMED */
	__le16 pkey_index;
	__le16 alt_pkey_index;
	__le32 qkey;
	__le32 rq_psn;
	__le32 sq_psn;
	__le32 dest_qpn;
	__u8 timeout;			/* 4.096 us << n, 0: for ever */
	__u8 retry_cnt;			/* 0..7 */
	__u8 rnr_retry;			/* 0..7, 7: for ever */
	__u8 min_rnr_timer;		/* 0..31 */
	__u8 max_rd_atomic;		/* as requester */
	__u8 max_dest_rd_atomic;	/* as responder */
	__u8 alt_port;
	__u8 alt_timeout;
	struct vhca_av av;
	struct vhca_av alt_av;
};

static_assert(sizeof(struct vhca_qp_attr) == 108);

struct vhca_modify_qp_req {
	__le32 qpn;
	__le32 mask;			/* VHCA_QPA_* */
	struct vhca_qp_attr attr;
};

static_assert(sizeof(struct vhca_modify_qp_req) == 116);

/*
 * The QP gets its own copy of each multicast to the group, once, however often
 * it was attached.  mlid is what the packets are addressed to.
 */
struct vhca_mcg_req {
	__u8 mgid[16];
	__le32 qpn;
	__le16 mlid;
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_mcg_req) == 24);

#endif /* VHCA_HW_H */
