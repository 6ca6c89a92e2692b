// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of peers on InfiniBand and RoCE ports: for which listener, on which interface, and the
 * new id that the listener's handler is called with.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>

#include "connect.h"
#include "request.h"
#include "trace.h"

static void read_req(struct cma_request *request, const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *req = &event->param.req_rcvd;

	request->device = req->listen_id->device;
	request->port_num = req->port;
	request->service_id = req->primary_path->service_id;
	request->pkey = be16_to_cpu(req->primary_path->pkey);
	request->flow_label = req->primary_path->flow_label;
	request->sgid = req->primary_path->sgid;
	request->dgid = req->primary_path->dgid;
	request->has_gids = true;
	request->sgid_attr = req->ppath_sgid_attr;
	request->qp_type = req->qp_type;
}

/* A datagram comes without a path: its GID is known if it has reached one. */
static void read_sidr(struct cma_request *request, const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_req_event_param *req = &event->param.sidr_req_rcvd;

	request->device = req->listen_id->device;
	request->port_num = req->port;
	request->service_id = req->service_id;
	request->pkey = req->pkey;
	request->sgid_attr = req->sgid_attr;
	if (req->sgid_attr)
		request->sgid = req->sgid_attr->gid;
	request->qp_type = IB_QPT_UD;
}

/**
 * cma_read_request() - read the ends of a request, apart from IP addresses
 * @request: receives it
 * @event: event of ib_cm
 *
 * Return: 0, or -EINVAL for an event that is no request.
 */
VISIBLE_IF_KUNIT int cma_read_request(struct cma_request *request, const struct ib_cm_event *event)
{
	*request = (struct cma_request) {};
	if (event->event == IB_CM_REQ_RECEIVED)
		read_req(request, event);
	else if (event->event == IB_CM_SIDR_REQ_RECEIVED)
		read_sidr(request, event);
	else
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_read_request);

/* ---- interface ---- */

static bool ipv4_is_host(__be32 addr)
{
	return !ipv4_is_zeronet(addr) && !ipv4_is_loopback(addr) && !ipv4_is_lbcast(addr);
}

/* Would a packet from this address to the peer leave by the interface? */
static bool ipv4_leads_to(struct net_device *ndev, const struct sockaddr_in *local,
			  const struct sockaddr_in *peer)
{
	struct flowi4 flow = {
		.flowi4_oif = ndev->ifindex,
		.saddr = local->sin_addr.s_addr,
		.daddr = peer->sin_addr.s_addr,
	};
	struct fib_result found;

	if (!ipv4_is_host(flow.saddr) || !ipv4_is_host(flow.daddr) || ipv4_is_multicast(flow.saddr))
		return false;
	if (fib_lookup(dev_net(ndev), &flow, &found, 0))
		return false;
	return FIB_RES_DEV(found) == ndev;
}

static bool ipv6_leads_to(struct net_device *ndev, const struct sockaddr_in6 *local,
			  const struct sockaddr_in6 *peer)
{
	int flags = ipv6_addr_type(&peer->sin6_addr) & IPV6_ADDR_LINKLOCAL;
	struct rt6_info *route;
	bool leads;

	/* A peer may name IPv6 addresses to a host that has no routing tables for them. */
	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return false;
	route = rt6_lookup(dev_net(ndev), &peer->sin6_addr, &local->sin6_addr, ndev->ifindex, NULL,
			   flags);
	if (!route)
		return false;
	leads = route->rt6i_idev && route->rt6i_idev->dev == ndev;
	ip6_rt_put(route);
	return leads;
}

/* The caller is an RCU reader. */
static bool leads_to(struct net_device *ndev, const struct ipcm_ends *ends)
{
	if (!(READ_ONCE(ndev->flags) & IFF_UP))
		return false;
	if (ends->local.ss_family == AF_INET)
		return ipv4_leads_to(ndev, (const struct sockaddr_in *)&ends->local,
				     (const struct sockaddr_in *)&ends->remote);
	return ipv6_leads_to(ndev, (const struct sockaddr_in6 *)&ends->local,
			     (const struct sockaddr_in6 *)&ends->remote);
}

static struct net_device *gid_ndev(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;

	if (!attr)
		return NULL;
	guard(rcu)();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev))
		return NULL;
	dev_hold(ndev);
	return ndev;
}

/* The interface that the request may be for, to be put; NULL if there is none. */
static struct net_device *find_ndev(const struct cma_request *request)
{
	const struct sockaddr *local = (const struct sockaddr *)&request->ends.local;

	if (rdma_protocol_roce(request->device, request->port_num))
		return gid_ndev(request->sgid_attr);
	return ib_get_net_dev_by_params(request->device, request->port_num, request->pkey,
					request->has_gids ? &request->sgid : NULL, local);
}

static void fill_ib_address(struct sockaddr_storage *to, const struct cma_request *request,
			    const union ib_gid *gid, __be64 service_id)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_pkey = cpu_to_be16(request->pkey),
		.sib_flowinfo = request->flow_label,
		.sib_sid = service_id,
		.sib_sid_mask = service_id ? cpu_to_be64(U64_MAX) : 0,
	};

	memcpy(ib.sib_addr.sib_raw, gid->raw, sizeof(gid->raw));
	memset(to, 0, sizeof(*to));
	memcpy(to, &ib, sizeof(ib));
}

/**
 * cma_fill_ib_ends() - fill in the ends of a request as AF_IB addresses
 * @request: receives them
 *
 * The peer's service ID is not known.
 */
VISIBLE_IF_KUNIT void cma_fill_ib_ends(struct cma_request *request)
{
	fill_ib_address(&request->ends.local, request, &request->sgid, request->service_id);
	fill_ib_address(&request->ends.remote, request, &request->dgid, 0);
}
EXPORT_SYMBOL_IF_KUNIT(cma_fill_ib_ends);

/*
 * Finds the listener, with a reference. What has no IP addresses that belong to this host can only
 * be for an AF_IB listener, whose requests have no header: their private data may look like
 * anything.
 */
static struct cma_id *find_listener(struct cma_request *request, const void *private_data)
{
	struct cma_listen_key key = {
		.net = &init_net,
		.ps = ipcm_service_space(request->service_id),
		.service_id = request->service_id,
		.local = (const struct sockaddr *)&request->ends.local,
		.device = request->device,
		.port_num = request->port_num,
	};

	if (!ipcm_parse(&request->ends, private_data, request->service_id))
		request->ndev = find_ndev(request);
	/*
	 * An interface goes down before it leaves its namespace, and readers are waited for then.
	 * So the namespace of one that is up stays until the listener is found.
	 */
	guard(rcu)();
	if (request->ndev && !leads_to(request->ndev, &request->ends)) {
		dev_put(request->ndev);
		request->ndev = NULL;
	}
	if (request->ndev) {
		key.ndev = request->ndev;
		key.net = dev_net(request->ndev);
	} else {
		cma_fill_ib_ends(request);
	}
	return cma_find_listener(&key);
}

/* ---- the new id ---- */

static int copy_paths(struct rdma_route *route, const struct ib_cm_req_event_param *req)
{
	int count = req->alternate_path ? 2 : 1;

	route->path_rec = kcalloc(count, sizeof(*route->path_rec), GFP_KERNEL);
	if (!route->path_rec)
		return -ENOMEM;
	route->path_rec[0] = *req->primary_path;
	if (req->alternate_path)
		route->path_rec[1] = *req->alternate_path;
	route->num_pri_alt_paths = count;
	return 0;
}

static void fill_link(struct rdma_dev_addr *dev_addr, struct cma_request *request)
{
	if (request->ndev) {
		rdma_copy_src_l2_addr(dev_addr, request->ndev);
	} else {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		rdma_addr_set_sgid(dev_addr, &request->sgid);
		ib_addr_set_pkey(dev_addr, request->pkey);
	}
	if (request->has_gids)
		rdma_addr_set_dgid(dev_addr, &request->dgid);
}

static int fill_child(struct cma_id *child, struct cma_request *request,
		      const struct ib_cm_event *event)
{
	struct rdma_route *route = &child->id.route;
	struct cma_device *cma_dev;
	int ret = 0;

	child->id.qp_type = request->qp_type;
	route->addr.src_addr = request->ends.local;
	route->addr.dst_addr = request->ends.remote;
	if (event->event == IB_CM_REQ_RECEIVED)
		ret = copy_paths(route, &event->param.req_rcvd);
	if (ret)
		return ret;
	fill_link(&route->addr.dev_addr, request);

	cma_dev = cma_get_device(request->device);
	if (!cma_dev)
		return -ENODEV;
	ret = cma_acquire_for_request(child, cma_dev, request->port_num);
	cma_put_device(cma_dev);
	if (ret)
		return ret;
	return cma_step(child, CMA_REQUEST) ? 0 : -ECONNABORTED;
}

/* A listener with a type of QP takes no requests of others. */
static bool suits(const struct cma_id *listener, const struct cma_request *request)
{
	return !listener->id.qp_type || listener->id.qp_type == request->qp_type;
}

static void fill_request(struct rdma_cm_event *event, const struct ib_cm_event *ib,
			 unsigned int offset)
{
	const struct ib_cm_req_event_param *req = &ib->param.req_rcvd;

	event->event = RDMA_CM_EVENT_CONNECT_REQUEST;
	if (ib->event == IB_CM_SIDR_REQ_RECEIVED) {
		event->param.ud.private_data = ib->private_data + offset;
		event->param.ud.private_data_len = IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE - offset;
		return;
	}
	event->ece = req->ece;
	event->param.conn = (struct rdma_conn_param) {
		.private_data = ib->private_data + offset,
		.private_data_len = IB_CM_REQ_PRIVATE_DATA_SIZE - offset,
		.responder_resources = req->responder_resources,
		.initiator_depth = req->initiator_depth,
		.flow_control = req->flow_control,
		.retry_count = req->retry_count,
		.rnr_retry_count = req->rnr_retry_count,
		.srq = req->srq,
		.qp_num = req->remote_qpn,
	};
}

/*
 * A datagram that has come by LID alone names no GID. It is for the listener's, and for the port's
 * first one if the listener has none.
 */
static int find_local_gid(struct cma_id *listener, struct cma_request *request)
{
	const struct sockaddr_ib *local = (const struct sockaddr_ib *)cma_src_addr(listener);

	if (request->has_gids || request->sgid_attr)
		return 0;
	if (cma_addr_is_any(cma_src_addr(listener)))
		return rdma_query_gid(request->device, request->port_num, 0, &request->sgid);
	memcpy(request->sgid.raw, local->sib_addr.sib_raw, sizeof(request->sgid.raw));
	return 0;
}

/* The listener's handler lock is held. */
static int hand_over(struct cma_id *listener, struct cma_request *request, struct ib_cm_id *cm_id,
		     const struct ib_cm_event *ib)
{
	struct rdma_cm_event event = {};
	struct cma_id *child;
	int ret;

	/* An AF_IB listener deals in AF_IB addresses, whatever the request carries. */
	if (cma_family(listener) == AF_IB) {
		ret = find_local_gid(listener, request);
		if (ret)
			return ret;
		cma_fill_ib_ends(request);
	}
	child = cma_create_child(listener);
	if (IS_ERR(child))
		return PTR_ERR(child);
	mutex_lock_nested(&child->handler_lock, SINGLE_DEPTH_NESTING);
	ret = fill_child(child, request, ib);
	if (ret)
		goto out_destroy;
	child->cm_id.ib = cm_id;
	cm_id->context = child;
	cm_id->cm_handler = cma_ib_event;
	fill_request(&event, ib, ipcm_data_offset(cma_family(listener)));
	ret = cma_deliver(child, &event);
	if (ret) {
		/* ib_cm destroys it when its handler returns. */
		child->cm_id.ib = NULL;
		goto out_destroy;
	}
	/* A consumer in user space may take longer than the peer waits. */
	if (ib->event == IB_CM_REQ_RECEIVED && cma_state(child) == RDMA_CM_CONNECT) {
		trace_cm_send_mra(child);
		ib_send_cm_mra(cm_id, CMA_CM_MRA, NULL, 0);
	}
	mutex_unlock(&child->handler_lock);
	return 0;

out_destroy:
	cma_destroy_unlock(child);
	return ret;
}

/**
 * cma_ib_listen_handler() - handler of a listen of ib_cm
 * @cm_id: the new connection's, not the listen's
 * @ib: a request for a connection or for a datagram service
 *
 * Context: ib_cm's.
 * Return: 0; else ib_cm turns the peer down and destroys @cm_id. With -ENOMEM it says nothing, and
 * the peer tries again.
 */
int cma_ib_listen_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *ib)
{
	struct cma_request request;
	struct cma_id *listener;
	int ret;

	ret = cma_read_request(&request, ib);
	if (ret)
		return ret;
	listener = find_listener(&request, ib->private_data);
	if (IS_ERR_OR_NULL(listener)) {
		ret = listener ? PTR_ERR(listener) : -EINVAL;
		goto out_ndev;
	}
	trace_cm_req_handler(listener, ib->event);
	mutex_lock(&listener->handler_lock);
	if (cma_state(listener) != RDMA_CM_LISTEN)
		ret = -ECONNABORTED;
	else if (!suits(listener, &request))
		ret = -EINVAL;
	else
		ret = hand_over(listener, &request, cm_id, ib);
	mutex_unlock(&listener->handler_lock);
	cma_put_id(listener);
out_ndev:
	dev_put(request.ndev);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(cma_ib_listen_handler);
