/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of rdma_cm: what ids go through, and devices that come and go.  Names of trace
 * points and of their fields are those of Linux 6.12.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_cma

#if !defined(CORE_CMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CORE_CMA_TRACE_H

#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>

#include "cma_priv.h"

/* Every event of an id begins with its identity and its addresses. */
#define CMA_TRACE_ID_FIELDS						\
	__field(u32, cm_id)						\
	__field(u32, tos)						\
	__array(unsigned char, srcaddr, sizeof(struct sockaddr_in6))	\
	__array(unsigned char, dstaddr, sizeof(struct sockaddr_in6))

#define CMA_TRACE_ID_ASSIGN(_id)						\
	do {									\
		const struct cma_id *__id = (_id);				\
										\
		__entry->cm_id = __id->obj.res.id;				\
		__entry->tos = __id->tos;					\
		memcpy(__entry->srcaddr, &__id->id.route.addr.src_addr,		\
		       sizeof(__entry->srcaddr));				\
		memcpy(__entry->dstaddr, &__id->id.route.addr.dst_addr,		\
		       sizeof(__entry->dstaddr));				\
	} while (0)

#define CMA_TRACE_ID_FORMAT "cm.id=%u src=%pISpc dst=%pISpc tos=%u"
#define CMA_TRACE_ID_ARGS __entry->cm_id, __entry->srcaddr, __entry->dstaddr, __entry->tos

DECLARE_EVENT_CLASS(cma_fsm_class,
	TP_PROTO(const struct cma_id *id),
	TP_ARGS(id),
	TP_STRUCT__entry(CMA_TRACE_ID_FIELDS),
	TP_fast_assign(CMA_TRACE_ID_ASSIGN(id);),
	TP_printk(CMA_TRACE_ID_FORMAT, CMA_TRACE_ID_ARGS)
);

#define CMA_FSM_EVENT(_name) \
	DEFINE_EVENT(cma_fsm_class, _name, TP_PROTO(const struct cma_id *id), TP_ARGS(id))

/* Messages of ib_cm that an id sends. */
CMA_FSM_EVENT(cm_send_rtu);
CMA_FSM_EVENT(cm_send_rej);
CMA_FSM_EVENT(cm_send_mra);
CMA_FSM_EVENT(cm_send_sidr_req);
CMA_FSM_EVENT(cm_send_sidr_rep);
CMA_FSM_EVENT(cm_sent_dreq);
CMA_FSM_EVENT(cm_sent_drep);
/* The consumer disconnects; the id is destroyed. */
CMA_FSM_EVENT(cm_disconnect);
CMA_FSM_EVENT(cm_id_destroy);

DECLARE_EVENT_CLASS(cma_qp_class,
	TP_PROTO(const struct cma_id *id),
	TP_ARGS(id),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__field(u32, qp_num)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__entry->qp_num = id->qp_num;
	),
	TP_printk(CMA_TRACE_ID_FORMAT " qp_num=%u", CMA_TRACE_ID_ARGS, __entry->qp_num)
);

#define CMA_QP_EVENT(_name) \
	DEFINE_EVENT(cma_qp_class, _name, TP_PROTO(const struct cma_id *id), TP_ARGS(id))

/* Messages that give the peer a QP number, and the end of the QP. */
CMA_QP_EVENT(cm_send_req);
CMA_QP_EVENT(cm_send_rep);
CMA_QP_EVENT(cm_qp_destroy);

/* The QP types by name, for programs that read raw events, too. */
TRACE_DEFINE_ENUM(IB_QPT_RC);
TRACE_DEFINE_ENUM(IB_QPT_UC);
TRACE_DEFINE_ENUM(IB_QPT_UD);
TRACE_DEFINE_ENUM(IB_QPT_XRC_INI);
TRACE_DEFINE_ENUM(IB_QPT_XRC_TGT);

#define CMA_TRACE_QP_TYPE(_type)	\
	__print_symbolic(_type,		\
		{ IB_QPT_RC, "RC" },	\
		{ IB_QPT_UC, "UC" },	\
		{ IB_QPT_UD, "UD" },	\
		{ IB_QPT_XRC_INI, "XRC_INI" }, \
		{ IB_QPT_XRC_TGT, "XRC_TGT" })

/* rdma_create_qp() has ended. */
TRACE_EVENT(cm_qp_create,
	TP_PROTO(const struct cma_id *id, const struct ib_pd *pd,
		 const struct ib_qp_init_attr *qp_init_attr, int rc),
	TP_ARGS(id, pd, qp_init_attr, rc),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__field(u32, pd_id)
		__field(u32, qp_num)
		__field(u32, send_wr)
		__field(u32, recv_wr)
		__field(int, rc)
		__field(unsigned long, qp_type)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__entry->pd_id = pd->res.id;
		__entry->send_wr = qp_init_attr->cap.max_send_wr;
		__entry->recv_wr = qp_init_attr->cap.max_recv_wr;
		__entry->rc = rc;
		__entry->qp_num = rc ? 0 : id->qp_num;
		__entry->qp_type = rc ? 0 : id->id.qp_type;
	),
	TP_printk(CMA_TRACE_ID_FORMAT
		  " pd.id=%u qp_type=%s send_wr=%u recv_wr=%u qp_num=%u rc=%d",
		  CMA_TRACE_ID_ARGS, __entry->pd_id, CMA_TRACE_QP_TYPE(__entry->qp_type),
		  __entry->send_wr, __entry->recv_wr, __entry->qp_num, __entry->rc)
);

/* A request arrived for a listening id; the event is ib_cm's. */
TRACE_EVENT(cm_req_handler,
	TP_PROTO(const struct cma_id *id, int event),
	TP_ARGS(id, event),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__field(unsigned long, event)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__entry->event = event;
	),
	TP_printk(CMA_TRACE_ID_FORMAT " %s (%lu)", CMA_TRACE_ID_ARGS,
		  rdma_show_ib_cm_event(__entry->event), __entry->event)
);

/* The consumer's handler is called. */
TRACE_EVENT(cm_event_handler,
	TP_PROTO(const struct cma_id *id, const struct rdma_cm_event *event),
	TP_ARGS(id, event),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__field(unsigned long, event)
		__field(int, status)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__entry->event = event->event;
		__entry->status = event->status;
	),
	TP_printk(CMA_TRACE_ID_FORMAT " %s (%lu/%d)", CMA_TRACE_ID_ARGS,
		  rdma_show_cm_event(__entry->event), __entry->event, __entry->status)
);

/* It has returned. */
TRACE_EVENT(cm_event_done,
	TP_PROTO(const struct cma_id *id, const struct rdma_cm_event *event, int result),
	TP_ARGS(id, event, result),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__field(unsigned long, event)
		__field(int, result)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__entry->event = event->event;
		__entry->result = result;
	),
	TP_printk(CMA_TRACE_ID_FORMAT " %s consumer returns %d", CMA_TRACE_ID_ARGS,
		  rdma_show_cm_event(__entry->event), __entry->result)
);

/* An id has found its device. */
TRACE_EVENT(cm_id_attach,
	TP_PROTO(const struct cma_id *id, const struct ib_device *device),
	TP_ARGS(id, device),
	TP_STRUCT__entry(
		CMA_TRACE_ID_FIELDS
		__string(devname, device->name)
	),
	TP_fast_assign(
		CMA_TRACE_ID_ASSIGN(id);
		__assign_str(devname);
	),
	TP_printk("cm.id=%u src=%pISpc dst=%pISpc device=%s", __entry->cm_id, __entry->srcaddr,
		  __entry->dstaddr, __get_str(devname))
);

DECLARE_EVENT_CLASS(cma_client_class,
	TP_PROTO(const struct ib_device *device),
	TP_ARGS(device),
	TP_STRUCT__entry(__string(name, device->name)),
	TP_fast_assign(__assign_str(name);),
	TP_printk("device name=%s", __get_str(name))
);

DEFINE_EVENT(cma_client_class, cm_add_one,
	TP_PROTO(const struct ib_device *device),
	TP_ARGS(device)
);

DEFINE_EVENT(cma_client_class, cm_remove_one,
	TP_PROTO(const struct ib_device *device),
	TP_ARGS(device)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
