/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A PCI function on a vfio-user socket: one thread, one client at a time.
 *
 * The server has the configuration space, the interrupts and the VM's memory; the device behind it
 * (struct server_device_ops) has the registers in the BARs.  However a client goes away, the device
 * is reset, its memory is unmapped, and the socket waits for the next client.
 */
#ifndef VHCAD_SERVER_SERVER_H
#define VHCAD_SERVER_SERVER_H

#include "mem/mem.h"
#include "pci/config.h"
#include "lib/types.h"

struct server;

#define SERVER_BAR_REGS		0u	/* 32-bit registers */
#define SERVER_BAR_KICK		2u	/* a page for each UAR */
#define SERVER_REGS_SIZE	4096u
#define SERVER_KICK_STRIDE	4096u

/**
 * struct server_device_ops - the device behind the BARs
 * @reg_read: 32-bit read from BAR0, at a multiple of 4
 * @reg_write: 32-bit write to BAR0, at a multiple of 4
 * @kick: 32-bit write of @val to the start of kick page @page
 * @reset: return to the state after power-on; no DMA and no interrupt afterwards
 *
 * The server's thread calls them.  They must not take long: a CPU of the VM waits for a read.
 */
struct server_device_ops {
	u32 (*reg_read)(void *dev, u32 off);
	void (*reg_write)(void *dev, u32 off, u32 val);
	void (*kick)(void *dev, u32 page, u32 val);
	void (*reset)(void *dev);
};

/**
 * struct server_config - configuration of a server
 * @name: the device's name in the log; must outlive the server
 * @path: path of the socket; must outlive the server
 * @vendor: PCI vendor id
 * @device: PCI device id
 * @revision: PCI revision id
 * @class: PCI class code
 * @irq: MSI-X or MSI
 * @vectors: 1..MSIX_VECTORS_MAX; 1 with PCI_IRQ_MSI
 * @kick_pages: pages in BAR2, a power of two
 * @speed: speed of the link, as in struct pci_ident; 0: PCI_SPEED_MAX
 * @lanes: width of the link; 0: PCI_LANES_MAX
 * @allow_unsealed: accept guest memory that QEMU could truncate
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
 * Only the daemon's user may connect (mode 0600).  A socket that a dead daemon has left behind is
 * replaced.  Clients wait until server_start().
 *
 * Returns 0; -EADDRINUSE if a process listens there; -ENAMETOOLONG; another -errno.
 */
int server_new(const struct server_config *cfg, struct server **out);

/** server_mem() - the VM's memory; it exists as long as the server */
struct guest_mem *server_mem(struct server *s);

/**
 * server_irq() - raise an interrupt
 * @s: server
 * @vector: 0..vectors - 1
 *
 * May be called from any thread.  Never blocks.
 */
void server_irq(struct server *s, u32 vector);

/** server_connected() - is a VM connected?  May be called from any thread */
bool server_connected(struct server *s);

/**
 * server_start() - start the thread that serves clients
 * @s: server
 * @ops: device; must outlive the server
 * @dev: first argument of @ops
 *
 * Returns 0 or -errno.
 */
int server_start(struct server *s, const struct server_device_ops *ops, void *dev);

/**
 * server_stop() - disconnect the client, stop the thread, remove the socket
 * @s: server
 *
 * Returns true when the thread has ended: the device has been reset, and its ops are not called
 * again.  Returns false if the thread has been in one system call on a descriptor of its client
 * for two seconds: it may come back at any time and use the server and the device.
 */
bool server_stop(struct server *s);

/**
 * server_free() - free a server
 * @s: server, or NULL; it is not freed if server_stop() still returns false
 *
 * Its memory must not be used and its interrupts must not be raised any more.
 */
void server_free(struct server *s);

#endif /* VHCAD_SERVER_SERVER_H */
