/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair: what it consists of.
 *
 * Receiving never sends: packets that arrive change state and mark the QP as having work;
 * acknowledgments, responses and requests leave when the QP has its turn.  So nothing recurses,
 * and acknowledgments coalesce by themselves.
 */
#ifndef VHCAD_QP_H
#define VHCAD_QP_H

#include "res/cq.h"
#include "res/dev.h"
#include "res/mkey.h"

struct recv_wqe;
struct vcounter;
struct vsrq;
struct vxrcd;

/* As enum ib_qp_state. */
enum qp_state {
	QPS_RESET,
	QPS_INIT,
	QPS_RTR,
	QPS_RTS,
	QPS_SQD,
	QPS_SQE,
	QPS_ERR,
};

/* Requests that are sent and not completed, at the most. */
#define TX_OUTSTANDING	128u
/* Packets that are sent and not acknowledged, at the most. */
#define TX_WINDOW	1024u
/*
 * The same in bytes when the peer is outside of the daemon, where a queue (ETHER_QUEUE) waits for a
 * slow guest: it has room for two windows, as after a loss.
 */
#define FAR_WINDOW	(96u << 10)
/* PSNs one READ request may ask for: keeps all distances below half the space. */
#define READ_MAX_PKTS	(1u << 22)
#define RNR_FOREVER	7u

#define CACHE_LINE	64u

/* As enum ib_mig_state. */
enum mig_state {
	MIG_MIGRATED,
	MIG_REARM,
	MIG_ARMED,
};

/* A request under way. */
struct tx_req {
	u64 wr_id;
	u64 raddr;
	u32 rkey;
	union {
		u32 imm;
		u32 inv_key;	/* SEND_INV, READ_INV */
	};
	u32 len;		/* bytes of the message */
	u32 blk;		/* where its entry starts */
	u32 psn;		/* of its first packet */
	u32 npkts;		/* PSNs it takes; 0: none (NOP, local, refused) */
	u32 ssn;
	u32 srqn;		/* XRC: which of the peer's */
	u8 opcode;
	u8 flags;
	u8 nblk;
	u8 status;		/* if not 0, completes with this in its turn, */
	u8 why;			/* enum vhca_why, the reason for @status */
	bool done;		/* local: executed; not again if sending starts over */
};

/* Reactions to a loss since the last progress. */
enum gap {
	GAP_NONE,
	GAP_BACK,		/* sends again from there */
	GAP_HURRY,		/* it was reported again: the timer was shortened */
	GAP_AGAIN,		/* sent again for that, too: only the timer is left */
};

/*
 * The requester.  Requests [head, tail) are under way; cur is the one being
 * sent, cur_pkt of its packets (PSNs) are out.  Going back to una resends.
 */
struct rc_requester {
	struct tx_req *q;	/* behind the QP, in one piece with it */
	u32 qmask;
	u32 head, cur, tail;	/* free running */
	u32 cur_pkt;
	u32 una;		/* oldest PSN not acknowledged */
	u32 nxt;		/* next PSN to send */
	u32 max;		/* behind the highest PSN that may ever have arrived */
	u32 new_psn;		/* of the next new request */
	u32 blk_prod;		/* as rung */
	u32 blk_next;		/* next entry to take */
	u32 ssn;		/* of the newest request */
	u32 lsn;		/* limit by credits */
	bool lsn_valid;
	bool stopped;		/* a refused request is queued: take no more */
	bool rnr_wait;
	u8 gap;			/* enum gap */
	bool leftover;		/* entries up to leftover_end are from SQE: flush them */
	bool late;		/* the timer has fired, and little was acknowledged since */
	union {
		u32 leftover_end;	/* UC, UD */
		u32 late_una;		/* @una when the timer fired */
	};
	u8 retry_left;
	u8 rnr_left;
	u8 reads;		/* answered requests (READs, atomics ...) under way */
	struct timer timer;	/* acknowledgment, or RNR while rnr_wait */
};

/* A READ, an atomic or a flush that the responder has received, and its answer. */
struct resp_res {
	u8 kind;		/* enum wire_kind of the request */
	u32 psn;
	u32 npkts;
	u32 lap;		/* wraps of PSNs before @psn, see @lap of the responder */
	u64 orig;		/* atomics: what was there before */
	u64 va;
	u32 rkey;
	u32 srqn;		/* XRC: the SRQ whose PD has the memory */
	u32 len;
	u32 start;		/* first packet to answer this time, */
	u32 sent;		/* the next one to send */
	u32 end;		/* and the one behind the last */
	u32 end_off;		/* byte behind the last one to send */
	u32 msn;
	bool queued;
	bool again;		/* the queued answer is a repetition */
};

/* What a responder waits for that has sent a NAK and sends no other until epsn arrives. */
enum quiet {
	QUIET_NOT,
	QUIET_FOR_RECV,		/* epsn has arrived, and found no receive */
	QUIET_FOR_PSN,		/* epsn was lost */
};

/* The responder. */
struct rc_responder {
	u32 epsn;		/* next PSN expected, */
	u32 lap;		/* how often the PSN has wrapped before it */
	u32 msn;
	u32 heard;		/* QUIET_FOR_PSN: PSN behind the last packet that came instead, */
	u32 told;		/* and behind the last one that a NAK was sent for */
	u8 kind;		/* enum wire_kind of the message under way */
	u8 quiet;		/* enum quiet */
	bool ack;		/* an answer is due, behind the READ answers */
	bool closing;		/* it is a NAK that ends the connection */
	bool comm_est;
	bool lost;		/* UC: a gap was noticed, and no first packet since */
	u8 syndrome;
	u8 event;		/* enum event_bit to send with the error, or 0 */
	u8 res_next;		/* entry of @res for the next answer: the oldest */
	u8 fifo_head;
	u8 fifo_n;
	u32 done;		/* bytes of the message placed */
	u64 va;			/* WRITE: where the message goes */
	u32 rkey;
	u32 dmalen;
	struct resp_res *res;	/* ring of max_dest_rd_atomic answers */
	u8 fifo[VDEV_MAX_RD_ATOMIC];	/* answers to send, in order */
};

/* The receive that the message under way has taken. */
struct qp_recv {
	u32 next;		/* receives taken so far */
	u32 posted;		/* own ring: known to be posted so far */
	bool taken;		/* the last of them is not complete yet */
	u8 status;		/* VHCA_CS_* that it completes with */
	bool last_told;		/* SRQ: LAST_WQE event was sent: it takes no more */
	u32 room;		/* its bytes */
	u64 wr_id;
	struct vpd *pd;		/* PD of its memory */
	struct recv_wqe *kept;	/* SRQ: the entry, unless the worker has it loaded */
};

/* Are the type and the level of a flush defined? */
static inline bool flush_known(u8 type, u8 level)
{
	return type && !(type & ~(VHCA_FLUSH_GLOBAL | VHCA_FLUSH_PERSISTENT)) &&
	       level <= VHCA_FLUSH_MR;
}

/*
 * Many QPs have their turns one after the other and none of them stays in a
 * cache: members that a message needs are next to each other, the others behind.
 */
struct vqp {
	struct vhca_dev *dev;
	u32 qpn;
	u8 type;		/* enum vhca_qp_type */
	u8 service;		/* enum wire_service, of that type */
	u8 state;		/* enum qp_state */
	u8 flags;		/* VHCA_QP_* */
	bool draining : 1;	/* SQD: requests are still under way */
	bool counted : 1;	/* bound to a counter of its port */
	u8 mig : 2;		/* enum mig_state */
	u8 log_sq, log_rq, log_stride;	/* VHCA_NO_QUEUE: no such queue */
	u16 pkey;		/* of pkey_index, when RTR */
	u16 mtu;		/* bytes */
	u32 changes;		/* count of the port's, by which @pkey, @mtu and @path are valid */
	u16 max_inline;
	u16 slice;		/* number of its last slice, as the worker counts them */
	struct vpd *pd;
	struct vport *port;
	struct list_head ready_node;
	/* used when a message is sent and when it is acknowledged */
	struct rc_requester req __attribute__((aligned(CACHE_LINE)));
	struct dbrec rec_send;
	struct wire_path path;	/* headers every packet shares */
	struct vcq *scq, *rcq;
	struct vqp_stats stats;
	/* used when a message is received */
	struct vsrq *srq;	/* where receives come from; NULL: rq.  XRC_TGT: named last */
	struct rc_responder resp;
	struct qp_recv recv;
	struct evnode ev;
	struct vcounter *counter;	/* or NULL; @counted tells whether it counts */
	union {
		struct fab_cursor group;	/* progress of the multicast that is being sent */
		struct list_head in_srq;	/* XRC_TGT: on the list of the SRQ named last */
	};
	struct vhca_qp_attr attr __attribute__((aligned(CACHE_LINE)));
				/* as set last, little-endian */
	u8 mig_err_told;	/* bits: wrong paths that had an event since rearming */
	u8 lead;		/* bytes of its memory before it, which align it */
	struct vring sq;
	struct vuar *uar;
	struct mkey_owner keys;		/* windows of type 2 that are bound */
	union {
		struct list_head mcgs;	/* struct vmcg_qp */
		struct vxrcd *xrcd;	/* XRC_TGT */
	};
	struct vring rq;
	struct tx_req requests[];	/* @req.q */
};

/* Is what an entry of a QP's ring needs in one line? */
#define RING_IN_LINE(ring)	(offsetof(struct vqp, ring.ref) / CACHE_LINE == \
				 offsetof(struct vqp, ring.bytes) / CACHE_LINE)

static_assert(RING_IN_LINE(sq) && RING_IN_LINE(rq), "a message needs few lines");
static_assert(sizeof(struct vqp) <= 13 * CACHE_LINE, "100,000 QPs take 83 MB");

/* Does the transport acknowledge and retransmit? */
static inline bool qp_reliable(const struct vqp *qp)
{
	return qp->type == VHCA_QPT_RC || qp->type >= VHCA_QPT_XRC_INI;
}

static inline bool qp_is_target(const struct vqp *qp)
{
	return qp->type == VHCA_QPT_XRC_TGT;
}

/* Is it QP 0 or QP 1 of a port?  Its number is that of its type. */
static inline bool qp_is_special(const struct vqp *qp)
{
	return qp->type < VHCA_SPECIAL_QPS;
}

/* Does it send datagrams, each to an address of its own? */
static inline bool qp_datagrams(const struct vqp *qp)
{
	return qp->service == WIRE_UD;
}

/* Is it in multicast groups? */
static inline bool qp_in_groups(const struct vqp *qp)
{
	return !qp_is_target(qp) && !list_empty(&qp->mcgs);
}

/* Does it share its receives with other QPs? */
static inline bool qp_shares(const struct vqp *qp)
{
	return qp->flags & VHCA_QP_SRQ || qp_is_target(qp);
}

/** qp_rec_recv() - the receive record, which is the second one */
static inline struct dbrec qp_rec_recv(const struct vqp *qp)
{
	return dbrec_second(&qp->rec_send);
}

/** qpn_index() - where a QP number stands in its device's table */
static inline u32 qpn_index(u32 qpn)
{
	return qpn & ((1u << QPN_SHIFT) - 1);
}

/** qp_find() - the QP of a number, generation included, or NULL; also for a port's QP 0 and 1 */
static inline struct vqp *qp_find(struct vhca_dev *dev, u32 qpn)
{
	struct vqp *qp = table_get(&dev->qps, qpn_index(qpn));

	return qp && qp->qpn == qpn ? qp : NULL;
}

/** qp_scope() - scope of a key that a QP's peer has named */
static inline struct mkey_scope qp_scope(const struct vqp *qp)
{
	return (struct mkey_scope){ .dev = qp->dev, .pd = qp->pd, .owner = &qp->keys };
}

/** qp_local_scope() - scope of keys that a QP's own entry names, in a PD */
static inline struct mkey_scope qp_local_scope(const struct vqp *qp, const struct vpd *pd)
{
	return (struct mkey_scope){ .dev = qp->dev, .pd = pd };
}

/** qp_mkey_find() - mkey_find() for a key that a QP's peer has named */
static inline struct vmkey *qp_mkey_find(const struct vqp *qp, u32 key, u64 addr, u64 len,
					 u32 access)
{
	struct mkey_scope s = qp_scope(qp);

	return mkey_find(&s, key, addr, len, access);
}

/** qp_mkey_invalidate() - mkey_invalidate() for a QP */
static inline u8 qp_mkey_invalidate(const struct vqp *qp, u32 key, bool remote)
{
	struct mkey_scope s = qp_scope(qp);

	return mkey_invalidate(&s, key, remote);
}

#endif /* VHCAD_QP_H */
