/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A subnet with I/O units whose answers are set by tests, and a device that is connected to it.
 */
#ifndef RDMA_CORE_IOSCAN_FAKE_H
#define RDMA_CORE_IOSCAN_FAKE_H

#include <kunit/test.h>
#include <linux/completion.h>

#include "../../device/tests/test_device.h"
#include "../ioscan_priv.h"

#define FAKE_UNITS	3
#define FAKE_SLOTS	255
#define FAKE_ENTRIES	5

/**
 * struct fake_unit - an I/O unit; unit N has LID 0x10 + N, GUID 0xN00 and port GUID 0xN01
 * @there: the subnet manager knows it
 * @capable: its port has device management
 * @hidden: the subnet manager does not know of @capable yet
 * @as: number of the unit to whose node its port belongs
 * @sl: service level of the path
 * @no_path: there is no path
 * @silent: its agent never answers
 * @busy: its agent answers that it is busy
 * @blocked: its agent does not answer before the requesting port is removed
 * @restless: its change id differs in each answer
 * @info: its IOUnitInfo
 * @guid: GUID of the controller in each slot, from 1
 * @entries: number of services in a controller's profile
 * @answered: number of services for which it has an entry
 * @version: version of its controllers
 */
struct fake_unit {
	bool there;
	bool capable;
	bool hidden;
	unsigned int as;
	u8 sl;
	bool no_path;
	bool silent;
	bool busy;
	bool blocked;
	bool restless;
	struct ib_dm_iou_info info;
	u64 guid[FAKE_SLOTS + 1];
	unsigned int entries;
	unsigned int answered;
	u16 version;
};

/**
 * struct fake_fabric - the subnet
 * @device: the device, NULL before it is registered
 * @ports: how many of its ports search
 * @port: the first one as it searches, and the second one
 * @unit: the units
 * @matches: the subnet manager can compare only the set bits of capability masks
 * @error: the error that it answers, or 0
 * @size: bytes of a PortInfoRecord
 * @searches: how often ports have begun to search
 * @gets: requests that units have received
 * @faults: number of wrong requests
 * @asked: completed when a blocked agent has received a request
 * @cancelled: completed when the requests of the port are cancelled
 */
struct fake_fabric {
	struct test_device *device;
	u32 ports;
	struct ios_port *port[3];
	struct fake_unit unit[FAKE_UNITS + 1];
	bool matches;
	int error;
	unsigned int size;
	atomic_t searches;
	atomic_t gets;
	atomic_t faults;
	struct completion asked;
	struct completion cancelled;
};

struct fake_fabric *fake_fabric_begin(struct kunit *test);
void fake_fabric_end(struct kunit *test);
void fake_connect(struct kunit *test);
void fake_disconnect(void);
void fake_offer(unsigned int unit, unsigned int slots);
void fake_notice(u16 trap, u16 lid, bool capable, u8 other);

#endif
