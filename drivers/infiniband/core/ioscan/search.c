// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's search for I/O units: ports that have device management, the nodes that they belong to,
 * the paths there, the units' controllers.
 *
 * The subnet manager knows which ports have device management. After a port has notified it of a
 * change, it forwards the notice at once but queries the port itself later, so for some time its
 * records are older than the notice. During that time the notice takes precedence over the record.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/unaligned.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_smi.h>

#include "ioscan_priv.h"

/* Traps that a subnet manager generates itself: a port has appeared or disappeared. */
#define TRAP_IN_SERVICE		cpu_to_be16(64)
#define TRAP_OUT_OF_SERVICE	cpu_to_be16(65)
#define IS_GENERIC		0x80

/* How long a notice takes precedence over the record, in seconds. */
#define NOTICE_TIME 60

/* ClassPortInfo: the manager can compare only those bits of CapabilityMask that are set. */
#define CLASS_CAP_OFFSET	2
#define CLASS_CAP_MATCH		BIT(13)
#define MATCH_SET_BITS		BIT(31)

/* PortInfoRecord: offsets and component mask bits. */
#define PORT_LID		0
#define PORT_CAP_MASK		24
#define PORT_SIZE		28
#define PORT_COMP_CAP_MASK	IB_SA_COMP_MASK(7)

/* NodeRecord: offsets and component mask bits. */
#define NODE_LID		0
#define NODE_SYSTEM_GUID	8
#define NODE_GUID		16
#define NODE_PORT_GUID		24
#define NODE_DEVICE		34
#define NODE_REVISION		36
#define NODE_VENDOR		40
#define NODE_DESCRIPTION	44
#define NODE_SIZE		108
#define NODE_COMP_LID		IB_SA_COMP_MASK(0)

#define PATH_SIZE		64

/**
 * struct search - a search
 * @port: the port
 * @gid: its GID
 * @lids: LIDs of ports with device management
 * @found: receives the units
 * @again: a unit has been left out that the next search may find
 */
struct search {
	struct ios_port *port;
	union ib_gid gid;
	struct xarray lids;
	struct list_head *found;
	bool again;
};

/* ---- notices ---- */

/**
 * ios_notices_forget() - drop the contents of former notices
 * @port: the port
 */
void ios_notices_forget(struct ios_port *port)
{
	xa_destroy(&port->noticed);
}

/* A notice of another local change also has a capability mask, but the mask may be empty. */
static bool local_change(struct ios_port *port, const struct ib_mad_notice_attr *attr)
{
	u16 lid = be16_to_cpu(attr->details.ntc_144.lid);
	bool has = be32_to_cpu(attr->details.ntc_144.new_cap_mask) & IB_PORT_DEVICE_MGMT_SUP;
	unsigned long until = ktime_get_seconds() + NOTICE_TIME;

	if (attr->details.ntc_144.local_changes)
		return false;
	/* Without memory the manager's record is used. */
	xa_store(&port->noticed, lid, xa_mk_value(until << 1 | has), GFP_KERNEL);
	return true;
}

/**
 * ios_notice() - take the content of a notice into account
 * @port: port that has received it
 * @notice: the notice
 *
 * Context: may sleep.
 * Return: whether the port should search again.
 */
bool ios_notice(struct ios_port *port, const struct ib_sa_notice *notice)
{
	if (!(notice->attr.generic_type & IS_GENERIC))
		return false;
	switch (notice->attr.trap_num) {
	case TRAP_IN_SERVICE:
	case TRAP_OUT_OF_SERVICE:
		/*
		 * The manager sends these after it has queried all ports; LIDs may have been
		 * reassigned.
		 */
		ios_notices_forget(port);
		return true;
	case IB_NOTICE_TRAP_CAP_MASK_CHG:
		return local_change(port, &notice->attr);
	default:
		return false;
	}
}

/* Adds and removes ports as recent notices say. */
static int heed_notices(struct search *search)
{
	unsigned long lid, said, now = ktime_get_seconds();
	void *entry;
	int ret;

	xa_for_each(&search->port->noticed, lid, entry) {
		said = xa_to_value(entry);
		if (said >> 1 < now) {
			xa_cmpxchg(&search->port->noticed, lid, entry, NULL, GFP_KERNEL);
		} else if (said & 1) {
			ret = xa_err(xa_store(&search->lids, lid, xa_mk_value(1), GFP_KERNEL));
			if (ret)
				return ret;
		} else {
			xa_erase(&search->lids, lid);
		}
	}
	return 0;
}

/* ---- ports with device management ---- */

/* Finds out whether the manager can select records by bits of a capability mask. */
static int can_match(struct search *search, bool *can)
{
	u8 *record __free(kfree) = kzalloc(IB_MGMT_SA_DATA, GFP_KERNEL);
	struct ib_sa_attr_query query;
	struct ios_table table;
	int ret;

	if (!record)
		return -ENOMEM;
	ret = ib_sa_attr_query_init(&query, record, IB_SA_QUERY_CLASS_PORT_INFO, NULL);
	if (!ret)
		ret = ios_ops->table(search->port, &query, &table);
	if (ret)
		return ret;
	*can = table.count && table.size >= CLASS_CAP_OFFSET + sizeof(u16) &&
	       get_unaligned_be16(table.records + CLASS_CAP_OFFSET) & CLASS_CAP_MATCH;
	kvfree(table.records);
	return 0;
}

static int enter_lids(struct search *search, const struct ios_table *table)
{
	const u8 *record;
	u16 lid;
	int ret;

	if (table->count && table->size < PORT_SIZE)
		return -EPROTO;
	for (unsigned int i = 0; i < table->count; i++) {
		record = table->records + (size_t)i * table->size;
		lid = get_unaligned_be16(record + PORT_LID);
		if (!lid || lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) ||
		    !(get_unaligned_be32(record + PORT_CAP_MASK) & IB_PORT_DEVICE_MGMT_SUP))
			continue;
		ret = xa_err(xa_store(&search->lids, lid, xa_mk_value(1), GFP_KERNEL));
		if (ret)
			return ret;
	}
	return 0;
}

static int find_lids(struct search *search)
{
	u8 record[PORT_SIZE] = {};
	struct ib_sa_attr_query query = {
		.method = IB_SA_METHOD_GET_TABLE,
		.attr_id = IB_SA_ATTR_PORT_INFO_REC,
		.attribute = record,
		.size = sizeof(record),
	};
	struct ios_table table;
	bool can;
	int ret;

	ret = can_match(search, &can);
	if (ret)
		return ret;
	if (can) {
		put_unaligned_be32(IB_PORT_DEVICE_MGMT_SUP, record + PORT_CAP_MASK);
		query.comp_mask = PORT_COMP_CAP_MASK;
		query.attr_mod = MATCH_SET_BITS;
	}
	ret = ios_ops->table(search->port, &query, &table);
	if (ret)
		return ret;
	ret = enter_lids(search, &table);
	kvfree(table.records);
	return ret ?: heed_notices(search);
}

/* ---- their units ---- */

/* Returns the unit that was found through another of its ports already, or a new one. */
static struct ios_unit *unit_of(struct search *search, const u8 *node)
{
	__be64 prefix = search->gid.global.subnet_prefix;
	__be64 guid = cpu_to_be64(get_unaligned_be64(node + NODE_GUID));
	struct ios_unit *unit = ios_unit_find(search->found, prefix, guid);

	if (unit)
		return unit;
	unit = ios_unit_make(prefix, guid);
	if (!unit)
		return NULL;
	unit->ib.system_image_guid = cpu_to_be64(get_unaligned_be64(node + NODE_SYSTEM_GUID));
	unit->ib.vendor_id = get_unaligned_be32(node + NODE_VENDOR) & 0xffffff;
	unit->ib.device_id = get_unaligned_be16(node + NODE_DEVICE);
	unit->ib.revision = get_unaligned_be32(node + NODE_REVISION);
	memcpy(unit->ib.description, node + NODE_DESCRIPTION, IB_DEVICE_NODE_DESC_MAX);
	list_add_tail(&unit->entry, search->found);
	return unit;
}

/* Returns 0 without a path if there is none. */
static int find_path(struct search *search, const u8 *node, struct ios_reach **found)
{
	u8 *record __free(kfree) = kzalloc(IB_MGMT_SA_DATA, GFP_KERNEL);
	union ib_sa_query_input input = { .gids = { search->gid, search->gid } };
	struct ib_sa_attr_query query;
	struct ios_reach *reach = NULL;
	struct ios_table table;
	int ret;

	if (!record)
		return -ENOMEM;
	input.gids.dgid.global.interface_id = cpu_to_be64(get_unaligned_be64(node +
									      NODE_PORT_GUID));
	ret = ib_sa_attr_query_init(&query, record, IB_SA_QUERY_PATH_BY_GIDS, &input);
	if (!ret)
		ret = ios_ops->table(search->port, &query, &table);
	if (ret)
		return ret == -EINVAL ? 0 : ret;
	if (table.count && table.size >= PATH_SIZE) {
		reach = kzalloc(sizeof(*reach), GFP_KERNEL);
		ret = reach ? 0 : -ENOMEM;
	}
	if (reach) {
		reach->port = search->port;
		ib_sa_unpack_path(table.records, &reach->rec);
	}
	kvfree(table.records);
	*found = reach;
	return ret;
}

/* A known unit that cannot be read keeps its known controllers. */
static int read_unit(struct search *search, struct ios_unit *unit, struct ios_reach *reach)
{
	struct ios_talk talk = { .port = search->port, .rec = &reach->rec };
	int ret = ios_ops->reach(&talk);

	if (!ret) {
		ret = ios_unit_read(&talk, unit);
		ios_ops->leave(&talk);
	}
	/* The unit may have just started, or be busy: it is read again. */
	if (ret == -EAGAIN || ret == -EBUSY || ret == -ETIMEDOUT)
		search->again = true;
	return ret == -ENOMEM || ret == -EINTR ? ret : 0;
}

static int find_unit(struct search *search, const u8 *node)
{
	struct ios_reach *reach = NULL;
	struct ios_unit *unit;
	int ret;

	/* The device's own controllers are left out. */
	if (cpu_to_be64(get_unaligned_be64(node + NODE_GUID)) == search->port->device->node_guid)
		return 0;
	ret = find_path(search, node, &reach);
	if (ret || !reach)
		return ret;
	unit = unit_of(search, node);
	if (!unit) {
		kfree(reach);
		return -ENOMEM;
	}
	list_add_tail(&reach->entry, &unit->reaches);
	return unit->read ? 0 : read_unit(search, unit, reach);
}

/* A port that the manager does not know any more is skipped. */
static int find_node(struct search *search, u16 lid)
{
	u8 record[sizeof(u16)];
	const struct ib_sa_attr_query query = {
		.method = IB_SA_METHOD_GET_TABLE,
		.attr_id = IB_SA_ATTR_NODE_REC,
		.comp_mask = NODE_COMP_LID,
		.attribute = record,
		.size = sizeof(record),
	};
	struct ios_table table;
	int ret;

	put_unaligned_be16(lid, record + NODE_LID);
	ret = ios_ops->table(search->port, &query, &table);
	if (ret)
		return ret == -EINVAL ? 0 : ret;
	if (table.count && table.size >= NODE_SIZE)
		ret = find_unit(search, table.records);
	kvfree(table.records);
	return ret;
}

/**
 * ios_search() - search a port's subnet
 * @port: the port
 * @found: receives units with paths from this port, unless an error is returned; ios_units_free()
 *	frees what is in the list
 *
 * Context: may sleep.
 * Return: 0; 1 if units have been left out that the next search may find; or an error, after which
 * the known units stay: -EAGAIN if there is no subnet manager, -ETIMEDOUT if it does not answer,
 * -EINVAL if it refuses, -EPROTO, -ENOMEM, -EINTR or -ENODEV if the port is being removed.
 */
int ios_search(struct ios_port *port, struct list_head *found)
{
	struct search search = { .port = port, .found = found };
	unsigned long lid;
	void *entry;
	int ret;

	ret = rdma_query_gid(port->device, port->port_num, 0, &search.gid);
	if (ret)
		return ret;
	xa_init(&search.lids);
	ret = find_lids(&search);
	xa_for_each(&search.lids, lid, entry) {
		if (!ret && READ_ONCE(port->gone))
			ret = -EINTR;
		if (!ret)
			ret = find_node(&search, lid);
		if (ret)
			break;
	}
	xa_destroy(&search.lids);
	return ret ?: search.again;
}
EXPORT_SYMBOL_IF_KUNIT(ios_search);
