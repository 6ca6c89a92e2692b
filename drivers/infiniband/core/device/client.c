// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Clients: kernel consumers that are notified of every device.
 *
 * A client is attached to a device when its add() has succeeded; the mark CLIENT_ATTACHED of the
 * client's entry in device->client_data says so. Devices and clients come and go independently, so
 * each side, when it arrives, attaches itself to everything that is there, and both may meet:
 *
 * - attaching checks, under clients_rwsem, that device and client are both still visible in their
 *   tables and that the pair has no entry yet;
 * - a side that leaves hides itself in its table first, and then detaches what is attached: so it
 *   sees an attachment made just before, and there are none afterwards;
 * - an attached pair holds a reference on each side, dropped after remove() has returned. Both
 *   sides wait for theirs, whichever of them detaches.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/kmod.h>
#include <linux/netdevice.h>

#include "device.h"

#define CLIENT_REGISTERED XA_MARK_1
#define CLIENT_ATTACHED XA_MARK_1

/* Protects ib_clients and CLIENT_REGISTERED. No client is called while it is held. */
static DECLARE_RWSEM(ib_clients_rwsem);
/*
 * The clients by client_id. Ids ascend in the order of registration, which is the order of add().
 */
static DEFINE_XARRAY_FLAGS(ib_clients, XA_FLAGS_ALLOC);
/* Ids at and above this one have not been given out. */
static u32 ids_used;

static bool client_get(struct ib_client *client)
{
	return refcount_inc_not_zero(&client->uses);
}

static void client_put(struct ib_client *client)
{
	if (refcount_dec_and_test(&client->uses))
		complete(&client->uses_zero);
}

static bool is_attached(struct ib_device *device, struct ib_client *client)
{
	return xa_get_mark(&device->client_data, client->client_id, CLIENT_ATTACHED);
}

static bool both_shown(struct ib_device *device, struct ib_client *client)
{
	return ib_registry_shown(device) &&
	       xa_get_mark(&ib_clients, client->client_id, CLIENT_REGISTERED);
}

/*
 * The caller holds references to both. An entry exists from before add(), which replaces its NULL
 * value by the client's data, until after remove(). A client whose add() fails is not attached to
 * the device; that is no error of the registration.
 */
static int attach(struct ib_device *device, struct ib_client *client)
{
	int ret;

	if (!device->kverbs_provider && !client->no_kverbs_req)
		return 0;

	down_write(&device->core->clients_rwsem);
	if (!both_shown(device, client))
		ret = -ENODEV;
	else
		ret = xa_insert(&device->client_data, client->client_id, NULL, GFP_KERNEL);
	if (ret) {
		up_write(&device->core->clients_rwsem);
		return ret == -ENOMEM ? ret : 0;
	}
	refcount_inc(&device->refcount);
	refcount_inc(&client->uses);

	/* Detaching and attaching take the lock for writing, so they wait for add() to end. */
	downgrade_write(&device->core->clients_rwsem);
	ret = client->add ? client->add(device) : 0;
	if (!ret)
		xa_set_mark(&device->client_data, client->client_id, CLIENT_ATTACHED);
	else
		xa_erase(&device->client_data, client->client_id);
	up_read(&device->core->clients_rwsem);
	if (ret) {
		/* A client that is not for such a device need not be missed. */
		if (ret != -EOPNOTSUPP)
			ibdev_err(device, "client %s cannot use it: %d\n", client->name, ret);
		client_put(client);
		ib_device_put(device);
	}
	return 0;
}

/* If the pair is not attached, either it never was or another thread is detaching it. */
static void detach(struct ib_device *device, struct ib_client *client)
{
	void *data;

	scoped_guard(rwsem_write, &device->core->clients_rwsem) {
		if (!is_attached(device, client))
			return;
		xa_clear_mark(&device->client_data, client->client_id, CLIENT_ATTACHED);
		data = xa_load(&device->client_data, client->client_id);
	}
	/* No lock is held: remove() may wait for anything, such as user space. */
	if (client->remove)
		client->remove(device, data);
	xa_erase(&device->client_data, client->client_id);
	client_put(client);
	ib_device_put(device);
}

/*
 * Returns the registered client with the smallest id from *id on, with a reference, and moves *id
 * past it.
 */
static struct ib_client *next_registered(unsigned long *id)
{
	struct ib_client *client;

	guard(rwsem_read)(&ib_clients_rwsem);
	client = xa_find(&ib_clients, id, ULONG_MAX, CLIENT_REGISTERED);
	if (client)
		WARN_ON(!client_get(client));
	(*id)++;
	return client;
}

/*
 * Returns the client with the largest id below *id that may be attached, with a reference, and sets
 * *id to its id.
 */
static struct ib_client *previous_known(unsigned long *id)
{
	struct ib_client *client;

	guard(rwsem_read)(&ib_clients_rwsem);
	while (*id > 0) {
		client = xa_load(&ib_clients, --*id);
		if (client && client_get(client))
			return client;
	}
	return NULL;
}

/**
 * ib_clients_attach_all() - attach a device to the registered clients, in order of registration
 * @device: device that has just been shown; held by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int ib_clients_attach_all(struct ib_device *device)
{
	struct ib_client *client;
	unsigned long id = 0;
	int ret;

	while ((client = next_registered(&id))) {
		ret = attach(device, client);
		client_put(client);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ib_clients_detach_all() - detach a device from its clients, latest registered first
 * @device: device that has been hidden
 *
 * A client that another thread is detaching may still be busy on return; it holds a reference.
 */
void ib_clients_detach_all(struct ib_device *device)
{
	struct ib_client *client;
	unsigned long id;

	scoped_guard(rwsem_read, &ib_clients_rwsem)
		id = ids_used;
	while ((client = previous_known(&id))) {
		detach(device, client);
		client_put(client);
	}
}

static int assign_id(struct ib_client *client)
{
	int ret;

	guard(rwsem_write)(&ib_clients_rwsem);
	/* Ids of the last clients that have unregistered are free again. */
	while (ids_used && !xa_load(&ib_clients, ids_used - 1))
		ids_used--;
	client->client_id = ids_used;
	ret = xa_insert(&ib_clients, client->client_id, client, GFP_KERNEL);
	if (ret)
		return ret;
	ids_used++;
	xa_set_mark(&ib_clients, client->client_id, CLIENT_REGISTERED);
	return 0;
}

static void detach_all(struct ib_client *client)
{
	struct ib_device *device;
	unsigned long index;

	for_each_known_device(device, index)
		detach(device, client);
}

static int attach_all(struct ib_client *client)
{
	struct ib_device *device;
	unsigned long index;
	int ret;

	for_each_registered_device(device, index) {
		ret = attach(device, client);
		if (!ret)
			continue;
		ib_device_put(device);
		return ret;
	}
	return 0;
}

/**
 * ib_register_client() - be notified of every present and future device
 * @client: the client; add() is called once for each device and, if it succeeded, remove() once
 *          before the device or the client is unregistered
 *
 * Clients without no_kverbs_req see only devices that offer all kernel verbs. add() has returned
 * for all present devices when this returns. What add() returns is logged, unless it is
 * -EOPNOTSUPP: the client is not for such a device. Context: may sleep; not from add() or remove().
 *
 * Return: 0 or -ENOMEM.
 */
int ib_register_client(struct ib_client *client)
{
	int ret;

	refcount_set(&client->uses, 1);
	init_completion(&client->uses_zero);
	ret = assign_id(client);
	if (ret)
		return ret;
	ret = attach_all(client);
	if (ret)
		ib_unregister_client(client);
	return ret;
}
EXPORT_SYMBOL(ib_register_client);

/**
 * ib_unregister_client() - stop being notified of devices
 * @client: a registered client
 *
 * remove() has returned for each device when this returns, and nothing of the client is called any
 * more. Context: may sleep; not from add() or remove().
 */
void ib_unregister_client(struct ib_client *client)
{
	scoped_guard(rwsem_write, &ib_clients_rwsem)
		xa_clear_mark(&ib_clients, client->client_id, CLIENT_REGISTERED);
	detach_all(client);
	client_put(client);
	wait_for_completion(&client->uses_zero);
	scoped_guard(rwsem_write, &ib_clients_rwsem)
		xa_erase(&ib_clients, client->client_id);
}
EXPORT_SYMBOL(ib_unregister_client);

/**
 * ib_set_client_data() - store a client's data for a device
 * @device: device the client is attached or being attached to
 * @client: the client
 * @data: value for ib_get_client_data() and remove()
 *
 * Context: any that may take a spinlock; does not fail, because attaching has allocated the entry.
 */
void ib_set_client_data(struct ib_device *device, struct ib_client *client, void *data)
{
	WARN_ON(xa_is_err(xa_store(&device->client_data, client->client_id, data, GFP_NOWAIT)));
}
EXPORT_SYMBOL(ib_set_client_data);

/*
 * Calls visit() for each client attached to the device until one returns non-zero. No client is
 * detached meanwhile, because detaching takes the lock for writing.
 */
static int visit_attached(struct ib_device *device,
			  int (*visit)(struct ib_device *device, struct ib_client *client,
				       void *data, void *context),
			  void *context)
{
	struct ib_client *client;
	unsigned long id = 0;
	int ret = 0;

	guard(rwsem_read)(&device->core->clients_rwsem);
	while (!ret && (client = next_registered(&id))) {
		if (is_attached(device, client))
			ret = visit(device, client,
				    xa_load(&device->client_data, client->client_id), context);
		client_put(client);
	}
	return ret;
}

static int visit_rename(struct ib_device *device, struct ib_client *client, void *data,
			void *context)
{
	if (client->rename)
		client->rename(device, data);
	return 0;
}

/**
 * ib_clients_rename() - tell the clients that a device's name has changed
 * @device: the device
 */
void ib_clients_rename(struct ib_device *device)
{
	visit_attached(device, visit_rename, NULL);
}

struct nl_info_request {
	const char *name;
	struct ib_client_nl_info *info;
};

/* Returns 1 if the client has answered, 0 if it does not serve this device or port, or an error. */
static int settle_nl_info(int ret, struct ib_client_nl_info *info)
{
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	if (WARN_ON(!info->cdev))
		return -EINVAL;
	get_device(info->cdev);
	return 1;
}

static int visit_nl_info(struct ib_device *device, struct ib_client *client, void *data,
			 void *context)
{
	struct nl_info_request *request = context;

	if (!client->get_nl_info || strcmp(client->name, request->name))
		return 0;
	return settle_nl_info(client->get_nl_info(device, data, request->info), request->info);
}

static int ask_global_nl_info(struct nl_info_request *request)
{
	struct ib_client *client;
	unsigned long id = 0;
	int ret = 0;

	while (!ret && (client = next_registered(&id))) {
		if (client->get_global_nl_info && !strcmp(client->name, request->name))
			ret = settle_nl_info(client->get_global_nl_info(request->info),
					     request->info);
		client_put(client);
	}
	return ret;
}

static int ask_nl_info(struct ib_device *device, struct nl_info_request *request)
{
	return device ? visit_attached(device, visit_nl_info, request) :
			ask_global_nl_info(request);
}

/**
 * ib_get_client_nl_info() - find a client's character device
 * @device: device the character device is for, or NULL for one that serves all devices
 * @client_name: name of the client, as in struct ib_client
 * @res: filled in on success; the caller puts @res->cdev
 *
 * A client that is not registered is loaded by its alias rdma-client-NAME, because user space may
 * ask before anything else has made it necessary.
 *
 * Context: may sleep; without locks that module loading takes.
 * Return: 0, -EOPNOTSUPP if no such client serves @device, or the client's error.
 */
int ib_get_client_nl_info(struct ib_device *device, const char *client_name,
			  struct ib_client_nl_info *res)
{
	struct nl_info_request request = { .name = client_name, .info = res };
	int ret = ask_nl_info(device, &request);

	if (!ret) {
		request_module("rdma-client-%s", client_name);
		ret = ask_nl_info(device, &request);
	}
	if (!ret)
		return -EOPNOTSUPP;
	return ret < 0 ? ret : 0;
}
EXPORT_SYMBOL_IF_KUNIT(ib_get_client_nl_info);

struct net_dev_request {
	u32 port;
	u16 pkey;
	const union ib_gid *gid;
	const struct sockaddr *addr;
	struct net_device *found;
};

static int visit_net_dev(struct ib_device *device, struct ib_client *client, void *data,
			 void *context)
{
	struct net_dev_request *request = context;

	if (client->get_net_dev_by_params)
		request->found = client->get_net_dev_by_params(device, request->port, request->pkey,
							       request->gid, request->addr, data);
	return !!request->found;
}

/**
 * ib_get_net_dev_by_params() - net device that a client has on top of an InfiniBand port
 * @dev: the device
 * @port: port number
 * @pkey: P_Key that the net device uses
 * @gid: GID it communicates with, or NULL for any
 * @addr: address it is configured with
 *
 * Context: may sleep.
 * Return: the net device with a reference for dev_put(), or NULL.
 */
struct net_device *ib_get_net_dev_by_params(struct ib_device *dev, u32 port, u16 pkey,
					    const union ib_gid *gid, const struct sockaddr *addr)
{
	struct net_dev_request request = { .port = port, .pkey = pkey, .gid = gid, .addr = addr };

	if (!rdma_protocol_ib(dev, port))
		return NULL;
	visit_attached(dev, visit_net_dev, &request);
	return request.found;
}
EXPORT_SYMBOL(ib_get_net_dev_by_params);
