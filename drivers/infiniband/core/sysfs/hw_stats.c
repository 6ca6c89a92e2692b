// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files of hardware counters: the folder hw_counters/ of a device and of each of its ports.
 */
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <rdma/ib_sysfs.h>

#include "../counter/counter.h"
#include "sysfs_priv.h"

/**
 * struct hw_counter - a file in hw_counters/
 * @dev: as an attribute of the device
 * @port: as an attribute of a port
 * @set: the counters that it belongs to
 * @index: index of the counter
 */
struct hw_counter {
	union {
		struct device_attribute dev;
		struct ib_port_attribute port;
	};
	struct hw_stats_device_data *set;
	unsigned int index;
};

/**
 * struct hw_stats_device_data - the counters of a device or port, and their files
 * @device: the device
 * @port_num: number of the port, 0 for the device
 * @stats: the counters' values, allocated by the driver
 * @group: the folder hw_counters/
 * @list: attributes of @group, NULL at the end
 * @file: a file for each counter and one for the lifespan
 */
struct hw_stats_device_data {
	struct ib_device *device;
	u32 port_num;
	struct rdma_hw_stats *stats;
	struct attribute_group group;
	struct attribute **list;
	struct hw_counter file[];
};

/* Both types begin with struct attribute, so the same function initialises both. */
static_assert(offsetof(struct device_attribute, attr) == 0);
static_assert(offsetof(struct ib_port_attribute, attr) == 0);

static ssize_t show_counter(struct hw_counter *file, char *buf)
{
	struct rdma_hw_stats *stats = file->set->stats;
	int ret;

	guard(mutex)(&stats->lock);
	ret = rdma_hw_stats_refresh(file->set->device, file->set->port_num, stats, file->index);
	return ret ?: sysfs_emit(buf, "%llu\n", stats->value[file->index] +
				 rdma_counter_get_hwstat_value(file->set->device,
							       file->set->port_num, file->index));
}

static ssize_t show_lifespan(struct hw_counter *file, char *buf)
{
	guard(mutex)(&file->set->stats->lock);
	return sysfs_emit(buf, "%d\n", jiffies_to_msecs(file->set->stats->lifespan));
}

static ssize_t store_lifespan(struct hw_counter *file, const char *buf, size_t count)
{
	unsigned int msecs;
	int ret = kstrtouint(buf, 10, &msecs);

	if (ret)
		return ret;
	if (msecs > 10000)
		return -EINVAL;
	guard(mutex)(&file->set->stats->lock);
	file->set->stats->lifespan = msecs_to_jiffies(msecs);
	return count;
}

static struct hw_counter *dev_file(struct device_attribute *attr)
{
	return container_of(attr, struct hw_counter, dev);
}

static struct hw_counter *port_file(struct ib_port_attribute *attr)
{
	return container_of(attr, struct hw_counter, port);
}

static ssize_t dev_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show_counter(dev_file(attr), buf);
}

static ssize_t dev_lifespan_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show_lifespan(dev_file(attr), buf);
}

static ssize_t dev_lifespan_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return store_lifespan(dev_file(attr), buf, count);
}

static ssize_t port_counter_show(struct ib_device *device, u32 port_num,
				 struct ib_port_attribute *attr, char *buf)
{
	return show_counter(port_file(attr), buf);
}

static ssize_t port_lifespan_show(struct ib_device *device, u32 port_num,
				  struct ib_port_attribute *attr, char *buf)
{
	return show_lifespan(port_file(attr), buf);
}

static ssize_t port_lifespan_store(struct ib_device *device, u32 port_num,
				   struct ib_port_attribute *attr, const char *buf, size_t count)
{
	return store_lifespan(port_file(attr), buf, count);
}

static void set_file(struct hw_counter *file, const char *name, umode_t mode)
{
	sysfs_attr_init(&file->dev.attr);
	file->dev.attr.name = name;
	file->dev.attr.mode = mode;
}

static void set_counter_file(struct hw_counter *file, const char *name)
{
	set_file(file, name, 0444);
	if (file->set->port_num)
		file->port.show = port_counter_show;
	else
		file->dev.show = dev_counter_show;
}

static void set_lifespan_file(struct hw_counter *file)
{
	set_file(file, "lifespan", 0644);
	if (file->set->port_num) {
		file->port.show = port_lifespan_show;
		file->port.store = port_lifespan_store;
	} else {
		file->dev.show = dev_lifespan_show;
		file->dev.store = dev_lifespan_store;
	}
}

/* Takes over @stats, also on failure. Counters that are disabled get no file. */
static struct hw_stats_device_data *make_set(struct ib_device *device, u32 port_num,
					     struct rdma_hw_stats *stats)
{
	struct hw_stats_device_data *set;
	struct attribute **attr;
	struct hw_counter *file;

	set = kzalloc(struct_size(set, file, stats->num_counters + 1), GFP_KERNEL);
	attr = kcalloc(stats->num_counters + 2, sizeof(*attr), GFP_KERNEL);
	if (!set || !attr || WARN_ON(!stats->num_counters || !device->ops.get_hw_stats)) {
		kfree(attr);
		kfree(set);
		rdma_free_hw_stats_struct(stats);
		return ERR_PTR(set && attr ? -EINVAL : -ENOMEM);
	}
	set->device = device;
	set->port_num = port_num;
	set->stats = stats;
	set->list = attr;
	file = set->file;
	for (int i = 0; i < stats->num_counters; i++) {
		if (test_bit(i, stats->is_disabled))
			continue;
		file->set = set;
		file->index = i;
		set_counter_file(file, stats->descs[i].name);
		*attr++ = &file++->dev.attr;
	}
	file->set = set;
	set_lifespan_file(file);
	*attr = &file->dev.attr;
	set->group.name = "hw_counters";
	set->group.attrs = set->list;
	return set;
}

/**
 * ib_port_hw_stats() - allocate the counters of a port
 * @device: the device
 * @port_num: number of the port
 *
 * Return: the counters, NULL if the driver has no counters for ports, or an error pointer.
 */
struct hw_stats_device_data *ib_port_hw_stats(struct ib_device *device, u32 port_num)
{
	struct rdma_hw_stats *stats;

	if (!device->ops.alloc_hw_port_stats)
		return NULL;
	stats = device->ops.alloc_hw_port_stats(device, port_num);
	if (!stats)
		return ERR_PTR(-ENOMEM);
	return make_set(device, port_num, stats);
}

/**
 * ib_hw_stats_values() - get the values of counters
 * @set: the counters
 *
 * Return: the values, valid as long as @set.
 */
struct rdma_hw_stats *ib_hw_stats_values(const struct hw_stats_device_data *set)
{
	return set->stats;
}

/**
 * ib_hw_stats_group() - get the attribute group of counters
 * @set: the counters
 *
 * Return: the attribute group, valid as long as @set.
 */
const struct attribute_group *ib_hw_stats_group(const struct hw_stats_device_data *set)
{
	return &set->group;
}

/**
 * ib_setup_device_attrs() - set the attribute groups of a device, including its hardware counters
 * @device: device that is being registered
 *
 * Return: 0, -ENOMEM, or -EINVAL for counters that cannot be read.
 */
int ib_setup_device_attrs(struct ib_device *device)
{
	const struct attribute_group **group = device->core->groups;
	struct rdma_hw_stats *stats;

	memset(device->core->groups, 0, sizeof(device->core->groups));
	*group++ = &ib_dev_attr_group;
	if (device->ops.device_group)
		*group++ = device->ops.device_group;
	if (!device->ops.alloc_hw_device_stats)
		return 0;

	/* If an earlier registration failed, the counters may still be there. */
	if (!device->hw_stats_data) {
		struct hw_stats_device_data *set;

		stats = device->ops.alloc_hw_device_stats(device);
		if (!stats)
			return -ENOMEM;
		set = make_set(device, 0, stats);
		if (IS_ERR(set))
			return PTR_ERR(set);
		device->hw_stats_data = set;
		device->core->hw_stats = stats;
	}
	*group = &device->hw_stats_data->group;
	return 0;
}

/**
 * ib_device_release_hw_stats() - free counters whose folder has been removed
 * @data: counters or NULL
 */
void ib_device_release_hw_stats(struct hw_stats_device_data *data)
{
	if (!data)
		return;
	rdma_free_hw_stats_struct(data->stats);
	kfree(data->list);
	kfree(data);
}
