// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Admin queue engine.
 *
 * Commands are copied into the submission ring in the order of their kicks; the device completes
 * them in any order. A command owns a slot while it is in flight. Its id is the slot's number with
 * a generation in the bits above, so that a late, duplicate or unsolicited completion is recognised
 * and dropped instead of being taken for that of another command.
 *
 * There are as many slots as ring entries, and the device fetches commands in order. Therefore a
 * free slot implies a free entry: if the command that used the entry before had not been fetched
 * yet, neither had the ones after it, and every slot would still be taken.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "admin.h"
#include "ring.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * Polling interval of the waiting task while there are no interrupts. It doubles each time, as a
 * late completion may not come at all.
 */
#define VHCA_ADMIN_POLL_US	50UL
#define VHCA_ADMIN_POLL_MAX_US	1600UL

static u16 slot_mask(const struct vhca_admin *aq)
{
	return (1U << aq->log) - 1;
}

/**
 * vhca_admin_init() - allocate an admin queue
 * @aq: the queue
 * @dev: device for DMA and messages
 * @ops: callbacks
 * @log: log2 of the maximum of commands in flight, 1..VHCA_ADMIN_LOG_MAX
 * @timeout: maximum time of a command, in jiffies
 *
 * The queue starts in polling mode. The caller has to write the addresses of the rings to the
 * device.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int vhca_admin_init(struct vhca_admin *aq, struct device *dev, const struct vhca_admin_ops *ops,
		    u8 log, unsigned long timeout)
{
	u32 n = 1U << log;

	memset(aq, 0, sizeof(*aq));
	aq->dev = dev;
	aq->ops = ops;
	aq->log = log;
	aq->timeout = timeout;
	aq->polling = true;
	spin_lock_init(&aq->lock);
	init_waitqueue_head(&aq->room);

	aq->slots = kcalloc(n, sizeof(*aq->slots), GFP_KERNEL);
	if (!aq->slots)
		return -ENOMEM;
	aq->sq = dma_alloc_coherent(dev, n * sizeof(*aq->sq), &aq->sq_dma, GFP_KERNEL);
	if (!aq->sq)
		goto err_slots;
	aq->cq = dma_alloc_coherent(dev, n * sizeof(*aq->cq), &aq->cq_dma, GFP_KERNEL);
	if (!aq->cq)
		goto err_sq;

	for (u32 i = 0; i < n; i++) {
		aq->slots[i].cmd_id = i;
		init_completion(&aq->slots[i].done);
	}
	bitmap_set(aq->free, 0, n);
	return 0;

err_sq:
	dma_free_coherent(dev, n * sizeof(*aq->sq), aq->sq, aq->sq_dma);
err_slots:
	kfree(aq->slots);
	return -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_init);

/**
 * vhca_admin_exit() - free an admin queue
 * @aq: the queue; no command is in flight, and the device does not access the rings any more
 *
 * Context: may sleep.
 */
void vhca_admin_exit(struct vhca_admin *aq)
{
	u32 n = 1U << aq->log;

	dma_free_coherent(aq->dev, n * sizeof(*aq->cq), aq->cq, aq->cq_dma);
	dma_free_coherent(aq->dev, n * sizeof(*aq->sq), aq->sq, aq->sq_dma);
	kfree(aq->slots);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_exit);

/* Called with the lock held. */
static void take_completion(struct vhca_admin *aq, const struct vhca_acqe *comp)
{
	u16 id = le16_to_cpu(comp->cmd_id);
	struct vhca_admin_slot *slot = &aq->slots[id & slot_mask(aq)];
	u16 ahead = (u16)(id - slot->cmd_id) >> aq->log;

	if (slot->cmd_id == id && slot->state == VHCA_SLOT_BUSY) {
		slot->comp = *comp;
		slot->state = VHCA_SLOT_DONE;
		aq->stats.completed++;
		complete(&slot->done);
		return;
	}

	if (slot->cmd_id == id) {
		aq->stats.duplicate++;
		dev_err_ratelimited(aq->dev, "second completion of admin command %#x\n", id);
	} else if (ahead > (U16_MAX >> aq->log) / 2) {
		aq->stats.stale++;
		dev_err_ratelimited(aq->dev, "completion of former admin command %#x\n", id);
	} else {
		aq->stats.unknown++;
		dev_err_ratelimited(aq->dev, "completion of unknown admin command %#x\n", id);
	}
}

/**
 * vhca_admin_poll() - handle the completions in the ring
 * @aq: the queue
 *
 * Called by the interrupt handler, by waiting tasks while there are no interrupts, and when an
 * interrupt may have been lost. Handles no more than one lap of the ring, so that a faulty device
 * cannot keep a CPU busy.
 *
 * Context: any.
 * Return: number of completions handled, including invalid ones.
 */
unsigned int vhca_admin_poll(struct vhca_admin *aq)
{
	struct vhca_acqe comp, *entry;
	unsigned long flags;
	unsigned int n;

	spin_lock_irqsave(&aq->lock, flags);
	for (n = 0; n <= slot_mask(aq); n++) {
		entry = &aq->cq[vhca_ring_slot(aq->head, aq->log)];
		if (!vhca_ring_fresh(READ_ONCE(entry->phase), aq->head, aq->log))
			break;
		/* The device wrote the phase after the rest of the entry. */
		dma_rmb();
		comp = *entry;
		/* has_completion() reads it without the lock. */
		WRITE_ONCE(aq->head, aq->head + 1);
		take_completion(aq, &comp);
	}
	spin_unlock_irqrestore(&aq->lock, flags);
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_poll);

/**
 * vhca_admin_rescue() - handle completions whose interrupt was lost
 * @aq: the queue
 *
 * Called after the timeout of a command, and by the health check.
 *
 * Context: any.
 */
void vhca_admin_rescue(struct vhca_admin *aq)
{
	unsigned int n = vhca_admin_poll(aq);
	unsigned long flags;

	if (!n)
		return;
	spin_lock_irqsave(&aq->lock, flags);
	aq->stats.lost_irq += n;
	spin_unlock_irqrestore(&aq->lock, flags);
	dev_warn_ratelimited(aq->dev, "admin interrupt lost: %u completions found by looking\n", n);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_rescue);

/**
 * vhca_admin_stuck() - check for a completion that is not handled
 * @aq: the queue
 *
 * Called at regular intervals, which are much longer than the latency of an interrupt.
 *
 * Context: any.
 * Return: true if the next completion was already there at the last call.
 */
bool vhca_admin_stuck(struct vhca_admin *aq)
{
	unsigned long flags;
	u64 last;
	u8 phase;

	spin_lock_irqsave(&aq->lock, flags);
	last = aq->stuck_at;
	phase = READ_ONCE(aq->cq[vhca_ring_slot(aq->head, aq->log)].phase);
	aq->stuck_at = vhca_ring_fresh(phase, aq->head, aq->log) ? aq->head + 1 : 0;
	last = last && last == aq->stuck_at;
	spin_unlock_irqrestore(&aq->lock, flags);
	return last;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_stuck);

/**
 * vhca_admin_fail() - fail all commands in flight, and every later one
 * @aq: the queue of a dead device
 *
 * Context: any.
 */
void vhca_admin_fail(struct vhca_admin *aq)
{
	unsigned long flags;

	spin_lock_irqsave(&aq->lock, flags);
	aq->closed = true;
	for (u32 i = 0; i <= slot_mask(aq); i++) {
		if (aq->slots[i].state != VHCA_SLOT_BUSY)
			continue;
		aq->slots[i].state = VHCA_SLOT_FAILED;
		complete(&aq->slots[i].done);
	}
	spin_unlock_irqrestore(&aq->lock, flags);
	wake_up_all(&aq->room);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_fail);

/*
 * Takes a slot and submits the command. Returns NULL if all slots are in use, and ERR_PTR(-EIO) if
 * the queue is closed.
 */
static struct vhca_admin_slot *try_submit(struct vhca_admin *aq, const struct vhca_asqe *cmd)
{
	struct vhca_admin_slot *slot;
	struct vhca_asqe *entry;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&aq->lock, flags);
	if (aq->closed) {
		slot = ERR_PTR(-EIO);
		goto out;
	}
	i = find_first_bit(aq->free, slot_mask(aq) + 1);
	if (i > slot_mask(aq)) {
		slot = NULL;
		goto out;
	}
	__clear_bit(i, aq->free);
	slot = &aq->slots[i];
	slot->cmd_id += slot_mask(aq) + 1;
	slot->opcode = cmd->opcode;
	slot->state = VHCA_SLOT_BUSY;
	reinit_completion(&slot->done);

	entry = &aq->sq[vhca_ring_slot(aq->tail, aq->log)];
	*entry = *cmd;
	entry->cmd_id = cpu_to_le16(slot->cmd_id);
	aq->tail++;
	aq->stats.submitted++;
	/* The entry must be visible to the device before the new count. */
	dma_wmb();
	aq->ops->kick(aq, aq->tail);
out:
	spin_unlock_irqrestore(&aq->lock, flags);
	return slot;
}

static void release_slot(struct vhca_admin *aq, struct vhca_admin_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&aq->lock, flags);
	slot->state = VHCA_SLOT_FREE;
	__set_bit(slot - aq->slots, aq->free);
	spin_unlock_irqrestore(&aq->lock, flags);
	wake_up(&aq->room);
}

static struct vhca_admin_slot *submit(struct vhca_admin *aq, const struct vhca_asqe *cmd)
{
	struct vhca_admin_slot *slot;

	wait_event(aq->room, (slot = try_submit(aq, cmd)));
	return slot;
}

/* Returns true when the command was completed or failed. */
static bool wait_by_polling(struct vhca_admin *aq, struct vhca_admin_slot *slot)
{
	unsigned long end = jiffies + aq->timeout;

	for (unsigned long us = VHCA_ADMIN_POLL_US;; us = min(2 * us, VHCA_ADMIN_POLL_MAX_US)) {
		vhca_admin_poll(aq);
		if (completion_done(&slot->done))
			return true;
		if (time_after(jiffies, end))
			return false;
		usleep_range(us, 2 * us);
	}
}

/* A hint only, as this reads without the lock. */
static bool has_completion(const struct vhca_admin *aq)
{
	u64 head = READ_ONCE(aq->head);
	u8 phase = READ_ONCE(aq->cq[vhca_ring_slot(head, aq->log)].phase);

	return vhca_ring_fresh(phase, head, aq->log);
}

/*
 * Polls for a short time, since sleeping and waking up takes longer than most commands. Returns
 * true when the command was completed or failed.
 */
static bool wait_awake(struct vhca_admin *aq, struct vhca_admin_slot *slot)
{
	u64 end = ktime_get_ns() + (u64)aq->awake_us * NSEC_PER_USEC;

	do {
		if (has_completion(aq))
			vhca_admin_poll(aq);
		if (completion_done(&slot->done))
			return true;
		cpu_relax();
	} while (!need_resched() && ktime_get_ns() < end);
	return false;
}

static bool wait_for_answer(struct vhca_admin *aq, struct vhca_admin_slot *slot)
{
	if (READ_ONCE(aq->polling))
		return wait_by_polling(aq, slot);
	if (aq->awake_us && wait_awake(aq, slot))
		return true;
	if (wait_for_completion_timeout(&slot->done, aq->timeout))
		return true;
	vhca_admin_rescue(aq);
	return completion_done(&slot->done);
}

/**
 * vhca_admin_exec() - run one command
 * @aq: the queue
 * @cmd: the command; the engine chooses its cmd_id
 * @comp: receives the completion
 *
 * Waits for a free slot, then for the completion. After an error the device does no DMA any more to
 * the memory that the command named.
 *
 * Context: may sleep.
 * Return: 0 if the device completed the command, whatever its status; -EIO if the queue is closed
 * or was closed in the meantime; -ETIMEDOUT if the device did not complete it in time.
 */
int vhca_admin_exec(struct vhca_admin *aq, const struct vhca_asqe *cmd, struct vhca_acqe *comp)
{
	u64 begin = trace_vhca_command_enabled() ? ktime_get_ns() : 0;
	struct vhca_admin_slot *slot;
	unsigned long flags;
	int err = 0;

	slot = submit(aq, cmd);
	if (IS_ERR(slot))
		return PTR_ERR(slot);

	if (!wait_for_answer(aq, slot)) {
		spin_lock_irqsave(&aq->lock, flags);
		aq->stats.timeouts++;
		spin_unlock_irqrestore(&aq->lock, flags);
		aq->ops->timed_out(aq, cmd->opcode);
		err = -ETIMEDOUT;
	} else if (slot->state == VHCA_SLOT_FAILED) {
		err = -EIO;
	} else {
		*comp = slot->comp;
	}

	if (err)
		aq->ops->wait_stopped(aq);
	release_slot(aq, slot);
	trace_vhca_command(aq->dev, cmd->opcode, err, err ? 0 : comp->status,
			   err ? VHCA_NO_FIELD : le16_to_cpu(comp->bad_field),
			   begin ? ktime_get_ns() - begin : 0);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_admin_exec);
