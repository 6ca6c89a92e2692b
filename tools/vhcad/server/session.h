/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of server/: the PCI function, and the handlers of its client's commands.
 */
#ifndef VHCAD_SERVER_SESSION_H
#define VHCAD_SERVER_SESSION_H

#include "server/irq.h"
#include "server/message.h"
#include "server/server.h"

/**
 * struct vu_function - the PCI function a client drives
 * @pci: configuration space; only the server's thread uses it
 * @irqs: vectors
 * @mem: memory of the VM
 * @ops: device behind the BARs
 * @dev: first argument of @ops
 * @cfg: configuration of the server
 * @foreign: odd while the thread is in a system call on a descriptor of the client; atomic
 */
struct vu_function {
	struct pci_config pci;
	struct vu_irqs irqs;
	struct guest_mem *mem;
	const struct server_device_ops *ops;
	void *dev;
	struct server_config cfg;
	u32 foreign;
};

/**
 * vu_foreign() - a system call on a descriptor of the client begins, or has ended
 * @fn: function
 *
 * Such a call may last as long as the client likes: the file may be in a file system in user
 * space.  So the thread holds no lock meanwhile that another thread may want, and join() can tell
 * what holds it up.
 */
static inline void vu_foreign(struct vu_function *fn)
{
	__atomic_fetch_add(&fn->foreign, 1, __ATOMIC_SEQ_CST);
}

/**
 * vu_session() - serve a client until it disconnects
 * @fn: function
 * @sock: connected socket; stays open
 *
 * Before and afterwards the function is as after power-on.  The log says what was wrong if the
 * client broke the protocol.
 */
void vu_session(struct vu_function *fn, int sock);

/**
 * vu_function_reset() - reset device, configuration space and pending interrupts, as FLR does
 * @fn: function
 *
 * The client's memory and eventfds stay.
 */
void vu_function_reset(struct vu_function *fn);

/*
 * Each command has a handler, in commands.c or region.c.  It checks the length of the body, and
 * writes its answer to @out, which has room for VU_MAX_REPLY bytes.  It returns the answer's
 * length, or a -errno, which is sent as the answer.  After -EPROTO, for a malformed message, the
 * session ends, and @why says what is wrong.
 */
#define VU_MAX_REPLY	(sizeof(struct vu_region_io) + VU_MAX_XFER)

typedef int vu_handler(struct vu_function *fn, struct vu_message *msg, void *out,
		       const char **why);

vu_handler vu_version;
vu_handler vu_dma_map;
vu_handler vu_dma_unmap;
vu_handler vu_get_info;
vu_handler vu_get_region_info;
vu_handler vu_get_irq_info;
vu_handler vu_set_irqs;
vu_handler vu_region_read;
vu_handler vu_region_write;
vu_handler vu_device_reset;
vu_handler vu_device_feature;

/** vu_region_size() - size of a region in bytes; 0: it does not exist */
u64 vu_region_size(const struct vu_function *fn, u32 index);

/* Numbers of regions and of interrupts are VFIO's. */
#define VU_NUM_REGIONS	9u
#define VU_NUM_IRQS	5u

#endif /* VHCAD_SERVER_SESSION_H */
