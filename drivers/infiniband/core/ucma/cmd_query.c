// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands: what is known of an id's addresses and paths.
 */
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_marshall.h>

#include "ucma.h"

/* Addresses and route belong to the CM id, and handlers change them. */
static void lock_route(struct rdma_cm_id *cm)
{
	ucma_cm->lock_handler(cm);
}

static void unlock_route(struct rdma_cm_id *cm)
{
	ucma_cm->unlock_handler(cm);
}

DEFINE_GUARD(cm_route, struct rdma_cm_id *, lock_route(_T), unlock_route(_T))

/* ---- QUERY ---- */

static void put_dev(struct rdma_ucm_query_addr_resp *resp, struct rdma_cm_id *cm)
{
	if (!cm->device)
		return;
	resp->node_guid = (__force u64)cm->device->node_guid;
	resp->port_num = cm->port_num;
	resp->ibdev_index = cm->device->index;
	resp->pkey = (__force u16)cpu_to_be16(ib_addr_get_pkey(&cm->route.addr.dev_addr));
}

static u16 put_addr(struct __kernel_sockaddr_storage *dst, const struct sockaddr_storage *src)
{
	int size = rdma_addr_size((const struct sockaddr *)src);

	memcpy(dst, src, size);
	return size;
}

static size_t query_addr(struct rdma_cm_id *cm, struct rdma_ucm_query_addr_resp *resp)
{
	resp->src_size = put_addr(&resp->src_addr, &cm->route.addr.src_addr);
	resp->dst_size = put_addr(&resp->dst_addr, &cm->route.addr.dst_addr);
	put_dev(resp, cm);
	return sizeof(*resp);
}

/* The InfiniBand address for an IP address. */
static void put_ib_addr(struct __kernel_sockaddr_storage *dst, struct rdma_cm_id *cm,
			struct sockaddr_storage *src, u16 pkey, const union ib_gid *gid)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)dst;

	if (src->ss_family == AF_IB) {
		memcpy(ib, src, sizeof(*ib));
		return;
	}
	ib->sib_family = AF_IB;
	ib->sib_pkey = (__force __be16)pkey;
	memcpy(&ib->sib_addr, gid, sizeof(ib->sib_addr));
	ib->sib_sid = ucma_cm->get_service_id(cm, (struct sockaddr *)src);
}

static size_t query_gid(struct rdma_cm_id *cm, struct rdma_ucm_query_addr_resp *resp)
{
	union ib_gid sgid = {}, dgid = {};

	put_dev(resp, cm);
	ucma_cm->read_gids(cm, &sgid, &dgid);
	put_ib_addr(&resp->src_addr, cm, &cm->route.addr.src_addr, resp->pkey, &sgid);
	put_ib_addr(&resp->dst_addr, cm, &cm->route.addr.dst_addr, resp->pkey, &dgid);
	resp->src_size = sizeof(struct sockaddr_ib);
	resp->dst_size = sizeof(struct sockaddr_ib);
	return sizeof(*resp);
}

static void put_path(struct ib_path_rec_data *dst, struct sa_path_rec *src)
{
	struct sa_path_rec ib;

	dst->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	if (src->rec_type == SA_PATH_REC_TYPE_OPA)
		sa_convert_path_opa_to_ib(&ib, src);
	ib_sa_pack_path(src->rec_type == SA_PATH_REC_TYPE_OPA ? &ib : src, dst->path_rec);
}

/* num_paths counts all, those without room for them, too. */
static size_t query_path(struct rdma_cm_id *cm, struct ucma_call *call)
{
	size_t head = sizeof(struct rdma_ucm_query_path_resp);
	size_t room = (call->out - head) / sizeof(struct ib_path_rec_data);
	unsigned int known = cm->route.num_pri_alt_paths;
	unsigned int paths = min3(room, (size_t)known, (size_t)UCMA_PATHS);

	call->resp.paths.num_paths = known;
	for (unsigned int i = 0; i < paths; i++)
		put_path(&call->resp.paths.data[i], &cm->route.path_rec[i]);
	return head + paths * sizeof(struct ib_path_rec_data);
}

/**
 * ucma_query() - QUERY
 * @call: the request; what it asks for needs room of its own
 *
 * Return: 0; -ENOSPC; -ENOSYS for what is not known.
 */
int ucma_query(struct ucma_call *call)
{
	size_t least = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);
	u32 option = call->req.query.option;
	struct rdma_cm_id *cm = call->id->cm;

	if (option > RDMA_USER_CM_QUERY_GID)
		return rdma_refuse(-ENOSYS, "option %u: the last one is %u", option,
				   RDMA_USER_CM_QUERY_GID);
	if (option == RDMA_USER_CM_QUERY_PATH)
		least = sizeof(struct rdma_ucm_query_path_resp);
	if (call->out < least)
		return rdma_refuse(-ENOSPC, "response: %u bytes < %zu", call->out, least);

	guard(cm_route)(cm);
	if (option == RDMA_USER_CM_QUERY_ADDR)
		call->resp_len = query_addr(cm, &call->resp.addr);
	else if (option == RDMA_USER_CM_QUERY_PATH)
		call->resp_len = query_path(cm, call);
	else
		call->resp_len = query_gid(cm, &call->resp.addr);
	return 0;
}

/* ---- QUERY_ROUTE ---- */

/* IPv4, or as much of any other as there is room for. */
static void put_addr_in6(struct sockaddr_in6 *dst, const struct sockaddr_storage *src)
{
	memcpy(dst, src, src->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(*dst));
}

/* The GIDs of a path that is not known yet. */
static void put_gids(struct rdma_ucm_query_route_resp *resp, struct rdma_cm_id *cm)
{
	struct ib_user_path_rec *path = &resp->ib_route[0];
	union ib_gid *dgid = (union ib_gid *)path->dgid, *sgid = (union ib_gid *)path->sgid;
	struct rdma_addr *addr = &cm->route.addr;

	if (rdma_protocol_roce(cm->device, cm->port_num)) {
		rdma_ip2gid((struct sockaddr *)&addr->dst_addr, dgid);
		rdma_ip2gid((struct sockaddr *)&addr->src_addr, sgid);
		path->pkey = cpu_to_be16(0xffff);
		return;
	}
	rdma_addr_get_dgid(&addr->dev_addr, dgid);
	rdma_addr_get_sgid(&addr->dev_addr, sgid);
	if (rdma_cap_ib_sa(cm->device, cm->port_num))
		path->pkey = cpu_to_be16(ib_addr_get_pkey(&addr->dev_addr));
}

static void put_route(struct rdma_ucm_query_route_resp *resp, struct rdma_cm_id *cm)
{
	int known = cm->route.num_pri_alt_paths;

	resp->node_guid = (__force u64)cm->device->node_guid;
	resp->port_num = cm->port_num;
	resp->ibdev_index = cm->device->index;
	if (rdma_protocol_iwarp(cm->device, cm->port_num)) {
		put_gids(resp, cm);
		return;
	}
	resp->num_paths = known;
	if (!known)
		put_gids(resp, cm);
	for (int i = 0; i < min_t(int, known, ARRAY_SIZE(resp->ib_route)); i++)
		ib_copy_path_rec_to_user(&resp->ib_route[i], &cm->route.path_rec[i]);
}

/**
 * ucma_query_route() - QUERY_ROUTE
 * @call: the request; old programs have no room for the device's index
 *
 * Return: 0.
 */
int ucma_query_route(struct ucma_call *call)
{
	struct rdma_ucm_query_route_resp *resp = &call->resp.route;
	struct rdma_cm_id *cm = call->id->cm;

	guard(cm_route)(cm);
	put_addr_in6(&resp->src_addr, &cm->route.addr.src_addr);
	put_addr_in6(&resp->dst_addr, &cm->route.addr.dst_addr);
	if (cm->device)
		put_route(resp, cm);
	call->resp_len = sizeof(*resp);
	return 0;
}
