// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices that come and go: ports get an agent when a device comes; when it goes, ids lose their
 * routes.
 */
#include <linux/slab.h>

#include "../sysfs/sysfs.h"
#include "cm.h"

/* Sets or clears IsCommunicationManagementSupported of a port, if the driver can. */
static int announce_port(struct cm_port *port, bool present)
{
	struct ib_port_modify modify = {
		.set_port_cap_mask = present ? IB_PORT_CM_SUP : 0,
		.clr_port_cap_mask = present ? 0 : IB_PORT_CM_SUP,
	};

	return ib_modify_port(port->device->ib, port->num, 0, &modify);
}

static void port_stop(struct cm_port *port)
{
	announce_port(port, false);
	port->device->mad->unregister_agent(port->agent);
	ib_port_unregister_client_groups(port->device->ib, port->num, cm_counter_groups);
}

static int port_start(struct cm_port *port)
{
	struct cm_device *device = port->device;
	struct ib_mad_agent *agent;
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_CM,
		.mgmt_class_version = CM_CLASS_VERSION,
	};
	int ret = ib_port_register_client_groups(device->ib, port->num, cm_counter_groups);

	if (ret)
		return ret;
	__set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	agent = device->mad->register_agent(device->ib, port->num, IB_QPT_GSI, &req, 0, cm_sent,
					    cm_received, port, 0);
	if (IS_ERR(agent)) {
		ret = PTR_ERR(agent);
		goto groups;
	}
	ret = announce_port(port, true);
	if (ret)
		goto agent;
	/* Messages are dropped until now. Pairs with the one in is_wanted() of arrive.c. */
	smp_store_release(&port->agent, agent);
	return 0;

agent:
	device->mad->unregister_agent(agent);
groups:
	ib_port_unregister_client_groups(device->ib, port->num, cm_counter_groups);
	return ret;
}

/* Ports that messages reach must be known before: ports are made first, and started then. */
static int make_ports(struct cm_device *device)
{
	u32 num;

	rdma_for_each_port(device->ib, num) {
		struct cm_port *port;

		if (!rdma_cap_ib_cm(device->ib, num))
			continue;
		port = kzalloc(sizeof(*port), GFP_KERNEL);
		if (!port)
			return -ENOMEM;
		port->device = device;
		port->num = num;
		spin_lock_init(&port->lock);
		INIT_LIST_HEAD(&port->arrived);
		INIT_WORK(&port->work, cm_arrived);
		device->ports[num] = port;
	}
	return 0;
}

static void changed(struct work_struct *work)
{
	cm_directions_check(container_of(work, struct cm_device, changed));
}

/* The ports that directed listens name may have changed. */
static void on_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct cm_device *device = container_of(handler, struct cm_device, handler);

	switch (event->event) {
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_PORT_ACTIVE:
		queue_work(cm_wq, &device->changed);
		break;
	default:
		break;
	}
}

/* The ids have no route afterwards, and the address handles are gone. */
static void leave(struct cm_device *device)
{
	cm_ids_leave(device);
	cm_device_unuse(device);
	wait_for_completion(&device->unused);
}

static int start_ports(struct cm_device *device)
{
	unsigned int started = 0;
	u32 i;
	int ret = 0;

	for (i = 0; i < device->num_ports && !ret; i++) {
		if (!device->ports[i])
			continue;
		ret = port_start(device->ports[i]);
		started += !ret;
	}
	if (!ret)
		return started ? 0 : -EOPNOTSUPP;
	/* The one that failed has undone what it did. */
	leave(device);
	for (i--; i-- > 0;)
		if (device->ports[i])
			port_stop(device->ports[i]);
	return ret;
}

static int add_device(struct ib_device *ib)
{
	struct cm_device *device;
	int ret;

	device = kzalloc(struct_size(device, ports, rdma_end_port(ib) + 1), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	device->num_ports = rdma_end_port(ib) + 1;
	device->ib = ib;
	device->mad = cm_mad;
	device->ack_delay = ib->attrs.local_ca_ack_delay;
	device->listens = RB_ROOT;
	device->callers = RB_ROOT;
	INIT_LIST_HEAD(&device->directed);
	INIT_WORK(&device->changed, changed);
	INIT_IB_EVENT_HANDLER(&device->handler, ib, on_event);
	spin_lock_init(&device->listen_lock);
	refcount_set(&device->refs, 1);
	refcount_set(&device->users, 1);
	init_completion(&device->unused);

	ret = make_ports(device);
	if (!ret)
		ret = start_ports(device);
	if (ret) {
		cm_device_put(device);
		return ret;
	}
	ib_set_client_data(ib, &cm_client, device);
	ib_register_event_handler(&device->handler);
	return 0;
}

static void remove_device(struct ib_device *ib, void *client_data)
{
	struct cm_device *device = client_data;

	ib_unregister_event_handler(&device->handler);
	cancel_work_sync(&device->changed);
	leave(device);
	for (u32 i = 0; i < device->num_ports; i++)
		if (device->ports[i])
			port_stop(device->ports[i]);
	cm_device_put(device);
}

/**
 * cm_devices_begin() - look after all devices, those that are here and those that will come
 *
 * Return: 0, or ib_register_client()'s error.
 */
int cm_devices_begin(void)
{
	cm_client.add = add_device;
	cm_client.remove = remove_device;
	return ib_register_client(&cm_client);
}

/**
 * cm_devices_end() - look after no device any more
 */
void cm_devices_end(void)
{
	ib_unregister_client(&cm_client);
}
