// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address resolution: which device leads to the peer, and the link addresses of both ends.
 *
 * The call starts a query and has allocated the answer. The query's callback fills the answer in
 * and queues the id's report; address_taken() makes the step of the state table in the id's own
 * turn.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../addr/addr.h"
#include "query.h"

/*
 * The source that routing has chosen becomes the id's, and its device as well unless binding has
 * found that before. On failure the id is bound as before.
 */
static int adopt_source(struct cma_id *id, const struct cma_answer *answer)
{
	struct sockaddr_storage *source = &id->id.route.addr.src_addr;
	struct sockaddr_storage before = *source;
	__be16 port = cma_addr_port(cma_src_addr(id));
	int ret;

	if (answer->have_source) {
		memcpy(source, &answer->source,
		       rdma_addr_size((const struct sockaddr *)&answer->source));
		cma_addr_set_port(cma_src_addr(id), port);
	}
	if (id->cma_dev)
		return 0;
	ret = cma_acquire_by_source(id);
	if (ret)
		*source = before;
	return ret;
}

/*
 * No address is resolved: an id without a device has no interface, either, by which the next one
 * would be looked for.
 */
static void forget_interface(struct cma_id *id)
{
	if (!id->cma_dev)
		id->id.route.addr.dev_addr.bound_dev_if = 0;
}

static bool address_taken(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event)
{
	struct cma_answer *answer __free(cma_answer) = cma_take_answer(id);
	int status;

	if (!answer || cma_state(id) != RDMA_CM_ADDR_QUERY)
		return false;
	status = answer->status;
	if (!status)
		status = adopt_source(id, answer);
	if (status)
		forget_interface(id);
	event->event = status ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED;
	event->status = status;
	return cma_step(id, status ? CMA_ADDR_FAILED : CMA_ADDR_DONE);
}

static void address_found(int status, struct sockaddr *source, struct rdma_dev_addr *dev_addr,
			  void *context)
{
	struct cma_id *id = context;
	struct cma_answer *answer;

	/* The event may destroy the id before this returns, but not free it. */
	guard(rcu)();
	scoped_guard(spinlock_irqsave, &id->lock) {
		answer = id->answer;
		if (!answer)	/* cancelled */
			return;
		answer->status = status;
		if (!status) {
			memcpy(&answer->source, source, rdma_addr_size(source));
			answer->have_source = true;
		}
	}
	cma_report_answer(id);
}

/* The peer is this host: source and destination have one link address. */
static int find_loopback(struct cma_id *id)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	union ib_gid gid;
	int ret;

	if (!id->cma_dev) {
		ret = cma_acquire_loopback(id);
		if (ret)
			return ret;
	}
	rdma_addr_get_sgid(dev_addr, &gid);
	rdma_addr_set_dgid(dev_addr, &gid);
	cma_report_answer(id);
	return 0;
}

/* An AF_IB address is the link address, so there is nothing to resolve. */
static int find_ib(struct cma_id *id)
{
	struct sockaddr_ib *peer = (struct sockaddr_ib *)cma_dst_addr(id);
	union ib_gid gid;
	int ret;

	if (!id->cma_dev) {
		ret = cma_acquire_by_ib_dest(id);
		if (ret)
			return ret;
	}
	memcpy(gid.raw, peer->sib_addr.sib_raw, sizeof(gid.raw));
	rdma_addr_set_dgid(&id->id.route.addr.dev_addr, &gid);
	cma_report_answer(id);
	return 0;
}

/**
 * cma_ask_neighbour() - ask for the link address of an id's peer
 * @id: id with both addresses
 * @timeout_ms: how long an answer is waited for
 * @found: called with the answer, and with @id as its context; at once if the peer is known
 *
 * Return: as rdma_resolve_ip().
 */
VISIBLE_IF_KUNIT int cma_ask_neighbour(struct cma_id *id, unsigned long timeout_ms,
				       cma_neighbour_found found)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct sockaddr_storage source;

	KUNIT_STATIC_STUB_REDIRECT(cma_ask_neighbour, id, timeout_ms, found);
	/* No work has to wait for a peer that is known. */
	if (!addr_resolve_known_ip(cma_src_addr(id), cma_dst_addr(id), dev_addr, &source)) {
		found(0, (struct sockaddr *)&source, dev_addr, id);
		return 0;
	}
	return rdma_resolve_ip(cma_src_addr(id), cma_dst_addr(id), dev_addr, timeout_ms,
			       found, false, id);
}
EXPORT_SYMBOL_IF_KUNIT(cma_ask_neighbour);

/* An id without a device looks on the interface of a link-local peer, on any for another. */
static void choose_interface(struct cma_id *id)
{
	const struct sockaddr_in6 *to = (const struct sockaddr_in6 *)cma_dst_addr(id);

	if (!id->cma_dev && to->sin6_family == AF_INET6 &&
	    ipv6_addr_type(&to->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		id->id.route.addr.dev_addr.bound_dev_if = to->sin6_scope_id;
}

static int find_ip(struct cma_id *id, unsigned long timeout_ms)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	int ret;

	choose_interface(id);
	/*
	 * The handler of a failure may try again before the callback of that failure has returned.
	 */
	if (id->used_resolve_ip)
		rdma_addr_cancel(dev_addr);
	id->used_resolve_ip = true;
	ret = cma_ask_neighbour(id, timeout_ms, address_found);
	/*
	 * The device's removal may have cancelled before there was anything to cancel. The answer
	 * may be that of the route already, which the handler has asked for: it is left to the id.
	 */
	if (!ret && cma_is_going(id))
		rdma_addr_cancel(dev_addr);
	return ret;
}

/* The wildcard that suits a destination: its family, scope and partition. */
static void wildcard_for(const struct sockaddr *peer, struct sockaddr_storage *source)
{
	source->ss_family = peer->sa_family;
	if (peer->sa_family == AF_INET6) {
		((struct sockaddr_in6 *)source)->sin6_scope_id =
			((const struct sockaddr_in6 *)peer)->sin6_scope_id;
	} else if (peer->sa_family == AF_IB) {
		((struct sockaddr_ib *)source)->sib_pkey =
			((const struct sockaddr_ib *)peer)->sib_pkey;
	}
}

static int refuse_state(struct cma_id *id)
{
	return rdma_refuse(-EINVAL, "no address is resolved in state %d", cma_state(id));
}

static int refuse_families(sa_family_t source, sa_family_t peer)
{
	return rdma_refuse(-EINVAL, "a source of family %u, a destination of %u", source, peer);
}

/* Binds a new id. Ids that differ in their peers can share a port, so the peer is set first. */
static int bind_towards(struct cma_id *id, const struct sockaddr *source,
			const struct sockaddr *peer)
{
	struct sockaddr_storage any = {};
	int ret;

	if (!source || !source->sa_family) {
		wildcard_for(peer, &any);
		source = (const struct sockaddr *)&any;
	} else if (source->sa_family != peer->sa_family) {
		return refuse_families(source->sa_family, peer->sa_family);
	}
	if (!cma_step(id, CMA_BIND))
		return refuse_state(id);
	memcpy(cma_dst_addr(id), peer, rdma_addr_size(peer));
	ret = cma_bind_local(id, source);
	if (ret) {
		memset(&id->id.route.addr.dst_addr, 0, sizeof(id->id.route.addr.dst_addr));
		cma_unbind(id);
	}
	return ret;
}

/* The id has both addresses afterwards and looks for the way; a bound one keeps its own address. */
static int take_ends(struct cma_id *id, const struct sockaddr *source, const struct sockaddr *peer)
{
	int ret;

	if (cma_state(id) == RDMA_CM_IDLE) {
		ret = bind_towards(id, source, peer);
		if (ret)
			return ret;
	}
	if (cma_state(id) == RDMA_CM_ADDR_BOUND && cma_family(id) != peer->sa_family)
		return refuse_families(cma_family(id), peer->sa_family);
	if (!cma_step(id, CMA_RESOLVE_ADDR))
		return refuse_state(id);
	memcpy(cma_dst_addr(id), peer, rdma_addr_size(peer));
	return 0;
}

/**
 * rdma_resolve_addr() - find the device and the link addresses that lead to a peer
 * @rdma_id: id, new or bound
 * @src_addr: own address, NULL or family 0 for any; ignored if the id is bound
 * @dst_addr: the peer's: AF_INET, AF_INET6 (with a scope if it is link-local) or AF_IB
 * @timeout_ms: how long the peer's neighbour entry is waited for
 *
 * Binds the id first if it is not bound. Ends with ADDR_RESOLVED, or with ADDR_ERROR and a negative
 * errno, after which the id is bound and can be used again.
 *
 * Context: may sleep; also in the id's handler.
 * Return: 0 if an event will follow; -EAFNOSUPPORT for another family; -EINVAL in another state
 * than new or bound, or if the families differ; -ENODEV if no device leads there; -ENOMEM; the
 * errors of rdma_bind_addr() and of routing.
 */
int rdma_resolve_addr(struct rdma_cm_id *rdma_id, struct sockaddr *src_addr,
		      const struct sockaddr *dst_addr, unsigned long timeout_ms)
{
	struct cma_answer *answer __free(cma_answer) = kzalloc(sizeof(*answer), GFP_KERNEL);
	struct cma_id *id = to_cma_id(rdma_id);
	int ret;

	if (!answer)
		return -ENOMEM;
	if (!rdma_addr_size(dst_addr))
		return rdma_refuse(-EAFNOSUPPORT, "no addresses of family %u", dst_addr->sa_family);
	ret = take_ends(id, src_addr, dst_addr);
	if (ret)
		return ret;
	/* The handler of the event may give the id up before the call has come to its end. */
	cma_get_id(id);
	id->query_report.take = address_taken;
	cma_put_answer(id, no_free_ptr(answer));
	if (cma_addr_is_any(dst_addr))
		ret = find_loopback(id);
	else if (dst_addr->sa_family == AF_IB)
		ret = find_ib(id);
	else
		ret = find_ip(id, timeout_ms);
	if (ret) {
		answer = cma_take_answer(id);
		forget_interface(id);
		cma_step(id, CMA_ADDR_FAILED);
	}
	cma_put_id(id);
	return ret;
}
EXPORT_SYMBOL(rdma_resolve_addr);

/**
 * cma_cancel_query() - end the query that an id has in progress
 * @id: id that is in DEVICE_REMOVAL or DESTROYING
 * @from: state that it has left
 *
 * Afterwards no callback of address resolution runs. A query of the subnet manager that has been
 * called back ends soon; it holds a reference to the id until then.
 *
 * Context: may sleep; without locks.
 */
void cma_cancel_query(struct cma_id *id, enum rdma_cm_state from)
{
	if (from == RDMA_CM_ROUTE_QUERY) {
		cma_cancel_route(id);
		return;
	}
	if (from != RDMA_CM_ADDR_QUERY)
		return;
	if (id->used_resolve_ip)
		rdma_addr_cancel(&id->id.route.addr.dev_addr);
	cma_free_answer(cma_take_answer(id));
}
