// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Draining: in the error state queues complete in order, so when a work request that
 * was posted in that state completes, all those posted before it have completed.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include "verbs_priv.h"

/* Interval at which a directly polled CQ is polled while a queue drains. */
#define DRAIN_POLL	(HZ / 10)
/* Time for a device to report the last WQE of a QP with an SRQ. */
#define DRAIN_LAST_WQE	(60 * HZ)

struct drain {
	struct ib_cqe cqe;
	struct completion done;
};

static void drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct drain, cqe)->done);
}

static void drain_init(struct drain *drain)
{
	drain->cqe.done = drain_done;
	init_completion(&drain->done);
}

static bool drain_to_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret = ib_modify_qp(qp, &attr, IB_QP_STATE);

	return !WARN_ONCE(ret, "QP %u cannot be drained: %d\n", qp->qp_num, ret);
}

static void drain_wait(struct ib_cq *cq, struct drain *drain)
{
	if (cq->poll_ctx != IB_POLL_DIRECT) {
		wait_for_completion(&drain->done);
		return;
	}
	do {
		ib_process_cq_direct(cq, -1);
	} while (!wait_for_completion_timeout(&drain->done, DRAIN_POLL));
}

/**
 * ib_drain_sq() - wait until every send has completed to the consumer
 * @qp: QP, which is moved to the error state; its send CQ is one of ib_alloc_cq()
 *
 * Queue and CQ must have room for one more request; the caller must not post during the call.
 *
 * Context: may sleep.
 */
void ib_drain_sq(struct ib_qp *qp)
{
	struct drain drain;
	struct ib_rdma_wr last = { .wr = { .wr_cqe = &drain.cqe, .opcode = IB_WR_RDMA_WRITE } };
	int ret;

	if (qp->device->ops.drain_sq) {
		qp->device->ops.drain_sq(qp);
		return;
	}
	if (!drain_to_error(qp))
		return;
	drain_init(&drain);
	ret = ib_post_send(qp, &last.wr, NULL);
	if (!WARN_ONCE(ret, "QP %u takes no last send: %d\n", qp->qp_num, ret))
		drain_wait(qp->send_cq, &drain);
}
EXPORT_SYMBOL(ib_drain_sq);

/**
 * ib_drain_rq() - wait until every receive has completed to the consumer
 * @qp: QP without SRQ, which is moved to the error state; its receive CQ is one of
 *	ib_alloc_cq()
 *
 * Queue and CQ must have room for one more request; the caller must not post during the call.
 *
 * Context: may sleep.
 */
void ib_drain_rq(struct ib_qp *qp)
{
	struct drain drain;
	struct ib_recv_wr last = { .wr_cqe = &drain.cqe };
	int ret;

	if (qp->device->ops.drain_rq) {
		qp->device->ops.drain_rq(qp);
		return;
	}
	if (!drain_to_error(qp))
		return;
	drain_init(&drain);
	ret = ib_post_recv(qp, &last, NULL);
	if (!WARN_ONCE(ret, "QP %u takes no last receive: %d\n", qp->qp_num, ret))
		drain_wait(qp->recv_cq, &drain);
}
EXPORT_SYMBOL(ib_drain_rq);

/*
 * Drains a QP that takes its receives from an SRQ.  A marker posted to the SRQ might complete
 * for another QP.  Instead the device raises the last-WQE event when it holds no receive for
 * this QP any more; all its completions are in the CQ then, or have been polled, and their
 * handlers may still run.
 */
static void drain_srq_user(struct ib_qp *qp)
{
	struct ib_srq *srq = qp->srq;
	struct ib_cq *cq = ib_srq_has_cq(srq->srq_type) ? srq->ext.cq : qp->recv_cq;

	if (WARN_ON_ONCE(!cq) || !drain_to_error(qp))
		return;
	if (!wait_for_completion_timeout(&qp->srq_completion, DRAIN_LAST_WQE))
		return;
	ib_cq_flush(cq);
}

/**
 * ib_drain_qp() - wait until everything posted has completed to the consumer
 * @qp: QP, which is moved to the error state; its CQs are those of ib_alloc_cq()
 *
 * Queues and CQs must have room for one more request; the caller must not post during the call.
 *
 * Context: may sleep; not from a handler of its send CQ, nor, without an SRQ, of its receive CQ.
 */
void ib_drain_qp(struct ib_qp *qp)
{
	ib_drain_sq(qp);
	if (qp->srq)
		drain_srq_user(qp);
	else
		ib_drain_rq(qp);
}
EXPORT_SYMBOL(ib_drain_qp);
