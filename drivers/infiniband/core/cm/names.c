// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Words for the numbers of the communication manager, for traces and for people.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>

#include "msg.h"
#include "proto.h"

static const char *cm_word(const char *const words[], unsigned int count, unsigned int number)
{
	return number < count && words[number] ? words[number] : "unknown";
}

static const char *const cm_rej_reasons[] = {
	[IB_CM_REJ_NO_QP] = "no QP left",
	[IB_CM_REJ_NO_EEC] = "no end-to-end context left",
	[IB_CM_REJ_NO_RESOURCES] = "out of resources",
	[IB_CM_REJ_TIMEOUT] = "peer gave up waiting",
	[IB_CM_REJ_UNSUPPORTED] = "request not supported",
	[IB_CM_REJ_INVALID_COMM_ID] = "unknown communication id",
	[IB_CM_REJ_INVALID_COMM_INSTANCE] = "unknown communication instance",
	[IB_CM_REJ_INVALID_SERVICE_ID] = "nobody listens for the service id",
	[IB_CM_REJ_INVALID_TRANSPORT_TYPE] = "unknown transport",
	[IB_CM_REJ_STALE_CONN] = "a former connection of the QP is not over",
	[IB_CM_REJ_RDC_NOT_EXIST] = "no such reliable datagram channel",
	[IB_CM_REJ_INVALID_GID] = "GID of the path is not known",
	[IB_CM_REJ_INVALID_LID] = "LID of the path is not known",
	[IB_CM_REJ_INVALID_SL] = "service level of the path not possible",
	[IB_CM_REJ_INVALID_TRAFFIC_CLASS] = "traffic class of the path not possible",
	[IB_CM_REJ_INVALID_HOP_LIMIT] = "hop limit of the path not possible",
	[IB_CM_REJ_INVALID_PACKET_RATE] = "packet rate of the path not possible",
	[IB_CM_REJ_INVALID_ALT_GID] = "GID of the alternate path is not known",
	[IB_CM_REJ_INVALID_ALT_LID] = "LID of the alternate path is not known",
	[IB_CM_REJ_INVALID_ALT_SL] = "service level of the alternate path not possible",
	[IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS] = "traffic class of the alternate path not possible",
	[IB_CM_REJ_INVALID_ALT_HOP_LIMIT] = "hop limit of the alternate path not possible",
	[IB_CM_REJ_INVALID_ALT_PACKET_RATE] = "packet rate of the alternate path not possible",
	[IB_CM_REJ_PORT_CM_REDIRECT] = "another port's communication manager serves this",
	[IB_CM_REJ_PORT_REDIRECT] = "another port serves this",
	[IB_CM_REJ_INVALID_MTU] = "path MTU not possible",
	[IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES] = "too few responder resources",
	[IB_CM_REJ_CONSUMER_DEFINED] = "refused by the consumer",
	[IB_CM_REJ_INVALID_RNR_RETRY] = "RNR retry count not possible",
	[IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID] = "communication id used twice",
	[IB_CM_REJ_INVALID_CLASS_VERSION] = "another version of the class",
	[IB_CM_REJ_INVALID_FLOW_LABEL] = "flow label of the path not possible",
	[IB_CM_REJ_INVALID_ALT_FLOW_LABEL] = "flow label of the alternate path not possible",
	[IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED] = "vendor option not supported",
};

/**
 * cm_rej_reason_name() - get the name of a reason of a REJ
 * @reason: any number
 *
 * Return: a phrase without a full stop; "unknown reason" for numbers without a meaning here.
 */
const char *cm_rej_reason_name(unsigned int reason)
{
	if (reason < ARRAY_SIZE(cm_rej_reasons) && cm_rej_reasons[reason])
		return cm_rej_reasons[reason];
	return "unknown reason";
}
EXPORT_SYMBOL_IF_KUNIT(cm_rej_reason_name);

static const char *const cm_states[CM_STATES] = {
	[IB_CM_IDLE] = "IDLE",
	[IB_CM_LISTEN] = "LISTEN",
	[IB_CM_REQ_SENT] = "REQ_SENT",
	[IB_CM_REQ_RCVD] = "REQ_RCVD",
	[IB_CM_MRA_REQ_SENT] = "MRA_REQ_SENT",
	[IB_CM_MRA_REQ_RCVD] = "MRA_REQ_RCVD",
	[IB_CM_REP_SENT] = "REP_SENT",
	[IB_CM_REP_RCVD] = "REP_RCVD",
	[IB_CM_MRA_REP_SENT] = "MRA_REP_SENT",
	[IB_CM_MRA_REP_RCVD] = "MRA_REP_RCVD",
	[IB_CM_ESTABLISHED] = "ESTABLISHED",
	[IB_CM_DREQ_SENT] = "DREQ_SENT",
	[IB_CM_DREQ_RCVD] = "DREQ_RCVD",
	[IB_CM_TIMEWAIT] = "TIMEWAIT",
	[IB_CM_SIDR_REQ_SENT] = "SIDR_REQ_SENT",
	[IB_CM_SIDR_REQ_RCVD] = "SIDR_REQ_RCVD",
};

/**
 * cm_state_name() - name of a state
 * @state: any number
 *
 * Return: the name without its prefix, or "unknown".
 */
const char *cm_state_name(enum ib_cm_state state)
{
	return cm_word(cm_states, ARRAY_SIZE(cm_states), state);
}
EXPORT_SYMBOL_IF_KUNIT(cm_state_name);

static const char *const cm_lap_states[CM_LAP_STATES] = {
	[IB_CM_LAP_UNINIT] = "LAP_UNINIT",
	[IB_CM_LAP_IDLE] = "LAP_IDLE",
	[IB_CM_LAP_SENT] = "LAP_SENT",
	[IB_CM_LAP_RCVD] = "LAP_RCVD",
	[IB_CM_MRA_LAP_SENT] = "MRA_LAP_SENT",
	[IB_CM_MRA_LAP_RCVD] = "MRA_LAP_RCVD",
};

/**
 * cm_lap_state_name() - name of a state of loading an alternate path
 * @lap: any number
 *
 * Return: the name without its prefix, or "unknown".
 */
const char *cm_lap_state_name(enum ib_cm_lap_state lap)
{
	return cm_word(cm_lap_states, ARRAY_SIZE(cm_lap_states), lap);
}
EXPORT_SYMBOL_IF_KUNIT(cm_lap_state_name);

static const char *const cm_events[] = {
	[IB_CM_REQ_ERROR] = "REQ_ERROR",
	[IB_CM_REQ_RECEIVED] = "REQ_RECEIVED",
	[IB_CM_REP_ERROR] = "REP_ERROR",
	[IB_CM_REP_RECEIVED] = "REP_RECEIVED",
	[IB_CM_RTU_RECEIVED] = "RTU_RECEIVED",
	[IB_CM_USER_ESTABLISHED] = "USER_ESTABLISHED",
	[IB_CM_DREQ_ERROR] = "DREQ_ERROR",
	[IB_CM_DREQ_RECEIVED] = "DREQ_RECEIVED",
	[IB_CM_DREP_RECEIVED] = "DREP_RECEIVED",
	[IB_CM_TIMEWAIT_EXIT] = "TIMEWAIT_EXIT",
	[IB_CM_MRA_RECEIVED] = "MRA_RECEIVED",
	[IB_CM_REJ_RECEIVED] = "REJ_RECEIVED",
	[IB_CM_LAP_ERROR] = "LAP_ERROR",
	[IB_CM_LAP_RECEIVED] = "LAP_RECEIVED",
	[IB_CM_APR_RECEIVED] = "APR_RECEIVED",
	[IB_CM_SIDR_REQ_ERROR] = "SIDR_REQ_ERROR",
	[IB_CM_SIDR_REQ_RECEIVED] = "SIDR_REQ_RECEIVED",
	[IB_CM_SIDR_REP_RECEIVED] = "SIDR_REP_RECEIVED",
};

/**
 * cm_event_name() - name of an event
 * @event: any number
 *
 * Return: the name without its prefix, or "unknown".
 */
const char *cm_event_name(enum ib_cm_event_type event)
{
	return cm_word(cm_events, ARRAY_SIZE(cm_events), event);
}
EXPORT_SYMBOL_IF_KUNIT(cm_event_name);

static const char *const cm_inputs[CM_INPUTS] = {
	[CM_IN_REQ] = "REQ",
	[CM_IN_REQ_AGAIN] = "REQ again",
	[CM_IN_REQ_PEER_YIELD] = "REQ of a peer that stays active",
	[CM_IN_REQ_PEER_KEEP] = "REQ of a peer that becomes passive",
	[CM_IN_MRA_REQ] = "MRA of a REQ",
	[CM_IN_MRA_REP] = "MRA of a REP",
	[CM_IN_MRA_LAP] = "MRA of a LAP",
	[CM_IN_REJ] = "REJ",
	[CM_IN_REJ_STALE] = "REJ, stale connection",
	[CM_IN_REP] = "REP",
	[CM_IN_REP_STALE] = "REP with a QP in use",
	[CM_IN_RTU] = "RTU",
	[CM_IN_DREQ] = "DREQ",
	[CM_IN_DREP] = "DREP",
	[CM_IN_LAP] = "LAP",
	[CM_IN_APR] = "APR",
	[CM_IN_SIDR_REQ] = "SIDR_REQ",
	[CM_IN_SIDR_REQ_AGAIN] = "SIDR_REQ again",
	[CM_IN_SIDR_REP] = "SIDR_REP",
	[CM_IN_QP_REUSED] = "remote QP in another connection",
	[CM_IN_CALL_LISTEN] = "listen",
	[CM_IN_CALL_REQ] = "send REQ",
	[CM_IN_CALL_REP] = "send REP",
	[CM_IN_CALL_RTU] = "send RTU",
	[CM_IN_CALL_REJ] = "send REJ",
	[CM_IN_CALL_MRA] = "send MRA",
	[CM_IN_CALL_DREQ] = "send DREQ",
	[CM_IN_CALL_DREP] = "send DREP",
	[CM_IN_CALL_LAP] = "send LAP",
	[CM_IN_CALL_APR] = "send APR",
	[CM_IN_CALL_SIDR_REQ] = "send SIDR_REQ",
	[CM_IN_CALL_SIDR_REP] = "send SIDR_REP",
	[CM_IN_CALL_ESTABLISHED] = "notify communication established",
	[CM_IN_CALL_MIGRATED] = "notify path migrated",
	[CM_IN_CALL_HANDOFF] = "hand off",
	[CM_IN_CALL_DESTROY] = "destroy",
	[CM_IN_CALL_DESTROY_QUIETLY] = "destroy quietly",
	[CM_IN_SEND_FAILED] = "no answer",
	[CM_IN_DREQ_UNSENT] = "DREQ not sent",
	[CM_IN_TIMEWAIT_OVER] = "end of TIMEWAIT",
	[CM_IN_REJ_PEER_EARLY] = "REJ of a peer that has not called yet",
};

/**
 * cm_input_name() - name of an input of the protocol
 * @input: any number
 *
 * Return: a phrase, or "unknown".
 */
const char *cm_input_name(enum cm_input input)
{
	return cm_word(cm_inputs, ARRAY_SIZE(cm_inputs), input);
}
EXPORT_SYMBOL_IF_KUNIT(cm_input_name);
