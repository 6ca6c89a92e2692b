// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that list an adapter's objects, a page an answer.
 */
#include "ctl/request.h"
#include "dev/list.h"

static struct json_object *describe_qp(const struct vqp_info *q)
{
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "qpn", q->qpn);
	request_add_word(o, "type", vqp_type_name(q->type));
	request_add_word(o, "state", vqp_state_name(q->state));
	request_add_u64(o, "port", q->port);
	request_add_u64(o, "dlid", q->dlid);
	request_add_u64(o, "dest_qpn", q->dest_qpn);
	request_add_u64(o, "send_cqn", q->send_cqn);
	request_add_u64(o, "recv_cqn", q->recv_cqn);
	request_add_u64(o, "sq_blocks", q->sq_blocks);
	request_add_u64(o, "sq_requests", q->sq_requests);
	request_add_u64(o, "rq_left", q->rq_left);
	request_add_u64(o, "tx_packets", q->stats.tx_packets);
	request_add_u64(o, "tx_bytes", q->stats.tx_bytes);
	request_add_u64(o, "tx_msgs", q->stats.tx_msgs);
	request_add_u64(o, "rx_packets", q->stats.rx_packets);
	request_add_u64(o, "rx_bytes", q->stats.rx_bytes);
	request_add_u64(o, "rx_msgs", q->stats.rx_msgs);
	request_add_u64(o, "errors", q->stats.errors);
	return o;
}

static struct json_object *describe_cq(const struct vcq_info *q)
{
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "cqn", q->cqn);
	request_add_u64(o, "eqn", q->eqn);
	request_add_u64(o, "size", q->size);
	request_add_u64(o, "filled", q->filled);
	request_add_u64(o, "qps", q->qps);
	request_add_bool(o, "error", q->err);
	return o;
}

/* The adapter, and where the page starts; NULL after refusing. */
static const struct ctl_hca *page_of(struct request *r, u32 *from)
{
	const struct ctl_hca *hca = request_hca(r);
	struct json_object *v;
	s64 n = 0;

	if (!hca)
		return NULL;
	if (json_object_object_get_ex(r->in, "from", &v)) {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < 0 || n > INT32_MAX) {
			request_refuse(r, "not a place in the list", "from");
			return NULL;
		}
	}
	*from = n;
	return hca;
}

/* Adds the page to the answer, and where the next one starts, if there is one. */
static void add_page(struct request *r, const char *name, struct json_object *list, u32 next)
{
	request_add_word(r->out, "list", name);
	json_object_object_add(r->out, name, list);
	if (next != VLIST_END)
		request_add_u64(r->out, "next", next);
}

void request_qps(struct request *r)
{
	struct vqp_info page[VLIST_PAGE];
	struct json_object *list;
	const struct ctl_hca *hca;
	u32 from, n;

	hca = page_of(r, &from);
	if (!hca)
		return;
	n = vdev_list_qps(hca->dev, &from, page);
	list = json_object_new_array();
	for (u32 i = 0; i < n; i++)
		json_object_array_add(list, describe_qp(&page[i]));
	add_page(r, "qps", list, from);
}

void request_cqs(struct request *r)
{
	struct vcq_info page[VLIST_PAGE];
	struct json_object *list;
	const struct ctl_hca *hca;
	u32 from, n;

	hca = page_of(r, &from);
	if (!hca)
		return;
	n = vdev_list_cqs(hca->dev, &from, page);
	list = json_object_new_array();
	for (u32 i = 0; i < n; i++)
		json_object_array_add(list, describe_cq(&page[i]));
	add_page(r, "cqs", list, from);
}
