/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of mad/: each MAD from sending to completion and on arrival, and registration of
 * agents.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_mad

#if !defined(RDMA_MAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RDMA_MAD_TRACE_H

#include <linux/tracepoint.h>

#include <rdma/ib_smi.h>

#include "mad_priv.h"

/*
 * Names, order and types of the fields are those of Linux 6.12, except the type of the number of
 * the QP that a MAD came from, which has 24 bits. Numbers are in the byte order of the host, so
 * that filters work.
 *
 * ib_mad_handle_opa_smi and ib_mad_handle_out_opa_smi are left out: SMPs of Omni-Path are not
 * routed here.
 */

#define MAD_TRACE_SHOW_QP	"device %u port %u QP%u "
#define MAD_TRACE_SHOW_SEND	"agent %p wrtid %#llx retries_left %d max_retries %d retry %d " \
				"timeout %lu "
#define MAD_TRACE_SHOW_MAD	"length %u base_version %#x class %#x class_version %#x " \
				"method %#x status %#x "
#define MAD_TRACE_SHOW_ATTR	"class_specific %#x tid %#llx attr_id %#x attr_mod %#x "
#define MAD_TRACE_SHOW_HOPS	"hop_ptr %u hop_cnt %u mkey %#llx dr_slid %#x dr_dlid %#x "
#define MAD_TRACE_SHOW_PATHS	"initial_path %*ph return_path %*ph"

#define MAD_TRACE_ASSIGN_SEND(send)					\
	do {								\
		const struct mad_send *_send = (send);			\
									\
		__entry->dev_index = _send->agent->dev_index;		\
		__entry->port_num = _send->agent->port->port_num;	\
		__entry->qp_num = _send->agent->qp->num;		\
		__entry->agent_priv = _send->agent;			\
		__entry->wrtid = be64_to_cpu(_send->tid);		\
		__entry->max_retries = _send->max_retries;		\
		__entry->retries_left = _send->retries_left;		\
		__entry->retry = _send->buf.retries;			\
		__entry->timeout = _send->timeout_ms;			\
	} while (0)

#define MAD_TRACE_ASSIGN_MAD(hdr)					\
	do {								\
		const struct ib_mad_hdr *_hdr = (hdr);			\
									\
		__entry->base_version = _hdr->base_version;		\
		__entry->mgmt_class = _hdr->mgmt_class;			\
		__entry->class_version = _hdr->class_version;		\
		__entry->method = _hdr->method;				\
		__entry->status = be16_to_cpu(_hdr->status);		\
	} while (0)

#define MAD_TRACE_ASSIGN_ATTR(hdr)					\
	do {								\
		const struct ib_mad_hdr *_hdr = (hdr);			\
									\
		__entry->class_specific = be16_to_cpu(_hdr->class_specific); \
		__entry->tid = be64_to_cpu(_hdr->tid);			\
		__entry->attr_id = be16_to_cpu(_hdr->attr_id);		\
		__entry->attr_mod = be32_to_cpu(_hdr->attr_mod);	\
	} while (0)

DECLARE_EVENT_CLASS(ib_mad_send_template,
	TP_PROTO(const struct mad_send *send),
	TP_ARGS(send),
	TP_STRUCT__entry(
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, port_num)
		__field(u32, qp_num)
		__field(u8, method)
		__field(u8, sl)
		__field(u16, attr_id)
		__field(u32, attr_mod)
		__field(u64, wrtid)
		__field(u64, tid)
		__field(u16, status)
		__field(u16, class_specific)
		__field(u32, length)
		__field(u32, dlid)
		__field(u32, rqpn)
		__field(u32, rqkey)
		__field(u32, dev_index)
		__field(void *, agent_priv)
		__field(unsigned long, timeout)
		__field(int, retries_left)
		__field(int, max_retries)
		__field(int, retry)
	),
	TP_fast_assign(
		MAD_TRACE_ASSIGN_SEND(send);
		MAD_TRACE_ASSIGN_MAD((const struct ib_mad_hdr *)send->mad);
		MAD_TRACE_ASSIGN_ATTR((const struct ib_mad_hdr *)send->mad);
		mad_trace_address(send, &__entry->dlid, &__entry->sl);
		__entry->length = send->buf.hdr_len + send->buf.data_len;
		__entry->rqpn = send->wr.remote_qpn;
		__entry->rqkey = send->wr.remote_qkey;
	),
	TP_printk(MAD_TRACE_SHOW_QP MAD_TRACE_SHOW_SEND MAD_TRACE_SHOW_MAD MAD_TRACE_SHOW_ATTR
		  "dlid %#x sl %u rqpn %#x rqkey %#x",
		  __entry->dev_index, __entry->port_num, __entry->qp_num, __entry->agent_priv,
		  __entry->wrtid, __entry->retries_left, __entry->max_retries, __entry->retry,
		  __entry->timeout, __entry->length, __entry->base_version, __entry->mgmt_class,
		  __entry->class_version, __entry->method, __entry->status,
		  __entry->class_specific, __entry->tid, __entry->attr_id, __entry->attr_mod,
		  __entry->dlid, __entry->sl, __entry->rqpn, __entry->rqkey)
);

/* A MAD is posted to the QP. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_ib_send_mad,
	TP_PROTO(const struct mad_send *send),
	TP_ARGS(send)
);

/* The QP has failed because of another MAD, and this one is posted again. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_send_done_resend,
	TP_PROTO(const struct mad_send *send),
	TP_ARGS(send)
);

/* The QP could not send it. */
DEFINE_EVENT(ib_mad_send_template, ib_mad_error_handler,
	TP_PROTO(const struct mad_send *send),
	TP_ARGS(send)
);

/* A send has completed. */
TRACE_EVENT(ib_mad_send_done_handler,
	TP_PROTO(const struct mad_send *send, const struct ib_wc *wc),
	TP_ARGS(send, wc),
	TP_STRUCT__entry(
		__field(u8, port_num)
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u32, qp_num)
		__field(u64, wrtid)
		__field(u16, status)
		__field(u16, wc_status)
		__field(u32, length)
		__field(void *, agent_priv)
		__field(unsigned long, timeout)
		__field(u32, dev_index)
		__field(int, retries_left)
		__field(int, max_retries)
		__field(int, retry)
		__field(u8, method)
	),
	TP_fast_assign(
		MAD_TRACE_ASSIGN_SEND(send);
		MAD_TRACE_ASSIGN_MAD((const struct ib_mad_hdr *)send->mad);
		__entry->wc_status = wc->status;
		__entry->length = wc->byte_len;
	),
	TP_printk(MAD_TRACE_SHOW_QP "wc_status %u " MAD_TRACE_SHOW_SEND MAD_TRACE_SHOW_MAD,
		  __entry->dev_index, __entry->port_num, __entry->qp_num, __entry->wc_status,
		  __entry->agent_priv, __entry->wrtid, __entry->retries_left,
		  __entry->max_retries, __entry->retry, __entry->timeout, __entry->length,
		  __entry->base_version, __entry->mgmt_class, __entry->class_version,
		  __entry->method, __entry->status)
);

TRACE_EVENT(ib_mad_recv_done_handler,
	TP_PROTO(const struct mad_recv *recv),
	TP_ARGS(recv),
	TP_STRUCT__entry(
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, port_num)
		__field(u32, qp_num)
		__field(u16, status)
		__field(u16, class_specific)
		__field(u32, length)
		__field(u64, tid)
		__field(u8, method)
		__field(u8, sl)
		__field(u16, attr_id)
		__field(u32, attr_mod)
		__field(u32, src_qp)
		__field(u16, wc_status)
		__field(u32, slid)
		__field(u32, dev_index)
	),
	TP_fast_assign(
		MAD_TRACE_ASSIGN_MAD((const struct ib_mad_hdr *)recv->mad);
		MAD_TRACE_ASSIGN_ATTR((const struct ib_mad_hdr *)recv->mad);
		__entry->dev_index = recv->qp->port->device->index;
		__entry->port_num = recv->qp->port->port_num;
		__entry->qp_num = recv->qp->num;
		__entry->length = recv->wc.byte_len;
		__entry->slid = recv->wc.slid;
		__entry->src_qp = recv->wc.src_qp;
		__entry->sl = recv->wc.sl;
		__entry->wc_status = recv->wc.status;
	),
	TP_printk(MAD_TRACE_SHOW_QP "wc_status %u " MAD_TRACE_SHOW_MAD MAD_TRACE_SHOW_ATTR
		  "slid %#x src_qp %#x sl %u",
		  __entry->dev_index, __entry->port_num, __entry->qp_num, __entry->wc_status,
		  __entry->length, __entry->base_version, __entry->mgmt_class,
		  __entry->class_version, __entry->method, __entry->status,
		  __entry->class_specific, __entry->tid, __entry->attr_id, __entry->attr_mod,
		  __entry->slid, __entry->src_qp, __entry->sl)
);

DECLARE_EVENT_CLASS(ib_mad_agent_template,
	TP_PROTO(const struct mad_agent *agent),
	TP_ARGS(agent),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, hi_tid)
		__field(u8, port_num)
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
	TP_printk("device %u port %u hi_tid %#x class %#x class_version %#x",
		  __entry->dev_index, __entry->port_num, __entry->hi_tid, __entry->mgmt_class,
		  __entry->mgmt_class_version)
);

/* A completion of a MAD, or a received MAD, is passed to an agent. */
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

DECLARE_EVENT_CLASS(ib_mad_smi_template,
	TP_PROTO(const struct ib_smp *smp),
	TP_ARGS(smp),
	TP_STRUCT__entry(
		__field(u64, mkey)
		__field(u32, dr_slid)
		__field(u32, dr_dlid)
		__field(u8, hop_ptr)
		__field(u8, hop_cnt)
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
	TP_printk(MAD_TRACE_SHOW_HOPS MAD_TRACE_SHOW_PATHS,
		  __entry->hop_ptr, __entry->hop_cnt, __entry->mkey, __entry->dr_slid,
		  __entry->dr_dlid, IB_SMP_MAX_PATH_HOPS, __entry->initial_path,
		  IB_SMP_MAX_PATH_HOPS, __entry->return_path)
);

/* A packet with a directed route has arrived, or is about to be sent. */
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
