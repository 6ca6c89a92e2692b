/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What cache/ offers the other folders of the core, beyond <rdma/ib_cache.h>.
 *
 * Each port has a GID table, a P_Key table and the few port attributes that the fast setup paths
 * need. They are filled when the device is registered and refreshed when the device reports an
 * event that may have changed them; lookups never call the driver. The GIDs of a RoCE port are
 * those of net devices, and roce/ puts them into the table.
 */
#ifndef RDMA_CORE_CACHE_H
#define RDMA_CORE_CACHE_H

#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

void ib_cache_init(void);

/* Set-up and teardown of a device's cache, called by register/ in this order. */
int ib_cache_setup_one(struct ib_device *device);
void ib_cache_cleanup_one(struct ib_device *device);
void ib_cache_release_one(struct ib_device *device);

/**
 * typedef gid_keep_fn - decides whether a GID stays in its table
 * @attr: the GID and its attributes
 * @standard: its index is one of those reserved for standard GIDs
 * @context: the caller's
 *
 * Return: true to keep it.
 */
typedef bool (*gid_keep_fn)(const struct ib_gid_attr *attr, bool standard, void *context);

/* GIDs of RoCE ports, which roce/ chooses. */
int ib_cache_gid_add(const struct ib_gid_attr *attr, bool standard, bool *changed);
bool ib_cache_gid_prune(struct ib_device *device, u32 port_num, gid_keep_fn keep, void *context);
void ib_cache_gid_on_free(void (*freed)(void));

/* A pre-handler of events, which tests call directly. */
void ib_cache_event(const struct ib_event *event);

/**
 * struct rdma_cached_port - attributes of a port as the last refresh found them
 * @state: logical state
 * @lid: LID of the port
 * @sm_lid: LID of the subnet manager, 0 before there is one
 * @lmc: low bits of a LID that the port ignores, 0 to 7
 * @sm_sl: service level to the subnet manager
 * @subnet_timeout: longest time through the subnet, 4.096 us << n
 */
struct rdma_cached_port {
	enum ib_port_state state;
	u32 lid;
	u32 sm_lid;
	u8 lmc;
	u8 sm_sl;
	u8 subnet_timeout;
};

int ib_cache_get_port(struct ib_device *device, u32 port_num, struct rdma_cached_port *attrs);

void ib_get_cached_subnet_prefix(struct ib_device *device, u32 port_num, u64 *sn_pfx);

#endif
