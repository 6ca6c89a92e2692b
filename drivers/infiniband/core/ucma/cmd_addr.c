// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands: addresses and routes.
 */
#include <rdma/ib_addr.h>

#include "ucma.h"

/* ---- BIND_IP, BIND ---- */

/**
 * ucma_check_bind_ip() - is it an address of IPv4 or IPv6?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_bind_ip(struct ucma_call *call)
{
	struct sockaddr_in6 *addr = &call->req.bind_ip.addr;

	if (!rdma_addr_size_in6(addr))
		return rdma_refuse(-EINVAL, "addr: family %u is not for BIND_IP",
				   addr->sin6_family);
	return 0;
}

/**
 * ucma_bind_ip() - BIND_IP
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_bind_ip(struct ucma_call *call)
{
	return ucma_cm->bind_addr(call->id->cm, (struct sockaddr *)&call->req.bind_ip.addr);
}

/* An address of any family, whose length is given. */
static int check_addr(const char *name, struct __kernel_sockaddr_storage *addr, u16 size)
{
	if (size && size == rdma_addr_size_kss(addr))
		return 0;
	return rdma_refuse(-EINVAL, "%s: %u bytes are no address of family %u", name, size,
			   addr->ss_family);
}

/**
 * ucma_check_bind() - is it an address, of the length that is given?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_bind(struct ucma_call *call)
{
	struct rdma_ucm_bind *req = &call->req.bind;

	if (req->reserved)
		return rdma_refuse(-EINVAL, "reserved %u is not 0", req->reserved);
	return check_addr("addr", &req->addr, req->addr_size);
}

/**
 * ucma_bind() - BIND
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_bind(struct ucma_call *call)
{
	return ucma_cm->bind_addr(call->id->cm, (struct sockaddr *)&call->req.bind.addr);
}

/* ---- RESOLVE_IP, RESOLVE_ADDR ---- */

/**
 * ucma_check_resolve_ip() - are the addresses of IPv4 or IPv6?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_resolve_ip(struct ucma_call *call)
{
	struct rdma_ucm_resolve_ip *req = &call->req.resolve_ip;

	if (req->src_addr.sin6_family && !rdma_addr_size_in6(&req->src_addr))
		return rdma_refuse(-EINVAL, "src_addr: family %u is not for RESOLVE_IP",
				   req->src_addr.sin6_family);
	if (!rdma_addr_size_in6(&req->dst_addr))
		return rdma_refuse(-EINVAL, "dst_addr: family %u is not for RESOLVE_IP",
				   req->dst_addr.sin6_family);
	return 0;
}

static int resolve(struct ucma_id *id, void *src, const void *dst, u32 timeout_ms)
{
	int ret = ucma_reserve(id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);

	if (ret)
		return ret;
	ret = ucma_cm->resolve_addr(id->cm, src, dst, timeout_ms);
	if (ret)
		ucma_unreserve(id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);
	return ret;
}

/**
 * ucma_resolve_ip() - RESOLVE_IP
 * @call: the request
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_resolve_ip(struct ucma_call *call)
{
	struct rdma_ucm_resolve_ip *req = &call->req.resolve_ip;

	return resolve(call->id, &req->src_addr, &req->dst_addr, req->timeout_ms);
}

/**
 * ucma_check_resolve_addr() - are they addresses, of the lengths that are given?
 * @call: the request; without size, there is no source address
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_resolve_addr(struct ucma_call *call)
{
	struct rdma_ucm_resolve_addr *req = &call->req.resolve_addr;
	int ret;

	if (req->reserved)
		return rdma_refuse(-EINVAL, "reserved %u is not 0", req->reserved);
	if (!req->src_size)
		memset(&req->src_addr, 0, sizeof(req->src_addr));
	ret = req->src_size ? check_addr("src_addr", &req->src_addr, req->src_size) : 0;
	return ret ?: check_addr("dst_addr", &req->dst_addr, req->dst_size);
}

/**
 * ucma_resolve_addr() - RESOLVE_ADDR
 * @call: the request
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_resolve_addr(struct ucma_call *call)
{
	struct rdma_ucm_resolve_addr *req = &call->req.resolve_addr;

	return resolve(call->id, &req->src_addr, &req->dst_addr, req->timeout_ms);
}

/* ---- RESOLVE_ROUTE ---- */

/**
 * ucma_resolve_route() - RESOLVE_ROUTE
 * @call: the request
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_resolve_route(struct ucma_call *call)
{
	int ret = ucma_reserve(call->id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);

	if (ret)
		return ret;
	ret = ucma_cm->resolve_route(call->id->cm, call->req.resolve_route.timeout_ms);
	if (ret)
		ucma_unreserve(call->id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);
	return ret;
}
