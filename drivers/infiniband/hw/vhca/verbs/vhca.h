/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver's InfiniBand side: the device and its objects. */
#ifndef VHCA_H
#define VHCA_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <rdma/ib_verbs.h>

#include "../hw/buf.h"
#include "../hw/compat.h"
#include "../queue/uar.h"
#include "../queue/eq.h"
#include "../hw/hw.h"
#include "../queue/id_table.h"
#include "../hw/refuse.h"

#define VHCA_NAME_LEN	32

struct vhca_dev;

/**
 * struct vhca_fn - a PCI function, bound to this driver
 * @pdev: the function
 * @regs: BAR0
 * @kick_phys: physical address of BAR2
 * @kick_size: its bytes
 * @lock: serialises bringing the device up and taking it down
 * @dev: the device while it is up; protected by @lock
 * @down_work: takes a dead device down
 */
struct vhca_fn {
	struct pci_dev *pdev;
	void __iomem *regs;
	phys_addr_t kick_phys;
	size_t kick_size;
	struct mutex lock;
	struct vhca_dev *dev;
	struct work_struct down_work;
};

/**
 * struct vhca_vector - a completion vector: an event queue and the CQs that report to it
 * @eq: the event queue
 * @dev: the device
 * @lock: serialises the handling of events
 * @cqs: CQs by number, for completion events
 * @again: goes on where an interrupt had handled enough
 * @cpu: where the interrupt is steered
 */
struct vhca_vector {
	struct vhca_eq eq;
	struct vhca_dev *dev;
	spinlock_t lock;
	struct vhca_numbers cqs;
	struct work_struct again;
	unsigned int cpu;
};

/**
 * struct vhca_irq - an interrupt
 * @dev: the device
 * @index: MSI-X (or MSI) vector
 * @vector: completion vector it serves, or NULL
 * @name: in /proc/interrupts
 */
struct vhca_irq {
	struct vhca_dev *dev;
	unsigned int index;
	struct vhca_vector *vector;
	char name[VHCA_NAME_LEN];
};

/**
 * struct vhca_dev - a device that is up
 * @ibdev: its place in the RDMA core
 * @hw: the device itself
 * @fn: the PCI function
 * @uar: the kernel's doorbell area
 * @async_eq: asynchronous events
 * @async_ready: the interrupt may look at @async_eq
 * @async_lock: serialises their handling; protects @registered and @early
 * @registered: events of ports may be told to the core
 * @early: those of each port that came when they might not, bits numbered by enum ib_event_type
 * @vectors: completion vectors
 * @nvectors: their number
 * @irqs: interrupts
 * @nirqs: their number
 * @cqs: CQs of all vectors by number, for asynchronous events
 * @qps: QPs by number
 * @srqs: SRQs by number
 * @send_ops: operations of send queues, bits numbered by enum vhca_wqe_opcode
 * @uc_lacks: those that UC QPs of this device do not have, though the interface knows them there
 * @access: rights that memory can be registered with, IB_ACCESS_*
 * @max_pkeys: entries of the largest P_Key table
 * @desc_lock: protects ibdev.node_desc
 * @health: the health check
 * @alive: sum of signs of life at the last check
 */
struct vhca_dev {
	struct ib_device ibdev;
	struct vhca_hw hw;
	struct vhca_fn *fn;
	struct vhca_uar uar;
	struct vhca_eq async_eq;
	bool async_ready;
	struct mutex async_lock;
	bool registered;
	u32 early[VHCA_SANE_PORTS];
	struct vhca_vector *vectors;
	unsigned int nvectors;
	struct vhca_irq *irqs;
	unsigned int nirqs;
	struct vhca_numbers cqs;
	struct vhca_numbers qps;
	struct vhca_numbers srqs;
	u32 send_ops;
	u32 uc_lacks;
	int access;
	u16 max_pkeys;
	struct mutex desc_lock;
	struct delayed_work health;
	u64 alive;
};

static inline struct vhca_dev *to_vdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vhca_dev, ibdev);
}

static inline struct vhca_dev *hw_to_vdev(struct vhca_hw *hw)
{
	return container_of(hw, struct vhca_dev, hw);
}

/* irq.c: interrupts and event queues */
int vhca_irqs_alloc(struct vhca_dev *dev);
void vhca_irqs_free(struct vhca_dev *dev);
int vhca_eqs_create(struct vhca_dev *dev);
void vhca_eqs_destroy(struct vhca_dev *dev);
void vhca_eqs_rescue(struct vhca_dev *dev);

/* event.c: what events mean */
void vhca_events_open(struct vhca_dev *dev);
void vhca_events_close(struct vhca_dev *dev);
void vhca_async_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count);
void vhca_comp_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count);

/* health.c */
void vhca_health_start(struct vhca_dev *dev);
void vhca_health_stop(struct vhca_dev *dev);
void vhca_flush_kernel_users(struct vhca_dev *dev);

/* offer.c: what capabilities amount to */
void vhca_offer_init(struct vhca_dev *dev);
void vhca_offer_attr(const struct vhca_dev *dev, struct ib_device_attr *attr);

/* verbs_dev.c */
void vhca_set_ops(struct vhca_dev *dev);

#endif /* VHCA_H */
