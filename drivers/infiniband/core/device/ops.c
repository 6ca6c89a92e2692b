// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Merging of driver operation tables.
 */
#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>

#include "internal.h"

/*
 * Behind the four members that describe the driver, the table holds nothing but pointers and object
 * sizes, so it merges word by word and a new operation needs no line here.
 */
#define FIRST_WORD offsetof(struct ib_device_ops, device_group)
#define WORDS ((sizeof(struct ib_device_ops) - FIRST_WORD) / sizeof(unsigned long))

static_assert(sizeof(void *) == sizeof(unsigned long));
static_assert(sizeof(size_t) == sizeof(unsigned long));
static_assert(FIRST_WORD % sizeof(unsigned long) == 0);
static_assert(FIRST_WORD + WORDS * sizeof(unsigned long) == sizeof(struct ib_device_ops));

/**
 * ib_set_device_ops - add operations to a device
 * @device: device that is not registered
 * @ops: table; only members that are set count, and only where @device has none yet
 *
 * A driver may call it several times, most specific table first. Owner, driver id and ABI version
 * must agree between tables that name them. Context: any.
 */
void ib_set_device_ops(struct ib_device *device, const struct ib_device_ops *ops)
{
	const unsigned long *from = (const void *)ops + FIRST_WORD;
	unsigned long *to = (void *)&device->ops + FIRST_WORD;
	size_t word;

	if (ops->driver_id != RDMA_DRIVER_UNKNOWN) {
		WARN_ON(device->ops.driver_id != RDMA_DRIVER_UNKNOWN &&
			device->ops.driver_id != ops->driver_id);
		device->ops.driver_id = ops->driver_id;
	}
	if (ops->owner) {
		WARN_ON(device->ops.owner && device->ops.owner != ops->owner);
		device->ops.owner = ops->owner;
	}
	if (ops->uverbs_abi_ver)
		device->ops.uverbs_abi_ver = ops->uverbs_abi_ver;
	device->ops.uverbs_no_driver_id_binding |= ops->uverbs_no_driver_id_binding;

	for (word = 0; word < WORDS; word++)
		if (!to[word])
			to[word] = from[word];
}
EXPORT_SYMBOL(ib_set_device_ops);
