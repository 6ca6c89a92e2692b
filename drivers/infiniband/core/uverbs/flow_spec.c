// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Translates the specifications of a flow rule from the user's format, whose filters may be shorter
 * or longer than those this kernel knows, to the format of drivers.
 */
#include <linux/unaligned.h>

#include "commands.h"

/**
 * struct filter_kind - the filter for one packet header
 * @type: enum ib_flow_spec_type
 * @len: bytes of a filter as drivers know it
 * @size: bytes of a specification as drivers know it
 * @val: offset of the filter there
 * @mask: offset of its mask there
 * @bits: width in bits of the number at @number; 0 if the filter has no number of limited width
 * @number: offset in the filter of that number, which is big-endian and takes four bytes
 */
struct filter_kind {
	u16 type;
	u8 len;
	u8 size;
	u8 val;
	u8 mask;
	u8 bits;
	u8 number;
};

#define FILTER(_type, _member)								\
	.type = IB_FLOW_SPEC_##_type, .len = sizeof_field(union ib_flow_spec, _member.val), \
	.size = sizeof_field(union ib_flow_spec, _member),				\
	.val = offsetof(union ib_flow_spec, _member.val),				\
	.mask = offsetof(union ib_flow_spec, _member.mask)

static const struct filter_kind filter_kinds[] = {
	{ FILTER(ETH, eth) },
	{ FILTER(IPV4, ipv4) },
	{ FILTER(IPV6, ipv6),
	  .bits = 20, .number = offsetof(struct ib_flow_ipv6_filter, flow_label) },
	{ FILTER(ESP, esp) },
	{ FILTER(TCP, tcp_udp) },
	{ FILTER(UDP, tcp_udp) },
	{ FILTER(VXLAN_TUNNEL, tunnel),
	  .bits = 24, .number = offsetof(struct ib_flow_tunnel_filter, tunnel_id) },
	{ FILTER(GRE, gre) },
	{ FILTER(MPLS, mpls) },
};

static const struct filter_kind *filter_kind_of(u32 type)
{
	/* A tunnel specification cannot be an inner one: drivers know no tunnel inside a tunnel. */
	if (type == (IB_FLOW_SPEC_VXLAN_TUNNEL | IB_FLOW_SPEC_INNER))
		return NULL;
	for (unsigned int i = 0; i < ARRAY_SIZE(filter_kinds); i++)
		if (filter_kinds[i].type == (type & ~(u32)IB_FLOW_SPEC_INNER))
			return &filter_kinds[i];
	return NULL;
}

static bool number_fits(const struct filter_kind *kind, const void *filter)
{
	return !kind->bits || !(get_unaligned_be32(filter + kind->number) >> kind->bits);
}

/* Copies filter and mask; bytes that this kernel does not know must have a mask of zero. */
static int parse_filter(struct uverbs_call *call, const struct ib_uverbs_flow_spec_hdr *hdr,
			union ib_flow_spec *spec)
{
	const struct filter_kind *kind = filter_kind_of(hdr->type);
	size_t len = hdr->size < sizeof(*hdr) ? 0 : (hdr->size - sizeof(*hdr)) / 2;
	const void *val = hdr + 1, *mask = val + len;
	size_t known;

	if (!kind)
		return uverbs_refuse(call, -EINVAL, "specification type %#x is unknown", hdr->type);
	if (!len || len % sizeof(u32))
		return uverbs_refuse(call, -EINVAL, "specification type %#x: size %u", hdr->type,
				     hdr->size);
	known = min_t(size_t, len, kind->len);
	if (memchr_inv(mask + known, 0, len - known))
		return uverbs_refuse(call, -EINVAL,
				     "specification type %#x: mask behind the %zu known bytes",
				     hdr->type, known);

	spec->type = hdr->type;
	spec->size = kind->size;
	memcpy((void *)spec + kind->val, val, known);
	memcpy((void *)spec + kind->mask, mask, known);
	if (!number_fits(kind, (void *)spec + kind->val) ||
	    !number_fits(kind, (void *)spec + kind->mask))
		return uverbs_refuse(call, -EINVAL, "specification type %#x: more than %u bits",
				     hdr->type, kind->bits);
	return 0;
}

static int check_size(struct uverbs_call *call, const struct ib_uverbs_flow_spec_hdr *hdr,
		      size_t size, int err)
{
	return hdr->size == size ? 0 : uverbs_refuse(call, err, "action type %#x: size %u, is %zu",
						     hdr->type, hdr->size, size);
}

/* Takes an object that the rule names, and adds it to the rule's references. */
static void *action_object(struct uverbs_call *call, u16 type, enum ib_flow_spec_type spec_type,
			   u32 handle, const char *name, struct ib_uflow_resources *resources)
{
	struct ib_uobject *uobj = uverbs_take(call, type, UVERBS_ACCESS_READ, handle, name);

	if (IS_ERR(uobj))
		return ERR_CAST(uobj);
	flow_resources_add(resources, spec_type, uobj->object);
	return uobj->object;
}

static int parse_action(struct uverbs_call *call, const struct ib_uverbs_flow_spec_hdr *hdr,
			union ib_flow_spec *spec, struct ib_uflow_resources *resources)
{
	const struct ib_uverbs_flow_spec_action_handle *handle = (const void *)hdr;
	const struct ib_uverbs_flow_spec_action_count *count = (const void *)hdr;
	const struct ib_uverbs_flow_spec_action_tag *tag = (const void *)hdr;
	int ret;

	spec->type = hdr->type;
	switch (hdr->type) {
	case IB_FLOW_SPEC_ACTION_TAG:
		ret = check_size(call, hdr, sizeof(*tag), -EINVAL);
		if (ret)
			return ret;
		spec->size = sizeof(spec->flow_tag);
		spec->flow_tag.tag_id = tag->tag_id;
		return 0;
	case IB_FLOW_SPEC_ACTION_DROP:
		spec->size = sizeof(spec->drop);
		return check_size(call, hdr, sizeof(struct ib_uverbs_flow_spec_action_drop),
				  -EINVAL);
	case IB_FLOW_SPEC_ACTION_HANDLE:
		ret = check_size(call, hdr, sizeof(*handle), -EOPNOTSUPP);
		if (ret)
			return ret;
		spec->size = sizeof(spec->action);
		spec->action.act = action_object(call, UVERBS_OBJECT_FLOW_ACTION, hdr->type,
						 handle->handle, "flow action", resources);
		return PTR_ERR_OR_ZERO(spec->action.act);
	case IB_FLOW_SPEC_ACTION_COUNT:
		ret = check_size(call, hdr, sizeof(*count), -EINVAL);
		if (ret)
			return ret;
		spec->size = sizeof(spec->flow_count);
		spec->flow_count.counters = action_object(call, UVERBS_OBJECT_COUNTERS, hdr->type,
							  count->handle, "counters", resources);
		return PTR_ERR_OR_ZERO(spec->flow_count.counters);
	default:
		return uverbs_refuse(call, -EINVAL, "action type %#x is unknown", hdr->type);
	}
}

/**
 * uverbs_flow_specs_parse() - check the specifications of a rule and translate them
 * @call: the request, which takes the objects they name
 * @specs: the user's specifications, one behind the other
 * @len: their length in bytes
 * @attr: zeroed, with room for num_of_specs specifications behind it; they and size are filled in
 * @resources: with room for num_of_specs objects; receives those that the specifications name
 *
 * Return: 0; -EINVAL for a specification of unknown type, of a wrong size, or with a number that is
 * too large, or if number or length differ from those announced; -EOPNOTSUPP for a flow action of
 * a wrong size; or the error of uverbs_take() for an object.
 */
int uverbs_flow_specs_parse(struct uverbs_call *call, const void *specs, size_t len,
			    struct ib_flow_attr *attr, struct ib_uflow_resources *resources)
{
	const struct ib_uverbs_flow_spec_hdr *hdr;
	union ib_flow_spec *spec = attr->flows;
	unsigned int i;
	int ret;

	attr->size = sizeof(*attr);
	for (i = 0; i < attr->num_of_specs; i++) {
		hdr = specs;
		if (len < sizeof(*hdr) || len < hdr->size)
			break;
		if (hdr->reserved)
			return uverbs_refuse(call, -EINVAL,
					     "specification %u: reserved is not zero", i);
		if (hdr->type >= IB_FLOW_SPEC_ACTION_TAG)
			ret = parse_action(call, hdr, spec, resources);
		else
			ret = parse_filter(call, hdr, spec);
		if (ret)
			return ret;
		len -= hdr->size;
		specs += hdr->size;
		attr->size += spec->size;
		spec = (void *)spec + spec->size;
	}
	if (len || i < attr->num_of_specs)
		return uverbs_refuse(call, -EINVAL, "%u of %u specifications, %zu bytes are left",
				     i, attr->num_of_specs, len);
	return 0;
}
