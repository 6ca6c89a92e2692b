/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One emulated HCA as its PCI front end sees it: registers, kicks, reset.
 *
 * Calls come from the thread that serves the device's socket (and from the
 * control socket's thread where said so); the work itself is done by the
 * engine's thread.  Interface facts: drivers/infiniband/hw/vhca/defs/vhca_hw.h.
 */
#ifndef VHCAD_DEVICE_H
#define VHCAD_DEVICE_H

#include "lib/types.h"
#include "mem/mem.h"
#include "res/limit.h"
#include "res/stats.h"

struct adapter_status;
struct engine_status;

struct engine;
struct fabric;
struct port_addrs;
struct vhca_dev;

#define VDEV_KICK_STRIDE	4096u	/* BAR2 is kick_pages times this */

/**
 * struct vdev_host_ops - what the PCI front end does for the device
 * @irq: raise MSI-X (or MSI) @vector.  Called under the engine's lock, mostly
 *	on its thread; must not block and must not call any vdev_ function.
 */
struct vdev_host_ops {
	void (*irq)(void *host, u32 vector);
};

/**
 * struct vdev_port_config - what a port is made of
 * @ethernet: it is an Ethernet port
 * @mac: its permanent address then
 * @strict: it sends from that address alone, and takes nothing for another one
 */
struct vdev_port_config {
	bool ethernet;
	u8 mac[6];
	bool strict;
};

/**
 * struct vdev_config - what an HCA is made of
 * @name: for the log; copied
 * @node_guid: node GUID as a number; port n has node_guid + n
 * @ports: 1..VDEV_MAX_PORTS
 * @vectors: interrupt vectors the driver may use, 1..VDEV_MAX_VECTORS
 * @kick_pages: kick pages in BAR2, a power of two up to VDEV_MAX_KICK_PAGES;
 *	also the most UARs.  0: 1024
 * @caps_off: capability bits (1 << enum vhca_cap) to switch off
 * @version: interface version register; 0: the true one
 * @max_mtu: enum ib_mtu of the ports (1..5); 0: 4096 bytes
 * @port: by its number less one
 * @limit: most objects of each kind, up to vlimit_most(); 0: vlimit_usual()
 */
struct vdev_config {
	const char *name;
	u64 node_guid;
	u32 ports;
	u32 vectors;
	u32 kick_pages;
	u64 caps_off;
	u32 version;
	u32 max_mtu;
	struct vdev_port_config port[VDEV_MAX_PORTS];
	u32 limit[VLIMITS];
};

/**
 * vdev_new() - make an HCA and plug its ports into the engine's fabric
 * @e: engine
 * @cfg: configuration
 * @mem: the VM's memory; stays the caller's, must outlive the device
 * @ops: front end
 * @host: given back to @ops
 *
 * With a static subnet the ports get the next LIDs, in order of the calls.
 * Returns NULL when a value is out of range or there is no memory.
 */
struct vhca_dev *vdev_new(struct engine *e, const struct vdev_config *cfg, struct guest_mem *mem,
			  const struct vdev_host_ops *ops, void *host);

/**
 * vdev_free() - unplug and free an HCA
 * @dev: device, or NULL
 */
void vdev_free(struct vhca_dev *dev);

/**
 * vdev_reg_read() - 32-bit read from BAR0
 * @dev: device
 * @off: offset in BAR0, a multiple of 4
 *
 * Takes no lock.  Unknown and write-only registers read as 0.
 */
u32 vdev_reg_read(struct vhca_dev *dev, u32 off);

/**
 * vdev_reg_write() - 32-bit write to BAR0
 * @dev: device
 * @off: offset in BAR0, a multiple of 4
 * @val: value
 *
 * VHCA_CONTROL_RESET is carried out before the call returns.
 */
void vdev_reg_write(struct vhca_dev *dev, u32 off, u32 val);

/**
 * vdev_kick() - a store to a kick page
 * @dev: device
 * @uar: number of the page: offset in BAR2 / VDEV_KICK_STRIDE
 */
void vdev_kick(struct vhca_dev *dev, u32 uar);

/**
 * vdev_reset() - back to the state after power-on
 * @dev: device
 *
 * For FLR, DEVICE_RESET, disconnect.  Drops every object; the ports go down.
 * No DMA and no interrupt of this device happens after it has returned.
 */
void vdev_reset(struct vhca_dev *dev);

/**
 * vdev_inject_fatal() - stop the device as if its hardware had failed
 * @dev: device
 *
 * STATUS shows FATAL with VHCA_FATAL_INJECTED, the driver gets a
 * DEVICE_FATAL event, nothing else moves until a reset.  Any thread.
 *
 * Returns false, and does nothing, if it had stopped already.
 */
bool vdev_inject_fatal(struct vhca_dev *dev);

/**
 * vdev_set_link() - pull or plug a port's cable
 * @dev: device
 * @port: 1..ports
 * @up: cable plugged
 *
 * Survives a reset of the device.  Any thread.  Returns 0 or -EINVAL.
 */
int vdev_set_link(struct vhca_dev *dev, u32 port, bool up);

/**
 * struct vdev_eth_status - what only Ethernet ports have
 * @ethernet: it is one; else the rest is 0
 * @mac: permanent address
 * @enabled: its driver has enabled it
 * @gids: entries of its table
 * @spoofed: packets that were not sent because the port is strict
 */
struct vdev_eth_status {
	bool ethernet;
	u8 mac[6];
	bool enabled;
	u32 gids;
	u64 spoofed;
};

/**
 * struct vdev_status - a snapshot for the control socket
 * @enabled: a driver runs the device
 * @fatal: enum vhca_fatal, 0: none
 * @ports: number of ports
 * @port: state (enum ib_port_state), LID, cable, packets that were received and dropped for
 *	whatever reason, and all counters
 */
struct vdev_status {
	char name[64];
	u64 node_guid;
	bool enabled;
	u32 fatal;
	u32 ports;
	u32 uars, eqs, pds, xrcds, mkeys, cqs, srqs, qps, mcgs, counters;
	struct {
		u32 state;
		u16 lid;
		bool cable;
		struct vdev_eth_status eth;
		u64 drops;
		u64 bad;
		struct vport_stats stats;
	} port[VDEV_MAX_PORTS];
};

/**
 * vdev_status() - take a snapshot
 * @dev: device
 * @st: filled in
 *
 * Any thread.
 */
void vdev_status(struct vhca_dev *dev, struct vdev_status *st);

/**
 * vdev_work() - what an adapter, and its engine, do
 * @dev: device
 * @a: filled in
 * @e: filled in
 *
 * Context: Any thread but the engine's.
 */
void vdev_work(struct vhca_dev *dev, struct adapter_status *a, struct engine_status *e);

/**
 * vdev_addrs() - read a port's addresses
 * @dev: device
 * @port: 1..ports
 * @a: filled in
 *
 * Context: Any thread but the engine's.
 */
void vdev_addrs(struct vhca_dev *dev, u32 port, struct port_addrs *a);

/**
 * vdev_set_addrs() - change a port's addresses, as the operator of a static subnet
 * @dev: device
 * @port: 1..ports
 * @a: all of them, as they shall be
 * @reregister: ask the port's clients to register again
 *
 * The driver is told by an event for each kind that is not what it was.  QPs
 * send from the new addresses and in the new partitions; what is sent to the
 * old ones does not arrive any more.  Survives a reset.  Any thread.
 *
 * Returns NULL, or what is wrong; then nothing has changed.
 */
const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct port_addrs *a,
			   bool reregister);

/**
 * vdev_fabric_lock() - lock the fabric that a device is plugged into
 * @dev: any device of it
 *
 * All that is read and changed by the functions of fabric/topo.h until vdev_fabric_unlock() belongs
 * to one moment; the engine waits meanwhile.
 *
 * Context: Any thread but the engine's.
 */
struct fabric *vdev_fabric_lock(struct vhca_dev *dev);

/** vdev_fabric_unlock() - let the engine go on with the changed fabric */
void vdev_fabric_unlock(struct vhca_dev *dev);

/** vdev_has_link() - has a port, 1..ports, a link of a topology? */
bool vdev_has_link(const struct vhca_dev *dev, u32 port);

/** vdev_fabric_link() - number of the link of a port, 1..ports, that has one */
u32 vdev_fabric_link(const struct vhca_dev *dev, u32 port);

#endif /* VHCAD_DEVICE_H */
