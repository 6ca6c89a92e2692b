// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The attributes with which an I/O unit answers.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>

#include "devmgt_priv.h"

/* An answer takes no more than 4.096 us << 18, which is a second. */
#define RESP_TIME 18

static_assert(sizeof(struct ib_dm_iou_info) == 132);
static_assert(sizeof(struct ib_dm_ioc_profile) == 128);
static_assert(sizeof(struct ib_dm_svc_entry) * IB_DM_ENTRIES == IB_MGMT_DEVICE_DATA);

static u16 class_port_info(void *data)
{
	struct ib_class_port_info *info = data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = IB_DM_CLASS_VERSION;
	ib_set_cpi_resp_time(info, RESP_TIME);
	return 0;
}

static u16 unit_info(const struct dm_unit *unit, void *data)
{
	struct ib_dm_iou_info *info = data;

	info->change_id = cpu_to_be16(unit->change_id);
	info->max_controllers = IB_DM_MAX_SLOTS;
	for (unsigned int i = 0; i < IB_DM_MAX_SLOTS; i++)
		if (unit->slot[i])
			info->controller_list[i / 2] |= i % 2 ? 0x01 : 0x10;
	return 0;
}

/* Returns the controller in a slot, or NULL and the status that says why there is none. */
static const struct ib_dm_ioc *ioc_at(const struct dm_unit *unit, u32 slot, u16 *status)
{
	if (!slot || slot > IB_DM_MAX_SLOTS) {
		*status = IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
		return NULL;
	}
	*status = unit->slot[slot - 1] ? 0 : IB_DM_STATUS_NO_IOC;
	return unit->slot[slot - 1];
}

static u16 profile(const struct dm_unit *unit, u32 slot, void *data)
{
	u16 status;
	const struct ib_dm_ioc *ioc = ioc_at(unit, slot, &status);

	if (ioc)
		memcpy(data, &ioc->profile, sizeof(ioc->profile));
	return status;
}

/* The attribute modifier has the slot in its upper half, then the last and the first entry. */
static u16 service_entries(const struct dm_unit *unit, u32 attr_mod, void *data)
{
	unsigned int first = attr_mod & 0xff, last = attr_mod >> 8 & 0xff;
	u16 status;
	const struct ib_dm_ioc *ioc = ioc_at(unit, attr_mod >> 16, &status);

	if (!ioc)
		return status;
	if (first > last || last >= ioc->profile.num_svc_entries || last - first >= IB_DM_ENTRIES)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	memcpy(data, ioc->entries + first, (last - first + 1) * sizeof(*ioc->entries));
	return 0;
}

/**
 * dm_answer() - answer a Get
 * @unit: the unit
 * @attr_id: attribute
 * @attr_mod: its modifier
 * @data: receives the attribute; IB_MGMT_DEVICE_DATA bytes of zeros
 *
 * Context: may sleep.
 * Return: status of the answer; unless it is 0, @data is unchanged.
 */
u16 dm_answer(struct dm_unit *unit, u16 attr_id, u32 attr_mod, void *data)
{
	guard(rwsem_read)(&unit->rwsem);
	switch (attr_id) {
	case IB_DM_ATTR_CLASS_PORT_INFO:
		return attr_mod ? IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE : class_port_info(data);
	case IB_DM_ATTR_IOU_INFO:
		return attr_mod ? IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE : unit_info(unit, data);
	case IB_DM_ATTR_IOC_PROFILE:
		return profile(unit, attr_mod, data);
	case IB_DM_ATTR_SVC_ENTRIES:
		return service_entries(unit, attr_mod, data);
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}
EXPORT_SYMBOL_IF_KUNIT(dm_answer);
