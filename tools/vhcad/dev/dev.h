/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device's objects, for dev/ and engine/.  All of it belongs to whoever
 * holds the engine's lock; what other threads may touch says so.
 */
#ifndef VHCAD_DEV_H
#define VHCAD_DEV_H

#include "dev/device.h"
#include "dev/fault.h"
#include "dev/table.h"
#include "drivers/infiniband/hw/vhca/vhca_hw.h"
#include "engine/list.h"
#include "engine/timer.h"
#include "fabric/fabric.h"
#include "mem/mem.h"

struct engine;
struct recv_wqe;
struct vcq;
struct vqp;
struct vhca_dev;

/* Limits that QUERY_DEVICE tells and nobody changes; dev/limit.c has the others. */
#define VDEV_MAX_REG_ENTRIES	4096u
#define VDEV_LOG_MAX_CQE	22u
#define VDEV_LOG_MAX_EQE	20u
#define VDEV_LOG_MAX_BLOCKS	20u
#define VDEV_LOG_MAX_STRIDES	16u
#define VDEV_LOG_MIN_STRIDE	5u	/* one scatter entry */
#define VDEV_LOG_MAX_STRIDE	10u
#define VDEV_MAX_SGE		32u
#define VDEV_MAX_MODERATION	UINT16_MAX	/* entries, and microseconds */
#define VDEV_MAX_INLINE		(VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK - \
				 sizeof(struct vhca_wqe_ctrl) - sizeof(struct vhca_wqe_ud))
#define VDEV_MAX_MSG		(1u << 31)
#define VDEV_MAX_RD_ATOMIC	16u
#define VDEV_LOG_ADMIN_MAX	12u
#define VDEV_CLOCK_KHZ		1000000u	/* the engine's nanoseconds */
#define VDEV_ACK_DELAY		15u

/* QP numbers: slot below, generation above.  0 and 1 belong to the port. */
#define QPN_BITS		24u
#define QPN_FIRST_SLOT		2u
/* More slots than QPs, as those of dead ones rest; the generation stands above. */
#define QPN_SHIFT		17u
#define VDEV_QP_NUMBERS		(1u << QPN_SHIFT)

/* ------------------------------------------------------------------------
 * Buffers and rings in guest memory
 */
struct vbuf {
	u64 addr;
	u64 offset;
	u32 npages;
	u8 shift;
	u8 levels;
};

/**
 * vbuf_map - where a piece of a buffer lies
 * @mem: guest memory
 * @b: buffer
 * @off: first byte, from the buffer's start
 * @len: bytes, not 0; the piece is inside the buffer
 * @seg: receives DMA addresses, neighbours joined
 * @nseg: in: entries in use; out: with the new ones
 * @max: entries that fit
 *
 * Returns the bytes mapped: less than @len when @seg is full or when a page
 * list cannot be read (*@nseg < @max tells the two apart).
 */
u64 vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
	     struct dma_seg *seg, u32 *nseg, u32 max);

/** seg_add - join a piece to the last segment or open a new one; false: no room */
bool seg_add(struct dma_seg *seg, u32 *nseg, u32 max, u64 addr, u64 len);

/* A ring of power-of-two entries; a window of it is translated. */
struct vring {
	struct gmem_ref ref;
	u32 win;		/* ring offset of the window */
	u32 winlen;		/* 0: none */
	u32 winoff;		/* where in @ref the window starts */
	u32 bytes;
	/* for another window */
	bool write;
	struct vbuf buf;
};

/** vring_move - vring_at(), when the window is elsewhere */
int vring_move(struct guest_mem *mem, struct vring *r, u32 off, u32 *ref_off);

/**
 * vring_at - make part of a ring accessible
 * @mem: guest memory
 * @r: ring
 * @off: byte offset in the ring
 * @ref_off: receives the offset to use with r->ref
 *
 * Entries never straddle windows.  Returns 0 or -EFAULT.
 */
static inline int vring_at(struct guest_mem *mem, struct vring *r, u32 off, u32 *ref_off)
{
	if (off - r->win >= r->winlen)
		return vring_move(mem, r, off, ref_off);
	*ref_off = r->winoff + off - r->win;
	return 0;
}

/* ------------------------------------------------------------------------
 * Small objects
 */
struct vpd {
	struct vhca_dev *dev;
	u32 pdn;
	u32 users;
};

/* Who may send to which SRQs by XRC: QPs and SRQs of the same domain. */
struct vxrcd {
	struct vhca_dev *dev;
	u32 xrcdn;
	u32 users;
};

enum slot_kind {
	SLOT_FREE,
	SLOT_PASSIVE,		/* read when needed, never rung */
	SLOT_SEND,		/* owner: struct vqp */
	SLOT_RECV,		/* owner: struct vqp */
	SLOT_EQ,		/* owner: struct veq */
};

struct db_page {
	struct gmem_ref ref;
	struct db_page *next;	/* in its bucket */
	struct {
		void *owner;
		u8 kind;	/* enum slot_kind */
	} slot[VHCA_DB_SLOTS];
};

/* All doorbell pages of a device, found by address: none is two pages. */
#define DB_PAGE_BUCKETS		1024u

struct db_pages {
	u32 used;
	struct db_page **bucket;	/* made with the first one */
	u64 seed;
};

struct vuar {
	u32 uar;
	u32 users;
	u32 npages;
	u32 maxpages;
	struct db_page **page;
	bool hot;		/* looked at in every pass, not armed */
	u8 quiet;		/* passes without news */
	/* where the look at it goes on */
	u16 at_word;		/* of the summary, */
	u16 at_news;		/* and of the news of the first page of those left: */
	u64 left;		/* pages of this word with news that were not looked at yet */
	struct link hot_link;
};

/* A record in a doorbell page. */
struct dbrec {
	struct db_page *page;
	u32 off;
};

static inline int dbrec_load(struct dbrec *r, u64 *val)
{
	return dma_ref_load64_acquire(&r->page->ref, r->off, val);
}

static inline int dbrec_store(struct dbrec *r, u64 val)
{
	return dma_ref_store64_release(&r->page->ref, r->off, val);
}

/**
 * uar_slot_take - occupy a doorbell slot
 * @uar: UAR
 * @slot: number
 * @kind: enum slot_kind
 * @owner: object to tell
 * @rec: receives the record
 *
 * Returns 0, -EINVAL if there is no such slot, -EBUSY if it is taken.
 */
int uar_slot_take(struct vuar *uar, u32 slot, u8 kind, void *owner, struct dbrec *rec);

/** uar_init - no doorbell pages yet */
void uar_init(struct vhca_dev *dev);

/** uar_slot_give - free a slot */
void uar_slot_give(struct dbrec *rec);

/* ------------------------------------------------------------------------
 * Events
 */

/* Bits of a node, lowest told first. */
enum event_bit {
	EVB_COMPLETION,
	EVB_CQ_ERR,
	EVB_QP_FATAL,
	EVB_QP_REQ_ERR,
	EVB_QP_ACCESS_ERR,
	EVB_COMM_EST,
	EVB_SQ_DRAINED,
	EVB_LAST_WQE,
	EVB_PATH_MIG,
	EVB_PATH_MIG_ERR,
	EVB_SRQ_LIMIT,
	EVB_SRQ_ERR,
	EVB_PORT_ERR,
	EVB_PORT_ACTIVE,
	EVB_LID_CHANGE,
	EVB_PKEY_CHANGE,
	EVB_GID_CHANGE,
	EVB_SM_CHANGE,
	EVB_REREGISTER,
	EVB_DEVICE_FATAL,
};

/* Something that has events to tell; pending while its EQ is full. */
struct evnode {
	struct link link;
	u32 bits;
	u32 number;
	u8 port;
};

struct veq {
	struct vhca_dev *dev;
	u32 eqn;
	u32 users;
	u8 flags;
	u8 log;
	u32 vector;
	struct vuar *uar;
	struct dbrec rec_ci;
	struct dbrec rec_arm;
	struct vring ring;
	u32 pi;
	u32 ci;
	u64 told;		/* arm record that the last interrupt answered */
	struct link *pending;	/* nodes with bits set, oldest first */
	struct link own_pending;
	struct link flush_link;	/* of the device's rings to flush */
};

void evnode_init(struct evnode *n, u32 number);
/** evnode_fini - drop what was not told yet */
void evnode_fini(struct evnode *n);
/** eq_post - tell an event; kept pending when the EQ is full */
void eq_post(struct veq *eq, struct evnode *n, enum event_bit bit);
/** eq_async - tell an asynchronous event; waits for the async EQ to be made */
void eq_async(struct vhca_dev *dev, struct evnode *n, enum event_bit bit);
/** eq_flush - tell some of what is pending; how much.  The rest is left to eq_flush_soon() */
u32 eq_flush(struct veq *eq);
/** eq_flush_soon - the driver made room: the engine's next pass fills it */
void eq_flush_soon(struct veq *eq);

/* ------------------------------------------------------------------------
 * Memory keys
 */
/*
 * A region or a window.  Regions know how many windows are bound to them, and
 * windows of type 2 hang on their QP, so that neither outlives the other.
 */
struct vmkey {
	u32 key;		/* index and variant; FMR: the record has the variant */
	u8 access;		/* VHCA_ACCESS_*; FAST, windows: 0 when invalid */
	u8 type;		/* enum vhca_mkey_type */
	struct vpd *pd;
	u64 iova;		/* FMR: where the record is */
	u64 length;		/* FAST, windows: 0 when invalid */
	union {
		struct {
			struct vbuf buf;	/* or the list; npages: entries in use */
			u32 entries;		/* that fit in the list */
			u32 windows;		/* bound to this region */
		};
		struct {
			struct vmkey *mr;	/* the region; NULL: not bound */
			struct vqp *qp;		/* MW_2: whose window it is */
			u64 start;		/* the region's address that iova stands for */
			struct link in_qp;	/* MW_2 */
		} mw;
	};
};

static_assert(sizeof(struct vmkey) <= 72, "a million keys take 80 MB");

/* What an access needs besides being there. */
#define MKEY_READ_LOCAL		0u	/* always granted */
#define MKEY_WRITE_LOCAL	VHCA_ACCESS_LOCAL_WRITE
#define MKEY_READ_REMOTE	VHCA_ACCESS_REMOTE_READ
#define MKEY_WRITE_REMOTE	VHCA_ACCESS_REMOTE_WRITE
#define MKEY_ATOMIC_REMOTE	VHCA_ACCESS_REMOTE_ATOMIC

/**
 * mkey_find - may the peer use this key so?
 * @qp: the QP that is asked
 * @key: all 32 bits
 * @addr: first byte in the key's address space
 * @len: bytes; 0: whatever the address, the key alone counts
 * @access: VHCA_ACCESS_* that are needed, not 0
 *
 * The answer holds until the next command or send queue entry is carried out:
 * ask again, or map, for every packet.  Returns the key or NULL.
 */
struct vmkey *mkey_find(const struct vqp *qp, u32 key, u64 addr, u64 len, u32 access);

/* An atomic operation on eight bytes.  Values are numbers. */
struct matomic {
	u8 opcode;		/* VHCA_OP_*, of the send queue entry */
	u64 swap_add;		/* or the value of ATOMIC_WRITE */
	u64 compare;
	u64 mask;
	u64 compare_mask;
};

/**
 * mkey_atomic - carry out an atomic operation of the peer
 * @qp: the QP that is asked
 * @key: remote key
 * @addr: address in the key's space
 * @op: operation; the masks of masked ones alone count
 * @old: receives what was there before; 0 with ATOMIC_WRITE
 *
 * Returns 0, VHCA_CS_REM_INV_REQ_ERR when the word is not aligned, or
 * VHCA_CS_REM_ACCESS_ERR.  The memory is untouched then.
 */
u8 mkey_atomic(const struct vqp *qp, u32 key, u64 addr, const struct matomic *op, u64 *old);

/**
 * mkey_register - give a FAST or FAST_SG key its range and its variant
 * @qp: the QP whose send queue asks for it
 * @reg: private copy of the entry's segment
 *
 * Returns 0 or the status to complete with; nothing has changed then.  So do
 * the next two.
 */
u8 mkey_register(struct vqp *qp, const struct vhca_wqe_reg *reg);

/**
 * mkey_bind - bind a window
 * @qp: the QP whose send queue asks for it
 * @bind: private copy of the entry's segment
 */
u8 mkey_bind(struct vqp *qp, const struct vhca_wqe_bind *bind);

/**
 * mkey_invalidate - end a FAST or FAST_SG key or a window of type 2
 * @qp: the QP that asks for it, or whose peer does
 * @key: all 32 bits
 * @remote: the peer asks
 *
 * No byte passes through the key afterwards, whatever was under way.
 */
u8 mkey_invalidate(struct vqp *qp, u32 key, bool remote);

/** mkey_forget_qp - up to @most windows tied to a QP that goes are free; what is left of @most */
u32 mkey_forget_qp(struct vqp *qp, u32 most);

/* A native scatter/gather entry. */
struct sge {
	u64 addr;
	u32 len;
	u32 key;
};

/* A list of them, with the rules to apply. */
struct sglist {
	const struct sge *sge;
	u32 n;
	u32 access;
	const struct vpd *pd;
	const struct vqp *qp;	/* remote keys: of this QP, windows too; NULL: local keys */
};

/**
 * sgl_map - where a part of a scatter/gather list lies
 * @dev: device
 * @l: list
 * @off: first byte
 * @len: bytes, not 0
 * @seg: receives DMA addresses
 * @nseg: receives their number
 * @max: entries that fit
 *
 * Returns the bytes mapped.  Less than @len: @seg is full, a list of pieces was
 * long, or the byte behind them must not be accessed so; the last is certain
 * when there are none.
 */
u64 sgl_map(struct vhca_dev *dev, const struct sglist *l, u64 off, u64 len,
	    struct dma_seg *seg, u32 *nseg, u32 max);

/** sgl_read - copy a part of a list to private memory; the bytes that could be read */
u64 sgl_read(struct vhca_dev *dev, const struct sglist *l, u64 off, void *dst, u64 len);

#define NOT_ONE		UINT64_MAX

/**
 * sgl_one - where a part of a scatter/gather list lies that is in one piece
 * @dev: device
 * @l: list
 * @off: first byte
 * @len: bytes, not 0
 *
 * For the many that are short.  Returns the DMA address, or NOT_ONE: then
 * sgl_map() knows.
 */
u64 sgl_one(struct vhca_dev *dev, const struct sglist *l, u64 off, u64 len);

/** sgl_check - are all entries' keys, rights and bounds good? */
bool sgl_check(struct vhca_dev *dev, const struct sglist *l);

/* ------------------------------------------------------------------------
 * Completion queues
 */
struct vcq {
	struct vhca_dev *dev;
	u32 cqn;
	u32 users;
	u8 flags;		/* VHCA_CQ_* */
	u8 log;
	bool err;		/* overrun or not accessible: takes nothing more */
	struct veq *eq;
	struct vuar *uar;
	struct dbrec rec_ci;
	struct dbrec rec_arm;
	struct vring ring;
	u32 pi;
	u32 ci;
	u64 told;		/* arm record that the last event answered */
	u64 due;		/* arm record that an entry has met; told: none */
	struct link news;	/* on the engine's list: entries that met no arming yet */
	bool has_solicited;	/* among these, */
	u32 news_solicited;	/* and the count behind the last one */
	u32 mod_count;		/* entries that are worth an event */
	u32 mod_ns;		/* time that one is worth it */
	u32 since;		/* entries since the last event, mod_count at the most */
	u64 first;		/* when the first of these was written */
	struct timer timer;	/* runs while an event is due and waits for more */
	struct evnode compl;
	struct evnode async;
};

/**
 * cq_push - write a completion
 * @cq: CQ
 * @cqe: all but owner and timestamp; those are filled in
 * @solicited: counts as solicited for arming (errors do)
 *
 * The consumer sees it at once; who sleeps is told by cq_tell_news().
 *
 * Returns false when the CQ is in error, or came to be just now.
 */
bool cq_push(struct vcq *cq, struct vhca_cqe *cqe, bool solicited);

/**
 * cq_tell_news - tell those who wait of the entries written since the last call
 * @e: engine
 *
 * For the engine's loop, which does it soon after they were written.
 */
void cq_tell_news(struct engine *e);

/* ------------------------------------------------------------------------
 * Shared receive queues
 */
struct vsrq {
	struct vhca_dev *dev;
	u32 srqn;
	u32 users;
	u8 log, log_stride;
	bool err;		/* its ring or records fail: gives nothing more */
	struct vpd *pd;		/* whose memory the receives name */
	struct vuar *uar;
	struct dbrec rec_posted;
	struct dbrec rec_taken;
	struct vring ring;
	u32 taken;
	u32 posted;		/* known to be posted so far */
	u32 limit;		/* armed, or 0 */
	struct evnode async;
	/* XRC */
	struct vxrcd *xrcd;	/* NULL: of no domain */
	struct vcq *cq;		/* where its receives complete */
	struct link targets;	/* struct vqp: XRC_TGT whose peer has named it last */
};

/**
 * srq_take - take the next receive
 * @srq: SRQ
 * @w: receives the entry, which is the QP's to keep: the stride is free
 *
 * Returns VHCA_CS_SUCCESS, the status to complete it with, -EAGAIN when none is
 * posted, or -EFAULT when the SRQ is in error, or came to be just now.
 */
int srq_take(struct vsrq *srq, struct recv_wqe *w);

/* ------------------------------------------------------------------------
 * Multicast groups
 */
#define VMCG_BUCKETS	1024u

struct vmcg {
	struct vmcg *next;	/* in its bucket */
	u32 number;		/* in the table */
	u8 mgid[16];
	u16 mlid;
	u32 nqps;
	struct link qps;	/* struct vmcg_qp */
	struct vmcg_qp *paused;	/* where the last datagram that was too much at once stopped */
};

/* A QP in a group. */
struct vmcg_qp {
	struct link in_group;
	struct link in_qp;
	struct vmcg *group;
	struct vqp *qp;
	u64 number;		/* ascending in the group; from 1 */
};

/* A device's groups, found by GID and LID; the table is for those who want them all. */
struct vmcgs {
	struct table table;
	u32 attached;			/* struct vmcg_qp */
	struct vmcg *bucket[VMCG_BUCKETS];
	u64 last_number;	/* of a QP in a group */
	u64 seed[2];
};

/** mcg_init - no groups yet */
void mcg_init(struct vhca_dev *dev);
/** mcg_detach - a QP goes away, out of up to @most groups; what is left of @most */
u32 mcg_detach(struct vqp *qp, u32 most);

/* ------------------------------------------------------------------------
 * The device
 */
struct vport {
	struct fab_port fab;
	struct vhca_dev *dev;
	struct evnode ev;
	struct link no_room;		/* QPs that wait until it can send again */
	struct link no_room_link;
	struct vport_stats count;	/* all but what the fabric counts */
	struct vport_stats counted;	/* by counters, those included that are gone */
};

/* Counts what the QPs do that are bound to it, as their port does. */
struct vcounter {
	struct vport *port;
	u32 number;
	u32 users;		/* QPs */
	struct vport_stats count;
};

#define COUNTER_ADD(counter, what, n)	do {	\
		struct vcounter *c_ = (counter);	\
		u64 n_ = (n);				\
							\
		c_->count.what += n_;			\
		c_->port->counted.what += n_;		\
	} while (0)

/** counter_subtract - what is left of counters without others */
void counter_subtract(struct vport_stats *from, const struct vport_stats *s);
/** counter_tx, counter_rx - packets of a QP that is bound, before they are sent */
void counter_tx(struct vqp *qp, const struct run *run);
void counter_rx(struct vqp *qp, const struct run *run);
/** counter_bind - to another counter, or to none: NULL */
void counter_bind(struct vqp *qp, struct vcounter *counter);

/** vport_stats - everything that a port has counted */
void vport_stats(const struct vport *p, struct vport_stats *s);

struct admin_queue {
	u64 asq;
	u64 acq;
	u8 log;
	u32 vector;
	u32 head;		/* commands taken */
	u32 tail;		/* as the driver wrote it; atomic */
	u32 done;		/* completions written */
	u16 last_id;		/* of the command answered last */
	/* the command that is next has begun, and a fault has struck it or not */
	bool begun, struck;
	struct vfault fault;
};

struct vhca_dev {
	struct engine *engine;
	struct link link;		/* of engine's devices */
	struct guest_mem *mem;
	const struct vdev_host_ops *ops;
	void *host;
	char name[64];
	u64 node_guid;
	u64 caps;			/* 1 << enum vhca_cap */
	u32 version;
	u32 nports;
	u32 vectors;
	u32 kick_pages;
	u8 max_mtu;
	u8 node_desc[64];

	u32 status;			/* VHCA_STATUS_*; atomic */
	u32 fatal;			/* enum vhca_fatal; atomic */
	u32 reg[5];			/* ASQ_LO.. as written; socket thread only */
	u32 reg_vector;
	struct admin_queue admin;

	u64 *kicked;			/* a bit a UAR; atomic */
	bool any_kick;			/* atomic */
	struct link hot;		/* struct vuar */
	struct link flush;		/* struct veq that may have room for what is pending */

	u32 limit[VLIMITS];
	struct vmcgs mcgs;
	struct db_pages db_pages;
	struct table uars, eqs, pds, xrcds, mkeys, cqs, srqs, qps, counters;
	struct veq *async_eq;
	struct link async_pending;
	struct evnode ev;		/* DEVICE_FATAL */

	u64 debt;			/* ns that it has worked beyond its turns */
	struct link ready;		/* struct vqp with work */
	struct link ready_link;		/* on the engine's list while there are any */
	struct vfaults faults;
	struct vport port[VDEV_MAX_PORTS];
};

/** dev_live - enabled and not fatal */
static inline bool dev_live(const struct vhca_dev *dev)
{
	return dev->status == VHCA_STATUS_READY;
}

/** dev_cap - does the device have this capability? */
static inline bool dev_cap(const struct vhca_dev *dev, enum vhca_cap cap)
{
	return dev->caps >> cap & 1;
}

/** dev_access - VHCA_ACCESS_* that a region may have here */
static inline u32 dev_access(const struct vhca_dev *dev)
{
	u32 access = VHCA_ACCESS_ALL;

	if (!dev_cap(dev, VHCA_CAP_MW))
		access &= ~VHCA_ACCESS_MW_BIND;
	if (!dev_cap(dev, VHCA_CAP_FLUSH))
		access &= ~(VHCA_ACCESS_FLUSH_GLOBAL | VHCA_ACCESS_FLUSH_PERSISTENT);
	return access;
}

/** dev_fatal - stop the device; the driver must reset it */
void dev_fatal(struct vhca_dev *dev, enum vhca_fatal code);

/** dev_irq - raise a vector, VHCA_NO_VECTOR included, unless a fault loses it */
void dev_irq(struct vhca_dev *dev, u32 vector);

/** admin_poll - carry out at most @most commands; true if any was there */
bool admin_poll(struct vhca_dev *dev, u32 most);

/**
 * admin_answer - write the next completion
 * @dev: device
 * @e: all but the phase
 *
 * Returns 0, or -1 when the ring cannot be reached.
 */
int admin_answer(struct vhca_dev *dev, const struct vhca_acqe *e);

/* Destructors that reset uses too; they expect no users but the given ones. */
void uar_destroy(struct vhca_dev *dev, struct vuar *uar);
void eq_destroy(struct veq *eq);
/* windows come loose first */
void mkey_unbind(struct vmkey *mk);
void mkey_destroy(struct vhca_dev *dev, struct vmkey *mk);
void cq_destroy(struct vcq *cq);
void srq_destroy(struct vsrq *srq);
void xrcd_destroy(struct vxrcd *xrcd);
void counter_destroy(struct vhca_dev *dev, struct vcounter *counter);
void qp_destroy(struct vqp *qp);

/**
 * qp_let_go - before qp_destroy(): windows and groups, which may be very many
 * @qp: QP
 *
 * Returns false if there are more than can be let go in one stretch: it has to be called again.
 */
bool qp_let_go(struct vqp *qp);

#endif /* VHCAD_DEV_H */
