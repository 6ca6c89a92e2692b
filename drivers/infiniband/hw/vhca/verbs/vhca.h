/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The device for its verbs objects. */
#ifndef VHCA_H
#define VHCA_H

#include <linux/if_ether.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../hw/compat.h"
#include "../hw/hw.h"
#include "../queue/eq.h"
#include "../queue/id_table.h"
#include "../queue/uar.h"

struct vhca_dev;
struct vhca_fn;
struct vhca_irq;

/**
 * struct vhca_vector - a completion vector: an event queue and the CQs that report to it
 * @eq: the event queue
 * @dev: the device
 * @lock: serialises the handling of events
 * @cqs: CQs by number, for completion events
 * @again: continues after an interrupt has handled its limit of events
 * @cpu: CPU of the interrupt
 */
struct vhca_vector {
	struct vhca_eq eq;
	struct vhca_dev *dev;
	spinlock_t lock;
	struct vhca_id_table cqs;
	struct work_struct again;
	unsigned int cpu;
};

/**
 * struct vhca_gid - an entry of an Ethernet port's GID table, as it was written to the device
 * @attr: the core's entry, or NULL
 * @vlan: VLAN, or VHCA_NO_VLAN
 * @mac: source address of packets
 */
struct vhca_gid {
	const struct ib_gid_attr *attr;
	u16 vlan;
	u8 mac[ETH_ALEN];
};

/**
 * struct vhca_port - state of a port
 * @ngids: entries of its GID table
 * @npkeys: entries of its P_Key table
 * @eth: it is an Ethernet port; for others the members below are not valid
 * @mac: its permanent address
 * @max_mtu: enum ib_mtu, its maximum
 * @gid_lock: protects @gids, and serialises SET_GID commands
 * @gids: its GID table
 * @enabled: the port is enabled; only follow_work uses this and the members below
 * @mtu: enum ib_mtu that was set in the device, 0 for none
 * @active: state that was last reported to the core
 * @said_lonely: a message was logged that it has no net device
 */
struct vhca_port {
	u32 ngids;
	u32 npkeys;
	bool eth;
	u8 mac[ETH_ALEN];
	u8 max_mtu;
	struct mutex gid_lock;
	struct vhca_gid *gids;
	bool enabled;
	u8 mtu;
	bool active;
	bool said_lonely;
};

/**
 * struct vhca_dev - a device that is up
 * @ibdev: its place in the RDMA core
 * @hw: the device itself
 * @fn: the PCI function
 * @uar: the kernel's doorbell area
 * @async_eq: asynchronous events
 * @async_ready: the interrupt handler may access @async_eq
 * @async_lock: serialises handling of asynchronous events; protects @registered and @unreported
 * @async_again: continues after a task has handled its limit of asynchronous events
 * @registered: events of ports may be reported to the core
 * @unreported: events of each port still to be reported, bits numbered by enum ib_event_type and
 *	by PORT_CHANGED of event.c
 * @report_work: reports them
 * @vectors: completion vectors
 * @nvectors: their number
 * @irqs: interrupts
 * @nirqs: their number
 * @cqs: CQs of all vectors by number, for asynchronous events
 * @qps: QPs by vhca_qp_id()
 * @srqs: SRQs by number
 * @owing_cqs: CQs of the kernel's whose consumers have not dealt with the device's death, see
 *	cq_dead.c
 * @send_ops: operations of send queues, bits numbered by enum vhca_wqe_opcode
 * @uc_lacks: operations that UC QPs of this device lack, although newer devices have them
 * @access: rights that memory can be registered with, IB_ACCESS_*
 * @max_pkeys: entries of the largest P_Key table
 * @ports: state of the ports
 * @netdev_nb: notifier for net devices, if there are Ethernet ports
 * @follow_work: adapts Ethernet ports to the state of their net devices
 * @following: @follow_work may be queued
 * @desc_lock: protects ibdev.node_desc
 * @health: the health check
 * @alive: sum of the counts of completions and events at the last check
 */
struct vhca_dev {
	struct ib_device ibdev;
	struct vhca_hw hw;
	struct vhca_fn *fn;
	struct vhca_uar uar;
	struct vhca_eq async_eq;
	bool async_ready;
	struct mutex async_lock;
	struct work_struct async_again;
	bool registered;
	u32 unreported[VHCA_SANE_PORTS];
	struct work_struct report_work;
	struct vhca_vector *vectors;
	unsigned int nvectors;
	struct vhca_irq *irqs;
	unsigned int nirqs;
	struct vhca_id_table cqs;
	struct vhca_id_table qps;
	struct vhca_id_table srqs;
	atomic_t owing_cqs;
	u32 send_ops;
	u32 uc_lacks;
	int access;
	u16 max_pkeys;
	struct vhca_port ports[VHCA_SANE_PORTS];
	struct notifier_block netdev_nb;
	struct work_struct follow_work;
	bool following;
	struct mutex desc_lock;
	struct delayed_work health;
	u64 alive;
};

static inline struct vhca_dev *to_vdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vhca_dev, ibdev);
}

/* Is it an Ethernet port? The port need not exist. */
static inline bool vhca_port_is_eth(const struct vhca_dev *dev, u32 port)
{
	return port && port <= VHCA_SANE_PORTS && dev->ports[port - 1].eth;
}

static inline struct vhca_dev *hw_to_vdev(struct vhca_hw *hw)
{
	return container_of(hw, struct vhca_dev, hw);
}

/* Define to_v@type(): get the driver's object that embeds a struct ib_@type. */
#define VHCA_TO(type, ib)							\
	static inline struct vhca_##type *to_v##type(struct ib_##type *obj)	\
	{									\
		return container_of(obj, struct vhca_##type, ib);		\
	}

#endif /* VHCA_H */
