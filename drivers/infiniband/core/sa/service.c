// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Services that stay registered with the subnet manager until their owner unregisters them.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "standing.h"

/**
 * struct ib_sa_service - a service of this host
 * @standing: renews the registration when needed
 * @rec: the service as its owner described it
 * @mask: components of @rec that are registered
 * @stored: the record as the subnet manager has stored it
 * @callback: called when the state of the registration changes
 * @context: for @callback
 */
struct ib_sa_service {
	struct sa_standing standing;
	struct ib_sa_service_rec rec;
	ib_sa_comp_mask mask;
	struct ib_sa_service_rec stored;
	void (*callback)(int status, const struct ib_sa_service_rec *rec, void *context);
	void *context;
};

static struct ib_sa_service *service_of(struct sa_standing *standing)
{
	return container_of(standing, struct ib_sa_service, standing);
}

static void answer(int status, struct ib_sa_service_rec *rec, void *context)
{
	struct ib_sa_service *service = context;

	if (!status)
		service->stored = *rec;
	sa_standing_answer(&service->standing, status);
}

static int ask(struct sa_standing *standing, bool on, struct ib_sa_query **query)
{
	struct ib_sa_service *service = service_of(standing);
	ib_sa_comp_mask key = IB_SA_SERVICE_REC_SERVICE_ID | IB_SA_SERVICE_REC_SERVICE_GID |
			      IB_SA_SERVICE_REC_SERVICE_PKEY | IB_SA_SERVICE_REC_SERVICE_KEY;

	return ib_sa_service_rec_query(standing->client, standing->port->device,
				       standing->port->port_num,
				       on ? IB_MGMT_METHOD_SET : IB_SA_METHOD_DELETE,
				       &service->rec, on ? service->mask : key,
				       SA_STANDING_TIMEOUT, GFP_KERNEL, answer, service, query);
}

static void result(struct sa_standing *standing, int status)
{
	struct ib_sa_service *service = service_of(standing);

	service->callback(status, status ? NULL : &service->stored, service->context);
}

static unsigned int lease(struct sa_standing *standing)
{
	u32 seconds = be32_to_cpu(service_of(standing)->rec.lease);

	return seconds == IB_DEFAULT_SERVICE_LEASE ? 0 : max(seconds, 2U);
}

/* Compares the components by which the manager identifies a record, see ask(). */
static bool same(const struct sa_standing *one, const struct sa_standing *other)
{
	const struct ib_sa_service_rec *a = &container_of(one, struct ib_sa_service, standing)->rec;
	const struct ib_sa_service_rec *b =
		&container_of(other, struct ib_sa_service, standing)->rec;

	return a->id == b->id && !memcmp(&a->gid, &b->gid, sizeof(a->gid)) && a->pkey == b->pkey &&
	       !memcmp(a->key, b->key, sizeof(a->key));
}

static void release(struct sa_standing *standing)
{
	kfree(service_of(standing));
}

static const struct sa_standing_ops service_ops = {
	.ask = ask,
	.result = result,
	.lease = lease,
	.same = same,
	.release = release,
};

static int check_gid(struct ib_device *device, u32 port_num, const union ib_gid *gid)
{
	const struct ib_gid_attr *attr = rdma_find_gid_by_port(device, gid, IB_GID_TYPE_IB,
							       port_num, NULL);

	if (IS_ERR(attr))
		return rdma_refuse(-ENOENT, "the service's GID is none of port %u", port_num);
	rdma_put_gid_attr(attr);
	return 0;
}

/**
 * ib_sa_register_service() - register a service and keep it registered
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @rec: the service: id, gid (one of the port's), pkey, lease, key, name and data
 * @data_mask: data components of @rec to register, IB_SA_SERVICE_REC_SERVICE_DATA*
 * @callback: called with 0 and the record as the subnet manager has stored it when the service has
 *	been registered, and with an error and no record when it could not be registered or renewed;
 *	it is then tried again. It may sleep, but not unregister the service
 * @context: for @callback
 *
 * The lease is renewed when half of it is over, and when the subnet manager is replaced or has lost
 * its state.
 *
 * Context: may sleep.
 * Return: the service, for ib_sa_unregister_service(); -EOPNOTSUPP for an Omni-Path port, -ENODEV
 * for a port without subnet administration, -ENOENT if the port's table does not have the GID,
 * -ENOMEM.
 */
struct ib_sa_service *ib_sa_register_service(struct ib_sa_client *client,
					     struct ib_device *device, u32 port_num,
					     const struct ib_sa_service_rec *rec,
					     ib_sa_comp_mask data_mask,
					     void (*callback)(int status,
							      const struct ib_sa_service_rec *rec,
							      void *context),
					     void *context)
{
	struct sa_port *port = sa_port_find(device, port_num);
	int ret = sa_refuse_opa(device, port_num);
	struct ib_sa_service *service;

	if (!ret && !port)
		ret = -ENODEV;
	if (!ret)
		ret = check_gid(device, port_num, &rec->gid);
	if (ret)
		return ERR_PTR(ret);
	service = kzalloc(sizeof(*service), GFP_KERNEL);
	if (!service)
		return ERR_PTR(-ENOMEM);
	if (!sa_port_get(port)) {
		kfree(service);
		return ERR_PTR(-ENODEV);
	}
	service->rec = *rec;
	service->mask = IB_SA_SERVICE_REC_SERVICE_ID | IB_SA_SERVICE_REC_SERVICE_GID |
			IB_SA_SERVICE_REC_SERVICE_PKEY | IB_SA_SERVICE_REC_SERVICE_LEASE |
			IB_SA_SERVICE_REC_SERVICE_KEY | IB_SA_SERVICE_REC_SERVICE_NAME | data_mask;
	service->callback = callback;
	service->context = context;
	sa_standing_begin(&service->standing, client, port, &service_ops);
	return service;
}
EXPORT_SYMBOL(ib_sa_register_service);

/**
 * ib_sa_unregister_service() - unregister a service
 * @service: the service
 *
 * Sends the deletion of its record without waiting for the answer; ib_sa_unregister_client() waits
 * for it. On return the callback is not running any more. Context: may sleep; not from the
 * callback.
 */
void ib_sa_unregister_service(struct ib_sa_service *service)
{
	sa_standing_end(&service->standing);
}
EXPORT_SYMBOL(ib_sa_unregister_service);
