/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A PCI function on a vfio-user socket: one thread, one client at a time.
 *
 * The server owns configuration space, interrupts and the VM's memory; what
 * the BARs mean is the device's matter.  When a client goes away, however it
 * goes, the device is reset, its memory dropped, and the socket waits for the
 * next one.
 */
#ifndef VHCAD_SERVER_SERVER_H
#define VHCAD_SERVER_SERVER_H

#include "mem/mem.h"
#include "pci/config.h"
#include "lib/types.h"

struct server;

#define SERVER_BAR_REGS		0u	/* 32-bit registers */
#define SERVER_BAR_KICK		2u	/* one page a doorbell owner */
#define SERVER_REGS_SIZE	4096u
#define SERVER_KICK_STRIDE	4096u

/**
 * struct server_device_ops - the device behind the BARs
 * @reg_read: 32-bit read from BAR0, at a multiple of 4
 * @reg_write: 32-bit write to BAR0, at a multiple of 4
 * @kick: 32-bit write of @val to the start of kick page @page
 * @reset: back to power-on; afterwards no DMA and no interrupt
 *
 * All are called on the server's thread and must not take long: the VM's CPU
 * waits for reads.
 */
struct server_device_ops {
	u32 (*reg_read)(void *dev, u32 off);
	void (*reg_write)(void *dev, u32 off, u32 val);
	void (*kick)(void *dev, u32 page, u32 val);
	void (*reset)(void *dev);
};

/**
 * struct server_config - what a server offers
 * @name: of the device, for the log; must outlive the server
 * @path: of the socket; must outlive the server
 * @vendor: PCI vendor id
 * @device: PCI device id
 * @revision: PCI revision id
 * @class: PCI class code
 * @irq: which kind of interrupt
 * @vectors: 1..MSIX_VECTORS_MAX; 1 with PCI_IRQ_MSI
 * @kick_pages: pages in BAR2, a power of two
 * @speed: of the link, as in struct pci_ident; 0: PCI_SPEED_MAX
 * @lanes: of the link; 0: PCI_LANES_MAX
 * @allow_unsealed: take guest memory that the VM's process could truncate
 */
struct server_config {
	const char *name;
	const char *path;
	u16 vendor;
	u16 device;
	u8 revision;
	u32 class;
	enum pci_irq_mode irq;
	u32 vectors;
	u32 kick_pages;
	u8 speed;
	u8 lanes;
	bool allow_unsealed;
};

/**
 * server_new() - make a server and listen on its socket
 * @cfg: configuration; copied
 * @out: receives the server
 *
 * The socket is for the daemon's user alone (mode 0600).  A socket that a
 * dead daemon left behind is replaced.  Clients wait until server_start().
 *
 * Returns 0; -EADDRINUSE if somebody listens there; -ENAMETOOLONG; another
 * -errno.
 */
int server_new(const struct server_config *cfg, struct server **out);

/** server_mem() - memory of the VM; lives as long as the server */
struct guest_mem *server_mem(struct server *s);

/**
 * server_irq() - raise an interrupt
 * @s: server
 * @vector: 0..vectors - 1
 *
 * Any thread; never blocks.
 */
void server_irq(struct server *s, u32 vector);

/** server_connected() - has a VM its device here now; any thread */
bool server_connected(struct server *s);

/**
 * server_start() - serve clients on a thread of its own
 * @s: server
 * @ops: device; must outlive the server
 * @dev: given to @ops
 *
 * Returns 0 or -errno.
 */
int server_start(struct server *s, const struct server_device_ops *ops, void *dev);

/**
 * server_stop() - disconnect the client, stop the thread, remove the socket
 * @s: server
 *
 * The device has been reset when it returns true, and its ops are not called again.
 *
 * Returns false if the thread has been for two seconds in one call on a descriptor that
 * the client sent, and goes on with that: it may come back at any time, and use the
 * server and the device.
 */
bool server_stop(struct server *s);

/**
 * server_free() - free a server
 * @s: server, or NULL; stays where it is if server_stop() still says false
 *
 * Nobody may use its memory or raise its interrupts any more.
 */
void server_free(struct server *s);

#endif /* VHCAD_SERVER_SERVER_H */
