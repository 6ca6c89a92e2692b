/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of devmgt/ share.
 *
 * Locks, outermost first: dm_unit.agents_lock, dm_unit.rwsem. Handlers of MADs take only the
 * second, because agents are unregistered with the first one held.
 */
#ifndef RDMA_CORE_DEVMGT_PRIV_H
#define RDMA_CORE_DEVMGT_PRIV_H

#include <linux/mutex.h>
#include <linux/rwsem.h>

#include "devmgt.h"

/**
 * struct ib_dm_ioc - an I/O controller of this host
 * @unit: its unit
 * @slot: its slot, from 1
 * @profile: the IOControllerProfile that is sent in answers
 * @entries: its services; their number is in @profile
 */
struct ib_dm_ioc {
	struct dm_unit *unit;
	unsigned int slot;
	struct ib_dm_ioc_profile profile;
	struct ib_dm_svc_entry *entries;
};

/**
 * struct dm_unit - a device as an I/O unit
 * @device: the device
 * @agents_lock: protects @iocs and @agent
 * @iocs: controllers that it has or is about to have
 * @agent: of each port, by number, while there are controllers; NULL where a port has none
 * @rwsem: protects the rest, and the controllers
 * @change_id: see struct ib_dm_iou_info
 * @slot: the controllers; slot 1 is the first
 */
struct dm_unit {
	struct ib_device *device;
	struct mutex agents_lock;
	unsigned int iocs;
	struct ib_mad_agent **agent;
	struct rw_semaphore rwsem;
	u16 change_id;
	struct ib_dm_ioc *slot[IB_DM_MAX_SLOTS];
};

/* agent.c */
int dm_agents_begin(struct dm_unit *unit);
void dm_agents_end(struct dm_unit *unit);
bool dm_port_has_agent(struct ib_device *device, u32 port_num);

/* answer.c */
u16 dm_answer(struct dm_unit *unit, u16 attr_id, u32 attr_mod, void *data);

#endif
