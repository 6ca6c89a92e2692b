// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of a port to the subnet manager and to the agents of units. A work item sends a request
 * and waits for the answer; a pending request is cancelled as soon as the port is removed.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "ioscan_priv.h"

/* How long the subnet manager may take for an answer, in milliseconds. */
#define SA_TIMEOUT 3000

/* Status of an SA answer: no record matches. */
#define SA_STATUS_NO_RECORDS 0x0300

/* Milliseconds in which an agent has to answer, and number of retransmissions. */
#define UNIT_TIMEOUT 1000
#define UNIT_RETRIES 3

static struct ib_sa_client sa_client;

/* ---- the subnet manager ---- */

struct ios_query {
	struct completion done;
	int status;
	struct ios_table *table;
	struct ib_sa_query *query;
};

static void answered(int status, const struct ib_sa_table *table, void *context)
{
	struct ios_query *own = context;
	size_t bytes;

	own->status = status;
	if (status == -EINVAL && table->mad_status == SA_STATUS_NO_RECORDS) {
		own->status = 0;
	} else if (!status && table->count) {
		bytes = (size_t)table->count * table->size;
		own->table->records = kvmalloc(bytes, GFP_KERNEL);
		if (own->table->records) {
			memcpy(own->table->records, table->records, bytes);
			own->table->count = table->count;
			own->table->size = table->size;
		} else {
			own->status = -ENOMEM;
		}
	}
	complete(&own->done);
}

static int real_table(struct ios_port *port, const struct ib_sa_attr_query *query,
		      struct ios_table *table)
{
	struct ios_query own = { .table = table };
	bool gone;
	int id;

	*table = (struct ios_table){};
	init_completion(&own.done);
	id = ib_sa_query_table(&sa_client, port->device, port->port_num, query, SA_TIMEOUT,
			       GFP_KERNEL, answered, &own, &own.query);
	if (id < 0)
		return id;
	scoped_guard(spinlock_irqsave, &port->lock) {
		port->query = own.query;
		port->query_id = id;
		gone = port->gone;
	}
	if (gone)
		ib_sa_cancel_query(id, own.query);
	wait_for_completion(&own.done);
	scoped_guard(spinlock_irqsave, &port->lock)
		port->query = NULL;
	return own.status;
}

/* ---- units ---- */

/**
 * struct ios_request - a request to a unit's agent
 * @done: completed when the MAD layer has returned it
 * @result: as of ios_ops.get()
 * @data: receives the attribute
 */
struct ios_request {
	struct completion done;
	int result;
	u8 *data;
};

/* The MAD layer has checked the management class and the transaction ID. */
static void received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *answer = &wc->recv_buf.mad->mad_hdr, *asked;
	struct ios_request *own;

	if (buf) {
		own = buf->context[0];
		asked = buf->mad;
		if (answer->attr_id != asked->attr_id || answer->attr_mod != asked->attr_mod) {
			own->result = -EPROTO;
		} else {
			own->result = be16_to_cpu(answer->status);
			memcpy(own->data, (const u8 *)wc->recv_buf.mad + IB_MGMT_DEVICE_HDR,
			       IB_MGMT_DEVICE_DATA);
		}
	}
	ib_free_recv_mad(wc);
}

/* Called after received() if there is an answer. */
static void sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ios_request *own = wc->send_buf->context[0];

	if (wc->status == IB_WC_RESP_TIMEOUT_ERR)
		own->result = -ETIMEDOUT;
	else if (wc->status != IB_WC_SUCCESS)
		own->result = -EINTR;
	complete(&own->done);
}

/* Lower half of the last TID. */
VISIBLE_IF_KUNIT atomic_t ios_last_tid;
EXPORT_SYMBOL_IF_KUNIT(ios_last_tid);

/**
 * ios_new_tid() - choose the TID of a request
 * @agent: the agent that sends it
 *
 * Context: any.
 * Return: the TID, which repeats after 2^32 requests.
 */
VISIBLE_IF_KUNIT u64 ios_new_tid(const struct ib_mad_agent *agent)
{
	return (u64)agent->hi_tid << 32 | (u32)atomic_inc_return(&ios_last_tid);
}
EXPORT_SYMBOL_IF_KUNIT(ios_new_tid);

static struct ib_mad_send_buf *make(struct ios_talk *talk, u16 attr_id, u32 attr_mod)
{
	struct ib_mad_agent *agent = talk->port->agent;
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(agent, be32_to_cpu(IB_QP1), talk->pkey_index, 0,
				 IB_MGMT_DEVICE_HDR, IB_MGMT_DEVICE_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	buf->ah = talk->ah;
	buf->timeout_ms = UNIT_TIMEOUT;
	buf->retries = UNIT_RETRIES;
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_DEVICE_MGMT;
	hdr->class_version = IB_DM_CLASS_VERSION;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64(ios_new_tid(agent));
	hdr->attr_id = cpu_to_be16(attr_id);
	hdr->attr_mod = cpu_to_be32(attr_mod);
	return buf;
}

/* Either end() finds the request and cancels it, or this finds that the port is being removed. */
static void announce(struct ios_port *port, struct ib_mad_send_buf *buf)
{
	guard(spinlock_irqsave)(&port->lock);
	port->request = buf;
	if (port->gone && buf)
		ib_cancel_mad(buf);
}

static int real_get(struct ios_talk *talk, u16 attr_id, u32 attr_mod, u8 data[IB_MGMT_DEVICE_DATA])
{
	struct ios_request own = { .result = -EPROTO, .data = data };
	struct ib_mad_send_buf *buf = make(talk, attr_id, attr_mod);
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	init_completion(&own.done);
	buf->context[0] = &own;
	ret = ib_post_send_mad(buf, NULL);
	if (!ret) {
		announce(talk->port, buf);
		wait_for_completion(&own.done);
		announce(talk->port, NULL);
		ret = own.result;
	}
	ib_free_send_mad(buf);
	return ret;
}

static int real_reach(struct ios_talk *talk)
{
	struct ios_port *port = talk->port;
	struct rdma_ah_attr attr = {};
	int ret;

	ret = ib_find_cached_pkey(port->device, port->port_num, be16_to_cpu(talk->rec->pkey),
				  &talk->pkey_index);
	if (!ret)
		ret = ib_init_ah_attr_from_path(port->device, port->port_num, talk->rec, &attr,
						NULL);
	if (ret)
		return ret;
	talk->ah = rdma_create_ah(port->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	return PTR_ERR_OR_ZERO(talk->ah);
}

static void real_leave(struct ios_talk *talk)
{
	rdma_destroy_ah(talk->ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* ---- ports ---- */

static void noticed(const struct ib_sa_notice *notice, void *context)
{
	struct ios_port *port = context;

	port->notice(port, notice);
}

/* Notices of earlier changes were not forwarded: the port searches again. */
static void subscribed(int status, void *context)
{
	struct ios_port *port = context;

	if (!status)
		port->notice(port, NULL);
}

/* Without notices the other reasons to search remain. */
static void subscribe(struct ios_port *port)
{
	struct ib_sa_subscription *subscription;
	struct ib_sa_inform_info info;

	ib_sa_inform_info_init(&info);
	subscription = ib_sa_subscribe(&sa_client, port->device, port->port_num, &info, subscribed,
				       noticed, port);
	if (IS_ERR(subscription))
		ibdev_warn(port->device, "port %u: no notices of I/O units: %pe\n", port->port_num,
			   subscription);
	else
		port->subscription = subscription;
}

static int real_open(struct ios_port *port)
{
	struct ib_mad_agent *agent;

	if (!rdma_cap_ib_sa(port->device, port->port_num) ||
	    rdma_cap_opa_ah(port->device, port->port_num))
		return -EOPNOTSUPP;
	agent = ib_register_mad_agent(port->device, port->port_num, IB_QPT_GSI, NULL, 0, sent,
				      received, port, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	port->agent = agent;
	subscribe(port);
	return 0;
}

static void real_close(struct ios_port *port)
{
	if (port->subscription)
		ib_sa_unsubscribe(port->subscription);
	ib_unregister_mad_agent(port->agent);
}

static void real_cancel(struct ios_port *port)
{
	struct ib_sa_query *query;
	int id;

	scoped_guard(spinlock_irqsave, &port->lock) {
		query = port->query;
		id = port->query_id;
		if (port->request)
			ib_cancel_mad(port->request);
	}
	if (query)
		ib_sa_cancel_query(id, query);
}

static const struct ios_ops real_ops = {
	.open = real_open,
	.close = real_close,
	.cancel = real_cancel,
	.table = real_table,
	.reach = real_reach,
	.get = real_get,
	.leave = real_leave,
};

const struct ios_ops *ios_ops = &real_ops;
EXPORT_SYMBOL_IF_KUNIT(ios_ops);

/**
 * ios_requests_init() - become a user of subnet administration
 */
void ios_requests_init(void)
{
	ib_sa_register_client(&sa_client);
}

/**
 * ios_requests_exit() - wait until queries have ended
 */
void ios_requests_exit(void)
{
	ib_sa_unregister_client(&sa_client);
}
