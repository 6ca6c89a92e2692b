// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directed routes.
 */
#include "port/port.h"
#include "subnet/smi.h"
#include "wire/mad.h"

static enum smi_action forward(const struct smi_hop *hop)
{
	return hop->out_port && hop->out_port <= hop->nports ? SMI_FORWARD : SMI_DROP;
}

/* The end of the hops; the part by LID, if there is one, begins at a switch. */
static enum smi_action last_hop(const u8 *mad, struct smi_hop *hop)
{
	hop->dlid = mad_get(mad, DR_DLID);
	if (hop->dlid == LID_PERMISSIVE)
		return SMI_SERVE;
	return hop->nports ? SMI_ROUTE : SMI_DROP;
}

static enum smi_action way_there(u8 *mad, struct smi_hop *hop)
{
	u32 at = mad_get(mad, DR_HOP_POINTER), count = mad_get(mad, DR_HOP_COUNT);

	/* behind the hops it can only be at the node that it came to by LID */
	if (at == count + 1)
		return count && mad_get(mad, DR_DLID) == LID_PERMISSIVE ? SMI_DROP : SMI_SERVE;
	if (at > count)
		return SMI_DROP;
	/* the first hop of a datagram that was sent to this switch by LID */
	if (!at && count) {
		if (!hop->nports || mad_get(mad, DR_SLID) == LID_PERMISSIVE)
			return SMI_DROP;
	} else if (count) {
		mad[DR_RETURN_PATH + at] = hop->in_port;
	}
	mad_put(mad, DR_HOP_POINTER, at + 1);
	if (at == count)
		return last_hop(mad, hop);
	hop->out_port = mad[DR_INITIAL_PATH + at + 1];
	return forward(hop);
}

static enum smi_action way_back(u8 *mad, struct smi_hop *hop)
{
	u32 at = mad_get(mad, DR_HOP_POINTER), count = mad_get(mad, DR_HOP_COUNT);

	if (!hop->nports)
		return SMI_HOST;
	if (!at || !count || at > count + 1)
		return SMI_DROP;
	mad_put(mad, DR_HOP_POINTER, --at);
	if (at) {
		hop->out_port = mad[DR_RETURN_PATH + at];
		return forward(hop);
	}
	/* without a LID it would be for a manager in this switch, and there is none */
	hop->dlid = mad_get(mad, DR_SLID);
	return hop->dlid == LID_PERMISSIVE ? SMI_DROP : SMI_ROUTE;
}

enum smi_action smi_receive(u8 *mad, struct smi_hop *hop)
{
	if (mad_get(mad, DR_HOP_COUNT) > DR_MOST_HOPS)
		return SMI_DROP;
	return mad_get(mad, DR_RETURNS) ? way_back(mad, hop) : way_there(mad, hop);
}

enum smi_action smi_answer(u8 *mad, struct smi_hop *hop, u16 slid)
{
	u32 count = mad_get(mad, DR_HOP_COUNT);

	/* it was sent to this node by LID, all the way or from the last hop on */
	if (!count || mad_get(mad, DR_DLID) != LID_PERMISSIVE) {
		hop->dlid = slid;
		if (!count)
			mad_put(mad, DR_HOP_POINTER, 0);
		return SMI_ROUTE;
	}
	mad_put(mad, DR_HOP_POINTER, count);
	hop->out_port = mad[DR_RETURN_PATH + count];
	return SMI_FORWARD;
}
