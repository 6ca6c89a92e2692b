// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * I/O units and their controllers.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "devmgt_priv.h"

static struct ib_client devmgt_client;

/* ---- controllers ---- */

static struct ib_dm_ioc *make_ioc(const struct ib_dm_ioc_profile *profile,
				  const struct ib_dm_svc_entry *entries, unsigned int count)
{
	struct ib_dm_ioc *ioc = kzalloc(sizeof(*ioc), GFP_KERNEL);

	if (!ioc)
		return NULL;
	ioc->profile = *profile;
	ioc->profile.num_svc_entries = count;
	if (!count)
		return ioc;
	ioc->entries = kmemdup_array(entries, count, sizeof(*entries), GFP_KERNEL);
	if (!ioc->entries) {
		kfree(ioc);
		return NULL;
	}
	return ioc;
}

static void free_ioc(struct ib_dm_ioc *ioc)
{
	kfree(ioc->entries);
	kfree(ioc);
}

static int check_guid(const struct dm_unit *unit, __be64 guid)
{
	if (!guid)
		return rdma_refuse(-EINVAL, "an I/O controller needs a GUID");
	for (unsigned int i = 0; i < IB_DM_MAX_SLOTS; i++)
		if (unit->slot[i] && unit->slot[i]->profile.guid == guid)
			return rdma_refuse(-EEXIST, "slot %u has the I/O controller %016llx", i + 1,
					   be64_to_cpu(guid));
	return 0;
}

static int take_slot(struct dm_unit *unit, struct ib_dm_ioc *ioc)
{
	int ret;

	guard(rwsem_write)(&unit->rwsem);
	ret = check_guid(unit, ioc->profile.guid);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < IB_DM_MAX_SLOTS; i++) {
		if (unit->slot[i])
			continue;
		ioc->unit = unit;
		ioc->slot = i + 1;
		unit->slot[i] = ioc;
		unit->change_id++;
		return 0;
	}
	return rdma_refuse(-ENOSPC, "all %u slots of the I/O unit are taken", IB_DM_MAX_SLOTS);
}

static void leave_slot(struct dm_unit *unit, struct ib_dm_ioc *ioc)
{
	guard(rwsem_write)(&unit->rwsem);
	unit->slot[ioc->slot - 1] = NULL;
	unit->change_id++;
}

/* The agents exist while there is a controller. */
static int enter(struct dm_unit *unit, struct ib_dm_ioc *ioc)
{
	int ret;

	guard(mutex)(&unit->agents_lock);
	ret = take_slot(unit, ioc);
	if (ret)
		return ret;
	if (!unit->iocs) {
		ret = dm_agents_begin(unit);
		if (ret) {
			leave_slot(unit, ioc);
			return ret;
		}
	}
	unit->iocs++;
	return 0;
}

/**
 * ib_dm_register_ioc() - offer an I/O controller
 * @device: InfiniBand device whose ports present it
 * @profile: its profile; guid is not 0, num_svc_entries is ignored
 * @entries: its services; NULL if @count is 0
 * @count: their number, up to 255
 *
 * While the device has controllers, its ports have IB_PORT_DEVICE_MGMT_SUP in their capability
 * masks and answer Gets of ClassPortInfo, IOUnitInfo, IOControllerProfile and ServiceEntries from
 * any requester.
 *
 * Context: may sleep; while a client of the caller's is attached to @device, or in a watcher's
 * callback for one of its ports.
 * Return: the controller, for ib_dm_unregister_ioc(); -EOPNOTSUPP for a device without InfiniBand
 * ports; -EINVAL for too many services or without a GUID; -EEXIST if the device has a controller of
 * that GUID; -ENOSPC if it has 255; -ENOMEM; -EINVAL if another agent, such as the SRP target's,
 * answers for a port; the driver's error if it cannot set the capability.
 */
struct ib_dm_ioc *ib_dm_register_ioc(struct ib_device *device,
				     const struct ib_dm_ioc_profile *profile,
				     const struct ib_dm_svc_entry *entries, unsigned int count)
{
	struct dm_unit *unit = ib_get_client_data(device, &devmgt_client);
	struct ib_dm_ioc *ioc;
	int ret;

	if (!unit)
		return ERR_PTR(rdma_refuse(-EOPNOTSUPP, "no port has device management"));
	if (count > U8_MAX)
		return ERR_PTR(rdma_refuse(-EINVAL, "%u services > %u", count, U8_MAX));
	ioc = make_ioc(profile, entries, count);
	if (!ioc)
		return ERR_PTR(-ENOMEM);
	ret = enter(unit, ioc);
	if (ret) {
		free_ioc(ioc);
		return ERR_PTR(ret);
	}
	return ioc;
}
EXPORT_SYMBOL(ib_dm_register_ioc);

/**
 * ib_dm_unregister_ioc() - withdraw an I/O controller
 * @ioc: the controller; at the latest in remove() of the client, or in IB_PORT_EVENT_REMOVE of the
 *	watcher, that has registered it
 *
 * No answer mentions it after this has returned. Context: may sleep.
 */
void ib_dm_unregister_ioc(struct ib_dm_ioc *ioc)
{
	struct dm_unit *unit = ioc->unit;

	scoped_guard(mutex, &unit->agents_lock) {
		if (!--unit->iocs)
			dm_agents_end(unit);
		leave_slot(unit, ioc);
	}
	free_ioc(ioc);
}
EXPORT_SYMBOL(ib_dm_unregister_ioc);

/* ---- their services ---- */

static int find_entry(const struct ib_dm_ioc *ioc, const struct ib_dm_svc_entry *entry)
{
	for (unsigned int i = 0; i < ioc->profile.num_svc_entries; i++)
		if (!memcmp(&ioc->entries[i], entry, sizeof(*entry)))
			return i;
	return -ENOENT;
}

/**
 * ib_dm_add_svc_entry() - add a service to a controller
 * @ioc: the controller
 * @entry: name and number
 *
 * Context: may sleep.
 * Return: 0; -EEXIST if it has exactly this one; -ENOSPC if it has 255; -ENOMEM.
 */
int ib_dm_add_svc_entry(struct ib_dm_ioc *ioc, const struct ib_dm_svc_entry *entry)
{
	unsigned int count;
	struct ib_dm_svc_entry *entries;

	guard(rwsem_write)(&ioc->unit->rwsem);
	count = ioc->profile.num_svc_entries;
	if (find_entry(ioc, entry) >= 0)
		return rdma_refuse(-EEXIST, "slot %u has this service", ioc->slot);
	if (count == U8_MAX)
		return rdma_refuse(-ENOSPC, "slot %u has %u services", ioc->slot, count);
	entries = krealloc_array(ioc->entries, count + 1, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	entries[count] = *entry;
	ioc->entries = entries;
	ioc->profile.num_svc_entries++;
	ioc->unit->change_id++;
	return 0;
}
EXPORT_SYMBOL(ib_dm_add_svc_entry);

/**
 * ib_dm_remove_svc_entry() - remove a service from a controller
 * @ioc: the controller
 * @entry: as it was added
 *
 * Later services move up by one. Context: may sleep.
 * Return: 0 or -ENOENT.
 */
int ib_dm_remove_svc_entry(struct ib_dm_ioc *ioc, const struct ib_dm_svc_entry *entry)
{
	int at;

	guard(rwsem_write)(&ioc->unit->rwsem);
	at = find_entry(ioc, entry);
	if (at < 0)
		return rdma_refuse(at, "slot %u has no such service", ioc->slot);
	ioc->profile.num_svc_entries--;
	memmove(ioc->entries + at, ioc->entries + at + 1,
		(ioc->profile.num_svc_entries - at) * sizeof(*ioc->entries));
	ioc->unit->change_id++;
	return 0;
}
EXPORT_SYMBOL(ib_dm_remove_svc_entry);

/* ---- devices ---- */

static int attach(struct ib_device *device)
{
	struct dm_unit *unit;
	bool any = false;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		any |= dm_port_has_agent(device, port_num);
	if (!any)
		return -EOPNOTSUPP;
	unit = kzalloc(sizeof(*unit), GFP_KERNEL);
	if (!unit)
		return -ENOMEM;
	unit->agent = kcalloc(rdma_end_port(device) + 1, sizeof(*unit->agent), GFP_KERNEL);
	if (!unit->agent) {
		kfree(unit);
		return -ENOMEM;
	}
	unit->device = device;
	mutex_init(&unit->agents_lock);
	init_rwsem(&unit->rwsem);
	ib_set_client_data(device, &devmgt_client, unit);
	return 0;
}

/* All consumers have unregistered their controllers. */
static void detach(struct ib_device *device, void *client_data)
{
	struct dm_unit *unit = client_data;

	WARN_ON(unit->iocs);
	mutex_destroy(&unit->agents_lock);
	kfree(unit->agent);
	kfree(unit);
}

static struct ib_client devmgt_client = {
	.name = "devmgt",
	.add = attach,
	.remove = detach,
	/* A device without kernel QPs has no agents: registering one fails. */
	.no_kverbs_req = true,
};

/**
 * devmgt_init() - let all devices be I/O units
 *
 * Context: while the module is initialised, after mad/.
 * Return: 0 or -ENOMEM.
 */
int devmgt_init(void)
{
	return ib_register_client(&devmgt_client);
}

/**
 * devmgt_exit() - end what devmgt_init() began
 */
void devmgt_exit(void)
{
	ib_unregister_client(&devmgt_client);
}
