/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of ib_cm. Names of events and fields are those of Linux 6.12.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_cma

#if !defined(CORE_CM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CORE_CM_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>

#include "msg.h"
#include "proto.h"

#ifndef CM_TRACE_DECLARED
#define CM_TRACE_DECLARED
void cm_trace_send(const struct ib_cm_id *id, const struct cm_msg *msg);
void cm_trace_repeat(const struct ib_cm_id *id, enum cm_msg_type answer);
#endif

/* States and reasons are shown by their names; programs that read the raw records get numbers. */
#define CM_SHOW_STATE(state)	cm_state_name(state)
#define CM_SHOW_LAP(state)	cm_lap_state_name(state)
#define CM_SHOW_REASON(reason)	cm_rej_reason_name(reason)

/* An id, and what state it is in. */
DECLARE_EVENT_CLASS(icm_id_class,
	TP_PROTO(const struct ib_cm_id *cm_id),
	TP_ARGS(cm_id),
	TP_STRUCT__entry(
		__field(const void *, cm_id)
		__field(unsigned int, local_id)
		__field(unsigned int, remote_id)
		__field(unsigned long, state)
		__field(unsigned long, lap_state)
	),
	TP_fast_assign(
		__entry->cm_id = cm_id;
		__entry->state = cm_id->state;
		__entry->lap_state = cm_id->lap_state;
		__entry->local_id = be32_to_cpu(cm_id->local_id);
		__entry->remote_id = be32_to_cpu(cm_id->remote_id);
	),
	TP_printk("local_id=%u remote_id=%u state=%s lap_state=%s", __entry->local_id,
		  __entry->remote_id, CM_SHOW_STATE(__entry->state),
		  CM_SHOW_LAP(__entry->lap_state))
);

#define CM_ID_EVENT(_name)							\
	DEFINE_EVENT(icm_id_class, icm_##_name,					\
		     TP_PROTO(const struct ib_cm_id *cm_id), TP_ARGS(cm_id))

/* Messages that an id sends, the first time and again. */
CM_ID_EVENT(send_req);
CM_ID_EVENT(send_rep);
CM_ID_EVENT(send_dup_req);
CM_ID_EVENT(send_dup_rep);
CM_ID_EVENT(send_rtu);
CM_ID_EVENT(send_mra);
CM_ID_EVENT(send_sidr_req);
CM_ID_EVENT(send_sidr_rep);
CM_ID_EVENT(send_dreq);
CM_ID_EVENT(send_drep);

/* Calls and messages that do not fit the id's state. */
CM_ID_EVENT(send_cm_rtu_err);
CM_ID_EVENT(establish_err);
CM_ID_EVENT(no_listener_err);
CM_ID_EVENT(send_drep_err);
CM_ID_EVENT(dreq_unknown_err);
CM_ID_EVENT(send_unknown_rej_err);
CM_ID_EVENT(rej_unknown_err);
CM_ID_EVENT(send_mra_unknown_err);
CM_ID_EVENT(mra_unknown_err);
CM_ID_EVENT(qp_init_err);
CM_ID_EVENT(qp_rtr_err);
CM_ID_EVENT(qp_rts_err);
CM_ID_EVENT(dreq_skipped);

/* An id refuses. */
TRACE_EVENT(icm_send_rej,
	TP_PROTO(const struct ib_cm_id *cm_id, enum ib_cm_rej_reason reason),
	TP_ARGS(cm_id, reason),
	TP_STRUCT__entry(
		__field(const void *, cm_id)
		__field(u32, local_id)
		__field(u32, remote_id)
		__field(unsigned long, state)
		__field(unsigned long, reason)
	),
	TP_fast_assign(
		__entry->cm_id = cm_id;
		__entry->reason = reason;
		__entry->state = cm_id->state;
		__entry->local_id = be32_to_cpu(cm_id->local_id);
		__entry->remote_id = be32_to_cpu(cm_id->remote_id);
	),
	TP_printk("local_id=%u remote_id=%u state=%s reason=%s", __entry->local_id,
		  __entry->remote_id, CM_SHOW_STATE(__entry->state),
		  CM_SHOW_REASON(__entry->reason))
);

/* Two numbers of a message that is no id's. */
DECLARE_EVENT_CLASS(icm_local_class,
	TP_PROTO(unsigned int local_id, unsigned int remote_id),
	TP_ARGS(local_id, remote_id),
	TP_STRUCT__entry(
		__field(unsigned int, local_id)
		__field(unsigned int, remote_id)
	),
	TP_fast_assign(
		__entry->local_id = local_id;
		__entry->remote_id = remote_id;
	),
	TP_printk("local_id=%u remote_id=%u", __entry->local_id, __entry->remote_id)
);

#define CM_LOCAL_EVENT(_name)							\
	DEFINE_EVENT(icm_local_class, icm_##_name,				\
		     TP_PROTO(unsigned int local_id, unsigned int remote_id),	\
		     TP_ARGS(local_id, remote_id))

CM_LOCAL_EVENT(issue_rej);
CM_LOCAL_EVENT(issue_drep);
CM_LOCAL_EVENT(staleconn_err);
CM_LOCAL_EVENT(no_priv_err);

/* A number of the peer's. */
DECLARE_EVENT_CLASS(icm_remote_class,
	TP_PROTO(u32 remote_id),
	TP_ARGS(remote_id),
	TP_STRUCT__entry(__field(u32, remote_id)),
	TP_fast_assign(__entry->remote_id = remote_id;),
	TP_printk("remote_id=%u", __entry->remote_id)
);

#define CM_REMOTE_EVENT(_name)							\
	DEFINE_EVENT(icm_remote_class, icm_##_name, TP_PROTO(u32 remote_id), TP_ARGS(remote_id))

CM_REMOTE_EVENT(remote_no_priv_err);
CM_REMOTE_EVENT(insert_failed_err);

/* A reply in the wrong state. */
TRACE_EVENT(icm_send_rep_err,
	TP_PROTO(__be32 local_id, enum ib_cm_state state),
	TP_ARGS(local_id, state),
	TP_STRUCT__entry(
		__field(unsigned int, local_id)
		__field(unsigned long, state)
	),
	TP_fast_assign(
		__entry->state = state;
		__entry->local_id = be32_to_cpu(local_id);
	),
	TP_printk("local_id=%u state=%s", __entry->local_id, CM_SHOW_STATE(__entry->state))
);

/* A reply that does not belong to any request. */
TRACE_EVENT(icm_rep_unknown_err,
	TP_PROTO(unsigned int local_id, unsigned int remote_id, enum ib_cm_state state),
	TP_ARGS(local_id, remote_id, state),
	TP_STRUCT__entry(
		__field(unsigned int, local_id)
		__field(unsigned int, remote_id)
		__field(unsigned long, state)
	),
	TP_fast_assign(
		__entry->state = state;
		__entry->local_id = local_id;
		__entry->remote_id = remote_id;
	),
	TP_printk("local_id=%u remote_id=%u state=%s", __entry->local_id, __entry->remote_id,
		  CM_SHOW_STATE(__entry->state))
);

/* An event that no rule has. */
TRACE_EVENT(icm_handler_err,
	TP_PROTO(enum ib_cm_event_type event),
	TP_ARGS(event),
	TP_STRUCT__entry(__field(unsigned long, event)),
	TP_fast_assign(__entry->event = event;),
	TP_printk("unhandled event=%s", cm_event_name(__entry->event))
);

/* A message that was not answered, or did not leave. */
TRACE_EVENT(icm_mad_send_err,
	TP_PROTO(enum ib_cm_state state, enum ib_wc_status wc_status),
	TP_ARGS(state, wc_status),
	TP_STRUCT__entry(
		__field(unsigned long, state)
		__field(unsigned long, wc_status)
	),
	TP_fast_assign(
		__entry->state = state;
		__entry->wc_status = wc_status;
	),
	TP_printk("state=%s completion status=%s", CM_SHOW_STATE(__entry->state),
		  ib_wc_status_msg(__entry->wc_status))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
