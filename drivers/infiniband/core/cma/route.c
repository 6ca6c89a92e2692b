// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Route resolution: the path to a peer whose link address is known. The subnet manager is asked for
 * it on InfiniBand ports; on RoCE ports it follows from the addresses; on iWARP ports TCP needs
 * none.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <net/route.h>

#include "query.h"

/* Assumed one-way delay of an Ethernet fabric, as exponent: 4.096 us << 16. */
#define ROCE_PACKET_LIFE_TIME	16

/* ---- InfiniBand ---- */

/* A direction's own path, of which there are some where the local service knows the fabric. */
static int keep_direction(struct sa_path_rec **slot, const struct sa_path_rec *path)
{
	if (!*slot)
		*slot = kmalloc(sizeof(**slot), GFP_KERNEL);
	if (!*slot)
		return -ENOMEM;
	**slot = *path;
	return 0;
}

/* Flags say what each path is for; a path without any is for both directions. */
static int keep_path(struct cma_answer *answer, const struct sa_path_rec *path)
{
	if (!path->flags || path->flags & IB_PATH_GMP) {
		*answer->path = *path;
		return 0;
	}
	if (path->flags & IB_PATH_INBOUND)
		return keep_direction(&answer->inbound, path);
	if (path->flags & IB_PATH_OUTBOUND)
		return keep_direction(&answer->outbound, path);
	return -EINVAL;
}

/*
 * The query holds a reference to the id, and nobody else takes its answer before the report does.
 */
static void path_found(int status, struct sa_path_rec *paths, unsigned int count, void *context)
{
	struct cma_id *id = context;
	struct cma_answer *answer = READ_ONCE(id->answer);

	for (unsigned int i = 0; !status && i < count; i++)
		status = keep_path(answer, &paths[i]);
	answer->status = status;
	cma_report_answer(id);
	cma_put_id(id);
}

/*
 * What the manager is asked for beyond the two ends: quality of service, as the family expresses
 * it.
 */
static ib_sa_comp_mask ask_for_quality(struct cma_id *id, struct sa_path_rec *path)
{
	__be32 flowinfo;

	switch (cma_family(id)) {
	case AF_INET:
		scoped_guard(mutex, &id->qp_lock)
			path->qos_class = cpu_to_be16(id->tos);
		return IB_SA_PATH_REC_QOS_CLASS;
	case AF_INET6:
		flowinfo = ((struct sockaddr_in6 *)cma_src_addr(id))->sin6_flowinfo;
		break;
	case AF_IB:
		flowinfo = ((struct sockaddr_ib *)cma_src_addr(id))->sib_flowinfo;
		break;
	default:
		return 0;
	}
	path->traffic_class = be32_to_cpu(flowinfo) >> 20;
	return IB_SA_PATH_REC_TRAFFIC_CLASS;
}

/**
 * cma_ask_path() - ask the subnet manager for the path of an id
 * @id: id with a device, of which the query has a reference
 * @wanted: the path
 * @mask: what of @wanted counts
 * @timeout_ms: how long an answer is waited for
 * @found: called with the answer, and with @id as its context
 * @query: receives the query
 *
 * Return: the number of the query, or an error of ib_sa_path_rec_get().
 */
VISIBLE_IF_KUNIT int cma_ask_path(struct cma_id *id, struct sa_path_rec *wanted,
				  ib_sa_comp_mask mask, unsigned long timeout_ms,
				  cma_path_found found, struct ib_sa_query **query)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_ask_path, id, wanted, mask, timeout_ms, found, query);
	return ib_sa_path_rec_get(&cma_sa_client, id->id.device, id->id.port_num, wanted, mask,
				  timeout_ms, GFP_KERNEL, found, id, query);
}
EXPORT_SYMBOL_IF_KUNIT(cma_ask_path);

static int ask_manager(struct cma_id *id, unsigned long timeout_ms)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct ib_device *device = id->id.device;
	u32 port = id->id.port_num;
	struct sa_path_rec wanted = {
		.rec_type = rdma_cap_opa_ah(device, port) ? SA_PATH_REC_TYPE_OPA :
							    SA_PATH_REC_TYPE_IB,
		.pkey = cpu_to_be16(ib_addr_get_pkey(dev_addr)),
		.service_id = rdma_get_service_id(&id->id, cma_dst_addr(id)),
		.reversible = 1,
		.numb_path = 1,
	};
	ib_sa_comp_mask mask = IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_PKEY |
			       IB_SA_PATH_REC_SERVICE_ID | IB_SA_PATH_REC_REVERSIBLE |
			       IB_SA_PATH_REC_NUMB_PATH;
	struct ib_sa_query *query = NULL;
	int ret;

	rdma_addr_get_sgid(dev_addr, &wanted.sgid);
	rdma_addr_get_dgid(dev_addr, &wanted.dgid);
	mask |= ask_for_quality(id, &wanted);

	cma_get_id(id);	/* for path_found() */
	ret = cma_ask_path(id, &wanted, mask, timeout_ms, path_found, &query);
	if (ret < 0) {
		cma_put_id(id);
		return ret;
	}
	WRITE_ONCE(id->query, query);
	WRITE_ONCE(id->query_id, ret);
	/*
	 * The device's removal may have cancelled before the number was known. The barrier goes
	 * with the one in cma_cancel_route(): of the two at least one sees what the other has
	 * written.
	 */
	smp_mb();
	if (cma_is_going(id))
		ib_sa_cancel_query(ret, query);
	return 0;
}

/**
 * cma_cancel_route() - call the id's query back from the subnet manager
 * @id: id that is in DEVICE_REMOVAL or DESTROYING
 *
 * Context: any.
 */
void cma_cancel_route(struct cma_id *id)
{
	struct ib_sa_query *query;

	/* The state that says why has been written; see ask_manager(). */
	smp_mb();
	query = READ_ONCE(id->query);
	/* The pair names a query only while it lives, so an old one does no harm. */
	if (query)
		ib_sa_cancel_query(READ_ONCE(id->query_id), query);
}

/* ---- RoCE ---- */

static int vlan_class(const struct net_device *vlan, u32 priority)
{
	struct net_device *real = vlan_dev_real_dev(vlan);

	if (real->num_tc)
		return netdev_get_prio_tc_map(real, priority);
	return (vlan_dev_get_egress_qos_mask((struct net_device *)vlan, priority) &
		VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
}

/* Traffic class that an interface gives to a priority. */
static int class_of(struct net_device *ndev, u32 priority)
{
	if (is_vlan_dev(ndev))
		return vlan_class(ndev, priority);
	return ndev->num_tc ? netdev_get_prio_tc_map(ndev, priority) : 0;
}

/* An interface on top of others, such as a bond, has the classes of the first below it. */
static u8 service_level(struct net_device *ndev, u8 tos)
{
	u32 priority = rt_tos2priority(tos);
	struct net_device *lower = NULL;
	struct list_head *iter;

	if (is_vlan_dev(ndev))
		return class_of(ndev, priority);
	guard(rcu)();
	iter = &ndev->adj_list.lower;
	lower = netdev_next_lower_dev_rcu(ndev, &iter);
	return class_of(lower ?: ndev, priority);
}

/*
 * Packets of one connection take one way through the fabric, those of several spread: the flow
 * label, from which the UDP source port is made, comes from the ports unless the consumer has set
 * one.
 */
static __be32 flow_label(struct cma_id *id)
{
	u32 near = be16_to_cpu(cma_addr_port(cma_src_addr(id)));
	u32 far = be16_to_cpu(cma_addr_port(cma_dst_addr(id)));
	u32 chosen = 0;

	if (cma_family(id) == AF_INET6)
		chosen = be32_to_cpu(((struct sockaddr_in6 *)cma_src_addr(id))->sin6_flowinfo) &
			 IB_GRH_FLOWLABEL_MASK;
	return cpu_to_be32(chosen ?: (near * 31 + far) & IB_GRH_FLOWLABEL_MASK);
}

/*
 * The part of a RoCE path that only the link knows. The caller puts the interface; NULL if it is
 * gone.
 */
static struct net_device *fill_link(struct cma_id *id, struct sa_path_rec *path)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	enum ib_gid_type type = id->gid_type;
	struct net_device *ndev;

	if (!dev_addr->bound_dev_if)
		return NULL;
	ndev = dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
	if (!ndev)
		return NULL;
	if (dev_addr->sgid_attr)
		type = dev_addr->sgid_attr->gid_type;
	path->rec_type = sa_conv_gid_to_pathrec_type(type);
	path->roce.route_resolved = true;
	sa_path_set_dmac(path, dev_addr->dst_dev_addr);
	return ndev;
}

static int make_roce_path(struct cma_id *id, struct sa_path_rec *path)
{
	struct net_device *ndev __free(dev_put) = fill_link(id, path);
	struct rdma_addr *addr = &id->id.route.addr;
	u32 port = id->id.port_num;
	u8 tos, ack_timeout;

	if (!ndev)
		return rdma_refuse(-ENODEV, "no interface %d", addr->dev_addr.bound_dev_if);
	path->mtu = iboe_get_mtu(ndev->mtu);
	if (!path->mtu)
		return rdma_refuse(-EINVAL, "an interface MTU of %u leaves no room for RoCE",
				   ndev->mtu);
	scoped_guard(mutex, &id->qp_lock) {
		tos = id->tos_set ? id->tos : READ_ONCE(cma_config(id->cma_dev, port)->tos);
		ack_timeout = id->timeout_set ? id->timeout : 0;
	}

	rdma_ip2gid(cma_src_addr(id), &path->sgid);
	rdma_ip2gid(cma_dst_addr(id), &path->dgid);
	path->hop_limit = addr->dev_addr.hoplimit;
	path->traffic_class = tos;
	path->sl = service_level(ndev, tos);
	path->pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	path->reversible = 1;
	path->mtu_selector = IB_SA_EQ;
	path->rate_selector = IB_SA_EQ;
	path->rate = IB_RATE_PORT_CURRENT;
	path->packet_life_time_selector = IB_SA_EQ;
	/* An ACK is waited for during two life times. */
	path->packet_life_time = ack_timeout ? ack_timeout - 1 : ROCE_PACKET_LIFE_TIME;
	if (rdma_protocol_roce_udp_encap(id->id.device, port))
		path->flow_label = flow_label(id);
	return 0;
}

/* ---- all ---- */

static void replace(struct sa_path_rec **slot, struct sa_path_rec **with)
{
	kfree(*slot);
	*slot = *with;
	*with = NULL;
}

static bool route_taken(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event)
{
	struct cma_answer *answer __free(cma_answer) = cma_take_answer(id);
	struct rdma_route *route = &id->id.route;
	int status;

	if (!answer || cma_state(id) != RDMA_CM_ROUTE_QUERY)
		return false;
	status = answer->status;
	if (!status) {
		route->num_pri_alt_paths = answer->path ? 1 : 0;
		replace(&route->path_rec, &answer->path);
		replace(&route->path_rec_inbound, &answer->inbound);
		replace(&route->path_rec_outbound, &answer->outbound);
	}
	event->event = status ? RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ROUTE_RESOLVED;
	event->status = status;
	return cma_step(id, status ? CMA_ROUTE_FAILED : CMA_ROUTE_DONE);
}

static int start_route(struct cma_id *id, unsigned long timeout_ms)
{
	struct ib_device *device = id->id.device;
	u32 port = id->id.port_num;
	int ret = 0;

	if (rdma_cap_ib_sa(device, port)) {
		ret = ask_manager(id, timeout_ms);
		if (ret != -ENODEV)
			return ret;
		/*
		 * By a device that has failed, or goes, nobody can be asked. A moment before, the
		 * query would have been sent and ended by that: consumers that wait for the next
		 * device are used to the event.
		 */
		id->answer->status = ret;
		ret = 0;
	} else if (rdma_protocol_roce(device, port)) {
		ret = make_roce_path(id, id->answer->path);
		if (!ret)
			cma_watch_neighbour(id);
	} else if (!rdma_protocol_iwarp(device, port)) {
		ret = rdma_refuse(-ENOSYS, "port %u: no InfiniBand, RoCE or iWARP", port);
	}
	if (!ret)
		cma_report_answer(id);
	return ret;
}

/**
 * rdma_resolve_route() - find the path to a peer whose address is resolved
 * @rdma_id: id
 * @timeout_ms: how long the subnet manager's answer is waited for, not 0
 *
 * Ends with ROUTE_RESOLVED, or with ROUTE_ERROR and a negative errno, after which it can be called
 * again.
 *
 * Context: may sleep; also in the id's handler.
 * Return: 0 if an event will follow; -EINVAL in another state, for a time of 0, or for an interface
 * whose MTU is too small; -ENODEV if the interface is gone; -ENOSYS for a port that needs no
 * connection manager; -ENOMEM; errors of ib_sa_path_rec_get() but -ENODEV, for which an event
 * follows.
 */
int rdma_resolve_route(struct rdma_cm_id *rdma_id, unsigned long timeout_ms)
{
	struct cma_answer *answer __free(cma_answer) = kzalloc(sizeof(*answer), GFP_KERNEL);
	struct cma_id *id = to_cma_id(rdma_id);
	int ret;

	if (!timeout_ms)
		return rdma_refuse(-EINVAL, "a time-out of 0 ms");
	if (!answer)
		return -ENOMEM;
	if (cma_state(id) != RDMA_CM_ADDR_RESOLVED)
		return rdma_refuse(-EINVAL, "no route is resolved in state %d", cma_state(id));
	if (!rdma_protocol_iwarp(rdma_id->device, rdma_id->port_num)) {
		answer->path = kzalloc(sizeof(*answer->path), GFP_KERNEL);
		if (!answer->path)
			return -ENOMEM;
	}
	if (!cma_step(id, CMA_RESOLVE_ROUTE))
		return rdma_refuse(-EINVAL, "no route is resolved in state %d", cma_state(id));

	/* The handler of the event may give the id up before the call has come to its end. */
	cma_get_id(id);
	id->query_report.take = route_taken;
	cma_put_answer(id, no_free_ptr(answer));
	ret = start_route(id, timeout_ms);
	if (ret) {
		answer = cma_take_answer(id);
		cma_step(id, CMA_ROUTE_FAILED);
	}
	cma_put_id(id);
	return ret;
}
EXPORT_SYMBOL(rdma_resolve_route);

/**
 * rdma_set_ib_path() - bring the path instead of resolving it
 * @rdma_id: id whose address is resolved
 * @path_rec: the path, copied
 *
 * No event follows. On a RoCE port the kind of path and the peer's MAC are filled in.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL in another state; -ENODEV if a RoCE port's interface is gone; -ENOMEM.
 */
int rdma_set_ib_path(struct rdma_cm_id *rdma_id, struct sa_path_rec *path_rec)
{
	struct sa_path_rec *path __free(kfree) = kmemdup(path_rec, sizeof(*path_rec), GFP_KERNEL);
	struct cma_id *id = to_cma_id(rdma_id);
	struct net_device *ndev;

	if (!path)
		return -ENOMEM;
	if (cma_state(id) != RDMA_CM_ADDR_RESOLVED)
		return rdma_refuse(-EINVAL, "no path is set in state %d", cma_state(id));
	if (rdma_protocol_roce(rdma_id->device, rdma_id->port_num)) {
		ndev = fill_link(id, path);
		if (!ndev)
			return rdma_refuse(-ENODEV, "no interface %d",
					   rdma_id->route.addr.dev_addr.bound_dev_if);
		dev_put(ndev);
	}
	if (!cma_step(id, CMA_SET_PATH))
		return rdma_refuse(-EINVAL, "no path is set in state %d", cma_state(id));
	replace(&rdma_id->route.path_rec, &path);
	rdma_id->route.num_pri_alt_paths = 1;
	return 0;
}
EXPORT_SYMBOL(rdma_set_ib_path);
