// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <rdma/ib_smi.h>

#include "fake_fabric.h"

#define PREFIX	cpu_to_be64(0xfe80ULL << 48)

static struct fake_fabric *now;
static const struct ios_ops *before;

static unsigned int number(const struct fake_unit *unit)
{
	return unit - now->unit;
}

static u16 lid_of(const struct fake_unit *unit)
{
	return 0x10 + number(unit);
}

/* ---- the subnet manager ---- */

static void fault(bool wrong)
{
	if (wrong)
		atomic_inc(&now->faults);
}

static u8 *grow(struct ios_table *table, unsigned int size)
{
	u8 *records = kvcalloc(table->count + 1, size, GFP_KERNEL);

	if (!records)
		return NULL;
	if (table->records)
		memcpy(records, table->records, (size_t)table->count * size);
	kvfree(table->records);
	table->records = records;
	table->size = size;
	return records + (size_t)table->count++ * size;
}

static int class_port_info(struct ios_table *table)
{
	u8 *record = grow(table, IB_MGMT_SA_DATA);

	if (!record)
		return -ENOMEM;
	put_unaligned_be16(now->matches ? 0x2000 : 0, record + 2);
	return 0;
}

static int port_infos(const struct ib_sa_attr_query *query, struct ios_table *table)
{
	const struct fake_unit *unit;
	bool known;
	u8 *record;

	fault(!!query->comp_mask != now->matches || !!query->attr_mod != now->matches);
	for (unsigned int i = 1; i <= FAKE_UNITS; i++) {
		unit = &now->unit[i];
		known = unit->capable != unit->hidden;
		if (!unit->there || (now->matches && !known))
			continue;
		record = grow(table, now->size);
		if (!record)
			return -ENOMEM;
		put_unaligned_be16(lid_of(unit), record);
		if (now->size < 28)
			continue;
		put_unaligned_be32(known ? IB_PORT_DEVICE_MGMT_SUP : ~IB_PORT_DEVICE_MGMT_SUP,
				   record + 24);
	}
	return 0;
}

static int node(const struct ib_sa_attr_query *query, struct ios_table *table)
{
	unsigned int lid = get_unaligned_be16(query->attribute), as;
	u8 *record;

	fault(query->comp_mask != IB_SA_COMP_MASK(0));
	if (lid <= 0x10 || lid > 0x10 + FAKE_UNITS || !now->unit[lid - 0x10].there)
		return 0;
	record = grow(table, 112);
	if (!record)
		return -ENOMEM;
	as = now->unit[lid - 0x10].as;
	put_unaligned_be16(lid, record);
	put_unaligned_be64(0xabc, record + 8);
	put_unaligned_be64(as << 8, record + 16);
	put_unaligned_be64((lid - 0x10) << 8 | 1, record + 24);
	put_unaligned_be16(0x1234, record + 34);
	put_unaligned_be32(7, record + 36);
	put_unaligned_be32(0x01c0ffee, record + 40);
	memset(record + 44, 'x', 64);
	return 0;
}

static int path(struct ios_port *port, const struct ib_sa_attr_query *query,
		struct ios_table *table)
{
	struct sa_path_rec rec = {};
	unsigned int i;
	u8 *record;

	ib_sa_unpack_path((void *)query->attribute, &rec);
	i = be64_to_cpu(rec.dgid.global.interface_id) >> 8;
	fault(rec.sgid.global.interface_id != cpu_to_be64(port->port_num) ||
	      rec.dgid.global.subnet_prefix != PREFIX || !i || i > FAKE_UNITS);
	if (!i || i > FAKE_UNITS || now->unit[i].no_path)
		return 0;
	record = grow(table, 64);
	if (!record)
		return -ENOMEM;
	sa_path_set_dlid(&rec, lid_of(&now->unit[i]));
	sa_path_set_slid(&rec, port->port_num);
	rec.sl = now->unit[i].sl;
	ib_sa_pack_path(&rec, record);
	return 0;
}

static int fake_table(struct ios_port *port, const struct ib_sa_attr_query *query,
		      struct ios_table *table)
{
	*table = (struct ios_table){};
	if (now->error)
		return now->error;
	switch (query->attr_id) {
	case IB_SA_ATTR_CLASS_PORTINFO:
		atomic_inc(&now->searches);
		return class_port_info(table);
	case IB_SA_ATTR_PORT_INFO_REC:
		return port_infos(query, table);
	case IB_SA_ATTR_NODE_REC:
		return node(query, table);
	case IB_SA_ATTR_PATH_REC:
		return path(port, query, table);
	default:
		return -EINVAL;
	}
}

/* ---- units ---- */

static int profile(const struct fake_unit *unit, unsigned int slot, void *data)
{
	struct ib_dm_ioc_profile *profile = data;

	fault(!slot || slot > FAKE_SLOTS);
	if (!slot || slot > FAKE_SLOTS || !unit->guid[slot])
		return IB_DM_STATUS_NO_IOC;
	profile->guid = cpu_to_be64(unit->guid[slot] == U64_MAX ? 0 : unit->guid[slot]);
	profile->device_version = cpu_to_be16(unit->version);
	profile->num_svc_entries = unit->entries;
	memset(profile->id_string, 'y', sizeof(profile->id_string));
	return 0;
}

static int entries(const struct fake_unit *unit, u32 attr_mod, void *data)
{
	unsigned int first = attr_mod & 0xff, last = attr_mod >> 8 & 0xff;
	struct ib_dm_svc_entry *entry = data;

	fault(last < first || last - first >= IB_DM_ENTRIES || last >= unit->entries);
	if (last >= unit->answered)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	for (unsigned int i = first; i <= last; i++)
		entry[i - first].id = cpu_to_be64(i);
	return 0;
}

static int fake_get(struct ios_talk *talk, u16 attr_id, u32 attr_mod, u8 data[IB_MGMT_DEVICE_DATA])
{
	struct fake_unit *unit = &now->unit[be32_to_cpu(sa_path_get_dlid(talk->rec)) - 0x10];

	atomic_inc(&now->gets);
	fault(!talk->ah);
	if (unit->blocked) {
		complete(&now->asked);
		wait_for_completion(&now->cancelled);
		return -EINTR;
	}
	if (unit->silent)
		return -ETIMEDOUT;
	if (unit->busy)
		return IB_MGMT_MAD_STATUS_BUSY;
	memset(data, 0, IB_MGMT_DEVICE_DATA);
	switch (attr_id) {
	case IB_DM_ATTR_IOU_INFO:
		if (unit->restless)
			be16_add_cpu(&unit->info.change_id, 1);
		memcpy(data, &unit->info, sizeof(unit->info));
		return 0;
	case IB_DM_ATTR_IOC_PROFILE:
		return profile(unit, attr_mod, data);
	case IB_DM_ATTR_SVC_ENTRIES:
		return entries(unit, attr_mod, data);
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

/* An address handle that is not used. */
static int fake_reach(struct ios_talk *talk)
{
	talk->ah = kzalloc(sizeof(*talk->ah), GFP_KERNEL);
	return talk->ah ? 0 : -ENOMEM;
}

static void fake_leave(struct ios_talk *talk)
{
	kfree(talk->ah);
}

/* ---- ports ---- */

static int fake_open(struct ios_port *port)
{
	if (!str_has_prefix(port->device->name, "kt_io") || port->port_num > now->ports)
		return -EOPNOTSUPP;
	now->port[port->port_num] = port;
	return 0;
}

static void fake_close(struct ios_port *port)
{
	now->port[port->port_num] = NULL;
}

static void fake_cancel(struct ios_port *port)
{
	complete_all(&now->cancelled);
}

static const struct ios_ops fake_ops = {
	.open = fake_open,
	.close = fake_close,
	.cancel = fake_cancel,
	.table = fake_table,
	.reach = fake_reach,
	.get = fake_get,
	.leave = fake_leave,
};

/**
 * fake_fabric_begin() - make a subnet without units; one port of the device will search
 * @test: test
 *
 * Return: the subnet; fake_fabric_end() undoes this.
 */
struct fake_fabric *fake_fabric_begin(struct kunit *test)
{
	now = kunit_kzalloc(test, sizeof(*now), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, now);
	now->ports = 1;
	now->size = 64;
	now->matches = true;
	init_completion(&now->asked);
	init_completion(&now->cancelled);
	for (unsigned int i = 1; i <= FAKE_UNITS; i++)
		now->unit[i].as = i;
	before = ios_ops;
	ios_ops = &fake_ops;
	return now;
}

/**
 * fake_fabric_end() - end what fake_fabric_begin() began
 * @test: test, without watchers
 */
void fake_fabric_end(struct kunit *test)
{
	fake_disconnect();
	KUNIT_EXPECT_EQ(test, atomic_read(&now->faults), 0);
	KUNIT_EXPECT_PTR_EQ(test, now->port[1], NULL);
	KUNIT_EXPECT_PTR_EQ(test, now->port[2], NULL);
	ios_ops = before;
}

/**
 * fake_connect() - register the device
 * @test: test
 */
void fake_connect(struct kunit *test)
{
	now->device = test_device_registered(test, "kt_io");
}

/**
 * fake_disconnect() - unregister the device, if it is registered
 */
void fake_disconnect(void)
{
	if (now->device)
		test_device_gone(now->device);
	now->device = NULL;
}

/**
 * fake_offer() - give a unit controllers
 * @unit: number of the unit
 * @slots: number of its slots, each of which gets a controller with all services
 */
void fake_offer(unsigned int unit, unsigned int slots)
{
	struct fake_unit *fake = &now->unit[unit];

	fake->there = true;
	fake->capable = true;
	fake->entries = FAKE_ENTRIES;
	fake->answered = FAKE_ENTRIES;
	fake->info.max_controllers = slots;
	memset(fake->info.controller_list, 0, sizeof(fake->info.controller_list));
	memset(fake->guid, 0, sizeof(fake->guid));
	for (unsigned int i = 1; i <= slots; i++) {
		fake->info.controller_list[(i - 1) / 2] |= i % 2 ? 0x10 : 0x01;
		fake->guid[i] = unit << 16 | i;
	}
	be16_add_cpu(&fake->info.change_id, 1);
}

/**
 * fake_notice() - let the first port receive a notice
 * @trap: its trap number
 * @lid: port that has changed its capability mask
 * @capable: it has device management now
 * @other: something else has changed, not the mask
 */
void fake_notice(u16 trap, u16 lid, bool capable, u8 other)
{
	struct ib_sa_notice notice = { .attr.generic_type = IB_NOTICE_TYPE_INFO };

	notice.attr.trap_num = cpu_to_be16(trap);
	notice.attr.details.ntc_144.lid = cpu_to_be16(lid);
	notice.attr.details.ntc_144.local_changes = other;
	if (capable)
		notice.attr.details.ntc_144.new_cap_mask = cpu_to_be32(IB_PORT_DEVICE_MGMT_SUP);
	now->port[1]->notice(now->port[1], &notice);
}
