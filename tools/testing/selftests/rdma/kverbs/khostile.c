// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that misuses its HCA: a driver that follows the device's interface until one message has
 * gone through, and then makes random writes to registers, doorbells, rings, records, page lists
 * and keys, gives nearly valid commands and requests, withdraws memory that is in use, and resets
 * the device. All of it follows from "seed", except for the progress of the device meanwhile. It
 * binds the function whose driver_override names it.
 *
 * "mode" is 0: it does nothing; 1: it is as busy, and leaves the device alone; 2: as above.
 * "sessions" counts how often it has begun with a reset, "worked" the sessions whose message
 * arrived, "stuck" those in which the device did not do what it must, "acts" the random actions.
 *
 * The device writes to any address it is given: without an IOMMU the guest would harm itself.
 */
#include <linux/dma-mapping.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "khostile.h"

static ulong seed = 1;
module_param(seed, ulong, 0444);
static uint mode;
module_param(mode, uint, 0644);
MODULE_PARM_DESC(mode, "0: nothing, 1: busy without the device, 2: hostile");
static uint sessions, worked, stuck, acts;
module_param(sessions, uint, 0444);
module_param(worked, uint, 0444);
module_param(stuck, uint, 0444);
module_param(acts, uint, 0444);

static void session(struct hostile *x)
{
	/*
	 * Every eighth session uses the function's reset, which fails while another task has locked
	 * it.
	 */
	int err = ++sessions % 8 ? 0 : pci_try_reset_function(x->pdev);

	if ((err && err != -EAGAIN) || !hostile_begin(x)) {
		stuck += !kthread_should_stop();
		return;
	}
	worked++;
	for (int i = 0; i < ACTS && READ_ONCE(mode) == 2 && !kthread_should_stop(); i++) {
		hostile_act(x);
		acts++;
		cond_resched();
		if (i % 50 == 49 && !hostile_ready(x))
			break;
	}
	hostile_reset(x);
}

static int hostile_thread(void *arg)
{
	struct hostile *x = arg;

	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		switch (READ_ONCE(mode)) {
		case 0:
			msleep(20);
			break;
		case 1:
			hostile_scribble(x, page_at(x, AT_DATA), VHCA_DB_PAGE_SIZE);
			cond_resched();
			break;
		default:
			session(x);
		}
	}
	return 0;
}

static void free_spares(struct hostile *x)
{
	for (struct spare *s = x->spare; s < x->spare + SPARES; s++) {
		if (s->mapped)
			dma_unmap_page(&x->pdev->dev, s->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
		if (s->page)
			__free_page(s->page);
	}
}

static int make_memory(struct hostile *x)
{
	int err = dma_set_mask_and_coherent(&x->pdev->dev, DMA_BIT_MASK(64));

	if (err)
		return err;
	x->mem = dmam_alloc_coherent(&x->pdev->dev, ARENA, &x->dma, GFP_KERNEL);
	if (!x->mem)
		return -ENOMEM;
	for (int i = 0; i < SPARES; i++) {
		x->spare[i].page = alloc_page(GFP_KERNEL);
		if (!x->spare[i].page) {
			free_spares(x);
			return -ENOMEM;
		}
	}
	return 0;
}

static int hostile_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct hostile *x = devm_kzalloc(&pdev->dev, sizeof(*x), GFP_KERNEL);
	int err;

	if (!x)
		return -ENOMEM;
	x->pdev = pdev;
	prandom_seed_state(&x->rnd, seed);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	x->regs = pcim_iomap(pdev, VHCA_BAR_REGS, 0);
	x->kicks = pcim_iomap(pdev, VHCA_BAR_KICK, 0);
	x->kick_size = pci_resource_len(pdev, VHCA_BAR_KICK);
	if (!x->regs || !x->kicks)
		return -ENOMEM;
	if (reg_read(x, VHCA_REG_MAGIC) != VHCA_MAGIC)
		return -ENODEV;
	x->kick_stride = reg_read(x, VHCA_REG_KICK_STRIDE);
	err = make_memory(x);
	if (err)
		return err;
	pci_set_master(pdev);
	pci_set_drvdata(pdev, x);
	x->task = kthread_run(hostile_thread, x, "rdma_khostile");
	if (IS_ERR(x->task)) {
		free_spares(x);
		return PTR_ERR(x->task);
	}
	return 0;
}

static void hostile_remove(struct pci_dev *pdev)
{
	struct hostile *x = pci_get_drvdata(pdev);

	kthread_stop(x->task);
	hostile_reset(x);
	pci_clear_master(pdev);
	free_spares(x);
}

static struct pci_driver hostile_driver = {
	.name = "rdma_khostile",
	.probe = hostile_probe,
	.remove = hostile_remove,
};
module_pci_driver(hostile_driver);

MODULE_DESCRIPTION("a guest that does what it likes with its HCA");
MODULE_LICENSE("Dual BSD/GPL");
