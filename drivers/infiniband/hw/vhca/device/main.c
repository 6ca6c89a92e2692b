// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PCI side of the driver.
 *
 * A function is bound once; its device is brought up and taken down each time that it is reset,
 * fails or is removed. Taking it down is the same in all cases: it is unregistered from the RDMA
 * core, which revokes the objects of processes and calls the clients in the kernel, and then
 * stopped. The only difference is that a dead device gets no commands.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "../cmd/cmd.h"
#include "../verbs/cq.h"
#include "../verbs/eth.h"
#include "../verbs/ops.h"
#include "device.h"

MODULE_DESCRIPTION("VHCA emulated host channel adapter");
MODULE_LICENSE("Dual BSD/GPL");

static void kick_kernel_uar(struct vhca_uar *uar)
{
	writel(VHCA_KICK, uar->hw->kick);
}

static const struct vhca_uar_ops kernel_uar_ops = {
	.add_page = vhca_uar_add_page_cmd,
	.kick = kick_kernel_uar,
};

static void close_uar(struct vhca_dev *dev)
{
	if (!vhca_uar_close(&dev->uar))
		return;
	vhca_hw_give_up(&dev->hw, "it does not close a doorbell area");
	vhca_uar_exit(&dev->uar);
}

static int open_kernel_uar(struct vhca_dev *dev)
{
	struct vhca_hw *hw = &dev->hw;
	int err;

	err = vhca_uar_open(&dev->uar, hw, &kernel_uar_ops);
	if (err)
		return err;
	hw->kick = ioremap(hw->kick_phys + (u64)dev->uar.handle * hw->kick_stride, sizeof(u32));
	if (!hw->kick) {
		close_uar(dev);
		return -ENOMEM;
	}
	return 0;
}

static void close_kernel_uar(struct vhca_dev *dev)
{
	iounmap(dev->hw.kick);
	close_uar(dev);
}

static int query_limits(struct vhca_dev *dev)
{
	struct vhca_port_attr port;
	int err;

	err = vhca_cmd_query_device(&dev->hw, &dev->hw.limits);
	if (err)
		return err;
	for (unsigned int i = 1; i <= dev->hw.limits.ports; i++) {
		err = vhca_cmd_query_port(&dev->hw, i, &port);
		if (err)
			return err;
		err = vhca_port_init(dev, i, &port);
		if (err)
			return err;
		dev->max_pkeys = max_t(u32, dev->max_pkeys, le32_to_cpu(port.pkey_entries));
	}
	return 0;
}

static int register_device(struct vhca_dev *dev)
{
	const struct vhca_limits *l = &dev->hw.limits;
	struct ib_device *ibdev = &dev->ibdev;
	int err;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = cpu_to_be64(l->node_guid);
	ibdev->phys_port_cnt = l->ports;
	ibdev->num_comp_vectors = dev->nvectors;
	ibdev->dev.parent = dev->hw.dev;
	memcpy(ibdev->node_desc, l->node_desc, sizeof(ibdev->node_desc));
	vhca_set_ops(dev);
	/* Before registration, in which the core fills in the GID tables from the net devices. */
	err = vhca_netdevs_start(dev);
	if (err)
		return err;
	err = ib_register_device(ibdev, "vhca%d", dev->hw.dev);
	if (err)
		vhca_netdevs_stop(dev);
	return err;
}

/*
 * Called when a dead device was stopped: flushes work of kernel consumers, then takes it down,
 * which waits until they have seen it.
 */
static void device_died(struct vhca_hw *hw)
{
	struct vhca_dev *dev = hw_to_vdev(hw);

	vhca_flush_kernel_users(dev);
	queue_work(system_long_wq, &dev->fn->down_work);
}

static struct vhca_dev *alloc_device(struct vhca_fn *fn)
{
	struct vhca_dev *dev = ib_alloc_device(vhca_dev, ibdev);

	if (!dev)
		return NULL;
	dev->fn = fn;
	dev->hw.regs = fn->regs;
	dev->hw.kick_phys = fn->kick_phys;
	vhca_events_init(dev);
	mutex_init(&dev->desc_lock);
	vhca_id_table_init(&dev->cqs, &dev->async_eq);
	vhca_id_table_init(&dev->qps, &dev->async_eq);
	vhca_id_table_init(&dev->srqs, &dev->async_eq);
	vhca_hw_init(&dev->hw, &fn->pdev->dev, device_died);
	return dev;
}

static void free_device(struct vhca_dev *dev)
{
	vhca_id_table_exit(&dev->srqs);
	vhca_id_table_exit(&dev->qps);
	vhca_id_table_exit(&dev->cqs);
	vhca_ports_exit(dev);
	ib_dealloc_device(&dev->ibdev);
}

static int check_kick_bar(struct vhca_dev *dev)
{
	struct vhca_hw *hw = &dev->hw;

	if (hw->kick_stride >= sizeof(u32) && hw->kick_pages &&
	    (u64)hw->kick_stride * hw->kick_pages <= dev->fn->kick_size)
		return 0;
	dev_err(hw->dev, "%u kick pages of %u bytes do not fit BAR%d\n", hw->kick_pages,
		hw->kick_stride, VHCA_BAR_KICK);
	return -ENODEV;
}

/* Called with fn->lock held. */
static int bring_up(struct vhca_fn *fn)
{
	struct vhca_dev *dev;
	int err;

	dev = alloc_device(fn);
	if (!dev)
		return -ENOMEM;
	pci_set_master(fn->pdev);
	err = vhca_hw_identify(&dev->hw) ?: check_kick_bar(dev);
	if (err)
		goto err_dealloc;
	err = vhca_hw_start(&dev->hw);
	if (err)
		goto err_dealloc;
	err = query_limits(dev);
	if (err)
		goto err_stop;
	err = vhca_irqs_alloc(dev);
	if (err)
		goto err_stop;
	WRITE_ONCE(dev->hw.admin.polling, false);
	err = open_kernel_uar(dev);
	if (err)
		goto err_irqs;
	err = vhca_eqs_create(dev);
	if (err)
		goto err_uar;
	vhca_health_start(dev);
	err = register_device(dev);
	if (err)
		goto err_eqs;

	fn->dev = dev;
	vhca_events_open(dev);
	vhca_netdevs_open(dev);
	dev_info(dev->hw.dev, "%s: interface %u.%u, %u port(s), %u completion vector(s)\n",
		 dev_name(&dev->ibdev.dev), dev->hw.version >> 16, dev->hw.version & 0xffff,
		 dev->hw.limits.ports, dev->nvectors);
	return 0;

err_eqs:
	vhca_health_stop(dev);
	vhca_eqs_destroy(dev);
err_uar:
	close_kernel_uar(dev);
err_irqs:
	/* The interrupt handler uses the admin queue, so that is freed after the interrupts. */
	WRITE_ONCE(dev->hw.admin.polling, true);
	vhca_irqs_free(dev);
err_stop:
	vhca_hw_stop(&dev->hw);
err_dealloc:
	pci_clear_master(fn->pdev);
	free_device(dev);
	return err;
}

/* Called with fn->lock held. */
static void take_down(struct vhca_fn *fn)
{
	struct vhca_dev *dev = fn->dev;

	if (!dev)
		return;
	fn->dev = NULL;
	/* If the device was removed this kills it, so that commands do not have to time out. */
	vhca_hw_check(&dev->hw);
	if (vhca_hw_dead(&dev->hw)) {
		vhca_hw_wait_dead(&dev->hw);
		vhca_cq_wait_flushed(dev);
	}
	vhca_events_close(dev);
	ib_unregister_device(&dev->ibdev);
	vhca_netdevs_stop(dev);
	vhca_health_stop(dev);
	vhca_eqs_destroy(dev);
	close_kernel_uar(dev);
	WRITE_ONCE(dev->hw.admin.polling, true);
	vhca_irqs_free(dev);
	vhca_hw_stop(&dev->hw);
	if (!dev->hw.gone)
		pci_clear_master(fn->pdev);
	free_device(dev);
}

/*
 * Called with fn->lock held: brings the device up in probe, after a reset and after resume, when
 * the PCI core has set up the function.
 */
static int start(struct vhca_fn *fn)
{
	/* For a later slot reset: pci_restore_state() has invalidated the state saved before. */
	pci_save_state(fn->pdev);
	return bring_up(fn);
}

/* Called with fn->lock held: kills the device and takes it down, without commands to it. */
static void lose(struct vhca_fn *fn, const char *why)
{
	if (fn->dev)
		vhca_hw_kill(&fn->dev->hw, why);
	take_down(fn);
}

static void take_dead_down(struct work_struct *work)
{
	struct vhca_fn *fn = container_of(work, struct vhca_fn, down_work);
	struct ib_event event = { .event = IB_EVENT_DEVICE_FATAL };
	bool down = false;

	mutex_lock(&fn->lock);
	/* A reset may have replaced it by a live device in the meantime. */
	if (fn->dev && vhca_hw_dead(&fn->dev->hw)) {
		event.device = &fn->dev->ibdev;
		ib_dispatch_event(&event);
		take_down(fn);
		down = true;
	}
	mutex_unlock(&fn->lock);
	if (down)
		dev_err(&fn->pdev->dev, "device is down; a reset or rebinding brings it up again\n");
}

static int map_bars(struct vhca_fn *fn)
{
	struct pci_dev *pdev = fn->pdev;
	int err;

	if (pci_resource_len(pdev, VHCA_BAR_REGS) < VHCA_REGS_SIZE ||
	    !pci_resource_len(pdev, VHCA_BAR_KICK)) {
		dev_err(&pdev->dev, "BARs are missing or too small\n");
		return -ENODEV;
	}
	err = pci_request_selected_regions(pdev, BIT(VHCA_BAR_REGS) | BIT(VHCA_BAR_KICK), "vhca");
	if (err)
		return err;
	fn->regs = pci_iomap(pdev, VHCA_BAR_REGS, VHCA_REGS_SIZE);
	if (!fn->regs) {
		pci_release_selected_regions(pdev, BIT(VHCA_BAR_REGS) | BIT(VHCA_BAR_KICK));
		return -ENOMEM;
	}
	fn->kick_phys = pci_resource_start(pdev, VHCA_BAR_KICK);
	fn->kick_size = pci_resource_len(pdev, VHCA_BAR_KICK);
	return 0;
}

static void unmap_bars(struct vhca_fn *fn)
{
	pci_iounmap(fn->pdev, fn->regs);
	pci_release_selected_regions(fn->pdev, BIT(VHCA_BAR_REGS) | BIT(VHCA_BAR_KICK));
}

static int vhca_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vhca_fn *fn;
	int err;

	fn = kzalloc(sizeof(*fn), GFP_KERNEL);
	if (!fn)
		return -ENOMEM;
	fn->pdev = pdev;
	mutex_init(&fn->lock);
	INIT_WORK(&fn->down_work, take_dead_down);
	pci_set_drvdata(pdev, fn);

	err = pci_enable_device_mem(pdev);
	if (err)
		goto err_free;
	err = map_bars(fn);
	if (err)
		goto err_disable;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto err_unmap;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);

	mutex_lock(&fn->lock);
	err = start(fn);
	mutex_unlock(&fn->lock);
	if (err)
		goto err_work;
	return 0;

err_work:
	cancel_work_sync(&fn->down_work);
err_unmap:
	unmap_bars(fn);
err_disable:
	pci_disable_device(pdev);
err_free:
	mutex_destroy(&fn->lock);
	kfree(fn);
	return err;
}

static void vhca_remove(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);

	mutex_lock(&fn->lock);
	take_down(fn);
	mutex_unlock(&fn->lock);
	/* Only a device queues it, and there is none any more. */
	cancel_work_sync(&fn->down_work);
	unmap_bars(fn);
	pci_disable_device(pdev);
	mutex_destroy(&fn->lock);
	kfree(fn);
}

static void vhca_shutdown(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);

	/* The device must not write to the memory of the next kernel (kexec). */
	mutex_lock(&fn->lock);
	take_down(fn);
	mutex_unlock(&fn->lock);
}

static void vhca_reset_prepare(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);

	mutex_lock(&fn->lock);
	take_down(fn);
	mutex_unlock(&fn->lock);
}

static void vhca_reset_done(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);
	int err;

	mutex_lock(&fn->lock);
	err = start(fn);
	mutex_unlock(&fn->lock);
	if (err)
		dev_err(&pdev->dev, "device does not come up after a reset (%d)\n", err);
}

static pci_ers_result_t vhca_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	mutex_lock(&fn->lock);
	lose(fn, "the PCI channel is frozen");
	mutex_unlock(&fn->lock);
	if (state == pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_DISCONNECT;
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t vhca_slot_reset(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);

	mutex_lock(&fn->lock);
	/* The device is still up if another function had the error. */
	lose(fn, "its slot was reset");
	pci_restore_state(pdev);
	pci_save_state(pdev);
	mutex_unlock(&fn->lock);
	return PCI_ERS_RESULT_RECOVERED;
}

static void vhca_error_resume(struct pci_dev *pdev)
{
	struct vhca_fn *fn = pci_get_drvdata(pdev);
	int err = 0;

	mutex_lock(&fn->lock);
	if (!fn->dev)
		err = bring_up(fn);
	mutex_unlock(&fn->lock);
	if (err)
		dev_err(&pdev->dev, "device does not come up after an error (%d)\n", err);
}

static const struct pci_error_handlers vhca_err_handlers = {
	.error_detected = vhca_error_detected,
	.slot_reset = vhca_slot_reset,
	.resume = vhca_error_resume,
	.reset_prepare = vhca_reset_prepare,
	.reset_done = vhca_reset_done,
};

/*
 * Suspend is handled as a reset: consumers and processes lose their objects, as in a reset of the
 * function, and get a new device on resume. No state of the device has to survive, since peers
 * would not keep their connections for so long anyway.
 */
static int vhca_suspend(struct device *dev)
{
	struct vhca_fn *fn = dev_get_drvdata(dev);

	mutex_lock(&fn->lock);
	take_down(fn);
	mutex_unlock(&fn->lock);
	return 0;
}

static int vhca_resume(struct device *dev)
{
	struct vhca_fn *fn = dev_get_drvdata(dev);
	int err = 0;

	mutex_lock(&fn->lock);
	if (!fn->dev)
		err = start(fn);
	mutex_unlock(&fn->lock);
	if (err)
		dev_err(dev, "device does not come up after sleep (%d)\n", err);
	return err;
}

static DEFINE_SIMPLE_DEV_PM_OPS(vhca_pm_ops, vhca_suspend, vhca_resume);

static const struct pci_device_id vhca_pci_ids[] = {
	{ PCI_DEVICE(VHCA_PCI_VENDOR, VHCA_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, vhca_pci_ids);

static struct pci_driver vhca_driver = {
	.name = "vhca",
	.id_table = vhca_pci_ids,
	.probe = vhca_probe,
	.remove = vhca_remove,
	.shutdown = vhca_shutdown,
	.err_handler = &vhca_err_handlers,
	.driver.pm = pm_sleep_ptr(&vhca_pm_ops),
};

static int __init vhca_module_init(void)
{
	int err = vhca_hw_begin();

	if (err)
		return err;
	err = pci_register_driver(&vhca_driver);
	if (err)
		vhca_hw_end();
	return err;
}
module_init(vhca_module_init);

static void __exit vhca_module_exit(void)
{
	pci_unregister_driver(&vhca_driver);
	vhca_hw_end();
}
module_exit(vhca_module_exit);
