/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of mad/. System, events and fields have the names by which tools know those of
 * 6.12.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_mad

#if !defined(RDMA_MAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RDMA_MAD_TRACE_H

#include <linux/tracepoint.h>

#include <rdma/ib_smi.h>

#include "mad_priv.h"

/* The fields that all MADs have. */
#define MAD_TRACE_HDR							\
	__field(u8, base_version)					\
	__field(u8, mgmt_class)						\
	__field(u8, class_version)					\
	__field(u8, method)						\
	__field(u16, status)						\
	__field(u16, class_specific)					\
	__field(u64, tid)						\
	__field(u16, attr_id)						\
	__field(u32, attr_mod)

#define MAD_TRACE_ASSIGN_HDR(hdr)					\
	do {								\
		const struct ib_mad_hdr *_hdr = (hdr);			\
									\
		__entry->base_version = _hdr->base_version;		\
		__entry->mgmt_class = _hdr->mgmt_class;			\
		__entry->class_version = _hdr->class_version;		\
		__entry->method = _hdr->method;				\
		__entry->status = be16_to_cpu(_hdr->status);		\
		__entry->class_specific =				\
			be16_to_cpu(_hdr->class_specific);		\
		__entry->tid = be64_to_cpu(_hdr->tid);			\
		__entry->attr_id = be16_to_cpu(_hdr->attr_id);		\
		__entry->attr_mod = be32_to_cpu(_hdr->attr_mod);	\
	} while (0)

#define MAD_TRACE_HDR_FMT						\
	"base_ver 0x%02x class 0x%02x class_ver 0x%02x method 0x%02x "	\
	"status 0x%04x class_specific 0x%04x tid 0x%016llx "		\
	"attr_id 0x%04x attr_mod 0x%08x"

#define MAD_TRACE_HDR_ARGS						\
	__entry->base_version, __entry->mgmt_class,			\
	__entry->class_version, __entry->method, __entry->status,	\
	__entry->class_specific, __entry->tid, __entry->attr_id,	\
	__entry->attr_mod

DECLARE_EVENT_CLASS(ib_mad_send_template,
	TP_PROTO(struct mad_send *send, enum ib_wc_status wc_status),
	TP_ARGS(send, wc_status),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qp_num)
		__field(u32, wc_status)
		__field(void *, agent_priv)
		__field(u64, wrtid)
		__field(int, retries_left)
		__field(int, max_retries)
		__field(int, retry)
		__field(unsigned int, timeout)
		__field(u32, length)
		MAD_TRACE_HDR
		__field(u32, rqpn)
		__field(u32, rqkey)
		__field(u16, pkey_index)
	),
	TP_fast_assign(
		__entry->dev_index = send->agent->port->device->index;
		__entry->port_num = send->agent->port->port_num;
		__entry->qp_num = send->agent->qp->index;
		__entry->wc_status = wc_status;
		__entry->agent_priv = send->agent;
		__entry->wrtid = be64_to_cpu(send->tid);
		__entry->retries_left = send->retries_left;
		__entry->max_retries = send->max_retries;
		__entry->retry = send->buf.retries;
		__entry->timeout = send->timeout_ms;
		__entry->length = send->buf.hdr_len + send->buf.data_len;
		MAD_TRACE_ASSIGN_HDR(send_hdr(send));
		__entry->rqpn = send->wr.remote_qpn;
		__entry->rqkey = send->wr.remote_qkey;
		__entry->pkey_index = send->wr.pkey_index;
	),
	TP_printk("%u:%u QP%u : SEND WC Status %u : agent %p: wrtid 0x%llx; %d/%d retries(%d); "
		  "timeout %u length %u : hdr : " MAD_TRACE_HDR_FMT
		  " => rqpn 0x%x rqkey 0x%x pkey_index %u",
		  __entry->dev_index, __entry->port_num, __entry->qp_num, __entry->wc_status,
		  __entry->agent_priv, __entry->wrtid, __entry->retries_left,
		  __entry->max_retries, __entry->retry, __entry->timeout, __entry->length,
		  MAD_TRACE_HDR_ARGS, __entry->rqpn, __entry->rqkey, __entry->pkey_index)
);

/* A MAD goes to the QP. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_ib_send_mad,
	TP_PROTO(struct mad_send *send, enum ib_wc_status wc_status),
	TP_ARGS(send, wc_status)
);

/* The QP has done with it. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_send_done_handler,
	TP_PROTO(struct mad_send *send, enum ib_wc_status wc_status),
	TP_ARGS(send, wc_status)
);

/* The QP has failed for another's sake, and the MAD goes to it again. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_send_done_resend,
	TP_PROTO(struct mad_send *send, enum ib_wc_status wc_status),
	TP_ARGS(send, wc_status)
);

/* The QP could not send it. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_error_handler,
	TP_PROTO(struct mad_send *send, enum ib_wc_status wc_status),
	TP_ARGS(send, wc_status)
);

TRACE_EVENT(ib_mad_recv_done_handler,
	TP_PROTO(const struct mad_recv *recv),
	TP_ARGS(recv),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qp_num)
		__field(u32, wc_status)
		__field(u32, length)
		MAD_TRACE_HDR
		__field(u32, slid)
		__field(u32, src_qp)
		__field(u8, sl)
	),
	TP_fast_assign(
		__entry->dev_index = recv->qp->port->device->index;
		__entry->port_num = recv->qp->port->port_num;
		__entry->qp_num = recv->qp->index;
		__entry->wc_status = recv->wc.status;
		__entry->length = recv->wc.byte_len;
		MAD_TRACE_ASSIGN_HDR(recv_hdr(recv));
		__entry->slid = recv->wc.slid;
		__entry->src_qp = recv->wc.src_qp;
		__entry->sl = recv->wc.sl;
	),
	TP_printk("%u:%u QP%u : RECV WC Status %u : length %u : hdr : " MAD_TRACE_HDR_FMT
		  " slid 0x%08x src QP%u, sl %u",
		  __entry->dev_index, __entry->port_num, __entry->qp_num, __entry->wc_status,
		  __entry->length, MAD_TRACE_HDR_ARGS, __entry->slid, __entry->src_qp,
		  __entry->sl)
);

DECLARE_EVENT_CLASS(ib_mad_agent_template,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, hi_tid)
		__field(u32, port_num)
		__field(u8, mgmt_class)
		__field(u8, mgmt_class_version)
	),
	TP_fast_assign(
		__entry->dev_index = agent->dev_index;
		__entry->hi_tid = agent->agent.hi_tid;
		__entry->port_num = agent->port->port_num;
		__entry->mgmt_class = agent->req.mgmt_class;
		__entry->mgmt_class_version = agent->req.mgmt_class_version;
	),
	TP_printk("%u:%u mad agent : hi_tid 0x%08x class 0x%02x class_ver 0x%02x",
		  __entry->dev_index, __entry->port_num, __entry->hi_tid, __entry->mgmt_class,
		  __entry->mgmt_class_version)
);

/* An agent gets the completion of a MAD that it has sent, or a MAD that has arrived. */
DEFINE_EVENT(ib_mad_agent_template, ib_mad_send_done_agent,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent)
);

DEFINE_EVENT(ib_mad_agent_template, ib_mad_recv_done_agent,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent)
);

DEFINE_EVENT(ib_mad_agent_template, ib_mad_create_agent,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent)
);

DEFINE_EVENT(ib_mad_agent_template, ib_mad_unregister_agent,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent)
);

#define MAD_TRACE_SMP_FMT						\
	"SMP: hop_ptr %u hop_cnt %u mkey 0x%016llx "			\
	"dr_slid 0x%04x dr_dlid 0x%04x initial_path %*ph return_path %*ph"

DECLARE_EVENT_CLASS(ib_mad_smi_template,
	TP_PROTO(const struct ib_smp *smp),
	TP_ARGS(smp),
	TP_STRUCT__entry(
		__field(u8, hop_ptr)
		__field(u8, hop_cnt)
		__field(u64, mkey)
		__field(u32, dr_slid)
		__field(u32, dr_dlid)
		__array(u8, initial_path, IB_SMP_MAX_PATH_HOPS)
		__array(u8, return_path, IB_SMP_MAX_PATH_HOPS)
	),
	TP_fast_assign(
		__entry->hop_ptr = smp->hop_ptr;
		__entry->hop_cnt = smp->hop_cnt;
		__entry->mkey = be64_to_cpu(smp->mkey);
		__entry->dr_slid = be16_to_cpu(smp->dr_slid);
		__entry->dr_dlid = be16_to_cpu(smp->dr_dlid);
		memcpy(__entry->initial_path, smp->initial_path, IB_SMP_MAX_PATH_HOPS);
		memcpy(__entry->return_path, smp->return_path, IB_SMP_MAX_PATH_HOPS);
	),
	TP_printk(MAD_TRACE_SMP_FMT,
		  __entry->hop_ptr, __entry->hop_cnt, __entry->mkey, __entry->dr_slid,
		  __entry->dr_dlid, IB_SMP_MAX_PATH_HOPS, __entry->initial_path,
		  IB_SMP_MAX_PATH_HOPS, __entry->return_path)
);

/* A packet with a directed route has arrived, or is about to leave. */
DEFINE_EVENT(ib_mad_smi_template, ib_mad_handle_ib_smi,
	TP_PROTO(const struct ib_smp *smp),
	TP_ARGS(smp)
);

DEFINE_EVENT(ib_mad_smi_template, ib_mad_handle_out_ib_smi,
	TP_PROTO(const struct ib_smp *smp),
	TP_ARGS(smp)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
