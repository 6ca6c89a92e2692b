// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's folder in sysfs: ports/N with its attributes, its tables of GIDs and P_Keys, and its
 * counters.
 */
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <rdma/ib_sysfs.h>

#include "../cache/cache.h"
#include "sysfs_priv.h"

/**
 * struct port_entry - attribute for one entry of a table
 * @attr: the attribute
 * @index: index of the entry
 * @name: the index as text
 */
struct port_entry {
	struct ib_port_attribute attr;
	unsigned int index;
	char name[12];
};

/**
 * struct port_table - folder with an attribute for each entry of a table
 * @group: the folder
 * @list: attributes of @group, NULL at the end
 * @entry: the entries
 */
struct port_table {
	struct attribute_group group;
	struct attribute **list;
	struct port_entry entry[];
};

/**
 * struct ib_port - a port in one namespace
 * @kobj: kobject of ports/N
 * @node: in the port_list of the device or compat device
 * @device: the device
 * @port_num: number of the port
 * @gid_attrs: kobject of ports/N/gid_attrs
 * @gids: gids/
 * @pkeys: pkeys/, or NULL
 * @gid_types: gid_attrs/types/
 * @gid_ndevs: gid_attrs/ndevs/
 * @hw_counters: hw_counters/, or NULL
 * @pma_counters: counters/, or NULL
 * @groups: groups of @kobj, NULL at the end
 * @gid_groups: groups of @gid_attrs, NULL at the end
 */
struct ib_port {
	struct kobject kobj;
	struct list_head node;
	struct ib_device *device;
	u32 port_num;
	struct kobject *gid_attrs;
	struct port_table *gids;
	struct port_table *pkeys;
	struct port_table *gid_types;
	struct port_table *gid_ndevs;
	struct hw_stats_device_data *hw_counters;
	struct ib_pma_counters *pma_counters;
	const struct attribute_group *groups[6];
	const struct attribute_group *gid_groups[3];
};

static struct ib_port_attribute *to_port_attr(struct attribute *attr)
{
	return container_of(attr, struct ib_port_attribute, attr);
}

static unsigned int entry_index(struct ib_port_attribute *attr)
{
	return container_of(attr, struct port_entry, attr)->index;
}

static ssize_t show_attr(struct ib_port *port, struct attribute *attr, char *buf)
{
	struct ib_port_attribute *port_attr = to_port_attr(attr);

	if (!port_attr->show)
		return -EIO;
	return port_attr->show(port->device, port->port_num, port_attr, buf);
}

static ssize_t port_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	return show_attr(container_of(kobj, struct ib_port, kobj), attr, buf);
}

static ssize_t port_store(struct kobject *kobj, struct attribute *attr, const char *buf,
			  size_t count)
{
	struct ib_port *port = container_of(kobj, struct ib_port, kobj);
	struct ib_port_attribute *port_attr = to_port_attr(attr);

	if (!port_attr->store)
		return -EIO;
	return port_attr->store(port->device, port->port_num, port_attr, buf, count);
}

static void free_table(struct port_table *table)
{
	if (table)
		kfree(table->list);
	kvfree(table);
}

static void release_port(struct kobject *kobj)
{
	struct ib_port *port = container_of(kobj, struct ib_port, kobj);

	free_table(port->gids);
	free_table(port->pkeys);
	free_table(port->gid_types);
	free_table(port->gid_ndevs);
	ib_device_release_hw_stats(port->hw_counters);
	kfree(port->pma_counters);
	kfree(port);
}

/* ---- link ---------------------------------------------------------------------------------- */

static const char *const state_names[] = {
	[IB_PORT_NOP] = "NOP",
	[IB_PORT_DOWN] = "DOWN",
	[IB_PORT_INIT] = "INIT",
	[IB_PORT_ARMED] = "ARMED",
	[IB_PORT_ACTIVE] = "ACTIVE",
	[IB_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
};

static const char *const phys_state_names[] = {
	[IB_PORT_PHYS_STATE_SLEEP] = "Sleep",
	[IB_PORT_PHYS_STATE_POLLING] = "Polling",
	[IB_PORT_PHYS_STATE_DISABLED] = "Disabled",
	[IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING] = "PortConfigurationTraining",
	[IB_PORT_PHYS_STATE_LINK_UP] = "LinkUp",
	[IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY] = "LinkErrorRecovery",
	[IB_PORT_PHYS_STATE_PHY_TEST] = "Phy Test",
};

static const char *name_of(const char *const *names, size_t count, unsigned int value,
			   const char *unknown)
{
	return value < count && names[value] ? names[value] : unknown;
}

/* Lane rates in units of 100 Mb/s. */
static const struct lane_rate {
	enum ib_port_speed speed;
	unsigned int rate;
	const char *name;
} lane_rates[] = {
	{ IB_SPEED_SDR, 25, " SDR" },
	{ IB_SPEED_DDR, 50, " DDR" },
	{ IB_SPEED_QDR, 100, " QDR" },
	{ IB_SPEED_FDR10, 100, " FDR10" },
	{ IB_SPEED_FDR, 140, " FDR" },
	{ IB_SPEED_EDR, 250, " EDR" },
	{ IB_SPEED_HDR, 500, " HDR" },
	{ IB_SPEED_NDR, 1000, " NDR" },
	{ IB_SPEED_XDR, 2000, " XDR" },
};

static ssize_t emit_rate(char *buf, const struct ib_port_attr *port)
{
	/* An unknown speed is shown as SDR, which every link supports. */
	const struct lane_rate *lane = &lane_rates[0];
	int lanes = ib_width_enum_to_int(port->active_width);
	unsigned int rate;

	if (lanes < 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(lane_rates); i++)
		if (lane_rates[i].speed == port->active_speed)
			lane = &lane_rates[i];
	rate = lane->rate * lanes;
	return sysfs_emit(buf, "%u%s Gb/sec (%dX%s)\n", rate / 10, rate % 10 ? ".5" : "", lanes,
			  lane->name);
}

/*
 * Defines the port attribute @_name, which queries the port and prints its attributes with @_emit.
 */
#define PORT_QUERY_ATTR(_name, _emit)                                                              \
	static ssize_t _name##_show(struct ib_device *device, u32 port_num,                        \
				    struct ib_port_attribute *attr, char *buf)                     \
	{                                                                                          \
		struct ib_port_attr port;                                                          \
		int ret = ib_query_port(device, port_num, &port);                                  \
												   \
		return ret ?: (_emit);                                                             \
	}                                                                                          \
	static IB_PORT_ATTR_RO(_name)

PORT_QUERY_ATTR(state, sysfs_emit(buf, "%d: %s\n", port.state,
				  name_of(state_names, ARRAY_SIZE(state_names), port.state,
					  "UNKNOWN")));
PORT_QUERY_ATTR(phys_state, sysfs_emit(buf, "%u: %s\n", port.phys_state,
				       name_of(phys_state_names, ARRAY_SIZE(phys_state_names),
					       port.phys_state, "<unknown>")));
PORT_QUERY_ATTR(lid, sysfs_emit(buf, "0x%x\n", port.lid));
PORT_QUERY_ATTR(lid_mask_count, sysfs_emit(buf, "%u\n", port.lmc));
PORT_QUERY_ATTR(sm_lid, sysfs_emit(buf, "0x%x\n", port.sm_lid));
PORT_QUERY_ATTR(sm_sl, sysfs_emit(buf, "%u\n", port.sm_sl));
PORT_QUERY_ATTR(cap_mask, sysfs_emit(buf, "0x%08x\n", port.port_cap_flags));
PORT_QUERY_ATTR(rate, emit_rate(buf, &port));

static ssize_t link_layer_show(struct ib_device *device, u32 port_num,
			       struct ib_port_attribute *attr, char *buf)
{
	static const char *const names[] = {
		[IB_LINK_LAYER_UNSPECIFIED] = "Unknown",
		[IB_LINK_LAYER_INFINIBAND] = "InfiniBand",
		[IB_LINK_LAYER_ETHERNET] = "Ethernet",
	};
	unsigned int layer = rdma_port_get_link_layer(device, port_num);

	return sysfs_emit(buf, "%s\n", names[layer < ARRAY_SIZE(names) ? layer : 0]);
}
static IB_PORT_ATTR_RO(link_layer);

static struct attribute *link_attrs[] = {
	/* attributes of the link itself */
	&ib_port_attr_link_layer.attr,
	&ib_port_attr_phys_state.attr,
	&ib_port_attr_state.attr,
	&ib_port_attr_rate.attr,
	&ib_port_attr_cap_mask.attr,
	/* attributes that the subnet manager assigns */
	&ib_port_attr_lid.attr,
	&ib_port_attr_lid_mask_count.attr,
	&ib_port_attr_sm_lid.attr,
	&ib_port_attr_sm_sl.attr,
	NULL,
};

static const struct attribute_group link_group = {
	.attrs = link_attrs,
};

/* ---- tables -------------------------------------------------------------------------------- */

/* An empty entry is shown as a zero GID, since users that count the entries expect one. */
static ssize_t gid_show(struct ib_device *device, u32 port_num, struct ib_port_attribute *attr,
			char *buf)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(device, port_num, entry_index(attr));
	ssize_t len;

	if (IS_ERR(gid))
		return sysfs_emit(buf, "%pI6\n", zgid.raw);
	len = sysfs_emit(buf, "%pI6\n", gid->gid.raw);
	rdma_put_gid_attr(gid);
	return len;
}

static ssize_t pkey_show(struct ib_device *device, u32 port_num, struct ib_port_attribute *attr,
			 char *buf)
{
	u16 pkey;
	int ret = ib_query_pkey(device, port_num, entry_index(attr), &pkey);

	return ret ?: sysfs_emit(buf, "0x%04x\n", pkey);
}

/* Unlike in gids/, reading an empty entry fails, by which users see that it has no type. */
static ssize_t gid_type_show(struct ib_device *device, u32 port_num,
			     struct ib_port_attribute *attr, char *buf)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(device, port_num, entry_index(attr));
	ssize_t len;

	if (IS_ERR(gid))
		return -EINVAL;
	len = sysfs_emit(buf, "%s\n", ib_cache_gid_type_str(gid->gid_type));
	rdma_put_gid_attr(gid);
	return len;
}

static ssize_t gid_ndev_show(struct ib_device *device, u32 port_num,
			     struct ib_port_attribute *attr, char *buf)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(device, port_num, entry_index(attr));
	struct net_device *netdev;
	ssize_t len = -EINVAL;

	if (IS_ERR(gid))
		return -EINVAL;
	scoped_guard(rcu) {
		netdev = rcu_dereference(gid->ndev);
		if (netdev)
			len = sysfs_emit(buf, "%s\n", netdev->name);
	}
	rdma_put_gid_attr(gid);
	return len;
}

static struct port_table *alloc_table(const char *name, unsigned int entries,
				      ssize_t (*show)(struct ib_device *device, u32 port_num,
						      struct ib_port_attribute *attr, char *buf))
{
	struct port_table *table = kvzalloc(struct_size(table, entry, entries), GFP_KERNEL);

	if (!table)
		return NULL;
	table->list = kcalloc(entries + 1, sizeof(*table->list), GFP_KERNEL);
	if (!table->list) {
		kvfree(table);
		return NULL;
	}
	for (unsigned int i = 0; i < entries; i++) {
		struct port_entry *entry = &table->entry[i];

		sysfs_attr_init(&entry->attr.attr);
		snprintf(entry->name, sizeof(entry->name), "%u", i);
		entry->index = i;
		entry->attr.attr.name = entry->name;
		entry->attr.attr.mode = 0444;
		entry->attr.show = show;
		table->list[i] = &entry->attr.attr;
	}
	table->group.name = name;
	table->group.attrs = table->list;
	return table;
}

/* ---- life ---------------------------------------------------------------------------------- */

static const struct sysfs_ops port_ops = {
	.show = port_show,
	.store = port_store,
};

static const struct kobj_type port_type = {
	.release = release_port,
	.sysfs_ops = &port_ops,
};

static ssize_t gid_attrs_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	return port_show(kobj->parent, attr, buf);
}

static void release_gid_attrs(struct kobject *kobj)
{
	kfree(kobj);
}

static const struct sysfs_ops gid_attrs_ops = {
	.show = gid_attrs_show,
};

static const struct kobj_type gid_attrs_type = {
	.release = release_gid_attrs,
	.sysfs_ops = &gid_attrs_ops,
};

static bool is_own(const struct ib_core_device *coredev)
{
	return coredev == &coredev->owner->coredev;
}

static int fill_counters(struct ib_port *port, const struct attribute_group **group)
{
	struct hw_stats_device_data *hw = NULL;
	struct ib_pma_counters *pma;

	/* Port 0 of a switch is the switch itself, so its counters are those of the device. */
	if (port->port_num)
		hw = ib_port_hw_stats(port->device, port->port_num);
	if (IS_ERR(hw))
		return PTR_ERR(hw);
	port->hw_counters = hw;
	if (hw)
		*group++ = ib_hw_stats_group(hw);

	pma = ib_pma_counters_alloc(port->device, port->port_num);
	if (IS_ERR(pma))
		return PTR_ERR(pma);
	port->pma_counters = pma;
	if (pma)
		*group = ib_pma_counters_group(pma);
	return 0;
}

static int fill_groups(struct ib_port *port, bool own)
{
	const struct ib_port_immutable *immutable =
		&port->device->port_data[port->port_num].immutable;
	const struct attribute_group **group = port->groups;

	port->gids = alloc_table("gids", immutable->gid_tbl_len, gid_show);
	port->gid_ndevs = alloc_table("ndevs", immutable->gid_tbl_len, gid_ndev_show);
	port->gid_types = alloc_table("types", immutable->gid_tbl_len, gid_type_show);
	if (!port->gids || !port->gid_ndevs || !port->gid_types)
		return -ENOMEM;
	*group++ = &link_group;
	*group++ = &port->gids->group;
	port->gid_groups[0] = &port->gid_ndevs->group;
	port->gid_groups[1] = &port->gid_types->group;

	if (immutable->pkey_tbl_len) {
		port->pkeys = alloc_table("pkeys", immutable->pkey_tbl_len, pkey_show);
		if (!port->pkeys)
			return -ENOMEM;
		*group++ = &port->pkeys->group;
	}
	/* Counters belong to the physical port, so other namespaces do not see them. */
	return own ? fill_counters(port, group) : 0;
}

static int add_gid_attrs(struct ib_port *port)
{
	int ret;

	port->gid_attrs = kzalloc(sizeof(*port->gid_attrs), GFP_KERNEL);
	if (!port->gid_attrs)
		return -ENOMEM;
	ret = kobject_init_and_add(port->gid_attrs, &gid_attrs_type, &port->kobj, "gid_attrs");
	if (!ret)
		ret = sysfs_create_groups(port->gid_attrs, port->gid_groups);
	if (ret) {
		kobject_put(port->gid_attrs);
		port->gid_attrs = NULL;
	}
	return ret;
}

static void del_gid_attrs(struct ib_port *port)
{
	sysfs_remove_groups(port->gid_attrs, port->gid_groups);
	kobject_del(port->gid_attrs);
	kobject_put(port->gid_attrs);
}

static int add_port(struct ib_core_device *coredev, u32 port_num)
{
	struct ib_device *device = coredev->owner;
	struct ib_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int ret;

	if (!port)
		return -ENOMEM;
	kobject_init(&port->kobj, &port_type);
	port->device = device;
	port->port_num = port_num;
	ret = fill_groups(port, is_own(coredev));
	if (ret)
		goto put;
	ret = kobject_add(&port->kobj, coredev->ports_kobj, "%u", port_num);
	if (ret)
		goto put;
	ret = sysfs_create_groups(&port->kobj, port->groups);
	if (ret)
		goto del;
	ret = add_gid_attrs(port);
	if (ret)
		goto groups;
	if (is_own(coredev)) {
		ret = sysfs_create_groups(&port->kobj, device->ops.port_groups);
		if (ret)
			goto gid_attrs;
		rdma_port(device, port_num)->sysfs = port;
		if (port->hw_counters)
			rdma_port(device, port_num)->hw_stats =
				ib_hw_stats_values(port->hw_counters);
	}
	list_add_tail(&port->node, &coredev->port_list);
	return 0;

gid_attrs:
	del_gid_attrs(port);
groups:
	sysfs_remove_groups(&port->kobj, port->groups);
del:
	kobject_del(&port->kobj);
put:
	kobject_put(&port->kobj);
	return ret;
}

static void del_port(struct ib_core_device *coredev, struct ib_port *port)
{
	list_del(&port->node);
	if (is_own(coredev)) {
		rdma_port(port->device, port->port_num)->sysfs = NULL;
		rdma_port(port->device, port->port_num)->hw_stats = NULL;
		sysfs_remove_groups(&port->kobj, port->device->ops.port_groups);
	}
	del_gid_attrs(port);
	sysfs_remove_groups(&port->kobj, port->groups);
	kobject_del(&port->kobj);
	kobject_put(&port->kobj);
}

/**
 * ib_setup_port_attrs() - create the ports/ folder of a device or compat device
 * @coredev: the device, whose struct device has been added
 *
 * Return: 0 or an error with nothing left behind.
 */
int ib_setup_port_attrs(struct ib_core_device *coredev)
{
	u32 port_num;
	int ret;

	coredev->ports_kobj = kobject_create_and_add("ports", &coredev->dev.kobj);
	if (!coredev->ports_kobj)
		return -ENOMEM;
	rdma_for_each_port(coredev->owner, port_num) {
		ret = add_port(coredev, port_num);
		if (ret) {
			ib_free_port_attrs(coredev);
			return ret;
		}
	}
	return 0;
}

/**
 * ib_free_port_attrs() - remove the ports/ folder of a device or compat device
 * @coredev: a device that has the folder
 */
void ib_free_port_attrs(struct ib_core_device *coredev)
{
	struct ib_port *port, *next;

	list_for_each_entry_safe(port, next, &coredev->port_list, node)
		del_port(coredev, port);
	kobject_del(coredev->ports_kobj);
	kobject_put(coredev->ports_kobj);
	coredev->ports_kobj = NULL;
}

/**
 * ib_port_register_client_groups() - add a client's attributes to a port's folder
 * @device: device the client is attached to
 * @port_num: port number
 * @groups: groups of struct ib_port_attribute, NULL at the end
 *
 * Context: may sleep.
 * Return: 0 or an error of sysfs_create_groups().
 */
int ib_port_register_client_groups(struct ib_device *device, u32 port_num,
				   const struct attribute_group **groups)
{
	return sysfs_create_groups(&rdma_port(device, port_num)->sysfs->kobj, groups);
}
EXPORT_SYMBOL(ib_port_register_client_groups);

/**
 * ib_port_unregister_client_groups() - remove a client's attributes from a port's folder
 * @device: device the client is attached to
 * @port_num: port number
 * @groups: groups that were added
 *
 * Context: may sleep.
 */
void ib_port_unregister_client_groups(struct ib_device *device, u32 port_num,
				      const struct attribute_group **groups)
{
	sysfs_remove_groups(&rdma_port(device, port_num)->sysfs->kobj, groups);
}
EXPORT_SYMBOL(ib_port_unregister_client_groups);

/**
 * ib_port_sysfs_get_ibdev_kobj() - get the device and port that a port's folder belongs to
 * @kobj: the folder's kobject, as given to the driver's own attributes
 * @port_num: receives the port number
 *
 * Return: the device.
 */
struct ib_device *ib_port_sysfs_get_ibdev_kobj(struct kobject *kobj, u32 *port_num)
{
	struct ib_port *port = container_of(kobj, struct ib_port, kobj);

	*port_num = port->port_num;
	return port->device;
}
EXPORT_SYMBOL(ib_port_sysfs_get_ibdev_kobj);
