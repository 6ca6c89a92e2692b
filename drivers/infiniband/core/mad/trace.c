// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * mad_trace_address() - get the destination of a MAD
 * @send: the MAD
 * @dlid: receives the LID of its address handle, 0 without one
 * @sl: receives its service level
 */
void mad_trace_address(const struct mad_send *send, u32 *dlid, u8 *sl)
{
	struct rdma_ah_attr attr = {};

	if (send->buf.ah)
		rdma_query_ah(send->buf.ah, &attr);
	*dlid = rdma_ah_get_dlid(&attr);
	*sl = rdma_ah_get_sl(&attr);
}
