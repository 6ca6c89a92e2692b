/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Connected mode: packets of up to 64 KiB by connections, one for each direction and peer. An
 * interface takes connections in datagram mode, too.
 */
#ifndef IPOIB_CM_H
#define IPOIB_CM_H

#include <rdma/ib_cm.h>

#include "ipoib.h"

/* Pages of a receive. */
#define IPOIB_CM_PAGES	((IPOIB_MAX_MTU + IPOIB_ENCAP_LEN + PAGE_SIZE - 1) / PAGE_SIZE)

/* The most connections for sending */
#define IPOIB_MAX_CONNS		1024

/* The most connections of peers that share receives, and how many more may be ending meanwhile. */
#define IPOIB_MAX_PEERS		4096
#define IPOIB_MAX_ENDING	64

/**
 * struct ipoib_cm_buf - a receive
 * @cqe: called when it was used
 * @pages: the buffer; ipoib_cm.pages of them
 * @dma: their DMA addresses
 */
struct ipoib_cm_buf {
	struct ib_cqe cqe;
	struct page *pages[IPOIB_CM_PAGES];
	u64 dma[IPOIB_CM_PAGES];
};

/**
 * struct ipoib_cm_ring - receives of connections: of those that share them, or of one
 * @bufs: as many as the datagram QP has
 * @filled: how many of @bufs have memory
 */
struct ipoib_cm_ring {
	struct ipoib_cm_buf *bufs;
	unsigned int filled;
};

/**
 * struct ipoib_cm - connected mode of an interface
 * @ipoib: interface
 * @mtu: bytes of the largest IP packet
 * @pages: of each receive
 * @conns: connections for sending, by the peer's hardware address
 * @todo: connections for sending that @work has to establish or to destroy
 * @work: establishes and destroys them
 * @srq: shared receive queue of all peers' connections; NULL if each has receives of its own
 * @ring: receives of @srq
 * @fill: protects @ring
 * @listen: takes requests, NULL while the interface is down
 * @peers: connections of peers
 * @ended: connections of peers that @reap has to destroy
 * @reap: destroys them
 * @max_peers: the most connections of peers
 * @extra_peers: how many more there may be while as many are ending
 * @count: entries of the two lists
 * @ending: entries of @ended
 * @closing: no peer may connect any more
 */
struct ipoib_cm {
	struct ipoib_dev *ipoib;
	unsigned int mtu;
	unsigned int pages;
	struct ipoib_table conns;
	struct list_head todo;
	struct work_struct work;

	struct ib_srq *srq;
	struct ipoib_cm_ring ring;
	struct mutex fill;
	struct ib_cm_id *listen;
	struct list_head peers;
	struct list_head ended;
	struct work_struct reap;
	unsigned int max_peers;
	unsigned int extra_peers;
	unsigned int count;
	unsigned int ending;
	bool closing;
};

/* State of a connection for sending */
enum ipoib_conn_state {
	IPOIB_CONN_NEW,		/* to be established */
	IPOIB_CONN_ASKED,	/* the peer has to answer */
	IPOIB_CONN_UP,
	IPOIB_CONN_DEAD,	/* not in the table any more, to be destroyed */
};

/**
 * struct ipoib_conn - a connection for sending; the context of its QP
 * @node: in the table of connections
 * @cm: interface's connections
 * @state: see there; under the interface's lock
 * @entry: in ipoib_cm.todo
 * @path: to the peer's port
 * @id: the connection manager's id
 * @qp: its QP
 * @ring: packets that @qp is sending
 * @mtu: bytes that the peer receives, header included
 * @queue: packets that wait until it is established
 * @used: when something was sent, in jiffies
 * @rcu: frees it
 */
struct ipoib_conn {
	struct ipoib_node node;
	struct ipoib_cm *cm;
	enum ipoib_conn_state state;
	struct list_head entry;
	struct sa_path_rec path;
	struct ib_cm_id *id;
	struct ib_qp *qp;
	struct ipoib_tx_ring ring;
	u32 mtu;
	struct sk_buff_head queue;
	unsigned long used;
	struct rcu_head rcu;
};

/**
 * struct ipoib_peer - a peer's connection; the context of its QP
 * @cm: interface's connections
 * @entry: in the list of all, or of those that end
 * @id: the connection manager's id
 * @qp: its QP
 * @ring: receives of @qp, if none are shared
 * @posted: how many of them @qp has
 * @dry: called when it has none any more
 * @ending: in the list of those that end
 * @used: when something was received, in jiffies
 * @last: completed when the QP takes no receives any more
 * @drain: completion of a request behind all others
 * @drained: completed when that request has completed
 */
struct ipoib_peer {
	struct ipoib_cm *cm;
	struct list_head entry;
	struct ib_cm_id *id;
	struct ib_qp *qp;
	struct ipoib_cm_ring ring;
	unsigned int posted;
	void (*dry)(struct ipoib_peer *peer);
	bool ending;
	unsigned long used;
	struct completion last;
	struct ib_cqe drain;
	struct completion drained;
};

int ipoib_cm_create(struct ipoib_dev *ipoib);
void ipoib_cm_destroy(struct ipoib_dev *ipoib);
unsigned int ipoib_cm_entries(struct ipoib_dev *ipoib);
int ipoib_cm_start(struct ipoib_dev *ipoib);
void ipoib_cm_stop(struct ipoib_dev *ipoib);
void ipoib_cm_flush(struct ipoib_dev *ipoib);
void ipoib_cm_renew(struct ipoib_dev *ipoib);
void ipoib_cm_age(struct ipoib_dev *ipoib);
void ipoib_cm_send(struct ipoib_dev *ipoib, struct sk_buff *skb, const u8 *addr);

int ipoib_conn_init(struct ipoib_cm *cm);
void ipoib_conn_stop(struct ipoib_cm *cm);
void ipoib_conn_flush(struct ipoib_dev *ipoib);
void ipoib_conn_renew(struct ipoib_dev *ipoib);
void ipoib_conn_age(struct ipoib_cm *cm, unsigned long idle);

void ipoib_peer_init(struct ipoib_cm *cm);
int ipoib_peer_listen(struct ipoib_cm *cm);
void ipoib_peer_stop(struct ipoib_cm *cm);
void ipoib_peer_age(struct ipoib_cm *cm, unsigned long idle);

int ipoib_cm_rx_create(struct ipoib_cm *cm);
void ipoib_cm_rx_destroy(struct ipoib_cm *cm);
int ipoib_cm_fill(struct ipoib_cm *cm);
int ipoib_cm_fill_peer(struct ipoib_peer *peer);
void ipoib_cm_empty_peer(struct ipoib_peer *peer);

#if IS_ENABLED(CONFIG_KUNIT)
struct ib_srq *ipoib_cm_create_srq(struct ipoib_cm *cm);
bool ipoib_peer_enter(struct ipoib_peer *peer);
void ipoib_peer_dry(struct ipoib_peer *peer);
void ipoib_conn_wait_for_senders(void);
int ipoib_conn_create_qp(struct ipoib_conn *conn);
void ipoib_cm_destroy_srq(struct ipoib_cm *cm);
struct page *ipoib_cm_new_page(struct ipoib_cm *cm, u64 *dma, gfp_t gfp);
#endif

#endif /* IPOIB_CM_H */
