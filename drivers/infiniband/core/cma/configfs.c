// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Settings of RoCE ports: /sys/kernel/config/rdma_cm/DEVICE/ports/N/default_roce_mode and
 * default_roce_tos.  A folder of a device's name can be made while the device is there; it stays
 * when the device goes, and then its files cannot be read or written.
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../cache/cache.h"
#include "cma_priv.h"

/**
 * struct settings_port - folder of a port
 * @group: the folder
 * @folder: folder of its device
 * @number: the port's number
 */
struct settings_port {
	struct config_group group;
	struct settings_folder *folder;
	u32 number;
};

/**
 * struct settings_folder - folder of a device
 * @group: the folder
 * @ports: the folder "ports" in it
 * @name: name of the device
 * @port: a folder for each port
 */
struct settings_folder {
	struct config_group group;
	struct config_group ports;
	char name[IB_DEVICE_NAME_MAX];
	struct settings_port port[];
};

static struct settings_port *to_port(struct config_item *item)
{
	return container_of(to_config_group(item), struct settings_port, group);
}

/*
 * The device of a port's folder, with a reference.  It may be another one of that name than when
 * the folder was made.
 */
static struct cma_device *device_of(struct settings_port *port)
{
	struct cma_device *cma_dev = cma_find_device(port->folder->name);

	if (!cma_dev)
		return ERR_PTR(-ENODEV);
	if (rdma_is_port_valid(cma_dev->device, port->number))
		return cma_dev;
	cma_put_device(cma_dev);
	return ERR_PTR(-EINVAL);
}

static ssize_t settings_default_roce_mode_show(struct config_item *item, char *page)
{
	struct settings_port *port = to_port(item);
	struct cma_device *cma_dev = device_of(port);
	enum ib_gid_type type;

	if (IS_ERR(cma_dev))
		return PTR_ERR(cma_dev);
	type = READ_ONCE(cma_config(cma_dev, port->number)->gid_type);
	cma_put_device(cma_dev);
	return sysfs_emit(page, "%s\n", ib_cache_gid_type_str(type));
}

/* The name of type 0 is the same on InfiniBand and RoCE ports. */
static int set_mode(struct cma_device *cma_dev, u32 port_num, int type)
{
	unsigned long types = cma_gid_types(cma_dev->device, port_num);

	if (type == IB_GID_TYPE_IB && types & BIT(IB_GID_TYPE_ROCE))
		type = IB_GID_TYPE_ROCE;
	if (type < 0 || !(types & BIT(type)))
		return -EINVAL;
	WRITE_ONCE(cma_config(cma_dev, port_num)->gid_type, type);
	return 0;
}

static ssize_t settings_default_roce_mode_store(struct config_item *item, const char *page,
						size_t count)
{
	struct settings_port *port = to_port(item);
	struct cma_device *cma_dev = device_of(port);
	int ret;

	if (IS_ERR(cma_dev))
		return PTR_ERR(cma_dev);
	ret = set_mode(cma_dev, port->number, ib_cache_gid_parse_type_str(page));
	cma_put_device(cma_dev);
	return ret ?: count;
}

static ssize_t settings_default_roce_tos_show(struct config_item *item, char *page)
{
	struct settings_port *port = to_port(item);
	struct cma_device *cma_dev = device_of(port);
	u8 tos;

	if (IS_ERR(cma_dev))
		return PTR_ERR(cma_dev);
	tos = READ_ONCE(cma_config(cma_dev, port->number)->tos);
	cma_put_device(cma_dev);
	return sysfs_emit(page, "%u\n", tos);
}

static ssize_t settings_default_roce_tos_store(struct config_item *item, const char *page,
					       size_t count)
{
	struct settings_port *port = to_port(item);
	struct cma_device *cma_dev;
	int ret;
	u8 tos;

	ret = kstrtou8(page, 0, &tos);
	if (ret)
		return ret;
	cma_dev = device_of(port);
	if (IS_ERR(cma_dev))
		return PTR_ERR(cma_dev);
	WRITE_ONCE(cma_config(cma_dev, port->number)->tos, tos);
	cma_put_device(cma_dev);
	return count;
}

CONFIGFS_ATTR(settings_, default_roce_mode);
CONFIGFS_ATTR(settings_, default_roce_tos);

static struct configfs_attribute *port_attrs[] = {
	&settings_attr_default_roce_mode,
	&settings_attr_default_roce_tos,
	NULL
};

static const struct config_item_type port_type = {
	.ct_owner = THIS_MODULE,
	.ct_attrs = port_attrs,
};

static const struct config_item_type ports_type = {
	.ct_owner = THIS_MODULE,
};

static void release_folder(struct config_item *item)
{
	kfree(container_of(to_config_group(item), struct settings_folder, group));
}

static struct configfs_item_operations folder_ops = {
	.release = release_folder,
};

static const struct config_item_type folder_type = {
	.ct_owner = THIS_MODULE,
	.ct_item_ops = &folder_ops,
};

static struct settings_folder *alloc_folder(struct cma_device *cma_dev, const char *name)
{
	u32 first = rdma_start_port(cma_dev->device);
	struct settings_folder *folder;
	char number[12];

	folder = kzalloc(struct_size(folder, port, cma_dev->num_ports), GFP_KERNEL);
	if (!folder)
		return NULL;
	strscpy(folder->name, name);
	config_group_init_type_name(&folder->group, name, &folder_type);
	config_group_init_type_name(&folder->ports, "ports", &ports_type);
	configfs_add_default_group(&folder->ports, &folder->group);
	for (u32 i = 0; i < cma_dev->num_ports; i++) {
		struct settings_port *port = &folder->port[i];

		port->folder = folder;
		port->number = first + i;
		snprintf(number, sizeof(number), "%u", port->number);
		config_group_init_type_name(&port->group, number, &port_type);
		configfs_add_default_group(&port->group, &folder->ports);
	}
	return folder;
}

static struct config_group *make_folder(struct config_group *root, const char *name)
{
	struct cma_device *cma_dev = cma_find_device(name);
	struct settings_folder *folder;

	if (!cma_dev)
		return ERR_PTR(-ENODEV);
	folder = alloc_folder(cma_dev, name);
	cma_put_device(cma_dev);
	return folder ? &folder->group : ERR_PTR(-ENOMEM);
}

static void drop_folder(struct config_group *root, struct config_item *item)
{
	struct settings_folder *folder =
		container_of(to_config_group(item), struct settings_folder, group);

	configfs_remove_default_groups(&folder->ports);
	configfs_remove_default_groups(&folder->group);
	config_item_put(item);
}

static struct configfs_group_operations root_ops = {
	.make_group = make_folder,
	.drop_item = drop_folder,
};

static const struct config_item_type root_type = {
	.ct_owner = THIS_MODULE,
	.ct_group_ops = &root_ops,
};

static struct configfs_subsystem settings = {
	.su_group.cg_item = {
		.ci_namebuf = "rdma_cm",
		.ci_type = &root_type,
	},
	.su_mutex = __MUTEX_INITIALIZER(settings.su_mutex),
};

/**
 * cma_configfs_begin() - let folders be made
 *
 * Return: 0 or an error of configfs.
 */
int cma_configfs_begin(void)
{
	config_group_init(&settings.su_group);
	return configfs_register_subsystem(&settings);
}

/**
 * cma_configfs_end() - undo cma_configfs_begin()
 */
void cma_configfs_end(void)
{
	configfs_unregister_subsystem(&settings);
}
