// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adds and removes devices, and handles their events.
 *
 * The address of the subnet manager is read from the cache again after every event that may have
 * changed it. The handler here is the first that is registered for a device, so this is done before
 * any client's handler is called. Queries that have been posted to an address which is no longer
 * right are sent again, to the new one.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_compat.h>

#include "../mad/mad.h"
#include "sa_priv.h"

static const struct sa_mad_ops real_mad = {
	.register_agent = ib_register_mad_agent,
	.unregister_agent = ib_unregister_mad_agent,
	.create = ib_create_send_mad,
	.free = ib_free_send_mad,
	.post = ib_post_send_mad,
	.cancel = ib_cancel_mad,
	.free_recv = ib_free_recv_mad,
	.refuse_recv = mad_refuse_recv,
};

/* The operations of the MAD layer for devices that are added from now on */
const struct sa_mad_ops *sa_mad = &real_mad;
EXPORT_SYMBOL_IF_KUNIT(sa_mad);

/**
 * struct sa_device - what is kept for each device
 * @handler: handles the device's events
 */
struct sa_device {
	struct ib_event_handler handler;
};

/* First and longest delay between attempts to make an address handle, in seconds */
#define AGAIN_FIRST 1
#define AGAIN_MOST 64

/* Tries again after a delay, since the next event of the port may be far away. */
static void refresh_later(struct sa_port *port)
{
	queue_delayed_work(system_unbound_wq, &port->again, port->again_after * HZ);
	port->again_after = min(2 * port->again_after, AGAIN_MOST);
}

/*
 * If the address is unchanged, its handle is kept: most events do not mean a new manager. Queries
 * that have been posted are sent again only if there is a manager to send them to; otherwise they
 * time out.
 */
static void refresh(struct sa_port *port)
{
	struct sa_manager *manager = NULL, *old, seen = {};

	guard(mutex)(&port->refresh);
	if (sa_manager_look_up(port, &seen)) {
		if (port->manager && sa_manager_same(port->manager, &seen))
			return;
		manager = sa_manager_make(port, &seen);
		if (manager)
			port->again_after = AGAIN_FIRST;
		else
			refresh_later(port);
	}
	scoped_guard(spinlock_irqsave, &port->lock) {
		old = port->manager;
		port->manager = manager;
	}
	sa_manager_put(old);
	if (manager)
		sa_queries_moved(port);
}

static void refresh_again(struct work_struct *work)
{
	refresh(container_of(work, struct sa_port, again.work));
}

static void handle_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct sa_port *port;

	if (!ib_event_changes_port(event->event))
		return;
	port = sa_port_find(event->device, event->element.port_num);
	if (!port)
		return;
	refresh(port);
	/* A new manager, or one that has lost its state, does not know the standing requests. */
	if (event->event == IB_EVENT_SM_CHANGE || event->event == IB_EVENT_CLIENT_REREGISTER ||
	    event->event == IB_EVENT_LID_CHANGE || event->event == IB_EVENT_PORT_ACTIVE)
		sa_standing_renew_all(port);
}

static struct sa_port *make_port(struct ib_device *device, u32 port_num)
{
	struct sa_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->device = device;
	port->port_num = port_num;
	port->mad = sa_mad;
	mutex_init(&port->refresh);
	INIT_DELAYED_WORK(&port->again, refresh_again);
	port->again_after = AGAIN_FIRST;
	spin_lock_init(&port->lock);
	refcount_set(&port->users, 1);
	init_completion(&port->idle);
	INIT_LIST_HEAD(&port->standing);
	INIT_LIST_HEAD(&port->leaving);
	mutex_init(&port->notices_lock);
	init_rwsem(&port->subscribers_rwsem);
	INIT_LIST_HEAD(&port->subscribers);
	port->agent = port->mad->register_agent(device, port_num, IB_QPT_GSI, NULL,
						IB_MGMT_RMPP_VERSION, sa_send_handler,
						sa_recv_handler, port, 0);
	if (IS_ERR(port->agent)) {
		kfree(port);
		return NULL;
	}
	return port;
}

/* Ends every query, with -EINTR for its callback, and then the agent. */
static void end_port(struct rdma_port_core *core)
{
	struct sa_port *port = core->sa;

	if (!port)
		return;
	cancel_delayed_work_sync(&port->again);
	scoped_guard(spinlock_irqsave, &port->lock)
		port->gone = true;
	WRITE_ONCE(core->sa, NULL);
	sa_queries_cancel(port);
	sa_port_put(port);
	wait_for_completion(&port->idle);
	/* The manager's address handle belongs to the agent's PD. */
	sa_manager_put(port->manager);
	port->mad->unregister_agent(port->agent);
	WARN_ON(!list_empty(&port->standing) || port->notices);
	mutex_destroy(&port->refresh);
	mutex_destroy(&port->notices_lock);
	kfree(port);
}

static bool has_sa(struct ib_device *device, u32 port_num)
{
	return rdma_cap_ib_sa(device, port_num) && !rdma_cap_opa_ah(device, port_num);
}

static struct ib_client sa_client;

/*
 * A port whose agent cannot be registered, as on a device without kernel QPs, gets no struct
 * sa_port.
 */
static int attach(struct ib_device *device)
{
	struct sa_device *sa;
	bool any = false;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		any |= has_sa(device, port_num);
	if (!any)
		return -EOPNOTSUPP;
	sa = kzalloc(sizeof(*sa), GFP_KERNEL);
	if (!sa)
		return -ENOMEM;
	rdma_for_each_port(device, port_num)
		if (has_sa(device, port_num))
			WRITE_ONCE(rdma_port(device, port_num)->sa, make_port(device, port_num));
	ib_set_client_data(device, &sa_client, sa);
	INIT_IB_EVENT_HANDLER(&sa->handler, device, handle_event);
	ib_register_event_handler(&sa->handler);
	rdma_for_each_port(device, port_num)
		if (sa_port_find(device, port_num))
			refresh(sa_port_find(device, port_num));
	return 0;
}

static void detach(struct ib_device *device, void *client_data)
{
	struct sa_device *sa = client_data;
	u32 port_num;

	if (!sa)
		return;
	ib_unregister_event_handler(&sa->handler);
	rdma_for_each_port(device, port_num)
		end_port(rdma_port(device, port_num));
	kfree(sa);
}

static struct ib_client sa_client = {
	.name = "sa",
	.add = attach,
	.remove = detach,
	/*
	 * Devices without kernel QPs are accepted, too: registering an agent fails for each of
	 * their ports.
	 */
	.no_kverbs_req = true,
};

/**
 * sa_init() - begin to serve devices, and register the netlink operations of the local service
 *
 * Context: while the module is initialised, after mad/.
 * Return: 0 or -ENOMEM.
 */
int sa_init(void)
{
	int ret = ib_register_client(&sa_client);

	if (!ret)
		sa_local_init();
	return ret;
}

/**
 * sa_exit() - undo sa_init()
 */
void sa_exit(void)
{
	ib_unregister_client(&sa_client);
	sa_local_exit();
	sa_queries_exit();
}
