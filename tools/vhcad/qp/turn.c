// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The turn of an adapter: slices of its QPs.
 *
 * A turn is about a slice's worth of work, of as many QPs as that takes: a QP that only
 * acknowledges must not cost every other adapter a slice of waiting.
 */
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/recv.h"
#include "qp/requester.h"
#include "qp/responder.h"
#include "trace/trace.h"

/* Cost of a turn besides its bytes, in bytes that could be moved in the same time. */
#define QP_COST		1024u
#define WQE_COST	(SLICE_BYTES / SLICE_WQES)
/* Another QP begins its slice in the same turn as long as the turn has cost less. */
#define TURN_COST	(SLICE_BYTES / 4)
/* When a slice has moved more, its completions are notified at once. */
#define NOTIFY_BYTES	(32u << 10)

/* One slice of a QP, which uses up bytes and entries; true if it could go on. */
static bool run_slice(struct vqp *qp, u32 *bytes, u32 *wqes)
{
	bool more;

	if (qp->state == QPS_ERR)
		return flush_run(qp, wqes);
	if (qp->state < QPS_RTR)
		return false;
	if (!qp_reliable(qp))
		return unreliable_run(qp, bytes, wqes);
	more = resp_run(qp, bytes);
	if (qp->state == QPS_RTS || qp->state == QPS_SQD)
		more |= req_run(qp, bytes, wqes);
	return more;
}

/* Records a slice that has ended; a QP that could go on has used it up. */
static void trace_slice(const struct adapter *a, u64 begin, u32 qpn, u32 bytes, bool more)
{
	const char *what = !more ? "slice" : a->worker->late ? "slice: cut by time" : "slice: cut";

	trace_span(TRACE_SLICE, a->trace_row, begin, what, bytes, qpn);
}

u32 qp_turn(struct adapter *a)
{
	struct vhca_dev *dev = container_of(a, struct vhca_dev, adapter);
	struct worker *w = a->worker;
	const u32 most = w->turn_bytes;
	struct list_head *l;
	u32 cost = 0;

	while (cost < TURN_COST && !(cost && cost_late(w)) && (l = list_pop(&a->ready))) {
		struct vqp *qp = container_of(l, struct vqp, ready_node);
		u32 bytes = most, wqes = SLICE_WQES;
		u64 begin = trace_begin();
		bool more;

		if (!dev_live(dev))
			continue;
		qp_follow_port(qp);
		prefetch_turn(qp);
		more = run_slice(qp, &bytes, &wqes);
		if (more)
			qp_ready(qp);
		if (begin)
			trace_slice(a, begin, qp->qpn, most - bytes, more);
		w->moved |= bytes < most || wqes < SLICE_WQES;
		if (most - bytes >= NOTIFY_BYTES)
			worker_notify(w);
		cost += most - bytes + (SLICE_WQES - wqes) * WQE_COST + QP_COST;
	}
	return cost;
}

static bool is_of(const struct vqp *qp, const struct vhca_dev *dev)
{
	return qp && qp->dev == dev;
}

void qp_leave(struct adapter *a)
{
	const struct vhca_dev *dev = container_of(a, struct vhca_dev, adapter);
	struct scratch *s = a->worker->scratch;

	if (is_of(s->rx_wqe.qp, dev))
		recv_give_back(s);
	/* the entries that these are copies of may have changed when the adapter comes back */
	if (is_of(s->tx_wqe.qp, dev))
		s->tx_wqe.qp = NULL;
	if (is_of(s->rd_wqe.qp, dev))
		s->rd_wqe.qp = NULL;
	s->why_qp = NULL;
}
