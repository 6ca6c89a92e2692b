// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices, their ports, and what is asked of the MAD layer.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext.h>

#include "cm.h"

static bool sender_is_known(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
			    const struct ib_grh *grh)
{
	return !rdma_protocol_roce(device, port_num) ||
	       rdma_wc_sender_is_known(device, port_num, wc, grh);
}

static const struct cm_mad_ops real_mad = {
	.register_agent = ib_register_mad_agent,
	.unregister_agent = ib_unregister_mad_agent,
	.create = ib_create_send_mad,
	.free = ib_free_send_mad,
	.post = ib_post_send_mad,
	.modify = ib_modify_mad,
	.free_recv = ib_free_recv_mad,
	.sender_is_known = sender_is_known,
};

/* The MAD layer of devices that come from now on */
const struct cm_mad_ops *cm_mad = &real_mad;
EXPORT_SYMBOL_IF_KUNIT(cm_mad);

/* Delivers events and ends TIMEWAITs. */
struct workqueue_struct *cm_wq;
EXPORT_SYMBOL_IF_KUNIT(cm_wq);

/**
 * cm_device_of() - get the manager's part of a device
 * @ib: device that exists
 *
 * Return: it, with a reference; NULL if the device has no port for it, or is going.
 */
struct cm_device *cm_device_of(struct ib_device *ib)
{
	struct cm_device *device = ib_get_client_data(ib, &cm_client);

	/* The caller may use the device, so it is not removed meanwhile. */
	if (!device || READ_ONCE(device->gone))
		return NULL;
	cm_device_get(device);
	return device;
}

/**
 * cm_device_get() - take a reference
 * @device: device
 */
void cm_device_get(struct cm_device *device)
{
	refcount_inc(&device->refs);
}

/**
 * cm_device_put() - return a reference
 * @device: device
 */
void cm_device_put(struct cm_device *device)
{
	if (!refcount_dec_and_test(&device->refs))
		return;
	for (u32 i = 0; i < device->num_ports; i++)
		kfree(device->ports[i]);
	kfree(device);
}

/**
 * cm_device_use() - begin what has to end before the agents of a device go
 * @device: device
 *
 * Context: any.
 * Return: false if the device is gone, so that nothing may begin; else cm_device_unuse() ends it.
 */
bool cm_device_use(struct cm_device *device)
{
	/* Messages go on arriving while the device is left, and must not keep it. */
	return !READ_ONCE(device->gone) && refcount_inc_not_zero(&device->users);
}

/**
 * cm_device_unuse() - undo cm_device_use()
 * @device: device, which may be gone when this returns
 *
 * Context: any.
 */
void cm_device_unuse(struct cm_device *device)
{
	if (refcount_dec_and_test(&device->users))
		complete(&device->unused);
}

/**
 * cm_port_of_path() - find the port at which a path starts
 * @device: device
 * @path: path
 * @sgid_attr: its source GID if it is known, else NULL
 *
 * Return: the port, or NULL if it is none of the device's, or not one that uses the manager.
 */
struct cm_port *cm_port_of_path(struct cm_device *device, struct sa_path_rec *path,
				const struct ib_gid_attr *sgid_attr)
{
	const struct ib_gid_attr *found = NULL;
	u32 index = U32_MAX;

	if (!sgid_attr) {
		found = rdma_find_gid(device->ib, &path->sgid, sa_conv_pathrec_to_gid_type(path),
				      NULL);
		if (IS_ERR(found))
			return NULL;
		sgid_attr = found;
	}
	if (sgid_attr->device == device->ib)
		index = sgid_attr->port_num;
	if (found)
		rdma_put_gid_attr(found);
	return index < device->num_ports ? device->ports[index] : NULL;
}

/* Its functions are those of client.c. */
struct ib_client cm_client = {
	.name = "cm",
};
