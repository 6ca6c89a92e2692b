// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prefetches what is needed next while something else is done.
 *
 * With very many QPs none stays in the caches from one of its messages to the next, and a message
 * would wait for one cache line after the other: its QP, its entries, the QP of the peer.  But the
 * order of turns is known, so that all of these can be fetched together and in time.  These are
 * hints: nothing depends on them, and their objects may have changed by then.
 */
#include "qp/ready.h"
#include "qp/scratch.h"

/* A QP that had a slice so few slices ago is still in the caches, and needs no prefetch. */
#define FEW_SLICES	256u
/* Entries of a slice to prefetch: processors fetch those that follow by themselves. */
#define FIRST_ENTRIES	8u
/* The bytes of a QP that sending needs, besides its ring, and receiving. */
#define SEND_BYTES	offsetof(struct vqp, srq)
#define RECV_BYTES	offsetof(struct vqp, attr)

static void fetch(const void *from, u32 bytes)
{
#pragma GCC unroll 16
	for (u32 i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch((const u8 *)from + i, 1);
}

/* The tables of an adapter that another thread has may change at any time. */
static void fetch_peer(const struct vqp *qp)
{
	const struct vport *to = qp_peer_port(qp);
	const struct vqp *peer;

	if (!to || !adapter_is_near(&qp->dev->adapter, &to->dev->adapter))
		return;
	peer = table_get(&to->dev->qps, qpn_index(qp->path.dqpn));
	if (peer)
		fetch(peer, RECV_BYTES);
}

/*
 * Fetches what a QP will read and write besides itself.  One that has nothing to send waits to
 * answer what it has just received, and is in the caches, as its peer is.
 */
static void fetch_work(const struct vqp *qp)
{
	const struct rc_requester *r = &qp->req;
	u32 entries = MIN(r->blk_prod - r->blk_next, FIRST_ENTRIES);

	if (!entries)
		return;
	wqe_prefetch(qp, entries);
	/* the acknowledgment is for this one */
	table_prefetch(&qp->dev->qps, qpn_index(qp->qpn));
	for (u32 i = 0; i < entries; i++)
		fetch(&r->q[(r->tail + i) & r->qmask], sizeof(*r->q));
	if (qp->state >= QPS_RTR && qp->state != QPS_ERR && !qp_datagrams(qp))
		fetch_peer(qp);
}

/* The first QP that waits at an adapter, or at one whose turn follows; NULL: none does. */
static const struct vqp *first_of(const struct adapter *a)
{
	while (a && list_empty(&a->ready))
		a = adapter_behind(a);
	return a ? container_of(a->ready.next, struct vqp, ready_node) : NULL;
}

/* The QP whose slice follows that of one that waits. */
static const struct vqp *behind(const struct vqp *qp)
{
	const struct adapter *a = &qp->dev->adapter;

	if (qp->ready_node.next == &a->ready)
		return first_of(adapter_behind(a));
	return container_of(qp->ready_node.next, struct vqp, ready_node);
}

void prefetch_turn(struct vqp *qp)
{
	u16 since = ++qp_scratch(qp)->slices - qp->slice;
	const struct vqp *next;

	/* what is true of this QP is taken to be true of those behind it */
	qp->slice += since;
	if (since < FEW_SLICES)
		return;
	next = first_of(&qp->dev->adapter);
	if (!next)
		return;
	/* the next QP's own memory was fetched a turn ago */
	fetch_work(next);
	next = behind(next);
	if (next) {
		fetch(next, SEND_BYTES);
		fetch(&next->attr, 1);
		fetch(&next->sq, sizeof(next->sq));
	}
}
