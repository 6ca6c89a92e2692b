// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of a query: it is posted, answered, timed out, cancelled or posted again, and its callback
 * is called once.
 *
 * The query's MAD belongs to the MAD layer (posted) or to this file. The MAD layer calls the send
 * handler once for each posting, after the receive handler if there was an answer. The send handler
 * decides, under the query's lock, whether a MAD that was flushed ends the query or is sent again
 * to another subnet manager. ib_sa_cancel_query() takes the same lock: either it finds the MAD
 * posted and cancels it, or its flag is seen before the next posting or right after it.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../object/object.h"
#include "sa_priv.h"

/* Number of times a request is repeated; its time is divided evenly among them. */
#define RETRIES 10

/* Queries that have begun and not ended. Ids are given in turn, so an id is not reused at once. */
static DEFINE_XARRAY_FLAGS(queries, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
/* Where the search for the next query's id begins */
VISIBLE_IF_KUNIT u32 sa_next_id;
EXPORT_SYMBOL_IF_KUNIT(sa_next_id);
#define QUERY_IDS XA_LIMIT(1, INT_MAX)

/* Lower half of the last transaction id */
VISIBLE_IF_KUNIT atomic_t sa_last_tid;
EXPORT_SYMBOL_IF_KUNIT(sa_last_tid);

/* Frees the table of queries, which is empty. */
void sa_queries_exit(void)
{
	rdma_xa_destroy(&queries);
}

/**
 * ib_sa_register_client() - register a user of subnet administration
 * @client: the SA client
 *
 * Context: any.
 */
void ib_sa_register_client(struct ib_sa_client *client)
{
	atomic_set(&client->users, 1);
	init_completion(&client->comp);
}
EXPORT_SYMBOL(ib_sa_register_client);

static void client_put(struct ib_sa_client *client)
{
	if (atomic_dec_and_test(&client->users))
		complete(&client->comp);
}

/**
 * ib_sa_unregister_client() - unregister a user of subnet administration
 * @client: registered SA client that starts no more queries
 *
 * Waits until its queries have ended and their callbacks have returned. Context: may sleep; not
 * from a callback.
 */
void ib_sa_unregister_client(struct ib_sa_client *client)
{
	client_put(client);
	wait_for_completion(&client->comp);
}
EXPORT_SYMBOL(ib_sa_unregister_client);

/* ---- references ---- */

static void query_release(struct kref *ref)
{
	struct ib_sa_query *query = container_of(ref, struct ib_sa_query, ref);

	kfree_rcu(query, rcu);
}

static void query_get(struct ib_sa_query *query)
{
	kref_get(&query->ref);
}

static void query_put(struct ib_sa_query *query)
{
	kref_put(&query->ref, query_release);
}

/* ---- making a query ---- */

static void set_timeout(struct ib_mad_send_buf *buf, unsigned long ms)
{
	buf->timeout_ms = min(ms / RETRIES, (unsigned long)INT_MAX);
	buf->retries = RETRIES;
	if (!buf->timeout_ms) {
		buf->timeout_ms = 1;
		buf->retries = ms;
	}
}

static u64 new_tid(struct sa_port *port)
{
	return (u64)port->agent->hi_tid << 32 | (u32)atomic_inc_return(&sa_last_tid);
}

static struct ib_mad_send_buf *make_buf(struct sa_port *port, struct sa_manager *manager, gfp_t gfp)
{
	struct ib_mad_send_buf *buf;

	buf = port->mad->create(port->agent, be32_to_cpu(IB_QP1), manager->pkey_index, 0,
				IB_MGMT_SA_HDR, IB_MGMT_SA_DATA, gfp, IB_MGMT_BASE_VERSION);
	if (!IS_ERR(buf))
		buf->ah = manager->ah;
	return buf;
}

static void write_header(struct ib_sa_query *query, const struct sa_request *request)
{
	struct ib_sa_mad *mad = query->buf->mad;

	memset(mad, 0, sizeof(*mad));
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	mad->mad_hdr.class_version = IB_SA_CLASS_VERSION;
	mad->mad_hdr.method = request->method;
	mad->mad_hdr.attr_id = cpu_to_be16(request->attr_id);
	mad->mad_hdr.attr_mod = cpu_to_be32(request->attr_mod);
	mad->mad_hdr.tid = cpu_to_be64(new_tid(query->port));
	mad->sa_hdr.comp_mask = request->comp_mask;
}

/**
 * sa_query_init() - prepare a query
 * @query: zeroed, with deliver() set; the first member of a structure that was allocated by
 *	kmalloc()
 * @request: parameters; the caller writes the record afterwards, see sa_query_record()
 *
 * Return: 0; -EOPNOTSUPP for an Omni-Path port, -ENODEV for a port without subnet administration or
 * one that is being removed, -EAGAIN while there is no subnet manager, -ENOMEM. After an error the
 * structure has been freed.
 */
int sa_query_init(struct ib_sa_query *query, const struct sa_request *request)
{
	struct sa_port *port = sa_port_find(request->device, request->port_num);
	int ret = sa_refuse_opa(request->device, request->port_num);

	if (!ret && (!port || !sa_port_get(port)))
		ret = -ENODEV;
	if (ret)
		goto free;
	kref_init(&query->ref);
	spin_lock_init(&query->lock);
	query->port = port;
	query->deadline = jiffies + msecs_to_jiffies(request->timeout_ms);
	query->manager = sa_manager_get(port);
	if (!query->manager) {
		ret = -EAGAIN;
		goto put_port;
	}
	query->buf = make_buf(port, query->manager, request->gfp);
	if (IS_ERR(query->buf)) {
		ret = -ENOMEM;
		goto put_manager;
	}
	query->buf->context[0] = query;
	set_timeout(query->buf, request->timeout_ms);
	write_header(query, request);
	query->client = request->client;
	atomic_inc(&query->client->users);
	return 0;

put_manager:
	sa_manager_put(query->manager);
put_port:
	sa_port_put(port);
free:
	kfree(query);
	return ret;
}

/* ---- posting ---- */

/* Drops the query's references, in the order in which the objects may be freed. */
static void let_go(struct ib_sa_query *query)
{
	struct ib_sa_client *client = query->client;

	query->port->mad->free(query->buf);
	sa_manager_put(query->manager);
	sa_port_put(query->port);
	client_put(client);
	query_put(query);
}

static void forget(struct ib_sa_query *query)
{
	unsigned long flags;

	xa_lock_irqsave(&queries, flags);
	__xa_erase(&queries, query->id);
	xa_unlock_irqrestore(&queries, flags);
}

/* Returns true to the first caller only, which then delivers the query's result. */
bool sa_query_claim(struct ib_sa_query *query)
{
	guard(spinlock_irqsave)(&query->lock);
	if (query->answered)
		return false;
	query->answered = true;
	return true;
}

/**
 * sa_query_end() - end a query
 * @query: query that neither the MAD layer nor the local service has
 * @status: passed to the callback, unless that has been called
 */
void sa_query_end(struct ib_sa_query *query, int status)
{
	forget(query);
	if (sa_query_claim(query))
		query->deliver(query, status, NULL);
	let_go(query);
}

/*
 * Returns 0, -EINTR if the query has been cancelled meanwhile, or the MAD layer's error.
 *
 * A security module may be asked about the MAD, so no lock is held during the posting. Whoever set
 * cancelled or stale before the MAD layer had the MAD could not cancel it, so that is done here.
 */
static int post(struct ib_sa_query *query)
{
	int ret;

	scoped_guard(spinlock_irqsave, &query->lock) {
		if (query->cancelled)
			return -EINTR;
		query->posted = true;
	}
	ret = query->port->mad->post(query->buf, NULL);
	scoped_guard(spinlock_irqsave, &query->lock) {
		if (ret)
			query->posted = false;
		else if (query->posted && (query->cancelled || query->stale))
			query->port->mad->cancel(query->buf);
	}
	return ret;
}

static void cancel(struct ib_sa_query *query)
{
	scoped_guard(spinlock_irqsave, &query->lock) {
		query->cancelled = true;
		if (query->posted)
			query->port->mad->cancel(query->buf);
	}
	if (query->detour)
		query->detour->cancel(query);
}

/* Cancels a MAD that has been posted to a manager which has been replaced. */
static void call_back(struct ib_sa_query *query)
{
	struct sa_manager *now = sa_manager_get(query->port);

	scoped_guard(spinlock_irqsave, &query->lock) {
		if (now && now != query->manager && query->posted && !query->answered &&
		    !query->stale) {
			query->stale = true;
			query->port->mad->cancel(query->buf);
		}
	}
	sa_manager_put(now);
}

/*
 * sa_queries_moved() and sa_queries_cancel() visit all queries, and may have visited this one
 * before it was posted.
 */
static void settle(struct ib_sa_query *query)
{
	bool gone;

	scoped_guard(spinlock_irqsave, &query->port->lock)
		gone = query->port->gone;
	if (gone)
		cancel(query);
	else
		call_back(query);
}

/* The query may end, and its port be removed, as soon as it has been posted, so both are held. */
static void hold(struct ib_sa_query *query)
{
	refcount_inc(&query->port->users);
	query_get(query);
}

static void release(struct ib_sa_query *query)
{
	sa_port_put(query->port);
	query_put(query);
}

/*
 * Enters the query in the table, which gives it the id for ib_sa_cancel_query(). Returns 0 or
 * -ENOMEM.
 */
static int enter(struct ib_sa_query *query, gfp_t gfp)
{
	unsigned long flags;
	int ret;

	if (gfpflags_allow_blocking(gfp)) {
		ret = xa_alloc_cyclic_irq(&queries, &query->id, query, QUERY_IDS, &sa_next_id,
					  gfp);
	} else {
		xa_lock_irqsave(&queries, flags);
		ret = __xa_alloc_cyclic(&queries, &query->id, query, QUERY_IDS, &sa_next_id, gfp);
		xa_unlock_irqrestore(&queries, flags);
	}
	return min(ret, 0);
}

/**
 * sa_query_send() - start a query
 * @query: prepared query with its record; no longer the caller's afterwards
 * @gfp: how to allocate
 * @out: receives the query before anything is sent, for ib_sa_cancel_query(); may be NULL
 *
 * Return: the query's id, above 0; -ENOMEM or the MAD layer's error, in which case there is no
 * callback.
 */
int sa_query_send(struct ib_sa_query *query, gfp_t gfp, struct ib_sa_query **out)
{
	int id, ret = enter(query, gfp);

	if (ret) {
		let_go(query);
		return ret;
	}
	id = query->id;
	if (out)
		*out = query;
	hold(query);
	if (!query->detour || query->detour->ask(query, gfp))
		ret = post(query);
	if (ret) {
		query->answered = true;
		sa_query_end(query, ret);
	} else {
		settle(query);
	}
	release(query);
	return ret ? ret : id;
}

/**
 * sa_query_resume() - post the MAD of a query that has begun
 * @query: query that the MAD layer does not have; ended with the error if it cannot be posted
 */
void sa_query_resume(struct ib_sa_query *query)
{
	int ret;

	hold(query);
	ret = post(query);
	if (ret)
		sa_query_end(query, ret);
	else
		settle(query);
	release(query);
}

/* Time until the query's deadline, in milliseconds */
static unsigned long time_left(const struct ib_sa_query *query)
{
	long left = query->deadline - jiffies;

	return left > 0 ? jiffies_to_msecs(left) : 0;
}

/*
 * Replaces the MAD by a copy for the current manager. The MAD is not posted, so only the caller
 * uses it.
 */
static int readdress(struct ib_sa_query *query, unsigned long ms)
{
	struct sa_manager *manager = sa_manager_get(query->port), *old_manager;
	struct ib_mad_send_buf *buf, *old;
	struct ib_sa_mad *mad;

	if (!manager)
		return -ETIMEDOUT;
	buf = make_buf(query->port, manager, GFP_KERNEL);
	if (IS_ERR(buf)) {
		sa_manager_put(manager);
		return -ENOMEM;
	}
	mad = buf->mad;
	memcpy(mad, query->buf->mad, sizeof(*mad));
	/* With a new TID, a late answer of the old manager matches no query. */
	mad->mad_hdr.tid = cpu_to_be64(new_tid(query->port));
	buf->context[0] = query;
	set_timeout(buf, ms);
	scoped_guard(spinlock_irqsave, &query->lock) {
		old = query->buf;
		old_manager = query->manager;
		query->buf = buf;
		query->manager = manager;
		query->stale = false;
	}
	query->port->mad->free(old);
	sa_manager_put(old_manager);
	return 0;
}

static void send_again(struct ib_sa_query *query)
{
	unsigned long ms = time_left(query);
	int ret = ms ? readdress(query, ms) : -ETIMEDOUT;

	if (!ret)
		sa_query_resume(query);
	else
		sa_query_end(query, ret);
}

/* ---- the MAD layer's handlers ---- */

static int status_of(const struct ib_mad_send_wc *wc)
{
	switch (wc->status) {
	case IB_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	case IB_WC_WR_FLUSH_ERR:
		return -EINTR;
	default:
		return -EIO;
	}
}

/* Send handler: a posting has ended. */
void sa_send_handler(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_sa_query *query = wc->send_buf->context[0];
	bool again;

	scoped_guard(spinlock_irqsave, &query->lock) {
		query->posted = false;
		again = query->stale && !query->cancelled && !query->answered &&
			wc->status == IB_WC_WR_FLUSH_ERR;
	}
	if (again)
		send_again(query);
	else
		sa_query_end(query, status_of(wc));
}

/* Does an answer belong to the query's request? The MAD layer compares only class and TID. */
static bool belongs(const struct ib_sa_query *query, const struct ib_mad_recv_wc *wc)
{
	const struct ib_sa_mad *request = query->buf->mad;
	const struct ib_mad_hdr *answer = &wc->recv_buf.mad->mad_hdr;
	u8 method = request->mad_hdr.method;

	/* A Set is answered by GetResp. */
	if (method == IB_MGMT_METHOD_SET)
		method = IB_MGMT_METHOD_GET;
	return wc->mad_len >= IB_MGMT_SA_HDR && answer->method == (method | IB_MGMT_METHOD_RESP) &&
	       answer->attr_id == request->mad_hdr.attr_id;
}

/* Receive handler. The send handler, which ends the query, is called afterwards. */
void sa_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	struct sa_port *port = agent->context;
	struct ib_sa_query *query = buf ? buf->context[0] : NULL;

	if (query && sa_query_claim(query)) {
		if (!belongs(query, wc))
			query->deliver(query, -EPROTO, NULL);
		else
			query->deliver(query, wc->recv_buf.mad->mad_hdr.status ? -EINVAL : 0, wc);
	}
	port->mad->free_recv(wc);
}

/* ---- cancelling and visiting queries ---- */

/**
 * ib_sa_cancel_query() - cancel a query
 * @id: return value of the call that started it
 * @query: the query as that call stored it
 *
 * The callback is called with -EINTR, unless the result is already being delivered. Nothing happens
 * if the query has ended.
 * Context: any that may take a spinlock, a query's callback included.
 */
void ib_sa_cancel_query(int id, struct ib_sa_query *query)
{
	unsigned long flags;
	bool found;

	xa_lock_irqsave(&queries, flags);
	found = id > 0 && xa_load(&queries, id) == query;
	if (found)
		query_get(query);
	xa_unlock_irqrestore(&queries, flags);
	if (!found)
		return;
	cancel(query);
	query_put(query);
}
EXPORT_SYMBOL(ib_sa_cancel_query);

/* Calls visit() for each query of a port that is in the table during the whole walk. */
static void visit_queries(struct sa_port *port, void (*visit)(struct ib_sa_query *query))
{
	struct ib_sa_query *query;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&queries, id, query) {
		if (query->port != port || !kref_get_unless_zero(&query->ref))
			continue;
		rcu_read_unlock();
		visit(query);
		query_put(query);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* Called when the port has another subnet manager. */
void sa_queries_moved(struct sa_port *port)
{
	visit_queries(port, call_back);
}

/* Called when the port is being removed. */
void sa_queries_cancel(struct sa_port *port)
{
	visit_queries(port, cancel);
}
