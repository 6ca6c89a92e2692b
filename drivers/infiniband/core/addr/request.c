// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests to resolve an address.
 *
 * A request looks up the route, and waits while the peer's link address is unknown. It looks again
 * when the neighbour it waits for has answered, once a second in case an answer is lost, and a last
 * time at its deadline. All of that is one work item, so a request never runs twice at the same
 * time, while any number of requests run in parallel.
 *
 * A request is found by its struct rdma_dev_addr from its beginning until its callback has
 * returned, and by the hop that it waits for while it waits. Taking it out of the former table
 * drops the table's reference. rdma_addr_cancel() marks a request, waits until its work does not
 * run, and takes it out; work that finds the mark returns without a callback.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/netevent.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_reject.h>

#include "addr_priv.h"

/* Milliseconds between look-ups while there is no answer; tests set other times. */
VISIBLE_IF_KUNIT unsigned int addr_retry_ms = 1000;
EXPORT_SYMBOL_IF_KUNIT(addr_retry_ms);

typedef void (*addr_callback)(int status, struct sockaddr *src_addr, struct rdma_dev_addr *addr,
			      void *context);

/**
 * struct addr_request - a request
 * @by_addr: in the table by @addr; protected by lock
 * @by_hop: in the table by @hop, while it waits; protected by lock
 * @ref: the table's reference, and one for each rdma_addr_cancel() that has found it
 * @work: looks, and calls back
 * @query: parameters of the look-up
 * @deadline: in jiffies; the request times out then
 * @callback: callback of the consumer
 * @context: for @callback
 * @addr: the consumer's structure, which takes the result
 * @found: the route, if rdma_resolve_ip() itself has found it; holds no references
 * @known: @found is valid, and the work need not look it up
 * @seq: sequence number of its request to a program
 * @hop: whose answer it waits for; protected by lock
 * @gid: the program's answer, if @answered; protected by lock
 * @answered: @gid is valid; protected by lock
 * @cancelled: it must not call back; protected by lock
 * @caller: the task that calls back; protected by lock
 */
struct addr_request {
	struct hlist_node by_addr;
	struct hlist_node by_hop;
	refcount_t ref;
	struct delayed_work work;
	struct addr_query query;
	unsigned long deadline;
	addr_callback callback;
	void *context;
	struct rdma_dev_addr *addr;
	struct addr_route found;
	bool known;
	u32 seq;
	struct addr_hop hop;
	union ib_gid gid;
	bool answered;
	bool cancelled;
	struct task_struct *caller;
};

/* Protects all that follows, and what struct addr_request says; taken from softirqs, too. */
static DEFINE_SPINLOCK(lock);
static DEFINE_HASHTABLE(requests_by_addr, 8);
static DEFINE_HASHTABLE(requests_by_hop, 8);
/* Sequence number of the last request to a program. */
VISIBLE_IF_KUNIT u32 addr_last_seq;
EXPORT_SYMBOL_IF_KUNIT(addr_last_seq);

static struct workqueue_struct *addr_wq;

static u32 hop_hash(const struct addr_hop *hop)
{
	return jhash(hop, sizeof(*hop), 0);
}

static void put_request(struct addr_request *request)
{
	if (refcount_dec_and_test(&request->ref))
		kfree(request);
}

/* Ends a request: look-ups do not find it any more. */
static void end_request(struct addr_request *request)
{
	bool found;

	scoped_guard(spinlock_bh, &lock) {
		found = hash_hashed(&request->by_addr);
		hash_del(&request->by_addr);
		hash_del(&request->by_hop);
	}
	if (found)
		put_request(request);
}

/*
 * From now on an answer queues the request's work. The caller looks for the answer only after this,
 * so that none is missed.
 */
static void await(struct addr_request *request, const struct addr_hop *hop)
{
	guard(spinlock_bh)(&lock);
	hash_del(&request->by_hop);
	request->hop = *hop;
	if (hop->family == AF_IB)
		memcpy(request->hop.key, &request->seq, sizeof(request->seq));
	hash_add(requests_by_hop, &request->by_hop, hop_hash(&request->hop));
}

static int ask_program(struct addr_request *request, struct addr_route *route)
{
	scoped_guard(spinlock_bh, &lock) {
		if (request->answered) {
			rdma_addr_set_dgid(&route->link, &request->gid);
			return 0;
		}
	}
	return addr_service_ask(route, &request->query.dst, request->seq);
}

/* Returns 0 with a route whose ends are known, ADDR_UNANSWERED, or an error. */
static int look(struct addr_request *request, struct addr_route *route)
{
	int ret = addr_route_find(&request->query, route);

	if (ret || route->hop.family == AF_UNSPEC)
		return ret;
	await(request, &route->hop);
	return route->neigh ? addr_route_neighbour(route) : ask_program(request, route);
}

/* An answer since the look-up is not delayed: the work is then queued already, and stays queued. */
static void wait_on(struct addr_request *request)
{
	unsigned long now = jiffies, left = request->deadline - now;

	if (time_after(now, request->deadline))
		left = 0;
	guard(spinlock_bh)(&lock);
	if (!request->cancelled)
		queue_delayed_work(addr_wq, &request->work,
				   min(left, msecs_to_jiffies(addr_retry_ms)));
}

/* Returns whether the callback is to be called: then the work is not queued again. */
static bool begin_callback(struct addr_request *request)
{
	guard(spinlock_bh)(&lock);
	if (request->cancelled)
		return false;
	hash_del(&request->by_hop);
	cancel_delayed_work(&request->work);
	request->caller = current;
	return true;
}

static void give_result(const struct addr_query *query, const struct addr_route *route,
			struct rdma_dev_addr *addr)
{
	const struct rdma_dev_addr *link = &route->link;

	addr->dev_type = link->dev_type;
	addr->network = link->network;
	addr->hoplimit = link->hoplimit;
	memcpy(addr->src_dev_addr, link->src_dev_addr, sizeof(addr->src_dev_addr));
	memcpy(addr->dst_dev_addr, link->dst_dev_addr, sizeof(addr->dst_dev_addr));
	memcpy(addr->broadcast, link->broadcast, sizeof(addr->broadcast));
	/* The index means nothing without the namespace of the GID's interface. */
	if (!query->by_gid)
		addr->bound_dev_if = link->bound_dev_if;
}

static void request_work(struct work_struct *work)
{
	struct addr_request *request = container_of(work, struct addr_request, work.work);
	bool last = time_after_eq(jiffies, request->deadline);
	struct addr_route route = request->found;
	int ret = request->known ? 0 : look(request, &route);

	/* The route itself is not needed, and would keep the interface. */
	addr_route_release(&route);
	if (ret == ADDR_UNANSWERED && !last) {
		wait_on(request);
		return;
	}
	if (!begin_callback(request))
		return;
	if (!ret)
		give_result(&request->query, &route, request->addr);
	else
		route.src = request->query.src;
	request->callback(ret == ADDR_UNANSWERED ? -ETIMEDOUT : ret, &route.src.any, request->addr,
			  request->context);
	end_request(request);
}

static int read_query(struct addr_query *query, const struct sockaddr *src,
		      const struct sockaddr *dst, const struct rdma_dev_addr *addr, bool by_gid)
{
	if (dst->sa_family != AF_INET && dst->sa_family != AF_INET6)
		return rdma_refuse(-EINVAL, "an address of family %u has no link address",
				   dst->sa_family);
	if (src && src->sa_family != dst->sa_family)
		return rdma_refuse(-EINVAL, "a source address of family %u, a destination of %u",
				   src->sa_family, dst->sa_family);
	if (by_gid ? !addr->sgid_attr : !addr->net)
		return rdma_refuse(-EINVAL, "an address without a network namespace");
	*query = (struct addr_query){
		.net = addr->net, .bound_dev_if = addr->bound_dev_if,
		.sgid_attr = addr->sgid_attr, .by_gid = by_gid,
	};
	memcpy(&query->dst, dst, rdma_addr_size(dst));
	if (src)
		memcpy(&query->src, src, rdma_addr_size(src));
	else
		query->src.any.sa_family = dst->sa_family;
	return 0;
}

static void begin_request(struct addr_request *request)
{
	guard(spinlock_bh)(&lock);
	request->seq = ++addr_last_seq;
	hash_add(requests_by_addr, &request->by_addr, (unsigned long)request->addr);
	queue_delayed_work(addr_wq, &request->work, 0);
}

/* The first look-up. It tells whether there is a route, and may find the whole result. */
static int look_first(struct addr_request *request)
{
	int ret = addr_route_look(&request->query, &request->found);

	request->known = !ret;
	return ret == ADDR_UNANSWERED ? 0 : ret;
}

/**
 * rdma_resolve_ip() - find the link addresses of the two ends of a path
 * @src_addr: source address; without an address, or if it is NULL, the route chooses one
 * @dst_addr: destination address, IPv4 or IPv6
 * @addr: has the namespace, and in bound_dev_if the interface that is to be used, or 0 for any;
 *	takes the result; must stay as it is until the callback is called or rdma_addr_cancel() has
 *	returned
 * @timeout_ms: milliseconds until the peer must be known; 0 for one further look-up
 * @callback: called once from a work queue, where it may sleep, if this returns 0: with 0, or why
 *	the address was not resolved, -ETIMEDOUT for a peer that does not answer; with the source
 *	address; with @addr and @context
 * @resolve_by_gid_attr: the namespace and the interface are those of @addr->sgid_attr, of which the
 *	caller keeps a reference
 * @context: for @callback
 *
 * If neither a scope id nor an interface is given, the route decides where a link-local address is.
 *
 * Context: may sleep.
 * Return: 0, and @callback will be called; -EINVAL for an address family other than IPv4 and IPv6,
 * two different families, or a missing namespace or source GID; the routing table's error if no
 * route leads there; -ENODEV; -EADDRNOTAVAIL if the peer is behind a gateway of InfiniBand and no
 * program listens that could know its GID; -ENOMEM.
 */
int rdma_resolve_ip(struct sockaddr *src_addr, const struct sockaddr *dst_addr,
		    struct rdma_dev_addr *addr, unsigned long timeout_ms,
		    void (*callback)(int status, struct sockaddr *src_addr,
				     struct rdma_dev_addr *addr, void *context),
		    bool resolve_by_gid_attr, void *context)
{
	struct addr_request *request;
	int ret;

	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	ret = read_query(&request->query, src_addr, dst_addr, addr, resolve_by_gid_attr);
	if (!ret) {
		ret = look_first(request);
		if (ret)
			ret = rdma_refuse(ret, "no route to %pISc", dst_addr);
	}
	if (ret) {
		kfree(request);
		return ret;
	}
	refcount_set(&request->ref, 1);
	INIT_DELAYED_WORK(&request->work, request_work);
	request->deadline = jiffies + msecs_to_jiffies(timeout_ms);
	request->callback = callback;
	request->context = context;
	request->addr = addr;
	begin_request(request);
	return 0;
}
EXPORT_SYMBOL(rdma_resolve_ip);

/**
 * addr_resolve_known_ip() - find the link addresses of a path whose peer is known at this moment
 * @src_addr: as of rdma_resolve_ip()
 * @dst_addr: as of rdma_resolve_ip()
 * @addr: as of rdma_resolve_ip(), with the result when this returns 0
 * @source: receives the source address then
 *
 * Context: may sleep, but does not wait for an answer.
 * Return: 0; -EAGAIN if an answer of the network is needed, for which rdma_resolve_ip() waits; else
 * what that returns.
 */
int addr_resolve_known_ip(const struct sockaddr *src_addr, const struct sockaddr *dst_addr,
			  struct rdma_dev_addr *addr, struct sockaddr_storage *source)
{
	struct addr_query query;
	struct addr_route route;
	int ret = read_query(&query, src_addr, dst_addr, addr, false) ?:
		  addr_route_look(&query, &route);

	if (ret)
		return ret == ADDR_UNANSWERED ? -EAGAIN : ret;
	give_result(&query, &route, addr);
	memcpy(source, &route.src, rdma_addr_size(&route.src.any));
	return 0;
}
EXPORT_SYMBOL(addr_resolve_known_ip);

/* Returns a request for this structure, cancelled and with a reference, or NULL. */
static struct addr_request *find_and_cancel(const struct rdma_dev_addr *addr)
{
	struct addr_request *request;

	guard(spinlock_bh)(&lock);
	hash_for_each_possible(requests_by_addr, request, by_addr, (unsigned long)addr) {
		if (request->addr != addr || request->caller == current)
			continue;
		request->cancelled = true;
		refcount_inc(&request->ref);
		return request;
	}
	return NULL;
}

/**
 * rdma_addr_cancel() - end all requests for an address
 * @addr: as it was given to rdma_resolve_ip()
 *
 * Afterwards no callback with it runs or will be called, except one that called this function
 * itself.
 *
 * Context: may sleep; without locks that a callback of @addr takes.
 */
void rdma_addr_cancel(struct rdma_dev_addr *addr)
{
	struct addr_request *request;

	while ((request = find_and_cancel(addr))) {
		cancel_delayed_work_sync(&request->work);
		end_request(request);
		put_request(request);
	}
}
EXPORT_SYMBOL(rdma_addr_cancel);

/* Queues the work of each request that waits for a hop. Called with the lock held. */
static void wake(const struct addr_hop *hop, const union ib_gid *gid)
{
	struct addr_request *request;

	hash_for_each_possible(requests_by_hop, request, by_hop, hop_hash(hop)) {
		if (memcmp(&request->hop, hop, sizeof(*hop)) || request->cancelled)
			continue;
		if (gid) {
			request->gid = *gid;
			request->answered = true;
		}
		mod_delayed_work(addr_wq, &request->work, 0);
	}
}

/**
 * addr_service_doit() - handle a program's answer with the GID of an IP address
 * @skb: its message
 * @nlh: header of the message
 * @extack: for errors of its attributes
 *
 * Refusals, and answers that no request waits for, are ignored: another program may have the GID.
 *
 * Return: 0; -EPERM for a question, which programs do not ask here; -EINVAL without a GID.
 */
int addr_service_doit(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct addr_hop hop = { .family = AF_IB };
	union ib_gid gid;
	int ret;

	/* The kernel's own question comes back to it if it is a member of the group. */
	if ((nlh->nlmsg_flags & NLM_F_REQUEST) || !NETLINK_CB(skb).sk)
		return -EPERM;
	if (nlh->nlmsg_flags & RDMA_NL_LS_F_ERR)
		return 0;
	ret = addr_service_read(nlh, extack, &gid);
	if (ret)
		return ret;
	memcpy(hop.key, &nlh->nlmsg_seq, sizeof(nlh->nlmsg_seq));
	guard(spinlock_bh)(&lock);
	wake(&hop, &gid);
	return 0;
}

static int neighbour_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct neighbour *neigh = data;
	struct addr_hop hop;

	if (event != NETEVENT_NEIGH_UPDATE || !(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;
	addr_neighbour_hop(neigh, &hop);
	guard(spinlock_bh)(&lock);
	wake(&hop, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block neighbours = { .notifier_call = neighbour_event };

/* Returns 0 or -ENOMEM. */
int addr_init(void)
{
	addr_wq = alloc_workqueue("ib_addr", WQ_UNBOUND, 0);
	if (!addr_wq)
		return -ENOMEM;
	register_netevent_notifier(&neighbours);
	return 0;
}

/* Called when there are no consumers, and therefore no requests, any more. */
void addr_exit(void)
{
	unregister_netevent_notifier(&neighbours);
	destroy_workqueue(addr_wq);
	WARN_ON(!hash_empty(requests_by_addr));
}
