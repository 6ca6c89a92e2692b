/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The states of an iWARP connection manager id, as one table.
 */
#ifndef CORE_IWCM_STATE_H
#define CORE_IWCM_STATE_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * enum iwcm_state - states of an id
 * @IWCM_IDLE: neither connected nor about to be
 * @IWCM_LISTENING: iw_create_listen() of the driver is running; requests may already arrive
 * @IWCM_LISTEN: listens
 * @IWCM_CONNECTING: the driver was asked to connect and has not reported CONNECT_REPLY
 * @IWCM_REQUESTED: made for a connection request that is not answered yet
 * @IWCM_ACCEPTING: the driver was asked to accept and has not reported ESTABLISHED
 * @IWCM_REJECTING: iw_reject() of the driver is running
 * @IWCM_ESTABLISHED: connected
 * @IWCM_CLOSING: one of the sides disconnects, and the driver has not reported CLOSE
 * @IWCM_DESTROYED: the consumer has destroyed it; nothing is reported any more
 * @IWCM_STATES: number of states
 */
enum iwcm_state {
	IWCM_IDLE,
	IWCM_LISTENING,
	IWCM_LISTEN,
	IWCM_CONNECTING,
	IWCM_REQUESTED,
	IWCM_ACCEPTING,
	IWCM_REJECTING,
	IWCM_ESTABLISHED,
	IWCM_CLOSING,
	IWCM_DESTROYED,
	IWCM_STATES
};

/**
 * enum iwcm_input - inputs of the state machine
 * @IWCM_CALL_LISTEN: iw_cm_listen()
 * @IWCM_CALL_CONNECT: iw_cm_connect()
 * @IWCM_CALL_ACCEPT: iw_cm_accept()
 * @IWCM_CALL_REJECT: iw_cm_reject()
 * @IWCM_CALL_DISCONNECT: iw_cm_disconnect()
 * @IWCM_CALL_INIT_ATTR: iw_cm_init_qp_attr()
 * @IWCM_CALL_DESTROY: iw_destroy_cm_id()
 * @IWCM_CALL_DESTROY_INSIDE: iw_destroy_cm_id() in the id's handler, or a return value of the
 *	handler that means the same
 * @IWCM_LISTENS: the driver listens, as iw_cm_listen() asked
 * @IWCM_REJECTED: the driver has rejected, as iw_cm_reject() asked
 * @IWCM_FAILED: the driver has refused to listen, connect or accept
 * @IWCM_EV_REQUEST: CONNECT_REQUEST for a listener
 * @IWCM_EV_REPLY: CONNECT_REPLY, the peer has accepted
 * @IWCM_EV_REFUSED: CONNECT_REPLY, there is no connection
 * @IWCM_EV_ESTABLISHED: ESTABLISHED
 * @IWCM_EV_DISCONNECT: DISCONNECT
 * @IWCM_EV_CLOSE: CLOSE
 * @IWCM_INPUTS: number of inputs
 */
enum iwcm_input {
	IWCM_CALL_LISTEN,
	IWCM_CALL_CONNECT,
	IWCM_CALL_ACCEPT,
	IWCM_CALL_REJECT,
	IWCM_CALL_DISCONNECT,
	IWCM_CALL_INIT_ATTR,
	IWCM_CALL_DESTROY,
	IWCM_CALL_DESTROY_INSIDE,
	IWCM_LISTENS,
	IWCM_REJECTED,
	IWCM_FAILED,
	IWCM_EV_REQUEST,
	IWCM_EV_REPLY,
	IWCM_EV_REFUSED,
	IWCM_EV_ESTABLISHED,
	IWCM_EV_DISCONNECT,
	IWCM_EV_CLOSE,
	IWCM_INPUTS
};

#define IWCM_TAKEN	BIT(0)	/* the input is valid in this state */
#define IWCM_WAIT	BIT(1)	/* wait for another state and try again */
#define IWCM_TELL	BIT(2)	/* the consumer's handler is called */
#define IWCM_SET_QP	BIT(3)	/* the id takes over the caller's reference on a QP */
#define IWCM_PUT_QP	BIT(4)	/* the id's reference on its QP is dropped */
#define IWCM_LEND_QP	BIT(5)	/* the caller gets a reference on the QP, which it disconnects */
#define IWCM_ABORT_QP	BIT(6)	/* the QP goes to the error state */
#define IWCM_UNLISTEN	BIT(7)	/* the driver is asked to stop listening */
#define IWCM_TURN_DOWN	BIT(8)	/* the driver is asked to reject */

/**
 * struct iwcm_step - the effect of an input in a state
 * @next: the state after it
 * @action: IWCM_TAKEN and further actions; 0: calls are refused, events are dropped
 */
struct iwcm_step {
	u16 next;
	u16 action;
};

struct iwcm_step iwcm_step_of(enum iwcm_state state, enum iwcm_input input);
const char *iwcm_state_name(enum iwcm_state state);

#endif
