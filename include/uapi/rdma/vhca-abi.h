/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * VHCA data-path interface: the structures in host memory that the device, the
 * kernel driver and the user space provider share, and the private part of the
 * uverbs commands.  Values are little-endian unless their type is __be.
 * Documentation/hw/vhca.rst is the manual to this header.
 */
#ifndef VHCA_ABI_USER_H
#define VHCA_ABI_USER_H

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/build_bug.h>
#else
#include <assert.h>
#endif

#define VHCA_UVERBS_ABI_VERSION	1

/* ------------------------------------------------------------------------
 * Doorbells
 *
 * A UAR (one for each user context, one or more for the kernel) has an array of
 * doorbell pages in host memory and one kick page in BAR2.  A page holds
 * records of eight bytes, called slots; slot numbers count through the pages
 * of a UAR: page = slot / VHCA_DB_SLOTS, record = slot % VHCA_DB_SLOTS.
 *
 * Ringing slot S of page P after writing the work:
 *   1. store-release rec[S % SLOTS] = new producer count
 *   2. atomic OR news[(S % SLOTS) / 64] with bit (S % SLOTS) % 64
 *   3. atomic OR summary[P / 64] of page 0 with bit P % 64
 *   4. full barrier
 *   5. if armed of page 0 is not 0, store 0 to it and then VHCA_KICK (32 bits)
 *      to the UAR's kick page; a kick without need is harmless
 * On x86 the barrier is MFENCE: when QEMU's TCG executes a guest that has one
 * processor, locked instructions are neither atomic nor barriers. The protocol
 * does not need them to be: a bit that is set without need is harmless, and each
 * processor that clears armed also kicks.
 * The device clears summary and news by atomic exchange before it reads rec.
 *
 * Receive counts and consumer counts are records too, but are not rung; the
 * device reads them when it needs them.  A CQ (or EQ) takes two slots: its
 * consumer count, then its arm record.  A QP takes two: send, then receive.
 * An SRQ takes two: the count of receives posted, then a record that the device
 * writes, the count of receives that it has taken.  The device has read the strides
 * of the receives that it has taken: they are free.
 * There is one exception: a program that learns that a QP is in the error state
 * (because it asked for that state, or polled the first completion in error) rings
 * the receive slot, then and after each later receive that it posts, so that the
 * device flushes them.
 */
#define VHCA_DB_PAGE_SIZE	4096
#define VHCA_DB_SLOTS		480
#define VHCA_DB_NEWS_WORDS	8
#define VHCA_DB_SUMMARY_WORDS	16
#define VHCA_DB_MAX_PAGES	(VHCA_DB_SUMMARY_WORDS * 64)
#define VHCA_KICK		1

struct vhca_db_page {
	__le64 news[VHCA_DB_NEWS_WORDS];	/* one bit for each slot of this page */
	__le32 armed;				/* page 0: the device waits for a kick */
	__u8 rsvd[60];
	__le64 summary[VHCA_DB_SUMMARY_WORDS];	/* page 0: one bit for each page */
	__le64 rec[VHCA_DB_SLOTS];
};

static_assert(sizeof(struct vhca_db_page) == VHCA_DB_PAGE_SIZE);

/*
 * Arm record: consumer count in bits 31:0, flags in 39:32, sequence number
 * in 63:40.  A record other than the one that last raised an event (0 after
 * creation) arms the queue for one event, raised when the device writes an
 * entry at or after that consumer count.  After it stores an arm record, the
 * consumer executes a full barrier and polls.
 *
 * Arming for solicited entries does not cancel an earlier arming for all entries
 * that has not raised its event yet.  The record has in VHCA_ARM_SINCE_* by how much
 * its sequence number exceeds that of the last record that armed for all: unless that
 * record or a later one has raised an event, the new record arms for all as well.
 * 0: there was no such record, and only VHCA_ARM_SOLICITED matters.
 */
#define VHCA_ARM_CI_MASK	0xffffffffULL
#define VHCA_ARM_SOLICITED	(1ULL << 32)	/* only solicited or in error */
#define VHCA_ARM_SINCE_SHIFT	33		/* records since the last that armed for all */
#define VHCA_ARM_SINCE_MASK	0x7fU
#define VHCA_ARM_SEQ_SHIFT	40
#define VHCA_ARM_SEQ_MASK	0xffffffU

/* Rights of memory keys. */
#define VHCA_ACCESS_LOCAL_WRITE		(1U << 0)
#define VHCA_ACCESS_REMOTE_WRITE	(1U << 1)
#define VHCA_ACCESS_REMOTE_READ		(1U << 2)
#define VHCA_ACCESS_REMOTE_ATOMIC	(1U << 3)
#define VHCA_ACCESS_MW_BIND		(1U << 4)	/* windows may be bound to it */
#define VHCA_ACCESS_FLUSH_GLOBAL	(1U << 5)
#define VHCA_ACCESS_FLUSH_PERSISTENT	(1U << 6)
#define VHCA_ACCESS_ZERO_BASED		(1U << 7)	/* windows: addresses start at 0 */
#define VHCA_ACCESS_ALL			0x7f		/* of a region */

/* ------------------------------------------------------------------------
 * Work queue entries
 *
 * The send queue is a ring of 64-byte blocks, whose number is a power of two; its
 * producer record counts blocks and does not wrap before 2^32.  An entry is
 * nblk consecutive blocks (the first block of the ring follows the last) that hold
 * these segments one after the other:
 *
 *   control | UD address | remote address | atomic or flush | gather list or inline
 *   control | bind            (BIND_MW)
 *   control | register        (REG_MR)
 *   control | UD address | large send, header | gather list   (LSO)
 *
 * depending on the opcode.  The receive queue is a ring of strides, whose number
 * is a power of two; each stride is a struct vhca_rwqe and its scatter list, and
 * the record counts strides.  A shared receive queue is such a ring too.
 *
 * In receives of a UD, SMI or GSI QP the first 40 bytes are for the GRH, whether the packet
 * has one (VHCA_CQE_F_GRH) or not; byte_len includes them.
 */
#define VHCA_WQE_BLOCK		64
#define VHCA_WQE_MAX_BLOCKS	16

enum vhca_wqe_opcode {
	VHCA_OP_NOP		= 0x00,
	VHCA_OP_SEND		= 0x01,
	VHCA_OP_SEND_IMM	= 0x02,
	VHCA_OP_SEND_INV	= 0x03,	/* invalidates the receiver's key inv_key */
	VHCA_OP_WRITE		= 0x04,
	VHCA_OP_WRITE_IMM	= 0x05,
	VHCA_OP_READ		= 0x06,
	VHCA_OP_READ_INV	= 0x07,	/* invalidates the key of its only scatter entry */
	VHCA_OP_CMP_SWAP	= 0x08,	/* eight bytes, here and below; one scatter entry */
	VHCA_OP_FETCH_ADD	= 0x09,
	VHCA_OP_MASKED_CMP_SWAP	= 0x0a,
	VHCA_OP_MASKED_FETCH_ADD = 0x0b,
	VHCA_OP_ATOMIC_WRITE	= 0x0c,	/* eight bytes, gathered or inline */
	VHCA_OP_FLUSH		= 0x0d,
	VHCA_OP_LOCAL_INV	= 0x10,	/* invalidates the sender's key inv_key */
	VHCA_OP_BIND_MW		= 0x11,
	VHCA_OP_REG_MR		= 0x12,	/* kernel only: only the kernel has such keys */
	VHCA_OP_LSO		= 0x13,	/* UD: a large TCP packet of IPoIB, sent as segments */
};

#define VHCA_WQE_SIGNALED	(1U << 0)	/* completion wanted */
#define VHCA_WQE_SOLICITED	(1U << 1)
#define VHCA_WQE_FENCE		(1U << 2)	/* wait for earlier READs and atomics */
#define VHCA_WQE_INLINE		(1U << 3)	/* data follow instead of a gather list */
#define VHCA_WQE_IP_CSUM	(1U << 4)	/* UD, SEND: IPoIB; the device sets the checksums */

struct vhca_wqe_ctrl {
	__u8 opcode;		/* enum vhca_wqe_opcode */
	__u8 flags;		/* VHCA_WQE_* */
	__u8 nblk;		/* 64-byte blocks of this entry, 1..VHCA_WQE_MAX_BLOCKS */
	__u8 nsge;		/* gather entries, 0 when inline */
	union {
		__be32 imm;	/* immediate data, as it goes on the wire */
		__le32 inv_key;	/* SEND_INV, LOCAL_INV */
	};
	__le64 wr_id;		/* returned in the completion */
	__le32 index;		/* low 32 bits of the block count where this entry starts */
	__le32 inline_len;	/* bytes of inline data */
	__le32 xrc_srqn;	/* XRC_INI: number of the peer's SRQ; 0 for other QPs */
	__u8 rsvd[4];
};

static_assert(sizeof(struct vhca_wqe_ctrl) == 32);

struct vhca_wqe_raddr {
	__le64 addr;
	__le32 rkey;
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_wqe_raddr) == 16);

/*
 * The values here are little-endian.  The memory that the operation changes holds
 * values in the byte order of its host, aligned to eight bytes, and so does the
 * scatter entry, which receives the old value.
 *
 * CMP_SWAP stores swap_add if the value was compare.  FETCH_ADD adds swap_add.
 * Masked operations compare only the bits set in compare_mask and swap only those set
 * in mask; when they add, the carry out of a bit that is set in mask is dropped.
 * For operations without masks both are 0.
 */
struct vhca_wqe_atomic {
	__le64 swap_add;
	__le64 compare;
	__le64 mask;		/* bits to swap, or the highest bit of each field of a sum */
	__le64 compare_mask;
};

static_assert(sizeof(struct vhca_wqe_atomic) == 32);

#define VHCA_FLUSH_GLOBAL	(1U << 0)	/* visible to all readers of the memory */
#define VHCA_FLUSH_PERSISTENT	(1U << 1)
#define VHCA_FLUSH_RANGE	0
#define VHCA_FLUSH_MR		1		/* the whole region: length is 0 */

struct vhca_wqe_flush {
	__le32 length;
	__u8 type;		/* VHCA_FLUSH_GLOBAL and, or, PERSISTENT */
	__u8 level;		/* VHCA_FLUSH_RANGE or MR */
	__u8 rsvd[10];
};

static_assert(sizeof(struct vhca_wqe_flush) == 16);

/*
 * Bind a window to [addr, addr + length) of a region.  key is the window's new
 * key, which differs from the old one only in the low byte.  Length 0 unbinds a type 1 window;
 * it must not be 0 for type 2.
 */
struct vhca_wqe_bind {
	__le32 key;
	__le32 mr_key;		/* ignored with length 0 */
	__le64 addr;		/* an address of the region */
	__le64 length;
	__u8 access;		/* VHCA_ACCESS_REMOTE_* and ZERO_BASED */
	__u8 rsvd[7];
};

static_assert(sizeof(struct vhca_wqe_bind) == 32);

/* Register the first entries of the list that belongs to a FAST key. */
struct vhca_wqe_reg {
	__le32 key;		/* differs from the old key only in the low byte */
	__le32 entries;		/* of the list */
	__le64 iova;		/* page list: has the same offset in the page as the data */
	__le64 length;
	__u8 access;		/* VHCA_ACCESS_* */
	__u8 page_shift;	/* of a page list; VHCA_MKEY_FAST_SG: 0 */
	__u8 rsvd[6];
};

static_assert(sizeof(struct vhca_wqe_reg) == 32);

struct vhca_sge {
	__le64 addr;
	__le32 length;		/* 0 means 0 */
	__le32 lkey;
};

static_assert(sizeof(struct vhca_sge) == 16);

struct vhca_rwqe {
	__le64 wr_id;
	__le32 index;		/* low 32 bits of the receive count of this entry */
	__u8 nsge;
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_rwqe) == 16);

/* Address vector of a packet. */
struct vhca_av {
	__u8 dgid[16];
	__le32 flow_label;
	__le16 dlid;
	__u8 sl;
	__u8 src_path_bits;
	__u8 static_rate;		/* enum ib_rate */
	__u8 port;
	__u8 grh;			/* 1: dgid .. hop_limit are valid */
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 dmac[6];			/* Ethernet ports */
};

static_assert(sizeof(struct vhca_av) == 36);

/*
 * UD: the destination.  If bit 31 of qkey is set, the packet has the QP's own Q_Key
 * instead, which only the kernel can set to a privileged value.
 */
struct vhca_wqe_ud {
	struct vhca_av av;
	__le32 dqpn;
	__le32 qkey;
	__le16 pkey_index;	/* GSI: of the packet; other QPs have their own: 0 */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_wqe_ud) == 48);

/*
 * LSO: hlen bytes of headers (IPoIB, IP and TCP) follow, padded with zeros to a multiple of 16.
 * The gather list is the payload. It is sent in datagrams that each have the headers and mss
 * bytes of payload; the last one has the rest.
 */
struct vhca_wqe_lso {
	__le16 mss;		/* not 0 */
	__le16 hlen;		/* 1..VHCA_LSO_MAX_HEADER */
	__u8 rsvd[12];
};

static_assert(sizeof(struct vhca_wqe_lso) == 16);

#define VHCA_LSO_MAX_HEADER	128
#define VHCA_LSO_MAX_DATA	65536		/* bytes of the gather list */
/* Bytes of the segment and its header. */
#define VHCA_LSO_SIZE(hlen)	(sizeof(struct vhca_wqe_lso) + (((hlen) + 15) & ~15U))

/* Stride of a receive queue whose entries hold nsge scatter entries. */
#define VHCA_RWQE_SIZE(nsge)	(sizeof(struct vhca_rwqe) + (nsge) * sizeof(struct vhca_sge))

/* ------------------------------------------------------------------------
 * Completion queue entries
 *
 * The number of entries of the ring is a power of two.  The device writes owner last; an
 * entry is valid when (owner & VHCA_CQE_OWNER) equals the parity of the lap,
 * which starts at 1: lap bit = !((consumer count >> log2(entries)) & 1).
 */
#define VHCA_CQE_OWNER		(1U << 0)

enum vhca_cqe_opcode {			/* numbers are the device's own */
	VHCA_CQE_SEND		= 0x00,
	VHCA_CQE_WRITE		= 0x01,
	VHCA_CQE_READ		= 0x02,
	VHCA_CQE_CMP_SWAP	= 0x03,
	VHCA_CQE_FETCH_ADD	= 0x04,
	VHCA_CQE_MASKED_CMP_SWAP = 0x05,
	VHCA_CQE_MASKED_FETCH_ADD = 0x06,
	VHCA_CQE_ATOMIC_WRITE	= 0x07,
	VHCA_CQE_FLUSH		= 0x08,
	VHCA_CQE_LOCAL_INV	= 0x09,
	VHCA_CQE_BIND_MW	= 0x0a,
	VHCA_CQE_REG_MR		= 0x0b,
	VHCA_CQE_RECV		= 0x10,
	VHCA_CQE_RECV_WRITE_IMM	= 0x11,
};

enum vhca_cqe_status {			/* same order as enum ib_wc_status */
	VHCA_CS_SUCCESS		= 0,
	VHCA_CS_LOC_LEN_ERR	= 1,
	VHCA_CS_LOC_QP_OP_ERR	= 2,
	VHCA_CS_LOC_EEC_OP_ERR	= 3,
	VHCA_CS_LOC_PROT_ERR	= 4,
	VHCA_CS_WR_FLUSH_ERR	= 5,
	VHCA_CS_MW_BIND_ERR	= 6,
	VHCA_CS_BAD_RESP_ERR	= 7,
	VHCA_CS_LOC_ACCESS_ERR	= 8,
	VHCA_CS_REM_INV_REQ_ERR	= 9,
	VHCA_CS_REM_ACCESS_ERR	= 10,
	VHCA_CS_REM_OP_ERR	= 11,
	VHCA_CS_RETRY_EXC_ERR	= 12,
	VHCA_CS_RNR_RETRY_EXC_ERR = 13,
	VHCA_CS_REM_ABORT_ERR	= 16,
	VHCA_CS_FATAL_ERR	= 19,
	VHCA_CS_GENERAL_ERR	= 21,
};

/*
 * vendor_err of a completion with an error: why the request failed, in more detail than the
 * status says.  Numbers never change their meaning; new ones are added at the end.
 * "rdma-why --vendor-err NUMBER" prints the text.
 */
enum vhca_why {
	VHCA_WHY_NONE		= 0,
	VHCA_WHY_ENTRY_BLOCKS	= 1,
	VHCA_WHY_ENTRY_INDEX	= 2,
	VHCA_WHY_ENTRY_OPCODE	= 3,
	VHCA_WHY_ENTRY_RESERVED	= 4,
	VHCA_WHY_ENTRY_SEGMENT	= 5,
	VHCA_WHY_ENTRY_INLINE	= 6,
	VHCA_WHY_ENTRY_SGES	= 7,
	VHCA_WHY_ENTRY_LENGTH	= 8,
	VHCA_WHY_ENTRY_CHANGED	= 9,
	VHCA_WHY_NO_READS	= 10,
	VHCA_WHY_LOCAL_MEMORY	= 11,
	VHCA_WHY_REGISTER	= 12,
	VHCA_WHY_INVALIDATE	= 13,
	VHCA_WHY_BIND		= 14,
	VHCA_WHY_RECV_ENTRY	= 15,
	VHCA_WHY_RECV_SHORT	= 16,
	VHCA_WHY_RETRIES	= 17,
	VHCA_WHY_RNR_RETRIES	= 18,
	VHCA_WHY_NAK_REQUEST	= 19,
	VHCA_WHY_NAK_ACCESS	= 20,
	VHCA_WHY_NAK_OPERATION	= 21,
	VHCA_WHY_NAK_UNKNOWN	= 22,
	VHCA_WHY_ANSWER_LENGTH	= 23,
	VHCA_WHY_PEER_REQUEST	= 24,
	VHCA_WHY_PEER_ACCESS	= 25,
	VHCA_WHY_FLUSHED	= 26,
	VHCA_WHY_OFFLOAD	= 27,
};

/* Returns the text for a value of vendor_err, or a null pointer. */
static inline const char *vhca_why_text(unsigned int number)
{
	static const char *const text[] = {
		[VHCA_WHY_ENTRY_BLOCKS] =
			"the entry has no blocks, more than 16, or more than were rung",
		[VHCA_WHY_ENTRY_INDEX] = "the entry's index is not that of its place in the ring",
		[VHCA_WHY_ENTRY_OPCODE] =
			"the opcode is unknown, or none of this QP's type or adapter",
		[VHCA_WHY_ENTRY_RESERVED] =
			"the entry has an unknown flag, or a reserved field that is not 0",
		[VHCA_WHY_ENTRY_SEGMENT] =
			"a segment of the entry does not fit into it, or has invalid values",
		[VHCA_WHY_ENTRY_INLINE] =
			"inline data: not with this opcode, or more than the QP was made for",
		[VHCA_WHY_ENTRY_SGES] =
			"gather entries: too many, not with this opcode, or not as many as it has",
		[VHCA_WHY_ENTRY_LENGTH] =
			"longer than 2 GiB or, on UD, the port's MTU; no 8 bytes of an atomic, no 256 of a MAD",
		[VHCA_WHY_ENTRY_CHANGED] = "the entry was changed while it was carried out",
		[VHCA_WHY_NO_READS] =
			"the QP may have no READs and atomics under way: max_rd_atomic is 0",
		[VHCA_WHY_LOCAL_MEMORY] =
			"a key, right or bound of a gather or scatter entry is wrong, or the memory is gone",
		[VHCA_WHY_REGISTER] = "REG_MR: the key cannot be registered so",
		[VHCA_WHY_INVALIDATE] =
			"the key cannot be invalidated by this QP, or a window is bound to it",
		[VHCA_WHY_BIND] = "BIND_MW: the window or the region cannot be bound so",
		[VHCA_WHY_RECV_ENTRY] = "the receive is not a valid entry",
		[VHCA_WHY_RECV_SHORT] = "the message is longer than its receive",
		[VHCA_WHY_RETRIES] = "the peer did not answer, and all retries are used up",
		[VHCA_WHY_RNR_RETRIES] = "the peer had no receive, and all retries are used up",
		[VHCA_WHY_NAK_REQUEST] = "the peer says: invalid request",
		[VHCA_WHY_NAK_ACCESS] = "the peer says: no right to this memory",
		[VHCA_WHY_NAK_OPERATION] = "the peer says: it failed on its side",
		[VHCA_WHY_NAK_UNKNOWN] = "the peer refuses with a code that nobody knows",
		[VHCA_WHY_ANSWER_LENGTH] =
			"the peer's answer has another length than was asked for",
		[VHCA_WHY_PEER_REQUEST] =
			"the peer's request was invalid, or names a key that it may not end",
		[VHCA_WHY_PEER_ACCESS] = "the peer's request had no right to the memory it named",
		[VHCA_WHY_FLUSHED] =
			"the QP was in error, or was to send no more, before this was carried out",
		[VHCA_WHY_OFFLOAD] =
			"the adapter sets no checksums of such a datagram, or makes no segments of it",
	};

	return number < sizeof(text) / sizeof(text[0]) ? text[number] : (void *)0;
}

#define VHCA_CQE_F_IMM		(1U << 0)
#define VHCA_CQE_F_GRH		(1U << 1)
#define VHCA_CQE_F_SOLICITED	(1U << 2)
#define VHCA_CQE_F_RQ		(1U << 3)	/* completes a receive */
#define VHCA_CQE_F_INV		(1U << 4)	/* the sender has invalidated inv_key */
#define VHCA_CQE_F_XRC		(1U << 5)	/* receive of the XRC SRQ srqn */
#define VHCA_CQE_F_IPV4		(1U << 6)	/* with GRH: its last 20 bytes are an IPv4 header */
#define VHCA_CQE_F_VLAN		(1U << 7)	/* vlan is valid */

#define VHCA_CQE_X_CSUM_OK	(1U << 0)	/* IPoIB: IP, TCP and UDP checksums are right */

struct vhca_cqe {
	__le64 wr_id;
	__le64 timestamp;	/* device clock, see QUERY_DEVICE; 0 when not asked for */
	__le32 qpn;
	__le32 src_qpn;
	__le32 byte_len;	/* receives, READs and atomics */
	union {
		__be32 imm;
		__le32 inv_key;	/* VHCA_CQE_F_INV */
	};
	__le32 wqe_index;	/* count after the entry, of blocks (send) or strides; SRQ: 0 */
	__u8 opcode;		/* enum vhca_cqe_opcode; undefined in error except F_RQ */
	__u8 status;		/* enum vhca_cqe_status */
	__u8 vendor_err;	/* enum vhca_why, in error */
	__u8 flags;		/* VHCA_CQE_F_* */
	__le16 pkey_index;
	__le16 slid;
	__u8 sl;
	__u8 dlid_path_bits;
	__u8 port;		/* all completions of QP 0 and 1; receives of a UD QP */
	__u8 rsvd0;
	__le32 srqn;		/* VHCA_CQE_F_XRC */
	__le16 vlan;		/* tag: priority << 13 | VLAN */
	__u8 smac[6];		/* sender's MAC; receives of a UD or GSI QP of an Ethernet port */
	__u8 more_flags;	/* VHCA_CQE_X_* */
	__u8 rsvd[2];
	__u8 owner;
};

static_assert(sizeof(struct vhca_cqe) == 64);

/* ------------------------------------------------------------------------
 * uverbs private data
 */

/* Features of the ABI: each side sends those it knows; those that both know are used. */
#define VHCA_UCTX_F_TIMESTAMP	(1ULL << 0)
#define VHCA_UCTX_F_CLOCK	(1ULL << 1)	/* VHCA_METHOD_CLOCK_QUERY */

struct vhca_uctx_req {
	__aligned_u64 features;
};

static_assert(sizeof(struct vhca_uctx_req) == 8);

struct vhca_uctx_resp {
	__aligned_u64 features;
	__aligned_u64 kick_mmap;	/* mmap offset of the kick page, one page, write only */
	__aligned_u64 db_mmap;		/* mmap offset of doorbell page 0, read/write */
	__u32 max_inline;		/* bytes a send queue entry may carry inline */
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 hw_version;		/* major << 16 | minor */
	__u8 has_clock;
	__u8 uc_local_inv;		/* UC QPs have LOCAL_INV if send_ops has */
	__u8 rsvd[2];
	__u32 send_ops;			/* bit n: opcode n of enum vhca_wqe_opcode */
};

static_assert(sizeof(struct vhca_uctx_resp) == 48);

/*
 * Methods and attributes that the driver adds to the ioctl interface, with numbers of
 * the driver's range: for programs that import a context or a PD of another process,
 * and for programs that read the device's clock.
 */
#define VHCA_UVERBS_NS			(1U << 12)	/* UVERBS_ID_DRIVER_NS */

enum vhca_query_context_attr {
	VHCA_ATTR_QUERY_CONTEXT_RESP = VHCA_UVERBS_NS,	/* out: struct vhca_uctx_resp */
};

enum vhca_pd_method {
	VHCA_METHOD_PD_QUERY = VHCA_UVERBS_NS,
};

enum vhca_pd_query_attr {
	VHCA_ATTR_PD_QUERY_HANDLE = VHCA_UVERBS_NS,
	VHCA_ATTR_PD_QUERY_RESP,			/* out: struct vhca_alloc_pd_resp */
};

enum vhca_device_method {
	VHCA_METHOD_CLOCK_QUERY = VHCA_UVERBS_NS,
};

enum vhca_clock_query_attr {
	VHCA_ATTR_CLOCK_QUERY_RESP = VHCA_UVERBS_NS,	/* out: struct vhca_clock_query_resp */
};

/* The device's clock, and the host's before and after the device's was read. */
struct vhca_clock_query_resp {
	__aligned_u64 device;		/* as the time stamps of completions */
	__aligned_u64 real_before;	/* nanoseconds of CLOCK_REALTIME */
	__aligned_u64 real_after;
};

static_assert(sizeof(struct vhca_clock_query_resp) == 24);

struct vhca_alloc_pd_resp {
	__u32 pdn;
	__u32 rsvd;
};

static_assert(sizeof(struct vhca_alloc_pd_resp) == 8);

/* Ring of 1 << log_cqe entries in the caller's memory, page aligned. */
struct vhca_create_cq_req {
	__aligned_u64 buf_addr;
	__u32 log_cqe;
	__u32 rsvd;
};

static_assert(sizeof(struct vhca_create_cq_req) == 16);

struct vhca_create_cq_resp {
	__u32 cqn;
	__u32 db_slot;			/* consumer slot; arm record in the next one */
	__aligned_u64 db_mmap;		/* mmap offset of the doorbell page that holds them */
};

static_assert(sizeof(struct vhca_create_cq_resp) == 16);

/* Rings in the caller's memory, page aligned; VHCA_NO_QUEUE as a log: no such queue. */
#define VHCA_NO_QUEUE	0xff
struct vhca_create_qp_req {
	__aligned_u64 sq_addr;
	__aligned_u64 rq_addr;
	__u8 log_sq_blocks;		/* send ring: 1 << n blocks */
	__u8 log_rq_strides;		/* receive ring: 1 << n strides */
	__u8 log_rq_stride;		/* bytes of a stride: 1 << n */
	__u8 rsvd[5];
};

static_assert(sizeof(struct vhca_create_qp_req) == 24);

struct vhca_create_qp_resp {
	__u32 db_slot;			/* send slot; receive record in the next one */
	__u32 rsvd;
	__aligned_u64 db_mmap;
};

static_assert(sizeof(struct vhca_create_qp_resp) == 16);

struct vhca_create_ah_resp {
	struct vhca_av av;		/* for struct vhca_wqe_ud */
	__u32 rsvd;
};

static_assert(sizeof(struct vhca_create_ah_resp) == 40);

/* Ring of 1 << log_strides strides in the caller's memory, page aligned. */
struct vhca_create_srq_req {
	__aligned_u64 buf_addr;
	__u8 log_strides;
	__u8 log_stride;
	__u8 rsvd[6];
};

static_assert(sizeof(struct vhca_create_srq_req) == 16);

struct vhca_create_srq_resp {
	__u32 srqn;
	__u32 db_slot;			/* posted slot; taken record in the next one */
	__aligned_u64 db_mmap;
};

static_assert(sizeof(struct vhca_create_srq_resp) == 16);

/*
 * To resize an SRQ, copy each receive that was not taken to the new ring, at the index
 * that follows from its count, then issue the command.  Without a ring (log_strides is
 * VHCA_NO_QUEUE) only the limit changes.
 */
struct vhca_modify_srq_req {
	__aligned_u64 buf_addr;
	__u8 log_strides;
	__u8 rsvd[7];
};

static_assert(sizeof(struct vhca_modify_srq_req) == 16);

/*
 * To resize a CQ, make a ring in which no entry is valid from the consumer count on,
 * store the consumer record, issue the command, and copy the entries before first.
 */
struct vhca_resize_cq_req {
	__aligned_u64 buf_addr;
	__u32 log_cqe;
	__u32 rsvd;
};

static_assert(sizeof(struct vhca_resize_cq_req) == 16);

struct vhca_resize_cq_resp {
	__u32 first;			/* low 32 bits of the count of the first new entry */
	__u32 rsvd;
};

static_assert(sizeof(struct vhca_resize_cq_resp) == 8);

#endif /* VHCA_ABI_USER_H */
