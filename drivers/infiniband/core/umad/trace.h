/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of ib_umad: each MAD that a program writes or reads, with its header.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_umad

#if !defined(CORE_UMAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CORE_UMAD_TRACE_H

#include <linux/tracepoint.h>

#include "umad.h"

#define UMAD_SHOW_SEND	  "dev %u port %u id %u status %u timeout_ms %u retries %u length %u "
#define UMAD_SHOW_ADDRESS "qpn %u qkey %#x lid %u sl %u path_bits %u pkey_index %u "
#define UMAD_SHOW_GRH	  "grh %u gid_index %u hop_limit %u tclass %u gid %pI6c flow_label %#x "
#define UMAD_SHOW_MAD	  "base_version %#x class %#x class_version %u method %#x mad_status %#x "
#define UMAD_SHOW_ATTR	  "class_specific %#x tid %#llx attr_id %#x attr_mod %#x"

/*
 * Names and order of the fields are those of Linux 6.12, "retires" included.  Numbers are in the
 * byte order of the host, so that filters work.
 */
DECLARE_EVENT_CLASS(ib_umad_template,
	TP_PROTO(struct ib_umad_file *file, struct ib_user_mad_hdr *umad_hdr,
		 struct ib_mad_hdr *mad_hdr),
	TP_ARGS(file, umad_hdr, mad_hdr),
	TP_STRUCT__entry(
		__field(u8, port_num)
		__field(u8, sl)
		__field(u8, path_bits)
		__field(u8, grh_present)
		__field(u32, id)
		__field(u32, status)
		__field(u32, timeout_ms)
		__field(u32, retires)
		__field(u32, length)
		__field(u32, qpn)
		__field(u32, qkey)
		__field(u8, gid_index)
		__field(u8, hop_limit)
		__field(u16, lid)
		__field(u16, attr_id)
		__field(u16, pkey_index)
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u32, flow_label)
		__field(u16, mad_status)
		__field(u16, class_specific)
		__field(u32, attr_mod)
		__field(u64, tid)
		__array(u8, gid, 16)
		__field(u32, dev_index)
		__field(u8, traffic_class)
	),
	TP_fast_assign(
		__entry->dev_index = file->port->index;
		__entry->port_num = file->port->port_num;
		__entry->id = umad_hdr->id;
		__entry->status = umad_hdr->status;
		__entry->timeout_ms = umad_hdr->timeout_ms;
		__entry->retires = umad_hdr->retries;
		__entry->length = umad_hdr->length;
		__entry->qpn = be32_to_cpu(umad_hdr->qpn);
		__entry->qkey = be32_to_cpu(umad_hdr->qkey);
		__entry->lid = be16_to_cpu(umad_hdr->lid);
		__entry->sl = umad_hdr->sl;
		__entry->path_bits = umad_hdr->path_bits;
		__entry->grh_present = umad_hdr->grh_present;
		__entry->gid_index = umad_hdr->gid_index;
		__entry->hop_limit = umad_hdr->hop_limit;
		__entry->traffic_class = umad_hdr->traffic_class;
		memcpy(__entry->gid, umad_hdr->gid, sizeof(umad_hdr->gid));
		__entry->flow_label = be32_to_cpu(umad_hdr->flow_label);
		__entry->pkey_index = umad_hdr->pkey_index;
		__entry->base_version = mad_hdr->base_version;
		__entry->mgmt_class = mad_hdr->mgmt_class;
		__entry->class_version = mad_hdr->class_version;
		__entry->method = mad_hdr->method;
		__entry->mad_status = be16_to_cpu(mad_hdr->status);
		__entry->class_specific = be16_to_cpu(mad_hdr->class_specific);
		__entry->tid = be64_to_cpu(mad_hdr->tid);
		__entry->attr_id = be16_to_cpu(mad_hdr->attr_id);
		__entry->attr_mod = be32_to_cpu(mad_hdr->attr_mod);
	),
	TP_printk(UMAD_SHOW_SEND UMAD_SHOW_ADDRESS UMAD_SHOW_GRH UMAD_SHOW_MAD UMAD_SHOW_ATTR,
		  __entry->dev_index, __entry->port_num, __entry->id, __entry->status,
		  __entry->timeout_ms, __entry->retires, __entry->length, __entry->qpn,
		  __entry->qkey, __entry->lid, __entry->sl, __entry->path_bits,
		  __entry->pkey_index, __entry->grh_present, __entry->gid_index,
		  __entry->hop_limit, __entry->traffic_class, __entry->gid,
		  __entry->flow_label, __entry->base_version, __entry->mgmt_class,
		  __entry->class_version, __entry->method, __entry->mad_status,
		  __entry->class_specific, __entry->tid, __entry->attr_id, __entry->attr_mod)
);

/* A program sends. */
DEFINE_EVENT(ib_umad_template, ib_umad_write,
	TP_PROTO(struct ib_umad_file *file, struct ib_user_mad_hdr *umad_hdr,
		 struct ib_mad_hdr *mad_hdr),
	TP_ARGS(file, umad_hdr, mad_hdr)
);

/* A program reads a MAD that arrived. */
DEFINE_EVENT(ib_umad_template, ib_umad_read_recv,
	TP_PROTO(struct ib_umad_file *file, struct ib_user_mad_hdr *umad_hdr,
		 struct ib_mad_hdr *mad_hdr),
	TP_ARGS(file, umad_hdr, mad_hdr)
);

/* A program reads a request of its own that timed out. */
DEFINE_EVENT(ib_umad_template, ib_umad_read_send,
	TP_PROTO(struct ib_umad_file *file, struct ib_user_mad_hdr *umad_hdr,
		 struct ib_mad_hdr *mad_hdr),
	TP_ARGS(file, umad_hdr, mad_hdr)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
