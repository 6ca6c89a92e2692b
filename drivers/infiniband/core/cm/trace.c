// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The trace points, and which of them a message is.
 */
#include "cm.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * cm_trace_send() - trace a message that an id sends
 * @id: id
 * @msg: its contents
 */
void cm_trace_send(const struct ib_cm_id *id, const struct cm_msg *msg)
{
	switch (msg->type) {
	case CM_MSG_REQ:
		trace_icm_send_req(id);
		break;
	case CM_MSG_MRA:
		trace_icm_send_mra(id);
		break;
	case CM_MSG_REJ:
		trace_icm_send_rej(id, msg->rej.reason);
		break;
	case CM_MSG_REP:
		trace_icm_send_rep(id);
		break;
	case CM_MSG_RTU:
		trace_icm_send_rtu(id);
		break;
	case CM_MSG_DREQ:
		trace_icm_send_dreq(id);
		break;
	case CM_MSG_DREP:
		trace_icm_send_drep(id);
		break;
	case CM_MSG_SIDR_REQ:
		trace_icm_send_sidr_req(id);
		break;
	case CM_MSG_SIDR_REP:
		trace_icm_send_sidr_rep(id);
		break;
	default:
		break;
	}
}

/**
 * cm_trace_repeat() - trace an answer to a message that came before
 * @id: id
 * @answer: with what
 */
void cm_trace_repeat(const struct ib_cm_id *id, enum cm_msg_type answer)
{
	if (id->state == IB_CM_REQ_RCVD || id->state == IB_CM_MRA_REQ_SENT)
		trace_icm_send_dup_req(id);
	else if (answer == CM_MSG_RTU || id->state == IB_CM_MRA_REP_SENT)
		trace_icm_send_dup_rep(id);
}
