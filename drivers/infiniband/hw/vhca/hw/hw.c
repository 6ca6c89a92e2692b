// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Registers, bring-up of the admin queue, and the end of a device that failed or went away. */
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

/* Commands in flight: more only makes the rings bigger, callers wait for a slot. */
#define VHCA_ADMIN_LOG		6
/* How long the device may take to become ready or to reset. */
#define VHCA_READY_US		(5 * USEC_PER_SEC)
/* The first look mostly finds that it has. */
#define VHCA_READY_POLL_US	1000

static struct vhca_hw *admin_to_hw(struct vhca_admin *aq)
{
	return container_of(aq, struct vhca_hw, admin);
}

static u32 reg_read(struct vhca_hw *hw, u32 reg)
{
	u32 value;

	/* Whoever serves a device that went may take seconds to fail an access: ask once. */
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
 * Reset the device and make sure that it does it: a register read is answered after the writes
 * before it, and a device that was reset or is gone does no DMA.
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
 * Reset a device whose memory is about to be freed. One that does not answer may still be at work:
 * what it cannot reach it cannot harm.
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
 * Writing memory back may wait for work in these queues, which must not need memory to go on. The
 * first is for calling the consumers of a dead device.
 */
struct workqueue_struct *vhca_reclaim_wq;
EXPORT_SYMBOL_IF_KUNIT(vhca_reclaim_wq);

/* Stops a dead device. Work in vhca_reclaim_wq waits for that, and may hold its only worker. */
struct workqueue_struct *vhca_stop_wq;
EXPORT_SYMBOL_IF_KUNIT(vhca_stop_wq);

/* Goes on with completion events where an interrupt had handled enough. */
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
 * vhca_hw_begin() - make what all devices share
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

/** vhca_hw_end() - free it; there is no device any more */
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
 * vhca_hw_init() - prepare the structure
 * @hw: the device; all else is zero or set by the caller
 * @dev: the PCI function's device
 * @on_dead: told once, in process context, when the device has died and was stopped; or NULL
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
 * vhca_hw_kill() - give a device up
 * @hw: the device
 * @why: reason for the log, a constant string
 *
 * From the first call on every admin command fails at once; the device is then stopped from a work
 * item. Later calls do nothing.
 *
 * Context: any.
 * Return: true for the first call: the caller may say more about the reason.
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
 * For a caller who finds that the device does not do what it was told, and who is about to free
 * memory that the device knows.
 *
 * Context: may sleep.
 */
void vhca_hw_give_up(struct vhca_hw *hw, const char *why)
{
	vhca_hw_kill(hw, why);
	wait_for_completion(&hw->stopped);
}

/**
 * vhca_hw_check() - read the device's status register and kill it if it says so
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
 * vhca_hw_identify() - find out whether this driver can drive the device
 * @hw: the device, its BAR0 mapped
 *
 * Context: any.
 * Return: 0, or -ENODEV after a message that says why not.
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
	/* What a minor version adds has a capability bit. */
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
 * vhca_hw_start() - reset the device and bring its admin queue up
 * @hw: the device
 *
 * Admin completions raise vector 0; until the caller clears hw->admin.polling they are polled for.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV when the device is not there or refuses to come up; -ENOMEM.
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
 * @hw: the device; all its users are gone
 *
 * After this the device does no DMA and the admin queue's memory is free.
 *
 * Context: may sleep.
 */
void vhca_hw_stop(struct vhca_hw *hw)
{
	/* Interrupts are off and nobody sends commands, so nobody kills it at the same time. */
	if (!test_and_set_bit(0, &hw->dead)) {
		vhca_admin_fail(&hw->admin);
		silence_device(hw);
		complete_all(&hw->stopped);
	}
	/* When it has stopped the work may still be in hw->on_dead(). */
	wait_for_completion(&hw->stopped);
	flush_work(&hw->stop_work);
	vhca_admin_exit(&hw->admin);
}
