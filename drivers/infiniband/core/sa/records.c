// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries for one record: paths, GUIDs, multicast members, services, and the subnet manager's
 * ClassPortInfo.
 *
 * They differ only in the record and in the callback's type. A macro would be shorter, but the
 * functions could then not be found by their names.
 */
#include <linux/slab.h>

#include "sa_priv.h"

/* ---- paths ---- */

struct path_query {
	struct ib_sa_query query;
	void (*callback)(int status, struct sa_path_rec *resp, unsigned int num_prs,
			 void *context);
	void *context;
};

static void path_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct path_query *path = container_of(query, struct path_query, query);
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

	if (!path->callback)
		return;
	if (!wc) {
		path->callback(status, NULL, 0, path->context);
		return;
	}
	ib_sa_unpack_path(sa_answer_record(wc), &rec);
	path->callback(status, &rec, 1, path->context);
}

/* Called with @count paths of the local service's response */
static void path_found(struct ib_sa_query *query, struct sa_path_rec *recs, unsigned int count)
{
	struct path_query *path = container_of(query, struct path_query, query);

	if (path->callback)
		path->callback(0, recs, count, path->context);
}

static int path_ask(struct ib_sa_query *query, gfp_t gfp)
{
	return sa_local_ask(query, gfp, path_found);
}

static const struct sa_detour path_detour = {
	.ask = path_ask,
	.cancel = sa_local_cancel,
};

/**
 * ib_sa_path_rec_get() - query a path
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @rec: values that the path must have
 * @comp_mask: members of @rec that the query uses, IB_SA_PATH_REC_*
 * @timeout_ms: time until the query fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: called once unless an error is returned: with 0 and a path, which is valid until it
 *	returns, or several if the local service responds; with -EINVAL and the record of the
 *	manager's answer if that has an error status; without a record with -ETIMEDOUT, -EINTR if
 *	the query was cancelled or the device is removed, -EPROTO if an answer does not belong to
 *	the request, -ENOMEM if it could not be sent to a new manager, or -EIO. It may sleep
 * @context: for @callback
 * @query: receives the query, for ib_sa_cancel_query(), before @callback can be called
 *
 * The query goes to the local service of user space (ibacm) if there is one, and to the subnet
 * manager otherwise. If the manager changes before it has answered, the query is sent to the new
 * one.
 *
 * Context: depends on @gfp_mask.
 * Return: id for ib_sa_cancel_query(), above 0; -EOPNOTSUPP for an Omni-Path port, -ENODEV for a
 * port without subnet administration, -EAGAIN while there is no subnet manager, -ENOMEM, or the MAD
 * layer's error.
 */
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
		       struct sa_path_rec *rec, ib_sa_comp_mask comp_mask,
		       unsigned long timeout_ms, gfp_t gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp,
					unsigned int num_prs, void *context),
		       void *context, struct ib_sa_query **query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = IB_MGMT_METHOD_GET, .attr_id = IB_SA_ATTR_PATH_REC,
		.comp_mask = comp_mask, .timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct path_query *path;
	int ret = sa_refuse_opa_path(device, port_num, rec);

	if (ret)
		return ret;
	path = kzalloc(sizeof(*path), gfp_mask);
	if (!path)
		return -ENOMEM;
	path->query.deliver = path_deliver;
	path->query.detour = &path_detour;
	path->callback = callback;
	path->context = context;
	ret = sa_query_init(&path->query, &request);
	if (ret)
		return ret;
	ib_sa_pack_path(rec, sa_query_record(&path->query));
	return sa_query_send(&path->query, gfp_mask, query);
}
EXPORT_SYMBOL(ib_sa_path_rec_get);

/* ---- GUIDs ---- */

struct guidinfo_query {
	struct ib_sa_query query;
	void (*callback)(int status, struct ib_sa_guidinfo_rec *resp, void *context);
	void *context;
};

static void guidinfo_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct guidinfo_query *guids = container_of(query, struct guidinfo_query, query);
	struct ib_sa_guidinfo_rec rec;

	if (!guids->callback)
		return;
	if (wc)
		sa_unpack_guidinfo(sa_answer_record(wc), &rec);
	guids->callback(status, wc ? &rec : NULL, guids->context);
}

/**
 * ib_sa_guid_info_rec_query() - read or change alias GUIDs of a port
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @rec: the block of GUIDs
 * @comp_mask: members of @rec that the query uses, IB_SA_GUIDINFO_REC_*
 * @method: IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET or IB_SA_METHOD_DELETE
 * @timeout_ms: time until the query fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: as for ib_sa_path_rec_get()
 * @context: for @callback
 * @sa_query: as for ib_sa_path_rec_get()
 *
 * Context: depends on @gfp_mask.
 * Return: as for ib_sa_path_rec_get(), and -EINVAL for any other method.
 */
int ib_sa_guid_info_rec_query(struct ib_sa_client *client, struct ib_device *device,
			      u32 port_num, struct ib_sa_guidinfo_rec *rec,
			      ib_sa_comp_mask comp_mask, u8 method,
			      unsigned long timeout_ms, gfp_t gfp_mask,
			      void (*callback)(int status, struct ib_sa_guidinfo_rec *resp,
					       void *context),
			      void *context, struct ib_sa_query **sa_query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = method, .attr_id = IB_SA_ATTR_GUID_INFO_REC,
		.comp_mask = comp_mask, .timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct guidinfo_query *guids;
	int ret = sa_check_method(method);

	if (ret)
		return ret;
	guids = kzalloc(sizeof(*guids), gfp_mask);
	if (!guids)
		return -ENOMEM;
	guids->query.deliver = guidinfo_deliver;
	guids->callback = callback;
	guids->context = context;
	ret = sa_query_init(&guids->query, &request);
	if (ret)
		return ret;
	sa_pack_guidinfo(rec, sa_query_record(&guids->query));
	return sa_query_send(&guids->query, gfp_mask, sa_query);
}
EXPORT_SYMBOL(ib_sa_guid_info_rec_query);

/* ---- multicast members ---- */

struct mcmember_query {
	struct ib_sa_query query;
	void (*callback)(int status, struct ib_sa_mcmember_rec *resp, void *context);
	void *context;
};

static void mcmember_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct mcmember_query *member = container_of(query, struct mcmember_query, query);
	struct ib_sa_mcmember_rec rec;

	if (wc)
		sa_unpack_mcmember(sa_answer_record(wc), &rec);
	member->callback(status, wc ? &rec : NULL, member->context);
}

/**
 * ib_sa_mcmember_rec_query() - join or leave a multicast group, or query it
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @method: IB_MGMT_METHOD_SET to join, IB_SA_METHOD_DELETE to leave, IB_MGMT_METHOD_GET to query
 * @rec: the membership
 * @comp_mask: members of @rec that the request uses, IB_SA_MCMEMBER_REC_*
 * @timeout_ms: time until the request fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: as for ib_sa_path_rec_get()
 * @context: for @callback
 * @sa_query: as for ib_sa_path_rec_get()
 *
 * Only for mcast/, which counts the members of each group on this host.
 *
 * Context: depends on @gfp_mask.
 * Return: as for ib_sa_path_rec_get().
 */
int ib_sa_mcmember_rec_query(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
			     u8 method, struct ib_sa_mcmember_rec *rec, ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, gfp_t gfp_mask,
			     void (*callback)(int status, struct ib_sa_mcmember_rec *resp,
					      void *context),
			     void *context, struct ib_sa_query **sa_query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = method, .attr_id = IB_SA_ATTR_MC_MEMBER_REC,
		.comp_mask = comp_mask, .timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct mcmember_query *member = kzalloc(sizeof(*member), gfp_mask);
	int ret;

	if (!member)
		return -ENOMEM;
	member->query.deliver = mcmember_deliver;
	member->callback = callback;
	member->context = context;
	ret = sa_query_init(&member->query, &request);
	if (ret)
		return ret;
	sa_pack_mcmember(rec, sa_query_record(&member->query));
	return sa_query_send(&member->query, gfp_mask, sa_query);
}

/* ---- services ---- */

struct service_query {
	struct ib_sa_query query;
	void (*callback)(int status, struct ib_sa_service_rec *resp, void *context);
	void *context;
};

static void service_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct service_query *service = container_of(query, struct service_query, query);
	struct ib_sa_service_rec rec;

	if (!service->callback)
		return;
	if (wc)
		ib_sa_unpack_service(sa_answer_record(wc), &rec);
	service->callback(status, wc ? &rec : NULL, service->context);
}

/**
 * ib_sa_service_rec_query() - look a service up, register it or delete it
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @method: IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET or IB_SA_METHOD_DELETE
 * @rec: the service
 * @comp_mask: members of @rec that the request uses, IB_SA_SERVICE_REC_*
 * @timeout_ms: time until the request fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: as for ib_sa_path_rec_get()
 * @context: for @callback
 * @sa_query: as for ib_sa_path_rec_get()
 *
 * To look up all matching services, use ib_sa_query_table(); to keep a service registered, use
 * ib_sa_register_service().
 *
 * Context: depends on @gfp_mask.
 * Return: as for ib_sa_path_rec_get(), and -EINVAL for any other method.
 */
int ib_sa_service_rec_query(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
			    u8 method, struct ib_sa_service_rec *rec, ib_sa_comp_mask comp_mask,
			    unsigned long timeout_ms, gfp_t gfp_mask,
			    void (*callback)(int status, struct ib_sa_service_rec *resp,
					     void *context),
			    void *context, struct ib_sa_query **sa_query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = method, .attr_id = IB_SA_ATTR_SERVICE_REC,
		.comp_mask = comp_mask, .timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct service_query *service;
	int ret = sa_check_method(method);

	if (ret)
		return ret;
	service = kzalloc(sizeof(*service), gfp_mask);
	if (!service)
		return -ENOMEM;
	service->query.deliver = service_deliver;
	service->callback = callback;
	service->context = context;
	ret = sa_query_init(&service->query, &request);
	if (ret)
		return ret;
	ib_sa_pack_service(rec, sa_query_record(&service->query));
	return sa_query_send(&service->query, gfp_mask, sa_query);
}
EXPORT_SYMBOL(ib_sa_service_rec_query);

/* ---- ClassPortInfo ---- */

struct class_query {
	struct ib_sa_query query;
	void (*callback)(int status, struct ib_class_port_info *info, void *context);
	void *context;
};

static void class_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct class_query *class = container_of(query, struct class_query, query);

	class->callback(status, wc ? sa_answer_record(wc) : NULL, class->context);
}

/**
 * ib_sa_classport_info_query() - query the subnet manager's ClassPortInfo, i.e. its capabilities
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @timeout_ms: time until the query fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: as for ib_sa_path_rec_get(); the info is in network byte order
 * @context: for @callback
 * @sa_query: as for ib_sa_path_rec_get()
 *
 * Context: depends on @gfp_mask.
 * Return: as for ib_sa_path_rec_get().
 */
int ib_sa_classport_info_query(struct ib_sa_client *client, struct ib_device *device,
			       u32 port_num, unsigned long timeout_ms, gfp_t gfp_mask,
			       void (*callback)(int status, struct ib_class_port_info *info,
						void *context),
			       void *context, struct ib_sa_query **sa_query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = IB_MGMT_METHOD_GET, .attr_id = IB_SA_ATTR_CLASS_PORTINFO,
		.timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct class_query *class = kzalloc(sizeof(*class), gfp_mask);
	int ret;

	static_assert(sizeof(struct ib_class_port_info) == 72);
	if (!class)
		return -ENOMEM;
	class->query.deliver = class_deliver;
	class->callback = callback;
	class->context = context;
	ret = sa_query_init(&class->query, &request);
	if (ret)
		return ret;
	return sa_query_send(&class->query, gfp_mask, sa_query);
}
EXPORT_SYMBOL(ib_sa_classport_info_query);
