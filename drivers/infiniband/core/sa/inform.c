// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notices: subscriptions to them, and the subscribers to which received notices are passed.
 *
 * Notices come as Report() requests, which only one agent of a port may receive. It is registered
 * with the port's first subscription and unregistered with the last, so that a program in user
 * space can receive them while there is no subscription in the kernel.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "standing.h"

#define ANY16 cpu_to_be16(0xffff)
#define ANY24 0xffffff

/* Bit of ib_mad_notice_attr.generic_type that is set for a generic notice */
#define IS_GENERIC 0x80

/**
 * struct ib_sa_subscription - a subscription to notices
 * @standing: renews the subscription when needed
 * @entry: in the port's list
 * @info: the notices that are wanted
 * @confirmed: @result has been called with 0; @report is not called before
 * @result: called when the subscription's state changes
 * @report: called for notices
 * @context: argument of both callbacks
 */
struct ib_sa_subscription {
	struct sa_standing standing;
	struct list_head entry;
	struct ib_sa_inform_info info;
	bool confirmed;
	void (*result)(int status, void *context);
	void (*report)(const struct ib_sa_notice *notice, void *context);
	void *context;
};

/* ---- dispatching ---- */

static u32 producer(const struct ib_mad_notice_attr *attr)
{
	return attr->prod_type_msb << 16 | be16_to_cpu(attr->prod_type_lsb);
}

static bool is_about(const struct ib_sa_inform_info *info, __be16 lid)
{
	return info->lid_range_begin == ANY16 ||
	       (be16_to_cpu(lid) >= be16_to_cpu(info->lid_range_begin) &&
		be16_to_cpu(lid) <= be16_to_cpu(info->lid_range_end));
}

/**
 * sa_wants() - does a notice match a subscription?
 * @info: the subscription
 * @notice: the notice
 *
 * If the subscription has a GID, its range of LIDs is ignored.
 *
 * Return: true if it does.
 */
bool sa_wants(const struct ib_sa_inform_info *info, const struct ib_sa_notice *notice)
{
	const struct ib_mad_notice_attr *attr = &notice->attr;
	u8 type = attr->generic_type & ~IS_GENERIC;

	if (!!(attr->generic_type & IS_GENERIC) != !!info->is_generic)
		return false;
	if (info->type != ANY16 && be16_to_cpu(info->type) != type)
		return false;
	if (info->trap_num != ANY16 && info->trap_num != attr->trap_num)
		return false;
	if (be32_to_cpu(info->producer_type) != ANY24 &&
	    be32_to_cpu(info->producer_type) != producer(attr))
		return false;
	if (!rdma_is_zero_gid(&info->gid))
		return !memcmp(&info->gid, &notice->issuer_gid, sizeof(info->gid));
	return is_about(info, attr->issuer_lid);
}
EXPORT_SYMBOL_IF_KUNIT(sa_wants);

/* Passes a notice that a port has received to all matching subscribers. */
static void dispatch(struct sa_port *port, const struct ib_sa_notice *notice)
{
	struct ib_sa_subscription *subscription;

	guard(rwsem_read)(&port->subscribers_rwsem);
	list_for_each_entry(subscription, &port->subscribers, entry)
		if (READ_ONCE(subscription->confirmed) && sa_wants(&subscription->info, notice))
			subscription->report(notice, subscription->context);
}

/* ---- receiving ---- */

static void report_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct sa_port *port = agent->context;

	rdma_destroy_ah(wc->send_buf->ah, 0);
	port->mad->free(wc->send_buf);
}

/* The subnet manager repeats a Report() until it gets a ReportResp(). */
static void confirm(struct sa_port *port, struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf;
	struct ib_sa_mad *mad;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh, port->port_num);
	if (IS_ERR(ah))
		return;
	buf = port->mad->create(agent, wc->wc->src_qp, wc->wc->pkey_index, 0, IB_MGMT_SA_HDR,
				IB_MGMT_SA_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		rdma_destroy_ah(ah, 0);
		return;
	}
	buf->ah = ah;
	mad = buf->mad;
	memcpy(mad, wc->recv_buf.mad, sizeof(*mad));
	mad->mad_hdr.method = IB_MGMT_METHOD_REPORT_RESP;
	mad->mad_hdr.status = 0;
	if (port->mad->post(buf, NULL)) {
		rdma_destroy_ah(ah, 0);
		port->mad->free(buf);
	}
}

/* Any node can send a Report(). Only those of the subnet manager are answered and dispatched. */
static bool is_from_manager(struct sa_port *port, const struct ib_wc *wc)
{
	struct sa_manager *manager = sa_manager_get(port);
	bool is;

	if (!manager)
		return false;
	is = wc->slid == manager->lid;
	sa_manager_put(manager);
	return is;
}

static void report_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	const struct ib_sa_mad *mad = (const struct ib_sa_mad *)wc->recv_buf.mad;
	struct sa_port *port = agent->context;
	struct ib_sa_notice notice;

	static_assert(sizeof(notice) == 80);
	if (!is_from_manager(port, wc->wc)) {
		port->mad->refuse_recv(agent, wc);
		return;
	}
	/*
	 * A ReportResp() that matches no request must not be answered: its sender might answer in
	 * turn, without end.
	 */
	if (mad->mad_hdr.method == IB_MGMT_METHOD_REPORT &&
	    be16_to_cpu(mad->mad_hdr.attr_id) == IB_SA_ATTR_NOTICE) {
		memcpy(&notice, mad->data, sizeof(notice));
		confirm(port, agent, wc);
		dispatch(port, &notice);
	}
	port->mad->free_recv(wc);
}

static int begin_receiving(struct sa_port *port)
{
	struct ib_mad_reg_req request = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
		.mgmt_class_version = IB_SA_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;

	set_bit(IB_MGMT_METHOD_REPORT, request.method_mask);
	agent = port->mad->register_agent(port->device, port->port_num, IB_QPT_GSI, &request, 0,
					  report_sent, report_received, port, 0);
	if (IS_ERR(agent))
		return rdma_refuse(PTR_ERR(agent),
				   "somebody else receives the notices of port %u",
				   port->port_num);
	port->notices = agent;
	return 0;
}

/*
 * The first subscription registers the agent, the last one unregisters it. The receive handler
 * takes only the rwsem.
 */
static int enter(struct sa_port *port, struct ib_sa_subscription *subscription)
{
	int ret;

	guard(mutex)(&port->notices_lock);
	if (!port->notices) {
		ret = begin_receiving(port);
		if (ret)
			return ret;
	}
	guard(rwsem_write)(&port->subscribers_rwsem);
	list_add_tail(&subscription->entry, &port->subscribers);
	return 0;
}

static void leave(struct sa_port *port, struct ib_sa_subscription *subscription)
{
	guard(mutex)(&port->notices_lock);
	scoped_guard(rwsem_write, &port->subscribers_rwsem)
		list_del(&subscription->entry);
	if (list_empty(&port->subscribers)) {
		port->mad->unregister_agent(port->notices);
		port->notices = NULL;
	}
}

/* ---- subscribing ---- */

static struct ib_sa_subscription *subscription_of(const struct sa_standing *standing)
{
	return container_of(standing, struct ib_sa_subscription, standing);
}

static void answer(int status, const struct ib_sa_table *table, void *context)
{
	sa_standing_answer(context, status);
}

static void pack(const struct ib_sa_subscription *subscription, bool on,
		 u8 record[SA_INFORM_BYTES])
{
	struct ib_sa_inform_info info = subscription->info;

	info.subscribe = on;
	info.qpn = IB_QP1;
	sa_pack_inform(&info, record);
}

static int ask(struct sa_standing *standing, bool on, struct ib_sa_query **query)
{
	u8 record[SA_INFORM_BYTES];
	const struct ib_sa_attr_query request = {
		.method = IB_MGMT_METHOD_SET,
		.attr_id = IB_SA_ATTR_INFORM_INFO,
		.attribute = record,
		.size = sizeof(record),
	};

	pack(subscription_of(standing), on, record);
	return ib_sa_query_table(standing->client, standing->port->device,
				 standing->port->port_num, &request, SA_STANDING_TIMEOUT,
				 GFP_KERNEL, answer, standing, query);
}

static bool same(const struct sa_standing *one, const struct sa_standing *other)
{
	u8 ones[SA_INFORM_BYTES], others[SA_INFORM_BYTES];

	pack(subscription_of(one), true, ones);
	pack(subscription_of(other), true, others);
	return !memcmp(ones, others, sizeof(ones));
}

static void release(struct sa_standing *standing)
{
	kfree(subscription_of(standing));
}

static void result(struct sa_standing *standing, int status)
{
	struct ib_sa_subscription *subscription = subscription_of(standing);

	subscription->result(status, subscription->context);
	if (!status)
		WRITE_ONCE(subscription->confirmed, true);
}

/*
 * A manager that confirms a subscription once more may have lost it and sent no notices until then.
 */
static const struct sa_standing_ops subscription_ops = {
	.ask = ask,
	.result = result,
	.every = true,
	.same = same,
	.release = release,
};

/**
 * ib_sa_subscribe() - subscribe to notices
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @info: the notices that are wanted
 * @result_cb: called with 0 whenever the subnet manager has confirmed the subscription, and with an
 *	error when the request could not be sent or was refused; it is then repeated. The request is
 *	also repeated when the manager changes or may have lost it; notices may have been missed
 *	between that and the confirmation
 * @report: called for every matching notice once @result_cb has been called with 0; the notice is
 *	valid until it returns
 * @context: argument of both callbacks, which may sleep but must neither subscribe nor unsubscribe
 *
 * Context: may sleep.
 * Return: the subscription, for ib_sa_unsubscribe(); -EOPNOTSUPP for an Omni-Path port, -ENODEV for
 * a port without subnet administration, -ENOMEM, or the MAD layer's error if another agent receives
 * the port's notices.
 */
struct ib_sa_subscription *
ib_sa_subscribe(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
		const struct ib_sa_inform_info *info,
		void (*result_cb)(int status, void *context),
		void (*report)(const struct ib_sa_notice *notice, void *context), void *context)
{
	struct sa_port *port = sa_port_find(device, port_num);
	int ret = sa_refuse_opa(device, port_num);
	struct ib_sa_subscription *subscription;

	if (!ret && (!port || !sa_port_get(port)))
		ret = -ENODEV;
	if (ret)
		return ERR_PTR(ret);
	subscription = kzalloc(sizeof(*subscription), GFP_KERNEL);
	if (!subscription) {
		ret = -ENOMEM;
		goto put;
	}
	subscription->info = *info;
	subscription->result = result_cb;
	subscription->report = report;
	subscription->context = context;
	ret = enter(port, subscription);
	if (ret)
		goto free;
	sa_standing_begin(&subscription->standing, client, port, &subscription_ops);
	return subscription;

free:
	kfree(subscription);
put:
	sa_port_put(port);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_sa_subscribe);

/**
 * ib_sa_unsubscribe() - end a subscription
 * @subscription: the subscription
 *
 * Sends the subnet manager the end of the subscription without waiting for the answer;
 * ib_sa_unregister_client() waits for it. On return neither callback is running any more. Context:
 * may sleep; not from a callback.
 */
void ib_sa_unsubscribe(struct ib_sa_subscription *subscription)
{
	leave(subscription->standing.port, subscription);
	sa_standing_end(&subscription->standing);
}
EXPORT_SYMBOL(ib_sa_unsubscribe);
