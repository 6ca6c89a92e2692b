// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The controllers of a unit, as its agent describes them.
 *
 * The agent is on another host and may answer anything. A slot that it does not describe properly
 * is taken as empty. Its answers are used only if its change id is the same before and afterwards,
 * so that they belong together. No answer makes reading take longer than READ_TIME.
 */
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ioscan_priv.h"

/* How long a unit may be read, in seconds, and how many times if it changes meanwhile. */
#define READ_TIME 60
#define READ_TIMES 3

union answer {
	u8 data[IB_MGMT_DEVICE_DATA];
	struct ib_dm_iou_info unit;
	struct ib_dm_ioc_profile controller;
	struct ib_dm_svc_entry entries[IB_DM_ENTRIES];
};

static_assert(sizeof(union answer) == IB_MGMT_DEVICE_DATA);

/**
 * struct reading - a unit that is being read
 * @talk: its port and path
 * @unit: receives the controllers
 * @end: time at which reading is given up, in jiffies
 * @answer: latest answer
 */
struct reading {
	struct ios_talk *talk;
	struct ios_unit *unit;
	unsigned long end;
	union answer answer;
};

/* Returns 0, the status of an answer that refuses, or an error; -EBUSY if it may answer later. */
static int get(struct reading *reading, u16 attr_id, u32 attr_mod)
{
	int ret;

	if (time_after(jiffies, reading->end))
		return -ETIME;
	ret = ios_ops->get(reading->talk, attr_id, attr_mod, reading->answer.data);
	return ret > 0 && (ret & IB_MGMT_MAD_STATUS_BUSY) ? -EBUSY : ret;
}

static bool in_use(const struct ib_dm_iou_info *info, unsigned int slot)
{
	u8 pair = info->controller_list[(slot - 1) / 2];

	return (slot % 2 ? pair >> 4 : pair & 0xf) == 1;
}

static bool is_new(const struct ios_unit *unit, __be64 guid)
{
	const struct ios_controller *controller;

	list_for_each_entry(controller, &unit->controllers, entry)
		if (controller->ib.profile.guid == guid)
			return false;
	return guid != 0;
}

/* The attribute modifier has the slot in its upper half, then the last and the first entry. */
static int read_entries(struct reading *reading, struct ios_controller *controller)
{
	unsigned int count = controller->ib.profile.num_svc_entries, last;
	int ret;

	if (!count)
		return 0;
	controller->entries = kvcalloc(count, sizeof(*controller->entries), GFP_KERNEL);
	if (!controller->entries)
		return -ENOMEM;
	controller->ib.entries = controller->entries;
	for (unsigned int first = 0; first < count; first += IB_DM_ENTRIES) {
		last = min(first + IB_DM_ENTRIES, count) - 1;
		ret = get(reading, IB_DM_ATTR_SVC_ENTRIES,
			  controller->ib.slot << 16 | last << 8 | first);
		if (ret)
			return ret;
		memcpy(controller->entries + first, reading->answer.entries,
		       (last - first + 1) * sizeof(*controller->entries));
	}
	return 0;
}

/* Returns 0, the status by which the agent refuses to describe it, or an error. */
static int read_controller(struct reading *reading, unsigned int slot)
{
	struct ios_controller *controller;
	int ret = get(reading, IB_DM_ATTR_IOC_PROFILE, slot);

	if (ret || !is_new(reading->unit, reading->answer.controller.guid))
		return ret;
	controller = kzalloc(sizeof(*controller), GFP_KERNEL);
	if (!controller)
		return -ENOMEM;
	controller->ib.slot = slot;
	controller->ib.profile = reading->answer.controller;
	ret = read_entries(reading, controller);
	if (ret) {
		kvfree(controller->entries);
		kfree(controller);
		return ret;
	}
	list_add_tail(&controller->entry, &reading->unit->controllers);
	return 0;
}

/* Returns 0, 1 if the unit has changed meanwhile, or an error. */
static int read_once(struct reading *reading)
{
	struct ib_dm_iou_info info;
	int ret = get(reading, IB_DM_ATTR_IOU_INFO, 0);

	if (ret)
		return ret < 0 ? ret : -EPROTO;
	info = reading->answer.unit;
	for (unsigned int slot = 1; slot <= info.max_controllers; slot++) {
		ret = in_use(&info, slot) ? read_controller(reading, slot) : 0;
		if (ret < 0)
			return ret;
	}
	ret = get(reading, IB_DM_ATTR_IOU_INFO, 0);
	if (ret)
		return ret < 0 ? ret : -EPROTO;
	return !!memcmp(&info, &reading->answer.unit, sizeof(info));
}

/**
 * ios_unit_read() - read the controllers of a unit
 * @talk: its port and path
 * @unit: the unit, without controllers; receives them, and is marked as read
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if the unit changed during each attempt, -EBUSY, -ETIME if it takes too long,
 * -ETIMEDOUT, -EPROTO if it refuses IOUnitInfo, -EINTR if the port is being removed, -ENOMEM, the
 * MAD layer's error. After an error it has no controllers.
 */
int ios_unit_read(struct ios_talk *talk, struct ios_unit *unit)
{
	struct reading *reading __free(kfree) = kzalloc(sizeof(*reading), GFP_KERNEL);
	int ret = 1;

	if (!reading)
		return -ENOMEM;
	reading->talk = talk;
	reading->unit = unit;
	reading->end = jiffies + READ_TIME * HZ;
	for (unsigned int i = 0; i < READ_TIMES && ret == 1; i++) {
		ios_controllers_free(unit);
		ret = read_once(reading);
	}
	unit->read = !ret;
	if (ret)
		ios_controllers_free(unit);
	return ret == 1 ? -EAGAIN : ret;
}
