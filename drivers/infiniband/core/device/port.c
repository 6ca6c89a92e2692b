// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ports of a device: their life, and their constant attributes.
 */
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "device.h"

/* Freed by RCU, because walks of the table of net devices read the core part of a port. */
struct rdma_port_cores {
	struct rcu_head rcu;
	struct rdma_port_core port[];
};

static unsigned int port_slots(const struct ib_device *device)
{
	return rdma_end_port(device) + 1;
}

/**
 * ib_ports_setup() - make the ports of a device
 * @device: the device, with its port count set; ports made earlier are kept
 *
 * Return: 0, -ENOMEM, or -EINVAL for an impossible number of ports.
 */
int ib_ports_setup(struct ib_device *device)
{
	unsigned int slots = port_slots(device);
	struct rdma_port_cores *cores;
	struct ib_port_data *data;

	if (device->port_data)
		return 0;
	if (device->phys_port_cnt > RDMA_MAX_PORTS)
		return -EINVAL;

	data = kcalloc(slots, sizeof(*data), GFP_KERNEL);
	cores = kzalloc(struct_size(cores, port, slots), GFP_KERNEL);
	if (!data || !cores) {
		kfree(cores);
		kfree(data);
		return -ENOMEM;
	}
	for (u32 port_num = 0; port_num < slots; port_num++) {
		struct rdma_port_core *core = &cores->port[port_num];

		data[port_num].ib_dev = device;
		data[port_num].core = core;
		core->device = device;
		core->port_num = port_num;
		spin_lock_init(&core->netdev_lock);
		INIT_HLIST_NODE(&core->netdev_link);
		mutex_init(&core->counter.lock);
	}

	device->port_data = data;
	return 0;
}

/**
 * ib_ports_read_immutable() - read the constant attributes of the ports from the driver
 * @device: device with ports, being registered
 *
 * Return: 0, -EINVAL for an unusable description, or what the driver returned.
 */
int ib_ports_read_immutable(struct ib_device *device)
{
	u32 port_num;
	int ret;

	if (!device->ops.get_port_immutable)
		return -EINVAL;
	rdma_for_each_port(device, port_num) {
		struct ib_port_immutable *immutable = &device->port_data[port_num].immutable;

		ret = device->ops.get_port_immutable(device, port_num, immutable);
		if (ret)
			return ret;
		if (immutable->max_mad_size && !rdma_cap_ib_mad(device, port_num)) {
			ibdev_err(device, "port %u has MADs of %u bytes but cannot do them\n",
				  port_num, immutable->max_mad_size);
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * ib_ports_release() - free the ports
 * @device: device that has them; no port is in the net device table
 */
void ib_ports_release(struct ib_device *device)
{
	struct rdma_port_cores *cores =
		container_of(device->port_data[0].core, struct rdma_port_cores, port[0]);

	for (unsigned int port_num = 0; port_num < port_slots(device); port_num++)
		mutex_destroy(&cores->port[port_num].counter.lock);
	kfree(device->port_data);
	device->port_data = NULL;
	kfree_rcu(cores, rcu);
}

/**
 * ib_port_immutable_read() - get the constant attributes of a port
 * @dev: registered device
 * @port: valid port number
 *
 * Context: any.
 * Return: a pointer that lives as long as the device.
 */
const struct ib_port_immutable *ib_port_immutable_read(struct ib_device *dev, unsigned int port)
{
	WARN_ON(!rdma_is_port_valid(dev, port));
	return &dev->port_data[port].immutable;
}
EXPORT_SYMBOL(ib_port_immutable_read);
