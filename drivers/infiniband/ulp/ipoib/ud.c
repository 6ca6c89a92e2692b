// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The datagram QP. It exists as long as the interface, since its number is part of the hardware
 * address; starting and stopping the interface only changes its state.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "ud.h"

/* How long the device may take to flush the QP. */
#define FLUSH_TIME	(5 * HZ)

/* A failed send leaves the QP in SQE, where it does not send: bring it back to RTS. */
static void repair(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, repair);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (ib_query_qp(ipoib->qp, &attr, IB_QP_STATE, &init) || attr.qp_state != IB_QPS_SQE)
		return;
	attr.qp_state = IB_QPS_RTS;
	if (ib_modify_qp(ipoib->qp, &attr, IB_QP_STATE))
		netdev_warn(ipoib->netdev, "the QP does not send any more\n");
}

static int create_qp(struct ipoib_dev *ipoib)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_UD,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = ipoib->tx_cq.cq,
		.recv_cq = ipoib->rx_cq.cq,
		.cap = {
			.max_send_wr = ipoib_sendq_size,
			.max_recv_wr = ipoib_recvq_size,
			.max_send_sge = min_t(u32, ipoib->ca->attrs.max_send_sge,
					      MAX_SKB_FRAGS + 1),
			.max_recv_sge = 1,
		},
	};

	if (ipoib->ca->attrs.kernel_cap_flags & IBK_BLOCK_MULTICAST_LOOPBACK)
		attr.create_flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (ipoib->ca->attrs.kernel_cap_flags & IBK_UD_TSO)
		attr.create_flags |= IB_QP_CREATE_IPOIB_UD_LSO;
	ipoib->qp = ib_create_qp(ipoib->pd, &attr);
	if (IS_ERR(ipoib->qp))
		return PTR_ERR(ipoib->qp);
	ipoib->max_sge = min_t(u32, attr.cap.max_send_sge, MAX_SKB_FRAGS + 1);
	return 0;
}

static int create_queues(struct ipoib_dev *ipoib, unsigned int sends, unsigned int receives)
{
	int ret = ipoib_cq_create(ipoib, &ipoib->tx_cq, sends);

	if (ret)
		return ret;
	ret = ipoib_cq_create(ipoib, &ipoib->rx_cq, receives);
	if (ret)
		goto no_rx;
	ret = create_qp(ipoib);
	if (!ret)
		return 0;
	ipoib_cq_destroy(&ipoib->rx_cq);
no_rx:
	ipoib_cq_destroy(&ipoib->tx_cq);
	return ret;
}

/**
 * ipoib_ud_create() - make the QP and its queues
 * @ipoib: interface
 * @sends: completions of sends that there may be at a time
 * @receives: likewise of receives
 *
 * Context: RTNL is held.
 * Return: 0, -ENOMEM or what the device answers.
 */
int ipoib_ud_create(struct ipoib_dev *ipoib, unsigned int sends, unsigned int receives)
{
	int ret;

	INIT_WORK(&ipoib->repair, repair);
	ipoib_cq_init(ipoib);
	ipoib->rx_bufs = kvcalloc(ipoib_recvq_size, sizeof(*ipoib->rx_bufs), GFP_KERNEL);
	if (!ipoib->rx_bufs)
		return -ENOMEM;
	ret = ipoib_tx_ring_init(&ipoib->tx);
	if (ret)
		goto no_ring;
	ret = create_queues(ipoib, sends, receives);
	if (!ret)
		return 0;
	kvfree(ipoib->tx.bufs);
no_ring:
	kvfree(ipoib->rx_bufs);
	return ret;
}

/**
 * ipoib_ud_destroy() - undo ipoib_ud_create()
 * @ipoib: interface that is stopped, and whose other QPs and addresses are destroyed
 *
 * Context: RTNL is held.
 */
void ipoib_ud_destroy(struct ipoib_dev *ipoib)
{
	cancel_work_sync(&ipoib->repair);
	ib_destroy_qp(ipoib->qp);
	ipoib_cq_destroy(&ipoib->rx_cq);
	ipoib_cq_destroy(&ipoib->tx_cq);
	kvfree(ipoib->tx.bufs);
	kvfree(ipoib->rx_bufs);
}

static int to_rts(struct ipoib_dev *ipoib)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = ipoib->port,
		.pkey_index = ipoib->pkey_index,
	};
	int ret;

	ret = ib_modify_qp(ipoib->qp, &attr,
			   IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_QKEY);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(ipoib->qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(ipoib->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static void set_state(struct ipoib_dev *ipoib, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	if (ib_modify_qp(ipoib->qp, &attr, IB_QP_STATE))
		ipoib_dbg(ipoib, "the QP does not change to state %d\n", state);
}

/**
 * ipoib_ud_start() - have the QP send and receive
 * @ipoib: interface, stopped
 *
 * Context: RTNL is held.
 * Return: 0, -ENOMEM, or what the device answers.
 */
int ipoib_ud_start(struct ipoib_dev *ipoib)
{
	int ret = to_rts(ipoib);

	if (ret)
		goto reset;
	ipoib_cq_start(&ipoib->tx_cq);
	ipoib_cq_start(&ipoib->rx_cq);
	ret = ipoib_rx_fill(ipoib);
	if (!ret)
		return 0;
	ipoib_ud_stop(ipoib);
	return ret;
reset:
	set_state(ipoib, IB_QPS_RESET);
	return ret;
}

static bool all_ended(struct ipoib_dev *ipoib)
{
	return !atomic_read(&ipoib->rx_posted) &&
	       READ_ONCE(ipoib->tx.tail) == READ_ONCE(ipoib->tx.head);
}

/**
 * ipoib_ud_stop() - flush the QP, and reset it
 * @ipoib: interface that gets no packets any more, and whose connections have ended
 *
 * A device that does not answer in five seconds is taken to be lost: its buffers are freed.
 *
 * Context: RTNL is held.
 */
void ipoib_ud_stop(struct ipoib_dev *ipoib)
{
	cancel_work_sync(&ipoib->repair);
	set_state(ipoib, IB_QPS_ERR);
	ipoib_cq_await_sends(ipoib);
	if (!wait_event_timeout(ipoib->idle, all_ended(ipoib), FLUSH_TIME))
		netdev_warn(ipoib->netdev, "the device does not flush the QP\n");
	ipoib_cq_stop(&ipoib->rx_cq);
	ipoib_cq_stop(&ipoib->tx_cq);
	timer_delete_sync(&ipoib->tx_timer);
	set_state(ipoib, IB_QPS_RESET);
	ipoib_rx_empty(ipoib);
	ipoib_tx_ring_drain(ipoib, &ipoib->tx);
}

/**
 * ipoib_ud_set_qkey() - have the QP use another Q_Key
 * @ipoib: interface
 * @qkey: that of the broadcast group
 *
 * Context: may sleep.
 * Return: 0 or what the device answers.
 */
int ipoib_ud_set_qkey(struct ipoib_dev *ipoib, u32 qkey)
{
	struct ib_qp_attr attr = { .qkey = qkey };
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_ud_set_qkey, ipoib, qkey);
	ret = ib_modify_qp(ipoib->qp, &attr, IB_QP_QKEY);
	if (!ret)
		WRITE_ONCE(ipoib->qkey, qkey);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_ud_set_qkey);
