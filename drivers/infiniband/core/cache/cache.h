/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the cache room offers the other rooms of the core, beyond <rdma/ib_cache.h>.
 *
 * Each port has a GID table, a P_Key table and the few port attributes that the fast setup paths
 * need. They are filled when the device is registered and refreshed when the device reports an
 * event that may have changed them; lookups never call the driver.
 */
#ifndef RDMA_CORE_CACHE_H
#define RDMA_CORE_CACHE_H

#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

void ib_cache_init(void);

/* Life of a device's part, called by register/ in this order. */
int ib_cache_setup_one(struct ib_device *device);
void ib_cache_cleanup_one(struct ib_device *device);
void ib_cache_release_one(struct ib_device *device);

/* For tests; otherwise a pre-handler of events. */
void ib_cache_event(const struct ib_event *event);

void ib_get_cached_subnet_prefix(struct ib_device *device, u32 port_num, u64 *sn_pfx);

/* Names of GID types as users write them ("IB/RoCE v1", "RoCE v2"). */
const char *ib_cache_gid_type_str(enum ib_gid_type gid_type);
int ib_cache_gid_parse_type_str(const char *buf);

#endif
