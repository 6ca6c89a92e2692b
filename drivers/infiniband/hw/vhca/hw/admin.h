/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin queue engine: submits and completes commands, whose contents it does not interpret. */
#ifndef VHCA_ADMIN_H
#define VHCA_ADMIN_H

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "../defs/admin.h"

struct vhca_admin;

#define VHCA_ADMIN_LOG_MAX	8

/**
 * struct vhca_admin_ops - callbacks of the engine
 * @kick: write the free-running count of submitted commands to the device. Called under a spinlock.
 * @timed_out: a command was not completed in time; called once for every such command. It has to
 *             lead to a call of vhca_admin_fail().
 * @wait_stopped: wait until the device does no DMA any more. May sleep.
 */
struct vhca_admin_ops {
	void (*kick)(struct vhca_admin *aq, u32 tail);
	void (*timed_out)(struct vhca_admin *aq, u8 opcode);
	void (*wait_stopped)(struct vhca_admin *aq);
};

enum vhca_admin_slot_state {
	VHCA_SLOT_FREE,
	VHCA_SLOT_BUSY,
	VHCA_SLOT_DONE,
	VHCA_SLOT_FAILED,
};

/**
 * struct vhca_admin_slot - one command in flight
 * @cmd_id: id of the current or last command: slot number, and in the bits above a generation that
 *          changes with every use of the slot
 * @state: enum vhca_admin_slot_state
 * @opcode: of that command, for messages
 * @done: completed when @state leaves VHCA_SLOT_BUSY
 * @comp: private copy of the completion
 */
struct vhca_admin_slot {
	u16 cmd_id;
	u8 state;
	u8 opcode;
	struct completion done;
	struct vhca_acqe comp;
};

/**
 * struct vhca_admin_stats - counts for debugging and tests
 * @submitted: commands submitted to the device
 * @completed: commands completed by the device
 * @stale: completions for an earlier use of a slot
 * @duplicate: second completions of one command
 * @unknown: completions with an id that was never used
 * @lost_irq: completions that were found without an interrupt
 * @timeouts: commands that were not completed in time
 */
struct vhca_admin_stats {
	u64 submitted;
	u64 completed;
	u64 stale;
	u64 duplicate;
	u64 unknown;
	u64 lost_irq;
	u64 timeouts;
};

/**
 * struct vhca_admin - the admin queue
 * @dev: device for DMA and messages
 * @ops: callbacks
 * @log: log2 of the entries of both rings
 * @timeout: maximum time of a command, in jiffies
 * @awake_us: microseconds that a task polls for its completion before it sleeps until the interrupt
 * @polling: the waiting task polls for completions; set until interrupts work
 * @sq: submission ring
 * @sq_dma: its DMA address
 * @cq: completion ring
 * @cq_dma: its DMA address
 * @slots: commands in flight, as many as ring entries
 * @lock: protects everything below, and the slots' fields except @done. Taken from interrupts.
 * @tail: number of submitted commands
 * @head: number of completions handled
 * @free: a bit for each free slot
 * @closed: commands fail without being submitted
 * @stats: counts
 * @stuck_at: one more than the count of a completion found by the last vhca_admin_stuck(), or 0
 * @room: woken when a slot becomes free
 */
struct vhca_admin {
	struct device *dev;
	const struct vhca_admin_ops *ops;
	u8 log;
	unsigned long timeout;
	unsigned int awake_us;
	bool polling;
	struct vhca_asqe *sq;
	dma_addr_t sq_dma;
	struct vhca_acqe *cq;
	dma_addr_t cq_dma;
	struct vhca_admin_slot *slots;
	spinlock_t lock;
	u32 tail;
	u64 head;
	DECLARE_BITMAP(free, 1 << VHCA_ADMIN_LOG_MAX);
	bool closed;
	struct vhca_admin_stats stats;
	u64 stuck_at;
	wait_queue_head_t room;
};

int vhca_admin_init(struct vhca_admin *aq, struct device *dev, const struct vhca_admin_ops *ops,
		    u8 log, unsigned long timeout);
void vhca_admin_exit(struct vhca_admin *aq);
int vhca_admin_exec(struct vhca_admin *aq, const struct vhca_asqe *cmd, struct vhca_acqe *comp);
unsigned int vhca_admin_poll(struct vhca_admin *aq);
void vhca_admin_rescue(struct vhca_admin *aq);
bool vhca_admin_stuck(struct vhca_admin *aq);
void vhca_admin_fail(struct vhca_admin *aq);

#endif /* VHCA_ADMIN_H */
