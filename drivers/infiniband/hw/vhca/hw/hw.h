/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device for the lower layers of the driver: registers, admin queue, limits, and whether it is
 * dead. Nothing here depends on InfiniBand verbs.
 */
#ifndef VHCA_HW_LAYER_H
#define VHCA_HW_LAYER_H

#include <linux/completion.h>
#include <linux/io.h>
#include <linux/workqueue.h>

#include "../defs/device.h"
#include "../defs/regs.h"
#include "admin.h"

/* Most ports that are accepted from a device. */
#define VHCA_SANE_PORTS		16

struct pci_dev;

/**
 * struct vhca_limits - output of QUERY_DEVICE, checked and in host byte order
 * @caps: bits numbered by enum vhca_cap
 * @node_guid: node GUID as a number
 * @sys_image_guid: system image GUID as a number
 * @fw_version: major << 32 | minor << 16 | sub
 * @max_mr_size: bytes of the largest memory key
 * @page_sizes: bit n set: the device translates pages of 1 << n bytes
 * @max_uars: doorbell areas, the kernel's included
 * @max_eqs: event queues
 * @max_pds: protection domains
 * @max_mkeys: memory keys
 * @max_cqs: completion queues
 * @max_cqe: entries of a completion queue
 * @max_qps: queue pairs
 * @max_sq_blocks: 64-byte blocks of a send ring
 * @max_rq_wr: entries of a receive ring
 * @max_send_sge: gather entries of a send request
 * @max_recv_sge: scatter entries of a receive request
 * @max_inline: inline bytes of a send request
 * @max_msg: bytes of a message
 * @clock_khz: frequency of the completion clock, 0 without one
 * @vectors: interrupt vectors
 * @ports: number of ports
 * @max_rd_atomic: READs and atomics that a QP serves at a time, as responder
 * @max_init_rd_atomic: READs and atomics that a QP has outstanding, as requester
 * @ack_delay: local CA ACK delay, 4.096 us << n
 * @node_desc: node description, NUL-padded
 * @max_srqs: shared receive queues
 * @max_srq_wr: entries of a shared receive ring
 * @max_mcgs: multicast groups with QPs attached
 * @max_mcg_qps: QPs of one group
 * @max_moderation_count: completions that an event may wait for
 * @max_moderation_period: microseconds that an event may wait
 * @max_reg_entries: entries of a list that requests register, or of an FMR
 *
 * Members that belong to a capability are valid only if the device has it.
 */
struct vhca_limits {
	u64 caps;
	u64 node_guid;
	u64 sys_image_guid;
	u64 fw_version;
	u64 max_mr_size;
	u64 page_sizes;
	u32 max_uars;
	u32 max_eqs;
	u32 max_pds;
	u32 max_mkeys;
	u32 max_cqs;
	u32 max_cqe;
	u32 max_qps;
	u32 max_sq_blocks;
	u32 max_rq_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline;
	u32 max_msg;
	u32 clock_khz;
	u32 vectors;
	u8 ports;
	u8 max_rd_atomic;
	u8 max_init_rd_atomic;
	u8 ack_delay;
	char node_desc[64];
	u32 max_srqs;
	u32 max_srq_wr;
	u32 max_mcgs;
	u32 max_mcg_qps;
	u16 max_moderation_count;
	u16 max_moderation_period;
	u32 max_reg_entries;
};

/**
 * struct vhca_hw - one device
 * @dev: the PCI function's device, for DMA and messages
 * @regs: BAR0
 * @kick: BAR2 mapped for the kernel's own doorbells
 * @kick_phys: physical address of BAR2
 * @kick_stride: bytes from one kick page to the next
 * @kick_pages: kick pages in BAR2
 * @version: interface version of the device, major << 16 | minor
 * @admin: the admin queue
 * @limits: what the device can do
 * @dead: set once, when the device failed or was removed; commands then fail at once
 * @dead_why: the reason, for the log
 * @gone: a register read has shown that the device was removed; no register is accessed any more
 * @stopped: completed when a dead device does no DMA any more
 * @stop_work: stops a dead device and calls @on_dead
 * @on_dead: called, in process context, when the device is dead and was stopped
 */
struct vhca_hw {
	struct device *dev;
	void __iomem *regs;
	void __iomem *kick;
	phys_addr_t kick_phys;
	u32 kick_stride;
	u32 kick_pages;
	u32 version;
	struct vhca_admin admin;
	struct vhca_limits limits;
	unsigned long dead;
	const char *dead_why;
	bool gone;
	struct completion stopped;
	struct work_struct stop_work;
	void (*on_dead)(struct vhca_hw *hw);
};

extern struct workqueue_struct *vhca_reclaim_wq, *vhca_stop_wq, *vhca_comp_wq;

int vhca_hw_begin(void);
void vhca_hw_end(void);
void vhca_hw_init(struct vhca_hw *hw, struct device *dev, void (*on_dead)(struct vhca_hw *hw));
int vhca_hw_identify(struct vhca_hw *hw);
int vhca_hw_start(struct vhca_hw *hw);
void vhca_hw_stop(struct vhca_hw *hw);
bool vhca_hw_kill(struct vhca_hw *hw, const char *why);
void vhca_hw_give_up(struct vhca_hw *hw, const char *why);
void vhca_hw_wait_dead(struct vhca_hw *hw);
void vhca_hw_check(struct vhca_hw *hw);

/**
 * vhca_hw_has() - does the device have a capability?
 * @hw: the device, its limits known
 * @cap: the capability
 *
 * Context: any.
 * Return: true when it does.
 */
static inline bool vhca_hw_has(const struct vhca_hw *hw, enum vhca_cap cap)
{
	return hw->limits.caps & BIT_ULL(cap);
}

/**
 * vhca_hw_dead() - has the device failed or been removed?
 * @hw: the device
 *
 * Context: any.
 * Return: true once commands fail without being submitted.
 */
static inline bool vhca_hw_dead(const struct vhca_hw *hw)
{
	return READ_ONCE(hw->dead);
}

/**
 * vhca_hw_settle() - determine the result of a command that destroys an object of the device
 * @hw: the device
 * @err: result of the command
 *
 * A dead device has no objects any more, so destruction succeeds on it. This waits until the device
 * does no DMA any more to memory that the caller will free.
 *
 * Context: may sleep.
 * Return: 0 for a dead device, @err otherwise.
 */
static inline int vhca_hw_settle(struct vhca_hw *hw, int err)
{
	if (!err || !vhca_hw_dead(hw))
		return err;
	wait_for_completion(&hw->stopped);
	return 0;
}

#endif /* VHCA_HW_LAYER_H */
