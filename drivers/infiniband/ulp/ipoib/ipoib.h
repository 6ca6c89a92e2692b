/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An interface, and what its parts keep. Each part's functions stand in the header of its name.
 *
 * Three contexts change an interface. The stack sends, under the lock of the transmit queue. The
 * interface's own ordered work queue joins groups, makes connections and frees objects; it never
 * takes RTNL, so that stopping the interface, which holds it, can wait for that work. The module's
 * work queue follows events and takes RTNL, so no holder of RTNL waits for it: its work holds a
 * reference to the network device instead.
 */
#ifndef IPOIB_H
#define IPOIB_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "offload.h"
#include "table.h"
#include "wire.h"

/* Packets that wait for a path, for a connection and for a group; queries under way. */
#define IPOIB_PATH_QUEUE	3
#define IPOIB_CONN_QUEUE	16
#define IPOIB_GROUP_QUEUE	64
#define IPOIB_MAX_QUERIES	32

/* The MTU is the broadcast group's, whatever that is. */
#define IPOIB_LARGEST_MTU	UINT_MAX

/* The smallest part of a ring that an interface can be told to use. */
#define IPOIB_LEAST_RING	2

/* Completions that are polled at once. */
#define IPOIB_POLL_BATCH	16

/* Bits of ipoib_dev.flags */
enum {
	IPOIB_CONNECTED,	/* mode */
	IPOIB_UMCAST,		/* groups that programs joined are left to them */
	IPOIB_CHILD,		/* stands on the parent's port */
	IPOIB_LEGACY,		/* a child that sysfs has made */
	IPOIB_PKEY_FOUND,	/* pkey_index is valid */
	IPOIB_PKEY_UNREAD,	/* the table could not be read, and may have changed */
	IPOIB_OWN_GUID,		/* the administrator chose the GUID */
	IPOIB_GUID_FOUND,	/* it is in the port's table */
	IPOIB_STARTED,		/* the QP works */
	IPOIB_JOINING,		/* groups may be joined */
	IPOIB_TX_AWAITED,	/* completions of sends cause events */
};

/**
 * struct ipoib_cq - a completion queue, polled by NAPI
 * @cq: the queue
 * @napi: polls it
 * @wc: completions that are being looked at
 */
struct ipoib_cq {
	struct ib_cq *cq;
	struct napi_struct napi;
	struct ib_wc wc[IPOIB_POLL_BATCH];
};

/**
 * struct ipoib_tx_buf - a packet that is being sent
 * @cqe: called when it was sent
 * @skb: the packet; of one that the device sends as segments, what follows the headers
 * @packets: packets that are sent
 * @bytes: of all of them
 * @dma: its linear part, if it has one, and its fragments
 */
struct ipoib_tx_buf {
	struct ib_cqe cqe;
	struct sk_buff *skb;
	u32 packets;
	u32 bytes;
	u64 dma[MAX_SKB_FRAGS + 1];
};

/**
 * struct ipoib_tx_ring - packets that a QP is sending, in their order
 * @bufs: ipoib_sendq_size of them
 * @head: packets posted so far; wraps
 * @tail: packets sent so far; wraps
 */
struct ipoib_tx_ring {
	struct ipoib_tx_buf *bufs;
	u32 head;
	u32 tail;
};

/**
 * struct ipoib_rx_buf - a receive of the datagram QP
 * @cqe: called when it was used
 * @skb: buffer, NULL while it is not posted
 * @dma: its address
 */
struct ipoib_rx_buf {
	struct ib_cqe cqe;
	struct sk_buff *skb;
	u64 dma;
};

/**
 * struct ipoib_ah - address to which datagrams are sent
 * @ah: of the device
 * @entry: in the list of those that nobody uses for new packets
 * @unused: no packet can be posted to it any more
 * @last: then: head of the transmit ring, behind all packets that have been posted to it
 */
struct ipoib_ah {
	struct ib_ah *ah;
	struct list_head entry;
	bool unused;
	u32 last;
};

struct ipoib_cm;

/**
 * struct ipoib_dev - an interface
 * @netdev: the network device, whose own private part is a struct rdma_netdev
 * @engine: operations that send and receive datagrams: init, uninit, open, stop, and what else a
 *	driver's have; see netdev.c
 * @destroy_engine: frees what a driver has allocated for them, NULL for ours
 * @ca: RDMA device
 * @port: its port, 1 the first
 * @flags: bits above
 * @lock: protects the tables, what they hold, and @ah_idle
 * @wq: the interface's own work
 * @parent: interface on which a child stands
 * @children: under RTNL; read under RCU
 * @entry: among the children, or among the device's interfaces
 * @pkey: P_Key, always that of a full member
 * @pkey_index: its place in the port's table
 * @qkey: Q_Key of the broadcast group
 * @traffic_class: of the broadcast group
 * @gid: own GID
 * @lid: own LID
 * @port_mtu: bytes of the port's largest datagram
 * @group_mtu: bytes of an IP packet that fits the broadcast group
 * @wanted_mtu: the MTU of datagram mode that was asked for; IPOIB_LARGEST_MTU if that was the
 *	group's; under RTNL
 * @max_sge: gather entries that a packet can have
 * @pd: protection domain
 * @qp: datagram QP
 * @rx_cq: completions of receives
 * @tx_cq: completions of sends, of connections too
 * @rx_bufs: receives of @qp
 * @rx_limit: how many of them are used, from the next start on; under RTNL
 * @rx_posted: how many of them the QP has
 * @tx: sends of @qp
 * @tx_limit: packets that all QPs may be sending at a time, and one more; written under RTNL
 * @tx_head: packets posted to all QPs, under the queue's lock; wraps
 * @tx_tail: of these, those sent; wraps. Counted as completions are polled and rings are drained
 * @tx_timer: completions of sends may not lie longer
 * @sge: gather entries of the packet that is being sent
 * @idle: woken when a QP's last request has ended
 * @repair: brings the QP back after an error of sending
 * @too_long: packets whose senders must be told to send shorter ones
 * @too_long_work: tells them
 * @ah_idle: addresses that are to be freed
 * @ah_work: frees them
 * @paths: by GID
 * @path_wait: paths that are to be asked for
 * @queries: number of path queries under way
 * @groups: by MGID
 * @broadcast: the broadcast group's, once there is one
 * @group_work: joins and leaves
 * @group_sync: the stack's list of groups has changed
 * @age_work: gives up what nobody uses any more
 * @cm: connected mode
 * @flush: levels that @flush_work has to do, a bit each
 * @flush_work: follows events
 * @link_work: has the carrier follow the broadcast group
 * @handler: called for events, for a parent and its children
 * @coalesce_usecs: moderation of receive completions
 * @coalesce_frames: likewise
 * @debug_groups: file in debugfs
 * @debug_paths: file in debugfs
 */
struct ipoib_dev {
	struct net_device *netdev;
	const struct net_device_ops *engine;
	void (*destroy_engine)(struct net_device *netdev);
	struct ib_device *ca;
	u32 port;
	unsigned long flags;
	spinlock_t lock;
	struct workqueue_struct *wq;

	struct ipoib_dev *parent;
	struct list_head children;
	struct list_head entry;

	u16 pkey;
	u16 pkey_index;
	u32 qkey;
	u8 traffic_class;
	union ib_gid gid;
	u32 lid;
	unsigned int port_mtu;
	unsigned int group_mtu;
	unsigned int wanted_mtu;
	unsigned int max_sge;

	struct ib_pd *pd;
	struct ib_qp *qp;
	struct ipoib_cq rx_cq;
	struct ipoib_cq tx_cq;
	struct ipoib_rx_buf *rx_bufs;
	unsigned int rx_limit;
	atomic_t rx_posted;
	struct ipoib_tx_ring tx;
	unsigned int tx_limit;
	u32 tx_head;
	atomic_t tx_tail;
	struct timer_list tx_timer;
	struct ib_sge sge[MAX_SKB_FRAGS + 1];
	wait_queue_head_t idle;
	struct work_struct repair;
	struct sk_buff_head too_long;
	struct work_struct too_long_work;

	struct list_head ah_idle;
	struct delayed_work ah_work;

	struct ipoib_table paths;
	struct list_head path_wait;
	unsigned int queries;

	struct ipoib_table groups;
	struct ipoib_group *broadcast;
	struct delayed_work group_work;
	bool group_sync;
	struct delayed_work age_work;

	struct ipoib_cm *cm;

	atomic_t flush;
	struct work_struct flush_work;
	struct work_struct link_work;
	struct ib_event_handler handler;

	u16 coalesce_usecs;
	u16 coalesce_frames;
	struct dentry *debug_groups;
	struct dentry *debug_paths;
};

extern int ipoib_sendq_size, ipoib_recvq_size, ipoib_max_nonsrq;
extern int ipoib_debug_level, ipoib_mcast_debug_level;
extern struct ib_sa_client ipoib_sa_client;
extern struct workqueue_struct *ipoib_wq;

#define ipoib_dbg(_ipoib, _fmt, ...)						\
	do {									\
		if (READ_ONCE(ipoib_debug_level) > 0)				\
			netdev_printk(KERN_DEBUG, (_ipoib)->netdev, _fmt, ##__VA_ARGS__); \
	} while (0)
#define ipoib_dbg_mcast(_ipoib, _fmt, ...)					\
	do {									\
		if (READ_ONCE(ipoib_mcast_debug_level) > 0)			\
			netdev_printk(KERN_DEBUG, (_ipoib)->netdev, _fmt, ##__VA_ARGS__); \
	} while (0)

/* The interface of a network device */
static inline struct ipoib_dev *ipoib_priv(const struct net_device *netdev)
{
	const struct rdma_netdev *rn = netdev_priv(netdev);

	return rn->clnt_priv;
}

static inline bool ipoib_is(const struct ipoib_dev *ipoib, unsigned int flag)
{
	return test_bit(flag, &ipoib->flags);
}

/* Drop a packet, and count it. */
static inline void ipoib_drop(struct ipoib_dev *ipoib, struct sk_buff *skb)
{
	DEV_STATS_INC(ipoib->netdev, tx_dropped);
	dev_kfree_skb_any(skb);
}

/* Have packets that waited go through the transmit queue again, with their addresses in front. */
static inline void ipoib_resend(struct ipoib_dev *ipoib, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		skb->dev = ipoib->netdev;
		dev_queue_xmit(skb);
	}
}

/* Have a packet wait in a queue of limited length. Context: the interface's lock is held. */
static inline void ipoib_enqueue(struct ipoib_dev *ipoib, struct sk_buff_head *queue,
				 struct sk_buff *skb, unsigned int limit)
{
	if (skb_queue_len(queue) < limit)
		__skb_queue_tail(queue, skb);
	else
		ipoib_drop(ipoib, skb);
}

static inline void ipoib_drop_queue(struct ipoib_dev *ipoib, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		ipoib_drop(ipoib, skb);
}

#endif /* IPOIB_H */
