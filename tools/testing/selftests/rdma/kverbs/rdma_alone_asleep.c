// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * While this module is loaded, suspending the machine suspends only one PCI function, and the
 * bridges: a guest's root and console are virtio devices, and not all of their drivers resume.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/string.h>

static char *adapter;
module_param(adapter, charp, 0444);
MODULE_PARM_DESC(adapter, "the PCI function that sleeps");

static int stay_awake(struct device *dev, void *awake)
{
	dev_pm_syscore_device(dev, *(bool *)awake);
	return device_for_each_child(dev, awake, stay_awake);
}

static void all_but_one(bool awake)
{
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev)
		if (!pci_is_bridge(pdev) && strcmp(pci_name(pdev), adapter))
			stay_awake(&pdev->dev, &awake);
}

static int __init alone_init(void)
{
	if (!adapter)
		return -EINVAL;
	all_but_one(true);
	return 0;
}

static void __exit alone_exit(void)
{
	all_but_one(false);
}

module_init(alone_init);
module_exit(alone_exit);

MODULE_DESCRIPTION("sleep is for one adapter alone");
MODULE_LICENSE("Dual BSD/GPL");
