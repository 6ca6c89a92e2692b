// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that are longer than the receiver takes. In connected mode the MTU of the interface is
 * that of connections. Groups, receivers without a connection, and those whose connections take
 * less have a smaller one, which the sender has to learn.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dst.h>
#include <net/icmp.h>

#include "ud.h"

/* Packets that wait for an answer to their senders. */
#define MOST	128

/* The MTU for the answer is kept at the end of the control buffer, which the driver owns here. */
#define MTU(_skb)	(*(unsigned int *)((_skb)->cb + sizeof((_skb)->cb) - sizeof(unsigned int)))

static void answer(struct sk_buff *skb)
{
	unsigned int mtu = MTU(skb);

	memset(skb->cb, 0, sizeof(skb->cb));
	if (skb->protocol == htons(ETH_P_IP))
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
#if IS_ENABLED(CONFIG_IPV6)
	else if (skb->protocol == htons(ETH_P_IPV6))
		icmpv6_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
#endif
}

static void answer_all(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, too_long_work);
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&ipoib->too_long))) {
		local_bh_disable();
		answer(skb);
		dev_kfree_skb(skb);
		local_bh_enable();
	}
}

/**
 * ipoib_too_long() - drop a packet, and tell its sender why
 * @ipoib: interface
 * @skb: the packet, with its route
 * @mtu: bytes that an IP packet may have
 *
 * Context: transmit queue's lock.
 */
void ipoib_too_long(struct ipoib_dev *ipoib, struct sk_buff *skb, unsigned int mtu)
{
	DEV_STATS_INC(ipoib->netdev, tx_errors);
	if (skb_queue_len(&ipoib->too_long) >= MOST) {
		ipoib_drop(ipoib, skb);
		return;
	}
	DEV_STATS_INC(ipoib->netdev, tx_dropped);
	skb_dst_update_pmtu(skb, mtu);
	MTU(skb) = mtu;
	skb_queue_tail(&ipoib->too_long, skb);
	/* Not here: the answer may be sent through the queue whose lock is held. */
	queue_work(ipoib->wq, &ipoib->too_long_work);
}

/**
 * ipoib_too_long_init() - prepare for packets that are too long
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_too_long_init(struct ipoib_dev *ipoib)
{
	skb_queue_head_init(&ipoib->too_long);
	INIT_WORK(&ipoib->too_long_work, answer_all);
}

/**
 * ipoib_too_long_end() - forget packets whose senders have not been told
 * @ipoib: interface that does not send any more
 *
 * Context: may sleep.
 */
void ipoib_too_long_end(struct ipoib_dev *ipoib)
{
	cancel_work_sync(&ipoib->too_long_work);
	skb_queue_purge(&ipoib->too_long);
}
