// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Health check: once a second, look for completions and events whose interrupt was lost, and read
 * the device's status register, unless there were new completions or events in the meantime.
 */
#include "device.h"

#define VHCA_HEALTH_PERIOD	HZ

static u64 signs_of_life(const struct vhca_dev *dev)
{
	u64 sum = READ_ONCE(dev->hw.admin.head) + READ_ONCE(dev->async_eq.ci);

	for (unsigned int i = 0; i < dev->nvectors; i++)
		sum += READ_ONCE(dev->vectors[i].eq.ci);
	return sum;
}

static void check_health(struct work_struct *work)
{
	struct vhca_dev *dev = container_of(to_delayed_work(work), struct vhca_dev, health);
	u64 alive;

	if (vhca_hw_dead(&dev->hw))
		return;
	if (vhca_admin_stuck(&dev->hw.admin))
		vhca_admin_rescue(&dev->hw.admin);
	vhca_eqs_rescue(dev);
	alive = signs_of_life(dev);
	if (alive == dev->alive)
		vhca_hw_check(&dev->hw);
	dev->alive = alive;
	queue_delayed_work(system_power_efficient_wq, &dev->health,
			   round_jiffies_relative(VHCA_HEALTH_PERIOD));
}

/**
 * vhca_health_start() - start the health check of a device
 * @dev: the device
 *
 * Context: Process context, while nothing else starts or stops the check.
 */
void vhca_health_start(struct vhca_dev *dev)
{
	INIT_DELAYED_WORK(&dev->health, check_health);
	dev->alive = signs_of_life(dev);
	queue_delayed_work(system_power_efficient_wq, &dev->health,
			   round_jiffies_relative(VHCA_HEALTH_PERIOD));
}

/**
 * vhca_health_stop() - stop the health check of a device
 * @dev: the device
 *
 * Context: Process context; waits for a check that is running.
 */
void vhca_health_stop(struct vhca_dev *dev)
{
	cancel_delayed_work_sync(&dev->health);
}
