/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of mad/ share.
 *
 * Locks: one for each port, which protects everything about its agents, queues and pending MADs. It
 * is taken in any context. No handler and no operation of the driver that may sleep is called while
 * it is held.
 *
 * A MAD is pending from being posted until it ends. It has a reference for each thing that is still
 * to be done with it; dropping the last one ends it:
 *   at_qp   it is in a send queue, is queued for one, or is queued for the local loop
 *   waits   a response is expected
 *   unacked some of its segments are not acknowledged
 *   and each running handler of it.
 * The timer is armed while it waits for a response or acknowledgment and no part of it is in a
 * queue.
 */
#ifndef RDMA_MAD_PRIV_H
#define RDMA_MAD_PRIV_H

#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "rmpp.h"
#include "table.h"

struct mad_port;
struct mad_timer;

/**
 * struct mad_timer - a timer of a port
 * @node: in the port's timers, with an expiry time of ktime_get()
 * @expired: called when the time is over, with the port's lock held; it may free the timer
 */
struct mad_timer {
	struct timerqueue_node node;
	void (*expired)(struct mad_port *port, struct mad_timer *timer);
};

/**
 * struct mad_qp - QP0 or QP1 of a port, or a consumer's QP in place of QP1
 * @port: the port
 * @index: 0 or 1
 * @qp: the QP, or NULL if the port has none
 * @num: its number
 * @table: agents by the requests that they handle
 * @started: it has left RESET
 * @room: number of sends that the queue holds
 * @free: number of further sends for which it has room
 * @idle: woken when all posted sends or receives have completed
 * @stalled: nothing is posted, because the QP is being recovered
 * @blamed: number of sends that have failed with another status than flushed
 * @eager: agents with queued sends, struct mad_agent, in the order of their turns
 * @wanted: number of receives that are posted if there is memory for them
 * @missing: number of receives that are neither posted nor between a completion and the next
 *	posting
 * @posted: posted receives, struct mad_recv, until they complete
 * @posting: held while a receive is posted
 * @given_up: nothing is posted, and posted work requests may never complete, because the QP can
 *	neither be started nor be stopped; changed with @posting and the port's lock held
 * @told: the log says that the QP does not work; changed by @recover alone
 * @recover: recovers the QP
 * @recover_timer: time until the next attempt after one that could post nothing
 */
struct mad_qp {
	struct mad_port *port;
	unsigned int index;
	struct ib_qp *qp;
	u32 num;
	struct mad_table table;
	bool started;
	unsigned int room;
	unsigned int free;
	wait_queue_head_t idle;
	bool stalled;
	unsigned int blamed;
	struct list_head eager;
	unsigned int wanted;
	unsigned int missing;
	struct list_head posted;
	struct mutex posting;
	bool given_up;
	bool told;
	struct work_struct recover;
	struct mad_timer recover_timer;
};

/*
 * Milliseconds after which a port that cannot receive, for lack of memory or because its QP does
 * not work, tries to post receives again.
 */
#define RECOVER_MS 1000

/* Some devices use the highest byte of TIDs for themselves. */
#define MAD_MAX_HI_TID 0xffffff

#if IS_ENABLED(CONFIG_KUNIT)
extern u32 mad_next_hi_tid;
extern unsigned int mad_max_segments;
#endif
extern unsigned long mad_patience;

#define MAD_PARTIAL_BITS 8

/* Why MADs that arrive are dropped: files of mad_rx_dropped/, see drops.c. */
enum mad_drop {
	MAD_DROP_MALFORMED,	/* too short, an unknown version, a class at the wrong QP */
	MAD_DROP_MISROUTED,	/* its directed route is invalid */
	MAD_DROP_NO_MEMORY,	/* there was no memory for it or for its further handling */
	MAD_DROP_REFUSED,	/* it is not allowed for its P_Key, or for its sender */
	MAD_DROP_RMPP,		/* its RMPP header is invalid, or its message was not completed */
	MAD_DROP_UNAWAITED,	/* it is a response or acknowledgment to no pending MAD */
	MAD_DROP_UNCLAIMED,	/* a request without an agent that is not answered */
	MAD_DROPS,
	MAD_TAKEN = MAD_DROPS	/* it was handled, and is not counted as dropped */
};

/* Kinds of messages of which segments have arrived. */
enum mad_partial_kind {
	MAD_PARTIAL_REQUEST,	/* incomplete, and no response */
	MAD_PARTIAL_RESPONSE,	/* incomplete, and the response to a request of the agent */
	MAD_PARTIAL_DELIVERED,	/* complete */
	MAD_PARTIAL_KINDS
};

/**
 * struct mad_port - a port that exchanges MADs
 * @entry: in the list of all ports
 * @refs: one of the device until it is removed, and one of each agent
 * @device: the device; not used when @open is false
 * @port_num: number of the port
 * @opa: MADs may be of 2 KiB (Omni-Path)
 * @service: it belongs to one QP of a consumer, not to a port of the device; see service.c
 * @pkey_index: P_Key index of such a QP
 * @qkey: Q_Key of such a QP
 * @pd: PD of the QPs
 * @cq: their CQ
 * @qp: the QPs
 * @own: agents with which the core itself answers, one for each QP
 * @wq: runs the work items below
 * @lock: protects the members below, those of @qp, of the agents, and of pending MADs
 * @open: the device has not been removed
 * @agents: struct mad_agent
 * @requests: pending MADs, struct mad_send, by agent and TID
 * @timers: struct mad_timer
 * @timer_work: runs expired timers
 * @done: MADs that have ended and are to be reported to their agents, struct mad_send
 * @done_work: reports @done when the context does not allow it at once
 * @loop: MADs for this port itself, struct mad_send
 * @loop_work: receives the MADs of @loop
 * @segments: number of segments held of incomplete messages, by kind
 * @partials: messages of which segments have arrived, struct mad_partial, by TID
 * @dropped: MADs that have arrived and were dropped, by reason; needs no lock
 */
struct mad_port {
	struct list_head entry;
	refcount_t refs;
	struct ib_device *device;
	u32 port_num;
	bool opa;
	bool service;
	u16 pkey_index;
	u32 qkey;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct mad_qp qp[2];
	struct mad_agent *own[2];
	struct workqueue_struct *wq;

	spinlock_t lock;
	bool open;
	struct list_head agents;
	struct rb_root requests;
	struct timerqueue_head timers;
	struct delayed_work timer_work;
	struct list_head done;
	struct work_struct done_work;
	struct list_head loop;
	struct work_struct loop_work;
	unsigned int segments[MAD_PARTIAL_KINDS];
	DECLARE_HASHTABLE(partials, MAD_PARTIAL_BITS);
	atomic64_t dropped[MAD_DROPS];
};

/**
 * struct mad_partials - messages of one kind
 * @list: struct mad_partial, in the order in which a segment was last kept
 * @count: their number
 */
struct mad_partials {
	struct list_head list;
	unsigned int count;
};

/**
 * struct mad_agent - an agent
 * @agent: the part that its owner sees
 * @refs: one of its owner, those of its send buffers, and those of running calls of its handlers
 * @gone: completed when the last reference is dropped
 * @port: its port
 * @qp: its QP
 * @dev_index: index of the device, which may have been removed
 * @req: the requests that it handles; without methods if there are none
 * @entry: in @port->agents
 * @closed: nothing is posted any more
 * @sends: pending MADs, struct mad_send
 * @queue: MADs that are queued for room in the QP
 * @eager: in @qp->eager while @queue is not empty
 * @partials: messages of which segments have arrived
 */
struct mad_agent {
	struct ib_mad_agent agent;
	refcount_t refs;
	struct completion gone;
	struct mad_port *port;
	struct mad_qp *qp;
	u32 dev_index;
	struct ib_mad_reg_req req;

	struct list_head entry;
	bool closed;
	struct list_head sends;
	struct list_head queue;
	struct list_head eager;
	struct mad_partials partials[MAD_PARTIAL_KINDS];
};

/**
 * struct mad_send - a MAD that is sent, and its state
 * @buf: the part that its owner sees
 * @agent: the agent that sends it
 * @internal: it is the core's own: its end is not reported
 * @pad: bytes of the last segment that are not part of the message
 * @size: bytes of a packet
 * @segs: its segments, struct mad_segment; empty if it is not divided into segments
 * @segment: the segment of which @mad is the head
 * @wr: work request
 * @sge: its parts
 * @cqe: its completion
 * @entry: in @agent->sends
 * @queue: in @agent->queue, @port->loop, @port->done
 * @node: in @port->requests
 * @timer: time-out of a response or acknowledgment
 * @tid: its TID at the time of posting
 * @refs: see above; 0 while it is not pending
 * @at_qp: see above
 * @posted: it is in the QP's queue
 * @waits: see above
 * @unacked: see above
 * @local: its destination is this port itself, and it does not go through the QP
 * @forwarded: it comes from another node, and has been routed already
 * @timeout_ms: time to wait for a response, after each transmission
 * @retries_left: number of retransmissions that are left
 * @max_retries: largest number of retransmissions
 * @resends: number of retransmissions of segments that are left without progress
 * @flushed: how often it was flushed since another send failed
 * @blamed: the QP's @blamed when it was flushed last
 * @tx: RMPP state: segments and window
 * @status: status with which it ends
 * @vendor_err: error code of the device or the peer
 * @mad: the MAD, or the head of each segment
 */
struct mad_send {
	struct ib_mad_send_buf buf;
	struct mad_agent *agent;
	bool internal;
	unsigned int pad;
	unsigned int size;
	struct list_head segs;
	struct mad_segment *segment;

	struct ib_ud_wr wr;
	struct ib_sge sge[2];
	struct ib_cqe cqe;

	struct list_head entry;
	struct list_head queue;
	struct rb_node node;
	struct mad_timer timer;
	__be64 tid;
	unsigned int refs;
	bool at_qp, posted, waits, unacked, local, forwarded;
	unsigned int timeout_ms;
	int retries_left, max_retries;
	unsigned int resends, flushed, blamed;
	struct rmpp_tx tx;
	enum ib_wc_status status;
	u32 vendor_err;

	u8 mad[] __aligned(8);
};

/**
 * struct mad_segment - the part of a segment that differs from the others of its message
 * @entry: in @segs of its message
 * @num: number, from 1
 * @data: data after the head
 */
struct mad_segment {
	struct list_head entry;
	u32 num;
	u8 data[];
};

/**
 * struct mad_recv - a MAD that has arrived, or a buffer for one
 * @rwc: the part that agents see
 * @wc: its completion
 * @cqe: completion entry of its work request
 * @qp: the QP
 * @entry: in @qp->posted
 * @dma: DMA address of @grh
 * @size: largest size of the MAD in bytes
 * @local: its source is this port itself
 * @grh: room for the GRH
 * @mad: the MAD
 */
struct mad_recv {
	struct ib_mad_recv_wc rwc;
	struct ib_wc wc;
	struct ib_cqe cqe;
	struct mad_qp *qp;
	struct list_head entry;
	u64 dma;
	size_t size;
	bool local;

	/* The device writes these, one after the other. */
	struct ib_grh grh;
	u8 mad[];
};

static inline struct mad_send *to_mad_send(struct ib_mad_send_buf *buf)
{
	return container_of(buf, struct mad_send, buf);
}

static inline struct mad_agent *to_mad_agent(struct ib_mad_agent *agent)
{
	return container_of(agent, struct mad_agent, agent);
}

static inline struct mad_recv *to_mad_recv(struct ib_mad_recv_buf *buf)
{
	return container_of(buf, struct mad_recv, rwc.recv_buf);
}

/* Key of the table of partials: the lower half, as the upper one of a response is the agent's. */
static inline u32 mad_tid_key(__be64 tid)
{
	return be64_to_cpu(tid);
}

static inline struct ib_mad_hdr *recv_hdr(const struct mad_recv *recv)
{
	return (struct ib_mad_hdr *)recv->mad;
}

static inline struct ib_rmpp_hdr *recv_rmpp(const struct mad_recv *recv)
{
	return &((struct ib_rmpp_mad *)recv->mad)->rmpp_hdr;
}

static inline struct ib_mad_hdr *send_hdr(struct mad_send *send)
{
	return (struct ib_mad_hdr *)send->mad;
}

static inline struct ib_rmpp_hdr *send_rmpp(struct mad_send *send)
{
	return &((struct ib_rmpp_mad *)send->mad)->rmpp_hdr;
}

static inline bool is_message(const struct mad_send *send)
{
	return !list_empty(&send->segs);
}

static inline size_t mad_size(const struct mad_port *port, u8 base_version)
{
	return port->opa && base_version == OPA_MGMT_BASE_VERSION ? OPA_MGMT_MAD_SIZE :
								    IB_MGMT_MAD_SIZE;
}

/* port.c */
struct mad_port *mad_port_alloc(struct ib_device *device, u32 port_num);
void mad_port_show(struct mad_port *port);
void mad_port_hide(struct mad_port *port);
struct mad_port *mad_port_get(struct ib_device *device, u32 port_num);
void mad_port_put(struct mad_port *port);
void mad_agent_put(struct mad_agent *agent);

/* buf.c */
struct mad_send *mad_send_alloc(struct mad_agent *agent, u32 remote_qpn, u16 pkey_index,
				bool rmpp, int hdr_len, int data_len, gfp_t gfp, u8 base_version);
void mad_send_free(struct mad_send *send);
void mad_send_load(struct mad_send *send, u32 seg);
struct mad_recv *mad_recv_alloc(struct mad_port *port, gfp_t gfp);
void mad_recv_free(struct mad_recv *recv);

/* queue.c */
int mad_queue_send(struct mad_send *send);
struct mad_send *mad_queue_push(struct mad_qp *qp);
bool mad_queue_withdraw(struct mad_send *send);
void mad_queue_sent(struct mad_send *send);
int mad_queue_recv(struct mad_qp *qp, struct mad_recv *recv);
void mad_queue_received(struct mad_recv *recv);

/* request.c */
void mad_timer_arm(struct mad_port *port, struct mad_timer *timer, unsigned int ms);
void mad_timer_stop(struct mad_port *port, struct mad_timer *timer);
void mad_timer_work(struct work_struct *work);
void mad_send_begin(struct mad_send *send);
void mad_send_undo(struct mad_send *send);
void mad_send_get(struct mad_send *send);
void mad_send_put(struct mad_send *send);
void mad_send_left_qp(struct mad_send *send);
void mad_send_give_up(struct mad_send *send, enum ib_wc_status status, u32 vendor_err);
void mad_send_cancel(struct mad_send *send);
void mad_send_answered(struct mad_send *send);
bool mad_recv_gids(struct mad_port *port, const struct mad_recv *recv, union ib_gid *sgid,
		   union ib_gid *dgid);
struct mad_send *mad_send_find(struct mad_agent *agent, const struct mad_recv *recv,
			       bool (*fits)(const struct mad_send *send));
bool mad_send_waits(const struct mad_send *send);
void mad_run_done(struct mad_port *port);
void mad_done_work(struct work_struct *work);

/* send.c */
int mad_send_post(struct mad_send *send);
void mad_send_acked(struct mad_send *send, enum rmpp_tx_event event);
void mad_send_left(struct mad_send *send);
void mad_send_push(struct mad_qp *qp);
void mad_sends_give_up(struct mad_qp *qp);

/* reply.c */
struct mad_send *mad_reply_alloc(struct mad_agent *agent, struct mad_recv *recv, u8 base_version);
void mad_reply_post(struct mad_send *send);
void mad_reply(struct mad_port *port, struct mad_recv *recv, const struct ib_mad *mad, size_t size,
	       u16 pkey_index);
bool mad_reply_unsupported(struct mad_recv *recv);
void mad_forward(struct mad_recv *recv, u8 out_port);

/* reassembly.c */
struct mad_recv *mad_reassemble(struct mad_agent *agent, struct mad_recv *recv);
void mad_partials_begin(struct mad_agent *agent);
void mad_partials_end(struct mad_agent *agent);

/* drops.c */
void mad_count_drop(struct mad_port *port, enum mad_drop why, unsigned int count);
void mad_recv_drop(struct mad_recv *recv, enum mad_drop why);
int mad_drops_show(struct mad_port *port);
void mad_drops_hide(struct mad_port *port);

/* agent.c */
void mad_agents_exit(void);
struct mad_agent *mad_agent_make(struct mad_qp *qp, const struct ib_mad_reg_req *req,
				 const struct ib_mad_agent *template);
void mad_agent_end(struct mad_agent *agent);
struct ib_mad_agent *mad_agent_register(struct mad_port *port, enum ib_qp_type qp_type,
					const struct ib_mad_reg_req *req,
					const struct ib_mad_agent *template);
struct mad_agent *mad_agent_find(struct mad_qp *qp, const struct ib_mad *mad);

/* recv.c */
void mad_recv_done(struct ib_cq *cq, struct ib_wc *wc);
int mad_recv_refill(struct mad_qp *qp);
void mad_recv_give_up(struct mad_qp *qp, struct list_head *posted);
void mad_loop_work(struct work_struct *work);

/* trace.c */
void mad_trace_address(const struct mad_send *send, u32 *dlid, u8 *sl);

/* client.c */
int mad_port_begin(struct mad_port *port);
void mad_port_end(struct mad_port *port);

/* qp.c */
int mad_qps_open(struct mad_port *port);
int mad_qps_start(struct mad_port *port);
void mad_qps_close(struct mad_port *port);

#endif
