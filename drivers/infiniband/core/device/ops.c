// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Operation tables of drivers: how a device gets them, and whether they suffice for kernel verbs.
 */
#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>

#include "device.h"

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
 * ib_set_device_ops() - add operations to a device
 * @device: device that is not registered
 * @ops: table; members that are not set, or that @device has already, are ignored
 *
 * A driver may call it several times, most specific table first. Owner, driver id and ABI version
 * must agree between tables that name them. Context: any.
 */
void ib_set_device_ops(struct ib_device *device, const struct ib_device_ops *ops)
{
	const unsigned long *from = (const void *)ops + FIRST_WORD;
	unsigned long *to = (void *)&device->ops + FIRST_WORD;

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

	for (size_t word = 0; word < WORDS; word++)
		if (!to[word])
			to[word] = from[word];
}
EXPORT_SYMBOL(ib_set_device_ops);

/**
 * ib_has_kernel_verbs() - can kernel consumers work with a device?
 * @ops: the device's operations
 *
 * Return: true if it has all operations that they require.
 */
bool ib_has_kernel_verbs(const struct ib_device_ops *ops)
{
	return ops->query_device && ops->query_port && ops->get_port_immutable &&
	       ops->alloc_pd && ops->dealloc_pd && ops->get_dma_mr && ops->reg_user_mr &&
	       ops->dereg_mr && ops->create_cq && ops->destroy_cq && ops->poll_cq &&
	       ops->req_notify_cq && ops->create_qp && ops->modify_qp && ops->destroy_qp &&
	       ops->post_send && ops->post_recv;
}
