// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues that NAPI polls. Each completion names its handler, ib_cqe.done.
 */
#include "ud.h"

static int poll(struct napi_struct *napi, int budget)
{
	struct ipoib_cq *queue = container_of(napi, struct ipoib_cq, napi);
	int done = 0, asked, got;

	do {
		asked = min(IPOIB_POLL_BATCH, budget - done);
		got = max(ib_poll_cq(queue->cq, asked, queue->wc), 0);
		for (int i = 0; i < got; i++)
			queue->wc[i].wr_cqe->done(queue->cq, &queue->wc[i]);
		done += got;
	} while (got == asked && done < budget);
	/* What came before the queue was armed causes no event. */
	if (done < budget && napi_complete_done(napi, done) &&
	    ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		napi_schedule(napi);
	return done;
}

static void completed(struct ib_cq *cq, void *context)
{
	struct ipoib_cq *queue = context;

	napi_schedule(&queue->napi);
}

/**
 * ipoib_cq_create() - make a queue
 * @ipoib: interface
 * @queue: the queue
 * @entries: completions that it can hold
 *
 * Context: RTNL is held.
 * Return: 0 or what the device answers.
 */
int ipoib_cq_create(struct ipoib_dev *ipoib, struct ipoib_cq *queue, int entries)
{
	struct ib_cq_init_attr attr = { .cqe = entries };

	queue->cq = ib_create_cq(ipoib->ca, completed, NULL, queue, &attr);
	if (IS_ERR(queue->cq))
		return PTR_ERR(queue->cq);
	netif_napi_add(ipoib->netdev, &queue->napi, poll);
	return 0;
}

/**
 * ipoib_cq_destroy() - destroy a queue
 * @queue: queue that is stopped and that no QP uses
 *
 * Context: RTNL is held.
 */
void ipoib_cq_destroy(struct ipoib_cq *queue)
{
	ib_destroy_cq(queue->cq);
	netif_napi_del(&queue->napi);
}

/**
 * ipoib_cq_start() - begin to poll, and arm the queue
 * @queue: the queue
 *
 * Context: RTNL is held.
 */
void ipoib_cq_start(struct ipoib_cq *queue)
{
	napi_enable(&queue->napi);
	local_bh_disable();
	napi_schedule(&queue->napi);
	local_bh_enable();
}

/**
 * ipoib_cq_stop() - end polling
 * @queue: the queue
 *
 * Context: RTNL is held.
 */
void ipoib_cq_stop(struct ipoib_cq *queue)
{
	napi_disable(&queue->napi);
}
