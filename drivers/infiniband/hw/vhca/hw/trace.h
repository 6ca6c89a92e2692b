/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace points of the vhca driver: system vhca.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vhca

#if !defined(VHCA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VHCA_TRACE_H

#include <linux/device.h>
#include <linux/tracepoint.h>

#include "names.h"

/* An admin command has ended: it was completed, or failed with err. */
TRACE_EVENT(vhca_command,
	TP_PROTO(struct device *dev, u8 opcode, int err, u8 status, u16 bad_field, u64 ns),
	TP_ARGS(dev, opcode, err, status, bad_field, ns),
	TP_STRUCT__entry(
		__string(device, dev_name(dev))
		__string(command, vhca_cmd_name(opcode))
		__string(field, vhca_cmd_field(opcode, bad_field) ?: "-")
		__field(int, err)
		__field(u8, status)
		__field(u64, ns)
	),
	TP_fast_assign(
		__assign_str(device);
		__assign_str(command);
		__assign_str(field);
		__entry->err = err;
		__entry->status = status;
		__entry->ns = ns;
	),
	TP_printk("device=%s command=%s err=%d status=%u field=%s ns=%llu", __get_str(device),
		  __get_str(command), __entry->err, __entry->status, __get_str(field), __entry->ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
