/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of ib_core. The system is called rdma_core, as users of tracefs know it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_core

#if !defined(RDMA_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RDMA_CORE_TRACE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

TRACE_EVENT(rdma_reject,
	TP_PROTO(const char *device, int err, const char *reason),
	TP_ARGS(device, err, reason),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, err)
		__string(device, device)
		__string(reason, reason)
	),
	TP_fast_assign(
		memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		__entry->pid = current->pid;
		__entry->err = err;
		__assign_str(device);
		__assign_str(reason);
	),
	TP_printk("comm=%s pid=%d device=%s err=%d reason=%s", __entry->comm, __entry->pid,
		  __get_str(device), __entry->err, __get_str(reason))
);

DECLARE_EVENT_CLASS(rdma_object_class,
	TP_PROTO(const char *device, const char *type, u32 id, const char *module, int err),
	TP_ARGS(device, type, id, module, err),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(u32, id)
		__field(int, err)
		__string(device, device)
		__string(type, type)
		__string(module, module)
	),
	TP_fast_assign(
		memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		__entry->pid = current->pid;
		__entry->id = id;
		__entry->err = err;
		__assign_str(device);
		__assign_str(type);
		__assign_str(module);
	),
	TP_printk("comm=%s pid=%d device=%s type=%s id=%u module=%s err=%d", __entry->comm,
		  __entry->pid, __get_str(device), __get_str(type), __entry->id,
		  __get_str(module), __entry->err)
);

/* An object has become visible to look-ups. */
DEFINE_EVENT(rdma_object_class, rdma_object_create,
	TP_PROTO(const char *device, const char *type, u32 id, const char *module, int err),
	TP_ARGS(device, type, id, module, err)
);

/* An object has been destroyed or, with err, the driver has failed to destroy it. */
DEFINE_EVENT(rdma_object_class, rdma_object_destroy,
	TP_PROTO(const char *device, const char *type, u32 id, const char *module, int err),
	TP_ARGS(device, type, id, module, err)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
