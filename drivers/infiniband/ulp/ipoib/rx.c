// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams that arrive.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/skbuff.h>

#include "ud.h"

/* Shorter packets are copied, so that they do not take a whole buffer along. */
#define COPY_LEN	256

static unsigned int buf_len(const struct ipoib_dev *ipoib)
{
	return ipoib->port_mtu + IB_GRH_BYTES;
}

static void ended(struct ipoib_dev *ipoib, struct ipoib_rx_buf *buf)
{
	buf->skb = NULL;
	if (atomic_dec_and_test(&ipoib->rx_posted))
		wake_up(&ipoib->idle);
}

static void unmap(struct ipoib_dev *ipoib, u64 dma)
{
	ib_dma_unmap_single(ipoib->ca, dma, buf_len(ipoib), DMA_FROM_DEVICE);
}

static int post(struct ipoib_dev *ipoib, struct ipoib_rx_buf *buf)
{
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = buf_len(ipoib),
		.lkey = ipoib->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &buf->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(ipoib->qp, &wr, NULL);
}

/* Takes a new buffer. Behind the room for an address, the GRH and the header of 4 bytes, the IP
 * header is aligned to 64 bytes.
 */
static int renew(struct ipoib_dev *ipoib, struct ipoib_rx_buf *buf)
{
	struct sk_buff *skb = netdev_alloc_skb(ipoib->netdev, IPOIB_ADDR_LEN + buf_len(ipoib));
	u64 dma;

	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, IPOIB_ADDR_LEN);
	dma = ib_dma_map_single(ipoib->ca, skb->data, buf_len(ipoib), DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ipoib->ca, dma)) {
		dev_kfree_skb_any(skb);
		return -ENOMEM;
	}
	buf->skb = skb;
	buf->dma = dma;
	return 0;
}

/* A copy of a short packet, or the packet itself, whose place another buffer takes; NULL if there
 * is no memory, and the buffer stays.
 */
static struct sk_buff *take(struct ipoib_dev *ipoib, struct ipoib_rx_buf *buf, unsigned int len)
{
	struct sk_buff *skb = buf->skb;
	u64 dma = buf->dma;

	if (len <= COPY_LEN) {
		skb = napi_alloc_skb(&ipoib->rx_cq.napi, IPOIB_ADDR_LEN + len);
		if (!skb)
			return NULL;
		skb_reserve(skb, IPOIB_ADDR_LEN);
		ib_dma_sync_single_for_cpu(ipoib->ca, dma, len, DMA_FROM_DEVICE);
		skb_put_data(skb, buf->skb->data, len);
		ib_dma_sync_single_for_device(ipoib->ca, dma, len, DMA_FROM_DEVICE);
		return skb;
	}
	if (renew(ipoib, buf))
		return NULL;
	unmap(ipoib, dma);
	skb_put(skb, len);
	return skb;
}

/* A packet of ours that a switch has sent back. */
static bool own(struct ipoib_dev *ipoib, const struct ib_wc *wc, const struct ib_grh *grh)
{
	return wc->slid == ipoib->lid && wc->src_qp == ipoib->qp->qp_num &&
	       (!(wc->wc_flags & IB_WC_GRH) ||
		grh->sgid.global.interface_id == ipoib->gid.global.interface_id);
}

static void classify(struct ipoib_dev *ipoib, const struct ib_wc *wc, struct sk_buff *skb)
{
	const struct ib_grh *grh = (const struct ib_grh *)skb->data;

	if (!(wc->wc_flags & IB_WC_GRH) || grh->dgid.raw[0] != 0xff)
		skb->pkt_type = PACKET_HOST;
	else if (!memcmp(&grh->dgid, ipoib_addr_gid(ipoib->netdev->broadcast), sizeof(grh->dgid)))
		skb->pkt_type = PACKET_BROADCAST;
	else
		skb->pkt_type = PACKET_MULTICAST;
}

/**
 * ipoib_rx_deliver() - give a packet to the stack
 * @ipoib: interface
 * @napi: that of the poll
 * @skb: packet, from its header of 4 bytes on; the type is set
 *
 * Context: NAPI poll.
 */
void ipoib_rx_deliver(struct ipoib_dev *ipoib, struct napi_struct *napi, struct sk_buff *skb)
{
	struct net_device *netdev = ipoib->netdev;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_rx_deliver, ipoib, napi, skb);
	skb->dev = netdev;
	skb->protocol = ((const struct ipoib_encap *)skb->data)->proto;
	/* Packet sockets that read whole frames find an address in front, all zeroes. */
	memset(skb_push(skb, IPOIB_ADDR_LEN), 0, IPOIB_ADDR_LEN);
	skb_reset_mac_header(skb);
	skb_pull(skb, IPOIB_HEAD_LEN);
	DEV_STATS_INC(netdev, rx_packets);
	DEV_STATS_ADD(netdev, rx_bytes, skb->len);
	if (skb->pkt_type == PACKET_MULTICAST)
		DEV_STATS_INC(netdev, multicast);
	napi_gro_receive(napi, skb);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_rx_deliver);

static void receive(struct ipoib_dev *ipoib, struct ipoib_rx_buf *buf, const struct ib_wc *wc)
{
	struct sk_buff *skb;

	if (wc->byte_len < IB_GRH_BYTES + IPOIB_ENCAP_LEN || wc->byte_len > buf_len(ipoib)) {
		DEV_STATS_INC(ipoib->netdev, rx_length_errors);
		DEV_STATS_INC(ipoib->netdev, rx_errors);
		return;
	}
	skb = take(ipoib, buf, wc->byte_len);
	if (!skb) {
		DEV_STATS_INC(ipoib->netdev, rx_dropped);
		return;
	}
	if (own(ipoib, wc, (const struct ib_grh *)skb->data)) {
		dev_kfree_skb_any(skb);
		return;
	}
	classify(ipoib, wc, skb);
	skb_pull(skb, IB_GRH_BYTES);
	if (wc->wc_flags & IB_WC_IP_CSUM_OK && ipoib->netdev->features & NETIF_F_RXCSUM)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	ipoib_rx_deliver(ipoib, &ipoib->rx_cq.napi, skb);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_cq *queue = cq->cq_context;
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, rx_cq);
	struct ipoib_rx_buf *buf = container_of(wc->wr_cqe, struct ipoib_rx_buf, cqe);

	if (wc->status == IB_WC_SUCCESS) {
		receive(ipoib, buf, wc);
		if (!post(ipoib, buf))
			return;
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		DEV_STATS_INC(ipoib->netdev, rx_errors);
	}
	unmap(ipoib, buf->dma);
	dev_kfree_skb_any(buf->skb);
	ended(ipoib, buf);
}

/**
 * ipoib_rx_fill() - post as many receives as the interface is to have
 * @ipoib: interface that is starting
 *
 * Context: RTNL is held.
 * Return: 0, -ENOMEM or what the device answers.
 */
int ipoib_rx_fill(struct ipoib_dev *ipoib)
{
	for (unsigned int i = 0; i < ipoib->rx_limit; i++) {
		struct ipoib_rx_buf *buf = &ipoib->rx_bufs[i];
		int ret = renew(ipoib, buf);

		if (ret)
			return ret;
		buf->cqe.done = received;
		atomic_inc(&ipoib->rx_posted);
		ret = post(ipoib, buf);
		if (ret) {
			unmap(ipoib, buf->dma);
			dev_kfree_skb_any(buf->skb);
			ended(ipoib, buf);
			return ret;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_rx_fill);

/**
 * ipoib_rx_empty() - free receives that have not come back
 * @ipoib: interface whose QP is reset
 *
 * Context: RTNL is held.
 */
void ipoib_rx_empty(struct ipoib_dev *ipoib)
{
	for (unsigned int i = 0; i < ipoib_recvq_size; i++) {
		struct ipoib_rx_buf *buf = &ipoib->rx_bufs[i];

		if (!buf->skb)
			continue;
		unmap(ipoib, buf->dma);
		dev_kfree_skb_any(buf->skb);
		ended(ipoib, buf);
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_rx_empty);
