// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP packets that arrive: segments of messages, which are reassembled here, and acknowledgments
 * from the receivers of our messages.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "mad_priv.h"

/* Milliseconds after which a message without a new segment is dropped. */
#define STALL_MS 40000
/* Milliseconds for which a complete message is remembered, in case its last ACK was lost. */
#define LINGER_MS 10000
/*
 * Largest numbers of incomplete messages of an agent that are no responses: of all senders, and of
 * one sender. A new message replaces the one without progress for the longest time.
 */
#define MAX_REQUESTS 256
#define MAX_OF_SENDER 64
/* Largest number of senders that may be answering one request. */
#define MAX_OF_RESPONSE 8
/* Largest number of complete messages that an agent remembers. */
#define MAX_DELIVERED 512
/* Segments that a port holds of incomplete messages: of requests, and of responses. */
VISIBLE_IF_KUNIT unsigned int mad_max_segments = BIT(17);
EXPORT_SYMBOL_IF_KUNIT(mad_max_segments);

/**
 * struct mad_partial - a message of which segments have arrived
 * @entry: in the agent's list of this kind
 * @hash: in the port's table
 * @kind: its kind
 * @timer: ends it
 * @agent: the agent
 * @rx: state of the reassembly
 * @packets: struct ib_mad_recv_buf, in order; empty when the message is complete
 * @count: their number
 * @tid: TID of its header, as the following
 * @mgmt_class: management class of its header
 * @method: method of its header
 * @slid: LID of its sender
 * @src_qp: QP of its sender
 * @routed: its packets have a GRH
 * @sgid: GID of its sender, 0 unless @routed
 */
struct mad_partial {
	struct list_head entry;
	struct hlist_node hash;
	enum mad_partial_kind kind;
	struct mad_timer timer;
	struct mad_agent *agent;
	struct rmpp_rx rx;
	struct list_head packets;
	unsigned int count;
	__be64 tid;
	u8 mgmt_class, method;
	u32 slid, src_qp;
	bool routed;
	union ib_gid sgid;
};

static bool is_delivered(const struct mad_partial *partial)
{
	return partial->kind == MAD_PARTIAL_DELIVERED;
}

static void enter_list(struct mad_partial *partial, enum mad_partial_kind kind)
{
	struct mad_partials *of_kind = &partial->agent->partials[kind];

	partial->kind = kind;
	list_add_tail(&partial->entry, &of_kind->list);
	of_kind->count++;
}

static void leave_list(struct mad_partial *partial)
{
	list_del(&partial->entry);
	partial->agent->partials[partial->kind].count--;
}

static void drop_packets(struct mad_partial *partial)
{
	struct ib_mad_recv_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &partial->packets, list)
		mad_recv_free(to_mad_recv(buf));
	INIT_LIST_HEAD(&partial->packets);
	mad_count_drop(partial->agent->port, MAD_DROP_RMPP, partial->count);
	partial->agent->port->segments[partial->kind] -= partial->count;
	partial->count = 0;
}

static void end_partial(struct mad_partial *partial)
{
	mad_timer_stop(partial->agent->port, &partial->timer);
	drop_packets(partial);
	hash_del(&partial->hash);
	leave_list(partial);
	kfree(partial);
}

/* Ends the message of a kind that is without progress for the longest time. */
static void end_oldest(struct mad_partials *of_kind)
{
	end_partial(list_first_entry(&of_kind->list, struct mad_partial, entry));
}

static void partial_expired(struct mad_port *port, struct mad_timer *timer)
{
	end_partial(container_of(timer, struct mad_partial, timer));
}

/**
 * mad_partials_begin() - prepare an agent for reassembly
 * @agent: new agent
 */
void mad_partials_begin(struct mad_agent *agent)
{
	for (unsigned int kind = 0; kind < MAD_PARTIAL_KINDS; kind++)
		INIT_LIST_HEAD(&agent->partials[kind].list);
}

/**
 * mad_partials_end() - drop all messages of an agent
 * @agent: agent that receives nothing any more
 *
 * Context: any.
 */
void mad_partials_end(struct mad_agent *agent)
{
	guard(spinlock_irqsave)(&agent->port->lock);
	for (unsigned int kind = 0; kind < MAD_PARTIAL_KINDS; kind++)
		while (agent->partials[kind].count)
			end_oldest(&agent->partials[kind]);
}

/* The sender's GID; 0 for a MAD without a GRH. */
static union ib_gid source_of(struct mad_agent *agent, const struct mad_recv *recv)
{
	union ib_gid sgid = {}, dgid;

	if (recv->wc.wc_flags & IB_WC_GRH)
		mad_recv_gids(agent->port, recv, &sgid, &dgid);
	return sgid;
}

/* Does a MAD come from the sender of the message? */
static bool same_sender(const struct mad_partial *partial, const struct mad_recv *recv,
			const union ib_gid *sgid)
{
	return partial->slid == recv->wc.slid &&
	       partial->routed == !!(recv->wc.wc_flags & IB_WC_GRH) &&
	       !memcmp(&partial->sgid, sgid, sizeof(*sgid));
}

static bool is_part_of(const struct mad_recv *recv, const union ib_gid *sgid,
		       const struct mad_partial *partial)
{
	const struct ib_mad_hdr *hdr = recv_hdr(recv);

	return partial->tid == hdr->tid && partial->mgmt_class == hdr->mgmt_class &&
	       partial->method == hdr->method && partial->src_qp == recv->wc.src_qp &&
	       same_sender(partial, recv, sgid);
}

static struct mad_partial *find_partial(struct mad_agent *agent, const struct mad_recv *recv)
{
	union ib_gid sgid = source_of(agent, recv);
	struct mad_partial *partial;

	hash_for_each_possible(agent->port->partials, partial, hash,
			       mad_tid_key(recv_hdr(recv)->tid))
		if (partial->agent == agent && is_part_of(recv, &sgid, partial))
			return partial;
	return NULL;
}

/*
 * A response begins only while its request is waiting, so the agent itself limits their number. But
 * any sender that knows the request's TID can send one.
 */
static bool may_begin_response(struct mad_agent *agent, const struct mad_recv *recv)
{
	__be64 tid = recv_hdr(recv)->tid;
	struct mad_partial *partial;
	unsigned int count = 0;

	hash_for_each_possible(agent->port->partials, partial, hash, mad_tid_key(tid))
		count += partial->agent == agent && partial->tid == tid && !is_delivered(partial);
	return count < MAX_OF_RESPONSE;
}

static bool may_begin_request(struct mad_agent *agent, const struct mad_recv *recv,
			      const union ib_gid *sgid)
{
	struct mad_partials *requests = &agent->partials[MAD_PARTIAL_REQUEST];
	struct mad_partial *partial;
	unsigned int count = 0;

	list_for_each_entry(partial, &requests->list, entry)
		count += same_sender(partial, recv, sgid);
	if (count >= MAX_OF_SENDER)
		return false;
	if (requests->count >= MAX_REQUESTS)
		end_oldest(requests);
	return true;
}

static struct mad_partial *make_partial(struct mad_agent *agent, const struct mad_recv *recv)
{
	const struct ib_mad_hdr *hdr = recv_hdr(recv);
	union ib_gid sgid = source_of(agent, recv);
	bool response = ib_response_mad(hdr);
	struct mad_partial *partial;

	if (response ? !may_begin_response(agent, recv) : !may_begin_request(agent, recv, &sgid))
		return NULL;
	partial = kzalloc(sizeof(*partial), GFP_ATOMIC);
	if (!partial)
		return NULL;
	partial->agent = agent;
	partial->timer.expired = partial_expired;
	timerqueue_init(&partial->timer.node);
	rmpp_rx_init(&partial->rx);
	INIT_LIST_HEAD(&partial->packets);
	partial->tid = hdr->tid;
	partial->mgmt_class = hdr->mgmt_class;
	partial->method = hdr->method;
	partial->slid = recv->wc.slid;
	partial->src_qp = recv->wc.src_qp;
	partial->routed = recv->wc.wc_flags & IB_WC_GRH;
	partial->sgid = sgid;
	hash_add(agent->port->partials, &partial->hash, mad_tid_key(hdr->tid));
	enter_list(partial, response ? MAD_PARTIAL_RESPONSE : MAD_PARTIAL_REQUEST);
	return partial;
}

/*
 * May the port hold one more segment? Requests do not use the room of responses; a new segment of a
 * request replaces the message without progress for the longest time.
 */
static bool make_room(struct mad_partial *partial)
{
	struct mad_partials *requests = &partial->agent->partials[MAD_PARTIAL_REQUEST];
	const unsigned int *held = &partial->agent->port->segments[partial->kind];

	if (*held >= mad_max_segments && partial->kind == MAD_PARTIAL_REQUEST &&
	    !list_is_first(&partial->entry, &requests->list))
		end_oldest(requests);
	return *held < mad_max_segments;
}

static u32 segment_num(struct ib_mad_recv_buf *buf)
{
	return be32_to_cpu(recv_rmpp(to_mad_recv(buf))->seg_num);
}

static void keep(struct mad_partial *partial, struct mad_recv *recv)
{
	struct ib_mad_recv_buf *before;

	/* Most segments arrive in order. */
	list_for_each_entry_reverse(before, &partial->packets, list)
		if (segment_num(before) < be32_to_cpu(recv_rmpp(recv)->seg_num))
			break;
	list_move(&recv->rwc.recv_buf.list, &before->list);
	list_move_tail(&partial->entry, &partial->agent->partials[partial->kind].list);
	partial->count++;
	partial->agent->port->segments[partial->kind]++;
}

/* The last segment has the number of its valid bytes. Some senders set 0. */
static int message_len(struct mad_partial *partial, struct mad_recv *first)
{
	struct mad_recv *last = to_mad_recv(list_last_entry(&partial->packets,
							    struct ib_mad_recv_buf, list));
	int offset = ib_get_mad_data_offset(recv_hdr(first)->mgmt_class);
	int data = first->rwc.mad_seg_size - offset;
	int pad = first->rwc.mad_seg_size - IB_MGMT_RMPP_HDR -
		  (int)be32_to_cpu(recv_rmpp(last)->paylen_newwin);

	if (pad < 0 || pad > data)
		pad = 0;
	return offset + partial->rx.last * data - pad;
}

static struct mad_recv *complete_message(struct mad_partial *partial)
{
	struct mad_partials *delivered = &partial->agent->partials[MAD_PARTIAL_DELIVERED];
	struct mad_recv *first = to_mad_recv(list_first_entry(&partial->packets,
							      struct ib_mad_recv_buf, list));

	first->rwc.mad_len = message_len(partial, first);
	INIT_LIST_HEAD(&first->rwc.rmpp_list);
	list_splice_init(&partial->packets, &first->rwc.rmpp_list);
	partial->agent->port->segments[partial->kind] -= partial->count;
	partial->count = 0;
	leave_list(partial);
	enter_list(partial, MAD_PARTIAL_DELIVERED);
	if (delivered->count > MAX_DELIVERED)
		end_oldest(delivered);
	return first;
}

/* An answer to the sender: an acknowledgment of segments, or a STOP or ABORT with its reason. */
struct rmpp_answer {
	u8 type;
	u8 status;
	u32 seg;
	u32 window;
};

static void answer(struct mad_agent *agent, struct mad_recv *recv, const struct rmpp_answer *say)
{
	struct mad_send *send = mad_reply_alloc(agent, recv, recv_hdr(recv)->base_version);
	struct ib_rmpp_hdr *rmpp;

	if (!send)
		return;
	memcpy(send->mad, recv->mad, ib_get_mad_data_offset(recv_hdr(recv)->mgmt_class));
	send_hdr(send)->method ^= IB_MGMT_METHOD_RESP;
	rmpp = send_rmpp(send);
	rmpp->rmpp_version = IB_MGMT_RMPP_VERSION;
	rmpp->rmpp_type = say->type;
	rmpp->rmpp_status = say->status;
	rmpp->rmpp_rtime_flags = 0;
	ib_set_rmpp_resptime(rmpp, IB_MGMT_RMPP_NO_RESPTIME);
	ib_set_rmpp_flags(rmpp, IB_MGMT_RMPP_FLAG_ACTIVE);
	rmpp->seg_num = cpu_to_be32(say->seg);
	rmpp->paylen_newwin = cpu_to_be32(say->window);
	mad_reply_post(send);
}

static void say_abort(struct rmpp_answer *say, u8 status)
{
	*say = (struct rmpp_answer){ .type = IB_MGMT_RMPP_TYPE_ABORT, .status = status };
}

static void say_stop(struct rmpp_answer *say)
{
	*say = (struct rmpp_answer) {
		.type = IB_MGMT_RMPP_TYPE_STOP, .status = IB_MGMT_RMPP_STATUS_RESX,
	};
}

/*
 * A request does not time out while its response is arriving. A response to no pending request is
 * not reassembled.
 */
static bool is_awaited(struct mad_agent *agent, struct mad_recv *recv)
{
	struct mad_send *send;

	if (!ib_response_mad(recv_hdr(recv)))
		return true;
	send = mad_send_find(agent, recv, mad_send_waits);
	if (!send)
		return false;
	send->retries_left = send->max_retries;
	if (!send->at_qp && !send->unacked)
		mad_timer_arm(agent->port, &send->timer, send->timeout_ms);
	return true;
}

/* Result for a segment. */
struct taken {
	struct mad_partial *partial;	/* its message, with its timer stopped, or NULL */
	struct mad_recv *message;	/* the same, if it is complete now */
	bool kept;			/* the segment is part of the message */
	enum mad_drop why;		/* otherwise: why it is dropped */
};

static void take_segment(struct mad_agent *agent, struct mad_recv *recv, struct taken *taken,
			 struct rmpp_answer *say)
{
	struct ib_rmpp_hdr *rmpp = recv_rmpp(recv);
	struct mad_port *port = agent->port;
	struct mad_partial *partial;
	enum rmpp_rx_event event;
	u8 status;
	bool ack;

	guard(spinlock_irqsave)(&port->lock);
	partial = find_partial(agent, recv);
	if (!(partial && is_delivered(partial)) && !is_awaited(agent, recv)) {
		taken->why = MAD_DROP_UNAWAITED;
		return;
	}
	if (!partial) {
		if (rmpp->seg_num != cpu_to_be32(1) || !port->open) {
			taken->why = MAD_DROP_RMPP;
			return;
		}
		partial = make_partial(agent, recv);
		if (!partial) {
			taken->why = MAD_DROP_NO_MEMORY;
			say_stop(say);
			return;
		}
	}
	mad_timer_stop(port, &partial->timer);
	event = rmpp_rx_data(&partial->rx, be32_to_cpu(rmpp->seg_num), ib_get_rmpp_flags(rmpp),
			     be32_to_cpu(rmpp->paylen_newwin),
			     recv->rwc.mad_seg_size - IB_MGMT_RMPP_HDR, &ack, &status);
	if (event == RMPP_RX_ABORT) {
		taken->why = MAD_DROP_RMPP;
		say_abort(say, status);
		end_partial(partial);
		return;
	}
	if (event != RMPP_RX_DROP && !make_room(partial)) {
		taken->why = MAD_DROP_NO_MEMORY;
		say_stop(say);
		end_partial(partial);
		return;
	}
	if (ack)
		*say = (struct rmpp_answer) {
			.type = IB_MGMT_RMPP_TYPE_ACK,
			.seg = partial->rx.have, .window = partial->rx.window,
		};
	taken->partial = partial;
	if (event == RMPP_RX_DROP)
		return;
	keep(partial, recv);
	taken->kept = true;
	if (event == RMPP_RX_DONE)
		taken->message = complete_message(partial);
}

/*
 * The answer is made from the segment. While the timer of its message is stopped, the message is
 * not freed: segments are handled one at a time, and an agent that was found has not ended.
 */
static struct mad_recv *take_data(struct mad_agent *agent, struct mad_recv *recv)
{
	struct rmpp_answer say = {};
	struct taken taken = { .why = MAD_TAKEN };

	take_segment(agent, recv, &taken, &say);
	if (say.type)
		answer(agent, recv, &say);
	if (!taken.kept)
		mad_recv_drop(recv, taken.why);
	if (taken.partial) {
		guard(spinlock_irqsave)(&agent->port->lock);
		mad_timer_arm(agent->port, &taken.partial->timer,
			      is_delivered(taken.partial) ? LINGER_MS : STALL_MS);
	}
	return taken.message;
}

static bool is_unacked(const struct mad_send *send)
{
	return send->unacked;
}

static enum mad_drop take_ack(struct mad_agent *agent, struct mad_recv *recv,
			      struct rmpp_answer *say)
{
	struct ib_rmpp_hdr *rmpp = recv_rmpp(recv);
	enum rmpp_tx_event event;
	struct mad_send *send;
	u8 status;

	guard(spinlock_irqsave)(&agent->port->lock);
	send = mad_send_find(agent, recv, is_unacked);
	if (!send)
		return MAD_DROP_UNAWAITED;
	event = rmpp_tx_ack(&send->tx, be32_to_cpu(rmpp->seg_num),
			    be32_to_cpu(rmpp->paylen_newwin), &status);
	if (event == RMPP_TX_ABORT) {
		say_abort(say, status);
		mad_send_give_up(send, IB_WC_REM_ABORT_ERR, status);
		return MAD_DROP_RMPP;
	}
	mad_send_acked(send, event);
	return MAD_TAKEN;
}

static bool is_unacked_or_waits(const struct mad_send *send)
{
	return send->unacked || send->waits;
}

/* The peer aborts what is sent to it, or what it sends together with the request for it. */
static enum mad_drop take_abort(struct mad_agent *agent, struct mad_recv *recv)
{
	struct mad_partial *partial;
	struct mad_send *send;

	guard(spinlock_irqsave)(&agent->port->lock);
	partial = find_partial(agent, recv);
	if (partial)
		end_partial(partial);
	send = mad_send_find(agent, recv, is_unacked_or_waits);
	if (!send)
		return partial ? MAD_TAKEN : MAD_DROP_UNAWAITED;
	mad_send_get(send);
	mad_send_give_up(send, IB_WC_REM_ABORT_ERR, recv_rmpp(recv)->rmpp_status);
	if (send->at_qp && mad_queue_withdraw(send))
		mad_send_left_qp(send);
	mad_send_put(send);
	return MAD_TAKEN;
}

/**
 * mad_reassemble() - handle a MAD for an agent for which the core runs RMPP
 * @agent: agent
 * @recv: the MAD, which this function consumes or returns
 *
 * Context: may sleep; for each QP one caller at a time.
 * Return: a MAD for the agent: this one if it is no RMPP packet, or a message that is complete now;
 * else NULL.
 */
struct mad_recv *mad_reassemble(struct mad_agent *agent, struct mad_recv *recv)
{
	struct ib_rmpp_hdr *rmpp = recv_rmpp(recv);
	enum mad_drop why = MAD_DROP_RMPP;
	struct rmpp_answer say = {};

	if (!ib_is_mad_class_rmpp(recv_hdr(recv)->mgmt_class) ||
	    !(ib_get_rmpp_flags(rmpp) & IB_MGMT_RMPP_FLAG_ACTIVE))
		return recv;
	if (rmpp->rmpp_version != IB_MGMT_RMPP_VERSION) {
		say_abort(&say, IB_MGMT_RMPP_STATUS_UNV);
	} else {
		switch (rmpp->rmpp_type) {
		case IB_MGMT_RMPP_TYPE_DATA:
			return take_data(agent, recv);
		case IB_MGMT_RMPP_TYPE_ACK:
			why = take_ack(agent, recv, &say);
			break;
		case IB_MGMT_RMPP_TYPE_STOP:
		case IB_MGMT_RMPP_TYPE_ABORT:
			why = take_abort(agent, recv);
			break;
		default:
			say_abort(&say, IB_MGMT_RMPP_STATUS_BADT);
		}
	}
	if (say.type)
		answer(agent, recv, &say);
	mad_recv_drop(recv, why);
	mad_run_done(agent->port);
	return NULL;
}
