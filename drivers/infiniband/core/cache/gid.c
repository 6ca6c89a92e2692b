// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Look-ups in GID tables, and the attributes of a GID.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/string.h>

#include "cache_priv.h"

/* The zero GID, which means that there is none. */
union ib_gid zgid;
EXPORT_SYMBOL(zgid);

/* The caller is in an RCU read section. Returns NULL if there is no such port, index or GID. */
static struct gid_entry *peek_entry(struct rdma_port_cache *cache, unsigned int index)
{
	struct gid_entry *entry;

	if (!cache || index >= cache->gids->size)
		return NULL;
	entry = rcu_dereference(cache->gids->entry[index]);
	return entry && !READ_ONCE(entry->retired) ? entry : NULL;
}

/**
 * rdma_is_zero_gid() - is this the zero GID, which means that there is none?
 * @gid: the GID
 *
 * Return: whether all its bytes are zero.
 */
bool rdma_is_zero_gid(const union ib_gid *gid)
{
	return !memcmp(gid, &zgid, sizeof(*gid));
}
EXPORT_SYMBOL(rdma_is_zero_gid);

/**
 * rdma_query_gid() - get a GID by its index
 * @device: registered device
 * @port_num: port number
 * @index: index into the port's table
 * @gid: the GID
 *
 * Context: any.
 * Return: 0, -EINVAL for a bad port or index, -ENOENT if no GID stands there.
 */
int rdma_query_gid(struct ib_device *device, u32 port_num, int index, union ib_gid *gid)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);
	struct gid_entry *entry;

	if (!cache || index < 0 || index >= cache->gids->size)
		return -EINVAL;
	guard(rcu)();
	entry = peek_entry(cache, index);
	if (!entry)
		return -ENOENT;
	*gid = entry->attr.gid;
	return 0;
}
EXPORT_SYMBOL(rdma_query_gid);

/**
 * rdma_get_gid_attr() - get a GID and its attributes by index
 * @device: registered device
 * @port_num: port number
 * @index: index into the port's table
 *
 * Context: any.
 * Return: the attributes with a reference for rdma_put_gid_attr(), or ERR_PTR():
 * -EINVAL for a bad port or index, -ENODATA if no GID stands there.
 */
const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device, u32 port_num, int index)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);
	struct gid_entry *entry;

	if (!cache || index < 0 || index >= cache->gids->size)
		return ERR_PTR(-EINVAL);
	guard(rcu)();
	entry = peek_entry(cache, index);
	if (!entry || !kref_get_unless_zero(&entry->users))
		return ERR_PTR(-ENODATA);
	return &entry->attr;
}
EXPORT_SYMBOL(rdma_get_gid_attr);

/* The criteria of a search. A NULL net device matches any. */
struct gid_search {
	const union ib_gid *gid;
	enum ib_gid_type type;
	struct net_device *netdev;
	bool (*filter)(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context);
	void *context;
};

static bool matches(const struct gid_search *search, const struct ib_gid_attr *attr)
{
	if (memcmp(&attr->gid, search->gid, sizeof(attr->gid)))
		return false;
	if (search->filter)
		return search->filter(search->gid, attr, search->context);
	return attr->gid_type == search->type &&
	       (!search->netdev || rcu_access_pointer(attr->ndev) == search->netdev);
}

static const struct ib_gid_attr *search_port(struct rdma_port_cache *cache,
					     const struct gid_search *search)
{
	if (!cache)
		return NULL;
	guard(rcu)();
	for (unsigned int index = 0; index < cache->gids->size; index++) {
		struct gid_entry *entry = peek_entry(cache, index);

		if (entry && matches(search, &entry->attr) && kref_get_unless_zero(&entry->users))
			return &entry->attr;
	}
	return NULL;
}

/**
 * rdma_find_gid() - look for a GID on all ports
 * @device: registered device
 * @gid: the GID
 * @gid_type: its type
 * @ndev: net device it is to be on, or NULL for any
 *
 * Context: any.
 * Return: the attributes with a reference for rdma_put_gid_attr(), or
 * ERR_PTR(-ENOENT).
 */
const struct ib_gid_attr *rdma_find_gid(struct ib_device *device, const union ib_gid *gid,
					enum ib_gid_type gid_type, struct net_device *ndev)
{
	struct gid_search search = { .gid = gid, .type = gid_type, .netdev = ndev };
	const struct ib_gid_attr *attr;
	u32 port_num;

	if (rdma_is_zero_gid(gid))
		return ERR_PTR(-ENOENT);
	rdma_for_each_port(device, port_num) {
		attr = search_port(port_cache(device, port_num), &search);
		if (attr)
			return attr;
	}
	return ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_find_gid);

/**
 * rdma_find_gid_by_port() - look for a GID on one port
 * @ib_dev: registered device
 * @gid: the GID
 * @gid_type: its type
 * @port: port number
 * @ndev: net device it is to be on, or NULL for any
 *
 * Context: any.
 * Return: the attributes with a reference for rdma_put_gid_attr(), or
 * ERR_PTR(-ENOENT), also for a bad port.
 */
const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *ib_dev, const union ib_gid *gid,
						enum ib_gid_type gid_type, u32 port,
						struct net_device *ndev)
{
	struct gid_search search = { .gid = gid, .type = gid_type, .netdev = ndev };
	const struct ib_gid_attr *attr = NULL;

	if (!rdma_is_zero_gid(gid))
		attr = search_port(port_cache(ib_dev, port), &search);
	return attr ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_find_gid_by_port);

/**
 * rdma_find_gid_by_filter() - look for a GID whose attributes suit the caller
 * @device: registered device
 * @gid: the GID
 * @port_num: port number
 * @filter: called under RCU for each entry with this GID; true ends the search
 * @context: given to @filter
 *
 * Context: any.
 * Return: the attributes with a reference for rdma_put_gid_attr(), or ERR_PTR():
 * -EINVAL for a bad port, -ENOENT.
 */
const struct ib_gid_attr *rdma_find_gid_by_filter(
	struct ib_device *device, const union ib_gid *gid, u32 port_num,
	bool (*filter)(const union ib_gid *gid, const struct ib_gid_attr *, void *),
	void *context)
{
	struct gid_search search = { .gid = gid, .filter = filter, .context = context };
	struct rdma_port_cache *cache = port_cache(device, port_num);

	if (!cache)
		return ERR_PTR(-EINVAL);
	return search_port(cache, &search) ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_find_gid_by_filter);

/**
 * ib_find_gid() - port and index of a GID among the InfiniBand and iWARP ports
 * @device: the device
 * @gid: the GID
 * @port_num: port that has it
 * @index: where it stands; may be NULL
 *
 * RoCE ports are left out, since a GID is in their tables once for each type. Context: may sleep.
 * Return: 0, or -ENOENT.
 */
int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num, u16 *index)
{
	union ib_gid entry;
	u32 port;

	rdma_for_each_port(device, port) {
		if (!rdma_protocol_ib(device, port) && !rdma_protocol_iwarp(device, port))
			continue;
		for (int i = 0; i < device->port_data[port].immutable.gid_tbl_len; i++) {
			if (rdma_query_gid(device, port, i, &entry) ||
			    memcmp(&entry, gid, sizeof(entry)))
				continue;
			*port_num = port;
			if (index)
				*index = i;
			return 0;
		}
	}
	return -ENOENT;
}
EXPORT_SYMBOL(ib_find_gid);

/**
 * rdma_query_gid_table() - get all GIDs of a device
 * @device: registered device
 * @entries: filled in, ports in order and indices in order
 * @max_entries: size of @entries
 *
 * Context: any.
 * Return: the number of GIDs, or -EINVAL if there are more than @max_entries.
 */
ssize_t rdma_query_gid_table(struct ib_device *device, struct ib_uverbs_gid_entry *entries,
			     size_t max_entries)
{
	size_t found = 0;
	u32 port_num;

	guard(rcu)();
	rdma_for_each_port(device, port_num) {
		struct rdma_port_cache *cache = port_cache(device, port_num);

		for (unsigned int index = 0; cache && index < cache->gids->size; index++) {
			struct gid_entry *entry = peek_entry(cache, index);
			struct net_device *netdev;

			if (!entry)
				continue;
			if (found == max_entries)
				return -EINVAL;
			netdev = rcu_dereference(entry->attr.ndev);
			memcpy(&entries[found].gid, &entry->attr.gid, sizeof(entry->attr.gid));
			entries[found].gid_index = entry->attr.index;
			entries[found].port_num = entry->attr.port_num;
			entries[found].gid_type = entry->attr.gid_type;
			entries[found].netdev_ifindex = netdev ? netdev->ifindex : 0;
			found++;
		}
	}
	return found;
}
EXPORT_SYMBOL(rdma_query_gid_table);

/**
 * rdma_read_gid_attr_ndev_rcu() - net device of a GID
 * @attr: attributes that the caller has a reference of
 *
 * Context: under RCU; the caller takes a reference to use it any longer.
 * Return: the net device, or ERR_PTR(): -ENODEV if there is none, -EINVAL if the GID has left the
 * table meanwhile.
 */
struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	struct net_device *netdev;

	if (READ_ONCE(to_entry(attr)->retired))
		return ERR_PTR(-EINVAL);
	netdev = rcu_dereference(attr->ndev);
	return netdev ?: ERR_PTR(-ENODEV);
}
EXPORT_SYMBOL(rdma_read_gid_attr_ndev_rcu);

static int find_vlan(struct net_device *lower, struct netdev_nested_priv *priv)
{
	if (!is_vlan_dev(lower))
		return 0;
	*(u16 *)priv->data = vlan_dev_vlan_id(lower);
	return 1;
}

/**
 * rdma_read_gid_l2_fields() - Ethernet addressing of a GID
 * @attr: attributes that the caller has a reference of
 * @vlan_id: VLAN ID, 0xffff if the GID is on no VLAN; may be NULL
 * @smac: six bytes of source MAC address; may be NULL
 *
 * Context: any.
 * Return: 0, or -ENODEV if the GID has no net device or has left its table.
 */
int rdma_read_gid_l2_fields(const struct ib_gid_attr *attr, u16 *vlan_id, u8 *smac)
{
	struct netdev_nested_priv priv = { .data = vlan_id };
	struct net_device *netdev;

	guard(rcu)();
	netdev = rcu_dereference(attr->ndev);
	if (!netdev)
		return -ENODEV;
	if (smac)
		ether_addr_copy(smac, netdev->dev_addr);
	if (vlan_id) {
		*vlan_id = 0xffff;
		/* A device on top of a VLAN, a bridge for instance, sends into that VLAN. */
		if (!find_vlan(netdev, &priv))
			netdev_walk_all_lower_dev_rcu(netdev, find_vlan, &priv);
	}
	return 0;
}
EXPORT_SYMBOL(rdma_read_gid_l2_fields);

/* IB and RoCE v1 share a name, as the wire format of the GID is the same. */
static const char *const gid_type_names[IB_GID_TYPE_SIZE] = {
	[IB_GID_TYPE_IB] = "IB/RoCE v1",
	[IB_GID_TYPE_ROCE] = "IB/RoCE v1",
	[IB_GID_TYPE_ROCE_UDP_ENCAP] = "RoCE v2",
};

/**
 * ib_cache_gid_type_str() - name of a GID type
 * @gid_type: the type
 *
 * Return: the name users know.
 */
const char *ib_cache_gid_type_str(enum ib_gid_type gid_type)
{
	if (gid_type < ARRAY_SIZE(gid_type_names))
		return gid_type_names[gid_type];
	return "Invalid GID type";
}
EXPORT_SYMBOL(ib_cache_gid_type_str);

/**
 * ib_cache_gid_parse_type_str() - GID type by its name
 * @buf: the name, perhaps with a line feed
 *
 * Return: enum ib_gid_type, the first of those that share the name, or -EINVAL.
 */
int ib_cache_gid_parse_type_str(const char *buf)
{
	return sysfs_match_string(gid_type_names, buf);
}
EXPORT_SYMBOL(ib_cache_gid_parse_type_str);

/**
 * roce_gid_type_mask_support() - GID types that a port has
 * @ib_dev: registered device
 * @port: port number
 *
 * Context: any.
 * Return: a mask of BIT(enum ib_gid_type), which is BIT(IB_GID_TYPE_IB) for a port that is no RoCE
 * port.
 */
unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port)
{
	unsigned long mask = 0;

	if (!rdma_protocol_roce(ib_dev, port))
		return BIT(IB_GID_TYPE_IB);
	if (rdma_protocol_roce_udp_encap(ib_dev, port))
		mask |= BIT(IB_GID_TYPE_ROCE_UDP_ENCAP);
	if (rdma_protocol_roce_eth_encap(ib_dev, port))
		mask |= BIT(IB_GID_TYPE_ROCE);
	return mask;
}
EXPORT_SYMBOL(roce_gid_type_mask_support);
