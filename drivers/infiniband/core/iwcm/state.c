// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The effect of calls and events on an id in each state.
 *
 * Calls wait while the driver carries out an operation and has not reported its result: destroying
 * or disconnecting the id then would remove it while the driver uses it. The id's own handler
 * cannot wait for CONNECT_REPLY and ESTABLISHED, which are reported after it has returned;
 * destroying the id there aborts the connection instead.
 */
#include <linux/array_size.h>
#include <linux/kernel.h>

#include "iwcm.h"
#include "state.h"

#define STEP(_next, _action) { .next = IWCM_##_next, .action = IWCM_TAKEN | (_action) }
#define LATER(_same) { .next = IWCM_##_same, .action = IWCM_TAKEN | IWCM_WAIT }

static const struct iwcm_step steps[IWCM_STATES][IWCM_INPUTS] = {
	[IWCM_IDLE] = {
		[IWCM_CALL_LISTEN] = STEP(LISTENING, 0),
		[IWCM_CALL_CONNECT] = STEP(CONNECTING, IWCM_SET_QP),
		/* The peer has disconnected first: there is nothing left to disconnect. */
		[IWCM_CALL_DISCONNECT] = STEP(IDLE, 0),
		[IWCM_CALL_INIT_ATTR] = STEP(IDLE, 0),
		[IWCM_CALL_DESTROY] = STEP(DESTROYED, 0),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, 0),
	},
	[IWCM_LISTENING] = {
		[IWCM_CALL_DESTROY] = LATER(LISTENING),
		[IWCM_CALL_DESTROY_INSIDE] = LATER(LISTENING),
		[IWCM_LISTENS] = STEP(LISTEN, 0),
		[IWCM_FAILED] = STEP(IDLE, 0),
		[IWCM_EV_REQUEST] = STEP(LISTENING, IWCM_TELL),
	},
	[IWCM_LISTEN] = {
		[IWCM_CALL_DESTROY] = STEP(DESTROYED, IWCM_UNLISTEN),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_UNLISTEN),
		[IWCM_EV_REQUEST] = STEP(LISTEN, IWCM_TELL),
	},
	[IWCM_CONNECTING] = {
		[IWCM_CALL_DISCONNECT] = LATER(CONNECTING),
		[IWCM_CALL_INIT_ATTR] = STEP(CONNECTING, 0),
		[IWCM_CALL_DESTROY] = LATER(CONNECTING),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_ABORT_QP | IWCM_PUT_QP),
		[IWCM_FAILED] = STEP(IDLE, IWCM_PUT_QP),
		[IWCM_EV_REPLY] = STEP(ESTABLISHED, IWCM_TELL),
		[IWCM_EV_REFUSED] = STEP(IDLE, IWCM_TELL | IWCM_PUT_QP),
		[IWCM_EV_CLOSE] = STEP(IDLE, IWCM_TELL | IWCM_PUT_QP),
	},
	[IWCM_REQUESTED] = {
		[IWCM_CALL_ACCEPT] = STEP(ACCEPTING, IWCM_SET_QP),
		[IWCM_CALL_REJECT] = STEP(REJECTING, 0),
		[IWCM_CALL_DISCONNECT] = STEP(REQUESTED, 0),
		[IWCM_CALL_INIT_ATTR] = STEP(REQUESTED, 0),
		[IWCM_CALL_DESTROY] = STEP(DESTROYED, IWCM_TURN_DOWN),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_TURN_DOWN),
	},
	[IWCM_ACCEPTING] = {
		[IWCM_CALL_DISCONNECT] = LATER(ACCEPTING),
		[IWCM_CALL_INIT_ATTR] = STEP(ACCEPTING, 0),
		[IWCM_CALL_DESTROY] = LATER(ACCEPTING),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_ABORT_QP | IWCM_PUT_QP),
		[IWCM_FAILED] = STEP(IDLE, IWCM_PUT_QP),
		[IWCM_EV_ESTABLISHED] = STEP(ESTABLISHED, IWCM_TELL),
		[IWCM_EV_CLOSE] = STEP(IDLE, IWCM_TELL | IWCM_PUT_QP),
	},
	[IWCM_REJECTING] = {
		[IWCM_CALL_DISCONNECT] = LATER(REJECTING),
		[IWCM_CALL_INIT_ATTR] = STEP(REJECTING, 0),
		[IWCM_CALL_DESTROY] = LATER(REJECTING),
		[IWCM_CALL_DESTROY_INSIDE] = LATER(REJECTING),
		[IWCM_REJECTED] = STEP(IDLE, 0),
	},
	[IWCM_ESTABLISHED] = {
		[IWCM_CALL_DISCONNECT] = STEP(CLOSING, IWCM_LEND_QP),
		[IWCM_CALL_INIT_ATTR] = STEP(ESTABLISHED, 0),
		[IWCM_CALL_DESTROY] = STEP(DESTROYED, IWCM_ABORT_QP | IWCM_PUT_QP),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_ABORT_QP | IWCM_PUT_QP),
		/* Consumers get the CLOSE that follows. */
		[IWCM_EV_DISCONNECT] = STEP(CLOSING, 0),
		[IWCM_EV_CLOSE] = STEP(IDLE, IWCM_TELL | IWCM_PUT_QP),
	},
	[IWCM_CLOSING] = {
		[IWCM_CALL_DISCONNECT] = STEP(CLOSING, 0),
		[IWCM_CALL_DESTROY] = STEP(DESTROYED, IWCM_PUT_QP),
		[IWCM_CALL_DESTROY_INSIDE] = STEP(DESTROYED, IWCM_PUT_QP),
		[IWCM_EV_CLOSE] = STEP(IDLE, IWCM_TELL | IWCM_PUT_QP),
	},
};

/**
 * iwcm_step_of() - look up an input
 * @state: state of the id
 * @input: the call or event
 *
 * Context: any.
 * Return: its effect.
 */
struct iwcm_step iwcm_step_of(enum iwcm_state state, enum iwcm_input input)
{
	return steps[state][input];
}
EXPORT_SYMBOL_IF_KUNIT(iwcm_step_of);

/**
 * iwcm_state_name() - get a state's name for the reason of a refusal
 * @state: the state
 *
 * Return: a constant text.
 */
const char *iwcm_state_name(enum iwcm_state state)
{
	static const char * const names[] = {
		[IWCM_IDLE] = "idle",
		[IWCM_LISTENING] = "about to listen",
		[IWCM_LISTEN] = "listening",
		[IWCM_CONNECTING] = "connecting",
		[IWCM_REQUESTED] = "a connection request",
		[IWCM_ACCEPTING] = "accepting",
		[IWCM_REJECTING] = "rejecting",
		[IWCM_ESTABLISHED] = "connected",
		[IWCM_CLOSING] = "closing",
		[IWCM_DESTROYED] = "destroyed",
	};

	static_assert(ARRAY_SIZE(names) == IWCM_STATES);
	return names[state];
}
