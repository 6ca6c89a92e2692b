/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The PCI function, interrupts, events, net devices and the health check. */
#ifndef VHCA_DEVICE_H
#define VHCA_DEVICE_H

#include <linux/interrupt.h>
#include <linux/pci.h>

#include "../verbs/vhca.h"

#define VHCA_NAME_LEN	32

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

/* irq.c: interrupts and event queues */
int vhca_irqs_alloc(struct vhca_dev *dev);
void vhca_irqs_free(struct vhca_dev *dev);
int vhca_eqs_create(struct vhca_dev *dev);
void vhca_eqs_destroy(struct vhca_dev *dev);
void vhca_eqs_rescue(struct vhca_dev *dev);

/* event.c: handling of events */
void vhca_events_init(struct vhca_dev *dev);
void vhca_events_open(struct vhca_dev *dev);
void vhca_events_close(struct vhca_dev *dev);
void vhca_async_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count);
void vhca_port_event(struct vhca_dev *dev, u32 port, enum ib_event_type type);
void vhca_comp_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count);

/* netdev.c: net devices of Ethernet ports */
int vhca_netdevs_start(struct vhca_dev *dev);
void vhca_netdevs_open(struct vhca_dev *dev);
void vhca_netdevs_stop(struct vhca_dev *dev);

/* Queues the work that adapts Ethernet ports to the state of their net devices. Context: any. */
static inline void vhca_netdevs_follow(struct vhca_dev *dev)
{
	if (READ_ONCE(dev->following))
		queue_work(system_long_wq, &dev->follow_work);
}

/* health.c */
void vhca_health_start(struct vhca_dev *dev);
void vhca_health_stop(struct vhca_dev *dev);
void vhca_flush_kernel_users(struct vhca_dev *dev);

#endif /* VHCA_DEVICE_H */
