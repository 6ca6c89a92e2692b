// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Registers, start of the admin queue, and stopping of a device that failed or was removed. */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <kunit/visibility.h>

#include "compat.h"
#include "hw.h"

static unsigned int admin_timeout = 60;
module_param(admin_timeout, uint, 0444);
MODULE_PARM_DESC(admin_timeout, "seconds the device may take to answer an admin command (60)");

static unsigned int admin_awake = 50;
module_param(admin_awake, uint, 0644);
MODULE_PARM_DESC(admin_awake, "microseconds to look for an answer before sleeping (50), 0: none");

/* log2 of the maximum of commands in flight; further callers wait for a slot. */
#define VHCA_ADMIN_LOG		6
/* Maximum time for the device to become ready or to reset. */
#define VHCA_READY_US		(5 * USEC_PER_SEC)
/* Interval of polling for that; usually the first read finds it done. */
#define VHCA_READY_POLL_US	1000

static struct vhca_hw *admin_to_hw(struct vhca_admin *aq)
{
	return container_of(aq, struct vhca_hw, admin);
}

static u32 reg_read(struct vhca_hw *hw, u32 reg)
{
	u32 value;

	/* A read from a removed device may take seconds to fail, so it is tried only once. */
	if (READ_ONCE(hw->gone))
		return VHCA_STATUS_GONE;
	value = readl(hw->regs + reg);
	if (reg == VHCA_REG_STATUS && value == VHCA_STATUS_GONE)
		WRITE_ONCE(hw->gone, true);
	return value;
}

static void reg_write(struct vhca_hw *hw, u32 reg, u32 value)
{
	if (!READ_ONCE(hw->gone))
		writel(value, hw->regs + reg);
}

/*
 * Resets the device. The register reads flush the write before them; a device that was reset or
 * removed does no DMA.
 */
static int reset_device(struct vhca_hw *hw)
{
	u32 status;
	int err;

	reg_write(hw, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	err = read_poll_timeout(reg_read, status,
				status == VHCA_STATUS_GONE || !(status & VHCA_STATUS_READY),
				VHCA_READY_POLL_US, VHCA_READY_US, false, hw, VHCA_REG_STATUS);
	if (err)
		return err;
	return status == VHCA_STATUS_GONE ? -ENODEV : 0;
}

/*
 * Resets a device whose memory is about to be freed. If it does not respond it may still do DMA, so
 * bus mastering is disabled.
 */
static void silence_device(struct vhca_hw *hw)
{
	int err = reset_device(hw);

	if (!err || err == -ENODEV)
		return;
	dev_err(hw->dev, "device does not answer a reset (%d)\n", err);
	if (dev_is_pci(hw->dev))
		pci_clear_master(to_pci_dev(hw->dev));
}

/*
 * Memory reclaim (writeback over RDMA) may wait for work in these queues, hence WQ_MEM_RECLAIM. The
 * first one calls the kernel consumers of a dead device.
 */
struct workqueue_struct *vhca_reclaim_wq;
EXPORT_SYMBOL_IF_KUNIT(vhca_reclaim_wq);

/* Stops dead devices. A queue of its own, as work in vhca_reclaim_wq waits for that. */
struct workqueue_struct *vhca_stop_wq;
EXPORT_SYMBOL_IF_KUNIT(vhca_stop_wq);

/* Continues with completion events after an interrupt has handled its limit. */
struct workqueue_struct *vhca_comp_wq;

static const struct {
	struct workqueue_struct **wq;
	const char *name;
	unsigned int flags;
} shared_wqs[] = {
	{ &vhca_reclaim_wq, "vhca_reclaim", WQ_UNBOUND },
	{ &vhca_stop_wq, "vhca_stop", WQ_UNBOUND },
	{ &vhca_comp_wq, "vhca_comp", WQ_PERCPU | WQ_HIGHPRI },
};

/**
 * vhca_hw_begin() - create the work queues that all devices share
 *
 * Return: 0 or -ENOMEM.
 */
int vhca_hw_begin(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(shared_wqs); i++) {
		*shared_wqs[i].wq = alloc_workqueue("%s", shared_wqs[i].flags | WQ_MEM_RECLAIM, 0,
						    shared_wqs[i].name);
		if (!*shared_wqs[i].wq) {
			vhca_hw_end();
			return -ENOMEM;
		}
	}
	return 0;
}

/** vhca_hw_end() - destroy the work queues; there is no device any more */
void vhca_hw_end(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(shared_wqs); i++)
		if (*shared_wqs[i].wq)
			destroy_workqueue(*shared_wqs[i].wq);
}

static void stop_dead_device(struct work_struct *work)
{
	struct vhca_hw *hw = container_of(work, struct vhca_hw, stop_work);
	u32 status = reg_read(hw, VHCA_REG_STATUS);
	u32 code = status == VHCA_STATUS_GONE ? 0 : reg_read(hw, VHCA_REG_FATAL_CODE);

	dev_err(hw->dev, "device failed: %s (status %#x, code %u)\n", hw->dead_why, status, code);
	silence_device(hw);
	complete_all(&hw->stopped);
	if (hw->on_dead)
		hw->on_dead(hw);
}

/**
 * vhca_hw_init() - initialise the structure
 * @hw: the device; its other members are zero or set by the caller
 * @dev: the PCI function's device
 * @on_dead: called once, in process context, when the device is dead and was stopped; may be NULL
 *
 * Context: any.
 */
void vhca_hw_init(struct vhca_hw *hw, struct device *dev, void (*on_dead)(struct vhca_hw *hw))
{
	hw->dev = dev;
	hw->on_dead = on_dead;
	init_completion(&hw->stopped);
	INIT_WORK(&hw->stop_work, stop_dead_device);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_hw_init);

/**
 * vhca_hw_kill() - declare a device dead
 * @hw: the device
 * @why: reason for the log, a constant string
 *
 * From the first call on every admin command fails at once; the device is then stopped from a work
 * item. Later calls do nothing.
 *
 * Context: any.
 * Return: true for the first call: the caller may log details of the reason.
 */
bool vhca_hw_kill(struct vhca_hw *hw, const char *why)
{
	if (test_and_set_bit(0, &hw->dead))
		return false;
	hw->dead_why = why;
	vhca_admin_fail(&hw->admin);
	queue_work(vhca_stop_wq, &hw->stop_work);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_hw_kill);

/**
 * vhca_hw_give_up() - kill a device, and wait until it does no DMA any more
 * @hw: the device
 * @why: reason for the log, a constant string
 *
 * For a caller that is about to free memory which the device knows, when the device behaves against
 * its specification.
 *
 * Context: may sleep.
 */
void vhca_hw_give_up(struct vhca_hw *hw, const char *why)
{
	vhca_hw_kill(hw, why);
	wait_for_completion(&hw->stopped);
}

/**
 * vhca_hw_wait_dead() - wait until a dead device was stopped and hw->on_dead() has returned
 * @hw: the device
 *
 * Context: may sleep, not in hw->on_dead().
 */
void vhca_hw_wait_dead(struct vhca_hw *hw)
{
	wait_for_completion(&hw->stopped);
	/* After the device was stopped the work item may still be in hw->on_dead(). */
	flush_work(&hw->stop_work);
}

/**
 * vhca_hw_check() - read the device's status register and kill the device if it failed
 * @hw: the device
 *
 * Context: any.
 */
void vhca_hw_check(struct vhca_hw *hw)
{
	u32 status;

	if (vhca_hw_dead(hw))
		return;
	status = reg_read(hw, VHCA_REG_STATUS);
	if (status == VHCA_STATUS_GONE)
		vhca_hw_kill(hw, "registers read all ones, it was taken away");
	else if (status & VHCA_STATUS_FATAL)
		vhca_hw_kill(hw, "it reports a fatal error");
	else if (!(status & VHCA_STATUS_READY))
		vhca_hw_kill(hw, "it was reset behind the driver's back");
}

/**
 * vhca_hw_identify() - check that this driver supports the device
 * @hw: the device, its BAR0 mapped
 *
 * Context: any.
 * Return: 0, or -ENODEV after a message with the reason.
 */
int vhca_hw_identify(struct vhca_hw *hw)
{
	u32 magic = reg_read(hw, VHCA_REG_MAGIC);

	if (magic == VHCA_STATUS_GONE) {
		dev_err(hw->dev, "device does not answer: registers read all ones\n");
		return -ENODEV;
	}
	if (magic != VHCA_MAGIC) {
		dev_err(hw->dev, "not a VHCA: magic is %#x, expected %#x\n", magic, VHCA_MAGIC);
		return -ENODEV;
	}
	hw->version = reg_read(hw, VHCA_REG_VERSION);
	/* Additions of a minor version have capability bits. */
	if (hw->version >> 16 != VHCA_VERSION_MAJOR) {
		dev_err(hw->dev, "device has interface %u.%u, this driver speaks %u.%u: refused\n",
			hw->version >> 16, hw->version & 0xffff, VHCA_VERSION_MAJOR,
			VHCA_VERSION_MINOR);
		return -ENODEV;
	}
	hw->kick_stride = reg_read(hw, VHCA_REG_KICK_STRIDE);
	hw->kick_pages = reg_read(hw, VHCA_REG_KICK_PAGES);
	return 0;
}

static void admin_kick(struct vhca_admin *aq, u32 tail)
{
	reg_write(admin_to_hw(aq), VHCA_REG_ADMIN_TAIL, tail);
}

static void admin_timed_out(struct vhca_admin *aq, u8 opcode)
{
	struct vhca_hw *hw = admin_to_hw(aq);

	if (!vhca_hw_dead(hw))
		dev_err(hw->dev, "admin command %#x got no answer in %u s\n", opcode,
			admin_timeout);
	vhca_hw_kill(hw, "an admin command timed out");
}

static void admin_wait_stopped(struct vhca_admin *aq)
{
	wait_for_completion(&admin_to_hw(aq)->stopped);
}

static const struct vhca_admin_ops hw_admin_ops = {
	.kick = admin_kick,
	.timed_out = admin_timed_out,
	.wait_stopped = admin_wait_stopped,
};

/**
 * vhca_hw_start() - reset the device and start its admin queue
 * @hw: the device
 *
 * Admin completions raise vector 0; until the caller clears hw->admin.polling they are polled for.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if the device was removed or does not become ready; -ENOMEM.
 */
int vhca_hw_start(struct vhca_hw *hw)
{
	u32 log, status;
	int err;

	err = reset_device(hw);
	if (err) {
		dev_err(hw->dev, "device does not reset (%d)\n", err);
		return -ENODEV;
	}
	log = min3(reg_read(hw, VHCA_REG_ADMIN_MAX), VHCA_ADMIN_LOG, VHCA_ADMIN_LOG_MAX);
	if (!log) {
		dev_err(hw->dev, "device offers no admin queue\n");
		return -ENODEV;
	}
	err = vhca_admin_init(&hw->admin, hw->dev, &hw_admin_ops, log,
			      msecs_to_jiffies(max(admin_timeout, 1U) * MSEC_PER_SEC));
	if (err)
		return err;
	hw->admin.awake_us = min_t(unsigned int, admin_awake, USEC_PER_MSEC);

	reg_write(hw, VHCA_REG_ASQ_LO, lower_32_bits(hw->admin.sq_dma));
	reg_write(hw, VHCA_REG_ASQ_HI, upper_32_bits(hw->admin.sq_dma));
	reg_write(hw, VHCA_REG_ACQ_LO, lower_32_bits(hw->admin.cq_dma));
	reg_write(hw, VHCA_REG_ACQ_HI, upper_32_bits(hw->admin.cq_dma));
	reg_write(hw, VHCA_REG_ADMIN_SIZE, log);
	reg_write(hw, VHCA_REG_ADMIN_VECTOR, 0);
	reg_write(hw, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	err = read_poll_timeout(reg_read, status, status & (VHCA_STATUS_READY | VHCA_STATUS_FATAL),
				VHCA_READY_POLL_US, VHCA_READY_US, false, hw, VHCA_REG_STATUS);
	if (!err && status != VHCA_STATUS_GONE && !(status & VHCA_STATUS_FATAL))
		return 0;

	dev_err(hw->dev, "device does not become ready, status %#x\n", status);
	silence_device(hw);
	vhca_admin_exit(&hw->admin);
	return -ENODEV;
}

/**
 * vhca_hw_stop() - stop the device for good
 * @hw: the device, which has no users any more
 *
 * After this the device does no DMA and the admin queue's memory is freed.
 *
 * Context: may sleep.
 */
void vhca_hw_stop(struct vhca_hw *hw)
{
	/* Interrupts were freed and there are no commands, so no vhca_hw_kill() can begin now. */
	if (!test_and_set_bit(0, &hw->dead)) {
		vhca_admin_fail(&hw->admin);
		silence_device(hw);
		complete_all(&hw->stopped);
	}
	vhca_hw_wait_dead(hw);
	vhca_admin_exit(&hw->admin);
}
