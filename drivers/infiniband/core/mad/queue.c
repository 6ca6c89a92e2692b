// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send and receive queues of a port's QPs. A send queue has room for send_queue_size MADs. Further
 * MADs are queued with their agents, and agents take turns, so that an agent with thousands of MADs
 * to send does not delay the others.
 */
#include <linux/cleanup.h>

#include "mad_priv.h"
#include "trace.h"

static void unmap(struct mad_send *send)
{
	struct ib_device *device = send->agent->port->device;

	for (int i = 0; i < send->wr.wr.num_sge; i++)
		ib_dma_unmap_single(device, send->sge[i].addr, send->sge[i].length, DMA_TO_DEVICE);
}

static int map(struct mad_send *send)
{
	struct mad_port *port = send->agent->port;
	void *part[2] = { send->mad, send->segment ? send->segment->data : NULL };
	u32 length[2] = { send->size, 0 };
	int num = send->wr.wr.num_sge;

	if (num > 1) {
		length[0] = send->buf.hdr_len;
		length[1] = send->buf.seg_size;
	}
	for (int i = 0; i < num; i++) {
		struct ib_sge *sge = &send->sge[i];

		sge->addr = ib_dma_map_single(port->device, part[i], length[i], DMA_TO_DEVICE);
		sge->length = length[i];
		sge->lkey = port->pd->local_dma_lkey;
		if (!ib_dma_mapping_error(port->device, sge->addr))
			continue;
		if (i)
			ib_dma_unmap_single(port->device, send->sge[0].addr, send->sge[0].length,
					    DMA_TO_DEVICE);
		return -ENOMEM;
	}
	return 0;
}

static int post(struct mad_send *send)
{
	struct mad_qp *qp = send->agent->qp;
	int ret = qp->given_up ? -ENODEV : map(send);

	if (ret)
		return ret;
	trace_ib_mad_ib_send_mad(send);
	send->wr.ah = send->buf.ah;
	ret = ib_post_send(qp->qp, &send->wr.wr, NULL);
	if (ret) {
		unmap(send);
		return ret;
	}
	send->posted = true;
	qp->free--;
	return 0;
}

/**
 * mad_queue_send() - post a MAD, now or when there is room
 * @send: MAD that is in no queue
 *
 * Context: the port's lock is held.
 * Return: 0; -ENOMEM; the error of ib_post_send().
 */
int mad_queue_send(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;
	struct mad_qp *qp = agent->qp;

	lockdep_assert_held(&agent->port->lock);
	if (qp->given_up || (qp->free && !qp->stalled && list_empty(&qp->eager)))
		return post(send);
	if (list_empty(&agent->queue))
		list_add_tail(&agent->eager, &qp->eager);
	list_add_tail(&send->queue, &agent->queue);
	return 0;
}

static void unqueue(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;

	list_del_init(&send->queue);
	if (list_empty(&agent->queue))
		list_del_init(&agent->eager);
}

/**
 * mad_queue_push() - post queued MADs as far as there is room
 * @qp: QP
 *
 * Context: the port's lock is held.
 * Return: NULL, or a MAD that could not be posted and is in no queue any more; then this is to be
 * called again.
 */
struct mad_send *mad_queue_push(struct mad_qp *qp)
{
	lockdep_assert_held(&qp->port->lock);
	while ((qp->free || qp->given_up) && !qp->stalled && !list_empty(&qp->eager)) {
		struct mad_agent *agent = list_first_entry(&qp->eager, struct mad_agent, eager);
		struct mad_send *send = list_first_entry(&agent->queue, struct mad_send, queue);

		list_move_tail(&agent->eager, &qp->eager);
		unqueue(send);
		if (post(send))
			return send;
	}
	return NULL;
}

/**
 * mad_queue_withdraw() - take back a MAD that is queued for the QP or for the local loop
 * @send: any pending MAD
 *
 * Context: the port's lock is held.
 * Return: true if it was queued; false if the QP has it, or if it is in no queue.
 */
bool mad_queue_withdraw(struct mad_send *send)
{
	lockdep_assert_held(&send->agent->port->lock);
	if (list_empty(&send->queue))
		return false;
	if (send->local)
		list_del_init(&send->queue);
	else
		unqueue(send);
	return true;
}

/**
 * mad_queue_sent() - handle the completion of a send
 * @send: the MAD, which is in no queue any more
 *
 * Context: the port's lock is held.
 */
void mad_queue_sent(struct mad_send *send)
{
	struct mad_qp *qp = send->agent->qp;

	lockdep_assert_held(&qp->port->lock);
	unmap(send);
	send->posted = false;
	if (++qp->free == qp->room)
		wake_up(&qp->idle);
}

/**
 * mad_queue_recv() - post a receive
 * @qp: QP
 * @recv: buffer with its completion function
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ENODEV if the QP was given up; the error of ib_post_recv().
 */
int mad_queue_recv(struct mad_qp *qp, struct mad_recv *recv)
{
	struct mad_port *port = qp->port;
	struct ib_sge sge = {
		.length = sizeof(recv->grh) + recv->size, .lkey = port->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };
	int ret;

	guard(mutex)(&qp->posting);
	if (qp->given_up)
		return -ENODEV;
	sge.addr = ib_dma_map_single(port->device, &recv->grh, sge.length, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(port->device, sge.addr))
		return -ENOMEM;
	recv->qp = qp;
	recv->dma = sge.addr;
	scoped_guard(spinlock_irqsave, &port->lock)
		list_add_tail(&recv->entry, &qp->posted);
	ret = ib_post_recv(qp->qp, &wr, NULL);
	if (ret)
		mad_queue_received(recv);
	return ret;
}

/**
 * mad_queue_received() - handle the completion of a receive
 * @recv: buffer, with or without a MAD
 *
 * Context: without the port's lock.
 */
void mad_queue_received(struct mad_recv *recv)
{
	scoped_guard(spinlock_irqsave, &recv->qp->port->lock)
		list_del(&recv->entry);
	ib_dma_unmap_single(recv->qp->port->device, recv->dma, sizeof(recv->grh) + recv->size,
			    DMA_FROM_DEVICE);
}
