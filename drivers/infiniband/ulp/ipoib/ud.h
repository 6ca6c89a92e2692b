/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The datagram QP: its queues, what it sends and receives, and addresses to send to.
 */
#ifndef IPOIB_UD_H
#define IPOIB_UD_H

#include "ipoib.h"

int ipoib_cq_create(struct ipoib_dev *ipoib, struct ipoib_cq *queue, int entries);
void ipoib_cq_destroy(struct ipoib_cq *queue);
void ipoib_cq_start(struct ipoib_cq *queue);
void ipoib_cq_stop(struct ipoib_cq *queue);
void ipoib_cq_init(struct ipoib_dev *ipoib);
void ipoib_cq_posting(struct ipoib_dev *ipoib, bool urgent);
void ipoib_cq_await_sends(struct ipoib_dev *ipoib);
#if IS_ENABLED(CONFIG_KUNIT)
int ipoib_cq_poll_rx(struct napi_struct *napi, int budget);
int ipoib_cq_poll_tx(struct napi_struct *napi, int budget);
#endif

int ipoib_ud_create(struct ipoib_dev *ipoib, unsigned int sends, unsigned int receives);
void ipoib_ud_destroy(struct ipoib_dev *ipoib);
int ipoib_ud_start(struct ipoib_dev *ipoib);
void ipoib_ud_stop(struct ipoib_dev *ipoib);
int ipoib_ud_set_qkey(struct ipoib_dev *ipoib, u32 qkey);

int ipoib_rx_fill(struct ipoib_dev *ipoib);
void ipoib_rx_empty(struct ipoib_dev *ipoib);
void ipoib_rx_deliver(struct ipoib_dev *ipoib, struct napi_struct *napi, struct sk_buff *skb);

int ipoib_tx_ring_init(struct ipoib_tx_ring *ring);
void ipoib_tx_ring_drain(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring);
bool ipoib_tx_prepare(struct ipoib_dev *ipoib, struct ipoib_tx_buf *buf, struct sk_buff *skb,
		      unsigned int *num_sge);
void ipoib_tx_posted(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring,
		     const struct sk_buff *skb);
void ipoib_tx_undo(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring, struct ipoib_tx_buf *buf);
void ipoib_tx_finish(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring, struct ipoib_tx_buf *buf,
		     const struct ib_wc *wc);
void ipoib_tx_send(struct ipoib_dev *ipoib, struct sk_buff *skb, struct ib_ah *ah, u32 qpn);

void ipoib_too_long(struct ipoib_dev *ipoib, struct sk_buff *skb, unsigned int mtu);
void ipoib_too_long_init(struct ipoib_dev *ipoib);
void ipoib_too_long_end(struct ipoib_dev *ipoib);

struct ipoib_ah *ipoib_ah_create(struct ipoib_dev *ipoib, struct rdma_ah_attr *attr);
void ipoib_ah_release(struct ipoib_dev *ipoib, struct ipoib_ah *ah);
void ipoib_ah_init(struct ipoib_dev *ipoib);
void ipoib_ah_end(struct ipoib_dev *ipoib);

/*
 * Send a datagram by whatever sends them; @skb has the address in front. Context: transmit queue's
 * lock, RCU for @ah.
 */
static inline void ipoib_ud_send(struct ipoib_dev *ipoib, struct sk_buff *skb, struct ipoib_ah *ah,
				 u32 qpn)
{
	struct rdma_netdev *rn = netdev_priv(ipoib->netdev);

	skb_pull(skb, IPOIB_ADDR_LEN);
	rn->send(ipoib->netdev, skb, ah->ah, qpn);
}

#endif /* IPOIB_UD_H */
