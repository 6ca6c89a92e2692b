// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The codec of the communication manager's messages: see msg.h.
 *
 * One table says for each number of each message where it stands in the datagram and in struct
 * cm_msg; packing, unpacking and the checks of both go through it. Places are those of the
 * specification's tables of messages: a byte behind the header of the datagram, and the bit in it
 * counted from the most significant one.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "msg.h"

/* The header that all management datagrams have. */
#define MAD_BASE_VERSION	0
#define MAD_CLASS		1
#define MAD_CLASS_VERSION	2
#define MAD_METHOD		3
#define MAD_TID			8
#define MAD_ATTR_ID		16
#define MAD_ATTR_MOD		20
#define MAD_BODY		24

/* Attribute id of the first message, REQ; the others follow it. */
#define CM_FIRST_ATTR_ID	0x10

/**
 * struct cm_field - a number in a message
 * @at: byte of the datagram: the first of the eight that end with the number, which has no bits in
 *	others; the first of a GID
 * @below: bits below it in the last of them
 * @width: bits in the datagram, 1 to 64; more: bytes that are copied as they are
 * @member: where it stands in struct cm_msg
 * @size: bytes of the member
 * @shift: bits of the member below it, if it is one piece of several
 * @bits: that the member has in all pieces together
 * @max: greatest value, 0: what @bits allow
 */
struct cm_field {
	u8	at;
	u8	below;
	u8	width;
	u16	member;
	u8	size;
	u8	shift;
	u8	bits;
	u8	max;
};

/* The header is longer than eight bytes. Numbers of 64 bits begin with a byte. */
#define PLACE(byte, first, n)	.at = (byte) + MAD_BODY + ((first) + (n) - 1) / 8 - 7, \
				.below = 7 - ((first) + (n) - 1) % 8, .width = (n)
#define MEMBER(m)		.member = offsetof(struct cm_msg, m), \
				.size = sizeof_field(struct cm_msg, m)

/* A number of @n bits, which begins at bit @first of byte @byte. */
#define NUMBER(m, byte, first, n) \
	{ PLACE(byte, first, n), MEMBER(m), .bits = (n) }
/* The same, at most @most. */
#define NUMBER_MAX(m, byte, first, n, most) \
	{ PLACE(byte, first, n), MEMBER(m), .bits = (n), .max = (most) }
/* Bits @low and up of a member that has @all in several pieces. */
#define PIECE(m, byte, n, low, all) \
	{ PLACE(byte, 0, n), MEMBER(m), .shift = (low), .bits = (all) }
#define GID(m, byte) \
	{ .at = (byte) + MAD_BODY, .width = 128, MEMBER(m), .bits = 128 }

/* The two paths of a REQ, each from its first byte. A LAP's differs behind the GIDs. */
#define REQ_PATH(p, byte) \
	NUMBER(p.local_lid, (byte), 0, 16), \
	NUMBER(p.remote_lid, (byte) + 2, 0, 16), \
	GID(p.local_gid, (byte) + 4), \
	GID(p.remote_gid, (byte) + 20), \
	NUMBER(p.flow_label, (byte) + 36, 0, 20), \
	NUMBER(p.rate, (byte) + 39, 2, 6), \
	NUMBER(p.traffic_class, (byte) + 40, 0, 8), \
	NUMBER(p.hop_limit, (byte) + 41, 0, 8), \
	NUMBER(p.sl, (byte) + 42, 0, 4), \
	NUMBER(p.subnet_local, (byte) + 42, 4, 1), \
	NUMBER(p.ack_timeout, (byte) + 43, 0, 5)

static const struct cm_field cm_req_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(req.vendor_id, 5, 0, 24),
	NUMBER(req.service_id, 8, 0, 64),
	NUMBER(req.ca_guid, 16, 0, 64),
	NUMBER(req.qkey, 28, 0, 32),
	NUMBER(req.qpn, 32, 0, 24),
	NUMBER(req.responder_resources, 35, 0, 8),
	NUMBER(req.eecn, 36, 0, 24),
	NUMBER(req.initiator_depth, 39, 0, 8),
	NUMBER(req.remote_eecn, 40, 0, 24),
	NUMBER(req.remote_response_timeout, 43, 0, 5),
	NUMBER(req.transport, 43, 5, 2),
	NUMBER(req.flow_control, 43, 7, 1),
	NUMBER(req.starting_psn, 44, 0, 24),
	NUMBER(req.local_response_timeout, 47, 0, 5),
	NUMBER(req.retry_count, 47, 5, 3),
	NUMBER(req.pkey, 48, 0, 16),
	NUMBER(req.mtu, 50, 0, 4),
	NUMBER(req.rdc_exists, 50, 4, 1),
	NUMBER(req.rnr_retry_count, 50, 5, 3),
	NUMBER(req.max_cm_retries, 51, 0, 4),
	NUMBER(req.srq, 51, 4, 1),
	NUMBER(req.extended_transport, 51, 5, 3),
	REQ_PATH(req.primary, 52),
	REQ_PATH(req.alternate, 96),
	NUMBER(req.sap_supported, 139, 5, 1),
};

static const struct cm_field cm_mra_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER_MAX(mra.about, 8, 0, 2, CM_ABOUT_OTHER),
	NUMBER(mra.service_timeout, 9, 0, 5),
};

static const struct cm_field cm_rej_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER_MAX(rej.about, 8, 0, 2, CM_ABOUT_OTHER),
	NUMBER_MAX(rej.info_length, 9, 0, 7, IB_CM_REJ_ARI_LENGTH),
	NUMBER(rej.reason, 10, 0, 16),
};

static const struct cm_field cm_rep_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER(rep.qkey, 8, 0, 32),
	NUMBER(rep.qpn, 12, 0, 24),
	PIECE(rep.vendor_id, 15, 8, 16, 24),
	NUMBER(rep.eecn, 16, 0, 24),
	PIECE(rep.vendor_id, 19, 8, 8, 24),
	NUMBER(rep.starting_psn, 20, 0, 24),
	PIECE(rep.vendor_id, 23, 8, 0, 24),
	NUMBER(rep.responder_resources, 24, 0, 8),
	NUMBER(rep.initiator_depth, 25, 0, 8),
	NUMBER(rep.target_ack_delay, 26, 0, 5),
	NUMBER(rep.failover_accepted, 26, 5, 2),
	NUMBER(rep.flow_control, 26, 7, 1),
	NUMBER(rep.rnr_retry_count, 27, 0, 3),
	NUMBER(rep.srq, 27, 3, 1),
	NUMBER(rep.ca_guid, 28, 0, 64),
};

/* RTU and DREP are nothing but their ids. */
static const struct cm_field cm_ids_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
};

static const struct cm_field cm_dreq_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER(dreq.remote_qpn, 8, 0, 24),
};

static const struct cm_field cm_sidr_req_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(sidr_req.pkey, 4, 0, 16),
	NUMBER(sidr_req.service_id, 8, 0, 64),
};

static const struct cm_field cm_sidr_rep_fields[] = {
	NUMBER(remote_id, 0, 0, 32),
	NUMBER(sidr_rep.status, 4, 0, 8),
	NUMBER_MAX(sidr_rep.info_length, 5, 0, 8, IB_CM_SIDR_REP_INFO_LENGTH),
	PIECE(sidr_rep.vendor_id, 6, 16, 8, 24),
	NUMBER(sidr_rep.qpn, 8, 0, 24),
	PIECE(sidr_rep.vendor_id, 11, 8, 0, 24),
	NUMBER(sidr_rep.service_id, 12, 0, 64),
	NUMBER(sidr_rep.qkey, 20, 0, 32),
};

static const struct cm_field cm_lap_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER(lap.remote_qpn, 12, 0, 24),
	NUMBER(lap.remote_response_timeout, 15, 0, 5),
	NUMBER(lap.alternate.local_lid, 20, 0, 16),
	NUMBER(lap.alternate.remote_lid, 22, 0, 16),
	GID(lap.alternate.local_gid, 24),
	GID(lap.alternate.remote_gid, 40),
	NUMBER(lap.alternate.flow_label, 56, 0, 20),
	NUMBER(lap.alternate.traffic_class, 59, 0, 8),
	NUMBER(lap.alternate.hop_limit, 60, 0, 8),
	NUMBER(lap.alternate.rate, 61, 2, 6),
	NUMBER(lap.alternate.sl, 62, 0, 4),
	NUMBER(lap.alternate.subnet_local, 62, 4, 1),
	NUMBER(lap.alternate.ack_timeout, 63, 0, 5),
};

static const struct cm_field cm_apr_fields[] = {
	NUMBER(local_id, 0, 0, 32),
	NUMBER(remote_id, 4, 0, 32),
	NUMBER_MAX(apr.info_length, 8, 0, 8, IB_CM_APR_INFO_LENGTH),
	NUMBER(apr.status, 9, 0, 8),
};

/**
 * struct cm_layout - a message
 * @name: for people
 * @fields: its numbers
 * @count: number of them
 * @data: byte behind the header where the private data begin
 * @data_size: bytes of private data
 * @info: byte behind the header where additional information begins, if @info_size
 * @info_size: bytes of additional information
 * @info_member: where the pointer to it stands in struct cm_msg
 * @length_member: where its length, a u8, stands in struct cm_msg
 */
struct cm_layout {
	const char		*name;
	const struct cm_field	*fields;
	u8			count;
	u8			data;
	u8			data_size;
	u8			info;
	u8			info_size;
	u8			info_member;
	u8			length_member;
};

#define LAYOUT(f, byte, bytes)	.fields = (f), .count = ARRAY_SIZE(f), .data = (byte), \
				.data_size = (bytes)
#define INFO(m, byte, bytes)	.info = (byte), .info_size = (bytes), \
				.info_member = offsetof(struct cm_msg, m.info), \
				.length_member = offsetof(struct cm_msg, m.info_length)

static const struct cm_layout cm_layouts[CM_MSG_TYPES] = {
	[CM_MSG_REQ] = { "REQ", LAYOUT(cm_req_fields, 140, IB_CM_REQ_PRIVATE_DATA_SIZE) },
	[CM_MSG_MRA] = { "MRA", LAYOUT(cm_mra_fields, 10, IB_CM_MRA_PRIVATE_DATA_SIZE) },
	[CM_MSG_REJ] = { "REJ", LAYOUT(cm_rej_fields, 84, IB_CM_REJ_PRIVATE_DATA_SIZE),
			 INFO(rej, 12, IB_CM_REJ_ARI_LENGTH) },
	[CM_MSG_REP] = { "REP", LAYOUT(cm_rep_fields, 36, IB_CM_REP_PRIVATE_DATA_SIZE) },
	[CM_MSG_RTU] = { "RTU", LAYOUT(cm_ids_fields, 8, IB_CM_RTU_PRIVATE_DATA_SIZE) },
	[CM_MSG_DREQ] = { "DREQ", LAYOUT(cm_dreq_fields, 12, IB_CM_DREQ_PRIVATE_DATA_SIZE) },
	[CM_MSG_DREP] = { "DREP", LAYOUT(cm_ids_fields, 8, IB_CM_DREP_PRIVATE_DATA_SIZE) },
	[CM_MSG_SIDR_REQ] = { "SIDR_REQ",
			      LAYOUT(cm_sidr_req_fields, 16, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE) },
	[CM_MSG_SIDR_REP] = { "SIDR_REP",
			      LAYOUT(cm_sidr_rep_fields, 96, IB_CM_SIDR_REP_PRIVATE_DATA_SIZE),
			      INFO(sidr_rep, 24, IB_CM_SIDR_REP_INFO_LENGTH) },
	[CM_MSG_LAP] = { "LAP", LAYOUT(cm_lap_fields, 64, IB_CM_LAP_PRIVATE_DATA_SIZE) },
	[CM_MSG_APR] = { "APR", LAYOUT(cm_apr_fields, 84, IB_CM_APR_PRIVATE_DATA_SIZE),
			 INFO(apr, 12, IB_CM_APR_INFO_LENGTH) },
};

static u64 cm_member(const struct cm_field *field, const void *member)
{
	switch (field->size) {
	case 1:
		return *(const u8 *)member;
	case 2:
		return *(const u16 *)member;
	case 4:
		return *(const u32 *)member;
	default:
		return *(const u64 *)member;
	}
}

static void cm_member_set(const struct cm_field *field, void *member, u64 value)
{
	switch (field->size) {
	case 1:
		*(u8 *)member = value;
		break;
	case 2:
		*(u16 *)member = value;
		break;
	case 4:
		*(u32 *)member = value;
		break;
	default:
		*(u64 *)member = value;
		break;
	}
}

static bool cm_in_range(const struct cm_field *field, u64 value)
{
	if (field->bits < 64 && value >> field->bits)
		return false;
	return !field->max || value <= field->max;
}

static void cm_field_put(const struct cm_field *field, u8 *mad, u64 value)
{
	value &= GENMASK_ULL(field->width - 1, 0);
	/* The datagram was all zero, and numbers do not overlap. */
	put_unaligned_be64(get_unaligned_be64(mad + field->at) | value << field->below,
			   mad + field->at);
}

static u64 cm_field_get(const struct cm_field *field, const u8 *mad)
{
	return get_unaligned_be64(mad + field->at) >> field->below &
	       GENMASK_ULL(field->width - 1, 0);
}

/**
 * cm_msg_pack() - write a message into a datagram
 * @msg: the message
 * @mad: CM_MAD_SIZE bytes, all of which are written
 *
 * Return: 0; -ERANGE if a number is too large for its field; -EINVAL if there are more private
 * data or additional information than the message has room for. After an error the datagram is of
 * no use.
 */
int cm_msg_pack(const struct cm_msg *msg, void *mad)
{
	const struct cm_layout *layout = &cm_layouts[msg->type];
	const void *member;
	u8 *bytes = mad;
	u64 value;

	memset(bytes, 0, CM_MAD_SIZE);
	bytes[MAD_BASE_VERSION] = IB_MGMT_BASE_VERSION;
	bytes[MAD_CLASS] = IB_MGMT_CLASS_CM;
	bytes[MAD_CLASS_VERSION] = CM_CLASS_VERSION;
	bytes[MAD_METHOD] = IB_MGMT_METHOD_SEND;
	put_unaligned_be64(msg->tid, bytes + MAD_TID);
	put_unaligned_be16(CM_FIRST_ATTR_ID + msg->type, bytes + MAD_ATTR_ID);
	put_unaligned_be32(msg->attr_mod, bytes + MAD_ATTR_MOD);

	for (const struct cm_field *field = layout->fields; field < layout->fields + layout->count;
	     field++) {
		member = (const u8 *)msg + field->member;
		if (field->width > 64) {
			memcpy(bytes + field->at, member, field->size);
			continue;
		}
		value = cm_member(field, member);
		if (!cm_in_range(field, value))
			return -ERANGE;
		cm_field_put(field, bytes, value >> field->shift);
	}

	if (layout->info_size) {
		const u8 *info = *(const u8 **)((const u8 *)msg + layout->info_member);
		u8 length = *((const u8 *)msg + layout->length_member);

		/* The table has seen to it that it is not too long. */
		if (length && !info)
			return -EINVAL;
		if (length)
			memcpy(bytes + MAD_BODY + layout->info, info, length);
	}
	if (msg->private_data && msg->private_data_len) {
		if (msg->private_data_len > layout->data_size)
			return -EINVAL;
		memcpy(bytes + MAD_BODY + layout->data, msg->private_data, msg->private_data_len);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_pack);

/**
 * cm_msg_unpack() - read a datagram
 * @msg: receives the message; private data and additional information point into @mad
 * @mad: CM_MAD_SIZE bytes from anybody
 *
 * Return: 0; -ENOMSG if it is none of the communication manager's messages; -EPROTONOSUPPORT if its
 * version is another one; -EPROTO if a number in it has a value that makes no sense. After an
 * error @msg is of no use.
 */
int cm_msg_unpack(struct cm_msg *msg, const void *mad)
{
	const struct cm_layout *layout;
	const u8 *bytes = mad;
	u64 value;
	u8 *member;

	memset(msg, 0, sizeof(*msg));
	if (bytes[MAD_CLASS] != IB_MGMT_CLASS_CM || bytes[MAD_METHOD] != IB_MGMT_METHOD_SEND)
		return -ENOMSG;
	if (bytes[MAD_BASE_VERSION] != IB_MGMT_BASE_VERSION ||
	    bytes[MAD_CLASS_VERSION] != CM_CLASS_VERSION)
		return -EPROTONOSUPPORT;
	msg->type = cm_msg_type_of(cpu_to_be16(get_unaligned_be16(bytes + MAD_ATTR_ID)));
	if (msg->type == CM_MSG_TYPES)
		return -ENOMSG;
	msg->tid = get_unaligned_be64(bytes + MAD_TID);
	msg->attr_mod = get_unaligned_be32(bytes + MAD_ATTR_MOD);

	layout = &cm_layouts[msg->type];
	for (const struct cm_field *field = layout->fields; field < layout->fields + layout->count;
	     field++) {
		member = (u8 *)msg + field->member;
		if (field->width > 64) {
			memcpy(member, bytes + field->at, field->size);
			continue;
		}
		value = cm_member(field, member) | cm_field_get(field, bytes) << field->shift;
		if (!cm_in_range(field, value))
			return -EPROTO;
		cm_member_set(field, member, value);
	}

	if (layout->info_size)
		*(const u8 **)((u8 *)msg + layout->info_member) = bytes + MAD_BODY + layout->info;
	msg->private_data = bytes + MAD_BODY + layout->data;
	msg->private_data_len = layout->data_size;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_unpack);

/**
 * cm_msg_type_of() - which message an attribute id says
 * @attr_id: attribute ID of the datagram
 *
 * Return: the message, CM_MSG_TYPES if it is none of them.
 */
enum cm_msg_type cm_msg_type_of(__be16 attr_id)
{
	unsigned int type = be16_to_cpu(attr_id) - CM_FIRST_ATTR_ID;

	return min_t(unsigned int, type, CM_MSG_TYPES);
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_type_of);

/**
 * cm_msg_attr_id() - get the attribute id of a message
 * @type: the message
 *
 * Return: the id.
 */
__be16 cm_msg_attr_id(enum cm_msg_type type)
{
	return cpu_to_be16(CM_FIRST_ATTR_ID + type);
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_attr_id);

/**
 * cm_msg_private_data_size() - get the size of the private data of a message
 * @type: the message
 *
 * Return: bytes.
 */
u8 cm_msg_private_data_size(enum cm_msg_type type)
{
	return cm_layouts[type].data_size;
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_private_data_size);

/**
 * cm_msg_name() - get a message's name, for traces
 * @type: the message, or any other number
 *
 * Return: its name in capitals, or "unknown".
 */
const char *cm_msg_name(enum cm_msg_type type)
{
	return (unsigned int)type < CM_MSG_TYPES ? cm_layouts[type].name : "unknown";
}
EXPORT_SYMBOL_IF_KUNIT(cm_msg_name);

/**
 * cm_req_qp_type() - get the type of QP that a REQ asks its receiver for
 * @req: the request
 *
 * Return: the type, or 0 if there are no such QPs here.
 */
enum ib_qp_type cm_req_qp_type(const struct cm_req *req)
{
	if (req->transport == CM_TRANSPORT_RC)
		return IB_QPT_RC;
	if (req->transport == CM_TRANSPORT_UC)
		return IB_QPT_UC;
	/* An initiator asks for a target. */
	if (req->transport == CM_TRANSPORT_EXTENDED && req->extended_transport == CM_EXTENDED_XRC)
		return IB_QPT_XRC_TGT;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_req_qp_type);

/**
 * cm_req_set_qp_type() - say in a REQ which type of QP its sender has
 * @req: the request
 * @qp_type: QP type of the sender's QP
 *
 * Return: 0; -EINVAL if QPs of this type are not connected.
 */
int cm_req_set_qp_type(struct cm_req *req, enum ib_qp_type qp_type)
{
	req->extended_transport = 0;
	switch (qp_type) {
	case IB_QPT_RC:
		req->transport = CM_TRANSPORT_RC;
		return 0;
	case IB_QPT_UC:
		req->transport = CM_TRANSPORT_UC;
		return 0;
	case IB_QPT_XRC_INI:
		req->transport = CM_TRANSPORT_EXTENDED;
		req->extended_transport = CM_EXTENDED_XRC;
		return 0;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cm_req_set_qp_type);

/**
 * cm_rep_qpn() - get the QP number of a REP's sender
 * @rep: the reply
 * @qp_type: type of the QP of the reply's receiver, which sent the REQ
 *
 * Return: its number.
 */
u32 cm_rep_qpn(const struct cm_rep *rep, enum ib_qp_type qp_type)
{
	return qp_type == IB_QPT_XRC_INI ? rep->eecn : rep->qpn;
}
EXPORT_SYMBOL_IF_KUNIT(cm_rep_qpn);

/**
 * cm_rep_set_qpn() - say in a REP which QP its sender has
 * @rep: the reply
 * @qp_type: type of the sender's QP; the target of XRC stands where end-to-end contexts do
 * @qpn: its number
 */
void cm_rep_set_qpn(struct cm_rep *rep, enum ib_qp_type qp_type, u32 qpn)
{
	bool xrc = qp_type == IB_QPT_XRC_TGT;

	rep->qpn = xrc ? 0 : qpn;
	rep->eecn = xrc ? qpn : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_rep_set_qpn);

/**
 * cm_req_has_alternate() - has a REQ an alternate path?
 * @req: the request
 *
 * Return: true if the alternate path begins anywhere, at a LID or a GID.
 */
bool cm_req_has_alternate(const struct cm_req *req)
{
	static const union ib_gid none;

	return req->alternate.local_lid ||
	       memcmp(&req->alternate.local_gid, &none, sizeof(none));
}
EXPORT_SYMBOL_IF_KUNIT(cm_req_has_alternate);

/**
 * cm_req_refusal() - why nobody can serve a REQ
 * @req: the request
 *
 * Return: enum ib_cm_rej_reason, or 0 if it depends on who listens.
 */
u16 cm_req_refusal(const struct cm_req *req)
{
	if (!cm_req_qp_type(req))
		return IB_CM_REJ_INVALID_TRANSPORT_TYPE;
	if (req->mtu < IB_MTU_256 || req->mtu > IB_MTU_4096)
		return IB_CM_REJ_INVALID_MTU;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_req_refusal);
