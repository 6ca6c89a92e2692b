// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is needed next comes into the caches while something else is done.
 *
 * Of very many QPs none stays there from one of its messages to the next, and a message would
 * wait for one line of memory after the other: its QP, its entries, the QP of the peer.  But
 * it is known whose turn is next, so they come all at once and in time.  These are hints: nothing
 * depends on them, and what they are about may be gone or wrong by then.
 */
#include "engine/core.h"
#include "engine/rc.h"

/* Slices of others that a QP stays in the caches for: help would only cost it. */
#define FEW_SLICES	256u
/* Of a slice's entries: the others follow, and processors guess that by themselves. */
#define FIRST_ENTRIES	8u
/* Bytes of a QP that both ways of a message need. */
#define TURN_BYTES	offsetof(struct vqp, rq)

static void fetch(const void *from, u32 bytes)
{
	for (u32 i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch((const u8 *)from + i, 1);
}

/* What it will read and write besides itself. */
static void fetch_work(const struct vqp *qp)
{
	const struct rc_requester *r = &qp->req;
	u32 entries = MIN(r->blk_prod - r->blk_next, FIRST_ENTRIES);

	wqe_soon(qp, entries);
	for (u32 i = 0; r->q && i < entries; i++)
		fetch(&r->q[(r->tail + i) & r->qmask], sizeof(*r->q));
	if (qp->state >= QPS_RTR && qp->type != VHCA_QPT_UD)
		fab_prefetch(&qp->port->fab, &qp->path);
}

void soon_turn(struct vqp *qp)
{
	u16 since = ++qp->dev->engine->slices - qp->slice;
	const struct link *ready = &qp->dev->ready, *next = ready->next;

	/* it stands for those behind it */
	qp->slice += since;
	if (since < FEW_SLICES || next == ready)
		return;
	/* this one's own memory has been asked for a turn ago */
	fetch_work(container_of(next, struct vqp, ready_link));
	if (next->next != ready)
		fetch(container_of(next->next, struct vqp, ready_link), TURN_BYTES);
}

void soon_arrives(const struct vhca_dev *dev, u32 qpn)
{
	const struct vqp *qp = table_get(&dev->qps, qpn & ((1u << QPN_SHIFT) - 1));

	if (qp)
		fetch(qp, TURN_BYTES);
}
