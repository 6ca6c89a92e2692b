// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port mapper's messages, as tables of attributes.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "iwcm.h"
#include "portmap.h"

/* Types of attributes. */
enum kind {
	NUMBER,		/* of as many bytes as the member has */
	TEXT,		/* with a NUL within the member's size */
	ADDRESS,
};

/**
 * struct field - an attribute and its member of struct iwpm_msg
 * @type: IWPM_NLA_ number
 * @kind: type of the attribute
 * @offset: offset of the member
 * @size: size of the member, in bytes
 * @since: first version of the messages that has it, 0 for all
 */
struct field {
	u8 type;
	u8 kind;
	u16 offset;
	u16 size;
	u16 since;
};

#define FIELD_SINCE(_type, _kind, _member, _since)					\
	{										\
		.type = _type, .kind = _kind, .since = _since,				\
		.offset = offsetof(struct iwpm_msg, _member),				\
		.size = sizeof_field(struct iwpm_msg, _member),				\
	}
#define FIELD(_type, _kind, _member) FIELD_SINCE(_type, _kind, _member, 0)

struct layout {
	const struct field *fields;
	unsigned int count;
};

#define LAYOUT(_fields) { .fields = _fields, .count = ARRAY_SIZE(_fields) }

/* ---- messages that the kernel sends ---- */

static const struct field ask_register[] = {
	FIELD(IWPM_NLA_REG_PID_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_REG_IF_NAME, TEXT, if_name),
	FIELD(IWPM_NLA_REG_IBDEV_NAME, TEXT, dev_name),
	FIELD(IWPM_NLA_REG_ULIB_NAME, TEXT, library),
};

static const struct field ask_add[] = {
	FIELD(IWPM_NLA_MANAGE_MAPPING_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_MANAGE_ADDR, ADDRESS, local),
	FIELD_SINCE(IWPM_NLA_MANAGE_FLAGS, NUMBER, flags, 4),
};

static const struct field ask_query[] = {
	FIELD(IWPM_NLA_QUERY_MAPPING_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_QUERY_LOCAL_ADDR, ADDRESS, local),
	FIELD(IWPM_NLA_QUERY_REMOTE_ADDR, ADDRESS, remote),
	FIELD_SINCE(IWPM_NLA_QUERY_FLAGS, NUMBER, flags, 4),
};

static const struct field ask_remove[] = {
	FIELD(IWPM_NLA_MANAGE_MAPPING_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_MANAGE_ADDR, ADDRESS, local),
};

static const struct field say_mapping[] = {
	FIELD(IWPM_NLA_MAPINFO_LOCAL_ADDR, ADDRESS, local),
	FIELD(IWPM_NLA_MAPINFO_MAPPED_ADDR, ADDRESS, mapped_local),
	FIELD_SINCE(IWPM_NLA_MAPINFO_FLAGS, NUMBER, flags, 4),
};

static const struct field say_count[] = {
	FIELD(IWPM_NLA_MAPINFO_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_MAPINFO_SEND_NUM, NUMBER, sent),
};

/* ---- messages in both directions ---- */

static const struct field hello[] = {
	FIELD(IWPM_NLA_HELLO_ABI_VERSION, NUMBER, version),
};

/* ---- messages that the daemon sends ---- */

static const struct field hear_register[] = {
	FIELD(IWPM_NLA_RREG_PID_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_RREG_IBDEV_NAME, TEXT, dev_name),
	FIELD(IWPM_NLA_RREG_ULIB_NAME, TEXT, library),
	FIELD(IWPM_NLA_RREG_ULIB_VER, NUMBER, version),
	FIELD(IWPM_NLA_RREG_PID_ERR, NUMBER, err),
};

static const struct field hear_add[] = {
	FIELD(IWPM_NLA_RMANAGE_MAPPING_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_RMANAGE_ADDR, ADDRESS, local),
	FIELD(IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR, ADDRESS, mapped_local),
	FIELD(IWPM_NLA_RMANAGE_MAPPING_ERR, NUMBER, err),
};

static const struct field hear_query[] = {
	FIELD(IWPM_NLA_RQUERY_MAPPING_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_RQUERY_LOCAL_ADDR, ADDRESS, local),
	FIELD(IWPM_NLA_RQUERY_REMOTE_ADDR, ADDRESS, remote),
	FIELD(IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, ADDRESS, mapped_local),
	FIELD(IWPM_NLA_RQUERY_MAPPED_REM_ADDR, ADDRESS, mapped_remote),
	FIELD(IWPM_NLA_RQUERY_MAPPING_ERR, NUMBER, err),
};

static const struct field hear_error[] = {
	FIELD(IWPM_NLA_ERR_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_ERR_CODE, NUMBER, err),
};

static const struct field hear_mappings_wanted[] = {
	FIELD(IWPM_NLA_MAPINFO_ULIB_NAME, TEXT, library),
	FIELD(IWPM_NLA_MAPINFO_ULIB_VER, NUMBER, version),
};

static const struct field hear_count[] = {
	FIELD(IWPM_NLA_MAPINFO_SEQ, NUMBER, seq),
	FIELD(IWPM_NLA_MAPINFO_SEND_NUM, NUMBER, sent),
	FIELD(IWPM_NLA_MAPINFO_ACK_NUM, NUMBER, acked),
};

static const struct layout sent[RDMA_NL_IWPM_NUM_OPS] = {
	[RDMA_NL_IWPM_REG_PID] = LAYOUT(ask_register),
	[RDMA_NL_IWPM_ADD_MAPPING] = LAYOUT(ask_add),
	[RDMA_NL_IWPM_QUERY_MAPPING] = LAYOUT(ask_query),
	[RDMA_NL_IWPM_REMOVE_MAPPING] = LAYOUT(ask_remove),
	[RDMA_NL_IWPM_MAPINFO] = LAYOUT(say_mapping),
	[RDMA_NL_IWPM_MAPINFO_NUM] = LAYOUT(say_count),
	[RDMA_NL_IWPM_HELLO] = LAYOUT(hello),
};

static const struct layout received[RDMA_NL_IWPM_NUM_OPS] = {
	[RDMA_NL_IWPM_REG_PID] = LAYOUT(hear_register),
	[RDMA_NL_IWPM_ADD_MAPPING] = LAYOUT(hear_add),
	[RDMA_NL_IWPM_QUERY_MAPPING] = LAYOUT(hear_query),
	[RDMA_NL_IWPM_REMOTE_INFO] = LAYOUT(hear_query),
	[RDMA_NL_IWPM_HANDLE_ERR] = LAYOUT(hear_error),
	[RDMA_NL_IWPM_MAPINFO] = LAYOUT(hear_mappings_wanted),
	[RDMA_NL_IWPM_MAPINFO_NUM] = LAYOUT(hear_count),
	[RDMA_NL_IWPM_HELLO] = LAYOUT(hello),
};

/* Sequence number of the last message. */
VISIBLE_IF_KUNIT atomic_t iwpm_last_seq;
EXPORT_SYMBOL_IF_KUNIT(iwpm_last_seq);

/**
 * iwpm_next_seq() - get the sequence number of the next message
 *
 * Context: any.
 * Return: the number.
 */
u32 iwpm_next_seq(void)
{
	return atomic_inc_return(&iwpm_last_seq);
}

/**
 * iwpm_msg_put() - append a message
 * @skb: buffer
 * @op: RDMA_NL_IWPM_ operation that the kernel sends
 * @seq: its number
 * @flags: NLM_F_ flags
 * @msg: its contents
 * @version: version of the messages: attributes of later versions are left out
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE with nothing appended if @skb has no room.
 */
int iwpm_msg_put(struct sk_buff *skb, unsigned int op, u32 seq, u16 flags,
		 const struct iwpm_msg *msg, u16 version)
{
	const struct layout *layout = &sent[op];
	struct nlmsghdr *nlh;

	if (!ibnl_put_msg(skb, &nlh, seq, 0, RDMA_NL_IWCM, op, flags))
		return -EMSGSIZE;
	for (unsigned int i = 0; i < layout->count; i++) {
		const struct field *field = &layout->fields[i];

		if (version < field->since)
			continue;
		/* Removes the whole message if there is no room. */
		if (ibnl_put_attr(skb, nlh, field->size, (void *)msg + field->offset, field->type))
			return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int take_attr(const struct field *field, const struct nlattr *attr, struct iwpm_msg *msg)
{
	size_t len = nla_len(attr);

	switch (field->kind) {
	case TEXT:
		len = strnlen(nla_data(attr), min_t(size_t, len, field->size));
		if (len == nla_len(attr) || len >= field->size)
			return -EINVAL;
		break;
	default:
		if (len != field->size)
			return -EINVAL;
	}
	memcpy((void *)msg + field->offset, nla_data(attr), len);
	return 0;
}

/**
 * iwpm_msg_parse() - read a message of the daemon
 * @nlh: the message, whose length netlink has checked
 * @op: RDMA_NL_IWPM_ operation that the daemon sends
 * @msg: gets its contents
 *
 * Every attribute of the operation must be there, and of the right size; others are skipped.
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int iwpm_msg_parse(const struct nlmsghdr *nlh, unsigned int op, struct iwpm_msg *msg)
{
	const struct layout *layout = &received[op];
	u32 missing = BIT(layout->count) - 1;
	const struct nlattr *attr;
	int rest;

	memset(msg, 0, sizeof(*msg));
	if (nlh->nlmsg_len < NLMSG_HDRLEN)
		return -EINVAL;
	nlmsg_for_each_attr(attr, nlh, 0, rest) {
		for (unsigned int i = 0; i < layout->count; i++) {
			if (layout->fields[i].type != nla_type(attr))
				continue;
			if (take_attr(&layout->fields[i], attr, msg))
				return -EINVAL;
			missing &= ~BIT(i);
		}
	}
	return missing ? -EINVAL : 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_msg_parse);

/**
 * iwpm_transmit() - send a message
 * @skb: the message, consumed
 * @road: the receiver, and whether sending may wait
 * @portid: the daemon's port; not used for IWPM_TO_ALL
 *
 * The daemon is in the initial network namespace.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int iwpm_transmit(struct sk_buff *skb, enum iwpm_road road, u32 portid)
{
	KUNIT_STATIC_STUB_REDIRECT(iwpm_transmit, skb, road, portid);
	switch (road) {
	case IWPM_TO_ALL:
		return rdma_nl_multicast(&init_net, skb, RDMA_NL_GROUP_IWPM, GFP_KERNEL);
	case IWPM_PATIENT:
		return rdma_nl_unicast_wait(&init_net, skb, portid);
	case IWPM_AT_ONCE:
		return rdma_nl_unicast(&init_net, skb, portid);
	}
	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_transmit);
