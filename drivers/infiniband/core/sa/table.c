// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries for any attribute, whose answer is a table of records.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "sa_priv.h"

struct table_query {
	struct ib_sa_query query;
	void (*callback)(int status, const struct ib_sa_table *table, void *context);
	void *context;
};

/* Copies the records of an answer of one or more packets. Each packet repeats the header. */
static void copy_records(struct ib_mad_recv_wc *wc, u8 *to, size_t left)
{
	struct ib_mad_recv_buf *buf;

	list_for_each_entry(buf, &wc->rmpp_list, list) {
		const struct ib_sa_mad *mad = (const struct ib_sa_mad *)buf->mad;
		size_t part = min_t(size_t, left, sizeof(mad->data));

		memcpy(to, mad->data, part);
		to += part;
		left -= part;
	}
}

/*
 * The number of records follows from their size and the length of the answer. The answer to a Get()
 * or Set() is one record, and its AttributeOffset may be 0.
 */
static int fill(struct ib_sa_table *table, struct ib_mad_recv_wc *wc)
{
	const struct ib_sa_mad *mad = (const struct ib_sa_mad *)wc->recv_buf.mad;
	size_t bytes = wc->mad_len - IB_MGMT_SA_HDR;
	bool is_table = mad->mad_hdr.method == IB_SA_METHOD_GET_TABLE_RESP ||
			mad->mad_hdr.method == IB_SA_METHOD_GET_MULTI_RESP;
	u8 *records;

	table->mad_status = be16_to_cpu(mad->mad_hdr.status);
	if (table->mad_status)
		return -EINVAL;
	table->size = 8 * be16_to_cpu(mad->sa_hdr.attr_offset);
	if (!is_table && !table->size)
		table->size = min_t(size_t, bytes, IB_MGMT_SA_DATA);
	if (!table->size)
		return 0;
	table->count = is_table ? bytes / table->size : 1;
	bytes = (size_t)table->count * table->size;
	if (!bytes)
		return 0;
	records = kvzalloc(bytes, GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	copy_records(wc, records, bytes);
	table->records = records;
	return 0;
}

static void table_deliver(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc)
{
	struct table_query *own = container_of(query, struct table_query, query);
	struct ib_sa_table table = {};

	if (wc)
		status = fill(&table, wc);
	own->callback(status, wc ? &table : NULL, own->context);
	kvfree(table.records);
}

/**
 * ib_sa_query_table() - query any attribute
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @query: parameters of the query; not used after return
 * @timeout_ms: time until the query fails with -ETIMEDOUT
 * @gfp_mask: how to allocate
 * @callback: called once unless an error is returned: with 0 and all records of the answer, which
 *	are valid until it returns; with -EINVAL and mad_status if the answer has an error status;
 *	with -ENOMEM; or without a table with -ETIMEDOUT, -EINTR if the query was cancelled or the
 *	device is removed, -EPROTO if an answer does not belong to the request, or -EIO. It may
 *	sleep
 * @context: for @callback
 * @sa_query: receives the query, for ib_sa_cancel_query(), before @callback can be called
 *
 * Context: depends on @gfp_mask.
 * Return: id for ib_sa_cancel_query(), above 0; -EINVAL for a record that does not fit in a
 * request; other errors as for ib_sa_path_rec_get().
 */
int ib_sa_query_table(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
		      const struct ib_sa_attr_query *query, unsigned long timeout_ms,
		      gfp_t gfp_mask,
		      void (*callback)(int status, const struct ib_sa_table *table, void *context),
		      void *context, struct ib_sa_query **sa_query)
{
	const struct sa_request request = {
		.client = client, .device = device, .port_num = port_num,
		.method = query->method, .attr_id = query->attr_id, .attr_mod = query->attr_mod,
		.comp_mask = query->comp_mask, .timeout_ms = timeout_ms, .gfp = gfp_mask,
	};
	struct table_query *own;
	int ret;

	if (query->size > IB_MGMT_SA_DATA || (query->size && !query->attribute))
		return rdma_refuse(-EINVAL, "a record of %u bytes does not fit in a request",
				   query->size);
	own = kzalloc(sizeof(*own), gfp_mask);
	if (!own)
		return -ENOMEM;
	own->query.deliver = table_deliver;
	own->callback = callback;
	own->context = context;
	ret = sa_query_init(&own->query, &request);
	if (ret)
		return ret;
	memcpy(sa_query_record(&own->query), query->attribute, query->size);
	return sa_query_send(&own->query, gfp_mask, sa_query);
}
EXPORT_SYMBOL(ib_sa_query_table);

/* ---- frequent queries ---- */

#define BIT_OF(component) IB_SA_COMP_MASK(component)

static void put_path(struct ib_sa_attr_query *query, u8 *record,
		     const union ib_sa_query_input *input, bool by_gids)
{
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB, .reversible = 1,
				    .numb_path = 0x7f };

	query->comp_mask = IB_SA_PATH_REC_REVERSIBLE | IB_SA_PATH_REC_NUMB_PATH;
	if (by_gids) {
		path.sgid = input->gids.sgid;
		path.dgid = input->gids.dgid;
		query->comp_mask |= IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID;
	} else {
		sa_path_set_slid(&path, input->lids.slid);
		sa_path_set_dlid(&path, input->lids.dlid);
		query->comp_mask |= IB_SA_PATH_REC_SLID | IB_SA_PATH_REC_DLID;
	}
	ib_sa_pack_path(&path, record);
}

static int put_service(struct ib_sa_attr_query *query, u8 *record,
		       const union ib_sa_query_input *input, bool by_name)
{
	struct ib_sa_service_rec *rec __free(kfree) = kzalloc(sizeof(*rec), GFP_KERNEL);

	if (!rec)
		return -ENOMEM;
	if (by_name && strscpy(rec->name, input->name, sizeof(rec->name)) < 0)
		return rdma_refuse(-EINVAL, "the service's name has more than 63 bytes");
	if (!by_name)
		rec->id = input->service_id;
	query->comp_mask = by_name ? IB_SA_SERVICE_REC_SERVICE_NAME :
				     IB_SA_SERVICE_REC_SERVICE_ID;
	ib_sa_pack_service(rec, record);
	return 0;
}

static void put_lid(struct ib_sa_attr_query *query, u8 *record, u16 lid)
{
	put_unaligned_be16(lid, record);
	query->comp_mask |= BIT_OF(0);
}

/**
 * ib_sa_attr_query_init() - prepare a frequent query
 * @query: receives the parameters, for ib_sa_query_table()
 * @record: receives its record; @query points to it
 * @type: type of the query
 * @input: parameters that @type needs, or NULL
 *
 * All types query a table, except ClassPortInfo, which is one record. Context: may sleep.
 * Return: 0, -EINVAL for an unknown @type or a name that is too long, -ENOMEM.
 */
int ib_sa_attr_query_init(struct ib_sa_attr_query *query, u8 record[IB_MGMT_SA_DATA],
			  enum ib_sa_query_type type, const union ib_sa_query_input *input)
{
	static const u16 attrs[] = {
		[IB_SA_QUERY_ALL_SERVICES] = IB_SA_ATTR_SERVICE_REC,
		[IB_SA_QUERY_SERVICE_BY_NAME] = IB_SA_ATTR_SERVICE_REC,
		[IB_SA_QUERY_SERVICE_BY_ID] = IB_SA_ATTR_SERVICE_REC,
		[IB_SA_QUERY_CLASS_PORT_INFO] = IB_SA_ATTR_CLASS_PORTINFO,
		[IB_SA_QUERY_NODE_BY_GUID] = IB_SA_ATTR_NODE_REC,
		[IB_SA_QUERY_PORT_BY_LID] = IB_SA_ATTR_PORT_INFO_REC,
		[IB_SA_QUERY_VL_ARB] = IB_SA_ATTR_VL_ARB_REC,
		[IB_SA_QUERY_SL2VL] = IB_SA_ATTR_SL2VL_REC,
		[IB_SA_QUERY_PATH_BY_GIDS] = IB_SA_ATTR_PATH_REC,
		[IB_SA_QUERY_PATH_BY_LIDS] = IB_SA_ATTR_PATH_REC,
	};

	if (type >= ARRAY_SIZE(attrs))
		return rdma_refuse(-EINVAL, "there is no query of type %u", (unsigned int)type);
	memset(record, 0, IB_MGMT_SA_DATA);
	*query = (struct ib_sa_attr_query) {
		.method = IB_SA_METHOD_GET_TABLE,
		.attr_id = attrs[type],
		.attribute = record,
		.size = IB_MGMT_SA_DATA,
	};
	switch (type) {
	case IB_SA_QUERY_CLASS_PORT_INFO:
		query->method = IB_MGMT_METHOD_GET;
		break;
	case IB_SA_QUERY_ALL_SERVICES:
		break;
	case IB_SA_QUERY_SERVICE_BY_NAME:
		return put_service(query, record, input, true);
	case IB_SA_QUERY_SERVICE_BY_ID:
		return put_service(query, record, input, false);
	case IB_SA_QUERY_NODE_BY_GUID:
		/*
		 * NodeInfo follows the LID and padding. Its NodeGUID is at byte 12 and is component
		 * 7.
		 */
		memcpy(record + 4 + 12, &input->node_guid, sizeof(input->node_guid));
		query->comp_mask = BIT_OF(7);
		break;
	case IB_SA_QUERY_PORT_BY_LID:
		put_lid(query, record, input->lid);
		break;
	case IB_SA_QUERY_VL_ARB:
		put_lid(query, record, input->vl_arb.lid);
		record[2] = input->vl_arb.port;
		record[3] = input->vl_arb.block;
		query->comp_mask |= BIT_OF(1) | (input->vl_arb.block ? BIT_OF(2) : 0);
		break;
	case IB_SA_QUERY_SL2VL:
		put_lid(query, record, input->sl2vl.lid);
		record[2] = input->sl2vl.in_port;
		record[3] = input->sl2vl.out_port;
		query->comp_mask |= BIT_OF(1) | BIT_OF(2);
		break;
	case IB_SA_QUERY_PATH_BY_GIDS:
		put_path(query, record, input, true);
		break;
	case IB_SA_QUERY_PATH_BY_LIDS:
		put_path(query, record, input, false);
		break;
	}
	return 0;
}
EXPORT_SYMBOL(ib_sa_attr_query_init);
