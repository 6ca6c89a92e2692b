// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that list an adapter's objects.  Each answer is a page of the list.
 */
#include <arpa/inet.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/listing.h"
#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"

/* Adds a number unless it is VLIST_NONE. */
static void add_number(struct json_object *o, const char *name, u32 n)
{
	if (n != VLIST_NONE)
		request_add_u64(o, name, n);
}

static struct json_object *describe_qp(const union vobject_info *info)
{
	const struct vqp_info *q = &info->qp;
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "qpn", q->qpn);
	request_add_word(o, "type", vqp_type_name(q->type));
	request_add_word(o, "state", vqp_state_name(q->state));
	request_add_u64(o, "port", q->port);
	request_add_u64(o, "dlid", q->dlid);
	request_add_u64(o, "dest_qpn", q->dest_qpn);
	add_number(o, "send_cqn", q->send_cqn);
	add_number(o, "recv_cqn", q->recv_cqn);
	add_number(o, "xrcdn", q->xrcdn);
	if (q->has_srq)
		request_add_u64(o, "srqn", q->srqn);
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

static struct json_object *describe_cq(const union vobject_info *info)
{
	const struct vcq_info *q = &info->cq;
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "cqn", q->cqn);
	request_add_u64(o, "eqn", q->eqn);
	request_add_u64(o, "size", q->size);
	request_add_u64(o, "filled", q->filled);
	request_add_u64(o, "qps", q->qps);
	request_add_bool(o, "error", q->err);
	return o;
}

static struct json_object *describe_srq(const union vobject_info *info)
{
	const struct vsrq_info *q = &info->srq;
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "srqn", q->srqn);
	request_add_u64(o, "size", q->size);
	request_add_u64(o, "left", q->left);
	request_add_u64(o, "limit", q->limit);
	request_add_u64(o, "qps", q->qps);
	add_number(o, "xrcdn", q->xrcdn);
	add_number(o, "cqn", q->cqn);
	request_add_bool(o, "error", q->err);
	return o;
}

static struct json_object *describe_group(const union vobject_info *info)
{
	const struct vgroup_info *g = &info->group;
	struct json_object *o = json_object_new_object(), *qps = json_object_new_array();
	char text[INET6_ADDRSTRLEN];

	request_add_word(o, "mgid", inet_ntop(AF_INET6, g->mgid, text, sizeof(text)));
	request_add_u64(o, "mlid", g->mlid);
	request_add_u64(o, "attached", g->nqps);
	for (u32 i = 0; i < MIN(g->nqps, VLIST_GROUP_QPS); i++)
		json_object_array_add(qps, json_object_new_uint64(g->qpn[i]));
	json_object_object_add(o, "qpns", qps);
	return o;
}

/* Writes a letter for each right. */
static const char *rights(u8 access, char *text)
{
	static const struct {
		u8 bit;
		char letter;
	} all[] = {
		{ VHCA_ACCESS_LOCAL_WRITE, 'l' }, { VHCA_ACCESS_REMOTE_READ, 'r' },
		{ VHCA_ACCESS_REMOTE_WRITE, 'w' }, { VHCA_ACCESS_REMOTE_ATOMIC, 'a' },
		{ VHCA_ACCESS_MW_BIND, 'b' }, { VHCA_ACCESS_FLUSH_GLOBAL, 'g' },
		{ VHCA_ACCESS_FLUSH_PERSISTENT, 'p' },
	};
	char *at = text;

	for (u32 i = 0; i < ARRAY_SIZE(all); i++)
		if (access & all[i].bit)
			*at++ = all[i].letter;
	*at = 0;
	return text;
}

static struct json_object *describe_key(const union vobject_info *info)
{
	const struct vkey_info *k = &info->key;
	struct json_object *o = json_object_new_object();
	char text[8];

	request_add_u64(o, "key", k->key);
	request_add_word(o, "type", vkey_type_name(k->type));
	request_add_u64(o, "pdn", k->pdn);
	request_add_u64(o, "addr", k->addr);
	request_add_u64(o, "length", k->length);
	request_add_word(o, "access", rights(k->access, text));
	if (k->type == VHCA_MKEY_MW_1 || k->type == VHCA_MKEY_MW_2)
		request_add_u64(o, "region", k->region);
	else
		request_add_u64(o, "windows", k->windows);
	if (k->type == VHCA_MKEY_MW_2)
		request_add_u64(o, "qpn", k->qpn);
	return o;
}

static const struct {
	const char *name;
	struct json_object *(*describe)(const union vobject_info *info);
} lists[VLIST_KINDS] = {
	[VLIST_QPS] = { "qps", describe_qp },
	[VLIST_CQS] = { "cqs", describe_cq },
	[VLIST_SRQS] = { "srqs", describe_srq },
	[VLIST_GROUPS] = { "groups", describe_group },
	[VLIST_KEYS] = { "keys", describe_key },
};

void request_list(struct request *r)
{
	const struct ctl_hca *hca = request_hca(r);
	const char *name = request_word(r, "command");
	union vobject_info page[VLIST_PAGE];
	struct json_object *list;
	u32 kind = 0, from, n;

	if (!hca || !request_from(r, &from))
		return;
	while (strcmp(lists[kind].name, name))
		kind++;
	n = vdev_list(hca->dev, kind, &from, page);
	list = json_object_new_array();
	for (u32 i = 0; i < n; i++)
		json_object_array_add(list, lists[kind].describe(&page[i]));
	request_add_word(r->out, "list", name);
	json_object_object_add(r->out, name, list);
	if (from != VLIST_END)
		request_add_u64(r->out, "next", from);
}
