// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE GIDs, which are IP addresses: they are resolved to Ethernet addresses over the net device of
 * the source GID.
 */
#include <kunit/visibility.h>
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_reject.h>

#include "addr_priv.h"

/* Milliseconds to wait for a peer's Ethernet address */
#define PEER_TIMEOUT 1000

struct gid_wait {
	struct completion done;
	int status;
};

static void resolved(int status, struct sockaddr *src_addr, struct rdma_dev_addr *addr,
		     void *context)
{
	struct gid_wait *wait = context;

	wait->status = status;
	complete(&wait->done);
}

/* As addr_route_look() */
static int look_by_gid(const union ib_gid *sgid, const union ib_gid *dgid,
		       const struct ib_gid_attr *sgid_attr, struct addr_route *route)
{
	struct addr_query query = { .sgid_attr = sgid_attr, .by_gid = true };

	rdma_gid2ip(&query.src.any, sgid);
	rdma_gid2ip(&query.dst.any, dgid);
	if (query.src.any.sa_family != query.dst.any.sa_family)
		return -EINVAL;
	return addr_route_look(&query, route);
}

/**
 * rdma_addr_find_l2_eth_by_grh() - Ethernet address that leads to a GID
 * @sgid: source GID
 * @dgid: destination GID
 * @dmac: receives the six bytes of the peer's address, or of the router's
 * @sgid_attr: entry of the source GID, of which the caller keeps a reference
 * @hoplimit: receives the number of hops that packets may make
 *
 * Context: may sleep, for up to a second.
 * Return: 0; -EINVAL for an IPv4 and an IPv6 address, and for a GID that has left its table;
 * -ENODEV for one without an interface; -ETIMEDOUT if the peer does not answer; the routing table's
 * error; -ENOMEM.
 */
int rdma_addr_find_l2_eth_by_grh(const union ib_gid *sgid, const union ib_gid *dgid, u8 *dmac,
				 const struct ib_gid_attr *sgid_attr, int *hoplimit)
{
	struct rdma_dev_addr addr = { .net = &init_net, .sgid_attr = sgid_attr };
	union addr_ip src, dst;
	struct addr_route route;
	struct gid_wait wait;
	int ret;

	/* A known neighbour needs no request, which would cost a work item. */
	if (!look_by_gid(sgid, dgid, sgid_attr, &route)) {
		ether_addr_copy(dmac, route.link.dst_dev_addr);
		*hoplimit = route.link.hoplimit;
		return 0;
	}
	rdma_gid2ip(&src.any, sgid);
	rdma_gid2ip(&dst.any, dgid);
	init_completion(&wait.done);
	ret = rdma_resolve_ip(&src.any, &dst.any, &addr, PEER_TIMEOUT, resolved, true, &wait);
	if (ret)
		return ret;
	wait_for_completion(&wait.done);
	if (wait.status)
		return rdma_refuse(wait.status, "nobody tells the Ethernet address of %pI6c",
				   dgid->raw);
	ether_addr_copy(dmac, addr.dst_dev_addr);
	*hoplimit = addr.hoplimit;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_addr_find_l2_eth_by_grh);

/**
 * addr_eth_is_known() - is the Ethernet address that leads to a GID known by now?
 * @sgid: source GID
 * @dgid: destination GID
 * @sgid_attr: entry of the source GID, of which the caller keeps a reference
 *
 * An unknown neighbour is solicited.
 *
 * Context: may sleep, but does not wait for an answer.
 * Return: false if rdma_addr_find_l2_eth_by_grh() has to wait for an answer; true also where that
 * fails at once.
 */
bool addr_eth_is_known(const union ib_gid *sgid, const union ib_gid *dgid,
		       const struct ib_gid_attr *sgid_attr)
{
	struct addr_route route;

	return look_by_gid(sgid, dgid, sgid_attr, &route) != ADDR_UNANSWERED;
}

/**
 * addr_resolve_path_route() - may this RoCE path be taken?
 * @rec: a path; marked as resolved if it may
 * @sgid_attr: entry of its source GID, of which the caller keeps a reference
 *
 * The Ethernet address is not resolved.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a RoCE v1 path that leads to a router, without an entry, with addresses of
 * two families, or for a GID that has left its table; -ENODEV for a GID without a net device; the
 * routing table's error; -ENOMEM.
 */
int addr_resolve_path_route(struct sa_path_rec *rec, const struct ib_gid_attr *sgid_attr)
{
	struct addr_query query = { .sgid_attr = sgid_attr, .by_gid = true };
	struct addr_route route;
	int ret;

	if (rec->roce.route_resolved)
		return 0;
	rdma_gid2ip(&query.src.any, &rec->sgid);
	rdma_gid2ip(&query.dst.any, &rec->dgid);
	if (!sgid_attr || query.src.any.sa_family != query.dst.any.sa_family)
		return rdma_refuse(-EINVAL, "path to %pI6c: its source GID does not suit",
				   rec->dgid.raw);
	ret = addr_route_find(&query, &route);
	if (ret)
		return rdma_refuse(ret, "path to %pI6c: no route", rec->dgid.raw);
	addr_route_release(&route);
	if (route.link.network != RDMA_NETWORK_IB && rec->rec_type != SA_PATH_REC_TYPE_ROCE_V2)
		return rdma_refuse(-EINVAL, "path to %pI6c: RoCE v1 does not pass routers",
				   rec->dgid.raw);
	rec->roce.route_resolved = true;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(addr_resolve_path_route);
