/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of server/ share: a PCI function and its client's commands.
 */
#ifndef VHCAD_SERVER_SESSION_H
#define VHCAD_SERVER_SESSION_H

#include "server/irq.h"
#include "server/message.h"
#include "server/server.h"

/**
 * struct vu_function - the PCI function a client drives
 * @pci: configuration space; the server's thread alone
 * @irqs: vectors
 * @mem: memory of the VM
 * @ops: device behind the BARs
 * @dev: given to @ops
 * @cfg: what the server was made of
 * @foreign: odd while the thread is in a call on something that the client sent; atomic
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
 * vu_foreign() - a call on something that the client sent begins, or is over
 * @fn: function
 *
 * It may last as long as the client likes: a file can be one of a file system in
 * user space.  So nothing is locked meanwhile that another thread may want, and
 * whoever waits for the thread can tell why it does not come.
 */
static inline void vu_foreign(struct vu_function *fn)
{
	__atomic_fetch_add(&fn->foreign, 1, __ATOMIC_SEQ_CST);
}

/**
 * vu_session() - serve a client until it goes
 * @fn: function
 * @sock: connected socket; stays open
 *
 * The function is as after power-on before and after.  Says why in the log if
 * the client misbehaved.
 */
void vu_session(struct vu_function *fn, int sock);

/**
 * vu_function_reset() - as FLR: device, configuration space, pending interrupts
 * @fn: function
 *
 * Memory and eventfds are the client's and stay.
 */
void vu_function_reset(struct vu_function *fn);

/*
 * One function a command, in commands.c and region.c.  Each checks the body's
 * length itself and writes its answer to @out (room for VU_MAX_REPLY bytes).
 * Returns the answer's length, or -errno: the answer is that error.  -EPROTO:
 * the message is malformed, @why says how, and the session ends.
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

/** vu_region_size() - bytes of a region; 0: there is none */
u64 vu_region_size(const struct vu_function *fn, u32 index);

/* Region numbers beyond the BARs, and interrupt numbers, are those of VFIO. */
#define VU_NUM_REGIONS	9u
#define VU_NUM_IRQS	5u

#endif /* VHCAD_SERVER_SESSION_H */
