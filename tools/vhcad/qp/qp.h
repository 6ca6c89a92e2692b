/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs and their transports.
 *
 * Receiving never sends: packets that arrive change state and mark the QP as
 * having work; acknowledgments, responses and requests leave when the QP has
 * its turn.  So nothing recurses, and acknowledgments coalesce by themselves.
 */
#ifndef VHCAD_QP_H
#define VHCAD_QP_H

#include "dev/listing.h"
#include "qp/wqe.h"

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
	u8 status;		/* completes with this when its turn comes, */
	u8 why;			/* enum vhca_why, for this reason */
	bool done;		/* local: carried out, also if sending comes by again */
};

/* What was done about a loss, since there was progress. */
enum gap {
	GAP_NONE,
	GAP_BACK,		/* went back to it */
	GAP_HURRY,		/* it is told of again: the timer will not wait for its end */
	GAP_AGAIN,		/* went back for that, too: only the timer can help now */
};

/*
 * The requester.  Requests [head, tail) are under way; cur is the one being
 * sent, cur_pkt of its packets (PSNs) are out.  Going back to una resends.
 */
struct rc_requester {
	struct tx_req *q;
	u32 qmask;
	u32 head, cur, tail;	/* free running */
	u32 cur_pkt;
	u32 una;		/* oldest PSN not acknowledged */
	u32 nxt;		/* next PSN to send */
	u32 max;		/* behind the highest PSN ever sent */
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
	u32 leftover_end;
	u8 retry_left;
	u8 rnr_left;
	u8 reads;		/* READs, atomics and what else is answered under way */
	struct timer timer;	/* acknowledgment, or RNR while rnr_wait */
};

/* A READ, an atomic or a flush that the responder has seen, and its answer. */
struct resp_res {
	u8 kind;		/* enum wire_kind of the request */
	u32 psn;
	u32 npkts;
	u32 lap;		/* in which @psn was meant, as that of the responder */
	u64 orig;		/* atomics: what was there before */
	u64 va;
	u32 rkey;
	u32 srqn;		/* XRC: whose memory it is */
	u32 len;
	u32 start;		/* first packet to answer this time, */
	u32 sent;		/* the next one to send */
	u32 end;		/* and the one behind the last */
	u32 end_off;		/* byte behind the last one to send */
	u32 msn;
	bool queued;
	bool again;		/* and it has been sent before */
};

/* What a responder waits for that has sent a NAK and says nothing else until epsn arrives. */
enum quiet {
	QUIET_NOT,
	QUIET_FOR_RECV,		/* it was there, without a receive */
	QUIET_FOR_PSN,		/* it got lost */
};

/* The responder. */
struct rc_responder {
	u32 epsn;		/* next PSN expected, */
	u32 lap;		/* and how often PSNs have begun at 0 again before it */
	u32 msn;
	u32 heard;		/* QUIET_FOR_PSN: PSN behind the last packet that came instead, */
	u32 told;		/* and behind the last one that got an answer */
	u8 kind;		/* enum wire_kind of the message under way */
	u8 quiet;		/* enum quiet */
	bool ack;		/* an answer is due, behind the READ answers */
	bool closing;		/* it is a NAK that ends the connection */
	bool comm_est;
	bool lost;		/* UC: a gap was noticed, and no first packet since */
	u8 syndrome;
	u8 event;		/* enum event_bit to tell with the error, or 0 */
	u32 done;		/* bytes of the message placed */
	u64 va;			/* WRITE: where the message goes */
	u32 rkey;
	u32 dmalen;
	struct resp_res *res;	/* ring of max_dest_rd_atomic answers */
	u8 res_next;		/* entry for the next one: the oldest */
	u8 fifo[VDEV_MAX_RD_ATOMIC];	/* answers to send, in order */
	u8 fifo_head;
	u8 fifo_n;
};

/* The receive that the message under way has taken. */
struct qp_recv {
	u32 next;		/* receives taken so far */
	u32 posted;		/* own ring: known to be posted so far */
	bool taken;		/* the last of them is not completed yet */
	u8 status;		/* VHCA_CS_*: what it is good for */
	bool last_told;		/* SRQ: that it takes no more */
	u32 room;		/* its bytes */
	u64 wr_id;
	struct vpd *pd;		/* whose memory it names */
	struct recv_wqe *kept;	/* SRQ: the entry, unless the engine has it loaded */
};

/* Are these numbers of a flush ones that mean something? */
static inline bool flush_known(u8 type, u8 level)
{
	return type && !(type & ~(VHCA_FLUSH_GLOBAL | VHCA_FLUSH_PERSISTENT)) &&
	       level <= VHCA_FLUSH_MR;
}

/*
 * Many QPs have their turn one after the other and none of them is in a cache
 * for long: what a message needs stands together, what it does not behind it.
 */
struct vqp {
	struct vhca_dev *dev;
	u32 qpn;
	u8 type;		/* enum vhca_qp_type */
	u8 service;		/* enum wire_service, of that type */
	u8 state;		/* enum qp_state */
	u8 flags;		/* VHCA_QP_* */
	bool draining;		/* SQD: requests are still under way */
	u8 mig;			/* enum mig_state */
	u8 log_sq, log_rq, log_stride;	/* VHCA_NO_QUEUE: no such queue */
	bool counted;		/* bound to a counter */
	u16 pkey;		/* of pkey_index, when RTR */
	u32 mtu;		/* bytes */
	u16 max_inline;
	u16 slice;		/* of the engine's, the last one that it had */
	struct vpd *pd;
	struct vport *port;
	struct list_head ready_link;
	/* both ways of a message that is sent */
	struct rc_requester req __attribute__((aligned(CACHE_LINE)));
	struct dbrec rec_send;
	struct wire_path path;	/* headers every packet shares */
	struct vcq *scq, *rcq;
	struct vqp_stats stats;
	/* and of one that is received */
	struct vsrq *srq;	/* where receives come from; NULL: rq.  XRC_TGT: named last */
	struct rc_responder resp;
	struct qp_recv recv;
	struct vhca_qp_attr attr __attribute__((aligned(CACHE_LINE)));
				/* as set last, little-endian */
	struct vuar *uar;
	struct vxrcd *xrcd;		/* XRC_TGT */
	struct vring sq __attribute__((aligned(CACHE_LINE)));
	struct list_head windows;		/* struct vmkey, of type 2, that are bound */
	struct list_head mcgs;		/* struct vmcg_qp */
	struct vring rq __attribute__((aligned(CACHE_LINE)));
	struct dbrec rec_recv;
	struct list_head in_srq;		/* XRC_TGT: with the others that name the SRQ */
	struct evnode ev;
	struct vcounter *counter;	/* or NULL, which @counted tells where it is at hand */
	struct fab_cursor group;	/* how far the multicast has come that is being sent */
	u8 mig_err_told;	/* wrong paths that were told of since it was to arm, as bits */
};

/* Does the transport acknowledge, and send again? */
static inline bool qp_reliable(const struct vqp *qp)
{
	return qp->type == VHCA_QPT_RC || qp->type >= VHCA_QPT_XRC_INI;
}

static inline bool qp_is_target(const struct vqp *qp)
{
	return qp->type == VHCA_QPT_XRC_TGT;
}

/* Are its receives those of others too? */
static inline bool qp_shares(const struct vqp *qp)
{
	return qp->flags & VHCA_QP_SRQ || qp_is_target(qp);
}

/* qp.c */
/** qp_find - by number, generation included */
struct vqp *qp_find(struct vhca_dev *dev, u32 qpn);
/** qp_follow_port - the port's LID, P_Keys or GIDs changed */
void qp_follow_port(struct vqp *qp);
/** qp_error - enter the error state; both queues will be flushed */
void qp_error(struct vqp *qp);
/** qp_error_event - the same, and tell the driver why */
void qp_error_event(struct vqp *qp, enum event_bit bit);
/**
 * qp_send_error - a request has failed
 *
 * A reliable connection fails with it.  The others only stop sending.
 */
void qp_send_error(struct vqp *qp);
/** qp_recv_error - the receive that is taken fails, and the QP with it */
void qp_recv_error(struct vqp *qp, u8 status);
/** qp_complete_send - completion of a send queue entry, if one is wanted */
void qp_complete_send(struct vqp *qp, const struct tx_req *t, u8 status);
/** qp_complete_recv - completion of the receive that is taken */
void qp_complete_recv(struct vqp *qp, struct vhca_cqe *cqe, u8 status, bool solicited);

/* Does a message end with this run? */
static inline bool ends_message(const struct run *run)
{
	return run->last && run->kind != WIRE_ACK && run->kind != WIRE_READ_RESP &&
	       run->kind != WIRE_ATOMIC_ACK;
}

/* Something that the port counts, and the QP's counter. */
#define QP_COUNT(qp, what, n)	do {			\
		const struct vqp *q_ = (qp);		\
		u64 m_ = (n);				\
							\
		q_->port->count.what += m_;		\
		if (q_->counted)			\
			COUNTER_ADD(q_->counter, what, m_);	\
	} while (0)

/** qp_count_rx - packets for a QP arrived */
static inline void qp_count_rx(struct vqp *qp, const struct run *run)
{
	qp->stats.rx_packets += run->npkts;
	qp->stats.rx_bytes += run->len;
	qp->stats.rx_msgs += ends_message(run);
	if (qp->counted)
		counter_rx(qp, run);
}

/** qp_count_tx - packets of a QP leave */
static inline void qp_count_tx(struct vqp *qp, const struct run *run)
{
	qp->stats.tx_packets += run->npkts;
	qp->stats.tx_bytes += run->len;
	qp->stats.tx_msgs += ends_message(run);
	if (qp->counted)
		counter_tx(qp, run);
}

/**
 * qp_send - let packets out
 *
 * Returns false if that has put the QP itself into the error state: it may be
 * its own peer, and the packets have arrived by then.
 */
static inline bool qp_send(struct vqp *qp, struct run *run)
{
	qp_count_tx(qp, run);
	fab_send(&qp->port->fab, run);
	return qp->state != QPS_ERR;
}

/* qp/migrate.c */
/**
 * qp_migrate - from now on the alternate path is the path
 * @qp: MIG_ARMED; it has no alternate path afterwards
 */
void qp_migrate(struct vqp *qp);
/** qp_set_path - headers that follow from the attributes, or from what the port has now */
void qp_set_path(struct vqp *qp);
/**
 * qp_follow_peer - packets came along another path than the QP's
 * @qp: receiver
 * @p: port where they arrived
 * @h: headers
 *
 * If the peer has migrated to the alternate path, so does the QP.  Returns false if the packets
 * are not for it.
 */
bool qp_follow_peer(struct vqp *qp, const struct vport *p, const struct wire_hdr *h);

/* requester.c: what leaves */
/** req_reset - start over, with @psn as the first PSN */
void req_reset(struct vqp *qp, u32 psn);
/** req_run - send; true if there is more to do now.  Budgets are used up */
bool req_run(struct vqp *qp, u32 *bytes, u32 *wqes);
/** req_timeout - the timer fired */
void req_timeout(struct timer *t);
/** req_take - take the next entry of the send queue; false: there is none to take now */
bool req_take(struct vqp *qp);
/**
 * req_fill - the next packets of the request being sent
 * @qp: QP
 * @t: the request
 * @n: packets at the most; fewer when their payload lies in too many pieces
 * @run: filled in
 * @pl: filled in unless there is no payload
 *
 * Returns 0 or a status.
 */
int req_fill(struct vqp *qp, const struct tx_req *t, u32 n, struct run *run, struct payload *pl);

/* onesided.c */
/**
 * req_fill_single - the one packet of an atomic, an atomic write or a flush
 * @qp: QP
 * @t: the request
 * @run: filled in
 * @pl: filled in if there is payload
 *
 * Returns 0 or a status.
 */
int req_fill_single(struct vqp *qp, const struct tx_req *t, struct run *run, struct payload *pl);
/** req_local - carry a local operation out; 0 or a status */
u8 req_local(struct vqp *qp, const struct tx_req *t);

/* gather.c */
/**
 * gather - payload of the next packets
 * @qp: sender
 * @l: where their bytes are
 * @off: first byte in it
 * @len: bytes, not 0
 * @pl: filled in
 *
 * What lies in too many pieces is copied to the engine, a packet at a time.
 * Returns @len or the bytes of as many whole packets as there are; 0 when not
 * even one can be had.
 */
u32 gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl);

/* requester.c again */
/** req_drained - if the QP drains, is that over? */
void req_drained(struct vqp *qp);
/** req_doorbell - the send record was rung, or may have been */
void req_doorbell(struct vqp *qp);
/** req_reload - the entry of a request under way; a status if it is not the same any more */
int req_reload(struct vqp *qp, const struct tx_req *t, struct send_wqe *w);

/* req_rx.c: what comes back */
void req_rx_ack(struct vqp *qp, struct run *r);
void req_rx_read(struct vqp *qp, struct run *r);
void req_rx_atomic(struct vqp *qp, struct run *r);
/** req_settle - complete what needs no (more) acknowledgment */
void req_settle(struct vqp *qp);
/** req_rewind - send everything again from the oldest unacknowledged PSN */
void req_rewind(struct vqp *qp);
/** req_retry - count a retry and rewind; the QP fails when none is left */
void req_retry(struct vqp *qp);
/** req_fail - the oldest request fails, the QP with it */
void req_fail(struct vqp *qp, u8 status);
/** req_arm - (re)start or stop the acknowledgment timer */
void req_arm(struct vqp *qp);

/* recv.c */
/**
 * recv_take - take the next receive, unless one is taken
 *
 * Returns 0, with its entry in the engine's rx_wqe; -EAGAIN: none is posted;
 * -EFAULT: they cannot be read, and the QP has failed; or the VHCA_CS_* that the
 * one which is taken now must complete with.
 */
int recv_take(struct vqp *qp);
/**
 * recv_load - get the entry of the receive taken into the engine's rx_wqe again
 *
 * recv_take() gave 0 for it.  Returns 0, or a VHCA_CS_* when it is not what it
 * was any more.
 */
int recv_load(struct vqp *qp);

/* xrc.c */
/** xrc_find - the SRQ of a target's domain that has this number, or NULL */
struct vsrq *xrc_find(const struct vqp *qp, u32 srqn);
/**
 * xrc_turn - serve a request that names an SRQ
 * @qp: target
 * @run: the packets
 *
 * Receives, keys and completions are those of that SRQ until the next call.
 * Returns false if it is none that the peer may name now.
 */
bool xrc_turn(struct vqp *qp, const struct run *run);
/** xrc_leave - a target goes away */
void xrc_leave(struct vqp *qp);
/**
 * xrc_forget_srq - an SRQ goes away, and the receives that targets hold of it
 * @srq: SRQ
 * @most: targets to part from it at the most
 *
 * Returns false if there may be more.
 */
bool xrc_forget_srq(struct vsrq *srq, u32 most);

/* unreliable.c: what leaves of UC and UD */
/** unreliable_run - as req_run() */
bool unreliable_run(struct vqp *qp, u32 *bytes, u32 *wqes);
/** unreliable_resume - from SQE to RTS */
void unreliable_resume(struct vqp *qp);

/* uc.c */
void uc_rx(struct vqp *qp, struct run *r);

/* ud.c */
/** ud_address - fill in where a datagram goes; 0 or a status */
int ud_address(struct vqp *qp, const struct tx_req *t, struct run *run);
/** ud_completion - what the completions of all who get a datagram have in common */
struct vhca_cqe ud_completion(const struct run *run);
/** ud_rx - a datagram for this QP, and perhaps for others next: @cqe can serve them all */
void ud_rx(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe);

/* qp/mcg.c */
/** mcg_rx - a multicast, for the QPs of its group */
void mcg_rx(struct vport *p, struct datagram *d);

/* Same partition, and not both limited members. */
static inline bool pkey_match(u16 a, u16 b)
{
	return (a & ~PKEY_FULL) == (b & ~PKEY_FULL) && (a | b) & PKEY_FULL;
}

/** rx_pkey_ok - are the packets of the QP's partition?  Counts them if not */
static inline bool rx_pkey_ok(struct vqp *qp, const struct run *run)
{
	if (pkey_match(run->h.pkey, qp->pkey))
		return true;
	QP_COUNT(qp, pkey_violations, run->npkts);
	return false;
}

/* av.c */
#define AV_GOOD	UINT32_MAX
/**
 * av_check - may a QP of this port send there?
 * @av: address vector
 * @port: the QP's
 * @groups: multicast LIDs are allowed
 *
 * Returns AV_GOOD, or the offset of the field that is wrong.
 */
u32 av_check(const struct vhca_av *av, u8 port, bool groups);
/** av_path - headers that follow from an address vector */
void av_path(const struct vhca_av *av, const struct vport *p, struct wire_path *h);

/* responder.c */
/** resp_advance - n PSNs more are taken */
static inline void resp_advance(struct rc_responder *s, u32 n)
{
	u64 next = (u64)s->epsn + n;

	s->lap += next >> PSN_BITS;
	s->epsn = next & PSN_MASK;
}

/** resp_heard - the peer has sent something; an event, the first time in RTR */
void resp_heard(struct vqp *qp);
/**
 * resp_place - write payload to where a list says
 * @qp: receiver
 * @run: the packets
 * @l: list
 * @off: first byte in it
 * @len: bytes of the run, from its first
 *
 * Returns the bytes placed; fewer when the list, or the sender's memory
 * (payload.fault), fails.
 */
u32 resp_place(struct vqp *qp, const struct run *run, const struct sglist *l, u64 off,
	       u32 len);
void resp_reset(struct vqp *qp, u32 psn);
void resp_rx(struct vqp *qp, struct run *r);
/** resp_close - answer with a NAK that ends the connection */
void resp_close(struct vqp *qp, enum aeth_nak code, u8 recv_status, enum event_bit event);
/** resp_refuse - the same, for a request that is invalid */
void resp_refuse(struct vqp *qp);
/** resp_no_access - the same, for one that has no right to the memory it names */
void resp_no_access(struct vqp *qp);

/* answer.c */
/** answer_request - a request in order that has an answer: READ, atomic, flush */
void answer_request(struct vqp *qp, struct run *r);
/** answer_again - such a request, seen before */
void answer_again(struct vqp *qp, struct run *r);

/* resp_tx.c */
/** resp_run - send what is due; true if there is more to do now */
bool resp_run(struct vqp *qp, u32 *bytes);
/**
 * resp_settle - send the acknowledgment or NAK that is owed, before the QP stops to answer
 *
 * Its owner knows already of the message that arrived, and may have nothing else to wait for:
 * the peer shall not take it for lost.  Answers to READs that are not through are not finished,
 * and then what comes behind them is not acknowledged either.
 */
void resp_settle(struct vqp *qp);
/** resp_credits - receives available, as AETH tells it */
u8 resp_credits(struct vqp *qp);
/** credits_of - receives a credit code stands for */
u32 credits_of(u8 code);

/* flush.c: true if there is, or may be, more to do now */
bool flush_run(struct vqp *qp, u32 *wqes);
/** flush_sends - the send queue alone */
bool flush_sends(struct vqp *qp, u32 *wqes);
/** flush_ring - one entry of the send ring, before block @end */
bool flush_ring(struct vqp *qp, u32 end);

#endif /* VHCAD_QP_H */
