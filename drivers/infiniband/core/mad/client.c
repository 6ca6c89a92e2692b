// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addition and removal of devices: see mad.h.
 */
#include <linux/slab.h>

#include "access.h"
#include "mad.h"
#include "mad_priv.h"

/**
 * mad_port_end() - end a port that was opened
 * @port: port; agents other than the core's own keep the structure allocated
 *
 * Context: may sleep.
 */
void mad_port_end(struct mad_port *port)
{
	mad_port_hide(port);
	mad_qps_close(port);
	for (unsigned int i = 0; i < ARRAY_SIZE(port->own); i++)
		if (port->own[i])
			mad_agent_end(port->own[i]);
	mad_port_put(port);
}

static void own_send_done(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	/* The replies of the core's own agents free themselves. */
	WARN_ON_ONCE(1);
}

static int make_own(struct mad_port *port)
{
	const struct ib_mad_agent template = { .send_handler = own_send_done };

	for (unsigned int i = 0; i < ARRAY_SIZE(port->own); i++) {
		struct mad_agent *own;

		if (!port->qp[i].qp)
			continue;
		own = mad_agent_make(&port->qp[i], NULL, &template);
		if (IS_ERR(own))
			return PTR_ERR(own);
		refcount_inc(&port->refs);
		port->own[i] = own;
	}
	return 0;
}

static struct ib_client mad_client;

/**
 * mad_port_begin() - let a port exchange MADs
 * @port: port of mad_port_alloc(); freed after an error
 *
 * Context: may sleep.
 * Return: 0, to be ended with mad_port_end(); -ENOMEM; the driver's error.
 */
int mad_port_begin(struct mad_port *port)
{
	int ret = mad_qps_open(port);

	if (ret) {
		mad_port_put(port);
		return ret;
	}
	ret = make_own(port);
	if (!ret)
		ret = mad_qps_start(port);
	if (ret)
		mad_port_end(port);
	return ret;
}

static struct mad_port *port_add(struct ib_device *device, u32 port_num)
{
	struct mad_port *port = mad_port_alloc(device, port_num);
	int ret;

	if (!port)
		return ERR_PTR(-ENOMEM);
	ret = mad_port_begin(port);
	if (ret)
		return ERR_PTR(ret);
	mad_port_show(port);
	ret = mad_drops_show(port);
	if (ret) {
		mad_port_end(port);
		return ERR_PTR(ret);
	}
	return port;
}

static void remove_device(struct ib_device *device, void *data)
{
	struct mad_port **ports = data;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		if (ports[port_num]) {
			mad_drops_hide(ports[port_num]);
			mad_port_end(ports[port_num]);
		}
	kfree(ports);
}

static int add_device(struct ib_device *device)
{
	struct mad_port **ports;
	int ret = -EOPNOTSUPP;
	u32 port_num;

	ports = kcalloc(rdma_end_port(device) + 1, sizeof(*ports), GFP_KERNEL);
	if (!ports)
		return -ENOMEM;
	rdma_for_each_port(device, port_num) {
		struct mad_port *port;

		if (!rdma_cap_ib_mad(device, port_num))
			continue;
		port = port_add(device, port_num);
		ret = PTR_ERR_OR_ZERO(port);
		if (ret)
			break;
		ports[port_num] = port;
	}
	if (ret) {
		remove_device(device, ports);
		return ret;
	}
	ib_set_client_data(device, &mad_client, ports);
	return 0;
}

static struct ib_client mad_client = {
	.name = "mad",
	.add = add_device,
	.remove = remove_device,
};

/**
 * ib_mad_init() - exchange MADs at the ports of all devices
 *
 * Context: while the module is initialised, before there are other clients.
 * Return: 0 or a negative errno.
 */
int ib_mad_init(void)
{
	int ret = mad_access_init();

	if (ret)
		return ret;
	ret = ib_register_client(&mad_client);
	if (ret)
		mad_access_exit();
	return ret;
}

/**
 * ib_mad_exit() - end what ib_mad_init() began
 */
void ib_mad_exit(void)
{
	ib_unregister_client(&mad_client);
	mad_access_exit();
	mad_agents_exit();
}
