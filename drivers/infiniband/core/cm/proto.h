/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of the communication manager: for each state of an id and each thing that can
 * happen to it, what is to be done. It knows no device, no lock and no clock: the caller holds the
 * id's lock, looks the rule up, prepares what may fail (the message of @send), and then carries out
 * the rule, which cannot fail.
 *
 * States are those of rdma/ib_cm.h. The state of loading an alternate path counts in
 * IB_CM_ESTABLISHED only.
 */
#ifndef RDMA_CM_PROTO_H
#define RDMA_CM_PROTO_H

#include <linux/types.h>
#include <rdma/ib_cm.h>

#include "msg.h"

#define CM_STATES	(IB_CM_SIDR_REQ_RCVD + 1)
#define CM_LAP_STATES	(IB_CM_MRA_LAP_RCVD + 1)

/* What can happen to an id: a message arrives, its consumer makes a call, a timer expires. */
enum cm_input {
	/*
	 * Messages. A REQ is one of three inputs, by how its id was found: new for an id that was
	 * just made for it; again when an id has this remote id and CA already; a peer's when an id
	 * in IB_CM_REQ_SENT that may connect peer to peer asks for the same service, and
	 * cm_peer_is_active() says which side goes on as the active one.
	 */
	CM_IN_REQ,
	CM_IN_REQ_AGAIN,
	CM_IN_REQ_PEER_YIELD,		/* this side becomes the passive one */
	CM_IN_REQ_PEER_KEEP,		/* this side stays the active one */
	CM_IN_MRA_REQ,
	CM_IN_MRA_REP,
	CM_IN_MRA_LAP,
	CM_IN_REJ,
	CM_IN_REJ_STALE,		/* reason IB_CM_REJ_STALE_CONN */
	CM_IN_REP,
	CM_IN_REP_STALE,		/* another id has the QP that this REP names */
	CM_IN_RTU,
	CM_IN_DREQ,
	CM_IN_DREP,
	CM_IN_LAP,
	CM_IN_APR,
	CM_IN_SIDR_REQ,
	CM_IN_SIDR_REQ_AGAIN,
	CM_IN_SIDR_REP,
	/* A REQ or REP of another connection names the QP that this id is connected to. */
	CM_IN_QP_REUSED,

	/* Calls of the consumer. */
	CM_IN_CALL_LISTEN,
	CM_IN_CALL_REQ,
	CM_IN_CALL_REP,
	CM_IN_CALL_RTU,
	CM_IN_CALL_REJ,
	CM_IN_CALL_MRA,			/* also a delayed one, which only answers duplicates */
	CM_IN_CALL_DREQ,
	CM_IN_CALL_DREP,
	CM_IN_CALL_LAP,
	CM_IN_CALL_APR,
	CM_IN_CALL_SIDR_REQ,
	CM_IN_CALL_SIDR_REP,
	CM_IN_CALL_ESTABLISHED,		/* ib_cm_notify(IB_EVENT_COMM_EST) */
	CM_IN_CALL_MIGRATED,		/* ib_cm_notify(IB_EVENT_PATH_MIG) */
	CM_IN_CALL_HANDOFF,		/* the REQ is given to the listener of another service */
	CM_IN_CALL_DESTROY,
	CM_IN_CALL_DESTROY_QUIETLY,	/* no memory, or no QP to disconnect (XRC) */

	/* Time, and failures of the own side. */
	CM_IN_SEND_FAILED,		/* no answer, however often it was sent */
	CM_IN_DREQ_UNSENT,		/* after CM_IN_CALL_DREQ there was no memory for the DREQ */
	CM_IN_TIMEWAIT_OVER,

	/* IB_CM_REJ_INVALID_SERVICE_ID for a REQ peer to peer: the peer has not called yet. */
	CM_IN_REJ_PEER_EARLY,

	CM_INPUTS,
};

/* How an input is treated in a state. */
enum cm_verdict {
	CM_REFUSE,	/* a call fails with @error; a message is dropped */
	CM_DUPLICATE,	/* a message came before: counted, answered if @send says so, no more */
	CM_PROCEED,	/* the rule is carried out */
};

/* Actions besides the message, the state and the event; bits of struct cm_rule.todo. */
#define CM_DO_CANCEL	BIT(0)	/* the message under way is not repeated any more */
#define CM_DO_AWAIT	BIT(1)	/* @send is sent again until it is answered: cm_proto_wait() */
#define CM_DO_EXTEND	BIT(2)	/* the message under way waits as long as the MRA says */
#define CM_DO_REPEAT	BIT(3)	/* @send has the private data that it had before, if any */
#define CM_DO_BIND	BIT(4)	/* remote id, CA and QP of the message are those of this id now */
#define CM_DO_UNBIND	BIT(5)	/* remote id and QP are free at once */
#define CM_DO_TIMEWAIT	BIT(6)	/* TIMEWAIT begins: only the remote id stays taken */
#define CM_DO_LOAD	BIT(7)	/* the path of the LAP becomes the id's alternate path */
#define CM_DO_MIGRATE	BIT(8)	/* the alternate path becomes the path */

#define CM_SEND_NOTHING	CM_MSG_TYPES
#define CM_NO_EVENT	(-1)

/**
 * struct cm_rule - what to do about an input
 * @verdict: enum cm_verdict
 * @next: enum ib_cm_state afterwards
 * @next_lap: enum ib_cm_lap_state afterwards
 * @send: enum cm_msg_type to send, or CM_SEND_NOTHING
 * @about: enum cm_about of a REJ or MRA in @send
 * @code: reason of a REJ, status of a SIDR_REP or APR in @send if no call says it; a REJ with
 *	IB_CM_REJ_TIMEOUT carries the GUID of the own CA as additional information
 * @event: enum ib_cm_event_type for the consumer, or CM_NO_EVENT
 * @error: negative error number of a call with CM_REFUSE
 * @todo: CM_DO_*
 */
struct cm_rule {
	u8	verdict;
	u8	next;
	u8	next_lap;
	u8	send;
	u8	about;
	u8	code;
	s8	event;
	s8	error;
	u16	todo;
};

/* The rule for an input in a state; all values of the enums have one. */
struct cm_rule cm_proto_rule(enum ib_cm_state state, enum ib_cm_lap_state lap,
			     enum cm_input input);

/*
 * The answer to a message for which there is no id and no listener: @send, @about, @code count.
 */
struct cm_rule cm_proto_orphan(enum cm_msg_type type);

/* The input that a message is: of a REQ, REP or SIDR_REQ the first of its kinds. */
enum cm_input cm_proto_input(const struct cm_msg *msg);

/* If both sides connect to each other: does this side stay the active one? */
bool cm_peer_is_active(u64 local_guid, u32 local_qpn, u64 remote_guid, u32 remote_qpn);

/* What an id waits for in a state. */
enum cm_wait {
	CM_WAIT_NOTHING,	/* begins or ends here */
	CM_WAIT_CONSUMER,	/* the consumer's next call */
	CM_WAIT_PEER,		/* messages, without a time */
	CM_WAIT_ANSWER,		/* an answer: @send goes out again at each time-out */
	CM_WAIT_SERVICE,	/* an answer that an MRA has announced, then as CM_WAIT_ANSWER */
	CM_WAIT_TIME,		/* the end of TIMEWAIT */
};

/**
 * struct cm_wait_rule - what an id waits for in a state
 * @kind: enum cm_wait
 * @send: the message under way, for CM_WAIT_ANSWER and CM_WAIT_SERVICE
 */
struct cm_wait_rule {
	u8	kind;
	u8	send;
};

struct cm_wait_rule cm_proto_wait(enum ib_cm_state state, enum ib_cm_lap_state lap);

const char *cm_state_name(enum ib_cm_state state);
const char *cm_lap_state_name(enum ib_cm_lap_state lap);
const char *cm_event_name(enum ib_cm_event_type event);
const char *cm_input_name(enum cm_input input);

#endif
