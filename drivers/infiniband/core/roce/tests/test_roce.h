/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A RoCE device without hardware, and net devices above others, for the KUnit suites of roce/.
 */
#ifndef RDMA_CORE_TEST_ROCE_H
#define RDMA_CORE_TEST_ROCE_H

#include <net/bonding.h>

#include "../../addr/tests/fake_net.h"
#include "../../device/tests/test_device.h"
#include "../roce_priv.h"

#define ROCE_GIDS 12
/* Port numbers begin with 1. */
#define ROCE_PORTS (TEST_PORTS + 1)

/**
 * struct roce_device - the device, and the GIDs of its driver
 * @base: the test device; both ports are RoCE ports with ROCE_GIDS GIDs
 * @types: RDMA_CORE_CAP_PROT_* that the ports announce
 * @told: GIDs that the driver has now, by port and index; zero if it has none there
 * @mac: the MAC addresses that they had when they were added
 * @wrong: number of calls of add_gid and del_gid that do not fit the earlier calls
 * @refuse: return value of add_gid; 0 to accept the GID
 */
struct roce_device {
	struct test_device base;
	u32 types;
	union ib_gid told[ROCE_PORTS][ROCE_GIDS];
	u8 mac[ROCE_PORTS][ROCE_GIDS][ETH_ALEN];
	unsigned int wrong;
	int refuse;
};

/**
 * struct upper_dev - a net device above others
 * @dev: the net device; what it sends is lost
 * @slave: for bonds: the active slave
 * @asked: headers of the packet for which a bond was to choose a slave
 * @asked_len: their length
 */
struct upper_dev {
	struct net_device *dev;
	struct slave slave;
	u8 asked[128];
	unsigned int asked_len;
};

struct roce_device *roce_device_begin(struct kunit *test, u32 types, struct net_device *first,
				      struct net_device *second);
void roce_device_end(struct roce_device *device);
void roce_settle(void);
int roce_index(struct roce_device *device, u32 port_num, enum ib_gid_type type, const char *text,
	       struct net_device *netdev);
unsigned int roce_count(struct roce_device *device, u32 port_num);

struct upper_dev *upper_begin(struct kunit *test, const char *name, bool bond);
void upper_end(struct upper_dev *upper);
int upper_link(struct upper_dev *upper, struct net_device *lower);
void upper_unlink(struct upper_dev *upper, struct net_device *lower);
void upper_activate(struct upper_dev *bond, struct net_device *slave);

#endif
