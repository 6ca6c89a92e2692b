/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device as its objects know it.  All of it is accessed under the adapter's lock, unless a
 * comment says that other threads may touch it.
 */
#ifndef VHCAD_RES_DEV_H
#define VHCAD_RES_DEV_H

#include "engine/adapter.h"
#include "fabric/fabric.h"
#include "lib/table.h"
#include "res/eq.h"
#include "res/limit.h"
#include "res/stats.h"
#include "subnet/agent.h"

struct vmcgs;
struct vqp;

/* Fixed limits that QUERY_DEVICE reports; res/limit.c has the others. */
#define VDEV_MAX_REG_ENTRIES	4096u
#define VDEV_LOG_MAX_CQE	22u
#define VDEV_LOG_MAX_EQE	20u
#define VDEV_LOG_MAX_BLOCKS	20u
#define VDEV_LOG_MAX_STRIDES	16u
#define VDEV_LOG_MIN_STRIDE	5u	/* one scatter entry */
#define VDEV_LOG_MAX_STRIDE	10u
#define VDEV_MAX_SGE		32u
#define VDEV_MAX_MODERATION	UINT16_MAX	/* entries, and microseconds */
#define VDEV_MAX_INLINE		(VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK - \
				 sizeof(struct vhca_wqe_ctrl) - sizeof(struct vhca_wqe_ud))
#define VDEV_MAX_MSG		(1u << 31)
#define VDEV_MAX_RD_ATOMIC	16u
#define VDEV_LOG_ADMIN_MAX	12u
#define VDEV_CLOCK_KHZ		1000000u	/* the engine's nanoseconds */
#define VDEV_ACK_DELAY		15u

/*
 * QP numbers: slot below, generation above.  0 and 1 belong to the port.  There are more slots than
 * QPs, as those of destroyed QPs are not used again for a while.
 */
#define QPN_BITS		24u
#define QPN_FIRST_SLOT		2u
#define QPN_SHIFT		17u
#define VDEV_QP_NUMBERS		(1u << QPN_SHIFT)

/**
 * struct vport - a port of a device
 * @fab: the port, as the fabric sees it
 * @dev: device
 * @ev: events
 * @agent: what answers management datagrams for it, with or without a driver
 * @special: its QP 0 and QP 1, or NULL
 * @no_room: QPs that wait until it can send again
 * @no_room_node: on the adapter's list while there are any
 * @changes: count of changes to what paths of QPs depend on
 * @count: all counters but those of the fabric
 * @counted: sum of what counters of QPs have counted, destroyed ones included
 */
struct vport {
	struct fab_port fab;
	struct vhca_dev *dev;
	struct evnode ev;
	struct agent agent;
	struct vqp *special[VHCA_SPECIAL_QPS];
	struct list_head no_room;
	struct list_head no_room_node;
	u32 changes;
	struct vport_stats count;
	struct vport_stats counted;
};

/* Entries that the device writes: of EQs, told apart by their event, and of CQs, by their CQ. */
enum entry_kind { ENTRY_EVENT, ENTRY_COMPLETION };

/**
 * struct vhca_dev - the part of an adapter that its objects use
 * @adapter: the engine's part: lock, turns, timers
 * @mem: the VM's memory
 * @irq: raises a vector, which is not VHCA_NO_VECTOR
 * @lie: called with each entry before it is written, may change all but its owner; or NULL
 * @name: for the log
 * @node_guid: as a number
 * @caps: 1 << enum vhca_cap
 * @version: interface version
 * @nports: ports
 * @vectors: interrupt vectors
 * @kick_pages: kick pages, also the most UARs
 * @max_mtu: enum ib_mtu: the largest of the ports
 * @node_desc: node description
 * @node: attributes of the node for its agents
 * @status: VHCA_STATUS_*; atomic
 * @fatal: enum vhca_fatal; atomic
 * @kicked: a bit for each UAR; atomic
 * @any_kick: a bit for each word of @kicked in which one was set; atomic
 * @hot: struct vuar that are looked at in every pass
 * @flush: struct veq that may have room for pending events
 * @cq_notify: struct vcq with entries whose consumers were not notified yet
 * @limit: most objects of each kind
 * @mcgs: multicast groups
 * @db_pages: doorbell pages of all UARs
 * @uars: and the other tables: objects by number
 * @async_eq: EQ of asynchronous events, or NULL
 * @async_pending: nodes with events for it
 * @ev: DEVICE_FATAL
 * @wait_row: of the trace: what QPs wait for
 * @port: ports, from 0
 */
struct vhca_dev {
	struct adapter adapter;
	struct guest_mem *mem;
	void (*irq)(struct vhca_dev *dev, u32 vector);
	void (*lie)(struct vhca_dev *dev, enum entry_kind kind, u32 which, void *entry);
	char name[64];
	u64 node_guid;
	u64 caps;
	u32 version;
	u32 nports;
	u32 vectors;
	u32 kick_pages;
	u8 max_mtu;
	u8 node_desc[64];
	struct agent_node node;

	u32 status;
	u32 fatal;
	u64 *kicked;
	u64 any_kick;
	struct list_head hot;
	struct list_head flush;
	struct list_head cq_notify;

	u32 limit[VLIMITS];
	struct vmcgs *mcgs;
	struct db_pages db_pages;
	struct table uars, eqs, pds, xrcds, mkeys, cqs, srqs, qps, counters;
	struct veq *async_eq;
	struct list_head async_pending;
	struct evnode ev;
	u32 wait_row;
	struct vport port[VDEV_MAX_PORTS];
};

/** vport_mtu() - enum ib_mtu of packets that the port sends, which the manager may have lowered */
static inline u8 vport_mtu(const struct vport *p)
{
	return MIN(p->fab.ib.setup.mtu, p->fab.ib.mtu_cap);
}

/** vport_pkeys() - entries of the port's P_Key table */
static inline u32 vport_pkeys(const struct vport *p)
{
	return p->fab.eth ? 1 : PORT_PKEYS;
}

/** dev_live() - is the device enabled and not fatal? */
static inline bool dev_live(const struct vhca_dev *dev)
{
	return dev->status == VHCA_STATUS_READY;
}

/** dev_cap() - does the device have this capability? */
static inline bool dev_cap(const struct vhca_dev *dev, enum vhca_cap cap)
{
	return dev->caps >> cap & 1;
}

/** dev_access() - VHCA_ACCESS_* that a region may have on this device */
static inline u32 dev_access(const struct vhca_dev *dev)
{
	u32 access = VHCA_ACCESS_ALL;

	if (!dev_cap(dev, VHCA_CAP_MW))
		access &= ~VHCA_ACCESS_MW_BIND;
	if (!dev_cap(dev, VHCA_CAP_FLUSH))
		access &= ~(VHCA_ACCESS_FLUSH_GLOBAL | VHCA_ACCESS_FLUSH_PERSISTENT);
	return access;
}

/** dev_irq() - raise a vector, if it is not VHCA_NO_VECTOR */
static inline void dev_irq(struct vhca_dev *dev, u32 vector)
{
	if (vector != VHCA_NO_VECTOR)
		dev->irq(dev, vector);
}

/** dev_fatal() - stop the device; the driver must reset it */
void dev_fatal(struct vhca_dev *dev, enum vhca_fatal code);

#endif /* VHCAD_RES_DEV_H */
