/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls of the data path, which directly call the driver.  They take no lock and no
 * reference and check nothing; the caller ensures that the object exists.
 */
#ifndef RDMA_VERBS_CALLS_H
#define RDMA_VERBS_CALLS_H

#include <rdma/verbs/device.h>

/**
 * ib_post_send() - post a chain of send work requests
 * @qp: QP
 * @send_wr: the chain
 * @bad_send_wr: receives the first request that was not posted; may be NULL
 *
 * Context: any.
 * Return: 0 when all were posted, else the driver's error.
 */
static inline int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *send_wr,
			       const struct ib_send_wr **bad_send_wr)
{
	const struct ib_send_wr *ignored;

	if (!bad_send_wr)
		bad_send_wr = &ignored;
	return qp->device->ops.post_send(qp, send_wr, bad_send_wr);
}

/**
 * ib_post_recv() - post a chain of receive buffers
 * @qp: QP without SRQ
 * @recv_wr: the chain
 * @bad_recv_wr: receives the first request that was not posted; may be NULL
 *
 * Context: any.
 * Return: 0 when all were posted, else the driver's error.
 */
static inline int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *recv_wr,
			       const struct ib_recv_wr **bad_recv_wr)
{
	const struct ib_recv_wr *ignored;

	if (!bad_recv_wr)
		bad_recv_wr = &ignored;
	return qp->device->ops.post_recv(qp, recv_wr, bad_recv_wr);
}

/**
 * ib_post_srq_recv() - post a chain of receive buffers to an SRQ
 * @srq: SRQ
 * @recv_wr: the chain
 * @bad_recv_wr: receives the first request that was not posted; may be NULL
 *
 * Context: any.
 * Return: 0 when all were posted, else the driver's error.
 */
static inline int ib_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *recv_wr,
				   const struct ib_recv_wr **bad_recv_wr)
{
	const struct ib_recv_wr *ignored;

	if (!bad_recv_wr)
		bad_recv_wr = &ignored;
	return srq->device->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

/**
 * ib_poll_cq() - poll completions from a CQ
 * @cq: CQ
 * @num_entries: room in @wc
 * @wc: receives the completions
 *
 * Context: any.
 * Return: number of completions polled, less than @num_entries if the CQ is empty
 * afterwards; or a negative errno.
 */
static inline int ib_poll_cq(struct ib_cq *cq, int num_entries, struct ib_wc *wc)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	return ops->poll_cq(cq, num_entries, wc);
}

/**
 * ib_req_notify_cq() - request one call of the CQ's completion handler
 * @cq: CQ
 * @flags: IB_CQ_SOLICITED or IB_CQ_NEXT_COMP, and IB_CQ_REPORT_MISSED_EVENTS
 *
 * Context: any.
 * Return: 0; with IB_CQ_REPORT_MISSED_EVENTS 1 when there may be completions already; or a
 * negative errno.
 */
static inline int ib_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	return ops->req_notify_cq(cq, flags);
}

/**
 * ib_create_srq() - create a kernel SRQ
 * @pd: PD
 * @srq_init_attr: attributes of the new SRQ; receives its actual sizes
 *
 * Context: may sleep.
 * Return: the SRQ or an error pointer, -EOPNOTSUPP when the device has none.
 */
static inline struct ib_srq *
ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *srq_init_attr)
{
	bool supported = pd->device->ops.create_srq;

	return supported ? ib_create_srq_user(pd, srq_init_attr, NULL, NULL) :
			   ERR_PTR(-EOPNOTSUPP);
}

#endif /* RDMA_VERBS_CALLS_H */
