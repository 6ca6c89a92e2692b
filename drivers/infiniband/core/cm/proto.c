// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The protocol of the communication manager as a table: see proto.h.
 *
 * A row for each state, but one for each state of loading an alternate path in IB_CM_ESTABLISHED;
 * a column for each input. What has no entry does not happen: a call fails with -EINVAL, a message
 * is dropped.
 */
#include <kunit/visibility.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/module.h>

#include "proto.h"

/* The rows of IB_CM_ESTABLISHED stand behind those of the states. */
#define ROW_ESTABLISHED(lap)	(CM_STATES + (lap))
#define ROWS			(CM_STATES + CM_LAP_STATES)

/**
 * struct cm_cell - an entry of the table
 * @verdict: enum cm_verdict
 * @next: state afterwards, if the input is carried out
 * @lap: state of loading an alternate path afterwards, plus 1; 0: as before
 * @send: message to send, plus 1; 0: none
 * @about: enum cm_about of a REJ or MRA
 * @code: its reason or status
 * @event: for the consumer, plus 1; 0: none
 * @error: for a call that is refused; 0: -EINVAL
 * @todo: CM_DO_*
 */
struct cm_cell {
	u8	verdict;
	u8	next;
	u8	lap;
	u8	send;
	u8	about;
	u8	code;
	u8	event;
	s8	error;
	u16	todo;
};

#define GO(state)		.verdict = CM_PROCEED, .next = IB_CM_##state
#define SEEN			.verdict = CM_DUPLICATE
#define SEND(msg)		.send = CM_MSG_##msg + 1
#define REJECT(why, what)	.send = CM_MSG_REJ + 1, .code = IB_CM_REJ_##why, \
				.about = CM_ABOUT_##what
#define ABOUT(what)		.about = CM_ABOUT_##what
#define EVENT(name)		.event = IB_CM_##name + 1
#define LAP(state)		.lap = IB_CM_##state + 1
#define DO(bits)		.todo = (bits)

/* Ends: where a connection is over and its QP rests, and where there was none. */
#define TO_TIMEWAIT		GO(TIMEWAIT), DO(CM_DO_TIMEWAIT)
#define STOP_TO_TIMEWAIT	GO(TIMEWAIT), DO(CM_DO_CANCEL | CM_DO_TIMEWAIT)
#define TO_IDLE			GO(IDLE), DO(CM_DO_UNBIND)
#define STOP_TO_IDLE		GO(IDLE), DO(CM_DO_CANCEL | CM_DO_UNBIND)

/*
 * The active side from its REQ to the REP. When nobody answers, the passive side is told that it
 * need not go on: it may have got the REQ. A REP whose QP another connection has is refused, but
 * the REQ stays: it is to be answered with a QP that is free.
 */
#define REQ_UNDER_WAY \
	[CM_IN_REP] = { GO(REP_RCVD), EVENT(REP_RECEIVED), DO(CM_DO_CANCEL | CM_DO_BIND) }, \
	[CM_IN_REJ] = { STOP_TO_IDLE, EVENT(REJ_RECEIVED) }, \
	[CM_IN_REJ_STALE] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) }, \
	[CM_IN_REJ_PEER_EARLY] = { SEEN }, \
	[CM_IN_SEND_FAILED] = { TO_IDLE, REJECT(TIMEOUT, OTHER), EVENT(REQ_ERROR) }, \
	[CM_IN_CALL_REJ] = { STOP_TO_IDLE, SEND(REJ), ABOUT(OTHER) }, \
	[CM_IN_CALL_DESTROY] = { STOP_TO_IDLE, REJECT(TIMEOUT, OTHER) }, \
	[CM_IN_CALL_DESTROY_QUIETLY] = { STOP_TO_IDLE }

/* The passive side from the REQ to its REP. */
#define REQ_AT_CONSUMER \
	[CM_IN_REJ] = { TO_IDLE, EVENT(REJ_RECEIVED) }, \
	[CM_IN_REJ_STALE] = { TO_TIMEWAIT, EVENT(REJ_RECEIVED) }, \
	[CM_IN_CALL_REP] = { GO(REP_SENT), SEND(REP), DO(CM_DO_AWAIT) }, \
	[CM_IN_CALL_REJ] = { TO_IDLE, SEND(REJ), ABOUT(REQ) }, \
	[CM_IN_CALL_DESTROY] = { TO_IDLE, REJECT(CONSUMER_DEFINED, REQ) }, \
	[CM_IN_CALL_DESTROY_QUIETLY] = { TO_IDLE }

/*
 * The passive side from its REP to the RTU. Its REJ is about neither message: Linux then finds
 * the id of an active side that knows the passive side's. One that has got no REP sends its REQ
 * again, and is told in TIMEWAIT that the connection is stale.
 */
#define REP_UNDER_WAY \
	[CM_IN_RTU] = { GO(ESTABLISHED), EVENT(RTU_RECEIVED), DO(CM_DO_CANCEL) }, \
	[CM_IN_CALL_ESTABLISHED] = { GO(ESTABLISHED), EVENT(USER_ESTABLISHED), DO(CM_DO_CANCEL) }, \
	[CM_IN_DREQ] = { GO(DREQ_RCVD), EVENT(DREQ_RECEIVED), DO(CM_DO_CANCEL) }, \
	[CM_IN_REJ] = { STOP_TO_IDLE, EVENT(REJ_RECEIVED) }, \
	[CM_IN_REJ_STALE] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) }, \
	[CM_IN_SEND_FAILED] = { TO_IDLE, REJECT(TIMEOUT, OTHER), EVENT(REP_ERROR) }, \
	[CM_IN_CALL_REJ] = { STOP_TO_TIMEWAIT, SEND(REJ), ABOUT(OTHER) }, \
	[CM_IN_CALL_DESTROY] = { STOP_TO_TIMEWAIT, REJECT(CONSUMER_DEFINED, OTHER) }, \
	[CM_IN_CALL_DESTROY_QUIETLY] = { STOP_TO_IDLE }

/* The active side from the REP to its RTU. */
#define REP_AT_CONSUMER \
	[CM_IN_REJ] = { TO_TIMEWAIT, EVENT(REJ_RECEIVED) }, \
	[CM_IN_REJ_STALE] = { TO_TIMEWAIT, EVENT(REJ_RECEIVED) }, \
	[CM_IN_CALL_RTU] = { GO(ESTABLISHED), SEND(RTU) }, \
	[CM_IN_CALL_REJ] = { TO_IDLE, SEND(REJ), ABOUT(REP) }, \
	[CM_IN_CALL_DESTROY] = { TO_IDLE, REJECT(CONSUMER_DEFINED, REP) }, \
	[CM_IN_CALL_DESTROY_QUIETLY] = { TO_IDLE }

/*
 * A connection, whatever becomes of its alternate path; @stop is CM_DO_CANCEL where a LAP is under
 * way. A REP that comes again has lost its RTU. That another connection uses the QP shows that the
 * peer has forgotten this one.
 */
#define CONNECTED(stop) \
	[CM_IN_REQ_AGAIN] = { SEEN }, \
	[CM_IN_REP] = { SEEN, SEND(RTU), DO(CM_DO_REPEAT) }, \
	[CM_IN_RTU] = { SEEN }, \
	[CM_IN_DREQ] = { GO(DREQ_RCVD), EVENT(DREQ_RECEIVED), DO(stop) }, \
	[CM_IN_QP_REUSED] = { GO(DREQ_SENT), SEND(DREQ), DO((stop) | CM_DO_AWAIT) }, \
	[CM_IN_CALL_DREQ] = { GO(DREQ_SENT), SEND(DREQ), DO((stop) | CM_DO_AWAIT) }, \
	[CM_IN_DREQ_UNSENT] = { GO(TIMEWAIT), DO((stop) | CM_DO_TIMEWAIT) }, \
	[CM_IN_CALL_ESTABLISHED] = { .error = -EISCONN }, \
	[CM_IN_CALL_DESTROY] = { GO(TIMEWAIT), SEND(DREQ), DO((stop) | CM_DO_TIMEWAIT) }, \
	[CM_IN_CALL_DESTROY_QUIETLY] = { GO(IDLE), DO((stop) | CM_DO_UNBIND) }

#define LAP_POSSIBLE \
	[CM_IN_LAP] = { GO(ESTABLISHED), LAP(LAP_RCVD), EVENT(LAP_RECEIVED), DO(CM_DO_LOAD) }, \
	[CM_IN_CALL_LAP] = { GO(ESTABLISHED), LAP(LAP_SENT), SEND(LAP), \
			     DO(CM_DO_AWAIT | CM_DO_LOAD) }, \
	[CM_IN_CALL_MIGRATED] = { GO(ESTABLISHED), LAP(LAP_IDLE), DO(CM_DO_MIGRATE) }

#define LAP_UNDER_WAY \
	[CM_IN_APR] = { GO(ESTABLISHED), LAP(LAP_IDLE), EVENT(APR_RECEIVED), DO(CM_DO_CANCEL) }, \
	[CM_IN_SEND_FAILED] = { GO(ESTABLISHED), LAP(LAP_IDLE), EVENT(LAP_ERROR) }

static const struct cm_cell cm_table[ROWS][CM_INPUTS] = {
	/*
	 * A peer that waits for an id that is idle again learns it, instead of waiting on: the REP
	 * that came too late, the RTU that has been given up, the DREQ of a connection that this
	 * side ended alone.
	 */
	[IB_CM_IDLE] = {
		[CM_IN_REQ] = { GO(REQ_RCVD), LAP(LAP_UNINIT), EVENT(REQ_RECEIVED),
				DO(CM_DO_BIND) },
		[CM_IN_REP] = { SEEN, REJECT(INVALID_COMM_ID, REP) },
		[CM_IN_RTU] = { SEEN, REJECT(INVALID_COMM_ID, OTHER) },
		[CM_IN_DREQ] = { SEEN, SEND(DREP), DO(CM_DO_REPEAT) },
		[CM_IN_LAP] = { SEEN, SEND(APR), .code = IB_CM_APR_INVALID_COMM_ID },
		[CM_IN_SIDR_REQ] = { GO(SIDR_REQ_RCVD), EVENT(SIDR_REQ_RECEIVED), DO(CM_DO_BIND) },
		[CM_IN_CALL_LISTEN] = { GO(LISTEN) },
		[CM_IN_CALL_REQ] = { GO(REQ_SENT), LAP(LAP_UNINIT), SEND(REQ), DO(CM_DO_AWAIT) },
		[CM_IN_CALL_SIDR_REQ] = { GO(SIDR_REQ_SENT), SEND(SIDR_REQ), DO(CM_DO_AWAIT) },
		[CM_IN_CALL_DESTROY] = { GO(IDLE) },
		[CM_IN_CALL_DESTROY_QUIETLY] = { GO(IDLE) },
	},
	[IB_CM_LISTEN] = {
		[CM_IN_CALL_DESTROY] = { GO(IDLE) },
		[CM_IN_CALL_DESTROY_QUIETLY] = { GO(IDLE) },
	},
	[IB_CM_REQ_SENT] = {
		REQ_UNDER_WAY,
		[CM_IN_REP_STALE] = { GO(REQ_SENT), REJECT(STALE_CONN, REP) },
		[CM_IN_MRA_REQ] = { GO(MRA_REQ_RCVD), EVENT(MRA_RECEIVED), DO(CM_DO_EXTEND) },
		[CM_IN_REQ_PEER_YIELD] = { GO(REQ_RCVD), EVENT(REQ_RECEIVED),
					   DO(CM_DO_CANCEL | CM_DO_BIND) },
		[CM_IN_REQ_PEER_KEEP] = { SEEN },
	},
	/* The peer works on this side's REQ: its own has lost already. */
	[IB_CM_MRA_REQ_RCVD] = {
		REQ_UNDER_WAY,
		[CM_IN_REP_STALE] = { GO(MRA_REQ_RCVD), REJECT(STALE_CONN, REP) },
		[CM_IN_MRA_REQ] = { SEEN },
		[CM_IN_REQ_PEER_YIELD] = { SEEN },
		[CM_IN_REQ_PEER_KEEP] = { SEEN },
	},
	[IB_CM_REQ_RCVD] = {
		REQ_AT_CONSUMER,
		[CM_IN_REQ_AGAIN] = { SEEN },
		[CM_IN_CALL_MRA] = { GO(MRA_REQ_SENT), SEND(MRA), ABOUT(REQ) },
		[CM_IN_CALL_HANDOFF] = { GO(REQ_RCVD), EVENT(REQ_RECEIVED) },
	},
	[IB_CM_MRA_REQ_SENT] = {
		REQ_AT_CONSUMER,
		[CM_IN_REQ_AGAIN] = { SEEN, SEND(MRA), ABOUT(REQ), DO(CM_DO_REPEAT) },
		[CM_IN_CALL_HANDOFF] = { GO(MRA_REQ_SENT), EVENT(REQ_RECEIVED) },
	},
	/* A REQ that comes again has seen no REP: it need not wait for the REP's own time. */
	[IB_CM_REP_SENT] = {
		REP_UNDER_WAY,
		[CM_IN_REQ_AGAIN] = { SEEN, SEND(REP), DO(CM_DO_REPEAT) },
		[CM_IN_MRA_REP] = { GO(MRA_REP_RCVD), EVENT(MRA_RECEIVED), DO(CM_DO_EXTEND) },
	},
	[IB_CM_MRA_REP_RCVD] = {
		REP_UNDER_WAY,
		[CM_IN_REQ_AGAIN] = { SEEN },
		[CM_IN_MRA_REP] = { SEEN },
	},
	[IB_CM_REP_RCVD] = {
		REP_AT_CONSUMER,
		[CM_IN_REP] = { SEEN },
		[CM_IN_CALL_MRA] = { GO(MRA_REP_SENT), SEND(MRA), ABOUT(REP) },
	},
	[IB_CM_MRA_REP_SENT] = {
		REP_AT_CONSUMER,
		[CM_IN_REP] = { SEEN, SEND(MRA), ABOUT(REP), DO(CM_DO_REPEAT) },
	},
	/*
	 * A REJ ends a connection on which no alternate path was agreed: the passive side may have
	 * given up before the RTU came. Later it makes no sense.
	 */
	[ROW_ESTABLISHED(IB_CM_LAP_UNINIT)] = {
		CONNECTED(0),
		LAP_POSSIBLE,
		[CM_IN_REJ] = { TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
		[CM_IN_REJ_STALE] = { TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
	},
	[ROW_ESTABLISHED(IB_CM_LAP_IDLE)] = {
		CONNECTED(0),
		LAP_POSSIBLE,
	},
	[ROW_ESTABLISHED(IB_CM_LAP_SENT)] = {
		CONNECTED(CM_DO_CANCEL),
		LAP_UNDER_WAY,
		[CM_IN_MRA_LAP] = { GO(ESTABLISHED), LAP(MRA_LAP_RCVD), EVENT(MRA_RECEIVED),
				    DO(CM_DO_EXTEND) },
		[CM_IN_REJ] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
		[CM_IN_REJ_STALE] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
	},
	[ROW_ESTABLISHED(IB_CM_MRA_LAP_RCVD)] = {
		CONNECTED(CM_DO_CANCEL),
		LAP_UNDER_WAY,
		[CM_IN_MRA_LAP] = { SEEN },
	},
	[ROW_ESTABLISHED(IB_CM_LAP_RCVD)] = {
		CONNECTED(0),
		[CM_IN_LAP] = { SEEN },
		[CM_IN_CALL_MRA] = { GO(ESTABLISHED), LAP(MRA_LAP_SENT), SEND(MRA), ABOUT(OTHER) },
		[CM_IN_CALL_APR] = { GO(ESTABLISHED), LAP(LAP_IDLE), SEND(APR) },
	},
	[ROW_ESTABLISHED(IB_CM_MRA_LAP_SENT)] = {
		CONNECTED(0),
		[CM_IN_LAP] = { SEEN, SEND(MRA), ABOUT(OTHER), DO(CM_DO_REPEAT) },
		[CM_IN_CALL_APR] = { GO(ESTABLISHED), LAP(LAP_IDLE), SEND(APR) },
	},
	[IB_CM_DREQ_SENT] = {
		[CM_IN_REQ_AGAIN] = { SEEN },
		[CM_IN_REP] = { SEEN },
		[CM_IN_RTU] = { SEEN },
		[CM_IN_DREP] = { STOP_TO_TIMEWAIT, EVENT(DREP_RECEIVED) },
		[CM_IN_DREQ] = { GO(DREQ_RCVD), EVENT(DREQ_RECEIVED), DO(CM_DO_CANCEL) },
		[CM_IN_REJ] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
		[CM_IN_REJ_STALE] = { STOP_TO_TIMEWAIT, EVENT(REJ_RECEIVED) },
		[CM_IN_SEND_FAILED] = { TO_TIMEWAIT, EVENT(DREQ_ERROR) },
		[CM_IN_CALL_DESTROY] = { STOP_TO_TIMEWAIT },
		[CM_IN_CALL_DESTROY_QUIETLY] = { STOP_TO_TIMEWAIT },
	},
	/* Both sides may have sent a DREQ; then the DREP for this side's may come first. */
	[IB_CM_DREQ_RCVD] = {
		[CM_IN_REQ_AGAIN] = { SEEN },
		[CM_IN_REP] = { SEEN },
		[CM_IN_RTU] = { SEEN },
		[CM_IN_DREQ] = { SEEN },
		[CM_IN_DREP] = { TO_TIMEWAIT, EVENT(DREP_RECEIVED) },
		[CM_IN_CALL_DREP] = { TO_TIMEWAIT, SEND(DREP) },
		[CM_IN_CALL_DESTROY] = { TO_TIMEWAIT, SEND(DREP) },
		[CM_IN_CALL_DESTROY_QUIETLY] = { TO_TIMEWAIT },
	},
	[IB_CM_TIMEWAIT] = {
		[CM_IN_REQ_AGAIN] = { SEEN, REJECT(STALE_CONN, REQ) },
		[CM_IN_REP] = { SEEN },
		[CM_IN_RTU] = { SEEN },
		[CM_IN_DREQ] = { SEEN, SEND(DREP), DO(CM_DO_REPEAT) },
		[CM_IN_TIMEWAIT_OVER] = { TO_IDLE, EVENT(TIMEWAIT_EXIT) },
		[CM_IN_CALL_DESTROY] = { GO(TIMEWAIT) },
		[CM_IN_CALL_DESTROY_QUIETLY] = { GO(TIMEWAIT) },
	},
	[IB_CM_SIDR_REQ_SENT] = {
		[CM_IN_SIDR_REP] = { GO(IDLE), EVENT(SIDR_REP_RECEIVED), DO(CM_DO_CANCEL) },
		[CM_IN_SEND_FAILED] = { GO(IDLE), EVENT(SIDR_REQ_ERROR) },
		[CM_IN_CALL_DESTROY] = { GO(IDLE), DO(CM_DO_CANCEL) },
		[CM_IN_CALL_DESTROY_QUIETLY] = { GO(IDLE), DO(CM_DO_CANCEL) },
	},
	[IB_CM_SIDR_REQ_RCVD] = {
		[CM_IN_SIDR_REQ_AGAIN] = { SEEN },
		[CM_IN_CALL_SIDR_REP] = { TO_IDLE, SEND(SIDR_REP) },
		[CM_IN_CALL_DESTROY] = { TO_IDLE, SEND(SIDR_REP), .code = IB_SIDR_REJECT },
		[CM_IN_CALL_DESTROY_QUIETLY] = { TO_IDLE },
	},
};

static struct cm_rule cm_rule_of(const struct cm_cell *cell, enum ib_cm_state state,
				 enum ib_cm_lap_state lap)
{
	bool proceed = cell->verdict == CM_PROCEED;

	return (struct cm_rule){
		.verdict = cell->verdict,
		.next = proceed ? cell->next : state,
		.next_lap = proceed && cell->lap ? cell->lap - 1 : lap,
		.send = cell->send ? cell->send - 1 : CM_SEND_NOTHING,
		.about = cell->about,
		.code = cell->code,
		.event = cell->event ? cell->event - 1 : CM_NO_EVENT,
		.error = cell->verdict != CM_REFUSE ? 0 : cell->error ? : -EINVAL,
		.todo = cell->todo,
	};
}

/**
 * cm_proto_rule() - find the rule for an input
 * @state: state of the id
 * @lap: state of loading an alternate path
 * @input: the input
 *
 * A LAP may be sent by the active side only, which the caller sees to.
 *
 * Context: whatever keeps the state as it is until the rule is carried out.
 *
 * Return: the rule. Where @state and @lap go is said also if they stay.
 */
struct cm_rule cm_proto_rule(enum ib_cm_state state, enum ib_cm_lap_state lap, enum cm_input input)
{
	unsigned int row = state == IB_CM_ESTABLISHED ? ROW_ESTABLISHED(lap) : state;

	return cm_rule_of(&cm_table[row][input], state, lap);
}
EXPORT_SYMBOL_IF_KUNIT(cm_proto_rule);

/*
 * A peer that believes in a connection of which nothing is known here learns it. The messages that
 * nobody waits to see answered are dropped.
 */
static const struct cm_cell cm_orphans[CM_MSG_TYPES] = {
	[CM_MSG_REQ] = { SEEN, REJECT(INVALID_SERVICE_ID, REQ) },
	[CM_MSG_REP] = { SEEN, REJECT(INVALID_COMM_ID, REP) },
	[CM_MSG_RTU] = { SEEN, REJECT(INVALID_COMM_ID, OTHER) },
	[CM_MSG_DREQ] = { SEEN, SEND(DREP) },
	[CM_MSG_LAP] = { SEEN, SEND(APR), .code = IB_CM_APR_INVALID_COMM_ID },
	[CM_MSG_SIDR_REQ] = { SEEN, SEND(SIDR_REP), .code = IB_SIDR_UNSUPPORTED },
};

/**
 * cm_proto_orphan() - decide how to answer a message for which there is no id and no listener
 * @type: the message
 *
 * Return: a rule of which only @verdict, @send, @about and @code count: CM_DUPLICATE with an
 * answer, or CM_REFUSE to drop it. The answer has the ids of the message, exchanged.
 */
struct cm_rule cm_proto_orphan(enum cm_msg_type type)
{
	return cm_rule_of(&cm_orphans[type], IB_CM_IDLE, IB_CM_LAP_UNINIT);
}
EXPORT_SYMBOL_IF_KUNIT(cm_proto_orphan);

/**
 * cm_proto_input() - get the input that a message is
 * @msg: the message, as cm_msg_unpack() gives it
 *
 * Return: the input. Whether a REQ, REP, REJ or SIDR_REQ is another one of its kinds depends on
 * what else there is, and is the caller's to see.
 */
enum cm_input cm_proto_input(const struct cm_msg *msg)
{
	switch (msg->type) {
	case CM_MSG_REQ:
		return CM_IN_REQ;
	case CM_MSG_MRA:
		return msg->mra.about == CM_ABOUT_REQ ? CM_IN_MRA_REQ :
		       msg->mra.about == CM_ABOUT_REP ? CM_IN_MRA_REP : CM_IN_MRA_LAP;
	case CM_MSG_REJ:
		return msg->rej.reason == IB_CM_REJ_STALE_CONN ? CM_IN_REJ_STALE : CM_IN_REJ;
	case CM_MSG_REP:
		return CM_IN_REP;
	case CM_MSG_RTU:
		return CM_IN_RTU;
	case CM_MSG_DREQ:
		return CM_IN_DREQ;
	case CM_MSG_DREP:
		return CM_IN_DREP;
	case CM_MSG_SIDR_REQ:
		return CM_IN_SIDR_REQ;
	case CM_MSG_SIDR_REP:
		return CM_IN_SIDR_REP;
	case CM_MSG_LAP:
		return CM_IN_LAP;
	case CM_MSG_APR:
		return CM_IN_APR;
	case CM_MSG_TYPES:
		break;
	}
	return CM_INPUTS;
}
EXPORT_SYMBOL_IF_KUNIT(cm_proto_input);

/**
 * cm_peer_is_active() - which of two that connect to each other goes on as the active side
 * @local_guid: CA of this side
 * @local_qpn: QP of this side
 * @remote_guid: CA that the REQ names
 * @remote_qpn: QP that the REQ names
 *
 * The side with the greater CA GUID, or with the greater QP number in one CA. Of the two sides
 * exactly one gets true, unless a QP connects to itself.
 *
 * Return: true if it is this side.
 */
bool cm_peer_is_active(u64 local_guid, u32 local_qpn, u64 remote_guid, u32 remote_qpn)
{
	if (local_guid != remote_guid)
		return local_guid > remote_guid;
	return local_qpn > remote_qpn;
}
EXPORT_SYMBOL_IF_KUNIT(cm_peer_is_active);

static const struct cm_wait_rule cm_waits[ROWS] = {
	[IB_CM_IDLE] = { CM_WAIT_NOTHING, CM_SEND_NOTHING },
	[IB_CM_LISTEN] = { CM_WAIT_PEER, CM_SEND_NOTHING },
	[IB_CM_REQ_SENT] = { CM_WAIT_ANSWER, CM_MSG_REQ },
	[IB_CM_REQ_RCVD] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[IB_CM_MRA_REQ_SENT] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[IB_CM_MRA_REQ_RCVD] = { CM_WAIT_SERVICE, CM_MSG_REQ },
	[IB_CM_REP_SENT] = { CM_WAIT_ANSWER, CM_MSG_REP },
	[IB_CM_REP_RCVD] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[IB_CM_MRA_REP_SENT] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[IB_CM_MRA_REP_RCVD] = { CM_WAIT_SERVICE, CM_MSG_REP },
	[ROW_ESTABLISHED(IB_CM_LAP_UNINIT)] = { CM_WAIT_PEER, CM_SEND_NOTHING },
	[ROW_ESTABLISHED(IB_CM_LAP_IDLE)] = { CM_WAIT_PEER, CM_SEND_NOTHING },
	[ROW_ESTABLISHED(IB_CM_LAP_SENT)] = { CM_WAIT_ANSWER, CM_MSG_LAP },
	[ROW_ESTABLISHED(IB_CM_LAP_RCVD)] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[ROW_ESTABLISHED(IB_CM_MRA_LAP_SENT)] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[ROW_ESTABLISHED(IB_CM_MRA_LAP_RCVD)] = { CM_WAIT_SERVICE, CM_MSG_LAP },
	[IB_CM_DREQ_SENT] = { CM_WAIT_ANSWER, CM_MSG_DREQ },
	[IB_CM_DREQ_RCVD] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
	[IB_CM_TIMEWAIT] = { CM_WAIT_TIME, CM_SEND_NOTHING },
	[IB_CM_SIDR_REQ_SENT] = { CM_WAIT_ANSWER, CM_MSG_SIDR_REQ },
	[IB_CM_SIDR_REQ_RCVD] = { CM_WAIT_CONSUMER, CM_SEND_NOTHING },
};

/**
 * cm_proto_wait() - get what an id waits for in a state
 * @state: state of an id
 * @lap: state of loading an alternate path
 *
 * Return: what for, and which message is under way.
 */
struct cm_wait_rule cm_proto_wait(enum ib_cm_state state, enum ib_cm_lap_state lap)
{
	return cm_waits[state == IB_CM_ESTABLISHED ? ROW_ESTABLISHED(lap) : state];
}
EXPORT_SYMBOL_IF_KUNIT(cm_proto_wait);
