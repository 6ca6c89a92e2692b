// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about single tracked objects: RES_PD_GET, RES_CQ_GET and so on, for one object by its id
 * or all objects of a device.
 */
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "../object/object.h"
#include "nldev_priv.h"

/**
 * struct res_kind - requests and lists of objects of a type
 * @type: tracked type
 * @table: attribute around the list
 * @entry: attribute around an object in it
 * @number: attribute of an object's id
 * @per_port: objects belong to ports, and a request by id must have a port
 * @raw: the driver describes them, if it can
 * @put: describes an object
 */
struct res_kind {
	enum rdma_restrack_type type;
	u16 table;
	u16 entry;
	u16 number;
	bool per_port;
	bool raw;
	int (*put)(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject);
};

#define KIND(_type, _put)								\
	{										\
		.type = RDMA_RESTRACK_##_type, .table = RDMA_NLDEV_ATTR_RES_##_type,	\
		.entry = RDMA_NLDEV_ATTR_RES_##_type##_ENTRY,				\
		.number = RDMA_NLDEV_ATTR_RES_##_type##N, .put = _put,			\
	}

/* The same objects in the driver's description of its hardware state. */
#define RAW(_type, _put)								\
	{										\
		.type = RDMA_RESTRACK_##_type, .table = RDMA_NLDEV_ATTR_RES_##_type,	\
		.entry = RDMA_NLDEV_ATTR_RES_##_type##_ENTRY,				\
		.number = RDMA_NLDEV_ATTR_RES_##_type##N, .put = _put, .raw = true,	\
	}

/* The objects that each command lists. */
static const struct res_kind kinds[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_RES_PD_GET] = KIND(PD, nl_put_pd),
	[RDMA_NLDEV_CMD_RES_CQ_GET] = KIND(CQ, nl_put_cq),
	[RDMA_NLDEV_CMD_RES_MR_GET] = KIND(MR, nl_put_mr),
	[RDMA_NLDEV_CMD_RES_CTX_GET] = KIND(CTX, nl_put_ctx),
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = KIND(SRQ, nl_put_srq),
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {
		.type = RDMA_RESTRACK_CM_ID, .table = RDMA_NLDEV_ATTR_RES_CM_ID,
		.entry = RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, .number = RDMA_NLDEV_ATTR_RES_CM_IDN,
		.per_port = true, .put = nl_put_cm_id,
	},
	[RDMA_NLDEV_CMD_RES_QP_GET] = {
		.type = RDMA_RESTRACK_QP, .table = RDMA_NLDEV_ATTR_RES_QP,
		.entry = RDMA_NLDEV_ATTR_RES_QP_ENTRY, .number = RDMA_NLDEV_ATTR_RES_LQPN,
		.per_port = true, .put = nl_put_qp,
	},
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = RAW(CQ, nl_put_cq_raw),
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = RAW(MR, nl_put_mr_raw),
	[RDMA_NLDEV_CMD_RES_SRQ_GET_RAW] = RAW(SRQ, nl_put_srq_raw),
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {
		.type = RDMA_RESTRACK_QP, .table = RDMA_NLDEV_ATTR_RES_QP,
		.entry = RDMA_NLDEV_ATTR_RES_QP_ENTRY, .number = RDMA_NLDEV_ATTR_RES_LQPN,
		.per_port = true, .put = nl_put_qp_raw, .raw = true,
	},
};

/* STAT_GET of memory regions. */
static const struct res_kind mr_statistics = KIND(MR, nl_put_mr_stat);

/* STAT_GET of QPs lists the counters that they are bound to. */
static const struct res_kind counters = {
	.type = RDMA_RESTRACK_COUNTER, .table = RDMA_NLDEV_ATTR_STAT_COUNTER,
	.entry = RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, .number = RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
	.per_port = true, .put = nl_put_counter,
};

static const struct res_kind *kind_of(const struct nlmsghdr *nlh)
{
	return &kinds[RDMA_NL_GET_OP(nlh->nlmsg_type)];
}

/* Determines the sender's privilege, and the port of the request, if it has any. */
static int subject_of(struct nl_subject *subject, struct nl_request *request,
		      struct ib_device *device)
{
	subject->admin = netlink_capable(request->skb, CAP_NET_ADMIN);
	subject->port_num = 0;
	if (!request->tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return 0;
	return nl_request_port(request, device, &subject->port_num);
}

/*
 * -EINVAL is the error of a driver without a description of its own, or of nl_put_*_raw() without a
 * driver's operation: the reason is given here.
 */
static int explained(struct nl_request *request, const struct ib_device *device,
		     const struct res_kind *kind, int ret)
{
	return kind->raw && ret == -EINVAL ?
	       rdma_nl_refuse(request->extack, ret, "%s does not show its own view",
			      device->name) : ret;
}

static int reply_one(struct nl_request *request, struct ib_device *device,
		     const struct res_kind *kind)
{
	struct rdma_restrack_entry *res;
	struct nl_subject subject;
	struct nlmsghdr *reply;
	struct sk_buff *msg;
	int ret;

	ret = subject_of(&subject, request, device);
	if (ret)
		return ret;
	if (kind->per_port != !!subject.port_num)
		return rdma_nl_refuse(request->extack, -EINVAL, "such objects belong to %s",
				      kind->per_port ? "ports: none is named" :
				      "the device: no port has any");
	res = rdma_restrack_get_byid(device, kind->type,
				     nla_get_u32(request->tb[kind->number]));
	if (IS_ERR(res))
		return rdma_nl_refuse(request->extack, PTR_ERR(res), "no object has number %u",
				      nla_get_u32(request->tb[kind->number]));
	msg = nl_reply_begin(request, &reply);
	ret = msg ? nl_put_device(msg, device) : -ENOMEM;
	if (!ret)
		ret = kind->put(msg, res, &subject);
	rdma_restrack_put(res);
	return nl_reply_send(request, msg, reply, explained(request, device, kind, ret));
}

static int get_object(struct nl_request *request, const struct res_kind *kind)
{
	struct ib_device *device;
	int ret;

	if (!request->tb[kind->number])
		return rdma_nl_refuse(request->extack, -EINVAL, "no number of an object");
	device = nl_request_device(request);
	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = reply_one(request, device, kind);
	ib_device_put(device);
	return ret;
}

/**
 * nldev_res_object_get() - RDMA_NLDEV_CMD_RES_*_GET and _GET_RAW for one object
 * @skb: the request: a device, the object's id, and its port if objects of this type belong to
 *	ports
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0; -EINVAL for an incomplete request or a driver without a description of its own;
 * -ENOENT for an unknown id; -EAGAIN for an object of another port; or the error of the driver or
 * of sending.
 */
int nldev_res_object_get(struct sk_buff *skb, struct nlmsghdr *nlh,
			 struct netlink_ext_ack *extack)
{
	struct nl_request request;

	return nl_request_parse(&request, skb, nlh, extack) ?: get_object(&request, kind_of(nlh));
}

/**
 * nl_get_mr_stat() - answer STAT_GET for one region
 * @request: the request: a device and the region's id
 *
 * Return: as nldev_res_object_get().
 */
int nl_get_mr_stat(struct nl_request *request)
{
	return get_object(request, &mr_statistics);
}

/**
 * nl_get_counter() - answer STAT_GET for one counter of QPs
 * @request: the request: a device, a port, and the counter's id
 *
 * Return: as nldev_res_object_get().
 */
int nl_get_counter(struct nl_request *request)
{
	return get_object(request, &counters);
}

/* Appends one object. The message is unchanged if the object does not fit or is left out. */
static int put_entry(struct sk_buff *msg, const struct res_kind *kind,
		     struct rdma_restrack_entry *res, const struct nl_subject *subject)
{
	struct nlattr *entry = nla_nest_start_noflag(msg, kind->entry);
	int ret;

	if (!entry)
		return -EMSGSIZE;
	ret = kind->put(msg, res, subject);
	if (ret)
		nla_nest_cancel(msg, entry);
	else
		nla_nest_end(msg, entry);
	return ret == -EAGAIN ? 0 : ret;
}

/*
 * Appends as many objects as fit from id args[0] on, and sets args[0] to the id after the last of
 * them; if that wraps to 0, args[1] is set. Returns the number of objects visited, or an error
 * other than a full message.
 */
static int put_entries(struct sk_buff *msg, struct netlink_callback *cb,
		       const struct res_kind *kind, struct ib_device *device,
		       const struct nl_subject *subject, bool details)
{
	struct rdma_restrack_entry *res;
	u32 id = cb->args[0];
	int seen = 0, ret;

	while ((res = rdma_restrack_next(device, kind->type, &id))) {
		ret = details || !rdma_restrack_is_detail(res) ?
		      put_entry(msg, kind, res, subject) : 0;
		rdma_restrack_put(res);
		if (ret == -EMSGSIZE && seen)
			break;
		if (ret)
			return ret;
		seen++;
		cb->args[0] = ++id;
		if (!id) {
			cb->args[1] = true;
			break;
		}
	}
	return seen;
}

static int dump_part(struct sk_buff *skb, struct netlink_callback *cb, struct nl_request *request,
		     struct ib_device *device, const struct res_kind *kind)
{
	const struct nlattr *details = request->tb[RDMA_NLDEV_ATTR_DRIVER_DETAILS];
	struct nl_subject subject;
	struct nlmsghdr *reply;
	struct nlattr *table;
	int ret;

	ret = subject_of(&subject, request, device);
	if (ret || cb->args[1])
		return ret;
	reply = nl_dump_begin(skb, cb);
	if (!reply)
		return -EMSGSIZE;
	table = nl_put_device(skb, device) ? NULL : nla_nest_start_noflag(skb, kind->table);
	ret = table ? put_entries(skb, cb, kind, device, &subject,
				  details && nla_get_u8(details)) : -EMSGSIZE;
	if (ret <= 0) {
		nlmsg_cancel(skb, reply);
		return explained(request, device, kind, ret);
	}
	nla_nest_end(skb, table);
	nlmsg_end(skb, reply);
	return skb->len;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb, struct nl_request *request,
		const struct res_kind *kind)
{
	struct ib_device *device = nl_request_device(request);
	int ret;

	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = dump_part(skb, cb, request, device, kind);
	ib_device_put(device);
	return ret;
}

/**
 * nldev_stat_dump() - RDMA_NLDEV_CMD_STAT_GET for all objects of a kind
 * @skb: a part of the answer
 * @cb: state of the dump, as of nldev_res_object_dump()
 *
 * For QPs it lists the counters that they are bound to.
 *
 * Return: bytes in @skb, 0 at the end; -EINVAL for an incomplete request or objects of another
 * kind, or the driver's error.
 */
int nldev_stat_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_request request;
	int ret;

	ret = nl_request_parse(&request, cb->skb, cb->nlh, cb->extack);
	if (ret)
		return ret;
	if (!request.tb[RDMA_NLDEV_ATTR_STAT_RES])
		return rdma_nl_refuse(cb->extack, -EINVAL, "of which objects?");
	switch (nla_get_u32(request.tb[RDMA_NLDEV_ATTR_STAT_RES])) {
	case RDMA_NLDEV_ATTR_RES_QP:
		return dump(skb, cb, &request, &counters);
	case RDMA_NLDEV_ATTR_RES_MR:
		return dump(skb, cb, &request, &mr_statistics);
	default:
		return rdma_nl_refuse(cb->extack, -EINVAL, "such objects have no counters");
	}
}

/**
 * nldev_res_object_dump() - RDMA_NLDEV_CMD_RES_*_GET and _GET_RAW for all objects of a kind
 * @skb: a part of the answer
 * @cb: state of the dump: the request, args[0] the lowest id not sent yet, args[1] that there are
 *	no more
 *
 * Return: bytes in @skb, 0 at the end; -EINVAL for an incomplete request, or the driver's error.
 */
int nldev_res_object_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_request request;

	return nl_request_parse(&request, cb->skb, cb->nlh, cb->extack) ?:
	       dump(skb, cb, &request, kind_of(cb->nlh));
}
